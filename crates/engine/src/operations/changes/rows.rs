//! Rows of the change log: read from one space, applied to those that follow it.

use std::io::Read;

use leafbase_model::{AssetRecord, ChangePosition, Edit, ErrorKind, Result};
use leafbase_store::ChangeRow;
use leafbase_store::kv::WriteOptions;

use crate::core::access::Full;
use crate::core::connection::Connection;
use crate::core::space::Space;
use crate::operations::files::Upload;

impl Connection<Full> {
    /// The rows of the change log after a position as they are stored, for a space that follows
    /// this one ([`Space::follow`]): those of one version of the space, up to the row with which
    /// they reach `enough_bytes`. None at the end of the log. They are durable: a space that is
    /// written has whatever those that follow it have, also after a power loss.
    ///
    /// ```
    /// use leafbase::{ChangePosition, ChangeRow};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// notes.create_document("Trip")?;
    /// let rows = notes.change_rows(ChangePosition::BEGINNING, 1 << 20)?;
    /// let sent = rows[0].to_bytes();
    /// assert_eq!(ChangeRow::from_bytes(&sent)?.position(), notes.last_position()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::changes_since`]; errors of the disk.
    pub fn change_rows(
        &self,
        position: impl Into<ChangePosition>,
        enough_bytes: usize,
    ) -> Result<Vec<ChangeRow>> {
        let position = position.into();
        let operation = self.operation("change_rows");
        let rows = operation.read_all(|reader| reader.rows_after(position, enough_bytes))?;
        if rows.is_empty() {
            return Ok(rows);
        }
        // Costs nothing unless writes were relaxed.
        match self.space().store()?.make_durable() {
            // Of a handle that only reads: who writes decides.
            Err(error) if error.kind() == ErrorKind::ReadOnly => Ok(rows),
            durable => durable.map(|()| rows),
        }
    }
}

impl Space {
    /// Applies rows of the change log of the space that this one follows
    /// ([`Connection::change_rows`](crate::Connection::change_rows)), in one transaction: all or
    /// none. Afterwards this space is what the other one was after the last of them, with the same
    /// log: sequences, tokens, times, authors, revisions and IDs. Returns the position after it.
    ///
    /// It begins as a backup of the other space ([`Self::backup_to`]), opened with
    /// [`SpaceBuilder::follower`](crate::SpaceBuilder::follower). The bytes of the files that a row
    /// creates ([`ChangeRow::files`]) are stored before with [`Self::store_file`]. Host records and
    /// replies that are kept for request keys are not part of the log, and are not followed.
    ///
    /// ```
    /// use leafbase::Space;
    /// # fn main() -> leafbase::Result<()> {
    /// # let directory = tempfile::tempdir().unwrap();
    /// # let path = directory.path().join("copy.leafbase");
    /// let leader = Space::in_memory()?;
    /// let notes = leader.connect();
    /// notes.create_document("Trip")?;
    /// leader.backup_to(&path)?;
    /// let follower = Space::builder().follower(true).open(&path)?;
    ///
    /// notes.create_document("Diary")?;
    /// let seen = follower.connect().last_position()?;
    /// let rows = notes.change_rows(seen, 1 << 20)?;
    /// assert_eq!(follower.follow(&rows)?, notes.last_position()?);
    /// assert_eq!(follower.connect().documents()?.len(), 2);
    /// let refused = follower.connect().create_document("Packing").unwrap_err();
    /// assert_eq!(refused.code(), "READ_ONLY");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::HistoryGone`] if a copy of the other space has to replace this one: the rows
    /// are of another history, compaction merged them with rows that are here already, a later
    /// purge redacted them, or this space was written otherwise. [`ErrorKind::Conflict`] if a row
    /// does not follow the one before it; [`ErrorKind::NotFound`] if the bytes of a file are
    /// missing; [`ErrorKind::RuleViolation`] if this space is not a follower; errors of the store.
    pub fn follow(&self, rows: &[ChangeRow]) -> Result<ChangePosition> {
        self.check_follows()?;
        self.check_not_read_only()?;
        let store = self.store()?;
        self.before_write(self.durability());
        let now = self.now().as_millis();
        store.follow(WriteOptions::durability(self.durability()).at_millis(now), rows)?;
        let edits = rows.iter().flat_map(|row| &row.change().edits);
        let created = edits.filter(|edit| matches!(edit, Edit::CreateDocument { .. })).count();
        if !rows.is_empty() {
            self.after_write(&store, created);
        }
        let snapshot = store.snapshot()?;
        snapshot.reader().last_position()
    }

    /// Stores the bytes of a file that one of the next rows creates. They become the file when
    /// [`Self::follow`] applies the row; until then they are dropped when the space is opened
    /// again. A file that exists already is left as it is.
    ///
    /// ```
    /// use leafbase::{Space, UploadFile};
    /// # fn main() -> leafbase::Result<()> {
    /// let leader = Space::in_memory()?.connect();
    /// let trip = leader.create_document("Trip")?;
    /// leader.upload_file(UploadFile::new(trip.id()).named("seat.txt"), &b"12A"[..])?;
    ///
    /// let follower = Space::builder().follower(true).in_memory()?;
    /// let rows = leader.change_rows(0, usize::MAX)?;
    /// for file in rows.iter().flat_map(|row| row.files()) {
    ///     follower.store_file(file, leader.open_file(file.id)?)?;
    /// }
    /// follower.follow(&rows)?;
    /// let copied = follower.connect().content_markdown(trip.id())?;
    /// assert_eq!(copied, leader.content_markdown(trip.id())?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Corrupted`] if the bytes do not have the size or the hash in `file`;
    /// [`ErrorKind::Storage`] for an error of `bytes`; [`ErrorKind::RuleViolation`] if this space
    /// is not a follower; errors of the store. Nothing of the bytes remains then.
    pub fn store_file(&self, file: &AssetRecord, bytes: impl Read) -> Result<()> {
        self.check_follows()?;
        Upload::store_file(self, file, bytes)
    }
}
