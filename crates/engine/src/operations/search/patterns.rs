//! The patterns of a request, matched on one text after another at a cost that is counted.

use std::borrow::Cow;
use std::ops::Range;

use leafbase_model::{Error, ErrorKind, Limits, Result};
use leafbase_pattern::{Exhausted, Fuel, Matcher, Pattern, Unknown};
use leafbase_store::Sieve;

#[cfg(feature = "search")]
mod counting;

#[cfg(feature = "search")]
pub(crate) use counting::Counting;

#[cfg(all(test, feature = "search"))]
mod tests;

/// Steps that a call may take: about half a second.
const STEPS: u64 = 100_000_000;

/// Steps that one text may take.
const STEPS_OF_TEXT: u64 = 20_000_000;

/// Bytes of the texts that are looked through at once.
const PIECE: usize = 4 << 10;

/// The patterns of a request.
pub(crate) struct Patterns {
    read: Vec<Pattern>,
    /// The field that they stand in.
    name: &'static str,
    /// What stands between texts that are laid together; none if they may not be.
    separator: Option<char>,
    /// Whether no match of texts laid together reaches from one into the next.
    stays_within: bool,
}

impl Patterns {
    /// Reads them. The field of this name is a list if it has several.
    pub(crate) fn new(name: &'static str, texts: &[String], case_sensitive: bool) -> Result<Self> {
        if texts.len() > Limits::PATTERNS {
            return Err(Error::limit("patterns", Limits::PATTERNS, texts.len()).at(name));
        }
        let read = |(index, text): (usize, &String)| {
            Pattern::new(text, case_sensitive)
                .map_err(|error| error.at(path(name, index, texts.len())))
        };
        let read = texts.iter().enumerate().map(read).collect::<Result<Vec<_>>>()?;
        let may_join = |separator: &char| read.iter().all(|pattern| pattern.may_join(*separator));
        let stays_within =
            |separator: char| read.iter().all(|pattern| pattern.stays_within(separator));
        let separators = ['\0', '\n'].into_iter().filter(may_join);
        let separator = separators.min_by_key(|separator| !stays_within(*separator));
        let stays_within = separator.is_some_and(stays_within);
        Ok(Self { read, name, separator, stays_within })
    }

    /// Finds where texts may be that match, where that is known.
    pub(crate) fn sieve(&self) -> Option<Sought<'_>> {
        // What several ask for would be sought as often, at each place that one of them has.
        match self.read.as_slice() {
            [only] => only.sieve().map(Sought),
            _ => None,
        }
    }

    /// Matches them, for one call.
    pub(crate) fn matching(&self) -> Matching<'_> {
        self.matching_with(STEPS)
    }

    /// The same with so many steps.
    pub(crate) fn matching_with(&self, steps: u64) -> Matching<'_> {
        let matchers = self.read.iter().map(Pattern::matcher).collect();
        Matching { patterns: self, matchers, left: Fuel::new(steps), piece: Piece::default() }
    }

    /// Whether one of them may match the text: soon told.
    fn may_match(&self, text: &str) -> bool {
        self.read.iter().any(|pattern| pattern.may_match(text.as_bytes()))
    }

    fn exhausted(&self, index: usize, is_call: bool) -> Error {
        let (what, steps) =
            if is_call { ("all of it", STEPS) } else { ("one text", STEPS_OF_TEXT) };
        let message = format!(
            "the pattern costs too much: at most {steps} steps to search {what}, this takes more"
        );
        Error::new(ErrorKind::LimitExceeded, message).at(path(self.name, index, self.read.len()))
    }
}

/// What a pattern seeks.
pub(crate) struct Sought<'p>(&'p leafbase_pattern::Sieve);

impl Sieve for Sought<'_> {
    fn tells(&self, bytes: &[u8]) -> bool {
        self.0.tells(bytes)
    }

    fn next(&self, bytes: &[u8], from: usize) -> Option<usize> {
        self.0.next(bytes, from)
    }
}

/// Texts that are gone through.
pub(crate) trait Passage {
    /// How many they are.
    fn len(&self) -> usize;

    /// One of them.
    fn text(&self, index: usize) -> Result<Cow<'_, str>>;
}

impl Passage for [Cow<'_, str>] {
    fn len(&self) -> usize {
        <[_]>::len(self)
    }

    fn text(&self, index: usize) -> Result<Cow<'_, str>> {
        Ok(self.get(index).map(|text| Cow::Borrowed(&**text)).unwrap_or_default())
    }
}

fn path(name: &str, index: usize, count: usize) -> String {
    if count == 1 { name.to_owned() } else { format!("{name}[{index}]") }
}

/// The number of the pattern for which the steps did not suffice.
type TooCostly = usize;

/// Patterns with the steps that are left to a call.
pub(crate) struct Matching<'p> {
    patterns: &'p Patterns,
    matchers: Vec<Matcher<'p>>,
    left: Fuel,
    piece: Piece,
}

impl<'p> Matching<'p> {
    /// Goes through these texts.
    pub(crate) fn through<'m, 't, T: Passage + ?Sized>(
        &'m mut self,
        texts: &'t T,
    ) -> Through<'m, 'p, 't, T> {
        self.piece.clear();
        Through { matching: self, texts, at: 0, laid: Vec::new(), next_laid: 0 }
    }

    /// Whether one of the patterns matches `text`.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] at the pattern that costs too much.
    pub(crate) fn is_match(&mut self, text: &str) -> Result<bool> {
        self.lend(|matchers, fuel| any(matchers, text, fuel))
    }

    /// Where the patterns match `text`, in order, at most [`Limits::RANGES`]. What overlaps is one
    /// range; what matches without taking a letter is none.
    ///
    /// # Errors
    /// As [`Self::is_match`].
    pub(crate) fn ranges(&mut self, text: &str) -> Result<Vec<Range<usize>>> {
        let mut found = self.lend(|matchers, fuel| {
            let each = |(index, matcher): (TooCostly, &mut Matcher<'_>)| {
                matcher.find_letters(text, Limits::RANGES, fuel).map_err(|_| index)
            };
            matchers
                .iter_mut()
                .enumerate()
                .map(each)
                .collect::<Result<Vec<_>, _>>()
                .map(|found| found.concat())
        })?;
        found.sort_unstable_by_key(|range| (range.start, range.end));
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(found.len());
        for range in found {
            match merged.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        merged.truncate(Limits::RANGES);
        Ok(merged)
    }

    /// What `work` finds out about one text.
    fn lend<T>(
        &mut self,
        work: impl FnOnce(&mut [Matcher<'p>], &mut Fuel) -> Result<T, TooCostly>,
    ) -> Result<T> {
        let is_last = self.left.left() < STEPS_OF_TEXT;
        let done = self.left.lend(STEPS_OF_TEXT, |fuel| work(&mut self.matchers, fuel));
        done.map_err(|index| self.patterns.exhausted(index, is_last))
    }

    /// Whether a text can be laid to those that are, and is worth it.
    fn has_room_for(&self, text: &str) -> bool {
        self.patterns.separator.is_some() && self.piece.text.len() + text.len() <= PIECE
    }

    fn lay(&mut self, text: &str) {
        self.piece.add(text, self.patterns.separator.unwrap_or_default());
    }

    /// The first of the texts laid together, from this one on, that one of the patterns matches. To
    /// be asked in order.
    fn next_laid(&mut self, mut from: usize) -> Result<Option<usize>> {
        let mut piece = std::mem::take(&mut self.piece);
        let found = loop {
            if from >= piece.ends.len() {
                break Ok(None);
            }
            let next =
                self.left.lend(STEPS_OF_TEXT, |fuel| piece.next(&mut self.matchers, from, fuel));
            let (index, is_sure) = match next {
                Ok(None) => break Ok(None),
                Ok(Some(index)) => (index, self.patterns.stays_within),
                // Where it costs too much, each text may yet cost less.
                Err(Unknown) => (from, false),
            };
            if is_sure {
                break Ok(Some(index));
            }
            match self.is_match(piece.get(index).unwrap_or_default()) {
                Ok(false) => from = index + 1,
                Ok(true) => break Ok(Some(index)),
                Err(error) => break Err(error),
            }
        };
        self.piece = piece;
        found
    }
}

fn any(matchers: &mut [Matcher<'_>], text: &str, fuel: &mut Fuel) -> Result<bool, TooCostly> {
    for (index, matcher) in matchers.iter_mut().enumerate() {
        if matcher.is_match(text, fuel).map_err(|Exhausted| index)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Texts that are laid together, so that all are looked through at once.
#[derive(Default)]
struct Piece {
    text: String,
    is_ascii: bool,
    /// Where each ends. The next one begins a byte behind.
    ends: Vec<usize>,
    /// What is known of each pattern.
    ahead: Vec<Ahead>,
}

/// Where a pattern matches next.
#[derive(Clone, Copy)]
enum Ahead {
    /// Nowhere before a match that ends here.
    At(usize),
    Nowhere,
    Unknown,
}

impl Piece {
    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.ahead.clear();
    }

    fn add(&mut self, text: &str, separator: char) {
        self.is_ascii = text.is_ascii() && (self.is_ascii || self.ends.is_empty());
        if !self.ends.is_empty() {
            self.text.push(separator);
        }
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    fn start(&self, index: usize) -> usize {
        index.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| end + 1)
    }

    fn get(&self, index: usize) -> Option<&str> {
        self.text.get(self.start(index)..*self.ends.get(index)?)
    }

    /// The first text from this one on in which a match may be.
    fn next(
        &mut self,
        matchers: &mut [Matcher<'_>],
        from: usize,
        fuel: &mut Fuel,
    ) -> Result<Option<usize>, Unknown> {
        let start = self.start(from);
        self.ahead.resize(matchers.len(), Ahead::At(0));
        let mut least = None;
        for (matcher, ahead) in matchers.iter_mut().zip(&mut self.ahead) {
            // A match that ends behind the start does not begin before it, unless it is no match of
            // a text.
            if matches!(ahead, Ahead::At(end) if *end <= start) {
                *ahead = match matcher.least_end(&self.text, self.is_ascii, start, fuel) {
                    Ok(Some(end)) => Ahead::At(end),
                    Ok(None) => Ahead::Nowhere,
                    Err(Unknown) => Ahead::Unknown,
                };
            }
            match *ahead {
                Ahead::At(end) => least = Some(least.map_or(end, |least: usize| least.min(end))),
                Ahead::Nowhere => {}
                Ahead::Unknown => return Err(Unknown),
            }
        }
        Ok(least.map(|end| self.ends.partition_point(|other| *other < end)))
    }
}

/// A way through texts, from one that matches to the next.
pub(crate) struct Through<'m, 'p, 't, T: ?Sized> {
    pub(crate) matching: &'m mut Matching<'p>,
    texts: &'t T,
    /// Up to here they were matched or laid together.
    at: usize,
    /// Which are laid together.
    laid: Vec<usize>,
    /// The number among those of the next one.
    next_laid: usize,
}

impl<T: Passage + ?Sized> Through<'_, '_, '_, T> {
    /// Goes on at this text.
    pub(crate) const fn skip_to(&mut self, index: usize) {
        self.at = index;
    }

    /// Lays the next texts together that may match, as far as none is long.
    fn lay_on(&mut self) -> Result<()> {
        self.matching.piece.clear();
        self.laid.clear();
        self.next_laid = 0;
        while self.at < self.texts.len() {
            let text = self.texts.text(self.at)?;
            if self.matching.patterns.may_match(&text) {
                if !self.matching.has_room_for(&text) {
                    break;
                }
                self.matching.lay(&text);
                self.laid.push(self.at);
            }
            self.at += 1;
        }
        Ok(())
    }

    fn next_match(&mut self) -> Result<Option<usize>> {
        loop {
            if let Some(number) = self.matching.next_laid(self.next_laid)? {
                self.next_laid = number + 1;
                return Ok(self.laid.get(number).copied());
            }
            self.lay_on()?;
            if self.laid.is_empty() {
                let long = self.at;
                if long >= self.texts.len() {
                    return Ok(None);
                }
                self.at += 1;
                if self.matching.is_match(&self.texts.text(long)?)? {
                    return Ok(Some(long));
                }
            }
        }
    }
}

impl<T: Passage + ?Sized> Iterator for Through<'_, '_, '_, T> {
    type Item = Result<usize>;

    fn next(&mut self) -> Option<Result<usize>> {
        self.next_match().transpose()
    }
}
