//! `dsh-rewind show`: what stands at a seq, and the originals behind it.

use super::look::{Kept, lines_of};
use super::session::Session;
use super::source::Source;
use super::{Audit, Failure, Input};
use crate::event::Seq;
use crate::recall::Recall;
use crate::replacements::Standing;
use crate::sorted::inserted;
use crate::words::{plural, range};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

/// What stands at a seq.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown {
    path: String,
    seq: Seq,
    line: u64,
    /// Of a line that packs several events: how many, and which of them it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    packed: Option<(u32, u32)>,
    event: Box<RawValue>,
    /// `visible`, `taken` or `log-only`.
    standing: &'static str,
    /// The replacements over it, the one on the surface last.
    taken_by: Vec<Taker>,
    /// The nodes that it took itself.
    took: Vec<Seq>,
    /// The appended nodes behind it, where it took any.
    originals: Vec<Original>,
    #[serde(skip)]
    text: String,
}

#[derive(Debug, Serialize)]
struct Taker {
    seq: Seq,
    by: String,
}

#[derive(Debug, Serialize)]
struct Original {
    seq: Seq,
    line: u64,
    event: Box<RawValue>,
}

/// Looks a seq up in a log.
pub(super) fn show(input: &Input, audit: Audit, asked: Seq) -> Result<Shown, Failure> {
    let session = audit.read(&input.path, input.open()?, None, |_| ())?;
    let length = session.length();
    if u64::from(asked) >= length {
        return Err(Failure::Usage(match length {
            0 => format!("{}: the log holds no event.", input.path),
            _ => format!("{}: there is no seq {asked}; the log ends at seq {}.", input.path, length - 1),
        }));
    }
    let node = match session.reader.standing(asked) {
        Standing::NoNode => session.calls.node_of_dispatch(asked),
        _ => Some(asked),
    };
    let originals = node.map(|node| session.reader.originals(node)).unwrap_or_default();
    let mut wanted: BTreeSet<Seq> = inserted(originals.iter().copied());
    wanted
        .extend(originals.iter().filter_map(|seq| session.calls.answered_by(*seq)).map(|call| call.carrier));
    wanted.extend(node);
    wanted.insert(asked);
    let lines = lines_of(Source::open(Box::new(input.open()?))?, &wanted)?;
    let Some(own) = lines.get(&asked) else {
        return Err(Failure::Usage(format!("{}: the line of seq {asked} is lost or damaged.", input.path)));
    };
    let took = node.map(|node| session.reader.taken_by(node).to_vec()).unwrap_or_default();
    let text = text_of(&session, &lines, asked, node, &originals, &took);
    let replaces = !took.is_empty();
    Ok(Shown {
        path: input.path.clone(),
        seq: asked,
        line: own.line,
        packed: own.packed,
        event: raw(own),
        standing: match session.reader.standing(asked) {
            Standing::Visible => "visible",
            Standing::ReplacedBy(_) => "taken",
            Standing::NoNode => "log-only",
        },
        taken_by: takers(&session, asked),
        took,
        originals: originals
            .iter()
            .filter(|_| replaces)
            .filter_map(|seq| {
                lines.get(seq).map(|kept| Original { seq: *seq, line: kept.line, event: raw(kept) })
            })
            .collect(),
        text,
    })
}

fn raw(kept: &Kept) -> Box<RawValue> {
    // A kept line was read as JSON before.
    RawValue::from_string(kept.json.clone()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn takers(session: &Session, seq: Seq) -> Vec<Taker> {
    let mut takers = Vec::new();
    let mut at = seq;
    while let Some(by) = session.reader.taker_of(at) {
        takers.push(Taker { seq: by, by: session.maker(by).to_owned() });
        at = by;
    }
    takers
}

/// Nodes in full, as recall shows them.
fn entries(session: &Session, lines: &BTreeMap<Seq, Kept>, nodes: Vec<Seq>) -> String {
    let mut recall = Recall::whole(&session.calls, nodes);
    loop {
        let events: Vec<&str> =
            recall.wants().iter().filter_map(|seq| lines.get(seq)).map(|kept| kept.json.as_str()).collect();
        if events.is_empty() {
            return recall.close().unwrap_or_default();
        }
        if let Err(error) = recall.read(&format!("[{}]", events.join(","))) {
            return error.to_string();
        }
    }
}

fn text_of(
    session: &Session,
    lines: &BTreeMap<Seq, Kept>,
    asked: Seq,
    node: Option<Seq>,
    originals: &[Seq],
    took: &[Seq],
) -> String {
    let mut text = String::new();
    match node {
        None => {
            let json = lines.get(&asked).map_or("", |kept| kept.json.as_str());
            return format!("It is in the log alone and was never sent to a model.\n{json}\n");
        }
        Some(node) if node != asked => {
            text.push_str(&format!("It is in the log alone; it belongs to s{node}.\n"))
        }
        Some(_) => {}
    }
    if took.is_empty() {
        return text + &entries(session, lines, originals.to_vec()) + "\n";
    }
    text + &entries(session, lines, node.into_iter().collect())
        + &format!("\n\nOriginals ({}):\n", originals.len())
        + &entries(session, lines, originals.to_vec())
        + "\n"
}

impl Shown {
    /// For a person.
    pub(super) fn text(&self) -> String {
        let packed = self.packed.map_or(String::new(), |(count, which)| {
            format!(", number {which} of {count} deltas packed in that line")
        });
        let mut head = format!("s{}, line {}{packed}", self.seq, self.line);
        match self.standing {
            "visible" => head.push_str(": on the surface"),
            "taken" => {
                let chain: Vec<String> =
                    self.taken_by.iter().map(|taker| format!("s{} ({})", taker.seq, taker.by)).collect();
                head.push_str(&format!(": taken by {}", chain.join(", then by ")));
            }
            _ => {}
        }
        if let (Some(first), Some(last)) = (self.took.first(), self.took.last()) {
            head.push_str(&format!(
                "; took {}, {}",
                plural(self.took.len() as u64, "node"),
                range(*first, *last)
            ));
        }
        format!("{head}\n\n{}", self.text)
    }
}
