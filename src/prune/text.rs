//! The units and small text steps every prune room shares (docs/prune.md 3.5, 3.6).
//!
//! Lengths here are code points, as the stock pruner counts them; the session's own lengths are UTF-16.

/// Code points of `text`: what every `*Chars` key of the configuration counts.
#[must_use]
pub fn count_points(text: &str) -> usize {
    text.chars().count()
}

/// Tokens of `text` as the judge's budget counts them: one for each non-ASCII code point, else four
/// characters a token (docs/prune.md 3.2).
#[must_use]
pub fn estimate_tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let wide = text.chars().filter(|c| !c.is_ascii()).count();
    wide + ascii.div_ceil(4)
}

/// The first `max` code points of `text`, the last of them an ellipsis if anything was left out.
/// `max` 0 gives an empty text.
#[must_use]
pub fn clip(text: &str, max: usize) -> String {
    if text.char_indices().nth(max).is_none() {
        return text.to_owned();
    }
    match max.checked_sub(1) {
        Some(kept) => text.chars().take(kept).chain(std::iter::once('…')).collect(),
        None => String::new(),
    }
}

/// Head and tail of `text` around ` … `, or the text itself when it is no longer than both together.
#[must_use]
pub fn abridge(text: &str, head: usize, tail: usize) -> String {
    let total = count_points(text);
    if total <= head + tail {
        return text.to_owned();
    }
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(total - tail).collect();
    format!("{start} … {end}")
}

/// `text` on one line: every run of white space (line breaks of any script included) is one space, none
/// stands at the ends. What is quoted this way can never begin a line of its own.
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// A tool's name as the lists compare it: lower case, without `_` and `-`.
#[must_use]
pub fn normalize_tool(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn input_24_tool_names_ignore_case_and_separators() {
        assert_eq!(normalize_tool("Edit"), normalize_tool("edit"));
        assert_eq!(normalize_tool("MultiEdit"), normalize_tool("multi_edit"));
        assert_eq!(normalize_tool("Get-Content"), "getcontent");
        assert_ne!(normalize_tool("edit"), normalize_tool("edit2"));
    }

    #[test]
    fn tokens_weigh_wide_text_by_the_point() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("abcde"), 2);
        assert_eq!(estimate_tokens("错误😀"), 3);
        assert_eq!(estimate_tokens("abcd错"), 2);
    }

    #[test]
    fn one_line_swallows_every_line_break() {
        assert_eq!(one_line("  a\r\n\u{2028}b\u{85}\u{b}c \u{0}d\t"), "a b c d");
        assert_eq!(one_line(" \n "), "");
    }

    #[test]
    fn abridge_keeps_both_ends() {
        assert_eq!(abridge("abcdef", 3, 3), "abcdef");
        assert_eq!(abridge("a😀cdefg", 2, 2), "a😀 … fg");
    }

    proptest! {
        #[test]
        fn clip_never_exceeds_its_limit(text in "\\PC{0,40}", max in 0usize..45) {
            let clipped = clip(&text, max);
            prop_assert!(count_points(&clipped) <= max);
            if count_points(&text) <= max {
                prop_assert_eq!(clipped, text);
            }
        }

        #[test]
        fn one_line_is_one_line(text in any::<String>()) {
            let line = one_line(&text);
            prop_assert!(!line.chars().any(|c| c.is_control() || (c.is_whitespace() && c != ' ')));
            prop_assert_eq!(one_line(&line), line);
        }
    }
}
