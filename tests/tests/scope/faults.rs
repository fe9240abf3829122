//! A store that fails in the midst of a call: nothing is told in the place of what could not be
//! read, and nothing is kept of it.

use std::sync::Arc;

use leafbase::{Connection, DocumentId, Scope, Scoped, SearchIndexing, Space};
use leafbase_test_outline::FixedClock;
use serde_json::{Value, json};

use crate::calls::{Call, Reply, answer};
use crate::counting::Counting;
use crate::world::{limits, read};

/// A document that is seen and links to another, and what was written to it since it came into the
/// scope.
struct Scene {
    store: Counting,
    /// It is open for as long as its scope is used.
    _space: Space,
    scope: Scope,
    guest: Connection<Scoped>,
    home: DocumentId,
}

fn scene() -> Scene {
    let store = Counting::default();
    let builder = Space::builder().limits(limits()).clock(FixedClock::at(1_767_225_600_000));
    let space = builder
        .search_indexing(SearchIndexing::OnDemand)
        .over(Arc::new(store.clone()), true)
        .unwrap();
    let all = space.connect();
    let [home, hidden] =
        ["amber", "zqcanary"].map(|title| all.create_document(title).unwrap().id());
    let scope = space.scope([home]);
    for number in 0..3 {
        let link = format!("birch {number} [x](block://{hidden})");
        let page = json!({"type": "page", "markdown": link, "content": [{"type": "text", "markdown": link}]});
        let request = json!({"blocks": [page], "position": {"position": "end", "pageId": home}});
        all.insert_blocks(read(&request)).unwrap();
    }
    Scene { store, guest: scope.connect(), scope, _space: space, home }
}

impl Scene {
    /// What is told, without the IDs, which are other ones each time.
    fn ask(&self, (operation, body): &(&'static str, &str)) -> Reply {
        let body: Value =
            serde_json::from_str(&body.replace("@home", &self.home.to_string())).unwrap();
        let reply = answer(&self.guest, &Call::new(operation, body), &limits());
        Reply { json: without_ids(&reply.json), debug: String::new(), ..reply }
    }
}

fn without_ids(text: &str) -> String {
    regex::Regex::new("[0-9A-HJKMNP-TV-Z]{26}").unwrap().replace_all(text, "ID").into_owned()
}

const CALLS: &[(&str, &str)] = &[
    ("documents", "{}"),
    ("document", r#"{"id": "@home"}"#),
    ("document_properties", r#"{"id": "@home"}"#),
    ("list_tags", "{}"),
    ("documents", r#"{"tags": "birch"}"#),
    ("fetch", r#"{"id": "@home", "maxDepth": 1}"#),
    ("fetch", r#"{"id": "@home", "fetchMetadata": true}"#),
    ("fetch_markdown", r#"{"id": "@home"}"#),
    ("search", r#"{"include": "birch"}"#),
    ("search_blocks", r#"{"blockId": "@home", "pattern": "birch"}"#),
    ("changes", "{}"),
    ("last_sequence", "{}"),
];

#[test]
fn what_could_not_be_read_is_an_error_and_the_next_call_is_told_all() {
    for call in CALLS {
        let expected = scene().ask(call);
        assert!(expected.is_ok && !expected.json.contains("zqcanary"), "{call:?}: {expected:?}");
        let failed = (0..).take_while(|number| {
            let scene = scene();
            scene.store.fail_read(Some(*number));
            let reply = scene.ask(call);
            let has_failed = scene.store.fail_read(None);
            let is_told = reply == expected || !(reply.is_ok || reply.json.contains("zqcanary"));
            assert!(is_told, "{call:?} when read {number} failed: {reply:?}");
            assert_eq!(scene.ask(call), expected, "{call:?}, asked again");
            has_failed
        });
        assert!(failed.count() > 0, "{call:?}");
    }
}

/// One that failed is at its end, as one that was read to its end is.
#[test]
fn a_walk_over_changes_that_ended_goes_on_no_more() {
    let scene = scene();
    let mut changes = scene.guest.changes_since(0);
    assert_eq!(
        changes.by_ref().map(|change| change.unwrap().sequence).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    scene.guest.insert_markdown("x", scene.home).unwrap();
    assert!(changes.next().is_none());
    assert_eq!(scene.guest.changes_since(3).count(), 1);

    let mut changes = scene.scope.connect().changes_since(0);
    scene.store.fail_read(Some(0));
    assert!(changes.next().unwrap().is_err());
    scene.store.fail_read(None);
    assert!(changes.next().is_none());
}
