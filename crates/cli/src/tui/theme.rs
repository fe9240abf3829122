//! The styles of the screen. Without color it has none: markers alone show the selected row.

use leafbase::InlineMarkKind;
use ratatui::style::{Color, Modifier, Style};

/// Whether styles are used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    pub(crate) has_color: bool,
}

impl Theme {
    const fn style(self, style: Style) -> Style {
        if self.has_color { style } else { Style::new() }
    }

    pub(crate) const fn title(self) -> Style {
        self.style(Style::new().add_modifier(Modifier::BOLD))
    }

    /// What a mark adds to the style of a text.
    pub(crate) const fn marked(self, kind: InlineMarkKind) -> Style {
        self.style(match kind {
            InlineMarkKind::Strong => Style::new().add_modifier(Modifier::BOLD),
            InlineMarkKind::Emphasis => Style::new().add_modifier(Modifier::ITALIC),
            InlineMarkKind::Strikethrough => Style::new().add_modifier(Modifier::CROSSED_OUT),
            InlineMarkKind::Code => Style::new().fg(Color::Cyan),
            InlineMarkKind::Link => Style::new().fg(Color::Blue).add_modifier(Modifier::UNDERLINED),
            InlineMarkKind::Picture => Style::new().add_modifier(Modifier::DIM),
            InlineMarkKind::Highlight => Style::new().fg(Color::Black).bg(Color::Yellow),
            _ => Style::new(),
        })
    }

    pub(crate) const fn folder(self) -> Style {
        self.style(Style::new().fg(Color::Blue).add_modifier(Modifier::BOLD))
    }

    pub(crate) const fn quiet(self) -> Style {
        self.style(Style::new().add_modifier(Modifier::DIM))
    }

    pub(crate) const fn hit(self) -> Style {
        self.style(Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD))
    }

    pub(crate) const fn error(self) -> Style {
        self.style(Style::new().fg(Color::Red).add_modifier(Modifier::BOLD))
    }

    pub(crate) const fn selected(self) -> Style {
        self.style(Style::new().add_modifier(Modifier::REVERSED))
    }

    /// The border of the pane that has the keys.
    pub(crate) const fn focus(self) -> Style {
        self.style(Style::new().fg(Color::Cyan))
    }
}
