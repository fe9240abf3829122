//! Finds documents by words and patterns, and blocks of one document by patterns.
//!
//! `cargo run --example search`

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example stays short"
)]

use leafbase::{Position, Result, SearchBlocks, SearchDocuments, Space};

fn main() -> Result<()> {
    let notes = Space::in_memory()?.connect();
    let trip = notes.create_document("Trip to Lisbon")?;
    let food = notes.create_document("Food")?;
    notes.insert_markdown(
        "# Trains\n\nThe night train leaves at 22:15.\n\nBring the *passport*.",
        Position::end_of(trip.id()),
    )?;
    notes.insert_markdown("Pastéis, €2 each", Position::end_of(food.id()))?;

    let show = |request: SearchDocuments| -> Result<usize> {
        let found = notes.search(request)?;
        for hit in &found {
            println!("{} {:.2} {}", hit.document_id, hit.score, hit.markdown.replace('\n', " "));
        }
        Ok(found.len())
    };
    // All words have to occur; the last may be the beginning of one. Case, accents and English
    // endings don't matter.
    assert_eq!(show(SearchDocuments::words("train pass"))?, 1);
    assert_eq!(show(SearchDocuments::words("pasteis"))?, 1);
    // A phrase, and a pattern that has to match a block.
    assert_eq!(show(SearchDocuments::words("\"night train\"").matching(r"\b\d\d:\d\d\b"))?, 1);

    // As people type it, with filters among the words.
    assert_eq!(show(SearchDocuments::from_query_text("title:lisbon train -bus", |_| None))?, 1);

    // In one document: each matching block with its context.
    let found =
        notes.search_blocks(SearchBlocks::new(trip.id(), r"(?<=at )\d\d:\d\d").context(1, 1))?;
    let hit = &found[0];
    println!(
        "{:?} in {:?}, below {:?}",
        &hit.markdown[hit.ranges[0].clone()],
        hit.markdown,
        hit.before[0].markdown
    );
    assert_eq!(&hit.markdown[hit.ranges[0].clone()], "22:15");

    // A step budget bounds patterns; an unsupported construct is an error with its offset.
    println!("{}", notes.search_blocks(SearchBlocks::new(trip.id(), r"(a)\1")).unwrap_err());
    Ok(())
}
