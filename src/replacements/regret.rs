//! Regret: what was read again after a replacement had taken it away.
//!
//! Only calls that look count, by the tool table of the report; running a build again is work. Two calls read
//! the same when the table says that they act on the same thing, whichever part of it they ask for. A recall
//! counts for every replacement whose originals its result shows.

use super::{CallRef, Calls, Replacements};
use crate::event::{Seq, Text};
use crate::report::shell::split;
use crate::report::tools::{Act, Call, Tools};
use crate::sorted::{by_seq, inserted};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// What a call reads; equal for calls that read the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target(u64);

impl Target {
    /// The target of a call, or `None` for a call that does more than look.
    #[must_use]
    pub fn of(tools: &Tools, tool: &str, arguments: &str) -> Option<Self> {
        if tools.never_looks(tool) {
            return None;
        }
        let Call { act, what, command, shell } = tools.read(tool, arguments);
        let looks = match act {
            Act::Read | Act::Search => true,
            Act::Command => command.is_some_and(|command| {
                let commands = split(&command, shell);
                !commands.is_empty()
                    && commands.iter().all(|one| one.only_looks() && one.changes().is_empty())
            }),
            _ => false,
        };
        looks.then(|| {
            let mut hasher = DefaultHasher::new();
            (act as u8, what.strip_prefix("./").unwrap_or(&what)).hash(&mut hasher);
            Self(hasher.finish())
        })
    }
}

/// The calls of one appended assistant message, in order.
#[derive(Debug, Deserialize)]
pub struct Spoken<'a> {
    /// The message's seq.
    pub seq: Seq,
    /// Tool name and arguments of each call.
    #[serde(borrow)]
    pub calls: Vec<(Text<'a>, Text<'a>)>,
}

/// What one recall showed.
#[derive(Debug, Deserialize)]
pub struct Recalled<'a> {
    /// Seq of its result.
    pub seq: Seq,
    /// The result's text.
    #[serde(borrow)]
    pub text: Text<'a>,
}

/// The originals that a recall's result names at the head of its entries.
#[must_use]
pub fn recalled_heads(result: &str) -> Vec<Seq> {
    if !result.starts_with('s') {
        return Vec::new();
    }
    let heads = result.lines().filter_map(|line| {
        let digits = line.strip_prefix('s')?.split(' ').next()?;
        digits.parse().ok().filter(|_| line.ends_with(')') || line.ends_with(", continued"))
    });
    heads.collect()
}

/// Counts regret while a log is read in order.
#[derive(Debug, Clone, Default)]
pub struct Regret {
    reading: BTreeMap<CallRef, Target>,
    shown: BTreeMap<Seq, Target>,
    gone: BTreeMap<Target, Seq>,
    counts: BTreeMap<Seq, u32>,
}

impl Regret {
    /// Counts over a whole log that was read already: `spoken` are its calls, `recalls` its recalls.
    #[must_use]
    pub fn of_log<Id: Eq + Hash>(
        reader: &Replacements,
        calls: &Calls<Id>,
        spoken: &[Spoken<'_>],
        recalls: &[Recalled<'_>],
    ) -> Self {
        enum Step<'a> {
            Replaced(&'a [Seq]),
            Result(CallRef),
            Recalled(&'a str),
        }
        let tools = Tools::default();
        let mut regret = Self::default();
        for Spoken { seq, calls } in spoken {
            for (index, (tool, arguments)) in (0..).zip(calls) {
                if let Some(target) = Target::of(&tools, tool, arguments) {
                    regret.reads(CallRef { carrier: *seq, index }, target);
                }
            }
        }
        let mut steps: Vec<(Seq, Step<'_>)> =
            reader.iter().map(|(seq, taken)| (seq, Step::Replaced(taken))).collect();
        steps.extend(calls.answers().map(|(seq, call)| (seq, Step::Result(call))));
        steps.extend(recalls.iter().map(|recall| (recall.seq, Step::Recalled(&recall.text))));
        for (seq, step) in by_seq(steps, |step| step.0) {
            match step {
                Step::Replaced(taken) => regret.replaced(seq, taken),
                Step::Result(call) => drop(regret.result(seq, call)),
                Step::Recalled(text) => regret.recalled(reader, &recalled_heads(text)),
            }
        }
        regret
    }

    /// A call was made that does no more than look.
    pub fn reads(&mut self, call: CallRef, target: Target) {
        self.reading.insert(call, target);
    }

    /// An appended result answers a call. Returns the replacement that had taken the same away before.
    pub fn result(&mut self, seq: Seq, call: CallRef) -> Option<Seq> {
        let target = *self.reading.get(&call)?;
        self.shown.insert(seq, target);
        let by = self.gone.remove(&target)?;
        *self.counts.entry(by).or_default() += 1;
        Some(by)
    }

    /// A replacement took nodes away.
    pub fn replaced(&mut self, by: Seq, taken: &[Seq]) {
        for seq in taken {
            if let Some(target) = self.shown.remove(seq) {
                self.gone.insert(target, by);
            }
        }
    }

    /// A recall gave back text whose heads name these originals.
    pub fn recalled(&mut self, reader: &Replacements, heads: &[Seq]) {
        let takers: BTreeSet<Seq> = inserted(heads.iter().filter_map(|seq| reader.taker_of(*seq)));
        for by in takers {
            *self.counts.entry(by).or_default() += 1;
        }
    }

    /// How often something that the replacement `by` took away was read again since.
    #[must_use]
    pub fn of(&self, by: Seq) -> u32 {
        self.counts.get(&by).copied().unwrap_or(0)
    }

    /// Every replacement with regret, in log order, with its count.
    pub fn iter(&self) -> impl Iterator<Item = (Seq, u32)> {
        self.counts.iter().map(|(by, count)| (*by, *count))
    }
}
