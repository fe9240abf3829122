//! Names of exported files and directories. Any title becomes a name that every file system
//! accepts, and an import decodes it back to the title.

use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;

use leafbase::Day;
use leafbase::bulk::plain_file_name;

use crate::link_paths::{directory, file_name, percent};

/// Longest name without its extension. File systems allow 255 bytes; a temporary name adds some.
const MAX_STEM_BYTES: usize = 200;

/// Names of devices of Windows.
const RESERVED: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
/// Names of devices of Windows, if a digit follows, which may be a superscript.
const NUMBERED: [&str; 2] = ["com", "lpt"];

/// The top-level directory of daily notes in an export.
pub(super) const DAILY_NOTES: &str = "daily notes";

/// Appended to the name of an uploaded markdown file, so that an import does not read it as a
/// document.
const DISGUISE: &str = ".txt";
/// The escaped dot before a disguised extension.
const ESCAPED_DOT: &str = "%2E";

/// Encodes a title as a name without extension: unsafe characters become `%XX`, and a long name is
/// cut. [`decode`] returns the title unless the name was truncated.
pub(super) fn encode(title: &str) -> String {
    with_suffix(title, "")
}

/// Whether [`encode`] truncates the title.
pub(super) fn is_too_long(title: &str) -> bool {
    escape(title).len() > MAX_STEM_BYTES
}

/// Decodes a name without extension. A name that [`encode`] cannot produce is returned unchanged:
/// it belongs to another program.
pub(super) fn decode(name: &str) -> String {
    if !name.contains('%') {
        return name.to_owned();
    }
    let title = unescape(name);
    // Decoding must be the exact inverse of encoding: `%41` of another program stays.
    if escape(&title) == name || encode_document(&title) == name { title } else { name.to_owned() }
}

/// The day in a name without extension: `2026-03-01`, or `2026_03_01` as Logseq names journals.
pub(super) fn day(name: &str) -> Option<Day> {
    let is_journal = name.bytes().filter(|byte| *byte == b'_').count() == 2 && !name.contains('-');
    if is_journal { name.replace('_', "-").parse().ok() } else { name.parse().ok() }
}

/// A day as Logseq titles its journal, unless the graph sets another format: `Mar 1st, 2026`.
pub(super) fn journal_title(day: Day) -> Option<String> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS.get(usize::from(day.month()).checked_sub(1)?)?;
    let ordinal = match (day.day() / 10, day.day() % 10) {
        (0 | 2 | 3, 1) => "st",
        (0 | 2, 2) => "nd",
        (0 | 2, 3) => "rd",
        _ => "th",
    };
    Some(format!("{month} {}{ordinal}, {}", day.day(), day.year()))
}

/// Whether a file is in the directory of daily notes that an export writes.
pub(super) fn is_exported_daily_note(path: &str) -> bool {
    directory(path).eq_ignore_ascii_case(DAILY_NOTES)
}

/// As [`encode`], for a document other than a daily note: the first character of a title that looks
/// like a day is escaped.
fn encode_document(title: &str) -> String {
    let name = encode(title);
    match name.as_bytes().first().filter(|_| day(title).is_some()) {
        Some(first) => percent(*first).into_iter().chain(name.chars().skip(1)).collect(),
        None => name,
    }
}

fn unescape(name: &str) -> String {
    let mut title = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, escape)) = rest.split_once('%') {
        title.push_str(before);
        if let Some((character, after)) = escaped_character(escape) {
            title.push(character);
            rest = after;
        } else {
            title.push('%');
            rest = escape;
        }
    }
    title.push_str(rest);
    title
}

/// The ASCII character of the two upper-case hex digits at the start of `text`, and the rest.
fn escaped_character(text: &str) -> Option<(char, &str)> {
    let (digits, rest) = text.split_at_checked(2)?;
    let is_upper_hex = |digit: u8| digit.is_ascii_digit() || (b'A'..=b'F').contains(&digit);
    let byte = u8::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(is_upper_hex))?;
    byte.is_ascii().then_some((char::from(byte), rest))
}

fn escape(title: &str) -> String {
    let mut name = String::with_capacity(title.len());
    let last = title.char_indices().next_back().map_or(0, |(at, _)| at);
    let is_reserved = is_reserved(title);
    for (at, character) in title.char_indices() {
        let is_unsafe = match character {
            '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => true,
            // A literal `%` is escaped only where it would be decoded.
            '%' => title.get(at + 1..).and_then(escaped_character).is_some(),
            '.' => at == 0 || at == last,
            ' ' => at == last,
            _ => character.is_ascii_control() || (at == 0 && is_reserved),
        };
        match u8::try_from(character) {
            Ok(byte) if is_unsafe => name.extend(percent(byte)),
            _ => name.push(character),
        }
    }
    name
}

/// Whether some system refuses a name as it is.
pub(super) fn is_refused(name: &str) -> bool {
    let name = name.replace('%', "");
    escape(&name) != name
}

/// Whether Windows reserves the name for a device, whatever follows a dot. A space counts as well,
/// so that appending a number does not change the result.
fn is_reserved(title: &str) -> bool {
    let stem = title.split(['.', ' ']).next().unwrap_or(title).to_ascii_lowercase();
    let is_numbered = NUMBERED.iter().any(|name| {
        stem.strip_prefix(name).is_some_and(|number| {
            let mut digits = number.chars();
            let is_digit = |digit| matches!(digit, '0'..='9' | '¹' | '²' | '³');
            digits.next().is_some_and(is_digit) && digits.next().is_none()
        })
    });
    is_numbered || RESERVED.contains(&stem.as_str())
}

/// Encodes `title` followed by `suffix`, truncating the title so that both fit.
fn with_suffix(title: &str, suffix: &str) -> String {
    let mut kept = title;
    loop {
        let name = escape(&format!("{kept}{suffix}"));
        let last = kept.char_indices().next_back().filter(|_| name.len() > MAX_STEM_BYTES);
        let Some((last, _)) = last else {
            debug_assert!(
                name.len() <= MAX_STEM_BYTES || kept.is_empty(),
                "a name is truncated until it fits"
            );
            return name;
        };
        // An escape takes three bytes of the name per byte of the title: a third of the excess can
        // be cut at once, and at least the last character has to go.
        let target = kept.len().saturating_sub((name.len() - MAX_STEM_BYTES) / 3).min(last);
        let end = (0..=target).rev().find(|end| kept.is_char_boundary(*end)).unwrap_or(0);
        kept = kept.get(..end).unwrap_or("");
    }
}

/// Folds a name: two names with one result are the same file on some system. There are systems that
/// ignore case, and systems that identify `é` with `e` and a combining accent.
pub(super) fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let lower = |character: char| character.to_lowercase();
    // Lowercased, uppercased, lowercased: this identifies `ß` with `ss`, and `ς` with `σ`.
    let folded = name.nfc().flat_map(lower).flat_map(char::to_uppercase).flat_map(lower);
    folded.nfc().collect()
}

/// Normalizes a name to NFC, which most keyboards produce, and keeps its case.
pub(super) fn normalize(name: &str) -> String {
    if name.is_ascii() { name.to_owned() } else { name.nfc().collect() }
}

/// The names used in one directory, compared by [`fold`].
#[derive(Debug, Default)]
pub(super) struct AllocatedNames {
    folded: HashSet<String>,
    /// The next number to try for a name that occurred before.
    next_numbers: HashMap<String, usize>,
}

impl AllocatedNames {
    /// Allocates a unique name for `title` with `extension` (`.md`; empty for a directory): the
    /// second `Trip` becomes `Trip 2`.
    pub(super) fn claim(&mut self, title: &str, extension: &str) -> String {
        self.claim_encoded(encode(title), title, extension)
    }

    /// Marks a name as used.
    pub(super) fn reserve(&mut self, name: &str) {
        self.folded.insert(fold(name));
    }

    /// Allocates this name as it is. Returns whether it was free.
    pub(super) fn claim_exact(&mut self, name: &str) -> bool {
        self.folded.insert(fold(name))
    }

    /// As [`Self::claim`], for a document other than a daily note.
    pub(super) fn claim_document(&mut self, title: &str) -> String {
        self.claim_encoded(encode_document(title), title, ".md")
    }

    /// Allocates a unique name for an uploaded file: `notes.md` becomes `notes%2Emd.txt`.
    pub(super) fn claim_attachment(&mut self, name: &str) -> String {
        let name = stable_name(name);
        let (stem, extension) = disguise(&name);
        self.claim(stem, &extension)
    }

    fn claim_encoded(&mut self, name: String, title: &str, extension: &str) -> String {
        let first = name + extension;
        // Compared folded, so that the export works on file systems that ignore case.
        let key = fold(&first);
        if self.folded.insert(key.clone()) {
            return first;
        }
        let mut number = self.next_numbers.get(&key).copied().unwrap_or(2);
        loop {
            let name = with_suffix(title, &format!(" {number}")) + extension;
            number += 1;
            if self.folded.insert(fold(&name)) {
                // Cached: many documents of one title would otherwise probe all numbers before.
                self.next_numbers.insert(key, number);
                return name;
            }
        }
    }
}

/// The name of an uploaded file, decoded from its name in an export.
pub(super) fn decode_attachment(name: &str) -> String {
    let (stem, extension) = split_extension(name);
    let disguised = stem.rsplit_once(ESCAPED_DOT).filter(|_| extension == DISGUISE);
    match disguised.map(|(stem, extension)| (stem, format!(".{extension}"))) {
        Some((stem, extension)) if is_document(stem, &extension) => decode(stem) + &extension,
        _ => decode(stem) + extension,
    }
}

/// Whether an import would read a file of this name as a document, so that an export disguises it.
pub(super) fn is_disguised(name: &str) -> bool {
    markdown_extension(name).is_some()
}

/// Shortens a name until writing and reading it changes nothing: truncating a long name can expose
/// an end that has to be escaped.
fn stable_name(name: &str) -> String {
    let mut name = name.to_owned();
    for _ in 0..4 {
        let (stem, extension) = disguise(&name);
        let decoded = decode_attachment(&(encode(stem) + &extension));
        match plain_file_name(&decoded) {
            Some(decoded) if decoded != name => name = decoded,
            _ => break,
        }
    }
    name
}

/// The name without its extension, and the extension to write.
fn disguise(name: &str) -> (&str, String) {
    let (stem, extension) = split_extension(name);
    match extension.strip_prefix('.') {
        Some(plain) if is_document(stem, extension) => {
            (stem, format!("{ESCAPED_DOT}{plain}{DISGUISE}"))
        }
        _ => (stem, extension.to_owned()),
    }
}

fn is_document(stem: &str, extension: &str) -> bool {
    markdown_extension(&format!("{stem}{extension}")).is_some()
}

/// Splits off the extension with its dot. An extension that is long or not alphanumeric counts as
/// part of the name.
fn split_extension(name: &str) -> (&str, &str) {
    let is_plain = |extension: &str| {
        (2..=16).contains(&extension.len())
            && extension.bytes().skip(1).all(|byte| byte.is_ascii_alphanumeric())
    };
    // A leading dot starts a hidden name, not an extension.
    let dot = name.rfind('.').filter(|dot| *dot > 0 && name.get(*dot..).is_some_and(is_plain));
    dot.and_then(|dot| name.split_at_checked(dot)).unwrap_or((name, ""))
}

/// The extension of a markdown file. `None` for other files.
pub(super) fn markdown_extension(path: &str) -> Option<&str> {
    let (stem, extension) = path.rsplit_once('.')?;
    let is_named = !file_name(stem).is_empty();
    let is_known = ["md", "markdown"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    (is_named && is_known).then_some(extension)
}

/// The path without the extension of a markdown file.
pub(super) fn without_extension(path: &str) -> &str {
    let extension = markdown_extension(path);
    extension.and_then(|extension| path.strip_suffix(extension)?.strip_suffix('.')).unwrap_or(path)
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
            ("COM¹", "%43OM¹"),
            ("lpt³.log", "%6Cpt³.log"),
            ("CONIN$", "%43ONIN$"),
            ("conout$ 2", "%63onout$ 2"),
            ("com¹²", "com¹²"),
            ("com⁴", "com⁴"),
            ("conin", "conin"),
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
        let mut names = AllocatedNames::default();
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
            assert!(name.len() <= MAX_STEM_BYTES && is_too_long(&title));
            assert_eq!(encode(&decode(&name)), name);
            let mut names = AllocatedNames::default();
            names.claim(&title, ".md");
            let second = names.claim(&title, "");
            let third = names.claim(&title, "");
            assert!(third.ends_with(" 2") && third.len() <= MAX_STEM_BYTES, "{second} {third}");
            assert_eq!(encode(&decode(&third)), third);
        }
    }

    #[test]
    fn collisions_are_numbered_whatever_the_case() {
        let mut names = AllocatedNames::default();
        let claimed =
            ["Trip", "trip", "Trip", "Trip 2", "CON", "CON"].map(|title| names.claim(title, ".md"));
        assert_eq!(
            claimed,
            ["Trip.md", "trip 2.md", "Trip 3.md", "Trip 2 2.md", "%43ON.md", "%43ON 2.md"]
        );
    }

    #[test]
    fn collisions_are_numbered_however_letters_are_composed() {
        let mut names = AllocatedNames::default();
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

    #[test]
    fn extensions_are_short_and_plain() {
        for (name, parts) in [
            ("map.png", ("map", ".png")),
            ("archive.tar.gz", ("archive.tar", ".gz")),
            ("README", ("README", "")),
            (".profile", (".profile", "")),
            ("end.", ("end.", "")),
            ("a.b c", ("a.b c", "")),
            ("a.?", ("a.?", "")),
        ] {
            assert_eq!(split_extension(name), parts, "{name}");
        }
    }

    #[test]
    fn attachment_names_come_back() {
        let claimed = |name: &str| AllocatedNames::default().claim_attachment(name);
        for (name, written) in [
            ("map.png", "map.png"),
            ("a .png", "a%20.png"),
            ("a..png", "a%2E.png"),
            ("100%25.png", "100%2525.png"),
            ("map%41.txt", "map%2541.txt"),
            ("COM1 x.txt", "%43OM1 x.txt"),
            ("100%.png", "100%.png"),
            ("notes.md", "notes%2Emd.txt"),
            ("README.Markdown", "README%2EMarkdown.txt"),
            ("2026-03-01.md", "2026-03-01%2Emd.txt"),
            ("a%2Emd.md", "a%252Emd%2Emd.txt"),
            ("notes.md.txt", "notes.md.txt"),
            ("notes%2Emd.txt", "notes%252Emd.txt"),
            ("a%%2Emd.txt", "a%%252Emd.txt"),
            ("md", "md"),
        ] {
            assert_eq!(claimed(name), written);
            assert_eq!(decode_attachment(written), name);
        }
        for foreign in ["a%2Epng.txt", "a%2Emd.TXT", "%41.png"] {
            assert_eq!(decode_attachment(foreign), foreign);
        }
    }

    #[test]
    fn shortened_attachment_names_are_stable() {
        for name in [
            format!("{}.png", "l".repeat(251)),
            format!("{} .{}", "l".repeat(195), "x".repeat(50)),
            format!("{}. x{}", "l".repeat(198), "y".repeat(50)),
            format!("{}.md{}", "l".repeat(197), "y".repeat(50)),
            format!("{}.md", "%41".repeat(80)),
        ] {
            let first = AllocatedNames::default().claim_attachment(&name);
            let read = plain_file_name(&decode_attachment(&first)).expect("a name");
            assert_eq!(AllocatedNames::default().claim_attachment(&read), first);
        }
    }

    #[test]
    fn extensions_are_those_of_markdown() {
        assert_eq!(without_extension("a.b/c.MD"), "a.b/c");
        assert_eq!(without_extension("a.md/c"), "a.md/c");
        assert_eq!(markdown_extension(".md"), None);
        assert_eq!(markdown_extension("x/.md"), None);
        assert_eq!(markdown_extension("x.txt"), None);
    }
}
