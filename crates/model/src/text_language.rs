//! Languages of texts.

use crate::json::wire_enum;

wire_enum! {
    /// A language whose inflections a search knows, by its ISO 639-1 code.
    Language {
        /// Arabic.
        Arabic = "ar",
        /// Armenian.
        Armenian = "hy",
        /// Basque.
        Basque = "eu",
        /// Catalan.
        Catalan = "ca",
        /// Czech.
        Czech = "cs",
        /// Danish.
        Danish = "da",
        /// Dutch.
        Dutch = "nl",
        /// English.
        #[default]
        English = "en",
        /// Esperanto.
        Esperanto = "eo",
        /// Estonian.
        Estonian = "et",
        /// Finnish.
        Finnish = "fi",
        /// French.
        French = "fr",
        /// German.
        German = "de",
        /// Greek.
        Greek = "el",
        /// Hindi.
        Hindi = "hi",
        /// Hungarian.
        Hungarian = "hu",
        /// Indonesian.
        Indonesian = "id",
        /// Irish.
        Irish = "ga",
        /// Italian.
        Italian = "it",
        /// Lithuanian.
        Lithuanian = "lt",
        /// Nepali.
        Nepali = "ne",
        /// Norwegian.
        Norwegian = "no",
        /// Persian.
        Persian = "fa",
        /// Polish.
        Polish = "pl",
        /// Portuguese.
        Portuguese = "pt",
        /// Romanian.
        Romanian = "ro",
        /// Russian.
        Russian = "ru",
        /// Serbian.
        Serbian = "sr",
        /// Sesotho.
        Sesotho = "st",
        /// Spanish.
        Spanish = "es",
        /// Swedish.
        Swedish = "sv",
        /// Tamil.
        Tamil = "ta",
        /// Turkish.
        Turkish = "tr",
        /// Yiddish.
        Yiddish = "yi",
    }
}
