//! The links of a document in both directions.

use std::collections::BTreeSet;

use leafbase_markdown as markdown;
use leafbase_model::{
    BlockId, BlockRecord, Day, DocumentId, DocumentRecord, Error, Location, Result,
};
use leafbase_store::{EdgeEnd, EdgeKind, SpaceReader};
use leafbase_tree_ops::ReadTree;
use serde::Serialize;

use crate::core::access::FullAccess;
use crate::core::connection::Connection;
use crate::core::edges::edges;
use crate::operations::lookups::DocumentNames;

mod back_links;
mod embeds;
#[cfg(feature = "schemars")]
mod json_schemas;
#[cfg(feature = "search")]
mod linking_documents;
#[cfg(feature = "search")]
pub(crate) mod mentions;

#[cfg(feature = "search")]
pub(crate) use linking_documents::LinkingDocuments;

/// How many back links are read at a time.
const PAGE: usize = 256;

/// A link in the text of a block. As JSON: `{"documentId", "blockId", "markdown",
/// "targetDocumentId", "targetBlockId", "targetDate"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Link {
    /// The document that contains the link.
    pub document_id: DocumentId,
    /// The block that contains the link.
    pub block_id: BlockId,
    /// The markdown of that block.
    pub markdown: String,
    /// The target document. None if the target block or the note of the day does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_document_id: Option<DocumentId>,
    /// The target block. None for a link to a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_block_id: Option<BlockId>,
    /// The target day. None for a link to a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_date: Option<Day>,
}

/// The links of a document in both directions. As JSON: `{"links": [..], "backLinks": [..]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DocumentLinks {
    /// Links in its blocks, in reading order, each target once per block.
    pub links: Vec<Link>,
    /// Links in other documents outside of the trash: to this document, to one of its blocks, or to
    /// its day if it is a daily note. Sorted by document and block.
    pub back_links: Vec<Link>,
}

impl<A: FullAccess> Connection<A> {
    /// The links in the texts of a document's blocks, and the links in other documents to it or to
    /// one of its blocks. A wiki link such as `[[Lisbon]]` is text until exactly one document has
    /// the name, as [`find_documents`](Self::find_documents) finds it; then it is a link to that
    /// document, and the block stays as it is. Web addresses, files and relations are not included.
    ///
    /// Reads the document once and looks up each of its blocks. The rest of the cost grows with the
    /// reply.
    ///
    /// ```
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let lisbon = notes.create_document("Lisbon")?;
    /// let trip = notes.create_document("Trip")?;
    /// notes.insert_markdown(&format!("to [Lisbon](block://{})", lisbon.id()), trip.id())?;
    /// assert_eq!(notes.document_links(trip.id())?.links[0].target_document_id, Some(lisbon.id()));
    /// assert_eq!(notes.document_links(lisbon.id())?.back_links[0].document_id, trip.id());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`].
    pub fn document_links(&self, document: DocumentId) -> Result<DocumentLinks> {
        self.operation("document_links").read(|tree| {
            let record = tree.document(document)?.ok_or_else(Error::no_document)?;
            let reader = tree.full_reader()?;
            let blocks = tree.subtree(document.root(), None)?;
            let mut names = DocumentNames::new(tree);
            let mut ends = Vec::new();
            for (_, block) in blocks.with_parents() {
                ends.extend(ends_of(&mut names, block)?.into_iter().map(|end| (block, end)));
            }
            let targets = ends.iter().filter_map(|(_, end)| end.block());
            reader.prefetch_locations(&targets.collect::<Vec<_>>());
            let links = ends.into_iter().map(|(block, end)| link(reader, document, block, end));
            let links = links.collect::<Result<_>>()?;
            let own_names = names.leading_to(document)?;
            let blocks = blocks.with_parents().map(|(_, block)| block.id);
            let back_links = back_links(reader, &record, &own_names, blocks)?;
            Ok(DocumentLinks { links, back_links })
        })
    }
}

/// What the links in the text of `block` lead to, each target once. Names that lead to no document,
/// or to several, are text.
fn ends_of(names: &mut DocumentNames<'_, '_>, block: &BlockRecord) -> Result<Vec<EdgeEnd>> {
    let (mut ends, mut known) = (Vec::new(), BTreeSet::new());
    edges(&block.data, &mut |target| {
        let is_named = matches!(target.to, EdgeEnd::Name(_));
        if target.kind == EdgeKind::Link && !is_named && known.insert(target.to) {
            ends.push(target.to);
        }
    });
    for name in named_in(block) {
        if let Some(target) = names.sole(name)?
            && known.insert(EdgeEnd::Block(target.root()))
        {
            ends.push(EdgeEnd::Block(target.root()));
        }
    }
    Ok(ends)
}

/// The names in the wiki links of a block.
fn named_in(block: &BlockRecord) -> Vec<&str> {
    let mut names = Vec::new();
    if block.data.block_type().has_own_markdown() {
        markdown::wiki_links(&block.data.inline, &mut |name| names.push(name));
    }
    names
}

/// Whether a block has a wiki link to one of `names`, which are lowercase.
fn is_named_in(block: &BlockRecord, names: &[String]) -> bool {
    named_in(block).iter().any(|name| names.contains(&name.to_lowercase()))
}

fn link(
    reader: SpaceReader<'_>,
    document_id: DocumentId,
    block: &BlockRecord,
    end: EdgeEnd,
) -> Result<Link> {
    let (target_block_id, target_date) = match end {
        EdgeEnd::Block(block) => (Some(block), None),
        EdgeEnd::Day(day) => (None, Some(day)),
        EdgeEnd::Asset(_) | EdgeEnd::Name(_) => (None, None),
    };
    let target_document_id = match (target_block_id, target_date) {
        (Some(block), _) => reader.locate(block)?.map(|location| location.document),
        (None, Some(day)) => reader.note_of(day)?.map(|note| note.id),
        (None, None) => None,
    };
    let markdown = block.data.inline.clone();
    Ok(Link {
        document_id,
        block_id: block.id,
        markdown,
        target_document_id,
        target_block_id,
        target_date,
    })
}

/// The links from elsewhere to `blocks`, which are all of the document, to its day, and to the
/// names that lead to it.
fn back_links(
    reader: SpaceReader<'_>,
    target: &DocumentRecord,
    names: &[String],
    blocks: impl Iterator<Item = BlockId>,
) -> Result<Vec<Link>> {
    let ends = blocks.map(EdgeEnd::Block).chain(target.day.map(EdgeEnd::Day));
    let named = names.iter().map(|name| EdgeEnd::name(name));
    let ends: Vec<_> = ends.chain(named).collect();
    reader.prefetch_edges(&ends);
    let (mut edges, mut known) = (Vec::new(), BTreeSet::new());
    for end in ends {
        let is_named = matches!(end, EdgeEnd::Name(_));
        let end_block = if is_named { EdgeEnd::Block(target.id.root()) } else { end };
        // A block may link to one target by its ID and by several names: it is listed once.
        let sources = sources(reader, end)?.into_iter();
        let new = sources.filter(|source| known.insert((end_block, *source)));
        edges.extend(new.map(|source| (source, end_block, is_named)));
    }
    reader.prefetch(&edges.iter().map(|(source, ..)| *source).collect::<Vec<_>>());
    let mut found = Vec::new();
    for (source, end, is_named) in edges {
        let Some(location) = reader.locate(source)? else { continue };
        let document = location.document;
        let is_trashed =
            reader.document(document)?.is_none_or(|record| record.location == Location::Trash);
        if document == target.id || is_trashed {
            continue;
        }
        // An edge has the hash of a name, which another name may share: the text decides.
        if let Some(block) = reader.block(source)?
            && (!is_named || is_named_in(&block, names))
        {
            found.push(link(reader, document, &block, end)?);
        }
    }
    found.sort_by_key(|link| {
        (link.document_id, link.block_id, link.target_block_id, link.target_date)
    });
    Ok(found)
}

/// The blocks whose text links to `end`.
fn sources(reader: SpaceReader<'_>, end: EdgeEnd) -> Result<Vec<BlockId>> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = reader.edges_to(end, after, PAGE)?;
        found
            .extend(page.iter().filter(|edge| edge.kind == EdgeKind::Link).map(|edge| edge.source));
        after = page.last().copied();
        if page.len() < PAGE {
            return Ok(found);
        }
    }
}
