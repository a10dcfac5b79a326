//! A session written by hand, as the events a harness would log.

use serde_json::{Value, json};
use tool_rewind::event::parse_events;
use tool_rewind::prune::evidence::{DEFAULT_PATTERNS, Evidence};
use tool_rewind::prune::tools::{READ_ONLY, Tools, WRITE};
use tool_rewind::prune::view::{View, ViewError};

/// What a call gave.
pub(crate) enum Gave<'a> {
    Text(&'a str),
    Error(&'a str),
    Blocks(Value),
}

impl<'a> From<&'a str> for Gave<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

/// Surface events in surface order, and the sources behind rewritten ones.
#[derive(Default, Clone)]
pub(crate) struct Session {
    pub(crate) surface: Vec<Value>,
    pub(crate) sources: Vec<Value>,
    next: u32,
}

impl Session {
    pub(crate) fn from_seq(seq: u32) -> Self {
        Self { next: seq, ..Self::default() }
    }

    fn push(&mut self, kind: &str, data: Value) -> u32 {
        let seq = self.next;
        self.next += 1;
        self.surface.push(json!({ "seq": seq, "type": kind, "surfaceOp": "append", "data": data }));
        seq
    }

    pub(crate) fn user(&mut self, text: &str) -> u32 {
        self.push(
            "user/message",
            json!({ "content": [{ "type": "text", "text": text }], "source": { "kind": "user" } }),
        )
    }

    /// An assistant message with text, reasoning and calls `(id, tool, arguments)`.
    pub(crate) fn head(&mut self, text: &str, reasoning: &str, calls: &[(&str, &str, &str)]) -> u32 {
        let mut content = Vec::new();
        if !reasoning.is_empty() {
            content.push(json!({ "type": "reasoning", "text": reasoning }));
        }
        if !text.is_empty() {
            content.push(json!({ "type": "text", "text": text }));
        }
        for (id, name, arguments) in calls {
            content.push(json!({ "type": "tool-call", "id": id, "name": name, "arguments": arguments }));
        }
        self.push("assistant/message", json!({ "turn": 1, "step": 1, "message": { "content": content } }))
    }

    pub(crate) fn result<'a>(&mut self, id: &str, gave: impl Into<Gave<'a>>) -> u32 {
        let (content, is_error) = match gave.into() {
            Gave::Text(text) => (json!([{ "type": "text", "text": text }]), false),
            Gave::Error(text) => (json!([{ "type": "text", "text": text }]), true),
            Gave::Blocks(blocks) => (blocks, false),
        };
        self.next += 1; // the log-only tool/call event
        self.push(
            "tool/result",
            json!({ "message": { "source": { "kind": "tool", "callId": id }, "content": [
                { "type": "tool-result", "toolCallId": id, "isError": is_error, "content": content }] } }),
        )
    }

    /// One call with its result; the seq of the result.
    pub(crate) fn step<'a>(&mut self, tool: &str, arguments: &str, gave: impl Into<Gave<'a>>) -> u32 {
        let id = format!("c{}", self.next);
        self.head("", "", &[(&id, tool, arguments)]);
        self.result(&id, gave)
    }

    /// Rewrites the body of a result in place, as a prune does; the seq of the replacement.
    pub(crate) fn rewrite(&mut self, seq: u32, text: &str) -> u32 {
        let place = self.surface.iter().position(|event| event["seq"] == seq).unwrap();
        let old = self.surface[place].clone();
        let mut new = old.clone();
        self.next += 1;
        new["seq"] = json!(self.next);
        new["surfaceOp"] = json!({ "op": "replace", "start": seq, "end": seq });
        new["sourceEventSeqs"] = json!([seq]);
        new["data"]["message"]["content"][0]["content"] = json!([{ "type": "text", "text": text }]);
        self.surface[place] = new;
        self.sources.push(old);
        self.next += 1;
        self.next - 1
    }

    pub(crate) fn try_view(&self) -> Result<View, ViewError> {
        let (surface, sources) = (json!(self.surface).to_string(), json!(self.sources).to_string());
        View::build(&parse_events(&surface)?, &parse_events(&sources)?, str::to_owned)
    }

    pub(crate) fn view(&self) -> View {
        self.try_view().unwrap()
    }
}

pub(crate) fn tools() -> Tools {
    Tools::new(&READ_ONLY, &WRITE, &["Write", "NotebookEdit"])
}

pub(crate) fn evidence() -> Evidence {
    Evidence::new(&DEFAULT_PATTERNS).unwrap()
}
