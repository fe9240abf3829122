//! Which documents are searched.

use leafbase::{
    AddTasks, DayRef, DeleteDocuments, Destination, DocumentId, Position, SearchDocuments, Space,
    TaskDraft,
};
use leafbase_store::kv::MemoryStore;
use leafbase_test_outline::FixedClock;

use super::Shelf;

/// 2026-03-10, 12:00 in UTC.
const NOON: u64 = 1_773_144_000_000;
const HOUR: u64 = 3_600_000;

/// A document in each place, with the word `x`; all made on 2026-03-10 in the space's zone, but
/// `later` a day after.
fn shelf() -> Shelf {
    let store = std::sync::Arc::new(MemoryStore::new());
    let at = |millis, create| {
        let builder = Space::builder().clock(FixedClock::at(millis)).zone("Asia/Tokyo");
        Shelf { notes: builder.over(store.clone(), create).unwrap().connect() }
    };
    let shelf = at(NOON, true);
    let folder = shelf.notes.create_folder("folder", None).unwrap().id;
    let within = shelf.notes.create_folder("within", Some(folder)).unwrap().id;
    let beside = shelf.notes.create_folder("beside", None).unwrap().id;
    shelf.put("unsorted", "x");
    shelf.put_in("foldered", "x", folder);
    shelf.put_in("inner", "x", within);
    shelf.put_in("other", "x", beside);
    shelf.put_in("template", "x", Destination::Templates);
    shelf.put("later", "x");
    let trashed = shelf.put("trashed", "x");
    shelf.notes.delete_documents(DeleteDocuments::new([trashed])).unwrap();
    let noted =
        shelf.notes.insert_markdown("x", Position::end_of_day(DayRef::Today)).unwrap()[0].id;
    shelf.notes.update_markdown(shelf.notes.document_of(noted).unwrap().root(), "note").unwrap();
    shelf.notes.add_tasks(AddTasks::new([TaskDraft::new("x")])).unwrap();
    drop(shelf);
    // In Tokyo the day begins nine hours earlier.
    let shelf = at(NOON + 4 * HOUR, false);
    shelf.notes.insert_markdown("y", shelf.id("later")).unwrap();
    shelf
}

/// The same with IDs in place of names.
fn filled(shelf: &Shelf, body: &str) -> String {
    let mut body = body.replace("\"#never\"", "\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"");
    for document in shelf.notes.documents().unwrap().iter() {
        body = body.replace(&format!("\"#{}\"", document.title), &format!("\"{}\"", document.id()));
    }
    let folders = shelf.notes.folders().unwrap();
    for (_, folder) in folders.iter().flat_map(leafbase::Folder::walk) {
        if let Some(id) = folder.folder_id() {
            body = body.replace(&format!("\"#{}\"", folder.name), &format!("\"{id}\""));
        }
    }
    body
}

#[test]
fn filters_leave_out_what_is_not_asked_for() {
    let shelf = shelf();
    let rows = [
        ("", "foldered, inner, later, note, other, template, unsorted"),
        (r#", "location": "unsorted""#, "later, unsorted"),
        (r#", "location": "daily_notes""#, "note"),
        (r#", "location": "templates""#, "template"),
        (r#", "location": "trash""#, "trashed"),
        (r##", "folderIds": "#folder""##, "foldered, inner"),
        (r##", "folderIds": ["#within", "#beside"]"##, "inner, other"),
        (r#", "folderIds": []"#, ""),
        (r##", "folderIds": ["#folder", "#never"]"##, "NOT_FOUND folderIds[1]"),
        (r##", "folderIds": "#never""##, "NOT_FOUND folderIds[0]"),
        (r#", "folderIds": "trash""#, "trashed"),
        (r#", "folderIds": ["trash", "unsorted"]"#, "VALIDATION folderIds[0]"),
        (r##", "documentIds": "#inner""##, "inner"),
        (r##", "documentIds": ["#inner", "#trashed"]"##, "inner"),
        (r#", "documentIds": []"#, ""),
        (
            r##", "documentIds": ["#inner", "#later", "#other"], "documentFilterMode": "exclude""##,
            "foldered, note, template, unsorted",
        ),
        (r##", "documentIds": ["#inner", "#never"]"##, "NOT_FOUND documentIds[1]"),
        (
            r##", "documentIds": ["#never"], "documentFilterMode": "exclude""##,
            "NOT_FOUND documentIds[0]",
        ),
        (r##", "documentIds": ["#inner"], "location": "trash""##, "VALIDATION documentIds"),
        (r##", "documentIds": ["#inner"], "folderIds": "#folder""##, "VALIDATION documentIds"),
        (r##", "location": "trash", "folderIds": "#folder""##, "VALIDATION folderIds"),
        (
            r#", "documentFilterMode": "exclude""#,
            "foldered, inner, later, note, other, template, unsorted",
        ),
        (r#", "createdDateLte": "2026-03-09""#, ""),
        (
            r#", "createdDateGte": "2026-03-10""#,
            "foldered, inner, later, note, other, template, unsorted",
        ),
        (r#", "lastModifiedDateGte": "2026-03-11""#, "later"),
        (r#", "lastModifiedDateGte": "today""#, "later"),
        (r#", "lastModifiedDateLte": "yesterday", "location": "unsorted""#, "unsorted"),
        (r#", "dailyNoteDateGte": "yesterday""#, "note"),
        (r#", "dailyNoteDateGte": "today""#, ""),
        (r#", "dailyNoteDateLte": "2026-03-10", "createdDateLte": "2026-03-10""#, "note"),
        (r#", "dailyNoteDateLte": "2026-02-30""#, "VALIDATION dailyNoteDateLte"),
        (r##", "folderIds": "#folder", "createdDateGte": "2026-03-11""##, ""),
    ];
    for asked in [r#""include": "x""#, r#""regexps": "^x$""#] {
        for (filter, expected) in rows {
            let body = filled(&shelf, &format!("{{{asked}{filter}}}"));
            assert_eq!(shelf.json(&body), expected, "{asked}{filter}");
        }
        shelf.notes.space().flush_search().unwrap();
    }
}

#[test]
fn the_inbox_is_no_document_of_a_search() {
    let shelf = shelf();
    let tasks = shelf.notes.tasks(leafbase::ListTasks::new(leafbase::TaskScope::Inbox)).unwrap();
    let inbox = shelf.notes.document_of(tasks[0].id).unwrap();
    assert_eq!(
        shelf.json(&format!(r#"{{"include": "x", "documentIds": "{inbox}"}}"#)),
        "NOT_FOUND documentIds[0]"
    );
}

#[test]
fn times_come_on_request() {
    let shelf = shelf();
    let later: DocumentId = shelf.id("later");
    let found = shelf.search(leafbase::SearchDocuments::words("y").with_metadata());
    let times = |millis: u64| leafbase::Timestamp::from_millis(i64::try_from(millis).unwrap());
    assert_eq!(found[0].times, Some((times(NOON), times(NOON + 4 * HOUR))));
    assert_eq!((found[0].document_id, shelf.search("y")[0].times), (later, None));
}

#[test]
fn titles_and_excluded_words() {
    let shelf = Shelf::of(&[
        ("Trains to Lisbon", "the night train"),
        ("Food", "Lisbon has trains, and a train_station"),
        ("Old trains", "no buses here"),
        ("東京天気", "trains"),
    ]);
    let long = "x".repeat(257);
    let words = SearchDocuments::words;
    let titled = |text: &str| SearchDocuments::default().titled(text);
    for _ in 0..2 {
        for (request, expected) in [
            (titled("lisbon"), "Trains to Lisbon"),
            (titled("trains"), "Old trains, Trains to Lisbon"),
            (titled("train"), "Old trains, Trains to Lisbon"),
            (titled("Old").titled("train"), "Old trains"),
            (titled("old lis"), ""),
            (titled("天気"), "東京天気"),
            (titled("!"), ""),
            (words("night").titled("trains"), "Old trains, Trains to Lisbon"),
            (words("trains").without("LISBON"), "Old trains, 東京天気"),
            (words("trains").without("lis"), "Food, Old trains, Trains to Lisbon, 東京天気"),
            (words("trains").without("bus"), "Food, Old trains, Trains to Lisbon, 東京天気"),
            (words("trains").without("buses").without("food"), "Trains to Lisbon, 東京天気"),
            (words("trains").without("night train"), "Food, Old trains, 東京天気"),
            (
                words("trains").without("train night"),
                "Food, Old trains, Trains to Lisbon, 東京天気",
            ),
            (words("trains").without("天気"), "Food, Old trains, Trains to Lisbon"),
            (SearchDocuments::pattern("train").without("lisbon"), "Old trains, 東京天気"),
            (SearchDocuments::pattern("no").titled("trains"), "Old trains"),
            (words("trains").without("!"), "Food, Old trains, Trains to Lisbon, 東京天気"),
            (words("trains").without(long.as_str()), "LIMIT_EXCEEDED exclude[0]"),
            (titled(&long), "LIMIT_EXCEEDED title[0]"),
        ] {
            assert_eq!(shelf.sorted(request.clone()), expected, "{request:?}");
        }
        shelf.notes.space().flush_search().unwrap();
    }
    let page = shelf.notes.search(words("trains").without("lisbon").limit(1)).unwrap();
    assert_eq!((page.len(), page.total), (1, 2));
    let guest = shelf.notes.space().scoped([shelf.id("Food"), shelf.id("Old trains")]);
    let found = guest.search(words("trains").without("buses")).unwrap();
    assert_eq!((found.len(), found[0].document_id), (1, shelf.id("Food")));
    assert_eq!(guest.search(titled("trains")).unwrap()[0].document_id, shelf.id("Old trains"));
}

#[test]
fn queries_as_people_type_them() {
    let shelf = Shelf::of(&[("Trip to Lisbon", "#travel by train"), ("Bus", "#travel to Lisbon")]);
    let folder = shelf.notes.create_folder("Old trips", None).unwrap().id;
    shelf.put_in("Porto", "a train to Lisbon", leafbase::Destination::Folder(folder));
    let found = |text: &str| {
        let lookup = |name: &str| (name == "Old trips").then(|| folder.into());
        shelf.sorted(SearchDocuments::from_query_text(text, lookup))
    };
    for (text, expected) in [
        ("lisbon", "Bus, Porto, Trip to Lisbon"),
        ("lisbon -train", "Bus"),
        ("title:lisbon", "Trip to Lisbon"),
        ("tag:travel", "Bus, Trip to Lisbon"),
        ("tag:travel -\"by train\"", "Bus"),
        ("in:\"Old trips\" lisbon", "Porto"),
        ("lisbon created:today", "Bus, Porto, Trip to Lisbon"),
        ("lisbon created:<=2020-01-01", ""),
        ("lisbon -", "Bus, Porto, Trip to Lisbon"),
    ] {
        assert_eq!(found(text), expected, "{text}");
    }
    let long = "прочитал о поездке ".repeat(20);
    assert_eq!(found(&format!("{long} title:bus lisbon")), "Bus");
    shelf.put("Party", "🎉 in Lisbon");
    for (text, expected) in [
        ("🎉 in:\"Old trips\"", ""),
        ("🎉 created:today", "Party"),
        ("lisbon -🎉", "Bus, Porto, Trip to Lisbon"),
    ] {
        assert_eq!(found(text), expected, "{text}");
    }
}
