//! What is folded: age by origin, edges, pairing, persons' words (docs/rewind.md 1.1, 1.2, 1.4 to 1.9).

use crate::stage::Stage;
use tool_rewind::error::Refusal;

const EMPTY: Refusal = Refusal::EmptyRegion { mark: String::new() };

fn refusal(stage: &mut Stage, mark: u32) -> Refusal {
    match stage.plan(mark).unwrap_err() {
        Refusal::EmptyRegion { .. } => EMPTY,
        other => other,
    }
}

#[test]
fn the_pair_of_the_checkpoint_call_stays_and_the_rewind_call_too() {
    let mut stage = Stage::new();
    stage.person(40);
    let mark = stage.mark();
    let [call, result] = stage.step("c1");
    stage.rewind();
    let plan = stage.plan(mark).unwrap();
    assert_eq!(plan.segments(), [[call, result]]);
    assert_eq!((plan.start, plan.end, plan.folded_nodes, plan.folded_chars), (call, result, 2, 520));
    assert!(plan.siblings.is_empty() && plan.quotes.is_empty());
    assert!(plan.after_call());
}

#[test]
fn a_pruned_result_from_before_the_mark_is_before_the_mark() {
    let mut stage = Stage::new();
    stage.person(40);
    let [_, old] = stage.step("c0");
    let later = stage.plugin(9);
    let mark = stage.mark();
    let [call, result] = stage.step("c1");
    assert!(stage.rewrite(old, 12) > mark);
    stage.rewind();
    assert_eq!(stage.segments(mark), [[call, result]]);
    assert!(later < mark);
}

#[test]
fn a_summary_of_older_history_and_one_that_straddles_the_mark_are_before_it() {
    let mut stage = Stage::new();
    let first = stage.person(40);
    let [_, old] = stage.step("c0");
    let mark = stage.mark();
    let [_, read] = stage.step("c1");
    let [call, result] = stage.step("c2");
    stage.rewind();
    let mut older = stage.clone();
    older.compact(first, old, 30);
    assert_eq!(older.segments(mark), [[read - 1, read, call, result]]);
    stage.compact(first, read, 30);
    assert_eq!(stage.segments(mark), [[call, result]]);
    assert!(!stage.plan(mark).unwrap().after_call());
}

#[test]
fn what_a_summary_wholly_inside_left_is_part_of_the_exploration() {
    let mut stage = Stage::new();
    stage.person(40);
    let mark = stage.mark();
    let [first, _] = stage.step("c1");
    let [_, last] = stage.step("c2");
    let tail = stage.step("c3");
    let summary = stage.compact(first, last, 30);
    stage.rewind();
    assert_eq!(stage.segments(mark), [[summary, tail[0], tail[1]]]);
    assert_eq!(stage.plan(mark).unwrap().start, summary);
}

#[test]
fn a_mark_outside_any_call_has_no_carrier_and_its_exploration_starts_there() {
    let mut stage = Stage::new();
    stage.person(40);
    let [_, _] = stage.step("c0");
    let mark = stage.len();
    let [call, result] = stage.step("c1");
    stage.rewind();
    let plan = stage.plan(mark).unwrap();
    assert_eq!(plan.segments(), [[call, result]]);
    assert!(!plan.after_call());
}

#[test]
fn a_mark_at_the_very_start_folds_from_the_start() {
    let mut stage = Stage::new();
    let [call, result] = stage.step("c1");
    assert_eq!(stage.segments(0), [[call, result]]);
}

#[test]
fn the_region_ends_at_the_last_balanced_cut() {
    // P6: A{c1} R A{c2} R A{c3} R A{t}, cut off after each node.
    for (taken, end) in
        [(1, None), (2, Some(2)), (3, Some(2)), (4, Some(4)), (5, Some(4)), (6, Some(6)), (7, Some(7))]
    {
        let mut stage = Stage::new();
        stage.person(40);
        let mark = stage.mark();
        let mut nodes: Vec<u32> = ["c1", "c2", "c3"].into_iter().flat_map(|id| stage.step(id)).collect();
        nodes.push(stage.says(8, &[]));
        stage.nodes.truncate(stage.nodes.len() - (nodes.len() - taken));
        match end {
            Some(end) => assert_eq!(stage.segments(mark), [nodes[..end].to_vec()], "{taken} nodes"),
            None => assert_eq!(refusal(&mut stage, mark), EMPTY, "{taken} nodes"),
        }
    }
}

#[test]
fn no_cut_falls_into_a_batch() {
    // L1, L2: only the cut behind the last of sixteen results is legal.
    let ids: Vec<String> = (0..16).map(|n| format!("c{n}")).collect();
    let calls: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "read")).collect();
    for answered in 0..=16 {
        let mut stage = Stage::new();
        let mark = stage.mark();
        let [a, b] = stage.step("first");
        stage.says(20, &calls);
        for id in ids.iter().rev().take(answered) {
            stage.answer(id, 50);
        }
        let expected = if answered == 16 { 19 } else { 2 };
        let segments = stage.segments(mark);
        assert_eq!((segments.len(), segments[0].len()), (1, expected), "{answered} answers");
        assert_eq!(segments[0][..2], [a, b]);
    }
}

#[test]
fn outside_a_tool_call_the_last_answer_is_folded_too() {
    // O4
    let mut stage = Stage::new();
    stage.person(40);
    let mark = stage.mark();
    let [call, result] = stage.step("c1");
    let answer = stage.says(60, &[]);
    assert_eq!(stage.segments(mark), [[call, result, answer]]);
}

#[test]
fn a_rewind_call_with_siblings_stays_whether_they_are_answered_or_not() {
    for answered in [false, true] {
        let mut stage = Stage::new();
        let mark = stage.mark();
        let [call, result] = stage.step("c1");
        stage.says(5, &[("c2", "todo"), ("rw", "rewind")]);
        if answered {
            stage.answer("c2", 900);
        }
        assert_eq!(stage.segments(mark), [[call, result]]);
    }
}

#[test]
fn an_id_used_again_is_another_call() {
    // D1
    let mut stage = Stage::new();
    stage.step("call_0");
    let mark = stage.mark();
    let nodes: Vec<u32> = (0..3).flat_map(|_| stage.step("call_0")).collect();
    stage.says(5, &[("call_0", "rewind")]);
    assert_eq!(stage.segments(mark), [nodes]);
}

#[test]
fn twice_the_same_id_in_one_message_needs_two_results() {
    // D4
    for (results, expected) in [(1, 2), (2, 5)] {
        let mut stage = Stage::new();
        let mark = stage.mark();
        stage.step("c1");
        stage.says(20, &[("z", "read"), ("z", "read")]);
        for _ in 0..results {
            stage.answer("z", 50);
        }
        assert_eq!(stage.segments(mark)[0].len(), expected);
    }
}

#[test]
fn an_unanswered_call_before_the_region_does_not_make_it_impossible() {
    let mut stage = Stage::new();
    stage.person(40);
    stage.says(20, &[("lost", "bash")]);
    stage.person(10);
    let mark = stage.mark();
    let [call, result] = stage.step("c1");
    stage.rewind();
    assert_eq!(stage.segments(mark), [[call, result]]);
}

#[test]
fn a_result_without_its_call_is_named() {
    let mut stage = Stage::new();
    let mark = stage.mark();
    stage.step("c1");
    let orphan = stage.answer("other", 50);
    stage.step("c2");
    stage.rewind();
    assert_eq!(refusal(&mut stage, mark), Refusal::OrphanResult { seq: orphan });
    assert_eq!(stage.plan(mark).unwrap_err().code(), "UNBALANCED");
    assert!(stage.plan(mark).unwrap_err().to_string().contains(&format!("seq {orphan} ")));
}

#[test]
fn a_late_result_of_a_call_that_died_before_the_marks_own_message_is_no_result_of_the_marks() {
    let mut stage = Stage::new();
    stage.person(40);
    stage.says(20, &[("dead", "read"), ("cp", "checkpoint")]);
    let [call, answered] = stage.step("c0");
    let mark = stage.len();
    stage.compact(call, answered, 10);
    for id in ["dead", "cp"] {
        let mut late = stage.clone();
        let orphan = late.answer(id, 50);
        late.step("c1");
        late.rewind();
        assert_eq!(refusal(&mut late, mark), Refusal::OrphanResult { seq: orphan });
    }
    // Nothing came late: there is no carrier, and what stands behind the mark folds.
    let step = stage.step("c1");
    stage.rewind();
    let plan = stage.plan(mark).unwrap();
    assert_eq!((plan.segments(), plan.after_call()), (vec![&step[..]], false));
}

#[test]
fn a_message_that_was_taken_before_the_mark_is_still_the_last_that_was_said() {
    let mut stage = Stage::new();
    stage.says(20, &[("dead", "checkpoint")]);
    let [call, answered] = stage.step("c0");
    stage.compact(call, answered, 10);
    let mark = stage.len();
    let orphan = stage.answer("dead", 50);
    stage.step("c1");
    stage.rewind();
    assert_eq!(refusal(&mut stage, mark), Refusal::OrphanResult { seq: orphan });
}

#[test]
fn a_second_result_for_one_call_is_named_inside_and_in_the_carrier() {
    let mut inside = Stage::new();
    let mark = inside.mark();
    inside.step("c1");
    let second = inside.answer("c1", 50);
    inside.rewind();
    assert_eq!(refusal(&mut inside, mark), Refusal::OrphanResult { seq: second });

    let mut carrier = Stage::new();
    let mark = carrier.mark();
    let second = carrier.answer("cp", 50);
    carrier.step("c1");
    carrier.rewind();
    assert_eq!(refusal(&mut carrier, mark), Refusal::OrphanResult { seq: second });
}

#[test]
fn a_result_whose_call_left_the_surface_is_named() {
    // P1: the call was summarized away, the result kept.
    let mut stage = Stage::new();
    let mark = stage.mark();
    let [call, result] = stage.step("c1");
    stage.compact(call, call, 9);
    stage.rewind();
    assert_eq!(refusal(&mut stage, mark), Refusal::OrphanResult { seq: result });
}

#[test]
fn an_open_call_inside_ends_the_region_before_its_carrier() {
    // P2
    let mut stage = Stage::new();
    stage.person(40);
    let mark = stage.mark();
    let [call, result] = stage.step("c1");
    stage.says(20, &[("c2", "bash")]);
    stage.person(10);
    stage.rewind();
    let plan = stage.plan(mark).unwrap();
    assert_eq!(plan.segments(), [[call, result]]);
    assert_eq!(plan.folded_nodes, 2);
}

#[test]
fn an_open_call_first_leaves_nothing_and_is_named_whatever_stands_before_it() {
    for before in [0, 1, 2] {
        let mut stage = Stage::new();
        stage.person(40);
        let mark = stage.mark();
        for _ in 0..before {
            stage.person(10);
        }
        let dead = stage.says(20, &[("c2", "bash")]);
        stage.person(10);
        stage.step("c3");
        stage.rewind();
        assert_eq!(refusal(&mut stage, mark), Refusal::OpenCall { seq: dead }, "{before} prompts before");
        assert_eq!(stage.plan(mark).unwrap_err().code(), "UNBALANCED");
    }
}

#[test]
fn a_half_answered_batch_inside_ends_the_region_too() {
    let mut stage = Stage::new();
    let mark = stage.mark();
    let dead = stage.says(20, &[("a", "read"), ("b", "read")]);
    stage.answer("b", 50);
    stage.step("c3");
    assert_eq!(refusal(&mut stage, mark), Refusal::OpenCall { seq: dead });
}

#[test]
fn nothing_to_fold_is_an_empty_region() {
    // C3: nothing between the mark and the rewind call; nothing at all after the mark; only a person's words.
    let mut pair = Stage::new();
    let mark = pair.mark();
    pair.rewind();
    assert_eq!(refusal(&mut pair, mark), EMPTY);

    let mut end = Stage::new();
    end.person(40);
    end.step("c1");
    let length = end.len();
    assert_eq!(refusal(&mut end, length), EMPTY);

    let mut words = Stage::new();
    let mark = words.mark();
    words.person(40);
    words.rewind();
    assert_eq!(refusal(&mut words, mark), EMPTY);
    assert_eq!(words.plan(mark).unwrap_err().code(), "EMPTY_REGION");

    let mut nothing = Stage::new();
    assert_eq!(refusal(&mut nothing, 0), EMPTY);
}

#[test]
fn persons_words_split_the_region_and_are_no_part_of_it() {
    let mut stage = Stage::new();
    stage.person(40);
    let mark = stage.mark();
    let one = stage.step("c1");
    stage.person(10);
    stage.memory(70);
    let two = stage.step("c2");
    stage.person(10);
    let three = stage.step("c3");
    stage.person(10);
    stage.rewind();
    let plan = stage.plan(mark).unwrap();
    assert_eq!(plan.segments(), [one, two, three]);
    assert_eq!((plan.folded_nodes, plan.folded_chars), (6, 3 * 520));
    assert_eq!((plan.start, plan.end), (one[0], three[1]));
    assert!(plan.quotes.is_empty());
}

#[test]
fn persons_words_inside_an_open_pair_fold_with_it_and_are_quoted() {
    // L3, T2; with a second steering message between two pairs, which stays.
    let mut stage = Stage::new();
    let mark = stage.mark();
    let carrier = stage.says(20, &[("a", "read"), ("b", "read")]);
    let b = stage.answer("b", 50);
    let steer = stage.person(17);
    let memory = stage.memory(18);
    let a = stage.answer("a", 50);
    stage.person(11);
    let after = stage.step("c2");
    stage.rewind();
    let plan = stage.plan(mark).unwrap();
    assert_eq!(plan.segments(), [vec![carrier, b, steer, memory, a], after.to_vec()]);
    assert_eq!(plan.quotes, [steer, memory]);
    assert_eq!(plan.folded_chars, 20 + 50 + 17 + 18 + 50 + 520);
}

#[test]
fn persons_words_beside_the_rewind_call_are_not_folded_with_it() {
    let mut stage = Stage::new();
    let mark = stage.mark();
    let [call, result] = stage.step("c1");
    stage.rewind();
    stage.person(10);
    let plan = stage.plan(mark).unwrap();
    assert_eq!(plan.segments(), [[call, result]]);
    assert!(plan.quotes.is_empty());
}

#[test]
fn everything_else_folds_whoever_wrote_it() {
    let mut stage = Stage::new();
    let mark = stage.mark();
    let mut nodes = vec![stage.plugin(10), stage.says(0, &[]), stage.empty()];
    nodes.extend(stage.step("c1"));
    nodes.push(stage.plugin(80));
    stage.rewind();
    assert_eq!(stage.segments(mark), [nodes]);
}

#[test]
fn edges_are_named_in_surface_order_even_where_seqs_are_not() {
    let mut stage = Stage::new();
    let mark = stage.mark();
    let [first, read] = stage.step("c1");
    let [_, last] = stage.step("c2");
    let pruned = stage.rewrite(last, 12);
    let summary = stage.compact(first, read, 30);
    stage.rewind();
    let plan = stage.plan(mark).unwrap();
    assert_eq!((plan.start, plan.end), (summary, pruned));
    assert!(plan.start > plan.end);
    assert_eq!(plan.folded_chars, 30 + 20 + 12);
}
