//! Reads of the change log.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use leafbase_model::{Change, ChangePosition, ChangeToken, DocumentId, Error, ErrorKind, Result};

use super::SpaceReader;
use crate::change_parts::{ChangeBody, ChangeParts, PartHeader, change_body};
use crate::keyspaces::{self, CHANGES};
use crate::kv::{KeyRange, Read};
use crate::lookup::{get, space_totals};
use crate::records;

/// The changes that touched a document, newest first.
#[derive(Debug)]
pub struct DocumentHistory<'a> {
    reader: SpaceReader<'a>,
    document: DocumentId,
    /// The sequence of the next change, 0 at the end; `None` before the first.
    next: Option<u64>,
}

impl Iterator for DocumentHistory<'_> {
    type Item = Result<Change>;

    fn next(&mut self) -> Option<Self::Item> {
        let change = self.step();
        if change.is_err() {
            self.next = Some(0);
        }
        change.transpose()
    }
}

impl DocumentHistory<'_> {
    fn step(&mut self) -> Result<Option<Change>> {
        let sequence = match self.next {
            Some(sequence) => sequence,
            None => self
                .reader
                .stored_document(self.document)?
                .map_or(0, |document| document.last_change),
        };
        if sequence == 0 {
            self.next = Some(0);
            return Ok(None);
        }
        let body = change_body(self.reader.read, sequence)?;
        let link = body.documents()?.into_iter().find(|touched| touched.id == self.document);
        // A link leads to an earlier change that touched the document, so the walk ends.
        let previous = link.map(|link| link.previous).filter(|previous| *previous < sequence);
        let corrupt = || records::corrupt(&keyspaces::change_part(sequence, 0));
        self.next = Some(previous.ok_or_else(corrupt)?);
        body.change().map(Some)
    }
}

impl<'a> SpaceReader<'a> {
    /// The changes after a position, at most `limit`.
    ///
    /// # Errors
    /// [`ErrorKind::HistoryGone`] if the position belongs to another history of the space: its
    /// token is not that of the change, or there is no such change yet. As [`Self::locate`];
    /// [`ErrorKind::Corrupted`] also if a change is missing.
    pub fn changes_after(
        &self,
        position: impl Into<ChangePosition>,
        limit: usize,
    ) -> Result<Vec<Change>> {
        self.decode_after(position.into(), limit, ChangeBody::change)
    }

    /// The position of each of these changes with the documents that it touches. Does not decode
    /// their edits.
    ///
    /// # Errors
    /// As [`Self::changes_after`].
    pub fn changed_after(
        &self,
        position: impl Into<ChangePosition>,
        limit: usize,
    ) -> Result<Vec<(ChangePosition, Vec<DocumentId>)>> {
        self.decode_after(position.into(), limit, |body| {
            let documents = body.documents()?.into_iter().map(|touched| touched.id).collect();
            Ok((body.position(), documents))
        })
    }

    /// The changes that touched `document`, newest first: each names the one before. Costs as much
    /// as these changes have bytes, however many others the log has. Empty for a document that does
    /// not exist; the history of one that was erased ends with its erasure, and is not that of a
    /// document that is created again under its ID.
    pub fn history(self, document: DocumentId) -> DocumentHistory<'a> {
        DocumentHistory { reader: self, document, next: None }
    }

    fn decode_after<T>(
        &self,
        position: ChangePosition,
        limit: usize,
        decode: impl Fn(&ChangeBody) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.check_position(position)?;
        let mut changes = Vec::new();
        let Some(first) = position.sequence().checked_add(1).filter(|_| limit > 0) else {
            return Ok(changes);
        };
        let lower = keyspaces::change_part(first, 0);
        let upper = keyspaces::prefix_end([CHANGES.tag]);
        let (mut parts, mut expected) = (ChangeParts::default(), first);
        self.read.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
            let found = keyspaces::parse_change_part(key).map(|(sequence, _)| sequence);
            // Sequences have no gap: another one here means that a change is missing.
            if found.is_some_and(|found| found != expected) {
                return Err(records::corrupt(&keyspaces::change_part(expected, 0)));
            }
            let Some(body) = parts.push(key, value)? else {
                return Ok(ControlFlow::Continue(()));
            };
            changes.push(decode(&body)?);
            expected += 1;
            Ok(if changes.len() < limit {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        // The totals reveal changes that are missing at the end.
        let is_missing = parts.incomplete().is_some()
            || changes.len() < limit && expected <= self.last_sequence()?;
        if is_missing {
            Err(records::corrupt(&keyspaces::change_part(expected, 0)))
        } else {
            Ok(changes)
        }
    }

    /// Fails unless the log goes on from `position`. At most two lookups.
    ///
    /// # Errors
    /// [`ErrorKind::HistoryGone`]; as [`Self::locate`].
    pub fn check_position(&self, position: ChangePosition) -> Result<()> {
        let (sequence, last) = (position.sequence(), self.last_sequence()?);
        let other_history = |found: &str| {
            let message = format!(
                "position {sequence} belongs to another history of this space, such as that of a \
                 restored backup: {found}"
            );
            Err(Error::new(ErrorKind::HistoryGone, message))
        };
        if sequence > last {
            return other_history(&format!("the last change is {last}"));
        }
        if position.token().is_some() && self.token_at(sequence)? != position.token() {
            return other_history("its token is not that of the change");
        }
        Ok(())
    }

    /// The token of the change `sequence`; `None` if there is no such change. One lookup.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn token_at(&self, sequence: u64) -> Result<Option<ChangeToken>> {
        let key = keyspaces::change_part(sequence, 0);
        get(self.read, &key, |value| Ok(PartHeader::read(&key, value)?.0.token))
    }

    /// The position after the change `sequence`, which exists unless it is 0. One lookup.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupted`] if the change is missing; as [`Self::locate`].
    pub fn position_at(&self, sequence: u64) -> Result<ChangePosition> {
        if sequence == 0 {
            return Ok(ChangePosition::BEGINNING);
        }
        let missing = || records::corrupt(&keyspaces::change_part(sequence, 0));
        let token = self.token_at(sequence)?.ok_or_else(missing)?;
        Ok(ChangePosition::new(sequence, token))
    }

    /// The position after the last change. Two lookups.
    ///
    /// # Errors
    /// As [`Self::position_at`].
    pub fn last_position(&self) -> Result<ChangePosition> {
        self.position_at(self.last_sequence()?)
    }

    /// The sequence of the last change; 0 without changes.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn last_sequence(&self) -> Result<u64> {
        Ok(space_totals(self.read)?.sequence)
    }
}

/// The rows of the log that touch some documents, newest first.
pub(crate) struct RowsTouching {
    documents: BTreeSet<DocumentId>,
    /// Rows from this one on were passed.
    passed: u64,
}

impl RowsTouching {
    /// The rows that touch `documents`.
    pub(crate) fn new(
        source: &dyn Read,
        documents: impl IntoIterator<Item = DocumentId>,
    ) -> Result<Self> {
        let passed = space_totals(source)?.sequence + 1;
        Ok(Self { documents: documents.into_iter().collect(), passed })
    }

    /// Whether the rows are those of this document, too.
    pub(crate) fn touches(&self, document: DocumentId) -> bool {
        self.documents.contains(&document)
    }

    /// Adds the earlier rows of another document.
    pub(crate) fn follow(&mut self, document: DocumentId) {
        self.documents.insert(document);
    }

    /// The last row before the one returned last.
    pub(crate) fn previous(&mut self, source: &dyn Read) -> Result<Option<ChangeBody>> {
        while self.passed > 1 {
            self.passed -= 1;
            let body = change_body(source, self.passed)?;
            if body.documents()?.iter().any(|touched| self.documents.contains(&touched.id)) {
                return Ok(Some(body));
            }
        }
        Ok(None)
    }
}
