//! Lists of blocks and documents that have no vector of a model, or a stale one.

use std::collections::{BTreeSet, HashMap};

use leafbase_model::{
    BlockId, BlockType, DocumentId, DocumentRecord, EmbeddingTargets, Error, ItemsPage, Limits,
    Location, MissingEmbedding, MissingEmbeddings, Paging, Result,
};
use leafbase_store::{DocumentQuery, EmbeddedRevs, PageCursor, StoredDocument, Within};
use leafbase_tree_ops::ReadTree;

use crate::core::access::Full;
use crate::core::connection::Connection;
use crate::core::tree::Tree;
use crate::operations::cursor_text::{fingerprint_of, read_cursor, write_cursor};
use crate::operations::documents::list;
use crate::operations::search::VisibleTexts;

/// Documents that are read at a time.
const DOCUMENTS_PER_READ: usize = 64;
/// Blocks and documents that a page looks at: a space without missing vectors is read in several.
const MAX_EXAMINED: usize = 50_000;

/// The position after a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct MissingCursor {
    /// After the last document that was read to its end.
    documents: Option<PageCursor>,
    /// The document after it, which was read up to this block.
    within: Option<(DocumentId, BlockId)>,
}

/// A page in progress.
struct MissingPage<'t, 'a> {
    tree: &'t Tree<'a>,
    texts: VisibleTexts<'t, 'a>,
    revs: EmbeddedRevs<'t>,
    targets: EmbeddingTargets,
    limit: usize,
    found: Vec<MissingEmbedding>,
    examined: usize,
}

impl Connection<Full> {
    /// Lists the blocks or documents that have no vector of a model, or one of another revision,
    /// so that a host can compute them: by document and ID, up to the limit. Filters select
    /// documents as those of [`Connection::search`]: the trash is listed only if it is named. A
    /// model without vectors need not exist. Blocks without text and lines are left out, and so
    /// are the roots of documents, under whose IDs whole documents have their vectors.
    ///
    /// A page may have fewer entries than its limit, or none, and still a cursor: it ends where it
    /// has looked at 50,000 blocks. Over all pages each block and document that is missing
    /// throughout is listed once.
    ///
    /// ```
    /// use leafbase::{MissingEmbeddings, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// notes.insert_markdown("- [ ] passport", trip)?;
    /// let blocks = notes.missing_embeddings(MissingEmbeddings::of_blocks("minilm"))?;
    /// assert_eq!(blocks[0].markdown.as_deref(), Some("- [ ] passport"));
    /// let documents = notes.missing_embeddings(MissingEmbeddings::of_documents("minilm"))?;
    /// assert_eq!(documents[0].document_id, trip);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// Each page reads the documents that it looks at, and the last of them whole, since blocks are
    /// listed by ID; of documents alone it reads no block. Bundles of vectors are read once.
    ///
    /// # Errors
    /// Those of [`MissingEmbeddings::check`]; [`crate::ErrorKind::NotFound`] at `documentIds[n]`
    /// and `folderIds[n]`; [`crate::ErrorKind::Validation`] at `cursor` for one of another list;
    /// [`crate::ErrorKind::LimitExceeded`] at `documentIds` and `folderIds` for more than
    /// [`crate::Limits::blocks_per_request`].
    pub fn missing_embeddings(
        &self,
        request: MissingEmbeddings,
    ) -> Result<ItemsPage<MissingEmbedding>> {
        request.check()?;
        self.check_ids("documentIds", request.document_ids.as_ref())?;
        self.check_ids("folderIds", request.filter.folders.as_ref())?;
        let fingerprint = fingerprint(&request)?;
        let cursor = request.paging.cursor.as_deref();
        let cursor = cursor.map(|text| MissingCursor::read(fingerprint, text)).transpose()?;
        let (now, model) = (self.space.now(), request.model);
        self.operation("missing_embeddings").read(|tree| {
            let path = |index| format!("folderIds[{index}]");
            let query = list::query(tree, &request.filter, now, &path)?;
            let named = request.document_ids.as_deref();
            let named = named.map(|named| existing(tree, named)).transpose()?;
            let source = DocumentSource { tree, query, named };
            let mut page = MissingPage {
                tree,
                texts: VisibleTexts::new(tree),
                revs: EmbeddedRevs::new(tree.full_reader()?, &model),
                targets: request.targets,
                limit: request.paging.limit.unwrap_or(Limits::MISSING_EMBEDDINGS),
                found: Vec::new(),
                examined: 0,
            };
            let next = page.read(&source, cursor.unwrap_or_default())?;
            let next_cursor = next.map(|next| next.write(fingerprint));
            Ok(ItemsPage { items: page.found, next_cursor })
        })
    }
}

/// The documents that a list goes through, by ID.
struct DocumentSource<'t, 'a> {
    tree: &'t Tree<'a>,
    query: DocumentQuery,
    /// Sorted.
    named: Option<BTreeSet<DocumentId>>,
}

impl DocumentSource<'_, '_> {
    /// Whether a document is listed: one in the trash only if the trash is named.
    fn lists(&self, record: &DocumentRecord) -> bool {
        record.location != Location::Trash || self.query.within == Within::Location(Location::Trash)
    }

    /// Some documents after a cursor, each with the cursor after it; none at the end.
    fn after(&self, cursor: Option<&PageCursor>) -> Result<Vec<(StoredDocument, PageCursor)>> {
        let reader = self.tree.full_reader()?;
        let Some(named) = &self.named else {
            let page = reader.find_documents(&self.query, cursor, DOCUMENTS_PER_READ)?;
            let cursor = |row: StoredDocument| {
                let found = reader.matching_document(&self.query, row.record.id)?;
                found.map(|(_, cursor)| (row, cursor)).ok_or_else(Error::no_document)
            };
            return page.documents.into_iter().map(cursor).collect();
        };
        let mut found = Vec::new();
        // A cursor among named documents is an ID.
        let last = cursor.and_then(|cursor| cursor.as_bytes().first_chunk::<16>().copied());
        let last = last.map(DocumentId::from_bytes);
        for document in named.iter().filter(|document| last.is_none_or(|last| **document > last)) {
            if let Some((row, _)) = reader.matching_document(&self.query, *document)? {
                found.push((row, PageCursor::from_bytes(document.as_bytes())));
            }
            if found.len() >= DOCUMENTS_PER_READ {
                break;
            }
        }
        Ok(found)
    }
}

impl MissingPage<'_, '_> {
    /// Reads on from `cursor`. Returns the cursor of the next page; `None` at the end.
    fn read(
        &mut self,
        source: &DocumentSource<'_, '_>,
        mut cursor: MissingCursor,
    ) -> Result<Option<MissingCursor>> {
        loop {
            let documents = source.after(cursor.documents.as_ref())?;
            if documents.is_empty() {
                return Ok(None);
            }
            for (row, after) in documents {
                if self.is_full() {
                    return Ok(Some(cursor));
                }
                let document = row.record.id;
                let within = cursor.within.take().filter(|(within, _)| *within == document);
                if source.lists(&row.record)
                    && let Some(last) = self.add(&row, within.map(|(_, block)| block))?
                {
                    cursor.within = Some((document, last));
                    return Ok(Some(cursor));
                }
                cursor = MissingCursor { documents: Some(after), within: None };
            }
        }
    }

    fn is_full(&self) -> bool {
        self.found.len() >= self.limit || self.examined >= MAX_EXAMINED
    }

    /// Adds what is missing of a document after the block `after`. Returns the last block, if the
    /// page was full before the end of the document.
    fn add(&mut self, row: &StoredDocument, after: Option<BlockId>) -> Result<Option<BlockId>> {
        let document = row.record.id;
        let revs: HashMap<BlockId, u64> = self.revs.of(document)?.into_iter().collect();
        self.examined += 1;
        if self.targets == EmbeddingTargets::Documents {
            let stored = revs.get(&document.root());
            self.add_missing(document, document.root(), row.record.rev, stored, None);
            return Ok(None);
        }
        let texts = self.tree.full_reader()?.subtree_texts(document.root())?;
        let mut blocks: Vec<_> = texts.iter().skip(1).collect();
        // By ID: a position among siblings changes.
        blocks.sort_unstable_by_key(|block| block.id);
        let mut last = after;
        for block in blocks.into_iter().filter(|block| after.is_none_or(|after| block.id > after)) {
            if self.is_full()
                && let Some(last) = last
            {
                return Ok(Some(last));
            }
            self.examined += 1;
            last = Some(block.id);
            let stored = revs.get(&block.id);
            if stored == Some(&block.rev) || block.text.block_type() == BlockType::Line {
                continue;
            }
            let markdown = self.texts.markdown(block.text)?;
            if !markdown.trim().is_empty() {
                let markdown = Some(markdown.into_owned());
                self.add_missing(document, block.id, block.rev, stored, markdown);
            }
        }
        Ok(None)
    }

    fn add_missing(
        &mut self,
        document: DocumentId,
        block: BlockId,
        rev: u64,
        stored: Option<&u64>,
        markdown: Option<String>,
    ) {
        if stored != Some(&rev) {
            let mut entry = MissingEmbedding::new(block, document, rev);
            (entry.is_stale, entry.markdown) = (stored.is_some(), markdown);
            self.found.push(entry);
        }
    }
}

/// The named documents, which exist.
fn existing(tree: &Tree<'_>, named: &[DocumentId]) -> Result<BTreeSet<DocumentId>> {
    let find = |(index, document): (usize, &DocumentId)| {
        let found = tree.document(*document)?.filter(|found| found.location != Location::Inbox);
        let found = found.map(|record| record.id).ok_or_else(Error::no_document);
        found.map_err(|error| error.at(format_args!("documentIds[{index}]")))
    };
    named.iter().enumerate().map(find).collect()
}

fn fingerprint(request: &MissingEmbeddings) -> Result<u64> {
    let mut request = request.clone();
    request.paging = Paging::default();
    let json = serde_json::to_vec(&request)
        .map_err(|error| Error::validation("cannot be written as JSON").with_source(error))?;
    Ok(fingerprint_of(&json))
}

impl MissingCursor {
    fn write(&self, fingerprint: u64) -> String {
        let mut bytes = fingerprint.to_be_bytes().to_vec();
        bytes.push(u8::from(self.within.is_some()));
        if let Some((document, block)) = &self.within {
            bytes.extend(document.as_bytes());
            bytes.extend(block.as_bytes());
        }
        bytes.extend(self.documents.iter().flat_map(PageCursor::as_bytes));
        write_cursor(&bytes)
    }

    fn read(fingerprint: u64, text: &str) -> Result<Self> {
        let decoded = read_cursor(text).and_then(|bytes| Self::decode(fingerprint, &bytes));
        decoded.ok_or_else(|| Error::validation("the cursor is not of this list").at("cursor"))
    }

    fn decode(fingerprint: u64, bytes: &[u8]) -> Option<Self> {
        let (of_request, bytes) = bytes.split_first_chunk()?;
        let (has_within, bytes) = bytes.split_first()?;
        let (within, documents) = if *has_within == 0 {
            (None, bytes)
        } else {
            let (document, bytes) = bytes.split_first_chunk()?;
            let (block, bytes) = bytes.split_first_chunk()?;
            let (document, block) =
                (DocumentId::from_bytes(*document), BlockId::from_bytes(*block));
            (Some((document, block)), bytes)
        };
        let documents = (!documents.is_empty()).then(|| PageCursor::from_bytes(documents));
        let cursor = Self { documents, within };
        (u64::from_be_bytes(*of_request) == fingerprint).then_some(cursor)
    }
}
