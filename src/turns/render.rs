//! The draft of a checkpoint: a turn's messages as segments in the order things happened
//! (spec/turn-memory.md 2.7).

use super::script::{Block, Node, Role, Run, Script};
use super::sheet::{Piece, Sheet};
use super::tag::{Kind, parse_segments, strip, strip_suffix, tag_lines};
use super::units::{lines, push_str, shown, trimmed};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How many code points of a call's arguments a draft keeps.
const ARGUMENTS_CAP: usize = 300;
/// How many code points of a reasoning block a draft keeps.
const REASONING_CAP: usize = 2000;

/// One part of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its id: ascending, consecutive, stable.
    pub id: u32,
    /// What it holds.
    pub kind: Kind,
    /// Whether it comes from an earlier summary of the same turn and therefore stays byte for byte.
    pub preserved: bool,
    /// What stands between its tags, as it was rendered.
    pub content: Vec<Piece>,
    /// Code points of the content.
    pub points: usize,
    /// The tools it calls, in order; only working parts have any.
    pub calls: Vec<Run>,
}

/// Renders a span: `result_cap` is how many code points of a tool result a working part keeps. The script's
/// text becomes the sheet's.
#[must_use]
pub fn render(script: Script, result_cap: usize) -> (Sheet, Vec<Part>) {
    let mut drafting = Drafting::new(&script, result_cap);
    for node in script.nodes() {
        drafting.node(node);
    }
    drafting.flush();
    let Drafting { sheet, mut parts, .. } = drafting;
    let sheet = sheet.over(script.into_text());
    let base = id_base(&sheet, &parts);
    for (id, part) in (base..).zip(&mut parts) {
        part.id = id;
        part.points = sheet.points(&part.content);
    }
    (sheet, parts)
}

/// The first base at which no line of any content equals a segment tag with one of the ids that the parts would
/// get: then the checkpoint reads back as exactly its segments.
fn id_base(sheet: &Sheet, parts: &[Part]) -> u32 {
    let mut taken = BTreeSet::new();
    for part in parts {
        // Labels stand between the pieces of process and are no tags. Blocks of one message follow each other
        // directly, so a line may run over both.
        match part.content.as_slice() {
            [_, _, ..] if part.kind != Kind::Working => {
                taken.extend(tag_lines(&sheet.copy(&part.content)).iter().map(|tag| tag.id));
            }
            pieces => {
                for piece in pieces {
                    taken.extend(tag_lines(sheet.units(piece)).iter().map(|tag| tag.id));
                }
            }
        }
    }
    let count = u64::try_from(parts.len()).unwrap_or(u64::MAX);
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

struct Drafting<'a> {
    script: &'a Script,
    result_cap: usize,
    sheet: Sheet,
    newline: Piece,
    parts: Vec<Part>,
    working: Vec<Piece>,
    calls: Vec<Run>,
    names: BTreeMap<&'a [u16], VecDeque<Run>>,
}

impl<'a> Drafting<'a> {
    fn new(script: &'a Script, result_cap: usize) -> Self {
        let mut sheet = Sheet::default();
        let newline = sheet.label("\n");
        Self {
            script,
            result_cap,
            sheet,
            newline,
            parts: Vec::new(),
            working: Vec::new(),
            calls: Vec::new(),
            names: BTreeMap::new(),
        }
    }

    fn node(&mut self, node: &'a Node) {
        let blocks = self.script.blocks(node);
        match &node.role {
            Role::Person => {
                let words = self.message(blocks);
                self.verbatim(Kind::UserSteer, words);
            }
            Role::Quote(words) => self.verbatim(Kind::UserSteer, vec![Piece::Text(words.clone())]),
            Role::Injected(label) => {
                let name = Piece::Text(label.clone());
                self.injected(name, blocks);
            }
            Role::Fragment => self.fragment(blocks),
            Role::Assistant => blocks.iter().for_each(|block| self.said(block)),
            Role::Result { call, failed } => self.result(call, *failed, blocks),
        }
    }

    fn result(&mut self, call: &Run, failed: bool, blocks: &[Block]) {
        let name = self.names.get_mut(self.script.units(call)).and_then(VecDeque::pop_front);
        let open = self.sheet.label("[tool/result: ");
        let name = name.map_or_else(|| self.sheet.label("unknown"), Piece::Text);
        let close = self.sheet.label(if failed { "](error)\n" } else { "]\n" });
        self.piece([open, name, close]);
        self.capped(blocks, self.result_cap);
    }

    fn said(&mut self, block: &'a Block) {
        match block {
            Block::Text(text) => self.verbatim(Kind::Assistant, vec![Piece::Text(text.clone())]),
            Block::Reasoning(text) => {
                let label = self.sheet.label(if text.is_empty() { "[reasoning]" } else { "[reasoning]\n" });
                self.piece([label]);
                self.capped_run(text, REASONING_CAP);
            }
            Block::Call { name, id, arguments } => {
                let open = self.sheet.label("[tool call: ");
                let close = self.sheet.label("] ");
                self.piece([open, Piece::Text(name.clone()), close]);
                self.capped_run(arguments, ARGUMENTS_CAP);
                self.names.entry(self.script.units(id)).or_default().push_back(name.clone());
                self.calls.push(name.clone());
            }
            Block::Other(kind) => {
                let named = self.named(kind);
                self.piece(named);
            }
        }
    }

    fn injected(&mut self, name: Piece, blocks: &[Block]) {
        let open = self.sheet.label("[injected: ");
        let close = self.sheet.label("]\n");
        self.piece([open, name, close]);
        self.capped(blocks, usize::MAX);
    }

    /// Splices the segments of an earlier summary of this turn; text that is not segments alone is not one.
    fn fragment(&mut self, blocks: &[Block]) {
        let text = joined(self.script, blocks, "");
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
            let name = self.sheet.label("turn-memory");
            self.injected(name, blocks);
            return;
        }
        self.flush();
        for segment in parsed {
            let content = self.sheet.written(inner.get(segment.content).unwrap_or(&[]));
            self.push(segment.kind, true, vec![content]);
        }
    }

    /// A message's own words: its texts exactly, other blocks by their type.
    fn message(&mut self, blocks: &[Block]) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(blocks.len());
        for block in blocks {
            match block {
                Block::Text(run) | Block::Reasoning(run) => pieces.push(Piece::Text(run.clone())),
                Block::Call { name, .. } => pieces.extend(self.named(name)),
                Block::Other(kind) => pieces.extend(self.named(kind)),
            }
        }
        pieces
    }

    fn named(&mut self, kind: &Run) -> [Piece; 3] {
        [self.sheet.label("["), Piece::Text(kind.clone()), self.sheet.label("]")]
    }

    fn verbatim(&mut self, kind: Kind, mut content: Vec<Piece>) {
        content.retain(|piece| !matches!(piece, Piece::Text(run) | Piece::Label(run) if run.is_empty()));
        if content.is_empty() {
            return;
        }
        self.flush();
        self.push(kind, false, content);
    }

    fn push(&mut self, kind: Kind, preserved: bool, content: Vec<Piece>) {
        let calls = std::mem::take(&mut self.calls);
        self.parts.push(Part { id: 0, kind, preserved, content, points: 0, calls });
    }

    /// Begins a piece of process; adjacent ones share one part.
    fn piece(&mut self, pieces: impl IntoIterator<Item = Piece>) {
        if !self.working.is_empty() {
            self.working.push(self.newline.clone());
        }
        self.working.extend(pieces);
    }

    /// Goes on with blocks, capped as one text. One text block, the common case, is never copied.
    fn capped(&mut self, blocks: &[Block], cap: usize) {
        if let [Block::Text(run)] = blocks {
            self.capped_run(run, cap);
            return;
        }
        let text = joined(self.script, blocks, "\n");
        let piece = self.sheet.written(&text);
        let pieces = self.sheet.capped(piece, &text, cap);
        self.working.extend(pieces);
    }

    fn capped_run(&mut self, run: &Run, cap: usize) {
        let pieces = self.sheet.capped(Piece::Text(run.clone()), self.script.units(run), cap);
        self.working.extend(pieces);
    }

    fn flush(&mut self) {
        if !self.working.is_empty() {
            let content = std::mem::take(&mut self.working);
            self.push(Kind::Working, false, content);
        }
    }
}

/// The text of a message put together: its texts exactly, other blocks by their type.
pub(super) fn joined(script: &Script, blocks: &[Block], between: &str) -> Vec<u16> {
    let mut out = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            push_str(&mut out, between);
        }
        match block {
            Block::Text(run) | Block::Reasoning(run) => out.extend_from_slice(script.units(run)),
            Block::Call { name: run, .. } | Block::Other(run) => {
                push_str(&mut out, &format!("[{}]", shown(script.units(run))));
            }
        }
    }
    out
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
