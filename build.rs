//! Links the addon for Node when the `binding` feature is on; the pure crate needs nothing.

fn main() {
    #[cfg(feature = "binding")]
    napi_build::setup();
}
