//! Block operations of the naive space.

use leafbase_model::{
    Block, BlockData, BlockDraft, BlockId, BlockPatch, BlockRecord, Content, Day, DocumentId,
    DocumentRecord, Error, Fetch, FetchFrom, IdSource, Location, Metadata, Position, Result, Stamp,
    Timestamp,
};

use crate::naive_rules as rules;
use crate::{Broken, NaiveBlock, NaiveDocument, NaiveSpace};

impl NaiveSpace {
    /// Creates a document.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn create_document(
        &mut self,
        by: (&Stamp, &dyn IdSource),
        root: &BlockDraft,
        location: Location,
        day: Option<Day>,
    ) -> Result<DocumentId> {
        let mut root = self.dated_drafts(std::slice::from_ref(root), by.0.at).remove(0);
        root.data = rules::root_data(root.data.clone())?;
        rules::check_draft_count(std::slice::from_ref(&root), &self.limits, "")?;
        let root = rules::grown(&root, "", 0, by, &self.limits)?;
        let id = DocumentId::of_root(root.record.id);
        let record =
            DocumentRecord { id, location, day, created_at: by.0.at, modified_at: by.0.at, rev: 1 };
        self.documents.push(NaiveDocument { record, root });
        Ok(id)
    }

    /// Inserts blocks at a position. Returns the top-level ones.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn insert(
        &mut self,
        by: (&Stamp, &dyn IdSource),
        drafts: &[BlockDraft],
        position: Position,
    ) -> Result<Vec<BlockId>> {
        self.write(by.0, |space| {
            let Some(position) = space.landed(by, position, drafts.is_empty())? else {
                return Ok(Vec::new());
            };
            let (parent, index, path) = rules::place(space, position)?;
            rules::check_draft_count(drafts, &space.limits, "blocks")?;
            let depth = space.depth(parent) + 1;
            let drafts = space.dated_drafts(drafts, by.0.at);
            let grown = |(number, draft)| {
                let path = format!("blocks[{number}]");
                let data = rules::drafted(draft, depth, by.0, &space.limits)
                    .map_err(|error| error.at(&path))?;
                let entered = rules::check_enters(space, parent, &data);
                entered.map_err(|error| error.at("listStyle").at(&path))?;
                rules::grown(draft, &path, depth, by, &space.limits)
            };
            let blocks: Vec<NaiveBlock> =
                drafts.iter().enumerate().map(grown).collect::<Result<_>>()?;
            let ids = blocks.iter().map(|block| block.record.id).collect();
            if !blocks.is_empty() {
                space.receive(parent, by.0, path)?;
                space.get_mut(parent).children.splice(index..index, blocks);
            }
            Ok(ids)
        })
    }

    /// Updates blocks. Returns them after the update.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn update(&mut self, stamp: &Stamp, patches: &[BlockPatch]) -> Result<Vec<BlockRecord>> {
        rules::check_count(patches.len(), &self.limits, "blocks")?;
        self.write(stamp, |after| {
            let (before, mut updated) = (after.clone(), Vec::new());
            for (index, patch) in patches.iter().enumerate() {
                let once = rules::check_once(index, patches, |patch| patch.id)
                    .map_err(|error| error.at("id"));
                let changed = once.and_then(|()| rules::patched(&before, patch, stamp));
                let data = changed.map_err(|error| error.at(format_args!("blocks[{index}]")))?;
                after.revise(patch.id, data, stamp);
                updated.push(after.get(patch.id).record.clone());
            }
            let ids: Vec<_> = patches.iter().map(|patch| patch.id).collect();
            after.move_tasks(&before, &ids, &[]);
            Ok(updated)
        })
    }

    /// Deletes blocks with their descendants. Returns the IDs of the request.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn delete(&mut self, stamp: &Stamp, ids: &[BlockId]) -> Result<Vec<BlockId>> {
        rules::check_count(ids.len(), &self.limits, "blockIds")?;
        self.write(stamp, |space| {
            for (index, id) in ids.iter().enumerate() {
                let once = rules::check_once(index, ids, |id| *id);
                let checked = once.and_then(|()| rules::not_a_root(space, *id));
                checked.map_err(|error| error.at(format_args!("blockIds[{index}]")))?;
            }
            if space.breaks(Broken::BlocksStay) {
                return Ok(ids.to_vec());
            }
            for id in ids {
                space.take(*id);
            }
            Ok(ids.to_vec())
        })
    }

    /// Moves blocks with their descendants. Returns the IDs of the request.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn move_blocks(
        &mut self,
        by: (&Stamp, &dyn IdSource),
        ids: &[BlockId],
        position: Position,
    ) -> Result<Vec<BlockId>> {
        self.write(by.0, |space| space.relocate_blocks(by, ids, position))
    }

    fn relocate_blocks(
        &mut self,
        by: (&Stamp, &dyn IdSource),
        ids: &[BlockId],
        position: Position,
    ) -> Result<Vec<BlockId>> {
        let Some(position) = self.landed(by, position, ids.is_empty())? else {
            return Ok(Vec::new());
        };
        rules::check_count(ids.len(), &self.limits, "blockIds")?;
        let (parent, index, path) = rules::place(self, position)?;
        if matches!(position, Position::Beside(_, sibling) if ids.contains(&sibling)) {
            return Err(Error::position("next to itself").at(path));
        }
        for (number, id) in ids.iter().enumerate() {
            let once = rules::check_once(number, ids, |id| *id);
            let checked = once.and_then(|()| rules::movable(self, *id, parent));
            checked.map_err(|error| error.at(format_args!("blockIds[{number}]")))?;
        }
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.receive(parent, by.0, path)?;
        self.bring(ids, parent, index);
        Ok(ids.to_vec())
    }

    /// Inserts blocks among the children of `parent`, before index `index`.
    pub(crate) fn bring(&mut self, ids: &[BlockId], parent: BlockId, index: usize) {
        // A marker keeps the position while blocks before and after it are removed and inserted.
        let mut mark = self.get(parent).clone();
        (mark.record.id, mark.children) = (BlockId::NIL, Vec::new());
        self.get_mut(parent).children.insert(index, mark);
        for id in ids {
            let block = self.take(*id).unwrap();
            let siblings = &mut self.get_mut(parent).children;
            let mark = siblings.iter().position(|sibling| sibling.record.id.is_nil()).unwrap();
            siblings.insert(mark, block);
        }
        self.take(BlockId::NIL);
    }

    /// Reads a block with its descendants.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn fetch(
        &self,
        request: Fetch,
        now: Timestamp,
        plain: &dyn Fn(&BlockData) -> String,
    ) -> Result<Block> {
        let block = match request.from {
            FetchFrom::Block(block) => {
                self.find(block).ok_or_else(|| Error::no_block().at("id"))?
            }
            FetchFrom::Day(day) => {
                let note = self.note_of(self.resolve(day, now));
                &note.ok_or_else(|| Error::no_daily_note().at("date"))?.root
            }
        };
        let mut shown = self.shown(block, request.max_depth, request.metadata, plain);
        if let Some(metadata) = &mut shown.metadata {
            metadata.document = self.document_of(shown.id).map(|found| found.record.id);
        }
        Ok(shown)
    }

    /// Sets the location of a document without checking any rule.
    pub fn set_location(&mut self, document: DocumentId, location: Location) {
        for found in self.documents.iter_mut().filter(|found| found.record.id == document) {
            found.record.location = location;
        }
    }

    pub(crate) fn receive(&mut self, parent: BlockId, stamp: &Stamp, path: &str) -> Result<()> {
        let data = rules::as_parent(&self.get(parent).record.data, &self.limits, path)?;
        self.revise(parent, data, stamp);
        Ok(())
    }

    pub(crate) fn revise(&mut self, id: BlockId, data: BlockData, stamp: &Stamp) {
        let record = &mut self.get_mut(id).record;
        if record.data != data {
            record.data = data;
            record.rev += 1;
            record.modified = stamp.clone();
        }
    }

    pub(crate) fn shown(
        &self,
        block: &NaiveBlock,
        depth: Option<usize>,
        metadata: bool,
        plain: &dyn Fn(&BlockData) -> String,
    ) -> Block {
        let BlockRecord { id, rev, created, modified, data } = block.record.clone();
        let below = |child| self.shown(child, depth.map(|depth| depth - 1), metadata, plain);
        let content = match data.block_type().to_string().as_str() {
            "page" | "collectionItem" if depth == Some(0) && !block.children.is_empty() => {
                let texts = block.children.iter().take(12).map(|child| plain(&child.record.data));
                let text = texts.collect::<Vec<_>>().join(" ");
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                Content::Preview(text.chars().take(120).collect())
            }
            "page" | "collectionItem" => {
                Content::Blocks(block.children.iter().map(below).collect())
            }
            _ => Content::None,
        };
        let metadata = metadata.then(|| Metadata {
            created,
            modified,
            comments: self.comments_on(id),
            document: None,
        });
        let item = self.item_fields(id).map(Box::new);
        Block { id, rev, data, block_form: None, plain: None, metadata, item, content }
    }
}
