//! The one line that says what a landed message is.

use super::language::Language;
use crate::event::utf16_len;

/// What a report says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The mark's id.
    pub mark: String,
    /// Folded steps: assistant messages, or the results alone where only a carrier's other calls were folded.
    pub steps: u32,
    /// First folded seq in surface order.
    pub start: u32,
    /// Last folded seq in surface order.
    pub end: u32,
    /// Whether code alone made the report.
    pub receipt: bool,
}

/// Longest frame, UTF-16 code units.
pub const FRAME: usize = 120;

/// The fixed opening by which a message, or a rewritten result, is the report of a mark (docs/rewind.md 1.3).
#[must_use]
pub fn opening(mark: &str) -> String {
    format!("[rewind report of mark {mark}]")
}

impl Frame {
    /// The longest form that keeps to [`FRAME`]; a mark id that leaves no room gets the opening alone.
    #[must_use]
    pub fn line(&self, language: Language) -> String {
        let opening = opening(&self.mark);
        self.forms(language)
            .into_iter()
            .map(|rest| format!("{opening} {rest}"))
            .find(|line| utf16_len(line) <= FRAME)
            .unwrap_or(opening)
    }

    fn forms(&self, language: Language) -> [String; 3] {
        let Self { steps, start, end, .. } = self;
        let counted = if *steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
        let one = start == end;
        let to = match language {
            Language::En => "to",
            Language::Zh => "至",
        };
        let span = if one { format!("{start}") } else { format!("{start} {to} {end}") };
        let short = if one { format!("{start}") } else { format!("{start}-{end}") };
        match (language, self.receipt) {
            (Language::En, false) => [
                format!("{counted} folded, log seq {span}; the checkpoint is complete."),
                format!("{counted}, seq {short}; complete."),
                "complete.".to_owned(),
            ],
            (Language::En, true) => [
                format!("{counted} folded, log seq {span}, by code alone; the checkpoint is complete."),
                format!("{counted}, seq {short}, by code; complete."),
                "complete.".to_owned(),
            ],
            (Language::Zh, false) => [
                format!("已折叠 {steps} 步，日志 seq {span}；该检查点已完成。"),
                format!("{steps} 步，seq {short}；已完成。"),
                "已完成。".to_owned(),
            ],
            (Language::Zh, true) => [
                format!("已折叠 {steps} 步，日志 seq {span}，仅由代码生成；该检查点已完成。"),
                format!("{steps} 步，seq {short}，由代码生成；已完成。"),
                "已完成。".to_owned(),
            ],
        }
    }
}
