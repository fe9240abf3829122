//! What no engine over redb undercuts: the same bytes got, scanned, decoded and put with redb and
//! rmp-serde alone.

use crate::app::{Block, Document, rows};
use benches::workload::Id;
use redb::{
    Database, Durability, ReadOnlyTable, ReadableDatabase, TableDefinition, WriteTransaction,
};
use std::collections::HashMap;
use std::ops::Bound;
use std::path::Path;

const TABLE: TableDefinition<'static, &'static [u8], &'static [u8]> = TableDefinition::new("floor");
const CACHE: usize = 64 << 20;
/// Bytes of a run of blocks that share a row: a page, less its key.
const RUN: usize = 4_000;

const BLOCKS: u8 = 0x10;
const PLACES: u8 = 0x11;
const DOCUMENTS: u8 = 0x20;
const MODIFIED: u8 = 0x22;
const CHANGES: u8 = 0x80;

pub struct Floor {
    database: Database,
    table: ReadOnlyTable<&'static [u8], &'static [u8]>,
    documents: HashMap<Id, Known>,
    sequence: u64,
}

/// A document's rows, for edits that put them again.
struct Known {
    runs: Vec<(Vec<u8>, Vec<u8>)>,
    places: Vec<(Vec<u8>, Vec<u8>)>,
    record: (Vec<u8>, Vec<u8>),
}

/// What an edit of one document puts beside its document's row, time and change.
#[derive(Clone, Copy)]
pub struct Weight {
    pub runs: usize,
    pub places: usize,
    pub change: usize,
}

pub type Rows = Vec<(Vec<u8>, Vec<u8>)>;

fn key(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let mut key = vec![tag];
    parts.iter().for_each(|part| key.extend_from_slice(part));
    key
}

fn known(document: &Document) -> Known {
    let (mut runs, mut places): (Rows, Rows) = (Vec::new(), Vec::new());
    let mut run: Vec<u8> = Vec::new();
    for (_, _, block) in rows(document.id, &document.blocks) {
        let record = rmp_serde::to_vec(block).expect("writing to memory");
        if run.len() + record.len() > RUN {
            push(&mut runs, document.id, &mut run);
        }
        let mut place = document.id.to_vec();
        place.extend((runs.len() as u32).to_be_bytes());
        place.extend((run.len() as u32).to_be_bytes());
        places.push((key(PLACES, &[&block.id]), place));
        run.extend((record.len() as u32).to_be_bytes());
        run.extend(record);
    }
    if !run.is_empty() {
        push(&mut runs, document.id, &mut run);
    }
    let record = rmp_serde::to_vec(&(&document.title, 0, 0)).expect("writing to memory");
    Known { runs, places, record: (key(DOCUMENTS, &[&document.id]), record) }
}

fn push(runs: &mut Rows, document: Id, run: &mut Vec<u8>) {
    let at = (runs.len() as u32).to_be_bytes();
    runs.push((key(BLOCKS, &[&document, &at]), std::mem::take(run)));
}

/// All rows that documents give, sorted.
pub fn all_rows(documents: &[Document], now: i64) -> Rows {
    let mut all = Vec::new();
    for (at, document) in documents.iter().enumerate() {
        let Known { runs, places, record } = known(document);
        let change: Vec<u8> = runs.iter().flat_map(|(_, run)| run.iter().copied()).collect();
        all.extend(runs.into_iter().chain(places).chain([record]));
        all.push((key(MODIFIED, &[&now.to_be_bytes(), &document.id]), Vec::new()));
        all.push((key(CHANGES, &[&(at as u64).to_be_bytes()]), change));
    }
    all.sort_unstable();
    all
}

fn create(directory: &Path) -> Database {
    Database::builder().set_cache_size(CACHE).create(directory.join("floor.redb")).expect("open")
}

/// Puts rows, which are sorted, into a new file, in one durable commit.
pub fn load(directory: &Path, rows: &Rows) -> Database {
    let database = create(directory);
    let transaction = database.begin_write().expect("write");
    {
        let mut table = transaction.open_table(TABLE).expect("table");
        let mut cursor = table.lower_bound_mut(Bound::<&[u8]>::Unbounded).expect("cursor");
        for (key, value) in rows {
            cursor.insert_before(key.as_slice(), value.as_slice()).expect("append");
        }
        cursor.close().expect("close");
    }
    transaction.commit().expect("commit");
    database
}

fn reader(database: &Database) -> ReadOnlyTable<&'static [u8], &'static [u8]> {
    database.begin_read().expect("read").open_table(TABLE).expect("table")
}

/// Opens a file and reads a document. Closing it is not part of that, here as for the others.
pub fn open(directory: &Path, document: Id) -> (Database, Vec<Block>) {
    let database = create(directory);
    let blocks = scan(&reader(&database), document);
    (database, blocks)
}

fn scan(table: &ReadOnlyTable<&'static [u8], &'static [u8]>, document: Id) -> Vec<Block> {
    let low = key(BLOCKS, &[&document]);
    let high = key(BLOCKS, &[&document, &[255; 4]]);
    let mut blocks = Vec::with_capacity(100);
    for row in table.range::<&[u8]>(low.as_slice()..high.as_slice()).expect("range") {
        let (_, run) = row.expect("row");
        let mut rest = run.value();
        while !rest.is_empty() {
            blocks.push(decode(&mut rest));
        }
    }
    blocks
}

/// The record that `rest` begins with, behind its length.
fn decode(rest: &mut &[u8]) -> Block {
    let (length, after) = rest.split_first_chunk::<4>().expect("a length");
    let (record, after) = after.split_at(u32::from_be_bytes(*length) as usize);
    *rest = after;
    rmp_serde::from_slice(record).expect("a record")
}

impl Floor {
    pub fn new(directory: &Path, documents: &[Document]) -> Self {
        let database = load(directory, &all_rows(documents, 1));
        let table = reader(&database);
        let documents = documents.iter().map(|document| (document.id, known(document))).collect();
        Self { database, table, documents, sequence: 1 << 32 }
    }

    pub fn fetch(&self, document: Id) -> Vec<Block> {
        scan(&self.table, document)
    }

    pub fn block(&self, id: Id) -> Block {
        let place = self.table.get(key(PLACES, &[&id]).as_slice()).expect("get").expect("a place");
        let place = place.value();
        let run =
            self.table.get(key(BLOCKS, &[&place[..20]]).as_slice()).expect("get").expect("a run");
        let at = u32::from_be_bytes(place[20..].try_into().expect("four bytes")) as usize;
        decode(&mut &run.value()[at..])
    }

    pub fn document_of(&self, id: Id) -> Id {
        let place = self.table.get(key(PLACES, &[&id]).as_slice()).expect("get").expect("a place");
        place.value()[..16].try_into().expect("sixteen bytes")
    }

    /// A write transaction of the given edits; reads go on from the state before.
    pub fn write(&mut self, durable: bool, edits: &[(Id, Weight)]) {
        let mut transaction = self.database.begin_write().expect("write");
        transaction
            .set_durability(if durable { Durability::Immediate } else { Durability::None })
            .expect("durability");
        for (document, weight) in edits {
            self.edit(&transaction, *document, *weight);
        }
        transaction.commit().expect("commit");
    }

    /// After writes, what they wrote is read.
    pub fn renew(&mut self) {
        self.table = reader(&self.database);
    }

    fn edit(&mut self, transaction: &WriteTransaction, document: Id, weight: Weight) {
        let mut table = transaction.open_table(TABLE).expect("table");
        let Known { runs, places, record } = &self.documents[&document];
        self.sequence += 1;
        for (key, value) in runs.iter().take(weight.runs).chain(places.iter().take(weight.places)) {
            table.insert(key.as_slice(), value.as_slice()).expect("put");
        }
        table.insert(record.0.as_slice(), record.1.as_slice()).expect("put");
        let old = key(MODIFIED, &[&1_i64.to_be_bytes(), &document]);
        table.remove(old.as_slice()).expect("delete");
        table.insert(old.as_slice(), &[][..]).expect("put");
        let change = vec![7; weight.change];
        table
            .insert(key(CHANGES, &[&self.sequence.to_be_bytes()]).as_slice(), change.as_slice())
            .expect("put");
    }
}
