//! Tokens of an outline's line: bare words, quoted words, and names with values.

/// A token of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// `text`
    Bare(String),
    /// `"text"`
    Quoted(String),
    /// `name=value` or `name="value"`
    Pair {
        /// Before the `=`.
        name: String,
        /// After the `=`, without quotes.
        value: String,
        /// Whether it was quoted.
        quoted: bool,
    },
}

/// Splits a line at white space.
pub(crate) fn words(line: &str) -> Result<Vec<Word>, String> {
    let (mut words, mut rest) = (Vec::new(), line.trim());
    while !rest.is_empty() {
        let (word, after) = word(rest)?;
        words.push(word);
        if !after.is_empty() && !after.starts_with(char::is_whitespace) {
            return Err(format!("expected a space before {after:?}"));
        }
        rest = after.trim_start();
    }
    Ok(words)
}

fn word(rest: &str) -> Result<(Word, &str), String> {
    if rest.starts_with('"') {
        let (text, after) = quoted(rest)?;
        return Ok((Word::Quoted(text), after));
    }
    let end =
        rest.find(|letter: char| letter.is_whitespace() || letter == '=').unwrap_or(rest.len());
    let (name, after) = (rest[..end].to_owned(), &rest[end..]);
    let Some(value) = after.strip_prefix('=') else { return Ok((Word::Bare(name), after)) };
    if value.starts_with('"') {
        let (value, after) = quoted(value)?;
        return Ok((Word::Pair { name, value, quoted: true }, after));
    }
    let end = value.find(char::is_whitespace).unwrap_or(value.len());
    Ok((Word::Pair { name, value: value[..end].to_owned(), quoted: false }, &value[end..]))
}

/// Reads a quoted text; returns the rest of the line, too.
fn quoted(rest: &str) -> Result<(String, &str), String> {
    let mut text = String::new();
    let mut letters = rest.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Ok((text, &rest[at + 1..])),
            '\\' => match letters.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, other @ ('"' | '\\'))) => text.push(other),
                _ => return Err("expected n, t, \" or \\ after a \\".to_owned()),
            },
            other => text.push(other),
        }
    }
    Err("a text in quotes has no end".to_owned())
}

/// Prints a text in quotes.
pub(crate) fn quote(text: &str) -> String {
    let escaped =
        text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_bare_quoted_or_pairs() {
        let pair = |name: &str, value: &str, quoted| Word::Pair {
            name: name.into(),
            value: value.into(),
            quoted,
        };
        assert_eq!(
            words(r#"text "a \"b\" \\ \n" indent=2 url="x y" #p"#).unwrap(),
            [
                Word::Bare("text".into()),
                Word::Quoted("a \"b\" \\ \n".into()),
                pair("indent", "2", false),
                pair("url", "x y", true),
                Word::Bare("#p".into()),
            ]
        );
        assert_eq!(words(r#""open"#), Err("a text in quotes has no end".to_owned()));
        assert!(words(r#""a"b"#).is_err());
        assert!(words(r#""a\x""#).is_err());
    }

    #[test]
    fn what_is_quoted_reads_back() {
        for text in ["", "a\"b", "\\", "\\n", "line\nline\t", "é \u{1F600}"] {
            assert_eq!(words(&quote(text)).unwrap(), [Word::Quoted(text.to_owned())]);
        }
    }
}
