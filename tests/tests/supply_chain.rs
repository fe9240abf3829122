//! What the crates are built on: no unsafe code of our own, crates from one registry, and the two
//! that write files held to a minor version. Licences and advisories are checked by `cargo deny
//! check`, as `deny.toml` says.

use std::fs;
use std::path::{Path, PathBuf};

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

#[test]
fn crates_that_write_files_have_the_intended_ranges() {
    let workspace = read("Cargo.toml");
    // The key-value crate checks the version of redb's file format in each file, so applications
    // may move on to any later 4.x. tantivy's segments have changed with each minor.
    for range in ["redb = \"4.", "tantivy = { version = \"~0."] {
        assert!(workspace.contains(range), "{range}");
    }
}
