use serde_json::json;
use tool_rewind::report::claims::{ClaimKind, claims};
use tool_rewind::report::evidence::Examination;
use tool_rewind::report::lookup::Lookup;
use tool_rewind::report::tools::Tools;

use crate::session::Log;

fn found(prose: &str) -> Vec<(ClaimKind, String)> {
    claims(prose).into_iter().map(|claim| (claim.kind, claim.text)).collect()
}

/// Claims of `prose` that `text` does not show.
fn missing(prose: &str, text: &str) -> Vec<String> {
    let mut lookup = Lookup::new(claims(prose), &["/home/me/app".to_owned()]);
    lookup.read(text);
    lookup.unverified().into_iter().map(|claim| claim.text).collect()
}

#[test]
fn every_kind_of_claim_is_read_from_prose() {
    use ClaimKind::{Command, Hash, Identifier, Number, Path, QuotedError, Url};
    let cases: Vec<(&str, Vec<(ClaimKind, &str)>)> = vec![
        (
            "The bug is in src/app/main.rs, see README.md.",
            vec![(Path, "src/app/main.rs"), (Path, "README.md")],
        ),
        (
            "See `src/a.rs:1474` and lib/b.py#L20-L345.",
            vec![(Path, "src/a.rs"), (Number, "1474"), (Path, "lib/b.py"), (Number, "345")],
        ),
        ("Ran `cargo test --all`; it failed.", vec![(Command, "cargo test --all")]),
        ("```sh\n$ ./run.sh -v\nmake all\n```", vec![(Command, "./run.sh -v"), (Command, "make all")]),
        ("It says \"cannot find module x\" there.", vec![(QuotedError, "cannot find module x")]),
        ("报错“无法解析 模块”。", vec![(QuotedError, "无法解析 模块")]),
        (
            "Says \"error: expected `u32`, found `x`\" now.",
            vec![(QuotedError, "error: expected `u32`, found `x`")],
        ),
        (
            "Ends with \"ERROR: table \"a_b\" violates \"c\"\" and \"no error\".",
            vec![(QuotedError, "ERROR: table \"a_b\" violates \"c\""), (QuotedError, "no error")],
        ),
        ("An \"open error quote of 1234", vec![(Number, "1234")]),
        ("> TypeError: x is not a function", vec![(QuotedError, "TypeError: x is not a function")]),
        ("Call `parseConfig()` or `Foo::bar`.", vec![(Identifier, "parseConfig"), (Identifier, "Foo::bar")]),
        ("At https://x.dev/a?b=1 we saw it.", vec![(Url, "https://x.dev/a?b=1")]),
        ("Commit 9f8e7d6 fixed it.", vec![(Hash, "9f8e7d6")]),
        ("It took 1,234 ms, or 87.5%, of 12 runs.", vec![(Number, "1,234"), (Number, "87.5")]),
        (
            "读取了src/服务.ts文件和 config.yaml，共 4096 行",
            vec![(Path, "src/"), (Path, "config.yaml"), (Number, "4096")],
        ),
        ("both and/or read/write over TCP/IP at 10:45", vec![]),
        ("In [s120] nothing; v2 and x86 too; Node.js, e.g.", vec![]),
        ("Use `<name>` here", vec![]),
        ("`a … longer part`, `see src/a.rs...src/b.rs`", vec![(Path, "src/a.rs"), (Path, "src/b.rs")]),
        ("`go test ./... -run X` and `0..10`", vec![(Command, "go test ./... -run X")]),
    ];
    for (prose, expected) in cases {
        let expected: Vec<(ClaimKind, String)> =
            expected.into_iter().map(|(kind, text)| (kind, text.to_owned())).collect();
        assert_eq!(found(prose), expected, "{prose}");
    }
}

#[test]
fn near_misses_are_not_found() {
    let text = "read src/core/parser.rs and src/core/lexer.rs; took 4821 ms; commit 9f8e7d6c; ran npm run build:web; \
                parseConfigFile(x); https://docs.rs/serde/1.0; Error: cannot open file";
    let wrong = [
        "`src/core/parsers.rs`",
        "`src/core/parse.rs`",
        "`src/util/parser.rs`",
        "`core/lexer.r`",
        "`rc/core/lexer.rs`",
        "`/core/parser.rs`",
        "4822 ms",
        "482 ms",
        "14821",
        "`9f8e7d6d`",
        "`npm run build`",
        "`npm run build:we`",
        "`parseConfig`",
        "`arseConfigFile`",
        "https://docs.rs/serde/1.1",
        "https://docs.rs/serde",
        "\"cannot open files\"",
        "\"cannot open fil\"",
    ];
    for prose in wrong {
        assert_eq!(missing(prose, text).len(), 1, "{prose}");
    }
    let right = [
        "`src/core/parser.rs`",
        "core/lexer.rs:12",
        "`parser.rs`",
        "`src/core`",
        "./src/core/lexer.rs",
        "4,821 ms",
        "4821",
        "`9f8e7d6c`",
        "`9f8e7d6`",
        "`npm run build:web`",
        "`parseConfigFile`",
        "`parseConfigFile()`",
        "https://docs.rs/serde/1.0",
        "“cannot open file”",
        "`/home/me/app/src/core/parser.rs`",
        "`app/src/core/parser.rs`",
    ];
    for prose in right {
        assert_eq!(missing(prose, text), [""; 0], "{prose}");
    }
}

#[test]
fn quotes_spaces_escapes_and_separators_do_not_matter() {
    assert_eq!(missing("`grep -n \"a b\"  src`", "grep -n 'a b' src"), [""; 0]);
    assert_eq!(missing("`git commit -m 'x y'`", "{\"command\":\"git commit -m \\\"x y\\\"\"}"), [""; 0]);
    assert_eq!(missing("\"error in line\ntwo\"", "x"), [""; 0]);
    assert_eq!(missing("`src/a.rs`", "C:\\repo\\src\\a.rs"), [""; 0]);
    assert_eq!(missing("`src\\a.rs`", "src/a.rs"), [""; 0]);
    assert_eq!(missing("`lib/x.ts`", "[\"one\\nlib/x.ts\\ntwo\"]"), [""; 0]);
    assert_eq!(missing("12345 rows", "count: 12,345"), [""; 0]);
    assert_eq!(missing("12,345 rows", "count=12_345;"), [""; 0]);
    assert_eq!(missing("`Cache::evict`", "impl Cache {\n fn evict() {}"), [""; 0]);
    assert_eq!(missing("`Cache::evicts`", "impl Cache {\n fn evict() {}"), ["Cache::evicts"]);
}

#[test]
fn windows_paths_are_found_although_they_hold_what_reads_like_escapes() {
    let text = "C:\\repo\\tests\\run.ps1\nsrc\\routes\\new.ts:12\n{\"path\":\"lib\\\\table\\\\row.cs\"}";
    for prose in [
        "`C:\\repo\\tests\\run.ps1`",
        "C:/repo/tests/run.ps1",
        "`tests\\run.ps1`",
        "`run.ps1`",
        "`src\\routes\\new.ts:12`",
        "`src/routes/new.ts`",
        "`routes/new.ts`",
        "`new.ts`",
        "`lib\\table\\row.cs`",
        "`row.cs`",
    ] {
        assert_eq!(missing(prose, text), [""; 0], "{prose}");
    }
    for prose in ["`tests\\run.ps`", "`src\\router\\new.ts`", "`src/routes/news.ts`"] {
        assert_eq!(missing(prose, text).len(), 1, "{prose}");
    }
    let mut lookup = Lookup::new(claims("`C:\\repo\\tests\\run.ps1`"), &["C:\\repo".to_owned()]);
    lookup.read("tests\\run.ps1");
    assert_eq!(lookup.unverified(), [], "below the session's directory");
}

#[test]
fn terminal_escapes_do_not_hide_what_they_colour() {
    let text = "\u{1b}[1;31merror\u{1b}[0m: cannot find \u{1b}[35msrc/a.rs\u{1b}[0m:\u{1b}[32m128\u{1b}[0m \
                \u{1b}]8;;https://x.dev\u{1b}\\`parse_it`\u{1b}]8;;\u{7} \u{1b}[31m\u{1b}[1m9f8e7d6\u{1b}[m";
    for prose in ["\"error: cannot find src/a.rs\"", "`src/a.rs:128`", "`parse_it`", "9f8e7d6"] {
        assert_eq!(missing(prose, text), [""; 0], "{prose}");
    }
    assert_eq!(missing("`src/b.rs` and 129", text), ["src/b.rs", "129"]);
    for cut in ["\u{1b}", "\u{1b}[", "\u{1b}[31", "\u{1b}]8;;x", "\u{1b}]x\u{1b}"] {
        assert_eq!(missing("512", &format!("512 {cut}")), [""; 0], "{cut:?}");
    }
}

#[test]
fn links_routes_ids_and_braces_are_claims_of_what_they_name() {
    let text = "GET http://localhost:3000/api/users and https://x.dev/z?a=1; id 550e8400-e29b-41d4-a716-446655440000 \
                at 20240102T103000Z; src/a.rs src/b.rs";
    for prose in [
        "See [the docs](https://x.dev/z?a=1).",
        "See [a.rs](src/a.rs), ![b](src/b.rs).",
        "`BASE=https://x.dev/z?a=1` and BASE=https://x.dev/z?a=1",
        "The route `/api/users` and /api/users answer.",
        "id 550e8400-e29b-41d4-a716-446655440000 at 20240102T103000Z",
        "`src/{a,b}.rs`",
        "on 1/2/2024",
    ] {
        let found = missing(prose, text);
        assert_eq!(found.iter().filter(|claim| *claim != "2024").count(), 0, "{prose}: {found:?}");
    }
    assert_eq!(missing("[docs](https://x.dev/y)", text), ["https://x.dev/y"]);
    assert_eq!(missing("[a.rs](src/c.rs)", text), ["src/c.rs"]);
    assert_eq!(missing("`src/{a,c}.rs`", text), ["src/c.rs"]);
    assert_eq!(missing("`/api/user` `/users`", text), ["/api/user", "/users"]);
    assert_eq!(missing("`/api/users`", "src/api/users and xyz://a b/api/users"), ["/api/users"]);
    assert_eq!(missing("took 512 ms, 4096kb", text), ["512", "4096"]);
}

#[test]
fn patterns_versions_and_names_in_files_are_found_by_their_parts() {
    let text =
        "src/core/a.test.rs: fn loadConfig; {\"react-dom\": \"18.2.0\", \"version\": \"4.17.21\"} src/b.rs";
    for prose in [
        "all `*.test.rs` and `src/**/*.rs`",
        "`react-dom@18.2.0`, `v4.17.21`, `react-dom@^18.2.0`",
        "`src/b.rs:loadConfig`, `src/b.rs::loadConfig()`, src/b.rs#loadConfig",
        "`src/b.rs#L12`, src/b.rs#L1-L7",
        "imports `./src/b`",
    ] {
        assert_eq!(missing(prose, text), [""; 0], "{prose}");
    }
    for (prose, wrong) in [
        ("`*.spec.rs`", "*.spec.rs"),
        ("`src/util/*.rs`", "src/util/*.rs"),
        ("`react-dom@18.2.1`", "react-dom@18.2.1"),
        ("`react@18.2.0`", "react@18.2.0"),
        ("`v4.17.2`", "v4.17.2"),
        ("`src/c.rs:loadConfig`", "src/c.rs"),
        ("`src/b.rs#L120`", "120"),
        ("`core/a`", "core/a"),
        ("`c/b`", "c/b"),
        ("src/c.rs:loadConfig", "src/c.rs"),
        ("`src/b.rs:loadConfigs`", "loadConfigs"),
    ] {
        assert_eq!(missing(prose, text), [wrong], "{prose}");
    }
}

#[test]
fn numbers_end_where_numbers_end() {
    for text in ["x=512", "L512:", "512ms", "[512,1024]", "v512", "-512%", "512.", "(512)"] {
        assert_eq!(missing("512", text), [""; 0], "{text}");
    }
    for text in ["5120", "0.512", "512.5", "x512y", "ab512", "512abcd", "1512", "a_512"] {
        assert_eq!(missing("512", text), ["512"], "{text}");
    }
}

#[test]
fn a_hit_across_any_chunk_edge_is_found_and_a_wrong_one_is_not() {
    for pad in 65_520..65_560 {
        let filler = "x ".repeat(pad / 2);
        assert_eq!(missing("`src/edge.rs`", &format!("{filler}src/edge.rs and more")), [""; 0], "{pad}");
        assert_eq!(
            missing("`src/edge.rs`", &format!("{filler}src/edge.rsx and more")),
            ["src/edge.rs"],
            "{pad}"
        );
        assert_eq!(missing("`src/edge.rs`", &format!("{filler}psrc/edge.rs")), ["src/edge.rs"], "{pad}");
        let odd = "y".repeat(pad);
        assert_eq!(missing("4096", &format!("{odd}4096")), ["4096"], "{pad}");
    }
}

/// What a prose claims and nothing in the pieces shows.
fn unproven(prose: &str, sent: &[u32], pieces: &[String]) -> Vec<String> {
    let mut examination = Examination::new(Tools::default(), Some(prose), sent.to_vec(), Vec::new());
    pieces.iter().for_each(|piece| examination.read(piece).unwrap());
    examination.finish().unverified.into_iter().map(|claim| claim.text).collect()
}

#[test]
fn what_the_model_was_sent_is_looked_up_and_nothing_else() {
    let log = Log::default()
        .does(
            "bash",
            json!({ "command": "npm run \"e2e\"", "description": "Run 7001 cases" }),
            "ok 512 of 514",
        )
        .does("read", json!({ "file_path": "src/one.ts" }), "1: alphaBeta");
    let events = format!("{{\"events\":{}}}", log.json());
    let prose = "`src/one.ts` has `alphaBeta`; `npm run \"e2e\"` gave 512 of 514; 7001; `src/two.ts`; 999";
    assert_eq!(unproven(prose, &[13, 10, 11, 12], std::slice::from_ref(&events)), ["src/two.ts", "999"]);
    // The last result was not sent as it is: a pruned text was, as a message of its own.
    let pruned = r#"{"messages":[{"content":[{"type":"tool-result","toolCallId":"x",
        "content":[{"type":"text","text":"src/two.ts [cut]"}]}]}]}"#;
    assert_eq!(unproven(prose, &[10, 11, 12], &[events.clone(), pruned.to_owned()]), ["alphaBeta", "999"]);
    assert_eq!(unproven(prose, &[], &[events]).len(), 8);
}

#[test]
fn an_unproven_claim_of_an_older_report_does_not_prove_itself() {
    let source = json!({ "kind": "plugin", "plugin": "rewind", "markId": 1, "unverified": ["src/ghost.rs"] });
    let log = Log::default().report("`src/ghost.rs` and `src/real.rs` matter", source);
    let piece = |log: &Log| format!("{{\"events\":{}}}", log.json());
    let prose = "`src/real.rs`, `src/ghost.rs`, `src/new.rs`";
    assert_eq!(unproven(prose, &[10], &[piece(&log)]), ["src/ghost.rs", "src/new.rs"]);
    // Seen in the open since, it is proven.
    let log = log.does("read", json!({ "file_path": "src/ghost.rs" }), "1: boo");
    assert_eq!(unproven("`src/ghost.rs`", &[10, 11, 12], &[piece(&log)]), [""; 0]);
}

#[test]
fn pieces_make_one_region() {
    let log = Log::default()
        .says("", &[("a", "bash", json!({ "command": "make" }))])
        .result("a", "[exit code: 2]")
        .does("bash", json!({ "command": "make" }), "done");
    let events: Vec<serde_json::Value> = serde_json::from_str(&log.json()).unwrap();
    let mut examination = Examination::new(Tools::default(), None, Vec::new(), Vec::new());
    for event in &events {
        examination.read(&json!({ "events": [event] }).to_string()).unwrap();
    }
    assert_eq!(examination.finish().gathered.ledger, log.gather().ledger);
}

#[test]
fn events_of_unknown_shape_cost_no_fold() {
    let mut examination = Examination::new(Tools::default(), Some("`x_y`"), vec![1, 2, 3], Vec::new());
    let strange = r#"{"carrier":null,"events":[{"type":"tool/result","seq":1,"data":{"message":{}}},
        {"type":"user/message","seq":3},{"type":"future/thing","seq":2,"data":{}}],"messages":[{"content":"plain"},3]}"#;
    examination.read(strange).unwrap();
    assert!(examination.read("7").is_err() && examination.read("{").is_err());
    let findings = examination.finish();
    assert_eq!((findings.gathered.ledger.len(), findings.unverified.len()), (0, 1));
}

#[test]
fn claims_that_come_down_to_one_text_are_both_found() {
    let prose =
        "`src/a.rs`, `./src/a.rs`, `src/a.rs:120`, `src/a.rs:120:5`, `*.rs`, `b*.rs`, `v1.2.3` and 1.2.3";
    assert_eq!(missing(prose, "src/a.rs:120 b.rs 1.2.3"), [""; 0]);
}
