//! Whether a turn's messages pair up, by the package's one pairing (docs/rewind.md 1.5).

use super::refusal::TurnRefusal;
use super::script::{Block, Role, Run, Script};
use super::units::shown;
use crate::pairing::Pairing;
use crate::surface::{Columns, Surface};
use std::collections::BTreeMap;

/// Whether the messages can be replaced as a whole: every call answered among them, every result an
/// answer to one, by call id and occurrence.
///
/// # Errors
/// [`TurnRefusal::UnbalancedOrphan`], [`TurnRefusal::UnbalancedOpen`].
pub fn balanced(script: &Script) -> Result<(), TurnRefusal> {
    let columns = CallColumns::of(script);
    let surface = columns.surface()?;
    let mut pairing = Pairing::new(&surface);
    let mut unanswered = None;
    for (node, said) in surface.nodes().iter().zip(script.nodes()) {
        if !pairing.take(node) {
            let Role::Result { call, .. } = &said.role else { continue };
            return Err(TurnRefusal::UnbalancedOrphan(shown(script.units(call))));
        }
        unanswered = if pairing.balanced() { None } else { unanswered.or(Some(said)) };
    }
    let Some(carrier) = unanswered else { return Ok(()) };
    let called = script.blocks(carrier).iter().find_map(|block| match block {
        Block::Call { name, .. } => Some(shown(script.units(name))),
        _ => None,
    });
    Err(TurnRefusal::UnbalancedOpen(called.unwrap_or_default()))
}

/// The script's calls as the surface columns that pairing walks; seqs are positions.
struct CallColumns {
    nodes: Vec<u32>,
    facts: Vec<u8>,
    zeros: Vec<u32>,
    calls: Vec<u32>,
    pool: Vec<u32>,
}

impl CallColumns {
    fn of(script: &Script) -> Self {
        let mut ids: BTreeMap<&[u16], u32> = BTreeMap::new();
        let size = script.nodes().len();
        let mut columns = Self {
            nodes: Vec::with_capacity(size),
            facts: Vec::with_capacity(size),
            zeros: Vec::with_capacity(size),
            calls: Vec::with_capacity(size),
            pool: Vec::with_capacity(3 * size),
        };
        for (seq, node) in (0..).zip(script.nodes()) {
            columns.nodes.push(seq);
            columns.zeros.push(0);
            let at = columns.pool.len();
            columns.calls.push(count(at));
            columns.pool.push(0);
            let mut name = |id: &Run| {
                let next = count(ids.len());
                columns.pool.extend([*ids.entry(script.units(id)).or_insert(next), 0]);
            };
            let fact = match &node.role {
                Role::Assistant => {
                    for block in script.blocks(node) {
                        if let Block::Call { id, .. } = block {
                            name(id);
                        }
                    }
                    2
                }
                Role::Result { call, .. } => {
                    name(call);
                    3
                }
                _ => 1,
            };
            columns.facts.push(fact);
            let named = count((columns.pool.len() - at) / 2);
            if let Some(slot) = columns.pool.get_mut(at) {
                *slot = named;
            }
        }
        columns
    }

    fn surface(&self) -> Result<Surface, TurnRefusal> {
        let columns = Columns {
            nodes: &self.nodes,
            facts: &self.facts,
            chars: &self.zeros,
            origins: &self.zeros,
            calls: &self.calls,
            pool: &self.pool,
        };
        Surface::parse(&columns).map_err(|refusal| TurnRefusal::Script { row: 0, what: refusal.to_string() })
    }
}

/// A turn never holds 2^32 calls; one that did would be refused as corrupt, not misread.
fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
