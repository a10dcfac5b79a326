use tool_rewind::report::outcome::{Outcome, error_lines, of_command, of_search};

#[test]
fn exit_codes_are_read_as_each_shell_prints_them() {
    let cases = [
        ("fine", false, Outcome::Ok),
        ("(no output)", false, Outcome::Ok),
        ("out\n[stderr]\noops\n[exit code: 1]", false, Outcome::Exit(1)),
        ("[sandbox: file access denied under workspace mode]\n[exit code: 126]", false, Outcome::Exit(126)),
        ("x\n[exit code: 2]\n[more about the sandbox]", false, Outcome::Exit(2)),
        ("x\n[timed out after 1000ms]\n[killed by signal: SIGKILL]", false, Outcome::Killed),
        ("x\n[timed out after 1000ms]", false, Outcome::TimedOut),
        ("x\n[killed by signal: SIGTERM]", false, Outcome::Killed),
        ("x\n[shell exited: code 7]", false, Outcome::Exit(7)),
        ("Exit code 128\nfatal: no upstream", true, Outcome::Exit(128)),
        ("tail\n\n\nCommand exited with code 2", true, Outcome::Exit(2)),
        ("Command aborted", true, Outcome::Killed),
        ("Error: tool call aborted", true, Outcome::Failed),
        ("started background job job-1", false, Outcome::Background),
        ("log\n[status: running]", false, Outcome::Background),
        ("log\n[status: completed, exit code: 0]", false, Outcome::Ok),
        ("log\n[status: completed, exit code: 4]", false, Outcome::Exit(4)),
        ("Your command timed out after 300 seconds or experienced an OOM error.", false, Outcome::TimedOut),
        ("docs say: [exit code: 9] means bad\nand more", false, Outcome::Ok),
    ];
    for (text, failed, outcome) in cases {
        assert_eq!(of_command(text, failed), outcome, "{text}");
    }
}

#[test]
fn searches_say_how_much_they_found() {
    let cases = [
        ("No matches found", Outcome::Found(0)),
        ("No files found", Outcome::Found(0)),
        ("No results found.\n\nCite the relevant URLs", Outcome::Found(0)),
        ("", Outcome::Found(0)),
        ("Found 1 match\n\na.rs\n  3: x", Outcome::Found(1)),
        ("Found 100 of 250 matches\n\na.rs", Outcome::Found(250)),
        ("a.rs\nb.rs\n\nc.rs", Outcome::Found(3)),
    ];
    for (text, outcome) in cases {
        assert_eq!(of_search(text, false), outcome, "{text}");
    }
    assert_eq!(of_search("regex parse error", true), Outcome::Failed);
}

#[test]
fn the_line_that_names_the_error_is_kept() {
    let cases: [(&str, &[&str]); 10] = [
        (
            "compiling\nsrc/a.ts(10,5): error TS2322: Type 'x'\n1 error",
            &["src/a.ts(10,5): error TS2322: Type 'x'", "1 error"],
        ),
        (
            "Traceback (most recent call last):\n  File \"a.py\"\nValueError: bad value",
            &["ValueError: bad value"],
        ),
        (
            "E   AssertionError: assert 1 == 2\nFAILED tests/a.py::test_b - assert",
            &["E AssertionError: assert 1 == 2", "FAILED tests/a.py::test_b - assert"],
        ),
        ("error[E0308]: mismatched types\n --> src/a.rs:3", &["error[E0308]: mismatched types"]),
        ("npm ERR! code E\nnpm ERR! peer x", &["npm ERR! code E", "npm ERR! peer x"]),
        ("a\nb\n[stderr]\nwhat happened here\nmore\n[exit code: 3]", &["what happened here"]),
        ("a\nthe last line\n[exit code: 3]", &["the last line"]),
        ("\u{1b}[31mError:\u{1b}[0m red alert", &["Error: red alert"]),
        ("(no output)\n[exit code: 1]", &[]),
        ("--- FAIL: TestSum (0.00s)\n    sum_test.go:9: got 3", &["--- FAIL: TestSum (0.00s)"]),
    ];
    for (text, expected) in cases {
        assert_eq!(error_lines(text, false), expected, "{text}");
    }
}

#[test]
fn a_command_that_ended_well_needs_more_than_a_word() {
    assert_eq!(error_lines("0 errors\nno error found\nerror handling docs\nfailed: 0", true), [""; 0]);
    assert_eq!(error_lines("warning: x\nerror: y\nfatal: z", true), ["error: y", "fatal: z"]);
    assert_eq!(error_lines("not ok 3 - adds\nok 4", true), ["not ok 3 - adds"]);
}

#[test]
fn a_round_number_of_errors_is_no_count_of_nothing() {
    let cases = [
        (
            "✖ 20 problems (10 errors, 10 warnings)\nnpm run lint ended",
            "✖ 20 problems (10 errors, 10 warnings)",
        ),
        ("Tests: 10 failed, 5 passed\nDone in 3 s", "Tests: 10 failed, 5 passed"),
        ("Found 30 errors.\nbye", "Found 30 errors."),
        ("error: 100 failures in all", "error: 100 failures in all"),
    ];
    for (text, line) in cases {
        assert_eq!(error_lines(&format!("{text}\n[exit code: 1]"), false), [line]);
    }
    assert_eq!(error_lines("(0 errors)\n0 failed\nall: 0 failures", true), [""; 0]);
}

#[test]
fn many_errors_are_cut_to_a_few() {
    let text: String = (0..50).map(|n| format!("error: number {n}\ntest t{n} ... FAILED\n")).collect();
    let lines = error_lines(&text, false);
    assert_eq!(lines.len(), 9);
    assert_eq!((lines[0].as_str(), lines[8].as_str()), ("error: number 0", "test t5 ... FAILED"));
    let long = format!("error: {}", "x".repeat(900));
    assert_eq!(error_lines(&long, false)[0].encode_utf16().count(), 200);
}
