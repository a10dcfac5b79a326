//! A log as batches of whole lines, and the threads that read them.

use super::row::{self, Damage, Row};
use super::source::{Flaw, Read1, Source};
use crate::report::tools::Tools;
use memchr::{memchr, memchr_iter, memrchr};
use std::io;
use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

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

/// Bytes that are filled over and over; a vector that shrinks and grows would be zeroed each time.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    used: usize,
}

impl Buffer {
    fn get(&self) -> &[u8] {
        self.bytes.get(..self.used).unwrap_or_default()
    }

    /// Room for so many bytes behind what is used.
    fn room(&mut self, size: usize) -> &mut [u8] {
        let end = self.used + size;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes.get_mut(self.used..end).unwrap_or_default()
    }

    fn push(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
        self.used += bytes.len();
    }

    /// Takes so many bytes away at the front.
    fn drop_front(&mut self, count: usize) {
        self.bytes.copy_within(count..self.used, 0);
        self.used -= count;
    }
}

impl Reader<'_> {
    fn new(source: Source<'_>) -> Reader<'_> {
        Reader { source, rest: Vec::new(), skipping: false, done: false, next: 0 }
    }

    /// Fills the buffer with the next whole lines.
    fn fill(&mut self, buffer: &mut Buffer) -> io::Result<Fill> {
        buffer.used = 0;
        buffer.push(&self.rest);
        self.rest.clear();
        // Whole lines end here; what is behind belongs to a line under way.
        let mut whole = 0;
        while !self.done {
            let mut fresh = buffer.used;
            match self.source.read(buffer.room(BATCH))? {
                Read1::Bytes(0) => self.done = true,
                Read1::Bytes(count) => buffer.used += count,
                Read1::Flawed(flaw) => {
                    let lost = std::mem::take(&mut self.skipping) || whole < buffer.used;
                    buffer.used = whole;
                    return Ok(Fill::Lines(Some(End::Flaw(flaw, lost))));
                }
            }
            if self.skipping {
                let Some(end) = memchr(b'\n', buffer.get()) else {
                    buffer.used = 0;
                    continue;
                };
                buffer.drop_front(end + 1);
                self.skipping = false;
                fresh = 0;
            }
            let last = memrchr(b'\n', buffer.get().get(fresh..).unwrap_or_default());
            whole = last.map_or(whole, |at| fresh + at + 1);
            if whole > 0 && buffer.used >= BATCH {
                self.rest.extend_from_slice(buffer.get().get(whole..).unwrap_or_default());
                buffer.used = whole;
                return Ok(Fill::Lines(None));
            }
            if buffer.used - whole > LONGEST {
                buffer.used = whole;
                self.skipping = true;
                return Ok(Fill::Lines(Some(End::TooLong)));
            }
        }
        let torn = buffer.used - whole;
        buffer.used = whole;
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
    let reader = Reader::new(source);
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
    let mut reader = Reader::new(source);
    let mut buffer = Buffer::default();
    while let Fill::Lines(end) = reader.fill(&mut buffer)? {
        let (bytes, mut from) = (buffer.get(), 0);
        for end in memchr_iter(b'\n', bytes) {
            take(Ok(bytes.get(from..end).unwrap_or_default()));
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
    let mut buffer = Buffer::default();
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
        read_rows(buffer.get(), &tools, &mut rows);
        let lines = Lines { rows, end, bytes: buffer.used as u64, consumed };
        deliver(work, threads, number, lines, take);
    }
}

/// Reads whole lines.
fn read_rows(bytes: &[u8], tools: &Tools, rows: &mut Vec<Result<Row, Damage>>) {
    // One check of all text is faster than one for each line. A line that is not UTF-8 makes every line of its batch be
    // looked at by itself.
    let text = simdutf8::basic::from_utf8(bytes).ok();
    let mut from = 0;
    for end in memchr_iter(b'\n', bytes) {
        rows.push(match text.and_then(|text| text.get(from..end)) {
            Some(line) => row::read_text(line, tools),
            None => row::read(bytes.get(from..end).unwrap_or_default(), tools),
        });
        from = end + 1;
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
    // One thread at a time takes lines. If another is at it, it will find these, too, when they are due: it looks for
    // the next ones, and gives up where there are none, under the lock that is held here.
    let mut take = match take.try_lock() {
        Ok(take) => take,
        Err(TryLockError::Poisoned(take)) => take.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    while let Some(at) = {
        let due = order.due;
        order.waiting.iter().position(|(number, _)| *number == due)
    } {
        let (_, mut lines) = order.waiting.swap_remove(at);
        order.due += 1;
        drop(order);
        take(&mut lines);
        order = lock(&work.order);
        order.spare.push(lines.rows);
        work.turn.notify_all();
    }
    // In this order: whoever comes next finds either the lock of the order taken or that of the taking free.
    drop(take);
    drop(order);
}
