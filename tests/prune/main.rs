//! The prune rooms on whole surfaces: reading, rules, states and batches, ranges, receipts, and the laws that
//! hold for any of them.

mod build;
mod laws;
mod questions;
mod ranges;
mod receipts;
mod rules;
mod view;
