//! Session logs: events as they are read, replacements followed, recalled, and audited on disk.

#![expect(clippy::unwrap_used, reason = "a fixture that does not read is a broken test")]

mod audit;
mod build;
mod cli;
mod cost;
mod damage;
mod event;
mod promises;
mod recall;
mod regret;
mod replacements;
