//! Report languages: which one a session's persons write, and the fixed headings of both.

use serde::{Deserialize, Serialize};

/// Language of the texts this package writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

/// One message counts at most this many code points, so that a pasted log cannot outvote its owner.
const MESSAGE_LIMIT: usize = 2000;

impl Language {
    /// The language of a person's own messages: Chinese where at least two fifths of what they wrote is Han.
    ///
    /// A Han character weighs as much as a word of another script. Fenced blocks, code spans, URLs and names
    /// with a dot, slash or underscore are no language; text with kana is Japanese, so not Chinese.
    #[must_use]
    pub fn of_messages<'a>(messages: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut han, mut words, mut kana) = (0_usize, 0_usize, 0_usize);
        for message in messages {
            let plain = without_code(message);
            for token in plain.split_whitespace().filter(|token| !token.contains(['/', '\\', '_', '@'])) {
                let mut in_word = false;
                for c in token.chars() {
                    let letter = c.is_alphabetic();
                    if is_han(c) {
                        han += 1;
                    } else if is_kana(c) {
                        kana += 1;
                    } else if letter && !in_word {
                        words += 1;
                    }
                    in_word = letter && !is_han(c) && !is_kana(c) || in_word && is_joiner(c);
                }
            }
        }
        if kana * 5 <= han && han > 0 && han * 3 >= words * 2 { Self::Zh } else { Self::En }
    }
}

/// A message up to its limit, without fenced blocks and code spans.
fn without_code(message: &str) -> String {
    let mut plain = String::new();
    let mut left = MESSAGE_LIMIT;
    let mut fenced = false;
    for line in message.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        for (index, part) in line.split('`').enumerate() {
            if index % 2 == 1 {
                continue;
            }
            for c in part.chars() {
                if left == 0 {
                    return plain;
                }
                left -= 1;
                plain.push(c);
            }
        }
        plain.push('\n');
    }
    plain
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

fn is_kana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}')
}

/// Marks that hold a word together: `don't`, `file.rs`, `read-only`.
fn is_joiner(c: char) -> bool {
    matches!(c, '\'' | '’' | '.' | '-') || c.is_ascii_digit()
}

/// A section of a landed report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// What the exploration was for.
    Objective,
    /// What is known now.
    Findings,
    /// What was changed or finished.
    Done,
    /// What was tried and failed.
    DeadEnds,
    /// What is left.
    Open,
    /// The model's last words, in a report made without one.
    LastWords,
    /// Persons' words that were folded with an open pair.
    Quotes,
    /// The evidence ledger, made by code.
    Evidence,
    /// Files and pages read.
    Read,
    /// Files written, edited, moved or deleted.
    Written,
    /// Commands and other calls, with outcome.
    Commands,
    /// Searches that found something.
    Searches,
    /// Searches that found nothing.
    EmptySearches,
    /// Error lines.
    Errors,
    /// Effects outside the session.
    Effects,
    /// What the person was told already.
    Told,
    /// Where the exploration stopped.
    Stopped,
}

/// Heading levels: prose sections and the ledger itself are `##`, parts of the ledger are `###`.
const HEADINGS: [(Section, &str, &str); 17] = [
    (Section::Objective, "Objective", "目标"),
    (Section::Findings, "Findings", "发现"),
    (Section::Done, "Done", "已完成"),
    (Section::DeadEnds, "Dead ends", "死路"),
    (Section::Open, "Open", "待办"),
    (Section::LastWords, "Last words before the fold", "折叠前的最后发言"),
    (Section::Quotes, "The person said meanwhile, word for word", "期间用户原话"),
    (Section::Evidence, "Evidence from the log", "日志证据"),
    (Section::Read, "Read", "已读取"),
    (Section::Written, "Written or edited", "已写入或修改"),
    (Section::Commands, "Commands and calls", "命令与调用"),
    (Section::Searches, "Searches", "搜索"),
    (Section::EmptySearches, "Searches that found nothing", "无结果的搜索"),
    (Section::Errors, "Errors", "错误"),
    (Section::Effects, "Effects outside the session", "会话之外的影响"),
    (Section::Told, "Already told to the person", "已告知用户"),
    (Section::Stopped, "Where it stopped", "停止位置"),
];

impl Section {
    /// The heading's words, without markup.
    #[must_use]
    pub fn title(self, language: Language) -> &'static str {
        let row = HEADINGS.iter().find(|(section, ..)| *section == self);
        match (row, language) {
            (Some((_, en, _)), Language::En) => en,
            (Some((_, _, zh)), Language::Zh) => zh,
            (None, _) => "",
        }
    }

    /// Whether code alone writes the section; a model that writes its heading is imitating an older report.
    #[must_use]
    pub fn is_by_code(self) -> bool {
        self >= Self::Quotes
    }

    /// The heading line as it lands.
    #[must_use]
    pub fn heading(self, language: Language) -> String {
        let level = if self > Self::Evidence { "###" } else { "##" };
        format!("{level} {}", self.title(language))
    }

    /// Reads a heading line of either language: level, emphasis, case and a closing colon do not matter.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        let marked = line.starts_with('#');
        let bare = line.trim_start_matches('#').trim_matches(|c: char| c.is_whitespace() || c == '*');
        let closed = bare.ends_with([':', '：']) || line.ends_with("**");
        if !marked && !closed {
            return None;
        }
        let title = bare.trim_end_matches([':', '：']).trim_matches(|c: char| c.is_whitespace() || c == '*');
        let found = HEADINGS.iter().find(|(_, en, zh)| title.eq_ignore_ascii_case(en) || title == *zh);
        found.map(|(section, ..)| *section)
    }
}
