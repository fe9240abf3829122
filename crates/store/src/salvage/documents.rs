//! Folders, documents and comments, written through transactions, which derive all other rows.

use std::collections::{BTreeMap, HashSet};

use leafbase_model::{
    DocumentId, DocumentRecord, Edit, FolderId, FolderRecord, Location, Result, Subtrees, invariant,
};

use super::inventory::Inventory;
use super::{LossKind, OnStep, Salvager, relaxed};
use crate::document_index::note_day;
use crate::keyspaces::{self, COMMENTS, FOLDERS, RowName};
use crate::kv::Store;
use crate::records::layout::Value;
use crate::records::{self, comment, folder};
use crate::transaction::SpaceTransaction;

impl Salvager<'_> {
    pub(super) fn folders(
        &mut self,
        target: &dyn Store,
    ) -> Result<BTreeMap<FolderId, FolderRecord>> {
        let mut folders = BTreeMap::new();
        self.rows(FOLDERS, &mut |salvage, key, value| {
            let id = keyspaces::parse_folder(key);
            match id
                .map(|id| (id, records::decode(key, value, |decoder| folder::decode(id, decoder))))
            {
                Some((id, Ok(record))) => drop(folders.insert(id, record)),
                _ => salvage.unread(key),
            }
            Ok(())
        })?;
        let known: HashSet<FolderId> = folders.keys().copied().collect();
        for (id, record) in &mut folders {
            if record.parent.is_some_and(|parent| !known.contains(&parent)) {
                self.report.lose(
                    LossKind::Folder,
                    format_args!("folder {id}"),
                    "its parent folder is lost: it is at the top now",
                );
                record.parent = None;
            }
        }
        target.write(relaxed(), &mut |rows| {
            folders.values().try_for_each(|record| {
                let key = keyspaces::folder(record.id);
                rows.put(&key, &records::seal(&key, |out| folder::encode(out, record)))?;
                let key = keyspaces::folder_child(record.parent, record.id);
                rows.put(&key, &records::seal_empty(&key))
            })
        })?;
        self.report.saved.folders = folders.len() as u64;
        Ok(folders)
    }

    pub(super) fn documents(
        &mut self,
        target: &dyn Store,
        inventory: &Inventory,
        folders: &BTreeMap<FolderId, FolderRecord>,
        step: OnStep<'_>,
    ) -> Result<()> {
        let (mut days, mut inboxes) = (HashSet::new(), 0);
        for (id, document) in &inventory.documents {
            step()?;
            let Some(document) = document else { continue };
            let mut record = document.record.clone();
            if let Location::Folder(folder) = record.location
                && !folders.contains_key(&folder)
            {
                self.report.lose(
                    LossKind::Folder,
                    format_args!("document {id}"),
                    "its folder is lost: it is in none now",
                );
                record.location = Location::Unsorted;
            }
            let is_second_inbox = record.location == Location::Inbox && inboxes > 0;
            if is_second_inbox || note_day(&record).is_some_and(|day| !days.insert(day)) {
                self.report.lose(
                    LossKind::Document,
                    format_args!("document {id}"),
                    "another document has its location or its day",
                );
                (record.location, record.day) = (Location::Unsorted, None);
            }
            // Counted after the repair: a second inbox became a plain document.
            inboxes += u64::from(record.location == Location::Inbox);
            let subtrees = self.subtrees(*id, inventory)?;
            let found = subtrees.0.len() as u64;
            if document.blocks > found {
                let message = format_args!("{found} of its {} blocks exist", document.blocks);
                self.report.lose(LossKind::Block, format_args!("document {id}"), message);
            }
            self.write_document(target, &record, &subtrees, inventory)?;
        }
        Ok(())
    }

    /// Writes one document, with the schemas of its collections.
    pub(super) fn write_document(
        &mut self,
        target: &dyn Store,
        record: &DocumentRecord,
        subtrees: &Subtrees,
        inventory: &Inventory,
    ) -> Result<()> {
        invariant!(
            subtrees.0.first().is_some_and(|node| node.block.id == record.id.root()),
            "a salvaged document begins with its root"
        );
        self.report.saved.documents += 1;
        self.report.saved.blocks += subtrees.0.len() as u64;
        let mut edits =
            vec![Edit::CreateDocument { record: record.clone(), subtrees: subtrees.clone() }];
        for node in &subtrees.0 {
            let schema = inventory
                .schemas
                .get(&node.block.id)
                .map(|indexed| Box::new(indexed.schema.clone()));
            if let Some(mut schema) = schema {
                // A collection and its block have one name.
                schema.name.clone_from(&node.block.data.inline);
                let (document, collection) = (record.id, node.block.id);
                edits.push(Edit::SetSchema {
                    document,
                    collection,
                    before: None,
                    after: Some(schema),
                    quiet: true,
                });
            }
        }
        let last_change = inventory.log.last_changes.get(&record.id).copied().unwrap_or(0);
        target.write(relaxed(), &mut |rows| {
            let mut transaction =
                SpaceTransaction::copying(rows, self.extractor, &self.stamp, last_change);
            transaction.apply(edits.clone())?;
            transaction.finish_without_change()
        })
    }

    pub(super) fn comments(
        &mut self,
        target: &dyn Store,
        inventory: &Inventory,
        step: OnStep<'_>,
    ) -> Result<()> {
        let (mut found, mut ids) = (Vec::new(), HashSet::new());
        self.rows(COMMENTS, &mut |salvage, key, value| {
            let Some((document, block, id)) = keyspaces::parse_comment(key) else {
                salvage.unread(key);
                return Ok(());
            };
            match records::decode(key, value, |decoder| comment::decode(id, decoder)) {
                Ok(_) if !ids.insert(id) => {
                    let message = "another comment has its ID";
                    salvage.report.lose(LossKind::Record, RowName(key), message);
                }
                Ok(comment) => {
                    // A block that had two locations is kept in one of them, which may be another
                    // document.
                    let document = inventory.find(block).map_or(document, |known| known.document);
                    found.push((document, block, comment));
                }
                Err(_) => salvage.unread(key),
            }
            Ok(())
        })?;
        step()?;
        target.write(relaxed(), &mut |rows| {
            found.iter().try_for_each(|(document, block, comment)| {
                let key = keyspaces::comment(*document, *block, comment.id);
                rows.put(&key, &records::seal(&key, |out| comment::encode(out, comment)))?;
                let key = keyspaces::comment_block(comment.id);
                rows.put(&key, &records::seal(&key, |out| block.encode(out)))
            })
        })?;
        self.report.saved.comments = found.len() as u64;
        Ok(())
    }

    /// The record of a new document for what lost its document.
    pub(super) fn new_record(&self) -> DocumentRecord {
        let (id, at) = (DocumentId::from_bytes((self.new_id)()), self.stamp.at);
        DocumentRecord::new(id, Location::Unsorted, None, at)
    }
}
