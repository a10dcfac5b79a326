//! The deciding rooms of a fold, each sentence of docs/rewind.md by a test that fails without it. What needs
//! the harness is in `__test__/fold`, whose README says which sentence is tested where.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a fixture or an answer of the wrong kind is a broken test"
)]

mod counted;
mod hostile;
mod laws;
mod pairing;
mod plan;
mod region;
mod request;
mod siblings;
mod stage;
mod surface;
mod texts;
mod transaction;
mod usable;
mod wire;
