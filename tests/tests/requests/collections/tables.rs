//! Collections as markdown.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use leafbase::{BlockType, Connection, Fetch, Limits, Position, Space};
use leafbase_vault::{
    ExportOptions, ExportReport, ImportOptions, MemorySource, VaultWarningKind, export_folder,
    import_from,
};
use serde_json::json;

use super::shelves::Shelves;

/// Values of every type, and what could break a table.
fn of_everything() -> Shelves {
    let mut shelves = Shelves::empty();
    let schema = json!({"name": "All of it", "contentPropDetails": {"name": "Na|me"}, "properties": [
        {"key": "text", "name": "T*xt", "type": "text"}, {"name": "Number", "type": "number"}, {"name": "Done", "type": "boolean"},
        {"name": "Day", "type": "date"}, {"name": "URL", "type": "url"}, {"name": "Mail", "type": "email"},
        {"name": "Phone", "type": "phone"},
        {"name": "One", "type": "singleSelect", "options": [{"name": "a|b"}]},
        {"name": "Many", "type": "multiSelect", "options": [{"name": "x"}, {"name": "y_z"}]},
        {"name": "Next", "type": "relation", "targetCollectionId": "self", "inverseKey": "next"},
    ]});
    shelves.create("all", "home", schema);
    for (name, title, properties) in [
        (
            "i1",
            "plain",
            json!({"text": "a | b\n<page> *c*", "number": 3.5, "done": true, "day": "2026-03-01"}),
        ),
        (
            "i2",
            "b|c",
            json!({"url": "https://a.example/x_y|z", "mail": "a@b.example", "phone": "+1 | 2", "done": false}),
        ),
        (
            "i3",
            "[x](u) `y` </page>",
            json!({"one": "a|b", "many": ["x", "y_z"], "next": ["@i1", "@i2"]}),
        ),
        ("i4", "*ends* \\", json!({"text": "\\|", "url": "https://a.example/x"})),
        ("i5", "", json!({"number": -1_000_000})),
    ] {
        let body =
            json!({"collectionId": "@all", "items": [{"name": title, "properties": properties}]});
        let added = shelves.notes.add_items(shelves.request(&body).unwrap()).unwrap();
        shelves.name(name, added[0].id);
    }
    shelves.check();
    shelves
}

const EVERYTHING: &str = r"**All of it**

| Na\|me | T\*xt | Number | Done | Day | URL | Mail | Phone | One | Many | Next |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| [plain](block://@i1) | a \| b<br>\<page> \*c\* | 3.5 | yes | 2026-03-01 | | | | | | [x y \</page>](block://@i3) |
| [b\|c](block://@i2) | | | no | | https://a.example/x_y\|z | <a@b.example> | +1 \| 2 | | | [x y \</page>](block://@i3) |
| [x y \</page>](block://@i3) | | | | | | | | a\|b | x, y_z | [plain](block://@i1), [b\|c](block://@i2) |
| [ends \\](block://@i4) | \\\| | | | | <https://a.example/x> | | | | | |
| [Untitled](block://@i5) | | -1000000 | | | | | | | | |";

#[test]
fn every_type_has_its_form() {
    let shelves = of_everything();
    let text = shelves.notes.content_markdown(shelves.id("home")).unwrap();
    assert_eq!(shelves.with_names(&text), EVERYTHING);
    let whole = shelves.notes.fetch_markdown(Fetch::new(shelves.id("all"))).unwrap();
    assert_eq!(whole, text);
    let table = shelves.notes.content_markdown(shelves.id("all")).unwrap();
    assert_eq!(format!("**All of it**\n\n{table}"), text);
    // What is read of it is a text and a table, which stay as they are.
    let read = shelves.notes.insert_markdown(&text, Position::end_of(shelves.id("other"))).unwrap();
    let types: Vec<_> = read.iter().map(|block| block.data.block_type()).collect();
    assert_eq!(types, [BlockType::Text, BlockType::Table]);
    assert_eq!(shelves.notes.content_markdown(shelves.id("other")).unwrap(), text);
    shelves.check();
}

/// A collection of one item, `@item`, after what is inserted before it: what the document is as
/// markdown, at this depth.
#[test]
fn collections_are_written_where_they_stand() {
    let table = "| Title |\n| --- |\n| [item](block://@item) |";
    for (name, fields, depth, expected) in [
        ("Things", json!({}), None, format!("text\n\n**Things**\n\n{table}")),
        ("Things", json!({}), Some(2), format!("text\n\n**Things**\n\n{table}")),
        ("Things", json!({}), Some(1), "text\n\n**Things**".to_owned()),
        ("a * b", json!({}), Some(1), "text\n\na * b".to_owned()),
        ("# a", json!({}), Some(1), "text\n\n**# a**".to_owned()),
        ("*", json!({}), Some(1), "text\n\n\\*".to_owned()),
        ("a\\", json!({}), Some(1), "text\n\na\\".to_owned()),
        (
            "Things",
            json!({"decorations": ["quote"]}),
            None,
            format!("text\n\n> **Things**\n>\n> {}", table.replace('\n', "\n> ")),
        ),
        (
            "Things",
            json!({"decorations": ["callout"]}),
            None,
            format!("text\n\n<callout>\n\n**Things**\n\n{table}\n\n</callout>"),
        ),
        (
            "Things",
            json!({"listStyle": "task", "taskInfo": {"state": "done"}}),
            None,
            format!("text\n\n- [x] **Things**\n\n  {}", table.replace('\n', "\n  ")),
        ),
        (
            "Things",
            json!({"listStyle": "bullet", "indentationLevel": 5}),
            Some(1),
            "text\n\n- - - - - - **Things**".to_owned(),
        ),
    ] {
        let mut shelves = Shelves::empty();
        shelves.notes.insert_markdown("text", shelves.document("home")).unwrap();
        shelves.create("things", "home", json!({"name": name, "properties": []}));
        shelves.add("things", &[("item", json!({}))]);
        let mut patch = fields.clone();
        patch["id"] = "@things".into();
        shelves.run_json("update_blocks", json!({"blocks": [patch]})).unwrap();
        let page = Fetch { max_depth: depth, ..Fetch::new(shelves.id("home")) };
        let text = shelves.with_names(&shelves.notes.fetch_markdown(page).unwrap());
        let inner =
            text.strip_prefix("<page>\n<pageTitle>home</pageTitle>\n<content>\n\n").unwrap();
        let inner = inner.strip_suffix("\n\n</content>\n</page>").unwrap();
        assert_eq!(inner, expected, "{name} {fields}");
        let read =
            shelves.notes.insert_markdown(inner, Position::end_of(shelves.id("other"))).unwrap();
        assert_eq!(read.len(), if depth == Some(1) { 2 } else { 3 }, "{inner}");
        assert_eq!(shelves.notes.content_markdown(shelves.id("other")).unwrap(), inner);
    }
}

#[test]
fn an_empty_collection_is_a_head_and_an_item_is_a_page() {
    let mut shelves = Shelves::empty();
    shelves.create(
        "things",
        "home",
        json!({"name": "Things", "properties": [{"name": "A", "type": "text"}]}),
    );
    let text = |shelves: &Shelves, name: &str| {
        shelves.notes.fetch_markdown(Fetch::new(shelves.id(name))).unwrap()
    };
    assert_eq!(text(&shelves, "things"), "**Things**\n\n| Title | A |\n| --- | --- |");
    shelves.add("things", &[("item", json!({"a": "x"}))]);
    shelves.notes.insert_markdown("inside", Position::end_of(shelves.id("item"))).unwrap();
    shelves.create("inner", "item", json!({"name": "Inner", "properties": []}));
    let table = "**Inner**\n\n| Title |\n| --- |";
    let page = format!(
        "<page>\n<pageTitle>item</pageTitle>\n<content>\n\ninside\n\n{table}\n\n</content>\n</page>"
    );
    assert_eq!(text(&shelves, "item"), page);
    assert_eq!(
        shelves.notes.content_markdown(shelves.id("item")).unwrap(),
        format!("inside\n\n{table}")
    );
}

#[test]
fn tables_have_as_many_rows_as_a_fetch_may_have_blocks() {
    let mut limits = Limits::default();
    limits.blocks_per_fetch = 3;
    let mut shelves = Shelves::with_limits(limits);
    for (name, items) in [("a", ["a1", "a2"]), ("b", ["b1", "b2"])] {
        shelves.create(name, "home", json!({"name": name, "properties": []}));
        items.iter().for_each(|item| shelves.add(name, &[(item, json!({}))]));
    }
    // The blocks are no more than three, whatever items there are.
    shelves.notes.fetch(Fetch::new(shelves.id("home"))).unwrap();
    shelves.notes.fetch_markdown(Fetch::new(shelves.id("a"))).unwrap();
    shelves
        .notes
        .fetch_markdown(Fetch { max_depth: Some(1), ..Fetch::new(shelves.id("home")) })
        .unwrap();
    let error = shelves.notes.fetch_markdown(Fetch::new(shelves.id("home"))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "id: items in one fetch as markdown (a maxDepth asks for fewer): at most 3, got 4"
    );
}

/// The files of an export, and what it reports.
fn exported(notes: &Connection) -> (BTreeMap<String, String>, ExportReport) {
    let directory = tempfile::tempdir().unwrap();
    let report = export_folder(notes, directory.path(), &ExportOptions::new(), &mut |_| {
        ControlFlow::Continue(())
    });
    let files = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()).map(
        |path: PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        },
    );
    (files.collect(), report.unwrap())
}

const HOME: &str = r"see [dune](#^4), [Frank](club.md#^3) and [Ursula](block://@ursula)

**Books**

| Title | Author | Sequel | Pages | Sequel of | Notes |
| --- | --- | --- | --- | --- | --- |
| [messiah](block://@messiah) | [frank](club.md#^3) | | | [dune](#^4) | [spice](#^7) |
| [dune](#^4) | [frank](club.md#^3) | [messiah](block://@messiah) | 412 | | [spice](#^7) |
| [omelas](block://@omelas) | [ursula](block://@ursula), [frank](club.md#^3) | | | | [walk](block://@walk) |

<page>
<pageTitle>dune</pageTitle>
<content>

**Notes**

| Title | About |
| --- | --- |
| [spice](#^7) | [dune](#^4), [messiah](block://@messiah) |
| [walk](block://@walk) | [omelas](block://@omelas) |

<page>
<pageTitle>spice</pageTitle>
<content>

must flow

</content>
</page>

</content>
</page>

[Books](#^2)
";

#[test]
fn an_export_keeps_the_pages_of_items_and_is_stable() {
    let shelves = Shelves::of_books();
    let put = |text: &str, position: Position| {
        shelves.notes.insert_markdown(&shelves.with_ids(text), position).unwrap()
    };
    put(
        "see [dune](block://@dune), [Frank](block://@frank) and [Ursula](block://@ursula)",
        Position::start_of(shelves.id("home")),
    );
    put("[Books](block://@books)", Position::end_of(shelves.id("home")));
    put("must flow", Position::end_of(shelves.id("spice")));
    put("wrote [Dune](block://@dune)", Position::end_of(shelves.id("frank")));
    let (files, report) = exported(&shelves.notes);
    assert_eq!(shelves.with_names(&files["home.md"]), HOME);
    let told: Vec<_> = report
        .warnings
        .iter()
        .map(|told| (told.path.as_str(), told.kind, told.message.as_str()))
        .collect();
    let kind = VaultWarningKind::Collection;
    assert_eq!(
        told,
        [
            ("club.md", kind, r#""People" is written as a table of 2 items"#),
            ("home.md", kind, r#""Books" is written as a table of 3 items"#),
            ("home.md", kind, r#""Notes" is written as a table of 2 items"#),
        ]
    );
    let again = Space::in_memory().unwrap().connect();
    let mut source =
        MemorySource::from_iter(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    import_from(&again, &mut source, &ImportOptions::new(), &mut |_| ControlFlow::Continue(()))
        .unwrap();
    let (twice, report) = exported(&again);
    assert_eq!(twice, files);
    assert!(report.warnings.is_empty(), "{:#?}", report.warnings);
}

#[test]
fn an_export_of_what_could_break_a_table_is_stable() {
    let shelves = of_everything();
    shelves.notes.insert_markdown("a page", Position::end_of(shelves.id("i3"))).unwrap();
    let (files, _) = exported(&shelves.notes);
    let again = Space::in_memory().unwrap().connect();
    let mut source =
        MemorySource::from_iter(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    import_from(&again, &mut source, &ImportOptions::new(), &mut |_| ControlFlow::Continue(()))
        .unwrap();
    let (twice, report) = exported(&again);
    assert_eq!(twice, files);
    assert!(report.warnings.is_empty(), "{:#?}", report.warnings);
}
