//! Is this answer a report? (docs/rewind.md 2.4)

use serde_json::Value;

/// How the model's stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// Normally.
    Stop,
    /// To call tools.
    ToolCalls,
    /// Cut by the output budget.
    MaxTokens,
    /// The provider failed.
    Error,
    /// The provider reported a cancelled call.
    Aborted,
}

/// One completion of the report call.
#[derive(Debug, Clone)]
pub struct Answer {
    /// How the stream ended.
    pub finish: Finish,
    /// All visible text.
    pub text: String,
    /// Whether the answer holds a tool call.
    pub calls_tools: bool,
    /// The provider's own message and code, where it failed.
    pub failure: Option<String>,
    /// Output tokens, where reported.
    pub output_tokens: Option<u32>,
    /// Reasoning tokens among them, where reported.
    pub reasoning_tokens: Option<u32>,
}

/// What an answer is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// A report.
    Report,
    /// Cut by the budget: ask again with a larger one. The reason is a sentence part.
    Cut(String),
    /// Not a report: ask again. The reason is a sentence part.
    Unusable(String),
    /// The provider failed: do not ask again. The reason is a sentence part.
    Failed(String),
}

/// Judges an answer.
#[must_use]
pub fn judge(answer: &Answer) -> Verdict {
    let usage = usage(answer);
    let text = answer.text.trim();
    match answer.finish {
        Finish::Error | Finish::Aborted => {
            let word = if answer.finish == Finish::Error { "error" } else { "aborted" };
            let detail = answer.failure.as_deref().unwrap_or("the provider gave no reason");
            Verdict::Failed(format!("the model call ended with finish reason {word}: {detail}"))
        }
        Finish::MaxTokens => {
            Verdict::Cut(format!("the answer was cut by the output budget (finish reason max-tokens{usage})"))
        }
        Finish::ToolCalls => Verdict::Unusable(format!(
            "the model called tools instead of reporting (finish reason tool-calls{usage})"
        )),
        Finish::Stop if answer.calls_tools => Verdict::Unusable(format!(
            "the model called tools instead of reporting (finish reason stop{usage})"
        )),
        Finish::Stop if !is_visible(text) => {
            Verdict::Unusable(format!("the answer had no visible text (finish reason stop{usage})"))
        }
        Finish::Stop if is_markup(text) => Verdict::Unusable(format!(
            "the answer was tool-call markup, not prose (finish reason stop{usage})"
        )),
        Finish::Stop if is_repetition(text) => Verdict::Unusable(format!(
            "the answer repeated the same lines over and over (finish reason stop{usage})"
        )),
        Finish::Stop => Verdict::Report,
    }
}

fn usage(answer: &Answer) -> String {
    let mut parts = String::new();
    if let Some(output) = answer.output_tokens {
        parts.push_str(&format!(", {output} output tokens"));
    }
    if let Some(reasoning) = answer.reasoning_tokens {
        parts.push_str(&format!(", {reasoning} of them reasoning"));
    }
    parts
}

/// Whether a reader would see anything: white space, controls and characters of no width are nothing.
fn is_visible(text: &str) -> bool {
    let unseen = |c: char| {
        let no_width = matches!(
            c,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
        );
        no_width || c.is_whitespace() || c.is_control()
    };
    !text.chars().all(unseen)
}

/// Openings of raw tool-call markup that models print when a template leaks.
const MARKUP: [&str; 7] =
    ["<｜DSML｜", "<|DSML|", "<｜tool", "<|tool_call", "<tool_call", "<function_calls>", "<function="];

fn is_markup(text: &str) -> bool {
    // A report may quote markup inside a line; a line that opens with it is the markup itself.
    let leaks = |line: &str| MARKUP.iter().any(|opening| line.trim_start().starts_with(opening));
    text.lines().any(leaks) || is_bare_call(unfenced(text))
}

/// The inside of a text that is one fenced block; otherwise the text.
fn unfenced(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else { return text };
    inner.split_once('\n').map_or(inner, |(_, body)| body).trim()
}

/// JSON and nothing else, every value of it a call: one, a list, or one a line.
fn is_bare_call(text: &str) -> bool {
    if !text.starts_with(['{', '[']) {
        return false;
    }
    serde_json::Deserializer::from_str(text).into_iter::<Value>().all(|value| match value {
        Ok(Value::Array(items)) => !items.is_empty() && items.iter().all(is_call),
        Ok(value) => is_call(&value),
        Err(_) => false,
    })
}

fn is_call(value: &Value) -> bool {
    let named = |value: &Value| value.get("name").is_some() && value.get("arguments").is_some();
    named(value) || value.get("function").is_some_and(named)
}

/// Fewer distinct lines than a tenth of all: a model that fell into a loop (case S6).
fn is_repetition(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let distinct: std::collections::HashSet<&str> = lines.iter().copied().collect();
    lines.len() >= 20 && distinct.len() * 10 < lines.len()
}
