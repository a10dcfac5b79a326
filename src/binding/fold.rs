//! Planning a fold at the border: columns in, plans and edits out.

use napi::Error;
use napi::bindgen_prelude::Uint32Array;
use napi_derive::napi;

use super::columns::{FoldTarget, SurfaceColumns};
use crate::error::Refusal;
use crate::event::utf16_len;
use crate::plan::{Edit, Plan, RequestPlan};
use crate::report::instruction::{Ask, instruction};
use crate::report::landed;
use crate::report::language::Language;

/// One edit to append, in order.
#[napi(object, object_from_js = false)]
pub struct FoldEdit {
    /// `report`, `report-in-place`, `pointer` or `sibling`.
    pub kind: String,
    /// The first shadowed seq, by which the plan's segments and siblings are told apart.
    pub seq: u32,
    /// The text that lands; for the report kinds it is composed apart.
    pub text: Option<String>,
}

/// A run of nodes: positions in the window that was planned on.
#[napi(object, object_from_js = false)]
pub struct FoldRun {
    /// The first position.
    pub start: u32,
    /// One past the last position.
    pub end: u32,
}

/// The request that asks for the report.
#[napi(object, object_from_js = false)]
pub struct FoldRequest {
    /// `routed`, `messages` or `transcript`.
    pub form: String,
    /// Routed: how many surface nodes are sent.
    pub cut: Option<u32>,
    /// Routed: how many messages they derive.
    pub sent: Option<u32>,
    /// Otherwise: the seqs to send or to quote.
    pub seqs: Option<Uint32Array>,
    /// The final instruction.
    pub instruction: String,
}

/// What the instruction refers to beside the plan.
#[napi(object, object_to_js = false)]
pub struct InstructionFacts {
    /// The mark's objective.
    pub objective: Option<String>,
    /// Name of the checkpoint tool.
    pub checkpoint_tool: String,
    /// Seq at which the mark's turn began.
    pub turn_start: u32,
}

pub(super) fn refused(refusal: &Refusal) -> Error<String> {
    Error::new(refusal.code().to_owned(), refusal.to_string())
}

/// A planned fold. Numbers only; it holds no text of the session.
#[napi]
pub struct FoldPlan {
    pub(super) plan: Plan,
    pub(super) mark: String,
    after_call: bool,
    pub(super) language: Language,
}

/// Plans a fold on a surface window (docs/rewind.md 1).
///
/// # Errors
/// The code and sentence of the [`Refusal`].
#[napi(catch_unwind)]
pub fn plan_fold(
    columns: SurfaceColumns,
    target: FoldTarget,
    language: String,
) -> std::result::Result<FoldPlan, Error<String>> {
    let plan = || {
        let target = target.check()?;
        let surface = columns.parse()?;
        let plan = Plan::new(&surface, &target)?;
        let after_call = plan.after_call();
        Ok(FoldPlan { plan, mark: target.mark, after_call, language: language_of(&language) })
    };
    plan().map_err(|refusal: Refusal| refused(&refusal))
}

pub(super) fn language_of(name: &str) -> Language {
    if name == "zh" { Language::Zh } else { Language::En }
}

#[napi]
impl FoldPlan {
    /// Folded nodes, rewritten siblings included.
    #[napi(getter, catch_unwind)]
    pub fn folded_nodes(&self) -> u32 {
        self.plan.folded_nodes
    }

    /// Model-visible text of the folded nodes, UTF-16 code units.
    #[napi(getter, catch_unwind)]
    pub fn folded_chars(&self) -> u32 {
        self.plan.folded_chars
    }

    /// First folded seq in surface order.
    #[napi(getter, catch_unwind)]
    pub fn start(&self) -> u32 {
        self.plan.start
    }

    /// Last folded seq in surface order.
    #[napi(getter, catch_unwind)]
    pub fn end(&self) -> u32 {
        self.plan.end
    }

    /// Seqs of persons' nodes that are quoted, in surface order.
    #[napi(getter, catch_unwind)]
    pub fn quotes(&self) -> Uint32Array {
        self.plan.quotes.clone().into()
    }

    /// Seqs of all nodes that the report quotes from, in surface order: those of `quotes`, and older reports.
    #[napi(getter, catch_unwind)]
    pub fn quoted(&self) -> Uint32Array {
        self.plan.quoted.clone().into()
    }

    /// Seqs of results rewritten in place, in surface order.
    #[napi(getter, catch_unwind)]
    pub fn siblings(&self) -> Uint32Array {
        self.plan.siblings.clone().into()
    }

    /// Runs of nodes that leave the surface, in surface order: positions, for the seqs are at hand where the window is.
    #[napi(getter, catch_unwind)]
    pub fn segments(&self) -> Vec<FoldRun> {
        let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let runs = self.plan.runs.iter();
        runs.map(|run| FoldRun { start: position(run.start), end: position(run.end) }).collect()
    }

    /// Plans the report request on the columns of the whole surface (docs/rewind.md 2.2).
    ///
    /// # Errors
    /// `CHANGED` where the region stands otherwise than planned, `UNBALANCED` where a node of the surface does
    /// not agree with the log.
    #[napi(catch_unwind)]
    pub fn request(
        &self,
        whole: SurfaceColumns,
        routed: bool,
        facts: InstructionFacts,
    ) -> std::result::Result<FoldRequest, Error<String>> {
        self.plan.recheck_columns(&whole.view(), true).map_err(|refusal| refused(&refusal))?;
        let surface = whole.parse().map_err(|refusal| refused(&refusal))?;
        let request = self.plan.request(&surface, routed, facts.turn_start);
        let messages = match &request {
            RequestPlan::Routed { tail, .. } | RequestPlan::Messages { tail, .. } => {
                u32::try_from(*tail).ok()
            }
            RequestPlan::Transcript { .. } => None,
        };
        let instruction = instruction(&Ask {
            mark: &self.mark,
            objective: facts.objective.as_deref(),
            messages,
            after_call: self.after_call,
            checkpoint_tool: &facts.checkpoint_tool,
            language: self.language,
        });
        Ok(match request {
            RequestPlan::Routed { cut, sent, .. } => FoldRequest {
                form: "routed".to_owned(),
                cut: u32::try_from(cut).ok(),
                sent: u32::try_from(sent).ok(),
                seqs: None,
                instruction,
            },
            RequestPlan::Messages { seqs, .. } => FoldRequest {
                form: "messages".to_owned(),
                cut: None,
                sent: None,
                seqs: Some(seqs.into()),
                instruction,
            },
            RequestPlan::Transcript { seqs } => FoldRequest {
                cut: None,
                form: "transcript".to_owned(),
                sent: None,
                seqs: Some(seqs.into()),
                instruction,
            },
        })
    }

    /// The edits to append, in order, after the plan was compared with the surface as it is now.
    ///
    /// # Errors
    /// `CHANGED` on any difference; `UNBALANCED` where a node does not agree with the log.
    #[napi(catch_unwind)]
    pub fn edits(
        &self,
        columns: SurfaceColumns,
        open_turn: bool,
    ) -> std::result::Result<Vec<FoldEdit>, Error<String>> {
        self.plan.recheck_columns(&columns.view(), open_turn).map_err(|refusal| refused(&refusal))?;
        Ok(self.plan.edits().into_iter().map(|edit| self.edit(edit)).collect())
    }

    /// Refuses to land what is not smaller than what it replaces (docs/rewind.md 3.2).
    ///
    /// # Errors
    /// `SHRINK` with both numbers, in characters and, where a meter is mounted, in estimated tokens.
    #[napi(catch_unwind)]
    pub fn weigh_landing(
        &self,
        report_chars: u32,
        folded_tokens: Option<u32>,
        report_tokens: Option<u32>,
    ) -> std::result::Result<(), Error<String>> {
        let folded_chars = self.plan.folded_chars;
        let longer = folded_chars > 0 && report_chars >= folded_chars;
        let dearer = folded_tokens.zip(report_tokens).is_some_and(|(folded, report)| report >= folded);
        if longer || dearer {
            let refusal = Refusal::Shrink { folded_chars, report_chars, folded_tokens, report_tokens };
            return Err(refused(&refusal));
        }
        Ok(())
    }

    fn edit(&self, edit: Edit<'_>) -> FoldEdit {
        let (kind, seq, text) = match edit {
            Edit::Report { seqs } => ("report", seqs.first().copied(), None),
            Edit::ReportInPlace { seq } => ("report-in-place", Some(seq), None),
            Edit::Pointer { seqs } => {
                ("pointer", seqs.first().copied(), Some(landed::pointer(&self.mark, self.language)))
            }
            Edit::Sibling { seq } => ("sibling", Some(seq), Some(landed::sibling(&self.mark, self.language))),
        };
        FoldEdit { kind: kind.to_owned(), seq: seq.unwrap_or(self.plan.start), text }
    }

    /// Text of everything that lands beside the report.
    pub(super) fn pointer_chars(&self) -> usize {
        self.plan
            .edits()
            .iter()
            .map(|edit| match edit {
                Edit::Report { .. } | Edit::ReportInPlace { .. } => 0,
                Edit::Pointer { .. } => utf16_len(&landed::pointer(&self.mark, self.language)),
                Edit::Sibling { .. } => utf16_len(&landed::sibling(&self.mark, self.language)),
            })
            .sum()
    }
}
