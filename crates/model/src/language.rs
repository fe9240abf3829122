//! Languages of code blocks, and the fence tags that select them.

use crate::json::wire_enum;

wire_enum! {
    /// The language of a code block.
    CodeLanguage {
        /// Ada.
        Ada = "ada",
        /// Bash.
        Bash = "bash",
        /// C++.
        Cpp = "cpp",
        /// C#.
        Cs = "cs",
        /// CSS.
        Css = "css",
        /// Dart.
        Dart = "dart",
        /// Dockerfile.
        Dockerfile = "dockerfile",
        /// MATLAB.
        Matlab = "matlab",
        /// Go.
        Go = "go",
        /// Groovy.
        Groovy = "groovy",
        /// Haskell.
        Haskell = "haskell",
        /// HTML.
        Html = "html",
        /// Java.
        Java = "java",
        /// JavaScript.
        Javascript = "javascript",
        /// JSON.
        Json = "json",
        /// Julia.
        Julia = "julia",
        /// Kotlin.
        Kotlin = "kotlin",
        /// Lua.
        Lua = "lua",
        /// Markdown.
        Markdown = "markdown",
        /// Mermaid diagrams.
        Mermaid = "mermaid",
        /// Objective-C.
        Objectivec = "objectivec",
        /// Perl.
        Perl = "perl",
        /// PHP.
        Php = "php",
        /// Prolog.
        Prolog = "prolog",
        /// Plain text.
        #[default]
        Plaintext = "plaintext",
        /// Python.
        Python = "python",
        /// R.
        R = "r",
        /// Ruby.
        Ruby = "ruby",
        /// Rust.
        Rust = "rust",
        /// Scala.
        Scala = "scala",
        /// Shell.
        Shell = "shell",
        /// SQL.
        Sql = "sql",
        /// Swift.
        Swift = "swift",
        /// TypeScript.
        Typescript = "typescript",
        /// Visual Basic .NET.
        Vbnet = "vbnet",
        /// XML.
        Xml = "xml",
        /// YAML.
        Yaml = "yaml",
        /// A formula in TeX.
        MathFormula = "math_formula",
        /// Another language; the block keeps its tag.
        Other = "other",
    }
}

/// Fence tags that select a language in addition to its own name.
const ALIASES: &[(&str, CodeLanguage)] = &[
    ("c", CodeLanguage::Cpp),
    ("c++", CodeLanguage::Cpp),
    ("cxx", CodeLanguage::Cpp),
    ("h", CodeLanguage::Cpp),
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
    ("math", CodeLanguage::MathFormula),
    // The tag of a formula that is written on the lines of its delimiters.
    ("$$", CodeLanguage::MathFormula),
    ("objc", CodeLanguage::Objectivec),
    ("objective-c", CodeLanguage::Objectivec),
    ("pl", CodeLanguage::Perl),
    ("plain", CodeLanguage::Plaintext),
    ("text", CodeLanguage::Plaintext),
    ("txt", CodeLanguage::Plaintext),
    ("py", CodeLanguage::Python),
    ("python3", CodeLanguage::Python),
    ("rb", CodeLanguage::Ruby),
    ("rs", CodeLanguage::Rust),
    ("console", CodeLanguage::Shell),
    ("sh", CodeLanguage::Shell),
    ("zsh", CodeLanguage::Shell),
    ("ts", CodeLanguage::Typescript),
    ("tsx", CodeLanguage::Typescript),
    ("vb", CodeLanguage::Vbnet),
    ("yml", CodeLanguage::Yaml),
];

impl CodeLanguage {
    /// The language that the info string of a fence selects by its first word, case-insensitively;
    /// [`Self::Other`] for an unknown one, [`Self::Plaintext`] for an empty string.
    ///
    /// ```
    /// use leafbase_model::CodeLanguage;
    /// assert_eq!(CodeLanguage::of_tag("Rust,ignore"), CodeLanguage::Rust);
    /// assert_eq!(CodeLanguage::of_tag("js {1,3}"), CodeLanguage::Javascript);
    /// assert_eq!(CodeLanguage::of_tag("brainfuck"), CodeLanguage::Other);
    /// assert_eq!(CodeLanguage::of_tag(""), CodeLanguage::Plaintext);
    /// ```
    pub fn of_tag(tag: &str) -> Self {
        if tag.is_empty() {
            return Self::Plaintext;
        }
        let ends_word = |character: char| matches!(character, ' ' | '\t' | ',' | '{' | ':' | ';');
        // Parameters follow the name: `rust,ignore`, `js {1,3}`.
        let word = tag.split(ends_word).next().unwrap_or(tag).to_ascii_lowercase();
        // Own names take precedence over aliases.
        let named = Self::ALL.iter().copied().find(|language| language.as_str() == word);
        let alias =
            || ALIASES.iter().find(|(alias, _)| *alias == word).map(|(_, language)| *language);
        named.or_else(alias).unwrap_or(Self::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_known_by_its_name_and_each_alias_is_new() {
        for language in CodeLanguage::ALL {
            assert_eq!(CodeLanguage::of_tag(language.as_str()), *language);
        }
        for (alias, language) in ALIASES {
            assert!(alias.parse::<CodeLanguage>().is_err(), "{alias} is a name already");
            assert_eq!(CodeLanguage::of_tag(alias), *language);
        }
    }

    #[test]
    fn only_the_first_word_counts() {
        for (tag, language) in [
            ("RUST", CodeLanguage::Rust),
            ("Py  ", CodeLanguage::Python),
            (" py", CodeLanguage::Other),
            ("python:main.py", CodeLanguage::Python),
            ("{.python}", CodeLanguage::Other),
            ("rust;ignore", CodeLanguage::Rust),
            ("C", CodeLanguage::Cpp),
            ("math", CodeLanguage::MathFormula),
            // The tag of a formula that is written on the lines of its delimiters.
            ("$$", CodeLanguage::MathFormula),
            ("ini rust", CodeLanguage::Other),
            ("   ", CodeLanguage::Other),
        ] {
            assert_eq!(CodeLanguage::of_tag(tag), language, "{tag}");
        }
    }
}
