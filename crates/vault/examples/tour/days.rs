//! Daily notes: made by the first write to their day, found by it.

use std::io::Write;

use leafbase::{Connection, DayRange, DayRef, ErrorKind, Fetch, ListDocuments, Position};

use crate::Result;

pub(crate) fn show(out: &mut impl Write, notes: &Connection) -> Result<()> {
    notes.insert_markdown("Walked through the notes.", Position::end_of_day(DayRef::Today))?;
    notes.insert_markdown("Read the tour again.", Position::end_of_day(DayRef::Tomorrow))?;
    let imported = DayRef::from("2026-02-10".parse::<leafbase::Day>()?);
    for day in [DayRef::Yesterday, DayRef::Today, DayRef::Tomorrow, imported] {
        let name = day.to_string();
        match notes.fetch(Fetch::day(day)) {
            Ok(note) => {
                let first = note
                    .children()
                    .first()
                    .map(|block| block.data.inline.as_str())
                    .unwrap_or_default();
                writeln!(
                    out,
                    "{name:<12}{}: {}",
                    note.data.inline,
                    crate::show::shortened(first, 40)
                )?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                writeln!(out, "{name:<12}{}", error.code())?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    let coming =
        notes.list_documents(ListDocuments::new().daily_notes(DayRange::since(DayRef::Today)))?;
    writeln!(out, "notes from today on: {}", coming.len())?;
    Ok(())
}
