use crate::build::{Gave, Session, tools};
use tool_rewind::prune::rules::{Verdict, Why, judge};

fn verdicts(session: &Session) -> Vec<Verdict> {
    judge(&session.view(), &tools())
}

fn of(session: &Session, seq: u32) -> (f64, Why) {
    let found = verdicts(session).into_iter().find(|one| one.seq == seq).unwrap();
    (found.need, found.why)
}

/// Steps that touch nothing, to bring distance between a result and the tail.
fn pad(session: &mut Session, steps: usize) {
    for at in 0..steps {
        session.step("bash", &format!(r#"{{"command":"true {at}"}}"#), "done");
    }
}

#[test]
fn case_q8_older_identical_calls_are_superseded_and_the_newest_stays() {
    let mut session = Session::default();
    let first = session.step("bash", r#"{"command":"git status","cwd":"."}"#, "same");
    session.step("edit", r#"{"path":"a.rs"}"#, "ok");
    let second = session.step("Bash", r#"{ "cwd": ".", "command": "git status" }"#, "same");
    let third = session.step("bash", r#"{"command":"git status","cwd":"."}"#, "same");
    assert_eq!(of(&session, first), (0.05, Why::Superseded));
    assert_eq!(of(&session, second), (0.05, Why::Superseded));
    assert_eq!(of(&session, third), (0.7, Why::Near));
}

#[test]
fn a_repeat_that_failed_or_is_open_replaces_nothing() {
    let mut session = Session::default();
    let first = session.step("read", r#"{"path":"src/a.rs"}"#, "text");
    session.step("read", r#"{"path":"src/a.rs"}"#, Gave::Error("timed out"));
    session.head("", "", &[("open", "read", r#"{"path":"src/a.rs"}"#)]);
    // Nor does the repeat make its path reappear.
    assert_eq!(of(&session, first), (0.7, Why::Near));
}

#[test]
fn an_old_read_of_a_file_written_later_is_stale() {
    let mut session = Session::default();
    let read = session.step("read", r#"{"path":"./src/a.rs"}"#, "text");
    let other = session.step("read", r#"{"path":"src/b.rs"}"#, "text");
    session.step("edit", r#"{"file_path":"src/a.rs","old_string":"x"}"#, "ok");
    assert_eq!(of(&session, read), (0.1, Why::Rewritten));
    assert_eq!(of(&session, other).1, Why::Near);
}

#[test]
fn the_first_rule_in_the_list_wins() {
    let mut session = Session::default();
    let failed = session.step("read", r#"{"path":"src/a.rs"}"#, Gave::Error("no such file"));
    let kept = session.step("grep", r#"{"pattern":"x"}"#, Gave::Error("bad pattern"));
    session.step("read", r#"{"path":"src/a.rs"}"#, "now it is there");
    assert_eq!(of(&session, failed), (0.05, Why::Superseded));
    assert_eq!(of(&session, kept), (0.9, Why::Failed));
}

#[test]
fn a_path_or_two_identifiers_that_reappear_mean_use() {
    let mut session = Session::default();
    let path = session.step("read", r#"{"path":"src/lex.rs"}"#, "nothing special");
    let names = session.step("grep", r#"{"pattern":"fn"}"#, "parse_token and emitNode and other words");
    let once = session.step("grep", r#"{"pattern":"fnx"}"#, "parse_token parse_token alone");
    pad(&mut session, 6);
    session.head("src/lex.rs:12 calls parse_token before emitNode.", "", &[]);
    assert_eq!(of(&session, path), (0.8, Why::Reused));
    assert_eq!(of(&session, names), (0.8, Why::Reused));
    assert_eq!(of(&session, once).1, Why::Distance);
}

#[test]
fn arguments_count_as_words_and_windows_paths_as_paths() {
    let mut session = Session::default();
    let read = session.step("read", r#"{"path":"C:\\src\\a b.rs"}"#, "text");
    pad(&mut session, 6);
    session.step("bash", r#"{"command":"type","file":"C:/src/a b.rs"}"#, "text");
    assert_eq!(of(&session, read), (0.8, Why::Reused));
}

#[test]
fn distance_decays_to_a_floor() {
    let mut session = Session::default();
    let far = session.step("read", r#"{"path":"a"}"#, "text");
    pad(&mut session, 20);
    let four = session.step("read", r#"{"path":"b"}"#, "text");
    pad(&mut session, 1);
    let three = session.step("read", r#"{"path":"c"}"#, "text");
    session.step("read", r#"{"path":"d"}"#, "text");
    session.step("read", r#"{"path":"e"}"#, "text");
    session.head("done", "", &[]);
    assert_eq!(of(&session, three), (0.7, Why::Near));
    assert_eq!(of(&session, far), (0.15, Why::Distance));
    let (need, why) = of(&session, four);
    assert_eq!(why, Why::Distance);
    assert!((need - 0.6 * 0.9_f64.powi(5)).abs() < 1e-12, "{need}");
}

#[test]
fn effect_follows_the_class_of_the_tool() {
    let mut session = Session::default();
    session.step("read", "{}", "text");
    session.step("bash", "{}", "text");
    session.step("multi_edit", "{}", "text");
    let effects: Vec<f64> = verdicts(&session).iter().map(|one| one.effect).collect();
    assert_eq!(effects, [0.02, 0.6, 0.98]);
}

#[test]
fn an_earlier_cut_hides_no_identifier() {
    let mut session = Session::default();
    let read = session.step("read", r#"{"path":"a"}"#, "head parse_token middle emitNode tail");
    let cut = session.rewrite(read, "head\n\n[… 9 characters cut by prune; whole text at s2 …]\n\ntail");
    pad(&mut session, 5);
    session.head("parse_token feeds emitNode", "", &[]);
    assert_eq!(of(&session, cut), (0.8, Why::Reused));
}
