//! A text with the styles of its marks, in rows of a width.

use std::ops::Range;

use leafbase::PlainText;
use ratatui::style::Style;
use ratatui::text::Span;

use super::theme::Theme;
use super::wrapped_text;
use crate::show::line;

/// A text without control characters but line ends.
#[derive(Debug, Default)]
pub(crate) struct StyledText {
    text: String,
    /// Its parts, which follow each other and cover it.
    parts: Vec<(Range<usize>, Style)>,
}

impl StyledText {
    /// The text in `style`, and its marks in theirs on top.
    pub(crate) fn of(plain: &PlainText, style: Style, theme: Theme) -> Self {
        let mut borders: Vec<usize> =
            plain.marks().iter().flat_map(|mark| [mark.range.start, mark.range.end]).collect();
        borders.extend([0, plain.as_str().len()]);
        borders.sort_unstable();
        borders.dedup();
        let mut styled = Self::default();
        for pair in borders.windows(2) {
            let &[start, end] = pair else { continue };
            let marks = plain.marks().iter();
            let around = marks.filter(|mark| mark.range.start <= start && end <= mark.range.end);
            let style = around.fold(style, |style, mark| style.patch(theme.marked(mark.kind)));
            styled.push(plain.as_str().get(start..end).unwrap_or_default(), style);
        }
        styled
    }

    /// A text of one style.
    pub(crate) fn unmarked(text: &str, style: Style) -> Self {
        let mut styled = Self::default();
        styled.push(text, style);
        styled
    }

    fn push(&mut self, text: &str, style: Style) {
        let start = self.text.len();
        for (number, row) in text.split('\n').enumerate() {
            self.text.push_str(if number > 0 { "\n" } else { "" });
            self.text.push_str(&line::plain(row));
        }
        self.parts.push((start..self.text.len(), style));
    }

    /// The rows in `width` columns, as [`wrapped_text::words`] breaks them.
    pub(crate) fn rows(&self, width: usize) -> Vec<Vec<Span<'static>>> {
        let rows = wrapped_text::words(&self.text, width);
        rows.into_iter().map(|row| self.spans(&row)).collect()
    }

    fn spans(&self, row: &Range<usize>) -> Vec<Span<'static>> {
        let within = |(part, style): &(Range<usize>, Style)| {
            let shown = part.start.max(row.start)..part.end.min(row.end);
            let text = self.text.get(shown).filter(|text| !text.is_empty())?;
            Some(Span::styled(text.to_owned(), *style))
        };
        self.parts.iter().filter_map(within).collect()
    }
}

#[cfg(test)]
mod tests {
    use ratatui::style::Modifier;

    use super::*;

    /// The rows, with each span's modifiers and whether it has a color.
    fn rows(markdown: &str, width: usize) -> Vec<Vec<(String, Modifier, bool)>> {
        let theme = Theme { has_color: true };
        let rows = StyledText::of(&PlainText::of(markdown), Style::new(), theme).rows(width);
        let span = |span: Span<'_>| {
            let has_color = span.style.fg.is_some() || span.style.bg.is_some();
            (span.content.into_owned(), span.style.add_modifier, has_color)
        };
        rows.into_iter().map(|row| row.into_iter().map(span).collect()).collect()
    }

    #[test]
    fn marks_are_styles_in_every_row_that_they_reach() {
        let (plain, bold) = (Modifier::empty(), Modifier::BOLD);
        let span = |text: &str, modifier| (text.to_owned(), modifier, false);
        assert_eq!(
            rows("a **b c** d", 40),
            [vec![span("a ", plain), span("b c", bold), span(" d", plain)]]
        );
        assert_eq!(
            rows("a **bb cc** d", 5),
            [vec![span("a ", plain), span("bb", bold)], vec![span("cc", bold), span(" d", plain)]]
        );
        assert_eq!(
            rows("**a *b* ~~c~~**", 40),
            [vec![
                span("a ", bold),
                span("b", bold | Modifier::ITALIC),
                span(" ", bold),
                span("c", bold | Modifier::CROSSED_OUT)
            ]]
        );
        let colored = |markdown| rows(markdown, 40).concat().into_iter().map(|(.., color)| color);
        assert!(colored("`a`").eq([true]) && colored("[a](https://b.example)").eq([true]));
        assert!(colored("<highlight color=\"yellow\">a</highlight>").eq([true]));
        assert_eq!(rows("", 40), [vec![]; 1]);
    }
}
