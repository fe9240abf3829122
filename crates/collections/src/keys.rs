//! Property keys, derived from names.

use std::borrow::Cow;
use std::collections::BTreeSet;

use leafbase_model::{BlockId, Result};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The scheme of links to blocks.
const SCHEME: &str = "block:";

/// Derives a key from a name: lowercased, white space replaced by `_`, alphanumerics of any script,
/// `_` and `-` kept, everything else removed, and so are IDs of blocks in links: scopes redact them
/// in names, but not in keys. A name without any of these gives `property`.
///
/// ```
/// assert_eq!(leafbase_collections::key_of("Due date"), "due_date");
/// assert_eq!(leafbase_collections::key_of("Größe (cm)"), "größe_cm");
/// let link = "by [Ann](block://01KASZ4ZJG0000000000000001)";
/// assert_eq!(leafbase_collections::key_of(link), "by_ann");
/// ```
pub fn key_of(name: &str) -> String {
    normalized(&without_ids(name))
}

/// A name without the IDs in it, each with the scheme of a link.
fn without_ids(name: &str) -> Cow<'_, str> {
    let mut words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    if !words.any(|word| word.parse::<BlockId>().is_ok()) {
        return Cow::Borrowed(name);
    }
    let mut kept = String::with_capacity(name.len());
    for piece in name.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric()) {
        let word = piece.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
        if word.parse::<BlockId>().is_ok() {
            let address = kept.trim_end_matches('/').len();
            let start = address.saturating_sub(SCHEME.len());
            if kept.get(start..address).is_some_and(|scheme| scheme.eq_ignore_ascii_case(SCHEME)) {
                kept.truncate(start);
            }
            kept.extend(piece.strip_prefix(word));
        } else {
            kept.push_str(piece);
        }
    }
    Cow::Owned(kept)
}

fn normalized(name: &str) -> String {
    // NFC: the key does not depend on how accents were typed.
    let lower: String = name.to_lowercase().nfc().collect();
    let words = lower
        .split_whitespace()
        .map(|word| word.chars().filter(|letter| is_kept(*letter)).collect());
    let words: Vec<String> = words.filter(|word: &String| !word.is_empty()).collect();
    if words.is_empty() {
        return "property".to_owned();
    }
    debug_assert!(words.iter().all(|word| !word.is_empty()), "a key has no empty words");
    // Normalized again: a removed character may have separated combining marks.
    words.join("_").nfc().collect()
}

/// The first `longest` characters of the key of a name: lowercased it may be longer than the name.
pub(crate) fn short_key_of(name: &str, longest: usize) -> String {
    key_of(name).chars().take(longest).collect()
}

/// Whether `key` is valid: of the form that names give.
pub fn is_key(key: &str) -> bool {
    !key.is_empty() && normalized(key) == key
}

/// Combining marks are kept: without vowel signs a word of Hindi or Thai is another word.
fn is_kept(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-') || is_combining_mark(letter)
}

/// Identifies a column of a collection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnKey {
    /// The collection.
    pub collection: BlockId,
    /// The key of the property.
    pub key: String,
}

/// Chooses the key of a new property: the proposed key, or another free one.
pub type KeyGenerator<'a> = &'a dyn Fn(BlockId, String) -> Result<String>;

/// Allocates unique keys: a second `name` becomes `name_2`, a third `name_3`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    taken: BTreeSet<String>,
}

impl Keys {
    /// Reserves exactly this key. Returns whether it was free.
    pub fn reserve(&mut self, key: &str) -> bool {
        self.taken.insert(key.to_owned())
    }

    /// Allocates a key of at most `longest` characters for a property with this name.
    pub fn allocate(&mut self, name: &str, longest: usize) -> String {
        let whole = key_of(name);
        let first = |longest| whole.chars().take(longest).collect::<String>();
        let wanted = first(longest);
        // One more candidate than there are taken keys, so at least one is free.
        let numbered = (2..=self.taken.len() + 2).map(|number| {
            let suffix = format!("_{number}");
            first(longest.saturating_sub(suffix.len())) + &suffix
        });
        let free =
            std::iter::once(wanted.clone()).chain(numbered).find(|key| !self.taken.contains(key));
        debug_assert!(free.is_some(), "more candidates than taken keys");
        let key = free.unwrap_or(wanted);
        debug_assert!(is_key(&key), "{key:?} is derived from a name");
        self.taken.insert(key.clone());
        key
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Letters, combining marks, and what is removed between them; or anything that is visible.
    const NAMES: &str = "[a-zΣσİ\u{1e5b}\u{300}-\u{362}\u{5d0}\u{5bc}!\u{200b} _-]{0,8}|\
        \\PC{0,8}";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// Combining marks join what precedes them, also when letters between them are removed.
        #[test]
        fn what_a_name_makes_is_a_key(name in NAMES) {
            prop_assert!(is_key(&key_of(&name)), "{:?} makes {:?}", name, key_of(&name));
        }
    }

    #[test]
    fn names_make_keys() {
        for (name, key) in [
            ("Status", "status"),
            ("Due date", "due_date"),
            ("  Due \t\n date  ", "due_date"),
            ("due_date", "due_date"),
            ("Follow-up", "follow-up"),
            ("Price ($)", "price"),
            ("a / b", "a_b"),
            ("E-Mail: work", "e-mail_work"),
            ("C++", "c"),
            ("2nd", "2nd"),
            ("Größe", "größe"),
            ("ÀÉÎ", "àéî"),
            ("ΟΔΟΣ", "οδος"),
            ("Дата начала", "дата_начала"),
            ("締め切り 日", "締め切り_日"),
            ("마감일", "마감일"),
            ("สถานะ ที่", "สถานะ_ที่"),
            ("स्थिति", "स्थिति"),
            ("موعد نهائي", "موعد_نهائي"),
            ("e\u{301}te\u{301}", "\u{e9}t\u{e9}"),
            ("\u{a0}no\u{a0}break\u{3000}", "no_break"),
            ("", "property"),
            ("🎉", "property"),
            ("🎉 Party", "party"),
            ("...", "property"),
            ("zero\u{200b}width", "zerowidth"),
            ("r\u{35d}\u{200b}\u{323}s", "\u{1e5b}\u{35d}s"),
            ("e\u{200b}\u{301}", "\u{e9}"),
            ("_", "_"),
            ("of [Ann](block://01KASZ4ZJG0000000000000001)", "of_ann"),
            ("<BLOCK:01kasz4zjg0000000000000001>, twice", "twice"),
            ("block&#58;//01KASZ4ZJG0000000000000001", "block58"),
            ("[x](block://01KASZ4ZJG000000000000000)", "xblock01kasz4zjg000000000000000"),
        ] {
            assert_eq!(key_of(name), key, "{name:?}");
            assert!(is_key(key), "{key:?} can be a key");
        }
    }

    #[test]
    fn what_no_name_makes_is_no_key() {
        for wrong in
            ["", "Status", "due date", " status", "a.b", "a/b", "\"", "🎉", "a\u{0}", "e\u{301}"]
        {
            assert!(!is_key(wrong), "{wrong:?}");
        }
    }

    #[test]
    fn each_key_is_given_once() {
        let mut keys = Keys::default();
        assert!(keys.reserve("name_3"));
        assert!(!keys.reserve("name_3"));
        let given: Vec<_> = ["Name", "name", "NAME", "name 2", "Name", "?", "!"]
            .map(|name| keys.allocate(name, 100))
            .into();
        assert_eq!(
            given,
            ["name", "name_2", "name_4", "name_2_2", "name_5", "property", "property_2"]
        );
    }

    #[test]
    fn hundreds_of_one_name() {
        let mut keys = Keys::default();
        let given: BTreeSet<_> = (0..300).map(|_| keys.allocate("x", 100)).collect();
        assert_eq!((given.len(), given.contains("x"), given.contains("x_300")), (300, true, true));
    }

    #[test]
    fn keys_of_long_names_are_cut() {
        let mut keys = Keys::default();
        // Two characters of the lowercase alphabet for one.
        let given: Vec<_> =
            ["abcdef", "ABCDEF", "abcdé", "İİİ"].map(|name| keys.allocate(name, 5)).into();
        assert_eq!(given, ["abcde", "abc_2", "abcdé", "i\u{307}i\u{307}i"]);
        let given: BTreeSet<_> = (0..12).map(|_| keys.allocate("éééééé", 5)).collect();
        assert!(given.contains("ééééé") && given.contains("ééé_2") && given.contains("éé_12"));
        assert!(given.iter().all(|key| is_key(key) && key.chars().count() <= 5));
    }
}
