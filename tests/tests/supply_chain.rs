//! What the crates are built on: no unsafe code of our own, crates from one registry under the
//! licences that `deny.toml` allows, and the two that write files held to a minor version.
//! `.ci/nightly deny` checks the same of every platform, and advisories.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(&path))
        .unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

fn manifests() -> Vec<(String, String)> {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let crates = crates
        .filter(|path| path.is_dir())
        .map(|path| format!("crates/{}", path.file_name().unwrap().display()));
    let all = crates.chain(["tests", "benches"].map(str::to_owned));
    all.map(|member| (member.clone(), read(format!("{member}/Cargo.toml")))).collect()
}

/// Whether the compiler refuses unsafe code in a package with this manifest.
fn forbids_unsafe(manifest: &str, workspace: &str) -> bool {
    let has = |text: &str, section: &str, line: &str| {
        text.split("\n[").any(|part| {
            part.trim_start_matches('[').starts_with(section) && part.lines().any(|at| at == line)
        })
    };
    let of_workspace = has(workspace, "workspace.lints.rust]", "unsafe_code = \"forbid\"");
    has(manifest, "lints.rust]", "unsafe_code = \"forbid\"")
        || of_workspace && has(manifest, "lints]", "workspace = true")
}

#[test]
fn no_crate_of_ours_has_unsafe_code() {
    let workspace = read("Cargo.toml");
    let manifests = manifests();
    assert!(manifests.len() > 8);
    for (member, manifest) in manifests {
        assert!(forbids_unsafe(&manifest, &workspace), "{member}");
    }
    assert!(!forbids_unsafe("[package]\nname = \"a\"\n\n[lints]\nworkspace = false\n", &workspace));
    assert!(!forbids_unsafe(
        "\n[lints]\nworkspace = true\n",
        "[workspace.lints.rust]\nunsafe_code = \"deny\"\n"
    ));
}

#[test]
fn every_crate_is_from_the_one_registry() {
    let lock = read("Cargo.lock");
    let sources: Vec<&str> = lock.lines().filter(|line| line.starts_with("source = ")).collect();
    assert!(sources.len() > 50);
    for source in sources {
        assert_eq!(source, "source = \"registry+https://github.com/rust-lang/crates.io-index\"");
    }
    assert!(read("deny.toml").contains("unknown-registry = \"deny\""));
}

/// The dependencies of a package that a lock file does not have; none if it has no such package.
fn missing_in_lock(lock: &str, manifest: &str) -> Vec<String> {
    let name = manifest.lines().find(|line| line.starts_with("name = ")).expect("a package's name");
    let entry = lock.split("[[package]]").find(|entry| entry.lines().any(|line| line == name));
    let Some(entry) = entry else { return Vec::new() };
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    let required = lines.filter(|line| !line.contains("optional = true"));
    let names = required.filter_map(|line| line.split_once([' ', '.'])).map(|(name, _)| name);
    let names = names.filter(|name| name.starts_with(|it: char| it.is_alphanumeric()));
    let is_locked = |name: &str| {
        entry.contains(&format!("\n \"{name}\"")) || entry.contains(&format!("\n \"{name} "))
    };
    names.filter(|name| !is_locked(name)).map(str::to_owned).collect()
}

/// Else `cargo --locked` refuses them, which nobody sees before the next night.
#[test]
fn lock_files_of_other_workspaces_have_the_present_dependencies() {
    for workspace in ["api", "browser", "fuzz", "network"] {
        let lock = read(format!("{workspace}/Cargo.lock"));
        for (member, manifest) in manifests() {
            let missing = missing_in_lock(&lock, &manifest);
            assert_eq!(missing, [""; 0], "{workspace}: run `cargo metadata` for {member}");
        }
    }
    let manifest =
        "[package]\nname = \"a\"\n\n[dependencies]\nb = \"1\"\nc = { optional = true }\n# no\n";
    let lock = "[[package]]\nname = \"a\"\ndependencies = [\n \"d\",\n]\n";
    assert_eq!(missing_in_lock(lock, manifest), ["b"]);
    assert!(missing_in_lock(&lock.replace("d", "b 1.0.0"), manifest).is_empty());
}

/// The licences that `deny.toml` allows.
fn allowed_licences() -> BTreeSet<String> {
    let deny = read("deny.toml");
    let list = deny.split("\nallow = [").nth(1).unwrap().split(']').next().unwrap();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether an SPDX expression leaves a choice of allowed licences. `/` is the older form of `OR`.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    // Of the operators AND binds tighter; parentheses are resolved from the innermost ones.
    if let Some(end) = expression.find(')') {
        let start = expression[..end].rfind('(').expect("parentheses match");
        let inner = is_allowed(&expression[start + 1..end], allowed);
        let inner = if inner { "allowed" } else { "refused" };
        let rest = format!("{}{inner}{}", &expression[..start], &expression[end + 1..]);
        return is_allowed(&rest, allowed);
    }
    let is_one = |name: &str| name.trim() == "allowed" || allowed.contains(name.trim());
    let choices = expression.replace('/', " OR ");
    choices.split(" OR ").any(|choice| choice.split(" AND ").all(is_one))
}

/// What the command prints; `None` if it fails.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

/// The packages that a build with these features takes. `None` if some were not downloaded.
fn packages(features: &[&str]) -> Option<String> {
    // Crates of other platforms may not be here.
    let compiler = output(Command::new("rustc").arg("-vV")).expect("rustc tells its host");
    let host = compiler.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["metadata", "--format-version=1", "--offline", "--locked"]).args(features);
    output(cargo.args(["--filter-platform", host]).current_dir(root()))
}

#[test]
fn every_licence_is_allowed() {
    // Who only tests has not downloaded what features that are off by default need.
    let listed = packages(&["--all-features"]).or_else(|| packages(&[]));
    let listed = listed.expect("what these tests were built of is here");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let packages = listed["packages"].as_array().unwrap();
    assert!(packages.len() > 100);
    let allowed = allowed_licences();
    for package in packages {
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_allowed(licence, &allowed), "{}: {licence:?}", package["name"]);
    }
}

#[test]
fn licences_that_are_not_allowed_are_noticed() {
    let allowed = allowed_licences();
    assert!(allowed.len() > 3 && allowed.contains("MIT"));
    for expression in ["MIT", "GPL-3.0 OR MIT", "MIT/Unlicense", "(MIT OR GPL-2.0) AND Zlib"] {
        assert!(is_allowed(expression, &allowed), "{expression}");
    }
    for expression in ["", "GPL-3.0", "MIT AND GPL-3.0", "MIT AND (GPL-2.0 OR GPL-3.0)"] {
        assert!(!is_allowed(expression, &allowed), "{expression}");
    }
}

#[test]
fn crates_that_write_files_have_the_intended_ranges() {
    let workspace = read("Cargo.toml");
    // The key-value crate checks the version of redb's file format in each file, so applications
    // may move on to any later 4.x. tantivy's segments have changed with each minor.
    for range in ["redb = \"4.", "tantivy = { version = \"~0."] {
        assert!(workspace.contains(range), "{range}");
    }
}
