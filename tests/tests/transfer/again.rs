//! Folders that are imported again: their documents are updated.

use leafbase::{
    AddComments, BlockId, CommentDraft, DeleteDocuments, DocumentId, ListComments, Location,
    MoveDocuments, PurgeDocuments,
};
use leafbase_vault::{MirrorChangeKind, MirrorOptions, mirror};
use tempfile::TempDir;

use super::*;

const TRIP: &str = "see [[Packing]]\n\none\n\ntwo\n";

/// A directory with these files, which was imported into a space.
fn vault(files: &[(&str, &str)]) -> (TempDir, Connection) {
    let directory = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        write(&directory, path, text);
    }
    let notes = Space::in_memory().expect("a space").connect();
    let report = again(&notes, &directory);
    assert_eq!((report.changes, report.unchanged), (Vec::new(), 0));
    (directory, notes)
}

fn write(directory: &TempDir, path: &str, text: &str) {
    let path = directory.path().join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, text).expect("written");
}

fn again(notes: &Connection, directory: &TempDir) -> ImportReport {
    import_folder(notes, directory.path(), &ImportOptions::new(), &mut on).expect("imported")
}

fn changes(report: &ImportReport) -> Vec<(MirrorChangeKind, &str)> {
    report.changes.iter().map(|change| (change.kind, change.path.as_str())).collect()
}

fn document(notes: &Connection, title: &str) -> DocumentId {
    let all = notes.documents().expect("documents").0;
    let mut found = all.iter().filter(|document| document.title == title);
    let id = found.next().unwrap_or_else(|| panic!("no {title}")).id();
    assert!(found.next().is_none(), "one document is called {title}");
    id
}

fn ids(notes: &Connection, title: &str) -> Vec<BlockId> {
    blocks(notes, title).iter().map(|block| block.id).collect()
}

/// Numbers of documents, and of folders at the top with the built-in ones.
fn counts(notes: &Connection) -> (usize, usize) {
    let folders = notes.folders().expect("folders").len();
    (notes.documents().expect("documents").len(), folders)
}

#[test]
fn an_edited_file_updates_its_document() {
    let (directory, notes) = vault(&[("Trip.md", TRIP), ("lists/Packing.md", "- towel\n")]);
    fs::create_dir(directory.path().join("empty")).expect("a directory");
    assert_eq!(again(&notes, &directory).folders, 1);
    let (before, count) = (ids(&notes, "Trip"), counts(&notes));
    notes
        .add_comments(AddComments::new([CommentDraft::new(before[2], "which?")]))
        .expect("commented");

    let report = again(&notes, &directory);
    assert_eq!((report.documents, report.folders, report.unchanged), (0, 0, 2));
    assert_eq!((changes(&report), counts(&notes)), (Vec::new(), count));

    write(&directory, "Trip.md", "see [[Packing]]\n\nthree\n\ntwo, edited\n");
    write(&directory, "lists/New.md", "see [[Trip]]\n");
    let report = again(&notes, &directory);
    assert_eq!(changes(&report), [(MirrorChangeKind::DocumentUpdated, "Trip.md")]);
    assert_eq!((report.documents, report.folders, report.unchanged), (1, 0, 1));
    assert_eq!(counts(&notes), (count.0 + 1, count.1));
    let after = ids(&notes, "Trip");
    assert_eq!((after[0], after[2]), (before[0], before[2]));
    assert_eq!(
        notes.list_comments(ListComments::of(document(&notes, "Trip"))).expect("comments").len(),
        1
    );
    let new = notes.document(document(&notes, "New")).expect("a document");
    let packing = notes.document(document(&notes, "Packing")).expect("a document");
    assert_eq!(new.record.location, packing.record.location, "it is in the folder that is there");
    assert_eq!(notes.back_links(document(&notes, "Trip")).expect("links").len(), 1);
    assert!(notes.space().check().expect("checked").is_clean());
}

/// The layout of a document has what an import drops.
#[test]
fn a_file_with_an_empty_item_is_updated() {
    let (directory, notes) = vault(&[("A.md", "- \n- one\n- two\n")]);
    let before = ids(&notes, "A");
    write(&directory, "A.md", "- \n- one\n- two, edited\n");
    let report = again(&notes, &directory);
    assert_eq!(changes(&report), [(MirrorChangeKind::DocumentUpdated, "A.md")]);
    assert_eq!(ids(&notes, "A"), before);
}

#[test]
fn a_renamed_file_renames_its_document() {
    let (directory, notes) = vault(&[("Trip.md", TRIP), ("Packing.md", "- towel\n")]);
    let id = document(&notes, "Packing");
    fs::rename(directory.path().join("Packing.md"), directory.path().join("Things.md"))
        .expect("renamed");
    let report = again(&notes, &directory);
    assert_eq!(changes(&report), [(MirrorChangeKind::DocumentRenamed, "Things.md")]);
    assert_eq!((document(&notes, "Things"), counts(&notes)), (id, (2, 4)));
    fs::remove_file(directory.path().join("Things.md")).expect("removed");
    assert_eq!(changes(&again(&notes, &directory)), []);
    assert_eq!(document(&notes, "Things"), id, "documents stay");
}

#[test]
fn edits_of_both_sides_are_merged_or_told() {
    let (directory, notes) = vault(&[("Trip.md", TRIP), ("Packing.md", "- towel\n")]);
    let id = document(&notes, "Trip");
    let edit = |at: usize, to: &str| {
        notes.update_markdown(ids(&notes, "Trip")[at], to).expect("updated");
    };
    let text = || notes.content_markdown(id).expect("text");
    let link = format!("see [Packing](block://{})", document(&notes, "Packing"));
    edit(1, "ours");
    let report = again(&notes, &directory);
    assert_eq!((changes(&report), report.unchanged), (Vec::new(), 2));
    write(&directory, "Trip.md", "see [[Packing]]\n\none\n\ntheirs\n");
    let report = again(&notes, &directory);
    assert_eq!(changes(&report), [(MirrorChangeKind::Merged, "Trip.md")]);
    assert_eq!(text(), format!("{link}\n\nours\n\ntheirs"));
    // The edit of the space is kept by the edits of the file that follow.
    assert_eq!(again(&notes, &directory).unchanged, 2);
    write(&directory, "Trip.md", "see [[Packing]]\n\none\n\ntheirs\n\nmore\n");
    again(&notes, &directory);
    assert_eq!(text(), format!("{link}\n\nours\n\ntheirs\n\nmore"));
    write(&directory, "Trip.md", "see [[Packing]]\n\n1\n\ntheirs\n\nmore\n");
    let report = again(&notes, &directory);
    assert_eq!(kinds(&report), [(VaultWarningKind::EditedTwice, None)]);
    assert_eq!(text(), format!("{link}\n\n1\n\ntheirs\n\nmore"));
}

#[test]
fn a_deleted_document_stays_deleted_unless_its_file_is_edited() {
    let (directory, notes) = vault(&[("Trip.md", TRIP), ("Packing.md", "- towel\n")]);
    let id = document(&notes, "Packing");
    notes.delete_documents(DeleteDocuments::new([id])).expect("deleted");
    let report = again(&notes, &directory);
    assert_eq!((report.documents, report.unchanged, report.skipped.len()), (0, 1, 1));
    write(&directory, "Packing.md", "- hat\n");
    let report = again(&notes, &directory);
    assert_eq!(changes(&report)[0], (MirrorChangeKind::Restored, "Packing.md"));
    let restored = notes.document(id).expect("a document");
    assert_eq!((restored.record.location, counts(&notes).0), (Location::Unsorted, 2));
    // A purge leaves nothing by which the file would be known.
    notes.delete_documents(DeleteDocuments::new([id])).expect("deleted");
    notes.purge_documents(PurgeDocuments::new([id])).expect("purged");
    assert_eq!(again(&notes, &directory).documents, 1);
    assert_ne!(document(&notes, "Packing"), id);
}

/// An undo erases the bases of an import with its documents. If another one brings them back, they
/// are found by the version of the file that they were read from.
#[test]
fn documents_that_an_undo_brought_back_are_known() {
    let note = "---\na: 1\n---\n\nrain\n";
    let files = [("Trip.md", TRIP), ("lists/Packing.md", "- towel\n"), ("2026-02-10.md", note)];
    let (directory, notes) = vault(&files);
    let before = counts(&notes);
    let imported = notes.last_sequence().unwrap();
    let undone = notes.undo(imported).unwrap().sequence;
    assert_eq!(counts(&notes).0, 0);
    notes.undo(undone).unwrap();
    let link = blocks(&notes, "Trip")[0].data.inline.clone();
    notes.update_markdown(ids(&notes, "Trip")[1], "1").unwrap();
    let report = again(&notes, &directory);
    assert_eq!((report.documents, report.changes.len(), report.unchanged), (0, 0, 3));
    assert_eq!(counts(&notes), before);
    assert_eq!(again(&notes, &directory).unchanged, 3);
    // Both sides are merged by the version that came back.
    write(&directory, "Trip.md", "see [[Packing]]\n\none\n\n2\n");
    again(&notes, &directory);
    let trip = notes.content_markdown(document(&notes, "Trip")).unwrap();
    assert_eq!(trip, format!("{link}\n\n1\n\n2"));
    // Another version of a file, of its front matter alone too, is a new document.
    let (directory, notes) = vault(&[("A.md", note), ("B.md", "b\n")]);
    let undone = notes.undo(notes.last_sequence().unwrap()).unwrap().sequence;
    notes.undo(undone).unwrap();
    write(&directory, "A.md", &note.replace('1', "2"));
    write(&directory, "B.md", "c\n");
    assert_eq!(again(&notes, &directory).documents, 2);
    // Without the second undo all are new.
    let (directory, notes) = vault(&[("A.md", note), ("B.md", "b\n")]);
    notes.undo(notes.last_sequence().unwrap()).unwrap();
    assert_eq!((again(&notes, &directory).documents, counts(&notes).0), (2, 2));
}

#[test]
fn a_folder_that_was_moved_is_recognised_and_another_one_is_not() {
    let files = [("Trip.md", TRIP), ("Packing.md", "- towel\n"), ("README.md", "mine\n")];
    let (directory, notes) = vault(&files);
    let id = document(&notes, "Trip");
    let (moved, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (path, text) in files {
        write(&moved, path, text);
    }
    write(&moved, "Trip.md", "one\n");
    let report = again(&notes, &moved);
    assert_eq!(changes(&report), [(MirrorChangeKind::DocumentUpdated, "Trip.md")]);
    assert_eq!((document(&notes, "Trip"), report.documents, report.unchanged), (id, 0, 2));
    assert_eq!(again(&notes, &moved).unchanged, 3);
    // Of the other folder two of three files differ.
    for (path, text) in [("Trip.md", "a\n"), ("Packing.md", "b\n"), ("README.md", "mine\n")] {
        write(&other, path, text);
    }
    let report = again(&notes, &other);
    assert_eq!((report.documents, counts(&notes).0), (3, 6));
    assert_eq!(again(&notes, &other).unchanged, 3);
    write(&directory, "Packing.md", "- hat\n");
    assert_eq!(again(&notes, &directory).documents, 3, "now it has one file of three in common");
}

#[test]
fn an_import_into_a_folder_finds_documents_wherever_they_are() {
    let directory = tempfile::tempdir().expect("a directory");
    write(&directory, "2026-02-10.md", "rain\n");
    write(&directory, "sub/Trip.md", "one\n");
    let notes = Space::in_memory().expect("a space").connect();
    let into = notes.create_folder("Vault", None).expect("made").id;
    let elsewhere = notes.create_folder("Elsewhere", None).expect("made").id;
    let options = ImportOptions::new().into_folder(into);
    let import = || import_folder(&notes, directory.path(), &options, &mut on).expect("imported");
    assert_eq!(import().documents, 2);
    assert_eq!((import().documents, import().unchanged), (0, 2));
    let trip = document(&notes, "Trip");
    notes.move_documents(MoveDocuments::new([trip], elsewhere)).expect("moved");
    write(&directory, "2026-02-10.md", "snow\n");
    write(&directory, "sub/Trip.md", "two\n");
    let report = import();
    assert_eq!((report.documents, report.changes.len(), report.folders), (0, 2, 0));
    assert_eq!(notes.content_markdown(trip).expect("text"), "two");
    let location = notes.document(trip).expect("a document").record.location;
    assert_eq!((location, counts(&notes)), (Location::Folder(elsewhere), (2, 6)));
    // Into the space as a whole is another import.
    let report = again(&notes, &directory);
    assert_eq!((report.documents, kinds(&report).len()), (2, 1), "the day has its note");
}

#[test]
fn what_a_cancelled_import_left_is_known_to_the_next_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let long = "word\n\n".repeat(700);
    for number in 0..8 {
        write(&directory, &format!("{number}.md"), &long);
    }
    let notes = Space::in_memory().expect("a space").connect();
    let mut stop = |progress: Progress| match progress.done {
        5.. => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let report = import_folder(&notes, directory.path(), &ImportOptions::new(), &mut stop)
        .expect("imported");
    assert!(report.canceled && (1..8).contains(&report.documents), "{report:?}");
    let rest = again(&notes, &directory);
    assert_eq!((rest.documents, rest.unchanged), (8 - report.documents, report.documents));
    assert_eq!(counts(&notes).0, 8);
}

#[test]
fn a_mirrored_folder_is_imported_into_its_documents() {
    let directory = tempfile::tempdir().expect("a directory");
    write(&directory, "Trip.md", TRIP);
    write(&directory, "Packing.md", "- towel\n");
    let notes = Space::in_memory().expect("a space").connect();
    mirror(&notes, directory.path(), &MirrorOptions::new(), &mut on).expect("mirrored");
    write(&directory, "Trip.md", "one\n");
    assert_eq!(
        changes(&again(&notes, &directory)),
        [(MirrorChangeKind::DocumentUpdated, "Trip.md")]
    );
    assert_eq!(counts(&notes).0, 2);
}
