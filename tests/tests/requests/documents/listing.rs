//! Listings of documents: every filter, every order, page by page.

use leafbase::{BuiltInLocation, DayRef, DocumentFilter, DocumentOrder, ListDocuments};
use leafbase_model::Limits;
use serde_json::{Value, json};

use crate::documents::Library;
use crate::host::wrong;

const HOUR: u64 = 60 * 60 * 1_000;

/// In Tokyo, nine hours ahead. On the 10th: `a` in no folder, `t` a template, at 21:00. On the
/// 11th: `b` in F, `c` in G in F, at the first instant; `d`, the note of the day, and `e` in H, at
/// the last. On the 12th, which is today, from its first instant: `z`, put into the trash at once,
/// the notes `n` of tomorrow and `o` of the 1st, and `a` is renamed.
fn library() -> Library {
    let mut library = Library::empty("Asia/Tokyo", Limits::default());
    library.folder("F", None);
    library.folder("G", Some("F"));
    library.folder("H", None);
    library.document("a", r#"{"destination":"unsorted"}"#);
    library.document("t", r#"{"destination":"templates"}"#);
    library.clock.advance(3 * HOUR);
    library.document("b", r#"{"folderId":"@F"}"#);
    library.document("c", r#"{"folderId":"@G"}"#);
    library.clock.advance(24 * HOUR - 1);
    library.note("d", "today");
    library.document("e", r#"{"folderId":"@H"}"#);
    library.clock.advance(1);
    library.document("z", r#"{"destination":"unsorted"}"#);
    library.done("delete", r#"{"documentIds":"@z"}"#);
    library.note("n", "tomorrow");
    library.note("o", "2026-03-01");
    library.done("update", r#"{"blocks":[{"id":"@a","title":"renamed"}]}"#);
    library
}

fn names(library: &Library, body: &str) -> String {
    let line = library.line("list", body);
    if line.contains('_') && !line.contains(':') {
        return line;
    }
    line.split(' ').map(|item| item.split(':').next().unwrap()).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_filter_leaves_out_what_does_not_meet_it() {
    let library = library();
    for (body, expected) in [
        ("{}", "a t b c d e z n o"),
        (r#"{"location":"unsorted"}"#, "a"),
        (r#"{"location":"templates"}"#, "t"),
        (r#"{"location":"trash"}"#, "z"),
        (r#"{"location":"daily_notes"}"#, "d n o"),
        (r#"{"folderId":"@F"}"#, "b c"),
        (r#"{"folderId":"@G"}"#, "c"),
        (r#"{"folderId":["@H","@F"]}"#, "b c e"),
        (r#"{"folderId":["@G","@F"]}"#, "b c"),
        (r#"{"folderId":[]}"#, ""),
        (r#"{"createdDateGte":"2026-03-11"}"#, "b c d e z n o"),
        (r#"{"createdDateLte":"2026-03-11"}"#, "a t b c d e"),
        (r#"{"createdDateGte":"yesterday","createdDateLte":"yesterday"}"#, "b c d e"),
        (r#"{"createdDateGte":"today"}"#, "z n o"),
        (r#"{"createdDateGte":"tomorrow"}"#, ""),
        (r#"{"createdDateLte":"2026-03-09"}"#, ""),
        (r#"{"createdDateGte":"2026-03-12","createdDateLte":"2026-03-10"}"#, ""),
        (r#"{"createdDateLte":"9999-12-31","createdDateGte":"0001-01-01"}"#, "a t b c d e z n o"),
        (r#"{"lastModifiedDateGte":"today"}"#, "a z n o"),
        (r#"{"lastModifiedDateLte":"yesterday"}"#, "t b c d e"),
        (r#"{"lastModifiedDateGte":"2026-03-10","lastModifiedDateLte":"2026-03-10"}"#, "t"),
        (r#"{"dailyNoteDateGte":"yesterday"}"#, "d n"),
        (r#"{"dailyNoteDateLte":"2026-03-11"}"#, "o d"),
        (r#"{"dailyNoteDateGte":"tomorrow","dailyNoteDateLte":"tomorrow"}"#, "n"),
        (r#"{"dailyNoteDateGte":"today","dailyNoteDateLte":"today"}"#, ""),
        (r#"{"location":"daily_notes","createdDateGte":"today"}"#, "n o"),
        (r#"{"location":"unsorted","dailyNoteDateGte":"0001-01-01"}"#, ""),
        (
            r#"{"folderId":"@F","lastModifiedDateLte":"yesterday","createdDateGte":"yesterday"}"#,
            "b c",
        ),
        (r#"{"createdDateLte":"2026-03-10","lastModifiedDateGte":"today"}"#, "a"),
    ] {
        assert_eq!(names(&library, body), expected, "{body}");
    }
}

#[test]
fn every_order_is_turned_round() {
    let library = library();
    for (body, expected) in [
        (r#""orderBy":"id""#, "a t b c d e z n o"),
        (r#""orderBy":"createdAt""#, "a t b c d e z n o"),
        (r#""orderBy":"lastModifiedAt""#, "t b c d e a z n o"),
        (r#""orderBy":"dailyNoteDate""#, "o d n"),
        (r#""location":"daily_notes","orderBy":"dailyNoteDate""#, "o d n"),
        (r#""folderId":"@F","orderBy":"lastModifiedAt""#, "b c"),
        (r#""lastModifiedDateGte":"today","orderBy":"createdAt""#, "a z n o"),
        // Without an order it is that of the days, of those of one kind.
        (r#""lastModifiedDateLte":"today""#, "t b c d e a z n o"),
        (r#""lastModifiedDateLte":"today","orderBy":"id""#, "a t b c d e z n o"),
        (r#""lastModifiedDateLte":"today","createdDateLte":"today""#, "a t b c d e z n o"),
        (r#""createdDateLte":"today""#, "a t b c d e z n o"),
        (r#""dailyNoteDateGte":"0001-01-01""#, "o d n"),
        (r#""dailyNoteDateGte":"0001-01-01","orderBy":"id""#, "d n o"),
        (r#""dailyNoteDateGte":"0001-01-01","createdDateLte":"today""#, "d n o"),
        (r#""location":"daily_notes","dailyNoteDateGte":"0001-01-01""#, "o d n"),
        (r#""location":"daily_notes""#, "d n o"),
    ] {
        assert_eq!(names(&library, &format!("{{{body}}}")), expected, "{body}");
        let turned: Vec<&str> = expected.split(' ').rev().collect();
        assert_eq!(
            names(&library, &format!(r#"{{{body},"descending":true}}"#)),
            turned.join(" "),
            "{body}"
        );
        assert_eq!(
            names(&library, &format!(r#"{{{body},"descending":false}}"#)),
            expected,
            "{body}"
        );
    }
}

/// All pages of a listing, one after the other.
fn paged(library: &Library, request: &Value, limit: usize) -> Vec<Value> {
    let (mut found, mut cursor) = (Vec::new(), None::<Value>);
    loop {
        let mut body = request.clone();
        body["limit"] = json!(limit);
        if let Some(cursor) = cursor {
            body["cursor"] = cursor;
        }
        let reply = library.done("list", &body.to_string());
        let items = reply["items"].as_array().unwrap();
        cursor = reply.get("nextCursor").cloned();
        assert!(items.len() == limit || cursor.is_none(), "{body}");
        found.extend(items.iter().cloned());
        if cursor.is_none() {
            return found;
        }
    }
}

#[test]
fn pages_make_the_whole_listing() {
    let library = library();
    for filter in [
        json!({}),
        json!({"location": "daily_notes"}),
        json!({"folderId": "@F"}),
        json!({"folderId": ["@F", "@H"]}),
        json!({"createdDateGte": "yesterday"}),
        json!({"lastModifiedDateGte": "today", "createdDateLte": "today"}),
        json!({"dailyNoteDateGte": "yesterday"}),
    ] {
        for order in DocumentOrder::ALL.iter().map(Some).chain([None]) {
            for descending in [false, true] {
                let mut request = filter.clone();
                if let Some(order) = order {
                    request["orderBy"] = json!(order);
                }
                request["descending"] = json!(descending);
                let all = library.done("list", &request.to_string());
                assert_eq!(all.get("nextCursor"), None, "{request}");
                for limit in [1, 2, 3, 100] {
                    let pages = paged(&library, &request, limit);
                    assert_eq!(all["items"], json!(pages), "{request} by {limit}");
                }
            }
        }
    }
}

#[test]
fn a_cursor_is_good_for_its_own_listing_while_documents_come_and_go() {
    let library = library();
    let first = library.done("list", r#"{"limit":3}"#);
    let cursor = first["nextCursor"].as_str().unwrap();
    library.done("delete", r#"{"documentIds":["@b","@c"]}"#);
    library.done("purge", r#"{"documentIds":["@b","@c"]}"#);
    assert_eq!(names(&library, &format!(r#"{{"limit":2,"cursor":"{cursor}"}}"#)), "d e");
    let strange = "VALIDATION cursor";
    for body in [
        format!(r#"{{"cursor":"{cursor}","descending":true}}"#),
        format!(r#"{{"cursor":"{cursor}","orderBy":"createdAt"}}"#),
        format!(r#"{{"cursor":"{cursor}","location":"trash"}}"#),
        format!(r#"{{"cursor":"{cursor}","createdDateGte":"today"}}"#),
        format!(r#"{{"cursor":"{cursor}0"}}"#),
        format!(r#"{{"cursor":"{}"}}"#, &cursor[2..]),
        r#"{"cursor":""}"#.to_owned(),
        r#"{"cursor":"+1"}"#.to_owned(),
        r#"{"cursor":"é"}"#.to_owned(),
        r#"{"cursor":"zz"}"#.to_owned(),
    ] {
        assert_eq!(library.line("list", &body), strange, "{body}");
    }
}

#[test]
fn requests_that_are_refused() {
    let library = library();
    library.table(&[
        ("list", r#"{"location":"trash","folderId":"@F"}"#, "VALIDATION folderId"),
        ("list", r#"{"location":"trash","folderId":"?"}"#, "VALIDATION folderId"),
        ("list", r#"{"folderId":"?"}"#, "NOT_FOUND folderId"),
        ("list", r#"{"folderId":["@F","?"]}"#, "NOT_FOUND folderId[1]"),
        ("list", r#"{"folderId":["trash","unsorted"]}"#, "VALIDATION folderId[0]"),
        ("list", r#"{"folderId":["@F","unsorted"]}"#, "VALIDATION folderId[1]"),
        ("list", r#"{"location":"trash","folderId":"trash"}"#, "VALIDATION folderId"),
        ("list", r#"{"location":"attic"}"#, "VALIDATION location"),
        ("list", r#"{"createdDateGte":"soon"}"#, "VALIDATION createdDateGte"),
        ("list", r#"{"dailyNoteDateLte":"2026-02-30"}"#, "VALIDATION dailyNoteDateLte"),
        ("list", r#"{"orderBy":"title"}"#, "VALIDATION orderBy"),
        ("list", r#"{"limit":0}"#, "VALIDATION limit"),
        ("list", r#"{"documentIds":[]}"#, "VALIDATION documentIds"),
    ]);
    // What JSON cannot say is refused all the same.
    let folder =
        library.read::<ListDocuments>(r#"{"folderId":"@F"}"#).unwrap().filter.folders.unwrap();
    let location = Some(BuiltInLocation::Trash);
    let mut both = ListDocuments::new();
    both.filter = DocumentFilter { location, folders: Some(folder), ..DocumentFilter::default() };
    assert_eq!(wrong(&library.notes.list_documents(both).unwrap_err()), "VALIDATION folderId");
    assert_eq!(
        wrong(&library.notes.list_documents(ListDocuments::new().limit(0)).unwrap_err()),
        "VALIDATION limit"
    );
}

#[test]
fn what_is_listed_says_where_it_is() {
    let library = library();
    let reply = library.done("list", r#"{"location":"trash","fetchMetadata":true}"#);
    let at = "2026-03-11T15:00:00.000Z";
    let link = library.notes.space().block_url(library.id("z"));
    let trashed = json!({"id": library.id("z"), "clickableLink": link, "title": "z", "isDeleted": true, "location": {"destination": "trash"},
        "createdAt": at, "lastModifiedAt": at, "rev": 2});
    assert_eq!(reply, json!({"items": [trashed]}));
    // The IDs of the listing of folders are those of the built-in locations.
    for location in BuiltInLocation::ALL {
        let [here, there] = ["location", "folderId"].map(|name| {
            library.done("list", &format!(r#"{{"{name}":"{location}","fetchMetadata":true}}"#))
        });
        assert_eq!(here, there, "{location}");
    }
    let reply = library.done("list", r#"{"dailyNoteDateGte":"tomorrow"}"#);
    let note = json!({"id": library.id("n"), "title": "Friday, 13 March 2026", "isDeleted": false,
        "location": {"destination": "daily_notes"}, "dailyNoteDate": "2026-03-13", "rev": 1});
    assert_eq!(reply, json!({"items": [note]}));
    let request =
        ListDocuments::new().daily_notes(leafbase::DayRange::since(DayRef::Tomorrow)).limit(1);
    assert_eq!(library.notes.list_documents(request).unwrap()[0].id(), library.id("n"));
}
