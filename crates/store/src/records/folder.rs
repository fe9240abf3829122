//! Folder records.

use leafbase_model::{FolderId, FolderRecord};

use crate::msgpack::{ArrayEncoder, Decoded, Decoder, put_bin};

pub(crate) fn put(out: &mut Vec<u8>, record: &FolderRecord) {
    let FolderRecord { id: _, name, parent } = record;
    let mut pack = ArrayEncoder::new(out);
    pack.str(name);
    pack.field(parent.is_none(), |out| put_bin(out, parent.unwrap_or_default().as_bytes())).end();
}

pub(crate) fn read(id: FolderId, decoder: &mut Decoder<'_>) -> Decoded<FolderRecord> {
    let mut fields = decoder.fields()?;
    let name = fields.str()?.to_owned();
    let parent = fields.next(Decoder::id)?.map(FolderId::from_bytes);
    fields.end()?;
    Ok(FolderRecord { id, name, parent })
}
