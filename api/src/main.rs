//! The public API of each published library, as stored in `docs/api`: prints what differs and fails
//! then. `--store` writes the present one there.
//!
//! The compiler is asked for rustdoc's JSON, which is unstable: another one than that of
//! `Cargo.toml` may have another form of it.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs};

use serde_json::Value;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The root of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// The workspace as Cargo reads its manifests.
fn metadata() -> Result<Value> {
    let mut cargo = cargo();
    cargo.args(["metadata", "--format-version=1", "--no-deps", "--locked"]);
    Ok(serde_json::from_slice(&cargo.stderr(Stdio::inherit()).output()?.stdout)?)
}

/// The packages that are published and have a library.
fn libraries(metadata: &Value) -> Vec<&str> {
    let is_library = |target: &Value| target["kind"][0] == "lib";
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter(|package| package["publish"].is_null())
        .filter(|package| {
            package["targets"].as_array().is_some_and(|all| all.iter().any(is_library))
        })
        .filter_map(|package| package["name"].as_str())
        .collect()
}

/// The items of a library with all features, one a line. What implementations all types have, and
/// what a derive adds, is left out.
fn api(library: &str, target: &Path) -> Result<String> {
    let mut cargo = cargo();
    cargo.args(["rustdoc", "--quiet", "--lib", "--all-features", "--locked", "-p", library]);
    cargo.arg("--target-dir").arg(target);
    cargo.args(["--", "-Zunstable-options", "--output-format=json", "--cap-lints=allow"]);
    if !cargo.env("RUSTC_BOOTSTRAP", "1").status()?.success() {
        return Err(format!("{library}: rustdoc failed").into());
    }
    let json = target.join("doc").join(library.replace('-', "_")).with_extension("json");
    let items = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()?;
    Ok(items.items().map(|item| format!("{item}\n")).collect())
}

/// The lines that only one of two texts has, with the sign of a difference.
fn differences(stored: &str, present: &str) -> Vec<String> {
    let [stored, present] = [stored, present].map(|text| text.lines().collect::<BTreeSet<_>>());
    let gone = stored.difference(&present).map(|line| format!("-{line}"));
    gone.chain(present.difference(&stored).map(|line| format!("+{line}"))).collect()
}

fn run(stores: bool) -> Result<bool> {
    let metadata = metadata()?;
    // The unstable option would otherwise have the dependencies compiled again, twice.
    let target = Path::new(metadata["target_directory"].as_str().ok_or("no target")?).join("api");
    let folder = root().join("docs/api");
    let mut is_same = true;
    let libraries = libraries(&metadata);
    let file_name = |library: &str| format!("{library}.txt");
    let expected: BTreeSet<_> = libraries.iter().map(|library| file_name(library)).collect();
    for library in libraries {
        let (present, path) = (api(library, &target)?, folder.join(file_name(library)));
        if stores {
            fs::create_dir_all(&folder)?;
            fs::write(&path, present)?;
            continue;
        }
        let found = differences(&fs::read_to_string(&path).unwrap_or_default(), &present);
        println!("{library}: {} items, {} differ", present.lines().count(), found.len());
        found.iter().for_each(|line| println!("  {line}"));
        is_same &= found.is_empty();
    }
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name();
        if !name.to_str().is_some_and(|name| expected.contains(name)) {
            println!("docs/api/{} is of no published library", name.display());
            is_same = false;
        }
    }
    Ok(is_same)
}

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let stores = match &arguments[..] {
        [] => false,
        [option] if option == "--store" => true,
        _ => {
            eprintln!("api: takes --store or nothing");
            return ExitCode::from(2);
        }
    };
    match run(stores) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            println!("If that is meant: cargo run --manifest-path api/Cargo.toml -- --store");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("api: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_item_is_noticed() {
        let stored = "pub fn a::b()\npub fn a::c()\n";
        assert_eq!(differences(stored, stored), [""; 0]);
        let found = differences(stored, "pub fn a::b(u8)\npub fn a::c()\n");
        assert_eq!(found, ["-pub fn a::b()", "+pub fn a::b(u8)"]);
    }

    #[test]
    fn the_libraries_that_are_published_are_found() {
        let metadata = metadata().unwrap();
        let found = libraries(&metadata);
        assert!(found.contains(&"leafbase") && found.contains(&"leafbase-kv"));
        assert!(!found.contains(&"leafbase-cli") && !found.contains(&"benches"));
    }
}
