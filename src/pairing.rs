//! Which calls are open where: pairing by call id and occurrence, never by count (docs/rewind.md 1.5).

use crate::surface::{Kind, Node, Surface};
use std::collections::HashMap;

/// Calls looked through one by one; beyond these, as only a hostile log has, they are looked up.
const FEW: usize = 32;

/// Open call occurrences by interned id. An id that is open twice needs two results.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls {
    few: Vec<u32>,
    /// How many calls of each id are open beside those.
    more: HashMap<u32, u32>,
}

impl OpenCalls {
    #[inline]
    pub(crate) fn add(&mut self, id: u32) {
        if self.few.len() < FEW {
            self.few.push(id);
        } else {
            self.add_beyond(id);
        }
    }

    #[cold]
    fn add_beyond(&mut self, id: u32) {
        *self.more.entry(id).or_default() += 1;
    }

    /// Takes one call of the id, if one is open.
    #[inline]
    pub(crate) fn take(&mut self, id: u32) -> bool {
        if let Some(at) = self.few.iter().position(|&open| open == id) {
            self.few.swap_remove(at);
            return true;
        }
        !self.more.is_empty() && self.take_beyond(id)
    }

    #[cold]
    fn take_beyond(&mut self, id: u32) -> bool {
        let Some(count) = self.more.get_mut(&id) else { return false };
        *count -= 1;
        if *count == 0 {
            self.more.remove(&id);
        }
        true
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.few.is_empty() && self.more.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.few.clear();
        if !self.more.is_empty() {
            self.more = HashMap::new();
        }
    }
}

/// Open call occurrences while a stretch of the surface is walked in order.
///
/// The first open occurrence of an id is the one a result answers, so a reused id pairs right and two calls
/// of one id in one message need two results.
#[derive(Debug)]
pub struct Pairing<'a> {
    surface: &'a Surface,
    open: OpenCalls,
}

impl<'a> Pairing<'a> {
    /// Starts with no open call.
    #[must_use]
    pub fn new(surface: &'a Surface) -> Self {
        Self { surface, open: OpenCalls::default() }
    }

    /// Takes the next node in surface order.
    ///
    /// Returns false for a result that answers no open call; such a node changes nothing here.
    #[inline]
    pub fn take(&mut self, node: &Node) -> bool {
        let calls = self.surface.calls(node);
        match node.kind {
            Kind::User => true,
            Kind::Assistant => {
                calls.iter().for_each(|call| self.open.add(call.id));
                true
            }
            Kind::Result => calls.first().is_some_and(|call| self.open.take(call.id)),
        }
    }

    /// Whether the cut after the nodes taken so far separates no call from its result.
    #[must_use]
    pub fn balanced(&self) -> bool {
        self.open.is_empty()
    }
}
