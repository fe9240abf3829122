//! What a space says of itself: its format, its name, and what there must be of rows whose absence
//! nothing else tells.

use leafbase_model::SpaceId;

use crate::msgpack::{ArrayEncoder, Decoded, Decoder, put_bin};
use crate::space_store::SpaceMeta;

/// The name of the record that tells the versions. It keeps its shape for ever.
pub(crate) const FORMAT: &str = "format";
/// The name of the record that tells ID, name and zone.
pub(crate) const SPACE: &str = "space";
/// The name of the record of [`SpaceTotals`].
pub(crate) const TOTALS: &str = "totals";

/// The version of the format that this crate writes.
pub(crate) const FORMAT_VERSION: u64 = 1;
/// The version that a reader must know to read what this crate writes.
pub(crate) const MINIMUM_READER: u64 = 1;

/// What a page that cannot be reached any more would take away unnoticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SpaceTotals {
    /// The number of the last change; 0 if there is none.
    pub(crate) sequence: u64,
    /// How many folders there are.
    pub(crate) folders: u64,
}

pub(crate) fn put_format(out: &mut Vec<u8>) {
    ArrayEncoder::new(out).uint(FORMAT_VERSION).uint(MINIMUM_READER).end();
}

/// The version that a reader must know. What later versions add to the record is theirs.
pub(crate) fn read_minimum_reader(decoder: &mut Decoder<'_>) -> Decoded<u64> {
    let mut fields = decoder.fields()?;
    let _format = fields.uint()?;
    fields.uint()
}

pub(crate) fn put_space(out: &mut Vec<u8>, meta: &SpaceMeta) {
    let SpaceMeta { id, name, zone } = meta;
    let mut pack = ArrayEncoder::new(out);
    pack.field(false, |out| put_bin(out, id.as_bytes())).str(name).str(zone).end();
}

pub(crate) fn read_space(decoder: &mut Decoder<'_>) -> Decoded<SpaceMeta> {
    let mut fields = decoder.fields()?;
    let id = SpaceId::from_bytes(fields.required(Decoder::id)?);
    let meta = SpaceMeta { id, name: fields.str()?.to_owned(), zone: fields.str()?.to_owned() };
    fields.end()?;
    Ok(meta)
}

pub(crate) fn put_totals(out: &mut Vec<u8>, totals: SpaceTotals) {
    let SpaceTotals { sequence, folders } = totals;
    ArrayEncoder::new(out).uint(sequence).uint(folders).end();
}

pub(crate) fn read_totals(decoder: &mut Decoder<'_>) -> Decoded<SpaceTotals> {
    let mut fields = decoder.fields()?;
    let totals = SpaceTotals { sequence: fields.uint()?, folders: fields.uint()? };
    fields.end()?;
    Ok(totals)
}
