//! Calls of the space from the progress callback of another call: they work, or are refused with a
//! definite error. None waits for itself.

use std::ops::ControlFlow;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use leafbase::{Durability, ErrorKind, Result, SearchIndexing, Space};
use leafbase_vault::{ImportOptions, MemorySource, import_from};

/// A call and what it returns in the callback of a rebuild.
type Call = (&'static str, fn(&Space) -> Result<()>, Option<ErrorKind>);

const CALLS: &[Call] = &[
    ("compact", |space| space.compact(), Some(ErrorKind::Conflict)),
    ("flush_search", |space| space.flush_search(), Some(ErrorKind::Conflict)),
    ("rebuild_search", |space| space.rebuild_search(), Some(ErrorKind::Conflict)),
    ("check", |space| space.check().map(drop), None),
    ("stats", |space| space.stats().map(drop), None),
    ("flush", |space| space.flush(), None),
    ("search", |space| space.connect().search("title").map(drop), None),
    ("write", |space| space.connect().create_document("more").map(drop), None),
    (
        "backup_to",
        |space| {
            let place = tempfile::tempdir().unwrap();
            space.backup_to(place.path().join("copy"))
        },
        None,
    ),
    ("close", |space| space.clone().close(), None),
];

/// Fails instead of waiting for ever.
fn within_a_minute<T: Send + 'static>(
    what: String,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (done, waits) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    waits.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{what} hangs"))
}

fn space(path: &std::path::Path, indexing: SearchIndexing) -> Space {
    let builder = Space::builder().durability(Durability::Relaxed).search_indexing(indexing);
    let space = builder.create(path).unwrap();
    for number in 0..5 {
        space.connect().create_document(&format!("title {number}")).unwrap();
    }
    space
}

#[test]
fn calls_from_the_callback_of_a_rebuild_return() {
    for indexing in [SearchIndexing::OnDemand, SearchIndexing::Background] {
        for (name, call, expected) in CALLS {
            let found = within_a_minute(format!("{name}, {indexing:?}"), move || {
                let place = tempfile::tempdir().unwrap();
                let space = space(&place.path().join("notes"), indexing);
                space.connect().search("title").unwrap();
                let mut found = None;
                let rebuilt = space.rebuild_search_with(&mut |_| {
                    found.get_or_insert_with(|| call(&space).err().map(|error| error.kind()));
                    ControlFlow::Continue(())
                });
                rebuilt.unwrap();
                // The lock is free again.
                if *name != "close" {
                    space.flush_search().unwrap();
                    assert_eq!(space.connect().search("title").unwrap().len(), 5, "{name}");
                }
                found.unwrap()
            });
            assert_eq!(found, *expected, "{name}, {indexing:?}");
        }
    }
}

/// Without an index there is nothing to search while one is built.
#[test]
fn a_search_from_the_callback_of_the_first_build_is_refused() {
    let found = within_a_minute("a search".to_owned(), || {
        let place = tempfile::tempdir().unwrap();
        let space = space(&place.path().join("notes"), SearchIndexing::OnDemand);
        let mut found = None;
        let built = space.rebuild_search_with(&mut |_| {
            let searched = space.connect().search("title");
            found.get_or_insert_with(|| searched.unwrap_err().kind());
            ControlFlow::Continue(())
        });
        built.unwrap();
        assert_eq!(space.connect().search("title").unwrap().len(), 5);
        found.unwrap()
    });
    assert_eq!(found, ErrorKind::Conflict);
}

/// An import of many documents ends with the index caught up, whoever keeps it up to date.
#[test]
fn an_import_leaves_no_document_for_the_first_search() {
    for indexing in [SearchIndexing::OnDemand, SearchIndexing::Background] {
        let place = tempfile::tempdir().unwrap();
        let space = space(&place.path().join("notes"), indexing);
        assert_eq!(space.stats().unwrap().unindexed, None, "there is no index yet");
        let files = (0..150).map(|number| (format!("{number}.md"), format!("text {number}")));
        let (mut source, mut last) = (MemorySource::from_iter(files), None);
        let imported =
            import_from(&space.connect(), &mut source, &ImportOptions::new(), &mut |progress| {
                last = Some((progress.done, progress.total));
                ControlFlow::Continue(())
            });
        assert_eq!(imported.unwrap().documents, 150);
        assert_eq!(last, Some((151, Some(151))), "the index is the last step");
        assert_eq!(space.stats().unwrap().unindexed, Some(0), "{indexing:?}");
        space.connect().create_document("one more").unwrap();
        assert_eq!(space.stats().unwrap().unindexed, Some(1), "{indexing:?}");
    }
}
