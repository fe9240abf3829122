//! Required literals: strings of which every matching text contains one.
//!
//! One analysis of the syntax tree has two uses, each with bounds of its own. The prefilter
//! searches texts for the literals ([`crate::Prefilter`]); the trigram query asks the index for the
//! trigrams of the folded literals ([`crate::TrigramQuery`]).

use std::collections::BTreeSet;
use std::iter::repeat_n;

use crate::tree::Node;

/// A string that a node matches.
type Literal = String;

/// Bounds of an analysis. A larger node is treated as unknown text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiteralBounds {
    /// Applied to each character: the identity, or case folding.
    pub(crate) fold: fn(char) -> char,
    /// The most alternatives that are enumerated at once.
    pub(crate) max_literals: usize,
    /// The most characters of a class that is enumerated.
    pub(crate) max_class_chars: u32,
}

/// What every matching text contains.
#[derive(Clone, Debug)]
pub(crate) enum Requirement {
    /// Nothing is known.
    Unknown,
    /// One of these non-empty literals.
    OneOf(BTreeSet<Literal>),
    All(Vec<Requirement>),
    Any(Vec<Requirement>),
}

impl Requirement {
    /// What every text contains that `tree` matches.
    pub(crate) fn of(tree: &Node, bounds: LiteralBounds) -> Self {
        bounds.node(tree).into_requirement()
    }

    fn one_of(literals: BTreeSet<Literal>) -> Self {
        if literals.is_empty() || literals.contains("") {
            Self::Unknown
        } else {
            Self::OneOf(literals)
        }
    }
}

/// The literals of the texts that a node matches.
enum NodeLiterals {
    /// After folding, the node matches exactly these.
    Exact(BTreeSet<Literal>),
    Inexact(Requirement),
}

impl NodeLiterals {
    fn empty() -> Self {
        Self::Exact(BTreeSet::from([Literal::new()]))
    }

    fn unknown() -> Self {
        Self::Inexact(Requirement::Unknown)
    }

    fn into_requirement(self) -> Requirement {
        match self {
            Self::Exact(literals) => Requirement::one_of(literals),
            Self::Inexact(requirement) => requirement,
        }
    }
}

impl LiteralBounds {
    /// Recurses over the tree, whose depth the parser bounds.
    fn node(self, node: &Node) -> NodeLiterals {
        match node {
            Node::Class(ranges) => self.class(ranges),
            // Assertions consume no text. Ignoring the literals of a look-around only weakens the
            // requirement.
            Node::Look(_) | Node::LookAround(..) => NodeLiterals::empty(),
            Node::Concat(nodes) => self.concatenation(nodes.iter()),
            Node::Alternation(nodes) => self.alternation(nodes),
            Node::Group(_, node) => self.node(node),
            Node::Repetition { min: 0, max: Some(1), node, .. } => match self.node(node) {
                NodeLiterals::Exact(mut literals) if literals.len() < self.max_literals => {
                    literals.insert(Literal::new());
                    NodeLiterals::Exact(literals)
                }
                _ => NodeLiterals::unknown(),
            },
            Node::Repetition { min: 0, .. } => NodeLiterals::unknown(),
            Node::Repetition { min, max, node, .. } if Some(*min) == *max && *min <= 3 => {
                self.concatenation(repeat_n(node.as_ref(), *min as usize))
            }
            // It matches at least once, but what precedes and follows need not be adjacent.
            Node::Repetition { node, .. } => {
                NodeLiterals::Inexact(self.node(node).into_requirement())
            }
        }
    }

    fn class(self, ranges: &[(char, char)]) -> NodeLiterals {
        let chars: u32 = ranges
            .iter()
            .map(|(from, to)| u32::from(*to) - u32::from(*from) + 1)
            .fold(0, u32::saturating_add);
        if chars == 0 || chars > self.max_class_chars {
            return NodeLiterals::unknown();
        }
        let chars = ranges.iter().flat_map(|(from, to)| *from..=*to);
        NodeLiterals::Exact(chars.map(|char| (self.fold)(char).to_string()).collect())
    }

    /// Extends the literals node by node, and starts new ones where they would become too many or
    /// unknown text follows.
    fn concatenation<'n>(self, nodes: impl Iterator<Item = &'n Node>) -> NodeLiterals {
        let mut parts = Vec::new();
        let mut literals = BTreeSet::from([Literal::new()]);
        let mut is_exact = true;
        for node in nodes {
            match self.node(node) {
                NodeLiterals::Exact(next) if literals.len() * next.len() <= self.max_literals => {
                    literals = literals
                        .iter()
                        .flat_map(|literal| next.iter().map(move |next| format!("{literal}{next}")))
                        .collect();
                }
                NodeLiterals::Exact(next) => {
                    // The next node starts new literals, which need not follow these directly.
                    is_exact = false;
                    parts.push(Requirement::one_of(std::mem::replace(&mut literals, next)));
                }
                NodeLiterals::Inexact(requirement) => {
                    is_exact = false;
                    let before = std::mem::replace(&mut literals, BTreeSet::from([Literal::new()]));
                    parts.extend([Requirement::one_of(before), requirement]);
                }
            }
        }
        debug_assert!(literals.len() <= self.max_literals.max(1), "literals stay within bounds");
        if is_exact {
            return NodeLiterals::Exact(literals);
        }
        parts.push(Requirement::one_of(literals));
        NodeLiterals::Inexact(Requirement::All(parts))
    }

    fn alternation(self, nodes: &[Node]) -> NodeLiterals {
        let mut literals = BTreeSet::new();
        let mut parts = Vec::new();
        let mut is_exact = true;
        for node in nodes {
            match self.node(node) {
                NodeLiterals::Exact(more) => {
                    parts.push(Requirement::one_of(more.clone()));
                    literals.extend(more);
                }
                NodeLiterals::Inexact(requirement) => {
                    is_exact = false;
                    parts.push(requirement);
                }
            }
        }
        if is_exact && literals.len() <= self.max_literals {
            NodeLiterals::Exact(literals)
        } else {
            NodeLiterals::Inexact(Requirement::Any(parts))
        }
    }
}
