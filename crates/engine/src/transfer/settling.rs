//! When all files are read: links to headings get the IDs of their blocks, and links to files that were left out after all become
//! relative again.

use std::collections::HashMap;

use leafbase_model::{BlockId, Edit, Result};
use leafbase_tree_ops::ReadTree;

use crate::connection::Connection;
use crate::sight::Full;
use crate::transfer::anchors::Anchors;
use crate::transfer::incoming::{Anchored, Loose};
use crate::transfer::plan::Plan;
use crate::transfer::report::{Adaptation, AdaptationKind};
use crate::transfer::rewriting::{block_url, linked_block, rewrite_urls};
use crate::transfer::targets::FileIndex;
use crate::transfer::urls;

/// Blocks that are changed in one transaction.
const BATCH: usize = 1_000;

/// Settles the `loose` links, each with its block and the file that it is of. Gives back what is remarked.
pub(super) fn settle(
    connection: &Connection<Full>,
    plan: &Plan,
    anchored: &Anchored,
    made: &dyn Fn(FileIndex) -> bool,
    loose: &[(BlockId, FileIndex, Loose)],
) -> Result<Vec<Adaptation>> {
    let found = find_anchors(connection, plan, anchored, made)?;
    let mut remarks = Vec::new();
    let mut changes: Vec<(BlockId, HashMap<BlockId, String>)> = Vec::new();
    let unsettled =
        |(_, from, link): &&(BlockId, FileIndex, Loose)| made(*from) && (link.anchor.is_some() || !made(link.file));
    for (block, from, link) in loose.iter().filter(unsettled) {
        let (url, remark) = settled(plan, *from, link, made, &found);
        if let (Some((kind, message)), Some(file)) = (remark, plan.files.get(*from)) {
            remarks.push(Adaptation { path: file.path.clone(), line: link.line, kind, message });
        }
        // The links of one block stand together.
        match changes.last_mut().filter(|(last, _)| last == block) {
            Some((_, urls)) => drop(urls.insert(link.id, url)),
            None => changes.push((*block, HashMap::from([(link.id, url)]))),
        }
    }
    for changes in changes.chunks(BATCH) {
        write(connection, changes)?;
    }
    Ok(remarks)
}

/// The blocks that the anchors of links name.
fn find_anchors(
    connection: &Connection<Full>,
    plan: &Plan,
    anchored: &Anchored,
    made: &dyn Fn(FileIndex) -> bool,
) -> Result<HashMap<BlockId, BlockId>> {
    let mut found = HashMap::new();
    connection.read(|tree, _| {
        for (file, anchors) in anchored.by_file() {
            let Some(document) = plan.files.get(file).filter(|_| made(file)).map(|file| file.id) else { continue };
            let forest = tree.subtree(document.root(), None)?;
            let known = Anchors::of_document(&forest);
            found.extend(anchors.iter().filter_map(|(anchor, id)| Some((*id, known.find(anchor)?))));
        }
        Ok(())
    })?;
    Ok(found)
}

/// What a loose link's URL is in the end, and what is to be said about it.
fn settled(
    plan: &Plan,
    from: FileIndex,
    link: &Loose,
    made: &dyn Fn(FileIndex) -> bool,
    found: &HashMap<BlockId, BlockId>,
) -> (String, Option<(AdaptationKind, String)>) {
    let path = |file: FileIndex| plan.files.get(file).map_or("", |file| file.path.as_str());
    let target = path(link.file);
    if !made(link.file) {
        let mut url = urls::encode(&urls::relative_path(path(from), target));
        if let Some(anchor) = &link.anchor {
            url = format!("{url}#{}", urls::encode(anchor));
        }
        let message = format!("{target} was not imported; the link to it is kept as {url}");
        return (url, Some((AdaptationKind::UnresolvedPath, message)));
    }
    if let Some(block) = found.get(&link.id) {
        return (block_url(*block), None);
    }
    let anchor = link.anchor.as_deref().unwrap_or_default();
    let message = format!("{target} has nothing called #{anchor}; the link leads to the document");
    let document = plan.files.get(link.file).map(|file| file.id.root()).unwrap_or_default();
    (block_url(document), Some((AdaptationKind::MissingAnchor, message)))
}

fn write(connection: &Connection<Full>, changes: &[(BlockId, HashMap<BlockId, String>)]) -> Result<()> {
    connection.write(|writing| {
        let edits = writing.decide(|tree, context| {
            let mut edits = Vec::with_capacity(changes.len());
            for (block, urls) in changes {
                // Someone else may have deleted it meanwhile.
                let (Some(before), Some(located)) = (tree.block(*block)?, tree.locate(*block)?) else { continue };
                let mut after = before.clone();
                if rewrite_urls(&mut after.data, &mut |link| urls.get(&linked_block(link.url)?).cloned()) {
                    after.rev += 1;
                    after.modified = context.stamp.clone();
                    edits.push(Edit::Update { document: located.document, before: before.into(), after: after.into() });
                }
            }
            Ok(edits)
        })?;
        writing.apply(edits)
    })?;
    Ok(())
}
