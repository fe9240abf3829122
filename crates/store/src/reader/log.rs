//! Reads of the change log.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use leafbase_model::{Change, ChangePosition, ChangeToken, DocumentId, Error, ErrorKind, Result};

use super::read_ahead::prefetch_ranges;
use super::{ReaderCache, SpaceReader};
use crate::change_parts::{ChangeBody, ChangeParts, PartHeader, change_body};
use crate::change_row::ChangeRow;
use crate::keyspaces::{self, CHANGES};
use crate::kv::{KeyRange, Read};
use crate::lookup::{get, log_beginning, space_totals};
use crate::records;
use crate::records::change::TouchedDocument;

/// The changes that touched a document, newest first.
#[derive(Debug)]
pub struct DocumentHistory<'a> {
    reader: SpaceReader<'a>,
    document: DocumentId,
    /// The sequence of the next change, 0 at the end; `None` before the first.
    next: Option<u64>,
    /// Changes up to this one were dropped.
    dropped: u64,
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
        let sequence = if let Some(sequence) = self.next {
            sequence
        } else {
            self.dropped = log_beginning(self.reader.read)?.sequence();
            // The change in progress is not in the log yet.
            let touched = match self.reader.cache {
                ReaderCache::Transaction(cache) => cache.committed_change(self.document),
                _ => None,
            };
            let document = self.reader.stored_document(self.document)?;
            touched.or(document.map(|document| document.last_change)).unwrap_or(0)
        };
        if sequence <= self.dropped {
            self.next = Some(0);
            return Ok(None);
        }
        let body = change_body(self.reader.read, sequence)?;
        self.next = Some(previous_change(&body, self.document, sequence)?);
        body.change().map(Some)
    }
}

/// The change that touched `document` before the change `sequence` did; 0 if there is none.
fn previous_change(body: &ChangeBody, document: DocumentId, sequence: u64) -> Result<u64> {
    let link = body.documents()?.into_iter().find(|touched| touched.id == document);
    // A link leads to an earlier change that touched the document, so a walk ends.
    let previous = link.map(|link| link.previous).filter(|previous| *previous < sequence);
    previous.ok_or_else(|| records::corrupt(&keyspaces::change_part(sequence, 0)))
}

fn history_gone(what: &str, beginning: ChangePosition) -> Error {
    Error::history_gone(format!("{what}; the change log begins at {beginning}"))
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
        DocumentHistory { reader: self, document, next: None, dropped: 0 }
    }

    /// The changes that touched `document` before the change `sequence`, which touched it, too. The
    /// document need not exist any more.
    ///
    /// # Errors
    /// As [`Self::locate`]; [`ErrorKind::Corrupted`] also if that change did not touch it.
    pub fn history_before(
        self,
        document: DocumentId,
        sequence: u64,
    ) -> Result<DocumentHistory<'a>> {
        let previous = previous_change(&change_body(self.read, sequence)?, document, sequence)?;
        let dropped = log_beginning(self.read)?.sequence();
        Ok(DocumentHistory { reader: self, document, next: Some(previous), dropped })
    }

    /// The rows after a position for a follower, up to the one with which their bodies reach
    /// `enough_bytes`; each names the files that it creates and that do not exist any more.
    ///
    /// # Errors
    /// As [`Self::changes_after`].
    pub fn rows_after(
        &self,
        position: impl Into<ChangePosition>,
        enough_bytes: usize,
    ) -> Result<Vec<ChangeRow>> {
        let mut previous = position.into();
        self.check_position(previous)?;
        if previous.sequence() > 0 {
            previous = self.position_at(previous.sequence())?;
        }
        let mut bytes = 0;
        self.decode_while(previous, |body| {
            let row = body.row(previous)?;
            previous = row.position();
            bytes += row.len();
            let mut lost = Vec::new();
            for file in row.files() {
                if self.asset(file.id)?.is_none() {
                    lost.push(file.id);
                }
            }
            Ok((row.without_files(lost), bytes < enough_bytes))
        })
    }

    fn decode_after<T>(
        &self,
        position: ChangePosition,
        limit: usize,
        decode: impl Fn(&ChangeBody) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.check_position(position)?;
        if limit == 0 {
            return Ok(Vec::new());
        }
        let mut decoded = 0;
        self.decode_while(position, |body| {
            decoded += 1;
            Ok((decode(body)?, decoded < limit))
        })
    }

    /// Decodes the changes after `position`, which was checked, until `decode` returns `false` with
    /// the last one that is wanted.
    fn decode_while<T>(
        &self,
        position: ChangePosition,
        mut decode: impl FnMut(&ChangeBody) -> Result<(T, bool)>,
    ) -> Result<Vec<T>> {
        let mut changes = Vec::new();
        let Some(first) = position.sequence().checked_add(1) else {
            return Ok(changes);
        };
        let lower = keyspaces::change_part(first, 0);
        let upper = keyspaces::prefix_end([CHANGES.tag]);
        let (mut parts, mut expected, mut goes_on) = (ChangeParts::default(), first, true);
        self.read.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
            let (sequence, _) =
                keyspaces::parse_change_part(key).ok_or_else(|| records::corrupt(key))?;
            // Sequences have no gap: another one here means that a change is missing.
            if PartHeader::read(key, value)?.0.first_sequence(sequence) != expected {
                return Err(records::corrupt(&keyspaces::change_part(expected, 0)));
            }
            let Some(body) = parts.push(key, value)? else {
                return Ok(ControlFlow::Continue(()));
            };
            let (change, wants_more) = decode(&body)?;
            changes.push(change);
            (expected, goes_on) = (sequence + 1, wants_more);
            Ok(if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        // The totals reveal changes that are missing at the end.
        let is_missing =
            parts.incomplete().is_some() || goes_on && expected <= self.last_sequence()?;
        if is_missing {
            Err(records::corrupt(&keyspaces::change_part(expected, 0)))
        } else {
            Ok(changes)
        }
    }

    /// Fails unless the log goes on from `position`. At most three lookups.
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
        let mut token = self.token_at(sequence)?;
        if token.is_none() {
            let beginning = self.log_begins_at()?;
            if sequence == beginning.sequence() {
                token = beginning.token();
            } else {
                self.check_dropped(sequence, beginning)?;
            }
        }
        if position.token().is_some() && token != position.token() {
            return other_history("its token is not that of the change");
        }
        Ok(())
    }

    /// The error for what the log does not have, with where it begins.
    pub fn history_gone(&self, what: &str) -> Error {
        self.log_begins_at().map_or_else(|error| error, |beginning| history_gone(what, beginning))
    }

    /// Fails if compaction dropped the change `sequence`, which the log does not have, or merged it
    /// with others.
    fn check_dropped(&self, sequence: u64, beginning: ChangePosition) -> Result<()> {
        let gone = |what: String| Err(history_gone(&what, beginning));
        if sequence < beginning.sequence() {
            return gone(format!("the changes after {sequence} are no longer in the change log"));
        }
        match self.merged_over(sequence)? {
            Some((first, last)) => gone(format!(
                "change {sequence} was merged with others into the one of changes {first} to {last}"
            )),
            None => Ok(()),
        }
    }

    /// The first and the last sequence of the merged change that covers `sequence`, which is not
    /// its last.
    fn merged_over(&self, sequence: u64) -> Result<Option<(u64, u64)>> {
        let lower = keyspaces::change_part(sequence, 0);
        let upper = keyspaces::prefix_end([CHANGES.tag]);
        let mut merged = None;
        self.read.scan(KeyRange::half_open(&lower, &upper), &mut |key, value| {
            let (last, _) =
                keyspaces::parse_change_part(key).ok_or_else(|| records::corrupt(key))?;
            let first = PartHeader::read(key, value)?.0.first_sequence(last);
            merged = (first <= sequence && sequence < last).then_some((first, last));
            Ok(ControlFlow::Break(()))
        })?;
        Ok(merged)
    }

    /// Where the log begins: the position after the last change that compaction dropped. One
    /// lookup.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn log_begins_at(&self) -> Result<ChangePosition> {
        log_beginning(self.read)
    }

    /// The sequence after which the log goes on for a reader that has read up to `sequence`: that,
    /// or where the log begins, or the beginning of the merged change that covers it, which then is
    /// read again. At most two lookups.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn resume_after(&self, sequence: u64) -> Result<u64> {
        let beginning = self.log_begins_at()?.sequence();
        if sequence <= beginning {
            return Ok(beginning);
        }
        Ok(self.merged_over(sequence)?.map_or(sequence, |(first, _)| first - 1))
    }

    /// The change that has or covers `sequence`; `None` if it was dropped. At most two lookups and
    /// the change.
    ///
    /// # Errors
    /// As [`Self::changes_after`].
    pub fn change_over(&self, sequence: u64) -> Result<Option<Change>> {
        if sequence <= self.log_begins_at()?.sequence() {
            return Ok(None);
        }
        let last = self.merged_over(sequence)?.map_or(sequence, |(_, last)| last);
        change_body(self.read, last)?.change().map(Some)
    }

    /// The token of the change `sequence`; `None` if there is no such change. One lookup.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn token_at(&self, sequence: u64) -> Result<Option<ChangeToken>> {
        let key = keyspaces::change_part(sequence, 0);
        get(self.read, &key, |value| Ok(PartHeader::read(&key, value)?.0.token))
    }

    /// The position after the change `sequence`, which is in the log or the one before its
    /// beginning. At most two lookups.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupted`] if the change is missing; as [`Self::locate`].
    pub fn position_at(&self, sequence: u64) -> Result<ChangePosition> {
        if let Some(token) = self.token_at(sequence)? {
            return Ok(ChangePosition::new(sequence, token));
        }
        let beginning = self.log_begins_at()?;
        if sequence == beginning.sequence() {
            return Ok(beginning);
        }
        Err(records::corrupt(&keyspaces::change_part(sequence, 0)))
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

/// Changes of documents that are loaded at once.
const MAX_ROWS_AHEAD: usize = 64;

/// The rows of the log that touch some documents, newest first: each names the one before, so that
/// the rows of other documents are not read.
pub(crate) struct RowsTouching {
    documents: BTreeSet<DocumentId>,
    /// The sequences of rows to read.
    next: BTreeSet<u64>,
    /// What the row returned last touches.
    touched: Vec<TouchedDocument>,
    /// Rows up to this one were dropped.
    dropped: u64,
}

impl RowsTouching {
    /// The rows that touch `documents`, each of which names its last row.
    pub(crate) fn new(
        source: &dyn Read,
        documents: impl IntoIterator<Item = TouchedDocument>,
    ) -> Result<Self> {
        let mut rows = Self {
            documents: BTreeSet::new(),
            next: BTreeSet::new(),
            touched: documents.into_iter().collect(),
            dropped: log_beginning(source)?.sequence(),
        };
        rows.documents.extend(rows.touched.iter().map(|touched| touched.id));
        rows.queue(|_| true);
        Ok(rows)
    }

    /// Whether the rows are those of this document, too.
    pub(crate) fn touches(&self, document: DocumentId) -> bool {
        self.documents.contains(&document)
    }

    /// Adds another document that the row returned last touches, with its earlier rows.
    pub(crate) fn follow(&mut self, document: DocumentId) {
        if self.documents.insert(document) {
            self.queue(|touched| touched == document);
        }
    }

    /// Adds all rows before the one with this sequence: a document that was created again has
    /// earlier ones that no row names.
    pub(crate) fn follow_all_before(&mut self, source: &dyn Read, sequence: u64) -> Result<()> {
        let lower = [CHANGES.tag];
        let upper = keyspaces::change_part(sequence, 0);
        source.scan(KeyRange::half_open(&lower, &upper), &mut |key, _| {
            self.next.extend(keyspaces::parse_change_part(key).map(|(sequence, _)| sequence));
            Ok(ControlFlow::Continue(()))
        })
    }

    fn queue(&mut self, is_followed: impl Fn(DocumentId) -> bool) {
        let followed = self.touched.iter().filter(|touched| is_followed(touched.id));
        let rows = followed.map(|touched| touched.previous);
        self.next.extend(rows.filter(|row| *row > self.dropped));
    }

    /// The last row before the one returned last.
    pub(crate) fn previous(&mut self, source: &dyn Read) -> Result<Option<ChangeBody>> {
        while let Some(sequence) = self.next.pop_last() {
            if !source.is_loaded(&keyspaces::change_part(sequence, 0)) {
                let rows = [sequence].into_iter().chain(self.next.iter().rev().copied());
                let rows = rows.take(MAX_ROWS_AHEAD).map(keyspaces::change_parts);
                prefetch_ranges(source, rows, 1);
            }
            let body = change_body(source, sequence)?;
            self.touched = body.documents()?;
            if self.touched.iter().any(|touched| self.documents.contains(&touched.id)) {
                let documents = std::mem::take(&mut self.documents);
                self.queue(|document| documents.contains(&document));
                self.documents = documents;
                return Ok(Some(body));
            }
        }
        Ok(None)
    }
}
