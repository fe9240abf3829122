//! Keys of folders.

use leafbase_model::FolderId;

use super::{FOLDER_CHILDREN, FOLDERS, id_at, joined, with_id};

pub(crate) fn folder(folder: FolderId) -> [u8; 17] {
    with_id(FOLDERS, folder.as_bytes())
}

pub(crate) fn parse_folder(key: &[u8]) -> Option<FolderId> {
    (key.len() == 17).then(|| id_at(key, 1).map(FolderId::from_bytes))?
}

pub(crate) fn folders_in(parent: Option<FolderId>) -> [u8; 17] {
    with_id(FOLDER_CHILDREN, parent.unwrap_or(FolderId::NIL).as_bytes())
}

pub(crate) fn folder_child(parent: Option<FolderId>, folder: FolderId) -> [u8; 33] {
    joined(FOLDER_CHILDREN, &[parent.unwrap_or(FolderId::NIL).as_bytes(), folder.as_bytes()])
}

/// The parent, `None` at the top, and the folder.
pub(crate) fn parse_folder_child(key: &[u8]) -> Option<(Option<FolderId>, FolderId)> {
    let parent = FolderId::from_bytes(id_at(key, 1)?);
    let folder = FolderId::from_bytes(id_at(key, 17)?);
    (key.len() == 33).then_some(((!parent.is_nil()).then_some(parent), folder))
}
