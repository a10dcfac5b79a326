//! The fold as a machine: order, retries, budgets, ends (docs/rewind.md 2.4, 3.1, 3.5, 4.2).

use proptest::prelude::*;
use tool_rewind::report::usable::{Answer, Finish};
use tool_rewind::transaction::{Budget, Effect, Input, Outcome, Transaction};

fn fold(max_tokens: u32, max_retries: u32) -> Transaction {
    Transaction::new(
        Budget { max_tokens, max_retries, receipt_on_failure: false },
        "Say what to do.".to_owned(),
    )
}

fn answer(finish: Finish, text: &str) -> Input {
    Input::Answer(Answer {
        finish,
        text: text.to_owned(),
        calls_tools: false,
        failure: Some("boom (SERVER)".to_owned()),
        output_tokens: Some(1024),
        reasoning_tokens: Some(1000),
    })
}

/// A fold that waits for its first answer.
fn asking(max_tokens: u32, max_retries: u32) -> Transaction {
    let mut fold = fold(max_tokens, max_retries);
    assert_eq!(fold.step(Input::Start), Effect::LatestMark);
    assert_eq!(fold.step(Input::Mark(true)), Effect::Prepare);
    assert_eq!(fold.step(Input::Prepared(false)), Effect::Ask { attempt: 1, max_tokens });
    fold
}

fn refused(effect: Effect) -> (String, String) {
    match effect {
        Effect::End(Outcome::Refused { code, message }) => (code, message),
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[test]
fn a_plain_fold_walks_mark_plan_ask_confirm_land() {
    let mut fold = asking(64, 2);
    assert_eq!(fold.step(answer(Finish::Stop, "A report.")), Effect::Confirm { receipt: None });
    assert_eq!(fold.step(Input::Confirmed(true)), Effect::Land);
    assert_eq!(fold.step(Input::Landed(true)), Effect::End(Outcome::Folded { stamped: true }));
    assert_eq!(fold.step(Input::Start), Effect::End(Outcome::Stopped));
}

#[test]
fn no_mark_is_no_checkpoint_with_what_to_do_next() {
    let mut fold = fold(64, 2);
    fold.step(Input::Start);
    let (code, message) = refused(fold.step(Input::Mark(false)));
    assert_eq!(code, "NO_CHECKPOINT");
    assert!(message.ends_with("Say what to do."), "{message}");
}

#[test]
fn unusable_answers_are_asked_again_at_the_same_budget_and_then_refused_with_their_cost() {
    // S1, S2
    let mut fold = asking(64, 2);
    for attempt in [2, 3] {
        let next = fold.step(answer(Finish::Stop, " \n\t"));
        assert_eq!(next, Effect::Ask { attempt, max_tokens: 64 });
    }
    let (code, message) = refused(fold.step(answer(Finish::Stop, "")));
    assert_eq!(code, "SUMMARY_FAILED");
    for part in ["3 attempts", "stop", "1024 output tokens", "1000"] {
        assert!(message.contains(part), "{part} in {message}");
    }
}

#[test]
fn without_retries_the_first_unusable_answer_ends_the_fold() {
    let (code, message) = refused(asking(64, 0).step(answer(Finish::ToolCalls, "One more file.")));
    assert_eq!(code, "SUMMARY_FAILED");
    assert!(message.contains("1 attempt,") && message.contains("tool-calls"), "{message}");
}

#[test]
fn a_cut_doubles_the_budget_up_to_four_times() {
    let mut fold = asking(100, 5);
    let budgets: Vec<u32> = (0..5)
        .map(|_| match fold.step(answer(Finish::MaxTokens, "half a rep")) {
            Effect::Ask { max_tokens, .. } => max_tokens,
            other => panic!("expected another attempt, got {other:?}"),
        })
        .collect();
    assert_eq!(budgets, [200, 400, 400, 400, 400]);
    let (code, message) = refused(fold.step(answer(Finish::MaxTokens, "half")));
    assert_eq!(code, "SUMMARY_FAILED");
    assert!(message.contains("6 attempts") && message.contains("max-tokens"), "{message}");
}

#[test]
fn a_budget_that_cannot_be_doubled_does_not_wrap() {
    let mut fold = asking(u32::MAX - 1, 3);
    for attempt in [2, 3] {
        let next = fold.step(answer(Finish::MaxTokens, ""));
        assert_eq!(next, Effect::Ask { attempt, max_tokens: u32::MAX });
    }
}

#[test]
fn the_larger_budget_stays_for_a_retry_for_another_reason() {
    let mut fold = asking(100, 3);
    assert_eq!(fold.step(answer(Finish::MaxTokens, "")), Effect::Ask { attempt: 2, max_tokens: 200 });
    assert_eq!(fold.step(answer(Finish::Stop, "")), Effect::Ask { attempt: 3, max_tokens: 200 });
}

#[test]
fn errors_and_aborted_finishes_are_not_asked_again_and_keep_the_providers_words() {
    for (finish, word) in [(Finish::Error, "error"), (Finish::Aborted, "aborted")] {
        let (code, message) = refused(asking(64, 2).step(answer(finish, "some text")));
        assert_eq!(code, "SUMMARY_FAILED");
        assert!(message.contains("boom (SERVER)") && message.contains(word), "{message}");
    }
}

#[test]
fn a_mark_that_changed_ends_as_changed() {
    let mut fold = asking(64, 2);
    fold.step(answer(Finish::Stop, "A report."));
    assert_eq!(refused(fold.step(Input::Confirmed(false))).0, "CHANGED");
}

#[test]
fn a_service_that_was_not_told_is_told_once_more_and_the_fold_stands_whatever_it_says() {
    for (second, stamped) in [
        (Input::Completed(true), true),
        (Input::Completed(false), false),
        (Input::Stopped, false),
        (Input::Refused("X".to_owned(), "x".to_owned()), false),
        (Input::Start, false),
    ] {
        let mut fold = asking(64, 2);
        fold.step(answer(Finish::Stop, "A report."));
        fold.step(Input::Confirmed(true));
        assert_eq!(fold.step(Input::Landed(false)), Effect::CompleteAgain);
        assert_eq!(fold.step(second), Effect::End(Outcome::Folded { stamped }));
    }
}

#[test]
fn a_refusal_of_any_step_before_the_landing_keeps_its_code_and_words() {
    let no = || Input::Refused("SHRINK".to_owned(), "too small".to_owned());
    let mut early = fold(64, 2);
    early.step(Input::Start);
    early.step(Input::Mark(true));
    assert_eq!(refused(early.step(no())), ("SHRINK".to_owned(), "too small".to_owned()));
    let mut late = asking(64, 2);
    late.step(answer(Finish::Stop, "A report."));
    late.step(Input::Confirmed(true));
    assert_eq!(refused(late.step(no())).0, "SHRINK");
}

fn any_input() -> impl Strategy<Value = Input> {
    let finish = prop_oneof![
        Just(Finish::Stop),
        Just(Finish::ToolCalls),
        Just(Finish::MaxTokens),
        Just(Finish::Error),
        Just(Finish::Aborted)
    ];
    prop_oneof![
        Just(Input::Start),
        any::<bool>().prop_map(Input::Mark),
        any::<bool>().prop_map(Input::Prepared),
        (finish, "(A report\\.)?").prop_map(|(finish, text)| answer(finish, &text)),
        any::<bool>().prop_map(Input::Confirmed),
        any::<bool>().prop_map(Input::Landed),
        any::<bool>().prop_map(Input::Completed),
        Just(Input::Refused("X".to_owned(), "x".to_owned())),
        Just(Input::Stopped),
    ]
}

proptest! {
    /// Whatever a driver answers: bounded questions, no landing but behind a confirmed report, one end.
    #[test]
    fn nothing_lands_out_of_turn(inputs in prop::collection::vec(any_input(), 0..40), retries in 0..4u32) {
        let mut fold = fold(64, retries);
        let mut asked = 0;
        let mut over = false;
        let mut reported = false;
        for input in inputs {
            let confirmed = matches!(input, Input::Confirmed(true));
            let usable = matches!(&input, Input::Answer(one)
                if one.finish == Finish::Stop && !one.text.is_empty())
                || matches!(input, Input::Prepared(true));
            let effect = fold.step(input);
            if over {
                prop_assert_eq!(&effect, &Effect::End(Outcome::Stopped));
            }
            match effect {
                Effect::Ask { max_tokens, .. } => {
                    asked += 1;
                    prop_assert!((64..=256).contains(&max_tokens));
                }
                Effect::Confirm { receipt } => {
                    prop_assert!(usable && receipt.is_none());
                    reported = true;
                }
                Effect::Land => prop_assert!(reported && confirmed),
                Effect::End(_) => over = true,
                _ => {}
            }
        }
        prop_assert!(asked <= retries + 1);
    }
}
