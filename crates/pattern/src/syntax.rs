//! The syntax of patterns: RE2 with look-ahead and look-behind of fixed width. Everything else is
//! refused with its offset.
//!
//! `regex_syntax` parses the pattern. Look-arounds reach it as capturing groups, which are known by
//! their numbers in its output: so flags apply inside of them, and one parser serves all. Its
//! extensions of RE2, such as nested classes, are escaped.

use std::fmt::Display;

use regex_syntax::ParserBuilder;
use regex_syntax::ast::ClassAsciiKind;
use regex_syntax::hir::Hir;

/// Nested groups and repetitions.
const MAX_NESTING: u32 = 150;
/// The largest number of a counted repetition, as in RE2.
const MAX_REPETITIONS: u32 = 1_000;

/// Escapes that are sets of characters, with which no range begins.
const SETS: [&str; 8] = [r"\d", r"\D", r"\s", r"\S", r"\w", r"\W", r"\p", r"\P"];

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
    /// Its number among all capturing groups.
    capture: usize,
}

/// A well-formed pattern.
#[derive(Debug)]
pub(crate) struct ParsedPattern {
    /// The expression; its look-arounds are capturing groups.
    pub(crate) hir: Hir,
    pub(crate) look_arounds: Vec<LookAround>,
}

/// A capturing group of the parser.
pub(crate) enum Capture {
    /// The look-around with this index.
    LookAround(usize),
    /// A group of the pattern, by its number without look-arounds.
    Group(usize),
}

impl ParsedPattern {
    /// The group with this number of the parser.
    pub(crate) fn capture(&self, number: u32) -> Capture {
        // A pattern of limited length has fewer groups than this.
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        match self.look_arounds.binary_search_by_key(&number, |group| group.capture) {
            Ok(index) => Capture::LookAround(index),
            Err(before) => Capture::Group(number.saturating_sub(before)),
        }
    }
}

/// Parses a pattern.
pub(crate) fn parse(pattern: &str, case_sensitive: bool) -> Result<ParsedPattern, SyntaxError> {
    let mut scanner = Scanner::new(pattern);
    scanner.run()?;
    let Scanner { output, origins, look_arounds, .. } = scanner;
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
    /// Capturing groups so far, look-arounds included.
    captures: usize,
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
            captures: 0,
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
                '[' => self.class()?,
                '(' => self.open_group()?,
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
            '1'..='9' | 'k' | 'g' if self.octal().is_none() => {
                return Err(self.error("back-references are not supported"));
            }
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
        self.escaped_char(char);
        Ok(())
    }

    /// The code point and the length of an octal escape, as RE2 reads it: up to three digits, of
    /// which the first is 0 if it is the only one.
    fn octal(&self) -> Option<(u32, usize)> {
        let digits = self.rest().get(1..)?.chars().map_while(|char| char.to_digit(8)).take(3);
        let (code, count) =
            digits.fold((0, 0), |(code, count), digit| (code * 8 + digit, count + 1));
        debug_assert!(code <= 0o777, "three octal digits are a code point");
        let is_octal = count > 1 || (count == 1 && code == 0);
        is_octal.then_some((code, 1 + count))
    }

    /// Copies the escape of `char`, with its argument in braces.
    fn escaped_char(&mut self, char: char) {
        let escape = 1 + char.len_utf8();
        if let Some((code, bytes)) = self.octal() {
            self.replace(&format!("\\x{{{code:x}}}"), bytes);
            return;
        }
        // The parser takes these for the boundaries of a word, RE2 for themselves.
        if matches!(char, '<' | '>') {
            self.replace(char.encode_utf8(&mut [0; 4]), escape);
            return;
        }
        // Braces after these enclose a name or a code point, not a repetition.
        let takes_braces = matches!(char, 'p' | 'P' | 'x' | 'u' | 'U');
        let argument =
            self.rest().get(escape..).filter(|rest| takes_braces && rest.starts_with('{'));
        let end = argument.and_then(|argument| argument.find('}'));
        // RE2 negates a class within the braces as well.
        if let Some(end) = end
            && let Some(name) =
                argument.and_then(|argument| argument.get(..end)?.strip_prefix("{^"))
            && matches!(char, 'p' | 'P')
        {
            let negated = if char == 'p' { 'P' } else { 'p' };
            self.replace(&format!("\\{negated}{{{name}}}"), escape + end + 1);
            return;
        }
        // A class of one letter, such as `\pL`.
        let letter = self.rest().chars().nth(2).filter(|_| matches!(char, 'p' | 'P'));
        let without_braces = escape + letter.map_or(0, char::len_utf8);
        self.copy(end.map_or(without_braces, |end| escape + end + 1));
    }

    /// Copies a class up to its `]`, as RE2 reads it: a `]` that comes first and a `[` are
    /// characters, and there are no operators.
    fn class(&mut self) -> Result<(), SyntaxError> {
        let opening = if self.rest().starts_with("[^") { 2 } else { 1 };
        self.copy(opening);
        let mut is_first = true;
        // Without a `]` the parser reports the class as unclosed.
        while let Some(char) = self.rest().chars().next() {
            if char == ']' && !is_first {
                self.copy(1);
                break;
            }
            is_first = false;
            if self.class_name()? {
                continue;
            }
            let is_set = SETS.iter().any(|set| self.rest().starts_with(set));
            self.class_char(char);
            // A range, unless the hyphen is the last character.
            let mut following = self.rest().chars();
            if !is_set
                && following.next() == Some('-')
                && let Some(end) = following.next().filter(|end| *end != ']')
            {
                self.copy(1);
                self.class_char(end);
            }
        }
        Ok(())
    }

    /// Copies a name such as `[:alpha:]` within a class, if there is one.
    fn class_name(&mut self) -> Result<bool, SyntaxError> {
        let name = self.rest().strip_prefix("[:").and_then(|rest| rest.split_once(":]"));
        let Some((name, _)) = name else { return Ok(false) };
        if ClassAsciiKind::from_name(name.strip_prefix('^').unwrap_or(name)).is_none() {
            return Err(self.error("unknown name of a character class"));
        }
        self.copy("[:".len() + name.len() + ":]".len());
        Ok(true)
    }

    /// Copies a character of a class, and escapes those that the parser takes for operators.
    fn class_char(&mut self, char: char) {
        match char {
            '\\' => match self.rest().chars().nth(1) {
                Some(escaped) => self.escaped_char(escaped),
                None => self.copy(1),
            },
            '[' | ']' | '&' | '~' | '-' => self.replace(&format!("\\{char}"), 1),
            char => self.copy(char.len_utf8()),
        }
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
            self.captures += 1;
            let (offset, capture) = (self.at, self.captures);
            self.look_arounds.push(LookAround { ahead, negative, offset, capture });
            self.replace("(", opening.len());
            return Ok(());
        }
        let kind = match rest.strip_prefix("(?") {
            Some(kind) if !kind.starts_with("P<") && !kind.starts_with('<') => kind,
            _ => {
                self.captures += 1;
                self.copy(1);
                return Ok(());
            }
        };
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
