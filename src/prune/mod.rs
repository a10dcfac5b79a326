//! Judged pruning and deterministic receipts (spec/prune.md): what is kept, cut and moved out.
pub mod answers;
pub mod eligible;
pub mod evidence;
pub mod limit;
pub mod slice;
pub mod text;
pub mod trims;
