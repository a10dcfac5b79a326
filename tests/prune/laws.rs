//! What holds for any surface and any verdict.

use crate::build::{Session, evidence, tools};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tool_rewind::prune::ranges::{Gates, Receipt, plan_receipts};
use tool_rewind::prune::receipt::{Language, Style};
use tool_rewind::prune::rules::judge;
use tool_rewind::surface::{Columns, Surface};
use tool_rewind::wire::{Fault, Tail, faults};

#[derive(Debug, Clone)]
enum Move {
    User(String),
    /// Calls with a tool, whether the result comes, and its text.
    Step(String, Vec<(String, bool, String)>),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let tool = prop_oneof![Just("read"), Just("grep"), Just("bash"), Just("edit")].prop_map(str::to_owned);
    let text = prop_oneof![
        Just("x".repeat(3_000)),
        Just("y".repeat(2_100)),
        Just(format!("TypeError {}", "z".repeat(3_000))),
        "[a-z\\n· ]{0,40}",
    ];
    let call = (tool, prop::bool::weighted(0.95), text.clone());
    let step = ("[a-z\\n]{0,20}", prop::collection::vec(call, 0..4))
        .prop_map(|(text, calls)| Move::Step(text, calls));
    prop::collection::vec(prop_oneof![1 => text.prop_map(Move::User), 6 => step], 1..25)
}

fn session(moves: &[Move], reuse_ids: bool) -> Session {
    let mut session = Session::default();
    for (turn, one) in moves.iter().enumerate() {
        match one {
            Move::User(text) => {
                session.user(text);
            }
            Move::Step(text, calls) => {
                let id = |at: usize| if reuse_ids { format!("call_{at}") } else { format!("c{turn}_{at}") };
                let ids: Vec<String> = (0..calls.len()).map(id).collect();
                let heads: Vec<(&str, &str, &str)> = ids
                    .iter()
                    .zip(calls)
                    .map(|(id, call)| (id.as_str(), call.0.as_str(), r#"{"path":"a"}"#))
                    .collect();
                session.head(text, "", &heads);
                for (id, call) in ids.iter().zip(calls).rev().filter(|(_, call)| call.1) {
                    session.result(id, call.2.as_str());
                }
            }
        }
    }
    session
}

fn wire_faults(surface: &[Value]) -> BTreeSet<(u32, String)> {
    let mut ids: Vec<String> = Vec::new();
    let mut intern = |id: &str| {
        let at = ids.iter().position(|known| known == id).unwrap_or_else(|| {
            ids.push(id.to_owned());
            ids.len() - 1
        });
        u32::try_from(at).unwrap()
    };
    let (mut facts, mut calls, mut pool) = (Vec::new(), Vec::new(), Vec::new());
    for event in surface {
        calls.push(u32::try_from(pool.len()).unwrap());
        match event["type"].as_str().unwrap() {
            "user/message" => facts.push(1),
            "assistant/message" => {
                facts.push(2);
                let all = event["data"]["message"]["content"].as_array().unwrap();
                let own: Vec<u32> =
                    all.iter().filter_map(|block| block["id"].as_str()).map(&mut intern).collect();
                pool.push(u32::try_from(own.len()).unwrap());
                pool.extend(own.iter().flat_map(|id| [*id, 0]));
            }
            _ => {
                facts.push(3);
                pool.extend([1, intern(event["data"]["message"]["source"]["callId"].as_str().unwrap()), 0]);
            }
        }
    }
    let nodes: Vec<u32> = (0..u32::try_from(surface.len()).unwrap()).collect();
    let zeros = vec![0; surface.len()];
    let columns =
        Columns { nodes: &nodes, facts: &facts, chars: &zeros, origins: &zeros, calls: &calls, pool: &pool };
    let parsed = Surface::parse(&columns).unwrap();
    let seq = |fault: &Fault| u32::try_from(surface[fault.seq as usize]["seq"].as_u64().unwrap()).unwrap();
    faults(&parsed, parsed.nodes().iter(), Tail::Live)
        .iter()
        .map(|fault| (seq(fault), format!("{:?}", fault.kind)))
        .collect()
}

/// The surface after every receipt of a plan landed.
fn landed(surface: &[Value], receipts: &[Receipt]) -> Vec<Value> {
    let mut after = surface.to_vec();
    let place = |after: &[Value], seq: u32| after.iter().position(|event| event["seq"] == seq).unwrap();
    for receipt in receipts {
        match receipt {
            Receipt::Full { seqs, text, .. } => {
                let (start, end) = (place(&after, seqs[0]), place(&after, *seqs.last().unwrap()));
                assert_eq!(end - start + 1, seqs.len(), "a receipt takes nodes that stand side by side");
                let message = json!({ "seq": 90_000 + seqs[0], "type": "user/message",
                    "data": { "content": [{ "type": "text", "text": text }] } });
                after.splice(start..=end, [message]);
            }
            Receipt::Partial { bodies } => {
                for body in bodies {
                    let at = place(&after, body.seq);
                    after[at]["data"]["message"]["content"][0]["content"] =
                        json!([{ "type": "text", "text": body.text }]);
                }
            }
        }
    }
    after
}

proptest! {
    #[test]
    fn receipts_are_disjoint_ordered_balanced_and_add_no_wire_fault(
        moves in moves(), reuse_ids in any::<bool>(), skip in 1usize..4,
    ) {
        let session = session(&moves, reuse_ids);
        let view = session.view();
        let eligible: Vec<u32> = view.results().map(|(_, node, _)| node.seq).enumerate()
            .filter(|(at, _)| at % skip == 0).map(|(_, seq)| seq).collect();
        let gates = Gates { preserve_recent: 1, max_text_chars: 1200, max_reasoning_chars: 4000, min_chars: 1000,
            evidence_guard: true };
        let style = Style { language: Language::Zh, arg_chars: 120, text_chars: 400, framed: false };
        let plan = plan_receipts(&view, &eligible, &gates, &tools(), &evidence(), &style);
        prop_assert_eq!(&plan_receipts(&session.view(), &eligible, &gates, &tools(), &evidence(), &style), &plan);

        let places: Vec<usize> = plan.receipts.iter().flat_map(|receipt| match receipt {
            Receipt::Full { seqs, .. } => seqs.clone(),
            Receipt::Partial { bodies } => bodies.iter().map(|body| body.seq).collect(),
        }).map(|seq| view.nodes.iter().position(|node| node.seq == seq).unwrap()).collect();
        prop_assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "disjoint and in order");

        // The law of every edit: no fault that was not there, and none inside what was moved.
        let before = wire_faults(&session.surface);
        let after = wire_faults(&landed(&session.surface, &plan.receipts));
        prop_assert!(after.is_subset(&before), "{after:?} after {before:?}");

        // No evidence is ever moved, and nothing outside the eligible.
        for (_, node, outcome) in view.results() {
            let moved = places.iter().any(|place| view.nodes[*place].seq == node.seq);
            if moved {
                prop_assert!(eligible.contains(&node.seq));
                prop_assert!(!outcome.body.iter().flatten().any(|text| text.contains("TypeError")));
            }
        }
        // Every result is either moved or counted as staying.
        let moved = plan.receipts.iter().map(|receipt| match receipt {
            Receipt::Full { seqs, .. } => seqs.iter().filter(|seq| view.results().any(|one| one.1.seq == **seq)).count(),
            Receipt::Partial { bodies } => bodies.len(),
        }).sum::<usize>();
        prop_assert_eq!(moved + plan.stays.values().sum::<usize>(), view.results().count());
    }

    #[test]
    fn rules_judge_every_result_once_in_order(moves in moves(), reuse_ids in any::<bool>()) {
        let session = session(&moves, reuse_ids);
        let view = session.view();
        let verdicts = judge(&view, &tools());
        let seqs: Vec<u32> = view.results().map(|(_, node, _)| node.seq).collect();
        prop_assert_eq!(verdicts.iter().map(|one| one.seq).collect::<Vec<_>>(), seqs);
        prop_assert!(verdicts.iter().all(|one| (0.0..=1.0).contains(&one.need) && (0.0..=1.0).contains(&one.effect)));
        prop_assert_eq!(judge(&session.view(), &tools()), verdicts);
    }
}
