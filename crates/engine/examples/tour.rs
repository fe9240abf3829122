//! A tour of Leafbase: imports notes, shows them, edits and moves, prints markdown, exports, checks.
//!
//! ```sh
//! cargo run --release --example tour                    # the sample notes beside this file
//! cargo run --release --example tour -- my-notes        # a folder of markdown files; it is only read
//! cargo run --release --example tour -- --keep my.space # keeps the space that is made
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use std::{env, fs};

use leafbase::{
    Adaptation, AdaptationKind, Block, BlockKind, Connection, Document, ExportOptions, Fetch, Folder, ImportOptions,
    ImportReport, ListStyle, Location, MemorySource, MoveBlocks, Position, Progress, Space, TextStyle,
};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

const NOTES: [(&str, &str); 12] = [
    ("Start here.md", include_str!("tour/Start here.md")),
    ("Kitchen/Bread.md", include_str!("tour/Kitchen/Bread.md")),
    ("Kitchen/Measures.md", include_str!("tour/Kitchen/Measures.md")),
    ("Kitchen/Sourdough starter.md", include_str!("tour/Kitchen/Sourdough starter.md")),
    ("Kitchen/豆腐汤.md", include_str!("tour/Kitchen/豆腐汤.md")),
    ("Lisbon/Day plan.md", include_str!("tour/Lisbon/Day plan.md")),
    ("Lisbon/Packing.md", include_str!("tour/Lisbon/Packing.md")),
    ("Lisbon/Tram 28.md", include_str!("tour/Lisbon/Tram 28.md")),
    ("Lisbon/Trip to Lisbon.md", include_str!("tour/Lisbon/Trip to Lisbon.md")),
    ("Workshop/Ideas.md", include_str!("tour/Workshop/Ideas.md")),
    ("Workshop/Lamp.md", include_str!("tour/Workshop/Lamp.md")),
    ("Workshop/Reading list.md", include_str!("tour/Workshop/Reading list.md")),
];

/// Lines of a tree that are shown.
const SHOWN: usize = 24;

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

/// What the command line asks for.
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
    let report = import(&notes, arguments.folder.as_deref())?;
    let milliseconds = began.elapsed().as_millis();
    let (documents, blocks) = (number(report.documents), number(report.blocks));
    writeln!(out, "{documents} documents, {blocks} blocks, {} folders", number(report.folders))?;
    writeln!(out, "{} links lead from block to block", number(report.links))?;
    summarize(out, &report)?;

    heading(out, "2. Folders and documents")?;
    show_folders(out, &notes)?;

    heading(out, "3. A document is a tree of blocks")?;
    let document = choose(&notes)?;
    show_blocks(out, &notes, &document)?;

    heading(out, "4. Insert, edit, move")?;
    edit(out, &notes, &document)?;
    show_blocks(out, &notes, &document)?;

    heading(out, "5. The same document as markdown")?;
    writeln!(out, "{}", notes.content_markdown(document.id())?.trim_end())?;

    heading(out, "6. Out again, in again, out again")?;
    round_trip(out, &notes, temporary.path())?;

    heading(out, "What it took")?;
    writeln!(out, "import: {documents} documents, {blocks} blocks, {milliseconds} ms")?;
    writeln!(out, "store: {} KiB in {}", number(space.stats()?.bytes / 1024), path.display())?;
    let check = space.check()?;
    if let Some(problem) = check.problems.first() {
        return Err(format!("check: {} problems; the first: {problem}", check.problems.len()).into());
    }
    writeln!(out, "check: ok")?;
    Ok(())
}

fn heading(out: &mut impl Write, words: &str) -> Result<()> {
    writeln!(out, "\n== {words}\n")?;
    Ok(())
}

/// Imports the folder, or the sample notes.
fn import(notes: &Connection, folder: Option<&Path>) -> Result<ImportReport> {
    let mut progress = progress_line("imported");
    let report = match folder {
        Some(folder) => notes.import_folder(folder, &ImportOptions::new(), &mut progress),
        None => notes.import_from(&mut MemorySource::from_iter(NOTES), &ImportOptions::new(), &mut progress),
    };
    Ok(report?)
}

/// A line that counts up, on a terminal only.
fn progress_line(what: &str) -> impl FnMut(Progress) -> ControlFlow<()> {
    let terminal = io::stderr().is_terminal();
    move |progress| {
        let total = progress.total.unwrap_or(progress.done);
        if terminal && (progress.done % 50 == 0 || progress.done == total) {
            let end = if progress.done == total { "\r\x1b[K" } else { "" };
            drop(write!(io::stderr(), "\r{} of {} {what}{end}", number(progress.done), number(total)));
        }
        ControlFlow::Continue(())
    }
}

/// What was adapted, by kind, with an example or two of each.
fn summarize(out: &mut impl Write, report: &ImportReport) -> Result<()> {
    let mut kinds: BTreeMap<AdaptationKind, Vec<&Adaptation>> = BTreeMap::new();
    for adaptation in &report.adaptations {
        kinds.entry(adaptation.kind).or_default().push(adaptation);
    }
    let count = u64::try_from(report.adaptations.len())?;
    writeln!(out, "\n{} adaptations; nothing is dropped without a word:", number(count))?;
    for (kind, all) in kinds {
        writeln!(out, "{:>7}  {}", number(u64::try_from(all.len())?), kind.summary())?;
        for Adaptation { path, line, message, .. } in all.iter().take(2) {
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            writeln!(out, "           {path}{line}: {}", shortened(message, 100))?;
        }
    }
    if !report.skipped.is_empty() {
        writeln!(out, "{:>7}  left out", number(u64::try_from(report.skipped.len())?))?;
        for skipped in report.skipped.iter().take(2) {
            writeln!(out, "           {}: {}", skipped.path, skipped.reason)?;
        }
    }
    Ok(())
}

fn show_folders(out: &mut impl Write, notes: &Connection) -> Result<()> {
    let documents = notes.documents()?.0;
    let titles = |location: Location, depth: usize| {
        let here = documents.iter().filter(|document| document.record.location == location);
        let mut titles: Vec<_> = here.map(|document| format!("{}{}", "  ".repeat(depth), document.title)).collect();
        titles.sort();
        titles
    };
    let mut lines = titles(Location::Unsorted, 0);
    for (depth, folder) in notes.folders()?.iter().flat_map(Folder::walk) {
        if let Some(id) = folder.folder_id() {
            lines.push(format!("{}{}/", "  ".repeat(depth), folder.name));
            lines.extend(titles(Location::Folder(id), depth + 1));
        }
    }
    show_lines(out, &lines)
}

/// A document that has something to show and still fits on a screen.
fn choose(notes: &Connection) -> Result<Document> {
    let mut documents = notes.documents()?.0;
    documents.sort_by(|one, other| other.title.cmp(&one.title));
    let mut best: Option<(usize, Document)> = None;
    for document in documents.into_iter().take(200) {
        let blocks = notes.fetch(Fetch::new(document.id()))?.walk().count();
        let distance = blocks.abs_diff(18);
        if best.as_ref().is_none_or(|(nearest, _)| distance < *nearest) {
            best = Some((distance, document));
        }
    }
    Ok(best.ok_or("there are no documents to show")?.1)
}

fn show_blocks(out: &mut impl Write, notes: &Connection, document: &Document) -> Result<()> {
    let root = notes.fetch(Fetch::new(document.id()))?;
    let lines = root.walk().map(|(depth, block)| {
        let indentation = "  ".repeat(depth + usize::from(block.data.indentation));
        let words = block.data.markdown.lines().next().unwrap_or_default();
        format!("{indentation}{:<14}{}", kind(block), shortened(words, 60))
    });
    show_lines(out, &lines.collect::<Vec<_>>())
}

/// A block's type, with the style that makes a text a heading or a task.
fn kind(block: &Block) -> String {
    let (block_type, list_style) = (block.data.block_type(), block.data.list_style);
    match (&block.data.kind, block.data.task) {
        (_, Some(task)) => format!("{block_type} {}", task.state),
        (_, None) if list_style != ListStyle::None => format!("{block_type} {list_style}"),
        (BlockKind::Text(look), None) if look.style != TextStyle::Body => format!("{block_type} {}", look.style),
        _ => block_type.to_string(),
    }
}

fn edit(out: &mut impl Write, notes: &Connection, document: &Document) -> Result<()> {
    writeln!(out, "- three blocks of markdown go to the end of \"{}\"", document.title)?;
    let added = notes.insert_markdown(
        "## Added by the tour\n\nQuestions for later\n\n- [ ] read this note again",
        Position::end_of(document.id()),
    )?;
    let [heading, text, task] = added.0.as_slice() else { return Err("the markdown gave other blocks".into()) };

    writeln!(out, "- the text receives children, and so becomes a page, with the ID it had")?;
    notes.insert_markdown("What is missing?\n\nWho would know?", Position::end_of(text.id))?;
    let page = notes.fetch(Fetch::new(text.id))?;
    if !matches!(page.data.kind, BlockKind::Page(_)) {
        return Err("the text did not become a page".into());
    }

    writeln!(out, "- the task moves into the page, the heading gets other words\n")?;
    notes.move_blocks(MoveBlocks { block_ids: vec![task.id], position: Position::start_of(text.id) })?;
    notes.update_markdown(heading.id, "Added by *the tour*")?;
    Ok(())
}

/// Exports, imports the export into a new space, exports that one, and compares.
fn round_trip(out: &mut impl Write, notes: &Connection, temporary: &Path) -> Result<()> {
    let (first, second) = (temporary.join("first"), temporary.join("second"));
    let report = notes.export_folder(&first, &ExportOptions::new(), &mut progress_line("exported"))?;
    writeln!(out, "exported {} files, {} bytes", number(report.documents), number(report.bytes))?;
    let again = Space::create(temporary.join("again.leafbase"))?;
    again.connect().import_folder(&first, &ImportOptions::new(), &mut progress_line("imported"))?;
    again.connect().export_folder(&second, &ExportOptions::new(), &mut progress_line("exported"))?;
    again.close()?;
    let files = same_files(&first, &second)?;
    writeln!(out, "imported into a second space and exported again: {} files, the same to the byte", number(files))?;
    Ok(())
}

/// How many files both directories hold; an error names the first that is not the same in both.
fn same_files(one: &Path, other: &Path) -> Result<u64> {
    let (mut files, mut waiting) = (0, vec![PathBuf::new()]);
    while let Some(directory) = waiting.pop() {
        let (names, others) = (names(&one.join(&directory))?, names(&other.join(&directory))?);
        if names != others {
            return Err(format!("the second export differs in the directory {}", directory.display()).into());
        }
        for path in names.iter().map(|name| directory.join(name)) {
            if one.join(&path).is_dir() {
                waiting.push(path);
            } else if fs::read(one.join(&path))? == fs::read(other.join(&path))? {
                files += 1;
            } else {
                return Err(format!("the second export differs in {}", path.display()).into());
            }
        }
    }
    Ok(files)
}

fn names(directory: &Path) -> Result<Vec<std::ffi::OsString>> {
    let names: io::Result<Vec<_>> = fs::read_dir(directory)?.map(|entry| Ok(entry?.file_name())).collect();
    let mut names = names?;
    names.sort();
    Ok(names)
}

fn show_lines(out: &mut impl Write, lines: &[String]) -> Result<()> {
    for line in lines.iter().take(SHOWN) {
        writeln!(out, "{line}")?;
    }
    if lines.len() > SHOWN {
        writeln!(out, ".. and {} more", number(u64::try_from(lines.len() - SHOWN)?))?;
    }
    Ok(())
}

fn shortened(words: &str, characters: usize) -> String {
    let words = words.replace('\n', " ");
    match words.char_indices().nth(characters) {
        Some((end, _)) => format!("{}..", words.split_at(end).0),
        None => words,
    }
}

/// With commas between thousands.
fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}
