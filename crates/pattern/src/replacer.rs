//! What stands in place of matches: a template with the groups of a pattern.

use std::ops::Range;

use leafbase_model::{Error, Result};

use crate::budget::{BudgetExhausted, StepBudget};
use crate::capture_search::CaptureSearch;
use crate::pattern::{Pattern, too_large};
use crate::pike_vm::{PikeCache, PikeVm};
use crate::program::Program;
use crate::tree::{CaptureGroup, Node};

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    /// The text of the group with this number.
    Group(usize),
}

/// A template for what stands in place of the matches of a pattern.
///
/// `$0` is the match, `$1` the text of the first group, `${12}` and `${year}` those of groups by
/// number and by name, `$$` a dollar sign; any other character stands for itself. A group that did
/// not take part in the match has no text, and neither has one within a look-around.
///
/// ```
/// use leafbase_pattern::{Pattern, StepBudget};
/// let pattern = Pattern::new(r"(?P<day>\d+)\.(\d+)", false)?;
/// let replacer = pattern.replacer("$2/${day}")?;
/// let mut budget = StepBudget::new(1_000);
/// assert_eq!(replacer.replacements("am 24.12", &[3..8], &mut budget), Ok(vec!["12/24".into()]));
/// assert_eq!(pattern.replacer("$3").unwrap_err().message(), "the pattern has no group 3");
/// # Ok::<(), leafbase_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Replacer {
    template: Vec<TemplatePart>,
    /// With groups; none if the template has no group but the match itself.
    program: Option<Program>,
    groups: usize,
}

impl Pattern {
    /// A replacer of its matches.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::Validation`] for a group that the pattern does not have;
    /// [`leafbase_model::ErrorKind::LimitExceeded`] for a pattern that its groups make too large.
    pub fn replacer(&self, template: &str) -> Result<Replacer> {
        let mut names = Vec::new();
        collect_groups(&self.tree, &mut names);
        let template = parse(template, &names)?;
        let has_groups =
            template.iter().any(|part| matches!(part, TemplatePart::Group(number) if *number > 0));
        let program =
            has_groups.then(|| Program::with_groups(&self.tree, &self.look_arounds)).transpose();
        Ok(Replacer { template, program: program.map_err(too_large)?, groups: names.len() })
    }
}

impl Replacer {
    /// A replacer by a text as it is.
    pub fn literal(text: impl Into<String>) -> Self {
        Self { template: vec![TemplatePart::Text(text.into())], program: None, groups: 0 }
    }

    /// What stands in place of each of these matches in `text`.
    ///
    /// # Errors
    /// [`BudgetExhausted`] if the groups need more steps than remain.
    pub fn replacements(
        &self,
        text: &str,
        matches: &[Range<usize>],
        budget: &mut StepBudget,
    ) -> Result<Vec<String>, BudgetExhausted> {
        let mut cache = PikeCache::default();
        let search = match &self.program {
            Some(program) => {
                let vm = PikeVm::new(program, text, &mut cache, budget)?;
                Some(CaptureSearch::new(program, text, vm, self.groups))
            }
            None => None,
        };
        let mut replacements = Vec::with_capacity(matches.len());
        for found in matches {
            let groups = match &search {
                Some(search) => search.groups(found.clone(), budget)?,
                None => vec![Some(found.clone())],
            };
            let part = |part: &TemplatePart| match part {
                TemplatePart::Text(text) => text.clone(),
                TemplatePart::Group(number) => {
                    let range = groups.get(*number).cloned().flatten();
                    range.and_then(|range| text.get(range)).unwrap_or("").to_owned()
                }
            };
            let replacement: String = self.template.iter().map(part).collect();
            // Long templates cost, too.
            budget.consume(u64::try_from(replacement.len() / 4).unwrap_or(u64::MAX))?;
            replacements.push(replacement);
        }
        Ok(replacements)
    }
}

/// The groups of a pattern in the order of their numbers, with their names.
fn collect_groups<'t>(node: &'t Node, groups: &mut Vec<Option<&'t str>>) {
    match node {
        Node::Class(_) | Node::Look(_) => {}
        Node::Concat(nodes) | Node::Alternation(nodes) => {
            for node in nodes {
                collect_groups(node, groups);
            }
        }
        Node::LookAround(_, node) | Node::Repetition { node, .. } => collect_groups(node, groups),
        Node::Group(CaptureGroup { number, name }, node) => {
            // Numbers may have gaps, where the parser found that a group cannot match.
            groups.resize(groups.len().max(*number), None);
            if let Some(group) = number.checked_sub(1).and_then(|index| groups.get_mut(index)) {
                *group = name.as_deref();
            }
            collect_groups(node, groups);
        }
    }
}

fn parse(template: &str, groups: &[Option<&str>]) -> Result<Vec<TemplatePart>> {
    let (mut parts, mut text, mut rest) = (Vec::new(), String::new(), template);
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        let (group, behind) = if let Some(behind) = after.strip_prefix('$') {
            text.push('$');
            rest = behind;
            continue;
        } else if let Some((name, behind)) = braced(after) {
            (named(name, groups)?, behind)
        } else if let Some((number, behind)) = numbered(after, groups.len()) {
            (number, behind)
        } else {
            text.push('$');
            rest = after;
            continue;
        };
        if group > groups.len() {
            return Err(Error::validation(format!("the pattern has no group {group}")));
        }
        if !text.is_empty() {
            parts.push(TemplatePart::Text(std::mem::take(&mut text)));
        }
        parts.push(TemplatePart::Group(group));
        rest = behind;
    }
    text.push_str(rest);
    if !text.is_empty() {
        parts.push(TemplatePart::Text(text));
    }
    Ok(parts)
}

/// The name in braces that `text` begins with, and the text after them.
fn braced(text: &str) -> Option<(&str, &str)> {
    let (name, behind) = text.strip_prefix('{')?.split_once('}')?;
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some((name, behind))
}

fn named(name: &str, groups: &[Option<&str>]) -> Result<usize> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    let found = groups.iter().position(|group| *group == Some(name));
    found
        .map(|index| index + 1)
        .ok_or_else(|| Error::validation(format!("the pattern has no group {name}")))
}

/// The longest number of a group that `text` begins with, or its first digit.
fn numbered(text: &str, groups: usize) -> Option<(usize, &str)> {
    let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let number = |digits: usize| {
        let (number, behind) = text.split_at_checked(digits)?;
        Some((number.parse().ok()?, behind))
    };
    let known = (1..=digits).rev().filter_map(number).find(|(number, _)| *number <= groups);
    known.or_else(|| number(1).filter(|_| digits > 0))
}
