//! Tasks: wherever they are, by scope; added, completed, planned and moved.

use std::io::Write;

use leafbase::{
    AddTasks, Connection, CreateDocuments, DayRef, Document, DocumentId, Fetch, FolderId,
    ListTasks, Task, TaskDestination, TaskDraft, TaskLocation, TaskScope, TaskState, TaskUpdate,
    UpdateTasks,
};

use crate::Result;
use crate::show::shortened;

pub(crate) fn show(out: &mut impl Write, notes: &Connection, folder: FolderId) -> Result<()> {
    show_imported(out, notes)?;
    let made = notes.create_documents(CreateDocuments::titled(["Errands"]).at(folder))?;
    let errands = made.first().ok_or("one document was asked for")?.id();
    notes.insert_markdown("- [ ] nails, 40 mm", errands)?;

    writeln!(
        out,
        "\n- four tasks are added: two to the inbox, one to tomorrow's note, one to the document Errands"
    )?;
    let added = notes.add_tasks(AddTasks::new([
        TaskDraft::new("call Ana"),
        TaskDraft::new("water the plants").scheduled(DayRef::Today),
        TaskDraft::new("buy bread").at(TaskDestination::DailyNote(DayRef::Tomorrow)),
        TaskDraft::new("return the drill").at(errands).due(DayRef::Yesterday),
    ]))?;
    let [call, plants, _, drill] = added.0.as_slice() else {
        return Err("four tasks were asked for".into());
    };
    let tomorrow = DocumentId::of_root(notes.fetch(Fetch::day(DayRef::Tomorrow).depth(0))?.id);
    let scopes = [
        ("active", TaskScope::Active),
        ("upcoming", TaskScope::Upcoming),
        ("inbox", TaskScope::Inbox),
        ("tomorrow", TaskScope::Document(tomorrow)),
        ("Errands", TaskScope::Document(errands)),
    ];
    show_scopes(out, notes, &scopes)?;

    writeln!(out, "\n- one is completed, one planned for tomorrow, one moved into the document")?;
    notes.update_tasks(UpdateTasks::new([
        TaskUpdate::of(drill.id).with_state(TaskState::Done),
        TaskUpdate::of(plants.id).with_schedule_date(DayRef::Tomorrow),
        TaskUpdate::of(call.id).moved_to(errands),
    ]))?;
    show_scopes(out, notes, &scopes)?;
    let newest = notes.tasks(ListTasks::new(TaskScope::Logbook).limit(1))?;
    writeln!(out, "    logbook   {}, ..", newest.iter().map(words).collect::<String>())?;
    Ok(())
}

/// `- [ ]` in markdown is a task like any other.
fn show_imported(out: &mut impl Write, notes: &Connection) -> Result<()> {
    let mut documents = notes.documents()?.0;
    documents.sort_by(|one, other| one.title.cmp(&other.title));
    for Document { record, title, .. } in documents.iter().take(200) {
        let tasks = notes.tasks(TaskScope::Document(record.id))?;
        if let Some(task) = tasks.first() {
            let (count, words) = (tasks.len(), shortened(&task.inline, 50));
            return Ok(writeln!(
                out,
                "\"{title}\" came with {count} tasks; the first: \"{words}\", {}",
                task.info.state
            )?);
        }
    }
    Ok(())
}

fn show_scopes(
    out: &mut impl Write,
    notes: &Connection,
    scopes: &[(&str, TaskScope)],
) -> Result<()> {
    for (name, scope) in scopes {
        let tasks = notes.tasks(ListTasks::new(*scope).limit(5))?;
        let words: Vec<_> = tasks.iter().map(words).collect();
        let shown = if words.is_empty() { "none".to_owned() } else { words.join(", ") };
        writeln!(
            out,
            "    {name:<10}{shown}{}",
            if tasks.next_cursor.is_some() { ", .." } else { "" }
        )?;
    }
    Ok(())
}

fn words(task: &Task) -> String {
    let place = match task.location {
        TaskLocation::DailyNote(_) => " (in a daily note)",
        TaskLocation::Inbox | TaskLocation::Document(_) => "",
    };
    let state = if task.info.state == TaskState::Todo {
        String::new()
    } else {
        format!(" [{}]", task.info.state)
    };
    format!("{}{place}{state}", shortened(&task.inline, 30))
}
