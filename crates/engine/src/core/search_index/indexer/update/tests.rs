//! Who merges segments, and when.

use leafbase_model::Result;

use super::MAX_SEGMENTS;
use crate::core::search_index::indexer::SearchIndexing;
use crate::{Connection, Space};

fn segments(space: &Space) -> usize {
    let current = space.indexer().state().current.clone().unwrap();
    current.generation.index.segments().unwrap()
}

/// Creates many segments of one document each.
fn fill(notes: &Connection) -> Result<()> {
    for number in 0..12 {
        notes.create_document(&format!("tram {number}"))?;
        notes.space().flush_search()?;
    }
    Ok(())
}

fn found(notes: &Connection) -> Vec<String> {
    notes.search("tram").unwrap().iter().map(|found| found.document_id.to_string()).collect()
}

/// `flush_search` does not wait for merges that the thread does later.
#[test]
fn the_thread_merges_afterwards() {
    let home = tempfile::tempdir().unwrap();
    let space = Space::builder().create(home.path().join("space")).unwrap();
    let notes = space.connect();
    // No thread is started by so few documents, and no search.
    fill(&notes).unwrap();
    assert_eq!(segments(&space), 12);
    space.indexer().try_merge();
    assert_eq!(segments(&space), 1);
    assert_eq!(found(&notes).len(), 12);
}

#[test]
fn without_a_thread_flush_search_merges() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("space");
    let space = Space::builder().create(&path).unwrap();
    fill(&space.connect()).unwrap();
    let before = found(&space.connect());
    space.close().unwrap();
    let space = Space::builder().search_indexing(SearchIndexing::OnDemand).open(&path).unwrap();
    let notes = space.connect();
    assert_eq!(found(&notes), before);
    assert_eq!(segments(&space), 12, "a search does not wait for that");
    space.flush_search().unwrap();
    assert_eq!(segments(&space), 1);
    assert_eq!(found(&notes), before);
    fill(&notes).unwrap();
    assert!(segments(&space) < 8);
}

/// The number of segments is bounded, however many updates there are.
#[test]
fn an_update_merges_above_the_bound() {
    let home = tempfile::tempdir().unwrap();
    let notes = Space::create(home.path().join("space")).unwrap().connect();
    // Fewer than a thread is started for.
    let made: Vec<_> = (0..70)
        .map(|number| notes.create_document(&format!("tram {number}")).unwrap().id())
        .collect();
    notes.space().flush_search().unwrap();
    let mut most = 0;
    for document in made {
        notes.insert_markdown("lamp", document).unwrap();
        notes.space().flush_search().unwrap();
        most = most.max(segments(notes.space()));
    }
    // One of which a quarter is deleted is written anew first.
    assert!((MAX_SEGMENTS..=MAX_SEGMENTS + 1).contains(&most), "{most}");
    assert_eq!(found(&notes).len(), 20);
}

/// The thread merges without further writes, also the segments of a rebuilt index.
#[test]
fn the_thread_merges_when_idle() {
    let home = tempfile::tempdir().unwrap();
    let space = Space::create(home.path().join("space")).unwrap();
    fill(&space.connect()).unwrap();
    // Begins the thread.
    assert_eq!(found(&space.connect()).len(), 12);
    space.rebuild_search().unwrap();
    assert_eq!(found(&space.connect()).len(), 12);
    fill(&space.connect()).unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while segments(&space) >= 8 && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(segments(&space) < 8);
}
