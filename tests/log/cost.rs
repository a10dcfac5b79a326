//! Hostile logs: twice as long a log takes about twice as long, whatever is in it.

use crate::audit::run;
use crate::build::Log;
use serde_json::{Value, json};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Time that this thread was given, where the system tells: other work beside a test is none of its own.
fn spent() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ran = told.and_then(|text| text.split(' ').next()?.parse().ok());
    ran.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// One message with so many calls and their results, in reverse order. Returns the results in surface order.
fn batch(log: &mut Log, size: u32) -> Vec<u32> {
    let ids: Vec<String> = (0..size).map(|id| format!("call-{id}")).collect();
    let calls: Vec<_> = ids.iter().map(|id| (id.as_str(), "read", json!({}))).collect();
    log.assistant("", &calls);
    ids.iter().rev().map(|id| log.result(id, json!("append"), "text")).collect()
}

/// A request, so that the surface as it stands is judged.
fn ask(log: &mut Log) {
    log.push("step/start", Value::Null, json!({ "turn": 1, "step": 1 }));
    log.push("assistant/chunk", Value::Null, json!({ "turn": 1, "step": 1, "chunk": { "type": "finish" } }));
}

/// Audits a log of half the size and of the whole, and holds the times to each other. Returns the findings,
/// those beyond the listed included, and the refused requests of the whole.
fn in_proportion(size: u32, write: impl Fn(&mut Log, u32)) -> (u64, u64) {
    let time = |size: u32| {
        let mut log = Log::default();
        log.user("go");
        write(&mut log, size);
        let bytes = log.bytes();
        let mut seen = (0, 0);
        let mut fastest = Duration::MAX;
        for _ in 0..2 {
            let read = bytes.clone();
            let from = spent();
            let audit = run(read, 1);
            fastest = fastest.min(spent() - from);
            seen = (audit.findings.len() as u64 + audit.more_findings, audit.requests.refused);
        }
        (fastest, seen)
    };
    let (half, _) = time(size / 2);
    let (whole, seen) = time(size);
    assert!(whole < half * 3, "{half:?} for {}, {whole:?} for {size}", size / 2);
    seen
}

#[test]
fn a_message_with_very_many_calls_some_of_whose_results_are_rewritten() {
    let seen = in_proportion(8_000, |log, size| {
        for result in batch(log, size).iter().step_by(100) {
            log.rewritten(*result, "cut");
        }
        log.assistant("done", &[]);
    });
    assert_eq!(seen, (0, 0));
}

#[test]
fn replacements_far_from_the_tail_of_a_long_surface() {
    let seen = in_proportion(8_000, |log, size| {
        let nodes: Vec<u32> = (0..size).map(|_| log.user("a message")).collect();
        for node in &nodes[..nodes.len() / 2] {
            log.cited("somebody", &[*node], "shorter", json!({}));
        }
    });
    assert_eq!(seen, (0, 0));
}

#[test]
fn messages_put_into_one_huge_batch_from_its_head_on() {
    let seen = in_proportion(2_000, |log, size| {
        for result in batch(log, size).iter().step_by(2) {
            log.cited("somebody", &[*result], "was here", json!({}));
        }
        ask(log);
    });
    // The calls that lost their results, and every result that is left.
    assert_eq!(seen, (1 + 1_000, 1));
}

#[test]
fn messages_put_into_one_huge_batch_from_its_tail_on() {
    let seen = in_proportion(2_000, |log, size| {
        for result in batch(log, size).iter().rev().step_by(2) {
            log.cited("somebody", &[*result], "was here", json!({}));
        }
        ask(log);
    });
    // The first result of all still answers its call.
    assert_eq!(seen, (1 + 999, 1));
}

#[test]
fn one_message_in_a_huge_batch_replaced_over_and_over() {
    let seen = in_proportion(2_000, |log, size| {
        let mut there = batch(log, size)[0];
        for _ in 0..size / 2 {
            there = log.cited("somebody", &[there], "was here", json!({}));
            ask(log);
        }
    });
    assert_eq!(seen, (1 + 1_999, 1_000));
}

#[test]
fn orphans_that_are_rewritten_before_a_request() {
    let seen = in_proportion(6_000, |log, size| {
        log.assistant("calls nothing", &[]);
        let orphans: Vec<u32> = (0..size / 2).map(|_| log.result("x", json!("append"), "whose?")).collect();
        for orphan in orphans.iter().rev() {
            log.rewritten(*orphan, "cut");
        }
        ask(log);
    });
    assert_eq!(seen, (3_000, 1));
}
