//! Planning a fold at the border: columns in, plans and edits out.

use napi::Error;
use napi_derive::napi;

use super::columns::{FoldTarget, SurfaceColumns};
use crate::error::Refusal;
use crate::plan::{Edit, Plan, RequestPlan};
use crate::report::instruction::{Ask, instruction};
use crate::report::landed::{self, Facts, Language, Piece};

/// One edit to append, in order.
#[napi(object, object_from_js = false)]
pub struct FoldEdit {
    /// `report`, `report-in-place`, `pointer` or `sibling`.
    pub kind: String,
    /// The shadowed seqs, in surface order; one for the in-place kinds.
    pub seqs: Vec<u32>,
    /// The text that lands; for the report kinds it is composed apart.
    pub text: Option<String>,
}

/// The request that asks for the report.
#[napi(object, object_from_js = false)]
pub struct FoldRequest {
    /// `routed`, `messages` or `transcript`.
    pub form: String,
    /// Routed: how many surface nodes are sent.
    pub cut: Option<u32>,
    /// Otherwise: the seqs to send or to quote.
    pub seqs: Option<Vec<u32>>,
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
}

/// A composed report: parts of text, and quotes by index.
#[napi(object, object_from_js = false)]
pub struct Composed {
    /// The parts in order; exactly one of the two fields of each is set.
    pub pieces: Vec<ComposedPiece>,
    /// All landed text (report, pointers, rewritten siblings), UTF-16 code units.
    pub report_chars: u32,
}

/// One part of a composed report.
#[napi(object, object_from_js = false)]
pub struct ComposedPiece {
    /// Text written by the core.
    pub text: Option<String>,
    /// Index of a quote that stays in JavaScript.
    pub quote: Option<u32>,
}

fn refused(refusal: &Refusal) -> Error<String> {
    Error::new(refusal.code().to_owned(), refusal.to_string())
}

/// A planned fold. Numbers only; it holds no text of the session.
#[napi]
pub struct FoldPlan {
    plan: Plan,
    mark: String,
    after_call: bool,
    language: Language,
}

/// Plans a fold on a surface window (spec/rewind.md 1).
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

fn language_of(name: &str) -> Language {
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
    pub fn quotes(&self) -> Vec<u32> {
        self.plan.quotes.clone()
    }

    /// Seqs of results rewritten in place, in surface order.
    #[napi(getter, catch_unwind)]
    pub fn siblings(&self) -> Vec<u32> {
        self.plan.siblings.clone()
    }

    /// Runs of seqs that leave the surface, in surface order.
    #[napi(getter, catch_unwind)]
    pub fn segments(&self) -> Vec<Vec<u32>> {
        self.plan.segments.clone()
    }

    /// Plans the report request on the columns of the whole surface (spec/rewind.md 2.2).
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
        let surface = whole.parse().map_err(|refusal| refused(&refusal))?;
        self.plan.recheck(&surface, true).map_err(|refusal| refused(&refusal))?;
        let request = self.plan.request(&surface, routed);
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
            RequestPlan::Routed { cut, .. } => FoldRequest {
                form: "routed".to_owned(),
                cut: u32::try_from(cut).ok(),
                seqs: None,
                instruction,
            },
            RequestPlan::Messages { seqs, .. } => {
                FoldRequest { form: "messages".to_owned(), cut: None, seqs: Some(seqs), instruction }
            }
            RequestPlan::Transcript { seqs } => {
                FoldRequest { form: "transcript".to_owned(), cut: None, seqs: Some(seqs), instruction }
            }
        })
    }

    /// Refuses a region too small to beat the shortest possible report (spec/rewind.md 3.2). Regions
    /// without text are judged by tokens, at the commit. `quote_chars` are the lengths of the rendered quotes.
    ///
    /// # Errors
    /// `SHRINK` with both numbers.
    #[napi(catch_unwind)]
    pub fn weigh_region(
        &self,
        quote_chars: Vec<u32>,
        folded_tokens: Option<u32>,
        min_savings: u32,
    ) -> std::result::Result<(), Error<String>> {
        if let Some(folded_tokens) = folded_tokens.filter(|&tokens| min_savings > 0 && tokens <= min_savings)
        {
            return Err(refused(&Refusal::Savings { folded_tokens, min_savings }));
        }
        let (_, least) = self.composed("r", &quote_chars, 0);
        if self.plan.folded_chars == 0 || least < self.plan.folded_chars {
            return Ok(());
        }
        Err(refused(&Refusal::Shrink {
            folded_chars: self.plan.folded_chars,
            report_chars: least,
            folded_tokens,
            report_tokens: None,
        }))
    }

    /// Composes the report that lands (spec/rewind.md 3.2).
    #[napi(catch_unwind)]
    pub fn compose(&self, prose: String, quote_chars: Vec<u32>) -> Composed {
        let room = match self.plan.folded_chars {
            0 => u32::MAX,
            chars => (chars - 1).saturating_sub(self.pointer_chars()),
        };
        let (pieces, report_chars) = self.composed(&prose, &quote_chars, room);
        let pieces = pieces
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => ComposedPiece { text: Some(text), quote: None },
                Piece::Quote(index) => ComposedPiece { text: None, quote: Some(index) },
            })
            .collect();
        Composed { pieces, report_chars }
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
        let surface = columns.parse().map_err(|refusal| refused(&refusal))?;
        self.plan.recheck(&surface, open_turn).map_err(|refusal| refused(&refusal))?;
        Ok(self.plan.edits().into_iter().map(|edit| self.edit(edit)).collect())
    }

    /// Refuses to land what is not smaller than what it replaces (spec/rewind.md 3.2).
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

    fn edit(&self, edit: Edit) -> FoldEdit {
        let (kind, seqs, text) = match edit {
            Edit::Report { seqs } => ("report", seqs, None),
            Edit::ReportInPlace { seq } => ("report-in-place", vec![seq], None),
            Edit::Pointer { seqs } => ("pointer", seqs, Some(landed::pointer(&self.mark, self.language))),
            Edit::Sibling { seq } => ("sibling", vec![seq], Some(landed::sibling(&self.mark, self.language))),
        };
        FoldEdit { kind: kind.to_owned(), seqs, text }
    }

    /// Text of everything that lands beside the report.
    fn pointer_chars(&self) -> u32 {
        self.plan
            .edits()
            .iter()
            .map(|edit| match edit {
                Edit::Report { .. } | Edit::ReportInPlace { .. } => 0,
                Edit::Pointer { .. } => landed::utf16(&landed::pointer(&self.mark, self.language)),
                Edit::Sibling { .. } => landed::utf16(&landed::sibling(&self.mark, self.language)),
            })
            .sum()
    }

    fn composed(&self, prose: &str, quote_chars: &[u32], room: u32) -> (Vec<Piece>, u32) {
        let facts = Facts {
            mark: &self.mark,
            nodes: self.plan.folded_nodes,
            start: self.plan.start,
            end: self.plan.end,
            in_place: self.plan.segments.is_empty(),
            language: self.language,
        };
        let (pieces, chars) = landed::compose(&facts, prose, quote_chars, room);
        (pieces, chars.saturating_add(self.pointer_chars()))
    }
}
