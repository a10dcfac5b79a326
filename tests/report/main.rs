//! Reports that can be trusted: ledger, claim check, frame, receipts, languages, and what gives way.

#![expect(clippy::unwrap_used, reason = "a helper that cannot read its own input must fail the test")]

mod claims;
mod compose;
mod language;
mod laws;
mod ledger;
mod outcome;
mod session;
mod shell;
mod tools;
