//! Application of edits to the naive space; each edit is checked against the state that it
//! describes.

use leafbase_model::{
    AssetId, AssetRecord, BlockId, BlockKind, BlockType, Comment, DocumentId, DocumentRecord, Edit,
    FolderRecord, InsertTarget, PropertyValue, Schema, SubtreeNode, Subtrees,
};

use crate::naive_files::shows;
use crate::naive_read::flatten;
use crate::{NaiveBlock, NaiveDocument, NaiveFile, NaiveRelation, NaiveSpace};

impl NaiveSpace {
    /// Applies edits in order.
    ///
    /// # Errors
    /// A description of the first edit that does not match. The space is then partially changed.
    pub fn apply_all<'a>(
        &mut self,
        edits: impl IntoIterator<Item = &'a Edit>,
    ) -> Result<(), String> {
        for (number, edit) in edits.into_iter().enumerate() {
            self.apply(edit).map_err(|error| format!("edit {number}: {error}"))?;
        }
        Ok(())
    }

    /// The part of the space that edits describe: without bytes of files and modification times,
    /// every list sorted by ID, relations as pairs.
    pub fn as_edits_tell(&self) -> Self {
        let mut normalized = self.clone().timeless();
        normalized.broken = None;
        normalized.documents.sort_by_key(|document| document.record.id);
        normalized.folders.sort_by_key(|folder| folder.id);
        normalized.files.sort_by_key(|file| file.record.id);
        for file in &mut normalized.files {
            file.bytes.clear();
        }
        normalized.schemas.sort_by_key(|(collection, _)| *collection);
        normalized.move_pairs();
        normalized
    }

    /// Removes relation values from items.
    fn move_pairs(&mut self) {
        for (collection, schema) in self.schemas.clone() {
            for property in &schema.properties {
                let Some(relation) = property.kind.relation().filter(|relation| relation.owner)
                else {
                    continue;
                };
                let (first, second) = (
                    (collection, property.key.clone()),
                    (relation.target, relation.inverse_key.clone().unwrap_or_default()),
                );
                let held = self.take_pairs(&first);
                match self.relations.iter_mut().find(|relation| relation.first == first) {
                    Some(relation) => relation.pairs.extend(held),
                    None => self.relations.push(NaiveRelation { first, second, pairs: held }),
                }
            }
        }
        let relations = std::mem::take(&mut self.relations);
        self.relations = relations.into_iter().map(NaiveRelation::normalized).collect();
        self.relations.sort_by(|one, other| one.first.cmp(&other.first));
    }

    fn take_pairs(&mut self, (collection, key): &(BlockId, String)) -> Vec<(BlockId, BlockId)> {
        let mut pairs = Vec::new();
        for item in &mut self.get_mut(*collection).children {
            let BlockKind::CollectionItem { properties } = &mut item.record.data.kind else {
                continue;
            };
            if let Some(PropertyValue::Relations(items)) = properties.get(key).cloned() {
                pairs.extend(items.into_iter().map(|other| (item.record.id, other)));
                properties.set(key.as_str(), None);
            }
        }
        pairs
    }

    /// Applies one edit.
    ///
    /// # Errors
    /// A description of the mismatch.
    pub fn apply(&mut self, edit: &Edit) -> Result<(), String> {
        match edit {
            Edit::Insert { target, subtrees } => {
                let blocks = self.fresh(subtrees)?;
                self.put(*target, blocks)
            }
            Edit::Remove { target, subtrees } => self.remove(*target, subtrees),
            Edit::Update { document, before, after } => {
                self.check_in(before.id, *document)?;
                let record = &mut self.get_mut(before.id).record;
                // Of a redacted block nothing is known but its ID.
                if !before.is_redacted() {
                    check(*record == **before, "the block is not what it was said to be")?;
                    check(
                        after.id == before.id && after != before,
                        "the update changes nothing, or the ID",
                    )?;
                }
                *record = (**after).clone();
                Ok(())
            }
            Edit::Move { block, from, to } => self.relocate(*block, *from, *to),
            Edit::CreateDocument { record, subtrees } => {
                let mut roots = self.fresh(subtrees)?;
                check(
                    roots.len() == 1 && roots[0].record.id == record.id.root(),
                    "a document has one root",
                )?;
                self.documents
                    .push(NaiveDocument { record: record.clone(), root: roots.remove(0) });
                Ok(())
            }
            Edit::EraseDocument { record, subtrees } => {
                let index = self.index_of_document(record)?;
                check(
                    is_forest(&[&self.documents[index].root], subtrees),
                    "other blocks than were said",
                )?;
                self.check_uncommented(subtrees)?;
                self.check_without_schema(subtrees)?;
                self.documents.remove(index);
                Ok(())
            }
            Edit::PurgeDocument { document, files } => self.purge(*document, files),
            Edit::UpdateDocument { before, after } => {
                let index = self.index_of_document(before)?;
                check(before.id == after.id, "a document becomes another one")?;
                self.documents[index].record = after.clone();
                Ok(())
            }
            Edit::CreateFolder(folder) => self.add_folder(folder),
            Edit::RemoveFolder(folder) => self.remove_folder(folder),
            Edit::UpdateFolder { before, after } => self.update_folder(before, after),
            Edit::AddComment { document, block, comment } => {
                self.add_comment(*document, *block, comment)
            }
            Edit::RemoveComment { document, block, comment } => {
                self.remove_comment(*document, *block, comment)
            }
            Edit::UpdateComment { document, block, before, after } => {
                check(before.id == after.id, "a comment becomes another one")?;
                self.remove_comment(*document, *block, before)?;
                self.add_comment(*document, *block, after)
            }
            Edit::CreateAsset(record) => self.add_file(record),
            Edit::EraseAsset(record) => self.erase_file(record),
            Edit::SetSchema { document, collection, before, after, .. } => {
                self.check_in(*collection, *document)?;
                self.set_schema(*collection, before.as_deref(), after.as_deref())
            }
            Edit::UpdateSpace { before, after } => {
                check(self.settings == *before, "the settings are not what they were said to be")?;
                check(before != after, "the settings stay what they are")?;
                self.settings = after.clone();
                Ok(())
            }
            Edit::SetScope { before, after } => {
                let Some(named) = before.as_ref().or(after.as_ref()) else {
                    return Err("an edit of no scope".to_owned());
                };
                let stored = self.scopes.remove(&named.name);
                check(
                    stored == before.as_deref().cloned(),
                    "the scope is not what it was said to be",
                )?;
                self.scopes
                    .extend(after.as_deref().map(|after| (after.name.clone(), after.clone())));
                Ok(())
            }
        }
    }

    fn set_schema(
        &mut self,
        id: BlockId,
        before: Option<&Schema>,
        after: Option<&Schema>,
    ) -> Result<(), String> {
        let block = self.get(id);
        if before.into_iter().chain(after).any(Schema::is_redacted) {
            self.schemas.retain(|(known, _)| *known != id);
            self.schemas.extend(after.map(|after| (id, after.clone())));
            return Ok(());
        }
        check(
            block.record.data.block_type() == BlockType::Collection,
            "what gets a schema is not a collection",
        )?;
        check(self.schema(id) == before, "the schema is not what it was said to be")?;
        check(before != after, "the schema stays what it is")?;
        if let (Some(before), Some(after)) = (before, after) {
            let new =
                after.properties.iter().filter(|property| before.property(&property.key).is_none());
            let held = |key: &str| {
                block.children.iter().any(|item| match &item.record.data.kind {
                    BlockKind::CollectionItem { properties } => properties.get(key).is_some(),
                    _ => true,
                })
            };
            for property in new {
                check(!held(&property.key), "items hold something under a key that comes")?;
            }
        }
        self.schemas.retain(|(known, _)| *known != id);
        self.schemas.extend(after.map(|after| (id, after.clone())));
        Ok(())
    }

    /// Removes a document with all that its blocks have.
    fn purge(&mut self, id: DocumentId, files: &[AssetId]) -> Result<(), String> {
        let index = self.documents.iter().position(|document| document.record.id == id);
        let document = self.documents.remove(index.ok_or("no such document")?);
        let purged: Vec<_> =
            forest_of(&[&document.root]).0.into_iter().map(|node| node.block.id).collect();
        self.comments.retain(|(block, _)| !purged.contains(block));
        self.schemas.retain(|(collection, _)| !purged.contains(collection));
        for file in files {
            let found = self.files.iter().position(|known| known.record.id == *file);
            self.files.remove(found.ok_or("no such file")?);
        }
        Ok(())
    }

    /// The schema of a collection is removed before its block.
    fn check_without_schema(&self, subtrees: &Subtrees) -> Result<(), String> {
        let has = |node: &SubtreeNode| self.schema(node.block.id).is_some();
        check(!subtrees.0.iter().any(has), "a collection goes with its schema")
    }

    /// Finds the document of a record, ignoring modification time and revision, which each write
    /// sets.
    fn index_of_document(&self, record: &DocumentRecord) -> Result<usize, String> {
        let same = |found: &NaiveDocument| {
            let DocumentRecord { modified_at, rev, .. } = found.record;
            found.record == DocumentRecord { modified_at, rev, ..record.clone() }
        };
        self.documents.iter().position(same).ok_or_else(|| "no such document".to_owned())
    }

    fn check_parent(&self, folder: &FolderRecord) -> Result<(), String> {
        check(
            folder.parent.is_none_or(|parent| self.folder(parent).is_some()),
            "a folder is in none that there is",
        )
    }

    fn add_folder(&mut self, folder: &FolderRecord) -> Result<(), String> {
        check(self.folder(folder.id).is_none(), "the folder is there already")?;
        self.check_parent(folder)?;
        self.folders.push(folder.clone());
        Ok(())
    }

    fn remove_folder(&mut self, folder: &FolderRecord) -> Result<(), String> {
        check(
            self.folder(folder.id).is_some_and(|found| is_same(found, folder)),
            "no such folder",
        )?;
        let location = leafbase_model::Location::Folder(folder.id);
        let holds = self.documents.iter().any(|document| document.record.location == location);
        check(
            !holds && self.folders_below(folder.id).len() == 1,
            "there is something in the folder",
        )?;
        self.folders.retain(|found| found.id != folder.id);
        Ok(())
    }

    fn update_folder(&mut self, before: &FolderRecord, after: &FolderRecord) -> Result<(), String> {
        check(
            before.id == after.id && !is_same(before, after),
            "the update changes nothing, or the ID",
        )?;
        self.check_parent(after)?;
        let below = self.folders_below(after.id);
        check(
            after.parent.is_none_or(|parent| !below.contains(&parent)),
            "a folder goes into itself",
        )?;
        let found =
            self.folders.iter_mut().find(|found| is_same(found, before)).ok_or("no such folder")?;
        *found = after.clone();
        Ok(())
    }

    fn add_comment(
        &mut self,
        document: DocumentId,
        block: BlockId,
        comment: &Comment,
    ) -> Result<(), String> {
        self.check_in(block, document)?;
        check(
            self.comments.iter().all(|(_, known)| known.id != comment.id),
            "the comment is there already",
        )?;
        self.put_comment(block, comment.clone());
        Ok(())
    }

    fn remove_comment(
        &mut self,
        document: DocumentId,
        block: BlockId,
        comment: &Comment,
    ) -> Result<(), String> {
        self.check_in(block, document)?;
        let is_same =
            |known: &Comment| known == comment || comment.is_redacted() && known.id == comment.id;
        let found = self.comments.iter().position(|(on, known)| *on == block && is_same(known));
        self.comments.remove(found.ok_or("no such comment")?);
        Ok(())
    }

    /// Comments are removed before their block.
    fn check_uncommented(&self, subtrees: &Subtrees) -> Result<(), String> {
        let on = |block| self.comments.iter().any(|(commented, _)| *commented == block);
        check(!subtrees.0.iter().any(|node| on(node.block.id)), "a block goes with comments on it")
    }

    fn add_file(&mut self, record: &AssetRecord) -> Result<(), String> {
        check(self.file(record.id).is_err(), "the file is there already")?;
        self.files.push(NaiveFile { record: record.clone(), bytes: Vec::new() });
        Ok(())
    }

    fn erase_file(&mut self, record: &AssetRecord) -> Result<(), String> {
        let is_same =
            |known: &AssetRecord| known == record || record.is_redacted() && known.id == record.id;
        let found =
            self.files.iter().position(|file| is_same(&file.record)).ok_or("no such file")?;
        let shown = self.blocks().any(|block| shows(&block.record.data, record.id));
        check(!shown, "a block shows the file")?;
        self.files.remove(found);
        Ok(())
    }

    fn remove(&mut self, target: InsertTarget, subtrees: &Subtrees) -> Result<(), String> {
        let count = subtrees.0.iter().filter(|node| node.depth == 0).count();
        check(count > 0, "it removes nothing")?;
        let start = self.index_of(target)?;
        let siblings = &self.get(target.parent).children;
        let end = (start + count).min(siblings.len());
        let found: Vec<_> = siblings[start..end].iter().collect();
        check(is_forest(&found, subtrees), "other blocks than were said")?;
        self.check_uncommented(subtrees)?;
        self.check_without_schema(subtrees)?;
        self.get_mut(target.parent).children.drain(start..end);
        Ok(())
    }

    fn relocate(
        &mut self,
        block: BlockId,
        from: InsertTarget,
        to: InsertTarget,
    ) -> Result<(), String> {
        check(to.after != Some(block) && from != to, "it goes where it stands")?;
        check(!self.get(block).holds(to.parent), "it goes under itself")?;
        let start = self.index_of(from)?;
        let siblings = &mut self.get_mut(from.parent).children;
        check(
            siblings.get(start).is_some_and(|found| found.record.id == block),
            "the block stands elsewhere",
        )?;
        let block = siblings.remove(start);
        self.put(to, vec![block])
    }

    fn put(&mut self, target: InsertTarget, blocks: Vec<NaiveBlock>) -> Result<(), String> {
        check(!blocks.is_empty(), "it puts nothing in")?;
        let index = self.index_of(target)?;
        self.get_mut(target.parent).children.splice(index..index, blocks);
        Ok(())
    }

    /// Index of a target among the children of its parent.
    fn index_of(&self, target: InsertTarget) -> Result<usize, String> {
        self.check_in(target.parent, target.document)?;
        let siblings = &self.get(target.parent).children;
        let Some(after) = target.after else { return Ok(0) };
        let found = siblings.iter().position(|sibling| sibling.record.id == after);
        found
            .map(|index| index + 1)
            .ok_or_else(|| format!("{after} is not a child of {}", target.parent))
    }

    fn check_in(&self, block: BlockId, document: DocumentId) -> Result<(), String> {
        let found = self.document_of(block).map(|found| found.record.id);
        check(found == Some(document), &format!("block {block} is in {found:?}, not in {document}"))
    }

    /// The blocks of subtrees, none of which may exist yet.
    fn fresh(&self, subtrees: &Subtrees) -> Result<Vec<NaiveBlock>, String> {
        for node in &subtrees.0 {
            check(self.find(node.block.id).is_none(), "a block is there already")?;
        }
        let (blocks, rest) = grow(&subtrees.0, 0);
        check(rest.is_empty(), "the depths are not those of a tree")?;
        Ok(blocks)
    }
}

fn check(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.to_owned()) }
}

/// Whether `blocks` are those of `said`, which may be redacted.
fn is_forest(blocks: &[&NaiveBlock], said: &Subtrees) -> bool {
    let found = forest_of(blocks);
    found.0.len() == said.0.len()
        && found.0.iter().zip(&said.0).all(|(found, said)| {
            found == said
                || said.block.is_redacted()
                    && (found.depth, found.block.id) == (said.depth, said.block.id)
        })
}

/// Whether two records of folders are equal in all but the revision, which each write sets.
fn is_same(one: &FolderRecord, other: &FolderRecord) -> bool {
    *one == FolderRecord { rev: one.rev, ..other.clone() }
}

fn forest_of(blocks: &[&NaiveBlock]) -> Subtrees {
    let mut nodes = Vec::new();
    for block in blocks {
        flatten(block, 0, None, &mut nodes);
    }
    Subtrees(nodes)
}

/// Splits the nodes into the leading blocks of `depth` and the rest.
fn grow(mut nodes: &[SubtreeNode], depth: u16) -> (Vec<NaiveBlock>, &[SubtreeNode]) {
    let mut blocks = Vec::new();
    while let Some((first, rest)) = nodes.split_first().filter(|(first, _)| first.depth == depth) {
        let (children, rest) = grow(rest, depth + 1);
        blocks.push(NaiveBlock { record: first.block.clone(), children });
        nodes = rest;
    }
    (blocks, nodes)
}
