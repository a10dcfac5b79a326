use tool_rewind::report::effects::Change;
use tool_rewind::report::shell::split;

fn changes(command: &str) -> Vec<(Change, String)> {
    split(command)
        .iter()
        .flat_map(|one| {
            one.changes().into_iter().map(|(how, file)| (how, file.to_owned())).collect::<Vec<_>>()
        })
        .collect()
}

fn effects(command: &str) -> Vec<String> {
    split(command).iter().filter(|one| one.has_effect()).map(|one| one.text.to_owned()).collect()
}

#[test]
fn commands_are_split_where_the_shell_splits_them() {
    let texts: Vec<&str> = split("cd a && FOO=1 make -j4 | tee 'build log' ; echo \"a; b\" # done; x")
        .iter()
        .map(|one| one.text)
        .collect();
    assert_eq!(texts, ["cd a", "FOO=1 make -j4", "tee 'build log'", "echo \"a; b\" # done; x"]);
    let words: Vec<Vec<String>> =
        split("sudo env A=b git  commit -m 'a \"b\"'").iter().map(|one| one.words.clone()).collect();
    assert_eq!(words, [["git", "commit", "-m", "a \"b\""]]);
    assert!(split("make | head")[0].piped && !split("make || head")[0].piped);
    assert!(split("").is_empty() && split(" \n ; ").is_empty());
}

#[test]
fn files_that_a_command_changed_are_found() {
    use Change::{Deleted, Moved, Written};
    let cases: [(&str, &[(Change, &str)]); 11] = [
        ("echo hi > a.txt 2>/dev/null", &[(Written, "a.txt")]),
        ("make >> 'my log' 2>&1", &[(Written, "my log")]),
        ("cat <<'EOF' > b.py\nprint('> c.py')\nrm d\nEOF\necho done", &[(Written, "b.py")]),
        ("make | tee -a log.txt", &[(Written, "log.txt")]),
        ("sed -i 's/a\\/b/c/' src/x.rs", &[(Written, "src/x.rs")]),
        ("sed -n 1,3p src/x.rs", &[]),
        ("rm -rf build dist", &[(Deleted, "build"), (Deleted, "dist")]),
        ("mv a.rs b.rs", &[(Deleted, "a.rs"), (Moved, "b.rs")]),
        ("git mv a b && git rm c", &[(Deleted, "a"), (Moved, "b"), (Deleted, "c")]),
        ("touch x; cp y z", &[(Written, "x"), (Written, "z")]),
        ("diff <(sort a) b", &[]),
    ];
    for (command, expected) in cases {
        let found = changes(command);
        let found: Vec<(Change, &str)> = found.iter().map(|(how, file)| (*how, file.as_str())).collect();
        assert_eq!(found, expected, "{command}");
    }
}

#[test]
fn effects_outside_the_session_are_told_from_looking() {
    assert_eq!(
        effects("git status && git commit -m x && git push origin main"),
        ["git commit -m x", "git push origin main"]
    );
    assert_eq!(effects("curl -s https://x.dev/api"), [""; 0]);
    assert_eq!(effects("curl -X POST https://x.dev/api -d '{}'"), ["curl -X POST https://x.dev/api -d '{}'"]);
    for command in [
        "npm install left-pad",
        "gh pr create --fill",
        "kubectl apply -f x.yml",
        "ssh host uptime",
        "psql -c 'DELETE FROM t'",
        "terraform apply",
        "docker push a/b",
        "cargo publish",
        "aws s3 rm s3://b/k",
    ] {
        assert_eq!(effects(command), [command]);
    }
    for command in [
        "npm test",
        "gh pr view 3",
        "kubectl get pods",
        "psql -c 'SELECT 1'",
        "cargo build",
        "docker ps",
        "aws s3 ls",
    ] {
        assert_eq!(effects(command), [""; 0], "{command}");
    }
    assert!(split("cat a | grep b | head -3").iter().all(|one| one.only_looks()));
    assert!(!split("cat a && make").iter().all(|one| one.only_looks()));
}

#[test]
fn unfinished_commands_do_not_run_away() {
    for command in [
        "echo 'open",
        "cat <<EOF\nnever closed",
        "a \\",
        ">",
        "<<",
        "x > ",
        "((",
        "\"",
        "`",
        "a <<A <<B\nA\nx",
    ] {
        assert!(split(command).len() <= command.len(), "{command}");
    }
    assert_eq!(
        changes("cat <<A <<B > f\n1\nA\n2\nB\nrm g"),
        [(Change::Written, "f".to_owned()), (Change::Deleted, "g".to_owned())]
    );
}
