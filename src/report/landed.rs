//! The text that lands: frame, prose, persons' quotes, and the one-line pointers (spec/rewind.md 1.3, 1.6, 3.2).

/// Language of the texts this package writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// English.
    En,
    /// Chinese.
    Zh,
}

/// A part of a composed text. Persons' words stay in JavaScript, byte for byte, and are named by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text written here.
    Text(String),
    /// The quote of this index, already prefixed line by line.
    Quote(u32),
}

/// Length in UTF-16 code units, which is what JavaScript's `.length` and the token meter count.
#[must_use]
pub fn utf16(text: &str) -> u32 {
    u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX)
}

/// The fixed opening that makes a rewritten result the report of a mark.
#[must_use]
pub fn opening(mark: &str) -> String {
    format!("[rewind report of mark {mark}]")
}

/// The line an earlier segment becomes.
#[must_use]
pub fn pointer(mark: &str, language: Language) -> String {
    match language {
        Language::En => format!("[steps of mark {mark} folded; their report stands below]"),
        Language::Zh => format!("[标记 {mark} 的步骤已折叠；报告见下文]"),
    }
}

/// The line a rewritten sibling's content becomes.
#[must_use]
pub fn sibling(mark: &str, language: Language) -> String {
    match language {
        Language::En => format!("[result folded; see the rewind report of mark {mark} below]"),
        Language::Zh => format!("[结果已折叠；见下文标记 {mark} 的报告]"),
    }
}

/// What a report says about itself.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// The mark's id.
    pub mark: &'a str,
    /// Folded nodes.
    pub nodes: u32,
    /// First folded seq.
    pub start: u32,
    /// Last folded seq.
    pub end: u32,
    /// Whether the report becomes the content of a result, where the opening is what makes it a report.
    pub in_place: bool,
    /// Language of the frame.
    pub language: Language,
}

/// The frame: one line that says what the message is.
#[must_use]
pub fn frame(facts: &Facts<'_>) -> String {
    let Facts { mark, nodes, start, end, .. } = facts;
    let opening = opening(mark);
    match facts.language {
        Language::En => {
            format!("{opening} {nodes} steps folded (seq {start} to {end}); this checkpoint is complete.")
        }
        Language::Zh => format!("{opening} 已折叠 {nodes} 步（seq {start} 至 {end}）；此检查点已完成。"),
    }
}

/// Composes the landed report: as much as fits in `room` code units, prose and quotes always.
#[must_use]
pub fn compose(facts: &Facts<'_>, prose: &str, quotes: &[u32], room: u32) -> (Vec<Piece>, u32) {
    let mut tail = Vec::new();
    let mut chars = 0;
    if !quotes.is_empty() {
        let heading = match facts.language {
            Language::En => "\n\n## The person said meanwhile, word for word",
            Language::Zh => "\n\n## 期间用户原话",
        };
        chars += utf16(heading);
        tail.push(Piece::Text(heading.to_owned()));
        for (index, &length) in quotes.iter().enumerate() {
            tail.push(Piece::Text("\n".to_owned()));
            tail.push(Piece::Quote(u32::try_from(index).unwrap_or(u32::MAX)));
            chars = chars.saturating_add(length).saturating_add(1);
        }
    }
    let prose = prose.trim();
    let minimal = if facts.in_place { opening(facts.mark) } else { String::new() };
    let head = [frame(facts), minimal]
        .into_iter()
        .map(|line| if line.is_empty() { prose.to_owned() } else { format!("{line}\n{prose}") })
        .collect::<Vec<_>>();
    let fits = |text: &String| utf16(text).saturating_add(chars) <= room;
    let text = match head.iter().position(fits) {
        Some(at) => head[at].clone(),
        None => head[head.len() - 1].clone(),
    };
    let total = utf16(&text).saturating_add(chars);
    let mut pieces = vec![Piece::Text(text)];
    pieces.extend(tail);
    (pieces, total)
}
