//! A small log to read: events are written as a session writes them, seqs count up.

use serde_json::{Value, json};
use tool_rewind::event::parse_events;
use tool_rewind::report::gather::{Gathered, Gatherer};
use tool_rewind::report::ledger::{Kind, Line};
use tool_rewind::report::tools::Tools;

/// Events of a region, from seq 10 on.
#[derive(Default)]
pub(crate) struct Log(Vec<Value>);

impl Log {
    fn push(mut self, kind: &str, data: Value) -> Self {
        let seq = 10 + self.0.len();
        self.0.push(json!({ "type": kind, "seq": seq, "surfaceOp": "append", "data": data }));
        self
    }

    /// One assistant message that says `text` (where not empty) and makes `calls`: id, tool, arguments.
    pub(crate) fn says(self, text: &str, calls: &[(&str, &str, Value)]) -> Self {
        let mut content = Vec::new();
        if !text.is_empty() {
            content.push(json!({ "type": "text", "text": text }));
        }
        content.extend(calls.iter().map(|(id, name, arguments)| {
            let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            json!({ "type": "tool-call", "id": id, "name": name, "arguments": arguments })
        }));
        let source = json!({ "kind": "model" });
        self.push("assistant/message", json!({ "message": { "content": content, "source": source } }))
    }

    pub(crate) fn result(self, id: &str, text: &str) -> Self {
        self.answer(id, text, false)
    }

    pub(crate) fn fails(self, id: &str, text: &str) -> Self {
        self.answer(id, text, true)
    }

    fn answer(self, id: &str, text: &str, failed: bool) -> Self {
        let block = json!({ "type": "tool-result", "toolCallId": id, "isError": failed,
            "content": [{ "type": "text", "text": text }] });
        let source = json!({ "kind": "tool", "callId": id });
        self.push("tool/result", json!({ "message": { "content": [block], "source": source } }))
    }

    /// A call and its answer, with an id that every call shares, as some providers do it.
    pub(crate) fn does(self, name: &str, arguments: Value, text: &str) -> Self {
        self.says("", &[("call_0", name, arguments)]).result("call_0", text)
    }

    pub(crate) fn does_not(self, name: &str, arguments: Value, text: &str) -> Self {
        self.says("", &[("call_0", name, arguments)]).fails("call_0", text)
    }

    /// An older report that folds with the region.
    pub(crate) fn report(self, text: &str, source: Value) -> Self {
        let content = json!([{ "type": "text", "text": text }]);
        self.push("user/message", json!({ "content": content, "source": source }))
    }

    pub(crate) fn raw(self, kind: &str, data: Value) -> Self {
        self.push(kind, data)
    }

    pub(crate) fn json(&self) -> String {
        Value::Array(self.0.clone()).to_string()
    }

    pub(crate) fn gather(&self) -> Gathered {
        self.gather_with(Tools::default())
    }

    pub(crate) fn gather_with(&self, tools: Tools) -> Gathered {
        let json = self.json();
        let mut gatherer = Gatherer::new(tools);
        parse_events(&json).unwrap().iter().for_each(|event| gatherer.read(event));
        gatherer.finish()
    }
}

/// What a ledger says of one kind: text, outcome, last seq and count of each line.
pub(crate) fn lines(gathered: &Gathered, kind: Kind) -> Vec<(String, String, u32, u32)> {
    let read = |line: &Line| (line.what.clone(), format!("{:?}", line.outcome), line.last(), line.times);
    gathered.ledger.of(kind).map(read).collect()
}

/// The texts of one kind alone.
pub(crate) fn whats(gathered: &Gathered, kind: Kind) -> Vec<String> {
    gathered.ledger.of(kind).map(|line| line.what.clone()).collect()
}
