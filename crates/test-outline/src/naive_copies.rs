//! Copies of collections in the naive space: they get schemas and relations of their own.

use leafbase_model::{BlockId, Error, Location, Property, PropertyKind, Relation, Result, Schema};

use crate::naive_relations::NaiveRelation;
use crate::naive_schemas::{free_key, relation_of};
use crate::{Broken, NaiveBlock, NaiveSpace};

/// Originals with their copies.
pub(crate) type Copies<'a> = &'a [(BlockId, BlockId)];

fn copy_of(id: BlockId, copies: Copies<'_>) -> Option<BlockId> {
    copies.iter().find(|(original, _)| *original == id).map(|(_, copy)| *copy)
}

impl NaiveSpace {
    /// Collections within a block by ID, with their schemas.
    fn collections_within(&self, root: &NaiveBlock) -> Vec<(BlockId, Schema)> {
        let within = root.walk().into_iter().filter_map(|block| {
            let id = block.record.id;
            self.schema(id).map(|schema| (id, schema.clone()))
        });
        let mut found: Vec<_> = within.collect();
        found.sort_by_key(|(id, _)| *id);
        found
    }

    fn is_in_trash(&self, id: BlockId) -> bool {
        self.document_of(id).is_some_and(|home| home.record.location == Location::Trash)
    }

    /// Collections elsewhere, not in the trash, that are related to those within a block, one per
    /// relation.
    fn outward(&self, root: &NaiveBlock) -> Vec<(BlockId, String, BlockId)> {
        let mut found = Vec::new();
        for (id, schema) in self.collections_within(root) {
            for property in &schema.properties {
                let Some(relation) = property.kind.relation() else { continue };
                if !root.holds(relation.target) && !self.is_in_trash(relation.target) {
                    found.push((id, property.key.clone(), relation.target));
                }
            }
        }
        found
    }

    /// Related collections have room for further inverses.
    pub(crate) fn check_room_for_copy(&self, root: &NaiveBlock) -> Result<()> {
        let (outward, most) = (self.outward(root), self.limits.schema_properties);
        for (_, _, target) in &outward {
            let new = outward.iter().filter(|(_, _, other)| other == target).count();
            let found = self.schema(*target).unwrap().properties.len() + new;
            if found > most {
                return Err(Error::limit("properties", most, found));
            }
        }
        Ok(())
    }

    /// Copies schemas and relations of the collections within `root` to their copies.
    pub(crate) fn copy_collections(&mut self, root: &NaiveBlock, copies: Copies<'_>) {
        let outward = self.outward(root);
        for (id, mut schema) in self.collections_within(root) {
            let leads = |key: &str| outward.iter().any(|(of, known, _)| *of == id && known == key);
            schema.properties.retain(|property| match property.kind.relation() {
                Some(relation) => root.holds(relation.target) || leads(&property.key),
                None => true,
            });
            for Property { key, kind, .. } in &mut schema.properties {
                let PropertyKind::Relation(relation) = kind else { continue };
                match copy_of(relation.target, copies) {
                    Some(copy) => relation.target = copy,
                    None => {
                        *relation = self.lead_out((id, key), &schema.name, relation, root, copies);
                    }
                }
            }
            self.schemas.push((copy_of(id, copies).unwrap(), schema));
        }
        self.copy_pairs(copies);
    }

    /// The relation of a copied collection with one elsewhere, which gets a new inverse.
    fn lead_out(
        &mut self,
        (id, key): (BlockId, &str),
        name: &str,
        relation: &Relation,
        root: &NaiveBlock,
        copies: Copies<'_>,
    ) -> Relation {
        let (copy, target) = (copy_of(id, copies).unwrap(), relation.target);
        let longest = self.limits.title;
        let former = relation.inverse_key.clone().unwrap();
        let other = self.schema_mut(target).unwrap();
        let mut taken: Vec<_> =
            other.properties.iter().map(|property| property.key.clone()).collect();
        taken.push(other.content.key.clone());
        let inverse = free_key(name, &taken, longest);
        let single = relation_of(other, &former).is_some_and(|former| former.single);
        let kind = Relation { single, ..Relation::to(copy).with_inverse(key) }.into();
        other.properties.push(Property { key: inverse.clone(), name: name.to_owned(), kind });
        let mut pairs = Vec::new();
        for item in root
            .walk()
            .into_iter()
            .filter(|block| block.record.id == id)
            .flat_map(|found| &found.children)
        {
            let item = item.record.id;
            let related = self.related(&(id, key.to_owned()), item);
            pairs.extend(related.into_iter().map(|other| (copy_of(item, copies).unwrap(), other)));
        }
        let (first, second) = ((copy, key.to_owned()), (target, inverse.clone()));
        self.relations.push(NaiveRelation { first, second, pairs });
        Relation { inverse_key: Some(inverse), owner: true, ..relation.clone() }
    }

    /// Relations among copied collections.
    fn copy_pairs(&mut self, copies: Copies<'_>) {
        let strays = self.breaks(Broken::CopiesRelateToTheTemplate);
        let end = |(id, key): &(BlockId, String)| Some((copy_of(*id, copies)?, key.clone()));
        let pair = |(one, other): &(BlockId, BlockId)| {
            let copy = copy_of(*other, copies)?;
            Some((copy_of(*one, copies)?, if strays { *other } else { copy }))
        };
        let with_copies = |relation: &NaiveRelation| {
            let pairs = relation.pairs.iter().filter_map(pair).collect();
            Some(NaiveRelation {
                first: end(&relation.first)?,
                second: end(&relation.second)?,
                pairs,
            })
        };
        let made: Vec<_> = self.relations.iter().filter_map(with_copies).collect();
        self.relations.extend(made);
    }
}
