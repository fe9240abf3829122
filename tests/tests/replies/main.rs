//! What an operation returns can be sent back: an update changes nothing, an insertion makes a copy
//! with equal content, and a change in between changes just that.

mod lists;

use leafbase::{
    BlockData, BlockDraft, BlockId, BlockKind, Color, Connection, Decorations, Fetch, InsertBlocks,
    ListStyle, Position, Space, TaskInfo, TaskState, TextFormat, TextStyle, UpdateBlocks,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

fn cases() -> u32 {
    tests::cases(150, 5_000)
}

/// Blocks of all types that a request may insert.
const OTHERS: [&str; 12] = [
    r####"{"type":"code","rawCode":"fn a() {}\n","language":"rust"}"####,
    r####"{"type":"code","rawCode":"x^2","language":"math_formula"}"####,
    r####"{"type":"line","lineStyle":"strong"}"####,
    r####"{"type":"image","url":"https://x.example/a.png","altText":"a [b]","size":"fill"}"####,
    r####"{"type":"video","url":"https://x.example/a.mp4"}"####,
    r####"{"type":"file","url":"https://x.example/a.pdf","fileName":"a.pdf","blockLayout":"card"}"####,
    r####"{"type":"richUrl","url":"https://x.example","title":"X","description":"D","layout":"card"}"####,
    r####"{"type":"drawing","url":"https://x.example/d.png"}"####,
    r####"{"type":"whiteboard"}"####,
    r####"{"type":"table","markdown":"| a | b \\| c |\n| --- | --- |\n| *1* |  |"}"####,
    r####"{"type":"page","title":"# inner","textStyle":"card","cardLayout":"small","content":[{"type":"text","markdown":"## below"},{"type":"page","title":"empty"}]}"####,
    r####"{"type":"text","markdown":"colored","color":"#ffff00"}"####,
];

fn text() -> impl Strategy<Value = BlockDraft> {
    let words = select(
        &[
            "",
            "a",
            "# a",
            "- a",
            " a ",
            "a\nb",
            "a\n\nb",
            "[a](https://x.example)",
            "\\# a",
            "***",
            "*a* `b`",
            "> a",
            "</callout>",
            "&#32;",
        ][..],
    );
    // From both variants that are shown, the last one cannot be inferred.
    let colors = select(&["#ffff00", "#7b7a00", "#123456", "#808080", "#ffffff", "#1990aa"][..]);
    let decorations = (any::<bool>(), any::<bool>());
    (
        words,
        select(TextStyle::ALL),
        select(ListStyle::ALL),
        select(TaskState::ALL),
        proptest::option::of(colors),
        decorations,
        0..=5_u8,
    )
        .prop_map(|(words, style, list_style, state, color, (callout, quote), indentation)| {
            BlockDraft::new(BlockData {
                kind: BlockKind::Text(TextFormat { style, ..TextFormat::default() }),
                list_style,
                indentation,
                task: (list_style == ListStyle::Task).then(|| TaskInfo::of_state(state)),
                color: color.map(|color| color.parse::<Color>().unwrap()),
                decorations: Decorations { callout, quote },
                ..BlockData::text(words)
            })
        })
}

fn draft() -> impl Strategy<Value = BlockDraft> {
    prop_oneof![
        3 => text(),
        1 => select(&OTHERS[..]).prop_map(|json| serde_json::from_str(json).unwrap()),
    ]
}

fn fetched(notes: &Connection, block: BlockId) -> Value {
    serde_json::to_value(notes.fetch(Fetch::new(block).with_metadata()).unwrap()).unwrap()
}

/// A block without what is its own: ID, revision, stamps.
fn content_of(block: &Value) -> Value {
    let mut block = block.clone();
    if let Some(fields) = block.as_object_mut() {
        for name in ["id", "rev", "metadata"] {
            fields.remove(name);
        }
        if let Some(info) = fields.get_mut("taskInfo").and_then(Value::as_object_mut) {
            info.remove("completedAt");
            info.remove("canceledAt");
        }
        if let Some(content) = fields.get_mut("content").and_then(Value::as_array_mut) {
            *content = content.iter().map(content_of).collect();
        }
    }
    block
}

fn update(space: &Space, blocks: Value) -> Result<(), String> {
    let request: UpdateBlocks = space
        .read_json(&json!({"blocks": blocks}).to_string())
        .map_err(|error| error.to_string())?;
    space.connect().update_blocks(request).map(drop).map_err(|error| error.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_fetched_block_can_be_sent_back(drafts in proptest::collection::vec(draft(), 1..6)) {
        let space = Space::in_memory().unwrap();
        let notes = space.connect();
        let page = notes.create_document("Page").unwrap().id();
        notes.insert_blocks(InsertBlocks::blocks(drafts, Position::end_of(page))).unwrap();
        let before = fetched(&notes, page.root());
        let sequence = space.stats().unwrap().sequence;
        let children = before["content"].as_array().unwrap().clone();
        prop_assert_eq!(update(&space, json!(children)), Ok(()));
        prop_assert_eq!(update(&space, json!([before])), Ok(()));
        prop_assert_eq!(&fetched(&notes, page.root()), &before);
        prop_assert_eq!(space.stats().unwrap().sequence, sequence, "no change is logged");

        let copy = notes.create_document("Page").unwrap().id();
        let request = json!({"blocks": children, "position": {"pageId": copy}});
        let request: InsertBlocks = space.read_json(&request.to_string()).unwrap();
        notes.insert_blocks(request).unwrap();
        let copied = fetched(&notes, copy.root());
        prop_assert_eq!(content_of(&copied), content_of(&before));

        // With the plain text beside the markdown.
        let before = notes.fetch(Fetch::new(page).with_text()).unwrap();
        let before = serde_json::to_value(before).unwrap();
        prop_assert_eq!(update(&space, json!([before])), Ok(()));
        let request = json!({"documents": [before]}).to_string();
        let copy = notes.create_documents(space.read_json(&request).unwrap()).unwrap()[0].id();
        let copied = notes.fetch(Fetch::new(copy).with_text()).unwrap();
        prop_assert_eq!(content_of(&serde_json::to_value(copied).unwrap()), content_of(&before));
    }

    #[test]
    fn a_field_changed_in_between_is_all_that_changes(draft in text(), text in "[a-z]{2,5}") {
        let space = Space::in_memory().unwrap();
        let notes = space.connect();
        let page = notes.create_document("Page").unwrap().id();
        let request = InsertBlocks::blocks(vec![draft], Position::end_of(page));
        let block = notes.insert_blocks(request).unwrap()[0].id;
        let before = fetched(&notes, block);
        let mut changed = before.clone();
        changed.as_object_mut().unwrap().remove("markdown");
        changed["text"] = json!(text);
        prop_assert_eq!(update(&space, json!([changed])), Ok(()));
        let after = notes.fetch(Fetch::new(block)).unwrap();
        prop_assert_eq!(&after.data.inline, &text);
        let mut expected = content_of(&before);
        let mut found = content_of(&fetched(&notes, block));
        for value in [&mut expected, &mut found] {
            value.as_object_mut().unwrap().remove("markdown");
        }
        prop_assert_eq!(found, expected);
    }
}

/// A block, a change of its fields, and what it shows afterward, or why not.
const CHANGES: [(&str, &str, &str); 12] = [
    (r####"{"markdown":"a"}"####, r####"{"markdown":"# a"}"####, "h1 none # a"),
    (r####"{"markdown":"# a"}"####, r####"{"markdown":"b"}"####, "h1 none # b"),
    (r####"{"markdown":"# a"}"####, r####"{"markdown":"## a"}"####, "h2 none ## a"),
    (r####"{"markdown":"# a"}"####, r####"{"textStyle":"body"}"####, "body none a"),
    (
        r####"{"markdown":"# a"}"####,
        r####"{"markdown":"# a","textStyle":"h3"}"####,
        "h3 none ### a",
    ),
    (
        r####"{"markdown":"# a"}"####,
        r####"{"markdown":"## a","textStyle":"h1"}"####,
        "h2 none ## a",
    ),
    (
        r####"{"markdown":"# a"}"####,
        r####"{"markdown":"## a","textStyle":"h3"}"####,
        "VALIDATION blocks[0].markdown",
    ),
    (r####"{"markdown":"- [ ] a"}"####, r####"{"markdown":"- [x] a"}"####, "body task - [x] a"),
    (r####"{"markdown":"- [ ] a"}"####, r####"{"markdown":"a"}"####, "body task - [ ] a"),
    (r####"{"markdown":"- [ ] a"}"####, r####"{"markdown":"- a"}"####, "body bullet - a"),
    (r####"{"markdown":"- [ ] a"}"####, r####"{"listStyle":"none"}"####, "body none a"),
    (r####"{"markdown":"a"}"####, r####"{"markdown":"\\# a"}"####, "body none \\# a"),
];

#[test]
fn of_marker_and_field_the_one_that_differs_is_meant() {
    for (draft, change, expected) in CHANGES {
        let space = Space::in_memory().unwrap();
        let notes = space.connect();
        let page = notes.create_document("Page").unwrap().id();
        let mut draft: Value = serde_json::from_str(draft).unwrap();
        draft["type"] = json!("text");
        let draft: BlockDraft = serde_json::from_value(draft).unwrap();
        let request = InsertBlocks::blocks(vec![draft], Position::end_of(page));
        let block = notes.insert_blocks(request).unwrap()[0].id;
        let mut patch: Value = serde_json::from_str(change).unwrap();
        patch["id"] = json!(block);
        let request = json!({"blocks": [patch]}).to_string();
        let updated = notes.update_blocks(space.read_json(&request).unwrap());
        let found = match updated {
            Ok(blocks) => {
                let style = blocks[0].data.text_format().unwrap().style;
                format!("{style} {} {}", blocks[0].data.list_style, blocks[0].markdown())
            }
            Err(error) => format!("{} {}", error.code(), error.path()),
        };
        assert_eq!(found, expected, "{change}");
    }
}

/// Blocks, and changes of their type or list style.
const CONVERSIONS: [(&str, &[&str]); 10] = {
    const LISTS: &[&str] =
        &[r#"{"listStyle":"bullet"}"#, r#"{"listStyle":"none"}"#, r#"{"markdown":"- t"}"#];
    const PAGE: &[&str] = &[r#"{"type":"page"}"#, r#"{"type":"page","listStyle":"none"}"#];
    const TEXT: &[&str] = &[r#"{"type":"text"}"#, r#"{"type":"text","textStyle":"h1"}"#];
    const MEDIA: &[&str] =
        &[r#"{"type":"image"}"#, r#"{"type":"video"}"#, r#"{"type":"file","fileName":"n"}"#];
    [
        (r#"{"type":"text","markdown":"- [x] Buy milk"}"#, PAGE),
        (r#"{"type":"text","markdown":"- [x] Buy milk"}"#, LISTS),
        (r##"{"type":"text","markdown":"> ## [head](block://ID)"}"##, PAGE),
        (r#"{"type":"text","markdown":"<caption>c</caption>"}"#, PAGE),
        (r#"{"type":"text","markdown":"\\# literal"}"#, PAGE),
        (r#"{"type":"page","markdown":"- [literal](block://ID)","listStyle":"task"}"#, TEXT),
        (r#"{"type":"page","markdown":"- literal","listStyle":"task"}"#, LISTS),
        (r#"{"type":"file","url":"block://ID","fileName":"a/b.png","blockLayout":"card"}"#, MEDIA),
        (r#"{"type":"image","url":"https://x.test/a.png","altText":"a","size":"fill"}"#, MEDIA),
        (r#"{"type":"video","url":"https://x.test/a","altText":"a","width":"fullWidth"}"#, MEDIA),
    ]
};

#[test]
fn a_reply_with_another_type_or_list_style_is_converted_as_by_that_change_alone() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let page = notes.create_document("Page").unwrap().id();
    let hidden = notes.create_document("Hidden").unwrap().id();
    let insert = |draft: &str| {
        let draft = serde_json::from_str(&draft.replace("ID", &hidden.to_string())).unwrap();
        let request = InsertBlocks::blocks(vec![draft], Position::end_of(page));
        notes.insert_blocks(request).unwrap()[0].id
    };
    let scoped = space.scoped([page]);
    for (draft, changes) in CONVERSIONS {
        for (change, is_scoped) in
            changes.iter().flat_map(|change| [(change, false), (change, true)])
        {
            let [alone, echoed] = [insert(draft), insert(draft)];
            let mut reply = fetched(&notes, echoed);
            if is_scoped {
                reply = serde_json::to_value(scoped.fetch(Fetch::new(echoed)).unwrap()).unwrap();
            }
            let mut patch = json!({"id": alone});
            let change: Value = serde_json::from_str(change).unwrap();
            for (name, value) in change.as_object().unwrap() {
                (reply[name], patch[name]) = (value.clone(), value.clone());
            }
            assert_eq!(update(&space, json!([patch])), Ok(()), "{draft} {change}");
            let request = space.read_json(&json!({"blocks": [reply]}).to_string()).unwrap();
            let updated = match is_scoped {
                true => scoped.update_blocks(request).map(drop),
                false => notes.update_blocks(request).map(drop),
            };
            assert_eq!(updated.map_err(|error| error.to_string()), Ok(()), "{draft} {change}");
            let found = [alone, echoed].map(|block| content_of(&fetched(&notes, block)));
            assert_eq!(found[0], found[1], "{draft} {change}");
        }
    }
}

#[test]
fn what_only_the_former_type_has_is_refused_if_it_is_changed() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let page = notes.create_document("Page").unwrap().id();
    for (draft, change, expected) in [
        (
            r#"{"type":"text","markdown":"- [x] t"}"#,
            r#"{"listStyle":"bullet","taskInfo":{"state":"todo"}}"#,
            "blocks[0].taskInfo: taskInfo is only for blocks whose listStyle is task",
        ),
        (
            r#"{"type":"page","markdown":"t"}"#,
            r#"{"type":"text","title":"other"}"#,
            "blocks[0].title: a block of type text has no field title",
        ),
        (
            r#"{"type":"image","url":"https://x.test/a","altText":"a","size":"fill"}"#,
            r#"{"type":"file","altText":"a","size":"fit"}"#,
            "blocks[0].size: a block of type file has no field size",
        ),
        (
            r#"{"type":"file","url":"https://x.test/a","fileName":"a"}"#,
            r#"{"type":"image","fileName":"b"}"#,
            "blocks[0].fileName: a block of type image has no field fileName",
        ),
    ] {
        let draft = serde_json::from_str(draft).unwrap();
        let request = InsertBlocks::blocks(vec![draft], Position::end_of(page));
        let block = notes.insert_blocks(request).unwrap()[0].id;
        let mut patch: Value = serde_json::from_str(change).unwrap();
        patch["id"] = json!(block);
        assert_eq!(update(&space, json!([patch])), Err(expected.to_owned()), "{change}");
    }
}

#[test]
fn what_a_reply_does_not_have_is_not_lost() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let page = notes.create_document("Page").unwrap().id();
    notes
        .insert_markdown(
            "<page><pageTitle>In</pageTitle><content>\n\nchild\n\n</content></page>",
            page,
        )
        .unwrap();
    let inner = notes.fetch(Fetch::new(page)).unwrap().children()[0].id;
    let whole = fetched(&notes, inner);
    let cut = serde_json::to_value(notes.fetch(Fetch::new(inner).depth(0)).unwrap()).unwrap();
    assert!(cut.get("contentPreview").is_some(), "{cut}");
    // A cut block may be updated, but its copy would lose what was cut off.
    assert_eq!(update(&space, json!([cut])), Ok(()));
    let request = json!({"blocks": [cut], "position": {"pageId": page}}).to_string();
    let error = space.read_json::<InsertBlocks>(&request).unwrap_err();
    assert_eq!((error.code(), error.path()), ("VALIDATION", "blocks[0].contentPreview"));
    // A changed content is not an update.
    for content in [json!([]), json!([{"id": whole["content"][0]["id"], "markdown": "other"}])] {
        let mut changed = whole.clone();
        changed["content"] = content;
        let error = update(&space, json!([changed])).unwrap_err();
        assert!(error.contains("blocks[0].content"), "{error}");
    }
    assert_eq!(fetched(&notes, inner), whole);
}

#[test]
fn tables_and_links_come_in_the_forms_of_other_programs() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let page = notes.create_document("Page").unwrap().id();
    for (block, markdown) in [
        (
            json!({"type": "table", "rows": [["a", "b|c"], [{"value": "*1*"}, ""]]}),
            "| a | b\\|c |\n| --- | --- |\n| *1* |  |",
        ),
        (
            json!({"type": "table", "rows": [["a"], ["b"]], "markdown": "|a|\n|-|\n|b|"}),
            "|a|\n|-|\n|b|",
        ),
        (
            json!({"type": "table", "rows": [[{"value": "\\|"}, "b"], ["\\\\"]]}),
            "| \\\\| | b |\n| --- | --- |\n| \\\\ |",
        ),
        (
            json!({"type": "richUrl", "url": "https://x.test", "title": "X", "description": "D", "markdown": "[X](https://x.test)"}),
            "[X](https://x.test \"D\")",
        ),
        (
            json!({"type": "image", "url": "https://x.test/a.png", "uploaded": true, "mimeType": "image/png"}),
            "![](https://x.test/a.png)",
        ),
    ] {
        let request = json!({"blocks": [block], "position": {"pageId": page}}).to_string();
        let added = notes.insert_blocks(space.read_json(&request).unwrap()).unwrap();
        assert_eq!(added[0].markdown().replace(" | |", " |  |"), markdown);
    }
}

/// Fields of a new block beside `"type": "text"` or another type, and why they are refused.
#[test]
fn cells_and_texts_that_contradict_each_other_are_refused() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let page = notes.create_document("Page").unwrap().id();
    for (block, expected) in [
        (json!({"type": "table", "rows": [[]]}), "blocks[0].rows[0]: a row has one cell or more"),
        (
            json!({"type": "table", "rows": [["a"], ["b", "c"]]}),
            "blocks[0].rows[1]: has 2 cells, but the header has 1",
        ),
        (
            json!({"type": "table", "rows": [[{"value": 1}]]}),
            "blocks[0].rows[0][0].value: expected a text, got 1",
        ),
        (
            json!({"type": "table", "rows": [[{"value": "a", "x": 1}]]}),
            "blocks[0].rows[0][0].x: unknown field `x`, expected value",
        ),
        (
            json!({"type": "table", "markdown": "| a |\n| - |\n| b |", "rows": [["a"], ["c"]]}),
            "blocks[0].rows: differs from the cells of the table's markdown: give one of them",
        ),
        (
            json!({"type": "text", "markdown": "*a*", "text": "b"}),
            "blocks[0].text: differs from the block's other text: give one of them",
        ),
        (
            json!({"type": "page", "title": "*a*", "text": "*a*"}),
            "blocks[0].text: differs from the block's other text: give one of them",
        ),
    ] {
        let request = json!({"blocks": [block], "position": {"pageId": page}}).to_string();
        let inserted = space
            .read_json::<InsertBlocks>(&request)
            .and_then(|request| notes.insert_blocks(request));
        assert_eq!(inserted.unwrap_err().to_string(), expected);
    }
    assert_eq!(fetched(&notes, page.root())["content"], json!([]));
}

#[test]
fn a_client_may_make_the_ids() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let page = notes.create_document("Page").unwrap().id();
    let other = notes.insert_markdown("other", page).unwrap()[0].id;
    let (first, second) = ("01KASZ4ZJG0000000000000001", "01KASZ4ZJG0000000000000002");
    let insert = |blocks: Value, connection: &str| {
        let request = json!({"blocks": blocks, "position": {"pageId": page}, "keepIds": true});
        let request: InsertBlocks = space.read_json(&request.to_string()).unwrap();
        let inserted = match connection {
            "scoped" => space.scoped([page]).insert_blocks(request),
            _ => notes.insert_blocks(request),
        };
        inserted
            .map(|blocks| blocks.iter().map(|block| block.id.to_string()).collect::<Vec<_>>())
            .map_err(|error| format!("{} {}", error.code(), error.path()))
    };
    let text = |id: &str| json!({"type": "text", "markdown": "a", "id": id});
    let nested = json!([{"type": "page", "title": "p", "id": first, "content": [text(second)]}]);
    assert_eq!(insert(nested, "full"), Ok(vec![first.to_owned()]));
    assert_eq!(fetched(&notes, second.parse().unwrap())["markdown"], "a");
    let refused = |found: Result<Vec<String>, String>| found.unwrap_err();
    let third = "01KASZ4ZJG0000000000000003";
    let taken = json!([text(third), text(&other.to_string())]);
    assert_eq!(refused(insert(taken, "full")), "CONFLICT blocks[1].id");
    let twice = json!([text(third), text(third)]);
    assert_eq!(refused(insert(twice, "full")), "VALIDATION blocks[1].id");
    assert_eq!(refused(insert(json!([text("x")]), "full")), "VALIDATION blocks[0].id");
    assert_eq!(refused(insert(json!([text(third)]), "scoped")), "VALIDATION keepIds");
    assert_eq!(insert(json!([text(third)]), "full"), Ok(vec![third.to_owned()]));
}
