//! When all files are read: links to headings get the IDs of their blocks, and links to files that
//! were left out after all become relative again.

use std::collections::{HashMap, HashSet};

use leafbase_model::{BlockId, Edit, Result};
use leafbase_tree_ops::ReadTree;

use crate::core::access::Full;
use crate::core::connection::Connection;
use crate::operations::transfer::anchors::Anchors;
use crate::operations::transfer::incoming::{Anchored, Loose};
use crate::operations::transfer::plan::Plan;
use crate::operations::transfer::report::{Adaptation, AdaptationKind};
use crate::operations::transfer::rewriting::{block_url, linked_block, rewrite_urls};
use crate::operations::transfer::steps::Steps;
use crate::operations::transfer::targets::FileIndex;
use crate::operations::transfer::urls;

/// Blocks that are changed in one transaction.
const BATCH: usize = 1_000;

/// A link with its block and the file that it is of.
type LooseLink = (BlockId, FileIndex, Loose);

/// The last part of an import.
pub(super) struct Settling<'a> {
    pub(super) connection: &'a Connection<Full>,
    pub(super) plan: &'a Plan,
    /// Whether a file was imported.
    pub(super) made: &'a dyn Fn(FileIndex) -> bool,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Settled {
    pub(super) remarks: Vec<Adaptation>,
    /// Whether anchors were left that were not looked for.
    pub(super) canceled: bool,
}

/// What the anchors of links name.
#[derive(Debug, Default)]
struct Found {
    /// The block for each ID that stands in for one.
    blocks: HashMap<BlockId, BlockId>,
    /// The files that were not looked at.
    left: HashSet<FileIndex>,
}

impl Settling<'_> {
    /// Settles the `loose` links.
    pub(super) fn settle(
        &self,
        anchored: &Anchored,
        loose: &[LooseLink],
        steps: &mut Steps<'_>,
    ) -> Result<Settled> {
        let found = self.find_anchors(anchored, steps)?;
        let mut remarks = Vec::new();
        let mut changes: Vec<(BlockId, HashMap<BlockId, String>)> = Vec::new();
        let made = self.made;
        let unsettled = |(_, from, link): &&LooseLink| {
            made(*from) && (link.anchor.is_some() || !made(link.file))
        };
        for (block, from, link) in loose.iter().filter(unsettled) {
            let (url, remark) = self.settled(*from, link, &found);
            if let (Some((kind, message)), Some(file)) = (remark, self.plan.files.get(*from)) {
                remarks.push(Adaptation {
                    path: file.path.clone(),
                    line: link.line,
                    kind,
                    message,
                });
            }
            // The links of one block stand together.
            match changes.last_mut().filter(|(last, _)| last == block) {
                Some((_, urls)) => drop(urls.insert(link.id, url)),
                None => changes.push((*block, HashMap::from([(link.id, url)]))),
            }
        }
        let batches = changes.chunks(BATCH);
        steps.add(batches.len());
        // Whoever breaks off now still gets these: links would dangle.
        for changes in batches {
            write(self.connection, changes)?;
            steps.count();
            steps.tell();
        }
        Ok(Settled { remarks, canceled: !found.left.is_empty() })
    }

    /// The blocks that the anchors of links name. Those of an import that was broken off before are
    /// few enough to go on.
    fn find_anchors(&self, anchored: &Anchored, steps: &mut Steps<'_>) -> Result<Found> {
        let mut files: Vec<_> =
            anchored.by_file().into_iter().filter(|(file, _)| (self.made)(*file)).collect();
        files.sort_unstable_by_key(|(file, _)| *file);
        let was_broken_off = steps.is_broken_off();
        steps.add(files.len());
        let mut found = Found::default();
        self.connection.operation("import_folder").read(|tree| {
            for (file, anchors) in files {
                if steps.is_broken_off() && !was_broken_off {
                    found.left.insert(file);
                    continue;
                }
                if let Some(document) = self.plan.files.get(file).map(|file| file.id) {
                    let known = Anchors::of_document(&tree.subtree(document.root(), None)?);
                    found.blocks.extend(
                        anchors.iter().filter_map(|(anchor, id)| Some((*id, known.find(anchor)?))),
                    );
                }
                steps.count();
                steps.tell();
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// What a loose link's URL is in the end, and what is to be said about it.
    fn settled(
        &self,
        from: FileIndex,
        link: &Loose,
        found: &Found,
    ) -> (String, Option<(AdaptationKind, String)>) {
        let path =
            |file: FileIndex| self.plan.files.get(file).map_or("", |file| file.path.as_str());
        let target = path(link.file);
        if !(self.made)(link.file) {
            let mut url = urls::encode(&urls::relative_path(path(from), target));
            if let Some(anchor) = &link.anchor {
                url = format!("{url}#{}", urls::encode(anchor));
            }
            let message = format!("{target} was not imported; the link to it is kept as {url}");
            return (url, Some((AdaptationKind::UnresolvedPath, message)));
        }
        if let Some(block) = found.blocks.get(&link.id) {
            return (block_url(*block), None);
        }
        let anchor = link.anchor.as_deref().unwrap_or_default();
        let why = if found.left.contains(&link.file) {
            format!("#{anchor} was not looked for in {target}, for the import was broken off")
        } else {
            format!("{target} has nothing called #{anchor}")
        };
        let document =
            self.plan.files.get(link.file).map(|file| file.id.root()).unwrap_or_default();
        (
            block_url(document),
            Some((AdaptationKind::MissingAnchor, format!("{why}; the link leads to the document"))),
        )
    }
}

fn write(
    connection: &Connection<Full>,
    changes: &[(BlockId, HashMap<BlockId, String>)],
) -> Result<()> {
    connection.operation("import_folder").write(|transaction| {
        let edits = transaction.plan(|tree, context| {
            let mut edits = Vec::with_capacity(changes.len());
            for (block, urls) in changes {
                // Someone else may have deleted it meanwhile.
                let (Some(before), Some(located)) = (tree.block(*block)?, tree.locate(*block)?)
                else {
                    continue;
                };
                let mut after = before.clone();
                if rewrite_urls(&mut after.data, &mut |link| {
                    urls.get(&linked_block(link.url)?).cloned()
                }) {
                    after.rev += 1;
                    after.modified = context.stamp.clone();
                    edits.push(Edit::Update {
                        document: located.document,
                        before: before.into(),
                        after: after.into(),
                    });
                }
            }
            Ok(edits)
        })?;
        transaction.apply(edits)
    })?;
    Ok(())
}
