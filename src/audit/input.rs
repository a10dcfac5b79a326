//! The logs that a command line names.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Folders inside folders that are looked into.
const DEEPEST: usize = 32;

/// Why a command cannot be carried out. Display is a finished sentence.
#[derive(Debug, Error)]
pub(super) enum Failure {
    /// The command line asks for what cannot be.
    #[error("{0}")]
    Usage(String),
    /// The disk refuses.
    #[error("{path}: {error}.")]
    Disk {
        /// What was read.
        path: String,
        /// Why not.
        error: io::Error,
    },
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Disk { path: "the log".to_owned(), error }
    }
}

/// One log.
#[derive(Debug, Clone)]
pub(super) struct Input {
    /// As it is named to the person.
    pub(super) path: String,
    file: PathBuf,
    /// Whether it was named itself, and not found in a folder.
    pub(super) named: bool,
}

impl Input {
    /// A log that is named itself.
    pub(super) fn file(path: &str) -> Self {
        Self { path: path.to_owned(), file: PathBuf::from(path), named: true }
    }

    /// Opens it.
    pub(super) fn open(&self) -> Result<File, Failure> {
        let refuse = |error| Failure::Disk { path: self.path.clone(), error };
        let file = File::open(&self.file).map_err(refuse)?;
        match file.metadata() {
            Ok(facts) if facts.is_dir() => {
                Err(Failure::Usage(format!("{} is a folder; name a log.", self.path)))
            }
            _ => Ok(file),
        }
    }

    /// Its size on disk, in bytes.
    pub(super) fn size(&self) -> u64 {
        fs::metadata(&self.file).map_or(0, |facts| facts.len())
    }
}

/// The logs that paths name: files as they are, folders with all logs below them.
pub(super) fn logs<'a>(paths: impl IntoIterator<Item = &'a str>) -> Result<Vec<Input>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        let refuse = |error| Failure::Disk { path: path.to_owned(), error };
        if !fs::metadata(path).map_err(refuse)?.is_dir() {
            found.push(Input::file(path));
            continue;
        }
        let before = found.len();
        walk(Path::new(path), 0, &mut found).map_err(refuse)?;
        if found.len() == before {
            return Err(Failure::Usage(format!("{path}: no file below it ends in .jsonl or .jsonl.zstd.")));
        }
    }
    Ok(found)
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<Input>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_unstable_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // The kind of the entry itself: a link to a folder above would never end.
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < DEEPEST {
            walk(&path, depth + 1, found)?;
        } else if kind.is_file() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.ends_with(".jsonl") || name.ends_with(".jsonl.zstd") {
                found.push(Input { path: path.display().to_string(), file: path, named: false });
            }
        }
    }
    Ok(())
}
