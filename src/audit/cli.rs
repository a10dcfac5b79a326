//! The command line `dsh-rewind`: arguments in, text or JSON out, an exit code back.

use super::dry_run::dry_run;
use super::input::{Failure, Input, logs};
use super::report::LogAudit;
use super::show::show;
use super::{Audit, Code, table};
use crate::event::Seq;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, Write};
use std::num::NonZero;

/// Nothing to object to.
const CLEAN: u8 = 0;
/// There are findings.
const FINDINGS: u8 = 1;
/// The command line, or what it names, cannot be used.
const UNUSABLE: u8 = 2;
/// Threads beyond these find no work: the disk and the taking of lines are one's at a time.
const MOST_THREADS: usize = 4;
/// Bytes on disk from which a progress bar is worth its line.
const LONG: u64 = 8 << 20;

const EXAMPLES: &str = "\
Examples:
  dsh-rewind audit session.jsonl.zstd          one log, as a table
  dsh-rewind audit --json ~/.dsh/sessions      every log below a folder, for machines
  dsh-rewind show session.jsonl 120            what stands at seq 120, and the originals behind it
  dsh-rewind fold session.jsonl --from 40      what a fold of everything since seq 40 would do

Logs are session logs of the DeepSeek Harness, plain or compressed. Nothing is ever written.

Exit codes: 0 nothing found, 1 findings, 2 unusable input or usage.";

/// Where the command writes.
pub struct Streams<'a> {
    /// What was asked for.
    pub out: &'a mut dyn Write,
    /// What went wrong.
    pub err: &'a mut dyn Write,
    /// Whether a progress bar may be drawn on the terminal behind `err`.
    pub progress: bool,
}

/// Runs the command; `args` are those behind the program's name. Returns the exit code.
pub fn run(args: &[String], streams: &mut Streams<'_>) -> u8 {
    let all = std::iter::once("dsh-rewind").chain(args.iter().map(String::as_str));
    let matches = match command().try_get_matches_from(all) {
        Ok(matches) => matches,
        Err(error) => {
            let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            let stream: &mut dyn Write = if asked { streams.out } else { streams.err };
            drop(write!(stream, "{error}"));
            return if asked { CLEAN } else { UNUSABLE };
        }
    };
    let done = match matches.subcommand() {
        Some(("audit", matches)) => audit(matches, streams),
        Some(("show", matches)) => shown(matches, streams),
        Some(("fold", matches)) => folded(matches, streams),
        _ => Ok(UNUSABLE),
    };
    match done {
        Ok(code) => code,
        // Whoever reads the output has gone, as `head` does.
        Err(Failure::Disk { error, .. }) if error.kind() == io::ErrorKind::BrokenPipe => CLEAN,
        Err(failure) => {
            drop(writeln!(streams.err, "dsh-rewind: {failure}"));
            UNUSABLE
        }
    }
}

/// A seq as a person gives it: the bare number, or as every text of this package prints it.
fn seq_of(text: &str) -> Result<Seq, String> {
    let digits = text.strip_prefix('s').unwrap_or(text);
    digits.parse().map_err(|_| "a seq is a number, as in 120 or s120".to_owned())
}

fn command() -> Command {
    let json = || Arg::new("json").long("json").action(ArgAction::SetTrue).help("Write JSON instead of text");
    let threads = || {
        Arg::new("threads")
            .long("threads")
            .value_name("N")
            .value_parser(value_parser!(u16).range(1..=64))
            .help("Threads that read lines [default: one a processor, at most 4]")
    };
    let log =
        || Arg::new("log").value_name("LOG").required(true).help("A session log, .jsonl or .jsonl.zstd");
    let seq = |name: &'static str| Arg::new(name).value_name("SEQ").value_parser(seq_of);
    Command::new("dsh-rewind")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Audits session logs of the DeepSeek Harness: what happened to their context, and by whom")
        .after_help(EXAMPLES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("audit")
                .about("Marks, folds, everybody's replacements, refused requests, regret, damage")
                .arg(
                    Arg::new("paths")
                        .value_name("LOG|FOLDER")
                        .num_args(1..)
                        .required(true)
                        .help("Session logs, or folders to look for them in"),
                )
                .arg(json())
                .arg(threads())
                .after_help(
                    "Example:\n  dsh-rewind audit --json session.jsonl.zstd\n\n\
                     Exit codes: 0 nothing found, 1 findings, 2 unusable input or usage.",
                ),
        )
        .subcommand(
            Command::new("show")
                .about("What stands at a seq, what took it away, and the originals behind it")
                .arg(log())
                .arg(seq("seq").required(true).help("The event's place in the log, as in s120"))
                .arg(json())
                .arg(threads())
                .after_help("Example:\n  dsh-rewind show session.jsonl 120"),
        )
        .subcommand(
            Command::new("fold")
                .about("A dry run: what a fold would take and keep, and the report by code alone")
                .arg(log())
                .arg(seq("from").long("from").required(true).help("First seq of the exploration"))
                .arg(seq("to").long("to").help("Last seq of the log to look at [default: its end]"))
                .arg(json())
                .arg(threads())
                .after_help(
                    "Example:\n  dsh-rewind fold session.jsonl --from 40 --to 90\n\n\
                     Exit codes: 0 it would fold, 1 it would be refused, 2 unusable input or usage.",
                ),
        )
}

fn auditor(matches: &ArgMatches) -> Audit {
    let asked = matches.get_one::<u16>("threads").map(|threads| usize::from(*threads));
    let own = || std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    Audit { threads: NonZero::new(asked.unwrap_or_else(own)).unwrap_or(NonZero::<usize>::MIN) }
}

fn audit(matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<u8, Failure> {
    let paths = matches.get_many::<String>("paths").into_iter().flatten().map(String::as_str);
    let inputs = logs(paths)?;
    let json = matches.get_flag("json");
    let auditor = auditor(matches);
    let total: u64 = inputs.iter().map(Input::size).sum();
    let bar = bar(total, streams.progress);
    let mut code = CLEAN;
    let (mut clean, mut read) = (0, 0);
    let mut before = 0;
    for input in &inputs {
        bar.set_message(input.path.clone());
        let audited = input.open().and_then(|file| {
            let told = bar.clone();
            let result = auditor.run(&input.path, file, move |bytes| told.set_position(before + bytes));
            result.map_err(|error| Failure::Disk { path: input.path.clone(), error })
        });
        before += input.size();
        bar.set_position(before);
        let audit = match audited {
            Ok(audit) => audit,
            Err(failure) => {
                bar.suspend(|| drop(writeln!(streams.err, "dsh-rewind: {failure}")));
                code = UNUSABLE;
                continue;
            }
        };
        read += 1;
        if is_foreign(&audit) {
            let path = &audit.path;
            bar.suspend(|| {
                drop(writeln!(streams.err, "dsh-rewind: {path}: this is no session log."));
            });
            code = if input.named { UNUSABLE } else { code.max(FINDINGS) };
            continue;
        }
        if audit.findings.is_empty() {
            clean += 1;
        } else {
            code = code.max(FINDINGS);
        }
        bar.suspend(|| write_audit(streams.out, &audit, json))?;
    }
    bar.finish_and_clear();
    if !json && inputs.len() > 1 {
        writeln!(streams.out, "{read} logs, {clean} of them without findings")?;
    }
    streams.out.flush()?;
    Ok(code)
}

/// One log a line for machines, so that a reader need not wait for the last.
fn write_audit(out: &mut dyn Write, audit: &LogAudit, json: bool) -> Result<(), Failure> {
    if json {
        serde_json::to_writer(&mut *out, audit).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{}", table::text(audit))?;
    }
    Ok(())
}

/// Whether a file holds nothing of a session: it is not damaged, it is something else.
fn is_foreign(audit: &LogAudit) -> bool {
    let nothing =
        audit.surface.nodes == 0 && audit.replacements.is_empty() && audit.chunks + audit.turns == 0;
    nothing && audit.findings.iter().any(|finding| finding.code == Code::NoHeader)
}

fn bar(total: u64, progress: bool) -> ProgressBar {
    if !progress || total < LONG {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    match ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {wide_msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn log_of(matches: &ArgMatches) -> Input {
    Input::file(matches.get_one::<String>("log").map_or("", String::as_str))
}

fn shown(matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<u8, Failure> {
    let seq = matches.get_one::<Seq>("seq").copied().unwrap_or_default();
    let shown = show(&log_of(matches), auditor(matches), seq)?;
    if matches.get_flag("json") {
        serde_json::to_writer(&mut *streams.out, &shown).map_err(io::Error::from)?;
        writeln!(streams.out)?;
    } else {
        write!(streams.out, "{}", shown.text())?;
    }
    streams.out.flush()?;
    Ok(CLEAN)
}

fn folded(matches: &ArgMatches, streams: &mut Streams<'_>) -> Result<u8, Failure> {
    let from = matches.get_one::<Seq>("from").copied().unwrap_or_default();
    let run = dry_run(&log_of(matches), auditor(matches), from, matches.get_one::<Seq>("to").copied())?;
    if matches.get_flag("json") {
        serde_json::to_writer(&mut *streams.out, &run).map_err(io::Error::from)?;
        writeln!(streams.out)?;
    } else {
        write!(streams.out, "{}", run.text())?;
    }
    streams.out.flush()?;
    Ok(if run.refused.is_some() { FINDINGS } else { CLEAN })
}
