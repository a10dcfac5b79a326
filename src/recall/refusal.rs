//! What a recall says when there is nothing to show: what was asked for, and what there is.

use crate::event::Seq;
use crate::replacements::Replacements;
use thiserror::Error;

/// A recall without an answer. Display is a finished text for the model.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// No replacement in this session.
    #[error(
        "Nothing in this session was folded, shortened or compacted: all of it stands in the conversation."
    )]
    NothingFolded,
    /// No key.
    #[error("Give a seq, a path or a pattern. {0}")]
    NothingAsked(String),
    /// A value out of range.
    #[error("{name} {value} is out of range: {range}.")]
    OutOfRange {
        /// The argument.
        name: &'static str,
        /// What was given.
        value: i64,
        /// What is allowed.
        range: String,
    },
    /// A path or pattern without content.
    #[error("{0} is empty: leave it out, or say what to look for.")]
    Empty(&'static str),
    /// The log is shorter.
    #[error("There is no seq {seq}: the log ends at seq {last}. {index}")]
    NoSuchSeq {
        /// What was asked for.
        seq: i64,
        /// The log's last seq.
        last: i64,
        /// What there is.
        index: String,
    },
    /// The seq is an event that never was a message.
    #[error("Seq {seq} is no message, call or result. {index}")]
    NoNode {
        /// What was asked for.
        seq: Seq,
        /// What there is.
        index: String,
    },
    /// The node was never replaced.
    #[error("Seq {seq} still stands in the conversation as it was. {index}")]
    Visible {
        /// What was asked for.
        seq: Seq,
        /// What there is.
        index: String,
    },
    /// The keys match nothing.
    #[error("Nothing that was taken out matches {asked}. {index}")]
    NoMatch {
        /// The keys.
        asked: String,
        /// What there is.
        index: String,
    },
    /// The pattern does not compile, or compiles to something too large.
    #[error("pattern cannot be used: {0} (no look-around, no back-references; escape brackets and dots)")]
    Pattern(String),
    /// The window begins behind the end.
    #[error("offset {offset} is past the end: there are {length} chars.")]
    PastEnd {
        /// What was given.
        offset: usize,
        /// Length of all there is, in UTF-16 code units.
        length: usize,
    },
}

impl Refusal {
    /// The stable code that reaches the log.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NothingFolded => "NOTHING_FOLDED",
            Self::NothingAsked(_) | Self::OutOfRange { .. } | Self::Empty(_) | Self::PastEnd { .. } => {
                "BAD_QUERY"
            }
            Self::Pattern(_) => "BAD_PATTERN",
            Self::NoSuchSeq { .. } | Self::NoNode { .. } => "NO_SUCH_SEQ",
            Self::Visible { .. } => "NOT_FOLDED",
            Self::NoMatch { .. } => "NO_MATCH",
        }
    }
}

/// What can be recalled, newest last, in one sentence that stays short however much there is.
pub(super) fn index(reader: &Replacements) -> String {
    const SHOWN: usize = 6;
    let roots: Vec<Seq> =
        reader.iter().map(|(seq, _)| seq).filter(|seq| reader.root_of(*seq) == *seq).collect();
    let older = roots.len().saturating_sub(SHOWN);
    let mut text = String::from("There is: ");
    if older > 0 {
        text.push_str(&format!("{older} older, "));
    }
    let named = roots.iter().skip(older).map(|root| {
        let originals = reader.originals(*root);
        match (originals.first(), originals.last()) {
            (Some(first), Some(last)) if first != last => {
                format!("s{root} for s{first} to s{last} ({} nodes)", originals.len())
            }
            (Some(only), _) => format!("s{root} for s{only}"),
            _ => format!("s{root}"),
        }
    });
    text.push_str(&named.collect::<Vec<_>>().join(", "));
    text.push('.');
    text
}
