//! The block tree of a document: lost blocks are reconstructed in their positions, and unreachable
//! ones move below the root.

use std::collections::{BTreeMap, HashMap, HashSet};

use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockRecord, BlockType, DocumentId, Properties, PropertyValue,
    Result, SubtreeNode, Subtrees,
};

use super::inventory::{Inventory, ReconstructedBlock};
use super::{CONTINUE, DATA_IS_LOST, LossKind, Salvager};
use crate::keyspaces;
use crate::kv::{KeyRange, Read};
use crate::records::block::{self, AuthorCache};
use crate::run::RunView;

/// A child with the order key of its run.
type RunChild = (Vec<u8>, BlockId);

/// The blocks of a document, by parent.
#[derive(Default)]
struct DocumentBlocks {
    blocks: HashMap<BlockId, BlockRecord>,
    children: BTreeMap<BlockId, Vec<RunChild>>,
}

impl Salvager<'_> {
    /// All blocks of a document, with the reconstructed ones.
    pub(super) fn subtrees(
        &mut self,
        document: DocumentId,
        inventory: &Inventory,
    ) -> Result<Subtrees> {
        let mut tree = DocumentBlocks::default();
        self.read_blocks(document, inventory, &mut tree)?;
        for (id, reconstructed) in inventory
            .reconstructed
            .iter()
            .filter(|(_, reconstructed)| reconstructed.known.document == document)
        {
            tree.blocks.insert(*id, self.reconstructed_record(*id, reconstructed));
            let siblings = tree.children.entry(reconstructed.known.parent).or_default();
            // Without a hint it goes to the end: no order key is greater.
            let order = reconstructed.order.clone().unwrap_or_else(|| vec![0xff; 8]);
            // Before the first child with a greater order key: siblings keep their order.
            let at =
                siblings.iter().position(|(other, _)| *other > order).unwrap_or(siblings.len());
            siblings.insert(at, (order, *id));
        }
        self.complete_root(document, inventory, &mut tree);
        self.repair(document, inventory, &mut tree);
        Ok(self.in_order(document, tree))
    }

    fn read_blocks(
        &mut self,
        document: DocumentId,
        inventory: &Inventory,
        tree: &mut DocumentBlocks,
    ) -> Result<()> {
        let (start, reader, mut authors) =
            (keyspaces::document_runs(document), self.reader, AuthorCache::default());
        reader.scan(
            KeyRange::half_open(&start, &keyspaces::prefix_end(start)),
            &mut |key, value| {
                let (Some((_, parent, order)), Ok(run)) =
                    (keyspaces::parse_run(key), RunView::read(key, value))
                else {
                    return Ok(CONTINUE);
                };
                for (id, record) in run.entries() {
                    let is_here = inventory
                        .known
                        .get(&id)
                        .is_some_and(|known| (known.document, known.parent) == (document, parent));
                    if !is_here || tree.blocks.contains_key(&id) {
                        continue;
                    }
                    if let Ok(block) = block::decode(id, record, &mut authors) {
                        tree.blocks.insert(id, block);
                        tree.children.entry(parent).or_default().push((order.to_vec(), id));
                    } else {
                        self.report.lose(
                            LossKind::Block,
                            format_args!("block {id}"),
                            "it does not decode",
                        );
                    }
                }
                Ok(CONTINUE)
            },
        )
    }

    /// Reconstructs a root that the inventory has read and that is unreadable now: bytes of a
    /// failing disk may differ from one read to the next.
    fn complete_root(
        &mut self,
        document: DocumentId,
        inventory: &Inventory,
        tree: &mut DocumentBlocks,
    ) {
        let root = document.root();
        if tree.blocks.contains_key(&root) {
            return;
        }
        let reconstructed = inventory.reconstructed_at(root, document, None);
        tree.blocks.insert(root, self.reconstructed_record(root, &reconstructed));
        self.report.lose(LossKind::Block, format_args!("block {root}"), DATA_IS_LOST);
    }

    fn reconstructed_record(&self, id: BlockId, reconstructed: &ReconstructedBlock) -> BlockRecord {
        if let Some(block) = &reconstructed.block {
            return block.clone();
        }
        let data = match reconstructed.known.block_type {
            BlockType::Page => BlockData::page(reconstructed.name.clone()),
            BlockType::Collection => BlockData {
                inline: reconstructed.name.clone(),
                ..BlockData::new(BlockKind::Collection)
            },
            BlockType::CollectionItem => {
                let kind = BlockKind::CollectionItem { properties: Properties::default() };
                BlockData { inline: reconstructed.name.clone(), ..BlockData::new(kind) }
            }
            _ => BlockData::text(reconstructed.name.clone()),
        };
        BlockRecord { id, rev: 1, created: self.stamp.clone(), modified: self.stamp.clone(), data }
    }

    /// Moves misplaced blocks to the end of the document, and turns items outside of collections
    /// into pages.
    fn repair(&mut self, document: DocumentId, inventory: &Inventory, tree: &mut DocumentBlocks) {
        let root = document.root();
        let mut strays = Vec::new();
        let parents: Vec<BlockId> = tree.children.keys().copied().collect();
        for parent in parents {
            let parent_type = tree.blocks.get(&parent).map(|block| block.data.block_type());
            let Some(children) = tree.children.get_mut(&parent) else { continue };
            children.retain(|(order, id)| {
                let is_item = tree.blocks.get(id).is_some_and(|block| is_item(&block.data));
                let fits = match parent_type {
                    None => parent.is_nil() && *id == root,
                    Some(BlockType::Collection) => is_item,
                    Some(parent_type) => parent_type.holds_blocks() && *id != root,
                };
                if !fits {
                    strays.push((order.clone(), *id));
                }
                fits
            });
        }
        strays.retain(|(_, id)| *id != root);
        tree.children.entry(root).or_default().extend(strays);
        tree.children.entry(BlockId::NIL).or_insert_with(|| vec![(Vec::new(), root)]);
        self.repair_items(inventory, tree);
    }

    fn repair_items(&mut self, inventory: &Inventory, tree: &mut DocumentBlocks) {
        let is_collection = |blocks: &HashMap<BlockId, BlockRecord>, id: &BlockId| {
            blocks.get(id).is_some_and(|block| block.data.block_type() == BlockType::Collection)
        };
        for (parent, children) in &tree.children {
            let stays_item = is_collection(&tree.blocks, parent);
            for (_, id) in children {
                let Some(block) = tree.blocks.get_mut(id).filter(|block| is_item(&block.data))
                else {
                    continue;
                };
                if stays_item {
                    self.repair_values(*parent, inventory, block);
                } else {
                    self.report.lose(
                        LossKind::Value,
                        format_args!("block {id}"),
                        "it is a page now, and its values are lost",
                    );
                    block.data = BlockData { kind: BlockData::page("").kind, ..block.data.clone() };
                }
            }
        }
    }

    /// Removes values that do not match the schema, and relations to other blocks than items of the
    /// target.
    fn repair_values(
        &mut self,
        collection: BlockId,
        inventory: &Inventory,
        block: &mut BlockRecord,
    ) {
        // Only items of known collections have values to repair.
        let BlockKind::CollectionItem { properties } = &mut block.data.kind else { return };
        let Some(indexed) = inventory.schemas.get(&collection) else { return };
        let values: Vec<(String, PropertyValue)> =
            properties.iter().map(|(key, value)| (key.to_owned(), value.clone())).collect();
        for (key, value) in values {
            let kind = indexed.schema.property(&key).map(|property| &property.kind);
            let kept = match (kind.and_then(|kind| kind.relation()), &value) {
                (Some(relation), PropertyValue::Relations(items)) if relation.owner => {
                    let is_there = |item: &&BlockId| inventory.is_item_of(**item, relation.target);
                    let kept: Vec<BlockId> = items.iter().filter(is_there).copied().collect();
                    (!kept.is_empty()).then_some(PropertyValue::Relations(kept))
                }
                _ => kind
                    .filter(|kind| kind.has_form(&value) && kind.relation().is_none())
                    .map(|_| value.clone()),
            };
            if kept.as_ref() != Some(&value) {
                self.report.lose(
                    LossKind::Value,
                    format_args!("block {}", block.id),
                    format_args!("the value of {key:?} is lost in part or completely"),
                );
                properties.set(key, kept);
            }
        }
    }

    /// The blocks in reading order; a cycle is broken and moved below the root.
    fn in_order(&mut self, document: DocumentId, mut tree: DocumentBlocks) -> Subtrees {
        let root = document.root();
        let (mut nodes, mut done) = (Vec::new(), HashSet::new());
        let mut waiting = vec![(0, root)];
        loop {
            while let Some((depth, id)) = waiting.pop() {
                let Some(block) = tree.blocks.remove(&id) else { continue };
                debug_assert!(!done.contains(&id), "a block is taken out of the map once");
                done.insert(id);
                nodes.push(SubtreeNode { depth, block });
                let children = tree.children.remove(&id).unwrap_or_default();
                waiting.extend(
                    children.into_iter().rev().map(|(_, child)| (depth.saturating_add(1), child)),
                );
            }
            // What is left was not reachable from the root: its ancestors form a cycle.
            let Some(left) = tree.blocks.keys().min().copied() else { return Subtrees(nodes) };
            let message = "it was its own ancestor, and is at the end of its document now";
            self.report.lose(LossKind::Block, format_args!("block {left}"), message);
            if let Some(block) = tree.blocks.get_mut(&left).filter(|block| is_item(&block.data)) {
                block.data.kind = BlockData::page("").kind;
            }
            waiting.push((1, left));
        }
    }
}

fn is_item(data: &BlockData) -> bool {
    data.block_type() == BlockType::CollectionItem
}
