//! The fold as a machine: it asks and lands no more than it may, and a fold that stands is told as one.
#![no_main]
use libfuzzer_sys::fuzz_target;
use tool_rewind::report::usable::{Answer, Finish};
use tool_rewind::transaction::{Budget, Effect, Input, Outcome, Transaction};

fuzz_target!(|data: &[u8]| {
    let (&first, rest) = data.split_first().unwrap_or((&0, &[]));
    let retries = u32::from(first & 7);
    let budget = Budget { max_tokens: u32::MAX, max_retries: retries, receipt_on_failure: first & 8 != 0 };
    let mut machine = Transaction::new(budget, String::new());
    let (mut asked, mut landed, mut stands) = (0, 0, false);
    machine.step(Input::Start);
    for &byte in rest {
        let yes = byte.is_ascii_uppercase();
        let text = if yes { "A report." } else { "" }.to_owned();
        let finish = if byte & 1 == 0 { Finish::Stop } else { Finish::MaxTokens };
        let input = match byte.to_ascii_lowercase() {
            b'k' => Input::Mark(yes),
            b'p' => Input::Prepared(yes),
            b'c' => Input::Confirmed(yes),
            b'l' => Input::Landed(yes),
            b'd' => Input::Completed(yes),
            b'r' => Input::Refused("CHANGED".to_owned(), String::new()),
            b's' => Input::Stopped,
            _ => Input::Answer(Answer {
                finish,
                text,
                calls_tools: false,
                failure: None,
                output_tokens: None,
                reasoning_tokens: None,
            }),
        };
        match machine.step(input) {
            Effect::Ask { .. } => asked += 1,
            Effect::Land => landed += 1,
            Effect::CompleteAgain => stands = true,
            Effect::End(outcome) => {
                let told = matches!(outcome, Outcome::Folded { .. });
                assert!(told || !stands, "a fold that stands ended as {outcome:?}");
                break;
            }
            _ => {}
        }
        assert!(asked <= retries + 1 && landed <= 1);
    }
});
