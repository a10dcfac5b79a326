//! What a plan allocates, in counts and not in seconds: with its window, and not with the log (`design.md`, walk of a
//! fold). Calls across the border and events read are counted in `__test__/fold/counted.test.js`.

use crate::stage::Stage;
use allocation_counter::{AllocationInfo, measure};

/// Plans and draws up the edits of a fold of `steps` steps behind `before` older ones, over the window that a host
/// reads: the nodes from the carrier on. With `summed`, the last step but one was replaced by one node, whose seq is then above its
/// neighbour's.
fn planned(before: usize, steps: usize, summed: bool) -> AllocationInfo {
    let mut stage = Stage::new();
    stage.person(40);
    for _ in 0..before {
        stage.step("old");
    }
    let from = stage.nodes.len();
    let mark = stage.mark();
    for _ in 0..steps {
        stage.step("new");
    }
    if summed {
        let [.., call, result, _, _] = stage.nodes[..] else { panic!("a step is two nodes") };
        stage.compact(call, result, 3);
    }
    stage.rewind();
    stage.nodes.drain(..from);
    let target = stage.target(mark);
    measure(|| {
        let plan = tool_rewind::plan::Plan::new(&stage.surface(), &target).unwrap();
        assert_eq!(plan.folded_nodes as usize, 2 * steps - usize::from(summed));
        plan.recheck_columns(&stage.columns(), true).unwrap();
        assert_eq!(plan.edits().len(), 1);
    })
}

#[test]
fn a_plan_allocates_nothing_for_what_stands_before_the_mark() {
    let [short, long] = [0, 20_000].map(|before| planned(before, 50, false));
    assert_eq!((long.count_total, long.bytes_total), (short.count_total, short.bytes_total));
}

#[test]
fn a_plan_over_a_replacement_allocates_one_byte_an_event_of_the_log() {
    let before = 20_000;
    let [short, long] = [0, before].map(|before| planned(before, 50, true));
    assert_eq!(long.count_total, short.count_total);
    // The one reading marks the seqs it has seen, and a step is two events.
    assert_eq!(long.bytes_total, short.bytes_total + 2 * before as u64);
}

#[test]
fn a_plan_allocates_with_the_region_in_bytes_and_hardly_in_number() {
    let [small, large] = [50, 5_000].map(|steps| planned(0, steps, false));
    // A vector that grows to a hundred times the length does so in seven doublings.
    assert!(large.count_total < 3 * small.count_total, "{} after {}", large.count_total, small.count_total);
    assert!(large.bytes_total < 130 * small.bytes_total, "{} after {}", large.bytes_total, small.bytes_total);
}

#[test]
fn a_plan_keeps_nothing() {
    let info = planned(10, 50, false);
    assert_eq!((info.count_current, info.bytes_current), (0, 0));
}
