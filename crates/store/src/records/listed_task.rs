//! Records of tasks by day and in the logbook: all that a list shows, so that a list is one scan.

use leafbase_model::{Day, DocumentId, DocumentRecord, Location, TaskLocation};
use xxhash_rust::xxh3::xxh3_64;

use super::layout::{Value, record};
use crate::msgpack::{DecodeError, Decoded, Decoder, encode_bin};

/// Bytes of a block's record up to which a row has it. Of longer ones lists read the block.
const MAX_BLOCK_BYTES: usize = 1_024;

/// A task with what lists show of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedTask {
    pub(crate) location: TaskLocation,
    /// The record of its block, unless it is long.
    pub(crate) block: Option<Box<[u8]>>,
}

impl ListedTask {
    pub(crate) fn new(location: TaskLocation, block: &[u8]) -> Self {
        Self { location, block: (block.len() <= MAX_BLOCK_BYTES).then(|| block.into()) }
    }

    /// A hash of the record that it has.
    pub(crate) fn block_hash(&self) -> u64 {
        self.block.as_deref().map_or(0, xxh3_64)
    }
}

/// The location of a document's tasks. A daily note in the trash is an ordinary document.
pub const fn task_location(record: &DocumentRecord) -> TaskLocation {
    match (record.location, record.day) {
        (Location::Inbox, _) => TaskLocation::Inbox,
        (Location::DailyNotes, Some(day)) => TaskLocation::DailyNote(day),
        _ => TaskLocation::Document(record.id),
    }
}

struct ListedTaskFields {
    document: Option<DocumentId>,
    /// The day of the daily note. In the inbox there is neither.
    note: Option<Day>,
    block: Option<Box<[u8]>>,
}

record! {
    ListedTaskFields = { ListedTaskFields { document, note, block } };
    document, note,
    block(
        |array| array.field(block.is_none(), |out| {
            if let Some(record) = block {
                encode_bin(out, record);
            }
        }),
        |fields| fields.next(Decoder::bin)?.map(Into::into)
    ),
}

impl Value for ListedTask {
    fn encode(&self, out: &mut Vec<u8>) {
        let (document, note) = match self.location {
            TaskLocation::Inbox => (None, None),
            TaskLocation::DailyNote(day) => (None, Some(day)),
            TaskLocation::Document(document) => (Some(document), None),
        };
        ListedTaskFields { document, note, block: self.block.clone() }.encode(out);
    }

    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
        let ListedTaskFields { document, note, block } = ListedTaskFields::decode(decoder)?;
        let location = match (document, note) {
            (None, None) => TaskLocation::Inbox,
            (None, Some(day)) => TaskLocation::DailyNote(day),
            (Some(document), None) => TaskLocation::Document(document),
            (Some(_), Some(_)) => return Err(DecodeError::Corrupt),
        };
        Ok(Self { location, block })
    }
}
