//! Names of uploaded files: plain names that every common system accepts, never paths.

/// Longest name in bytes, the limit of file systems.
const MOST_BYTES: usize = 255;
/// Longest extension that is kept when a name is truncated, in bytes with the dot.
const LONGEST_EXTENSION: usize = 32;

/// Normalizes the name of a file. `None` if nothing of it can be kept.
///
/// Keeps the last component of a path. Removes bidirectional controls, control characters, line
/// separators, and dots and white space at the ends. Replaces characters that some system forbids
/// by `_`, prefixes names that mean a device with `_`, and truncates long names, keeping the
/// extension. Idempotent.
pub fn plain(given: &str) -> Option<String> {
    // Both separators: the name may come from another system.
    let last = given.rsplit(['/', '\\']).find(|part| !part.trim().is_empty())?;
    let kept = last.chars().filter(|letter| !is_unseen(*letter));
    let name: String =
        kept.map(|letter| if r#"<>:"|?*"#.contains(letter) { '_' } else { letter }).collect();
    let name = name.trim_matches(is_edge);
    if name.is_empty() {
        return None;
    }
    // Checked after trimming: `nul.` and ` nul` mean the device as well.
    let harmless = if is_device(name) { format!("_{name}") } else { name.to_owned() };
    Some(shortened(&harmless))
}

/// Invisible characters, and those that change the direction of text. The joiners that emoji and
/// some scripts need are kept.
fn is_unseen(letter: char) -> bool {
    let turns = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let blank = matches!(
        letter,
        '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
    );
    letter.is_control() || turns || blank
}

fn is_edge(letter: char) -> bool {
    letter == '.' || letter.is_whitespace()
}

/// Whether Windows reserves the name for a device, with any extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_uppercase();
    let numbered = |port: &str| {
        let number = stem.strip_prefix(port).unwrap_or("");
        matches!(number, "¹" | "²" | "³")
            || number.len() == 1 && number.bytes().all(|digit| digit.is_ascii_digit())
    };
    matches!(&*stem, "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
        || numbered("COM")
        || numbered("LPT")
}

fn shortened(name: &str) -> String {
    if name.len() <= MOST_BYTES {
        return name.to_owned();
    }
    let dot =
        name.rfind('.').filter(|dot| name.len() - dot <= LONGEST_EXTENSION).unwrap_or(name.len());
    let (stem, extension) = name.split_at_checked(dot).unwrap_or((name, ""));
    let longest = MOST_BYTES - extension.len();
    let cut = (0..=longest).rev().find_map(|end| stem.get(..end)).unwrap_or("");
    let stem = cut.trim_end_matches(is_edge);
    debug_assert!(stem.len() + extension.len() <= MOST_BYTES, "the name fits");
    format!("{stem}{extension}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for (given, kept) in [
            ("map.png", Some("map.png")),
            ("Plan für Ida – 2026.pdf", Some("Plan für Ida – 2026.pdf")),
            ("豆腐汤.md", Some("豆腐汤.md")),
            ("👩‍🍳.png", Some("👩‍🍳.png")),
            ("archive.tar.gz", Some("archive.tar.gz")),
            ("no extension", Some("no extension")),
            // Paths.
            ("/etc/passwd", Some("passwd")),
            ("../../x.txt", Some("x.txt")),
            (r"C:\Users\ada\x.txt", Some("x.txt")),
            (r"a/b\c.txt", Some("c.txt")),
            ("folder/", Some("folder")),
            ("C:x.txt", Some("C_x.txt")),
            ("x.txt:stream", Some("x.txt_stream")),
            (r#"<a>|"b"?*.txt"#, Some("_a___b___.txt")),
            // Invisible characters, and characters that disguise an extension.
            ("a\0b\r\n\tc\u{7f}.txt", Some("abc.txt")),
            ("photo\u{202e}gnp.exe", Some("photognp.exe")),
            ("\u{2066}a\u{2069}\u{200f}.txt", Some("a.txt")),
            ("\u{feff}a\u{200b}.txt", Some("a.txt")),
            ("a\u{2028}b.txt", Some("ab.txt")),
            // Dots and spaces at the ends.
            (".hidden", Some("hidden")),
            ("..", None),
            ("a/..", None),
            ("  a b.txt \u{3000}", Some("a b.txt")),
            ("name. . .", Some("name")),
            (". .x", Some("x")),
            // Device names.
            ("CON", Some("_CON")),
            ("con.txt", Some("_con.txt")),
            ("Nul .tar.gz", Some("_Nul .tar.gz")),
            ("com1", Some("_com1")),
            ("LPT³.x", Some("_LPT³.x")),
            ("conout$", Some("_conout$")),
            ("com10", Some("com10")),
            ("console.log", Some("console.log")),
            ("auxiliary", Some("auxiliary")),
            // Names of which nothing is left.
            ("", None),
            ("   ", None),
            ("///", None),
            ("\u{202e}\0", None),
        ] {
            assert_eq!(plain(given).as_deref(), kept, "{given:?}");
            if let Some(kept) = kept {
                assert_eq!(plain(kept).as_deref(), Some(kept), "{given:?} twice");
            }
        }
    }

    #[test]
    fn long_names_keep_their_extension() {
        let cases = [
            (format!("{}.png", "a".repeat(251)), format!("{}.png", "a".repeat(251))),
            (format!("{}.png", "a".repeat(300)), format!("{}.png", "a".repeat(251))),
            (format!("{}.png", "ü".repeat(300)), format!("{}.png", "ü".repeat(125))),
            (format!("{} . .png", "a".repeat(249)), format!("{}.png", "a".repeat(249))),
            (format!("a.{}", "b".repeat(300)), format!("a.{}", "b".repeat(253))),
            (format!("NUL.{}", "b".repeat(300)), format!("_NUL.{}", "b".repeat(250))),
            ("x".repeat(1_000_000), "x".repeat(255)),
        ];
        for (given, kept) in cases {
            assert_eq!(plain(&given).as_deref(), Some(&*kept));
            assert_eq!(plain(&kept).as_deref(), Some(&*kept), "twice");
        }
    }
}
