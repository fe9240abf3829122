//! The requests of listings as queries that can be watched.

use leafbase_model::{
    BlockId, Document, DocumentId, Fetch, Item, ListDocuments, ListScopedDocuments, ListTasks,
    QueryItems, Result, ScopedDocument, Task, TaskScope,
};
#[cfg(feature = "search")]
use leafbase_model::{SearchDocuments, SearchMatch};

use leafbase_collections::ReadCollections;
use leafbase_tree_ops::ReadTree;

use super::{FollowedAccess, FollowedChanges, WatchQuery, WatchedList, follow};
use crate::core::access::{Full, Scoped};
use crate::core::connection::Connection;
use crate::operations::flat_blocks::FlatBlock;
use crate::operations::list_patch::PatchStep;

/// A block and all below it, in reading order.
impl<A: FollowedAccess> WatchQuery<A> for Fetch {
    type Entry = FlatBlock;
    type Key = BlockId;

    fn key(entry: &FlatBlock) -> BlockId {
        entry.block.id
    }

    fn ask(&self, notes: &Connection<A>) -> Result<WatchedList<FlatBlock>> {
        let top = notes.fetch(*self)?;
        let document = notes.document_of(top.id)?;
        let entries = FlatBlock::list(top);
        // Items show the titles of related ones, wherever these are.
        let is_of_document = entries.iter().all(|entry| entry.block.item.is_none());
        let list = WatchedList::new(entries);
        Ok(if is_of_document { list.of_documents([document]) } else { list })
    }

    fn follow(
        &self,
        notes: &Connection<A>,
        list: &WatchedList<FlatBlock>,
        since: &FollowedChanges<'_>,
    ) -> Result<Option<Vec<PatchStep<FlatBlock>>>> {
        follow::blocks(notes, self, list, since)
    }
}

impl WatchQuery<Full> for ListDocuments {
    type Entry = Document;
    type Key = DocumentId;

    fn key(entry: &Document) -> DocumentId {
        entry.id()
    }

    fn ask(&self, notes: &Connection<Full>) -> Result<WatchedList<Document>> {
        Ok(WatchedList::new(notes.list_documents(self.clone())?.items))
    }

    fn follow(
        &self,
        notes: &Connection<Full>,
        list: &WatchedList<Document>,
        since: &FollowedChanges<'_>,
    ) -> Result<Option<Vec<PatchStep<Document>>>> {
        follow::documents(notes, self, list, since)
    }
}

impl WatchQuery<Scoped> for ListScopedDocuments {
    type Entry = ScopedDocument;
    type Key = DocumentId;

    fn key(entry: &ScopedDocument) -> DocumentId {
        entry.id
    }

    fn ask(&self, notes: &Connection<Scoped>) -> Result<WatchedList<ScopedDocument>> {
        Ok(WatchedList::new(notes.list_documents(self.clone())?.0))
    }
}

impl WatchQuery<Full> for ListTasks {
    type Entry = Task;
    type Key = BlockId;

    fn key(entry: &Task) -> BlockId {
        entry.id
    }

    fn ask(&self, notes: &Connection<Full>) -> Result<WatchedList<Task>> {
        let list = WatchedList::new(notes.tasks(self.clone())?.items);
        Ok(match self.scope {
            TaskScope::Document(document) => list.of_documents([document]),
            _ => list,
        })
    }

    fn follow(
        &self,
        _: &Connection<Full>,
        _: &WatchedList<Task>,
        since: &FollowedChanges<'_>,
    ) -> Result<Option<Vec<PatchStep<Task>>>> {
        Ok(follow::tasks(self.scope, since))
    }
}

impl<A: FollowedAccess> WatchQuery<A> for QueryItems {
    type Entry = Item;
    type Key = BlockId;

    fn key(entry: &Item) -> BlockId {
        entry.id
    }

    fn ask(&self, notes: &Connection<A>) -> Result<WatchedList<Item>> {
        let items = notes.query_items(self.clone())?.items;
        // A relation shows items of other collections, whether this end or the other one is
        // stored.
        let own_document = notes.operation("watch").read(|tree| {
            let schema = ReadCollections::schema(tree, self.collection_id)?;
            let has_relations = schema.is_none_or(|schema| {
                schema.properties.iter().any(|property| property.kind.relation().is_some())
            });
            let location = tree.locate(self.collection_id)?;
            Ok(location.filter(|_| !has_relations).map(|location| location.document))
        })?;
        let list = WatchedList::new(items);
        Ok(match own_document {
            Some(document) => list.of_documents([document]),
            None => list,
        })
    }

    fn follow(
        &self,
        notes: &Connection<A>,
        list: &WatchedList<Item>,
        since: &FollowedChanges<'_>,
    ) -> Result<Option<Vec<PatchStep<Item>>>> {
        follow::items(notes, self, list, since)
    }
}

#[cfg(feature = "search")]
impl<A: FollowedAccess> WatchQuery<A> for SearchDocuments {
    type Entry = SearchMatch;
    type Key = (DocumentId, Option<BlockId>);

    fn key(entry: &SearchMatch) -> Self::Key {
        (entry.document_id, entry.block_id)
    }

    fn ask(&self, notes: &Connection<A>) -> Result<WatchedList<SearchMatch>> {
        Ok(WatchedList::new(notes.search(self.clone())?.items))
    }
}
