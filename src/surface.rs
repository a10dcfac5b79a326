//! The surface as columns of numbers, and the one parser of those columns.
//!
//! Text stays in JavaScript. What crosses is a few integers an event, indexed by seq, and the ordered seqs
//! of the part of the surface that a decision needs (docs/rewind.md 0).

use std::borrow::Cow;

use crate::error::Refusal;

/// Low two bits of a fact byte: what kind of event the node is.
const KIND_MASK: u8 = 0b11;
/// The node is a person's message: its source kind is `user` (docs/rewind.md 1.6).
pub const PERSON: u8 = 1 << 2;
/// The node is a `turn-memory` checkpoint, which holds a person's words (docs/rewind.md 1.6).
pub const MEMORY: u8 = 1 << 3;
/// The node's message has no block with content, so no provider accepts it.
pub const EMPTY: u8 = 1 << 4;
/// The event derives no message at all, so a provider never sees it.
pub const ABSENT: u8 = 1 << 6;

/// What kind of event a surface node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `user/message`, from a person or from a plugin.
    User,
    /// `assistant/message`, with or without tool calls.
    Assistant,
    /// `tool/result`, the answer to one call.
    Result,
}

/// Facts of a session's events as columns indexed by seq, and the surface window they are read for.
///
/// `calls[seq]` is the offset in `pool` where the node's calls stand: their count, then a pair of interned
/// call id and interned tool name each. A result stands there with count 1 and its call id.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    /// Seqs of the window, in surface order.
    pub nodes: &'a [u32],
    /// Kind in the low two bits (1 user, 2 assistant, 3 result, 0 not a usable node), flags above.
    pub facts: &'a [u8],
    /// Model-visible text of the node in UTF-16 code units (docs/rewind.md 1.9).
    pub chars: &'a [u32],
    /// Smallest origin of the node (docs/rewind.md 1.1).
    pub origins: &'a [u32],
    /// Offset of the node's calls in `pool`.
    pub calls: &'a [u32],
    /// The calls themselves.
    pub pool: &'a [u32],
}

/// One call occurrence: interned call id and interned tool name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Interned call id.
    pub id: u32,
    /// Interned tool name; 0 on a result.
    pub name: u32,
}

/// One node of the surface window.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// The node's seq in the log.
    pub seq: u32,
    /// What kind of event it is.
    pub kind: Kind,
    /// [`PERSON`], [`MEMORY`], [`EMPTY`], [`ABSENT`].
    pub flags: u8,
    /// Model-visible text in UTF-16 code units.
    pub chars: u32,
    /// Smallest origin (docs/rewind.md 1.1).
    pub origin: u32,
    first_call: u32,
    call_count: u32,
}

impl Node {
    /// A user message that stands where a folded run stood, for proofs about an edit that is not made yet.
    #[must_use]
    pub fn stand_in(seq: u32) -> Self {
        Self { seq, kind: Kind::User, flags: 0, chars: 0, origin: seq, first_call: 0, call_count: 0 }
    }

    /// Whether the node holds a person's words and therefore stays (docs/rewind.md 1.6).
    #[must_use]
    pub fn protected(&self) -> bool {
        self.flags & (PERSON | MEMORY) != 0
    }
}

/// A parsed window of the surface, in surface order.
#[derive(Debug, Clone)]
pub struct Surface {
    nodes: Vec<Node>,
    calls: Vec<Call>,
    id_bound: usize,
}

impl Surface {
    /// Parses columns, trusting none of them.
    ///
    /// # Errors
    /// [`Refusal::CorruptSurface`] names the first seq that stands twice, or whose columns are missing, of no
    /// known kind, or out of their pool; nothing is ever folded across such a node (case R3).
    pub fn parse(columns: &Columns<'_>) -> Result<Self, Refusal> {
        let mut nodes = Vec::with_capacity(columns.nodes.len());
        let mut calls = Vec::with_capacity(columns.nodes.len());
        let mut id_bound = 0;
        let mut seen = vec![false; columns.facts.len()];
        for &seq in columns.nodes {
            let corrupt = || Refusal::CorruptSurface { seq };
            let at = seq as usize;
            let facts = *columns.facts.get(at).ok_or_else(corrupt)?;
            if std::mem::replace(seen.get_mut(at).ok_or_else(corrupt)?, true) {
                return Err(corrupt());
            }
            let kind = match facts & KIND_MASK {
                1 => Kind::User,
                2 => Kind::Assistant,
                3 => Kind::Result,
                _ => return Err(corrupt()),
            };
            let first_call = u32::try_from(calls.len()).map_err(|_| corrupt())?;
            let mut call_count = 0;
            if kind != Kind::User {
                let offset = *columns.calls.get(at).ok_or_else(corrupt)? as usize;
                call_count = *columns.pool.get(offset).ok_or_else(corrupt)?;
                let pairs = (call_count as usize)
                    .checked_mul(2)
                    .and_then(|width| columns.pool.get(offset + 1..)?.get(..width))
                    .ok_or_else(corrupt)?;
                for pair in pairs.chunks_exact(2) {
                    id_bound = id_bound.max(pair[0] as usize + 1);
                    calls.push(Call { id: pair[0], name: pair[1] });
                }
                if kind == Kind::Result && call_count != 1 {
                    return Err(corrupt());
                }
            }
            nodes.push(Node {
                seq,
                kind,
                flags: facts & !KIND_MASK,
                chars: *columns.chars.get(at).ok_or_else(corrupt)?,
                origin: *columns.origins.get(at).ok_or_else(corrupt)?,
                first_call,
                call_count,
            });
        }
        // Ids are interned densely and every one stands in the pool, so a larger one is a forged column.
        if id_bound > columns.pool.len() + 1 {
            return Err(Refusal::CorruptSurface { seq: columns.nodes.first().copied().unwrap_or(0) });
        }
        Ok(Self { nodes, calls, id_bound })
    }

    /// The nodes of the window, in surface order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The surface without what was appended to its tail after the node `horizon`; itself where nothing was.
    #[must_use]
    pub fn as_of(&self, horizon: u32) -> Cow<'_, Self> {
        let later = |node: &Node| node.seq > horizon && node.origin == node.seq;
        let kept = self.nodes.iter().rposition(|node| !later(node)).map_or(0, |at| at + 1);
        if kept == self.nodes.len() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self {
            nodes: self.nodes[..kept].to_vec(),
            calls: self.calls.clone(),
            id_bound: self.id_bound,
        })
    }

    /// The calls of an assistant node in model order, or the one call that a result answers.
    #[must_use]
    pub fn calls(&self, node: &Node) -> &[Call] {
        let first = node.first_call as usize;
        self.calls.get(first..first + node.call_count as usize).unwrap_or(&[])
    }

    /// One above the largest interned call id, for dense tables.
    #[must_use]
    pub fn id_bound(&self) -> usize {
        self.id_bound
    }
}
