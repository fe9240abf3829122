//! How many documents link to a document.

use std::collections::BTreeSet;

use leafbase_model::{DocumentId, Location, Result};
use leafbase_store::{BackLink, EdgeEnd, EdgeKind};
use leafbase_tree_ops::ReadTree;

use super::{PAGE, is_named_in};
use crate::core::tree::Tree;
use crate::operations::lookups::DocumentNames;

/// Counts the documents that link to others, as one call sees them.
pub(crate) struct LinkingDocuments<'t, 'a> {
    tree: &'t Tree<'a>,
    names: DocumentNames<'t, 'a>,
}

impl<'t, 'a> LinkingDocuments<'t, 'a> {
    pub(crate) const fn new(tree: &'t Tree<'a>) -> Self {
        Self { tree, names: DocumentNames::new(tree) }
    }

    /// The number of other documents outside of the trash with a link to the document itself, to
    /// its day or to a name that leads to it; at most `most`. Links to blocks within it do not
    /// count. Reads the links up to that number.
    pub(crate) fn count(&mut self, document: DocumentId, most: usize) -> Result<usize> {
        let Some(record) = self.tree.document(document)? else { return Ok(0) };
        let names = self.names.leading_to(document)?;
        let ends =
            [EdgeEnd::Block(document.root())].into_iter().chain(record.day.map(EdgeEnd::Day));
        let ends = ends.chain(names.iter().map(|name| EdgeEnd::name(name)));
        let mut found = BTreeSet::new();
        for end in ends {
            self.add_sources(document, end, &names, most, &mut found)?;
        }
        Ok(found.len())
    }

    /// Adds the documents that link to one end, until `most` are found.
    fn add_sources(
        &self,
        document: DocumentId,
        end: EdgeEnd,
        names: &[String],
        most: usize,
        found: &mut BTreeSet<DocumentId>,
    ) -> Result<()> {
        let reader = self.tree.reader_at(document.root())?;
        let mut last: Option<BackLink> = None;
        while found.len() < most {
            let page = reader.edges_to(end, last, PAGE)?;
            let links = page.iter().take_while(|edge| edge.kind == EdgeKind::Link);
            for edge in links {
                // A hidden block is not found here.
                let Some(location) = self.tree.locate(edge.source)? else { continue };
                let source = location.document;
                if source == document || found.contains(&source) {
                    continue;
                }
                // Another name may have the same hash.
                if matches!(end, EdgeEnd::Name(_))
                    && !self.tree.block(edge.source)?.is_some_and(|it| is_named_in(&it, names))
                {
                    continue;
                }
                let record = self.tree.document(source)?;
                if record.is_some_and(|record| record.location != Location::Trash) {
                    found.insert(source);
                }
                if found.len() == most {
                    return Ok(());
                }
            }
            last = page.last().copied().filter(|edge| edge.kind == EdgeKind::Link);
            if page.len() < PAGE || last.is_none() {
                return Ok(());
            }
        }
        Ok(())
    }
}
