//! Comments of the naive space: they belong to a block and are deleted with it.

use leafbase_model::{
    AddComments, AddedComment, BlockId, Comment, CommentId, CommentSource, DeleteComments,
    DocumentId, Error, ListComments, ListedComment, Result, UpdateComments,
};

use crate::naive::By;
use crate::naive_rules as rules;
use crate::{Broken, NaiveSpace};

impl NaiveSpace {
    /// Adds comments.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn add_comments(&mut self, by: By<'_>, request: &AddComments) -> Result<Vec<AddedComment>> {
        rules::check_count(request.comments.len(), &self.limits, "comments")?;
        for (index, draft) in request.comments.iter().enumerate() {
            self.check_comment(draft.block_id, &draft.content)
                .map_err(|error| at("comments", index, error))?;
        }
        // Distinct IDs keep the order of the request.
        let mut ids: Vec<_> =
            request.comments.iter().map(|_| CommentId::from_bytes(by.1.new_id(by.0.at))).collect();
        ids.sort_unstable();
        self.write(by.0, |space| {
            for (draft, id) in request.comments.iter().zip(&ids) {
                let comment = Comment::new(*id, by.0.clone(), draft.content.clone());
                space.put_comment(draft.block_id, comment);
            }
            Ok(ids.into_iter().map(|comment_id| AddedComment { comment_id }).collect())
        })
    }

    /// Lists comments, oldest first.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn list_comments(&self, request: &ListComments) -> Result<Vec<ListedComment>> {
        match &request.source {
            CommentSource::Blocks(blocks) => {
                rules::check_count(blocks.len(), &self.limits, "blockIds")?;
                for (index, block) in blocks.iter().enumerate() {
                    self.document_of(*block)
                        .ok_or_else(|| at("blockIds", index, Error::no_block()))?;
                }
            }
            CommentSource::Document(document) => {
                self.document(*document).ok_or_else(|| Error::no_document().at("documentId"))?;
            }
        }
        let is_on = |block: BlockId| match &request.source {
            CommentSource::Blocks(blocks) => blocks.contains(&block),
            CommentSource::Document(document) => {
                self.document_of(block).is_some_and(|found| found.record.id == *document)
            }
        };
        let is_listed = |comment: &Comment| {
            request.resolved.is_none_or(|resolved| resolved == comment.resolved.is_some())
        };
        let found =
            self.comments.iter().filter(|(block, comment)| is_on(*block) && is_listed(comment));
        Ok(found.cloned().map(|(block_id, comment)| ListedComment { block_id, comment }).collect())
    }

    /// Updates comments.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn update_comments(
        &mut self,
        by: By<'_>,
        request: &UpdateComments,
    ) -> Result<Vec<ListedComment>> {
        rules::check_count(request.comments.len(), &self.limits, "comments")?;
        let mut named = Vec::new();
        for (index, patch) in request.comments.iter().enumerate() {
            let before = self
                .find_comment(patch.id, &mut named)
                .map_err(|error| at("comments", index, error.at("id")))?;
            if let Some(content) = patch.content.as_ref().filter(|new| **new != before.content) {
                self.check_content(content).map_err(|error| at("comments", index, error))?;
            }
        }
        self.write(by.0, |space| {
            let mut updated = Vec::new();
            for patch in &request.comments {
                let found = space.comments.iter_mut().find(|(_, known)| known.id == patch.id);
                let (block_id, comment) = found.ok_or_else(Error::no_comment)?;
                if let Some(content) = patch.content.as_ref().filter(|new| **new != comment.content)
                {
                    comment.content.clone_from(content);
                    comment.edited = Some(by.0.clone());
                }
                if patch.resolved.is_some_and(|is| is != comment.resolved.is_some()) {
                    comment.resolved = comment.resolved.is_none().then(|| by.0.clone());
                }
                updated.push(ListedComment { block_id: *block_id, comment: comment.clone() });
            }
            Ok(updated)
        })
    }

    /// Deletes comments.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn delete_comments(
        &mut self,
        by: By<'_>,
        request: &DeleteComments,
    ) -> Result<Vec<CommentId>> {
        rules::check_count(request.comment_ids.len(), &self.limits, "commentIds")?;
        let mut named = Vec::new();
        for (index, id) in request.comment_ids.iter().enumerate() {
            self.find_comment(*id, &mut named).map_err(|error| at("commentIds", index, error))?;
        }
        self.write(by.0, |space| {
            space.comments.retain(|(_, comment)| !request.comment_ids.contains(&comment.id));
            Ok(request.comment_ids.clone())
        })
    }

    /// A comment that may be changed; `named` are those that the request named before.
    fn find_comment(&self, id: CommentId, named: &mut Vec<CommentId>) -> Result<&Comment> {
        let found = self.comments.iter().find(|(_, comment)| comment.id == id);
        let (block, comment) = found.ok_or_else(Error::no_comment)?;
        rules::check_writable(self, *block)?;
        if named.contains(&id) {
            return Err(Error::validation("it is named twice"));
        }
        named.push(id);
        Ok(comment)
    }

    fn check_comment(&self, block: BlockId, content: &str) -> Result<()> {
        rules::check_writable(self, block).map_err(|error| error.at("blockId"))?;
        self.check_content(content)
    }

    fn check_content(&self, content: &str) -> Result<()> {
        if content.len() > self.limits.comment {
            return Err(Error::limit("bytes", self.limits.comment, content.len()).at("content"));
        }
        if content.trim().is_empty() {
            Err(Error::validation("it says nothing").at("content"))
        } else {
            Ok(())
        }
    }

    /// Comments of the same instant are sorted by ID.
    pub(crate) fn put_comment(&mut self, block: BlockId, comment: Comment) {
        self.comments.push((block, comment));
        self.comments.sort_by_key(|(_, comment)| (comment.created_at, comment.id));
    }

    /// Comments of a block, oldest first.
    pub fn comments_on(&self, block: BlockId) -> Vec<Comment> {
        self.comments
            .iter()
            .filter(|(on, _)| *on == block)
            .map(|(_, comment)| comment.clone())
            .collect()
    }

    /// Comments with their documents.
    pub(crate) fn commented(&self) -> Vec<(DocumentId, Comment)> {
        let within = |(block, comment): &(BlockId, Comment)| {
            self.document_of(*block).map(|found| (found.record.id, comment.clone()))
        };
        self.comments.iter().filter_map(within).collect()
    }

    /// Comments are deleted with their blocks.
    pub(crate) fn drop_comments(&mut self) {
        if !self.breaks(Broken::CommentsStay) {
            let comments = std::mem::take(&mut self.comments);
            self.comments =
                comments.into_iter().filter(|(block, _)| self.find(*block).is_some()).collect();
        }
    }
}

/// An error of a list entry.
pub(crate) fn at(list: &str, index: usize, error: Error) -> Error {
    error.at(format_args!("{list}[{index}]"))
}
