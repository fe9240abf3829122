//! Damage, and what is not a space of this version: told as what it is, with the files left alone,
//! and never by a panic that ends the process. The flips of bytes run in a process of their own, so
//! that the end of it would be seen.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::io::ErrorKind as Io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use leafbase::{
    AddItems, Author, BlockId, Connection, CountItems, CreateCollection, Document, Durability,
    Edit, Error, ErrorKind, Fetch, GetItems, Item, ItemDraft, ItemFilter, ItemUpdate, Operator,
    Position, PropertyDraft, QueryItems, Relation, SchemaDraft, Sort, Space, SpaceBuilder, Stamp,
    Timestamp, UpdateItems,
};
use leafbase_model::InsertTarget;
use leafbase_store::kv::{MemoryStore, OpenOptions, RedbStore, Store, WriteOptions};
use leafbase_store::rows;
use leafbase_store::testkit::{Disk, Fault, open_backend};
use leafbase_store::{Extractor, SpaceStore, directory};
use leafbase_test_outline::{FixedClock, SequentialIds};

const FORMAT_KEY: &[u8] = b"\x01format";
const SPACE_KEY: &[u8] = b"\x01space";

fn builder() -> SpaceBuilder {
    Space::builder()
        .durability(Durability::Relaxed)
        .clock(FixedClock::at(1_767_225_600_000))
        .ids(SequentialIds::new(7))
}

/// The same bytes in every run: documents with links, in folders and out of them, over enough
/// commits that some pages wait to be freed.
fn make(path: &Path) {
    let space = builder().create(path).unwrap();
    let notes = space.connect();
    notes.create_folder("F", None).unwrap();
    for number in 0..20 {
        let document = notes.create_document(&format!("Doc {number}")).unwrap();
        let lines = (0..40)
            .map(|line| format!("- item {line} of {number} [link](block://{})\n\n", document.id()));
        notes.insert_markdown(&lines.collect::<String>(), Position::end_of(document.id())).unwrap();
    }
    space.close().unwrap();
}

fn store_file(path: &Path) -> PathBuf {
    path.join(directory::STORE_FILE)
}

/// Every file of a directory, with its bytes and when it was written.
fn files(path: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let read = |file: PathBuf| {
        let written = fs::metadata(&file).unwrap().modified().unwrap();
        (file.clone(), (fs::read(file).unwrap(), written))
    };
    entries.map(read).collect()
}

/// The error that opening gives, for writing and for reading, after seeing that it left the files
/// alone.
fn refusal(path: &Path) -> Error {
    let before = files(path);
    let error = Space::open(path).unwrap_err();
    let reading = Space::builder().read_only(true).open(path).unwrap_err();
    assert_eq!(reading.kind(), error.kind());
    assert!(files(path) == before, "the files have changed: {error}");
    error
}

/// A space whose rows are changed by hand, and closed.
fn changed(change: impl Fn(&RedbStore)) -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("notes");
    make(&path);
    let store = directory::open(&path, &OpenOptions::new()).unwrap();
    change(&store);
    store.close().unwrap();
    (place, path)
}

fn put(store: &RedbStore, key: &[u8], value: &[u8]) {
    store.write(WriteOptions::default(), &mut |rows| rows.put(key, value)).unwrap();
}

fn value(store: &RedbStore, key: &[u8]) -> Vec<u8> {
    let mut found = Vec::new();
    let visit = &mut |value: &[u8]| {
        found = value.to_vec();
        Ok(())
    };
    assert!(store.snapshot().unwrap().get(key, visit).unwrap());
    found
}

#[test]
fn a_space_that_needs_a_later_reader() {
    // The format record holds the version that wrote it, and the one that a reader must know.
    let (_place, path) = changed(|store| {
        let mut body = rows::body(FORMAT_KEY, &value(store, FORMAT_KEY)).unwrap();
        let ones: Vec<_> =
            body.iter().enumerate().filter(|(_, byte)| **byte == 1).map(|(at, _)| at).collect();
        for at in ones.into_iter().rev().take(2) {
            body[at] = 9;
        }
        put(store, FORMAT_KEY, &rows::seal(FORMAT_KEY, &body));
    });
    assert_eq!(refusal(&path).kind(), ErrorKind::NewerFormat);
}

#[test]
fn a_store_without_a_space_in_it() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("empty");
    directory::create(&path, &OpenOptions::new()).unwrap().close().unwrap();
    assert_eq!(refusal(&path).kind(), ErrorKind::NotASpace);
}

#[test]
fn what_a_space_says_of_itself_is_damaged() {
    for key in [FORMAT_KEY, SPACE_KEY] {
        let (_place, path) = changed(|store| {
            let mut value = value(store, key);
            value[2] ^= 0x10;
            put(store, key, &value);
        });
        assert_eq!(refusal(&path).kind(), ErrorKind::Corrupted, "{}", key.escape_ascii());
    }
}

#[test]
fn a_byte_of_the_version_is_damage_and_not_a_later_format() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("notes");
    make(&path);
    let image = fs::read(store_file(&path)).unwrap();
    for target in [64, 192] {
        for bit in 0..8 {
            let mut damaged = image.clone();
            damaged[target] ^= 1 << bit;
            fs::write(store_file(&path), damaged).unwrap();
            assert_eq!(
                refusal(&path).kind(),
                ErrorKind::Corrupted,
                "target at {target}, bit {bit}"
            );
        }
    }
}

#[test]
fn the_name_of_the_table_is_damaged() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("notes");
    make(&path);
    let image = fs::read(store_file(&path)).unwrap();
    let names =
        image.windows(8).enumerate().filter(|(_, window)| window == b"leafbase").map(|(at, _)| at);
    let mut damaged = image.clone();
    for at in names {
        damaged[at] ^= 0x20;
    }
    fs::write(store_file(&path), damaged).unwrap();
    assert_eq!(refusal(&path).kind(), ErrorKind::Corrupted, "and not a store of somebody else");
}

#[test]
fn a_space_that_is_only_read_leaves_its_file_alone() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("notes");
    make(&path);
    let before = files(&path);
    let space = Space::open(&path).unwrap();
    assert_eq!(space.connect().documents().unwrap().0.len(), 20);
    assert!(space.check().unwrap().is_clean());
    space.flush().unwrap();
    space.close().unwrap();
    assert!(files(&path) == before);
    let space = Space::open(&path).unwrap();
    space.connect().create_document("one more").unwrap();
    space.close().unwrap();
    assert_eq!(Space::open(&path).unwrap().connect().documents().unwrap().0.len(), 21);
}

#[test]
fn no_space_left() {
    no_space_left_on(Disk::new().takes_room_at_once(), true);
    no_space_left_on(Disk::new(), false);
}

/// `has_some`: what is free in the file takes no room.
fn no_space_left_on(disk: Disk, has_some: bool) {
    let handle = disk.clone();
    let options = OpenOptions::new().cache_bytes(64 << 10);
    let store = Arc::new(open_backend(move || handle.clone(), &options).unwrap());
    let space = builder().durability(Durability::Durable).over(store, true).unwrap();
    let notes = space.connect();
    let document = notes.create_document("Trip").unwrap().id();
    let seen = |space: &Space| read(space).unwrap();
    let before = seen(&space);
    disk.fail(Fault::Full, Io::StorageFull);
    let long = "a line of some length that takes room\n\n".repeat(4_000);
    for _ in 0..3 {
        let error = notes.insert_markdown(&long, document).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoSpace, "{error}");
        assert_eq!(seen(&space), before, "nothing of it is there");
    }
    let short =
        notes.create_document("a short one fits into what is there").map_err(|error| error.kind());
    assert!(short.is_ok() || !has_some && short == Err(ErrorKind::NoSpace), "{short:?}");
    assert_eq!(notes.documents().unwrap().0.len(), 1 + usize::from(short.is_ok()));
    disk.heal();
    notes.insert_markdown(&long, document).unwrap();
    assert!(notes.content_markdown(document).unwrap().contains("takes room"));
    assert!(space.check().unwrap().is_clean());
    space.close().unwrap();
    let reopened = open_backend(move || disk.clone(), &options).unwrap();
    let space = builder().over(Arc::new(reopened), false).unwrap();
    assert!(space.connect().content_markdown(document).unwrap().contains("takes room"));
}

#[cfg(unix)]
#[test]
fn a_space_that_may_not_be_written() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("notes");
    make(&path);
    for file in [directory::STORE_FILE, directory::LOCK_FILE] {
        fs::set_permissions(path.join(file), fs::Permissions::from_mode(0o444)).unwrap();
    }
    if fs::File::options().write(true).open(store_file(&path)).is_ok() {
        println!("skipped: this user may write anything");
        return;
    }
    let before = files(&path);
    assert_eq!(Space::open(&path).unwrap_err().kind(), ErrorKind::ReadOnly);
    let space = Space::builder().read_only(true).open(&path).unwrap();
    assert_eq!(space.connect().documents().unwrap().0.len(), 20);
    space.close().unwrap();
    assert!(files(&path) == before);
}

/// What a reader sees: each entry stands for one call.
fn read(space: &Space) -> Result<Vec<String>, ErrorKind> {
    fn text(answer: Result<impl Debug, Error>) -> Result<String, ErrorKind> {
        answer.map(|answer| format!("{answer:?}")).map_err(|error| error.kind())
    }
    let notes = space.connect();
    let documents = notes.documents().map_err(|error| error.kind())?.0;
    let mut seen = Vec::new();
    let fetch = |document: &Document| text(notes.fetch(Fetch::new(document.id()).with_metadata()));
    for document in &documents {
        seen.push(fetch(document)?);
        seen.push(text(notes.content_markdown(document.id()))?);
    }
    seen.push(format!("{documents:?}"));
    seen.push(text(notes.folders())?);
    seen.push(text(notes.changes_since(0).collect::<Result<Vec<_>, _>>())?);
    Ok(seen)
}

/// What became of a space with a flipped bit: in a word for the counts.
fn outcome(path: &Path, at: usize, original: &[String]) -> &'static str {
    let image = fs::read(store_file(path)).unwrap();
    let space = match builder().ids(SequentialIds::new(8)).open(path) {
        Ok(space) => space,
        Err(error) => {
            assert!(
                fs::read(store_file(path)).unwrap() == image,
                "not opened, but changed: {error}"
            );
            return match error.kind() {
                ErrorKind::Corrupted => "open: damaged",
                ErrorKind::NotASpace if at < 9 => "open: not a space",
                kind => panic!("byte {at}: opening reports {kind:?}: {error}"),
            };
        }
    };
    let seen = read(&space);
    let is_clean = space.check().is_ok_and(|report| report.is_clean());
    // Writes meet damage too, and whatever they answer, they answer.
    let notes = space.connect();
    let written = notes.create_document("after the damage").and_then(|document| {
        let many = "a paragraph of the insert\n\n".repeat(300);
        notes.insert_markdown(&many, document.id())
    });
    let is_written = written.is_ok();
    drop(space.close());
    match seen {
        Err(_) if is_clean => panic!("an error on reading, and a clean check"),
        Err(_) => "read: error",
        Ok(seen) if seen == original => match (is_clean, is_written) {
            (true, true) => "no difference",
            (true, false) => "no difference, but a write finds it",
            (false, _) => "no difference, found by the check",
        },
        Ok(_) if is_clean => panic!("another content, and a clean check"),
        Ok(_) => "another content, found by the check",
    }
}

const FLIPS: u64 = 400;
const PLACE: &str = "LEAFBASE_DAMAGE_PLACE";

/// Does nothing unless [`flipped_bits_never_end_the_process`] runs it in a process of its own.
#[test]
#[ignore = "runs in a process of its own"]
fn flip_bits() {
    let Some(place) = std::env::var_os(PLACE) else { return };
    let path = PathBuf::from(place).join("notes");
    make(&path);
    let image = fs::read(store_file(&path)).unwrap();
    let original = read(&Space::open(&path).unwrap()).unwrap();
    let used: Vec<_> = (0..image.len() / 4_096)
        .filter(|page| image[page * 4_096..(page + 1) * 4_096].iter().any(|byte| *byte != 0))
        .collect();
    // redb's panics are caught; nobody should read about them.
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.location().is_some_and(|place| place.file().ends_with("damage.rs")) {
            told(panic);
        }
    }));
    let mut seed = 99_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap()
    };
    let mut counts = BTreeMap::new();
    let mut flip_at = |at: usize, bit: usize| {
        let mut damaged = image.clone();
        damaged[at] ^= 1 << bit;
        fs::write(store_file(&path), damaged).unwrap();
        fs::write(path.with_extension("last"), format!("byte {at}, bit {bit}")).unwrap();
        *counts.entry(outcome(&path, at, &original)).or_insert(0) += 1;
    };
    // How many entries a page has, and where the first of them ends.
    for page in &used[1..] {
        for place in [2, 3, 7] {
            flip_at(page * 4_096 + place, 7);
        }
    }
    for flip in 0..FLIPS {
        let page = used[random(used.len())] * 4_096;
        let at = match flip % 4 {
            0 => random(320),
            1 => page + random(64),
            2 => page + random(512),
            _ => page + random(4_096),
        };
        flip_at(at, random(8));
    }
    println!("{} flips: {counts:?}", counts.values().sum::<u32>());
}

/// Takes a block out, and nothing that names it.
fn tear_out(store: &Arc<dyn Store>, block: BlockId) {
    let store = SpaceStore::open(
        Arc::clone(store),
        Extractor::of_edges(|_, _| {}),
        Arc::new(SequentialIds::new(9)),
    )
    .unwrap();
    let stamp = Stamp { at: Timestamp::from_millis(1), by: Author::default() };
    let tear = |snapshot: &leafbase_store::SpaceSnapshot| {
        let (reader, place) =
            (snapshot.reader(), snapshot.reader().locate(block).unwrap().unwrap());
        let after = reader.previous_sibling(block).unwrap();
        let target =
            InsertTarget { document: place.document, parent: place.parent.unwrap(), after };
        Edit::Remove { target, subtrees: reader.subtree(block, None).unwrap() }
    };
    let edit = tear(&store.snapshot().unwrap());
    store.write(WriteOptions::default(), &stamp, |open| open.apply(vec![edit.clone()])).unwrap();
}

/// Books, and the people who wrote them: "Both" is by Ann and Bob, "Hers" by Ann alone.
fn library(notes: &Connection) -> (BlockId, [BlockId; 2]) {
    let home = notes.create_document("Home").unwrap().id();
    let make = |name: &str, properties: Vec<PropertyDraft>| {
        let schema = SchemaDraft::new(name, properties);
        notes.create_collection(CreateCollection::new(schema, Position::end_of(home))).unwrap().id
    };
    let people = make("People", vec![]);
    let by = PropertyDraft::new("By", Relation::to(people).with_inverse("wrote").into());
    let books = make("Books", vec![by]);
    let added = notes.add_items(AddItems::new(people, ["Ann", "Bob"].map(ItemDraft::new))).unwrap();
    let (ann, bob) = (added[0].id, added[1].id);
    let both = ItemDraft::new("Both").with("by", vec![ann.to_string(), bob.to_string()]);
    let hers = ItemDraft::new("Hers").with("by", vec![ann.to_string()]);
    notes.add_items(AddItems::new(books, [both, hers])).unwrap();
    (books, [ann, bob])
}

fn told(items: &[Item]) -> String {
    let one = |item: &Item| {
        let by: Vec<_> = item.related("by").iter().map(|item| item.title.as_str()).collect();
        format!("{}: {}", item.title, by.join(" "))
    };
    items.iter().map(one).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_relation_to_what_is_gone_is_left_out_alone() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let notes = builder().over(Arc::clone(&store), true).unwrap().connect();
    let (books, [ann, bob]) = library(&notes);
    let all = |notes: &Connection, depth| {
        told(&notes.items(GetItems::of(books).depth(depth)).unwrap().items)
    };
    assert_eq!(all(&notes, 0), "Both: Ann Bob; Hers: Ann");
    assert!(notes.space().check().unwrap().is_clean());
    drop(notes);

    tear_out(&store, ann);
    let notes = builder().over(store, false).unwrap().connect();
    let expected = "Both: Bob; Hers: ";
    assert_eq!([all(&notes, 0), all(&notes, 1)], [expected; 2]);
    let query = QueryItems::of(books).sorted(Sort::ascending("title"));
    assert_eq!(told(&notes.query_items(query.depth(0)).unwrap().items), expected);
    let of_bob = ItemFilter::on("by", Operator::Contains, bob.to_string());
    assert_eq!(
        told(&notes.query_items(QueryItems::of(books).filtered(of_bob)).unwrap().items),
        "Both: Bob"
    );
    let groups = notes.count_items(CountItems::of(books).grouped_by("by")).unwrap();
    assert_eq!(groups.groups.map(|groups| groups.len()), Some(1), "the group of Bob");
    assert!(notes.fetch_markdown(Fetch::new(books)).unwrap().contains("Bob"));
    let problems = notes.space().check().unwrap().problems;
    assert!(
        problems.iter().any(|problem| problem.to_string().contains(&ann.to_string())),
        "{problems:?}"
    );

    let both = notes.items(GetItems::of(books).depth(0)).unwrap()[0].id;
    let mended = ItemUpdate::of(both).with("by", vec![bob.to_string()]);
    assert_eq!(told(&notes.update_items(UpdateItems::new(books, [mended])).unwrap()), "Both: Bob");
}

#[test]
fn flipped_bits_never_end_the_process() {
    let place = tempfile::tempdir().unwrap();
    let output = fs::File::create(place.path().join("output")).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["flip_bits", "--exact", "--ignored", "--nocapture"])
        .env(PLACE, place.path())
        .stdout(Stdio::from(output.try_clone().unwrap()))
        .stderr(Stdio::from(output))
        .spawn()
        .unwrap();
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if started.elapsed() > Duration::from_mins(10) {
            child.kill().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let output =
        String::from_utf8_lossy(&fs::read(place.path().join("output")).unwrap()).into_owned();
    let last = fs::read_to_string(place.path().join("notes.last")).unwrap_or_default();
    println!("{output}");
    assert!(status.is_some_and(|status| status.success()), "{status:?} at {last}:\n{output}");
}
