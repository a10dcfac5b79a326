//! Session events: both result shapes, lone surrogates, unknown types, and clear refusals.

use tool_rewind::event::{Block, Body, EventError, SurfaceOp, Text, parse_events, utf16_len};

fn one(json: &str) -> String {
    format!("[{json}]")
}

#[test]
fn a_result_reads_the_same_in_both_shapes() {
    let nested = one(
        r#"{"type":"tool/result","seq":4,"time":12,"surfaceOp":"append","sourceEventSeqs":[3],"data":{"turn":1,"step":2,
        "message":{"id":"m","role":"user","source":{"kind":"tool","callId":"c1"},"content":[{"type":"tool-result",
        "toolCallId":"c1","isError":true,"content":[{"type":"text","text":"no such file"}]}]},
        "error":{"name":"FsError","code":"ENOENT"},"meta":{"x":1}}}"#,
    );
    let direct = one(
        r#"{"type":"tool/result","seq":4,"surfaceOp":"append","data":{"turn":1,"step":2,"message":{"id":"m",
        "role":"tool","source":{"kind":"tool","callId":"c1"},"isError":true,
        "content":[{"type":"text","text":"no such file"}]},"error":{"name":"FsError","code":"ENOENT"},"meta":{"x":1}}}"#,
    );
    for json in [nested, direct] {
        let events = parse_events(&json).unwrap();
        let event = &events[0];
        let Body::ToolResult(result) = &event.body else { panic!("{event:?}") };
        assert_eq!((event.seq, result.turn, result.step), (4, 1, 2));
        assert_eq!(result.call_id, "c1");
        assert!(result.is_error);
        assert_eq!(result.error_code.as_deref(), Some("ENOENT"));
        assert_eq!(result.meta.map(|meta| meta.get()), Some(r#"{"x":1}"#));
        assert!(matches!(event.content(), [Block::Text(text)] if *text == "no such file"));
        assert_eq!(event.chars(), 12);
    }
}

#[test]
fn envelopes_tell_place_time_and_what_they_replace() {
    let json = r#"[
        {"type":"user/message","seq":9,"time":17.0,"sourceEventSeqs":[3,5],"surfaceOp":{"op":"replace","start":5,"end":3},
         "data":{"id":"u","role":"user","content":[],"source":{"kind":"plugin","plugin":"rewind","markId":2,"q":["a"]}}},
        {"type":"user/message","seq":10,"surfaceOp":{"op":"replace","startSeq":9,"endSeq":9},
         "data":{"content":[],"source":{"kind":"user"}}}]"#;
    let events = parse_events(json).unwrap();
    assert_eq!(events[0].op, Some(SurfaceOp::Replace { start: 5, end: 3 }));
    assert_eq!(events[1].op, Some(SurfaceOp::Replace { start: 9, end: 9 }));
    assert_eq!((events[0].sources.as_slice(), events[0].time), ([3, 5].as_slice(), Some(17)));
    let source = events[0].source().unwrap();
    assert!(source.is_plugin("rewind") && !source.is_person());
    assert_eq!(source.field::<u32>("markId"), Some(2));
    assert_eq!(source.field::<Vec<Text>>("q"), Some(vec![Text::from("a")]));
    assert_eq!(source.field::<u32>("q"), None);
    assert!(events[1].source().unwrap().is_person());
}

#[test]
fn calls_count_their_arguments_and_null_counts_nothing() {
    let json = one(
        r#"{"type":"assistant/message","seq":1,"data":{"turn":1,"step":1,"interrupted":true,"usage":{"inputTokens":3},
        "message":{"content":[{"type":"reasoning","text":"abc"},
        {"type":"tool-call","id":"a","name":"read","arguments":"{\"p\":1}"},
        {"type":"tool-call","id":"b","name":"read","arguments":null},{"type":"text","text":null},
        {"type":"image","attachment":{"name":"x.png","mediaType":"image/png","bytes":9}},
        {"type":"citation","content":7}],"source":{"kind":"model","provider":"p","model":"m"}}}}"#,
    );
    let events = parse_events(&json).unwrap();
    assert_eq!(events[0].chars(), 3 + 7);
    let Body::Assistant(assistant) = &events[0].body else { panic!() };
    assert!(assistant.interrupted);
    let Block::Image(image) = &events[0].content()[4] else { panic!() };
    assert_eq!((image.name.as_deref(), image.media_type.as_deref()), (Some("x.png"), Some("image/png")));
    assert!(
        matches!(events[0].content()[5], Block::Other(raw) if raw.get() == r#"{"type":"citation","content":7}"#)
    );
}

#[test]
fn lone_surrogates_read_as_one_unit_each_wherever_text_is() {
    let json = one(
        r#"{"type":"user/message","seq":0,"data":{"id":"\ude00","source":{"kind":"plugin","plugin":"\ud800x"},
        "content":[{"type":"text","text":"a\ud83dz\ude00\ud83d\ude00\ud800\ud83d\ude00\u0000"}]}}"#,
    );
    let events = parse_events(&json).unwrap();
    let Block::Text(text) = &events[0].content()[0] else { panic!() };
    assert_eq!(*text, "a\u{FFFD}z\u{FFFD}😀\u{FFFD}😀\0");
    assert_eq!(text.utf16_len(), 10);
    assert!(events[0].source().unwrap().is_plugin("\u{FFFD}x"));
}

#[test]
fn lengths_are_those_of_javascript() {
    for text in ["", "a", "é", "→§─", "文", "😀", "👨‍👩‍👧", "🇩🇪", "\u{20000}", "a\0\u{2028}"]
    {
        assert_eq!(utf16_len(text), text.encode_utf16().count(), "{text:?}");
    }
}

#[test]
fn unknown_types_and_fields_are_tolerated() {
    let json = r#"[{"type":"team/later","seq":0,"ignorable":true,"later":[1],"data":{"deep":[[["\ud800"]]]}},
        {"type":"session/end-seed","seq":1,"data":{}},{"type":"turn/start","seq":2,"data":{"turn":3.0}},
        {"type":"turn/end","seq":3,"data":{"turn":3,"reason":{"kind":"completed"}}},
        {"type":"step/end","seq":4,"data":{"turn":3,"step":1}},
        {"type":"tool/call","seq":5,"data":{"turn":3,"step":1,"callId":"c","name":"bash","arguments":null}}]"#;
    let events = parse_events(json).unwrap();
    assert!(matches!(&events[0].body, Body::Other { name, .. } if *name == "team/later"));
    assert!(matches!(events[1].body, Body::EndSeed));
    assert!(matches!(events[2].body, Body::TurnStart { turn: 3 }));
    assert!(matches!(&events[3].body, Body::TurnEnd { turn: 3, reason } if *reason == "completed"));
    assert!(matches!(events[4].body, Body::StepEnd { turn: 3, step: 1 }));
    assert!(
        matches!(&events[5].body, Body::ToolCall(call) if call.arguments.is_empty() && call.name == "bash")
    );
}

#[test]
fn refusals_name_the_event() {
    let error =
        parse_events(r#"[{"type":"tool/result","seq":7,"data":{"message":{"content":[]}}}]"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "session event 7 (tool/result) could not be read: no call id in the result block, message or source"
    );
    let error = parse_events(r#"[{"type":"turn/start","data":{"turn":1}}]"#).unwrap_err();
    assert_eq!(error, EventError::NoSeq("turn/start".to_owned()));
    assert!(matches!(parse_events("[{]"), Err(EventError::Envelope(_))));
    assert!(matches!(parse_events(r#"[{"type":"x","seq":-1}]"#), Err(EventError::Envelope(_))));
    let error = parse_events(r#"[{"type":"turn/start","seq":1,"data":{"turn":1.5}}]"#).unwrap_err();
    assert!(
        error.to_string().starts_with("session event 1 (turn/start) could not be read: 1.5 is not a turn")
    );
}

#[test]
fn results_nested_without_end_do_not_end_the_stack() {
    let depth = 20_000;
    let inner = r#"{"type":"tool-result","toolCallId":"c","content":["#;
    let json = one(&format!(
        r#"{{"type":"user/message","seq":0,"data":{{"content":[{}{}],"source":{{"kind":"user"}}}}}}"#,
        inner.repeat(depth),
        "]}".repeat(depth)
    ));
    assert_eq!(parse_events(&json).unwrap()[0].chars(), 0);
}
