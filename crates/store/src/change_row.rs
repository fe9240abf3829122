//! Rows of the change log, as followers of a space get them.

use std::collections::HashSet;
use std::fmt;

use leafbase_model::{
    AssetId, AssetRecord, Change, ChangePosition, ChangeToken, Edit, Error, ErrorKind, Result,
};

use crate::msgpack::{ArrayEncoder, DecodeError, Decoded, Decoder, encode_bin, encode_uint};
use crate::records::change::{self, ChangeIdentity, TouchedDocument};
use crate::records::layout::{Field, Value};

/// Version of the encoded form.
const VERSION: u64 = 1;

/// One row of the change log as it is stored, for a follower: a space that has the same history
/// and applies each row with [`crate::SpaceStore::follow`].
#[derive(Clone, PartialEq)]
pub struct ChangeRow {
    previous: ChangePosition,
    identity: ChangeIdentity,
    body: Vec<u8>,
    lost_files: Vec<AssetId>,
    /// Decoded from `body`.
    change: Change,
}

impl fmt::Debug for ChangeRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeRow")
            .field("position", &self.position())
            .field("previous", &self.previous)
            .finish_non_exhaustive()
    }
}

impl ChangeRow {
    /// The row with this uncompressed body, which follows `previous` in the log.
    pub(crate) fn new(
        previous: ChangePosition,
        identity: ChangeIdentity,
        body: Vec<u8>,
        lost_files: Vec<AssetId>,
    ) -> Decoded<Self> {
        let change = change::decode(identity, &body)?;
        Ok(Self { previous, identity, body, lost_files, change })
    }

    /// The same row, without the bytes of these files.
    pub(crate) fn without_files(self, lost_files: Vec<AssetId>) -> Self {
        Self { lost_files, ..self }
    }

    /// The position of the row before it: only a space that ends there can apply this one.
    pub const fn previous(&self) -> ChangePosition {
        self.previous
    }

    /// The position right after this row.
    pub const fn position(&self) -> ChangePosition {
        ChangePosition::new(self.identity.sequence, self.identity.token)
    }

    /// The change of the row.
    pub const fn change(&self) -> &Change {
        &self.change
    }

    /// Whether the row purges a document: what earlier rows have of it must be erased wherever they
    /// are kept.
    pub fn purges(&self) -> bool {
        self.change.edits.iter().any(|edit| matches!(edit, Edit::PurgeDocument { .. }))
    }

    /// The files that the row creates, whose bytes a follower stores before it applies the row.
    /// Without those in [`Self::lost_files`].
    pub fn files(&self) -> impl Iterator<Item = &AssetRecord> {
        self.change.edits.iter().filter_map(|edit| match edit {
            Edit::CreateAsset(record) if self.has_bytes_of(record.id) => Some(record),
            _ => None,
        })
    }

    /// The files that the row creates and that did not exist any more when it was read: nothing
    /// has their bytes, and a follower does not create them.
    pub fn lost_files(&self) -> &[AssetId] {
        &self.lost_files
    }

    /// About the bytes of the row in memory.
    pub fn len(&self) -> usize {
        self.body.len()
    }

    /// Whether the body is empty, which none is.
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    fn has_bytes_of(&self, file: AssetId) -> bool {
        !self.lost_files.contains(&file)
    }

    pub(crate) const fn identity(&self) -> ChangeIdentity {
        self.identity
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    pub(crate) fn documents(&self) -> Result<Vec<TouchedDocument>> {
        change::decode_documents(&self.body).map_err(|error| unreadable(error, self.identity))
    }

    /// The edits for a space that has the files for which `has_file` is true. Edits of other files
    /// are left out: their bytes were lost before the row was read.
    pub(crate) fn edits(
        &self,
        mut has_file: impl FnMut(AssetId) -> Result<bool>,
    ) -> Result<Vec<Edit>> {
        let (mut edits, mut created) =
            (Vec::with_capacity(self.change.edits.len()), HashSet::new());
        for edit in &self.change.edits {
            let mut edit = edit.clone();
            match &mut edit {
                Edit::CreateAsset(record) => {
                    if !self.has_bytes_of(record.id) {
                        continue;
                    }
                    created.insert(record.id);
                }
                Edit::EraseAsset(record)
                    // The row that creates the file was applied without it, so there is nothing to
                    // erase.
                    if !(created.contains(&record.id) || has_file(record.id)?) =>
                {
                    continue;
                }
                Edit::PurgeDocument { files, .. } => {
                    // A purge names every file of the document, those that came without their bytes
                    // included.
                    let mut there = Vec::with_capacity(files.len());
                    for file in files.iter() {
                        if created.contains(file) || has_file(*file)? {
                            there.push(*file);
                        }
                    }
                    *files = there;
                }
                _ => {}
            }
            edits.push(edit);
        }
        Ok(edits)
    }

    /// The bytes of the row, which [`Self::from_bytes`] reads. They have no checksum: add one to
    /// keep them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.body.len() + 64);
        let mut array = ArrayEncoder::new(&mut out);
        let ChangeIdentity { first_sequence, sequence, token } = self.identity;
        array.field(false, |out| encode_uint(out, VERSION));
        for number in [first_sequence, sequence, token.to_u64(), self.previous.sequence()] {
            array.field(false, |out| encode_uint(out, number));
        }
        let previous = self.previous.token();
        array.field(previous.is_none(), |out| {
            encode_uint(out, previous.map_or(0, ChangeToken::to_u64));
        });
        array.field(false, |out| encode_bin(out, &self.body));
        self.lost_files.encode_field(&mut array);
        array.end();
        out
    }

    /// Reads the bytes of a row.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupted`]; [`ErrorKind::NewerFormat`] for a row of a later version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::decode(bytes).map_err(|error| match error {
            DecodeError::Corrupt => Error::corrupted("the bytes of a row of the change log"),
            DecodeError::UnsupportedVersion => Error::new(
                ErrorKind::NewerFormat,
                "a later version of this library wrote the row of the change log",
            ),
        })
    }

    fn decode(bytes: &[u8]) -> Decoded<Self> {
        let mut decoder = Decoder::new(bytes);
        let mut fields = decoder.fields()?;
        if fields.required(Decoder::uint)? != VERSION {
            return Err(DecodeError::UnsupportedVersion);
        }
        let first_sequence = fields.required(Decoder::uint)?;
        let sequence = fields.required(Decoder::uint)?;
        let token = ChangeToken::from_u64(fields.required(Decoder::uint)?);
        let before = fields.required(Decoder::uint)?;
        let previous = match fields.next(Decoder::uint)? {
            Some(token) => ChangePosition::new(before, ChangeToken::from_u64(token)),
            None => ChangePosition::from(before),
        };
        let body = fields.required(|decoder| decoder.bin().map(<[u8]>::to_vec))?;
        let lost_files = fields.next(<Vec<AssetId> as Value>::decode)?.unwrap_or_default();
        fields.end()?;
        decoder.finish()?;
        // A row begins right after the one before it.
        if before.checked_add(1) != Some(first_sequence) || first_sequence > sequence {
            return Err(DecodeError::Corrupt);
        }
        Self::new(previous, ChangeIdentity { first_sequence, sequence, token }, body, lost_files)
    }
}

fn unreadable(error: DecodeError, identity: ChangeIdentity) -> Error {
    crate::records::decode_error(&crate::keyspaces::change_part(identity.sequence, 0), error)
}
