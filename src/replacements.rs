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
///
/// A node's *place* is the seq of the first original behind it. Appends come in the order of their seqs and a
/// replacement stands where the first node it took stood, so places ascend along the surface, and no place is
/// ever looked for by walking.
#[derive(Debug, Clone, Default)]
pub struct Replacements {
    /// The node at each place.
    surface: BTreeMap<Seq, Seq>,
    /// The places of replacements; an appended node's is its own seq.
    places: BTreeMap<Seq, Seq>,
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
            self.surface.insert(seq, seq);
            return Ok(&[]);
        };
        let place = |missing: Seq| self.place(missing).ok_or(Misfit::Absent { seq, start, end, missing });
        let (from, to) = (place(start)?, place(end)?);
        if from > to {
            return Err(Misfit::Backwards { seq, start, end });
        }
        let gone: Vec<(Seq, Seq)> =
            self.surface.range(from..=to).map(|(place, node)| (*place, *node)).collect();
        for (place, _) in &gone {
            self.surface.remove(place);
        }
        self.surface.insert(from, seq);
        self.places.insert(seq, from);
        let taken: Vec<Seq> = gone.into_iter().map(|(_, node)| node).collect();
        self.by.extend(taken.iter().map(|node| (*node, seq)));
        Ok(self.made.entry(seq).or_insert(taken))
    }

    /// The seqs the model sees, in surface order.
    #[must_use]
    pub fn surface(&self) -> Vec<Seq> {
        self.surface.values().copied().collect()
    }

    /// Where the node `seq` stands on the surface: a number that orders the nodes there, and that a replacement
    /// takes over from the first node it takes.
    #[must_use]
    pub fn place(&self, seq: Seq) -> Option<Seq> {
        let place = self.places.get(&seq).copied().unwrap_or(seq);
        (self.surface.get(&place) == Some(&seq)).then_some(place)
    }

    /// The places and nodes from a place on, in surface order.
    pub fn from(&self, place: Seq) -> impl DoubleEndedIterator<Item = (Seq, Seq)> {
        self.surface.range(place..).map(|(place, node)| (*place, *node))
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
            None if self.place(seq).is_some() => Standing::Visible,
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
