//! Imports a folder of markdown, changes a note, and exports it again.
//!
//! `cargo run --example markdown_in_and_out`, or `.. -- ~/notes` for a folder of your own, which is
//! only read.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example stays short"
)]

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use leafbase::{Progress, Space};
use leafbase_vault::{ExportOptions, ImportOptions, export_folder, import_folder};

/// Receives the progress and may cancel.
fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let notes_folder = match std::env::args_os().nth(1) {
        Some(folder) => PathBuf::from(folder),
        None => write_some(directory.path().join("notes"))?,
    };

    let space = Space::in_memory()?;
    let notes = space.connect();
    let report = import_folder(&notes, &notes_folder, &ImportOptions::default(), &mut go_on)?;
    println!("{} documents, {} blocks", report.documents, report.blocks);
    for warning in &report.warnings {
        println!("  adapted: {}: {}", warning.path, warning.message);
    }

    // What comes in as markdown is found as blocks, and shown as markdown again.
    for document in notes.documents()?.iter().take(3) {
        println!("\n# {}\n\n{}", document.title, notes.content_markdown(document.id())?);
    }

    let out = directory.path().join("out");
    let exported = export_folder(&notes, &out, &ExportOptions::default(), &mut go_on)?;
    println!("\n{} files written", exported.documents);

    // The export parses as the same blocks.
    let again = Space::in_memory()?.connect();
    let report_again = import_folder(&again, &out, &ImportOptions::default(), &mut go_on)?;
    assert_eq!(report.blocks, report_again.blocks);
    Ok(())
}

fn write_some(folder: PathBuf) -> std::io::Result<PathBuf> {
    fs::create_dir_all(&folder)?;
    fs::write(
        folder.join("Lisbon.md"),
        "# Lisbon\n\n- [ ] book the tram\n- see [the food](Food.md)\n\n> Alfama *first*\n",
    )?;
    fs::write(
        folder.join("Food.md"),
        "# Food\n\n| dish | where |\n|---|---|\n| bifana | anywhere |\n",
    )?;
    Ok(folder)
}
