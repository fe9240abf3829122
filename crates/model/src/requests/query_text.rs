//! Searches as people type them: words and phrases, with filters among them.

use crate::{DayRange, DayRef, FolderRef, SearchDocuments};

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

fn has_word(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
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
    /// finds all documents that they select.
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
        let words = words.join(" ");
        if has_word(&words) || !words.is_empty() && request == Self::default() {
            request.include.push(words);
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
            ("-bus", all.without("bus")),
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

    impl SearchDocuments {
        fn no_patterns(mut self) -> Self {
            self.regexps.clear();
            self
        }
    }
}
