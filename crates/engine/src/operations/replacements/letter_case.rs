//! The case of a text, given to another one.

/// `text` in capitals if `found` is, in lowercase if `found` is, or else with a first letter as
/// that of `found`.
pub(super) fn with_case_of(found: &str, text: &str) -> String {
    let has_case = |letter: &char| letter.is_uppercase() || letter.is_lowercase();
    let cased: Vec<char> = found.chars().filter(has_case).collect();
    let Some(first) = cased.first() else { return text.to_owned() };
    if cased.iter().all(|letter| letter.is_lowercase()) {
        return text.to_lowercase();
    }
    if cased.len() > 1 && cased.iter().all(|letter| letter.is_uppercase()) {
        return text.to_uppercase();
    }
    let Some((at, letter)) = text.char_indices().find(|(_, letter)| has_case(letter)) else {
        return text.to_owned();
    };
    let letter_end = at + letter.len_utf8();
    let letter: String = if first.is_uppercase() {
        letter.to_uppercase().collect()
    } else {
        letter.to_lowercase().collect()
    };
    let (before, after) = (text.get(..at).unwrap_or(""), text.get(letter_end..).unwrap_or(""));
    [before, &letter, after].concat()
}

#[cfg(test)]
mod tests {
    use super::with_case_of;

    #[test]
    fn capitals_stay() {
        for (found, text, expected) in [
            ("colour", "Color", "color"),
            ("Colour", "color", "Color"),
            ("COLOUR", "color", "COLOR"),
            ("I", "we all", "We all"),
            ("iPhone", "Telephone", "telephone"),
            ("12", "Color", "Color"),
            ("Straße", "ärger", "Ärger"),
            ("A b", "«c", "«C"),
            ("Ab", "12", "12"),
            ("ÄÖ", "straße", "STRASSE"),
        ] {
            assert_eq!(with_case_of(found, text), expected, "{found}");
        }
    }
}
