//! Every way a fold can be refused: the stable code that reaches the log, and the finished sentences that
//! tell the model what happened and what to do next (docs/rewind.md 4).

use crate::words::count;
use thiserror::Error;

/// A classified refusal. Nothing was written when one is returned.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No checkpoint provider, or no mark in this session.
    #[error("No checkpoint is set in this session, so there is nothing to fold. {0}")]
    NoCheckpoint(String),
    /// The mark was folded before.
    #[error(
        "Mark {mark} is folded already: its report stands in the context and the exploration is gone from it. \
         Go on with the task; a new exploration needs a fresh checkpoint."
    )]
    AlreadyFolded {
        /// The mark's id.
        mark: String,
    },
    /// The mark does not lie in this log.
    #[error(
        "Mark {mark} cannot be used: its logLength is {value}, and a mark of this session has an integer from 0 \
         to {log_length}. Go on with the task; a new exploration needs a fresh checkpoint."
    )]
    MarkOutside {
        /// The mark's id.
        mark: String,
        /// The offending value as text.
        value: String,
        /// The log's length in events.
        log_length: u32,
    },
    /// Nothing after the mark can be folded.
    #[error(
        "Nothing to fold: no step stands after the checkpoint of mark {mark}. The mark stays active; explore \
         first and fold afterwards, or go on without folding."
    )]
    EmptyRegion {
        /// The mark's id.
        mark: String,
    },
    /// A result without its call, or a second result for one call.
    #[error(
        "The context after the mark cannot be folded: the tool result at seq {seq} has no open call beside it. \
         Nothing was changed; go on without folding."
    )]
    OrphanResult {
        /// The result's seq.
        seq: u32,
    },
    /// A call whose result never came stands first in the region.
    #[error(
        "The context after the mark cannot be folded: a call in the message at seq {seq} was never answered. \
         Nothing was changed; go on without folding."
    )]
    OpenCall {
        /// The carrier's seq.
        seq: u32,
    },
    /// The planned edit would leave or add a wire fault.
    #[error(
        "The context after the mark cannot be folded: the message at seq {seq} would be refused by the provider \
         afterwards. Nothing was changed; go on without folding."
    )]
    WireFault {
        /// The seq at fault.
        seq: u32,
    },
    /// A surface node does not agree with the log.
    #[error(
        "The context cannot be folded: its node at seq {seq} does not agree with the session log. Nothing was \
         changed; go on without folding."
    )]
    CorruptSurface {
        /// The node's seq.
        seq: u32,
    },
    /// Surface or mark changed while the report was written.
    #[error(
        "The context changed while the report was written, so nothing was folded. The mark stays active; fold \
         again when the change has settled."
    )]
    Changed,
    /// The landed text would not be shorter than what it replaces.
    #[error(
        "Folding would not make the context smaller: the region has {} characters{}, the report \
         needs {}{}. Nothing was changed; go on with the task rather than folding again unchanged.",
        count((*folded_chars).into()), tokens(*folded_tokens), count((*report_chars).into()), tokens(*report_tokens)
    )]
    Shrink {
        /// Model-visible text of the region, UTF-16 code units.
        folded_chars: u32,
        /// Text that would land, UTF-16 code units.
        report_chars: u32,
        /// Estimated tokens of the region, where a meter is mounted.
        folded_tokens: Option<u32>,
        /// Estimated tokens of what would land.
        report_tokens: Option<u32>,
    },
    /// The fold would save fewer tokens than the configured minimum.
    #[error(
        "Folding would save too little: the region has about {} tokens, and at least {} \
         must be saved. Nothing was changed; go on with the task rather than folding again unchanged.",
        count((*folded_tokens).into()), count((*min_savings).into())
    )]
    Savings {
        /// Estimated tokens of the region.
        folded_tokens: u32,
        /// The configured minimum.
        min_savings: u32,
    },
    /// The report could not be written.
    #[error(
        "The report could not be written: {0}. Nothing was changed and the mark stays active; fold again later, or go on."
    )]
    SummaryFailed(String),
}

fn tokens(estimate: Option<u32>) -> String {
    estimate.map(|tokens| format!(" (about {} tokens)", count(tokens.into()))).unwrap_or_default()
}

impl Refusal {
    /// The stable code, as it reaches the session log (docs/rewind.md 4.2).
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoCheckpoint(_) => "NO_CHECKPOINT",
            Self::AlreadyFolded { .. } | Self::MarkOutside { .. } | Self::EmptyRegion { .. } => {
                "EMPTY_REGION"
            }
            Self::OrphanResult { .. }
            | Self::OpenCall { .. }
            | Self::WireFault { .. }
            | Self::CorruptSurface { .. } => "UNBALANCED",
            Self::Changed => "CHANGED",
            Self::Shrink { .. } | Self::Savings { .. } => "SHRINK",
            Self::SummaryFailed(_) => "SUMMARY_FAILED",
        }
    }
}
