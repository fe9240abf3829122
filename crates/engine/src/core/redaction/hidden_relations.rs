//! Hidden properties: relations to collections that a call may not see. Replies omit them, and
//! writes of the call preserve them.

use std::collections::{HashMap, HashSet};

use leafbase_collections::key_of;
use leafbase_model::{
    BlockId, Error, ErrorKind, Limits, Property, PropertyKind, Result, Schema, SchemaDraft,
};
use leafbase_tree_ops::Context;

use crate::core::tree::Tree;

/// The schema without hidden properties.
pub(crate) fn visible(tree: &Tree<'_>, schema: Schema) -> Result<Schema> {
    if tree.is_unrestricted() {
        return Ok(schema);
    }
    visible_to(&|collection| tree.can_see(collection), schema)
}

/// Whether a call sees a collection.
pub(crate) type Sees<'f> = dyn Fn(BlockId) -> Result<bool> + 'f;

/// The schema without relations to collections that are not seen.
pub(crate) fn visible_to(sees: &Sees<'_>, mut schema: Schema) -> Result<Schema> {
    let mut properties = Vec::with_capacity(schema.properties.len());
    for property in schema.properties {
        if !is_hidden(sees, &property)? {
            properties.push(property);
        }
    }
    schema.properties = properties;
    Ok(schema)
}

fn is_hidden(sees: &Sees<'_>, property: &Property) -> Result<bool> {
    match property.kind.relation() {
        Some(relation) => Ok(!sees(relation.target)?),
        None => Ok(false),
    }
}

/// A schema of a change without relations to hidden collections.
pub(crate) fn visible_part(tree: &Tree<'_>, schema: Option<&Schema>) -> Result<Option<Schema>> {
    schema.map(|schema| visible(tree, schema.clone())).transpose()
}

/// The stored schema of a visible collection, with its hidden properties.
pub(crate) fn stored_schema(tree: &Tree<'_>, collection: BlockId) -> Result<Schema> {
    let missing = || Error::corrupted(format_args!("collection {collection} has no schema"));
    tree.unguarded().schema(collection)?.ok_or_else(missing)
}

/// Merges the hidden properties of `stored` into the schema `after` of the request. A hidden
/// property keeps its place after the property that precedes it, or, if that one is removed, after
/// the nearest remaining predecessor. Visible properties keep the order of `after`, independently
/// of hidden ones.
pub(crate) fn with_hidden(tree: &Tree<'_>, stored: &Schema, after: &Schema) -> Result<Schema> {
    if tree.is_unrestricted() {
        return Ok(after.clone());
    }
    with_unseen(&|collection| tree.can_see(collection), stored, after)
}

/// As [`with_hidden`], for one that sees these collections.
pub(crate) fn with_unseen(sees: &Sees<'_>, stored: &Schema, after: &Schema) -> Result<Schema> {
    let mut merged = after.clone();
    let stays: HashSet<&str> =
        after.properties.iter().map(|property| property.key.as_str()).collect();
    // Hidden properties are inserted after their predecessor of the stored order, in one pass.
    let mut before = None;
    for property in &stored.properties {
        if is_hidden(sees, property)? {
            let place = merged.properties.iter().position(|known| Some(&known.key) == before);
            merged.properties.insert(place.map_or(0, |place| place + 1), property.clone());
            before = Some(&property.key);
        } else if stays.contains(property.key.as_str()) {
            before = Some(&property.key);
        }
    }
    debug_assert!(
        merged.properties.len() <= stored.properties.len() + after.properties.len(),
        "merging adds hidden properties once"
    );
    Ok(merged)
}

/// Length of the random suffix in the key of a new property, in characters.
const SUFFIX_CHARS: usize = 6;

/// How many random keys are tried before giving up.
const MAX_KEY_ATTEMPTS: usize = 8;

/// The key of a property that is added to `collection`. A restricted call gets a key with a random
/// suffix, whether a hidden property uses the plain key or not: a conflict would reveal it.
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
    let start = key_start(context.limits, &key);
    for _ in 0..MAX_KEY_ATTEMPTS {
        let candidate = format!("{start}_{}", random_suffix(context.ids.new_id(context.stamp.at)));
        if stored.property(&candidate).is_none() && stored.content.key != candidate {
            return Ok(candidate);
        }
    }
    Err(Error::new(
        ErrorKind::Conflict,
        "no free property key was found: the IDs of this space are not random",
    ))
}

/// Gives the properties of `draft` that a restricted call adds the keys that they already have:
/// those made by [`new_key`] when the same draft replaced the schema before. `old` is the schema as
/// the call sees it.
pub(crate) fn keep_new_keys(
    tree: &Tree<'_>,
    limits: &Limits,
    old: &Schema,
    draft: &mut SchemaDraft,
) {
    if tree.is_unrestricted() {
        return;
    }
    let is_made_of = |key: &str, wanted: &str| {
        let suffix = key.strip_prefix(&*key_start(limits, wanted));
        suffix.and_then(|suffix| suffix.strip_prefix('_')).is_some_and(is_suffix)
    };
    if let Some(key) = draft.content.as_mut().and_then(|content| content.key.as_mut())
        && *key != old.content.key
        && is_made_of(&old.content.key, key)
    {
        key.clone_from(&old.content.key);
    }
    let given = draft.properties.iter().filter_map(|property| property.key.clone());
    let mut taken: HashSet<String> = given.collect();
    let mut kept = HashMap::new();
    for property in &mut draft.properties {
        let wanted = property.key.clone().unwrap_or_else(|| key_of(&property.name));
        if old.property(&wanted).is_some() {
            continue;
        }
        let known = old.properties.iter().find(|known| {
            known.name == property.name
                && is_made_of(&known.key, &wanted)
                && !taken.contains(&known.key)
        });
        if let Some(known) = known {
            taken.insert(known.key.clone());
            kept.insert(wanted, known.key.clone());
            property.key = Some(known.key.clone());
        }
    }
    for property in &mut draft.properties {
        let former = property.key.as_deref().and_then(|key| old.property(key));
        let former = former.and_then(|former| former.kind.relation());
        if let PropertyKind::Relation(relation) = &mut property.kind
            && let Some(inverse) = &mut relation.inverse_key
            && let Some(known) = former.and_then(|former| former.inverse_key.as_ref())
            && (kept.get(inverse) == Some(known) || is_made_of(known, inverse))
        {
            inverse.clone_from(known);
        }
    }
}

/// The part of a new key before its suffix.
fn key_start(limits: &Limits, key: &str) -> String {
    key.chars().take(limits.title.saturating_sub(SUFFIX_CHARS + 1)).collect()
}

fn is_suffix(text: &str) -> bool {
    let is_digit = |letter: u8| letter.is_ascii_digit() || letter.is_ascii_lowercase();
    text.len() == SUFFIX_CHARS && text.bytes().all(is_digit)
}

/// The random low bits of an ID in base 36, lowercase.
fn random_suffix(id: [u8; 16]) -> String {
    let mut rest = u128::from_be_bytes(id);
    let mut suffix = String::with_capacity(SUFFIX_CHARS);
    for _ in 0..SUFFIX_CHARS {
        let digit = u32::try_from(rest % 36).ok().and_then(|digit| char::from_digit(digit, 36));
        debug_assert!(digit.is_some(), "a remainder of 36 is a digit in base 36");
        suffix.extend(digit);
        rest /= 36;
    }
    suffix
}
