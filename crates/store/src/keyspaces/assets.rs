//! Keys of uploaded files, of their bytes, and of uploads.

use leafbase_model::AssetId;

use super::{ASSET_CHUNKS, ASSETS, PENDING_ASSETS, id_at, joined, with_id};

pub(crate) fn asset(asset: AssetId) -> [u8; 17] {
    with_id(ASSETS, asset.as_bytes())
}

pub(crate) fn pending_asset(asset: AssetId) -> [u8; 17] {
    with_id(PENDING_ASSETS, asset.as_bytes())
}

/// The file, or the upload, of a key.
pub(crate) fn parse_asset(key: &[u8]) -> Option<AssetId> {
    (key.len() == 17).then(|| id_at(key, 1).map(AssetId::from_bytes))?
}

pub(crate) fn chunk(asset: AssetId, number: u32) -> [u8; 21] {
    joined(ASSET_CHUNKS, &[asset.as_bytes(), &number.to_be_bytes()])
}

/// File and number.
pub(crate) fn parse_chunk(key: &[u8]) -> Option<(AssetId, u32)> {
    let number = key.get(17..)?.try_into().ok()?;
    Some((AssetId::from_bytes(id_at(key, 1)?), u32::from_be_bytes(number)))
}
