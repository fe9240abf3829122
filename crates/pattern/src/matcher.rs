//! Searches with a pattern: by the lazy DFA where it can decide, by the Pike VM otherwise.

use std::ops::Range;

use crate::budget::{BudgetExhausted, StepBudget};
use crate::lazy_dfa::{BuiltDfa, DfaCache, DfaError, LazyDfa};
use crate::pattern::Pattern;
use crate::pike_vm::{PikeCache, PikeVm};

/// A pattern with the scratch memory of its searches.
#[derive(Clone, Debug)]
pub struct Matcher<'p> {
    pattern: &'p Pattern,
    ascii: DfaState<'p>,
    unicode: DfaState<'p>,
    pike_cache: PikeCache,
}

#[derive(Clone, Debug)]
enum DfaState<'p> {
    /// No text has needed it yet.
    Unbuilt(&'p LazyDfa),
    Built(&'p BuiltDfa, Box<DfaCache>),
    /// There is none, or it gave up.
    Unavailable,
}

impl<'p> DfaState<'p> {
    fn get(&mut self) -> Option<(&'p BuiltDfa, &mut DfaCache)> {
        if let Self::Unbuilt(lazy) = self {
            *self = lazy
                .get()
                .map_or(Self::Unavailable, |built| Self::Built(built, Box::new(built.new_cache())));
        }
        match self {
            Self::Built(dfa, cache) => Some((dfa, cache)),
            _ => None,
        }
    }
}

impl Pattern {
    /// A matcher for use by one thread.
    pub fn matcher(&self) -> Matcher<'_> {
        let [ascii, unicode] = match &self.dfas {
            Some(dfas) => dfas.each_ref().map(DfaState::Unbuilt),
            None => [DfaState::Unavailable, DfaState::Unavailable],
        };
        Matcher { pattern: self, ascii, unicode, pike_cache: PikeCache::default() }
    }
}

impl<'p> Matcher<'p> {
    /// Searches by the Pike VM alone.
    #[cfg(test)]
    pub(crate) fn without_dfas(mut self) -> Self {
        (self.ascii, self.unicode) = (DfaState::Unavailable, DfaState::Unavailable);
        self
    }

    /// Whether `text` contains a match. A text that the prefilter rules out costs no steps.
    ///
    /// # Errors
    /// [`BudgetExhausted`] if the search needs more steps than remain.
    pub fn is_match(
        &mut self,
        text: &str,
        budget: &mut StepBudget,
    ) -> Result<bool, BudgetExhausted> {
        if !self.pattern.may_match(text) {
            return Ok(false);
        }
        let by_dfa = self.by_dfa(text, |dfa, cache| dfa.is_match(cache, text, budget))?;
        if let Some(is_match) = by_dfa {
            return Ok(is_match);
        }
        let mut vm = PikeVm::new(&self.pattern.program, text, &mut self.pike_cache, budget)?;
        Ok(vm.find(0, budget)?.is_some())
    }

    /// The first `max_matches` non-overlapping matches in `text`, as byte ranges. An empty match
    /// directly after another match is skipped.
    ///
    /// # Errors
    /// As [`Self::is_match`].
    pub fn find_all(
        &mut self,
        text: &str,
        max_matches: usize,
        budget: &mut StepBudget,
    ) -> Result<Vec<Range<usize>>, BudgetExhausted> {
        self.find(text, max_matches, true, budget)
    }

    /// Like [`Self::find_all`], without empty matches.
    ///
    /// # Errors
    /// As [`Self::is_match`].
    pub fn find_non_empty(
        &mut self,
        text: &str,
        max_matches: usize,
        budget: &mut StepBudget,
    ) -> Result<Vec<Range<usize>>, BudgetExhausted> {
        self.find(text, max_matches, false, budget)
    }

    fn find(
        &mut self,
        text: &str,
        max_matches: usize,
        with_empty: bool,
        budget: &mut StepBudget,
    ) -> Result<Vec<Range<usize>>, BudgetExhausted> {
        if !self.pattern.may_match(text) {
            return Ok(Vec::new());
        }
        let by_dfa = self.by_dfa(text, |dfa, cache| {
            collect_matches(text, max_matches, with_empty, |from| {
                dfa.find(cache, text, from, budget)
            })
        })?;
        if let Some(matches) = by_dfa {
            return Ok(matches);
        }
        let mut vm = PikeVm::new(&self.pattern.program, text, &mut self.pike_cache, budget)?;
        collect_matches(text, max_matches, with_empty, |from| vm.find(from, budget))
    }

    /// The result of a DFA; `None` if the Pike VM has to search this text.
    fn by_dfa<T>(
        &mut self,
        text: &str,
        search: impl FnOnce(&'p BuiltDfa, &mut DfaCache) -> Result<T, DfaError>,
    ) -> Result<Option<T>, BudgetExhausted> {
        let state = if text.is_ascii() { &mut self.ascii } else { &mut self.unicode };
        let Some((dfa, cache)) = state.get() else { return Ok(None) };
        match search(dfa, cache) {
            Ok(result) => Ok(Some(result)),
            Err(DfaError::Exhausted) => Err(BudgetExhausted),
            Err(DfaError::Quit) => Ok(None),
            Err(DfaError::GaveUp) => {
                // Its cache would thrash on further texts, too.
                *state = DfaState::Unavailable;
                Ok(None)
            }
        }
    }
}

/// Collects successive matches: the search continues at the end of each, and one character further
/// after an empty one.
pub(crate) fn collect_matches<E>(
    text: &str,
    max_matches: usize,
    with_empty: bool,
    mut find: impl FnMut(usize) -> Result<Option<Range<usize>>, E>,
) -> Result<Vec<Range<usize>>, E> {
    let mut matches: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    while matches.len() < max_matches && from <= text.len() {
        let Some(range) = find(from)? else { break };
        debug_assert!(range.start >= from, "matches do not overlap");
        let follows_match =
            range.is_empty() && matches.last().is_some_and(|last| last.end == range.start);
        from = range.end;
        if range.is_empty() {
            // At the end of the text this passes its length, which ends the loop.
            let rest = text.get(range.end..);
            let next = rest.and_then(|rest| rest.chars().next());
            from += next.map_or(1, char::len_utf8);
        }
        if !range.is_empty() || (with_empty && !follows_match) {
            matches.push(range);
        }
    }
    Ok(matches)
}
