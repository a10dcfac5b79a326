//! Turn memory: which part of a turn becomes a checkpoint, how its draft is worked on and proven, and how a
//! replaced turn is told again (docs/turn-memory.md).
//!
//! Numbers cross as columns. A turn's text crosses once, as UTF-16, because every word of a person and of the
//! assistant must land byte for byte, lone surrogates included; nothing here converts it.
//!
//! - [`table`]: the turns of a log.
//! - [`span`]: the surface nodes that a turn's checkpoint replaces.
//! - [`script`]: a turn's messages as columns and one text; [`balance`]: whether they pair up.
//! - [`render`]: messages to segments; [`sheet`]: their text; [`tag`]: the format's tag lines.
//! - [`draft`]: rewriting and checking; [`view`]: what a worker sees; [`answer`]: a model's one-go rewrite.
//! - [`transcript`]: the raw record; [`recall`]: who answers questions about it.
//! - [`units`]: counting and capping UTF-16 text by code points.
//! - [`refusal`]: every refusal with its code.

pub mod answer;
pub mod balance;
pub mod draft;
pub mod recall;
pub mod refusal;
pub mod render;
pub mod script;
pub mod sheet;
pub mod span;
pub mod table;
pub mod tag;
pub mod transcript;
pub mod units;
pub mod view;

#[cfg(test)]
mod tests;
