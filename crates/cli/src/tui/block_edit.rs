//! An edited text and its target, with optimistic concurrency by revision.

use leafbase::{
    BlockData, BlockDraft, BlockId, BlockPatch, Connection, DayRef, Destination, DocumentId,
    ErrorKind, Fetch, IndentBlocks, Position, Result, UpdateBlocks,
};

use super::text_input::TextInput;

/// Where an edited text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditTarget {
    /// Replaces the markdown of a block of this revision.
    Block { id: BlockId, rev: u64, document: DocumentId },
    /// New blocks after a block, as deep as it is indented.
    After { block: BlockId, indentation: u8, document: DocumentId },
    /// New blocks at the start of a document.
    StartOf(DocumentId),
    /// New blocks at the end of a document.
    EndOf(DocumentId),
    /// New blocks in the note of today.
    Today,
    /// The title of a new document.
    NewDocument(Destination),
}

/// The text and its target.
pub(crate) struct BlockEdit {
    pub(crate) target: EditTarget,
    pub(crate) input: TextInput,
    /// The text at the start.
    original: String,
    /// The last key asked to leave the text, or the message says how.
    is_leaving: bool,
}

/// The result of a written edit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SavedEdit {
    pub(crate) document: DocumentId,
    /// The block to select.
    pub(crate) block: BlockId,
}

impl BlockEdit {
    /// Edits the present markdown of a block.
    pub(crate) fn of_block(notes: &Connection, block: BlockId) -> Result<Self> {
        let document = notes.document_of(block)?;
        let block = notes.fetch(Fetch::new(block).depth(0))?;
        let target = EditTarget::Block { id: block.id, rev: block.rev, document };
        Ok(Self::new(target, block.markdown()))
    }

    pub(crate) fn new(target: EditTarget, text: &str) -> Self {
        let original = text.to_owned();
        Self { target, input: TextInput::new(text), original, is_leaving: false }
    }

    /// Whether the text may go: it is as it was, or this is asked for the second time in a row.
    pub(crate) fn leave(&mut self) -> bool {
        std::mem::replace(&mut self.is_leaving, true) || self.input.text() == self.original
    }

    /// Goes on with the text.
    pub(crate) const fn stay(&mut self) {
        self.is_leaving = false;
    }

    /// The title in the border of the input.
    pub(crate) const fn title(&self) -> &'static str {
        match self.target {
            EditTarget::Block { .. } => "Edit",
            EditTarget::After { .. } | EditTarget::StartOf(_) | EditTarget::EndOf(_) => "Insert",
            EditTarget::Today => "Today",
            EditTarget::NewDocument(_) => "New document",
        }
    }

    /// Writes the text.
    pub(crate) fn save(&self, notes: &Connection) -> Result<SavedEdit> {
        let text = self.input.text();
        match self.target {
            EditTarget::Block { id, rev, document } => {
                let patch = BlockPatch::markdown(id, text).if_rev(rev);
                notes.update_blocks(UpdateBlocks::from(patch))?;
                Ok(SavedEdit { document, block: id })
            }
            EditTarget::After { block, indentation, document } => {
                let block = insert_indented(notes, text, block, indentation)?;
                Ok(SavedEdit { document, block })
            }
            EditTarget::StartOf(document) => insert(notes, text, Position::start_of(document)),
            EditTarget::EndOf(document) => insert(notes, text, Position::end_of(document)),
            EditTarget::Today => insert(notes, text, Position::end_of_day(DayRef::Today)),
            EditTarget::NewDocument(destination) => {
                let page = BlockDraft::new(BlockData::page(text.trim()));
                let document = notes.create_document_of(page, destination)?.id();
                Ok(SavedEdit { document, block: document.root() })
            }
        }
    }

    /// The message about a save that failed. If the block was written or deleted meanwhile, the
    /// text stays, and the next save is of the present block.
    pub(crate) fn explain(&mut self, notes: &Connection, error: &leafbase::Error) -> String {
        let block = match self.target {
            EditTarget::Block { id, .. } => notes.fetch(Fetch::new(id).depth(0)).ok(),
            _ => None,
        };
        match (error.kind(), self.target, block) {
            (ErrorKind::Conflict, EditTarget::Block { id, document, .. }, Some(block)) => {
                self.target = EditTarget::Block { id, rev: block.rev, document };
                self.is_leaving = true;
                let text = block.markdown().replace('\n', " ");
                format!("changed meanwhile: Enter replaces it, Esc keeps it: {text}")
            }
            (ErrorKind::NotFound, EditTarget::Block { document, .. }, None)
            | (ErrorKind::NotFound, EditTarget::After { document, .. }, _) => {
                self.target = EditTarget::EndOf(document);
                "deleted meanwhile: Enter adds the text at the end of the document".to_owned()
            }
            _ => error.to_string(),
        }
    }
}

fn insert(notes: &Connection, text: &str, position: Position) -> Result<SavedEdit> {
    let inserted = notes.insert_markdown(text, position)?;
    let block = inserted.first().ok_or_else(nothing_to_insert)?.id;
    Ok(SavedEdit { document: notes.document_of(block)?, block })
}

/// Inserts blocks as one change.
fn insert_indented(
    notes: &Connection,
    text: &str,
    after: BlockId,
    indentation: u8,
) -> Result<BlockId> {
    let levels = i8::try_from(indentation).unwrap_or(i8::MAX);
    notes.batch(|batch| {
        let inserted = batch.insert_markdown(text, Position::after(after))?;
        let first = inserted.first().ok_or_else(nothing_to_insert)?.id;
        if levels > 0 {
            let mut range = IndentBlocks::from(first).by(levels);
            range.last_id = inserted.last().map(|last| last.id);
            batch.indent_blocks(range)?;
        }
        Ok(first)
    })
}

fn nothing_to_insert() -> leafbase::Error {
    leafbase::Error::validation("there is no text to insert")
}
