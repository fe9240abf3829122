//! What a pattern may say: RE2, look-ahead, and look-behind of fixed width. Everything else is
//! refused with its offset.
//!
//! Groups that look around are handed to the parser of plain patterns as groups between two letters
//! of the private use, by which they are found again in what it gives: so flags reach into them,
//! and there is one parser for all.

use std::fmt::Display;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::Hir;

/// The first of the letters that stand for groups: two for each, where it begins and where it ends.
pub(crate) const MARKS: u32 = 0x10_f000;
/// No pattern of [`crate::LONGEST`] bytes has more such groups.
const MOST_GROUPS: u32 = 1_000;
/// Groups within groups; those that look around count thrice.
const NESTING: u32 = 150;
/// The most repetitions that can be asked for by number, as in RE2.
const REPEATED: u32 = 1_000;

/// What a pattern says that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// In bytes.
    pub(crate) offset: usize,
    pub(crate) message: String,
}

fn fault(offset: usize, message: impl Display) -> Fault {
    Fault { offset, message: message.to_string() }
}

/// How a group looks around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Around {
    /// Whether it looks ahead, or behind.
    pub(crate) ahead: bool,
    /// Whether it must not match.
    pub(crate) negative: bool,
    /// Where it stands in the pattern.
    pub(crate) offset: usize,
}

/// A pattern that is well-formed.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// The pattern, with marks where groups look around.
    pub(crate) hir: Hir,
    pub(crate) arounds: Vec<Around>,
}

/// Reads a pattern.
pub(crate) fn parse(pattern: &str, case_sensitive: bool) -> Result<Parsed, Fault> {
    let mut scan = Scan::new(pattern);
    scan.run()?;
    let Scan { marked, origins, arounds, .. } = scan;
    if !arounds.is_empty()
        && let Some((offset, _)) =
            pattern.char_indices().find(|(_, letter)| u32::from(*letter) >= MARKS)
    {
        return Err(fault(
            offset,
            "this letter of the private use cannot stand in a pattern that looks around",
        ));
    }
    let mut parser =
        ParserBuilder::new().nest_limit(NESTING).case_insensitive(!case_sensitive).build();
    let hir = parser.parse(&marked).map_err(|error| told(&error, &origins))?;
    Ok(Parsed { hir, arounds })
}

/// The parser's error, where it stands in the pattern as it was given.
fn told(error: &regex_syntax::Error, origins: &[Origin]) -> Fault {
    let (span, message) = match error {
        regex_syntax::Error::Parse(error) => (error.span().start.offset, error.kind().to_string()),
        regex_syntax::Error::Translate(error) => {
            (error.span().start.offset, error.kind().to_string())
        }
        _ => (0, "is no pattern".to_owned()),
    };
    let found = origins.partition_point(|origin| origin.marked <= span).checked_sub(1);
    let origin = found.and_then(|index| origins.get(index));
    let offset = origin.map_or(span, |origin| {
        origin.offset + if origin.is_copy { span - origin.marked } else { 0 }
    });
    fault(offset, message)
}

/// Where a part of what the parser reads comes from.
struct Origin {
    /// Where it is read.
    marked: usize,
    /// Where it stands in the pattern.
    offset: usize,
    /// Whether it stands there as it is read.
    is_copy: bool,
}

/// What stood last: whether it can be repeated.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    Other,
    /// A repetition, which may be made lazy once.
    Repeated,
    Lazy,
}

/// A pattern on its way to the parser.
struct Scan<'p> {
    pattern: &'p str,
    at: usize,
    marked: String,
    origins: Vec<Origin>,
    arounds: Vec<Around>,
    /// The groups that are open: the number of those that look around.
    open: Vec<Option<usize>>,
    last: Last,
}

impl<'p> Scan<'p> {
    fn new(pattern: &'p str) -> Self {
        let (marked, origins) = (String::with_capacity(pattern.len() * 2), Vec::new());
        Self {
            pattern,
            at: 0,
            marked,
            origins,
            arounds: Vec::new(),
            open: Vec::new(),
            last: Last::Other,
        }
    }

    fn rest(&self) -> &'p str {
        self.pattern.get(self.at..).unwrap_or_default()
    }

    /// Takes `bytes` of the pattern as they are.
    fn copy(&mut self, bytes: usize) {
        let taken = self.rest().get(..bytes).unwrap_or(self.rest());
        self.add(taken, taken.len(), true);
    }

    /// Takes `bytes` of the pattern, which mean `text`.
    fn put(&mut self, text: &str, bytes: usize) {
        self.add(text, bytes, false);
    }

    fn add(&mut self, text: &str, bytes: usize, is_copy: bool) {
        self.origins.push(Origin { marked: self.marked.len(), offset: self.at, is_copy });
        self.marked.push_str(text);
        self.at += bytes;
    }

    fn run(&mut self) -> Result<(), Fault> {
        while let Some(letter) = self.rest().chars().next() {
            let was = std::mem::replace(&mut self.last, Last::Other);
            match letter {
                '\\' => self.escape()?,
                '[' => self.class(),
                '(' => self.group()?,
                ')' => self.close(),
                '*' | '+' | '?' | '{' => self.repetition(letter, was)?,
                letter => self.copy(letter.len_utf8()),
            }
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        let Some(letter) = rest.chars().nth(1) else {
            self.copy(1);
            return Ok(());
        };
        let refused = match letter {
            '1'..='9' | 'k' | 'g' => Some("back-references are not supported"),
            'K' | 'G' => Some("what is matched cannot depend on where the search is"),
            _ => None,
        };
        if let Some(message) = refused {
            return Err(fault(self.at, message));
        }
        if letter == 'Q' {
            let (quoted, bytes) = match rest.split_once("\\E") {
                Some((quoted, _)) => (quoted, quoted.len() + 2),
                None => (rest, rest.len()),
            };
            let quoted = regex_syntax::escape(quoted.get(2..).unwrap_or_default());
            self.put(&quoted, bytes);
            return Ok(());
        }
        let escape = 1 + letter.len_utf8();
        // A name or a number in braces is no repetition.
        let braces =
            matches!(letter, 'p' | 'P' | 'x' | 'u' | 'U' | 'b') && rest[escape..].starts_with('{');
        let end = rest[escape..].find('}').filter(|_| braces);
        self.copy(end.map_or(escape, |end| escape + end + 1));
        Ok(())
    }

    /// A class goes to its `]`, which may stand first as a letter, and has classes within.
    fn class(&mut self) {
        let (mut depth, mut letters) = (0_usize, self.rest().char_indices().peekable());
        let mut end = self.rest().len();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => drop(letters.next()),
                '[' => {
                    depth += 1;
                    letters.next_if(|(_, next)| *next == '^');
                    letters.next_if(|(_, next)| *next == ']');
                }
                ']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                end = at + letter.len_utf8();
                break;
            }
        }
        self.copy(end);
    }

    fn group(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        let looks = [
            ("(?=", true, false),
            ("(?!", true, true),
            ("(?<=", false, false),
            ("(?<!", false, true),
        ];
        if let Some((begin, ahead, negative)) =
            looks.into_iter().find(|(begin, ..)| rest.starts_with(begin))
        {
            let number = self.arounds.len();
            self.open.push(Some(number));
            self.arounds.push(Around { ahead, negative, offset: self.at });
            self.put(&format!("(?:{}(?:", mark(number, false)), begin.len());
            return Ok(());
        }
        self.open.push(None);
        let Some(kind) = rest.strip_prefix("(?") else {
            self.copy(1);
            return Ok(());
        };
        if kind.starts_with("P<") || kind.starts_with('<') {
            self.copy(1);
            return Ok(());
        }
        let refused = [
            (">", "atomic groups are not supported"),
            ("(", "conditions are not supported"),
            ("#", "comments are not supported"),
            ("|", "groups that reset numbers are not supported"),
            ("P=", "back-references are not supported"),
            ("P>", "recursion is not supported"),
            ("&", "recursion is not supported"),
            ("R", "recursion is not supported"),
        ];
        if let Some((_, message)) = refused.iter().find(|(begin, _)| kind.starts_with(begin)) {
            return Err(fault(self.at, message));
        }
        let end = kind.find([':', ')']).unwrap_or(kind.len());
        for (at, flag) in kind.get(..end).unwrap_or_default().char_indices() {
            let here = self.at + 2 + at;
            match flag {
                'i' | 'm' | 's' | 'U' | '-' => {}
                '0'..='9' | '+' => return Err(fault(here, "recursion is not supported")),
                _ => return Err(fault(here, "the flags are i, m, s and U")),
            }
        }
        // Flags alone are a group that ends with them, and can be followed by no repetition.
        self.copy(2 + end);
        Ok(())
    }

    fn close(&mut self) {
        match self.open.pop().flatten() {
            Some(number) => self.put(&format!("){})", mark(number, true)), 1),
            None => self.copy(1),
        }
    }

    fn repetition(&mut self, letter: char, was: Last) -> Result<(), Fault> {
        let counted = if letter == '{' { counted(self.rest()) } else { Some((1, 0)) };
        let Some((bytes, most)) = counted else {
            self.put("\\{", 1);
            return Ok(());
        };
        match (letter, was) {
            ('?', Last::Repeated) => {
                self.last = Last::Lazy;
                self.copy(1);
                return Ok(());
            }
            ('+', Last::Repeated | Last::Lazy) => {
                return Err(fault(self.at, "possessive repetitions are not supported"));
            }
            (_, Last::Repeated | Last::Lazy) => {
                return Err(fault(self.at, "a repetition cannot be repeated"));
            }
            _ => {}
        }
        if most > REPEATED {
            return Err(fault(self.at, format_args!("repeated more than {REPEATED} times")));
        }
        self.last = Last::Repeated;
        self.copy(bytes);
        Ok(())
    }
}

/// The bytes of a counted repetition that `text` begins with, and the greatest of its numbers.
/// Braces around something else are letters.
fn counted(text: &str) -> Option<(usize, u32)> {
    let inner = text.strip_prefix('{')?;
    let end = inner.find('}')?;
    let (least, most) = match inner.get(..end)?.split_once(',') {
        Some((least, most)) => (least, Some(most).filter(|most| !most.is_empty())),
        None => (inner.get(..end)?, None),
    };
    let number = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().unwrap_or(u32::MAX))
    };
    let least = number(least)?;
    let most = most.map_or(Some(0), number)?;
    Some((end + 2, least.max(most)))
}

/// The letter that stands where a group begins, or ends.
fn mark(group: usize, is_end: bool) -> char {
    let number = u32::try_from(group).unwrap_or(MOST_GROUPS).min(MOST_GROUPS);
    char::from_u32(MARKS + 2 * number + u32::from(is_end)).unwrap_or('\u{10fffd}')
}

/// What a letter marks: the group, and whether it ends there.
pub(crate) fn marked(letter: char) -> Option<(usize, bool)> {
    let number = u32::from(letter).checked_sub(MARKS)?;
    Some((usize::try_from(number / 2).ok()?, number % 2 == 1))
}
