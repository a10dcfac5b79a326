//! The bytes of a log as it lies on disk: plain, or Zstandard frames one behind the other. A damaged frame is
//! named and skipped; the next one is looked for by its magic number.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// What every Zstandard frame begins with.
const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// Compressed bytes read at once.
const INPUT: usize = 1 << 16;

/// Anything that holds a log.
pub trait Disk: Read + Seek + Send {}
impl<T: Read + Seek + Send> Disk for T {}

/// What is wrong with the compressed form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Flaw {
    /// The last frame breaks off; what it held so far was read.
    Torn,
    /// A frame that begins at this byte cannot be decompressed.
    Bad(u64),
}

/// A log being read, decompressed.
pub(super) struct Source<'a> {
    disk: Box<dyn Disk + 'a>,
    zstd: Option<Frames>,
    /// Bytes of the file that were read.
    pub(super) consumed: u64,
}

struct Frames {
    decoder: Decoder<'static>,
    input: Vec<u8>,
    used: usize,
    /// Where the frame under way begins, and where the input's unused part stands, in the file.
    frame: u64,
    at: u64,
    inside: bool,
}

/// What one reading gave.
pub(super) enum Read1 {
    /// So many bytes; none at the end.
    Bytes(usize),
    /// The form is flawed here; the bytes before it may end inside a line.
    Flawed(Flaw),
}

impl<'a> Source<'a> {
    /// Opens a log and looks at its first bytes.
    pub(super) fn open(mut disk: Box<dyn Disk + 'a>) -> io::Result<Self> {
        let mut first = [0; 4];
        let mut have = 0;
        while have < first.len() {
            match disk.read(&mut first[have..])? {
                0 => break,
                count => have += count,
            }
        }
        disk.seek(SeekFrom::Start(0))?;
        if first != MAGIC {
            return Ok(Self {
                disk: Box::new(BufReader::with_capacity(INPUT, disk)),
                zstd: None,
                consumed: 0,
            });
        }
        let frames =
            Frames { decoder: Decoder::new()?, input: Vec::new(), used: 0, frame: 0, at: 0, inside: false };
        Ok(Self { disk, zstd: Some(frames), consumed: 0 })
    }

    /// Reads some bytes into `out`.
    pub(super) fn read(&mut self, out: &mut [u8]) -> io::Result<Read1> {
        let Some(frames) = &mut self.zstd else {
            let count = self.disk.read(out)?;
            self.consumed += count as u64;
            return Ok(Read1::Bytes(count));
        };
        loop {
            if frames.used == frames.input.len() {
                frames.input.resize(INPUT, 0);
                let count = self.disk.read(&mut frames.input)?;
                frames.input.truncate(count);
                frames.used = 0;
                self.consumed += count as u64;
                if count == 0 {
                    let torn = std::mem::take(&mut frames.inside);
                    return Ok(if torn { Read1::Flawed(Flaw::Torn) } else { Read1::Bytes(0) });
                }
            }
            if !frames.inside {
                frames.frame = frames.at;
                frames.inside = true;
            }
            let rest = frames.input.get(frames.used..).unwrap_or_default();
            let mut input = InBuffer::around(rest);
            let mut output = OutBuffer::around(&mut *out);
            let result = frames.decoder.run(&mut input, &mut output);
            let (read, written) = (input.pos, output.pos());
            match result {
                Ok(hint) => {
                    frames.used += read;
                    frames.at += read as u64;
                    if hint == 0 {
                        frames.inside = false;
                        frames.decoder.reinit()?;
                    }
                    if written > 0 {
                        return Ok(Read1::Bytes(written));
                    }
                }
                Err(_) => {
                    let bad = frames.frame;
                    self.resume(bad + 1)?;
                    return Ok(Read1::Flawed(Flaw::Bad(bad)));
                }
            }
        }
    }

    /// Goes on at the next magic number from `from` on, or at the end.
    fn resume(&mut self, from: u64) -> io::Result<()> {
        let Some(frames) = &mut self.zstd else { return Ok(()) };
        self.disk.seek(SeekFrom::Start(from))?;
        let mut reader = BufReader::with_capacity(INPUT, &mut self.disk);
        let mut at = from;
        let mut matched = 0;
        let mut byte = [0];
        while matched < MAGIC.len() && reader.read(&mut byte)? == 1 {
            at += 1;
            // No part of the magic number repeats its beginning, so a mismatch starts over at this byte.
            matched = if byte[0] == MAGIC[matched] { matched + 1 } else { usize::from(byte[0] == MAGIC[0]) };
        }
        let next = if matched == MAGIC.len() { at - MAGIC.len() as u64 } else { at };
        drop(reader);
        self.disk.seek(SeekFrom::Start(next))?;
        self.consumed = next;
        frames.decoder.reinit()?;
        frames.input.clear();
        frames.used = 0;
        frames.at = next;
        frames.inside = false;
        Ok(())
    }
}
