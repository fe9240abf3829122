//! What of inline markdown is taken as it stands, so that nothing in it is a link: code, comments,
//! and letters behind a backslash.

use std::collections::HashMap;

/// Passes over what is taken as it stands, in time that grows as the text does.
#[derive(Debug)]
pub(super) struct Skipping<'a> {
    text: &'a str,
    /// Where each run of so many backticks begins, in order; read when the first is met.
    runs: Option<HashMap<usize, Vec<usize>>>,
    /// Whether no comment is closed any more.
    no_comment: bool,
}

impl<'a> Skipping<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, runs: None, no_comment: false }
    }

    /// The bytes to pass over at `at`; nothing if what stands there is to be looked at.
    pub(super) fn at(&mut self, at: usize) -> Option<usize> {
        let rest = self.text.get(at..)?;
        match rest.as_bytes().first()? {
            b'\\' => Some(1 + rest.chars().nth(1).map_or(0, char::len_utf8)),
            b'`' => Some(self.code_span(at, rest)),
            b'<' => self.comment(rest),
            _ => None,
        }
    }

    /// The bytes of the code span at the start of `rest`, or of its backticks if none closes it.
    fn code_span(&mut self, at: usize, rest: &str) -> usize {
        let opening = backticks(rest);
        let runs = self.runs.get_or_insert_with(|| runs(self.text));
        let same = runs.get(&opening).map_or(&[][..], Vec::as_slice);
        let next = same.partition_point(|start| *start < at + opening);
        same.get(next).map_or(opening, |closing| closing + opening - at)
    }

    fn comment(&mut self, rest: &str) -> Option<usize> {
        let inner = rest.strip_prefix("<!--").filter(|_| !self.no_comment)?;
        let end = inner.find("-->");
        self.no_comment = end.is_none();
        Some(end? + "<!---->".len())
    }
}

fn backticks(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'`').count()
}

fn runs(text: &str) -> HashMap<usize, Vec<usize>> {
    let (mut runs, mut at) = (HashMap::<usize, Vec<usize>>::new(), 0);
    while let Some(skip) = text.get(at..).and_then(|rest| rest.find('`')) {
        at += skip;
        let length = backticks(text.get(at..).unwrap_or_default());
        runs.entry(length).or_default().push(at);
        at += length;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_ends_at_a_run_of_its_length() {
        for (text, length) in [
            ("`a` b", Some(3)),
            ("``a ` b`` c", Some(9)),
            ("``a ` b", Some(2)),
            ("\\`a`", Some(2)),
            ("\\", Some(1)),
            ("<!-- ` --> `", Some(10)),
            ("<!-- `", None),
            ("<b>", None),
            ("a", None),
            ("", None),
        ] {
            assert_eq!(Skipping::new(text).at(0), length, "{text}");
        }
        // Behind a backslash the rest of a run is a shorter one.
        assert_eq!(Skipping::new("\\``a` b``").at(2), Some(3));
    }

    #[test]
    fn no_text_is_searched_over_and_over() {
        let growing: String =
            (1..1_500).flat_map(|length| ["`".repeat(length), " ".to_owned()]).collect();
        for text in [growing, "<!-- ".repeat(200_000), "[[a ".repeat(200_000)] {
            let began = std::time::Instant::now();
            assert_eq!(crate::operations::transfer::wiki::scan(&text).len(), 0);
            assert!(began.elapsed().as_secs() < 2, "{:?}", began.elapsed());
        }
    }
}
