//! The wire check of a surface that grows and is edited: an edit is checked where it is made, not all over.
//!
//! What the check knows behind a message that is no result depends on that message alone, so a replacement
//! can only change what stands between the last such message before it and the first one behind it.

use super::node::Node;
use crate::event::{Seq, SurfaceOp};
use crate::replacements::Replacements;
use crate::surface::{ABSENT, EMPTY, Kind};
use crate::wire::{Fault, FaultKind, WireCheck};
use std::collections::{BTreeMap, HashMap};

#[cfg(test)]
mod tests;

/// What is kept of every node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Info {
    seq: Seq,
    pub(super) kind: Kind,
    pub(super) flags: u8,
    pub(super) chars: u32,
    pub(super) tokens: u32,
    /// Smallest seq among its originals.
    pub(super) origin: Seq,
    /// Everything of a result but its content, as one number.
    pub(super) rest: u64,
    first_call: u32,
    calls: u32,
}

/// The nodes of a log, and the faults of its surface as it stands.
#[derive(Debug, Default)]
pub(super) struct Track {
    infos: Vec<Info>,
    pool: Vec<u32>,
    ids: HashMap<Box<str>, u32>,
    faults: BTreeMap<(Seq, u8), Option<Seq>>,
    /// Faults that are new since they were last asked for.
    fresh: Vec<(Seq, u8)>,
    tail: WireCheck,
}

/// A fault of the surface, and the replacement that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Traced {
    pub(super) fault: Fault,
    pub(super) made_by: Option<Seq>,
}

fn key(fault: Fault) -> (Seq, u8) {
    (fault.seq, fault.kind as u8)
}

fn kind_of(number: u8) -> FaultKind {
    [FaultKind::Unanswered, FaultKind::Orphan]
        .into_iter()
        .find(|kind| *kind as u8 == number)
        .unwrap_or(FaultKind::Empty)
}

impl Track {
    /// The number that stands for a call id.
    pub(super) fn intern(&mut self, id: &str) -> u32 {
        if let Some(number) = self.ids.get(id) {
            return *number;
        }
        let number = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        self.ids.insert(id.into(), number);
        number
    }

    /// Keeps a node. Its calls' numbers are returned for the pairing.
    pub(super) fn keep(&mut self, seq: Seq, node: &Node, origin: Seq) -> Vec<u32> {
        let mut numbers: Vec<u32> = node.calls.iter().map(|call| self.intern(&call.id)).collect();
        let mut rest = 0;
        if let Some((id, hash)) = &node.answers {
            numbers.push(self.intern(id));
            rest = *hash;
        }
        let first_call = u32::try_from(self.pool.len()).unwrap_or(u32::MAX);
        self.pool.extend(&numbers);
        let calls = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        let Node { kind, flags, chars, tokens, .. } = *node;
        self.infos.push(Info { seq, kind, flags, chars, tokens, origin, rest, first_call, calls });
        numbers
    }

    /// What was kept of a node.
    pub(super) fn info(&self, seq: Seq) -> Option<&Info> {
        self.infos.binary_search_by_key(&seq, |info| info.seq).ok().and_then(|at| self.infos.get(at))
    }

    /// The last assistant message that was appended before `seq`.
    pub(super) fn assistant_before(&self, seq: Seq) -> Option<Seq> {
        let end = self.infos.partition_point(|info| info.seq < seq);
        let appended = |info: &&Info| info.kind == Kind::Assistant && info.origin == info.seq;
        self.infos.get(..end)?.iter().rfind(appended).map(|info| info.seq)
    }

    /// The calls of a node, as numbers.
    pub(super) fn calls(&self, info: &Info) -> &[u32] {
        let first = info.first_call as usize;
        self.pool.get(first..first + info.calls as usize).unwrap_or_default()
    }

    /// Checks what an applied operation changed; `taken` are the nodes that left the surface.
    pub(super) fn applied(&mut self, reader: &Replacements, seq: Seq, op: SurfaceOp, taken: &[Seq]) {
        if op == SurfaceOp::Append {
            let mut tail = std::mem::take(&mut self.tail);
            let mut found = Vec::new();
            self.feed(&mut tail, seq, &mut found);
            self.tail = tail;
            for fault in found {
                self.faults.insert(key(fault), None);
                self.fresh.push(key(fault));
            }
            return;
        }
        if self.rewritten(seq, taken) {
            return;
        }
        let surface = reader.surface();
        let Some(at) = reader.position(seq) else { return };
        let parts = |seq: &Seq| {
            self.info(*seq).is_some_and(|info| info.kind != Kind::Result && info.flags & ABSENT == 0)
        };
        let before = surface.get(..at).unwrap_or_default();
        let from = before.iter().rposition(parts).unwrap_or(0);
        let behind = surface.get(at + 1..).unwrap_or_default();
        let end = behind.iter().position(parts).map(|found| at + 1 + found);
        let window = surface.get(from..end.map_or(surface.len(), |end| end + 1)).unwrap_or_default();

        let mut check = WireCheck::default();
        let mut found = Vec::new();
        for node in window {
            self.feed(&mut check, *node, &mut found);
        }
        // The message that closes the window is checked for what stands before it, not for what it opens.
        if end.is_none() {
            self.tail = check;
        }
        let mut known = BTreeMap::new();
        for node in window.iter().chain(taken) {
            for number in 0..=FaultKind::Empty as u8 {
                if let Some(made_by) = self.faults.remove(&(*node, number)) {
                    known.insert((*node, number), made_by);
                }
            }
        }
        if end.is_some()
            && let Some(last) = window.last()
        {
            // Whether its own calls are answered is beyond the window and did not change.
            let number = FaultKind::Unanswered as u8;
            if let Some(made_by) = known.get(&(*last, number)) {
                self.faults.insert((*last, number), *made_by);
            }
        }
        for fault in found {
            let own = known.get(&key(fault)).copied();
            // A result rewritten in place keeps the fault that it had, told or not.
            let old = taken.first().filter(|_| fault.seq == seq && taken.len() == 1);
            let old = old.map(|old| (*old, fault.kind as u8)).filter(|old| known.contains_key(old));
            let inherited = old.and_then(|old| known.get(&old).copied());
            match (own, old.and_then(|old| self.fresh.iter_mut().find(|fresh| **fresh == old))) {
                (None, Some(fresh)) => *fresh = key(fault),
                (None, None) if inherited.is_none() => self.fresh.push(key(fault)),
                _ => {}
            }
            let known = own.or(inherited);
            self.faults.insert(key(fault), known.unwrap_or(Some(seq)));
        }
    }

    /// A result rewritten in place, for the same call, changes no pair; it keeps the fault that it had, told or
    /// not. Without this, each of many in one message would be a walk over all of them.
    fn rewritten(&mut self, seq: Seq, taken: &[Seq]) -> bool {
        let &[old] = taken else { return false };
        let (Some(was), Some(is)) = (self.info(old), self.info(seq)) else { return false };
        let same = was.kind == Kind::Result && is.kind == Kind::Result && was.flags == is.flags;
        if !same || self.calls(was) != self.calls(is) {
            return false;
        }
        for number in 0..=FaultKind::Empty as u8 {
            let Some(made_by) = self.faults.remove(&(old, number)) else { continue };
            self.faults.insert((seq, number), made_by);
            if let Some(fresh) = self.fresh.iter_mut().find(|fresh| **fresh == (old, number)) {
                *fresh = (seq, number);
            }
        }
        true
    }

    /// Names the replacement that made a fault which only showed later.
    pub(super) fn blame(&mut self, fault: Fault, by: Seq) {
        if let Some(made_by) = self.faults.get_mut(&key(fault)) {
            made_by.get_or_insert(by);
        }
    }

    /// Faults that a request sent now would be refused for and the one before was not, in the order in which
    /// they came.
    pub(super) fn fresh(&mut self) -> Vec<Traced> {
        let fresh = std::mem::take(&mut self.fresh);
        let standing = fresh.into_iter().filter_map(|(seq, number)| {
            let made_by = *self.faults.get(&(seq, number))?;
            Some(Traced { fault: Fault { seq, kind: kind_of(number) }, made_by })
        });
        let mut all: Vec<Traced> = standing.collect();
        if let Some(seq) = self.tail.unanswered() {
            all.push(Traced { fault: Fault { seq, kind: FaultKind::Unanswered }, made_by: None });
        }
        all
    }

    /// Whether a request sent now would be accepted.
    pub(super) fn is_sound(&self) -> bool {
        self.faults.is_empty() && self.tail.unanswered().is_none()
    }

    fn feed(&self, check: &mut WireCheck, seq: Seq, found: &mut Vec<Fault>) {
        let Some(info) = self.info(seq).filter(|info| info.flags & ABSENT == 0) else { return };
        let calls = self.calls(info);
        match (info.kind, calls.first()) {
            (Kind::Result, Some(id)) => check.result(seq, *id, |fault| found.push(fault)),
            _ => {
                let empty = info.flags & EMPTY != 0;
                check.message(seq, empty, calls.iter().copied(), |fault| found.push(fault));
            }
        }
    }
}
