//! Who answers a question about a turn (docs/turn-memory.md 2.9).

use super::table::Turn;
use crate::event::{Seq, SurfaceOp};
use crate::replacements::{Misfit, Replacements};
use std::collections::BTreeSet;

/// Where a question about a turn goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// A fork of the session, whose context still holds the turn word for word.
    Fork,
    /// A cheap model that reads the turn's transcript.
    Subagent,
}

/// What routing depends on besides the turn.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Epoch milliseconds.
    pub now: f64,
    /// `recallRecentWindowMs`; 0 sends every turn to the subagent.
    pub window: f64,
    /// Number of the newest turn.
    pub newest: u32,
}

/// Routes by age, and never to a fork that would not see the turn: `raw` says whether the turn still stands on
/// the prefix that a fork gets.
#[must_use]
pub fn route_recall(turn: &Turn, clock: Clock, raw: bool) -> Route {
    if clock.window <= 0.0 || turn.end.is_none() || !raw {
        return Route::Subagent;
    }
    let end = turn.end_time.unwrap_or(turn.start_time);
    let recent = if end.is_finite() {
        clock.now - end <= clock.window
    } else {
        turn.number >= clock.newest.saturating_sub(2)
    };
    if recent { Route::Fork } else { Route::Subagent }
}

/// Whether every surface node that `turn` appended still stands once the surface events of the prefix, in log
/// order, are folded. A turn that appended nothing there stands.
///
/// # Errors
/// [`Misfit`] when the operations do not fit each other.
pub fn stands_raw(turn: &Turn, prefix: &[(Seq, SurfaceOp)]) -> Result<bool, Misfit> {
    let end = turn.end.unwrap_or(Seq::MAX);
    let mut surface = Replacements::default();
    let mut appended = BTreeSet::new();
    for (seq, op) in prefix {
        surface.apply(*seq, *op)?;
        if *op == SurfaceOp::Append && *seq >= turn.start && *seq <= end {
            appended.insert(*seq);
        }
    }
    for seq in surface.surface() {
        appended.remove(&seq);
    }
    Ok(appended.is_empty())
}
