//! Pairing by call id and occurrence, never by count (docs/rewind.md 1.5).

use crate::stage::Stage;
use proptest::prelude::*;
use tool_rewind::pairing::Pairing;

/// The cuts after each node: whether it is balanced, and whether the node found its call.
fn cuts(stage: &Stage) -> Vec<(bool, bool)> {
    let surface = stage.surface();
    let mut pairing = Pairing::new(&surface);
    assert!(pairing.balanced());
    surface.nodes().iter().map(|node| (pairing.take(node), pairing.balanced())).collect()
}

#[test]
fn equal_counts_of_different_ids_do_not_balance() {
    let mut stage = Stage::new();
    stage.says(1, &[("a", "read")]);
    stage.answer("b", 1);
    stage.answer("a", 1);
    assert_eq!(cuts(&stage), [(true, false), (false, false), (true, true)]);
}

#[test]
fn results_may_come_in_any_order_and_messages_between_them_change_nothing() {
    let mut stage = Stage::new();
    stage.says(1, &[("a", "read"), ("b", "read")]);
    stage.answer("b", 1);
    stage.person(1);
    stage.answer("a", 1);
    assert_eq!(cuts(&stage), [(true, false), (true, false), (true, false), (true, true)]);
}

#[test]
fn an_orphan_changes_nothing() {
    let mut stage = Stage::new();
    stage.answer("a", 1);
    stage.says(1, &[("a", "read")]);
    stage.answer("a", 1);
    stage.answer("a", 1);
    assert_eq!(cuts(&stage), [(false, true), (true, false), (true, true), (false, true)]);
}

proptest! {
    /// Against the obvious model: a list of open ids, the first equal one answered.
    #[test]
    fn it_agrees_with_a_list_of_open_calls(steps in prop::collection::vec((0..3u8, 0..4u8, 0..4u8), 0..40)) {
        const IDS: [&str; 4] = ["a", "b", "c", "d"];
        let mut stage = Stage::new();
        let mut open: Vec<&str> = Vec::new();
        let mut expected = Vec::new();
        for (kind, one, two) in steps {
            let (one, two) = (IDS[one as usize], IDS[two as usize]);
            let found = match kind {
                0 => {
                    stage.person(1);
                    true
                }
                1 => {
                    stage.says(1, &[(one, "x"), (two, "x")]);
                    open.extend([one, two]);
                    true
                }
                _ => {
                    stage.answer(one, 1);
                    open.iter().position(|id| *id == one).map(|at| open.remove(at)).is_some()
                }
            };
            expected.push((found, open.is_empty()));
        }
        prop_assert_eq!(cuts(&stage), expected);
    }
}
