//! The draft of a checkpoint: a turn's messages as segments in the order things happened
//! (docs/turn-memory.md 2.7).

use super::script::{Block, Node, Role, Run, Script};
use super::sheet::{Piece, Sheet};
use super::tag::{Kind, parse_segments, strip, strip_suffix, tag_lines};
use super::units::{lines, push_str, shown, trimmed};
use std::collections::BTreeSet;

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
    /// What stands between its tags, as it was rendered: a run of the sheet's pieces.
    pub content: Run,
    /// Code points of the content.
    pub points: usize,
    /// The tools it calls, in order: a run of the sheet's calls. Only working parts have any.
    pub calls: Run,
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
        match sheet.pieces(&part.content) {
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
    /// Where the part under construction begins, in the sheet's pieces and calls.
    from: usize,
    calls_from: usize,
    /// Calls without a result so far, by id, in order; few are open at once.
    open: Vec<(&'a [u16], Run)>,
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
            parts: Vec::with_capacity(script.nodes().len()),
            from: 0,
            calls_from: 0,
            open: Vec::new(),
        }
    }

    fn node(&mut self, node: &'a Node) {
        let blocks = self.script.blocks(node);
        match &node.role {
            Role::Person => {
                let silent = |block: &Block| matches!(block, Block::Text(run) if run.is_empty());
                if !blocks.iter().all(silent) {
                    self.flush();
                    self.message(blocks);
                    self.push(Kind::UserSteer, false);
                }
            }
            Role::Quote(words) => self.words(Kind::UserSteer, words),
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
        let id = self.script.units(call);
        let asked = self.open.iter().position(|(open, _)| *open == id).map(|at| self.open.remove(at).1);
        let open = self.sheet.label("[tool/result: ");
        let name = asked.map_or_else(|| self.sheet.label("unknown"), Piece::Text);
        let close = self.sheet.label(if failed { "](error)\n" } else { "]\n" });
        self.piece([open, name, close]);
        self.capped(blocks, self.result_cap);
    }

    fn said(&mut self, block: &'a Block) {
        match block {
            Block::Text(text) => self.words(Kind::Assistant, text),
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
                self.open.push((self.script.units(id), name.clone()));
                self.sheet.calls.push(name.clone());
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
            self.sheet.pieces.push(content);
            self.push(segment.kind, true);
        }
    }

    /// A message's own words: its texts exactly, other blocks by their type.
    fn message(&mut self, blocks: &[Block]) {
        for block in blocks {
            match block {
                Block::Text(run) | Block::Reasoning(run) => self.text(run),
                Block::Call { name: kind, .. } | Block::Other(kind) => {
                    let named = self.named(kind);
                    self.sheet.pieces.extend(named);
                }
            }
        }
    }

    fn named(&mut self, kind: &Run) -> [Piece; 3] {
        [self.sheet.label("["), Piece::Text(kind.clone()), self.sheet.label("]")]
    }

    fn text(&mut self, run: &Run) {
        if !run.is_empty() {
            self.sheet.pieces.push(Piece::Text(run.clone()));
        }
    }

    /// One text is a part of its own; an empty one is none and parts nothing.
    fn words(&mut self, kind: Kind, run: &Run) {
        if !run.is_empty() {
            self.flush();
            self.text(run);
            self.push(kind, false);
        }
    }

    /// Closes the part under construction.
    fn push(&mut self, kind: Kind, preserved: bool) {
        let content = self.from..self.sheet.pieces.len();
        let calls = self.calls_from..self.sheet.calls.len();
        (self.from, self.calls_from) = (content.end, calls.end);
        self.parts.push(Part { id: 0, kind, preserved, content, points: 0, calls });
    }

    /// Begins a piece of process; adjacent ones share one part.
    fn piece(&mut self, pieces: impl IntoIterator<Item = Piece>) {
        if self.sheet.pieces.len() > self.from {
            self.sheet.pieces.push(self.newline.clone());
        }
        self.sheet.pieces.extend(pieces);
    }

    /// Goes on with blocks, capped as one text. One text block, the common case, is never copied.
    fn capped(&mut self, blocks: &[Block], cap: usize) {
        if let [Block::Text(run)] = blocks {
            self.capped_run(run, cap);
            return;
        }
        let text = joined(self.script, blocks, "\n");
        let piece = self.sheet.written(&text);
        self.sheet.push_capped(piece, &text, cap);
    }

    fn capped_run(&mut self, run: &Run, cap: usize) {
        self.sheet.push_capped(Piece::Text(run.clone()), self.script.units(run), cap);
    }

    /// Closes the process before words begin.
    fn flush(&mut self) {
        if self.sheet.pieces.len() > self.from {
            self.push(Kind::Working, false);
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
