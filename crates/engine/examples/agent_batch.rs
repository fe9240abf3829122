//! An agent's batch: planned by a dry run, refused as a whole when its last step fails, done once
//! although it was sent twice, refused when somebody wrote in between, and taken back by one undo.
//!
//! `cargo run --example agent_batch`

#![allow(
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example stays short"
)]

use leafbase::{Batch, BlockId, Error, Result, Space, UndoChanges};

/// What the agent sends. `$0.id` is the ID in the reply to its first operation.
const PLAN: &str = r##"{
    "operations": [
        {"operation": "create_documents", "documents": [{"title": "Lisbon in spring"}]},
        {"operation": "insert_blocks", "position": {"pageId": "$0.id"},
            "markdown": "# Packing\n\n- [ ] passport\n- [ ] towel"},
        {"operation": "create_collection", "position": {"pageId": "$0.id"},
            "schema": {"name": "Places", "properties": [{"name": "Day", "type": "date"}]}},
        {"operation": "add_items", "collectionId": "$2.collectionBlockId",
            "items": [{"title": "Alfama", "properties": {"day": "2026-04-02"}}]},
        {"operation": "replace_text", "blockIds": ["$0.id"], "find": "towel", "replacement": "two towels"}
    ],
    "requestKey": "plan-7b1f"
}"##;

fn main() -> Result<()> {
    let space = Space::in_memory()?;
    let notes = space.connect().acting_as("agent");
    let plan: Batch = space.read_json(PLAN)?;

    // What it would do, before anybody agreed to it.
    let planned = notes.run_batch(plan.clone().dry())?;
    println!("planned: {}", planned.replies[4]["blocks"][0]["markdown"]);
    assert!(notes.documents()?.is_empty());

    // A plan that fails at its last step leaves nothing of the others.
    let flawed = PLAN.replace(r#""blockIds": ["$0.id"]"#, r#""blockIds": ["$1.items[9].id"]"#);
    let error = notes.run_batch(space.read_json(&flawed)?).unwrap_err();
    println!("refused: {error}");
    assert_eq!(error.path(), "operations[4].blockIds[0]");
    assert!(notes.documents()?.is_empty());

    // The first reply was lost, so the agent sends it again: it is done once.
    let done = notes.run_batch(plan.clone())?;
    assert_eq!(notes.run_batch(plan)?, done);
    assert_eq!(notes.documents()?.len(), 1);

    // It read a block, and somebody else writes before it does.
    let item = &done.replies[1]["items"][1];
    let (block, rev) = (text(item, "id")?, item["rev"].as_u64().unwrap_or_default());
    let update = format!(
        r#"{{"operations": [{{"operation": "update_blocks",
            "blocks": [{{"id": "{block}", "markdown": "- [x] passport"}}]}}],
            "expect": {{"blocks": {{"{block}": {rev}}}}}}}"#
    );
    let update: Batch = space.read_json(&update)?;
    space
        .connect()
        .acting_as("Ada")
        .update_markdown(block.parse::<BlockId>()?, "- [ ] two passports")?;
    let error = notes.run_batch(update).unwrap_err();
    println!("refused: {error}");
    assert!(error.path().starts_with("expect.blocks."));

    // One batch is one change, and one undo takes it back, if nobody built on it.
    let change = notes.last_sequence()? - 1;
    let error = notes.undo(UndoChanges::from(change)).unwrap_err();
    println!("refused: {error}, {} in the way", error.details().len());
    notes.undo(UndoChanges::from(change + 1))?;
    notes.undo(UndoChanges::from(change))?;
    assert!(notes.documents()?.is_empty());
    println!("{} changes, and the space is as it was", notes.last_sequence()?);
    Ok(())
}

fn text<'v>(reply: &'v serde_json::Value, field: &str) -> Result<&'v str> {
    reply[field].as_str().ok_or_else(|| Error::validation(format!("a reply without {field}")))
}
