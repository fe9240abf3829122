//! Links to blocks become relative links.

use std::collections::{BTreeMap, HashMap, HashSet};

use leafbase_model::{BlockData, BlockId, DocumentId, Result};
use leafbase_store::EdgeEnd;
use leafbase_tree_ops::ReadTree;

use crate::links;
use crate::transfer::anchors::Anchors;
use crate::transfer::layout::Layout;
use crate::transfer::rewriting::{linked_block, rewrite_urls};
use crate::transfer::urls;

/// Where the blocks stand that links of the export lead to.
#[derive(Debug)]
pub(super) struct Outgoing<'a> {
    layout: &'a Layout,
    /// The number of the document, and the anchor, of each block that is not a root.
    anchors: HashMap<BlockId, (usize, String)>,
}

impl<'a> Outgoing<'a> {
    /// Looks up every block that a document of `layout` links to.
    pub(super) fn of<T: ReadTree>(tree: &T, layout: &'a Layout) -> Result<Self> {
        let mut wanted = HashSet::new();
        for document in &layout.documents {
            for node in tree.subtree(document.id.root(), None)?.0 {
                links::edges(&node.block.data, &mut |edge| {
                    if let EdgeEnd::Block(block) = edge.to
                        && !layout.numbers.contains_key(&DocumentId::of_root(block))
                    {
                        wanted.insert(block);
                    }
                });
            }
        }
        let mut by_document: BTreeMap<DocumentId, Vec<BlockId>> = BTreeMap::new();
        for block in wanted {
            if let Some(located) = tree.locate(block)? {
                by_document.entry(located.document).or_default().push(block);
            }
        }
        let mut anchors = HashMap::new();
        for (document, blocks) in by_document {
            let Some(number) = layout.numbers.get(&document) else { continue };
            let known = Anchors::of_document(&tree.subtree(document.root(), None)?);
            let named = blocks.iter().filter_map(|block| Some((*block, (*number, known.name(*block)?))));
            anchors.extend(named);
        }
        Ok(Self { layout, anchors })
    }

    /// Rewrites the links of a block of the file `from`. What is not exported stays a link to a block.
    pub(super) fn rewrite(&self, from: usize, data: &mut BlockData) {
        rewrite_urls(data, &mut |link| self.relative(from, linked_block(link.url)?));
    }

    fn relative(&self, from: usize, block: BlockId) -> Option<String> {
        if let Some((number, anchor)) = self.anchors.get(&block) {
            let path = if *number == from { String::new() } else { self.path(from, *number)? };
            return Some(format!("{path}#{}", urls::encode(anchor)));
        }
        self.path(from, *self.layout.numbers.get(&DocumentId::of_root(block))?)
    }

    fn path(&self, from: usize, to: usize) -> Option<String> {
        let path = |number: usize| self.layout.documents.get(number).map(|document| document.path.as_str());
        Some(urls::encode(&urls::relative_path(path(from)?, path(to)?)))
    }
}
