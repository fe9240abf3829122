//! Relations are stored once: the items of the end that owns a relation hold it, the other end is
//! read from back links. So a change at either end is a change of owner items, and the two ends
//! cannot disagree.
//!
//! The order of related items is that of the request at the owner's end, where a new one from the
//! other end joins last; it is by ID at the other end, and at both of a symmetric relation.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, btree_map::Entry};

use leafbase_model::{
    BlockId, Error, ErrorKind, Properties, PropertyChange, PropertyValue, Result, Schema,
};

use crate::ends::{End, Ends, Face, listed, put};
use crate::read::{ReadCollections, StoredItem, all_naming};
use crate::values::mismatch;

/// An item whose stored values change.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedItem {
    /// The item.
    pub id: BlockId,
    /// The collection that it is in.
    pub collection: BlockId,
    /// What it is to hold.
    pub values: Properties,
}

/// The changes of one request, put together: values of items, and what relations make of other
/// items.
///
/// ```text
/// let mut relating = Relating::new(&reader);
/// relating.begin(new_item, collection);              // items that the request makes
/// relating.change(item, collection, changes)?;       // each item of the request
/// for changed in relating.finish()? { .. }           // what the items then hold
/// ```
#[derive(Debug)]
pub struct Relating<'a, R: ?Sized> {
    reader: &'a R,
    schemas: HashMap<BlockId, Option<Schema>>,
    items: BTreeMap<BlockId, Touched>,
    /// Items that were looked at and are as they were.
    known: RefCell<HashMap<BlockId, Option<StoredItem>>>,
    /// By item, those that name it since this began: the index does not know of them yet.
    naming: HashMap<BlockId, BTreeSet<BlockId>>,
    claims: Vec<Claim>,
    /// By item, its relations of which others hold pairs that came or went.
    turned: HashMap<BlockId, BTreeMap<String, Ends>>,
}

#[derive(Debug)]
struct Touched {
    collection: BlockId,
    /// What the item holds until now; none for one that is made.
    before: Option<Properties>,
    values: Properties,
}

/// A pair that was not related before. Whether it may be is known when all changes are.
#[derive(Debug)]
struct Claim {
    ends: Ends,
    item: BlockId,
    other: BlockId,
    path: String,
}

impl<'a, R: ReadCollections + ?Sized> Relating<'a, R> {
    /// No change yet.
    pub fn new(reader: &'a R) -> Self {
        let (schemas, items, naming) = (HashMap::new(), BTreeMap::new(), HashMap::new());
        Self {
            reader,
            schemas,
            items,
            known: RefCell::default(),
            naming,
            claims: Vec::new(),
            turned: HashMap::new(),
        }
    }

    /// An item is made in `collection`; it has no values yet.
    pub fn begin(&mut self, item: BlockId, collection: BlockId) {
        self.items
            .insert(item, Touched { collection, before: None, values: Properties::default() });
    }

    /// The properties of `item`, which is in `collection`, become what `changes` say, at both ends
    /// of relations. `path` is where the request says so, such as `items[2]`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for an item that is not there, at `path.id` or at the property that
    /// names it; [`ErrorKind::SchemaMismatch`] for a related item of another collection than the
    /// property's. Where the property names several, the path has the place of the bad one among
    /// them.
    pub fn change(
        &mut self,
        item: BlockId,
        collection: BlockId,
        changes: Vec<PropertyChange>,
        path: &str,
    ) -> Result<()> {
        if !self.look(item, |found| found.is_some_and(|(found, _)| found == collection))? {
            return Err(Error::not_found().at("id").at(path));
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

    /// What `item` holds under these keys becomes this, without a look at the other ends: for
    /// columns that go or change their type.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such item.
    pub fn store(&mut self, item: BlockId, changes: Vec<PropertyChange>) -> Result<()> {
        self.touch(item)?.values.apply(changes);
        Ok(())
    }

    /// The items that changes related others to which were not related to them before, each with
    /// the place in the request that says so: in the order of the request.
    pub fn joined(&self) -> impl Iterator<Item = (BlockId, &str)> {
        self.claims.iter().map(|claim| (claim.other, claim.path.as_str()))
    }

    /// Whether `item`, which was there, then shows other related items by relations that others
    /// hold.
    ///
    /// # Errors
    /// What the reader reports.
    pub fn shows_otherwise(&self, item: BlockId) -> Result<bool> {
        let former = Self::new(self.reader);
        for ends in self.turned.get(&item).into_iter().flat_map(BTreeMap::values) {
            if former.related(ends, item)? != self.related(ends, item)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The items that then hold something else than before, and those that were made; by ID.
    ///
    /// # Errors
    /// [`ErrorKind::SchemaMismatch`], at the property of the request, if an item would be related
    /// to two by a property that takes one; both are named. Nothing is taken from an item silently.
    pub fn finish(mut self) -> Result<Vec<ChangedItem>> {
        for claim in std::mem::take(&mut self.claims) {
            self.check(&claim).map_err(|error| error.at(&claim.path))?;
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

    fn ends(&mut self, collection: BlockId, key: &str) -> Result<Ends> {
        Ends::of(collection, key, |collection| Ok(self.schema(collection)?.cloned()))
    }

    /// Hands the item, as it is by now, to `look`: its collection and its values.
    fn look<T>(
        &self,
        item: BlockId,
        look: impl FnOnce(Option<(BlockId, &Properties)>) -> T,
    ) -> Result<T> {
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

    fn touch(&mut self, item: BlockId) -> Result<&mut Touched> {
        let touched = match self.items.entry(item) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let known = self.known.get_mut().remove(&item);
                let stored = known.map_or_else(|| self.reader.item(item), Ok)?;
                let StoredItem { collection, values } = stored.ok_or_else(Error::not_found)?;
                entry.insert(Touched { collection, before: Some(values.clone()), values })
            }
        };
        Ok(touched)
    }

    /// The items whose stored relation `end` names `item` by now, by ID.
    fn holders(&self, item: BlockId, end: &End) -> Result<Vec<BlockId>> {
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

    /// The items that `item` is related to by now, in their order.
    fn related(&self, ends: &Ends, item: BlockId) -> Result<Vec<BlockId>> {
        let own = || {
            self.look(item, |found| {
                found.map(|(_, values)| listed(values, &ends.here.key).to_vec())
            })
        };
        match ends.face {
            Face::Owner => Ok(own()?.unwrap_or_default()),
            Face::Other => self.holders(item, &ends.there),
            Face::Symmetric => {
                Ok(united(own()?.unwrap_or_default(), self.holders(item, &ends.here)?))
            }
        }
    }

    fn relate(&mut self, ends: &Ends, item: BlockId, given: &[BlockId], place: &str) -> Result<()> {
        self.check_targets(ends, given)?;
        let mut seen = HashSet::new();
        let wanted: Vec<_> = given.iter().copied().filter(|other| seen.insert(*other)).collect();
        let former = self.related(ends, item)?;
        let (was, is): (HashSet<_>, HashSet<_>) =
            (former.iter().collect(), wanted.iter().collect());
        for gone in former.iter().filter(|other| !is.contains(other)) {
            self.turn(ends, item, *gone);
            self.part(ends, item, *gone)?;
        }
        for new in wanted.iter().filter(|other| !was.contains(other)) {
            self.turn(ends, item, *new);
            self.join(ends, item, *new)?;
            self.claims.push(Claim {
                ends: ends.clone(),
                item,
                other: *new,
                path: place.to_owned(),
            });
        }
        if ends.face == Face::Owner {
            put(&mut self.touch(item)?.values, &ends.here.key, wanted);
        }
        Ok(())
    }

    /// Of several the one that cannot be is told by its place among them.
    fn check_targets(&self, ends: &Ends, given: &[BlockId]) -> Result<()> {
        for (index, other) in given.iter().enumerate() {
            let checked = self.check_target(ends, *other);
            checked.map_err(|error| {
                if given.len() > 1 { error.at(format_args!("[{index}]")) } else { error }
            })?;
        }
        Ok(())
    }

    fn check_target(&self, ends: &Ends, other: BlockId) -> Result<()> {
        let found = self.look(other, |found| found.map(|(collection, _)| collection))?;
        let expected = ends.there.collection;
        if found.ok_or_else(Error::not_found)? == expected {
            return Ok(());
        }
        Err(mismatch(format!("expected an item of the collection {expected}, got {other}")))
    }

    /// The pair comes or goes: so it does where it is not held.
    fn turn(&mut self, ends: &Ends, item: BlockId, other: BlockId) {
        let mut tell = |item: BlockId, key: &str, ends: &dyn Fn() -> Ends| {
            let known = self.turned.entry(item).or_default();
            if !known.contains_key(key) {
                known.insert(key.to_owned(), ends());
            }
        };
        if ends.face != Face::Owner {
            tell(item, &ends.here.key, &|| ends.clone());
        }
        if ends.face != Face::Other {
            tell(other, &ends.there.key, &|| ends.turned());
        }
    }

    /// Takes a pair apart, whoever of the two holds it. What an owner holds itself is put as a
    /// whole.
    fn part(&mut self, ends: &Ends, item: BlockId, other: BlockId) -> Result<()> {
        if ends.face != Face::Owner {
            take_out(&mut self.touch(other)?.values, &ends.owner().key, item);
        }
        if ends.face == Face::Symmetric {
            take_out(&mut self.touch(item)?.values, &ends.here.key, other);
        }
        Ok(())
    }

    fn join(&mut self, ends: &Ends, item: BlockId, other: BlockId) -> Result<()> {
        let (holder, held) = if ends.face == Face::Other { (other, item) } else { (item, other) };
        if ends.face != Face::Owner {
            let key = &ends.owner().key;
            let values = &mut self.touch(holder)?.values;
            let mut items = listed(values, key).to_vec();
            items.push(held);
            put(values, key, items);
        }
        self.naming.entry(held).or_default().insert(holder);
        Ok(())
    }

    fn check(&mut self, claim: &Claim) -> Result<()> {
        self.check_single(&claim.ends, claim.item, claim.other)?;
        self.check_single(&claim.ends.turned(), claim.other, claim.item)
    }

    /// That `item` is related to `wanted` alone, if its property takes one. A pair that a later
    /// change took apart is none.
    fn check_single(&self, ends: &Ends, item: BlockId, wanted: BlockId) -> Result<()> {
        if !ends.here.single {
            return Ok(());
        }
        let related = self.related(ends, item)?;
        let other = related.iter().find(|related| **related != wanted);
        match other {
            Some(other) if related.contains(&wanted) => {
                Err(taken(&ends.here, item, *other, wanted))
            }
            _ => Ok(()),
        }
    }
}

fn taken(end: &End, item: BlockId, other: BlockId, wanted: BlockId) -> Error {
    let message = format!(
        "item {item} takes one item as its {:?}: it is related to {other}, and cannot be to {wanted} as well",
        end.key
    );
    Error::new(ErrorKind::SchemaMismatch, message)
}

fn holds(collection: BlockId, values: &Properties, end: &End, item: BlockId) -> bool {
    collection == end.collection && listed(values, &end.key).contains(&item)
}

fn take_out(values: &mut Properties, key: &str, item: BlockId) {
    let mut items = listed(values, key).to_vec();
    items.retain(|other| *other != item);
    put(values, key, items);
}

fn united(one: Vec<BlockId>, other: Vec<BlockId>) -> Vec<BlockId> {
    one.into_iter().chain(other).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The items that `item`, which is in `collection`, is related to by the property `key`: in their
/// order, whichever end this is. At the end that does not own the relation it reads each item that
/// names this one.
///
/// # Errors
/// What `reader` reports.
pub fn related<R: ReadCollections + ?Sized>(
    reader: &R,
    collection: BlockId,
    key: &str,
    item: BlockId,
) -> Result<Vec<BlockId>> {
    let mut relating = Relating::new(reader);
    let ends = relating.ends(collection, key)?;
    relating.related(&ends, item)
}

/// The other end of a relation for all items at once: by item, those that hold it under `key`, by
/// ID. For replies with many items, which read the owner's collection by one range. Of a symmetric
/// relation it is to be united with what the items hold themselves.
pub fn inverted<'v>(
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

/// Items are deleted: what the items that stay then hold, by ID. Those that go are in no relation
/// any more.
///
/// # Errors
/// What `reader` reports.
pub fn forget<R: ReadCollections + ?Sized>(
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
        let Some(StoredItem { collection, mut values }) = reader.item(id)? else { continue };
        for (key, rest) in without(&values, going) {
            put(&mut values, &key, rest);
        }
        changed.push(ChangedItem { id, collection, values });
    }
    Ok(changed)
}

/// By key, what is left of the relations without `going`.
fn without(values: &Properties, going: &BTreeSet<BlockId>) -> Vec<(String, Vec<BlockId>)> {
    let relations = values.iter().filter_map(|(key, value)| match value {
        PropertyValue::Relations(items) => Some((key, items)),
        _ => None,
    });
    let rest =
        |items: &[BlockId]| items.iter().copied().filter(|item| !going.contains(item)).collect();
    relations.map(|(key, items)| (key.to_owned(), rest(items))).collect()
}
