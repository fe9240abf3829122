//! A plain pattern as an automaton that is made while it is used. It passes a byte by one look-up,
//! and gives up where it would have to be made again and again: then a counted walk takes over.
//! Whether it gives up depends on pattern and text alone.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson::{self, Compiler, WhichCaptures};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Anchored, Input, MatchError, MatchErrorKind, MatchKind};
use regex_syntax::hir::Hir;

use crate::fuel::{Exhausted, Fuel};

/// Bytes of the states that are kept.
const CACHE: usize = 2 << 20;
/// A pattern whose machine is larger is walked.
const MACHINE: usize = 1 << 20;

#[derive(Clone, Debug)]
pub(crate) struct Automaton {
    forwards: DFA,
    /// Finds where a match begins that ends at a place.
    backwards: DFA,
}

/// An automaton that is made when a text needs it.
#[derive(Clone, Debug)]
pub(crate) struct Lazily {
    hir: Hir,
    /// Whether it seeks what a match begins with.
    seeks: bool,
    /// None if it would be too large.
    made: OnceLock<Option<Automaton>>,
}

impl Lazily {
    pub(crate) const fn new(hir: Hir, seeks: bool) -> Self {
        Self { hir, seeks, made: OnceLock::new() }
    }

    pub(crate) fn get(&self) -> Option<&Automaton> {
        self.made.get_or_init(|| Automaton::new(&self.hir, self.seeks)).as_ref()
    }
}

/// What an automaton has made so far.
#[derive(Clone, Debug)]
pub(crate) struct States {
    forwards: Cache,
    backwards: Cache,
}

/// Why an automaton has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// It is of no use for this text, which has to be walked.
    Quit,
    /// It is of no use here: the pattern has to be walked.
    GaveUp,
    Exhausted,
}

impl From<MatchError> for Stopped {
    fn from(error: MatchError) -> Self {
        // The borders of words are only known to it in ASCII.
        if matches!(error.kind(), MatchErrorKind::Quit { .. }) { Self::Quit } else { Self::GaveUp }
    }
}

impl From<Exhausted> for Stopped {
    fn from(_: Exhausted) -> Self {
        Self::Exhausted
    }
}

fn config(kind: MatchKind) -> Config {
    Config::new()
        .match_kind(kind)
        .unicode_word_boundary(true)
        .cache_capacity(CACHE)
        .minimum_cache_clear_count(Some(2))
        .minimum_bytes_per_state(Some(10))
}

impl Automaton {
    /// None if it would be too large.
    fn new(hir: &Hir, seeks: bool) -> Option<Self> {
        let machine = |reverse| {
            let config = thompson::Config::new()
                .nfa_size_limit(Some(MACHINE))
                .which_captures(WhichCaptures::None);
            Compiler::new().configure(config.reverse(reverse)).build_from_hir(hir).ok()
        };
        let prefilter =
            if seeks { Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, hir) } else { None };
        // Without a prefilter there is nothing to be done where a search stands at its start again.
        let specialized = prefilter.is_some();
        let forwards = config(MatchKind::LeftmostFirst)
            .prefilter(prefilter)
            .specialize_start_states(specialized);
        let forwards = DFA::builder().configure(forwards).build_from_nfa(machine(false)?).ok()?;
        let backwards =
            DFA::builder().configure(config(MatchKind::All)).build_from_nfa(machine(true)?).ok()?;
        Some(Self { forwards, backwards })
    }

    pub(crate) fn states(&self) -> States {
        States { forwards: self.forwards.create_cache(), backwards: self.backwards.create_cache() }
    }

    /// Whether there is a match.
    pub(crate) fn is_match(
        &self,
        states: &mut States,
        text: &str,
        fuel: &mut Fuel,
    ) -> Result<bool, Stopped> {
        fuel.pass(text.len())?;
        let found =
            self.forwards.try_search_fwd(&mut states.forwards, &Input::new(text).earliest(true));
        Ok(found?.is_some())
    }

    /// The least place from `from` on at which a match ends that begins there or behind.
    pub(crate) fn least_end(
        &self,
        states: &mut States,
        text: &str,
        from: usize,
        fuel: &mut Fuel,
    ) -> Result<Option<usize>, Stopped> {
        let input = Input::new(text).range(from..).earliest(true);
        let end =
            self.forwards.try_search_fwd(&mut states.forwards, &input)?.map(|found| found.offset());
        fuel.pass(end.unwrap_or(text.len()).saturating_sub(from))?;
        Ok(end)
    }

    /// The first match from `from` on.
    pub(crate) fn find(
        &self,
        states: &mut States,
        text: &str,
        from: usize,
        fuel: &mut Fuel,
    ) -> Result<Option<Range<usize>>, Stopped> {
        let Some(end) = self.end(states, text.as_bytes(), from, fuel)? else { return Ok(None) };
        let start = self.start(states, text.as_bytes(), from, end, fuel)?;
        // An empty match may be told of within a letter.
        if text.is_char_boundary(start) && text.is_char_boundary(end) {
            Ok(Some(start..end))
        } else {
            Err(Stopped::GaveUp)
        }
    }

    /// Byte by byte, so that what is passed is counted: how far beyond a match the automaton looks
    /// is not told by a search.
    fn end(
        &self,
        states: &mut States,
        text: &[u8],
        from: usize,
        fuel: &mut Fuel,
    ) -> Result<Option<usize>, Stopped> {
        let (dfa, cache) = (&self.forwards, &mut states.forwards);
        let input = Input::new(text).range(from..);
        let mut state = dfa.start_state_forward(cache, &input).map_err(|_| Stopped::GaveUp)?;
        let mut end = None;
        for (at, byte) in text.iter().enumerate().skip(from) {
            state = dfa.next_state(cache, state, *byte).map_err(|_| Stopped::GaveUp)?;
            if state.is_tagged() {
                if state.is_match() {
                    // An automaton tells of a match one byte late.
                    end = Some(at);
                } else if state.is_dead() {
                    fuel.pass(at - from)?;
                    return Ok(end);
                } else if state.is_quit() {
                    return Err(Stopped::Quit);
                }
            }
        }
        fuel.pass(text.len().saturating_sub(from))?;
        let state = dfa.next_eoi_state(cache, state).map_err(|_| Stopped::GaveUp)?;
        Ok(if state.is_match() { Some(text.len()) } else { end })
    }

    fn start(
        &self,
        states: &mut States,
        text: &[u8],
        from: usize,
        end: usize,
        fuel: &mut Fuel,
    ) -> Result<usize, Stopped> {
        let (dfa, cache) = (&self.backwards, &mut states.backwards);
        let input = Input::new(text).range(from..end).anchored(Anchored::Yes);
        let mut state = dfa.start_state_reverse(cache, &input).map_err(|_| Stopped::GaveUp)?;
        let mut start = None;
        let between = text.get(from..end).unwrap_or_default();
        for (offset, byte) in between.iter().enumerate().rev() {
            state = dfa.next_state(cache, state, *byte).map_err(|_| Stopped::GaveUp)?;
            if state.is_tagged() {
                if state.is_match() {
                    start = Some(from + offset + 1);
                } else if state.is_dead() {
                    fuel.pass(between.len() - offset)?;
                    return start.ok_or(Stopped::GaveUp);
                } else if state.is_quit() {
                    return Err(Stopped::Quit);
                }
            }
        }
        fuel.pass(between.len())?;
        // Looks at what stands before `from`, which words end with.
        let state = match from.checked_sub(1).and_then(|before| text.get(before)) {
            Some(byte) => dfa.next_state(cache, state, *byte),
            None => dfa.next_eoi_state(cache, state),
        };
        let state = state.map_err(|_| Stopped::GaveUp)?;
        if state.is_quit() {
            return Err(Stopped::Quit);
        }
        if state.is_match() { Ok(from) } else { start.ok_or(Stopped::GaveUp) }
    }
}
