use tool_rewind::report::effects::Change;
use tool_rewind::report::shell;
use tool_rewind::report::shell::{Shell, Simple};

fn split(command: &str) -> Vec<Simple<'_>> {
    shell::split(command, Shell::Posix)
}

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
fn options_and_wrappers_before_a_sub_command_hide_no_effect() {
    for command in [
        "git -C /repo push origin main",
        "git -c user.name=x commit -m y",
        "git branch -D old",
        "kubectl -n prod delete pod x",
        "helm --namespace prod upgrade a b",
        "gh -R o/r pr merge 3",
        "npm --prefix web install",
        "pnpm -C web add x",
        "cargo +nightly publish",
        "uv pip install x",
        "python3 -m pip install x",
        "timeout 60 npm publish",
        "timeout -s KILL 60 git push",
        "sudo -u www systemctl restart nginx",
        "env -u A B=c nice -n 5 git push",
        "bash -c 'cd x && git push'",
        "pwsh -Command \"git push\"",
    ] {
        assert_eq!(effects(command), [command]);
    }
    for command in [
        "git -C push status",
        "git branch -a",
        "kubectl -n delete get pods",
        "timeout 60 npm test",
        "bash -c 'git status'",
        "uv pip list",
        "python3 -m pytest install",
        "npm run install-check",
    ] {
        assert_eq!(effects(command), [""; 0], "{command}");
    }
    assert!(split("find . | xargs -n 1 grep x").iter().all(|one| one.only_looks()));
    assert!(split("sudo").is_empty() && split("timeout").is_empty() && split("timeout -k").is_empty());
}

#[test]
fn powershell_is_read_by_its_own_grammar() {
    use Change::{Deleted, Moved, Written};
    let changes = |command: &str| -> Vec<(Change, String)> {
        let commands = shell::split(command, Shell::Power);
        commands.iter().flat_map(Simple::changes).map(|(how, file)| (how, file.to_owned())).collect()
    };
    let cases: [(&str, &[(Change, &str)]); 13] = [
        ("rm src\\old.js", &[(Deleted, "src\\old.js")]),
        ("cp src\\a.js src\\new.js 2>$null", &[(Written, "src\\new.js")]),
        ("npm test > out\\test.log", &[(Written, "out\\test.log")]),
        ("Set-Content -Path src\\w.txt -Value hi", &[(Written, "src\\w.txt")]),
        ("set-content src\\w.txt 'a; b'", &[(Written, "src\\w.txt")]),
        ("\"x\" | Out-File -FilePath log\\t.txt -Encoding utf8", &[(Written, "log\\t.txt")]),
        ("New-Item -ItemType File -Name n.txt", &[(Written, "n.txt")]),
        ("Remove-Item -Recurse -Force build\\out, dist", &[(Deleted, "build\\out")]),
        ("Remove-Item a.txt,b.txt", &[(Deleted, "a.txt"), (Deleted, "b.txt")]),
        ("Move-Item a.txt b.txt", &[(Deleted, "a.txt"), (Moved, "b.txt")]),
        ("Rename-Item -Path a.txt -NewName b.txt", &[(Deleted, "a.txt"), (Moved, "b.txt")]),
        ("Copy-Item -Path a.txt b.txt", &[(Written, "b.txt")]),
        ("Get-Content src\\a.js | Select-Object -First 3", &[]),
    ];
    for (command, expected) in cases {
        let found = changes(command);
        let found: Vec<(Change, &str)> = found.iter().map(|(how, file)| (*how, file.as_str())).collect();
        assert_eq!(found, expected, "{command}");
    }
    let one = |command: &'static str| shell::split(command, Shell::Power).remove(0);
    assert_eq!(one("echo \"a`\"b\" c:\\x").words, ["echo", "a\"b", "c:\\x"]);
    assert!(one("Invoke-RestMethod -Method Post https://x.dev").has_effect());
    assert!(!one("Invoke-RestMethod https://x.dev").has_effect());
    assert!(one("Restart-Service nginx").has_effect() && one("Get-ChildItem src").only_looks());
    assert!(one("select-string zebra src\\*.ts").searches());
    assert_eq!(split("rm src\\old.js")[0].changes(), [(Deleted, "srcold.js")], "a POSIX shell drops it");
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
