//! What a connection says of its space: who it is, what time it is there, how to link to a block.
//! Its name and zone change; what a crash left of uploads is swept when it is opened.

use std::io::{self, Read};
use std::sync::Arc;

use leafbase::{
    AssetId, Author, Clock, DocumentId, Edit, Error, ErrorKind, Fetch, Space, SpaceSettings,
    Timestamp, UploadFile,
};
use leafbase_store::kv::{MemoryStore, Store, WriteOptions};
use leafbase_store::{CHUNK_BYTES, Extractor, SpaceStore};
use leafbase_test_outline::{FixedClock, SequentialIds};
use serde_json::{Value, json};
use tests::scope::logs::logged;

use crate::host::wrong;
use crate::stores::Wrapped;

/// A clock that shows one instant, also before 1970.
struct At(Timestamp);

impl Clock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}

fn info_at(zone: &str, instant: &str) -> Result<Value, Error> {
    let now = instant.parse().unwrap();
    let builder =
        Space::builder().clock(At(now)).ids(SequentialIds::new(1)).name("Notes").zone(zone);
    Ok(serde_json::to_value(builder.in_memory().unwrap().connect().info()?).unwrap())
}

#[test]
fn it_is_json() {
    assert_eq!(
        info_at("Europe/Lisbon", "2026-06-30T23:30:00.250Z").unwrap(),
        json!({
            "space": {
                "id": "0000000000000G000000000001", "name": "Notes", "timezone": "Europe/Lisbon",
                "time": "2026-07-01T00:30:00.250+01:00", "friendlyDate": "Wednesday, 1 July 2026",
            },
            "utc": {"time": "2026-06-30T23:30:00.250Z"},
            "urlTemplates": {"app": "leafbase://open?spaceId=0000000000000G000000000001&blockId={blockId}"},
        })
    );
}

#[test]
fn the_time_is_the_zones() {
    for (zone, instant, time, date) in [
        (
            "UTC",
            "1970-01-01T00:00:00Z",
            "1970-01-01T00:00:00.000+00:00",
            "Thursday, 1 January 1970",
        ),
        (
            "Asia/Kolkata",
            "2026-03-01T20:00:00.001Z",
            "2026-03-02T01:30:00.001+05:30",
            "Monday, 2 March 2026",
        ),
        (
            "America/St_Johns",
            "2026-01-01T01:00:00Z",
            "2025-12-31T21:30:00.000-03:30",
            "Wednesday, 31 December 2025",
        ),
        // The hour that comes twice is told apart by the offset.
        (
            "Europe/Berlin",
            "2026-10-25T00:30:00Z",
            "2026-10-25T02:30:00.000+02:00",
            "Sunday, 25 October 2026",
        ),
        (
            "Europe/Berlin",
            "2026-10-25T01:30:00Z",
            "2026-10-25T02:30:00.000+01:00",
            "Sunday, 25 October 2026",
        ),
        // Over the date line.
        (
            "Pacific/Apia",
            "2011-12-30T09:59:59.999Z",
            "2011-12-29T23:59:59.999-10:00",
            "Thursday, 29 December 2011",
        ),
        (
            "Pacific/Apia",
            "2011-12-30T10:00:00Z",
            "2011-12-31T00:00:00.000+14:00",
            "Saturday, 31 December 2011",
        ),
        // Monrovia was 44 minutes and 30 seconds behind: RFC 3339 has no seconds in an offset.
        (
            "Africa/Monrovia",
            "1971-01-01T12:00:00Z",
            "1971-01-01T11:16:00.000-00:44",
            "Friday, 1 January 1971",
        ),
        ("UTC", "0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000+00:00", "Saturday, 1 January 0"),
    ] {
        let info = info_at(zone, instant).unwrap();
        assert_eq!(
            (&info["space"]["time"], &info["space"]["friendlyDate"]),
            (&json!(time), &json!(date)),
            "{zone}"
        );
    }
    for (zone, instant) in [
        ("America/New_York", "0000-01-01T00:00:00Z"),
        ("Asia/Tokyo", "9999-12-31T23:00:00Z"),
        ("UTC", "9999-12-31T23:00:00Z"),
    ] {
        let error = info_at(zone, instant).unwrap_err();
        assert_eq!(
            error.message(),
            "the clock is outside the supported years 0 to 9999",
            "{zone} {instant}"
        );
    }
}

#[test]
fn a_template_says_how_to_link_to_a_block() {
    let builder = || Space::builder().ids(SequentialIds::new(1));
    let id = "0000000000000G000000000001";
    let block = "01KASZ4ZJG0000000000000001".parse::<leafbase::BlockId>().unwrap();
    for (template, url) in [
        ("notes://{blockId}", format!("notes://{block}")),
        (
            "https://a.example/{spaceId}/{blockId}#{blockId}",
            format!("https://a.example/{id}/{block}#{block}"),
        ),
    ] {
        let space = builder().url_template(template).in_memory().unwrap();
        assert_eq!(space.block_url(block), url);
        assert_eq!(
            space.connect().info().unwrap().url_templates.app,
            template.replace("{spaceId}", id)
        );
    }
    assert_eq!(
        builder().in_memory().unwrap().block_url(block),
        format!("leafbase://open?spaceId={id}&blockId={block}")
    );
}

#[test]
fn a_template_without_a_block_is_refused_before_anything_is_touched() {
    let directory = tempfile::tempdir().unwrap();
    let (made, new) = (directory.path().join("made"), directory.path().join("new"));
    Space::create(&made).unwrap().close().unwrap();
    let before = std::fs::metadata(made.join("space.redb")).unwrap().modified().unwrap();
    for template in ["", "notes://", "notes://{blockid}", "notes://{spaceId}"] {
        let builder = || Space::builder().url_template(template);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        for outcome in [
            builder().create(&new),
            builder().open(&made),
            builder().open(&new),
            builder().in_memory(),
            builder().over(store, true),
        ] {
            assert_eq!(wrong(&outcome.unwrap_err()), "VALIDATION url_template", "{template:?}");
        }
    }
    assert!(!new.exists());
    assert_eq!(std::fs::metadata(made.join("space.redb")).unwrap().modified().unwrap(), before);
}

#[test]
fn name_and_zone_change_and_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("Notes.leafbase");
    let clock = || FixedClock::at(1_000);
    let space = Space::builder().zone("asia/TOKYO").clock(clock()).create(&path).unwrap();
    let says = |space: &Space| {
        let info = space.connect().info().unwrap().space;
        (info.name, info.zone, info.time)
    };
    let told =
        |name: &str, zone: &str, time: &str| (name.to_owned(), zone.to_owned(), time.to_owned());
    assert_eq!(says(&space), told("Notes", "Asia/Tokyo", "1970-01-01T09:00:01.000+09:00"));
    let trip = space.connect().create_document("Trip").unwrap().id();
    let guest = space.scoped([trip]);
    let seen = guest.last_sequence().unwrap();
    space.rename("Büro").unwrap();
    space.set_zone("america/new_york").unwrap();
    let now = told("Büro", "America/New_York", "1969-12-31T19:00:01.000-05:00");
    assert_eq!(says(&space), now);
    space.rename("Büro").unwrap();
    space.set_zone("America/NEW_YORK").unwrap();
    let changes: Vec<_> = space.connect().changes_since(1).map(Result::unwrap).collect();
    let [first, middle, last] =
        [("Notes", "Asia/Tokyo"), ("Büro", "Asia/Tokyo"), ("Büro", "America/New_York")]
            .map(|(name, zone)| SpaceSettings { name: name.to_owned(), zone: zone.to_owned() });
    let edits = [(first, middle.clone()), (middle, last)]
        .map(|(before, after)| vec![Edit::UpdateSpace { before, after }]);
    assert!(
        changes.iter().map(|change| &change.edits).eq(&edits),
        "what is set again is not a row"
    );
    assert!(changes.iter().all(|change| change.stamp.by.is_anonymous()));
    let scoped = (guest.last_sequence().unwrap(), guest.changes_since(seen).count());
    assert_eq!(scoped, (seen, 0), "a scope sees no row of it");
    for (outcome, expected) in [
        (space.rename(&"n".repeat(1_001)), "LIMIT_EXCEEDED name"),
        (space.set_zone("Middle/Earth"), "VALIDATION zone"),
        (space.set_zone(""), "VALIDATION zone"),
    ] {
        assert_eq!(wrong(&outcome.unwrap_err()), expected);
    }
    let other = SpaceSettings { name: "Büro".to_owned(), zone: "Middle/Earth".to_owned() };
    let before = space.meta().unwrap().settings();
    let edit = Edit::UpdateSpace { before, after: other };
    assert_eq!(space.apply(&Author::ANONYMOUS, &[edit]).unwrap_err().code(), "VALIDATION");
    assert_eq!(space.connect().last_sequence().unwrap(), 3);
    space.close().unwrap();
    let space = Space::builder().clock(clock()).zone("UTC").name("other").open(&path).unwrap();
    assert_eq!(says(&space), now, "the options of making do not change what is there");
    space.close().unwrap();
    let space = Space::builder().clock(clock()).read_only(true).open(&path).unwrap();
    assert_eq!(space.rename("x").unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(says(&space), now);
}

#[test]
fn name_and_zone_set_at_once_both_land() {
    let space = Space::in_memory().unwrap();
    let mut changes = 0;
    for round in 0..50 {
        let before = space.meta().unwrap().settings();
        let (name, zone) =
            (format!("round {round}"), if round % 2 == 0 { "Asia/Tokyo" } else { "UTC" });
        std::thread::scope(|scope| {
            scope.spawn(|| space.rename(&name).unwrap());
            scope.spawn(|| space.set_zone(zone).unwrap());
        });
        let meta = space.meta().unwrap();
        assert_eq!((meta.name.as_str(), meta.zone.as_str()), (name.as_str(), zone));
        changes += u64::from(before.name != name) + u64::from(before.zone != zone);
        assert_eq!(space.connect().last_sequence().unwrap(), changes);
    }
}

/// Uploads that nobody goes on with, as a crash leaves them.
fn leave_uploads(store: Arc<dyn Store>) {
    let store =
        SpaceStore::open(store, Extractor::of_edges(|_, _| {}), Arc::new(SequentialIds::new(9)))
            .unwrap();
    for number in [1, 2] {
        let (asset, options) = (AssetId::from_bytes([number; 16]), WriteOptions::default());
        store.begin_upload(options, asset).unwrap();
        store.put_chunks(options, asset, 0, &[&[7; CHUNK_BYTES], &[8; 100]]).unwrap();
    }
}

fn uploads(store: &Arc<dyn Store>) -> usize {
    let store = SpaceStore::open(
        Arc::clone(store),
        Extractor::of_edges(|_, _| {}),
        Arc::new(SequentialIds::new(9)),
    )
    .unwrap();
    store.snapshot().unwrap().reader().uploads().unwrap().len()
}

#[test]
fn uploads_that_a_crash_left_are_swept_when_a_space_is_opened() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    Space::builder().over(Arc::clone(&store), true).unwrap();
    let empty = store.bytes().unwrap();
    leave_uploads(Arc::clone(&store));
    assert!(store.bytes().unwrap() > empty + 2 * CHUNK_BYTES as u64);
    Space::builder().read_only(true).over(Arc::clone(&store), false).unwrap();
    assert_eq!(uploads(&store), 2, "opened for reading only, nothing is swept");
    let space = Space::builder().over(Arc::clone(&store), false).unwrap();
    assert_eq!((uploads(&store), store.bytes().unwrap()), (0, empty));
    assert!(space.check().unwrap().is_clean());
}

#[test]
fn a_space_that_cannot_be_swept_can_be_read() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let space = Space::builder().over(Arc::clone(&store), true).unwrap();
    space.connect().create_document("d").unwrap();
    leave_uploads(Arc::clone(&store));
    for kind in [ErrorKind::NoSpace, ErrorKind::ReadOnly, ErrorKind::Storage, ErrorKind::Corrupted]
    {
        let failing = Wrapped::over(Arc::clone(&store));
        failing.fail(Some(kind));
        let space = Space::builder().over(Arc::new(failing), false).unwrap();
        assert_eq!(space.connect().documents().unwrap().len(), 1, "{kind:?}");
    }
    assert_eq!(uploads(&store), 2);
}

/// A disk without room from the moment that the second chunks are read.
struct Fills<'w>(&'w Wrapped, usize);

impl Read for Fills<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = out.len().min(self.1);
        self.1 -= read;
        if self.1 == 0 {
            self.0.fail(Some(ErrorKind::NoSpace));
        }
        Ok(read)
    }
}

type Next = fn(&Space, DocumentId) -> Result<(), Error>;

#[test]
fn an_upload_that_cannot_be_dropped_is_dropped_with_the_next_upload_or_flush() {
    let next: [(&str, Next, Option<ErrorKind>); 2] = [
        (
            "upload",
            |space, page| {
                space.connect().upload_file(UploadFile::new(page), &b"small"[..]).map(|_| ())
            },
            Some(ErrorKind::NoSpace),
        ),
        ("flush", |space, _| space.flush(), None),
    ];
    for (what, next, without_room) in next {
        let wrapped = Arc::new(Wrapped::new());
        let store: Arc<dyn Store> = Arc::<Wrapped>::clone(&wrapped);
        let space = Space::builder().over(Arc::clone(&store), true).unwrap();
        let page = space.connect().create_document("d").unwrap().id();
        let before = store.bytes().unwrap();
        let upload =
            space.connect().upload_file(UploadFile::new(page), Fills(&wrapped, 20 * CHUNK_BYTES));
        assert_eq!(upload.unwrap_err().kind(), ErrorKind::NoSpace);
        assert_eq!(uploads(&store), 1, "{what}: it could not be dropped either");
        assert_eq!(next(&space, page).err().map(|error| error.kind()), without_room);
        wrapped.fail(None);
        next(&space, page).unwrap();
        let after = store.bytes().unwrap();
        assert_eq!(uploads(&store), 0, "{what}");
        assert!(after < before + CHUNK_BYTES as u64, "{what}: {before} {after}");
    }
}

#[test]
fn opening_writes_nothing_where_nothing_is_to_be_swept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes");
    Space::create(&path).unwrap().close().unwrap();
    let file = path.join("space.redb");
    let before = std::fs::read(&file).unwrap();
    Space::open(&path).unwrap().close().unwrap();
    assert!(std::fs::read(&file).unwrap() == before);
}

#[test]
fn operations_run_in_spans_with_their_names() {
    let space = Space::in_memory().unwrap();
    let (trip, log) = logged(|| space.connect().create_document("Trip").unwrap().id());
    assert!(log.contains(r#"name="create_document""#), "{log}");
    let guest = space.scoped([trip]);
    let (shown, log) = logged(|| guest.fetch(Fetch::new(trip)));
    assert!(shown.is_ok() && log.contains(r#"name="fetch""#), "{log}");
    let (found, log) = logged(|| guest.search("trip"));
    assert!(found.is_ok() && log.contains(r#"name="search""#), "{log}");
}

#[test]
fn what_another_thread_meets_first_is_logged_too() {
    let meet = || drop(tracing::info_span!("met", name = "met first"));
    let ((), log) = logged(|| {
        std::thread::scope(|scope| drop(scope.spawn(meet).join()));
        meet();
    });
    assert_eq!(log, r#" name="met first""#);
}
