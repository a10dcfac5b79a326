//! Reports at the border: the region's text in, once, and the text that lands out.

use std::collections::BTreeMap;

use napi::Error;
use napi::bindgen_prelude::{Uint8Array, Uint32Array};
use napi_derive::napi;

use super::fold::{FoldPlan, refused};
use crate::error::Refusal;
use crate::report::compose::{Composed, Draft, Piece};
use crate::report::evidence::{Examination, Findings};
use crate::report::frame::Frame;
use crate::report::gather::Gathered;
use crate::report::instruction::scant;
use crate::report::language::Language;
use crate::report::ledger_text::LedgerBudget;
use crate::report::tools::{Tool, Tools};

/// What a report is composed of, beside the texts of the session.
#[napi(object, object_to_js = false)]
pub struct ReportParts {
    /// The model's prose; absent for a report made by code alone.
    pub prose: Option<String>,
    /// The mark's objective.
    pub objective: Option<String>,
    /// Lengths of persons' quotes as they will stand, UTF-16 code units.
    pub quote_chars: Vec<u32>,
    /// The most UTF-16 code units of report that shrink by the token meter, where one is mounted.
    pub token_room: Option<u32>,
    /// Share of the region that the ledger may take, 0 to 1.
    pub ledger_share: f64,
    /// The most the ledger may take, UTF-16 code units.
    pub ledger_cap: u32,
}

/// What the evidence of a report is read by.
#[napi(object, object_to_js = false)]
pub struct EvidenceRules {
    /// The prose whose claims are looked up; absent where none are.
    pub prose: Option<String>,
    /// Seqs of the events that the model was sent as they are.
    pub sent: Uint32Array,
    /// The configured part of the tool table, as JSON.
    pub tools: String,
    /// Directories whose prefix a path may carry or lack.
    pub roots: Vec<String>,
}

/// The evidence of one report, read piece by piece: the one place where a session's text crosses the border.
#[napi]
pub struct ReportEvidence(Option<Examination>);

#[napi]
impl ReportEvidence {
    /// Begins to read.
    ///
    /// # Errors
    /// A plain error where the tool table is not what it should be.
    #[napi(constructor, catch_unwind)]
    pub fn new(rules: EvidenceRules) -> napi::Result<Self> {
        let tools: BTreeMap<String, Tool> = serde_json::from_str(&rules.tools)?;
        let EvidenceRules { prose, sent, roots, .. } = rules;
        Ok(Self(Some(Examination::new(Tools::new(tools), prose.as_deref(), sent.to_vec(), roots))))
    }

    /// Reads one piece in place: JSON in UTF-8 as [`Examination::read`] describes it.
    ///
    /// # Errors
    /// A plain error where the piece is no UTF-8 or not such an object, or the report is composed already.
    #[napi(catch_unwind)]
    pub fn read(&mut self, piece: Uint8Array) -> napi::Result<()> {
        let json =
            std::str::from_utf8(&piece).map_err(|error| napi::Error::from_reason(error.to_string()))?;
        self.0.as_mut().ok_or_else(used)?.read(json)?;
        Ok(())
    }
}

fn used() -> napi::Error {
    napi::Error::from_reason("the evidence of a report is read once")
}

/// A composed report.
#[napi(object, object_from_js = false)]
pub struct ComposedReport {
    /// The parts in order; exactly one of the two fields of each is set.
    pub pieces: Vec<ReportPiece>,
    /// All landed text (report, pointers, rewritten siblings), UTF-16 code units.
    pub report_chars: u32,
    /// Claims of the prose that are nowhere in what the model was sent.
    pub unverified: Vec<String>,
    /// The ledger as data, for the report's source.
    pub ledger: serde_json::Value,
}

/// One part of a composed report.
#[napi(object, object_from_js = false)]
pub struct ReportPiece {
    /// Text written by the core.
    pub text: Option<String>,
    /// Index of a quote that stays in JavaScript.
    pub quote: Option<u32>,
}

/// What a report has room for.
#[napi(object, object_from_js = false)]
pub struct ProseRoom {
    /// The most the model may write, UTF-16 code units.
    pub chars: u32,
    /// Whether hardly any report is that short.
    pub scant: bool,
}

/// The language of persons' own messages: `en` or `zh`.
#[napi(catch_unwind)]
pub fn report_language(messages: Vec<String>) -> String {
    match Language::of_messages(messages.iter().map(String::as_str)) {
        Language::En => "en".to_owned(),
        Language::Zh => "zh".to_owned(),
    }
}

#[napi]
impl FoldPlan {
    /// Refuses a region too small to beat the shortest possible report, or to save what is configured at
    /// least (docs/rewind.md 3.2). `quote_chars` are the lengths of the rendered quotes, `empty_tokens` what all
    /// landed messages cost around an empty report; `receipt` says that code alone makes the report.
    ///
    /// # Errors
    /// `SHRINK` with the numbers.
    #[napi(catch_unwind)]
    pub fn weigh_region(
        &self,
        quote_chars: Vec<u32>,
        folded_tokens: Option<u32>,
        empty_tokens: Option<u32>,
        min_savings: u32,
        receipt: bool,
    ) -> std::result::Result<(), Error<String>> {
        let text = self.least(&quote_chars, receipt);
        let least = to_u32(text.saturating_add(self.pointer_chars()));
        let report_tokens = empty_tokens.map(|tokens| tokens.saturating_add(to_u32(text.div_ceil(4))));
        self.weigh_landing(least, folded_tokens, report_tokens)?;
        let folded_chars = self.plan.folded_chars;
        // Four code units a token is the harness's own estimate.
        let folded_tokens = folded_tokens.unwrap_or(folded_chars / 4);
        if min_savings > 0 && folded_tokens.saturating_sub(least / 4) < min_savings {
            return Err(refused(&Refusal::Savings { folded_tokens, min_savings }));
        }
        Ok(())
    }

    /// How many UTF-16 code units of the model's own words still shrink, with the numbers that
    /// [`FoldPlan::weigh_region`] goes by: what a person is told before a fold is asked for.
    #[napi(catch_unwind)]
    pub fn prose_room(
        &self,
        quote_chars: Vec<u32>,
        folded_tokens: Option<u32>,
        empty_tokens: Option<u32>,
    ) -> Option<ProseRoom> {
        let beside = self.least(&quote_chars, false).saturating_sub(1);
        let by_chars = match self.plan.folded_chars {
            0 => None,
            chars => Some(to_usize(chars - 1).saturating_sub(self.pointer_chars())),
        };
        let by_tokens = folded_tokens.zip(empty_tokens).map(|(folded, empty)| {
            to_usize(folded.saturating_sub(empty).saturating_sub(1)).saturating_mul(4)
        });
        let room = by_chars.into_iter().chain(by_tokens).min()?.saturating_sub(beside);
        Some(ProseRoom { chars: to_u32(room), scant: room < scant(self.language) })
    }

    /// Length of the shortest report that could land, UTF-16 code units.
    fn least(&self, quote_chars: &[u32], receipt: bool) -> usize {
        let frame = self.frame(0, receipt);
        let prose = (!receipt).then_some("");
        self.draft(&frame, &Gathered::default(), prose, quote_chars).least()
    }

    /// Composes the report that lands, from evidence that was read to its end.
    ///
    /// # Errors
    /// A plain error where the evidence was used for a report before.
    #[napi(catch_unwind)]
    pub fn compose(&self, parts: ReportParts, evidence: &mut ReportEvidence) -> napi::Result<ComposedReport> {
        let Findings { gathered, unverified } = evidence.0.take().ok_or_else(used)?.finish();
        let frame = self.frame(gathered.steps, parts.prose.is_none());
        let text_room = match self.plan.folded_chars {
            0 => usize::MAX,
            chars => to_usize(chars - 1).saturating_sub(self.pointer_chars()),
        };
        let draft = Draft {
            objective: parts.objective.as_deref().unwrap_or_default(),
            unverified: &unverified,
            budget: LedgerBudget { share: parts.ledger_share, cap: to_usize(parts.ledger_cap) },
            room: parts.token_room.map_or(text_room, |room| text_room.min(to_usize(room))),
            ..self.draft(&frame, &gathered, parts.prose.as_deref(), &parts.quote_chars)
        };
        let Composed { pieces, chars } = draft.compose();
        Ok(ComposedReport {
            pieces: pieces.into_iter().map(ReportPiece::from).collect(),
            report_chars: to_u32(chars.saturating_add(self.pointer_chars())),
            unverified: unverified.into_iter().map(|claim| claim.text).collect(),
            ledger: serde_json::to_value(&gathered.ledger)?,
        })
    }

    fn frame(&self, steps: u32, receipt: bool) -> Frame {
        let steps = if steps == 0 { self.plan.folded_nodes } else { steps };
        Frame { mark: self.mark.clone(), steps, start: self.plan.start, end: self.plan.end, receipt }
    }

    fn draft<'d>(
        &self,
        frame: &'d Frame,
        gathered: &'d Gathered,
        prose: Option<&'d str>,
        quotes: &'d [u32],
    ) -> Draft<'d> {
        Draft {
            frame,
            in_place: self.plan.runs.is_empty(),
            language: self.language,
            prose,
            objective: "",
            last_words: &gathered.last_words,
            ledger: &gathered.ledger,
            unverified: &[],
            quotes,
            region: to_usize(self.plan.folded_chars),
            budget: LedgerBudget { share: 0.0, cap: 0 },
            room: 0,
        }
    }
}

impl From<Piece> for ReportPiece {
    fn from(piece: Piece) -> Self {
        match piece {
            Piece::Text(text) => Self { text: Some(text), quote: None },
            Piece::Quote(index) => Self { text: None, quote: Some(index) },
        }
    }
}

fn to_u32(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn to_usize(length: u32) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}
