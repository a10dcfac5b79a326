//! `dsh-rewind`: exit codes, help, text and JSON.

use crate::build::Log;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use tool_rewind::audit::cli::{Streams, run};

/// A folder of its own, gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("dsh-rewind-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }

    fn path(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn call(args: &[&str]) -> (u8, String, String) {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = run(&args, &mut Streams { out: &mut out, err: &mut err, progress: false });
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// Explored since `s1`, folded into `s4`.
fn log() -> Log {
    let mut log = Log::default();
    log.user("find the bug");
    let carrier = log.assistant("", &[("a", "read", json!({ "file_path": "src/a.rs" }))]);
    log.call("a", "read");
    let result = log.result("a", json!("append"), &"fn main() { bug() }\n".repeat(40));
    log.cited("somebody", &[carrier, result], "a summary", json!({}));
    log.assistant("It is in a.", &[]);
    log
}

#[test]
fn help_is_complete_and_usage_errors_are_two() {
    let (code, out, _) = call(&["--help"]);
    assert_eq!(code, 0);
    for word in ["audit", "show", "fold", "Examples:", "Exit codes: 0 nothing found, 1 findings, 2 unusable"]
    {
        assert!(out.contains(word), "{word} in {out}");
    }
    for command in ["audit", "show", "fold"] {
        let (code, out, _) = call(&[command, "--help"]);
        assert_eq!(code, 0);
        assert!(out.contains("Example:\n  dsh-rewind ") && out.contains("--json"), "{out}");
    }
    assert_eq!(
        call(&["--version"]),
        (0, format!("dsh-rewind {}\n", env!("CARGO_PKG_VERSION")), String::new())
    );
    for args in [
        &[][..],
        &["audit"],
        &["frobnicate"],
        &["show", "log"],
        &["show", "log", "x"],
        &["fold", "log"],
        &["audit", "--threads", "0", "x"],
    ] {
        let (code, out, err) = call(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
        assert!(err.contains("try '--help'") || err.contains("Usage: dsh-rewind"), "{err}");
    }
}

#[test]
fn a_clean_log_is_zero_and_findings_are_one() {
    let folder = Folder::new();
    let clean = folder.write("clean.jsonl", log().bytes());
    let (code, out, err) = call(&["audit", &clean]);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out.replace(&folder.path(), "FOLDER"), @r"
    FOLDER/clean.jsonl
      session s: 7 lines, 6 events, 0 turns
      2 requests, none of which a provider would refuse
      surface: 3 nodes, 32 characters, about 33 tokens

     replacements by  times  nodes taken  tokens freed  read again
     somebody             1            2           220           0

     seq  line  by        took      nodes  chars     tokens    read again
     s4   6     somebody  s1 to s3  3 → 2  836 → 21  242 → 22

      nothing found
    ");
    let mut broken = log();
    broken.assistant("", &[("dead", "bash", json!({}))]);
    broken.user("go on");
    broken.assistant("refused", &[]);
    let broken = folder.write("broken.jsonl", broken.bytes());
    let (code, out, _) = call(&["audit", &broken]);
    assert_eq!(code, 1);
    assert!(out.contains("  4 requests, 1 of them refused; the first is request 4, answered at line 10: unanswered call at s6\n"), "{out}");
    assert!(
        out.contains(
            "  1 finding:\n    line 10, wire-fault: Request 4 would be refused: unanswered call at s6."
        ),
        "{out}"
    );
}

#[test]
fn folders_are_searched_and_foreign_files_named() {
    let folder = Folder::new();
    folder.write("b/session.jsonl", log().bytes());
    folder.write("a/deep/session.jsonl.zstd", zstd::encode_all(&log().bytes()[..], 3).unwrap());
    folder.write("a/notes.txt", "not looked at");
    let (code, out, _) = call(&["audit", "--json", &folder.path()]);
    assert_eq!(code, 0);
    let audits: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let paths: Vec<_> =
        audits.iter().map(|audit| audit["path"].as_str().unwrap().replace(&folder.path(), "")).collect();
    assert_eq!(paths, ["/a/deep/session.jsonl.zstd", "/b/session.jsonl"]);
    assert_eq!(audits[0]["replacements"], audits[1]["replacements"]);
    assert_eq!(audits[0]["replacements"][0]["by"], "somebody");

    let foreign = folder.write("c/other.jsonl", "{\"a\":1}\n{\"b\":2}\n");
    let (code, out, err) = call(&["audit", &folder.path()]);
    assert_eq!((code, err), (1, format!("dsh-rewind: {foreign}: this is no session log.\n")));
    assert!(out.ends_with("3 logs, 2 of them without findings\n"), "{out}");
    assert_eq!(call(&["audit", &foreign]).0, 2);
    let empty = Folder::new();
    let (code, _, err) = call(&["audit", &empty.path()]);
    assert_eq!((code, err.contains("no file below it ends in .jsonl")), (2, true));
    let (code, _, err) = call(&["audit", "/nowhere/at/all.jsonl"]);
    assert_eq!((code, err.starts_with("dsh-rewind: /nowhere/at/all.jsonl: ")), (2, true));
}

#[test]
fn show_gives_what_stands_at_a_seq_and_the_originals() {
    let folder = Folder::new();
    let mut log = log();
    let compacted = log.cited("compact", &[0, 4], "all of it", json!({}));
    let path = folder.write("session.jsonl", log.bytes());
    let shown = |seq: &str| call(&["show", &path, seq]);
    let (code, out, _) = shown("4");
    assert_eq!(code, 0);
    assert!(out.starts_with("s4, line 6: taken by s6 (compaction); took 2 nodes, s1 to s3\n\ns4 somebody (9 chars)\na summary\n\nOriginals (2):\ns1 assistant"), "{out}");
    assert!(out.contains("s3 read {\"file_path\":\"src/a.rs\"} (800 chars)\nfn main()"), "{out}");
    assert!(
        shown("3").1.starts_with("s3, line 5: taken by s4 (somebody), then by s6 (compaction)\n\ns3 read")
    );
    assert!(shown("2").1.contains("It is in the log alone; it belongs to s3.\ns3 read"));
    assert!(shown("5").1.starts_with("s5, line 7: on the surface\n\ns5 assistant (11 chars)\nIt is in a."));
    assert_eq!(shown("s5"), shown("5"), "a seq is taken as it is printed");
    for wrong in ["ss5", "s", "5s", "x"] {
        let (code, _, err) = shown(wrong);
        assert_eq!(code, 2);
        let told = format!("dsh-rewind: <SEQ> takes a seq, as 120 or s120, not {wrong:?}.\n");
        assert!(err.starts_with(&told), "{err}");
    }
    let (code, _, err) = shown("7");
    assert_eq!((code, err), (2, format!("dsh-rewind: {path}: there is no seq 7; the log ends at seq 6.\n")));

    let (_, out, _) = call(&["show", "--json", &path, &compacted.to_string()]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["took"], json!([0, 4]));
    let originals: Vec<_> =
        json["originals"].as_array().unwrap().iter().map(|one| one["seq"].clone()).collect();
    assert_eq!(originals, [0, 1, 3]);
    assert_eq!(json["originals"][2]["event"], log.0[3]);
    assert_eq!(json["standing"], "visible");
}

#[test]
fn fold_is_a_dry_run_with_plan_reasons_and_report() {
    let folder = Folder::new();
    let mut log = Log::default();
    log.user("find the bug");
    log.assistant("", &[("cp", "checkpoint", json!({})), ("s", "read", json!({ "file_path": "s.rs" }))]);
    log.result("cp", json!("append"), "mark");
    log.result("s", json!("append"), &"s".repeat(900));
    log.assistant("I look.", &[("a", "read", json!({ "file_path": "src/a.rs" }))]);
    log.result("a", json!("append"), &"fn main() { bug() }\n".repeat(60));
    let words = log.user("only in staging!");
    log.assistant("I run.", &[("b", "bash", json!({ "command": "cargo test" }))]);
    log.result("b", json!("append"), &"test failed\n".repeat(60));
    let dead = log.assistant("", &[("rw", "rewind", json!({}))]);
    let path = folder.write("session.jsonl", log.bytes());
    let before = fs::read(&path).unwrap();
    let (code, out, _) = call(&["fold", &path, "--from", "2"]);
    assert_eq!(code, 0, "{out}");
    assert_eq!(call(&["fold", &path, "--from", "s2"]).1, out);
    assert!(
        out.contains(
            "  s4 to s5: 2 nodes, become a line that points to it\n  s7 to s8: 2 nodes, become the report\n"
        ),
        "{out}"
    );
    assert!(out.contains("  s3: a result beside the mark's call, rewritten in place\n"), "{out}");
    assert!(
        out.contains(&format!("  s{words}: a person's words\n  s{dead}: a call that is not answered yet")),
        "{out}"
    );
    assert!(
        out.contains("[rewind report of mark 0]")
            && out.contains("src/a.rs [s5]")
            && out.contains("cargo test"),
        "{out}"
    );
    assert_eq!(fs::read(&path).unwrap(), before);

    let (code, out, _) = call(&["fold", "--json", &path, "--from", "2", "--to", "5"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &json["segments"], &json["siblings"]), (0, &json!([[4, 5]]), &json!([3])));
    let (code, out, _) = call(&["fold", &path, "--from", "9"]);
    assert_eq!((code, out.starts_with("A fold of s9 to s9 would be refused (")), (1, true), "{out}");
    for (from, to) in [("99", "99"), ("5", "4"), ("2", "99")] {
        assert_eq!(call(&["fold", &path, "--from", from, "--to", to]).0, 2);
    }
}
