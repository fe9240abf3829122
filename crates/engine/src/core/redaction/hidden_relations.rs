//! Hidden properties: relations to collections that a call does not see. They exist for the store
//! alone, and stay where they are whatever the call writes.

use std::collections::HashSet;

use leafbase_model::{BlockId, Error, ErrorKind, Property, Result, Schema};
use leafbase_tree_ops::Context;

use crate::core::leaks::Leak;
use crate::core::tree::Tree;

/// A schema without what of it is hidden.
pub(crate) fn visible(tree: &Tree<'_>, mut schema: Schema) -> Result<Schema> {
    if tree.is_unrestricted() || tree.visibility().leaks(Leak::Relations) {
        return Ok(schema);
    }
    let mut properties = Vec::with_capacity(schema.properties.len());
    for property in schema.properties {
        if !is_hidden(tree, &property)? {
            properties.push(property);
        }
    }
    schema.properties = properties;
    Ok(schema)
}

fn is_hidden(tree: &Tree<'_>, property: &Property) -> Result<bool> {
    match property.kind.relation() {
        Some(relation) => Ok(!tree.can_see(relation.target)?),
        None => Ok(false),
    }
}

/// The schema of a collection that is seen, as the store has it.
pub(crate) fn stored_schema(tree: &Tree<'_>, collection: BlockId) -> Result<Schema> {
    let missing = || Error::corrupted(format_args!("collection {collection} has no schema"));
    tree.unguarded().schema(collection)?.ok_or_else(missing)
}

/// The schema that the store is to have where the call gives `after`: with what is hidden of
/// `stored`. A hidden property stays behind the one that it followed, or if that goes, behind the
/// nearest before it that does not: without the hidden ones the order is that of `after`, whatever
/// there is of them.
pub(crate) fn with_hidden(tree: &Tree<'_>, stored: &Schema, after: &Schema) -> Result<Schema> {
    let mut merged = after.clone();
    if tree.is_unrestricted() || tree.visibility().leaks(Leak::Relations) {
        return Ok(merged);
    }
    let stays: HashSet<&str> =
        after.properties.iter().map(|property| property.key.as_str()).collect();
    let mut before = None;
    for property in &stored.properties {
        if is_hidden(tree, property)? {
            let place = merged.properties.iter().position(|known| Some(&known.key) == before);
            merged.properties.insert(place.map_or(0, |place| place + 1), property.clone());
            before = Some(&property.key);
        } else if stays.contains(property.key.as_str()) {
            before = Some(&property.key);
        }
    }
    Ok(merged)
}

/// Letters and digits behind the key of a property that comes to a collection of which not all may
/// be seen.
const MARK: usize = 6;

/// How often a free key is tried to be made.
const TRIES: usize = 8;

/// The key of a property that comes to `collection`, as `key` where all is seen. Elsewhere it gets
/// a mark that nobody can have foreseen, whether a hidden property has the key or not.
pub(crate) fn new_key(
    tree: &Tree<'_>,
    context: &Context<'_>,
    collection: BlockId,
    key: String,
) -> Result<String> {
    if tree.is_unrestricted() {
        return Ok(key);
    }
    let stored = stored_schema(tree, collection)?;
    let room = context.limits.title.saturating_sub(MARK + 1);
    let start: String = key.chars().take(room).collect();
    for _ in 0..TRIES {
        let made = format!("{start}_{}", mark(context.ids.new_id(context.stamp.at)));
        if stored.property(&made).is_none() && stored.content.key != made {
            return Ok(made);
        }
    }
    Err(Error::new(
        ErrorKind::Conflict,
        "the IDs of this space are no random ones: no key could be made",
    ))
}

/// The last bytes of an ID, which are random, as digits and small letters.
fn mark(id: [u8; 16]) -> String {
    let mut rest = u128::from_be_bytes(id);
    let mut mark = String::with_capacity(MARK);
    for _ in 0..MARK {
        let digit = u32::try_from(rest % 36).unwrap_or_default();
        mark.extend(char::from_digit(digit, 36));
        rest /= 36;
    }
    mark
}
