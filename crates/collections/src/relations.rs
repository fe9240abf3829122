//! Relations are stored once, in the items of the owning end; the other end is read from back
//! links. A change at either end changes items of the owner, so the two ends cannot disagree.
//!
//! At the owner's end related items have the order of the request, and an item linked from the
//! other end is appended. At the other end, and at both ends of a symmetric relation, the order is
//! by ID.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, btree_map::Entry};

use leafbase_model::{
    BlockId, Error, ErrorKind, Properties, PropertyChange, PropertyValue, Result, Schema,
};

use crate::reader::{ReadCollections, StoredItem, all_naming};
use crate::relation_ends::{RelationEnd, RelationEnds, Side, listed, put};
use crate::value_rules::mismatch;

/// An item whose stored values change.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedItem {
    /// The item's ID.
    pub id: BlockId,
    /// The item's collection.
    pub collection: BlockId,
    /// The values it is to store.
    pub values: Properties,
}

/// The relation batch of one request: collects the changes of all its items, and derives which
/// other items change through their relations.
///
/// ```text
/// let mut batch = RelationBatch::new(&reader);
/// batch.begin(new_item, collection);              // items that the request adds
/// batch.change(item, collection, changes)?;       // each item of the request
/// for changed in batch.finish()? { .. }           // values to store
/// ```
#[derive(Debug)]
pub struct RelationBatch<'a, R: ?Sized> {
    reader: &'a R,
    schemas: HashMap<BlockId, Option<Schema>>,
    items: BTreeMap<BlockId, PendingItem>,
    /// Cache of items that were read and have not changed.
    known: RefCell<HashMap<BlockId, Option<StoredItem>>>,
    /// Links added by this batch, by target: the index does not contain them yet.
    naming: HashMap<BlockId, BTreeSet<BlockId>>,
    pending: Vec<PendingPair>,
    /// By item, the relations stored elsewhere whose pairs changed.
    changed_inverses: HashMap<BlockId, BTreeMap<String, RelationEnds>>,
}

#[derive(Debug)]
struct PendingItem {
    collection: BlockId,
    /// The stored values. `None` for a new item.
    before: Option<Properties>,
    values: Properties,
}

/// A pair that the batch links. Limits of single relations are checked once all changes are known.
#[derive(Debug)]
struct PendingPair {
    ends: RelationEnds,
    item: BlockId,
    other: BlockId,
    path: String,
}

impl<'a, R: ReadCollections + ?Sized> RelationBatch<'a, R> {
    /// An empty batch over a snapshot or an open transaction.
    pub fn new(reader: &'a R) -> Self {
        let (schemas, items, naming) = (HashMap::new(), BTreeMap::new(), HashMap::new());
        Self {
            reader,
            schemas,
            items,
            known: RefCell::default(),
            naming,
            pending: Vec::new(),
            changed_inverses: HashMap::new(),
        }
    }

    /// Adds a new item of `collection`, without values.
    pub fn begin(&mut self, item: BlockId, collection: BlockId) {
        debug_assert!(!self.items.contains_key(&item), "item {item} is begun once");
        self.items
            .insert(item, PendingItem { collection, before: None, values: Properties::default() });
    }

    /// Changes values of `item`, which belongs to `collection`, and both ends of its relations.
    /// `path` locates the item in the request, such as `items[2]`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for an item that does not exist, at `path.id` or at the property
    /// that names it; [`ErrorKind::SchemaMismatch`] for a related item of the wrong collection. If
    /// the property names several items, the path includes the index.
    pub fn change(
        &mut self,
        item: BlockId,
        collection: BlockId,
        changes: Vec<PropertyChange>,
        path: &str,
    ) -> Result<()> {
        if !self.look(item, |found| found.is_some_and(|(found, _)| found == collection))? {
            return Err(Error::no_item().at("id").at(path));
        }
        for (key, value) in changes {
            if self.is_relation(collection, &key)? {
                let ends = self.ends(collection, &key)?;
                let related = match value {
                    Some(PropertyValue::Relations(items)) => items,
                    _ => Vec::new(),
                };
                let place = format!("{path}.properties.{key}");
                self.relate(&ends, item, &related, &place)
                    .map_err(|error| error.at(place.as_str()))?;
            } else {
                self.store(item, vec![(key, value)])?;
            }
        }
        Ok(())
    }

    /// Changes stored values of `item` without touching the other ends: for columns that are
    /// dropped or change their type.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such item.
    pub fn store(&mut self, item: BlockId, changes: Vec<PropertyChange>) -> Result<()> {
        self.touch(item)?.values.apply(changes);
        Ok(())
    }

    /// The pairs that the batch links: the remote item and the path of the property, in the order
    /// of the request.
    pub fn new_links(&self) -> impl Iterator<Item = (BlockId, &str)> {
        self.pending.iter().map(|pair| (pair.other, pair.path.as_str()))
    }

    /// Whether relations of `item` that other items store have changed. `item` existed before the
    /// batch.
    ///
    /// # Errors
    /// Errors of the reader.
    pub fn inverse_changed(&self, item: BlockId) -> Result<bool> {
        // An empty batch over the same reader sees the relations as stored.
        let former = Self::new(self.reader);
        for ends in self.changed_inverses.get(&item).into_iter().flat_map(BTreeMap::values) {
            if former.related(ends, item)? != self.related(ends, item)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Checks the limits of single relations and returns the items that change, and those that are
    /// new, sorted by ID.
    ///
    /// # Errors
    /// [`ErrorKind::SchemaMismatch`], at the property in the request, if a single relation would
    /// hold two items; the message names both. No pair is unlinked implicitly.
    pub fn finish(mut self) -> Result<Vec<ChangedItem>> {
        // Checked last: within one batch two items may swap their related items.
        for pair in std::mem::take(&mut self.pending) {
            self.check(&pair).map_err(|error| error.at(&pair.path))?;
        }
        let changed =
            self.items.into_iter().filter(|(_, item)| item.before.as_ref() != Some(&item.values));
        Ok(changed
            .map(|(id, item)| ChangedItem { id, collection: item.collection, values: item.values })
            .collect())
    }

    fn schema(&mut self, collection: BlockId) -> Result<Option<&Schema>> {
        if !self.schemas.contains_key(&collection) {
            let schema = self.reader.schema(collection)?;
            self.schemas.insert(collection, schema);
        }
        Ok(self.schemas.get(&collection).and_then(Option::as_ref))
    }

    fn is_relation(&mut self, collection: BlockId, key: &str) -> Result<bool> {
        let schema = self.schema(collection)?;
        Ok(schema
            .and_then(|schema| schema.property(key))
            .is_some_and(|property| property.kind.relation().is_some()))
    }

    fn ends(&mut self, collection: BlockId, key: &str) -> Result<RelationEnds> {
        // Schemas may have many options: only the relation is copied.
        RelationEnds::of(collection, key, |collection, key| {
            let property = self.schema(collection)?.and_then(|schema| schema.property(key));
            Ok(property.and_then(|property| property.kind.relation()).cloned())
        })
    }

    /// Passes the current collection and values of an item to `look`.
    fn look<T>(
        &self,
        item: BlockId,
        look: impl FnOnce(Option<(BlockId, &Properties)>) -> T,
    ) -> Result<T> {
        // Lookup order: changes of this batch, then the cache, then the store.
        if let Some(touched) = self.items.get(&item) {
            return Ok(look(Some((touched.collection, &touched.values))));
        }
        if let Some(known) = self.known.borrow().get(&item) {
            return Ok(look(known.as_ref().map(|stored| (stored.collection, &stored.values))));
        }
        let stored = self.reader.item(item)?;
        let seen = look(stored.as_ref().map(|stored| (stored.collection, &stored.values)));
        self.known.borrow_mut().insert(item, stored);
        Ok(seen)
    }

    fn touch(&mut self, item: BlockId) -> Result<&mut PendingItem> {
        let touched = match self.items.entry(item) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                // The item moves from the cache of unchanged items to the changed ones.
                let known = self.known.get_mut().remove(&item);
                let stored = known.map_or_else(|| self.reader.item(item), Ok)?;
                let StoredItem { collection, values } = stored.ok_or_else(Error::no_item)?;
                entry.insert(PendingItem { collection, before: Some(values.clone()), values })
            }
        };
        Ok(touched)
    }

    /// The items that currently name `item` in the stored relation `end`, sorted by ID.
    fn holders(&self, item: BlockId, end: &RelationEnd) -> Result<Vec<BlockId>> {
        let mut holders: BTreeSet<_> = all_naming(self.reader, item)?.into_iter().collect();
        holders.extend(self.naming.get(&item).into_iter().flatten());
        let mut found = Vec::new();
        for holder in holders {
            if self.look(holder, |found| {
                found.is_some_and(|(collection, values)| holds(collection, values, end, item))
            })? {
                found.push(holder);
            }
        }
        Ok(found)
    }

    /// The items currently related to `item`, in order.
    fn related(&self, ends: &RelationEnds, item: BlockId) -> Result<Vec<BlockId>> {
        let own = || {
            self.look(item, |found| {
                found.map_or_else(Vec::new, |(_, values)| listed(values, &ends.local.key).to_vec())
            })
        };
        match ends.side {
            Side::Owner => own(),
            Side::Inverse => self.holders(item, &ends.remote),
            Side::Symmetric => Ok(united(own()?, self.holders(item, &ends.local)?)),
        }
    }

    fn relate(
        &mut self,
        ends: &RelationEnds,
        item: BlockId,
        given: &[BlockId],
        place: &str,
    ) -> Result<()> {
        self.check_targets(ends, given)?;
        // Deduplicated, in the order of the request, which is the stored order at the owner's end.
        let mut seen = HashSet::new();
        let wanted: Vec<_> = given.iter().copied().filter(|other| seen.insert(*other)).collect();
        let former = self.related(ends, item)?;
        let (was, is): (HashSet<_>, HashSet<_>) =
            (former.iter().collect(), wanted.iter().collect());
        // Unlink first: a pair that stays is neither unlinked nor linked.
        for gone in former.iter().filter(|other| !is.contains(other)) {
            self.note_inverse(ends, item, *gone);
            self.unlink(ends, item, *gone)?;
        }
        for new in wanted.iter().filter(|other| !was.contains(other)) {
            self.note_inverse(ends, item, *new);
            self.link(ends, item, *new)?;
            self.pending.push(PendingPair {
                ends: ends.clone(),
                item,
                other: *new,
                path: place.to_owned(),
            });
        }
        // The owner's list is replaced as a whole, because the order may differ as well.
        if ends.side == Side::Owner {
            put(&mut self.touch(item)?.values, &ends.local.key, wanted);
        }
        Ok(())
    }

    /// If several items are given, an error has the index of the bad one in its path.
    fn check_targets(&self, ends: &RelationEnds, given: &[BlockId]) -> Result<()> {
        for (index, other) in given.iter().enumerate() {
            let checked = self.check_target(ends, *other);
            checked.map_err(|error| {
                if given.len() > 1 { error.at(format_args!("[{index}]")) } else { error }
            })?;
        }
        Ok(())
    }

    fn check_target(&self, ends: &RelationEnds, other: BlockId) -> Result<()> {
        let found = self.look(other, |found| found.map(|(collection, _)| collection))?;
        let expected = ends.remote.collection;
        if found.ok_or_else(Error::no_item)? == expected {
            return Ok(());
        }
        Err(mismatch(format!("expected an item of the collection {expected}, got {other}")))
    }

    /// Records that the pair changes for the end that does not store it.
    fn note_inverse(&mut self, ends: &RelationEnds, item: BlockId, other: BlockId) {
        let mut note = |item: BlockId, key: &str, ends: &dyn Fn() -> RelationEnds| {
            let known = self.changed_inverses.entry(item).or_default();
            if !known.contains_key(key) {
                known.insert(key.to_owned(), ends());
            }
        };
        if ends.side != Side::Owner {
            note(item, &ends.local.key, &|| ends.clone());
        }
        if ends.side != Side::Inverse {
            note(other, &ends.remote.key, &|| ends.inverse());
        }
    }

    /// Removes a pair from the item that stores it. The list of an owner is replaced as a whole by
    /// the caller.
    fn unlink(&mut self, ends: &RelationEnds, item: BlockId, other: BlockId) -> Result<()> {
        if ends.side != Side::Owner {
            remove(&mut self.touch(other)?.values, &ends.owner().key, item);
        }
        if ends.side == Side::Symmetric {
            remove(&mut self.touch(item)?.values, &ends.local.key, other);
        }
        Ok(())
    }

    fn link(&mut self, ends: &RelationEnds, item: BlockId, other: BlockId) -> Result<()> {
        // The owner stores the pair, whichever end the request sets.
        let (holder, held) = if ends.side == Side::Inverse { (other, item) } else { (item, other) };
        if ends.side != Side::Owner {
            let key = &ends.owner().key;
            let values = &mut self.touch(holder)?.values;
            let mut items = listed(values, key).to_vec();
            debug_assert!(!items.contains(&held), "{holder} and {held} were not linked");
            items.push(held);
            put(values, key, items);
        }
        // The index of back links does not contain uncommitted links.
        self.naming.entry(held).or_default().insert(holder);
        Ok(())
    }

    fn check(&mut self, pair: &PendingPair) -> Result<()> {
        self.check_single(&pair.ends, pair.item, pair.other)?;
        self.check_single(&pair.ends.inverse(), pair.other, pair.item)
    }

    /// Checks that a single relation of `item` holds `wanted` alone. A pair that a later change
    /// unlinked is not checked.
    fn check_single(&self, ends: &RelationEnds, item: BlockId, wanted: BlockId) -> Result<()> {
        if !ends.local.single {
            return Ok(());
        }
        let related = self.related(ends, item)?;
        let other = related.iter().find(|related| **related != wanted);
        match other {
            // A pair that a later change unlinked cannot conflict.
            Some(other) if related.contains(&wanted) => {
                Err(conflict(&ends.local, item, *other, wanted))
            }
            _ => Ok(()),
        }
    }
}

fn conflict(end: &RelationEnd, item: BlockId, other: BlockId, wanted: BlockId) -> Error {
    let message = format!(
        "item {item} takes one item as its {:?}: it is related to {other}, and cannot be to {wanted} as well",
        end.key
    );
    Error::new(ErrorKind::SchemaMismatch, message)
}

fn holds(collection: BlockId, values: &Properties, end: &RelationEnd, item: BlockId) -> bool {
    collection == end.collection && listed(values, &end.key).contains(&item)
}

fn remove(values: &mut Properties, key: &str, item: BlockId) {
    let mut items = listed(values, key).to_vec();
    items.retain(|other| *other != item);
    put(values, key, items);
}

fn united(one: Vec<BlockId>, other: Vec<BlockId>) -> Vec<BlockId> {
    one.into_iter().chain(other).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The items related to `item` of `collection` by the property `key`, in order, from either end.
/// From the end that does not own the relation it reads each item that names this one.
///
/// # Errors
/// Errors of `reader`.
pub fn related<R: ReadCollections + ?Sized>(
    reader: &R,
    collection: BlockId,
    key: &str,
    item: BlockId,
) -> Result<Vec<BlockId>> {
    let mut batch = RelationBatch::new(reader);
    let ends = batch.ends(collection, key)?;
    batch.related(&ends, item)
}

/// The inverse of a relation for many items at once: by item, the owners that store it under `key`,
/// sorted by ID. For replies that scan the owner's collection. For a symmetric relation it has
/// to be united with what the items store themselves.
pub fn inverse_index<'v>(
    owners: impl IntoIterator<Item = (BlockId, &'v Properties)>,
    key: &str,
) -> HashMap<BlockId, BTreeSet<BlockId>> {
    let mut found: HashMap<_, BTreeSet<_>> = HashMap::new();
    for (owner, values) in owners {
        for item in listed(values, key) {
            found.entry(*item).or_default().insert(owner);
        }
    }
    found
}

/// The items that change when `going` are deleted: they lose their relations to them. In order of
/// IDs.
///
/// # Errors
/// Errors of `reader`.
pub fn unlink_items<R: ReadCollections + ?Sized>(
    reader: &R,
    going: &BTreeSet<BlockId>,
) -> Result<Vec<ChangedItem>> {
    let mut holders = BTreeSet::new();
    for item in going {
        holders.extend(
            all_naming(reader, *item)?.into_iter().filter(|holder| !going.contains(holder)),
        );
    }
    let mut changed = Vec::new();
    for id in holders {
        // The index may name an item outside of the caller's scope.
        if let Some(StoredItem { collection, mut values }) = reader.item(id)? {
            for (key, rest) in without(&values, going) {
                put(&mut values, &key, rest);
            }
            changed.push(ChangedItem { id, collection, values });
        }
    }
    Ok(changed)
}

/// By key, the relations of `values` without `going`.
fn without(values: &Properties, going: &BTreeSet<BlockId>) -> Vec<(String, Vec<BlockId>)> {
    let relations = values.iter().filter_map(|(key, value)| match value {
        PropertyValue::Relations(items) => Some((key, items)),
        _ => None,
    });
    let rest =
        |items: &[BlockId]| items.iter().copied().filter(|item| !going.contains(item)).collect();
    relations.map(|(key, items)| (key.to_owned(), rest(items))).collect()
}
