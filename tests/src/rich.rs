//! A small space with some of everything: what tests damage, and what the format is kept by.

use leafbase::{
    AddComments, AddItems, AddTasks, Batch, BlockId, CommentDraft, CommentPatch, Connection,
    CreateCollection, CreateDocuments, DeleteDocuments, Destination, Document, Durability,
    EmbeddingDraft, InsertBlocks, ItemDraft, MissingEmbeddings, Position, PropertyDraft,
    PutEmbeddings, Relation, Result, SchemaDraft, SearchIndexing, Space, SpaceBuilder, TaskDraft,
    UpdateComments, UploadFile,
};
use leafbase_test_outline::{FixedClock, SequentialIds};

/// 2026-01-01.
const NOW: u64 = 1_767_225_600_000;

/// The same IDs and instants in every run.
pub fn builder() -> SpaceBuilder {
    let builder =
        Space::builder().name("Rich").zone("Europe/Lisbon").durability(Durability::Relaxed);
    builder
        .clock(FixedClock::at(NOW))
        .ids(SequentialIds::new(7))
        .search_indexing(SearchIndexing::OnDemand)
}

/// Fills an empty space.
///
/// # Errors
/// What the operations report.
pub fn fill(space: &Space) -> Result<()> {
    let notes = space.connect().acting_as("Ada");
    let folder = notes.create_folder("Travel", None)?.id;
    let inner = notes.create_folder("Lisbon", Some(folder))?.id;
    let trip =
        notes.create_document_of(leafbase::BlockData::page("Trip to Lisbon").into(), inner)?;
    pages(&notes, &trip)?;
    let home = notes.create_document("Home")?;
    for number in 0..4 {
        let document = notes.create_document(&format!("Chapter {number}"))?;
        let lines = (0..30).map(|line| {
            format!("- line {line} of {number}, see [the trip](block://{})\n", trip.id())
        });
        notes.insert_markdown(&lines.collect::<String>(), Position::end_of(document.id()))?;
    }
    collections(&notes, &home)?;
    files(&notes, &home)?;
    tasks(&notes, &trip)?;
    let template = vec![leafbase::BlockData::page("Plan of a week").into()];
    notes.create_documents(CreateDocuments::new(template, Destination::Templates))?;
    let thrown = notes.create_document("Thrown away")?;
    notes.insert_markdown(
        "- [ ] never\n- kept [for](date://2026-02-03) a while",
        Position::end_of(thrown.id()),
    )?;
    notes.delete_documents(DeleteDocuments::new([thrown.id()]))?;
    let insertion = InsertBlocks::markdown("done once", home.id());
    notes.run_batch(Batch::default().then("insert_blocks", &insertion)?.keyed("once"))?;
    vectors(&notes)
}

/// Vectors of all blocks and documents outside of the trash, in several bundles.
fn vectors(notes: &Connection) -> Result<()> {
    for request in [MissingEmbeddings::of_blocks("m"), MissingEmbeddings::of_documents("m")] {
        let missing = notes.missing_embeddings(request)?;
        let drafts = missing.iter().enumerate().map(|(number, entry)| {
            let number = u16::try_from(number % 100).unwrap_or_default();
            let vector: Vec<f32> =
                (0..200_u16).map(|at| f32::from(at) - f32::from(number)).collect();
            EmbeddingDraft::new(entry.id, vector).of_rev(entry.rev)
        });
        notes.put_embeddings(PutEmbeddings::new("m", drafts))?;
    }
    Ok(())
}

fn pages(notes: &Connection, trip: &Document) -> Result<()> {
    let text = "# Days\n\n<page><pageTitle>Packing</pageTitle><content>\n\n- [ ] socks\n- [x] passport\n\n\
                <page><pageTitle>Medicine</pageTitle><content>\n\nplasters\n\n</content></page>\n\n</content></page>\n\n\
                | a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn main() {}\n```\n\n***\n\n> quoted **text**\n";
    let added = notes.insert_markdown(text, Position::end_of(trip.id()))?;
    let drafts =
        added.iter().map(|block| CommentDraft::new(block.id, format!("about {}", block.id)));
    let comments = notes.add_comments(AddComments::new(drafts.collect::<Vec<_>>()))?;
    let patches = comments.iter().take(2).map(|added| {
        CommentPatch::of(added.comment_id).with_content("about *this*").with_resolved(true)
    });
    notes.update_comments(UpdateComments::new(patches))?;
    Ok(())
}

fn collections(notes: &Connection, home: &Document) -> Result<()> {
    let make = |name: &str, properties: Vec<PropertyDraft>| -> Result<BlockId> {
        let schema = SchemaDraft::new(name, properties);
        Ok(notes.create_collection(CreateCollection::new(schema, Position::end_of(home.id())))?.id)
    };
    let read = |text: &str| {
        serde_json::from_str::<PropertyDraft>(text)
            .map_err(|error| leafbase::Error::validation(error.to_string()))
    };
    let people = make("People", vec![read(r#"{"name": "Born", "type": "date"}"#)?])?;
    let select = r#"{"name": "Shelf", "type": "singleSelect", "options": [{"name": "up"}, {"name": "down"}]}"#;
    let by = PropertyDraft::new("By", Relation::to(people).with_inverse("wrote").into());
    let books =
        make("Books", vec![by, read(select)?, read(r#"{"name": "Pages", "type": "number"}"#)?])?;
    let born = |name: &str| ItemDraft::new(name).with("born", "1900-05-06");
    let authors = notes.add_items(AddItems::new(people, ["Ann", "Bob", "Cleo"].map(born)))?;
    let book = |number: usize| {
        let by =
            authors.iter().skip(number % 3).map(|author| author.id.to_string()).collect::<Vec<_>>();
        ItemDraft::new(format!("Book {number}"))
            .with("by", by)
            .with("shelf", ["up", "down"][number % 2])
            .with("pages", number as f64)
    };
    let added = notes.add_items(AddItems::new(books, (0..12).map(book).collect::<Vec<_>>()))?;
    for item in added.iter().take(3) {
        notes.insert_markdown("a summary\n\n- and a [ ] list", Position::end_of(item.id))?;
    }
    Ok(())
}

fn files(notes: &Connection, home: &Document) -> Result<()> {
    for (name, length) in [("note.txt", 900_u32), ("map.bin", 70_000)] {
        let bytes: Vec<u8> = (0..length).map(|number| (number * 31 % 251) as u8).collect();
        notes.upload_file(UploadFile::new(Position::end_of(home.id())).named(name), &*bytes)?;
    }
    Ok(())
}

fn tasks(notes: &Connection, trip: &Document) -> Result<()> {
    notes.add_tasks(AddTasks::new(["milk", "bread"].map(TaskDraft::new)))?;
    let day = "2026-01-01".parse::<leafbase::Day>()?;
    notes.insert_markdown(
        "- [ ] call Bob\n- [x] sleep\n\nwords of the day",
        Position::end_of_day(day),
    )?;
    notes.insert_markdown("- [ ] tickets\n- [-] visa", Position::end_of(trip.id()))?;
    Ok(())
}
