//! Every way a turn can be refused a checkpoint, a draft an edit, or an answer its place.

use thiserror::Error;

/// A classified refusal of this room. Display is a finished sentence; [`TurnRefusal::code`] is the stable code
/// beside it (docs/turn-memory.md 2.3, 2.5, 2.7).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TurnRefusal {
    /// The columns of a turn contradict each other: a fault of the caller, never of the session.
    #[error("the turn's columns cannot be read at row {row}: {what}")]
    Script {
        /// The offending row.
        row: usize,
        /// What is wrong with it.
        what: String,
    },
    /// No completed turn has this number.
    #[error("there is no turn {0} in this session; give the number of a turn that the log holds")]
    TurnNotFound(u32),
    /// The turn has not ended.
    #[error("turn {0} is still open; it can be compacted once it has ended")]
    TurnOpen(u32),
    /// A checkpoint stands for the turn, or a session compaction absorbed its checkpoint.
    #[error("turn {0} already has its checkpoint; nothing to do")]
    AlreadyReplaced(u32),
    /// The turn has nothing on the surface after its first message.
    #[error("turn {0} has no messages after its first one on the surface; nothing to compact")]
    Empty(u32),
    /// The turn holds no assistant message.
    #[error("turn {0} holds no assistant message on the surface; nothing to compact")]
    NoAssistant(u32),
    /// Something that is not the turn's stands among the turn's messages.
    #[error(
        "the node at seq {seq} stands among the messages of turn {turn} without being part of it; the turn stays raw"
    )]
    NonContiguous {
        /// The turn.
        turn: u32,
        /// The first foreign node.
        seq: u32,
    },
    /// A call of the turn has no result inside the turn.
    #[error("a call of the tool {0} has no result in its turn; the turn stays raw")]
    UnbalancedOpen(String),
    /// A result of the turn answers no call inside the turn.
    #[error("a tool result for the call id {0} answers no open call of its turn; the turn stays raw")]
    UnbalancedOrphan(String),
    /// No segment has this id.
    #[error("there is no segment {id}; the segments of this draft are {known}")]
    UnknownSegment {
        /// The id asked for.
        id: u32,
        /// All ids with their kinds.
        known: String,
    },
    /// The segment holds somebody's words.
    #[error("segment {id} is {kind}, which stays word for word; only working segments are rewritten")]
    VerbatimSegment {
        /// The segment.
        id: u32,
        /// Its kind.
        kind: &'static str,
    },
    /// The new content holds a line that reads as a segment tag.
    #[error("the content for segment {0} holds a line that is a segment tag; write the content alone")]
    TagInContent(u32),
    /// The new content is empty.
    #[error("the content for segment {0} is empty; say in a line what happened there")]
    EmptyContent(u32),
    /// The new content is too long.
    #[error("the content for segment {id} has {points} characters; the limit is {limit}")]
    TooLong {
        /// The segment.
        id: u32,
        /// Code points given.
        points: usize,
        /// Code points allowed.
        limit: usize,
    },
    /// The new content still carries raw tool lines.
    #[error("the content for segment {0} still holds a raw tool line; retell what happened instead")]
    WorkingRawMarker(u32),
    /// A segment of an earlier summary was changed.
    #[error("segment {0} comes from an earlier summary of this turn and stays byte for byte")]
    PreservedChanged(u32),
    /// A draft has another number of segments than its seed.
    #[error("the draft has {found} segments where its seed has {expected}")]
    Count {
        /// Segments in the seed.
        expected: usize,
        /// Segments in the draft.
        found: usize,
    },
    /// A segment has another id or kind than its seed.
    #[error("the segment at position {0} has another id or kind than its seed")]
    IdOrKind(usize),
    /// A verbatim segment was changed.
    #[error("segment {0} is not word for word what was said")]
    VerbatimChanged(u32),
    /// A working segment is too long.
    #[error("working segment {id} has {points} characters, more than the limit")]
    WorkingTooLong {
        /// The segment.
        id: u32,
        /// Code points found.
        points: usize,
    },
    /// A long working segment is as it was.
    #[error("working segment {0} was not shortened")]
    WorkingUntouched(u32),
    /// A search pattern does not compile.
    #[error("the pattern cannot be used: {0}")]
    BadPattern(String),
}

impl TurnRefusal {
    /// The stable code, as it reaches tool results, the session log and the debug trace.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Script { .. } => "BAD_COLUMNS",
            Self::TurnNotFound(_) => "TURN_NOT_FOUND",
            Self::TurnOpen(_) => "TURN_OPEN",
            Self::AlreadyReplaced(_) => "ALREADY_REPLACED",
            Self::Empty(_) | Self::NoAssistant(_) => "NOTHING_TO_COMPACT",
            Self::NonContiguous { .. } => "NON_CONTIGUOUS",
            Self::UnbalancedOpen(_) => "UNBALANCED_OPEN",
            Self::UnbalancedOrphan(_) => "UNBALANCED_ORPHAN",
            Self::UnknownSegment { .. } => "UNKNOWN_SEGMENT",
            Self::VerbatimSegment { .. } => "VERBATIM_SEGMENT",
            Self::TagInContent(_) => "TAG_IN_CONTENT",
            Self::EmptyContent(_) => "EMPTY_CONTENT",
            Self::TooLong { .. } => "TOO_LONG",
            Self::WorkingRawMarker(_) => "WORKING_RAW_MARKER",
            Self::PreservedChanged(_) => "PRESERVED_CHANGED",
            Self::Count { .. } => "COUNT",
            Self::IdOrKind(_) => "ID_OR_KIND",
            Self::VerbatimChanged(_) => "VERBATIM_CHANGED",
            Self::WorkingTooLong { .. } => "WORKING_TOO_LONG",
            Self::WorkingUntouched(_) => "WORKING_UNTOUCHED",
            Self::BadPattern(_) => "BAD_PATTERN",
        }
    }
}
