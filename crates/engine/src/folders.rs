//! Folders that documents are kept in.

use leafbase_model::{Edit, Error, FolderId, FolderRecord, Items, Result};

use crate::connection::Connection;
use crate::sight::Full;

impl Connection<Full> {
    /// Makes a folder in `parent`, or at the top.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] if the parent does not exist; [`crate::ErrorKind::Validation`] if the name is empty;
    /// [`crate::ErrorKind::LimitExceeded`] if it is too long.
    pub fn create_folder(&self, name: &str, parent: Option<FolderId>) -> Result<FolderRecord> {
        let characters = name.chars().count();
        if characters > self.limits().title {
            return Err(Error::limit("characters of a folder's name", self.limits().title, characters).at("name"));
        }
        if name.trim().is_empty() {
            return Err(Error::validation("a folder needs a name").at("name"));
        }
        let (folder, _) = self.write(|writing| {
            if let Some(parent) = parent
                && writing.transaction.reader()?.folder(parent)?.is_none()
            {
                return Err(Error::not_found().at("parentFolderId"));
            }
            let id = FolderId::from_bytes(writing.context.ids.mint(writing.context.stamp.at));
            let folder = FolderRecord { id, name: name.to_owned(), parent };
            writing.apply(vec![Edit::CreateFolder(folder.clone())])?;
            Ok(folder)
        })?;
        Ok(folder)
    }

    /// Every folder, by ID.
    ///
    /// # Errors
    /// What the store reports.
    pub fn folders(&self) -> Result<Items<FolderRecord>> {
        self.read(|_, snapshot| snapshot.reader().folders().map(Items))
    }
}
