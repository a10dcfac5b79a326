//! The one parser of the columns trusts none of them (docs/rewind.md 0, case R3).

use crate::stage::Stage;
use tool_rewind::error::Refusal;
use tool_rewind::surface::{Columns, Kind, Surface};

fn refused(columns: &Columns<'_>) -> u32 {
    match Surface::parse(columns) {
        Err(Refusal::CorruptSurface { seq }) => seq,
        other => panic!("expected a corrupt surface, got {other:?}"),
    }
}

fn sample() -> (Stage, [u32; 4]) {
    let mut stage = Stage::new();
    let person = stage.person(7);
    stage.log(2);
    let says = stage.says(11, &[("a", "read"), ("b", "bash")]);
    let result = stage.answer("b", 13);
    let memory = stage.memory(5);
    (stage, [person, says, result, memory])
}

#[test]
fn nodes_carry_their_facts_and_calls_in_model_order() {
    let (mut stage, [person, says, result, memory]) = sample();
    let surface = stage.surface();
    let seen: Vec<_> =
        surface.nodes().iter().map(|node| (node.seq, node.kind, node.chars, node.protected())).collect();
    assert_eq!(
        seen,
        [
            (person, Kind::User, 7, true),
            (says, Kind::Assistant, 11, false),
            (result, Kind::Result, 13, false),
            (memory, Kind::User, 5, true),
        ]
    );
    let calls = |at: usize| {
        surface.calls(&surface.nodes()[at]).iter().map(|call| (call.id, call.name)).collect::<Vec<_>>()
    };
    let [a, b, read, bash] = ["a", "b", "read", "bash"].map(|text| stage.id(text));
    assert_eq!(calls(1), [(a, read), (b, bash)]);
    assert_eq!(calls(2), [(b, 0)]);
    assert_eq!(calls(0), []);
}

#[test]
fn a_seq_that_the_log_does_not_have_is_named() {
    let (mut stage, _) = sample();
    stage.nodes.push(900);
    assert_eq!(refused(&stage.columns()), 900);
}

#[test]
fn a_seq_that_is_no_surface_event_is_named() {
    let (mut stage, _) = sample();
    stage.nodes.insert(1, 1);
    assert_eq!(refused(&stage.columns()), 1);
}

#[test]
fn each_column_that_ends_too_early_is_refused() {
    let (stage, [.., memory]) = sample();
    let short = memory as usize;
    let whole = stage.columns();
    assert_eq!(refused(&Columns { facts: &stage.facts[..short], ..whole }), memory);
    assert_eq!(refused(&Columns { chars: &stage.chars[..short], ..whole }), memory);
    assert_eq!(refused(&Columns { origins: &stage.origins[..short], ..whole }), memory);
    let result = short - 1;
    assert_eq!(refused(&Columns { calls: &stage.calls[..result], ..whole }) as usize, result);
}

#[test]
fn calls_outside_their_pool_are_refused() {
    let (mut stage, [_, says, result, _]) = sample();
    stage.calls[says as usize] = 5_000;
    assert_eq!(refused(&stage.columns()), says);
    stage.calls[says as usize] = u32::MAX;
    assert_eq!(refused(&stage.columns()), says);

    let (mut stage, _) = sample();
    let offset = stage.calls[says as usize] as usize;
    stage.pool[offset] = u32::MAX;
    assert_eq!(refused(&stage.columns()), says);

    let (mut stage, _) = sample();
    let offset = stage.calls[result as usize] as usize;
    for count in [0, 2] {
        stage.pool[offset] = count;
        stage.pool.extend([1, 0, 1, 0]);
        assert_eq!(refused(&stage.columns()), result);
    }
}

#[test]
fn a_call_id_larger_than_any_that_was_interned_is_refused_before_a_table_is_made_for_it() {
    let (mut stage, [_, says, ..]) = sample();
    let offset = stage.calls[says as usize] as usize;
    stage.pool[offset + 1] = u32::MAX;
    refused(&stage.columns());
}

#[test]
fn a_node_that_stands_twice_is_named() {
    let (mut stage, [person, ..]) = sample();
    stage.nodes.push(person);
    assert_eq!(refused(&stage.columns()), person);
}

#[test]
fn the_refusal_is_classified_and_names_the_seq() {
    let (mut stage, _) = sample();
    stage.nodes.push(900);
    let refusal = Surface::parse(&stage.columns()).unwrap_err();
    assert_eq!(refusal.code(), "UNBALANCED");
    assert!(refusal.to_string().contains("seq 900"), "{refusal}");
}
