//! A space, and who sees what of it.

use crate::plan::{self, Document, Plan};
use leafbase::{
    AddItems, BlockData, BlockDraft, BlockId, Connection, CreateCollection, CreateDocuments,
    Destination, DocumentId, Durability, Full, InsertBlocks, ItemDraft, Position, PropertyDraft,
    PropertyKind, Relation, SchemaDraft, Scoped, SearchIndexing, Space,
};
use std::path::Path;

/// Blocks that are fetched at once.
pub const BLOCKS: usize = 100;
const ITEMS: usize = 1_000;

pub struct World {
    pub full: Connection<Full>,
    /// Sees what is fetched.
    pub scoped: Connection<Scoped>,
    /// Sees ten of the documents that are searched.
    pub of_ten: Connection<Scoped>,
    pub ten: Vec<DocumentId>,
    /// A document without links.
    pub plain: BlockId,
    /// One in which every tenth block has a link, half of them to what is hidden.
    pub some_linked: BlockId,
    /// One in which every block has.
    pub linked: BlockId,
    pub block: BlockId,
    /// A collection with three properties, one a relation to what is hidden.
    pub items: BlockId,
}

fn draft(document: &Document) -> BlockDraft {
    let content = document.blocks.iter().map(|text| BlockDraft::new(BlockData::text(text)));
    BlockDraft::new(BlockData::page(&document.title)).with_content(content.collect())
}

impl World {
    pub fn new(directory: &Path, documents: usize) -> Self {
        let builder = Space::builder()
            .durability(Durability::Relaxed)
            .search_indexing(SearchIndexing::OnDemand);
        let space = builder.create(directory.join("space.leafbase")).expect("a space");
        let full = space.connect();
        let plan = Plan::new(documents, plan::BLOCKS);
        let all = searched(&full, &plan);
        let make = |title: &str| full.create_document(title).expect("a document").id();
        let [plain, some_linked, linked] = ["plain", "some linked", "linked"].map(make);
        let [work, hidden] = ["work", "hidden"].map(make);
        let texts: Vec<&str> = plan
            .documents
            .iter()
            .flat_map(|document| &document.blocks)
            .map(String::as_str)
            .collect();
        let block = insert(&full, plain, texts.iter().take(BLOCKS).map(|text| (*text).to_owned()));
        let targets = [block[0], all[0].root()];
        for (document, every) in [(some_linked, 10), (linked, 1)] {
            let text = |(number, text): (usize, &&str)| match number % every {
                0 => format!("{text} [there](block://{}) and on", targets[number / every % 2]),
                _ => (*text).to_owned(),
            };
            insert(&full, document, texts.iter().take(BLOCKS).enumerate().map(text));
        }
        let items = related(&full, work, hidden);
        let ten = ten(&plan, &all);
        space.flush().expect("flush");
        space.flush_search().expect("an index");
        let (scoped, of_ten) =
            (space.scoped([plain, some_linked, linked, work]), space.scoped(ten.clone()));
        let [plain, some_linked, linked] = [plain, some_linked, linked].map(DocumentId::root);
        Self {
            full,
            scoped,
            of_ten,
            ten,
            plain,
            some_linked,
            linked,
            block: block[BLOCKS / 2],
            items,
        }
    }
}

/// Documents that are searched.
fn searched(full: &Connection, plan: &Plan) -> Vec<DocumentId> {
    let mut all = Vec::new();
    for batch in plan.documents.chunks(50) {
        let request = CreateDocuments::new(
            batch.iter().map(draft).collect::<Vec<_>>(),
            Destination::Unsorted,
        );
        let made = full.create_documents(request).expect("documents");
        all.extend(made.iter().map(leafbase::Document::id));
    }
    all
}

fn insert(
    full: &Connection,
    document: DocumentId,
    texts: impl Iterator<Item = String>,
) -> Vec<BlockId> {
    let drafts: Vec<_> = texts.map(|text| BlockDraft::new(BlockData::text(text))).collect();
    let request = InsertBlocks::blocks(drafts, Position::end_of(document));
    full.insert_blocks(request).expect("blocks").iter().map(|block| block.id).collect()
}

/// Two of the documents have the rarest word, if so many do; the others are spread.
fn ten(plan: &Plan, all: &[DocumentId]) -> Vec<DocumentId> {
    let is_rare = |document: &&(&Document, &DocumentId)| {
        document.0.texts().any(|text| text.contains("zephyr"))
    };
    let pairs: Vec<_> = plan.documents.iter().zip(all).collect();
    let rare = pairs.iter().filter(is_rare).take(2).map(|(_, id)| **id);
    let spread = pairs
        .iter()
        .filter(|pair| !is_rare(pair))
        .step_by((all.len() / 10).max(1))
        .map(|(_, id)| **id);
    rare.chain(spread).take(10).collect()
}

fn related(full: &Connection, work: DocumentId, hidden: DocumentId) -> BlockId {
    let make = |name: &str, home: DocumentId, properties: Vec<(&str, PropertyKind)>| {
        let properties = properties.into_iter().map(|(name, kind)| PropertyDraft::new(name, kind));
        let request =
            CreateCollection::new(SchemaDraft::new(name, properties), Position::end_of(home));
        full.create_collection(request).expect("a collection").id
    };
    let add = |collection: BlockId, drafts: Vec<ItemDraft>| -> Vec<BlockId> {
        let added = full.add_items(AddItems::new(collection, drafts)).expect("items");
        added.iter().map(|item| item.id).collect()
    };
    let projects = make("Projects", hidden, Vec::new());
    let related =
        add(projects, (0..20).map(|number| ItemDraft::new(format!("project {number}"))).collect());
    let relation = PropertyKind::Relation(Relation::to(projects).with_inverse("tasks"));
    let properties = vec![
        ("Notes", PropertyKind::Text),
        ("Effort", PropertyKind::Number),
        ("Project", relation),
    ];
    let tasks = make("Tasks", work, properties);
    let draft = |number: usize| {
        let project = serde_json::json!([related[number % related.len()].to_string()]);
        let draft = ItemDraft::new(format!("task {number}"))
            .with("notes", format!("some words on {number}"));
        draft.with("effort", number).with("project", project)
    };
    (0..ITEMS)
        .step_by(100)
        .for_each(|from| drop(add(tasks, (from..from + 100).map(draft).collect())));
    tasks
}
