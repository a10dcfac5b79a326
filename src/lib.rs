//! The deciding core of `@dpskh/tool-rewind`.
//!
//! Rust decides, JavaScript touches: everything in this crate outside [`binding`] is pure. It knows no
//! napi, no clock, no I/O and no `unsafe`; numbers come in as columns, decisions go out as plans.
//!
//! The rooms, in the order a fold walks through them:
//!
//! - [`error`]: one refusal enum with finished sentences and stable codes.
//! - [`event`]: session events as JSON, for the rooms that need text.
//! - [`replacements`]: what stands at a seq and what it took the place of.

pub mod error;
pub mod event;
pub mod replacements;

#[cfg(feature = "binding")]
pub mod binding;
