//! Which call a result answers, so that it can be named by tool and arguments.

use crate::event::Seq;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;

/// One call: its carrier and its place among the carrier's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallRef {
    /// Seq of the assistant message that holds the call.
    pub carrier: Seq,
    /// Place among that message's calls, from 0.
    pub index: u32,
}

/// Pairs calls with results by id and occurrence. A later assistant message ends the chance of every call
/// before it, so an id that a provider uses again never answers for an old, interrupted call.
#[derive(Debug, Clone)]
pub struct Calls<Id> {
    open: HashMap<Id, Open>,
    answers: BTreeMap<Seq, CallRef>,
    results: BTreeMap<CallRef, Seq>,
    dispatched: BTreeMap<Seq, CallRef>,
}

#[derive(Debug, Clone, Default)]
struct Open {
    unanswered: VecDeque<CallRef>,
    undispatched: VecDeque<CallRef>,
}

impl<Id> Default for Calls<Id> {
    fn default() -> Self {
        Self {
            open: HashMap::new(),
            answers: BTreeMap::new(),
            results: BTreeMap::new(),
            dispatched: BTreeMap::new(),
        }
    }
}

impl<Id: Eq + Hash> Calls<Id> {
    /// Reads an assistant message that was appended, with the ids of its calls in order.
    pub fn carrier(&mut self, carrier: Seq, ids: impl IntoIterator<Item = Id>) {
        self.open.clear();
        for (index, id) in (0..).zip(ids) {
            let call = CallRef { carrier, index };
            let open = self.open.entry(id).or_default();
            open.unanswered.push_back(call);
            open.undispatched.push_back(call);
        }
    }

    /// Reads the log-only `tool/call` event of the id.
    pub fn dispatch(&mut self, seq: Seq, id: &Id) {
        let open = self.open.get_mut(id);
        if let Some(call) = open.and_then(|open| open.undispatched.pop_front()) {
            self.dispatched.insert(seq, call);
        }
    }

    /// Reads a result that was appended. Returns the call it answers, if one is open.
    pub fn result(&mut self, seq: Seq, id: &Id) -> Option<CallRef> {
        let open = self.open.get_mut(id);
        let call = open.and_then(|open| open.unanswered.pop_front())?;
        self.answers.insert(seq, call);
        self.results.insert(call, seq);
        Some(call)
    }

    /// The call that the appended result `seq` answers.
    #[must_use]
    pub fn answered_by(&self, seq: Seq) -> Option<CallRef> {
        self.answers.get(&seq).copied()
    }

    /// The node to show for a `tool/call` event: its result, else its carrier.
    #[must_use]
    pub fn node_of_dispatch(&self, seq: Seq) -> Option<Seq> {
        let call = self.dispatched.get(&seq)?;
        Some(self.results.get(call).copied().unwrap_or(call.carrier))
    }

    /// Every appended result with the call it answers, in log order.
    pub fn answers(&self) -> impl Iterator<Item = (Seq, CallRef)> {
        self.answers.iter().map(|(seq, call)| (*seq, *call))
    }
}
