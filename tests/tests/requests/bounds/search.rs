//! What a search may ask: patterns, terms, and blocks around what is found.

use serde_json::{Value, json};

use super::around;
use super::asking::ask;
use crate::host::Host;

#[test]
fn patterns_and_terms() {
    let host = Host::new();
    let root = host.id("root").to_string();
    let search = |body: Value| ask(&host.notes, "search", &body.to_string()).map(drop);
    let find = |mut body: Value| {
        body["blockId"] = json!(root);
        ask(&host.notes, "search_blocks", &body.to_string()).map(drop)
    };
    around(&host.notes, 8, "regexps", |size| search(json!({"regexps": vec!["x"; size]})));
    around(&host.notes, 8, "pattern", |size| find(json!({"pattern": vec!["x"; size]})));
    around(&host.notes, 1_000, "regexps[1]", |size| {
        search(json!({"regexps": ["x", "x".repeat(size)]}))
    });
    around(&host.notes, 1_000, "pattern[1]", |size| {
        find(json!({"pattern": ["x", "x".repeat(size)]}))
    });
    for field in ["include", "title", "exclude"] {
        around(&host.notes, 32, field, |size| {
            let mut body = json!({"include": vec!["x"; 32], "title": vec!["x"; 32]});
            body[field] = json!(vec!["x"; size]);
            search(body)
        });
    }
    around(&host.notes, 256, "include[1]", |size| {
        search(json!({"include": ["x", "x".repeat(size)]}))
    });
    for side in ["beforeBlockCount", "afterBlockCount"] {
        around(&host.notes, 100, side, |size| find(json!({"pattern": "x", side: size})));
    }
}
