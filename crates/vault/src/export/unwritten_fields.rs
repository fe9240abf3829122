//! Fields of blocks that markdown cannot say, counted for the report of an export.

use std::collections::BTreeMap;

use leafbase::markdown;
use leafbase::{BlockData, Font, TextAlignment};

use crate::report::VaultWarningKind;

/// Most characters of a block that a warning quotes.
const MAX_QUOTED_CHARS: usize = 40;

/// A field that is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum UnwrittenField {
    DueDate,
    ScheduledDate,
    Color,
    Alignment,
    Font,
}

impl UnwrittenField {
    const fn name(self) -> &'static str {
        match self {
            Self::DueDate => "due date",
            Self::ScheduledDate => "scheduled date",
            Self::Color => "color",
            Self::Alignment => "alignment",
            Self::Font => "font",
        }
    }

    const fn kind(self) -> VaultWarningKind {
        match self {
            Self::DueDate | Self::ScheduledDate => VaultWarningKind::TaskDate,
            Self::Color | Self::Alignment | Self::Font => VaultWarningKind::Appearance,
        }
    }
}

/// The fields of one document that are not written: how many blocks have each, and the first one.
#[derive(Debug, Default)]
pub(super) struct UnwrittenFields(BTreeMap<UnwrittenField, (usize, String)>);

impl UnwrittenFields {
    /// Counts the fields of a block.
    pub(super) fn add(&mut self, data: &BlockData) {
        let (task, look) = (data.task.unwrap_or_default(), data.text_format());
        for (field, is_set) in [
            (UnwrittenField::DueDate, task.deadline_date.is_some()),
            (UnwrittenField::ScheduledDate, task.schedule_date.is_some()),
            (UnwrittenField::Color, data.color.is_some()),
            (
                UnwrittenField::Alignment,
                look.is_some_and(|look| look.alignment != TextAlignment::default()),
            ),
            (UnwrittenField::Font, look.is_some_and(|look| look.font != Font::default())),
        ] {
            if is_set {
                let quoted =
                    || markdown::plain_text(&data.inline).chars().take(MAX_QUOTED_CHARS).collect();
                self.0.entry(field).or_insert_with(|| (0, quoted())).0 += 1;
            }
        }
    }

    /// The kinds and messages of the warnings.
    pub(super) fn warnings(&self) -> impl Iterator<Item = (VaultWarningKind, String)> {
        self.0.iter().map(|(field, (count, first))| {
            let name = field.name();
            let message = match count {
                1 => format!("the {name} of {first:?} is not written"),
                count => {
                    format!("the {name}s of {count} blocks are not written, {first:?} is the first")
                }
            };
            (field.kind(), message)
        })
    }
}
