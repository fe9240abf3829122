//! Document operations of the naive space: creation, lists, trash, purge.

use leafbase_model::{
    BlockData, BlockDraft, BlockId, CreateDocuments, CreateFromTemplate, Day, DayRange,
    DeleteDocuments, Destination, Document, DocumentFilter, DocumentId, DocumentOrder,
    DocumentRecord, Error, ErrorKind, FolderRef, ListDocuments, Location, MoveDocuments,
    PurgeDocuments, RestoreDailyNotes, Result, Timestamp,
};

use crate::naive::By;
use crate::naive_comments::at;
use crate::naive_rules as rules;
use crate::{Broken, NaiveBlock, NaiveDocument, NaiveSpace};

/// Prefix of links to documents.
pub(crate) const LINK: &str = "note://";

impl NaiveSpace {
    fn known(&self, id: DocumentId) -> Result<&NaiveDocument> {
        self.document(id).ok_or_else(Error::no_document)
    }

    /// The document as a reply shows it.
    pub fn shown_document(&self, id: DocumentId, with_times: bool) -> Document {
        let NaiveDocument { record, root } = self.document(id).unwrap();
        let title = root.record.data.inline.clone();
        let clickable_link = with_times.then(|| format!("{LINK}{id}"));
        let record = record.clone();
        Document { record, title, with_times, with_destination: false, clickable_link }
    }

    /// Documents that were moved.
    fn moved_documents(&self, ids: &[DocumentId]) -> Vec<Document> {
        let shown = ids.iter().map(|id| self.shown_document(*id, false));
        shown.map(|document| Document { with_destination: true, ..document }).collect()
    }

    /// A new document.
    fn created(&self, id: DocumentId) -> Document {
        let clickable_link = Some(format!("{LINK}{id}"));
        Document { clickable_link, ..self.shown_document(id, false) }
    }

    /// Creates a document.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn create_document_at(
        &mut self,
        by: By<'_>,
        root: &BlockDraft,
        destination: Destination,
    ) -> Result<Document> {
        self.write(by.0, |space| {
            let id = space.create_document(by, root, destination.into(), None)?;
            space.check_destination(destination)?;
            Ok(space.created(id))
        })
    }

    /// Creates documents.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn create_documents(
        &mut self,
        by: By<'_>,
        request: &CreateDocuments,
    ) -> Result<Vec<Document>> {
        let (documents, destination) = (&request.documents, request.destination);
        self.write(by.0, |space| {
            let mut ids = Vec::new();
            for (index, root) in documents.iter().enumerate() {
                let created = space.create_document(by, root, destination.into(), None);
                ids.push(created.map_err(|error| at("documents", index, error))?);
                rules::check_draft_count(&documents[..=index], &space.limits, "documents")?;
            }
            space.check_destination(destination)?;
            Ok(ids.into_iter().map(|id| space.created(id)).collect())
        })
    }

    /// The documents that match a list request, on all pages.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn list_documents(&self, request: &ListDocuments, now: Timestamp) -> Result<Vec<Document>> {
        let folders = self.listed_folders(&request.filter)?;
        let mut found: Vec<_> = self.documents.iter().map(|document| &document.record).collect();
        found.retain(|record| record.location != Location::Inbox);
        if let Some(location) = request.filter.location {
            found.retain(|record| record.location == Location::from(location));
        }
        if let Some(folders) = folders {
            found.retain(|record| folders.contains(&record.location));
        }
        let DocumentFilter { created, modified, daily_note, tags, .. } = &request.filter;
        found.retain(|record| self.has_tags(record.id, tags));
        found.retain(|record| self.is_within(created, Some(self.day_of(record.created_at)), now));
        found.retain(|record| self.is_within(modified, Some(self.day_of(record.modified_at)), now));
        found.retain(|record| self.is_within(daily_note, record.day, now));
        found.sort_by_key(|record| record.id);
        let mut filtered = vec![];
        filtered.extend((*created != DayRange::ALL).then_some(DocumentOrder::Created));
        filtered.extend((*modified != DayRange::ALL).then_some(DocumentOrder::Modified));
        filtered.extend((*daily_note != DayRange::ALL).then_some(DocumentOrder::DailyNote));
        let own_order = if let [only] = filtered[..] { only } else { DocumentOrder::Id };
        match request.order.unwrap_or(own_order) {
            DocumentOrder::Id => {}
            DocumentOrder::Created => found.sort_by_key(|record| record.created_at),
            DocumentOrder::Modified => found.sort_by_key(|record| record.modified_at),
            DocumentOrder::DailyNote => {
                found.retain(|record| record.day.is_some());
                found.sort_by_key(|record| (record.day, record.location == Location::Trash));
            }
        }
        if request.descending {
            found.reverse();
        }
        Ok(found
            .into_iter()
            .map(|record| self.shown_document(record.id, request.metadata))
            .collect())
    }

    /// The locations within the folders of a filter.
    fn listed_folders(&self, filter: &DocumentFilter) -> Result<Option<Vec<Location>>> {
        let Some(folders) = &filter.folders else { return Ok(None) };
        if filter.location.is_some() {
            return Err(Error::validation("together with location").at("folderId"));
        }
        if let [FolderRef::BuiltIn(location)] = folders[..] {
            return Ok(Some(vec![location.into()]));
        }
        let mut listed = Vec::new();
        for (index, folder) in folders.iter().enumerate() {
            let path = if folders.len() == 1 {
                "folderId".to_owned()
            } else {
                format!("folderId[{index}]")
            };
            match folder {
                FolderRef::Folder(id) if self.folder(*id).is_some() => {
                    listed.extend(self.folders_below(*id).into_iter().map(Location::Folder));
                }
                FolderRef::Folder(_) => return Err(Error::no_folder().at(path)),
                FolderRef::BuiltIn(_) => {
                    return Err(Error::validation("a built-in location").at(path));
                }
            }
        }
        Ok(Some(listed))
    }

    fn is_within(&self, range: &DayRange, day: Option<Day>, now: Timestamp) -> bool {
        let day_at = |bound| self.resolve(bound, now);
        let from = range.from.is_none_or(|from| day.is_some_and(|day| day >= day_at(from)));
        from && range.to.is_none_or(|to| day.is_some_and(|day| day <= day_at(to)))
    }

    /// The documents of a request; each must be unique and allowed.
    fn each_once(
        &self,
        ids: &[DocumentId],
        allowed: impl Fn(&NaiveDocument, &[DocumentId]) -> Result<()>,
    ) -> Result<()> {
        rules::check_count(ids.len(), &self.limits, "documentIds")?;
        for (index, id) in ids.iter().enumerate() {
            let found = self.known(*id).and_then(|found| {
                rules::check_once(index, ids, |id| *id)?;
                if found.record.location == Location::Inbox {
                    return Err(Error::rule("the inbox stays what it is"));
                }
                allowed(found, &ids[..index])
            });
            found.map_err(|error| at("documentIds", index, error))?;
        }
        Ok(())
    }

    fn relocate_all(&mut self, ids: &[DocumentId], location: Location) {
        for id in ids {
            self.set_location(*id, location);
        }
    }

    /// Moves documents to the trash.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn delete_documents(
        &mut self,
        by: By<'_>,
        request: &DeleteDocuments,
    ) -> Result<Vec<DocumentId>> {
        let ids = &request.document_ids;
        self.each_once(ids, |found, _| match found.record.location {
            Location::Trash => Err(Error::rule("in the trash already")),
            _ => Ok(()),
        })?;
        self.write(by.0, |space| {
            space.relocate_all(ids, Location::Trash);
            Ok(ids.clone())
        })
    }

    /// Moves documents, also out of the trash.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn move_documents(&mut self, by: By<'_>, request: &MoveDocuments) -> Result<Vec<Document>> {
        self.check_destination(request.destination)?;
        let (ids, location) = (&request.document_ids, request.destination.into());
        self.each_once(ids, |found, _| match found.record.day {
            Some(_) if !self.breaks(Broken::DailyNotesMove) => Err(Error::rule("daily notes stay")),
            _ => Ok(()),
        })?;
        self.write(by.0, |space| {
            space.relocate_all(ids, location);
            Ok(())
        })?;
        // After the write, which counts revisions.
        Ok(self.moved_documents(ids))
    }

    /// Restores daily notes from the trash.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn restore_daily_notes(
        &mut self,
        by: By<'_>,
        request: &RestoreDailyNotes,
    ) -> Result<Vec<Document>> {
        let ids = &request.document_ids;
        self.each_once(ids, |found, before| {
            let day = found.record.day.ok_or_else(|| Error::rule("no daily note"))?;
            if found.record.location != Location::Trash {
                return Err(Error::rule("not in the trash"));
            }
            let same =
                before.iter().any(|other| self.document(*other).unwrap().record.day == Some(day));
            if same || self.note_of(day).is_some() && !self.breaks(Broken::DaysAreTakenTwice) {
                return Err(Error::new(ErrorKind::Conflict, "the day has a note"));
            }
            Ok(())
        })?;
        self.write(by.0, |space| {
            space.relocate_all(ids, Location::DailyNotes);
            Ok(())
        })?;
        Ok(self.moved_documents(ids))
    }

    /// Erases documents in the trash.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn purge_documents(
        &mut self,
        by: By<'_>,
        request: &PurgeDocuments,
    ) -> Result<Vec<DocumentId>> {
        let ids = match request {
            PurgeDocuments::Documents(ids) => {
                self.each_once(ids, |found, _| match found.record.location {
                    Location::Trash => Ok(()),
                    _ => Err(Error::rule("not in the trash")),
                })?;
                ids.clone()
            }
            PurgeDocuments::OlderThanDays(days) => {
                self.in_trash_for(i64::from(*days) * 86_400_000, by.0.at)
            }
        };
        self.write(by.0, |space| {
            space.documents.retain(|document| !ids.contains(&document.record.id));
            Ok(ids)
        })
    }

    /// Documents in the trash keep their modification time, set when they were moved there.
    fn in_trash_for(&self, millis: i64, now: Timestamp) -> Vec<DocumentId> {
        let records = self.documents.iter().map(|document| &document.record);
        let trashed = records.filter(|record| record.location == Location::Trash);
        let old =
            trashed.filter(|record| now.as_millis() - record.modified_at.as_millis() >= millis);
        let mut found: Vec<_> = old.map(|record| (record.modified_at, record.id)).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, id)| id).collect()
    }

    /// Creates a document as a copy of a template: links to blocks of the template lead to their
    /// copies.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn create_from_template(
        &mut self,
        by: By<'_>,
        request: &CreateFromTemplate,
    ) -> Result<Document> {
        let template =
            self.known(request.template_id).and_then(|found| match found.record.location {
                Location::Templates => Ok(found.root.clone()),
                _ => Err(Error::rule("no template")),
            });
        let template = template.and_then(|root| self.check_room_for_copy(&root).map(|()| root));
        let template = template.map_err(|error| error.at("templateId"))?;
        if let Some(title) = &request.title {
            let page = BlockDraft::new(BlockData::page(title.clone()));
            let checked = rules::drafted(&page, 0, by.0, &self.limits);
            checked.map_err(|error| Error::new(error.kind(), error.message()).at("title"))?;
        }
        self.check_destination(request.destination)?;
        self.write(by.0, |space| {
            let (mut root, mut pairs) = (template.clone(), Vec::new());
            copied(&mut root, by, &mut pairs);
            if !space.breaks(Broken::CopiesLinkToTheTemplate) {
                relinked(&mut root, &pairs);
            }
            if let Some(title) = &request.title {
                root.record.data.inline.clone_from(title);
            }
            let (id, location, at) =
                (DocumentId::of_root(root.record.id), request.destination.into(), by.0.at);
            let record =
                DocumentRecord { id, location, day: None, created_at: at, modified_at: at, rev: 1 };
            space.documents.push(NaiveDocument { record, root });
            space.copy_collections(&template, &pairs);
            Ok(space.created(id))
        })
    }
}

/// Assigns new IDs to a block and its descendants, in reading order.
fn copied(block: &mut NaiveBlock, by: By<'_>, pairs: &mut Vec<(BlockId, BlockId)>) {
    let id = BlockId::from_bytes(by.1.new_id(by.0.at));
    pairs.push((block.record.id, id));
    (block.record.id, block.record.rev) = (id, 1);
    (block.record.created, block.record.modified) = (by.0.clone(), by.0.clone());
    block.children.iter_mut().for_each(|child| copied(child, by, pairs));
}

fn relinked(block: &mut NaiveBlock, pairs: &[(BlockId, BlockId)]) {
    for (before, after) in pairs {
        let link = |id: &BlockId| format!("block://{id}");
        let text = &mut block.record.data.inline;
        *text = text.replace(&link(before), &link(after));
    }
    block.children.iter_mut().for_each(|child| relinked(child, pairs));
}
