//! Tag lines of format 5: `<kind:ID>` and `</kind:ID>`, each alone on its line at column 0.
//!
//! Inline or indented tags are content (docs/turn-memory.md 2.7).

use super::units::push_str;
use std::ops::Range;

/// What a segment holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A person's steering message, word for word.
    UserSteer,
    /// User-facing assistant text, word for word.
    Assistant,
    /// The process between, which is shortened in place.
    Working,
}

impl Kind {
    const ALL: [Self; 3] = [Self::UserSteer, Self::Assistant, Self::Working];

    /// The name the tag carries.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::UserSteer => "user-steer",
            Self::Assistant => "assistant",
            Self::Working => "working",
        }
    }
}

/// One line that reads as a segment tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagLine {
    /// The line in units, without its line end.
    pub at: Range<usize>,
    /// Whether it closes a segment.
    pub close: bool,
    /// The kind it names.
    pub kind: Kind,
    /// The id it names; ids beyond what a draft can hold read as `u64::MAX`.
    pub id: u64,
    /// Whether it is exactly what this package writes. A leading zero or a `\r` before the line end makes a
    /// line that other readers may take for a tag: it collides, but it never opens or closes anything.
    pub exact: bool,
}

/// Every tag line of `text`, in order.
#[must_use]
pub fn tag_lines(text: &[u16]) -> Vec<TagLine> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = find(text, at, u16::from(b'<')) {
        at = open + 1;
        let starts_line = open == 0 || text.get(open - 1) == Some(&u16::from(b'\n'));
        if !starts_line {
            continue;
        }
        let end = find(text, open, u16::from(b'\n')).unwrap_or(text.len());
        if let Some(tag) = text.get(open..end).and_then(|line| read(line, open)) {
            found.push(tag);
            at = end;
        }
    }
    found
}

/// The first `wanted` at or after `from`. Chunks are tested whole first, which the compiler vectorizes.
fn find(text: &[u16], from: usize, wanted: u16) -> Option<usize> {
    const CHUNK: usize = 64;
    let mut at = from;
    while let Some(chunk) = text.get(at..at + CHUNK) {
        let hit = chunk.iter().fold(false, |hit, unit| hit | (*unit == wanted));
        if hit {
            break;
        }
        at += CHUNK;
    }
    text.get(at..)?.iter().position(|unit| *unit == wanted).map(|offset| at + offset)
}

fn read(line: &[u16], start: usize) -> Option<TagLine> {
    let (line_body, bare) = match line.split_last() {
        Some((last, rest)) if *last == u16::from(b'\r') => (rest, false),
        _ => (line, true),
    };
    let inner = strip_suffix(strip(line_body, "<")?, ">")?;
    let (close, inner) = strip(inner, "/").map_or((false, inner), |rest| (true, rest));
    let (kind, digits) =
        Kind::ALL.iter().find_map(|kind| Some((*kind, strip(strip(inner, kind.name())?, ":")?)))?;
    let (first, _) = digits.split_first()?;
    let mut id: u64 = 0;
    for digit in digits {
        let value = u64::from(digit.checked_sub(u16::from(b'0')).filter(|value| *value < 10)?);
        id = id.saturating_mul(10).saturating_add(value);
    }
    let canonical = digits.len() == 1 || *first != u16::from(b'0');
    Some(TagLine { at: start..start + line.len(), close, kind, id, exact: bare && canonical })
}

/// `text` without the ASCII `prefix`.
#[must_use]
pub fn strip<'a>(text: &'a [u16], prefix: &str) -> Option<&'a [u16]> {
    let mut rest = text;
    for byte in prefix.bytes() {
        match rest.split_first() {
            Some((unit, tail)) if *unit == u16::from(byte) => rest = tail,
            _ => return None,
        }
    }
    Some(rest)
}

/// `text` without the ASCII `suffix`.
#[must_use]
pub fn strip_suffix<'a>(text: &'a [u16], suffix: &str) -> Option<&'a [u16]> {
    let mut rest = text;
    for byte in suffix.bytes().rev() {
        match rest.split_last() {
            Some((unit, head)) if *unit == u16::from(byte) => rest = head,
            _ => return None,
        }
    }
    Some(rest)
}

/// Appends one segment: tag line, content, tag line, without a line end after it.
pub fn push_segment(out: &mut Vec<u16>, kind: Kind, id: u32, content: impl FnOnce(&mut Vec<u16>)) {
    push_str(out, &format!("<{}:{id}>\n", kind.name()));
    content(out);
    push_str(out, &format!("\n</{}:{id}>", kind.name()));
}

/// One segment read back from text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The kind its tags name.
    pub kind: Kind,
    /// The id its tags name.
    pub id: u64,
    /// Its content, in units of the text it was read from.
    pub content: Range<usize>,
    /// The whole segment, tag lines included.
    pub whole: Range<usize>,
}

/// Reads the segments of a free text: an opening tag line runs to the *first* closing line of its kind and
/// id; what lies between is content, tag-looking lines included. An opening line without its closing line
/// opens nothing.
#[must_use]
pub fn parse_segments(text: &[u16]) -> Vec<Parsed> {
    let tags: Vec<TagLine> = tag_lines(text).into_iter().filter(|tag| tag.exact).collect();
    let mut parsed = Vec::new();
    let mut rest = tags.as_slice();
    while let Some((open, later)) = rest.split_first() {
        rest = later;
        if open.close {
            continue;
        }
        let closing = later.iter().position(|tag| tag.close && tag.kind == open.kind && tag.id == open.id);
        if let Some((index, close)) = closing.and_then(|index| Some((index, later.get(index)?))) {
            let from = open.at.end + 1;
            let content = from..(close.at.start.saturating_sub(1)).max(from);
            parsed.push(Parsed { kind: open.kind, id: open.id, content, whole: open.at.start..close.at.end });
            rest = later.get(index + 1..).unwrap_or(&[]);
        }
    }
    parsed
}

#[cfg(test)]
mod tests {
    use super::super::units::{shown, units};
    use super::*;

    fn parse(text: &str) -> Vec<(&'static str, u64, String)> {
        let text = units(text);
        parse_segments(&text)
            .into_iter()
            .map(|segment| (segment.kind.name(), segment.id, shown(text.get(segment.content).unwrap_or(&[]))))
            .collect()
    }

    /// Indented or inline tags are content, not segments.
    #[test]
    fn tricky_8_inline_and_indented_tags_are_content() {
        assert_eq!(parse("<user-steer:1>x</user-steer:1>"), vec![]);
        assert_eq!(
            parse("<working:1>\n  <assistant:2>\nsee <working:3> there\n</working:1>"),
            vec![("working", 1, "  <assistant:2>\nsee <working:3> there".to_owned())]
        );
    }

    #[test]
    fn the_first_closing_line_of_the_same_kind_and_id_ends_a_segment() {
        assert_eq!(
            parse(
                "<working:1>\n<assistant:2>\n</assistant:2>\n</working:1>\n<assistant:2>\nb\n</assistant:2>"
            ),
            vec![
                ("working", 1, "<assistant:2>\n</assistant:2>".to_owned()),
                ("assistant", 2, "b".to_owned())
            ]
        );
        assert_eq!(parse("<working:1>\nnever closed\n<assistant:2>\nb\n</assistant:2>").len(), 1);
        assert_eq!(parse("<working:1>\n</working:1>"), vec![("working", 1, String::new())]);
        assert_eq!(parse("<working:1>\n\n</working:1>"), vec![("working", 1, String::new())]);
    }

    #[test]
    fn only_exact_lines_open_but_near_ones_collide() {
        assert_eq!(parse("<working:01>\nx\n</working:01>"), vec![]);
        let near = units("<working:01>\r\n</working:1>");
        assert_eq!(
            tag_lines(&near).iter().map(|tag| (tag.id, tag.exact)).collect::<Vec<_>>(),
            vec![(1, false), (1, true)]
        );
        assert!(tag_lines(&units("<working:>\n<working:1x>\n<working:1> \n<worker:1>")).is_empty());
    }

    #[test]
    fn tags_are_found_wherever_a_line_starts() {
        for pad in 0..140 {
            let text = units(&format!("{}\n</assistant:12>\nrest", "x".repeat(pad)));
            let found = tag_lines(&text);
            assert_eq!(found.len(), 1, "pad {pad}");
            assert_eq!(found.first().map(|tag| (tag.at.start, tag.id)), Some((pad + 1, 12)));
        }
    }
}
