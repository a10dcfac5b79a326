//! The deciding core of `@dpskh/tool-rewind`.
//!
//! Rust decides, JavaScript touches: everything in this crate outside [`binding`] is pure. It knows no
//! napi, no clock, no I/O and no `unsafe`; numbers come in as columns, decisions go out as plans.
//!
//! The rooms, in the order a fold walks through them:
//!
//! - [`surface`]: the surface as columns of numbers, and the one parser of those columns.
//! - [`pairing`]: which cuts are balanced, by call id and occurrence.
//! - [`wire`]: would a provider accept this message sequence.
//! - [`region`]: mark and surface in, what is folded out.
//! - [`plan`]: region in, ordered edits out; the request plan; the re-check.
//! - [`report`]: what the model is asked, whether its answer is a report, and the text that lands.
//! - [`transaction`]: the fold as a machine without I/O.
//! - [`error`]: one refusal enum with finished sentences and stable codes.
//! - [`prune`]: which results are needed, which bodies are cut, which steps become a receipt.
//! - [`outlook`]: what a fold would leave where it is, and why.
//! - [`event`]: session events as JSON, for the rooms that need text.
//! - [`replacements`]: what stands at a seq and what it took the place of.
//! - [`recall`]: a slice of what was taken away, for the model.
//! - [`audit`]: any session log on disk, read and judged.
//! - [`words`]: numbers as a person reads them.
//! - [`turns`]: turn memory, from segmenting a log to a checkpoint that is proven before it lands.

// A test build links what the tests alone need; in every other one each dependency has a use.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

pub mod audit;
pub mod error;
pub mod event;
pub mod outlook;
pub mod pairing;
pub mod plan;
pub mod prune;
pub mod recall;
pub mod region;
pub mod replacements;
pub mod report;
mod sorted;
pub mod surface;
pub mod transaction;
pub mod turns;
pub mod wire;
pub mod words;

#[cfg(feature = "binding")]
pub mod binding;
