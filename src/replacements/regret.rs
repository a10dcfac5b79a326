//! Regret: what was read again after a replacement had taken it away.
//!
//! Only calls that read count, by a stated table; running a build again is work. Two calls read the same when
//! tool and arguments agree, page and comment arguments aside. A recall counts for every replacement whose
//! originals its result shows.

use super::{CallRef, Calls, Replacements};
use crate::event::{Seq, Text};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Tools that only read.
const READING: [&str; 9] =
    ["read", "glob", "grep", "ls", "list", "web_search", "web_fetch", "read_image", "view"];
/// What names of reading tools of other servers begin with.
const READING_VERBS: [&str; 9] =
    ["get", "read", "list", "search", "find", "fetch", "query", "show", "describe"];
/// Commands that only read, as the first word of every part of a command line.
const READING_COMMANDS: [&str; 16] = [
    "cat", "head", "tail", "less", "ls", "find", "grep", "rg", "wc", "tree", "stat", "file", "sort", "uniq",
    "cut", "nl",
];
/// Arguments that say which part is read or why, not what.
const PAGING: [&str; 12] = [
    "offset",
    "limit",
    "start_line",
    "end_line",
    "line",
    "view_range",
    "max_results",
    "head_limit",
    "timeout",
    "timeoutMs",
    "description",
    "explanation",
];

/// What a call reads; equal for calls that read the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target(u64);

impl Target {
    /// The target of a call, or `None` for a call that does more than read.
    #[must_use]
    pub fn of(tool: &str, arguments: &str) -> Option<Self> {
        let fields: BTreeMap<Text<'_>, &RawValue> = serde_json::from_str(arguments).unwrap_or_default();
        let string = |name: &str| -> Option<Text<'_>> {
            serde_json::from_str(fields.get(&Text::from(name))?.get()).ok()
        };
        let reads = match tool {
            "bash" | "pwsh" => string("command").is_some_and(|command| only_reads(&command)),
            "str_replace_editor" => string("command").is_some_and(|command| command == "view"),
            _ => {
                let own = tool.rsplit("__").next().unwrap_or(tool);
                let foreign =
                    tool.starts_with("mcp__") && READING_VERBS.iter().any(|verb| own.starts_with(verb));
                foreign || READING.contains(&tool)
            }
        };
        if !reads {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        tool.hash(&mut hasher);
        for (name, value) in &fields {
            if !PAGING.contains(&name.as_str()) {
                name.hash(&mut hasher);
                let value = value.get();
                value
                    .strip_prefix("\"./")
                    .unwrap_or(value.strip_prefix('"').unwrap_or(value))
                    .hash(&mut hasher);
            }
        }
        if fields.is_empty() {
            arguments.hash(&mut hasher);
        }
        Some(Self(hasher.finish()))
    }
}

fn only_reads(command: &str) -> bool {
    if command.contains(['>', '`', '$']) {
        return false;
    }
    command.split(['|', ';', '&', '\n']).filter(|part| !part.trim().is_empty()).all(|part| {
        let mut words = part.split_whitespace();
        match words.next() {
            Some("sed") => words.next() == Some("-n"),
            Some("git") => {
                matches!(words.next(), Some("log" | "show" | "diff" | "status" | "blame" | "grep"))
            }
            Some("find") => !part.contains("-delete") && !part.contains("-exec"),
            Some("cd") => true,
            Some(word) => READING_COMMANDS.contains(&word),
            None => true,
        }
    })
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
    pub fn of_log<Id: PartialEq>(
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
        let mut regret = Self::default();
        for Spoken { seq, calls } in spoken {
            for (index, (tool, arguments)) in (0..).zip(calls) {
                regret.call(CallRef { carrier: *seq, index }, tool, arguments);
            }
        }
        let mut steps: Vec<(Seq, Step<'_>)> =
            reader.iter().map(|(seq, taken)| (seq, Step::Replaced(taken))).collect();
        steps.extend(calls.answers().map(|(seq, call)| (seq, Step::Result(call))));
        steps.extend(recalls.iter().map(|recall| (recall.seq, Step::Recalled(&recall.text))));
        steps.sort_by_key(|(seq, _)| *seq);
        for (seq, step) in steps {
            match step {
                Step::Replaced(taken) => regret.replaced(seq, taken),
                Step::Result(call) => drop(regret.result(seq, call)),
                Step::Recalled(text) => regret.recalled(reader, text),
            }
        }
        regret
    }

    /// A call was made.
    pub fn call(&mut self, call: CallRef, tool: &str, arguments: &str) {
        if let Some(target) = Target::of(tool, arguments) {
            self.reading.insert(call, target);
        }
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

    /// A recall gave back text; `result` is what it showed, whose heads name the originals.
    pub fn recalled(&mut self, reader: &Replacements, result: &str) {
        let heads = result.lines().filter_map(|line| {
            let digits = line.strip_prefix('s')?.split(' ').next()?;
            digits
                .parse::<Seq>()
                .ok()
                .filter(|_| line.trim_end().ends_with(')') || line.ends_with(", continued"))
        });
        let takers: BTreeSet<Seq> = heads.filter_map(|seq| reader.taker_of(seq)).collect();
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
