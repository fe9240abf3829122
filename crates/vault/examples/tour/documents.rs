//! Documents: listed by filters, deleted, restored, erased, and made from a template.

use std::io::Write;

use leafbase::{
    BlockData, BlockDraft, BuiltInLocation, Connection, CreateDocuments, CreateFromTemplate,
    DayRange, DayRef, Destination, Fetch, FolderId, Items, ListDocuments, MoveDocuments, Position,
    PurgeDocuments,
};

use crate::Result;
use crate::show::number;

pub(crate) fn list(out: &mut impl Write, notes: &Connection, folder: FolderId) -> Result<()> {
    let today = DayRange::on(DayRef::Today);
    for (what, request) in [
        ("all", ListDocuments::new()),
        ("in no folder", ListDocuments::new().at(BuiltInLocation::Unsorted)),
        ("in the folder Tour", ListDocuments::new().within(folder)),
        ("made today", ListDocuments::new().created(today)),
        ("in Tour, made today", ListDocuments::new().within(folder).created(today)),
        ("notes of 2026", ListDocuments::new().daily_notes(year(2026)?)),
    ] {
        writeln!(
            out,
            "{what:<22}{:>6}",
            number(u64::try_from(notes.list_documents(request)?.len())?)
        )?;
    }
    Ok(())
}

fn year(year: u16) -> Result<DayRange> {
    let day = |month, day| {
        Ok::<_, leafbase::Error>(Some(DayRef::Date(leafbase::Day::new(year, month, day)?)))
    };
    Ok(DayRange { from: day(1, 1)?, to: day(12, 31)? })
}

/// Into the trash and out of it, and into it for good.
pub(crate) fn delete(out: &mut impl Write, notes: &Connection, folder: FolderId) -> Result<()> {
    let document = notes.create_documents(CreateDocuments::titled(["Third draft"]).at(folder))?;
    let [document] = document.0.as_slice() else { return Err("one document was asked for".into()) };
    let where_it_is = |out: &mut dyn Write, done: &str| -> Result<()> {
        let found = match notes.document(document.id()) {
            Ok(document) => serde_json::to_value(document.record.location)?
                .to_string()
                .replace(&folder.to_string(), "Tour"),
            Err(error) => error.code().to_owned(),
        };
        Ok(writeln!(out, "- \"{}\" {done}: {found}", document.title)?)
    };
    notes.delete_documents(document.id())?;
    where_it_is(out, "is deleted")?;
    notes.move_documents(MoveDocuments::new([document.id()], folder))?;
    where_it_is(out, "is restored")?;
    notes.delete_documents(document.id())?;
    notes.purge_documents(PurgeDocuments::new([document.id()]))?;
    where_it_is(out, "is deleted again, and purged")
}

/// A template whose task leads to its heading, and a copy of it.
pub(crate) fn copy_template(
    out: &mut impl Write,
    notes: &Connection,
    folder: FolderId,
) -> Result<()> {
    let page = BlockDraft::new(BlockData::page("Weekly review"));
    let Items(made) =
        notes.create_documents(CreateDocuments::new([page], Destination::Templates))?;
    let template = made.first().ok_or("one document was asked for")?.id();
    let heading = notes
        .insert_markdown("## What went well", template)?
        .first()
        .ok_or("a heading was inserted")?
        .id;
    let task = format!("- [ ] three things [here](block://{heading})");
    notes.insert_markdown(&task, Position::end_of(template))?;

    let request = CreateFromTemplate::new(template).titled("Review of this week").at(folder);
    let copy = notes.create_from_template(request)?;
    let root = notes.fetch(Fetch::new(copy.id()))?;
    let [heading, task] = root.children() else { return Err("the copy has other blocks".into()) };
    if !task.data.inline.contains(&heading.id.to_string()) {
        return Err("the link in the copy does not lead to the copy's heading".into());
    }
    writeln!(out, "\"{}\" is a copy of the template \"Weekly review\":", copy.title)?;
    let text =
        notes.content_markdown(copy.id())?.replace(&heading.id.to_string(), "the copy's heading");
    text.lines()
        .filter(|line| !line.is_empty())
        .try_for_each(|line| writeln!(out, "    {line}"))?;
    Ok(())
}
