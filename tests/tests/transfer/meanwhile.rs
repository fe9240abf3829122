//! What others do to the space while an import runs.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::{Cursor, Read};

use leafbase::{
    AssetUrl, BlockKind, Connection, Day, DeleteFolders, Document, Error, FolderId, Location,
    Position, Progress, PurgeDocuments, Result, Space,
};
use leafbase_vault::{
    ImportOptions, ImportReport, ImportSource, MemorySource, SourceEntry, VaultWarningKind,
    import_from,
};

use super::{blocks, exported, file, on};

/// So many blocks that all is written that came before them.
fn long() -> String {
    "p\n\n".repeat(2_100)
}

/// When others act.
#[derive(Clone, Copy, PartialEq)]
enum When {
    /// After the first file was read.
    FirstFile,
    /// After the first write.
    FirstWrite,
}

/// Imports from `source`, and lets `act` at the space meanwhile.
fn import_while(
    notes: &Connection,
    options: &ImportOptions,
    source: &mut dyn ImportSource,
    when: When,
    act: &dyn Fn(&Connection),
) -> ImportReport {
    let (mut is_done, before) = (false, notes.last_sequence().expect("a number"));
    let report = import_from(notes, source, options, &mut |progress: Progress| {
        let is_written = notes.last_sequence().expect("a number") > before;
        if !is_done && (is_written || when == When::FirstFile) {
            assert_eq!(is_written, when == When::FirstWrite);
            is_done = true;
            act(notes);
        }
        on(progress)
    });
    assert!(is_done, "there was a time to act");
    assert!(notes.space().check().expect("checked").is_clean());
    report.expect("imported")
}

fn folder_names(notes: &Connection) -> HashMap<FolderId, String> {
    let folders = notes.folders().expect("folders");
    let all = folders.iter().flat_map(|folder| folder.walk().map(|(_, folder)| folder));
    all.filter_map(|folder| Some((folder.folder_id()?, folder.name.clone()))).collect()
}

/// Each document with the folder or the location that it is kept in.
fn places(notes: &Connection) -> Vec<String> {
    let names = folder_names(notes);
    let place = |document: &Document| match document.record.location {
        Location::Folder(folder) => names[&folder].clone(),
        other => format!("{other:?}"),
    };
    let documents = notes.documents().expect("documents");
    let mut places: Vec<_> =
        documents.iter().map(|found| format!("{} in {}", found.title, place(found))).collect();
    places.sort();
    places
}

fn told(report: &ImportReport) -> Vec<(VaultWarningKind, &str)> {
    report.warnings.iter().map(|told| (told.kind, told.path.as_str())).collect()
}

fn delete_folder(notes: &Connection, name: &str) {
    let names = folder_names(notes);
    let (folder, _) =
        names.iter().find(|(_, found)| *found == name).expect("a folder of this name");
    notes.delete_folders(DeleteFolders::new([*folder])).expect("deleted");
}

#[test]
fn what_is_for_a_deleted_folder_goes_into_the_nearest_above() {
    use When::{FirstFile, FirstWrite};
    let long = long();
    let files = [
        ("0.md", long.as_str()),
        ("f/a.md", "a\n"),
        ("f/g/b.md", "b\n"),
        ("f/g/2026-03-01.md", "day\n"),
    ];
    for (when, deleted, expected, moved) in [
        (FirstWrite, &["f"][..], ["0 in Into", "a in Into", "b in g"], &["f/a.md"][..]),
        (FirstWrite, &["g"], ["0 in Into", "a in f", "b in f"], &["f/g/b.md"]),
        (FirstWrite, &["f", "g"], ["0 in Into", "a in Into", "b in Into"], &["f/a.md", "f/g/b.md"]),
        (FirstWrite, &["Into"], ["0 in Top", "a in f", "b in g"], &[]),
        (
            FirstWrite,
            &["Into", "f", "g", "Top"],
            ["0 in Unsorted", "a in Unsorted", "b in Unsorted"],
            &["f/a.md", "f/g/b.md"],
        ),
    ] {
        let notes = Space::in_memory().expect("a space").connect();
        let top = notes.create_folder("Top", None).expect("made").id;
        let options = ImportOptions::new()
            .into_folder(notes.create_folder("Into", Some(top)).expect("made").id);
        let act = |notes: &Connection| deleted.iter().for_each(|name| delete_folder(notes, name));
        let report =
            import_while(&notes, &options, &mut MemorySource::from_iter(files), when, &act);
        let mut expected = expected.map(ToOwned::to_owned).to_vec();
        expected.insert(1, "Sunday, 1 March 2026 in DailyNotes".to_owned());
        assert_eq!(places(&notes), expected, "without {deleted:?}");
        assert_eq!(
            told(&report),
            moved.iter().map(|path| (VaultWarningKind::Location, *path)).collect::<Vec<_>>()
        );
    }
    // Before anything is written the folder to import into goes, and with it the place of those to
    // be made.
    let notes = Space::in_memory().expect("a space").connect();
    let top = notes.create_folder("Top", None).expect("made").id;
    let options =
        ImportOptions::new().into_folder(notes.create_folder("Into", Some(top)).expect("made").id);
    let files = [("a.md", "a\n"), ("f/b.md", "b\n")];
    let act = |notes: &Connection| delete_folder(notes, "Into");
    let report =
        import_while(&notes, &options, &mut MemorySource::from_iter(files), FirstFile, &act);
    assert_eq!(places(&notes), ["a in Top", "b in f"]);
    assert_eq!(
        told(&report),
        [(VaultWarningKind::Location, "a.md"), (VaultWarningKind::Location, "f")]
    );
    assert_eq!(
        exported(&notes).keys().collect::<Vec<_>>(),
        ["Top/", "Top/a.md", "Top/f/", "Top/f/b.md"]
    );
}

#[test]
fn a_day_that_gets_a_note_meanwhile_keeps_that_one() {
    let day = "2026-03-01".parse::<Day>().expect("a day");
    for path in ["2026-03-01.md", "journal/2026-03-01.md", "f/journal/2026-03-01.md"] {
        let notes = Space::in_memory().expect("a space").connect();
        let options =
            ImportOptions::new().into_folder(notes.create_folder("Into", None).expect("made").id);
        let long = long();
        let mut source = MemorySource::from_iter([
            ("0.md", long.as_str()),
            (path, "imported\n"),
            ("f/z.md", "z\n"),
        ]);
        let report = import_while(&notes, &options, &mut source, When::FirstWrite, &|notes| {
            notes.insert_markdown("own", Position::end_of_day(day)).expect("inserted");
        });
        let folder = if path.starts_with('f') { "f" } else { "Into" };
        let expected = [
            "0 in Into",
            &format!("2026-03-01 in {folder}"),
            "Sunday, 1 March 2026 in DailyNotes",
            "z in f",
        ];
        assert_eq!(places(&notes), expected);
        assert_eq!(told(&report), [(VaultWarningKind::DailyNote, path)]);
        assert!(notes.fetch_markdown(leafbase::Fetch::day(day)).expect("the note").contains("own"));
    }
}

/// Files in memory, of which a picture can be read only so many times.
struct Fading {
    files: MemorySource,
    left: Cell<usize>,
    opened: RefCell<Vec<String>>,
}

impl ImportSource for Fading {
    fn entries(&mut self) -> Result<Vec<SourceEntry>> {
        self.files.entries()
    }

    fn read(&mut self, path: &str, at_most: usize) -> Result<Vec<u8>> {
        self.files.read(path, at_most)
    }

    fn open(&mut self, path: &str, at_most: u64) -> Result<Box<dyn Read + '_>> {
        self.opened.borrow_mut().push(path.to_owned());
        self.left.set(self.left.get().checked_sub(1).ok_or_else(Error::no_file)?);
        Ok(Box::new(Cursor::new(
            self.files.read(path, usize::try_from(at_most).unwrap_or(usize::MAX))?,
        )))
    }
}

#[test]
fn a_file_deleted_meanwhile_is_taken_in_again() {
    let first = format!("![](pic.png) ![](other.png)\n\n{}", long());
    let second = "![p](../pic.png)\n\nsee [x](../pic.png#top)\n";
    // Its link to a block of another file holds it back until the end.
    let held = "see [b](f/b.md#^1) and [p](pic.png)\n";
    let attachment = VaultWarningKind::Attachment;
    for (readable, kinds) in
        [(3, vec![]), (2, vec![(attachment, "Held.md"), (attachment, "f/b.md")])]
    {
        let notes = Space::in_memory().expect("a space").connect();
        let picture = super::png("p");
        let files = [
            ("Held.md", held.as_bytes()),
            ("a.md", first.as_bytes()),
            ("f/b.md", second.as_bytes()),
            ("other.png", b"o"),
            ("pic.png", &picture),
        ];
        let (left, opened) = (Cell::new(readable), RefCell::default());
        let mut source = Fading { files: MemorySource::from_iter(files), left, opened };
        let report =
            import_while(&notes, &ImportOptions::new(), &mut source, When::FirstWrite, &|notes| {
                let document = notes.documents().expect("documents")[0].id();
                notes.delete_documents(document).expect("deleted");
                notes.purge_documents(PurgeDocuments::new([document])).expect("purged");
            });
        assert_eq!(source.opened.borrow().as_slice(), ["pic.png", "other.png", "pic.png"]);
        assert_eq!(told(&report), kinds);
        let files = exported(&notes);
        let texts = ["f/b.md", "Held.md"].map(|path| file(&files, path));
        assert_eq!(texts, [second, held]);
        assert!(notes.space().check().expect("checked").problems.is_empty());
        let BlockKind::Image { url, .. } = &blocks(&notes, "b")[0].data.kind else {
            panic!("a picture")
        };
        let asset = url.parse::<AssetUrl>().ok();
        assert_eq!(asset.map(|url| notes.file(url.id()).is_ok()), (readable == 3).then_some(true));
    }
}
