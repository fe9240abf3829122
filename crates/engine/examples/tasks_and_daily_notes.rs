//! Tasks in the inbox, in daily notes and in documents, with a day that a host sets.
//!
//! `cargo run --example tasks_and_daily_notes`

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example stays short"
)]

use leafbase::{
    AddTasks, Clock, DayRef, Fetch, Position, Result, Space, TaskDestination, TaskDraft, TaskScope,
    TaskState, TaskUpdate, Timestamp,
};

/// A Monday morning that does not pass.
struct Monday;

impl Clock for Monday {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_772_443_800_000) // 2026-03-02T09:30:00Z
    }
}

fn main() -> Result<()> {
    let space = Space::builder().zone("Europe/Lisbon").clock(Monday).in_memory()?;
    let notes = space.connect().acting_as("Ada");
    let trip = notes.create_document("Trip to Lisbon")?;

    notes.add_tasks(AddTasks::new([
        TaskDraft::new("call the hotel").scheduled(DayRef::Today),
        TaskDraft::new("book the tram").at(trip.id()).due("2026-03-06".parse::<leafbase::Day>()?),
        TaskDraft::new("water the plants").at(TaskDestination::DailyNote(DayRef::Tomorrow)),
    ]))?;
    // The daily note of a day is made by the first write to it.
    notes.insert_markdown("woke early", Position::start_of_day(DayRef::Today))?;
    println!("{}", notes.content_markdown(notes.fetch(Fetch::today())?.id)?);

    let show = |title: &str, scope| -> Result<Vec<String>> {
        let found: Vec<String> =
            notes.tasks(scope)?.iter().map(|task| task.inline.clone()).collect();
        println!("{title}: {}", found.join(", "));
        Ok(found)
    };
    assert_eq!(show("active", TaskScope::Active)?, ["call the hotel"]);
    assert_eq!(show("upcoming", TaskScope::Upcoming)?, ["book the tram"]);
    assert_eq!(show("inbox", TaskScope::Inbox)?, ["call the hotel"]);

    let call = notes.tasks(TaskScope::Active)?[0].id;
    notes.update_tasks(TaskUpdate::of(call).with_state(TaskState::Done))?;
    assert_eq!(show("logbook", TaskScope::Logbook)?, ["call the hotel"]);
    assert!(show("active", TaskScope::Active)?.is_empty());
    Ok(())
}
