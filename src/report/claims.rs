//! What the model's prose claims: paths, commands, quoted errors, identifiers, URLs, hashes and numbers, each
//! to be looked up in what the model was sent. No search happens here.

use std::collections::BTreeSet;

use super::token::{Shape, is_command, is_slot, is_sure_path, is_wide, shape, speaks_of_error, trimmed_end};

/// What a claim is, which decides where its ends are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimKind {
    /// A file or directory.
    Path,
    /// A command line.
    Command,
    /// Words in quotation marks that speak of an error.
    QuotedError,
    /// Code in backticks that is none of the others.
    Identifier,
    /// A URL.
    Url,
    /// A commit or content hash.
    Hash,
    /// A number of three digits or more.
    Number,
}

/// One claim, as the prose writes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    /// What it is.
    pub kind: ClaimKind,
    /// Its text.
    pub text: String,
}

/// Claims looked at in one prose; a report that makes more is not checked further.
const CLAIMS: usize = 600;
/// Longest claim, in bytes; a longer span is data, not a claim.
const LONGEST: usize = 400;

/// Reads the claims of a prose, each once, in order of appearance.
#[must_use]
pub fn claims(prose: &str) -> Vec<Claim> {
    let mut reader = Reader::default();
    let mut fence: Option<&str> = None;
    for line in prose.lines() {
        let trimmed = line.trim();
        if let Some(rest) = trimmed.strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(rest.trim()) };
            continue;
        }
        match fence {
            Some(info) => reader.fenced(trimmed, info),
            None => reader.line(trimmed),
        }
    }
    reader.claims
}

#[derive(Default)]
struct Reader {
    claims: Vec<Claim>,
    seen: BTreeSet<Claim>,
}

impl Reader {
    fn add(&mut self, kind: ClaimKind, text: &str) {
        let text = if kind == ClaimKind::Url { from_scheme(text) } else { text };
        let claim = Claim { kind, text: text.to_owned() };
        if text.is_empty()
            || text.len() > LONGEST
            || self.claims.len() >= CLAIMS
            || self.seen.contains(&claim)
        {
            return;
        }
        self.seen.insert(claim.clone());
        self.claims.push(claim);
    }

    fn fenced(&mut self, line: &str, info: &str) {
        let shell = matches!(info, "sh" | "bash" | "shell" | "console" | "zsh" | "pwsh" | "powershell");
        if let Some(command) = line.strip_prefix("$ ") {
            self.add(ClaimKind::Command, command.trim());
        } else if shell && is_command(line) {
            self.add(ClaimKind::Command, line);
        } else {
            self.plain(line);
        }
    }

    fn line(&mut self, line: &str) {
        if let Some(quote) = line.strip_prefix("> ")
            && speaks_of_error(quote)
        {
            return self.add(ClaimKind::QuotedError, trimmed_end(quote.trim()));
        }
        self.spans(line);
    }

    /// Text with code spans and quotations in it, whichever opens first.
    fn spans(&mut self, text: &str) {
        let mut rest = text;
        while let Some((at, open)) = rest.char_indices().find(|(_, c)| *c == '`' || closing(*c).is_some()) {
            let (before, from) = rest.split_at(at);
            self.plain(before);
            let inner = from.get(open.len_utf8()..).unwrap_or_default();
            let last = before.chars().next_back();
            let end = match open {
                '`' => inner.find('`'),
                '"' => end_of_quote(last, inner),
                other => closing(other).and_then(|close| inner.find(close)),
            };
            let Some(end) = end else {
                rest = inner;
                continue;
            };
            let (span, after) = inner.split_at(end);
            if open == '`' {
                self.code(span.trim());
            } else if speaks_of_error(span) && span.contains(char::is_whitespace) {
                self.add(ClaimKind::QuotedError, trimmed_end(span.trim()));
            } else {
                self.spans(span);
            }
            rest = after.get(after.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
        }
        self.plain(rest);
    }

    /// The inside of backticks.
    fn code(&mut self, span: &str) {
        if span.is_empty()
            || span.contains(['<', '>']) && span.contains('<') == span.contains('>') && is_slot(span)
        {
            return;
        }
        // An elided span claims its parts.
        let parts = elided(span);
        if parts.len() > 1 {
            return parts
                .into_iter()
                .filter(|part| part.chars().count() >= 4)
                .for_each(|part| self.plain(part));
        }
        if let Some(command) = span.strip_prefix("$ ") {
            return self.add(ClaimKind::Command, command.trim());
        }
        if span.contains(char::is_whitespace) {
            let kind = if is_command(span) {
                ClaimKind::Command
            } else if speaks_of_error(span) {
                ClaimKind::QuotedError
            } else {
                ClaimKind::Identifier
            };
            return self.add(kind, span);
        }
        let files = braced(span);
        if !files.is_empty() {
            return files.iter().for_each(|file| self.add(ClaimKind::Path, file));
        }
        if let Some((path, name)) = named_place(span) {
            self.add(ClaimKind::Path, path);
            return self.code(name);
        }
        match shape(span) {
            Some(Shape::Number) => self.numbers(span),
            Some(Shape::Located) => self.located(span),
            Some(Shape::Of(kind)) => self.add(kind, span),
            None if span.chars().filter(|c| c.is_alphanumeric()).count() >= 2 => {
                let name = span.strip_suffix("()").unwrap_or(span);
                self.add(ClaimKind::Identifier, name);
            }
            None => {}
        }
    }

    fn plain(&mut self, text: &str) {
        // `[the manual](https://x.dev)` claims its words and its target.
        for token in text.split(|c: char| c.is_whitespace() || is_wide(c)).flat_map(|run| run.split("](")) {
            let token = token
                .trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '~' | '_'))
                .trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '~' | '_'));
            // `path=src/a.rs` claims the path, not the pair.
            let token = match token.rsplit_once('=') {
                Some((_, value)) if !token.contains("://") => value.trim_matches(['"', '\'']),
                _ => token,
            };
            match shape(token) {
                Some(Shape::Of(ClaimKind::Path)) if !is_sure_path(token) => self.numbers(token),
                Some(Shape::Of(kind)) => self.add(kind, token),
                Some(Shape::Located) => self.located(token),
                Some(Shape::Number) | None => match named_place(token) {
                    Some((path, _)) if is_sure_path(path) => self.add(ClaimKind::Path, path),
                    _ => self.numbers(token),
                },
            }
        }
    }

    /// `src/a.rs:42` claims the file and the line.
    fn located(&mut self, token: &str) {
        let at = token.char_indices().find(|&(at, c)| {
            let rest = token.get(at + 1..).unwrap_or_default();
            (c == ':' || c == '#') && rest.trim_start_matches('L').starts_with(|c: char| c.is_ascii_digit())
        });
        let (path, lines) = at.map_or((token, ""), |(at, _)| token.split_at(at));
        self.add(ClaimKind::Path, path);
        for part in lines.split(|c: char| !c.is_ascii_digit()) {
            self.numbers(part);
        }
    }

    /// Runs of digits with their separators. A letter in front makes it part of a name, and so does more than a
    /// short unit behind: `550e8400` and `20240102T103000Z` are names.
    fn numbers(&mut self, token: &str) {
        let mut rest = token;
        let mut before: Option<char> = None;
        while let Some(from) = rest.find(|c: char| c.is_ascii_digit()) {
            let (skipped, tail) = rest.split_at(from);
            let end = tail
                .char_indices()
                .find(|&(at, c)| {
                    let next = tail.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
                    let joins =
                        matches!(c, ',' | '.' | '_') && next.is_some_and(|next| next.is_ascii_digit());
                    !c.is_ascii_digit() && !joins
                })
                .map_or(tail.len(), |(at, _)| at);
            let (number, after) = tail.split_at(end);
            let before_it = skipped.chars().next_back().or(before);
            let unit = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
            let joined = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let named = before_it.is_some_and(|c| c.is_alphabetic() || c == '_')
                || unit > 3
                || after.get(unit..).is_some_and(|rest| rest.starts_with(joined));
            if !named && number.bytes().filter(u8::is_ascii_digit).count() >= 3 {
                self.add(ClaimKind::Number, number);
            }
            before = number.chars().next_back();
            rest = after;
        }
    }
}

/// A URL without what is glued to its front, as in `BASE=https://x.dev`.
fn from_scheme(token: &str) -> &str {
    let scheme = token.find("://").unwrap_or(0);
    let of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let front = token.get(..scheme).unwrap_or_default().trim_end_matches(of_scheme).len();
    token.get(front..).unwrap_or(token)
}

/// `src/config.ts:loadConfig` and `tests/test_a.py::test_b` are a file and a name in it.
fn named_place(span: &str) -> Option<(&str, &str)> {
    let at = span.find([':', '#']).filter(|_| span.len() <= LONGEST)?;
    let (path, rest) = span.split_at(at);
    let name = rest.trim_start_matches([':', '#']);
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let is_place = is_name && shape(span).is_none() && shape(path) == Some(Shape::Of(ClaimKind::Path));
    is_place.then_some((path, name))
}

/// The paths that `src/{a,b}.rs` stands for; none where it is no such thing.
fn braced(span: &str) -> Vec<String> {
    let Some((before, rest)) = span.split_once('{') else { return Vec::new() };
    let Some((names, after)) = rest.split_once('}') else { return Vec::new() };
    let files: Vec<String> = names.split(',').map(|name| format!("{before}{}{after}", name.trim())).collect();
    let paths = files.iter().all(|file| shape(file) == Some(Shape::Of(ClaimKind::Path)));
    if files.len() > 1 && paths { files } else { Vec::new() }
}

/// What closes a quotation that this character opens.
fn closing(open: char) -> Option<char> {
    const MARKS: [(char, char); 5] = [('"', '"'), ('“', '”'), ('「', '」'), ('『', '』'), ('«', '»')];
    MARKS.iter().find(|(mark, _)| *mark == open).map(|(_, close)| *close)
}

/// Where a quotation in straight quotes ends. An error message may quote in its turn: a mark behind white
/// space and before a word opens, any other closes. Where that does not work out, the next mark closes.
fn end_of_quote(before: Option<char>, inner: &str) -> Option<usize> {
    let mut depth = 1_u32;
    let mut last = before;
    let mut chars = inner.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '"' {
            let next = chars.peek().map(|(_, next)| *next);
            let opens = last.is_some_and(|last| last.is_whitespace() || last == '(' || last == '[')
                && next.is_some_and(char::is_alphanumeric);
            depth = if opens { depth + 1 } else { depth - 1 };
            if depth == 0 {
                return Some(at);
            }
        }
        last = Some(c);
    }
    inner.find('"')
}

/// The parts of a text around `…` and `...`; `./...` is a pattern of packages and stays whole.
pub(super) fn elided(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|tail| tail.find(['…', '.'])).map(|at| from + at) {
        let tail = rest.get(at..).unwrap_or_default();
        let before = rest.get(..at).unwrap_or_default();
        let width = if tail.starts_with('…') {
            '…'.len_utf8()
        } else if tail.starts_with("...") && !before.ends_with('/') {
            tail.len() - tail.trim_start_matches('.').len()
        } else {
            from = at + tail.len() - tail.trim_start_matches('.').len();
            continue;
        };
        parts.push(before.trim());
        rest = tail.get(width..).unwrap_or_default();
        from = 0;
    }
    parts.push(rest.trim());
    parts
}
