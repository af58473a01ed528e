//! Secrets that an operator keeps for the plugin (`windlass secret set`).
//!
//! Most plugins need nothing of this module: [`http::Request::secret`](crate::http::Request::secret) names a secret and
//! the host sends it, to the origins it is bound to and nowhere else.

use crate::{Result, bindings::windlass::plugin::secrets};

/// What a secret says. Needs the permission `reveal NAME`.
///
/// From then on its value is masked in everything that this turn writes to its log, as far as it stands there as it is.
/// The journal holds the name and the version only.
///
/// # Errors
/// `denied` without the grant, `unavailable` where the host has no such secret.
pub fn reveal(name: impl AsRef<str>) -> Result<String> {
    Ok(secrets::reveal(name.as_ref())?)
}
