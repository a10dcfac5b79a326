use std::collections::BTreeMap;

use serde_json::json;
use tool_rewind::report::tools::{Act, Tool, Tools};

fn read(name: &str, arguments: serde_json::Value) -> (Act, String) {
    let call = Tools::default().read(name, &arguments.to_string());
    (call.act, call.what)
}

#[test]
fn the_harness_own_tools_are_known_by_any_spelling() {
    let cases = [
        ("read", json!({ "file_path": "a/b.rs", "offset": 3 }), Act::Read, "a/b.rs"),
        ("Read", json!({ "file_path": "a" }), Act::Read, "a"),
        ("read", json!({ "path": "p" }), Act::Read, "p"),
        ("write", json!({ "file_path": "w", "content": "long" }), Act::Write, "w"),
        ("edit", json!({ "file_path": "e", "old_string": "x" }), Act::Edit, "e"),
        ("str_replace_editor", json!({ "command": "view", "path": "/r/f.py" }), Act::Read, "/r/f.py"),
        ("str_replace_editor", json!({ "command": "create", "path": "/r/f.py" }), Act::Write, "/r/f.py"),
        ("str_replace_editor", json!({ "command": "str_replace", "path": "/r/f.py" }), Act::Edit, "/r/f.py"),
        ("str_replace_editor", json!({ "command": "insert", "path": "/r/f.py" }), Act::Edit, "/r/f.py"),
        ("glob", json!({ "pattern": "**/*.ts" }), Act::Search, "glob \"**/*.ts\""),
        (
            "grep",
            json!({ "pattern": "a b", "path": "src", "include": "*.rs" }),
            Act::Search,
            "grep \"a b\" src *.rs",
        ),
        (
            "bash",
            json!({ "command": "npm  test\n", "description": "Test", "workdir": "web" }),
            Act::Command,
            "npm test (in web)",
        ),
        ("bash", json!({ "command": "cat > a <<E\n1\n2\nE" }), Act::Command, "cat > a <<E (+3 lines)"),
        ("pwsh", json!({ "command": "Get-Item x" }), Act::Command, "Get-Item x"),
        ("run_code", json!({ "code": "1", "description": "Count" }), Act::Call, "run_code: Count"),
        ("web_search", json!({ "queries": ["a", "b c"] }), Act::Search, "web_search \"a; b c\""),
        ("WebFetch", json!({ "url": "https://x.dev/a" }), Act::Read, "https://x.dev/a"),
        (
            "subagent",
            json!({ "description": "Find callers", "prompt": "…" }),
            Act::Call,
            "subagent: Find callers",
        ),
        ("job_output", json!({ "job_id": "job-2" }), Act::Call, "job_output: job-2"),
        (
            "ask_user_question",
            json!({ "questions": [{ "question": "Which one?" }, { "question": "Why?" }] }),
            Act::Tell,
            "Which one? Why?",
        ),
        ("todo_write", json!({ "todos": [] }), Act::Quiet, "todo_write todos=[]"),
    ];
    for (name, arguments, act, what) in cases {
        assert_eq!(read(name, arguments), (act, what.to_owned()), "{name}");
    }
}

#[test]
fn other_tools_are_read_by_shape() {
    let cases = [
        ("mcp__files__read_file", json!({ "path": "/a" }), Act::Read, "/a"),
        ("mcp__files__write_file", json!({ "path": "/a", "content": "x" }), Act::Write, "/a"),
        ("mcp__files__edit_file", json!({ "path": "/a" }), Act::Edit, "/a"),
        (
            "mcp__github__create_issue",
            json!({ "title": "t" }),
            Act::Effect,
            "mcp__github__create_issue title=t",
        ),
        (
            "mcp__github__search_issues",
            json!({ "query": "flaky" }),
            Act::Search,
            "mcp__github__search_issues \"flaky\"",
        ),
        ("mcp__create__list_things", json!({ "n": 3 }), Act::Call, "mcp__create__list_things n=3"),
        ("mcp__db__runQuery", json!({ "sql": "select 1" }), Act::Search, "mcp__db__runQuery"),
        (
            "get_reservation_details",
            json!({ "reservation_id": "4WQ150" }),
            Act::Call,
            "get_reservation_details reservation_id=4WQ150",
        ),
        ("update_reservation_flights", json!({ "id": "X" }), Act::Effect, "update_reservation_flights id=X"),
        ("execute", json!({ "cmd": "ls" }), Act::Command, "ls"),
        ("open", json!({ "path": "src/f.py", "line_number": 3 }), Act::Read, "src/f.py"),
        ("calculate", json!({ "expression": "1 + 1" }), Act::Call, "calculate expression=1 + 1"),
    ];
    for (name, arguments, act, what) in cases {
        assert_eq!(read(name, arguments), (act, what.to_owned()), "{name}");
    }
}

#[test]
fn configuration_adds_and_overrides() {
    let table = r#"{"lookup":{"act":"read","argument":"key"},"bash":{"act":"quiet"},"peek":{"act":"search","argument":"what","within":"where"}}"#;
    let added: BTreeMap<String, Tool> = serde_json::from_str(table).unwrap();
    let tools = Tools::new(added);
    assert_eq!(tools.read("lookup", r#"{"key":"a:b","path":"p"}"#).what, "a:b");
    assert_eq!(tools.read("bash", r#"{"command":"ls"}"#).act, Act::Quiet);
    assert_eq!(tools.read("peek", r#"{"what":"x","where":"y"}"#).what, "peek \"x\" y");
    assert_eq!(tools.read("read", r#"{"file_path":"z"}"#).what, "z");
    for bad in [r#"{"x":{"act":"dance"}}"#, r#"{"x":{"act":"read","arg":"k"}}"#, r#"{"x":{}}"#] {
        assert!(serde_json::from_str::<BTreeMap<String, Tool>>(bad).is_err(), "{bad}");
    }
}

#[test]
fn broken_arguments_cost_no_fact() {
    for arguments in ["", "{", "[1,2", "null", "\"text\"", "{\"file_path\": 3}", "{\"file_path\": \"\"}"] {
        let call = Tools::default().read("read", arguments);
        assert_eq!(call.act, Act::Read);
        assert!(call.what.starts_with("read"), "{}", call.what);
    }
    let long = json!({ "file_path": "é".repeat(900) });
    assert_eq!(Tools::default().read("read", &long.to_string()).what.encode_utf16().count(), 240);
}
