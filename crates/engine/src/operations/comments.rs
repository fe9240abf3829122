//! Comments on blocks.

use std::collections::{HashMap, HashSet};

use leafbase_model::{
    AddComments, AddedComment, Block, BlockId, Comment, CommentDraft, CommentId, Content,
    DocumentId, Edit, Error, Items, Location, Result, Stamp,
};
use leafbase_tree_ops::{Context, ReadTree};

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::core::tree::Tree;

impl<A: AccessScope> Connection<A> {
    /// Adds comments to blocks of any type, stamped with the connection's author and the current
    /// time, and returns their IDs in the order of the request. A fetch with metadata shows them,
    /// oldest first. The revision and the modification time of the block do not change, those of
    /// the document do. Comments move with their block and are deleted with it.
    ///
    /// ```
    /// use leafbase::{AddComments, CommentDraft, Fetch};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect().acting_as("Ada");
    /// let trip = notes.create_document("Trip")?;
    /// notes.add_comments(AddComments::new([CommentDraft::new(trip.id(), "when?")]))?;
    /// let shown = notes.fetch(Fetch::new(trip.id()).with_metadata())?;
    /// assert_eq!(shown.metadata.unwrap().comments[0].author.as_str(), "Ada");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The path names the first bad entry, and nothing is added. At `comments[n].blockId`:
    /// [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::RuleViolation`] if the document is in
    /// the trash. At `comments[n].content`: [`crate::ErrorKind::Validation`] if it is blank;
    /// [`crate::ErrorKind::LimitExceeded`] beyond [`crate::Limits::comment`]. At `comments`:
    /// [`crate::ErrorKind::LimitExceeded`] for more than [`crate::Limits::blocks_per_request`].
    pub fn add_comments(&self, request: AddComments) -> Result<Items<AddedComment>> {
        let drafts = request.comments;
        let (most, found) = (self.limits().blocks_per_request, drafts.len());
        if found > most {
            return Err(Error::limit("comments in one request", most, found).at("comments"));
        }
        let (added, _) = self.operation("add_comments").write(|transaction| {
            let edits = transaction.plan(|tree, context| additions(tree, context, &drafts))?;
            let added = edits.iter().filter_map(added).collect();
            transaction.apply(edits)?;
            Ok(added)
        })?;
        Ok(Items(added))
    }
}

fn added(edit: &Edit) -> Option<AddedComment> {
    match edit {
        Edit::AddComment { comment, .. } => Some(AddedComment { comment_id: comment.id }),
        _ => None,
    }
}

fn additions(
    tree: &impl ReadTree,
    context: &Context<'_>,
    drafts: &[CommentDraft],
) -> Result<Vec<Edit>> {
    let (mut documents, mut writable) = (Vec::with_capacity(drafts.len()), HashSet::new());
    for (index, draft) in drafts.iter().enumerate() {
        let document =
            document_of(tree, draft.block_id, &mut writable).map_err(|error| error.at("blockId"));
        let document = document.and_then(|document| {
            check_content(&draft.content, context.limits.comment).map(|()| document)
        });
        documents.push(document.map_err(|error| error.at(format_args!("comments[{index}]")))?);
    }
    // Comments of the same instant are sorted by ID: sorted IDs preserve the order of the request.
    let mut ids: Vec<_> = drafts
        .iter()
        .map(|_| CommentId::from_bytes(context.ids.new_id(context.stamp.at)))
        .collect();
    ids.sort_unstable();
    let parts = drafts.iter().zip(documents).zip(ids);
    Ok(parts.map(|((draft, document), id)| put_on(context.stamp, draft, document, id)).collect())
}

fn put_on(stamp: &Stamp, draft: &CommentDraft, document: DocumentId, id: CommentId) -> Edit {
    let (author, content) = (stamp.by.clone(), draft.content.clone());
    let comment = Comment { id, author, content, created_at: stamp.at };
    Edit::AddComment { document, block: draft.block_id, comment }
}

/// The document of a block that may be commented on. `writable` caches the documents known to be
/// outside of the trash.
fn document_of(
    tree: &impl ReadTree,
    block: BlockId,
    writable: &mut HashSet<DocumentId>,
) -> Result<DocumentId> {
    let document = tree.locate(block)?.ok_or_else(Error::not_found)?.document;
    if writable.insert(document) {
        let missing =
            || Error::corrupted(format_args!("document {document} has blocks but no record"));
        if tree.document(document)?.ok_or_else(missing)?.location == Location::Trash {
            return Err(Error::rule(
                "the document is in the trash: restore it to comment on its blocks",
            ));
        }
    }
    Ok(document)
}

fn check_content(content: &str, most: usize) -> Result<()> {
    if content.len() > most {
        return Err(Error::limit("bytes of a comment", most, content.len()).at("content"));
    }
    if content.trim().is_empty() {
        return Err(Error::validation("a comment says something").at("content"));
    }
    Ok(())
}

/// Adds the comments on the blocks of a fetched tree of `document` to their metadata, oldest first.
/// A tree without metadata reads nothing, and comments on other blocks of the document are not
/// read.
pub(crate) fn show_in(
    tree: &Tree<'_>,
    document: DocumentId,
    links: &LinkRedactor<'_, '_>,
    top: &mut Block,
) -> Result<()> {
    if top.metadata.is_none() {
        return Ok(());
    }
    let mut blocks: Vec<BlockId> = top.walk().map(|(_, block)| block.id).collect();
    blocks.sort_unstable();
    let mut found: HashMap<BlockId, Vec<Comment>> = HashMap::new();
    for (block, mut comment) in tree.comments_among(document, &blocks)? {
        links.redact(&mut comment.content)?;
        found.entry(block).or_default().push(comment);
    }
    let mut waiting = if found.is_empty() { Vec::new() } else { vec![top] };
    while let Some(Block { id, metadata, content, .. }) = waiting.pop() {
        if let (Some(metadata), Some(comments)) = (metadata, found.remove(id)) {
            metadata.comments = comments;
        }
        if let Content::Blocks(children) = content {
            waiting.extend(children);
        }
    }
    Ok(())
}
