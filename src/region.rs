//! Mark and surface in, what is folded out (docs/rewind.md 1).

use std::ops::Range;

use crate::error::Refusal;
use crate::pairing::Pairing;
use crate::surface::{Call, Kind, Node, Surface};

/// The mark a fold starts from, and where it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The mark's id, for the sentences.
    pub mark: String,
    /// Log length when the mark was taken (L).
    pub log_length: u32,
    /// Seq of the last assistant message that was appended before the mark: no other can be its carrier.
    pub last_assistant: Option<u32>,
    /// Interned id of the call that took the mark, where the mark carries one.
    pub call: Option<u32>,
    /// Interned name of the checkpoint tool, where any call of the session bears it.
    pub checkpoint_name: Option<u32>,
    /// Whether a turn is open: only then may results be rewritten in place (docs/rewind.md 1.3).
    pub open_turn: bool,
}

/// What a fold takes: positions in the surface window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Runs of nodes that leave the surface, in surface order; never empty runs.
    pub segments: Vec<Range<usize>>,
    /// Results of the carrier's other calls, rewritten in place.
    pub siblings: Vec<usize>,
    /// Persons' nodes that fold with the open pair around them and are quoted in the report.
    pub quotes: Vec<usize>,
    /// The carrier of the mark's call, where it stands on the surface.
    pub carrier: Option<usize>,
    /// First position after the region.
    pub end: usize,
}

impl Region {
    /// Selects the region of `target` on `surface`.
    ///
    /// The window must reach back to the last assistant message that is older than the mark, or to the
    /// start of the surface.
    ///
    /// # Errors
    /// [`Refusal::EmptyRegion`], [`Refusal::OrphanResult`] or [`Refusal::OpenCall`] (docs/rewind.md 1.5, 1.8).
    pub fn select(surface: &Surface, target: &Target) -> Result<Self, Refusal> {
        let nodes = surface.nodes();
        let old = |node: &Node| node.origin < target.log_length;
        let after_old = nodes.iter().rposition(old).map_or(0, |at| at + 1);
        let group = Group::find(surface, target, after_old);
        let start = group.as_ref().map_or(after_old, |group| after_old.max(group.end));
        let siblings = match group.as_ref() {
            Some(group) if target.open_turn => group.siblings.clone(),
            _ => Vec::new(),
        };
        let run = Run::walk(surface, start)?;
        let region = Self {
            segments: run.segments(nodes, start),
            quotes: run.inside.iter().copied().filter(|&at| at < run.end).collect(),
            siblings,
            carrier: group.map(|group| group.carrier),
            end: run.end,
        };
        if region.segments.is_empty() && region.siblings.is_empty() {
            return Err(match run.dead {
                Some(seq) => Refusal::OpenCall { seq },
                None => Refusal::EmptyRegion { mark: target.mark.clone() },
            });
        }
        Ok(region)
    }

    /// All folded positions in surface order, in runs: rewritten siblings, then the segments.
    pub fn folded_runs(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.siblings.iter().map(|&at| at..at + 1).chain(self.segments.iter().cloned())
    }

    /// The sibling that carries the report, where nothing else is folded (docs/rewind.md 1.3).
    #[must_use]
    pub fn report_sibling(&self) -> Option<usize> {
        if self.segments.is_empty() { self.siblings.last().copied() } else { None }
    }
}

/// The carrier of the mark's call with its results.
struct Group {
    carrier: usize,
    siblings: Vec<usize>,
    end: usize,
}

impl Group {
    /// Finds the carrier: the last assistant message before the mark, if it stands and a call of it was open then.
    ///
    /// Where it has left the surface there is none: an older message has nothing running, and a result that comes
    /// late for it is an orphan.
    fn find(surface: &Surface, target: &Target, after_old: usize) -> Option<Self> {
        let nodes = surface.nodes();
        let is_old = |node: &Node| node.origin < target.log_length;
        let carrier =
            nodes.get(..after_old)?.iter().rposition(|node| node.kind == Kind::Assistant && is_old(node))?;
        if target.last_assistant != Some(nodes[carrier].origin) {
            return None;
        }
        let calls = surface.calls(&nodes[carrier]);
        // Results up to the next assistant message, each with the occurrence it answers.
        let mut answers: Vec<Option<usize>> = vec![None; calls.len()];
        let mut end = carrier + 1;
        let mut left_behind = false;
        for (at, node) in nodes.iter().enumerate().skip(carrier + 1) {
            match node.kind {
                Kind::Assistant => break,
                Kind::User => left_behind |= is_old(node),
                Kind::Result => {
                    let id = surface.calls(node).first().map(|call| call.id);
                    let open = (0..calls.len()).find(|&n| answers[n].is_none() && Some(calls[n].id) == id);
                    if let Some(n) = open {
                        answers[n] = Some(at);
                        end = at + 1;
                    }
                }
            }
        }
        // Open when the mark was taken: answered afterwards, or never answered.
        let open: Vec<usize> =
            (0..calls.len()).filter(|&n| answers[n].is_none_or(|at| !is_old(&nodes[at]))).collect();
        let first = |wanted: &dyn Fn(&Call) -> bool| open.iter().copied().find(|&n| wanted(&calls[n]));
        // Nothing tells a call that died from one that runs, but a carrier that somebody spoke after and that
        // no result came back to was not running: such a mark was taken outside any call.
        let running = !left_behind || open.iter().any(|&n| answers[n].is_some());
        let marked = first(&|call| target.call == Some(call.id))
            .or_else(|| first(&|call| target.checkpoint_name == Some(call.name)))
            .or_else(|| open.first().copied().filter(|_| running))?;
        let mut siblings: Vec<usize> =
            open.into_iter().filter(|&n| n != marked).filter_map(|n| answers[n]).collect();
        siblings.sort_unstable();
        Some(Self { carrier, siblings, end })
    }
}

/// The walk from the region's start to the tail.
struct Run {
    /// One past the last node before the last balanced cut.
    end: usize,
    /// Balanced positions of protected nodes: they split the run.
    splits: Vec<usize>,
    /// Protected nodes inside an open pair.
    inside: Vec<usize>,
    /// The first carrier with an open call that another assistant message follows.
    dead: Option<u32>,
}

impl Run {
    fn walk(surface: &Surface, start: usize) -> Result<Self, Refusal> {
        let mut run = Self { end: start, splits: Vec::new(), inside: Vec::new(), dead: None };
        let mut pairing = Pairing::new(surface);
        let mut orphan = None;
        let mut open_since = None;
        for (at, node) in surface.nodes().iter().enumerate().skip(start) {
            let split = node.protected();
            if split && pairing.balanced() {
                run.splits.push(at);
            } else if split {
                run.inside.push(at);
            }
            if node.kind == Kind::Assistant {
                run.dead = run.dead.or(open_since);
            }
            if !pairing.take(node) && orphan.is_none() {
                orphan = Some((at, node.seq));
            }
            if pairing.balanced() {
                run.end = at + 1;
                open_since = None;
                run.dead = None;
            } else if open_since.is_none() {
                open_since = Some(node.seq);
            }
        }
        match orphan {
            Some((at, seq)) if at < run.end => Err(Refusal::OrphanResult { seq }),
            _ => Ok(run),
        }
    }

    fn segments(&self, nodes: &[Node], start: usize) -> Vec<Range<usize>> {
        debug_assert!(self.end <= nodes.len());
        let mut segments = Vec::new();
        let mut from = start;
        for &at in self.splits.iter().filter(|&&at| at < self.end).chain([self.end].iter()) {
            if from < at {
                segments.push(from..at);
            }
            from = at + 1;
        }
        segments
    }
}
