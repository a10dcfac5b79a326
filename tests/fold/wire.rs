//! What a provider accepts (docs/rewind.md 0, "wire-valid").

use crate::stage::Stage;
use tool_rewind::surface::ABSENT;
use tool_rewind::wire::{Fault, FaultKind, Tail, faults};

fn all(stage: &Stage, tail: Tail) -> Vec<(u32, FaultKind)> {
    let surface = stage.surface();
    faults(&surface, surface.nodes().iter(), tail)
        .into_iter()
        .map(|Fault { seq, kind }| (seq, kind))
        .collect()
}

#[test]
fn a_valid_sequence_has_no_fault() {
    let mut stage = Stage::new();
    stage.person(1);
    stage.says(1, &[("a", "x"), ("b", "x"), ("a", "x")]);
    for id in ["a", "b", "a"] {
        stage.answer(id, 0);
    }
    stage.plugin(1);
    stage.says(1, &[]);
    assert_eq!(all(&stage, Tail::Live), []);
    assert_eq!(all(&stage, Tail::Request), []);
}

#[test]
fn a_call_must_be_answered_before_the_next_message_that_is_no_result() {
    for next in ["person", "plugin", "assistant"] {
        let mut stage = Stage::new();
        let carrier = stage.says(1, &[("a", "x"), ("b", "x")]);
        stage.answer("a", 1);
        match next {
            "person" => stage.person(1),
            "plugin" => stage.plugin(1),
            _ => stage.says(1, &[]),
        };
        let late = stage.answer("b", 1);
        let expected = [(carrier, FaultKind::Unanswered), (late, FaultKind::Orphan)];
        assert_eq!(all(&stage, Tail::Live), expected, "{next}");
    }
}

#[test]
fn calls_open_at_the_end_are_a_fault_of_a_request_alone() {
    let mut stage = Stage::new();
    let carrier = stage.says(1, &[("a", "x"), ("b", "x")]);
    stage.answer("b", 1);
    assert_eq!(all(&stage, Tail::Live), []);
    assert_eq!(all(&stage, Tail::Request), [(carrier, FaultKind::Unanswered)]);
}

#[test]
fn a_second_answer_and_an_answer_to_nothing_are_orphans() {
    let mut stage = Stage::new();
    let lost = stage.answer("a", 1);
    stage.says(1, &[("a", "x")]);
    stage.answer("a", 1);
    let second = stage.answer("a", 1);
    assert_eq!(all(&stage, Tail::Request), [(lost, FaultKind::Orphan), (second, FaultKind::Orphan)]);
}

#[test]
fn two_calls_that_share_an_id_need_two_answers() {
    let mut stage = Stage::new();
    let carrier = stage.says(1, &[("z", "x"), ("z", "x")]);
    stage.answer("z", 1);
    assert_eq!(all(&stage, Tail::Request), [(carrier, FaultKind::Unanswered)]);
}

#[test]
fn an_empty_message_is_a_fault_and_one_that_derives_nothing_is_not_there() {
    let mut stage = Stage::new();
    let empty = stage.empty();
    stage.says(1, &[("a", "x")]);
    let absent = stage.says(0, &[]);
    stage.facts[absent as usize] |= ABSENT;
    stage.answer("a", 1);
    assert_eq!(all(&stage, Tail::Request), [(empty, FaultKind::Empty)]);
}
