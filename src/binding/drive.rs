//! The fold's transaction driven over Tokio: effects out to JavaScript, what came of them back in.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use napi::bindgen_prelude::Promise;
use napi::threadsafe_function::ThreadsafeFunction;
use napi::{Error, Result, Status};
use napi_derive::napi;

use crate::report::usable::{Answer, Finish};
use crate::transaction::{Budget, Effect, Input, Outcome, Transaction};

/// What the driver asks JavaScript to do.
#[napi(object, object_from_js = false)]
pub struct FoldEffect {
    /// `latest-mark`, `prepare`, `ask`, `confirm`, `land` or `complete`.
    pub kind: String,
    /// Ask: 1 for the first attempt.
    pub attempt: Option<u32>,
    /// Ask: output budget in tokens.
    pub max_tokens: Option<u32>,
    /// Confirm: why the report is made by code although a model was asked.
    pub receipt: Option<String>,
}

/// What came of it.
#[napi(object, object_to_js = false)]
pub struct FoldInput {
    /// `mark`, `prepared`, `answer`, `confirmed`, `landed`, `completed`, `refused` or `stopped`.
    pub kind: String,
    /// The yes or no of the kinds that have one.
    pub yes: Option<bool>,
    /// Refused: the stable code.
    pub code: Option<String>,
    /// Refused: the sentence.
    pub message: Option<String>,
    /// Answer: the finish reason as the harness names it.
    pub finish: Option<String>,
    /// Answer: all visible text.
    pub text: Option<String>,
    /// Answer: whether it holds a tool call.
    pub calls_tools: Option<bool>,
    /// Answer: the provider's own message and code.
    pub failure: Option<String>,
    /// Answer: output tokens.
    pub output_tokens: Option<u32>,
    /// Answer: reasoning tokens.
    pub reasoning_tokens: Option<u32>,
}

/// How the fold ended.
#[napi(object, object_from_js = false)]
pub struct FoldOutcome {
    /// `folded`, `refused` or `stopped`.
    pub kind: String,
    /// Folded: whether the checkpoint service knows.
    pub stamped: Option<bool>,
    /// Refused: the stable code.
    pub code: Option<String>,
    /// Refused: the sentence.
    pub message: Option<String>,
}

/// Budgets and texts of one fold.
#[napi(object, object_to_js = false)]
pub struct FoldOptions {
    /// Output budget of the first attempt, in tokens.
    pub max_tokens: u32,
    /// Further attempts after an answer that is no report.
    pub max_retries: u32,
    /// Whether a report made by code alone stands in where the model's cannot be had.
    pub receipt_on_failure: bool,
    /// Ends the sentence of `NO_CHECKPOINT`: what to do next.
    pub no_mark: String,
}

type Perform = ThreadsafeFunction<FoldEffect, Promise<FoldInput>, FoldEffect, Status, false>;

/// Runs one fold: performs effects through `perform` until the transaction ends.
///
/// # Errors
/// Only where `perform` itself breaks its contract by throwing or rejecting; it is expected to answer
/// `refused` or `stopped` and to keep the reason.
#[napi]
pub async fn run_fold(options: FoldOptions, perform: Arc<Perform>) -> Result<FoldOutcome> {
    let budget = Budget {
        max_tokens: options.max_tokens,
        max_retries: options.max_retries,
        receipt_on_failure: options.receipt_on_failure,
    };
    let mut transaction = Transaction::new(budget, options.no_mark);
    let mut input = Input::Start;
    loop {
        // A panic inside the machine must end this fold, not the host.
        let effect = catch_unwind(AssertUnwindSafe(|| transaction.step(input)))
            .map_err(|_| Error::from_reason("the fold's transaction panicked"))?;
        let mut next = FoldEffect { kind: String::new(), attempt: None, max_tokens: None, receipt: None };
        next.kind = match effect {
            Effect::LatestMark => "latest-mark",
            Effect::Prepare => "prepare",
            Effect::Ask { attempt, max_tokens } => {
                (next.attempt, next.max_tokens) = (Some(attempt), Some(max_tokens));
                "ask"
            }
            Effect::Confirm { receipt } => {
                next.receipt = receipt;
                "confirm"
            }
            Effect::Land => "land",
            Effect::CompleteAgain => "complete",
            Effect::End(outcome) => return Ok(outcome.into()),
        }
        .to_owned();
        let answer = perform.call_async_catch(next).await?;
        input = answer.await?.into();
    }
}

impl From<FoldInput> for Input {
    fn from(input: FoldInput) -> Self {
        let yes = input.yes.unwrap_or(false);
        match input.kind.as_str() {
            "mark" => Self::Mark(yes),
            "prepared" => Self::Prepared(yes),
            "confirmed" => Self::Confirmed(yes),
            "landed" => Self::Landed(yes),
            "completed" => Self::Completed(yes),
            "refused" => Self::Refused(input.code.unwrap_or_default(), input.message.unwrap_or_default()),
            "answer" => Self::Answer(Answer {
                finish: match input.finish.as_deref() {
                    Some("stop") => Finish::Stop,
                    Some("tool-calls") => Finish::ToolCalls,
                    Some("max-tokens") => Finish::MaxTokens,
                    Some("aborted") => Finish::Aborted,
                    _ => Finish::Error,
                },
                text: input.text.unwrap_or_default(),
                calls_tools: input.calls_tools.unwrap_or(false),
                failure: input.failure,
                output_tokens: input.output_tokens,
                reasoning_tokens: input.reasoning_tokens,
            }),
            _ => Self::Stopped,
        }
    }
}

impl From<Outcome> for FoldOutcome {
    fn from(outcome: Outcome) -> Self {
        let none = Self { kind: String::new(), stamped: None, code: None, message: None };
        match outcome {
            Outcome::Folded { stamped } => Self { kind: "folded".to_owned(), stamped: Some(stamped), ..none },
            Outcome::Refused { code, message } => {
                Self { kind: "refused".to_owned(), code: Some(code), message: Some(message), ..none }
            }
            Outcome::Stopped => Self { kind: "stopped".to_owned(), ..none },
        }
    }
}
