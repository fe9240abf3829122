//! Code blocks: the language and the info string it is written with.

use std::str::FromStr;

use leafbase_model::CodeLanguage;

/// Other names that info strings give the languages.
const ALIASES: [(&str, CodeLanguage); 38] = [
    ("c++", CodeLanguage::Cpp),
    ("c", CodeLanguage::Cpp),
    ("h", CodeLanguage::Cpp),
    ("cxx", CodeLanguage::Cpp),
    ("hpp", CodeLanguage::Cpp),
    ("c#", CodeLanguage::Cs),
    ("csharp", CodeLanguage::Cs),
    ("docker", CodeLanguage::Dockerfile),
    ("golang", CodeLanguage::Go),
    ("hs", CodeLanguage::Haskell),
    ("htm", CodeLanguage::Html),
    ("js", CodeLanguage::Javascript),
    ("jsx", CodeLanguage::Javascript),
    ("mjs", CodeLanguage::Javascript),
    ("node", CodeLanguage::Javascript),
    ("json5", CodeLanguage::Json),
    ("jsonc", CodeLanguage::Json),
    ("jl", CodeLanguage::Julia),
    ("kt", CodeLanguage::Kotlin),
    ("md", CodeLanguage::Markdown),
    ("objc", CodeLanguage::Objectivec),
    ("objective-c", CodeLanguage::Objectivec),
    ("pl", CodeLanguage::Perl),
    ("text", CodeLanguage::Plaintext),
    ("txt", CodeLanguage::Plaintext),
    ("plain", CodeLanguage::Plaintext),
    ("py", CodeLanguage::Python),
    ("python3", CodeLanguage::Python),
    ("rb", CodeLanguage::Ruby),
    ("rs", CodeLanguage::Rust),
    ("sh", CodeLanguage::Shell),
    ("zsh", CodeLanguage::Shell),
    ("console", CodeLanguage::Shell),
    ("ts", CodeLanguage::Typescript),
    ("tsx", CodeLanguage::Typescript),
    ("vb", CodeLanguage::Vbnet),
    ("yml", CodeLanguage::Yaml),
    ("math", CodeLanguage::MathFormula),
];

/// The language of an info string, and the tag to keep where the string is not just the language's name.
pub(crate) fn language(info: &str) -> (CodeLanguage, &str) {
    if info.is_empty() {
        return (CodeLanguage::Plaintext, "");
    }
    if let Some(language) = named(info) {
        return (language, "");
    }
    let end = info.find([' ', '\t', ',', '{', ':', ';']).unwrap_or(info.len());
    let name = info.get(..end).unwrap_or(info);
    (named(name).or_else(|| alias(name)).unwrap_or(CodeLanguage::Other), info)
}

/// Without the list that an error would name: most info strings are looked up once for each block.
fn named(name: &str) -> Option<CodeLanguage> {
    CodeLanguage::ALL.iter().copied().find(|language| language.as_str() == name)
}

fn alias(name: &str) -> Option<CodeLanguage> {
    let known = |entry: &&(&str, CodeLanguage)| entry.0.eq_ignore_ascii_case(name);
    let spelled = || CodeLanguage::from_str(&name.to_ascii_lowercase()).ok();
    ALIASES.iter().find(known).map(|(_, language)| *language).or_else(spelled)
}

/// The info string to write.
pub(crate) fn info(language: CodeLanguage, tag: &str) -> &str {
    match language {
        _ if !tag.is_empty() => tag,
        CodeLanguage::Plaintext => "",
        language => language.as_str(),
    }
}

/// Makes language and tag agree, so that the info string written reads back as both. A language that says nothing follows
/// the tag; a tag that names another language than the one given goes.
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
