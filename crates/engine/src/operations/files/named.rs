//! Files that blocks name: a scoped request may name visible files only.

use std::collections::BTreeSet;

use leafbase_model::{AssetId, BlockData, Error, ErrorKind, Result};

use crate::core::edges;
use crate::core::tree::Tree;

/// Refuses `parts` that name an invisible file, unless the block named it before. `field` is the
/// request field of the URL of a block that has one.
///
/// # Errors
/// [`crate::ErrorKind::NotFound`] at the field, whether or not the file exists.
pub(crate) fn check_named(
    tree: &Tree<'_>,
    before: Option<&BlockData>,
    parts: &[BlockData],
    field: &'static str,
) -> Result<()> {
    if tree.is_unrestricted() {
        return Ok(());
    }
    let kept: BTreeSet<_> = before.map(named).into_iter().flatten().collect();
    for part in parts {
        for file in named(part).into_iter().filter(|file| !kept.contains(file)) {
            if !tree.can_see_file(file)? {
                return Err(Error::no_file().at(field_of(part, field)));
            }
        }
    }
    Ok(())
}

/// As [`check_named`], for a title or a name, without a path.
pub(crate) fn check_title(tree: &Tree<'_>, before: Option<&BlockData>, title: &str) -> Result<()> {
    if tree.is_unrestricted() {
        return Ok(());
    }
    let checked = check_named(tree, before, &[BlockData::page(title)], "");
    checked
        .map_err(|error| if error.kind() == ErrorKind::NotFound { Error::no_file() } else { error })
}

/// The uploaded files that `data` names.
pub(crate) fn named(data: &BlockData) -> Vec<AssetId> {
    let mut named = Vec::new();
    edges::files(data, &mut |file| named.push(file));
    named
}

/// The field of `data` that names files. `field` is the request field of a URL.
pub(crate) const fn field_of(data: &BlockData, field: &'static str) -> &'static str {
    if data.block_type().has_own_markdown() { "markdown" } else { field }
}
