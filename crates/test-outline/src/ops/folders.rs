//! Random requests on folders.

use leafbase_model::{
    BuiltInLocation, CreateFolders, DeleteFolders, FolderDestination, FolderDraft, FolderId,
    FolderPatch, FolderRef, MoveFolders, UpdateFolders,
};

use super::{Setting, few};
use crate::Numbers;

/// A request on folders.
#[derive(Clone, Debug, PartialEq)]
pub enum FolderRequest {
    /// The tree.
    Tree,
    /// Makes some.
    Create(CreateFolders),
    /// Moves some.
    Move(MoveFolders),
    /// Updates some.
    Update(UpdateFolders),
    /// Deletes some.
    Delete(DeleteFolders),
}

impl FolderRequest {
    pub(super) fn new(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> Self {
        let few_folders = setting.space.folders.len() < 4;
        match numbers.below(8) {
            0..=2 => Self::Create(CreateFolders::new(drafts(numbers, setting, 0))),
            _ if setting.space.folders.is_empty() => {
                Self::Create(CreateFolders::new(drafts(numbers, setting, 0)))
            }
            3 if few_folders => Self::Create(CreateFolders::new(drafts(numbers, setting, 0))),
            4 if numbers.once_in(2) => Self::Tree,
            5 if numbers.once_in(2) => {
                Self::Update(UpdateFolders::new(few(numbers, 3, |n| patch(n, setting))))
            }
            3..=5 => Self::Move(MoveFolders {
                folder_ids: folders(numbers, setting),
                destination: to(numbers, setting),
            }),
            _ => Self::Delete(DeleteFolders {
                folder_ids: folders(numbers, setting),
                must_be_empty: numbers.once_in(3),
            }),
        }
    }
}

fn to(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> FolderDestination {
    if numbers.once_in(2) {
        FolderDestination::Root
    } else {
        FolderDestination::Folder(folder(numbers, setting))
    }
}

fn drafts(numbers: &mut Numbers<'_>, setting: Setting<'_>, depth: usize) -> Vec<FolderDraft> {
    let count = numbers.pick(&[1, 1, 2, 1]);
    (0..count).map(|_| draft(numbers, setting, depth)).collect()
}

fn draft(numbers: &mut Numbers<'_>, setting: Setting<'_>, depth: usize) -> FolderDraft {
    let length =
        if numbers.once_in(10) { numbers.pick(&[0, 28, 29, 2]) } else { 1 + numbers.below(2) };
    let letter = numbers.pick(&['a', 'B', 'é', 'b', ' ']);
    let name = if length == 0 {
        String::new()
    } else {
        format!("{}x", letter.to_string().repeat(length - 1))
    };
    let often = depth == 0 && !setting.space.folders.is_empty();
    let names_parent = numbers.once_in(if often { 2 } else { 24 });
    let parent = names_parent.then(|| folder(numbers, setting));
    let folders = if depth < 3 && numbers.once_in(3) {
        drafts(numbers, setting, depth + 1)
    } else {
        Vec::new()
    };
    FolderDraft { name, parent, folders }
}

fn patch(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> FolderPatch {
    let mut patch = FolderPatch::of(FolderId::NIL);
    patch.id = folder(numbers, setting);
    if numbers.once_in(2) {
        patch = patch.named(&*draft(numbers, setting, 3).name);
    }
    if numbers.once_in(2) {
        patch = patch.moved_to(to(numbers, setting));
    }
    if numbers.once_in(4) {
        patch = patch.if_rev(1);
    }
    patch
}

fn folders(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> Vec<FolderRef> {
    few(numbers, 2, |numbers| folder(numbers, setting))
}

/// A folder; now and then one that is not there, and a built-in location.
pub(super) fn folder(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> FolderRef {
    let ids: Vec<_> = setting.space.folders.iter().map(|folder| folder.id).collect();
    match numbers.below(24) {
        23 => FolderId::from_bytes([0xAB; 16]).into(),
        22 => numbers.pick(BuiltInLocation::ALL).into(),
        _ if ids.is_empty() => FolderId::from_bytes([0xAB; 16]).into(),
        _ => numbers.pick(&ids).into(),
    }
}
