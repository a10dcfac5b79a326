//! What crosses the border for a fold: the surface as columns, and the mark it starts from.

use napi::bindgen_prelude::{Uint8Array, Uint32Array};
use napi_derive::napi;

use crate::error::Refusal;
use crate::event::whole;
use crate::region::Target;
use crate::surface::{Columns, Surface};

/// Columns of a surface window; see [`Columns`].
#[napi(object, object_to_js = false)]
pub struct SurfaceColumns {
    /// Seqs of the window, in surface order.
    pub nodes: Uint32Array,
    /// Kind and flags by seq.
    pub facts: Uint8Array,
    /// Text lengths by seq, UTF-16 code units.
    pub chars: Uint32Array,
    /// Smallest origins by seq.
    pub origins: Uint32Array,
    /// Offsets into `pool` by seq.
    pub calls: Uint32Array,
    /// Calls: a count, then pairs of call id and tool name.
    pub pool: Uint32Array,
}

impl SurfaceColumns {
    /// The columns as the pure rooms take them.
    pub(super) fn view(&self) -> Columns<'_> {
        Columns {
            nodes: &self.nodes,
            facts: &self.facts,
            chars: &self.chars,
            origins: &self.origins,
            calls: &self.calls,
            pool: &self.pool,
        }
    }

    /// Parses the columns, trusting none of them.
    ///
    /// # Errors
    /// `UNBALANCED` names the first seq that does not agree with the log.
    pub(super) fn parse(&self) -> std::result::Result<Surface, Refusal> {
        Surface::parse(&self.view())
    }
}

/// The mark a fold starts from; see [`Target`].
#[napi(object, object_to_js = false)]
pub struct FoldTarget {
    /// The mark's id as text.
    pub mark: String,
    /// The mark's `logLength` as JavaScript holds it; anything but an integer is NaN.
    pub log_length: f64,
    /// `logLength` as text, for the sentence that names it.
    pub log_length_text: String,
    /// The log's length in events.
    pub log_size: u32,
    /// Seq of the last assistant message that was appended before the mark.
    pub last_assistant: Option<u32>,
    /// Interned id of the call that took the mark.
    pub call: Option<u32>,
    /// Interned name of the checkpoint tool.
    pub checkpoint_name: Option<u32>,
    /// Whether a turn is open.
    pub open_turn: bool,
    /// Whether the mark is folded, by its service or by the log.
    pub folded: bool,
}

impl FoldTarget {
    /// The target, where the mark can be used at all (docs/rewind.md 1.8).
    ///
    /// # Errors
    /// `EMPTY_REGION` for a mark outside the log and for a folded one.
    pub(super) fn check(self) -> std::result::Result<Target, Refusal> {
        let Some(log_length) = whole(self.log_length).filter(|length| *length <= self.log_size) else {
            return Err(Refusal::MarkOutside {
                mark: self.mark,
                value: self.log_length_text,
                log_length: self.log_size,
            });
        };
        if self.folded {
            return Err(Refusal::AlreadyFolded { mark: self.mark });
        }
        Ok(Target {
            mark: self.mark,
            log_length,
            last_assistant: self.last_assistant,
            call: self.call,
            checkpoint_name: self.checkpoint_name,
            open_turn: self.open_turn,
        })
    }
}
