//! Styles of the output.

use anstyle::{AnsiColor, Style};

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default();
/// Titles and paths of documents.
pub(crate) const TITLE: Style = Style::new().bold();
/// Folders.
pub(crate) const FOLDER: Style = AnsiColor::Blue.on_default().bold();
/// Secondary information, such as IDs.
pub(crate) const QUIET: Style = Style::new().dimmed();
/// Search matches.
pub(crate) const HIT: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Blocks that a version added or removed.
pub(crate) const ADDED: Style = AnsiColor::Green.on_default();
pub(crate) const REMOVED: Style = AnsiColor::Red.on_default();
pub(crate) const LATE: Style = AnsiColor::Red.on_default();
