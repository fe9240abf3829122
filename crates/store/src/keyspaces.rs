//! All keyspaces with their invariants, and the keys in them: the layout of the store.
//!
//! A key is a tag byte and parts that sort as bytes: IDs are 16 bytes big-endian, instants 8 and
//! days 4 bytes with the sign bit flipped, numbers big-endian. Keys stay below 1 KiB. An index row
//! has no body, unless it holds what lists show: its checksum still verifies its key.

use std::fmt;

use leafbase_model::{Day, Timestamp};

mod assets;
mod blocks;
mod comments;
mod documents;
mod edges;
mod embeddings;
mod folders;
mod host_records;
mod items;
mod log;
mod replies;
mod scopes;
mod tags;
mod tasks;

pub(crate) use assets::*;
pub(crate) use blocks::*;
pub(crate) use comments::*;
pub(crate) use documents::*;
pub(crate) use edges::*;
pub(crate) use embeddings::*;
pub(crate) use folders::*;
pub(crate) use host_records::*;
pub(crate) use items::*;
pub(crate) use log::*;
pub(crate) use replies::*;
pub(crate) use scopes::*;
pub(crate) use tags::*;
pub(crate) use tasks::*;

/// A part of the key space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keyspace {
    /// The first byte of its keys. A tag is never reused.
    pub(crate) tag: u8,
    /// Its name in messages.
    pub(crate) name: &'static str,
}

/// Name to record. Invariant: exactly `format`, `space` and `totals` exist, after a compaction that
/// dropped changes also `log`, and the totals match the rows.
pub(crate) const META: Keyspace = Keyspace { tag: 0x01, name: "meta" };
/// Hash of a name to the scope that the host keeps under it. Invariant: follows from the name.
pub(crate) const SCOPES: Keyspace = Keyspace { tag: 0x02, name: "kept scopes" };
/// (document, parent, order key) to a run of consecutive children of the parent; the root is the
/// only child of [`BlockId::NIL`]. Invariants: no run is empty; the parent is a block of the
/// document whose type allows such children (collections contain items and nothing else does); each
/// block is in one run of one document.
pub(crate) const BLOCKS: Keyspace = Keyspace { tag: 0x10, name: "blocks" };
/// Block to document, parent and order key. Invariant: each block has exactly one; document and
/// parent are exact, the order key is that of the block's run or a lower one, since blocks move
/// only to runs with a higher one.
pub(crate) const BLOCK_LOCATIONS: Keyspace = Keyspace { tag: 0x11, name: "block locations" };
/// Document to its record. Invariants: its root block exists, each root has a document, and the
/// number of blocks is exact.
pub(crate) const DOCUMENTS: Keyspace = Keyspace { tag: 0x20, name: "documents" };
/// (location, document). Invariant: follows from the document's record.
pub(crate) const DOCUMENTS_BY_LOCATION: Keyspace =
    Keyspace { tag: 0x21, name: "documents by location" };
/// (modification time, document) to the document's record. Invariant: follows from that; the hidden
/// inbox has no row.
pub(crate) const DOCUMENTS_BY_MODIFIED: Keyspace =
    Keyspace { tag: 0x22, name: "documents by modified" };
/// (creation time, document). Invariant: follows from the document's record; the inbox has no row.
pub(crate) const DOCUMENTS_BY_CREATED: Keyspace =
    Keyspace { tag: 0x23, name: "documents by created" };
/// (day, whether in the trash, document). Invariant: follows from the document's record; the inbox
/// has no row.
pub(crate) const DOCUMENTS_BY_DAY: Keyspace = Keyspace { tag: 0x24, name: "documents by day" };
/// Location to its number of documents. Invariant: follows from the documents' records; an empty
/// location has no row.
pub(crate) const LOCATION_COUNTS: Keyspace = Keyspace { tag: 0x25, name: "counts of documents" };
/// (location, modification time, document) to the document's record. Invariant: follows from that;
/// the inbox has no row.
pub(crate) const DOCUMENTS_BY_LOCATION_MODIFIED: Keyspace =
    Keyspace { tag: 0x26, name: "documents by location and modified" };
/// (location, creation time, document). Invariant: follows from the document's record; the inbox
/// has no row.
pub(crate) const DOCUMENTS_BY_LOCATION_CREATED: Keyspace =
    Keyspace { tag: 0x27, name: "documents by location and created" };
/// (hash of the title without regard to case, document). Invariant: follows from the document; the
/// inbox has no row.
pub(crate) const DOCUMENTS_BY_TITLE: Keyspace = Keyspace { tag: 0x28, name: "documents by title" };
/// Folder to its record. Invariants: its parent exists, and folders form no cycle.
pub(crate) const FOLDERS: Keyspace = Keyspace { tag: 0x30, name: "folders" };
/// (parent or [`FolderId::NIL`], folder). Invariant: follows from the folder's record.
pub(crate) const FOLDER_CHILDREN: Keyspace = Keyspace { tag: 0x31, name: "folder children" };
/// (target, kind, source block). Invariant: follows from the data of the source; the target need
/// not exist.
pub(crate) const EDGES: Keyspace = Keyspace { tag: 0x40, name: "edges" };
/// (document, tag in lowercase, block) to the tag as written. Invariant: follows from the data of
/// the block.
pub(crate) const TAGGED_BLOCKS: Keyspace = Keyspace { tag: 0x41, name: "tagged blocks" };
/// (tag in lowercase, document). Invariant: one for each document but the hidden inbox that has a
/// block with the tag.
pub(crate) const DOCUMENTS_BY_TAG: Keyspace = Keyspace { tag: 0x42, name: "documents by tag" };
/// Tag in lowercase to the number of its documents. Invariant: those in the trash and the inbox are
/// not counted; a tag without documents has no row.
pub(crate) const TAG_COUNTS: Keyspace = Keyspace { tag: 0x43, name: "counts of tags" };
/// (document, open or closed, block) to the day of an open task, if it has one, or the instant of a
/// closed one. Invariant: follows from the block's data.
pub(crate) const TASKS: Keyspace = Keyspace { tag: 0x50, name: "tasks" };
/// (day, block), those without a day last. Invariant: one for each open task outside of trash and
/// templates.
pub(crate) const TASKS_BY_DAY: Keyspace = Keyspace { tag: 0x51, name: "tasks by day" };
/// (instant, block). Invariant: one for each closed task outside of trash and templates.
pub(crate) const LOGBOOK: Keyspace = Keyspace { tag: 0x52, name: "logbook" };
/// (document, block, comment) to its record. Invariant: the block exists in the document.
pub(crate) const COMMENTS: Keyspace = Keyspace { tag: 0x60, name: "comments" };
/// Uploaded file to its record. Invariants: all its chunks exist, and a block embeds it.
pub(crate) const ASSETS: Keyspace = Keyspace { tag: 0x61, name: "files" };
/// (file, number) to bytes. Invariants: numbers ascend from 0 without a gap, each chunk but the
/// last has the full length, and each belongs to a file or to an upload in progress.
pub(crate) const ASSET_CHUNKS: Keyspace = Keyspace { tag: 0x62, name: "chunks of files" };
/// Upload in progress. Invariant: it is not a file yet.
pub(crate) const PENDING_ASSETS: Keyspace = Keyspace { tag: 0x63, name: "uploads" };
/// Comment to the block that it is on. Invariant: each comment has exactly one.
pub(crate) const COMMENT_BLOCKS: Keyspace = Keyspace { tag: 0x64, name: "blocks of comments" };
/// Collection to its schema with its column numbers. Invariants: each block of type collection has
/// exactly one, under the block's name; each relation has an inverse, and exactly one of both owns
/// it.
pub(crate) const SCHEMAS: Keyspace = Keyspace { tag: 0x70, name: "schemas" };
/// (document, collection) to the number of its items. Invariant: each collection has exactly one,
/// in its document; the number is exact.
pub(crate) const COLLECTIONS: Keyspace = Keyspace { tag: 0x71, name: "collections" };
/// (collection, column number, sort key of a value, item) to the item's bitmap. Invariant: follows
/// from the items and the schema. A column keeps its number while its property keeps key and type;
/// a number is never reused.
pub(crate) const ITEM_KEYS: Keyspace = Keyspace { tag: 0x72, name: "indexes of items" };
/// (sequence, part) to a part of a change: number of parts, whether they are compressed, and bytes.
/// Invariant: sequences ascend without a gap, and so do parts from 0.
pub(crate) const CHANGES: Keyspace = Keyspace { tag: 0x80, name: "change log" };

/// Hash of a request key with its scope and author to what is kept of the request. Invariant: none;
/// no part of the change log.
pub(crate) const REPLIES: Keyspace = Keyspace { tag: 0x90, name: "replies" };
/// (time, request). Invariant: follows from the kept reply.
pub(crate) const REPLIES_BY_TIME: Keyspace = Keyspace { tag: 0x91, name: "replies by time" };

/// (document or zero, name) to bytes of the host. Invariant: the document exists; no part of the
/// change log.
pub(crate) const HOST_RECORDS: Keyspace = Keyspace { tag: 0xa0, name: "host records" };

/// Model to number of components, number of vectors, and digest. Invariant: follows from the
/// vectors; a model without vectors has no row.
pub(crate) const EMBEDDING_MODELS: Keyspace = Keyspace { tag: 0xa1, name: "models of vectors" };
/// (model, document, block) to a bundle of consecutive vectors of the model, of which it names the
/// first one. Invariants: no bundle is empty; all vectors of a model have the same number of
/// components; the block is in the document, whose root stands for it; no part of the change log.
pub(crate) const EMBEDDINGS: Keyspace = Keyspace { tag: 0xa2, name: "vectors" };
/// Key of a bundle to its digest. Invariant: follows from the bundle.
pub(crate) const EMBEDDING_DIGESTS: Keyspace = Keyspace { tag: 0xa3, name: "digests of vectors" };

/// All keyspaces, in the order of their keys.
pub(crate) const IN_USE: [Keyspace; 37] = [
    META,
    SCOPES,
    BLOCKS,
    BLOCK_LOCATIONS,
    DOCUMENTS,
    DOCUMENTS_BY_LOCATION,
    DOCUMENTS_BY_MODIFIED,
    DOCUMENTS_BY_CREATED,
    DOCUMENTS_BY_DAY,
    LOCATION_COUNTS,
    DOCUMENTS_BY_LOCATION_MODIFIED,
    DOCUMENTS_BY_LOCATION_CREATED,
    DOCUMENTS_BY_TITLE,
    FOLDERS,
    FOLDER_CHILDREN,
    EDGES,
    TAGGED_BLOCKS,
    DOCUMENTS_BY_TAG,
    TAG_COUNTS,
    TASKS,
    TASKS_BY_DAY,
    LOGBOOK,
    COMMENTS,
    ASSETS,
    ASSET_CHUNKS,
    PENDING_ASSETS,
    COMMENT_BLOCKS,
    SCHEMAS,
    COLLECTIONS,
    ITEM_KEYS,
    CHANGES,
    REPLIES,
    REPLIES_BY_TIME,
    HOST_RECORDS,
    EMBEDDING_MODELS,
    EMBEDDINGS,
    EMBEDDING_DIGESTS,
];

/// Keys are shorter than this.
pub(crate) const MAX_KEY_BYTES: usize = 1_024;

/// The keyspace of keys with no known tag.
const UNKNOWN: Keyspace = Keyspace { tag: 0xff, name: "unknown" };

/// The keyspaces by tag.
static BY_TAG: [Keyspace; 256] = {
    let (mut keyspaces, mut at) = ([UNKNOWN; 256], 0);
    while at < IN_USE.len() {
        #[expect(clippy::indexing_slicing, reason = "evaluated at compile time")]
        {
            keyspaces[IN_USE[at].tag as usize] = IN_USE[at];
        }
        at += 1;
    }
    keyspaces
};

/// The keyspace of `key`.
pub(crate) fn of(key: &[u8]) -> Keyspace {
    let known = key.first().and_then(|tag| BY_TAG.get(usize::from(*tag)));
    known.copied().unwrap_or(UNKNOWN)
}

/// Whether the row under `key` is primary: no other row contains its data.
pub(crate) fn is_primary(key: &[u8]) -> bool {
    let primary = [
        META,
        SCOPES,
        BLOCKS,
        DOCUMENTS,
        FOLDERS,
        COMMENTS,
        ASSETS,
        ASSET_CHUNKS,
        SCHEMAS,
        CHANGES,
        EMBEDDINGS,
    ];
    let tag = of(key).tag;
    tag == UNKNOWN.tag || primary.iter().any(|keyspace| keyspace.tag == tag)
}

/// Displays the key of a row in messages.
pub(crate) struct RowName<'a>(pub(crate) &'a [u8]);

impl fmt::Display for RowName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", of(self.0).name)?;
        self.0.iter().skip(1).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The prefix successor: a key after all keys with `prefix`, and before all later ones of its
/// length. It exists because tags are below 255.
pub(crate) fn prefix_end<const N: usize>(mut prefix: [u8; N]) -> [u8; N] {
    increment(&mut prefix);
    prefix
}

/// [`prefix_end`] for a prefix of any length: the same bytes, so that a range that was read ahead
/// answers a scan.
pub(crate) fn prefix_end_of(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    increment(&mut end);
    end
}

fn increment(prefix: &mut [u8]) {
    debug_assert!(prefix.first() != Some(&0xff), "tags are below 255");
    for byte in prefix.iter_mut().rev() {
        let (next, carry) = byte.overflowing_add(1);
        *byte = next;
        // A byte of 255 becomes 0 and carries into the byte before it.
        if !carry {
            break;
        }
    }
}

/// The tag followed by `parts`, which have `N - 1` bytes in total.
fn joined<const N: usize>(keyspace: Keyspace, parts: &[&[u8]]) -> [u8; N] {
    let mut key = [keyspace.tag; N];
    let bytes = parts.iter().copied().flatten();
    debug_assert_eq!(bytes.clone().count(), N - 1, "the parts fill the key");
    key.iter_mut().skip(1).zip(bytes).for_each(|(to, byte)| *to = *byte);
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

/// An instant in an encoding that sorts as bytes.
pub(crate) fn time_bytes(time: Timestamp) -> [u8; 8] {
    let mut bytes = time.as_millis().to_be_bytes();
    let [sign, ..] = &mut bytes;
    // Flipped, so that negative instants sort before positive ones as bytes.
    *sign ^= 0x80;
    bytes
}

/// A day in an encoding that sorts as bytes.
pub(crate) fn day_bytes(day: Day) -> [u8; 4] {
    debug_assert!(i32::try_from(day.epoch_days()).is_ok(), "the range of days fits into 4 bytes");
    let [_, _, _, _, mut bytes @ ..] = day.epoch_days().to_be_bytes();
    let [sign, ..] = &mut bytes;
    *sign ^= 0x80;
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use leafbase_model::{AssetId, BlockId, CommentId, DocumentId, FolderId, Location};

    use super::*;
    use crate::edges::{EdgeEnd, EdgeKind};

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
        assert_eq!(parse_run(&key), Some((document, block, &[1, 2, 3, 4][..])));
        assert_eq!(parse_block_location(&block_location(block)), Some(block));
        assert_eq!(parse_document(&super::document(document)), Some(document));
        let folder = FolderId::from_bytes([3; 16]);
        assert_eq!(
            parse_document(&by_location(Location::Folder(folder), document)),
            Some(document)
        );
        assert_eq!(
            parse_document(&by_day(Day::from_epoch_days(-5), true, document)),
            Some(document)
        );
        let (time, rank) =
            (Timestamp::from_millis(-7), (time_bytes(Timestamp::from_millis(-7)), document));
        assert_eq!(parse_rank(&by_time(DOCUMENTS_BY_CREATED, time, document)), Some(rank));
        assert_eq!(parse_rank(&by_location(Location::Trash, document)), Some(([0; 8], document)));
        for keyspace in [DOCUMENTS_BY_LOCATION_MODIFIED, DOCUMENTS_BY_LOCATION_CREATED] {
            let key = by_location_time(keyspace, Location::Folder(folder), rank);
            assert!(key.starts_with(&timed_location(keyspace, Location::Folder(folder))));
            assert_eq!((parse_rank(&key), parse_rank(&key[..41])), (Some(rank), None));
        }
        assert_eq!(parse_folder_child(&folder_child(None, folder)), Some((None, folder)));
        let (asset, comment) = (AssetId::from_bytes([4; 16]), CommentId::from_bytes([5; 16]));
        assert_eq!(
            parse_comment(&super::comment(document, block, comment)),
            Some((document, block, comment))
        );
        assert_eq!(parse_comment_block(&comment_block(comment)), Some(comment));
        assert_eq!(
            parse_document_task(&task(document, false, block)),
            Some((document, false, block))
        );
        for key in [
            task_by_day(Some(day_bytes(Day::from_epoch_days(-5))), block).to_vec(),
            task_by_day(None, block).to_vec(),
            logged_task(time_bytes(Timestamp::MIN), block).to_vec(),
        ] {
            assert_eq!(parse_listed_task(&key), Some(block));
            assert_eq!(parse_listed_task(&key[1..]), None);
        }
        for tag in ["a", "b/c", "\u{10ffff}"] {
            let key = tagged_block(document, tag, block);
            assert!(key.starts_with(&tagged_blocks(document)));
            assert_eq!(parse_tagged_block(&key), Some((document, tag, block)));
            assert_eq!(parse_tagged_block(&key[..key.len() - 1]), None);
            let key = document_by_tag(tag, document);
            assert_eq!(parse_rank(&key), Some(([0; 8], document)));
            assert_eq!(super::parse_document(&key[..key.len() - 1]), None);
            assert_eq!(parse_tag_count(&tag_count(tag)), Some(tag));
        }
        assert_eq!(parse_tag_count(&tag_count("")), None);
        assert_eq!(parse_schema(&super::schema(block)), Some(block));
        assert_eq!(parse_collection(&collection(document, block)), Some((document, block)));
        for value in [&[][..], &[3], &[0; 257]] {
            let key = item_key(column(block, 258), value, BlockId::from_bytes([8; 16]));
            assert!(key.starts_with(&columns(block)) && key.len() < 1_024);
            assert_eq!(parse_item_key(&key), Some((block, 258, BlockId::from_bytes([8; 16]))));
        }
        assert_eq!(parse_asset(&super::asset(asset)), Some(asset));
        assert_eq!(parse_chunk(&chunk(asset, 258)), Some((asset, 258)));
        let day = EdgeEnd::Day(Day::from_epoch_days(9));
        for end in [EdgeEnd::Block(block), day, EdgeEnd::Asset(asset), EdgeEnd::name("Lisbon")] {
            assert_eq!(
                parse_edge(&edge(end, EdgeKind::Embed, block)),
                Some((EdgeKind::Embed, block))
            );
        }
        for model in ["m", "two words"] {
            let key = super::embeddings(model, document, block);
            assert!(key.starts_with(&embeddings_of(model)));
            let digest = embedding_digest(&key);
            assert!(digest.starts_with(&embedding_digests_of(model)));
            assert_eq!(parse_embeddings(&digest), Some((model, document, block)));
            assert_eq!(parse_embeddings(&key[..33]), None);
            assert_eq!(parse_embedding_model(&embedding_model(model)), Some(model));
        }
        assert_eq!(parse_change_part(&change_part(258, 3)), Some((258, 3)));
        assert_eq!(parse_reply(&reply(&[6; 32])), Some([6; 32]));
        assert_eq!(parse_reply_by_time(&reply_by_time([1; 8], &[6; 32])), Some([6; 32]));
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
        assert_eq!(prefix_end([1, 2, 0xff, 0xff]), [1, 3, 0, 0]);
        assert_eq!(prefix_end_of(&[1, 2, 0xff, 0xff]), [1, 3, 0, 0]);
    }
}
