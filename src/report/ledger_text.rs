//! The ledger as text, within a budget: fixed headings, a seq on every line, the least valuable lines first out.

use super::language::{Language, Section};
use super::ledger::{Kind, Ledger, Line};
use super::outcome::Outcome;
use crate::event::utf16_len;
use crate::sorted::in_order;

/// How much of a report the ledger may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LedgerBudget {
    /// Share of the folded region's text, from 0 to 1.
    pub share: f64,
    /// Hard cap in UTF-16 code units.
    pub cap: usize,
}

impl LedgerBudget {
    /// UTF-16 code units that the ledger of a region of `chars` may take.
    #[must_use]
    pub fn of(&self, chars: usize) -> usize {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a text length; `as` saturates"
        )]
        let share = (chars as f64 * self.share.clamp(0.0, 1.0)) as usize;
        share.min(self.cap)
    }
}

const ORDER: [(Kind, Section); 9] = [
    (Kind::Read, Section::Read),
    (Kind::Written, Section::Written),
    (Kind::Command, Section::Commands),
    (Kind::Search, Section::Searches),
    (Kind::EmptySearch, Section::EmptySearches),
    (Kind::Error, Section::Errors),
    (Kind::Effect, Section::Effects),
    (Kind::Told, Section::Told),
    (Kind::Stopped, Section::Stopped),
];

struct Row<'l> {
    line: &'l Line,
    place: usize,
    text: String,
    chars: usize,
}

/// Writes the ledger within `room` UTF-16 code units; empty where not even one line fits or there is no fact.
#[must_use]
pub fn ledger_text(ledger: &Ledger, language: Language, room: usize) -> String {
    let mut rows = rows(ledger, language);
    if rows.is_empty() {
        return String::new();
    }
    let opening = format!("{}\n{}", Section::Evidence.heading(language), legend(language));
    let order = in_order(rows.iter().map(|row| row.line.rank()).enumerate(), |one| one.1);
    let mut kept = vec![true; rows.len()];
    let mut left_out = ledger.left_out();
    let mut worst = order.into_iter().map(|(at, _)| at);
    loop {
        let length = utf16_len(&opening) + length(&rows, &kept, language, left_out);
        if length <= room {
            break;
        }
        // Several at a time where much is over, so that a long ledger is not measured line by line.
        let mut over = length - room;
        loop {
            let Some(at) = worst.next() else { return String::new() };
            if let (Some(flag), Some(row)) = (kept.get_mut(at), rows.get(at)) {
                *flag = false;
                left_out += 1;
                over = over.saturating_sub(row.chars + 1);
            }
            if over == 0 {
                break;
            }
        }
    }
    let mut flags = kept.into_iter();
    rows.retain(|_| flags.next().unwrap_or_default());
    write(opening, &rows, language, left_out)
}

fn rows(ledger: &Ledger, language: Language) -> Vec<Row<'_>> {
    let mut rows = Vec::with_capacity(ledger.len());
    for (place, (kind, _)) in ORDER.iter().enumerate() {
        for line in ledger.of(*kind).filter(|line| !is_told_elsewhere(ledger, line)) {
            let text = line_text(line, language);
            rows.push(Row { chars: utf16_len(&text), line, place, text });
        }
    }
    rows
}

/// A file that was written needs no line for having been read; a command that is an effect as a whole, none
/// for having been run.
fn is_told_elsewhere(ledger: &Ledger, line: &Line) -> bool {
    match line.kind {
        Kind::Read => ledger.has(Kind::Written, &line.what),
        Kind::Command => ledger.has(Kind::Effect, &line.what),
        _ => false,
    }
}

/// Length of everything after the opening.
fn length(rows: &[Row<'_>], kept: &[bool], language: Language, left_out: u32) -> usize {
    let mut total = 0;
    let mut section = None;
    for (row, _) in rows.iter().zip(kept).filter(|(_, kept)| **kept) {
        if section != Some(row.place) {
            section = Some(row.place);
            total += 1 + heading(row.place, language).map_or(0, |heading| utf16_len(&heading));
        }
        total += 1 + row.chars;
    }
    if left_out > 0 { total + 1 + utf16_len(&left_out_line(left_out, language)) } else { total }
}

fn write(mut text: String, rows: &[Row<'_>], language: Language, left_out: u32) -> String {
    let mut section = None;
    for row in rows {
        if section != Some(row.place) {
            section = Some(row.place);
            text.push('\n');
            text.push_str(&heading(row.place, language).unwrap_or_default());
        }
        text.push('\n');
        text.push_str(&row.text);
    }
    if left_out > 0 {
        text.push('\n');
        text.push_str(&left_out_line(left_out, language));
    }
    text
}

fn heading(place: usize, language: Language) -> Option<String> {
    ORDER.get(place).map(|(_, section)| section.heading(language))
}

fn legend(language: Language) -> &'static str {
    match language {
        Language::En => "Made by code from the log; [s12] is log seq 12.",
        Language::Zh => "由代码依据日志生成；[s12] 指日志 seq 12。",
    }
}

fn left_out_line(count: u32, language: Language) -> String {
    match (language, count) {
        (Language::En, 1) => "(1 less important line left out)".to_owned(),
        (Language::En, _) => format!("({count} less important lines left out)"),
        (Language::Zh, _) => format!("（另有 {count} 行次要内容从略）"),
    }
}

/// One line. Words that came out of tools, and the model's own, stand as quotation.
fn line_text(line: &Line, language: Language) -> String {
    let seq = line.last();
    let times = if line.times > 1 { format!(" ×{}", line.times) } else { String::new() };
    let what = &line.what;
    match line.kind {
        Kind::Error | Kind::Told => format!("> [s{seq}]{times} {what}"),
        Kind::Stopped if line.outcome == Outcome::Said => format!("- {} [s{seq}]", said(language)),
        Kind::Read if line.outcome == Outcome::Ok => format!("- {what} [s{seq}]{times}"),
        Kind::EmptySearch if line.outcome == Outcome::Found(0) => format!("- {what} [s{seq}]{times}"),
        _ => format!("- {what} → {} [s{seq}]{times}", outcome(line.outcome, language)),
    }
}

fn said(language: Language) -> &'static str {
    match language {
        Language::En => "after the last answer",
        Language::Zh => "在最后一次答复之后",
    }
}

/// How a call ended, in words.
#[must_use]
pub fn outcome(outcome: Outcome, language: Language) -> String {
    let (en, zh) = match outcome {
        Outcome::Exit(code) => return exit(code, language),
        Outcome::Found(count) => return found(count, language),
        Outcome::Ok => ("ok", "成功"),
        Outcome::Created => ("created", "已新建"),
        Outcome::Edited => ("edited", "已修改"),
        Outcome::Deleted => ("deleted", "已删除"),
        Outcome::Moved => ("moved here", "已移至此处"),
        Outcome::TimedOut => ("timed out", "超时"),
        Outcome::Killed => ("killed", "被终止"),
        Outcome::Failed => ("failed", "失败"),
        Outcome::Background => ("runs in the background", "后台运行中"),
        Outcome::Unanswered => ("no result", "没有结果"),
        Outcome::Said => ("said", "已说明"),
    };
    match language {
        Language::En => en.to_owned(),
        Language::Zh => zh.to_owned(),
    }
}

fn exit(code: i32, language: Language) -> String {
    match language {
        Language::En => format!("exit {code}"),
        Language::Zh => format!("退出码 {code}"),
    }
}

fn found(count: u32, language: Language) -> String {
    match (language, count) {
        (Language::En, 0) => "nothing".to_owned(),
        (Language::En, _) => format!("{count} found"),
        (Language::Zh, 0) => "无结果".to_owned(),
        (Language::Zh, _) => format!("{count} 条"),
    }
}
