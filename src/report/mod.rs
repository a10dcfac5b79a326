//! The report: what the model is asked, whether its answer is a report, and the text that lands.
//!
//! A model writes the prose; code makes it reliable: [`gather`] reads the region's events into a [`ledger`]
//! by the [`tools`] table, [`claims`] and [`lookup`] find what the prose states and nothing shows, and
//! [`compose`] puts frame, prose, quotes and ledger together within the room that still shrinks.

pub mod claims;
mod cmdlets;
pub mod compose;
pub mod effects;
pub mod evidence;
pub mod frame;
pub mod gather;
pub mod instruction;
pub mod landed;
pub mod language;
pub mod ledger;
pub mod ledger_text;
pub mod lookup;
mod normal;
pub mod outcome;
pub mod receipt;
pub mod shell;
pub mod text;
mod token;
pub mod tools;
pub mod usable;
