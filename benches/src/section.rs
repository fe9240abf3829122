//! Parts of a text that a program writes, between a pair of comments: `<!-- name -->` and `<!--
//! /name -->`.

/// The text with `content` between the markers of this name; none unless each stands there once, on
/// a line of its own, in this order.
pub fn replaced(text: &str, name: &str, content: &str) -> Option<String> {
    let (before, rest) = once(text, &format!("<!-- {name} -->\n"))?;
    let (_, after) = once(rest, &format!("<!-- /{name} -->\n"))?;
    Some(format!("{before}<!-- {name} -->\n{content}<!-- /{name} -->\n{after}"))
}

/// What stands before and behind a line that occurs once.
fn once<'t>(text: &'t str, line: &str) -> Option<(&'t str, &'t str)> {
    let (before, after) = text.split_once(line)?;
    let is_line = before.is_empty() || before.ends_with('\n');
    (is_line && !after.contains(line)).then_some((before, after))
}

#[cfg(test)]
mod tests {
    use super::replaced;

    const TEXT: &str = "# Title\n\n<!-- peers -->\nold\n<!-- /peers -->\n\nprose\n<!-- scale -->\n<!-- /scale -->\n";

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let expected = TEXT.replace("old\n", "new\nlines\n");
        assert_eq!(replaced(TEXT, "peers", "new\nlines\n").as_deref(), Some(expected.as_str()));
        assert_eq!(replaced(&expected, "peers", "old\n").as_deref(), Some(TEXT));
        assert_eq!(replaced(TEXT, "scale", "").as_deref(), Some(TEXT));
    }

    #[test]
    fn markers_have_to_be_there_once_and_in_order() {
        assert_eq!(replaced(TEXT, "search", "new\n"), None);
        assert_eq!(replaced("<!-- /peers -->\n<!-- peers -->\n", "peers", ""), None);
        assert_eq!(replaced(&TEXT.repeat(2), "peers", ""), None);
        assert_eq!(replaced("a <!-- peers -->\n<!-- /peers -->\n", "peers", ""), None);
    }

    #[test]
    fn the_readme_has_a_place_for_each_bench() {
        let readme = include_str!("../README.md");
        for name in [
            "peers",
            "floors",
            "peers-growth",
            "scale",
            "collections",
            "search",
            "vectors",
            "scope",
            "backends",
            "threads",
        ] {
            assert!(replaced(readme, name, "").is_some(), "{name}");
        }
    }
}
