//! A space of documents as plain trees: as simple as can be, and slow. What real code gives is compared with it.

use leafbase_model::{
    Block, BlockData, BlockDraft, BlockId, BlockPatch, BlockRecord, Content, Day, DocumentId, DocumentRecord, Error,
    IdSource, Limits, Location, Metadata, Position, Result, Stamp,
};

use crate::naive_rules as rules;
use crate::{Labels, Outline, ParseError, SequentialIds, stamp};

/// A block with its children.
#[derive(Clone, Debug, PartialEq)]
pub struct NaiveBlock {
    /// The block.
    pub record: BlockRecord,
    /// Its children.
    pub children: Vec<NaiveBlock>,
}

/// A document with its blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct NaiveDocument {
    /// The document.
    pub record: DocumentRecord,
    /// Its root.
    pub root: NaiveBlock,
}

/// A space of documents. Operations are written from the rules, apart from the code that they are compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct NaiveSpace {
    /// The documents, in the order of their making.
    pub documents: Vec<NaiveDocument>,
    /// What operations may not pass.
    pub limits: Limits,
}

impl NaiveBlock {
    /// How many levels stand below it.
    pub fn height(&self) -> usize {
        self.children.iter().map(|child| child.height() + 1).max().unwrap_or(0)
    }

    /// Whether it is `id`, or has it below.
    pub fn holds(&self, id: BlockId) -> bool {
        self.record.id == id || self.children.iter().any(|child| child.holds(id))
    }

    pub(crate) fn outline(&self, labels: &Labels) -> Outline {
        Outline {
            label: labels.of(self.record.id).map(str::to_owned),
            children: self.children.iter().map(|child| child.outline(labels)).collect(),
            ..Outline::of_data(self.record.data.clone())
        }
    }
}

impl NaiveSpace {
    /// A space without documents.
    pub fn new(limits: Limits) -> Self {
        Self { documents: Vec::new(), limits }
    }

    /// A space whose documents are the top blocks of an outline, whatever the rules say of them. IDs come from
    /// [`SequentialIds`] of series 0 in reading order; labels name them.
    ///
    /// # Errors
    /// Those of [`Outline::parse`].
    pub fn from_outline(text: &str) -> Result<(Self, Labels), ParseError> {
        let (mut space, mut labels, ids) = (Self::new(Limits::default()), Labels::default(), SequentialIds::new(0));
        for top in Outline::parse(text)? {
            let root = planted(&top, &ids, &mut labels);
            let (location, at) = (top.location.unwrap_or_default(), stamp(0).at);
            let id = DocumentId::of_root(root.record.id);
            let record = DocumentRecord { id, location, day: None, created_at: at, modified_at: at };
            space.documents.push(NaiveDocument { record, root });
        }
        Ok((space, labels))
    }

    /// The space as an outline, with these labels.
    pub fn outline(&self, labels: &Labels) -> String {
        let outline = |document: &NaiveDocument| {
            let location = Some(document.record.location).filter(|location| *location != Location::Unsorted);
            Outline { location, ..document.root.outline(labels) }
        };
        Outline::print(&self.documents.iter().map(outline).collect::<Vec<_>>())
    }

    /// Makes a document.
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
        let mut root = root.clone();
        root.data = rules::root_data(root.data)?;
        if location == Location::Trash {
            return Err(Error::rule("in the trash").at("destination"));
        }
        rules::check_draft_count(std::slice::from_ref(&root), &self.limits, "")?;
        let root = rules::grown(&root, "", 0, by, &self.limits)?;
        let id = DocumentId::of_root(root.record.id);
        let record = DocumentRecord { id, location, day, created_at: by.0.at, modified_at: by.0.at };
        self.documents.push(NaiveDocument { record, root });
        Ok(id)
    }

    /// Puts new blocks at a position. Returns the top ones.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn insert(
        &mut self,
        by: (&Stamp, &dyn IdSource),
        drafts: &[BlockDraft],
        position: Position,
    ) -> Result<Vec<BlockId>> {
        let (parent, index, path) = rules::place(self, position)?;
        rules::check_draft_count(drafts, &self.limits, "blocks")?;
        let depth = self.depth(parent) + 1;
        let grown = |(number, draft)| rules::grown(draft, &format!("blocks[{number}]"), depth, by, &self.limits);
        let blocks: Vec<NaiveBlock> = drafts.iter().enumerate().map(grown).collect::<Result<_>>()?;
        let ids = blocks.iter().map(|block| block.record.id).collect();
        if !blocks.is_empty() {
            self.receive(parent, by.0, path)?;
            self.get_mut(parent).children.splice(index..index, blocks);
        }
        Ok(ids)
    }

    /// Changes blocks. Returns them as they then are.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn update(&mut self, stamp: &Stamp, patches: &[BlockPatch]) -> Result<Vec<BlockRecord>> {
        rules::check_count(patches.len(), &self.limits, "blocks")?;
        let mut after = self.clone();
        let mut updated = Vec::new();
        for (index, patch) in patches.iter().enumerate() {
            let once = rules::check_once(index, patches, |patch| patch.id).map_err(|error| error.at("id"));
            let changed = once.and_then(|()| rules::patched(self, patch, stamp));
            let data = changed.map_err(|error| error.at(format_args!("blocks[{index}]")))?;
            after.revise(patch.id, data, stamp);
            updated.push(after.get(patch.id).record.clone());
        }
        *self = after;
        Ok(updated)
    }

    /// Deletes blocks with all below them. Returns the IDs asked for.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn delete(&mut self, ids: &[BlockId]) -> Result<Vec<BlockId>> {
        rules::check_count(ids.len(), &self.limits, "blockIds")?;
        for (index, id) in ids.iter().enumerate() {
            let once = rules::check_once(index, ids, |id| *id);
            let checked = once.and_then(|()| rules::not_a_root(self, *id));
            checked.map_err(|error| error.at(format_args!("blockIds[{index}]")))?;
        }
        for id in ids {
            self.take(*id);
        }
        Ok(ids.to_vec())
    }

    /// Moves blocks with all below them. Returns the IDs asked for.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn move_blocks(&mut self, stamp: &Stamp, ids: &[BlockId], position: Position) -> Result<Vec<BlockId>> {
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
        self.receive(parent, stamp, path)?;
        // A mark holds the place while blocks before and after it come and go.
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
        Ok(ids.to_vec())
    }

    /// Reads a block with what is below it.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn fetch(
        &self,
        block: BlockId,
        max_depth: Option<usize>,
        metadata: bool,
        plain: &dyn Fn(&BlockData) -> String,
    ) -> Result<Block> {
        let block = self.find(block).ok_or_else(|| Error::not_found().at("id"))?;
        Ok(shown(block, max_depth, metadata, plain))
    }

    /// Puts a document into the trash, or elsewhere, whatever the rules say.
    pub fn set_location(&mut self, document: DocumentId, location: Location) {
        for found in self.documents.iter_mut().filter(|found| found.record.id == document) {
            found.record.location = location;
        }
    }

    fn receive(&mut self, parent: BlockId, stamp: &Stamp, path: &str) -> Result<()> {
        let data = rules::as_parent(&self.get(parent).record.data, &self.limits, path)?;
        self.revise(parent, data, stamp);
        Ok(())
    }

    fn revise(&mut self, id: BlockId, data: BlockData, stamp: &Stamp) {
        let record = &mut self.get_mut(id).record;
        if record.data != data {
            record.data = data;
            record.rev += 1;
            record.modified = stamp.clone();
        }
    }
}

fn planted(outline: &Outline, ids: &SequentialIds, labels: &mut Labels) -> NaiveBlock {
    let id = BlockId::from_bytes(ids.mint(stamp(0).at));
    if let Some(label) = &outline.label {
        labels.bind(label, id);
    }
    let (created, modified, data) = (stamp(0), stamp(0), outline.data.clone());
    let record = BlockRecord { id, rev: outline.rev.unwrap_or(1), created, modified, data };
    NaiveBlock { record, children: outline.children.iter().map(|child| planted(child, ids, labels)).collect() }
}

fn shown(block: &NaiveBlock, depth: Option<usize>, metadata: bool, plain: &dyn Fn(&BlockData) -> String) -> Block {
    let BlockRecord { id, rev, created, modified, data } = block.record.clone();
    let below = |child| shown(child, depth.map(|depth| depth - 1), metadata, plain);
    let content = match data.block_type().to_string().as_str() {
        "page" | "collectionItem" if depth == Some(0) && !block.children.is_empty() => {
            let texts = block.children.iter().take(12).map(|child| plain(&child.record.data));
            let text = texts.collect::<Vec<_>>().join(" ");
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            Content::Preview(text.chars().take(120).collect())
        }
        "page" | "collectionItem" => Content::Blocks(block.children.iter().map(below).collect()),
        _ => Content::None,
    };
    let metadata = metadata.then(|| Metadata { created, modified, comments: Vec::new() });
    Block { id, rev, data, metadata, content }
}
