//! The order of seqs: which is due, and where a line stands.

use crate::event::Seq;

/// Which seq is due.
#[derive(Debug, Default)]
pub(super) struct Order {
    pub(super) next: u64,
    /// The line before was damaged, so seqs may jump.
    jump: bool,
}

/// Where an event stands in the order of seqs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placed {
    /// Where it is due.
    At(Seq),
    /// Behind a gap.
    Behind(Seq),
    /// At a place that is taken.
    Again(Seq),
    /// Beyond what seqs can count.
    Nowhere,
}

/// Where a line is and what its event is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) seq: Seq,
}

impl Order {
    /// A line is lost: it held one event or many.
    pub(super) fn lost(&mut self) {
        self.jump = true;
        self.next += 1;
    }

    /// Places a line of so many events.
    pub(super) fn place(&mut self, stated: Option<Seq>, count: u32) -> Placed {
        let jump = std::mem::take(&mut self.jump);
        let Ok(due) = Seq::try_from(self.next) else { return Placed::Nowhere };
        let seq = stated.unwrap_or(due);
        if seq < due && !(jump && seq + 1 == due) {
            return Placed::Again(seq);
        }
        self.next = u64::from(seq) + u64::from(count);
        if seq > due && !jump { Placed::Behind(seq) } else { Placed::At(seq) }
    }
}
