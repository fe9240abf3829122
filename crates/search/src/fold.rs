//! Folding: words that differ only in case, accents or width become equal.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Folds a text for comparison: lowercase, without accents and invisible characters, with
/// compatibility variants (full-width, superscript) normalized and ligatures and special letters
/// spelled out (`ß` as `ss`, `ø` as `o`). Idempotent.
///
/// Vowel signs of Thai or Hindi and voicing marks of Japanese distinguish words, and stay.
///
/// ```
/// use leafbase_search::fold;
/// assert_eq!(fold("Straße"), "strasse");
/// assert_eq!(fold("ÀÉÎõü"), "aeiou");
/// assert_eq!(fold("がか"), "がか");
/// ```
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // Ideographs have no case and no other form: Chinese and Japanese texts are mostly of them.
    if text.chars().all(|letter| matches!(letter, '\u{4e00}'..='\u{9fff}')) {
        return text.to_owned();
    }
    fold_unicode(text)
}

fn fold_unicode(text: &str) -> String {
    // Decomposition comes first: a compatibility variant of a capital (Ⅷ, K) has no lowercase
    // before it. Lowercasing may add combining marks (İ), so the filter runs again.
    let decomposed = text.nfkd().filter(|letter| !is_ignored(*letter));
    let lower = decomposed.flat_map(char::to_lowercase).filter(|letter| !is_ignored(*letter));
    lower.flat_map(spell_out).nfc().collect()
}

/// Accents, the points of Hebrew and Arabic, and invisible formatting characters.
pub(crate) fn is_ignored(letter: char) -> bool {
    let is_accent = matches!(u32::from(letter),
        0x0300..=0x036F | 0x0483..=0x0487 | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF
        | 0x20D0..=0x20FF | 0xFE20..=0xFE2F
        // Hebrew
        | 0x0591..=0x05C7
        // Arabic
        | 0x0610..=0x061A | 0x064B..=0x065F | 0x0670 | 0x06D6..=0x06ED);
    is_invisible(letter) || (is_accent && is_combining_mark(letter))
}

/// Formatting characters.
pub(crate) fn is_invisible(letter: char) -> bool {
    matches!(u32::from(letter),
        0x00AD | 0x0640 | 0x061C | 0x180B..=0x180F | 0x200B..=0x200F | 0x202A..=0x202E
        | 0x2060..=0x2069 | 0xFEFF | 0xFE00..=0xFE0F | 0xE0100..=0xE01EF)
}

/// Letters that Unicode does not decompose, though they are often written without.
fn spell_out(letter: char) -> impl Iterator<Item = char> {
    let (first, second) = match letter {
        'ß' => ('s', Some('s')),
        'æ' => ('a', Some('e')),
        'œ' => ('o', Some('e')),
        'þ' => ('t', Some('h')),
        'ø' => ('o', None),
        'ł' => ('l', None),
        'đ' | 'ð' => ('d', None),
        'ħ' => ('h', None),
        'ŧ' => ('t', None),
        'ı' => ('i', None),
        'ς' => ('σ', None),
        '\u{2018}' | '\u{2019}' | '\u{2bc}' => ('\'', None),
        other => (other, None),
    };
    std::iter::once(first).chain(second)
}

#[cfg(test)]
mod tests {
    use super::{fold, fold_unicode};

    #[test]
    fn folded_forms() {
        for (text, folded) in [
            ("", ""),
            ("Hello", "hello"),
            ("ÀÉÎÕÜ", "aeiou"),
            ("Ångström", "angstrom"),
            ("e\u{301}te\u{301}", "ete"),
            ("Straße STRASSE ẞ", "strasse strasse ss"),
            ("Łódź Øre Đà Æther Œuvre Þór", "lodz ore da aether oeuvre thor"),
            ("İstanbul ılık", "istanbul ilik"),
            ("ΟΔΟΣ οδός", "οδοσ οδοσ"),
            ("Ёлка йод", "елка иод"),
            ("ﬁnance", "finance"),
            ("ＡＢＣ１２", "abc12"),
            ("ｶﾞｷﾞ", "ガギ"),
            ("がか パハ", "がか パハ"),
            ("한국어", "한국어"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("ที่", "ที่"),
            ("स्थिति", "स्थिति"),
            ("שָׁלוֹם", "שלום"),
            ("مَرْحَبًا", "مرحبا"),
            ("co\u{ad}operate", "cooperate"),
            ("don’t", "don't"),
            ("m²", "m2"),
            ("Ⅷ", "viii"),
        ] {
            assert_eq!(fold(text), folded, "{text}");
        }
    }

    #[test]
    fn folding_any_character_twice_is_folding_it_once() {
        for letter in '\0'..=char::MAX {
            let once = fold(&letter.to_string());
            assert_eq!(once, fold_unicode(&letter.to_string()), "{letter:?}");
            assert_eq!(fold(&once), once, "{letter:?}");
        }
    }
}
