//! A row reads the same by both readers, and what one alone reads is the general reader's.

use super::super::scan::tests::damaged;
use super::{Run, general, read, scanned};
use proptest::prelude::*;

fn row() -> impl Strategy<Value = String> {
    let gap = prop_oneof![Just(0_i64), 0..100_i64, -9_007_199_254_740_992..=9_007_199_254_740_992_i64];
    let member = prop_oneof!["[ -~]{0,12}", ".{0,3}", Just("\\ud83d".to_owned())];
    let seq = prop_oneof![Just(0_i64), 0..1_000_i64, 4_294_967_280..4_294_967_300_i64, -2..2_i64];
    (prop::collection::vec((gap, member), 0..5), seq, any::<bool>(), any::<bool>(), 0..2_usize).prop_map(
        |(members, seq, call, places, more)| {
            let dt: Vec<String> = members.iter().skip(more).map(|(gap, _)| gap.to_string()).collect();
            let texts: Vec<String> = members.iter().map(|(_, text)| format!("{text:?}")).collect();
            let (dt, texts) = (dt.join(","), texts.join(",").replace("\\\\ud83d", "\\ud83d"));
            let (tag, id, field) = if call {
                ("tool-call-chunks", r#""id":"c","#, "args")
            } else {
                ("text-chunks", "", "texts")
            };
            let places = if places { format!(r#""seq0":{seq},"time0":{seq},"#) } else { String::new() };
            let data = format!(r#""turn":1,"step":2,"index":0,{id}"dt":[{dt}],"{field}":[{texts}]"#);
            format!(r#"{{"type":"{tag}",{places}"data":{{{data}}}}}"#)
        },
    )
}

proptest! {
    #[test]
    fn rows_read_the_same(row in row()) {
        prop_assert_eq!(read(&row), general(&row), "{}", row);
    }

    #[test]
    fn damaged_rows_read_the_same(row in row(), at in any::<usize>(), how in 0..60_usize) {
        let Some(row) = damaged(&row, at, how) else { return Ok(()) };
        prop_assert_eq!(read(&row), general(&row), "{}", row);
    }
}

#[test]
fn rows_as_harnesses_write_them_are_scanned() {
    let text = r#"{"type":"text-chunks","seq0":7,"time0":9,"data":{"turn":1,"step":1,"index":0,"dt":[0,-3],"texts":["a","\n","\ud83d"]}}"#;
    assert!(scanned(text).is_some());
    assert_eq!(read(text), Ok(Run { seq: Some(7), count: 3 }));
    let call = r#"{"type":"tool-call-chunks","data":{"turn":1,"step":1,"index":0,"dt":[],"id":"c","name":"n","args":["{"]}}"#;
    assert!(scanned(call).is_some());
    assert_eq!(read(call), Ok(Run { seq: None, count: 1 }));
}

#[test]
fn rows_written_otherwise_are_left_to_the_general_reader() {
    let row = r#"{"type":"text-chunks","seq0":7,"time0":9,"data":{"turn":1,"step":1,"index":0,"dt":[4],"texts":["a","b"]}}"#;
    for (from, to) in [
        ("\"turn\":1", "\"turn\":1.5"),
        ("\"turn\":1", "\"turn\":-0"),
        ("\"time0\":9", "\"time0\":9007199254740991"),
        ("\"time0\":9", "\"time0\":-9"),
        ("\"time0\":9", "\"time0\": 9"),
        ("\"seq0\":7,\"time0\":9", "\"seq0\":null,\"time0\":null"),
        ("\"dt\":[4]", "\"dt\":[9007199254740992]"),
        ("\"dt\":[4]", "\"dt\":[4.0]"),
        ("\"dt\":[4]", "\"dt\":[4,]"),
        ("\"dt\":[4]", "\"dt\":[4],\"dt\":[4]"),
        ("\"dt\":[4]", "\"dt\":[4],\"other\":1"),
        ("\"dt\":[4],", ""),
        ("\"index\":0,", ""),
        ("\"texts\"", "\"t\\u0065xts\""),
        ("[\"a\",\"b\"]", "[\"a\",1]"),
        ("[\"a\",\"b\"]", "[\"a\",\"\u{1}\"]"),
        ("}}", "},\"data\":{}}"),
        ("}}", "}} "),
        ("}}", "}}x"),
    ] {
        let other = row.replace(from, to);
        assert!(scanned(&other).is_none() || from.contains("time0"), "{other}");
        assert_eq!(read(&other), general(&other), "{other}");
    }
}
