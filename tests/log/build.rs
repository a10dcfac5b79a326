//! A session log, written event by event as a test needs it.

use serde_json::{Value, json};
use tool_rewind::event::Seq;

/// The events of a log.
#[derive(Default)]
pub(crate) struct Log(pub(crate) Vec<Value>);

impl Log {
    pub(crate) fn push(&mut self, name: &str, op: Value, data: Value) -> Seq {
        let seq = self.0.len();
        let mut event = json!({ "type": name, "seq": seq, "data": data });
        if !op.is_null() {
            event["surfaceOp"] = op;
        }
        self.0.push(event);
        seq as Seq
    }

    pub(crate) fn user(&mut self, text: &str) -> Seq {
        let data = json!({ "content": [{ "type": "text", "text": text }], "source": { "kind": "user" } });
        self.push("user/message", json!("append"), data)
    }

    pub(crate) fn assistant(&mut self, text: &str, calls: &[(&str, &str, Value)]) -> Seq {
        let mut content = vec![json!({ "type": "text", "text": text })];
        content.extend(calls.iter().map(|(id, name, arguments)| {
            json!({ "type": "tool-call", "id": id, "name": name, "arguments": arguments.to_string() })
        }));
        let message = json!({ "content": content, "source": { "kind": "model" } });
        self.push("assistant/message", json!("append"), json!({ "turn": 1, "step": 1, "message": message }))
    }

    pub(crate) fn call(&mut self, id: &str, name: &str) -> Seq {
        let data = json!({ "turn": 1, "step": 1, "callId": id, "name": name, "arguments": "{}" });
        self.push("tool/call", Value::Null, data)
    }

    pub(crate) fn result(&mut self, id: &str, op: Value, text: &str) -> Seq {
        let block =
            json!({ "type": "tool-result", "toolCallId": id, "content": [{ "type": "text", "text": text }] });
        let message = json!({ "content": [block], "source": { "kind": "tool", "callId": id } });
        self.push("tool/result", op, json!({ "turn": 1, "step": 1, "message": message }))
    }

    pub(crate) fn replace(&mut self, start: Seq, end: Seq, text: &str) -> Seq {
        let source = json!({ "kind": "plugin", "plugin": "somebody" });
        let data = json!({ "content": [{ "type": "text", "text": text }], "source": source });
        self.push("user/message", json!({ "op": "replace", "start": start, "end": end }), data)
    }

    pub(crate) fn rewrite(&mut self, seq: Seq, id: &str, text: &str) -> Seq {
        self.result(id, json!({ "op": "replace", "start": seq, "end": seq }), text)
    }

    /// A replacement that cites what it takes, as the harness demands, by a named plugin.
    pub(crate) fn cited(&mut self, plugin: &str, seqs: &[Seq], text: &str, more: Value) -> Seq {
        let mut source = json!({ "kind": "plugin", "plugin": plugin });
        if let (Some(source), Some(more)) = (source.as_object_mut(), more.as_object()) {
            source.extend(more.clone());
        }
        let data = json!({ "content": [{ "type": "text", "text": text }], "source": source });
        let op = json!({ "op": "replace", "start": seqs[0], "end": seqs[seqs.len() - 1] });
        let seq = self.push("user/message", op, data);
        self.0[seq as usize]["sourceEventSeqs"] = json!(seqs);
        seq
    }

    /// The result of the checkpoint tool that states a mark.
    pub(crate) fn mark(&mut self, id: u32, call: &str) -> Seq {
        let seq = self.result(call, json!("append"), "[checkpoint mark 1]");
        self.0[seq as usize]["data"]["meta"] = json!({ "rewindMark": { "id": id, "logLength": seq } });
        seq
    }

    /// Rewrites a result in place, changing nothing but its content.
    pub(crate) fn rewritten(&mut self, of: Seq, text: &str) -> Seq {
        let mut data = self.0[of as usize]["data"].clone();
        data["message"]["content"][0]["content"] = json!([{ "type": "text", "text": text }]);
        let seq = self.push("tool/result", json!({ "op": "replace", "start": of, "end": of }), data);
        self.0[seq as usize]["sourceEventSeqs"] = json!([of]);
        seq
    }

    /// The log as it lies on disk, header first.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let header =
            json!({ "type": "session", "version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0 });
        let lines = std::iter::once(&header).chain(&self.0);
        lines.map(|line| format!("{line}\n")).collect::<String>().into_bytes()
    }
}
