//! What came of a call, read from its result: exit codes as shells print them, error lines, failing tests.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::lookup::{Automaton, automaton};
use super::text::{clip, one_line};

/// How a call ended, without words, so that a later report can say it in its own language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Normally.
    Ok,
    /// A search: how many it found, 0 for nothing.
    Found(u32),
    /// A file came to be.
    Created,
    /// A file was changed.
    Edited,
    /// A file was removed.
    Deleted,
    /// A file was moved here.
    Moved,
    /// A command's exit code other than 0.
    Exit(i32),
    /// A command's time ran out.
    TimedOut,
    /// A command was killed.
    Killed,
    /// The tool failed.
    Failed,
    /// It runs on in the background.
    Background,
    /// No result came.
    Unanswered,
    /// Words, not a call.
    Said,
}

impl Outcome {
    /// Whether what was asked for did not happen.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Exit(_) | Self::TimedOut | Self::Killed | Self::Failed | Self::Unanswered)
    }
}

/// Status lines stand at the end of a shell's result; only this much of the tail is looked at, in bytes.
const TAIL: usize = 400;

/// Reads how a command ended. `failed` is the result's own error flag.
#[must_use]
pub fn of_command(text: &str, failed: bool) -> Outcome {
    let tail = tail(text, TAIL);
    for line in tail.lines().rev().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(outcome) = status_line(line) {
            return outcome;
        }
        if !line.starts_with(['[', '(']) {
            break;
        }
    }
    if failed {
        let code = text.trim_start().strip_prefix("Exit code ").and_then(leading_number);
        return code.map_or(Outcome::Failed, Outcome::Exit);
    }
    let first = text.trim_start();
    if first.starts_with("started background ") || first.starts_with("started subagent ") {
        return Outcome::Background;
    }
    if first.starts_with("Your command timed out after ") {
        return Outcome::TimedOut;
    }
    Outcome::Ok
}

/// The statuses that the shells of the harness, and the ones imported sessions come from, close a result with.
fn status_line(line: &str) -> Option<Outcome> {
    let code = |rest: &str| {
        leading_number(rest).map(|code| if code == 0 { Outcome::Ok } else { Outcome::Exit(code) })
    };
    const CODES: [&str; 5] = [
        "[exit code: ",
        "[shell exited: code ",
        "[status: completed, exit code: ",
        "Command exited with code ",
        "Process exited with code ",
    ];
    if let Some(rest) = CODES.iter().find_map(|opening| line.strip_prefix(opening)) {
        return code(rest);
    }
    const OTHERS: [(&str, Outcome); 7] = [
        ("[killed by signal: ", Outcome::Killed),
        ("[shell killed by signal: ", Outcome::Killed),
        ("[status: killed", Outcome::Killed),
        ("Command aborted", Outcome::Killed),
        ("[timed out after ", Outcome::TimedOut),
        ("[status: running", Outcome::Background),
        ("[status: completed", Outcome::Ok),
    ];
    OTHERS.iter().find(|(opening, _)| line.starts_with(opening)).map(|(_, outcome)| *outcome)
}

/// Reads how much a search found.
#[must_use]
pub fn of_search(text: &str, failed: bool) -> Outcome {
    if failed {
        return Outcome::Failed;
    }
    let text = text.trim();
    let first = text.lines().next().unwrap_or_default();
    const NOTHING: [&str; 6] =
        ["No matches found", "No files found", "No results found", "(no output)", "No matches", "Found 0 "];
    if text.is_empty() || NOTHING.iter().any(|opening| first.starts_with(opening)) {
        return Outcome::Found(0);
    }
    let stated =
        first.strip_prefix("Found ").and_then(|rest| rest.split(" of ").last()).and_then(leading_number);
    let count = stated.and_then(|count| u32::try_from(count).ok());
    Outcome::Found(count.unwrap_or_else(|| {
        u32::try_from(text.lines().filter(|line| !line.trim().is_empty()).count()).unwrap_or(u32::MAX)
    }))
}

fn leading_number(text: &str) -> Option<i32> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}

/// The last `limit` bytes, cut between code points.
fn tail(text: &str, limit: usize) -> &str {
    let mut from = text.len().saturating_sub(limit);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..).unwrap_or_default()
}

/// Error lines kept of one result.
const ERRORS: usize = 3;
/// Names of failing tests kept of one result.
const TESTS: usize = 6;
/// Longest error line kept, UTF-16 code units.
pub(super) const LINE: usize = 200;

/// Words that make a line worth a look. Which of them makes an error is for [`is_error`] and [`is_failing_test`].
const MARKS: [&str; 25] = [
    "error",
    "ERR!",
    "Error",
    "ERROR",
    "fatal",
    "FATAL",
    "panic",
    "xception",
    "FAIL",
    "failed",
    "Failed",
    "cannot",
    "Cannot",
    "could not",
    "Could not",
    "not found",
    "No such file",
    "denied",
    "undefined",
    "rror[",
    "not ok ",
    "✗",
    "✖",
    "错误",
    "失败",
];

static FINDER: LazyLock<Option<Automaton>> =
    LazyLock::new(|| automaton(MARKS.iter().map(|mark| mark.as_bytes()).zip(0..).collect()));

/// Error lines of a failed result, then failing tests: at most a few of each, in order of appearance.
///
/// Lines that can hardly be anything but an error come before lines that only mention one. `strict` is for
/// commands that ended well: only the former count. A failed result always yields a line: where none names an
/// error, the first of its error stream or its last one.
#[must_use]
pub fn error_lines(text: &str, strict: bool) -> Vec<String> {
    let (mut sure, mut vague, mut tests) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen_to = 0;
    for found in FINDER.iter().flat_map(|finder| finder.find_iter(text)) {
        if found.start() < seen_to {
            continue;
        }
        let from = text.get(..found.start()).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let after = text.get(found.end()..).and_then(|after| after.find('\n'));
        let to = after.map_or(text.len(), |at| found.end() + at);
        seen_to = to;
        let line = text.get(from..to).unwrap_or_default().trim();
        if line.len() > LONGEST || is_good(line) {
            continue;
        }
        if is_failing_test(line) {
            push(&mut tests, line, TESTS);
        } else if is_error(line) {
            push(&mut sure, line, ERRORS);
        } else if !strict {
            push(&mut vague, line, ERRORS);
        }
    }
    vague.retain(|line| !sure.contains(line));
    sure.extend(vague);
    sure.truncate(ERRORS);
    if sure.is_empty() && tests.is_empty() && !strict {
        sure.extend(last_resort(text));
    }
    sure.extend(tests);
    sure
}

fn push(lines: &mut Vec<String>, line: &str, limit: usize) {
    // Terminal colours would make one failure look like two.
    let plain = clip(&one_line(&without_escapes(line)), LINE);
    if lines.len() < limit && !plain.is_empty() && !lines.contains(&plain) {
        lines.push(plain);
    }
}

/// First line of the error stream, else the last line that is no status.
fn last_resort(text: &str) -> Option<String> {
    let stderr = text.split_once("[stderr]\n").map(|(_, rest)| rest);
    let is_status = |line: &&str| {
        let line = line.trim();
        line.is_empty()
            || status_line(line).is_some()
            || line == "(no output)"
            || line.starts_with("Exit code ")
    };
    let line = match stderr {
        Some(rest) => rest.lines().find(|line| !is_status(line)),
        None => text.lines().rev().find(|line| !is_status(line)),
    }?;
    let plain = clip(&one_line(&without_escapes(line)), LINE);
    (!plain.is_empty()).then_some(plain)
}

fn is_failing_test(line: &str) -> bool {
    const OPENINGS: [&str; 7] = ["FAIL ", "FAIL:", "FAILED ", "--- FAIL:", "not ok ", "✗ ", "✖ "];
    OPENINGS.iter().any(|opening| line.starts_with(opening))
        || line.starts_with("test ") && line.ends_with("FAILED")
        || line.ends_with(" FAILED") && line.contains("::")
        || line.ends_with("<<< FAILURE!")
}

/// A line longer than this, in bytes, is data, not a message.
const LONGEST: usize = 4000;

/// Counts of nothing are good news.
const GOOD: [&str; 8] =
    ["0 error", "0 failed", "no error", "No error", "0 failures", "without error", "errors: 0", "failed: 0"];

/// Whether a line counts nothing, or denies it: `10 errors` does not end in a count of nothing.
fn is_good(line: &str) -> bool {
    GOOD.iter().any(|good| {
        let counted = good.starts_with(|c: char| c.is_ascii_digit());
        line.match_indices(good).any(|(at, _)| {
            let before = line.get(..at).unwrap_or_default();
            !(counted && before.ends_with(|c: char| c.is_ascii_digit()))
        })
    })
}

fn is_error(line: &str) -> bool {
    const OPENINGS: [&str; 10] =
        ["error:", "error[", "Error:", "ERROR:", "ERROR ", "fatal:", "FATAL", "panic:", "npm ERR!", "错误："];
    // pytest puts `E` before what was raised.
    let line = line.strip_prefix("E ").map_or(line, str::trim_start);
    let named = line.split_once(": ").map_or(line, |(name, _)| name);
    let is_type = (named.ends_with("Error") || named.ends_with("Exception"))
        && named.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
    is_type || OPENINGS.iter().any(|opening| line.starts_with(opening)) || line.contains(": error")
}

/// A line without terminal escapes.
fn without_escapes(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            plain.push(c);
            continue;
        }
        if chars.next() == Some('[') {
            // A control sequence ends at its first letter.
            chars.by_ref().find(char::is_ascii_alphabetic);
        }
    }
    plain
}
