//! The laws of an edit on 20,000 generated sessions, against a slow model that shares no code with the crate.
//! Proptest shrinks a failure, prints its seed, and keeps it in `tests/proptest-regressions`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a session that cannot be built is a broken test")]

mod agreement;
mod columns;
mod edits;
mod later;
mod log;
mod model;
mod moves;
mod wire;

use proptest::test_runner::{Config, RngAlgorithm};

/// The default generator takes most of the time of a build without optimisation.
fn cases(cases: u32) -> Config {
    Config { cases, rng_algorithm: RngAlgorithm::XorShift, ..Config::default() }
}
