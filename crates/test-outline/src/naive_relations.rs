//! Relations of the naive space: one set of pairs per relation, read from both ends.

use std::collections::BTreeMap;

use leafbase_model::{BlockId, Error, ErrorKind, Result, Schema, Stamp};

use crate::{Broken, NaiveSpace};

/// One end of a relation: a property of a collection.
pub type NaiveEnd = (BlockId, String);

/// A relation with its pairs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NaiveRelation {
    /// The end that was declared first.
    pub first: NaiveEnd,
    /// The other end; the same one for a symmetric relation.
    pub second: NaiveEnd,
    /// Pairs of an item at the first and one at the second end, newest last. A symmetric relation
    /// stores each pair once.
    pub pairs: Vec<(BlockId, BlockId)>,
}

impl NaiveRelation {
    fn is_symmetric(&self) -> bool {
        self.first == self.second
    }

    /// Items related to `item`, as seen from `end`.
    fn seen_from(&self, end: &NaiveEnd, item: BlockId) -> Vec<BlockId> {
        let forward = self.pairs.iter().filter(|(one, _)| *one == item).map(|(_, other)| *other);
        let backward = self.pairs.iter().filter(|(_, other)| *other == item).map(|(one, _)| *one);
        let mut found: Vec<_> = match (self.is_symmetric(), *end == self.first) {
            (true, _) => forward.chain(backward).collect(),
            (false, true) => return forward.collect(),
            (false, false) => backward.collect(),
        };
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Sets the items related to `item` at `end`.
    fn relate(&mut self, end: &NaiveEnd, item: BlockId, wanted: &[BlockId]) {
        let former = self.seen_from(end, item);
        let new = wanted.iter().filter(|other| !former.contains(other));
        match (self.is_symmetric(), *end == self.first) {
            (true, _) => {
                let stays = |(one, other): &(BlockId, BlockId)| {
                    (*one != item || wanted.contains(other))
                        && (*other != item || wanted.contains(one))
                };
                self.pairs.retain(stays);
                self.pairs.extend(new.map(|other| (item, *other)));
            }
            (false, true) => {
                self.pairs.retain(|(one, _)| *one != item);
                self.pairs.extend(wanted.iter().map(|other| (item, *other)));
            }
            (false, false) => {
                self.pairs.retain(|(one, other)| *other != item || wanted.contains(one));
                self.pairs.extend(new.map(|one| (*one, item)));
            }
        }
    }

    /// Normalized order for comparison.
    pub(crate) fn normalized(mut self) -> Self {
        self.pairs.sort_by_key(|(one, _)| *one);
        self
    }
}

/// A new pair and its position in the request: the given end and item, and the related item.
pub(crate) struct Claim {
    pub(crate) end: NaiveEnd,
    pub(crate) item: BlockId,
    pub(crate) other: BlockId,
    pub(crate) path: String,
}

impl NaiveSpace {
    /// Schema of a collection.
    pub fn schema(&self, collection: BlockId) -> Option<&Schema> {
        self.schemas.iter().find(|(id, _)| *id == collection).map(|(_, schema)| schema)
    }

    pub(crate) fn schema_mut(&mut self, collection: BlockId) -> Option<&mut Schema> {
        self.schemas.iter_mut().find(|(id, _)| *id == collection).map(|(_, schema)| schema)
    }

    pub(crate) fn relation(&self, end: &NaiveEnd) -> Option<&NaiveRelation> {
        self.relations.iter().find(|relation| relation.first == *end || relation.second == *end)
    }

    pub(crate) fn relation_mut(&mut self, end: &NaiveEnd) -> Option<&mut NaiveRelation> {
        self.relations.iter_mut().find(|relation| relation.first == *end || relation.second == *end)
    }

    /// Items related to `item` by a property of its collection.
    pub fn related(&self, end: &NaiveEnd, item: BlockId) -> Vec<BlockId> {
        self.relation(end).map(|relation| relation.seen_from(end, item)).unwrap_or_default()
    }

    /// The other end of the relation.
    pub(crate) fn other_end(&self, end: &NaiveEnd) -> NaiveEnd {
        let relation = self.relation(end).unwrap();
        if relation.first == *end { relation.second.clone() } else { relation.first.clone() }
    }

    /// Sets the related items of an item; new pairs are added to `claims`.
    pub(crate) fn relate(
        &mut self,
        end: &NaiveEnd,
        item: BlockId,
        wanted: &[BlockId],
        path: &str,
        claims: &mut Vec<Claim>,
    ) {
        let former = self.related(end, item);
        let one_sided = self.breaks(Broken::RelatedOnesStay);
        let relation = self.relation_mut(end).unwrap();
        if one_sided {
            let all: Vec<_> = former.iter().chain(wanted).copied().collect();
            relation.relate(end, item, &all);
        } else {
            relation.relate(end, item, wanted);
        }
        for other in wanted.iter().filter(|other| !former.contains(other)) {
            claims.push(Claim { end: end.clone(), item, other: *other, path: path.to_owned() });
        }
    }

    /// No new pair exceeds an end that takes one item.
    pub(crate) fn check_claims(&self, claims: &[Claim]) -> Result<()> {
        for Claim { end, item, other, path } in claims {
            for (end, item, other) in
                [(end.clone(), item, other), (self.other_end(end), other, item)]
            {
                let related = self.related(&end, *item);
                let is_single = self.is_single(&end) && !self.breaks(Broken::SingleEndsTakeMore);
                if is_single && related.len() > 1 && related.contains(other) {
                    return Err(Error::new(ErrorKind::SchemaMismatch, "it takes one").at(path));
                }
            }
        }
        Ok(())
    }

    fn is_single(&self, (collection, key): &NaiveEnd) -> bool {
        let property = self.schema(*collection).and_then(|schema| schema.property(key));
        property
            .and_then(|property| property.kind.relation())
            .is_some_and(|relation| relation.single)
    }

    /// The relation values that an item's record contains: those of relations declared first by its
    /// collection.
    fn held(&self, item: BlockId) -> BTreeMap<&NaiveEnd, Vec<BlockId>> {
        let mut held: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for relation in &self.relations {
            for (_, other) in relation.pairs.iter().filter(|(one, _)| *one == item) {
                held.entry(&relation.first).or_default().push(*other);
            }
        }
        held
    }

    /// Whether the related items of an item that existed before differ.
    pub(crate) fn shows_others(
        &self,
        before: &Self,
        (collection, item): (BlockId, BlockId),
    ) -> bool {
        let properties = self.schema(collection).into_iter().flat_map(|schema| &schema.properties);
        let mut relations = properties.filter(|property| property.kind.relation().is_some());
        self.held(item) != before.held(item)
            || relations.any(|property| {
                let end = (collection, property.key.clone());
                self.related(&end, item) != before.related(&end, item)
            })
    }

    /// Marks the item as changed, once.
    pub(crate) fn revise_alike(&mut self, before: &Self, item: BlockId, stamp: &Stamp) {
        let record = &mut self.get_mut(item).record;
        if record.rev == before.get(item).record.rev {
            record.rev += 1;
            record.modified = stamp.clone();
        }
    }

    /// Marks the given items whose relations differ as changed.
    pub(crate) fn revise_holders(
        &mut self,
        before: &Self,
        stamp: &Stamp,
        is_meant: &dyn Fn(BlockId) -> bool,
    ) {
        if self.relations.is_empty() && before.relations.is_empty() {
            return;
        }
        let pairs =
            self.relations.iter().chain(&before.relations).flat_map(|relation| &relation.pairs);
        let mut holders: Vec<_> = pairs.map(|(one, _)| *one).collect();
        holders.sort_unstable();
        holders.dedup();
        for holder in holders.into_iter().filter(|holder| is_meant(*holder)) {
            let (Some(now), Some(then)) = (self.find(holder), before.find(holder)) else {
                continue;
            };
            if now.record.rev == then.record.rev && self.held(holder) != before.held(holder) {
                let record = &mut self.get_mut(holder).record;
                record.rev += 1;
                record.modified = stamp.clone();
            }
        }
    }

    /// Deleted items leave all pairs, and deleted collections all relations.
    pub(crate) fn drop_relations(&mut self) {
        let gone: Vec<_> =
            self.schemas.iter().map(|(id, _)| *id).filter(|id| self.find(*id).is_none()).collect();
        for collection in gone {
            self.schemas.retain(|(id, _)| *id != collection);
            let relations = std::mem::take(&mut self.relations);
            let (going, staying) = relations.into_iter().partition(|relation: &NaiveRelation| {
                relation.first.0 == collection || relation.second.0 == collection
            });
            self.relations = staying;
            for NaiveRelation { first, second, .. } in going {
                for (other, key) in [first, second] {
                    if let Some(schema) = self.schema_mut(other) {
                        schema.properties.retain(|property| property.key != key);
                    }
                }
            }
        }
        if self.breaks(Broken::PairsStay) {
            return;
        }
        let mut relations = std::mem::take(&mut self.relations);
        for relation in &mut relations {
            relation
                .pairs
                .retain(|(one, other)| self.find(*one).is_some() && self.find(*other).is_some());
        }
        self.relations = relations;
    }
}
