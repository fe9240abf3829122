//! Keys of the scopes that a host keeps, by the hash of their names: a name may be longer than a
//! key.

use super::{SCOPES, joined};

/// The SHA-256 of a name.
pub(crate) type NameHash = [u8; 32];

pub(crate) fn scope(name: &NameHash) -> [u8; 33] {
    joined(SCOPES, &[name])
}
