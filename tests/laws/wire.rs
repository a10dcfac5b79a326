//! What a provider accepts, read off docs/rewind.md 0, slow and literal.

use crate::log::{Body, Log};

/// What is wrong, at which node, and at which of its calls. A rewritten result goes by its first seq.
pub(crate) type Fault = (&'static str, u32, usize);

fn first_of(log: &Log, seq: u32) -> u32 {
    let event = log.at(seq);
    match (&event.body, &event.shadowed) {
        (Body::Result(_), Some(shadowed)) => first_of(log, shadowed[0]),
        _ => seq,
    }
}

/// Every fault of a sequence whose last message's calls may still run.
pub(crate) fn faults(log: &Log, nodes: &[u32]) -> Vec<Fault> {
    let mut found = Vec::new();
    let mut open: Vec<(u32, u32, usize)> = Vec::new();
    for &seq in nodes {
        let event = log.at(seq);
        if event.absent {
            continue;
        }
        if let Body::Result(id) = event.body {
            match open.iter().position(|call| call.0 == id) {
                Some(at) => {
                    open.remove(at);
                }
                None => found.push(("orphan", first_of(log, seq), 0)),
            }
            continue;
        }
        found.extend(open.drain(..).map(|(_, carrier, call)| ("unanswered", carrier, call)));
        if event.empty {
            found.push(("empty", seq, 0));
        }
        if let Body::Assistant(calls) = &event.body {
            open.extend(calls.iter().enumerate().map(|(call, &(id, _))| (id, seq, call)));
        }
    }
    found
}

/// The faults of `after` that `before` does not hold.
pub(crate) fn added(log: &Log, before: &[u32], after: &[u32]) -> Vec<Fault> {
    let known = faults(log, before);
    faults(log, after).into_iter().filter(|fault| !known.contains(fault)).collect()
}

/// Whether the message at `seq` stands between a call and the answer that the call gets before the model
/// speaks again.
pub(crate) fn splits_a_pair(log: &Log, nodes: &[u32], seq: u32) -> bool {
    let at = nodes.iter().position(|node| *node == seq).unwrap();
    let speaks = |node: &u32| matches!(log.at(*node).body, Body::Assistant(_));
    let Some(head) = nodes[..at].iter().rposition(speaks) else { return false };
    let Body::Assistant(calls) = &log.at(nodes[head]).body else { return false };
    let mut open: Vec<u32> = calls.iter().map(|call| call.0).collect();
    let mut answered = |seq: &u32| {
        let Body::Result(id) = log.at(*seq).body else { return false };
        let found = open.iter().position(|call| *call == id);
        found.map(|at| open.remove(at)).is_some()
    };
    for seq in &nodes[head + 1..at] {
        answered(seq);
    }
    nodes[at + 1..].iter().take_while(|node| !speaks(node)).any(answered)
}
