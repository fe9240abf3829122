//! Keeps a view up to date by following the change log: which documents there are, and how many
//! open tasks each has.
//!
//! `cargo run --example change_feed`

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example stays short"
)]

use std::collections::BTreeMap;

use leafbase::{
    AddTasks, ChangePosition, Connection, DocumentId, ErrorKind, Position, Result, Space,
    TaskDraft, TaskScope, TaskState, TaskUpdate,
};

/// The view of a window. It reads again only the documents that a change names.
#[derive(Default)]
struct View {
    seen: ChangePosition,
    open: BTreeMap<DocumentId, (String, usize)>,
}

impl View {
    fn catch_up(&mut self, notes: &Connection) -> Result<usize> {
        let mut applied = 0;
        for change in notes.changes_since(self.seen) {
            let change = change?;
            for document in &change.documents {
                self.read(notes, *document)?;
            }
            (self.seen, applied) = (change.position(), applied + 1);
        }
        Ok(applied)
    }

    fn read(&mut self, notes: &Connection, id: DocumentId) -> Result<()> {
        match notes.document(id) {
            Ok(document) => {
                let tasks = notes.tasks(TaskScope::Document(id))?;
                let open = tasks.iter().filter(|task| task.info.state == TaskState::Todo).count();
                self.open.insert(id, (document.title, open));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => drop(self.open.remove(&id)),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn show(&self) {
        for (title, open) in self.open.values() {
            println!("  {title}: {open} open");
        }
    }
}

fn main() -> Result<()> {
    let notes = Space::in_memory()?.connect().acting_as("Ada");
    let mut view = View::default();

    let trip = notes.create_document("Trip")?;
    notes.insert_markdown("- [ ] passport\n- [ ] charger", Position::end_of(trip.id()))?;
    println!("{} writes", view.catch_up(&notes)?);
    view.show();
    assert_eq!(view.open[&trip.id()].1, 2);

    let added = notes.add_tasks(AddTasks::new([TaskDraft::new("socks").at(trip.id())]))?;
    notes.update_tasks(TaskUpdate::of(added[0].id).with_state(TaskState::Done))?;
    println!("{} writes", view.catch_up(&notes)?);
    view.show();
    assert_eq!(view.open[&trip.id()].1, 2);
    assert_eq!(view.catch_up(&notes)?, 0);

    // Each change contains the replaced data, from which its inverse is computed.
    let last = notes.changes_since(view.seen.sequence() - 1).next().transpose()?;
    let inverse = last.map(|change| change.inverse()).transpose()?;
    println!("the last write, turned round: {:?}", inverse.map(|edits| edits.len()));
    Ok(())
}
