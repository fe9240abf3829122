//! The engine's requests over the database, beside the naive model: equal replies, equal errors,
//! equal dumps. The space is opened by another handle on the way.

use std::sync::Arc;

use tests::model::pair::Pair;
use tests::model::sequences::{run, sequences};

use crate::server::{server, unused_name};

const SEQUENCES: u32 = 12;
const SMALLER: u32 = 50;

fn pair() -> Option<Pair> {
    let database = server()?.database();
    let name = unused_name();
    Some(Pair::over(move |create| {
        let store = if create { database.create_store(&name) } else { database.open_store(&name) };
        Arc::new(store.unwrap())
    }))
}

#[test]
fn the_engine_answers_as_the_naive_model_does() {
    if pair().is_none() {
        return;
    }
    for with_collections in [false, true] {
        let kept = sequences(SEQUENCES, SMALLER, |numbers| {
            let mut pair = pair().unwrap();
            pair.with_collections = with_collections;
            run(numbers, pair, |_, _| ());
        });
        kept.unwrap_or_else(|error| panic!("{error}"));
    }
}
