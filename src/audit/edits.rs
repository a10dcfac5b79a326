//! Replacements as a log applies them: what each takes, and what is wrong with it.

use super::findings::{Code, Finding};
use super::maker::Maker;
use super::node::Node;
use super::order::Place;
use super::promises;
use super::report::{ReplacementAudit, ShadowedPerson};
use super::row::Price;
use super::session::Session;
use crate::event::{Seq, SurfaceOp};
use crate::sorted::inserted;
use crate::surface::Kind;
use std::collections::BTreeSet;

impl Session {
    /// Applies a replacement, and sees whether the harness would and whether it keeps what it should.
    pub(super) fn replace(&mut self, at: Place, node: &Node) {
        let price = self.price.take();
        let maker = node.maker.clone().unwrap_or(Maker::Nameless);
        let taken = match self.reader.apply(at.seq, node.op) {
            Ok(taken) => taken.to_vec(),
            Err(misfit) => {
                self.track.keep(at.seq, node, at.seq);
                return self.object_at(
                    Code::BadReplacement,
                    at,
                    format!("The replacement does not fit: {misfit}."),
                );
            }
        };
        let origin = taken.iter().filter_map(|seq| self.track.info(*seq)).map(|info| info.origin).min();
        self.check_replacement(at, node, &taken, price, maker.is_ours());
        if let Some(promise) = &node.promise {
            promises::check(promise, at, &taken, &self.turns, &self.track, &mut self.findings);
        }
        self.track.keep(at.seq, node, origin.unwrap_or(at.seq));
        self.track.applied(&self.reader, at.seq, node.op, &taken);
        self.regret.replaced(at.seq, &taken);

        let before = self.audit.surface;
        for seq in &taken {
            if let Some(info) = self.track.info(*seq) {
                self.audit.surface.nodes -= 1;
                self.audit.surface.chars -= u64::from(info.chars);
                self.audit.surface.tokens -= u64::from(info.tokens);
            }
        }
        self.grow(node);
        if let (Maker::Report(mark), Some(facts)) = (&maker, &node.facts) {
            self.stated = Some((mark.clone(), facts.quotes.clone()));
        }
        let persons: Vec<Seq> = taken.iter().copied().filter(|seq| self.words.contains_key(seq)).collect();
        for person in persons {
            self.shadow(at, person, node, &maker);
        }
        self.by_seq.insert(at.seq, self.audit.replacements.len());
        self.folds.landed(
            at,
            node,
            &maker,
            &taken,
            &self.reader,
            &self.calls,
            &self.track,
            &mut self.findings,
        );
        self.audit.replacements.push(ReplacementAudit {
            seq: at.seq,
            line: at.line,
            by: maker.group().to_owned(),
            ours: maker.is_ours(),
            start: taken.first().copied().unwrap_or(at.seq),
            end: taken.last().copied().unwrap_or(at.seq),
            nodes: taken.len() as u64,
            before,
            after: self.audit.surface,
            read_again: Vec::new(),
        });
    }

    fn check_replacement(&mut self, at: Place, node: &Node, taken: &[Seq], price: Option<Price>, ours: bool) {
        let cited: BTreeSet<Seq> = inserted(node.sources.iter().copied());
        if let Some(missing) = taken.iter().find(|seq| !cited.contains(seq)) {
            let message = format!(
                "The replacement shadows s{missing} without citing it: the harness refuses to load this log."
            );
            self.object_at(Code::Uncited, at, message);
        }
        if node.kind == Kind::Result {
            let rest = node.answers.as_ref().map(|(_, rest)| *rest);
            let same = |seq: &Seq| {
                self.track.info(*seq).is_some_and(|info| info.kind == Kind::Result && Some(info.rest) == rest)
            };
            if taken.len() != 1 || !taken.iter().all(same) {
                let message =
                    "A rewritten result may stand for one result only and change nothing but its content.";
                self.object_at(Code::RewriteChangesMore, at, message.into());
            }
        }
        let tokens = || {
            taken
                .iter()
                .filter_map(|seq| self.track.info(*seq))
                .map(|info| u64::from(info.tokens))
                .sum::<u64>()
        };
        if let Some(stated) = price.as_ref().and_then(|price| price.tokens)
            && ours
            && u64::from(stated) != tokens()
        {
            let is = tokens();
            let message =
                format!("The price before it says {stated} tokens; the nodes that it takes have {is}.");
            self.findings.broken(at, message);
        }
        if let (Some(price), SurfaceOp::Replace { start, end }) = (price, node.op)
            && (price.start != start || price.end != end || (!price.seqs.is_empty() && price.seqs != taken))
        {
            let message = format!(
                "The price before it names s{} to s{}, the replacement takes s{start} to s{end}.",
                price.start, price.end
            );
            self.object_at(Code::PriceMismatch, at, message);
        }
    }

    fn shadow(&mut self, at: Place, person: Seq, node: &Node, maker: &Maker) {
        let words = self.words.remove(&person).flatten();
        let carried = match (words, &node.text) {
            (Some(words), Some(text)) => {
                let quoted =
                    || words.split('\n').map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n");
                // A quote has more than the words where an image stood between them.
                let quotes = |quotes: &[Box<str>]| {
                    quotes.iter().any(|quote| words.split('\n').all(|line| quote.contains(line)))
                };
                let stated = node.facts.as_ref().is_some_and(|facts| quotes(&facts.quotes));
                // What an earlier segment held is quoted in the report of its fold (docs/rewind.md 1.6).
                let reported = matches!((maker, &self.stated), (Maker::Pointer(mark), Some((of, all)))
                    if mark == of && quotes(all));
                Some(stated || reported || text.contains(&*words) || text.contains(&quoted()))
            }
            _ => None,
        };
        if carried == Some(false) && maker.is_ours() {
            let message = format!(
                "The {} takes the person's message s{person} and does not carry its words.",
                maker.group()
            );
            self.findings.push(Finding {
                code: Code::WordsLost,
                line: Some(at.line),
                seq: Some(person),
                by: Some(at.seq),
                ours: true,
                message,
            });
        }
        self.audit.shadowed_persons.push(ShadowedPerson { seq: person, by: at.seq, carried });
    }
}
