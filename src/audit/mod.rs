//! Audit of session logs on disk, for anybody's replacements. Read-only; the one room that reads files and
//! starts threads.
//!
//! [`Audit::run`] reads a log batch by batch: threads turn lines into a few numbers and names each, and these
//! are taken in order into the surface, the marks and the replacements. It uses the same reader of
//! replacements as recall and the same wire check as the fold.

mod args;
mod chunks;
pub mod cli;
mod dispatch;
mod dry_run;
mod edits;
mod findings;
mod folds;
mod input;
mod landed;
mod lean;
mod lines;
mod look;
mod maker;
mod node;
mod order;
mod promises;
mod report;
mod row;
mod scan;
mod session;
mod show;
mod source;
mod table;
mod track;

pub use findings::{Code, Finding};
pub use report::{
    FirstFault, FoldAudit, LogAudit, MarkAudit, ReadAgain, ReplacementAudit, Requests, ShadowedPerson, Size,
};
pub use source::Disk;

use crate::event::Seq;
use input::{Failure, Input};
use lines::End;
use session::Session;
use source::{Flaw, Source};
use std::io;
use std::num::NonZero;

/// How an audit is run.
#[derive(Debug, Clone, Copy)]
pub struct Audit {
    /// Threads that read lines, the caller's among them.
    pub threads: NonZero<usize>,
}

impl Audit {
    /// Audits one log. `progress` is told how many bytes of the file were read so far.
    ///
    /// # Errors
    /// What the disk says. A damaged log is no error: its damage is among the findings.
    pub fn run<'a>(
        self,
        path: &str,
        disk: impl Disk + 'a,
        progress: impl FnMut(u64) + Send,
    ) -> io::Result<LogAudit> {
        Ok(self.read(path, disk, None, progress)?.finish())
    }

    /// Reads one log, events behind `until` left out.
    fn read<'a>(
        self,
        path: &str,
        disk: impl Disk + 'a,
        until: Option<Seq>,
        mut progress: impl FnMut(u64) + Send,
    ) -> io::Result<Session> {
        let source = Source::open(Box::new(disk))?;
        let mut session = Session::default();
        session.until = until;
        session.audit.path = path.to_owned();
        let mut line = 0;
        lines::read(source, self.threads, |lines| {
            session.audit.bytes += lines.bytes;
            for row in lines.rows.drain(..) {
                line += 1;
                session.take(line, row);
            }
            if let Some(end) = lines.end.take() {
                cut(&mut session, &mut line, end);
            }
            progress(lines.consumed);
        })?;
        Ok(session)
    }
}

/// Says why lines end where they should not.
fn cut(session: &mut Session, line: &mut u64, end: End) {
    let (code, lost, message) = match end {
        End::Torn(bytes) => {
            let message =
                format!("The last line breaks off after {bytes} bytes; the harness leaves it out, too.");
            (Code::TornTail, true, message)
        }
        End::TooLong => {
            (Code::LineTooLong, true, "The line is longer than 64 MB; it is left out.".to_owned())
        }
        End::Flaw(Flaw::Torn, lost) => {
            (Code::TornFrame, lost, "The last compressed frame breaks off; what it held was read.".to_owned())
        }
        End::Flaw(Flaw::Bad(at), lost) => {
            let message =
                format!("The compressed frame at byte {at} cannot be read; read on at the next one.");
            (Code::BadFrame, lost, message)
        }
    };
    let next = *line + 1;
    if lost {
        *line = next;
        session.audit.lines = next;
    }
    session.object(code, Some(next), message);
    session.lost();
}
