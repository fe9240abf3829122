//! Files: a guest may name those that it sees, and no others.

use super::*;
use leafbase::{AssetId, UploadFile};

/// Files by name: `own` and `shown` are seen, `hidden` is shown by a block that is not, `many` by
/// many such, `missing` is none.
struct Files {
    scene: Scene,
    own: BlockId,
    urls: [(&'static str, String); 5],
}

fn files() -> Files {
    let scene = scene();
    let upload = |document: DocumentId| {
        scene.notes.upload_file(UploadFile::new(document).named("a.txt"), &b"x"[..]).unwrap()
    };
    let hidden_document =
        scene.notes.document_of(scene.target("hidden").parse::<BlockId>().unwrap()).unwrap();
    let (own, shown) = (upload(scene.document), upload(hidden_document));
    scene.notes.insert_markdown(&format!("see [it]({})", shown.asset_url), scene.document).unwrap();
    let (hidden, many) = (upload(hidden_document), upload(hidden_document));
    scene
        .notes
        .insert_markdown(&format!("[it]({})\n\n", many.asset_url).repeat(3), hidden_document)
        .unwrap();
    let missing =
        format!("asset://{}/a.txt", "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse::<AssetId>().unwrap());
    let url = |uploaded: &leafbase::UploadedFile| uploaded.asset_url.to_string();
    let urls = [
        ("own", url(&own)),
        ("shown", url(&shown)),
        ("hidden", url(&hidden)),
        ("many", url(&many)),
        ("missing", missing),
    ];
    Files { own: own.block_id, scene, urls }
}

/// Blocks that name `{}`, and the field that is refused.
const NAMING: &[(&str, &str)] = &[
    (r#"{"type":"image","url":"{}"}"#, "url"),
    (r#"{"type":"video","url":"{}","altText":"a"}"#, "url"),
    (r#"{"type":"file","url":"{}"}"#, "url"),
    (r#"{"type":"drawing","url":"{}"}"#, "url"),
    (r#"{"type":"whiteboard","url":"{}"}"#, "url"),
    (r#"{"type":"richUrl","url":"{}"}"#, "url"),
    (r#"{"type":"image","markdown":"![a]({})"}"#, "markdown"),
    (r#"{"type":"file","markdown":"[a]({})"}"#, "markdown"),
    (r#"{"type":"text","markdown":"see [a]({})"}"#, "markdown"),
    (r#"{"type":"text","markdown":"a `b\n\nc` ![d]({})"}"#, "markdown"),
    (r#"{"type":"page","markdown":"<{}>"}"#, "markdown"),
    (r#"{"type":"table","markdown":"| a |\n| --- |\n| [b]({}) |"}"#, "markdown"),
    (r#"{"type":"table","markdown":"\\[b]({})"}"#, "markdown"),
];

#[test]
fn only_files_that_are_seen_may_be_named() {
    let Files { scene, urls, .. } = files();
    let insert = |body: &str| {
        let request = format!(
            r#"{{"blocks":{body},"position":{{"position":"end","pageId":"{}"}}}}"#,
            scene.document
        );
        scene.guest.insert_blocks(json::from_str(&request, &Limits::default()).unwrap())
    };
    for ((json, field), (name, url)) in
        NAMING.iter().flat_map(|naming| urls.iter().map(move |url| (naming, url)))
    {
        let block = json.replace("{}", url);
        let nested = format!(
            r#"[{{"type":"text","markdown":"a\n\nb"}},{{"type":"page","content":[{{"type":"text"}},{block}]}}]"#
        );
        for (body, path) in [
            (format!("[{block}]"), format!("blocks[0].{field}")),
            (nested, format!("blocks[1].content[1].{field}")),
        ] {
            let before = scene.all();
            match insert(&body) {
                Ok(_) => assert!(matches!(*name, "own" | "shown"), "{block}"),
                Err(error) => {
                    assert!(!matches!(*name, "own" | "shown"), "{block}: {error}");
                    assert_eq!(
                        (error.code(), error.path(), error.message()),
                        ("NOT_FOUND", path.as_str(), "no file has this ID"),
                        "{block}"
                    );
                    assert_eq!(scene.all(), before);
                }
            }
        }
    }
    // Of several faults the first is told.
    let hidden = &urls[2].1;
    let first = format!(
        r#"[{{"type":"image","url":"{hidden}"}},{{"type":"text","textStyle":"h1","indentationLevel":9}}]"#
    );
    let second =
        format!(r#"[{{"type":"text","cardLayout":"small"}},{{"type":"image","url":"{hidden}"}}]"#);
    let request = |body: String| {
        format!(
            r#"{{"blocks":{body},"position":{{"position":"end","pageId":"{}"}}}}"#,
            scene.document
        )
    };
    assert!(json::from_str::<InsertBlocks>(&request(first), &Limits::default()).is_err());
    assert_eq!(insert(&second).unwrap_err().path(), "blocks[0].cardLayout");
    for (name, url) in &urls {
        let found = scene
            .guest
            .insert_markdown(&format!("a\n\n![b]({url})\n\n- [c]({url})"), scene.document);
        match found {
            Ok(_) => assert!(matches!(*name, "own" | "shown")),
            Err(error) => {
                assert_eq!((error.code(), error.path()), ("NOT_FOUND", "markdown"), "{name}")
            }
        }
    }
}

#[test]
fn an_update_may_keep_the_files_that_a_block_has() {
    let Files { scene, urls, own } = files();
    let text = scene.insert(json!({"type": "text", "markdown": "a"}));
    for (name, url) in &urls {
        let is_seen = matches!(*name, "own" | "shown");
        let cases = [
            (text, json!({"markdown": format!("b [c]({url})")}), "blocks[0].markdown"),
            (text, json!({"markdown": format!("b\n\nc [c]({url})")}), "blocks[0].markdown"),
            (own, json!({"url": url}), "blocks[0].url"),
            (own, json!({"markdown": format!("[c]({url})")}), "blocks[0].markdown"),
        ];
        for (block, fields, path) in cases {
            let found = scene.update(block, &fields);
            match found {
                Ok(_) => assert!(is_seen, "{name} {fields}"),
                Err(error) => {
                    assert_eq!(
                        (error.code(), error.path(), error.message()),
                        ("NOT_FOUND", path, "no file has this ID"),
                        "{name}"
                    );
                    assert!(!is_seen);
                }
            }
        }
    }
    // The last block that is seen keeps its file.
    let own = scene.insert(json!({"type": "image", "url": urls[2].1}));
    scene.update(own, &json!({"altText": "b", "url": urls[2].1})).unwrap();
    scene.update(own, &json!({"markdown": format!("![c]({})", urls[2].1)})).unwrap();
    for (_, url) in &urls[3..] {
        let id: AssetId = url["asset://".len()..].split('/').next().unwrap().parse().unwrap();
        assert_eq!(scene.guest.file(id).unwrap_err(), scene.guest.file(AssetId::NIL).unwrap_err());
    }
}

#[test]
fn titles_of_items_and_names_of_collections_name_files_that_are_seen() {
    let Files { scene, urls, .. } = files();
    let create = |name: &str| {
        let schema = SchemaDraft::new(name, [PropertyDraft::new("t", PropertyKind::Text)]);
        scene.guest.create_collection(CreateCollection::new(
            schema,
            Position::end_of(scene.document.root()),
        ))
    };
    let made = create("c").unwrap().id;
    let item = scene.guest.add_items(AddItems::new(made, [ItemDraft::new("a")])).unwrap()[0].id;
    for (name, url) in &urls {
        let title = format!("see [a]({url})");
        let draft = SchemaDraft::new(title.as_str(), [PropertyDraft::new("t", PropertyKind::Text)]);
        let outcomes = [
            ("schema.name", create(&title).map(drop)),
            ("schema.name", scene.guest.replace_schema(ReplaceSchema::new(made, draft)).map(drop)),
            ("blocks[0].markdown", scene.update(made, &json!({"markdown": title})).map(drop)),
            (
                "items[0].title",
                scene
                    .guest
                    .add_items(AddItems::new(made, [ItemDraft::new(title.as_str())]))
                    .map(drop),
            ),
            ("itemsToUpdate[0].title", {
                let update = ItemUpdate::of(item).with_title(title.as_str());
                scene.guest.update_items(UpdateItems::new(made, [update])).map(drop)
            }),
            ("blocks[0].markdown", scene.update(item, &json!({"markdown": title})).map(drop)),
        ];
        for (path, outcome) in outcomes {
            match outcome {
                Ok(()) => assert!(matches!(*name, "own" | "shown"), "{path} {name}"),
                Err(error) => {
                    assert_eq!(
                        (error.code(), error.path(), error.message()),
                        ("NOT_FOUND", path, "no file has this ID"),
                        "{name}"
                    );
                    assert!(!matches!(*name, "own" | "shown"), "{path} {name}");
                }
            }
        }
    }
}
