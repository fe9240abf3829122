//! References to blocks: `((id))`, as Logseq writes them, become links to the blocks with the
//! property `id::`. They may be in any file, so that references are resolved once all were read.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use leafbase::bulk::{self, DocumentFactory, LinkLayout, invariant};
use leafbase::markdown;
use leafbase::{
    BlockData, BlockDraft, BlockId, Connection, DocumentId, Edit, Limits, Result, SearchBlocks,
};

use super::inline_links::{block_reference, block_references};
use super::inline_rewrites::{normalize, ordinary_links, own_links};
use super::link_targets::FileIndex;
use super::plan::ImportPlan;
use crate::link_paths::{LinkUrl, block_url, rewrite_urls};
use crate::logseq_ids::{ID_PROPERTY, named_blocks};
use crate::report::{VaultWarning, VaultWarningKind};

/// Blocks whose references become links in one transaction.
const MAX_LINKED_BLOCKS: usize = 1_000;

/// A reference of a file.
#[derive(Clone, Debug)]
pub(crate) struct BlockReference {
    /// Index of its block in document order.
    pub(super) block: usize,
    pub(super) line: Option<usize>,
    /// The ID of the block that it names.
    pub(super) id: String,
}

/// The IDs that a block refers to: in the order of the text, those that are destinations first.
pub(super) fn reference_ids(data: &BlockData) -> Vec<String> {
    let mut ids = Vec::new();
    if !may_refer(data) {
        return ids;
    }
    markdown::links(&data.inline, &mut |link| {
        ids.extend(block_reference(&link.destination).map(ToOwned::to_owned));
    });
    let references = plain_references(&data.inline).into_iter();
    let references = references.filter_map(|range| block_reference(data.inline.get(range)?));
    ids.extend(references.map(ToOwned::to_owned));
    ids
}

/// Turns the references of a block that `find` finds into links. Returns how many; none if the text
/// around them keeps one from being a link.
pub(crate) fn link_references(
    data: &mut BlockData,
    find: &dyn Fn(&str) -> Option<BlockId>,
) -> usize {
    if !may_refer(data) {
        return 0;
    }
    let original = data.clone();
    let mut links = Vec::new();
    rewrite_urls(data, &mut |LinkUrl { url, written, is_embedded }| {
        let id = block_reference(url).filter(|_| !is_embedded)?;
        let new = block_url(find(id)?);
        links.push(LinkLayout { text: written.into(), is_wiki: false, attachment: None });
        Some(new)
    });
    let text = std::mem::take(&mut data.inline);
    let mut at = 0;
    for range in plain_references(&text) {
        let written = text.get(range.clone()).unwrap_or_default();
        if let Some(block) = block_reference(written).and_then(find) {
            let before = text.get(at..range.start).unwrap_or_default();
            data.inline.extend([before, "[", written, "](", &block_url(block), ")"]);
            at = range.end;
            links.push(LinkLayout { text: written.into(), is_wiki: true, attachment: None });
        }
    }
    data.inline.push_str(text.get(at..).unwrap_or_default());
    if links.is_empty() || own_links(&data.inline) != own_links(&original.inline) + links.len() {
        *data = original;
        return 0;
    }
    if !markdown::is_lone_link(&original) {
        normalize(data);
    }
    let count = links.len();
    data.layout.get_or_insert_default().links.append(&mut links);
    count
}

fn may_refer(data: &BlockData) -> bool {
    data.block_type().has_own_markdown() && data.inline.contains("((")
}

/// The references in a text that are in no other link.
fn plain_references(text: &str) -> Vec<Range<usize>> {
    let mut references = block_references(text);
    if !references.is_empty() {
        let links = ordinary_links(text);
        references.retain(|reference| {
            !links.iter().any(|link| link.start < reference.end && reference.start < link.end)
        });
    }
    references
}

/// The references of an import, and the blocks that new files name.
#[derive(Debug, Default)]
pub(super) struct BlockReferences {
    named: HashMap<String, BlockId>,
    /// With their blocks and files. Those of a block are consecutive.
    pending: Vec<(BlockId, FileIndex, BlockReference)>,
}

/// The result of turning the references of new documents into links.
#[derive(Debug, Default)]
pub(super) struct LinkedReferences {
    pub(super) links: u64,
    pub(super) warnings: Vec<VaultWarning>,
}

impl BlockReferences {
    /// Adds the IDs that blocks of a new file have for Logseq.
    pub(super) fn add_named(
        &mut self,
        blocks: &[BlockId],
        named: Vec<(String, usize)>,
    ) -> Result<()> {
        for (id, index) in named {
            self.named.entry(id).or_insert(block_at(blocks, index)?);
        }
        Ok(())
    }

    /// Adds the references of a new file that is not held back.
    pub(super) fn add(
        &mut self,
        file: FileIndex,
        blocks: &[BlockId],
        references: Vec<BlockReference>,
    ) -> Result<()> {
        for reference in references {
            self.pending.push((block_at(blocks, reference.block)?, file, reference));
        }
        Ok(())
    }

    /// The new files that are written with references.
    pub(super) fn files(&self) -> impl Iterator<Item = FileIndex> {
        self.pending.iter().map(|(_, file, _)| *file)
    }

    /// The blocks with these IDs: those of new files, otherwise of documents that files became
    /// before.
    pub(super) fn find<'i>(
        &self,
        notes: &Connection,
        plan: &ImportPlan,
        ids: impl IntoIterator<Item = &'i str>,
    ) -> Result<HashMap<String, BlockId>> {
        let (mut found, mut missing) = (HashMap::new(), Vec::new());
        for id in ids.into_iter().collect::<BTreeSet<_>>() {
            match self.named.get(id) {
                Some(block) => drop(found.insert(id.to_owned(), *block)),
                None => missing.push(id),
            }
        }
        if plan.has_known_files() {
            for ids in missing.chunks(Limits::PATTERNS) {
                find_known(notes, plan, ids, &mut found)?;
            }
        }
        Ok(found)
    }

    /// Turns the references of new documents that were written with them into links.
    pub(super) fn link(&self, notes: &Connection, plan: &ImportPlan) -> Result<LinkedReferences> {
        let ids = self.pending.iter().map(|(_, _, reference)| reference.id.as_str());
        let found = self.find(notes, plan, ids)?;
        let mut linked = LinkedReferences::default();
        let mut blocks: Vec<BlockId> = Vec::new();
        for (block, file, reference) in &self.pending {
            if !found.contains_key(&reference.id) {
                linked.warnings.push(unresolved(plan.path(*file), reference));
            } else if blocks.last() != Some(block) {
                blocks.push(*block);
            }
        }
        for blocks in blocks.chunks(MAX_LINKED_BLOCKS) {
            linked.links += link_blocks(notes, blocks, &found)?;
        }
        Ok(linked)
    }
}

fn block_at(blocks: &[BlockId], index: usize) -> Result<BlockId> {
    match blocks.get(index) {
        Some(block) => Ok(*block),
        None => invariant!("a reference or an ID is in block {index} of its file"),
    }
}

/// Turns the references of drafts into links. Returns how many.
pub(super) fn link_drafts(drafts: &mut [BlockDraft], found: &HashMap<String, BlockId>) -> u64 {
    let mut links = 0;
    let mut waiting: Vec<&mut BlockDraft> = drafts.iter_mut().collect();
    while let Some(BlockDraft { data, content, .. }) = waiting.pop() {
        links += link_references(data, &|id| found.get(id).copied());
        waiting.extend(content.iter_mut());
    }
    links as u64
}

/// The warning about a reference to no block.
pub(super) fn unresolved(path: &str, reference: &BlockReference) -> VaultWarning {
    let message = format!("(({})) leads to no block and stays text", reference.id);
    let warning = VaultWarning::of_file(path, VaultWarningKind::UnresolvedLink, message);
    VaultWarning { line: reference.line, ..warning }
}

/// Finds blocks by their IDs in the documents that files became before.
fn find_known(
    notes: &Connection,
    plan: &ImportPlan,
    ids: &[&str],
    found: &mut HashMap<String, BlockId>,
) -> Result<()> {
    let mut request = SearchBlocks::default().case_sensitive();
    request.patterns = ids.iter().map(|id| format!("{ID_PROPERTY}\\s*{id}")).collect();
    let mut documents: BTreeSet<DocumentId> = BTreeSet::new();
    loop {
        let page = notes.search_blocks(request.clone())?;
        documents.extend(page.iter().map(|block| block.document_id));
        let Some(cursor) = page.next_cursor else { break };
        request = request.after(cursor);
    }
    bulk::read(notes, |view| {
        for document in documents.into_iter().filter(|id| plan.file(*id).is_some()) {
            let subtree = view.subtree(document.root())?;
            let blocks = subtree.0.iter().skip(1).map(|node| (node.block.id, &node.block.data));
            let named = named_blocks(blocks).into_iter().filter(|(id, _)| ids.contains(id));
            for (id, block) in named {
                found.entry(id.to_owned()).or_insert(block);
            }
        }
        Ok(())
    })
}

/// Turns the references of blocks into links, in one transaction. Returns how many.
fn link_blocks(
    notes: &Connection,
    blocks: &[BlockId],
    found: &HashMap<String, BlockId>,
) -> Result<u64> {
    let factory = DocumentFactory::new(notes);
    let (links, _) = bulk::write(notes, |view| {
        let (mut edits, mut links) = (Vec::new(), 0);
        for block in blocks {
            // A block may have been deleted or edited concurrently.
            if let (Some(before), Some(document)) = (view.block(*block)?, view.document_of(*block)?)
            {
                let mut after = before.clone();
                let count = link_references(&mut after.data, &|id| found.get(id).copied());
                if count > 0 {
                    links += count as u64;
                    after.rev += 1;
                    after.modified = factory.stamp().clone();
                    let (before, after) = (before.into(), after.into());
                    edits.push(Edit::Update { document, before, after });
                }
            }
        }
        Ok((edits, links))
    })?;
    Ok(links)
}
