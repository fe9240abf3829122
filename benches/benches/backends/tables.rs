//! Documents in `PostgreSQL` as an expert keeps them: the tables of the `SQLite` peer, with a
//! counter that numbers the changes and lets one write of the space follow the other.
//!
//! [`Sending::Together`]: a write takes two round trips, each of statements that are sent together:
//! what it depends on; and what it does, with the commit. A read takes one.

use crate::app::{self, Block, Document, Edit, Fetched, Peer, Position, Ready, TEXT};
use crate::sqlite::{Groups, change, created, encoded};
use benches::order;
use benches::workload::Id;
use futures_util::future::{join_all, try_join, try_join3, try_join4};
use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, NoTls, Row, Statement};

const SCHEMA: &str = "
    CREATE TABLE space (sequence BIGINT NOT NULL);
    INSERT INTO space VALUES (0);
    CREATE TABLE documents (id BYTEA PRIMARY KEY, title TEXT NOT NULL, created BIGINT NOT NULL,
        modified BIGINT NOT NULL, rev BIGINT NOT NULL);
    CREATE INDEX documents_modified ON documents (modified, id);
    CREATE TABLE changes (sequence BIGINT PRIMARY KEY, document BYTEA NOT NULL,
        change BYTEA NOT NULL);
    CREATE INDEX changes_document ON changes (document, sequence);
    CREATE TABLE blocks (document BYTEA NOT NULL, parent BYTEA NOT NULL, ord BYTEA NOT NULL,
        fields BYTEA NOT NULL, PRIMARY KEY (document, parent, ord));
    CREATE TABLE places (block BYTEA PRIMARY KEY, document BYTEA NOT NULL, parent BYTEA NOT NULL,
        ord BYTEA NOT NULL);";

/// The transaction begins, and writes of others wait for its end.
const NEXT: &str = "UPDATE space SET sequence = sequence + 1 RETURNING sequence";
const ROOT: &str = "SELECT id, title, created, modified FROM documents WHERE id = $1";
const FETCH: &str = "SELECT parent, fields FROM blocks WHERE document = $1 ORDER BY parent, ord";
const BLOCK: &str = "SELECT p.document, p.parent, p.ord, b.fields FROM places p
    JOIN blocks b ON b.document = p.document AND b.parent = p.parent AND b.ord = p.ord
    WHERE p.block = $1";
const DOCUMENT_OF: &str = "SELECT document FROM places WHERE block = $1";
const LATEST: &str = "SELECT id, title, created, modified, rev FROM documents
    ORDER BY modified DESC, id DESC LIMIT $1";
const AFTER: &str = "SELECT p.document, p.parent, p.ord, (SELECT b.ord FROM blocks b
        WHERE b.document = p.document AND b.parent = p.parent AND b.ord > p.ord
        ORDER BY b.ord LIMIT 1)
    FROM places p WHERE p.block = $1";
const FIRST: &str = "SELECT ord FROM blocks WHERE document = $1 AND parent = $2
    ORDER BY ord LIMIT 1";
const LAST: &str = "SELECT ord FROM blocks WHERE document = $1 AND parent = $2
    ORDER BY ord DESC LIMIT 1";
const PUT: &str = "INSERT INTO blocks (document, parent, ord, fields)
    SELECT $1, * FROM unnest($2::bytea[], $3::bytea[], $4::bytea[])";
const NOTE: &str = "INSERT INTO places (document, parent, ord, block)
    SELECT $1, * FROM unnest($2::bytea[], $3::bytea[], $4::bytea[])";
const SET: &str = "UPDATE blocks SET fields = $4 WHERE document = $1 AND parent = $2 AND ord = $3";
const TAKE: &str = "WITH gone AS (
        DELETE FROM places WHERE block = ANY($1) RETURNING document, parent, ord)
    DELETE FROM blocks b USING gone g
    WHERE b.document = g.document AND b.parent = g.parent AND b.ord = g.ord
    RETURNING b.document, b.parent, b.ord, b.fields";
const TOUCH: &str = "UPDATE documents SET modified = $2, rev = rev + 1 WHERE id = ANY($1)";
const LOG: &str = "INSERT INTO changes (sequence, document, change) VALUES ($1, $2, $3)";
const CREATE: &str =
    "INSERT INTO documents (id, title, created, modified, rev) VALUES ($1, $2, $3, $3, 1)";

/// How the statements of a transaction are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// As few round trips as there can be.
    Together,
    /// Each after the answer to the one before it, as most programs do.
    OneByOne,
}

struct Tables {
    sending: Sending,
    runtime: Runtime,
    client: Client,
    statements: Statements,
    trips: Rc<Cell<u64>>,
}

struct Statements {
    next: Statement,
    root: Statement,
    fetch: Statement,
    block: Statement,
    document_of: Statement,
    latest: Statement,
    after: Statement,
    first: Statement,
    last: Statement,
    put: Statement,
    note: Statement,
    set: Statement,
    take: Statement,
    touch: Statement,
    log: Statement,
    create: Statement,
}

/// Makes the tables in the database of these parameters; with them, the round trips so far.
pub fn create(parameters: &str, sending: Sending) -> (Box<dyn Peer>, Rc<Cell<u64>>) {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (client, statements) = runtime.block_on(async {
        let (client, connection) =
            tokio_postgres::connect(parameters, NoTls).await.expect("a connection");
        tokio::spawn(connection);
        client.batch_execute(SCHEMA).await.expect("tables");
        let statements = Statements::prepared(&client).await.expect("statements");
        (client, statements)
    });
    let trips = Rc::new(Cell::new(0));
    (Box::new(Tables { sending, runtime, client, statements, trips: trips.clone() }), trips)
}

impl Statements {
    async fn prepared(client: &Client) -> Result<Self, Error> {
        Ok(Self {
            next: client.prepare(NEXT).await?,
            root: client.prepare(ROOT).await?,
            fetch: client.prepare(FETCH).await?,
            block: client.prepare(BLOCK).await?,
            document_of: client.prepare(DOCUMENT_OF).await?,
            latest: client.prepare(LATEST).await?,
            after: client.prepare(AFTER).await?,
            first: client.prepare(FIRST).await?,
            last: client.prepare(LAST).await?,
            put: client.prepare(PUT).await?,
            note: client.prepare(NOTE).await?,
            set: client.prepare(SET).await?,
            take: client.prepare(TAKE).await?,
            touch: client.prepare(TOUCH).await?,
            log: client.prepare(LOG).await?,
            create: client.prepare(CREATE).await?,
        })
    }
}

/// A statement and what it is given.
type Call<'a> = (&'a Statement, Vec<&'a (dyn ToSql + Sync)>);

/// Where a block is.
struct Place {
    document: Vec<u8>,
    parent: Vec<u8>,
    order: Vec<u8>,
}

impl Place {
    fn of(row: &Row) -> Self {
        Self { document: row.get(0), parent: row.get(1), order: row.get(2) }
    }
}

fn id(bytes: &[u8]) -> Id {
    bytes.try_into().expect("sixteen bytes")
}

fn decoded(fields: &[u8]) -> Block {
    rmp_serde::from_slice(fields).expect("a block")
}

impl Tables {
    /// Sends what the future sends, and waits for all answers: one round trip.
    fn wait<T>(&self, answers: impl Future<Output = Result<T, Error>>) -> T {
        self.trips.set(self.trips.get() + 1);
        self.runtime.block_on(answers).expect("an answer")
    }

    fn rows(&self, (statement, values): Call<'_>) -> Vec<Row> {
        self.wait(self.client.query(statement, &values))
    }

    /// Begins a transaction: the number of its change, and what it depends on.
    fn begin(&self, (statement, values): Call<'_>) -> (i64, Vec<Row>) {
        let (client, next) = (&self.client, &self.statements.next);
        let begin = client.batch_execute("BEGIN");
        let (next, read) = (client.query_one(next, &[]), client.query(statement, &values));
        let (next, rows) = if self.sending == Sending::Together {
            let (_, next, rows) = self.wait(try_join3(begin, next, read));
            (next, rows)
        } else {
            self.wait(begin);
            (self.wait(next), self.wait(read))
        };
        (next.get(0), rows)
    }

    /// Does these and commits them.
    fn commit(&self, calls: &[Call<'_>]) {
        let client = &self.client;
        let all =
            join_all(calls.iter().map(|(statement, values)| client.execute(*statement, values)));
        let all = async { all.await.into_iter().collect::<Result<Vec<_>, _>>() };
        self.wait(try_join(all, client.batch_execute("COMMIT")));
    }

    /// Writes the rows of blocks and where they are, with what else belongs to the change.
    fn put(
        &self,
        (document, sequence): (Id, i64),
        rows: &[(Id, Vec<u8>, &Block)],
        change: &[u8],
        other: Call<'_>,
        now: i64,
    ) {
        let document = &document[..];
        let parents: Vec<&[u8]> = rows.iter().map(|(parent, ..)| &parent[..]).collect();
        let orders: Vec<&[u8]> = rows.iter().map(|(_, order, _)| &order[..]).collect();
        let fields: Vec<Vec<u8>> = rows.iter().map(|(.., block)| created(block, now)).collect();
        let ids: Vec<&[u8]> = rows.iter().map(|(.., block)| &block.id[..]).collect();
        let Statements { put, note, log, .. } = &self.statements;
        self.commit(&[
            (put, vec![&document, &parents, &orders, &fields]),
            (note, vec![&document, &parents, &orders, &ids]),
            other,
            (log, vec![&sequence, &document, &change]),
        ]);
    }

    fn create(&self, document: &Document, now: i64) {
        let id = &document.id[..];
        let (sequence, _) = self.begin((&self.statements.root, vec![&id]));
        let rows = app::rows(document.id, &document.blocks);
        let rows: Vec<_> =
            rows.into_iter().map(|(parent, at, block)| (parent, order::nth(at), block)).collect();
        let all: Vec<&Block> = rows.iter().map(|(.., block)| *block).collect();
        let change = change(now, document.id, "create", &[document.title.as_bytes()], &all);
        let create: Call<'_> = (&self.statements.create, vec![&id, &document.title, &now]);
        self.put((document.id, sequence), &rows, &change, create, now);
    }

    fn insert(&self, blocks: &[Block], position: Position, now: i64) {
        let Statements { after, first, last, touch, .. } = &self.statements;
        let order = |row: &Row| row.get::<_, Vec<u8>>(0);
        let (sequence, place, low, high) = match position {
            Position::After(sibling) => {
                let (sequence, rows) = self.begin((after, vec![&&sibling[..]]));
                let place = Place::of(&rows[0]);
                let low = Some(place.order.clone());
                (sequence, (id(&place.document), id(&place.parent)), low, rows[0].get(3))
            }
            Position::Start { document, parent } => {
                let (sequence, rows) = self.begin((first, vec![&&document[..], &&parent[..]]));
                (sequence, (document, parent), None, rows.first().map(order))
            }
            Position::End { document, parent } => {
                let (sequence, rows) = self.begin((last, vec![&&document[..], &&parent[..]]));
                (sequence, (document, parent), rows.first().map(order), None)
            }
        };
        let (document, parent): (Id, Id) = place;
        let orders = order::several(blocks.len(), low.as_deref(), high.as_deref());
        let places: Vec<&[u8]> =
            std::iter::once(&parent[..]).chain(orders.iter().map(Vec::as_slice)).collect();
        let all: Vec<&Block> = blocks.iter().collect();
        let change = change(now, document, "insert", &places, &all);
        let rows: Vec<_> =
            orders.into_iter().zip(blocks).map(|(order, block)| (parent, order, block)).collect();
        let touched = vec![&document[..]];
        let touch: Call<'_> = (touch, vec![&touched, &now]);
        self.put((document, sequence), &rows, &change, touch, now);
    }

    fn update(&self, block: Id, markdown: &str, now: i64) {
        let (sequence, rows) = self.begin((&self.statements.block, vec![&&block[..]]));
        let (place, before) = (Place::of(&rows[0]), decoded(rows[0].get(3)));
        let mut after = before.clone();
        after.rev += 1;
        after.modified = now;
        markdown.clone_into(&mut after.markdown);
        let change = change(now, id(&place.document), "update", &[], &[&before, &after]);
        let (fields, touched) = (encoded(&after), vec![&place.document]);
        let Place { document, parent, order } = &place;
        let Statements { set, touch, log, .. } = &self.statements;
        self.commit(&[
            (set, vec![document, parent, order, &fields]),
            (touch, vec![&touched, &now]),
            (log, vec![&sequence, document, &change]),
        ]);
    }

    /// Deletes blocks that have none below them.
    fn delete(&self, ids: &[Id], now: i64) {
        let blocks: Vec<&[u8]> = ids.iter().map(|id| &id[..]).collect();
        let (sequence, rows) = self.begin((&self.statements.take, vec![&blocks]));
        let places: Vec<Place> = rows.iter().map(Place::of).collect();
        let gone: Vec<Block> = rows.iter().map(|row| decoded(row.get(3))).collect();
        assert!(gone.len() == ids.len() && gone.iter().all(|block| block.kind == TEXT), "no pages");
        let mut documents: Vec<&[u8]> = places.iter().map(|place| &place.document[..]).collect();
        documents.sort_unstable();
        documents.dedup();
        let slots: Vec<&[u8]> =
            places.iter().flat_map(|place| [&place.parent[..], &place.order]).collect();
        let gone: Vec<&Block> = gone.iter().collect();
        let change = change(now, id(documents[0]), "delete", &slots, &gone);
        let Statements { touch, log, .. } = &self.statements;
        self.commit(&[
            (touch, vec![&documents, &now]),
            (log, vec![&sequence, &documents[0], &change]),
        ]);
    }
}

impl Peer for Tables {
    fn apply(&mut self, edit: &Edit, _: Ready, now: i64) {
        match edit {
            Edit::Insert(blocks, position) => self.insert(blocks, *position, now),
            Edit::Update(id, markdown) => self.update(*id, markdown, now),
            Edit::Delete(ids) => self.delete(ids, now),
            Edit::Import(documents) => {
                documents.iter().for_each(|document| self.create(document, now));
            }
            Edit::Move(..) | Edit::Batch(_) | Edit::ImportMarkdown(_) => {
                unreachable!("the bench asks for none")
            }
        }
    }

    fn fetch(&mut self, document: Id) -> Fetched {
        let (client, Statements { root, fetch, .. }) = (&self.client, &self.statements);
        let key = &document[..];
        // Both of one state.
        let begin = client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        let key: &(dyn ToSql + Sync) = &key;
        let keys = [key];
        let (root, rows) = (client.query_one(root, &keys), client.query(fetch, &keys));
        let end = client.batch_execute("COMMIT");
        let (root, rows) = if self.sending == Sending::Together {
            let (_, root, rows, ()) = self.wait(try_join4(begin, root, rows, end));
            (root, rows)
        } else {
            self.wait(begin);
            let both = (self.wait(root), self.wait(rows));
            self.wait(end);
            both
        };
        let mut groups = Groups::default();
        for row in rows {
            groups.push(id(row.get(0)), decoded(row.get(1)));
        }
        Fetched::Plain(Block {
            id: id(root.get(0)),
            markdown: root.get(1),
            created: root.get(2),
            modified: root.get(3),
            children: groups.take(document),
            ..Block::default()
        })
    }

    fn block(&mut self, block: Id) -> Fetched {
        let rows = self.rows((&self.statements.block, vec![&&block[..]]));
        Fetched::Plain(decoded(rows[0].get(3)))
    }

    fn document_of(&mut self, block: Id) -> Id {
        id(self.rows((&self.statements.document_of, vec![&&block[..]]))[0].get(0))
    }

    fn latest(&mut self, count: usize) -> Vec<String> {
        let rows = self.rows((&self.statements.latest, vec![&(count as i64)]));
        let read = |row: Row| {
            let times: (i64, i64, i64) = (row.get(2), row.get(3), row.get(4));
            (id(row.get(0)), row.get::<_, String>(1), times)
        };
        rows.into_iter().map(|row| read(row).1).collect()
    }

    /// Every commit is durable.
    fn flush(&mut self) {}

    fn compact(&mut self) {
        self.wait(self.client.batch_execute("VACUUM FULL"));
    }
}
