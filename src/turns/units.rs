//! UTF-16 text: counting and capping by code points, without ever leaving code units.
//!
//! Text of a turn must come back byte for byte, lone surrogates included (docs/turn-memory.md 2.1), so
//! this room works on the units JavaScript holds. A lone surrogate counts as one code point.

/// How many code points `text` holds.
#[must_use]
pub fn points(text: &[u16]) -> usize {
    // Without an early exit the compiler tests many units at once, and text rarely holds a surrogate.
    if !text.iter().fold(false, |found, unit| found | is_surrogate(*unit)) {
        return text.len();
    }
    let pairs = text.windows(2).filter(|pair| is_pair(pair)).count();
    text.len() - pairs
}

/// Appends `text` to `out`, keeping at most `cap` code points of it: `ceil(cap/2)` from its head, the marker
/// that names the whole length, `floor(cap/2)` from its tail. The tail of a result holds the outcome.
pub fn push_capped(out: &mut Vec<u16>, text: &[u16], cap: usize) {
    // The unit length bounds the point count, so the common short text is never walked.
    if text.len() <= cap {
        out.extend_from_slice(text);
        return;
    }
    let total = points(text);
    if total <= cap {
        out.extend_from_slice(text);
        return;
    }
    let (head, tail) = cuts(text, cap);
    out.extend_from_slice(text.get(..head).unwrap_or(text));
    push_str(out, &super::sheet::marker(total));
    out.extend_from_slice(text.get(tail..).unwrap_or(&[]));
}

/// Where to cut a text of more than `cap` code points: the end of its head and the start of its tail, in
/// units. Neither lies inside a surrogate pair.
#[must_use]
pub fn cuts(text: &[u16], cap: usize) -> (usize, usize) {
    (head_end(text, cap.div_ceil(2)), tail_start(text, cap / 2))
}

fn head_end(text: &[u16], points: usize) -> usize {
    let mut at = 0;
    for _ in 0..points {
        if at >= text.len() {
            break;
        }
        at += if text.get(at..at + 2).is_some_and(is_pair) { 2 } else { 1 };
    }
    at
}

fn tail_start(text: &[u16], points: usize) -> usize {
    let mut at = text.len();
    for _ in 0..points {
        if at == 0 {
            break;
        }
        at -= if at >= 2 && text.get(at - 2..at).is_some_and(is_pair) { 2 } else { 1 };
    }
    at
}

fn is_surrogate(unit: u16) -> bool {
    unit & 0xF800 == 0xD800
}

fn is_pair(pair: &[u16]) -> bool {
    matches!(pair, [high, low] if high & 0xFC00 == 0xD800 && low & 0xFC00 == 0xDC00)
}

/// Appends ASCII or any other well-formed text.
pub fn push_str(out: &mut Vec<u16>, text: &str) {
    if text.is_ascii() {
        out.extend(text.bytes().map(u16::from));
    } else {
        out.extend(text.encode_utf16());
    }
}

/// The units of a well-formed text.
#[must_use]
pub fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

/// `text` for a person or a model to read in a message: a lone surrogate shows as U+FFFD.
#[must_use]
pub fn shown(text: &[u16]) -> String {
    String::from_utf16_lossy(text)
}

/// `text` without the white space around it, as `String.prototype.trim` sees it.
#[must_use]
pub fn trimmed(text: &[u16]) -> &[u16] {
    let from = text.iter().position(|unit| !is_space(*unit)).unwrap_or(text.len());
    let to = text.iter().rposition(|unit| !is_space(*unit)).map_or(from, |last| last + 1);
    text.get(from..to).unwrap_or(&[])
}

fn is_space(unit: u16) -> bool {
    unit == 0xFEFF || char::from_u32(u32::from(unit)).is_some_and(char::is_whitespace)
}

/// The lines of `text`, without their `\n`; a `\r` before it belongs to the line.
pub fn lines(text: &[u16]) -> impl Iterator<Item = &[u16]> {
    text.split(|unit| *unit == u16::from(b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn capped(text: &str, cap: usize) -> String {
        let mut out = Vec::new();
        push_capped(&mut out, &units(text), cap);
        shown(&out)
    }

    #[test]
    fn a_cap_keeps_the_larger_half_in_front() {
        assert_eq!(capped("abcdefg", 7), "abcdefg");
        assert_eq!(capped("abcdefg", 5), "abc ... [truncated, 7 chars total] ... fg");
        assert_eq!(capped("abcdefg", 1), "a ... [truncated, 7 chars total] ... ");
    }

    #[test]
    fn caps_count_code_points_and_never_split_one() {
        assert_eq!(points(&units("a🔬文")), 3);
        assert_eq!(capped("🔬🔬🔬", 3), "🔬🔬🔬");
        assert_eq!(capped("🔬🔬🔬", 2), "🔬 ... [truncated, 3 chars total] ... 🔬");
        assert_eq!(points(&[0xD83D, 0xD83D, 0xDE00, 0xDE00]), 3);
    }

    #[test]
    fn trimming_follows_javascript() {
        assert_eq!(shown(trimmed(&units("\u{feff} \n x\u{a0}y \r\n"))), "x\u{a0}y");
        assert!(trimmed(&units(" \n\t")).is_empty());
    }

    proptest! {
        #[test]
        fn a_cap_is_a_head_and_a_tail_of_whole_code_points(
            text in proptest::collection::vec(any::<u16>(), 0..60), cap in 0_usize..40
        ) {
            let (head, tail) = cuts(&text, cap);
            prop_assert_eq!(points(text.get(..head).unwrap_or(&[])), cap.div_ceil(2).min(points(&text)));
            prop_assert_eq!(points(text.get(tail..).unwrap_or(&[])), (cap / 2).min(points(&text)));
            let mut out = Vec::new();
            push_capped(&mut out, &text, cap);
            if points(&text) <= cap {
                prop_assert_eq!(out, text);
            } else {
                prop_assert!(head <= tail);
                prop_assert!(out.starts_with(text.get(..head).unwrap_or(&[])));
                prop_assert!(out.ends_with(text.get(tail..).unwrap_or(&[])));
            }
        }
    }
}
