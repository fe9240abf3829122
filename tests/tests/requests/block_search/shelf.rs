//! A document of blocks of many types, where requests name blocks by their labels: `@packing`.

use std::collections::BTreeMap;

use leafbase::{
    AddItems, Block, BlockId, BlockMatch, Connection, CreateCollection, Error, InsertBlocks,
    ItemDraft, ItemsPage, Limits, Position, SchemaDraft, Space, json,
};
use leafbase_test_outline::{FixedClock, Outline, SequentialIds};

use crate::host::wrong;

/// A page within a page, and a block of every type that has a text of some kind.
pub const TRIP: &str = r##"
    text "Trains" style=h2
    text "Night train at 22:15" #train
    page "Packing" #packing
      text "socks, **wool**" #socks
      page "Tools" #tools
        code code="let saw = 1;\nsaw + 1" lang=rust
        text "a Saw, SAWS"
    table "| Tool | Price |\n| --- | --- |\n| saw | € 12 |"
    image url="https://x.example/saw.png" alt="A saw"
    file url="asset://7/f.pdf" name="plan.pdf"
    richUrl url="https://rail.example" title="Rail" description="All trains"
    line
    text "" #empty
    text "The end" #end
"##;

pub struct Shelf {
    pub notes: Connection,
    names: BTreeMap<String, BlockId>,
}

impl Shelf {
    /// A document `@trip` of these blocks, each named by its label.
    pub fn of(outline: &str) -> Self {
        Self::with_limits(outline, Limits::default())
    }

    pub fn with_limits(outline: &str, limits: Limits) -> Self {
        let builder =
            Space::builder().clock(FixedClock::default()).ids(SequentialIds::new(1)).limits(limits);
        let mut shelf =
            Self { notes: builder.in_memory().unwrap().connect(), names: BTreeMap::new() };
        let trip = shelf.notes.create_document("Trip").unwrap().id();
        shelf.name("trip", trip.root());
        shelf.insert(outline, Position::end_of(trip));
        shelf
    }

    pub fn insert(&mut self, outline: &str, position: Position) {
        let read = Outline::parse(outline).unwrap();
        let drafts = read.iter().map(Outline::draft).collect();
        let inserted = self.notes.insert_blocks(InsertBlocks::blocks(drafts, position)).unwrap();
        let blocks = inserted.iter().flat_map(Block::walk);
        for (outline, (_, block)) in read.iter().flat_map(Outline::walk).zip(blocks) {
            if let Some(label) = &outline.label {
                self.name(label, block.id);
            }
        }
    }

    /// A collection at the end of the document with items of these titles, each with a text on its
    /// page.
    pub fn add_collection(&mut self, name: &str, items: &[(&str, &str)]) {
        let schema = SchemaDraft::new(name, []);
        let collection = self
            .notes
            .create_collection(CreateCollection::new(schema, Position::end_of(self.id("trip"))));
        let collection = collection.unwrap().id;
        self.name(name, collection);
        let added = self.notes.add_items(AddItems::new(
            collection,
            items.iter().map(|(title, _)| ItemDraft::new(*title)),
        ));
        for (item, (title, text)) in added.unwrap().iter().zip(items) {
            self.name(title, item.id);
            self.notes.insert_markdown(text, Position::end_of(item.id)).unwrap();
        }
    }

    pub fn name(&mut self, name: &str, id: BlockId) {
        self.names.insert(name.to_owned(), id);
    }

    pub fn id(&self, name: &str) -> BlockId {
        self.names[name]
    }

    pub fn search(&self, body: &str) -> Result<ItemsPage<BlockMatch>, Error> {
        let mut body = body.to_owned();
        for (name, id) in &self.names {
            body = body.replace(&format!("\"@{name}\""), &format!("\"{id}\""));
        }
        self.notes.search_blocks(json::from_str(&body, self.notes.space().limits())?)
    }

    /// What is found: each block as its path and its text, hits between `<` and `>`; or the code
    /// and the path of the error.
    pub fn found(&self, body: &str) -> Vec<String> {
        match self.search(body) {
            Ok(page) => page.iter().map(shown).collect(),
            Err(error) => vec![wrong(&error)],
        }
    }

    /// As [`Self::found`], for patterns in the whole document, as a list in JSON.
    pub fn matches(&self, patterns: &str) -> Vec<String> {
        self.found(&format!(
            r#"{{"documentId":"@trip","pattern":{patterns},"caseSensitive":true}}"#
        ))
    }
}

pub fn shown(hit: &BlockMatch) -> String {
    let path: Vec<_> = hit.path.iter().map(|step| step.content.as_str()).collect();
    let mut text = hit.markdown.clone();
    for range in hit.ranges.iter().rev() {
        text.insert(range.end, '>');
        text.insert(range.start, '<');
    }
    format!("{}: {text}", path.join("/"))
}
