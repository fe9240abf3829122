//! Lost connections, failures of serialization and locks: each write happens once or not at all,
//! and the caller is told which.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use leafbase_kv::{Durability, KeyRange, Read, Store, WriteOptions};
use leafbase_model::{Error, ErrorKind, Result};
use leafbase_postgres::{PostgresDatabase, PostgresOptions};

use crate::proxy::{Cut, Proxy};
use crate::server::{Server, binaries, parameters, server, unused_name};

const COUNTER: &[u8] = b"counter";

fn number(read: &dyn Read, key: &[u8]) -> u64 {
    let mut found = 0;
    let get = read.get(key, &mut |value| {
        found = u64::from_be_bytes(value.try_into().unwrap());
        Ok(())
    });
    get.map_or(u64::MAX, |_| found)
}

/// Adds one to the counter, and an entry with `name`.
fn increment(store: &dyn Store, name: &[u8]) -> Result<()> {
    store.write(WriteOptions::durability(Durability::Durable), &mut |transaction| {
        let before = number(&*transaction, COUNTER);
        transaction.put(COUNTER, &(before.wrapping_add(1)).to_be_bytes())?;
        transaction.put(&[b"done ", name].concat(), b"")
    })
}

fn done(store: &dyn Store) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    let snapshot = store.snapshot().unwrap();
    let range = KeyRange::half_open(b"done ", b"done!");
    snapshot
        .scan(range, &mut |key, _| {
            names.push(key[5..].to_vec());
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    names
}

#[test]
fn writes_happen_once_while_connections_are_killed() {
    const THREADS: u64 = 4;
    const WRITES: u64 = 50;
    let Some(server) = server() else { return };
    let name = unused_name();
    server.database().create_store(&name).unwrap();
    let parameters = format!("{} application_name=victim", server.parameters());
    let hosts: Vec<_> = (0..2)
        .map(|_| PostgresDatabase::connect(&parameters, PostgresOptions::new()).unwrap())
        .collect();
    let killer = "DO $$ BEGIN FOR i IN 1..80 LOOP \
                  PERFORM pg_stat_clear_snapshot(); \
                  PERFORM pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity \
                  WHERE application_name = 'victim' ORDER BY random() LIMIT 1) AS victims; \
                  PERFORM pg_sleep(0.03); END LOOP; END $$";
    let refused = AtomicU64::new(0);
    let mut expected: Vec<Vec<u8>> = std::thread::scope(|scope| {
        scope.spawn(|| server.psql("postgres", killer));
        let writers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let database = &hosts[usize::from(thread % 2 == 1)];
                let (name, refused) = (&name, &refused);
                scope.spawn(move || {
                    let store = loop {
                        match database.open_store(name) {
                            Ok(store) => break store,
                            Err(error) => assert_eq!(error.kind(), ErrorKind::Storage, "{error}"),
                        }
                    };
                    let mut done = Vec::new();
                    for write in 0..WRITES {
                        let name = format!("{thread} {write}").into_bytes();
                        match increment(&store, &name) {
                            Ok(()) => done.push(name),
                            Err(error) => {
                                assert_eq!(error.kind(), ErrorKind::Storage, "{error}");
                                assert!(!error.message().contains("known only"), "{error:?}");
                                refused.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    }
                    done
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let store = server.database().open_store(&name).unwrap();
    expected.sort();
    assert_eq!(done(&store), expected, "{refused:?} were refused");
    assert_eq!(number(&*store.snapshot().unwrap(), COUNTER), expected.len() as u64);
    assert!(expected.len() as u64 > THREADS * WRITES / 2, "most writes survive lost connections");
}

#[test]
fn a_commit_whose_answer_is_lost_is_found_out() {
    let Some(server) = server() else { return };
    let proxy = Proxy::start(&server.directory);
    let parameters = parameters(&proxy.directory());
    let database = PostgresDatabase::connect(&parameters, PostgresOptions::new()).unwrap();
    let store = database.create_store(&unused_name()).unwrap();
    let mut expected = 0;
    for cut in [Cut::Never, Cut::BeforeCommit, Cut::AfterCommit, Cut::AfterCommit] {
        proxy.cut(cut);
        increment(&store, format!("{expected}").as_bytes()).unwrap();
        assert!(proxy.has_cut(), "{cut:?}");
        expected += 1;
        assert_eq!(number(&*store.snapshot().unwrap(), COUNTER), expected, "{cut:?}");
    }
}

/// A server that fails while it commits may have committed.
#[test]
fn a_commit_within_which_the_server_fails_is_found_out() {
    let Some(server) = server() else { return };
    let proxy = Proxy::start(&server.directory);
    let parameters = parameters(&proxy.directory());
    let database = PostgresDatabase::connect(&parameters, PostgresOptions::new()).unwrap();
    let store = database.create_store(&unused_name()).unwrap();
    proxy.cut(Cut::PanicAfterCommit);
    increment(&store, b"after").unwrap();
    proxy.cut(Cut::PanicBeforeCommit);
    assert_eq!(increment(&store, b"before").unwrap_err().kind(), ErrorKind::NoSpace);
    assert!(proxy.has_cut());
    assert_eq!(done(&store), [b"after"]);
    assert_eq!(number(&*store.snapshot().unwrap(), COUNTER), 1);
}

#[test]
fn a_write_survives_what_a_read_survives() {
    let Some(server) = server() else { return };
    let proxy = Proxy::start(&server.directory);
    let parameters = parameters(&proxy.directory());
    let database = PostgresDatabase::connect(&parameters, PostgresOptions::new()).unwrap();
    let store = database.create_store(&unused_name()).unwrap();
    let read = || store.snapshot().map(drop);
    let write = || increment(&store, b"");
    // The server is away for some time.
    for call in [&read as &dyn Fn() -> Result<()>, &write] {
        std::thread::scope(|scope| {
            proxy.set_away(true);
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(200));
                proxy.set_away(false);
            });
            call().unwrap();
        });
    }
    // It restarts, and a pool has more connections to it than a call has attempts.
    for call in [&read as &dyn Fn() -> Result<()>, &write] {
        let snapshots: Vec<_> = (0..8).map(|_| store.snapshot().unwrap()).collect();
        drop(snapshots);
        proxy.set_away(true);
        proxy.set_away(false);
        call().unwrap();
    }
    assert_eq!(number(&*store.snapshot().unwrap(), COUNTER), 2);
}

#[test]
fn a_write_that_the_database_rolls_back_runs_again() {
    let Some(server) = server() else { return };
    let database = server.new_database();
    server.psql(
        &database,
        "CREATE SEQUENCE attempts; \
         CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         IF nextval('attempts') % 3 <> 0 THEN \
         RAISE EXCEPTION 'could not serialize access' USING ERRCODE = '40001'; END IF; \
         RETURN NEW; END $$; \
         CREATE TRIGGER refusal BEFORE INSERT ON leafbase_writers \
         FOR EACH ROW EXECUTE FUNCTION refuse()",
    );
    let database =
        PostgresDatabase::connect(&server.parameters_of(&database), PostgresOptions::new());
    let store = database.unwrap().create_store("notes").unwrap();
    for write in 0..10_u64 {
        increment(&store, &write.to_be_bytes()).unwrap();
    }
    assert_eq!(number(&*store.snapshot().unwrap(), COUNTER), 10);
}

#[test]
fn an_error_of_the_database_is_definite() {
    let Some(server) = server() else { return };
    let options = PostgresOptions::new().lock_timeout(Duration::from_millis(100));
    let database = PostgresDatabase::connect(&server.parameters(), options).unwrap();
    let name = unused_name();
    let (ours, theirs) =
        (database.create_store(&name).unwrap(), database.open_store(&name).unwrap());
    ours.write(WriteOptions::default(), &mut |transaction| {
        // The lock is taken by the first read, or by the commit.
        transaction.get(COUNTER, &mut |_| Ok(()))?;
        let refused = increment(&theirs, b"").unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Storage);
        assert!(refused.message().contains("another host"), "{refused}");
        transaction.put(b"ours", b"")
    })
    .unwrap();
    increment(&theirs, b"").unwrap();

    let options = PostgresOptions::new().max_connections(1).pool_timeout(Duration::from_millis(50));
    let one = PostgresDatabase::connect(&server.parameters(), options).unwrap();
    let store = one.open_store(&name).unwrap();
    let held = store.snapshot().unwrap();
    let refused = store.snapshot().map(drop).unwrap_err();
    assert!(refused.message().contains("all 1 connections"), "{refused}");
    drop(held);
    store.snapshot().unwrap();

    let connect = |parameters: &str| {
        PostgresDatabase::connect(parameters, PostgresOptions::new()).map(drop).unwrap_err()
    };
    let absent = connect(&format!("{} password=secret", parameters(std::path::Path::new("/none"))));
    assert_eq!(absent.kind(), ErrorKind::Storage);
    let all = format!("{absent} {absent:?}");
    assert!(all.contains("/none") && !all.contains("secret"), "{all}");
    let unknown = connect(&server.parameters_of("nowhere"));
    assert!(unknown.message().contains("nowhere"), "{unknown}");
    let malformed = connect("host=localhost password='secret");
    assert_eq!((malformed.kind(), malformed.path()), (ErrorKind::Validation, "parameters"));
    assert!(!format!("{malformed:?}").contains("secret"));

    assert_eq!(database.open_store("absent").unwrap_err().kind(), ErrorKind::NotFound);
    let taken = database.create_store(&name).unwrap_err();
    assert_eq!((taken.kind(), taken.path()), (ErrorKind::Validation, "name"));
    let long = ours.write(WriteOptions::default(), &mut |rows| rows.put(&[1; 3_000], b""));
    assert_eq!(long.unwrap_err().kind(), ErrorKind::LimitExceeded);
    database.remove_space(&name).unwrap();
    assert_eq!(increment(&ours, b"").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(database.open_store(&name).unwrap_err().kind(), ErrorKind::NotFound);
}

/// The server ends the session of a host that vanishes, and with it the lock of its write.
#[test]
fn the_server_gives_up_a_host_that_is_silent() {
    let (Some(_), Some(binaries)) = (server(), binaries()) else { return };
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Server::start(&binaries, &[], &["listen_addresses=127.0.0.1"], port);
    server.psql(
        "postgres",
        "CREATE TABLE timeouts (timeouts text); \
         CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         INSERT INTO timeouts VALUES (concat_ws(' ', current_setting('tcp_keepalives_idle'), \
         current_setting('tcp_keepalives_interval'), current_setting('tcp_keepalives_count'), \
         current_setting('tcp_user_timeout'))); RETURN NEW; END $$; \
         CREATE TRIGGER noted BEFORE INSERT ON leafbase_writers \
         FOR EACH ROW EXECUTE FUNCTION note()",
    );
    let parameters = format!("host=127.0.0.1 port={port} user=leafbase dbname=postgres");
    let others = format!("{parameters} options=-ctcp_keepalives_idle=60");
    for (name, parameters) in [("ours", &parameters), ("others", &others)] {
        let database = PostgresDatabase::connect(parameters, PostgresOptions::new()).unwrap();
        increment(&database.create_store(name).unwrap(), b"").unwrap();
    }
    // Divides by zero, and so fails, unless both were noted.
    server.psql(
        "postgres",
        "SELECT 1 / (count(DISTINCT timeouts) / 2) FROM timeouts \
         WHERE timeouts IN ('15 5 3 30000', '60 5 3 30000')",
    );
}

#[test]
fn hosts_that_begin_at_the_same_time_make_the_tables_once() {
    let Some(server) = server() else { return };
    let database = server.new_database();
    let parameters = server.parameters_of(&database);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let database = PostgresDatabase::connect(&parameters, PostgresOptions::new());
                database.unwrap().space_names().unwrap();
            });
        }
    });
    // Divides by zero, and so fails, unless there is one table whose values stay in their rows.
    server.psql(
        &database,
        "SELECT 1 / count(*) FROM pg_class
         WHERE relname = 'leafbase_entries' AND 'toast_tuple_target=8160' = ANY (reloptions)",
    );
    server.psql(&database, "UPDATE leafbase_version SET version = version + 1");
    let newer = PostgresDatabase::connect(&parameters, PostgresOptions::new()).unwrap_err();
    assert_eq!(newer.kind(), ErrorKind::NewerFormat);
}

#[test]
fn a_write_of_any_size_is_one_transaction() {
    let Some(server) = server() else { return };
    let store = Arc::new(server.database().create_store(&unused_name()).unwrap());
    let write = |refuse: bool| {
        store.write(WriteOptions::durability(Durability::Relaxed), &mut |rows| {
            for number in 0..600_u32 {
                rows.put(&number.to_be_bytes(), &vec![7; 50_000])?;
                if number % 100 == 99 {
                    // What was sent already is read, overwritten and deleted like any other write.
                    assert!(rows.get(&(number - 99).to_be_bytes(), &mut |_| Ok(()))?);
                    rows.delete(&(number - 99).to_be_bytes())?;
                    assert!(!rows.get(&(number - 99).to_be_bytes(), &mut |_| Ok(()))?);
                }
            }
            rows.delete_range(&[0, 0, 1], &[0, 0, 2])?;
            if refuse { Err(Error::new(ErrorKind::Canceled, "no")) } else { Ok(()) }
        })
    };
    let count = || {
        let (mut count, snapshot) = (0, store.snapshot().unwrap());
        let visit = &mut |_: &[u8], _: &[u8]| {
            count += 1;
            Ok(ControlFlow::Continue(()))
        };
        snapshot.scan(KeyRange::half_open(b"", &[0xFF; 8]), visit).unwrap();
        count
    };
    assert_eq!(write(true).unwrap_err().kind(), ErrorKind::Canceled);
    assert_eq!(count(), 0);
    write(false).unwrap();
    // Of 600 those from 256 to 511 are deleted by range, and 0, 100 and 200 by key.
    assert_eq!(count(), 600 - 256 - 3);
    store.flush().unwrap();
}
