//! Strings where they lie: where they end, how long they are, and what they say.

use crate::event::{Text, utf16_units};
use memchr::memchr;
use std::borrow::Cow;

/// Bytes of a word.
pub(super) const WORD: usize = 8;
/// One in every byte of a word.
const ONES: u64 = u64::MAX / 0xFF;

/// A string, its escapes unread.
#[derive(Clone, Copy, Default)]
pub(in crate::audit) struct Str<'a> {
    /// As it stands in the line, its quotes included.
    quoted: &'a str,
    /// Code units by which its escapes are longer than what they stand for.
    more: usize,
}

impl<'a> Str<'a> {
    pub(super) fn new(quoted: &'a str, more: usize) -> Self {
        Self { quoted, more }
    }

    /// What stands between the quotes.
    pub(in crate::audit) fn raw(self) -> &'a str {
        self.quoted.get(1..self.quoted.len().saturating_sub(1)).unwrap_or_default()
    }

    /// The text, where it has no escapes.
    pub(in crate::audit) fn plain(self) -> Option<&'a str> {
        (self.more == 0).then(|| self.raw())
    }

    /// The text, a lone surrogate as one U+FFFD.
    pub(in crate::audit) fn text(self) -> Text<'a> {
        match self.plain() {
            Some(plain) => Text::from(plain),
            None => {
                let short = unescaped(self.raw()).map(|text| Text(Cow::Owned(text)));
                short.unwrap_or_else(|| serde_json::from_str(self.quoted).unwrap_or_default())
            }
        }
    }

    /// The text's length in UTF-16 code units: an escape stands for one of them, also in a surrogate pair.
    pub(in crate::audit) fn units(self) -> u32 {
        utf16_units(self.raw().as_bytes()).saturating_sub(u32::try_from(self.more).unwrap_or(u32::MAX))
    }
}

/// Where a string's plain part ends: at a quote, a backslash, a control character, or where the line ends.
pub(super) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    // The processor looks at many bytes at once, where it need not say which of them it was.
    let blocks = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk::<32>());
    if plain_in_word(bytes, at) == Some(WORD) {
        at += WORD;
        while blocks(at).is_some_and(|block| !block.iter().fold(false, |any, byte| any | is_special(*byte))) {
            at += 32;
        }
    }
    while let Some(plain) = plain_in_word(bytes, at) {
        at += plain;
        if plain < WORD {
            return at;
        }
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

/// How many bytes of the word from `at` on a string can hold as they are, up to the first that it cannot.
pub(super) fn plain_in_word(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..)?.first_chunk::<WORD>()?;
    Some(special(u64::from_le_bytes(*word)).trailing_zeros() as usize / 8)
}

fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// The high bit of each byte that a string cannot hold as it is. A byte behind the first of them may be marked
/// though it is none.
fn special(word: u64) -> u64 {
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    (below(word, 0x20) | is(b'"') | is(b'\\')) & (ONES << 7)
}

/// How long an escape is, with its backslash; what follows that is given.
pub(super) fn escape(rest: &[u8]) -> Option<usize> {
    match rest.first()? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => rest.get(1..5)?.iter().all(u8::is_ascii_hexdigit).then_some(6),
        _ => None,
    }
}

/// A text whose escapes were checked, where each of them is a backslash and one letter.
fn unescaped(raw: &str) -> Option<String> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        text.push_str(rest.get(..at)?);
        text.push(match rest.as_bytes().get(at + 1)? {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return None,
            itself => char::from(*itself),
        });
        rest = rest.get(at + 2..)?;
    }
    text.push_str(rest);
    Some(text)
}
