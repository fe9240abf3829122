//! What scoped searches show, and whose documents they look at. More of this is in
//! `../search/scoped_search`.

use leafbase::{Connection, Space};
use leafbase_test_outline::FixedClock;
use serde_json::json;

use crate::world::read;

fn space() -> (Space, Connection) {
    let space = Space::builder().clock(FixedClock::default()).in_memory().unwrap();
    let all = space.connect();
    (space, all)
}

/// What the lines of blocks look like in which something is found, with and without a markdown of
/// their own and with and without something to hide.
#[test]
fn lines_are_searched_and_shown_as_the_blocks_are() {
    let (space, all) = space();
    let [home, hidden] = ["home", "zqcanary"].map(|title| all.create_document(title).unwrap().id());
    let guest = space.scoped([home]);
    let link = format!("block://{hidden}");
    for (block, expected) in [
        (json!({"type": "text", "markdown": "amber *birch*"}), "amber *birch*"),
        (
            json!({"type": "text", "markdown": format!("amber [b]({link})")}),
            "amber [b](invalid:out_of_scope#1)",
        ),
        (json!({"type": "text", "textStyle": "h1", "markdown": "amber"}), "# amber"),
        (
            json!({"type": "text", "textStyle": "h1", "markdown": format!("amber [b]({link})")}),
            "# amber [b](invalid:out_of_scope#1)",
        ),
        (
            json!({"type": "richUrl", "url": "https://a.example", "title": "amber"}),
            "[amber](https://a.example)",
        ),
        (
            json!({"type": "richUrl", "url": link, "title": "amber"}),
            "[amber](invalid:out_of_scope#1)",
        ),
        (
            json!({"type": "image", "url": "https://a.example/b.png", "altText": "amber"}),
            "![amber](https://a.example/b.png)",
        ),
    ] {
        let request = json!({"blocks": [block], "position": {"position": "end", "pageId": home}});
        let made = all.insert_blocks(read(&request)).unwrap()[0].id;
        let found = |pattern: &str| {
            let request = json!({"blockId": home, "pattern": pattern});
            serde_json::to_value(guest.search_blocks(read(&request)).unwrap()).unwrap()["items"]
                .clone()
        };
        let shown = found("amber");
        assert_eq!(
            (&shown[0]["blockId"], &shown[0]["markdown"]),
            (&json!(made), &json!(expected)),
            "{shown}"
        );
        assert_eq!(found("xyzzy|^$"), json!([]));
        all.delete_blocks(made.into()).unwrap();
    }
}
