//! Tags: which rows a document's have, and the tag as it is compared.

use leafbase_model::{Limits, Location};

/// Whether the documents of a tag include one in this location: all but the hidden inbox.
pub(crate) const fn are_indexed(location: Location) -> bool {
    !matches!(location, Location::Inbox)
}

/// Whether the count of a tag includes a document in this location: those in the trash are not
/// counted.
pub(crate) const fn are_counted(location: Location) -> bool {
    !matches!(location, Location::Inbox | Location::Trash)
}

/// Whether a tag in lowercase can be a part of keys.
pub(crate) fn is_key(tag: &str) -> bool {
    !tag.is_empty() && tag.len() <= Limits::TAG_BYTES && !tag.contains('\0')
}
