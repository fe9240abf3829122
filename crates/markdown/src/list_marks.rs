//! Marks of list items.

use leafbase_model::{ListStyle, TaskState};

use crate::line_starts::Marker;

/// The state of a task mark and its length in bytes.
pub(crate) fn task_mark(rest: &str) -> Option<(TaskState, usize)> {
    let state = match *mark(rest)? {
        b' ' => TaskState::Todo,
        b'x' | b'X' => TaskState::Done,
        b'-' => TaskState::Canceled,
        _ => return None,
    };
    Some((state, 3))
}

/// An unknown mark in brackets, as other programs write them: `[/]`, `[?]`.
pub(crate) fn unknown_mark(rest: &str) -> Option<char> {
    mark(rest).copied().filter(u8::is_ascii).map(char::from).filter(|_| task_mark(rest).is_none())
}

fn mark(rest: &str) -> Option<&u8> {
    let bytes = rest.as_bytes();
    let framed = bytes.first() == Some(&b'[') && bytes.get(2) == Some(&b']');
    let ends = matches!(bytes.get(3), None | Some(b' ' | b'\t' | b'\n'));
    if framed && ends { bytes.get(1) } else { None }
}

/// List style of items with `marker`.
pub(crate) const fn style(marker: Marker) -> ListStyle {
    match marker.sign {
        b'+' => ListStyle::Toggle,
        b'-' | b'*' => ListStyle::Bullet,
        _ => ListStyle::Numbered,
    }
}
