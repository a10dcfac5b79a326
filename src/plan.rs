//! Region and report in, ordered edits out; and the re-check before anything lands (docs/rewind.md 3).

use std::ops::Range;

use crate::error::Refusal;
use crate::region::{Region, Target};
use crate::surface::{ABSENT, Columns, EMPTY, Kind, Node, PERSON, REPORT, Surface};
use crate::wire::{Tail, faults};

/// What a fold will take, by seq, so that it can be compared with a later surface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Runs of nodes that leave the surface, as positions in the window that was planned on, in surface order. The
    /// last run becomes the report.
    pub runs: Vec<Range<usize>>,
    /// Seqs of results rewritten in place, in surface order.
    pub siblings: Vec<u32>,
    /// Seqs of persons' nodes that fold with an open pair and are quoted.
    pub quotes: Vec<u32>,
    /// Seqs of all folded nodes that the report quotes from, in surface order: those of `quotes`, and older reports.
    pub quoted: Vec<u32>,
    /// Folded nodes, rewritten siblings included.
    pub folded_nodes: u32,
    /// Model-visible text of the folded nodes, UTF-16 code units.
    pub folded_chars: u32,
    /// First folded seq in surface order.
    pub start: u32,
    /// Last folded seq in surface order.
    pub end: u32,
    /// What was planned for; the seqs that were planned on, and the newest of them.
    target: Target,
    window: Vec<u32>,
    horizon: u32,
    has_carrier: bool,
}

/// One edit of the surface. Edits are applied in the order they stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit<'p> {
    /// A run of nodes becomes the report.
    Report {
        /// Shadowed seqs in surface order.
        seqs: &'p [u32],
    },
    /// One result's content becomes the report, where nothing else is folded.
    ReportInPlace {
        /// The result's seq.
        seq: u32,
    },
    /// A run of nodes becomes a line that points down to the report.
    Pointer {
        /// Shadowed seqs in surface order.
        seqs: &'p [u32],
    },
    /// One result's content becomes a line that points at the report.
    Sibling {
        /// The result's seq.
        seq: u32,
    },
}

impl Plan {
    /// Plans the fold of `target` on `surface`, proven to add no wire fault.
    ///
    /// # Errors
    /// What [`Region::select`] refuses, and [`Refusal::WireFault`] where the edited surface would hold a
    /// fault that the surface does not hold now.
    pub fn new(surface: &Surface, target: &Target) -> Result<Self, Refusal> {
        let region = Region::select(surface, target)?;
        prove(surface, &region)?;
        let nodes = surface.nodes();
        let seqs = |positions: &[usize]| positions.iter().map(|&at| nodes[at].seq).collect::<Vec<_>>();
        let mut folded_nodes = 0;
        let mut folded_chars: u32 = 0;
        let (mut start, mut end) = (None, 0);
        let mut quoted = Vec::new();
        for run in region.folded_runs() {
            for at in run {
                let node = &nodes[at];
                folded_nodes += 1;
                folded_chars = folded_chars.saturating_add(node.chars);
                start = start.or(Some(node.seq));
                end = node.seq;
                if node.flags & REPORT != 0 || region.quotes.binary_search(&at).is_ok() {
                    quoted.push(node.seq);
                }
            }
        }
        let window: Vec<u32> = nodes.iter().map(|node| node.seq).collect();
        Ok(Self {
            siblings: seqs(&region.siblings),
            quotes: seqs(&region.quotes),
            quoted,
            folded_nodes,
            folded_chars,
            start: start.unwrap_or(end),
            end,
            target: target.clone(),
            horizon: window.iter().copied().max().unwrap_or(0),
            window,
            has_carrier: region.carrier.is_some(),
            runs: region.segments,
        })
    }

    /// The runs of nodes that leave the surface, as seqs.
    #[must_use]
    pub fn segments(&self) -> Vec<&[u32]> {
        self.runs.iter().map(|run| &self.window[run.clone()]).collect()
    }

    /// The folded seqs in surface order: rewritten siblings, then the segments' nodes.
    pub fn folded(&self) -> impl Iterator<Item = u32> + '_ {
        let nodes = self.runs.iter().flat_map(|run| &self.window[run.clone()]);
        self.siblings.iter().chain(nodes).copied()
    }

    /// Whether the exploration opens behind a call that took the mark.
    #[must_use]
    pub fn after_call(&self) -> bool {
        self.has_carrier
    }

    /// Whether the plan still holds on a surface read later: the same mark must still take the same full list
    /// of nodes (docs/rewind.md 3.1). What was appended behind the region is no change.
    ///
    /// # Errors
    /// [`Refusal::Changed`] on any difference in the list, or when results were to be rewritten and the turn
    /// has ended.
    pub fn recheck(&self, surface: &Surface, open_turn: bool) -> Result<(), Refusal> {
        let region =
            Region::select(&surface.as_of(self.horizon), &self.target).map_err(|_| Refusal::Changed)?;
        let nodes = surface.nodes();
        let now = region.folded_runs().flatten().map(|at| nodes[at].seq);
        if now.eq(self.folded()) && region.segments.len() == self.runs.len() {
            self.in_turn(open_turn)
        } else {
            Err(Refusal::Changed)
        }
    }

    /// [`Plan::recheck`] on columns: of a window, or of the whole surface. Where they read to the letter as those that
    /// were planned on, with nothing but later appends behind, the plan holds without being made again.
    ///
    /// # Errors
    /// As [`Plan::recheck`], and what [`Surface::parse`] refuses.
    pub fn recheck_columns(&self, columns: &Columns<'_>, open_turn: bool) -> Result<(), Refusal> {
        if self.reads_as_planned(columns) {
            self.in_turn(open_turn)
        } else {
            self.recheck(&Surface::parse(columns)?, open_turn)
        }
    }

    fn in_turn(&self, open_turn: bool) -> Result<(), Refusal> {
        if open_turn || self.siblings.is_empty() { Ok(()) } else { Err(Refusal::Changed) }
    }

    /// What is known of a seq never changes, so equal seqs are equal nodes.
    fn reads_as_planned(&self, columns: &Columns<'_>) -> bool {
        let first = self.window.first();
        let start = columns.nodes.iter().rposition(|seq| Some(seq) == first);
        let Some(behind) = start.and_then(|at| columns.nodes[at..].strip_prefix(&self.window[..])) else {
            return false;
        };
        let appended = |&seq: &u32| {
            seq > self.horizon && columns.is_node(seq) && columns.origins.get(seq as usize) == Some(&seq)
        };
        behind.iter().all(appended) && behind.is_sorted_by(|one, next| one < next)
    }

    /// The edits in the order in which the surface is wire-valid after each: the report, earlier segments,
    /// siblings (docs/rewind.md 3.3).
    #[must_use]
    pub fn edits(&self) -> Vec<Edit<'_>> {
        let segments = self.segments();
        let mut edits = Vec::with_capacity(segments.len() + self.siblings.len());
        let (earlier, siblings) = match segments.split_last() {
            Some((last, earlier)) => {
                edits.push(Edit::Report { seqs: last });
                (earlier, &self.siblings[..])
            }
            None => {
                let (last, rest) = match self.siblings.split_last() {
                    Some((&last, rest)) => (last, rest),
                    None => return edits,
                };
                edits.push(Edit::ReportInPlace { seq: last });
                (&segments[..], rest)
            }
        };
        edits.extend(earlier.iter().map(|seqs| Edit::Pointer { seqs }));
        edits.extend(siblings.iter().map(|&seq| Edit::Sibling { seq }));
        edits
    }
}

/// Proves that the edited surface holds no wire fault that the surface does not hold now.
fn prove(surface: &Surface, region: &Region) -> Result<(), Refusal> {
    let nodes = surface.nodes();
    let stand_ins: Vec<Node> =
        region.segments.iter().map(|run| Node::stand_in(nodes[run.start].seq)).collect();
    let mut edited: Vec<&Node> = Vec::with_capacity(nodes.len());
    let mut at = 0;
    for (run, stand_in) in region.segments.iter().zip(&stand_ins) {
        edited.extend(&nodes[at..run.start]);
        edited.push(stand_in);
        at = run.end;
    }
    edited.extend(&nodes[at..]);
    let after = faults(surface, edited.into_iter(), Tail::Live);
    if after.is_empty() {
        return Ok(());
    }
    let before = faults(surface, nodes.iter(), Tail::Live);
    match after.into_iter().find(|fault| !before.contains(fault)) {
        Some(fault) => Err(Refusal::WireFault { seq: fault.seq }),
        None => Ok(()),
    }
}

/// The length of a faultless prefix without the message at its end, where that one's calls are not all answered.
fn closed(surface: &Surface, prefix: &[Node]) -> usize {
    let message = |node: &Node| node.kind != Kind::Result && node.flags & ABSENT == 0;
    let last = prefix.iter().rposition(message).unwrap_or(0);
    let open = !faults(surface, prefix[last..].iter(), Tail::Request).is_empty();
    if open { last } else { prefix.len() }
}

/// How the report request is put together (docs/rewind.md 2.2): positions are on the whole surface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestPlan {
    /// The last routed request, cut before the first call that is still open, plus the instruction.
    Routed {
        /// Surface nodes that are sent.
        cut: usize,
        /// Messages they derive.
        sent: usize,
        /// How many of the sent nodes stand from the region's first node on.
        tail: usize,
    },
    /// The turn's human prompt, the region's messages, and the instruction.
    Messages {
        /// Seqs to send, in order.
        seqs: Vec<u32>,
        /// How many of them belong to the exploration.
        tail: usize,
    },
    /// The same nodes as quoted text, where they would not be accepted as messages.
    Transcript {
        /// Seqs to quote, in order.
        seqs: Vec<u32>,
    },
}

impl Plan {
    /// Plans the report request on the whole surface.
    ///
    /// `routed` says that the report goes to the session's own route, whose cache is warm. A prefix that
    /// holds a wire fault from before the region is never sent; neither is an open call. `turn_start` is the
    /// seq at which the mark's turn began: what a person said from there on is the turn's prompt.
    #[must_use]
    pub fn request(&self, whole: &Surface, routed: bool, turn_start: u32) -> RequestPlan {
        let nodes = whole.nodes();
        let find = |seq: u32| nodes.iter().rposition(|node| node.seq == seq);
        let first = self.folded().next();
        let start = first.and_then(find).unwrap_or(nodes.len());
        let end = find(self.end).map_or(nodes.len(), |at| at + 1);
        if routed {
            let all = faults(whole, nodes.iter(), Tail::Request);
            // A fault shows late where it is an open call, so the first one reported need not stand first.
            let fault = all.iter().filter_map(|fault| find(fault.seq)).min().unwrap_or(nodes.len());
            let cut = closed(whole, &nodes[..fault]);
            if cut >= end {
                let messages = |run: &[Node]| run.iter().filter(|node| node.flags & ABSENT == 0).count();
                let (before, region) = nodes[..cut].split_at(start.min(cut));
                let tail = messages(region);
                return RequestPlan::Routed { cut, sent: messages(before) + tail, tail };
            }
        }
        let from = if self.siblings.is_empty() {
            start
        } else {
            // A rewritten result is only accepted behind its call.
            nodes[..start].iter().rposition(|node| node.kind == Kind::Assistant).unwrap_or(start)
        };
        let sent = |node: &&Node| node.kind == Kind::Result || node.flags & (EMPTY | ABSENT) == 0;
        let mut prompts: Vec<&Node> =
            nodes[..from].iter().filter(|node| node.flags & PERSON != 0).filter(sent).collect();
        // A turn that no person began still belongs to the last thing that one said.
        let of_turn = prompts.iter().position(|node| node.origin >= turn_start);
        prompts.drain(..of_turn.unwrap_or(prompts.len().saturating_sub(1)));
        let picked: Vec<&Node> = prompts.into_iter().chain(nodes[from..end].iter().filter(sent)).collect();
        let seqs: Vec<u32> = picked.iter().map(|node| node.seq).collect();
        if faults(whole, picked.into_iter(), Tail::Request).is_empty() {
            RequestPlan::Messages { tail: nodes[start..end].iter().filter(sent).count(), seqs }
        } else {
            RequestPlan::Transcript { seqs }
        }
    }
}
