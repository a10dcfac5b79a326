//! The edits and their order, and the re-check before they land (docs/rewind.md 1.6, 3.1, 3.3).

use crate::stage::Stage;
use tool_rewind::error::Refusal;
use tool_rewind::plan::{Edit, Plan};

/// A carrier with one sibling, and two runs around a person's words: everything a plan can hold.
fn rich() -> (Stage, u32) {
    let mut stage = Stage::new();
    stage.person(40);
    stage.says(20, &[("cp", "checkpoint"), ("c1", "bash"), ("c2", "bash")]);
    stage.log(1);
    let mark = stage.len();
    for id in ["cp", "c1", "c2"] {
        stage.answer(id, 300);
    }
    stage.step("c3");
    stage.person(9);
    stage.step("c4");
    stage.rewind();
    (stage, mark)
}

#[test]
fn the_report_comes_first_then_earlier_segments_then_siblings() {
    let (mut stage, mark) = rich();
    let plan = stage.plan(mark).unwrap();
    let [first, last] = [&plan.segments[0], &plan.segments[1]];
    assert_eq!(
        plan.edits(),
        [
            Edit::Report { seqs: last.clone() },
            Edit::Pointer { seqs: first.clone() },
            Edit::Sibling { seq: plan.siblings[0] },
            Edit::Sibling { seq: plan.siblings[1] },
        ]
    );
}

#[test]
fn every_folded_node_is_in_exactly_one_edit() {
    let (mut stage, mark) = rich();
    let plan = stage.plan(mark).unwrap();
    let mut seqs: Vec<u32> = plan
        .edits()
        .into_iter()
        .flat_map(|edit| match edit {
            Edit::Report { seqs } | Edit::Pointer { seqs } => seqs,
            Edit::ReportInPlace { seq } | Edit::Sibling { seq } => vec![seq],
        })
        .collect();
    seqs.sort_unstable();
    assert_eq!(seqs.len(), plan.folded_nodes as usize);
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(seqs.contains(&plan.start) && seqs.contains(&plan.end));
}

fn recheck(plan: &Plan, stage: &Stage) -> Result<(), Refusal> {
    plan.recheck(&stage.surface(), true)
}

#[test]
fn what_is_appended_behind_the_region_is_no_change() {
    // P7, X6
    let (mut stage, mark) = rich();
    let plan = stage.plan(mark).unwrap();
    assert_eq!(recheck(&plan, &stage), Ok(()));
    stage.answer("rw", 20);
    stage.person(30);
    stage.step("c9");
    assert_eq!(recheck(&plan, &stage), Ok(()));
}

#[test]
fn any_difference_in_the_folded_seqs_is_a_change() {
    // X5: first, inner and last node of each run, and a sibling, replaced one at a time.
    let (mut stage, mark) = rich();
    let plan = stage.plan(mark).unwrap();
    let folded: Vec<u32> = plan.siblings.iter().chain(plan.segments.iter().flatten()).copied().collect();
    for seq in folded {
        let mut other = stage.clone();
        other.compact(seq, seq, 3);
        assert_eq!(recheck(&plan, &other), Err(Refusal::Changed), "seq {seq}");
    }
    assert_eq!(Refusal::Changed.code(), "CHANGED");
}

#[test]
fn a_run_compacted_to_the_same_count_or_gone_is_a_change() {
    let (mut stage, mark) = rich();
    let plan = stage.plan(mark).unwrap();
    let run = &plan.segments[1];
    let mut compacted = stage.clone();
    compacted.compact(run[0], run[1], 9);
    compacted.step("c8");
    assert_eq!(recheck(&plan, &compacted), Err(Refusal::Changed));

    let mut whole = stage.clone();
    let (first, last) = (whole.nodes[0], run[1]);
    whole.compact(first, last, 9);
    assert_eq!(recheck(&plan, &whole), Err(Refusal::Changed));

    let mut gone = stage.clone();
    gone.nodes.clear();
    assert_eq!(recheck(&plan, &gone), Err(Refusal::Changed));
}

#[test]
fn the_same_seqs_in_another_order_or_with_another_between_are_a_change() {
    let (mut stage, mark) = rich();
    let plan = stage.plan(mark).unwrap();
    let at = stage.nodes.iter().position(|&seq| seq == plan.segments[1][0]).unwrap();
    let mut swapped = stage.clone();
    swapped.nodes.swap(at, at + 1);
    assert_eq!(recheck(&plan, &swapped), Err(Refusal::Changed));

    let mut between = stage.clone();
    let stranger = between.plugin(5);
    between.nodes.pop();
    between.nodes.insert(at + 1, stranger);
    assert_eq!(recheck(&plan, &between), Err(Refusal::Changed));
}

#[test]
fn what_happens_in_front_of_the_carrier_is_no_change() {
    let (mut stage, mark) = rich();
    let plan = stage.plan(mark).unwrap();
    let first = stage.nodes[0];
    stage.compact(first, first, 3);
    assert_eq!(recheck(&plan, &stage), Ok(()));
}

#[test]
fn siblings_cannot_land_once_the_turn_is_over() {
    let (mut stage, mark) = rich();
    let plan = stage.plan(mark).unwrap();
    assert_eq!(plan.recheck(&stage.surface(), false), Err(Refusal::Changed));

    let mut plain = Stage::new();
    let mark = plain.mark();
    plain.step("c1");
    let plan = plain.plan(mark).unwrap();
    assert_eq!(plan.recheck(&plain.surface(), false), Ok(()));
}
