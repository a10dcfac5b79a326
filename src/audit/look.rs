//! A second look into a log, for the lines that a question turned out to need.

use super::lines::{self, End};
use super::order::{Order, Placed};
use super::row::{self, Fact};
use super::source::{Flaw, Source};
use crate::event::Seq;
use crate::report::tools::Tools;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// A line that was asked for.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) line: u64,
    /// The event as JSON, with its seq.
    pub(super) json: String,
    /// How many events the line stands for, and which of them was asked for, from 1.
    pub(super) packed: Option<(u32, u32)>,
}

/// The lines that hold these seqs.
///
/// # Errors
/// What the disk says.
pub(super) fn lines_of(source: Source<'_>, wanted: &BTreeSet<Seq>) -> io::Result<BTreeMap<Seq, Kept>> {
    let tools = Tools::default();
    let mut order = Order::default();
    let mut kept = BTreeMap::new();
    let mut line = 0;
    lines::each(source, |piece| {
        let Ok(bytes) = piece else {
            let lost = !matches!(piece, Err(End::Flaw(Flaw::Torn | Flaw::Bad(_), false)));
            line += u64::from(lost);
            return order.lost();
        };
        line += 1;
        let row = match row::read(bytes, &tools) {
            Ok(row) if matches!(row.fact, Fact::Header(_)) => return,
            Ok(row) => row,
            Err(_) => return order.lost(),
        };
        let count = if let Fact::Chunks(count) = row.fact { count } else { 1 };
        let (Placed::At(seq) | Placed::Behind(seq)) = order.place(row.seq, count) else { return };
        for asked in wanted.range(seq..seq.saturating_add(count)) {
            let text = String::from_utf8_lossy(bytes);
            let json = match text.strip_prefix('{') {
                Some(rest) if row.seq.is_none() => format!("{{\"seq\":{seq},{rest}"),
                _ => text.into_owned(),
            };
            let packed = (count > 1).then(|| (count, asked - seq + 1));
            kept.insert(*asked, Kept { line, json, packed });
        }
    })?;
    Ok(kept)
}
