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
/// The node is an older report, which may hold a person's words (docs/rewind.md 1.6).
pub const REPORT: u8 = 1 << 7;

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

/// Kinds as the low two bits of a fact tell them.
const KINDS: [Option<Kind>; 4] = [None, Some(Kind::User), Some(Kind::Assistant), Some(Kind::Result)];

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

impl Columns<'_> {
    /// Whether a seq is of a kind that can stand on a surface.
    #[must_use]
    pub fn is_node(&self, seq: u32) -> bool {
        self.facts.get(seq as usize).is_some_and(|fact| fact & KIND_MASK != 0)
    }
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
    /// [`PERSON`], [`MEMORY`], [`EMPTY`], [`ABSENT`], [`REPORT`].
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
}

impl Surface {
    /// Parses columns, trusting none of them.
    ///
    /// # Errors
    /// [`Refusal::CorruptSurface`] names the first seq that stands twice, or whose columns are missing, of no
    /// known kind, or out of their pool; nothing is ever folded across such a node (case R3).
    pub fn parse(columns: &Columns<'_>) -> Result<Self, Refusal> {
        let Columns { nodes: seqs, facts, chars, origins, calls: offsets, pool } = *columns;
        // What one column lacks is of no use in the others.
        let known = facts.len().min(chars.len()).min(origins.len()).min(offsets.len());
        let (facts, chars, origins, offsets) =
            (&facts[..known], &chars[..known], &origins[..known], &offsets[..known]);
        let twice = first_twice(seqs, known);
        let mut corrupt = None;
        let mut nodes = Vec::with_capacity(seqs.len());
        let mut calls = Vec::with_capacity(seqs.len());
        let mut read = |seq: u32| {
            let at = seq as usize;
            let fact = *facts.get(at)?;
            let kind = KINDS[usize::from(fact & KIND_MASK)]?;
            let first_call = u32::try_from(calls.len()).ok()?;
            let call_count =
                if kind == Kind::User { 0 } else { take_calls(&mut calls, pool, offsets[at] as usize)? };
            if kind == Kind::Result && call_count != 1 {
                return None;
            }
            let flags = fact & !KIND_MASK;
            Some(Node { seq, kind, flags, chars: chars[at], origin: origins[at], first_call, call_count })
        };
        nodes.extend(seqs[..twice.unwrap_or(seqs.len())].iter().map(|&seq| {
            read(seq).unwrap_or_else(|| {
                corrupt.get_or_insert(seq);
                Node::stand_in(seq)
            })
        }));
        match corrupt.or(twice.map(|at| seqs[at])) {
            Some(seq) => Err(Refusal::CorruptSurface { seq }),
            None => Ok(Self { nodes, calls }),
        }
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
        Cow::Owned(Self { nodes: self.nodes[..kept].to_vec(), calls: self.calls.clone() })
    }

    /// The calls of an assistant node in model order, or the one call that a result answers.
    #[must_use]
    pub fn calls(&self, node: &Node) -> &[Call] {
        let first = node.first_call as usize;
        self.calls.get(first..first + node.call_count as usize).unwrap_or(&[])
    }
}

/// Where a seq stands for the second time. Where seqs only rise, as they do until something is replaced, none does.
fn first_twice(seqs: &[u32], known: usize) -> Option<usize> {
    if seqs.is_sorted_by(|one, next| one < next) {
        return None;
    }
    let mut seen = vec![false; known];
    // One that is not known is refused for that.
    seqs.iter().position(|&seq| seen.get_mut(seq as usize).is_some_and(|seen| std::mem::replace(seen, true)))
}

/// Copies the calls that stand at an offset of the pool.
///
/// Returns how many; nothing where they are not all there, or where an id is larger than any that was interned: each
/// has its own place in the pool.
#[inline]
fn take_calls(calls: &mut Vec<Call>, pool: &[u32], offset: usize) -> Option<u32> {
    let pairs = pool.get(offset..)?;
    // Nearly every node has one, and a loop takes longer to set up than to run once.
    if let [1, id, name, ..] = *pairs {
        calls.push(Call { id, name });
        return (id as usize <= pool.len()).then_some(1);
    }
    let (&count, pairs) = pairs.split_first()?;
    let (pairs, _) = pairs.get(..(count as usize).checked_mul(2)?)?.as_chunks();
    for &[id, name] in pairs {
        if id as usize > pool.len() {
            return None;
        }
        calls.push(Call { id, name });
    }
    Some(count)
}
