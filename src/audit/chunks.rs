//! Packed chunk rows: one storage line for a run of streamed deltas, validated as strictly as the harness
//! does when it expands them, but only counted here.

use super::row::Damage;
use super::scan::{Scan, once};
use crate::event::Seq;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use std::fmt;

#[cfg(test)]
mod tests;

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

/// What a row holds, as far as its expansion could fail.
#[derive(Default)]
struct Shape {
    seq0: Option<i64>,
    time0: Option<i64>,
    has_id: bool,
    has_name: bool,
    dt: Gaps,
    texts: Option<u32>,
    args: Option<u32>,
}

/// Reads a line that is tagged as a chunk row.
pub(super) fn read(line: &str) -> Result<Run, Damage> {
    match scanned(line) {
        Some((tag, shape)) => shape.run(tag),
        None => general(line),
    }
}

fn general(line: &str) -> Result<Run, Damage> {
    let row: Row<'_> = serde_json::from_str(line).map_err(|error| Damage::ChunkRow(error.to_string()))?;
    let Row { tag, seq0, time0, data: Data { id, name, dt, texts, args, .. } } = row;
    let count = |members: Option<Members>| members.map(|members| members.0);
    let (has_id, has_name) = (id.is_some(), name.is_some());
    Shape { seq0, time0, has_id, has_name, dt, texts: count(texts), args: count(args) }.run(tag)
}

impl Shape {
    /// The events that the row stands for, by its tag.
    fn run(self, tag: &str) -> Result<Run, Damage> {
        let bad = |why: &str| Err(Damage::ChunkRow(why.to_owned()));
        let Self { seq0, time0, has_id, has_name, dt, texts, args } = self;
        let members = match (tag == "tool-call-chunks", has_id, texts, args) {
            (true, true, None, Some(args)) => args,
            (false, false, Some(texts), None) if !has_name => texts,
            _ => return bad("its fields are not those of its type"),
        };
        if members == 0 || dt.count + 1 != members {
            return bad("its gaps do not match its members");
        }
        match (seq0, time0) {
            (None, None) => Ok(Run { seq: None, count: members }),
            (Some(seq), Some(time)) => {
                let safe = |value: i64| (-SAFE..=SAFE).contains(&value);
                let times =
                    safe(time) && safe(time.saturating_add(dt.least)) && safe(time.saturating_add(dt.most));
                match Seq::try_from(seq) {
                    Ok(seq) if times && seq.checked_add(members).is_some() => {
                        Ok(Run { seq: Some(seq), count: members })
                    }
                    _ => bad("a seq or time of it is out of range"),
                }
            }
            _ => bad("it states only one of seq0 and time0"),
        }
    }
}

/// Reads a row as harnesses write them; `None` leaves it to the general reader.
fn scanned(line: &str) -> Option<(&str, Shape)> {
    let mut scan = Scan::new(line);
    let mut shape = Shape::default();
    let (mut tag, mut data, mut begun) = (None, None, false);
    while let Some(name) = scan.field(&mut begun)? {
        match name {
            "type" => once(&mut tag, scan.string()?.plain()?)?,
            "seq0" => once(&mut shape.seq0, scan.integer()?)?,
            "time0" => once(&mut shape.time0, scan.integer()?)?,
            "data" => once(&mut data, shape.read(&mut scan)?)?,
            _ => return None,
        }
    }
    data.filter(|()| scan.is_done())?;
    Some((tag?, shape))
}

impl Shape {
    /// Reads a row's data.
    fn read(&mut self, scan: &mut Scan<'_>) -> Option<()> {
        let (mut turn, mut step, mut index, mut gaps) = (None, None, None, None);
        let (mut id, mut name, mut begun) = (None, None, false);
        while let Some(field) = scan.field(&mut begun)? {
            match field {
                "turn" => once(&mut turn, scan.whole()?)?,
                "step" => once(&mut step, scan.whole()?)?,
                "index" => once(&mut index, scan.whole()?)?,
                "id" => once(&mut id, scan.string()?)?,
                "name" => once(&mut name, scan.string()?)?,
                "dt" => once(&mut gaps, Gaps::scanned(scan)?)?,
                "texts" => once(&mut self.texts, members(scan)?)?,
                "args" => once(&mut self.args, members(scan)?)?,
                _ => return None,
            }
        }
        turn.and(step).and(index)?;
        (self.has_id, self.has_name, self.dt) = (id.is_some(), name.is_some(), gaps?);
        Some(())
    }
}

/// The number of strings in an array.
fn members(scan: &mut Scan<'_>) -> Option<u32> {
    let (mut count, mut begun) = (0, false);
    while scan.member(&mut begun)? {
        scan.pass_string()?;
        count += 1;
    }
    Some(count)
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
#[derive(Default)]
struct Gaps {
    count: u32,
    sum: i64,
    least: i64,
    most: i64,
}

impl Gaps {
    fn add(&mut self, gap: i64) {
        self.sum = self.sum.saturating_add(gap);
        self.least = self.least.min(self.sum);
        self.most = self.most.max(self.sum);
        self.count += 1;
    }

    fn scanned(scan: &mut Scan<'_>) -> Option<Self> {
        let (mut gaps, mut begun) = (Self::default(), false);
        while scan.member(&mut begun)? {
            // None has more digits than are surely exact.
            gaps.add(scan.integer()?);
        }
        Some(gaps)
    }
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
                let mut gaps = Gaps::default();
                while let Some(gap) = seq.next_element::<i64>()? {
                    if !(-SAFE..=SAFE).contains(&gap) {
                        return Err(A::Error::custom("a gap is out of range"));
                    }
                    gaps.add(gap);
                }
                Ok(gaps)
            }
        }
        deserializer.deserialize_seq(GapsVisitor)
    }
}
