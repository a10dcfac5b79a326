//! Laws over generated surfaces: whatever stands there, no edit adds a wire fault, at no step, and every
//! request is valid (docs/rewind.md 0, 2.2, 3.3).

use crate::stage::Stage;
use proptest::prelude::*;
use tool_rewind::plan::{Edit, RequestPlan};
use tool_rewind::surface::{Kind, Node, Surface};
use tool_rewind::wire::{Fault, Tail, faults};

const IDS: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone)]
enum Move {
    Person,
    Plugin,
    Memory,
    Says(Vec<u8>),
    /// Answers an open call by its index, if there is one.
    Answer(u8),
    /// A result for any id, open or not.
    Stray(u8),
    Mark,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        2 => Just(Move::Person),
        2 => Just(Move::Plugin),
        1 => Just(Move::Memory),
        8 => prop::collection::vec(0..3u8, 0..4).prop_map(Move::Says),
        16 => any::<u8>().prop_map(Move::Answer),
        1 => (0..3u8).prop_map(Move::Stray),
        2 => Just(Move::Mark),
    ];
    prop::collection::vec(one, 1..60)
}

fn play(moves: &[Move]) -> (Stage, u32) {
    let mut stage = Stage::new();
    let mut open: Vec<&str> = Vec::new();
    let mut mark = 0;
    for one in moves {
        match one {
            Move::Person => drop(stage.person(10)),
            Move::Plugin => drop(stage.plugin(10)),
            Move::Memory => drop(stage.memory(10)),
            Move::Says(ids) => {
                let calls: Vec<_> = ids.iter().map(|&id| (IDS[id as usize], "read")).collect();
                open = calls.iter().map(|&(id, _)| id).collect();
                stage.says(10, &calls);
            }
            Move::Answer(which) if !open.is_empty() => {
                let id = open.remove(*which as usize % open.len());
                stage.answer(id, 100);
            }
            Move::Answer(_) => stage.log(1),
            Move::Stray(id) => drop(stage.answer(IDS[*id as usize], 100)),
            Move::Mark => mark = stage.len(),
        }
    }
    (stage, mark)
}

/// The surface after each edit: runs become one user message, rewritten results keep their place.
fn states(surface: &Surface, edits: &[Edit<'_>]) -> Vec<Vec<Node>> {
    let mut nodes: Vec<Node> = surface.nodes().to_vec();
    edits
        .iter()
        .map(|edit| {
            if let Edit::Report { seqs } | Edit::Pointer { seqs } = edit {
                let at = nodes.iter().position(|node| node.seq == seqs[0]).unwrap();
                let run: Vec<u32> = nodes[at..at + seqs.len()].iter().map(|node| node.seq).collect();
                assert_eq!(run, *seqs, "an edit names one unbroken run");
                nodes.splice(at..at + seqs.len(), [Node::stand_in(seqs[0])]);
            }
            nodes.clone()
        })
        .collect()
}

fn all(surface: &Surface, nodes: &[Node], tail: Tail) -> Vec<Fault> {
    faults(surface, nodes.iter(), tail)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_surface_is_as_valid_after_every_step_as_it_was(moves in moves(), open_turn in any::<bool>()) {
        let (mut stage, mark) = play(&moves);
        let mut target = stage.target(mark);
        target.open_turn = open_turn;
        let surface = stage.surface();
        let Ok(plan) = tool_rewind::plan::Plan::new(&surface, &target) else { return Ok(()) };
        let before = all(&surface, surface.nodes(), Tail::Live);
        let edits = plan.edits();
        for state in states(&surface, &edits) {
            for fault in all(&surface, &state, Tail::Live) {
                prop_assert!(before.contains(&fault), "{fault:?} is new after {edits:?}");
            }
        }
        // What leaves the surface is younger than the mark, and no person's unless it is quoted.
        for seq in plan.segments().into_iter().flatten() {
            let node = surface.nodes().iter().find(|node| node.seq == *seq).unwrap();
            prop_assert!(node.origin >= mark);
            prop_assert!(!node.protected() || plan.quotes.contains(seq));
        }
        for seq in &plan.siblings {
            let node = surface.nodes().iter().find(|node| node.seq == *seq).unwrap();
            prop_assert!(node.origin >= mark && node.kind == Kind::Result);
        }
        prop_assert!(open_turn || plan.siblings.is_empty());
    }

    #[test]
    fn every_request_is_valid_and_holds_the_whole_region(moves in moves(), routed in any::<bool>()) {
        let (mut stage, mark) = play(&moves);
        let Ok(plan) = stage.plan(mark) else { return Ok(()) };
        let surface = stage.surface();
        let nodes = surface.nodes();
        let sent: Vec<Node> = match plan.request(&surface, routed, mark) {
            RequestPlan::Routed { cut, sent, tail } => {
                prop_assert!(routed && tail <= sent && sent <= cut);
                nodes[..cut].to_vec()
            }
            RequestPlan::Messages { seqs, tail } => {
                prop_assert!(tail <= seqs.len());
                seqs.iter().map(|seq| *nodes.iter().find(|node| node.seq == *seq).unwrap()).collect()
            }
            RequestPlan::Transcript { seqs } => {
                prop_assert!(plan.segments().into_iter().flatten().all(|seq| seqs.contains(seq)));
                return Ok(());
            }
        };
        prop_assert_eq!(all(&surface, &sent, Tail::Request), vec![]);
        for seq in plan.folded() {
            prop_assert!(sent.iter().any(|node| node.seq == seq), "{seq} is not sent");
        }
    }
}
