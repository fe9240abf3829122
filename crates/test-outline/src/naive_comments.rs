//! Comments of the naive space: they belong to a block and are deleted with it.

use leafbase_model::{
    AddComments, AddedComment, BlockId, Comment, CommentId, DocumentId, Error, Result,
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
                let (id, author, content, created_at) =
                    (*id, by.0.by.clone(), draft.content.clone(), by.0.at);
                space.put_comment(draft.block_id, Comment { id, author, content, created_at });
            }
            Ok(ids.into_iter().map(|comment_id| AddedComment { comment_id }).collect())
        })
    }

    fn check_comment(&self, block: BlockId, content: &str) -> Result<()> {
        rules::check_writable(self, block).map_err(|error| error.at("blockId"))?;
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
