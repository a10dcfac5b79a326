//! Judged pruning and deterministic receipts (docs/prune.md): what is kept, cut and moved out.
//!
//! Two layers over one [`view`] of the surface. Layer 1 cuts result bodies that nobody needs ([`trims`],
//! [`mod@slice`]); layer 2 turns complete read-only steps into receipts ([`eligible`], [`ranges`], [`receipt`]).
//! Both go by verdicts: of [`rules`] without a model, or of a judge that is told a [`state`] and asked
//! [`questions`], whose [`answers`] are read here. Nothing here writes text of its own about what a result
//! means; [`evidence`] and every limit are facts.

pub mod answers;
pub mod arguments;
mod calls;
pub mod eligible;
pub mod evidence;
pub mod excerpt;
pub mod limit;
pub mod marks;
pub mod questions;
pub mod ranges;
pub mod receipt;
pub mod rules;
pub mod settings;
pub mod slice;
pub mod state;
pub mod text;
pub mod tools;
pub mod trims;
pub mod view;
mod words;
