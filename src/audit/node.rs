//! What the audit keeps of a surface event: numbers, names, and the few texts that promises are about.

use super::dispatch::{Fields, field, text};
use super::maker::Maker;
use super::promises::Promise;
use crate::event::{Block, Body, Event, Seq, SurfaceOp, Text, utf16_units};
use crate::replacements::{Target, recalled_heads};
use crate::report::tools::Tools;
use crate::surface::{ABSENT, EMPTY, Kind, MEMORY, PERSON};
use serde::Deserialize;
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Longest text of a person that is kept to see whether it survives word for word, in bytes.
const WORDS: usize = 1 << 16;
/// Code units of a call's arguments that are kept to name it.
const LABEL: usize = 80;

/// A surface event.
#[derive(Debug, PartialEq)]
pub(super) struct Node {
    pub(super) op: SurfaceOp,
    pub(super) sources: Vec<Seq>,
    pub(super) kind: Kind,
    /// Flags as [`crate::surface`] names them.
    pub(super) flags: u8,
    /// Model-visible text, UTF-16 code units.
    pub(super) chars: u32,
    /// The harness's estimate of the message.
    pub(super) tokens: u32,
    /// Calls of an assistant message, in order.
    pub(super) calls: Vec<Call>,
    /// Of a result: the call it answers, and everything but its content as one number.
    pub(super) answers: Option<(Box<str>, u64)>,
    /// Who made a replacement.
    pub(super) maker: Option<Maker>,
    /// A person's words, or the text of a replacement that may have to carry them.
    pub(super) text: Option<Box<str>>,
    /// Seqs that a result names at the head of its lines, as recalls do.
    pub(super) heads: Vec<Seq>,
    /// The mark that a result of the checkpoint tool states.
    pub(super) mark: Option<Mark>,
    /// Facts of a fold that a report's source, or the result of `rewind`, states.
    pub(super) facts: Option<Box<Facts>>,
    /// What the source of a receipt or a turn checkpoint promises.
    pub(super) promise: Option<Box<Promise>>,
}

/// A call of an assistant message.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    pub(super) id: Box<str>,
    pub(super) tool: Box<str>,
    /// What it reads, and how to name that; absent for calls that do more than look.
    pub(super) reads: Option<(Target, Box<str>)>,
}

/// A mark as the checkpoint tool's result states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) id: Box<str>,
    pub(super) log_length: Seq,
    pub(super) objective: Option<Box<str>>,
}

/// What a fold says about itself.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Facts {
    #[serde(deserialize_with = "mark_id")]
    pub(super) mark_id: Option<Box<str>>,
    pub(super) folded_nodes: Option<u32>,
    pub(super) start: Option<Seq>,
    pub(super) end: Option<Seq>,
    pub(super) folded_chars: Option<u32>,
    pub(super) report_chars: Option<u32>,
    pub(super) folded_tokens: Option<u32>,
    pub(super) report_tokens: Option<u32>,
    pub(super) usage: Option<Usage>,
    #[serde(deserialize_with = "owned_texts")]
    pub(super) quotes: Vec<Box<str>>,
    /// The smallest and the largest seq that the ledger names.
    #[serde(deserialize_with = "named")]
    pub(super) ledger: Option<(Seq, Seq)>,
}

/// What a report's request cost, as its provider counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Usage {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cache_read_tokens: u64,
}

fn mark_id<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Box<str>>, D::Error> {
    Ok(Value::deserialize(deserializer).ok().and_then(|value| id_text(&value)))
}

fn id_text(value: &Value) -> Option<Box<str>> {
    match value {
        Value::String(id) => Some(id.as_str().into()),
        Value::Number(id) => Some(id.to_string().into()),
        _ => None,
    }
}

fn owned_texts<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Box<str>>, D::Error> {
    let texts = Vec::<Text<'de>>::deserialize(deserializer)?;
    Ok(texts.into_iter().map(|text| text.as_str().into()).collect())
}

/// Which seqs a ledger names; one that cannot be read promises nothing.
fn named<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<(Seq, Seq)>, D::Error> {
    let ledger = Value::deserialize(deserializer)?;
    let lines = ledger.get("lines").and_then(|lines| lines.as_array());
    let seqs = lines.into_iter().flatten().filter_map(|line| line.get("seqs")?.as_array()).flatten();
    let seqs = seqs.filter_map(|seq| Seq::try_from(seq.as_u64()?).ok());
    Ok(seqs.fold(None, |ends, seq| match ends {
        None => Some((seq, seq)),
        Some((least, most)) => Some((seq.min(least), seq.max(most))),
    }))
}

impl Node {
    /// A node of this kind and size, appended, of which nothing else is known yet. `tokens` are those of its content.
    pub(super) fn bare(kind: Kind, chars: u32, tokens: u32) -> Self {
        Self {
            op: SurfaceOp::Append,
            sources: Vec::new(),
            kind,
            flags: 0,
            chars,
            // What the harness's meter adds for the message itself.
            tokens: tokens.saturating_add(4),
            calls: Vec::new(),
            answers: None,
            maker: None,
            text: None,
            heads: Vec::new(),
            mark: None,
            facts: None,
            promise: None,
        }
    }

    /// Reads a surface event; `None` when it carries no surface operation.
    pub(super) fn of(event: &Event<'_>, tools: &Tools) -> Option<Self> {
        let op = event.op?;
        let replaces = op != SurfaceOp::Append;
        let content = event.content();
        let chars = u32::try_from(event.chars()).unwrap_or(u32::MAX);
        let mut node =
            Self { op, sources: event.sources.clone(), ..Self::bare(Kind::User, chars, tokens_of(content)) };
        match &event.body {
            Body::User(message) => {
                if message.source.is_person() {
                    node.flags |= PERSON;
                } else if message.source.is_plugin("turn-memory") {
                    node.flags |= MEMORY;
                }
                if content.iter().all(|block| matches!(block, Block::Text(text) if text.is_empty())) {
                    node.flags |= EMPTY;
                }
            }
            Body::Assistant(_) => node.read_assistant(content, tools),
            Body::ToolResult(result) => {
                node.kind = Kind::Result;
                node.tokens = node.tokens.saturating_add(if result.wrapped { 4 } else { 0 });
                let mut rest = DefaultHasher::new();
                (result.turn, result.step, result.is_error, result.call_id.as_str()).hash(&mut rest);
                (result.error_code.as_deref(), result.meta.map(|meta| meta.get())).hash(&mut rest);
                node.answers = Some((result.call_id.as_str().into(), rest.finish()));
                if let Some(Block::Text(text)) = content.first()
                    && !replaces
                {
                    node.heads = recalled_heads(text);
                }
                if let Some(meta) = result.meta {
                    node.mark = stated_mark(meta.get(), event.seq);
                    node.facts = stated_facts(meta.get());
                }
            }
            _ => return None,
        }
        if replaces {
            let maker = Maker::of(event);
            if maker.is_ours() || maker == Maker::Compaction {
                node.text = Some(text_of(content).into());
            }
            if let (Maker::Report(_), Some(source)) = (&maker, event.source()) {
                node.facts = source.read::<Facts>().map(Box::new);
            }
            if let (Maker::Receipt | Maker::Turn, Some(source)) = (&maker, event.source()) {
                let text = node.text.as_deref().unwrap_or_default();
                node.promise = Promise::read(source, text).map(Box::new);
            }
            node.maker = Some(maker);
        } else if node.flags & PERSON != 0 {
            let words = text_of(content);
            node.text = (words.len() <= WORDS).then(|| words.into());
        }
        Some(node)
    }

    fn read_assistant(&mut self, content: &[Block<'_>], tools: &Tools) {
        self.kind = Kind::Assistant;
        if content.is_empty() {
            self.flags |= ABSENT;
            // Such a message only hosts usage: nothing of it is sent.
            self.tokens = 0;
        } else if !content
            .iter()
            .any(|block| says_something(block) || matches!(block, Block::ToolCall { .. }))
        {
            self.flags |= EMPTY;
        }
        for block in content {
            if let Block::ToolCall { id, name, arguments } = block {
                let target = Target::of(tools, name, arguments);
                self.calls.push(Call {
                    id: id.as_str().into(),
                    tool: name.as_str().into(),
                    reads: target.map(|target| (target, label(name, arguments))),
                });
            }
        }
    }
}

pub(super) fn label(tool: &str, arguments: &str) -> Box<str> {
    crate::report::text::clip(&crate::report::text::one_line(&format!("{tool} {arguments}")), LABEL).into()
}

/// Whether a provider would take the block for content; reasoning alone is none.
fn says_something(block: &Block<'_>) -> bool {
    match block {
        Block::Text(text) => !text.is_empty(),
        Block::Reasoning(_) => false,
        _ => true,
    }
}

/// What the harness estimates for so many code units.
pub(super) fn quarter(units: u32) -> u32 {
    units.div_ceil(4)
}

/// The harness's own estimate: a quarter of the code units of each text, and four for each block.
fn tokens_of(blocks: &[Block<'_>]) -> u32 {
    let quarter = |text: &str| quarter(utf16_units(text.as_bytes()));
    let all = blocks.iter().map(|block| {
        let own = match block {
            Block::Text(text) | Block::Reasoning(text) => quarter(text),
            Block::ToolCall { name, arguments, .. } => quarter(name).saturating_add(quarter(arguments)),
            Block::ToolResult { content, .. } => tokens_of(content),
            Block::Image(image) => quarter(image.json.get()),
            Block::Other(json) => quarter(json.get()),
        };
        own.saturating_add(4)
    });
    all.fold(0, u32::saturating_add)
}

fn text_of(blocks: &[Block<'_>]) -> String {
    let mut text = String::new();
    for block in blocks {
        if let Block::Text(part) = block {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(part);
        }
    }
    text
}

pub(super) fn stated_mark(meta: &str, seq: Seq) -> Option<Mark> {
    if !meta.contains("rewindMark") {
        return None;
    }
    let meta: Fields<'_> = serde_json::from_str(meta).ok()?;
    let mark: Fields<'_> = serde_json::from_str(field(&meta, "rewindMark")?).ok()?;
    let log_length = field(&mark, "logLength")?.parse().ok()?;
    // An id is a number of ours, or the text of another service.
    let id = field(&mark, "id").filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
    let id = id.map(Into::into).or_else(|| text(&mark, "id"))?;
    let objective = text(&mark, "objective").map(|objective| objective.trim().into());
    (log_length <= seq).then_some(Mark { id, log_length, objective })
}

/// What a fold came to, as the result of `rewind` states it.
pub(super) fn stated_facts(meta: &str) -> Option<Box<Facts>> {
    if !meta.contains("foldedNodes") {
        return None;
    }
    let facts = serde_json::from_str::<Facts>(meta).ok()?;
    (facts.mark_id.is_some() && facts.folded_nodes.is_some()).then(|| Box::new(facts))
}
