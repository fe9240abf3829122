//! Records about the space as a whole: format, name, and totals that reveal lost rows.

use leafbase_model::{ChangePosition, ChangeToken, KeptScope, Result, SpaceId, SpaceSettings};

use super::layout::{Value, record};
use crate::hash_parts::hash_parts;
use crate::keyspaces;
use crate::msgpack::{ArrayEncoder, Decoded, Decoder};

/// Name of the record of the format versions.
pub(crate) const FORMAT: &str = "format";
/// Name of the record of [`SpaceMeta`].
pub(crate) const SPACE: &str = "space";
/// Name of the record of [`SpaceTotals`].
pub(crate) const TOTALS: &str = "totals";
/// Name of the record of [`DroppedChange`]. There is none before one was dropped.
pub(crate) const LOG_BEGINNING: &str = "log";

/// The format version that this crate writes.
pub(crate) const FORMAT_VERSION: u64 = 1;
/// The lowest version of a reader that can read what this crate writes.
const MINIMUM_READER: u64 = 1;

/// Appends the record of the format versions.
pub(crate) fn encode_format(out: &mut Vec<u8>) {
    let mut array = ArrayEncoder::new(out);
    array.uint(FORMAT_VERSION);
    array.uint(MINIMUM_READER);
    array.end();
}

/// Decodes the lowest reader version. Later versions may add fields, so the rest is not decoded.
pub(crate) fn decode_minimum_reader(decoder: &mut Decoder<'_>) -> Decoded<u64> {
    let mut fields = decoder.fields()?;
    let _format_version = fields.uint()?;
    fields.uint()
}

/// Name, ID and time zone of a space.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpaceMeta {
    /// The space's ID, generated when the space is created.
    pub id: SpaceId,
    /// Its name.
    pub name: String,
    /// The IANA name of the time zone that its days are in.
    #[serde(rename = "timezone")]
    pub zone: String,
}

impl SpaceMeta {
    /// The part that changes.
    pub fn settings(&self) -> SpaceSettings {
        let Self { name, zone, .. } = self.clone();
        SpaceSettings { name, zone }
    }

    /// The record of space `id` with these settings.
    pub(crate) fn new(id: SpaceId, settings: SpaceSettings) -> Self {
        let SpaceSettings { name, zone } = settings;
        Self { id, name, zone }
    }
}

record! {
    SpaceMeta = { SpaceMeta { id, name, zone } };
    id(required), name, zone,
}

record! {
    SpaceSettings = { SpaceSettings { name, zone } };
    name, zone,
}

/// The key of the scope that is kept under `name`.
pub(crate) fn scope_key(name: &str) -> [u8; 33] {
    keyspaces::scope(&hash_parts(&[name.as_bytes()]))
}

/// Decodes a kept scope, whose key follows from its name.
pub(crate) fn read_scope(key: &[u8], value: &[u8]) -> Result<KeptScope> {
    let scope = super::decode(key, value, KeptScope::decode)?;
    if scope_key(&scope.name) == key { Ok(scope) } else { Err(super::corrupt(key)) }
}

record! {
    KeptScope = { KeptScope { name, documents, pages, folders, is_read_only } };
    name, documents, pages, folders, is_read_only,
}

/// Totals of the keyspaces that no other record counts: an unreachable page would lose their rows
/// unnoticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SpaceTotals {
    /// Sequence of the last change; 0 without changes.
    pub(crate) sequence: u64,
    /// Number of folders.
    pub(crate) folders: u64,
    /// Sequence of the last change that erased a document and can be undone: a document that was
    /// created again afterwards has earlier changes that none of the later ones names.
    pub(crate) last_erasure: u64,
    /// Sequence of the last change of a folder: the version of what is cached of folders.
    pub(crate) last_folder_edit: u64,
}

/// The last change that compaction dropped from the log: the log begins after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DroppedChange {
    pub(crate) sequence: u64,
    pub(crate) token: u64,
}

impl DroppedChange {
    /// The position after it.
    pub(crate) const fn position(self) -> ChangePosition {
        ChangePosition::new(self.sequence, ChangeToken::from_u64(self.token))
    }
}

record! {
    DroppedChange = { DroppedChange { sequence, token } };
    sequence, token,
}

record! {
    SpaceTotals = { SpaceTotals { sequence, folders, last_erasure, last_folder_edit } };
    sequence, folders, last_erasure, last_folder_edit,
}
