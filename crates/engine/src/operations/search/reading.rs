//! Texts of documents as a call is shown them, and the counting of matches in them.

use std::borrow::Cow;

use leafbase_model::{DocumentId, Result};
use leafbase_store::{BlockText, Sieve, TextVisitor};

use super::patterns::Counting;
use super::texts::Reading;
use crate::core::search_index::documents::DocumentTexts;

impl Reading<'_, '_> {
    /// Reads the whole document.
    pub(super) fn document(&self, document: DocumentId) -> Result<DocumentTexts> {
        let mut read = DocumentTexts::read(self.tree.reader_of(document)?, document)?;
        if !self.tree.is_unrestricted() {
            read.show(|text| match self.text(text)? {
                Cow::Owned(shown) => Ok(Some(shown)),
                Cow::Borrowed(_) => Ok(None),
            })?;
        }
        Ok(read)
    }

    /// Counts the blocks of `documents` that are seen and match. The documents are sorted. What is
    /// not asked for by `sieve` is not looked at.
    pub(super) fn count(
        &self,
        documents: &[DocumentId],
        sieve: Option<&dyn Sieve>,
        counting: &mut Counting<'_, '_>,
    ) -> Result<()> {
        let mut blocks = Blocks { reading: self, counting, is_untold: false };
        if self.tree.is_unrestricted() {
            return self.tree.full_reader()?.visit_texts(documents, sieve, &mut blocks);
        }
        // One by one: what lies between them is hidden, and may be damaged. Placeholders do not
        // stand in what is stored, so each text is read.
        for document in documents {
            if self.tree.can_see_document(*document)? {
                self.tree.reader_of(*document)?.visit_texts(&[*document], None, &mut blocks)?;
            }
        }
        Ok(())
    }
}

/// Blocks in which matches are counted.
struct Blocks<'b, 't, 'a, 'm, 'p> {
    reading: &'b Reading<'t, 'a>,
    counting: &'b mut Counting<'m, 'p>,
    /// Whether the bytes of the next text did not tell of it.
    is_untold: bool,
}

impl TextVisitor for Blocks<'_, '_, '_, '_, '_> {
    fn is_told_by(&mut self, document: DocumentId, markdown: &[u8], from: usize) -> bool {
        // Others are shown placeholders in place of what is stored.
        let may_tell = self.reading.tree.is_unrestricted() && markdown.is_ascii();
        let is_told = may_tell && self.counting.is_told_by(document, markdown, from);
        self.is_untold = may_tell && !is_told;
        is_told
    }

    fn visit(&mut self, document: DocumentId, text: BlockText<'_>) -> Result<()> {
        let shown = self.reading.text(text)?;
        if !std::mem::take(&mut self.is_untold)
            && self.counting.is_told_by(document, shown.as_bytes(), 0)
        {
            return Ok(());
        }
        self.counting.add(document, &shown)
    }
}
