//! The syntax tree of a pattern. The parser bounds its depth, so functions over it recurse.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use crate::syntax::{Capture, LookAround, ParsedPattern, SyntaxError};

#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// One character of these ranges; none matches if they are empty.
    Class(Vec<(char, char)>),
    Look(Look),
    /// A look-around by its index.
    LookAround(usize, Box<Node>),
    Concat(Vec<Node>),
    /// The first alternative that leads to a match.
    Alternation(Vec<Node>),
    Repetition {
        min: u32,
        max: Option<u32>,
        greedy: bool,
        node: Box<Node>,
    },
    /// A group whose text a replacement may have.
    Group(CaptureGroup, Box<Node>),
}

/// A capturing group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CaptureGroup {
    /// Groups are numbered from 1, by their opening parentheses.
    pub(crate) number: usize,
    pub(crate) name: Option<Box<str>>,
}

/// The syntax tree of a pattern. Refuses look-behinds whose width varies.
pub(crate) fn tree(pattern: &ParsedPattern) -> Result<Node, SyntaxError> {
    let node = node(pattern, &pattern.hir);
    check_widths(&node, &pattern.look_arounds)?;
    Ok(node)
}

fn node(pattern: &ParsedPattern, hir: &Hir) -> Node {
    let flat = |part| match node(pattern, part) {
        Node::Concat(nodes) => nodes,
        single => vec![single],
    };
    match hir.kind() {
        HirKind::Empty => Node::Concat(Vec::new()),
        HirKind::Literal(literal) => literal_node(&literal.0),
        HirKind::Concat(parts) => Node::Concat(parts.iter().flat_map(flat).collect()),
        HirKind::Class(Class::Unicode(class)) => {
            Node::Class(class.iter().map(|range| (range.start(), range.end())).collect())
        }
        HirKind::Class(Class::Bytes(class)) => {
            let range = |range: &regex_syntax::hir::ClassBytesRange| {
                (char::from(range.start()), char::from(range.end()))
            };
            Node::Class(class.iter().map(range).collect())
        }
        HirKind::Look(look) => Node::Look(*look),
        HirKind::Repetition(repetition) => Node::Repetition {
            min: repetition.min,
            max: repetition.max,
            greedy: repetition.greedy,
            node: Box::new(node(pattern, &repetition.sub)),
        },
        HirKind::Capture(capture) => {
            let inner = Box::new(node(pattern, &capture.sub));
            match pattern.capture(capture.index) {
                Capture::LookAround(index) => Node::LookAround(index, inner),
                Capture::Group(number) => {
                    Node::Group(CaptureGroup { number, name: capture.name.clone() }, inner)
                }
            }
        }
        HirKind::Alternation(alternatives) => {
            Node::Alternation(alternatives.iter().map(|hir| node(pattern, hir)).collect())
        }
    }
}

/// The characters of a literal, which the parser keeps as UTF-8.
fn literal_node(literal: &[u8]) -> Node {
    let char = |char| Node::Class(vec![(char, char)]);
    let mut chars: Vec<_> = String::from_utf8_lossy(literal).chars().map(char).collect();
    if chars.len() == 1 { chars.remove(0) } else { Node::Concat(chars) }
}

/// Checks that repetitions do not vary the width of a look-behind. Its alternatives may: the
/// parser moves a common beginning out of them, and a program finds matches of any width.
fn check_widths(node: &Node, look_arounds: &[LookAround]) -> Result<(), SyntaxError> {
    match node {
        Node::Class(_) | Node::Look(_) => Ok(()),
        Node::Concat(nodes) | Node::Alternation(nodes) => {
            nodes.iter().try_for_each(|node| check_widths(node, look_arounds))
        }
        Node::Repetition { node, .. } | Node::Group(_, node) => check_widths(node, look_arounds),
        Node::LookAround(index, inner) => {
            check_widths(inner, look_arounds)?;
            match look_arounds.get(*index) {
                Some(behind) if !behind.ahead && !has_fixed_repetitions(inner) => {
                    Err(SyntaxError::new(behind.offset, "a look-behind needs a fixed width"))
                }
                _ => Ok(()),
            }
        }
    }
}

fn has_fixed_repetitions(node: &Node) -> bool {
    match node {
        Node::Class(_) | Node::Look(_) | Node::LookAround(..) => true,
        Node::Concat(nodes) | Node::Alternation(nodes) => nodes.iter().all(has_fixed_repetitions),
        Node::Group(_, node) => has_fixed_repetitions(node),
        Node::Repetition { min, max, node, .. } => {
            is_empty(node) || (*max == Some(*min) && has_fixed_repetitions(node))
        }
    }
}

/// Whether the node matches nothing but the empty text.
fn is_empty(node: &Node) -> bool {
    match node {
        Node::Class(_) => false,
        Node::Look(_) | Node::LookAround(..) => true,
        Node::Concat(nodes) | Node::Alternation(nodes) => nodes.iter().all(is_empty),
        Node::Group(_, node) | Node::Repetition { node, .. } => is_empty(node),
    }
}
