//! The evidence guard: does a text hold a word of trouble (docs/prune.md 3.6)?
//!
//! A pattern is a literal and matches without regard to case, but only where a word can begin: at the
//! start of the text, after a character that is no ASCII letter or digit, before one that is not ASCII,
//! or at a camel boundary. `bug` is found in `bugfix` and `E_BUG`, not in `debug`.

use thiserror::Error;

/// The words that keep a result on the surface unless `evidencePatterns` says otherwise.
pub const DEFAULT_PATTERNS: [&str; 17] = [
    "error",
    "exception",
    "traceback",
    "stack trace",
    "assert",
    "fail",
    "panic",
    "unexpected",
    "mismatch",
    "todo",
    "fixme",
    "bug",
    "错误",
    "失败",
    "异常",
    "断言",
    "超时",
];

/// A pattern that could match nothing or everything.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "evidencePatterns[{index}] is {pattern:?}: a pattern is a literal and must hold something besides spaces, \
     '_' and '-'"
)]
pub struct PatternError {
    /// Its place in the list.
    pub index: usize,
    /// The pattern as it was given.
    pub pattern: String,
}

/// One pattern: its words, lower-cased. Between two words a text may have one space, `_` or `-`, or
/// nothing (`stackTrace`).
#[derive(Debug)]
struct Pattern {
    words: Vec<Vec<char>>,
}

/// A compiled list of patterns.
#[derive(Debug)]
pub struct Evidence {
    patterns: Vec<Pattern>,
    /// For each ASCII character that can begin a match, the patterns it begins.
    by_first: Vec<Vec<usize>>,
    /// Patterns that begin outside ASCII.
    wide: Vec<usize>,
}

/// Where a pattern was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Index in the list the [`Evidence`] was made of.
    pub pattern: usize,
    /// Byte offset of the match in the text.
    pub at: usize,
}

impl Evidence {
    /// Compiles `patterns`.
    ///
    /// # Errors
    ///
    /// A pattern without any word.
    pub fn new<S: AsRef<str>>(patterns: &[S]) -> Result<Self, PatternError> {
        let mut compiled = Self {
            patterns: Vec::with_capacity(patterns.len()),
            by_first: vec![Vec::new(); 128],
            wide: Vec::new(),
        };
        for (index, pattern) in patterns.iter().enumerate() {
            let words = words_of(pattern.as_ref());
            let Some(first) = words.first().and_then(|word| word.first()).copied() else {
                return Err(PatternError { index, pattern: pattern.as_ref().to_owned() });
            };
            compiled.bucket(first).push(index);
            compiled.patterns.push(Pattern { words });
        }
        Ok(compiled)
    }

    fn bucket(&mut self, first: char) -> &mut Vec<usize> {
        match self.by_first.get_mut(first as usize) {
            Some(bucket) => bucket,
            None => &mut self.wide,
        }
    }

    /// The first match in `text`, if there is one.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Hit> {
        let bytes = text.as_bytes();
        let mut previous = None;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if byte.is_ascii() {
                let first = byte.to_ascii_lowercase();
                if let Some(bucket) = self.by_first.get(usize::from(first))
                    && !bucket.is_empty()
                    && starts_word(previous, byte, bytes.get(at + 1).copied())
                    && let Some(hit) = self.any(bucket, text, at)
                {
                    return Some(hit);
                }
                previous = Some(byte);
                at += 1;
            } else {
                if let Some(hit) = self.any(&self.wide, text, at) {
                    return Some(hit);
                }
                previous = None;
                at += 1;
                while bytes.get(at).is_some_and(|byte| byte & 0xC0 == 0x80) {
                    at += 1;
                }
            }
        }
        None
    }

    fn any(&self, candidates: &[usize], text: &str, at: usize) -> Option<Hit> {
        let rest = text.get(at..)?;
        candidates
            .iter()
            .find(|&&index| self.patterns.get(index).is_some_and(|pattern| pattern.matches(rest)))
            .map(|&pattern| Hit { pattern, at })
    }
}

impl Pattern {
    /// Whether `text` begins with this pattern.
    fn matches(&self, text: &str) -> bool {
        let mut rest = text.chars();
        for (index, word) in self.words.iter().enumerate() {
            if index > 0 {
                let mut ahead = rest.clone();
                if ahead.next().is_some_and(is_separator) {
                    rest = ahead;
                }
            }
            for expected in word {
                match rest.next() {
                    Some(found) if folds_to(found, *expected) => {}
                    _ => return false,
                }
            }
        }
        true
    }
}

/// Whether a word begins at `byte`, given the ASCII characters beside it (`None`: text edge or not ASCII).
fn starts_word(previous: Option<u8>, byte: u8, next: Option<u8>) -> bool {
    let Some(previous) = previous else { return true };
    if !previous.is_ascii_alphanumeric() {
        return true;
    }
    // typeError, v2Error; and IOError, where an upper run ends in a capital with a small letter after it.
    byte.is_ascii_uppercase()
        && (!previous.is_ascii_uppercase() || next.is_some_and(|next| next.is_ascii_lowercase()))
}

fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '_' | '-')
}

fn folds_to(found: char, lower: char) -> bool {
    if found.is_ascii() || lower.is_ascii() {
        return found.to_ascii_lowercase() == lower;
    }
    found == lower || found.to_lowercase().eq(std::iter::once(lower))
}

/// Splits at separators and camel boundaries and lower-cases; a pattern of separators alone has no word.
fn words_of(pattern: &str) -> Vec<Vec<char>> {
    let chars: Vec<char> = pattern.trim().chars().collect();
    let mut words = Vec::new();
    let mut word: Vec<char> = Vec::new();
    for (index, &c) in chars.iter().enumerate() {
        let camel = c.is_uppercase()
            && index.checked_sub(1).and_then(|at| chars.get(at)).is_some_and(|p| p.is_lowercase());
        if is_separator(c) || camel {
            words.push(std::mem::take(&mut word));
        }
        if !is_separator(c) {
            word.extend(c.to_lowercase());
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> bool {
        Evidence::new(&DEFAULT_PATTERNS).unwrap().find(text).is_some()
    }

    #[test]
    fn input_23_words_of_trouble_are_found() {
        for text in [
            "TypeError",
            "IOError: no",
            "HTTPError",
            "E_ERROR",
            "bugfix",
            "failure",
            "assert x",
            "stackTrace",
            "错误error",
            "abc错误",
            "STACK_TRACE",
            "stack-trace",
            "Stack trace:",
            "1 failing",
            "x.TODO",
            "v2Error",
            "(panic)",
            "errors",
            "AssertionError",
            "日志异常",
            "é error",
            "éerror",
        ] {
            assert!(found(text), "{text}");
        }
    }

    #[test]
    fn input_23_words_that_only_look_alike_are_not() {
        for text in [
            "debug",
            "__debug__",
            "this.debug",
            "myerror",
            "DEBUG",
            "mastodon",
            "terror",
            "IOERROR",
            "stack of traces",
            "",
            "default",
            "stack\ntrace",
        ] {
            assert!(!found(text), "{text}");
        }
    }

    #[test]
    fn patterns_of_the_user_are_literals() {
        let own = Evidence::new(&["E[0-9]", "exit code", "ошибка"]).unwrap();
        assert_eq!(own.find("an e[0-9] here"), Some(Hit { pattern: 0, at: 3 }));
        assert_eq!(own.find("E5"), None);
        assert_eq!(own.find("ExitCode: 1"), Some(Hit { pattern: 1, at: 0 }));
        assert!(own.find("ОШИБКА").is_some());
    }

    #[test]
    fn a_pattern_without_a_word_is_refused_by_place() {
        for empty in ["", "  ", "_-_"] {
            let refused = Evidence::new(&["error", empty]).unwrap_err();
            assert_eq!((refused.index, refused.pattern.as_str()), (1, empty));
        }
    }

    #[test]
    fn a_list_of_none_finds_nothing() {
        assert_eq!(Evidence::new::<&str>(&[]).unwrap().find("error"), None);
    }

    proptest! {
        #[test]
        fn finding_never_panics_and_points_at_a_boundary(text in any::<String>()) {
            if let Some(hit) = Evidence::new(&DEFAULT_PATTERNS).unwrap().find(&text) {
                prop_assert!(text.is_char_boundary(hit.at));
            }
        }

        #[test]
        fn a_planted_word_is_always_found(
            before in "[ -~\\n错é]{0,30}", after in "[ -~\\n错é]{0,30}", pattern in 0usize..DEFAULT_PATTERNS.len(),
        ) {
            let text = format!("{before} {} {after}", DEFAULT_PATTERNS[pattern]);
            prop_assert!(Evidence::new(&DEFAULT_PATTERNS).unwrap().find(&text).is_some());
        }
    }
}
