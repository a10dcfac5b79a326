//! One moment of a surface as the prune rooms read it: heads, results with their calls, complete steps.
//!
//! It is built for one pass from the session's own events and owns its text, so nothing of it outlives
//! the pass. A result knows its source chain, so that an earlier cut cannot hide evidence and a receipt can
//! name the original (docs/prune.md 3.6).

use super::calls::{OpenCalls, check_pairing};
use super::marks::{self, Mark};
use super::text::{count_points, normalize_tool};
use crate::event::{Block, Body, Event, EventError, Seq, SurfaceOp, parse_events};
use crate::sorted::inserted;
use std::collections::BTreeMap;
use thiserror::Error;

/// Why no pass can be made of these events. No edit follows one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ViewError {
    /// The JSON is not what a session log holds.
    #[error(transparent)]
    Events(#[from] EventError),
    /// A result that answers no open call, a node that is no surface event, or a source that is missing.
    #[error(
        "the surface cannot be pruned: the node at seq {seq} {reason}. Nothing was changed; the log keeps \
         everything as it was"
    )]
    CorruptSurface {
        /// The node's seq.
        seq: Seq,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl ViewError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Events(_) => "UNREADABLE",
            Self::CorruptSurface { .. } => "CORRUPT_SURFACE",
        }
    }
}

/// A tool call of a head.
#[derive(Debug, Clone)]
pub struct Call {
    /// The call's id, which may repeat in a session.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub tool: String,
    /// The tool's name as lists compare it.
    pub tool_key: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
}

/// An assistant message.
#[derive(Debug, Clone, Default)]
pub struct Head {
    /// Visible text, blocks joined by a line break.
    pub text: String,
    /// Reasoning in code points.
    pub reasoning_chars: usize,
    /// Its calls, in model order.
    pub calls: Vec<Call>,
    /// Whether it holds a block that is no text, reasoning or call, which a receipt could not state.
    pub has_other: bool,
}

/// The blocks of a result; `None` stands for a block that is no text.
pub type BodyBlocks = Vec<Option<String>>;

/// A `tool/result`.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its blocks as the model sees them now.
    pub body: BodyBlocks,
    /// Code points of its text now.
    pub chars: usize,
    /// Place of its head in [`View::nodes`], and of its call in the head.
    pub call: (usize, usize),
    /// Whether the tool failed.
    pub is_error: bool,
    /// What an earlier rewrite left in it.
    pub mark: Mark,
    /// Seq of the appended result behind it; its own when nobody rewrote it.
    pub origin: Seq,
    /// Code points of that original's text.
    pub origin_chars: usize,
    /// The bodies that stood here before, newest first.
    pub earlier: Vec<BodyBlocks>,
}

/// What a node says.
#[derive(Debug, Clone)]
pub enum Said {
    /// A user message: a person's, or what a plugin put in.
    User {
        /// Whether a person wrote it.
        person: bool,
        /// The plugin's name, empty for a person.
        plugin: String,
        /// Its text, blocks joined by a line break.
        text: String,
    },
    /// An assistant message.
    Assistant(Head),
    /// A tool result.
    Result(Outcome),
}

/// One surface node.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its seq.
    pub seq: Seq,
    /// What it says.
    pub said: Said,
}

/// A head with at least one call, followed by exactly its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Place of the head in [`View::nodes`]; its results follow it.
    pub head: usize,
    /// Number of results.
    pub results: usize,
}

/// A surface, read for one pass.
#[derive(Debug, Clone)]
pub struct View {
    /// The nodes, in surface order.
    pub nodes: Vec<Node>,
    /// The complete steps, in surface order.
    pub steps: Vec<Step>,
}

impl View {
    /// Reads a surface from JSON: `surface` holds its events in surface order, `sources` the earlier bodies
    /// of rewritten results. `texts` holds the text of every text block of a result, which stands empty in the
    /// JSON: of each result of the surface its own blocks, then those of its sources, newest first. Bodies are
    /// nearly all of a surface, and a plain text crosses the border at a fraction of the price of JSON.
    ///
    /// # Errors
    ///
    /// [`ViewError`], which names the seq where it can.
    pub fn read(surface: &str, sources: &str, texts: Vec<String>) -> Result<Self, ViewError> {
        let mut texts = texts.into_iter();
        let mut missing = false;
        let view = Self::build(&parse_events(surface)?, &parse_events(sources)?, |_| {
            texts.next().unwrap_or_else(|| {
                missing = true;
                String::new()
            })
        })?;
        if missing || texts.next().is_some() {
            return Err(ViewError::Events(EventError::Envelope(
                "there are not as many texts as the results have text blocks".to_owned(),
            )));
        }
        Ok(view)
    }

    /// Reads a surface from events already parsed; `text_of` answers the text of a result's text block.
    ///
    /// # Errors
    ///
    /// [`ViewError::CorruptSurface`] for a node no edit may stand beside.
    pub fn build(
        surface: &[Event<'_>],
        sources: &[Event<'_>],
        mut text_of: impl FnMut(&str) -> String,
    ) -> Result<Self, ViewError> {
        check_pairing(surface)?;
        let sources: BTreeMap<Seq, &Event<'_>> = inserted(sources.iter().map(|event| (event.seq, event)));
        let mut open = OpenCalls::default();
        let mut nodes: Vec<Node> = Vec::with_capacity(surface.len());
        for event in surface {
            let said = match &event.body {
                Body::User(message) => Said::User {
                    person: message.source.is_person(),
                    plugin: message.source.plugin.as_deref().unwrap_or_default().to_owned(),
                    text: joined_text(&message.content),
                },
                Body::Assistant(assistant) => {
                    let head = head(&assistant.message.content);
                    open.take_head(nodes.len(), &head);
                    Said::Assistant(head)
                }
                Body::ToolResult(result) => {
                    let call = open.answer(result.call_id.as_str()).ok_or(ViewError::CorruptSurface {
                        seq: event.seq,
                        reason: "is a tool result without an open call",
                    })?;
                    Said::Result(outcome(event, result.is_error, call, &sources, &mut text_of)?)
                }
                _ => return Err(not_on_surface(event.seq)),
            };
            nodes.push(Node { seq: event.seq, said });
        }
        let steps = complete_steps(&nodes);
        Ok(Self { nodes, steps })
    }

    /// The results, each with its place.
    pub fn results(&self) -> impl Iterator<Item = (usize, &Node, &Outcome)> {
        self.nodes.iter().enumerate().filter_map(|(at, node)| match &node.said {
            Said::Result(outcome) => Some((at, node, outcome)),
            _ => None,
        })
    }

    /// The head at a place, if one stands there.
    #[must_use]
    pub fn head(&self, at: usize) -> Option<&Head> {
        match &self.nodes.get(at)?.said {
            Said::Assistant(head) => Some(head),
            _ => None,
        }
    }

    /// The call that a result answers.
    #[must_use]
    pub fn call_of(&self, outcome: &Outcome) -> Option<&Call> {
        self.head(outcome.call.0)?.calls.get(outcome.call.1)
    }

    /// Whether the node at `at` is among the newest `count`.
    #[must_use]
    pub fn in_tail(&self, at: usize, count: usize) -> bool {
        at + count >= self.nodes.len()
    }
}

pub(super) fn not_on_surface(seq: Seq) -> ViewError {
    ViewError::CorruptSurface { seq, reason: "is no event that can stand on a surface" }
}

fn joined_text(blocks: &[Block<'_>]) -> String {
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| if let Block::Text(text) = block { Some(text.as_str()) } else { None })
        .collect();
    texts.join("\n")
}

fn head(blocks: &[Block<'_>]) -> Head {
    let mut head = Head { text: joined_text(blocks), ..Head::default() };
    for block in blocks {
        match block {
            Block::Text(_) => {}
            Block::Reasoning(text) => head.reasoning_chars += count_points(text),
            Block::ToolCall { id, name, arguments } => head.calls.push(Call {
                id: id.as_str().to_owned(),
                tool: name.as_str().to_owned(),
                tool_key: normalize_tool(name),
                arguments: arguments.as_str().to_owned(),
            }),
            _ => head.has_other = true,
        }
    }
    head
}

fn body_of(event: &Event<'_>, text_of: &mut impl FnMut(&str) -> String) -> BodyBlocks {
    event
        .content()
        .iter()
        .map(|block| if let Block::Text(text) = block { Some(text_of(text.as_str())) } else { None })
        .collect()
}

/// Code points of the text of a body.
#[must_use]
pub fn body_chars(body: &[Option<String>]) -> usize {
    body.iter().flatten().map(|text| count_points(text)).sum()
}

fn outcome(
    event: &Event<'_>,
    is_error: bool,
    call: (usize, usize),
    sources: &BTreeMap<Seq, &Event<'_>>,
    text_of: &mut impl FnMut(&str) -> String,
) -> Result<Outcome, ViewError> {
    let body = body_of(event, text_of);
    let mut earlier = Vec::new();
    let mut stands = event;
    while let Some(SurfaceOp::Replace { start, .. }) = stands.op {
        // Sources are earlier events, so a chain that does not fall is forged and would never end.
        stands = sources.get(&start).filter(|source| source.seq < stands.seq).ok_or(
            ViewError::CorruptSurface { seq: event.seq, reason: "replaces an event that is not given" },
        )?;
        earlier.push(body_of(stands, text_of));
    }
    let chars = body_chars(&body);
    Ok(Outcome {
        mark: marks::of_body(&body, !earlier.is_empty()),
        origin: stands.seq,
        origin_chars: earlier.last().map_or(chars, |original| body_chars(original)),
        chars,
        body,
        call,
        is_error,
        earlier,
    })
}

/// Heads followed by exactly as many results as they have calls, one for each id. A head that repeats an id
/// is left alone: nothing tells which of its results is which after a later edit.
fn complete_steps(nodes: &[Node]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let Said::Assistant(head) = &node.said else { continue };
        let mut ids: Vec<&str> = head.calls.iter().map(|call| call.id.as_str()).collect();
        ids.sort_unstable();
        if ids.is_empty() || ids.windows(2).any(|pair| matches!(pair, [a, b] if a == b)) {
            continue;
        }
        let answered: Vec<usize> = nodes
            .iter()
            .skip(at + 1)
            .map_while(|next| match &next.said {
                Said::Result(outcome) => Some(outcome.call.0),
                _ => None,
            })
            .collect();
        if answered.len() == ids.len() && answered.iter().all(|place| *place == at) {
            steps.push(Step { head: at, results: answered.len() });
        }
    }
    steps
}
