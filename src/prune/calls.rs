//! Which call a result answers, and the refusal of a surface where one answers none.

use super::view::{Head, ViewError, not_on_surface};
use crate::event::{Block, Body, Event};
use crate::pairing::Pairing;
use crate::surface::{Columns, Surface};
use std::collections::BTreeMap;

/// Every result must answer an open call, by id and occurrence; the one pairing of the crate decides.
pub(super) fn check_pairing(surface: &[Event<'_>]) -> Result<(), ViewError> {
    let mut ids: BTreeMap<&str, u32> = BTreeMap::new();
    let mut intern = |id| {
        let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        *ids.entry(id).or_insert(next)
    };
    // The columns are indexed by place here, so the nodes are 0, 1, 2 and so on.
    let (mut facts, mut calls, mut pool) = (Vec::new(), Vec::new(), Vec::new());
    for event in surface {
        calls.push(u32::try_from(pool.len()).unwrap_or(u32::MAX));
        match &event.body {
            Body::User(_) => facts.push(1),
            Body::Assistant(assistant) => {
                facts.push(2);
                let count_at = pool.len();
                pool.push(0);
                for block in &assistant.message.content {
                    if let Block::ToolCall { id, .. } = block {
                        pool.extend([intern(id.as_str()), 0]);
                    }
                }
                let count = (pool.len() - count_at - 1) / 2;
                if let Some(slot) = pool.get_mut(count_at) {
                    *slot = u32::try_from(count).unwrap_or(u32::MAX);
                }
            }
            Body::ToolResult(result) => {
                facts.push(3);
                pool.extend([1, intern(result.call_id.as_str()), 0]);
            }
            _ => return Err(not_on_surface(event.seq)),
        }
    }
    let places: Vec<u32> = (0..).take(surface.len()).collect();
    let zeros = vec![0; surface.len()];
    let columns =
        Columns { nodes: &places, facts: &facts, chars: &zeros, origins: &zeros, calls: &calls, pool: &pool };
    let seq_at = |place: u32| surface.get(place as usize).map_or(place, |event| event.seq);
    let parsed = Surface::parse(&columns)
        .map_err(|_| ViewError::CorruptSurface { seq: seq_at(0), reason: "has columns that do not fit" })?;
    let mut pairing = Pairing::new(&parsed);
    match parsed.nodes().iter().find(|node| !pairing.take(node)) {
        None => Ok(()),
        Some(node) => Err(ViewError::CorruptSurface {
            seq: seq_at(node.seq),
            reason: "is a tool result without an open call",
        }),
    }
}

/// Which call a result answers: among the calls of the newest head that still has one of that id open, the
/// first. Providers reuse ids, and a call that was never answered must not lend its arguments to a later one.
#[derive(Default)]
pub(super) struct OpenCalls {
    by_id: BTreeMap<String, Vec<(usize, usize)>>,
}

impl OpenCalls {
    pub(super) fn take_head(&mut self, place: usize, head: &Head) {
        for (index, call) in head.calls.iter().enumerate() {
            self.by_id.entry(call.id.clone()).or_default().push((place, index));
        }
    }

    pub(super) fn answer(&mut self, id: &str) -> Option<(usize, usize)> {
        let open = self.by_id.get_mut(id)?;
        let newest = open.last()?.0;
        let first = open.iter().position(|call| call.0 == newest)?;
        Some(open.remove(first))
    }
}
