//! The only room that names napi: it turns columns and JSON into the pure rooms' types and back.
//!
//! Every synchronous export carries `catch_unwind`, so a panic becomes a JavaScript error instead of the
//! end of the host. napi's default runtime would start a worker per core; `init` installs one with one.

pub mod audit;
pub mod columns;
pub mod drafts;
pub mod drive;
pub mod fold;
pub mod outlook;
pub mod prune;
pub mod recall;
pub mod report;
pub mod turns;

use napi::bindgen_prelude::create_custom_tokio_runtime;
use napi_derive::{module_init, napi};

#[module_init]
fn init() {
    if let Ok(runtime) =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).thread_name("tool-rewind").build()
    {
        create_custom_tokio_runtime(runtime);
    }
}

/// The version of this addon, which must equal the entry package's.
#[napi(catch_unwind)]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
