//! One value for a whole document: its blocks in reading order, each with its depth.

use crate::peer::{Mode, Peer, Position};
use crate::record::{self, CHECKSUM, id, seal, sealed, unseal};
use crate::store::{BLOCKS, PLACES, Store, Writer, get, key};
use benches::workload::{Block, Document, Id, Node, Tree};
use redb::ReadableTable;
use std::ops::Range;
use std::path::Path;

/// Of an entry in the header: ID, depth, and the end of its record.
const ENTRY: usize = 16 + 2 + 4;

pub struct Whole(Store);

/// A document's value without its checksum.
struct View<'a>(&'a [u8]);

impl View<'_> {
    fn count(&self) -> usize {
        u32::from_le_bytes(self.0[..4].try_into().expect("a count")) as usize
    }

    fn entry(&self, at: usize) -> &[u8] {
        &self.0[4 + at * ENTRY..][..ENTRY]
    }

    fn depth(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.entry(at)[16..18].try_into().expect("a depth"))
    }

    /// The start of a record; of the one past the last: the end of all.
    fn start(&self, at: usize) -> usize {
        if at == 0 {
            return 0;
        }
        u32::from_le_bytes(self.entry(at - 1)[18..].try_into().expect("an end")) as usize
    }

    fn records(&self, range: Range<usize>) -> &[u8] {
        let base = 4 + self.count() * ENTRY;
        &self.0[base + self.start(range.start)..base + self.start(range.end)]
    }

    fn find(&self, block: Id) -> usize {
        (0..self.count())
            .find(|&at| self.entry(at)[..16] == block)
            .expect("a block of the document")
    }

    /// The entries of a block and of all below it.
    fn subtree(&self, at: usize) -> Range<usize> {
        let below = (at + 1..self.count()).find(|&next| self.depth(next) <= self.depth(at));
        at..below.unwrap_or(self.count())
    }

    fn slot(&self, position: &Position) -> (usize, u16) {
        match position {
            Position::After(sibling) => {
                let at = self.find(*sibling);
                (self.subtree(at).end, self.depth(at))
            }
            Position::End { document, parent } if document == parent => (self.count(), 0),
            Position::End { parent, .. } => {
                let at = self.find(*parent);
                (self.subtree(at).end, self.depth(at) + 1)
            }
        }
    }

    fn get(&self, at: usize) -> Block {
        record::decode(id(self.entry(at)), self.records(at..at + 1))
    }
}

/// Builds a value from entries and ranges of entries of other values.
#[derive(Default)]
struct Builder {
    entries: Vec<u8>,
    records: Vec<u8>,
}

impl Builder {
    fn push(&mut self, id: &[u8], depth: u16, record: &[u8]) {
        self.records.extend_from_slice(record);
        self.entries.extend_from_slice(id);
        self.entries.extend(depth.to_le_bytes());
        self.entries.extend((self.records.len() as u32).to_le_bytes());
    }

    fn copy(&mut self, from: &View<'_>, range: Range<usize>, deeper: i32) {
        let shift = self.records.len() as i64 - from.start(range.start) as i64;
        for at in range.clone() {
            let end = from.start(at + 1) as i64 + shift;
            self.entries.extend_from_slice(&from.entry(at)[..16]);
            self.entries.extend(((i32::from(from.depth(at)) + deeper) as u16).to_le_bytes());
            self.entries.extend((end as u32).to_le_bytes());
        }
        self.records.extend_from_slice(from.records(range));
    }

    fn value(self) -> Vec<u8> {
        let count = (self.entries.len() / ENTRY) as u32;
        let mut value = Vec::with_capacity(CHECKSUM + 4 + self.entries.len() + self.records.len());
        value.extend([0; CHECKSUM]);
        value.extend(count.to_le_bytes());
        value.extend(self.entries);
        value.extend(self.records);
        seal(&mut value);
        value
    }
}

pub fn open(directory: &Path) -> Box<dyn Peer> {
    Box::new(Whole(Store::open(directory)))
}

fn document_of<T: ReadableTable<&'static [u8], &'static [u8]>>(table: &T, block: Id) -> Id {
    let value = table.get(key(PLACES, &[&block]).as_slice()).expect("get").expect("a block");
    id(unseal(value.value()))
}

fn target(writer: &Writer<'_>, position: &Position) -> Id {
    match position {
        Position::After(sibling) => document_of(&writer.table, *sibling),
        Position::End { document, .. } => *document,
    }
}

impl Peer for Whole {
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
                let mut builder = Builder::default();
                for node in &document.tree {
                    builder.push(&node.block.id, node.depth as u16, &record::encode(&node.block));
                    rows.push((key(PLACES, &[&node.block.id]), sealed(&[&document.id])));
                }
                rows.push((key(BLOCKS, &[&document.id]), builder.value()));
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
            let document = target(writer, position);
            let at = key(BLOCKS, &[&document]);
            let value = get(&writer.table, &at).expect("a document");
            let view = View(unseal(&value));
            let (slot, depth) = view.slot(position);
            let record = record::encode(block);
            let mut builder = Builder::default();
            builder.copy(&view, 0..slot, 0);
            builder.push(&block.id, depth, &record);
            builder.copy(&view, slot..view.count(), 0);
            writer.put(&at, &builder.value());
            writer.put(&key(PLACES, &[&block.id]), &sealed(&[&document]));
            writer.touch(document, now);
            writer.log(
                now,
                document,
                "insert",
                &[&(slot as u32).to_le_bytes(), &block.id, &record],
            );
        });
    }

    fn update(&mut self, block: Id, markdown: &str, now: u64) {
        self.0.write(|writer| {
            let document = document_of(&writer.table, block);
            let at = key(BLOCKS, &[&document]);
            let value = get(&writer.table, &at).expect("a document");
            let view = View(unseal(&value));
            let slot = view.find(block);
            let mut block = view.get(slot);
            block.rev += 1;
            block.modified = now;
            markdown.clone_into(&mut block.markdown);
            let record = record::encode(&block);
            let mut builder = Builder::default();
            builder.copy(&view, 0..slot, 0);
            builder.push(&block.id, view.depth(slot), &record);
            builder.copy(&view, slot + 1..view.count(), 0);
            writer.put(&at, &builder.value());
            writer.touch(document, now);
            writer.log(
                now,
                document,
                "update",
                &[&block.id, view.records(slot..slot + 1), &record],
            );
        });
    }

    fn relocate(&mut self, ids: &[Id], position: &Position, now: u64) {
        self.0.write(|writer| {
            let from = document_of(&writer.table, ids[0]);
            let source = get(&writer.table, &key(BLOCKS, &[&from])).expect("a document");
            let source = View(unseal(&source));
            let first = source.find(ids[0]);
            let mut cut: Vec<Range<usize>> = vec![source.subtree(first)];
            for block in &ids[1..] {
                let mut at = cut.last().map_or(0, |range| range.end);
                while source.entry(at)[..16] != *block {
                    at = source.subtree(at).end;
                }
                cut.push(source.subtree(at));
            }
            let mut rest = Builder::default();
            let mut kept = 0;
            for range in &cut {
                rest.copy(&source, kept..range.start, 0);
                kept = range.end;
            }
            rest.copy(&source, kept..source.count(), 0);
            let rest = rest.value();

            let document = target(writer, position);
            let other = (document != from).then(|| {
                writer.put(&key(BLOCKS, &[&from]), &rest);
                writer.touch(from, now);
                get(&writer.table, &key(BLOCKS, &[&document])).expect("a document")
            });
            let view = View(unseal(other.as_ref().unwrap_or(&rest)));
            let (slot, depth) = view.slot(position);
            let deeper = i32::from(depth) - i32::from(source.depth(first));
            let mut builder = Builder::default();
            builder.copy(&view, 0..slot, 0);
            for range in &cut {
                builder.copy(&source, range.clone(), deeper);
                if other.is_some() {
                    for at in range.clone() {
                        writer.put(&key(PLACES, &[&source.entry(at)[..16]]), &sealed(&[&document]));
                    }
                }
            }
            builder.copy(&view, slot..view.count(), 0);
            writer.put(&key(BLOCKS, &[&document]), &builder.value());
            writer.touch(document, now);
            let (old, new) = ((first as u32).to_le_bytes(), (slot as u32).to_le_bytes());
            writer.log(now, document, "move", &[&from, &old, &new, ids.as_flattened()]);
        });
    }

    fn fetch(&mut self, document: Id) -> Tree {
        self.0.read(|table| {
            let value =
                table.get(key(BLOCKS, &[&document]).as_slice()).expect("get").expect("a document");
            let view = View(unseal(value.value()));
            (0..view.count())
                .map(|at| Node { depth: u32::from(view.depth(at)), block: view.get(at) })
                .collect()
        })
    }

    fn block(&mut self, block: Id) -> Block {
        self.0.read(|table| {
            let document = document_of(table, block);
            let value =
                table.get(key(BLOCKS, &[&document]).as_slice()).expect("get").expect("a document");
            let view = View(unseal(value.value()));
            view.get(view.find(block))
        })
    }

    fn document_of(&mut self, block: Id) -> Id {
        self.0.read(|table| document_of(table, block))
    }
}
