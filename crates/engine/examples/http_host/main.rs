//! A host over HTTP: several spaces, and share links with scopes, on loopback. JSON goes straight
//! through in both directions; a route is a line.
//!
//! `cargo run --example http_host -- notes work` serves spaces in memory of these names and prints
//! the address and a token for each; `-- --check` serves two, drives every operation over HTTP and
//! checks statuses and bodies.
//!
//! A full connection is below `/spaces/NAME`, with `Authorization: Bearer TOKEN`; `POST
//! /spaces/NAME/links` makes a share link, which is below `/links/TOKEN` without anything else.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example stays short"
)]

mod check;
mod routes;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, RawPathParams, RawQuery};
use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use leafbase::{BlockId, Connection, Error, Full, IdSource, RandomIds, Scoped, Space};
use tokio::task::spawn_blocking;

use routes::Route;

/// A request as it came.
struct Incoming {
    path: BTreeMap<String, String>,
    query: String,
    content_type: String,
    /// Whether the reply is to be markdown, not JSON.
    wants_markdown: bool,
    body: Bytes,
}

struct HostedSpace {
    space: Space,
    token: String,
}

type Host = BTreeMap<String, HostedSpace>;

/// What the names of scopes begin with that are kept for links.
const LINK: &str = "link ";
/// Larger bodies are refused: uploads are read as a whole here.
const MAX_BODY_BYTES: usize = 64 << 20;

/// What a call answers: a status, and JSON, markdown or bytes.
struct Answer(u16, &'static str, Vec<u8>);

impl Answer {
    fn json(reply: &impl serde::Serialize) -> Self {
        Self(200, "application/json", serde_json::to_vec(reply).expect("replies are JSON"))
    }

    fn refused(error: &Error) -> Self {
        Self(error.http_status(), "application/json", Self::json(error).2)
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let Self(status, content_type, body) = self;
        let status = StatusCode::from_u16(status).expect("a status");
        (status, [(CONTENT_TYPE, content_type)], body).into_response()
    }
}

fn token() -> String {
    BlockId::from_bytes(RandomIds.new_id(leafbase::Timestamp::from_millis(0))).to_string()
}

fn hosted(names: &[&str]) -> leafbase::Result<Host> {
    let space = |name: &&str| {
        let space = Space::builder().name(*name).in_memory()?;
        Ok(((*name).to_owned(), HostedSpace { space, token: token() }))
    };
    names.iter().map(space).collect()
}

/// The full connection that a request may use.
fn full(
    host: &Host,
    incoming: &Incoming,
    headers: &HeaderMap,
) -> Option<(Space, Connection<Full>)> {
    let HostedSpace { space, token } = host.get(incoming.path.get("space")?)?;
    let given = headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")?;
    (given == token).then(|| (space.clone(), space.connect()))
}

/// The scoped connection of a share link, with its space.
fn scoped(host: &Host, incoming: &Incoming, _: &HeaderMap) -> Option<(Space, Connection<Scoped>)> {
    let link = incoming.path.get("link")?;
    host.values().find_map(|HostedSpace { space, .. }| {
        // Of the scopes that are kept in the space, only those made for a link.
        let scope = space.kept_scope(&format!("{LINK}{link}")).ok()?;
        Some((space.clone(), scope.connect()))
    })
}

/// The routes of the table below a prefix. `connect` finds the connection of a request; there is
/// none without the right to it.
fn below<C: 'static>(
    mut router: Router,
    (prefix, host): (&str, &Arc<Host>),
    table: &'static [Route<C>],
    connect: fn(&Host, &Incoming, &HeaderMap) -> Option<(Space, C)>,
) -> Router {
    for route in table {
        let (host, call) = (Arc::clone(host), route.call);
        let answer =
            move |path: RawPathParams, query: RawQuery, headers: HeaderMap, body: Bytes| {
                let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
                let incoming = Incoming {
                    path: path
                        .iter()
                        .map(|(name, value)| (name.to_owned(), value.to_owned()))
                        .collect(),
                    query: query.0.unwrap_or_default(),
                    content_type: content_type.unwrap_or_default().to_owned(),
                    wants_markdown: headers.get(ACCEPT).is_some_and(|kind| kind == "text/markdown"),
                    body,
                };
                // Calls block, so they run where blocking is allowed.
                let answered = spawn_blocking(move || match connect(&host, &incoming, &headers) {
                    Some((space, notes)) => call(&space, &notes, &incoming)
                        .unwrap_or_else(|error| Answer::refused(&error)),
                    None => Answer(401, "text/plain", b"there is no such space or link".to_vec()),
                });
                async move { answered.await.expect("no call panics") }
            };
        let verb =
            MethodFilter::try_from(route.verb.parse::<axum::http::Method>().expect("a verb"));
        router =
            router.route(&format!("{prefix}{}", route.path), on(verb.expect("a verb"), answer));
    }
    router
}

fn router(host: &Arc<Host>) -> Router {
    let mut router = Router::new();
    for table in [routes::SHARED_FULL, routes::FULL, routes::SPECIAL_FULL, routes::OWN] {
        router = below(router, ("/spaces/{space}", host), table, full);
    }
    for table in [routes::SHARED_SCOPED, routes::SCOPED, routes::SPECIAL_SCOPED] {
        router = below(router, ("/links/{link}", host), table, scoped);
    }
    router.layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let is_check = names.iter().any(|name| name == "--check");
    let names: Vec<&str> =
        if is_check { vec!["notes", "work"] } else { names.iter().map(String::as_str).collect() };
    let host = Arc::new(hosted(&names).expect("spaces"));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
    let address = listener.local_addr().expect("an address");
    let router = router(&host);
    let serving = runtime.spawn(async move { axum::serve(listener, router).await });
    if is_check {
        let tokens: Vec<&str> = host.values().map(|space| space.token.as_str()).collect();
        check::check(address, &tokens);
        return;
    }
    for (name, HostedSpace { token, .. }) in &*host {
        println!("http://{address}/spaces/{name}/ with Authorization: Bearer {token}");
    }
    runtime.block_on(serving).expect("no panic").expect("the listener works");
}
