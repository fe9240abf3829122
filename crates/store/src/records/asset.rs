//! Records of uploaded files, without their bytes.

use leafbase_model::{AssetId, AssetRecord, Author, Stamp};

use crate::msgpack::{ArrayEncoder, Decoded, Decoder, time};

pub(crate) fn put(out: &mut Vec<u8>, asset: &AssetRecord) {
    let AssetRecord { id: _, media_type, file_name, size, created } = asset;
    let mut pack = ArrayEncoder::new(out);
    pack.time(Some(created.at))
        .uint(*size)
        .str(media_type)
        .str(file_name)
        .str(created.by.as_str())
        .end();
}

pub(crate) fn read(id: AssetId, decoder: &mut Decoder<'_>) -> Decoded<AssetRecord> {
    let mut fields = decoder.fields()?;
    let at = fields.required(time)?;
    let size = fields.uint()?;
    let media_type = fields.str()?.to_owned();
    let file_name = fields.str()?.to_owned();
    let by = Author::new(fields.str()?);
    fields.end()?;
    Ok(AssetRecord { id, media_type, file_name, size, created: Stamp { at, by } })
}
