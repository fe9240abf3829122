//! Where the groups of a pattern match, within a match that is known: a backtracking search that
//! visits each instruction once at each character (the bit-state search of RE2), so that it costs
//! no more than the search for the match did.

use std::ops::Range;

use crate::budget::{BudgetExhausted, StepBudget};
use crate::pike_vm::{PikeVm, holds};
use crate::program::{Address, Instruction, Program};

/// A way that is still to be tried, or a slot to be restored on the way back.
enum Pending {
    Try(Address, usize),
    Restore(usize, Option<usize>),
}

/// A search of one text for the groups of its matches.
pub(crate) struct CaptureSearch<'s> {
    program: &'s Program,
    text: &'s str,
    /// With the positions of look-arounds.
    vm: PikeVm<'s>,
    slots: usize,
}

impl<'s> CaptureSearch<'s> {
    pub(crate) const fn new(
        program: &'s Program,
        text: &'s str,
        vm: PikeVm<'s>,
        groups: usize,
    ) -> Self {
        Self { program, text, vm, slots: 2 * (groups + 1) }
    }

    /// The range of each group in a match, by number; that of group 0 is the match. A group that
    /// did not take part has none.
    pub(crate) fn groups(
        &self,
        found: Range<usize>,
        budget: &mut StepBudget,
    ) -> Result<Vec<Option<Range<usize>>>, BudgetExhausted> {
        let width = found.len() + 1;
        let states = self.program.instructions.len().saturating_mul(width);
        // A bit of memory for each step that the search may take, so the budget bounds both.
        budget.consume(u64::try_from(states / 64).unwrap_or(u64::MAX))?;
        let mut visited = vec![0_u64; states / 64 + 1];
        let mut slots = vec![None; self.slots];
        let mut pending = vec![Pending::Try(self.program.start, found.start)];
        while let Some(next) = pending.pop() {
            let (address, at) = match next {
                Pending::Restore(slot, before) => {
                    if let Some(slot) = slots.get_mut(slot) {
                        *slot = before;
                    }
                    continue;
                }
                Pending::Try(address, at) => (address, at),
            };
            budget.consume(1)?;
            let state = address as usize * width + (at - found.start);
            debug_assert!(state < states, "state {state} of {states} has a bit");
            let Some(word) = visited.get_mut(state / 64) else { continue };
            let bit = 1 << (state % 64);
            if std::mem::replace(word, *word | bit) & bit != 0 {
                continue;
            }
            match self.program.instructions.get(address as usize) {
                Some(Instruction::Match) if at == found.end => {
                    break;
                }
                Some(Instruction::Char(class, next)) => {
                    let char = self.text.get(at..).and_then(|rest| rest.chars().next());
                    if let Some(char) = char.filter(|_| at < found.end)
                        && self.vm.consumes(*class, Some(char))
                    {
                        pending.push(Pending::Try(*next, at + char.len_utf8()));
                    }
                }
                // The preferred branch is popped first.
                Some(Instruction::Split(first, second)) => {
                    pending.extend([Pending::Try(*second, at), Pending::Try(*first, at)]);
                }
                Some(Instruction::Look(look, next)) if holds(*look, self.text, at) => {
                    pending.push(Pending::Try(*next, at));
                }
                Some(Instruction::LookAround { index, negative, next })
                    if self.vm.look_around_matches(*index, at) != *negative =>
                {
                    pending.push(Pending::Try(*next, at));
                }
                Some(Instruction::Save(slot, next)) => {
                    if let Some(value) = slots.get_mut(*slot) {
                        pending.push(Pending::Restore(*slot, value.replace(at)));
                    }
                    pending.push(Pending::Try(*next, at));
                }
                _ => {}
            }
        }
        let mut groups: Vec<_> = slots
            .chunks_exact(2)
            .map(|pair| match pair {
                [Some(start), Some(end)] => Some(*start..*end),
                _ => None,
            })
            .collect();
        if let Some(whole) = groups.first_mut() {
            *whole = Some(found);
        }
        Ok(groups)
    }
}
