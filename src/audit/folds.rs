//! Marks and folds of this package, and whether each fold is what it says.

use super::findings::{Code, Finding, Findings};
use super::maker::Maker;
use super::node::{Facts, Mark, Node};
use super::report::{FoldAudit, MarkAudit};
use super::session::Place;
use super::track::Track;
use crate::event::Seq;
use crate::replacements::{CallRef, Calls, Regret, Replacements};
use std::collections::HashSet;

/// A mark, and the message whose call took it.
#[derive(Debug)]
struct Taken {
    mark: Mark,
    seq: Seq,
    carrier: Option<Seq>,
    report: Option<Seq>,
    discarded: bool,
}

/// A fold, and all that landed with it.
#[derive(Debug)]
struct Landed {
    mark: Box<str>,
    report: Seq,
    line: u64,
    in_place: bool,
    pieces: Vec<Seq>,
    taken: Vec<Seq>,
    chars: u64,
    tokens: u64,
    landed_chars: u64,
    landed_tokens: u64,
    facts: Option<Box<Facts>>,
}

/// The marks and folds of one log.
#[derive(Debug, Default)]
pub(super) struct Folds {
    marks: Vec<Taken>,
    landed: Vec<Landed>,
    /// The last fold's block is still being written.
    open: bool,
    discards: HashSet<Box<str>>,
    /// Length of what a subagent's log inherited: marks before are not its own.
    seed: Seq,
}

impl Folds {
    pub(super) fn seed_length(&mut self, length: Option<Seq>) {
        self.seed = length.unwrap_or(0);
    }

    pub(super) fn discard_run(&mut self, command: Box<str>) {
        self.discards.insert(command);
    }

    pub(super) fn command_done(&mut self, command: &str, cites: Seq) {
        if self.discards.remove(command)
            && let Some(taken) =
                self.marks.iter_mut().find(|taken| taken.seq == cites && taken.report.is_none())
        {
            taken.discarded = true;
        }
    }

    /// A result was appended: it may state a mark, or what a fold came to.
    pub(super) fn appended(
        &mut self,
        at: Place,
        node: &Node,
        answers: Option<CallRef>,
        findings: &mut Findings,
    ) {
        if let Some(mark) = &node.mark {
            let carrier = answers.map(|call| call.carrier);
            self.marks.push(Taken {
                mark: mark.clone(),
                seq: at.seq,
                carrier,
                report: None,
                discarded: false,
            });
        }
        // A report in a result has no source; the result of `rewind` says what it came to.
        if let Some(facts) = &node.facts
            && let Some(landed) = self.landed.iter_mut().rev().find(|landed| {
                landed.in_place && landed.facts.is_none() && facts.mark_id.as_deref() == Some(&*landed.mark)
            })
        {
            landed.facts = Some(facts.clone());
            landed.check(findings);
        }
    }

    /// A replacement landed.
    #[expect(clippy::too_many_arguments, reason = "one log's state, which its caller owns in parts")]
    pub(super) fn landed(
        &mut self,
        at: Place,
        node: &Node,
        maker: &Maker,
        taken: &[Seq],
        reader: &Replacements,
        calls: &Calls<u32>,
        track: &Track,
        findings: &mut Findings,
    ) {
        let (mark, begins, in_place) = match maker {
            Maker::Report(mark) => (mark, true, false),
            Maker::ReportInPlace(mark) if self.beside_mark(mark, taken, reader, calls) => (mark, true, true),
            Maker::Pointer(mark) | Maker::Sibling(mark) => (mark, false, false),
            _ => return self.close(findings),
        };
        if begins {
            self.close(findings);
            self.open = true;
            self.landed.push(Landed {
                mark: mark.clone(),
                report: at.seq,
                line: at.line,
                in_place,
                pieces: Vec::new(),
                taken: Vec::new(),
                chars: 0,
                tokens: 0,
                landed_chars: 0,
                landed_tokens: 0,
                facts: node.facts.clone(),
            });
            let taken = self
                .marks
                .iter_mut()
                .rev()
                .find(|taken| taken.mark.id == *mark && taken.mark.log_length <= at.seq);
            if let Some(taken) = taken {
                taken.report.get_or_insert(at.seq);
            }
        }
        self.check_age(at, mark, taken, track, findings);
        let Some(landed) = self.landed.last_mut().filter(|landed| self.open && landed.mark == *mark) else {
            return;
        };
        landed.pieces.push(at.seq);
        landed.taken.extend(taken);
        for info in taken.iter().filter_map(|seq| track.info(*seq)) {
            landed.chars += u64::from(info.chars);
            landed.tokens += u64::from(info.tokens);
        }
        landed.landed_chars += u64::from(node.chars);
        landed.landed_tokens += u64::from(node.tokens);
    }

    /// Whether a rewritten result answers a call beside the mark's (docs/rewind.md 1.3).
    fn beside_mark(&self, mark: &str, taken: &[Seq], reader: &Replacements, calls: &Calls<u32>) -> bool {
        let original = taken.first().and_then(|seq| reader.originals(*seq).first().copied());
        let carrier = original.and_then(|seq| calls.answered_by(seq)).map(|call| call.carrier);
        carrier.is_some()
            && self.marks.iter().any(|taken| &*taken.mark.id == mark && taken.carrier == carrier)
    }

    /// All that a fold takes is younger than its mark, and the mark's own result stays (docs/rewind.md 1.1,
    /// 1.2).
    fn check_age(&self, at: Place, mark: &str, taken: &[Seq], track: &Track, findings: &mut Findings) {
        let Some(own) =
            self.marks.iter().rev().find(|own| &*own.mark.id == mark && own.mark.log_length <= at.seq)
        else {
            return;
        };
        let old = taken.iter().find(|seq| {
            **seq == own.seq || track.info(**seq).is_some_and(|info| info.origin < own.mark.log_length)
        });
        if let Some(old) = old {
            let message = if *old == own.seq {
                format!("The fold of mark {mark} takes s{old}, the result that states the mark.")
            } else {
                format!("The fold of mark {mark} takes s{old}, which is older than the mark.")
            };
            let (line, seq, by) = (Some(at.line), Some(*old), Some(at.seq));
            findings.push(Finding { code: Code::OlderThanMark, line, seq, by, ours: true, message });
        }
    }

    /// The block in which a fold lands is over.
    pub(super) fn close(&mut self, findings: &mut Findings) {
        if std::mem::take(&mut self.open)
            && let Some(landed) = self.landed.last()
            && !landed.in_place
        {
            landed.check(findings);
        }
    }

    pub(super) fn finish(self, regret: &Regret) -> (Vec<MarkAudit>, Vec<FoldAudit>) {
        let own = self.marks.into_iter().filter(|taken| taken.mark.log_length >= self.seed);
        let marks = own.map(|Taken { mark, seq, report, discarded, .. }| MarkAudit {
            id: mark.id.into(),
            seq,
            log_length: mark.log_length,
            objective: mark.objective.filter(|objective| !objective.is_empty()).map(Into::into),
            report,
            discarded,
        });
        let folds = self.landed.into_iter().map(|landed| {
            let usage = landed.facts.as_ref().and_then(|facts| facts.usage);
            FoldAudit {
                mark: landed.mark.into(),
                report: landed.report,
                nodes: landed.taken.len() as u64,
                chars: landed.chars,
                tokens: landed.tokens,
                landed_chars: landed.landed_chars,
                landed_tokens: landed.landed_tokens,
                input_tokens: usage.map(|usage| usage.input_tokens),
                cached_tokens: usage.map(|usage| usage.cache_read_tokens),
                output_tokens: usage.map(|usage| usage.output_tokens),
                read_again: landed.pieces.iter().map(|seq| u64::from(regret.of(*seq))).sum(),
            }
        });
        (marks.collect(), folds.collect())
    }
}

impl Landed {
    /// Compares what the fold says of itself with what it did.
    fn check(&self, findings: &mut Findings) {
        let Some(facts) = &self.facts else { return };
        let mut object = |code: Code, message: String| {
            let (line, seq) = (Some(self.line), Some(self.report));
            findings.push(Finding { code, line, seq, by: Some(self.report), ours: true, message });
        };
        let mark = &self.mark;
        let nodes = self.taken.len() as u64;
        if let Some(stated) = facts.folded_nodes.map(u64::from) {
            if nodes < stated {
                let message =
                    format!("The fold of mark {mark} landed in part: {nodes} of {stated} nodes are folded.");
                return object(Code::UnfinishedFold, message);
            }
            if nodes > stated {
                object(
                    Code::BrokenPromise,
                    format!("The fold of mark {mark} says {stated} nodes and took {nodes}."),
                );
            }
        }
        for (name, stated, is) in
            [("folded", facts.folded_chars, self.chars), ("landed", facts.report_chars, self.landed_chars)]
        {
            if stated.is_some_and(|stated| u64::from(stated) != is) {
                let stated = stated.unwrap_or_default();
                let message =
                    format!("The fold of mark {mark} says {stated} {name} characters; there are {is}.");
                object(Code::BrokenPromise, message);
            }
        }
        for (name, stated) in [("start", facts.start), ("end", facts.end)] {
            if let Some(stated) = stated.filter(|stated| !self.taken.contains(stated)) {
                let message = format!(
                    "The fold of mark {mark} says that it {name}s at s{stated}, which it did not take."
                );
                object(Code::BrokenPromise, message);
            }
        }
    }
}
