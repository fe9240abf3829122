//! The JSON Schemas of operations as tools: their form, their size, and that they take what is
//! read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jsonschema::Validator;
use leafbase::json::FromJson;
use leafbase::{Error, Limits, ToolSchemas, json, scoped_tool_schemas, tool_schemas};
use leafbase_test_outline::{Numbers, Request};
use serde_json::{Map, Value, json};
use tests::model::pair::Pair;
use tests::model::sequences::sequences;

/// A list of tools with shared definitions has fewer bytes.
const MAX_LIST_BYTES: usize = 67_500;

/// What a root must not have, as the tool interfaces of model providers want it.
const FORBIDDEN: [&str; 5] = ["oneOf", "anyOf", "allOf", "not", "$ref"];

fn list(schemas: &ToolSchemas) -> Value {
    let tools = schemas.tools.iter().map(|tool| {
        json!({"name": tool.name, "description": tool.description, "inputSchema": tool.schema})
    });
    json!({"tools": tools.collect::<Vec<_>>(), "$defs": schemas.definitions})
}

#[test]
fn roots_are_objects_and_the_list_is_short() {
    for schemas in [tool_schemas(), scoped_tool_schemas()] {
        let bytes = list(&schemas).to_string().len();
        println!("{} tools in {bytes} bytes", schemas.tools.len());
        assert!(bytes < MAX_LIST_BYTES, "{bytes}");
        let names: BTreeSet<&str> = schemas.tools.iter().map(|tool| tool.name).collect();
        assert_eq!(names.len(), schemas.tools.len(), "names are unique");
        for tool in &schemas.tools {
            let schema = schemas.standalone(tool.name).unwrap();
            assert_eq!(schema["type"], "object", "{}", tool.name);
            let found: Vec<_> =
                FORBIDDEN.into_iter().filter(|form| schema.get(*form).is_some()).collect();
            assert_eq!(found, [""; 0], "{}", tool.name);
            assert!(jsonschema::draft202012::meta::is_valid(&schema), "{}", tool.name);
            // It compiles alone: no reference leads out of it.
            jsonschema::draft202012::new(&schema).unwrap_or_else(|error| {
                panic!("{}: {error}", tool.name);
            });
        }
    }
    assert!(tool_schemas().standalone("nonsense").is_none());
}

/// The table of operations in the guide has every tool, and every operation with a request is one.
#[test]
fn every_operation_with_a_request_is_a_tool() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/engine/guide/operations.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let mut expected = BTreeSet::new();
    for row in guide.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (method, request) = (cells[2], cells[3]);
        if request.starts_with('`') && !request.contains("a position") {
            expected.insert(method.trim_start_matches('`').split('`').next().unwrap().to_owned());
            // A text in place of blocks, for the same request.
            expected.remove("fetch_markdown");
        }
    }
    let listed: BTreeSet<String> =
        tool_schemas().tools.iter().map(|tool| tool.name.to_owned()).collect();
    assert_eq!(listed, expected);

    // Scoped ones: the first table, and the third.
    let tables: Vec<&str> = guide.split("\n# On ").collect();
    let both = [tables[1], tables[3]].concat();
    let scoped: BTreeSet<String> =
        scoped_tool_schemas().tools.iter().map(|tool| tool.name.to_owned()).collect();
    let of_scope = |name: &String| both.contains(&format!("| `{name}`"));
    assert_eq!(scoped, expected.into_iter().filter(of_scope).collect());
    let (full, scoped) = (tool_schemas().definitions, scoped_tool_schemas().definitions);
    for (name, definition) in scoped {
        assert!(full.get(&name).is_none_or(|known| *known == definition), "{name} is two things");
    }
}

/// Reads a request of an operation.
type Reader = fn(&str) -> Result<(), Error>;

fn read<T: FromJson>(text: &str) -> Result<(), Error> {
    json::from_str::<T>(text, &Limits::default()).map(drop)
}

fn readers() -> BTreeMap<&'static str, Reader> {
    macro_rules! readers {
        ($($name:ident $request:ident)+) => {
            [$((stringify!($name), read::<leafbase::$request> as Reader)),+].into()
        };
    }
    readers! {
        fetch Fetch  insert_blocks InsertBlocks  update_blocks UpdateBlocks
        delete_blocks DeleteBlocks  move_blocks MoveBlocks  split_block SplitBlock
        merge_block MergeBlock  indent_blocks IndentBlocks  replace_text ReplaceText
        content_markdown GetMarkdown
        apply_markdown ApplyMarkdown  edit_markdown EditMarkdown
        duplicate_blocks DuplicateBlocks  shift_blocks ShiftBlocks  sort_blocks SortBlocks
        search SearchDocuments  put_embeddings PutEmbeddings
        missing_embeddings MissingEmbeddings  embeddings GetEmbeddings
        remove_embeddings RemoveEmbeddings
        search_blocks SearchBlocks  resolve ResolveBlocks  find_documents FindDocuments
        back_links BackLinks  resolve_embeds ResolveEmbeds
        unlinked_mentions UnlinkedMentions
        list_tags ListTags
        list_documents ListDocuments  create_documents CreateDocuments
        create_from_template CreateFromTemplate  update_documents UpdateDocuments
        move_documents MoveDocuments  delete_documents DeleteDocuments
        restore_daily_notes RestoreDailyNotes  purge_documents PurgeDocuments
        create_folders CreateFolders  move_folders MoveFolders  update_folders UpdateFolders
        delete_folders DeleteFolders  tasks ListTasks  add_tasks AddTasks
        update_tasks UpdateTasks  delete_tasks DeleteTasks  list_collections ListCollections
        create_collection CreateCollection  collection_schema GetSchema
        replace_schema ReplaceSchema  items GetItems  query_items QueryItems
        count_items CountItems  add_items AddItems  update_items UpdateItems
        delete_items DeleteItems  list_comments ListComments  add_comments AddComments
        update_comments UpdateComments  delete_comments DeleteComments
        upload_file UploadFile  run_batch Batch  undo UndoChanges
    }
}

/// What schemas take and reading refuses: an example of each reason, and what the error says.
const BEYOND: [(&str, &str, &str); 12] = [
    ("fetch", r#"{}"#, "name exactly one of id and date"),
    (
        "list_documents",
        r#"{"location": "trash", "folderId": "unsorted"}"#,
        "folderId: folderId cannot be combined with location",
    ),
    (
        "tasks",
        r#"{"documentId": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}"#,
        "documentId: documentId is only for the scope document",
    ),
    ("tasks", r#"{"scope": "document"}"#, "documentId: the field `documentId` is missing"),
    (
        "fetch",
        r#"{"date": "2026-02-30"}"#,
        "date: the calendar has no day 2026-02-30 (or today, tomorrow, yesterday)",
    ),
    (
        "update_folders",
        r#"{"folders": [{"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "destination": "root",
            "parentFolderId": "01ARZ3NDEKTSV4RRFFQ69G5FAW"}]}"#,
        "folders[0].destination: parentFolderId and destination differ: give one of them",
    ),
    (
        "search",
        r#"{}"#,
        "include: a search needs a text in include, a pattern in regexps or an embedding",
    ),
    (
        "insert_blocks",
        r#"{"blocks": [{"type": "text", "markdown": "a", "inlineMarkdown": "b"}], "position": {}}"#,
        "blocks[0].inlineMarkdown: inlineMarkdown is another form of markdown: give one of them",
    ),
    (
        "insert_blocks",
        r#"{"blocks": [{"type": "line", "url": "a"}], "position": {"date": "today"}}"#,
        "blocks[0].url: a block of type line has no field url",
    ),
    (
        "insert_blocks",
        r#"{"blocks": [{"type": "table", "rows": "a"}], "position": {"date": "today"}}"#,
        "blocks[0].rows: expected an array of rows, got \"a\"",
    ),
    (
        "update_blocks",
        r#"{"blocks": [{"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "nonsense": 1}]}"#,
        "blocks[0].nonsense: unknown field `nonsense`",
    ),
    (
        "insert_blocks",
        r#"{"markdown": "a", "blocks": [], "position": {"pageId": "x", "siblingId": "y"}}"#,
        "position: name exactly one of pageId, siblingId and date",
    ),
];

#[test]
fn what_schemas_take_beyond_reading_is_refused_with_a_reason() {
    let (schemas, readers) = (tool_schemas(), readers());
    for (name, request, expected) in BEYOND {
        let value: Value = serde_json::from_str(request).unwrap();
        assert!(validator(&schemas, name).is_valid(&value), "{name} {request}");
        let error = readers[name](request).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{name} {request}: {error}");
        println!("{error}");
    }
    // A name that stands twice in a text is one field, for a schema and for reading: the last one.
    let twice = r#"{"date": "2026-02-30", "date": "today"}"#;
    let value: Value = serde_json::from_str(twice).unwrap();
    assert!(validator(&schemas, "fetch").is_valid(&value));
    assert_eq!(readers["fetch"](twice), Ok(()));
}

/// What reading refuses that a schema takes, by operation, with the path and the message: all that
/// there is.
const BEYOND_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tool_schemas_beyond.txt");

/// The error without numbers of entries and what the request said.
fn reason(name: &str, error: &Error) -> String {
    if error.message().starts_with("unknown field") {
        return format!("{name}: unknown field");
    }
    let mut text = String::new();
    let mut rest = format!("{name}: {error}");
    while let Some(at) = rest.find(['[', '"']) {
        let end = if rest[at..].starts_with('[') { "]" } else { "\"" };
        let Some(length) = rest[at + 1..].find(end) else { break };
        let inner = &rest[at + 1..at + 1 + length];
        let is_index = end == "]" && inner.parse::<usize>().is_ok();
        text += &rest[..=at];
        text += if is_index { "n" } else { "..." };
        text += end;
        rest = rest[at + 1 + length + 1..].to_owned();
    }
    text + &rest
}

fn validator(schemas: &ToolSchemas, name: &str) -> Validator {
    jsonschema::draft202012::new(&schemas.standalone(name).unwrap()).unwrap()
}

/// Where operations take the entries of a reply.
const SENT_BACK: [(&str, &str); 12] = [
    ("insert_blocks", "blocks"),
    ("update_blocks", "blocks"),
    ("create_documents", "documents"),
    ("update_documents", "documents"),
    ("create_folders", "folders"),
    ("update_folders", "folders"),
    ("add_tasks", "tasks"),
    ("update_tasks", "tasksToUpdate"),
    ("add_items", "items"),
    ("update_items", "itemsToUpdate"),
    ("add_comments", "comments"),
    ("update_comments", "comments"),
];

/// The entries of a reply as requests that take them.
fn sent_back(reply: &Value) -> Vec<(&'static str, Value)> {
    let entries = reply.get("items").cloned().unwrap_or_else(|| json!([reply]));
    let requests = SENT_BACK.iter().map(|(name, field)| {
        let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        let request = match *name {
            "insert_blocks" => json!({"blocks": entries, "position": {"date": "today"}}),
            "add_items" | "update_items" => json!({"collectionId": id, *field: entries}),
            _ => json!({*field: entries}),
        };
        (*name, request)
    });
    requests.collect()
}

/// The requests in files and the replies in files that can be sent back, by operation.
fn requests(readers: &BTreeMap<&'static str, Reader>) -> Vec<(&'static str, Value)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden_json");
    let mut requests = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let Ok(value) = serde_json::from_str::<Value>(&text) else { continue };
        if path.to_str().unwrap().ends_with(".request.json") {
            requests.extend(readers.keys().map(|name| (*name, value.clone())));
        } else {
            requests.extend(sent_back(&value));
        }
    }
    requests.retain(|(name, value)| {
        readers.get(name).is_some_and(|read| read(&value.to_string()).is_ok())
    });
    requests
}

/// The pointers to all values within a value.
fn pointers(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                pointers(value, format!("{at}/{name}"), found);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                pointers(value, format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
    found.push(at);
}

/// The names of all fields in the schemas.
fn names(schemas: &ToolSchemas) -> BTreeSet<String> {
    let (mut names, whole) = (BTreeSet::new(), list(schemas));
    let mut waiting = vec![&whole];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(fields) => {
                let own = fields.get("properties").and_then(Value::as_object);
                names.extend(own.into_iter().flatten().map(|(name, _)| name.clone()));
                waiting.extend(fields.values());
            }
            Value::Array(values) => waiting.extend(values),
            _ => {}
        }
    }
    names
}

/// The request with one thing changed: a value replaced or left out, or a field added.
fn variants(request: &Value, names: &BTreeSet<String>) -> Vec<Value> {
    let values = [
        Value::Null,
        json!(0),
        json!(1),
        json!(-1),
        json!(true),
        json!("x"),
        json!("today"),
        json!("01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        json!([]),
        json!({}),
        json!(["01ARZ3NDEKTSV4RRFFQ69G5FAV"]),
    ];
    let (mut all, mut variants) = (Vec::new(), Vec::new());
    pointers(request, String::new(), &mut all);
    for pointer in &all {
        for value in &values {
            let mut variant = request.clone();
            *variant.pointer_mut(pointer).unwrap() = value.clone();
            variants.push(variant);
        }
        if let Some((parent, name)) = pointer.rsplit_once('/') {
            let mut variant = request.clone();
            if let Some(fields) = variant.pointer_mut(parent).unwrap().as_object_mut() {
                fields.remove(name);
                variants.push(variant);
            }
        }
        if request.pointer(pointer).unwrap().is_object() {
            for name in names {
                for value in [Value::Null, json!("x"), json!(0), json!(1), json!(true), json!([])] {
                    let mut variant = request.clone();
                    let fields: &mut Map<_, _> =
                        variant.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
                    fields.insert(name.clone(), value);
                    variants.push(variant);
                }
            }
        }
    }
    variants
}

/// What schemas and reading say of variants of requests.
#[derive(Default)]
struct Comparison {
    /// Those that are read but that the schema refuses.
    refused: Vec<String>,
    /// How many the schema takes that are not read, by reason.
    reasons: BTreeMap<String, usize>,
    /// How many are not read, and how many are.
    compared: [usize; 2],
}

impl Comparison {
    fn add(&mut self, name: &str, read: Reader, validator: &Validator, variant: &Value) {
        let outcome = read(&serde_json::to_string(variant).unwrap());
        self.compared[usize::from(outcome.is_ok())] += 1;
        match outcome {
            Ok(()) if validator.is_valid(variant) => {}
            Ok(()) => {
                let why = validator.iter_errors(variant).next().map(|error| error.to_string());
                self.refused.push(format!("{name} {variant}: {why:?}"));
            }
            Err(error) if validator.is_valid(variant) => {
                *self.reasons.entry(reason(name, &error)).or_default() += 1;
            }
            Err(_) => {}
        }
    }

    fn merge(mut self, other: Self) -> Self {
        self.refused.extend(other.refused);
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
        self.compared = [0, 1].map(|index| self.compared[index] + other.compared[index]);
        self
    }
}

/// Compares the schemas of these operations, or of all, with what is read.
fn compare(schemas: &ToolSchemas, operations: &[&str]) -> Comparison {
    let (mut readers, names) = (readers(), names(schemas));
    readers.retain(|name, _| operations.is_empty() || operations.contains(name));
    let requests = requests(&readers);
    let half = |index| {
        let mut comparison = Comparison::default();
        for (name, request) in requests.iter().skip(index).step_by(2) {
            let validator = validator(schemas, name);
            for variant in variants(request, &names) {
                comparison.add(name, readers[name], &validator, &variant);
            }
        }
        comparison
    };
    let comparison = std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        half(0).merge(other.join().unwrap())
    });
    let compared = comparison.compared;
    println!("{} variants that are not read, {} that are", compared[0], compared[1]);
    let all = operations.is_empty();
    assert!(!all || compared.iter().all(|count| *count > 10_000), "{compared:?}");
    comparison
}

#[test]
fn what_is_read_is_valid_and_what_is_valid_beyond_is_listed() {
    let Comparison { refused, reasons, .. } = compare(&tool_schemas(), &[]);
    assert!(
        refused.is_empty(),
        "{} refused: {:#?}",
        refused.len(),
        refused.iter().step_by(refused.len() / 25 + 1).collect::<Vec<_>>()
    );
    let listed: String = reasons.keys().map(|reason| format!("{reason}\n")).collect();
    if std::env::var_os("GOLDEN_JSON").is_some() {
        std::fs::write(BEYOND_FILE, &listed).unwrap();
    }
    let known = std::fs::read_to_string(BEYOND_FILE).unwrap();
    let [known, listed]: [BTreeSet<&str>; 2] = [known.lines().collect(), listed.lines().collect()];
    let unlisted: Vec<_> = listed.difference(&known).collect();
    assert!(unlisted.is_empty(), "valid, and not read, for no listed reason: {unlisted:#?}");
    let gone: Vec<_> = known.difference(&listed).collect();
    assert!(gone.is_empty(), "listed, and no longer so: {gone:#?}");
}

/// The control: a schema that takes less than is read is noticed.
#[test]
fn a_narrow_schema_is_noticed() {
    let mut schemas = tool_schemas();
    let position = schemas.definitions.get_mut("Position").unwrap();
    position["properties"].as_object_mut().unwrap().remove("date").unwrap();
    assert!(!compare(&schemas, &["insert_blocks"]).refused.is_empty());
}

/// The control: a field that a schema no longer requires is a reason that is not listed.
#[test]
fn a_wide_schema_is_noticed() {
    let mut schemas = tool_schemas();
    let tool = schemas.tools.iter_mut().find(|tool| tool.name == "move_blocks").unwrap();
    tool.schema["required"].as_array_mut().unwrap().retain(|name| name != "blockIds");
    let reasons = compare(&schemas, &["move_blocks"]).reasons;
    let known = std::fs::read_to_string(BEYOND_FILE).unwrap();
    assert!(reasons.keys().any(|reason| !known.lines().any(|line| line == reason)));
}

/// Requests of random programs, as they go over a wire.
#[test]
fn requests_of_programs_are_valid() {
    let programs = tests::cases(20, 400);
    let (schemas, readers) = (tool_schemas(), readers());
    let validators: BTreeMap<&str, _> =
        schemas.tools.iter().map(|tool| (tool.name, validator(&schemas, tool.name))).collect();
    let kept = sequences(programs, 0, |numbers| {
        let (mut numbers, mut pair) = (Numbers::new(numbers), Pair::new(None));
        for step in 0..60 {
            pair.with_collections = step > 30;
            let request: Request = pair.next(&mut numbers);
            if let Some((name, value)) = tests::model::operation(&request)
                && readers[name](&value.to_string()).is_ok()
            {
                assert!(validators[name].is_valid(&value), "{name} {value}");
            }
            pair.step(request);
        }
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
}
