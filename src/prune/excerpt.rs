//! The few lines of a result that tell a judge what it is (docs/prune.md 3.2).

use super::evidence::Evidence;
use super::text::{clip, count_points, one_line};
use crate::sorted::by_value;

/// At most so many lines are shown.
const LINES: usize = 4;
/// Each of at most so many code points.
const LINE_CHARS: usize = 120;

/// Up to four telling lines of `text` in their own order, joined by ` ⏎ `, at most `max` code points.
#[must_use]
pub fn excerpt(text: &str, max: usize, evidence: &Evidence) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let middle = lines.len() / 2;
    let scored = lines.iter().enumerate().map(|(at, line)| (score(line, at, middle, evidence), at));
    let ranked = by_value(scored, |one| -one.0);
    let mut chosen: Vec<usize> = ranked.into_iter().take(LINES).map(|(_, at)| at).collect();
    chosen.sort_unstable();
    let shown: Vec<String> = chosen
        .into_iter()
        .filter_map(|at| lines.get(at))
        .map(|line| clip(&one_line(line), LINE_CHARS))
        .collect();
    clip(&shown.join(" ⏎ "), max)
}

fn score(line: &str, at: usize, middle: usize, evidence: &Evidence) -> f64 {
    if evidence.find(line).is_some() {
        4.0
    } else if has_constant(line) {
        3.5
    } else if has_assignment(line) {
        3.0
    } else if is_markup(line) {
        0.2
    } else if has_path(line) {
        2.0
    } else if at == middle {
        1.5
    } else if at < 2 {
        1.0
    } else {
        0.5
    }
}

/// A word of capitals, digits and underscores, at least four long and with an underscore: `MAX_RETRIES`.
fn has_constant(line: &str) -> bool {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|word| {
        word.len() >= 4
            && word.contains('_')
            && word.bytes().any(|byte| byte.is_ascii_uppercase())
            && !word.bytes().any(|byte| byte.is_ascii_lowercase())
    })
}

/// One `=` that compares nothing.
fn has_assignment(line: &str) -> bool {
    let bytes = line.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| {
        let beside = |other: Option<usize>| other.and_then(|at| bytes.get(at)).copied();
        *byte == b'='
            && at > 0
            && !matches!(beside(at.checked_sub(1)), Some(b'=' | b'!' | b'<' | b'>'))
            && !matches!(beside(Some(at + 1)), Some(b'=' | b'>'))
    })
}

/// A word with a separator inside and a letter on both sides of it.
fn has_path(line: &str) -> bool {
    line.split_whitespace().any(|word| {
        word.char_indices().any(|(at, c)| {
            matches!(c, '/' | '\\')
                && word.get(..at).is_some_and(|before| before.chars().any(char::is_alphanumeric))
                && word.get(at + 1..).is_some_and(|after| after.chars().any(char::is_alphanumeric))
        })
    })
}

/// A tag, a rule or brackets: a line that says nothing by itself.
fn is_markup(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('<') || count_points(line) < 3 || !line.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prune::evidence::DEFAULT_PATTERNS;
    use proptest::prelude::*;

    fn of(text: &str, max: usize) -> String {
        excerpt(text, max, &Evidence::new(&DEFAULT_PATTERNS).unwrap())
    }

    #[test]
    fn telling_lines_come_first_and_keep_their_order() {
        let text = "first words here\nsecond words here\n<div>\nplain\nsrc/a.rs has it\nport = 8080\nMAX_SIZE of it\nit failed\nend";
        assert_eq!(of(text, 240), "src/a.rs has it ⏎ port = 8080 ⏎ MAX_SIZE of it ⏎ it failed");
    }

    #[test]
    fn plain_text_shows_its_start_and_its_middle() {
        assert_eq!(of("one\n\ntwo\nthree\nfour\nfive\nsix\n", 240), "one ⏎ two ⏎ three ⏎ four");
        assert_eq!(of("a\nb\nccc ddd\neee fff\nggg\nhhh\niii\njjj\n", 240), "ccc ddd ⏎ eee fff ⏎ ggg ⏎ hhh");
    }

    #[test]
    fn comparisons_are_no_assignments() {
        for line in ["if a == b", "a != b", "x <= y", "(a) => b", "=== title ==="] {
            assert!(!has_assignment(line), "{line}");
        }
        assert!(has_assignment("let port = 1") && has_assignment("key=value"));
    }

    #[test]
    fn an_empty_text_has_no_excerpt() {
        assert_eq!(of(" \n\t\n", 240), "");
    }

    proptest! {
        #[test]
        fn an_excerpt_is_one_short_line(text in any::<String>(), max in 0usize..300) {
            let found = of(&text, max);
            prop_assert!(count_points(&found) <= max);
            prop_assert!(!found.contains(['\n', '\r']));
        }
    }
}
