//! The command line `dsh-rewind` at the border: arguments in, an exit code out. Its text goes to the
//! process's own streams.

use napi_derive::napi;
use std::io::{BufWriter, IsTerminal, stderr, stdout};

use crate::audit::cli::{Streams, run};

/// Runs `dsh-rewind` with the arguments behind the program's name. Returns the exit code: 0 clean, 1
/// findings, 2 unusable input or usage.
#[napi(catch_unwind)]
pub fn audit_command(args: Vec<String>) -> u8 {
    let mut out = BufWriter::new(stdout());
    let mut err = stderr();
    let progress = err.is_terminal();
    run(&args, &mut Streams { out: &mut out, err: &mut err, progress })
}
