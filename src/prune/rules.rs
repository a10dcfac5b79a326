//! The judge without a model: verdicts from facts of the surface (docs/prune.md 3.2).
//!
//! One walk from the tail to the front keeps what later messages said, so each result is held against
//! exactly what came after it.

use super::tools::{Class, Tools};
use super::view::{Call, Head, Node, Outcome, Said, View};
use super::words::{identifiers, last_part, normalize_path, path_words};
use crate::event::json_of;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Results of the last so many steps are likely still in use.
const NEAR_STEPS: i32 = 3;
/// So many identifiers must reappear before the result counts as used.
const REAPPEARING: usize = 2;

/// Why a result has its value; the first that holds, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The same call was made again later.
    Superseded,
    /// The file it read was written later.
    Rewritten,
    /// The tool failed.
    Failed,
    /// Its path or its identifiers stand in what the model wrote later.
    Reused,
    /// It belongs to one of the last steps.
    Near,
    /// Nothing but its distance speaks for it.
    Distance,
}

impl Why {
    /// The stable name.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Superseded => "superseded",
            Self::Rewritten => "rewritten",
            Self::Failed => "failed",
            Self::Reused => "reused",
            Self::Near => "near",
            Self::Distance => "distance",
        }
    }
}

/// The verdict on one result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// The result's seq.
    pub seq: u32,
    /// Probability that the content is still needed.
    pub need: f64,
    /// Probability that the call changed state outside the session.
    pub effect: f64,
    /// The rule that decided `need`.
    pub why: Why,
}

/// Judges every result of the surface, in surface order.
#[must_use]
pub fn judge(view: &View, tools: &Tools) -> Vec<Verdict> {
    let facts = Facts::read(view);
    let mut later = Later::new(&facts);
    let mut verdicts = Vec::new();
    for (at, node) in view.nodes.iter().enumerate().rev() {
        match &node.said {
            Said::User { .. } => {}
            Said::Assistant(head) => later.take(at, head, tools),
            Said::Result(outcome) => verdicts.push(later.judge(node, outcome, view, tools)),
        }
    }
    verdicts.reverse();
    verdicts
}

/// What is known of one call.
#[derive(Debug)]
struct CallFacts {
    /// The same number for the same tool and arguments.
    identity: usize,
    /// The path it names.
    path: Option<String>,
    /// Its arguments, where they are JSON.
    arguments: Option<Value>,
    /// Whether it has a result that is no failure.
    succeeded: bool,
}

/// The calls of a surface.
#[derive(Debug)]
struct Facts {
    /// By place of the head, in model order.
    calls: Vec<Vec<CallFacts>>,
    /// Every path any call names.
    paths: HashSet<String>,
    /// The last parts of those paths, to pass over words that cannot be one.
    names: HashSet<String>,
}

impl Facts {
    fn read(view: &View) -> Self {
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut calls: Vec<Vec<CallFacts>> = view
            .nodes
            .iter()
            .map(|node| match &node.said {
                Said::Assistant(head) => head.calls.iter().map(|call| call_facts(call, &mut known)).collect(),
                _ => Vec::new(),
            })
            .collect();
        for (_, _, outcome) in view.results().filter(|(_, _, outcome)| !outcome.is_error) {
            if let Some(call) = calls.get_mut(outcome.call.0).and_then(|head| head.get_mut(outcome.call.1)) {
                call.succeeded = true;
            }
        }
        let paths: HashSet<String> = calls.iter().flatten().filter_map(|call| call.path.clone()).collect();
        let names = paths.iter().map(|path| last_part(path).to_owned()).collect();
        Self { calls, paths, names }
    }

    fn of(&self, call: (usize, usize)) -> Option<&CallFacts> {
        self.calls.get(call.0)?.get(call.1)
    }
}

fn call_facts(call: &Call, known: &mut HashMap<String, usize>) -> CallFacts {
    let arguments = serde_json::from_str::<Value>(&call.arguments).ok();
    // serde_json keeps object keys sorted, so equal arguments print equal.
    let canonical = arguments.as_ref().map_or_else(|| call.arguments.trim().to_owned(), json_of);
    let next = known.len();
    let identity = *known.entry(format!("{}\0{canonical}", call.tool_key)).or_insert(next);
    CallFacts { identity, path: arguments.as_ref().and_then(path_of), arguments, succeeded: false }
}

fn path_of(arguments: &Value) -> Option<String> {
    let path = ["path", "file_path", "notebook_path"].iter().find_map(|key| arguments.get(key)?.as_str())?;
    Some(normalize_path(path)).filter(|path| !path.is_empty())
}

/// Who said a word: one call identity alone, or more than that one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    Call(usize),
    Many,
}

impl Speaker {
    /// Whether somebody else than the call `own` said it: a repeat of a call is no reappearance.
    fn beside(self, own: Option<usize>) -> bool {
        match self {
            Self::Call(identity) => Some(identity) != own,
            Self::Many => true,
        }
    }
}

/// What was said after the node that the walk has reached.
struct Later<'a> {
    facts: &'a Facts,
    /// Identities of later calls that succeeded.
    repeated: HashSet<usize>,
    /// Paths that later calls wrote.
    written: HashSet<&'a str>,
    /// Paths that stand in later words and arguments.
    paths: HashMap<String, Speaker>,
    /// Identifiers that stand there.
    identifiers: HashMap<&'a str, Speaker>,
    steps: i32,
}

impl<'a> Later<'a> {
    fn new(facts: &'a Facts) -> Self {
        Self {
            facts,
            repeated: HashSet::new(),
            written: HashSet::new(),
            paths: HashMap::new(),
            identifiers: HashMap::new(),
            steps: 0,
        }
    }

    fn take(&mut self, at: usize, head: &'a Head, tools: &Tools) {
        self.steps += 1;
        self.read_words(&head.text, Speaker::Many);
        let facts: &'a [CallFacts] = self.facts.calls.get(at).map_or(&[], Vec::as_slice);
        for (call, facts) in head.calls.iter().zip(facts) {
            let speaker = Speaker::Call(facts.identity);
            match &facts.arguments {
                Some(arguments) => self.read_value(arguments, speaker),
                None => self.read_words(&call.arguments, speaker),
            }
            // A repeat that failed or was never answered replaces nothing.
            if facts.succeeded {
                self.repeated.insert(facts.identity);
                if tools.class(&call.tool_key) == Class::Write {
                    self.written.extend(facts.path.as_deref());
                }
            }
        }
    }

    fn read_value(&mut self, value: &'a Value, speaker: Speaker) {
        match value {
            Value::String(text) => {
                // A path may hold spaces, which part the words of a text.
                self.note_path(text, speaker);
                self.read_words(text, speaker);
            }
            Value::Array(items) => items.iter().for_each(|item| self.read_value(item, speaker)),
            Value::Object(fields) => fields.values().for_each(|field| self.read_value(field, speaker)),
            _ => {}
        }
    }

    fn read_words(&mut self, text: &'a str, speaker: Speaker) {
        for word in path_words(text) {
            let word = word.trim_end_matches(['.', ':', '!', '?']);
            self.note_path(word, speaker);
            // src/a.rs:12:5
            if let Some((path, _)) = word.get(2..).and_then(|rest| rest.split_once(':'))
                && let Some(path) = word.get(..2 + path.len())
            {
                self.note_path(path, speaker);
            }
        }
        for identifier in identifiers(text) {
            note(&mut self.identifiers, identifier, speaker);
        }
    }

    fn note_path(&mut self, word: &str, speaker: Speaker) {
        if !self.facts.names.contains(last_part(word.trim())) {
            return;
        }
        let path = normalize_path(word);
        if self.facts.paths.contains(&path) {
            note(&mut self.paths, path, speaker);
        }
    }

    fn judge(&self, node: &Node, outcome: &Outcome, view: &View, tools: &Tools) -> Verdict {
        let class = view.call_of(outcome).map_or(Class::Unknown, |call| tools.class(&call.tool_key));
        let (need, why) = self.need(outcome, class);
        let effect = match class {
            Class::ReadOnly => 0.02,
            Class::Unknown => 0.6,
            Class::Write => 0.98,
        };
        Verdict { seq: node.seq, need, effect, why }
    }

    fn need(&self, outcome: &Outcome, class: Class) -> (f64, Why) {
        let facts = self.facts.of(outcome.call);
        let own = facts.map(|call| call.identity);
        let path = facts.and_then(|call| call.path.as_deref());
        if own.is_some_and(|identity| self.repeated.contains(&identity)) {
            return (0.05, Why::Superseded);
        }
        if class == Class::ReadOnly && path.is_some_and(|path| self.written.contains(path)) {
            return (0.1, Why::Rewritten);
        }
        if outcome.is_error {
            return (0.9, Why::Failed);
        }
        let path_reappears = path.and_then(|path| self.paths.get(path)).is_some_and(|one| one.beside(own));
        if path_reappears || self.identifiers_reappear(outcome, own) {
            return (0.8, Why::Reused);
        }
        if self.steps <= NEAR_STEPS {
            return (0.7, Why::Near);
        }
        ((0.6 * 0.9_f64.powi(self.steps)).max(0.15), Why::Distance)
    }

    /// What an earlier cut took away counts as well: the identifiers are those of the oldest body.
    fn identifiers_reappear(&self, outcome: &Outcome, own: Option<usize>) -> bool {
        if self.identifiers.is_empty() {
            return false;
        }
        let body = outcome.earlier.last().unwrap_or(&outcome.body);
        let mut found = BTreeSet::new();
        body.iter().flatten().flat_map(|text| identifiers(text)).any(|identifier| {
            self.identifiers.get(identifier).is_some_and(|speaker| speaker.beside(own))
                && found.insert(identifier)
                && found.len() >= REAPPEARING
        })
    }
}

fn note<K: std::hash::Hash + Eq>(words: &mut HashMap<K, Speaker>, word: K, speaker: Speaker) {
    words
        .entry(word)
        .and_modify(|known| {
            if *known != speaker {
                *known = Speaker::Many;
            }
        })
        .or_insert(speaker);
}
