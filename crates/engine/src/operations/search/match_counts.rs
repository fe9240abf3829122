//! Counts of the blocks that patterns match, over many documents: in parallel chunks, on as many
//! threads as the host allows.
//!
//! The result of a chunk, and its cost in steps, depend on its documents alone. So a call returns
//! the same with any number of threads, whichever is the fastest.

use std::borrow::Cow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{Builder, scope};

use leafbase_model::{DocumentId, Result, invariant};
use leafbase_pattern::Prefilter;
use leafbase_store::TextRun;

use super::patterns::PatternSetMatcher;
use super::texts::VisibleTexts;
use crate::core::tree::{Tree, VisibleSnapshot};

/// Documents of a chunk: enough that building the states of a lazy DFA again costs little.
const CHUNK_DOCUMENTS: usize = 256;

/// The number of blocks of a document that match.
type MatchCount = (DocumentId, usize);

/// Counts matches for one call.
pub(super) struct MatchCounter<'a> {
    pub(super) snapshot: &'a VisibleSnapshot,
    /// Threads to use, the calling one included.
    pub(super) threads: usize,
}

/// The result of a chunk that was counted before the cost of the previous chunks was known.
struct SpeculativeResult {
    chunk: usize,
    counts: Result<Vec<MatchCount>>,
    steps: u64,
}

impl MatchCounter<'_> {
    /// The documents with matching blocks, in order. `documents` is sorted.
    pub(super) fn count(
        &self,
        documents: &[DocumentId],
        matcher: &mut PatternSetMatcher<'_>,
    ) -> Result<Vec<MatchCount>> {
        debug_assert!(documents.is_sorted(), "runs are visited in key order");
        let tree = self.snapshot.tree();
        let texts = VisibleTexts::new(&tree);
        // Chunks of hidden documents would reveal their number by the cost.
        let visible = if documents.len() > CHUNK_DOCUMENTS {
            visible_documents(documents, &tree)?
        } else {
            Cow::Borrowed(documents)
        };
        if visible.len() <= CHUNK_DOCUMENTS {
            return texts.count_matches(&visible, matcher);
        }
        let chunks: Vec<_> = visible.chunks(CHUNK_DOCUMENTS).collect();
        let mut speculative = self.speculate(&chunks, matcher).into_iter().peekable();
        // While none were consumed, an error is that of a search without threads.
        let initial_steps = matcher.remaining_steps();
        let mut counts = Vec::new();
        for (index, chunk) in chunks.into_iter().enumerate() {
            // A speculative search had the whole budget. With what remains now it would have taken
            // the same steps, if that is enough; otherwise it has to fail at the same text as a
            // search without threads, and so is repeated.
            match speculative.next_if(|result| result.chunk == index) {
                Some(SpeculativeResult { counts: Ok(more), steps, .. })
                    if matcher.try_consume(steps) =>
                {
                    counts.extend(more);
                }
                Some(SpeculativeResult { counts: Err(error), .. })
                    if matcher.remaining_steps() == initial_steps =>
                {
                    return Err(error);
                }
                _ => {
                    // Without cached states, as on another thread: whether a DFA gives up, and so
                    // the cost, must not depend on the chunks before.
                    let mut fresh = matcher.fresh();
                    counts.extend(texts.count_matches(chunk, &mut fresh)?);
                    let steps = matcher.remaining_steps() - fresh.remaining_steps();
                    invariant!(
                        matcher.try_consume(steps),
                        "a chunk costs at most the remaining steps"
                    );
                }
            }
        }
        Ok(counts)
    }

    /// Counts chunks on several threads, until one fails or the budget is exhausted. Chunks that
    /// are left over, or all if no thread can be started, have no result.
    fn speculate(
        &self,
        chunks: &[&[DocumentId]],
        matcher: &PatternSetMatcher<'_>,
    ) -> Vec<SpeculativeResult> {
        let helpers = self.threads.min(chunks.len()).saturating_sub(1);
        if helpers == 0 {
            return Vec::new();
        }
        let budget = matcher.remaining_steps();
        let set = matcher.set();
        let (next, stop, used) = (AtomicUsize::new(0), AtomicBool::new(false), AtomicU64::new(0));
        let work = || {
            let tree = self.snapshot.tree();
            let texts = VisibleTexts::new(&tree);
            let mut results = Vec::new();
            // Relaxed: the flag and the sum only save work. The results do not depend on them.
            while !stop.load(Ordering::Relaxed) {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(chunk) = chunks.get(index) else { break };
                let mut matcher = set.matcher_with_budget(budget);
                let counts = texts.count_matches(chunk, &mut matcher);
                let steps = budget - matcher.remaining_steps();
                // Beyond the budget, results would not be used.
                let used_before = used.fetch_add(steps, Ordering::Relaxed);
                if counts.is_err() || used_before.saturating_add(steps) > budget {
                    stop.store(true, Ordering::Relaxed);
                }
                results.push(SpeculativeResult { chunk: index, counts, steps });
            }
            results
        };
        let mut results = scope(|scope| {
            let start = |_| {
                Builder::new().name("leafbase-patterns".to_owned()).spawn_scoped(scope, work).ok()
            };
            // The host may refuse threads: then the caller counts without speculation.
            let helpers: Vec<_> = (0..helpers).map_while(start).collect();
            let mut results = if helpers.is_empty() { Vec::new() } else { work() };
            for helper in helpers {
                results.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            results
        });
        results.sort_unstable_by_key(|result| result.chunk);
        debug_assert!(
            results.windows(2).all(|pair| matches!(pair, [one, other] if one.chunk < other.chunk)),
            "each chunk is counted by one thread"
        );
        results
    }
}

/// The documents that the call can see.
fn visible_documents<'d>(
    documents: &'d [DocumentId],
    tree: &Tree<'_>,
) -> Result<Cow<'d, [DocumentId]>> {
    if tree.is_unrestricted() {
        return Ok(Cow::Borrowed(documents));
    }
    let visible =
        documents.iter().map(|document| Ok(tree.can_see_document(*document)?.then_some(*document)));
    visible.filter_map(Result::transpose).collect::<Result<_>>().map(Cow::Owned)
}

impl VisibleTexts<'_, '_> {
    /// The documents with matching blocks, in order. `documents` is sorted.
    pub(super) fn count_matches(
        &self,
        documents: &[DocumentId],
        matcher: &mut PatternSetMatcher<'_>,
    ) -> Result<Vec<MatchCount>> {
        let mut counts = Vec::new();
        if self.tree.is_unrestricted() {
            let prefilter = matcher.prefilter().filter(|prefilter| is_in_stored_text(prefilter));
            self.tree.full_reader()?.visit_text_runs(documents, &mut |run| {
                self.count_in_run(run, prefilter, matcher, &mut counts)
            })?;
            return Ok(counts);
        }
        // One by one: hidden documents between them are not read, as they may be damaged.
        // Placeholders are not in stored bytes, so the prefilter sees the redacted text only.
        for document in documents {
            if !self.tree.can_see_document(*document)? {
                continue;
            }
            if self.tree.stored_in(*document)? == *document {
                self.tree.reader_of(*document)?.visit_text_runs(&[*document], &mut |run| {
                    self.count_in_run(run, None, matcher, &mut counts)
                })?;
            } else if let Some(count) = self.count_in_page(*document, matcher)? {
                counts.push((*document, count));
            }
        }
        Ok(counts)
    }

    /// The matching blocks of a page that the scope shows as a document; none if there is no match.
    fn count_in_page(
        &self,
        page: DocumentId,
        matcher: &mut PatternSetMatcher<'_>,
    ) -> Result<Option<usize>> {
        let mut count = 0;
        for block in self.tree.reader_of(page)?.subtree_texts(page.root())?.iter() {
            count += usize::from(matcher.is_match(&self.markdown(block.text)?)?);
        }
        Ok(Some(count).filter(|count| *count > 0))
    }

    fn count_in_run(
        &self,
        run: TextRun<'_>,
        prefilter: Option<&Prefilter>,
        matcher: &mut PatternSetMatcher<'_>,
        counts: &mut Vec<MatchCount>,
    ) -> Result<()> {
        let mut candidates = prefilter.map(|prefilter| prefilter.candidates(run.bytes()));
        for text in run.texts() {
            let text = text?;
            // The rendered markdown of other blocks is not among the bytes of the run.
            let is_ruled_out = text.is_markdown_only()
                && candidates.as_mut().is_some_and(|found| !found.advance_to(&text.range()));
            if is_ruled_out || !text.read(|text| matcher.is_match(&self.markdown(text)?))? {
                continue;
            }
            debug_assert!(
                counts.last().is_none_or(|(last, _)| *last <= run.document()),
                "documents are visited one after the other"
            );
            match counts.last_mut() {
                Some((last, count)) if *last == run.document() => *count += 1,
                _ => counts.push((run.document(), 1)),
            }
        }
        Ok(())
    }
}

/// Whether the literals that a text contains as it is shown are in the stored text, too. Shown
/// texts may have a backslash before a character, or `&#10;` in place of one.
fn is_in_stored_text(prefilter: &Prefilter) -> bool {
    prefilter.literals().all(|literal| {
        let is_reference = |byte: &u8| matches!(byte, b'#' | b'0'..=b'9');
        let is_escape = |byte: &u8| matches!(byte, b'\\' | b'&' | b';');
        !literal.iter().all(is_reference) && !literal.iter().any(is_escape)
    })
}

#[cfg(test)]
mod tests;
