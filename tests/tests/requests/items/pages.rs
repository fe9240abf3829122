//! The pages of items: given with an item, read down to a depth, worked on by the block operations.

use leafbase::{Limits, TaskScope};

use super::library::Library;

const ADD: &str = r#"[
    {"name":"Dune","content":[
        {"type":"text","markdown":"one\n\ntwo"},
        {"type":"page","title":"Places","content":[
            {"type":"text","markdown":"Arrakis","content":[{"type":"text","markdown":"sand"}]}]},
        {"type":"line","lineStyle":"strong"}]},
    {"name":"Emma"},
    {"name":"Faust","content":[{"type":"text","markdown":"words"}]}]"#;

fn library() -> Library {
    let mut library = Library::new();
    library.run(&[("add books", ADD, "Dune Emma Faust")]);
    library
}

/// What a request says of its depth, and what is shown.
const DEPTHS: &[(&str, &str)] = &[
    (r#""maxDepth":0"#, "Dune Emma Faust"),
    (r#""maxDepth":1"#, "Dune[one, two, Places..Arrakis, ******] Emma[] Faust[words]"),
    (r#""maxDepth":2"#, "Dune[one, two, Places[Arrakis..sand], ******] Emma[] Faust[words]"),
    (r#""maxDepth":3"#, "Dune[one, two, Places[Arrakis[sand]], ******] Emma[] Faust[words]"),
    (r#""maxDepth":-1"#, "Dune[one, two, Places[Arrakis[sand]], ******] Emma[] Faust[words]"),
    ("", "Dune[one, two, Places[Arrakis[sand]], ******] Emma[] Faust[words]"),
];

#[test]
fn pages_are_shown_down_to_the_depth() {
    let mut library = library();
    for (depth, expected) in DEPTHS {
        library.run(&[("items books", depth, expected)]);
        // The same item by item.
        let comma = if depth.is_empty() { "" } else { "," };
        let part = expected.rsplit_once(" Faust").unwrap().0;
        library.run(&[("items books", &format!(r#"{depth}{comma}"limit":2"#), part)]);
    }
}

#[test]
fn a_page_is_a_page_of_the_document() {
    let mut library = library();
    let request = r#"{"blocks":[{"type":"text","markdown":"read it","listStyle":"task"}],"position":{"pageId":"@Emma"}}"#;
    let task = library.notes.insert_blocks(library.request(request).unwrap()).unwrap();
    library.name("task", &task[0].id.to_string());
    library.run(&[(
        "items books",
        r#""maxDepth":1,"limit":2"#,
        "Dune[one, two, Places..Arrakis, ******] Emma[- [ ] read it]",
    )]);
    let tasks = library.notes.tasks(TaskScope::Document(library.id("home"))).unwrap();
    assert_eq!(tasks[0].inline, "read it");
    let moved =
        library.request(r#"{"blockIds":["@task"],"position":{"pageId":"@Faust"}}"#).unwrap();
    library.notes.move_blocks(moved).unwrap();
    library.run(&[
        ("delete books", r#"["@Dune"]"#, "Dune"),
        ("items books", "", "Emma[] Faust[words, - [ ] read it]"),
        ("delete books", r#"["@Faust"]"#, "Faust"),
    ]);
    assert!(library.notes.tasks(TaskScope::Document(library.id("home"))).unwrap().is_empty());
}

#[test]
fn days_and_stamps_of_tasks_are_those_of_the_write() {
    let mut library = Library::new();
    let task = |info: &str| {
        format!(r#"{{"type":"text","markdown":"x","listStyle":"task","taskInfo":{info}}}"#)
    };
    let add = format!(
        r#"[{{"name":"Dune","content":[{},{}]}}]"#,
        task(r#"{"scheduleDate":"tomorrow"}"#),
        task(r#"{"state":"done"}"#)
    );
    library.run(&[("add books", &add, "Dune")]);
    let tasks = library.notes.tasks(TaskScope::Document(library.id("home"))).unwrap();
    let shown: Vec<_> = tasks
        .items
        .iter()
        .map(|task| serde_json::to_value(task.info).unwrap().to_string())
        .collect();
    assert_eq!(
        shown,
        [
            r#"{"scheduleDate":"2026-03-02","state":"todo"}"#,
            r#"{"completedAt":"2026-03-01T12:00:00.000Z","state":"done"}"#
        ]
    );
}

/// The content of the third item, and what is wrong with it.
const FAULTS: &[(&str, &str)] = &[
    (
        r##"[{"type":"text","markdown":"<highlight color='no'>x</highlight>"}]"##,
        "INVALID_MARKDOWN items[2].content[0].markdown",
    ),
    (
        r#"[{"type":"line"},{"type":"page","content":[{"type":"text","cardLayout":"square"}]}]"#,
        "RULE_VIOLATION items[2].content[1].content[0].cardLayout",
    ),
    (r#"[{"type":"collectionItem"}]"#, "RULE_VIOLATION items[2].content[0].type"),
    (r#"[{"type":"collection"}]"#, "RULE_VIOLATION items[2].content[0].type"),
    (r#"[{"type":"text","color":"loud"}]"#, "VALIDATION items[2].content[0].color"),
    (
        r#"[{"type":"line","content":[{"type":"line"}]}]"#,
        "RULE_VIOLATION items[2].content[0].content",
    ),
];

#[test]
fn faults_of_pages_are_named_with_their_place() {
    let mut library = library();
    for (content, expected) in FAULTS {
        let before = library.dump();
        let found = library.line("add books", &format!(r#"[{{}},{{}},{{"content":{content}}}]"#));
        assert_eq!(found.split(':').next().unwrap(), *expected);
        assert_eq!(library.dump(), before);
    }
}

#[test]
fn pages_nest_as_deep_as_anywhere() {
    // The collection stands at 1, its items at 2.
    let mut limits = Limits::default();
    limits.page_nesting = 4;
    let nested = |levels: usize| {
        let block = (1..levels).fold(r#"{"type":"text"}"#.to_owned(), |block, _| {
            format!(r#"{{"type":"page","content":[{block}]}}"#)
        });
        format!(r#"[{{"name":"a"}},{{"name":"b","content":[{block}]}}]"#)
    };
    let mut library = Library::with_limits(limits);
    library.run(&[
        ("add books", &nested(2), "a b"),
        (
            "add books",
            &nested(3),
            "LIMIT_EXCEEDED items[1].content[0].content[0].content[0]: pages within pages: at most 4, got 5",
        ),
    ]);
}

#[test]
fn drafts_deeper_than_the_stack_are_refused() {
    let mut limits = Limits::default();
    limits.blocks_per_request = 1_000_000;
    let mut library = Library::with_limits(limits);
    let mut draft = leafbase::BlockDraft::from(leafbase::BlockType::Page);
    for _ in 0..200_000 {
        draft = leafbase::BlockDraft::from(leafbase::BlockType::Page).with_content(vec![draft]);
    }
    let items = [leafbase::ItemDraft::new("deep").with_content([draft])];
    let error =
        library.notes.add_items(leafbase::AddItems::new(library.id("books"), items)).unwrap_err();
    assert_eq!(error.code(), "LIMIT_EXCEEDED");
    library.run(&[("items books", "", "")]);
}
