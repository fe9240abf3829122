//! Spaces read by `docs/FORMAT.md` alone: a second reader, which uses nothing of ours, parses the
//! tables of that page and refuses each byte that they do not describe.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use leafbase::{
    BlockId, BlockType, ChangePosition, DeleteDocuments, DocumentId, DocumentOrder, Fetch,
    ListDocuments, Position, PurgeDocuments, Space, bulk,
};
use leafbase_vault::{ImportOptions, import_folder};
use tests::rich;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use entries::{Body, Entry};
use records::{Datum, LayoutReader, Record};
use specification::Specification;

mod change_log;
mod entries;
mod files;
mod message_pack;
mod records;
mod specification;

/// Why bytes are not what the page describes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal(pub(crate) String);

impl Refusal {
    pub(crate) fn within(self, place: &str) -> Self {
        Self(format!("{place}: {}", self.0))
    }
}

pub(crate) type Refused<T> = Result<T, Refusal>;

pub(crate) fn refuse<T>(message: impl Into<String>) -> Refused<T> {
    Err(Refusal(message.into()))
}

const PAGE: &str = include_str!("../../../docs/FORMAT.md");

/// Keyspaces that the space of these tests has nothing in.
const UNUSED: [&str; 1] = ["uploads"];

/// Markdown that is written otherwise than Leafbase does it.
const IMPORTED: &str = "---\ntags: [a]\n---\n\nApplied\n=======\n\n\n*  one\n    * two\n\n\
                       7) seven\n9) nine\n\n[[Other]] is\nwrapped\n\n<div>\nraw\n</div>";

/// Fields that the space of these tests has at their defaults.
const NOT_MET: [&str; 26] = [
    "block.modified",
    "block.color",
    "file layout.front matter",
    "front matter.first line",
    "front matter.last line",
    "line layout.number",
    "line layout.lead",
    "line layout.trail",
    "link layout.attachment",
    "log.sequence",
    "log.token",
    "reply.reply",
    "reply.documents",
    "row.erased files",
    "scope.pages",
    "scope.folders",
    "scope.reading only",
    "source layout.opening",
    "source layout.lines",
    "source layout.verbatim",
    "task.schedule",
    "task.deadline",
    "totals.last edit 6",
    "upload.last write",
    "verbatim.hash",
    "verbatim.text",
];

fn reader() -> LayoutReader {
    LayoutReader { page: Specification::parse(PAGE), met: Default::default() }
}

/// A closed space with some of everything.
fn rich_space(place: &Path) -> PathBuf {
    let path = place.join("rich");
    let space = rich::builder().create(&path).unwrap();
    rich::fill(&space).unwrap();
    let notes = space.connect().acting_as("Bob");
    let document = notes.create_document("Tagged").unwrap().id();
    notes.insert_markdown("a line #of/tags", Position::end_of(document)).unwrap();
    let folder = place.join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("Imported.md"), IMPORTED).unwrap();
    fs::write(folder.join("Other.md"), "\u{feff}words\r\n\r\n> a\r\nb\r\n").unwrap();
    let report =
        import_folder(&notes, &folder, &ImportOptions::new(), &mut |_| ControlFlow::Continue(()));
    assert_eq!(report.unwrap().documents, 2);
    let line = notes.insert_markdown("- a\n  - b", Position::end_of(document)).unwrap()[1].id;
    let eve = space.connect().acting_as("Eve");
    eve.update_markdown(line, "- c").unwrap();
    let purged = notes.create_document("Purged").unwrap().id();
    notes.insert_markdown("gone", Position::end_of(purged)).unwrap();
    notes.delete_documents(DeleteDocuments::from(purged)).unwrap();
    notes.purge_documents(PurgeDocuments::Documents(vec![purged])).unwrap();
    space.keep_scope("shared", &space.scope([document])).unwrap();
    space.rename("Renamed").unwrap();
    let record = (document, Some(b"anything".to_vec()));
    bulk::put_host_records(&notes, "of the host", &[record]).unwrap();
    space.close().unwrap();
    path
}

/// The entries of a keyspace by its name.
fn entries_of<'e>(
    reader: &LayoutReader,
    all: &'e [(u8, Entry)],
    name: &str,
) -> impl Iterator<Item = &'e Entry> {
    let tag = reader.page.tag(name);
    all.iter().filter(move |(found, _)| *found == tag).map(|(_, entry)| entry)
}

/// The blocks of each document by parent, in order.
type Trees = BTreeMap<[u8; 16], BTreeMap<[u8; 16], Vec<([u8; 16], Record)>>>;

fn trees(reader: &LayoutReader, all: &[(u8, Entry)]) -> Trees {
    let mut trees = Trees::new();
    // Keys of one parent's runs are in the order of their siblings.
    for entry in entries_of(reader, all, "blocks") {
        let Body::Run(blocks) = &entry.body else { panic!("{entry:?}") };
        let siblings = trees.entry(entry.id(0)).or_default().entry(entry.id(1)).or_default();
        siblings.extend(blocks.iter().cloned());
    }
    trees
}

/// The blocks below a parent in reading order, each with its depth.
fn walk(tree: &BTreeMap<[u8; 16], Vec<([u8; 16], Record)>>) -> Vec<(usize, BlockId, Record)> {
    let mut walked = Vec::new();
    let mut waiting = vec![(0, [0; 16])];
    while let Some((depth, parent)) = waiting.pop() {
        // The root block is the only child of the zero ID.
        if parent != [0; 16] {
            let siblings = tree.values().flatten();
            let (_, record) = siblings.clone().find(|(id, _)| *id == parent).unwrap();
            walked.push((depth - 1, BlockId::from_bytes(parent), record.clone()));
        }
        let children = tree.get(&parent).into_iter().flatten().rev();
        waiting.extend(children.map(|(id, _)| (depth + 1, *id)));
    }
    walked
}

/// Compares what was read by the page with what the library says.
fn compare(reader: &LayoutReader, all: &[(u8, Entry)], space: &Space) {
    let notes = space.connect();
    let trees = trees(reader, all);
    let documents: BTreeMap<[u8; 16], &Record> =
        entries_of(reader, all, "documents").map(|entry| (entry.id(0), entry.record())).collect();
    let list = ListDocuments::new().order_by(DocumentOrder::Id);
    let mut known: Vec<_> = notes.list_documents(list).unwrap().iter().map(|it| it.id()).collect();
    known.extend(notes.documents().unwrap().iter().map(|document| document.id()));
    let known: BTreeSet<DocumentId> = known.into_iter().collect();
    assert!(known.len() > 5 && known.iter().all(|id| documents.contains_key(&id.to_bytes())));
    for id in known {
        let (record, tree) = (documents[&id.to_bytes()], &trees[&id.to_bytes()]);
        let document = notes.document(id).unwrap();
        assert_eq!(record["title"].text(), document.title);
        assert_eq!(record["revision"].uint(), document.record.rev);
        let whole = notes.fetch(Fetch::new(id)).unwrap();
        let shown: Vec<_> = whole.walk().map(|(depth, block)| (depth, block.id)).collect();
        let walked = walk(tree);
        assert_eq!(record["blocks"].uint(), walked.len() as u64);
        // A page is fetched without the items of its collections.
        let mut collection = usize::MAX;
        let of_page = walked.iter().filter(|(depth, _, record)| {
            if *depth > collection {
                return false;
            }
            let is_collection = record["type"] == Datum::Code("collection".to_owned());
            collection = if is_collection { *depth } else { usize::MAX };
            true
        });
        let of_page: Vec<_> = of_page.collect();
        let stored: Vec<_> = of_page.iter().map(|(depth, id, _)| (*depth, *id)).collect();
        assert_eq!(stored, shown, "{}", document.title);
        for ((_, block), (_, _, record)) in whole.walk().zip(of_page) {
            // The markdown of other types is made of their fields.
            if matches!(block.data.block_type(), BlockType::Text | BlockType::Page) {
                assert_eq!(record["markdown"].text(), block.data.inline, "{block:?}");
            }
            assert_eq!(record["revision"].uint(), block.rev);
        }
    }
}

#[test]
fn a_space_is_read_by_the_page_alone() {
    let place = tempfile::tempdir().unwrap();
    let path = rich_space(place.path());
    let (reader, entries) = (reader(), files::read(&path).unwrap());
    let all = entries::read_all(&reader, &entries).unwrap();
    let changes = change_log::read(&reader, entries_of(&reader, &all, "change log")).unwrap();
    let space = rich::builder().read_only(true).open(&path).unwrap();
    compare(&reader, &all, &space);

    let sequences: Vec<u64> = changes.iter().map(|change| change.sequence).collect();
    let last = space.connect().last_sequence().unwrap();
    assert_eq!(sequences, Vec::from_iter(1..=last));
    let logged = space.connect().changes_since(0).map(Result::unwrap);
    for (change, known) in changes.iter().zip(logged) {
        assert_eq!(change.sequence, known.sequence);
        assert_eq!(change.token, known.token.to_u64());
        assert_eq!(change.record["edits"].list().len(), known.edits.len());
        assert_eq!(change.record["author"].text(), known.stamp.by.to_string());
    }
    let checksums: BTreeMap<_, _> =
        entries_of(&reader, &all, "vectors").map(|entry| (&entry.key, entry.checksum)).collect();
    let digests: BTreeMap<_, _> = entries_of(&reader, &all, "digests of vectors")
        .map(|entry| (&entry.key, u64::from_be_bytes(entry.bytes().try_into().unwrap())))
        .collect();
    assert_eq!(digests, checksums);

    let used: BTreeSet<u8> = all.iter().map(|(tag, _)| *tag).collect();
    let unused = reader.page.keyspaces.iter().filter(|(tag, _)| !used.contains(tag));
    let unused: Vec<&str> = unused.map(|(_, keyspace)| keyspace.name.as_str()).collect();
    assert_eq!(unused, UNUSED);
}

/// The page has the keyspaces of the store, by the same names.
#[test]
fn the_page_lists_the_keyspaces_of_the_store() {
    let page = Specification::parse(PAGE);
    let listed: Vec<(u8, &str)> =
        page.keyspaces.iter().map(|(tag, keyspace)| (*tag, keyspace.name.as_str())).collect();
    assert_eq!(listed, leafbase_store::rows::keyspaces());
}

/// What a process that is killed leaves: a store, and a write-ahead log with what came after.
#[test]
fn a_log_is_replayed_by_the_page_alone() {
    let place = tempfile::tempdir().unwrap();
    let path = rich_space(place.path());
    let space = Space::open(&path).unwrap();
    let notes = space.connect();
    let document = notes.documents().unwrap().0.remove(0).id();
    for number in 0..40 {
        let text = format!("line {number}, written ahead");
        notes.insert_markdown(&text, Position::end_of(document)).unwrap();
    }
    let copy = place.path().join("copy");
    fs::create_dir(&copy).unwrap();
    for name in ["space.redb", "space.journal"] {
        fs::copy(path.join(name), copy.join(name)).unwrap();
    }
    let (reader, entries) = (reader(), files::read(&copy).unwrap());
    let all = entries::read_all(&reader, &entries).unwrap();
    let text = |(_, entry): &(u8, Entry)| match &entry.body {
        Body::Run(blocks) => blocks.clone(),
        _ => Vec::new(),
    };
    let written = all.iter().flat_map(text);
    let written = written.filter(|(_, block)| block["markdown"].text().contains("written ahead"));
    assert_eq!(written.count(), 40);
    compare(&reader, &all, &space);
}

/// The golden spaces of the format are what the page says.
#[test]
fn the_golden_space_is_read_by_the_page_alone() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/format-1");
    let place = tempfile::tempdir().unwrap();
    fs::copy(golden.join("space.redb"), place.path().join("space.redb")).unwrap();
    let (reader, entries) = (reader(), files::read(place.path()).unwrap());
    let all = entries::read_all(&reader, &entries).unwrap();
    change_log::read(&reader, entries_of(&reader, &all, "change log")).unwrap();
}

/// The controls: a changed byte, an entry under another key, a field too many, a written default
/// and an unknown keyspace are refused.
#[test]
fn what_the_page_does_not_describe_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = rich_space(place.path());
    let (reader, entries) = (reader(), files::read(&path).unwrap());
    let refused = |key: &[u8], value: &[u8]| {
        let one = BTreeMap::from([(key.to_vec(), value.to_vec())]);
        entries::read_all(&reader, &one).is_err()
    };
    let sealed = |key: &[u8], framed: &[u8]| {
        let checksum = xxh3_64_with_seed(framed, xxh3_64(key));
        [framed, &checksum.to_be_bytes()].concat()
    };
    let mut seen = BTreeSet::new();
    for (key, value) in &entries {
        assert!(!refused(key, value), "{key:02x?}");
        for at in [0, value.len() / 2, value.len() - 1] {
            let mut changed = value.clone();
            changed[at] ^= 0x10;
            assert!(refused(key, &changed), "{key:02x?} with byte {at} changed");
        }
        let mut other = key.clone();
        *other.last_mut().unwrap() ^= 1;
        assert!(refused(&other, value), "{key:02x?} under another key");
        let mut other = key.clone();
        other[0] = 0xff;
        let framed = &value[..value.len() - 8];
        assert!(refused(&other, &sealed(&other, framed)), "an unknown keyspace");
        // One entry of each keyspace whose body is a layout.
        let keyspace = &reader.page.keyspaces[&key[0]];
        if keyspace.body.starts_with('[') && seen.insert(key[0]) {
            let longer = [framed, &[0xc0]].concat();
            assert!(refused(key, &sealed(key, &longer)), "a byte too many in {}", keyspace.name);
            let body = &framed[1..];
            // A fixed array of up to 15 fields, with more of them than any layout has.
            assert_eq!(body[0] & 0xf0, 0x90, "{}", keyspace.name);
            let fields = usize::from(body[0] & 15);
            let more = [&[1, 0xdc, 0, 40][..], &body[1..], &vec![1; 40 - fields]].concat();
            assert!(refused(key, &sealed(key, &more)), "surplus fields in {}", keyspace.name);
        }
    }
    assert!(seen.len() > 10, "{seen:?}");
}

/// The second control: another page would not do.
#[test]
fn another_page_is_noticed() {
    let place = tempfile::tempdir().unwrap();
    let path = rich_space(place.path());
    let entries = files::read(&path).unwrap();
    for (found, other) in [
        (
            "| folder | name: str, parent: ID?, revision: uint |",
            "| folder | name: str, parent: ID? |",
        ),
        ("| location | document: ID!, parent: ID?,", "| location | document: ID!, parent: uint?,"),
        ("| `31` | folder children |", "| `32` | folder children |"),
    ] {
        assert!(PAGE.contains(found), "{found}");
        let page = Specification::parse(&PAGE.replace(found, other));
        let reader = LayoutReader { page, met: Default::default() };
        assert!(entries::read_all(&reader, &entries).is_err(), "{other}");
    }
}

/// Nearly every field of a layout is written by something in the space of these tests, so that
/// reading it is no empty exercise.
#[test]
fn fields_of_layouts_are_met() {
    let place = tempfile::tempdir().unwrap();
    let path = rich_space(place.path());
    let space = Space::open(&path).unwrap();
    space.compact().unwrap();
    space.close().unwrap();
    let (reader, entries) = (reader(), files::read(&path).unwrap());
    let all = entries::read_all(&reader, &entries).unwrap();
    let changes = change_log::read(&reader, entries_of(&reader, &all, "change log")).unwrap();
    assert!(changes.iter().any(|change| change.is_compressed), "compaction compresses the log");
    assert!(changes.iter().all(|change| change.first_sequence == change.sequence));
    // The rows of followers have a layout of their own, around that of changes.
    let space = Space::open(&path).unwrap();
    let rows = space.connect().change_rows(ChangePosition::default(), usize::MAX).unwrap();
    assert_eq!(rows.len(), changes.len());
    for (row, change) in rows.iter().zip(&changes) {
        let row = reader.read("row", &row.to_bytes()).unwrap();
        assert_eq!(row["sequence"].uint(), change.sequence);
        let Datum::Bytes(bytes) = &row["change"] else { panic!("{row:?}") };
        assert_eq!(reader.read("change", bytes).unwrap(), change.record);
    }
    let met = reader.met.borrow();
    let fields =
        reader.page.layouts.iter().flat_map(|(name, layout)| {
            layout.iter().map(move |(field, _)| format!("{name}.{field}"))
        });
    let unknown: Vec<_> = fields.filter(|field| !met.contains(field)).collect();
    assert_eq!(unknown, NOT_MET);
}
