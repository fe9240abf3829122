//! Makes a space on disk, writes into it, closes it, and opens it again.
//!
//! `cargo run --example open_and_write`

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example stays short"
)]

use leafbase::{
    BlockData, BlockDraft, BlockFields, BlockPatch, ErrorKind, Fetch, InsertBlocks, Position,
    Space, TaskState,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("notes.leafbase");

    let space = Space::create(&path)?;
    let notes = space.connect().acting_as("Ada");
    let trip = notes.create_document("Trip to Lisbon")?;
    let added = notes.insert_markdown(
        "## Packing\n\n- [ ] passport\n- [ ] charger",
        Position::end_of(trip.id()),
    )?;
    let (passport, charger) = (added[1].id, added[2].id);
    notes.update_blocks(BlockPatch::markdown(passport, "passport, *the new one*").into())?;
    notes.update_blocks(
        BlockPatch::new(charger, BlockFields::default()).with_task_state(TaskState::Done).into(),
    )?;

    // A text that receives children becomes a page, and keeps its ID.
    let cable: BlockDraft = BlockData::text("the long cable").into();
    notes.insert_blocks(InsertBlocks::blocks(vec![cable], Position::end_of(charger)))?;
    space.close()?;

    let space = Space::open(&path)?;
    let notes = space.connect();
    let shown = notes.fetch(Fetch::new(trip.id()).with_metadata())?;
    println!("{}", serde_json::to_string_pretty(&shown)?);
    println!("{}", notes.content_markdown(trip.id())?);
    assert_eq!(shown.children().len(), 3);
    assert_eq!(shown.children()[2].children()[0].data.inline, "the long cable");

    // One handle at a time has a space open.
    assert_eq!(Space::open(&path).unwrap_err().kind(), ErrorKind::AlreadyOpen);
    Ok(space.close()?)
}
