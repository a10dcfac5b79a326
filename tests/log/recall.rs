//! Recall over generated and hand-made sessions: every key, every refusal, and the law of pages.

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_rewind::event::{Body, Seq, parse_events, utf16_len};
use tool_rewind::recall::{Ask, Recall, Refusal};
use tool_rewind::replacements::{Calls, Replacements};

use crate::build::Log;

fn read(log: &Log) -> (Replacements, Calls<String>) {
    let (mut reader, mut calls) = (Replacements::default(), Calls::default());
    let json = Value::from(log.0.clone()).to_string();
    for event in parse_events(&json).unwrap() {
        let appended = event.op == Some(tool_rewind::event::SurfaceOp::Append);
        if let Some(op) = event.op {
            reader.apply(event.seq, op).unwrap();
        }
        match &event.body {
            Body::Assistant(_) if appended => {
                let ids = event.content().iter().filter_map(|block| match block {
                    tool_rewind::event::Block::ToolCall { id, .. } => Some(id.as_str().to_owned()),
                    _ => None,
                });
                calls.carrier(event.seq, ids);
            }
            Body::ToolCall(call) => calls.dispatch(event.seq, &call.call_id.as_str().to_owned()),
            Body::ToolResult(result) if appended => {
                calls.result(event.seq, &result.call_id.as_str().to_owned());
            }
            _ => {}
        }
    }
    (reader, calls)
}

fn recall(log: &Log, ask: &Ask, max_chars: usize) -> Result<String, Refusal> {
    let (reader, calls) = read(log);
    let mut recall = Recall::open(&reader, &calls, ask, log.0.len() as Seq, max_chars)?;
    loop {
        let events: Vec<Value> = recall.wants().iter().map(|seq| log.0[*seq as usize].clone()).collect();
        if events.is_empty() {
            return recall.close();
        }
        recall.read(&Value::from(events).to_string()).unwrap();
    }
}

fn seq(seq: i64) -> Ask {
    Ask { seq: Some(seq), ..Ask::default() }
}

fn pattern(pattern: &str) -> Ask {
    Ask { pattern: Some(pattern.to_owned()), ..Ask::default() }
}

fn path(path: &str) -> Ask {
    Ask { path: Some(path.to_owned()), ..Ask::default() }
}

/// `s0` task, `s1..s7` explored and folded into `s8`, `s9` words, `s10` a pruned result of `s11`, `s12` visible.
fn explored() -> Log {
    let mut log = Log::default();
    log.user("find the bug");
    let first = log.assistant(
        "I look.",
        &[("a", "read", json!({"path":"src/a.rs"})), ("b", "bash", json!({"command":"cargo test"}))],
    );
    log.call("a", "read");
    log.result("a", json!("append"), "fn main() {\n    let x = 1;\n}");
    log.call("b", "bash");
    let last = log.result("b", json!("append"), "error[E0308]: mismatched types\n --> src/b.rs:7:9");
    log.assistant("It is in b.", &[("a", "grep", json!({"pattern":"x","path":"src"}))]);
    let end = log.result("a", json!("append"), "src/a.rs:2: let x = 1;");
    log.replace(first, end, "report of mark 1: bug in b [s5]");
    let carrier = log.assistant("", &[("c", "read", json!({"path":"src/b.rs"}))]);
    let big = log.result("c", json!("append"), &format!("line one\n{}\nlast line", "x".repeat(900)));
    log.rewrite(big, "c", "[shortened]");
    assert_eq!((first, last, carrier, big), (1, 5, 9, 10));
    log
}

#[test]
fn a_seq_gives_the_originals_in_order_with_seq_tool_and_size() {
    insta::assert_snapshot!(recall(&explored(), &seq(8), 8_000).unwrap(), @r#"
    s1 assistant (50 chars)
    I look.
    call read {"path":"src/a.rs"}
    call bash {"command":"cargo test"}

    s3 read {"path":"src/a.rs"} (28 chars)
    fn main() {
        let x = 1;
    }

    s5 bash {"command":"cargo test"} (48 chars)
    error[E0308]: mismatched types
     --> src/b.rs:7:9

    s6 assistant (39 chars)
    It is in b.
    call grep {"path":"src","pattern":"x"}

    s7 grep {"path":"src","pattern":"x"} (22 chars)
    src/a.rs:2: let x = 1;
    "#);
}

#[test]
fn a_folded_node_its_call_event_and_a_rewritten_result_are_found() {
    let log = explored();
    insta::assert_snapshot!(recall(&log, &seq(5), 8_000).unwrap(), @r#"
    s5 bash {"command":"cargo test"} (48 chars)
    error[E0308]: mismatched types
     --> src/b.rs:7:9
    "#);
    assert_eq!(recall(&log, &seq(4), 8_000), recall(&log, &seq(5), 8_000));
    let rewritten = recall(&log, &seq(11), 8_000).unwrap();
    assert!(
        rewritten.starts_with("s10 read {\"path\":\"src/b.rs\"} (919 chars)\nline one\nxxx"),
        "{rewritten}"
    );
    assert_eq!(recall(&log, &seq(10), 8_000).unwrap(), rewritten);
}

#[test]
fn a_path_gives_the_calls_that_name_it_and_their_results() {
    insta::assert_snapshot!(recall(&explored(), &path("./src/a.rs"), 8_000).unwrap(), @r#"
    s1 assistant (50 chars)
    call read {"path":"src/a.rs"}

    s3 read {"path":"src/a.rs"} (28 chars)
    fn main() {
        let x = 1;
    }
    "#);
    let below = recall(&explored(), &path("src"), 600).unwrap();
    assert!(below.contains("s3 read") && below.contains("s7 grep") && !below.contains("s5"), "{below}");
}

#[test]
fn a_pattern_gives_matching_lines_by_node() {
    insta::assert_snapshot!(recall(&explored(), &pattern(r"let x|E0\d+|b\.rs"), 8_000).unwrap(), @r#"
    s3 read {"path":"src/a.rs"} (28 chars, 1 line matches)
    2:     let x = 1;

    s5 bash {"command":"cargo test"} (48 chars, 2 lines match)
    1: error[E0308]: mismatched types
    2:  --> src/b.rs:7:9

    s7 grep {"path":"src","pattern":"x"} (22 chars, 1 line matches)
    1: src/a.rs:2: let x = 1;
    "#);
    let both = Ask { path: Some("src/b.rs".to_owned()), ..pattern("line") };
    insta::assert_snapshot!(recall(&explored(), &both, 8_000).unwrap(), @r#"
    s10 read {"path":"src/b.rs"} (919 chars, 2 lines match)
    1: line one
    3: last line
    "#);
    let wide = recall(&explored(), &pattern("x{300}"), 8_000).unwrap();
    assert_eq!(wide.lines().last(), Some(format!("2: {}…", "x".repeat(320)).as_str()));
}

#[test]
fn replacements_of_replacements_are_followed() {
    let mut log = explored();
    let words = log.user("go on");
    let compacted = log.replace(0, words, "summary");
    let again = log.replace(compacted, compacted, "summary of the summary");
    let all = recall(&log, &seq(i64::from(again)), 8_000).unwrap();
    for head in ["s0 user", "s1 assistant", "s5 bash", "s7 grep", "s10 read", "s12 user (5 chars)"] {
        assert!(all.contains(head), "{head} in {all}");
    }
    assert_eq!(recall(&log, &seq(i64::from(compacted)), 8_000).unwrap(), all);
    assert!(!all.contains("report of mark") && !all.contains("[shortened]"));
    assert_eq!(recall(&log, &seq(8), 8_000).unwrap(), recall(&explored(), &seq(8), 8_000).unwrap());
}

#[test]
fn its_own_results_are_not_found_twice() {
    let mut log = explored();
    let carrier = log.assistant("", &[("r", "recall", json!({"pattern":"E0308"}))]);
    let own = log.result("r", json!("append"), "s5 bash\n1: error[E0308]: mismatched types");
    log.replace(carrier, own, "report of mark 2");
    let found = recall(&log, &pattern("E0308.*types"), 8_000).unwrap();
    assert_eq!(found.matches("mismatched").count(), 1);
    assert!(recall(&log, &seq(i64::from(own)), 8_000).unwrap().contains("E0308"));
}

#[test]
fn refusals_say_what_there_is() {
    let mut plain = Log::default();
    plain.user("hello");
    assert_eq!(recall(&plain, &seq(0), 8_000), Err(Refusal::NothingFolded));
    let log = explored();
    let said = |ask: &Ask| {
        let refusal = recall(&log, ask, 8_000).unwrap_err();
        format!("{}: {refusal}", refusal.code())
    };
    let texts = [
        said(&Ask::default()),
        said(&seq(12)),
        said(&seq(-1)),
        said(&seq(i64::MAX)),
        said(&seq(0)),
        said(&pattern("nowhere")),
        said(&Ask { seq: Some(8), ..path("src/c.rs") }),
        said(&pattern("(")),
        said(&pattern(r"(?=a)")),
        said(&pattern(r"\w{900}{900}")),
        said(&pattern("")),
        said(&path(" ./ ")),
        said(&Ask { offset: Some(-1), ..seq(8) }),
        said(&Ask { limit: Some(0), ..seq(8) }),
        said(&Ask { offset: Some(99_999), ..seq(8) }),
    ];
    insta::assert_snapshot!(texts.join("\n"), @r#"
    BAD_QUERY: Give a seq, a path or a pattern. There is: s8 for s1 to s7 (5 nodes), s11 for s10.
    NO_SUCH_SEQ: There is no seq 12: the log ends at seq 11. There is: s8 for s1 to s7 (5 nodes), s11 for s10.
    NO_SUCH_SEQ: There is no seq -1: the log ends at seq 11. There is: s8 for s1 to s7 (5 nodes), s11 for s10.
    NO_SUCH_SEQ: There is no seq 9223372036854775807: the log ends at seq 11. There is: s8 for s1 to s7 (5 nodes), s11 for s10.
    NOT_FOLDED: Seq 0 still stands in the conversation as it was. There is: s8 for s1 to s7 (5 nodes), s11 for s10.
    NO_MATCH: Nothing that was taken out matches pattern "nowhere". There is: s8 for s1 to s7 (5 nodes), s11 for s10.
    NO_MATCH: Nothing that was taken out matches seq 8 and path "src/c.rs". There is: s8 for s1 to s7 (5 nodes), s11 for s10.
    BAD_PATTERN: pattern cannot be used: found open group without closing ')' (no look-around, no back-references; escape brackets and dots)
    BAD_PATTERN: pattern cannot be used: look-around is not supported (no look-around, no back-references; escape brackets and dots)
    BAD_PATTERN: pattern cannot be used: compiled regex exceeded size limit (no look-around, no back-references; escape brackets and dots)
    BAD_QUERY: pattern is empty: leave it out, or say what to look for.
    BAD_QUERY: path is empty: leave it out, or say what to look for.
    BAD_QUERY: offset -1 is out of range: 0 to 4294967295.
    BAD_QUERY: limit 0 is out of range: 1 or more.
    BAD_QUERY: offset 99999 is past the end: there are 408 chars.
    "#);
}

#[test]
fn a_log_only_event_is_no_node() {
    let mut log = explored();
    let turn = log.push("turn/end", Value::Null, json!({ "turn": 1, "reason": { "kind": "completed" } }));
    let refusal = recall(&log, &seq(i64::from(turn)), 8_000).unwrap_err();
    assert_eq!((refusal.code(), refusal.to_string().contains("Seq 12 is no message")), ("NO_SUCH_SEQ", true));
}

#[test]
fn an_id_used_again_names_the_right_call() {
    let mut log = Log::default();
    log.assistant("", &[("call_0", "read", json!({"path":"lost"}))]);
    let first = log
        .assistant("", &[("call_0", "read", json!({"path":"a"})), ("call_0", "read", json!({"path":"b"}))]);
    log.result("call_0", json!("append"), "aaa");
    let last = log.result("call_0", json!("append"), "bbb");
    let report = log.replace(first, last, "report");
    let all = recall(&log, &seq(i64::from(report)), 8_000).unwrap();
    assert!(
        all.contains("{\"path\":\"a\"} (3 chars)\naaa") && all.contains("{\"path\":\"b\"} (3 chars)\nbbb"),
        "{all}"
    );
}

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(prop_oneof!["[a-z ]{0,30}", Just("😀文\n".to_owned()), "\\PC{0,20}"], 0..40)
        .prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn pages_together_are_the_whole(texts in prop::collection::vec(words(), 1..8), limit in 500usize..1_200) {
        let mut log = Log::default();
        for text in &texts {
            log.user(text);
        }
        let report = log.replace(0, texts.len() as Seq - 1, "report");
        let whole: Vec<u16> = recall(&log, &seq(i64::from(report)), usize::MAX).unwrap().encode_utf16().collect();
        let mut offset = 0;
        loop {
            let ask = Ask { offset: Some(offset as i64), limit: Some(limit as i64), ..seq(i64::from(report)) };
            let page = recall(&log, &ask, 8_000).unwrap();
            prop_assert!(utf16_len(&page) <= limit, "{} > {}", utf16_len(&page), limit);
            let (body, next) = match page.rsplit_once("\n[more: offset ") {
                Some((body, next)) => (body, next.trim_end_matches(']').parse::<usize>().unwrap()),
                None => (page.as_str(), whole.len()),
            };
            prop_assert!(next > offset || next == whole.len());
            let slice = String::from_utf16(&whole[offset..next.min(whole.len())]).unwrap();
            let body = match body.split_once(", continued\n") {
                Some((head, body)) if head.starts_with('s') && !head.contains('\n') => body,
                _ => body,
            };
            prop_assert_eq!(body.trim_matches('\n'), slice.trim_matches('\n'));
            if next >= whole.len() {
                break;
            }
            offset = next;
        }
    }

    #[test]
    fn no_pattern_panics(text in "\\PC{0,60}") {
        let _ = recall(&explored(), &pattern(&text), 8_000);
    }
}
