//! Regret: what counts as reading the same thing again, and for whom it counts.

use tool_rewind::event::SurfaceOp::{Append, Replace};
use tool_rewind::replacements::{CallRef, Regret, Replacements, Target, recalled_heads};
use tool_rewind::report::tools::Tools;

#[test]
fn calls_read_the_same_when_tool_and_target_agree() {
    let target = |tool, arguments| Target::of(&Tools::default(), tool, arguments);
    let same = [
        (("read", r#"{"path":"a.rs"}"#), ("read", r#"{ "path": "./a.rs", "offset": 40, "limit": 10 }"#)),
        (("grep", r#"{"pattern":"x","path":"src"}"#), ("grep", r#"{"path":"src","pattern":"x"}"#)),
        (
            ("bash", r#"{"command":"cat a | head -3"}"#),
            ("bash", r#"{"command":"cat a | head -3","description":"look"}"#),
        ),
        (("read", r#"{"file_path":"a"}"#), ("str_replace_editor", r#"{"command":"view","path":"a"}"#)),
        (("mcp__fs__read_text", r#"{"path":"a"}"#), ("read", r#"{"path":"a"}"#)),
    ];
    for ((tool_a, a), (tool_b, b)) in same {
        assert!(target(tool_a, a).is_some(), "{tool_a} {a}");
        assert_eq!(target(tool_a, a), target(tool_b, b));
    }
    let other = [
        (("read", r#"{"path":"a.rs"}"#), ("read", r#"{"path":"b.rs"}"#)),
        (("read", r#"{"path":"a"}"#), ("grep", r#"{"pattern":"a"}"#)),
        (("bash", r#"{"command":"ls a"}"#), ("bash", r#"{"command":"ls b"}"#)),
    ];
    for ((tool_a, a), (tool_b, b)) in other {
        assert_ne!(target(tool_a, a), target(tool_b, b));
    }
}

#[test]
fn work_is_not_reading() {
    for (tool, arguments) in [
        ("write", r#"{"path":"a"}"#),
        ("bash", r#"{"command":"cargo test"}"#),
        ("bash", r#"{"command":"cat a > b"}"#),
        ("bash", r#"{"command":"cat a && rm a"}"#),
        ("bash", r#"{"command":"cat $(rm a)"}"#),
        ("bash", r#"{"command":"sed -i s/a/b/ c"}"#),
        ("bash", r#"{"command":"find . -delete"}"#),
        ("bash", r#"{"command":"git push"}"#),
        ("bash", "{"),
        ("str_replace_editor", r#"{"command":"create","path":"a"}"#),
        ("mcp__db__drop_table", r#"{"name":"list"}"#),
        ("subagent", r#"{"prompt":"read a"}"#),
    ] {
        assert_eq!(Target::of(&Tools::default(), tool, arguments), None, "{tool} {arguments}");
    }
}

#[test]
fn a_second_reading_counts_once_for_the_replacement_that_took_the_first() {
    let mut reader = Replacements::default();
    let mut regret = Regret::default();
    let read = |regret: &mut Regret, reader: &mut Replacements, seq: u32| {
        reader.apply(seq, Append).unwrap();
        reader.apply(seq + 1, Append).unwrap();
        let call = CallRef { carrier: seq, index: 0 };
        regret.reads(call, Target::of(&Tools::default(), "read", r#"{"path":"a"}"#).unwrap());
        regret.result(seq + 1, call)
    };
    let fold = |regret: &mut Regret, reader: &mut Replacements, seq: u32, start: u32, end: u32| {
        let taken = reader.apply(seq, Replace { start, end }).unwrap();
        regret.replaced(seq, taken);
    };
    assert_eq!(read(&mut regret, &mut reader, 0), None);
    assert_eq!(read(&mut regret, &mut reader, 2), None);
    fold(&mut regret, &mut reader, 4, 0, 3);
    assert_eq!(read(&mut regret, &mut reader, 5), Some(4));
    assert_eq!(read(&mut regret, &mut reader, 7), None, "the copy read again still stands");
    fold(&mut regret, &mut reader, 9, 4, 8);
    assert_eq!(read(&mut regret, &mut reader, 10), Some(9));
    let heads = recalled_heads(
        "s1 read {} (4 chars)\ns3 is not a head\n\ns6 read {} (4 chars), continued\ns2 x (1 chars)",
    );
    assert_eq!(heads, [1, 6, 2]);
    regret.recalled(&reader, &heads);
    assert_eq!((regret.of(4), regret.of(9)), (2, 2));
    assert_eq!(regret.of(7), 0);
}
