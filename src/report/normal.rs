//! Text as claims are compared with it: quotes, white space and path separators made equal, terminal escapes left out.

/// What each byte becomes. White space and quotes are made equal; a backslash and the lead bytes of typographic
/// quotes depend on what follows.
static MAP: [u8; 256] = {
    let mut map = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        let same = byte as u8;
        map[byte] = match same {
            b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => b' ',
            b'"' | b'`' => QUOTE,
            // NUL maps to itself and reads as special, which leaves it as it is.
            b'\\' | ESCAPE | 0xE2 | 0xE3 | 0xC2 => SPECIAL,
            same => same,
        };
        byte += 1;
    }
    map
};

/// Marks the bytes that depend on what follows.
const SPECIAL: u8 = 0;
/// Begins a terminal escape.
const ESCAPE: u8 = 0x1b;
const QUOTE: u8 = b'\'';

/// What a special byte becomes together with the bytes behind it, and what is left of those.
fn special(byte: u8, after: &[u8]) -> (u8, &[u8]) {
    match (byte, after) {
        // JSON inside of text escapes its line breaks and quotes.
        (b'\\', [b'n' | b't' | b'r', rest @ ..]) => (b' ', rest),
        (b'\\', [b'"' | b'\'', rest @ ..]) => (QUOTE, rest),
        (b'\\', [b'\\', rest @ ..] | rest) => (b'/', rest),
        // ‘ ’ “ ” « » 「 」 『 』 and the no-break space.
        (0xE2, [0x80, 0x98 | 0x99 | 0x9C | 0x9D, rest @ ..]) => (QUOTE, rest),
        (0xC2, [0xAB | 0xBB, rest @ ..]) => (QUOTE, rest),
        (0xE3, [0x80, 0x8C..=0x8F, rest @ ..]) => (QUOTE, rest),
        (0xC2, [0xA0, rest @ ..]) => (b' ', rest),
        _ => (byte, after),
    }
}

/// What stands behind a terminal escape: nobody repeats the colours of what he read.
fn behind_escape(after: &[u8]) -> &[u8] {
    let end = match after {
        // A control sequence ends at its first letter, a link or a title at a bell or another escape.
        [b'[', rest @ ..] => rest.iter().position(|byte| (0x40..=0x7e).contains(byte)).map(|at| at + 2),
        [b']', rest @ ..] => rest
            .iter()
            .position(|byte| matches!(*byte, 0x07 | ESCAPE))
            .map(|at| if rest.get(at) == Some(&ESCAPE) { at + 1 } else { at + 2 }),
        [b'\\', ..] => Some(1),
        _ => Some(0),
    };
    after.get(end.unwrap_or(after.len())..).unwrap_or_default()
}

/// Fills the buffer with normalised bytes, up to `limit` in all, and returns the bytes left. `spaced` tells
/// whether the last byte was white space: a run of it becomes one space.
pub(super) fn fill<'t>(buffer: &mut Vec<u8>, limit: usize, bytes: &'t [u8], spaced: &mut bool) -> &'t [u8] {
    let mut written = buffer.len();
    buffer.resize(limit.max(written), 0);
    let mut last = if *spaced { b' ' } else { 0 };
    let mut rest = bytes;
    // A surplus space is written and then written over: a branch for it costs more than the byte.
    while let (Some(slot), Some((&byte, after))) = (buffer.get_mut(written), rest.split_first()) {
        let (mapped, after) = match MAP[usize::from(byte)] {
            SPECIAL if byte == ESCAPE => {
                rest = behind_escape(after);
                continue;
            }
            SPECIAL => special(byte, after),
            mapped => (mapped, after),
        };
        *slot = mapped;
        written += usize::from(mapped != b' ' || last != b' ');
        last = mapped;
        rest = after;
    }
    buffer.truncate(written);
    *spaced = last == b' ';
    rest
}

/// A short text, normalised as a whole.
pub(super) fn normalised(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    fill(&mut bytes, text.len(), text.as_bytes(), &mut false);
    bytes
}
