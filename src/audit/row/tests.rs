//! Lines that are only counted, and calls, come to the same as when their envelope is read.

use super::super::lean;
use super::super::scan::{Scan, tests::damaged};
use super::{KNOWN, read_text, read_whole};
use crate::report::tools::Tools;
use proptest::prelude::*;

fn line() -> impl Strategy<Value = String> {
    let known = prop::sample::select(&KNOWN[..]);
    let name = prop_oneof![
        3 => Just("tool/call"),
        2 => Just("assistant/chunk"),
        1 => Just("step/start"),
        2 => known,
        1 => prop::sample::select(&["command/done", "command/run", "turn/start", "odd", ""][..]),
    ];
    let field = prop::sample::select(
        &[
            r#""seq":7"#,
            r#""seq":4294967296"#,
            r#""seq":-1"#,
            r#""seq":null"#,
            r#""time":1780000000000"#,
            r#""time":1.5"#,
            r#""time":"x""#,
            r#""time":1e999"#,
            r#""data":{"callId":"c\n\ud83d","turn":1}"#,
            r#""data":{"callId":"a","callId":"b"}"#,
            r#""data":{"callId":1}"#,
            r#""data":null"#,
            r#""data":{"chunk":{"type":"block-end","block":{"text":"文 \"q\""}}}"#,
            r#""data":[1,2.5e3]"#,
            r#""surfaceOp":"append""#,
            r#""surfaceOp":null"#,
            r#""sourceEventSeqs":[1]"#,
            r#""ignorable":true"#,
            r#""ignorable":1"#,
            r#""other":[{}]"#,
            r#""s\u0065q":9"#,
            r#""type":"odd""#,
        ][..],
    );
    let usual = r#""seq":7,"time":1780000000000,"data":{"turn":1,"callId":"c"}"#;
    (name, prop::collection::vec(field, 0..4), any::<bool>()).prop_map(move |(name, fields, as_usual)| {
        let rest = if as_usual { [usual, &fields.join(",")].join(",") } else { fields.join(",") };
        format!("{{\"type\":\"{name}\",{rest}}}").replace(",}", "}")
    })
}

fn same(line: &str) -> Result<(), TestCaseError> {
    let tools = Tools::default();
    let (short, whole) = (read_text(line, &tools), read_whole(line, &tools));
    prop_assert_eq!(format!("{short:?}"), format!("{whole:?}"), "{}", line);
    Ok(())
}

proptest! {
    #[test]
    fn counted_lines_read_the_same(line in line()) {
        same(&line)?;
    }

    #[test]
    fn damaged_lines_read_the_same(line in line(), at in any::<usize>(), how in 0..60_usize) {
        damaged(&line, at, how).map_or(Ok(()), |line| same(&line))?;
    }
}

#[test]
fn lines_as_harnesses_write_them_need_no_envelope() {
    let tools = Tools::default();
    for name in ["assistant/chunk", "step/start", "step/end", "tool/call", "request/header"] {
        let line = format!(
            "{{\"type\":\"{name}\",\"seq\":3,\"time\":1780000000000,\"data\":{{\"turn\":1,\"callId\":\"c\"}}}}"
        );
        let row = Scan::tag(&line).and_then(|tag| lean::read(&line, tag, &tools));
        assert_eq!(row.and_then(|row| row.seq), Some(3), "{line}");
    }
}
