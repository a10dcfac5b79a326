//! A draft under work: the rendered segments, what a worker rewrote so far, and the checks before it lands.
//!
//! The draft is held as segments and never re-parsed from text, so nothing anybody writes into a segment can
//! move its borders (spec/turn-memory.md 2.7).

use super::refusal::TurnRefusal;
use super::render::Segment;
use super::tag::{Kind, push_segment, strip, strip_suffix, tag_lines};
use super::units::{lines, points, push_str, trimmed, units};
use std::collections::BTreeMap;

/// The checkpoint format this package writes.
pub const FORMAT: u32 = 5;
/// Working segments of at most this many code points may stay as they are.
pub const SHORT: usize = 200;

/// A turn's checkpoint in the making.
#[derive(Debug, Clone)]
pub struct Draft {
    seed: Vec<Segment>,
    rewritten: BTreeMap<u32, Vec<u16>>,
    max_working: usize,
}

impl Draft {
    /// Starts from rendered segments; `max_working` bounds rewritten content, in code points.
    #[must_use]
    pub fn new(seed: Vec<Segment>, max_working: usize) -> Self {
        Self { seed, rewritten: BTreeMap::new(), max_working }
    }

    /// The segments as they were rendered.
    #[must_use]
    pub fn seed(&self) -> &[Segment] {
        &self.seed
    }

    /// The segments as they stand now.
    #[must_use]
    pub fn segments(&self) -> Vec<Segment> {
        self.seed
            .iter()
            .map(|segment| Segment { content: self.current(segment).to_vec(), ..segment.clone() })
            .collect()
    }

    pub(super) fn current<'a>(&'a self, segment: &'a Segment) -> &'a [u16] {
        self.rewritten.get(&segment.id).unwrap_or(&segment.content)
    }

    /// What stands between a segment's tags now.
    ///
    /// # Errors
    /// [`TurnRefusal::UnknownSegment`].
    pub fn content(&self, id: u32) -> Result<&[u16], TurnRefusal> {
        Ok(self.current(self.find(id)?))
    }

    fn find(&self, id: u32) -> Result<&Segment, TurnRefusal> {
        self.seed.iter().find(|segment| segment.id == id).ok_or_else(|| {
            let known: Vec<String> =
                self.seed.iter().map(|segment| format!("{}:{}", segment.kind.name(), segment.id)).collect();
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
        let raw =
            self.seed.iter().filter(|segment| is_long(segment) && self.current(segment) == segment.content);
        raw.map(|segment| segment.id).collect()
    }

    /// Checks the draft against its seed before it lands.
    ///
    /// # Errors
    /// The first divergence, see [`check`].
    pub fn check(&self) -> Result<(), TurnRefusal> {
        check(&self.seed, &self.segments(), self.max_working)
    }

    /// The checkpoint's surface text.
    #[must_use]
    pub fn checkpoint(&self, turn: u32) -> Vec<u16> {
        checkpoint_text(turn, self.seed.iter().map(|segment| (segment, self.current(segment))))
    }

    /// The smallest checkpoint this draft can become: every segment that must be rewritten is one character.
    #[must_use]
    pub fn floor(&self, turn: u32) -> Vec<u16> {
        let dot = units(".");
        let floor = self.seed.iter().map(|segment| {
            (segment, if is_long(segment) { dot.as_slice() } else { segment.content.as_slice() })
        });
        checkpoint_text(turn, floor)
    }
}

/// Whether a segment must be rewritten before the draft can land.
#[must_use]
pub fn is_long(segment: &Segment) -> bool {
    segment.kind == Kind::Working && !segment.preserved && points(&segment.content) > SHORT
}

/// The surface text of a checkpoint: the segments in order, one line end between them, in a wrapper whose
/// first and last line readers strip.
fn checkpoint_text<'a>(turn: u32, segments: impl Iterator<Item = (&'a Segment, &'a [u16])>) -> Vec<u16> {
    let mut out = units(&format!("<turn-summary turn=\"{turn}\" version=\"{FORMAT}\">"));
    for (segment, content) in segments {
        push_str(&mut out, "\n");
        push_segment(&mut out, segment.kind, segment.id, content);
    }
    push_str(&mut out, "\n</turn-summary>");
    out
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
        } else if is_long(before) {
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
