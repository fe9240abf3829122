//! Random requests: any numbers make one that means something in the space at hand, wrong ones included.

use leafbase_model::{AddComments, BlockId, CommentDraft, Day, DayRef, DocumentId, Limits};

use crate::{NaiveDocument, NaiveSpace, Numbers};

mod blocks;
mod documents;
mod files;
mod folders;
mod tasks;

pub use blocks::BlockRequest;
pub use documents::DocumentRequest;
pub use files::FileRequest;
pub use folders::FolderRequest;
pub use tasks::TaskRequest;

/// A request, right or wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// On blocks.
    Blocks(BlockRequest),
    /// On documents.
    Documents(DocumentRequest),
    /// On folders.
    Folders(FolderRequest),
    /// On tasks.
    Tasks(TaskRequest),
    /// Comments.
    Comments(AddComments),
    /// On files.
    Files(FileRequest),
}

/// What requests are made up about.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// What there is.
    pub space: &'a NaiveSpace,
    /// The day that it is; without one no request on blocks names a day.
    pub today: Option<Day>,
}

/// Limits that small spaces reach. The title of every daily note is within them.
pub fn small_limits() -> Limits {
    let mut limits = Limits::default();
    (limits.page_nesting, limits.folder_nesting, limits.blocks_per_request) = (4, 2, 9);
    (limits.block_text, limits.title, limits.block_raw) = (64, 28, 16);
    (limits.comment, limits.upload) = (12, 64);
    limits
}

impl Request {
    /// The request that these numbers make. The setting has a day.
    pub fn new(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> Self {
        match numbers.below(64) {
            0..=25 => Self::Blocks(BlockRequest::new(numbers, setting)),
            26..=37 => Self::Documents(DocumentRequest::new(numbers, setting)),
            38..=44 => Self::Folders(FolderRequest::new(numbers, setting)),
            45..=54 => Self::Tasks(TaskRequest::new(numbers, setting)),
            55..=57 => Self::Comments(comments(numbers, setting)),
            _ => Self::Files(FileRequest::new(numbers, setting)),
        }
    }

    /// What sort of request it is, for counts.
    pub fn name(&self) -> String {
        let debug = format!("{self:?}");
        let words = debug.split(|letter: char| !letter.is_alphanumeric());
        words.take(2).collect::<Vec<_>>().join(" ")
    }
}

fn comments(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> AddComments {
    let count = 1 + numbers.below(3);
    let draft = |_| CommentDraft::new(block(numbers, setting), blocks::text(numbers, setting));
    AddComments::new((0..count).map(draft))
}

/// A block of the space; now and then one that is not there.
fn block(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> BlockId {
    let ids = setting.space.ids();
    if ids.is_empty() || numbers.once_in(24) {
        return BlockId::from_bytes([0xAB; 16]);
    }
    numbers.pick(&ids)
}

/// A document, mostly one that is wanted; now and then one that is not there.
fn document(numbers: &mut Numbers<'_>, setting: Setting<'_>, wanted: impl Fn(&NaiveDocument) -> bool) -> DocumentId {
    if numbers.once_in(24) {
        return DocumentId::from_bytes([0xAB; 16]);
    }
    let (any, space) = (numbers.once_in(8), setting.space);
    let found: Vec<_> = space.documents.iter().filter(|found| any || wanted(found)).collect();
    let found = if found.is_empty() { space.documents.iter().collect() } else { found };
    if found.is_empty() { DocumentId::NIL } else { found[numbers.below(found.len())].record.id }
}

/// A day in words or a date around today.
fn day(numbers: &mut Numbers<'_>, today: Day) -> DayRef {
    match numbers.below(8) {
        0 => DayRef::Today,
        1 => DayRef::Tomorrow,
        2 => DayRef::Yesterday,
        shift => DayRef::Date(Day::from_epoch_days(today.epoch_days() + i64::try_from(shift).unwrap_or(0) - 5)),
    }
}

/// A few of what `make` gives; mostly each once.
fn few<T: PartialEq>(numbers: &mut Numbers<'_>, most: usize, mut make: impl FnMut(&mut Numbers<'_>) -> T) -> Vec<T> {
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
