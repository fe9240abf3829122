//! Document records.

use leafbase_model::{DocumentId, DocumentRecord, FolderId, Location};

use super::block::{put_day, read_day};
use crate::msgpack::{Fault, Pack, Unpack, Unpacked, put_bin, time};

pub(crate) fn put(out: &mut Vec<u8>, record: &DocumentRecord) {
    let DocumentRecord { id: _, location, day, created_at, modified_at } = record;
    let (class, folder) = match location {
        Location::Unsorted => (0, None),
        Location::Templates => (1, None),
        Location::DailyNotes => (2, None),
        Location::Folder(folder) => (3, Some(*folder)),
        Location::Trash => (4, None),
    };
    let mut pack = Pack::new(out);
    pack.time(Some(*created_at)).time(Some(*modified_at)).uint(class);
    pack.field(folder.is_none(), |out| put_bin(out, folder.unwrap_or_default().as_bytes()));
    put_day(&mut pack, *day);
    pack.end();
}

pub(crate) fn read(id: DocumentId, unpack: &mut Unpack<'_>) -> Unpacked<DocumentRecord> {
    let mut fields = unpack.fields()?;
    let created_at = fields.required(time)?;
    let modified_at = fields.required(time)?;
    let class = fields.uint()?;
    let folder = fields.next(Unpack::id)?.map(FolderId::from_bytes);
    let location = match (class, folder) {
        (0, None) => Location::Unsorted,
        (1, None) => Location::Templates,
        (2, None) => Location::DailyNotes,
        (3, Some(folder)) => Location::Folder(folder),
        (4, None) => Location::Trash,
        (0..=4, _) => return Err(Fault::Damaged),
        _ => return Err(Fault::Newer),
    };
    let day = fields.next(read_day)?;
    fields.end()?;
    Ok(DocumentRecord { id, location, day, created_at, modified_at })
}
