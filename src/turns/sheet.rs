//! The text of a draft: the turn's own text as it crossed, and the labels that were written around it. Contents
//! are runs of the two, so that rendering a turn copies none of it.

use super::script::Run;
use super::units::{cuts, points, push_str};

/// A stretch of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A run of the turn's text.
    Text(Run),
    /// A run of the labels.
    Label(Run),
}

/// The turn's text and the labels, and the pieces that the parts are made of.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    text: Vec<u16>,
    labels: Vec<u16>,
    pub(super) pieces: Vec<Piece>,
    pub(super) calls: Vec<Run>,
}

impl Sheet {
    /// Takes over the turn's text, once the labels are written.
    #[must_use]
    pub fn over(self, text: Vec<u16>) -> Self {
        Self { text, ..self }
    }

    /// The units of one piece.
    #[must_use]
    pub fn units(&self, piece: &Piece) -> &[u16] {
        match piece {
            Piece::Text(run) => self.text.get(run.clone()),
            Piece::Label(run) => self.labels.get(run.clone()),
        }
        .unwrap_or(&[])
    }

    /// The pieces of a content.
    #[must_use]
    pub fn pieces(&self, content: &Run) -> &[Piece] {
        self.pieces.get(content.clone()).unwrap_or(&[])
    }

    /// Names of the tools in a run of calls.
    pub fn called(&self, calls: &Run) -> impl Iterator<Item = &[u16]> {
        let runs = self.calls.get(calls.clone()).unwrap_or(&[]);
        runs.iter().map(|run| self.text.get(run.clone()).unwrap_or(&[]))
    }

    /// Appends a content to `out`.
    pub fn push(&self, out: &mut Vec<u16>, content: &Run) {
        for piece in self.pieces(content) {
            out.extend_from_slice(self.units(piece));
        }
    }

    /// A copy of a content.
    #[must_use]
    pub fn copy(&self, content: &Run) -> Vec<u16> {
        let mut out = Vec::new();
        self.push(&mut out, content);
        out
    }

    /// Code points of a content. A pair that two pieces split counts as two, which only blocks of one message can.
    #[must_use]
    pub fn points(&self, content: &Run) -> usize {
        self.pieces(content).iter().map(|piece| points(self.units(piece))).sum()
    }

    /// Writes a label.
    pub fn label(&mut self, text: &str) -> Piece {
        let from = self.labels.len();
        push_str(&mut self.labels, text);
        Piece::Label(from..self.labels.len())
    }

    /// Writes units among the labels: text that had to be put together.
    pub fn written(&mut self, text: &[u16]) -> Piece {
        let from = self.labels.len();
        self.labels.extend_from_slice(text);
        Piece::Label(from..self.labels.len())
    }

    /// Goes on with at most `cap` code points of a piece: its head, the marker that names the whole length, its
    /// tail; the piece itself where it is short enough. `units` are the piece's own.
    pub fn push_capped(&mut self, piece: Piece, units: &[u16], cap: usize) {
        // The unit length bounds the point count, so the common short text is never walked.
        let total = if units.len() <= cap { 0 } else { points(units) };
        if total <= cap {
            self.pieces.push(piece);
            return;
        }
        let (head, tail) = cuts(units, cap);
        let marker = self.label(&marker(total));
        let part = |from: usize, to: usize| match &piece {
            Piece::Text(run) => Piece::Text(run.start + from..run.start + to),
            Piece::Label(run) => Piece::Label(run.start + from..run.start + to),
        };
        self.pieces.extend([part(0, head), marker, part(tail, units.len())]);
    }
}

/// What stands where a text was cut.
#[must_use]
pub fn marker(total: usize) -> String {
    format!(" ... [truncated, {total} chars total] ... ")
}
