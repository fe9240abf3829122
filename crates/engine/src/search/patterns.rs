//! The patterns of a request, matched on one text after another at a cost that is counted.

use std::borrow::Cow;
use std::ops::Range;

use leafbase_model::{Error, ErrorKind, Limits, Result};
use leafbase_search::{Exhausted, Fuel, Matcher, Pattern, Required};

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
}

impl Patterns {
    /// Reads them. The field of this name is a list if it has several.
    pub(crate) fn new(name: &'static str, texts: &[String], case_sensitive: bool) -> Result<Self> {
        if texts.len() > Limits::PATTERNS {
            return Err(Error::limit("patterns", Limits::PATTERNS, texts.len()).at(name));
        }
        let read = |(index, text): (usize, &String)| {
            Pattern::new(text, case_sensitive).map_err(|error| error.at(path(name, index, texts.len())))
        };
        let read = texts.iter().enumerate().map(read).collect::<Result<Vec<_>>>()?;
        let may_join = |separator: &char| read.iter().all(|pattern| pattern.may_join(*separator));
        let separator = ['\0', '\n'].into_iter().find(may_join);
        Ok(Self { read, name, separator })
    }

    /// What a document has that one of them matches in, of each.
    pub(crate) fn required(&self) -> Vec<&Required> {
        self.read.iter().map(Pattern::required).collect()
    }

    /// Matches them, for one call.
    pub(crate) fn matching(&self) -> Matching<'_> {
        Matching {
            patterns: self,
            matchers: self.read.iter().map(Pattern::matcher).collect(),
            left: Fuel::new(STEPS),
            piece: String::new(),
        }
    }

    fn exhausted(&self, index: usize, is_call: bool) -> Error {
        let (what, steps) = if is_call { ("all of it", STEPS) } else { ("one text", STEPS_OF_TEXT) };
        let message = format!("the pattern costs too much: at most {steps} steps to search {what}, this takes more");
        Error::new(ErrorKind::LimitExceeded, message).at(path(self.name, index, self.read.len()))
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
    /// Texts that are laid together.
    piece: String,
}

impl<'p> Matching<'p> {
    /// Goes through these texts.
    pub(crate) fn through<'m, 't>(&'m mut self, texts: &'t [Cow<'t, str>]) -> Through<'m, 'p, 't> {
        Through { matching: self, texts, at: 0, apart: 0 }
    }

    /// Whether one of the patterns matches `text`.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] at the pattern that costs too much.
    pub(crate) fn is_match(&mut self, text: &str) -> Result<bool> {
        self.lend(|matchers, fuel| any(matchers, text, fuel))
    }

    /// Where the patterns match `text`, in order, at most [`Limits::RANGES`]. What overlaps is one range; what matches without taking a
    /// letter is none.
    ///
    /// # Errors
    /// As [`Self::is_match`].
    pub(crate) fn ranges(&mut self, text: &str) -> Result<Vec<Range<usize>>> {
        let mut found = self.lend(|matchers, fuel| {
            let each = |(index, matcher): (TooCostly, &mut Matcher<'_>)| {
                matcher.find_letters(text, Limits::RANGES, fuel).map_err(|_| index)
            };
            matchers.iter_mut().enumerate().map(each).collect::<Result<Vec<_>, _>>().map(|found| found.concat())
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
    fn lend<T>(&mut self, work: impl FnOnce(&mut [Matcher<'p>], &mut Fuel) -> Result<T, TooCostly>) -> Result<T> {
        let is_last = self.left.left() < STEPS_OF_TEXT;
        let done = self.left.lend(STEPS_OF_TEXT, |fuel| work(&mut self.matchers, fuel));
        done.map_err(|index| self.patterns.exhausted(index, is_last))
    }

    /// Lays texts together and looks whether any of them can match: how many they are, and whether.
    fn look_ahead(&mut self, texts: &[Cow<'_, str>]) -> (usize, bool) {
        let Some(separator) = self.patterns.separator else { return (texts.len(), true) };
        self.piece.clear();
        let mut count = 0;
        for text in texts {
            if count > 0 && self.piece.len() + text.len() > PIECE {
                break;
            }
            self.piece.push_str(text);
            self.piece.push(separator);
            count += 1;
        }
        if count < 2 {
            return (count, true);
        }
        self.piece.pop();
        let Self { piece, matchers, left, .. } = self;
        // Where it costs too much, each text may yet cost less.
        (count, left.lend(STEPS_OF_TEXT, |fuel| any(matchers, piece, fuel)).unwrap_or(true))
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

/// A way through texts, from one that matches to the next.
pub(crate) struct Through<'m, 'p, 't> {
    pub(crate) matching: &'m mut Matching<'p>,
    texts: &'t [Cow<'t, str>],
    at: usize,
    /// Up to here texts are looked at one by one.
    apart: usize,
}

impl Through<'_, '_, '_> {
    /// Goes on at this text.
    pub(crate) const fn skip_to(&mut self, index: usize) {
        self.at = index;
    }
}

impl Iterator for Through<'_, '_, '_> {
    type Item = Result<usize>;

    fn next(&mut self) -> Option<Result<usize>> {
        loop {
            let rest = self.texts.get(self.at..)?;
            let text = rest.first()?;
            if self.at >= self.apart {
                let (count, may_match) = self.matching.look_ahead(rest);
                if !may_match {
                    self.at += count;
                    continue;
                }
                self.apart = self.at + count;
            }
            self.at += 1;
            match self.matching.is_match(text) {
                Ok(false) => {}
                Ok(true) => return Some(Ok(self.at - 1)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
