//! One version of a space, read record by record.

use std::io::{self, Write};
use std::ops::ControlFlow;

use leafbase_model::{
    AssetId, AssetRecord, BlockDraft, BlockId, BlockRecord, Day, DocumentId, DocumentRecord, Edit,
    Error, FolderId, FolderRecord, Result, Subtrees,
};
use leafbase_store::{DocumentQuery, SpaceReader, StoredDocument};
use leafbase_tree_ops::ReadTree;

#[cfg(doc)]
use crate::core::connection::Connection;
use crate::core::tree::Tree;
use crate::operations::bulk::document_factory::DocumentFactory;
use crate::operations::collections::tables;
use crate::operations::files;
use crate::operations::page_markdown;

/// Documents per page of a listing.
const DOCUMENTS_PER_PAGE: usize = 1_000;

/// One version of a space, which [`bulk::read`](crate::bulk::read) and
/// [`bulk::write`](crate::bulk::write) pass to their closures. Records come as they are stored:
/// nothing else is looked up, and no limit of requests applies.
///
/// ```
/// use std::ops::ControlFlow;
/// use leafbase::{Space, bulk};
/// # fn main() -> leafbase::Result<()> {
/// let notes = Space::in_memory()?.connect();
/// notes.create_document("Trip")?;
/// let mut titles = Vec::new();
/// bulk::read(&notes, |view| {
///     view.documents(&mut |row| {
///         titles.push(row.title);
///         ControlFlow::Continue(())
///     })
/// })?;
/// assert_eq!(titles, ["Trip"]);
/// # Ok(())
/// # }
/// ```
pub struct SpaceView<'a> {
    tree: &'a Tree<'a>,
    reader: SpaceReader<'a>,
}

impl std::fmt::Debug for SpaceView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpaceView").finish_non_exhaustive()
    }
}

impl<'a> SpaceView<'a> {
    pub(super) fn new(tree: &'a Tree<'a>) -> Result<Self> {
        Ok(Self { tree, reader: tree.full_reader()? })
    }

    /// All folders, in any order.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn folders(&self) -> Result<Vec<FolderRecord>> {
        self.reader.folders()
    }

    /// A folder. `None` if there is none with this ID.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn folder(&self, folder: FolderId) -> Result<Option<FolderRecord>> {
        self.reader.folder(folder)
    }

    /// Passes all documents, those in the trash included, to `visit` until it breaks.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn documents(
        &self,
        visit: &mut dyn FnMut(StoredDocument) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut cursor = None;
        loop {
            let query = DocumentQuery::default();
            let page = self.reader.find_documents(&query, cursor.as_ref(), DOCUMENTS_PER_PAGE)?;
            for document in page.documents {
                if visit(document).is_break() {
                    return Ok(());
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    /// A document, its title and its last change. `None` if there is none with this ID.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn document(&self, document: DocumentId) -> Result<Option<StoredDocument>> {
        self.reader.stored_document(document)
    }

    /// The daily note of a day, unless it is in the trash.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn daily_note(&self, day: Day) -> Result<Option<DocumentRecord>> {
        self.reader.note_of(day)
    }

    /// A block. `None` if there is none with this ID.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn block(&self, block: BlockId) -> Result<Option<BlockRecord>> {
        self.reader.block(block)
    }

    /// The document that a block is in. `None` if there is no such block.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn document_of(&self, block: BlockId) -> Result<Option<DocumentId>> {
        Ok(self.reader.locate(block)?.map(|location| location.document))
    }

    /// A block and its descendants in document order. Empty if there is no such block.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn subtree(&self, block: BlockId) -> Result<Subtrees> {
        self.tree.subtree(block, None)
    }

    /// The content of a page as markdown, as [`Connection::content_markdown`] returns it.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] if there is no such page; errors of the store.
    pub fn page_markdown(&self, factory: &DocumentFactory, page: BlockId) -> Result<String> {
        page_markdown::page_text(self.tree, page, factory.limits())
    }

    /// The edits by which the content of a page becomes `drafts`, the blocks of a parsed
    /// markdown text. Blocks are kept as by [`Connection::apply_markdown`]; empty if nothing
    /// changes.
    ///
    /// # Errors
    /// The errors of [`Connection::apply_markdown`].
    pub fn page_edits(
        &self,
        factory: &DocumentFactory,
        page: BlockId,
        drafts: Vec<BlockDraft>,
    ) -> Result<Vec<Edit>> {
        page_markdown::page_edits(self.tree, &factory.context(), page, drafts)
    }

    /// A document as a file contains it: each collection of `subtrees` becomes a text with its name
    /// and a table, followed by a page for each item with content. `visit` receives the name and
    /// the number of items of each.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn flattened(
        &self,
        subtrees: Subtrees,
        visit: &mut dyn FnMut(&str, usize),
    ) -> Result<Subtrees> {
        tables::flattened(self.tree, subtrees, visit)
    }

    /// The number of comments on the blocks of a document.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn comment_count(&self, document: DocumentId) -> Result<usize> {
        Ok(self.reader.comments_in(document)?.len())
    }

    /// The number of tasks in the inbox.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn inbox_task_count(&self) -> Result<usize> {
        let Some(inbox) = self.reader.inbox()? else { return Ok(0) };
        Ok(self.reader.tasks_of(inbox.id, false)?.len())
    }

    /// The record of the host with this name for a document, or under the zero ID for the space.
    /// One lookup.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn host_record(&self, document: DocumentId, name: &str) -> Result<Option<Vec<u8>>> {
        self.reader.host_record(document, name)
    }

    /// Whether a document has a record of the host, of any name. One lookup.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn has_host_records(&self, document: DocumentId) -> Result<bool> {
        self.reader.has_host_records(document)
    }

    /// Passes the records of the host with this name to `visit` until it breaks, the space's
    /// under the zero ID. See [`put_host_records`](crate::bulk::put_host_records).
    ///
    /// # Cost
    /// Scans the records of all names.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn host_records(
        &self,
        name: &str,
        visit: &mut dyn FnMut(DocumentId, &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        self.reader.host_records(name, visit)
    }

    /// An uploaded file. `None` if there is none with this ID.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn file(&self, file: AssetId) -> Result<Option<AssetRecord>> {
        self.reader.asset(file)
    }

    /// The media type that the bytes of a file show when none is declared.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn detected_type(&self, file: &AssetRecord) -> Result<String> {
        let head = self.reader.chunk(file.id, 0)?;
        let head = head.as_deref().unwrap_or(&[]);
        Ok(files::media_type(None, head, head.len() as u64 == file.size))
    }

    /// Writes the bytes of a file to `out`, one chunk at a time.
    ///
    /// # Errors
    /// Errors of `out`; errors of the store as [`io::ErrorKind::Other`].
    pub fn write_file(&self, file: &AssetRecord, out: &mut dyn Write) -> io::Result<()> {
        let missing = || Error::corrupted(format_args!("file {}", file.id));
        let (mut written, mut number) = (0, 0);
        while written < file.size {
            let chunk = self.reader.chunk(file.id, number);
            let chunk = chunk.and_then(|chunk| chunk.ok_or_else(missing));
            let chunk = chunk.map_err(io::Error::other)?;
            out.write_all(&chunk)?;
            written += chunk.len() as u64;
            number += 1;
        }
        Ok(())
    }
}
