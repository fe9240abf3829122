//! Edits of documents by a mirror: the content of files, and their names.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use leafbase::bulk::{self, DocumentFactory, FileLayout, SpaceView};
use leafbase::markdown;
use leafbase::{
    AssetId, AssetUrl, BackLinks, BlockDraft, BlockId, Connection, DocumentId, DocumentRecord,
    Edit, Error, ErrorKind, Location, Result,
};

use crate::import::{FileIndex, ImportPlan, Importer, PendingLink};
use crate::link_paths::{Anchors, block_url, linked_block, rewrite_urls};
use crate::markdown_file::file_options;

/// The outcome of writing a file into its document.
#[derive(Debug)]
pub(super) enum AppliedFile {
    /// The document has the content now; the change, if there was a difference, and whether that
    /// was one of blocks.
    Done(Option<u64>, bool),
    /// Others changed the document meanwhile.
    ChangedMeanwhile,
    /// The document cannot have the content.
    Refused(Error),
}

/// Makes the content of a document equal `drafts`, with the attachments that they show, if its last
/// change is still `expected`.
pub(super) fn apply(
    notes: &Connection,
    factory: &DocumentFactory,
    import: &mut Importer<'_>,
    document: DocumentId,
    expected: u64,
    drafts: &[BlockDraft],
    layout: Option<&FileLayout>,
) -> Result<AppliedFile> {
    let (created, uploads) = import.attachments.create(shown_files(drafts));
    let written = bulk::write(notes, |view| {
        let row = view.document(document)?;
        if row.is_none_or(|row| row.last_change != expected) {
            return Ok((Vec::new(), None));
        }
        let mut edits = view.page_edits(factory, document.root(), drafts.to_vec())?;
        let is_edited = !edits.is_empty();
        edits.extend(layout_edit(view, document, layout)?);
        let edits = if edits.is_empty() { edits } else { [created.clone(), edits].concat() };
        Ok((edits, Some(is_edited)))
    });
    match written {
        Ok((Some(is_edited), change)) => {
            // Without a change no block shows the uploads, and dropping them erases their bytes.
            if change.is_some() {
                uploads.into_iter().for_each(bulk::StagedFile::keep);
            }
            Ok(AppliedFile::Done(change.map(|change| change.sequence), is_edited))
        }
        Ok((None, _)) => Ok(AppliedFile::ChangedMeanwhile),
        Err(error) if is_refusal(&error) => Ok(AppliedFile::Refused(error)),
        Err(error) => Err(error),
    }
}

/// The edit by which a document has the layout of its file.
fn layout_edit(
    view: &SpaceView<'_>,
    document: DocumentId,
    file: Option<&FileLayout>,
) -> Result<Option<Edit>> {
    let (Some(before), Some(file)) = (view.block(document.root())?, file) else { return Ok(None) };
    let mut after = before.clone();
    after.data.layout.get_or_insert_default().file = Some(Box::new(file.clone()));
    let is_same = after == before;
    Ok((!is_same).then(|| Edit::Update { document, before: before.into(), after: after.into() }))
}

/// Whether an error says that a document cannot have this content.
pub(super) fn is_refusal(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::RuleViolation | ErrorKind::LimitExceeded | ErrorKind::Validation
    )
}

fn shown_files(drafts: &[BlockDraft]) -> BTreeSet<AssetId> {
    let mut files = BTreeSet::new();
    for (_, draft) in drafts.iter().flat_map(BlockDraft::walk) {
        bulk::shown_files(&draft.data, &mut |file| {
            files.insert(file);
        });
    }
    files
}

/// Resolves links to headings and blocks by the documents as they are, or else by the anchors that
/// `past` says that blocks had. Returns the files in which one was not found as it is, and the
/// links that were not found at all: those lead to their document.
pub(super) fn resolve_anchors<'l>(
    view: &SpaceView<'_>,
    plan: &ImportPlan,
    pending: &'l [PendingLink],
    drafts: &mut [BlockDraft],
    past: &dyn Fn(DocumentId) -> Result<Option<Anchors>>,
) -> Result<(BTreeSet<FileIndex>, Vec<&'l PendingLink>)> {
    let mut anchors: BTreeMap<FileIndex, Anchors> = BTreeMap::new();
    let (mut urls, mut unresolved, mut missing) = (HashMap::new(), BTreeSet::new(), Vec::new());
    for link in pending {
        let (Some(anchor), Some(target)) = (&link.anchor, plan.files.get(link.target)) else {
            continue;
        };
        let root = target.id.root();
        let known = match anchors.entry(link.target) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Anchors::of_document(&view.subtree(root)?)),
        };
        let mut found = known.find(anchor);
        if found.is_none() {
            unresolved.insert(link.target);
            let before = past(target.id)?.and_then(|past| past.find(anchor));
            found = before.filter(|block| known.name(*block).is_some());
            missing.extend(found.is_none().then_some(link));
        }
        urls.insert(link.id, block_url(found.unwrap_or(root)));
    }
    // A stack of its own: a file may nest blocks to any depth.
    let mut stack: Vec<&mut BlockDraft> = drafts.iter_mut().collect();
    while let Some(BlockDraft { data, content, .. }) = stack.pop() {
        rewrite_urls(data, &mut |link| urls.get(&linked_block(link.url)?).cloned());
        stack.extend(content.iter_mut());
    }
    Ok((unresolved, missing))
}

/// The anchors that the blocks of a document had after the change `sequence`. `None` if that is
/// gone from the change log.
pub(super) fn past_anchors(
    notes: &Connection,
    document: DocumentId,
    sequence: u64,
) -> Result<Option<Anchors>> {
    match notes.document_at(document, sequence) {
        Ok(block) => Ok(Some(Anchors::of_block(&block))),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether an error says that a version of a document is not kept, or too large to be shown.
fn is_gone(error: &Error) -> bool {
    use ErrorKind::{HistoryGone, LimitExceeded, NotFound};
    matches!(error.kind(), NotFound | HistoryGone | LimitExceeded)
}

/// A document, or a file as its document would have it, with the blocks that its markdown parses
/// as.
#[derive(Debug)]
pub(super) struct ShownMarkdown {
    pub(super) text: String,
    pub(super) blocks: Vec<BlockDraft>,
    file: FileLayout,
}

impl ShownMarkdown {
    fn new(text: String, file: Option<&FileLayout>, factory: &DocumentFactory) -> Result<Self> {
        let options = file_options().with_limits(factory.limits().clone());
        let blocks = markdown::parse_with_layout(&text, &options)?.blocks;
        let file = file.map_or_else(FileLayout::default, Clone::clone);
        // The rest describes the text as it was read.
        Ok(Self { text, blocks, file: FileLayout { path: "".into(), digest: 0, ..file } })
    }

    /// The blocks that were read from a file.
    pub(super) fn of_file(
        drafts: &[BlockDraft],
        file: &FileLayout,
        factory: &DocumentFactory,
    ) -> Result<Self> {
        Self::new(markdown::render_as_written(drafts, Some(file)), Some(file), factory)
    }

    /// A document as it is.
    pub(super) fn present(
        view: &SpaceView<'_>,
        factory: &DocumentFactory,
        document: DocumentId,
    ) -> Result<Self> {
        let text = view.page_markdown(factory, document.root())?;
        let root = view.block(document.root())?;
        let layout = root.as_ref().and_then(|root| root.data.layout.as_deref());
        Self::new(text, layout.and_then(|layout| layout.file.as_deref()), factory)
    }

    /// A document as the change `sequence` left it. `None` if that is gone from the change log.
    pub(super) fn past(
        notes: &Connection,
        factory: &DocumentFactory,
        document: DocumentId,
        sequence: u64,
    ) -> Result<Option<Self>> {
        match notes.document_at(document, sequence) {
            Ok(block) => {
                let layout = block.data.layout.as_deref();
                let file = layout.and_then(|layout| layout.file.as_deref());
                let text = markdown::render_as_written(block.children(), file);
                Self::new(text, file, factory).map(Some)
            }
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether both are written in the same way.
    pub(super) fn is_written_as(&self, other: &Self) -> bool {
        self.text == other.text && self.file == other.file
    }

    /// The layout that a merged text has of its file, if that has another one than before.
    pub(super) fn file_layout(&self, before: &Self) -> Option<&FileLayout> {
        (self.file != before.file).then_some(&self.file)
    }
}

/// Gives a document another title and location. Returns the change; `None` if it has both.
pub(super) fn rename(
    notes: &Connection,
    factory: &DocumentFactory,
    document: DocumentId,
    title: Option<&str>,
    location: Option<Location>,
) -> Result<Option<u64>> {
    let ((), change) = bulk::write(notes, |view| {
        let (Some(row), Some(root)) = (view.document(document)?, view.block(document.root())?)
        else {
            return Ok((Vec::new(), ()));
        };
        let mut edits = Vec::new();
        if let Some(location) = location.filter(|location| *location != row.record.location) {
            let after = DocumentRecord { location, ..row.record.clone() };
            edits.push(Edit::UpdateDocument { before: row.record, after });
        }
        if let Some(title) = title.filter(|title| *title != root.data.inline) {
            let mut after = root.clone();
            title.clone_into(&mut after.data.inline);
            after.rev += 1;
            after.modified = factory.stamp().clone();
            edits.push(Edit::Update { document, before: root.into(), after: after.into() });
        }
        Ok((edits, ()))
    })?;
    Ok(change.map(|change| change.sequence))
}

/// Whether a document has links to itself, or if its file `is_moved` to another directory, any
/// links: the path of the file says how they are written.
pub(super) fn has_links_by_path(
    view: &SpaceView<'_>,
    document: DocumentId,
    is_moved: bool,
) -> Result<bool> {
    let (mut blocks, mut has_files) = (Vec::new(), false);
    for mut node in view.subtree(document.root())?.0 {
        rewrite_urls(&mut node.block.data, &mut |link| {
            has_files |= AssetUrl::asset_of(link.url).is_some();
            blocks.extend(linked_block(link.url));
            None
        });
    }
    if is_moved && (has_files || !blocks.is_empty()) {
        return Ok(true);
    }
    for block in blocks {
        if view.document_of(block)? == Some(document) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The documents that link to a root or to a block below it, with the target of each link.
pub(super) fn linking_documents(
    notes: &Connection,
    root: BlockId,
) -> Result<Vec<(DocumentId, Option<BlockId>)>> {
    let (mut found, mut request) = (Vec::new(), BackLinks::to(root));
    loop {
        let page = match notes.back_links(request) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(found),
            page => page?,
        };
        found.extend(page.iter().map(|link| (link.document_id, link.target_block_id)));
        let Some(cursor) = page.next_cursor.clone() else { return Ok(found) };
        request = BackLinks::to(root).after(cursor);
    }
}
