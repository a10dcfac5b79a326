//! A log as batches of whole lines, and the threads that read them.

use super::row::{self, Damage, Row};
use super::source::{Flaw, Read1, Source};
use crate::report::tools::Tools;
use memchr::{memchr, memchr_iter, memrchr};
use std::io;
use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes in a batch, about.
const BATCH: usize = 1 << 18;
/// Longest line that is read, in bytes.
const LONGEST: usize = 1 << 26;
/// Batches that may wait for an earlier one, for each thread.
const AHEAD: usize = 4;

/// Why a batch ends where it does not end with a full line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// The compressed form is flawed behind these lines; the flag says that a line was cut and is lost.
    Flaw(Flaw, bool),
    /// The last line has no newline: bytes of it.
    Torn(usize),
    /// A line is longer than is read.
    TooLong,
}

/// What a batch came to, in the order of its lines.
pub(super) struct Lines {
    pub(super) rows: Vec<Result<Row, Damage>>,
    pub(super) end: Option<End>,
    /// Decompressed bytes.
    pub(super) bytes: u64,
    /// Bytes of the file that were read up to here.
    pub(super) consumed: u64,
}

struct Reader<'a> {
    source: Source<'a>,
    /// The beginning of the line under way.
    rest: Vec<u8>,
    /// The line under way is too long, and is skipped up to its end.
    skipping: bool,
    done: bool,
    next: u64,
}

/// What ended a batch.
enum Fill {
    /// Whole lines, and what is wrong behind them.
    Lines(Option<End>),
    /// There are no more.
    Nothing,
}

impl Reader<'_> {
    /// Fills `bytes` with the next whole lines.
    fn fill(&mut self, bytes: &mut Vec<u8>) -> io::Result<Fill> {
        bytes.clear();
        bytes.append(&mut self.rest);
        // Whole lines end here; what is behind belongs to a line under way.
        let mut whole = 0;
        while !self.done {
            let had = bytes.len();
            bytes.resize(had + BATCH, 0);
            let read = self.source.read(bytes.get_mut(had..).unwrap_or_default())?;
            bytes.truncate(had + if let Read1::Bytes(count) = read { count } else { 0 });
            match read {
                Read1::Bytes(0) => self.done = true,
                Read1::Bytes(_) => {}
                Read1::Flawed(flaw) => {
                    let lost = std::mem::take(&mut self.skipping) || whole < bytes.len();
                    bytes.truncate(whole);
                    return Ok(Fill::Lines(Some(End::Flaw(flaw, lost))));
                }
            }
            let mut fresh = had;
            if self.skipping {
                let Some(end) = memchr(b'\n', bytes) else {
                    bytes.clear();
                    continue;
                };
                bytes.drain(..=end);
                self.skipping = false;
                fresh = 0;
            }
            let last = memrchr(b'\n', bytes.get(fresh..).unwrap_or_default());
            whole = last.map_or(whole, |at| fresh + at + 1);
            if whole > 0 && bytes.len() >= BATCH {
                self.rest.extend_from_slice(bytes.get(whole..).unwrap_or_default());
                bytes.truncate(whole);
                return Ok(Fill::Lines(None));
            }
            if bytes.len() - whole > LONGEST {
                bytes.truncate(whole);
                self.skipping = true;
                return Ok(Fill::Lines(Some(End::TooLong)));
            }
        }
        let torn = bytes.len() - whole;
        bytes.truncate(whole);
        Ok(match (whole, torn) {
            (0, 0) => Fill::Nothing,
            (_, 0) => Fill::Lines(None),
            _ => Fill::Lines(Some(End::Torn(torn))),
        })
    }
}

struct Work<'a> {
    reader: Mutex<Reader<'a>>,
    order: Mutex<Order>,
    turn: Condvar,
}

/// Batches that are read but not yet due, and rows to fill again.
struct Order {
    due: u64,
    /// A few for each thread, see [`AHEAD`].
    waiting: Vec<(u64, Lines)>,
    spare: Vec<Vec<Result<Row, Damage>>>,
    failed: Option<io::Error>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a log on so many threads, the caller's among them, and hands its lines over in order. Whoever takes
/// lines leaves the emptied rows behind.
///
/// # Errors
/// What the disk says; lines before that were handed over.
pub(super) fn read(
    source: Source<'_>,
    threads: NonZero<usize>,
    take: impl FnMut(&mut Lines) + Send,
) -> io::Result<()> {
    let reader = Reader { source, rest: Vec::new(), skipping: false, done: false, next: 0 };
    let order = Order { due: 0, waiting: Vec::new(), spare: Vec::new(), failed: None };
    let work = Work { reader: Mutex::new(reader), order: Mutex::new(order), turn: Condvar::new() };
    let take = Mutex::new(take);
    std::thread::scope(|scope| {
        for _ in 1..threads.get() {
            scope.spawn(|| run(&work, threads, &take));
        }
        run(&work, threads, &take);
    });
    let order = work.order.into_inner().unwrap_or_else(PoisonError::into_inner);
    order.failed.map_or(Ok(()), Err)
}

/// Hands over the lines themselves, and what is wrong behind some of them.
///
/// # Errors
/// What the disk says.
pub(super) fn each(source: Source<'_>, mut take: impl FnMut(Result<&[u8], End>)) -> io::Result<()> {
    let mut reader = Reader { source, rest: Vec::new(), skipping: false, done: false, next: 0 };
    let mut buffer = Vec::new();
    while let Fill::Lines(end) = reader.fill(&mut buffer)? {
        let mut from = 0;
        for end in memchr_iter(b'\n', &buffer) {
            take(Ok(buffer.get(from..end).unwrap_or_default()));
            from = end + 1;
        }
        if let Some(end) = end {
            take(Err(end));
        }
    }
    Ok(())
}

fn run(work: &Work<'_>, threads: NonZero<usize>, take: &Mutex<impl FnMut(&mut Lines) + Send>) {
    let tools = Tools::default();
    // One buffer a thread: large ones that come and go cost more than the lines in them.
    let mut buffer = Vec::new();
    loop {
        let (number, end, consumed) = {
            let mut reader = lock(&work.reader);
            match reader.fill(&mut buffer) {
                Ok(Fill::Lines(end)) => {
                    reader.next += 1;
                    (reader.next - 1, end, reader.source.consumed)
                }
                Ok(Fill::Nothing) => break,
                Err(error) => {
                    reader.done = true;
                    lock(&work.order).failed.get_or_insert(error);
                    break;
                }
            }
        };
        let mut rows = lock(&work.order).spare.pop().unwrap_or_default();
        let mut from = 0;
        for end in memchr_iter(b'\n', &buffer) {
            rows.push(row::read(buffer.get(from..end).unwrap_or_default(), &tools));
            from = end + 1;
        }
        let lines = Lines { rows, end, bytes: buffer.len() as u64, consumed };
        deliver(work, threads, number, lines, take);
    }
}

/// Hands over all batches that are due. Whoever reads far ahead waits, so that memory stays bounded.
fn deliver(
    work: &Work<'_>,
    threads: NonZero<usize>,
    number: u64,
    lines: Lines,
    take: &Mutex<impl FnMut(&mut Lines) + Send>,
) {
    let mut order = lock(&work.order);
    while number > order.due && order.waiting.len() >= AHEAD * threads.get() && order.failed.is_none() {
        order = work.turn.wait(order).unwrap_or_else(PoisonError::into_inner);
    }
    order.waiting.push((number, lines));
    // The lock is kept while lines are taken: taking is cheap beside reading, and must be done in order.
    let mut take = lock(take);
    while let Some(at) = {
        let due = order.due;
        order.waiting.iter().position(|(number, _)| *number == due)
    } {
        let (_, mut lines) = order.waiting.swap_remove(at);
        order.due += 1;
        take(&mut lines);
        order.spare.push(lines.rows);
    }
    work.turn.notify_all();
}
