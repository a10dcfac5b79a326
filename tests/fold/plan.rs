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
    let [first, last] = [&plan.segments()[0], &plan.segments()[1]];
    assert_eq!(
        plan.edits(),
        [
            Edit::Report { seqs: last },
            Edit::Pointer { seqs: first },
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
            Edit::Report { seqs } | Edit::Pointer { seqs } => seqs.to_vec(),
            Edit::ReportInPlace { seq } | Edit::Sibling { seq } => vec![seq],
        })
        .collect();
    seqs.sort_unstable();
    assert_eq!(seqs.len(), plan.folded_nodes as usize);
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(seqs.contains(&plan.start) && seqs.contains(&plan.end));
}

/// Both ways of looking: at a parsed surface, and at its columns.
fn recheck(plan: &Plan, stage: &Stage) -> Result<(), Refusal> {
    let found = plan.recheck(&stage.surface(), true);
    assert_eq!(plan.recheck_columns(&stage.columns(), true), found);
    found
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
    let folded: Vec<u32> = plan.folded().collect();
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
    let run = &plan.segments()[1];
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
    let at = stage.nodes.iter().position(|&seq| seq == plan.segments()[1][0]).unwrap();
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
    assert_eq!(plan.recheck_columns(&stage.columns(), false), Err(Refusal::Changed));

    let mut plain = Stage::new();
    let mark = plain.mark();
    plain.step("c1");
    let plan = plain.plan(mark).unwrap();
    assert_eq!(plan.recheck(&plain.surface(), false), Ok(()));
    assert_eq!(plan.recheck_columns(&plain.columns(), false), Ok(()));
}

#[test]
fn a_plan_of_a_window_holds_on_the_window_and_on_the_whole_surface() {
    let mut stage = Stage::new();
    stage.person(40);
    stage.step("c0");
    let from = stage.nodes.len();
    let mark = stage.mark();
    stage.step("c1");
    stage.step("c2");
    let mut window = stage.clone();
    window.nodes.drain(..from);
    let plan = window.plan(mark).unwrap();
    assert_eq!((plan.runs.len(), plan.runs[0].clone()), (1, 2..6));
    for held in [&window, &stage] {
        assert_eq!(recheck(&plan, held), Ok(()));
    }
    let first = stage.nodes[0];
    stage.compact(first, first, 3);
    assert_eq!(recheck(&plan, &stage), Ok(()));
    let last = *stage.nodes.last().unwrap();
    stage.compact(last, last, 3);
    assert_eq!(recheck(&plan, &stage), Err(Refusal::Changed));
}

#[test]
fn what_stands_behind_the_region_is_looked_at_as_closely_as_the_region() {
    let mut stage = Stage::new();
    let mark = stage.mark();
    stage.step("c1");
    let plan = stage.plan(mark).unwrap();
    let newest = *stage.nodes.last().unwrap();
    stage.step("c9");
    let [call, result] = stage.nodes[stage.nodes.len() - 2..] else { panic!("a step is two nodes") };
    let refused = |bend: &dyn Fn(&mut Stage)| {
        let mut bent = stage.clone();
        bend(&mut bent);
        plan.recheck_columns(&bent.columns(), true)
    };
    let corrupt = |seq| Err(Refusal::CorruptSurface { seq });
    assert_eq!(refused(&|bent| bent.facts[result as usize] = 0), corrupt(result));
    assert_eq!(refused(&|bent| bent.nodes.push(call)), corrupt(call));
    assert_eq!(refused(&|bent| bent.nodes.push(newest)), corrupt(newest));
    assert_eq!(refused(&|bent| bent.nodes.push(900)), corrupt(900));
    // A replacement is no later append: it is the region's, whatever stands behind it.
    assert_eq!(refused(&|bent| bent.origins[result as usize] = newest), Err(Refusal::Changed));
    assert_eq!(refused(&|_| ()), Ok(()));
}
