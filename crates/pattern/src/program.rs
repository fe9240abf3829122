//! A pattern as a program: what a walk over a text does at each letter, one of many threads at a
//! time (Thompson, 1968).

use std::collections::HashMap;

use regex_syntax::hir::Look;

use crate::row;
use crate::syntax::Around;
use crate::tree::Node;

/// The most instructions that the programs of one pattern may have together.
const LARGEST: usize = 20_000;

/// Where an instruction stands.
pub(crate) type Place = u32;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Instruction {
    /// Takes a letter of the class.
    Letter(u32, Place),
    /// Goes on at both, the first before the second.
    Split(Place, Place),
    Look(Look, Place),
    /// Goes on where the table of a group that looks around says so.
    Around {
        table: u32,
        negative: bool,
        next: Place,
    },
    Match,
}

/// Letters by ranges. Those of ASCII are looked up in bits.
#[derive(Clone, Debug)]
pub(crate) struct Letters {
    ascii: u128,
    ranges: Vec<(char, char)>,
}

impl Letters {
    fn new(ranges: &[(char, char)]) -> Self {
        Self { ascii: row::ascii(ranges), ranges: ranges.to_vec() }
    }

    pub(crate) fn contains(&self, letter: char) -> bool {
        if letter.is_ascii() {
            return self.ascii >> u32::from(letter) & 1 == 1;
        }
        let after = self.ranges.partition_point(|(from, _)| *from <= letter);
        after
            .checked_sub(1)
            .and_then(|index| self.ranges.get(index))
            .is_some_and(|(_, to)| letter <= *to)
    }
}

/// Where a group matches that looks around: found by walking over the text once, before what it
/// stands in.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) start: Place,
    /// Whether it is walked from the end of the text to its start.
    pub(crate) backwards: bool,
}

/// All programs of one pattern.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) letters: Vec<Letters>,
    /// In the order in which they can be filled.
    pub(crate) tables: Vec<Table>,
    pub(crate) start: Place,
}

/// The program would be too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge {
    pub(crate) most: usize,
}

impl Program {
    pub(crate) fn new(tree: &Node, arounds: &[Around]) -> Result<Self, TooLarge> {
        let program =
            Self { instructions: Vec::new(), letters: Vec::new(), tables: Vec::new(), start: 0 };
        let mut compiler =
            Compiler { program, arounds, known: HashMap::new(), classes: HashMap::new() };
        let end = compiler.add(Instruction::Match)?;
        let start = compiler.node(tree, end, false)?;
        Ok(Self { start, ..compiler.program })
    }
}

struct Compiler<'a> {
    program: Program,
    arounds: &'a [Around],
    /// The tables of groups that were met.
    known: HashMap<usize, u32>,
    classes: HashMap<Vec<(char, char)>, u32>,
}

impl Compiler<'_> {
    fn add(&mut self, instruction: Instruction) -> Result<Place, TooLarge> {
        let most = LARGEST;
        let place = self.program.instructions.len();
        if place >= most {
            return Err(TooLarge { most });
        }
        self.program.instructions.push(instruction);
        Place::try_from(place).map_err(|_| TooLarge { most })
    }

    fn set(&mut self, place: Place, instruction: Instruction) {
        if let Some(found) = self.program.instructions.get_mut(place as usize) {
            *found = instruction;
        }
    }

    /// What matches `node` and then goes on at `next`; letter by letter from the right if it is
    /// walked backwards.
    fn node(&mut self, node: &Node, next: Place, backwards: bool) -> Result<Place, TooLarge> {
        match node {
            Node::Letter(ranges) => {
                let class = self.class(ranges);
                self.add(Instruction::Letter(class, next))
            }
            Node::Look(look) => self.add(Instruction::Look(*look, next)),
            Node::Around(group, inner) => {
                let table = self.table(*group, inner)?;
                let negative = self.arounds.get(*group).is_some_and(|around| around.negative);
                self.add(Instruction::Around { table, negative, next })
            }
            // What comes last is made first.
            Node::Sequence(nodes) if backwards => {
                nodes.iter().try_fold(next, |next, node| self.node(node, next, backwards))
            }
            Node::Sequence(nodes) => {
                nodes.iter().rev().try_fold(next, |next, node| self.node(node, next, backwards))
            }
            Node::Choice(nodes) => self.choice(nodes, next, backwards),
            Node::Repeat { least, most, greedy, node } => {
                let (mut start, copies) = match (most, least) {
                    (Some(most), _) => (
                        self.optional(node, most.saturating_sub(*least), *greedy, next, backwards)?,
                        *least,
                    ),
                    (None, 0) => {
                        let body = self.once_or_more(node, *greedy, next, backwards)?;
                        (self.add(Self::split(body, next, *greedy))?, 0)
                    }
                    (None, _) => (self.once_or_more(node, *greedy, next, backwards)?, *least - 1),
                };
                for _ in 0..copies {
                    start = self.node(node, start, backwards)?;
                }
                Ok(start)
            }
        }
    }

    fn choice(&mut self, nodes: &[Node], next: Place, backwards: bool) -> Result<Place, TooLarge> {
        let mut start = None;
        for node in nodes.iter().rev() {
            let choice = self.node(node, next, backwards)?;
            start = Some(match start {
                None => choice,
                Some(rest) => self.add(Instruction::Split(choice, rest))?,
            });
        }
        Ok(start.unwrap_or(next))
    }

    fn split(body: Place, next: Place, greedy: bool) -> Instruction {
        if greedy { Instruction::Split(body, next) } else { Instruction::Split(next, body) }
    }

    fn optional(
        &mut self,
        node: &Node,
        times: u32,
        greedy: bool,
        next: Place,
        backwards: bool,
    ) -> Result<Place, TooLarge> {
        let mut start = next;
        for _ in 0..times {
            let body = self.node(node, start, backwards)?;
            start = self.add(Self::split(body, next, greedy))?;
        }
        Ok(start)
    }

    /// A loop is left at its end alone, so that a turn that takes nothing ends it.
    fn once_or_more(
        &mut self,
        node: &Node,
        greedy: bool,
        next: Place,
        backwards: bool,
    ) -> Result<Place, TooLarge> {
        let end = self.add(Instruction::Match)?;
        let body = self.node(node, end, backwards)?;
        self.set(end, Self::split(body, next, greedy));
        Ok(body)
    }

    fn class(&mut self, ranges: &[(char, char)]) -> u32 {
        if let Some(class) = self.classes.get(ranges) {
            return *class;
        }
        // There are no more classes than instructions.
        let class = u32::try_from(self.program.letters.len()).unwrap_or(u32::MAX);
        self.program.letters.push(Letters::new(ranges));
        self.classes.insert(ranges.to_vec(), class);
        class
    }

    /// A group that is repeated by number has one table.
    fn table(&mut self, group: usize, inner: &Node) -> Result<u32, TooLarge> {
        if let Some(table) = self.known.get(&group) {
            return Ok(*table);
        }
        let backwards = self.arounds.get(group).is_some_and(|around| around.ahead);
        let end = self.add(Instruction::Match)?;
        let start = self.node(inner, end, backwards)?;
        let table = u32::try_from(self.program.tables.len()).unwrap_or(u32::MAX);
        self.program.tables.push(Table { start, backwards });
        self.known.insert(group, table);
        Ok(table)
    }
}
