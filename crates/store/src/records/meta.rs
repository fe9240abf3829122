//! The two records that a space says of itself.

use leafbase_model::SpaceId;

use crate::msgpack::{Pack, Unpack, Unpacked, put_bin};
use crate::space_store::SpaceMeta;

/// The name of the record that tells the versions. It keeps its shape for ever.
pub(crate) const FORMAT: &str = "format";
/// The name of the record that tells ID, name and zone.
pub(crate) const SPACE: &str = "space";

/// The version of the format that this crate writes.
pub(crate) const FORMAT_VERSION: u64 = 1;
/// The version that a reader must know to read what this crate writes.
pub(crate) const MINIMUM_READER: u64 = 1;

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
