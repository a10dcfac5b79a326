//! What is read here the general reader reads, too, and reads the same.

use super::Scan;
use crate::event::{Text, utf16_len};
use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

/// Any JSON as `JSON.stringify` writes it.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(".{0,9}", inner, 0..6)
                .prop_map(|fields| Value::from_iter(fields.into_iter())),
        ]
    });
    value.prop_map(|value| value.to_string())
}

/// A byte of a text in another one's place, taken out, or put in twice.
pub(in crate::audit) fn damaged(text: &str, at: usize, how: usize) -> Option<String> {
    const SIGNS: &[u8] = b"\"\\{}[],:0123456789-+.eEtfnu \t\x01x";
    let mut bytes = text.as_bytes().to_vec();
    let at = at % bytes.len();
    match how {
        0 => drop(bytes.remove(at)),
        1 => bytes.insert(at, bytes[at]),
        2 => bytes.truncate(at),
        how => bytes[at] = SIGNS[how % SIGNS.len()],
    }
    String::from_utf8(bytes).ok()
}

fn value(text: &str) -> Option<&str> {
    let mut scan = Scan::new(text);
    scan.value().filter(|_| scan.is_done())
}

fn string(text: &str) -> Option<(Text<'_>, u32)> {
    let mut scan = Scan::new(text);
    let string = scan.string().filter(|_| scan.is_done())?;
    Some((string.text(), string.units()))
}

proptest! {
    #[test]
    fn all_that_json_stringify_writes_is_passed_over(json in json()) {
        prop_assert_eq!(value(&json), Some(json.as_str()));
    }

    #[test]
    fn no_json_is_passed_over_that_is_none(json in json(), at in any::<usize>(), how in 0..60_usize) {
        let Some(json) = damaged(&json, at, how) else { return Ok(()) };
        if let Some(passed) = value(&json) {
            let read: &RawValue = serde_json::from_str(&json).expect("JSON to the general reader, too");
            prop_assert_eq!(passed, read.get());
        }
    }

    #[test]
    fn strings_read_the_same(
        parts in prop::collection::vec(prop_oneof![
            "[ -~]{0,20}",
            ".{0,5}",
            r#"\\["\\/bfnrtux]"#,
            r"\\u[0-9a-fA-F]{4}",
            r"\\ud83d\\ude00|\\ud83d|\\ude00|\\uD83D\\n",
            Just("文→😀".to_owned()),
        ], 0..8),
    ) {
        let text = format!("\"{}\"", parts.concat());
        let general = serde_json::from_str::<Text<'_>>(&text).ok();
        let general = general.map(|text| { let units = utf16_len(&text) as u32; (text, units) });
        // The general reader lets control characters stand in such texts.
        let general = general.filter(|_| text.bytes().all(|byte| byte >= 0x20));
        prop_assert_eq!(string(&text), general, "{}", text);
    }
}

#[test]
fn a_string_ends_where_it_ends_at_any_length() {
    for length in 0..100 {
        let plain = "x".repeat(length);
        for behind in ["", "y", "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"] {
            let text = format!("\"{plain}\"{behind}");
            let mut scan = Scan::new(&text);
            assert_eq!(scan.string().and_then(super::Str::plain), Some(plain.as_str()));
            assert_eq!(scan.is_done(), behind.is_empty());
            for bad in ['\u{0}', '\n', '\u{1f}'] {
                assert!(Scan::new(&format!("\"{plain}{bad}{behind}\"")).string().is_none());
            }
            // What is not ASCII is plain, whatever its bytes are next to.
            for good in ['\u{7f}', '\u{80}', 'à', '\u{ffff}', '😀'] {
                let text = format!("\"{plain}{good}!\"");
                assert_eq!(value(&text), Some(text.as_str()));
            }
            let escaped = format!("\"{plain}\\n{behind}\"");
            assert_eq!(string(&escaped).map(|read| read.1 as usize), Some(length + 1 + behind.len()));
            assert!(Scan::new(&format!("\"{plain}")).string().is_none());
            assert!(Scan::new(&format!("\"{plain}\\")).string().is_none());
        }
    }
}

#[test]
fn numbers_at_the_edge_are_left_to_the_general_reader() {
    let whole = |text: &str| {
        let mut scan = Scan::new(text);
        scan.whole().filter(|_| scan.is_done())
    };
    assert_eq!(whole("0"), Some(0));
    assert_eq!(whole("999999999999999"), Some(999_999_999_999_999));
    for other in ["", "1000000000000000", "00", "01", "-1", "+1", "1.0", "1e3", " 1", "1 ", "0x1", "１"] {
        assert_eq!(whole(other), None, "{other}");
    }
    let integer = |text: &str| {
        let mut scan = Scan::new(text);
        scan.integer().filter(|_| scan.is_done())
    };
    assert_eq!(integer("-999999999999999"), Some(-999_999_999_999_999));
    assert_eq!(integer("12"), Some(12));
    for other in ["", "-", "-0", "--1", "-01", "-1.5", "-1000000000000000"] {
        assert_eq!(integer(other), None, "{other}");
    }
    for number in ["0", "-0", "0.0", "-1.25e-7", "1E+400", "12e0"] {
        assert_eq!(value(number), Some(number));
    }
    for other in ["", "-", "01", "-01", ".5", "1.", "1e", "1e+", "1.e1", "+1", "0x1", "NaN", "1_0"] {
        assert_eq!(value(other), None, "{other}");
    }
}

#[test]
fn nesting_ends_the_reading_and_never_the_stack() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(value(&nested(60)), Some(nested(60).as_str()));
    assert_eq!(value(&nested(1_000_000)), None);
    let objects = |depth: usize| format!("{}0{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    assert_eq!(value(&objects(60)), Some(objects(60).as_str()));
    assert_eq!(value(&objects(1_000_000)), None);
}

#[test]
fn brackets_and_commas_stand_where_they_must() {
    for json in ["[]", "{}", "[[],{}]", "[1,[2],{\"a\":[],\"b\":{}}]", "{\"\":null}"] {
        assert_eq!(value(json), Some(json));
    }
    for other in [
        "[",
        "]",
        "[}",
        "{]",
        "[1,]",
        "[,1]",
        "[1 ,2]",
        "[1 2]",
        "[[1]",
        "[1]]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{1:2}",
        "{\"a\":1]",
        "[1}",
        "[{\"a\":1]]",
        "{\"a\" :1}",
        "nul",
        "truefalse",
    ] {
        assert_eq!(value(other), None, "{other}");
    }
}
