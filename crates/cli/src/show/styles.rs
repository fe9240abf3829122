//! The few colours that there are.

use anstyle::{AnsiColor, Style};

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default();
/// Documents.
pub(crate) const TITLE: Style = Style::new().bold();
/// Folders.
pub(crate) const FOLDER: Style = AnsiColor::Blue.on_default().bold();
/// What helps, and is not looked for.
pub(crate) const QUIET: Style = Style::new().dimmed();
/// What was searched for.
pub(crate) const HIT: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const LATE: Style = AnsiColor::Red.on_default();
