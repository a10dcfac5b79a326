use super::*;

fn asked(line: &str) -> Command {
    read(&split(line)).unwrap().command
}

/// What is wrong with a line, without how it is written and where to read on.
fn wrong(line: &str) -> String {
    let Err(Failure::Usage(text)) = read(&split(line)) else { unreachable!("{line} was taken") };
    let (first, rest) = text.split_once('\n').unwrap();
    assert!(rest.contains("Usage: dsh-rewind ") && rest.contains("--help"), "{text}");
    first.to_owned()
}

fn split(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn options_stand_anywhere_and_take_their_value_either_way() {
    for line in ["fold log --from 40 --to 90", "fold --from=40 log --to=90", "fold --to 90 --from 40 -- log"]
    {
        let Command::Fold { log, from, to } = asked(line) else { unreachable!("{line}") };
        assert_eq!((log.as_str(), from, to), ("log", 40, Some(90)), "{line}");
    }
    let Command::Show { log, seq } = asked("show --json log s120") else { unreachable!() };
    assert_eq!((log.as_str(), seq), ("log", 120));
    let Command::Audit { paths } = asked("audit a --json b -- --c") else { unreachable!() };
    assert_eq!(paths, ["a", "b", "--c"]);
    let request = read(&split("audit --threads 64 --json a")).unwrap();
    assert_eq!((request.threads.get(), request.json), (64, true));
    let request = read(&split("audit a")).unwrap();
    assert!(!request.json && request.threads.get() <= MOST_THREADS);
}

#[test]
fn help_is_of_the_command_it_is_asked_with() {
    for (line, text) in [
        ("--help", HELP),
        ("-h", HELP),
        ("help", HELP),
        ("help fold", FOLD_HELP),
        ("show -h", SHOW_HELP),
        ("audit a --threads 2 --help", AUDIT_HELP),
        ("fold --help --from x", FOLD_HELP),
    ] {
        let Command::Tell(told) = asked(line) else { unreachable!("{line}") };
        assert_eq!(told, text, "{line}");
    }
}

#[test]
fn every_mistake_is_named_with_what_is_taken_instead() {
    for (line, first) in [
        ("", "the command is missing."),
        ("frob", "there is no command \"frob\", only audit, show, fold and help."),
        ("help help", "there is no command \"help\", only audit, show, fold and help."),
        ("help frob", "there is no command \"frob\", only audit, show, fold and help."),
        ("--json audit a", "--json is no option here; a file of that name goes behind --."),
        ("audit", "<LOG|FOLDER> is missing."),
        ("audit --frob a", "--frob is no option here; a file of that name goes behind --."),
        ("audit -x a", "-x is no option here; a file of that name goes behind --."),
        ("audit --from 3 a", "--from is no option here; a file of that name goes behind --."),
        ("audit --json=yes a", "--json takes no value."),
        ("audit a --threads", "--threads needs a value behind it."),
        ("audit --threads 0 a", "--threads takes a number from 1 to 64, not \"0\"."),
        ("audit --threads 65 a", "--threads takes a number from 1 to 64, not \"65\"."),
        ("audit --threads two a", "--threads takes a number from 1 to 64, not \"two\"."),
        ("audit --threads 1 --threads 2 a", "--threads is given twice."),
        ("show", "<LOG> is missing."),
        ("show log", "<SEQ> is missing."),
        ("show log ss120", "<SEQ> takes a seq, as 120 or s120, not \"ss120\"."),
        ("show log 4294967296", "<SEQ> takes a seq, as 120 or s120, not \"4294967296\"."),
        ("show log 1 2", "\"2\" is one argument too many."),
        ("fold --from 3", "<LOG> is missing."),
        ("fold log", "--from <SEQ> is missing."),
        ("fold log --from -1", "--from takes a seq, as 120 or s120, not \"-1\"."),
        ("fold log --from 3 --to", "--to needs a value behind it."),
        ("fold log --from 3 --to 1 --to 2", "--to is given twice."),
    ] {
        assert_eq!(wrong(line), first, "{line}");
    }
    let Err(Failure::Usage(text)) = read(&[]) else { unreachable!() };
    assert!(text.ends_with(HELP.trim_end()), "whoever asks for nothing is told what there is");
}
