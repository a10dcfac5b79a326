//! The one text that crosses the border for a report: the region's events as the log holds them, and the rest
//! of what the model was sent.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::claims::{Claim, claims};
use super::gather::{Gathered, gather, text_of};
use super::lookup::Lookup;
use super::tools::Tools;
use crate::event::{Block, Envelope, Event, Message, Seq};

/// Events and messages, borrowed from the JSON they came in.
#[derive(Debug, Default)]
pub struct Evidence<'a> {
    carrier: Option<Event<'a>>,
    events: Vec<Event<'a>>,
    sent: Vec<Seq>,
    messages: Vec<Message<'a>>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow, default)]
    carrier: Option<&'a RawValue>,
    #[serde(borrow, default)]
    events: Vec<&'a RawValue>,
    #[serde(default)]
    sent: Vec<Seq>,
    #[serde(borrow, default)]
    messages: Vec<&'a RawValue>,
}

impl<'a> Evidence<'a> {
    /// Reads `{ carrier?, events, sent, messages }`: the assistant message before the region, the region's
    /// events in log order, the seqs of those that the model was sent as they are, and every other message of
    /// the report request. An event of a shape that is not known is passed over: it has no fact to tell, and
    /// a fold must not fail for it.
    ///
    /// # Errors
    /// serde's own where the whole is not such an object.
    pub fn read(json: &'a str) -> serde_json::Result<Self> {
        let Payload { carrier, events, mut sent, messages } = serde_json::from_str(json)?;
        let event = |raw: &'a RawValue| {
            let envelope = Envelope::parse(raw.get()).ok()?;
            Event::read(envelope, None).ok()
        };
        sent.sort_unstable();
        Ok(Self {
            carrier: carrier.and_then(event),
            events: events.into_iter().filter_map(event).collect(),
            sent,
            messages: messages.into_iter().filter_map(|raw| serde_json::from_str(raw.get()).ok()).collect(),
        })
    }

    /// The region's ledger and what stands beside it.
    #[must_use]
    pub fn gather(&self, tools: &Tools) -> Gathered {
        gather(&self.events, self.carrier.as_ref(), tools)
    }

    /// The claims of a prose that are nowhere in what the model was sent. `roots` are directories whose
    /// prefix a path may carry or lack.
    ///
    /// What an older report stated and nobody could verify is no proof of itself: such a claim must be found
    /// outside of reports.
    #[must_use]
    pub fn unverified(&self, prose: &str, roots: &[&str]) -> Vec<Claim> {
        let (mut outside, mut reports) = (Vec::new(), Vec::new());
        let sent = self.events.iter().filter(|event| self.sent.binary_search(&event.seq).is_ok());
        let sent = sent.map(|event| (event.content(), event.source()));
        let rest = self.messages.iter().map(|message| (message.content.as_slice(), Some(&message.source)));
        let mut disputed = BTreeSet::new();
        for (content, source) in sent.chain(rest) {
            match source.filter(|source| source.is_plugin("rewind")) {
                Some(source) => {
                    disputed.extend(source.field::<Vec<String>>("unverified").unwrap_or_default());
                    reports.push(content);
                }
                None => outside.push(content),
            }
        }
        let missing = look_up(claims(prose), roots, &outside);
        if missing.is_empty() || reports.is_empty() {
            return missing;
        }
        let open = missing.iter().filter(|claim| !disputed.contains(&claim.text)).cloned().collect();
        let nowhere = look_up(open, roots, &reports);
        missing
            .into_iter()
            .filter(|claim| disputed.contains(&claim.text) || nowhere.contains(claim))
            .collect()
    }
}

fn look_up(claims: Vec<Claim>, roots: &[&str], texts: &[&[Block<'_>]]) -> Vec<Claim> {
    let mut lookup = Lookup::new(claims, roots);
    texts.iter().copied().flatten().for_each(|block| read(&mut lookup, block));
    lookup.unverified()
}

fn read(lookup: &mut Lookup, block: &Block<'_>) {
    match block {
        Block::Text(text) | Block::Reasoning(text) => lookup.read(text),
        Block::ToolCall { name, arguments, .. } => {
            lookup.read(name);
            read_arguments(lookup, arguments);
        }
        Block::ToolResult { content, .. } => lookup.read(&text_of(content)),
        Block::Image(image) => image.name.iter().for_each(|name| lookup.read(name)),
        _ => {}
    }
}

/// Arguments are JSON in a string: what they say is in their strings and numbers, unescaped.
fn read_arguments(lookup: &mut Lookup, arguments: &str) {
    match serde_json::from_str::<serde_json::Value>(arguments) {
        Ok(value) => read_value(lookup, &value),
        Err(_) => lookup.read(arguments),
    }
}

fn read_value(lookup: &mut Lookup, value: &serde_json::Value) {
    use serde_json::Value::{Array, Number, Object, String};
    match value {
        String(text) => lookup.read(text),
        Number(number) => lookup.read(&number.to_string()),
        Array(items) => items.iter().for_each(|item| read_value(lookup, item)),
        Object(fields) => fields.iter().for_each(|(name, field)| {
            lookup.read(name);
            read_value(lookup, field);
        }),
        _ => {}
    }
}
