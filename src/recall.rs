//! Recall: a bounded slice of what folds, receipts, checkpoints and in-place rewrites stand for.
//!
//! It never changes anything. [`Recall::open`] decides which nodes are wanted from numbers alone; the caller
//! then hands over those events' text, a batch at a time and each once, until [`Recall::wants`] asks for no
//! more; [`Recall::close`] gives the text. So a pattern over a large session stops as soon as the slice is
//! full, and the host's thread is free between batches.

mod entry;
mod path;
mod refusal;
mod window;

pub use refusal::Refusal;

use crate::event::{Body, Event, EventError, Seq, parse_events};
use crate::replacements::{CallRef, Calls, Replacements, Standing};
use entry::{Label, Part};
use path::Path;
use regex_lite::{Regex, RegexBuilder};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use window::Window;

/// Nodes asked for at once.
const BATCH: usize = 64;
/// The shortest slice that is worth its head, in code units.
const MIN_CHARS: usize = 500;
/// Longest pattern, in bytes.
const MAX_PATTERN: usize = 1_000;
/// Bound on a compiled pattern, in bytes. regex-lite is linear too and a fifth of the size in the addon; its `\w`,
/// `\d`, `\b` and `(?i)` know ASCII alone.
const PATTERN_SIZE: usize = 1 << 20;
/// The tool whose results only repeat what is recalled anyway.
const OWN_TOOL: &str = "recall";

/// The tool's arguments as the model gave them.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Ask {
    /// A report, a rewritten result, or any event one names.
    #[serde(default)]
    pub seq: Option<i64>,
    /// Further nodes whose originals are shown before those of `seq`, for a person who looks at a whole fold.
    #[serde(default)]
    pub before: Vec<Seq>,
    /// Only calls whose arguments name this path, and their results.
    #[serde(default)]
    pub path: Option<String>,
    /// Only lines that match.
    #[serde(default)]
    pub pattern: Option<String>,
    /// Where the slice begins, in UTF-16 code units of all there is; 0 when absent.
    #[serde(default)]
    pub offset: Option<i64>,
    /// Length of the slice in code units; the configured maximum when absent or above it.
    #[serde(default)]
    pub limit: Option<i64>,
}

/// A recall under way.
#[derive(Debug)]
pub struct Recall {
    pending: Vec<Seq>,
    handed: usize,
    wanted: BTreeSet<Seq>,
    answers: BTreeMap<Seq, CallRef>,
    labels: BTreeMap<CallRef, Label>,
    path: Option<Path>,
    pattern: Option<Regex>,
    window: Window,
    offset: usize,
    shown: bool,
    asked: String,
    index: String,
}

impl Recall {
    /// Decides what is wanted. `length` is the log's length, `max_chars` the configured bound on a slice in
    /// UTF-16 code units.
    ///
    /// # Errors
    /// [`Refusal`] when nothing can be shown.
    pub fn open<Id: Eq + Hash>(
        reader: &Replacements,
        calls: &Calls<Id>,
        ask: &Ask,
        length: Seq,
        max_chars: usize,
    ) -> Result<Self, Refusal> {
        if reader.iter().next().is_none() {
            return Err(Refusal::NothingFolded);
        }
        let index = refusal::index(reader);
        if ask.seq.is_none() && ask.path.is_none() && ask.pattern.is_none() {
            return Err(Refusal::NothingAsked(index));
        }
        let offset = within("offset", ask.offset.unwrap_or(0), 0, i64::from(u32::MAX))?;
        let limit = within("limit", ask.limit.unwrap_or(i64::MAX), 1, i64::MAX)?;
        let limit = limit.max(MIN_CHARS).min(max_chars);
        let path =
            ask.path.as_deref().map(|path| Path::new(path).ok_or(Refusal::Empty("path"))).transpose()?;
        let pattern = ask.pattern.as_deref().map(compile).transpose()?;
        let nodes: Vec<Seq> = match ask.seq {
            Some(seq) => {
                let own = nodes_of(reader, calls, seq, length, &index)?;
                ask.before.iter().flat_map(|seq| reader.originals(*seq)).chain(own).collect()
            }
            None => reader.hidden().collect(),
        };

        let window = Window::new(offset, limit);
        Ok(Self { path, pattern, offset, asked: describe(ask), index, ..Self::over(calls, nodes, window) })
    }

    fn over<Id: Eq + Hash>(calls: &Calls<Id>, nodes: Vec<Seq>, window: Window) -> Self {
        let mut pending = Vec::with_capacity(nodes.len());
        let mut queued = BTreeSet::new();
        let mut answers = BTreeMap::new();
        for node in &nodes {
            // A result is named by its call, whose carrier may still be visible: it is read, but not shown.
            if let Some(call) = calls.answered_by(*node) {
                answers.insert(*node, call);
                if queued.insert(call.carrier) {
                    pending.push(call.carrier);
                }
            }
            if queued.insert(*node) {
                pending.push(*node);
            }
        }
        Self {
            pending,
            handed: 0,
            wanted: nodes.into_iter().collect(),
            answers,
            labels: BTreeMap::new(),
            path: None,
            pattern: None,
            window,
            offset: 0,
            shown: false,
            asked: String::new(),
            index: String::new(),
        }
    }

    /// Shows nodes in full, whatever stands for them.
    #[must_use]
    pub fn whole<Id: Eq + Hash>(calls: &Calls<Id>, nodes: Vec<Seq>) -> Self {
        Self::over(calls, nodes, Window::new(0, usize::MAX))
    }

    /// The seqs whose events [`Recall::read`] wants next; empty when nothing more is needed.
    pub fn wants(&mut self) -> &[Seq] {
        if self.window.is_full() {
            return &[];
        }
        let from = self.handed;
        self.handed = (from + BATCH).min(self.pending.len());
        self.pending.get(from..self.handed).unwrap_or_default()
    }

    /// Reads the events asked for by the last [`Recall::wants`], in that order, as one JSON array.
    ///
    /// # Errors
    /// [`EventError`] when an event has not the shape of its type.
    pub fn read(&mut self, events: &str) -> Result<(), EventError> {
        for event in &parse_events(events)? {
            self.name_calls(event);
            if self.wanted.contains(&event.seq) {
                self.show(event);
            }
        }
        Ok(())
    }

    /// The slice.
    ///
    /// # Errors
    /// [`Refusal`] when nothing matched, or the offset lies behind the end.
    pub fn close(self) -> Result<String, Refusal> {
        if !self.shown {
            return Err(Refusal::NoMatch { asked: self.asked, index: self.index });
        }
        let offset = self.offset;
        self.window.close().map_err(|length| Refusal::PastEnd { offset, length })
    }

    fn name_calls(&mut self, event: &Event<'_>) {
        let calls = event.content().iter().filter_map(|block| match block {
            crate::event::Block::ToolCall { name, arguments, .. } => Some((name, arguments)),
            _ => None,
        });
        for (index, (name, arguments)) in (0..).zip(calls) {
            let on_path = self.path.as_ref().is_none_or(|path| path.named_in(arguments));
            let call = CallRef { carrier: event.seq, index };
            self.labels.insert(call, Label::new(name, arguments, on_path));
        }
    }

    fn show(&mut self, event: &Event<'_>) {
        let selects = self.path.is_some() || self.pattern.is_some();
        let label = self.answers.get(&event.seq).and_then(|call| self.labels.get(call));
        let (who, parts) = match &event.body {
            Body::ToolResult(result) => {
                let by_path = label.is_some_and(|label| label.on_path);
                let repeats = selects && label.is_some_and(|label| label.tool == OWN_TOOL);
                if repeats || (self.path.is_some() && !by_path) {
                    return;
                }
                let named = label.map_or("result", |label| label.text.as_str());
                let failed = if result.is_error { ", failed" } else { "" };
                (format!("{named}{failed}"), Part::of(event.content(), &|_| true))
            }
            _ => {
                let mut parts = Part::of(event.content(), &|index| {
                    let call = CallRef { carrier: event.seq, index };
                    self.labels.get(&call).is_none_or(|label| label.on_path)
                });
                if self.path.is_some() {
                    parts.retain(|part| matches!(part, Part::Call(..)));
                    if parts.is_empty() {
                        return;
                    }
                }
                (entry::speaker(event), parts)
            }
        };
        self.shown |= entry::show(&mut self.window, event, &who, &parts, self.pattern.as_ref());
    }
}

/// The appended nodes that an asked seq leads to.
fn nodes_of<Id: Eq + Hash>(
    reader: &Replacements,
    calls: &Calls<Id>,
    asked: i64,
    length: Seq,
    index: &str,
) -> Result<Vec<Seq>, Refusal> {
    let index = index.to_owned();
    let seq = match Seq::try_from(asked) {
        Ok(seq) if seq < length => seq,
        _ => return Err(Refusal::NoSuchSeq { seq: asked, last: i64::from(length) - 1, index }),
    };
    let node = calls.node_of_dispatch(seq).unwrap_or(seq);
    match reader.standing(node) {
        Standing::NoNode => Err(Refusal::NoNode { seq, index }),
        Standing::Visible if reader.taken_by(node).is_empty() => Err(Refusal::Visible { seq, index }),
        Standing::Visible | Standing::ReplacedBy(_) => Ok(reader.originals(node)),
    }
}

fn within(name: &'static str, value: i64, least: i64, most: i64) -> Result<usize, Refusal> {
    usize::try_from(value).ok().filter(|_| (least..=most).contains(&value)).ok_or_else(|| {
        let range = if most == i64::MAX { format!("{least} or more") } else { format!("{least} to {most}") };
        Refusal::OutOfRange { name, value, range }
    })
}

fn compile(pattern: &str) -> Result<Regex, Refusal> {
    if pattern.is_empty() {
        return Err(Refusal::Empty("pattern"));
    }
    if pattern.len() > MAX_PATTERN {
        return Err(Refusal::Pattern(format!("it is longer than {MAX_PATTERN} bytes")));
    }
    RegexBuilder::new(pattern)
        .size_limit(PATTERN_SIZE)
        .build()
        .map_err(|error| Refusal::Pattern(error.to_string()))
}

fn describe(ask: &Ask) -> String {
    let keys = [
        ask.seq.map(|seq| format!("seq {seq}")),
        ask.path.as_ref().map(|path| format!("path {path:?}")),
        ask.pattern.as_ref().map(|pattern| format!("pattern {pattern:?}")),
    ];
    keys.into_iter().flatten().collect::<Vec<_>>().join(" and ")
}
