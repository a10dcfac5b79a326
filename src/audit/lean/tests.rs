//! The lean reading and the reading of whole events come to the same node.

use super::super::node::Node;
use super::super::row::Fact;
use super::super::scan::Scan;
use crate::event::{Envelope, Event};
use crate::report::tools::Tools;
use proptest::prelude::*;
use serde_json::{Value, json};

fn full(line: &str) -> Option<Node> {
    let envelope = Envelope::parse(line).ok()?;
    let event = Event::read(envelope, Some(0)).ok()?;
    Node::of(&event, &Tools::default())
}

fn lean(line: &str) -> Option<Node> {
    match super::read(line, Scan::tag(line)?, &Tools::default())?.fact {
        Fact::Node(node) => Some(*node),
        _ => None,
    }
}

/// Texts as logs hold them; `\u` stands for a lone surrogate, put in after the JSON is written.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~\\n]{0,40}",
        Just(String::new()),
        Just("😀文 → \u{0}\u{2028}".to_owned()),
        Just("SURROGATE tail".to_owned()),
        Just("s12 read {} (4 chars)\ntext\ns14 bash {} (1 chars), continued".to_owned()),
    ]
}

fn block() -> impl Strategy<Value = Value> {
    prop_oneof![
        text().prop_map(|text| json!({ "type": "text", "text": text })),
        text().prop_map(|text| json!({ "type": "reasoning", "text": text })),
        (text(), text()).prop_map(|(id, arguments)| {
            json!({ "type": "tool-call", "id": id, "name": "read", "arguments": arguments })
        }),
        Just(json!({ "type": "tool-call", "id": "c", "name": "bash", "arguments": "{\"command\":\"ls\"}" })),
        text().prop_map(|name| json!({ "type": "image", "attachment": { "name": name, "bytes": 3 } })),
        Just(json!({ "type": "citation", "text": "unknown" })),
        Just(json!({ "type": "image", "attachment": {}, "extra": 1 })),
    ]
}

/// The line as a harness writes it, type first.
fn line(name: &str, data: &Value) -> String {
    let end = r#""sourceEventSeqs":[1,2],"surfaceOp":"append"}"#;
    format!("{{\"type\":\"{name}\",\"seq\":7,\"time\":1,\"data\":{data},{end}")
}

/// Blocks with their type in front, as the harness writes them.
fn ordered(blocks: &[Value]) -> String {
    let one = |block: &Value| {
        let fields = block.as_object().into_iter().flatten().filter(|(name, _)| *name != "type");
        let rest: String = fields.map(|(name, value)| format!(",{}:{value}", json!(name))).collect();
        format!("{{\"type\":{}{rest}}}", block["type"])
    };
    format!("[{}]", blocks.iter().map(one).collect::<Vec<_>>().join(",")).replace("SURROGATE", "\\ud83d")
}

proptest! {
    #[test]
    fn answers_read_the_same(blocks in prop::collection::vec(block(), 0..5)) {
        let message = json!({ "content": "BLOCKS", "source": { "kind": "model" } });
        let line = line("assistant/message", &json!({ "turn": 1, "step": 2, "message": message }));
        let line = line.replace("\"BLOCKS\"", &ordered(&blocks));
        let lean = lean(&line);
        let known = |block: &Value| block["type"] != "citation" && block.get("extra").is_none();
        prop_assert_eq!(lean.is_some(), blocks.iter().all(known), "{}", line);
        if lean.is_some() {
            prop_assert_eq!(lean, full(&line), "{}", line);
        }
    }

    #[test]
    fn results_read_the_same(
        blocks in prop::collection::vec(block(), 0..4),
        failed in any::<bool>(),
        meta in prop::option::of(prop_oneof![
            Just(json!({ "rewindMark": { "id": 3, "logLength": 5, "objective": " x " } })),
            Just(json!({ "rewindMark": { "id": 3, "logLength": 9 } })),
            Just(json!({ "markId": 3, "foldedNodes": 2, "usage": { "inputTokens": 4 } })),
            Just(json!([1, "rewindMark foldedNodes"])),
        ]),
        error in prop::option::of(Just(json!({ "name": "FsError", "code": "ENOENT" }))),
    ) {
        let message = json!({ "content": "BLOCK", "source": { "kind": "tool", "callId": "c" } });
        let mut data = json!({ "turn": 1, "step": 2, "message": message });
        if let Some(meta) = meta {
            data["meta"] = meta;
        }
        if let Some(error) = error {
            data["error"] = error;
        }
        let head = format!(r#"[{{"type":"tool-result","toolCallId":"c","isError":{failed},"content":"#);
        let line = line("tool/result", &data).replace("\"BLOCK\"", &format!("{head}{}}}]", ordered(&blocks)));
        let lean = lean(&line);
        let plain = |block: &Value| {
            block["type"] != "citation" && block["type"] != "tool-call" && block.get("extra").is_none()
        };
        prop_assert_eq!(lean.is_some(), blocks.iter().all(plain), "{}", line);
        if lean.is_some() {
            prop_assert_eq!(lean, full(&line), "{}", line);
        }
    }
}

#[test]
fn control_characters_in_a_text_are_read_as_they_ever_were() {
    let data = |text: &str| {
        let block = format!(r#"{{"type":"text","text":"{text}"}}"#);
        line("assistant/message", &json!({ "message": { "content": "BLOCKS" } }))
            .replace("\"BLOCKS\"", &format!("[{block}]"))
    };
    for (text, chars) in [("a\u{1}b", 3), ("\u{1f}", 1), ("\\n\tlong enough for more than two words\\\"", 38)]
    {
        assert_eq!(lean(&data(text)).map(|node| node.chars), Some(chars), "{text:?}");
    }
    // Elsewhere they are what they are to everybody: no JSON.
    assert_eq!(lean(&data("a").replace("sourceEventSeqs", "source\u{1}")), None);
}
