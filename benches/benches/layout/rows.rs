//! Rows: (document, parent, order key) to one block.

use crate::peer::{Mode, Peer, Position, assemble};
use crate::record::{self, id, sealed, unseal};
use crate::store::{BLOCKS, PLACES, Store, Writer, get, key, past};
use benches::order;
use benches::workload::{Block, Document, Id, PAGE, Tree};
use redb::ReadableTable;
use std::ops::Bound::{Excluded, Included};
use std::path::Path;

pub struct Rows(Store);

struct Place {
    document: Id,
    parent: Id,
    order: Vec<u8>,
}

impl Place {
    fn key(&self) -> Vec<u8> {
        key(BLOCKS, &[&self.document, &self.parent, &self.order])
    }

    fn value(&self) -> Vec<u8> {
        sealed(&[&self.document, &self.parent, &self.order])
    }
}

pub fn open(directory: &Path) -> Box<dyn Peer> {
    Box::new(Rows(Store::open(directory)))
}

fn place<T: ReadableTable<&'static [u8], &'static [u8]>>(table: &T, block: Id) -> Place {
    let value = table.get(key(PLACES, &[&block]).as_slice()).expect("get").expect("a block");
    let place = unseal(value.value());
    Place { document: id(place), parent: id(&place[16..]), order: place[32..].to_vec() }
}

/// A block's row: ID, then record.
fn row(block: &Block) -> Vec<u8> {
    sealed(&[&block.id, &record::encode(block)])
}

fn decode(row: &[u8]) -> Block {
    let content = unseal(row);
    record::decode(id(content), &content[16..])
}

/// Where blocks go: the parent, and order keys for so many of them.
fn slots(writer: &Writer<'_>, position: &Position, count: usize) -> (Id, Id, Vec<Vec<u8>>) {
    let order_of = |key: &[u8]| key[33..].to_vec();
    match position {
        Position::After(sibling) => {
            let place = place(&writer.table, *sibling);
            let prefix = key(BLOCKS, &[&place.document, &place.parent]);
            let (low, high) = (place.key(), past(&prefix));
            let range = (Excluded(low.as_slice()), Excluded(high.as_slice()));
            let next = writer.table.range::<&[u8]>(range).expect("range").next();
            let next = next.map(|next| order_of(next.expect("row").0.value()));
            (
                place.document,
                place.parent,
                order::several(count, Some(&place.order), next.as_deref()),
            )
        }
        Position::End { document, parent } => {
            let prefix = key(BLOCKS, &[document, parent]);
            let mut range = writer
                .table
                .range::<&[u8]>(prefix.as_slice()..past(&prefix).as_slice())
                .expect("range");
            let last = range.next_back().map(|last| order_of(last.expect("row").0.value()));
            (*document, *parent, order::several(count, last.as_deref(), None))
        }
    }
}

/// Carries everything below the pages among `moved` into another document.
fn carry(writer: &mut Writer<'_>, from: Id, to: Id, moved: &[Vec<u8>]) {
    let page = |row: &Vec<u8>| (record::kind(&row[24..]) == PAGE).then(|| id(&row[8..]));
    let mut pages: Vec<Id> = moved.iter().filter_map(page).collect();
    while let Some(parent) = pages.pop() {
        let prefix = key(BLOCKS, &[&from, &parent]);
        let range = writer
            .table
            .range::<&[u8]>(prefix.as_slice()..past(&prefix).as_slice())
            .expect("range");
        let rows: Vec<(Vec<u8>, Vec<u8>)> = range
            .map(|row| row.map(|(k, v)| (k.value().to_vec(), v.value().to_vec())).expect("row"))
            .collect();
        for (old, row) in &rows {
            pages.extend(page(row));
            let place = Place { document: to, parent, order: old[33..].to_vec() };
            writer.delete(old);
            writer.put(&place.key(), row);
            writer.put(&key(PLACES, &[&id(&row[8..])]), &place.value());
        }
    }
}

impl Peer for Rows {
    fn set_mode(&mut self, mode: Mode) {
        self.0.set_mode(mode);
    }

    fn publish(&mut self) {
        self.0.publish();
    }

    fn keep_snapshot(&mut self, keep: bool) {
        self.0.set_keep(keep);
    }

    fn import(&mut self, documents: &[Document], empty: bool, now: u64) {
        self.0.write(|writer| {
            let mut rows = Vec::new();
            for document in documents {
                for (parent, children) in document.groups() {
                    for (index, block) in children.into_iter().enumerate() {
                        let place =
                            Place { document: document.id, parent, order: order::nth(index) };
                        rows.push((place.key(), row(block)));
                        rows.push((key(PLACES, &[&block.id]), place.value()));
                    }
                }
            }
            writer.load(rows, documents, empty, now);
        });
    }

    fn note(&mut self, document: Id, now: u64) {
        self.0.write(|writer| {
            writer.touch(document, now);
            writer.log(now, document, "note", &[&document]);
        });
    }

    fn insert(&mut self, block: &Block, position: &Position, now: u64) {
        self.0.write(|writer| {
            let (document, parent, mut orders) = slots(writer, position, 1);
            let place = Place { document, parent, order: orders.remove(0) };
            let row = row(block);
            writer.put(&place.key(), &row);
            writer.put(&key(PLACES, &[&block.id]), &place.value());
            writer.touch(document, now);
            writer.log(now, document, "insert", &[&parent, &place.order, &row]);
        });
    }

    fn update(&mut self, block: Id, markdown: &str, now: u64) {
        self.0.write(|writer| {
            let place = place(&writer.table, block);
            let at = place.key();
            let old = get(&writer.table, &at).expect("a row");
            let mut block = decode(&old);
            block.rev += 1;
            block.modified = now;
            markdown.clone_into(&mut block.markdown);
            let new = row(&block);
            writer.put(&at, &new);
            writer.touch(place.document, now);
            writer.log(now, place.document, "update", &[&old, &new]);
        });
    }

    fn relocate(&mut self, ids: &[Id], position: &Position, now: u64) {
        self.0.write(|writer| {
            let from = place(&writer.table, ids[0]);
            let (low, high) = (from.key(), past(&key(BLOCKS, &[&from.document, &from.parent])));
            let range = (Included(low.as_slice()), Excluded(high.as_slice()));
            let mut cut: Vec<(Vec<u8>, Vec<u8>)> = Vec::with_capacity(ids.len());
            for row in writer.table.range::<&[u8]>(range).expect("range") {
                let (key, value) = row.expect("row");
                if value.value()[8..24] == ids[cut.len()] {
                    unseal(value.value());
                    cut.push((key.value().to_vec(), value.value().to_vec()));
                    if cut.len() == ids.len() {
                        break;
                    }
                }
            }
            assert_eq!(cut.len(), ids.len(), "siblings in their order");
            for (key, _) in &cut {
                writer.delete(key);
            }
            let (document, parent, orders) = slots(writer, position, ids.len());
            for ((_, row), order) in cut.iter().zip(orders) {
                let place = Place { document, parent, order };
                writer.put(&place.key(), row);
                writer.put(&key(PLACES, &[&row[8..24]]), &place.value());
            }
            if document != from.document {
                let moved: Vec<Vec<u8>> = cut.into_iter().map(|(_, row)| row).collect();
                carry(writer, from.document, document, &moved);
                writer.touch(from.document, now);
            }
            writer.touch(document, now);
            let parts =
                [&from.document[..], &from.parent, &from.order, &parent, ids.as_flattened()];
            writer.log(now, document, "move", &parts);
        });
    }

    fn fetch(&mut self, document: Id) -> Tree {
        self.0.read(|table| {
            let prefix = key(BLOCKS, &[&document]);
            let mut blocks: Vec<Block> = Vec::new();
            let mut groups: Vec<(Id, std::ops::Range<usize>)> = Vec::new();
            for row in
                table.range::<&[u8]>(prefix.as_slice()..past(&prefix).as_slice()).expect("range")
            {
                let (key, value) = row.expect("row");
                let parent = id(&key.value()[17..]);
                if groups.last().is_none_or(|(known, _)| *known != parent) {
                    groups.push((parent, blocks.len()..blocks.len()));
                }
                blocks.push(decode(value.value()));
                if let Some((_, range)) = groups.last_mut() {
                    range.end += 1;
                }
            }
            assemble(document, &groups, |_, block| block.id, &mut blocks)
        })
    }

    fn block(&mut self, block: Id) -> Block {
        self.0.read(|table| {
            let place = place(table, block);
            decode(table.get(place.key().as_slice()).expect("get").expect("a row").value())
        })
    }

    fn document_of(&mut self, block: Id) -> Id {
        self.0.read(|table| place(table, block).document)
    }
}
