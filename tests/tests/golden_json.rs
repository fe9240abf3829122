//! The JSON of every operation: what is in `golden_json/` is read, written back byte for byte,
//! asked, and answered byte for byte; JSON Schemas take it, and take no more than the reader does.
//!
//! A file that is to change: run with `GOLDEN_JSON=write`, and look at the difference.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use leafbase::json::FromJson;
use leafbase::{
    AddComments, AddItems, AddTasks, AddedComment, AppliedMarkdown, ApplyMarkdown, BackLinks,
    Batch, BatchReply, BlockData, BlockDraft, BlockId, BlockKind, BlockMatch, BlockOrder,
    BlockPatch, BlockType, Change, CodeLanguage, Collection, CollectionSchema, CommentDraft,
    CommentId, CommentPatch, Connection, ConnectionInfo, CountItems, CreateCollection,
    CreateDocuments, CreateFolders, CreateFromTemplate, DayRange, DayRef, DeleteBlocks,
    DeleteComments, DeleteDocuments, DeleteFolders, DeleteItems, DeleteTasks, Destination,
    Document, DocumentFilterMode, DocumentId, DocumentLinks, DocumentOrder, DocumentPatch,
    DocumentProperties, DuplicateBlocks, EditMarkdown, EmbedGraph, Embedding, EmbeddingDraft,
    EmbeddingModel, EmbeddingsReply, Error, Expectations, Fetch, FindDocuments, Folder,
    FolderDestination, FolderDraft, FolderId, FolderPatch, FolderRecord, GetEmbeddings, GetItems,
    GetMarkdown, GetSchema, IndentBlocks, InsertBlocks, Item, ItemCounts, ItemDraft, ItemFilter,
    ItemUpdate, Items, ItemsPage, Link, ListCollections, ListComments, ListDocuments,
    ListScopedDocuments, ListStyle, ListTags, ListTasks, ListedComment, MergeBlock,
    MissingEmbedding, MissingEmbeddings, MoveBlocks, MoveDocuments, MoveFolders, Operator,
    Position, PropertyDraft, PropertyKind, PropertyType, PurgeDocuments, PutEmbeddings,
    QueryEmbedding, QueryItems, Relation, RemoveEmbeddings, ReplaceSchema, ReplaceText,
    ResolveBlocks, ResolveEmbeds, ResolvedBlock, RestoreDailyNotes, SchemaDraft, SchemaFormat,
    SchemaReply, Scope, ScopedChange, ScopedDocument, ScopedDocumentPatch, SearchBlocks,
    SearchDocuments, SearchPage, SearchWeights, SelectOption, ShiftBlocks, Sort, SortBlocks, Space,
    SplitBlock, TagCount, Task, TaskDraft, TaskInfo, TaskScope, TaskState, TaskUpdate, TextStyle,
    TitleMention, UndoChanges, UnlinkedMentions, UpdateBlocks, UpdateComments, UpdateDocuments,
    UpdateFolders, UpdateItems, UpdateScopedDocuments, UpdateTasks, UploadFile, UploadedFile,
};
use leafbase_test_outline::{FixedClock, SequentialIds};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Value, json};

/// 2026-03-02, a Monday, 09:30 in UTC.
const NOW: u64 = 1_772_443_800_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden_json")
}

fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

/// What the file of this name says; written anew if that is asked for.
fn golden(name: &str, present: &str) -> String {
    let path = folder().join(name);
    if std::env::var_os("GOLDEN_JSON").is_some_and(|what| what == "write") {
        std::fs::write(&path, present).unwrap();
    }
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The JSON Schema of a type, of a reply without room for what it does not name.
fn schema_of<T: JsonSchema>(closed: bool) -> Value {
    let mut schema =
        SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value();
    let mut waiting = vec![&mut schema];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(fields) => {
                if closed
                    && fields.contains_key("properties")
                    && fields.get("type") == Some(&json!("object"))
                {
                    fields.entry("additionalProperties").or_insert(json!(false));
                }
                waiting.extend(fields.values_mut());
            }
            Value::Array(values) => waiting.extend(values),
            _ => {}
        }
    }
    assert!(jsonschema::draft202012::meta::is_valid(&schema), "{schema:#}");
    schema
}

fn faults<T: JsonSchema>(value: &Value, closed: bool) -> Vec<String> {
    let validator = jsonschema::draft202012::new(&schema_of::<T>(closed)).unwrap();
    validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

/// The names of all properties in a JSON Schema, of the types that it refers to, too.
fn property_names(schema: &Value) -> BTreeSet<String> {
    let (mut names, mut waiting) = (BTreeSet::new(), vec![schema]);
    while let Some(value) = waiting.pop() {
        if let Some(Value::Object(properties)) = value.get("properties") {
            names.extend(properties.keys().cloned());
        }
        match value {
            Value::Object(fields) => waiting.extend(fields.values()),
            Value::Array(values) => waiting.extend(values),
            _ => {}
        }
    }
    names
}

/// JSON pointers to all objects in `value`.
fn object_pointers(value: &Value, at: String, pointers: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                object_pointers(value, format!("{at}/{name}"), pointers);
            }
            pointers.push(at);
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                object_pointers(value, format!("{at}/{index}"), pointers);
            }
        }
        _ => {}
    }
}

/// A space whose days, IDs and instants are the same in every run, and what was asked of it.
struct Desk {
    space: Space,
    notes: Connection,
    clock: Arc<FixedClock>,
    asked: BTreeSet<String>,
}

impl Desk {
    fn new() -> Self {
        let clock = Arc::new(FixedClock::at(NOW));
        let builder =
            Space::builder().name("Notes").zone("Europe/Lisbon").clock(Arc::clone(&clock));
        let space = builder.ids(SequentialIds::new(1)).in_memory().unwrap();
        let notes = space.connect().acting_as("Ada");
        Self { space, notes, clock, asked: BTreeSet::new() }
    }

    /// The request in the file `name`: the one that is expected, which reads and writes back as it
    /// stands.
    fn request<T>(&mut self, name: &str, expected: &T) -> T
    where
        T: FromJson + Serialize + JsonSchema + PartialEq + std::fmt::Debug,
    {
        let text = golden(&format!("{name}.request.json"), &pretty(expected));
        let read: T = self.space.read_json(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(pretty(&read), text, "{name}: written back");
        assert_eq!(&read, expected, "{name}");
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap(),
            serde_json::to_value(&read).unwrap()
        );
        self.schema_of_request::<T>(name, &text);
        self.asked.insert(name.to_owned());
        read
    }

    /// The JSON Schema takes the request, and refuses a field too many, as the reader does.
    fn schema_of_request<T: FromJson + JsonSchema>(&self, name: &str, text: &str) {
        let mut value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(faults::<T>(&value, false), [""; 0], "{name}");
        value.as_object_mut().unwrap().insert("nonsense".to_owned(), json!(1));
        assert_ne!(faults::<T>(&value, false), [""; 0], "{name}: a field too many");
        assert!(self.space.read_json::<T>(&value.to_string()).is_err(), "{name}: a field too many");
        self.null_counts_as_absent::<T>(name, &serde_json::from_str(text).unwrap());
    }

    /// `null` in any field of any object of the request: the JSON Schema takes it wherever the
    /// reader does.
    fn null_counts_as_absent<T: FromJson + JsonSchema>(&self, name: &str, request: &Value) {
        let schema = schema_of::<T>(false);
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let (names, mut objects) = (property_names(&schema), Vec::new());
        object_pointers(request, String::new(), &mut objects);
        let mut unlike = Vec::new();
        for pointer in &objects {
            for field in &names {
                let mut value = request.clone();
                let object = value.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
                object.insert(field.clone(), Value::Null);
                let read = self.space.read_json::<T>(&value.to_string());
                let valid = validator.is_valid(&value);
                if read.is_ok() && !valid {
                    unlike.push(format!("{pointer}/{field}"));
                }
            }
        }
        assert_eq!(unlike, [""; 0], "{name}: null that the schema refuses");
    }

    /// The reply in the file `name`.
    fn reply<T: Serialize + JsonSchema>(&mut self, name: &str, reply: T) -> T {
        let text = pretty(&reply);
        assert_eq!(text, golden(&format!("{name}.reply.json"), &text), "{name}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(faults::<T>(&value, true), [""; 0], "{name}");
        self.clock.advance(60_000);
        self.asked.insert(name.to_owned());
        reply
    }

    /// The reply that is a text.
    fn text(&mut self, name: &str, reply: &str) {
        assert_eq!(reply, golden(&format!("{name}.reply.md"), reply), "{name}");
        self.asked.insert(name.to_owned());
    }
}

macro_rules! ask {
    ($desk:ident, $on:expr, $name:ident($request:expr $(,)?) -> $reply:ty) => {
        ask!($desk, $on, $name as $name($request) -> $reply)
    };
    ($desk:ident, $on:expr, $method:ident as $name:ident($request:expr $(,)?) -> $reply:ty) => {{
        let request = $desk.request(stringify!($name), &$request);
        let reply: $reply =
            $on.$method(request).unwrap_or_else(|error| panic!("{}: {error}", stringify!($name)));
        $desk.reply(stringify!($name), reply)
    }};
}

fn folders(desk: &mut Desk) -> FolderId {
    let notes = desk.notes.clone();
    let trips = FolderDraft::new("Trips").with_folders([FolderDraft::new("2026")]);
    let made = ask!(desk, notes, create_folders(CreateFolders::new([trips, FolderDraft::new("Old")])) -> Items<FolderRecord>);
    let (trips, this_year, old) = (made[0].id, made[1].id, made[2].id);
    ask!(desk, notes, move_folders(MoveFolders::new([old], this_year)) -> Items<FolderRecord>);
    ask!(
        desk,
        notes,
        move_folders
            as move_folders_to_root(
                MoveFolders::new([old], FolderDestination::Root),
            ) -> Items<FolderRecord>
    );
    ask!(desk, notes, delete_folders(DeleteFolders::new([old]).if_empty()) -> Items<FolderId>);
    let shown = notes.folders().unwrap();
    desk.reply::<Items<Folder>>("folders", shown);
    trips
}

fn documents(desk: &mut Desk, trips: FolderId) -> DocumentId {
    let notes = desk.notes.clone();
    let task = BlockData {
        list_style: ListStyle::Task,
        task: Some(TaskInfo::default()),
        ..BlockData::text("passport")
    };
    let lisbon = BlockDraft::new(BlockData::page("Lisbon")).with_content(vec![task.into()]);
    let drafts =
        CreateDocuments::new([lisbon, BlockData::page("Porto").into()], Destination::Folder(trips));
    let made = ask!(desk, notes, create_documents(drafts) -> Items<Document>);
    let (lisbon, porto) = (made[0].id(), made[1].id());
    ask!(desk, notes, move_documents(MoveDocuments::new([porto], Destination::Templates)) -> Items<Document>);
    let copy = CreateFromTemplate::new(porto).titled("Porto in May").at(trips);
    let copied = ask!(desk, notes, create_from_template(copy) -> Document);
    ask!(desk, notes, delete_documents(DeleteDocuments::new([copied.id()])) -> Items<DocumentId>);
    let listed = ListDocuments::new()
        .within(trips)
        .with_metadata()
        .order_by(DocumentOrder::Created)
        .descending()
        .limit(10);
    ask!(desk, notes, list_documents(listed) -> ItemsPage<Document>);
    let since = ListDocuments::new().modified(DayRange::since(DayRef::Yesterday)).limit(1);
    ask!(desk, notes, list_documents as list_documents_by_day(since) -> ItemsPage<Document>);
    ask!(desk, notes, purge_documents(PurgeDocuments::new([copied.id()])) -> Items<DocumentId>);
    ask!(desk, notes, purge_documents as purge_old_documents(PurgeDocuments::OlderThanDays(30)) -> Items<DocumentId>);
    lisbon
}

fn blocks(desk: &mut Desk, lisbon: DocumentId) -> BlockId {
    let notes = desk.notes.clone();
    let heading: BlockDraft = BlockData::text("Packing").into();
    let mut heading = heading;
    if let leafbase::BlockKind::Text(look) = &mut heading.data.kind {
        look.style = TextStyle::H2;
    }
    heading.data.color = Some("#0060c0".parse().unwrap());
    let page = BlockDraft::new(BlockData::page("Socks"))
        .with_content(vec![BlockData::text("wool").into()]);
    let inserted = InsertBlocks::blocks(vec![heading, page], Position::start_of(lisbon));
    let added = ask!(desk, notes, insert_blocks(inserted) -> Items<leafbase::Block>);
    let (heading, page) = (added[0].id, added[1].id);
    let markdown = "- [ ] train at 22:15\n- [x] map\n\n| day | place |\n|---|---|\n| 1 | Alfama |";
    let text = InsertBlocks::markdown(markdown, Position::after(heading));
    let added = ask!(desk, notes, insert_blocks as insert_markdown(text) -> Items<leafbase::Block>);
    let patch = BlockPatch::markdown(added[0].id, "night train at 22:15")
        .if_rev(1)
        .with_schedule_date(DayRef::Tomorrow);
    ask!(desk, notes, update_blocks(UpdateBlocks::new([patch, BlockPatch::markdown(heading, "To pack").with_color(None)])) -> Items<leafbase::Block>);
    ask!(desk, notes, move_blocks(MoveBlocks::new([added[1].id], Position::end_of(page))) -> Items<BlockId>);
    ask!(desk, notes, delete_blocks(DeleteBlocks::new([added[2].id])) -> Items<BlockId>);
    ask!(desk, notes, add_comments(AddComments::new([CommentDraft::new(heading, "for *all* of us?")])) -> Items<AddedComment>);
    let upload = UploadFile::new(Position::before(heading)).of_type("text/plain").named("seat.txt");
    let upload = desk.request("upload_file", &upload);
    let uploaded = notes.upload_file(upload, &b"12A"[..]).unwrap();
    let uploaded: UploadedFile = desk.reply("upload_file", uploaded);
    let record = notes.file(uploaded.asset_url.id()).unwrap();
    desk.reply("file", record);
    ask!(desk, notes, fetch(Fetch::new(lisbon).with_metadata()) -> leafbase::Block);
    ask!(desk, notes, fetch as fetch_shallow(Fetch::new(lisbon).depth(0)) -> leafbase::Block);
    let request = desk.request("fetch_markdown", &Fetch::new(lisbon));
    let text = notes.fetch_markdown(request).unwrap();
    desk.text("fetch_markdown", &text);
    let request = desk.request("content_markdown", &GetMarkdown::of(lisbon));
    let text = notes.content_markdown(request).unwrap();
    desk.text("content_markdown", &text);
    page
}

fn days(desk: &mut Desk, lisbon: DocumentId) {
    let notes = desk.notes.clone();
    ask!(desk, notes, insert_blocks as insert_into_day(InsertBlocks::markdown("woke early", Position::end_of_day(DayRef::Today))) -> Items<leafbase::Block>);
    let today = ask!(desk, notes, fetch as fetch_day(Fetch::today().depth(1)) -> leafbase::Block);
    let today = DocumentId::of_root(today.id);
    notes.delete_documents(today).unwrap();
    ask!(desk, notes, restore_daily_notes(RestoreDailyNotes::new([today])) -> Items<Document>);
    let drafts = [
        TaskDraft::new("call the hotel").due(DayRef::Today),
        TaskDraft::new("book the tram")
            .at(lisbon)
            .scheduled("2026-03-09".parse::<leafbase::Day>().unwrap()),
    ];
    let added = ask!(desk, notes, add_tasks(AddTasks::new(drafts)) -> Items<Task>);
    let update = TaskUpdate::of(added[0].id).with_state(TaskState::Done).moved_to(lisbon);
    ask!(desk, notes, update_tasks(UpdateTasks::new([update])) -> Items<Task>);
    ask!(desk, notes, tasks(ListTasks::new(TaskScope::Logbook).limit(10)) -> ItemsPage<Task>);
    ask!(desk, notes, tasks as open_tasks(ListTasks::default()) -> ItemsPage<Task>);
    ask!(
        desk,
        notes,
        tasks as tasks_of_document(ListTasks::new(TaskScope::Document(lisbon))) -> ItemsPage<Task>
    );
    ask!(desk, notes, delete_tasks(DeleteTasks::new([added[1].id])) -> Items<BlockId>);
}

fn collections(desk: &mut Desk, lisbon: DocumentId, page: BlockId) {
    let notes = desk.notes.clone();
    let schema = SchemaDraft::new("Cities", [PropertyDraft::new("Country", PropertyKind::Text)]);
    let cities =
        ask!(desk, notes, create_collection(CreateCollection::new(schema, Position::end_of(page))) -> CollectionSchema)
            .id;
    let options = vec![SelectOption::new("open"), SelectOption::new("done")];
    let columns = [
        PropertyDraft::new("State", PropertyKind::SingleSelect(options)),
        PropertyDraft::new("Day", PropertyKind::Date),
        PropertyDraft::new("City", Relation::to(cities).with_inverse("visits").single().into()),
    ];
    let visits = notes.create_collection(CreateCollection::new(
        SchemaDraft::new("Visits", columns),
        Position::end_of(page),
    ));
    let visits = visits.unwrap().id;
    let city = ask!(desk, notes, add_items(AddItems::new(cities, [ItemDraft::new("Lisbon").with("country", "Portugal")])) -> Items<Item>)[0].id;
    let castle = ItemDraft::new("Castle")
        .with("day", "2026-05-01")
        .with("city", vec![city.to_string()])
        .with("state", "open");
    let castle = castle.with_content([BlockData::text("opens at 9").into()]);
    let drafts = AddItems::new(visits, [castle, ItemDraft::new("Tram").with("state", "maybe")])
        .allowing_new_select_options();
    let added = ask!(desk, notes, add_items as add_items_with_new_options(drafts) -> Items<Item>);
    let update =
        ItemUpdate::of(added[1].id).with_title("Tram 28").with("state", "done").with("day", ());
    ask!(desk, notes, update_items(UpdateItems::new(visits, [update])) -> Items<Item>);
    ask!(desk, notes, items(GetItems::of(visits).depth(0).limit(1)) -> ItemsPage<Item>);
    let filter = ItemFilter::on("day", Operator::After, "2026-04-01").or(ItemFilter::on(
        "state",
        Operator::AnyOf,
        vec!["done"],
    )
    .negated());
    let query = QueryItems::of(visits)
        .filtered(filter)
        .sorted(Sort::descending("day"))
        .sorted(Sort::ascending("title"));
    ask!(desk, notes, query_items(query) -> ItemsPage<Item>);
    ask!(desk, notes, count_items(CountItems::of(visits).grouped_by("state")) -> ItemCounts);
    ask!(desk, notes, collection_schema(GetSchema::new(visits, SchemaFormat::Schema)) -> SchemaReply);
    ask!(
        desk,
        notes,
        collection_schema
            as collection_json_schema(
                GetSchema::new(visits, SchemaFormat::JsonSchemaItems),
            ) -> SchemaReply
    );
    let mut kept = SchemaDraft::from(notes.schema(cities).unwrap());
    kept.properties.push(PropertyDraft::new("Since", PropertyKind::Number));
    ask!(desk, notes, replace_schema(ReplaceSchema::new(cities, kept).dropping_unconvertible()) -> CollectionSchema);
    ask!(desk, notes, list_collections(ListCollections::of([lisbon])) -> Items<Collection>);
    ask!(desk, notes, delete_items(DeleteItems::new(visits, [added[1].id])) -> Items<BlockId>);
}

fn searches(desk: &mut Desk, lisbon: DocumentId, trips: FolderId) {
    let notes = desk.notes.clone();
    ask!(desk, notes, search(SearchDocuments::words("\"night train\" pass").matching(r"\d\d:\d\d")) -> SearchPage);
    ask!(desk, notes, search as search_misspelt(SearchDocuments::words("nihgt train")) -> SearchPage);
    let mut filtered = SearchDocuments::words("wool").without("sand").limit(5);
    filtered.filter.folders = Some(vec![trips.into()]);
    filtered.metadata = true;
    ask!(desk, notes, search as search_folder(filtered) -> SearchPage);
    let weights = SearchWeights::default().title(2.0).headings(0.5).recency(1.0, 7.0).links(0.5);
    let by_block = SearchDocuments::words("train wool").weighted(weights).by_block().limit(2);
    ask!(desk, notes, search as search_by_block(by_block) -> SearchPage);
    let patterns =
        SearchBlocks::new(lisbon, r"\d\d:\d\d").or("wool").case_sensitive().context(1, 0).limit(1);
    ask!(desk, notes, search_blocks(patterns) -> ItemsPage<BlockMatch>);
    let everywhere = SearchBlocks::everywhere("wool").within_documents([lisbon]).context(0, 0);
    ask!(desk, notes, search_blocks as search_all_blocks(everywhere) -> ItemsPage<BlockMatch>);
    ask!(desk, notes, find_documents(FindDocuments::named("lisbon")) -> Items<Document>);
    vectors(desk, lisbon);
    let block = notes.fetch(Fetch::new(lisbon)).unwrap().children()[0].id;
    let rev = notes.fetch(Fetch::new(block)).unwrap().rev;
    let batch = Batch::default()
        .then("insert_blocks", &InsertBlocks::markdown("oars", Position::after(block)))
        .and_then(|batch| batch.then("delete_blocks", &json!({"blockIds": ["$0.id"]})))
        .unwrap()
        .expecting(Expectations::default().of_block(block, rev));
    ask!(desk, notes, run_batch(batch) -> BatchReply);
    ask!(desk, notes, resolve(ResolveBlocks::new([block])) -> Items<ResolvedBlock>);
    let undone = UndoChanges::from(notes.last_sequence().unwrap());
    ask!(desk, notes, undo(undone) -> Change);
}

fn vectors(desk: &mut Desk, lisbon: DocumentId) {
    let notes = desk.notes.clone();
    let of_blocks = MissingEmbeddings::of_blocks("minilm").within_documents([lisbon]).limit(2);
    ask!(desk, notes, missing_embeddings(of_blocks) -> ItemsPage<MissingEmbedding>);
    let of_documents = MissingEmbeddings::of_documents("minilm").tagged("sea");
    ask!(
        desk,
        notes,
        missing_embeddings
            as missing_embeddings_of_documents(of_documents) -> ItemsPage<MissingEmbedding>
    );
    let block = notes.fetch(Fetch::new(lisbon)).unwrap().children()[0].id;
    let drafts = [
        EmbeddingDraft::new(block, [127.0, -64.0, 1.0]).of_rev(1),
        EmbeddingDraft::new(lisbon, [0.0, 127.0, 0.0]),
        EmbeddingDraft::new(BlockId::NIL, [1.0, 0.0, 0.0]),
    ];
    ask!(desk, notes, put_embeddings(PutEmbeddings::new("minilm", drafts)) -> EmbeddingsReply);
    ask!(desk, notes, embeddings(GetEmbeddings::new("minilm", [block])) -> Items<Embedding>);
    let models = notes.embedding_models().unwrap();
    desk.reply::<Items<EmbeddingModel>>("embedding_models", models);
    let near = QueryEmbedding::new("minilm", [1.0, -0.5, 0.0]);
    ask!(desk, notes, search as search_near(SearchDocuments::words("wool").near(near)) -> SearchPage);
    let removal = RemoveEmbeddings::new("minilm", [lisbon]);
    ask!(desk, notes, remove_embeddings(removal) -> EmbeddingModel);
    // Back to where it was, by wrapping: vectors are not changes, and move no instant of one.
    desk.clock.advance(0_u64.wrapping_sub(7 * 60_000));
}

fn scoped(desk: &mut Desk, scope: &Scope, lisbon: DocumentId) {
    let guest = scope.connect().acting_as("guest");
    ask!(desk, guest, list_documents as list_scoped_documents(ListScopedDocuments::new().with_metadata()) -> Items<ScopedDocument>);
    let mut others = ListCollections::of([lisbon]);
    others.mode = Some(DocumentFilterMode::Exclude);
    ask!(desk, guest, list_collections as list_other_collections(others) -> Items<Collection>);
    guest.insert_markdown("a note", lisbon).unwrap();
    let undone = UndoChanges::from(guest.last_sequence().unwrap());
    ask!(desk, guest, undo as scoped_undo(undone) -> ScopedChange);
    let told: Vec<ScopedChange> = guest.changes_since(0).take(1).map(Result::unwrap).collect();
    desk.reply("scoped_changes_since", Items(told));
}

fn rest(desk: &mut Desk, lisbon: DocumentId) {
    let notes = desk.notes.clone();
    let info: ConnectionInfo = notes.info().unwrap();
    desk.reply("info", info);
    let told: Vec<_> = notes.changes_since(0).take(2).map(Result::unwrap).collect();
    desk.reply("changes_since", Items(told));
    let links: DocumentLinks = notes.document_links(lisbon).unwrap();
    desk.reply("document_links", links);
    let wrong = r#"{"blocks": [{"type": "text"}, {"type": "text", "textStyle": "h7"}]}"#;
    let error: Error = desk.space.read_json::<InsertBlocks>(wrong).unwrap_err();
    desk.reply("error", error);
}

fn comments(desk: &mut Desk, lisbon: DocumentId) {
    let notes = desk.notes.clone();
    let drafts = ["how many days?", "by train?"].map(|text| CommentDraft::new(lisbon, text));
    let added = notes.add_comments(AddComments::new(drafts)).unwrap();
    let [days, train] = [added[0].comment_id, added[1].comment_id];
    let patches = [
        CommentPatch::of(days).with_content("how *many* days?"),
        CommentPatch::of(train).with_resolved(true),
    ];
    ask!(desk, notes, update_comments(UpdateComments::new(patches)) -> Items<ListedComment>);
    ask!(desk, notes, list_comments(ListComments::of(lisbon).open()) -> Items<ListedComment>);
    ask!(desk, notes, delete_comments(DeleteComments::new([train])) -> Items<CommentId>);
    ask!(desk, notes, list_comments as list_comments_on_blocks(ListComments::of(lisbon.root())) -> Items<ListedComment>);
}

fn updates(desk: &mut Desk, scope: &Scope, lisbon: DocumentId, trips: FolderId) {
    let (notes, guest) = (desk.notes.clone(), scope.connect());
    let rev = notes.document(lisbon).unwrap().rev();
    let patch =
        DocumentPatch::of(lisbon).if_rev(rev).titled("Lisboa").moved_to(Destination::Unsorted);
    ask!(desk, notes, update_documents(UpdateDocuments::new([patch])) -> Items<Document>);
    let patch = ScopedDocumentPatch::of(lisbon).titled("Lisbon");
    ask!(
        desk,
        guest,
        update_documents
            as update_scoped_documents(
                UpdateScopedDocuments::new([patch]),
            ) -> Items<ScopedDocument>
    );
    let old = notes.create_folder("Old", None).unwrap().id;
    let patches = [
        FolderPatch::of(trips).if_rev(1).named("Travel").moved_to(old),
        FolderPatch::of(old).moved_to(FolderDestination::Root),
    ];
    ask!(desk, notes, update_folders(UpdateFolders::new(patches)) -> Items<FolderRecord>);
}

/// Goes through all operations once.
fn text_edits(desk: &mut Desk, lisbon: DocumentId) {
    let notes = desk.notes.clone();
    let added = notes.insert_markdown("- [x] coat\n- [ ] hat and scarf", lisbon).unwrap();
    let hat = added[1].id;
    let halves = ask!(desk, notes, split_block(SplitBlock::new(hat, 3)) -> Items<leafbase::Block>);
    let scarf = halves[1].id;
    let range = IndentBlocks::range(hat, scarf);
    ask!(desk, notes, indent_blocks(range) -> Items<leafbase::Block>);
    ask!(desk, notes, merge_block(MergeBlock::from(scarf)) -> Items<leafbase::Block>);
    let copies = DuplicateBlocks::from(hat);
    let copies = ask!(desk, notes, duplicate_blocks(copies) -> Items<leafbase::Block>);
    ask!(desk, notes, shift_blocks(ShiftBlocks::from(copies[0].id)) -> Items<BlockId>);
    let newest_first = SortBlocks::of(lisbon).by(BlockOrder::Created).descending();
    ask!(desk, notes, sort_blocks(newest_first) -> Items<BlockId>);
    let replacement = ReplaceText::pattern(r"(\w+) and (\w+)", "$2, $1").within(lisbon);
    ask!(desk, notes, replace_text(replacement) -> leafbase::ReplacedText);
    let page = notes.insert_markdown("plan", lisbon).unwrap()[0].id;
    notes.insert_markdown("## Packing\n\n- [ ] one map", Position::end_of(page)).unwrap();
    let text = "- [x] one map\n\n## Packing\n\nlast";
    ask!(desk, notes, apply_markdown(ApplyMarkdown::new(page, text)) -> AppliedMarkdown);
    let edits = EditMarkdown::of(page).replace("one map", "two maps").insert_under("Packing", "x");
    ask!(desk, notes, edit_markdown(edits.dry()) -> AppliedMarkdown);
}

fn links(desk: &mut Desk, lisbon: DocumentId) {
    let notes = desk.notes.clone();
    let packing = notes.create_document("Packing").unwrap().id();
    let text = format!("for [Lisbon](block://{lisbon})\n\nto [Lisbon](block://{lisbon})");
    notes.insert_markdown(&text, packing).unwrap();
    ask!(desk, notes, back_links(BackLinks::to(lisbon).limit(1)) -> ItemsPage<Link>);
    notes.insert_markdown("no link to LISBON\n\n**Lisbon** and lisbon", packing).unwrap();
    ask!(desk, notes, unlinked_mentions(UnlinkedMentions::of(lisbon).limit(1)) -> ItemsPage<TitleMention>);
    notes.insert_markdown("![[Bags]]\n\n![[Boats]]", packing).unwrap();
    let bags = notes.create_document("Bags").unwrap().id();
    notes.insert_markdown("![[Packing]]\n\n![[Tickets]]", bags).unwrap();
    for _ in 0..2 {
        notes.create_document("Tickets").unwrap();
    }
    ask!(desk, notes, resolve_embeds(ResolveEmbeds::of(packing).depth(1)) -> EmbedGraph);
    tags(desk, packing);
}

fn tags(desk: &mut Desk, packing: DocumentId) {
    let notes = desk.notes.clone();
    let front = BlockData::new(BlockKind::Code {
        raw_code: "title: Packing\naliases: [Bag]\ntags: [travel/list]\ndate: 2026-03-01"
            .to_owned(),
        language: CodeLanguage::Yaml,
        language_tag: "yaml frontmatter".to_owned(),
    });
    notes
        .insert_blocks(InsertBlocks::blocks(vec![front.into()], Position::start_of(packing)))
        .unwrap();
    notes.insert_markdown("#Travel and #todo", packing).unwrap();
    let properties: DocumentProperties = notes.document_properties(packing).unwrap();
    desk.reply("document_properties", properties);
    let tags = ListTags::new().starting("#T").limit(2);
    ask!(desk, notes, list_tags(tags) -> ItemsPage<TagCount>);
    let tagged = ListDocuments::new().tagged("travel").tagged("#todo");
    ask!(desk, notes, list_documents as list_tagged_documents(tagged) -> ItemsPage<Document>);
}

fn all() -> BTreeSet<String> {
    let mut desk = Desk::new();
    let trips = folders(&mut desk);
    let lisbon = documents(&mut desk, trips);
    let scope = desk.space.scope([lisbon]);
    let page = blocks(&mut desk, lisbon);
    days(&mut desk, lisbon);
    collections(&mut desk, lisbon, page);
    searches(&mut desk, lisbon, trips);
    scoped(&mut desk, &scope, lisbon);
    rest(&mut desk, lisbon);
    comments(&mut desk, lisbon);
    updates(&mut desk, &scope, lisbon, trips);
    text_edits(&mut desk, lisbon);
    links(&mut desk, lisbon);
    desk.asked
}

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names that stand in backticks, those within `Items<Block>`, too.
fn in_backticks(text: &str) -> BTreeSet<&str> {
    let code = text.split('`').skip(1).step_by(2);
    code.flat_map(|code| code.split(|letter: char| !letter.is_alphanumeric() && letter != '_'))
        .collect()
}

/// The names of `of` that the table does not have.
fn missing<'a>(of: impl IntoIterator<Item = &'a str>, table: &str) -> Vec<&'a str> {
    let named = in_backticks(table);
    of.into_iter().filter(|name| !named.contains(name)).collect()
}

/// The types that the model gives for requests.
fn request_types(model: &str) -> Vec<&str> {
    let lists = model.split("pub use requests::").skip(1).filter_map(|rest| rest.split(';').next());
    let words = lists.flat_map(|list| list.split(|letter: char| !letter.is_alphanumeric()));
    words.filter(|word| word.starts_with(char::is_uppercase)).collect()
}

#[test]
fn every_operation_says_what_its_files_say() {
    let asked = all();
    let files = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let on_disk: BTreeSet<String> =
        files.filter_map(|name| Some(name.split('.').next()?.to_owned())).collect();
    assert_eq!(asked, on_disk, "files that no operation reads, or the other way round");
    let table = read("crates/engine/guide/operations.md");
    assert_eq!(
        missing(asked.iter().map(String::as_str), &table),
        [""; 0],
        "golden files that the table lacks"
    );
}

#[test]
fn the_table_of_operations_names_every_type_of_request() {
    let (table, model) =
        (read("crates/engine/guide/operations.md"), read("crates/model/src/lib.rs"));
    let types = request_types(&model);
    assert!(types.len() > 50, "the types are found");
    assert_eq!(missing(types, &table), [""; 0]);
}

/// Whether a text lists these types, in their order and with their number.
fn lists(text: &str, what: &str, types: &[&str]) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let list = format!("{} {what}: {}", types.len(), types.join(", "));
    words.join(" ").contains(&list)
}

#[test]
fn the_guide_lists_every_type_of_block_and_property() {
    let blocks: Vec<&str> = BlockType::ALL.iter().map(|listed| listed.as_str()).collect();
    assert!(lists(&read("crates/engine/guide/blocks.md"), "types", &blocks));
    let properties: Vec<&str> = PropertyType::ALL.iter().map(|listed| listed.as_str()).collect();
    assert!(lists(&read("crates/engine/guide/collections.md"), "types", &properties));
    let queries = read("crates/engine/src/operations/collections/queries.rs");
    let table =
        queries.split("/// # Conditions").nth(1).and_then(|rest| rest.split("/// #").next());
    assert_eq!(missing(properties, table.unwrap()), [""; 0], "in the table of conditions");
}

/// What would find nothing if it were broken is shown something to find.
mod controls {
    use super::*;

    #[test]
    fn a_reply_with_a_field_that_its_schema_lacks_is_found() {
        let reply = json!({ "commentId": "01KASZ4ZJG0000000000000001" });
        assert_eq!(faults::<AddedComment>(&reply, true), [""; 0]);
        let more = json!({ "commentId": "01KASZ4ZJG0000000000000001", "author": "Ada" });
        assert_ne!(faults::<AddedComment>(&more, true), [""; 0]);
        assert_eq!(faults::<AddedComment>(&more, false), [""; 0], "replies may say more");
    }

    #[test]
    fn a_name_that_the_table_lacks_is_found() {
        let model = "pub use requests::blocks::{Fetch, InsertBlocks};\npub use schema::Schema;";
        assert_eq!(missing(request_types(model), "| `Fetch` |"), ["InsertBlocks"]);
    }
}
