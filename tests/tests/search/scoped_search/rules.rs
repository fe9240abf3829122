//! What is found, what is refused, and that what is hidden makes no difference.

use leafbase::{
    Connection, DeleteDocuments, DocumentId, MoveDocuments, Scope, Scoped, SearchBlocks,
    SearchDocuments, SearchIndexing, Space,
};

use crate::Shelf;
use crate::wrong;

/// A shelf whose scope has the documents with these titles.
fn scope(shelf: &Shelf, titles: &[&str]) -> Scope {
    let ids: Vec<_> = titles.iter().map(|title| shelf.id(title)).collect();
    shelf.notes.space().scope(ids)
}

fn found(shelf: &Shelf, guest: &Connection<Scoped>, request: impl Into<SearchDocuments>) -> String {
    let title = |id: DocumentId| shelf.notes.document(id).unwrap().title;
    match guest.search(request) {
        Ok(found) => {
            found.iter().map(|found| title(found.document_id)).collect::<Vec<_>>().join(", ")
        }
        Err(error) => wrong(&error),
    }
}

fn shelf() -> Shelf {
    let shelf = Shelf::new();
    for (title, text) in [
        ("one", "harvest and lantern\n\nthe train"),
        ("two", "lantern lantern\n\ncrystal"),
        ("three", "harvests"),
        ("hidden", "harvest lantern crystalline secret"),
        ("also hidden", "the train of the harvest, crystals"),
        ("trashed", "harvest lantern crystal"),
    ] {
        shelf.put(title, text);
    }
    shelf.notes.delete_documents(DeleteDocuments::new([shelf.id("trashed")])).unwrap();
    shelf
}

const SEEN: [&str; 4] = ["one", "two", "three", "trashed"];

#[test]
fn what_is_hidden_is_not_found() {
    let shelf = shelf();
    let guest = scope(&shelf, &SEEN).connect();
    let rows = [
        ("harvest", "three, one"),
        ("lantern", "two, one"),
        ("lantern harvest", "one"),
        ("\"the train\"", "one"),
        ("\"train of\"", ""),
        ("cryst", "two"),
        ("crystallin", ""),
        ("secret", ""),
        ("hidden", ""),
        ("t", "three, two, one"),
    ];
    let patterns = [
        ("lantern", "one, two"),
        ("secret", ""),
        ("hidden|two", "two"),
        ("", "one, two, three"),
        ("^$", ""),
    ];
    for when in ["changed", "indexed"] {
        for (asked, expected) in rows {
            let mut titles: Vec<_> = expected.split(", ").collect();
            assert_eq!(
                sorted(&found(&shelf, &guest, SearchDocuments::words(asked).all_words())),
                sorted_titles(&mut titles),
                "{when}: {asked}"
            );
        }
        for (asked, expected) in patterns {
            let mut titles: Vec<_> = expected.split(", ").collect();
            let found = found(&shelf, &guest, SearchDocuments::pattern(asked));
            assert_eq!(sorted(&found), sorted_titles(&mut titles), "{when}: pattern {asked}");
        }
        shelf.notes.space().flush_search().unwrap();
    }
}

fn sorted(found: &str) -> String {
    sorted_titles(&mut found.split(", ").collect())
}

fn sorted_titles(titles: &mut Vec<&str>) -> String {
    titles.sort_unstable();
    titles.join(", ")
}

#[test]
fn filters_that_would_tell_of_the_rest_are_refused() {
    let shelf = shelf();
    let guest = scope(&shelf, &SEEN).connect();
    let never = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let folder = shelf.notes.create_folder("folder", None).unwrap().id;
    let id = |title: &str| shelf.id(title).to_string();
    let rows = [
        (r#""location": "unsorted""#.to_owned(), "VALIDATION location"),
        (r#""location": "trash""#.to_owned(), "VALIDATION location"),
        (format!(r#""folderIds": "{folder}""#), "VALIDATION folderIds"),
        (format!(r#""folderIds": "{never}""#), "VALIDATION folderIds"),
        (r#""folderIds": []"#.to_owned(), "VALIDATION folderIds"),
        (r#""dailyNoteDateGte": "today""#.to_owned(), "VALIDATION dailyNoteDateGte"),
        (r#""dailyNoteDateLte": "2026-03-10""#.to_owned(), "VALIDATION dailyNoteDateLte"),
        (r#""createdDateGte": "2020-01-01""#.to_owned(), "VALIDATION createdDateGte"),
        (r#""createdDateLte": "today""#.to_owned(), "VALIDATION createdDateLte"),
        (r#""lastModifiedDateGte": "today""#.to_owned(), "VALIDATION lastModifiedDateGte"),
        (r#""lastModifiedDateLte": "today""#.to_owned(), "VALIDATION lastModifiedDateLte"),
        (r#""documentFilterMode": "exclude""#.to_owned(), "one, two"),
        (format!(r#""documentIds": "{}""#, id("two")), "two"),
        (format!(r#""documentIds": "{}", "documentFilterMode": "exclude""#, id("two")), "one"),
        (r#""documentIds": []"#.to_owned(), ""),
        (
            format!(r#""documentIds": ["{}", "{}"]"#, id("two"), id("hidden")),
            "NOT_FOUND documentIds[1]",
        ),
        (format!(r#""documentIds": ["{}", "{never}"]"#, id("two")), "NOT_FOUND documentIds[1]"),
        (format!(r#""documentIds": "{}""#, id("trashed")), "NOT_FOUND documentIds[0]"),
        (
            format!(r#""documentIds": "{}", "documentFilterMode": "exclude""#, id("hidden")),
            "NOT_FOUND documentIds[0]",
        ),
        (
            format!(r#""documentIds": "{never}", "documentFilterMode": "exclude""#),
            "NOT_FOUND documentIds[0]",
        ),
    ];
    for asked in [r#""include": "lantern""#, r#""regexps": "lantern""#] {
        for (filter, expected) in &rows {
            let body = format!("{{{asked}, {filter}}}");
            let request = shelf.notes.space().read_json::<SearchDocuments>(&body).unwrap();
            assert_eq!(sorted(&found(&shelf, &guest, request)), *expected, "{body}");
        }
        shelf.notes.space().flush_search().unwrap();
    }
}

/// Scores are by what is seen alone, and filters change nothing in that.
#[test]
fn scores_are_those_of_a_space_without_the_rest() {
    let alone =
        Shelf::of(&[("one", "harvest lantern"), ("two", "lantern of brass"), ("three", "harvest")]);
    let shelf = Shelf::of(&[
        ("three", "harvest"),
        ("hidden", "lantern lanterns harvest"),
        ("one", "harvest lantern"),
    ]);
    for number in 0..30 {
        shelf.put(&format!("hidden{number}"), "harvest");
    }
    shelf.notes.space().flush_search().unwrap();
    shelf.put("two", "lantern of brass");
    let guest = scope(&shelf, &["one", "two", "three"]).connect();
    let scores = |found: Vec<leafbase::SearchMatch>| {
        let mut scores: Vec<_> =
            found.iter().map(|found| (found.markdown.clone(), found.score.to_bits())).collect();
        scores.sort_unstable();
        scores
    };
    for _ in 0..2 {
        for asked in ["harvest", "lantern", "lan", "harvest lantern", "\"of brass\"", "h"] {
            let expected = scores(alone.search(asked));
            assert_eq!(scores(guest.search(asked).unwrap().items), expected, "{asked}");
            let request = SearchDocuments::words(asked).within_documents([shelf.id("one")]);
            let found = guest.search(request).unwrap();
            assert!(
                found.iter().all(
                    |found| expected.contains(&(found.markdown.clone(), found.score.to_bits()))
                )
            );
        }
        shelf.notes.space().flush_search().unwrap();
    }
}

/// The control: a search of the whole space whose hidden matches are left out afterwards is another
/// one. Hidden documents move its scores, and push visible ones out of it.
#[test]
fn leaks_are_noticed() {
    let shelf =
        Shelf::of(&[("one", "a long text that has harvest somewhere"), ("two", "no word of it")]);
    let scope = scope(&shelf, &["one", "two"]);
    let guarded = || {
        let found = scope.connect().search("harvest").unwrap();
        found.iter().map(|found| found.score.to_bits()).collect::<Vec<_>>()
    };
    let filtered_afterwards = || {
        let found = shelf.notes.search("harvest").unwrap();
        let visible = found.iter().filter(|found| scope.documents().contains(&found.document_id));
        visible.map(|found| found.score.to_bits()).collect::<Vec<_>>()
    };
    let before = guarded();
    assert_eq!(filtered_afterwards(), before);
    for (hidden, is_pushed_out) in [(3, false), (25, true)] {
        for number in 0..hidden {
            shelf.put(&format!("harvest {number}"), "harvest");
        }
        for when in ["changed", "indexed"] {
            assert_eq!(guarded(), before, "{when}");
            let found = filtered_afterwards();
            assert!(found != before && found.is_empty() == is_pushed_out, "{when}");
            shelf.notes.space().flush_search().unwrap();
        }
    }
}

#[test]
fn a_scope_that_changes_is_searched_as_it_is() {
    let shelf = shelf();
    let scope = scope(&shelf, &["one"]);
    let guest = scope.connect();
    for when in ["changed", "indexed"] {
        let asked = || sorted(&found(&shelf, &guest, "lantern"));
        assert_eq!(asked(), "one", "{when}");
        scope.add([shelf.id("two"), shelf.id("trashed")]);
        assert_eq!(asked(), "one, two", "{when}");
        let trashed = shelf.id("trashed");
        shelf
            .notes
            .move_documents(MoveDocuments::new([trashed], leafbase::Destination::Unsorted))
            .unwrap();
        assert_eq!(asked(), "one, trashed, two", "{when}");
        shelf.notes.delete_documents(DeleteDocuments::new([trashed])).unwrap();
        assert_eq!(asked(), "one, two", "{when}");
        scope.remove([shelf.id("two"), trashed]);
        assert_eq!(asked(), "one", "{when}");
        shelf.notes.space().flush_search().unwrap();
    }
}

/// What a pattern costs is counted over what is seen alone.
#[test]
fn what_is_hidden_costs_no_steps() {
    // The `c` is a literal that the pattern requires: without it the prefilter rules the text out
    // at no cost, and a guest that paid for hidden texts would not show.
    let hidden = format!("c{}", "a".repeat(200_000));
    let shelf = Shelf::of(&[("one", "ab"), ("hidden", &hidden)]);
    let guest = scope(&shelf, &["one"]).connect();
    let request = || SearchDocuments::pattern("(?=a)(a?){40}[ab]{60}c|b");
    for _ in 0..2 {
        assert_eq!(shelf.found(request()), "LIMIT_EXCEEDED regexps");
        assert_eq!(found(&shelf, &guest, request()), "one");
        shelf.notes.space().flush_search().unwrap();
    }
}

/// More is changed than is kept ready, all of it hidden; and then what is seen.
#[test]
fn how_much_is_changed_makes_no_difference() {
    let space = Space::builder().search_indexing(SearchIndexing::OnDemand).in_memory().unwrap();
    let shelf = Shelf { notes: space.connect() };
    shelf.put("one", "lantern");
    let scope = scope(&shelf, &["one"]);
    let guest = scope.connect();
    assert_eq!(found(&shelf, &guest, "lantern"), "one");
    let titles = (0..1_200).map(|number| format!("lantern{number}"));
    let made = shelf.notes.create_documents(leafbase::CreateDocuments::titled(titles)).unwrap();
    assert_eq!(found(&shelf, &guest, "lantern"), "one");
    scope.add(made.iter().map(leafbase::Document::id));
    assert_eq!(found(&shelf, &guest, "lantern1199"), "lantern1199");
    assert_eq!(found(&shelf, &guest, SearchDocuments::pattern("^lantern119$")), "lantern119");
}

#[test]
fn an_index_that_is_gone_is_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    let builder = || Space::builder().search_indexing(SearchIndexing::OnDemand);
    let path = directory.path().join("space");
    let shelf = Shelf { notes: builder().create(&path).unwrap().connect() };
    shelf.put("one", "lantern");
    shelf.put("hidden", "lantern");
    let one = shelf.id("one");
    shelf.notes.space().flush_search().unwrap();
    for damage in ["none", "gone", "cut"] {
        shelf.notes.space().clone().close().unwrap();
        match damage {
            "gone" => std::fs::remove_dir_all(path.join("index")).unwrap(),
            "cut" => {
                let generation =
                    std::fs::read_dir(path.join("index")).unwrap().next().unwrap().unwrap();
                std::fs::write(generation.path().join("meta.json"), "{").unwrap();
            }
            _ => {}
        }
        let shelf = Shelf { notes: builder().open(&path).unwrap().connect() };
        let guest = shelf.notes.space().scoped([one]);
        assert_eq!(found(&shelf, &guest, "lantern"), "one", "{damage}");
        shelf.notes.space().clone().close().unwrap();
    }
}

#[test]
fn one_document_is_searched_where_it_is_seen() {
    let shelf = shelf();
    let guest = scope(&shelf, &SEEN).connect();
    let never: DocumentId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    let asked =
        |id: DocumentId, pattern: &str| match guest.search_blocks(SearchBlocks::new(id, pattern)) {
            Ok(found) => found.items.len().to_string(),
            Err(error) => wrong(&error),
        };
    assert_eq!(asked(shelf.id("one"), "harvest"), "1");
    for id in [shelf.id("hidden"), shelf.id("trashed"), never] {
        assert_eq!(
            [asked(id, "harvest"), asked(id, "(a")],
            ["NOT_FOUND blockId", "NOT_FOUND blockId"]
        );
        let json = format!(r#"{{"documentId":"{id}","pattern":"harvest"}}"#);
        let error = guest.search_blocks(serde_json::from_str(&json).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "documentId: no document has this ID");
    }
}
