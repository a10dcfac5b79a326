//! Calls inside `run_code` programs: they leave no `meta`, so a mark taken there is read from the harness's own
//! record of the call (docs/rewind.md 5).

use super::node::Mark;
use crate::event::{Block, Seq, Text};
use serde::Deserialize;
use serde_json::value::RawValue;

/// With which words a checkpoint tool's output begins, before the mark's id.
const HEAD: &str = "[checkpoint mark ";

/// A call inside a program that ended.
#[derive(Debug)]
pub(super) struct Dispatch {
    /// Its own id.
    pub(super) id: Box<str>,
    /// The call that the model sees.
    pub(super) root: Box<str>,
    /// The mark that it took: id and objective.
    pub(super) took: Option<(Box<str>, Option<Box<str>>)>,
}

impl Dispatch {
    /// The mark that it took, from the seq at which it began.
    pub(super) fn mark(self, began: Seq) -> Option<Mark> {
        let (id, objective) = self.took?;
        Some(Mark { id, log_length: began + 1, objective })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Start<'a> {
    #[serde(borrow)]
    sub_call_id: Text<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct End<'a> {
    #[serde(borrow)]
    sub_call_id: Text<'a>,
    #[serde(borrow)]
    root_call_id: Text<'a>,
    #[serde(default)]
    is_error: bool,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    content: &'a RawValue,
}

/// The arguments of a checkpoint tool, whatever it is called: a program that reads a file which begins as its
/// output does has passed others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments<'a> {
    #[serde(borrow, default)]
    objective: Option<Text<'a>>,
}

/// The id of a call that begins.
pub(super) fn started(data: &str) -> Option<Box<str>> {
    let Start { sub_call_id } = serde_json::from_str(data).ok()?;
    Some(sub_call_id.as_str().into())
}

/// What a call came to.
pub(super) fn ended(data: &str) -> Option<Dispatch> {
    let End { sub_call_id, root_call_id, is_error, arguments, content } = serde_json::from_str(data).ok()?;
    let took = (!is_error && content.get().contains(HEAD)).then(|| took(content, arguments)).flatten();
    Some(Dispatch { id: sub_call_id.as_str().into(), root: root_call_id.as_str().into(), took })
}

fn took(content: &RawValue, arguments: Option<&RawValue>) -> Option<(Box<str>, Option<Box<str>>)> {
    let blocks: Vec<Block<'_>> = serde_json::from_str(content.get()).ok()?;
    let Some(Block::Text(text)) = blocks.first() else { return None };
    let (id, _) = text.strip_prefix(HEAD)?.split_once(']')?;
    let number = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    let Arguments { objective } = serde_json::from_str(arguments.map_or("{}", RawValue::get)).ok()?;
    number.then(|| (id.into(), objective.map(|objective| objective.trim().into())))
}
