//! Comments on a block, and the colours that it is shown in.

use std::io::Write;

use leafbase::{
    AddComments, BlockPatch, Color, CommentDraft, Connection, CreateDocuments, Fetch, FolderId,
};

use crate::Result;

pub(crate) fn show(out: &mut impl Write, notes: &Connection, folder: FolderId) -> Result<()> {
    let made = notes.create_documents(CreateDocuments::titled(["The sofa"]).at(folder))?;
    let document = made.first().ok_or("one document was asked for")?.id();
    let block = notes
        .insert_markdown("It has to be yellow.", document)?
        .first()
        .ok_or("a text was inserted")?
        .id;

    let (ada, ben) = (notes.acting_as("Ada"), notes.acting_as("Ben"));
    ada.add_comments(AddComments::new([CommentDraft::new(block, "which yellow?")]))?;
    ben.add_comments(AddComments::new([CommentDraft::new(block, "the one of *the trams*")]))?;
    let given: Color = "#ffcc00".parse()?;
    ben.update_blocks(BlockPatch::of(block).with_color(given).into())?;

    let block = notes.fetch(Fetch::new(block).with_metadata())?;
    let metadata = block.metadata.as_ref().ok_or("metadata was asked for")?;
    writeln!(out, "\"{}\", last changed by {}", block.data.inline, metadata.modified.by)?;
    for comment in &metadata.comments {
        writeln!(out, "    {}: {}", comment.author, comment.content)?;
    }
    let color = block.data.color.ok_or("the colour is gone")?;
    writeln!(
        out,
        "colour given {color}, shown as {} on white and {} on dark paper",
        color.light(),
        color.dark()
    )?;
    Ok(())
}
