//! What each of those compared can be asked.

use crate::plan::{Number, Question};
use std::time::Duration;

pub trait Peer {
    /// The twenty best with snippets, as a program gets them, and how many they are.
    fn ask(&mut self, question: &Question) -> usize;
    /// The same by their numbers.
    fn top(&mut self, question: &Question) -> Vec<Number>;
    /// Every document that a search can find, in order.
    fn all(&mut self, question: &Question) -> Vec<Number>;
    /// The blocks of the first document that match, each read with five blocks before and after it.
    fn within(&mut self, pattern: &str) -> Vec<String>;
    /// Changes a block: what that took, without what leads there.
    fn edit(&mut self, document: Number, block: usize, text: &str) -> Duration;
    /// All is written, and an index that lags behind caught up.
    fn settle(&mut self);
    /// Bytes of the index, where it is part of a file that this peer owns.
    fn index_bytes(&self) -> Option<u64> {
        None
    }
}

/// A space that was filled.
pub struct Build<P> {
    pub whole: Duration,
    /// What of it the index took, where that can be told apart.
    pub indexing: Duration,
    pub peer: P,
}
