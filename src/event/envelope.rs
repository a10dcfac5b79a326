//! The frame every event shares, readable without reading what the event says.

use super::{EventError, Seq, Text};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// How an event entered the surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurfaceOp {
    /// Added at the tail.
    Append,
    /// Took the place of the surface nodes from `start` through `end`, which are seqs, by position.
    Replace {
        /// Seq of the first node it shadows.
        start: Seq,
        /// Seq of the last node it shadows.
        end: Seq,
    },
}

/// One log entry before its data is read.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Envelope<'a> {
    /// The event type, for instance `user/message`.
    #[serde(borrow, rename = "type")]
    pub name: Text<'a>,
    /// The stated seq; absent in logs that leave it to the line's place.
    #[serde(default)]
    pub seq: Option<Seq>,
    /// Unix epoch milliseconds.
    #[serde(default, deserialize_with = "millis")]
    pub time: Option<i64>,
    /// The unread payload.
    #[serde(borrow, default)]
    pub data: Option<&'a RawValue>,
    /// How the event entered the surface; absent for log-only events.
    #[serde(default)]
    pub surface_op: Option<SurfaceOp>,
    /// Earlier events it cites, unread: of a model's answer these are all of its stream's chunks.
    #[serde(borrow, default)]
    pub source_event_seqs: Option<&'a RawValue>,
    /// Whether a reader that does not know the type may skip it.
    #[serde(default)]
    pub ignorable: Option<bool>,
}

impl<'a> Envelope<'a> {
    /// Reads one JSON object, typically a line of a log.
    ///
    /// # Errors
    /// [`EventError::Envelope`] when it is not JSON or not an event.
    pub fn parse(json: &'a str) -> Result<Self, EventError> {
        serde_json::from_str(json).map_err(|error| EventError::Envelope(error.to_string()))
    }
}

fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    #[expect(clippy::cast_possible_truncation, reason = "`as` saturates, which is right for a clock")]
    let read = |value: f64| value as i64;
    Ok(Option::<f64>::deserialize(deserializer)?.map(read))
}

impl<'de> Deserialize<'de> for SurfaceOp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OpVisitor;
        impl<'de> Visitor<'de> for OpVisitor {
            type Value = SurfaceOp;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("\"append\" or {op: \"replace\", start, end}")
            }
            fn visit_str<E: serde::de::Error>(self, op: &str) -> Result<SurfaceOp, E> {
                if op == "append" { Ok(SurfaceOp::Append) } else { Err(E::custom("unknown surfaceOp")) }
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SurfaceOp, A::Error> {
                #[derive(Deserialize)]
                struct Range {
                    op: String,
                    #[serde(alias = "startSeq")]
                    start: Seq,
                    #[serde(alias = "endSeq")]
                    end: Seq,
                }
                let range = Range::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                if range.op != "replace" {
                    return Err(A::Error::custom("unknown surfaceOp"));
                }
                Ok(SurfaceOp::Replace { start: range.start, end: range.end })
            }
        }
        deserializer.deserialize_any(OpVisitor)
    }
}
