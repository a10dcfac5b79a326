//! What the sources of receipts and turn checkpoints promise, and whether the log bears it out.

use super::dispatch::{Fields, field};
use super::findings::Findings;
use super::order::Place;
use super::track::Track;
use crate::event::{Seq, Source};
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
    /// What the source of a receipt or a turn checkpoint promises; `text` is what landed.
    pub(super) fn read(source: &Source<'_>, text: &str) -> Option<Self> {
        let stated: Fields<'_> = source.read()?;
        let number = |fields: &Fields<'_>, name| field(fields, name)?.parse().ok();
        if let Some(range) = field(&stated, "range") {
            let range: Fields<'_> = serde_json::from_str(range).ok()?;
            let seqs = serde_json::from_str(field(&stated, "seqs")?).ok()?;
            return Some(Self::Receipt {
                start: number(&range, "start")?,
                end: number(&range, "end")?,
                seqs,
            });
        }
        let (turn, version) = (number(&stated, "turn")?, number(&stated, "version")?);
        let named = text.starts_with(&format!("<turn-summary turn=\"{turn}\" version=\"{version}\">"));
        (field(&stated, "scope")? == "\"whole-turn\"").then_some(Self::Turn { turn, named })
    }
}

/// Where turns begin and end, by number; the last of a number counts.
#[derive(Debug, Default)]
pub(super) struct Turns {
    starts: BTreeMap<u32, Seq>,
    ends: BTreeMap<u32, Seq>,
    open: Option<u32>,
}

impl Turns {
    /// A turn begins, which ends one that was interrupted.
    pub(super) fn start(&mut self, seq: Seq, turn: u32) {
        if let Some(before) = self.open.replace(turn) {
            self.ends.insert(before, seq.saturating_sub(1));
        }
        self.starts.insert(turn, seq);
        self.ends.remove(&turn);
    }

    /// A turn ends.
    pub(super) fn end(&mut self, seq: Seq, turn: u32) {
        self.open = self.open.filter(|open| *open != turn);
        self.ends.insert(turn, seq);
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
            let (Some(&start), Some(&end)) = (turns.starts.get(turn), turns.ends.get(turn)) else {
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
