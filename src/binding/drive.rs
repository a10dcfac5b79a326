//! The fold's transaction driven over Tokio: effects out to JavaScript, what came of them back in.
//!
//! An answer comes back by a call of its own instead of as a promise's value: to wait for a promise, napi makes two
//! functions with a finalizer each, which only a full collection of the host frees. Ten of them a fold were most of
//! what a fold left behind.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use napi::bindgen_prelude::PromiseRaw;
use napi::threadsafe_function::{ThreadsafeFunction, UnknownReturnValue};
use napi::{Env, Error, Result, Status};
use napi_derive::napi;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::report::usable::{Answer, Finish};
use crate::transaction::{Budget, Effect, Input, Outcome, Transaction};

/// What the driver asks JavaScript to do.
#[napi(object, object_from_js = false)]
pub struct FoldEffect {
    /// The fold that asks; the answer names it.
    pub fold: u32,
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

type Perform = ThreadsafeFunction<FoldEffect, UnknownReturnValue, FoldEffect, Status, false>;

/// The folds of one JavaScript thread.
#[derive(Default)]
struct Folds {
    last: u32,
    /// Where answers go, by fold, few at a time. They end with their thread, and with them the folds that wait for one.
    answers: Vec<(u32, UnboundedSender<Input>)>,
}

thread_local! {
    static FOLDS: RefCell<Folds> = RefCell::default();
}

/// Runs one fold: asks for effects through `perform`, one at a time, until the transaction ends. What comes of each
/// is told by [`answer_fold`].
///
/// # Errors
/// Only where `perform` itself throws.
#[napi(catch_unwind)]
pub fn run_fold(
    env: &Env,
    options: FoldOptions,
    perform: Arc<Perform>,
) -> Result<PromiseRaw<'_, FoldOutcome>> {
    let (sender, answers) = unbounded_channel();
    let fold = FOLDS.with_borrow_mut(|folds| {
        folds.answers.retain(|(_, sender)| !sender.is_closed());
        folds.last = folds.last.wrapping_add(1);
        folds.answers.push((folds.last, sender));
        folds.last
    });
    env.spawn_future(drive(fold, options, perform, answers))
}

/// Tells a fold what came of the effect that it asked for. A fold that is over takes no answer.
#[napi(catch_unwind)]
pub fn answer_fold(fold: u32, input: FoldInput) {
    FOLDS.with_borrow(|folds| {
        let found = folds.answers.iter().find(|(number, _)| *number == fold);
        found.map(|(_, sender)| sender.send(input.into()))
    });
}

async fn drive(
    fold: u32,
    options: FoldOptions,
    perform: Arc<Perform>,
    mut answers: UnboundedReceiver<Input>,
) -> Result<FoldOutcome> {
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
        let mut next =
            FoldEffect { fold, kind: String::new(), attempt: None, max_tokens: None, receipt: None };
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
        perform.call_async_catch(next).await?;
        input = answers.recv().await.ok_or_else(|| Error::from_reason("the fold's thread is gone"))?;
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
