//! A turn's messages as they cross the border: one column of tags, one of lengths, one text.
//!
//! Every string of the messages (labels, ids, names, contents) is a run of the one text, in row order, so a
//! turn crosses as two typed arrays and one string, in UTF-16, and every run can be handed back exactly.

use super::refusal::TurnRefusal;
use std::ops::Range;

/// What a row of the tag column means. The numbers are the border's contract with `plugin/turn-memory`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Row {
    /// A person's message begins; no text.
    Person = 1,
    /// Any other user-role message begins; its text is the label of its source.
    Injected = 2,
    /// An assistant message begins; no text.
    Assistant = 3,
    /// A tool result begins; its text is the call's id.
    Result = 4,
    /// A failed tool result begins; its text is the call's id.
    FailedResult = 5,
    /// A turn-memory message of this turn that is no whole-turn checkpoint begins; no text.
    Fragment = 6,
    /// A person's words that a fold report's source carries; the text is the words.
    Quote = 7,
    /// A text block.
    Text = 10,
    /// A reasoning block.
    Reasoning = 11,
    /// A tool call; its text is the tool's name. A [`Row::CallId`] and a [`Row::Arguments`] row follow.
    Call = 12,
    /// The id of the call before it.
    CallId = 13,
    /// The arguments of the call before it, as the model wrote them.
    Arguments = 14,
    /// A block without text; its text is the block's type.
    Other = 15,
}

impl Row {
    fn from_tag(tag: u8) -> Option<Self> {
        Some(match tag {
            1 => Self::Person,
            2 => Self::Injected,
            3 => Self::Assistant,
            4 => Self::Result,
            5 => Self::FailedResult,
            6 => Self::Fragment,
            7 => Self::Quote,
            10 => Self::Text,
            11 => Self::Reasoning,
            12 => Self::Call,
            13 => Self::CallId,
            14 => Self::Arguments,
            15 => Self::Other,
            _ => return None,
        })
    }
}

/// A stretch of the script's text, in units.
pub type Run = Range<usize>;

/// Who a node speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// A person.
    Person,
    /// A plugin, a goal, a schedule: the label of the source.
    Injected(Run),
    /// The assistant.
    Assistant,
    /// A tool's answer to a call.
    Result {
        /// The call's id, which may repeat.
        call: Run,
        /// Whether the tool failed.
        failed: bool,
    },
    /// A turn-memory message of the same turn with segments of its own.
    Fragment,
    /// A person's words, kept by a fold report.
    Quote(Run),
}

/// One content block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Visible text.
    Text(Run),
    /// Reasoning text.
    Reasoning(Run),
    /// A tool call.
    Call {
        /// The tool's name.
        name: Run,
        /// The call's id, which may repeat.
        id: Run,
        /// The arguments as the model wrote them.
        arguments: Run,
    },
    /// Anything else, by the name of its type.
    Other(Run),
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Who it speaks for.
    pub role: Role,
    blocks: Range<usize>,
}

/// A turn's messages, in order.
#[derive(Debug, Clone, Default)]
pub struct Script {
    text: Vec<u16>,
    nodes: Vec<Node>,
    blocks: Vec<Block>,
}

impl Script {
    /// Reads the columns: `tags` and `lengths` have one entry a row, `lengths` in UTF-16 units of `text`, which
    /// is kept and never copied.
    ///
    /// # Errors
    /// [`TurnRefusal::Script`] when the columns contradict each other or name an unknown row.
    pub fn read(tags: &[u8], lengths: &[u32], text: Vec<u16>) -> Result<Self, TurnRefusal> {
        let mut rows = Rows { tags, lengths, units: text.len(), at: 0, from: 0 };
        let mut script = Self { blocks: Vec::with_capacity(tags.len()), ..Self::default() };
        while let Some((row, run)) = rows.next()? {
            let role = match row {
                Row::Person => Role::Person,
                Row::Injected => Role::Injected(run),
                Row::Assistant => Role::Assistant,
                Row::Result => Role::Result { call: run, failed: false },
                Row::FailedResult => Role::Result { call: run, failed: true },
                Row::Fragment => Role::Fragment,
                Row::Quote => Role::Quote(run),
                Row::Text => {
                    script.push(Block::Text(run), &rows)?;
                    continue;
                }
                Row::Reasoning => {
                    script.push(Block::Reasoning(run), &rows)?;
                    continue;
                }
                Row::Other => {
                    script.push(Block::Other(run), &rows)?;
                    continue;
                }
                Row::Call => {
                    let id = rows.expect(Row::CallId)?;
                    let arguments = rows.expect(Row::Arguments)?;
                    script.push(Block::Call { name: run, id, arguments }, &rows)?;
                    continue;
                }
                Row::CallId | Row::Arguments => return Err(rows.fault("a part of a call stands alone")),
            };
            let end = script.blocks.len();
            script.nodes.push(Node { role, blocks: end..end });
        }
        if rows.from != text.len() {
            return Err(rows.fault("the lengths do not add up to the text"));
        }
        script.text = text;
        Ok(script)
    }

    fn push(&mut self, block: Block, rows: &Rows<'_>) -> Result<(), TurnRefusal> {
        self.blocks.push(block);
        let end = self.blocks.len();
        let node = self.nodes.last_mut().ok_or_else(|| rows.fault("a block comes before any message"))?;
        node.blocks.end = end;
        Ok(())
    }

    /// The messages, in order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The blocks of one message, in order.
    #[must_use]
    pub fn blocks(&self, node: &Node) -> &[Block] {
        self.blocks.get(node.blocks.clone()).unwrap_or(&[])
    }

    /// The units of one run.
    #[must_use]
    pub fn units(&self, run: &Run) -> &[u16] {
        self.text.get(run.clone()).unwrap_or(&[])
    }

    /// The whole text, for whoever goes on with the runs.
    #[must_use]
    pub fn into_text(self) -> Vec<u16> {
        self.text
    }
}

struct Rows<'c> {
    tags: &'c [u8],
    lengths: &'c [u32],
    units: usize,
    at: usize,
    from: usize,
}

impl Rows<'_> {
    fn next(&mut self) -> Result<Option<(Row, Run)>, TurnRefusal> {
        let (Some(tag), Some(length)) = (self.tags.get(self.at), self.lengths.get(self.at)) else {
            if self.tags.len() == self.lengths.len() {
                return Ok(None);
            }
            return Err(self.fault("the columns differ in length"));
        };
        let row = Row::from_tag(*tag).ok_or_else(|| self.fault("the row is of no known kind"))?;
        let end = usize::try_from(*length).ok().and_then(|length| self.from.checked_add(length));
        let end =
            end.filter(|end| *end <= self.units).ok_or_else(|| self.fault("the row runs past the text"))?;
        let run = self.from..end;
        self.at += 1;
        self.from = end;
        Ok(Some((row, run)))
    }

    fn expect(&mut self, wanted: Row) -> Result<Run, TurnRefusal> {
        match self.next()? {
            Some((row, run)) if row == wanted => Ok(run),
            _ => Err(self.fault("a call lacks its id or its arguments")),
        }
    }

    fn fault(&self, what: &str) -> TurnRefusal {
        TurnRefusal::Script { row: self.at, what: what.to_owned() }
    }
}

#[cfg(test)]
pub(super) mod testing {
    //! Builds scripts for tests the way `plugin/turn-memory/script.js` does.

    use super::super::units::units;
    use super::{Row, Script};

    #[derive(Default)]
    pub(crate) struct Columns {
        pub(crate) tags: Vec<u8>,
        pub(crate) lengths: Vec<u32>,
        pub(crate) text: Vec<u16>,
    }

    impl Columns {
        pub(crate) fn row(mut self, row: Row, text: &[u16]) -> Self {
            self.tags.push(row as u8);
            self.lengths.push(u32::try_from(text.len()).unwrap());
            self.text.extend_from_slice(text);
            self
        }

        pub(crate) fn person(self, text: &str) -> Self {
            self.row(Row::Person, &[]).row(Row::Text, &units(text))
        }

        pub(crate) fn injected(self, label: &str, text: &str) -> Self {
            self.row(Row::Injected, &units(label)).row(Row::Text, &units(text))
        }

        pub(crate) fn assistant(self) -> Self {
            self.row(Row::Assistant, &[])
        }

        pub(crate) fn text(self, text: &str) -> Self {
            self.row(Row::Text, &units(text))
        }

        pub(crate) fn reasoning(self, text: &str) -> Self {
            self.row(Row::Reasoning, &units(text))
        }

        pub(crate) fn call(self, id: &str, name: &str, arguments: &str) -> Self {
            self.row(Row::Call, &units(name))
                .row(Row::CallId, &units(id))
                .row(Row::Arguments, &units(arguments))
        }

        pub(crate) fn result(self, call: &str, text: &str) -> Self {
            self.row(Row::Result, &units(call)).row(Row::Text, &units(text))
        }

        pub(crate) fn fragment(self, text: &str) -> Self {
            self.row(Row::Fragment, &[]).row(Row::Text, &units(text))
        }

        pub(crate) fn quote(self, text: &str) -> Self {
            self.row(Row::Quote, &units(text))
        }

        pub(crate) fn script(&self) -> Script {
            Script::read(&self.tags, &self.lengths, self.text.clone()).unwrap()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::Columns;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_become_messages_and_blocks() {
        let columns = Columns::default().assistant().text("hi").call("c1", "read", "{}").result("c1", "ok");
        let script = columns.script();
        assert_eq!(script.nodes().len(), 2);
        let blocks: Vec<usize> = script.nodes().iter().map(|node| script.blocks(node).len()).collect();
        assert_eq!(blocks, vec![2, 1]);
    }

    #[test]
    fn contradicting_columns_are_refused_by_row() {
        let reject = |tags: &[u8], lengths: &[u32], text: &[u16]| {
            Script::read(tags, lengths, text.to_vec()).err().map(|error| error.to_string())
        };
        assert!(reject(&[3, 10], &[0, 9], &[1]).is_some_and(|text| text.contains("row 1")));
        assert!(reject(&[10], &[0], &[]).is_some_and(|text| text.contains("before any message")));
        assert!(reject(&[3, 12, 10], &[0, 0, 0], &[]).is_some_and(|text| text.contains("lacks its id")));
        assert!(reject(&[3], &[0, 0], &[]).is_some_and(|text| text.contains("differ in length")));
        assert!(reject(&[99], &[0], &[]).is_some_and(|text| text.contains("no known kind")));
        assert!(reject(&[3], &[0], &[7]).is_some_and(|text| text.contains("do not add up")));
        assert!(reject(&[13], &[0], &[]).is_some_and(|text| text.contains("stands alone")));
    }

    proptest! {
        #[test]
        fn arbitrary_columns_never_panic(
            tags in proptest::collection::vec(0_u8..18, 0..12),
            lengths in proptest::collection::vec(0_u32..6, 0..12),
            text in proptest::collection::vec(any::<u16>(), 0..30)
        ) {
            let _ = Script::read(&tags, &lengths, text);
        }
    }
}
