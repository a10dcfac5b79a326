//! The law of every edit, at every step of a plan (docs/rewind.md 0, 1.3, 1.6, 3.3).

use crate::log::Body;
use crate::moves::{Scene, scenes};
use crate::wire::{added, splits_a_pair};
use proptest::prelude::*;
use tool_rewind::plan::{Edit, Plan};

proptest! {
    #![proptest_config(crate::cases(5000))]

    #[test]
    fn no_step_of_an_edit_breaks_a_session(scene in scenes()) {
        let Scene { mut log, mark, open_turn } = scene;
        let Ok(plan) = Plan::new(&log.surface(), &log.target(mark, open_turn)) else { return Ok(()) };
        let before = log.nodes.clone();
        let at = |seq: u32| before.iter().position(|node| *node == seq).unwrap();

        // Siblings stand before the first segment; segments are unbroken, disjoint and in order, and nothing
        // stands between two of them but what people said.
        let mut last = None;
        let siblings = plan.siblings.iter().map(std::slice::from_ref);
        for run in siblings.chain(plan.segments()) {
            let first = at(run[0]);
            prop_assert_eq!(&before[first..first + run.len()], run);
            prop_assert!(last.is_none_or(|last| last < first));
            last = Some(first + run.len() - 1);
        }
        for pair in plan.segments().windows(2) {
            let between = &before[at(pair[0][pair[0].len() - 1]) + 1..at(pair[1][0])];
            prop_assert!(!between.is_empty() && between.iter().all(|&seq| log.at(seq).protected()));
        }

        let mut expected = before.clone();
        for edit in plan.edits() {
            let landed = log.land(&edit);
            prop_assert_eq!(added(&log, &before, &log.nodes), vec![], "after {:?}", edit);
            match &edit {
                Edit::Report { seqs } | Edit::Pointer { seqs } => {
                    prop_assert!(!splits_a_pair(&log, &log.nodes, landed), "{:?} splits a pair", edit);
                    expected.retain(|seq| !seqs[1..].contains(seq));
                    expected.iter_mut().filter(|seq| **seq == seqs[0]).for_each(|seq| *seq = landed);
                }
                Edit::Sibling { seq } | Edit::ReportInPlace { seq } => {
                    prop_assert!(open_turn && plan.siblings.contains(seq));
                    prop_assert!(matches!(log.at(*seq).body, Body::Result(_)));
                    expected.iter_mut().filter(|node| *node == seq).for_each(|node| *node = landed);
                }
            }
        }
        prop_assert_eq!(&log.nodes, &expected);

        // What people said stands, or is quoted.
        for seq in before {
            let kept = log.nodes.contains(&seq) || plan.quotes.contains(&seq);
            prop_assert!(kept || !log.at(seq).protected(), "{} is lost", seq);
        }
    }
}
