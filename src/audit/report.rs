//! What an audit tells, as `--json` writes it.

use super::findings::Finding;
use crate::event::Seq;
use serde::Serialize;

/// The size of a surface, or of a part of one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Size {
    /// How many nodes.
    pub nodes: u64,
    /// Model-visible text in UTF-16 code units.
    pub chars: u64,
    /// The harness's own estimate.
    pub tokens: u64,
}

/// The audit of one log.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogAudit {
    /// The file as it was named.
    pub path: String,
    /// Session id, where a header could be read.
    pub session: Option<String>,
    /// Working directory of the session.
    pub cwd: Option<String>,
    /// The session it was forked from.
    pub parent_session: Option<String>,
    /// `subagent` for a delegated session.
    pub origin: Option<String>,
    /// Decompressed bytes that were read.
    pub bytes: u64,
    /// Lines, the header included.
    pub lines: u64,
    /// Events, packed ones counted one by one.
    pub events: u64,
    /// Streamed deltas among them.
    pub chunks: u64,
    /// Turns that were opened.
    pub turns: u64,
    /// Requests to the model, and whether a provider would accept them.
    pub requests: Requests,
    /// The surface at the end.
    pub surface: Size,
    /// Marks, in the order in which they were taken.
    pub marks: Vec<MarkAudit>,
    /// Folds of this package, in the order in which they landed.
    pub folds: Vec<FoldAudit>,
    /// Everybody's replacements, in log order.
    pub replacements: Vec<ReplacementAudit>,
    /// Persons' messages that the model no longer sees.
    pub shadowed_persons: Vec<ShadowedPerson>,
    /// What the audit objects to.
    pub findings: Vec<Finding>,
    /// Findings beyond those listed.
    pub more_findings: u64,
}

/// The requests of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Requests {
    /// How many.
    pub count: u64,
    /// How many a provider would refuse.
    pub refused: u64,
    /// The first of those.
    pub first: Option<FirstFault>,
}

/// The first fault that reached a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FirstFault {
    /// Which request, from 1.
    pub request: u64,
    /// Line of the answer to it.
    pub line: u64,
    /// Seq of the node at fault.
    pub seq: Seq,
    /// What is wrong: `unanswered call`, `result without its call` or `empty message`.
    pub fault: &'static str,
    /// Seq of the replacement that made it, if one did.
    pub made_by: Option<Seq>,
}

/// A mark and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MarkAudit {
    /// The mark's id.
    pub id: String,
    /// Seq of the event that states it: its result, or the record of the call inside a program that took it.
    pub seq: Seq,
    /// Log length when it was taken.
    pub log_length: Seq,
    /// What the exploration was for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// Seq of its report, once folded.
    pub report: Option<Seq>,
    /// Whether a person discarded it.
    pub discarded: bool,
}

/// A fold of this package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoldAudit {
    /// The mark's id.
    pub mark: String,
    /// Seq of the report.
    pub report: Seq,
    /// Nodes that were folded, rewritten results included.
    pub nodes: u64,
    /// Their text in UTF-16 code units.
    pub chars: u64,
    /// Their estimate.
    pub tokens: u64,
    /// All text that landed, UTF-16 code units.
    pub landed_chars: u64,
    /// Its estimate.
    pub landed_tokens: u64,
    /// Input tokens of the report call, as its provider counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Those of them that were cached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Output tokens of the report call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// How often something in it was read again, by a like call or by recall.
    pub read_again: u64,
}

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplacementAudit {
    /// Its seq.
    pub seq: Seq,
    /// Its line.
    pub line: u64,
    /// Who made it.
    pub by: String,
    /// Whether this package did.
    pub ours: bool,
    /// First node it took, in surface order.
    pub start: Seq,
    /// Last node it took.
    pub end: Seq,
    /// How many nodes it took.
    pub nodes: u64,
    /// The surface before it.
    pub before: Size,
    /// The surface after it.
    pub after: Size,
    /// What it took and what was read again since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read_again: Vec<ReadAgain>,
}

/// Something read again after it had been taken away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReadAgain {
    /// Seq of the new result.
    pub seq: Seq,
    /// The call, cut short.
    pub what: String,
}

/// A person's message that the model no longer sees as such.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ShadowedPerson {
    /// Its seq.
    pub seq: Seq,
    /// The replacement that took it.
    pub by: Seq,
    /// Whether that carries the words; unknown for words too long to be kept, and for replacements of others
    /// than this package and compaction.
    pub carried: Option<bool>,
}
