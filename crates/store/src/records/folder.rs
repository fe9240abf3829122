//! Folder records.

use leafbase_model::{FolderId, FolderRecord};

use crate::msgpack::{Pack, Unpack, Unpacked, put_bin};

pub(crate) fn put(out: &mut Vec<u8>, record: &FolderRecord) {
    let FolderRecord { id: _, name, parent } = record;
    let mut pack = Pack::new(out);
    pack.str(name);
    pack.field(parent.is_none(), |out| put_bin(out, parent.unwrap_or_default().as_bytes())).end();
}

pub(crate) fn read(id: FolderId, unpack: &mut Unpack<'_>) -> Unpacked<FolderRecord> {
    let mut fields = unpack.fields()?;
    let name = fields.str()?.to_owned();
    let parent = fields.next(Unpack::id)?.map(FolderId::from_bytes);
    fields.end()?;
    Ok(FolderRecord { id, name, parent })
}
