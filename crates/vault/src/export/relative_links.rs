//! Relative links of an export: links to blocks and to uploads become paths between files, and
//! uploads become attachments.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use leafbase::bulk::{self, SpaceView, Subtrees, plain_file_name};
use leafbase::{
    AssetId, AssetRecord, AssetUrl, BlockData, BlockId, DocumentId, Limits, Location, Result,
};

use super::layout::{ExportLayout, ExportedDocument};
use crate::file_names::{AllocatedNames, decode_attachment, fold, is_disguised, is_refused};
use crate::link_paths::{
    Anchors, directory, encode, file_name, fragment, linked_block, relative_path, rewrite_urls,
};
use crate::logseq_ids::{self, named_blocks};
use crate::report::{VaultWarning, VaultWarningKind};

/// The targets of all links in an export.
#[derive(Debug)]
pub(crate) struct RelativeLinks<'a> {
    layout: &'a ExportLayout,
    /// Document index and anchor of each linked block that is not a root.
    anchors: HashMap<BlockId, (usize, String)>,
    /// The ID that Logseq knows a linked block by.
    logseq_ids: HashMap<BlockId, String>,
    /// Those of these IDs that documents have.
    own_logseq_ids: HashSet<String>,
    /// Linked blocks that were deleted, or are in the trash.
    gone: HashSet<BlockId>,
    /// All anchors of the documents that these blocks are in.
    documents: HashMap<usize, Anchors>,
    attachments: Vec<ExportedAttachment>,
    /// Indices in `attachments`.
    numbers: HashMap<AssetId, usize>,
    warnings: Vec<VaultWarning>,
}

/// An upload and its path in the export.
#[derive(Debug)]
pub(crate) struct ExportedAttachment {
    pub(crate) record: AssetRecord,
    pub(crate) path: String,
    /// The media type that an import will detect, for a file that a block shows as a picture.
    detected_type: Option<String>,
}

/// The paths that files of a folder have.
#[derive(Debug, Default)]
pub(crate) struct AttachmentPaths {
    /// The files of uploads.
    pub(crate) known: HashMap<AssetId, String>,
    /// All files.
    pub(crate) taken: Vec<String>,
}

/// The targets that documents link to.
#[derive(Debug, Default)]
struct LinkTargets {
    blocks: HashSet<BlockId>,
    /// Documents that a block links to as a whole which was read with links to anchors.
    documents: BTreeSet<DocumentId>,
    files: BTreeSet<AssetId>,
    /// The paths that files had where they were read.
    source_paths: HashMap<AssetId, BTreeSet<String>>,
    /// The files among them that a block shows as a picture or a video.
    pictures: BTreeSet<AssetId>,
}

impl<'a> RelativeLinks<'a> {
    /// Collects the targets of all links in the exported documents.
    pub(super) fn new(view: &SpaceView<'_>, layout: &'a ExportLayout) -> Result<Self> {
        Self::of(view, layout, &layout.documents, &AttachmentPaths::default())
    }

    /// Collects the targets of the links in some documents of a layout.
    pub(crate) fn of(
        view: &SpaceView<'_>,
        layout: &'a ExportLayout,
        documents: &[ExportedDocument],
        paths: &AttachmentPaths,
    ) -> Result<Self> {
        let mut targets = LinkTargets::default();
        for document in documents {
            // A first traversal of all documents; the second one, which renders them, needs every
            // target.
            for node in flattened(view, document.id)?.0 {
                targets.add(layout, &node.block.data);
            }
        }
        let mut links = Self {
            layout,
            anchors: HashMap::new(),
            logseq_ids: HashMap::new(),
            own_logseq_ids: HashSet::new(),
            gone: HashSet::new(),
            documents: HashMap::new(),
            attachments: Vec::new(),
            numbers: HashMap::new(),
            warnings: Vec::new(),
        };
        let documents = std::mem::take(&mut targets.documents);
        links.add_anchors(view, std::mem::take(&mut targets.blocks), documents)?;
        links.add_attachments(view, &targets, paths)?;
        Ok(links)
    }

    fn add_anchors(
        &mut self,
        view: &SpaceView<'_>,
        blocks: HashSet<BlockId>,
        documents: BTreeSet<DocumentId>,
    ) -> Result<()> {
        // Document by document, so that each is read once.
        let mut by_document: BTreeMap<DocumentId, Vec<BlockId>> =
            documents.into_iter().map(|document| (document, Vec::new())).collect();
        for block in blocks {
            let document = view.document_of(block)?;
            let row = document.map(|document| view.document(document)).transpose()?.flatten();
            match row.map(|row| (row.record.id, row.record.location)) {
                None | Some((_, Location::Trash)) => drop(self.gone.insert(block)),
                Some((document, _)) => by_document.entry(document).or_default().push(block),
            }
        }
        for (document, blocks) in by_document {
            if let Some(number) = self.layout.numbers.get(&document) {
                let subtrees = flattened(view, document)?;
                let anchors = Anchors::of_document(&subtrees);
                let linked: HashSet<BlockId> = blocks.iter().copied().collect();
                let nodes = subtrees.0.iter().skip(1);
                let named = named_blocks(nodes.map(|node| (node.block.id, &node.block.data)));
                for (id, block) in named.into_iter().filter(|(_, block)| linked.contains(block)) {
                    self.logseq_ids.entry(block).or_insert_with(|| id.to_owned());
                    self.own_logseq_ids.insert(id.to_owned());
                }
                for node in subtrees.0.iter().filter(|node| linked.contains(&node.block.id)) {
                    if let Some(id) = logseq_ids::new_id(node.block.id, &node.block.data) {
                        self.logseq_ids.entry(node.block.id).or_insert(id);
                    }
                }
                self.anchors.extend(
                    blocks
                        .iter()
                        .filter_map(|block| Some((*block, (*number, anchors.name(*block)?)))),
                );
                self.documents.insert(*number, anchors);
            }
        }
        Ok(())
    }

    fn add_attachments(
        &mut self,
        view: &SpaceView<'_>,
        targets: &LinkTargets,
        paths: &AttachmentPaths,
    ) -> Result<()> {
        let mut records = Vec::new();
        for file in &targets.files {
            records.extend(view.file(*file)?);
        }
        // By name, then by ID: file names do not depend on the traversal order.
        records.sort_by(|one, other| (&one.file_name, one.id).cmp(&(&other.file_name, other.id)));
        let mut names = AllocatedNames::default();
        let mut taken: HashSet<String> =
            self.layout.documents.iter().map(|document| fold(&document.path)).collect();
        taken.extend(self.layout.directories.iter().map(|path| fold(path)));
        taken.extend(paths.taken.iter().map(|path| fold(path)));
        let mut own_paths = HashMap::new();
        for record in &records {
            let known = paths.known.get(&record.id).cloned();
            let source = targets.source_paths.get(&record.id).into_iter().flatten();
            let mut own = source.filter(|path| {
                let name = decode_attachment(file_name(path));
                // The name of an upload has no characters that some system refuses.
                plain_file_name(&name).as_ref() == Some(&record.file_name)
                    || file_name(path) == record.file_name
            });
            let path = known.or_else(|| own.find(|path| !taken.contains(&fold(path))).cloned());
            if let Some(path) = path {
                taken.insert(fold(&path));
                if directory(&path) == self.layout.attachments {
                    names.reserve(file_name(&path));
                }
                own_paths.insert(record.id, path);
            }
        }
        for path in &paths.taken {
            if directory(path) == self.layout.attachments {
                names.reserve(file_name(path));
            }
        }
        for record in records {
            let own_path = own_paths.remove(&record.id);
            let has_own_path = own_path.is_some();
            let path = own_path.unwrap_or_else(|| {
                let name = names.claim_attachment(&record.file_name);
                format!("{}/{name}", self.layout.attachments)
            });
            if is_disguised(&record.file_name) && !has_own_path {
                let message = format!(
                    "the uploaded file {:?} gets another extension, because it is not a document",
                    record.file_name
                );
                let kind = VaultWarningKind::Attachment;
                self.warnings.push(VaultWarning::of_file(path.as_str(), kind, message));
            }
            if has_own_path && is_refused(file_name(&path)) {
                let message = "some systems refuse the name, which is written as it was";
                let kind = VaultWarningKind::FileName;
                self.warnings.push(VaultWarning::of_file(path.as_str(), kind, message));
            }
            let is_picture = targets.pictures.contains(&record.id);
            let detected_type = if is_picture { Some(view.detected_type(&record)?) } else { None };
            self.numbers.insert(record.id, self.attachments.len());
            self.attachments.push(ExportedAttachment { record, path, detected_type });
        }
        Ok(())
    }

    pub(crate) fn attachments(&self) -> &[ExportedAttachment] {
        &self.attachments
    }

    /// Whether a link to a block may be written as one to this anchor of a document.
    pub(super) fn leads_to(&self, number: usize, anchor: Option<&str>, block: BlockId) -> bool {
        match (self.anchors.get(&block), anchor) {
            (Some((in_document, _)), Some(anchor)) => {
                let anchors = self.documents.get(&number);
                *in_document == number
                    && anchors.is_some_and(|anchors| anchors.find(anchor) == Some(block))
            }
            (Some(_), None) => false,
            // A link to an anchor that is missing leads to the document.
            (None, anchor) => {
                let is_missing = |anchor: &str| {
                    let anchors = self.documents.get(&number);
                    anchors.is_none_or(|anchors| anchors.find(anchor).is_none())
                };
                self.layout.numbers.get(&DocumentId::of_root(block)) == Some(&number)
                    && anchor.is_none_or(is_missing)
            }
        }
    }

    /// The path of the file of an upload.
    pub(super) fn attachment_path(&self, file: AssetId) -> Option<&str> {
        self.attachment(file).map(|attachment| attachment.path.as_str())
    }

    /// The name of an upload.
    pub(super) fn attachment_name(&self, file: AssetId) -> Option<&String> {
        self.attachment(file).map(|attachment| &attachment.record.file_name)
    }

    pub(super) const fn layout(&self) -> &'a ExportLayout {
        self.layout
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

    /// The document of a link to a block, and the name that the author gave the block, if the link
    /// leads to no root.
    pub(super) fn named_target(&self, block: BlockId) -> Option<(usize, Option<&str>)> {
        match self.anchors.get(&block) {
            Some((number, anchor)) => {
                let name = anchor.strip_prefix('^')?;
                let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
                (!is_number).then_some((*number, Some(anchor.as_str())))
            }
            None => Some((*self.layout.numbers.get(&DocumentId::of_root(block))?, None)),
        }
    }

    /// The ID that Logseq knows a block by, if another one links to it.
    pub(super) fn logseq_id(&self, block: BlockId) -> Option<&str> {
        self.logseq_ids.get(&block).map(String::as_str)
    }

    /// That ID, if the document has it.
    pub(super) fn own_logseq_id(&self, block: BlockId) -> Option<&str> {
        self.logseq_id(block).filter(|id| self.is_own_logseq_id(id))
    }

    /// Whether a block that another one links to has this ID in its document.
    pub(super) fn is_own_logseq_id(&self, id: &str) -> bool {
        self.own_logseq_ids.contains(id)
    }

    /// Whether a linked block is in an exported document.
    pub(super) fn is_exported(&self, block: BlockId) -> bool {
        self.anchors.contains_key(&block) || self.document_number(block).is_some()
    }

    /// Whether a linked block was deleted, or is in the trash.
    pub(super) fn is_gone(&self, block: BlockId) -> bool {
        self.gone.contains(&block)
    }

    /// The document whose root a link leads to.
    pub(super) fn document_number(&self, block: BlockId) -> Option<usize> {
        self.layout.numbers.get(&DocumentId::of_root(block)).copied()
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
        let attachment = bulk::shown_as_picture(data).and_then(|file| self.attachment(file));
        let Some(ExportedAttachment { record, detected_type: Some(detected), .. }) = attachment
        else {
            return false;
        };
        let url = AssetUrl::new(record.id, record.file_name.as_str());
        bulk::fit_block_type(data, detected, &url, limits)
    }
}

impl LinkTargets {
    fn add(&mut self, layout: &ExportLayout, data: &BlockData) {
        self.pictures.extend(bulk::shown_as_picture(data));
        let links = data.layout.iter().flat_map(|layout| &layout.links);
        let has_anchors = links.clone().any(|link| link.text.contains('#'));
        bulk::linked_blocks(data, &mut |block| {
            // The root of an exported document needs no anchor.
            let document = DocumentId::of_root(block);
            if !layout.numbers.contains_key(&document) {
                self.blocks.insert(block);
            } else if has_anchors {
                self.documents.insert(document);
            }
        });
        let paths: Vec<&str> = links.filter_map(|link| link.attachment.as_deref()).collect();
        let mut shown = Vec::new();
        bulk::shown_files(data, &mut |file| shown.push(file));
        for (number, file) in shown.iter().enumerate() {
            self.files.insert(*file);
            // Both are in their order; after an edit any of the paths may be the file's.
            let paths = match paths.get(number..=number) {
                Some(path) if paths.len() == shown.len() => path,
                _ => paths.as_slice(),
            };
            if !paths.is_empty() {
                let known = self.source_paths.entry(*file).or_default();
                known.extend(paths.iter().map(|path| (*path).to_owned()));
            }
        }
    }
}

impl ExportedAttachment {
    /// Its size in bytes.
    pub(super) const fn size(&self) -> u64 {
        self.record.size
    }
}

/// A document as its file contains it: with tables in the place of collections.
fn flattened(view: &SpaceView<'_>, document: DocumentId) -> Result<Subtrees> {
    view.flattened(view.subtree(document.root())?, &mut |_, _| ())
}
