//! `dsh-rewind fold`: what a fold would take from a stored log, what it would keep and why, and the report
//! that code alone would make of it. Nothing is written.

use super::look::lines_of;
use super::session::Session;
use super::source::Source;
use super::track::Track;
use super::{Audit, Failure, Input};
use crate::event::{Body, Envelope, Event, Seq, utf16_len};
use crate::outlook::kept;
use crate::plan::{Edit, Plan};
use crate::region::{Region, Target};
use crate::report::compose::{Draft, Piece};
use crate::report::frame::Frame;
use crate::report::gather::Gatherer;
use crate::report::landed::{pointer, sibling};
use crate::report::language::Language;
use crate::report::ledger_text::LedgerBudget;
use crate::report::tools::Tools;
use crate::sorted::inserted;
use crate::surface::{Columns, Kind, Surface};
use crate::words::{count, plural, range};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The mark of a fold that is not made.
const MARK: &str = "0";
/// Budget of the ledger, as the entry plugin has it by default.
const BUDGET: LedgerBudget = LedgerBudget { share: 0.25, cap: 6_000 };

/// The fold that would be made.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DryRun {
    path: String,
    from: Seq,
    to: Seq,
    /// Why it would be refused; nothing else is stated then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<Refused>,
    folded_nodes: u32,
    folded_chars: u32,
    folded_tokens: u64,
    landed_chars: usize,
    /// Runs of nodes that leave; the last becomes the report.
    segments: Vec<Vec<Seq>>,
    /// Results rewritten in place.
    siblings: Vec<Seq>,
    /// Persons' messages that fold with an open call and are quoted.
    quotes: Vec<Seq>,
    kept: Vec<KeptNode>,
    report: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Refused {
    code: &'static str,
    message: String,
}

#[derive(Debug, Serialize)]
struct KeptNode {
    seq: Seq,
    why: &'static str,
}

/// Plans the fold of everything from a seq on, as a turn would that is open at `to`.
pub(super) fn dry_run(input: &Input, audit: Audit, from: Seq, to: Option<Seq>) -> Result<DryRun, Failure> {
    let session = audit.read(&input.path, input.open()?, to, |_| ())?;
    let length = session.length();
    let last = Seq::try_from(length.saturating_sub(1)).unwrap_or(Seq::MAX);
    if u64::from(from) >= length || to.is_some_and(|to| to < from || to > last) {
        let path = &input.path;
        return Err(Failure::Usage(match (length, to) {
            (0, _) => format!("{path}: the log holds no event."),
            (_, Some(to)) if to < from => format!("--to {to} comes before --from {from}."),
            _ => format!("{path}: the log ends at seq {last}; --from and --to must lie in it."),
        }));
    }
    let mut run = DryRun {
        path: input.path.clone(),
        from,
        to: to.unwrap_or(last),
        refused: None,
        folded_nodes: 0,
        folded_chars: 0,
        folded_tokens: 0,
        landed_chars: 0,
        segments: Vec::new(),
        siblings: Vec::new(),
        quotes: Vec::new(),
        kept: Vec::new(),
        report: String::new(),
    };
    let target = Target {
        mark: MARK.to_owned(),
        log_length: from,
        last_assistant: session.track.assistant_before(from),
        call: None,
        checkpoint_name: None,
        open_turn: true,
    };
    let planned = surface_of(&session).and_then(|surface| {
        let plan = Plan::new(&surface, &target)?;
        let region = Region::select(&surface, &target)?;
        Ok((kept(&surface, &target, &region), plan))
    });
    let (kept, plan) = match planned {
        Ok(planned) => planned,
        Err(refusal) => {
            run.refused = Some(Refused { code: refusal.code(), message: refusal.to_string() });
            return Ok(run);
        }
    };
    run.kept = kept.into_iter().map(|node| KeptNode { seq: node.seq, why: node.why.text() }).collect();
    run.folded_nodes = plan.folded_nodes;
    run.folded_chars = plan.folded_chars;
    run.folded_tokens =
        plan.folded().filter_map(|seq| session.track.info(seq)).map(|info| u64::from(info.tokens)).sum();
    let mut beside = 0;
    for edit in plan.edits() {
        match edit {
            Edit::Pointer { .. } => beside += utf16_len(&pointer(MARK, Language::En)),
            Edit::Sibling { .. } => beside += utf16_len(&sibling(MARK, Language::En)),
            Edit::Report { .. } | Edit::ReportInPlace { .. } => {}
        }
    }
    run.report = report(input, &session, &plan, beside)?;
    run.landed_chars = utf16_len(&run.report) + beside;
    if run.landed_chars >= plan.folded_chars as usize {
        let (landed, chars) = (count(run.landed_chars as u64), count(plan.folded_chars.into()));
        let message =
            format!("The shortest report is {landed} characters long, and it would replace {chars}.");
        run.refused = Some(Refused { code: "SHRINK", message });
    }
    run.segments = plan.segments().into_iter().map(<[Seq]>::to_vec).collect();
    run.siblings = plan.siblings;
    run.quotes = plan.quotes;
    Ok(run)
}

/// The surface as the fold's own rooms take it.
fn surface_of(session: &Session) -> Result<Surface, crate::error::Refusal> {
    let nodes = session.reader.surface();
    let length = nodes.iter().max().map_or(0, |last| *last as usize + 1);
    let (mut facts, mut chars) = (vec![0; length], vec![0; length]);
    let (mut origins, mut calls) = (vec![0; length], vec![0; length]);
    let mut pool = Vec::new();
    let mut numbers = BTreeMap::new();
    for seq in &nodes {
        let at = *seq as usize;
        let Some(info) = session.track.info(*seq) else { continue };
        let kind = match info.kind {
            Kind::User => 1,
            Kind::Assistant => 2,
            Kind::Result => 3,
        };
        facts[at] = kind | info.flags;
        chars[at] = info.chars;
        origins[at] = info.origin;
        calls[at] = u32::try_from(pool.len()).unwrap_or(u32::MAX);
        let ids = Track::calls(&session.track, info);
        pool.push(u32::try_from(ids.len()).unwrap_or(u32::MAX));
        for id in ids {
            // Interned densely over this surface alone, as the columns of a live session are.
            let next = u32::try_from(numbers.len() + 1).unwrap_or(u32::MAX);
            pool.extend([*numbers.entry(*id).or_insert(next), 0]);
        }
    }
    Surface::parse(&Columns {
        nodes: &nodes,
        facts: &facts,
        chars: &chars,
        origins: &origins,
        calls: &calls,
        pool: &pool,
    })
}

/// The report that code alone makes.
fn report(input: &Input, session: &Session, plan: &Plan, beside: usize) -> Result<String, Failure> {
    let folded: Vec<Seq> = plan.folded().collect();
    let carrier =
        plan.siblings.first().and_then(|seq| session.calls.answered_by(*seq)).map(|call| call.carrier);
    let wanted: BTreeSet<Seq> = inserted(folded.iter().copied().chain(carrier));
    let lines = lines_of(Source::open(Box::new(input.open()?))?, &wanted)?;
    let event = |seq: &Seq| -> Option<Event<'_>> {
        Event::read(Envelope::parse(&lines.get(seq)?.json).ok()?, Some(*seq)).ok()
    };
    let mut gatherer = Gatherer::new(Tools::default());
    if let Some(carrier) = carrier.as_ref().and_then(event) {
        gatherer.carrier(&carrier);
    }
    let mut order = folded.clone();
    order.sort_unstable();
    for event in order.iter().filter_map(event) {
        gatherer.read(&event);
    }
    let gathered = gatherer.finish();
    let quotes: Vec<String> = plan.quotes.iter().filter_map(event).map(|event| quoted(&event)).collect();
    let lengths: Vec<u32> =
        quotes.iter().map(|quote| u32::try_from(utf16_len(quote)).unwrap_or(u32::MAX)).collect();
    let frame = Frame {
        mark: MARK.to_owned(),
        steps: if gathered.steps == 0 { plan.folded_nodes } else { gathered.steps },
        start: plan.start,
        end: plan.end,
        receipt: true,
    };
    let region = plan.folded_chars as usize;
    let draft = Draft {
        frame: &frame,
        in_place: plan.runs.is_empty(),
        language: Language::En,
        prose: None,
        objective: "",
        last_words: &gathered.last_words,
        ledger: &gathered.ledger,
        unverified: &[],
        quotes: &lengths,
        region,
        budget: BUDGET,
        room: region.saturating_sub(1 + beside),
    };
    let pieces = draft.compose().pieces.into_iter().map(|piece| match piece {
        Piece::Text(text) => text,
        Piece::Quote(index) => quotes.get(index as usize).cloned().unwrap_or_default(),
    });
    Ok(pieces.collect())
}

fn quoted(event: &Event<'_>) -> String {
    let Body::User(message) = &event.body else { return String::new() };
    let words: Vec<&str> = message
        .content
        .iter()
        .filter_map(
            |block| if let crate::event::Block::Text(text) = block { Some(text.as_str()) } else { None },
        )
        .collect();
    words.join("\n").split('\n').map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

impl DryRun {
    /// For a person.
    pub(super) fn text(&self) -> String {
        let Self { from, to, folded_nodes, folded_chars, folded_tokens, landed_chars, .. } = self;
        let mut text = String::new();
        let mut line = |words: String| {
            text.push_str(&words);
            text.push('\n');
        };
        if self.segments.is_empty() && self.siblings.is_empty() {
            if let Some(Refused { code, message }) = &self.refused {
                line(format!("A fold of s{from} to s{to} would be refused ({code}): {message}"));
            }
            return text;
        }
        line(format!(
            "A fold of s{from} to s{to} would take {}: {}, about {}; {} would land.",
            plural((*folded_nodes).into(), "node"),
            plural((*folded_chars).into(), "character"),
            plural(*folded_tokens, "token"),
            plural(*landed_chars as u64, "character")
        ));
        for (index, seqs) in self.segments.iter().enumerate() {
            let becomes =
                if index + 1 == self.segments.len() { "the report" } else { "a line that points to it" };
            if let (Some(first), Some(last)) = (seqs.first(), seqs.last()) {
                let stands = if seqs.len() == 1 { "becomes" } else { "become" };
                let nodes = plural(seqs.len() as u64, "node");
                line(format!("  {}: {nodes}, {stands} {becomes}", range(*first, *last)));
            }
        }
        for seq in &self.siblings {
            line(format!("  s{seq}: a result beside the mark's call, rewritten in place"));
        }
        if !self.quotes.is_empty() {
            let seqs: Vec<String> = self.quotes.iter().map(|seq| format!("s{seq}")).collect();
            line(format!("Quoted word for word: {}.", seqs.join(", ")));
        }
        if !self.kept.is_empty() {
            line("Kept:".to_owned());
        }
        for KeptNode { seq, why } in &self.kept {
            line(format!("  s{seq}: {why}"));
        }
        if let Some(Refused { code, message }) = &self.refused {
            line(format!("It would be refused ({code}): {message}"));
        }
        line(format!("\nThe report by code alone:\n\n{}", self.report));
        text
    }
}
