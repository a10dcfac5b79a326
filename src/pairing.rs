//! Which calls are open where: pairing by call id and occurrence, never by count (docs/rewind.md 1.5).

use crate::surface::{Kind, Node, Surface};

/// Open call occurrences while a stretch of the surface is walked in order.
///
/// The first open occurrence of an id is the one a result answers, so a reused id pairs right and two calls
/// of one id in one message need two results.
#[derive(Debug)]
pub struct Pairing<'a> {
    surface: &'a Surface,
    open_by_id: Vec<u32>,
    open: usize,
}

impl<'a> Pairing<'a> {
    /// Starts with no open call.
    #[must_use]
    pub fn new(surface: &'a Surface) -> Self {
        Self { surface, open_by_id: vec![0; surface.id_bound()], open: 0 }
    }

    /// Takes the next node in surface order.
    ///
    /// Returns false for a result that answers no open call; such a node changes nothing here.
    pub fn take(&mut self, node: &Node) -> bool {
        match node.kind {
            Kind::User => true,
            Kind::Assistant => {
                for call in self.surface.calls(node) {
                    if let Some(count) = self.open_by_id.get_mut(call.id as usize) {
                        *count += 1;
                        self.open += 1;
                    }
                }
                true
            }
            Kind::Result => {
                let Some(call) = self.surface.calls(node).first() else { return false };
                match self.open_by_id.get_mut(call.id as usize) {
                    Some(count) if *count > 0 => {
                        *count -= 1;
                        self.open -= 1;
                        true
                    }
                    _ => false,
                }
            }
        }
    }

    /// Whether the cut after the nodes taken so far separates no call from its result.
    #[must_use]
    pub fn balanced(&self) -> bool {
        self.open == 0
    }
}
