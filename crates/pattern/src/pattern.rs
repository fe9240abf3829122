//! Compiled patterns.

use leafbase_model::{Error, ErrorKind, Limits, Result};

use crate::lazy_dfa::LazyDfa;
use crate::prefilter::Prefilter;
use crate::program::{Program, ProgramTooLarge};
use crate::syntax::{LookAround, SyntaxError, parse};
use crate::tree::{self, Node};
use crate::trigrams::TrigramQuery;

/// The longest pattern.
pub const MAX_PATTERN_BYTES: usize = Limits::PATTERN_BYTES;

/// The pattern that matches `text` and nothing else. In a pattern that a client writes, `\Q` and
/// `\E` around a text without `\E` do the same.
///
/// ```
/// use leafbase_pattern::{Pattern, StepBudget, escape_pattern};
/// let pattern = Pattern::new(&escape_pattern("1+1 (= 2)"), true)?;
/// let ranges = pattern.matcher().find_all("so 1+1 (= 2)", 10, &mut StepBudget::new(1_000));
/// assert_eq!(ranges, Ok(vec![3..12]));
/// # Ok::<(), leafbase_model::Error>(())
/// ```
pub fn escape_pattern(text: &str) -> String {
    regex_syntax::escape(text)
}

/// A compiled regular expression.
///
/// The syntax is RE2's with look-ahead (`(?=x)`, `(?!x)`) and look-behind of fixed width (`(?<=x)`,
/// `(?<!x)`), whose alternatives may differ in width. Back-references, atomic groups,
/// possessive repetitions, conditionals, recursion and comments are refused.
///
/// Matches are leftmost-first as in Perl. A search costs at most one step for each instruction of
/// the pattern at each character (Thompson, "Regular Expression Search Algorithm", 1968),
/// look-around included, as each group is evaluated once per text.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(crate) program: Program,
    /// For ASCII texts and for any text; absent for patterns with look-around.
    pub(crate) dfas: Option<[LazyDfa; 2]>,
    prefilter: Option<Prefilter>,
    trigram_query: TrigramQuery,
    pub(crate) tree: Node,
    pub(crate) look_arounds: Vec<LookAround>,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidPattern`] with the offset in bytes; [`ErrorKind::LimitExceeded`] for a
    /// pattern that is longer than [`MAX_PATTERN_BYTES`], or that repetitions make too large.
    pub fn new(pattern: &str, case_sensitive: bool) -> Result<Self> {
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(Error::limit("bytes of a pattern", MAX_PATTERN_BYTES, pattern.len()));
        }
        let parsed = parse(pattern, case_sensitive).map_err(|error| invalid(&error))?;
        let tree = tree::tree(&parsed).map_err(|error| invalid(&error))?;
        let program = Program::new(&tree, &parsed.look_arounds).map_err(too_large)?;
        // A DFA cannot evaluate look-around.
        let is_regular = parsed.look_arounds.is_empty();
        Ok(Self {
            program,
            dfas: is_regular.then(|| [LazyDfa::of_ascii(&parsed.hir), LazyDfa::new(parsed.hir)]),
            prefilter: Prefilter::of(&tree),
            trigram_query: TrigramQuery::of(&tree),
            tree,
            look_arounds: parsed.look_arounds,
        })
    }

    /// The substring search that rules texts out; `None` if matches have no rare literal.
    pub const fn prefilter(&self) -> Option<&Prefilter> {
        self.prefilter.as_ref()
    }

    /// The trigrams that every matching text contains.
    pub const fn trigram_query(&self) -> &TrigramQuery {
        &self.trigram_query
    }

    /// Whether the prefilter lets this text pass.
    pub fn may_match(&self, text: &str) -> bool {
        self.prefilter.as_ref().is_none_or(|prefilter| prefilter.may_match(text.as_bytes()))
    }
}

fn invalid(error: &SyntaxError) -> Error {
    let message = format!("{}, at byte {}", error.message, error.offset);
    Error::new(ErrorKind::InvalidPattern, message)
}

pub(crate) fn too_large(ProgramTooLarge { max_instructions }: ProgramTooLarge) -> Error {
    let message = format!(
        "instructions of a pattern: at most {max_instructions}, repetitions make this one larger"
    );
    Error::new(ErrorKind::LimitExceeded, message)
}
