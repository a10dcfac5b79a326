//! Session events as JSON: the one reading of what the log writes, for every room that needs text.
//!
//! A line or an array element becomes an [`Envelope`] first, whose `data` stays unread JSON; [`Event`] reads
//! the data of the types that rooms here decide by and leaves every other type as [`Body::Other`]. Fields
//! nobody asks for are ignored, so newer harnesses keep being readable. Both shapes of `tool/result` are
//! accepted: the result block inside a user-role message, and a tool-role message with direct content.
//!
//! Text is [`Text`]: a lone surrogate, legal in a log (docs/rewind.md 0), reads as one U+FFFD, so UTF-16
//! lengths stay right. `JSON.stringify` escapes lone surrogates, hence its output may cross the border as is.

mod block;
mod envelope;
mod result;
mod text;

pub use block::{Block, Image, Source};
pub use envelope::{Envelope, SurfaceOp};
pub use result::ToolResult;
pub(crate) use text::json_of;
pub use text::{Text, utf16_len, utf16_units};

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::value::RawValue;
use thiserror::Error;

/// A position in the session log: `seq == index`.
pub type Seq = u32;

/// Why an event could not be read. Display is a finished sentence.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EventError {
    /// The JSON itself, or the envelope around an event, is not what a session log holds.
    #[error("session events could not be read: {0}")]
    Envelope(String),
    /// One event's data does not have the shape its type promises.
    #[error("session event {seq} ({name}) could not be read: {reason}")]
    Data {
        /// The event's seq.
        seq: Seq,
        /// The event's type.
        name: String,
        /// What serde found.
        reason: String,
    },
    /// An event states no seq, where nothing else tells its place.
    #[error("session event of type {0} states no seq")]
    NoSeq(String),
}

/// One session event with its data read.
#[derive(Debug, Clone)]
pub struct Event<'a> {
    /// Position in the log.
    pub seq: Seq,
    /// Unix epoch milliseconds, where stated.
    pub time: Option<i64>,
    /// How it entered the surface; `None` for log-only events.
    pub op: Option<SurfaceOp>,
    /// `sourceEventSeqs` of a replacement, among them every node it shadows; empty for any other event.
    pub sources: Vec<Seq>,
    /// What happened.
    pub body: Body<'a>,
}

/// What an event says, for the types that rooms decide by.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Body<'a> {
    /// `user/message`: a person's words, or context somebody injected; `source` tells.
    User(Message<'a>),
    /// `assistant/message`.
    Assistant(Assistant<'a>),
    /// `tool/result`, in either shape.
    ToolResult(ToolResult<'a>),
    /// `tool/call`, log-only.
    ToolCall(ToolCall<'a>),
    /// `turn/start`.
    TurnStart {
        /// The turn's number.
        turn: u32,
    },
    /// `turn/end`.
    TurnEnd {
        /// The turn's number.
        turn: u32,
        /// The reason's kind, for instance `completed`.
        reason: Text<'a>,
    },
    /// `step/start`.
    StepStart {
        /// The turn's number.
        turn: u32,
        /// The step's number in the turn.
        step: u32,
    },
    /// `step/end`.
    StepEnd {
        /// The turn's number.
        turn: u32,
        /// The step's number in the turn.
        step: u32,
    },
    /// `session/end-seed`: everything before it came from a seed.
    EndSeed,
    /// Any other type, known to the harness or not.
    Other {
        /// The event type.
        name: Text<'a>,
        /// Its unread payload.
        data: Option<&'a RawValue>,
    },
}

/// The message of a `user/message` or an `assistant/message`.
#[derive(Debug, Clone, Deserialize)]
pub struct Message<'a> {
    /// Stable message id, where stated.
    #[serde(borrow, default)]
    pub id: Option<Text<'a>>,
    /// Model-facing blocks, in order.
    #[serde(borrow, default)]
    pub content: Vec<Block<'a>>,
    /// Who produced it.
    #[serde(borrow, default)]
    pub source: Source<'a>,
}

/// The data of an `assistant/message`.
#[derive(Debug, Clone, Deserialize)]
pub struct Assistant<'a> {
    /// The turn's number, 0 when not stated.
    #[serde(default, deserialize_with = "count")]
    pub turn: u32,
    /// The step's number in the turn, 0 when not stated.
    #[serde(default, deserialize_with = "count")]
    pub step: u32,
    /// What the model said and asked for.
    #[serde(borrow)]
    pub message: Message<'a>,
    /// Token accounting of the step, unread.
    #[serde(borrow, default)]
    pub usage: Option<&'a RawValue>,
    /// Whether the answer was cut by a cancellation.
    #[serde(default)]
    pub interrupted: bool,
}

/// The data of a `tool/call`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall<'a> {
    /// The turn's number, 0 when not stated.
    #[serde(default, deserialize_with = "count")]
    pub turn: u32,
    /// The step's number in the turn, 0 when not stated.
    #[serde(default, deserialize_with = "count")]
    pub step: u32,
    /// The call's id, which may repeat in a session.
    #[serde(borrow)]
    pub call_id: Text<'a>,
    /// The tool's name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// The arguments as the model wrote them; `null` reads as empty.
    #[serde(borrow, default, deserialize_with = "block::nullable")]
    pub arguments: Text<'a>,
}

impl<'a> Event<'a> {
    /// Reads an envelope's data. `place` is the seq that the event's place in the log implies; it counts only
    /// where the event states none.
    ///
    /// # Errors
    /// [`EventError::Data`] when the data has not the shape of its type, [`EventError::NoSeq`] without any
    /// seq.
    pub fn read(envelope: Envelope<'a>, place: Option<Seq>) -> Result<Self, EventError> {
        let seq =
            envelope.seq.or(place).ok_or_else(|| EventError::NoSeq(envelope.name.as_str().to_owned()))?;
        let bad = |error: serde_json::Error| EventError::Data {
            seq,
            name: envelope.name.as_str().to_owned(),
            reason: error.to_string(),
        };
        let body = Body::read(&envelope).map_err(bad)?;
        let sources = match (envelope.surface_op, envelope.source_event_seqs) {
            (Some(SurfaceOp::Replace { .. }), Some(json)) => serde_json::from_str(json.get()).map_err(bad)?,
            _ => Vec::new(),
        };
        Ok(Self { seq, time: envelope.time, op: envelope.surface_op, sources, body })
    }

    /// The model-visible blocks, with the result block of the older `tool/result` shape already opened.
    #[must_use]
    pub fn content(&self) -> &[Block<'a>] {
        match &self.body {
            Body::User(message) => &message.content,
            Body::Assistant(assistant) => &assistant.message.content,
            Body::ToolResult(result) => &result.content,
            _ => &[],
        }
    }

    /// Who produced the message; `None` for events that carry none.
    #[must_use]
    pub fn source(&self) -> Option<&Source<'a>> {
        match &self.body {
            Body::User(message) => Some(&message.source),
            Body::Assistant(assistant) => Some(&assistant.message.source),
            Body::ToolResult(result) => Some(&result.source),
            _ => None,
        }
    }

    /// Model-visible text in UTF-16 code units (docs/rewind.md 1.9).
    #[must_use]
    pub fn chars(&self) -> usize {
        self.content().iter().map(Block::chars).sum()
    }

    /// Whether the type can stand on the surface.
    #[must_use]
    pub fn is_surface(&self) -> bool {
        matches!(self.body, Body::User(_) | Body::Assistant(_) | Body::ToolResult(_))
    }
}

/// Reads a JSON array of events, each of which must state its seq.
///
/// # Errors
/// [`EventError`], which names the seq where it can.
pub fn parse_events(json: &str) -> Result<Vec<Event<'_>>, EventError> {
    let envelopes: Vec<Envelope<'_>> =
        serde_json::from_str(json).map_err(|error| EventError::Envelope(error.to_string()))?;
    envelopes.into_iter().map(|envelope| Event::read(envelope, None)).collect()
}

#[derive(Deserialize)]
struct Place<'a> {
    #[serde(default, deserialize_with = "count")]
    turn: u32,
    #[serde(default, deserialize_with = "count")]
    step: u32,
    #[serde(borrow, default)]
    reason: Source<'a>,
}

impl<'a> Body<'a> {
    fn read(envelope: &Envelope<'a>) -> serde_json::Result<Self> {
        let json = envelope.data.map_or("{}", RawValue::get);
        Ok(match envelope.name.as_str() {
            "user/message" => Self::User(serde_json::from_str(json)?),
            "assistant/message" => Self::Assistant(serde_json::from_str(json)?),
            "tool/result" => Self::ToolResult(ToolResult::read(json)?),
            "tool/call" => Self::ToolCall(serde_json::from_str(json)?),
            "turn/start" => Self::TurnStart { turn: Place::read(json)?.turn },
            "turn/end" => {
                let place = Place::read(json)?;
                Self::TurnEnd { turn: place.turn, reason: place.reason.kind }
            }
            "step/start" | "step/end" => {
                let Place { turn, step, .. } = Place::read(json)?;
                let start = envelope.name.as_str() == "step/start";
                if start { Self::StepStart { turn, step } } else { Self::StepEnd { turn, step } }
            }
            "session/end-seed" => Self::EndSeed,
            _ => Self::Other { name: envelope.name.clone(), data: envelope.data },
        })
    }
}

impl<'a> Place<'a> {
    fn read(json: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(json)
    }
}

/// A number of JavaScript's as the seq, turn or count it stands for; none where it is no such number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "range and fraction are checked")]
pub(crate) fn whole(value: f64) -> Option<u32> {
    (value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value)).then_some(value as u32)
}

/// A whole number that JavaScript may have written with a fraction of zero.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let value = f64::deserialize(deserializer)?;
    whole(value).ok_or_else(|| D::Error::custom(format_args!("{value} is not a turn or step number")))
}
