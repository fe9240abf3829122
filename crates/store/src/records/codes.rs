//! The codes of enumerations on disk. A code is never reused for another value.

use leafbase_model::{
    BlockLayout, CardLayout, CodeLanguage, Font, LineStyle, ListStyle, MediaSize, MediaWidth,
    PropertyType, TaskState, TextAlignment, TextStyle,
};

/// The code 0 is the default, which is omitted.
macro_rules! codes {
    ($($name:ident { $($value:ident = $code:literal),* $(,)? })*) => {$(
        impl $crate::records::layout::Field for $name {
            #[inline]
            fn encode_field(&self, array: &mut $crate::msgpack::ArrayEncoder<'_>) {
                array.uint(match self { $(Self::$value => $code),* });
            }

            #[inline]
            fn decode_field(
                fields: &mut $crate::msgpack::FieldDecoder<'_, '_>,
            ) -> $crate::msgpack::Decoded<Self> {
                match fields.uint()? {
                    $($code => Ok(Self::$value),)*
                    _ => Err($crate::msgpack::DecodeError::UnsupportedVersion),
                }
            }
        }
    )*};
}
pub(super) use codes;

codes! {
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
        Text = 0, Number = 1, Boolean = 2, Date = 3, Url = 4, Email = 5, Phone = 6,
        SingleSelect = 7, MultiSelect = 8, Relation = 9,
    }
    CodeLanguage {
        Plaintext = 0, Ada = 1, Bash = 2, Cpp = 3, Cs = 4, Css = 5, Dart = 6, Dockerfile = 7,
        Matlab = 8, Go = 9, Groovy = 10, Haskell = 11, Html = 12, Java = 13, Javascript = 14,
        Json = 15, Julia = 16, Kotlin = 17, Lua = 18, Markdown = 19, Mermaid = 20,
        Objectivec = 21, Perl = 22, Php = 23, Prolog = 24, Python = 25, R = 26, Ruby = 27,
        Rust = 28, Scala = 29, Shell = 30, Sql = 31, Swift = 32, Typescript = 33, Vbnet = 34,
        Xml = 35, Yaml = 36, MathFormula = 37, Other = 38,
    }
}

#[cfg(test)]
mod tests {
    use leafbase_model::BlockType;

    use super::*;
    use crate::msgpack::{ArrayEncoder, Decoder};
    use crate::records::layout::Field;

    fn all_round_trip<T: Field + Default + PartialEq + std::fmt::Debug>(all: &[T]) {
        assert_eq!(encoded(&T::default()), [0x90], "the default has the code 0, which is omitted");
        for value in all {
            let bytes = encoded(value);
            let mut decoder = Decoder::new(&bytes);
            let decoded = T::decode_field(&mut decoder.fields().unwrap());
            assert_eq!(decoded.as_ref(), Ok(value));
        }
    }

    fn encoded(value: &impl Field) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut array = ArrayEncoder::new(&mut bytes);
        value.encode_field(&mut array);
        array.end();
        bytes
    }

    #[test]
    fn codes_round_trip_and_defaults_are_0() {
        all_round_trip(BlockType::ALL);
        all_round_trip(ListStyle::ALL);
        all_round_trip(TextStyle::ALL);
        all_round_trip(TextAlignment::ALL);
        all_round_trip(Font::ALL);
        all_round_trip(CardLayout::ALL);
        all_round_trip(MediaSize::ALL);
        all_round_trip(MediaWidth::ALL);
        all_round_trip(BlockLayout::ALL);
        all_round_trip(LineStyle::ALL);
        all_round_trip(TaskState::ALL);
        all_round_trip(PropertyType::ALL);
        all_round_trip(CodeLanguage::ALL);
    }
}
