//! Documents are made.

use leafbase_model::{
    BlockData, BlockDraft, BlockKind, Day, DocumentId, DocumentRecord, Edit, Error, Location, Result,
};

use crate::Context;
use crate::drafts::Drafts;

/// What the making of a document does.
#[derive(Clone, Debug, PartialEq)]
pub struct Created {
    /// What to write.
    pub edits: Vec<Edit>,
    /// The new document.
    pub record: DocumentRecord,
    /// What its root says.
    pub root: BlockData,
}

impl Created {
    /// The ID of the new document.
    pub const fn id(&self) -> DocumentId {
        self.record.id
    }
}

/// Makes a document whose root is `root`, a page; a text is made as a page. Paths of errors begin below the root draft.
///
/// # Errors
/// [`leafbase_model::ErrorKind::RuleViolation`] if the root is of another type or `location` is the trash, and those of
/// [`crate::insert`] about drafts.
pub fn create_document(
    context: &Context<'_>,
    mut root: BlockDraft,
    location: Location,
    day: Option<Day>,
) -> Result<Created> {
    if let BlockKind::Text(look) = root.data.kind {
        root.data.kind = BlockKind::Page(look);
    }
    let checked = check_root(&root.data, location);
    let drafts = Drafts::root(root);
    checked?;
    let forest = drafts.grow(context, 0)?;
    let root = forest.0.first().ok_or_else(|| Error::validation("a document needs a root"))?.block.clone();
    let (created_at, modified_at) = (context.stamp.at, context.stamp.at);
    let record = DocumentRecord { id: DocumentId::of_root(root.id), location, day, created_at, modified_at };
    Ok(Created { edits: vec![Edit::CreateDocument { record: record.clone(), forest }], record, root: root.data })
}

/// Checks that a document with such a root can be made in `location`.
///
/// # Errors
/// [`leafbase_model::ErrorKind::RuleViolation`] if the root is neither page nor text, or `location` is the trash.
pub fn check_root(root: &BlockData, location: Location) -> Result<()> {
    if !matches!(root.kind, BlockKind::Text(_) | BlockKind::Page(_)) {
        let message = format!("the root of a document is a page, not a block of type {}", root.block_type());
        return Err(Error::rule(message).at("type"));
    }
    if location == Location::Trash {
        return Err(Error::rule("a document cannot be made in the trash").at("destination"));
    }
    Ok(())
}
