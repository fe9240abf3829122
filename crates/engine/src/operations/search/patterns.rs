//! The patterns of a request, matched on one text after another within a step budget.

use std::ops::Range;

use leafbase_model::{Error, ErrorKind, Limits, Result, invariant};
use leafbase_pattern::{Matcher, Pattern, Replacer, StepBudget};
#[cfg(feature = "search")]
use leafbase_pattern::{Prefilter, TrigramQuery};

/// Steps of one call: about half a second.
const MAX_STEPS: u64 = 100_000_000;

/// Steps of one text.
const MAX_STEPS_PER_TEXT: u64 = 20_000_000;

/// The patterns of a request. A text matches if one of them does.
pub(crate) struct PatternSet {
    patterns: Vec<Pattern>,
    /// The request's field, for errors.
    field: &'static str,
}

impl PatternSet {
    /// Compiles patterns.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidPattern`] at the pattern, and [`ErrorKind::LimitExceeded`] for too many
    /// or too large ones.
    pub(crate) fn new(field: &'static str, texts: &[String], case_sensitive: bool) -> Result<Self> {
        if texts.len() > Limits::PATTERNS {
            return Err(Error::limit("patterns", Limits::PATTERNS, texts.len()).at(field));
        }
        debug_assert!(!texts.is_empty(), "requests without patterns need no set");
        let compile = |(index, text): (usize, &String)| {
            Pattern::new(text, case_sensitive)
                .map_err(|error| error.at(path(field, index, texts.len())))
        };
        let patterns = texts.iter().enumerate().map(compile).collect::<Result<Vec<_>>>()?;
        Ok(Self { patterns, field })
    }

    /// A replacer of the matches of the only pattern.
    ///
    /// # Errors
    /// Those of [`Pattern::replacer`].
    pub(crate) fn replacer(&self, template: &str) -> Result<Replacer> {
        let [only] = self.patterns.as_slice() else {
            invariant!("a replacement has one pattern");
        };
        only.replacer(template)
    }

    /// A matcher with the budget of a call.
    pub(crate) fn matcher(&self) -> PatternSetMatcher<'_> {
        self.matcher_with_budget(MAX_STEPS)
    }

    pub(crate) fn matcher_with_budget(&self, steps: u64) -> PatternSetMatcher<'_> {
        PatternSetMatcher {
            set: self,
            matchers: self.patterns.iter().map(Pattern::matcher).collect(),
            budget: StepBudget::new(steps),
        }
    }

    /// The prefilter that every matching text passes.
    #[cfg(feature = "search")]
    fn prefilter(&self) -> Option<&Prefilter> {
        // With several patterns, each has its prefilter applied to each text.
        match self.patterns.as_slice() {
            [only] => only.prefilter(),
            _ => None,
        }
    }

    /// For each pattern, the trigrams of the documents in which it can match.
    #[cfg(feature = "search")]
    pub(crate) fn trigram_queries(&self) -> Vec<&TrigramQuery> {
        self.patterns.iter().map(Pattern::trigram_query).collect()
    }

    fn too_costly(&self, index: usize, is_call: bool) -> Error {
        let (scope, steps) =
            if is_call { ("all of it", MAX_STEPS) } else { ("one text", MAX_STEPS_PER_TEXT) };
        let message = format!(
            "the pattern costs too much: at most {steps} steps to search {scope}, this takes more"
        );
        let path = path(self.field, index, self.patterns.len());
        Error::new(ErrorKind::LimitExceeded, message).at(path)
    }
}

fn path(field: &str, index: usize, count: usize) -> String {
    debug_assert!(index < count, "the pattern is one of the request");
    if count == 1 { field.to_owned() } else { format!("{field}[{index}]") }
}

/// The index of the pattern that exhausted the budget.
struct TooCostly(usize);

/// Matches a [`PatternSet`] within the step budget of a call.
pub(crate) struct PatternSetMatcher<'p> {
    set: &'p PatternSet,
    matchers: Vec<Matcher<'p>>,
    budget: StepBudget,
}

impl<'p> PatternSetMatcher<'p> {
    /// Whether one of the patterns matches. Texts that the prefilters rule out cost no steps.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] at the pattern that exhausts the budget.
    pub(crate) fn is_match(&mut self, text: &str) -> Result<bool> {
        self.with_text_budget(|matchers, budget| {
            for (index, matcher) in matchers.iter_mut().enumerate() {
                if matcher.is_match(text, budget).map_err(|_| TooCostly(index))? {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// The first [`Limits::RANGES`] non-empty matches in order, overlapping ones merged.
    ///
    /// # Errors
    /// As [`Self::is_match`].
    pub(crate) fn ranges(&mut self, text: &str) -> Result<Vec<Range<usize>>> {
        let mut ranges = self.with_text_budget(|matchers, budget| {
            let mut ranges = Vec::new();
            for (index, matcher) in matchers.iter_mut().enumerate() {
                let found = matcher.find_non_empty(text, Limits::RANGES, budget);
                ranges.extend(found.map_err(|_| TooCostly(index))?);
            }
            Ok(ranges)
        })?;
        // Adjacent matches stay separate: they are highlighted separately.
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match merged.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        merged.truncate(Limits::RANGES);
        debug_assert!(
            merged.last().is_none_or(|last| last.end <= text.len()),
            "matches lie within the text"
        );
        Ok(merged)
    }

    /// All matches of the only pattern, in order and without overlaps.
    ///
    /// # Errors
    /// As [`Self::is_match`].
    pub(crate) fn matches(&mut self, text: &str) -> Result<Vec<Range<usize>>> {
        self.with_text_budget(|matchers, budget| {
            let only = matchers.first_mut();
            let found = only.map(|matcher| matcher.find_all(text, usize::MAX, budget));
            found.transpose().map(Option::unwrap_or_default).map_err(|_| TooCostly(0))
        })
    }

    /// What stands in place of matches in a text.
    ///
    /// # Errors
    /// As [`Self::is_match`].
    pub(crate) fn replacements(
        &mut self,
        replacer: &Replacer,
        text: &str,
        matches: &[Range<usize>],
    ) -> Result<Vec<String>> {
        self.with_text_budget(|_, budget| {
            replacer.replacements(text, matches, budget).map_err(|_| TooCostly(0))
        })
    }

    /// Takes the steps of work that grows with `bytes`.
    ///
    /// # Errors
    /// As [`Self::is_match`].
    pub(crate) fn consume(&mut self, bytes: usize) -> Result<()> {
        let steps = u64::try_from(bytes / 8).unwrap_or(u64::MAX);
        let consumed = self.budget.consume(steps);
        consumed.map_err(|_| self.set.too_costly(0, true))
    }

    fn with_text_budget<T>(
        &mut self,
        search: impl FnOnce(&mut [Matcher<'p>], &mut StepBudget) -> Result<T, TooCostly>,
    ) -> Result<T> {
        // Decides which of the two bounds the error names.
        let is_call = self.budget.remaining() < MAX_STEPS_PER_TEXT;
        let matchers = &mut self.matchers;
        let result = self.budget.lend(MAX_STEPS_PER_TEXT, |budget| search(matchers, budget));
        result.map_err(|TooCostly(index)| self.set.too_costly(index, is_call))
    }
}

/// What parallel chunks need.
#[cfg(feature = "search")]
impl<'p> PatternSetMatcher<'p> {
    pub(crate) const fn set(&self) -> &'p PatternSet {
        self.set
    }

    /// The prefilter that every matching text passes.
    pub(crate) fn prefilter(&self) -> Option<&'p Prefilter> {
        self.set.prefilter()
    }

    pub(crate) const fn remaining_steps(&self) -> u64 {
        self.budget.remaining()
    }

    /// Subtracts steps that another matcher took; if fewer remain, subtracts none and returns
    /// `false`.
    pub(crate) fn try_consume(&mut self, steps: u64) -> bool {
        // All or nothing, unlike `StepBudget::consume`: the caller repeats the search with the
        // rest.
        let remaining = self.remaining_steps().checked_sub(steps);
        self.budget = remaining.map_or(self.budget, StepBudget::new);
        remaining.is_some()
    }

    /// A matcher with the remaining steps, and without what this one has cached.
    pub(crate) fn fresh(&self) -> Self {
        self.set.matcher_with_budget(self.remaining_steps())
    }
}

#[cfg(all(test, feature = "search"))]
mod tests;
