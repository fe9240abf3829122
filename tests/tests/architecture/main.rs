//! The structure of the workspace is as `crates/ARCHITECTURE.md` and `CONTRIBUTING.md` say:
//! dependencies between crates, modules without cycles, files and types with names of their own,
//! and the language of comments. Each rule has a control that has to be reported.

use std::path::{Path, PathBuf};

mod dependencies;
mod language;
mod modules;
mod names;
mod sources;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn map() -> String {
    read(&root().join("crates/ARCHITECTURE.md"))
}
