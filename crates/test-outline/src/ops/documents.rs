//! Random requests on documents.

use leafbase_model::{
    BuiltInLocation, CreateDocuments, CreateFromTemplate, Day, DayRange, DeleteDocuments,
    Destination, DocumentFilter, DocumentOrder, DocumentPatch, FolderRef, ListDocuments, ListTags,
    Location, MoveDocuments, PurgeDocuments, RestoreDailyNotes, UpdateDocuments,
};

use super::{Setting, blocks, day, document, few, folders};
use crate::{NaiveDocument, Numbers};

/// A request on documents.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentRequest {
    /// Lists them.
    List(ListDocuments),
    /// Lists tags.
    Tags(ListTags),
    /// Makes some.
    Create(CreateDocuments),
    /// Puts some into the trash.
    Delete(DeleteDocuments),
    /// Moves some.
    Move(MoveDocuments),
    /// Updates some.
    Update(UpdateDocuments),
    /// Takes daily notes out of the trash.
    Restore(RestoreDailyNotes),
    /// Erases some.
    Purge(PurgeDocuments),
    /// Copies a template.
    Copy(CreateFromTemplate),
}

impl DocumentRequest {
    pub(super) fn new(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> Self {
        let any = |wanted: fn(&NaiveDocument) -> bool| setting.space.documents.iter().any(wanted);
        match numbers.below(16) {
            0 if numbers.once_in(2) => Self::Tags(tags(numbers)),
            0..=2 => Self::List(list(numbers, setting)),
            11 | 12 if any(is_trashed_note) => {
                Self::Restore(RestoreDailyNotes::new(few(numbers, 2, |n| {
                    document(n, setting, is_trashed_note)
                })))
            }
            13 if any(is_trashed) => Self::Purge(purge(numbers, setting)),
            14 | 15 if any(is_template) => Self::Copy(copy(numbers, setting)),
            8 | 9 if numbers.once_in(2) => {
                Self::Update(UpdateDocuments::new(few(numbers, 3, |n| patch(n, setting))))
            }
            9 | 10 => {
                let ids = few(numbers, 3, |n| document(n, setting, is_no_note));
                Self::Move(MoveDocuments::new(ids, destination(numbers, setting)))
            }
            3..=5 | 14 | 15 => Self::Create(create(numbers, setting)),
            12 => Self::Delete(DeleteDocuments::new(few(numbers, 2, |n| {
                document(n, setting, is_live_note)
            }))),
            _ => Self::Delete(DeleteDocuments::new(few(numbers, 2, |n| {
                document(n, setting, is_live)
            }))),
        }
    }
}

fn patch(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> DocumentPatch {
    let mut patch = DocumentPatch::of(document(numbers, setting, is_no_note));
    if numbers.once_in(2) {
        patch = patch.titled(blocks::text(numbers, setting));
    }
    match numbers.below(4) {
        0 | 1 => patch = patch.moved_to(destination(numbers, setting)),
        2 => patch.location = Some(numbers.pick(BuiltInLocation::ALL).into()),
        _ => {}
    }
    if numbers.once_in(4) {
        let found = setting.space.document(patch.id);
        patch.rev = Some(found.map_or(1, |found| found.record.rev));
    }
    patch
}

fn is_live(found: &NaiveDocument) -> bool {
    !matches!(found.record.location, Location::Trash | Location::Inbox)
}

fn is_live_note(found: &NaiveDocument) -> bool {
    is_live(found) && !is_no_note(found)
}

fn is_no_note(found: &NaiveDocument) -> bool {
    found.record.day.is_none() && found.record.location != Location::Inbox
}

fn is_trashed_note(found: &NaiveDocument) -> bool {
    is_trashed(found) && !is_no_note(found)
}

fn is_template(found: &NaiveDocument) -> bool {
    found.record.location == Location::Templates
}

fn is_trashed(found: &NaiveDocument) -> bool {
    found.record.location == Location::Trash
}

pub(super) fn destination(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> Destination {
    let folder = match folders::folder(numbers, setting) {
        FolderRef::Folder(folder) => Destination::Folder(folder),
        FolderRef::BuiltIn(_) => Destination::Unsorted,
    };
    let folder = if setting.space.folders.is_empty() && !numbers.once_in(4) {
        Destination::Unsorted
    } else {
        folder
    };
    numbers.pick(&[Destination::Unsorted, Destination::Templates, folder, folder])
}

fn create(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> CreateDocuments {
    let count = numbers.pick(&[1, 1, 2, 1, 0, 2, 3, 1]);
    let documents: Vec<_> = (0..count).map(|_| blocks::root(numbers, setting)).collect();
    CreateDocuments::new(documents, destination(numbers, setting))
}

fn copy(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> CreateFromTemplate {
    let template = document(numbers, setting, is_template);
    let mut request = CreateFromTemplate::new(template).at(destination(numbers, setting));
    if numbers.once_in(3) {
        request = request.titled(blocks::text(numbers, setting));
    }
    request
}

fn purge(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> PurgeDocuments {
    if numbers.once_in(3) {
        return PurgeDocuments::OlderThanDays(numbers.pick(&[1, 2, 0]));
    }
    PurgeDocuments::new(few(numbers, 2, |n| document(n, setting, is_trashed)))
}

fn list(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> ListDocuments {
    let today = setting.today.expect("a listing is of some day");
    let mut request = ListDocuments::new();
    request.filter = DocumentFilter {
        location: numbers.once_in(4).then(|| numbers.pick(BuiltInLocation::ALL)),
        folders: numbers
            .once_in(4)
            .then(|| few(numbers, 3, |numbers| folders::folder(numbers, setting))),
        created: range(numbers, today),
        modified: range(numbers, today),
        daily_note: range(numbers, today),
        tags: if numbers.once_in(4) { few(numbers, 2, tag) } else { vec![] },
    };
    request.order = numbers.once_in(2).then(|| numbers.pick(DocumentOrder::ALL));
    (request.metadata, request.descending) = (numbers.once_in(2), numbers.once_in(2));
    request.paging.limit = numbers.pick(&[None, None, Some(1), Some(2), Some(3), Some(7)]);
    request
}

fn tags(numbers: &mut Numbers<'_>) -> ListTags {
    let mut request = ListTags::new().starting(numbers.pick(&["", "", "tr", "#Trip/", "to d"]));
    request.paging.limit = numbers.pick(&[None, None, Some(1), Some(2)]);
    request
}

/// Tags that texts may have, and what is folded to them.
fn tag(numbers: &mut Numbers<'_>) -> String {
    numbers.pick(&["trip", "#Trip", "trip/lisbon", "to do", "none"]).to_owned()
}

fn range(numbers: &mut Numbers<'_>, today: Day) -> DayRange {
    if !numbers.once_in(4) {
        return DayRange::ALL;
    }
    DayRange {
        from: numbers.once_in(2).then(|| day(numbers, today)),
        to: numbers.once_in(2).then(|| day(numbers, today)),
    }
}
