//! JSON as `JSON.stringify` writes it, read in one pass without a copy. Whatever else JSON may be, spaces or names
//! with escapes among it, is [`None`] here: that line is read by the general reader, which also says what is wrong.
//! What is read here the general reader would read, too, and read the same.

use crate::event::{Text, utf16_units};
use memchr::memchr;
use std::borrow::Cow;

#[cfg(test)]
pub(in crate::audit) mod tests;

/// Most digits of a number that is surely exact in JavaScript.
const DIGITS: usize = 15;
/// Bytes of a word.
const WORD: usize = 8;
/// One in every byte of a word.
const ONES: u64 = u64::MAX / 0xFF;

/// A place in a line.
#[derive(Clone)]
pub(super) struct Scan<'a> {
    text: &'a str,
    at: usize,
}

/// A string, its escapes unread.
#[derive(Clone, Copy, Default)]
pub(super) struct Str<'a> {
    /// As it stands in the line, its quotes included.
    quoted: &'a str,
    /// Code units by which its escapes are longer than what they stand for.
    more: usize,
}

impl<'a> Str<'a> {
    /// What stands between the quotes.
    pub(super) fn raw(self) -> &'a str {
        self.quoted.get(1..self.quoted.len().saturating_sub(1)).unwrap_or_default()
    }

    /// The text, where it has no escapes.
    pub(super) fn plain(self) -> Option<&'a str> {
        (self.more == 0).then(|| self.raw())
    }

    /// The text, a lone surrogate as one U+FFFD.
    pub(super) fn text(self) -> Text<'a> {
        match self.plain() {
            Some(plain) => Text::from(plain),
            None => {
                let short = unescaped(self.raw()).map(|text| Text(Cow::Owned(text)));
                short.unwrap_or_else(|| serde_json::from_str(self.quoted).unwrap_or_default())
            }
        }
    }

    /// The text's length in UTF-16 code units: an escape stands for one of them, also in a surrogate pair.
    pub(super) fn units(self) -> u32 {
        utf16_units(self.raw().as_bytes()).saturating_sub(u32::try_from(self.more).unwrap_or(u32::MAX))
    }
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The type of an event's or a row's line, which stands first wherever a harness wrote it.
    pub(super) fn tag(text: &'a str) -> Option<&'a str> {
        let mut scan = Self::new(text);
        scan.word("{\"type\":")?;
        scan.string()?.plain()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes this byte, if it is the next.
    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.text.as_bytes().get(self.at..)?.starts_with(word.as_bytes()).then(|| self.at += word.len())
    }

    /// Whether the line ends here.
    pub(super) fn is_done(&self) -> bool {
        self.at == self.text.len()
    }

    /// The name of an object's next field, or none behind the last; `begun` is false before the first.
    #[inline]
    pub(super) fn field(&mut self, begun: &mut bool) -> Option<Option<&'a str>> {
        if !self.more(begun, b'{', b'}')? {
            return Some(None);
        }
        let from = self.at + 1;
        let escapes = self.pass_string()?;
        let name = self.text.get(from..self.at - 1).filter(|_| escapes == 0)?;
        self.eat(b':')?;
        Some(Some(name))
    }

    /// Whether an array has a next member; `begun` is false before the first.
    pub(super) fn member(&mut self, begun: &mut bool) -> Option<bool> {
        self.more(begun, b'[', b']')
    }

    fn more(&mut self, begun: &mut bool, open: u8, close: u8) -> Option<bool> {
        if !std::mem::replace(begun, true) {
            self.eat(open)?;
            return Some(self.eat(close).is_none());
        }
        // No value begins as an object or array ends, so a comma before the end is refused as the value.
        let goes_on = self.peek()? == b',';
        self.eat(if goes_on { b',' } else { close }).map(|()| goes_on)
    }

    /// A string.
    pub(super) fn string(&mut self) -> Option<Str<'a>> {
        let from = self.at;
        let more = self.pass_string()?;
        Some(Str { quoted: self.text.get(from..self.at)?, more })
    }

    /// Passes a string, and tells by how many code units its escapes are longer than what they stand for.
    #[inline]
    pub(super) fn pass_string(&mut self) -> Option<usize> {
        self.eat(b'"')?;
        // Most strings end in their first two words.
        for _ in 0..2 {
            let Some(plain) = plain_in_word(self.text.as_bytes(), self.at) else { break };
            self.at += plain;
            if plain < WORD {
                if self.eat(b'"').is_some() {
                    return Some(0);
                }
                break;
            }
        }
        self.pass_long_string()
    }

    /// Passes what is left of a string.
    #[inline(never)]
    fn pass_long_string(&mut self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut more = 0;
        loop {
            match bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(more);
                }
                b'\\' => {
                    let length = escape(bytes.get(self.at + 1..)?)?;
                    more += length - 1;
                    self.at += length;
                }
                0..0x20 => return None,
                _ => self.at = plain_end(bytes, self.at),
            }
        }
    }

    /// A whole number that is not negative and has at most [`DIGITS`] digits.
    pub(super) fn whole(&mut self) -> Option<u64> {
        let from = self.at;
        let mut value = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            if self.at - from == DIGITS {
                return None;
            }
            value = value * 10 + u64::from(digit - b'0');
            self.at += 1;
        }
        // No zero leads, except alone; and `-0` is a fraction to the general reader.
        let length = self.at - from;
        (length == 1 || length > 1 && self.text.as_bytes().get(from) != Some(&b'0')).then_some(value)
    }

    /// A whole number as [`Self::whole`], or the negative of one.
    pub(super) fn integer(&mut self) -> Option<i64> {
        let negative = self.eat(b'-').is_some();
        let value = i64::try_from(self.whole()?).ok()?;
        match (negative, value) {
            (true, 0) => None,
            (true, value) => Some(-value),
            (false, value) => Some(value),
        }
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self) -> Option<bool> {
        match self.peek()? {
            b't' => self.word("true").map(|()| true),
            _ => self.word("false").map(|()| false),
        }
    }

    /// Any value, passed over; returned as it stands in the line.
    pub(super) fn value(&mut self) -> Option<&'a str> {
        let from = self.at;
        self.pass_value()?;
        self.text.get(from..self.at)
    }

    fn pass_value(&mut self) -> Option<()> {
        // What the value under way is in, a bit each: an object or an array, the innermost lowest, above all a one.
        let mut inside = 1_u64;
        loop {
            match self.peek()? {
                b'"' => drop(self.pass_string()?),
                open @ (b'{' | b'[') if inside >> 63 == 0 => {
                    self.at += 1;
                    let object = open == b'{';
                    if self.eat(if object { b'}' } else { b']' }).is_none() {
                        inside = inside << 1 | u64::from(object);
                        if object {
                            self.pass_name()?;
                        }
                        continue;
                    }
                }
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                _ => self.number()?,
            }
            // A value ends here, and what it ends with it.
            while inside > 1 {
                let object = inside & 1 == 1;
                let next = self.peek()?;
                self.at += 1;
                match next {
                    b',' => {
                        if object {
                            self.pass_name()?;
                        }
                        break;
                    }
                    b'}' if object => inside >>= 1,
                    b']' if !object => inside >>= 1,
                    _ => return None,
                }
            }
            if inside == 1 {
                return Some(());
            }
        }
    }

    fn pass_name(&mut self) -> Option<()> {
        self.pass_string()?;
        self.eat(b':')
    }

    fn number(&mut self) -> Option<()> {
        let _ = self.eat(b'-');
        let from = self.at;
        self.digits()?;
        if self.at - from > 1 && self.text.as_bytes().get(from) == Some(&b'0') {
            return None;
        }
        if !matches!(self.peek(), Some(b'.' | b'e' | b'E')) {
            return Some(());
        }
        if self.eat(b'.').is_some() {
            self.digits()?;
        }
        if self.eat(b'e').or_else(|| self.eat(b'E')).is_some() {
            let _ = self.eat(b'+').or_else(|| self.eat(b'-'));
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let from = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > from).then_some(())
    }
}

/// Keeps the value of a field that may stand in an object once.
pub(super) fn once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}

/// Where a string's plain part ends: at a quote, a backslash, a control character, or where the line ends.
fn plain_end(bytes: &[u8], mut at: usize) -> usize {
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
fn plain_in_word(bytes: &[u8], at: usize) -> Option<usize> {
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
fn escape(rest: &[u8]) -> Option<usize> {
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
