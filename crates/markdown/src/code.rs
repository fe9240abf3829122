//! Code blocks: the language and the info string of a fence.

use leafbase_model::CodeLanguage;

/// Tag of a formula without line breaks between it and its delimiters: `$$x$$`.
pub(crate) const COMPACT_FORMULA: &str = "$$";

/// Language of an info string, and the tag to store if the string differs from the language's name.
pub(crate) fn language(info: &str) -> (CodeLanguage, &str) {
    if info.is_empty() {
        return (CodeLanguage::Plaintext, "");
    }
    if let Some(language) = named(info) {
        return (language, "");
    }
    (CodeLanguage::of_tag(info), info)
}

/// Parses a language name without building the error message: most names are unknown once per
/// block.
fn named(name: &str) -> Option<CodeLanguage> {
    CodeLanguage::ALL.iter().copied().find(|language| language.as_str() == name)
}

/// The info string of a fence.
pub(crate) fn info(language: CodeLanguage, tag: &str) -> &str {
    match language {
        _ if !tag.is_empty() => tag,
        CodeLanguage::Plaintext => "",
        language => language.as_str(),
    }
}

/// Reconciles language and tag, so that the rendered info string parses to both. An unspecified
/// language follows the tag; a tag that contradicts the language is dropped.
pub(crate) fn settle(kept: &mut CodeLanguage, tag: &mut String) {
    let (read, rest) = language(tag);
    let (spoken, redundant) = (!tag.is_empty(), rest.is_empty());
    if spoken && matches!(kept, CodeLanguage::Plaintext | CodeLanguage::Other) {
        *kept = read;
    }
    if redundant || *kept != read {
        tag.clear();
    }
}

/// Length of the longest run of `mark` at a line start of `code`; the fence must be longer.
pub(crate) fn longest_run(code: &str, mark: char) -> usize {
    let runs = code.split('\n').map(|line| {
        let rest = line.trim_start_matches([' ', '\t']);
        rest.len() - rest.trim_start_matches(mark).len()
    });
    debug_assert!(mark.is_ascii(), "fences are ASCII");
    runs.max().unwrap_or(0)
}
