//! What is told of a draft and of a replaced turn, and to whom.

use super::{Columns, draft, replace, segments, shown, told, units};
use crate::event::{Seq, SurfaceOp};
use crate::turns::answer;
use crate::turns::recall::{Clock, Route, route_recall, stands_raw};
use crate::turns::table::{Entry, Turn, TurnTable};
use crate::turns::transcript::{Limits, fit, render_transcript};
use crate::turns::view::{grep, outline};

#[test]
fn t7_the_tail_of_a_long_result_is_in_the_draft_and_in_the_transcript() {
    let log = format!("{}FAILED: port 7777 in use", "x".repeat(40_000));
    let columns = Columns::default().assistant().call("c", "bash", "{}").result("c", &log);
    let text = shown(&segments(&columns)[0].content);
    assert!(text.ends_with("FAILED: port 7777 in use"));
    assert!(text.contains(" ... [truncated, 40024 chars total] ... "));
    let transcript = render_transcript(&columns.script(), Limits { result: 20_000, whole: 500_000 });
    assert!(shown(&transcript).ends_with("FAILED: port 7777 in use"));
}

#[test]
fn tricky_13_routing_by_age_and_by_what_a_fork_would_see() {
    let turn = |number: u32, end_time: Option<f64>, start_time: f64| {
        let mut turn = timed(number);
        (turn.end_time, turn.start_time) = (end_time, start_time);
        turn
    };
    let route = |turn: &Turn, now: f64, raw: bool| {
        route_recall(turn, Clock { now, window: 7_200_000.0, newest: 10 }, raw)
    };
    let ended = turn(10, Some(1000.0), 0.0);
    assert_eq!(route(&ended, 7_201_000.0, true), Route::Fork);
    assert_eq!(route(&ended, 7_201_001.0, true), Route::Subagent);
    assert_eq!(route(&ended, 500.0, true), Route::Fork, "a clock that went back counts as recent");
    assert_eq!(route(&ended, 1000.0, false), Route::Subagent, "a fork would see the checkpoint");
    assert_eq!(route(&turn(8, None, f64::NAN), 0.0, true), Route::Fork);
    assert_eq!(route(&turn(7, None, f64::NAN), 0.0, true), Route::Subagent);
    assert_eq!(route(&turn(10, None, 900.0), 1000.0, true), Route::Fork, "the start stands in for the end");
    let off = Clock { now: 500.0, window: 0.0, newest: 10 };
    assert_eq!(route_recall(&ended, off, true), Route::Subagent, "window 0 comes before any comparison");
    let mut open = ended;
    open.end = None;
    assert_eq!(route(&open, 1000.0, true), Route::Subagent);
}

fn timed(number: u32) -> Turn {
    let mut table = TurnTable::default();
    table.read(5, Entry::Start { turn: number, time: 0.0 });
    table.read(6, Entry::Person);
    table.read(20, Entry::End { turn: number, time: 1.0 });
    *table.get(number).unwrap()
}

#[test]
fn tricky_13_a_turn_is_raw_only_while_every_node_it_appended_stands() {
    let turn = timed(1);
    let append = |seq: Seq| (seq, SurfaceOp::Append);
    let raw = [append(2), append(6), append(7), append(8), append(22)];
    let then = |start, end| {
        let replace = (30, SurfaceOp::Replace { start, end });
        stands_raw(&turn, &raw.into_iter().chain([replace]).collect::<Vec<_>>())
    };
    assert_eq!(stands_raw(&turn, &raw), Ok(true));
    assert_eq!(then(7, 8), Ok(false), "its checkpoint");
    assert_eq!(then(7, 7), Ok(false), "one rewritten result");
    assert_eq!(then(2, 2), Ok(true), "another turn's node");
    assert!(stands_raw(&turn, &[(3, SurfaceOp::Replace { start: 1, end: 1 })]).is_err());
}

#[test]
fn tricky_17_a_second_round_names_only_what_is_unfinished() {
    let long = "y".repeat(290);
    let columns = Columns::default()
        .assistant()
        .call("a", "read", &long)
        .call("b", "read", "{}")
        .text("first")
        .call("c", "grep", &long)
        .text("second\nline")
        .call("d", "bash", &long);
    let mut draft = draft(&columns);
    assert_eq!(draft.unfinished(), vec![1, 3, 5]);
    replace(&mut draft, 1, "read both").unwrap();
    replace(&mut draft, 3, "searched").unwrap();
    assert_eq!(draft.unfinished(), vec![5]);
    assert_eq!(
        outline(&draft, &draft.unfinished()),
        "<working:1> finished\n<assistant:2> stays word for word: \"first\"\n<working:3> finished\n\
         <assistant:4> stays word for word: \"second ...\"\n<working:5> TO WRITE: calls of bash, 308 characters"
    );
}

#[test]
fn grep_prints_segments_and_numbered_lines() {
    let columns =
        Columns::default().person("port 7777\nnever prod").assistant().call("c", "bash", "curl :7777");
    let draft = draft(&columns);
    assert_eq!(
        grep(&draft, "7+"),
        Ok("<seg user-steer:1>\n  1: port 7777\n<seg working:2>\n  1: [tool call: bash] curl :7777"
            .to_owned())
    );
    assert_eq!(grep(&draft, "absent"), Ok("no matches".to_owned()));
    assert_eq!(grep(&draft, "(").map_err(|refusal| refusal.code()), Err("BAD_PATTERN"));
}

#[test]
fn an_answer_is_applied_by_id_and_fails_as_a_whole() {
    let long = "y".repeat(290);
    let columns =
        Columns::default().assistant().call("a", "read", &long).text("mid").call("b", "bash", &long);
    let apply = |text: &str| {
        let mut draft = draft(&columns);
        answer::apply(&mut draft, &units(text)).map_err(|refusal| refusal.code())?;
        draft.check().map_err(|refusal| refusal.code())?;
        Ok::<_, &'static str>(told(&draft.segments()))
    };
    let good = "Here:\n<working:1>\nread it\n</working:1>\n\n  <working:3>ran it</working:3>\nDONE";
    assert_eq!(
        apply(good),
        Ok(vec![
            (1, "working", "read it".to_owned()),
            (2, "assistant", "mid".to_owned()),
            (3, "working", "ran it".to_owned())
        ])
    );
    assert_eq!(apply("<working:1>\nread it\n</working:1>"), Err("WORKING_UNTOUCHED"));
    assert_eq!(apply("<working:9>\nx\n</working:9>"), Err("UNKNOWN_SEGMENT"));
    assert_eq!(apply("<assistant:2>\nx\n</assistant:2>"), Err("VERBATIM_SEGMENT"));
    assert_eq!(apply("<working:1>\nnever closed"), Err("WORKING_UNTOUCHED"));
    let nested = "<working:1>\na\n</working:1>\n<working:3>\na\n<working:2>\n</working:3>";
    assert_eq!(apply(nested), Err("TAG_IN_CONTENT"));
    assert_eq!(apply("I would rather not."), Err("WORKING_UNTOUCHED"));
}

#[test]
fn a_transcript_keeps_head_and_tail_and_counts_what_it_left_out() {
    let output = "m".repeat(400);
    let columns = Columns::default()
        .person("start here")
        .assistant()
        .reasoning("why")
        .text("plan")
        .call("c", "bash", "{}")
        .result("c", &output)
        .injected("goal", "go on")
        .assistant()
        .text("the end");
    let whole = render_transcript(&columns.script(), Limits { result: 20_000, whole: 5000 });
    assert_eq!(
        shown(&whole),
        format!(
            "### User\nstart here\n\n### Assistant reasoning\nwhy\n\n### Assistant\nplan\n\n### Tool call: \
             bash\nargs: {{}}\n\n### Tool result\n{output}\n\n### goal\ngo on\n\n### Assistant\nthe end"
        )
    );
    let cut = shown(&render_transcript(&columns.script(), Limits { result: 20_000, whole: 50 }));
    assert!(cut.starts_with("### User\nstart here\n\n###"), "{cut}");
    assert!(cut.contains("... [transcript cut here] ..."), "{cut}");
    assert!(cut.contains("### Assistant\nthe end\n\n[1 of 5 events left out, others cut; "), "{cut}");
}

#[test]
fn a_transcript_is_fitted_to_the_model_that_reads_it() {
    let text = units(&"ab".repeat(5000));
    assert_eq!(fit(&text, 4000), None);
    let cut = fit(&text, 400).unwrap();
    assert!(shown(&cut).contains("[truncated, 10000 chars total]"));
    assert!(cut.len() < 1100);
    let chinese = units(&"文".repeat(1000));
    assert_eq!(fit(&chinese, 1000), None);
    assert!(fit(&chinese, 999).is_some());
}
