//! The incremental check finds what a check of the whole surface finds, after every operation.

use super::super::node::{Call, Node};
use super::{Track, key};
use crate::event::{Seq, SurfaceOp};
use crate::replacements::Replacements;
use crate::surface::{ABSENT, EMPTY, Kind};
use crate::wire::WireCheck;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Debug, Clone)]
struct Step {
    kind: Kind,
    flags: u8,
    ids: Vec<u8>,
    /// Where it goes: the tail, or the place of these shares of the surface.
    replaces: Option<(f64, f64)>,
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![Just(Kind::User), Just(Kind::Assistant), Just(Kind::Result), Just(Kind::Result)];
    let flags = prop_oneof![8 => Just(0), 1 => Just(EMPTY), 1 => Just(ABSENT)];
    let replaces = prop::option::weighted(0.3, (0.0..1.0f64, 0.0..1.0f64));
    (kind, flags, prop::collection::vec(0u8..4, 0..3), replaces).prop_map(|(kind, flags, ids, replaces)| {
        Step {
            kind,
            flags: if kind == Kind::Assistant { flags } else { 0 },
            ids: if kind == Kind::Assistant && flags & ABSENT != 0 { Vec::new() } else { ids },
            replaces,
        }
    })
}

fn node(step: &Step, op: SurfaceOp) -> Node {
    let call = |id: &u8| Call { id: id.to_string().into(), tool: "read".into(), reads: None };
    let result = step.kind == Kind::Result;
    Node {
        op,
        flags: step.flags,
        calls: if step.kind == Kind::Assistant { step.ids.iter().map(call).collect() } else { Vec::new() },
        answers: result.then(|| (step.ids.first().copied().unwrap_or(0).to_string().into(), 0)),
        ..Node::bare(step.kind, 0, 0)
    }
}

proptest! {
    #[test]
    fn an_edit_is_judged_as_the_whole_is(steps in prop::collection::vec(step(), 0..60)) {
        let (mut reader, mut track) = (Replacements::default(), Track::default());
        for (seq, step) in (0..).zip(&steps) {
            let surface = reader.surface();
            let at = |share: f64| surface.get((surface.len() as f64 * share) as usize).copied();
            let op = match step.replaces.and_then(|(a, b)| Some((at(a.min(b))?, at(a.max(b))?))) {
                Some((start, end)) => SurfaceOp::Replace { start, end },
                None => SurfaceOp::Append,
            };
            track.keep(seq, &node(step, op), seq);
            let taken = reader.apply(seq, op).map(<[Seq]>::to_vec).unwrap_or_default();
            track.applied(&reader, seq, op, &taken);

            let (mut whole, mut found) = (WireCheck::default(), Vec::new());
            for node in reader.surface() {
                track.feed(&mut whole, node, &mut found);
            }
            let expected: BTreeSet<_> = found.into_iter().map(key).collect();
            let kept: BTreeSet<_> = track.faults.keys().copied().collect();
            prop_assert_eq!(&kept, &expected, "after seq {}", seq);
            prop_assert_eq!(track.tail.unanswered(), whole.unanswered());
        }
        let all: BTreeSet<_> = track.faults.keys().copied().collect();
        let told: BTreeSet<_> = track.fresh().into_iter().map(|traced| key(traced.fault)).collect();
        prop_assert!(all.is_subset(&told), "a fault that was never told: {:?} in {:?}", told, all);
    }
}
