//! Calls inside `run_code` programs: they leave no `meta`, so a mark taken there is read from the harness's own
//! record of the call (docs/rewind.md 5).

use super::node::Mark;
use crate::event::{Block, Message, Seq, Text};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// With which words a checkpoint tool's output begins, before the mark's id.
const HEAD: &str = "[checkpoint mark ";

/// A call inside a program that took a mark.
#[derive(Debug)]
pub(super) struct Dispatch {
    /// Its own id.
    pub(super) id: Box<str>,
    /// The call that the model sees.
    pub(super) root: Box<str>,
    mark: Box<str>,
    objective: Option<Box<str>>,
}

impl Dispatch {
    /// The mark that it took, from the seq at which it began.
    pub(super) fn mark(self, began: Seq) -> Mark {
        Mark { id: self.mark, log_length: began + 1, objective: self.objective }
    }
}

/// The fields of a record, unread.
pub(super) type Fields<'a> = BTreeMap<Text<'a>, &'a RawValue>;

/// One field of a record, unread.
pub(super) fn field<'a>(fields: &Fields<'a>, name: &str) -> Option<&'a str> {
    fields.get(&Text::from(name)).map(|value| value.get())
}

/// One field of a record, where it is a text.
pub(super) fn text(fields: &Fields<'_>, name: &str) -> Option<Box<str>> {
    let text: Text<'_> = serde_json::from_str(field(fields, name)?).ok()?;
    Some(text.as_str().into())
}

/// The id of a call that begins.
pub(super) fn started(data: &str) -> Option<Box<str>> {
    text(&serde_json::from_str(data).ok()?, "subCallId")
}

/// The mark that a call took, where it took one.
pub(super) fn ended(data: &str) -> Option<Dispatch> {
    if !data.contains(HEAD) {
        return None;
    }
    let fields: Fields<'_> = serde_json::from_str(data).ok()?;
    // A record's content is that of a message.
    let message: Message<'_> = serde_json::from_str(data).ok()?;
    let Some(Block::Text(output)) = message.content.first() else { return None };
    let (mark, _) = output.strip_prefix(HEAD)?.split_once(']')?;
    let number = !mark.is_empty() && mark.bytes().all(|byte| byte.is_ascii_digit());
    // The arguments of a checkpoint tool, whatever it is called: a program that reads a file which begins as
    // its output does has passed others.
    let arguments: Fields<'_> = serde_json::from_str(field(&fields, "arguments").unwrap_or("{}")).ok()?;
    let others = arguments.keys().any(|name| *name != "objective");
    if !number || others || field(&fields, "isError") == Some("true") {
        return None;
    }
    Some(Dispatch {
        id: text(&fields, "subCallId")?,
        root: text(&fields, "rootCallId")?,
        mark: mark.into(),
        objective: text(&arguments, "objective").map(|objective| objective.trim().into()),
    })
}
