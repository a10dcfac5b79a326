//! Text that tolerates what a log may legally hold: lone surrogates, NUL, any script.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// A value as the JSON it is. `Value::to_string` does the same with a writer of its own, and one that indents: as much
/// code again.
pub(crate) fn json_of(value: &Value) -> String {
    // A value has no keys but strings, so there is nothing that could fail.
    serde_json::to_string(value).unwrap_or_default()
}

/// JSON text. A lone surrogate becomes one U+FFFD: both count one UTF-16 code unit, so lengths stay what
/// JavaScript's `.length` says. Text that must come back byte for byte stays in JavaScript.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<'a>(pub Cow<'a, str>);

impl Text<'_> {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Length in UTF-16 code units.
    #[must_use]
    pub fn utf16_len(&self) -> usize {
        utf16_len(&self.0)
    }
}

impl Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
            fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                match std::str::from_utf8(bytes) {
                    Ok(text) => self.visit_borrowed_str(text),
                    Err(_) => self.visit_bytes(bytes),
                }
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                let text = match std::str::from_utf8(bytes) {
                    Ok(text) => text.to_owned(),
                    Err(_) => mend(bytes.to_vec()),
                };
                Ok(Text(Cow::Owned(text)))
            }
        }
        // serde_json refuses a lone surrogate in a `String`, but hands its WTF-8 to whoever asks for bytes.
        deserializer.deserialize_bytes(TextVisitor)
    }
}

/// WTF-8 to UTF-8: an encoded surrogate and U+FFFD are both three bytes, so it is done in place.
fn mend(mut bytes: Vec<u8>) -> String {
    for at in 0..bytes.len().saturating_sub(2) {
        if let [0xED, 0xA0..=0xBF, 0x80..=0xBF] = bytes[at..at + 3] {
            bytes[at..at + 3].copy_from_slice("\u{FFFD}".as_bytes());
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Length in UTF-16 code units, which is what JavaScript's `.length` counts.
#[must_use]
pub fn utf16_len(text: &str) -> usize {
    units(text.as_bytes())
}

/// As [`utf16_len`], of WTF-8: an encoded lone surrogate counts one unit. Saturates.
#[must_use]
pub fn utf16_units(bytes: &[u8]) -> u32 {
    u32::try_from(units(bytes)).unwrap_or(u32::MAX)
}

fn units(bytes: &[u8]) -> usize {
    // One unit a code point, which is a byte that continues none, and a second one for four-byte sequences. Sums
    // of 127 bytes fit a byte, which lets the processor add many at once.
    let sum = |chunk: &[u8]| {
        chunk.iter().map(|byte| u8::from((*byte & 0xC0) != 0x80) + u8::from(*byte >= 0xF0)).sum::<u8>()
    };
    bytes.chunks(127).map(|chunk| usize::from(sum(chunk))).sum()
}
