//! Programs of the Pike VM: instructions for one thread among many (Thompson, 1968).

use std::collections::HashMap;

use regex_syntax::hir::Look;

use crate::syntax::LookAround;
use crate::tree::Node;

/// The most instructions of one pattern, look-arounds included.
const MAX_INSTRUCTIONS: usize = 20_000;

/// The index of an instruction.
pub(crate) type Address = u32;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Instruction {
    /// Consumes a character of the class with this index.
    Char(u32, Address),
    /// Continues at both addresses, the first with priority.
    Split(Address, Address),
    Look(Look, Address),
    /// Notes the position in this slot: the start of group n is in slot 2n, its end after it.
    Save(usize, Address),
    /// Continues if the look-around program with this index matches here, or if it does not.
    LookAround {
        index: u32,
        negative: bool,
        next: Address,
    },
    Match,
}

/// A class of characters, with a bitmap of the ASCII ones.
#[derive(Clone, Debug)]
pub(crate) struct CharClass {
    ascii: u128,
    ranges: Vec<(char, char)>,
}

impl CharClass {
    fn new(ranges: &[(char, char)]) -> Self {
        debug_assert!(ranges.is_sorted(), "`contains` searches the ranges by bisection");
        let ascii = ranges.iter().take_while(|(from, _)| from.is_ascii());
        let ascii = ascii.flat_map(|(from, to)| *from..=(*to).min('\u{7f}'));
        let ascii = ascii.fold(0, |bits, char| bits | 1 << u32::from(char));
        Self { ascii, ranges: ranges.to_vec() }
    }

    pub(crate) fn contains(&self, char: char) -> bool {
        if char.is_ascii() {
            return self.ascii >> u32::from(char) & 1 == 1;
        }
        let following = self.ranges.partition_point(|(from, _)| *from <= char);
        let range = following.checked_sub(1).and_then(|index| self.ranges.get(index));
        range.is_some_and(|(_, to)| char <= *to)
    }
}

/// The program of a look-around. It runs over the whole text once, before the programs that contain
/// it, and finds every position where it matches.
#[derive(Clone, Debug)]
pub(crate) struct LookAroundProgram {
    pub(crate) start: Address,
    /// Whether it runs from the end of the text: a look-ahead, whose matches begin at a position.
    pub(crate) backward: bool,
}

/// The programs of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) classes: Vec<CharClass>,
    /// Inner look-arounds come before those that contain them.
    pub(crate) look_arounds: Vec<LookAroundProgram>,
    pub(crate) start: Address,
}

/// The pattern needs more instructions than a program may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProgramTooLarge {
    pub(crate) max_instructions: usize,
}

impl Program {
    pub(crate) fn new(tree: &Node, look_arounds: &[LookAround]) -> Result<Self, ProgramTooLarge> {
        Self::compile(tree, look_arounds, false)
    }

    /// A program that notes where groups match, except those within look-arounds.
    pub(crate) fn with_groups(
        tree: &Node,
        look_arounds: &[LookAround],
    ) -> Result<Self, ProgramTooLarge> {
        Self::compile(tree, look_arounds, true)
    }

    fn compile(
        tree: &Node,
        look_arounds: &[LookAround],
        saves: bool,
    ) -> Result<Self, ProgramTooLarge> {
        let program = Self {
            instructions: Vec::new(),
            classes: Vec::new(),
            look_arounds: Vec::new(),
            start: 0,
        };
        let mut compiler = Compiler {
            program,
            look_arounds,
            compiled: HashMap::new(),
            class_indices: HashMap::new(),
            backward: false,
            saves,
        };
        let end = compiler.push(Instruction::Match)?;
        let start = compiler.node(tree, end)?;
        Ok(Self { start, ..compiler.program })
    }
}

struct Compiler<'a> {
    program: Program,
    look_arounds: &'a [LookAround],
    /// Look-arounds that were compiled. A counted repetition contains one several times.
    compiled: HashMap<usize, u32>,
    class_indices: HashMap<Vec<(char, char)>, u32>,
    /// Whether the current program consumes the text from its end.
    backward: bool,
    /// Whether groups are noted.
    saves: bool,
}

impl Compiler<'_> {
    fn push(&mut self, instruction: Instruction) -> Result<Address, ProgramTooLarge> {
        let too_large = ProgramTooLarge { max_instructions: MAX_INSTRUCTIONS };
        let address = self.program.instructions.len();
        if address >= MAX_INSTRUCTIONS {
            return Err(too_large);
        }
        self.program.instructions.push(instruction);
        Address::try_from(address).map_err(|_| too_large)
    }

    /// Compiles `node` followed by `next`, and returns where it starts.
    fn node(&mut self, node: &Node, next: Address) -> Result<Address, ProgramTooLarge> {
        match node {
            Node::Class(ranges) => {
                let class = self.class(ranges);
                self.push(Instruction::Char(class, next))
            }
            Node::Look(look) => self.push(Instruction::Look(*look, next)),
            Node::LookAround(index, inner) => {
                let negative = self.look_arounds.get(*index).is_some_and(|group| group.negative);
                let index = self.look_around(*index, inner)?;
                self.push(Instruction::LookAround { index, negative, next })
            }
            // Code is emitted from the end of the match to its start.
            Node::Concat(nodes) if self.backward => {
                nodes.iter().try_fold(next, |next, node| self.node(node, next))
            }
            Node::Concat(nodes) => {
                nodes.iter().rev().try_fold(next, |next, node| self.node(node, next))
            }
            Node::Alternation(nodes) => self.alternation(nodes, next),
            Node::Group(group, node) if self.saves => {
                let end = self.push(Instruction::Save(2 * group.number + 1, next))?;
                let body = self.node(node, end)?;
                self.push(Instruction::Save(2 * group.number, body))
            }
            Node::Group(_, node) => self.node(node, next),
            Node::Repetition { min, max, greedy, node } => {
                let (mut start, copies) = match (max, min) {
                    (Some(max), _) => {
                        (self.optional(node, max.saturating_sub(*min), *greedy, next)?, *min)
                    }
                    (None, 0) => {
                        let body = self.once_or_more(node, *greedy, next)?;
                        (self.push(Self::split(body, next, *greedy))?, 0)
                    }
                    (None, _) => (self.once_or_more(node, *greedy, next)?, *min - 1),
                };
                for _ in 0..copies {
                    start = self.node(node, start)?;
                }
                Ok(start)
            }
        }
    }

    fn alternation(&mut self, nodes: &[Node], next: Address) -> Result<Address, ProgramTooLarge> {
        let mut start = None;
        for node in nodes.iter().rev() {
            let alternative = self.node(node, next)?;
            start = Some(match start {
                None => alternative,
                Some(rest) => self.push(Instruction::Split(alternative, rest))?,
            });
        }
        Ok(start.unwrap_or(next))
    }

    fn split(body: Address, next: Address, greedy: bool) -> Instruction {
        if greedy { Instruction::Split(body, next) } else { Instruction::Split(next, body) }
    }

    fn optional(
        &mut self,
        node: &Node,
        times: u32,
        greedy: bool,
        next: Address,
    ) -> Result<Address, ProgramTooLarge> {
        let mut start = next;
        for _ in 0..times {
            let body = self.node(node, start)?;
            start = self.push(Self::split(body, next, greedy))?;
        }
        Ok(start)
    }

    /// The decision to repeat comes after the body, so that an iteration that consumes nothing
    /// ends the loop.
    fn once_or_more(
        &mut self,
        node: &Node,
        greedy: bool,
        next: Address,
    ) -> Result<Address, ProgramTooLarge> {
        // A placeholder, until the start of the body is known.
        let decision = self.push(Instruction::Match)?;
        let body = self.node(node, decision)?;
        if let Some(instruction) = self.program.instructions.get_mut(decision as usize) {
            *instruction = Self::split(body, next, greedy);
        }
        Ok(body)
    }

    fn class(&mut self, ranges: &[(char, char)]) -> u32 {
        if let Some(index) = self.class_indices.get(ranges) {
            return *index;
        }
        let index = index_of_next(self.program.classes.len());
        self.program.classes.push(CharClass::new(ranges));
        self.class_indices.insert(ranges.to_vec(), index);
        index
    }

    fn look_around(&mut self, group: usize, inner: &Node) -> Result<u32, ProgramTooLarge> {
        if let Some(index) = self.compiled.get(&group) {
            return Ok(*index);
        }
        let backward = self.look_arounds.get(group).is_some_and(|group| group.ahead);
        let outer = std::mem::replace(&mut self.backward, backward);
        // Each look-around runs once over the whole text, apart from any match.
        let saves = std::mem::take(&mut self.saves);
        let end = self.push(Instruction::Match)?;
        let start = self.node(inner, end)?;
        (self.backward, self.saves) = (outer, saves);
        let index = index_of_next(self.program.look_arounds.len());
        self.program.look_arounds.push(LookAroundProgram { start, backward });
        self.compiled.insert(group, index);
        Ok(index)
    }
}

/// The index of an element that is appended to a list no longer than the program.
fn index_of_next(length: usize) -> u32 {
    debug_assert!(length <= MAX_INSTRUCTIONS, "each element belongs to an instruction");
    u32::try_from(length).unwrap_or(u32::MAX)
}
