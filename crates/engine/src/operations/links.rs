//! Links of a document: targets of its blocks, and back links.

use std::collections::BTreeSet;

use leafbase_model::{
    BlockId, BlockRecord, Day, DocumentId, DocumentRecord, Error, Location, Result,
};
use leafbase_store::{EdgeEnd, EdgeKind, SpaceReader};
use leafbase_tree_ops::ReadTree;
use serde::Serialize;

use crate::core::access::Full;
use crate::core::connection::Connection;
use crate::core::edges::edges;

#[cfg(feature = "schemars")]
mod json_schemas;

/// Edges that one look-up reads.
const EDGES_PER_LOOKUP: usize = 256;

/// A link in the text of a block. As JSON: `{"documentId", "blockId", "markdown",
/// "targetDocumentId", "targetBlockId", "targetDate"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Link {
    /// The document of the source block.
    pub document_id: DocumentId,
    /// The source block.
    pub block_id: BlockId,
    /// Markdown of the source block.
    pub markdown: String,
    /// Target document; absent if the block or the day's note does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_document_id: Option<DocumentId>,
    /// Target block; absent if the target is a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_block_id: Option<BlockId>,
    /// Target day; absent if the target is a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_date: Option<Day>,
}

/// Links and back links of a document. As JSON: `{"links": [..], "backLinks": [..]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DocumentLinks {
    /// Links in the document's blocks in reading order, each target once per block.
    pub links: Vec<Link>,
    /// Links from other documents, except trashed ones, to the document, to its blocks, or to its
    /// day if it is a daily note. Ordered by document and block.
    pub back_links: Vec<Link>,
}

impl Connection<Full> {
    /// The links in the text of a document's blocks, and the back links from other documents. Web
    /// addresses, files and relations are not links.
    ///
    /// The cost is one read of the document, one look-up per block, and the links returned.
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
            let record = tree.document(document)?.ok_or_else(Error::not_found)?;
            let reader = tree.full_reader()?;
            let blocks = tree.subtree(document.root(), None)?;
            let mut found = DocumentLinks::default();
            for (_, block) in blocks.with_parents() {
                found.links.extend(links_of(reader, document, block)?);
            }
            found.back_links =
                back_links(reader, &record, blocks.with_parents().map(|(_, block)| block.id))?;
            Ok(found)
        })
    }
}

/// Links in the text of `block`, each target once.
fn links_of(
    reader: SpaceReader<'_>,
    document: DocumentId,
    block: &BlockRecord,
) -> Result<Vec<Link>> {
    let (mut ends, mut known) = (Vec::new(), BTreeSet::new());
    edges(&block.data, &mut |target| {
        if target.kind == EdgeKind::Link && known.insert(target.to) {
            ends.push(target.to);
        }
    });
    ends.into_iter().map(|end| link(reader, document, block, end)).collect()
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
        EdgeEnd::Asset(_) => (None, None),
    };
    let target_document_id = match (target_block_id, target_date) {
        (Some(block), _) => reader.locate(block)?.map(|location| location.document),
        (None, Some(day)) => reader.note_of(day)?.map(|note| note.id),
        (None, None) => None,
    };
    let markdown = block.data.markdown.clone();
    Ok(Link {
        document_id,
        block_id: block.id,
        markdown,
        target_document_id,
        target_block_id,
        target_date,
    })
}

/// Back links to `blocks`, which are all blocks of the target, and to its day.
fn back_links(
    reader: SpaceReader<'_>,
    target: &DocumentRecord,
    blocks: impl Iterator<Item = BlockId>,
) -> Result<Vec<Link>> {
    let ends = blocks.map(EdgeEnd::Block).chain(target.day.map(EdgeEnd::Day));
    let mut found = Vec::new();
    for end in ends {
        for source in sources(reader, end)? {
            // A source that was deleted in the meantime cannot occur: edges and blocks share a
            // snapshot.
            let Some(location) = reader.locate(source)? else {
                leafbase_model::invariant!("the source of an edge has a location, block {source}")
            };
            let document = location.document;
            let is_trashed =
                reader.document(document)?.is_none_or(|record| record.location == Location::Trash);
            if document == target.id || is_trashed {
                continue;
            }
            if let Some(block) = reader.block(source)? {
                found.push(link(reader, document, &block, end)?);
            }
        }
    }
    found.sort_by_key(|link| {
        (link.document_id, link.block_id, link.target_block_id, link.target_date)
    });
    Ok(found)
}

/// Blocks whose text links to `end`.
fn sources(reader: SpaceReader<'_>, end: EdgeEnd) -> Result<Vec<BlockId>> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = reader.edges_to(end, after, EDGES_PER_LOOKUP)?;
        found
            .extend(page.iter().filter(|edge| edge.kind == EdgeKind::Link).map(|edge| edge.source));
        after = page.last().copied();
        if page.len() < EDGES_PER_LOOKUP {
            return Ok(found);
        }
    }
}
