//! Edits applied to the naive space, each checked to describe exactly what it finds.

use leafbase_model::{BlockId, DocumentId, Edit, Forest, Node, Slot};

use crate::naive_read::flatten;
use crate::{NaiveBlock, NaiveDocument, NaiveSpace};

impl NaiveSpace {
    /// Applies edits in order. Folders, which it has none of, are refused.
    ///
    /// # Errors
    /// What an edit says that is not so, in words. The space is then half changed.
    pub fn apply_all<'a>(&mut self, edits: impl IntoIterator<Item = &'a Edit>) -> Result<(), String> {
        for (number, edit) in edits.into_iter().enumerate() {
            self.apply(edit).map_err(|error| format!("edit {number}: {error}"))?;
        }
        Ok(())
    }

    /// Applies one edit.
    ///
    /// # Errors
    /// What it says that is not so, in words.
    pub fn apply(&mut self, edit: &Edit) -> Result<(), String> {
        match edit {
            Edit::Insert { slot, forest } => {
                let blocks = self.fresh(forest)?;
                self.put(*slot, blocks)
            }
            Edit::Remove { slot, forest } => self.remove(*slot, forest),
            Edit::Update { document, before, after } => {
                self.check_in(before.id, *document)?;
                let record = &mut self.get_mut(before.id).record;
                check(*record == **before, "the block is not what it was said to be")?;
                check(after.id == before.id && after != before, "the update changes nothing, or the ID")?;
                *record = (**after).clone();
                Ok(())
            }
            Edit::Move { block, from, to } => self.relocate(*block, *from, *to),
            Edit::CreateDocument { record, forest } => {
                let mut roots = self.fresh(forest)?;
                check(roots.len() == 1 && roots[0].record.id == record.id.root(), "a document has one root")?;
                self.documents.push(NaiveDocument { record: record.clone(), root: roots.remove(0) });
                Ok(())
            }
            Edit::EraseDocument { record, forest } => {
                let found = self.documents.iter().position(|document| document.record == *record);
                let index = found.ok_or("no such document")?;
                check(forest_of(&[&self.documents[index].root]) == *forest, "other blocks than were said")?;
                self.documents.remove(index);
                Ok(())
            }
            Edit::UpdateDocument { before, after } => {
                let mut documents = self.documents.iter_mut();
                let document = documents.find(|document| document.record == *before).ok_or("no such document")?;
                document.record = after.clone();
                Ok(())
            }
            Edit::CreateFolder(_) | Edit::RemoveFolder(_) | Edit::UpdateFolder { .. } => {
                Err("the naive space has no folders".to_owned())
            }
            Edit::AddComment { .. } | Edit::RemoveComment { .. } | Edit::CreateAsset(_) | Edit::EraseAsset(_) => {
                Err("the naive space has neither comments nor files".to_owned())
            }
        }
    }

    fn remove(&mut self, slot: Slot, forest: &Forest) -> Result<(), String> {
        let count = forest.0.iter().filter(|node| node.depth == 0).count();
        check(count > 0, "it removes nothing")?;
        let start = self.index_of(slot)?;
        let siblings = &mut self.get_mut(slot.parent).children;
        let end = (start + count).min(siblings.len());
        let found: Vec<_> = siblings[start..end].iter().collect();
        check(forest_of(&found) == *forest, "other blocks than were said")?;
        siblings.drain(start..end);
        Ok(())
    }

    fn relocate(&mut self, block: BlockId, from: Slot, to: Slot) -> Result<(), String> {
        check(to.after != Some(block) && from != to, "it goes where it stands")?;
        check(!self.get(block).holds(to.parent), "it goes under itself")?;
        let start = self.index_of(from)?;
        let siblings = &mut self.get_mut(from.parent).children;
        check(siblings.get(start).is_some_and(|found| found.record.id == block), "the block stands elsewhere")?;
        let block = siblings.remove(start);
        self.put(to, vec![block])
    }

    fn put(&mut self, slot: Slot, blocks: Vec<NaiveBlock>) -> Result<(), String> {
        check(!blocks.is_empty(), "it puts nothing in")?;
        let index = self.index_of(slot)?;
        self.get_mut(slot.parent).children.splice(index..index, blocks);
        Ok(())
    }

    /// The place among the children of its parent that a slot means.
    fn index_of(&self, slot: Slot) -> Result<usize, String> {
        self.check_in(slot.parent, slot.document)?;
        let siblings = &self.get(slot.parent).children;
        let Some(after) = slot.after else { return Ok(0) };
        let found = siblings.iter().position(|sibling| sibling.record.id == after);
        found.map(|index| index + 1).ok_or_else(|| format!("{after} is no child of {}", slot.parent))
    }

    fn check_in(&self, block: BlockId, document: DocumentId) -> Result<(), String> {
        let found = self.document_of(block).map(|found| found.record.id);
        check(found == Some(document), &format!("block {block} is in {found:?}, not in {document}"))
    }

    /// The blocks of a forest, none of which is there yet.
    fn fresh(&self, forest: &Forest) -> Result<Vec<NaiveBlock>, String> {
        let known = self.ids();
        for node in &forest.0 {
            check(!known.contains(&node.block.id), &format!("block {} is there already", node.block.id))?;
        }
        let (blocks, rest) = grow(&forest.0, 0);
        check(rest.is_empty(), "the depths are not those of a tree")?;
        Ok(blocks)
    }
}

fn check(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.to_owned()) }
}

fn forest_of(blocks: &[&NaiveBlock]) -> Forest {
    let mut nodes = Vec::new();
    for block in blocks {
        flatten(block, 0, None, &mut nodes);
    }
    Forest(nodes)
}

/// The blocks of `depth` that the nodes begin with, and the nodes after them.
fn grow(mut nodes: &[Node], depth: u16) -> (Vec<NaiveBlock>, &[Node]) {
    let mut blocks = Vec::new();
    while let Some((first, rest)) = nodes.split_first().filter(|(first, _)| first.depth == depth) {
        let (children, rest) = grow(rest, depth + 1);
        blocks.push(NaiveBlock { record: first.block.clone(), children });
        nodes = rest;
    }
    (blocks, nodes)
}
