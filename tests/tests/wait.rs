//! Waiting for changes.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use leafbase::{ErrorKind, Space};

/// Longer than any test waits.
const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_millis(20);

#[test]
fn a_write_of_any_connection_ends_the_wait() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    for round in 0..200 {
        let seen = notes.last_position().unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| notes.wait_for(seen, LONG).unwrap());
            let made = space.connect().create_document("Trip").unwrap();
            let last = waiting.join().unwrap();
            assert_eq!(last.sequence(), seen.sequence() + 1, "{round}");
            let told: Vec<_> = notes.changes_since(seen).map(Result::unwrap).collect();
            assert_eq!(told[0].documents, [made.id()]);
        });
    }
}

#[test]
fn what_was_written_before_ends_it_at_once_and_nothing_ends_it_in_time() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let start = notes.last_position().unwrap();
    notes.create_document("Trip").unwrap();
    let last = notes.last_position().unwrap();
    assert_eq!(notes.wait_for(start, LONG).unwrap(), last);
    assert_eq!(notes.wait_for(last, SHORT).unwrap(), last);
    assert_eq!(notes.wait_for(last, Duration::ZERO).unwrap(), last);
    // What is refused is not a write.
    let waiting = thread::spawn({
        let notes = notes.clone();
        move || notes.wait_for(last, SHORT)
    });
    assert!(notes.update_markdown(leafbase::BlockId::NIL, "x").is_err());
    assert_eq!(waiting.join().unwrap().unwrap(), last);
}

#[test]
fn a_space_that_closes_ends_it() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let last = notes.last_position().unwrap();
    let waiting = thread::spawn(move || notes.wait_for(last, LONG));
    space.close().unwrap();
    assert_eq!(waiting.join().unwrap().unwrap_err().kind(), ErrorKind::Closed);
}

/// Writes to the rest of the space neither end the wait of a scope nor show in what it returns.
#[test]
fn a_scope_waits_for_its_own_changes() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let [seen, hidden] = ["seen", "hidden"].map(|title| notes.create_document(title).unwrap().id());
    let guest = space.scoped([seen]);
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        scope.spawn(|| sender.send(guest.wait_for(0, LONG).unwrap()).unwrap());
        for _ in 0..50 {
            notes.insert_markdown("x", hidden).unwrap();
        }
        assert!(receiver.recv_timeout(SHORT).is_err());
        notes.insert_markdown("y", seen).unwrap();
        assert_eq!(receiver.recv_timeout(LONG).unwrap(), 1);
    });
    assert_eq!(guest.wait_for(1, SHORT).unwrap(), 1);
}
