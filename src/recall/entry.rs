//! How one node is shown: a head that names it, then its text or the lines of it that match.

use super::window::{Window, unit_index};
use crate::event::{Block, Body, Event, Image};
use regex_lite::Regex;

/// Code units of a call's arguments in a head.
const ARGUMENTS: usize = 100;
/// Code units shown before a match, and half of those shown from its start.
const AROUND: usize = 160;

/// The call behind a result, as heads name it.
#[derive(Debug, Clone)]
pub(super) struct Label {
    /// Tool name, and the arguments cut to one short line.
    pub(super) text: String,
    /// The tool's name alone.
    pub(super) tool: String,
    /// Whether the call names the path asked for; true when none was.
    pub(super) on_path: bool,
}

impl Label {
    pub(super) fn new(tool: &str, arguments: &str, on_path: bool) -> Self {
        let text = format!("{tool} {}", one_line(arguments, ARGUMENTS));
        Self { text: text.trim_end().to_owned(), tool: tool.to_owned(), on_path }
    }
}

/// Writes the node, or those lines of it that match; a node without any is left out. Returns whether
/// something was written.
pub(super) fn show(
    window: &mut Window,
    event: &Event<'_>,
    who: &str,
    parts: &[Part<'_>],
    lines: Option<&Regex>,
) -> bool {
    let (seq, chars) = (event.seq, event.chars());
    let Some(pattern) = lines else {
        window.entry(format!("s{seq} {who} ({chars} chars)"));
        for part in parts {
            window.line(&part.whole());
        }
        return true;
    };
    let matching: Vec<String> = parts.iter().flat_map(|part| part.matching(pattern)).collect();
    if matching.is_empty() {
        return false;
    }
    let plural = if matching.len() == 1 { "line matches" } else { "lines match" };
    window.entry(format!("s{seq} {who} ({chars} chars, {} {plural})", matching.len()));
    for line in &matching {
        window.line(line);
    }
    true
}

/// One piece of a node's text.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// Text as it stands.
    Text(&'a str),
    /// The model's reasoning.
    Reasoning(&'a str),
    /// A call: tool and arguments.
    Call(&'a str, &'a str),
    /// An image, which cannot be shown.
    Image(&'a Image<'a>),
    /// A block of a type not known here.
    Other,
}

impl<'a> Part<'a> {
    /// The parts of a message; `keep` says which of its calls are asked for, by index.
    pub(super) fn of(content: &'a [Block<'a>], keep: &dyn Fn(u32) -> bool) -> Vec<Self> {
        let mut calls = 0..;
        let mut parts = Vec::new();
        for block in content {
            match block {
                Block::Text(text) => parts.push(Self::Text(text)),
                Block::Reasoning(text) => parts.push(Self::Reasoning(text)),
                Block::Image(image) => parts.push(Self::Image(image)),
                Block::ToolCall { name, arguments, .. } => {
                    if calls.next().is_some_and(keep) {
                        parts.push(Self::Call(name, arguments));
                    }
                }
                Block::ToolResult { content, .. } => parts.extend(Self::of(content, &|_| true)),
                Block::Other(_) => parts.push(Self::Other),
            }
        }
        parts
    }

    fn whole(&self) -> String {
        match self {
            Self::Text(text) => (*text).to_owned(),
            Self::Reasoning(text) => format!("(reasoning) {text}"),
            Self::Call(tool, arguments) => format!("call {tool} {arguments}"),
            Self::Image(image) => {
                let name = image.name.as_deref().unwrap_or("unnamed");
                format!("[image: {name}, {}]", image.media_type.as_deref().unwrap_or("unknown type"))
            }
            Self::Other => "[content of a type that has no text]".to_owned(),
        }
    }

    fn matching(&self, pattern: &Regex) -> Vec<String> {
        match self {
            Self::Text(text) | Self::Reasoning(text) => {
                let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).zip(1..);
                lines
                    .filter_map(|(line, number)| Some(format!("{number}: {}", around(line, pattern)?)))
                    .collect()
            }
            Self::Call(tool, arguments) => {
                around(arguments, pattern).map(|found| format!("call {tool} {found}")).into_iter().collect()
            }
            Self::Image(_) | Self::Other => Vec::new(),
        }
    }
}

/// Who speaks in a node, without its call.
pub(super) fn speaker(event: &Event<'_>) -> String {
    match (&event.body, event.source()) {
        (Body::Assistant(_), _) => "assistant".to_owned(),
        (_, Some(source)) => match &source.plugin {
            Some(plugin) => one_line(plugin, ARGUMENTS),
            None => one_line(&source.kind, ARGUMENTS),
        },
        _ => String::new(),
    }
}

/// The line around its first match, cut on code points.
fn around(line: &str, pattern: &Regex) -> Option<String> {
    let found = pattern.find(line)?;
    let (before, rest) = (line.get(..found.start())?, line.get(found.start()..)?);
    let units = before.encode_utf16().count();
    let from = unit_index(before, units.saturating_sub(AROUND));
    let to = unit_index(rest, 2 * AROUND);
    let open = if from > 0 { "…" } else { "" };
    let close = if to < rest.len() { "…" } else { "" };
    Some(format!("{open}{}{}{close}", before.get(from..)?, rest.get(..to)?))
}

/// Text as one line of at most so many code units.
fn one_line(text: &str, units: usize) -> String {
    let cut = unit_index(text, units);
    let mut line: String =
        text.get(..cut).unwrap_or_default().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if cut < text.len() {
        line.push('…');
    }
    line
}
