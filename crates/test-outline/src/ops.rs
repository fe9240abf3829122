//! Random requests, built from numbers, for the current state of a space; invalid ones included.

use leafbase_model::{BlockId, Day, DayRef, DocumentId, Limits, Location};

use crate::{NaiveBlock, NaiveDocument, NaiveSpace, Numbers};

mod blocks;
mod collections;
mod comments;
mod documents;
mod files;
mod filters;
mod folders;
mod schemas;
mod tasks;
mod values;

pub use blocks::BlockRequest;
pub use collections::CollectionRequest;
pub use comments::CommentRequest;
pub use documents::DocumentRequest;
pub use files::FileRequest;
pub use folders::FolderRequest;
pub use tasks::TaskRequest;

/// A request, valid or not.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Block operations.
    Blocks(BlockRequest),
    /// Document operations.
    Documents(DocumentRequest),
    /// Folder operations.
    Folders(FolderRequest),
    /// Task operations.
    Tasks(TaskRequest),
    /// Comment operations.
    Comments(CommentRequest),
    /// File operations.
    Files(FileRequest),
    /// Collection operations.
    Collections(CollectionRequest),
}

/// State from which requests are built.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The space.
    pub space: &'a NaiveSpace,
    /// The current day; without one, block requests name no day.
    pub today: Option<Day>,
}

/// Limits that small spaces reach; every daily note's title is within them.
pub fn small_limits() -> Limits {
    let mut limits = Limits::default();
    (limits.page_nesting, limits.folder_nesting, limits.blocks_per_request) = (4, 2, 9);
    (limits.block_text, limits.title, limits.block_raw) = (64, 28, 16);
    (limits.comment, limits.upload) = (40, 64);
    (limits.schema_properties, limits.select_options) = (8, 4);
    limits
}

impl Request {
    /// The request of these numbers, mostly on collections. The setting has a day.
    pub fn with_collections(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> Self {
        match numbers.below(3) {
            0 | 1 => Self::Collections(CollectionRequest::new(numbers, setting)),
            _ => Self::new(numbers, setting),
        }
    }

    /// The request of these numbers, except on collections. The setting has a day.
    pub fn new(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> Self {
        match numbers.below(64) {
            0..=25 => Self::Blocks(BlockRequest::new(numbers, setting)),
            26..=37 => Self::Documents(DocumentRequest::new(numbers, setting)),
            38..=44 => Self::Folders(FolderRequest::new(numbers, setting)),
            45..=54 => Self::Tasks(TaskRequest::new(numbers, setting)),
            55..=57 => Self::Comments(CommentRequest::new(numbers, setting)),
            _ => Self::Files(FileRequest::new(numbers, setting)),
        }
    }

    /// Kind of the request, for statistics.
    pub fn name(&self) -> String {
        let debug = format!("{self:?}");
        let words = debug.split(|letter: char| !letter.is_alphanumeric());
        words.take(2).collect::<Vec<_>>().join(" ")
    }
}

/// A block of the space, mostly a suitable one outside of the trash; sometimes one that does not
/// exist.
fn block(
    numbers: &mut Numbers<'_>,
    setting: Setting<'_>,
    wanted: impl Fn(&NaiveBlock) -> bool,
) -> BlockId {
    let (none, any) = (numbers.once_in(24), numbers.once_in(12));
    let live = setting
        .space
        .documents
        .iter()
        .filter(|found| any || found.record.location != Location::Trash);
    let blocks: Vec<_> = live.flat_map(|found| found.root.walk()).collect();
    let some = blocks.iter().any(|found| wanted(found));
    let blocks = blocks.into_iter().filter(|found| any || !some || wanted(found));
    let ids: Vec<_> = blocks.map(|found| found.record.id).collect();
    if none || ids.is_empty() { BlockId::from_bytes([0xAB; 16]) } else { numbers.pick(&ids) }
}

/// Whether a block is a descendant of another one.
fn is_inner(setting: Setting<'_>) -> impl Fn(&NaiveBlock) -> bool {
    move |found| setting.space.document(DocumentId::of_root(found.record.id)).is_none()
}

/// A document, mostly a suitable one; sometimes one that does not exist.
fn document(
    numbers: &mut Numbers<'_>,
    setting: Setting<'_>,
    wanted: impl Fn(&NaiveDocument) -> bool,
) -> DocumentId {
    let (none, any) = (numbers.once_in(24), numbers.once_in(12));
    let documents = &setting.space.documents;
    let mut found: Vec<_> = documents.iter().filter(|found| any || wanted(found)).collect();
    if found.is_empty() {
        found = documents.iter().collect();
    }
    let ids: Vec<_> = found.into_iter().map(|found| found.record.id).collect();
    if none || ids.is_empty() { DocumentId::from_bytes([0xAB; 16]) } else { numbers.pick(&ids) }
}

/// A relative day or a date around today.
fn day(numbers: &mut Numbers<'_>, today: Day) -> DayRef {
    match numbers.below(8) {
        0 => DayRef::Today,
        1 => DayRef::Tomorrow,
        2 => DayRef::Yesterday,
        shift => DayRef::Date(Day::from_epoch_days(
            today.epoch_days() + i64::try_from(shift).unwrap_or(0) - 5,
        )),
    }
}

/// A few values of `make`, mostly distinct.
fn few<T: PartialEq>(
    numbers: &mut Numbers<'_>,
    most: usize,
    mut make: impl FnMut(&mut Numbers<'_>) -> T,
) -> Vec<T> {
    let count = numbers.below(most) + usize::from(!numbers.once_in(24));
    let repeats = numbers.once_in(12);
    let mut found: Vec<T> = Vec::new();
    for _ in 0..count {
        let one = make(numbers);
        if repeats || !found.contains(&one) {
            found.push(one);
        }
    }
    found
}
