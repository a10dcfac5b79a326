//! Puts the landed text together: frame, prose, the unverified line, persons' quotes, the ledger. What is
//! code's own gives way before a fold fails to shrink; the prose and a person's words never do.

use super::claims::Claim;
use super::frame::{Frame, opening};
use super::language::{Language, Section};
use super::ledger::Ledger;
use super::ledger_text::{LedgerBudget, ledger_text};
use super::receipt::receipt;
use super::text::one_line;
use crate::event::utf16_len;

/// A part of a composed text. Persons' words stay in JavaScript, byte for byte, and are named by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text written here.
    Text(String),
    /// The quote of this index, already prefixed line by line.
    Quote(u32),
}

/// What a landed text is made of.
#[derive(Debug, Clone)]
pub struct Draft<'a> {
    /// What the message says about itself.
    pub frame: &'a Frame,
    /// Whether the report becomes the content of a result, where the opening is what makes it a report.
    pub in_place: bool,
    /// Language of everything but the prose.
    pub language: Language,
    /// The model's prose; `None` makes a receipt.
    pub prose: Option<&'a str>,
    /// The mark's objective, for a receipt; may be empty.
    pub objective: &'a str,
    /// The model's last words in the region, for a receipt; may be empty.
    pub last_words: &'a str,
    /// The facts.
    pub ledger: &'a Ledger,
    /// Claims of the prose that were nowhere.
    pub unverified: &'a [Claim],
    /// Lengths of persons' quotes as they will stand, in UTF-16 code units.
    pub quotes: &'a [u32],
    /// Text of the folded region, in UTF-16 code units.
    pub region: usize,
    /// How much the ledger may take.
    pub budget: LedgerBudget,
    /// The most UTF-16 code units that still shrink.
    pub room: usize,
}

/// A composed text and its length in UTF-16 code units, quotes included. Longer than the room only where
/// prose and quotes alone are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composed {
    /// The parts, in order.
    pub pieces: Vec<Piece>,
    /// Their length together.
    pub chars: usize,
}

/// Most of the unverified line, UTF-16 code units; the rest is counted.
const UNVERIFIED: usize = 1200;
/// Between parts stands an empty line.
const GAP: &str = "\n\n";

impl Draft<'_> {
    /// Composes the text.
    #[must_use]
    pub fn compose(&self) -> Composed {
        let frame = self.frame.line(self.language);
        let quotes = self.quotes();
        let quoted: usize = quotes.iter().map(|piece| self.length(piece)).sum();
        match self.prose {
            Some(prose) => self.report(frame, &quoted_headings(prose.trim()), quotes, quoted),
            None => self.receipt(frame, quotes, quoted),
        }
    }

    /// Length of the shortest report that could land in this one's place: one character of prose, or the frame
    /// of a receipt, and every quote.
    #[must_use]
    pub fn least(&self) -> usize {
        let prose = self.prose.map(|_| "r");
        let nothing = Ledger::default();
        let least = Draft {
            prose,
            objective: "",
            last_words: "",
            ledger: &nothing,
            unverified: &[],
            room: 0,
            ..self.clone()
        };
        least.compose().chars
    }

    fn report(&self, frame: String, prose: &str, quotes: Vec<Piece>, quoted: usize) -> Composed {
        let body = utf16_len(prose) + quoted;
        let framed = utf16_len(&frame) + GAP.len() + body;
        if framed > self.room {
            let least =
                if self.in_place { format!("{}\n", opening(&self.frame.mark)) } else { String::new() };
            return self.joined(format!("{least}{prose}"), quotes, "");
        }
        let line = unverified_line(self.unverified, self.language);
        let flagged = framed + line.as_ref().map_or(0, |line| GAP.len() + utf16_len(line));
        let (line, used) = if flagged > self.room { (None, framed) } else { (line, flagged) };
        let free = self.room.saturating_sub(used + GAP.len());
        let ledger = ledger_text(self.ledger, self.language, self.budget.of(self.region).min(free));
        let mut head = format!("{frame}{GAP}{prose}");
        head.extend(line.map(|line| format!("{GAP}{line}")));
        self.joined(head, quotes, &ledger)
    }

    fn receipt(&self, frame: String, quotes: Vec<Piece>, quoted: usize) -> Composed {
        let free = self.room.saturating_sub(utf16_len(&frame) + quoted);
        // The model's last words are worth a quarter of what there is.
        let most = self.budget.of(self.region).min(free - free / 4);
        let ledger = ledger_text(self.ledger, self.language, most.saturating_sub(GAP.len()));
        let taken = if ledger.is_empty() { 0 } else { GAP.len() + utf16_len(&ledger) };
        let left = free.saturating_sub(taken + GAP.len());
        let words = receipt(self.objective, self.last_words, self.language, left);
        let head = if words.is_empty() { frame } else { format!("{frame}{GAP}{words}") };
        self.joined(head, quotes, &ledger)
    }

    fn joined(&self, head: String, quotes: Vec<Piece>, ledger: &str) -> Composed {
        let mut pieces = vec![Piece::Text(head)];
        pieces.extend(quotes);
        if !ledger.is_empty() {
            pieces.push(Piece::Text(format!("{GAP}{ledger}")));
        }
        let chars = pieces.iter().map(|piece| self.length(piece)).sum();
        Composed { pieces, chars }
    }

    fn quotes(&self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for index in 0..self.quotes.len() {
            let before = match index {
                0 => format!("{GAP}{}\n", Section::Quotes.heading(self.language)),
                _ => GAP.to_owned(),
            };
            pieces.push(Piece::Text(before));
            pieces.push(Piece::Quote(u32::try_from(index).unwrap_or(u32::MAX)));
        }
        pieces
    }

    fn length(&self, piece: &Piece) -> usize {
        match piece {
            Piece::Text(text) => utf16_len(text),
            Piece::Quote(index) => {
                let quote = usize::try_from(*index).ok().and_then(|at| self.quotes.get(at));
                quote.map_or(0, |chars| usize::try_from(*chars).unwrap_or(usize::MAX))
            }
        }
    }
}

/// The prose with every line quoted that only code may write: a model that has seen an older report imitates
/// its frame and its ledger, and the reader could not tell which is the log's.
fn quoted_headings(prose: &str) -> String {
    let forged = |line: &str| {
        line.trim_start().starts_with("[rewind report of mark ")
            || Section::parse(line).is_some_and(Section::is_by_code)
    };
    if !prose.lines().any(forged) {
        return prose.to_owned();
    }
    let lines: Vec<String> = prose
        .lines()
        .map(|line| {
            if forged(line) { format!("> {}", line.trim_start_matches('#').trim()) } else { line.to_owned() }
        })
        .collect();
    lines.join("\n")
}

/// The line under the report that lists what was nowhere; `None` where everything was found.
#[must_use]
pub fn unverified_line(unverified: &[Claim], language: Language) -> Option<String> {
    if unverified.is_empty() {
        return None;
    }
    let mut line = match language {
        Language::En => "Unverified (found nowhere in the folded steps or before them):".to_owned(),
        Language::Zh => "未经证实（在被折叠的步骤及其之前均未出现）：".to_owned(),
    };
    for (index, claim) in unverified.iter().enumerate() {
        let item = format!("{} {}", if index == 0 { "" } else { ";" }, one_line(&claim.text));
        if utf16_len(&line) + utf16_len(&item) > UNVERIFIED {
            let more = unverified.len() - index;
            line.push_str(&match language {
                Language::En => format!("; and {more} more"),
                Language::Zh => format!("；另有 {more} 项"),
            });
            break;
        }
        line.push_str(&item);
    }
    Some(line)
}
