//! What a fold would leave, at the border.

use napi::Error;
use napi_derive::napi;

use super::columns::{FoldTarget, SurfaceColumns};
use crate::error::Refusal;
use crate::outlook::kept;
use crate::region::Region;

/// A node that a fold would leave where it is.
#[napi(object, object_from_js = false)]
pub struct KeptNode {
    /// Its seq.
    pub seq: u32,
    /// Why it stays, as half a sentence for a person.
    pub why: String,
}

/// The nodes from the mark's message on that a fold would leave, in surface order.
///
/// # Errors
/// What the fold would be refused for.
#[napi(catch_unwind)]
pub fn fold_outlook(window: SurfaceColumns, target: FoldTarget) -> Result<Vec<KeptNode>, Error<String>> {
    let refused = |refusal: Refusal| Error::new(refusal.code().to_owned(), refusal.to_string());
    let surface = window.parse().map_err(refused)?;
    let target = target.check().map_err(refused)?;
    let region = Region::select(&surface, &target).map_err(refused)?;
    let kept = kept(&surface, &target, &region);
    Ok(kept.into_iter().map(|node| KeptNode { seq: node.seq, why: node.why.text().to_owned() }).collect())
}
