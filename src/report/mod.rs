//! The report: what the model is asked, whether its answer is a report, and the text that lands.

pub mod instruction;
pub mod landed;
pub mod usable;
