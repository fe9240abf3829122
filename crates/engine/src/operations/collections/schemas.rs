//! Operations on collections: list, create, read and replace schemas.

use std::collections::BTreeSet;

use leafbase_collections::items_schema;
use leafbase_model::{
    BlockId, Collection, CollectionSchema, CreateCollection, DocumentFilterMode, DocumentId, Error,
    GetSchema, Items, ListCollections, Location, ReplaceSchema, Result, Schema, SchemaFormat,
    SchemaReply, invariant,
};
use leafbase_store::CollectionEntry;
use leafbase_tree_ops::ReadTree;

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::core::tree::Tree;

use edits::{block, changeable, create, existing_schema, replaced, reply};

mod edits;
mod item_changes;

impl<A: AccessScope> Connection<A> {
    /// Lists collections: of all visible documents (without a scope including the trash), of the
    /// requested documents, or on a scoped connection of all but those. Ordered by document and ID,
    /// each with its name and item count. The cost is proportional to the reply, and on a scoped
    /// connection to the scope.
    ///
    /// ```
    /// use leafbase::{CreateCollection, ListCollections, SchemaDraft};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let home = notes.create_document("Home")?;
    /// notes.create_collection(CreateCollection::new(SchemaDraft::new("Chores", []), home.id()))?;
    /// let found = notes.list_collections(ListCollections::default())?;
    /// assert_eq!((found[0].name.as_str(), found[0].item_count), ("Chores", 0));
    /// assert_eq!(notes.list_collections(ListCollections::of([home.id()]))?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `documentIds[n]`, in either mode; on the full space
    /// [`crate::ErrorKind::Validation`] at `documentFilterMode` for
    /// [`DocumentFilterMode::Exclude`]; [`crate::ErrorKind::LimitExceeded`] at `documentIds` for
    /// more than [`crate::Limits::blocks_per_request`].
    pub fn list_collections(&self, request: ListCollections) -> Result<Items<Collection>> {
        let ListCollections { document_ids, mode, .. } = request;
        self.check_ids("documentIds", document_ids.as_ref())?;
        // Without documents the mode has no effect.
        let excludes = document_ids.is_some() && mode == Some(DocumentFilterMode::Exclude);
        if excludes && self.is_unrestricted() {
            let message = "a connection to the full space takes include alone";
            return Err(Error::validation(message).at("documentFilterMode"));
        }
        self.operation("list_collections").read(|tree| {
            let named = document_ids.map(|ids| existing(tree, &ids)).transpose()?;
            let entries = match (named, tree.visibility().roots()) {
                (Some(documents), _) if !excludes => of_documents(tree, &documents)?,
                (_, None) => tree.full_reader()?.collections()?,
                (without, Some(scope)) => {
                    let without = without.unwrap_or_else(BTreeSet::new);
                    of_documents(tree, scope.ids().difference(&without))?
                }
            };
            shown(tree, entries).map(Items)
        })
    }

    /// Creates an empty collection at a position. Its name is that of the schema; a text block that
    /// receives it becomes a page. Properties without a key get one derived from their name. A
    /// relation creates its inverse property in the target collection; the target `self` is the new
    /// collection.
    ///
    /// ```
    /// use leafbase::{CreateCollection, PropertyDraft, PropertyKind, Relation, SchemaDraft, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let library = notes.create_document("Library")?.id();
    /// let people = notes
    ///     .create_collection(CreateCollection::new(SchemaDraft::new("People", []), library))?;
    /// let author = PropertyDraft::new("Author", Relation::to(people.id).into());
    /// let read = PropertyDraft::new("Finished on", PropertyKind::Date);
    /// let books = SchemaDraft::new("Books", [author, read]);
    /// let books = notes.create_collection(CreateCollection::new(books, library))?;
    /// assert_eq!(books.schema.properties[1].key, "finished_on");
    /// assert_eq!(notes.schema(people.id)?.properties[0].name, "Books");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::insert_blocks`] for the position. Below `schema`:
    /// [`crate::ErrorKind::Validation`] for a blank name, an invalid or duplicate key, and an
    /// invalid `inverseKey`; [`crate::ErrorKind::NotFound`] for the target of a relation,
    /// [`crate::ErrorKind::RuleViolation`] for one in the trash;
    /// [`crate::ErrorKind::InvalidMarkdown`]; [`crate::ErrorKind::LimitExceeded`].
    pub fn create_collection(&self, request: CreateCollection) -> Result<CollectionSchema> {
        let CreateCollection { schema, position, .. } = request;
        let (made, _) = self.operation("create_collection").write(|transaction| {
            let Some(place) = self.resolve_position(transaction, position, false)? else {
                invariant!("blocks that are inserted have a place");
            };
            let draft = schema.clone();
            let (edits, made) =
                transaction.plan(|tree, context| create(tree, context, draft, place))?;
            transaction.apply(edits)?;
            transaction
                .plan(|tree, _| shown_schema(tree, made.schema))
                .map(|schema| reply(made.id, schema))
        })?;
        Ok(made)
    }

    /// Returns the schema of a collection: as stored, to be modified and passed to
    /// [`Self::replace_schema`], or as JSON Schema 2020-12 for requests that add or update items.
    ///
    /// ```
    /// use leafbase::{
    ///     CreateCollection, GetSchema, PropertyDraft, PropertyKind, SchemaDraft, SchemaFormat,
    /// };
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let home = notes.create_document("Home")?;
    /// let schema = SchemaDraft::new("Chores", [PropertyDraft::new("Due", PropertyKind::Date)]);
    /// let chores = notes.create_collection(CreateCollection::new(schema, home.id()))?.id;
    /// let reply = notes.collection_schema(GetSchema::new(chores, SchemaFormat::JsonSchemaItems))?;
    /// assert!(serde_json::to_string(&reply).unwrap().contains(r#""due":"#));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `collectionId`.
    pub fn collection_schema(&self, request: GetSchema) -> Result<SchemaReply> {
        let GetSchema { collection_id, format, allow_new_select_options, .. } = request;
        let schema = self.schema(collection_id)?;
        Ok(match format {
            SchemaFormat::Schema => SchemaReply::Schema(schema),
            SchemaFormat::JsonSchemaItems => SchemaReply::JsonSchema(items_schema(
                &schema,
                allow_new_select_options,
                self.limits(),
            )),
        })
    }

    /// Returns the schema of a collection as stored.
    ///
    /// ```
    /// use leafbase::{CreateCollection, PropertyDraft, PropertyKind, SchemaDraft};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let work = notes.create_document("Work")?;
    /// let schema = SchemaDraft::new("Tasks", [PropertyDraft::new("Due day", PropertyKind::Date)]);
    /// let tasks = notes.create_collection(CreateCollection::new(schema, work.id()))?.id;
    /// assert_eq!(notes.schema(tasks)?.properties[0].key, "due_day");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::collection_schema`].
    pub fn schema(&self, collection: BlockId) -> Result<Schema> {
        self.operation("schema").read(|tree| {
            let schema = existing_schema(tree, collection)?;
            shown_schema(tree, schema)
        })
    }

    /// Replaces the schema of a collection. Properties are matched by key. A property that is
    /// omitted is dropped with its values, and a relation with its inverse, even if the inverse is
    /// in the same collection and part of the request. Values of a property that changes its type
    /// are converted where that is lossless. Otherwise the items block the replacement, as they do
    /// for a removed option in use and for a relation that becomes single, unless
    /// [`ReplaceSchema::drop_unconvertible`] is set. `key` and `contentPropDetails` stay if absent.
    /// An option under another name is a removed and an added one, unless
    /// [`ReplaceSchema::renaming_option`] says that values follow it; several may become one.
    ///
    /// Adding, renaming and reordering properties, and adding options, touches no item. Other
    /// changes cost time proportional to the number of items. An equal schema is not written.
    ///
    /// Items of the collection whose values change get a new `rev` and stamp, and so does its
    /// document. Items, schemas and documents of other collections keep theirs.
    ///
    /// On a scoped connection, relations to invisible collections are not part of the schema and
    /// stay with their values. A new property gets a key with six random characters appended, so
    /// that it cannot collide with the key of an invisible property. A property of the request
    /// whose name and key, but for those characters, the schema has already is not new.
    ///
    /// ```
    /// use leafbase::{
    ///     AddItems, CreateCollection, ItemDraft, PropertyDraft, PropertyKind, ReplaceSchema,
    ///     SchemaDraft, Space,
    /// };
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let document = notes.create_document("Trip")?.id();
    /// let packing =
    ///     SchemaDraft::new("Packing", [PropertyDraft::new("How many", PropertyKind::Text)]);
    /// let packing = notes.create_collection(CreateCollection::new(packing, document))?;
    /// let socks = ItemDraft::new("socks").with("how_many", "3");
    /// let books = ItemDraft::new("books").with("how_many", "a few");
    /// notes.add_items(AddItems::new(packing.id, [socks, books]))?;
    ///
    /// let mut schema = packing.schema;
    /// schema.properties[0].kind = PropertyKind::Number;
    /// let replacement = ReplaceSchema::new(packing.id, schema);
    /// let error = notes.replace_schema(replacement.clone()).unwrap_err();
    /// assert!(error.message().ends_with(r#""books" (how_many)"#));
    /// notes.replace_schema(replacement.dropping_unconvertible())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// At `collectionId`: [`crate::ErrorKind::NotFound`], and [`crate::ErrorKind::RuleViolation`]
    /// in the trash. Those of a schema as for [`Self::create_collection`];
    /// [`crate::ErrorKind::SchemaMismatch`] at `schema` for blocking items, of which it lists the
    /// first, and at `renameOptions[n]` for what is not an option of a select;
    /// [`crate::ErrorKind::RuleViolation`] for an inverse that would be added or dropped in a
    /// collection in the trash.
    pub fn replace_schema(&self, request: ReplaceSchema) -> Result<CollectionSchema> {
        let ReplaceSchema { collection_id, schema, rename_options, drop_unconvertible, .. } =
            request;
        let (replaced, _) = self.operation("replace_schema").write(|transaction| {
            let (edits, schema) = transaction.plan(|tree, context| {
                let old = changeable(tree, collection_id)?;
                let new = (schema.clone(), rename_options.clone());
                replaced(tree, context, (collection_id, &old), new, drop_unconvertible)
            })?;
            transaction.apply(edits)?;
            transaction.plan(|tree, _| shown_schema(tree, schema))
        })?;
        Ok(reply(collection_id, replaced))
    }
}

/// A schema as a reply returns it.
fn shown_schema(tree: &Tree<'_>, mut schema: Schema) -> Result<Schema> {
    LinkRedactor::new(tree).redact(&mut schema)?;
    Ok(schema)
}

fn existing(tree: &Tree<'_>, documents: &[DocumentId]) -> Result<BTreeSet<DocumentId>> {
    for (index, document) in documents.iter().enumerate() {
        if tree.document(*document)?.is_none() {
            return Err(Error::no_document().at(format_args!("documentIds[{index}]")));
        }
    }
    Ok(documents.iter().copied().collect())
}

fn of_documents<'d>(
    tree: &Tree<'_>,
    documents: impl IntoIterator<Item = &'d DocumentId>,
) -> Result<Vec<CollectionEntry>> {
    let mut entries = Vec::new();
    for document in documents {
        // A scope may contain documents that are in the trash or do not exist.
        if tree.can_see_document(*document)? {
            let stored_in = tree.stored_in(*document)?;
            let found = tree.reader_of(*document)?.collections_of(stored_in)?;
            if stored_in == *document {
                entries.extend(found);
                continue;
            }
            for entry in found {
                // The document has other collections, too.
                if tree.locate(entry.collection)?.is_some_and(|found| found.document == *document) {
                    entries.push(CollectionEntry { document: *document, ..entry });
                }
            }
        }
    }
    Ok(entries)
}

/// The visible collections among `entries`, which are sorted by document. The inbox is not listed.
fn shown(tree: &Tree<'_>, entries: Vec<CollectionEntry>) -> Result<Vec<Collection>> {
    let (mut shown, mut latest, links) = (Vec::new(), None, LinkRedactor::new(tree));
    for CollectionEntry { collection: id, document: document_id, items: item_count } in entries {
        // Entries are sorted by document, so one lookup serves its siblings.
        let is_seen = match latest {
            Some((document, is_seen)) if document == document_id => is_seen,
            _ => {
                tree.document(document_id)?.is_some_and(|record| record.location != Location::Inbox)
            }
        };
        latest = Some((document_id, is_seen));
        if is_seen {
            let mut name = block(tree, id)?.data.inline;
            links.redact(&mut name)?;
            shown.push(Collection { id, name, item_count, document_id });
        }
    }
    Ok(shown)
}
