//! The wire check of a surface that grows and is edited: an edit is checked where it is made, not all over.
//!
//! What the check knows behind a message that is no result depends on that message alone, so a replacement
//! can only change what stands between the last such message before it and the first one behind it. A
//! replacement that calls nothing ends what stands before it: then only results that answered a call are looked
//! at, and each loses its call once, however often one huge batch is edited.

use super::node::Node;
use crate::event::{Seq, SurfaceOp};
use crate::replacements::Replacements;
use crate::surface::{ABSENT, EMPTY, Kind};
use crate::wire::{Fault, FaultKind, WireCheck};
use groups::{Cut, Groups};
use std::collections::{BTreeMap, HashMap};

mod groups;
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
    faults: BTreeMap<(Seq, u8), Known>,
    /// Faults that are new since they were last asked for, in the order in which they came.
    fresh: Vec<(u32, (Seq, u8))>,
    /// How many faults came so far.
    came: u32,
    groups: Groups,
    tail: WireCheck,
}

/// What is known of a fault that stands.
#[derive(Debug, Clone, Copy)]
struct Known {
    made_by: Option<Seq>,
    /// Its number among the faults that came.
    number: u32,
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
        // Mostly it is asked about the newest.
        if let Some(newest) = self.infos.last().filter(|info| info.seq == seq) {
            return Some(newest);
        }
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
            self.group(seq, seq, found.is_empty());
            for fault in found {
                self.stands(key(fault), None);
            }
            return;
        }
        let Some(place) = reader.place(seq) else { return };
        if self.rewritten(seq, place, taken) {
            return;
        }
        let next = reader.from(place + 1).next().map(|(place, _)| place);
        let cut = self.groups.cut(place, next);
        let mut known = BTreeMap::new();
        let mut found = Vec::new();
        if self.is_plain(seq) {
            self.forget(taken, &mut known);
            if let Some(owner) = cut.before {
                let fault = (owner, FaultKind::Unanswered as u8);
                known.extend(self.faults.remove(&fault).map(|fault_known| (fault, fault_known)));
            }
            self.end_before(place, seq, cut, &mut found);
        } else {
            self.check_window(reader, place, taken, &mut known, &mut found);
        }
        for fault in found {
            let inherited = || {
                // What stands for one node alone keeps the fault that it had, told or not.
                let &[old] = taken else { return None };
                known.get(&(old, fault.kind as u8)).filter(|_| fault.seq == seq)
            };
            match known.get(&key(fault)).or_else(inherited) {
                Some(known) => self.goes_on(key(fault), *known),
                None => self.stands(key(fault), Some(seq)),
            }
        }
    }

    /// Checks an edit that calls nothing: results behind it answer nothing any more.
    fn end_before(&mut self, place: Seq, seq: Seq, cut: Cut, found: &mut Vec<Fault>) {
        let (orphaned, end) = self.groups.end_before(place, cut);
        if let Some(owner) = cut.before
            && let Some(info) = self.info(owner)
            && self.groups.answered(owner) < info.calls
        {
            found.push(Fault { seq: owner, kind: FaultKind::Unanswered });
        }
        let mut check = WireCheck::default();
        self.feed(&mut check, seq, found);
        found.extend(orphaned.into_iter().map(|seq| Fault { seq, kind: FaultKind::Orphan }));
        if end.is_none() {
            self.tail = check;
        }
        self.group(place, seq, true);
    }

    /// Checks all between the message before an edit and the one behind it.
    fn check_window(
        &mut self,
        reader: &Replacements,
        place: Seq,
        taken: &[Seq],
        known: &mut BTreeMap<(Seq, u8), Known>,
        found: &mut Vec<Fault>,
    ) {
        let (from, end) = self.groups.reset(place);
        let inside = |at: &(Seq, Seq)| end.is_none_or(|end| at.0 < end);
        let window: Vec<(Seq, Seq)> = reader.from(from).take_while(inside).collect();
        let mut check = WireCheck::default();
        for (place, node) in window {
            self.forget(&[node], known);
            let before = found.len();
            self.feed(&mut check, node, found);
            self.group(place, node, found.len() == before);
        }
        self.forget(taken, known);
        match end {
            // It is checked for what stands before it, not for what it is or opens: that did not change.
            Some(_) => check.close(|fault| found.push(fault)),
            None => self.tail = check,
        }
    }

    /// Puts a node where its group is; `sound` is whether a result answers a call.
    fn group(&mut self, place: Seq, seq: Seq, sound: bool) {
        match self.info(seq) {
            Some(info) if info.flags & ABSENT != 0 => {}
            Some(info) if info.kind == Kind::Result && info.calls > 0 => {
                if sound {
                    self.groups.answer(place, seq);
                }
            }
            _ => self.groups.message(place, seq),
        }
    }

    /// Whether a node is a message that calls nothing.
    fn is_plain(&self, seq: Seq) -> bool {
        self.info(seq).is_some_and(|info| info.flags & ABSENT == 0 && info.calls == 0)
    }

    /// Takes away the faults of nodes, to be found again.
    fn forget(&mut self, nodes: &[Seq], known: &mut BTreeMap<(Seq, u8), Known>) {
        for node in nodes {
            for number in 0..=FaultKind::Empty as u8 {
                let fault = (*node, number);
                known.extend(self.faults.remove(&fault).map(|fault_known| (fault, fault_known)));
            }
        }
    }

    /// A fault is new.
    fn stands(&mut self, fault: (Seq, u8), made_by: Option<Seq>) {
        self.came += 1;
        self.faults.insert(fault, Known { made_by, number: self.came });
        self.fresh.push((self.came, fault));
    }

    /// A fault is the one that was known, at this node now.
    fn goes_on(&mut self, fault: (Seq, u8), known: Known) {
        self.faults.insert(fault, known);
        let fresh = self.fresh.binary_search_by_key(&known.number, |fresh| fresh.0);
        if let Some(fresh) = fresh.ok().and_then(|at| self.fresh.get_mut(at)) {
            fresh.1 = fault;
        }
    }

    /// A result rewritten in place, for the same call, changes no pair; it keeps the fault that it had, told or
    /// not. Without this, each of many in one message would be a walk over all of them.
    fn rewritten(&mut self, seq: Seq, place: Seq, taken: &[Seq]) -> bool {
        let &[old] = taken else { return false };
        let (Some(was), Some(is)) = (self.info(old), self.info(seq)) else { return false };
        let same = was.kind == Kind::Result && is.kind == Kind::Result && was.flags == is.flags;
        if !same || self.calls(was) != self.calls(is) {
            return false;
        }
        for number in 0..=FaultKind::Empty as u8 {
            if let Some(known) = self.faults.remove(&(old, number)) {
                self.goes_on((seq, number), known);
            }
        }
        self.groups.rewritten(place, seq);
        true
    }

    /// Names the replacement that made a fault which only showed later.
    pub(super) fn blame(&mut self, fault: Fault, by: Seq) {
        if let Some(known) = self.faults.get_mut(&key(fault)) {
            known.made_by.get_or_insert(by);
        }
    }

    /// Faults that a request sent now would be refused for and the one before was not, in the order in which
    /// they came.
    pub(super) fn fresh(&mut self) -> Vec<Traced> {
        let fresh = std::mem::take(&mut self.fresh);
        let standing = fresh.into_iter().filter_map(|(number, (seq, kind))| {
            let known = self.faults.get(&(seq, kind)).filter(|known| known.number == number)?;
            Some(Traced { fault: Fault { seq, kind: kind_of(kind) }, made_by: known.made_by })
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
