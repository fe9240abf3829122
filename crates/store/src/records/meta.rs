//! What a space says of itself: its format, its name, and what there must be of rows whose absence
//! nothing else tells.

use leafbase_model::SpaceId;

use crate::msgpack::{Pack, Unpack, Unpacked, put_bin};
use crate::space_store::SpaceMeta;

/// The name of the record that tells the versions. It keeps its shape for ever.
pub(crate) const FORMAT: &str = "format";
/// The name of the record that tells ID, name and zone.
pub(crate) const SPACE: &str = "space";
/// The name of the record of [`Totals`].
pub(crate) const TOTALS: &str = "totals";

/// The version of the format that this crate writes.
pub(crate) const FORMAT_VERSION: u64 = 1;
/// The version that a reader must know to read what this crate writes.
pub(crate) const MINIMUM_READER: u64 = 1;

/// What a page that cannot be reached any more would take away unnoticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// The number of the last change; 0 if there is none.
    pub(crate) sequence: u64,
    /// How many folders there are.
    pub(crate) folders: u64,
}

pub(crate) fn put_format(out: &mut Vec<u8>) {
    Pack::new(out).uint(FORMAT_VERSION).uint(MINIMUM_READER).end();
}

/// The version that a reader must know. What later versions add to the record is theirs.
pub(crate) fn read_minimum_reader(unpack: &mut Unpack<'_>) -> Unpacked<u64> {
    let mut fields = unpack.fields()?;
    let _format = fields.uint()?;
    fields.uint()
}

pub(crate) fn put_space(out: &mut Vec<u8>, meta: &SpaceMeta) {
    let SpaceMeta { id, name, zone } = meta;
    let mut pack = Pack::new(out);
    pack.field(false, |out| put_bin(out, id.as_bytes())).str(name).str(zone).end();
}

pub(crate) fn read_space(unpack: &mut Unpack<'_>) -> Unpacked<SpaceMeta> {
    let mut fields = unpack.fields()?;
    let id = SpaceId::from_bytes(fields.required(Unpack::id)?);
    let meta = SpaceMeta { id, name: fields.str()?.to_owned(), zone: fields.str()?.to_owned() };
    fields.end()?;
    Ok(meta)
}

pub(crate) fn put_totals(out: &mut Vec<u8>, totals: Totals) {
    let Totals { sequence, folders } = totals;
    Pack::new(out).uint(sequence).uint(folders).end();
}

pub(crate) fn read_totals(unpack: &mut Unpack<'_>) -> Unpacked<Totals> {
    let mut fields = unpack.fields()?;
    let totals = Totals { sequence: fields.uint()?, folders: fields.uint()? };
    fields.end()?;
    Ok(totals)
}
