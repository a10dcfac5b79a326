//! What replacements of this package say of themselves, held to the log.

use crate::audit::{audit, path};
use crate::build::Log;
use serde_json::{Value, json};
use tool_rewind::audit::Code;

/// Mark 1 at `s3`, explored, folded into `s10`.
pub(crate) fn folded(facts: Value) -> Log {
    let mut log = Log::default();
    log.push("turn/start", Value::Null, json!({ "turn": 1 }));
    log.user("find the bug");
    log.assistant("", &[("cp", "checkpoint", json!({}))]);
    log.mark(1, "cp");
    let first = log.assistant("I look.", &[("a", "read", path("a.rs")), ("b", "read", path("b.rs"))]);
    log.result("a", json!("append"), "fn a() {}");
    let last = log.result("b", json!("append"), "fn b() {}");
    log.push("compaction/prune", Value::Null, price(&[first, first + 1, last]));
    let mut source = json!({ "markId": 1, "foldedNodes": 3, "start": first, "end": last, "foldedChars": 55, "reportChars": 16,
        "usage": { "inputTokens": 900, "outputTokens": 40, "cacheReadTokens": 800 } });
    if let (Some(source), Some(facts)) = (source.as_object_mut(), facts.as_object()) {
        source.extend(facts.clone());
    }
    log.cited("rewind", &[first, first + 1, last], "b.rs has the bug", source);
    log
}

/// What the harness estimates for the nodes of [`folded`].
const TOKENS: u32 = 58;

pub(crate) fn price(seqs: &[u32]) -> Value {
    json!({ "shadowedRange": { "start": seqs[0], "end": seqs[seqs.len() - 1] }, "shadowedSeqs": seqs, "shadowedTokenCount": TOKENS })
}

#[test]
fn a_fold_that_keeps_its_promises_is_clean() {
    let mut log = folded(json!({}));
    log.assistant("", &[("c", "read", path("./b.rs"))]);
    log.result("c", json!("append"), "fn b() {}");
    log.assistant("done", &[]);
    let audit = audit(log.bytes());
    assert_eq!(audit.findings, []);
    assert_eq!((audit.session.as_deref(), audit.lines, audit.events, audit.turns), (Some("s"), 13, 12, 1));
    assert_eq!((audit.requests.count, audit.requests.refused), (4, 0));
    assert_eq!(audit.marks.len(), 1);
    assert_eq!((audit.marks[0].id.as_str(), audit.marks[0].report), ("1", Some(8)));
    let fold = &audit.folds[0];
    assert_eq!(
        (fold.mark.as_str(), fold.report, fold.nodes, fold.chars, fold.landed_chars),
        ("1", 8, 3, 55, 16)
    );
    assert_eq!((fold.input_tokens, fold.cached_tokens, fold.output_tokens), (Some(900), Some(800), Some(40)));
    assert_eq!(fold.read_again, 1);
    let replacement = &audit.replacements[0];
    assert_eq!((replacement.by.as_str(), replacement.ours, replacement.line), ("rewind report", true, 10));
    assert_eq!((replacement.start, replacement.end, replacement.nodes), (4, 6, 3));
    assert_eq!((replacement.before.nodes, replacement.after.nodes), (6, 4));
    assert_eq!(replacement.before.chars - replacement.after.chars, 55 - 16);
    assert_eq!(replacement.read_again[0].seq, 10);
    assert_eq!(replacement.read_again[0].what, r#"read {"path":"./b.rs"}"#);
}

#[test]
fn broken_promises_of_a_reports_source_are_named() {
    let said = |facts: Value| {
        let audit = audit(folded(facts).bytes());
        audit
            .findings
            .into_iter()
            .map(|finding| (finding.code, finding.ours, finding.message))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        said(json!({ "foldedNodes": 5 })),
        [(
            Code::UnfinishedFold,
            true,
            "The fold of mark 1 landed in part: 3 of 5 nodes are folded.".to_owned()
        )]
    );
    let broken = |message: &str| vec![(Code::BrokenPromise, true, message.to_owned())];
    assert_eq!(said(json!({ "foldedNodes": 2 })), broken("The fold of mark 1 says 2 nodes and took 3."));
    assert_eq!(
        said(json!({ "foldedChars": 56 })),
        broken("The fold of mark 1 says 56 folded characters; there are 55.")
    );
    assert_eq!(
        said(json!({ "reportChars": 15 })),
        broken("The fold of mark 1 says 15 landed characters; there are 16.")
    );
    assert_eq!(
        said(json!({ "start": 1 })),
        broken("The fold of mark 1 says that it starts at s1; it starts at s4.")
    );
    assert_eq!(
        said(json!({ "end": 5 })),
        broken("The fold of mark 1 says that it ends at s5; it ends at s6.")
    );
}

#[test]
fn tokens_and_ledgers_that_a_report_states_are_held_to_the_log() {
    let said = |facts: Value| {
        let audit = audit(folded(facts).bytes());
        audit.findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
    };
    let ledger = |seqs: &[u32]| {
        json!({ "ledger": { "lines": [
            { "kind": "read", "what": "a.rs", "outcome": "ok", "seqs": seqs, "times": 1 }] } })
    };
    let clean: [String; 0] = [];
    assert_eq!(said(json!({ "foldedTokens": TOKENS, "reportTokens": 12 })), clean);
    assert_eq!(
        said(json!({ "foldedTokens": TOKENS - 1, "reportTokens": 13 })),
        [
            format!("The fold of mark 1 says {} folded tokens; there are {TOKENS}.", TOKENS - 1),
            "The fold of mark 1 says 13 landed tokens; there are 12.".to_owned(),
        ]
    );
    assert_eq!(said(ledger(&[4, 6])), clean);
    assert_eq!(said(json!({ "ledger": "none of ours" })), clean);
    assert_eq!(said(ledger(&[3])), ["The ledger of mark 1 names s3, which the fold did not take."]);
    assert_eq!(said(ledger(&[4, 8])), ["The ledger of mark 1 names s8, which the fold did not take."]);
    let mut log = folded(json!({}));
    log.0[7]["data"]["shadowedTokenCount"] = json!(1);
    let messages: Vec<_> = audit(log.bytes()).findings.into_iter().map(|one| one.message).collect();
    assert_eq!(
        messages,
        [format!("The price before it says 1 tokens; the nodes that it takes have {TOKENS}.")]
    );
}

#[test]
fn what_points_to_a_report_that_did_not_land_with_it_is_named() {
    let mut log = folded(json!({}));
    let words = log.assistant("more", &[]);
    let pointer = log.cited("rewind-pointer", &[words], "[steps of mark 1 folded]", json!({ "markId": 1 }));
    let audit = audit(log.bytes());
    assert_eq!(audit.findings[0].message, "It points to a report of mark 1 that did not land with it.");
    let [finding] = &audit.findings[..] else { unreachable!("{:?}", audit.findings) };
    assert_eq!(
        (finding.code, finding.seq, finding.by, finding.ours),
        (Code::BrokenPromise, Some(pointer), Some(pointer), true)
    );
}

#[test]
fn receipts_stand_for_what_their_sources_list() {
    let said = |range: (u32, u32), seqs: &[u32]| {
        let mut log = Log::default();
        log.user("go");
        log.assistant("one", &[]);
        log.assistant("two", &[]);
        let stated = json!({ "receipt": 1, "range": { "start": range.0, "end": range.1 }, "seqs": seqs });
        log.cited("rewind-prune", &[1, 2], "receipt", stated);
        let audit = audit(log.bytes());
        assert!(audit.findings.iter().all(|one| (one.code, one.seq) == (Code::BrokenPromise, Some(3))));
        audit.findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
    };
    let clean: [String; 0] = [];
    assert_eq!(said((1, 2), &[1, 2]), clean);
    let range =
        |text: &str| format!("The receipt says that it stands for {text}, which is not what it took.");
    assert_eq!(said((0, 2), &[1, 2]), [range("s0 to s2")]);
    assert_eq!(said((1, 1), &[1, 2]), [range("s1 to s1")]);
    assert_eq!(said((1, 2), &[1]), ["The receipt lists 1 nodes that it stands for; it took 2, or others."]);
}

#[test]
fn turn_checkpoints_stand_for_the_turn_that_their_sources_name() {
    let said = |turn: u32, text: &str, over: bool| {
        let mut log = Log::default();
        let old = log.user("before any turn");
        log.push("turn/start", Value::Null, json!({ "turn": 1 }));
        log.user("go");
        let own = log.assistant("done", &[]);
        if over {
            log.push("turn/end", Value::Null, json!({ "turn": 1, "reason": { "kind": "completed" } }));
        }
        let source = json!({ "turn": turn, "turnSummaryId": "t", "version": 5, "scope": "whole-turn" });
        log.cited("turn-memory", &[own], text, source.clone());
        log.cited("turn-memory", &[old], &format!("{text}before any turn"), source);
        let audit = audit(log.bytes());
        audit.findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
    };
    let own = "<turn-summary turn=\"1\" version=\"5\">\n";
    let other = "The checkpoint of turn 1 takes s0, which is not of that turn.";
    assert_eq!(said(1, own, true), [other]);
    let unlike = "The checkpoint of turn 1 does not begin with the numbers of its source.";
    let later = own.replace("\"5\"", "\"6\"");
    assert_eq!(said(1, &later, true), [unlike, unlike, other]);
    let open = "The checkpoint stands for turn 1, which had not ended by then.";
    assert_eq!(said(1, own, false), [open, open]);
    let none = "The checkpoint stands for turn 2, which had not ended by then.";
    assert_eq!(said(2, &own.replace("\"1\"", "\"2\""), true), [none, none]);
}

#[test]
fn a_fold_of_something_older_than_its_mark_is_named() {
    let mut log = Log::default();
    log.user("find the bug");
    let old = log.assistant("before", &[]);
    log.assistant("", &[("cp", "checkpoint", json!({}))]);
    let mark = log.mark(1, "cp");
    let words = log.assistant("explored", &[]);
    log.cited("rewind", &[mark, words], "report", json!({ "markId": 1 }));
    log.cited("rewind", &[old], "report", json!({ "markId": 1 }));
    let audit = audit(log.bytes());
    let messages: Vec<_> = audit.findings.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "The fold of mark 1 takes s3, the result that states the mark.",
            "The fold of mark 1 takes s1, which is older than the mark.",
        ]
    );
    assert_eq!(audit.findings[1].by, Some(6));
}
