//! The engine's requests over the database, beside the naive model: equal replies, equal errors,
//! equal dumps. Each goes to one of two spaces over handles of the same store.

use std::sync::Arc;

use leafbase_kv::Store;
use tests::model::pair::Pair;
use tests::model::sequences::{run, sequences};

use crate::server::{Server, server, unused_name};

const SEQUENCES: u32 = 3;
const SMALLER: u32 = 50;

fn pair(server: &Server) -> Pair {
    let (database, name) = (server.database(), unused_name());
    let first: Arc<dyn Store> = Arc::new(database.create_store(&name).unwrap());
    Pair::on_handles([first, Arc::new(server.database().open_store(&name).unwrap())])
}

#[test]
fn the_engine_answers_as_the_naive_model_does() {
    let Some(server) = server() else { return };
    for with_collections in [false, true] {
        let kept = sequences(SEQUENCES, SMALLER, |numbers| {
            let mut pair = pair(server);
            pair.with_collections = with_collections;
            run(numbers, pair, |_, _| ());
        });
        kept.unwrap_or_else(|error| panic!("{error}"));
    }
}
