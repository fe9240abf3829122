//! Draws the state of the screen: only visible rows and blocks are made into lines.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use super::app::App;
use super::block_edit::BlockEdit;
use super::block_lines;
use super::browse_keys::KEYS;
use super::folder_tree::{TreeRow, TreeTarget};
use super::mode::Mode;
use super::open_document::OpenDocument;
use super::screen_layout::{Pane, within_border};
use super::search_prompt::{SearchHit, SearchPrompt};
use crate::show::line;

/// The keys that the last line names.
const HINT: &str =
    "? help  / search  e edit  o insert  d delete  Space task  n new  t today  q quit";
/// What marks the selected row where the keys are.
const SELECTED: &str = "›";
/// What marks the selected row of the other pane.
const SELECTED_ELSEWHERE: &str = "·";

pub(crate) fn draw(app: &App, frame: &mut Frame<'_>) {
    let layout = app.layout();
    draw_tree(app, frame, layout.folders);
    match &app.mode {
        Mode::Search(search) => draw_search(app, search, frame, frame.area()),
        Mode::Help => draw_help(app, frame, layout.folders.union(layout.document)),
        Mode::Edit(edit) => {
            draw_document(app, frame, layout.document);
            draw_edit(app, edit, frame, layout.input);
        }
        Mode::Browse | Mode::Delete(_) => draw_document(app, frame, layout.document),
    }
    draw_status(app, frame, layout.status);
}

/// Draws a border with a title; the area within it.
fn draw_border(app: &App, frame: &mut Frame<'_>, area: Rect, title: &str, has_keys: bool) -> Rect {
    let style = if has_keys { app.theme.focus() } else { app.theme.quiet() };
    let title = line::clip(&line::plain(title), usize::from(area.width).saturating_sub(6));
    let border = Block::bordered().border_style(style);
    let title = Span::styled(format!(" {title} "), app.theme.title());
    frame.render_widget(
        if title.content.trim().is_empty() { border } else { border.title(title) },
        area,
    );
    within_border(area)
}

/// A line, and if it is selected its marker and style.
type ScreenRow = (Line<'static>, Option<(&'static str, Style)>);

fn marker(app: &App, has_keys: bool) -> (&'static str, Style) {
    if has_keys { (SELECTED, app.theme.selected()) } else { (SELECTED_ELSEWHERE, Style::new()) }
}

/// Draws lines, each in a row; the marker of the selected one is left of the area.
fn draw_rows(frame: &mut Frame<'_>, area: Rect, rows: Vec<ScreenRow>) {
    for (row, (line, selected)) in (area.y..area.bottom()).zip(rows) {
        let place = Rect { y: row, height: 1, ..area };
        frame.render_widget(line, place);
        if let Some((marker, style)) = selected {
            let left = area.x.saturating_sub(2);
            frame.render_widget(marker, Rect { x: left, width: 1, ..place });
            frame.buffer_mut().set_style(place, style);
        }
    }
}

fn draw_tree(app: &App, frame: &mut Frame<'_>, area: Rect) {
    if area.is_empty() {
        return;
    }
    let has_keys = app.focus == Pane::Folders && !matches!(app.mode, Mode::Edit(_));
    let area = draw_border(app, frame, area, "Documents", has_keys);
    let shown = app.tree.rows().iter().enumerate().skip(app.tree_scroll.top);
    let rows = shown.take(usize::from(area.height)).map(|(place, row)| {
        let is_selected = place == app.tree.selected();
        (tree_line(app, row, usize::from(area.width)), is_selected.then(|| marker(app, has_keys)))
    });
    draw_rows(frame, area, rows.collect());
}

fn tree_line(app: &App, row: &TreeRow, width: usize) -> Line<'static> {
    let indent = " ".repeat((row.depth * 2).min(width / 2));
    let name = line::plain(&row.name);
    let (mark, count, style) = match row.target {
        TreeTarget::Folder(_) if row.documents == 0 => ("▸ ", String::new(), app.theme.folder()),
        TreeTarget::Folder(_) => ("▸ ", format!(" {}", row.documents), app.theme.folder()),
        TreeTarget::Document(_) => ("", String::new(), Style::new()),
    };
    let mark = if row.is_open { "▾ " } else { mark };
    let used = line::width(&indent) + line::width(mark) + line::width(&count);
    let name = line::clip(&name, width.saturating_sub(used));
    Line::from(vec![
        Span::raw(indent),
        Span::raw(mark),
        Span::styled(name, style),
        Span::styled(count, app.theme.quiet()),
    ])
}

fn draw_document(app: &App, frame: &mut Frame<'_>, area: Rect) {
    if area.is_empty() {
        return;
    }
    let has_keys = app.focus == Pane::Document && !matches!(app.mode, Mode::Edit(_));
    let title = app.document.as_ref().map_or_else(String::new, OpenDocument::title);
    let area = draw_border(app, frame, area, &title, has_keys);
    let Some(document) = &app.document else {
        let hint = Span::styled("Enter opens the selected document", app.theme.quiet());
        frame.render_widget(hint, Rect { height: area.height.min(1), ..area });
        return;
    };
    let (height, scroll) = (usize::from(area.height), app.document_scroll);
    let (mut rows, mut place) = (Vec::new(), scroll.top);
    while let Some((entry, context)) = document.entry(place) {
        if rows.len() >= height + scroll.skipped {
            break;
        }
        let is_selected = place == document.selected();
        let lines = block_lines::lines(entry, context, usize::from(area.width), app.theme);
        rows.extend(
            lines.into_iter().map(|line| (line, is_selected.then(|| marker(app, has_keys)))),
        );
        place += 1;
    }
    draw_rows(frame, area, rows.into_iter().skip(scroll.skipped).collect());
}

fn draw_edit(app: &App, edit: &BlockEdit, frame: &mut Frame<'_>, area: Rect) {
    let title = format!("{} · Enter saves, Esc cancels", edit.title());
    let area = draw_border(app, frame, area, &title, true);
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let (row, column) = edit.input.position(width);
    let top = (row + 1).saturating_sub(height.max(1));
    let rows = edit.input.rows(width).into_iter().skip(top).take(height);
    let rows = rows.map(|row| line::plain(edit.input.text().get(row).unwrap_or_default()));
    draw_rows(frame, area, rows.map(|row| (Line::from(row), None)).collect());
    set_cursor(frame, area, row - top, column);
}

fn set_cursor(frame: &mut Frame<'_>, area: Rect, row: usize, column: usize) {
    let within = |at: usize, length: u16| u16::try_from(at).unwrap_or(length).min(length);
    let (row, column) = (within(row, area.height), within(column, area.width));
    frame.set_cursor_position((area.x + column, area.y + row));
}

fn draw_search(app: &App, search: &SearchPrompt, frame: &mut Frame<'_>, screen: Rect) {
    let area = Rect { height: screen.height.saturating_sub(1), ..screen };
    frame.render_widget(Clear, area);
    let area = draw_border(app, frame, area, "Search · Enter opens, Esc cancels", true);
    let width = usize::from(area.width);
    let (row, column) = search.input.position(width);
    let typed = search.input.rows(width).get(row).cloned();
    let typed = typed.and_then(|row| search.input.text().get(row)).unwrap_or_default().to_owned();
    let mut rows = vec![(Line::from(typed), None), (Line::default(), None)];
    if !search.message.is_empty() {
        let message = line::clip(&line::plain(&search.message), width);
        rows.push((Line::styled(message, app.theme.quiet()), None));
    }
    // A hit has two rows. The selected one is the last on the screen, unless it is on the first.
    let hits_on_screen = (usize::from(area.height).saturating_sub(2) / 2).max(1);
    let top = (search.selected + 1).saturating_sub(hits_on_screen);
    for (place, hit) in search.hits.iter().enumerate().skip(top).take(hits_on_screen) {
        let selected = (place == search.selected).then(|| marker(app, true));
        let path = line::clip(&line::plain(&hit.path), width);
        rows.push((Line::styled(path, app.theme.title()), selected));
        rows.push((snippet_line(app, hit, width), None));
    }
    draw_rows(frame, area, rows);
    set_cursor(frame, area, 0, column);
}

fn snippet_line(app: &App, hit: &SearchHit, width: usize) -> Line<'static> {
    let (mut line, mut left) = (Line::from("  "), width.saturating_sub(2));
    for (text, is_hit) in &hit.snippet {
        let text = line::clip(text, left);
        left = left.saturating_sub(line::width(&text));
        line.push_span(Span::styled(text, if *is_hit { app.theme.hit() } else { Style::new() }));
        if left == 0 {
            break;
        }
    }
    line
}

fn draw_help(app: &App, frame: &mut Frame<'_>, area: Rect) {
    frame.render_widget(Clear, area);
    let area = draw_border(app, frame, area, "Keys · any key goes back", true);
    let key = |(keys, what): &(&str, &str)| {
        let blank = " ".repeat(12_usize.saturating_sub(line::width(keys)));
        let line = vec![Span::styled(format!("{keys}{blank}"), app.theme.title())];
        let mut line = Line::from(line);
        line.push_span(Span::raw((*what).to_owned()));
        (line, None)
    };
    draw_rows(frame, area, KEYS.iter().map(key).collect());
}

fn draw_status(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let (text, style) = match &app.mode {
        Mode::Delete(question) => (question.text.as_str(), app.theme.title()),
        _ if app.message.is_error => (app.message.text.as_str(), app.theme.error()),
        _ if app.message.text.is_empty() => (HINT, app.theme.quiet()),
        _ => (app.message.text.as_str(), Style::new()),
    };
    let text = line::clip(&line::plain(text), usize::from(area.width));
    frame.render_widget(Paragraph::new(Line::styled(text, style)), area);
}
