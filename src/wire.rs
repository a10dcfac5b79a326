//! Would a provider accept this message sequence? (docs/rewind.md 0)
//!
//! Every call occurrence is answered by exactly one result before the next message that is not a result, no
//! result lacks its call, no message is empty. Providers answer HTTP 400 to anything else, for ever.

use crate::pairing::OpenCalls;
use crate::surface::{ABSENT, EMPTY, Kind, Node, Surface};

/// What is wrong at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// A call of this assistant message is not answered before the next message that is not a result.
    Unanswered,
    /// A result that answers no call of the assistant message before it, or answers it a second time.
    Orphan,
    /// A message without content.
    Empty,
}

/// One wire fault, at the node that a provider would name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Seq of the node at fault.
    pub seq: u32,
    /// What is wrong.
    pub kind: FaultKind,
}

/// Whether calls that are still open at the very end are a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// The sequence is a live surface: the last message's calls may still run.
    Live,
    /// The sequence is a request: nothing may be open.
    Request,
}

/// An incremental check of a message sequence: feed messages in order, read faults as they show.
#[derive(Debug, Default)]
pub struct WireCheck {
    open: OpenCalls,
    carrier: u32,
}

impl WireCheck {
    /// Takes a message that is not a tool result; `calls` are its interned call ids in model order.
    pub fn message(
        &mut self,
        seq: u32,
        empty: bool,
        calls: impl Iterator<Item = u32>,
        mut found: impl FnMut(Fault),
    ) {
        self.close(&mut found);
        if empty {
            found(Fault { seq, kind: FaultKind::Empty });
        }
        self.carrier = seq;
        calls.for_each(|id| self.open.add(id));
    }

    /// Takes a tool result that answers the interned call id `id`.
    pub fn result(&mut self, seq: u32, id: u32, mut found: impl FnMut(Fault)) {
        if !self.open.take(id) {
            found(Fault { seq, kind: FaultKind::Orphan });
        }
    }

    /// The assistant message with a call that is still open, if there is one.
    #[must_use]
    pub fn unanswered(&self) -> Option<u32> {
        (!self.open.is_empty()).then_some(self.carrier)
    }

    /// Ends a stretch in which nothing may stay open, as a request or another message does.
    pub fn close(&mut self, mut found: impl FnMut(Fault)) {
        if !self.open.is_empty() {
            self.open.clear();
            found(Fault { seq: self.carrier, kind: FaultKind::Unanswered });
        }
    }
}

/// All wire faults of a sequence of nodes of one surface, in order.
pub fn faults<'a>(surface: &Surface, nodes: impl Iterator<Item = &'a Node>, tail: Tail) -> Vec<Fault> {
    let mut check = WireCheck::default();
    let mut all = Vec::new();
    for node in nodes {
        feed(&mut check, surface, node, |fault| all.push(fault));
    }
    if tail == Tail::Request {
        check.close(|fault| all.push(fault));
    }
    all
}

/// Feeds one surface node into a check.
pub fn feed(check: &mut WireCheck, surface: &Surface, node: &Node, found: impl FnMut(Fault)) {
    if node.flags & ABSENT != 0 {
        return;
    }
    let calls = surface.calls(node);
    match (node.kind, calls.first()) {
        (Kind::Result, Some(call)) => check.result(node.seq, call.id, found),
        _ => check.message(node.seq, node.flags & EMPTY != 0, calls.iter().map(|call| call.id), found),
    }
}
