//! Any JSON deserializes to each request or is refused; serializing the result is a round trip.
//! Ignoring unknown fields accepts whatever is accepted without, and reports nothing else.
#![no_main]

use std::fmt::Debug;

use leafbase_model::json::{self, FromJson, UnknownFields};
use leafbase_model::{
    AddItems, BlockDraft, BlockPatch, CreateDocuments, CreateFolders, DeleteBlocks, Fetch,
    InsertBlocks, Limits, ListDocuments, ListTasks, MoveBlocks, Position, PurgeDocuments,
    QueryItems, SchemaDraft, SearchBlocks, TaskDestination, TaskInfo, UpdateBlocks, UpdateTasks,
    UploadFile,
};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;

fuzz_target!(|text: &str| {
    round_trips::<AddItems>(text);
    round_trips::<BlockDraft>(text);
    round_trips::<BlockPatch>(text);
    round_trips::<CreateDocuments>(text);
    round_trips::<CreateFolders>(text);
    round_trips::<DeleteBlocks>(text);
    round_trips::<Fetch>(text);
    round_trips::<InsertBlocks>(text);
    round_trips::<ListDocuments>(text);
    round_trips::<ListTasks>(text);
    round_trips::<MoveBlocks>(text);
    round_trips::<Position>(text);
    round_trips::<PurgeDocuments>(text);
    round_trips::<QueryItems>(text);
    round_trips::<SchemaDraft>(text);
    round_trips::<SearchBlocks>(text);
    round_trips::<TaskDestination>(text);
    round_trips::<TaskInfo>(text);
    round_trips::<UpdateBlocks>(text);
    round_trips::<UpdateTasks>(text);
    round_trips::<UploadFile>(text);
});

/// Reading is deterministic, and the same with unknown fields ignored if there are none.
fn read<T: FromJson + Debug + PartialEq>(text: &str) -> Option<T> {
    let limits = Limits::default();
    let strict = json::from_str::<T>(text, &limits);
    assert_eq!(strict, json::from_str::<T>(text, &limits));
    let lenient = json::from_str_with::<T>(text, &limits, UnknownFields::Ignore);
    match (&strict, &lenient) {
        (Ok(request), Ok(read)) => {
            assert_eq!(request, &read.request);
            assert!(read.ignored.is_empty(), "{:?}", read.ignored);
        }
        (Err(error), Ok(read)) => assert!(!read.ignored.is_empty(), "{error}"),
        (Ok(_), Err(error)) => panic!("refused with unknown fields ignored: {error}"),
        (Err(_), Err(_)) => {}
    }
    if let Err(error) = &strict {
        assert!(error.message().len() < 1_100 && error.path().len() < 1_100, "{error}");
    }
    strict.ok()
}

fn round_trips<T: FromJson + Serialize + Debug + PartialEq>(text: &str) {
    let Some(value) = read::<T>(text) else { return };
    let written = serde_json::to_string(&value).expect("a request serializes");
    let read = json::from_str::<T>(&written, &Limits::default());
    assert_eq!(read.as_ref(), Ok(&value), "{written}");
}
