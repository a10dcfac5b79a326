//! What a command line of `dsh-rewind` asks for.

use super::input::Failure;
use crate::event::Seq;
use lexopt::{Arg, Error, Parser, ValueExt};
use std::num::NonZero;
use std::ops::RangeInclusive;

/// Threads beyond these find no work: the disk and the taking of lines are one's at a time.
const MOST_THREADS: usize = 4;
/// What `--threads` takes.
const THREADS: RangeInclusive<usize> = 1..=64;

const HELP: &str = "\
Audits session logs of the DeepSeek Harness: what happened to their context, and by whom

Usage: dsh-rewind <COMMAND>

Commands:
  audit  Marks, folds, everybody's replacements, refused requests, regret, damage
  show   What stands at a seq, what took it away, and the originals behind it
  fold   A dry run: what a fold would take and keep, and the report by code alone
  help   Print this message or the help of a command

Options:
  -h, --help     Print help
  -V, --version  Print version

Examples:
  dsh-rewind audit session.jsonl.zstd          one log, as a table
  dsh-rewind audit --json ~/.dsh/sessions      every log below a folder, for machines
  dsh-rewind show session.jsonl 120            what stands at seq 120, and the originals behind it
  dsh-rewind fold session.jsonl --from 40      what a fold of everything since seq 40 would do

Logs are session logs of the DeepSeek Harness, plain or compressed. Nothing is ever written.

Exit codes: 0 nothing found, 1 findings, 2 unusable input or usage.
";

const AUDIT_HELP: &str = "\
Marks, folds, everybody's replacements, refused requests, regret, damage

Usage: dsh-rewind audit [OPTIONS] <LOG|FOLDER>...

Arguments:
  <LOG|FOLDER>...  Session logs, or folders to look for them in

Options:
      --json         Write JSON instead of text
      --threads <N>  Threads that read lines [default: one a processor, at most 4]
  -h, --help         Print help

Example:
  dsh-rewind audit --json session.jsonl.zstd

Exit codes: 0 nothing found, 1 findings, 2 unusable input or usage.
";

const SHOW_HELP: &str = "\
What stands at a seq, what took it away, and the originals behind it

Usage: dsh-rewind show [OPTIONS] <LOG> <SEQ>

Arguments:
  <LOG>  A session log, .jsonl or .jsonl.zstd
  <SEQ>  The event's place in the log, as in s120

Options:
      --json         Write JSON instead of text
      --threads <N>  Threads that read lines [default: one a processor, at most 4]
  -h, --help         Print help

Example:
  dsh-rewind show session.jsonl 120
";

const FOLD_HELP: &str = "\
A dry run: what a fold would take and keep, and the report by code alone

Usage: dsh-rewind fold [OPTIONS] --from <SEQ> <LOG>

Arguments:
  <LOG>  A session log, .jsonl or .jsonl.zstd

Options:
      --from <SEQ>   First seq of the exploration
      --to <SEQ>     Last seq of the log to look at [default: its end]
      --json         Write JSON instead of text
      --threads <N>  Threads that read lines [default: one a processor, at most 4]
  -h, --help         Print help

Example:
  dsh-rewind fold session.jsonl --from 40 --to 90

Exit codes: 0 it would fold, 1 it would be refused, 2 unusable input or usage.
";

/// A command that can be carried out.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) command: Command,
    /// JSON instead of text.
    pub(super) json: bool,
    /// Threads that read lines.
    pub(super) threads: NonZero<usize>,
}

/// What is asked for.
#[derive(Debug)]
pub(super) enum Command {
    /// A text of the command line itself: help, or its version.
    Tell(String),
    Audit {
        paths: Vec<String>,
    },
    Show {
        log: String,
        seq: Seq,
    },
    Fold {
        log: String,
        from: Seq,
        to: Option<Seq>,
    },
}

/// Whose arguments are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Audit,
    Show,
    Fold,
}

impl Name {
    fn of(word: &str) -> Option<Self> {
        match word {
            "audit" => Some(Self::Audit),
            "show" => Some(Self::Show),
            "fold" => Some(Self::Fold),
            _ => None,
        }
    }

    fn help(name: Option<Self>) -> &'static str {
        match name {
            None => HELP,
            Some(Self::Audit) => AUDIT_HELP,
            Some(Self::Show) => SHOW_HELP,
            Some(Self::Fold) => FOLD_HELP,
        }
    }
}

/// Everything that was given, before it is known whether it is enough.
#[derive(Default)]
struct Given {
    name: Option<Name>,
    /// Paths, and for `show` the seq behind its path.
    words: Vec<String>,
    json: bool,
    threads: Option<usize>,
    from: Option<Seq>,
    to: Option<Seq>,
}

/// Reads the arguments behind the program's name.
pub(super) fn read(args: &[String]) -> Result<Request, Failure> {
    let mut given = Given::default();
    let told = take(args, &mut given).and_then(|told| match told {
        Some(text) => Ok(Command::Tell(text)),
        None => command(&mut given),
    });
    let command = told.map_err(|error| {
        let help = Name::help(given.name);
        let usage = help.lines().find(|line| line.starts_with("Usage: ")).unwrap_or_default();
        Failure::Usage(match args {
            // Whoever asks for nothing wants to know what there is.
            [] => format!("{}.\n\n{}", sentence(error), help.trim_end()),
            _ => format!("{}.\n{usage}\nFor more information, try '--help'.", sentence(error)),
        })
    })?;
    let own = || std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let threads = NonZero::new(given.threads.unwrap_or_else(own)).unwrap_or(NonZero::<usize>::MIN);
    Ok(Request { command, json: given.json, threads })
}

/// Takes what is given one by one. A text where one is asked for, whatever else is given.
fn take(args: &[String], given: &mut Given) -> Result<Option<String>, Error> {
    let mut parser = Parser::from_args(args);
    let mut helping = false;
    while let Some(arg) = parser.next()? {
        match (arg, given.name) {
            (Arg::Short('h') | Arg::Long("help"), name) => return Ok(Some(Name::help(name).to_owned())),
            (Arg::Short('V') | Arg::Long("version"), None) => {
                return Ok(Some(format!("dsh-rewind {}\n", env!("CARGO_PKG_VERSION"))));
            }
            (Arg::Long("json"), Some(_)) => given.json = true,
            (Arg::Long("threads"), Some(_)) => {
                once(&mut given.threads, threads(&parser.value()?.string()?)?, "--threads")?;
            }
            (Arg::Long("from"), Some(Name::Fold)) => {
                once(&mut given.from, seq("--from", &parser.value()?.string()?)?, "--from")?;
            }
            (Arg::Long("to"), Some(Name::Fold)) => {
                once(&mut given.to, seq("--to", &parser.value()?.string()?)?, "--to")?;
            }
            (Arg::Value(word), None) => {
                let word = word.string()?;
                given.name = Name::of(&word);
                if word == "help" && !helping {
                    helping = true;
                } else if given.name.is_none() {
                    return Err(
                        format!("there is no command {word:?}, only audit, show, fold and help").into()
                    );
                }
            }
            (Arg::Value(word), Some(_)) => given.words.push(word.string()?),
            (arg, _) => return Err(arg.unexpected()),
        }
    }
    Ok(helping.then(|| Name::help(given.name).to_owned()))
}

/// The command, where everything it needs is given.
fn command(given: &mut Given) -> Result<Command, Error> {
    let mut words = std::mem::take(&mut given.words).into_iter();
    let missing = |what: &str| Error::from(format!("{what} is missing"));
    let command = match given.name {
        None => return Err(missing("the command")),
        Some(Name::Audit) => match words.next() {
            None => return Err(missing("<LOG|FOLDER>")),
            Some(first) => Command::Audit { paths: std::iter::once(first).chain(words.by_ref()).collect() },
        },
        Some(Name::Show) => Command::Show {
            log: words.next().ok_or_else(|| missing("<LOG>"))?,
            seq: seq("<SEQ>", &words.next().ok_or_else(|| missing("<SEQ>"))?)?,
        },
        Some(Name::Fold) => Command::Fold {
            log: words.next().ok_or_else(|| missing("<LOG>"))?,
            from: given.from.ok_or_else(|| missing("--from <SEQ>"))?,
            to: given.to,
        },
    };
    match words.next() {
        None => Ok(command),
        Some(word) => Err(format!("{word:?} is one argument too many").into()),
    }
}

fn once<T>(place: &mut Option<T>, value: T, option: &str) -> Result<(), Error> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("{option} is given twice").into()),
    }
}

/// A seq as a person gives it: the bare number, or as every text of this package prints it.
fn seq(what: &str, text: &str) -> Result<Seq, Error> {
    let digits = text.strip_prefix('s').unwrap_or(text);
    digits.parse().map_err(|_| format!("{what} takes a seq, as 120 or s120, not {text:?}").into())
}

fn threads(text: &str) -> Result<usize, Error> {
    let threads = text.parse().ok().filter(|threads| THREADS.contains(threads));
    threads.ok_or_else(|| {
        let (least, most) = (THREADS.start(), THREADS.end());
        format!("--threads takes a number from {least} to {most}, not {text:?}").into()
    })
}

/// The library's errors in words that say what to do.
fn sentence(error: Error) -> String {
    match error {
        Error::MissingValue { option: Some(option) } => format!("{option} needs a value behind it"),
        Error::UnexpectedOption(option) => {
            format!("{option} is no option here; a file of that name goes behind --")
        }
        Error::UnexpectedValue { option, .. } => format!("{option} takes no value"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
