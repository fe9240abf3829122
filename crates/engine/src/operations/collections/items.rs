//! Operations on items: get, add, update, delete.

use leafbase_model::{
    AddItems, BlockId, DeleteItems, GetItems, Item, Items, ItemsPage, Result, UpdateItems,
};

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use insertion::RequestedItems;
use update::ItemUpdates;

mod cursor;
mod deletion;
mod error_order;
mod insertion;
pub(super) mod item_page;
mod lookup;
mod update;
mod values;

impl<A: AccessScope> Connection<A> {
    /// Returns the items of a collection in order, each with its page down to the requested depth.
    /// The cost is proportional to the reply.
    ///
    /// Without a limit the reply contains all items. A cursor stays valid while items are added and
    /// deleted: it remembers the last eight items returned and the next eight, and the next page
    /// starts at the nearest one that still exists. If all of them are gone, it starts from the
    /// beginning, so that no item is missed.
    ///
    /// ```
    /// # use leafbase::{
    /// #     AddItems, CreateCollection, ItemDraft, PropertyDraft, PropertyKind, SchemaDraft,
    /// #     Space,
    /// # };
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
    /// [`crate::ErrorKind::NotFound`] at `collectionId`; [`crate::ErrorKind::LimitExceeded`] for
    /// more than [`crate::Limits::blocks_per_fetch`] items and descendants of their pages;
    /// [`crate::ErrorKind::Validation`] at `limit` for 0, and at `cursor` for a cursor of another
    /// listing.
    pub fn items(&self, request: impl Into<GetItems>) -> Result<ItemsPage<Item>> {
        let request = request.into();
        request.paging.check()?;
        self.operation("items").read(|tree| item_page::page(tree, &request, self.limits()))
    }

    /// Appends items to a collection in the order of the request, with the child blocks of their
    /// pages. Returns them with their IDs, without their pages.
    ///
    /// Relations name existing items and are visible from both ends at once: at the owning end in
    /// the order of the request, at the other end by ID (see [`crate::Relation`]). IDs of one call
    /// ascend in the order of the items, so the other end shows them in that order, too. A
    /// duplicate is linked once. Titles next to IDs, as replies contain them, are ignored. If two
    /// items of a request contradict each other about a pair, each at its own end, the later one
    /// wins; a single relation never gets a second item.
    ///
    /// ```
    /// use leafbase::{
    ///     AddItems, CreateCollection, ItemDraft, Position, PropertyDraft, PropertyKind,
    ///     SchemaDraft, Space,
    /// };
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let home = notes.create_document("Home")?;
    /// let schema = SchemaDraft::new("Chores", [PropertyDraft::new("Due", PropertyKind::Date)]);
    /// let chores = notes
    ///     .create_collection(CreateCollection::new(schema, Position::end_of(home.id())))?.id;
    ///
    /// let sweep = ItemDraft::new("Sweep the stairs").with("due", "2026-03-01");
    /// let added = notes.add_items(AddItems::new(chores, [sweep]))?;
    /// assert_eq!(added[0].title, "Sweep the stairs");
    ///
    /// let mop = ItemDraft::new("Mop").with("due", "soon");
    /// let error = notes.add_items(AddItems::new(chores, [mop])).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     r#"items[0].properties.due: expected a day YYYY-MM-DD, got "soon""#,
    /// );
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `collectionId`, and at a property that names an item which
    /// does not exist, with its index if there are several (`items[0].properties.authors[1]`);
    /// [`crate::ErrorKind::SchemaMismatch`] at a value that is invalid under the schema, and on a
    /// scoped connection at an option that is named by a link out of its scope instead of the
    /// placeholder; [`crate::ErrorKind::RuleViolation`] if the collection or a newly related item
    /// is in the trash; [`crate::ErrorKind::Validation`] for a title of more than one paragraph;
    /// and as for inserting blocks, below `items[n].content`. The path names the first invalid
    /// item, and nothing is added.
    pub fn add_items(&self, request: AddItems) -> Result<Items<Item>> {
        let additions = self.prepare(|| RequestedItems::new(self, request))?;
        let (added, _) =
            self.operation("add_items").write(|transaction| additions.write(transaction))?;
        Ok(Items(added))
    }

    /// Changes titles and values of items. Absent fields stay; `null` clears a property. Returns
    /// the updated items without their pages. An item with no difference is not changed.
    ///
    /// A relation is replaced as a whole: items that are not listed are unlinked. The order of
    /// related items and the resolution of contradictions are as for [`Self::add_items`]: entries
    /// apply in order, and the later one wins.
    ///
    /// An item of the request whose values differ afterwards, at either end of a relation, gets a
    /// new `rev` and a new stamp, and so does its document. Items at other ends that the request
    /// does not name keep theirs, whatever they then show, as do items related to deleted ones. An
    /// expected `rev` therefore detects writes to the item itself, not to its relations.
    ///
    /// ```
    /// # use leafbase::{
    /// #     AddItems, CreateCollection, ItemDraft, Position, PropertyDraft, PropertyKind,
    /// #     SchemaDraft, Space,
    /// # };
    /// use leafbase::{ItemUpdate, Relation, UpdateItems};
    /// # fn main() -> leafbase::Result<()> {
    /// # let notes = Space::in_memory()?.connect();
    /// # let home = notes.create_document("Home")?;
    /// let people = SchemaDraft::new("People", []);
    /// let people = notes
    ///     .create_collection(CreateCollection::new(people, Position::end_of(home.id())))?.id;
    /// let by = PropertyDraft::new("By", Relation::to(people).with_inverse("wrote").into());
    /// let books = SchemaDraft::new("Books", [by]);
    /// let books = notes
    ///     .create_collection(CreateCollection::new(books, Position::end_of(home.id())))?.id;
    /// let ada = notes.add_items(AddItems::new(people, [ItemDraft::new("Ada")]))?[0].id;
    /// let notes_on_it = notes.add_items(AddItems::new(books, [ItemDraft::new("Notes")]))?[0].id;
    ///
    /// let change = ItemUpdate::of(ada).with_title("Ada Lovelace")
    ///     .with("wrote", vec![notes_on_it.to_string()]);
    /// notes.update_items(UpdateItems::new(people, [change]))?;
    /// assert_eq!(notes.items(books)?[0].related("by")[0].title, "Ada Lovelace");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::add_items`], below `itemsToUpdate`; at `itemsToUpdate[n].id`
    /// [`crate::ErrorKind::NotFound`] for an ID that is not an item of the collection, and
    /// [`crate::ErrorKind::Validation`] for an item that occurs twice. Nothing is changed then.
    pub fn update_items(&self, request: UpdateItems) -> Result<Items<Item>> {
        let updates = ItemUpdates::new(request);
        let (changed, _) =
            self.operation("update_items").write(|transaction| updates.write(transaction))?;
        Ok(Items(changed))
    }

    /// Deletes items with their pages and unlinks them from every relation. Returns the IDs of the
    /// request.
    ///
    /// ```
    /// # use leafbase::{AddItems, CreateCollection, ItemDraft, SchemaDraft, Space};
    /// use leafbase::DeleteItems;
    /// # fn main() -> leafbase::Result<()> {
    /// # let notes = Space::in_memory()?.connect();
    /// # let home = notes.create_document("Home")?;
    /// # let chores = SchemaDraft::new("Chores", []);
    /// # let chores = notes.create_collection(CreateCollection::new(chores, home.id()))?.id;
    /// let added = notes.add_items(AddItems::new(chores, ["Sweep", "Mop"].map(ItemDraft::new)))?;
    /// notes.delete_items(DeleteItems::new(chores, [added[0].id]))?;
    /// assert_eq!(notes.items(chores)?[0].title, "Mop");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `collectionId`, and at `idsToDelete[n]` for an ID that is
    /// not an item of the collection; [`crate::ErrorKind::Validation`] for an item that occurs
    /// twice; [`crate::ErrorKind::RuleViolation`] if the collection is in the trash. Nothing is
    /// deleted then.
    pub fn delete_items(&self, request: DeleteItems) -> Result<Items<BlockId>> {
        let DeleteItems { collection_id, ids_to_delete: ids, .. } = request;
        self.operation("delete_items").write(|transaction| {
            let edits = transaction
                .plan(|tree, context| deletion::edits(tree, context, collection_id, &ids))?;
            transaction.apply(edits)
        })?;
        Ok(Items(ids))
    }
}
