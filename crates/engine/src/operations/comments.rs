//! Comments on blocks.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use leafbase_model::{
    AddComments, AddedComment, Block, BlockId, Comment, CommentDraft, CommentId, CommentPatch,
    CommentSource, Content, DeleteComments, DocumentId, Edit, Error, Items, ListComments,
    ListedComment, Location, Result, Stamp, UpdateComments,
};
use leafbase_tree_ops::{Context, ReadTree};

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::core::tree::{LocatedComment, Tree};

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
        self.prepare(|| self.check_comment_count(drafts.len()))?;
        let (added, _) = self.operation("add_comments").write(|transaction| {
            let edits = transaction.plan(|tree, context| additions(tree, context, &drafts))?;
            let added = edits.iter().filter_map(added).collect();
            transaction.apply(edits)?;
            Ok(added)
        })?;
        Ok(Items(added))
    }

    /// Lists the comments of a document or on some blocks, oldest first, those of resolved comments
    /// too unless the request leaves them out.
    ///
    /// ```
    /// use leafbase::{AddComments, CommentDraft, ListComments};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// notes.add_comments(AddComments::new([CommentDraft::new(trip.id(), "when?")]))?;
    /// let open = notes.list_comments(ListComments::of(trip.id()).open())?;
    /// assert_eq!((open[0].block_id, &*open[0].comment.content), (trip.id().root(), "when?"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `documentId` or `blockIds[n]`;
    /// [`crate::ErrorKind::LimitExceeded`] at `blockIds` for more than
    /// [`crate::Limits::blocks_per_request`].
    pub fn list_comments(&self, request: ListComments) -> Result<Items<ListedComment>> {
        let ListComments { source, resolved, .. } = request;
        if let CommentSource::Blocks(blocks) = &source {
            self.check_ids("blockIds", Some(blocks))?;
        }
        self.operation("list_comments").read(|tree| {
            let mut found = match &source {
                CommentSource::Blocks(blocks) => comments_on(tree, blocks)?,
                CommentSource::Document(document) => {
                    tree.comments_in(*document).map_err(|error| error.at("documentId"))?
                }
            };
            found.retain(|(_, comment)| {
                resolved.is_none_or(|resolved| resolved == comment.resolved.is_some())
            });
            found.sort_by_key(|(_, comment)| (comment.created_at, comment.id));
            let links = LinkRedactor::new(tree);
            let listed = |(block, comment)| listed(&links, block, comment);
            found.into_iter().map(listed).collect::<Result<Vec<_>>>().map(Items)
        })
    }

    /// Changes the content of comments, resolves them or opens them again, and returns them in the
    /// order of the request. Any connection may change any comment that it sees; the comment keeps
    /// its author, and tells who edited and who resolved it. A comment as a reply has it changes
    /// nothing.
    ///
    /// ```
    /// use leafbase::{AddComments, CommentDraft, CommentPatch, UpdateComments};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect().acting_as("Ada");
    /// let trip = notes.create_document("Trip")?;
    /// let draft = CommentDraft::new(trip.id(), "when?");
    /// let when = notes.add_comments(AddComments::new([draft]))?[0].comment_id;
    /// let patch = CommentPatch::of(when).with_resolved(true);
    /// let updated = notes.acting_as("Ben").update_comments(UpdateComments::new([patch]))?;
    /// let comment = &updated[0].comment;
    /// assert_eq!(comment.author.as_str(), "Ada");
    /// assert_eq!(comment.resolved.as_ref().map(|stamp| stamp.by.as_str()), Some("Ben"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The path names the first bad entry, and nothing is changed. At `comments[n].id`:
    /// [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::RuleViolation`] if the document is in
    /// the trash; [`crate::ErrorKind::Validation`] for a comment named twice. At
    /// `comments[n].content` and `comments`: as [`Self::add_comments`].
    pub fn update_comments(&self, request: UpdateComments) -> Result<Items<ListedComment>> {
        let patches = request.comments;
        self.prepare(|| self.check_comment_count(patches.len()))?;
        let (updated, _) = self.operation("update_comments").write(|transaction| {
            let (edits, updated) =
                transaction.plan(|tree, context| updates(tree, context, &patches))?;
            transaction.apply(edits)?;
            Ok(updated)
        })?;
        Ok(Items(updated))
    }

    /// Deletes comments and returns the requested IDs.
    ///
    /// ```
    /// use leafbase::{AddComments, CommentDraft, DeleteComments, ListComments};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// let draft = CommentDraft::new(trip.id(), "when?");
    /// let when = notes.add_comments(AddComments::new([draft]))?[0].comment_id;
    /// notes.delete_comments(DeleteComments::from(when))?;
    /// assert!(notes.list_comments(ListComments::of(trip.id()))?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// At `commentIds[n]`: [`crate::ErrorKind::NotFound`]; [`crate::ErrorKind::RuleViolation`] if
    /// the document is in the trash; [`crate::ErrorKind::Validation`] for a comment named twice.
    /// At `commentIds`: [`crate::ErrorKind::LimitExceeded`] for more than
    /// [`crate::Limits::blocks_per_request`]. On an error nothing is deleted.
    pub fn delete_comments(&self, request: DeleteComments) -> Result<Items<CommentId>> {
        let ids = request.comment_ids;
        self.prepare(|| self.check_ids("commentIds", Some(&ids)))?;
        self.operation("delete_comments").write(|transaction| {
            let edits = transaction.plan(|tree, _| deletions(tree, &ids))?;
            transaction.apply(edits)
        })?;
        Ok(Items(ids))
    }

    fn check_comment_count(&self, found: usize) -> Result<()> {
        let most = self.limits().blocks_per_request;
        if found > most {
            return Err(Error::limit("comments in one request", most, found).at("comments"));
        }
        Ok(())
    }
}

/// The comments on `blocks`. A block named twice counts once.
fn comments_on(tree: &Tree<'_>, blocks: &[BlockId]) -> Result<Vec<(BlockId, Comment)>> {
    let mut within: BTreeMap<DocumentId, BTreeSet<BlockId>> = BTreeMap::new();
    if tree.is_unrestricted() {
        tree.full_reader()?.prefetch_locations(blocks);
    }
    for (index, block) in blocks.iter().enumerate() {
        let found = tree.locate(*block).and_then(|found| found.ok_or_else(Error::no_block));
        let document = found.map_err(|error| error.at(format_args!("blockIds[{index}]")))?.document;
        within.entry(document).or_default().insert(*block);
    }
    if tree.is_unrestricted() {
        tree.full_reader()?.prefetch_comments(within.keys().copied());
    }
    let mut found = Vec::new();
    for (document, blocks) in within {
        let sorted: Vec<_> = blocks.into_iter().collect();
        found.append(&mut tree.comments_among(document, &sorted)?);
    }
    Ok(found)
}

/// A comment in the form of the reply.
fn listed(
    links: &LinkRedactor<'_, '_>,
    block_id: BlockId,
    mut comment: Comment,
) -> Result<ListedComment> {
    links.redact(&mut comment.content)?;
    Ok(ListedComment { block_id, comment })
}

/// The edits of `patches`, and the comments after them.
fn updates(
    tree: &Tree<'_>,
    context: &Context<'_>,
    patches: &[CommentPatch],
) -> Result<(Vec<Edit>, Vec<ListedComment>)> {
    let (mut named, links) = (NamedComments::new(tree), LinkRedactor::new(tree));
    let (mut edits, mut updated) = (Vec::new(), Vec::with_capacity(patches.len()));
    for (index, patch) in patches.iter().enumerate() {
        let at = |error: Error| error.at(format_args!("comments[{index}]"));
        let found = named.find(patch.id).map_err(|error| at(error.at("id")))?;
        let LocatedComment { document, block, comment: before } = found;
        let after = patched(&before, patch, context, &links).map_err(at)?;
        updated.push(listed(&links, block, after.clone())?);
        // A comment that stays as it is has no edit.
        if before != after {
            edits.push(Edit::UpdateComment { document, block, before, after });
        }
    }
    Ok((edits, updated))
}

/// `before` with the changes of `patch`.
fn patched(
    before: &Comment,
    patch: &CommentPatch,
    context: &Context<'_>,
    links: &LinkRedactor<'_, '_>,
) -> Result<Comment> {
    let mut after = before.clone();
    if let Some(given) = &patch.content {
        let mut content = given.clone();
        links.restore(&before.content, &mut content)?;
        if content != before.content {
            // What was given is checked: the length of a hidden link shows nowhere.
            check_content(given, context.limits.comment)?;
            (after.content, after.edited) = (content, Some(context.stamp.clone()));
        }
    }
    if let Some(resolved) = patch.resolved.filter(|is| *is != before.resolved.is_some()) {
        after.resolved = resolved.then(|| context.stamp.clone());
    }
    Ok(after)
}

fn deletions(tree: &Tree<'_>, ids: &[CommentId]) -> Result<Vec<Edit>> {
    let mut named = NamedComments::new(tree);
    let mut edits = Vec::with_capacity(ids.len());
    for (index, id) in ids.iter().enumerate() {
        let found = named.find(*id);
        let LocatedComment { document, block, comment } =
            found.map_err(|error| error.at(format_args!("commentIds[{index}]")))?;
        edits.push(Edit::RemoveComment { document, block, comment });
    }
    Ok(edits)
}

/// The comments that one request names, each once.
struct NamedComments<'t, 'a> {
    tree: &'t Tree<'a>,
    ids: HashSet<CommentId>,
    writable: HashSet<DocumentId>,
}

impl<'t, 'a> NamedComments<'t, 'a> {
    fn new(tree: &'t Tree<'a>) -> Self {
        Self { tree, ids: HashSet::new(), writable: HashSet::new() }
    }

    /// The comment, which may be changed.
    fn find(&mut self, id: CommentId) -> Result<LocatedComment> {
        let found = self.tree.comment(id)?.ok_or_else(Error::no_comment)?;
        check_writable(self.tree, found.document, &mut self.writable)?;
        // Existence first: an unknown comment named twice is reported as not found.
        if !self.ids.insert(id) {
            return Err(Error::validation(format!("comment {id} is named twice")));
        }
        Ok(found)
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
    tree.prefetch(&drafts.iter().map(|draft| draft.block_id).collect::<Vec<_>>());
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
    let comment = Comment::new(id, stamp.clone(), draft.content.clone());
    Edit::AddComment { document, block: draft.block_id, comment }
}

/// The document of a block that may be commented on. `writable` caches the documents known to be
/// outside of the trash.
fn document_of(
    tree: &impl ReadTree,
    block: BlockId,
    writable: &mut HashSet<DocumentId>,
) -> Result<DocumentId> {
    let document = tree.locate(block)?.ok_or_else(Error::no_block)?.document;
    check_writable(tree, document, writable)?;
    Ok(document)
}

/// Checks that a document is outside of the trash.
fn check_writable(
    tree: &impl ReadTree,
    document: DocumentId,
    writable: &mut HashSet<DocumentId>,
) -> Result<()> {
    if writable.insert(document) {
        let missing =
            || Error::corrupted(format_args!("document {document} has blocks but no record"));
        if tree.document(document)?.ok_or_else(missing)?.location == Location::Trash {
            return Err(Error::rule(
                "the document is in the trash: restore it to comment on its blocks",
            ));
        }
    }
    Ok(())
}

fn check_content(content: &str, most: usize) -> Result<()> {
    if content.len() > most {
        return Err(Error::limit("bytes of a comment", most, content.len()).at("content"));
    }
    if content.trim().is_empty() {
        return Err(Error::validation("a comment needs content").at("content"));
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
    if top.metadata.is_none() || !tree.may_have_comments(document)? {
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
