//! Deterministic IDs and times.

use std::sync::atomic::{AtomicU64, Ordering};

use leafbase_model::{Author, ChangeToken, Clock, IdSource, Stamp, Timestamp};

/// IDs that count up within a series. Two sources of one series return the same IDs.
#[derive(Debug)]
pub struct SequentialIds {
    series: u64,
    given: AtomicU64,
    tokens: AtomicU64,
}

impl SequentialIds {
    /// IDs of a series; outlines use series 0.
    pub const fn new(series: u64) -> Self {
        Self { series, given: AtomicU64::new(0), tokens: AtomicU64::new(0) }
    }
}

impl IdSource for SequentialIds {
    fn new_id(&self, _: Timestamp) -> [u8; 16] {
        let number = self.given.fetch_add(1, Ordering::Relaxed) + 1;
        (u128::from(self.series) << 64 | u128::from(number)).to_be_bytes()
    }

    /// Counted on their own: a naive space makes no changes, and still the same IDs.
    fn new_token(&self, _: Timestamp) -> ChangeToken {
        let number = self.tokens.fetch_add(1, Ordering::Relaxed) + 1;
        ChangeToken::from_u64(self.series << 32 | number)
    }
}

/// A clock that only moves when it is set.
#[derive(Debug, Default)]
pub struct FixedClock(AtomicU64);

impl FixedClock {
    /// A clock at this many milliseconds since 1970.
    pub const fn at(millis: u64) -> Self {
        Self(AtomicU64::new(millis))
    }

    /// Advances it.
    pub fn advance(&self, millis: u64) {
        self.0.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(i64::try_from(self.0.load(Ordering::Relaxed)).unwrap_or(i64::MAX))
    }
}

/// A stamp this many seconds after 2026-01-01T00:00:00Z, without author.
pub fn stamp(seconds: u32) -> Stamp {
    Stamp {
        at: Timestamp::from_millis(1_767_225_600_000 + i64::from(seconds) * 1_000),
        by: Author::ANONYMOUS,
    }
}
