//! Judged pruning at the border: configurations compiled once, one view a pass, plans out.
//!
//! Text crosses once, when a [`PruneView`] is made of it; a view is dropped with its pass.

mod shapes;

use napi::Error;
use napi_derive::napi;
use std::collections::HashMap;
use std::sync::Arc;

use crate::prune::answers::{clamp_probability, parse_answers};
use crate::prune::eligible::Judged;
use crate::prune::evidence::DEFAULT_PATTERNS;
use crate::prune::limit::{parse_limit, pressure};
use crate::prune::marks::{HEADER_EN, HEADER_ZH};
use crate::prune::questions::{Axis, Budget, Question, batch_questions};
use crate::prune::ranges::{Limits, Price, Receipt, admit};
use crate::prune::settings::Settings;
use crate::prune::slice::Cut;
use crate::prune::state::Lines;
use crate::prune::tools::{READ_ONLY, WRITE};
use crate::prune::trims::{Fate, yield_order};
use crate::prune::view::View;
use crate::sorted::by_seq;
use shapes::{
    PruneAnswers, PruneBatch, PruneBatches, PruneCandidate, PruneCut, PruneDefaults, PruneEdit, PruneKept,
    PrunePressure, PruneQuestion, PruneRuling, PruneTool, PruneTrims, PruneVerdicts,
};

fn bad_input(error: impl std::fmt::Display) -> Error<String> {
    Error::new("BAD_INPUT".to_owned(), error.to_string())
}

/// The default lists, word for word (docs/prune.md 3.3).
#[napi(catch_unwind)]
pub fn prune_defaults() -> PruneDefaults {
    let owned = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
    PruneDefaults {
        read_only: owned(&READ_ONLY),
        write: owned(&WRITE),
        evidence: owned(&DEFAULT_PATTERNS),
        headers: owned(&[HEADER_EN, HEADER_ZH]),
    }
}

/// Holds a limit against used tokens of a window.
///
/// # Errors
/// `BAD_INPUT` for a text that is no limit.
#[napi(catch_unwind)]
pub fn prune_pressure(
    limit: String,
    used: Option<f64>,
    window: Option<f64>,
) -> std::result::Result<PrunePressure, Error<String>> {
    let found = pressure(parse_limit(&limit).map_err(bad_input)?, used, window);
    Ok(PrunePressure {
        open: found.open,
        reason: found.verdict.code().to_owned(),
        threshold: found.threshold,
        ratio: found.ratio,
    })
}

/// Reads a model's answer to the questions of `ids`.
#[napi(catch_unwind)]
pub fn prune_parse_answers(text: String, ids: Vec<String>) -> PruneAnswers {
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let found = parse_answers(&text, &ids);
    PruneAnswers {
        values: (0..ids.len()).map(|place| found.answers.get(&place).copied()).collect(),
        violations: found.violations,
    }
}

/// Values of a judge that answers in numbers: clamped to 0 to 1, `null` for what is not finite.
#[napi(catch_unwind)]
pub fn prune_clamp(values: Vec<f64>) -> Vec<Option<f64>> {
    values.into_iter().map(clamp_probability).collect()
}

/// A compiled configuration.
#[napi]
pub struct PruneSettings {
    settings: Arc<Settings>,
}

#[napi]
impl PruneSettings {
    /// Compiles a resolved configuration, given as JSON.
    ///
    /// # Errors
    /// `BAD_INPUT`, naming the key.
    #[napi(constructor, catch_unwind)]
    pub fn new(config: String) -> std::result::Result<Self, Error<String>> {
        Ok(Self { settings: Arc::new(Settings::read(&config).map_err(bad_input)?) })
    }

    /// Reads a surface: its events in surface order, the earlier bodies of rewritten results, and the texts of
    /// all of these results, see [`View::read`].
    ///
    /// # Errors
    /// `CORRUPT_SURFACE` or `UNREADABLE`, naming the seq.
    #[napi(catch_unwind)]
    pub fn view(
        &self,
        surface: String,
        sources: String,
        texts: Vec<String>,
    ) -> std::result::Result<PruneView, Error<String>> {
        let view = View::read(&surface, &sources, texts)
            .map_err(|error| Error::new(error.code().to_owned(), error.to_string()))?;
        Ok(PruneView { settings: Arc::clone(&self.settings), view })
    }
}

/// One surface, read for one pass.
#[napi]
pub struct PruneView {
    settings: Arc<Settings>,
    view: View,
}

#[napi]
impl PruneView {
    /// Verdicts without a model.
    #[napi(catch_unwind)]
    pub fn rules(&self) -> PruneRuling {
        let verdicts = self.settings.rules(&self.view);
        PruneRuling {
            why: verdicts.iter().map(|one| one.why.code().to_owned()).collect(),
            verdicts: PruneVerdicts {
                seqs: verdicts.iter().map(|one| one.seq).collect::<Vec<_>>().into(),
                need: verdicts.iter().map(|one| one.need).collect::<Vec<_>>().into(),
                effect: verdicts.iter().map(|one| one.effect).collect::<Vec<_>>().into(),
            },
        }
    }

    /// The results worth a question, in surface order.
    #[napi(catch_unwind)]
    pub fn candidates(&self) -> Vec<PruneCandidate> {
        let candidates = self.settings.candidates(&self.view);
        candidates.into_iter().map(|one| PruneCandidate { seq: one.seq, both: one.both }).collect()
    }

    /// The tools whose results stand on the surface.
    #[napi(catch_unwind)]
    pub fn tools(&self) -> Vec<PruneTool> {
        let tools = self.settings.tools_of(&self.view);
        tools.into_iter().map(|one| PruneTool { name: one.name, may_compact: one.may_compact }).collect()
    }

    /// Questions about the given results, packed into requests.
    #[napi(catch_unwind)]
    pub fn batches(
        &self,
        goal: Vec<String>,
        needs: Vec<u32>,
        effects: Vec<u32>,
        request_tokens: u32,
        questions: u32,
    ) -> PruneBatches {
        let goal: Vec<&str> = goal.iter().map(String::as_str).collect();
        let shape = self.settings.shape();
        let lines = Lines::write(&self.view, &goal, &shape, self.settings.evidence());
        let mut asked: Vec<Question> = needs.iter().map(|seq| Question::new(*seq, Axis::Result)).collect();
        asked.extend(effects.iter().map(|seq| Question::new(*seq, Axis::Effect)));
        let asked = by_seq(asked, |question| question.seq);
        let budget = Budget { request_tokens: request_tokens as usize, questions: questions as usize };
        let found = batch_questions(&lines, &asked, &shape, budget);
        let batches = found
            .batches
            .into_iter()
            .map(|batch| PruneBatch {
                questions: batch.questions.iter().filter_map(|at| asked.get(*at)).map(question).collect(),
                state: batch.state,
                fitted: batch.fitted,
            })
            .collect();
        PruneBatches { batches, skipped: clamp(found.skipped) }
    }

    /// Plans layer 1 with the budget that `ratio` gives.
    #[napi(catch_unwind)]
    pub fn trims(&self, verdicts: PruneVerdicts, ratio: f64) -> PruneTrims {
        let needs = verdicts.seqs.iter().copied().zip(verdicts.need.iter().copied()).collect();
        let trims = self.settings.trims(&self.view, &needs, ratio);
        let (nodes, fates): (Vec<_>, Vec<_>) = trims.nodes.iter().copied().unzip();
        let count = |fate| clamp(fates.iter().filter(|one| **one == fate).count());
        PruneTrims {
            stock: trims.nodes.iter().filter(|one| one.1 == Fate::Stock).map(|one| one.0.seq).collect(),
            kept: yield_order(&nodes, &fates)
                .into_iter()
                .filter_map(|at| nodes.get(at))
                .map(|node| node.seq)
                .collect(),
            kept_by_verdict: count(Fate::KeepVerdict),
            kept_by_tail: count(Fate::KeepTail),
            kept_by_deny: count(Fate::KeepDenied),
            kept_by_budget: count(Fate::KeepBudget),
            kept_as_cut: count(Fate::KeepCut),
            cuts: trims.cuts.into_iter().map(|(seq, cut)| cut_of(seq, cut)).collect(),
        }
    }

    /// Plans layer 2.
    ///
    /// # Errors
    /// `BAD_INPUT` for a quantile or threshold that is no share.
    #[napi(catch_unwind)]
    pub fn receipts(&self, verdicts: PruneVerdicts) -> std::result::Result<PruneReceipts, Error<String>> {
        let axes = verdicts.need.iter().zip(verdicts.effect.iter());
        let judged: HashMap<u32, Judged> = verdicts
            .seqs
            .iter()
            .zip(axes)
            .map(|(seq, (need, effect))| (*seq, Judged { seq: *seq, need: *need, effect: *effect }))
            .collect();
        let found = self.settings.receipts(&self.view, &judged).map_err(bad_input)?;
        Ok(PruneReceipts {
            limits: self.settings.limits(),
            stays: found
                .plan
                .stays
                .iter()
                .map(|(why, count)| (why.code().to_owned(), clamp(*count)))
                .collect(),
            receipts: found.plan.receipts,
            population: clamp(found.population),
            eligible: clamp(found.eligible.len()),
        })
    }
}

/// A plan of layer 2, before its prices are known.
#[napi]
pub struct PruneReceipts {
    limits: Limits,
    receipts: Vec<Receipt>,
    stays: HashMap<String, u32>,
    population: u32,
    eligible: u32,
}

#[napi]
impl PruneReceipts {
    /// How many judged results could go at all.
    #[napi(getter, catch_unwind)]
    pub fn population(&self) -> u32 {
        self.population
    }

    /// How many of them their verdict lets go.
    #[napi(getter, catch_unwind)]
    pub fn eligible(&self) -> u32 {
        self.eligible
    }

    /// How many results stay for which reason.
    #[napi(getter, catch_unwind)]
    pub fn stays(&self) -> HashMap<String, u32> {
        self.stays.clone()
    }

    /// The edits, in surface order.
    #[napi(catch_unwind)]
    pub fn edits(&self) -> Vec<PruneEdit> {
        let mut edits = Vec::new();
        for receipt in &self.receipts {
            match receipt {
                Receipt::Full { seqs, text, .. } => {
                    edits.push(PruneEdit { full: true, seqs: seqs.clone(), text: text.clone() });
                }
                Receipt::Partial { bodies } => edits.extend(bodies.iter().map(|body| PruneEdit {
                    full: false,
                    seqs: vec![body.seq],
                    text: body.text.clone(),
                })),
            }
        }
        edits
    }

    /// Places of the edits that land, given the estimated tokens of what lands and of what it replaces.
    #[napi(catch_unwind)]
    pub fn admit(&self, landed: Vec<f64>, shadowed: Vec<f64>) -> Vec<u32> {
        let prices: Vec<Price> = landed
            .iter()
            .zip(&shadowed)
            .map(|(landed, shadowed)| Price { landed: *landed, shadowed: *shadowed })
            .collect();
        admit(&self.receipts, &prices, &self.limits).into_iter().map(clamp).collect()
    }
}

fn question(question: &Question) -> PruneQuestion {
    PruneQuestion {
        id: question.id.clone(),
        seq: question.seq,
        axis: match question.axis {
            Axis::Result => "result".to_owned(),
            Axis::Effect => "effect".to_owned(),
        },
        statement: question.statement.clone(),
    }
}

fn cut_of(seq: u32, cut: Cut) -> PruneCut {
    PruneCut {
        seq,
        blocks: cut
            .blocks
            .iter()
            .map(|kept| PruneKept {
                block: clamp(kept.block),
                head_end: clamp(kept.head_end),
                marker: kept.marker,
                tail_start: clamp(kept.tail_start),
            })
            .collect(),
        marker: cut.marker,
        chars_before: clamp(cut.chars_before),
        chars_after: clamp(cut.chars_after),
    }
}

/// Counts and lengths of one session's text, which JavaScript keeps under 2^32.
fn clamp(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
