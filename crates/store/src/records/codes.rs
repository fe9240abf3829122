//! The numbers that stand for named values on disk. A number is never used again for anything else.

use leafbase_model::{
    BlockLayout, BlockType, CardLayout, CodeLanguage, Font, LineStyle, ListStyle, MediaSize,
    MediaWidth, PropertyType, TaskState, TextAlignment, TextStyle,
};

use crate::msgpack::{ArrayEncoder, DecodeError, Decoded, FieldDecoder};

/// A named value with a number.
pub(crate) trait Coded: Copy + Default + PartialEq {
    fn code(self) -> u8;
    fn of_code(code: u8) -> Option<Self>;
}

macro_rules! codes {
    ($($name:ident { $($value:ident = $code:literal),* $(,)? })*) => {$(
        impl Coded for $name {
            fn code(self) -> u8 {
                match self { $(Self::$value => $code),* }
            }

            fn of_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$value),)* _ => None }
            }
        }
    )*};
}

codes! {
    BlockType {
        Text = 0, Page = 1, CollectionItem = 2, Image = 3, Video = 4, File = 5, Drawing = 6, Whiteboard = 7, Table = 8,
        Collection = 9, Code = 10, RichUrl = 11, Line = 12,
    }
    ListStyle { None = 0, Bullet = 1, Numbered = 2, Toggle = 3, Task = 4 }
    TextStyle { Body = 0, Card = 1, Page = 2, H1 = 3, H2 = 4, H3 = 5, H4 = 6, Caption = 7 }
    TextAlignment { Left = 0, Center = 1, Right = 2, Justify = 3 }
    Font { System = 0, Serif = 1, Rounded = 2, Mono = 3 }
    CardLayout { Regular = 0, Small = 1, Square = 2, Large = 3 }
    MediaSize { Fit = 0, Fill = 1 }
    MediaWidth { Auto = 0, FullWidth = 1 }
    BlockLayout { Regular = 0, Small = 1, Card = 2 }
    LineStyle { Regular = 0, Strong = 1, Light = 2, ExtraLight = 3, PageBreak = 4 }
    TaskState { Todo = 0, Done = 1, Canceled = 2 }
    PropertyType {
        Text = 0, Number = 1, Boolean = 2, Date = 3, Url = 4, Email = 5, Phone = 6, SingleSelect = 7, MultiSelect = 8,
        Relation = 9,
    }
    CodeLanguage {
        Plaintext = 0, Ada = 1, Bash = 2, Cpp = 3, Cs = 4, Css = 5, Dart = 6, Dockerfile = 7, Matlab = 8, Go = 9,
        Groovy = 10, Haskell = 11, Html = 12, Java = 13, Javascript = 14, Json = 15, Julia = 16, Kotlin = 17, Lua = 18,
        Markdown = 19, Mermaid = 20, Objectivec = 21, Perl = 22, Php = 23, Prolog = 24, Python = 25, R = 26, Ruby = 27,
        Rust = 28, Scala = 29, Shell = 30, Sql = 31, Swift = 32, Typescript = 33, Vbnet = 34, Xml = 35, Yaml = 36,
        MathFormula = 37, Other = 38,
    }
}

impl ArrayEncoder<'_> {
    pub(crate) fn code(&mut self, value: impl Coded) -> &mut Self {
        self.uint(u64::from(value.code()))
    }
}

impl FieldDecoder<'_, '_> {
    #[inline]
    pub(crate) fn code<T: Coded>(&mut self) -> Decoded<T> {
        let code = self.uint()?;
        u8::try_from(code).ok().and_then(T::of_code).ok_or(DecodeError::UnsupportedVersion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_read_back<T: Coded + std::fmt::Debug>(all: &[T]) {
        assert_eq!(T::default().code(), 0, "a default is left out, which reads as 0");
        for value in all {
            assert_eq!(T::of_code(value.code()), Some(*value));
        }
    }

    #[test]
    fn codes_read_back_and_defaults_are_0() {
        all_read_back(BlockType::ALL);
        all_read_back(ListStyle::ALL);
        all_read_back(TextStyle::ALL);
        all_read_back(TextAlignment::ALL);
        all_read_back(Font::ALL);
        all_read_back(CardLayout::ALL);
        all_read_back(MediaSize::ALL);
        all_read_back(MediaWidth::ALL);
        all_read_back(BlockLayout::ALL);
        all_read_back(LineStyle::ALL);
        all_read_back(TaskState::ALL);
        all_read_back(PropertyType::ALL);
        all_read_back(CodeLanguage::ALL);
    }
}
