//! Properties of documents: what their front matter says.

use leafbase_markdown::{FRONT_MATTER_TAG, front_properties};
use leafbase_model::{BlockKind, DocumentId, DocumentProperties, Error, Result};
use leafbase_tree_ops::ReadTree;

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::core::tree::Tree;

impl<A: AccessScope> Connection<A> {
    /// The properties that the front matter of a document says: of its first block, if that is code
    /// with the language tag `yaml frontmatter`, as a folder import makes it. They follow every
    /// edit of that block. YAML that does not parse says nothing.
    ///
    /// ```
    /// use leafbase::{BlockData, BlockKind, CodeLanguage, InsertBlocks};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// let front = BlockData::new(BlockKind::Code {
    ///     raw_code: "tags: [travel]\ndate: 2026-03-01".to_owned(),
    ///     language: CodeLanguage::Yaml,
    ///     language_tag: "yaml frontmatter".to_owned(),
    /// });
    /// notes.insert_blocks(InsertBlocks::blocks(vec![front.into()], trip))?;
    /// let properties = notes.document_properties(trip)?;
    /// assert_eq!(properties.tags, ["travel"]);
    /// assert_eq!(properties.dates["date"].to_string(), "2026-03-01");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// Reads one block and parses it.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`].
    pub fn document_properties(&self, id: DocumentId) -> Result<DocumentProperties> {
        self.operation("document_properties").read(|tree| {
            tree.stored_document(id)?.ok_or_else(Error::no_document)?;
            properties_of(tree, id)
        })
    }
}

/// The properties of a document or page; empty if it is hidden.
pub(crate) fn properties_of(tree: &Tree<'_>, id: DocumentId) -> Result<DocumentProperties> {
    let first = tree.first_children(id, id.root(), 1)?;
    let Some(first) = first.first() else { return Ok(DocumentProperties::default()) };
    let links = LinkRedactor::new(tree);
    let data = links.redacted(&first.data)?;
    Ok(match &data.kind {
        BlockKind::Code { raw_code, language_tag, .. } if language_tag == FRONT_MATTER_TAG => {
            front_properties(raw_code)
        }
        _ => DocumentProperties::default(),
    })
}
