//! The lines that are most of a log, read for their numbers alone: model answers and tool results, whose text is
//! measured where it lies and never kept, calls, and what is only counted. A line that does not fit is left to the
//! reading of whole events, which also says what is wrong with it; both readings come to the same.

use super::node::{Call, Node, label, quarter, stated_facts, stated_mark};
use super::row::{self, Fact, Row};
use super::scan::{Scan, Str, once};
use crate::event::{Seq, utf16_units};
use crate::replacements::{Target, recalled_heads};
use crate::report::tools::Tools;
use crate::surface::{ABSENT, EMPTY, Kind};
use std::hash::{DefaultHasher, Hash, Hasher};

#[cfg(test)]
mod tests;

/// How deep content may nest. Results inside a result are left to the reading of whole events anyway.
const DEEPEST: u32 = 3;

/// Reads a line whose type stands first and is `tag`; `None` leaves it to the reading of whole events.
pub(super) fn read(line: &str, tag: &str, tools: &Tools) -> Option<Row> {
    let mut scan = Scan::new(line);
    let (seq, fact) = match tag {
        "assistant/message" => {
            let (frame, content) = frame(&mut scan, answer)?;
            (frame.appended()?, Fact::Node(Box::new(content.answer(tools)?)))
        }
        "tool/result" => {
            let (frame, output) = frame(&mut scan, Output::read)?;
            let seq = frame.appended()?;
            (seq, Fact::Node(Box::new(output.node(seq.unwrap_or(0))?)))
        }
        "tool/call" => {
            let (frame, id) = frame(&mut scan, call)?;
            (frame.counted()?, Fact::ToolCall(id.text().as_str().into()))
        }
        _ => {
            let fact = row::counted(tag)?;
            let (frame, _) = frame(&mut scan, Scan::value)?;
            (frame.counted()?, fact)
        }
    };
    scan.is_done().then_some(Row { seq, mended: false, fact })
}

/// What stands around an event's data.
#[derive(Default)]
struct Frame<'a> {
    seq: Option<Seq>,
    time: Option<&'a str>,
    op: Option<&'a str>,
    /// Something else that not every reading of an event passes over.
    odd: bool,
}

impl Frame<'_> {
    /// The seq of an event that was appended to the surface.
    fn appended(&self) -> Option<Option<Seq>> {
        (self.op? == "\"append\"").then_some(self.seq)
    }

    /// The seq of an event that has nothing to do with the surface.
    fn counted(&self) -> Option<Option<Seq>> {
        let clock = |time: &str| time.len() <= 15 && time.bytes().all(|byte| byte.is_ascii_digit());
        (self.op.is_none() && !self.odd && self.time.is_none_or(clock)).then_some(self.seq)
    }
}

/// Reads an event, its data by `read`.
fn frame<'a, T>(scan: &mut Scan<'a>, read: impl Fn(&mut Scan<'a>) -> Option<T>) -> Option<(Frame<'a>, T)> {
    let mut frame = Frame::default();
    let (mut data, mut typed, mut begun) = (None, false, false);
    while let Some(name) = scan.field(&mut begun)? {
        match name {
            "data" => once(&mut data, read(scan)?)?,
            "seq" => once(&mut frame.seq, Seq::try_from(scan.whole()?).ok()?)?,
            "surfaceOp" => once(&mut frame.op, scan.value()?)?,
            "type" => {
                frame.odd |= std::mem::replace(&mut typed, true);
                scan.value()?;
            }
            "time" => frame.odd |= frame.time.replace(scan.value()?).is_some(),
            other => {
                frame.odd |= matches!(other, "sourceEventSeqs" | "ignorable");
                scan.value()?;
            }
        }
    }
    Some((frame, data?))
}

/// The id that the data of a call names.
fn call<'a>(scan: &mut Scan<'a>) -> Option<Str<'a>> {
    let (mut id, mut begun) = (None, false);
    while let Some(name) = scan.field(&mut begun)? {
        match name {
            "callId" => id = Some(scan.string()?),
            _ => drop(scan.value()?),
        }
    }
    id
}

/// The content of an answer's message.
fn answer<'a>(scan: &mut Scan<'a>) -> Option<Content<'a>> {
    let (mut message, mut begun) = (None, false);
    while let Some(name) = scan.field(&mut begun)? {
        match name {
            "message" => once(&mut message, content_of(scan)?)?,
            _ => drop(scan.value()?),
        }
    }
    message.map(Option::unwrap_or_default)
}

/// The content of a message, where it has any.
fn content_of<'a>(scan: &mut Scan<'a>) -> Option<Option<Content<'a>>> {
    let (mut content, mut begun) = (None, false);
    while let Some(name) = scan.field(&mut begun)? {
        match name {
            "content" => once(&mut content, Content::read(scan, DEEPEST)?)?,
            _ => drop(scan.value()?),
        }
    }
    Some(content)
}

/// The data of a result.
struct Output<'a> {
    turn: u32,
    step: u32,
    content: Content<'a>,
    code: Option<Str<'a>>,
    meta: Option<&'a str>,
}

impl<'a> Output<'a> {
    fn read(scan: &mut Scan<'a>) -> Option<Self> {
        let (mut turn, mut step, mut message, mut error, mut meta) = (None, None, None, None, None);
        let mut begun = false;
        while let Some(name) = scan.field(&mut begun)? {
            match name {
                "turn" => once(&mut turn, u32::try_from(scan.whole()?).ok()?)?,
                "step" => once(&mut step, u32::try_from(scan.whole()?).ok()?)?,
                "message" => once(&mut message, content_of(scan)??)?,
                "error" => once(&mut error, code_of(scan)?)?,
                "meta" => once(&mut meta, scan.value()?)?,
                _ => drop(scan.value()?),
            }
        }
        Some(Self {
            turn: turn.unwrap_or(0),
            step: step.unwrap_or(0),
            content: message?,
            code: error.flatten(),
            meta: meta.filter(|meta| *meta != "null"),
        })
    }

    fn node(self, seq: Seq) -> Option<Node> {
        let content = self.content;
        // Only the shape with a result block of its own is read here.
        let (id, failed) = content.result.filter(|_| content.blocks == 1 && !content.nested)?;
        let id = id.text();
        let mut node = Node::bare(Kind::Result, content.chars, content.tokens);
        let mut rest = DefaultHasher::new();
        (self.turn, self.step, failed, id.as_str()).hash(&mut rest);
        let code = self.code.map(Str::text);
        (code.as_deref(), self.meta).hash(&mut rest);
        node.answers = Some((id.as_str().into(), rest.finish()));
        if let Some(meta) = self.meta {
            node.mark = stated_mark(meta, seq);
            node.facts = stated_facts(meta);
        }
        node.heads = content.heads;
        Some(node)
    }
}

/// The code of a failure, where it has one.
fn code_of<'a>(scan: &mut Scan<'a>) -> Option<Option<Str<'a>>> {
    let (mut code, mut begun) = (None, false);
    while let Some(name) = scan.field(&mut begun)? {
        match name {
            "code" => once(&mut code, scan.lax_string()?)?,
            _ => drop(scan.value()?),
        }
    }
    Some(code)
}

/// The blocks of a message, measured.
#[derive(Default)]
struct Content<'a> {
    blocks: u32,
    chars: u32,
    tokens: u32,
    /// No block says anything to a provider; reasoning alone does not.
    silent: bool,
    /// Id, name and arguments of each call.
    calls: Vec<[Str<'a>; 3]>,
    /// Of the last result block: the call it answers, and whether it failed.
    result: Option<(Str<'a>, bool)>,
    /// That result holds calls or results itself.
    nested: bool,
    heads: Vec<Seq>,
}

impl<'a> Content<'a> {
    fn read(scan: &mut Scan<'a>, depth: u32) -> Option<Self> {
        let mut content = Self { silent: true, ..Self::default() };
        let mut begun = false;
        while scan.member(&mut begun)? {
            content.add(Block::read(scan, depth)?);
        }
        Some(content)
    }

    fn add(&mut self, block: Block<'a>) {
        self.blocks += 1;
        let (chars, tokens) = match block.kind {
            BlockKind::Text | BlockKind::Reasoning => {
                let units = block.text.units();
                self.silent &= block.kind == BlockKind::Reasoning || units == 0;
                if self.blocks == 1 && block.kind == BlockKind::Text {
                    self.heads = heads_of(block.text);
                }
                (units, quarter(units))
            }
            BlockKind::Call => {
                self.silent = false;
                let (name, arguments) = (block.name.units(), block.arguments.units());
                self.calls.push([block.id, block.name, block.arguments]);
                (arguments, quarter(name).saturating_add(quarter(arguments)))
            }
            BlockKind::Result => {
                self.silent = false;
                let inner = block.content;
                self.nested |= inner.result.is_some() || !inner.calls.is_empty();
                self.heads = inner.heads;
                self.result = Some((block.call_id, block.failed));
                (inner.chars, inner.tokens)
            }
            BlockKind::Image(json) => {
                self.silent = false;
                (0, quarter(json))
            }
        };
        self.chars = self.chars.saturating_add(chars);
        self.tokens = self.tokens.saturating_add(tokens).saturating_add(4);
    }

    /// The node of an answer with this content.
    fn answer(self, tools: &Tools) -> Option<Node> {
        if self.result.is_some() {
            return None;
        }
        let mut node = Node::bare(Kind::Assistant, self.chars, self.tokens);
        if self.blocks == 0 {
            node.flags |= ABSENT;
            node.tokens = 0;
        } else if self.silent {
            node.flags |= EMPTY;
        }
        let of = |[id, name, arguments]: [Str<'_>; 3]| {
            let (name, arguments) = (name.text(), arguments.text());
            Call {
                reads: Target::of(tools, &name, &arguments).map(|target| (target, label(&name, &arguments))),
                id: id.text().as_str().into(),
                tool: name.as_str().into(),
            }
        };
        node.calls = self.calls.into_iter().map(of).collect();
        Some(node)
    }
}

/// The seqs that a text names, if a recall wrote it.
fn heads_of(text: Str<'_>) -> Vec<Seq> {
    // Read only where it may begin as recalls do, be it with an escape.
    match text.raw().as_bytes() {
        [b's', b'0'..=b'9' | b'\\', ..] | [b'\\', b'u', ..] => recalled_heads(&text.text()),
        _ => Vec::new(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    Text,
    Reasoning,
    Call,
    Result,
    /// Its length as JSON, which is what it is priced by.
    Image(u32),
}

struct Block<'a> {
    kind: BlockKind,
    text: Str<'a>,
    id: Str<'a>,
    name: Str<'a>,
    arguments: Str<'a>,
    call_id: Str<'a>,
    failed: bool,
    content: Content<'a>,
}

impl<'a> Block<'a> {
    /// Reads a block whose type stands first.
    fn read(scan: &mut Scan<'a>, depth: u32) -> Option<Self> {
        let mut begun = false;
        scan.field(&mut begun)?.filter(|name| *name == "type")?;
        let kind = match scan.string()?.plain()? {
            "text" => BlockKind::Text,
            "reasoning" => BlockKind::Reasoning,
            "tool-call" => BlockKind::Call,
            "tool-result" => BlockKind::Result,
            "image" => BlockKind::Image("{\"type\":\"image\"}".len() as u32),
            _ => return None,
        };
        let none = Str::default();
        let (text, id, name, arguments, call_id) = (none, none, none, none, none);
        let content = Content::default();
        let mut block = Self { kind, text, id, name, arguments, call_id, failed: false, content };
        while let Some(field) = scan.field(&mut begun)? {
            match (&mut block.kind, field) {
                (BlockKind::Image(json), "attachment") => {
                    *json += ",\"attachment\":".len() as u32 + utf16_units(scan.value()?.as_bytes());
                }
                (BlockKind::Image(_), _) => return None,
                (_, "text") => block.text = scan.lax_string()?,
                (_, "id") => block.id = scan.lax_string()?,
                (_, "name") => block.name = scan.lax_string()?,
                (_, "arguments") => block.arguments = scan.lax_string()?,
                (_, "toolCallId") => block.call_id = scan.lax_string()?,
                (_, "isError") => block.failed = scan.flag()?,
                (_, "content") => block.content = Content::read(scan, depth.checked_sub(1)?)?,
                _ => drop(scan.value()?),
            }
        }
        Some(block)
    }
}
