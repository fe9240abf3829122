//! IDs and time of one world. What is given to hidden writes shifts nothing that scoped ones are
//! given.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use leafbase::{BlockId, Clock, IdSource, Timestamp};

use super::dice::Dice;

/// 2026-01-01T00:00:00Z.
const BEGINNING: i64 = 1_767_225_600_000;

/// Who writes: each writer has IDs of its own.
#[derive(Clone, Copy, Debug)]
pub enum Writer {
    /// The host, the same in both worlds.
    Host(u64),
    /// A scoped call, by its number.
    Caller(u64),
    /// Somebody whom the connection knows nothing of: the world's number, and that of the write.
    Hidden(u64, u64),
}

#[derive(Clone, Debug, Default)]
pub struct Present(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    series: AtomicU64,
    given: AtomicU64,
    millis: AtomicI64,
    is_hidden: Mutex<bool>,
    hidden: Mutex<BTreeSet<String>>,
}

impl Present {
    /// Another that goes on from here.
    pub fn fork(&self) -> Self {
        let Shared { series, given, millis, is_hidden, hidden } = &*self.0;
        Self(Arc::new(Shared {
            series: series.load(Ordering::Relaxed).into(),
            given: given.load(Ordering::Relaxed).into(),
            millis: millis.load(Ordering::Relaxed).into(),
            is_hidden: Mutex::new(*is_hidden.lock().unwrap()),
            hidden: Mutex::new(hidden.lock().unwrap().clone()),
        }))
    }

    /// What follows is written by `writer`, so many milliseconds after the beginning.
    pub fn begin(&self, writer: Writer, millis: i64) {
        let (series, is_hidden) = match writer {
            Writer::Host(number) => (number << 2, false),
            Writer::Caller(number) => (number << 2 | 1, false),
            Writer::Hidden(world, number) => ((number << 1 | world) << 2 | 2, true),
        };
        self.0.series.store(series, Ordering::Relaxed);
        self.0.given.store(0, Ordering::Relaxed);
        self.0.millis.store(BEGINNING + millis, Ordering::Relaxed);
        *self.0.is_hidden.lock().unwrap() = is_hidden;
    }

    /// Every ID that was given to a hidden writer: of blocks, comments, files and folders.
    pub fn hidden(&self) -> BTreeSet<String> {
        self.0.hidden.lock().unwrap().clone()
    }
}

impl IdSource for Present {
    fn new_id(&self, _: Timestamp) -> [u8; 16] {
        let (series, given) =
            (self.0.series.load(Ordering::Relaxed), self.0.given.fetch_add(1, Ordering::Relaxed));
        // Spread, as random IDs are; the lower half makes them unique. The first letter of the text
        // has three bits.
        let spread = Dice::new(series, given).next();
        let id = ((u128::from(spread) << 64) | (u128::from(series) << 20) | u128::from(given))
            .to_be_bytes();
        if *self.0.is_hidden.lock().unwrap() {
            self.0.hidden.lock().unwrap().insert(BlockId::from_bytes(id).to_string());
        }
        id
    }
}

impl Clock for Present {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.millis.load(Ordering::Relaxed))
    }
}
