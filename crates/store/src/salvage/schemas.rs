//! Schemas: lost ones are inferred from the values of items, and relations without an inverse are
//! removed.

use std::collections::BTreeMap;

use leafbase_model::{
    BlockId, BlockKind, ContentProperty, DocumentId, Property, PropertyKind, PropertyValue,
    Relation, Result, Schema, SelectOption,
};

use super::inventory::Inventory;
use super::{CONTINUE, LossKind, RECOVERED, Salvager};
use crate::keyspaces::{self, RowName};
use crate::kv::{KeyRange, Read};
use crate::records::block::{self, AuthorCache};
use crate::records::schema::IndexedSchema;
use crate::run::RunView;

impl Salvager<'_> {
    /// Gives each collection a schema, and drops the schemas of lost ones.
    pub(super) fn schemas(&mut self, inventory: &mut Inventory) -> Result<()> {
        let collections = inventory.collections();
        for id in inventory.schemas.keys().filter(|id| !collections.contains_key(id)) {
            self.report.lose(
                LossKind::Schema,
                RowName(&keyspaces::schema(*id)),
                "its collection is lost",
            );
        }
        inventory.schemas.retain(|id, _| collections.contains_key(id));
        let mut schemas: BTreeMap<BlockId, Schema> = BTreeMap::new();
        for (id, document) in &collections {
            let schema = match inventory.schemas.get(id) {
                Some(indexed) => indexed.schema.clone(),
                None => self.inferred_schema(*id, *document, inventory)?,
            };
            schemas.insert(*id, schema);
        }
        self.pair_relations(&mut schemas);
        // New column numbers: the indexes are built again.
        inventory.schemas = schemas
            .iter()
            .filter_map(|(id, schema)| Some((*id, IndexedSchema::first(schema)?)))
            .collect();
        self.report.saved.collections = inventory.schemas.len() as u64;
        Ok(())
    }

    /// A schema that matches all values of the items but their relations.
    fn inferred_schema(
        &mut self,
        id: BlockId,
        document: DocumentId,
        inventory: &Inventory,
    ) -> Result<Schema> {
        self.report.lose(
            LossKind::Schema,
            RowName(&keyspaces::schema(id)),
            "one is inferred from the values of the items",
        );
        let mut kinds: BTreeMap<String, PropertyKind> = BTreeMap::new();
        let (start, mut authors) = (keyspaces::parent_runs(document, id), AuthorCache::default());
        let mut name = inventory
            .reconstructed
            .get(&id)
            .map_or_else(|| RECOVERED.to_owned(), |reconstructed| reconstructed.name.clone());
        self.reader.scan(
            KeyRange::half_open(&start, &keyspaces::prefix_end(start)),
            &mut |key, value| {
                // A corrupt run is reported by the inventory.
                let Ok(run) = RunView::read(key, value) else { return Ok(CONTINUE) };
                for (item, record) in run.entries() {
                    if let Ok(block) = block::decode(item, record, &mut authors)
                        && let BlockKind::CollectionItem { properties } = &block.data.kind
                    {
                        properties.iter().for_each(|(key, value)| widen(&mut kinds, key, value));
                    }
                }
                Ok(CONTINUE)
            },
        )?;
        if let Some(found) = self.name_of(id, document, inventory)? {
            name = found;
        }
        let properties =
            kinds.into_iter().map(|(key, kind)| Property { name: key.clone(), key, kind });
        let content = ContentProperty { key: "title".to_owned(), name: "Title".to_owned() };
        // The key of the title cannot be that of a property.
        let properties = properties.filter(|property| property.key != content.key).collect();
        Ok(Schema { key: "recovered".to_owned(), name, content, properties })
    }

    /// The name in the block of a collection.
    fn name_of(
        &self,
        id: BlockId,
        document: DocumentId,
        inventory: &Inventory,
    ) -> Result<Option<String>> {
        let Some(known) = inventory.known.get(&id) else { return Ok(None) };
        let (start, mut name) = (keyspaces::parent_runs(document, known.parent), None);
        self.reader.scan(
            KeyRange::half_open(&start, &keyspaces::prefix_end(start)),
            &mut |key, value| {
                if let Ok(run) = RunView::read(key, value)
                    && let Some(at) = run.position(id)
                {
                    name = block::decode(id, run.block(at), &mut AuthorCache::default())
                        .ok()
                        .map(|block| block.data.inline);
                }
                Ok(CONTINUE)
            },
        )?;
        Ok(name)
    }

    /// Pairs each relation with its inverse, which is added to inferred schemas; removes relations
    /// without one.
    fn pair_relations(&mut self, schemas: &mut BTreeMap<BlockId, Schema>) {
        let mut missing = Vec::new();
        for (id, schema) in &*schemas {
            for property in &schema.properties {
                if let Some(relation) = property.kind.relation()
                    && let Some(inverse_key) = relation.inverse_key.clone()
                    && schemas
                        .get(&relation.target)
                        .is_some_and(|target| target.property(&inverse_key).is_none())
                {
                    let back = Relation {
                        target: *id,
                        inverse_key: Some(property.key.clone()),
                        single: false,
                        owner: !relation.owner,
                    };
                    missing.push((
                        relation.target,
                        Property { key: inverse_key.clone(), name: inverse_key, kind: back.into() },
                    ));
                }
            }
        }
        for (id, property) in missing {
            if let Some(schema) =
                schemas.get_mut(&id).filter(|schema| schema.property(&property.key).is_none())
            {
                schema.properties.push(property);
            }
        }
        // Compared with the schemas as they were paired: removing one end must not depend on order.
        let ends = schemas.clone();
        for (id, schema) in schemas {
            schema.properties.retain(|property| {
                let is_paired = property
                    .kind
                    .relation()
                    .is_none_or(|relation| leads_back(&ends, *id, property, relation));
                if !is_paired {
                    let message =
                        format_args!("the relation {:?} has lost its inverse", property.key);
                    self.report.lose(LossKind::Schema, RowName(&keyspaces::schema(*id)), message);
                }
                is_paired
            });
        }
    }
}

fn leads_back(
    schemas: &BTreeMap<BlockId, Schema>,
    id: BlockId,
    property: &Property,
    relation: &Relation,
) -> bool {
    let other = || {
        schemas.get(&relation.target)?.property(relation.inverse_key.as_deref()?)?.kind.relation()
    };
    let is_back = |other: &Relation| {
        let is_owned = relation.is_symmetric(id, &property.key) || relation.owner != other.owner;
        other.target == id && other.inverse_key.as_deref() == Some(&property.key) && is_owned
    };
    other().is_some_and(is_back)
}

/// Widens the property of this key to match `value`, where possible.
fn widen(kinds: &mut BTreeMap<String, PropertyKind>, key: &str, value: &PropertyValue) {
    let kind = match value {
        PropertyValue::Text(_) => PropertyKind::Text,
        PropertyValue::Number(_) => PropertyKind::Number,
        PropertyValue::Boolean(_) => PropertyKind::Boolean,
        PropertyValue::Date(_) => PropertyKind::Date,
        PropertyValue::Options(_) => PropertyKind::MultiSelect(Vec::new()),
        PropertyValue::Relations(_) => return,
    };
    let kind = kinds.entry(key.to_owned()).or_insert(kind);
    if let (PropertyKind::MultiSelect(options), PropertyValue::Options(names)) = (kind, value) {
        for name in names {
            if options.iter().all(|option| option.name != *name) {
                options.push(SelectOption { name: name.clone(), color: None });
            }
        }
    }
}
