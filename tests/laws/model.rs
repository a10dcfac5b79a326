//! Which nodes a fold takes, written from docs/rewind.md 0, 1 and 3 alone, slow and obvious. Where a sentence
//! leaves a choice, the readings are those of `__test__/laws/oracle.js`.

use crate::log::{Body, CHECKPOINT, Event, Log, Mark};
use crate::wire;
use tool_rewind::plan::Edit;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    /// 1.8: nothing after the mark.
    Empty,
    /// 1.5: a result without its call, at this seq.
    Orphan(u32),
    /// 1.5: a call in the message at this seq stays open, and nothing before it is left to fold.
    Open(u32),
    /// 0: the edit would add a fault.
    Fault,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) segments: Vec<Vec<u32>>,
    pub(crate) siblings: Vec<u32>,
    pub(crate) quotes: Vec<u32>,
    /// All of it in surface order.
    pub(crate) folded: Vec<u32>,
}

impl Decision {
    /// 3.3: the report, earlier segments, siblings. 1.3: a sibling carries the report if nothing else folds.
    pub(crate) fn edits(&self) -> Vec<Edit<'_>> {
        let mut edits = Vec::new();
        let mut siblings = self.siblings.clone();
        match self.segments.last() {
            Some(last) => edits.push(Edit::Report { seqs: last }),
            None => edits.extend(siblings.pop().map(|seq| Edit::ReportInPlace { seq })),
        }
        let earlier = self.segments.iter().rev().skip(1).rev();
        edits.extend(earlier.map(|seqs| Edit::Pointer { seqs }));
        edits.extend(siblings.into_iter().map(|seq| Edit::Sibling { seq }));
        edits
    }
}

/// The surface that these events alone give.
fn replay(events: &[Event]) -> Vec<u32> {
    let mut nodes = Vec::new();
    for (seq, event) in (0..).zip(events) {
        match &event.shadowed {
            Some(run) => {
                let at = nodes.iter().position(|seq| *seq == run[0]).unwrap();
                nodes.splice(at..at + run.len(), [seq]);
            }
            None if event.body == Body::LogOnly => {}
            None => nodes.push(seq),
        }
    }
    nodes
}

/// 1.1: the origins of a node.
pub(crate) fn origins(log: &Log, seq: u32) -> Vec<u32> {
    match &log.at(seq).shadowed {
        Some(cited) => cited.iter().flat_map(|&seq| origins(log, seq)).collect(),
        None => vec![seq],
    }
}

/// A call occurrence: carrier, number in it, id, tool name.
type Call = (u32, usize, u32, u32);

fn calls_of(log: &Log, carrier: u32) -> Vec<Call> {
    let Body::Assistant(calls) = &log.at(carrier).body else { return vec![] };
    calls.iter().enumerate().map(|(at, &(id, name))| (carrier, at, id, name)).collect()
}

/// Closes the first open occurrence that the node answers; None where it is a result that answers none.
fn close(log: &Log, open: &mut Vec<Call>, seq: u32) -> Option<Call> {
    let Body::Result(id) = log.at(seq).body else { return None };
    let at = open.iter().position(|call| call.2 == id)?;
    Some(open.remove(at))
}

fn open_behind(log: &Log, carrier: u32, later: &[u32]) -> Vec<Call> {
    let mut open = calls_of(log, carrier);
    for &seq in later {
        close(log, &mut open, seq);
    }
    open
}

fn speaks(log: &Log, seq: u32) -> bool {
    matches!(log.at(seq).body, Body::Assistant(_))
}

/// 1.2: the last assistant message that was appended before the mark, if a call of it was open then.
fn carrier_at(log: &Log, length: u32) -> Option<u32> {
    let nodes = replay(&log.events[..length as usize]);
    let said = |event: &Event| matches!(event.body, Body::Assistant(_)) && event.shadowed.is_none();
    let carrier = u32::try_from(log.events[..length as usize].iter().rposition(said)?).unwrap();
    let at = nodes.iter().position(|&seq| seq == carrier)?;
    let open = open_behind(log, carrier, &nodes[at + 1..]);
    if open.is_empty() { None } else { Some(carrier) }
}

/// 1.2, 1.3: how many nodes after the mark belong to the mark's own message, and which are siblings.
fn head(log: &Log, after: &[u32], mark: Mark) -> (usize, Vec<u32>) {
    let Some(carrier) = carrier_at(log, mark.length) else { return (0, vec![]) };
    let Some(at) = log.nodes.iter().position(|&seq| seq == carrier) else { return (0, vec![]) };
    let mut open = open_behind(log, carrier, &log.nodes[at + 1..log.nodes.len() - after.len()]);
    let of_mark = open.iter().find(|call| Some(call.2) == mark.call);
    let by_name = open.iter().find(|call| call.3 == CHECKPOINT);
    let own = of_mark.or(by_name).or(open.first()).copied();
    let (mut length, mut siblings) = (0, vec![]);
    for (index, &seq) in after.iter().take_while(|&&seq| !speaks(log, seq)).enumerate() {
        if let Some(call) = close(log, &mut open, seq) {
            length = index + 1;
            if Some(call) != own {
                siblings.push(seq);
            }
        }
    }
    (length, siblings)
}

/// 1.5: the first message whose calls are not all answered when the model speaks again.
fn first_dead(log: &Log, rest: &[u32]) -> Option<u32> {
    (0..rest.len()).filter(|&at| speaks(log, rest[at])).find_map(|at| {
        let next = (at + 1..rest.len()).find(|&next| speaks(log, rest[next]))?;
        let open = open_behind(log, rest[at], &rest[at + 1..next]);
        if open.is_empty() { None } else { Some(rest[at]) }
    })
}

pub(crate) fn decide(log: &Log, mark: Mark, open_turn: bool) -> Result<Decision, Refused> {
    let old = |seq: u32| origins(log, seq).iter().any(|&origin| origin < mark.length);
    let from = log.nodes.iter().rposition(|&seq| old(seq)).map_or(0, |at| at + 1);
    let after = &log.nodes[from..];
    let (length, mut siblings) = head(log, after, mark);
    if !open_turn {
        siblings.clear();
    }

    // 1.4, 1.5: pairs by id and occurrence, up to the last balanced cut.
    let inside = &after[length..];
    let (mut open, mut across, mut orphans, mut end) = (vec![], vec![], vec![], 0);
    for (index, &seq) in inside.iter().enumerate() {
        open.extend(calls_of(log, seq));
        if matches!(log.at(seq).body, Body::Result(_)) && close(log, &mut open, seq).is_none() {
            orphans.push(index);
        }
        across.push(!open.is_empty());
        if open.is_empty() {
            end = index + 1;
        }
    }
    if let Some(&index) = orphans.iter().find(|&&index| index < end) {
        return Err(Refused::Orphan(inside[index]));
    }

    // 1.6: what people said splits, or is quoted where a pair is open around it.
    let (mut segments, mut quotes, mut run) = (vec![], vec![], vec![]);
    for (index, &seq) in inside[..end].iter().enumerate() {
        if log.at(seq).protected() && !across[index] {
            segments.push(std::mem::take(&mut run));
            continue;
        }
        if log.at(seq).protected() {
            quotes.push(seq);
        }
        run.push(seq);
    }
    segments.push(run);
    segments.retain(|run| !run.is_empty());
    if segments.is_empty() && siblings.is_empty() {
        return Err(first_dead(log, &inside[end..]).map_or(Refused::Empty, Refused::Open));
    }
    let taken: Vec<u32> = siblings.iter().chain(segments.iter().flatten()).copied().collect();
    let folded = log.nodes.iter().copied().filter(|seq| taken.contains(seq)).collect();
    let decision = Decision { segments, siblings, quotes, folded };

    let mut edited = log.clone();
    edited.land_all(&decision.edits());
    if wire::added(&edited, &log.nodes, &edited.nodes).is_empty() {
        Ok(decision)
    } else {
        Err(Refused::Fault)
    }
}
