//! The text of a receipt: facts computed by code, the model's words quoted, nothing inferred
//! (docs/prune.md 3.6). The same surface gives the same bytes.
//!
//! Every quoted text is put on one line behind words of the receipt's own, so nothing in it can begin a
//! line and pass for a fact, a marker or a tag.

use super::arguments;
use super::marks::{HEADER_EN, HEADER_ZH};
use super::text::{clip, one_line};
use super::view::{Head, Node, Outcome, Said, Step, View};
use serde::Deserialize;

/// The language of a receipt's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English.
    En,
    /// Chinese.
    Zh,
}

/// How a receipt is written.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// The language.
    pub language: Language,
    /// Code points shown of a call's arguments.
    pub arg_chars: usize,
    /// Code points quoted of a step's visible text; 0 quotes none.
    pub text_chars: usize,
    /// Whether the text will stand between compaction's own tags, which quoted text must not close.
    pub framed: bool,
}

impl Style {
    fn en(&self) -> bool {
        self.language == Language::En
    }

    fn quoted(&self, text: &str) -> String {
        if self.framed {
            text.replace("</compacted-summary>", "< /compacted-summary>")
        } else {
            text.to_owned()
        }
    }
}

/// The receipt of complete steps that stand side by side.
#[must_use]
pub fn render_full(view: &View, steps: &[Step], style: &Style) -> String {
    let facts: Vec<Fact<'_>> = steps.iter().flat_map(|step| facts(view, step)).collect();
    let calls = facts.iter().filter(|fact| matches!(fact, Fact::Call { .. })).count();
    let chars: usize = facts.iter().map(Fact::chars).sum();
    let seqs: Vec<u32> = facts.iter().map(Fact::seq).collect();
    let (start, end) = (seqs.first().copied().unwrap_or(0), seqs.last().copied().unwrap_or(0));
    let mut lines = if style.en() {
        let plural = if calls == 1 { "" } else { "s" };
        vec![
            format!(
                "{HEADER_EN} The earlier history s{start}–s{end} was {calls} tool call{plural} (about {chars} \
                 characters of output),"
            ),
            "moved out to free context. What follows is a list of facts (tool names, arguments, character counts \
             and seqs computed by code; the model's words quoted verbatim, nothing inferred):"
                .to_owned(),
        ]
    } else {
        vec![
            format!("{HEADER_ZH} 原历史 s{start}–s{end} 是 {calls} 次工具调用（共约 {chars} 字符输出），"),
            "为释放上下文已移出。以下为事实清单（工具名/入参/字符数/seq 由代码算出；模型原话逐字引用，不含任何推断）："
                .to_owned(),
        ]
    };
    lines.extend(facts.iter().filter_map(|fact| fact.line(style)));
    let places = places(&seqs);
    lines.push(if style.en() {
        format!(
            "The original events stand whole in the session log (seqs {places}). When the content is needed, run \
             the same command or read the same file again; this receipt does not interpret it."
        )
    } else {
        format!("原始事件仍完整保存在会话日志中（seqs {places}）。需要内容时重跑相同命令/读取相同文件即可；本回执不含对内容的解释。")
    });
    lines.join("\n")
}

/// The receipt that takes the place of one result's body; its call stays beside it.
#[must_use]
pub fn render_partial(view: &View, outcome: &Outcome, style: &Style) -> String {
    let fact = call_fact(view, outcome).text(style);
    let seq = outcome.origin;
    if style.en() {
        format!("{HEADER_EN} {fact}. Original in the session log (seq {seq}).")
    } else {
        format!("{HEADER_ZH} {fact}。原始内容仍在会话日志中（seq {seq}）。")
    }
}

/// One line of a receipt.
enum Fact<'a> {
    /// What the model said before its calls.
    Words { seq: u32, text: &'a str },
    /// A call and the size of what it gave.
    Call { seq: u32, tool: &'a str, arguments: &'a str, chars: usize, is_error: bool },
}

impl Fact<'_> {
    fn seq(&self) -> u32 {
        match self {
            Self::Words { seq, .. } | Self::Call { seq, .. } => *seq,
        }
    }

    fn chars(&self) -> usize {
        match self {
            Self::Words { .. } => 0,
            Self::Call { chars, .. } => *chars,
        }
    }

    /// The line, or `None` for a head that said nothing.
    fn line(&self, style: &Style) -> Option<String> {
        match self {
            Self::Words { text, .. } if clip(&one_line(text), style.text_chars).is_empty() => None,
            _ => Some(format!("· {}", self.text(style))),
        }
    }

    fn text(&self, style: &Style) -> String {
        match self {
            Self::Words { seq, text } => {
                let quote = style.quoted(&clip(&one_line(text), style.text_chars));
                if style.en() {
                    format!("s{seq} the model's words (verbatim): {quote}")
                } else {
                    format!("s{seq} 模型原话（逐字引用）：{quote}")
                }
            }
            Self::Call { seq, tool, arguments, chars, is_error } => {
                let tool = style.quoted(&one_line(tool));
                let arguments = style.quoted(&arguments::shown(arguments, style.arg_chars));
                let (colon, error, unit) = if style.en() {
                    (": ", "error, ", "chars")
                } else {
                    ("：", "出错，", "字符输出")
                };
                let colon = if arguments.is_empty() { "" } else { colon };
                let error = if *is_error { error } else { "" };
                format!("s{seq} {tool}{colon}{arguments} → {error}{chars} {unit}")
            }
        }
    }
}

fn facts<'a>(view: &'a View, step: &Step) -> impl Iterator<Item = Fact<'a>> {
    view.nodes.iter().skip(step.head).take(step.results + 1).filter_map(|node| match &node.said {
        Said::Assistant(head) => Some(words(node, head)),
        Said::Result(outcome) => Some(call_fact(view, outcome)),
        Said::User { .. } => None,
    })
}

fn words<'a>(node: &Node, head: &'a Head) -> Fact<'a> {
    Fact::Words { seq: node.seq, text: &head.text }
}

fn call_fact<'a>(view: &'a View, outcome: &Outcome) -> Fact<'a> {
    let call = view.call_of(outcome);
    Fact::Call {
        seq: outcome.origin,
        tool: call.map_or("", |call| &call.tool),
        arguments: call.map_or("", |call| &call.arguments),
        chars: outcome.origin_chars,
        is_error: outcome.is_error,
    }
}

/// `25–27` for seqs that rise, else every one of them: a surface need not be in log order.
fn places(seqs: &[u32]) -> String {
    match seqs {
        [first, .., last] if seqs.windows(2).all(|pair| matches!(pair, [a, b] if a < b)) => {
            format!("{first}–{last}")
        }
        _ => seqs.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    }
}
