//! Mirrors: a folder of files and a part of the space are kept equal, both ways.

mod document_edits;
mod exports;
mod file_base;
pub(crate) mod files;
pub(crate) mod folder_import;
mod imports;
mod known_uploads;
mod listed_files;
pub(crate) mod options;
mod pairs;
mod plan;
mod renames;
mod run;
mod space_side;
mod text_merge;

use std::ops::ControlFlow;
use std::path::Path;

use leafbase::{Connection, Progress, Result};

use files::{MirrorDirectory, MirrorFiles};
use options::{MirrorOptions, MirrorReport};
use run::MirrorRun;

/// Makes the directory `path` and the space equal: what changed since the last time on either side
/// is carried over to the other. The space keeps what both had in common, so that there is no file
/// for it in the directory.
///
/// - An edited file changes its document as [`Connection::apply_markdown`] does: blocks that it
///   leaves as they are keep their IDs and comments. An edited document is written to its file,
///   which otherwise keeps its bytes.
/// - If both were edited, edits of different blocks are merged. Otherwise the version of the file
///   becomes a second file and document, `Trip (conflict).md`.
/// - A renamed or moved file renames or moves its document, which keeps its ID, and the other way
///   round. A file is recognised by its content; the links of other files to it are written again,
///   of those that were edited meanwhile, too, and so are its own if they depend on its path.
/// - A renamed directory renames its folder. A folder that is empty since documents moved out of it
///   is deleted if its directory is gone.
/// - Links to a heading or block whose anchor changed on either side are written again as well.
/// - Documents and files that one side removed, and the other did not change, are removed there;
///   documents go to the trash. If the other side changed them, they are kept. A file that comes
///   back restores its document.
/// - Files without a document become documents as an import makes them, with attachments; documents
///   without a file get one as an export writes it. Where nothing is known yet, files and documents
///   of the same folder and title are taken as the same. Where a directory, a symbolic link or
///   another file has the name, the new one gets a number. The report warns of that, and of names
///   that some systems refuse.
///
/// With [`MirrorOptions::import_only`] files change documents and nothing else happens. The bases
/// of an import of the folder are its own: see [`import_folder`](crate::import_folder).
///
/// Hidden files and directories are ignored, so that it works next to git and to other programs
/// that keep notes. Folders without documents, templates, the trash and the inbox have no files.
/// Attachments that no file shows any more stay. A purge erases the base of a file as well: a
/// file that no mirror has removed before becomes a document again.
///
/// `progress` receives the number of steps done, and may cancel between two of them. Each file and
/// each document is written atomically: after an error or a crash the next mirror continues.
/// Others may write to the space and to the directory concurrently: their changes are left to the
/// next mirror, and reported.
///
/// ```
/// use std::ops::ControlFlow;
/// use leafbase::Space;
/// use leafbase_vault::{MirrorOptions, mirror};
/// # fn main() -> leafbase::Result<()> {
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path();
/// let notes = Space::in_memory()?.connect();
/// let go_on = &mut |_| ControlFlow::Continue(());
/// let trip = notes.create_document("Trip")?.id();
/// let lines = notes.insert_markdown("- [ ] passport\n- [ ] towel", trip)?;
/// mirror(&notes, path, &MirrorOptions::new(), go_on)?;
///
/// std::fs::write(path.join("Trip.md"), "- [x] passport\n- [ ] towel\n").unwrap();
/// notes.update_markdown(lines[1].id, "two towels")?;
/// mirror(&notes, path, &MirrorOptions::new(), go_on)?;
/// assert_eq!(notes.content_markdown(trip)?, "- [x] passport\n- [ ] two towels");
/// let text = std::fs::read_to_string(path.join("Trip.md")).unwrap();
/// assert_eq!(text, "- [x] passport\n- [ ] two towels\n");
/// assert!(mirror(&notes, path, &MirrorOptions::new(), go_on)?.is_unchanged());
/// # Ok(())
/// # }
/// ```
///
/// # Cost
/// If nothing changed, a stat per file and a record per document. Otherwise also the rows of all
/// documents, and the files and documents that changed. After the space's history was replaced, by
/// a backup for example, or compacted further than the last mirror, all are compared.
///
/// # Errors
/// [`leafbase::ErrorKind::NotFound`] at `folder` if the space has no such folder;
/// [`leafbase::ErrorKind::Conflict`] if all files are gone (see [`MirrorOptions::allow_empty`]);
/// errors of the operating system and the store. Changes carried over before stay.
pub fn mirror(
    notes: &Connection,
    path: impl AsRef<Path>,
    options: &MirrorOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<MirrorReport> {
    mirror_files(notes, &mut MirrorDirectory::new(path.as_ref())?, options, progress)
}

/// As [`mirror()`], with the files of a store of the host.
///
/// # Errors
/// As [`mirror()`]; errors of the store.
pub fn mirror_files(
    notes: &Connection,
    files: &mut dyn MirrorFiles,
    options: &MirrorOptions,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<MirrorReport> {
    Ok(MirrorRun::new(notes, files, options, progress)?.run()?.0)
}
