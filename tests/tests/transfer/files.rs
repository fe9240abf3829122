//! Uploaded files on their way out and in: their names, their bytes, and the blocks that show them.

use leafbase::{
    BlockData, BlockDraft, BlockKind, BlockType, Connection, Destination, Limits, Position, Space,
    UploadFile,
};
use leafbase_vault::{
    ExportOptions, ExportReport, ImportOptions, ImportReport, MemorySource, VaultWarningKind,
    export_folder, import_folder, import_from,
};

use super::{Files, blocks, exported, file, files_below, on, same_again, uploaded, write_below};

/// An MP4 movie as its first bytes have it.
const MOVIE: &[u8] = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom";
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
const PAPER: &[u8] = b"%PDF-1.7";

fn of_files(files: &[(&str, &[u8])]) -> (Connection, ImportReport) {
    let notes = Space::in_memory().expect("a space").connect();
    let mut source =
        files.iter().map(|(path, bytes)| (*path, bytes.to_vec())).collect::<MemorySource>();
    let report =
        import_from(&notes, &mut source, &ImportOptions::new(), &mut on).expect("imported");
    (notes, report)
}

fn exported_with_report(notes: &Connection) -> (Files, ExportReport) {
    let directory = tempfile::tempdir().expect("a directory");
    let report =
        export_folder(notes, directory.path(), &ExportOptions::new(), &mut on).expect("exported");
    (files_below(directory.path()), report)
}

fn imported_again(files: &Files) -> Connection {
    let directory = tempfile::tempdir().expect("a directory");
    write_below(directory.path(), files);
    let notes = Space::in_memory().expect("a space").connect();
    import_folder(&notes, directory.path(), &ImportOptions::new(), &mut on).expect("imported");
    notes
}

#[test]
fn every_name_and_every_byte_come_back() {
    let bytes = b"\xff\xfe\0bytes\r\n";
    for name in [
        "a .png",
        "a..png",
        "100%25.png",
        "map%41.txt",
        "COM1 x.txt",
        "data.md",
        "README.Markdown",
        "2026-03-01.md",
        "data.md.txt",
        "data%2Emd.txt",
        "a%2Emd.md",
        "%2Emd",
        "x",
        "a b.c d",
        "a#b.txt",
        "[x](y).txt",
        "_CON.txt",
        "a\u{301}.txt",
        "100%.md",
    ] {
        let notes = Space::in_memory().expect("a space").connect();
        let document = notes.create_document("Trip").expect("made");
        notes
            .upload_file(UploadFile::new(document.id()).named(name), &bytes[..])
            .expect("uploaded");
        let (files, report) = exported_with_report(&notes);
        let told: Vec<_> = report.warnings.iter().map(|warning| warning.kind).collect();
        let is_markdown = [".md", ".Markdown"].iter().any(|extension| name.ends_with(extension));
        assert_eq!(told, vec![VaultWarningKind::Attachment; usize::from(is_markdown)], "{name}");
        let again = imported_again(&files);
        let found: Vec<_> =
            uploaded(&again).into_iter().map(|(name, _, bytes)| (name, bytes)).collect();
        assert_eq!(found, [(name.to_owned(), bytes.to_vec())]);
        assert_eq!(again.documents().expect("documents").len(), 1, "{name} is not a document");
        assert_eq!(exported(&again), files, "{name}");
    }
}

#[test]
fn names_too_long_or_taken_stay_as_they_were_written() {
    let long = format!("{} .{}", "l".repeat(196), "x".repeat(50));
    for names in [
        vec![format!("{}.png", "l".repeat(251))],
        vec![long.clone(), long],
        vec!["notes.md".to_owned(); 3],
        ["m.txt", "M.txt", "m 2.txt", "m.txt"].map(ToOwned::to_owned).to_vec(),
    ] {
        let notes = Space::in_memory().expect("a space").connect();
        let document = notes.create_document("Trip").expect("made");
        for (number, name) in names.iter().enumerate() {
            let bytes = format!("{number}");
            notes
                .upload_file(UploadFile::new(document.id()).named(name), bytes.as_bytes())
                .expect("uploaded");
        }
        let files = exported(&notes);
        assert_eq!(uploaded(&imported_again(&files)).len(), names.len());
        same_again(&files);
    }
}

#[test]
fn what_is_shown_alone_is_shown_as_an_upload_would_be() {
    use BlockType::{File, Image, Video};
    for (written, block_type, label, exported_as) in [
        ("![d](doc.pdf)", File, "d", "[d](attachments/doc.pdf \"file\")"),
        ("![](doc.pdf)", File, "doc.pdf", "[doc.pdf](attachments/doc.pdf \"file\")"),
        ("![[doc.pdf#page=3]]", File, "doc.pdf", "[doc.pdf](attachments/doc.pdf#page=3 \"file\")"),
        (
            "![[doc.pdf#page=3|a plan]]",
            File,
            "a plan",
            "[a plan](attachments/doc.pdf#page=3 \"file\")",
        ),
        ("[d](doc.pdf)", File, "d", "[d](attachments/doc.pdf \"file\")"),
        ("![[clip]]", Video, "clip", "![clip](attachments/clip \"video\")"),
        ("![c](clip)", Video, "c", "![c](attachments/clip \"video\")"),
        ("![[clip.mp4]]", Video, "clip.mp4", "![clip.mp4](attachments/clip.mp4)"),
        ("![[fake.png]]", File, "fake.png", "[fake.png](attachments/fake.png \"file\")"),
        ("![x](fake.mp4)", File, "x", "[x](attachments/fake.mp4 \"file\")"),
        ("![x](odd.mp4)", Image, "x", "![x](attachments/odd.mp4 \"image\")"),
        ("![[Pic.PNG]]", Image, "Pic.PNG", "![Pic.PNG](attachments/Pic.PNG)"),
        ("![[pic.png|alt words]]", Image, "alt words", "![alt words](attachments/Pic.PNG)"),
        (
            "![[pic.png|alt *words*]]",
            Image,
            "alt *words*",
            "![alt \\*words\\*](attachments/Pic.PNG)",
        ),
        ("![[pic.png|300]]", Image, "pic.png", "![pic.png](attachments/Pic.PNG)"),
        ("![[pic.png|a map|300x200]]", Image, "a map", "![a map](attachments/Pic.PNG)"),
        ("- ![d](doc.pdf)", File, "d", "- [d](attachments/doc.pdf \"file\")"),
        ("![d](doc.pdf \"file\")", File, "d", "[d](attachments/doc.pdf \"file\")"),
        ("[c](clip.mp4)", File, "c", "[c](attachments/clip.mp4 \"file\")"),
    ] {
        let (notes, _) = of_files(&[
            ("A.md", written.as_bytes()),
            ("doc.pdf", PAPER),
            ("clip", MOVIE),
            ("clip.mp4", MOVIE),
            ("fake.png", b"text"),
            ("fake.mp4", b"text"),
            ("odd.mp4", PICTURE),
            ("Pic.PNG", PICTURE),
        ]);
        let found = blocks(&notes, "A");
        let shown = match &found[0].data.kind {
            BlockKind::Image { alt_text, .. } | BlockKind::Video { alt_text, .. } => alt_text,
            BlockKind::File { file_name, .. } => file_name,
            other => panic!("{written}: {other:?}"),
        };
        assert_eq!((found[0].data.block_type(), shown.as_str()), (block_type, label), "{written}");
        let files = exported(&notes);
        // The files stay where they were.
        let expected = exported_as.replace("attachments/", "");
        let back = file(&files, "A.md");
        assert!(back == expected || back == written, "{written}: {back}");
        same_again(&files);
    }
}

#[test]
fn words_and_anchors_of_embeds_within_a_text_stay() {
    let text = "see ![[pic.png|alt words]], ![[pic.png|300]] and ![[doc.pdf#page=3]]\n";
    let (notes, report) =
        of_files(&[("A.md", text.as_bytes()), ("doc.pdf", PAPER), ("pic.png", PICTURE)]);
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    let files = exported(&notes);
    let expected =
        "see ![alt words](pic.png), ![pic.png](pic.png) and ![doc.pdf](doc.pdf#page=3)\n";
    assert_eq!(file(&files, "A.md"), expected);
    same_again(&files);
}

#[test]
fn a_block_that_does_not_fit_its_file_is_written_as_what_is_read_back() {
    for (kind, name, bytes, told, expected) in [
        ("image", "doc.pdf", PAPER, 1, "[w](attachments/doc.pdf \"file\")"),
        ("image", "clip", MOVIE, 1, "![w](attachments/clip \"video\")"),
        ("video", "pic.png", PICTURE, 1, "![w](attachments/pic.png)"),
        ("video", "clip.mp4", b"text", 1, "[w](attachments/clip.mp4 \"file\")"),
        ("image", "pic.png", PICTURE, 0, "![w](attachments/pic.png)"),
        ("video", "clip", MOVIE, 0, "![w](attachments/clip \"video\")"),
        // What was declared to be sound is not read back as a picture.
        ("file", "sound.mp4", MOVIE, 0, "[w](attachments/sound.mp4 \"file\")"),
    ] {
        let notes = Space::in_memory().expect("a space").connect();
        let document = notes.create_document("A").expect("made").id();
        let upload =
            notes.upload_file(UploadFile::new(document).named(name).of_type("audio/mp4"), bytes);
        let upload = upload.expect("uploaded");
        let words = if kind == "file" { "fileName" } else { "altText" };
        let request = serde_json::json!({
            "blocks": [{"type": kind, "url": upload.asset_url.to_string(), words: "w"}],
            "position": {"position": "end", "pageId": document},
        });
        notes.insert_blocks(serde_json::from_value(request).expect("a request")).expect("inserted");
        notes.delete_blocks(leafbase::DeleteBlocks::from(upload.block_id)).expect("deleted");
        let (files, report) = exported_with_report(&notes);
        assert_eq!(file(&files, "A.md"), format!("{expected}\n"));
        assert_eq!(report.warnings.len(), told, "{:?}", report.warnings);
        same_again(&files);
    }
}

#[test]
fn whatever_shows_a_file_the_second_export_is_the_first() {
    let url = |kind: &str| serde_json::json!({"type": kind, "url": "URL"});
    let text = |markdown: &str, list: &str| serde_json::json!({"type": "text", "markdown": markdown, "listStyle": list});
    let texts = [
        "[x](URL)",
        "![x](URL)",
        "![x](URL \"file\")",
        "a ![x](URL) b",
        "[x](URL) y",
        "![*x*](URL)",
        "<URL>",
    ];
    let mut drafts: Vec<_> = ["image", "video", "file", "drawing", "whiteboard"].map(url).into();
    drafts.extend(
        texts
            .iter()
            .flat_map(|markdown| ["none", "bullet", "task"].map(|list| text(markdown, list))),
    );
    drafts.push(serde_json::json!({"type": "table", "markdown": "| a |\n| --- |\n| ![x](URL) |"}));
    drafts.push(
        serde_json::json!({"type": "page", "markdown": "[x](URL)", "content": [url("image")]}),
    );
    for (name, bytes) in [
        ("doc.pdf", PAPER),
        ("clip", MOVIE),
        ("fake.mp4", b"text"),
        ("p.png", PICTURE),
        ("n.md", b"n"),
    ] {
        for draft in &drafts {
            let notes = Space::in_memory().expect("a space").connect();
            let document = notes.create_document("A").expect("made").id();
            let upload =
                notes.upload_file(UploadFile::new(document).named(name), bytes).expect("uploaded");
            let draft = draft.to_string().replace("URL", &upload.asset_url.to_string());
            let request = format!(
                r#"{{"blocks": [{draft}], "position": {{"position": "end", "pageId": "{document}"}}}}"#
            );
            notes
                .insert_blocks(serde_json::from_str(&request).expect("a request"))
                .expect("inserted");
            let first = exported(&notes);
            let second = exported(&imported_again(&first));
            assert_eq!(file(&first, "A.md"), file(&second, "A.md"), "{name} {draft}");
        }
    }
}

#[test]
fn what_is_not_taken_in_is_told_with_the_reason() {
    let shown = "![](pic.png)\n";
    let broken = format!("{shown}\n{}\n", "x".repeat(Limits::default().block_text + 1));
    let read = |text: &str, options: &ImportOptions, last: u64| {
        let notes = Space::in_memory().expect("a space").connect();
        let files = [("A.md", "a"), ("B.md", text), ("pic.png", "p")];
        let mut stop = |progress: leafbase::Progress| {
            if progress.done >= last { std::ops::ControlFlow::Break(()) } else { on(progress) }
        };
        let report = import_from(&notes, &mut MemorySource::from_iter(files), options, &mut stop)
            .expect("imported");
        report
            .skipped
            .into_iter()
            .map(|skipped| format!("{}: {}", skipped.path, skipped.reason))
            .collect::<Vec<_>>()
    };
    let (all, none) = (ImportOptions::new(), ImportOptions::new().attachments(false));
    assert_eq!(read(shown, &all, 9), [""; 0]);
    for (text, options, last, reason) in [
        ("b", &all, 9, "no document shows it"),
        (shown, &none, 9, "attachments are not imported"),
        (shown, &all, 1, "no document shows it that was created before the import was cancelled"),
        (&broken, &all, 9, "no document shows it, except perhaps one that is kept as code"),
    ] {
        assert_eq!(read(text, options, last), [format!("pic.png: not markdown, and {reason}")]);
    }
}

#[test]
fn files_in_too_many_folders_are_skipped() {
    let most = Limits::default().folder_nesting;
    let [deep, too_deep] = [most, most + 1].map(|levels| "d/".repeat(levels) + "a.md");
    let (notes, report) = of_files(&[(&deep, b"a\n"), (&too_deep, b"a\n")]);
    assert_eq!((report.documents, report.folders), (1, most as u64));
    let skipped: Vec<_> =
        report.skipped.iter().map(|skipped| (&*skipped.path, &*skipped.reason)).collect();
    assert_eq!(skipped, [(&*too_deep, "folders nest at most 64 levels")]);
    // A mirror has one rule with it.
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::create_dir_all(directory.path().join("d/".repeat(most + 1))).expect("made");
    for path in [&deep, &too_deep] {
        std::fs::write(directory.path().join(path), "a\n").expect("written");
    }
    let empty = Space::in_memory().expect("a space").connect();
    for documents in [1, 1] {
        let report = leafbase_vault::mirror(
            &empty,
            directory.path(),
            &leafbase_vault::MirrorOptions::new(),
            &mut on,
        )
        .expect("mirrored");
        assert_eq!(report.skipped.len(), 1, "{report:?}");
        assert_eq!(empty.documents().expect("listed").len(), documents);
        assert!(directory.path().join(&too_deep).exists());
    }
    drop(notes);
}

#[test]
fn a_link_to_a_document_that_is_shown_says_so() {
    let (_, report) = of_files(&[("A.md", b"![b](B.md) ![c](C.md)\n"), ("B.md", b"b\n")]);
    let told: Vec<_> = report.warnings.iter().map(|warning| warning.message.as_str()).collect();
    let expected = [
        "B.md was not imported: it is a document",
        "C.md was not imported: it is not a file of the folder",
    ];
    assert_eq!(told, expected.map(|told| format!("{told}; the path is kept")));
}

#[test]
fn the_inbox_and_comments_are_left_out_and_told() {
    use leafbase::{AddComments, AddTasks, CommentDraft, TaskDraft};
    let notes = Space::in_memory().expect("a space").connect();
    let trip = notes.create_document("Trip").expect("made").id();
    notes.create_document("Plain").expect("made");
    assert_eq!(exported_with_report(&notes).1.skipped, []);
    notes.add_tasks(AddTasks::new(["pack", "pay"].map(TaskDraft::new))).expect("added");
    let block = notes.insert_markdown("x", Position::end_of(trip)).expect("inserted")[0].id;
    let comments = [CommentDraft::new(trip.root(), "one"), CommentDraft::new(block, "two")];
    notes.add_comments(AddComments::new(comments)).expect("added");
    let (files, report) = exported_with_report(&notes);
    assert_eq!(files.keys().collect::<Vec<_>>(), ["Plain.md", "Trip.md"]);
    let skipped: Vec<_> =
        report.skipped.iter().map(|skipped| (&*skipped.path, &*skipped.reason)).collect();
    assert_eq!(skipped, [("Inbox", "2 tasks are in no document")]);
    let told: Vec<_> =
        report.warnings.iter().map(|told| (told.kind, &*told.path, &*told.message)).collect();
    assert_eq!(told, [(VaultWarningKind::Comments, "Trip.md", "2 comments are not exported")]);
}

#[test]
fn a_document_titled_like_a_day_is_no_daily_note() {
    let notes = Space::in_memory().expect("a space").connect();
    let day = "2026-03-01".parse::<leafbase::Day>().expect("a day");
    let folder = notes.create_folder("Log", None).expect("made").id;
    let page = BlockDraft::new(BlockData::page("2026-03-01"));
    notes.create_document_of(page, Destination::Folder(folder)).expect("made");
    notes.create_document("2026-03-02").expect("made");
    notes.insert_markdown("the true note", Position::end_of_day(day)).expect("inserted");
    let files = exported(&notes);
    let expected = [
        "%32026-03-02.md",
        "Log/",
        "Log/%32026-03-01.md",
        "daily notes/",
        "daily notes/2026-03-01.md",
    ];
    assert_eq!(files.keys().collect::<Vec<_>>(), expected);
    let again = imported_again(&files);
    assert!(
        again
            .fetch_markdown(leafbase::Fetch::day(day))
            .expect("the note")
            .contains("the true note")
    );
    let mut titles: Vec<_> =
        again.documents().expect("documents").iter().map(|found| found.title.clone()).collect();
    titles.sort();
    assert_eq!(titles, ["2026-03-01", "2026-03-02", "Sunday, 1 March 2026"]);
    same_again(&files);
}

#[test]
fn a_link_finds_a_document_titled_like_a_day() {
    let (notes, report) =
        of_files(&[("A.md", b"[[2026-03-01]]\n"), ("Log/%32026-03-01.md", b"x\n")]);
    assert_eq!((report.links, report.documents), (1, 2));
    let files = exported(&notes);
    assert_eq!(file(&files, "A.md"), "[2026-03-01](Log/%2532026-03-01.md)\n");
    same_again(&files);
}

#[test]
fn an_empty_first_item_is_no_difference_between_export_and_import() {
    let text = "## Ingredients\n\n- \n\n## Directions\n\n- \n- Stir.\n";
    let (notes, report) = of_files(&[("Recipe.md", text.as_bytes())]);
    let told: Vec<_> = report.warnings.iter().map(|warning| warning.kind).collect();
    assert_eq!(told, [VaultWarningKind::EmptyFirstItem; 2]);
    let (files, report) = exported_with_report(&notes);
    assert_eq!((file(&files, "Recipe.md").as_str(), report.warnings), (text, Vec::new()));
}
