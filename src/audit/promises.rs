//! What the sources of receipts and turn checkpoints promise, and whether the log bears it out.

use super::findings::Findings;
use super::order::Place;
use super::track::Track;
use crate::event::{Seq, Source};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A promise in numbers.
#[derive(Debug, PartialEq)]
pub(super) enum Promise {
    /// A receipt: which nodes it stands for.
    Receipt { start: Seq, end: Seq, seqs: Vec<Seq> },
    /// A checkpoint of a whole turn; its text must begin with the same numbers.
    Turn { turn: u32, named: bool },
}

impl Promise {
    /// Reads what a receipt's source promises.
    pub(super) fn of_receipt(source: &Source<'_>) -> Option<Self> {
        #[derive(Deserialize)]
        struct Range {
            start: Seq,
            end: Seq,
        }
        #[derive(Deserialize)]
        struct Stated {
            range: Range,
            seqs: Vec<Seq>,
        }
        let Stated { range: Range { start, end }, seqs } = source.read()?;
        Some(Self::Receipt { start, end, seqs })
    }

    /// Reads what a turn checkpoint's source promises.
    pub(super) fn of_turn(source: &Source<'_>, text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Stated {
            turn: u32,
            version: u32,
            scope: String,
        }
        let Stated { turn, version, scope } = source.read()?;
        let named = text.starts_with(&format!("<turn-summary turn=\"{turn}\" version=\"{version}\">"));
        (scope == "whole-turn").then_some(Self::Turn { turn, named })
    }
}

/// Where turns begin and end, by number; the last of a number counts.
#[derive(Debug, Default)]
pub(super) struct Turns {
    known: BTreeMap<u32, (Seq, Option<Seq>)>,
    open: Option<u32>,
}

impl Turns {
    /// A turn begins, which ends one that was interrupted.
    pub(super) fn start(&mut self, seq: Seq, turn: u32) {
        if let Some(before) = self.open.replace(turn) {
            self.end(seq.saturating_sub(1), before);
            self.open = Some(turn);
        }
        self.known.insert(turn, (seq, None));
    }

    /// A turn ends.
    pub(super) fn end(&mut self, seq: Seq, turn: u32) {
        self.open = self.open.filter(|open| *open != turn);
        if let Some((_, end)) = self.known.get_mut(&turn) {
            *end = Some(seq);
        }
    }
}

/// Holds a promise to what its replacement took.
pub(super) fn check(
    promise: &Promise,
    at: Place,
    taken: &[Seq],
    turns: &Turns,
    track: &Track,
    findings: &mut Findings,
) {
    let mut broken = |message: String| findings.broken(at, message);
    match promise {
        Promise::Receipt { start, end, seqs } => {
            if taken.first() != Some(start) || taken.last() != Some(end) {
                broken(format!(
                    "The receipt says that it stands for s{start} to s{end}, which is not what it took."
                ));
            }
            if seqs != taken {
                let (stated, is) = (seqs.len(), taken.len());
                broken(format!(
                    "The receipt lists {stated} nodes that it stands for; it took {is}, or others."
                ));
            }
        }
        Promise::Turn { turn, named } => {
            if !named {
                broken(format!(
                    "The checkpoint of turn {turn} does not begin with the numbers of its source."
                ));
            }
            let Some(&(start, Some(end))) = turns.known.get(turn) else {
                return broken(format!(
                    "The checkpoint stands for turn {turn}, which had not ended by then."
                ));
            };
            let outside =
                |seq: &&Seq| track.info(**seq).is_some_and(|info| !(start..=end).contains(&info.origin));
            if let Some(other) = taken.iter().find(outside) {
                broken(format!("The checkpoint of turn {turn} takes s{other}, which is not of that turn."));
            }
        }
    }
}
