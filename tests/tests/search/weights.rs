//! Weights: of the parts of a document, of its age, and of links to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use leafbase::{
    Clock, Connection, DeleteDocuments, DocumentId, Limits, Position, SearchDocuments,
    SearchWeights, Space, Timestamp, json,
};

use crate::{Shelf, wrong};

const DAY: i64 = 86_400_000;

/// A clock that a test sets.
#[derive(Clone, Debug, Default)]
struct SetClock(Arc<AtomicI64>);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}

impl SetClock {
    fn set_day(&self, day: i64) {
        self.0.store(day * DAY, Ordering::Relaxed);
    }
}

/// A shelf whose time is that of the clock.
fn timed() -> (Shelf, SetClock) {
    let clock = SetClock::default();
    clock.set_day(20_000);
    let space = Space::builder().clock(clock.clone()).in_memory().unwrap();
    (Shelf { notes: space.connect() }, clock)
}

fn weighted(text: &str, weights: SearchWeights) -> SearchDocuments {
    SearchDocuments::words(text).weighted(weights)
}

fn link(notes: &Connection, from: DocumentId, text: &str) {
    notes.insert_markdown(text, Position::end_of(from)).unwrap();
}

#[test]
fn parts_of_documents_count_by_their_weights() {
    let filler = "wind\n\n".repeat(6);
    let shelf = Shelf::of(&[
        ("lamp", "snow"),
        ("in blocks", "lamp lamp lamp lamp"),
        ("in a heading", &format!("# lamp\n\n{filler}")),
        (
            "in a page",
            &format!("<page><pageTitle>lamp</pageTitle><content>x</content></page>\n\n{filler}"),
        ),
        ("in a comment only", "kite"),
    ]);
    let weights = SearchWeights::default();
    for _ in 0..2 {
        let found = |weights| shelf.found(weighted("lamp", weights));
        // The defaults change nothing.
        assert_eq!(found(weights), shelf.found("lamp"));
        assert_eq!(
            shelf.search(weighted("lamp", weights)),
            shelf.search(SearchDocuments::words("lamp"))
        );
        assert!(found(weights.title(50.0)).starts_with("lamp, "));
        assert!(found(weights.body(50.0)).starts_with("in blocks, "));
        let headings = found(weights.headings(50.0));
        assert!(headings.starts_with("in a "), "{headings}");
        assert!(headings.split(", ").take(2).all(|title| title.starts_with("in a ")), "{headings}");
        // What counts nothing is found nevertheless.
        for weights in [weights.title(0.0), weights.title(0.0).body(0.0)] {
            let found = shelf.search(weighted("lamp", weights));
            assert_eq!(found.len(), 4);
            assert_eq!(found[3].score, 0.0);
        }
        shelf.notes.space().flush_search().unwrap();
    }
}

#[test]
fn recent_documents_gain_by_their_age() {
    let (shelf, clock) = timed();
    for (day, title) in [(20_000, "oldest"), (20_030, "old"), (20_060, "new")] {
        clock.set_day(day);
        shelf.put(title, "lamp");
    }
    let plain = shelf.search("lamp");
    let base = plain[0].score;
    assert!(plain.iter().all(|found| found.score == base), "{plain:?}");
    let request = weighted("lamp", SearchWeights::default().recency(2.0, 30.0));
    assert_eq!(shelf.found(request.clone()), "new, old, oldest");
    let shares = |request: &SearchDocuments| -> Vec<f64> {
        shelf.search(request.clone()).iter().map(|found| found.score / base).collect()
    };
    for (found, expected) in shares(&request).iter().zip([3.0, 2.0, 1.5]) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
    // A write makes a document recent, and the index has its time as well.
    clock.set_day(20_090);
    shelf.notes.insert_markdown("lamp", Position::end_of(shelf.id("oldest"))).unwrap();
    for _ in 0..2 {
        assert_eq!(shelf.found(request.clone()), "oldest, new, old");
        shelf.notes.space().flush_search().unwrap();
    }
    // A later page counts ages from the first one.
    let request = request.limit(1);
    let mut page = shelf.notes.search(request.clone()).unwrap();
    let mut found = page.items.clone();
    while let Some(cursor) = page.next_cursor {
        clock.set_day(20_500);
        page = shelf.notes.search(request.clone().after(cursor)).unwrap();
        found.extend(page.items);
    }
    clock.set_day(20_090);
    assert_eq!(found, shelf.search(request.limit(9)));
}

#[test]
fn documents_gain_by_the_documents_that_link_to_them() {
    let shelf = Shelf::of(&[("a", "lamp"), ("b", "lamp"), ("c", "lamp")]);
    let [a, b, c] = ["a", "b", "c"].map(|title| shelf.id(title));
    let notes = &shelf.notes;
    let base = shelf.search("lamp")[0].score;
    let request = weighted("lamp", SearchWeights::default().links(2.0));
    let share = |notes: &dyn Fn() -> Vec<leafbase::SearchMatch>, of: DocumentId| {
        notes().iter().find(|found| found.document_id == of).unwrap().score / base
    };
    let full = || notes.search(request.clone()).unwrap().items;
    assert_eq!([a, b, c].map(|of| share(&full, of)), [1.0; 3]);

    // By ID from two documents, several times; by name; from itself; from the trash; to a block.
    let sources = ["one", "two", "gone"].map(|title| shelf.put(title, "snow"));
    for source in [sources[0], sources[0], sources[1], sources[2], b] {
        link(notes, source, &format!("to [x](block://{b})"));
    }
    link(notes, sources[0], "and [[c]]");
    let block = notes.insert_markdown("wind", Position::end_of(a)).unwrap()[0].id;
    link(notes, sources[0], &format!("to [x](block://{block})"));
    notes.delete_documents(DeleteDocuments::new([sources[2]])).unwrap();
    let gain = |links: f64| 1.0 + 2.0 * links / (links + 4.0);
    let plain = shelf.search("lamp");
    let plain = |of| plain.iter().find(|found| found.document_id == of).unwrap().score / base;
    for _ in 0..2 {
        for (of, links) in [(a, 0.0), (b, 2.0), (c, 1.0)] {
            let expected = plain(of) * gain(links);
            assert!((share(&full, of) - expected).abs() < 1e-9, "{}", share(&full, of));
        }
        notes.space().flush_search().unwrap();
    }
    // A scoped connection counts the links that it sees.
    let guest = notes.space().scoped([a, b, c, sources[1]]);
    let alone = guest.search(SearchDocuments::words("lamp")).unwrap().items;
    let scoped = guest.search(request).unwrap().items;
    for (of, links) in [(b, 1.0), (c, 0.0)] {
        let score = |found: &[leafbase::SearchMatch]| {
            found.iter().find(|found| found.document_id == of).unwrap().score
        };
        assert!((score(&scoped) / score(&alone) - gain(links)).abs() < 1e-9);
    }
}

#[test]
fn weights_are_validated_and_belong_to_a_cursor() {
    let shelf = Shelf::of(&[("a", "lamp"), ("b", "lamp"), ("c", "lamp")]);
    let weights = SearchWeights::default();
    let most = f64::from(Limits::SEARCH_WEIGHT);
    for (refused, path) in [
        (weights.title(-0.1), "title"),
        (weights.headings(most * 1.1), "headings"),
        (weights.body(f64::NAN), "body"),
        (weights.recency(f64::INFINITY, 1.0), "recency"),
        (weights.recency(1.0, 0.0), "halfLifeDays"),
        (weights.recency(1.0, f64::NAN), "halfLifeDays"),
        (weights.recency(1.0, f64::from(Limits::HALF_LIFE_DAYS) * 1.1), "halfLifeDays"),
        (weights.links(-1.0), "links"),
    ] {
        let error = shelf.notes.search(weighted("lamp", refused)).unwrap_err();
        assert_eq!(wrong(&error), format!("VALIDATION weights.{path}"));
    }
    let largest = weights.title(most).headings(most).body(most).recency(most, 0.001).links(most);
    let found = shelf.search(weighted("lamp", largest));
    assert!(found.len() == 3 && found.iter().all(|found| found.score.is_finite()));

    assert_eq!(
        shelf.json(r#"{"include": "lamp", "weights": {"title": "2"}}"#),
        "VALIDATION weights.title"
    );
    assert_eq!(
        shelf.json(r#"{"include": "lamp", "weights": {"age": 2}}"#),
        "VALIDATION weights.age"
    );
    assert_eq!(shelf.json(r#"{"include": "lamp", "weights": 2}"#), "VALIDATION weights");
    assert_eq!(
        shelf.json(r#"{"include": "lamp", "weights": {"links": 101}}"#),
        "VALIDATION weights.links"
    );
    let request = weighted("lamp", weights.title(2.5).links(1.0));
    let query = "include=lamp&weights.title=2.5&weights.links=1";
    let limits = Limits::default();
    assert_eq!(json::from_query::<SearchDocuments>(query, &[], &limits).unwrap(), request);
    let error = json::from_query::<SearchDocuments>("include=x&weights.title=x", &[], &limits);
    assert_eq!(wrong(&error.unwrap_err()), "VALIDATION weights.title");
    let error = json::from_query::<SearchDocuments>("include=x&weights.age=1", &[], &limits);
    assert_eq!(wrong(&error.unwrap_err()), "VALIDATION weights.age");

    let page = shelf.notes.search(request.clone().limit(1)).unwrap();
    let cursor = page.next_cursor.unwrap();
    let next = |request: &SearchDocuments| shelf.found(request.clone().after(&cursor));
    assert_eq!(next(&request).split(", ").count(), 2);
    for other in [weights, weights.title(2.5), weights.title(2.5).links(1.5)] {
        assert_eq!(next(&weighted("lamp", other)), "VALIDATION cursor");
    }
}
