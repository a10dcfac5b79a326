//! The one reader of replacements: what stands at a seq, what it took the place of, and the originals behind
//! it, through any depth and anybody's replacement (ours, compaction's, a pruner's, turn memory's).
//!
//! It holds numbers only and grows event by event, so `recall` in the host feeds it what is new and the audit
//! feeds it a log while reading. Every node is shadowed at most once, which makes the whole a forest whose
//! roots are the surface and whose leaves are the appended nodes.

mod calls;
mod regret;

pub use calls::{CallRef, Calls};
pub use regret::{Recalled, Regret, Spoken, Target, recalled_heads};

use crate::event::{Seq, SurfaceOp};
use std::collections::BTreeMap;
use thiserror::Error;

/// Why a surface operation does not fit the surface so far. The reader stays as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Misfit {
    /// A seq at or below one already read.
    #[error("seq {seq} does not come after seq {last}")]
    Order {
        /// The seq refused.
        seq: Seq,
        /// The last seq read.
        last: Seq,
    },
    /// A replacement of a node that is not on the surface.
    #[error("seq {seq} replaces from seq {start} to seq {end}, but seq {missing} is not on the surface")]
    Absent {
        /// The replacement.
        seq: Seq,
        /// First node it names.
        start: Seq,
        /// Last node it names.
        end: Seq,
        /// The one of the two that is not there.
        missing: Seq,
    },
    /// A replacement whose first node stands after its last.
    #[error("seq {seq} replaces from seq {start} to seq {end}, which stands before it")]
    Backwards {
        /// The replacement.
        seq: Seq,
        /// First node it names.
        start: Seq,
        /// Last node it names.
        end: Seq,
    },
}

/// What became of a surface node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The model sees it.
    Visible,
    /// A replacement took its place.
    ReplacedBy(Seq),
    /// No surface node has this seq.
    NoNode,
}

/// The surface of a log and everything that was replaced on the way to it.
#[derive(Debug, Clone, Default)]
pub struct Replacements {
    surface: Vec<Seq>,
    made: BTreeMap<Seq, Vec<Seq>>,
    by: BTreeMap<Seq, Seq>,
    last: Option<Seq>,
}

impl Replacements {
    /// Reads the next surface event; log-only events need not be shown. Returns the nodes a replacement took
    /// away, in surface order; none for an append.
    ///
    /// # Errors
    /// [`Misfit`], after which the event counts as read but stands nowhere.
    pub fn apply(&mut self, seq: Seq, op: SurfaceOp) -> Result<&[Seq], Misfit> {
        if let Some(last) = self.last.filter(|last| *last >= seq) {
            return Err(Misfit::Order { seq, last });
        }
        self.last = Some(seq);
        let SurfaceOp::Replace { start, end } = op else {
            self.surface.push(seq);
            return Ok(&[]);
        };
        // Replacements cluster near the tail, so both ends are looked for from there.
        let place = |missing: Seq| self.position(missing).ok_or(Misfit::Absent { seq, start, end, missing });
        let (from, to) = (place(start)?, place(end)?);
        if from > to {
            return Err(Misfit::Backwards { seq, start, end });
        }
        let taken: Vec<Seq> = self.surface.splice(from..=to, [seq]).collect();
        self.by.extend(taken.iter().map(|node| (*node, seq)));
        Ok(self.made.entry(seq).or_insert(taken))
    }

    /// The seqs the model sees, in surface order.
    #[must_use]
    pub fn surface(&self) -> &[Seq] {
        &self.surface
    }

    /// Where the node `seq` stands on the surface.
    #[must_use]
    pub fn position(&self, seq: Seq) -> Option<usize> {
        self.surface.iter().rposition(|node| *node == seq)
    }

    /// The last surface seq read.
    #[must_use]
    pub fn last(&self) -> Option<Seq> {
        self.last
    }

    /// What became of the node `seq`.
    #[must_use]
    pub fn standing(&self, seq: Seq) -> Standing {
        match self.by.get(&seq) {
            Some(by) => Standing::ReplacedBy(*by),
            None if self.surface.contains(&seq) => Standing::Visible,
            None => Standing::NoNode,
        }
    }

    /// The nodes that the replacement `seq` took away, in surface order; empty for any other seq.
    #[must_use]
    pub fn taken_by(&self, seq: Seq) -> &[Seq] {
        self.made.get(&seq).map_or(&[], Vec::as_slice)
    }

    /// The replacement that took `seq` away, if one did.
    #[must_use]
    pub fn taker_of(&self, seq: Seq) -> Option<Seq> {
        self.by.get(&seq).copied()
    }

    /// The node that stands for `seq` today: itself, or the last replacement over it.
    #[must_use]
    pub fn root_of(&self, seq: Seq) -> Seq {
        let mut root = seq;
        while let Some(by) = self.by.get(&root) {
            root = *by;
        }
        root
    }

    /// The appended nodes behind `seq`, in surface order; `seq` itself when it replaced nothing.
    #[must_use]
    pub fn originals(&self, seq: Seq) -> Vec<Seq> {
        let mut found = Vec::new();
        // A chain of rewrites can be as deep as the log is long, hence no recursion.
        let mut pending = vec![seq];
        while let Some(node) = pending.pop() {
            match self.made.get(&node) {
                Some(taken) => pending.extend(taken.iter().rev()),
                None => found.push(node),
            }
        }
        found
    }

    /// Every replacement with the nodes it took away, in log order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Seq, &[Seq])> {
        self.made.iter().map(|(seq, taken)| (*seq, taken.as_slice()))
    }

    /// The appended nodes that the model no longer sees, in log order.
    pub fn hidden(&self) -> impl Iterator<Item = Seq> {
        self.by.keys().copied().filter(|seq| !self.made.contains_key(seq))
    }
}
