//! Code blocks: the language and the info string it is written with.

use leafbase_model::CodeLanguage;

/// The language of an info string, and the tag to keep where the string is not just the language's
/// name.
pub(crate) fn language(info: &str) -> (CodeLanguage, &str) {
    if info.is_empty() {
        return (CodeLanguage::Plaintext, "");
    }
    if let Some(language) = named(info) {
        return (language, "");
    }
    (CodeLanguage::of_tag(info), info)
}

/// Without the list that an error would name: most info strings are looked up once for each block.
fn named(name: &str) -> Option<CodeLanguage> {
    CodeLanguage::ALL.iter().copied().find(|language| language.as_str() == name)
}

/// The info string to write.
pub(crate) fn info(language: CodeLanguage, tag: &str) -> &str {
    match language {
        _ if !tag.is_empty() => tag,
        CodeLanguage::Plaintext => "",
        language => language.as_str(),
    }
}

/// Makes language and tag agree, so that the info string written reads back as both. A language
/// that says nothing follows the tag; a tag that names another language than the one given goes.
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

/// The longest run of `mark` at the start of a line of `code`: the fence around it is longer.
pub(crate) fn longest_run(code: &str, mark: char) -> usize {
    let runs = code.split('\n').map(|line| {
        let rest = line.trim_start_matches([' ', '\t']);
        rest.len() - rest.trim_start_matches(mark).len()
    });
    runs.max().unwrap_or(0)
}
