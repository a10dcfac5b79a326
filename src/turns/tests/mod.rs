//! Behaviour of the room on whole turns (docs/turn-memory.md 2.5 to 2.9), and the laws under arbitrary text. What
//! positions decide is tested in [`super::span`], what makes a tag in [`super::tag`]; what the harness decides on
//! the real loop.

mod drafts;
mod laws;
mod retold;

use super::draft::{Draft, Segment};
use super::script::testing::Columns;
use super::tag::Kind;
use super::units::{shown, units};

fn segments(columns: &Columns) -> Vec<Segment> {
    draft(columns).seed()
}

fn told(segments: &[Segment]) -> Vec<(u32, &'static str, String)> {
    segments.iter().map(|segment| (segment.id, segment.kind.name(), shown(&segment.content))).collect()
}

fn draft(columns: &Columns) -> Draft {
    Draft::new(columns.script(), 20_000, 2000)
}

fn replace(draft: &mut Draft, id: u32, content: &str) -> Result<Kind, &'static str> {
    draft.replace(id, &units(content)).map_err(|refusal| refusal.code())
}
