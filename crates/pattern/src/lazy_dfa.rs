//! Lazy DFAs of patterns without look-around. They scan a byte by one table look-up, and give up
//! when their cache of states thrashes; then the Pike VM takes over. Whether a DFA gives up depends
//! on the pattern and the texts alone, so that costs stay reproducible.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson::{self, Compiler, WhichCaptures};
use regex_automata::{Anchored, Input, MatchError, MatchErrorKind, MatchKind};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look};

use crate::budget::{BudgetExhausted, StepBudget};

/// Bytes of the cached states of one direction.
const CACHE_BYTES: usize = 2 << 20;
/// The largest NFA that is determinized. Larger patterns use the Pike VM.
const MAX_NFA_BYTES: usize = 1 << 20;

/// A DFA that is built when the first text needs it.
#[derive(Clone, Debug)]
pub(crate) struct LazyDfa {
    hir: Hir,
    /// `None` if its NFA would be too large.
    built: OnceLock<Option<BuiltDfa>>,
}

impl LazyDfa {
    pub(crate) const fn new(hir: Hir) -> Self {
        Self { hir, built: OnceLock::new() }
    }

    /// For ASCII texts: a much smaller automaton, which can decide word boundaries.
    pub(crate) fn of_ascii(hir: &Hir) -> Self {
        Self::new(ascii_hir(hir))
    }

    pub(crate) fn get(&self) -> Option<&BuiltDfa> {
        self.built.get_or_init(|| BuiltDfa::new(&self.hir)).as_ref()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct BuiltDfa {
    forward: DFA,
    /// Finds the start of a match from its end.
    reverse: DFA,
}

/// States that searches have determinized.
#[derive(Clone, Debug)]
pub(crate) struct DfaCache {
    forward: Cache,
    reverse: Cache,
}

/// Why a DFA has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DfaError {
    /// It cannot decide on this text: fall back to the Pike VM for the text.
    Quit,
    /// It evicts states too often: fall back to the Pike VM for the pattern.
    GaveUp,
    /// The step budget is exhausted.
    Exhausted,
}

impl From<MatchError> for DfaError {
    fn from(error: MatchError) -> Self {
        // Unicode word boundaries are decided for ASCII only; other bytes make it quit.
        if matches!(error.kind(), MatchErrorKind::Quit { .. }) { Self::Quit } else { Self::GaveUp }
    }
}

impl From<BudgetExhausted> for DfaError {
    fn from(_: BudgetExhausted) -> Self {
        Self::Exhausted
    }
}

fn config(kind: MatchKind) -> Config {
    Config::new()
        .match_kind(kind)
        .unicode_word_boundary(true)
        .cache_capacity(CACHE_BYTES)
        .minimum_cache_clear_count(Some(2))
        .minimum_bytes_per_state(Some(10))
}

impl BuiltDfa {
    fn new(hir: &Hir) -> Option<Self> {
        let build = |kind, reverse| {
            let nfa = thompson::Config::new()
                .nfa_size_limit(Some(MAX_NFA_BYTES))
                .which_captures(WhichCaptures::None)
                .reverse(reverse);
            let nfa = Compiler::new().configure(nfa).build_from_hir(hir).ok()?;
            DFA::builder().configure(config(kind)).build_from_nfa(nfa).ok()
        };
        Some(Self {
            forward: build(MatchKind::LeftmostFirst, false)?,
            reverse: build(MatchKind::All, true)?,
        })
    }

    pub(crate) fn new_cache(&self) -> DfaCache {
        DfaCache { forward: self.forward.create_cache(), reverse: self.reverse.create_cache() }
    }

    pub(crate) fn is_match(
        &self,
        cache: &mut DfaCache,
        text: &str,
        budget: &mut StepBudget,
    ) -> Result<bool, DfaError> {
        budget.consume_scan(text.len())?;
        let input = Input::new(text).earliest(true);
        Ok(self.forward.try_search_fwd(&mut cache.forward, &input)?.is_some())
    }

    /// The first match at or after `from`.
    pub(crate) fn find(
        &self,
        cache: &mut DfaCache,
        text: &str,
        from: usize,
        budget: &mut StepBudget,
    ) -> Result<Option<Range<usize>>, DfaError> {
        let end = self.find_end(cache, text.as_bytes(), from, budget)?;
        let Some(end) = end else { return Ok(None) };
        let start = self.find_start(cache, text.as_bytes(), from, end, budget)?;
        // The automaton may report an empty match inside of a character.
        if text.is_char_boundary(start) && text.is_char_boundary(end) {
            Ok(Some(start..end))
        } else {
            Err(DfaError::GaveUp)
        }
    }

    /// The end of the first match. It steps byte by byte, because a search of the library does not
    /// report how far it scanned past the match, which has to be counted.
    fn find_end(
        &self,
        cache: &mut DfaCache,
        text: &[u8],
        from: usize,
        budget: &mut StepBudget,
    ) -> Result<Option<usize>, DfaError> {
        let (dfa, cache) = (&self.forward, &mut cache.forward);
        let input = Input::new(text).range(from..);
        let mut state = dfa.start_state_forward(cache, &input).map_err(|_| DfaError::GaveUp)?;
        let mut end = None;
        for (offset, byte) in text.iter().enumerate().skip(from) {
            state = dfa.next_state(cache, state, *byte).map_err(|_| DfaError::GaveUp)?;
            if state.is_tagged() {
                if state.is_match() {
                    // Match states are delayed by one byte.
                    end = Some(offset);
                } else if state.is_dead() {
                    budget.consume_scan(offset - from)?;
                    return Ok(end);
                } else if state.is_quit() {
                    return Err(DfaError::Quit);
                }
            }
        }
        budget.consume_scan(text.len().saturating_sub(from))?;
        let state = dfa.next_eoi_state(cache, state).map_err(|_| DfaError::GaveUp)?;
        Ok(if state.is_match() { Some(text.len()) } else { end })
    }

    /// The start of the match that ends at `end`.
    fn find_start(
        &self,
        cache: &mut DfaCache,
        text: &[u8],
        from: usize,
        end: usize,
        budget: &mut StepBudget,
    ) -> Result<usize, DfaError> {
        let (dfa, cache) = (&self.reverse, &mut cache.reverse);
        let input = Input::new(text).range(from..end).anchored(Anchored::Yes);
        let mut state = dfa.start_state_reverse(cache, &input).map_err(|_| DfaError::GaveUp)?;
        debug_assert!(from <= end && end <= text.len(), "a match ends within the searched text");
        let mut start = None;
        let scanned = text.get(from..end).ok_or(DfaError::GaveUp)?;
        for (offset, byte) in scanned.iter().enumerate().rev() {
            state = dfa.next_state(cache, state, *byte).map_err(|_| DfaError::GaveUp)?;
            if state.is_tagged() {
                if state.is_match() {
                    start = Some(from + offset + 1);
                } else if state.is_dead() {
                    budget.consume_scan(scanned.len() - offset)?;
                    return start.ok_or(DfaError::GaveUp);
                } else if state.is_quit() {
                    return Err(DfaError::Quit);
                }
            }
        }
        budget.consume_scan(scanned.len())?;
        // A word boundary at `from` depends on the byte before it.
        let state = match from.checked_sub(1).and_then(|before| text.get(before)) {
            Some(byte) => dfa.next_state(cache, state, *byte),
            None => dfa.next_eoi_state(cache, state),
        };
        let state = state.map_err(|_| DfaError::GaveUp)?;
        if state.is_quit() {
            return Err(DfaError::Quit);
        }
        if state.is_match() { Ok(from) } else { start.ok_or(DfaError::GaveUp) }
    }
}

/// The expression that matches in ASCII text what `hir` matches there. It recurses over the
/// expression, whose depth the parser bounds.
fn ascii_hir(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.is_ascii() => Hir::literal(literal.0.clone()),
        HirKind::Literal(_) => Hir::fail(),
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            class.intersect(&ClassUnicode::new([ClassUnicodeRange::new('\0', '\u{7f}')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(class)) => Hir::class(Class::Bytes(class.clone())),
        HirKind::Look(look) => Hir::look(ascii_look(*look)),
        HirKind::Repetition(repetition) => {
            Hir::repetition(repetition.with(ascii_hir(&repetition.sub)))
        }
        HirKind::Capture(capture) => ascii_hir(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(ascii_hir).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(ascii_hir).collect()),
    }
}

const fn ascii_look(look: Look) -> Look {
    match look {
        Look::WordUnicode => Look::WordAscii,
        Look::WordUnicodeNegate => Look::WordAsciiNegate,
        Look::WordStartUnicode => Look::WordStartAscii,
        Look::WordEndUnicode => Look::WordEndAscii,
        Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
        Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
        other => other,
    }
}
