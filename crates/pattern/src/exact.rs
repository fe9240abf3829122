//! Patterns that are as good as a few letters in a row, each of its class: where some of these are
//! found, it is told at once whether the others stand beside them, without an automaton.

use regex_syntax::hir::Look;

use crate::row::{ByByte, LONGEST, Row, Set, ascii};
use crate::tree::Node;

/// Whether there has to be a border of a word.
type Border = bool;

/// Letters in a row, and what holds at places between them.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    letters: ByByte,
    /// Behind how many of the letters each looks.
    looks: Vec<(usize, Border)>,
    /// Behind how many of them the row begins that is sought.
    sought: usize,
}

impl Exact {
    /// None if the pattern is something else, or if this is not a part of it.
    pub(crate) fn of(tree: &Node, sought: &Row) -> Option<Self> {
        let mut nodes = Vec::new();
        flatten(tree, &mut nodes);
        let mut nodes = nodes.as_slice();
        // Where something may be repeated at an end, the shortest match has it as seldom as may be:
        // it is a part of the others.
        while let [Node::Repeat { least: 0, node, .. }, rest @ ..]
        | [rest @ .., Node::Repeat { least: 0, node, .. }] = nodes
            && matches!(**node, Node::Letter(_))
        {
            nodes = rest;
        }
        let (last, mut sets, mut looks) = (nodes.len().checked_sub(1)?, Vec::new(), Vec::new());
        for (number, node) in nodes.iter().enumerate() {
            match node {
                Node::Letter(ranges) => sets.push(ascii(ranges)),
                Node::Look(look) if is_at_words(*look) => {
                    looks.push((sets.len(), !is_negated(*look)))
                }
                Node::Repeat { least, most, node, .. }
                    if number == 0 || number == last || Some(*least) == *most =>
                {
                    let Node::Letter(ranges) = node.as_ref() else { return None };
                    let times = usize::try_from(*least).ok().filter(|times| *times <= LONGEST)?;
                    sets.extend(std::iter::repeat_n::<Set>(ascii(ranges), times));
                }
                _ => return None,
            }
        }
        // However often a pattern says it, it is looked at once.
        looks.sort_unstable();
        looks.dedup();
        let sought = sets.windows(sought.sets().len()).position(|sets| sets == sought.sets())?;
        Some(Self { letters: ByByte::of(&sets)?, looks, sought })
    }

    /// Whether a text of ASCII has a match around this place, where the row that is sought begins.
    pub(crate) fn is_at(&self, text: &[u8], place: usize) -> bool {
        let Some(start) = place.checked_sub(self.sought) else { return false };
        if !self.letters.is_at(text.get(start..).unwrap_or_default()) {
            return false;
        }
        self.looks.iter().all(|(number, border)| {
            let at = start + number;
            let before = is_word(at.checked_sub(1).and_then(|before| text.get(before)));
            *border == (before != is_word(text.get(at)))
        })
    }
}

const fn is_at_words(look: Look) -> bool {
    matches!(
        look,
        Look::WordAscii | Look::WordAsciiNegate | Look::WordUnicode | Look::WordUnicodeNegate
    )
}

const fn is_negated(look: Look) -> bool {
    matches!(look, Look::WordAsciiNegate | Look::WordUnicodeNegate)
}

fn is_word(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// The parts that have to be matched one after the other. A tree nests no deeper than a pattern.
fn flatten<'n>(node: &'n Node, parts: &mut Vec<&'n Node>) {
    match node {
        Node::Sequence(nodes) => nodes.iter().for_each(|node| flatten(node, parts)),
        node => parts.push(node),
    }
}
