//! A document as a tree of blocks: shown, and edited.

use std::io::Write;

use leafbase::{
    Block, BlockKind, Connection, Document, Fetch, ListStyle, MoveBlocks, Position, TextStyle,
};

use crate::Result;
use crate::show::{lines, shortened};

/// A document that has something to show and still fits on a screen.
pub(crate) fn choose(notes: &Connection) -> Result<Document> {
    let mut documents = notes.documents()?.0;
    documents.sort_by(|one, other| other.title.cmp(&one.title));
    let mut best: Option<(usize, Document)> = None;
    for document in documents.into_iter().take(200) {
        let blocks = notes.fetch(Fetch::new(document.id()))?.walk().count();
        let distance = blocks.abs_diff(18);
        if best.as_ref().is_none_or(|(nearest, _)| distance < *nearest) {
            best = Some((distance, document));
        }
    }
    Ok(best.ok_or("there are no documents to show")?.1)
}

pub(crate) fn show(out: &mut impl Write, notes: &Connection, document: &Document) -> Result<()> {
    let root = notes.fetch(Fetch::new(document.id()))?;
    let shown = root.walk().map(|(depth, block)| {
        let indentation = "  ".repeat(depth + usize::from(block.data.indentation));
        let words = block.data.inline.lines().next().unwrap_or_default();
        format!("{indentation}{:<14}{}", kind(block), shortened(words, 60))
    });
    lines(out, &shown.collect::<Vec<_>>())
}

/// A block's type, with the style that makes a text a heading or a task.
fn kind(block: &Block) -> String {
    let (block_type, list_style) = (block.data.block_type(), block.data.list_style);
    match (&block.data.kind, block.data.task) {
        (_, Some(task)) => format!("{block_type} {}", task.state),
        (_, None) if list_style != ListStyle::None => format!("{block_type} {list_style}"),
        (BlockKind::Text(look), None) if look.style != TextStyle::Body => {
            format!("{block_type} {}", look.style)
        }
        _ => block_type.to_string(),
    }
}

pub(crate) fn edit(out: &mut impl Write, notes: &Connection, document: &Document) -> Result<()> {
    writeln!(out, "- three blocks of markdown go to the end of \"{}\"", document.title)?;
    let added = notes.insert_markdown(
        "## Added by the tour\n\nQuestions for later\n\n- [ ] read this note again",
        Position::end_of(document.id()),
    )?;
    let [heading, text, task] = added.0.as_slice() else {
        return Err("the markdown gave other blocks".into());
    };

    writeln!(out, "- the text receives children, and so becomes a page, with the ID it had")?;
    notes.insert_markdown("What is missing?\n\nWho would know?", Position::end_of(text.id))?;
    let page = notes.fetch(Fetch::new(text.id))?;
    if !matches!(page.data.kind, BlockKind::Page(_)) {
        return Err("the text did not become a page".into());
    }

    writeln!(out, "- the task moves into the page, the heading gets other words\n")?;
    notes.move_blocks(MoveBlocks::new(vec![task.id], Position::start_of(text.id)))?;
    notes.update_markdown(heading.id, "Added by *the tour*")?;
    Ok(())
}
