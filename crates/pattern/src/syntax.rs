//! The syntax of patterns: RE2 with look-ahead and look-behind of fixed width. Everything else is
//! refused with its offset.
//!
//! `regex_syntax` parses the pattern. Look-around groups reach it as plain groups between two
//! private-use characters, which mark them in its output: so flags apply inside of them, and one
//! parser serves all.

use std::fmt::Display;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::Hir;

/// The first marker. Each look-around has two: one for its start, one for its end.
const FIRST_MARKER: u32 = 0x10_f000;
/// More look-arounds than a pattern of [`crate::MAX_PATTERN_BYTES`] can contain.
const MAX_LOOK_AROUNDS: u32 = 1_000;
/// Nested groups; look-arounds count three times.
const MAX_NESTING: u32 = 150;
/// The largest number of a counted repetition, as in RE2.
const MAX_REPETITIONS: u32 = 1_000;

/// An error in a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// In bytes of the pattern.
    pub(crate) offset: usize,
    pub(crate) message: String,
}

impl SyntaxError {
    pub(crate) fn new(offset: usize, message: impl Display) -> Self {
        Self { offset, message: message.to_string() }
    }
}

/// A look-around group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LookAround {
    /// Whether it looks ahead, or behind.
    pub(crate) ahead: bool,
    /// Whether it must not match.
    pub(crate) negative: bool,
    /// In bytes of the pattern.
    pub(crate) offset: usize,
}

/// A well-formed pattern.
#[derive(Debug)]
pub(crate) struct ParsedPattern {
    /// The expression, with markers around look-arounds.
    pub(crate) hir: Hir,
    pub(crate) look_arounds: Vec<LookAround>,
}

/// Parses a pattern.
pub(crate) fn parse(pattern: &str, case_sensitive: bool) -> Result<ParsedPattern, SyntaxError> {
    let mut scanner = Scanner::new(pattern);
    scanner.run()?;
    let Scanner { output, origins, look_arounds, .. } = scanner;
    let is_marker = |(_, char): &(usize, char)| u32::from(*char) >= FIRST_MARKER;
    if !look_arounds.is_empty()
        && let Some((offset, _)) = pattern.char_indices().find(is_marker)
    {
        return Err(SyntaxError::new(
            offset,
            "private-use characters from U+10F000 are not supported beside look-around",
        ));
    }
    let mut parser =
        ParserBuilder::new().nest_limit(MAX_NESTING).case_insensitive(!case_sensitive).build();
    let hir = parser.parse(&output).map_err(|error| parser_error(&error, &origins))?;
    Ok(ParsedPattern { hir, look_arounds })
}

/// Maps an error of the parser to the offset in the pattern as it was given.
fn parser_error(error: &regex_syntax::Error, origins: &[Origin]) -> SyntaxError {
    let (parsed_at, message) = match error {
        regex_syntax::Error::Parse(error) => (error.span().start.offset, error.kind().to_string()),
        regex_syntax::Error::Translate(error) => {
            (error.span().start.offset, error.kind().to_string())
        }
        _ => (0, "the pattern is malformed".to_owned()),
    };
    let following = origins.partition_point(|origin| origin.parsed_at <= parsed_at);
    let origin = following.checked_sub(1).and_then(|index| origins.get(index));
    let offset = origin.map_or(parsed_at, |origin| {
        let into_copy = if origin.is_copy { parsed_at - origin.parsed_at } else { 0 };
        origin.offset + into_copy
    });
    SyntaxError::new(offset, message)
}

/// Where a part of the parser's input comes from.
struct Origin {
    /// Offset in the parser's input.
    parsed_at: usize,
    /// Offset in the pattern.
    offset: usize,
    /// Whether the part was copied, or replaces another text.
    is_copy: bool,
}

/// The previous item: decides which repetition may follow.
#[derive(Clone, Copy, PartialEq)]
enum Previous {
    Other,
    /// A repetition, which one `?` makes lazy.
    Repetition,
    LazyRepetition,
}

/// Rewrites a pattern for the parser.
struct Scanner<'p> {
    pattern: &'p str,
    at: usize,
    output: String,
    origins: Vec<Origin>,
    look_arounds: Vec<LookAround>,
    /// The open groups, with the index of those that are look-arounds.
    open_groups: Vec<Option<usize>>,
    previous: Previous,
}

impl<'p> Scanner<'p> {
    fn new(pattern: &'p str) -> Self {
        Self {
            pattern,
            at: 0,
            output: String::with_capacity(pattern.len() * 2),
            origins: Vec::new(),
            look_arounds: Vec::new(),
            open_groups: Vec::new(),
            previous: Previous::Other,
        }
    }

    fn rest(&self) -> &'p str {
        debug_assert!(self.pattern.is_char_boundary(self.at), "items are whole characters");
        self.pattern.get(self.at..).unwrap_or("")
    }

    /// Copies `bytes` of the pattern.
    fn copy(&mut self, bytes: usize) {
        let copied = self.rest().get(..bytes).unwrap_or(self.rest());
        self.push(copied, copied.len(), true);
    }

    /// Replaces `bytes` of the pattern by `text`.
    fn replace(&mut self, text: &str, bytes: usize) {
        self.push(text, bytes, false);
    }

    fn push(&mut self, text: &str, bytes: usize, is_copy: bool) {
        let origin = Origin { parsed_at: self.output.len(), offset: self.at, is_copy };
        self.origins.push(origin);
        self.output.push_str(text);
        self.at += bytes;
    }

    fn error(&self, message: &str) -> SyntaxError {
        SyntaxError::new(self.at, message)
    }

    fn run(&mut self) -> Result<(), SyntaxError> {
        while let Some(char) = self.rest().chars().next() {
            let previous = std::mem::replace(&mut self.previous, Previous::Other);
            match char {
                '\\' => self.escape()?,
                '[' => self.class(),
                '(' => self.open_group()?,
                ')' => self.close_group(),
                '*' | '+' | '?' | '{' => self.repetition(char, previous)?,
                char => self.copy(char.len_utf8()),
            }
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), SyntaxError> {
        let rest = self.rest();
        let Some(char) = rest.chars().nth(1) else {
            // The parser reports the lone backslash.
            self.copy(1);
            return Ok(());
        };
        match char {
            '1'..='9' | 'k' | 'g' => return Err(self.error("back-references are not supported")),
            'K' | 'G' => return Err(self.error("match resets are not supported")),
            'Q' => {
                let (quoted, bytes) = match rest.split_once("\\E") {
                    Some((quoted, _)) => (quoted, quoted.len() + 2),
                    None => (rest, rest.len()),
                };
                let quoted = quoted.strip_prefix("\\Q").unwrap_or(quoted);
                self.replace(&regex_syntax::escape(quoted), bytes);
                return Ok(());
            }
            _ => {}
        }
        let escape = 1 + char.len_utf8();
        // Braces after these enclose a name or a code point, not a repetition.
        let takes_braces = matches!(char, 'p' | 'P' | 'x' | 'u' | 'U' | 'b');
        let argument = rest.get(escape..).filter(|rest| takes_braces && rest.starts_with('{'));
        let end = argument.and_then(|argument| argument.find('}'));
        self.copy(end.map_or(escape, |end| escape + end + 1));
        Ok(())
    }

    /// Copies a class up to its `]`. A `]` that comes first is a character, and classes nest.
    fn class(&mut self) {
        let mut depth = 0_usize;
        let mut chars = self.rest().char_indices().peekable();
        let mut end = self.rest().len();
        while let Some((at, char)) = chars.next() {
            match char {
                '\\' => drop(chars.next()),
                '[' => {
                    depth += 1;
                    chars.next_if(|(_, next)| *next == '^');
                    chars.next_if(|(_, next)| *next == ']');
                }
                // The first character was a `[`, so the depth is at least 1.
                ']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                end = at + char.len_utf8();
                break;
            }
        }
        self.copy(end);
    }

    fn open_group(&mut self) -> Result<(), SyntaxError> {
        let rest = self.rest();
        let openings = [
            ("(?=", true, false),
            ("(?!", true, true),
            ("(?<=", false, false),
            ("(?<!", false, true),
        ];
        let opening = openings.into_iter().find(|(opening, ..)| rest.starts_with(opening));
        if let Some((opening, ahead, negative)) = opening {
            let index = self.look_arounds.len();
            self.open_groups.push(Some(index));
            self.look_arounds.push(LookAround { ahead, negative, offset: self.at });
            // The inner group keeps alternatives between the markers, and flags inside.
            self.replace(&format!("(?:{}(?:", marker(index, false)), opening.len());
            return Ok(());
        }
        self.open_groups.push(None);
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
        if let Some((_, message)) = refused.iter().find(|(prefix, _)| kind.starts_with(prefix)) {
            return Err(self.error(message));
        }
        let flags = kind.split([':', ')']).next().unwrap_or(kind);
        for (index, flag) in flags.char_indices() {
            let offset = self.at + "(?".len() + index;
            match flag {
                'i' | 'm' | 's' | 'U' | '-' => {}
                '0'..='9' | '+' => {
                    return Err(SyntaxError::new(offset, "recursion is not supported"));
                }
                _ => return Err(SyntaxError::new(offset, "the flags are i, m, s and U")),
            }
        }
        // Flags alone are a group that ends with them, and cannot be repeated.
        self.copy("(?".len() + flags.len());
        Ok(())
    }

    fn close_group(&mut self) {
        match self.open_groups.pop().flatten() {
            Some(index) => self.replace(&format!("){})", marker(index, true)), 1),
            None => self.copy(1),
        }
    }

    fn repetition(&mut self, char: char, previous: Previous) -> Result<(), SyntaxError> {
        // `*`, `+` and `?` have no number to check.
        let counted = if char == '{' { counted_repetition(self.rest()) } else { Some((1, 0)) };
        let Some((bytes, max)) = counted else {
            // As in RE2, other braces are characters.
            self.replace("\\{", 1);
            return Ok(());
        };
        match (char, previous) {
            ('?', Previous::Repetition) => {
                self.previous = Previous::LazyRepetition;
                self.copy(1);
                return Ok(());
            }
            ('+', Previous::Repetition | Previous::LazyRepetition) => {
                return Err(self.error("possessive repetitions are not supported"));
            }
            (_, Previous::Repetition | Previous::LazyRepetition) => {
                return Err(self.error("a repetition cannot be repeated"));
            }
            _ => {}
        }
        if max > MAX_REPETITIONS {
            return Err(self.error(&format!("repeated more than {MAX_REPETITIONS} times")));
        }
        self.previous = Previous::Repetition;
        self.copy(bytes);
        Ok(())
    }
}

/// The length of the counted repetition that `text` begins with, and the larger of its numbers.
fn counted_repetition(text: &str) -> Option<(usize, u32)> {
    let (inner, _) = text.strip_prefix('{')?.split_once('}')?;
    let (min, max) = match inner.split_once(',') {
        Some((min, max)) => (min, Some(max).filter(|max| !max.is_empty())),
        None => (inner, None),
    };
    let number = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        // A number that overflows is refused like any other that is too large.
        is_number.then(|| digits.parse().unwrap_or(u32::MAX))
    };
    let min = number(min)?;
    let max = max.map_or(Some(0), number)?;
    Some((inner.len() + "{}".len(), min.max(max)))
}

/// The character that marks the start or the end of a look-around.
fn marker(look_around: usize, is_end: bool) -> char {
    let index = u32::try_from(look_around).unwrap_or(MAX_LOOK_AROUNDS);
    debug_assert!(index < MAX_LOOK_AROUNDS, "the length of patterns bounds look-arounds");
    let marker = char::from_u32(FIRST_MARKER + 2 * index.min(MAX_LOOK_AROUNDS) + u32::from(is_end));
    marker.unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The look-around that a character marks, and whether it marks the end.
pub(crate) fn marked(char: char) -> Option<(usize, bool)> {
    let number = u32::from(char).checked_sub(FIRST_MARKER)?;
    Some((usize::try_from(number / 2).ok()?, number % 2 == 1))
}
