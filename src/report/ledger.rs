//! The evidence ledger: what an exploration read, changed, ran and was told, as data. Code makes it from the
//! region's events; the report's source keeps it, and a later fold takes it from there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::outcome::Outcome;
use super::shell::Shell;
use crate::event::Seq;
use crate::sorted::{by_seq, in_order};

/// What a line is about, in the order of the headings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// A file or page that was looked at.
    Read,
    /// A file that was written, edited, moved or deleted.
    Written,
    /// A command or another call, with its outcome.
    Command,
    /// A search that found something.
    Search,
    /// A search that found nothing.
    EmptySearch,
    /// An error line or a failing test.
    Error,
    /// An effect outside the session.
    Effect,
    /// Something the person was told.
    Told,
    /// Where the exploration stopped; a ledger holds one.
    Stopped,
}

/// One fact, with every place it was seen at merged into it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// What the line is about.
    pub kind: Kind,
    /// The path, command, query, error or words; one line.
    pub what: String,
    /// How it ended the last time.
    pub outcome: Outcome,
    /// The newest seqs it was seen at, ascending, never empty.
    pub seqs: Vec<Seq>,
    /// How many times it was seen.
    pub times: u32,
}

/// Newest seqs kept of one line; older sightings are only counted.
const SEQS: usize = 16;

/// Lines kept as data; the least valuable go first and are only counted.
const LINES: usize = 400;

impl Line {
    /// A fact seen once.
    #[must_use]
    pub fn new(kind: Kind, what: String, outcome: Outcome, seq: Seq) -> Self {
        Self { kind, what, outcome, seqs: vec![seq], times: 1 }
    }

    /// Where it was seen last.
    #[must_use]
    pub fn last(&self) -> Seq {
        self.seqs.last().copied().unwrap_or_default()
    }

    /// Takes in another sighting of the same fact: the later one says how it ended, none counts twice.
    fn merge(&mut self, other: &Self) {
        if other.last() >= self.last() {
            self.outcome = other.outcome;
        }
        let known = other.seqs.iter().filter(|seq| self.seqs.contains(seq)).count();
        let known = u32::try_from(known).unwrap_or(u32::MAX);
        self.times = self.times.saturating_add(other.times).saturating_sub(known);
        self.seqs.extend(&other.seqs);
        self.seqs.sort_unstable();
        self.seqs.dedup();
        let over = self.seqs.len().saturating_sub(SEQS);
        self.seqs.drain(..over);
    }

    /// What the line is worth to whoever goes on from the report: the lowest goes first.
    #[must_use]
    pub fn value(&self) -> u8 {
        let failed = self.outcome.is_failure();
        match self.kind {
            Kind::Search => 0,
            Kind::Command
                if !failed
                    && super::shell::split(&self.what, Shell::Posix).iter().all(|one| one.only_looks()) =>
            {
                1
            }
            Kind::Read if !failed => 2,
            Kind::Told => 3,
            Kind::EmptySearch => 4,
            Kind::Command | Kind::Read if !failed => 5,
            Kind::Command | Kind::Read => 6,
            Kind::Error => 7,
            Kind::Effect => 8,
            Kind::Written => 9,
            Kind::Stopped => 10,
        }
    }

    /// The order in which lines give way: the least valuable first, and of those the one seen longest ago.
    pub(super) fn rank(&self) -> i64 {
        i64::from(self.value()) << 32 | i64::from(self.last())
    }
}

/// All facts of an exploration, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Ledger {
    lines: BTreeMap<(Kind, String), Line>,
    left_out: u32,
}

/// The ledger as a report's source keeps it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    lines: Vec<Line>,
    #[serde(default)]
    left_out: u32,
}

impl From<Stored> for Ledger {
    fn from(stored: Stored) -> Self {
        let mut ledger = Self { left_out: stored.left_out, ..Self::default() };
        for line in stored.lines.into_iter().filter(|line| !line.seqs.is_empty()) {
            ledger.add(line);
        }
        ledger
    }
}

impl From<Ledger> for Stored {
    fn from(ledger: Ledger) -> Self {
        Self { left_out: ledger.left_out, lines: ledger.lines.into_values().collect() }
    }
}

impl Ledger {
    /// Enters a fact. The same fact again is counted, and the later sighting says how it ended.
    pub fn add(&mut self, line: Line) {
        if line.kind == Kind::Stopped {
            let newer = self.of(Kind::Stopped).next().is_none_or(|known| known.last() <= line.last());
            if !newer {
                return;
            }
            self.lines.retain(|(kind, _), _| *kind != Kind::Stopped);
        }
        match self.lines.get_mut(&(line.kind, line.what.clone())) {
            Some(known) => known.merge(&line),
            None => {
                self.lines.insert((line.kind, line.what.clone()), line);
            }
        }
    }

    /// Takes in another ledger, as of an older report.
    pub fn merge(&mut self, other: Self) {
        self.left_out = self.left_out.saturating_add(other.left_out);
        other.lines.into_values().for_each(|line| self.add(line));
    }

    /// Drops the least valuable lines beyond what a source may keep, so that ledgers of ledgers stay bounded.
    pub fn bound(&mut self) {
        let over = self.lines.len().saturating_sub(LINES);
        if over == 0 {
            return;
        }
        let order = in_order(self.lines.iter().map(|(key, line)| (line.rank(), key.clone())), |one| one.0);
        order.into_iter().take(over).for_each(|(_, key)| {
            self.lines.remove(&key);
        });
        self.left_out = self.left_out.saturating_add(u32::try_from(over).unwrap_or(u32::MAX));
    }

    /// Lines of one kind, in the order in which they were last seen.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Line> {
        by_seq(self.lines.values().filter(move |line| line.kind == kind), |line| line.last()).into_iter()
    }

    /// Whether the ledger states a fact.
    #[must_use]
    pub fn has(&self, kind: Kind, what: &str) -> bool {
        self.lines.contains_key(&(kind, what.to_owned()))
    }

    /// Number of facts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is no fact.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Facts that did not fit into the source of this or an older report.
    #[must_use]
    pub fn left_out(&self) -> u32 {
        self.left_out
    }
}
