//! Relative links of an export: links to blocks and to uploads become paths between files, and
//! uploads become attachments.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{self, Write};

use leafbase_model::{
    AssetId, AssetRecord, AssetUrl, BlockData, BlockId, DocumentId, Error, Limits, Result, Subtrees,
};
use leafbase_store::{EdgeEnd, SpaceReader};
use leafbase_tree_ops::ReadTree;

use super::layout::ExportLayout;
use crate::core::edges;
use crate::core::tree::Tree;
use crate::operations::collections::tables;
use crate::operations::files;
use crate::operations::vault::file_names::{AllocatedNames, is_disguised};
use crate::operations::vault::link_paths::{
    Anchors, encode, fragment, linked_block, relative_path, rewrite_urls,
};
use crate::operations::vault::report::{VaultWarning, VaultWarningKind};

/// The targets of all links in an export.
#[derive(Debug)]
pub(super) struct RelativeLinks<'a> {
    layout: &'a ExportLayout,
    /// Document index and anchor of each linked block that is not a root.
    anchors: HashMap<BlockId, (usize, String)>,
    attachments: Vec<ExportedAttachment>,
    /// Indices in `attachments`.
    numbers: HashMap<AssetId, usize>,
    warnings: Vec<VaultWarning>,
}

/// An upload and its path in the export.
#[derive(Debug)]
pub(super) struct ExportedAttachment {
    record: AssetRecord,
    pub(super) path: String,
    /// The media type that an import will detect, for a file that a block shows as a picture.
    detected_type: Option<String>,
}

/// The targets that documents link to.
#[derive(Debug, Default)]
struct LinkTargets {
    blocks: HashSet<BlockId>,
    files: BTreeSet<AssetId>,
    /// The files among them that a block shows as a picture or a video.
    pictures: BTreeSet<AssetId>,
}

impl<'a> RelativeLinks<'a> {
    /// Collects the targets of all links in the exported documents.
    pub(super) fn new(
        tree: &Tree<'_>,
        reader: SpaceReader<'_>,
        layout: &'a ExportLayout,
    ) -> Result<Self> {
        let mut targets = LinkTargets::default();
        for document in &layout.documents {
            // A first traversal of all documents; the second one, which renders them, needs every
            // target.
            for node in flattened(tree, document.id)?.0 {
                targets.add(layout, &node.block.data);
            }
        }
        let mut links = Self {
            layout,
            anchors: HashMap::new(),
            attachments: Vec::new(),
            numbers: HashMap::new(),
            warnings: Vec::new(),
        };
        links.add_anchors(tree, targets.blocks)?;
        links.add_attachments(reader, &targets.files, &targets.pictures)?;
        Ok(links)
    }

    fn add_anchors(&mut self, tree: &Tree<'_>, blocks: HashSet<BlockId>) -> Result<()> {
        // Document by document, so that each is read once.
        let mut by_document: BTreeMap<DocumentId, Vec<BlockId>> = BTreeMap::new();
        for block in blocks {
            if let Some(located) = tree.locate(block)? {
                by_document.entry(located.document).or_default().push(block);
            }
        }
        for (document, blocks) in by_document {
            if let Some(number) = self.layout.numbers.get(&document) {
                let anchors = Anchors::of_document(&flattened(tree, document)?);
                self.anchors.extend(
                    blocks
                        .iter()
                        .filter_map(|block| Some((*block, (*number, anchors.name(*block)?)))),
                );
            }
        }
        Ok(())
    }

    fn add_attachments(
        &mut self,
        reader: SpaceReader<'_>,
        files: &BTreeSet<AssetId>,
        pictures: &BTreeSet<AssetId>,
    ) -> Result<()> {
        let mut records = Vec::new();
        for file in files {
            records.extend(reader.asset(*file)?);
        }
        // By name, then by ID: file names do not depend on the traversal order.
        records.sort_by(|one, other| (&one.file_name, one.id).cmp(&(&other.file_name, other.id)));
        let mut names = AllocatedNames::default();
        for record in records {
            let name = names.claim_attachment(&record.file_name);
            let path = format!("{}/{name}", self.layout.attachments);
            if is_disguised(&record.file_name) {
                let message = format!(
                    "the uploaded file {:?} gets another extension, because it is not a document",
                    record.file_name
                );
                let kind = VaultWarningKind::Attachment;
                self.warnings.push(VaultWarning::of_file(path.as_str(), kind, message));
            }
            let is_picture = pictures.contains(&record.id);
            let detected_type =
                if is_picture { Some(detected_type(reader, &record)?) } else { None };
            self.numbers.insert(record.id, self.attachments.len());
            self.attachments.push(ExportedAttachment { record, path, detected_type });
        }
        Ok(())
    }

    pub(super) fn attachments(&self) -> &[ExportedAttachment] {
        &self.attachments
    }

    pub(super) fn warnings(&self) -> &[VaultWarning] {
        &self.warnings
    }

    /// Rewrites the links of a block in the document of index `from`. A link to a block that is not
    /// exported stays.
    pub(super) fn rewrite(&self, from: usize, data: &mut BlockData) {
        debug_assert!(
            from < self.layout.documents.len(),
            "links are rewritten in exported documents"
        );
        rewrite_urls(data, &mut |link| match AssetUrl::asset_of(link.url) {
            Some(file) => {
                let path = self.path_to(from, &self.attachment(file)?.path)?;
                Some(path + fragment(link.url))
            }
            None => self.url_of_block(from, linked_block(link.url)?),
        });
    }

    fn url_of_block(&self, from: usize, block: BlockId) -> Option<String> {
        match self.anchors.get(&block) {
            Some((number, anchor)) if *number == from => Some(format!("#{}", encode(anchor))),
            Some((number, anchor)) => {
                Some(format!("{}#{}", self.path_to_document(from, *number)?, encode(anchor)))
            }
            None => {
                let number = self.layout.numbers.get(&DocumentId::of_root(block))?;
                self.path_to_document(from, *number)
            }
        }
    }

    fn path_to_document(&self, from: usize, to: usize) -> Option<String> {
        self.path_to(from, &self.layout.documents.get(to)?.path)
    }

    fn path_to(&self, from: usize, to: &str) -> Option<String> {
        let from = self.layout.documents.get(from)?;
        Some(encode(&relative_path(&from.path, to)))
    }

    fn attachment(&self, file: AssetId) -> Option<&ExportedAttachment> {
        self.attachments.get(*self.numbers.get(&file)?)
    }

    /// Gives an image or a video the block type that an import will give it. Returns whether it
    /// changed.
    pub(super) fn fit_block_type(&self, data: &mut BlockData, limits: &Limits) -> bool {
        let attachment = files::shown_as_picture(data).and_then(|file| self.attachment(file));
        let Some(ExportedAttachment { record, detected_type: Some(detected), .. }) = attachment
        else {
            return false;
        };
        let url = AssetUrl::new(record.id, record.file_name.as_str());
        files::fit_block_type(data, detected, &url, limits)
    }
}

impl LinkTargets {
    fn add(&mut self, layout: &ExportLayout, data: &BlockData) {
        self.pictures.extend(files::shown_as_picture(data));
        edges::edges(data, &mut |edge| match edge.to {
            // The root of an exported document needs no anchor.
            EdgeEnd::Block(block) if !layout.numbers.contains_key(&DocumentId::of_root(block)) => {
                self.blocks.insert(block);
            }
            EdgeEnd::Asset(file) => {
                self.files.insert(file);
            }
            _ => {}
        });
    }
}

/// The media type that the bytes show when none is declared.
fn detected_type(reader: SpaceReader<'_>, record: &AssetRecord) -> Result<String> {
    let head = reader.chunk(record.id, 0)?;
    let head = head.as_deref().unwrap_or(&[]);
    Ok(files::media_type(None, head, head.len() as u64 == record.size))
}

impl ExportedAttachment {
    /// Its size in bytes.
    pub(super) const fn size(&self) -> u64 {
        self.record.size
    }

    /// Writes its bytes, one chunk at a time.
    pub(super) fn write(&self, reader: SpaceReader<'_>, out: &mut dyn Write) -> io::Result<()> {
        let missing = || Error::corrupted(format_args!("file {}", self.record.id));
        let (mut written, mut number) = (0, 0);
        while written < self.record.size {
            let chunk = reader.chunk(self.record.id, number);
            let chunk = chunk.and_then(|chunk| chunk.ok_or_else(missing));
            let chunk = chunk.map_err(io::Error::other)?;
            out.write_all(&chunk)?;
            written += chunk.len() as u64;
            number += 1;
        }
        Ok(())
    }
}

/// A document as its file contains it: with tables in the place of collections.
fn flattened(tree: &Tree<'_>, document: DocumentId) -> Result<Subtrees> {
    tables::flattened(tree, tree.subtree(document.root(), None)?, &mut |_, _| ())
}
