//! What a fold would leave where it is, and why: for a person who looks before folding, live or on a stored log.

use crate::region::{Region, Target};
use crate::surface::{Kind, MEMORY, PERSON, Surface};

/// Why a node inside or behind an exploration does not fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is the call that set the mark, or a result of that message which stays (docs/rewind.md 1.2).
    Mark,
    /// A result of the mark's message that is rewritten only while a turn is open (docs/rewind.md 1.3).
    OutsideTurn,
    /// A person's words (docs/rewind.md 1.6).
    Person,
    /// A turn checkpoint, which holds a person's words (docs/rewind.md 1.6).
    TurnMemory,
    /// It is a call without a result yet, or stands behind one (docs/rewind.md 1.4, 1.5).
    Open,
    /// It is older than the mark, by its origins (docs/rewind.md 1.1).
    Older,
}

impl Why {
    /// The reason as half a sentence, for a person.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Mark => "the call that set the mark, with its result",
            Self::OutsideTurn => "results of that call's message are rewritten only inside a turn",
            Self::Person => "a person's words",
            Self::TurnMemory => "a turn checkpoint, which holds a person's words",
            Self::Open => "a call that is not answered yet, or what stands behind one",
            Self::Older => "older than the mark",
        }
    }
}

/// A node that stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Its seq.
    pub seq: u32,
    /// Why it stays.
    pub why: Why,
}

/// The nodes from the mark's message on that `region` leaves where they are, in surface order.
#[must_use]
pub fn kept(surface: &Surface, target: &Target, region: &Region) -> Vec<Kept> {
    let nodes = surface.nodes();
    let mut folded = vec![false; nodes.len()];
    for at in region.folded_runs().flatten() {
        folded[at] = true;
    }
    let first = region.folded_runs().flatten().next().unwrap_or(region.end);
    let from = region.carrier.unwrap_or(first);
    let mut of_mark = region.carrier.is_some();
    let mut kept = Vec::new();
    for (at, node) in nodes.iter().enumerate().skip(from) {
        of_mark &= node.kind != Kind::Assistant || Some(at) == region.carrier;
        if folded[at] {
            continue;
        }
        let sibling = || surface.calls(node).first().is_some_and(|call| Some(call.id) != target.call);
        let why = match node.kind {
            Kind::Assistant if Some(at) == region.carrier => Why::Mark,
            Kind::Result if of_mark && !target.open_turn && target.call.is_some() && sibling() => {
                Why::OutsideTurn
            }
            Kind::Result if of_mark => Why::Mark,
            _ if at >= region.end => Why::Open,
            _ if node.flags & PERSON != 0 => Why::Person,
            _ if node.flags & MEMORY != 0 => Why::TurnMemory,
            _ => Why::Older,
        };
        kept.push(Kept { seq: node.seq, why });
    }
    kept
}
