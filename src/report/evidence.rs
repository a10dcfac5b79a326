//! The one text that crosses the border for a report: the region's events as the log holds them, and the rest
//! of what the model was sent. It is read in one pass, an event at a time, so that no second copy of a large
//! region is ever held.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::claims::{Claim, claims};
use super::gather::{Gathered, Gatherer, text_of};
use super::lookup::Lookup;
use super::tools::Tools;
use crate::event::{Block, Envelope, Event, Message, Seq, Source};

/// Events and messages, still as JSON.
#[derive(Debug, Deserialize)]
pub struct Evidence<'a> {
    /// The assistant message before the region.
    #[serde(borrow, default)]
    carrier: Option<&'a RawValue>,
    /// The region's events in log order.
    #[serde(borrow, default)]
    events: Vec<&'a RawValue>,
    /// Seqs of those events that the model was sent as they are.
    #[serde(default)]
    sent: Vec<Seq>,
    /// Every other message of the report request.
    #[serde(borrow, default)]
    messages: Vec<&'a RawValue>,
}

/// What the evidence shows.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The region's ledger and what stands beside it.
    pub gathered: Gathered,
    /// Claims of the prose that are nowhere in what the model was sent.
    pub unverified: Vec<Claim>,
}

impl<'a> Evidence<'a> {
    /// Reads `{ carrier?, events, sent, messages }`.
    ///
    /// # Errors
    /// serde's own where the whole is not such an object.
    pub fn read(json: &'a str) -> serde_json::Result<Self> {
        let mut evidence: Self = serde_json::from_str(json)?;
        evidence.sent.sort_unstable();
        Ok(evidence)
    }

    /// Reads the facts and, where there is prose to check, looks its claims up. `roots` are directories whose
    /// prefix a path may carry or lack. An event of a shape that is not known is passed over: it has no fact
    /// to tell, and a fold must not fail for it.
    ///
    /// What an older report stated and nobody could verify is no proof of itself: such a claim must be found
    /// outside of reports.
    #[must_use]
    pub fn examine(&self, tools: &Tools, prose: Option<&str>, roots: &[&str]) -> Findings {
        let mut gatherer = Gatherer::new(tools, self.carrier.and_then(event).as_ref());
        let mut check = Check::new(prose.map(claims).unwrap_or_default(), roots);
        for event in self.events.iter().copied().filter_map(event) {
            gatherer.read(&event);
            if self.sent.binary_search(&event.seq).is_ok() {
                check.read(event.content(), event.source());
            }
        }
        for raw in &self.messages {
            if let Ok(message) = serde_json::from_str::<Message<'_>>(raw.get()) {
                check.read(&message.content, Some(&message.source));
            }
        }
        Findings { gathered: gatherer.finish(), unverified: check.finish(roots) }
    }
}

fn event(raw: &RawValue) -> Option<Event<'_>> {
    Event::read(Envelope::parse(raw.get()).ok()?, None).ok()
}

/// A claim check under way. Older reports wait until all else was read: they are few and short.
struct Check {
    lookup: Lookup,
    idle: bool,
    reports: Vec<String>,
    disputed: BTreeSet<String>,
}

impl Check {
    fn new(claims: Vec<Claim>, roots: &[&str]) -> Self {
        let idle = claims.is_empty();
        Self { lookup: Lookup::new(claims, roots), idle, reports: Vec::new(), disputed: BTreeSet::new() }
    }

    fn read(&mut self, content: &[Block<'_>], source: Option<&Source<'_>>) {
        if self.idle {
            return;
        }
        match source.filter(|source| source.is_plugin("rewind")) {
            Some(source) => {
                self.disputed.extend(source.field::<Vec<String>>("unverified").unwrap_or_default());
                self.reports.push(text_of(content).into_owned());
            }
            None => content.iter().for_each(|block| read(&mut self.lookup, block)),
        }
    }

    fn finish(self, roots: &[&str]) -> Vec<Claim> {
        let Self { lookup, reports, disputed, .. } = self;
        let missing = lookup.unverified();
        if missing.is_empty() || reports.is_empty() {
            return missing;
        }
        let open = missing.iter().filter(|claim| !disputed.contains(&claim.text)).cloned().collect();
        let mut again = Lookup::new(open, roots);
        reports.iter().for_each(|text| again.read(text));
        let nowhere = again.unverified();
        missing
            .into_iter()
            .filter(|claim| disputed.contains(&claim.text) || nowhere.contains(claim))
            .collect()
    }
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
