//! Collection operations of the naive space: creation, lists, schema replacement.

use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockRecord, Collection, CollectionSchema, ContentPropertyDraft,
    CreateCollection, DocumentFilterMode, Error, ErrorKind, ListCollections, Location,
    OptionRename, PropertyKind, PropertyValue, Relation, ReplaceSchema, Result, Schema,
    SchemaDraft, Stamp,
};

use crate::naive::By;
use crate::naive_rules as rules;
use crate::naive_schemas::{complete, relation_of};
use crate::naive_values::converted;
use crate::{Broken, NaiveBlock, NaiveSpace};

impl NaiveSpace {
    /// The collections of the requested documents.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn list_collections(&self, request: &ListCollections) -> Result<Vec<Collection>> {
        if request.mode == Some(DocumentFilterMode::Exclude) {
            return Err(Error::validation("include alone").at("documentFilterMode"));
        }
        for (index, id) in request.document_ids.iter().flatten().enumerate() {
            if self.document(*id).is_none() {
                return Err(Error::no_document().at(format_args!("documentIds[{index}]")));
            }
        }
        let mut listed = Vec::new();
        for (id, schema) in &self.schemas {
            let document = &self.document_of(*id).unwrap().record;
            let wanted = request.document_ids.as_ref().is_none_or(|ids| ids.contains(&document.id));
            if wanted && document.location != Location::Inbox {
                let item_count = self.get(*id).children.len() as u64;
                listed.push(Collection {
                    id: *id,
                    name: schema.name.clone(),
                    item_count,
                    document_id: document.id,
                });
            }
        }
        listed.sort_by_key(|collection| (collection.document_id, collection.id));
        Ok(listed)
    }

    /// The schema of a requested collection.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn known_schema(&self, collection: BlockId) -> Result<Schema> {
        self.schema(collection).cloned().ok_or_else(|| Error::no_collection().at("collectionId"))
    }

    /// As above, for a collection to be written.
    pub(crate) fn writable_schema(&self, collection: BlockId) -> Result<Schema> {
        let schema = self.known_schema(collection)?;
        rules::check_writable(self, collection).map_err(|error| error.at("collectionId"))?;
        Ok(schema)
    }

    /// Creates a collection.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn create_collection(
        &mut self,
        by: By<'_>,
        request: &CreateCollection,
    ) -> Result<CollectionSchema> {
        self.write(by.0, |space| {
            let position = space.landed(by, request.position, false)?.unwrap();
            let (parent, index, path) = rules::place(space, position)?;
            let at_place = |error: Error| error.at(path);
            rules::check_depth(space.depth(parent) + 1, &space.limits).map_err(at_place)?;
            let mut data = BlockData::new(BlockKind::Collection);
            space.receive(parent, by.0, path)?;
            rules::check_enters(space, parent, &data).map_err(at_place)?;
            let id = BlockId::from_bytes(by.1.new_id(by.0.at));
            let before = space.clone();
            let mut schema =
                complete(&request.schema, &space.limits).map_err(|error| error.at("schema"))?;
            let given = schema.clone();
            space.pair_up(id, &mut schema).map_err(|error| error.at("schema"))?;
            space
                .check_other_ends(&before, id, (&given, &schema))
                .map_err(|error| error.at("schema"))?;
            data.inline.clone_from(&schema.name);
            let record =
                BlockRecord { id, rev: 1, created: by.0.clone(), modified: by.0.clone(), data };
            space
                .get_mut(parent)
                .children
                .insert(index, NaiveBlock { record, children: Vec::new() });
            space.schemas.push((id, schema.clone()));
            space.begin_relations(id);
            Ok(CollectionSchema { id, name: schema.name.clone(), schema })
        })
    }

    /// Neither a collection in the trash nor the other ends of its relations can be written.
    fn check_other_ends(
        &self,
        before: &Self,
        collection: BlockId,
        (given, schema): (&Schema, &Schema),
    ) -> Result<()> {
        let mut others: Vec<_> =
            before.schemas.iter().map(|(id, _)| *id).filter(|id| *id != collection).collect();
        others.sort_unstable();
        for other in others {
            let in_trash = rules::check_writable(self, other).is_err();
            if in_trash && self.schema(other) != before.schema(other) {
                let was =
                    |key: &str| before.schema(collection).and_then(|old| relation_of(old, key));
                let comes = |key: &str| {
                    let now = relation_of(schema, key).is_some_and(|now| now.target == other);
                    now && was(key).is_none_or(|was| was.target != other)
                };
                let path = match given.properties.iter().position(|property| comes(&property.key)) {
                    Some(index) => format!("properties[{index}].targetCollectionId"),
                    None => "properties".to_owned(),
                };
                return Err(Error::rule("in the trash").at(path));
            }
        }
        Ok(())
    }

    /// Replaces the schema of a collection.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn replace_schema(
        &mut self,
        by: By<'_>,
        request: &ReplaceSchema,
    ) -> Result<CollectionSchema> {
        let id = request.collection_id;
        let old = self.writable_schema(id)?;
        self.write(by.0, |space| {
            let before = space.clone();
            let draft = kept(request.schema.clone(), &old);
            let below = |error: Error| error.at("schema");
            let mut schema = complete(&draft, &space.limits).map_err(below)?;
            let given = schema.clone();
            space.pair_up(id, &mut schema).map_err(below)?;
            space.check_other_ends(&before, id, (&given, &schema)).map_err(below)?;
            space.schemas.retain(|(known, _)| *known != id);
            space.schemas.push((id, schema.clone()));
            check_renames(&old, &schema, request)?;
            let lossless = space.convert_items(&before, (&old, &schema), request, by.0);
            if !lossless && !request.drop_unconvertible && !space.breaks(Broken::ValuesAreLost) {
                return Err(below(Error::new(ErrorKind::SchemaMismatch, "values are in the way")));
            }
            space.begin_relations(id);
            let own: Vec<_> = space.get(id).children.iter().map(|item| item.record.id).collect();
            space.revise_holders(&before, by.0, &|item| own.contains(&item));
            let mut data = space.get(id).record.data.clone();
            data.inline.clone_from(&schema.name);
            space.revise(id, data, by.0);
            if schema != old && !space.breaks(Broken::ChangesAreNotDated) {
                let home = space.document_of(id).unwrap().record.id;
                let document =
                    space.documents.iter_mut().find(|document| document.record.id == home).unwrap();
                document.record.modified_at = document.record.modified_at.max(by.0.at);
                document.record.rev += 1;
            }
            Ok(CollectionSchema { id, name: schema.name.clone(), schema })
        })
    }

    /// Converts the values of all items; returns whether nothing was lost.
    fn convert_items(
        &mut self,
        before: &Self,
        (old, new): (&Schema, &Schema),
        request: &ReplaceSchema,
        stamp: &Stamp,
    ) -> bool {
        let (id, mut lossless) = (request.collection_id, true);
        for item in self.get(id).children.iter().map(|item| item.record.id).collect::<Vec<_>>() {
            let mut data = self.get(item).record.data.clone();
            let BlockKind::CollectionItem { properties } = &mut data.kind else { continue };
            for property in &old.properties {
                let key = property.key.as_str();
                let end = (id, key.to_owned());
                if let Some(former) = property.kind.relation() {
                    let related = before.related(&end, item);
                    let now = new.property(key).map(|now| &now.kind);
                    lossless &= match now {
                        None => true,
                        Some(PropertyKind::Relation(now))
                            if now.target == former.target
                                && now.inverse_key == former.inverse_key =>
                        {
                            self.limit_pairs(&end, item, &related, former, now)
                        }
                        Some(_) => related.is_empty(),
                    };
                    continue;
                }
                let Some(value) = properties.get(key).cloned() else { continue };
                let renames: Vec<_> =
                    request.rename_options.iter().filter(|rename| rename.property == key).collect();
                let value = renamed(value, &renames);
                let (value, is_whole) = match new.property(key) {
                    None if self.breaks(Broken::ValuesOutliveTheirColumn) => continue,
                    None => (None, true),
                    Some(now) if renames.is_empty() && is_same(&property.kind, &now.kind) => {
                        continue;
                    }
                    Some(_) if value == PropertyValue::Text(String::new()) => (None, true),
                    Some(now) => converted(&value, &now.kind, &self.limits),
                };
                lossless &= is_whole;
                properties.set(key, value);
            }
            self.revise(item, data, stamp);
        }
        lossless
    }

    /// Clears ends with several items that now take one; returns whether there were none.
    fn limit_pairs(
        &mut self,
        end: &(BlockId, String),
        item: BlockId,
        related: &[BlockId],
        former: &Relation,
        now: &Relation,
    ) -> bool {
        let is_over = now.single
            && !former.single
            && related.len() > 1
            && !self.breaks(Broken::SingleEndsTakeMore);
        if is_over {
            self.relate(end, item, &[], "", &mut Vec::new());
        }
        !is_over
    }

    /// The name of a collection equals that of its schema, whichever was changed.
    pub(crate) fn name_schemas(&mut self) {
        if self.breaks(Broken::NamesStay) {
            return;
        }
        let named = |space: &Self, id: BlockId| {
            space.find(id).map(|block| block.record.data.inline.clone())
        };
        for index in 0..self.schemas.len() {
            if let Some(name) = named(self, self.schemas[index].0) {
                self.schemas[index].1.name = name;
            }
        }
    }
}

/// Parts that a draft omits stay.
fn kept(mut draft: SchemaDraft, old: &Schema) -> SchemaDraft {
    draft.key = draft.key.or_else(|| Some(old.key.clone()));
    let content = draft
        .content
        .unwrap_or_else(|| ContentPropertyDraft { key: None, name: old.content.name.clone() });
    let key = content.key.or_else(|| Some(old.content.key.clone()));
    draft.content = Some(ContentPropertyDraft { key, name: content.name });
    draft
}

/// Renamed options belong to a select of either schema, and each has one new name.
fn check_renames(old: &Schema, new: &Schema, request: &ReplaceSchema) -> Result<()> {
    for (index, rename) in request.rename_options.iter().enumerate() {
        let wrong = |field| {
            let place = format!("renameOptions[{index}].{field}");
            Err(Error::new(ErrorKind::SchemaMismatch, "not an option").at(place))
        };
        let select = |schema: &Schema| {
            let kind = schema.property(&rename.property).map(|property| property.kind.clone());
            kind.filter(|kind| kind.property_type().has_options())
        };
        let (Some(former), Some(now)) = (select(old), select(new)) else {
            return wrong("property");
        };
        let has = |kind: &PropertyKind, name: &str| {
            kind.options().iter().any(|option| option.name == name)
        };
        let is_twice = request.rename_options[..index]
            .iter()
            .any(|other| (&other.property, &other.from) == (&rename.property, &rename.from));
        if !has(&former, &rename.from) {
            return wrong("from");
        }
        if !has(&now, &rename.to) {
            return wrong("to");
        }
        if is_twice {
            return wrong("from");
        }
    }
    Ok(())
}

fn renamed(value: PropertyValue, renames: &[&OptionRename]) -> PropertyValue {
    let new_name = |name: String| {
        renames.iter().find(|rename| rename.from == name).map_or(name, |rename| rename.to.clone())
    };
    match value {
        PropertyValue::Text(name) => PropertyValue::Text(new_name(name)),
        PropertyValue::Options(names) => {
            let mut kept = Vec::new();
            for name in names.into_iter().map(new_name) {
                if !kept.contains(&name) {
                    kept.push(name);
                }
            }
            PropertyValue::Options(kept)
        }
        other => other,
    }
}

/// Whether values stay unchanged: same type, and every option still exists.
fn is_same(old: &PropertyKind, new: &PropertyKind) -> bool {
    let still = |name: &str| new.options().iter().any(|option| option.name == name);
    old.property_type() == new.property_type()
        && old.options().iter().all(|option| still(&option.name))
}
