//! The fold as a machine without I/O: an input goes in, the next effect comes out (design: one fold's walk).
//!
//! The driver performs effects and feeds what came of them back. Texts, marks and plans stay with the side
//! that performs; the machine decides order, retries, and how the fold ends.

use crate::error::Refusal;
use crate::report::usable::{Answer, Verdict, judge};

/// Budgets of the report call (docs/rewind.md 2.4).
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Output tokens of the first attempt.
    pub max_tokens: u32,
    /// Further attempts after an answer that is no report.
    pub max_retries: u32,
    /// Whether a report made by code alone stands in where the model's cannot be had.
    pub receipt_on_failure: bool,
}

/// What the driver has to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Read the latest mark of the session.
    LatestMark,
    /// Read the surface, plan the fold, plan the report request. Synchronous.
    Prepare,
    /// Ask the model for the report.
    Ask {
        /// 1 for the first attempt.
        attempt: u32,
        /// Output budget in tokens.
        max_tokens: u32,
    },
    /// Read the latest mark again and compare it with the first.
    Confirm {
        /// Why the report is made by code although a model was asked.
        receipt: Option<String>,
    },
    /// Re-check the plan and land it; one synchronous block that also starts `completeFold`.
    Land,
    /// `completeFold` rejected: try it once more.
    CompleteAgain,
    /// The fold is over.
    End(Outcome),
}

/// What came of an effect.
#[derive(Debug, Clone)]
pub enum Input {
    /// Begin.
    Start,
    /// Whether a mark was found.
    Mark(bool),
    /// The region and the request are planned; true where the report is made without a model.
    Prepared(bool),
    /// The model answered.
    Answer(Answer),
    /// Whether the mark is still the one the fold began with.
    Confirmed(bool),
    /// The edits are in the log; whether `completeFold` resolved.
    Landed(bool),
    /// Whether the second `completeFold` resolved.
    Completed(bool),
    /// The step was refused with a code and a sentence of its own.
    Refused(String, String),
    /// The step was stopped or threw; the driver keeps the reason.
    Stopped,
}

/// How a fold ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The fold stands. `stamped` is false where the checkpoint service could not be told (a warning).
    Folded {
        /// Whether the checkpoint service knows.
        stamped: bool,
    },
    /// Nothing was written, for a classified reason.
    Refused {
        /// The stable code.
        code: String,
        /// The finished sentence.
        message: String,
    },
    /// Nothing was written; the driver throws the reason it kept.
    Stopped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Fresh,
    Reading,
    Preparing,
    Asking,
    Confirming,
    Landing,
    Completing,
    Over,
}

/// One fold.
#[derive(Debug)]
pub struct Transaction {
    state: State,
    budget: Budget,
    attempt: u32,
    max_tokens: u32,
    no_mark: String,
}

impl Transaction {
    /// A fold that has not begun. `no_mark` ends the sentence of `NO_CHECKPOINT`: what to do next.
    #[must_use]
    pub fn new(budget: Budget, no_mark: String) -> Self {
        Self { state: State::Fresh, budget, attempt: 0, max_tokens: budget.max_tokens, no_mark }
    }

    /// Takes what came of the last effect and says what to do next.
    ///
    /// An input that does not belong to the current state ends the fold as stopped: a driver that answers
    /// out of turn must not make anything land.
    pub fn step(&mut self, input: Input) -> Effect {
        let landed = matches!(self.state, State::Landing | State::Completing);
        match (self.state, input) {
            (State::Over, _) => Effect::End(Outcome::Stopped),
            (State::Completing, Input::Refused(..) | Input::Stopped) => {
                self.end(Outcome::Folded { stamped: false })
            }
            (_, Input::Refused(code, message)) => self.end(Outcome::Refused { code, message }),
            (State::Fresh, Input::Start) => self.go(State::Reading, Effect::LatestMark),
            (State::Reading, Input::Mark(true)) => self.go(State::Preparing, Effect::Prepare),
            (State::Reading, Input::Mark(false)) => self.refuse(&Refusal::NoCheckpoint(self.no_mark.clone())),
            (State::Preparing, Input::Prepared(false)) => self.ask(),
            (State::Preparing, Input::Prepared(true)) => self.confirm(None),
            (State::Asking, Input::Answer(answer)) => self.weigh(&answer),
            (State::Confirming, Input::Confirmed(true)) => self.go(State::Landing, Effect::Land),
            (State::Confirming, Input::Confirmed(false)) => self.refuse(&Refusal::Changed),
            (State::Landing, Input::Landed(false)) => self.go(State::Completing, Effect::CompleteAgain),
            (State::Landing, Input::Landed(true)) => self.end(Outcome::Folded { stamped: true }),
            (State::Completing, Input::Completed(stamped)) => self.end(Outcome::Folded { stamped }),
            _ if landed && self.state == State::Completing => self.end(Outcome::Folded { stamped: false }),
            _ => self.end(Outcome::Stopped),
        }
    }

    fn go(&mut self, state: State, effect: Effect) -> Effect {
        self.state = state;
        effect
    }

    fn end(&mut self, outcome: Outcome) -> Effect {
        self.go(State::Over, Effect::End(outcome))
    }

    fn refuse(&mut self, refusal: &Refusal) -> Effect {
        self.end(Outcome::Refused { code: refusal.code().to_owned(), message: refusal.to_string() })
    }

    fn confirm(&mut self, receipt: Option<String>) -> Effect {
        self.go(State::Confirming, Effect::Confirm { receipt })
    }

    /// No report can be had from the model: the fold ends, or goes on without it.
    fn give_up(&mut self, why: String) -> Effect {
        if self.budget.receipt_on_failure {
            self.confirm(Some(why))
        } else {
            self.refuse(&Refusal::SummaryFailed(why))
        }
    }

    fn ask(&mut self) -> Effect {
        self.attempt += 1;
        let effect = Effect::Ask { attempt: self.attempt, max_tokens: self.max_tokens };
        self.go(State::Asking, effect)
    }

    fn weigh(&mut self, answer: &Answer) -> Effect {
        let verdict = judge(answer);
        match verdict {
            Verdict::Report => self.confirm(None),
            Verdict::Failed(why) => self.give_up(why),
            Verdict::Unusable(why) | Verdict::Cut(why) if self.attempt > self.budget.max_retries => {
                let attempts = if self.attempt == 1 { "attempt" } else { "attempts" };
                self.give_up(format!("after {} {attempts}, {why}", self.attempt))
            }
            Verdict::Unusable(_) => self.ask(),
            Verdict::Cut(_) => {
                let ceiling = self.budget.max_tokens.saturating_mul(4);
                self.max_tokens = self.max_tokens.saturating_mul(2).min(ceiling);
                self.ask()
            }
        }
    }
}
