//! Every keyspace with its law, and the keys in it: the disk at a glance.
//!
//! A key is a tag byte and its parts, each of which sorts as bytes: IDs are 16 bytes big-endian, instants 8 and days 4 with
//! the sign turned, numbers big-endian. Keys stay under 1 KiB. A row of an index has no body: its checksum still tells
//! whether it stands where it was written.

use std::fmt;

use leafbase_model::{AssetId, BlockId, CommentId, Day, DocumentId, FolderId, Location, Timestamp};

use crate::edges::{EdgeEnd, EdgeKind};

/// A part of the key space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keyspace {
    /// The first byte of its keys. Never used for anything else again.
    pub(crate) tag: u8,
    /// What messages call it.
    pub(crate) name: &'static str,
}

/// Name to record. Law: a space has `format`, `space` and `totals`, and no other name; the totals are as the rows say.
pub(crate) const META: Keyspace = Keyspace { tag: 0x01, name: "meta" };
/// (document, parent, order key) to a run of consecutive children of the parent; the root is the only child of
/// [`BlockId::NIL`]. Law: no run is empty, the parent is a block of the document of a type that may have such children (items
/// stand in collections, and nothing else does), and each block is in one run of one document.
pub(crate) const BLOCKS: Keyspace = Keyspace { tag: 0x10, name: "blocks" };
/// Block to document, parent and order key. Law: there is one for each block and no other; document and parent are exact,
/// the order key is that of the block's run or a lower one (entries of runs move only to higher keys).
pub(crate) const PLACES: Keyspace = Keyspace { tag: 0x11, name: "places" };
/// Document to its record. Law: its root block exists, each root has one, and it has as many blocks as the record says.
pub(crate) const DOCUMENTS: Keyspace = Keyspace { tag: 0x20, name: "documents" };
/// (location, document). Law: as the document's record says, and no other.
pub(crate) const DOCUMENTS_BY_LOCATION: Keyspace = Keyspace { tag: 0x21, name: "documents by location" };
/// (last change, document). Law: as the document's record says, and no other; the inbox, which is hidden, is not in it.
pub(crate) const DOCUMENTS_BY_MODIFIED: Keyspace = Keyspace { tag: 0x22, name: "documents by modified" };
/// (making, document). Law: as the document's record says, and no other; the inbox is not in it.
pub(crate) const DOCUMENTS_BY_CREATED: Keyspace = Keyspace { tag: 0x23, name: "documents by created" };
/// (day, out of the trash or in it, document). Law: as the document's record says, and no other; the inbox is not in it.
pub(crate) const DOCUMENTS_BY_DAY: Keyspace = Keyspace { tag: 0x24, name: "documents by day" };
/// Location to the number of documents kept there. Law: it is as the documents' records say, and where there are none there is
/// no row.
pub(crate) const LOCATION_COUNTS: Keyspace = Keyspace { tag: 0x25, name: "counts of documents" };
/// (location, last change, document). Law: as the document's record says, and no other; the inbox is not in it.
pub(crate) const DOCUMENTS_BY_LOCATION_MODIFIED: Keyspace =
    Keyspace { tag: 0x26, name: "documents by location and modified" };
/// (location, making, document). Law: as the document's record says, and no other; the inbox is not in it.
pub(crate) const DOCUMENTS_BY_LOCATION_CREATED: Keyspace =
    Keyspace { tag: 0x27, name: "documents by location and created" };
/// Folder to its record. Law: its parent exists, and no folder is in itself.
pub(crate) const FOLDERS: Keyspace = Keyspace { tag: 0x30, name: "folders" };
/// (parent or [`FolderId::NIL`], folder). Law: as the folder's record says, and no other.
pub(crate) const FOLDER_CHILDREN: Keyspace = Keyspace { tag: 0x31, name: "folder children" };
/// (target, kind, source block). Law: as the source's content says, and no other; the target need not exist.
pub(crate) const EDGES: Keyspace = Keyspace { tag: 0x40, name: "edges" };
/// (document, open or closed, block) to the day of an open task, if it has one, or the instant of a closed one. Law: as the
/// block's content says, and no other.
pub(crate) const TASKS: Keyspace = Keyspace { tag: 0x50, name: "tasks" };
/// (day, block). Law: one for each open task that has a day and is neither in the trash nor in a template, and no other.
pub(crate) const TASKS_BY_DAY: Keyspace = Keyspace { tag: 0x51, name: "tasks by day" };
/// (instant, block). Law: one for each closed task that is neither in the trash nor in a template, and no other.
pub(crate) const LOGBOOK: Keyspace = Keyspace { tag: 0x52, name: "logbook" };
/// (document, block, comment) to its record. Law: the block exists in the document.
pub(crate) const COMMENTS: Keyspace = Keyspace { tag: 0x60, name: "comments" };
/// Uploaded file to its record. Law: its chunks are all there, and a block embeds it.
pub(crate) const ASSETS: Keyspace = Keyspace { tag: 0x61, name: "files" };
/// (file, number) to bytes. Law: numbers follow each other from 0, each chunk but the last is of full length, and each is of a
/// file or of an upload under way.
pub(crate) const ASSET_CHUNKS: Keyspace = Keyspace { tag: 0x62, name: "chunks of files" };
/// Upload that was begun and not finished. Law: it is no file yet.
pub(crate) const PENDING_ASSETS: Keyspace = Keyspace { tag: 0x63, name: "uploads" };
/// Collection to its schema, with the numbers of its columns. Law: there is one for each block of type collection and no other,
/// and it has the block's name; each relation has its other end, and one of both owns it.
pub(crate) const SCHEMAS: Keyspace = Keyspace { tag: 0x70, name: "schemas" };
/// (document, collection) to the number of its items. Law: there is one for each collection, in its document, and no other; the
/// number is exact.
pub(crate) const COLLECTIONS: Keyspace = Keyspace { tag: 0x71, name: "collections" };
/// (collection, number of a column, key of a value, item). Law: as the items and the schema of their collection say, and no
/// other. A column has the same number as long as key and type of its property stay; a number is never used again.
pub(crate) const ITEM_KEYS: Keyspace = Keyspace { tag: 0x72, name: "indexes of items" };
/// (sequence, part) to a part of a change. Law: sequences follow each other without a gap, and so do parts from 0.
pub(crate) const CHANGES: Keyspace = Keyspace { tag: 0x80, name: "change log" };

/// Those that hold rows, in the order of their keys.
pub(crate) const IN_USE: [Keyspace; 25] = [
    META,
    BLOCKS,
    PLACES,
    DOCUMENTS,
    DOCUMENTS_BY_LOCATION,
    DOCUMENTS_BY_MODIFIED,
    DOCUMENTS_BY_CREATED,
    DOCUMENTS_BY_DAY,
    LOCATION_COUNTS,
    DOCUMENTS_BY_LOCATION_MODIFIED,
    DOCUMENTS_BY_LOCATION_CREATED,
    FOLDERS,
    FOLDER_CHILDREN,
    EDGES,
    TASKS,
    TASKS_BY_DAY,
    LOGBOOK,
    COMMENTS,
    ASSETS,
    ASSET_CHUNKS,
    PENDING_ASSETS,
    SCHEMAS,
    COLLECTIONS,
    ITEM_KEYS,
    CHANGES,
];

/// The keyspace of `key`.
pub(crate) fn of(key: &[u8]) -> Keyspace {
    let tag = key.first().copied().unwrap_or(0xff);
    IN_USE.into_iter().find(|keyspace| keyspace.tag == tag).unwrap_or(Keyspace { tag: 0xff, name: "unknown" })
}

/// Names a row in messages.
pub(crate) struct Row<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", of(self.0).name)?;
        self.0.iter().skip(1).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The first key after all that begin with `prefix`; tags are below 255, so there is one.
pub(crate) fn end_of<const N: usize>(mut prefix: [u8; N]) -> [u8; N] {
    for byte in prefix.iter_mut().rev() {
        let (next, carry) = byte.overflowing_add(1);
        *byte = next;
        if !carry {
            break;
        }
    }
    prefix
}

/// The same for a prefix of any length.
pub(crate) fn end_of_slice(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            break;
        }
    }
    end
}

/// The tag and `parts`, which are `N - 1` bytes together.
fn joined<const N: usize>(keyspace: Keyspace, parts: &[&[u8]]) -> [u8; N] {
    let mut key = [0; N];
    let mut bytes = std::iter::once(&keyspace.tag).chain(parts.iter().copied().flatten());
    key.fill_with(|| bytes.next().copied().unwrap_or_default());
    key
}

fn with_id(keyspace: Keyspace, id: &[u8; 16]) -> [u8; 17] {
    let mut key = [keyspace.tag; 17];
    if let Some(rest) = key.last_chunk_mut::<16>() {
        *rest = *id;
    }
    key
}

/// The 16 bytes of `key` from `start` on.
fn id_at(key: &[u8], start: usize) -> Option<[u8; 16]> {
    key.get(start..)?.first_chunk().copied()
}

pub(crate) fn meta(name: &str) -> Vec<u8> {
    let mut key = vec![META.tag];
    key.extend_from_slice(name.as_bytes());
    key
}

/// All runs of a document.
pub(crate) fn document_runs(document: DocumentId) -> [u8; 17] {
    with_id(BLOCKS, document.as_bytes())
}

/// All runs of one parent.
pub(crate) fn parent_runs(document: DocumentId, parent: BlockId) -> [u8; 33] {
    let mut key = [BLOCKS.tag; 33];
    if let Some((head, tail)) = key.split_last_chunk_mut::<16>() {
        *tail = *parent.as_bytes();
        if let Some(middle) = head.last_chunk_mut::<16>() {
            *middle = *document.as_bytes();
        }
    }
    key
}

pub(crate) fn run(document: DocumentId, parent: BlockId, order: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(33 + order.len());
    key.extend_from_slice(&parent_runs(document, parent));
    key.extend_from_slice(order);
    key
}

/// Document, parent and order key.
pub(crate) fn read_run(key: &[u8]) -> Option<(DocumentId, BlockId, &[u8])> {
    let document = DocumentId::from_bytes(id_at(key, 1)?);
    Some((document, BlockId::from_bytes(id_at(key, 17)?), key.get(33..)?))
}

pub(crate) fn place(block: BlockId) -> [u8; 17] {
    with_id(PLACES, block.as_bytes())
}

pub(crate) fn read_place(key: &[u8]) -> Option<BlockId> {
    (key.len() == 17).then(|| id_at(key, 1).map(BlockId::from_bytes))?
}

pub(crate) fn document(document: DocumentId) -> [u8; 17] {
    with_id(DOCUMENTS, document.as_bytes())
}

/// The document that a key of the documents or of one of their indexes ends with.
pub(crate) fn read_document(key: &[u8]) -> Option<DocumentId> {
    let length = match of(key) {
        DOCUMENTS => 17,
        DOCUMENTS_BY_LOCATION => 34,
        DOCUMENTS_BY_MODIFIED | DOCUMENTS_BY_CREATED => 25,
        DOCUMENTS_BY_DAY => 22,
        DOCUMENTS_BY_LOCATION_MODIFIED | DOCUMENTS_BY_LOCATION_CREATED => 42,
        _ => return None,
    };
    (key.len() == length).then(|| key.last_chunk::<16>().copied().map(DocumentId::from_bytes))?
}

/// What the documents in an index by ID or by time are sorted by: the time as it stands in keys, zeros where there is none, and
/// the ID.
pub(crate) type Rank = ([u8; 8], DocumentId);

/// The rank of the document that a key of the documents or of one of their indexes ends with; of one by day the ID alone.
pub(crate) fn read_rank(key: &[u8]) -> Option<Rank> {
    let document = read_document(key)?;
    let time = match of(key) {
        DOCUMENTS_BY_MODIFIED
        | DOCUMENTS_BY_CREATED
        | DOCUMENTS_BY_LOCATION_MODIFIED
        | DOCUMENTS_BY_LOCATION_CREATED => key.split_last_chunk::<16>()?.0.last_chunk().copied()?,
        _ => [0; 8],
    };
    Some((time, document))
}

/// A location as it stands in keys.
pub(crate) fn location_bytes(location: Location) -> [u8; 17] {
    let (class, folder) = match location {
        Location::Unsorted => (0, FolderId::NIL),
        Location::Templates => (1, FolderId::NIL),
        Location::DailyNotes => (2, FolderId::NIL),
        Location::Folder(folder) => (3, folder),
        Location::Trash => (4, FolderId::NIL),
        Location::Inbox => (5, FolderId::NIL),
    };
    let mut bytes = [class; 17];
    if let Some(rest) = bytes.last_chunk_mut::<16>() {
        *rest = *folder.as_bytes();
    }
    bytes
}

/// All documents kept in `location`.
pub(crate) fn location(location: Location) -> [u8; 18] {
    joined(DOCUMENTS_BY_LOCATION, &[&location_bytes(location)])
}

pub(crate) fn by_location(at: Location, document: DocumentId) -> [u8; 34] {
    joined(DOCUMENTS_BY_LOCATION, &[&location_bytes(at), document.as_bytes()])
}

pub(crate) fn location_count(location: Location) -> [u8; 18] {
    joined(LOCATION_COUNTS, &[&location_bytes(location)])
}

/// An instant so that it sorts as bytes.
pub(crate) fn time_bytes(time: Timestamp) -> [u8; 8] {
    let mut bytes = time.as_millis().to_be_bytes();
    let [sign, ..] = &mut bytes;
    *sign ^= 0x80;
    bytes
}

/// A day so that it sorts as bytes.
pub(crate) fn day_bytes(day: Day) -> [u8; 4] {
    let mut bytes = i32::try_from(day.epoch_days()).unwrap_or_default().to_be_bytes();
    let [sign, ..] = &mut bytes;
    *sign ^= 0x80;
    bytes
}

/// `keyspace` is by modified or by created.
pub(crate) fn by_time(keyspace: Keyspace, time: Timestamp, document: DocumentId) -> [u8; 25] {
    joined(keyspace, &[&time_bytes(time), document.as_bytes()])
}

/// All documents kept in `location`; `keyspace` is by location and modified, or by location and created.
pub(crate) fn timed_location(keyspace: Keyspace, location: Location) -> [u8; 18] {
    joined(keyspace, &[&location_bytes(location)])
}

/// `keyspace` is as above.
pub(crate) fn by_location_time(keyspace: Keyspace, at: Location, (time, document): Rank) -> [u8; 42] {
    joined(keyspace, &[&location_bytes(at), &time, document.as_bytes()])
}

pub(crate) fn by_day(day: Day, is_trashed: bool, document: DocumentId) -> [u8; 22] {
    joined(DOCUMENTS_BY_DAY, &[&day_bytes(day), &[u8::from(is_trashed)], document.as_bytes()])
}

/// The notes of a day that are not in the trash.
pub(crate) fn notes_of(day: Day) -> [u8; 6] {
    joined(DOCUMENTS_BY_DAY, &[&day_bytes(day), &[0]])
}

pub(crate) fn folder(folder: FolderId) -> [u8; 17] {
    with_id(FOLDERS, folder.as_bytes())
}

pub(crate) fn read_folder(key: &[u8]) -> Option<FolderId> {
    (key.len() == 17).then(|| id_at(key, 1).map(FolderId::from_bytes))?
}

pub(crate) fn folders_in(parent: Option<FolderId>) -> [u8; 17] {
    with_id(FOLDER_CHILDREN, parent.unwrap_or_default().as_bytes())
}

pub(crate) fn folder_child(parent: Option<FolderId>, folder: FolderId) -> [u8; 33] {
    joined(FOLDER_CHILDREN, &[parent.unwrap_or_default().as_bytes(), folder.as_bytes()])
}

/// The parent, none at the top, and the folder.
pub(crate) fn read_folder_child(key: &[u8]) -> Option<(Option<FolderId>, FolderId)> {
    let parent = FolderId::from_bytes(id_at(key, 1)?);
    let folder = FolderId::from_bytes(id_at(key, 17)?);
    (key.len() == 33).then_some(((!parent.is_nil()).then_some(parent), folder))
}

const KINDS: [(EdgeKind, u8); 3] = [(EdgeKind::Link, 0), (EdgeKind::Relation, 1), (EdgeKind::Embed, 2)];

const fn kind_code(kind: EdgeKind) -> u8 {
    match kind {
        EdgeKind::Link => 0,
        EdgeKind::Relation => 1,
        EdgeKind::Embed => 2,
    }
}

/// All edges to `target`.
pub(crate) fn edges_to(target: EdgeEnd) -> Vec<u8> {
    let mut key = vec![EDGES.tag];
    match target {
        EdgeEnd::Block(block) => {
            key.push(0);
            key.extend_from_slice(block.as_bytes());
        }
        EdgeEnd::Day(day) => {
            key.push(1);
            key.extend_from_slice(&day_bytes(day));
        }
        EdgeEnd::Asset(asset) => {
            key.push(2);
            key.extend_from_slice(asset.as_bytes());
        }
    }
    key
}

pub(crate) fn edge(target: EdgeEnd, kind: EdgeKind, source: BlockId) -> Vec<u8> {
    let mut key = edges_to(target);
    key.push(kind_code(kind));
    key.extend_from_slice(source.as_bytes());
    key
}

/// Kind and source, which an edge's key ends with.
pub(crate) fn read_edge(key: &[u8]) -> Option<(EdgeKind, BlockId)> {
    let (head, source) = key.split_last_chunk::<16>()?;
    let length = if head.get(1) == Some(&1) { 7 } else { 19 };
    let code = head.last().filter(|_| head.len() == length)?;
    let (kind, _) = KINDS.into_iter().find(|(_, known)| known == code)?;
    Some((kind, BlockId::from_bytes(*source)))
}

/// The tasks of a document that are open, or those that are closed.
pub(crate) fn document_tasks(document: DocumentId, is_open: bool) -> [u8; 18] {
    joined(TASKS, &[document.as_bytes(), &[u8::from(!is_open)]])
}

pub(crate) fn task(document: DocumentId, is_open: bool, block: BlockId) -> [u8; 34] {
    joined(TASKS, &[document.as_bytes(), &[u8::from(!is_open)], block.as_bytes()])
}

pub(crate) fn task_by_day(day: [u8; 4], block: BlockId) -> [u8; 21] {
    joined(TASKS_BY_DAY, &[&day, block.as_bytes()])
}

pub(crate) fn logged_task(at: [u8; 8], block: BlockId) -> [u8; 25] {
    joined(LOGBOOK, &[&at, block.as_bytes()])
}

/// Document, whether it is open, and block.
pub(crate) fn read_document_task(key: &[u8]) -> Option<(DocumentId, bool, BlockId)> {
    let is_open = match key.get(17)? {
        0 => true,
        1 => false,
        _ => return None,
    };
    let (document, block) = (DocumentId::from_bytes(id_at(key, 1)?), BlockId::from_bytes(id_at(key, 18)?));
    (key.len() == 34).then_some((document, is_open, block))
}

/// The block that a key by day or of the logbook ends with.
pub(crate) fn read_listed_task(key: &[u8]) -> Option<BlockId> {
    let length = match of(key) {
        TASKS_BY_DAY => 21,
        LOGBOOK => 25,
        _ => return None,
    };
    (key.len() == length).then(|| key.last_chunk::<16>().copied().map(BlockId::from_bytes))?
}

/// The comments on all blocks of a document.
pub(crate) fn document_comments(document: DocumentId) -> [u8; 17] {
    with_id(COMMENTS, document.as_bytes())
}

/// The comments on a block.
pub(crate) fn block_comments(document: DocumentId, block: BlockId) -> [u8; 33] {
    joined(COMMENTS, &[document.as_bytes(), block.as_bytes()])
}

pub(crate) fn comment(document: DocumentId, block: BlockId, comment: CommentId) -> [u8; 49] {
    joined(COMMENTS, &[document.as_bytes(), block.as_bytes(), comment.as_bytes()])
}

/// Document, block and comment.
pub(crate) fn read_comment(key: &[u8]) -> Option<(DocumentId, BlockId, CommentId)> {
    let (document, block, comment) = (id_at(key, 1)?, id_at(key, 17)?, id_at(key, 33)?);
    let read = (DocumentId::from_bytes(document), BlockId::from_bytes(block), CommentId::from_bytes(comment));
    (key.len() == 49).then_some(read)
}

pub(crate) fn asset(asset: AssetId) -> [u8; 17] {
    with_id(ASSETS, asset.as_bytes())
}

pub(crate) fn pending_asset(asset: AssetId) -> [u8; 17] {
    with_id(PENDING_ASSETS, asset.as_bytes())
}

/// The file of its record's key, or the upload.
pub(crate) fn read_asset(key: &[u8]) -> Option<AssetId> {
    (key.len() == 17).then(|| id_at(key, 1).map(AssetId::from_bytes))?
}

pub(crate) fn chunk(asset: AssetId, number: u32) -> [u8; 21] {
    joined(ASSET_CHUNKS, &[asset.as_bytes(), &number.to_be_bytes()])
}

/// File and number.
pub(crate) fn read_chunk(key: &[u8]) -> Option<(AssetId, u32)> {
    let number = key.get(17..)?.try_into().ok()?;
    Some((AssetId::from_bytes(id_at(key, 1)?), u32::from_be_bytes(number)))
}

pub(crate) fn schema(collection: BlockId) -> [u8; 17] {
    with_id(SCHEMAS, collection.as_bytes())
}

pub(crate) fn read_schema(key: &[u8]) -> Option<BlockId> {
    (key.len() == 17).then(|| id_at(key, 1).map(BlockId::from_bytes))?
}

/// The collections of a document.
pub(crate) fn document_collections(document: DocumentId) -> [u8; 17] {
    with_id(COLLECTIONS, document.as_bytes())
}

pub(crate) fn collection(document: DocumentId, collection: BlockId) -> [u8; 33] {
    joined(COLLECTIONS, &[document.as_bytes(), collection.as_bytes()])
}

/// Document and collection.
pub(crate) fn read_collection(key: &[u8]) -> Option<(DocumentId, BlockId)> {
    let read = (DocumentId::from_bytes(id_at(key, 1)?), BlockId::from_bytes(id_at(key, 17)?));
    (key.len() == 33).then_some(read)
}

/// All rows of a column.
pub(crate) fn column(collection: BlockId, column: u32) -> [u8; 21] {
    joined(ITEM_KEYS, &[collection.as_bytes(), &column.to_be_bytes()])
}

/// All rows of a collection.
pub(crate) fn columns(collection: BlockId) -> [u8; 17] {
    with_id(ITEM_KEYS, collection.as_bytes())
}

pub(crate) fn item_key(column: [u8; 21], value: &[u8], item: BlockId) -> Vec<u8> {
    [&column, value, item.as_bytes()].concat()
}

/// Collection, column and item.
pub(crate) fn read_item_key(key: &[u8]) -> Option<(BlockId, u32, BlockId)> {
    let collection = BlockId::from_bytes(id_at(key, 1)?);
    let (column, rest) = key.get(17..)?.split_first_chunk::<4>()?;
    let item = BlockId::from_bytes(*rest.last_chunk::<16>()?);
    Some((collection, u32::from_be_bytes(*column), item))
}

pub(crate) fn change_part(sequence: u64, part: u32) -> [u8; 13] {
    joined(CHANGES, &[&sequence.to_be_bytes(), &part.to_be_bytes()])
}

/// Sequence and part.
pub(crate) fn read_change_part(key: &[u8]) -> Option<(u64, u32)> {
    let (sequence, part) = key.get(1..)?.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*sequence), u32::from_be_bytes(part.try_into().ok()?)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn tags_are_unique_and_ascend() {
        assert!(IN_USE.windows(2).all(|pair| pair[0].tag < pair[1].tag));
        let tags: BTreeSet<u8> = IN_USE.iter().map(|keyspace| keyspace.tag).collect();
        assert_eq!(tags.len(), IN_USE.len());
    }

    #[test]
    fn keys_read_back() {
        let (document, block) = (DocumentId::from_bytes([7; 16]), BlockId::from_bytes([9; 16]));
        let key = run(document, block, &[1, 2, 3, 4]);
        assert_eq!(read_run(&key), Some((document, block, &[1, 2, 3, 4][..])));
        assert_eq!(read_place(&place(block)), Some(block));
        assert_eq!(read_document(&super::document(document)), Some(document));
        let folder = FolderId::from_bytes([3; 16]);
        assert_eq!(read_document(&by_location(Location::Folder(folder), document)), Some(document));
        assert_eq!(read_document(&by_day(Day::from_epoch_days(-5), true, document)), Some(document));
        let (time, rank) = (Timestamp::from_millis(-7), (time_bytes(Timestamp::from_millis(-7)), document));
        assert_eq!(read_rank(&by_time(DOCUMENTS_BY_CREATED, time, document)), Some(rank));
        assert_eq!(read_rank(&by_location(Location::Trash, document)), Some(([0; 8], document)));
        for keyspace in [DOCUMENTS_BY_LOCATION_MODIFIED, DOCUMENTS_BY_LOCATION_CREATED] {
            let key = by_location_time(keyspace, Location::Folder(folder), rank);
            assert!(key.starts_with(&timed_location(keyspace, Location::Folder(folder))));
            assert_eq!((read_rank(&key), read_rank(&key[..41])), (Some(rank), None));
        }
        assert_eq!(read_folder_child(&folder_child(None, folder)), Some((None, folder)));
        let (asset, comment) = (AssetId::from_bytes([4; 16]), CommentId::from_bytes([5; 16]));
        assert_eq!(read_comment(&super::comment(document, block, comment)), Some((document, block, comment)));
        assert_eq!(read_document_task(&task(document, false, block)), Some((document, false, block)));
        for key in [
            task_by_day(day_bytes(Day::from_epoch_days(-5)), block).to_vec(),
            logged_task(time_bytes(Timestamp::MIN), block).to_vec(),
        ] {
            assert_eq!(read_listed_task(&key), Some(block));
            assert_eq!(read_listed_task(&key[1..]), None);
        }
        assert_eq!(read_asset(&super::asset(asset)), Some(asset));
        assert_eq!(read_chunk(&chunk(asset, 258)), Some((asset, 258)));
        for end in [EdgeEnd::Block(block), EdgeEnd::Day(Day::from_epoch_days(9)), EdgeEnd::Asset(asset)] {
            assert_eq!(read_edge(&edge(end, EdgeKind::Embed, block)), Some((EdgeKind::Embed, block)));
        }
        assert_eq!(read_change_part(&change_part(258, 3)), Some((258, 3)));
    }

    #[test]
    fn times_and_days_sort_as_bytes() {
        let times = [i64::MIN, -1, 0, 1, 1_700_000_000_000].map(Timestamp::from_millis);
        assert!(times.windows(2).all(|pair| time_bytes(pair[0]) < time_bytes(pair[1])));
        let days = [-700_000, -1, 0, 1, 20_000].map(Day::from_epoch_days);
        assert!(days.windows(2).all(|pair| day_bytes(pair[0]) < day_bytes(pair[1])));
    }

    #[test]
    fn the_end_of_a_prefix_carries() {
        assert_eq!(end_of([1, 2, 0xff, 0xff]), [1, 3, 0, 0]);
    }
}
