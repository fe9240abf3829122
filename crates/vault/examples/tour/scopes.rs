//! A connection that is limited to one document: redacted links, and data that it cannot break.

use std::io::Write;

use leafbase::{Connection, Fetch, Space};

use crate::Result;

pub(crate) fn show(out: &mut impl Write, space: &Space, notes: &Connection) -> Result<()> {
    let (plan, diary) = (notes.create_document("The plan")?, notes.create_document("Diary")?);
    let text = format!("Ben will bring [what we said](block://{}).", diary.id());
    let line = notes.insert_markdown(&text, plan.id())?.first().ok_or("a text was inserted")?.id;

    let scope = space.scope([plan.id()]);
    let guest = scope.connect().acting_as("guest");
    writeln!(out, "listed: {} document of {}", guest.documents()?.len(), notes.documents()?.len())?;
    writeln!(out, "shown: {}", guest.content_markdown(plan.id())?.trim_end())?;
    for (what, id) in [
        ("the diary", diary.id().root()),
        ("what never was", "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse()?),
    ] {
        let error = guest.fetch(Fetch::new(id)).err().ok_or("it is hidden")?;
        writeln!(out, "{what}: {}", serde_json::to_string(&error)?)?;
    }
    guest.update_markdown(line, "Ann will bring [what we said](invalid:out_of_scope#1).")?;
    writeln!(
        out,
        "written by the guest, as the host sees it: {}",
        notes.content_markdown(plan.id())?.trim_end()
    )?;

    scope.add([diary.id()]);
    writeln!(
        out,
        "with the diary in the scope: {}",
        guest.content_markdown(plan.id())?.trim_end()
    )?;
    for change in guest.changes_since(0) {
        let change = change?;
        writeln!(
            out,
            "change {} of the scope: {} block, by {}",
            change.sequence,
            change.blocks.len(),
            change.by
        )?;
    }
    Ok(())
}
