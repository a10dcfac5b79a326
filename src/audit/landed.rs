//! A fold that landed, held to what it says of itself.

use super::findings::{Code, Finding, Findings};
use super::node::Facts;
use crate::event::Seq;

/// A fold, and all that landed with it.
#[derive(Debug)]
pub(super) struct Landed {
    pub(super) mark: Box<str>,
    pub(super) report: Seq,
    pub(super) line: u64,
    pub(super) in_place: bool,
    pub(super) pieces: Vec<Seq>,
    pub(super) taken: Vec<Seq>,
    /// The first node it took in surface order, behind its place, and the last.
    pub(super) first: Option<(Seq, Seq)>,
    pub(super) last: Option<(Seq, Seq)>,
    /// The oldest original among what it took.
    pub(super) oldest: Option<Seq>,
    pub(super) chars: u64,
    pub(super) tokens: u64,
    pub(super) landed_chars: u64,
    pub(super) landed_tokens: u64,
    pub(super) facts: Option<Box<Facts>>,
}

impl Landed {
    /// Compares what the fold says of itself with what it did.
    pub(super) fn check(&self, findings: &mut Findings) {
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
        for (name, stated, is) in [
            ("folded characters", facts.folded_chars, self.chars),
            ("landed characters", facts.report_chars, self.landed_chars),
            ("folded tokens", facts.folded_tokens, self.tokens),
            ("landed tokens", facts.report_tokens, self.landed_tokens),
        ] {
            if stated.is_some_and(|stated| u64::from(stated) != is) {
                let stated = stated.unwrap_or_default();
                let message = format!("The fold of mark {mark} says {stated} {name}; there are {is}.");
                object(Code::BrokenPromise, message);
            }
        }
        for (name, stated, is) in [("start", facts.start, self.first), ("end", facts.end, self.last)] {
            if let (Some(stated), Some((_, is))) = (stated, is)
                && stated != is
            {
                let message = format!(
                    "The fold of mark {mark} says that it {name}s at s{stated}; it {name}s at s{is}."
                );
                object(Code::BrokenPromise, message);
            }
        }
        if let (Some((least, most)), Some(oldest)) = (facts.ledger, self.oldest)
            && (least < oldest || most >= self.report)
        {
            let wrong = if least < oldest { least } else { most };
            let message = format!("The ledger of mark {mark} names s{wrong}, which the fold did not take.");
            object(Code::BrokenPromise, message);
        }
    }
}
