//! The turns of a session at the border: positions in as columns, decisions out.

use napi::Error;
use napi::bindgen_prelude::{Float64Array, Uint32Array};
use napi_derive::napi;

use super::columns::SurfaceColumns;
use crate::error::Refusal;
use crate::event::{SurfaceOp, whole};
use crate::turns::recall::{Clock, Route, route_recall, stands_raw};
use crate::turns::refusal::TurnRefusal;
use crate::turns::span::{Member, turn_span};
use crate::turns::table::{Entry, Turn, TurnTable};
use crate::wire::{Tail, faults};

pub(super) type Result<T> = std::result::Result<T, Error<String>>;

#[expect(clippy::needless_pass_by_value, reason = "the shape map_err wants")]
pub(super) fn refused(refusal: TurnRefusal) -> Error<String> {
    Error::new(refusal.code().to_owned(), refusal.to_string())
}

fn bad_columns(what: &str) -> Error<String> {
    refused(TurnRefusal::Script { row: 0, what: what.to_owned() })
}

/// A whole number that crossed as a JavaScript number.
fn count(value: f64) -> Result<u32> {
    whole(value).ok_or_else(|| bad_columns("an entry holds what is no seq or turn"))
}

/// A turn as the table knows it; see [`Turn`].
#[napi(object, object_from_js = false)]
pub struct TurnFacts {
    /// Its number.
    pub number: u32,
    /// Seq of its `turn/start`.
    pub start: u32,
    /// Its last seq, once it has ended.
    pub end: Option<u32>,
    /// Epoch milliseconds of its start.
    pub start_time: f64,
    /// Epoch milliseconds of its end; absent for an open and for an interrupted turn.
    pub end_time: Option<f64>,
    /// Seq of the message that started it.
    pub opening: Option<u32>,
    /// Seq of its newest whole-turn checkpoint.
    pub checkpoint: Option<u32>,
}

impl From<&Turn> for TurnFacts {
    fn from(turn: &Turn) -> Self {
        Self {
            number: turn.number,
            start: turn.start,
            end: turn.end,
            start_time: turn.start_time,
            end_time: turn.end_time,
            opening: turn.opening,
            checkpoint: turn.checkpoint,
        }
    }
}

/// The turns of one session's log, grown as the log grows. Numbers only.
#[napi(js_name = "TurnTable")]
#[derive(Default)]
pub struct JsTurnTable {
    table: TurnTable,
}

#[napi]
impl JsTurnTable {
    /// A table of nothing yet.
    #[napi(constructor, catch_unwind)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next entries, in log order, four numbers each: kind, seq, turn, time. Kinds: 1 `turn/start`, 2
    /// `turn/end`, 3 a person's appended message, 4 another appended `user/message`, 5 a whole-turn checkpoint, 6
    /// `compaction/start`, 7 `compaction/end`, 8 `session/end-seed`. Turn and time count for the kinds that have
    /// them; times are epoch milliseconds.
    ///
    /// # Errors
    /// `BAD_COLUMNS` when the column breaks off, names an unknown kind or holds what is no seq or turn.
    #[napi(catch_unwind)]
    pub fn feed(&mut self, column: Float64Array) -> Result<()> {
        let (rows, rest) = column.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(bad_columns("the entries break off"));
        }
        for [kind, seq, turn, time] in rows {
            let (kind, seq, turn, time) = (count(*kind)?, count(*seq)?, count(*turn)?, *time);
            let entry = match kind {
                1 => Entry::Start { turn, time },
                2 => Entry::End { turn, time },
                3 => Entry::Person,
                4 => Entry::Message,
                5 => Entry::Checkpoint { turn },
                6 => Entry::CompactionStart,
                7 => Entry::CompactionEnd,
                8 => Entry::EndSeed,
                _ => return Err(bad_columns("an entry is of no known kind")),
            };
            self.table.read(seq, entry);
        }
        Ok(())
    }

    /// The turn with this number, `null` where the log holds none.
    #[napi(catch_unwind)]
    #[must_use]
    pub fn turn(&self, number: u32) -> Option<TurnFacts> {
        self.table.get(number).map(TurnFacts::from)
    }

    /// The newest turn, `null` before the first.
    #[napi(catch_unwind)]
    #[must_use]
    pub fn newest(&self) -> Option<TurnFacts> {
        self.table.newest().map(TurnFacts::from)
    }

    /// Seq of the `turn/start` of the turn with this number, if it can be given a checkpoint.
    ///
    /// # Errors
    /// `TURN_NOT_FOUND`, `TURN_OPEN`, `ALREADY_REPLACED`.
    #[napi(catch_unwind)]
    pub fn start_of(&self, number: u32) -> Result<u32> {
        self.table.candidate(number).map(|turn| turn.start).map_err(refused)
    }

    /// Numbers of the ended turns without a checkpoint, newest first.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn unsummarized(&self) -> Vec<u32> {
        self.table.unsummarized()
    }

    /// Whether any turn has ended.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn any_completed(&self) -> bool {
        self.table.any_completed()
    }

    /// Whether a turn that began after this one has ended.
    #[napi(catch_unwind)]
    #[must_use]
    pub fn ended_after(&self, number: u32) -> bool {
        self.table.ended_after(number)
    }

    /// Whether the newest turn is open.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.table.is_open()
    }

    /// Whether a session compaction is running.
    #[napi(getter, catch_unwind)]
    #[must_use]
    pub fn is_compacting(&self) -> bool {
        self.table.is_compacting()
    }

    /// The span that the turn's checkpoint would replace: its first position in the window, and the position after
    /// its last. `window` holds four numbers a surface node,
    /// in surface order: seq, smallest origin, largest origin, and flags (1 assistant message, 2 foreign).
    ///
    /// # Errors
    /// What [`turn_span`] and [`TurnTable::candidate`] refuse; `BAD_COLUMNS`.
    #[napi(catch_unwind)]
    pub fn span(&self, number: u32, window: Uint32Array) -> Result<Vec<u32>> {
        let turn = self.table.candidate(number).map_err(refused)?;
        let (rows, rest) = window.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(bad_columns("the window breaks off"));
        }
        let members: Vec<Member> = rows
            .iter()
            .map(|[seq, first, last, flags]| Member {
                seq: *seq,
                first_origin: *first,
                last_origin: *last,
                assistant: flags & 1 != 0,
                foreign: flags & 2 != 0,
            })
            .collect();
        let span = turn_span(turn, &members).map_err(refused)?;
        // Positions of a column that crossed fit its own numbers.
        Ok([span.start, span.end].map(|at| u32::try_from(at).unwrap_or(u32::MAX)).to_vec())
    }

    /// Who answers a question about a turn: `fork` or `subagent`. `now` and `window` are milliseconds;
    /// `prefix` holds four numbers a surface event of the log part that a fork gets, in log order: seq, 1 for a
    /// replacement, its start, its end.
    ///
    /// # Errors
    /// `TURN_NOT_FOUND`; `BAD_COLUMNS` when the operations do not fit each other.
    #[napi(catch_unwind)]
    pub fn route(&self, number: u32, now: f64, window: f64, prefix: Uint32Array) -> Result<String> {
        let turn = self.table.get(number).ok_or_else(|| refused(TurnRefusal::TurnNotFound(number)))?;
        let (rows, rest) = prefix.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(bad_columns("the prefix breaks off"));
        }
        let operations: Vec<_> = rows
            .iter()
            .map(|[seq, replaces, start, end]| {
                let replace = SurfaceOp::Replace { start: *start, end: *end };
                (*seq, if *replaces == 1 { replace } else { SurfaceOp::Append })
            })
            .collect();
        let raw = stands_raw(turn, &operations).map_err(|misfit| bad_columns(&misfit.to_string()))?;
        let newest = self.table.newest().map_or(number, |newest| newest.number);
        Ok(match route_recall(turn, Clock { now, window, newest }, raw) {
            Route::Fork => "fork",
            Route::Subagent => "subagent",
        }
        .to_owned())
    }
}

/// How many nodes of the surface a request can send: those before the first that a provider would refuse,
/// among them the message whose call is still open.
///
/// # Errors
/// `UNBALANCED` where a node of the surface does not agree with the log.
#[napi(catch_unwind)]
pub fn request_cut(columns: SurfaceColumns) -> Result<u32> {
    let corrupt = |refusal: Refusal| Error::new(refusal.code().to_owned(), refusal.to_string());
    let surface = columns.parse().map_err(corrupt)?;
    let nodes = surface.nodes();
    let all = faults(&surface, nodes.iter(), Tail::Request);
    let first = all.first().and_then(|fault| nodes.iter().position(|node| node.seq == fault.seq));
    Ok(u32::try_from(first.unwrap_or(nodes.len())).unwrap_or(u32::MAX))
}
