//! Replacements and recall at the border: numbers in as one column, text in batches, one text out.

use napi::Error;
use napi::bindgen_prelude::Uint32Array;
use napi_derive::napi;

use crate::event::{Seq, SurfaceOp};
use crate::recall::{Ask, Recall, Refusal};
use crate::replacements::{Calls, Recalled, Regret, Replacements, Spoken};
use serde::Deserialize;

type Result<T> = std::result::Result<T, Error<String>>;

const USER: u32 = 0;
const ASSISTANT: u32 = 1;
const RESULT: u32 = 2;
const DISPATCH: u32 = 3;

fn bad_input(message: impl ToString) -> Error<String> {
    Error::new("BAD_INPUT".to_owned(), message.to_string())
}

fn refused(refusal: &Refusal) -> Error<String> {
    Error::new(refusal.code().to_owned(), refusal.to_string())
}

/// What one session's log says about replacements, grown as the log grows. Numbers only.
#[napi]
#[derive(Default)]
pub struct ReplacementReader {
    replacements: Replacements,
    calls: Calls<u32>,
}

#[napi]
impl ReplacementReader {
    /// A reader of nothing yet.
    #[napi(constructor, catch_unwind)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next surface and `tool/call` events, in log order. Each is its kind (0 user, 1 assistant, 2
    /// result, 3 `tool/call`), its seq, the count of what follows, and that: for a replacement its `start`
    /// and `end`, preceded by a 1; for an append a 0, then the interned ids of an assistant message's calls,
    /// or the one id that a result or `tool/call` names.
    ///
    /// # Errors
    /// `BAD_INPUT` when the column breaks off or an operation does not fit the surface.
    #[napi(catch_unwind)]
    pub fn feed(&mut self, column: Uint32Array) -> Result<()> {
        let mut rest: &[u32] = &column;
        while let [kind, seq, count, tail @ ..] = rest {
            let (body, next) = tail
                .split_at_checked(*count as usize)
                .ok_or_else(|| bad_input(format!("the column breaks off at seq {seq}")))?;
            self.take(*kind, *seq, body)?;
            rest = next;
        }
        if rest.is_empty() { Ok(()) } else { Err(bad_input("the column breaks off")) }
    }

    fn take(&mut self, kind: u32, seq: Seq, body: &[u32]) -> Result<()> {
        let apply =
            |replacements: &mut Replacements, op| replacements.apply(seq, op).map(drop).map_err(bad_input);
        match (kind, body) {
            (USER..=RESULT, [1, start, end]) => {
                apply(&mut self.replacements, SurfaceOp::Replace { start: *start, end: *end })
            }
            (USER, [0]) => apply(&mut self.replacements, SurfaceOp::Append),
            (ASSISTANT, [0, ids @ ..]) => {
                self.calls.carrier(seq, ids.iter().copied());
                apply(&mut self.replacements, SurfaceOp::Append)
            }
            (RESULT, [0, id]) => {
                self.calls.result(seq, id);
                apply(&mut self.replacements, SurfaceOp::Append)
            }
            (DISPATCH, [0, id]) => {
                self.calls.dispatch(seq, id);
                Ok(())
            }
            _ => Err(bad_input(format!("the column holds no event at seq {seq}"))),
        }
    }

    /// The nodes that the replacement `seq` took away, in surface order; none for any other seq.
    #[napi(catch_unwind)]
    #[must_use]
    pub fn taken_by(&self, seq: u32) -> Vec<u32> {
        self.replacements.taken_by(seq).to_vec()
    }

    /// How often something was read again that a replacement had taken away: pairs of the replacement's seq
    /// and the count, where there is one. `log` is `{ spoken, recalls }` as JSON; see [`Spoken`] and
    /// [`Recalled`].
    ///
    /// # Errors
    /// `BAD_INPUT` when the JSON has another shape.
    #[napi(catch_unwind)]
    pub fn regret(&self, log: String) -> Result<Vec<u32>> {
        #[derive(Deserialize)]
        struct Log<'a> {
            #[serde(borrow)]
            spoken: Vec<Spoken<'a>>,
            #[serde(borrow)]
            recalls: Vec<Recalled<'a>>,
        }
        let Log { spoken, recalls } = serde_json::from_str(&log).map_err(bad_input)?;
        let regret = Regret::of_log(&self.replacements, &self.calls, &spoken, &recalls);
        Ok(regret.iter().flat_map(|(seq, count)| [seq, count]).collect())
    }

    /// Starts a recall. `ask` is the tool's arguments as JSON, `length` the log's length, `max_chars` the
    /// bound on a slice in UTF-16 code units.
    ///
    /// # Errors
    /// The code and sentence of [`Refusal`].
    #[napi(catch_unwind)]
    pub fn recall(&self, ask: String, length: u32, max_chars: u32) -> Result<RecallRun> {
        let ask: Ask = serde_json::from_str(&ask).map_err(bad_input)?;
        let run = Recall::open(&self.replacements, &self.calls, &ask, length, max_chars as usize);
        Ok(RecallRun { run: Some(run.map_err(|refusal| refused(&refusal))?) })
    }
}

/// A recall under way; see [`Recall`].
#[napi]
pub struct RecallRun {
    run: Option<Recall>,
}

#[napi]
impl RecallRun {
    fn run(&mut self) -> Result<&mut Recall> {
        self.run.as_mut().ok_or_else(|| bad_input("this recall is closed"))
    }

    /// Seqs of the events that `read` wants next; empty when it has enough.
    ///
    /// # Errors
    /// `BAD_INPUT` after `close`.
    #[napi(catch_unwind)]
    pub fn wants(&mut self) -> Result<Uint32Array> {
        Ok(self.run()?.wants().to_vec().into())
    }

    /// Reads those events, as one JSON array in that order.
    ///
    /// # Errors
    /// `BAD_INPUT` when an event cannot be read, naming its seq.
    #[napi(catch_unwind)]
    pub fn read(&mut self, events: String) -> Result<()> {
        self.run()?.read(&events).map_err(bad_input)
    }

    /// The slice, as text for the model.
    ///
    /// # Errors
    /// The code and sentence of [`Refusal`].
    #[napi(catch_unwind)]
    pub fn close(&mut self) -> Result<String> {
        let run = self.run.take().ok_or_else(|| bad_input("this recall is closed"))?;
        run.close().map_err(|refusal| refused(&refusal))
    }
}
