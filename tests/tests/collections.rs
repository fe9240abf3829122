//! Random sequences of requests on collections and all that concerns them, beside the naive model,
//! which keeps relations as plain sets of pairs: equal replies and errors, both ends of every
//! relation equal after each step, equal dumps, and every law of the store.

use std::sync::Mutex;

use leafbase::{
    AddItems, BlockId, CreateCollection, ItemDraft, PropertyDraft, Relation, SchemaDraft,
};
use leafbase_test_outline::{BlockRequest, Broken, CollectionRequest, Request};

use tests::model::pair::Pair;
use tests::model::sequences::{Counts, check_counts, run, sequences};

/// One sequence in so many is on disk, and reopened on the way.
const ON_DISK: u32 = 16;

/// A pair whose requests are mostly on collections; now and then on disk, in the directory that
/// comes with it.
fn pair(numbers: &[u32]) -> (Pair, Option<tempfile::TempDir>) {
    let on_disk = numbers.first().is_some_and(|number| number % ON_DISK == 1);
    let directory = on_disk.then(|| tempfile::tempdir().unwrap());
    let mut pair = Pair::new(directory.as_ref().map(|directory| directory.path().join("space")));
    pair.with_collections = true;
    (pair, directory)
}

#[test]
fn collections_answer_as_the_naive_model_does() {
    let counts = Mutex::new(Counts::new());
    let count = |request: &Request, done| {
        counts.lock().unwrap().entry(request.name()).or_default()[usize::from(done)] += 1;
    };
    let kept = sequences(tests::cases(240, 4_000), 1_000, |numbers| {
        let (pair, _directory) = pair(numbers);
        run(numbers, pair, count);
    });
    kept.unwrap_or_else(|error| panic!("{error}"));
    let counts = counts.into_inner().unwrap();
    check_counts(&counts);
    assert_eq!(counts.len(), 40);
}

/// An item goes together with the collection that it is related to: undone, it comes back with what
/// it holds.
#[test]
fn a_related_item_and_collection_that_go_at_once_come_back() {
    let mut pair = Pair::new(None);
    let home = pair.naive.documents[0].record.id;
    let collections =
        |pair: &Pair| pair.naive.schemas.iter().map(|(id, _)| *id).collect::<Vec<_>>();
    let make = |pair: &mut Pair, name: &str, properties: Vec<PropertyDraft>| {
        let create = CreateCollection::new(SchemaDraft::new(name, properties), home);
        assert!(pair.step(Request::Collections(CollectionRequest::Create(create))));
        *collections(pair).last().unwrap()
    };
    let people = make(&mut pair, "People", Vec::new());
    let books =
        make(&mut pair, "Books", vec![PropertyDraft::new("Author", Relation::to(people).into())]);
    let add = |pair: &mut Pair, id: BlockId, item: ItemDraft| {
        assert!(pair.step(Request::Collections(CollectionRequest::Add(AddItems::new(id, [item])))));
        pair.naive.last_child(id).unwrap()
    };
    let ada = add(&mut pair, people, ItemDraft::new("Ada"));
    let notes = add(&mut pair, books, ItemDraft::new("Notes").with("author", ada.to_string()));
    assert!(pair.step(Request::Blocks(BlockRequest::Delete(vec![people, notes]))));
    pair.compare_dumps();
    pair.check();
}

/// The control: a model that does not keep one of the rules is told from the engine.
#[test]
fn a_model_that_breaks_a_rule_of_collections_is_found_out() {
    for rule in Broken::OF_COLLECTIONS {
        let kept = sequences(1_000, 0, |numbers| {
            let (mut pair, _directory) = pair(numbers);
            pair.naive.broken = Some(*rule);
            run(numbers, pair, |_, _| ());
        });
        assert!(kept.is_err(), "nothing shows that {rule:?}");
    }
}
