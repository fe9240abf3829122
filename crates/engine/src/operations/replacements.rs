//! Find and replace: in the plain text of blocks, so that marks and links stay.

use std::collections::HashSet;

use leafbase_model::{
    BlockId, DocumentFilterMode, DocumentId, Error, ErrorKind, ReplaceText, ReplacedText, Result,
    invariant,
};
#[cfg(feature = "search")]
use leafbase_model::{Needle, SearchDocuments};
#[cfg(feature = "search")]
use leafbase_pattern::escape_pattern;
use leafbase_tree_ops as ops;

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::tree::Tree;
#[cfg(feature = "search")]
use crate::operations::search::BlockCandidates;

mod block_search;
mod letter_case;

use block_search::ReplaceSearch;

/// Where text is replaced: each with its place in the request.
enum Targets {
    /// These blocks, with all blocks below them.
    Named(Vec<(String, BlockId)>),
    /// The documents that the filters of the request select.
    #[cfg(feature = "search")]
    Filtered(BlockCandidates),
}

impl<A: AccessScope> Connection<A> {
    /// Replaces text in blocks, in documents, or in all documents that filters select: a text, or
    /// what matches a pattern, whose groups the replacement may have. With
    /// [`ReplaceText::dry`] it counts and shows the blocks as they would be, and writes nothing.
    ///
    /// It replaces what blocks say: texts, the titles of pages and items, the cells of tables, and
    /// code; not the addresses of links, names of files and collections, properties and comments.
    /// Matches lie within one block or cell. A replacement has the marks, or is in the link, of the
    /// first character that it differs in, so that marks and links stay. A match stays as it is,
    /// and is counted as [`ReplacedText::kept`], if nothing of a link or a picture would be left.
    ///
    /// Without restrictions all documents but those in the trash are searched, which is the feature
    /// `search`, and not part of batches; the inbox never is. All is one change.
    ///
    /// ```
    /// use leafbase::{ReplaceText, Space};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?;
    /// notes.insert_markdown("The **Colour**s of [Lisbon](https://x.org), 24.12.", trip.id())?;
    ///
    /// let colors = ReplaceText::text("colour", "color").keep_case().within(trip.id());
    /// assert_eq!(notes.replace_text(colors.clone().dry())?.replaced, 1);
    /// notes.replace_text(colors)?;
    /// notes.replace_text(ReplaceText::pattern(r"(\d+)\.(\d+)\.", "$2/$1").within(trip.id()))?;
    /// let text = notes.content_markdown(trip.id())?;
    /// assert_eq!(text, "The **Color**s of [Lisbon](https://x.org), 12/24");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    /// Named blocks and documents are read once. Filtered documents are found by the index of
    /// searches, so that those without the text are not read; a pattern that requires no three
    /// characters in a row, and a scoped connection, read all of them. Replacements in a block with
    /// markup cost its length each.
    ///
    /// # Errors
    /// - [`crate::ErrorKind::Validation`] if [`ReplaceText::check`] refuses the request, at
    ///   `replacement` for a group that the pattern does not have, at `blockIds` in a batch that
    ///   names neither blocks nor documents, and on a scoped connection at filters that belong to
    ///   the full space.
    /// - [`crate::ErrorKind::NotFound`] at `blockIds[n]`, `documentIds[n]` and `folderIds[n]`;
    ///   [`crate::ErrorKind::RuleViolation`] there for those in the trash, and at `replacement` for
    ///   matches in the trash that a filter selects, in a dry run as well.
    /// - [`crate::ErrorKind::InvalidPattern`] at `pattern`.
    /// - [`crate::ErrorKind::LimitExceeded`] for a pattern that exceeds its step budget, for more
    ///   than [`crate::Limits::blocks_per_request`] blocks with matches, and at `replacement` for
    ///   texts that become too long.
    pub fn replace_text(&self, request: impl Into<ReplaceText>) -> Result<ReplacedText> {
        let request = request.into();
        let (search, targets) = self.prepare(|| {
            request.check()?;
            self.check_ids("blockIds", Some(&request.block_ids))?;
            self.check_ids("documentIds", request.document_ids.as_ref())?;
            self.check_ids("folderIds", request.filter.folders.as_ref())?;
            Ok((ReplaceSearch::new(&request)?, self.targets(&request)?))
        })?;
        let (reply, _) = self.operation("replace_text").write(|transaction| {
            let (reply, edits) = transaction.plan(|tree, context| {
                let blocks = self.find_targets(tree, &request, &targets)?;
                let found = search.find(tree, &blocks, self.limits().blocks_per_request)?;
                let patches = found.patches.clone();
                let updated = self.updated(tree, context, patches).map_err(at_replacement)?;
                invariant!(updated.moves.is_empty(), "a replacement moves no task");
                Ok((ReplacedText::new(found.blocks, request.dry_run), updated.edits))
            })?;
            if !request.dry_run {
                transaction.apply(edits)?;
            }
            Ok(reply)
        })?;
        Ok(reply)
    }

    fn targets(&self, request: &ReplaceText) -> Result<Targets> {
        if !request.block_ids.is_empty() {
            let blocks = request.block_ids.iter().enumerate();
            let named = blocks.map(|(index, id)| (format!("blockIds[{index}]"), *id)).collect();
            return Ok(Targets::Named(named));
        }
        let is_exclusion = request.mode == Some(DocumentFilterMode::Exclude);
        if let Some(documents) = request.document_ids.as_ref().filter(|_| !is_exclusion) {
            let documents = documents.iter().enumerate();
            let named =
                documents.map(|(index, id)| (format!("documentIds[{index}]"), id.root())).collect();
            return Ok(Targets::Named(named));
        }
        if self.access().door().is_some() {
            let message = "a batch replaces in blocks or documents that it names";
            return Err(Error::validation(message).at("blockIds"));
        }
        #[cfg(feature = "search")]
        return self.find_candidates(&filtered(request)).map(Targets::Filtered);
        #[cfg(not(feature = "search"))]
        Err(Error::validation("replacing in all documents is the feature search").at("blockIds"))
    }

    /// The targets as they are now, none twice.
    #[cfg_attr(
        not(feature = "search"),
        expect(clippy::unused_self, unused_variables, reason = "those of a filter need them")
    )]
    fn find_targets(
        &self,
        tree: &Tree<'_>,
        request: &ReplaceText,
        targets: &Targets,
    ) -> Result<Vec<(DocumentId, BlockId)>> {
        match targets {
            Targets::Named(blocks) => {
                let mut seen = HashSet::new();
                let mut found = Vec::with_capacity(blocks.len());
                for (path, block) in blocks {
                    let location =
                        ops::locate_writable(tree, *block).map_err(|error| error.at(path))?;
                    if seen.insert(*block) {
                        found.push((location.document, *block));
                    }
                }
                Ok(found)
            }
            #[cfg(feature = "search")]
            Targets::Filtered(candidates) => {
                let found = self.newest_candidates(tree, &filtered(request), candidates)?;
                let found = found.from(None);
                found.map(|document| document.map(|document| (document, document.root()))).collect()
            }
        }
    }
}

/// A search for the documents.
#[cfg(feature = "search")]
fn filtered(request: &ReplaceText) -> SearchDocuments {
    let pattern = match &request.find {
        Needle::Text(text) => escape_pattern(text),
        Needle::Pattern(pattern) => pattern.clone(),
    };
    let mut search = SearchDocuments::pattern(pattern);
    search.document_ids.clone_from(&request.document_ids);
    search.mode = request.mode;
    search.filter = request.filter.clone();
    search
}

/// An error in a replaced text has the path of the replacement.
fn at_replacement(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Validation | ErrorKind::RuleViolation | ErrorKind::LimitExceeded => {
            error.without_path().at("replacement")
        }
        _ => error,
    }
}
