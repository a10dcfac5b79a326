//! JSON as `JSON.stringify` writes it, read in one pass without a copy. Whatever else JSON may be, spaces or names
//! with escapes among it, is [`None`] here: that line is read by the general reader, which also says what is wrong.
//! What is read here the general reader would read, too, and read the same.

mod string;
#[cfg(test)]
pub(in crate::audit) mod tests;

pub(super) use string::Str;
use string::{WORD, escape, plain_end, plain_in_word};

/// Most digits of a number that is surely exact in JavaScript.
const DIGITS: usize = 15;

/// A place in a line.
#[derive(Clone)]
pub(super) struct Scan<'a> {
    text: &'a str,
    at: usize,
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
        Some(Str::new(self.text.get(from..self.at)?, more))
    }

    /// A string that may hold control characters as they are: the general reader lets them stand where a text is read
    /// as bytes, though it is no JSON then.
    pub(super) fn lax_string(&mut self) -> Option<Str<'a>> {
        let from = self.at;
        self.string().or_else(|| {
            self.at = from;
            self.eat(b'"')?;
            let more = self.pass_long_string(true)?;
            Some(Str::new(self.text.get(from..self.at)?, more))
        })
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
        self.pass_long_string(false)
    }

    /// Passes what is left of a string.
    #[inline(never)]
    fn pass_long_string(&mut self, lax: bool) -> Option<usize> {
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
                0..0x20 if !lax => return None,
                0..0x20 => self.at += 1,
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
