//! What the page calls, free of anything that only a browser has.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use leafbase::json::FromJson;
use leafbase::kv::{KeyRange, MemoryStore, Store, WriteOptions};
use leafbase::{BlockId, Error, ErrorKind, Full, Result, Space, SpaceBuilder, UndoManager};
use serde::Serialize;

/// A key or a value begins with its length.
const LENGTH_BYTES: usize = 4;

/// A space in memory, and what can be undone in it.
#[derive(Debug)]
pub struct Notes {
    entries: Arc<MemoryStore>,
    space: Space,
    undo: UndoManager<Full>,
}

impl Notes {
    /// An empty space.
    ///
    /// # Errors
    /// Those of [`SpaceBuilder::over`].
    pub fn create(builder: SpaceBuilder) -> Result<Self> {
        Self::over(builder, MemoryStore::new(), true)
    }

    /// The space whose entries [`Self::save`] returned.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupted`] if they are not whole, and those of [`SpaceBuilder::over`].
    pub fn open(builder: SpaceBuilder, saved: &[u8]) -> Result<Self> {
        let entries = MemoryStore::new();
        entries.write(WriteOptions::default(), &mut |transaction| {
            let (mut rest, mut count) = (saved, 0_u64);
            while let Some((key, after)) = split_part(rest) {
                let Some((value, after)) = split_part(after) else { break };
                transaction.put(key, value)?;
                (rest, count) = (after, count + 1);
            }
            // Entries that are cut off between two of them look whole.
            if rest == count.to_le_bytes() {
                return Ok(());
            }
            Err(Error::new(ErrorKind::Corrupted, "what was saved of the notes is not whole"))
        })?;
        Self::over(builder, entries, false)
    }

    fn over(builder: SpaceBuilder, entries: MemoryStore, create: bool) -> Result<Self> {
        let entries = Arc::new(entries);
        let space = builder.over(entries.clone(), create)?;
        let undo = space.connect().undo_manager();
        Ok(Self { entries, space, undo })
    }

    /// All entries of the space, and their number at the end. Takes time and memory by its size; a
    /// host with large spaces keeps each commit instead, as the example `encrypted_file` does.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] if an entry has 4 GiB.
    pub fn save(&self) -> Result<Vec<u8>> {
        let (mut saved, mut count) = (Vec::new(), 0_u64);
        let all = KeyRange { lower: Bound::Unbounded, upper: Bound::Unbounded, reverse: false };
        self.entries.snapshot()?.scan(all, &mut |key, value| {
            put_part(&mut saved, key)?;
            put_part(&mut saved, value)?;
            count += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        saved.extend_from_slice(&count.to_le_bytes());
        Ok(saved)
    }

    /// Calls an operation with its request in JSON, and returns its reply in JSON.
    ///
    /// # Errors
    /// Those of the operation; [`ErrorKind::NotFound`] if there is none of this name.
    pub fn call(&mut self, operation: &str, request: &str) -> Result<String> {
        match operation {
            "content_markdown" => {
                let page: BlockId = self.space.read_json(request)?;
                json(&self.undo.notes().content_markdown(page)?)
            }
            "info" => json(&self.undo.notes().info()?),
            "undo" => json(&self.undo.undo()?),
            "redo" => json(&self.undo.redo()?),
            _ => self.call_with_request(operation, request),
        }
    }

    fn read<T: FromJson>(&self, request: &str) -> Result<T> {
        self.space.read_json(request)
    }
}

/// Operations by name, each with the type of its request.
macro_rules! operations {
    ($($operation:ident($request:ident))+) => {
        impl Notes {
            fn call_with_request(&self, operation: &str, request: &str) -> Result<String> {
                let notes = self.undo.notes();
                match operation {
                    $(stringify!($operation) => {
                        json(&notes.$operation(self.read::<leafbase::$request>(request)?)?)
                    })+
                    _ => {
                        let message = format!("there is no operation {operation:?}");
                        Err(Error::new(ErrorKind::NotFound, message))
                    }
                }
            }
        }
    };
}

operations! {
    list_documents(ListDocuments) create_documents(CreateDocuments)
    update_documents(UpdateDocuments) delete_documents(DeleteDocuments)
    fetch(Fetch) fetch_markdown(Fetch) apply_markdown(ApplyMarkdown) edit_markdown(EditMarkdown)
    insert_blocks(InsertBlocks) update_blocks(UpdateBlocks) move_blocks(MoveBlocks)
    delete_blocks(DeleteBlocks) split_block(SplitBlock) merge_block(MergeBlock)
    indent_blocks(IndentBlocks) search_blocks(SearchBlocks) replace_text(ReplaceText)
    back_links(BackLinks) list_tags(ListTags)
    tasks(ListTasks) add_tasks(AddTasks) update_tasks(UpdateTasks) delete_tasks(DeleteTasks)
}

fn json(reply: &impl Serialize) -> Result<String> {
    serde_json::to_string(reply)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("a reply is not valid JSON: {error}")))
}

fn put_part(saved: &mut Vec<u8>, part: &[u8]) -> Result<()> {
    let message = "an entry of 4 GiB cannot be saved";
    let length = u32::try_from(part.len());
    let length = length.map_err(|_| Error::new(ErrorKind::LimitExceeded, message))?;
    saved.extend_from_slice(&length.to_le_bytes());
    saved.extend_from_slice(part);
    Ok(())
}

/// The first key or value, and what follows; `None` if it is not all there.
fn split_part(saved: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, after) = saved.split_first_chunk::<LENGTH_BYTES>()?;
    after.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_opens_again_and_what_is_cut_off_is_refused() {
        let mut notes = Notes::create(Space::builder().name("Notes")).unwrap();
        notes.call("create_documents", r#"{"documents": [{"title": "Trip"}]}"#).unwrap();
        let listed = notes.call("list_documents", "{}").unwrap();
        assert!(listed.contains("Trip"));
        let saved = notes.save().unwrap();
        let mut opened = Notes::open(Space::builder(), &saved).unwrap();
        assert_eq!(opened.call("list_documents", "{}").unwrap(), listed);
        assert_eq!(opened.save().unwrap(), saved);
        for end in 0..saved.len() {
            assert!(Notes::open(Space::builder(), &saved[..end]).is_err(), "{end} bytes");
        }
    }

    #[test]
    fn errors_name_the_place() {
        let mut notes = Notes::create(Space::builder().name("Notes")).unwrap();
        let error = notes.call("tasks", r#"{"scope": "someday"}"#).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Validation, "scope"));
        assert_eq!(notes.call("search", "{}").unwrap_err().kind(), ErrorKind::NotFound);
    }
}
