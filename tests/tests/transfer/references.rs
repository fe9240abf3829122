//! References to blocks, as Logseq writes them: they lead to the blocks with the property `id::`.

use leafbase::{
    BlockId, DeleteBlocks, DocumentId, EditMarkdown, FindDocuments, MoveBlocks, markdown,
};
use leafbase_vault::{MirrorOptions, mirror};

use super::*;

/// Names of IDs in texts.
const IDS: [(&str, &str); 6] = [
    ("KEPT", "60a78e9e-59dc-40ab-9a01-5317dc09365f"),
    ("HEAD", "61024cd6-1951-47cc-8050-25f68960d729"),
    ("CODE", "61024ec1-fd51-4b84-905e-8443a9204ae9"),
    ("PAGE", "692d8283-7f1d-44cf-81b0-bb25c469a64e"),
    ("OWN", "63595c2e-2383-42d4-ad20-5647758a7337"),
    ("GONE", "64fe1ac5-91c1-4d8a-8bf0-20e1cb4d1a3b"),
];

const TARGET: &str = "alias:: t\nid:: PAGE\n\n- kept\n  id:: KEPT\n\t- below\n\
    - ## Heading\n  id:: HEAD\n- ```\n  code\n  ```\n  id:: CODE\n";

fn with_ids(text: &str) -> String {
    IDS.iter().fold(text.to_owned(), |text, (name, id)| text.replace(name, id))
}

fn with_names(text: &str) -> String {
    IDS.iter().fold(text.to_owned(), |text, (name, id)| text.replace(id, name))
}

fn named(notes: &Connection, name: &str) -> DocumentId {
    notes.find_documents(FindDocuments::named(name)).expect("found")[0].id()
}

fn below(notes: &Connection, id: BlockId) -> Vec<Block> {
    let mut list = Vec::new();
    let mut waiting = vec![notes.fetch(Fetch::new(id)).expect("fetched")];
    while let Some(block) = waiting.pop() {
        waiting.extend(block.children().iter().rev().cloned());
        list.push(block);
    }
    list
}

/// The first lines of the blocks that a document links to, in order.
fn targets(notes: &Connection, title: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for block in below(notes, named(notes, title).root()) {
        markdown::links(&block.data.inline, &mut |link| {
            if let markdown::LinkTarget::Block(target) = link.target {
                let target = &below(notes, target)[0].data;
                let text = match &target.kind {
                    BlockKind::Code { raw_code, .. } => raw_code,
                    _ => &target.inline,
                };
                targets.push(text.lines().next().unwrap_or_default().to_owned());
            }
        });
    }
    targets
}

fn written(notes: &Connection, style: LinkStyle) -> BTreeMap<String, String> {
    let directory = tempfile::tempdir().expect("a directory");
    let options = ExportOptions::new().links(style);
    export_folder(notes, directory.path(), &options, &mut on).expect("exported");
    let files = files_below(directory.path()).into_iter().filter(|(path, _)| !path.ends_with('/'));
    files.map(|(path, bytes)| (path, String::from_utf8(bytes).expect("UTF-8"))).collect()
}

/// A note, what it links to, and the lines of its references to no block.
const NOTES: &[(&str, &[&str], &[usize])] = &[
    ("- see ((KEPT)).\n", &["kept"], &[]),
    ("((KEPT))\n", &["kept"], &[]),
    ("- ((KEPT))\n\t- [words](((KEPT))), ((KEPT))\n", &["kept", "kept", "kept"], &[]),
    ("- {{embed ((KEPT))}}\n- {{embed ((KEPT)) }}\n", &["kept", "kept"], &[]),
    ("- own\n  id:: OWN\n- (((OWN)))\n", &["own"], &[]),
    ("- ((HEAD)) ((CODE))\n- ((PAGE))\n", &["Heading", "code", "alias:: t"], &[]),
    ("| a |\n| --- |\n| ((KEPT)) |\n", &["kept"], &[]),
    ("# ((KEPT)) [[Target]]\n", &["kept", "Target"], &[]),
    ("- [ ] [[Target]] [((KEPT))](Target.md) ((KEPT))\n", &["Target", "Target", "kept"], &[]),
    // To no block.
    ("- a\n- ((GONE)), [b](((GONE))) and ((KEPT))\n", &["kept"], &[2, 2]),
    // No references.
    ("- `((KEPT))` {{query ((KEPT))}} ((kept)) \\((KEPT))\n", &[], &[]),
    ("```\n((KEPT))\n```\n", &[], &[]),
];

#[test]
fn references_lead_to_blocks_and_come_back() {
    for (note, expected, unresolved) in NOTES {
        let files = [("Note.md", &*with_ids(note)), ("Target.md", &*with_ids(TARGET))];
        let (notes, report) = imported(files);
        assert_eq!(targets(&notes, "Note"), *expected, "{note}");
        assert_eq!(report.links, expected.len() as u64, "{note}");
        let told = unresolved.iter().map(|line| (VaultWarningKind::UnresolvedLink, Some(*line)));
        assert_eq!(kinds(&report), told.collect::<Vec<_>>(), "{note}");
        for (path, text) in files {
            assert_eq!(written(&notes, LinkStyle::AsWritten)[path], text);
            assert_eq!(written(&notes, LinkStyle::Logseq)[&format!("pages/{path}")], text);
        }
        let check = notes.space().check().expect("checked");
        assert!(check.is_clean(), "{note}: {check:?}");
        let blocks = below(&notes, named(&notes, "Note").root());
        assert!(blocks.iter().all(|block| block.rev == 1), "{note}: they are written at once");
    }
}

/// So many that memory does not hold all of them back: they are written, and then again.
#[test]
fn references_of_a_large_import_lead_to_blocks() {
    let filler = with_ids(&format!("- ((KEPT))\n{}", "- x\n".repeat(19_998)));
    let note = |number: usize| format!("Note {number}");
    let notes_of = NOTES.iter().enumerate();
    // Each is read on its own: no ID is that of blocks in two files.
    let texts = notes_of.filter(|(_, (text, ..))| !text.contains("OWN"));
    let texts: Vec<_> = texts.map(|(number, found)| (number, with_ids(found.0), found)).collect();
    let target = with_ids(TARGET);
    let mut files = vec![("A.md".to_owned(), &*filler), ("Target.md".to_owned(), &*target)];
    files.extend(texts.iter().map(|(number, text, _)| (note(*number) + ".md", &**text)));
    let mut source = MemorySource::from_iter(files.iter().map(|(path, text)| (path, *text)));
    let notes = Space::in_memory().expect("a space").connect();
    import_from(&notes, &mut source, &ImportOptions::new(), &mut on).expect("imported");
    for (number, text, (_, expected, _)) in &texts {
        let title = note(*number);
        assert_eq!(targets(&notes, &title), *expected, "{text}");
        let blocks = below(&notes, named(&notes, &title).root());
        let is_written_again = blocks.iter().any(|block| block.rev == 2);
        assert_eq!(is_written_again, expected.iter().any(|to| *to != "Target"), "{text}");
    }
    let written = written(&notes, LinkStyle::AsWritten);
    assert!(files.iter().all(|(path, text)| written[path] == *text));
    let check = notes.space().check().expect("checked");
    assert!(check.is_clean(), "{check:?}");
}

#[test]
fn blocks_that_are_referred_to_have_back_links() {
    let note = with_ids("- see ((KEPT))\n");
    let (notes, _) = imported([("Note.md", &*note), ("Target.md", &*with_ids(TARGET))]);
    let blocks = below(&notes, named(&notes, "Target").root());
    let kept = blocks.iter().find(|block| block.data.inline.starts_with("kept")).expect("kept");
    let links = notes.back_links(kept.id).expect("links");
    assert_eq!((links.len(), links[0].document_id), (1, named(&notes, "Note")));
    // Edited, and moved to another document: the reference is the same.
    let edit = EditMarkdown::of(named(&notes, "Target")).replace("kept", "edited");
    notes.edit_markdown(edit).expect("edited");
    let other = notes.create_document("Other").expect("created");
    notes.move_blocks(MoveBlocks::new([kept.id], Position::end_of(other.id()))).expect("moved");
    assert_eq!(targets(&notes, "Note"), ["edited"]);
    let files = written(&notes, LinkStyle::AsWritten);
    assert_eq!(files["Note.md"], note);
    assert!(files["Other.md"].starts_with(&with_ids("- edited\n  id:: KEPT\n")), "{files:?}");
    // Other words.
    let line = below(&notes, named(&notes, "Note").root())[1].clone();
    let words = line.data.inline.replace(&with_ids("[((KEPT))]"), "[words]");
    notes.update_markdown(line.id, &words).expect("updated");
    let files = written(&notes, LinkStyle::AsWritten);
    assert_eq!(with_names(&files["Note.md"]), "- see [words](((KEPT)))\n");
}

/// Links name daily notes by the titles that Logseq gives journals, and come back so.
#[test]
fn titles_of_journals_lead_to_daily_notes() {
    let files = [
        ("journals/2026_03_01.md", "- rain\n"),
        ("pages/Trip.md", "- on [[Mar 1st, 2026]], not [[Mar 2nd, 2026]]\n"),
    ];
    let (notes, report) = imported(files);
    assert_eq!((report.links, kinds(&report).len()), (1, 1), "{report:?}");
    for style in [LinkStyle::AsWritten, LinkStyle::Logseq] {
        let written = written(&notes, style);
        assert_eq!(files.map(|(path, _)| written[path].as_str()), files.map(|(_, text)| text));
    }
}

/// A link whose heading or block is gone gives its text to no other link.
#[test]
fn links_keep_their_own_text() {
    type Change = fn(&Connection);
    let without_first: Change = |notes| {
        let line = below(notes, named(notes, "Note").root())[1].clone();
        let (_, rest) = line.data.inline.split_once(" and ").expect("two links");
        notes.update_markdown(line.id, rest).expect("updated");
    };
    let without_target: Change = |notes| {
        let block = below(notes, named(notes, "Target").root())[1].id;
        notes.delete_blocks(DeleteBlocks::new([block])).expect("deleted");
    };
    let swapped_without_target: Change = |notes| {
        let block = below(notes, named(notes, "Target").root())[1].id;
        notes.delete_blocks(DeleteBlocks::new([block])).expect("deleted");
        let line = below(notes, named(notes, "Note").root())[1].clone();
        let (kept, gone) = line.data.inline.split_once(" and ").expect("two links");
        notes.update_markdown(line.id, &format!("{gone} and {kept}")).expect("updated");
    };
    let target = "# Head\n\n- kept\n  id:: KEPT\n";
    for (note, target, change, expected) in [
        ("[a](Target.md#head) and [b](Target.md)\n", target, without_first, "[b](Target.md)\n"),
        ("[[Target#Head|b]] and [[Target|b]]\n", target, without_first, "[[Target|b]]\n"),
        ("[a](Target.md#head) and [b](Target.md)\n", target, without_target, "[b](Target.md)\n"),
        (
            "[b](((KEPT))) and [a](((HEAD)))\n\n((KEPT))\n",
            "- head\n  id:: HEAD\n- kept\n  id:: KEPT\n",
            swapped_without_target,
            "[a](((HEAD))) and [b](((KEPT)))\n\n((KEPT))\n",
        ),
    ] {
        let (notes, _) =
            imported([("Note.md", &*with_ids(note)), ("Target.md", &*with_ids(target))]);
        change(&notes);
        let written = with_names(&written(&notes, LinkStyle::AsWritten)["Note.md"]);
        assert!(written.ends_with(expected), "{note}: {written}");
    }
}

/// A style, and how it writes a note and the block that it refers to.
const STYLES: &[(LinkStyle, &str, &str)] = &[
    (LinkStyle::AsWritten, "- ((KEPT)), [words](((KEPT)))\n", "- kept\n  id:: KEPT\n"),
    (LinkStyle::Logseq, "- ((KEPT)), [words](((KEPT)))\n", "- kept\n  id:: KEPT\n"),
    (
        LinkStyle::Relative,
        "- [((KEPT))](Target.md#^KEPT), [words](Target.md#^KEPT)\n",
        "- kept\n  id:: KEPT\n",
    ),
    (LinkStyle::Wiki, "- [[Target#^KEPT]], [[Target#^KEPT|words]]\n", "- kept ^KEPT\n"),
];

#[test]
fn references_are_written_in_every_style() {
    for (style, note, target) in STYLES {
        let source = STYLES[0];
        let (notes, _) =
            imported([("Note.md", &*with_ids(source.1)), ("Target.md", &*with_ids(source.2))]);
        let files = written(&notes, *style);
        let texts: Vec<String> = files.values().map(|text| with_names(text)).collect();
        assert_eq!(texts, [*note, *target], "{style:?}");
        let again = Space::in_memory().expect("a space").connect();
        let source = &mut MemorySource::from_iter(files.clone());
        import_from(&again, source, &ImportOptions::new(), &mut on).expect("imported");
        assert_eq!(written(&again, *style), files, "{style:?}: the second round");
        assert_eq!(targets(&again, "Note").len(), 2, "{style:?}");
    }
}

#[test]
fn named_blocks_of_a_vault_get_an_id_for_logseq() {
    let note = "[[Target#^keep|there]] [[Target#^keep]] [[Target#^keep]]\n";
    let (notes, _) = imported([("Note.md", note), ("Target.md", "a\n\nkept ^keep\n")]);
    let files = written(&notes, LinkStyle::Logseq);
    let target = &files["pages/Target.md"];
    let (before, id) = target.trim_end().rsplit_once("id:: ").expect("a property");
    assert_eq!(before, "a\n\nkept ^keep\n");
    let expected = format!("[there]((({id}))) (({id})) (({id}))\n");
    assert_eq!(files["pages/Note.md"], expected);
    let again = Space::in_memory().expect("a space").connect();
    let source = &mut MemorySource::from_iter(files.clone());
    import_from(&again, source, &ImportOptions::new(), &mut on).expect("imported");
    assert_eq!(targets(&again, "Note"), ["kept ^keep"; 3]);
    assert_eq!(written(&again, LinkStyle::AsWritten), files);
}

#[test]
fn references_of_edited_files_lead_to_any_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |path: &str, text: &str| {
        fs::write(directory.path().join(path), with_ids(text)).expect("written");
    };
    let notes = Space::in_memory().expect("a space").connect();
    let run =
        || mirror(&notes, directory.path(), &MirrorOptions::new(), &mut on).expect("mirrored");
    let unresolved = |report: &leafbase_vault::MirrorReport| {
        let all = report.warnings.iter();
        all.filter(|warning| warning.kind == VaultWarningKind::UnresolvedLink).count()
    };
    write("Note.md", "- a\n");
    write("Target.md", TARGET);
    run();
    // To a file that stays.
    write("Note.md", "- a ((KEPT))\n");
    assert_eq!(unresolved(&run()), 0);
    assert_eq!(targets(&notes, "Note"), ["kept"]);
    // To a new one, from a new one, and to a block that comes with the same edit.
    write("Note.md", "- a ((KEPT)) ((OWN)) ((GONE))\n- own\n  id:: OWN\n");
    write("New.md", "- ((KEPT)) ((OWN))\n- new\n  id:: GONE\n");
    assert_eq!(unresolved(&run()), 0);
    assert_eq!(targets(&notes, "Note"), ["kept", "own", "new"]);
    assert_eq!(targets(&notes, "New"), ["kept", "own"]);
    // The same with a heading.
    write("Note.md", "- a ((KEPT)) ((OWN)) ((GONE))\n- own\n  id:: OWN\n\n# Late\n");
    write("Newer.md", "[[Note#Late]]\n");
    let kinds: Vec<_> = run().warnings.iter().map(|warning| warning.kind).collect();
    assert_eq!((targets(&notes, "Newer"), kinds), (vec!["Late".to_owned()], vec![]));
    // To a file that is read later.
    write("Note.md", "- a ((KEPT)) ((HEAD))\n");
    write("Target.md", "- head\n  id:: HEAD\n- kept\n  id:: KEPT\n");
    assert_eq!(unresolved(&run()), 0);
    assert_eq!(targets(&notes, "Note"), ["kept", "head"]);
    // To none.
    write("Note.md", "- a ((KEPT)) ((CODE))\n");
    assert_eq!(unresolved(&run()), 1);
    assert_eq!(targets(&notes, "Note"), ["kept"]);
    assert_eq!(run().changes, []);
    // To a block that is moved to another file, which makes it another block.
    write("Target.md", "- head\n  id:: HEAD\n");
    write("Moved.md", "- kept\n  id:: KEPT\n");
    run();
    let line = below(&notes, named(&notes, "Note").root())[1].clone();
    notes.update_markdown(line.id, &line.data.inline.replace("a ", "edited ")).expect("updated");
    run();
    let text = fs::read_to_string(directory.path().join("Note.md")).expect("read");
    assert_eq!(with_names(&text), "- edited ((KEPT)) ((CODE))\n");
    write("Note.md", "- edited twice ((KEPT))\n");
    run();
    assert_eq!(targets(&notes, "Note"), ["kept"]);
}
