//! Plan and model agree on every session: on the nodes, on the numbers, and on every refusal.

use crate::model::{Refused, decide, origins};
use crate::moves::{Scene, scenes};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use tool_rewind::error::Refusal;
use tool_rewind::plan::Plan;

fn refused(refusal: &Refusal) -> Refused {
    match refusal {
        Refusal::EmptyRegion { .. } => Refused::Empty,
        Refusal::OrphanResult { seq } => Refused::Orphan(*seq),
        Refusal::OpenCall { seq } => Refused::Open(*seq),
        Refusal::WireFault { .. } => Refused::Fault,
        other => panic!("a plan is never refused so: {other:?}"),
    }
}

proptest! {
    #![proptest_config(crate::cases(9000))]

    #[test]
    fn the_plan_is_what_the_contract_says(scene in scenes()) {
        let Scene { log, mark, open_turn } = scene;
        let wanted = decide(&log, mark, open_turn);
        let plan = match Plan::new(&log.surface(), &log.target(mark, open_turn)) {
            Ok(plan) => plan,
            Err(refusal) => {
                prop_assert_eq!(wanted, Err(refused(&refusal)));
                return Ok(());
            }
        };
        prop_assert!(wanted.is_ok(), "{:?}, but planned: {:?}", wanted, plan);
        let wanted = wanted.unwrap();
        prop_assert_eq!(&plan.segments(), &wanted.segments);
        prop_assert_eq!(&plan.siblings, &wanted.siblings);
        prop_assert_eq!(&plan.quotes, &wanted.quotes);
        prop_assert_eq!(plan.edits(), wanted.edits());

        // The numbers, recounted (docs/rewind.md 1.9).
        prop_assert_eq!(plan.start, wanted.folded[0]);
        prop_assert_eq!(Some(&plan.end), wanted.folded.last());
        prop_assert_eq!(plan.folded_nodes as usize, wanted.folded.len());
        prop_assert_eq!(plan.folded_chars, wanted.folded.iter().map(|&seq| log.at(seq).chars).sum::<u32>());

        // Age by origin (1.1): all of what is folded is younger than the mark.
        for seq in wanted.folded {
            prop_assert!(origins(&log, seq).iter().all(|&origin| origin >= mark.length));
        }
    }
}

#[test]
fn the_sessions_reach_every_answer() {
    let rng = TestRng::deterministic_rng(RngAlgorithm::XorShift);
    let mut runner = TestRunner::new_with_rng(crate::cases(0), rng);
    let (mut planned, mut split, mut siblings, mut carried, mut quoted) = (0, 0, 0, 0, 0);
    let (mut empty, mut orphan, mut open) = (0, 0, 0);
    for _ in 0..600 {
        let Scene { log, mark, open_turn } = scenes().new_tree(&mut runner).unwrap().current();
        match decide(&log, mark, open_turn) {
            Ok(plan) => {
                planned += 1;
                split += usize::from(plan.segments.len() > 1);
                siblings += usize::from(!plan.siblings.is_empty());
                carried += usize::from(plan.segments.is_empty());
                quoted += usize::from(!plan.quotes.is_empty());
            }
            Err(Refused::Empty) => empty += 1,
            Err(Refused::Orphan(_)) => orphan += 1,
            Err(Refused::Open(_)) => open += 1,
            Err(Refused::Fault) => {}
        }
    }
    let reached = [planned, split, siblings, carried, quoted, empty, orphan, open];
    assert!(planned > 200 && reached.iter().all(|&count| count >= 5), "{reached:?}");
}
