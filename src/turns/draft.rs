//! A draft under work: the rendered segments, what a worker rewrote so far, and the checks before it lands.
//!
//! The draft is held as segments and never re-parsed from text, so nothing anybody writes into a segment can
//! move its borders (docs/turn-memory.md 2.7).

use super::refusal::TurnRefusal;
use super::render::{Part, render};
use super::script::Script;
use super::sheet::Sheet;
use super::tag::{Kind, push_segment, strip, strip_suffix, tag_lines};
use super::units::{lines, points, push_str, trimmed, units};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The checkpoint format this package writes.
pub const FORMAT: u32 = 5;
/// Working segments of at most this many code points may stay as they are.
pub const SHORT: usize = 200;

/// One segment of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its id: ascending, consecutive, stable.
    pub id: u32,
    /// What it holds.
    pub kind: Kind,
    /// Whether it comes from an earlier summary of the same turn and therefore stays byte for byte.
    pub preserved: bool,
    /// What stands between its tags.
    pub content: Vec<u16>,
}

/// A turn's checkpoint in the making. The default one holds nothing.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    sheet: Sheet,
    parts: Vec<Part>,
    rewritten: BTreeMap<u32, Vec<u16>>,
    max_working: usize,
}

impl Draft {
    /// Renders a span: `result_cap` bounds each tool result, `max_working` rewritten content, in code points.
    #[must_use]
    pub fn new(script: Script, result_cap: usize, max_working: usize) -> Self {
        let (sheet, parts) = render(script, result_cap);
        Self { sheet, parts, rewritten: BTreeMap::new(), max_working }
    }

    /// The segments as they were rendered.
    #[must_use]
    pub fn seed(&self) -> Vec<Segment> {
        self.copied(|part| self.sheet.copy(&part.content))
    }

    /// The segments as they stand now.
    #[must_use]
    pub fn segments(&self) -> Vec<Segment> {
        self.copied(|part| self.current(part).into_owned())
    }

    fn copied(&self, content: impl Fn(&Part) -> Vec<u16>) -> Vec<Segment> {
        let segment = |part: &Part| Segment {
            id: part.id,
            kind: part.kind,
            preserved: part.preserved,
            content: content(part),
        };
        self.parts.iter().map(segment).collect()
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    pub(super) fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    pub(super) fn current<'a>(&'a self, part: &Part) -> Cow<'a, [u16]> {
        match self.rewritten.get(&part.id) {
            Some(content) => Cow::Borrowed(content),
            None => Cow::Owned(self.sheet.copy(&part.content)),
        }
    }

    pub(super) fn points(&self, part: &Part) -> usize {
        self.rewritten.get(&part.id).map_or(part.points, |content| points(content))
    }

    /// What stands between a segment's tags now.
    ///
    /// # Errors
    /// [`TurnRefusal::UnknownSegment`].
    pub fn content(&self, id: u32) -> Result<Vec<u16>, TurnRefusal> {
        Ok(self.current(self.find(id)?).into_owned())
    }

    fn find(&self, id: u32) -> Result<&Part, TurnRefusal> {
        self.parts.iter().find(|part| part.id == id).ok_or_else(|| {
            let known: Vec<String> =
                self.parts.iter().map(|part| format!("{}:{}", part.kind.name(), part.id)).collect();
            TurnRefusal::UnknownSegment { id, known: known.join(", ") }
        })
    }

    /// Rewrites one working segment. White space around the content and one accidental pair of the segment's
    /// own tags are taken off, CRLF becomes LF; the last rewrite of a segment counts.
    ///
    /// # Errors
    /// The first of [`TurnRefusal::UnknownSegment`], [`TurnRefusal::VerbatimSegment`],
    /// [`TurnRefusal::PreservedChanged`], [`TurnRefusal::EmptyContent`], [`TurnRefusal::TagInContent`],
    /// [`TurnRefusal::WorkingRawMarker`], [`TurnRefusal::TooLong`]; the draft is then as it was.
    pub fn replace(&mut self, id: u32, content: &[u16]) -> Result<Kind, TurnRefusal> {
        let segment = self.find(id)?;
        let kind = segment.kind;
        if kind != Kind::Working {
            return Err(TurnRefusal::VerbatimSegment { id, kind: kind.name() });
        }
        if segment.preserved {
            return Err(TurnRefusal::PreservedChanged(id));
        }
        let content = cleaned(id, content);
        if content.is_empty() {
            return Err(TurnRefusal::EmptyContent(id));
        }
        if !tag_lines(&content).is_empty() {
            return Err(TurnRefusal::TagInContent(id));
        }
        if has_raw_marker(&content) {
            return Err(TurnRefusal::WorkingRawMarker(id));
        }
        let points = points(&content);
        if points > self.max_working {
            return Err(TurnRefusal::TooLong { id, points, limit: self.max_working });
        }
        self.rewritten.insert(id, content);
        Ok(kind)
    }

    /// Ids of the working segments that must still be rewritten, in order.
    #[must_use]
    pub fn unfinished(&self) -> Vec<u32> {
        let as_it_was = |part: &Part| match self.rewritten.get(&part.id) {
            Some(content) => *content == self.sheet.copy(&part.content),
            None => true,
        };
        self.parts.iter().filter(|part| is_long(part) && as_it_was(part)).map(|part| part.id).collect()
    }

    /// Checks the draft against its seed before it lands.
    ///
    /// # Errors
    /// The first divergence, see [`check`].
    pub fn check(&self) -> Result<(), TurnRefusal> {
        check(&self.seed(), &self.segments(), self.max_working)
    }

    /// The checkpoint's surface text.
    #[must_use]
    pub fn checkpoint(&self, turn: u32) -> Vec<u16> {
        self.surface_text(turn, |out, part| match self.rewritten.get(&part.id) {
            Some(content) => out.extend_from_slice(content),
            None => self.sheet.push(out, &part.content),
        })
    }

    /// The smallest checkpoint this draft can become: every segment that must be rewritten is one character.
    #[must_use]
    pub fn floor(&self, turn: u32) -> Vec<u16> {
        self.surface_text(turn, |out, part| {
            if is_long(part) { push_str(out, ".") } else { self.sheet.push(out, &part.content) }
        })
    }

    /// The segments in order, one line end between them, in a wrapper whose first and last line readers strip.
    fn surface_text(&self, turn: u32, content: impl Fn(&mut Vec<u16>, &Part)) -> Vec<u16> {
        let mut out = units(&format!("<turn-summary turn=\"{turn}\" version=\"{FORMAT}\">"));
        for part in &self.parts {
            push_str(&mut out, "\n");
            push_segment(&mut out, part.kind, part.id, |out| content(out, part));
        }
        push_str(&mut out, "\n</turn-summary>");
        out
    }
}

/// Whether a part must be rewritten before the draft can land.
fn is_long(part: &Part) -> bool {
    part.kind == Kind::Working && !part.preserved && part.points > SHORT
}

/// Compares a finished draft with its seed, segment by segment.
///
/// # Errors
/// The first of [`TurnRefusal::Count`], [`TurnRefusal::IdOrKind`], [`TurnRefusal::VerbatimChanged`],
/// [`TurnRefusal::PreservedChanged`], [`TurnRefusal::WorkingTooLong`], [`TurnRefusal::WorkingUntouched`],
/// [`TurnRefusal::WorkingRawMarker`].
pub fn check(seed: &[Segment], last: &[Segment], max_working: usize) -> Result<(), TurnRefusal> {
    if seed.len() != last.len() {
        return Err(TurnRefusal::Count { expected: seed.len(), found: last.len() });
    }
    for (position, (before, after)) in seed.iter().zip(last).enumerate() {
        let id = before.id;
        if (after.id, after.kind) != (id, before.kind) {
            return Err(TurnRefusal::IdOrKind(position));
        }
        let changed = before.content != after.content;
        if before.kind != Kind::Working {
            if changed {
                return Err(TurnRefusal::VerbatimChanged(id));
            }
        } else if before.preserved {
            if changed {
                return Err(TurnRefusal::PreservedChanged(id));
            }
        } else if changed {
            let points = points(&after.content);
            if points > max_working {
                return Err(TurnRefusal::WorkingTooLong { id, points });
            }
            if has_raw_marker(&after.content) {
                return Err(TurnRefusal::WorkingRawMarker(id));
            }
        } else if points(&before.content) > SHORT {
            return Err(TurnRefusal::WorkingUntouched(id));
        }
    }
    Ok(())
}

/// Whether a line of rewritten content is still a raw tool line.
fn has_raw_marker(content: &[u16]) -> bool {
    lines(content).any(|line| strip(line, "[tool/result").or_else(|| strip(line, "[tool call:")).is_some())
}

fn cleaned(id: u32, content: &[u16]) -> Vec<u16> {
    let mut inner = trimmed(content);
    let name = Kind::Working.name();
    let bare = strip(inner, &format!("<{name}:{id}>"))
        .and_then(|rest| strip_suffix(rest, &format!("</{name}:{id}>")));
    if let Some(bare) = bare {
        inner = trimmed(bare);
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner.iter().copied().peekable();
    while let Some(unit) = rest.next() {
        if unit == u16::from(b'\r') && rest.peek() == Some(&u16::from(b'\n')) {
            continue;
        }
        out.push(unit);
    }
    out
}
