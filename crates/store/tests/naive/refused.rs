//! Edits that break a rule of the space, from random numbers.

use leafbase_model::{
    BlockData, DocumentId, DocumentRecord, Edit, ErrorKind, FolderId, FolderRecord, Location,
    Subtrees, Timestamp,
};

use super::{Maker, Naive, maker, pick};

/// Rules that edits must obey even if they match the stored state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A day has one note outside of the trash.
    OneNote,
    /// The folder of a document exists.
    FolderExists,
    /// No folder is inside itself.
    NoRing,
    /// An embedded file stays.
    ShownStays,
}

impl Rule {
    pub const ALL: [Self; 4] = [Self::OneNote, Self::FolderExists, Self::NoRing, Self::ShownStays];

    /// The rule to break, if any.
    pub fn of(number: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(number % 6).unwrap()).copied()
    }

    pub fn kind(self) -> ErrorKind {
        if self == Self::FolderExists { ErrorKind::NotFound } else { ErrorKind::Conflict }
    }
}

impl Maker {
    /// An edit that breaks nothing but `rule`, where the space allows it.
    pub fn refused(
        &mut self,
        naive: &Naive,
        rule: Rule,
        [_, _, b, seed]: [u32; 4],
    ) -> Option<Edit> {
        match rule {
            Rule::OneNote => {
                let taken =
                    (0..5).map(maker::day).filter_map(|day| Some((day, naive.note_of(day)?)));
                let (day, note) = pick(&taken.collect::<Vec<_>>(), b)?;
                let location =
                    [Location::DailyNotes, Location::Unsorted, Location::Templates][b as usize % 3];
                self.document(naive, Some(note), seed, |before| DocumentRecord {
                    location,
                    day: Some(day),
                    ..before
                })
            }
            Rule::FolderExists => {
                let location = Location::Folder(FolderId::from_bytes(self.id()));
                // Without a day, so that nothing else is wrong.
                self.document(naive, None, seed, |before| DocumentRecord {
                    location,
                    day: None,
                    ..before
                })
            }
            Rule::NoRing => {
                let before = naive.folders
                    [&pick(&naive.folders.keys().copied().collect::<Vec<_>>(), b)?]
                    .clone();
                let parent = pick(&naive.folders_below(before.id), seed);
                Some(Edit::UpdateFolder {
                    after: FolderRecord { parent, ..before.clone() },
                    before,
                })
            }
            Rule::ShownStays => {
                let shown: Vec<_> = naive.assets.keys().copied().collect();
                Some(Edit::EraseAsset(naive.assets[&pick(&shown, b)?].clone()))
            }
        }
    }

    /// A new document or a known one but `except`, as `change` makes it.
    fn document(
        &mut self,
        naive: &Naive,
        except: Option<DocumentId>,
        seed: u32,
        change: impl FnOnce(DocumentRecord) -> DocumentRecord,
    ) -> Option<Edit> {
        if !seed.is_multiple_of(3) {
            let others: Vec<_> =
                naive.documents.keys().copied().filter(|id| Some(*id) != except).collect();
            let before = naive.documents[&pick(&others, seed)?].clone();
            return Some(Edit::UpdateDocument { after: change(before.clone()), before });
        }
        let mut root = self.block(naive, 7);
        root.data = BlockData::page("Refused");
        let (id, at) = (DocumentId::of_root(root.id), Timestamp::from_millis(1));
        let record = DocumentRecord {
            id,
            location: Location::Unsorted,
            day: None,
            created_at: at,
            modified_at: at,
            rev: 1,
        };
        Some(Edit::CreateDocument { record: change(record), subtrees: Subtrees::one(root) })
    }
}
