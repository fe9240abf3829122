//! Bare redb: one table of bytes, a tag byte for each keyspace, and the work that surrounds every
//! edit.

use crate::peer::Mode;
use crate::record;
use benches::workload::{Document, Id};
use redb::{
    Database, Durability, ReadOnlyTable, ReadableDatabase, ReadableTable, Table, TableDefinition,
    WriteTransaction,
};
use std::ops::Bound;
use std::path::Path;

const TABLE: TableDefinition<'static, &'static [u8], &'static [u8]> = TableDefinition::new("space");
const CACHE: usize = 64 << 20;

pub const BLOCKS: u8 = 1;
pub const PLACES: u8 = 2;
const DOCUMENTS: u8 = 3;
const BY_MODIFIED: u8 = 4;
const CHANGES: u8 = 5;

pub type Reader = ReadOnlyTable<&'static [u8], &'static [u8]>;

pub struct Store {
    database: Database,
    mode: Mode,
    open: Option<WriteTransaction>,
    /// A snapshot that calls share until the next write, where that is asked for.
    kept: Option<Reader>,
    keep: bool,
    sequence: u64,
}

pub struct Writer<'a> {
    pub table: Table<'a, &'static [u8], &'static [u8]>,
    sequence: &'a mut u64,
}

pub fn key(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let mut key = Vec::with_capacity(48);
    key.push(tag);
    for part in parts {
        key.extend_from_slice(part);
    }
    key
}

/// The first key above all that start with `prefix`, whose first byte is a tag and so never 255.
pub fn past(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while end.last() == Some(&255) {
        end.pop();
    }
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    end
}

impl Store {
    pub fn open(directory: &Path) -> Self {
        let database = Database::builder()
            .set_cache_size(CACHE)
            .create(directory.join("space.redb"))
            .expect("open");
        let mut store = Self {
            database,
            mode: Mode::Durable,
            open: None,
            kept: None,
            keep: false,
            sequence: 0,
        };
        store.write(|_| ());
        store.sequence = store.read(|table| {
            let low = key(CHANGES, &[]);
            let mut range =
                table.range::<&[u8]>(low.as_slice()..past(&low).as_slice()).expect("range");
            let last = range.next_back().transpose().expect("row");
            last.map_or(0, |(key, _)| {
                u64::from_be_bytes(key.value()[1..].try_into().expect("a sequence"))
            })
        });
        store
    }

    pub fn set_mode(&mut self, mode: Mode) {
        self.publish();
        self.mode = Mode::Durable;
        self.write(|_| ());
        self.mode = mode;
    }

    pub fn publish(&mut self) {
        if let Some(transaction) = self.open.take() {
            transaction.commit().expect("commit");
        }
    }

    fn begin(&self) -> WriteTransaction {
        let mut transaction = self.database.begin_write().expect("write");
        let durability =
            if self.mode == Mode::Durable { Durability::Immediate } else { Durability::None };
        transaction.set_durability(durability).expect("durability");
        transaction
    }

    pub fn write<R>(&mut self, run: impl FnOnce(&mut Writer<'_>) -> R) -> R {
        self.kept = None;
        let transaction = self.open.take().unwrap_or_else(|| self.begin());
        let result = {
            let table = transaction.open_table(TABLE).expect("table");
            run(&mut Writer { table, sequence: &mut self.sequence })
        };
        if self.mode == Mode::Shared {
            self.open = Some(transaction);
        } else {
            transaction.commit().expect("commit");
        }
        result
    }

    pub fn set_keep(&mut self, keep: bool) {
        self.keep = keep;
        self.kept = None;
    }

    /// One snapshot a call, unless they are kept.
    pub fn read<R>(&mut self, run: impl FnOnce(&Reader) -> R) -> R {
        self.publish();
        if let Some(kept) = &self.kept {
            return run(kept);
        }
        let table = self.database.begin_read().expect("read").open_table(TABLE).expect("table");
        let result = run(&table);
        self.kept = self.keep.then_some(table);
        result
    }
}

/// A value, copied.
pub fn get<T: ReadableTable<&'static [u8], &'static [u8]>>(
    table: &T,
    key: &[u8],
) -> Option<Vec<u8>> {
    table.get(key).expect("get").map(|value| value.value().to_vec())
}

impl Writer<'_> {
    pub fn put(&mut self, key: &[u8], value: &[u8]) {
        self.table.insert(key, value).expect("put");
    }

    pub fn delete(&mut self, key: &[u8]) {
        self.table.remove(key).expect("delete");
    }

    /// Notes the time in the document's record and moves it in the index by time.
    pub fn touch(&mut self, document: Id, now: u64) {
        let at = key(DOCUMENTS, &[&document]);
        let old = get(&self.table, &at).expect("a document");
        let (title, created, modified) = record::decode_document(&old);
        self.delete(&key(BY_MODIFIED, &[&modified.to_be_bytes(), &document]));
        self.put(&key(BY_MODIFIED, &[&now.to_be_bytes(), &document]), &[]);
        self.put(&at, &record::encode_document(&title, created, now));
    }

    pub fn log(&mut self, now: u64, document: Id, kind: &str, parts: &[&[u8]]) {
        *self.sequence += 1;
        let at = key(CHANGES, &[&self.sequence.to_be_bytes()]);
        self.put(&at, &record::sealed(&[&record::change(now, document, kind, parts)]));
    }

    /// Writes what an import makes, in key order: through one cursor where nothing is above it.
    pub fn load(
        &mut self,
        mut rows: Vec<(Vec<u8>, Vec<u8>)>,
        documents: &[Document],
        empty: bool,
        now: u64,
    ) {
        for document in documents {
            *self.sequence += 1;
            let ids: Vec<&[u8]> = document.tree.iter().map(|node| &node.block.id[..]).collect();
            let change = record::change(now, document.id, "import", &ids);
            rows.push((key(CHANGES, &[&self.sequence.to_be_bytes()]), record::sealed(&[&change])));
            rows.push((key(BY_MODIFIED, &[&now.to_be_bytes(), &document.id]), Vec::new()));
            let value = record::encode_document(&document.title, document.created, now);
            rows.push((key(DOCUMENTS, &[&document.id]), value));
        }
        rows.sort_unstable();
        if empty {
            let mut cursor = self.table.lower_bound_mut(Bound::<&[u8]>::Unbounded).expect("cursor");
            for (key, value) in &rows {
                cursor.insert_before(key.as_slice(), value.as_slice()).expect("append");
            }
            cursor.close().expect("close");
        } else {
            for (key, value) in &rows {
                self.put(key, value);
            }
        }
    }
}
