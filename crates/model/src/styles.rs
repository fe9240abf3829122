//! Formats of blocks: list styles, text styles, cards, media frames, separators, decorations.

use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use crate::json::{deserialize_by, quoted, wire_enum};
use crate::{Error, Result};

wire_enum! {
    /// The list style of a block.
    ListStyle {
        /// Not in a list.
        #[default]
        None = "none",
        /// A bulleted list item.
        Bullet = "bullet",
        /// A numbered list item.
        Numbered = "numbered",
        /// A bulleted list item that folds the blocks indented below it.
        Toggle = "toggle",
        /// A task, with a state.
        Task = "task",
    }
}

wire_enum! {
    /// The style of a text or page block.
    TextStyle {
        /// Shown as a card.
        Card = "card",
        /// Shown as a page.
        Page = "page",
        /// Heading of level 1.
        H1 = "h1",
        /// Heading of level 2.
        H2 = "h2",
        /// Heading of level 3.
        H3 = "h3",
        /// Heading of level 4.
        H4 = "h4",
        /// Small text.
        Caption = "caption",
        /// Body text.
        #[default]
        Body = "body",
    }
}

impl TextStyle {
    /// Whether it is a heading, of any level.
    pub const fn is_heading(self) -> bool {
        matches!(self, Self::H1 | Self::H2 | Self::H3 | Self::H4)
    }
}

wire_enum! {
    /// The horizontal alignment of a text.
    TextAlignment {
        /// Left-aligned.
        #[default]
        Left = "left",
        /// Centered.
        Center = "center",
        /// Right-aligned.
        Right = "right",
        /// Justified.
        Justify = "justify",
    }
}

wire_enum! {
    /// The typeface.
    Font {
        /// The default typeface of the reader.
        #[default]
        System = "system",
        /// A serif typeface.
        Serif = "serif",
        /// A rounded typeface.
        Rounded = "rounded",
        /// A monospaced typeface.
        Mono = "mono",
    }
}

wire_enum! {
    /// The layout of a card.
    CardLayout {
        /// Small, for several columns; not on text blocks.
        Small = "small",
        /// Square, for several columns; not on text blocks.
        Square = "square",
        /// Full width.
        #[default]
        Regular = "regular",
        /// Full width, taller.
        Large = "large",
    }
}

wire_enum! {
    /// How an image or video fills its frame.
    MediaSize {
        /// Scaled to fit the frame.
        #[default]
        Fit = "fit",
        /// Scaled and cropped to fill the frame.
        Fill = "fill",
    }
}

wire_enum! {
    /// The width of an image or video.
    MediaWidth {
        /// As wide as the text.
        #[default]
        Auto = "auto",
        /// As wide as the page.
        FullWidth = "fullWidth",
    }
}

wire_enum! {
    /// The display size of a file or a rich link.
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
    /// The style of a separator.
    LineStyle {
        /// The strongest line.
        Strong = "strong",
        /// The default line.
        #[default]
        Regular = "regular",
        /// A lighter line.
        Light = "light",
        /// The lightest line.
        ExtraLight = "extraLight",
        /// A visual page break; it does not affect the page hierarchy.
        PageBreak = "pageBreak",
    }
}

/// The decorations of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Decorations {
    /// Shown as a callout.
    pub callout: bool,
    /// Shown as a quotation.
    pub quote: bool,
}

impl Decorations {
    /// Whether there are no decorations.
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

impl Decorations {
    fn read(value: Value) -> Result<Self> {
        let mut read = Self::default();
        for (index, name) in crate::json::read::<Vec<String>>(value)?.into_iter().enumerate() {
            // A decoration named twice is set once.
            let flag = match name.as_str() {
                "callout" => &mut read.callout,
                "quote" => &mut read.quote,
                other => {
                    let message =
                        format!("unknown decoration {}, expected callout or quote", quoted(other));
                    return Err(Error::validation(message).at(format_args!("[{index}]")));
                }
            };
            *flag = true;
        }
        Ok(read)
    }
}

deserialize_by!(Decorations: Self::read);

/// The text format of a text or page block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TextFormat {
    /// The style.
    pub style: TextStyle,
    /// The alignment.
    pub alignment: TextAlignment,
    /// The typeface.
    pub font: Font,
    /// The card layout; kept, but without effect unless the style is `card`.
    pub card_layout: CardLayout,
}
