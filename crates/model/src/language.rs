//! The languages of code blocks.

use crate::json::wire_enum;

wire_enum! {
    /// The languages of a code block.
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
        /// No language.
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
        /// Another language; its tag is kept beside.
        Other = "other",
    }
}
