//! Reads of documents: those that a query asks for, the inbox, the note of a day, and how many are kept in a place.

use leafbase_model::{Day, DocumentRecord, Location, Result};

use super::query::{DocumentQuery, Span, Within};
use super::{Cursor, DocumentPage, Listing, Reader};

impl Reader<'_> {
    /// At most `limit` documents that `query` asks for, those behind `after`.
    ///
    /// # Errors
    /// What the store reports; [`leafbase_model::ErrorKind::Corrupted`];
    /// [`leafbase_model::ErrorKind::Validation`] at `cursor` if the cursor is one of another query.
    pub fn find_documents(&self, query: &DocumentQuery, after: Option<&Cursor>, limit: usize) -> Result<DocumentPage> {
        let after = after.map(|cursor| query.read_cursor(cursor)).transpose()?;
        let all = self.documents(Listing::All, false, None, usize::MAX)?.documents;
        let mut found: Vec<_> = all
            .into_iter()
            .filter(|record| query.matches(record))
            .map(|record| (query.sort_key(&record), record))
            .filter(|(key, _)| after.is_none_or(|after| if query.descending { **key < *after } else { **key > *after }))
            .collect();
        found.sort_unstable_by(|(a, _), (b, _)| if query.descending { b.cmp(a) } else { a.cmp(b) });
        let goes_on = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| goes_on).map(|(key, _)| query.cursor(key));
        Ok(DocumentPage { documents: found.into_iter().map(|(_, record)| record).collect(), next })
    }

    /// How many documents are kept in `location`. It is kept count of: nothing is walked.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn location_count(&self, location: Location) -> Result<u64> {
        let listed = self.documents(Listing::At(location), false, None, usize::MAX)?;
        Ok(listed.documents.len() as u64)
    }

    /// The document that holds the inbox, if it was made.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn inbox(&self) -> Result<Option<DocumentRecord>> {
        let listed = self.documents(Listing::At(Location::Inbox), false, None, 1)?;
        Ok(listed.documents.into_iter().next())
    }

    /// The daily note of `day` that is not in the trash.
    ///
    /// # Errors
    /// As [`Self::locate`].
    pub fn note_of(&self, day: Day) -> Result<Option<DocumentRecord>> {
        let query = DocumentQuery {
            within: Within::All,
            day: Span { from: Some(day), to: Some(day) },
            ..DocumentQuery::default()
        };
        let found = self.find_documents(&query, None, usize::MAX)?.documents;
        Ok(found.into_iter().find(|record| record.location != Location::Trash))
    }
}
