//! Where the parts of the screen are.

use ratatui::layout::{Constraint, Layout, Rect};

/// Columns below which only the pane with the keys is shown.
const MIN_COLUMNS_OF_TWO_PANES: u16 = 60;

/// The part of the screen that has the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pane {
    Folders,
    Document,
}

/// The areas of the screen, borders included. An area without columns is not shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScreenLayout {
    pub(crate) folders: Rect,
    pub(crate) document: Rect,
    /// The text that is edited, below the document.
    pub(crate) input: Rect,
    pub(crate) status: Rect,
}

impl ScreenLayout {
    /// The areas with this many rows of edited text, `None` without an edit.
    pub(crate) fn new(screen: Rect, focus: Pane, input_rows: Option<usize>) -> Self {
        let [panes, status] =
            Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(screen);
        let is_narrow = panes.width < MIN_COLUMNS_OF_TWO_PANES;
        let of_folders = match focus {
            Pane::Folders if is_narrow => panes.width,
            Pane::Document if is_narrow => 0,
            _ => (panes.width / 3).clamp(24, 40),
        };
        let [folders, right] =
            Layout::horizontal([Constraint::Length(of_folders), Constraint::Min(0)]).areas(panes);
        let rows = input_rows.map_or(0, |rows| u16::try_from(rows).unwrap_or(u16::MAX));
        // The edited text has its two borders, and leaves the document at least a half.
        let rows =
            if input_rows.is_some() { (rows.saturating_add(2)).min(right.height / 2) } else { 0 };
        let [document, input] =
            Layout::vertical([Constraint::Min(0), Constraint::Length(rows)]).areas(right);
        Self { folders, document, input, status }
    }
}

/// The area within a border, a marker of the selected row and a blank on the left, and a blank on
/// the right.
pub(crate) const fn within_border(area: Rect) -> Rect {
    Rect {
        x: area.x.saturating_add(3),
        y: area.y.saturating_add(1),
        width: area.width.saturating_sub(5),
        height: area.height.saturating_sub(2),
    }
}
