//! The judge without a model: verdicts from facts of the surface (spec/prune.md 3.2 and its rulings).
//!
//! One walk from the tail to the front keeps what later messages said, so each result is held against
//! exactly what came after it.

use super::tools::{Class, Tools};
use super::view::{Call, Head, Node, Outcome, Said, View};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Results of the last so many steps are likely still in use.
const NEAR_STEPS: i32 = 3;
/// A distinctive identifier has at least so many characters.
const IDENTIFIER_CHARS: usize = 8;
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
    let keys = CallKeys::read(view);
    let answered = answered_calls(view);
    let mut later = Later::new(&keys);
    let mut verdicts = Vec::new();
    for (at, node) in view.nodes.iter().enumerate().rev() {
        match &node.said {
            Said::User { .. } => {}
            Said::Assistant(head) => later.take(at, head, &answered, tools),
            Said::Result(outcome) => verdicts.push(later.judge(node, outcome, view, tools)),
        }
    }
    verdicts.reverse();
    verdicts
}

/// Calls that have a result that is no failure, by place of head and call.
fn answered_calls(view: &View) -> HashSet<(usize, usize)> {
    view.results().filter(|(_, _, outcome)| !outcome.is_error).map(|(_, _, outcome)| outcome.call).collect()
}

/// What identifies a call: its tool and arguments, and the path it names.
#[derive(Debug, Default)]
struct CallKeys {
    /// By place of head: for each call its identity, the same number for the same tool and arguments.
    identity: HashMap<usize, Vec<usize>>,
    /// By place of head: for each call the path it names.
    path: HashMap<usize, Vec<Option<String>>>,
    /// Every path any call names.
    paths: HashSet<String>,
}

impl CallKeys {
    fn read(view: &View) -> Self {
        let mut keys = Self::default();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (at, node) in view.nodes.iter().enumerate() {
            let Said::Assistant(head) = &node.said else { continue };
            let (mut identities, mut paths) = (Vec::new(), Vec::new());
            for call in &head.calls {
                let arguments = serde_json::from_str::<Value>(&call.arguments).ok();
                // serde_json keeps object keys sorted, so equal arguments print equal.
                let canonical =
                    arguments.as_ref().map_or_else(|| call.arguments.trim().to_owned(), Value::to_string);
                let next = known.len();
                identities.push(*known.entry(format!("{}\0{canonical}", call.tool_key)).or_insert(next));
                let path = arguments.as_ref().and_then(path_of);
                keys.paths.extend(path.clone());
                paths.push(path);
            }
            keys.identity.insert(at, identities);
            keys.path.insert(at, paths);
        }
        keys
    }

    fn identity(&self, call: (usize, usize)) -> Option<usize> {
        self.identity.get(&call.0)?.get(call.1).copied()
    }

    fn path(&self, call: (usize, usize)) -> Option<&str> {
        self.path.get(&call.0)?.get(call.1)?.as_deref()
    }
}

fn path_of(arguments: &Value) -> Option<String> {
    let path = ["path", "file_path", "notebook_path"].iter().find_map(|key| arguments.get(key)?.as_str())?;
    Some(normalize_path(path)).filter(|path| !path.is_empty())
}

/// One spelling of a path: `/` between its parts, no `./` in front, no `/` behind.
fn normalize_path(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.trim().chars() {
        let c = if c == '\\' { '/' } else { c };
        if !(c == '/' && out.ends_with('/')) {
            out.push(c);
        }
    }
    while let Some(rest) = out.strip_prefix("./") {
        out = rest.to_owned();
    }
    if out.len() > 1 && out.ends_with('/') {
        out.pop();
    }
    out
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
    keys: &'a CallKeys,
    /// Identities of later calls that succeeded.
    repeated: HashSet<usize>,
    /// Paths that later calls wrote.
    written: HashSet<&'a str>,
    /// Paths and identifiers that stand in later words and arguments.
    words: HashMap<String, Speaker>,
    steps: i32,
}

impl<'a> Later<'a> {
    fn new(keys: &'a CallKeys) -> Self {
        Self { keys, repeated: HashSet::new(), written: HashSet::new(), words: HashMap::new(), steps: 0 }
    }

    fn take(&mut self, at: usize, head: &Head, answered: &HashSet<(usize, usize)>, tools: &Tools) {
        self.steps += 1;
        self.read_words(&head.text, Speaker::Many);
        for (index, call) in head.calls.iter().enumerate() {
            let place = (at, index);
            let Some(identity) = self.keys.identity(place) else { continue };
            self.read_arguments(call, Speaker::Call(identity));
            // A repeat that failed or was never answered replaces nothing.
            if answered.contains(&place) {
                self.repeated.insert(identity);
                if tools.class(&call.tool_key) == Class::Write
                    && let Some(path) = self.keys.path(place)
                {
                    self.written.insert(path);
                }
            }
        }
    }

    fn read_arguments(&mut self, call: &Call, speaker: Speaker) {
        match serde_json::from_str::<Value>(&call.arguments) {
            Ok(arguments) => self.read_value(&arguments, speaker),
            Err(_) => self.read_words(&call.arguments, speaker),
        }
    }

    fn read_value(&mut self, value: &Value, speaker: Speaker) {
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

    fn read_words(&mut self, text: &str, speaker: Speaker) {
        for word in text.split(|c: char| c.is_whitespace() || "\"'`()[]{}<>,;=|*".contains(c)) {
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
            self.note(identifier.to_owned(), speaker);
        }
    }

    fn note_path(&mut self, word: &str, speaker: Speaker) {
        if word.is_empty() {
            return;
        }
        let path = normalize_path(word);
        if self.keys.paths.contains(&path) {
            self.note(path, speaker);
        }
    }

    fn note(&mut self, word: String, speaker: Speaker) {
        self.words
            .entry(word)
            .and_modify(|known| {
                if *known != speaker {
                    *known = Speaker::Many
                }
            })
            .or_insert(speaker);
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
        let own = self.keys.identity(outcome.call);
        let path = self.keys.path(outcome.call);
        if own.is_some_and(|identity| self.repeated.contains(&identity)) {
            return (0.05, Why::Superseded);
        }
        if class == Class::ReadOnly && path.is_some_and(|path| self.written.contains(path)) {
            return (0.1, Why::Rewritten);
        }
        if outcome.is_error {
            return (0.9, Why::Failed);
        }
        if path.is_some_and(|path| self.said(path, own)) || self.reappears(outcome, own) {
            return (0.8, Why::Reused);
        }
        if self.steps <= NEAR_STEPS {
            return (0.7, Why::Near);
        }
        ((0.6 * 0.9_f64.powi(self.steps)).max(0.15), Why::Distance)
    }

    fn said(&self, word: &str, own: Option<usize>) -> bool {
        self.words.get(word).is_some_and(|speaker| speaker.beside(own))
    }

    /// What an earlier cut took away counts as well: its identifiers are looked for in every body.
    fn reappears(&self, outcome: &Outcome, own: Option<usize>) -> bool {
        if self.words.is_empty() {
            return false;
        }
        let body = outcome.earlier.last().unwrap_or(&outcome.body);
        let mut found = BTreeSet::new();
        body.iter().flatten().flat_map(|text| identifiers(text)).any(|identifier| {
            self.said(identifier, own) && found.insert(identifier) && found.len() >= REAPPEARING
        })
    }
}

/// The distinctive identifiers of a text: at least eight letters, digits and underscores with a digit, an
/// underscore or a capital inside.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| {
        word.len() >= IDENTIFIER_CHARS
            && word.bytes().zip(word.bytes().skip(1)).any(|(before, byte)| {
                byte.is_ascii_digit()
                    || before.is_ascii_digit()
                    || byte == b'_'
                    || before == b'_'
                    || (byte.is_ascii_uppercase() && before.is_ascii_lowercase())
            })
    })
}
