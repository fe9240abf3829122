//! Dependencies between the crates are those of the table "Arrows", and the files that the map
//! names exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::{map, root};

/// A dependency between two crates of the workspace, by the names of their folders.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrow {
    from: String,
    to: String,
    /// Whether only the tests of `from` use it.
    only_in_tests: bool,
}

/// The workspace as Cargo reads its manifests.
fn metadata() -> Value {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]);
    let output = cargo.current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("metadata is JSON")
}

fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_else(|| panic!("{key} is a string in {of}"))
}

/// The folder of each package, by the package's name.
fn folders(metadata: &Value) -> BTreeMap<String, String> {
    let folder = |package: &Value| {
        let folder = Path::new(text(package, "manifest_path")).parent().expect("a folder");
        folder.file_name().unwrap().to_str().unwrap().to_owned()
    };
    let packages = metadata["packages"].as_array().expect("packages");
    packages.iter().map(|package| (text(package, "name").to_owned(), folder(package))).collect()
}

/// The arrows of the manifests. A dependency that tests share with the library is not an arrow of
/// the tests.
fn arrows(metadata: &Value) -> BTreeSet<Arrow> {
    let folders = folders(metadata);
    let mut found = BTreeSet::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let from = &folders[text(package, "name")];
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let Some(to) = folders.get(text(dependency, "name")) else { continue };
            let only_in_tests = dependency["kind"] == "dev";
            found.insert(Arrow { from: from.clone(), to: to.clone(), only_in_tests });
        }
    }
    found
}

/// The arrows that the table below "Arrows" allows.
fn allowed(map: &str) -> BTreeSet<Arrow> {
    let mut sections = map.split("\n## ");
    let section = sections.find(|section| section.starts_with("Arrows\n")).expect("Arrows");
    let mut found = BTreeSet::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<Vec<String>> = row.trim_matches('|').split('|').map(in_backticks).collect();
        let [from, uses, in_tests] = <[_; 3]>::try_from(cells).expect("three cells in each row");
        for (targets, only_in_tests) in [(uses, false), (in_tests, true)] {
            found.extend(targets.into_iter().map(|to| Arrow {
                from: from[0].clone(),
                to,
                only_in_tests,
            }));
        }
    }
    found
}

fn in_backticks(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// One sentence for each arrow that is used and not allowed, or allowed and not used.
fn faults(used: &BTreeSet<Arrow>, allowed: &BTreeSet<Arrow>) -> Vec<String> {
    let describe = |arrow: &Arrow, fault: &str| {
        let place = if arrow.only_in_tests { " in its tests" } else { "" };
        format!("{} uses {}{place}: {fault}", arrow.from, arrow.to)
    };
    let new = used.difference(allowed);
    let old = allowed.difference(used);
    new.map(|arrow| describe(arrow, "the table of arrows does not allow it"))
        .chain(old.map(|arrow| describe(arrow, "the table of arrows lists it, but no manifest")))
        .collect()
}

/// The paths that the map names, below `crates/` or from the root.
fn paths(map: &str) -> BTreeSet<String> {
    let is_path = |name: &String| {
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
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

#[test]
fn crates_depend_on_each_other_as_the_map_says() {
    let used = arrows(&metadata());
    assert!(used.len() > 5, "the manifests are read");
    assert_eq!(faults(&used, &allowed(&map())), [""; 0]);
}

#[test]
fn every_crate_is_on_the_map() {
    let map = map();
    for folder in folders(&metadata()).values() {
        let rows = map.lines().filter(|line| line.starts_with(&format!("| `{folder}` |"))).count();
        let expected = if ["tests", "benches"].contains(&folder.as_str()) { 1 } else { 2 };
        assert_eq!(rows, expected, "{folder}: a row with its job, and a row among the arrows");
    }
}

#[test]
fn every_file_that_the_map_names_exists() {
    let paths = paths(&map());
    assert!(paths.len() > 20, "the names are found");
    assert_eq!(missing(&paths), [""; 0]);
}

mod controls {
    use super::*;

    const MAP: &str = "# Map\n\n## Arrows\n\n| crate | uses | in its tests also |\n|---|---|---|\n\
                       | `engine` | `model` `store` | |\n| `store` | `model` | `outline` |\n\n\
                       ## Next\n\n| `x` | `y` | |\n";

    fn package(name: &str, folder: &str, dependencies: &[(&str, Option<&str>)]) -> Value {
        let dependencies: Vec<Value> =
            dependencies.iter().map(|(name, kind)| json!({ "name": name, "kind": kind })).collect();
        let manifest = format!("/house/crates/{folder}/Cargo.toml");
        json!({ "name": name, "manifest_path": manifest, "dependencies": dependencies })
    }

    fn house(model: &[(&str, Option<&str>)]) -> Vec<String> {
        let metadata = json!({ "packages": [
            package("leafbase-model", "model", model),
            package("leafbase", "engine", &[("leafbase-model", None), ("leafbase-store", None)]),
            package("leafbase-store", "store",
                &[("leafbase-model", None), ("leafbase-outline", Some("dev")), ("serde", None)]),
            package("leafbase-outline", "outline", &[]),
        ]});
        faults(&arrows(&metadata), &allowed(MAP))
    }

    #[test]
    fn a_house_that_agrees_with_its_map_has_no_fault() {
        assert_eq!(house(&[("serde", None)]), [""; 0]);
    }

    #[test]
    fn a_forbidden_arrow_is_reported() {
        let expected = ["model uses engine: the table of arrows does not allow it"];
        assert_eq!(house(&[("leafbase", None)]), expected);
        assert_eq!(house(&[("leafbase", Some("build"))]), expected);
        let expected = ["model uses store in its tests: the table of arrows does not allow it"];
        assert_eq!(house(&[("leafbase-store", Some("dev"))]), expected);
    }

    #[test]
    fn an_unused_arrow_is_reported() {
        let faults = faults(&BTreeSet::new(), &allowed(MAP));
        let last = "store uses outline in its tests: the table of arrows lists it, but no manifest";
        assert_eq!((faults.len(), faults[3].as_str()), (4, last));
    }

    #[test]
    fn a_missing_file_is_reported() {
        let map = "See `model/src/json.rs`, `no/such.rs`, `gone.md`, `CHANGELOG.md`, `a b/c`, \
                   `Error::at`.\n```\n`x/y.rs`\n```\n";
        let named = paths(map);
        assert_eq!(missing(&named), ["gone.md", "no/such.rs"]);
        assert_eq!(named.len(), 4);
    }
}
