//! Relations: both ends of each, at every step.

use std::collections::BTreeSet;

use leafbase_collections::{RelationBatch, inverse_index, related};
use leafbase_model::{BlockId, ErrorKind, PropertyValue};
use proptest::prelude::*;
use serde_json::json;

use crate::memory::Memory;
use crate::support::{fails, id, run};

const BOOKS: u8 = 1;
const PEOPLE: u8 = 2;

/// Owner's collection and key, then those of the other end.
type RelationEnds = (u8, &'static str, u8, &'static str);

const RELATIONS: [RelationEnds; 6] = [
    (BOOKS, "authors", PEOPLE, "wrote"),
    (BOOKS, "editor", PEOPLE, "edited"),
    (BOOKS, "owner", PEOPLE, "owns"),
    (PEOPLE, "parent", PEOPLE, "parent_of"),
    (PEOPLE, "friends", PEOPLE, "friends"),
    (PEOPLE, "spouse", PEOPLE, "spouse"),
];

/// Ends that take one item: an editor, one book that each owns and one owner of a book, one parent,
/// one spouse.
const SINGLE: [(u8, &str); 5] =
    [(BOOKS, "editor"), (BOOKS, "owner"), (PEOPLE, "owns"), (PEOPLE, "parent"), (PEOPLE, "spouse")];

/// Books 10 to 13 and people 20 to 23.
fn space() -> Memory {
    let mut space = Memory::default();
    let people = |more: &[serde_json::Value]| {
        let own = [
            json!({"name": "Parent", "type": "relation", "targetCollectionId": "self", "single": true}),
            json!({"name": "Friends", "type": "relation", "targetCollectionId": "self", "inverseKey": "friends"}),
            json!({"name": "Spouse", "type": "relation", "targetCollectionId": "self", "inverseKey": "spouse", "single": true}),
        ];
        json!({"name": "People", "properties": ([&own, more].concat())})
    };
    space.replace(id(PEOPLE), people(&[]), false).unwrap();
    let to_people = |name: &str, inverse: &str, single: bool| json!({"name": name, "type": "relation", "targetCollectionId": id(PEOPLE), "inverseKey": inverse, "single": single});
    let books = [
        to_people("Authors", "wrote", false),
        to_people("Editor", "edited", true),
        to_people("Owner", "owns", true),
    ];
    space.replace(id(BOOKS), json!({"name": "Books", "properties": books}), false).unwrap();
    let parent_of = json!({"name": "Parent of", "type": "relation", "targetCollectionId": "self"});
    let to_books = |key: &str, single: bool| json!({"key": key, "name": key, "type": "relation", "targetCollectionId": id(BOOKS), "single": single});
    space
        .replace(
            id(PEOPLE),
            people(&[
                parent_of,
                to_books("wrote", false),
                to_books("edited", false),
                to_books("owns", true),
            ]),
            false,
        )
        .unwrap();
    for item in 0..4 {
        space.add(id(10 + item), id(BOOKS));
        space.add(id(20 + item), id(PEOPLE));
    }
    space.check();
    space
}

/// Each relation as pairs of an owner and another.
#[derive(Clone, Debug, Default)]
struct Naive {
    pairs: BTreeSet<(usize, BlockId, BlockId)>,
}

impl Naive {
    fn related(&self, collection: u8, key: &str, item: BlockId) -> BTreeSet<BlockId> {
        let mut found = BTreeSet::new();
        for (index, owner, other) in &self.pairs {
            let (owners, owner_key, others, other_key) = RELATIONS[*index];
            if (owners, owner_key) == (collection, key) && *owner == item {
                found.insert(*other);
            }
            if (others, other_key) == (collection, key) && *other == item {
                found.insert(*owner);
            }
        }
        found
    }

    fn relate(&mut self, collection: u8, key: &str, item: BlockId, wanted: &[BlockId]) {
        let index = RELATIONS
            .iter()
            .position(|(a, b, c, d)| [(*a, *b), (*c, *d)].contains(&(collection, key)))
            .unwrap();
        let (owners, owner_key, others, other_key) = RELATIONS[index];
        let (is_owner, is_other) =
            ((owners, owner_key) == (collection, key), (others, other_key) == (collection, key));
        self.pairs.retain(|(other_index, owner, other)| {
            *other_index != index || !((is_owner && *owner == item) || (is_other && *other == item))
        });
        self.pairs.extend(
            wanted
                .iter()
                .map(|other| if is_owner { (index, item, *other) } else { (index, *other, item) }),
        );
    }

    fn is_allowed(&self) -> bool {
        let items: BTreeSet<_> =
            self.pairs.iter().flat_map(|(_, owner, other)| [*owner, *other]).collect();
        let is_single = |(collection, key): &(u8, &str)| {
            items.iter().all(|item| self.related(*collection, key, *item).len() <= 1)
        };
        SINGLE.iter().all(is_single)
    }
}

#[derive(Clone, Debug)]
enum ColumnChange {
    /// In one request: collection, item, key, related items.
    Change(Vec<(u8, BlockId, &'static str, Vec<BlockId>)>),
    Delete(BlockId),
    Add(BlockId),
}

fn book() -> impl Strategy<Value = BlockId> {
    (10..14_u8).prop_map(id)
}

fn person() -> impl Strategy<Value = BlockId> {
    (20..24_u8).prop_map(id)
}

fn change() -> impl Strategy<Value = (u8, BlockId, &'static str, Vec<BlockId>)> {
    let ends: Vec<_> =
        RELATIONS.iter().flat_map(|(a, b, c, d)| [(*a, *b, *c), (*c, *d, *a)]).collect();
    (
        proptest::sample::select(ends),
        book(),
        person(),
        book(),
        person(),
        book(),
        person(),
        0..3_usize,
    )
        .prop_map(
            |((here, key, there), book, person, first_book, first, second_book, second, count)| {
                let item = if here == BOOKS { book } else { person };
                let mut others = if there == BOOKS {
                    vec![first_book, second_book]
                } else {
                    vec![first, second]
                };
                others.truncate(if SINGLE.contains(&(here, key)) { count.min(1) } else { count });
                others.dedup();
                (here, item, key, others)
            },
        )
}

fn steps() -> impl Strategy<Value = Vec<ColumnChange>> {
    let changes = proptest::collection::vec(change(), 1..4).prop_map(ColumnChange::Change);
    let item = || prop_oneof![book(), person()];
    let step = prop_oneof![20 => changes, 1 => item().prop_map(ColumnChange::Delete), 2 => item().prop_map(ColumnChange::Add)];
    proptest::collection::vec(step, 1..40)
}

fn collection_of(item: BlockId) -> u8 {
    if item.to_bytes()[15] < 20 { BOOKS } else { PEOPLE }
}

/// Runs steps on both; the first difference. `break_it` may spoil the real space after each step.
fn differ(steps: Vec<ColumnChange>, break_it: fn(&mut Memory)) -> Result<(), TestCaseError> {
    let (mut space, mut naive) = (space(), Naive::default());
    for step in steps {
        match step {
            ColumnChange::Change(changes) => {
                let mut then = naive.clone();
                let mut request = Vec::new();
                let mut are_there = true;
                for (collection, item, key, others) in changes {
                    are_there &=
                        others.iter().chain([&item]).all(|id| space.items.contains_key(id));
                    then.relate(collection, key, item, &others);
                    let value = (!others.is_empty()).then_some(PropertyValue::Relations(others));
                    request.push((item, id(collection), vec![(key.to_owned(), value)]));
                }
                let before = space.clone();
                match space.change(request) {
                    Ok(()) => {
                        prop_assert!(are_there && then.is_allowed());
                        naive = then;
                    }
                    Err(error) => {
                        let expected =
                            if are_there { ErrorKind::SchemaMismatch } else { ErrorKind::NotFound };
                        prop_assert_eq!(error.kind(), expected, "{}", error);
                        prop_assert!(!are_there || !then.is_allowed(), "{}", error);
                        prop_assert_eq!(&space, &before);
                    }
                }
            }
            ColumnChange::Delete(item) => {
                space.delete(&BTreeSet::from([item]));
                naive.pairs.retain(|(_, owner, other)| *owner != item && *other != item);
            }
            ColumnChange::Add(item) if space.items.contains_key(&item) => {}
            ColumnChange::Add(item) => space.add(item, id(collection_of(item))),
        }
        break_it(&mut space);
        space.check();
        for (owners, owner_key, others, other_key) in RELATIONS {
            for (collection, key) in [(owners, owner_key), (others, other_key)] {
                for item in space.items.keys().filter(|item| collection_of(**item) == collection) {
                    let found: BTreeSet<_> =
                        related(&space, id(collection), key, *item).unwrap().into_iter().collect();
                    prop_assert_eq!(
                        found,
                        naive.related(collection, key, *item),
                        "{} of {}",
                        key,
                        item
                    );
                }
            }
        }
    }
    Ok(())
}

#[test]
fn both_ends_agree_with_a_set_of_pairs() {
    run(600, &steps(), |steps| differ(steps, |_| {})).unwrap();
}

/// Control: a pair that gets lost is noticed.
#[test]
fn a_lost_pair_is_noticed() {
    let lose = |space: &mut Memory| {
        for stored in space.items.values_mut() {
            stored.values.set("friends", None);
        }
    };
    assert!(fails(600, &steps(), |steps| differ(steps, lose)));
}

fn relate(space: &mut Memory, requests: &[(u8, u8, &str, &[u8])]) -> leafbase_model::Result<()> {
    let change = |(collection, item, key, others): &(u8, u8, &str, &[u8])| {
        let others: Vec<_> = others.iter().map(|other| id(*other)).collect();
        let value = (!others.is_empty()).then_some(PropertyValue::Relations(others));
        (id(*item), id(*collection), vec![((*key).to_owned(), value)])
    };
    space.change(requests.iter().map(change).collect())
}

fn shown(space: &Memory, collection: u8, key: &str, item: u8) -> Vec<u8> {
    related(space, id(collection), key, id(item))
        .unwrap()
        .iter()
        .map(|id| id.to_bytes()[15])
        .collect()
}

#[test]
fn the_order_is_that_of_the_request_at_the_owners_end() {
    let mut space = space();
    relate(&mut space, &[(BOOKS, 10, "authors", &[22, 20])]).unwrap();
    relate(&mut space, &[(PEOPLE, 21, "wrote", &[12, 10, 11])]).unwrap();
    relate(&mut space, &[(PEOPLE, 21, "friends", &[23, 20])]).unwrap();
    assert_eq!(shown(&space, BOOKS, "authors", 10), [22, 20, 21]);
    assert_eq!(shown(&space, PEOPLE, "wrote", 21), [10, 11, 12]);
    assert_eq!(
        (shown(&space, PEOPLE, "friends", 21), shown(&space, PEOPLE, "friends", 20)),
        (vec![20, 23], vec![21])
    );
    relate(&mut space, &[(BOOKS, 10, "authors", &[21, 22])]).unwrap();
    assert_eq!(
        (shown(&space, BOOKS, "authors", 10), shown(&space, PEOPLE, "wrote", 20)),
        (vec![21, 22], vec![])
    );
}

#[test]
fn the_other_end_of_many_items_at_once() {
    let mut space = space();
    relate(&mut space, &[(BOOKS, 10, "authors", &[22, 20]), (BOOKS, 11, "authors", &[20])])
        .unwrap();
    let books = space.items.iter().filter(|(_, stored)| stored.collection == id(BOOKS));
    let found = inverse_index(books.map(|(id, stored)| (*id, &stored.values)), "authors");
    for person in 20..24 {
        let expected: BTreeSet<_> =
            related(&space, id(PEOPLE), "wrote", id(person)).unwrap().into_iter().collect();
        assert_eq!(found.get(&id(person)).cloned().unwrap_or_default(), expected);
    }
}

#[test]
fn nothing_is_taken_from_an_item_silently() {
    let name = |number: u8| id(number).to_string();
    for (before, request, path, named) in [
        // The owner's end takes one, and the other end would add a second.
        (
            (BOOKS, 10, "editor", 20),
            (PEOPLE, 21, "edited", 10),
            "items[0].properties.edited",
            [20, 21],
        ),
        // The other end takes one.
        ((BOOKS, 10, "owner", 20), (BOOKS, 11, "owner", 20), "items[0].properties.owner", [10, 11]),
        ((BOOKS, 10, "owner", 20), (PEOPLE, 21, "owns", 10), "items[0].properties.owns", [20, 21]),
        (
            (PEOPLE, 20, "parent", 21),
            (PEOPLE, 22, "parent_of", 20),
            "items[0].properties.parent_of",
            [21, 22],
        ),
        (
            (PEOPLE, 20, "spouse", 21),
            (PEOPLE, 22, "spouse", 20),
            "items[0].properties.spouse",
            [21, 22],
        ),
    ] {
        let mut space = space();
        let one = |(collection, item, key, other): (u8, u8, &'static str, u8)| {
            (collection, item, key, [other])
        };
        let (collection, item, key, other) = one(before);
        relate(&mut space, &[(collection, item, key, &other)]).unwrap();
        let (collection, item, key, other) = one(request);
        let error = relate(&mut space, &[(collection, item, key, &other)]).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::SchemaMismatch, path));
        assert!(named.iter().all(|number| error.message().contains(&name(*number))), "{error}");
    }
}

#[test]
fn one_request_may_swap_what_two_items_have() {
    let mut space = space();
    relate(&mut space, &[(BOOKS, 10, "owner", &[20]), (BOOKS, 11, "owner", &[21])]).unwrap();
    relate(&mut space, &[(BOOKS, 10, "owner", &[21]), (BOOKS, 11, "owner", &[20])]).unwrap();
    assert_eq!(
        (shown(&space, PEOPLE, "owns", 20), shown(&space, PEOPLE, "owns", 21)),
        (vec![11], vec![10])
    );
}

#[test]
fn what_is_related_newly_is_told_with_its_place() {
    let mut space = space();
    relate(&mut space, &[(BOOKS, 10, "authors", &[20, 21]), (PEOPLE, 20, "friends", &[21])])
        .unwrap();
    let mut batch = RelationBatch::new(&space);
    for (index, (collection, item, key, others)) in [
        (BOOKS, 10, "authors", vec![21, 22]),
        (PEOPLE, 23, "wrote", vec![10, 11]),
        (PEOPLE, 21, "friends", vec![20]),
        (BOOKS, 12, "authors", vec![]),
    ]
    .into_iter()
    .enumerate()
    {
        let others = PropertyValue::Relations(others.into_iter().map(id).collect());
        let change = vec![(key.to_owned(), Some(others))];
        batch.change(id(item), id(collection), change, &format!("items[{index}]")).unwrap();
    }
    let (authors, wrote) = ("items[0].properties.authors", "items[1].properties.wrote");
    let joined: Vec<_> = batch.new_links().collect();
    assert_eq!(joined, [(id(22), authors), (id(10), wrote), (id(11), wrote)]);
}

/// An item shows otherwise what others hold: it is told of each that a change takes to it or from
/// it, at whichever end the change was made.
#[test]
fn what_an_item_shows_of_others_is_told() {
    for (request, item, is_changed) in [
        ((BOOKS, 10, "authors", vec![20]), 20, true),
        ((BOOKS, 10, "authors", vec![20]), 21, false),
        ((BOOKS, 10, "authors", vec![]), 22, true),
        ((BOOKS, 10, "authors", vec![22]), 22, false),
        ((BOOKS, 10, "authors", vec![20]), 10, false),
        ((PEOPLE, 20, "wrote", vec![10]), 20, true),
        ((PEOPLE, 20, "wrote", vec![10]), 10, false),
        ((PEOPLE, 20, "friends", vec![21]), 20, true),
        ((PEOPLE, 20, "friends", vec![21]), 21, true),
        ((PEOPLE, 20, "friends", vec![21]), 22, false),
    ] {
        let mut space = space();
        relate(&mut space, &[(BOOKS, 10, "authors", &[22])]).unwrap();
        let (collection, changed, key, others) = request;
        let value = PropertyValue::Relations(others.into_iter().map(id).collect());
        let mut batch = RelationBatch::new(&space);
        batch.change(id(changed), id(collection), vec![(key.to_owned(), Some(value))], "").unwrap();
        assert_eq!(
            batch.inverse_changed(id(item)).unwrap(),
            is_changed,
            "{changed} {key}, asked of {item}"
        );
    }
}

#[test]
fn related_items_are_there_and_of_the_right_collection() {
    for (request, kind, message) in [
        (
            (BOOKS, 10, "authors", &[99][..]),
            ErrorKind::NotFound,
            "items[0].properties.authors: no item has this ID".to_owned(),
        ),
        // The place is that in the request, where one may be named twice.
        (
            (BOOKS, 10, "authors", &[20, 20, 99]),
            ErrorKind::NotFound,
            "items[0].properties.authors[2]: no item has this ID".to_owned(),
        ),
        (
            (BOOKS, 10, "authors", &[99, 99]),
            ErrorKind::NotFound,
            "items[0].properties.authors[0]: no item has this ID".to_owned(),
        ),
        (
            (BOOKS, 99, "authors", &[20]),
            ErrorKind::NotFound,
            "items[0].id: no item has this ID".to_owned(),
        ),
        (
            (BOOKS, 20, "authors", &[20]),
            ErrorKind::NotFound,
            "items[0].id: no item has this ID".to_owned(),
        ),
        (
            (PEOPLE, 20, "wrote", &[10, 21]),
            ErrorKind::SchemaMismatch,
            format!(
                "items[0].properties.wrote[1]: expected an item of the collection {}, got {}",
                id(BOOKS),
                id(21)
            ),
        ),
        (
            (BOOKS, 10, "authors", &[11]),
            ErrorKind::SchemaMismatch,
            format!(
                "items[0].properties.authors: expected an item of the collection {}, got {}",
                id(PEOPLE),
                id(11)
            ),
        ),
        (
            (PEOPLE, 20, "wrote", &[21]),
            ErrorKind::SchemaMismatch,
            format!(
                "items[0].properties.wrote: expected an item of the collection {}, got {}",
                id(BOOKS),
                id(21)
            ),
        ),
    ] {
        let (collection, item, key, others) = request;
        let error = relate(&mut space(), &[(collection, item, key, others)]).unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (kind, message));
    }
}

#[test]
fn a_deleted_collection_leaves_no_end_behind() {
    for going in [BOOKS, PEOPLE] {
        let mut space = space();
        relate(&mut space, &[(BOOKS, 10, "authors", &[20, 21]), (PEOPLE, 20, "owns", &[11])])
            .unwrap();
        space.delete_collections(&BTreeSet::from([id(going)]));
        space.check();
        let rest = space.schemas.values().flat_map(|schema| &schema.properties);
        let left: Vec<_> = rest.map(|property| property.key.as_str()).collect();
        let own = ["parent", "friends", "spouse", "parent_of"];
        assert!(
            if going == BOOKS { left.iter().all(|key| own.contains(key)) } else { left.is_empty() },
            "{left:?}"
        );
    }
}
