//! Patterns: regular expressions whose cost is bounded by counted steps.

use std::ops::Range;

use leafbase_model::{Error, ErrorKind, Limits, Result};

use automaton::{Automaton, Lazily, States, Stopped};
use joined::Joined;
use needed::Needed;
use program::Program;
use required::required;
use walk::{Room, Walk};

mod ascii;
mod automaton;
mod exact;
mod fuel;
mod joined;
mod needed;
mod program;
mod required;
#[doc(hidden)]
pub mod row;
mod sieve;
mod syntax;
mod tree;
mod walk;

#[cfg(test)]
mod tests;

pub use fuel::{Exhausted, Fuel};
pub use required::{Required, Trigram, each_trigram, trigrams};
pub use sieve::Sieve;

/// The longest pattern, in bytes.
pub const LONGEST: usize = Limits::PATTERN_BYTES;

/// A regular expression.
///
/// Its syntax is RE2's, with look-ahead (`(?=x)`, `(?!x)`) and look-behind of fixed width
/// (`(?<=x)`, `(?<!x)`), whose choices at the top may differ in width. Back-references, atomic
/// groups, possessive repetitions, conditions, recursion and comments are refused.
///
/// Of several matches the first one counts, and of those that begin at one place the one that the
/// pattern prefers, as in Perl. A match costs at most one step for each letter of the text and each
/// instruction of the pattern (Thompson, "Regular Expression Search Algorithm", 1968), groups that
/// look around included, for each is looked for once.
///
/// ```
/// use leafbase_pattern::{Fuel, Pattern};
/// let pattern = Pattern::new(r"(?<=€ )\d+", false)?;
/// let found = pattern.matcher().find_all("€ 7, € 12", 10, &mut Fuel::new(1_000));
/// assert_eq!(found, Ok(vec![4..5, 11..13]));
/// # Ok::<(), leafbase_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pattern {
    program: Program,
    /// For texts of ASCII, and for any; none for a pattern that looks around.
    automata: Option<[Lazily; 2]>,
    required: Required,
    needed: Needed,
    joined: Joined,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidPattern`] with the offset in bytes; [`ErrorKind::LimitExceeded`] for one
    /// that is longer than [`LONGEST`], or whose repetitions make it too large.
    pub fn new(pattern: &str, case_sensitive: bool) -> Result<Self> {
        if pattern.len() > LONGEST {
            return Err(Error::limit("bytes of a pattern", LONGEST, pattern.len()));
        }
        let wrong = |fault: syntax::Fault| {
            let message = format!("{}, at byte {}", fault.message, fault.offset);
            Error::new(ErrorKind::InvalidPattern, message)
        };
        let parsed = syntax::parse(pattern, case_sensitive).map_err(wrong)?;
        let tree = tree::tree(&parsed).map_err(wrong)?;
        let too_large = |program::TooLarge { most }| {
            let message = format!(
                "instructions of a pattern: at most {most}, repetitions make this one larger"
            );
            Error::new(ErrorKind::LimitExceeded, message)
        };
        let program = Program::new(&tree, &parsed.arounds).map_err(too_large)?;
        let is_plain = parsed.arounds.is_empty();
        let needed = Needed::of(&tree);
        // What passes a sieve is little, and not worth a second one.
        let seeks = needed.sieve.is_none();
        let lazily = |hir| Lazily::new(hir, seeks);
        let automata =
            is_plain.then(|| [ascii::of_ascii(&parsed.hir), parsed.hir.clone()].map(lazily));
        let joined = if is_plain { Joined::of(&parsed.hir) } else { Joined::NEVER };
        Ok(Self { program, automata, required: required(&tree), needed, joined })
    }

    /// Whether several texts may be laid together, this letter between them, to find out at once
    /// that none of them matches: the whole has a match if one of them has. It may have others, so
    /// that a match of the whole tells nothing of any of them.
    ///
    /// Not so for a pattern that looks around, or at the ends of a text; nor is anything won by it
    /// for one that has to be walked.
    ///
    /// ```
    /// use leafbase_pattern::Pattern;
    /// let may_join = |pattern| Pattern::new(pattern, false).map(|pattern| ['\0', '\n'].map(|letter| pattern.may_join(letter)));
    /// assert_eq!(may_join(r"colou?r\b")?, [true, true]);
    /// assert_eq!(may_join("(?m)^colou?r")?, [false, true]);
    /// assert_eq!(may_join("^colou?r")?, [false, false]);
    /// # Ok::<(), leafbase_model::Error>(())
    /// ```
    pub fn may_join(&self, separator: char) -> bool {
        self.joined.with(separator)
    }

    /// Whether, of texts that are laid together with this letter between them, no match reaches
    /// from one into the next: then each match of the whole is one of a text.
    pub fn stays_within(&self, separator: char) -> bool {
        self.joined.stays_within(separator)
    }

    /// What every text that it matches has.
    pub const fn required(&self) -> &Required {
        &self.required
    }

    /// Whether it may match the text of these bytes, by a letter or two that it needs: soon told.
    pub fn may_match(&self, text: &[u8]) -> bool {
        self.needed.is_in(text)
    }

    /// Finds the places where a text may be that it matches; none if they are too many, or are not
    /// known.
    pub const fn sieve(&self) -> Option<&Sieve> {
        self.needed.sieve.as_ref()
    }

    /// Whether it matches the text of these bytes, where that is told without an automaton, and
    /// with the steps that there are. A text that lacks what it needs costs none. What its
    /// [`Self::sieve`] seeks begins nowhere before `from`.
    ///
    /// ```
    /// use leafbase_pattern::{Fuel, Pattern};
    /// let (pattern, mut fuel) = (Pattern::new(r"\w+ock\b", false)?, Fuel::new(100));
    /// let mut steps = |text: &str| (pattern.matches_plainly(text.as_bytes(), 0, &mut fuel), fuel.left());
    /// assert_eq!(steps("no row of these letters in all of this"), (Some(false), 100));
    /// assert_eq!(steps("a sock"), (Some(true), 97));
    /// # Ok::<(), leafbase_model::Error>(())
    /// ```
    pub fn matches_plainly(&self, text: &[u8], from: usize, fuel: &mut Fuel) -> Option<bool> {
        match self.needed.sieve.as_ref().filter(|sieve| sieve.is_exact() && text.is_ascii()) {
            Some(sieve) => sieve.matches_ascii(text, from, fuel).ok(),
            None => (!self.may_match(text)).then_some(false),
        }
    }

    /// Searches with it, for one thread.
    pub fn matcher(&self) -> Matcher<'_> {
        let [ascii, any] = match &self.automata {
            Some(automata) => automata.each_ref().map(Machine::Unmade),
            None => [Machine::OfNoUse, Machine::OfNoUse],
        };
        Matcher { program: &self.program, ascii, any, room: Room::default() }
    }
}

/// Where a text has matches cannot be told at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown;

/// A pattern with what searches leave behind for the next one.
#[derive(Clone, Debug)]
pub struct Matcher<'p> {
    program: &'p Program,
    ascii: Machine<'p>,
    any: Machine<'p>,
    room: Room,
}

/// An automaton at work.
#[derive(Clone, Debug)]
enum Machine<'p> {
    /// No text has needed it yet.
    Unmade(&'p Lazily),
    Made(&'p Automaton, Box<States>),
    /// There is none, or it gave up.
    OfNoUse,
}

impl<'p> Machine<'p> {
    fn get(&mut self) -> Option<(&'p Automaton, &mut States)> {
        if let Self::Unmade(lazily) = self {
            let made = lazily.get();
            *self = made.map_or(Self::OfNoUse, |made| Self::Made(made, Box::new(made.states())));
        }
        match self {
            Self::Made(automaton, states) => Some((automaton, states)),
            _ => None,
        }
    }
}

impl<'p> Matcher<'p> {
    /// The same without the automaton.
    #[cfg(test)]
    fn walking(mut self) -> Self {
        (self.ascii, self.any) = (Machine::OfNoUse, Machine::OfNoUse);
        self
    }

    /// What `work` finds by an automaton; none if the text has to be walked.
    fn by_automaton<T>(
        &mut self,
        is_ascii: bool,
        work: impl FnOnce(&'p Automaton, &mut States) -> Result<T, Stopped>,
    ) -> Result<Option<T>, Exhausted> {
        let machine = if is_ascii { &mut self.ascii } else { &mut self.any };
        let Some((automaton, states)) = machine.get() else { return Ok(None) };
        match work(automaton, states) {
            Ok(found) => return Ok(Some(found)),
            Err(Stopped::Exhausted) => return Err(Exhausted),
            Err(Stopped::Quit) => {}
            Err(Stopped::GaveUp) => *machine = Machine::OfNoUse,
        }
        Ok(None)
    }

    /// Whether `text` has a match.
    ///
    /// # Errors
    /// [`Exhausted`] if that would take more steps than there are.
    pub fn is_match(&mut self, text: &str, fuel: &mut Fuel) -> Result<bool, Exhausted> {
        let found = self.by_automaton(text.is_ascii(), |automaton, states| {
            automaton.is_match(states, text, fuel)
        })?;
        if let Some(found) = found {
            return Ok(found);
        }
        Ok(Walk::new(self.program, text, &mut self.room, fuel)?.find(0, fuel)?.is_some())
    }

    /// The least place from `from` on at which a match ends that begins there or behind; none if
    /// there is no match. `is_ascii` says whether all of the text is ASCII.
    ///
    /// # Errors
    /// [`Unknown`] where that cannot be told soon, or not with the steps that there are: then each
    /// text has to be looked at by itself.
    pub fn least_end(
        &mut self,
        text: &str,
        is_ascii: bool,
        from: usize,
        fuel: &mut Fuel,
    ) -> Result<Option<usize>, Unknown> {
        let found = self.by_automaton(is_ascii, |automaton, states| {
            automaton.least_end(states, text, from, fuel)
        });
        found.ok().flatten().ok_or(Unknown)
    }

    /// The first matches in `text`, at most `most`, that do not overlap. An empty one right after
    /// another is left out.
    ///
    /// # Errors
    /// As [`Self::is_match`].
    pub fn find_all(
        &mut self,
        text: &str,
        most: usize,
        fuel: &mut Fuel,
    ) -> Result<Vec<Range<usize>>, Exhausted> {
        self.found(text, most, true, fuel)
    }

    /// The same without those that are empty.
    ///
    /// # Errors
    /// As [`Self::is_match`].
    pub fn find_letters(
        &mut self,
        text: &str,
        most: usize,
        fuel: &mut Fuel,
    ) -> Result<Vec<Range<usize>>, Exhausted> {
        self.found(text, most, false, fuel)
    }

    fn found(
        &mut self,
        text: &str,
        most: usize,
        empty: bool,
        fuel: &mut Fuel,
    ) -> Result<Vec<Range<usize>>, Exhausted> {
        let found = self.by_automaton(text.is_ascii(), |automaton, states| {
            all(text, most, empty, |from| automaton.find(states, text, from, fuel))
        })?;
        if let Some(found) = found {
            return Ok(found);
        }
        let mut walk = Walk::new(self.program, text, &mut self.room, fuel)?;
        all(text, most, empty, |from| walk.find(from, fuel))
    }
}

/// Goes on behind each match; behind an empty one, a letter further. Those that are empty are kept
/// or not.
fn all<E>(
    text: &str,
    most: usize,
    empty: bool,
    mut find: impl FnMut(usize) -> Result<Option<Range<usize>>, E>,
) -> Result<Vec<Range<usize>>, E> {
    let (mut found, mut from): (Vec<Range<usize>>, _) = (Vec::new(), 0);
    while found.len() < most && from <= text.len() {
        let Some(range) = find(from)? else { break };
        let is_after_one =
            range.is_empty() && found.last().is_some_and(|last| last.end == range.start);
        let step =
            text.get(range.end..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        from = if range.is_empty() { range.end + step } else { range.end };
        if !range.is_empty() || (empty && !is_after_one) {
            found.push(range);
        }
    }
    Ok(found)
}
