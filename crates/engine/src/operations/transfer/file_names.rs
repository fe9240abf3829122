//! Names of uploaded files in an export: each comes back from an import, and none looks like a
//! document.

use crate::operations::files;
use crate::operations::transfer::names::{self, Names};
use crate::operations::transfer::targets::markdown_extension;

/// What stands behind the name of a markdown file that is uploaded, so that no import takes it for
/// a document.
const NO_DOCUMENT: &str = ".txt";
/// The dot of an extension that is none there.
const DOT: &str = "%2E";

/// A name for the uploaded file `name` that no one has here: `notes.md` is written as
/// `notes%2Emd.txt`.
pub(super) fn claim(names: &mut Names, name: &str) -> String {
    let name = settled(name);
    let (stem, extension) = parts(&name);
    names.claim(stem, &extension)
}

/// The name that an uploaded file of this name in an export has.
pub(super) fn original(name: &str) -> String {
    let (stem, extension) = split(name);
    let disguised = stem.rsplit_once(DOT).filter(|_| extension == NO_DOCUMENT);
    match disguised.map(|(stem, extension)| (stem, format!(".{extension}"))) {
        Some((stem, extension)) if is_document(stem, &extension) => {
            names::decode(stem) + &extension
        }
        _ => names::decode(stem) + extension,
    }
}

/// Whether an import takes a file of this name for a document.
pub(super) fn is_disguised(name: &str) -> bool {
    markdown_extension(name).is_some()
}

/// The name itself, or what is left of one too long once it was written and read back.
fn settled(name: &str) -> String {
    let mut name = name.to_owned();
    for _ in 0..4 {
        let (stem, extension) = parts(&name);
        let read = original(&(names::encode(stem) + &extension));
        match files::plain_name(&read) {
            Some(read) if read != name => name = read,
            _ => break,
        }
    }
    name
}

/// The name without its extension, and the extension that it is written with.
fn parts(name: &str) -> (&str, String) {
    let (stem, extension) = split(name);
    match extension.strip_prefix('.') {
        Some(plain) if is_document(stem, extension) => (stem, format!("{DOT}{plain}{NO_DOCUMENT}")),
        _ => (stem, extension.to_owned()),
    }
}

fn is_document(stem: &str, extension: &str) -> bool {
    markdown_extension(&format!("{stem}{extension}")).is_some()
}

/// The name without its extension, and the extension with its dot. One that systems could not write
/// is a part of the name.
fn split(name: &str) -> (&str, &str) {
    let is_plain = |extension: &str| {
        (2..=16).contains(&extension.len())
            && extension.bytes().skip(1).all(|letter| letter.is_ascii_alphanumeric())
    };
    let dot = name.rfind('.').filter(|dot| *dot > 0 && name.get(*dot..).is_some_and(is_plain));
    dot.and_then(|dot| name.split_at_checked(dot)).unwrap_or((name, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(split(name), parts, "{name}");
        }
    }

    #[test]
    fn names_come_back() {
        let claimed = |name: &str| claim(&mut Names::default(), name);
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
            assert_eq!(original(written), name);
        }
        for foreign in ["a%2Epng.txt", "a%2Emd.TXT", "%41.png"] {
            assert_eq!(original(foreign), foreign);
        }
    }

    #[test]
    fn names_that_are_cut_stay_as_they_are() {
        for name in [
            format!("{}.png", "l".repeat(251)),
            format!("{} .{}", "l".repeat(195), "x".repeat(50)),
            format!("{}. x{}", "l".repeat(198), "y".repeat(50)),
            format!("{}.md{}", "l".repeat(197), "y".repeat(50)),
            format!("{}.md", "%41".repeat(80)),
        ] {
            let first = claim(&mut Names::default(), &name);
            let read = files::plain_name(&original(&first)).expect("a name");
            assert_eq!(claim(&mut Names::default(), &read), first);
        }
    }
}
