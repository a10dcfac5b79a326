//! Marks and folds of this package, and whether each fold is what it says.

use super::dispatch::Dispatch;
use super::findings::{Code, Finding, Findings};
use super::landed::Landed;
use super::maker::Maker;
use super::node::{Mark, Node};
use super::order::Place;
use super::report::{FoldAudit, MarkAudit};
use super::track::Track;
use crate::event::Seq;
use crate::replacements::{CallRef, Calls, Regret, Replacements};
use crate::surface::Kind;
use std::collections::{HashMap, HashSet};

/// A mark, and the message whose call took it.
#[derive(Debug)]
struct Taken {
    mark: Mark,
    /// The event that states it.
    seq: Seq,
    /// The result that must stay: its own, or that of the program that took it.
    result: Option<Seq>,
    carrier: Option<Seq>,
    report: Option<Seq>,
    discarded: bool,
}

/// The marks and folds of one log.
#[derive(Debug, Default)]
pub(super) struct Folds {
    marks: Vec<Taken>,
    /// The last mark of an id.
    by_id: HashMap<Box<str>, u32>,
    /// Marks before this one are folded or discarded.
    dropped: usize,
    /// The last assistant message that was appended.
    carrier: Option<Seq>,
    /// When calls inside programs began.
    began: HashMap<Box<str>, u32>,
    /// Marks taken in programs whose own result is still to come, by the program's call.
    rooted: Vec<(Box<str>, usize)>,
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
        let known = self.discards.remove(command);
        let found = self.marks.binary_search_by_key(&cites, |taken| taken.seq);
        let (true, Ok(at)) = (known, found) else { return };
        if self.marks.get(at).is_some_and(|taken| taken.report.is_some()) {
            return;
        }
        // With it go the unfolded ones before it: none of them may become the active one again.
        for taken in self.marks.iter_mut().take(at + 1).skip(self.dropped) {
            taken.discarded = taken.report.is_none();
        }
        self.dropped = self.dropped.max(at + 1);
    }

    /// A call inside a program began.
    pub(super) fn dispatched(&mut self, seq: Seq, call: Box<str>) {
        self.began.insert(call, seq);
    }

    /// A call inside a program took a mark, which is the program's.
    pub(super) fn dispatch_ended(&mut self, seq: Seq, ended: Dispatch) {
        let Some(began) = self.began.remove(&ended.id) else { return };
        self.rooted.push((ended.root.clone(), self.marks.len()));
        let mark = ended.mark(began);
        self.mark(Taken { mark, seq, result: None, carrier: self.carrier, report: None, discarded: false });
    }

    fn mark(&mut self, taken: Taken) {
        self.by_id.insert(taken.mark.id.clone(), u32::try_from(self.marks.len()).unwrap_or(u32::MAX));
        self.marks.push(taken);
    }

    /// The last mark of an id.
    fn of_id(&mut self, id: &str) -> Option<&mut Taken> {
        let at = *self.by_id.get(id)?;
        self.marks.get_mut(at as usize)
    }

    /// A result was appended: it may state a mark, or what a fold came to.
    pub(super) fn appended(
        &mut self,
        at: Place,
        node: &Node,
        answers: Option<CallRef>,
        findings: &mut Findings,
    ) {
        if node.kind == Kind::Assistant {
            self.carrier = Some(at.seq);
            // Programs end before the next answer.
            self.began.clear();
            self.rooted.clear();
        }
        if let (Some(_), Some((call, _))) = (answers, &node.answers) {
            for (_, mark) in self.rooted.iter().filter(|(root, _)| root == call) {
                if let Some(taken) = self.marks.get_mut(*mark) {
                    taken.result.get_or_insert(at.seq);
                }
            }
        }
        if let Some(mark) = &node.mark {
            let carrier = answers.map(|call| call.carrier);
            let result = Some(at.seq);
            let mark = mark.clone();
            self.mark(Taken { mark, seq: at.seq, result, carrier, report: None, discarded: false });
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
            Maker::Pointer(mark) => (mark, false, false),
            // What only looks like a sibling stands beside neither the mark nor a report of it.
            Maker::Sibling(mark) if self.lands(mark) || self.beside_mark(mark, taken, reader, calls) => {
                (mark, false, false)
            }
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
                first: None,
                last: None,
                oldest: None,
                chars: 0,
                tokens: 0,
                landed_chars: 0,
                landed_tokens: 0,
                facts: node.facts.clone(),
            });
            if let Some(taken) = self.of_id(mark) {
                taken.report.get_or_insert(at.seq);
            }
        }
        self.check_age(at, mark, taken, track, findings);
        let lands = self.lands(mark);
        let Some(landed) = self.landed.last_mut().filter(|_| lands) else {
            let message = format!("It points to a report of mark {mark} that did not land with it.");
            return findings.broken(at, message);
        };
        landed.pieces.push(at.seq);
        let place = reader.place(at.seq).unwrap_or(at.seq);
        let ends = (taken.first().map(|seq| (place, *seq)), taken.last().map(|seq| (place, *seq)));
        landed.first = [landed.first, ends.0].into_iter().flatten().min();
        landed.last = landed.last.max(ends.1);
        let oldest = taken.iter().filter_map(|seq| track.info(*seq)).map(|info| info.origin);
        landed.oldest = oldest.chain(landed.oldest).min();
        landed.taken.extend(taken);
        for info in taken.iter().filter_map(|seq| track.info(*seq)) {
            landed.chars += u64::from(info.chars);
            landed.tokens += u64::from(info.tokens);
        }
        landed.landed_chars += u64::from(node.chars);
        landed.landed_tokens += u64::from(node.tokens);
    }

    /// Whether the fold of this mark is being written.
    fn lands(&self, mark: &str) -> bool {
        self.open && self.landed.last().is_some_and(|landed| &*landed.mark == mark)
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
        let Some(own) = self.by_id.get(mark).and_then(|own| self.marks.get(*own as usize)) else { return };
        let old = taken.iter().find(|seq| {
            Some(**seq) == own.result
                || track.info(**seq).is_some_and(|info| info.origin < own.mark.log_length)
        });
        if let Some(old) = old {
            let message = if Some(*old) == own.result {
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
