//! Many documents are gone through for patterns part by part, on as many threads as the host
//! allows. What a part comes to, and what it costs, depends on its documents alone: so the outcome
//! is the same however many threads there are, and whichever was the sooner.

use std::borrow::Cow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{Builder, scope};

use leafbase_model::{DocumentId, Result};
use leafbase_store::Sieve;

use super::patterns::Matching;
use super::texts::Reading;
use crate::core::tree::{Tree, VisibleSnapshot};

#[cfg(test)]
mod tests;

/// So many documents are a part: enough that the machine which a pattern is made into anew for each
/// is a small share of it.
const PART: usize = 256;

/// In how many blocks of a document a pattern matches.
type Count = (DocumentId, usize);

/// Where the documents are read, for one call.
pub(super) struct Parts<'a> {
    pub(super) snapshot: &'a VisibleSnapshot,
    /// How many threads go through them, the calling one among them.
    pub(super) threads: usize,
}

/// A part that was gone through ahead of its turn.
struct Done {
    number: usize,
    counts: Result<Vec<Count>>,
    steps: u64,
}

impl Parts<'_> {
    /// In how many blocks of each of these documents a pattern matches; without those in which it
    /// matches nowhere. The documents are sorted.
    pub(super) fn count(
        &self,
        documents: &[DocumentId],
        matching: &mut Matching<'_>,
    ) -> Result<Vec<Count>> {
        let tree = self.snapshot.tree();
        let reading = Reading::new(&tree);
        let seen = if documents.len() > PART {
            seen_of(documents, &tree)?
        } else {
            Cow::Borrowed(documents)
        };
        if seen.len() <= PART {
            return matching_blocks(&reading, &seen, matching);
        }
        let parts: Vec<_> = seen.chunks(PART).collect();
        let (mut ahead, all) =
            (self.ahead(&parts, matching).into_iter().peekable(), matching.left());
        let mut counts = Vec::new();
        for (number, part) in parts.into_iter().enumerate() {
            // What was done ahead had all steps to use up. With those that are left by now it went
            // the same way, if they are enough.
            match ahead.next_if(|done| done.number == number) {
                Some(Done { counts: Ok(done), steps, .. }) if matching.spend(steps) => {
                    counts.extend(done)
                }
                Some(Done { counts: Err(error), .. }) if matching.left() == all => {
                    return Err(error);
                }
                _ => {
                    let mut own = matching.anew();
                    counts.extend(matching_blocks(&reading, part, &mut own)?);
                    matching.spend(matching.left() - own.left());
                }
            }
        }
        Ok(counts)
    }

    /// Goes through the parts on several threads, until one fails. What is not done then is left to
    /// be done in its turn, and so is all of it where there is to be one thread, or none can be
    /// started.
    fn ahead(&self, parts: &[&[DocumentId]], matching: &Matching<'_>) -> Vec<Done> {
        let others = self.threads.min(parts.len()).saturating_sub(1);
        if others == 0 {
            return Vec::new();
        }
        let (steps, next, stop, used) =
            (matching.left(), AtomicUsize::new(0), AtomicBool::new(false), AtomicU64::new(0));
        let patterns = matching.patterns();
        let work = || {
            let tree = self.snapshot.tree();
            let (reading, mut all) = (Reading::new(&tree), Vec::new());
            while !stop.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(part) = parts.get(number) else { break };
                let mut own = patterns.matching_with(steps);
                let counts = matching_blocks(&reading, part, &mut own);
                let done = Done { number, counts, steps: steps - own.left() };
                let before = used.fetch_add(done.steps, Ordering::Relaxed);
                if done.counts.is_err() || before.saturating_add(done.steps) > steps {
                    stop.store(true, Ordering::Relaxed);
                }
                all.push(done);
            }
            all
        };
        let mut done = scope(|scope| {
            let start = |_| {
                Builder::new().name("leafbase-patterns".to_owned()).spawn_scoped(scope, work).ok()
            };
            let others: Vec<_> = (0..others).map_while(start).collect();
            let mut done = if others.is_empty() { Vec::new() } else { work() };
            for other in others {
                done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            done
        });
        done.sort_unstable_by_key(|done| done.number);
        done
    }
}

/// Those of the documents that the call sees: parts must not tell how many others there are.
fn seen_of<'d>(documents: &'d [DocumentId], tree: &Tree<'_>) -> Result<Cow<'d, [DocumentId]>> {
    if tree.is_unrestricted() {
        return Ok(Cow::Borrowed(documents));
    }
    let seen =
        documents.iter().map(|document| Ok(tree.can_see_document(*document)?.then_some(*document)));
    seen.filter_map(Result::transpose).collect::<Result<_>>().map(Cow::Owned)
}

/// In how many blocks of each of these documents a pattern matches; without those in which it
/// matches nowhere. The documents are sorted.
pub(super) fn matching_blocks(
    reading: &Reading<'_, '_>,
    documents: &[DocumentId],
    matching: &mut Matching<'_>,
) -> Result<Vec<Count>> {
    let sieve = matching.sieve();
    let mut counting = matching.counting();
    let sieve = sieve.as_ref().map(|sieve| sieve as &dyn Sieve);
    reading.count(documents, sieve, &mut counting)?;
    counting.finish()
}
