//! A tour of Leafbase: imports notes and shows what can be done with them, one thing after another.
//!
//! ```sh
//! cargo run --example tour                    # the sample notes in tour/notes
//! cargo run --example tour -- my-notes        # a folder of markdown files; it is only read
//! cargo run --example tour -- --keep my.space # keeps the space that is made
//! ```
//!
//! Each subject has a file: `tour/folders.rs`, `tour/tasks.rs`, ..

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use leafbase::{Connection, Space};
use show::{heading, number};

#[path = "tour/blocks.rs"]
mod blocks;
#[path = "tour/collections.rs"]
mod collections;
#[path = "tour/comments.rs"]
mod comments;
#[path = "tour/days.rs"]
mod days;
#[path = "tour/documents.rs"]
mod documents;
#[path = "tour/files.rs"]
mod files;
#[path = "tour/folders.rs"]
mod folders;
#[path = "tour/info.rs"]
mod info;
#[path = "tour/scopes.rs"]
mod scopes;
#[path = "tour/search.rs"]
mod search;
#[path = "tour/show.rs"]
mod show;
#[path = "tour/tasks.rs"]
mod tasks;
#[path = "tour/transfer.rs"]
mod transfer;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

fn main() -> ExitCode {
    match Arguments::read().and_then(|arguments| tour(&arguments, &mut io::stdout().lock())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to do if even this cannot be written.
            drop(writeln!(io::stderr(), "tour: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// The options of the command line.
struct Arguments {
    folder: Option<PathBuf>,
    keep: Option<PathBuf>,
}

impl Arguments {
    fn read() -> Result<Self> {
        let mut arguments = Self { folder: None, keep: None };
        let mut rest = env::args_os().skip(1);
        while let Some(argument) = rest.next() {
            if argument == "--keep" {
                arguments.keep = Some(rest.next().ok_or("--keep needs a path")?.into());
            } else if argument.to_string_lossy().starts_with('-') || arguments.folder.is_some() {
                return Err("usage: tour [FOLDER] [--keep PATH]".into());
            } else {
                arguments.folder = Some(argument.into());
            }
        }
        Ok(arguments)
    }
}

fn tour(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let temporary = tempfile::tempdir()?;
    let path = arguments.keep.clone().unwrap_or_else(|| temporary.path().join("tour.leafbase"));

    heading(out, "1. Import a folder of markdown")?;
    let began = Instant::now();
    let space = Space::create(&path)?;
    let notes = space.connect();
    let report = transfer::import(&notes, arguments.folder.as_deref())?;
    let milliseconds = began.elapsed().as_millis();
    let (documents, blocks) = (number(report.documents), number(report.blocks));
    writeln!(out, "{documents} documents, {blocks} blocks, {} folders", number(report.folders))?;
    writeln!(out, "{} links lead from block to block", number(report.links))?;
    transfer::summarize(out, &report)?;

    show_blocks(out, &notes)?;
    show_space(out, &notes)?;
    show_guests(out, &space, &notes)?;

    heading(out, "17. Out again, in again, out again")?;
    transfer::round_trip(out, &notes, temporary.path())?;
    transfer::mirror_round(out, &notes, temporary.path())?;

    heading(out, "Time and space")?;
    writeln!(out, "import: {documents} documents, {blocks} blocks, {milliseconds} ms")?;
    writeln!(out, "store: {} KiB in {}", number(space.stats()?.bytes / 1024), path.display())?;
    let check = space.check()?;
    if let Some(problem) = check.problems.first() {
        return Err(
            format!("check: {} problems; the first: {problem}", check.problems.len()).into()
        );
    }
    writeln!(out, "check: ok")?;
    Ok(())
}

/// The content of documents.
fn show_blocks(out: &mut impl Write, notes: &Connection) -> Result<()> {
    heading(out, "2. A document is a tree of blocks")?;
    let document = blocks::choose(notes)?;
    blocks::show(out, notes, &document)?;

    heading(out, "3. Insert, edit, move")?;
    blocks::edit(out, notes, &document)?;
    blocks::show(out, notes, &document)?;

    heading(out, "4. The same document as markdown")?;
    writeln!(out, "{}", notes.content_markdown(document.id())?.trim_end())?;
    Ok(())
}

/// The organization of documents.
fn show_space(out: &mut impl Write, notes: &Connection) -> Result<()> {
    heading(out, "5. Folders")?;
    folders::show(out, notes)?;
    let folder = folders::edit(out, notes)?;

    heading(out, "6. Documents")?;
    documents::list(out, notes, folder)?;
    documents::delete(out, notes, folder)?;

    heading(out, "7. A template")?;
    documents::copy_template(out, notes, folder)?;

    heading(out, "8. Daily notes")?;
    days::show(out, notes)?;

    heading(out, "9. Tasks")?;
    tasks::show(out, notes, folder)?;

    heading(out, "10. Comments and colours")?;
    comments::show(out, notes, folder)?;

    heading(out, "11. A file")?;
    files::show(out, notes, folder)?;

    heading(out, "12. Two related collections")?;
    let library = collections::Library::build(out, notes, folder)?;
    library.relate(out, notes)?;

    heading(out, "13. Questions to a collection, and a wrong value")?;
    library.query(out, notes)?;
    library.refuse(out, notes)?;

    heading(out, "14. Connection info and errors")?;
    info::show(out, notes)
}

/// Finding things, and letting others in.
fn show_guests(out: &mut impl Write, space: &Space, notes: &Connection) -> Result<()> {
    heading(out, "15. Words and patterns")?;
    let document = blocks::choose(notes)?;
    search::show(out, notes, &document)?;

    heading(out, "16. A guest sees one document, and not a trace of the rest")?;
    scopes::show(out, space, notes)
}
