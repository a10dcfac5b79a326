//! How the report request is put together (docs/rewind.md 2.2).

use crate::stage::Stage;
use tool_rewind::plan::RequestPlan;
use tool_rewind::surface::ABSENT;

fn request(stage: &mut Stage, mark: u32, routed: bool) -> RequestPlan {
    let surface = stage.surface();
    stage.plan(mark).unwrap().request(&surface, routed, 0)
}

#[test]
fn the_routed_form_ends_before_the_message_that_carries_the_rewind_call() {
    // P9
    let mut stage = Stage::new();
    stage.person(40);
    let mark = stage.mark();
    stage.step("c1");
    let before = stage.nodes.len();
    stage.rewind();
    assert_eq!(request(&mut stage, mark, true), RequestPlan::Routed { cut: before, sent: before, tail: 2 });
    stage.plugin(9);
    assert_eq!(request(&mut stage, mark, true), RequestPlan::Routed { cut: before, sent: before, tail: 2 });
}

#[test]
fn an_open_call_after_the_region_ends_it_even_where_more_was_said_since() {
    let mut stage = Stage::new();
    stage.person(40);
    let mark = stage.mark();
    stage.step("c1");
    let before = stage.nodes.len();
    stage.says(20, &[("lost", "bash")]);
    stage.person(10);
    stage.step("c2");
    stage.rewind();
    assert_eq!(request(&mut stage, mark, true), RequestPlan::Routed { cut: before, sent: before, tail: 2 });
}

#[test]
fn at_the_tail_nothing_is_cut_away() {
    let mut stage = Stage::new();
    stage.person(40);
    let mark = stage.mark();
    stage.step("c1");
    stage.says(20, &[]);
    let all = stage.nodes.len();
    assert_eq!(request(&mut stage, mark, true), RequestPlan::Routed { cut: all, sent: all, tail: 3 });
}

#[test]
fn the_count_of_exploration_messages_takes_in_persons_words_and_siblings() {
    let mut stage = Stage::new();
    stage.person(40);
    stage.says(20, &[("cp", "checkpoint"), ("c1", "bash")]);
    let mark = stage.len();
    stage.answer("cp", 30);
    stage.answer("c1", 300);
    stage.step("c2");
    stage.person(9);
    stage.step("c3");
    let cut = stage.nodes.len();
    stage.rewind();
    assert_eq!(request(&mut stage, mark, true), RequestPlan::Routed { cut, sent: cut, tail: 6 });
}

#[test]
fn a_call_that_a_fault_keeps_from_its_answer_is_not_sent() {
    let mut stage = Stage::new();
    stage.person(40);
    let mark = stage.mark();
    stage.step("c1");
    let cut = stage.nodes.len();
    let plan = stage.plan(mark).unwrap();
    // All this comes while the route is probed.
    stage.says(9, &[("c2", "bash")]);
    stage.answer("ghost", 9);
    stage.answer("c2", 9);
    let surface = stage.surface();
    assert_eq!(plan.recheck(&surface, true), Ok(()));
    assert_eq!(plan.request(&surface, true, 0), RequestPlan::Routed { cut, sent: cut, tail: 2 });
}

#[test]
fn a_fault_from_before_the_region_makes_it_the_overridden_form() {
    let mut stage = Stage::new();
    let prompt = stage.person(40);
    stage.says(20, &[("lost", "bash")]);
    let again = stage.person(40);
    let mark = stage.mark();
    let [call, result] = stage.step("c1");
    stage.rewind();
    let form = request(&mut stage, mark, true);
    assert_eq!(form, RequestPlan::Messages { seqs: vec![prompt, again, call, result], tail: 2 });
}

#[test]
fn the_overridden_form_is_the_prompt_and_the_region() {
    let mut stage = Stage::new();
    let prompt = stage.person(40);
    stage.step("c0");
    let mark = stage.mark();
    let [call, result] = stage.step("c1");
    let steer = stage.person(9);
    let [next, read] = stage.step("c2");
    stage.rewind();
    stage.plugin(9);
    let seqs = vec![prompt, call, result, steer, next, read];
    assert_eq!(request(&mut stage, mark, false), RequestPlan::Messages { seqs, tail: 5 });
}

#[test]
fn siblings_are_sent_behind_their_call() {
    let mut stage = Stage::new();
    let prompt = stage.person(40);
    let carrier = stage.says(20, &[("cp", "checkpoint"), ("c1", "bash")]);
    let mark = stage.len();
    let pair = stage.answer("cp", 30);
    let sibling = stage.answer("c1", 300);
    stage.rewind();
    let seqs = vec![prompt, carrier, pair, sibling];
    assert_eq!(request(&mut stage, mark, false), RequestPlan::Messages { seqs, tail: 1 });
}

#[test]
fn empty_messages_are_not_sent() {
    // W3
    let mut stage = Stage::new();
    let prompt = stage.person(40);
    let mark = stage.mark();
    stage.empty();
    let [call, result] = stage.step("c1");
    stage.rewind();
    let seqs = vec![prompt, call, result];
    assert_eq!(request(&mut stage, mark, false), RequestPlan::Messages { seqs, tail: 2 });
}

#[test]
fn a_region_that_is_no_valid_sequence_is_quoted_instead() {
    let mut stage = Stage::new();
    let prompt = stage.person(40);
    let mark = stage.mark();
    let call = stage.says(20, &[("c1", "read")]);
    let steer = stage.person(9);
    let result = stage.answer("c1", 300);
    stage.rewind();
    for routed in [true, false] {
        let seqs = vec![prompt, call, steer, result];
        assert_eq!(request(&mut stage, mark, routed), RequestPlan::Transcript { seqs });
    }
}

#[test]
fn the_prompt_is_what_persons_said_in_the_turn_of_the_mark() {
    let mut stage = Stage::new();
    let older = stage.person(40);
    stage.says(20, &[]);
    stage.log(1);
    let turn_start = stage.len();
    stage.log(1);
    let prompt = stage.person(40);
    stage.step("c0");
    let steer = stage.person(40);
    let mark = stage.mark();
    let [call, result] = stage.step("c1");
    stage.rewind();
    let plan = stage.plan(mark).unwrap();
    let sent = |turn_start| match plan.request(&stage.surface(), false, turn_start) {
        RequestPlan::Messages { seqs, tail: 2 } => seqs,
        other => panic!("{other:?}"),
    };
    assert_eq!(sent(turn_start), [prompt, steer, call, result]);
    // A turn that a plugin began: the last thing that a person said.
    assert_eq!(sent(steer + 1), [steer, call, result]);
    assert_eq!(sent(0), [older, prompt, steer, call, result]);
}

#[test]
fn nodes_that_derive_no_message_are_not_counted_as_sent() {
    let mut stage = Stage::new();
    let first = stage.says(0, &[]);
    stage.facts[first as usize] |= ABSENT;
    stage.person(40);
    let mark = stage.mark();
    let inside = stage.says(0, &[]);
    stage.facts[inside as usize] |= ABSENT;
    stage.step("c1");
    let cut = stage.nodes.len();
    stage.rewind();
    assert_eq!(request(&mut stage, mark, true), RequestPlan::Routed { cut, sent: cut - 2, tail: 2 });
}
