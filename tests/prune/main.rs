//! The prune rooms on whole surfaces: reading, rules, states and batches, ranges, receipts, and the laws that
//! hold for any of them.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

mod build;
mod laws;
mod questions;
mod ranges;
mod receipts;
mod rules;
mod settings;
mod view;
