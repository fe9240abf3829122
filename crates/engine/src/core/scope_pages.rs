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

/// The pages that a change wrote in, with the blocks that it wrote.
pub(crate) type PageWrites = BTreeMap<DocumentId, BTreeSet<BlockId>>;

/// The changes after the sequence `after` that wrote in pages of the scope.
pub(crate) fn page_writes(tree: &Tree<'_>, after: u64) -> Result<BTreeMap<u64, PageWrites>> {
    let reader = tree.unguarded();
    let mut found = BTreeMap::new();
    let mut past = PastTree { tree, parents: HashMap::new(), removed: HashMap::new() };
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
    /// Past parents that differ from the present ones; `None` for a root and for a block that did
    /// not exist.
    parents: HashMap<BlockId, Option<BlockId>>,
    /// Pages of the scope that do not exist now, and whether they were shown as pages.
    removed: HashMap<BlockId, bool>,
}

impl PastTree<'_> {
    /// Rolls back a change, and returns its writes by page.
    fn undo(&mut self, change: &Change) -> Result<PageWrites> {
        let mut writes = PageWrites::new();
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
            Edit::EraseDocument { subtrees, .. } => self.restore(None, subtrees),
            Edit::Move { block, from, to } => {
                add(*block, self.page_of(to.parent)?, writes);
                self.parents.insert(*block, Some(from.parent));
                add(*block, self.page_of(from.parent)?, writes);
            }
            // An update that keeps the revision is the other end of a relation.
            Edit::Update { before, after, .. }
                if before.rev != after.rev || after.is_redacted() =>
            {
                add(after.id, self.page_of(after.id)?, writes);
            }
            Edit::AddComment { block, .. }
            | Edit::RemoveComment { block, .. }
            | Edit::UpdateComment { block, .. } => {
                add(*block, self.page_of(*block)?, writes);
            }
            Edit::SetSchema { collection, before, after, .. } => {
                let shown = |schema| hidden_relations::visible_part(self.tree, schema);
                if shown(before.as_deref())? != shown(after.as_deref())? {
                    add(*collection, self.page_of(*collection)?, writes);
                }
            }
            Edit::UpdateDocument { before, after } if is_trashed(before) != is_trashed(after) => {
                self.add_pages_of(after.id, writes)?;
            }
            Edit::PurgeDocument { .. } | Edit::Update { .. } | Edit::UpdateDocument { .. } => {}
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
            add(node.block.id, around.or(within.map(|(_, page)| page)), writes);
        }
        Ok(())
    }

    /// Adds the pages that were in a document, without blocks.
    fn add_pages_of(&self, document: DocumentId, writes: &mut PageWrites) -> Result<()> {
        for page in self.tree.visibility().roots().into_iter().flat_map(|roots| &roots.pages) {
            if self.page_of(*page)? == Some(*page) && self.root_of(*page)? == document.root() {
                writes.entry(DocumentId::of_root(*page)).or_default();
            }
        }
        Ok(())
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

    /// The page of the scope that contained the block; `None` if a document of the scope did.
    fn page_of(&self, block: BlockId) -> Result<Option<BlockId>> {
        let (mut page, mut top) = (None, block);
        self.climb(block, &mut |ancestor| {
            top = ancestor;
            if self.is_page(ancestor)? {
                page = Some(ancestor);
            }
            Ok(())
        })?;
        let is_in_document = self.tree.visibility().contains(DocumentId::of_root(top));
        Ok(page.filter(|page| *page == top || !is_in_document))
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

/// Adds a block to the writes of `page`, if it was in one.
fn add(block: BlockId, page: Option<BlockId>, writes: &mut PageWrites) {
    if let Some(page) = page {
        writes.entry(DocumentId::of_root(page)).or_default().insert(block);
    }
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
