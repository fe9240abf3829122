//! Room for what one thread has made and another one has not taken yet: who makes more than is
//! taken waits.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// To take a document over, and to write all that was taken, is soon done.
const PATIENCE: Duration = Duration::from_secs(60);

/// Room for so many bytes.
#[derive(Debug)]
pub(super) struct Room {
    most: usize,
    used: Mutex<usize>,
    left: Condvar,
}

/// Bytes that are in use until this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    room: Arc<Room>,
    bytes: usize,
}

impl Room {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, used: Mutex::default(), left: Condvar::new() })
    }

    fn used(&self) -> MutexGuard<'_, usize> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes bytes, whether there is room or not.
    pub(super) fn take(self: &Arc<Self>, bytes: usize) -> Place {
        *self.used() += bytes;
        Place { room: Arc::clone(self), bytes }
    }

    /// Waits until there is room, but not for ever: where the other thread has ended, who hands
    /// over more is told.
    pub(super) fn wait(&self) {
        let waited = self.left.wait_timeout_while(self.used(), PATIENCE, |used| *used > self.most);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut used = self.room.used();
        *used = used.saturating_sub(self.bytes);
        if *used <= self.room.most {
            self.room.left.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::Room;

    #[test]
    fn who_makes_more_than_is_taken_waits() {
        let (room, waiting) = (Room::new(10), Arc::new(AtomicUsize::new(0)));
        let (sender, receiver) = std::sync::mpsc::channel();
        let seen = Arc::clone(&waiting);
        let taking = std::thread::spawn(move || {
            let mut most = 0;
            for place in receiver {
                most = most.max(seen.fetch_sub(1, Ordering::SeqCst));
                drop(place);
            }
            most
        });
        for _ in 0..1_000 {
            room.wait();
            waiting.fetch_add(1, Ordering::SeqCst);
            sender.send(room.take(4)).unwrap();
        }
        drop(sender);
        // Two have room, the third one is taken before it is full.
        assert!(taking.join().unwrap() <= 4);
        assert_eq!(*room.used(), 0);
    }
}
