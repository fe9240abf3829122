//! Folder records: a folder without its ID, which ends its key.

use leafbase_model::{FolderId, FolderRecord};

use super::layout::record;

record! {
    encode / decode [id: FolderId] ()
    FolderRecord = { FolderRecord { id, name, parent, rev } };
    name, parent, rev,
}
