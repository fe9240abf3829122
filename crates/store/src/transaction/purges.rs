//! Purges: a document is erased, and the change log loses the content of every block that was last
//! in it.
//!
//! A block that was moved into the document has content in rows that touch the documents before,
//! and a block that was deleted from the document is in rows of it alone. So the log is walked from
//! its end: each row that touches a document of interest is read, the last edit that inserts or
//! removes a block tells whether it was last in a purged document, and a move into a document of
//! interest makes the other document one, too. Each row names the one before of its documents, so
//! the walk costs as much as their histories, however long the log is. Only the rows of files that
//! went with them are looked for in all of it.

use std::ops::ControlFlow;

use leafbase_model::{AssetId, Change, DocumentId, Edit, Result};

use super::SpaceTransaction;
use super::errors::missing;
use super::staged::purges::{StagedPurges, blocks};
use crate::change_parts::{ChangeBody, ChangeParts, change_body, put_change};
use crate::keyspaces::{self, CHANGES};
use crate::kv::KeyRange;
use crate::reader::log::RowsTouching;
use crate::records::change::{ChangeEncoder, EncodedBlocks};

impl SpaceTransaction<'_> {
    pub(super) fn purge_document(&mut self, id: DocumentId, files: &[AssetId]) -> Result<()> {
        let reader = self.reader()?;
        let mut record = reader.document(id)?.ok_or_else(|| missing("the document"))?;
        let subtrees = reader.subtree(id.root(), None)?;
        let comments = reader.comments_in(id)?;
        let collections = reader.collections_of(id)?;
        let mut schemas = Vec::with_capacity(collections.len());
        for entry in collections {
            schemas.push((entry.collection, reader.schema(entry.collection)?));
        }
        for (block, comment) in comments {
            self.remove_comment(id, block, &comment)?;
        }
        for (collection, schema) in schemas {
            self.set_schema((id, collection), schema.as_ref(), None, false)?;
        }
        self.erase_document(&mut record, &subtrees)?;
        for file in files {
            let record = self.reader()?.asset(*file)?.ok_or_else(|| missing("the file"))?;
            self.erase_asset(&record)?;
        }
        self.purges.documents.insert(id);
        self.purges.blocks.extend(subtrees.0.iter().map(|node| node.block.id));
        self.purges.files.extend(files);
        Ok(())
    }

    /// Redacts the rows of the log before this transaction's own, after all of its edits.
    pub(super) fn redact_log(&mut self) -> Result<()> {
        if self.purges.documents.is_empty() {
            return Ok(());
        }
        self.erase_replies()?;
        let mut purges = std::mem::take(&mut self.purges);
        let mut touched = self.documents.touched();
        touched.retain(|touched| purges.documents.contains(&touched.id));
        let mut rows = RowsTouching::new(&*self.rows, touched)?;
        while let Some(row) = rows.previous(&*self.rows)? {
            let change = row.change()?;
            if self.totals.last_erasure > 0 && creates_any(&change, &rows) {
                rows.follow_all_before(&*self.rows, change.sequence)?;
            }
            purges.trace(&*self.rows, self.extractor, &change)?;
            // From the end: a block may move twice in one row.
            for edit in change.edits.iter().rev() {
                if let Edit::Move { from, to, .. } = edit
                    && rows.touches(to.document)
                {
                    rows.follow(from.document);
                }
            }
            self.redact_row(&purges, &row, change)?;
        }
        self.redact_files(&purges)
    }

    /// Redacts the rows that create or erase purged files. A file may have come from another
    /// document and gone with a third one, so that all rows are read.
    fn redact_files(&mut self, purges: &StagedPurges) -> Result<()> {
        if purges.files.is_empty() {
            return Ok(());
        }
        let (mut parts, mut found) = (ChangeParts::default(), Vec::new());
        let (lower, upper) = ([CHANGES.tag], keyspaces::prefix_end([CHANGES.tag]));
        self.rows.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
            if let Some(row) = parts.push(key, value)? {
                let change = row.change()?;
                if change.edits.iter().any(|edit| purges.has_file_of(edit)) {
                    found.push(change.sequence);
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        for sequence in found {
            let row = change_body(&*self.rows, sequence)?;
            let change = row.change()?;
            self.redact_row(purges, &row, change)?;
        }
        Ok(())
    }

    fn redact_row(
        &mut self,
        purges: &StagedPurges,
        row: &ChangeBody,
        mut change: Change,
    ) -> Result<()> {
        if !purges.redact(&mut change) {
            return Ok(());
        }
        let mut log = ChangeEncoder::default();
        for edit in &change.edits {
            log.push(edit, &EncodedBlocks::of(blocks(edit)));
        }
        // The links between the changes of a document stay.
        let body = log.body(&change.stamp, &row.documents()?);
        let parts = put_change(self.rows, row.identity(), body)?;
        // Surplus parts would corrupt the change.
        for part in parts..row.parts() {
            self.rows.delete(&keyspaces::change_part(change.sequence, part))?;
        }
        Ok(())
    }
}

/// Whether `change` creates one of the documents whose rows are read.
fn creates_any(change: &Change, rows: &RowsTouching) -> bool {
    change.edits.iter().any(|edit| match edit {
        Edit::CreateDocument { record, .. } => rows.touches(record.id),
        _ => false,
    })
}
