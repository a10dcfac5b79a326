//! One line of a log: what it holds, or what is wrong with it.

use super::chunks::{self, Run};
use super::dispatch::{self, Dispatch, Fields};
use super::lean;
use super::node::Node;
use super::scan::Scan;
use crate::event::{Body, Envelope, Event, EventError, Seq};
use crate::report::tools::Tools;
use serde::de::Error as _;
use serde_json::value::RawValue;

#[cfg(test)]
mod tests;

/// What is wrong with a line, so that it cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Damage {
    /// Not JSON, or JSON that is no event.
    Unreadable(String),
    /// Data of another shape than its type promises.
    BadEvent(String),
    /// A chunk row that the harness would refuse to expand.
    ChunkRow(String),
}

/// A line that could be read.
#[derive(Debug)]
pub(super) struct Row {
    /// The stated seq of the event, or of a run's first.
    pub(super) seq: Option<Seq>,
    /// Whether the bytes were not UTF-8 and were read with replacement characters.
    pub(super) mended: bool,
    pub(super) fact: Fact,
}

/// What a line says, as far as the audit asks.
#[derive(Debug)]
pub(super) enum Fact {
    Header(Box<Header>),
    /// Streamed deltas: so many events.
    Chunks(u32),
    Node(Box<Node>),
    TurnStart(u32),
    TurnEnd(u32),
    StepStart,
    ToolCall(Box<str>),
    /// A call inside a program began.
    DispatchStart(Box<str>),
    /// A call inside a program took a mark.
    DispatchEnd(Box<Dispatch>),
    Price(Box<Price>),
    CompactionStart,
    CompactionEnd,
    /// Everything before came from a seed.
    EndSeed,
    /// The command of ours was called with `discard`.
    DiscardRun(Box<str>),
    /// A command is done and cites an event.
    CommandDone(Box<str>, Seq),
    /// A surface type without a surface operation.
    Unplaced(Box<str>),
    /// A surface operation on a type that has none.
    Misplaced(Box<str>),
    /// A type that this version of the vocabulary lacks and that may not be skipped.
    Unknown(Box<str>),
    Other,
}

/// The first line of a log.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) version: Option<f64>,
    pub(super) id: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) parent_session: Option<String>,
    pub(super) origin: Option<String>,
    pub(super) seed_length: Option<Seq>,
}

/// The price event before a replacement: which range it prices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Price {
    pub(super) start: Seq,
    pub(super) end: Seq,
    pub(super) seqs: Vec<Seq>,
    pub(super) tokens: Option<u32>,
}

/// Event types of harness lines up to 0.1.1 beside those that [`Fact`] names. The harness refuses to load a
/// log with any other that is not marked `ignorable`.
const KNOWN: [&str; 30] = [
    "agent-preset/selected",
    "agent/inbox/spliced",
    "approval/asked",
    "approval/decided",
    "approval/policy",
    "feedback/record",
    "goal/change",
    "hook/invoked",
    "hook/result",
    "llm/retry",
    "permission/preset",
    "plan/mode",
    "request/context",
    "request/header",
    "sandbox/mode",
    "schedule/change",
    "session/title",
    "session/title-llm-request",
    "step/end",
    "subagent/descriptor",
    "team/member",
    "team/message/delivered",
    "team/message/queued",
    "team/task",
    "todo/write",
    "tool-workflow/agent-end",
    "tool-workflow/agent-start",
    "tool-workflow/run-end",
    "tool-workflow/run-start",
    "web/deepseek-search-llm-request",
];

/// Reads one line, without its newline.
pub(super) fn read(line: &[u8], tools: &Tools) -> Result<Row, Damage> {
    // A seventh of an audit was this check; the library does it by vector instructions.
    match simdutf8::basic::from_utf8(line) {
        Ok(line) => read_text(line, tools),
        Err(_) => {
            // As the harness does, which decodes the line before it parses it.
            let mut row = read_text(&String::from_utf8_lossy(line), tools)?;
            row.mended = true;
            Ok(row)
        }
    }
}

/// Reads one line that is text.
pub(super) fn read_text(line: &str, tools: &Tools) -> Result<Row, Damage> {
    // The tag stands first in every row a harness writes; reading it here saves reading the row twice.
    let tag = Scan::tag(line);
    if tag.is_some_and(chunks::is_row) {
        return chunks::read(line).map(of_run);
    }
    if let Some(row) = tag.and_then(|tag| lean::read(line, tag, tools)) {
        return Ok(row);
    }
    read_whole(line, tools)
}

/// Reads a line of any type, written in any way.
fn read_whole(line: &str, tools: &Tools) -> Result<Row, Damage> {
    let envelope = Envelope::parse(line).map_err(|error| Damage::Unreadable(reason(error)))?;
    if chunks::is_row(&envelope.name) {
        return chunks::read(line).map(of_run);
    }
    let (seq, name) = (envelope.seq, envelope.name.clone());
    if name == "session" && envelope.data.is_none() {
        let header = header(line).map_err(|error| Damage::BadEvent(error.to_string()))?;
        return Ok(Row { seq: None, mended: false, fact: Fact::Header(Box::new(header)) });
    }
    let fact = fact_of(envelope, tools)?;
    Ok(Row { seq, mended: false, fact })
}

fn of_run(run: Run) -> Row {
    Row { seq: run.seq, mended: false, fact: Fact::Chunks(run.count) }
}

fn reason(error: EventError) -> String {
    match error {
        EventError::Envelope(reason) | EventError::Data { reason, .. } => reason,
        other => other.to_string(),
    }
}

fn fact_of(envelope: Envelope<'_>, tools: &Tools) -> Result<Fact, Damage> {
    let surface = matches!(&*envelope.name, "user/message" | "assistant/message" | "tool/result");
    if !surface && (envelope.surface_op.is_some() || envelope.source_event_seqs.is_some()) {
        return Ok(Fact::Misplaced(envelope.name.as_str().into()));
    }
    let data = || envelope.data.map_or("{}", RawValue::get);
    let bad = |error: serde_json::Error| Damage::BadEvent(error.to_string());
    Ok(match &*envelope.name {
        "session/end-seed" => Fact::EndSeed,
        "compaction/start" => Fact::CompactionStart,
        "compaction/end" => Fact::CompactionEnd,
        "compaction/prune" | "compaction/summary" => {
            price(data()).map_err(bad)?.map_or(Fact::Other, |price| Fact::Price(Box::new(price)))
        }
        "tool/code-dispatch-start" => dispatch::started(data()).map_or(Fact::Other, Fact::DispatchStart),
        "tool/code-dispatch" => {
            dispatch::ended(data()).map_or(Fact::Other, |ended| Fact::DispatchEnd(Box::new(ended)))
        }
        "command/run" => discard(data()).map_or(Fact::Other, Fact::DiscardRun),
        "command/done" => done(data()).map_or(Fact::Other, |(id, seq)| Fact::CommandDone(id, seq)),
        "tool/call" => {
            let fields: Fields<'_> = serde_json::from_str(data()).map_err(bad)?;
            let id = dispatch::text(&fields, "callId");
            id.map_or_else(
                || Err(Damage::BadEvent("it names no call".to_owned())),
                |id| Ok(Fact::ToolCall(id)),
            )?
        }
        name if surface || matches!(name, "turn/start" | "turn/end") => {
            let name: Box<str> = name.into();
            let event = Event::read(envelope, Some(0)).map_err(|error| Damage::BadEvent(reason(error)))?;
            match &event.body {
                Body::User(_) | Body::Assistant(_) | Body::ToolResult(_) => {
                    Node::of(&event, tools).map_or(Fact::Unplaced(name), |node| Fact::Node(Box::new(node)))
                }
                Body::TurnStart { turn } => Fact::TurnStart(*turn),
                Body::TurnEnd { turn, .. } => Fact::TurnEnd(*turn),
                _ => Fact::Other,
            }
        }
        name => match counted(name) {
            Some(fact) => fact,
            None if envelope.ignorable == Some(true) => Fact::Other,
            None => Fact::Unknown(name.into()),
        },
    })
}

/// What a line says whose data nobody asks for, by its type.
pub(super) fn counted(name: &str) -> Option<Fact> {
    match name {
        "assistant/chunk" => Some(Fact::Chunks(1)),
        // A retry is a request of its own.
        "step/start" | "llm/retry-started" => Some(Fact::StepStart),
        _ => KNOWN.contains(&name).then_some(Fact::Other),
    }
}

fn header(line: &str) -> serde_json::Result<Header> {
    let fields: Fields<'_> = serde_json::from_str(line)?;
    let owned = |name| dispatch::text(&fields, name).map(String::from);
    Ok(Header {
        version: dispatch::field(&fields, "version").and_then(|version| version.parse().ok()),
        id: owned("id"),
        cwd: owned("cwd"),
        parent_session: owned("parentSession"),
        origin: owned("origin"),
        seed_length: dispatch::field(&fields, "seedLength").and_then(|length| length.parse().ok()),
    })
}

fn price(data: &str) -> serde_json::Result<Option<Price>> {
    let claim: Fields<'_> = serde_json::from_str(data)?;
    let Some(range) = dispatch::field(&claim, "shadowedRange").filter(|range| *range != "null") else {
        return Ok(None);
    };
    let range: Fields<'_> = serde_json::from_str(range)?;
    let seqs = dispatch::field(&claim, "shadowedSeqs").map_or(Ok(Vec::new()), serde_json::from_str)?;
    let tokens = dispatch::field(&claim, "shadowedTokenCount").and_then(|count| count.parse().ok());
    let seq = |name| dispatch::field(&range, name)?.parse().ok();
    match (seq("start"), seq("end")) {
        (Some(start), Some(end)) => Ok(Some(Price { start, end, seqs, tokens })),
        _ => Err(serde_json::Error::custom("its range names no seqs")),
    }
}

fn discard(data: &str) -> Option<Box<str>> {
    let fields: Fields<'_> = serde_json::from_str(data).ok()?;
    let args = dispatch::text(&fields, "args")?;
    if args.split_whitespace().next() != Some("discard") {
        return None;
    }
    dispatch::text(&fields, "commandId")
}

fn done(data: &str) -> Option<(Box<str>, Seq)> {
    let fields: Fields<'_> = serde_json::from_str(data).ok()?;
    let cites = dispatch::field(&fields, "sourceEventSeq")?.parse().ok()?;
    let success = dispatch::field(&fields, "kind") == Some("\"success\"");
    dispatch::text(&fields, "commandId").filter(|_| success).map(|id| (id, cites))
}
