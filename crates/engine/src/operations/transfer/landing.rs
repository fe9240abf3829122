//! Where what is imported goes when it is written: the folder that it was planned for may be gone
//! by then, and the day may have a note.

use std::collections::HashSet;

use leafbase_model::{DocumentRecord, Edit, FolderId, Location, Result, Subtrees};
use leafbase_store::SpaceReader;

use crate::operations::transfer::plan::Plan;
use crate::operations::transfer::reading;
use crate::operations::transfer::report::{Adaptation, AdaptationKind};

/// The edits of a batch on their way into the space as it is now.
pub(super) struct Landing<'a> {
    pub(super) reader: SpaceReader<'a>,
    pub(super) plan: &'a Plan,
    /// The folders that edits before make.
    made: HashSet<FolderId>,
    adaptations: Vec<Adaptation>,
}

impl<'a> Landing<'a> {
    /// Gives the documents and folders that `edits` make a place that exists. What was planned
    /// otherwise is told.
    pub(super) fn land(
        reader: SpaceReader<'a>,
        plan: &'a Plan,
        edits: &mut [Edit],
    ) -> Result<Vec<Adaptation>> {
        let mut landing = Self { reader, plan, made: HashSet::new(), adaptations: Vec::new() };
        for edit in edits {
            match edit {
                Edit::CreateFolder(folder) => {
                    let parent = landing.living(folder.parent)?;
                    if parent != folder.parent {
                        let path = plan.directory(folder.id);
                        landing.tell(path, AdaptationKind::Location, moved(parent));
                        folder.parent = parent;
                    }
                    landing.made.insert(folder.id);
                }
                Edit::CreateDocument { record, subtrees } => landing.document(record, subtrees)?,
                _ => {}
            }
        }
        Ok(landing.adaptations)
    }

    fn document(&mut self, record: &mut DocumentRecord, subtrees: &mut Subtrees) -> Result<()> {
        let Some(file) = self.plan.file(record.id) else { return Ok(()) };
        if let Some(day) = record.day
            && self.reader.note_of(day)?.is_some()
        {
            (record.day, record.location) =
                (None, file.folder.map_or(Location::Unsorted, Location::Folder));
            if let Some(root) = subtrees.0.first_mut() {
                root.block.data.markdown = reading::title(&file.path);
            }
            self.tell(&file.path, AdaptationKind::DailyNote, reading::has_note_already(day));
        }
        if let Location::Folder(folder) = record.location {
            let living = self.living(Some(folder))?;
            if living != Some(folder) {
                record.location = living.map_or(Location::Unsorted, Location::Folder);
                self.tell(&file.path, AdaptationKind::Location, moved(living));
            }
        }
        Ok(())
    }

    /// `folder`, or if that is gone the nearest above it that is there.
    fn living(&self, mut folder: Option<FolderId>) -> Result<Option<FolderId>> {
        while let Some(id) = folder {
            if self.made.contains(&id) || self.reader.folder(id)?.is_some() {
                break;
            }
            folder = self.plan.above(id);
        }
        Ok(folder)
    }

    fn tell(&mut self, path: &str, kind: AdaptationKind, message: String) {
        self.adaptations.push(Adaptation { path: path.to_owned(), line: None, kind, message });
    }
}

fn moved(to: Option<FolderId>) -> String {
    let place = if to.is_some() { "the one above it" } else { "no folder" };
    format!("its folder was deleted meanwhile: it goes into {place}")
}
