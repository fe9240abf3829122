//! Records of uploaded files, without their bytes.

use leafbase_model::{AssetId, AssetRecord, Stamp};

use super::layout::record;

record! {
    encode / decode [id: AssetId] ()
    AssetRecord = {
        AssetRecord { id, media_type, file_name, size, sha256, created: Stamp { at, by } }
    };
    at(required), size, media_type, file_name, by, sha256,
}
