//! Small shapes of text that every part of a report shares: one line, clipped, counted as JavaScript counts.

use crate::event::utf16_len;

/// Text on one line: control characters and runs of white space become one space, both ends are trimmed.
///
/// A ledger line can then never end early or open a heading of its own, whatever a path or an error holds.
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(512));
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// The beginning of `text` within `limit` UTF-16 code units, with `…` where something was cut off.
#[must_use]
pub fn clip(text: &str, limit: usize) -> String {
    if utf16_len(text) <= limit {
        return text.to_owned();
    }
    let mut clipped = head(text, limit.saturating_sub(1)).trim_end().to_owned();
    if limit > 0 {
        clipped.push('…');
    }
    clipped
}

/// The longest beginning of `text` within `limit` UTF-16 code units, cut between code points.
#[must_use]
pub fn head(text: &str, limit: usize) -> &str {
    let mut units = 0;
    for (at, c) in text.char_indices() {
        units += c.len_utf16();
        if units > limit {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

/// First line of a text that is not blank, on one line; empty where there is none.
#[must_use]
pub fn first_line(text: &str) -> String {
    text.lines().map(one_line).find(|line| !line.is_empty()).unwrap_or_default()
}

/// Prefixes every line with `> `, so that quoted text cannot end its own quotation.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for (index, line) in text.lines().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out.push_str("> ");
        out.push_str(line);
    }
    out
}

/// Whether a word is one of those in a list, which is one text: a list of texts costs as much again beside them.
#[inline(never)]
#[must_use]
pub fn is_one(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}
