//! Daily notes: which day a request means in the space's zone, and when a note is made: by the
//! first write to its day, and by nothing else.

use std::sync::{Arc, Barrier};

use leafbase::{
    Clock, Connection, Document, DocumentId, Error, Fetch, ListDocuments, PurgeDocuments,
    RestoreDailyNotes, Space, TaskScope, Timestamp, json,
};
use leafbase_test_outline::{FixedClock, SequentialIds};

use crate::host::wrong;

/// Saturday, 21 November 2026, noon in UTC.
const NOON: u64 = 1_795_262_400_000;

/// Writes that take a date. Each is given its connection, a position in a day and a place in a day,
/// both as JSON.
type Write = fn(&Connection, &str, &str) -> Result<(), Error>;

fn read<T: json::FromJson>(notes: &Connection, text: &str) -> Result<T, Error> {
    notes.space().read_json(text)
}

const WRITES: [(&str, Write); 6] = [
    ("insert blocks", |notes, position, _| {
        let body =
            format!(r#"{{"blocks":[{{"type":"text","markdown":"x"}}],"position":{position}}}"#);
        notes.insert_blocks(read(notes, &body)?).map(drop)
    }),
    ("insert markdown", |notes, position, _| {
        notes
            .insert_blocks(read(notes, &format!(r#"{{"markdown":"x","position":{position}}}"#))?)
            .map(drop)
    }),
    ("move", |notes, position, _| {
        let block = notes.insert_markdown("x", home(notes))?[0].id;
        notes
            .move_blocks(read(
                notes,
                &format!(r#"{{"blockIds":"{block}","position":{position}}}"#),
            )?)
            .map(drop)
    }),
    ("upload", |notes, position, _| notes.upload_file(read(notes, position)?, &b"x"[..]).map(drop)),
    ("add a task", |notes, _, place| {
        let body = format!(r#"{{"tasks":[{{"markdown":"x","location":{place}}}]}}"#);
        notes.add_tasks(read(notes, &body)?).map(drop)
    }),
    ("move a task", |notes, _, place| {
        let task = notes.insert_markdown("- [ ] x", home(notes))?[0].id;
        let body = format!(r#"{{"tasksToUpdate":[{{"id":"{task}","location":{place}}}]}}"#);
        notes.update_tasks(read::<leafbase::UpdateTasks>(notes, &body)?).map(drop)
    }),
];

/// A document that is not a daily note.
fn home(notes: &Connection) -> DocumentId {
    let found =
        notes.documents().unwrap().into_iter().find(|document| document.record.day.is_none());
    found.map_or_else(|| notes.create_document("home").unwrap().id(), |document| document.id())
}

fn notes_at(clock: impl Clock + 'static, zone: &str) -> Connection {
    Space::builder()
        .clock(clock)
        .ids(SequentialIds::new(1))
        .zone(zone)
        .in_memory()
        .unwrap()
        .connect()
}

/// The daily notes, each with its title.
fn daily(notes: &Connection) -> Vec<(String, String)> {
    let documents =
        notes.documents().unwrap().into_iter().filter(|document| document.record.day.is_some());
    documents
        .map(|Document { record, title, .. }| (record.day.unwrap().to_string(), title))
        .collect()
}

fn fetch(notes: &Connection, query: &str) -> Result<leafbase::Block, Error> {
    notes.fetch(read(notes, query)?)
}

#[test]
fn the_first_write_makes_the_note_and_the_next_ones_take_it() {
    for (write, to) in WRITES {
        for (day, date, title) in [
            (r#""yesterday""#, "2026-11-20", "Friday, 20 November 2026"),
            (r#""today""#, "2026-11-21", "Saturday, 21 November 2026"),
            (r#""tomorrow""#, "2026-11-22", "Sunday, 22 November 2026"),
            (r#""2024-02-29""#, "2024-02-29", "Thursday, 29 February 2024"),
            (r#""0000-01-01""#, "0000-01-01", "Saturday, 1 January 0"),
            (r#""9999-12-31""#, "9999-12-31", "Friday, 31 December 9999"),
        ] {
            for edge in ["", r#","position":"start""#, r#","position":"end""#] {
                let notes = notes_at(FixedClock::at(NOON), "UTC");
                let (position, place) = (
                    format!(r#"{{"date":{day}{edge}}}"#),
                    format!(r#"{{"type":"dailyNote","date":{day}}}"#),
                );
                to(&notes, &position, &place).unwrap();
                assert_eq!(
                    daily(&notes),
                    [(date.to_owned(), title.to_owned())],
                    "{write} {position}"
                );
                let made = fetch(&notes, &format!(r#"{{"date":{day}}}"#)).unwrap();
                to(&notes, &position, &place).unwrap();
                let note = fetch(&notes, &format!(r#"{{"date":"{date}"}}"#)).unwrap();
                assert_eq!((note.id, note.children().len()), (made.id, 2), "{write} {position}");
                let listed = notes.document(DocumentId::of_root(note.id)).unwrap();
                let listed = serde_json::to_value(listed).unwrap();
                assert_eq!(listed["location"]["destination"], "daily_notes", "{write} {position}");
                assert_eq!(listed["dailyNoteDate"], date, "{write} {position}");
                assert!(notes.space().check().unwrap().is_clean(), "{write} {position}");
            }
        }
    }
}

#[test]
fn without_a_target_today_is_meant() {
    // But a file has no default place.
    for (write, to) in WRITES.into_iter().filter(|(write, _)| *write != "upload") {
        for position in ["{}", r#"{"position":"start"}"#, r#"{"position":"end"}"#] {
            let notes = notes_at(FixedClock::at(NOON), "Asia/Tokyo");
            to(&notes, position, r#"{"type":"dailyNote"}"#).unwrap();
            assert_eq!(daily(&notes)[0].0, "2026-11-21", "{write} {position}");
        }
    }
}

/// A clock that shows one instant, also before 1970.
struct At(Timestamp);

impl Clock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}

#[test]
fn days_are_those_of_the_space() {
    for (zone, now, expected) in [
        ("UTC", "2026-03-01T23:30:00Z", ["2026-02-28", "2026-03-01", "2026-03-02"]),
        ("Asia/Tokyo", "2026-03-01T23:30:00Z", ["2026-03-01", "2026-03-02", "2026-03-03"]),
        ("America/New_York", "2026-03-01T23:30:00Z", ["2026-02-28", "2026-03-01", "2026-03-02"]),
        // No midnight, and midnight twice.
        ("America/Sao_Paulo", "2018-11-04T03:00:00Z", ["2018-11-03", "2018-11-04", "2018-11-05"]),
        ("America/St_Johns", "2010-11-07T02:31:00Z", ["2010-11-05", "2010-11-06", "2010-11-07"]),
        // A day that there was not, and one that there was twice.
        ("Pacific/Apia", "2011-12-30T09:59:59Z", ["2011-12-28", "2011-12-29", "2011-12-31"]),
        ("Pacific/Apia", "2011-12-30T10:00:00Z", ["2011-12-29", "2011-12-31", "2012-01-01"]),
        ("America/Juneau", "1867-10-18T00:00:00Z", ["1867-10-17", "1867-10-18", "1867-10-19"]),
        ("America/Juneau", "1867-10-19T02:00:00Z", ["1867-10-17", "1867-10-18", "1867-10-19"]),
    ] {
        for (write, to) in WRITES {
            let notes = notes_at(At(now.parse().unwrap()), zone);
            for (word, date) in ["yesterday", "today", "tomorrow"].into_iter().zip(expected) {
                let day = format!(r#"{{"date":"{word}"}}"#);
                assert_eq!(
                    wrong(&fetch(&notes, &day).unwrap_err()),
                    "NOT_FOUND date",
                    "{zone} {word}"
                );
                to(&notes, &day, &format!(r#"{{"type":"dailyNote","date":"{word}"}}"#)).unwrap();
                let note = fetch(&notes, &day).unwrap();
                assert_eq!(
                    fetch(&notes, &format!(r#"{{"date":"{date}"}}"#)).unwrap().id,
                    note.id,
                    "{write} {zone}"
                );
            }
            let days: Vec<_> = daily(&notes).into_iter().map(|(day, _)| day).collect();
            assert_eq!(days, expected, "{write} {zone} {now}");
        }
    }
}

#[test]
fn midnight_and_another_zone_change_what_today_is_and_no_note() {
    let clock = Arc::new(FixedClock::at(NOON));
    let notes = notes_at(clock.clone(), "UTC");
    let today =
        || fetch(&notes, r#"{"date":"today"}"#).map(|note| note.data.inline).unwrap_or_default();
    notes.insert_markdown("x", read::<leafbase::Position>(&notes, "{}").unwrap()).unwrap();
    assert_eq!(today(), "Saturday, 21 November 2026");
    clock.advance(12 * 3_600_000 - 1);
    assert_eq!(today(), "Saturday, 21 November 2026");
    clock.advance(1);
    assert_eq!(today(), "");
    notes.space().set_zone("America/New_York").unwrap();
    assert_eq!(today(), "Saturday, 21 November 2026");
    notes.space().set_zone("Asia/Tokyo").unwrap();
    assert_eq!(today(), "");
    assert_eq!(daily(&notes), [("2026-11-21".to_owned(), "Saturday, 21 November 2026".to_owned())]);
}

#[test]
fn reading_makes_no_note() {
    let notes = notes_at(FixedClock::at(NOON), "UTC");
    home(&notes);
    let before = notes.last_sequence().unwrap();
    for query in [
        r#"{"date":"today"}"#,
        r#"{"date":"tomorrow","maxDepth":0}"#,
        r#"{"date":"yesterday","fetchMetadata":true}"#,
        r#"{"date":"2026-11-21"}"#,
    ] {
        assert_eq!(wrong(&fetch(&notes, query).unwrap_err()), "NOT_FOUND date", "{query}");
        assert!(notes.fetch_markdown(read(&notes, query).unwrap()).is_err());
    }
    for filter in [r#"{"dailyNoteDateGte":"today"}"#, r#"{"location":"daily_notes"}"#] {
        let listed = notes.list_documents(read::<ListDocuments>(&notes, filter).unwrap()).unwrap();
        assert_eq!(listed.len(), 0, "{filter}");
    }
    for scope in [TaskScope::Active, TaskScope::Upcoming, TaskScope::Inbox, TaskScope::Logbook] {
        assert_eq!(notes.tasks(scope).unwrap().len(), 0);
    }
    notes.info().unwrap();
    assert_eq!((notes.last_sequence().unwrap(), daily(&notes).len()), (before, 0));
}

#[test]
fn what_is_refused_or_empty_makes_no_note() {
    let notes = notes_at(FixedClock::at(NOON), "UTC");
    let (text, root) = (notes.insert_markdown("x", home(&notes)).unwrap()[0].id, home(&notes));
    let (day, place) = (r#""position":{"date":"today"}"#, r#""location":{"type":"dailyNote"}"#);
    let insert = |body: &str| {
        read(&notes, body).and_then(|request| notes.insert_blocks(request)).map(|_| ())
    };
    let moves =
        |body: &str| read(&notes, body).and_then(|request| notes.move_blocks(request)).map(|_| ());
    let upload = |body: &str, bytes: &[u8]| {
        read(&notes, body).and_then(|request| notes.upload_file(request, bytes)).map(|_| ())
    };
    let add =
        |body: &str| read(&notes, body).and_then(|request| notes.add_tasks(request)).map(|_| ());
    let update = |body: &str| {
        read::<leafbase::UpdateTasks>(&notes, body)
            .and_then(|request| notes.update_tasks(request))
            .map(|_| ())
    };
    let before = notes.last_sequence().unwrap();
    for (outcome, expected) in [
        (insert(&format!(r#"{{"blocks":[],{day}}}"#)), "done"),
        (insert(&format!(r#"{{"markdown":" \n",{day}}}"#)), "done"),
        (insert(&format!(r#"{{"markdown":"- \n- x",{day}}}"#)), "INVALID_MARKDOWN markdown"),
        (
            insert(&format!(r#"{{"blocks":[{{"type":"collection"}}],{day}}}"#)),
            "RULE_VIOLATION blocks[0].type",
        ),
        (
            insert(r#"{"markdown":"x","position":{"date":"2026-02-30"}}"#),
            "VALIDATION position.date",
        ),
        (insert(r#"{"markdown":"x","position":{"date":"Today"}}"#), "VALIDATION position.date"),
        (
            insert(r#"{"markdown":"x","position":{"date":"today","position":"before"}}"#),
            "INVALID_POSITION position",
        ),
        (moves(&format!(r#"{{"blockIds":[],{day}}}"#)), "done"),
        (moves(&format!(r#"{{"blockIds":["{text}","?"],{day}}}"#)), "NOT_FOUND blockIds[1]"),
        (moves(&format!(r#"{{"blockIds":"{root}",{day}}}"#)), "RULE_VIOLATION blockIds[0]"),
        (upload(r#"{"date":"today","contentType":"nonsense"}"#, b"x"), "VALIDATION contentType"),
        (add(r#"{"tasks":[]}"#), "done"),
        (
            add(&format!(r#"{{"tasks":[{{"markdown":"x",{place}}},{{"markdown":"a\n\nb"}}]}}"#)),
            "VALIDATION tasks[1].markdown",
        ),
        (
            update(&format!(r#"{{"tasksToUpdate":[{{"id":"{text}",{place}}}]}}"#)),
            "RULE_VIOLATION tasksToUpdate[0].id",
        ),
        (
            update(&format!(r#"{{"tasksToUpdate":[{{"id":"?",{place}}}]}}"#)),
            "NOT_FOUND tasksToUpdate[0].id",
        ),
    ] {
        assert_eq!(outcome.map_or_else(|error| wrong(&error), |()| "done".to_owned()), expected);
        assert_eq!(
            (notes.last_sequence().unwrap(), daily(&notes).len()),
            (before, 0),
            "{expected}"
        );
    }
}

#[test]
fn an_upload_that_breaks_off_makes_no_note() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the line is dead"))
        }
    }
    let notes = notes_at(FixedClock::at(NOON), "UTC");
    let error =
        notes.upload_file(read(&notes, r#"{"date":"today"}"#).unwrap(), Broken).unwrap_err();
    assert_eq!(
        (error.code(), daily(&notes).len(), notes.last_sequence().unwrap()),
        ("STORAGE", 0, 0)
    );
}

#[test]
fn a_fetch_names_a_block_or_a_day() {
    let notes = notes_at(FixedClock::at(NOON), "UTC");
    let text =
        notes.insert_markdown("x", read::<leafbase::Position>(&notes, "{}").unwrap()).unwrap()[0]
            .id;
    let note = notes.document_of(text).unwrap();
    for query in [
        r#"{"date":"today"}"#.to_owned(),
        r#"{"date":"2026-11-21"}"#.to_owned(),
        format!(r#"{{"id":"{note}"}}"#),
    ] {
        assert_eq!(fetch(&notes, &query).unwrap().id, note.root(), "{query}");
    }
    for (query, outcome) in [
        ("{}".to_owned(), "VALIDATION"),
        (format!(r#"{{"id":"{note}","date":"today"}}"#), "VALIDATION"),
        (r#"{"date":"2026-11-31"}"#.to_owned(), "VALIDATION date"),
        (r#"{"date":"now"}"#.to_owned(), "VALIDATION date"),
        // `null` means that an optional field is absent.
        (r#"{"date":null}"#.to_owned(), "VALIDATION"),
        (r#"{"date":7}"#.to_owned(), "VALIDATION date"),
        (r#"{"date":"2026-11-22"}"#.to_owned(), "NOT_FOUND date"),
    ] {
        assert_eq!(wrong(&fetch(&notes, &query).unwrap_err()), outcome, "{query}");
    }
    assert_eq!(notes.fetch(Fetch::today().depth(1)).unwrap().children().len(), 1);
}

#[test]
fn a_day_has_one_note_however_many_write_to_it_first() {
    for round in 0..20 {
        let notes = notes_at(FixedClock::at(NOON), "UTC");
        home(&notes);
        let start = Barrier::new(8);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (notes, start, (_, to)) =
                    (notes.clone(), &start, WRITES[(thread + round) % WRITES.len()]);
                scope.spawn(move || {
                    start.wait();
                    to(&notes, r#"{"date":"today"}"#, r#"{"type":"dailyNote"}"#).unwrap();
                });
            }
        });
        assert_eq!(daily(&notes).len(), 1);
        assert_eq!(notes.fetch(Fetch::today()).unwrap().children().len(), 8);
        assert!(notes.space().check().unwrap().is_clean());
    }
}

#[test]
fn a_note_in_the_trash_frees_its_day() {
    for (write, to) in WRITES {
        let notes = notes_at(FixedClock::at(NOON), "UTC");
        let again = || to(&notes, r#"{"date":"today"}"#, r#"{"type":"dailyNote"}"#).unwrap();
        let today = || notes.fetch(Fetch::today()).map(|note| DocumentId::of_root(note.id));
        again();
        let first = today().unwrap();
        notes.delete_documents(first).unwrap();
        assert_eq!(wrong(&today().unwrap_err()), "NOT_FOUND date", "{write}");
        again();
        let second = today().unwrap();
        assert_ne!(first, second, "{write}");
        let restored = notes.restore_daily_notes(RestoreDailyNotes::new([first])).map(drop);
        assert_eq!(wrong(&restored.unwrap_err()), "CONFLICT documentIds[0]", "{write}");
        notes.delete_documents(second).unwrap();
        notes.purge_documents(PurgeDocuments::new([second])).unwrap();
        notes.restore_daily_notes(RestoreDailyNotes::new([first])).unwrap();
        assert_eq!(today().unwrap(), first, "{write}");
        again();
        assert_eq!((daily(&notes).len(), today().unwrap()), (1, first), "{write}");
        assert!(notes.space().check().unwrap().is_clean(), "{write}");
    }
}

#[test]
fn a_filter_of_days_holds_what_was_made_on_them() {
    // Around the day that Samoa skipped, and in the hour that Newfoundland lived twice over
    // midnight.
    let directory = tempfile::tempdir().unwrap();
    for (name, zone, made, day, found) in [
        ("before", "Pacific/Apia", "2011-12-30T09:59:59.999Z", "2011-12-29", 1),
        ("before, the day after", "Pacific/Apia", "2011-12-30T09:59:59.999Z", "2011-12-30", 0),
        ("after, the day before", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30", 0),
        ("after", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31", 1),
        ("first time", "America/St_Johns", "2010-11-07T02:30:30Z", "2010-11-07", 1),
        ("second time", "America/St_Johns", "2010-11-07T02:31:00Z", "2010-11-06", 1),
        ("later", "America/St_Johns", "2010-11-07T03:30:00Z", "2010-11-06", 0),
        ("the first day there is", "UTC", "0000-01-01T00:00:00Z", "0000-01-01", 1),
        ("the last day there is", "UTC", "9999-12-31T23:59:59.999Z", "9999-12-31", 1),
    ] {
        let builder = Space::builder().clock(At(made.parse().unwrap())).zone(zone);
        let kept = builder.clone().create(directory.path().join(name)).unwrap();
        for notes in [builder.in_memory().unwrap().connect(), kept.connect()] {
            home(&notes);
            for field in ["createdDate", "lastModifiedDate"] {
                let request = format!(r#"{{"{field}Gte":"{day}","{field}Lte":"{day}"}}"#);
                let listed =
                    notes.list_documents(read::<ListDocuments>(&notes, &request).unwrap()).unwrap();
                assert_eq!(listed.len(), found, "{name} {request}");
            }
            let turned = r#"{"createdDateGte":"2030-01-02","createdDateLte":"2020-01-01"}"#;
            assert_eq!(
                notes.list_documents(read::<ListDocuments>(&notes, turned).unwrap()).unwrap().len(),
                0
            );
        }
    }
}
