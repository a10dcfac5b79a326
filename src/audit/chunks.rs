//! Packed chunk rows: one storage line for a run of streamed deltas, validated as strictly as the harness
//! does when it expands them, but only counted here.

use super::row::Damage;
use crate::event::Seq;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use std::fmt;

/// The largest integer that JavaScript holds exactly.
const SAFE: i64 = (1 << 53) - 1;

/// Which events a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// Seq of the first; absent in logs that leave seqs to the line's place.
    pub(super) seq: Option<Seq>,
    /// How many there are, at least one.
    pub(super) count: u32,
}

/// Whether a line's type tag is a chunk row's.
pub(super) fn is_row(name: &str) -> bool {
    matches!(name, "text-chunks" | "reasoning-chunks" | "tool-call-chunks")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row<'a> {
    #[serde(rename = "type")]
    tag: &'a str,
    #[serde(default)]
    seq0: Option<i64>,
    #[serde(default)]
    time0: Option<i64>,
    data: Data,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    #[serde(rename = "turn")]
    _turn: f64,
    #[serde(rename = "step")]
    _step: f64,
    #[serde(rename = "index")]
    _index: f64,
    #[serde(default)]
    id: Option<Name>,
    #[serde(default)]
    name: Option<Name>,
    dt: Gaps,
    #[serde(default)]
    texts: Option<Members>,
    #[serde(default)]
    args: Option<Members>,
}

/// Reads a line that is tagged as a chunk row.
pub(super) fn read(line: &str) -> Result<Run, Damage> {
    let row: Row<'_> = serde_json::from_str(line).map_err(|error| Damage::ChunkRow(error.to_string()))?;
    let bad = |why: &str| Err(Damage::ChunkRow(why.to_owned()));
    let Data { id, name, dt, texts, args, .. } = row.data;
    let members = match (row.tag == "tool-call-chunks", id, texts, args) {
        (true, Some(_), None, Some(args)) => args,
        (false, None, Some(texts), None) if name.is_none() => texts,
        _ => return bad("its fields are not those of its type"),
    };
    if members.0 == 0 || dt.count + 1 != members.0 {
        return bad("its gaps do not match its members");
    }
    match (row.seq0, row.time0) {
        (None, None) => Ok(Run { seq: None, count: members.0 }),
        (Some(seq), Some(time)) => {
            let safe = |value: i64| (-SAFE..=SAFE).contains(&value);
            let times =
                safe(time) && safe(time.saturating_add(dt.least)) && safe(time.saturating_add(dt.most));
            match Seq::try_from(seq) {
                Ok(seq) if times && seq.checked_add(members.0).is_some() => {
                    Ok(Run { seq: Some(seq), count: members.0 })
                }
                _ => bad("a seq or time of it is out of range"),
            }
        }
        _ => bad("it states only one of seq0 and time0"),
    }
}

/// A string that is present and not looked at.
struct Name;

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl Visitor<'_> for NameVisitor {
            type Value = Name;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_bytes<E: Error>(self, _: &[u8]) -> Result<Name, E> {
                Ok(Name)
            }
        }
        // Bytes, for a chunk may end between the halves of a surrogate pair.
        deserializer.deserialize_bytes(NameVisitor)
    }
}

/// The number of strings in an array.
struct Members(u32);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of strings")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Members, A::Error> {
                let mut count = 0;
                while seq.next_element::<Name>()?.is_some() {
                    count += 1;
                }
                Ok(Members(count))
            }
        }
        deserializer.deserialize_seq(MembersVisitor)
    }
}

/// The gaps between times: how many, and how far their running sum goes either way.
struct Gaps {
    count: u32,
    least: i64,
    most: i64,
}

impl<'de> Deserialize<'de> for Gaps {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct GapsVisitor;
        impl<'de> Visitor<'de> for GapsVisitor {
            type Value = Gaps;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array of whole numbers")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Gaps, A::Error> {
                let mut gaps = Gaps { count: 0, least: 0, most: 0 };
                let mut sum: i64 = 0;
                while let Some(gap) = seq.next_element::<i64>()? {
                    if !(-SAFE..=SAFE).contains(&gap) {
                        return Err(A::Error::custom("a gap is out of range"));
                    }
                    sum = sum.saturating_add(gap);
                    gaps.least = gaps.least.min(sum);
                    gaps.most = gaps.most.max(sum);
                    gaps.count += 1;
                }
                Ok(gaps)
            }
        }
        deserializer.deserialize_seq(GapsVisitor)
    }
}
