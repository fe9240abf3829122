//! A walk over a text that follows all threads of a program at once, and counts each step: it takes
//! at most one step for each instruction at each letter, however the pattern is nested.

use std::ops::Range;

use regex_syntax::hir::Look;

use crate::fuel::{Exhausted, Fuel};
use crate::program::{Instruction, Place, Program, Table};

/// For each place between letters, by its offset in bytes, whether a group matches there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    fn new(text: &str) -> Self {
        Self(vec![0; text.len() / 64 + 1])
    }

    fn set(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    fn get(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }
}

/// Threads at one place of a text, each once, in the order of their rank.
#[derive(Clone, Debug, Default)]
struct Threads {
    /// Where each is in the program, and where its match began.
    ranked: Vec<(Place, usize)>,
    /// The round in which an instruction was met last.
    met: Vec<u32>,
    round: u32,
}

impl Threads {
    fn clear(&mut self, instructions: usize) {
        self.ranked.clear();
        self.met.resize(instructions, 0);
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            self.met.fill(0);
            1
        });
    }

    fn meets(&mut self, place: Place) -> bool {
        let round = self.round;
        self.met.get_mut(place as usize).is_some_and(|met| std::mem::replace(met, round) != round)
    }
}

/// What walks need, kept between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    now: Threads,
    next: Threads,
    stack: Vec<Place>,
    tables: Vec<Bits>,
}

/// A text that a program walks over.
pub(crate) struct Walk<'w> {
    program: &'w Program,
    text: &'w str,
    room: &'w mut Room,
}

impl<'w> Walk<'w> {
    /// Finds out first where groups match that look around.
    pub(crate) fn new(
        program: &'w Program,
        text: &'w str,
        room: &'w mut Room,
        fuel: &mut Fuel,
    ) -> Result<Self, Exhausted> {
        room.tables.clear();
        let mut walk = Self { program, text, room };
        for table in &program.tables {
            let bits = walk.table(table, fuel)?;
            walk.room.tables.push(bits);
        }
        Ok(walk)
    }

    /// The first match from `from` on, and of those that begin there the one that the pattern
    /// prefers.
    pub(crate) fn find(
        &mut self,
        from: usize,
        fuel: &mut Fuel,
    ) -> Result<Option<Range<usize>>, Exhausted> {
        let instructions = self.program.instructions.len();
        self.room.now.clear(instructions);
        let (mut at, mut found) = (from, None);
        loop {
            if found.is_none() {
                self.follow(self.program.start, at, at, fuel)?;
            } else if self.room.now.ranked.is_empty() {
                return Ok(found);
            }
            let letter = after(self.text, at);
            let beyond = at + letter.map_or(0, char::len_utf8);
            let threads = std::mem::take(&mut self.room.now.ranked);
            std::mem::swap(&mut self.room.now, &mut self.room.next);
            self.room.now.clear(instructions);
            for (place, began) in &threads {
                match self.program.instructions.get(*place as usize) {
                    Some(Instruction::Match) => {
                        found = Some(*began..at);
                        break;
                    }
                    Some(Instruction::Letter(class, next)) if self.takes(*class, letter) => {
                        self.follow(*next, beyond, *began, fuel)?;
                    }
                    _ => {}
                }
            }
            self.room.next.ranked = threads;
            if letter.is_none() {
                return Ok(found);
            }
            at = beyond;
        }
    }

    fn takes(&self, class: u32, letter: Option<char>) -> bool {
        let letters = self.program.letters.get(class as usize);
        letter.zip(letters).is_some_and(|(letter, letters)| letters.contains(letter))
    }

    /// Adds the threads that go on from `start` without taking a letter at `at`.
    fn follow(
        &mut self,
        start: Place,
        at: usize,
        began: usize,
        fuel: &mut Fuel,
    ) -> Result<(), Exhausted> {
        let mut stack = std::mem::take(&mut self.room.stack);
        stack.clear();
        stack.push(start);
        while let Some(place) = stack.pop() {
            fuel.take(1)?;
            if !self.room.now.meets(place) {
                continue;
            }
            match self.program.instructions.get(place as usize) {
                Some(Instruction::Split(first, second)) => stack.extend([*second, *first]),
                Some(Instruction::Look(look, next)) if holds(*look, self.text, at) => {
                    stack.push(*next)
                }
                Some(Instruction::Around { table, negative, next }) => {
                    let matches =
                        self.room.tables.get(*table as usize).is_some_and(|table| table.get(at));
                    stack.extend((matches != *negative).then_some(*next));
                }
                Some(Instruction::Letter(..) | Instruction::Match) => {
                    self.room.now.ranked.push((place, began))
                }
                _ => {}
            }
        }
        self.room.stack = stack;
        Ok(())
    }

    /// Every place at which the group matches: what begins there if it looks ahead, what ends there
    /// if it looks behind.
    fn table(&mut self, table: &Table, fuel: &mut Fuel) -> Result<Bits, Exhausted> {
        let (instructions, mut bits) = (self.program.instructions.len(), Bits::new(self.text));
        self.room.now.clear(instructions);
        let mut at = if table.backwards { self.text.len() } else { 0 };
        loop {
            self.follow(table.start, at, 0, fuel)?;
            let letter = if table.backwards { before(self.text, at) } else { after(self.text, at) };
            let width = letter.map_or(0, char::len_utf8);
            let beyond = if table.backwards { at - width } else { at + width };
            let threads = std::mem::take(&mut self.room.now.ranked);
            std::mem::swap(&mut self.room.now, &mut self.room.next);
            self.room.now.clear(instructions);
            for (place, _) in &threads {
                match self.program.instructions.get(*place as usize) {
                    Some(Instruction::Match) => bits.set(at),
                    Some(Instruction::Letter(class, next)) if self.takes(*class, letter) => {
                        self.follow(*next, beyond, 0, fuel)?;
                    }
                    _ => {}
                }
            }
            self.room.next.ranked = threads;
            if letter.is_none() {
                return Ok(bits);
            }
            at = beyond;
        }
    }
}

fn before(text: &str, at: usize) -> Option<char> {
    text.get(..at).and_then(|before| before.chars().next_back())
}

fn after(text: &str, at: usize) -> Option<char> {
    text.get(at..).and_then(|rest| rest.chars().next())
}

/// Whether what is asked of a place holds there.
pub(super) fn holds(look: Look, text: &str, at: usize) -> bool {
    let (before, after) = (before(text, at), after(text, at));
    let (word, ascii) = (is_word, |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_ascii() && word_letter(letter))
    });
    match look {
        Look::Start => before.is_none(),
        Look::End => after.is_none(),
        Look::StartLF => before.is_none_or(|letter| letter == '\n'),
        Look::EndLF => after.is_none_or(|letter| letter == '\n'),
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
        Look::WordUnicode => word(before) != word(after),
        Look::WordUnicodeNegate => word(before) == word(after),
        Look::WordStartAscii => !ascii(before) && ascii(after),
        Look::WordEndAscii => ascii(before) && !ascii(after),
        Look::WordStartUnicode => !word(before) && word(after),
        Look::WordEndUnicode => word(before) && !word(after),
        Look::WordStartHalfAscii => !ascii(before),
        Look::WordEndHalfAscii => !ascii(after),
        Look::WordStartHalfUnicode => !word(before),
        Look::WordEndHalfUnicode => !word(after),
    }
}

fn is_word(letter: Option<char>) -> bool {
    letter.is_some_and(word_letter)
}

fn word_letter(letter: char) -> bool {
    regex_syntax::try_is_word_character(letter).unwrap_or_default()
}
