//! The text that crosses the border for a report: the region's events as the log holds them, and the rest of
//! what the model was sent. It is read once and piece by piece, so that a large region is never held here.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::claims::{Claim, claims};
use super::gather::{Gathered, Gatherer, text_of};
use super::lookup::Lookup;
use super::tools::Tools;
use crate::event::{Block, Envelope, Event, Message, Seq, Source};

/// One piece of the evidence.
#[derive(Deserialize)]
struct Piece<'a> {
    /// The assistant message before the region, in the first piece.
    #[serde(borrow, default)]
    carrier: Option<Envelope<'a>>,
    /// Events of the region, in log order over all pieces.
    #[serde(borrow, default)]
    events: Vec<Envelope<'a>>,
    /// Messages of the report request that are none of those events.
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

/// A region and a prose under examination.
pub struct Examination {
    gatherer: Gatherer,
    check: Check,
    sent: Vec<Seq>,
}

impl Examination {
    /// Begins. Where there is `prose`, its claims are looked up in what the model was `sent`: the events of
    /// these seqs, and all messages. `roots` are directories whose prefix a path may carry or lack.
    #[must_use]
    pub fn new(tools: Tools, prose: Option<&str>, mut sent: Vec<Seq>, roots: Vec<String>) -> Self {
        sent.sort_unstable();
        let check = Check::new(prose.map(claims).unwrap_or_default(), roots);
        Self { gatherer: Gatherer::new(tools), check, sent }
    }

    /// Reads one piece: `{ carrier?, events?, messages? }`. An event or a message of a shape that is not known
    /// is passed over: it has no fact to tell, and a fold must not fail for it.
    ///
    /// # Errors
    /// serde's own where the piece is not such an object.
    pub fn read(&mut self, json: &str) -> serde_json::Result<()> {
        let Piece { carrier, events, messages } = serde_json::from_str(json)?;
        let event = |envelope| Event::read(envelope, None).ok();
        if let Some(carrier) = carrier.and_then(event) {
            self.gatherer.carrier(&carrier);
        }
        for event in events.into_iter().filter_map(event) {
            self.gatherer.read(&event);
            if self.sent.binary_search(&event.seq).is_ok() {
                self.check.read(event.content(), event.source());
            }
        }
        for raw in messages {
            if let Ok(message) = serde_json::from_str::<Message<'_>>(raw.get()) {
                self.check.read(&message.content, Some(&message.source));
            }
        }
        Ok(())
    }

    /// Ends the region and says what it shows.
    ///
    /// What an older report stated and nobody could verify is no proof of itself: such a claim must have been
    /// found outside of reports.
    #[must_use]
    pub fn finish(self) -> Findings {
        Findings { gathered: self.gatherer.finish(), unverified: self.check.finish() }
    }
}

/// A claim check under way. Older reports wait until all else was read: they are few and short.
struct Check {
    lookup: Lookup,
    roots: Vec<String>,
    idle: bool,
    reports: Vec<String>,
    disputed: BTreeSet<String>,
}

impl Check {
    fn new(claims: Vec<Claim>, roots: Vec<String>) -> Self {
        let idle = claims.is_empty();
        let lookup = Lookup::new(claims, &roots);
        Self { lookup, roots, idle, reports: Vec::new(), disputed: BTreeSet::new() }
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

    fn finish(self) -> Vec<Claim> {
        let Self { lookup, roots, reports, disputed, .. } = self;
        let missing = lookup.unverified();
        if missing.is_empty() || reports.is_empty() {
            return missing;
        }
        let open = missing.iter().filter(|claim| !disputed.contains(&claim.text)).cloned().collect();
        let mut again = Lookup::new(open, &roots);
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
