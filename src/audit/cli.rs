//! The command line `dsh-rewind`: arguments in, text or JSON out, an exit code back.

use super::args::{self, Command, Request};
use super::dry_run::dry_run;
use super::input::{Failure, Input, logs};
use super::report::LogAudit;
use super::show::show;
use super::{Audit, Code, table};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::io::{self, Write};

/// Nothing to object to.
const CLEAN: u8 = 0;
/// There are findings.
const FINDINGS: u8 = 1;
/// The command line, or what it names, cannot be used.
const UNUSABLE: u8 = 2;
/// Bytes on disk from which a progress bar is worth its line.
const LONG: u64 = 8 << 20;

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
    match args::read(args).and_then(|request| carry_out(request, streams)) {
        Ok(code) => code,
        // Whoever reads the output has gone, as `head` does.
        Err(Failure::Disk { error, .. }) if error.kind() == io::ErrorKind::BrokenPipe => CLEAN,
        Err(failure) => {
            drop(writeln!(streams.err, "dsh-rewind: {failure}"));
            UNUSABLE
        }
    }
}

fn carry_out(request: Request, streams: &mut Streams<'_>) -> Result<u8, Failure> {
    let Request { command, json, threads } = request;
    let auditor = Audit { threads };
    match command {
        Command::Tell(text) => {
            write!(streams.out, "{text}")?;
            streams.out.flush()?;
            Ok(CLEAN)
        }
        Command::Audit { paths } => audit(&paths, auditor, json, streams),
        Command::Show { log, seq } => {
            let shown = show(&Input::file(&log), auditor, seq)?;
            answer(streams.out, &shown, json, || shown.text())?;
            Ok(CLEAN)
        }
        Command::Fold { log, from, to } => {
            let run = dry_run(&Input::file(&log), auditor, from, to)?;
            answer(streams.out, &run, json, || run.text())?;
            Ok(if run.refused.is_some() { FINDINGS } else { CLEAN })
        }
    }
}

/// Writes an answer: one line for machines, or the text for a person.
fn answer(
    out: &mut dyn Write,
    answer: &impl Serialize,
    json: bool,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    // In one piece, as everywhere in this crate: a second kind of JSON writer is as much code again.
    let text = if json { serde_json::to_string(answer).map_err(io::Error::from)? + "\n" } else { text() };
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

fn audit(paths: &[String], auditor: Audit, json: bool, streams: &mut Streams<'_>) -> Result<u8, Failure> {
    let inputs = logs(paths.iter().map(String::as_str))?;
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
        // One log a line for machines, so that a reader need not wait for the last.
        bar.suspend(|| answer(streams.out, &audit, json, || table::text(&audit) + "\n"))?;
    }
    bar.finish_and_clear();
    if !json && inputs.len() > 1 {
        writeln!(streams.out, "{read} logs, {clean} of them without findings")?;
    }
    streams.out.flush()?;
    Ok(code)
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
