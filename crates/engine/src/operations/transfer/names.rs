//! Names of files and folders: any title becomes a name that every system accepts, and is read back
//! from it.

use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;

use leafbase_model::Day;

use crate::operations::transfer::urls;

/// Bytes of a name without its extension: file systems allow 255 in all, and a temporary name adds
/// some.
const LONGEST: usize = 200;

const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];
const NUMBERED: [&str; 2] = ["com", "lpt"];

/// The name for `title`, without extension: unsafe characters as `%XX`, never longer than file
/// systems allow. Unless it had to be shortened, [`decode`] gives the title back.
pub(super) fn encode(title: &str) -> String {
    with_suffix(title, "")
}

/// Whether [`encode`] has to leave off the end of `title`.
pub(super) fn is_too_long(title: &str) -> bool {
    escape(title).len() > LONGEST
}

/// The title that `name`, without extension, stands for. A name that [`encode`] would not give
/// stands for itself.
pub(super) fn decode(name: &str) -> String {
    if !name.contains('%') {
        return name.to_owned();
    }
    let title = unescape(name);
    if escape(&title) == name || of_document(&title) == name { title } else { name.to_owned() }
}

/// The day that `name`, without extension, is: `2026-03-01`, or `2026_03_01` as Logseq names its
/// journals.
pub(super) fn day(name: &str) -> Option<Day> {
    let is_journal = name.bytes().filter(|byte| *byte == b'_').count() == 2 && !name.contains('-');
    if is_journal { name.replace('_', "-").parse().ok() } else { name.parse().ok() }
}

/// As [`encode`], for a document that is no daily note: a title that is a day does not look like
/// one.
fn of_document(title: &str) -> String {
    let name = encode(title);
    match name.as_bytes().first().filter(|_| day(title).is_some()) {
        Some(first) => urls::percent(*first).into_iter().chain(name.chars().skip(1)).collect(),
        None => name,
    }
}

fn unescape(name: &str) -> String {
    let mut title = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at(at);
        title.push_str(before);
        let letter = escaped_letter(from);
        title.push(letter.unwrap_or('%'));
        rest = from.get(if letter.is_some() { 3 } else { 1 }..).unwrap_or_default();
    }
    title.push_str(rest);
    title
}

/// The ASCII letter that the escape at the start of `text` stands for.
fn escaped_letter(text: &str) -> Option<char> {
    let digits = text.strip_prefix('%')?.get(..2)?;
    let is_upper_hex = |digit: u8| digit.is_ascii_digit() || (b'A'..=b'F').contains(&digit);
    let byte = u8::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(is_upper_hex))?;
    byte.is_ascii().then_some(char::from(byte))
}

fn escape(title: &str) -> String {
    let mut name = String::with_capacity(title.len());
    let last = title.char_indices().next_back().map_or(0, |(at, _)| at);
    let reserved = is_reserved(title);
    for (at, letter) in title.char_indices() {
        let rest = title.get(at..).unwrap_or_default();
        let unsafe_here = match letter {
            '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => true,
            '%' => escaped_letter(rest).is_some(),
            '.' => at == 0 || at == last,
            ' ' => at == last,
            _ => letter.is_ascii_control() || (at == 0 && reserved),
        };
        match u8::try_from(letter) {
            Ok(byte) if unsafe_here => name.extend(urls::percent(byte)),
            _ => name.push(letter),
        }
    }
    name
}

/// Windows keeps these names for devices, whatever follows a dot. A space counts too, so that
/// numbering changes nothing.
fn is_reserved(title: &str) -> bool {
    let stem = title.split(['.', ' ']).next().unwrap_or_default().to_ascii_lowercase();
    let numbered = NUMBERED.iter().any(|name| {
        stem.strip_prefix(name)
            .is_some_and(|number| matches!(number.as_bytes(), [digit] if digit.is_ascii_digit()))
    });
    numbered || RESERVED.contains(&stem.as_str())
}

/// The name of `title` and `suffix` together, the title cut so that both fit.
fn with_suffix(title: &str, suffix: &str) -> String {
    let mut kept = title;
    loop {
        let name = escape(&format!("{kept}{suffix}"));
        let Some((last, _)) = kept.char_indices().next_back().filter(|_| name.len() > LONGEST)
        else {
            return name;
        };
        // An escape takes three bytes of name for one of title: so many bytes can go at once.
        let shorter = kept.len().saturating_sub((name.len() - LONGEST) / 3);
        let end = kept.char_indices().rev().map(|(at, _)| at).find(|at| *at <= shorter.min(last));
        kept = kept.get(..end.unwrap_or(0)).unwrap_or_default();
    }
}

/// What two names have in common that some file system takes for one: there are those that ignore
/// case, and those that take `é` for `e` with an accent behind it.
pub(super) fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let lower = |letter: char| letter.to_lowercase();
    // Up between two times down: `ß` and `ss`, `ς` and `σ` are one.
    let folded = name.nfc().flat_map(lower).flat_map(char::to_uppercase).flat_map(lower);
    folded.nfc().collect()
}

/// `name` in the normal form that most keyboards give, in its own case.
pub(super) fn normal(name: &str) -> String {
    if name.is_ascii() { name.to_owned() } else { name.nfc().collect() }
}

/// The names in use within one directory, compared by [`fold`].
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    /// The number to try next for a name that came up before.
    next: HashMap<String, usize>,
}

impl Names {
    /// A name for `title` with `extension` (`.md`, or nothing for a folder) that no one has here:
    /// the second `Trip` becomes `Trip 2`.
    pub(super) fn claim(&mut self, title: &str, extension: &str) -> String {
        self.claim_first(encode(title), title, extension)
    }

    /// As [`Self::claim`], for the file of a document that is no daily note.
    pub(super) fn claim_document(&mut self, title: &str) -> String {
        self.claim_first(of_document(title), title, ".md")
    }

    fn claim_first(&mut self, name: String, title: &str, extension: &str) -> String {
        let first = name + extension;
        let key = fold(&first);
        if self.taken.insert(key.clone()) {
            return first;
        }
        let mut number = self.next.get(&key).copied().unwrap_or(2);
        loop {
            let name = with_suffix(title, &format!(" {number}")) + extension;
            number += 1;
            if self.taken.insert(fold(&name)) {
                self.next.insert(key, number);
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_characters_come_back() {
        for (title, name) in [
            ("Trip to Lisbon", "Trip to Lisbon"),
            ("a/b: c?", "a%2Fb%3A c%3F"),
            ("..", "%2E%2E"),
            (".hidden", "%2Ehidden"),
            ("end.", "end%2E"),
            ("end ", "end%20"),
            ("80%默认", "80%默认"),
            ("100%25", "100%2525"),
            ("%2f", "%2f"),
            ("CON", "%43ON"),
            ("con.txt", "%63on.txt"),
            ("Lpt3", "%4Cpt3"),
            ("console", "console"),
            ("tab\there", "tab%09here"),
        ] {
            assert_eq!(encode(title), name);
            assert_eq!(decode(name), title);
        }
        for foreign in ["%41", "a%2fb", "%3F%20x", "a/b"] {
            assert_eq!(decode(foreign), foreign);
            assert_eq!(decode(&encode(foreign)), foreign);
        }
    }

    #[test]
    fn a_title_that_is_a_day_does_not_look_like_one() {
        let mut names = Names::default();
        let claimed =
            ["2026-03-01", "2026-03-01", "2026-02-30"].map(|title| names.claim_document(title));
        assert_eq!(claimed, ["%32026-03-01.md", "2026-03-01 2.md", "2026-02-30.md"]);
        assert_eq!(decode("%32026-03-01"), "2026-03-01");
        assert_eq!(decode("%32026-02-30"), "%32026-02-30");
        assert_eq!(names.claim("2026-03-01", ".md"), "2026-03-01.md");
        let claimed =
            ["2026_03_01", "2026_02_30", "2026-03_01"].map(|title| names.claim_document(title));
        assert_eq!(claimed, ["%32026_03_01.md", "2026_02_30.md", "2026-03_01.md"]);
        assert_eq!(decode("%32026_03_01"), "2026_03_01");
    }

    #[test]
    fn names_are_bounded_and_stay_as_they_are() {
        for title in
            ["長".repeat(900), "/".repeat(900), format!("{}.{}", "x".repeat(199), "y".repeat(10))]
        {
            let name = encode(&title);
            assert!(name.len() <= LONGEST && is_too_long(&title));
            assert_eq!(encode(&decode(&name)), name);
            let mut names = Names::default();
            names.claim(&title, ".md");
            let second = names.claim(&title, "");
            let third = names.claim(&title, "");
            assert!(third.ends_with(" 2") && third.len() <= LONGEST, "{second} {third}");
            assert_eq!(encode(&decode(&third)), third);
        }
    }

    #[test]
    fn collisions_are_numbered_whatever_the_case() {
        let mut names = Names::default();
        let claimed =
            ["Trip", "trip", "Trip", "Trip 2", "CON", "CON"].map(|title| names.claim(title, ".md"));
        assert_eq!(
            claimed,
            ["Trip.md", "trip 2.md", "Trip 3.md", "Trip 2 2.md", "%43ON.md", "%43ON 2.md"]
        );
    }

    #[test]
    fn collisions_are_numbered_however_letters_are_composed() {
        let mut names = Names::default();
        let claimed = ["\u{e9}", "e\u{301}", "\u{c9}", "Straße", "STRASSE", "ΛΟΓΟΣ", "λογος"]
            .map(|title| names.claim(title, ".md"));
        let expected = [
            "\u{e9}.md",
            "e\u{301} 2.md",
            "\u{c9} 3.md",
            "Straße.md",
            "STRASSE 2.md",
            "ΛΟΓΟΣ.md",
            "λογος 2.md",
        ];
        assert_eq!(claimed, expected);
    }
}
