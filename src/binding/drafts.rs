//! Drafts and transcripts of turns at the border: a turn's text crosses as UTF-16 both ways, so that no
//! conversion can touch a word.

use napi::bindgen_prelude::{Uint8Array, Uint32Array, Utf16String};
use napi_derive::napi;

use super::turns::{Result, refused};
use crate::turns::answer;
use crate::turns::balance::balanced;
use crate::turns::draft::Draft;
use crate::turns::script::Script;
use crate::turns::transcript::{Limits, fit, render_transcript};
use crate::turns::units::points;
use crate::turns::view;

/// One segment of a draft, without its content.
#[napi(object, object_from_js = false)]
pub struct DraftSegment {
    /// Its id.
    pub id: u32,
    /// `user-steer`, `assistant` or `working`.
    pub kind: String,
    /// Whether it comes from an earlier summary of the turn.
    pub preserved: bool,
    /// Code points of its content now.
    pub points: u32,
}

/// A turn's messages as they cross; see [`Script`].
#[napi(object, object_to_js = false)]
pub struct TurnScript {
    /// What each row is.
    pub tags: Uint8Array,
    /// How many UTF-16 units of the text each row takes.
    pub lengths: Uint32Array,
    /// All strings of the messages, in row order.
    pub text: Utf16String,
}

impl TurnScript {
    fn read(self) -> Result<Script> {
        Script::read(&self.tags, &self.lengths, self.text.to_vec()).map_err(refused)
    }
}

/// A checkpoint in the making; it holds one turn's text and nothing of the log.
#[napi]
pub struct TurnDraft {
    draft: Draft,
}

/// Drafts the checkpoint of a span. `result_cap` and `max_working` are code points.
///
/// # Errors
/// `UNBALANCED_OPEN`, `UNBALANCED_ORPHAN`, `BAD_COLUMNS`.
#[napi(catch_unwind)]
pub fn draft_turn(script: TurnScript, result_cap: u32, max_working: u32) -> Result<TurnDraft> {
    let script = script.read()?;
    balanced(&script).map_err(refused)?;
    Ok(TurnDraft { draft: Draft::new(script, size(result_cap), size(max_working)) })
}

#[napi]
impl TurnDraft {
    /// The segments as they stand now, in order.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn segments(&self) -> Vec<DraftSegment> {
        let segments = self.draft.segments();
        segments
            .iter()
            .map(|segment| DraftSegment {
                id: segment.id,
                kind: segment.kind.name().to_owned(),
                preserved: segment.preserved,
                points: u32::try_from(points(&segment.content)).unwrap_or(u32::MAX),
            })
            .collect()
    }

    /// Ids of the working segments that must still be rewritten, in order.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn unfinished(&self) -> Vec<u32> {
        self.draft.unfinished()
    }

    /// Rewrites one working segment and names its kind; see [`Draft::replace`].
    ///
    /// # Errors
    /// The code and sentence of what [`Draft::replace`] refuses.
    #[napi(catch_unwind)]
    pub fn replace(&mut self, id: u32, content: Utf16String) -> Result<String> {
        self.draft.replace(id, &content).map(|kind| kind.name().to_owned()).map_err(refused)
    }

    /// What stands between a segment's tags now.
    ///
    /// # Errors
    /// `UNKNOWN_SEGMENT`.
    #[napi(catch_unwind)]
    pub fn read(&self, id: u32) -> Result<Utf16String> {
        self.draft.content(id).map(Utf16String::from).map_err(refused)
    }

    /// Searches the segments line by line.
    ///
    /// # Errors
    /// `BAD_PATTERN`.
    #[napi(catch_unwind)]
    pub fn grep(&self, pattern: String) -> Result<String> {
        view::grep(&self.draft, &pattern).map_err(refused)
    }

    /// One line a segment, for a worker; `only` are the ids it is asked to write.
    #[napi(catch_unwind)]
    #[must_use]
    pub fn outline(&self, only: Vec<u32>) -> String {
        view::outline(&self.draft, &only)
    }

    /// Applies a model's answer; after a refusal the draft is of no use any more.
    ///
    /// # Errors
    /// The code and sentence of what [`answer::apply`] refuses.
    #[napi(catch_unwind)]
    pub fn apply(&mut self, answer: Utf16String) -> Result<()> {
        answer::apply(&mut self.draft, &answer).map_err(refused)
    }

    /// Checks the draft before it lands.
    ///
    /// # Errors
    /// The code and sentence of the first divergence.
    #[napi(catch_unwind)]
    pub fn check(&self) -> Result<()> {
        self.draft.check().map_err(refused)
    }

    /// The checkpoint's surface text.
    #[napi(catch_unwind)]
    #[must_use]
    pub fn checkpoint(&self, turn: u32) -> Utf16String {
        self.draft.checkpoint(turn).into()
    }

    /// Lets go of the turn's text. A collector cannot see it, so it must not wait for one; the draft is empty
    /// from then on.
    #[napi(catch_unwind)]
    pub fn close(&mut self) {
        self.draft = Draft::default();
    }

    /// The smallest surface text that this draft can become.
    #[napi(catch_unwind)]
    #[must_use]
    pub fn floor(&self, turn: u32) -> Utf16String {
        self.draft.floor(turn).into()
    }
}

/// Renders the raw record of a turn. `result_cap` and `whole_cap` are code points.
///
/// # Errors
/// `BAD_COLUMNS`.
#[napi(catch_unwind)]
pub fn turn_transcript(script: TurnScript, result_cap: u32, whole_cap: u32) -> Result<Utf16String> {
    let limits = Limits { result: size(result_cap), whole: size(whole_cap) };
    Ok(render_transcript(&script.read()?, limits).into())
}

/// Cuts a transcript to what a model with `budget` tokens of input can read, head and tail kept; `null` when it
/// fits as it is.
#[napi(catch_unwind)]
#[must_use]
pub fn fit_transcript(text: Utf16String, budget: u32) -> Option<Utf16String> {
    fit(&text, budget).map(Utf16String::from)
}

fn size(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
