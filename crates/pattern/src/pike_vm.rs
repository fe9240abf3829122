//! The Pike VM: follows all threads of a program in lockstep and counts each step. It takes at most
//! one step for each instruction at each character, however the pattern nests.

use std::ops::Range;

use regex_syntax::hir::Look;

use crate::budget::{BudgetExhausted, StepBudget};
use crate::program::{Address, Instruction, LookAroundProgram, Program};

/// The positions between characters where a look-around matches: a bit for each byte offset.
#[derive(Clone, Debug, Default)]
struct PositionSet(Vec<u64>);

impl PositionSet {
    fn new(text: &str) -> Self {
        Self(vec![0; text.len() / 64 + 1])
    }

    fn insert(&mut self, at: usize) {
        debug_assert!(at / 64 < self.0.len(), "the set covers all offsets of its text");
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    fn contains(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
}

/// Threads at one position, each instruction once, by priority.
#[derive(Clone, Debug, Default)]
struct ThreadList {
    /// Where each thread continues, and where its match starts.
    threads: Vec<(Address, usize)>,
    /// The visited set: the generation in which each instruction was visited last.
    visited: Vec<u32>,
    generation: u32,
}

impl ThreadList {
    fn clear(&mut self, instructions: usize) {
        self.threads.clear();
        self.visited.resize(instructions, 0);
        // A new generation empties the visited set without touching it.
        self.generation = self.generation.checked_add(1).unwrap_or_else(|| {
            self.visited.fill(0);
            1
        });
    }

    /// Marks an instruction as visited. Returns whether it was not before.
    fn visit(&mut self, address: Address) -> bool {
        debug_assert!((address as usize) < self.visited.len(), "addresses are in the program");
        let generation = self.generation;
        let visited = self.visited.get_mut(address as usize);
        visited.is_some_and(|last| std::mem::replace(last, generation) != generation)
    }
}

/// Memory that searches reuse.
#[derive(Clone, Debug, Default)]
pub(crate) struct PikeCache {
    current: ThreadList,
    next: ThreadList,
    stack: Vec<Address>,
    look_arounds: Vec<PositionSet>,
}

/// A program that runs over one text.
pub(crate) struct PikeVm<'w> {
    program: &'w Program,
    text: &'w str,
    cache: &'w mut PikeCache,
}

impl<'w> PikeVm<'w> {
    /// Evaluates all look-arounds.
    pub(crate) fn new(
        program: &'w Program,
        text: &'w str,
        cache: &'w mut PikeCache,
        budget: &mut StepBudget,
    ) -> Result<Self, BudgetExhausted> {
        cache.look_arounds.clear();
        let mut vm = Self { program, text, cache };
        for look_around in &program.look_arounds {
            let positions = vm.positions(look_around, budget)?;
            vm.cache.look_arounds.push(positions);
        }
        Ok(vm)
    }

    /// The first match at or after `from`; of several with the same start the preferred one.
    pub(crate) fn find(
        &mut self,
        from: usize,
        budget: &mut StepBudget,
    ) -> Result<Option<Range<usize>>, BudgetExhausted> {
        debug_assert!(self.text.is_char_boundary(from), "searches start between characters");
        self.cache.current.clear(self.program.instructions.len());
        let mut at = from;
        let mut found = None;
        loop {
            if found.is_none() {
                // A match may also start here, with the least priority.
                self.follow(self.program.start, at, at, budget)?;
            } else if self.cache.current.threads.is_empty() {
                return Ok(found);
            }
            let char = char_after(self.text, at);
            let next_at = at + char.map_or(0, char::len_utf8);
            let threads = self.advance();
            for (address, start) in &threads {
                match self.program.instructions.get(*address as usize) {
                    Some(Instruction::Match) => {
                        found = Some(*start..at);
                        // All further threads have less priority.
                        break;
                    }
                    Some(Instruction::Char(class, next)) if self.consumes(*class, char) => {
                        self.follow(*next, next_at, *start, budget)?;
                    }
                    _ => {}
                }
            }
            self.cache.next.threads = threads;
            if char.is_none() {
                return Ok(found);
            }
            at = next_at;
        }
    }

    /// Takes the current threads, and makes room for those at the next position. The caller gives
    /// the vector back for reuse.
    fn advance(&mut self) -> Vec<(Address, usize)> {
        let threads = std::mem::take(&mut self.cache.current.threads);
        std::mem::swap(&mut self.cache.current, &mut self.cache.next);
        self.cache.current.clear(self.program.instructions.len());
        threads
    }

    pub(crate) fn consumes(&self, class: u32, char: Option<char>) -> bool {
        let class = self.program.classes.get(class as usize);
        char.zip(class).is_some_and(|(char, class)| class.contains(char))
    }

    /// Whether the look-around with this index matches at a position.
    pub(crate) fn look_around_matches(&self, index: u32, at: usize) -> bool {
        let positions = self.cache.look_arounds.get(index as usize);
        debug_assert!(positions.is_some(), "inner look-arounds are evaluated first");
        positions.is_some_and(|positions| positions.contains(at))
    }

    /// Adds the threads that `start` leads to without consuming a character.
    fn follow(
        &mut self,
        start: Address,
        at: usize,
        match_start: usize,
        budget: &mut StepBudget,
    ) -> Result<(), BudgetExhausted> {
        let mut stack = std::mem::take(&mut self.cache.stack);
        stack.clear();
        stack.push(start);
        while let Some(address) = stack.pop() {
            // Counted before the visited set is asked: a step is any arrival at an instruction.
            budget.consume(1)?;
            if !self.cache.current.visit(address) {
                continue;
            }
            match self.program.instructions.get(address as usize) {
                // The preferred branch is popped first.
                Some(Instruction::Split(first, second)) => stack.extend([*second, *first]),
                Some(Instruction::Look(look, next)) if holds(*look, self.text, at) => {
                    stack.push(*next);
                }
                Some(Instruction::Save(_, next)) => stack.push(*next),
                Some(Instruction::LookAround { index, negative, next }) => {
                    let matches = self.look_around_matches(*index, at);
                    stack.extend((matches != *negative).then_some(*next));
                }
                Some(Instruction::Char(..) | Instruction::Match) => {
                    self.cache.current.threads.push((address, match_start));
                }
                _ => {}
            }
        }
        self.cache.stack = stack;
        Ok(())
    }

    /// The positions where matches of a look-ahead start, or matches of a look-behind end.
    fn positions(
        &mut self,
        program: &LookAroundProgram,
        budget: &mut StepBudget,
    ) -> Result<PositionSet, BudgetExhausted> {
        let mut positions = PositionSet::new(self.text);
        self.cache.current.clear(self.program.instructions.len());
        let mut at = if program.backward { self.text.len() } else { 0 };
        loop {
            self.follow(program.start, at, 0, budget)?;
            let (char, next_at) = if program.backward {
                let char = char_before(self.text, at);
                (char, at - char.map_or(0, char::len_utf8))
            } else {
                let char = char_after(self.text, at);
                (char, at + char.map_or(0, char::len_utf8))
            };
            let threads = self.advance();
            for (address, _) in &threads {
                match self.program.instructions.get(*address as usize) {
                    Some(Instruction::Match) => positions.insert(at),
                    Some(Instruction::Char(class, next)) if self.consumes(*class, char) => {
                        self.follow(*next, next_at, 0, budget)?;
                    }
                    _ => {}
                }
            }
            self.cache.next.threads = threads;
            if char.is_none() {
                return Ok(positions);
            }
            at = next_at;
        }
    }
}

fn char_before(text: &str, at: usize) -> Option<char> {
    text.get(..at).and_then(|before| before.chars().next_back())
}

fn char_after(text: &str, at: usize) -> Option<char> {
    text.get(at..).and_then(|rest| rest.chars().next())
}

/// Whether an assertion holds at a position.
pub(crate) fn holds(look: Look, text: &str, at: usize) -> bool {
    let (before, after) = (char_before(text, at), char_after(text, at));
    let ascii = |char: Option<char>| char.is_some_and(|char| char.is_ascii()) && is_word(char);
    match look {
        Look::Start => before.is_none(),
        Look::End => after.is_none(),
        Look::StartLF => before.is_none_or(|char| char == '\n'),
        Look::EndLF => after.is_none_or(|char| char == '\n'),
        Look::StartCRLF => match before {
            None | Some('\n') => true,
            Some('\r') => after != Some('\n'),
            _ => false,
        },
        Look::EndCRLF => match after {
            None | Some('\r') => true,
            Some('\n') => before != Some('\r'),
            _ => false,
        },
        Look::WordAscii => ascii(before) != ascii(after),
        Look::WordAsciiNegate => ascii(before) == ascii(after),
        Look::WordUnicode => is_word(before) != is_word(after),
        Look::WordUnicodeNegate => is_word(before) == is_word(after),
        Look::WordStartAscii => !ascii(before) && ascii(after),
        Look::WordEndAscii => ascii(before) && !ascii(after),
        Look::WordStartUnicode => !is_word(before) && is_word(after),
        Look::WordEndUnicode => is_word(before) && !is_word(after),
        Look::WordStartHalfAscii => !ascii(before),
        Look::WordEndHalfAscii => !ascii(after),
        Look::WordStartHalfUnicode => !is_word(before),
        Look::WordEndHalfUnicode => !is_word(after),
    }
}

fn is_word(char: Option<char>) -> bool {
    // The tables of Unicode word characters are compiled in.
    char.is_some_and(|char| regex_syntax::try_is_word_character(char).unwrap_or(false))
}
