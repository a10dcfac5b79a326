use crate::build::Session;
use serde_json::{Value, json};
use std::collections::HashMap;
use tool_rewind::prune::eligible::Judged;
use tool_rewind::prune::evidence::DEFAULT_PATTERNS;
use tool_rewind::prune::ranges::Receipt;
use tool_rewind::prune::settings::{Candidate, Settings};
use tool_rewind::prune::slice::marker;
use tool_rewind::prune::tools::{READ_ONLY, WRITE};
use tool_rewind::prune::trims::Fate;

/// The defaults of the schema, with some keys changed.
fn settings(changed: &Value) -> Settings {
    let mut keys = json!({
        "keepMode": "budget", "keepThreshold": 0.5, "keepFloorThreshold": 0.2, "minCandidatesForBudget": 4,
        "minGainChars": 40, "preserveRecent": 1, "headChars": 600, "tailChars": 200, "minCharsToPrune": 400,
        "neverPruneTools": ["Write"], "maxStateTokens": 25000, "textHead": 400, "textTail": 150, "inputChars": 300,
        "resultExcerptChars": 240, "minHistoryLines": 8, "compactReceipts": true, "compactMode": "relative",
        "compactQuantile": 0.34, "compactPreserveRecent": 1, "minCandidatesForRelative": 4, "floorThreshold": 0.2,
        "minCandidatesForFloor": 2, "compactThreshold": 0.5, "compactTools": READ_ONLY, "neverCompactTools": WRITE,
        "evidenceGuard": true, "evidencePatterns": DEFAULT_PATTERNS, "maxStepTextChars": 1200,
        "maxStepReasoningChars": 4000, "compactMinChars": 2000, "receiptMaxRatio": 0.5, "maxCompactionsPerPass": 3,
        "receiptArgChars": 120, "receiptTextChars": 400, "receiptTransport": "direct", "receiptLanguage": "en",
    });
    for (key, value) in changed.as_object().unwrap() {
        keys[key] = value.clone();
    }
    Settings::read(&keys.to_string()).unwrap()
}

fn results(count: usize, tool: &str) -> (Session, Vec<u32>) {
    let mut session = Session::default();
    session.user("task");
    let seqs = (0..count)
        .map(|at| session.step(tool, &format!(r#"{{"path":"f{at}"}}"#), "w ".repeat(1500).as_str()))
        .collect();
    session.user("next");
    (session, seqs)
}

fn fates(settings: &Settings, session: &Session, needs: &[(u32, f64)], ratio: f64) -> Vec<Fate> {
    let needs: HashMap<u32, f64> = needs.iter().copied().collect();
    settings.trims(&session.view(), &needs, ratio).nodes.into_iter().map(|one| one.1).collect()
}

#[test]
fn a_pattern_or_a_shape_that_cannot_be_is_refused() {
    let refused = Settings::read("{}").unwrap_err().to_string();
    assert!(refused.contains("keepMode"), "{refused}");
    let mut keys = json!({});
    keys["evidencePatterns"] = json!(["error", " "]);
    assert!(Settings::read(&keys.to_string()).is_err());
}

#[test]
fn case_q2_what_was_cut_is_passed_over_and_the_rest_handled() {
    let (mut session, seqs) = results(3, "read");
    let second = session.rewrite(seqs[1], &format!("a{}b", marker(2000, seqs[1])));
    let needs = [(seqs[0], 0.1), (second, 0.1), (seqs[2], 0.1)];
    let absolute = settings(&json!({ "keepMode": "absolute" }));
    assert_eq!(fates(&absolute, &session, &needs, 0.0), [Fate::Cut, Fate::KeepCut, Fate::Cut]);
    let trims = absolute.trims(&session.view(), &needs.into_iter().collect(), 0.0);
    assert_eq!(trims.cuts.iter().map(|cut| cut.0).collect::<Vec<_>>(), [seqs[0], seqs[2]]);
    assert_eq!(trims.cuts[0].1.chars_before, 3000);
}

#[test]
fn case_q3_the_plan_counts_what_it_changes() {
    let (mut session, seqs) = results(5, "read");
    let third = session.rewrite(seqs[2], &format!("a{}b", marker(2000, seqs[2])));
    let fourth = session.rewrite(seqs[3], "a\n\n[... tool result middle pruned ...]\n\nb");
    let short = session.step("read", r#"{"path":"s"}"#, "short");
    session.user("next");
    let needs = [(seqs[0], 0.1), (seqs[1], 0.1), (third, 0.1), (fourth, 0.1), (seqs[4], 0.1), (short, 0.1)];
    let found = fates(&settings(&json!({ "keepMode": "absolute" })), &session, &needs, 0.0);
    assert_eq!(found.iter().filter(|fate| **fate == Fate::Cut).count(), 3);
}

#[test]
fn the_newest_nodes_and_denied_tools_are_protected() {
    let (session, seqs) = results(3, "read");
    let needs: Vec<(u32, f64)> = seqs.iter().map(|seq| (*seq, 0.1)).collect();
    let found =
        fates(&settings(&json!({ "keepMode": "absolute", "preserveRecent": 4 })), &session, &needs, 0.0);
    assert_eq!(found, [Fate::Cut, Fate::KeepTail, Fate::KeepTail]);
    let (session, seqs) = results(1, "WRITE");
    let found = fates(&settings(&json!({ "keepMode": "absolute" })), &session, &[(seqs[0], 0.1)], 0.0);
    assert_eq!(found, [Fate::KeepDenied]);
}

#[test]
fn only_what_a_layer_can_use_is_asked_about() {
    let (mut session, seqs) = results(1, "read");
    let shell = session.step("bash", "{}", "w ".repeat(1500).as_str());
    let small = session.step("bash", "{}", "small");
    let tail = session.step("read", "{}", "w ".repeat(1500).as_str());
    let found = settings(&json!({})).candidates(&session.view());
    let one = |seq, both| Candidate { seq, both };
    assert_eq!(found, [one(seqs[0], true), one(shell, false), one(tail, true)]);
    assert!(!found.iter().any(|candidate| candidate.seq == small));
    let off = settings(&json!({ "compactReceipts": false })).candidates(&session.view());
    assert_eq!(off, [one(seqs[0], false), one(shell, false)]);
}

#[test]
fn case_q4_the_population_is_what_receipts_may_take() {
    let mut session = Session::default();
    let mut judged = HashMap::new();
    for at in 0..10_u32 {
        let tool = if at < 6 { "pwsh" } else { "read" };
        let seq = session.step(tool, &format!(r#"{{"path":"{at}"}}"#), "w ".repeat(1500).as_str());
        let value = f64::from(at) / 20.0;
        judged.insert(seq, Judged { seq, need: value, effect: value });
    }
    session.user("next");
    let found = settings(&json!({})).receipts(&session.view(), &judged).unwrap();
    assert_eq!((found.population, found.eligible.len()), (4, 1));
    assert!(matches!(found.plan.receipts.as_slice(), [Receipt::Full { seqs, .. }] if seqs.len() == 2));
}

#[test]
fn the_tools_of_a_surface_are_listed_once() {
    let (mut session, _) = results(2, "Read");
    session.step("read", "{}", "x");
    session.step("bash", "{}", "x");
    let tools = settings(&json!({})).tools_of(&session.view());
    let listed: Vec<(&str, bool)> = tools.iter().map(|one| (one.name.as_str(), one.may_compact)).collect();
    assert_eq!(listed, [("Read", true), ("bash", false)]);
}
