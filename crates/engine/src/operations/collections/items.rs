//! The operations on items: get, add, update, delete.

use leafbase_model::{
    AddItems, BlockId, BlockKind, BlockLocation, BlockRecord, DeleteItems, Error, GetItems, Item,
    Items, ItemsPage, Result, Schema, UpdateItems,
};
use leafbase_tree_ops::{self as ops, ReadTree};

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::tree::Tree;
use adding::Additions;
use updating::Updates;

mod adding;
mod cursor;
mod deleting;
mod faults;
pub(super) mod reading;
mod relating;
mod updating;

impl<A: AccessScope> Connection<A> {
    /// The items of a collection in its order, each with its page down to the depth that is asked
    /// for. Costs what it returns.
    ///
    /// Without a limit the reply has all of them. A cursor leads on even if items come and go
    /// between two calls: it remembers the eight items given last and the eight that follow, and
    /// the reply goes on at the nearest of them that is still there. If none of these sixteen is,
    /// it begins anew, so that nothing is left out.
    ///
    /// ```
    /// # use leafbase::{AddItems, CreateCollection, ItemDraft, PropertyDraft, PropertyKind, SchemaDraft, Space};
    /// use leafbase::GetItems;
    /// # fn main() -> leafbase::Result<()> {
    /// # let notes = Space::in_memory()?.connect();
    /// # let home = notes.create_document("Home")?;
    /// # let schema = SchemaDraft::new("Chores", [PropertyDraft::new("Due", PropertyKind::Date)]);
    /// # let chores = notes.create_collection(CreateCollection::new(schema, home.id()))?.id;
    /// notes.add_items(AddItems::new(chores, ["Sweep", "Mop", "Dust"].map(ItemDraft::new)))?;
    /// assert_eq!(notes.items(chores)?.len(), 3); // all of them
    /// let page = notes.items(GetItems::of(chores).limit(2))?;
    /// let rest = notes.items(GetItems::of(chores).after(page.next_cursor.clone().unwrap()))?;
    /// assert_eq!((page.len(), rest[0].title.as_str()), (2, "Dust"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `collectionId`; [`crate::ErrorKind::LimitExceeded`] if it
    /// would be more than [`crate::Limits::blocks_per_fetch`] items and blocks of their pages;
    /// [`crate::ErrorKind::Validation`] at `limit` for 0, and at `cursor` for one of another
    /// listing.
    pub fn items(&self, request: impl Into<GetItems>) -> Result<ItemsPage<Item>> {
        let request = request.into();
        request.paging.check()?;
        self.operation("items").read(|tree| reading::page(tree, &request, self.limits()))
    }

    /// Puts items at the end of a collection, in the order of the request, with the blocks of their
    /// pages. Gives them back with their IDs, without their pages.
    ///
    /// Relations name items that exist, and are seen from both ends at once: at the end that holds
    /// the relation in the order of the request, at the other by ID ([`crate::Relation`] says which
    /// is which). The IDs of one call are given out in the order of its items, so that they are
    /// shown in it at that end, too. An item that is named twice is related once, and the titles
    /// that replies show beside IDs may be sent back: they change nothing. Where two items of a
    /// request say different things of one pair, each at its own end, the later one decides; but no
    /// end that takes one item gets a second.
    ///
    /// ```
    /// use leafbase::{AddItems, CreateCollection, ItemDraft, Position, PropertyDraft, PropertyKind, SchemaDraft, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let home = notes.create_document("Home")?;
    /// let schema = SchemaDraft::new("Chores", [PropertyDraft::new("Due", PropertyKind::Date)]);
    /// let chores = notes.create_collection(CreateCollection::new(schema, Position::end_of(home.id())))?.id;
    ///
    /// let sweep = ItemDraft::new("Sweep the stairs").with("due", "2026-03-01");
    /// let added = notes.add_items(AddItems::new(chores, [sweep]))?;
    /// assert_eq!(added[0].title, "Sweep the stairs");
    ///
    /// let error = notes.add_items(AddItems::new(chores, [ItemDraft::new("Mop").with("due", "soon")])).unwrap_err();
    /// assert_eq!(error.to_string(), r#"items[0].properties.due: expected a day YYYY-MM-DD, got "soon""#);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `collectionId`, and at a property that names an item that
    /// does not exist, with its place if the property names several
    /// (`items[0].properties.authors[1]`); [`crate::ErrorKind::SchemaMismatch`] at what does not
    /// fit the schema; [`crate::ErrorKind::RuleViolation`] if the collection, or an item that is
    /// newly related to, is in the trash; [`crate::ErrorKind::Validation`] for a title of more than
    /// one paragraph; and as for the insertion of blocks, below `items[n].content`. The path names
    /// the first bad item, and nothing is added.
    pub fn add_items(&self, request: AddItems) -> Result<Items<Item>> {
        let additions = Additions::new(self, request)?;
        let (added, _) =
            self.operation("add_items").write(|transaction| additions.write(transaction))?;
        Ok(Items(added))
    }

    /// Changes titles and values of items; what is not given stays, and `null` clears a property.
    /// Gives the items back as they are then, without their pages. An item that says all of it
    /// already is not changed.
    ///
    /// A relation becomes what is given: who is not named is related no more. The order of related
    /// items, and what counts where the request contradicts itself, are as for [`Self::add_items`]:
    /// entries are put in one after the other, and the later one decides.
    ///
    /// What the request names is changed: an item that then shows something else, at whichever end
    /// of a relation, has another `rev` and another time and author of its last change, and so has
    /// its document. Items at other ends that it does not name keep theirs, whatever they then
    /// show; so do those that are related to what is deleted. A `rev` that is expected tells that
    /// nobody wrote to the item since, not that it is related to the same items.
    ///
    /// ```
    /// # use leafbase::{AddItems, CreateCollection, ItemDraft, Position, PropertyDraft, PropertyKind, SchemaDraft, Space};
    /// use leafbase::{ItemUpdate, Relation, UpdateItems};
    /// # fn main() -> leafbase::Result<()> {
    /// # let notes = Space::in_memory()?.connect();
    /// # let home = notes.create_document("Home")?;
    /// let people = SchemaDraft::new("People", []);
    /// let people = notes.create_collection(CreateCollection::new(people, Position::end_of(home.id())))?.id;
    /// let by = PropertyDraft::new("By", Relation::to(people).with_inverse("wrote").into());
    /// let books = SchemaDraft::new("Books", [by]);
    /// let books = notes.create_collection(CreateCollection::new(books, Position::end_of(home.id())))?.id;
    /// let ada = notes.add_items(AddItems::new(people, [ItemDraft::new("Ada")]))?[0].id;
    /// let notes_on_it = notes.add_items(AddItems::new(books, [ItemDraft::new("Notes")]))?[0].id;
    ///
    /// let change = ItemUpdate::of(ada).with_title("Ada Lovelace").with("wrote", vec![notes_on_it.to_string()]);
    /// notes.update_items(UpdateItems::new(people, [change]))?;
    /// assert_eq!(notes.items(books)?[0].related("by")[0].title, "Ada Lovelace");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::add_items`], below `itemsToUpdate`; [`crate::ErrorKind::NotFound`] at
    /// `itemsToUpdate[n].id` for what is no item of the collection, and
    /// [`crate::ErrorKind::Validation`] there for an item that is named twice. Nothing is changed
    /// then.
    pub fn update_items(&self, request: UpdateItems) -> Result<Items<Item>> {
        let updates = Updates::new(request);
        let (changed, _) =
            self.operation("update_items").write(|transaction| updates.write(transaction))?;
        Ok(Items(changed))
    }

    /// Deletes items with their pages, and takes them out of every relation. Gives back the IDs
    /// asked for.
    ///
    /// ```
    /// # use leafbase::{AddItems, CreateCollection, ItemDraft, SchemaDraft, Space};
    /// use leafbase::DeleteItems;
    /// # fn main() -> leafbase::Result<()> {
    /// # let notes = Space::in_memory()?.connect();
    /// # let home = notes.create_document("Home")?;
    /// # let chores = notes.create_collection(CreateCollection::new(SchemaDraft::new("Chores", []), home.id()))?.id;
    /// let added = notes.add_items(AddItems::new(chores, ["Sweep", "Mop"].map(ItemDraft::new)))?;
    /// notes.delete_items(DeleteItems::new(chores, [added[0].id]))?;
    /// assert_eq!(notes.items(chores)?[0].title, "Mop");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `collectionId`, and at `idsToDelete[n]` for what is no
    /// item of the collection; [`crate::ErrorKind::Validation`] for an item that is named twice;
    /// [`crate::ErrorKind::RuleViolation`] if the collection is in the trash. Nothing is deleted
    /// then.
    pub fn delete_items(&self, request: DeleteItems) -> Result<Items<BlockId>> {
        let DeleteItems { collection_id, ids_to_delete: ids } = request;
        self.operation("delete_items").write(|transaction| {
            let edits = transaction
                .plan(|tree, context| deleting::edits(tree, context, collection_id, &ids))?;
            transaction.apply(edits)
        })?;
        Ok(Items(ids))
    }
}

/// The schema of the collection that a request names.
fn schema(tree: &Tree<'_>, collection: BlockId) -> Result<Schema> {
    leafbase_collections::ReadCollections::schema(tree, collection)?
        .ok_or_else(|| Error::not_found().at("collectionId"))
}

/// The schema of a collection that is to be written, and where the collection stands.
fn writable(tree: &Tree<'_>, collection: BlockId) -> Result<(Schema, BlockLocation)> {
    let schema = schema(tree, collection)?;
    let located =
        ops::locate_writable(tree, collection).map_err(|error| error.at("collectionId"))?;
    Ok((schema, located))
}

/// An item of `collection`.
fn item(tree: &Tree<'_>, collection: BlockId, id: BlockId) -> Result<BlockRecord> {
    let located = tree.locate(id)?.ok_or_else(Error::not_found)?;
    if located.parent != Some(collection) {
        return Err(Error::not_found());
    }
    let block = tree.block(id)?.ok_or_else(Error::not_found)?;
    if matches!(block.data.kind, BlockKind::CollectionItem { .. }) {
        Ok(block)
    } else {
        Err(Error::not_found())
    }
}

/// Refuses more items than a request may name.
fn check_count(list: &str, most: usize, found: usize) -> Result<()> {
    if found > most {
        Err(Error::limit("items in one request", most, found).at(list))
    } else {
        Ok(())
    }
}
