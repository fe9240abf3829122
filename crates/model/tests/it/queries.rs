//! Requests read from query strings: the same value and the same errors as from JSON.

use leafbase_model::json::{self, FromJson, UnknownFields};
use leafbase_model::{
    DocumentId, ErrorKind, Fetch, GetItems, GetSchema, Limits, ListCollections, ListDocuments,
    ListScopedDocuments, ListTags, ListTasks, SearchBlocks, SearchDocuments, UploadFile,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const ID: &str = "01K9Z3VW5R00000000000000A7";
const OTHER: &str = "01K9Z3VW5R00000000000000A8";

fn query<T: FromJson>(query: &str) -> leafbase_model::Result<T> {
    json::from_query(query, &[], &Limits::default())
}

fn body<T: FromJson>(value: &Value) -> leafbase_model::Result<T> {
    json::from_str(&value.to_string(), &Limits::default())
}

/// The query of a flat object: every byte but the plainest escaped.
fn query_of(fields: &Map<String, Value>) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let pair = |name: &str, value: &Value| format!("{}={}", escaped(name), escaped(&text(value)));
    let mut pairs = Vec::new();
    for (name, value) in fields {
        match value {
            Value::Array(values) => pairs.extend(values.iter().map(|value| pair(name, value))),
            one => pairs.push(pair(name, one)),
        }
    }
    pairs.join("&")
}

fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b' ' => "+".to_owned(),
        b'a'..=b'z' | b'0'..=b'9' | b'-' => char::from(byte).to_string(),
        other => format!("%{other:02x}"),
    };
    text.bytes().map(escape).collect()
}

/// Values of a field: of its own type, in range and out of it, and of no use at all.
fn values(name: &str) -> BoxedStrategy<Value> {
    let texts = |texts: &[&str]| {
        let texts: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
        proptest::sample::select(texts)
    };
    let day = texts(&["today", "2026-02-28", "2026-02-31", "soon", ""]);
    match name {
        "fetchMetadata" | "descending" | "caseSensitive" | "allowNewSelectOptions" => {
            prop_oneof![any::<bool>().prop_map(Value::from), texts(&["yes", "True", ""])].boxed()
        }
        "maxDepth" | "limit" | "beforeBlockCount" | "afterBlockCount" => prop_oneof![
            (-2..120).prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            Just(json!(1.5)),
            texts(&["+1", "01", "1 ", " 1", "0x1", "", "-", "1e", "many"]),
        ]
        .boxed(),
        "documentIds" | "include" | "title" | "exclude" | "regexps" | "pattern" | "tags" => {
            let one = texts(&[ID, OTHER, "a b", "1", "true", "a,b", "ß&=+%", ""]);
            // One value of a query is a text; an empty list cannot be said.
            proptest::collection::vec(one, 1..4)
                .prop_map(|mut many| match many.len() {
                    1 => many.remove(0),
                    _ => Value::Array(many),
                })
                .boxed()
        }
        "folderId" | "folderIds" => texts(&[ID, "unsorted", "x"]).boxed(),
        "id" | "blockId" | "documentId" | "collectionId" | "pageId" | "siblingId" => {
            prop_oneof![4 => texts(&[ID, OTHER]), 1 => texts(&["", "12", "ß"])].boxed()
        }
        "location" => texts(&["unsorted", "trash", "daily_notes", "inbox"]).boxed(),
        "documentFilterMode" => texts(&["include", "exclude", "or"]).boxed(),
        "scope" => texts(&["active", "inbox", "document", "all"]).boxed(),
        "orderBy" => texts(&["id", "createdAt", "size"]).boxed(),
        "format" => texts(&["schema", "json-schema-items", "xml"]).boxed(),
        "position" => texts(&["start", "end", "before", "after", "top"]).boxed(),
        "termMode" => texts(&["all", "any", "most", "some"]).boxed(),
        "cursor" | "prefix" | "fileName" | "contentType" | "unknown" => {
            prop_oneof![any::<String>().prop_map(Value::from), texts(&["1", "true"])].boxed()
        }
        _ if name.contains("ate") => day.boxed(),
        other => unreachable!("no values for {other}"),
    }
}

/// Flat objects with some of these fields.
fn flat(names: &[&'static str]) -> impl Strategy<Value = Map<String, Value>> + use<> {
    let some = 0..=names.len().min(5);
    proptest::sample::subsequence(names.to_vec(), some).prop_flat_map(|names| {
        let fields: Vec<_> =
            names.into_iter().map(|name| (Just(name.to_owned()), values(name))).collect();
        fields.prop_map(Map::from_iter)
    })
}

/// Requests that a GET has, and an upload, with all their fields.
macro_rules! same_as_json {
    ($($test:ident: $request:ty, $names:expr;)*) => {
        $(proptest! {
            #[test]
            fn $test(fields in flat(&$names)) {
                let query_text = query_of(&fields);
                let value = Value::Object(fields);
                prop_assert_eq!(query::<$request>(&query_text), body::<$request>(&value));
            }
        })*
    };
}

same_as_json! {
    fetch: Fetch, ["id", "date", "maxDepth", "fetchMetadata", "unknown"];
    listing: ListDocuments, [
        "location", "folderId", "fetchMetadata", "orderBy", "descending", "limit", "cursor",
        "createdDateGte", "createdDateLte", "lastModifiedDateGte", "lastModifiedDateLte",
        "dailyNoteDateGte", "dailyNoteDateLte", "tags", "unknown",
    ];
    scoped_listing: ListScopedDocuments, ["tags", "fetchMetadata", "unknown"];
    tags: ListTags, ["prefix", "limit", "cursor", "unknown"];
    search: SearchDocuments, [
        "include", "termMode", "title", "exclude", "regexps", "documentIds", "documentFilterMode",
        "location", "folderIds", "createdDateGte", "dailyNoteDateLte", "fetchMetadata", "limit",
        "cursor", "unknown",
    ];
    search_in_a_document: SearchBlocks, [
        "blockId", "documentId", "documentIds", "documentFilterMode", "location", "folderIds",
        "createdDateGte", "tags", "pattern", "caseSensitive", "beforeBlockCount",
        "afterBlockCount", "limit", "cursor", "unknown",
    ];
    tasks: ListTasks, ["scope", "documentId", "limit", "cursor", "unknown"];
    collections: ListCollections, ["documentIds", "documentFilterMode", "unknown"];
    schema: GetSchema, ["collectionId", "format", "allowNewSelectOptions", "unknown"];
    items: GetItems, ["collectionId", "maxDepth", "limit", "cursor", "unknown"];
    upload: UploadFile, [
        "position", "pageId", "siblingId", "date", "fileName", "contentType", "unknown",
    ];
}

#[test]
fn texts_that_look_like_numbers_stay_texts() {
    let request: SearchDocuments = query("include=2026&regexps=true").unwrap();
    assert_eq!(request, SearchDocuments::words("2026").matching("true"));
}

#[test]
fn a_repeated_name_is_a_list_and_a_comma_is_not() {
    let request: ListCollections = query(&format!("documentIds={ID}&documentIds={OTHER}")).unwrap();
    assert_eq!(request.document_ids.unwrap().len(), 2);
    // A malformed ID is one that names nothing.
    let request: ListCollections = query(&format!("documentIds={ID},{OTHER}")).unwrap();
    assert_eq!(request, ListCollections::of([DocumentId::NIL]));
    let error = query::<Fetch>(&format!("id={ID}&id={ID}")).unwrap_err();
    assert_eq!(error.path(), "id");
}

#[test]
fn parameters_of_the_path_join_in_and_are_not_replaced() {
    let limits = Limits::default();
    let path = [("collectionId", ID)];
    let request: GetItems = json::from_query("&limit=2&", &path, &limits).unwrap();
    assert_eq!(request, GetItems::of(ID.parse().unwrap()).limit(2));
    // What the path says is decoded already.
    let name = [("pageId", ID), ("fileName", "100%+.png")];
    let upload: UploadFile = json::from_query("", &name, &limits).unwrap();
    assert_eq!(upload.file_name.as_deref(), Some("100%+.png"));
    let other = format!("collectionId={OTHER}");
    let error = json::from_query::<GetItems>(&other, &path, &limits).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Validation, "collectionId"));
}

#[test]
fn unknown_names_are_refused_or_told() {
    let error = query::<Fetch>("date=today&fetchBlocks=true").unwrap_err();
    assert_eq!(error.path(), "fetchBlocks");
    let read = json::from_query_with::<Fetch>(
        "date=today&fetchBlocks=true&a=1&a=2",
        &[],
        &Limits::default(),
        UnknownFields::Ignore,
    )
    .unwrap();
    assert_eq!(
        (read.request, read.ignored),
        (Fetch::today(), vec!["a".into(), "fetchBlocks".into()])
    );
}

#[test]
fn what_is_no_query_is_refused_with_its_name() {
    for (text, path) in [
        ("include=%", "include"),
        ("include=%2", "include"),
        ("include=%zz", "include"),
        ("include=%+1", "include"),
        ("include=%ff", "include"),
        ("%c3=x", ""),
    ] {
        let error = query::<SearchDocuments>(text).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Validation, path), "{text}");
    }
    let mut limits = Limits::default();
    limits.json = 20;
    let error = json::from_query::<SearchDocuments>("include=0123456789abc", &[], &limits);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::LimitExceeded);
    let path = [("include", "0123456789abc")];
    let error = json::from_query::<SearchDocuments>("", &path, &limits);
    assert!(error.is_ok(), "{error:?}");
}

#[test]
fn only_a_query_takes_texts_for_numbers() {
    assert!(query::<Fetch>("date=today&maxDepth=1").is_ok());
    let error = body::<Fetch>(&json!({"date": "today", "maxDepth": "1"})).unwrap_err();
    assert_eq!(error.path(), "maxDepth");
}
