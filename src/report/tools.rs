//! What a tool's arguments mean: one table for the harness's own tools, extended by configuration, and a
//! reading by shape for every other, MCP tools above all.

use crate::event::json_of;
use crate::sorted::inserted;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::shell::Shell;
use super::text::{clip, is_one, one_line};

/// What calling a tool amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Act {
    /// Looks at a file or a page.
    Read,
    /// Writes a whole file.
    Write,
    /// Changes a file.
    Edit,
    /// Searches names, contents or the web.
    Search,
    /// Runs a shell command.
    Command,
    /// Anything else with an outcome worth a line.
    Call,
    /// Changes something outside the session.
    Effect,
    /// Speaks to the person.
    Tell,
    /// Leaves no trace worth a line.
    Quiet,
}

/// One tool of the table, as configuration writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// What calling it amounts to.
    pub act: Act,
    /// The argument that says what it acts on.
    #[serde(default)]
    pub argument: Option<String>,
    /// The argument that says where it searches.
    #[serde(default)]
    pub within: Option<String>,
}

/// The tool table: the harness's own tools, and what configuration adds or overrides.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    added: BTreeMap<String, Tool>,
}

/// One call, read by the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// What it amounts to.
    pub act: Act,
    /// What it acts on, on one line.
    pub what: String,
    /// A shell command as the model wrote it, for the acts that run one.
    pub command: Option<String>,
    /// Whose grammar that command is written in.
    pub shell: Shell,
}

/// Longest `what` of a line, UTF-16 code units.
pub(super) const WHAT: usize = 240;

/// Name without case and separators, act, argument, where it searches.
type Row = (&'static str, Act, &'static str, &'static str);

const TABLE: [Row; 46] = [
    ("read", Act::Read, "file_path", ""),
    ("readimage", Act::Read, "file_path", ""),
    ("write", Act::Write, "file_path", ""),
    ("edit", Act::Edit, "file_path", ""),
    ("multiedit", Act::Edit, "file_path", ""),
    ("notebookedit", Act::Edit, "notebook_path", ""),
    ("glob", Act::Search, "pattern", "path"),
    ("grep", Act::Search, "pattern", "path"),
    ("bash", Act::Command, "command", ""),
    ("pwsh", Act::Command, "command", ""),
    ("shell", Act::Command, "command", ""),
    ("runcode", Act::Call, "description", ""),
    ("websearch", Act::Search, "queries", ""),
    ("webfetch", Act::Read, "url", ""),
    ("subagent", Act::Call, "description", ""),
    ("subagentfork", Act::Call, "description", ""),
    ("task", Act::Call, "description", ""),
    ("workflow", Act::Call, "name", ""),
    ("ralph", Act::Call, "prompt", ""),
    ("skill", Act::Call, "name", ""),
    ("joboutput", Act::Call, "job_id", ""),
    ("taskoutput", Act::Call, "task_id", ""),
    ("jobkill", Act::Effect, "job_id", ""),
    ("terminalopen", Act::Call, "command", ""),
    ("terminalsend", Act::Call, "text", ""),
    ("terminalread", Act::Quiet, "", ""),
    ("terminallist", Act::Quiet, "", ""),
    ("terminalsignal", Act::Effect, "signal", ""),
    ("terminalclose", Act::Quiet, "", ""),
    ("sendmessage", Act::Effect, "message", ""),
    ("interruptagent", Act::Effect, "agent_id", ""),
    ("report", Act::Tell, "message", ""),
    ("schedulecreate", Act::Effect, "", ""),
    ("scheduledelete", Act::Effect, "", ""),
    ("schedulelist", Act::Quiet, "", ""),
    ("askuserquestion", Act::Tell, "", ""),
    ("todowrite", Act::Quiet, "", ""),
    ("joblist", Act::Quiet, "", ""),
    ("getgoal", Act::Quiet, "", ""),
    ("creategoal", Act::Call, "", ""),
    ("updategoal", Act::Call, "", ""),
    ("exitplanmode", Act::Tell, "plan", ""),
    ("think", Act::Quiet, "", ""),
    ("checkpoint", Act::Quiet, "", ""),
    ("rewind", Act::Quiet, "", ""),
    ("recall", Act::Quiet, "", ""),
];

/// Argument names that hold a path, a page, a command, a query; in order of preference.
const PATHS: [&str; 9] =
    ["file_path", "path", "filepath", "filename", "file", "notebook_path", "uri", "directory", "dir"];
const PAGES: [&str; 2] = ["url", "href"];
const COMMANDS: [&str; 4] = ["command", "cmd", "script", "shell_command"];
const QUERIES: [&str; 6] = ["pattern", "query", "queries", "q", "regex", "search"];

const LOOKING: &str = "\
    read get list view open show fetch describe load cat inspect stat download retrieve browse \
    navigate";
const SEARCHING: &str = "search find grep glob query";
const WRITING: &str = "write save create append";
const EDITING: &str = "edit patch replace insert rename move modify update";
const CHANGING: &str = "\
    add apply archive assign book cancel close comment commit create delete deploy disable dispatch \
    enable merge move notify pay post publish push put register remove rename reply restart send set \
    submit trigger update upload";

impl Tools {
    /// A table with what configuration adds; a name that the harness also uses is overridden.
    #[must_use]
    pub fn new(added: BTreeMap<String, Tool>) -> Self {
        Self { added: inserted(added.into_iter().map(|(name, tool)| (key(&name), tool))) }
    }

    /// Reads a call. Arguments that are not a JSON object are taken as text.
    #[must_use]
    pub fn read(&self, name: &str, arguments: &str) -> Call {
        let object = serde_json::from_str::<Map<String, Value>>(arguments);
        let Ok(object) = object else {
            let raw = one_line(arguments);
            let what = if raw.is_empty() { name.to_owned() } else { format!("{name} {raw}") };
            let act = self.row(name).map_or_else(|| by_name(name), |row| row.act);
            return Call::new(act, &what, None);
        };
        self.read_object(name, &object)
    }

    /// Reads a call whose arguments are parsed already.
    #[must_use]
    pub fn read_object(&self, name: &str, object: &Map<String, Value>) -> Call {
        if key(name) == "strreplaceeditor" && !self.added.contains_key("strreplaceeditor") {
            let act = match object.get("command").and_then(Value::as_str) {
                Some("create") => Act::Write,
                Some("str_replace" | "insert" | "undo_edit") => Act::Edit,
                _ => Act::Read,
            };
            return Call::of(act, name, object, Some("path"), None);
        }
        if let Some(row) = self.row(name) {
            return Call::of(row.act, name, object, row.argument.as_deref(), row.within.as_deref());
        }
        by_shape(name, object)
    }

    /// Whether the table alone says that a call does more than look, so that its arguments need not be read for it.
    pub(crate) fn never_looks(&self, name: &str) -> bool {
        self.row(name).is_some_and(|row| !matches!(row.act, Act::Read | Act::Search | Act::Command))
    }

    fn row(&self, name: &str) -> Option<Tool> {
        let key = key(name);
        if let Some(tool) = self.added.get(&key) {
            return Some(tool.clone());
        }
        let (_, act, argument, within) = TABLE.iter().find(|row| row.0 == key)?;
        let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        Some(Tool { act: *act, argument: named(argument), within: named(within) })
    }
}

impl Call {
    fn new(act: Act, what: &str, command: Option<String>) -> Self {
        Self { act, what: clip(what, WHAT), command, shell: Shell::Posix }
    }

    /// Puts `what` together by the act: a path, a command, `name "query" where`, or the name with its arguments.
    fn of(
        act: Act,
        name: &str,
        object: &Map<String, Value>,
        argument: Option<&str>,
        within: Option<&str>,
    ) -> Self {
        let first = |names: &[&str]| names.iter().find_map(|name| text_of(object.get(*name)));
        let named = argument.and_then(|argument| text_of(object.get(argument)));
        match act {
            Act::Read | Act::Write | Act::Edit => {
                match named.or_else(|| first(&PATHS)).or_else(|| first(&PAGES)) {
                    Some(path) => Self::new(act, &one_line(&path), None),
                    None => Self::new(act, &with_arguments(name, object), None),
                }
            }
            Act::Command => match named.or_else(|| first(&COMMANDS)) {
                Some(command) => {
                    let place = first(&["workdir", "cwd"]).map(|place| format!(" (in {})", one_line(&place)));
                    let what = shown(&command) + &place.unwrap_or_default();
                    let power = ["pwsh", "powershell"].iter().any(|shell| key(name).contains(shell));
                    let shell = if power { Shell::Power } else { Shell::Posix };
                    Self { shell, ..Self::new(act, &what, Some(command)) }
                }
                None => Self::new(act, &with_arguments(name, object), None),
            },
            Act::Search => {
                let query = named.or_else(|| first(&QUERIES)).map(|query| clip(&one_line(&query), WHAT / 2));
                let place = within.and_then(|within| text_of(object.get(within))).or_else(|| first(&PATHS));
                let place = place.filter(|place| Some(place) != query.as_ref());
                let mut what = name.to_owned();
                what.extend(query.map(|query| format!(" \"{query}\"")));
                what.extend(place.map(|place| format!(" {}", one_line(&place))));
                what.extend(first(&["include", "glob"]).map(|filter| format!(" {}", one_line(&filter))));
                Self::new(act, &what, None)
            }
            Act::Tell => {
                let said = named
                    .or_else(|| object.get("questions").or_else(|| object.get("question")).and_then(words));
                Self::new(act, &said.map_or_else(|| name.to_owned(), |said| one_line(&said)), None)
            }
            Act::Call | Act::Effect | Act::Quiet => match named {
                Some(named) => Self::new(act, &format!("{name}: {}", one_line(&named)), None),
                None => Self::new(act, &with_arguments(name, object), None),
            },
        }
    }
}

/// A command on one line: its first line, and how many more it has.
fn shown(command: &str) -> String {
    let mut lines = command.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = one_line(lines.next().unwrap_or_default());
    match lines.count() {
        0 => first,
        more => format!("{} (+{more} lines)", clip(&first, WHAT - 16)),
    }
}

/// Name without case and separators: `web_search`, `WebSearch` and `web-search` are one tool.
fn key(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// A tool nobody described: the words of its name say what it does, its argument names say to what.
fn by_shape(name: &str, object: &Map<String, Value>) -> Call {
    let act = by_name(name);
    let has = |names: &[&str]| names.iter().any(|name| text_of(object.get(*name)).is_some());
    let act = match act {
        // A file server's `create_directory` is a file; a tracker's `create_issue` with a `path` in it is not.
        Act::Write | Act::Edit if !has(&PATHS) => Act::Effect,
        Act::Read if !has(&PATHS) && !has(&PAGES) => Act::Call,
        Act::Call if has(&COMMANDS) => Act::Command,
        act => act,
    };
    Call::of(act, name, object, None, None)
}

fn by_name(name: &str) -> Act {
    // `mcp__server__tool`: the server's name says nothing about the call.
    let raw = name.rsplit("__").next().unwrap_or(name);
    let words = split_words(raw);
    let is = |list: &str| words.iter().any(|word| is_one(list, word));
    let mentions_file = is("file files directory folder notebook");
    if is(WRITING) && (mentions_file || is("write save")) {
        Act::Write
    } else if is(EDITING) && (mentions_file || is("edit patch replace insert")) {
        Act::Edit
    } else if is(CHANGING) {
        Act::Effect
    } else if is(SEARCHING) {
        Act::Search
    } else if is(LOOKING) {
        Act::Read
    } else {
        Act::Call
    }
}

/// The words of `snake_case`, `kebab-case` and `camelCase`, in lower case.
fn split_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || c.is_ascii_uppercase() && was_lower {
            words.push(String::new());
        }
        was_lower = c.is_ascii_lowercase();
        if let Some(word) = words.last_mut()
            && c.is_ascii_alphanumeric()
        {
            word.push(c.to_ascii_lowercase());
        }
    }
    words
}

/// A string argument, or a list of them; empty ones count as absent.
fn text_of(value: Option<&Value>) -> Option<String> {
    let text = match value? {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("; "),
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

/// All words of a nested value, for questions asked in parts.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => Some(items.iter().filter_map(words).collect::<Vec<_>>().join(" ")),
        Value::Object(object) => object.get("question").or_else(|| object.get("text")).and_then(words),
        _ => None,
    }
}

fn with_arguments(name: &str, object: &Map<String, Value>) -> String {
    let mut what = name.to_owned();
    for (key, value) in object {
        let shown = match value {
            Value::String(text) => clip(&one_line(text), 80),
            other => clip(&one_line(&json_of(other)), 80),
        };
        what.push_str(&format!(" {key}={shown}"));
    }
    what
}
