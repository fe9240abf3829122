//! The `markdown` of a text block: what is given, the blocks that it becomes, and what they show.
//!
//! Each row is read as the `markdown` of one inserted text block. Of each block that it becomes the
//! table names its type or style, its list style or the state of its task, its decorations, its
//! indentation, and its inline markdown; then comes what the reply shows.

use leafbase::{BlockData, BlockKind, Fetch, InsertBlocks, Space, TextStyle};
use serde_json::json;

mod rows;

/// A block on one line: `h1 bullet quote +1 "text"`.
fn outline(data: &BlockData) -> String {
    let mut words = Vec::new();
    match &data.kind {
        BlockKind::Text(look) if look.style == TextStyle::Body => {}
        BlockKind::Text(look) => words.push(look.style.to_string()),
        kind => words.push(kind.block_type().to_string()),
    }
    match data.task {
        Some(task) => words.push(task.state.to_string()),
        None if data.list_style == leafbase::ListStyle::None => {}
        None => words.push(data.list_style.to_string()),
    }
    words.extend(data.decorations.quote.then(|| "quote".to_owned()));
    words.extend(data.decorations.callout.then(|| "callout".to_owned()));
    words.extend((data.indentation > 0).then(|| format!("+{}", data.indentation)));
    words.push(format!("{:?}", data.inline));
    words.join(" ")
}

#[test]
fn a_text_in_block_form_becomes_blocks() {
    let mut failures = Vec::new();
    for (given, blocks, shown) in rows::ROWS {
        let space = Space::in_memory().unwrap();
        let notes = space.connect();
        let page = notes.create_document("Page").unwrap().id();
        let request =
            json!({"blocks": [{"type": "text", "markdown": given}], "position": {"pageId": page}});
        let request: InsertBlocks = space.read_json(&request.to_string()).unwrap();
        let found = match notes.insert_blocks(request) {
            Ok(_) => {
                let page = notes.fetch(Fetch::new(page)).unwrap();
                let outlines: Vec<_> =
                    page.children().iter().map(|block| outline(&block.data)).collect();
                let markdown: Vec<_> =
                    page.children().iter().map(leafbase::Block::markdown).collect();
                (outlines.join(" | "), markdown.join(" | "))
            }
            Err(error) => (error.code().to_owned(), error.path().to_owned()),
        };
        if (found.0.as_str(), found.1.as_str()) != (*blocks, *shown) {
            failures.push(format!("    ({given:?}, {:?}, {:?}),", found.0, found.1));
        }
    }
    assert!(failures.is_empty(), "{} rows differ:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn the_table_is_long() {
    assert!(rows::ROWS.len() >= 200, "{} rows", rows::ROWS.len());
}
