//! Documents made as copies of templates: new blocks, links among them led over to the copies.

use leafbase::{
    Block, BlockData, BlockDraft, BlockId, CreateFromTemplate, Destination, DocumentId, Fetch,
    Limits,
};

use crate::documents::Library;
use crate::host::wrong;

/// A document of this markdown among the templates, its first block being "text". `TEXT` stands for
/// the ID of that block, `ROOT` for the document's and `OTHER` for another one's.
fn template(library: &Library, markdown: &str) -> DocumentId {
    let page = BlockDraft::new(BlockData::page("Meeting"));
    let id = library.notes.create_document_of(page, Destination::Templates).unwrap().id();
    let text = library.notes.insert_markdown("text", id).unwrap()[0].id;
    library.notes.insert_markdown(&with_ids(library, markdown, id, text), id).unwrap();
    id
}

fn with_ids(library: &Library, markdown: &str, root: DocumentId, text: BlockId) -> String {
    let markdown = markdown
        .replace("OTHER", &library.id("loose").to_string())
        .replace("ROOT", &root.to_string());
    markdown.replace("text_id", &text.to_string().to_lowercase()).replace("TEXT", &text.to_string())
}

fn copy(library: &Library, id: DocumentId) -> DocumentId {
    library.notes.create_from_template(CreateFromTemplate::new(id)).unwrap().id()
}

fn blocks(library: &Library, id: DocumentId) -> Vec<Block> {
    let document = library.notes.fetch(Fetch::new(id).with_metadata()).unwrap();
    document.walk().map(|(_, block)| block.clone()).collect()
}

/// What a template says, and what its copy says: there the IDs are those of the copies, but for
/// `OLD`, the text's in the template.
#[test]
fn links_to_blocks_of_the_template_lead_to_the_copies() {
    let library = Library::new();
    for (said, expected) in [
        ("[a](block://TEXT) [b](block://ROOT)", "[a](block://TEXT) [b](block://ROOT)"),
        ("[a](block://OTHER) [b](date://2026-03-10)", "[a](block://OTHER) [b](date://2026-03-10)"),
        ("[a](BLOCK://text_id) [b](Block:text_id)", "[a](BLOCK://TEXT) [b](Block:TEXT)"),
        (
            "[a](block://TEXT#part) [b](block://TEXT/x?y=1)",
            "[a](block://TEXT#part) [b](block://TEXT/x?y=1)",
        ),
        (
            "[a](block://TEXT \"a title\") ![b](block://TEXT)",
            "[a](block://TEXT \"a title\") ![b](block://TEXT)",
        ),
        ("[a](<block://TEXT>) and <block://TEXT>", "[a](block://TEXT) and <block://TEXT>"),
        (
            "[a][1] [b][2]\n[1]: block://TEXT\n[2]: block://OTHER",
            "[a][1] [b][2]\n[1]: block://TEXT\n[2]: block://OTHER",
        ),
        ("[1]: block://TEXT", "[1]: block://TEXT"),
        ("[a](block:%2F%2FTEXT) [b](block://nothing)", "[a](block://TEXT) [b](block://nothing)"),
        ("**[a](block://TEXT)** *<block://TEXT>*", "**[a](block://TEXT)** *<block://TEXT>*"),
        (
            "`[a](block://TEXT)` \\[a](block://TEXT) block://TEXT",
            "`[a](block://OLD)` \\[a](block://OLD) block://OLD",
        ),
        (
            "[a](https://example.com/TEXT) <https://TEXT>",
            "[a](https://example.com/OLD) <https://OLD>",
        ),
        ("## [a](block://TEXT)", "## [a](block://TEXT)"),
        ("<caption>[a](block://TEXT)</caption>", "<caption>[a](block://TEXT)</caption>"),
        ("<callout>[a](block://TEXT)</callout>", "<callout>[a](block://TEXT)</callout>"),
        (
            "- [a](block://TEXT)\n  - [ ] [b](block://TEXT)",
            "- [a](block://TEXT)\n  - [ ] [b](block://TEXT)",
        ),
        (
            "| [a](block://TEXT) | b |\n| --- | --- |\n| c | <block://TEXT> |",
            "| [a](block://TEXT) | b |\n| --- | --- |\n| c | <block://TEXT> |",
        ),
        (
            "<page><pageTitle>[a](block://TEXT)</pageTitle><content>[b](block://ROOT)</content></page>",
            "<page>\n<pageTitle>[a](block://TEXT)</pageTitle>\n<content>\n\n[b](block://ROOT)\n\n</content>\n</page>",
        ),
        (
            "[Rich](block://TEXT)\n\n[Rich](block://OTHER)",
            "[Rich](block://TEXT)\n\n[Rich](block://OTHER)",
        ),
        ("```\n[a](block://TEXT)\n```", "```\n[a](block://OLD)\n```"),
        (
            "![a](asset://01ARZ3NDEKTSV4RRFFQ69G5FAV/a.png)",
            "![a](asset://01ARZ3NDEKTSV4RRFFQ69G5FAV/a.png)",
        ),
    ] {
        let id = template(&library, said);
        let made = copy(&library, id);
        let [old, new] = [id, made].map(|id| blocks(&library, id)[1].id);
        assert_ne!(old, new);
        let expected = with_ids(&library, &expected.replace("OLD", &old.to_string()), made, new);
        assert_eq!(
            library.notes.content_markdown(made).unwrap(),
            format!("text\n\n{expected}"),
            "{said}"
        );
    }
    assert!(library.notes.space().check().unwrap().is_clean());
}

#[test]
fn the_blocks_of_a_copy_are_new_and_else_as_they_were() {
    let mut library = Library::new();
    let id = template(&library, "- [x] done\n- [-] canceled\n- [ ] open\n\n> quote");
    let task = blocks(&library, id)[2].id;
    library.name("task", task);
    let body = r##"{"blocks":[{"id":"@task","color":"#102030","taskInfo":{"deadlineDate":"2026-04-01"}}]}"##;
    library.done("update", body);
    let comments = format!(r#"{{"comments":[{{"blockId":"{task}","content":"so"}}]}}"#);
    library.notes.add_comments(library.read(&comments).unwrap()).unwrap();
    let before = blocks(&library, id);
    library.clock.advance(5_000);
    let made =
        library.notes.acting_as("Bea").create_from_template(CreateFromTemplate::new(id)).unwrap();
    let after = blocks(&library, made.id());
    assert_eq!(after.len(), before.len());
    for (old, new) in before.iter().zip(&after) {
        assert_eq!((&new.data, new.rev), (&old.data, 1));
        let metadata = new.metadata.as_ref().unwrap();
        assert_eq!((metadata.created.at, metadata.created.by.as_str()), (made.created_at(), "Bea"));
        assert_eq!(metadata.created, metadata.modified);
        assert!(metadata.comments.is_empty());
    }
    assert_eq!(before[2].rev, 2);
    assert_eq!(before[2].metadata.as_ref().unwrap().comments.len(), 1);
    assert_eq!(made.created_at(), library.notes.document(made.id()).unwrap().modified_at());
    assert_eq!(blocks(&library, id), before, "the template stays as it is");
}

#[test]
fn a_copy_is_made_where_it_is_said_under_the_title_that_is_said() {
    let library = Library::new();
    for (body, expected) in [
        (r#"{"templateId":"@template"}"#, "template:unsorted"),
        (r#"{"templateId":"@template","title":"a *b*"}"#, "a *b*:unsorted"),
        (r#"{"templateId":"@template","title":"a\nb"}"#, "a\nb:unsorted"),
        (r#"{"templateId":"@template","title":""}"#, ":unsorted"),
        (
            r#"{"templateId":"@template","destination":{"destination":"templates"}}"#,
            "template:templates",
        ),
        (
            r#"{"templateId":"@template","title":"c","destination":{"folderId":"@Garden"}}"#,
            "c:Garden",
        ),
    ] {
        library.undone("copy", body, expected);
    }
    let reply = library.done("copy", r#"{"templateId":"@template","title":"c"}"#);
    assert!(reply["clickableLink"].as_str().unwrap().contains(reply["id"].as_str().unwrap()));
    let made: BlockId = reply["id"].as_str().unwrap().parse().unwrap();
    assert_eq!(library.notes.fetch(Fetch::new(made)).unwrap().data, BlockData::page("c"));
}

#[test]
fn copies_that_are_not_made() {
    let library = Library::new();
    let long = format!(r#"{{"templateId":"@template","title":"{}"}}"#, "x".repeat(1_001));
    library.table(&[
        ("copy", r#"{"templateId":"?"}"#, "NOT_FOUND templateId"),
        ("copy", r#"{"templateId":"@Home"}"#, "NOT_FOUND templateId"),
        ("copy", r#"{"templateId":"?","destination":{"folderId":"?"}}"#, "NOT_FOUND templateId"),
        ("copy", r#"{"templateId":"@loose"}"#, "RULE_VIOLATION templateId"),
        ("copy", r#"{"templateId":"@bills"}"#, "RULE_VIOLATION templateId"),
        ("copy", r#"{"templateId":"@rubbish"}"#, "RULE_VIOLATION templateId"),
        ("copy", r#"{"templateId":"@today"}"#, "RULE_VIOLATION templateId"),
        ("copy", r#"{"templateId":"@inbox"}"#, "RULE_VIOLATION templateId"),
        (
            "copy",
            r#"{"templateId":"@template","destination":{"folderId":"?"}}"#,
            "NOT_FOUND destination.folderId",
        ),
        (
            "copy",
            r#"{"templateId":"@template","destination":{"destination":"trash"}}"#,
            "RULE_VIOLATION destination.destination",
        ),
        (
            "copy",
            r#"{"templateId":"@template","title":"<highlight color='puce'>x</highlight>"}"#,
            "INVALID_MARKDOWN title",
        ),
        ("copy", &long, "LIMIT_EXCEEDED title"),
        ("copy", "{}", "VALIDATION templateId"),
        ("copy", r#"{"templateId":"@template","name":"x"}"#, "VALIDATION name"),
    ]);
}

#[test]
fn a_template_of_any_size_is_copied() {
    let mut limits = Limits::default();
    limits.blocks_per_request = 10;
    let mut library = Library::with_limits(limits);
    let id = template(&library, "");
    for _ in 0..30 {
        library.notes.insert_markdown("- a\n- b\n- c", id).unwrap();
    }
    library.name("large", id);
    assert_eq!(blocks(&library, copy(&library, id)).len(), 92);
    library.undone("copy", r#"{"templateId":"@large"}"#, "Meeting:unsorted");
    // Control: so many blocks are not inserted at once.
    let error = library.notes.insert_markdown(&"- a\n".repeat(92), id).unwrap_err();
    assert_eq!(wrong(&error), "LIMIT_EXCEEDED markdown");
}
