//! Every way a fold can be refused, with the sentence the model reads and the stable code beside it.

use thiserror::Error;

/// A classified refusal (spec/rewind.md 4.2). Display is a finished sentence that says what happened and
/// what to do next; [`Refusal::code`] is the stable code that reaches the log.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The surface pairs calls and results in a way no edit may touch.
    #[error("{0}")]
    Unbalanced(String),
}

impl Refusal {
    /// The stable code, as it reaches the session log.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unbalanced(_) => "UNBALANCED",
        }
    }
}
