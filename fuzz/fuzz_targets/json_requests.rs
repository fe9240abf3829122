//! Any JSON is read as each request, or refused; what is read and can be written is written and
//! read again.
#![no_main]

use std::fmt::Debug;

use leafbase_model::json::{self, FromJson};
use leafbase_model::{
    BlockDraft, BlockPatch, DeleteBlocks, Fetch, InsertBlocks, Limits, MoveBlocks, Position,
    SchemaDraft, TaskInfo, UpdateBlocks,
};
use libfuzzer_sys::fuzz_target;
use serde::Serialize;

fuzz_target!(|text: &str| {
    is_read::<Fetch>(text);
    is_read::<InsertBlocks>(text);
    is_read::<UpdateBlocks>(text);
    is_read::<DeleteBlocks>(text);
    is_read::<MoveBlocks>(text);
    is_read::<BlockPatch>(text);
    is_read::<SchemaDraft>(text);
    comes_back::<BlockDraft>(text);
    comes_back::<Position>(text);
    comes_back::<TaskInfo>(text);
});

/// Reading it twice gives the same, or the same complaint.
fn is_read<T: FromJson + Debug + PartialEq>(text: &str) -> Option<T> {
    let limits = Limits::default();
    let (one, other) = (json::from_str::<T>(text, &limits), json::from_str::<T>(text, &limits));
    assert_eq!(one, other);
    one.ok()
}

fn comes_back<T: FromJson + Serialize + Debug + PartialEq>(text: &str) {
    let Some(value) = is_read::<T>(text) else { return };
    let written = serde_json::to_string(&value).expect("what is read can be written");
    let read = json::from_str::<T>(&written, &Limits::default());
    assert_eq!(read.as_ref(), Ok(&value), "{written}");
}
