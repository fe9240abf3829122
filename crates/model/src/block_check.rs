//! The invariants of a block by itself: lengths, tasks, indentation.

use crate::block::{TASK_INFO_WITHOUT_TASK, indentation_out_of_range};
use crate::texts::KindText;
use crate::{
    BlockData, BlockKind, CardLayout, Error, Limits, ListStyle, Result, TextFormat, TextRole,
};

impl BlockData {
    /// Validates the invariants that hold for every block regardless of its location: the
    /// indentation range, the length limits, a task exactly where the list style asks for one, and
    /// no multi-column card layout on text blocks.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`], [`crate::ErrorKind::LimitExceeded`] or
    /// [`crate::ErrorKind::RuleViolation`]; the path is the wire name of the field.
    pub fn check(&self, limits: &Limits) -> Result<()> {
        // Fields in the order of the specification: the first fault is reported.
        if self.indentation > Limits::INDENTATION {
            return Err(
                indentation_out_of_range(u64::from(self.indentation)).at("indentationLevel")
            );
        }
        // A task without its list style would be invisible, and the style without a task has no
        // state.
        match (&self.task, self.list_style == ListStyle::Task) {
            (Some(_), false) => {
                return Err(Error::validation(TASK_INFO_WITHOUT_TASK).at("taskInfo"));
            }
            (None, true) => {
                return Err(Error::validation("taskInfo is missing, though listStyle is task")
                    .at("taskInfo"));
            }
            _ => {}
        }
        // Tables count as raw content: their limit is that of source code.
        let longest = if matches!(self.kind, BlockKind::Table) {
            limits.block_raw
        } else {
            limits.block_text
        };
        let bytes = self.inline.len();
        if bytes > longest {
            return Err(Error::limit("bytes of a block's text", longest, bytes).at("markdown"));
        }
        if matches!(
            self.kind,
            BlockKind::Page(_) | BlockKind::CollectionItem { .. } | BlockKind::Collection
        ) {
            // Titles are limited in characters, because people read them; other texts in bytes.
            let characters = self.inline.chars().count();
            if characters > limits.title {
                return Err(
                    Error::limit("characters of a title", limits.title, characters).at("markdown")
                );
            }
        }
        if let BlockKind::Text(TextFormat { card_layout, .. }) = self.kind
            && matches!(card_layout, CardLayout::Small | CardLayout::Square)
        {
            // Text blocks have no multi-column cards: they are not pages that a card could show.
            let message =
                format!("a text block cannot have the card layout {card_layout}; pages can");
            return Err(Error::rule(message).at("cardLayout"));
        }
        self.kind.text_fields().try_for_each(|field| check_field(limits, field))
    }
}

/// Checks a text of a kind. The path of an error is the name of the field.
fn check_field(limits: &Limits, KindText { role, name, text }: KindText<&String>) -> Result<()> {
    let (bytes_of, maximum) = match role {
        TextRole::Code => ("raw code", limits.block_raw),
        // Attributes share one limit.
        TextRole::EmbedUrl | TextRole::LinkUrl | TextRole::Label | TextRole::CodeTag => {
            (name, limits.attribute)
        }
        // No fields of a kind: the block and the schema check them.
        TextRole::Markdown | TextRole::Property => return Ok(()),
    };
    if text.len() > maximum {
        return Err(Error::limit(&format!("bytes of {bytes_of}"), maximum, text.len()).at(name));
    }
    if role == TextRole::CodeTag && text.contains(['\n', '\r']) {
        return Err(Error::validation("a language tag is one line").at(name));
    }
    Ok(())
}
