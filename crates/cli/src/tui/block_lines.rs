//! A block as lines of the screen.

use std::iter;

use leafbase::{
    BlockData, BlockKind, CodeLanguage, FlatBlock, ListStyle, PlainText, TaskInfo, TaskState,
    TextStyle,
};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::styled_text::StyledText;
use super::theme::Theme;
use super::{table_lines, wrapped_text};
use crate::show::blocks::task_mark;
use crate::show::line;

/// Columns by which a level is indented.
const INDENT: usize = 2;

/// State of a block from its siblings and descendants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockContext {
    /// Its number in a numbered list.
    pub(crate) number: usize,
    /// Whether it has blocks below it, and whether these are shown.
    pub(crate) is_open: Option<bool>,
}

/// The lines of a block in `width` columns.
pub(crate) fn lines(
    entry: &FlatBlock,
    context: BlockContext,
    width: usize,
    theme: Theme,
) -> Vec<Line<'static>> {
    let data = &entry.block.data;
    let levels = entry.depth.saturating_sub(1) + usize::from(data.indentation);
    // However deep a block is, half of the width is left for its text.
    let indent = (levels * INDENT).min(width / 2);
    let (mark, style) = (mark(entry, context), style(entry, theme));
    let room = width.saturating_sub(indent + line::width(&mark)).max(1);
    let styled = |rows: Vec<String>| -> Vec<Vec<Span<'static>>> {
        rows.into_iter().map(|row| vec![Span::styled(row, style)]).collect()
    };
    let (rows, repeats_mark) = match &data.kind {
        BlockKind::Table => (styled(table_lines::rows(&data.inline, room)), false),
        BlockKind::Code { raw_code, .. } => (styled(code_rows(raw_code, room)), true),
        BlockKind::Line { .. } => (styled(vec!["─".repeat(room)]), false),
        _ => (styled_text(data, style, theme).rows(room), !data.decorations.is_empty()),
    };
    let blank = " ".repeat(line::width(&mark));
    let mut lines = Vec::with_capacity(rows.len());
    for (index, row) in rows.into_iter().enumerate() {
        let lead = if index == 0 || repeats_mark { mark.clone() } else { blank.clone() };
        let lead = Span::styled(" ".repeat(indent) + &lead, theme.quiet());
        lines.push(iter::once(lead).chain(row).collect::<Line<'_>>());
    }
    if let (Some(last), Some(days)) = (lines.last_mut(), days(data.task.as_ref())) {
        last.push_span(Span::styled(days, theme.quiet()));
    }
    lines
}

/// The prefix of the first line: fold, task, list and heading markers.
fn mark(entry: &FlatBlock, context: BlockContext) -> String {
    let data = &entry.block.data;
    let fold = match context.is_open {
        Some(true) => "▾ ",
        Some(false) => "▸ ",
        None => "",
    };
    let mark = match (&data.task, data.list_style) {
        (Some(task), _) => task_mark(task.state).to_owned(),
        (None, ListStyle::Bullet) => "• ".to_owned(),
        (None, ListStyle::Numbered) => format!("{}. ", context.number),
        (None, ListStyle::Toggle) if context.is_open.is_none() => "+ ".to_owned(),
        (None, _) => String::new(),
    };
    let of_kind = match &data.kind {
        BlockKind::Text(format) => match format.style {
            TextStyle::H1 => "# ",
            TextStyle::H2 => "## ",
            TextStyle::H3 => "### ",
            TextStyle::H4 => "#### ",
            _ if data.decorations.callout => "┃ ",
            _ if data.decorations.quote => "▌ ",
            _ => "",
        },
        BlockKind::Code { .. } => "│ ",
        _ => "",
    };
    fold.to_owned() + &mark + of_kind
}

fn style(entry: &FlatBlock, theme: Theme) -> Style {
    let data = &entry.block.data;
    let is_closed = data.task.is_some_and(|task| task.state != TaskState::Todo);
    match &data.kind {
        BlockKind::Page(_) | BlockKind::CollectionItem { .. } | BlockKind::Collection => {
            theme.title()
        }
        BlockKind::Text(format) if format.style.is_heading() => theme.title(),
        BlockKind::Text(format) if is_closed || format.style == TextStyle::Caption => theme.quiet(),
        BlockKind::Text(_) | BlockKind::Table | BlockKind::Code { .. } => Style::new(),
        _ => theme.quiet(),
    }
}

/// The text of a block with the styles of its marks.
fn styled_text(data: &BlockData, style: Style, theme: Theme) -> StyledText {
    match &data.kind {
        BlockKind::Collection => StyledText::unmarked(&text(data), style),
        _ if data.block_type().has_inline_text() => {
            StyledText::of(&PlainText::of(&data.inline), style, theme)
        }
        _ => StyledText::unmarked(&text(data), style),
    }
}

/// The text of a block without markup; of a block without text its type and name.
pub(crate) fn text(data: &BlockData) -> String {
    let named = |what: &str, name: &str, url: &str| {
        let name = if name.is_empty() { url } else { name };
        if name.is_empty() { format!("[{what}]") } else { format!("[{what}] {name}") }
    };
    match &data.kind {
        BlockKind::Collection => named("collection", &data.inline, ""),
        BlockKind::Image { url, alt_text, .. } => named("image", alt_text, url),
        BlockKind::Video { url, alt_text, .. } => named("video", alt_text, url),
        BlockKind::File { url, file_name, .. } => named("file", file_name, url),
        BlockKind::RichUrl { url, title, .. } => named("link", title, url),
        BlockKind::Code { language, .. } if *language != CodeLanguage::default() => {
            named("code", &language.to_string(), "")
        }
        _ if data.block_type().has_inline_text() => PlainText::of(&data.inline).into_string(),
        kind => named(&kind.block_type().to_string(), "", ""),
    }
}

fn code_rows(code: &str, width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for text in code.split('\n') {
        let text = line::plain(&text.replace('\t', "    "));
        let ranges = wrapped_text::columns(&text, width);
        rows.extend(ranges.into_iter().filter_map(|range| text.get(range).map(str::to_owned)));
    }
    rows
}

/// The days of a task.
fn days(task: Option<&TaskInfo>) -> Option<String> {
    let task = task?;
    let planned = task.schedule_date.map(|day| format!("  {day}"));
    let due = task.deadline_date.map(|day| format!("  due {day}"));
    let days = [planned, due].into_iter().flatten().collect::<String>();
    (!days.is_empty()).then_some(days)
}
