//! A space of collections in memory, which does with the decisions what a store would.

use std::collections::{BTreeMap, BTreeSet};

use leafbase_collections::{
    ChangedItem, ColumnKey, LostValues, ReadCollections, RelationBatch, StoredItem, related,
    remove_collections, replace, unlink_items,
};
use leafbase_model::{
    BlockId, Limits, Properties, PropertyChange, PropertyValue, Result, Schema, SchemaDraft,
};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Memory {
    pub(crate) schemas: BTreeMap<BlockId, Schema>,
    pub(crate) items: BTreeMap<BlockId, StoredItem>,
}

impl ReadCollections for Memory {
    fn schema(&self, collection: BlockId) -> Result<Option<Schema>> {
        Ok(self.schemas.get(&collection).cloned())
    }

    fn item(&self, item: BlockId) -> Result<Option<StoredItem>> {
        Ok(self.items.get(&item).cloned())
    }

    fn items_naming(
        &self,
        item: BlockId,
        after: Option<BlockId>,
        limit: usize,
    ) -> Result<Vec<BlockId>> {
        let names = |stored: &StoredItem| {
            stored
                .values
                .iter()
                .any(|(_, value)| matches!(value, PropertyValue::Relations(items) if items.contains(&item)))
        };
        let naming = self
            .items
            .iter()
            .filter(|(id, stored)| after.is_none_or(|after| **id > after) && names(stored));
        Ok(naming.map(|(id, _)| *id).take(limit).collect())
    }
}

impl Memory {
    pub(crate) fn replace(&mut self, collection: BlockId, draft: Value, drop: bool) -> Result<()> {
        let draft: SchemaDraft = serde_json::from_value(draft).unwrap();
        let limits = Limits::default();
        let plan = replace(self, collection, self.schemas.get(&collection), draft, &limits)?;
        let (mut batch, mut lost) = (RelationBatch::new(self), LostValues::default());
        if plan.touches_items() {
            for (id, stored) in
                self.items.iter().filter(|(_, stored)| stored.collection == collection)
            {
                let mut values = stored.values.clone();
                for key in plan.relations_needed().filter(|key| self.is_relation(collection, key)) {
                    let shown = related(self, collection, key, *id)?;
                    values.set(key, (!shown.is_empty()).then_some(PropertyValue::Relations(shown)));
                }
                plan.apply(*id, "", &values, &mut batch, &mut lost)?;
            }
        }
        if !drop {
            lost.refuse()?;
        }
        self.clear(&plan.dropped, &mut batch)?;
        let changed = batch.finish()?;
        self.put(changed);
        self.schemas.extend(plan.others);
        self.schemas.insert(collection, plan.schema);
        Ok(())
    }

    fn is_relation(&self, collection: BlockId, key: &str) -> bool {
        self.schemas[&collection]
            .property(key)
            .is_some_and(|property| property.kind.relation().is_some())
    }

    fn clear(&self, columns: &[ColumnKey], batch: &mut RelationBatch<'_, Self>) -> Result<()> {
        for column in columns {
            for (id, _) in
                self.items.iter().filter(|(_, stored)| stored.collection == column.collection)
            {
                batch.store(*id, vec![(column.key.clone(), None)])?;
            }
        }
        Ok(())
    }

    pub(crate) fn put(&mut self, changed: Vec<ChangedItem>) {
        let stored = |item: ChangedItem| {
            (item.id, StoredItem { collection: item.collection, values: item.values })
        };
        self.items.extend(changed.into_iter().map(stored));
    }

    pub(crate) fn add(&mut self, item: BlockId, collection: BlockId) {
        self.items.insert(item, StoredItem { collection, values: Properties::default() });
    }

    /// Changes of several items, in one request.
    pub(crate) fn change(
        &mut self,
        changes: Vec<(BlockId, BlockId, Vec<PropertyChange>)>,
    ) -> Result<()> {
        let mut batch = RelationBatch::new(self);
        for (index, (item, collection, values)) in changes.into_iter().enumerate() {
            batch.change(item, collection, values, &format!("items[{index}]"))?;
        }
        let outcome = batch.finish()?;
        self.put(outcome);
        Ok(())
    }

    pub(crate) fn delete(&mut self, going: &BTreeSet<BlockId>) {
        let changed = unlink_items(self, going).unwrap();
        self.put(changed);
        self.items.retain(|id, _| !going.contains(id));
    }

    pub(crate) fn delete_collections(&mut self, going: &BTreeSet<BlockId>) {
        let removal = remove_collections(self, going, &Limits::default()).unwrap();
        let mut batch = RelationBatch::new(self);
        self.clear(&removal.dropped, &mut batch).unwrap();
        let changed = batch.finish().unwrap();
        self.put(changed);
        self.items.retain(|_, stored| !going.contains(&stored.collection));
        self.schemas.extend(removal.others);
        self.schemas.retain(|id, _| !going.contains(id));
    }

    /// What has to hold: every relation has its other end, one of the two owns it, and only owners
    /// hold related items, all of which exist in the collection that they should.
    pub(crate) fn check(&self) {
        for (id, schema) in &self.schemas {
            for property in &schema.properties {
                let Some(relation) = property.kind.relation() else { continue };
                let inverse_key = relation.inverse_key.as_deref().unwrap();
                let inverse = self.schemas[&relation.target]
                    .property(inverse_key)
                    .unwrap()
                    .kind
                    .relation()
                    .unwrap();
                assert_eq!(
                    (inverse.target, inverse.inverse_key.as_deref()),
                    (*id, Some(property.key.as_str()))
                );
                assert_eq!(
                    relation.owner != inverse.owner,
                    !relation.is_symmetric(*id, &property.key)
                );
                assert!(relation.owner || inverse.owner);
            }
        }
        for stored in self.items.values() {
            for (key, value) in stored.values.iter() {
                let property = self.schemas[&stored.collection].property(key).unwrap();
                let PropertyValue::Relations(items) = value else { continue };
                let relation = property.kind.relation().unwrap();
                assert!(relation.owner && !items.is_empty());
                assert!(items.iter().all(|item| self.items[item].collection == relation.target));
            }
        }
    }
}
