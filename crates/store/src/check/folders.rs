//! Checks of folders.

use std::collections::{BTreeMap, HashSet};

use leafbase_model::FolderId;

use super::{Invariant, SpaceCheck};
use crate::keyspaces::{self, FOLDER_CHILDREN, FOLDERS, RowName};
use crate::records::meta::SpaceTotals;
use crate::records::{self, folder};

impl SpaceCheck<'_> {
    /// Returns the IDs of all folders.
    pub(super) fn folders(&mut self, totals: Option<SpaceTotals>) -> HashSet<FolderId> {
        let mut parents: BTreeMap<FolderId, Option<FolderId>> = BTreeMap::new();
        let mut named = HashSet::new();
        self.rows(FOLDERS, &mut |check, key, value| {
            let id = keyspaces::parse_folder(key).ok_or_else(|| records::corrupt(key))?;
            check.report.folders += 1;
            named.insert(id);
            let record = records::decode(key, value, |decoder| folder::decode(id, decoder))?;
            parents.insert(id, record.parent);
            Ok(())
        });
        if let Some(expected) = totals.map(|totals| totals.folders)
            && expected != named.len() as u64
        {
            self.found(
                Invariant::Folder,
                FOLDERS.name,
                format_args!("{} of {expected} exist", named.len()),
            );
        }
        for (id, parent) in &parents {
            if parent.is_some_and(|parent| !named.contains(&parent)) {
                self.found(
                    Invariant::Folder,
                    format_args!("folder {id}"),
                    "its parent folder does not exist",
                );
            }
            self.expect_index_row(Invariant::FolderIndex, &keyspaces::folder_child(*parent, *id));
        }
        self.folder_circles(&parents);
        self.rows(FOLDER_CHILDREN, &mut |check, key, value| {
            let (parent, id) =
                keyspaces::parse_folder_child(key).ok_or_else(|| records::corrupt(key))?;
            if parents.get(&id) != Some(&parent) {
                check.found(
                    Invariant::FolderIndex,
                    RowName(key),
                    "it does not follow from the folder's record",
                );
            }
            records::decode_empty(key, value)
        });
        named
    }

    fn folder_circles(&mut self, parents: &BTreeMap<FolderId, Option<FolderId>>) {
        let mut reached = HashSet::new();
        for start in parents.keys() {
            let (mut at, mut path) = (Some(*start), Vec::new());
            // Each folder is visited once, from whichever start reaches it first.
            while let Some(id) = at.filter(|id| reached.insert(*id)) {
                path.push(id);
                at = parents.get(&id).copied().flatten();
            }
            if let Some(id) = at.filter(|id| path.contains(id)) {
                self.found(Invariant::Folder, format_args!("folder {id}"), "it is inside itself");
            }
        }
    }
}
