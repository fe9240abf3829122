//! The syntax tree of a pattern. The parser bounds its depth, so functions over it recurse.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use crate::syntax::{LookAround, ParsedPattern, SyntaxError, marked};

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
    let node = node(&pattern.hir);
    check_widths(&node, &pattern.look_arounds)?;
    Ok(node)
}

fn node(hir: &Hir) -> Node {
    match hir.kind() {
        HirKind::Empty => Node::Concat(Vec::new()),
        HirKind::Literal(_) => concat(std::slice::from_ref(hir)),
        HirKind::Concat(items) => concat(items),
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
            node: Box::new(node(&repetition.sub)),
        },
        HirKind::Capture(capture) => {
            // A pattern of limited length has fewer groups than this.
            let number = usize::try_from(capture.index).unwrap_or(usize::MAX);
            let group = CaptureGroup { number, name: capture.name.clone() };
            Node::Group(group, Box::new(node(&capture.sub)))
        }
        HirKind::Alternation(alternatives) => {
            Node::Alternation(alternatives.iter().map(node).collect())
        }
    }
}

/// Nodes of a concatenation; inside of a look-around with its index.
type OpenConcat = (Option<usize>, Vec<Node>);

/// Turns items between two markers into look-arounds.
fn concat(items: &[Hir]) -> Node {
    let mut open: Vec<OpenConcat> = vec![(None, Vec::new())];
    for item in items {
        if let HirKind::Literal(literal) = item.kind() {
            String::from_utf8_lossy(&literal.0).chars().for_each(|char| push_char(&mut open, char));
        } else if let Some((_, nodes)) = open.last_mut() {
            nodes.push(node(item));
        }
    }
    // The parser pairs groups, so the markers of a concatenation are paired.
    debug_assert!(open.len() == 1, "every look-around is closed");
    let mut nodes: Vec<Node> = open.into_iter().flat_map(|(_, nodes)| nodes).collect();
    match nodes.pop() {
        Some(only) if nodes.is_empty() => only,
        last => {
            nodes.extend(last);
            Node::Concat(nodes)
        }
    }
}

fn push_char(open: &mut Vec<OpenConcat>, char: char) {
    let node = match marked(char) {
        Some((index, false)) => {
            open.push((Some(index), Vec::new()));
            return;
        }
        Some((index, true)) => match open.pop_if(|(opened, _)| *opened == Some(index)) {
            Some((_, inner)) => Node::LookAround(index, Box::new(Node::Concat(inner))),
            // A private-use character of a pattern without look-around.
            None => Node::Class(vec![(char, char)]),
        },
        None => Node::Class(vec![(char, char)]),
    };
    if let Some((_, nodes)) = open.last_mut() {
        nodes.push(node);
    }
}

/// Checks that each look-behind, or each of its top-level alternatives, has a fixed width.
fn check_widths(node: &Node, look_arounds: &[LookAround]) -> Result<(), SyntaxError> {
    match node {
        Node::Class(_) | Node::Look(_) => Ok(()),
        Node::Concat(nodes) | Node::Alternation(nodes) => {
            nodes.iter().try_for_each(|node| check_widths(node, look_arounds))
        }
        Node::Repetition { node, .. } | Node::Group(_, node) => check_widths(node, look_arounds),
        Node::LookAround(index, inner) => {
            check_widths(inner, look_arounds)?;
            let Some(behind) = look_arounds.get(*index).filter(|group| !group.ahead) else {
                return Ok(());
            };
            let mut alternatives = std::slice::from_ref(inner.as_ref());
            loop {
                alternatives = match alternatives {
                    [Node::Concat(nodes)] if nodes.len() == 1 => nodes,
                    [Node::Group(_, node)] => std::slice::from_ref(node.as_ref()),
                    [Node::Alternation(nodes)] => break alternatives = nodes,
                    _ => break,
                };
            }
            if alternatives.iter().all(|alternative| width(alternative).is_some()) {
                Ok(())
            } else {
                Err(SyntaxError::new(behind.offset, "a look-behind needs a fixed width"))
            }
        }
    }
}

/// The number of characters that the node matches, if it is fixed.
fn width(node: &Node) -> Option<u64> {
    match node {
        Node::Class(_) => Some(1),
        Node::Look(_) | Node::LookAround(..) => Some(0),
        Node::Concat(nodes) => nodes.iter().map(width).sum(),
        Node::Alternation(nodes) => {
            let mut widths = nodes.iter().map(width);
            let first = widths.next()??;
            widths.all(|width| width == Some(first)).then_some(first)
        }
        Node::Group(_, node) => width(node),
        Node::Repetition { min, max, node, .. } => {
            let width = width(node)?;
            (*max == Some(*min) || width == 0).then_some(u64::from(*min) * width)
        }
    }
}
