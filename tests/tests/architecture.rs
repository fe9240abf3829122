//! The map of the house is true: `crates/ARCHITECTURE.md` lists every arrow between crates, and
//! every file that it names exists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// From one crate to another, by the names of their folders; whether only its tests use it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrow {
    from: String,
    to: String,
    only_in_tests: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn map() -> String {
    read(&root().join("crates/ARCHITECTURE.md"))
}

/// The manifest of every member of the workspace, by the name of its folder.
fn manifests() -> BTreeMap<String, String> {
    let crates =
        std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let beside = ["tests", "benches"].map(|name| root().join(name));
    let members = crates.chain(beside).filter(|folder| folder.join("Cargo.toml").is_file());
    members
        .map(|folder| {
            (
                folder.file_name().unwrap().to_str().unwrap().to_owned(),
                read(&folder.join("Cargo.toml")),
            )
        })
        .collect()
}

/// A dependency of a manifest: the name of its package, and whether only tests use it.
type Dependency = (String, bool);

/// The dependencies of a manifest. `renamed` gives the package of the names that the workspace
/// defines otherwise.
fn dependencies(manifest: &str, renamed: &BTreeMap<String, String>) -> BTreeSet<Dependency> {
    let (mut found, mut section) = (BTreeMap::new(), Vec::new());
    for line in manifest.lines().map(without_comment) {
        if let Some(header) = line.strip_prefix('[') {
            section = parts(header.trim_matches(['[', ']']));
            if let Some((name, only_in_tests)) = table_of_one(&section) {
                found.insert((name.clone(), only_in_tests), name);
            }
        } else if let Some((key, value)) = line.split_once('=') {
            let key = parts(key);
            if let Some((name, only_in_tests)) = table_of_one(&section) {
                if key == ["package"] {
                    found.insert(
                        (name, only_in_tests),
                        value.trim().trim_matches(['"', '\'']).to_owned(),
                    );
                }
            } else if let Some(only_in_tests) =
                section.last().and_then(|last| kind_of_section(last))
            {
                let name = key[0].clone();
                let package = package_in(value)
                    .or_else(|| (key.get(1)? == "package").then(|| unquoted(value)));
                let known = found.entry((name.clone(), only_in_tests)).or_insert(name);
                if let Some(package) = package {
                    *known = package;
                }
            }
        }
    }
    let package = |name: String| renamed.get(&name).cloned().unwrap_or(name);
    found.into_iter().map(|((_, only_in_tests), name)| (package(name), only_in_tests)).collect()
}

/// The name, if this section is the table of a single dependency: `[dependencies.name]`.
fn table_of_one(section: &[String]) -> Option<Dependency> {
    let [.., kind, name] = section else { return None };
    Some((name.clone(), kind_of_section(kind)?))
}

/// Whether a section of dependencies is for tests only; none if it is another section.
fn kind_of_section(name: &str) -> Option<bool> {
    match name {
        "dependencies" | "build-dependencies" => Some(false),
        "dev-dependencies" => Some(true),
        _ => None,
    }
}

fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (place, letter) in line.char_indices() {
        match (quote, letter) {
            (None, '#') => return line[..place].trim(),
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
    }
    line.trim()
}

/// The parts of a dotted key: `target.'cfg(unix)'.dependencies`.
fn parts(key: &str) -> Vec<String> {
    let (mut found, mut quote) = (vec![String::new()], None);
    for letter in key.trim().chars() {
        match (quote, letter) {
            (None, '.') => found.push(String::new()),
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => found.last_mut().unwrap().push(letter),
        }
    }
    found.iter().map(|part| part.trim().to_owned()).collect()
}

fn unquoted(value: &str) -> String {
    value.trim().trim_matches(['"', '\'']).to_owned()
}

/// The package that an inline table names: `{ package = "leafbase-model", .. }`.
fn package_in(value: &str) -> Option<String> {
    let fields = value.trim().strip_prefix('{')?.trim_end_matches('}');
    let pairs = fields.split(',').filter_map(|field| field.split_once('='));
    pairs.filter(|(name, _)| name.trim() == "package").map(|(_, package)| unquoted(package)).next()
}

fn package_name(manifest: &str) -> String {
    let lines = manifest.lines().skip_while(|line| line.trim() != "[package]");
    let names =
        lines.filter_map(|line| line.split_once('=')).filter(|(key, _)| key.trim() == "name");
    names.map(|(_, name)| unquoted(without_comment(name))).next().unwrap_or_default()
}

/// The arrows within the workspace that these manifests make.
fn arrows(manifests: &BTreeMap<String, String>, workspace: &str) -> BTreeSet<Arrow> {
    let folders: BTreeMap<_, _> = manifests
        .iter()
        .map(|(folder, manifest)| (package_name(manifest), folder.clone()))
        .collect();
    let renamed: BTreeMap<_, _> = workspace
        .lines()
        .map(without_comment)
        .filter_map(|line| line.split_once('='))
        .filter_map(|(name, value)| Some((name.trim().to_owned(), package_in(value)?)))
        .collect();
    let of_one = |(folder, manifest): (&String, &String)| {
        let from = folder.clone();
        let found: Vec<_> = dependencies(manifest, &renamed)
            .into_iter()
            .filter_map(|(package, only_in_tests)| {
                Some(Arrow {
                    from: from.clone(),
                    to: folders.get(&package)?.clone(),
                    only_in_tests,
                })
            })
            .collect();
        found
    };
    manifests.iter().flat_map(of_one).collect()
}

/// The arrows that the map allows: the table below "Arrows".
fn allowed(map: &str) -> BTreeSet<Arrow> {
    let section = map
        .split("\n## ")
        .find(|section| section.starts_with("Arrows\n"))
        .expect("a section named Arrows");
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.flat_map(|row| {
        let cells: Vec<Vec<String>> = row.trim_matches('|').split('|').map(in_backticks).collect();
        let [from, uses, in_tests] = <[_; 3]>::try_from(cells).expect("three cells in each row");
        let from = from[0].clone();
        let arrow = move |to, only_in_tests| Arrow { from: from.clone(), to, only_in_tests };
        let uses = uses.into_iter().map(|to| (to, false));
        uses.chain(in_tests.into_iter().map(|to| (to, true)))
            .map(move |(to, tests)| arrow(to, tests))
            .collect::<Vec<_>>()
    })
    .collect()
}

fn in_backticks(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// What is wrong with these arrows, a sentence for each.
fn faults(used: &BTreeSet<Arrow>, allowed: &BTreeSet<Arrow>) -> Vec<String> {
    let say = |arrow: &Arrow, what: &str| {
        let place = if arrow.only_in_tests { " in its tests" } else { "" };
        format!("{} uses {}{place}: {what}", arrow.from, arrow.to)
    };
    let new =
        used.difference(allowed).map(|arrow| say(arrow, "the table of arrows does not allow it"));
    let old = allowed
        .difference(used)
        .map(|arrow| say(arrow, "the table of arrows says so, but it is not true"));
    new.chain(old).collect()
}

/// The paths that the map names, below `crates/` or from the top.
fn paths(map: &str) -> BTreeSet<String> {
    let is_path = |name: &String| {
        let plain =
            name.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-".contains(letter));
        plain && (name.contains('/') || name.ends_with(".rs") || name.ends_with(".md"))
    };
    let prose = map.split("```").step_by(2);
    prose.flat_map(in_backticks).filter(is_path).collect()
}

fn missing(paths: &BTreeSet<String>) -> Vec<&String> {
    let exists =
        |path: &str| root().join("crates").join(path).exists() || root().join(path).exists();
    paths.iter().filter(|path| !exists(path)).collect()
}

/// The source files below `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}

fn says_its_job(source: &str) -> bool {
    source
        .lines()
        .next()
        .is_some_and(|line| line.strip_prefix("//! ").is_some_and(|job| !job.trim().is_empty()))
}

#[test]
fn crates_use_each_other_as_the_map_says() {
    let used = arrows(&manifests(), &read(&root().join("Cargo.toml")));
    assert!(used.len() > 5, "the manifests are read");
    assert_eq!(faults(&used, &allowed(&map())), [""; 0]);
}

#[test]
fn every_crate_is_on_the_map() {
    let map = map();
    for folder in manifests().keys() {
        let rows = map.lines().filter(|line| line.starts_with(&format!("| `{folder}` |"))).count();
        let beside = ["tests", "benches"].contains(&folder.as_str());
        assert_eq!(
            rows,
            if beside { 1 } else { 2 },
            "{folder}: a row that says its job, and one among the arrows"
        );
    }
}

#[test]
fn every_file_that_the_map_names_exists() {
    let paths = paths(&map());
    assert!(paths.len() > 20, "the names are found");
    assert_eq!(missing(&paths), [""; 0]);
}

#[test]
fn every_source_file_says_its_job_first() {
    let crates = std::fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("src"));
    let files: Vec<_> = crates.flat_map(|folder| sources(&folder)).collect();
    assert!(files.len() > 50, "the files are found");
    let silent: Vec<_> = files.iter().filter(|path| !says_its_job(&read(path))).collect();
    assert_eq!(silent, [""; 0].map(PathBuf::from).each_ref());
}

/// What would find nothing if it were broken is shown something to find.
mod controls {
    use super::*;

    const MAP: &str = "# Map\n\n## Arrows\n\n| crate | uses | in its tests also |\n|---|---|---|\n\
                       | `engine` | `model` `store` | |\n| `store` | `model` | `outline` |\n\n## Next\n\n| `x` | `y` | |\n";
    const MODEL: &str = "[package]\nname = \"leafbase-model\"\n";
    const ENGINE: &str = "[package]\nname = \"leafbase\"\n\n[dependencies]\nserde = \"1\"\n\
                          leafbase-model = { workspace = true }\nleafbase-store = { workspace = true }\n";
    const STORE: &str = "[dependencies]\nleafbase-model = { workspace = true }\n\n[package]\nname = \"leafbase-store\" # kept\n\n\
                         [dev-dependencies]\nleafbase-outline = { path = \"../outline\" }\n";
    const OUTLINE: &str = "[package]\nname = \"leafbase-outline\"\n";

    fn house(changed: &str, manifest: &str) -> Vec<String> {
        let all = [("model", MODEL), ("engine", ENGINE), ("store", STORE), ("outline", OUTLINE)];
        let mut manifests: BTreeMap<_, _> = all
            .iter()
            .map(|(folder, manifest)| ((*folder).to_owned(), (*manifest).to_owned()))
            .collect();
        manifests.get_mut(changed).unwrap().push_str(manifest);
        let workspace = "[workspace.dependencies]\nheart = { path = \"crates/engine\", package = \"leafbase\" }\n";
        faults(&arrows(&manifests, workspace), &allowed(MAP))
    }

    #[test]
    fn a_house_as_its_map_says_has_no_fault() {
        assert_eq!(house("model", ""), [""; 0]);
        let others = "[features]\nleafbase = []\n[lints]\nworkspace = true\n[dependencies] # leafbase-store\nserde = \"1\"\n";
        assert_eq!(house("model", others), [""; 0]);
    }

    #[test]
    fn a_forbidden_arrow_is_reported_however_it_is_written() {
        for forbidden in [
            "[dependencies]\nleafbase = \"0.1\"",
            "[dependencies]\nserde = \"1\"\nleafbase.workspace = true",
            "[dependencies]\n\"leafbase\" = { workspace = true } # why not",
            "[ dependencies ]\n  leafbase={path=\"../engine\"}",
            "[build-dependencies]\nleafbase = { workspace = true }",
            "[dependencies.leafbase]\nworkspace = true",
            "[dependencies.top]\npath = \"../engine\"\npackage = \"leafbase\"",
            "[dependencies]\ntop = { path = \"../engine\", package = \"leafbase\" }",
            "[dependencies]\ntop.path = \"../engine\"\ntop.package = \"leafbase\"",
            "[dependencies]\nheart = { workspace = true }",
            "[target.'cfg(unix)'.dependencies]\nleafbase = { workspace = true, optional = true }",
            "[target.\"cfg(feature = \\\"a.b\\\")\".dependencies.leafbase]\nworkspace = true",
        ] {
            let expected = ["model uses engine: the table of arrows does not allow it"];
            assert_eq!(house("model", forbidden), expected, "{forbidden}");
        }
        let in_tests = "[dev-dependencies]\nleafbase-store = { workspace = true }";
        let expected = ["model uses store in its tests: the table of arrows does not allow it"];
        assert_eq!(house("model", in_tests), expected);
    }

    #[test]
    fn an_arrow_that_nobody_uses_is_reported() {
        let (map, none) = (allowed(MAP), BTreeSet::new());
        assert_eq!(faults(&none, &map).len(), 4);
        assert_eq!(
            faults(&none, &map)[3],
            "store uses outline in its tests: the table of arrows says so, but it is not true"
        );
    }

    #[test]
    fn a_file_that_does_not_exist_is_reported() {
        let map = "See `model/src/json.rs`, `no/such.rs`, `gone.md`, `CHANGELOG.md`, `a b/c`, `Error::at`.\n```\n`x/y.rs`\n```\n";
        let named = paths(map);
        assert_eq!(missing(&named), ["gone.md", "no/such.rs"]);
        assert_eq!(named.len(), 4);
    }

    #[test]
    fn a_file_that_says_nothing_is_reported() {
        assert!(says_its_job("//! Colours.\n"));
        for silent in
            ["", "//!\n", "//! \n", "// Colours.\n", "use std::fmt;\n", "\n//! Colours.\n"]
        {
            assert!(!says_its_job(silent), "{silent:?}");
        }
    }
}
