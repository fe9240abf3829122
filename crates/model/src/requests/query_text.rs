//! Searches as people type them: words and phrases, with filters among them.

use crate::{DayRange, DayRef, FolderRef, Limits, SearchDocuments};

/// A part of a query: up to a blank outside of quotation marks.
struct QueryToken<'t> {
    /// As it was typed.
    source: &'t str,
    is_excluded: bool,
    /// The name before a colon.
    name: Option<&'t str>,
    /// The rest, without quotation marks around it.
    value: &'t str,
}

impl<'t> QueryToken<'t> {
    fn new(source: &'t str) -> Self {
        let (is_excluded, rest) = match source.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, source),
        };
        let named = rest.split_once(':').filter(|(name, _)| is_filter(name));
        let (name, value) = named.map_or((None, rest), |(name, value)| (Some(name), value));
        let inner = value.strip_prefix('"').map(|value| value.strip_suffix('"').unwrap_or(value));
        Self { source, is_excluded, name, value: inner.unwrap_or(value).trim() }
    }
}

const FILTERS: [&str; 5] = ["title", "tag", "in", "created", "modified"];

fn is_filter(name: &str) -> bool {
    FILTERS.iter().any(|filter| name.eq_ignore_ascii_case(filter))
}

/// The parts of a query, split at blanks outside of quotation marks. A mark that is not closed is
/// a character like any other.
fn tokens(text: &str) -> Vec<QueryToken<'_>> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() {
        let mut end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let mark = rest.find('"').filter(|mark| *mark < end);
        let closing = |mark: usize| Some(mark + 1 + rest.get(mark + 1..)?.find('"')?);
        if let Some(closing) = mark.and_then(closing) {
            end = closing + 1;
        }
        let (source, after) = rest.split_at(end);
        tokens.push(QueryToken::new(source));
        rest = after.trim_start();
    }
    tokens
}

/// `DAY`, `>=DAY`, `<=DAY` or `DAY..DAY`, where a day is `2026-03-01`, `today`, `yesterday` or
/// `tomorrow`.
fn day_range(text: &str) -> Option<DayRange> {
    let day = |text: &str| text.parse::<DayRef>().ok();
    if let Some(from) = text.strip_prefix(">=") {
        day(from).map(DayRange::since)
    } else if let Some(to) = text.strip_prefix("<=") {
        day(to).map(DayRange::until)
    } else if let Some((from, to)) = text.split_once("..") {
        Some(DayRange { from: Some(day(from)?), to: Some(day(to)?) })
    } else {
        day(text).map(DayRange::on)
    }
}

/// Whether a search finds a word in the text.
fn has_word(text: &str) -> bool {
    text.chars().any(|letter| letter.is_alphanumeric() || is_emoji(letter))
}

/// Whether a character is an emoji, or a symbol used as one: stars, ticks, crosses, weather, flags.
/// Each is a word.
pub const fn is_emoji(letter: char) -> bool {
    matches!(letter as u32,
        0x231A..=0x231B | 0x23E9..=0x23FA | 0x2600..=0x27BF | 0x2B1B..=0x2B1C | 0x2B50..=0x2B55
        | 0x1F000..=0x1FAFF)
}

/// Words and phrases as texts of a request: one, or as many as their length requires, up to the
/// limits of a request.
fn search_texts(words: &[&str]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for word in words.iter().flat_map(|word| short_words(word)) {
        match texts.last_mut() {
            Some(text) if text.len() + 1 + word.len() <= Limits::TERM_BYTES => {
                text.push(' ');
                text.push_str(word);
            }
            _ => texts.push(word.to_owned()),
        }
    }
    texts.truncate(Limits::TERMS);
    texts
}

/// A part of a query; if it is longer than a text may be, its words, or pieces of them.
fn short_words(word: &str) -> Vec<&str> {
    if word.len() <= Limits::TERM_BYTES {
        return vec![word];
    }
    let words = word.split(|letter: char| letter == '"' || letter.is_whitespace());
    let mut short = Vec::new();
    for mut rest in words {
        while !rest.is_empty() {
            let mut ends = (1..=Limits::TERM_BYTES).rev();
            let end = ends.find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len());
            let (piece, after) = rest.split_at(end);
            short.push(piece);
            rest = after;
        }
    }
    short
}

impl SearchDocuments {
    /// Reads a query as people type it: words, `"phrases"`, and filters among them. Every text is
    /// a query: anything but a filter is searched as text.
    ///
    /// | filter | documents |
    /// |---|---|
    /// | `title:lisbon` | with this word in the title |
    /// | `tag:travel` | with this tag, or a tag nested in it |
    /// | `in:Recipes` | in this folder or location, which `folder` looks up |
    /// | `created:>=2026-01-01`, `modified:<=today`, `created:2026-01-01..2026-01-31` | of these days |
    /// | `-word`, `-"two words"` | without this word or phrase |
    ///
    /// A value with blanks is put in quotation marks: `in:"Old recipes"`. A query of filters alone
    /// finds all documents that they select. Words of more than [`Limits::TERM_BYTES`] become
    /// several texts of the request, the last word of each a prefix, and those beyond
    /// [`Limits::TERMS`] texts are left out; a phrase of more bytes is searched as its words.
    ///
    /// ```
    /// use leafbase_model::{DayRange, DayRef, SearchDocuments};
    /// let text = "night train tag:travel -bus modified:>=yesterday in:nowhere";
    /// let request = SearchDocuments::from_query_text(text, |_| None);
    /// let expected = SearchDocuments::words("night train in:nowhere").tagged("travel").without("bus");
    /// assert_eq!(request, expected.modified(DayRange::since(DayRef::Yesterday)));
    /// ```
    pub fn from_query_text(text: &str, folder: impl Fn(&str) -> Option<FolderRef>) -> Self {
        let (mut request, mut words) = (Self::default(), Vec::new());
        for token in tokens(text) {
            if !request.take_filter(&token, &folder) {
                words.push(token.source);
            }
        }
        if words.iter().any(|word| has_word(word)) || request == Self::default() {
            request.include = search_texts(&words);
        }
        if request.include.is_empty() && request.title.is_empty() {
            // Matches every block, and so all documents that the filters select.
            request.regexps.push(String::new());
        }
        request
    }

    /// Adds the filter that a part of a query is; otherwise returns `false`.
    fn take_filter(
        &mut self,
        token: &QueryToken<'_>,
        folder: &impl Fn(&str) -> Option<FolderRef>,
    ) -> bool {
        let value = token.value;
        let Some(name) = token.name else {
            let is_excluded = token.is_excluded && has_word(value);
            if is_excluded {
                self.exclude.push(value.to_owned());
            }
            return is_excluded;
        };
        if token.is_excluded {
            return false;
        }
        let filter = &mut self.filter;
        match name.to_ascii_lowercase().as_str() {
            "title" if has_word(value) => self.title.push(value.to_owned()),
            "tag" if has_word(value) => {
                filter.tags.push(value.strip_prefix('#').unwrap_or(value).to_owned());
            }
            "in" => match (folder(value), filter.location, &mut filter.folders) {
                (Some(FolderRef::BuiltIn(location)), None, None) => {
                    filter.location = Some(location);
                }
                (Some(FolderRef::Folder(folder)), None, folders) => {
                    folders.get_or_insert_default().push(folder.into());
                }
                // A search has one location, or folders.
                _ => return false,
            },
            name @ ("created" | "modified") => {
                let Some(days) = day_range(value) else { return false };
                let range =
                    if name == "created" { &mut filter.created } else { &mut filter.modified };
                range.from = days.from.or(range.from);
                range.to = days.to.or(range.to);
            }
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BuiltInLocation, FolderId};

    fn read(text: &str) -> SearchDocuments {
        SearchDocuments::from_query_text(text, |name| match name {
            "trash" => Some(BuiltInLocation::Trash.into()),
            "Old recipes" | "Recipes" => Some(FolderId::from_bytes([3; 16]).into()),
            _ => None,
        })
    }

    #[test]
    fn filters_are_taken_out_of_the_text() {
        let words = SearchDocuments::words;
        let folder = FolderId::from_bytes([3; 16]);
        let day: DayRef = "2026-01-01".parse().unwrap();
        let all = SearchDocuments::pattern("");
        for (text, expected) in [
            ("night train", words("night train")),
            ("  \"night train\"  pass ", words("\"night train\" pass")),
            ("train -bus", words("train").without("bus")),
            ("train -\"slow bus\"", words("train").without("slow bus")),
            ("Title:Lisbon", SearchDocuments::default().titled("Lisbon")),
            ("a title:\"to Lisbon\" b", words("a b").titled("to Lisbon")),
            ("tag:#travel a", words("a").tagged("travel")),
            ("tag:travel", all.clone().tagged("travel")),
            ("in:\"Old recipes\" bread", words("bread").within_folder(folder)),
            ("bread in:trash", words("bread").at(BuiltInLocation::Trash)),
            ("a created:2026-01-01", words("a").created(DayRange::on(day))),
            ("a created:>=2026-01-01", words("a").created(DayRange::since(day))),
            (
                "a modified:2026-01-01..today",
                words("a").modified(DayRange { from: Some(day), to: Some(DayRef::Today) }),
            ),
            (
                "a modified:>=2026-01-01 modified:<=today",
                words("a").modified(DayRange { from: Some(day), to: Some(DayRef::Today) }),
            ),
            ("-bus", all.clone().without("bus")),
            // Emoji are words, and other symbols are not.
            ("🎉 tag:fun", words("🎉").tagged("fun")),
            ("party -🎉", words("party").without("🎉")),
            ("title:☀️", SearchDocuments::default().titled("☀️")),
            ("→ tag:fun", all.tagged("fun")),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_filter_is_text() {
        for text in [
            "in:nowhere a",
            "created:soon a",
            "created:>2026 a",
            "created:2026-02-30 a",
            "title: a",
            "tag: a",
            "-tag:a",
            "- a",
            "-- a",
            "http://x.org a",
            "12:30 a",
            "\"open a",
            "a-b",
            "a \"b",
            "!?",
        ] {
            assert_eq!(read(text), SearchDocuments::words(text), "{text}");
        }
        // A second place, and a folder beside a location.
        assert_eq!(read("in:trash in:Recipes"), read("in:trash").and("in:Recipes").no_patterns());
        assert!(read("in:trash in:Recipes").check().is_ok());
        assert_eq!(read("").regexps, [""]);
    }

    #[test]
    fn long_queries_are_several_texts() {
        let include = |text: &str| {
            let request = read(text);
            assert_eq!((request.regexps.len(), request.check().is_ok()), (0, true));
            assert!(request.include.iter().all(|text| text.len() <= Limits::TERM_BYTES));
            request.include
        };
        let sentence = ["слово"; 60].join(" ");
        let parts = [23, 23, 14].map(|words| vec!["слово"; words].join(" "));
        assert_eq!(include(&sentence), parts);
        // A phrase stays together.
        let phrase = format!("\"{}\"", ["train"; 20].join(" "));
        let texts = include(&format!("{phrase} {} {phrase} tag:travel", ["x"; 40].join(" ")));
        assert_eq!(texts, [format!("{phrase} {}", ["x"; 40].join(" ")), phrase]);
        // What is longer than a text is cut between words, or within one.
        let long = format!("\"{}\"", ["train"; 50].join(" "));
        assert_eq!(include(&long), [42, 8].map(|words| vec!["train"; words].join(" ")));
        assert_eq!(include(&"東".repeat(200)), [85, 85, 30].map(|length| "東".repeat(length)));
        assert_eq!(include(&sentence.repeat(100)).len(), Limits::TERMS);
    }

    #[test]
    fn emoji() {
        for letter in "🎉❤✅⭐⌚☀🇫🫠👍☑".chars() {
            assert!(is_emoji(letter), "{letter}");
        }
        for letter in "a1東→•©–€│".chars() {
            assert!(!is_emoji(letter), "{letter}");
        }
    }

    impl SearchDocuments {
        fn no_patterns(mut self) -> Self {
            self.regexps.clear();
            self
        }
    }
}
