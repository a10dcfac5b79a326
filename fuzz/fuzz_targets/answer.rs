//! The answer judgement: the first byte says how the stream ended, the rest is what the model said.
#![no_main]
use libfuzzer_sys::fuzz_target;
use tool_rewind::report::usable::{Answer, Finish, Verdict, judge};

fuzz_target!(|data: &[u8]| {
    let (&how, said) = data.split_first().unwrap_or((&b's', b""));
    let finish = match how.to_ascii_lowercase() {
        b't' => Finish::ToolCalls,
        b'm' => Finish::MaxTokens,
        b'e' => Finish::Error,
        b'a' => Finish::Aborted,
        _ => Finish::Stop,
    };
    let text = String::from_utf8_lossy(said).into_owned();
    let blank = text.trim().is_empty();
    let calls_tools = how.is_ascii_uppercase();
    let answer = Answer {
        finish,
        text,
        calls_tools,
        failure: None,
        output_tokens: Some(u32::from(how)),
        reasoning_tokens: None,
    };
    match judge(&answer) {
        Verdict::Report => assert!(finish == Finish::Stop && !calls_tools && !blank),
        Verdict::Cut(why) | Verdict::Unusable(why) | Verdict::Failed(why) => assert!(!why.is_empty()),
    }
});
