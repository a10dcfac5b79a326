//! The draft of a checkpoint: a turn's messages as segments in the order things happened
//! (spec/turn-memory.md 2.7).

use super::script::{Block, Node, Role, Script};
use super::tag::{Kind, parse_segments, strip, strip_suffix, tag_lines};
use super::units::{lines, push_capped, push_str, shown, trimmed};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How many code points of a call's arguments a draft keeps.
const ARGUMENTS_CAP: usize = 300;
/// How many code points of a reasoning block a draft keeps.
const REASONING_CAP: usize = 2000;

/// One part of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its id: ascending, consecutive, stable.
    pub id: u32,
    /// What it holds.
    pub kind: Kind,
    /// Whether it comes from an earlier summary of the same turn and therefore stays byte for byte.
    pub preserved: bool,
    /// What stands between its tags.
    pub content: Vec<u16>,
    /// The tools it calls, in order; only working segments have any.
    pub calls: Vec<String>,
}

/// Renders a span: `result_cap` is how many code points of a tool result a working segment keeps.
#[must_use]
pub fn render(script: &Script<'_>, result_cap: usize) -> Vec<Segment> {
    let mut drafting = Drafting { result_cap, ..Drafting::default() };
    for node in script.nodes() {
        drafting.node(script, node);
    }
    drafting.flush();
    let mut segments = drafting.segments;
    let base = id_base(&segments);
    for (id, segment) in (base..).zip(&mut segments) {
        segment.id = id;
    }
    segments
}

/// The first base at which no line of any content equals a segment tag with one of the ids that the segments
/// would get: then the checkpoint reads back as exactly its segments.
#[must_use]
pub fn id_base(segments: &[Segment]) -> u32 {
    let count = u64::try_from(segments.len()).unwrap_or(u64::MAX);
    let taken: BTreeSet<u64> =
        segments.iter().flat_map(|segment| tag_lines(&segment.content)).map(|tag| tag.id).collect();
    let mut base: u64 = 1;
    // Each taken id that falls into the range pushes the base past it; ids come in ascending order.
    for id in taken {
        if id >= base.saturating_add(count) {
            break;
        }
        if id >= base {
            base = id + 1;
        }
    }
    u32::try_from(base).unwrap_or(u32::MAX)
}

#[derive(Default)]
struct Drafting {
    result_cap: usize,
    segments: Vec<Segment>,
    working: Vec<u16>,
    calls: Vec<String>,
    names: BTreeMap<Vec<u16>, VecDeque<String>>,
}

impl Drafting {
    fn node(&mut self, script: &Script<'_>, node: &Node<'_>) {
        let blocks = script.blocks(node);
        match node.role {
            Role::Person => self.verbatim(Kind::UserSteer, joined(blocks, "")),
            Role::Quote(words) => self.verbatim(Kind::UserSteer, words.to_vec()),
            Role::Injected(label) => self.injected(label, blocks),
            Role::Fragment => self.fragment(blocks),
            Role::Assistant => blocks.iter().for_each(|block| self.said(block)),
            Role::Result { call, failed } => {
                let name = self.names.get_mut(call).and_then(VecDeque::pop_front);
                let name = name.unwrap_or_else(|| "unknown".to_owned());
                self.begin_piece();
                let failed = if failed { "(error)" } else { "" };
                push_str(&mut self.working, &format!("[tool/result: {name}]{failed}\n"));
                push_capped(&mut self.working, &joined(blocks, "\n"), self.result_cap);
            }
        }
    }

    fn said(&mut self, block: &Block<'_>) {
        match *block {
            Block::Text(text) => self.verbatim(Kind::Assistant, text.to_vec()),
            Block::Reasoning(text) => {
                self.begin_piece();
                push_str(&mut self.working, "[reasoning]");
                if !text.is_empty() {
                    push_str(&mut self.working, "\n");
                    push_capped(&mut self.working, text, REASONING_CAP);
                }
            }
            Block::Call { name, id, arguments } => {
                self.begin_piece();
                let name = shown(name);
                push_str(&mut self.working, &format!("[tool call: {name}] "));
                push_capped(&mut self.working, arguments, ARGUMENTS_CAP);
                self.names.entry(id.to_vec()).or_default().push_back(name.clone());
                self.calls.push(name);
            }
            Block::Other(kind) => {
                self.begin_piece();
                push_other(&mut self.working, kind);
            }
        }
    }

    fn injected(&mut self, label: &[u16], blocks: &[Block<'_>]) {
        self.begin_piece();
        push_str(&mut self.working, "[injected: ");
        self.working.extend_from_slice(label);
        push_str(&mut self.working, "]\n");
        self.working.extend(joined(blocks, "\n"));
    }

    /// Splices the segments of an earlier summary of this turn; text that is not segments alone is not one.
    fn fragment(&mut self, blocks: &[Block<'_>]) {
        let text = joined(blocks, "");
        let inner = unwrapped(&text);
        let parsed = parse_segments(inner);
        let mut covered = 0;
        let mut only_segments = !parsed.is_empty();
        for segment in &parsed {
            only_segments &= trimmed(inner.get(covered..segment.whole.start).unwrap_or(&[])).is_empty();
            covered = segment.whole.end;
        }
        only_segments &= trimmed(inner.get(covered..).unwrap_or(&[])).is_empty();
        if !only_segments {
            let label: Vec<u16> = "turn-memory".encode_utf16().collect();
            self.injected(&label, &[Block::Text(&text)]);
            return;
        }
        self.flush();
        for segment in parsed {
            let content = inner.get(segment.content).unwrap_or(&[]).to_vec();
            self.push(segment.kind, true, content);
        }
    }

    fn verbatim(&mut self, kind: Kind, content: Vec<u16>) {
        if content.is_empty() {
            return;
        }
        self.flush();
        self.push(kind, false, content);
    }

    fn push(&mut self, kind: Kind, preserved: bool, content: Vec<u16>) {
        let calls = std::mem::take(&mut self.calls);
        self.segments.push(Segment { id: 0, kind, preserved, content, calls });
    }

    /// Adjacent pieces of process share one segment.
    fn begin_piece(&mut self) {
        if !self.working.is_empty() {
            push_str(&mut self.working, "\n");
        }
    }

    fn flush(&mut self) {
        if !self.working.is_empty() {
            let content = std::mem::take(&mut self.working);
            self.push(Kind::Working, false, content);
        }
    }
}

/// The text of a message: its texts exactly, other blocks by their type.
pub(super) fn joined(blocks: &[Block<'_>], between: &str) -> Vec<u16> {
    let mut out = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            push_str(&mut out, between);
        }
        match block {
            Block::Text(text) | Block::Reasoning(text) => out.extend_from_slice(text),
            Block::Call { name, .. } => push_other(&mut out, name),
            Block::Other(kind) => push_other(&mut out, kind),
        }
    }
    out
}

fn push_other(out: &mut Vec<u16>, kind: &[u16]) {
    push_str(out, "[");
    out.extend_from_slice(kind);
    push_str(out, "]");
}

/// The inside of a `turn-summary` wrapper of any version, or the text itself where there is none. Only the
/// first and the last line can be the wrapper.
fn unwrapped(text: &[u16]) -> &[u16] {
    let is_wrapper = |text: &[u16]| {
        let first = lines(text).next()?;
        strip_suffix(strip(first, "<turn-summary ")?, ">")?;
        let inner = strip_suffix(strip(text.get(first.len()..)?, "\n")?, "\n</turn-summary>")?;
        Some(inner.len())
    };
    let Some(length) = is_wrapper(text) else { return text };
    let from = text.iter().position(|unit| *unit == u16::from(b'\n')).map_or(0, |at| at + 1);
    text.get(from..from + length).unwrap_or(text)
}
