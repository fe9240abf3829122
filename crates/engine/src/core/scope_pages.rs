//! Writes to the pages of a scope, read from the change log. A change does not record the pages of
//! its blocks, so the log is read backwards from the present tree, and edits of the tree's shape
//! are rolled back on the way.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use leafbase_model::{
    BlockId, Change, DocumentId, DocumentRecord, Edit, EditSubject, Error, Location, Result,
    Subtrees, invariant,
};

use crate::core::redaction::hidden_relations;
use crate::core::scope_roots::is_shown_as_page;
use crate::core::tree::Tree;

/// Upper bound of the depth of a tree. A longer chain of parents has a cycle.
const MAX_LEVELS: usize = u16::MAX as usize;

/// The writes of a change in pages of the scope.
#[derive(Debug, Default)]
pub(crate) struct PageWrites {
    /// The pages that the feed reports, with the written blocks.
    pub(in crate::core) reported: BTreeMap<DocumentId, BTreeSet<BlockId>>,
    /// The blocks, with their pages, whose writes the feed omits: other ends of relations, and
    /// schemas of which the scope sees no difference.
    pub(in crate::core) omitted: BTreeSet<(DocumentId, BlockId)>,
}

impl PageWrites {
    fn is_empty(&self) -> bool {
        self.reported.is_empty() && self.omitted.is_empty()
    }

    /// Adds a block that was written in `page`, if it was in one.
    fn report(&mut self, block: BlockId, page: Option<BlockId>) {
        if let Some(page) = page {
            self.reported.entry(DocumentId::of_root(page)).or_default().insert(block);
        }
    }

    /// Adds a page without blocks: it came or went as a whole.
    fn report_page(&mut self, page: BlockId) {
        self.reported.entry(DocumentId::of_root(page)).or_default();
    }

    /// Adds a block whose write the feed omits.
    fn omit(&mut self, block: BlockId, page: Option<BlockId>) {
        self.omitted.extend(page.map(|page| (DocumentId::of_root(page), block)));
    }
}

/// The changes after the sequence `after` that wrote in pages of the scope.
pub(crate) fn page_writes(tree: &Tree<'_>, after: u64) -> Result<BTreeMap<u64, PageWrites>> {
    let reader = tree.unguarded();
    let mut found = BTreeMap::new();
    let inbox = reader.inbox()?.map(|inbox| inbox.id);
    let mut past = PastTree {
        tree,
        inboxes: inbox.into_iter().collect(),
        parents: HashMap::new(),
        removed: HashMap::new(),
    };
    let mut sequence = reader.last_sequence()?;
    while sequence > after {
        let Some(change) = reader.change_over(sequence)? else { break };
        invariant!(change.first_sequence <= sequence, "the change log is read backwards");
        let writes = past.undo(&change)?;
        if !writes.is_empty() {
            found.insert(change.sequence, writes);
        }
        sequence = change.first_sequence.saturating_sub(1);
    }
    Ok(found)
}

/// The tree as it was before the changes that have been undone.
struct PastTree<'a> {
    tree: &'a Tree<'a>,
    /// The inbox, and inboxes that have been erased: their pages are hidden.
    inboxes: BTreeSet<DocumentId>,
    /// Past parents that differ from the present ones; `None` for a root and for a block that did
    /// not exist.
    parents: HashMap<BlockId, Option<BlockId>>,
    /// Pages of the scope that do not exist now, and whether they were shown as pages.
    removed: HashMap<BlockId, bool>,
}

impl PastTree<'_> {
    /// Rolls back a change, and returns its writes by page.
    fn undo(&mut self, change: &Change) -> Result<PageWrites> {
        let mut writes = PageWrites::default();
        for edit in change.edits.iter().rev() {
            self.undo_edit(edit, &mut writes)?;
        }
        Ok(writes)
    }

    fn undo_edit(&mut self, edit: &Edit, writes: &mut PageWrites) -> Result<()> {
        match edit {
            Edit::Insert { target, subtrees } => {
                self.add_subtrees(Some(target.parent), subtrees, writes)?;
                self.forget(subtrees);
            }
            Edit::CreateDocument { subtrees, .. } => {
                self.add_subtrees(None, subtrees, writes)?;
                self.forget(subtrees);
            }
            Edit::Remove { target, subtrees } => {
                self.restore(Some(target.parent), subtrees);
                self.add_subtrees(Some(target.parent), subtrees, writes)?;
            }
            Edit::EraseDocument { record, subtrees } => {
                if record.location == Location::Inbox {
                    self.inboxes.insert(record.id);
                }
                self.restore(None, subtrees);
            }
            Edit::Move { block, from, to } => {
                let is_shown = [from, to].map(|end| !self.inboxes.contains(&end.document));
                let crosses_inbox = is_shown[0] != is_shown[1];
                let after = if crosses_inbox { self.shown_pages()? } else { BTreeSet::new() };
                writes.report(*block, self.page_of(to.parent)?);
                self.parents.insert(*block, Some(from.parent));
                writes.report(*block, self.page_of(from.parent)?);
                if crosses_inbox {
                    let before = self.shown_pages()?;
                    after.symmetric_difference(&before).for_each(|page| writes.report_page(*page));
                }
            }
            // An update that keeps the revision is the other end of a relation.
            Edit::Update { before, after, .. } => {
                let page = self.page_of(after.id)?;
                if before.rev != after.rev || after.is_redacted() {
                    writes.report(after.id, page);
                } else {
                    writes.omit(after.id, page);
                }
            }
            Edit::AddComment { block, .. }
            | Edit::RemoveComment { block, .. }
            | Edit::UpdateComment { block, .. } => {
                writes.report(*block, self.page_of(*block)?);
            }
            Edit::SetSchema { collection, before, after, .. } => {
                let shown = |schema| hidden_relations::visible_part(self.tree, schema);
                let is_reported = shown(before.as_deref())? != shown(after.as_deref())?;
                let page = self.page_of(*collection)?;
                if is_reported {
                    writes.report(*collection, page);
                } else {
                    writes.omit(*collection, page);
                }
            }
            Edit::UpdateDocument { before, after } if is_trashed(before) != is_trashed(after) => {
                self.add_pages_of(after.id, writes)?;
            }
            Edit::PurgeDocument { .. } | Edit::UpdateDocument { .. } => {}
            edit => check_is_of_space(edit)?,
        }
        Ok(())
    }

    /// Adds the blocks of subtrees below `parent`: all of them if it is in a page, otherwise the
    /// blocks of pages among them.
    fn add_subtrees(
        &self,
        parent: Option<BlockId>,
        subtrees: &Subtrees,
        writes: &mut PageWrites,
    ) -> Result<()> {
        let around = parent.map(|parent| self.page_of(parent)).transpose()?.flatten();
        let mut within: Option<(usize, BlockId)> = None;
        for node in &subtrees.0 {
            let depth = usize::from(node.depth);
            within = within.filter(|(top, _)| depth > *top);
            if around.is_none() && within.is_none() && self.is_page(node.block.id)? {
                within = self.page_of(node.block.id)?.map(|page| (depth, page));
            }
            writes.report(node.block.id, around.or(within.map(|(_, page)| page)));
        }
        Ok(())
    }

    /// Adds the pages that were in a document, without blocks.
    fn add_pages_of(&self, document: DocumentId, writes: &mut PageWrites) -> Result<()> {
        for page in self.shown_pages()? {
            if self.root_of(page)? == document.root() {
                writes.report_page(page);
            }
        }
        Ok(())
    }

    /// The pages that the scope showed as documents, in the trash or not.
    fn shown_pages(&self) -> Result<BTreeSet<BlockId>> {
        let mut shown = BTreeSet::new();
        for page in self.tree.visibility().roots().into_iter().flat_map(|roots| &roots.pages) {
            if self.page_of(*page)? == Some(*page) {
                shown.insert(*page);
            }
        }
        Ok(shown)
    }

    /// The subtrees did not exist before.
    fn forget(&mut self, subtrees: &Subtrees) {
        self.parents.extend(subtrees.0.iter().map(|node| (node.block.id, None)));
    }

    /// The subtrees were below `parent` before.
    fn restore(&mut self, parent: Option<BlockId>, subtrees: &Subtrees) {
        let mut lineage: Vec<BlockId> = Vec::new();
        for node in &subtrees.0 {
            debug_assert!(usize::from(node.depth) <= lineage.len(), "depth grows by one per level");
            lineage.truncate(usize::from(node.depth));
            self.parents.insert(node.block.id, lineage.last().copied().or(parent));
            lineage.push(node.block.id);
            if self.tree.visibility().names_page(node.block.id) {
                self.removed.insert(node.block.id, is_shown_as_page(&node.block));
            }
        }
    }

    fn parent(&self, block: BlockId) -> Result<Option<BlockId>> {
        if let Some(parent) = self.parents.get(&block) {
            return Ok(*parent);
        }
        let location = self.tree.unguarded().locate(block)?;
        Ok(location.and_then(|location| location.parent))
    }

    /// Whether the scope shows the block as a document, if no other page or document of the scope
    /// contains it.
    fn is_page(&self, block: BlockId) -> Result<bool> {
        if !self.tree.visibility().names_page(block) {
            return Ok(false);
        }
        if let Some(is_page) = self.removed.get(&block) {
            return Ok(*is_page);
        }
        Ok(self.tree.unguarded().block(block)?.is_some_and(|block| is_shown_as_page(&block)))
    }

    /// The page of the scope that contained the block; `None` if a document of the scope did, and
    /// in the inbox.
    fn page_of(&self, block: BlockId) -> Result<Option<BlockId>> {
        let (mut page, mut top) = (None, block);
        self.climb(block, &mut |ancestor| {
            top = ancestor;
            if self.is_page(ancestor)? {
                page = Some(ancestor);
            }
            Ok(())
        })?;
        let document = DocumentId::of_root(top);
        let is_hidden = self.inboxes.contains(&document);
        let is_in_document = self.tree.visibility().contains(document);
        Ok(page.filter(|page| !is_hidden && (*page == top || !is_in_document)))
    }

    fn root_of(&self, block: BlockId) -> Result<BlockId> {
        let mut root = block;
        self.climb(block, &mut |ancestor| {
            root = ancestor;
            Ok(())
        })?;
        Ok(root)
    }

    /// Visits the block and its ancestors, up to the root.
    fn climb(&self, block: BlockId, visit: &mut dyn FnMut(BlockId) -> Result<()>) -> Result<()> {
        let mut next = Some(block);
        for _ in 0..MAX_LEVELS {
            let Some(at) = next else { return Ok(()) };
            visit(at)?;
            next = self.parent(at)?;
        }
        Err(Error::corrupted(format_args!("the ancestors of block {block} do not end in a root")))
    }
}

fn is_trashed(document: &DocumentRecord) -> bool {
    document.location == Location::Trash
}

/// Fails unless an edit is of folders, files or the settings of the space, which no scope shows:
/// where scopes look at edits, every other kind has an arm.
pub(in crate::core) fn check_is_of_space(edit: &Edit) -> Result<()> {
    invariant!(
        matches!(edit.subject(), EditSubject::Folder | EditSubject::Space),
        "an edit of documents or of their content has an arm"
    );
    Ok(())
}
