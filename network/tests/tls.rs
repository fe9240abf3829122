//! A space in a `PostgreSQL` server that takes encrypted connections alone.

use std::net::TcpListener;
use std::sync::Arc;

use leafbase::Space;
use leafbase_postgres::{PostgresDatabase, PostgresOptions};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

#[path = "../../crates/postgres/tests/postgres/server.rs"]
#[allow(dead_code, reason = "the tests of the crate use more of it")]
mod server;

use server::{Files, Server};

type Authority = CertifiedIssuer<'static, KeyPair>;

/// Somebody who says which certificates are right.
fn authority() -> Authority {
    let mut parameters = CertificateParams::default();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap()
}

/// Trusts `authority` and no other.
fn trusting(authority: &Authority) -> MakeRustlsConnect {
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    MakeRustlsConnect::new(config)
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_space_is_read_and_written_over_encrypted_connections() {
    let Some(binaries) = server::binaries() else { panic!("PostgreSQL is not installed") };
    let authority = authority();
    let key = KeyPair::generate().unwrap();
    let parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = parameters.signed_by(&key, &authority).unwrap();
    let port = free_port();
    let files: Files = &[
        ("server.crt", &certificate.pem()),
        ("server.key", &key.serialize_pem()),
        ("pg_hba.conf", "local all all trust\nhostssl all all 127.0.0.1/32 trust\n"),
    ];
    let settings = ["ssl=on", "listen_addresses=127.0.0.1"];
    let server = Server::start(&binaries, files, &settings, port);
    let over_tcp = |mode: &str| {
        format!(
            "host=localhost hostaddr=127.0.0.1 port={port} user=leafbase dbname=postgres \
             sslmode={mode}"
        )
    };

    let connect = |mode: &str, authority: &Authority| {
        let options = PostgresOptions::new();
        PostgresDatabase::connect_with_tls(&over_tcp(mode), trusting(authority), options)
    };
    let database = connect("require", &authority).unwrap();
    let store = Arc::new(database.create_store("notes").unwrap());
    let notes = Space::builder().over(store, true).unwrap().connect();
    let document = notes.create_document("Encrypted").unwrap().id();
    notes.insert_markdown("on the way", document).unwrap();
    // As the server sees them: no other connection was let in.
    server.psql(
        "postgres",
        "DO $$ BEGIN IF EXISTS (SELECT FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
         WHERE client_addr IS NOT NULL AND NOT ssl) OR NOT EXISTS (SELECT FROM pg_stat_ssl \
         WHERE ssl) THEN RAISE EXCEPTION 'a connection is not encrypted'; END IF; END $$",
    );
    drop(notes);
    let store = connect("require", &authority).unwrap().open_store("notes").unwrap();
    let notes = Space::builder().over(Arc::new(store), false).unwrap().connect();
    assert_eq!(notes.content_markdown(document).unwrap().trim(), "on the way");

    // A server that nobody vouches for, and a client that does not encrypt.
    let stranger = connect("require", &self::authority()).unwrap_err();
    assert!(stranger.to_string().contains("certificate"), "{stranger}");
    assert!(connect("disable", &authority).is_err());
    let without = PostgresDatabase::connect(&over_tcp("require"), PostgresOptions::new());
    assert!(without.is_err());
}
