//! The plain objects that cross for pruning.

use napi::bindgen_prelude::{Float64Array, Uint32Array};
use napi_derive::napi;

/// The lists that the configuration defaults to.
#[napi(object, object_from_js = false)]
pub struct PruneDefaults {
    /// Tools that only read.
    pub read_only: Vec<String>,
    /// Tools that write.
    pub write: Vec<String>,
    /// Words of trouble.
    pub evidence: Vec<String>,
    /// First words of a receipt, in every language.
    pub headers: Vec<String>,
}

/// What a limit says of one moment.
#[napi(object, object_from_js = false)]
pub struct PrunePressure {
    /// Whether the gate lets a pass through.
    pub open: bool,
    /// Why: `reached`, `below`, `window-unknown`, `meter-missing` or `unmeasured`.
    pub reason: String,
    /// The threshold in tokens, where it can be known.
    pub threshold: Option<f64>,
    /// The share of the window used above the threshold.
    pub ratio: f64,
}

/// A model's answer, read.
#[napi(object, object_from_js = false)]
pub struct PruneAnswers {
    /// One value an id, `null` where there is no valid one.
    pub values: Vec<Option<f64>>,
    /// One sentence for every answer given and refused.
    pub violations: Vec<String>,
}

/// Verdicts by seq.
#[napi(object)]
pub struct PruneVerdicts {
    /// The results.
    pub seqs: Uint32Array,
    /// Need of each; NaN where nobody judged it.
    pub need: Float64Array,
    /// Effect of each; NaN where nobody judged it.
    pub effect: Float64Array,
}

/// Verdicts of the rules, with the rule behind each.
#[napi(object, object_from_js = false)]
pub struct PruneRuling {
    /// The verdicts.
    pub verdicts: PruneVerdicts,
    /// Name of the rule that decided each need.
    pub why: Vec<String>,
}

/// A result worth a question.
#[napi(object, object_from_js = false)]
pub struct PruneCandidate {
    /// Its seq.
    pub seq: u32,
    /// Whether both axes matter, or the need alone.
    pub both: bool,
}

/// The questions of a pass, packed.
#[napi(object, object_from_js = false)]
pub struct PruneBatches {
    /// The requests.
    pub batches: Vec<PruneBatch>,
    /// Questions that fit in no request.
    pub skipped: u32,
}

/// One request to a judge.
#[napi(object, object_from_js = false)]
pub struct PruneBatch {
    /// What the judge is told.
    pub state: String,
    /// Whether it holds all of the history.
    pub fitted: bool,
    /// The questions.
    pub questions: Vec<PruneQuestion>,
}

/// One statement to judge.
#[napi(object, object_from_js = false)]
pub struct PruneQuestion {
    /// `result_s12` or `effect_s12`.
    pub id: String,
    /// The result's seq.
    pub seq: u32,
    /// `result` or `effect`.
    pub axis: String,
    /// The statement.
    pub statement: String,
}

/// What is left of one text block, in UTF-16 units.
#[napi(object, object_from_js = false)]
pub struct PruneKept {
    /// Index of the block.
    pub block: u32,
    /// Kept from the start up to here.
    pub head_end: u32,
    /// Whether the marker stands here.
    pub marker: bool,
    /// Kept from here to the end.
    pub tail_start: u32,
}

/// One body to cut.
#[napi(object, object_from_js = false)]
pub struct PruneCut {
    /// The result's seq.
    pub seq: u32,
    /// The blocks the cut touches.
    pub blocks: Vec<PruneKept>,
    /// The marker.
    pub marker: String,
    /// Code points before.
    pub chars_before: u32,
    /// Code points after.
    pub chars_after: u32,
}

/// The plan of layer 1.
#[napi(object, object_from_js = false)]
pub struct PruneTrims {
    /// Bodies cut by their verdict, in surface order.
    pub cuts: Vec<PruneCut>,
    /// Results that the stock rule decides, in surface order.
    pub stock: Vec<u32>,
    /// Results that are kept, in the order in which protection yields on an overflow.
    pub kept: Vec<u32>,
    /// How many are kept for which reason.
    pub kept_by_verdict: u32,
    /// Kept as newest nodes.
    pub kept_by_tail: u32,
    /// Kept for their tool.
    pub kept_by_deny: u32,
    /// Kept by the budget.
    pub kept_by_budget: u32,
    /// Kept because they were rewritten before.
    pub kept_as_cut: u32,
}

/// One edit of layer 2.
#[napi(object, object_from_js = false)]
pub struct PruneEdit {
    /// Whether whole steps become one message, or one body is replaced.
    pub full: bool,
    /// The shadowed seqs, in surface order; one for a body.
    pub seqs: Vec<u32>,
    /// What lands.
    pub text: String,
}

/// A tool of the surface.
#[napi(object, object_from_js = false)]
pub struct PruneTool {
    /// Its name.
    pub name: String,
    /// Whether receipts may take its results.
    pub may_compact: bool,
}
