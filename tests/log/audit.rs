//! The audit of whole logs: what it counts, what it says of replacements, and what it objects to.

use crate::build::Log;
use crate::promises::{folded, price};
use serde_json::{Value, json};
use std::io::Cursor;
use std::num::NonZero;
use tool_rewind::audit::{Audit, Code, LogAudit, Size};

pub(crate) fn audit(bytes: Vec<u8>) -> LogAudit {
    let one = run(bytes.clone(), 1);
    // However many threads read, the same log gives the same audit.
    let three = run(bytes, 3);
    assert_eq!(serde_json::to_string(&one).unwrap(), serde_json::to_string(&three).unwrap());
    one
}

pub(crate) fn run(bytes: Vec<u8>, threads: usize) -> LogAudit {
    let audit = Audit { threads: NonZero::new(threads).unwrap() };
    audit.run("log", Cursor::new(bytes), |_| ()).unwrap()
}

pub(crate) fn codes(audit: &LogAudit) -> Vec<(Code, Option<u64>)> {
    audit.findings.iter().map(|finding| (finding.code, finding.line)).collect()
}

pub(crate) fn path(path: &str) -> Value {
    json!({ "path": path })
}

#[test]
fn marks_that_programs_took_are_listed() {
    let ended = |content: &str, error: bool, arguments: Value| {
        json!({ "rootCallId": "p", "parentCallId": "p", "subCallId": "p/1", "name": "set_mark",
            "arguments": arguments, "isError": error, "content": [{ "type": "text", "text": content }] })
    };
    let log = |ended: Value| {
        let mut log = Log::default();
        log.assistant("", &[("p", "run_code", json!({}))]);
        log.push(
            "tool/code-dispatch-start",
            Value::Null,
            json!({ "rootCallId": "p", "parentCallId": "p", "subCallId": "p/1", "name": "set_mark",
                "arguments": {} }),
        );
        log.push("tool/code-dispatch", Value::Null, ended);
        let program = log.result("p", json!("append"), "1");
        let words = log.assistant("explored", &[]);
        log.cited("rewind", &[program, words], "report", json!({ "markId": 7 }));
        audit(log.bytes())
    };
    let head = "[checkpoint mark 7] is set.";
    let marked = log(ended(head, false, json!({ "objective": " find it " })));
    let mark = &marked.marks[0];
    assert_eq!((mark.id.as_str(), mark.seq, mark.log_length, mark.report), ("7", 2, 2, Some(5)));
    assert_eq!(mark.objective.as_deref(), Some("find it"));
    let taken = "The fold of mark 7 takes s3, the result that states the mark.";
    assert_eq!(marked.findings[0].message, taken, "the pair of the program stays");
    for none in [
        ended(head, true, json!({})),
        ended("the file says [checkpoint mark 7]", false, json!({})),
        ended("[checkpoint mark x]", false, json!({})),
        ended(head, false, json!({ "path": "a file that begins so" })),
    ] {
        assert_eq!(log(none).marks, []);
    }
}

#[test]
fn a_discarded_mark_takes_the_unfolded_ones_before_it_along() {
    let mut log = Log::default();
    let mut last = 0;
    for id in 1..4 {
        log.assistant("", &[("cp", "checkpoint", json!({}))]);
        last = log.mark(id, "cp");
        if id == 1 {
            let words = log.assistant("explored", &[]);
            log.cited("rewind", &[words], "report", json!({ "markId": 1 }));
        }
    }
    log.push("command/run", Value::Null, json!({ "commandId": "c", "name": "rewind", "args": "discard" }));
    let done = json!({ "commandId": "c", "kind": "success", "sourceEventSeq": last });
    log.push("command/done", Value::Null, done);
    let fates: Vec<_> =
        audit(log.bytes()).marks.iter().map(|mark| (mark.report.is_some(), mark.discarded)).collect();
    assert_eq!(fates, [(true, false), (false, true), (false, true)]);
}

#[test]
fn a_report_in_a_result_is_a_fold_and_a_look_alike_is_not() {
    let mut log = Log::default();
    log.assistant("", &[("cp", "checkpoint", json!({})), ("a", "read", path("a")), ("b", "read", path("b"))]);
    log.mark(1, "cp");
    let a = log.result("a", json!("append"), &"a".repeat(200));
    let b = log.result("b", json!("append"), &"b".repeat(200));
    log.rewritten(b, "[rewind report of mark 1]\nboth are short");
    log.rewritten(a, "[result folded; see the rewind report of mark 1 below]");
    log.assistant("", &[("rw", "rewind", json!({})), ("x", "read", path("x"))]);
    let result = log.result("rw", json!("append"), "Folded 2 steps");
    log.0[result as usize]["data"]["meta"] =
        json!({ "markId": 1, "foldedNodes": 2, "start": a, "end": b, "foldedChars": 400, "reportChars": 94 });
    let x = log.result("x", json!("append"), "a file that quotes");
    log.rewritten(x, "[rewind report of mark 1] is how one begins");
    let audit = audit(log.bytes());
    let makers: Vec<_> = audit.replacements.iter().map(|one| (one.by.as_str(), one.seq)).collect();
    assert_eq!(makers, [("rewind report", 4), ("rewind sibling", 5), ("rewind report", 9)]);
    assert_eq!(audit.folds.len(), 1);
    assert_eq!((audit.folds[0].report, audit.folds[0].nodes, audit.folds[0].chars), (4, 2, 400));
    assert_eq!(audit.marks[0].report, Some(4));
    assert_eq!(audit.findings, []);
}

#[test]
fn persons_messages_that_are_shadowed_are_listed_and_lost_words_of_ours_are_named() {
    let quotes = json!({ "quotes": ["only in staging!"], "markId": 1 });
    let image = json!({ "quotes": ["[image: a.png, image/png]\nonly in staging!"], "markId": 1 });
    for (plugin, text, more, carried) in [
        ("somebody", "summary", json!({}), None),
        ("compact", "summary", json!({}), Some(false)),
        ("compact", "they said: only in staging!", json!({}), Some(true)),
        ("rewind", "report", quotes, Some(true)),
        ("rewind", "report", image, Some(true)),
        ("rewind", "report\n> only in staging!", json!({ "markId": 1 }), Some(true)),
        ("rewind", "report", json!({ "markId": 1 }), Some(false)),
        ("turn-memory", "<user-steer:1>only in staging!</user-steer:1>", json!({}), Some(true)),
        ("turn-memory", "only in production!", json!({}), Some(false)),
    ] {
        let mut log = Log::default();
        let person = log.user("only in staging!");
        let by = log.cited(plugin, &[person], text, more);
        let audit = audit(log.bytes());
        let shadowed = audit.shadowed_persons[0];
        assert_eq!((shadowed.seq, shadowed.by, shadowed.carried), (person, by, carried), "{plugin}: {text}");
        let lost = carried == Some(false) && plugin != "compact";
        assert_eq!(codes(&audit).contains(&(Code::WordsLost, Some(3))), lost, "{plugin}: {text}");
    }
}

#[test]
fn the_first_request_that_a_provider_refuses_and_who_made_it() {
    let mut log = Log::default();
    log.user("go");
    let carrier = log.assistant("", &[("a", "read", path("a"))]);
    log.result("a", json!("append"), "aaa");
    log.assistant("fine", &[]);
    let by = log.cited("bad-plugin", &[carrier], "cut the call, left the result", json!({}));
    log.user("more");
    log.assistant("refused by then", &[]);
    log.assistant("and again", &[]);
    let audit = audit(log.bytes());
    assert_eq!((audit.requests.count, audit.requests.refused), (4, 2));
    let first = audit.requests.first.unwrap();
    assert_eq!((first.request, first.line, first.seq, first.made_by), (3, 8, 2, Some(by)));
    assert_eq!(first.fault, "result without its call");
    assert_eq!(codes(&audit), [(Code::WireFault, Some(8))]);
    assert!(!audit.findings[0].ours);
}

#[test]
fn a_result_that_comes_after_its_call_was_taken_is_the_takers_fault() {
    let mut log = Log::default();
    let carrier = log.assistant("", &[("a", "read", path("a"))]);
    let by = log.cited("rewind", &[carrier], "report", json!({ "markId": 9 }));
    log.result("a", json!("append"), "aaa");
    log.assistant("refused", &[]);
    let first = audit(log.bytes()).requests.first.unwrap();
    assert_eq!((first.seq, first.made_by), (2, Some(by)));
}

#[test]
fn a_fault_that_a_replacement_removes_is_gone() {
    let mut log = Log::default();
    let dead = log.assistant("", &[("a", "read", path("a"))]);
    log.user("go on");
    log.assistant("refused", &[]);
    log.cited("somebody", &[dead], "a call without a result stood here", json!({}));
    log.assistant("accepted", &[]);
    let audit = audit(log.bytes());
    assert_eq!((audit.requests.count, audit.requests.refused), (3, 1));
}

#[test]
fn replacements_that_the_harness_would_not_load_are_named() {
    let mut log = Log::default();
    let first = log.user("one");
    log.user("two");
    log.replace(first, first, "cites nothing");
    log.replace(7_000, 7_000, "takes what is not there");
    log.assistant("", &[("a", "read", path("a"))]);
    let result = log.result("a", json!("append"), "aaa");
    let rewrite = log.rewritten(result, "b");
    log.0[rewrite as usize]["data"]["turn"] = json!(2);
    log.push("compaction/prune", Value::Null, price(&[1]));
    log.cited("somebody", &[2], "another range", json!({}));
    log.push("user/message", Value::Null, json!({ "content": [], "source": { "kind": "user" } }));
    log.push("turn/start", json!("append"), json!({ "turn": 1 }));
    log.push("tool-rewind/own", Value::Null, json!({}));
    assert_eq!(
        codes(&audit(log.bytes())),
        [
            (Code::Uncited, Some(4)),
            (Code::BadReplacement, Some(5)),
            (Code::RewriteChangesMore, Some(8)),
            (Code::PriceMismatch, Some(10)),
            (Code::NoSurfaceOp, Some(11)),
            (Code::MisplacedSurfaceOp, Some(12)),
            (Code::UnknownEvent, Some(13)),
        ]
    );
}

#[test]
fn chunk_rows_count_as_the_events_they_pack() {
    let mut log = Log::default();
    log.push("step/start", Value::Null, json!({ "turn": 1, "step": 1 }));
    let rows = [
        json!({"type":"text-chunks","seq0":1,"time0":5,"data":{"turn":1,"step":1,"index":0,"dt":[1,0],"texts":["a","\\ud800","b"]}}),
        json!({"type":"tool-call-chunks","seq0":4,"time0":5,"data":{"turn":1,"step":1,"index":1,"dt":[],"id":"c","args":["{}"]}}),
    ];
    let mut bytes = log.bytes();
    bytes.extend(rows.iter().flat_map(|row| format!("{row}\n").into_bytes()));
    bytes.extend(
        format!("{}\n", json!({"type":"turn/end","seq":5,"data":{"turn":1,"reason":{"kind":"completed"}}}))
            .bytes(),
    );
    let counted = audit(bytes);
    assert_eq!((counted.events, counted.chunks, counted.requests.count), (6, 4, 1));
    assert_eq!(counted.findings, []);
}

#[test]
fn a_log_that_leaves_seqs_to_the_place_reads_the_same() {
    let mut log = folded(json!({}));
    log.assistant("done", &[]);
    let stated = audit(log.bytes());
    for event in &mut log.0 {
        event.as_object_mut().unwrap().remove("seq");
    }
    let placed = audit(log.bytes());
    assert_eq!((stated.surface, &stated.folds), (placed.surface, &placed.folds));
    assert_eq!(placed.findings, []);
}

#[test]
fn both_shapes_of_a_result_read_the_same_but_for_their_frame() {
    let mut log = Log::default();
    log.assistant("", &[("a", "read", path("a"))]);
    let result = log.result("a", json!("append"), "12345");
    let wrapped = audit(log.bytes());
    log.0[result as usize]["data"]["message"] = json!({ "role": "tool", "toolCallId": "a", "content": [{ "type": "text", "text": "12345" }], "source": { "kind": "tool" } });
    let direct = audit(log.bytes());
    assert_eq!((direct.requests.refused, direct.findings.len()), (0, 0));
    assert_eq!(direct.surface.chars, wrapped.surface.chars);
    // The older shape costs one block more.
    assert_eq!(direct.surface, Size { tokens: wrapped.surface.tokens - 4, ..wrapped.surface });
}

#[test]
fn a_discarded_mark_and_an_unfinished_compaction() {
    let mut log = Log::default();
    log.assistant("", &[("cp", "checkpoint", json!({}))]);
    let mark = log.mark(1, "cp");
    log.push(
        "command/run",
        Value::Null,
        json!({ "commandId": "c1", "name": "rewind", "args": " discard", "source": { "kind": "user" } }),
    );
    log.push(
        "command/done",
        Value::Null,
        json!({ "commandId": "c1", "kind": "success", "sourceEventSeq": mark }),
    );
    log.push("compaction/start", Value::Null, json!({}));
    let discarded = audit(log.bytes());
    assert!(discarded.marks[0].discarded);
    assert_eq!(codes(&discarded), [(Code::UnfinishedCompaction, Some(6))]);
    log.push("session/end-seed", Value::Null, json!({}));
    assert_eq!(codes(&audit(log.bytes())), []);
}

#[test]
fn an_orphan_that_is_rewritten_in_place_keeps_its_own_fault() {
    let mut log = Log::default();
    log.assistant("nothing called", &[]);
    let orphan = log.result("a", json!("append"), "whose?");
    log.rewritten(orphan, "still whose?");
    log.assistant("refused", &[]);
    let first = audit(log.bytes()).requests.first.unwrap();
    assert_eq!((first.seq, first.made_by), (2, None));
}
