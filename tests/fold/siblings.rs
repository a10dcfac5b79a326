//! The other calls of the message that took the mark (docs/rewind.md 1.2, 1.3).

use crate::stage::Stage;
use tool_rewind::plan::{Edit, Plan};

/// `A{..}` with a mark inside the call `at`: calls before it are answered already. Returns the mark's log length
/// and the seqs of the results, in model order.
fn group(stage: &mut Stage, calls: &[(&str, &str)], at: usize) -> (u32, Vec<u32>) {
    stage.person(40);
    stage.says(20, calls);
    let mut results: Vec<u32> = calls[..at].iter().map(|(id, _)| stage.answer(id, 300)).collect();
    stage.log(1);
    let mark = stage.len();
    results.extend(calls[at..].iter().map(|(id, _)| stage.answer(id, 300)));
    (mark, results)
}

#[test]
fn results_after_the_mark_fold_in_place_and_are_counted() {
    // O1
    let mut stage = Stage::new();
    let (mark, results) = group(&mut stage, &[("cp", "checkpoint"), ("c1", "bash")], 0);
    let [call, read] = stage.step("c2");
    stage.rewind();
    let plan = stage.plan(mark).unwrap();
    assert_eq!(plan.siblings, [results[1]]);
    assert_eq!(plan.segments(), [[call, read]]);
    assert_eq!((plan.folded_nodes, plan.folded_chars), (3, 300 + 520));
    assert_eq!((plan.start, plan.end), (results[1], read));
}

#[test]
fn a_result_before_the_mark_is_none_of_its_siblings() {
    // L7, mirrored: what ran before the mark was taken is not part of what came after it.
    let mut stage = Stage::new();
    let calls = [("c0", "bash"), ("cp", "checkpoint"), ("c1", "bash")];
    let (mark, results) = group(&mut stage, &calls, 1);
    stage.step("c2");
    stage.rewind();
    assert_eq!(stage.plan(mark).unwrap().siblings, [results[2]]);
}

#[test]
fn a_pruned_sibling_is_still_one() {
    let mut stage = Stage::new();
    let (mark, results) = group(&mut stage, &[("cp", "checkpoint"), ("c1", "bash")], 0);
    stage.step("c2");
    let pruned = stage.rewrite(results[1], 40);
    stage.rewind();
    let plan = stage.plan(mark).unwrap();
    assert_eq!((plan.siblings, plan.folded_chars), (vec![pruned], 40 + 520));
}

#[test]
fn the_call_that_took_the_mark_is_told_by_call_id_then_by_name_then_by_order() {
    let calls = [("a", "bash"), ("b", "checkpoint"), ("c", "note")];
    let siblings = |call: Option<&str>, name: Option<&str>| {
        let mut stage = Stage::new();
        let (mark, results) = group(&mut stage, &calls, 0);
        let mut target = stage.target(mark);
        target.call = call.map(|id| stage.id(id));
        target.checkpoint_name = name.map(|name| stage.id(name));
        let plan = Plan::new(&stage.surface(), &target).unwrap();
        results.iter().map(|seq| plan.siblings.contains(seq)).collect::<Vec<_>>()
    };
    assert_eq!(siblings(Some("c"), Some("checkpoint")), [true, true, false]);
    assert_eq!(siblings(None, Some("checkpoint")), [true, false, true]);
    assert_eq!(siblings(None, Some("mark")), [false, true, true]);
    assert_eq!(siblings(None, None), [false, true, true]);
    assert_eq!(siblings(Some("elsewhere"), Some("checkpoint")), [true, false, true]);
}

#[test]
fn by_order_means_the_first_call_that_was_open_at_the_mark() {
    let mut stage = Stage::new();
    let calls = [("a", "bash"), ("b", "note"), ("c", "bash")];
    let (mark, results) = group(&mut stage, &calls, 1);
    let plan = stage.plan(mark).unwrap();
    assert_eq!(plan.siblings, [results[2]]);
    assert!(plan.segments().is_empty());
}

#[test]
fn by_name_means_an_open_call_of_that_name() {
    // The first checkpoint call of the message was answered before this mark was taken.
    let mut stage = Stage::new();
    let calls = [("a", "checkpoint"), ("b", "checkpoint"), ("c", "bash")];
    let (mark, results) = group(&mut stage, &calls, 1);
    assert_eq!(stage.plan(mark).unwrap().siblings, [results[2]]);
}

#[test]
fn a_mark_while_no_call_was_open_has_no_siblings() {
    let mut stage = Stage::new();
    stage.says(20, &[("a", "bash"), ("b", "bash")]);
    let results = [stage.answer("a", 300), stage.answer("b", 300)];
    let mark = stage.len();
    let [call, read] = stage.step("c1");
    let pruned = stage.rewrite(results[1], 40);
    let plan = stage.plan(mark).unwrap();
    assert_eq!((&plan.siblings[..], plan.segments()), (&[][..], vec![&[call, read][..]]));
    assert!(pruned > mark);
}

#[test]
fn nothing_else_to_fold_makes_the_last_sibling_carry_the_report() {
    let mut stage = Stage::new();
    let calls = [("cp", "checkpoint"), ("c1", "bash"), ("c2", "bash")];
    let (mark, results) = group(&mut stage, &calls, 0);
    stage.rewind();
    let plan = stage.plan(mark).unwrap();
    assert_eq!((plan.start, plan.end, plan.folded_nodes), (results[1], results[2], 2));
    let edits = plan.edits();
    assert_eq!(edits, [Edit::ReportInPlace { seq: results[2] }, Edit::Sibling { seq: results[1] }]);
}

#[test]
fn the_last_sibling_is_the_last_on_the_surface_whatever_the_model_order() {
    let mut stage = Stage::new();
    stage.says(20, &[("cp", "checkpoint"), ("c1", "bash"), ("c2", "bash")]);
    let mark = stage.len();
    stage.answer("cp", 30);
    let second = stage.answer("c2", 300);
    let first = stage.answer("c1", 300);
    stage.rewind();
    let plan = stage.plan(mark).unwrap();
    assert_eq!(plan.edits(), [Edit::ReportInPlace { seq: first }, Edit::Sibling { seq: second }]);
}

#[test]
fn outside_a_turn_siblings_are_left_as_they_are() {
    let mut stage = Stage::new();
    let (mark, _) = group(&mut stage, &[("cp", "checkpoint"), ("c1", "bash")], 0);
    let mut target = stage.target(mark);
    target.open_turn = false;
    let alone = Plan::new(&stage.surface(), &target).unwrap_err();
    assert_eq!(alone.code(), "EMPTY_REGION");
    let [call, read] = stage.step("c2");
    let plan = Plan::new(&stage.surface(), &target).unwrap();
    assert_eq!((&plan.siblings[..], plan.segments()), (&[][..], vec![&[call, read][..]]));
    assert_eq!(plan.folded_chars, 520);
}

#[test]
fn a_plugin_speaking_between_the_carriers_results_does_not_hide_the_later_ones() {
    let mut stage = Stage::new();
    stage.says(20, &[("cp", "checkpoint"), ("c1", "bash")]);
    let mark = stage.len();
    stage.answer("cp", 30);
    stage.person(9);
    let sibling = stage.answer("c1", 300);
    let [call, read] = stage.step("c2");
    let plan = stage.plan(mark).unwrap();
    assert_eq!((&plan.siblings[..], plan.segments()), (&[sibling][..], vec![&[call, read][..]]));
    assert!(plan.quotes.is_empty());
}

#[test]
fn a_sibling_that_was_never_answered_is_left_alone() {
    let mut stage = Stage::new();
    stage.says(20, &[("cp", "checkpoint"), ("c1", "bash")]);
    let mark = stage.len();
    stage.answer("cp", 30);
    let [call, read] = stage.step("c2");
    stage.rewind();
    let plan = stage.plan(mark).unwrap();
    assert_eq!((&plan.siblings[..], plan.segments()), (&[][..], vec![&[call, read][..]]));
}

#[test]
fn a_mark_is_found_behind_words_that_came_while_its_call_was_open() {
    // The mark's own call never gets its result; its siblings do.
    for (known, name) in [(true, "mark"), (false, "checkpoint")] {
        let mut stage = Stage::new();
        stage.says(20, &[("c1", "bash"), ("cp", "checkpoint"), ("c2", "bash")]);
        stage.person(9);
        let mark = stage.len();
        let results = [stage.answer("c2", 300), stage.answer("c1", 300)];
        stage.step("c3");
        stage.rewind();
        let mut target = stage.target(mark);
        target.call = known.then(|| stage.id("cp"));
        target.checkpoint_name = Some(stage.id(name));
        let plan = Plan::new(&stage.surface(), &target).unwrap();
        assert_eq!(plan.siblings, results);
        assert!(plan.after_call());
    }
}

#[test]
fn a_dead_call_before_the_mark_is_not_the_one_that_took_it() {
    let mut stage = Stage::new();
    stage.says(20, &[("lost", "bash")]);
    stage.person(9);
    let mark = stage.len();
    let [call, read] = stage.step("c1");
    let plan = stage.plan(mark).unwrap();
    assert_eq!((plan.siblings.len(), plan.after_call()), (0, false));
    assert_eq!(plan.segments(), [[call, read]]);
}
