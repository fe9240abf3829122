//! How blocks look: list styles, text styles, cards, media frames, separators, decorations.

use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use crate::json::{FromJson, quoted, wire_enum};
use crate::{Error, Result};

wire_enum! {
    /// How a block stands in a list.
    ListStyle {
        /// No list.
        #[default]
        None = "none",
        /// A bullet.
        Bullet = "bullet",
        /// A number.
        Numbered = "numbered",
        /// A bullet that folds what is indented below it.
        Toggle = "toggle",
        /// A task, with a state.
        Task = "task",
    }
}

wire_enum! {
    /// How a text or a page is styled.
    TextStyle {
        /// Shown as a card.
        Card = "card",
        /// Shown as a page.
        Page = "page",
        /// Heading, first level.
        H1 = "h1",
        /// Heading, second level.
        H2 = "h2",
        /// Heading, third level.
        H3 = "h3",
        /// Heading, fourth level.
        H4 = "h4",
        /// Small text.
        Caption = "caption",
        /// Plain text.
        #[default]
        Body = "body",
    }
}

wire_enum! {
    /// Where the lines of a text begin.
    TextAlignment {
        /// At the left.
        #[default]
        Left = "left",
        /// In the middle.
        Center = "center",
        /// At the right.
        Right = "right",
        /// At both sides.
        Justify = "justify",
    }
}

wire_enum! {
    /// The typeface.
    Font {
        /// The reader's own.
        #[default]
        System = "system",
        /// With serifs.
        Serif = "serif",
        /// Rounded.
        Rounded = "rounded",
        /// All letters of one width.
        Mono = "mono",
    }
}

wire_enum! {
    /// The size of a card.
    CardLayout {
        /// For several columns; not on text blocks.
        Small = "small",
        /// For several columns; not on text blocks.
        Square = "square",
        /// Full width.
        #[default]
        Regular = "regular",
        /// Full width, taller.
        Large = "large",
    }
}

wire_enum! {
    /// How a picture or video fills its frame.
    MediaSize {
        /// All of it is seen.
        #[default]
        Fit = "fit",
        /// The frame is full.
        Fill = "fill",
    }
}

wire_enum! {
    /// How wide a picture or video is.
    MediaWidth {
        /// As wide as the text.
        #[default]
        Auto = "auto",
        /// As wide as the page.
        FullWidth = "fullWidth",
    }
}

wire_enum! {
    /// The size of a file or a rich link.
    BlockLayout {
        /// One line.
        Small = "small",
        /// A few lines.
        #[default]
        Regular = "regular",
        /// A card.
        Card = "card",
    }
}

wire_enum! {
    /// How strong a separator is.
    LineStyle {
        /// Strongest.
        Strong = "strong",
        /// As usual.
        #[default]
        Regular = "regular",
        /// Weaker.
        Light = "light",
        /// Weakest.
        ExtraLight = "extraLight",
        /// Groups what is between into page-looking chunks; the page hierarchy stays as it is.
        PageBreak = "pageBreak",
    }
}

/// What a block is decorated with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Decorations {
    /// Set off as a callout.
    pub callout: bool,
    /// Set off as a quotation.
    pub quote: bool,
}

impl Decorations {
    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        !self.callout && !self.quote
    }
}

impl Serialize for Decorations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            [(self.callout, "callout"), (self.quote, "quote")]
                .into_iter()
                .filter_map(|(on, name)| on.then_some(name)),
        )
    }
}

impl FromJson for Decorations {
    fn from_json(value: Value) -> Result<Self> {
        let mut read = Self::default();
        for (index, name) in Vec::<String>::from_json(value)?.into_iter().enumerate() {
            let flag = match name.as_str() {
                "callout" => &mut read.callout,
                "quote" => &mut read.quote,
                other => {
                    let message =
                        format!("unknown value {}, expected one of callout, quote", quoted(other));
                    return Err(Error::validation(message).at(format_args!("[{index}]")));
                }
            };
            *flag = true;
        }
        Ok(read)
    }
}

/// How a text or a page looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TextFormat {
    /// The style.
    pub style: TextStyle,
    /// The alignment.
    pub alignment: TextAlignment,
    /// The typeface.
    pub font: Font,
    /// The size as a card; kept without effect where the style is not `card`.
    pub card_layout: CardLayout,
}
