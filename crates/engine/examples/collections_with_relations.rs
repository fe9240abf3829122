//! Two collections that know of each other: a relation is set at one end and seen at both.
//!
//! `cargo run --example collections_with_relations`

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example stays short"
)]

use leafbase::{
    AddItems, BlockData, CountItems, CreateCollection, ErrorKind, ItemDraft, ItemFilter,
    ItemUpdate, Operator, Position, PropertyDraft, PropertyKind, QueryItems, Relation, Result,
    SchemaDraft, SelectOption, Sort, Space, UpdateItems,
};

fn main() -> Result<()> {
    let notes = Space::in_memory()?.connect();
    let work = notes.create_document("Work")?;
    let table = |schema| {
        notes.create_collection(CreateCollection::new(schema, Position::end_of(work.id())))
    };

    let projects = table(SchemaDraft::new("Projects", []))?.id;
    let states = ["open", "done"].map(SelectOption::new).to_vec();
    let tasks = table(SchemaDraft::new(
        "Tasks",
        [
            PropertyDraft::new("State", PropertyKind::SingleSelect(states)),
            PropertyDraft::new("Due", PropertyKind::Date),
            // The end whose items have few related ones holds the relation; the other one is made
            // along with it.
            PropertyDraft::new(
                "Project",
                Relation::to(projects).with_inverse("tasks").single().into(),
            ),
        ],
    ))?
    .id;

    let house = notes.add_items(AddItems::new(projects, [ItemDraft::new("House")]))?[0].id;
    let project = vec![house.to_string()];
    let paint = ItemDraft::new("Paint")
        .with("due", "2026-05-01")
        .with("state", "open")
        .with("project", project.clone());
    let paint = paint.with_content([BlockData::text("two coats").into()]); // an item is a page
    let rest = ItemDraft::new("Rest").with("state", "open").with("project", project);
    let added = notes.add_items(AddItems::new(tasks, [paint, rest]))?;

    // Both ends show it.
    let titles: Vec<_> = notes.items(projects)?[0]
        .related("tasks")
        .iter()
        .map(|item| item.title.to_string())
        .collect();
    assert_eq!(titles, ["Paint", "Rest"]);
    notes.update_items(UpdateItems::new(
        tasks,
        [ItemUpdate::of(added[1].id).with("state", "done")],
    ))?;

    let open = ItemFilter::on("state", Operator::Equals, "open").and(ItemFilter::on(
        "project",
        Operator::AnyOf,
        vec![house.to_string()],
    ));
    for item in
        notes.query_items(QueryItems::of(tasks).filtered(open).sorted(Sort::ascending("due")))?
    {
        println!("{}: {}", item.title, serde_json::to_string(&item.properties).unwrap_or_default());
    }
    let counts = notes.count_items(CountItems::of(tasks).grouped_by("state"))?;
    println!("{}", serde_json::to_string(&counts).unwrap_or_default());
    assert_eq!(counts.count, 2);

    // What does not fit the schema is refused, with its place.
    let wrong = ItemDraft::new("Sing").with("due", "soon");
    let error = notes.add_items(AddItems::new(tasks, [wrong])).unwrap_err();
    println!("{error}");
    assert_eq!(
        (error.kind(), error.path()),
        (ErrorKind::SchemaMismatch, "items[0].properties.due")
    );

    // A collection is a table in markdown.
    println!("{}", notes.content_markdown(work.id())?);
    Ok(())
}
