//! Files that come in and go out again as they were: constructs as rows, and the files of a corpus
//! beside the project.

#[path = "fidelity/shown.rs"]
mod shown;

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use leafbase::{
    ApplyMarkdown, BlockData, BlockDraft, DeleteDocuments, Fetch, FindDocuments, Position,
    Progress, PurgeDocuments, Space,
};
use leafbase_vault::{
    ExportOptions, ImportOptions, LinkStyle, MemorySource, TaskDates, VaultWarningKind,
    export_folder, import_from,
};

fn on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

type Files = BTreeMap<String, Vec<u8>>;

fn files_below(top: &Path) -> Files {
    let (mut files, mut waiting) = (Files::new(), vec![PathBuf::new()]);
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(top.join(&directory)).unwrap() {
            let path = directory.join(entry.unwrap().file_name());
            if top.join(&path).is_dir() {
                waiting.push(path);
            } else {
                let bytes = fs::read(top.join(&path)).unwrap();
                files.insert(path.to_string_lossy().into_owned(), bytes);
            }
        }
    }
    files
}

/// What an export of these files has.
fn round(files: impl IntoIterator<Item = (String, Vec<u8>)>, style: LinkStyle) -> Files {
    let notes = Space::in_memory().unwrap().connect();
    let source = &mut MemorySource::from_iter(files);
    import_from(&notes, source, &ImportOptions::new(), &mut on).unwrap();
    let directory = tempfile::tempdir().unwrap();
    export_folder(&notes, directory.path(), &ExportOptions::new().links(style), &mut on).unwrap();
    files_below(directory.path())
}

/// Files beside `Target.md`, as they come in and go out.
const KEPT: &[&str] = &[
    "---\ntitle: x\n---\n\ntext\n",
    // As plugins of applications write it.
    "---\n\nkanban-plugin: basic\n\n---\n\n## Backlog\n\n- [ ] one\n",
    "---\n\n\ntags: [a]\n---\n",
    // No front matter.
    "*****\n\nwords\n\n*****\n",
    // Footnotes, and text that begins as a definition does, beside a file of that name.
    "a[^3]\n\n[^3]: Target is a page\n",
    "[TODO]: Target the words\n",
    "[^Target]: Target\n",
    "[a][b]\n\n[b]: Target.md\n",
    "<details>\n<summary>more</summary>\n\ntext\n\n</details>\n",
    "a ==marked== %%comment%% #tag\n",
    // Of a color that no highlight has.
    "a <highlight color=\"orange\">b</highlight>\n\n- [ ] <highlight color='x'>[[Target]]\n",
    "# <highlight color=x>b\n\n| <highlight color=x>b |\n| --- |\n\n`<highlight color=x>`\n",
    "$$\nx^2\n$$\n",
    "$$x^2$$\n",
    "- $$x^2$$\n",
    // Raw HTML with an end of its own, blank lines included.
    "<pre>\n  a\n\n    b\n</pre>\n",
    "<script>\nlet a;\n\n\tlet b;\n</script>\n",
    "<style>\n\n***\n\n</style>\n",
    "<!--\n\nhttps://e.example\n\n- gone\n-->\n",
    "> <?php\n>\n> echo 1;\n>\n> ?>\n",
    "- <![CDATA[\n\n  - a\n\n  ]]>\n",
    "a[^1]\n\n[^1]: one\n\n    two\n\n    - three\n",
    "[foo]: /url\n===\n[foo]\n",
    "<a href=\"Target.md\">t</a> <img src=\"gone.png\" width=9>\n",
    // As Logseq writes it: nothing else is a link there.
    "{{query (and [[Target]] [[Nowhere]])}}\n",
    "- {{embed [[Target]]}}\n",
    "- #[[Target]] and #[[two words]]\n",
    "tags:: [[Target]], [[Nowhere]]\n[[Target|t]] ![[Target]]\n",
    "[t](Target.md) and [Target](Target.md)\n",
    "[[Target|t]] and [t](Target.md), [t](Target.md) and [[Target|t]]\n",
    "| [[Target\\|t]] | [t](Target.md) |\n| --- | --- |\n| [t](Target.md) | [[Target\\|t]] |\n",
    // Files that are not pictures.
    "![d](doc.pdf)\n",
    "![](doc.pdf)\n",
    "- ![d](<doc.pdf>)\n",
    "[d](doc.pdf)\n",
    "![[doc.pdf]]\n",
    "a ![d](doc.pdf) b\n",
    // Quotes, numbers, markers, underlines, lines.
    "> [!note] A\n> a\n\n> [!warning] B\n> > b\n",
    "1. a\n\nWait.\n\n2. b\n10) c\n",
    "A\n=\n* a\n+ b\n\n\n   ***\n~~~ rust\nx\n~~~\n    code\n",
    "no line end",
    "\n\nblank lines   \n\n\n",
    "- a\n  related-to:: [[Target]]\n",
    // Links to one document in several forms, some with anchors that it lacks.
    "[a](Target.md#missing) and [b](Target.md)\n",
    "[[Target#Missing|see]] and [t](Target.md)\n",
    "[[Target]] [Target](Target.md#gone) [[Target]]\n",
    // Files that are not what their names say.
    "x\n\n![[lfs.png|300]]\n",
    "![[lfs.png]]\n",
    "![](film.jpg)\n\n![[film.jpg|50]]\n\n![words](film.jpg \"t\")\n",
    // Files that a wiki link names.
    "see [[doc.pdf|words]] and [[doc.pdf]]\n",
    "[[doc.pdf]]\n",
    "[[lfs.png|words]]\n",
    "| a | b |\n| --- | ---: |\n| 1 | 2 |\n",
];

#[test]
fn a_file_that_is_kept_as_code_comes_back() {
    let long = "w".repeat(300_000);
    for text in [format!("# T\n\n{long}\n\n\n"), format!("---\na: 1\n---\n\n- a\n- {long}")] {
        let files = [("Note.md".to_owned(), text.clone().into_bytes())];
        let back = round(files, LinkStyle::AsWritten);
        assert!(back["Note.md"] == text.as_bytes(), "{:?}", text.get(..20));
    }
}

/// A link to a document in the trash, or to one that is gone, is written as it was read.
#[test]
fn links_to_removed_documents_come_back() {
    let text = "see [[B]], [b](B.md), [[A]] and [[B#Head|h]]\n\n[[B]]\n";
    for is_purged in [false, true] {
        let notes = Space::in_memory().unwrap().connect();
        let source = &mut MemorySource::from_iter([("A.md", text), ("B.md", "# Head\n")]);
        import_from(&notes, source, &ImportOptions::new(), &mut on).unwrap();
        let removed = notes.find_documents(FindDocuments::named("B")).unwrap()[0].id();
        notes.delete_documents(DeleteDocuments::new([removed])).unwrap();
        if is_purged {
            notes.purge_documents(PurgeDocuments::new([removed])).unwrap();
        }
        let directory = tempfile::tempdir().unwrap();
        export_folder(&notes, directory.path(), &ExportOptions::new(), &mut on).unwrap();
        let back = files_below(directory.path());
        assert_eq!(String::from_utf8_lossy(&back["A.md"]), text);
    }
}

#[test]
fn constructs_come_back_as_they_were() {
    for text in KEPT {
        let files = [
            ("Note.md", *text),
            ("Target.md", "target\n"),
            ("doc.pdf", "%PDF-1.7 x"),
            ("lfs.png", "version https://git-lfs.github.com/spec/v1\n"),
            ("film.jpg", "\0\0\0\x18ftypmp42\0\0\0\0mp42isom"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        let back = round(files, LinkStyle::AsWritten);
        let shown = back.get("Note.md").map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert_eq!(shown.as_deref(), Some(*text));
    }
}

/// Files beside `Target.md`, `A/Twin.md` and `B/Twin.md`, as an export with wiki links writes them.
const WIKI: &[(&str, &str)] = &[
    ("see [[Target]] and [[Target|the target]]\n", ""),
    ("[[Target]]\n", ""),
    ("# [[Target|head]]\n\n> [[Target]]\n", ""),
    ("[[Target#^keep|there]]\n", ""),
    ("[[Target#^keep]]\n", ""),
    ("[[A/Twin]] [[B/Twin|other]]\n", ""),
    ("- [[Target]]\n  - [ ] [[Target|a task]]\n", ""),
    ("| a |\n| --- |\n| [[Target\\|x]] |\n", ""),
    ("[t](Target.md)\n", "[[Target|t]]\n"),
    // No wiki link says these.
    ("[**t**](Target.md)\n", ""),
    ("[t](Target.md#heading)\n", ""),
    ("a [t](https://a.example)\n", ""),
    // A name without a note stays, and so does code.
    ("[[Nowhere]] `[[Target]]`\n", ""),
];

#[test]
fn wiki_links_come_back_as_wiki_links() {
    for (text, expected) in WIKI {
        let others = [
            ("Target.md", "## Heading\n\nkept ^keep\n"),
            ("A/Twin.md", "a\n"),
            ("B/Twin.md", "b\n"),
        ];
        let files = [("Note.md", *text)].into_iter().chain(others);
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        let back = round(files, LinkStyle::Wiki);
        let shown = String::from_utf8_lossy(&back["Note.md"]).into_owned();
        assert_eq!(shown, *if expected.is_empty() { text } else { expected });
        assert_eq!(round(back.clone(), LinkStyle::Wiki), back, "the second round");
    }
}

/// Files with a link in `s/B.md` to the root's `A.md`, a document that is created in the folder,
/// and `s/B.md` as it is written then: an import prefers the nearest file of a name.
const SHADOWED: &[(&str, &str, &str, LinkStyle)] = &[
    ("[[A]] [[A|a]]\n", "A", "[[../A|A]] [[../A|a]]\n", LinkStyle::AsWritten),
    ("[[A#^x]]\n", "a", "[[A#^x]]\n", LinkStyle::AsWritten),
    ("[[A]]\n", "B", "[[A]]\n", LinkStyle::AsWritten),
    ("[to root](../A.md)\n", "A", "[[../A|to root]]\n", LinkStyle::Wiki),
    (
        "| x |\n| --- |\n| [t](../A.md) |\n",
        "A",
        "| x |\n| --- |\n| [[../A\\|t]] |\n",
        LinkStyle::Wiki,
    ),
    ("[[A]]\n", "B", "[[A]]\n", LinkStyle::Wiki),
    ("[[A]] [[A|a]]\n", "A", "[[A]] [a]([[A]])\n", LinkStyle::Logseq),
];

#[test]
fn links_past_a_nearer_name_lead_to_their_document() {
    for (text, title, expected, style) in SHADOWED {
        let notes = Space::in_memory().unwrap().connect();
        let source = &mut MemorySource::from_iter([("A.md", "a ^x\n"), ("s/B.md", *text)]);
        import_from(&notes, source, &ImportOptions::new(), &mut on).unwrap();
        let folder =
            notes.folders().unwrap().into_iter().find(|folder| folder.name == "s").unwrap();
        let new = BlockDraft::new(BlockData::page(*title));
        notes.create_document_of(new, folder.folder_id().unwrap()).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let options = ExportOptions::new().links(*style);
        export_folder(&notes, directory.path(), &options, &mut on).unwrap();
        let back = files_below(directory.path());
        let path = if *style == LinkStyle::Logseq { "pages/s/B.md" } else { "s/B.md" };
        assert_eq!(String::from_utf8_lossy(&back[path]), *expected);
    }
}

/// Files, and what is written once their documents got a paragraph.
const EXTENDED: &[(&str, &str)] = &[
    ("---\ntags: [x]\n---", "---\ntags: [x]\n---\nmore"),
    ("---\ntags: [x]\n---\n", "---\ntags: [x]\n---\n\nmore"),
    ("---\n\ntags: [x]\n---\n", "---\n\ntags: [x]\n---\n\nmore"),
    ("---\ntags: [x]\n---\na", "---\ntags: [x]\n---\na\n\nmore"),
    ("a\n", "a\n\nmore\n"),
    ("", "more"),
    // An empty item stays where it joins with nothing.
    ("---\ntitle: x\n---\n\n-\n", "---\ntitle: x\n---\n\nmore\n"),
    ("-", "more\n"),
    ("a\n\n>", "a\n\nmore\n\n>"),
];

#[test]
fn files_get_a_paragraph() {
    for (text, expected) in EXTENDED {
        let notes = Space::in_memory().unwrap().connect();
        let source = &mut MemorySource::from_iter([("Note.md", *text)]);
        import_from(&notes, source, &ImportOptions::new(), &mut on).unwrap();
        let note = notes.find_documents(FindDocuments::named("Note")).unwrap()[0].id();
        notes.insert_markdown("more", Position::end_of(note)).unwrap();
        let directory = tempfile::tempdir().unwrap();
        export_folder(&notes, directory.path(), &ExportOptions::new(), &mut on).unwrap();
        let back = files_below(directory.path());
        assert_eq!(String::from_utf8_lossy(&back["Note.md"]), *expected, "{text:?}");
    }
}

/// A note beside `Target.md`, as an export for Logseq writes it; `ID` is a block's.
const LOGSEQ: &[(&str, &str)] = &[
    ("see [Target](Target.md)\n", "see [Target](Target.md)\n"),
    ("[[Target]] and [words](Target.md#heading)\n", "[[Target]] and [words](Target.md#heading)\n"),
    ("NEW", "see [[Target]] and [words]([[Target]])\n"),
    ("BLOCK", "see [words](((ID)))\n"),
    ("DAY", "on [the day]([[Mar 1st, 2026]])\n"),
    // No wiki link of Logseq has words, and journals have other names there.
    ("on [[2026-03-01]] [[Target|t]]\n", "on [2026-03-01]([[Mar 1st, 2026]]) [t]([[Target]])\n"),
    ("[[Target|alone]]\n", "[alone]([[Target]])\n"),
];

#[test]
fn a_graph_of_logseq_has_its_links_and_names() {
    for (text, expected) in LOGSEQ {
        let notes = Space::in_memory().unwrap().connect();
        let is_new = text.chars().all(char::is_uppercase);
        let files = [
            ("Sub/Note.md", if is_new { "" } else { &*text.replace("Target.md", "../Target.md") }),
            ("Target.md", "# Heading\n\nkept\n"),
            ("2026-03-01.md", "rain\n"),
            ("journals/2026_03_02.md", "- sun\n"),
        ];
        let source = &mut MemorySource::from_iter(files);
        import_from(&notes, source, &ImportOptions::new(), &mut on).unwrap();
        let named = |name: &str| notes.find_documents(FindDocuments::named(name)).unwrap()[0].id();
        let (note, target) = (named("Note"), named("Target"));
        let kept = notes.fetch(Fetch::new(target)).unwrap().children()[1].id;
        let line = match *text {
            "NEW" => format!("see [Target](block://{target}) and [words](block://{target})"),
            "BLOCK" => format!("see [words](block://{kept})"),
            "DAY" => format!("on [the day](block://{})", named("2026-03-01")),
            _ => String::new(),
        };
        if is_new {
            notes.insert_markdown(&line, note).unwrap();
        }
        let directory = tempfile::tempdir().unwrap();
        let options = ExportOptions::new().links(LinkStyle::Logseq);
        export_folder(&notes, directory.path(), &options, &mut on).unwrap();
        let back = files_below(directory.path());
        let paths: Vec<&str> = back.keys().map(String::as_str).collect();
        assert_eq!(
            paths,
            [
                "journals/2026_03_01.md",
                "journals/2026_03_02.md",
                "pages/Sub/Note.md",
                "pages/Target.md"
            ]
        );
        let shown = |path: &str| String::from_utf8_lossy(&back[path]).into_owned();
        let mut id = u128::from_be_bytes(*kept.as_bytes());
        let mut groups = Vec::new();
        for digits in [12, 4, 4, 4, 8] {
            groups.insert(0, format!("{:0digits$x}", id % (1 << (4 * digits))));
            id >>= 4 * digits;
        }
        let id = groups.join("-");
        let expected = expected.replace("ID", &id);
        let expected =
            if is_new { expected } else { expected.replace("Target.md", "../Target.md") };
        assert_eq!(shown("pages/Sub/Note.md").trim_end(), expected.trim_end(), "{text}");
        let is_referenced = *text == "BLOCK";
        let property = if is_referenced { format!("\nid:: {id}") } else { String::new() };
        assert_eq!(shown("pages/Target.md"), format!("# Heading\n\nkept{property}\n"));
        assert_eq!(shown("journals/2026_03_02.md"), "- sun\n");
    }
}

/// The name that an author gave a block leads to it, whatever is inserted before it.
#[test]
fn named_blocks_are_linked_by_their_names() {
    let files = [("Note.md", "[[Target#^keep|there]]\n"), ("Target.md", "a\n\nkept ^keep\n")];
    let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    let back = round(files, LinkStyle::Relative);
    assert_eq!(back["Note.md"], b"[there](Target.md#^keep)\n");
}

/// A link to a heading, and as an export with relative links writes it.
const HEADINGS: &[(&str, &str, &str)] = &[
    // Obsidian writes blanks for punctuation.
    ("## D&D WOTC\n", "a [[Target#D D WOTC]]\n", "a [Target#D D WOTC](Target.md#dd-wotc)\n"),
    ("## a: b, c\n", "a [[Target#a b c|x]]\n", "a [x](Target.md#a-b-c)\n"),
    // The ID of Logseq is a name, and no part of the text.
    (
        "- # some text\n  id:: 602fb278-1234-4abc-8def-0123456789ab\n",
        "a ((602fb278-1234-4abc-8def-0123456789ab))\n",
        "a [((602fb278-1234-4abc-8def-0123456789ab))]\
         (Target.md#^602fb278-1234-4abc-8def-0123456789ab)\n",
    ),
];

#[test]
fn headings_are_found_as_applications_write_them() {
    for (target, text, expected) in HEADINGS {
        let files = [("Note.md", *text), ("Target.md", *target)];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        assert_eq!(round(files.clone(), LinkStyle::AsWritten)["Note.md"], text.as_bytes());
        let back = round(files, LinkStyle::Relative);
        assert_eq!(String::from_utf8_lossy(&back["Note.md"]), *expected);
        assert_eq!(round(back.clone(), LinkStyle::Relative), back);
    }
}

/// Tasks as they come in and go out with their dates, and what an export says that leaves them out.
const DATED: &[(&str, &str, &[&str])] = &[
    ("- [ ] a 📅 2026-05-01\n", "- [ ] a\n", &["the due date of \"a\" is not written"]),
    (
        "- [ ] a ⏳ 2026-04-01 📅 2026-05-01 ^name\n",
        "- [ ] a ^name\n",
        &[
            "the due date of \"a ^name\" is not written",
            "the scheduled date of \"a ^name\" is not written",
        ],
    ),
    (
        "- [ ] a 📅 2026-05-01\n- [ ] b 📅 2026-05-02\n",
        "- [ ] a\n- [ ] b\n",
        &["the due dates of 2 blocks are not written, \"a\" is the first"],
    ),
    ("- [x] a ✅ 2024-02-04\n", "- [x] a\n", &[]),
    ("- [-] a ❌ 2024-02-04\n", "- [-] a\n", &[]),
    // No date of the task.
    ("- [ ] a ✅ 2024-02-04\n", "- [ ] a ✅ 2024-02-04\n", &[]),
    ("- [ ] a 📅 2026-13-01\n", "- [ ] a 📅 2026-13-01\n", &[]),
    ("- [ ] a 📅 2026-05-01 b\n", "- [ ] a 📅 2026-05-01 b\n", &[]),
    ("- a 📅 2026-05-01\n", "- a 📅 2026-05-01\n", &[]),
];

#[test]
fn dates_of_tasks_come_back_or_are_named() {
    for (text, without, warnings) in DATED {
        for (dates, written, named) in
            [(TaskDates::Emoji, text, &[][..]), (TaskDates::None, without, *warnings)]
        {
            let notes = Space::in_memory().unwrap().connect();
            let source = &mut MemorySource::from_iter([("Note.md", *text)]);
            let read = ImportOptions::new().task_dates(TaskDates::Emoji);
            import_from(&notes, source, &read, &mut on).unwrap();
            let directory = tempfile::tempdir().unwrap();
            let options = ExportOptions::new().task_dates(dates);
            let report = export_folder(&notes, directory.path(), &options, &mut on).unwrap();
            let back = &files_below(directory.path())["Note.md"];
            assert_eq!(String::from_utf8_lossy(back), *written);
            let messages: Vec<_> =
                report.warnings.iter().map(|warning| warning.message.as_str()).collect();
            assert_eq!(messages, named, "{text}");
        }
    }
}

/// A highlight of an unknown color stays text, and all else of its file is read as in any other.
#[test]
fn a_highlight_of_an_unknown_color_stays_text() {
    let tag = "<highlight color=\"orange\">x</highlight>";
    let text = format!("# Recipe\n\nSome *text* and [[Target]].\n\n* [ ] task\n\n{tag}\n");
    let notes = Space::in_memory().unwrap().connect();
    let files = [("Note.md", text.as_str()), ("Target.md", "target\n")];
    let source = &mut MemorySource::from_iter(files);
    let report = import_from(&notes, source, &ImportOptions::new(), &mut on).unwrap();
    let [warning] = &*report.warnings else { panic!("one warning, not {:?}", report.warnings) };
    assert_eq!((warning.kind, warning.line), (VaultWarningKind::Tag, Some(7)));
    assert_eq!((report.links, report.blocks), (1, 5));
    let note = notes.find_documents(FindDocuments::named("Note")).unwrap()[0].id();
    let blocks = notes.fetch(Fetch::new(note)).unwrap().children().to_vec();
    assert_eq!(blocks[3].data.inline, format!("\\{tag}"));
    // An edit of another block leaves it as it is, and an edit of its own writes it as text.
    for (block, new, expected) in [
        (0, "Soup".to_owned(), text.replace("# Recipe", "# Soup")),
        (
            3,
            format!("\\{tag} y"),
            text.replace("# Recipe", "# Soup").replace(tag, &format!("\\{tag} y")),
        ),
    ] {
        notes.update_markdown(blocks[block].id, &new).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let report =
            export_folder(&notes, directory.path(), &ExportOptions::new(), &mut on).unwrap();
        let back = files_below(directory.path());
        assert_eq!(String::from_utf8_lossy(&back["Note.md"]), expected);
        assert_eq!(report.warnings, []);
    }
    // What no file says is refused.
    notes.insert_markdown(tag, note).unwrap_err();
    let found = notes.content_markdown(note).unwrap();
    notes.apply_markdown(ApplyMarkdown::new(note, found)).unwrap();
}

/// A picture of an HTML tag is imported, and the tag of the exported file leads to it.
#[test]
fn pictures_of_html_tags_come_along() {
    for tag in ["<img src=\"img/a.png\" width=\"9\">", "<p>\n  <IMG alt=x SRC='img/a.png'>\n</p>"] {
        let files = [("Note.md", tag), ("img/a.png", "a picture")];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
        let back = round(files, LinkStyle::Relative);
        let (path, _) = back.iter().find(|(_, bytes)| *bytes == b"a picture").unwrap();
        let expected = tag.replace("img/a.png", path);
        assert_eq!(String::from_utf8_lossy(&back["Note.md"]), expected);
    }
}

/// Names that some system refuses come back, and the report of the export has them.
#[test]
fn refused_names_are_named() {
    let notes = Space::in_memory().unwrap().connect();
    let files = [("What?/CON.md", "a\n"), ("b.md", "![[a?.txt]]\n"), ("a?.txt", "b")];
    let source = &mut MemorySource::from_iter(files);
    import_from(&notes, source, &ImportOptions::new(), &mut on).unwrap();
    notes.create_document("Why?").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let report = export_folder(&notes, directory.path(), &ExportOptions::new(), &mut on).unwrap();
    let mut named: Vec<&str> = report
        .warnings
        .iter()
        .filter(|warning| warning.kind == VaultWarningKind::FileName)
        .map(|warning| warning.path.as_str())
        .collect();
    named.sort_unstable();
    assert_eq!(named, ["What?", "What?/CON.md", "Why%3F.md", "a?.txt"]);
    let back: Vec<String> = files_below(directory.path()).into_keys().collect();
    assert_eq!(back, ["What?/CON.md", "Why%3F.md", "a?.txt", "b.md"]);
}

/// Folders whose directories have other names are in the report, as such documents are.
#[test]
fn renamed_directories_are_named() {
    let notes = Space::in_memory().unwrap().connect();
    let long = "l".repeat(201);
    for folder in ["a", "A", "b", "CON", &long] {
        notes.create_folder(folder, None).unwrap();
    }
    let directory = tempfile::tempdir().unwrap();
    let report = export_folder(&notes, directory.path(), &ExportOptions::new(), &mut on).unwrap();
    let named: Vec<_> = report.warnings.iter().map(|it| (it.kind, it.path.as_str())).collect();
    let cut = "l".repeat(200);
    let expected = [
        (VaultWarningKind::FileName, "%43ON"),
        (VaultWarningKind::Title, "a 2"),
        (VaultWarningKind::Title, &cut),
    ];
    assert_eq!(named, expected);
    let message = "another directory has the name of the folder \"a\"";
    assert_eq!(report.warnings[1].message, message);
}

/// The least share of the files of the corpus that come back as they were, of 1,000.
const SAME_OF_1_000: usize = 995;

/// Imports the corpus beside the project, if it is there, and compares what is exported.
#[test]
fn files_of_a_corpus_come_back_as_they_were() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    if !corpus.is_dir() {
        return;
    }
    let mut files = files_below(&corpus);
    files.retain(|path, _| !path.split('/').any(|name| name.starts_with('.')));
    let back = round(files.clone(), LinkStyle::AsWritten);
    let is_document = |path: &&String| path.ends_with(".md");
    let documents: Vec<_> = files.keys().filter(is_document).collect();
    let lost: Vec<_> =
        documents.iter().filter(|path| back.get(**path) != files.get(**path)).collect();
    for path in &lost {
        let reason = match back.get(**path) {
            None => "it has another path".to_owned(),
            Some(bytes) => difference(&files[**path], bytes),
        };
        println!("{path}: {reason}");
    }
    let new: Vec<_> = back.keys().filter(|path| !files.contains_key(*path)).collect();
    let moved = back.iter().filter(|(path, _)| !path.ends_with(".md"));
    let moved = moved.filter(|(path, bytes)| files.get(*path) != Some(*bytes)).count();
    println!(
        "{} of {} documents differ, {} files are new, {moved} attachments moved: {new:?}",
        lost.len(),
        documents.len(),
        new.len()
    );
    let same = documents.len() - lost.len();
    assert!(same * 1_000 >= documents.len() * SAME_OF_1_000, "{same} of {}", documents.len());
    assert_eq!(round(back.clone(), LinkStyle::AsWritten), back, "the second round");
    let wiki = round(files, LinkStyle::Wiki);
    assert_eq!(round(wiki.clone(), LinkStyle::Wiki), wiki, "the second round of wiki links");
}

/// The first line that differs.
fn difference(before: &[u8], after: &[u8]) -> String {
    let [before, after] = [before, after].map(String::from_utf8_lossy);
    let mut after_lines = after.lines();
    for (number, line) in (1..).zip(before.lines()) {
        let after = after_lines.next();
        if after != Some(line) {
            return format!("line {number}: {line:?} is {after:?}");
        }
    }
    format!("what follows its last line: {:?}", after_lines.next())
}
