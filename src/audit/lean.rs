//! Model answers and tool results, read for their numbers alone. They are most of a log's bytes, so their
//! text is measured where it lies and never kept. A line that does not fit is left to the reading of whole
//! events, which also says what is wrong with it; both readings come to the same node.

use super::node::{Call, Node, label, quarter, stated_facts, stated_mark};
use super::row::{Fact, Row};
use crate::event::{Seq, SurfaceOp, Text, utf16_units};
use crate::replacements::{Target, recalled_heads};
use crate::report::tools::Tools;
use crate::surface::{ABSENT, EMPTY, Kind};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

#[cfg(test)]
mod tests;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<D> {
    #[serde(default)]
    seq: Option<Seq>,
    data: D,
    surface_op: SurfaceOp,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    message: AnswerMessage<'a>,
}

#[derive(Deserialize)]
struct AnswerMessage<'a> {
    #[serde(borrow, default)]
    content: Content<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    #[serde(default)]
    turn: u32,
    #[serde(default)]
    step: u32,
    #[serde(borrow)]
    message: OutputMessage<'a>,
    #[serde(borrow, default)]
    error: Option<Failure<'a>>,
    #[serde(borrow, default)]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct OutputMessage<'a> {
    #[serde(borrow)]
    content: Content<'a>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow, default)]
    code: Option<Text<'a>>,
}

/// Reads a line that begins as answers and results do; `None` leaves it to the reading of whole events.
pub(super) fn read(line: &str, tools: &Tools) -> Option<Row> {
    let (seq, node) = if line.starts_with("{\"type\":\"assistant/message\",") {
        let Line { seq, data, surface_op } = serde_json::from_str::<Line<Answer<'_>>>(line).ok()?;
        (seq, answer(surface_op, data.message.content, tools)?)
    } else if line.starts_with("{\"type\":\"tool/result\",") {
        let Line { seq, data, surface_op } = serde_json::from_str::<Line<Output<'_>>>(line).ok()?;
        (seq, output(seq.unwrap_or(0), surface_op, data)?)
    } else {
        return None;
    };
    Some(Row { seq, mended: false, fact: Fact::Node(Box::new(node)) })
}

fn answer(op: SurfaceOp, content: Content<'_>, tools: &Tools) -> Option<Node> {
    if op != SurfaceOp::Append || content.result.is_some() {
        return None;
    }
    let mut node = Node::bare(Kind::Assistant, content.chars, content.tokens);
    if content.blocks == 0 {
        node.flags |= ABSENT;
        node.tokens = 0;
    } else if content.silent {
        node.flags |= EMPTY;
    }
    node.calls = content
        .calls
        .into_iter()
        .map(|(id, name, arguments)| Call {
            reads: Target::of(tools, &name, &arguments).map(|target| (target, label(&name, &arguments))),
            id: id.as_str().into(),
            tool: name.as_str().into(),
        })
        .collect();
    Some(node)
}

fn output(seq: Seq, op: SurfaceOp, data: Output<'_>) -> Option<Node> {
    let content = data.message.content;
    // Only the shape with a result block of its own is read here.
    let (id, failed) = content.result.as_ref().filter(|_| content.blocks == 1)?;
    if op != SurfaceOp::Append || content.nested {
        return None;
    }
    let mut node = Node::bare(Kind::Result, content.chars, content.tokens);
    let mut rest = DefaultHasher::new();
    (data.turn, data.step, *failed, id.as_str()).hash(&mut rest);
    let code = data.error.and_then(|error| error.code);
    (code.as_deref(), data.meta.map(RawValue::get)).hash(&mut rest);
    node.answers = Some((id.as_str().into(), rest.finish()));
    if let Some(meta) = data.meta {
        node.mark = stated_mark(meta.get(), seq);
        node.facts = stated_facts(meta.get());
    }
    node.heads = content.heads;
    Some(node)
}

/// The blocks of a message, measured.
#[derive(Default)]
struct Content<'a> {
    blocks: u32,
    chars: u32,
    tokens: u32,
    /// No block says anything to a provider; reasoning alone does not.
    silent: bool,
    calls: Vec<(Text<'a>, Text<'a>, Text<'a>)>,
    /// Of the last result block: the call it answers, and whether it failed.
    result: Option<(Text<'a>, bool)>,
    /// That result holds calls or results itself.
    nested: bool,
    heads: Vec<Seq>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor<'a>(Content<'a>);
        impl<'de: 'a, 'a> Visitor<'de> for ContentVisitor<'a> {
            type Value = Content<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("content blocks")
            }
            fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Content<'a>, A::Error> {
                self.0.silent = true;
                while let Some(block) = seq.next_element::<Block<'a>>()? {
                    self.0.add(block);
                }
                Ok(self.0)
            }
        }
        deserializer.deserialize_seq(ContentVisitor(Content::default()))
    }
}

impl<'a> Content<'a> {
    fn add(&mut self, block: Block<'a>) {
        self.blocks += 1;
        let (chars, tokens) = match block.kind {
            BlockKind::Text | BlockKind::Reasoning => {
                self.silent &= block.kind == BlockKind::Reasoning || block.text.units == 0;
                if self.blocks == 1 && block.kind == BlockKind::Text {
                    self.heads = block.text.heads;
                }
                (block.text.units, quarter(block.text.units))
            }
            BlockKind::Call => {
                self.silent = false;
                let (name, arguments) =
                    (utf16_units(block.name.as_bytes()), utf16_units(block.arguments.as_bytes()));
                self.calls.push((block.id, block.name, block.arguments));
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
    text: Measured,
    id: Text<'a>,
    name: Text<'a>,
    arguments: Text<'a>,
    call_id: Text<'a>,
    failed: bool,
    content: Content<'a>,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Field {
    Type,
    Text,
    Id,
    Name,
    Arguments,
    ToolCallId,
    IsError,
    Content,
    Attachment,
    #[serde(other)]
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for Block<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BlockVisitor<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for BlockVisitor<'a> {
            type Value = Block<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a content block whose type stands first")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Block<'a>, A::Error> {
                if !matches!(map.next_key::<Field>()?, Some(Field::Type)) {
                    return Err(A::Error::custom("the type does not stand first"));
                }
                let kind = match map.next_value::<&str>()? {
                    "text" => BlockKind::Text,
                    "reasoning" => BlockKind::Reasoning,
                    "tool-call" => BlockKind::Call,
                    "tool-result" => BlockKind::Result,
                    "image" => BlockKind::Image("{\"type\":\"image\"}".len() as u32),
                    _ => return Err(A::Error::custom("a type not known here")),
                };
                let mut block = Block {
                    kind,
                    text: Measured::default(),
                    id: Text::default(),
                    name: Text::default(),
                    arguments: Text::default(),
                    call_id: Text::default(),
                    failed: false,
                    content: Content::default(),
                };
                while let Some(field) = map.next_key::<Field>()? {
                    match (&mut block.kind, field) {
                        (BlockKind::Image(json), Field::Attachment) => {
                            let attachment = map.next_value::<&RawValue>()?.get();
                            *json += ",\"attachment\":".len() as u32 + utf16_units(attachment.as_bytes());
                        }
                        (BlockKind::Image(_), _) => {
                            return Err(A::Error::custom("an image with more fields"));
                        }
                        (_, Field::Text) => block.text = map.next_value()?,
                        (_, Field::Id) => block.id = map.next_value()?,
                        (_, Field::Name) => block.name = map.next_value()?,
                        (_, Field::Arguments) => block.arguments = map.next_value()?,
                        (_, Field::ToolCallId) => block.call_id = map.next_value()?,
                        (_, Field::IsError) => block.failed = map.next_value()?,
                        (_, Field::Content) => block.content = map.next_value()?,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(block)
            }
        }
        deserializer.deserialize_map(BlockVisitor(std::marker::PhantomData))
    }
}

/// A text's length in UTF-16 code units, and the seqs that it names if a recall wrote it.
#[derive(Default)]
struct Measured {
    units: u32,
    heads: Vec<Seq>,
}

impl<'de> Deserialize<'de> for Measured {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MeasuredVisitor;
        impl Visitor<'_> for MeasuredVisitor {
            type Value = Measured;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Measured, E> {
                let heads = match bytes {
                    [b's', b'0'..=b'9', ..] => recalled_heads(&String::from_utf8_lossy(bytes)),
                    _ => Vec::new(),
                };
                Ok(Measured { units: utf16_units(bytes), heads })
            }
        }
        // Bytes, for serde_json refuses lone surrogates in anything else; as bytes each counts one unit.
        deserializer.deserialize_bytes(MeasuredVisitor)
    }
}
