//! What of an import is written in one transaction.

use std::collections::BTreeSet;

use leafbase_model::{AssetId, AssetUrl, DocumentId, Edit, Result, SubtreeNode};
use leafbase_store::SpaceReader;

use crate::core::access::Full;
use crate::core::connection::Connection;
use crate::operations::files::Upload;
use crate::operations::transfer::landing::Landing;
use crate::operations::transfer::plan::Plan;
use crate::operations::transfer::report::Adaptation;
use crate::operations::transfer::rewriting::{Url, rewrite_urls};

/// What is not written yet.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) edits: Vec<Edit>,
    /// The bytes of the files that are made.
    pub(super) uploads: Vec<Upload>,
    pub(super) blocks: usize,
    pub(super) documents: u64,
    pub(super) folders: u64,
}

/// What came of a write.
pub(super) enum Written {
    /// All is written, with what had to be adapted.
    Whole(Vec<Adaptation>),
    /// Nothing, because of files that are gone.
    Nothing { gone: Vec<AssetId> },
}

impl Batch {
    /// Writes it into the space as it is now, unless one of the files is gone that it relies on.
    pub(super) fn write(
        &self,
        connection: &Connection<Full>,
        plan: &Plan,
        relied_on: &BTreeSet<AssetId>,
    ) -> Result<Written> {
        let (written, _) = connection.operation("import_folder").write(|transaction| {
            let gone = transaction.plan_with_reader(|reader, _| missing(reader, relied_on))?;
            if !gone.is_empty() {
                return Ok(Written::Nothing { gone });
            }
            let mut edits = self.edits.clone();
            let adaptations = transaction
                .plan_with_reader(|reader, _| Landing::land(reader, plan, &mut edits))?;
            transaction.apply(edits)?;
            Ok(Written::Whole(adaptations))
        })?;
        Ok(written)
    }

    /// Gives the links to `file` the URL for their document, and tells the documents that have any.
    pub(super) fn redirect(
        &mut self,
        file: AssetId,
        url: &dyn Fn(DocumentId) -> String,
    ) -> Vec<DocumentId> {
        let mut changed = Vec::new();
        for edit in &mut self.edits {
            let Edit::CreateDocument { record, subtrees } = edit else { continue };
            let mut change = |link: Url<'_>| {
                let fragment =
                    link.url.find('#').and_then(|at| link.url.get(at..)).unwrap_or_default();
                (AssetUrl::asset_of(link.url) == Some(file)).then(|| url(record.id) + fragment)
            };
            let shows = |any, node: &mut SubtreeNode| {
                rewrite_urls(&mut node.block.data, &mut change) || any
            };
            if subtrees.0.iter_mut().fold(false, shows) {
                changed.push(record.id);
            }
        }
        changed
    }
}

/// Those of `files` that are not in the space.
fn missing(reader: SpaceReader<'_>, files: &BTreeSet<AssetId>) -> Result<Vec<AssetId>> {
    let mut gone = Vec::new();
    for file in files {
        if reader.asset(*file)?.is_none() {
            gone.push(*file);
        }
    }
    Ok(gone)
}
