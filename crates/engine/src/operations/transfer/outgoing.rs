//! Links to blocks and to uploaded files become relative links.

use std::collections::{BTreeMap, HashMap, HashSet};

use leafbase_model::{AssetUrl, BlockData, BlockId, DocumentId, Result, Subtrees};
use leafbase_store::EdgeEnd;
use leafbase_tree_ops::ReadTree;

use crate::core::edges;
use crate::core::tree::Tree;
use crate::operations::collections::tables;
use crate::operations::transfer::anchors::Anchors;
use crate::operations::transfer::attachments::{Attachments, Shown};
use crate::operations::transfer::layout::Layout;
use crate::operations::transfer::rewriting::{linked_block, rewrite_urls};
use crate::operations::transfer::showing;
use crate::operations::transfer::urls;

/// Where the blocks stand that links of the export lead to.
#[derive(Debug)]
pub(super) struct Outgoing<'a> {
    layout: &'a Layout,
    /// The number of the document, and the anchor, of each block that is not a root.
    anchors: HashMap<BlockId, (usize, String)>,
    /// The uploaded files that documents of the export show.
    pub(super) attachments: Attachments,
}

impl<'a> Outgoing<'a> {
    /// Looks up every block that a document of `layout` links to, and every file that it shows.
    pub(super) fn of(tree: &Tree<'_>, layout: &'a Layout) -> Result<Self> {
        let (mut wanted, mut shown) = (HashSet::new(), Shown::default());
        for document in &layout.documents {
            for node in flat(tree, document.id)?.0 {
                shown.pictured.extend(showing::pictured(&node.block.data));
                edges::edges(&node.block.data, &mut |edge| match edge.to {
                    EdgeEnd::Block(block)
                        if !layout.numbers.contains_key(&DocumentId::of_root(block)) =>
                    {
                        wanted.insert(block);
                    }
                    EdgeEnd::Asset(file) => {
                        shown.files.insert(file);
                    }
                    _ => {}
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
            let known = Anchors::of_document(&flat(tree, document)?);
            let named =
                blocks.iter().filter_map(|block| Some((*block, (*number, known.name(*block)?))));
            anchors.extend(named);
        }
        Ok(Self {
            layout,
            anchors,
            attachments: Attachments::of(tree.full_reader()?, layout, &shown)?,
        })
    }

    /// Rewrites the links of a block of the file `from`. What is not exported stays a link to a
    /// block.
    pub(super) fn rewrite(&self, from: usize, data: &mut BlockData) {
        rewrite_urls(data, &mut |link| match AssetUrl::asset_of(link.url) {
            Some(file) => {
                let path = self.path_to(from, self.attachments.path(file)?)?;
                let fragment =
                    link.url.find('#').and_then(|at| link.url.get(at..)).unwrap_or_default();
                Some(path + fragment)
            }
            None => self.relative(from, linked_block(link.url)?),
        });
    }

    fn relative(&self, from: usize, block: BlockId) -> Option<String> {
        if let Some((number, anchor)) = self.anchors.get(&block) {
            let path = if *number == from { String::new() } else { self.path(from, *number)? };
            return Some(format!("{path}#{}", urls::encode(anchor)));
        }
        self.path(from, *self.layout.numbers.get(&DocumentId::of_root(block))?)
    }

    fn path(&self, from: usize, to: usize) -> Option<String> {
        self.path_to(from, &self.layout.documents.get(to)?.path)
    }

    fn path_to(&self, from: usize, to: &str) -> Option<String> {
        let from = self.layout.documents.get(from)?;
        Some(urls::encode(&urls::relative_path(&from.path, to)))
    }
}

/// A document as its file holds it.
fn flat(tree: &Tree<'_>, document: DocumentId) -> Result<Subtrees> {
    tables::flattened(tree, tree.subtree(document.root(), None)?, &mut |_, _| ())
}
