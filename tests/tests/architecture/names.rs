//! Names: each type has one of its own, and files are named by nouns.

use std::collections::BTreeMap;

use crate::sources::{Source, production};

/// Type names that are defined more than once, each with the reason.
const SHARED_TYPE_NAMES: &[(&str, &str)] = &[];

/// Words that end like a gerund and are nouns of the domain.
const NOUNS: &[&str] = &["binding", "heading", "ranking", "setting", "string"];

/// The definitions of types, by name: where each is.
fn types(sources: &[Source]) -> BTreeMap<&str, Vec<String>> {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for source in sources {
        for (at, line) in source.text.lines().enumerate() {
            if let Some(name) = defined(line) {
                found.entry(name).or_default().push(format!("{}:{}", source.path, at + 1));
            }
        }
    }
    found
}

/// The name of the type that a line defines. Associated types of traits are none.
fn defined(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let code = match code.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => code,
    };
    let (keyword, rest) = code.split_once(' ')?;
    let is_type = matches!(keyword, "struct" | "enum" | "trait" | "union")
        || (keyword == "type" && !line.starts_with(' '));
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let name = &rest[..end];
    (is_type && name.starts_with(|c: char| c.is_uppercase())).then_some(name)
}

fn shared<'a>(sources: &'a [Source], listed: &[(&str, &str)]) -> Vec<String> {
    let mut faults = Vec::new();
    let types: BTreeMap<&'a str, _> = types(sources);
    for (name, places) in &types {
        let is_listed = listed.iter().any(|(known, _)| known == name);
        if places.len() > 1 && !is_listed {
            faults.push(format!("{name} is defined at {}", places.join(" and ")));
        }
    }
    let once = |name: &str| types.get(name).is_none_or(|places| places.len() < 2);
    faults.extend(
        listed
            .iter()
            .filter(|(name, _)| once(name))
            .map(|(name, _)| format!("{name} is listed as shared, but defined once at most")),
    );
    faults
}

fn gerunds(sources: &[Source]) -> Vec<&str> {
    let is_gerund = |source: &&Source| {
        let name = source.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
        let word = name.rsplit('_').next().unwrap_or_default();
        word.ends_with("ing") && !NOUNS.contains(&word)
    };
    sources.iter().filter(is_gerund).map(|source| source.path.as_str()).collect()
}

#[test]
fn a_type_name_means_one_thing() {
    assert_eq!(shared(&production(), SHARED_TYPE_NAMES), [""; 0]);
}

#[test]
fn files_are_named_by_nouns() {
    assert_eq!(gerunds(&production()), [""; 0]);
}

mod controls {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_type_that_is_defined_twice_is_reported() {
        let sources = [
            source("a.rs", "pub(crate) struct Place<'a> {\n    type Place = u8;\n"),
            source("b.rs", "use x;\n\nenum Place { A }\ntype Size = u8;\nunion Bits {}\n"),
        ];
        assert_eq!(shared(&sources, &[]), ["Place is defined at a.rs:1 and b.rs:3"]);
        assert_eq!(shared(&sources, &[("Place", "why")]), [""; 0]);
        let unused = shared(&sources, &[("Place", "why"), ("Size", "why")]);
        assert_eq!(unused, ["Size is listed as shared, but defined once at most"]);
    }

    #[test]
    fn a_gerund_is_reported() {
        let sources = ["src/landing.rs", "src/ranking.rs", "src/run.rs", "src/re_reading.rs"];
        let sources = sources.map(|path| source(path, ""));
        assert_eq!(gerunds(&sources), ["src/landing.rs", "src/re_reading.rs"]);
    }
}
