//! What the audit objects to, each with a stable code, a place and a sentence.

use super::order::Place;
use crate::event::Seq;
use serde::Serialize;

/// How many findings of a log are kept one by one; a broken log may have millions.
const KEPT: usize = 1_000;

/// What kind of objection a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Code {
    /// The file does not begin with a session header.
    NoHeader,
    /// The header states a format version that this audit does not know.
    NewerFormat,
    /// A line is no JSON, or no event.
    UnreadableLine,
    /// An event's data has not the shape of its type.
    BadEvent,
    /// A packed chunk row that the harness would refuse to expand.
    BadChunkRow,
    /// A line is not UTF-8.
    NotUtf8,
    /// The last line has no newline: the writer was cut off.
    TornTail,
    /// A compressed frame breaks off at the end of the file.
    TornFrame,
    /// A compressed frame cannot be decompressed.
    BadFrame,
    /// A line is longer than the audit reads.
    LineTooLong,
    /// An event type that no known harness line has, not marked as ignorable.
    UnknownEvent,
    /// Seqs are missing between two lines.
    SeqGap,
    /// A seq comes twice or out of order.
    SeqAgain,
    /// A replacement does not fit the surface it is applied to.
    BadReplacement,
    /// A replacement does not cite all that it shadows.
    Uncited,
    /// A rewritten result changes more than its content.
    RewriteChangesMore,
    /// A message without a surface operation.
    NoSurfaceOp,
    /// A surface operation on an event that has no place on the surface.
    MisplacedSurfaceOp,
    /// A price event names another range than the replacement behind it.
    PriceMismatch,
    /// A provider would refuse a request of this session.
    WireFault,
    /// A compaction began and never ended.
    UnfinishedCompaction,
    /// A fold of this package landed only in part.
    UnfinishedFold,
    /// A replacement of this package is not what it says of itself.
    BrokenPromise,
    /// A fold of this package took something older than its mark.
    OlderThanMark,
    /// A replacement of this package shadows a person's words without carrying them.
    WordsLost,
}

/// One objection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What kind.
    pub code: Code,
    /// Line in the decompressed file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Seq of the event it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// Seq of the replacement that caused it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Seq>,
    /// Whether a replacement of this package caused it.
    pub ours: bool,
    /// A finished sentence.
    pub message: String,
}

/// The findings of one log.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) kept: Vec<Finding>,
    pub(super) more: u64,
}

impl Findings {
    pub(super) fn push(&mut self, finding: Finding) {
        if self.kept.len() < KEPT {
            self.kept.push(finding);
        } else {
            self.more += 1;
        }
    }
    /// A replacement of this package is not what it says of itself.
    pub(super) fn broken(&mut self, at: Place, message: String) {
        let seq = Some(at.seq);
        let code = Code::BrokenPromise;
        self.push(Finding { code, line: Some(at.line), seq, by: seq, ours: true, message });
    }
}
