use crate::build::{Gave, Session};
use serde_json::json;
use tool_rewind::prune::marks::Mark;
use tool_rewind::prune::slice::marker;
use tool_rewind::prune::view::{Said, Step, View};

fn outcomes(session: &Session) -> Vec<(u32, String, usize)> {
    let view = session.view();
    view.results()
        .map(|(_, node, outcome)| (node.seq, view.call_of(outcome).unwrap().arguments.clone(), outcome.chars))
        .collect()
}

#[test]
fn case_d1_a_reused_id_pairs_by_occurrence() {
    let mut session = Session::default();
    for name in ["a", "b", "c"] {
        session.head("", "", &[("call_0", "read", name)]);
        session.result("call_0", name);
    }
    assert_eq!(outcomes(&session).iter().map(|one| one.1.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(session.view().steps.len(), 3);
}

#[test]
fn an_unanswered_call_lends_its_arguments_to_nobody() {
    let mut session = Session::default();
    session.head("", "", &[("x", "read", "never answered")]);
    session.user("go on");
    session.head("", "", &[("x", "read", "answered")]);
    session.result("x", "text");
    assert_eq!(outcomes(&session)[0].1, "answered");
    assert_eq!(session.view().steps, [Step { head: 2, results: 1 }]);
}

#[test]
fn case_d4_two_calls_of_one_id_are_no_step() {
    let mut session = Session::default();
    session.head("", "", &[("z", "read", "a"), ("z", "read", "b")]);
    session.result("z", "first");
    session.result("z", "second");
    assert_eq!(outcomes(&session).iter().map(|one| one.1.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(session.view().steps, []);
}

#[test]
fn case_l3_an_open_pair_is_no_step() {
    let mut session = Session::default();
    session.head("", "", &[("a", "read", "1"), ("b", "read", "2")]);
    session.result("a", "x");
    session.user("steer");
    session.result("b", "y");
    assert_eq!(session.view().steps, []);
    assert_eq!(outcomes(&session)[1].1, "2");
}

#[test]
fn input_25_completion_order_is_not_call_order() {
    let mut session = Session::default();
    session.head("", "", &[("a", "read", "1"), ("b", "grep", "2")]);
    session.result("b", "y");
    session.result("a", "x");
    assert_eq!(outcomes(&session).iter().map(|one| one.1.as_str()).collect::<Vec<_>>(), ["2", "1"]);
    assert_eq!(session.view().steps, [Step { head: 0, results: 2 }]);
}

#[test]
fn a_corrupt_surface_is_refused_by_seq() {
    let mut session = Session::default();
    session.user("task");
    session.step("read", "{}", "text");
    let orphan = session.result("nobody", "text");
    let refused = session.try_view().unwrap_err();
    assert_eq!(refused.code(), "CORRUPT_SURFACE");
    assert!(refused.to_string().contains(&format!("seq {orphan} is a tool result without an open call")));

    let mut twice = Session::default();
    twice.step("read", "{}", "text");
    let second = twice.result("c0", "again");
    assert!(twice.try_view().unwrap_err().to_string().contains(&format!("seq {second}")));

    let mut missing = Session::default();
    let first = missing.step("read", "{}", "text");
    let rewritten = missing.rewrite(first, "cut");
    missing.sources.clear();
    assert!(missing.try_view().unwrap_err().to_string().contains(&format!("seq {rewritten} replaces")));

    let mut log_only = Session::default();
    log_only.user("task");
    log_only.surface.push(json!({ "seq": 9, "type": "turn/start", "data": { "turn": 1 } }));
    assert!(log_only.try_view().unwrap_err().to_string().contains("seq 9"));
}

#[test]
fn a_chain_leads_to_the_original_through_every_rewrite() {
    let mut session = Session::default();
    let first = session.step("read", "{}", "the whole original");
    let cut = session.rewrite(first, &format!("the{}", marker(9, first)));
    let twice = session.rewrite(cut, &format!("th{}", marker(9, first)));
    let view = session.view();
    let (_, node, outcome) = view.results().next().unwrap();
    assert_eq!((node.seq, outcome.origin, outcome.origin_chars, outcome.mark), (twice, first, 18, Mark::Cut));
    assert_eq!(outcome.earlier.len(), 2);
    assert_eq!(outcome.earlier[1], [Some("the whole original".to_owned())]);
}

#[test]
fn blocks_that_are_no_text_keep_their_place() {
    let mut session = Session::default();
    let blocks = json!([{ "type": "text", "text": "a😀" }, { "type": "image", "attachment": {} }, { "type": "text", "text": "b" }]);
    session.step("read", "{}", Gave::Blocks(blocks));
    let view = session.view();
    let (_, _, outcome) = view.results().next().unwrap();
    assert_eq!(outcome.body, [Some("a😀".to_owned()), None, Some("b".to_owned())]);
    assert_eq!(outcome.chars, 3);
}

#[test]
fn a_lone_surrogate_counts_as_one_character() {
    let json = r#"[{"seq":0,"type":"user/message","surfaceOp":"append","data":{"content":[{"type":"text","text":"a\ud83d"}],"source":{"kind":"user"}}}]"#;
    let view = View::read(json, "[]", Vec::new()).unwrap();
    let Said::User { text, .. } = &view.nodes[0].said else { panic!() };
    assert_eq!(text, "a\u{FFFD}");
}

#[test]
fn texts_stand_beside_the_events_in_the_order_of_the_results() {
    let mut session = Session::default();
    let first = session.step("read", "{}", "");
    let cut = session.rewrite(first, "");
    session.rewrite(cut, "");
    session.step(
        "read",
        "{}",
        Gave::Blocks(
            json!([{ "type": "text", "text": "" }, { "type": "image" }, { "type": "text", "text": "" }]),
        ),
    );
    let read = |texts: &[&str]| {
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        View::read(&json!(session.surface).to_string(), &json!(session.sources).to_string(), texts)
    };
    let view = read(&["now", "before", "at first", "left", "right"]).unwrap();
    let bodies: Vec<_> = view.results().map(|(_, _, outcome)| outcome).collect();
    assert_eq!(bodies[0].body, [Some("now".to_owned())]);
    assert_eq!(bodies[0].earlier, [[Some("before".to_owned())], [Some("at first".to_owned())]]);
    assert_eq!(bodies[1].body, [Some("left".to_owned()), None, Some("right".to_owned())]);
    for wrong in [&["now"][..], &["1", "2", "3", "4", "5", "6"][..]] {
        assert_eq!(read(wrong).unwrap_err().code(), "UNREADABLE");
    }
}
