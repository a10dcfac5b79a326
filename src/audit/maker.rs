//! Who made a replacement.

use super::node::Facts;
use crate::event::{Block, Body, Event};
use crate::report::frame::opening;
use crate::report::landed::sibling;
use crate::report::language::Language;

/// Who made a replacement, as far as the log says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Maker {
    /// The report of a mark, as a message of its own.
    Report(Box<str>),
    /// The report of a mark, in the place of a result's content.
    ReportInPlace(Box<str>),
    /// A line of ours that points to a mark's report.
    Pointer(Box<str>),
    /// A result of ours that points to a mark's report.
    Sibling(Box<str>),
    /// A receipt of ours.
    Receipt,
    /// A turn checkpoint of ours.
    Turn,
    /// The harness's own compaction.
    Compaction,
    /// Another plugin, by name.
    Plugin(Box<str>),
    /// A result rewritten by somebody who left no name.
    Rewrite,
    /// A message whose source names no plugin.
    Nameless,
}

impl Maker {
    /// Who made the replacement `event`.
    pub(super) fn of(event: &Event<'_>) -> Self {
        if let Body::ToolResult(result) = &event.body {
            let Some(Block::Text(text)) = result.content.first() else { return Maker::Rewrite };
            return if let Some(mark) = between(text, &opening(HOLE)) {
                Maker::ReportInPlace(mark.into())
            } else if let Some(mark) = [Language::En, Language::Zh]
                .iter()
                .find_map(|language| between(text, &sibling(HOLE, *language)))
            {
                Maker::Sibling(mark.into())
            } else {
                Maker::Rewrite
            };
        }
        let Some(source) = event.source() else { return Maker::Nameless };
        let mark = || source.read::<Facts>().and_then(|facts| facts.mark_id);
        match (source.plugin.as_deref(), mark()) {
            (Some("rewind"), Some(mark)) => Maker::Report(mark),
            (Some("rewind-pointer"), Some(mark)) => Maker::Pointer(mark),
            (Some("rewind-prune"), _) => Maker::Receipt,
            (Some("turn-memory"), _) => Maker::Turn,
            (Some("compact"), _) => Maker::Compaction,
            (Some(plugin), _) => Maker::Plugin(plugin.into()),
            (None, _) => Maker::Nameless,
        }
    }

    /// Whether this package made it.
    pub(super) fn is_ours(&self) -> bool {
        matches!(
            self,
            Self::Report(_)
                | Self::ReportInPlace(_)
                | Self::Pointer(_)
                | Self::Sibling(_)
                | Self::Receipt
                | Self::Turn
        )
    }

    /// The group it is counted in.
    pub(super) fn group(&self) -> &str {
        match self {
            Self::Report(_) | Self::ReportInPlace(_) => "rewind report",
            Self::Pointer(_) => "rewind pointer",
            Self::Sibling(_) => "rewind sibling",
            Self::Receipt => "prune receipt",
            Self::Turn => "turn checkpoint",
            Self::Compaction => "compaction",
            Self::Plugin(name) => name,
            Self::Rewrite => "rewritten result",
            Self::Nameless => "unnamed message",
        }
    }
}

/// Stands for the mark in a fixed text that is looked for.
const HOLE: &str = "\u{1}";

/// What stands at the hole of `form` where `text` begins with the rest of it.
fn between<'a>(text: &'a str, form: &str) -> Option<&'a str> {
    let (before, after) = form.split_once(HOLE)?;
    let (mark, _) = text.strip_prefix(before)?.split_once(after)?;
    (!mark.is_empty() && !mark.contains(['\n', ']'])).then_some(mark)
}
