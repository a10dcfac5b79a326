//! Events in, ledger out: pairs calls with results, reads each pair by the tool table, and takes older reports'
//! ledgers from their sources.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::effects::Change;
use super::ledger::{Kind, Ledger, Line};
use super::outcome::{self, Outcome};
use super::shell;
use super::text::{clip, one_line};
use super::tools::{Act, Call, Tools, WHAT};
use crate::event::{Block, Body, Event, Message, Seq};
use crate::sorted::by_seq;

/// Longest words to a person that a line keeps, UTF-16 code units.
const TOLD: usize = 300;

/// What the region's events say, beside the ledger.
#[derive(Debug, Clone, Default)]
pub struct Gathered {
    /// The facts.
    pub ledger: Ledger,
    /// Assistant messages of the region.
    pub steps: u32,
    /// The model's last visible words in the region; empty where it said nothing.
    pub last_words: String,
}

/// Reads the region's events, one at a time and in log order.
pub struct Gatherer {
    tools: Tools,
    open: BTreeMap<String, VecDeque<Open>>,
    out: Gathered,
    last: Option<Line>,
}

struct Open {
    call: Call,
    seq: Seq,
    /// Whether the call stands in the region, so that a missing answer is the region's own.
    ours: bool,
}

/// A call that a program made, which only the log knows.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dispatch<'a> {
    #[serde(borrow)]
    name: crate::event::Text<'a>,
    #[serde(default)]
    arguments: Value,
    #[serde(default)]
    is_error: bool,
    #[serde(borrow, default)]
    content: Vec<Block<'a>>,
}

impl Gatherer {
    /// A reader of a region.
    #[must_use]
    pub fn new(tools: Tools) -> Self {
        Self { tools, open: BTreeMap::new(), out: Gathered::default(), last: None }
    }

    /// Takes in the assistant message before the region, whose other calls are answered inside
    /// (docs/rewind.md 1.3); none of them is missed if it is not.
    pub fn carrier(&mut self, carrier: &Event<'_>) {
        self.open_calls(carrier);
        self.open.values_mut().flatten().for_each(|call| call.ours = false);
    }

    /// Takes in one event.
    pub fn read(&mut self, event: &Event<'_>) {
        match &event.body {
            Body::Assistant(assistant) => {
                self.out.steps += 1;
                self.said(event.seq, &assistant.message);
                self.open_calls(event);
            }
            Body::ToolResult(result) => {
                let waiting = self.open.get_mut(result.call_id.as_str());
                if let Some(open) = waiting.and_then(VecDeque::pop_front) {
                    self.answered(&open.call, &text_of(&result.content), result.is_error, event.seq);
                }
            }
            Body::User(message) if message.source.is_plugin("rewind") => {
                if let Some(ledger) = message.source.field::<Ledger>("ledger") {
                    self.out.ledger.merge(ledger);
                }
            }
            Body::Other { name, data: Some(data) } if *name == "tool/code-dispatch" => {
                if let Ok(dispatch) = serde_json::from_str::<Dispatch<'_>>(data.get()) {
                    let none = Map::new();
                    let arguments = dispatch.arguments.as_object().unwrap_or(&none);
                    let call = self.tools.read_object(&dispatch.name, arguments);
                    self.answered(&call, &text_of(&dispatch.content), dispatch.is_error, event.seq);
                }
            }
            _ => {}
        }
    }

    /// What the model said. Only a message that calls nothing was an answer to the person.
    fn said(&mut self, seq: Seq, message: &Message<'_>) {
        let words = text_of(&message.content);
        if words.trim().is_empty() {
            return;
        }
        let calls = message.content.iter().any(|block| matches!(block, Block::ToolCall { .. }));
        if !calls {
            let line = Line::new(Kind::Told, clip(&one_line(&words), TOLD), Outcome::Said, seq);
            self.last = Some(Line { kind: Kind::Stopped, ..line.clone() });
            self.out.ledger.add(line);
        }
        self.out.last_words = words.trim().to_owned();
    }

    fn open_calls(&mut self, event: &Event<'_>) {
        for block in event.content() {
            if let Block::ToolCall { id, name, arguments } = block {
                let call = self.tools.read(name, arguments);
                let open = Open { call, seq: event.seq, ours: true };
                self.open.entry(id.as_str().to_owned()).or_default().push_back(open);
            }
        }
    }

    fn add(&mut self, kind: Kind, what: &str, outcome: Outcome, seq: Seq) {
        let line = Line::new(kind, what.to_owned(), outcome, seq);
        if !matches!(kind, Kind::Error | Kind::Written) {
            self.last = Some(Line { kind: Kind::Stopped, ..line.clone() });
        }
        self.out.ledger.add(line);
    }

    fn errors(&mut self, text: &str, strict: bool, seq: Seq) {
        for line in outcome::error_lines(text, strict) {
            self.add(Kind::Error, &line, Outcome::Failed, seq);
        }
    }

    fn answered(&mut self, call: &Call, text: &str, failed: bool, seq: Seq) {
        match call.act {
            Act::Quiet => {}
            Act::Tell => self.add(Kind::Told, &clip(&call.what, TOLD), Outcome::Said, seq),
            Act::Command => self.ran(call, text, failed, seq),
            Act::Read => {
                self.add(Kind::Read, &call.what, if failed { Outcome::Failed } else { Outcome::Ok }, seq);
            }
            Act::Write | Act::Edit if failed => {
                // A failed edit must not win over an earlier one that stands.
                self.add(Kind::Command, &format!("edit {}", call.what), Outcome::Failed, seq);
            }
            Act::Write | Act::Edit => {
                let created =
                    call.act == Act::Write && (text.contains("Created file") || text.contains("created"));
                let outcome = if created { Outcome::Created } else { Outcome::Edited };
                self.last = Some(Line::new(Kind::Stopped, call.what.clone(), outcome, seq));
                self.add(Kind::Written, &call.what, outcome, seq);
            }
            Act::Search => {
                let outcome = outcome::of_search(text, failed);
                let kind = match outcome {
                    Outcome::Found(0) => Kind::EmptySearch,
                    Outcome::Failed => Kind::Command,
                    _ => Kind::Search,
                };
                self.add(kind, &call.what, outcome, seq);
            }
            Act::Call => self.add(Kind::Command, &call.what, outcome::of_command(text, failed), seq),
            Act::Effect => self.add(Kind::Effect, &call.what, outcome::of_command(text, failed), seq),
        }
        if failed && !matches!(call.act, Act::Quiet | Act::Tell | Act::Command) {
            self.errors(text, false, seq);
        }
    }

    fn ran(&mut self, call: &Call, text: &str, failed: bool, seq: Seq) {
        let outcome = outcome::of_command(text, failed);
        let commands = shell::split(call.command.as_deref().unwrap_or_default(), call.shell);
        if found_nothing(&commands, text, outcome) {
            return self.add(Kind::EmptySearch, &call.what, outcome, seq);
        }
        // Whether every part of a failed list ran is unknown; a single command did what it does first.
        if !outcome.is_failure() || commands.len() == 1 {
            for (change, file) in commands.iter().flat_map(shell::Simple::changes) {
                let how = match change {
                    Change::Written => Outcome::Edited,
                    Change::Deleted => Outcome::Deleted,
                    Change::Moved => Outcome::Moved,
                };
                self.add(Kind::Written, &clip(&one_line(file), WHAT), how, seq);
            }
        }
        for effect in commands.iter().filter(|command| command.has_effect()) {
            self.add(Kind::Effect, &clip(&one_line(effect.text), WHAT), outcome, seq);
        }
        self.add(Kind::Command, &call.what, outcome, seq);
        let looks = commands.iter().all(shell::Simple::only_looks);
        if outcome.is_failure() {
            self.errors(text, false, seq);
        } else if !looks {
            self.errors(text, true, seq);
        }
    }

    /// Ends the region: calls without an answer are told, and where it stopped.
    #[must_use]
    pub fn finish(mut self) -> Gathered {
        let open: Vec<Open> = std::mem::take(&mut self.open).into_values().flatten().collect();
        let unanswered = open.iter().filter(|open| open.ours && open.call.act != Act::Quiet);
        for open in by_seq(unanswered, |open| open.seq) {
            self.add(Kind::Command, &open.call.what, Outcome::Unanswered, open.seq);
        }
        if let Some(last) = self.last.take() {
            self.out.ledger.add(last);
        }
        self.out.ledger.bound();
        self.out
    }
}

/// Whether a list of commands ends in a search, handed on at most, that found nothing.
fn found_nothing(commands: &[shell::Simple<'_>], text: &str, outcome: Outcome) -> bool {
    let mut rest = commands.iter().rev().skip_while(|one| one.is_idle());
    let (mut counted, mut at) = (false, rest.next());
    while let Some(one) = at {
        counted |= one.counts();
        // What goes into a file is not seen, and what answers by its exit code alone says nothing either way.
        if !one.changes().is_empty() || one.is_quiet() && outcome != Outcome::Exit(1) {
            return false;
        }
        if one.searches() {
            let nothing =
                is_empty(text) || counted && is_empty(text.trim().strip_prefix('0').unwrap_or(text));
            return nothing && matches!(outcome, Outcome::Ok | Outcome::Exit(1));
        }
        let handed_on = one.passes_on() || one.counts();
        at = rest.next().filter(|before| handed_on && before.piped);
    }
    false
}

/// Whether a shell's result holds nothing but a status.
fn is_empty(text: &str) -> bool {
    let is_status = |line: &str| {
        let line = line.trim();
        line.is_empty()
            || line == "(no output)"
            || line.starts_with("[exit code: ")
            || line.starts_with("Exit code ")
            || line.starts_with("Command exited with code ")
    };
    text.lines().all(is_status)
}

/// Visible text of blocks, one after the other.
pub(super) fn text_of<'b>(blocks: &'b [Block<'_>]) -> Cow<'b, str> {
    let mut text = Cow::Borrowed("");
    for block in blocks {
        let part = match block {
            Block::Text(part) => Cow::Borrowed(part.as_str()),
            Block::ToolResult { content, .. } => text_of(content),
            _ => continue,
        };
        if text.is_empty() {
            text = part;
            continue;
        }
        let whole = text.to_mut();
        if !whole.ends_with('\n') {
            whole.push('\n');
        }
        whole.push_str(&part);
    }
    text
}
