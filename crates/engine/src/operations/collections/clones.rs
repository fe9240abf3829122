//! Clones of collections: the collections of a cloned document get schemas of their own.
//!
//! Relations between cloned collections become relations between the clones. A relation with an
//! external collection keeps its target, which gets a new inverse property for the clone: the
//! existing one belongs to the original. Relations with collections in the trash are dropped,
//! because nothing there gets new links.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use leafbase_collections::{Keys, ReadCollections, related};
use leafbase_model::{
    BlockId, BlockKind, BlockType, DocumentId, Edit, Error, Limits, Location, Property,
    PropertyKind, PropertyValue, Relation, Result, Schema, Subtrees,
};
use leafbase_tree_ops::ReadTree;

use crate::core::tree::Tree;

/// The schemas that a clone adds or changes.
#[derive(Debug, Default)]
pub(crate) struct ClonedSchemas {
    /// Schemas of the cloned collections, by original. Relations between them still name
    /// the originals.
    copied: BTreeMap<BlockId, Schema>,
    /// External collections that they relate to: the present schema, and the inverse properties to
    /// add.
    others: BTreeMap<BlockId, (Schema, Vec<NewInverse>)>,
}

/// A new inverse property in an external collection.
#[derive(Debug)]
struct NewInverse {
    key: String,
    name: String,
    /// The original collection and its property.
    of: (BlockId, String),
    single: bool,
}

impl ClonedSchemas {
    /// Reads the schemas of the collections in `subtrees`, and gives their items the values of the
    /// clones.
    pub(crate) fn of(tree: &Tree<'_>, subtrees: &mut Subtrees, limits: &Limits) -> Result<Self> {
        let mut schemas = Self::default();
        for node in &subtrees.0 {
            if node.block.data.block_type() == BlockType::Collection
                && let Some(schema) = tree.schema(node.block.id)?
            {
                schemas.copied.insert(node.block.id, schema);
            }
        }
        // Collected first: adapting a collection updates the map.
        let collections: Vec<_> = schemas.copied.keys().copied().collect();
        let mut held = HashMap::new();
        for collection in collections {
            held.insert(collection, schemas.adapt_relations(tree, collection, limits)?);
        }
        if held.values().any(|keys| !keys.is_empty()) {
            put_values(tree, subtrees, &held)?;
        }
        Ok(schemas)
    }

    /// Adapts the external relations of a collection. Returns their keys, each with whether it is
    /// kept.
    fn adapt_relations(
        &mut self,
        tree: &Tree<'_>,
        collection: BlockId,
        limits: &Limits,
    ) -> Result<Vec<(String, bool)>> {
        let Some(mut schema) = self.copied.get(&collection).cloned() else { return Ok(Vec::new()) };
        let (name, mut external) = (schema.name.clone(), Vec::new());
        for Property { key, kind, .. } in &mut schema.properties {
            // Relations between cloned collections are remapped in `edits`.
            if let PropertyKind::Relation(relation) = kind
                && !self.copied.contains_key(&relation.target)
            {
                let inverse =
                    self.add_end(tree, relation, (collection, key.as_str()), &name, limits)?;
                external.push((key.clone(), inverse.is_some()));
                (relation.inverse_key, relation.owner) = (inverse, true);
            }
        }
        // A relation whose target is in the trash is dropped.
        schema.properties.retain(|property| {
            external.iter().all(|(key, is_kept)| *is_kept || *key != property.key)
        });
        self.copied.insert(collection, schema);
        Ok(external)
    }

    /// Adds an inverse property to the target of an external relation. Returns its key, or `None`
    /// if the target is in the trash.
    fn add_end(
        &mut self,
        tree: &Tree<'_>,
        relation: &Relation,
        (collection, key): (BlockId, &str),
        name: &str,
        limits: &Limits,
    ) -> Result<Option<String>> {
        let Some(located) = tree.locate(relation.target)? else { return Ok(None) };
        if tree
            .document(located.document)?
            .is_none_or(|document| document.location == Location::Trash)
        {
            return Ok(None);
        }
        let (schema, ends) = match self.others.entry(relation.target) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let Some(schema) = tree.schema(relation.target)? else { return Ok(None) };
                place.insert((schema, Vec::new()))
            }
        };
        let former =
            relation.inverse_key.as_deref().and_then(|key| schema.property(key)?.kind.relation());
        // The new inverse is as single as the one of the original.
        let (single, mut keys) = (former.is_some_and(|former| former.single), Keys::default());
        let taken = schema
            .properties
            .iter()
            .map(|property| &property.key)
            .chain(ends.iter().map(|end| &end.key));
        for key in taken.chain([&schema.content.key]) {
            keys.reserve(key);
        }
        // Unique among the target's keys and the inverses that this clone has added.
        let given = keys.allocate(name, limits.title);
        ends.push(NewInverse {
            key: given.clone(),
            name: name.to_owned(),
            of: (collection, key.to_owned()),
            single,
        });
        let (most, found) = (limits.schema_properties, schema.properties.len() + ends.len());
        if found > most {
            let what = format!(
                "properties of the collection {:?}, which the template relates to",
                schema.name
            );
            return Err(Error::limit(&what, most, found));
        }
        Ok(Some(given))
    }

    /// The edits that give the clones in `document` their schemas.
    pub(crate) fn edits(
        self,
        tree: &Tree<'_>,
        document: DocumentId,
        copies: &HashMap<BlockId, BlockId>,
    ) -> Result<Vec<Edit>> {
        // External targets have no clone and stay.
        let copy_of = |block: BlockId| copies.get(&block).copied().unwrap_or(block);
        let mut edits = Vec::new();
        for (collection, mut schema) in self.copied {
            for property in &mut schema.properties {
                if let PropertyKind::Relation(relation) = &mut property.kind {
                    relation.target = copy_of(relation.target);
                }
            }
            let (collection, after) = (copy_of(collection), Some(Box::new(schema)));
            edits.push(Edit::SetSchema { document, collection, before: None, after, quiet: false });
        }
        for (collection, (before, ends)) in self.others {
            let missing = || {
                Error::corrupted(format_args!("collection {collection} has a schema but no block"))
            };
            let document = tree.locate(collection)?.ok_or_else(missing)?.document;
            let mut after = before.clone();
            after.properties.extend(ends.into_iter().map(|end| end.property(copy_of)));
            let (before, after) = (Some(Box::new(before)), Some(Box::new(after)));
            // Quiet: the clone does not count as a change of the external document.
            edits.push(Edit::SetSchema { document, collection, before, after, quiet: true });
        }
        Ok(edits)
    }
}

impl NewInverse {
    fn property(self, copy_of: impl Fn(BlockId) -> BlockId) -> Property {
        let (collection, inverse) = self.of;
        let relation = Relation::to(copy_of(collection)).with_inverse(inverse);
        let kind = Relation { single: self.single, ..relation }.into();
        Property { key: self.key, name: self.name, kind }
    }
}

/// External relations by original collection: keys, each with whether the clone keeps the relation.
type ExternalRelations = HashMap<BlockId, Vec<(String, bool)>>;

/// Clones own their external relations, whichever end owns the relations of the originals.
fn put_values(tree: &Tree<'_>, subtrees: &mut Subtrees, held: &ExternalRelations) -> Result<()> {
    let parents: Vec<_> = subtrees.with_parents().map(|(parent, _)| parent).collect();
    for (node, parent) in subtrees.0.iter_mut().zip(parents) {
        let (Some(collection), BlockKind::CollectionItem { properties }) =
            (parent, &mut node.block.data.kind)
        else {
            continue;
        };
        for (key, is_kept) in held.get(&collection).into_iter().flatten() {
            let items =
                if *is_kept { related(tree, collection, key, node.block.id)? } else { Vec::new() };
            properties
                .set(key.as_str(), (!items.is_empty()).then_some(PropertyValue::Relations(items)));
        }
    }
    Ok(())
}
