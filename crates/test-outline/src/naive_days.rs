//! Daily notes of the naive space, created by the first write to their day.

use leafbase_model::{
    BlockData, BlockDraft, Day, DayRef, DocumentId, Location, Position, PositionTarget, Result,
    TaskPatch, Timestamp,
};

use crate::naive::By;
use crate::{Broken, NaiveDocument, NaiveSpace};

impl NaiveSpace {
    pub(crate) fn today(&self, now: Timestamp) -> Day {
        if self.breaks(Broken::TodayIsThatOfUtc) { now.day_utc() } else { self.day_of(now) }
    }

    pub(crate) fn resolve(&self, day: DayRef, now: Timestamp) -> Day {
        let today = self.today(now).epoch_days();
        match day {
            DayRef::Date(day) => day,
            DayRef::Yesterday => Day::from_epoch_days(today - 1),
            DayRef::Today => Day::from_epoch_days(today),
            DayRef::Tomorrow => Day::from_epoch_days(today + 1),
        }
    }

    /// The same task change with resolved days.
    pub(crate) fn dated(&self, mut patch: TaskPatch, now: Timestamp) -> TaskPatch {
        for day in
            [&mut patch.schedule_date, &mut patch.deadline_date].into_iter().flatten().flatten()
        {
            *day = DayRef::Date(self.resolve(*day, now));
        }
        patch
    }

    /// The same drafts with resolved days of their tasks.
    pub(crate) fn dated_drafts(&self, drafts: &[BlockDraft], now: Timestamp) -> Vec<BlockDraft> {
        let dated = |draft: &BlockDraft| BlockDraft {
            id: draft.id,
            data: draft.data.clone(),
            text: draft.text.clone(),
            is_titled: draft.is_titled,
            shown_text: draft.shown_text.clone(),
            task_patch: draft.task_patch.map(|patch| self.dated(patch, now)),
            content: self.dated_drafts(&draft.content, now),
        };
        drafts.iter().map(dated).collect()
    }

    /// The note of a day, unless it is in the trash.
    pub fn note_of(&self, day: Day) -> Option<&NaiveDocument> {
        self.documents
            .iter()
            .find(|found| found.record.day == Some(day) && found.record.location != Location::Trash)
    }

    /// The note of a day, created if missing.
    pub(crate) fn note(&mut self, by: By<'_>, day: Day) -> Result<DocumentId> {
        match self.note_of(day) {
            Some(note) if !self.breaks(Broken::TwoNotesOfADay) => Ok(note.record.id),
            _ => {
                let page = BlockDraft::new(BlockData::page(long_form(day)));
                self.create_document(by, &page, Location::DailyNotes, Some(day))
            }
        }
    }

    /// The same position with a resolved day: its note is created unless there is nothing to
    /// insert.
    pub(crate) fn landed(
        &mut self,
        by: By<'_>,
        position: Position,
        for_nothing: bool,
    ) -> Result<Option<Position>> {
        let (edge, day) = match position {
            Position::Within(edge, PositionTarget::Day(day)) => (edge, day),
            Position::Within(edge, PositionTarget::Unnamed) => (edge, DayRef::Today),
            other => return Ok(Some(other)),
        };
        let day = self.resolve(day, by.0.at);
        let note = match self.note_of(day) {
            None if for_nothing => return Ok(None),
            Some(note) if for_nothing => note.record.id,
            _ => self.note(by, day)?,
        };
        Ok(Some(Position::Within(edge, PositionTarget::Page(note.root()))))
    }
}

/// Title of a daily note.
pub(crate) fn long_form(day: Day) -> String {
    let months =
        "January February March April May June July August September October November December";
    let days = "Thursday Friday Saturday Sunday Monday Tuesday Wednesday";
    let word = |words: &str, number: usize| words.split(' ').nth(number).unwrap().to_owned();
    let weekday = word(days, usize::try_from(day.epoch_days().rem_euclid(7)).unwrap());
    format!(
        "{weekday}, {} {} {}",
        day.day(),
        word(months, usize::from(day.month()) - 1),
        day.year()
    )
}
