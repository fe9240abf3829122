//! Schedules of readers that fill the cache while writers commit:
//! `RUSTFLAGS="--cfg shuttle" cargo test -p leafbase-store --lib schedules`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use leafbase_model::{BlockId, DocumentId};
use shuttle::thread;

use super::{CommitEpoch, LocationCache};
use crate::records::location::LocationRecord;

const SCHEDULES: usize = 2_000;
const ROUNDS: u8 = 3;

/// One block that moves among documents, in a committed state without a cache.
#[derive(Default)]
struct CommittedBlock {
    cache: LocationCache,
    /// No point of a schedule: a snapshot and a commit of the store are atomic.
    document: AtomicU8,
}

fn block() -> BlockId {
    BlockId::from_bytes([1; 16])
}

fn location(document: u8) -> LocationRecord {
    LocationRecord {
        document: DocumentId::from_bytes([document; 16]),
        parent: block(),
        order: Arc::from([1]),
    }
}

impl CommittedBlock {
    fn move_block(&self) {
        let _commit = self.cache.begin_commit();
        self.document.fetch_add(1, Ordering::SeqCst);
        thread::yield_now();
    }

    fn read_location(&self, epoch: Option<CommitEpoch>, document: u8) {
        let Some(epoch) = epoch else { return };
        match self.cache.location(epoch, block()) {
            Some(cached) => assert_eq!(cached, location(document), "a stale location"),
            None => self.cache.add_location(epoch, block(), location(document)),
        }
    }

    /// As snapshots of the space do it.
    fn read(&self) {
        let before = self.cache.epoch();
        let document = self.document.load(Ordering::SeqCst);
        let epoch = before.filter(|_| before == self.cache.epoch());
        self.read_location(epoch, document);
    }

    /// A snapshot whose epoch is read once, after its state.
    fn read_with_one_epoch(&self) {
        let document = self.document.load(Ordering::SeqCst);
        let epoch = self.cache.epoch();
        self.read_location(epoch, document);
    }
}

fn explore(read: fn(&CommittedBlock)) {
    let run = move || {
        let space = Arc::new(CommittedBlock::default());
        let jobs: [fn(&CommittedBlock); 4] =
            [CommittedBlock::move_block, CommittedBlock::move_block, read, read];
        let threads = jobs.map(|job| {
            let space = Arc::clone(&space);
            thread::spawn(move || (0..ROUNDS).for_each(|_| job(&space)))
        });
        for thread in threads {
            thread.join().expect("a thread panicked");
        }
    };
    shuttle::check_random(run, SCHEDULES);
    shuttle::check_pct(run, SCHEDULES, 3);
}

#[test]
fn a_cached_location_is_that_of_the_snapshot() {
    explore(CommittedBlock::read);
}

/// The control.
#[test]
#[should_panic(expected = "a stale location")]
fn a_snapshot_between_two_commits_is_noticed() {
    explore(CommittedBlock::read_with_one_epoch);
}
