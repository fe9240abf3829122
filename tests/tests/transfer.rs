//! Folders of markdown files go in and come out again.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use leafbase::{
    Block, BlockData, BlockDraft, BlockKind, CodeLanguage, Connection, Destination, ErrorKind,
    Fetch, FolderId, Limits, Position, Progress, Space,
};
use leafbase_vault::{
    ExportOptions, ImportOptions, ImportReport, LinkStyle, MemorySource, VaultWarningKind,
    export_folder, import_folder, import_from,
};

#[path = "transfer/again.rs"]
mod again;
#[path = "transfer/files.rs"]
mod files;
#[path = "transfer/meanwhile.rs"]
mod meanwhile;
#[path = "transfer/references.rs"]
mod references;

fn on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A space in memory with these files in it.
fn imported<const N: usize>(files: [(&str, &str); N]) -> (Connection, ImportReport) {
    let notes = Space::in_memory().expect("a space").connect();
    let report =
        import_from(&notes, &mut MemorySource::from_iter(files), &ImportOptions::new(), &mut on);
    (notes, report.expect("imported"))
}

/// Everything below a directory; directories end with a slash.
type Files = BTreeMap<String, Vec<u8>>;

fn files_below(top: &Path) -> Files {
    let (mut files, mut waiting) = (Files::new(), vec![PathBuf::new()]);
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(top.join(&directory)).expect("a directory") {
            let path = directory.join(entry.expect("an entry").file_name());
            let name = path.to_str().expect("UTF-8").to_owned();
            if top.join(&path).is_dir() {
                files.insert(format!("{name}/"), Vec::new());
                waiting.push(path);
            } else {
                files.insert(name, fs::read(top.join(&path)).expect("a file"));
            }
        }
    }
    files
}

fn exported(notes: &Connection) -> Files {
    let directory = tempfile::tempdir().expect("a directory");
    // Links in one form, whatever form the files had.
    let options = ExportOptions::new().links(LinkStyle::Relative);
    export_folder(notes, directory.path(), &options, &mut on).expect("exported");
    files_below(directory.path())
}

fn file(files: &Files, path: &str) -> String {
    let bytes = files.get(path).unwrap_or_else(|| panic!("no {path} among {:?}", files.keys()));
    String::from_utf8(bytes.clone()).expect("UTF-8")
}

/// What a space of these files exports, after making sure that another round changes nothing.
fn round<const N: usize>(given: [(&str, &str); N]) -> (Files, ImportReport) {
    let (notes, report) = imported(given);
    let files = exported(&notes);
    same_again(&files);
    (files, report)
}

/// Imports the files of an export and exports them again: the same, to the byte.
fn same_again(files: &Files) {
    let directory = tempfile::tempdir().expect("a directory");
    write_below(directory.path(), files);
    let notes = Space::in_memory().expect("a space").connect();
    import_folder(&notes, directory.path(), &ImportOptions::new(), &mut on).expect("imported");
    assert_same(files, &exported(&notes));
}

fn write_below(top: &Path, files: &Files) {
    for (path, bytes) in files {
        if path.ends_with('/') {
            fs::create_dir_all(top.join(path)).expect("a directory");
        } else {
            fs::create_dir_all(top.join(path).parent().expect("a parent")).expect("a directory");
            fs::write(top.join(path), bytes).expect("written");
        }
    }
}

fn assert_same(one: &Files, other: &Files) {
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>(), "the same paths");
    let differing: Vec<_> = one.keys().filter(|path| one[*path] != other[*path]).collect();
    if let Some(path) = differing.first() {
        let (one, other) = (file(one, path), file(other, path));
        let lines =
            one.lines().zip(other.lines()).enumerate().find(|(_, (one, other))| one != other);
        panic!("{} files differ: {differing:?}\nthe first in {lines:?}", differing.len());
    }
}

fn kinds(report: &ImportReport) -> Vec<(VaultWarningKind, Option<usize>)> {
    report.warnings.iter().map(|warning| (warning.kind, warning.line)).collect()
}

fn blocks(notes: &Connection, title: &str) -> Vec<Block> {
    let documents = notes.documents().expect("documents").0;
    let document = documents
        .iter()
        .find(|document| document.title == title)
        .expect("a document of this title");
    notes.fetch(Fetch::new(document.id())).expect("blocks").children().to_vec()
}

#[test]
fn the_sample_notes_come_out_and_in_unchanged() {
    let notes = Space::in_memory().expect("a space").connect();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/vault/examples/tour/notes");
    let report = import_folder(&notes, sample, &ImportOptions::new(), &mut on).expect("imported");
    assert_eq!((report.documents, report.folders, report.canceled), (13, 3, false));
    assert_eq!(report.skipped, []);
    let files = exported(&notes);
    same_again(&files);
    assert_eq!(files.len(), 17);
    let text = |path: &str| file(&files, path);
    assert!(text("Start here.md").contains("[Trip to Lisbon](Lisbon/Trip%20to%20Lisbon.md)"));
    assert!(
        text("Start here.md")
            .contains("[feeding the starter](Kitchen/Sourdough%20starter.md#feeding)")
    );
    assert!(text("Start here.md").contains("[[Porto]]"));
    assert!(
        text("Lisbon/Trip to Lisbon.md")
            .starts_with("---\ntags: [travel, spring]\nwith: Ana\n---\n\n# Trip")
    );
    assert!(text("Lisbon/Day plan.md").contains("[the tram](Tram%2028.md)"));
    assert!(text("Kitchen/豆腐汤.md").contains("[水的分量](Measures.md#water)"));
}

#[test]
fn every_kind_of_link_leads_to_its_block() {
    let (notes, report) = imported([
        (
            "a/From.md",
            "See [[To]], [[To|an alias]], [[To#Part Two]], [[b/To]], [[#Own]] and [rel](../b/To.md#part-two).\n\n# Own\n",
        ),
        ("b/To.md", "# Part One\n\n# Part Two\n\ntext ^named\n"),
        ("c/Named.md", "[[to#^named]] and [x](../b/To.md#^1), `[[To]]`, \\[[To]], [[From]].\n"),
    ]);
    assert_eq!(kinds(&report), []);
    assert_eq!(report.links, 9);
    let to = blocks(&notes, "To");
    let from = blocks(&notes, "From");
    let document = |title: &str| {
        let documents = notes.documents().expect("documents").0;
        documents.iter().find(|document| document.title == title).expect("a document").id()
    };
    let (to_id, part_one, part_two, named, own) =
        (document("To"), to[0].id, to[1].id, to[2].id, from[1].id);
    assert_eq!(
        from[0].data.inline,
        format!(
            "See [To](block://{to_id}), [an alias](block://{to_id}), [To#Part Two](block://{part_two}), \
             [b/To](block://{to_id}), [Own](block://{own}) and [rel](block://{part_two})."
        )
    );
    assert_eq!(
        blocks(&notes, "Named")[0].data.inline,
        format!(
            "[to#^named](block://{named}) and [x](block://{part_one}), `[[To]]`, \\[[To]], [From](block://{}).",
            document("From")
        )
    );
    let files = exported(&notes);
    same_again(&files);
    assert_eq!(
        file(&files, "a/From.md"),
        "See [To](../b/To.md), [an alias](../b/To.md), [To#Part Two](../b/To.md#part-two), [b/To](../b/To.md), \
         [Own](#own) and [rel](../b/To.md#part-two).\n\n# Own\n"
    );
    assert_eq!(
        file(&files, "c/Named.md"),
        "[to#^named](../b/To.md#^named) and [x](../b/To.md#part-one), `[[To]]`, \\[[To]], [From](../a/From.md).\n"
    );
}

/// Links to headings need no second write: each document is one change with its first revisions,
/// as long as those of other files are held in memory.
#[test]
fn links_to_headings_are_written_at_once() {
    let note = "[down](#end), [[#End]], [here](Note.md#^3)\n\n# End\n\nlast\n";
    let long = format!("[[Note#End]]\n\n{}", "- x\n".repeat(20_000));
    let forth = "[[Other#Back]]\n\n# Back\n";
    for (other, links, rev) in
        [("alone\n", 0, 1), ("[[Note#End]]\n", 1, 1), (&long, 1, 2), (forth, 1, 1)]
    {
        let files = [("Note.md", note), ("Other.md", other), ("Third.md", "[[Other#Back]]\n")];
        let (notes, report) = imported(files);
        let missing = usize::from(other != forth);
        assert_eq!((kinds(&report).len(), report.links), (missing, 4 + links), "{other:.20}");
        let [contents, end, last] = <[Block; 3]>::try_from(blocks(&notes, "Note")).expect("three");
        let [down, wiki, here] = [end.id, end.id, last.id].map(|id| format!("(block://{id})"));
        let expected = format!("[down]{down}, [End]{wiki}, [here]{here}");
        assert_eq!((contents.data.inline, contents.rev), (expected, 1));
        let other_blocks = blocks(&notes, "Other");
        assert_eq!(other_blocks[0].rev, rev);
        let of_note = || format!("[Note\\#End](block://{})", end.id);
        let third = &blocks(&notes, "Third")[0];
        assert_eq!(third.rev, 1);
        if other == forth {
            let back = other_blocks[1].id;
            assert!(third.data.inline.ends_with(&format!("(block://{back})")), "{third:?}");
        } else if links > 0 {
            let (found, expected) = (&other_blocks[0].data.inline, of_note());
            assert!(found.ends_with(&expected[expected.len() - 37..]), "{found}");
        }
        assert!(notes.space().check().expect("checked").problems.is_empty());
    }
}

/// A warning names some of the files that a link may lead to, however many have the name.
#[test]
fn an_ambiguous_link_names_ten_files() {
    let paths: Vec<String> = (10..22).map(|number| format!("{number}/Index.md")).collect();
    let files = paths.iter().map(|path| (path.as_str(), "")).chain([("A.md", "[[Index]]\n")]);
    let notes = Space::in_memory().expect("a space").connect();
    let source = &mut MemorySource::from_iter(files);
    let report = import_from(&notes, source, &ImportOptions::new(), &mut on).expect("imported");
    let [warning] = &*report.warnings else { panic!("one warning, not {:?}", report.warnings) };
    let named = paths[..10].join(", ");
    let expected = format!("[[Index]] leads to 10/Index.md; it could be any of {named} and 2 more");
    assert_eq!((warning.kind, &warning.message), (VaultWarningKind::AmbiguousLink, &expected));
}

/// A link finds a file whose name is in another Unicode composition, and is written as it was.
#[test]
fn a_relative_link_finds_a_name_in_another_composition() {
    let text = "[n](%C3%A9.md) ![p](e\u{301}.png)\n";
    let files = [("A.md", text), ("e\u{301}.md", "x\n"), ("\u{e9}.png", "p")];
    let (notes, report) = imported(files);
    assert_eq!((kinds(&report), report.links, report.attachments), (vec![], 1, 1));
    let directory = tempfile::tempdir().expect("a directory");
    export_folder(&notes, directory.path(), &ExportOptions::new(), &mut on).expect("exported");
    assert_eq!(file(&files_below(directory.path()), "A.md"), text);
}

#[test]
fn links_alone_in_a_paragraph_and_in_tables_are_links_too() {
    let (files, report) = round([
        (
            "A.md",
            "[[B]]\n\n[to b](B.md)\n\n| x | y |\n| --- | --- |\n| [[B\\|alias]] | [[B]] |\n\n- [[B]]\n",
        ),
        ("B.md", "b\n"),
    ]);
    assert_eq!((kinds(&report), report.links), (vec![], 5));
    assert_eq!(
        file(&files, "A.md"),
        "[B](B.md)\n\n[to b](B.md)\n\n| x | y |\n| --- | --- |\n| [alias](B.md) | [B](B.md) |\n\n- [B](B.md)\n"
    );
    let (notes, _) = imported([("A.md", "[[B]]\n"), ("B.md", "b\n")]);
    let parsed = leafbase_markdown::parse(
        &notes.fetch_markdown(Fetch::new(blocks(&notes, "A")[0].id)).expect("markdown"),
        &leafbase_markdown::ParseOptions::default(),
    );
    assert_eq!(parsed.expect("parsed").blocks[0].data.kind, blocks(&notes, "A")[0].data.kind);
}

#[test]
fn wiki_links_within_other_links_and_in_comments_stay() {
    let (files, report) = round([
        (
            "A.md",
            "a [words]([[B]]), [see [[B]] here](https://x.example), <!-- [[B]] --> and [[B]]: said\n\n[[B]]: B\n",
        ),
        ("B.md", "b\n"),
    ]);
    assert_eq!(
        (kinds(&report), report.links),
        (vec![(VaultWarningKind::UnresolvedLink, Some(1))], 3)
    );
    assert_eq!(
        file(&files, "A.md"),
        "a [words](B.md), [see [[B]] here](https://x.example), <!-- [[B]] --> and [B](B.md): said\n\n[B](B.md): B\n"
    );
}

#[test]
fn built_in_locations_are_written_as_directories() {
    let notes = Space::in_memory().expect("a space").connect();
    let day = "2026-02-03".parse::<leafbase::Day>().expect("a day");
    notes.insert_markdown("woke early", Position::end_of_day(day)).expect("inserted");
    let template = BlockDraft::new(BlockData::page("Letter"));
    notes.create_document_of(template, Destination::Templates).expect("made");
    notes.create_folder("templates", None).expect("made");
    let directory = tempfile::tempdir().expect("a directory");
    let report =
        export_folder(&notes, directory.path(), &ExportOptions::new(), &mut on).expect("exported");
    let files = files_below(directory.path());
    let expected = [
        "daily notes/",
        "daily notes/2026-02-03.md",
        "templates 2/",
        "templates 2/Letter.md",
        "templates/",
    ];
    assert_eq!(files.keys().collect::<Vec<_>>(), expected);
    let kinds: Vec<_> = report.warnings.iter().map(|warning| warning.kind).collect();
    assert_eq!(kinds, [VaultWarningKind::Location], "daily notes come back as such");
    same_again(&files);
}

#[test]
fn files_named_by_a_day_are_daily_notes() {
    let (notes, report) = imported([
        ("journal/2026-02-03.md", "woke early, see [Plan](../plans/Plan.md)\n"),
        ("journal/2026-02-04.md", "slept in\n"),
        ("plans/Plan.md", "see [[2026-02-04]]\n"),
        ("plans/2026-02-03.md", "the same day again\n"),
    ]);
    let day =
        |day: &str| notes.fetch_markdown(Fetch::day(day.parse::<leafbase::Day>().expect("a day")));
    assert!(day("2026-02-03").expect("a note").contains("woke early"));
    assert!(day("2026-02-04").expect("a note").contains("Wednesday, 4 February 2026"));
    assert_eq!(kinds(&report), [(VaultWarningKind::DailyNote, None)]);
    assert_eq!(
        (report.documents, report.folders, report.links),
        (4, 1, 2),
        "the journal needs no folder"
    );
    let files = exported(&notes);
    let expected = [
        "journal/",
        "journal/2026-02-03.md",
        "journal/2026-02-04.md",
        "plans/",
        "plans/2026-02-03.md",
        "plans/Plan.md",
    ];
    assert_eq!(files.keys().collect::<Vec<_>>(), expected);
    same_again(&files);
}

#[test]
fn a_day_that_has_a_note_keeps_it() {
    let notes = Space::in_memory().expect("a space").connect();
    let day = "2026-02-03".parse::<leafbase::Day>().expect("a day");
    notes.insert_markdown("mine", Position::end_of_day(day)).expect("inserted");
    let mut source = MemorySource::from_iter([("2026-02-03.md", "theirs")]);
    let report =
        import_from(&notes, &mut source, &ImportOptions::new(), &mut on).expect("imported");
    assert_eq!(kinds(&report), [(VaultWarningKind::DailyNote, None)]);
    assert_eq!(notes.documents().expect("documents").len(), 2);
    assert!(notes.fetch_markdown(Fetch::day(day)).expect("the note").contains("mine"));
}

#[test]
fn days_are_plain_names_if_the_host_says_so() {
    let notes = Space::in_memory().expect("a space").connect();
    let mut source = MemorySource::from_iter([("log/2026-02-03.md", "woke early")]);
    let options = ImportOptions::new().daily_notes(false);
    let report = import_from(&notes, &mut source, &options, &mut on).expect("imported");
    assert_eq!((kinds(&report), report.folders), (Vec::new(), 1));
    assert_eq!(notes.documents().expect("documents")[0].title, "2026-02-03");
}

#[test]
fn a_daily_note_of_another_title_is_told() {
    let notes = Space::in_memory().expect("a space").connect();
    let day = "2026-02-03".parse::<leafbase::Day>().expect("a day");
    notes.insert_markdown("woke early", Position::end_of_day(day)).expect("inserted");
    let root = notes.fetch(Fetch::day(day)).expect("the note").id;
    notes.update_markdown(root, "A fine day").expect("renamed");
    let directory = tempfile::tempdir().expect("a directory");
    let report =
        export_folder(&notes, directory.path(), &ExportOptions::new(), &mut on).expect("exported");
    let told: Vec<_> = report.warnings.iter().map(|warning| warning.kind).collect();
    assert_eq!(told, [VaultWarningKind::Title]);
}

/// The first bytes of a PNG, and something of its own.
fn png(content: &str) -> Vec<u8> {
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", content.as_bytes()].concat()
}

fn uploaded(notes: &Connection) -> Vec<(String, String, Vec<u8>)> {
    use std::io::Read;
    let mut found = BTreeMap::new();
    for document in notes.documents().expect("documents") {
        for (_, block) in notes.fetch(Fetch::new(document.id())).expect("fetched").walk() {
            let text = serde_json::to_string(block).expect("JSON");
            for (at, _) in text.match_indices("asset://") {
                let id = text[at + 8..].get(..26).expect("an ID").parse().expect("an ID");
                let record = notes.file(id).expect("a file");
                let mut bytes = Vec::new();
                notes.open_file(id).expect("a file").read_to_end(&mut bytes).expect("read");
                found.insert(record.id, (record.file_name, record.media_type, bytes));
            }
        }
    }
    found.into_values().collect()
}

#[test]
fn files_that_documents_show_come_in_and_go_out() {
    let words = "![the map](img/map.png)\n\nsee ![[map.png]] and [the *plan*](img/plan.pdf#page=2) or [plan](img/plan.pdf)\n\n[plan](img/plan.pdf)\n\n![](gone.png)\n\n`![](img/unused.png)`\n";
    let mut source = MemorySource::from_iter([
        ("trip/A.md", words.as_bytes().to_vec()),
        ("B.md", b"![](trip/img/map.png)\n".to_vec()),
        ("trip/img/map.png", png("map")),
        ("trip/img/plan.pdf", b"%PDF-1.7 plan".to_vec()),
        ("trip/img/unused.png", png("unused")),
    ]);
    let notes = Space::in_memory().expect("a space").connect();
    let report =
        import_from(&notes, &mut source, &ImportOptions::new(), &mut on).expect("imported");
    assert_eq!((report.documents, report.attachments), (2, 2));
    assert_eq!(kinds(&report), [(VaultWarningKind::Attachment, Some(7))]);
    let skipped: Vec<_> = report.skipped.iter().map(|skipped| skipped.path.as_str()).collect();
    assert_eq!(skipped, ["trip/img/unused.png"]);
    let mut files = uploaded(&notes);
    files.sort();
    assert_eq!(files[0], ("map.png".to_owned(), "image/png".to_owned(), png("map")));
    assert_eq!(
        files[1],
        ("plan.pdf".to_owned(), "application/pdf".to_owned(), b"%PDF-1.7 plan".to_vec())
    );
    let blocks = blocks(&notes, "A");
    assert!(matches!(blocks[0].data.kind, BlockKind::Image { .. }));
    assert!(matches!(blocks[2].data.kind, BlockKind::File { .. }), "{:?}", blocks[2]);
    assert!(notes.space().check().expect("checked").is_clean());
    let out = exported(&notes);
    assert_eq!(out["trip/img/map.png"], png("map"), "it stays where it was");
    assert!(file(&out, "trip/A.md").starts_with("![the map](img/map.png)"));
    assert!(file(&out, "trip/A.md").contains("![map.png](img/map.png)"));
    assert!(file(&out, "trip/A.md").contains("[the *plan*](img/plan.pdf#page=2)"));
    same_again(&out);
}

#[test]
fn files_of_one_name_stay_apart() {
    let mut source = MemorySource::from_iter([
        ("A.md", b"![](a/x.png) ![](b/x.png)\n".to_vec()),
        ("a/x.png", png("a")),
        ("b/x.png", png("b")),
    ]);
    let notes = Space::in_memory().expect("a space").connect();
    import_from(&notes, &mut source, &ImportOptions::new(), &mut on).expect("imported");
    let out = exported(&notes);
    assert_eq!((&out["a/x.png"], &out["b/x.png"]), (&png("a"), &png("b")));
    same_again(&out);
}

#[test]
fn files_that_are_too_large_or_not_wanted_stay_outside() {
    let files = [("A.md", b"![](x.png)\n".to_vec()), ("x.png", png("a long picture"))];
    let mut limits = leafbase::Limits::default();
    limits.upload = 20;
    let small = Space::builder().limits(limits).in_memory().expect("a space").connect();
    let large = Space::in_memory().expect("a space").connect();
    for (notes, options) in
        [(small, ImportOptions::new()), (large, ImportOptions::new().attachments(false))]
    {
        let report =
            import_from(&notes, &mut MemorySource::from_iter(files.clone()), &options, &mut on)
                .expect("imported");
        assert_eq!(
            (report.attachments, kinds(&report)),
            (0, vec![(VaultWarningKind::Attachment, Some(1))])
        );
        assert!(uploaded(&notes).is_empty());
        assert!(notes.space().check().expect("checked").is_clean());
        assert_eq!(file(&exported(&notes), "A.md"), "![](x.png)\n");
    }
}

#[test]
fn what_markdown_cannot_say_is_told() {
    let notes = Space::in_memory().expect("a space").connect();
    let document = notes.create_document("A").expect("made");
    let red = r##"{"blocks": [{"type": "text", "markdown": "x", "color": "#ff0000"}], "position": {"pageId": "ID"}}"##;
    let request =
        serde_json::from_str(&red.replace("ID", &document.id().to_string())).expect("a request");
    notes.insert_blocks(request).expect("inserted");
    let directory = tempfile::tempdir().expect("a directory");
    let report =
        export_folder(&notes, directory.path(), &ExportOptions::new(), &mut on).expect("exported");
    let [warning] = report.warnings.as_slice() else { panic!("{report:?}") };
    assert_eq!(warning.kind, VaultWarningKind::Appearance);
    assert_eq!(warning.message, "the color of \"x\" is not written");
}

#[test]
fn what_leads_nowhere_stays_and_is_told() {
    use VaultWarningKind as Kind;
    let text = "---\na: 1\n---\n\n[[Nowhere]] and ![[B]]\n\n[gone](gone.md) [B](B.md#gone) [[B#Gone]]\n\n![](pic.png)\n";
    let (files, report) = round([("A.md", text), ("B.md", "b\n")]);
    let expected = vec![
        (Kind::UnresolvedLink, Some(5)),
        (Kind::Embed, Some(5)),
        (Kind::UnresolvedPath, Some(7)),
        (Kind::MissingAnchor, Some(7)),
        (Kind::MissingAnchor, Some(7)),
        (Kind::Attachment, Some(9)),
    ];
    let mut found = kinds(&report);
    found.sort_by_key(|(kind, line)| (*line, *kind));
    let mut sorted = expected;
    sorted.sort_by_key(|(kind, line)| (*line, *kind));
    assert_eq!(found, sorted);
    assert_eq!(
        file(&files, "A.md"),
        "---\na: 1\n---\n\n[[Nowhere]] and ![[B]]\n\n[gone](gone.md) [B](B.md) [B#Gone](B.md)\n\n![](pic.png)\n"
    );
}

#[test]
fn of_several_files_of_a_name_the_nearest_is_meant_and_that_is_told() {
    let (files, report) = round([
        ("a/N.md", "a\n"),
        ("b/N.md", "b\n"),
        ("b/From.md", "see [[N]]\n"),
        ("From.md", "see [[n]]\n"),
    ]);
    assert_eq!(file(&files, "b/From.md"), "see [N](N.md)\n");
    assert_eq!(file(&files, "From.md"), "see [n](a/N.md)\n");
    let ambiguous = (VaultWarningKind::AmbiguousLink, Some(1));
    assert_eq!(kinds(&report), [ambiguous, ambiguous]);
    assert!(report.warnings[0].message.contains("a/N.md, b/N.md"), "{:?}", report.warnings);
}

#[test]
fn front_matter_is_the_first_block_and_keeps_its_bytes() {
    let front = "---\ntitle:  \"x: y\"   \nlist:\n- 1\n\n# a comment\n---\n";
    let text = format!("{front}\nBody\n");
    let empty = "---\n---\n";
    let (notes, report) = imported([
        ("A.md", text.as_str()),
        ("Empty.md", empty),
        ("Only.md", "---\n\nNo front matter\n\n---\n"),
    ]);
    let first = &blocks(&notes, "A")[0].data;
    let BlockKind::Code { language, language_tag, .. } = &first.kind else { panic!("{first:?}") };
    assert_eq!((*language, language_tag.as_str()), (CodeLanguage::Yaml, "yaml frontmatter"));
    assert!(report.warnings.iter().all(|warning| warning.kind == VaultWarningKind::Markdown));
    let files = exported(&notes);
    same_again(&files);
    assert_eq!(file(&files, "A.md"), text);
    assert_eq!(file(&files, "Empty.md"), empty);
    assert_eq!(file(&files, "Only.md"), "---\n\nNo front matter\n\n---\n");
}

#[test]
fn bytes_that_are_no_plain_text_are_told() {
    let notes = Space::in_memory().expect("a space").connect();
    let files: [(&str, &[u8]); 6] = [
        ("Bom.md", b"\xef\xbb\xbfone\r\n\r\ntwo\r\n"),
        ("Latin.md", b"caf\xe9"),
        ("pic.png", b"\x89PNG"),
        (".obsidian/x.md", b"x"),
        ("To latin.md", b"[[Latin]] and [[Latin#x|y]] and [[Zed]]\n"),
        ("Zed.md", b"\n"),
    ];
    let report =
        import_from(&notes, &mut MemorySource::from_iter(files), &ImportOptions::new(), &mut on)
            .expect("imported");
    assert_eq!((report.documents, report.folders), (3, 0));
    let skipped: Vec<_> =
        report.skipped.iter().map(|entry| (entry.path.as_str(), entry.reason.as_str())).collect();
    assert_eq!(
        skipped,
        [
            (".obsidian/x.md", "hidden"),
            ("Latin.md", "it is not UTF-8"),
            ("pic.png", "not markdown, and no document shows it")
        ]
    );
    use VaultWarningKind as Kind;
    let unresolved = (Kind::UnresolvedLink, Some(1));
    assert_eq!(kinds(&report), [unresolved, unresolved]);
    assert_eq!(file(&exported(&notes), "Bom.md"), "\u{feff}one\r\n\r\ntwo\r\n");
}

#[test]
fn any_title_makes_a_file_and_comes_back() {
    let notes = Space::in_memory().expect("a space").connect();
    for title in ["a/b", "..", "CON", "x", "X", "x", "ends.", r"star\*", "", "100%25", "**bold**"] {
        notes.create_document(title).expect("made");
    }
    let deep = notes.create_folder("a:b", None).expect("made");
    notes.create_folder("empty", Some(deep.id)).expect("made");
    let page = BlockDraft::new(BlockData::page("in it"));
    notes.create_document_of(page, deep.id).expect("made");
    let files = exported(&notes);
    let paths: Vec<_> = files.keys().map(String::as_str).collect();
    let expected = [
        "%2E%2E.md",
        "%43ON.md",
        "100%2525.md",
        "Untitled.md",
        "X.md",
        "a%2Fb.md",
        "a%3Ab/",
        "a%3Ab/empty/",
        "a%3Ab/in it.md",
        "bold.md",
        "ends%2E.md",
        "star%2A.md",
        "x 2.md",
        "x 3.md",
    ];
    assert_eq!(paths, expected);
    same_again(&files);
}

#[test]
fn links_to_names_that_are_escaped_hold() {
    let notes = Space::in_memory().expect("a space").connect();
    let target = notes.create_document("50% (a/b)").expect("made");
    let from = notes.create_document("from").expect("made");
    notes
        .insert_markdown(&format!("see [it](block://{})", target.id()), Position::end_of(from.id()))
        .expect("inserted");
    let files = exported(&notes);
    assert_eq!(file(&files, "from.md"), "see [it](50%25%20%28a%252Fb%29.md)\n");
    same_again(&files);
}

#[test]
fn a_canceled_import_leaves_whole_documents_and_no_dangling_links() {
    let notes = Space::in_memory().expect("a space").connect();
    let mut source = MemorySource::from_iter([
        ("A.md", "[[B]] [[C#x]]\n\n[[C]]\n"),
        ("B.md", "b\n"),
        ("C.md", "# x\n"),
    ]);
    let stop = &mut |progress: Progress| {
        if progress.done == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let report = import_from(&notes, &mut source, &ImportOptions::new(), stop).expect("imported");
    assert!(report.canceled);
    assert_eq!(report.documents, 2);
    let files = exported(&notes);
    assert_eq!(file(&files, "A.md"), "[B](B.md) [C#x](C.md#x)\n\n[C](C.md)\n");
    assert!(notes.space().check().expect("checked").problems.is_empty());
}

#[test]
fn an_import_tells_how_it_settles_links_and_may_be_canceled_then() {
    let files = [("A.md", "[[B#b]] [[C#c]]\n"), ("B.md", "x\n\n# b\n"), ("C.md", "x\n\n# c\n")];
    for (last, canceled, expected) in [
        (7, false, "[B#b](B.md#b) [C#c](C.md#c)\n"),
        (4, true, "[B#b](B.md#b) [C#c](C.md)\n"),
        (5, false, "[B#b](B.md#b) [C#c](C.md#c)\n"),
    ] {
        let notes = Space::in_memory().expect("a space").connect();
        let mut told = Vec::new();
        let mut stop = |progress: Progress| {
            told.push((progress.done, progress.total));
            if progress.done == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let report = import_from(
            &notes,
            &mut MemorySource::from_iter(files),
            &ImportOptions::new(),
            &mut stop,
        );
        let report = report.expect("imported");
        assert_eq!((report.canceled, report.documents), (canceled, 3));
        let missing =
            if canceled { vec![(VaultWarningKind::MissingAnchor, Some(1))] } else { vec![] };
        assert_eq!(kinds(&report), missing);
        let all = [(1, 3), (2, 3), (3, 3), (4, 5), (5, 5)].map(|(done, total)| (done, Some(total)));
        assert_eq!(told, all[..usize::try_from(last.min(5)).expect("a number")]);
        assert_eq!(file(&exported(&notes), "A.md"), expected);
    }
}

#[test]
fn names_that_differ_only_in_how_letters_are_composed_stay_two_files() {
    let notes = Space::in_memory().expect("a space").connect();
    for title in ["caf\u{e9}", "cafe\u{301}"] {
        notes.create_document(title).expect("made");
    }
    let files = exported(&notes);
    assert_eq!(files.keys().collect::<Vec<_>>(), ["cafe\u{301}.md", "caf\u{e9} 2.md"]);
    same_again(&files);
    let (files, report) = round([("From.md", "[[caf\u{e9}]]\n"), ("cafe\u{301}.md", "x\n")]);
    assert_eq!((kinds(&report), report.links), (vec![], 1));
    assert_eq!(file(&files, "From.md"), "[caf\u{e9}](cafe\u{301}.md)\n");
}

#[test]
fn a_wiki_link_takes_the_file_of_its_own_case_first() {
    let (files, report) =
        round([("From.md", "[[Note]] [[NOTE]]\n"), ("NOTE.MD", "one\n"), ("Note.md", "two\n")]);
    assert_eq!(report.links, 2);
    let text = file(&files, "From.md");
    let name_of = |words: &str| {
        files
            .iter()
            .find(|(_, bytes)| **bytes == format!("{words}\n").into_bytes())
            .expect("a file")
            .0
            .replace(' ', "%20")
    };
    assert_eq!(text, format!("[Note]({}) [NOTE]({})\n", name_of("two"), name_of("one")));
}

#[test]
fn prose_between_separators_is_no_front_matter() {
    let (files, report) = round([
        ("A.md", "---\n# Heading text\n\nsome **words** with [[B]]\n\n---\n\nmore\n"),
        ("B.md", "b\n"),
    ]);
    assert_eq!((kinds(&report), report.links), (vec![], 1));
    assert_eq!(
        file(&files, "A.md"),
        "---\n# Heading text\n\nsome **words** with [B](B.md)\n\n---\n\nmore\n"
    );
}

#[test]
fn links_that_cannot_be_taken_in_are_told() {
    use VaultWarningKind as Kind;
    let text = "[q](B.md?x=1) ![p](p.png?raw) <a href=\"B.md\">b</a> `<a href=\"B.md\">`\n\n\
                <img src='p.png'> <a href=\"https://x.example\">x</a>\n";
    let (files, report) = round([("A.md", text), ("B.md", "b\n")]);
    let mut found = kinds(&report);
    found.sort_by_key(|(kind, line)| (*line, *kind));
    let (path, attachment) = (Kind::UnresolvedPath, Kind::Attachment);
    assert_eq!(found, [(path, Some(1)), (attachment, Some(1)), (attachment, Some(3))]);
    assert_eq!(file(&files, "A.md"), text);
}

#[test]
fn names_that_lose_white_space_are_told() {
    let (files, report) = round([
        (" lead.md", "1\n"),
        ("new\nline.md", "2\n"),
        ("plain.md", "3\n"),
        ("trail .md", "4\n"),
    ]);
    assert_eq!(kinds(&report), [(VaultWarningKind::Title, None); 3]);
    assert_eq!(report.warnings[1].message, "the title of \"new\\nline\" is \"new line\"");
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        [" lead.md", "new\nline.md", "plain.md", "trail .md"]
    );
}

#[test]
fn a_link_too_long_for_a_block_stays_text() {
    let url = format!("https://x.example/{}", "a".repeat(11_000));
    let text = format!("# A\n\n<{url}>\n\nend\n");
    let (files, report) = round([("A.md", text.as_str())]);
    assert_eq!(kinds(&report), [(VaultWarningKind::Markdown, Some(3))]);
    assert!(
        file(&files, "A.md").starts_with(&format!("# A\n\n<{url}>")),
        "{}",
        &file(&files, "A.md")[..20]
    );
}

#[test]
fn a_canceled_export_says_so() {
    let (notes, _) = imported([("A.md", "a\n"), ("B.md", "b\n")]);
    let directory = tempfile::tempdir().expect("a directory");
    let report = export_folder(&notes, directory.path(), &ExportOptions::new(), &mut |_| {
        ControlFlow::Break(())
    });
    let report = report.expect("exported");
    assert_eq!((report.canceled, report.documents), (true, 1));
    assert_eq!(files_below(directory.path()).len(), 1);
}

#[test]
fn an_export_goes_only_where_it_may() {
    let (notes, _) = imported([("a/A.md", "a\n"), ("B.md", "b\n")]);
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("mine.txt"), "mine").expect("written");
    let refused = export_folder(&notes, directory.path(), &ExportOptions::new(), &mut on)
        .expect_err("it is not empty");
    assert_eq!(refused.kind(), ErrorKind::Validation);
    let into_existing = ExportOptions::new().into_existing(true);
    for _ in 0..2 {
        export_folder(&notes, directory.path(), &into_existing, &mut on).expect("exported");
    }
    let files = files_below(directory.path());
    assert_eq!(files.keys().collect::<Vec<_>>(), ["B.md", "a/", "a/A.md", "mine.txt"]);
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_followed_neither_in_nor_out() {
    let (outside, directory) =
        (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    std::os::unix::fs::symlink(outside.path(), directory.path().join("a")).expect("linked");
    let (notes, _) = imported([("a/A.md", "a\n")]);
    let into_existing = ExportOptions::new().into_existing(true);
    export_folder(&notes, directory.path(), &into_existing, &mut on)
        .expect_err("the directory is a link");
    assert_eq!(files_below(outside.path()).len(), 0);
    fs::write(outside.path().join("B.md"), "b\n").expect("written");
    let report =
        import_folder(&notes, directory.path(), &ImportOptions::new(), &mut on).expect("imported");
    assert_eq!((report.documents, report.skipped[0].reason.as_str()), (0, "a symbolic link"));
}

#[test]
fn an_import_can_go_into_a_folder() {
    let notes = Space::in_memory().expect("a space").connect();
    let folder = notes.create_folder("Archive", None).expect("made").id;
    let mut source = MemorySource::from_iter([("A.md", "a\n"), ("sub/B.md", "b\n")]);
    import_from(&notes, &mut source, &ImportOptions::new().into_folder(folder), &mut on)
        .expect("imported");
    let files = exported(&notes);
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        ["Archive/", "Archive/A.md", "Archive/sub/", "Archive/sub/B.md"]
    );
    let nowhere = ImportOptions::new().into_folder(FolderId::NIL);
    let error = import_from(&notes, &mut source, &nowhere, &mut on).expect_err("no such folder");
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn a_missing_directory_is_not_found() {
    let notes = Space::in_memory().expect("a space").connect();
    let error = import_folder(&notes, "/no/such/directory", &ImportOptions::new(), &mut on)
        .expect_err("not there");
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn links_to_blocks_of_nested_pages_come_back() {
    let (files, report) = round([
        (
            "A.md",
            "<page>\n<pageTitle>P</pageTitle>\n<content>\n\nfirst\n\n## Deep\n\n</content>\n</page>\n\nlast\n",
        ),
        ("B.md", "[x](A.md#^1) [y](A.md#^2) [z](A.md#deep) [w](A.md#^4)\n"),
    ]);
    assert_eq!(kinds(&report), []);
    assert_eq!(file(&files, "B.md"), "[x](A.md#^1) [y](A.md#^2) [z](A.md#deep) [w](A.md#^4)\n");
}

#[test]
fn what_the_parser_refuses_is_kept_as_code() {
    let text = format!("# A\n\n{} ```\n", "x".repeat(Limits::default().block_text));
    let (files, report) = round([("A.md", text.as_str())]);
    assert_eq!(kinds(&report), [(VaultWarningKind::KeptAsCode, None)]);
    assert!(file(&files, "A.md") == text, "it is written as it was");
}

const NAMES: [&str; 16] = [
    "A", "b c", "x_y*z*", "50%", "%41", "CON", "é", "笔记", "a.b", "(p)", "[q]", "#h", "a&b",
    "~x~", "a`b", "A 2",
];

/// `N` and `M` stand for names.
const PIECES: [&str; 44] = [
    "[[N]]",
    "[[N|a*b*]]",
    "[[N#H|x]y]]",
    "[[N#^2]]",
    "[[#H]]",
    "![[N]]",
    "[x](<N.md>)",
    "[x](<../M/N.md#h>)",
    "[x](<M/N.md#h-1>)",
    "[x]([[N]])",
    "# H",
    "# H [[N]]",
    "### `H`",
    "text ^2",
    "`[[N]]` [[M]]",
    "| a | [[N]] |\n| --- | --- |\n| [[N\\|b]] | `\\|` |",
    "> [[N]]\n> [x](<N.md>)",
    "- [[N]]\n  - [[M]] x",
    "[[N]]: x",
    "[[N]](y)",
    "[[[N]]]",
    "---",
    "---\na: b\n---",
    "***",
    "1. [[N]]",
    "- [ ] [[N]]",
    "- [x] [x](<N.md>)",
    "-\n- [[N]]",
    "<callout>[[N]]</callout>",
    "<page>\n<pageTitle>[[N]]</pageTitle>\n<content>\n\n[[M#H]]\n\n</content>\n</page>",
    "$$\n[[N]]\n$$",
    "```\n[[N]]\n```",
    "[N]: <M.md>",
    "[see][N] and [N]",
    "<!-- [[N]] -->",
    "\\[[N]] and ![a](<N.md>)",
    "**[[N]]** and *[[M|*]]",
    "hard  \nbreak [[N]]\n[[M]]",
    "<caption>[[N]]</caption>",
    "<highlight>[[N]]</highlight>",
    "[a [[N]] b](<M.md>)",
    "[[N]] [[M]]",
    "[[N|![a](b)]]",
    "![N](<M.md>)",
];

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(96))]

    #[test]
    fn whatever_is_imported_the_second_export_is_the_first(
        files in proptest::collection::vec(
            (0..3_usize, 0..NAMES.len(), 0..NAMES.len(), proptest::collection::vec((0..PIECES.len(), 0..NAMES.len(), 0..NAMES.len()), 0..7)),
            1..8,
        ),
    ) {
        let source: MemorySource = files.iter().map(|(depth, directory, name, pieces)| {
            let directory = format!("{}/", NAMES[*directory]).repeat(*depth);
            let piece = |(piece, name, other): &(usize, usize, usize)| {
                PIECES[*piece].replace('N', NAMES[*name]).replace('M', NAMES[*other])
            };
            let text: Vec<_> = pieces.iter().map(piece).collect();
            (format!("{directory}{}.md", NAMES[*name]), text.join("\n\n"))
        }).collect();
        let notes = Space::in_memory().expect("a space").connect();
        import_from(&notes, &mut source.clone(), &ImportOptions::new(), &mut on).expect("imported");
        proptest::prop_assert!(notes.space().check().expect("checked").is_clean());
        same_again(&exported(&notes));
    }
}

/// The corpus stands beside the project in its development checkouts, and is not part of it.
#[test]
fn a_corpus_of_real_notes_comes_out_and_in_unchanged() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    if !corpus.is_dir() {
        eprintln!("skipped: there is no corpus at {}", corpus.display());
        return;
    }
    let markdown = files_below(&corpus).keys().filter(|path| path.ends_with(".md")).count();
    let directory = tempfile::tempdir().expect("a directory");
    let space = Space::create(directory.path().join("corpus.leafbase")).expect("a space");
    let notes = space.connect();
    let report = import_folder(&notes, &corpus, &ImportOptions::new(), &mut on).expect("imported");
    assert_eq!(report.documents, u64::try_from(markdown).expect("a count"));
    assert!(
        report.skipped.iter().all(|skipped| skipped.reason.starts_with("not markdown")),
        "{:?}",
        report.skipped
    );
    assert_eq!(space.check().expect("checked").problems.len(), 0);
    same_again(&exported(&notes));
}
