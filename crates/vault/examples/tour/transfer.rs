//! Notes in and out: a folder of markdown imported, exported, imported again.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use leafbase::{Connection, Progress, Space};
use leafbase_vault::{
    ExportOptions, ImportOptions, ImportReport, MemorySource, MirrorChangeKind, MirrorOptions,
    VaultWarning, VaultWarningKind, export_folder, import_folder, import_from, mirror,
};

use crate::Result;
use crate::show::{number, shortened};

const NOTES: [(&str, &str); 13] = [
    ("Start here.md", include_str!("notes/Start here.md")),
    ("Journal/2026-02-10.md", include_str!("notes/Journal/2026-02-10.md")),
    ("Kitchen/Bread.md", include_str!("notes/Kitchen/Bread.md")),
    ("Kitchen/Measures.md", include_str!("notes/Kitchen/Measures.md")),
    ("Kitchen/Sourdough starter.md", include_str!("notes/Kitchen/Sourdough starter.md")),
    ("Kitchen/豆腐汤.md", include_str!("notes/Kitchen/豆腐汤.md")),
    ("Lisbon/Day plan.md", include_str!("notes/Lisbon/Day plan.md")),
    ("Lisbon/Packing.md", include_str!("notes/Lisbon/Packing.md")),
    ("Lisbon/Tram 28.md", include_str!("notes/Lisbon/Tram 28.md")),
    ("Lisbon/Trip to Lisbon.md", include_str!("notes/Lisbon/Trip to Lisbon.md")),
    ("Workshop/Ideas.md", include_str!("notes/Workshop/Ideas.md")),
    ("Workshop/Lamp.md", include_str!("notes/Workshop/Lamp.md")),
    ("Workshop/Reading list.md", include_str!("notes/Workshop/Reading list.md")),
];

/// Imports the folder, or the sample notes.
pub(crate) fn import(notes: &Connection, folder: Option<&Path>) -> Result<ImportReport> {
    let mut progress = progress_line("imported");
    let report = match folder {
        Some(folder) => import_folder(notes, folder, &ImportOptions::new(), &mut progress),
        None => import_from(
            notes,
            &mut MemorySource::from_iter(NOTES),
            &ImportOptions::new(),
            &mut progress,
        ),
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
            drop(write!(
                io::stderr(),
                "\r{} of {} {what}{end}",
                number(progress.done),
                number(total)
            ));
        }
        ControlFlow::Continue(())
    }
}

/// Warnings by kind, with up to two examples of each.
pub(crate) fn summarize(out: &mut impl Write, report: &ImportReport) -> Result<()> {
    let mut kinds: BTreeMap<VaultWarningKind, Vec<&VaultWarning>> = BTreeMap::new();
    for warning in &report.warnings {
        kinds.entry(warning.kind).or_default().push(warning);
    }
    let count = u64::try_from(report.warnings.len())?;
    writeln!(out, "\n{} warnings; nothing is dropped without a word:", number(count))?;
    for (kind, all) in kinds {
        writeln!(out, "{:>7}  {}", number(u64::try_from(all.len())?), kind.summary())?;
        for VaultWarning { path, line, message, .. } in all.iter().take(2) {
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

/// Exports, imports the export into a new space, exports that one, and compares.
pub(crate) fn round_trip(out: &mut impl Write, notes: &Connection, temporary: &Path) -> Result<()> {
    let (first, second) = (temporary.join("first"), temporary.join("second"));
    let report =
        export_folder(notes, &first, &ExportOptions::new(), &mut progress_line("exported"))?;
    writeln!(out, "exported {} files, {} bytes", number(report.documents), number(report.bytes))?;
    let again = Space::create(temporary.join("again.leafbase"))?;
    import_folder(&again.connect(), &first, &ImportOptions::new(), &mut progress_line("imported"))?;
    export_folder(
        &again.connect(),
        &second,
        &ExportOptions::new(),
        &mut progress_line("exported"),
    )?;
    again.close()?;
    let files = same_files(&first, &second)?;
    writeln!(
        out,
        "imported into a second space and exported again: {} files, the same to the byte",
        number(files)
    )?;
    Ok(())
}

/// Mirrors the space to a folder, edits a file there, and mirrors again.
pub(crate) fn mirror_round(
    out: &mut impl Write,
    notes: &Connection,
    temporary: &Path,
) -> Result<()> {
    let folder = temporary.join("mirror");
    let sync = || mirror(notes, &folder, &MirrorOptions::new(), &mut progress_line("mirrored"));
    let written = sync()?.changes;
    let note = written.iter().find(|change| change.kind == MirrorChangeKind::FileWritten);
    let note = folder.join(&note.ok_or("the mirror wrote no file")?.path);
    let text = fs::read_to_string(&note)?;
    fs::write(&note, format!("{text}\nadded by another program\n"))?;
    let edited = sync()?;
    if edited.changes.len() != 1 || !sync()?.is_unchanged() {
        return Err(format!("one edit gave {:?}", edited.changes).into());
    }
    let files = number(u64::try_from(written.len())?);
    writeln!(out, "mirrored {files} files; an edit of one came back, and a third mirror is quiet")?;
    Ok(())
}

/// How many files both directories hold; an error names the first that is not the same in both.
fn same_files(one: &Path, other: &Path) -> Result<u64> {
    let (mut files, mut waiting) = (0, vec![PathBuf::new()]);
    while let Some(directory) = waiting.pop() {
        let (names, others) = (names(&one.join(&directory))?, names(&other.join(&directory))?);
        if names != others {
            return Err(format!(
                "the second export differs in the directory {}",
                directory.display()
            )
            .into());
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
    let names: io::Result<Vec<_>> =
        fs::read_dir(directory)?.map(|entry| Ok(entry?.file_name())).collect();
    let mut names = names?;
    names.sort();
    Ok(names)
}
