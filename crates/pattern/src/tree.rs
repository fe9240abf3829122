//! A pattern as a tree of what has to be matched. Its depth is bounded by the nesting that the
//! parser allows: walks over it recurse.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use crate::syntax::{Around, Fault, Parsed, marked};

/// What has to be matched.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// One letter of these ranges; of none, nothing is.
    Letter(Vec<(char, char)>),
    Look(Look),
    /// A group that looks around, by its number.
    Around(usize, Box<Node>),
    Sequence(Vec<Node>),
    /// The first of these that leads to a match.
    Choice(Vec<Node>),
    Repeat {
        least: u32,
        most: Option<u32>,
        greedy: bool,
        node: Box<Node>,
    },
}

/// The tree of a pattern.
pub(crate) fn tree(parsed: &Parsed) -> Result<Node, Fault> {
    let node = node(&parsed.hir);
    check_widths(&node, &parsed.arounds)?;
    Ok(node)
}

fn node(hir: &Hir) -> Node {
    match hir.kind() {
        HirKind::Empty => Node::Sequence(Vec::new()),
        HirKind::Literal(_) | HirKind::Concat(_) => sequence(hir),
        HirKind::Class(Class::Unicode(class)) => {
            Node::Letter(class.iter().map(|range| (range.start(), range.end())).collect())
        }
        HirKind::Class(Class::Bytes(class)) => Node::Letter(
            class
                .iter()
                .map(|range| (char::from(range.start()), char::from(range.end())))
                .collect(),
        ),
        HirKind::Look(look) => Node::Look(*look),
        HirKind::Repetition(repetition) => Node::Repeat {
            least: repetition.min,
            most: repetition.max,
            greedy: repetition.greedy,
            node: Box::new(node(&repetition.sub)),
        },
        HirKind::Capture(capture) => node(&capture.sub),
        HirKind::Alternation(choices) => Node::Choice(choices.iter().map(node).collect()),
    }
}

/// Puts what stands between two marks into a group that looks around.
fn sequence(hir: &Hir) -> Node {
    let mut open = vec![(None, Vec::new())];
    let items = match hir.kind() {
        HirKind::Concat(items) => items.as_slice(),
        _ => std::slice::from_ref(hir),
    };
    for item in items {
        if let HirKind::Literal(literal) = item.kind() {
            String::from_utf8_lossy(&literal.0)
                .chars()
                .for_each(|letter| add_letter(&mut open, letter));
        } else if let Some((_, nodes)) = open.last_mut() {
            nodes.push(node(item));
        }
    }
    let mut nodes = open.into_iter().flat_map(|(_, nodes)| nodes).collect::<Vec<_>>();
    match (nodes.len(), nodes.pop()) {
        (1, Some(only)) => only,
        (_, last) => Node::Sequence(nodes.into_iter().chain(last).collect()),
    }
}

fn add_letter(open: &mut Vec<(Option<usize>, Vec<Node>)>, letter: char) {
    let add = |open: &mut Vec<(Option<usize>, Vec<Node>)>, node| {
        if let Some((_, nodes)) = open.last_mut() {
            nodes.push(node);
        }
    };
    match marked(letter) {
        Some((group, false)) => open.push((Some(group), Vec::new())),
        Some((group, true)) if open.last().is_some_and(|(number, _)| *number == Some(group)) => {
            if let Some((_, nodes)) = open.pop() {
                add(open, Node::Around(group, Box::new(Node::Sequence(nodes))));
            }
        }
        _ => add(open, Node::Letter(vec![(letter, letter)])),
    }
}

/// A look-behind matches as many letters whatever they are; each choice at its top for itself.
fn check_widths(node: &Node, arounds: &[Around]) -> Result<(), Fault> {
    match node {
        Node::Letter(_) | Node::Look(_) => Ok(()),
        Node::Sequence(nodes) | Node::Choice(nodes) => {
            nodes.iter().try_for_each(|node| check_widths(node, arounds))
        }
        Node::Repeat { node, .. } => check_widths(node, arounds),
        Node::Around(group, inner) => {
            check_widths(inner, arounds)?;
            let around = arounds.get(*group).filter(|around| !around.ahead);
            let choices = match inner.as_ref() {
                Node::Sequence(nodes) => match nodes.as_slice() {
                    [Node::Choice(choices)] => choices.as_slice(),
                    _ => std::slice::from_ref(inner.as_ref()),
                },
                _ => std::slice::from_ref(inner.as_ref()),
            };
            match around {
                Some(around) if choices.iter().any(|choice| width(choice).is_none()) => {
                    Err(Fault {
                        offset: around.offset,
                        message: "a look-behind needs a fixed width".to_owned(),
                    })
                }
                _ => Ok(()),
            }
        }
    }
}

/// How many letters the node matches, if it is always as many.
fn width(node: &Node) -> Option<u64> {
    match node {
        Node::Letter(_) => Some(1),
        Node::Look(_) | Node::Around(..) => Some(0),
        Node::Sequence(nodes) => nodes.iter().map(width).sum(),
        Node::Choice(nodes) => {
            let mut widths = nodes.iter().map(width);
            let first = widths.next()??;
            widths.all(|width| width == Some(first)).then_some(first)
        }
        Node::Repeat { least, most, node, .. } => {
            let width = width(node)?;
            (*most == Some(*least) || width == 0).then_some(u64::from(*least) * width)
        }
    }
}
