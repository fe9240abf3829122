//! What a mirror does to each combination of edits on both sides.

use super::*;

/// An edit of one side.
#[derive(Clone, Copy, Debug)]
enum Act {
    Write(&'static str, &'static str),
    Rename(&'static str, &'static str),
    Remove(&'static str),
    Edit(&'static str, &'static str, &'static str),
    Add(&'static str, &'static str),
    Create(&'static str, &'static str),
    Retitle(&'static str, &'static str),
    /// Into a folder, which is made.
    Move(&'static str, &'static str),
    Trash(&'static str),
}

fn act(notes: &Connection, files: &mut Files, act: Act) {
    match act {
        Act::Write(path, text) => files.put(path, text),
        Act::Rename(from, to) => {
            let file = files.files.remove(from).expect("is there");
            files.files.insert(to.to_owned(), file);
        }
        Act::Remove(path) => drop(files.files.remove(path).expect("is there")),
        Act::Edit(title, from, to) => edit(notes, title, from, to),
        Act::Add(title, text) => {
            notes.insert_markdown(text, Position::end_of(titled(notes, title))).expect("added");
        }
        Act::Create(title, text) => {
            let id = notes.create_document(title).expect("created").id();
            notes.insert_markdown(text, id).expect("added");
        }
        Act::Retitle(title, to) => retitle(notes, title, to),
        Act::Move(title, folder) => {
            let folder = notes.create_folder(folder, None).expect("created").id;
            notes
                .move_documents(MoveDocuments::new([titled(notes, title)], folder))
                .expect("moved");
        }
        Act::Trash(title) => {
            let request = DeleteDocuments::new([titled(notes, title)]);
            notes.delete_documents(request).expect("deleted");
        }
    }
}

struct Row {
    acts: &'static [Act],
    changes: &'static [(Kind, &'static str)],
    /// Paths and texts of the files.
    files: &'static [(&'static str, &'static str)],
    /// Titles and texts of the documents.
    documents: &'static [(&'static str, &'static str)],
}

const A: &str = "one\n\ntwo\n\nthree\n";

#[test]
fn each_side_follows_the_other() {
    use Act::{Add, Create, Edit, Move, Remove, Rename, Retitle, Trash, Write};
    let rows = [
        Row { acts: &[], changes: &[], files: &[("A.md", A)], documents: &[("A", A)] },
        Row {
            acts: &[Write("A.md", "one\n\n2\n\nthree\n")],
            changes: &[(Kind::DocumentUpdated, "A.md")],
            files: &[("A.md", "one\n\n2\n\nthree\n")],
            documents: &[("A", "one\n\n2\n\nthree\n")],
        },
        Row {
            acts: &[Edit("A", "two", "2")],
            changes: &[(Kind::FileWritten, "A.md")],
            files: &[("A.md", "one\n\n2\n\nthree\n")],
            documents: &[("A", "one\n\n2\n\nthree\n")],
        },
        // Different blocks on both sides.
        Row {
            acts: &[Edit("A", "two", "2"), Write("A.md", "1\n\ntwo\n\nthree\n\nfour\n")],
            changes: &[(Kind::FileWritten, "A.md"), (Kind::Merged, "A.md")],
            files: &[("A.md", "1\n\n2\n\nthree\n\nfour\n")],
            documents: &[("A", "1\n\n2\n\nthree\n\nfour\n")],
        },
        // The same block on both sides.
        Row {
            acts: &[Edit("A", "two", "2"), Write("A.md", "one\n\nzwei\n\nthree\n")],
            changes: &[(Kind::FileWritten, "A.md"), (Kind::Conflict, "A.md")],
            files: &[
                ("A (conflict).md", "one\n\nzwei\n\nthree\n"),
                ("A.md", "one\n\n2\n\nthree\n"),
            ],
            documents: &[("A", "one\n\n2\n\nthree\n"), ("A (conflict)", "one\n\nzwei\n\nthree\n")],
        },
        // The same form on both sides, and that of the file alone.
        Row {
            acts: &[Edit("A", "two", "2"), Write("A.md", "one\n\n2\n\nthree")],
            changes: &[],
            files: &[("A.md", "one\n\n2\n\nthree")],
            documents: &[("A", "one\n\n2\n\nthree\n")],
        },
        // The same edit on both sides.
        Row {
            acts: &[Edit("A", "two", "2"), Write("A.md", "one\n\n2\n\nthree\n")],
            changes: &[],
            files: &[("A.md", "one\n\n2\n\nthree\n")],
            documents: &[("A", "one\n\n2\n\nthree\n")],
        },
        Row {
            acts: &[Write("sub/B.md", "b\n")],
            changes: &[(Kind::DocumentCreated, "sub/B.md")],
            files: &[("A.md", A), ("sub/B.md", "b\n")],
            documents: &[("A", A), ("B", "b\n")],
        },
        Row {
            acts: &[Create("B", "b")],
            changes: &[(Kind::FileWritten, "B.md")],
            files: &[("A.md", A), ("B.md", "b\n")],
            documents: &[("A", A), ("B", "b\n")],
        },
        // The same name on both sides.
        Row {
            acts: &[Create("B", "b"), Write("B.md", "other\n")],
            changes: &[(Kind::FileWritten, "B.md"), (Kind::Conflict, "B.md")],
            files: &[("A.md", A), ("B (conflict).md", "other\n"), ("B.md", "b\n")],
            documents: &[("A", A), ("B", "b\n"), ("B (conflict)", "other\n")],
        },
        Row {
            acts: &[Remove("A.md"), Write("B.md", "b\n")],
            changes: &[(Kind::DocumentCreated, "B.md"), (Kind::DocumentTrashed, "A.md")],
            files: &[("B.md", "b\n")],
            documents: &[("B", "b\n")],
        },
        Row {
            acts: &[Trash("A")],
            changes: &[(Kind::FileRemoved, "A.md")],
            files: &[],
            documents: &[],
        },
        // Removed on one side, edited on the other.
        Row {
            acts: &[Remove("A.md"), Edit("A", "two", "2"), Write("B.md", "b\n")],
            changes: &[(Kind::DocumentCreated, "B.md"), (Kind::FileWritten, "A.md")],
            files: &[("A.md", "one\n\n2\n\nthree\n"), ("B.md", "b\n")],
            documents: &[("A", "one\n\n2\n\nthree\n"), ("B", "b\n")],
        },
        Row {
            acts: &[Trash("A"), Write("A.md", "one\n\n2\n\nthree\n")],
            changes: &[(Kind::DocumentUpdated, "A.md"), (Kind::Restored, "A.md")],
            files: &[("A.md", "one\n\n2\n\nthree\n")],
            documents: &[("A", "one\n\n2\n\nthree\n")],
        },
        Row {
            acts: &[Trash("A"), Remove("A.md"), Write("B.md", "b\n")],
            changes: &[(Kind::DocumentCreated, "B.md")],
            files: &[("B.md", "b\n")],
            documents: &[("B", "b\n")],
        },
        Row {
            acts: &[Rename("A.md", "sub/B.md")],
            changes: &[(Kind::DocumentRenamed, "sub/B.md")],
            files: &[("sub/B.md", A)],
            documents: &[("B", A)],
        },
        // Moved and edited: the name tells.
        Row {
            acts: &[Rename("A.md", "sub/A.md"), Write("sub/A.md", "one\n\n2\n\nthree\n")],
            changes: &[(Kind::DocumentRenamed, "sub/A.md"), (Kind::DocumentUpdated, "sub/A.md")],
            files: &[("sub/A.md", "one\n\n2\n\nthree\n")],
            documents: &[("A", "one\n\n2\n\nthree\n")],
        },
        Row {
            acts: &[Retitle("A", "B")],
            changes: &[(Kind::FileRenamed, "B.md")],
            files: &[("B.md", A)],
            documents: &[("B", A)],
        },
        Row {
            acts: &[Move("A", "sub"), Add("A", "four")],
            changes: &[(Kind::FileWritten, "sub/A.md"), (Kind::FileRenamed, "sub/A.md")],
            files: &[("sub/A.md", "one\n\ntwo\n\nthree\n\nfour\n")],
            documents: &[("A", "one\n\ntwo\n\nthree\n\nfour\n")],
        },
        Row {
            acts: &[Retitle("A", "B"), Write("A.md", "one\n\n2\n\nthree\n")],
            changes: &[(Kind::FileRenamed, "B.md"), (Kind::DocumentUpdated, "A.md")],
            files: &[("B.md", "one\n\n2\n\nthree\n")],
            documents: &[("B", "one\n\n2\n\nthree\n")],
        },
    ];
    for Row { acts, changes, files: expected, documents: shown } in rows {
        let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
        files.put("A.md", A);
        run(&notes, &mut files);
        let id = titled(&notes, "A");
        for one in acts {
            act(&notes, &mut files, *one);
        }
        let (before, position) = (files.clone(), notes.last_position().unwrap());
        let options = MirrorOptions::new().dry_run(true);
        let planned = mirror_files(&notes, &mut files, &options, &mut go_on).unwrap();
        assert_eq!(files.files, before.files, "{acts:?}: a dry run writes no file");
        assert_eq!(notes.last_position().unwrap(), position, "{acts:?}: and no document");
        let report = run(&notes, &mut files);
        // A plan does not have the paths of new files.
        let is_new = acts.iter().any(|act| matches!(act, Create(..) | Retitle(..) | Move(..)));
        let is_lost = planned.changes.iter().any(|change| change.path.is_empty());
        assert!(is_new || is_lost || kinds(&planned) == kinds(&report), "{acts:?}: {planned:?}");
        let mut told: Vec<_> = changes.to_vec();
        told.sort_unstable();
        // The content of a file that is merged into an equal document needs no second word.
        let found: BTreeSet<_> = kinds(&report).into_iter().collect();
        assert_eq!(found, told.into_iter().collect(), "{acts:?}: {report:?}");
        let paths: Vec<_> = expected.iter().map(|(path, _)| *path).collect();
        assert_eq!(files.paths(), paths, "{acts:?}");
        for (path, text) in expected {
            assert_eq!(files.text(path), *text, "{acts:?}: {path}");
        }
        let titles: BTreeSet<_> = documents(&notes).iter().map(|it| it.title.clone()).collect();
        assert_eq!(
            titles,
            shown.iter().map(|(title, _)| (*title).to_owned()).collect(),
            "{acts:?}"
        );
        for (title, content) in shown {
            assert_eq!(text(&notes, title), content.trim_end(), "{acts:?}: {title}");
        }
        if acts.iter().all(|act| !matches!(act, Remove(_) | Trash(_))) {
            assert!(documents(&notes).iter().any(|it| it.id() == id), "{acts:?}: the ID is kept");
        }
        let (again, writes) = (run(&notes, &mut files), files.writes);
        assert!(again.is_unchanged(), "{acts:?}: {again:?}");
        run(&notes, &mut files);
        let reads = files.reads;
        run(&notes, &mut files);
        assert_eq!((files.writes, files.reads), (writes, reads), "{acts:?}: nothing is read");
        assert!(notes.space().check().unwrap().is_clean(), "{acts:?}");
    }
}

#[test]
fn an_edited_file_keeps_the_blocks_that_it_leaves() {
    let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
    files.put("A.md", A);
    run(&notes, &mut files);
    let blocks = || {
        let page = notes.fetch(Fetch::new(titled(&notes, "A"))).unwrap();
        page.children().iter().map(|block| block.id).collect::<Vec<_>>()
    };
    let before = blocks();
    files.put("A.md", "three\n\none\n\ntwo, edited\n");
    run(&notes, &mut files);
    assert_eq!(blocks(), [before[2], before[0], before[1]]);
}

#[test]
fn a_file_that_no_edit_touches_keeps_its_bytes() {
    let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
    let foreign = "A\n=\n\n\n* x\n* [ ] y\n\n1) z";
    files.put("A.md", foreign);
    files.put("B.md", "[[A]]\n");
    run(&notes, &mut files);
    assert_eq!((files.text("A.md").as_str(), files.writes), (foreign, 0));
    retitle(&notes, "A", "C");
    notes.create_document("D").unwrap();
    run(&notes, &mut files);
    assert_eq!(files.text("C.md"), foreign, "it is renamed alone");
    assert_eq!(files.text("B.md"), "[[C|A]]\n", "its links follow");
}

#[test]
fn links_and_attachments_go_both_ways() {
    let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
    files.put("A.md", "see [[B#Part]] and ![](pic/a.png)\n");
    files.put("B.md", "# Part\n");
    files.put("pic/a.png", &b"\x89PNG\r\n\x1a\n one"[..]);
    run(&notes, &mut files);
    assert_eq!(notes.back_links(titled(&notes, "B")).unwrap().len(), 1);
    let shown = text(&notes, "A");
    assert!(shown.contains("asset://"), "{shown}");
    // The picture is edited: the document shows the new one.
    files.put("pic/a.png", &b"\x89PNG\r\n\x1a\n two"[..]);
    let report = run(&notes, &mut files);
    assert_eq!(kinds(&report), [(Kind::DocumentUpdated, "A.md")]);
    assert_ne!(text(&notes, "A"), shown);
    // An upload gets a file.
    let a = titled(&notes, "A");
    notes.upload_file(UploadFile::new(a).named("b.csv"), &b"x,y\n"[..]).unwrap();
    run(&notes, &mut files);
    assert_eq!(files.text("attachments/b.csv"), "x,y\n");
    assert!(files.text("A.md").contains("(attachments/b.csv"), "{}", files.text("A.md"));
    assert!(files.text("A.md").contains("(pic/a.png)"), "{}", files.text("A.md"));
    assert!(run(&notes, &mut files).is_unchanged());
    // A heading that another file gets in the same run is found.
    files.put("A.md", "see [[B#New]]\n");
    files.put("B.md", "# Part\n\n# New\n");
    run(&notes, &mut files);
    let page = notes.fetch(Fetch::new(titled(&notes, "B"))).unwrap();
    let target = page.children()[1].id;
    assert_eq!(text(&notes, "A"), format!("see [B#New](block://{target})"));
    assert!(run(&notes, &mut files).is_unchanged());
}

/// A link of a file that is edited meanwhile follows all the same, of one that was moved itself and
/// of a new one, too. A new file of that name comes first.
#[test]
fn links_by_a_former_name_follow() {
    let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
    files.put("A.md", "see [[B]] and [there](sub/C.md#part)\n");
    files.put("L.md", "see [[B]] and [there](B.md)\n");
    files.put("B.md", "bees\n");
    files.put("D.md", "old\n");
    files.put("sub/C.md", "# Part\n\nfrom [B](../B.md)\n");
    run(&notes, &mut files);
    let moved = |files: &mut Files, from: &str, to: &str, text: &str| {
        files.files.remove(from);
        files.put(to, text);
    };
    moved(&mut files, "B.md", "Bee.md", "bees\n");
    moved(&mut files, "sub/C.md", "C.md", "# Part\n\nfrom [B](../B.md)\n");
    moved(&mut files, "D.md", "E.md", "old\n");
    files.put("D.md", "new\n");
    files.put("A.md", "see [[B]], [there](sub/C.md#part) and [[D]]\n");
    files.put("F.md", "[[B]]\n");
    let report = run(&notes, &mut files);
    assert_eq!(report.warnings, []);
    assert_eq!(files.text("A.md"), "see [[Bee|B]], [there](C.md#part) and [[D]]\n");
    assert_eq!(files.text("L.md"), "see [[Bee|B]] and [there](Bee.md)\n");
    assert_eq!(files.text("C.md"), "# Part\n\nfrom [B](Bee.md)\n");
    assert_eq!(files.text("F.md"), "[[Bee|B]]\n");
    assert_eq!(notes.back_links(titled(&notes, "Bee")).unwrap().len(), 4);
    assert_eq!(notes.back_links(titled(&notes, "D")).unwrap().len(), 1);
    assert!(run(&notes, &mut files).is_unchanged());
}

/// Of the same size, and too soon after the listing for its time to show it.
#[test]
fn a_save_during_the_run_is_not_overwritten() {
    let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
    files.put("A.md", "- [ ] pack\n\nbottom\n");
    run(&notes, &mut files);
    files.put("A.md", "- [ ] pack a hat\n\nbottom\n");
    edit(&notes, "A", "bottom", "the bottom");
    files.is_fresh = true;
    files.saved_late = Some(("A.md".to_owned(), "- [x] pack a hat\n\nbottom\n".to_owned()));
    run(&notes, &mut files);
    assert_eq!(files.text("A.md"), "- [x] pack a hat\n\nbottom\n");
    // Both sides have another text of the task now: the next run keeps both.
    run(&notes, &mut files);
    assert_eq!(files.text("A.md"), "- [ ] pack a hat\n\nthe bottom\n");
    assert_eq!(files.text("A (conflict).md"), "- [x] pack a hat\n\nbottom\n");
}

#[test]
fn a_dry_run_writes_nothing() {
    let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
    files.put("A.md", A);
    files.put("B.md", "b\n");
    run(&notes, &mut files);
    files.put("A.md", "one\n");
    files.put("C.md", "c\n");
    edit(&notes, "B", "b", "B");
    notes.create_document("D").unwrap();
    let (before, position) = (files.clone(), notes.last_position().unwrap());
    let options = MirrorOptions::new().dry_run(true);
    let report = mirror_files(&notes, &mut files, &options, &mut go_on).unwrap();
    let expected = [
        (Kind::DocumentCreated, "C.md"),
        (Kind::DocumentUpdated, "A.md"),
        (Kind::FileWritten, ""),
        (Kind::FileWritten, "B.md"),
    ];
    assert_eq!(kinds(&report), expected);
    assert_eq!((files.files, notes.last_position().unwrap()), (before.files, position));
}

#[test]
fn a_folder_is_imported_again() {
    let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
    let mut source = MemorySource::from_iter([("A.md", A), ("sub/B.md", "see [[A]]\n")]);
    import_from(&notes, &mut source, &ImportOptions::new(), &mut go_on).unwrap();
    let ids: Vec<_> = ["A", "B"].map(|title| titled(&notes, title)).to_vec();
    edit(&notes, "A", "two", "ours");
    notes.create_document("Ours").unwrap();
    for (path, text) in
        [("A.md", "one\n\n2\n\nthree\n"), ("sub/B.md", "see [[A]]\n"), ("C.md", "c\n")]
    {
        files.put(path, text);
    }
    let options = MirrorOptions::new().import_only(true);
    let report = mirror_files(&notes, &mut files, &options, &mut go_on).unwrap();
    let expected = [(Kind::DocumentCreated, "C.md"), (Kind::DocumentUpdated, "A.md")];
    assert_eq!((kinds(&report), files.writes), (expected.to_vec(), 0));
    assert_eq!(["A", "B"].map(|title| titled(&notes, title)).to_vec(), ids);
    assert_eq!((text(&notes, "A").as_str(), documents(&notes).len()), ("one\n\n2\n\nthree", 4));
    files.files.remove("C.md");
    let report = mirror_files(&notes, &mut files, &options, &mut go_on).unwrap();
    assert!(report.is_unchanged() && documents(&notes).len() == 4, "{report:?}");
}

#[test]
fn an_empty_folder_is_refused() {
    let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
    files.put("A.md", A);
    run(&notes, &mut files);
    files.files.clear();
    let error = mirror_files(&notes, &mut files, &MirrorOptions::new(), &mut go_on).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(documents(&notes).len(), 1);
    let options = MirrorOptions::new().allow_empty(true);
    mirror_files(&notes, &mut files, &options, &mut go_on).unwrap();
    assert_eq!(documents(&notes).len(), 0);
}

/// The paths of folders, by names.
fn folder_paths(notes: &Connection) -> Vec<String> {
    let (mut paths, mut above) = (Vec::new(), Vec::new());
    for top in notes.folders().unwrap().0.iter().filter(|top| top.folder_id().is_some()) {
        for (depth, folder) in top.walk() {
            above.truncate(depth);
            above.push(folder.name.clone());
            paths.push(above.join("/"));
        }
    }
    paths.sort();
    paths
}

#[test]
fn folders_follow_their_directories() {
    use Act::{Move, Rename};
    let before = ["old/A.md", "old/sub/B.md", "top/C.md"];
    // What happens to the files, the folders afterwards, and whether the folder of A keeps its ID.
    let rows: [(&[Act], &[&str], bool); 7] = [
        (
            &[Rename("old/A.md", "new/A.md"), Rename("old/sub/B.md", "new/sub/B.md")],
            &["new", "new/sub", "top"],
            true,
        ),
        (
            &[Rename("old/A.md", "top/old/A.md"), Rename("old/sub/B.md", "top/old/sub/B.md")],
            &["top", "top/old", "top/old/sub"],
            true,
        ),
        // A part of it.
        (&[Rename("old/sub/B.md", "old/new/B.md")], &["old", "old/new", "top"], true),
        (&[Rename("old/A.md", "new/A.md")], &["new", "old", "old/sub", "top"], false),
        // Into several, or one that has a folder.
        (
            &[Rename("old/A.md", "new/A.md"), Rename("old/sub/B.md", "other/B.md")],
            &["new", "other", "top"],
            false,
        ),
        (
            &[Rename("old/A.md", "top/A.md"), Rename("old/sub/B.md", "top/sub/B.md")],
            &["top", "top/sub"],
            false,
        ),
        // Other documents keep their folder.
        (
            &[Move("C", "new"), Rename("old/sub/B.md", "top/B.md"), Rename("old/A.md", "A.md")],
            &["new", "top"],
            false,
        ),
    ];
    for (acts, expected, keeps_folder) in rows {
        let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
        before.iter().for_each(|path| files.put(path, format!("{path}\n")));
        run(&notes, &mut files);
        let location = || notes.document(titled(&notes, "A")).unwrap().record.location;
        let folder = location();
        for one in acts {
            act(&notes, &mut files, *one);
        }
        files.put("top/D.md", "d\n");
        let moved: Vec<String> = files.paths().into_iter().map(ToOwned::to_owned).collect();
        run(&notes, &mut files);
        assert_eq!(folder_paths(&notes), expected, "{acts:?}");
        assert_eq!(location() == folder, keeps_folder, "{acts:?}");
        if !acts.iter().any(|act| matches!(act, Move(..))) {
            assert_eq!(files.paths(), moved, "{acts:?}");
        }
        assert!(run(&notes, &mut files).is_unchanged(), "{acts:?}");
        assert!(notes.space().check().unwrap().is_clean(), "{acts:?}");
    }
}

#[test]
fn a_purge_erases_what_is_kept_of_a_file() {
    let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
    files.put("Secret.md", "words\n");
    files.put("A.md", A);
    run(&notes, &mut files);
    let id = titled(&notes, "Secret");
    notes.delete_documents(DeleteDocuments::new([id])).unwrap();
    run(&notes, &mut files);
    assert_eq!(files.paths(), ["A.md"]);
    notes.purge_documents(PurgeDocuments::new([id])).unwrap();
    assert!(run(&notes, &mut files).is_unchanged());
    assert!(notes.space().check().unwrap().is_clean());
}

#[test]
fn a_folder_of_the_space_is_mirrored_alone() {
    let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
    let work = notes.create_folder("Work", None).unwrap().id;
    let plans = notes.create_folder("Plans", Some(work)).unwrap().id;
    notes.create_document("Private").unwrap();
    let request = CreateDocuments::titled(["Report"]).at(work);
    notes.create_documents(request).unwrap();
    notes.create_documents(CreateDocuments::titled(["Next"]).at(plans)).unwrap();
    files.put("2026-03-01.md", "no daily note\n");
    let options = MirrorOptions::new().of_folder(work);
    mirror_files(&notes, &mut files, &options, &mut go_on).unwrap();
    assert_eq!(files.paths(), ["2026-03-01.md", "Plans/Next.md", "Report.md"]);
    assert_eq!(documents(&notes).len(), 4);
    assert!(mirror_files(&notes, &mut files, &options, &mut go_on).unwrap().is_unchanged());
}

#[test]
fn a_directory_of_the_file_system_is_mirrored() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::create_dir_all(path.join(".git")).unwrap();
    std::fs::write(path.join(".git/x.md"), "hidden").unwrap();
    std::fs::create_dir_all(path.join("old")).unwrap();
    std::fs::write(path.join("old/A.md"), A).unwrap();
    let notes = Space::in_memory().unwrap().connect();
    let sync = || mirror(&notes, path, &MirrorOptions::new(), &mut go_on).unwrap();
    sync();
    edit(&notes, "A", "two", "2");
    assert_eq!(kinds(&sync()), [(Kind::FileWritten, "old/A.md")]);
    let folder = notes.create_folder("new", None).unwrap().id;
    notes.move_documents(MoveDocuments::new([titled(&notes, "A")], folder)).unwrap();
    sync();
    let text = std::fs::read_to_string(path.join("new/A.md")).unwrap();
    assert_eq!(text, "one\n\n2\n\nthree\n");
    assert!(!path.join("old").exists(), "an empty directory goes");
    assert!(sync().is_unchanged());
    assert_eq!(std::fs::read_to_string(path.join(".git/x.md")).unwrap(), "hidden");
}

#[test]
fn records_of_a_host_are_bounded() {
    use leafbase::{ErrorKind, Limits, bulk};
    let notes = Space::in_memory().unwrap().connect();
    let document = notes.create_document("A").unwrap().id();
    let put = |name: usize, bytes: usize| {
        let records = [(document, Some(vec![7; bytes]))];
        bulk::put_host_records(&notes, &"n".repeat(name), &records).map_err(|error| error.kind())
    };
    let (name, bytes) = (Limits::HOST_RECORD_NAME_BYTES, Limits::HOST_RECORD_BYTES);
    assert_eq!(put(name, bytes), Ok(()));
    assert_eq!(put(name + 1, 1), Err(ErrorKind::LimitExceeded));
    assert_eq!(put(1, bytes + 1), Err(ErrorKind::LimitExceeded));
}

/// What only the form of a text says is an edit, of either side.
#[test]
fn edits_of_the_form_are_kept() {
    // The text, of the file and of the document afterwards. With none the last block is edited.
    for (before, of_file, of_document, expected) in [
        ("1. a\n\nend\n", None, Some("5. a\n\nend"), "5. a\n\nend\n"),
        ("> a\n\nend\n", None, Some("> > a\n\nend"), "> > a\n\nend\n"),
        ("* a\n\nend\n", None, Some("- a\n\nend"), "- a\n\nend\n"),
        ("A\n=\n\nend\n", None, Some("# A\n\nend"), "# A\n\nend\n"),
        ("1. a\n\nend\n", Some("1. a\n\nEND\n"), Some("5. a\n\nend"), "5. a\n\nEND\n"),
        ("- a\n\np\n\nend\n", Some("- a\n\n  p\n\nend\n"), None, "- a\n\n  p\n\nEND\n"),
        ("1. a\n\nend\n", Some("5. a\n\nend\n"), None, "5. a\n\nEND\n"),
        ("> a\n\nend\n", Some("> > a\n\nend\n"), None, "> > a\n\nEND\n"),
        ("- [ ] a\n\nend\n", Some("1. [ ] a\n\nend\n"), None, "1. [ ] a\n\nEND\n"),
        ("#### a\n\nend\n", Some("###### a\n\nend\n"), None, "###### a\n\nEND\n"),
        ("    a\n\nend\n", Some("~~~\na\n~~~\n\nend\n"), None, "~~~\na\n~~~\n\nEND\n"),
        ("[x](A.md) a\n\nend\n", Some("[x](./A.md) a\n\nend\n"), None, "[x](./A.md) a\n\nEND\n"),
        ("a\n\nend\n", Some("a\r\n\r\nend\r\n"), None, "a\r\n\r\nEND\r\n"),
        (
            "---\nk: v\n---\n\n\n1. a [[A]]\n\nend\n",
            Some("---\nk: v\n---\n\n\n5. a [[A]]\n\nend\n"),
            None,
            "---\nk: v\n---\n\n\n5. a [[A]]\n\nEND\n",
        ),
    ] {
        let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
        files.put("A.md", before);
        run(&notes, &mut files);
        if let Some(text) = of_file {
            files.put("A.md", text);
        }
        match of_document {
            Some(text) => {
                drop(notes.apply_markdown(ApplyMarkdown::new(titled(&notes, "A"), text)).unwrap())
            }
            None => edit(&notes, "A", "end", "END"),
        }
        run(&notes, &mut files);
        assert_eq!((files.text("A.md").as_str(), files.paths()), (expected, vec!["A.md"]));
        assert!(run(&notes, &mut files).is_unchanged(), "{expected:?}");
    }
}

fn put_all(files: &mut Files, all: &[(&str, &str)]) {
    all.iter().for_each(|(path, text)| files.put(path, *text));
}

fn move_to(notes: &Connection, title: &str, folder: &str) {
    let folders = notes.folders().unwrap();
    let folder = folders.iter().find(|it| it.name == folder).unwrap();
    let leafbase::FolderRef::Folder(folder) = folder.id else { panic!("{folder:?}") };
    notes.move_documents(MoveDocuments::new([titled(notes, title)], folder)).unwrap();
}

#[test]
fn links_of_a_renamed_file_lead_where_they_led() {
    let moved: &[(&str, &str)] = &[
        ("a/A.md", "see [x](C.md), [[C]] and ![](pic.png)\n"),
        ("a/C.md", "c\n"),
        ("a/pic.png", "picture"),
        ("b/C.md", "other\n"),
    ];
    let text = "see [x](../a/C.md), [[a/C|C]] and ![](../a/pic.png)\n";
    let own: &[(&str, &str)] = &[("A.md", "me [[A]] [x](A.md)\n"), ("B.md", "b\n")];
    let own_text = "me [[N|A]] [x](N.md)\n";
    let rename = |from: &'static str, to: &'static str| {
        move |_: &Connection, files: &mut Files| {
            let file = files.files.remove(from).unwrap();
            files.files.insert(to.to_owned(), file);
        }
    };
    type Change = Box<dyn Fn(&Connection, &mut Files)>;
    let rows: [(_, Change, _, _); 4] = [
        (moved, Box::new(|notes, _| move_to(notes, "A", "b")), "b/A.md", text),
        (moved, Box::new(rename("a/A.md", "b/A.md")), "b/A.md", text),
        (own, Box::new(|notes, _| retitle(notes, "A", "N")), "N.md", own_text),
        (own, Box::new(rename("A.md", "N.md")), "N.md", own_text),
    ];
    for (before, change, path, expected) in rows {
        let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
        put_all(&mut files, before);
        run(&notes, &mut files);
        change(&notes, &mut files);
        run(&notes, &mut files);
        assert_eq!(files.text(path), expected);
        files.put(path, format!("{expected}\nmore\n"));
        let report = run(&notes, &mut files);
        assert_eq!(report.warnings, [], "{path}");
        assert_eq!(files.text(path), format!("{expected}\nmore\n"));
        assert!(run(&notes, &mut files).is_unchanged());
    }
}

#[test]
fn links_follow_a_heading() {
    for in_space in [true, false] {
        let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
        let linking = "[y](T.md#head)\n\n[[T]] [[T#Head]]\n";
        put_all(&mut files, &[("L.md", linking), ("M.md", linking), ("T.md", "# Head\n")]);
        run(&notes, &mut files);
        if in_space {
            edit(&notes, "T", "Head", "Other");
        } else {
            files.put("T.md", "# Other\n");
        }
        // One is edited at the same time.
        files.put("M.md", format!("{linking}\nmore [[T#Gone]]\n"));
        let report = run(&notes, &mut files);
        let warnings: Vec<_> = report.warnings.iter().map(|it| it.message.as_str()).collect();
        let missing = "T.md has no heading or block #Gone; the link leads to the document";
        assert_eq!(warnings, [missing]);
        let expected = "[y](T.md#other)\n\n[[T]] [T#Head](T.md#other)\n";
        assert_eq!(files.text("L.md"), expected);
        assert!(files.text("M.md").starts_with(expected), "{}", files.text("M.md"));
        assert!(run(&notes, &mut files).is_unchanged());
    }
}

const PICTURE: &str = "GIF89a0000000000";

/// Pictures of a folder that was imported, or that an export wrote, are those of the documents.
#[test]
fn known_pictures_are_no_conflict() {
    let read: &[(&str, &str)] = &[
        ("A.md", "see ![[p.gif]]\n"),
        ("B.md", "t\n\n![](img/p.gif)\n"),
        ("D.md", "[x](img/p.gif) w ![](p.gif)\n"),
        ("img/p.gif", PICTURE),
        ("p.gif", PICTURE),
    ];
    let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
    put_all(&mut files, read);
    import_from(&notes, &mut files, &ImportOptions::new(), &mut go_on).unwrap();
    let of_app = notes.create_document("App").unwrap().id();
    notes.upload_file(UploadFile::new(of_app).named("q.gif"), PICTURE.as_bytes()).unwrap();
    files.put("App.md", "![](attachments/q.gif)\n");
    files.put("attachments/q.gif", PICTURE);
    let before: Vec<_> = read.iter().map(|(path, _)| (*path, files.text(path))).collect();
    // The second mirror is one of a copy of the folder.
    for name in ["one", "two"] {
        let options = MirrorOptions::new().named(name);
        let mut report = mirror_files(&notes, &mut files, &options, &mut go_on).unwrap();
        // Its picture has other words.
        report.changes.retain(|change| change.path != "App.md");
        assert_eq!((report.changes, report.warnings), (Vec::new(), Vec::new()), "{name}");
        let after: Vec<_> = read.iter().map(|(path, _)| (*path, files.text(path))).collect();
        assert_eq!((&after, files.paths().len()), (&before, before.len() + 2), "{name}");
    }
}

/// A file that comes back is that of its document, so that links lead there as before.
#[test]
fn a_file_that_comes_back_restores_its_document() {
    let linking = "see [[B]] and [b](sub/B.md)\n";
    for in_space in [false, true] {
        for text in ["b\n\n![](p.gif)\n", "b, edited\n"] {
            let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
            put_all(&mut files, &[("A.md", linking), ("sub/B.md", "b\n\n![](p.gif)\n")]);
            files.put("sub/p.gif", PICTURE);
            run(&notes, &mut files);
            let id = titled(&notes, "B");
            if in_space {
                notes.delete_documents(DeleteDocuments::new([id])).unwrap();
            } else {
                files.files.remove("sub/B.md");
            }
            run(&notes, &mut files);
            assert_eq!(files.paths(), ["A.md", "sub/p.gif"]);
            assert!(run(&notes, &mut files).is_unchanged());
            notes.insert_markdown("note", Position::end_of(titled(&notes, "A"))).unwrap();
            let report = run(&notes, &mut files);
            assert_eq!(report.warnings, []);
            assert_eq!(files.text("A.md"), format!("{linking}\nnote\n"));

            files.put("sub/B.md", text);
            let report = run(&notes, &mut files);
            assert_eq!(report.warnings, []);
            assert_eq!(titled(&notes, "B"), id);
            assert_eq!(files.paths(), ["A.md", "sub/B.md", "sub/p.gif"]);
            assert_eq!(files.text("sub/B.md"), text);
            assert_eq!(notes.back_links(id).unwrap().len(), 1);
            assert!(run(&notes, &mut files).is_unchanged());
        }
    }
}

/// The name of one side and the place of the other.
#[test]
fn moved_on_one_side_and_renamed_on_the_other() {
    for moved_outside in [true, false] {
        let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
        let linking = "see [[X]] [x](a/X.md)\n";
        put_all(&mut files, &[("a/X.md", "t\n"), ("b/B.md", "b\n"), ("L.md", linking)]);
        run(&notes, &mut files);
        let file = files.files.remove("a/X.md").unwrap();
        if moved_outside {
            files.files.insert("b/X.md".to_owned(), file);
            retitle(&notes, "X", "Y");
        } else {
            files.files.insert("a/Y.md".to_owned(), file);
            move_to(&notes, "X", "b");
        }
        run(&notes, &mut files);
        assert_eq!(files.paths(), ["L.md", "b/B.md", "b/Y.md"]);
        assert_eq!((text(&notes, "Y"), files.text("b/Y.md")), ("t".to_owned(), "t\n".to_owned()));
        assert_eq!(files.text("L.md"), "see [[Y|X]] [x](b/Y.md)\n");
        assert!(run(&notes, &mut files).is_unchanged());
    }
}

/// Files get the names that others give up in the same run, whenever that ends.
#[test]
fn files_take_over_names() {
    type Change = fn(&Connection);
    let rows: [(Change, &[(&str, &str)]); 5] = [
        (|notes| retitle(notes, "Aa", "aa"), &[("aa.md", "one\n"), ("Bb.md", "two\n")]),
        (
            |notes| {
                retitle(notes, "Aa", "C");
                retitle(notes, "Bb", "Aa");
                retitle(notes, "C", "Bb");
            },
            &[("Aa.md", "two\n"), ("Bb.md", "one\n")],
        ),
        (
            |notes| {
                retitle(notes, "Bb", "C");
                retitle(notes, "Aa", "Bb");
            },
            &[("Bb.md", "one\n"), ("C.md", "two\n")],
        ),
        (
            |notes| {
                retitle(notes, "Bb", "C");
                let id = notes.create_document("Bb").unwrap().id();
                notes.insert_markdown("new", id).unwrap();
            },
            &[("Aa.md", "one\n"), ("Bb.md", "new\n"), ("C.md", "two\n")],
        ),
        (
            |notes| {
                notes.delete_documents(DeleteDocuments::new([titled(notes, "Bb")])).unwrap();
                let id = notes.create_document("Bb").unwrap().id();
                notes.insert_markdown("new", id).unwrap();
            },
            &[("Aa.md", "one\n"), ("Bb.md", "new\n")],
        ),
    ];
    for (number, (change, expected)) in rows.into_iter().enumerate() {
        for steps in 0..6 {
            let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
            put_all(&mut files, &[("Aa.md", "one\n"), ("Bb.md", "two\n")]);
            run(&notes, &mut files);
            change(&notes);
            let titles = documents(&notes).into_iter().map(|it| (it.id(), it.title));
            let titles: BTreeMap<DocumentId, String> = titles.collect();
            files.left = Some(steps);
            drop(mirror_files(&notes, &mut files, &MirrorOptions::new(), &mut go_on));
            files.left = None;
            run(&notes, &mut files);
            let found: Vec<_> =
                files.paths().into_iter().map(|path| (path, files.text(path))).collect();
            let expected: Vec<_> =
                expected.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
            let mut sorted = found.clone();
            sorted.sort_unstable_by_key(|(path, _)| path.to_ascii_lowercase());
            assert_eq!(sorted, expected, "row {number}, {steps} steps");
            let after = documents(&notes).into_iter().map(|it| (it.id(), it.title));
            assert_eq!(after.collect::<BTreeMap<_, _>>(), titles, "row {number}, {steps} steps");
            assert!(run(&notes, &mut files).is_unchanged(), "row {number}, {steps} steps");
        }
    }
}

/// The number in the name of a file is not a title, whenever the mirror that gave it ends.
#[test]
fn numbered_names_stay_numbers() {
    type Change = fn(&Connection);
    let rows: [(Change, &[(&str, &str)]); 3] = [
        (
            |notes| retitle(notes, "Old", "Trip"),
            &[("L.md", "[[Trip 2|Old]]\n"), ("Trip 2.md", "old\n"), ("Trip.md", "trip\n")],
        ),
        // Both change places with a third one.
        (
            |notes| {
                retitle(notes, "Trip", "New");
                retitle(notes, "Old", "Trip");
                retitle(notes, "L", "Old");
                retitle(notes, "New", "L");
            },
            &[("L.md", "trip\n"), ("Old.md", "[[Trip|Old]]\n"), ("Trip.md", "old\n")],
        ),
        (
            |notes| {
                let folder = notes.create_folder("sub", None).unwrap().id;
                let moved = MoveDocuments::new([titled(notes, "L")], folder);
                notes.move_documents(moved).unwrap();
            },
            &[("Old.md", "old\n"), ("Trip.md", "trip\n"), ("sub/L.md", "[x](../Old.md)\n")],
        ),
    ];
    for (number, (change, expected)) in rows.into_iter().enumerate() {
        for steps in 0..8 {
            let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
            let linking = if number == 2 { "[x](Old.md)\n" } else { "[[Old]]\n" };
            put_all(&mut files, &[("Old.md", "old\n"), ("Trip.md", "trip\n"), ("L.md", linking)]);
            run(&notes, &mut files);
            change(&notes);
            let titles = || {
                let titles = documents(&notes).into_iter().map(|it| (it.id(), it.title));
                titles.collect::<BTreeMap<DocumentId, String>>()
            };
            let before = titles();
            files.left = Some(steps);
            drop(mirror_files(&notes, &mut files, &MirrorOptions::new(), &mut go_on));
            files.left = None;
            run(&notes, &mut files);
            let found: Vec<_> =
                files.paths().into_iter().map(|path| (path, files.text(path))).collect();
            let expected: Vec<_> =
                expected.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
            assert_eq!(found, expected, "row {number}, {steps} steps");
            assert_eq!(titles(), before, "row {number}, {steps} steps");
            assert!(run(&notes, &mut files).is_unchanged(), "row {number}, {steps} steps");
        }
    }
}

#[test]
fn a_document_that_returns_has_the_name_of_its_file() {
    let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
    put_all(&mut files, &[("A.md", A), ("sub/D.md", "d\n"), ("L.md", "[[D]]\n")]);
    run(&notes, &mut files);
    notes.delete_documents(DeleteDocuments::new([titled(&notes, "D")])).unwrap();
    let file = files.files.remove("sub/D.md").unwrap();
    files.files.insert("sub/New.md".to_owned(), file);
    run(&notes, &mut files);
    assert_eq!(text(&notes, "New"), "d");
    assert_eq!(files.paths(), ["A.md", "L.md", "sub/New.md"]);
    assert_eq!(files.text("L.md"), "[[New|D]]\n");
    assert!(run(&notes, &mut files).is_unchanged());
}

#[test]
fn changes_are_listed_by_path() {
    let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
    let names = ["A.md", "B.md", "C.md", "D.md", "E.md", "F.md"];
    names.iter().for_each(|name| files.put(name, "x\n"));
    let report = run(&notes, &mut files);
    let paths: Vec<_> = report.changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, names);
}

/// Names of files and directories that differ from titles and folders, once.
#[test]
fn changed_names_are_reported() {
    use leafbase_vault::VaultWarningKind::{FileName, Title};
    let (notes, mut files) = (Space::in_memory().unwrap().connect(), Files::default());
    let long = "w".repeat(300);
    for title in ["Trip", "Trip", "con", "a?b", long.as_str(), "Plain"] {
        notes.create_document(title).unwrap();
    }
    let folder = notes.create_folder("aux", None).unwrap().id;
    notes.create_documents(CreateDocuments::titled(["In it", "Too"]).at(folder)).unwrap();
    let told = |report: &MirrorReport| {
        let all = report.warnings.iter();
        all.map(|it| (it.path.clone(), it.kind)).collect::<Vec<_>>()
    };
    let report = run(&notes, &mut files);
    let cut = files.paths().into_iter().find(|path| path.starts_with("ww")).unwrap().to_owned();
    let directory = files.paths()[0].split('/').next().unwrap().to_owned();
    let expected = [
        ("%61ux".to_owned(), FileName),
        ("%63on.md".to_owned(), FileName),
        ("Trip 2.md".to_owned(), Title),
        ("a%3Fb.md".to_owned(), FileName),
        (cut, Title),
    ];
    assert_eq!((told(&report), directory.as_str()), (expected.to_vec(), "%61ux"));
    assert_eq!(told(&run(&notes, &mut files)), []);
    retitle(&notes, "Plain", "con");
    let report = run(&notes, &mut files);
    assert_eq!(told(&report).len(), 2, "{report:?}");
}

/// Directories, symbolic links and other files keep their names.
#[test]
#[cfg(unix)]
fn what_is_in_the_directory_keeps_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::create_dir(path.join("Dir.md")).unwrap();
    std::fs::write(path.join("Plain"), "plain").unwrap();
    std::os::unix::fs::symlink("nowhere", path.join("Link.md")).unwrap();
    std::fs::write(path.join("attachments"), "plain").unwrap();
    let notes = Space::in_memory().unwrap().connect();
    for title in ["Dir", "Link", "Notes"] {
        notes.create_document(title).unwrap();
    }
    let a = titled(&notes, "Notes");
    notes.upload_file(UploadFile::new(a).named("b.csv"), &b"x,y\n"[..]).unwrap();
    for (folder, title) in [("Notes.md", "One"), ("Plain", "Two")] {
        let folder = notes.create_folder(folder, None).unwrap().id;
        notes.create_documents(CreateDocuments::titled([title]).at(folder)).unwrap();
    }
    let sync = || mirror(&notes, path, &MirrorOptions::new(), &mut go_on).unwrap();
    let written = sync();
    let files: Vec<_> = written.changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(files, ["Dir 2.md", "Link 2.md", "Notes 2.md", "Notes.md/One.md", "Plain 2/Two.md"]);
    assert!(path.join("attachments 2/b.csv").exists());
    assert!(sync().is_unchanged());
    assert_eq!(std::fs::read_to_string(path.join("Plain")).unwrap(), "plain");
}

/// A private file stays private, whoever writes it.
#[test]
#[cfg(unix)]
fn files_keep_their_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let modes = [("A", 0o600), ("B", 0o444), ("C", 0o755)];
    for (name, mode) in modes {
        let file = path.join(format!("{name}.md"));
        std::fs::write(&file, "text\n").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
    }
    let notes = Space::in_memory().unwrap().connect();
    let sync = || mirror(&notes, path, &MirrorOptions::new(), &mut go_on).unwrap();
    let has_modes = |text: &str| {
        for (name, mode) in modes {
            let file = path.join(format!("{name}.md"));
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, mode, "{name}");
        }
    };
    sync();
    modes.iter().for_each(|(name, _)| edit(&notes, name, "text", "words"));
    sync();
    has_modes("words\n");
    modes.iter().for_each(|(name, _)| edit(&notes, name, "words", "more"));
    let options = ExportOptions::new().into_existing(true);
    export_folder(&notes, path, &options, &mut go_on).unwrap();
    has_modes("more\n");
}
