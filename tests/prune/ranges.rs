use crate::build::{Gave, Session, evidence, tools};
use serde_json::json;
use tool_rewind::prune::ranges::{
    BodyReceipt, Gates, Limits, Plan, Price, Receipt, Stays, admit, plan_receipts,
};
use tool_rewind::prune::receipt::{Language, Style};
use tool_rewind::prune::slice::marker;

const STYLE: Style = Style { language: Language::En, arg_chars: 120, text_chars: 400, framed: false };
const GATES: Gates = Gates {
    preserve_recent: 1,
    max_text_chars: 1200,
    max_reasoning_chars: 4000,
    min_chars: 2000,
    evidence_guard: true,
};

fn long(word: &str) -> String {
    format!("{word} ").repeat(800)
}

fn plan_with(session: &Session, gates: &Gates) -> Plan {
    let view = session.view();
    let eligible: Vec<u32> = {
        let mut seqs: Vec<u32> = view.results().map(|(_, node, _)| node.seq).collect();
        seqs.sort_unstable();
        seqs
    };
    plan_receipts(&view, &eligible, gates, &tools(), &evidence(), &STYLE)
}

fn plan(session: &Session) -> Plan {
    plan_with(session, &GATES)
}

fn full_seqs(plan: &Plan) -> Vec<Vec<u32>> {
    plan.receipts
        .iter()
        .filter_map(|one| if let Receipt::Full { seqs, .. } = one { Some(seqs.clone()) } else { None })
        .collect()
}

fn partial_seqs(plan: &Plan) -> Vec<Vec<u32>> {
    plan.receipts
        .iter()
        .filter_map(|one| match one {
            Receipt::Partial { bodies } => Some(bodies.iter().map(|body| body.seq).collect()),
            Receipt::Full { .. } => None,
        })
        .collect()
}

fn read_then_tail(text: &str) -> Session {
    let mut session = Session::default();
    session.user("task");
    session.step("read", r#"{"path":"a"}"#, text);
    session.user("next");
    session
}

#[test]
fn adjacent_steps_merge_and_others_do_not() {
    let mut session = Session::default();
    session.user("task");
    let one = session.step("read", r#"{"path":"a"}"#, long("alpha").as_str());
    let two = session.step("grep", r#"{"pattern":"b"}"#, long("beta").as_str());
    session.user("go on");
    let three = session.step("glob", r#"{"pattern":"c"}"#, long("gamma").as_str());
    session.step("bash", r#"{"command":"ls"}"#, long("delta").as_str());
    let found = plan(&session);
    assert_eq!(full_seqs(&found), [vec![one - 2, one, two - 2, two], vec![three - 2, three]]);
    assert_eq!(found.stays.get(&Stays::Tail), Some(&1));
}

#[test]
fn input_23_evidence_that_layer_one_cut_away_still_guards() {
    let mut session = Session::default();
    let seq =
        session.step("read", r#"{"path":"a"}"#, format!("{}\nit failed\n{}", long("a"), long("b")).as_str());
    session.rewrite(seq, &format!("{}{}{}", long("a"), marker(900, seq), long("b")));
    session.user("next");
    let found = plan(&session);
    assert_eq!(found.receipts, []);
    assert_eq!(found.stays.get(&Stays::Evidence), Some(&1));
    let open = plan_with(&session, &Gates { evidence_guard: false, ..GATES });
    assert_eq!(open.receipts.len(), 1);
}

#[test]
fn input_24_shells_stay_and_deny_wins() {
    for tool in ["bash", "pwsh", "run_code", "Edit", "multi_edit", "unheard_of"] {
        let mut session = Session::default();
        session.step(tool, "{}", long("text").as_str());
        session.user("next");
        assert_eq!(plan(&session).stays.get(&Stays::Tool), Some(&1), "{tool}");
    }
}

#[test]
fn input_25_a_mixed_batch_becomes_partial() {
    let mut session = Session::default();
    let ids: Vec<String> = (0..6).map(|at| format!("p{at}")).collect();
    let calls: Vec<(&str, &str, &str)> =
        ids.iter().map(|id| (id.as_str(), "read", r#"{"path":"a"}"#)).collect();
    session.head("", "", &calls);
    let mut seqs = Vec::new();
    for id in ids.iter().rev() {
        let text = if id == "p2" { format!("{}TypeError: x", long("w")) } else { long("w") };
        seqs.push((id.clone(), session.result(id, text.as_str())));
    }
    session.user("next");
    let found = plan(&session);
    let five: Vec<u32> = seqs.iter().filter(|one| one.0 != "p2").map(|one| one.1).collect();
    assert_eq!(partial_seqs(&found), [five]);
    assert_eq!(full_seqs(&found), Vec::<Vec<u32>>::new());
    assert_eq!(found.stays.get(&Stays::Evidence), Some(&1));
}

#[test]
fn input_26_text_and_reasoning_are_measured_apart() {
    let step = |text: usize, reasoning: usize| {
        let mut session = Session::default();
        session.head(&"t".repeat(text), &"😀".repeat(reasoning), &[("c", "read", "{}")]);
        session.result("c", long("word").as_str());
        session.user("next");
        plan(&session)
    };
    assert_eq!(step(10, 3999).receipts.len(), 1);
    assert_eq!(step(1200, 4000).receipts.len(), 1);
    assert_eq!(step(1201, 0).stays.get(&Stays::Text), Some(&1));
    assert_eq!(step(0, 4001).stays.get(&Stays::Reasoning), Some(&1));
}

#[test]
fn input_27_a_batch_half_in_the_tail_is_partial() {
    let mut session = Session::default();
    session.head("", "", &[("a", "read", "1"), ("b", "read", "2"), ("c", "read", "3")]);
    let seqs: Vec<u32> = ["a", "b", "c"].iter().map(|id| session.result(id, long("text").as_str())).collect();
    let found = plan(&session);
    assert_eq!(partial_seqs(&found), [seqs[..2].to_vec()]);
    assert_eq!(found.stays.get(&Stays::Tail), Some(&1));
}

#[test]
fn input_28_a_receipt_is_not_taken_again() {
    let mut session = Session::default();
    session.head("", "", &[("a", "read", "1"), ("b", "bash", "2")]);
    let read = session.result("a", long("text").as_str());
    session.result("b", long("text").as_str());
    session.user("next");
    let first = plan(&session);
    let [Receipt::Partial { bodies }] = first.receipts.as_slice() else { panic!("{first:?}") };
    session.rewrite(read, &bodies[0].text);
    let second = plan(&session);
    assert_eq!(second.receipts, []);
    assert_eq!(second.stays.get(&Stays::Rewritten), Some(&1));
}

#[test]
fn a_person_who_types_the_marker_forges_nothing() {
    let session = read_then_tail(&format!("[compacted · deterministic receipt] {}", long("text")));
    assert_eq!(plan(&session).receipts.len(), 1);
}

#[test]
fn a_fold_report_in_a_result_is_never_taken() {
    let mut session = read_then_tail(&long("text"));
    let seq = session.view().results().next().unwrap().1.seq;
    session.rewrite(seq, &format!("[rewind report of mark 1]\n{}", long("finding")));
    assert_eq!(plan(&session).stays.get(&Stays::Rewritten), Some(&1));
}

#[test]
fn failures_images_and_strange_heads_stay() {
    let mut failed = Session::default();
    failed.step("read", "{}", Gave::Error(&long("text")));
    failed.user("next");
    assert_eq!(plan(&failed).stays.get(&Stays::Failed), Some(&1));

    let mut image = Session::default();
    image.step(
        "read",
        "{}",
        Gave::Blocks(json!([{ "type": "text", "text": long("t") }, { "type": "image" }])),
    );
    image.user("next");
    assert_eq!(plan(&image).stays.get(&Stays::Unreadable), Some(&1));

    let mut strange = read_then_tail(&long("text"));
    strange.surface[1]["data"]["message"]["content"].as_array_mut().unwrap().push(json!({ "type": "image" }));
    assert_eq!(plan(&strange).stays.get(&Stays::HeadContent), Some(&1));
}

#[test]
fn too_little_is_left_alone() {
    let session = read_then_tail(&"x".repeat(2_300));
    assert_eq!(plan(&session).stays.get(&Stays::MinChars), Some(&1));
    assert_eq!(plan(&read_then_tail(&"x".repeat(2_700))).receipts.len(), 1);
}

#[test]
fn case_q9_no_orphan_is_made_at_the_tail() {
    let mut session = Session::default();
    session.step("read", "{}", long("text").as_str());
    session.head("", "", &[("b", "read", "2"), ("c", "read", "3")]);
    let inside = session.result("b", long("text").as_str());
    session.result("c", long("text").as_str());
    let found = plan(&session);
    assert_eq!(full_seqs(&found), [vec![0, 2]]);
    assert_eq!(partial_seqs(&found), [vec![inside]]);
}

fn body(saved: i64) -> BodyReceipt {
    BodyReceipt { seq: 1, text: String::new(), saved }
}

#[test]
fn the_ratio_is_in_tokens_and_the_cap_counts_steps() {
    let full = |saved| Receipt::Full { seqs: vec![], text: String::new(), saved };
    let partial = Receipt::Partial { bodies: vec![body(1500), body(1500)] };
    let receipts = [full(3000), partial.clone(), full(3000), full(3000)];
    let price = |landed: f64| Price { landed, shadowed: 100.0 };
    let limits = Limits { max_ratio: 0.5, min_chars: 2000, max_receipts: 3 };
    let all = [price(50.0), price(10.0), price(10.0), price(10.0), price(10.0)];
    assert_eq!(admit(&receipts, &all, &limits), [0, 1, 2, 3]);
    let dear = [price(50.1), price(10.0), price(10.0), price(10.0), price(10.0)];
    assert_eq!(admit(&receipts, &dear, &limits), [1, 2, 3, 4]);
    // A body that costs too much leaves its step, and what is left of it frees too little.
    let half = [price(10.0), price(90.0), price(10.0), price(10.0), price(10.0)];
    assert_eq!(admit(&receipts, &half, &limits), [0, 3, 4]);
    assert_eq!(admit(&[partial], &[price(f64::NAN), price(1.0)], &limits), Vec::<usize>::new());
}
