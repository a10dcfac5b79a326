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

/// The turn's text and the labels.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    text: Vec<u16>,
    labels: Vec<u16>,
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

    /// Appends the units of `pieces` to `out`.
    pub fn push(&self, out: &mut Vec<u16>, pieces: &[Piece]) {
        for piece in pieces {
            out.extend_from_slice(self.units(piece));
        }
    }

    /// A copy of what `pieces` say.
    #[must_use]
    pub fn copy(&self, pieces: &[Piece]) -> Vec<u16> {
        let mut out = Vec::new();
        self.push(&mut out, pieces);
        out
    }

    /// Code points of `pieces`. A pair that two pieces split counts as two, which only blocks of one message can.
    #[must_use]
    pub fn points(&self, pieces: &[Piece]) -> usize {
        pieces.iter().map(|piece| points(self.units(piece))).sum()
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

    /// The pieces that keep at most `cap` code points of a piece: its head, the marker that names the whole
    /// length, its tail; the piece itself where it is short enough. `units` are the piece's own.
    pub fn capped(&mut self, piece: Piece, units: &[u16], cap: usize) -> Vec<Piece> {
        if units.len() <= cap {
            return vec![piece];
        }
        let total = points(units);
        if total <= cap {
            return vec![piece];
        }
        let (head, tail) = cuts(units, cap);
        let marker = self.label(&marker(total));
        let part = |from: usize, to: usize| match &piece {
            Piece::Text(run) => Piece::Text(run.start + from..run.start + to),
            Piece::Label(run) => Piece::Label(run.start + from..run.start + to),
        };
        vec![part(0, head), marker, part(tail, units.len())]
    }
}

/// What stands where a text was cut.
#[must_use]
pub fn marker(total: usize) -> String {
    format!(" ... [truncated, {total} chars total] ... ")
}
