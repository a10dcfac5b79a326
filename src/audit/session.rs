//! One log, line by line in order: the surface, the marks, the replacements, and what is wrong with them.

use super::findings::{Code, Finding, Findings};
use super::folds::Folds;
use super::node::Node;
use super::order::{Order, Place, Placed};
use super::promises::Turns;
use super::report::{FirstFault, LogAudit, ReadAgain, Size};
use super::row::{Damage, Fact, Price, Row};
use super::track::Track;
use crate::event::{Seq, SurfaceOp};
use crate::replacements::{CallRef, Calls, Regret, Replacements};
use crate::surface::{Kind, PERSON};
use crate::wire::{Fault, FaultKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The format version of the harness lines up to 0.2.
const FORMAT: f64 = 0.0;

/// The audit of one log under way.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) audit: LogAudit,
    pub(super) findings: Findings,
    order: Order,
    /// Events behind this one are passed over.
    pub(super) until: Option<Seq>,
    has_header: bool,
    /// The surface was sent already: no request is due before the next step.
    asked: bool,
    pub(super) price: Option<Price>,
    compacting: Option<u64>,
    known_faults: BTreeSet<(Seq, u8)>,
    pub(super) words: BTreeMap<Seq, Option<Box<str>>>,
    /// The mark of the last report, and the words it states: its fold's pointers land after it.
    pub(super) stated: Option<(Box<str>, Vec<Box<str>>)>,
    recalls: BTreeSet<CallRef>,
    labels: BTreeMap<CallRef, Box<str>>,
    pub(super) by_seq: HashMap<Seq, usize>,
    pub(super) reader: Replacements,
    pub(super) calls: Calls<u32>,
    pub(super) track: Track,
    pub(super) regret: Regret,
    pub(super) folds: Folds,
    pub(super) turns: Turns,
}

impl Session {
    pub(super) fn object(&mut self, code: Code, line: Option<u64>, message: String) {
        self.findings.push(Finding { code, line, seq: None, by: None, ours: false, message });
    }

    pub(super) fn object_at(&mut self, code: Code, at: Place, message: String) {
        let (line, seq) = (Some(at.line), Some(at.seq));
        self.findings.push(Finding { code, line, seq, by: None, ours: false, message });
    }

    /// Takes the next line, numbered from 1.
    pub(super) fn take(&mut self, line: u64, row: Result<Row, Damage>) {
        self.audit.lines = line;
        let row = match row {
            Ok(row) => row,
            Err(damage) => return self.damaged(line, damage),
        };
        if row.mended {
            self.object(
                Code::NotUtf8,
                Some(line),
                "The line is not UTF-8; it was read with replacement characters.".into(),
            );
        }
        if let Fact::Header(header) = row.fact {
            return self.header(line, *header);
        }
        let count = if let Fact::Chunks(count) = row.fact { count } else { 1 };
        let Some(seq) = self.place(line, row.seq, count) else { return };
        if self.until.is_some_and(|until| seq > until) {
            return;
        }
        self.audit.events += u64::from(count);
        self.event(Place { line, seq }, row.fact);
    }

    fn damaged(&mut self, line: u64, damage: Damage) {
        let (code, message) = match damage {
            Damage::Unreadable(why) => (Code::UnreadableLine, format!("The line is no event: {why}.")),
            Damage::BadEvent(why) => (Code::BadEvent, format!("The event's data cannot be read: {why}.")),
            Damage::ChunkRow(why) => {
                (Code::BadChunkRow, format!("The packed row cannot be expanded: {why}."))
            }
        };
        self.object(code, Some(line), message);
        self.lost();
    }

    /// A line is lost, so the next seq is anybody's guess.
    pub(super) fn lost(&mut self) {
        self.order.lost();
    }

    /// Who made the replacement `seq`; empty for any other seq.
    pub(super) fn maker(&self, seq: Seq) -> &str {
        let replacement = self.by_seq.get(&seq).and_then(|at| self.audit.replacements.get(*at));
        replacement.map_or("", |replacement| replacement.by.as_str())
    }

    /// How many events the log has, lost ones included.
    pub(super) fn length(&self) -> u64 {
        self.order.next
    }

    fn header(&mut self, line: u64, header: super::row::Header) {
        if line > 1 || self.has_header {
            let message = "A session header in the middle: two logs were put into one file.".into();
            return self.object(Code::UnreadableLine, Some(line), message);
        }
        self.has_header = true;
        if header.version.is_some_and(|version| version != FORMAT) {
            let version = header.version.unwrap_or_default();
            let message = format!(
                "Format version {version} is newer than this audit knows; read as far as it is alike."
            );
            self.object(Code::NewerFormat, Some(line), message);
        }
        self.audit.session = header.id;
        self.audit.cwd = header.cwd;
        self.audit.parent_session = header.parent_session;
        self.audit.origin = header.origin;
        self.folds
            .seed_length(header.seed_length.filter(|_| self.audit.origin.as_deref() == Some("subagent")));
    }

    /// The seq of a line's first event, or `None` when it must not be applied.
    fn place(&mut self, line: u64, stated: Option<Seq>, count: u32) -> Option<Seq> {
        let expected = self.order.next;
        let at = |seq: Seq| Place { line, seq };
        match self.order.place(stated, count) {
            Placed::At(seq) => Some(seq),
            Placed::Behind(seq) => {
                let message = format!("Seqs {expected} to {} are missing.", u64::from(seq) - 1);
                self.object_at(Code::SeqGap, at(seq), message);
                Some(seq)
            }
            Placed::Again(seq) => {
                let message = format!(
                    "Seq {seq} comes where seq {expected} is due: two writers wrote this log; it is left out."
                );
                self.object_at(Code::SeqAgain, at(seq), message);
                None
            }
            Placed::Nowhere => {
                self.object(Code::SeqGap, Some(line), "The log has more events than seqs can count.".into());
                None
            }
        }
    }

    fn event(&mut self, at: Place, fact: Fact) {
        if !matches!(fact, Fact::Node(_) | Fact::Price(_)) {
            self.price = None;
            self.folds.close(&mut self.findings);
        }
        match fact {
            Fact::Node(node) => self.node(at, *node),
            Fact::Chunks(count) => {
                self.audit.chunks += u64::from(count);
                self.ask(at);
                self.asked = true;
            }
            Fact::StepStart => self.asked = false,
            Fact::TurnStart(turn) => {
                self.audit.turns += 1;
                self.turns.start(at.seq, turn);
            }
            Fact::TurnEnd(turn) => self.turns.end(at.seq, turn),
            Fact::ToolCall(id) => {
                let id = self.track.intern(&id);
                self.calls.dispatch(at.seq, &id);
            }
            Fact::DispatchStart(id) => self.folds.dispatched(at.seq, id),
            Fact::DispatchEnd(ended) => self.folds.dispatch_ended(at.seq, *ended),
            Fact::Price(price) => self.price = Some(*price),
            Fact::CompactionStart => self.compacting = Some(at.line),
            Fact::CompactionEnd | Fact::EndSeed => self.compacting = None,
            Fact::DiscardRun(id) => self.folds.discard_run(id),
            Fact::CommandDone(id, seq) => self.folds.command_done(&id, seq),
            Fact::Unplaced(name) => {
                let message = format!("{name} carries no surface operation, so it stands nowhere.");
                self.object_at(Code::NoSurfaceOp, at, message);
            }
            Fact::Misplaced(name) => {
                let message = format!("{name} cannot stand on the surface, but carries an operation on it.");
                self.object_at(Code::MisplacedSurfaceOp, at, message);
            }
            Fact::Unknown(name) => {
                let message = format!(
                    "No known harness line has the event {name}, and it is not ignorable: \
                     the harness refuses to load this log."
                );
                self.object_at(Code::UnknownEvent, at, message);
            }
            Fact::Header(_) | Fact::Other => {}
        }
    }

    /// A request went out, if one was due; the surface is what its provider saw.
    fn ask(&mut self, at: Place) {
        if self.asked {
            return;
        }
        self.audit.requests.count += 1;
        if self.track.is_sound() {
            return;
        }
        self.audit.requests.refused += 1;
        let request = self.audit.requests.count;
        for traced in self.track.fresh() {
            let Fault { seq, kind } = traced.fault;
            let fault = match kind {
                FaultKind::Unanswered => "unanswered call",
                FaultKind::Orphan => "result without its call",
                FaultKind::Empty => "empty message",
            };
            let first = FirstFault { request, line: at.line, seq, fault, made_by: traced.made_by };
            self.audit.requests.first.get_or_insert(first);
            if self.known_faults.insert((seq, kind as u8)) {
                let by = traced.made_by;
                let ours = by.and_then(|by| self.by_seq.get(&by)).is_some_and(|at| {
                    self.audit.replacements.get(*at).is_some_and(|replacement| replacement.ours)
                });
                let who = by.map_or(String::new(), |by| format!(", made by the replacement at s{by}"));
                let message = format!("Request {request} would be refused: {fault} at s{seq}{who}.");
                self.findings.push(Finding {
                    code: Code::WireFault,
                    line: Some(at.line),
                    seq: Some(seq),
                    by,
                    ours,
                    message,
                });
            }
        }
    }

    fn node(&mut self, at: Place, node: Node) {
        if node.op == SurfaceOp::Append {
            self.price = None;
            self.folds.close(&mut self.findings);
            self.append(at, &node);
        } else {
            self.replace(at, &node);
        }
    }

    fn append(&mut self, at: Place, node: &Node) {
        if node.kind == Kind::Assistant {
            self.ask(at);
            self.asked = false;
        }
        let ids = self.track.keep(at.seq, node, at.seq);
        let mut answered = None;
        match node.kind {
            Kind::Assistant => self.assistant(at.seq, node, ids),
            Kind::Result => {
                answered = ids.first().and_then(|id| self.calls.result(at.seq, id));
                if let Some(call) = answered {
                    self.answer(at.seq, call, node);
                }
            }
            Kind::User => {
                if node.flags & PERSON != 0 {
                    self.words.insert(at.seq, node.text.clone());
                }
            }
        }
        if self.reader.apply(at.seq, SurfaceOp::Append).is_ok() {
            self.track.applied(&self.reader, at.seq, SurfaceOp::Append, &[]);
        }
        // A result whose call was taken away before it came is that replacement's doing.
        if let Some(by) = answered.and_then(|call| self.reader.taker_of(call.carrier)) {
            self.track.blame(Fault { seq: at.seq, kind: FaultKind::Orphan }, by);
        }
        self.grow(node);
        self.folds.appended(at, node, answered, &mut self.findings);
    }

    fn assistant(&mut self, seq: Seq, node: &Node, ids: Vec<u32>) {
        self.calls.carrier(seq, ids);
        for (index, call) in (0..).zip(&node.calls) {
            let of = CallRef { carrier: seq, index };
            if &*call.tool == "recall" {
                self.recalls.insert(of);
            }
            if let Some((target, label)) = &call.reads {
                self.regret.reads(of, *target);
                self.labels.insert(of, label.clone());
            }
        }
    }

    fn answer(&mut self, seq: Seq, call: CallRef, node: &Node) {
        if self.recalls.contains(&call) {
            self.regret.recalled(&self.reader, &node.heads);
        }
        let Some(by) = self.regret.result(seq, call) else { return };
        let what = self.labels.get(&call).map(|label| label.to_string()).unwrap_or_default();
        if let Some(replacement) = self.by_seq.get(&by).and_then(|at| self.audit.replacements.get_mut(*at)) {
            replacement.read_again.push(ReadAgain { seq, what });
        }
    }

    pub(super) fn grow(&mut self, node: &Node) {
        let Size { nodes, chars, tokens } = &mut self.audit.surface;
        *nodes += 1;
        *chars += u64::from(node.chars);
        *tokens += u64::from(node.tokens);
    }

    /// Ends the log.
    pub(super) fn finish(mut self) -> LogAudit {
        self.folds.close(&mut self.findings);
        if !self.has_header {
            let empty = self.audit.lines == 0;
            let message =
                if empty { "The file is empty." } else { "The file does not begin with a session header." };
            let line = (!empty).then_some(1);
            let finding = Finding {
                code: Code::NoHeader,
                line,
                seq: None,
                by: None,
                ours: false,
                message: message.to_owned(),
            };
            self.findings.kept.insert(0, finding);
        }
        if let Some(line) = self.compacting {
            let message = "A compaction began here and neither ended nor was ended by a resume.".into();
            self.object(Code::UnfinishedCompaction, Some(line), message);
        }
        let mut audit = self.audit;
        (audit.marks, audit.folds) = self.folds.finish(&self.regret);
        audit.findings = self.findings.kept;
        audit.more_findings = self.findings.more;
        audit
    }
}
