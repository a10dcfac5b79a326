//! Is an answer a report? (docs/rewind.md 2.4)

use tool_rewind::report::usable::{Answer, Finish, Verdict, judge};

fn answer(finish: Finish, text: &str) -> Answer {
    Answer {
        finish,
        text: text.to_owned(),
        calls_tools: false,
        failure: None,
        output_tokens: Some(77),
        reasoning_tokens: Some(33),
    }
}

fn stop(text: &str) -> Verdict {
    judge(&answer(Finish::Stop, text))
}

#[test]
fn prose_that_ended_normally_is_a_report() {
    for text in [
        "x",
        "  The port is 7777.\n",
        "## Findings\n- `src/lib.rs:42` sets the port\n\n## Open\n- nothing",
        "端口是 7777。",
        "The model leaked `<｜DSML｜function_calls>` into its text; the parser in src/a.rs drops it.",
        "The call was {\"name\": \"read\", \"arguments\": \"{}\"} and it failed.",
        "{ \"port\": 7777 } is the whole config.",
        "[read, write] are the tools.",
        "{\"name\": \"read\"}",
    ] {
        assert_eq!(stop(text), Verdict::Report, "{text}");
    }
}

#[test]
fn nothing_visible_is_no_report() {
    for text in ["", "  \n\t", "\u{3000}\n"] {
        let Verdict::Unusable(why) = stop(text) else { panic!("{text:?} passed") };
        assert!(why.contains("finish reason stop") && why.contains("77 output tokens"), "{why}");
        assert!(why.contains("33"), "{why}");
    }
}

#[test]
fn an_answer_that_calls_tools_is_no_report_whatever_it_says() {
    // S5
    let text = "Let me check one more file.";
    assert!(matches!(judge(&answer(Finish::ToolCalls, text)), Verdict::Unusable(_)));
    let calls = Answer { calls_tools: true, ..answer(Finish::Stop, text) };
    assert!(matches!(judge(&calls), Verdict::Unusable(_)));
}

#[test]
fn raw_tool_call_markup_is_no_report() {
    for text in [
        "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"read\">",
        "<|DSML|invoke name=\"read\">",
        "Let me look.\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"read\">",
        "<｜tool▁calls▁begin｜>read",
        "<tool_call>\n{\"name\": \"read\", \"arguments\": {}}\n</tool_call>",
        "<function_calls><invoke name=\"read\">",
        "{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}",
        "\n{\"name\":\"read\",\"arguments\":\"{}\"}\n",
        "[{\"name\":\"read\",\"arguments\":{}},{\"name\":\"grep\",\"arguments\":{}}]",
        "{\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}",
        "{\"name\":\"read\",\"arguments\":{}}\n{\"name\":\"grep\",\"arguments\":{}}",
        "```json\n{\"name\":\"read\",\"arguments\":{}}\n```",
        "```\n{\"name\":\"read\",\"arguments\":{}}\n```",
    ] {
        assert!(matches!(stop(text), Verdict::Unusable(_)), "{text}");
    }
}

#[test]
fn a_cut_answer_is_no_report_however_much_text_it_has() {
    for text in ["", "## Findings\nA long and useful text"] {
        let Verdict::Cut(why) = judge(&answer(Finish::MaxTokens, text)) else { panic!("{text:?} passed") };
        assert!(
            why.contains("max-tokens") && why.contains("77 output tokens") && why.contains("33"),
            "{why}"
        );
    }
}

#[test]
fn a_failed_call_keeps_the_providers_words() {
    for finish in [Finish::Error, Finish::Aborted] {
        let failure = Some("overloaded (RATE_LIMIT)".to_owned());
        let verdict = judge(&Answer { failure, ..answer(finish, "text that came before") });
        let Verdict::Failed(why) = verdict else { panic!("{verdict:?}") };
        assert!(why.contains("overloaded (RATE_LIMIT)"), "{why}");
    }
    assert!(matches!(judge(&answer(Finish::Error, "")), Verdict::Failed(_)));
}

#[test]
fn one_line_over_and_over_is_no_report_but_a_short_list_is() {
    // S6
    let line = "The port is 7777.\n";
    assert!(matches!(stop(&line.repeat(1511)), Verdict::Unusable(_)));
    assert_eq!(stop(&line.repeat(3)), Verdict::Report);
    let many: String = (0..200).map(|n| format!("- file {n}\n")).collect();
    assert_eq!(stop(&many), Verdict::Report);
}

#[test]
fn missing_usage_is_left_out_of_the_sentence() {
    let bare = Answer { output_tokens: None, reasoning_tokens: None, ..answer(Finish::Stop, "") };
    let Verdict::Unusable(why) = judge(&bare) else { panic!("passed") };
    assert!(why.contains("finish reason stop") && !why.contains("tokens"), "{why}");
}
