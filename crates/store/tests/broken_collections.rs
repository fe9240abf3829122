//! Each invariant of collections, broken by raw rows: the check reports it.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test"
)]

use std::ops::ControlFlow;

use leafbase_model::{
    BlockData, BlockKind, BlockRecord, Edit, ErrorKind, InsertTarget, Property, PropertyKind,
    PropertyValue, Relation, Schema, SelectOption, Subtrees,
};
use leafbase_store::kv::Store;
use leafbase_store::{IndexedColumn, Invariant, rows};

mod broken;
mod naive;

use broken::collections::{
    COLLECTIONS, ITEM_KEYS, SCHEMAS, authors, books, document, item, property, related, relation,
    schema, set,
};
use broken::*;
use naive::{relaxed, stamp};

/// Breaks an invariant by raw rows, and verifies that the check reports it.
fn breaks(invariant: Invariant, damage: impl Fn(&dyn Store)) {
    let (store, space) = full();
    let report = check(&space);
    assert!(report.is_clean(), "{report:#?}");
    assert_eq!((report.collections, report.items), (2, 4));
    damage(&*store);
    let report = check(&space);
    assert!(
        report.problems.iter().any(|problem| problem.invariant == invariant),
        "{invariant:?} is not among {report:#?}"
    );
}

/// Breaks an invariant by edits, and verifies that the check reports it alone.
fn broken_by(invariant: Invariant, edits: &[Edit]) {
    let (_, space) = full();
    space.write(relaxed(), &stamp(9), |open| open.apply(edits.to_vec())).unwrap();
    let report = check(&space);
    assert!(
        !report.is_clean() && report.problems.iter().all(|problem| problem.invariant == invariant),
        "{invariant:?} {report:#?}"
    );
}

/// Replaces the data of a block.
fn update(number: u8, before: BlockData, after: BlockData) -> Edit {
    let before = node(0, number, before).block;
    let after = BlockRecord { rev: 2, data: after, ..before.clone() };
    Edit::Update { document: document(), before: Box::new(before), after: Box::new(after) }
}

fn insert(parent: u8, after: Option<u8>, data: BlockData) -> Edit {
    let target = InsertTarget { document: document(), parent: id(parent), after: after.map(id) };
    Edit::Insert { target, subtrees: Subtrees(vec![node(0, 40, data)]) }
}

#[test]
fn misplaced_blocks_are_reported() {
    broken_by(Invariant::ParentType, &[insert(21, Some(23), BlockData::text("no item"))]);
    broken_by(Invariant::ParentType, &[insert(20, None, item("no collection", []))]);
    broken_by(Invariant::ParentType, &[insert(27, None, item("no collection", []))]);
}

#[test]
fn broken_schemas_are_named() {
    breaks(Invariant::Schema, |store| delete(store, &key(SCHEMAS, &[24], &[])));
    breaks(Invariant::Schema, |store| {
        copy(store, &key(SCHEMAS, &[24], &[]), &key(SCHEMAS, &[9], &[]));
    });
    breaks(Invariant::Schema, |store| {
        copy(store, &key(SCHEMAS, &[24], &[]), &key(SCHEMAS, &[22], &[]));
    });
    broken_by(
        Invariant::Schema,
        &[set(24, Some(authors()), Some(Schema { name: "Others".to_owned(), ..authors() }))],
    );
    let collection = BlockData::new(BlockKind::Collection);
    let named = |name: &str| BlockData { inline: name.to_owned(), ..collection.clone() };
    broken_by(Invariant::Schema, &[update(24, named("Authors"), named("Others"))]);
    let (_, space) = full();
    space
        .write(relaxed(), &stamp(9), |open| open.apply(vec![insert(20, None, named("Bare"))]))
        .unwrap();
    let broken: Vec<Invariant> =
        check(&space).problems.iter().map(|problem| problem.invariant).collect();
    assert_eq!(broken, [Invariant::Schema, Invariant::ItemCount]);
    let twice = schema(
        "Authors",
        [authors().properties, vec![property("a", PropertyKind::Text); 2]].concat(),
    );
    broken_by(Invariant::Schema, &[set(24, Some(authors()), Some(twice))]);
}

#[test]
fn broken_relations_are_named() {
    let of = |relation: Relation| {
        vec![set(24, Some(authors()), Some(schema("Authors", [property("wrote", relation)])))]
    };
    for wrong in
        [relation(21, "none", false), relation(21, "about", false), relation(21, "by", true)]
    {
        broken_by(Invariant::Relation, &of(wrong));
    }
    broken_by(
        Invariant::Relation,
        &of(Relation { inverse_key: None, ..relation(21, "by", false) }),
    );
    broken_by(Invariant::Relation, &of(relation(24, "by", false)));
    broken_by(Invariant::Relation, &of(relation(22, "by", false)));
    // The relation leads to an end that leads elsewhere.
    let more = [authors().properties, vec![property("second", relation(21, "by", false))]].concat();
    broken_by(Invariant::Relation, &[set(24, Some(authors()), Some(schema("Authors", more)))]);
    let symmetric =
        [authors().properties, vec![property("friends", relation(24, "friends", false))]].concat();
    broken_by(Invariant::Relation, &[set(24, Some(authors()), Some(schema("Authors", symmetric)))]);
}

#[test]
fn broken_values_are_named() {
    let value = |values: &[(&'static str, PropertyValue)]| {
        vec![update(23, item("Emma", []), item("Emma", values.to_vec()))]
    };
    let text = || PropertyValue::Text("text".to_owned());
    for (key, wrong) in [
        ("none", text()),
        ("title", text()),
        ("pages", text()),
        ("about", PropertyValue::Number(1.0)),
        ("about", related(&[22])),
        ("shelf", PropertyValue::Options(vec!["A".to_owned()])),
        ("by", text()),
        ("by", related(&[9])),
        ("by", related(&[8])),
        ("by", related(&[22])),
        // The author already has a book.
        ("by", related(&[25])),
        ("by", related(&[26, 26])),
        ("like", related(&[22, 23])),
    ] {
        broken_by(Invariant::Value, &value(&[(key, wrong)]));
    }
    broken_by(
        Invariant::Value,
        &[update(26, item("Jane", []), item("Jane", [("wrote", related(&[23]))]))],
    );
    // Two books similar to the same one, and one similar to two others.
    let third = insert(21, Some(23), item("Third", [("like", related(&[23]))]));
    let both = |like| [value(&[("like", related(&[like]))]), vec![third.clone()]].concat();
    broken_by(Invariant::Value, &both(22));
    // Relations to deleted items are gone.
    let target = InsertTarget { document: document(), parent: id(24), after: None };
    broken_by(
        Invariant::Value,
        &[Edit::Remove { target, subtrees: Subtrees(vec![node(0, 25, item("Herman", []))]) }],
    );
    // Control: valid values.
    let (_, space) = full();
    let values = [
        ("by", related(&[26])),
        ("like", related(&[23])),
        ("shelf", text()),
        ("pages", PropertyValue::Number(1.0)),
    ];
    space.write(relaxed(), &stamp(9), |open| open.apply(value(&values))).unwrap();
    assert!(check(&space).is_clean());
}

#[test]
fn broken_counts_are_named() {
    let row = |document: u8, collection: u8| key(COLLECTIONS, &[document, collection], &[]);
    breaks(Invariant::ItemCount, |store| delete(store, &row(20, 21)));
    breaks(Invariant::ItemCount, |store| rekey(store, &row(20, 21), &row(7, 21)));
    breaks(Invariant::ItemCount, |store| copy(store, &row(20, 21), &row(20, 22)));
    breaks(Invariant::ItemCount, |store| {
        put(store, &row(20, 21), &rows::seal(&row(20, 21), &[0x91, 3]));
    });
    breaks(Invariant::ItemCount, |store| {
        put(store, &row(20, 21), &rows::seal(&row(20, 21), &[0x90]));
    });
}

#[test]
fn broken_indexes_are_named() {
    let all = || {
        let (store, _) = full();
        find(&*store, &[ITEM_KEYS])
    };
    // Four titles, a number and a text.
    assert_eq!(all().len(), 6);
    for (row, _) in all() {
        breaks(Invariant::ItemIndex, |store| delete(store, &row));
        for at in [1, 20, 21, row.len() - 1] {
            // A row of another collection, column, value or item.
            let mut other = row.clone();
            other[at] ^= 0x40;
            breaks(Invariant::ItemIndex, |store| copy(store, &row, &other));
        }
    }
    for row in [
        key(ITEM_KEYS, &[0], &[7; 30]),
        key(ITEM_KEYS, &[23], &[7; 30]),
        key(ITEM_KEYS, &[255], &[255; 30]),
    ] {
        breaks(Invariant::ItemIndex, |store| put(store, &row, &rows::seal(&row, &[0; 8])));
    }
    breaks(Invariant::Record, |store| put(store, &all()[0].0, b"?"));
    breaks(Invariant::Record, |store| put(store, &all()[0].0, &rows::seal(&all()[0].0, &[1])));
    breaks(Invariant::Record, |store| put(store, &all()[0].0, &rows::seal(&all()[0].0, &[])));
    // Another bitmap.
    for (row, _) in all() {
        breaks(Invariant::ItemIndex, |store| {
            put(store, &row, &rows::seal(&row, &[0, 0, 0, 0, 0, 0, 0, 1]));
        });
    }
    let short = key(ITEM_KEYS, &[21], &[7; 19]);
    breaks(Invariant::Record, |store| put(store, &short, &rows::seal(&short, &[0; 8])));
}

#[test]
fn damage_is_not_read_past() {
    let (store, space) = full();
    let rows: Vec<_> = find(&*store, &key(ITEM_KEYS, &[21], &[0; 4]));
    put(&*store, &rows[1].0, b"?");
    let snapshot = space.snapshot().unwrap();
    let reader = snapshot.reader();
    let index = reader.item_index(id(21)).unwrap().unwrap();
    let mut found = vec![];
    let scanned = index.scan(IndexedColumn::Title, &[], None, false, &mut |item, _| {
        found.push(item);
        Ok(ControlFlow::Continue(()))
    });
    assert_eq!((scanned.unwrap_err().kind(), found), (ErrorKind::Corrupted, vec![id(23)]));
    // Missing items are detected.
    let run = find(&*store, &key(BLOCKS, &[20, 24], &[])).remove(0).0;
    delete(&*store, &run);
    let snapshot = space.snapshot().unwrap();
    let read = snapshot.reader().items(id(24), None, &mut |_| Ok(ControlFlow::Continue(())));
    assert_eq!(read.unwrap_err().kind(), ErrorKind::Corrupted);
    let read = snapshot.reader().item_rows(id(24), None, &mut |_| Ok(ControlFlow::Continue(())));
    assert_eq!(read.unwrap_err().kind(), ErrorKind::Corrupted);
    delete(&*store, &key(COLLECTIONS, &[20, 21], &[]));
    let snapshot = space.snapshot().unwrap();
    assert_eq!(snapshot.reader().item_index(id(21)).unwrap_err().kind(), ErrorKind::Corrupted);
}

#[test]
fn schemas_that_cannot_be_are_damage() {
    let (store, _) = full();
    let (row, value) = find(&*store, &key(SCHEMAS, &[21], &[])).remove(0);
    let body = rows::body(&row, &value).unwrap();
    let read =
        |body: &[u8]| rows::read(&row, &rows::seal(&row, body)).map_err(|error| error.kind());
    assert_eq!(read(&body), Ok(()));
    // The columns are 1, 2, 3 and none twice, and the next is 4.
    let tail = [0x95, 1, 2, 3, 0xc0, 0xc0, 4];
    assert!(body.ends_with(&tail));
    let head = &body[..body.len() - tail.len()];
    for wrong in [
        &[0x95, 1, 2, 4, 0xc0, 0xc0, 4][..],
        &[0x95, 0, 2, 3, 0xc0, 0xc0, 4],
        &[0x95, 1, 2, 3, 3, 0xc0, 4],
        &[0x95, 1, 2, 0xc0, 0xc0, 0xc0, 4],
        &[0x94, 1, 2, 3, 0xc0, 4],
    ] {
        assert_eq!(read(&[head, wrong].concat()), Err(ErrorKind::Corrupted), "{wrong:?}");
    }
}

/// Of every type, with and without colours, options and names.
fn every_property() -> Vec<Property> {
    let color = "#0060c0".parse().ok();
    let options =
        || vec![SelectOption { name: "Red".to_owned(), color }, SelectOption::new("None")];
    let kinds = [
        PropertyKind::Text,
        PropertyKind::Number,
        PropertyKind::Boolean,
        PropertyKind::Date,
        PropertyKind::Url,
        PropertyKind::Email,
        PropertyKind::Phone,
        PropertyKind::SingleSelect(options()),
        PropertyKind::SingleSelect(vec![]),
        PropertyKind::MultiSelect(options()),
        PropertyKind::MultiSelect(vec![]),
    ];
    let flags = [(false, false), (false, true), (true, false), (true, true)];
    let relations =
        flags.map(|(single, owner)| Relation { single, owner, ..relation(21, "by", false) }.into());
    let open = Relation { inverse_key: None, ..relation(21, "", true) }.into();
    let kinds = kinds.into_iter().chain(relations).chain([open]);
    (0..)
        .zip(kinds)
        .map(|(number, kind): (u32, _)| property(&format!("key{number}"), kind))
        .collect()
}

#[test]
fn schemas_read_back_from_store_and_log() {
    let (_, space) = full();
    let all = schema("", every_property());
    let edits = vec![
        set(24, Some(authors()), Some(all.clone())),
        set(24, Some(all.clone()), Some(schema("Few", []))),
    ];
    let written = space.write(relaxed(), &stamp(9), |open| {
        open.apply(edits[..1].to_vec())?;
        assert_eq!(open.reader()?.schema(id(24))?, Some(all.clone()));
        open.apply(edits[1..].to_vec())
    });
    let change = written.unwrap().change.unwrap();
    assert_eq!(change.documents, [document()]);
    let snapshot = space.snapshot().unwrap();
    let last = snapshot.reader().changes_after(change.sequence - 1, 9).unwrap();
    assert_eq!((last[0].edits.as_slice(), &last[0]), (edits.as_slice(), &change));
    assert_eq!(snapshot.reader().schema(id(21)).unwrap(), Some(books()));
}
