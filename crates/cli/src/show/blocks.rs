//! Blocks of a document, one line each.

use leafbase::{Block, BlockKind, CodeLanguage, ListStyle, TaskState, TextStyle};

use super::line;
use super::styles;
use super::table::Cell;

/// The blocks of a document down to `depth` levels, as a tree.
pub(crate) fn tree(root: &Block, depth: usize) -> Vec<(usize, Cell)> {
    let nodes = root.walk().filter(|(level, _)| *level <= depth);
    nodes.map(|(level, block)| (level + usize::from(block.data.indentation), cell(block))).collect()
}

fn cell(block: &Block) -> Cell {
    let text = words(block);
    match &block.data.kind {
        BlockKind::Page(_) | BlockKind::CollectionItem { .. } | BlockKind::Collection => {
            Cell::styled(text, styles::TITLE)
        }
        BlockKind::Text(look) if heading(look.style).is_some() => Cell::styled(text, styles::TITLE),
        BlockKind::Text(_) if block.data.task.is_some_and(|task| task.state != TaskState::Todo) => {
            Cell::styled(text, styles::QUIET)
        }
        BlockKind::Text(_) => Cell::new(text),
        _ => Cell::styled(text, styles::QUIET),
    }
}

fn heading(style: TextStyle) -> Option<&'static str> {
    match style {
        TextStyle::H1 => Some("# "),
        TextStyle::H2 => Some("## "),
        TextStyle::H3 => Some("### "),
        TextStyle::H4 => Some("#### "),
        _ => None,
    }
}

/// The text of the block with a marker of its type.
pub(crate) fn words(block: &Block) -> String {
    let data = &block.data;
    let text = line::first(&data.inline);
    match &data.kind {
        BlockKind::Text(look) => {
            format!("{}{text}", heading(look.style).unwrap_or_else(|| mark(block)))
        }
        BlockKind::Page(_) | BlockKind::CollectionItem { .. } => format!("{}{text}", mark(block)),
        BlockKind::Collection => format!("collection {text}"),
        BlockKind::Table => format!("table {text}"),
        BlockKind::Code { raw_code, language, .. } => {
            let named = if *language == CodeLanguage::default() {
                String::new()
            } else {
                format!(" {language}")
            };
            format!("code{named}: {}", line::first(raw_code))
        }
        BlockKind::Line { .. } => "line".to_owned(),
        kind => format!("{} {text}", kind.block_type()),
    }
}

const fn mark(block: &Block) -> &'static str {
    match (&block.data.task, block.data.list_style) {
        (Some(task), _) => task_mark(task.state),
        (None, ListStyle::Bullet) => "- ",
        (None, ListStyle::Numbered) => "1. ",
        (None, ListStyle::Toggle) => "+ ",
        (None, _) => "",
    }
}

/// The task marker, as in markdown.
pub(crate) const fn task_mark(state: TaskState) -> &'static str {
    match state {
        TaskState::Todo => "[ ] ",
        TaskState::Done => "[x] ",
        TaskState::Canceled => "[-] ",
    }
}
