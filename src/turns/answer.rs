//! The answer of a model that rewrites working segments in one go: `<working:ID>` blocks in free text.

use super::draft::Draft;
use super::refusal::TurnRefusal;
use super::tag::{Kind, strip};
use super::units::units;

/// Applies every block of an answer to the draft. Prose around the blocks is passed over; a block may open or
/// close on the line of its text; an opening tag without its closing tag is no block.
///
/// # Errors
/// What [`Draft::replace`] refuses first: an unknown or verbatim id fails the whole answer.
pub fn apply(draft: &mut Draft, answer: &[u16]) -> Result<(), TurnRefusal> {
    let mut rest = answer;
    while let Some((kind, id, content, after)) = next_block(rest) {
        match kind {
            Kind::Working => draft.replace(id, content)?,
            other => return Err(TurnRefusal::VerbatimSegment { id, kind: other.name() }),
        };
        rest = after;
    }
    Ok(())
}

type Found<'a> = (Kind, u32, &'a [u16], &'a [u16]);

/// The first block that opens at the start of a line.
fn next_block(text: &[u16]) -> Option<Found<'_>> {
    let mut at = 0;
    loop {
        let line = text.get(at..)?;
        if let Some((kind, id, body)) = opening(line) {
            let close = units(&format!("</{}:{id}>", kind.name()));
            if let Some(end) = position(body, &close) {
                let after = body.get(end + close.len()..).unwrap_or(&[]);
                return Some((kind, id, body.get(..end).unwrap_or(&[]), after));
            }
        }
        at += line.iter().position(|unit| *unit == u16::from(b'\n'))? + 1;
    }
}

/// An opening tag, white space before it allowed, and what follows it.
fn opening(line: &[u16]) -> Option<(Kind, u32, &[u16])> {
    let indent = line.iter().position(|unit| *unit != u16::from(b' ') && *unit != u16::from(b'\t'))?;
    let inner = strip(line.get(indent..)?, "<")?;
    let kinds = [Kind::UserSteer, Kind::Assistant, Kind::Working];
    let (kind, rest) =
        kinds.iter().find_map(|kind| Some((*kind, strip(strip(inner, kind.name())?, ":")?)))?;
    let digits = rest.iter().position(|unit| !(u16::from(b'0')..=u16::from(b'9')).contains(unit))?;
    let number = String::from_utf16_lossy(rest.get(..digits)?);
    Some((kind, number.parse().ok()?, strip(rest.get(digits..)?, ">")?))
}

fn position(text: &[u16], wanted: &[u16]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
