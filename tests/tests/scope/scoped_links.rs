//! Links to what a scoped connection does not see: what is shown in their place, and what becomes
//! of it when it comes back.

mod files;
mod kept_lines;
mod putting_back;
mod random;

use leafbase::{
    AddComments, AddItems, BlockId, CommentDraft, Connection, CreateCollection, DeleteDocuments,
    DocumentId, Fetch, FetchFrom, InsertBlocks, ItemDraft, ItemUpdate, Limits, Position,
    PropertyDraft, PropertyKind, ReplaceSchema, SchemaDraft, Scope, Scoped, Space, UpdateBlocks,
    UpdateItems, json,
};
use leafbase_test_outline::{FixedClock, SequentialIds};
use serde_json::{Value, json};

use crate::world::read;

/// A document that is seen, and one block for each way in which a link may lead: `seen`, `hidden`,
/// `trashed`, `missing`, `malformed`.
struct Scene {
    notes: Connection,
    scope: Scope,
    guest: Connection<Scoped>,
    document: DocumentId,
    targets: [(&'static str, String); 5],
}

fn scene() -> Scene {
    let builder = Space::builder().clock(FixedClock::default()).ids(SequentialIds::new(1));
    let notes = builder.in_memory().unwrap().connect();
    let [document, other, gone] =
        ["seen", "hidden", "gone"].map(|title| notes.create_document(title).unwrap().id());
    let text =
        |document: DocumentId| notes.insert_markdown("target", document).unwrap()[0].id.to_string();
    let [seen, hidden, trashed] = [document, other, gone].map(text);
    notes.delete_documents(DeleteDocuments::from(gone)).unwrap();
    let missing = "01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned();
    let targets = [
        ("seen", seen),
        ("hidden", hidden),
        ("trashed", trashed),
        ("missing", missing),
        ("malformed", "x".into()),
    ];
    let scope = notes.space().scope([document, gone]);
    Scene { guest: scope.connect(), notes, scope, document, targets }
}

impl Scene {
    fn target(&self, name: &str) -> &str {
        &self.targets.iter().find(|(known, _)| *known == name).unwrap().1
    }

    /// `text` with the IDs for their names: `@hidden`.
    fn named(&self, text: &str) -> String {
        self.targets
            .iter()
            .fold(text.to_owned(), |text, (name, id)| text.replace(&format!("@{name}"), id))
    }

    fn insert(&self, block: Value) -> BlockId {
        let request =
            json!({"blocks": [block], "position": {"position": "end", "pageId": self.document}});
        let request: InsertBlocks =
            json::from_str(&request.to_string(), &Limits::default()).unwrap();
        self.notes.insert_blocks(request).unwrap()[0].id
    }

    /// A block of this markdown, with the IDs for the names.
    fn text(&self, markdown: &str) -> BlockId {
        self.insert(json!({"type": "text", "markdown": self.named(markdown)}))
    }

    fn update(&self, block: BlockId, fields: &Value) -> leafbase::Result<Value> {
        let mut patch = fields.clone();
        patch["id"] = json!(block);
        let request = json!({"blocks": [patch]}).to_string();
        let request: UpdateBlocks = json::from_str(&request, &Limits::default()).unwrap();
        Ok(serde_json::to_value(self.guest.update_blocks(request)?).unwrap()["items"].clone())
    }

    fn guest_sees(&self, block: BlockId) -> Value {
        serde_json::to_value(self.guest.fetch(Fetch::new(block).depth(0).with_metadata()).unwrap())
            .unwrap()
    }

    fn kept(&self, block: BlockId) -> Value {
        serde_json::to_value(self.notes.fetch(Fetch::new(block).depth(0)).unwrap()).unwrap()
    }

    fn all(&self) -> Value {
        serde_json::to_value(self.notes.fetch(Fetch::new(self.document).with_metadata()).unwrap())
            .unwrap()
    }
}

fn out(number: u32) -> String {
    format!("invalid:out_of_scope#{number}")
}

/// Texts with a link in them, and how its address is written there: `~` is the ID.
const FORMS: &[(&str, &str)] = &[
    ("see [a]({}) b", "block://~"),
    ("[a]({} 'b')", "<block://~>"),
    ("![a]({})", "block://~"),
    ("[b]: {}", "block://~"),
    ("<{}>", "block://~"),
    ("[b]: {}", "<block://~>"),
    ("[a]({})", "BLOCK://~"),
    ("[a]({})", "bLock:~"),
    ("[a]({})", "block%3A%2F%2F~"),
    ("[a]({})", "%62lock://~"),
    ("[a]({})", "block&colon;//~"),
    ("[a]({})", "block\\://~"),
    ("[a]({})", "block://~/b?c#d"),
    ("[[a]]({})", "block://~"),
    ("[![a](https://a.example)]({})", "block://~"),
    ("a **[b]({})**, `c`", "block://~"),
    ("<a href=\"{}\">b</a>", "block://~"),
    ("<a b href='{}' c>b</a>", "Block&#58;//~"),
    ("<img src={}>", "block://~"),
];

/// Where an address stands by itself, it is one only with an ID.
const WORDS: &[(&str, &str)] = &[
    ("see {}, b", "block://~"),
    ("{}", "BLOCK://~"),
    ("[a](https://b.example/?c={})", "block://~"),
];

/// What stays, whatever it leads to.
const CODE: &[(&str, &str)] =
    &[("`{}`", "block://~"), ("``[a]({})``", "block://~"), ("[`{}`](date://today)", "block://~")];

/// Blocks with a text for `{}`, and the field that it is.
const FIELDS: &[(&str, &str)] = &[
    (r#"{"type":"text","markdown":"{}"}"#, "/markdown"),
    (r#"{"type":"text","textStyle":"h1","markdown":"{}"}"#, "/markdown"),
    (r#"{"type":"text","textStyle":"caption","markdown":"{}"}"#, "/markdown"),
    (
        r#"{"type":"text","listStyle":"task","taskInfo":{"state":"todo"},"markdown":"{}"}"#,
        "/markdown",
    ),
    (r#"{"type":"text","decorations":["quote"],"markdown":"{}"}"#, "/markdown"),
    (r#"{"type":"page","markdown":"{}"}"#, "/markdown"),
    (r#"{"type":"table","markdown":"| a | {} |\n| --- | --- |\n| b | c |"}"#, "/rows/0/1/value"),
    (r#"{"type":"table","markdown":"| a | b |\n| --- | --- |\n| b | {} |"}"#, "/rows/1/1/value"),
    (r#"{"type":"richUrl","url":"https://a.example","title":"{}"}"#, "/title"),
    (
        r#"{"type":"richUrl","url":"https://a.example","title":"a","description":"{}"}"#,
        "/description",
    ),
    (r#"{"type":"image","url":"https://a.example/b.png","altText":"{}"}"#, "/altText"),
    (r#"{"type":"video","url":"https://a.example/b.mp4","altText":"{}"}"#, "/altText"),
    (r#"{"type":"file","url":"https://a.example/b.pdf","fileName":"{}"}"#, "/fileName"),
];

/// Blocks that lead to a block as a whole.
const ADDRESSES: &[(&str, &str)] = &[
    (r#"{"type":"richUrl","url":"{}","title":"a"}"#, "/url"),
    (r#"{"type":"richUrl","url":"{}"}"#, "/url"),
    (r#"{"type":"image","url":"{}","altText":"a"}"#, "/url"),
    (r#"{"type":"video","url":"{}","altText":"a"}"#, "/url"),
    (r#"{"type":"file","url":"{}","fileName":"a"}"#, "/url"),
    (r#"{"type":"drawing","url":"{}"}"#, "/url"),
    (r#"{"type":"whiteboard","url":"{}"}"#, "/url"),
];

struct Case {
    block: BlockId,
    what: String,
    field: &'static str,
    id: String,
    written: String,
    is_shown: bool,
}

/// A block for each form in each field to each target.
fn cases(scene: &Scene) -> Vec<Case> {
    let mut cases = Vec::new();
    let whole: &[(&str, &str)] = &[("{}", "block://~"), ("{}", "BLOCK:~/"), ("{}", "block%3a//~")];
    let kinds = [(FIELDS, FORMS), (FIELDS, WORDS), (FIELDS, CODE), (ADDRESSES, whole)];
    for ((fields, forms), number) in kinds.into_iter().zip(0..) {
        for (name, id) in &scene.targets {
            for ((json, field), (text, address)) in
                fields.iter().flat_map(|field| forms.iter().map(move |form| (field, form)))
            {
                let written = address.replace('~', id);
                let text = text.replace("{}", &written);
                // A text that is all an address needs none of the signs of a link.
                let is_whole =
                    *field != "/markdown" && !field.starts_with("/rows") && text == written;
                let is_shown = match number {
                    1 => *name == "seen" || (*name == "malformed" && !is_whole),
                    2 => true,
                    _ => *name == "seen",
                };
                let escaped = serde_json::to_string(&text).unwrap();
                let json = json.replace("{}", &escaped[1..escaped.len() - 1]);
                let block =
                    scene.insert(serde_json::from_str(&json.replace("\\\\n", "\\n")).unwrap());
                let (what, id) = (format!("{name}: {json}"), id.clone());
                cases.push(Case { block, what, field, id, written, is_shown });
            }
        }
    }
    cases
}

#[test]
fn links_are_hidden_in_every_form_and_place_and_come_back_as_they_were() {
    let scene = scene();
    let cases = cases(&scene);
    let before = scene.all();
    for Case { block, what, field, id, written, is_shown } in &cases {
        let (kept, shown) = (scene.kept(*block), scene.guest_sees(*block));
        let text = |value: &Value| {
            value.pointer(field).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        assert!(text(&kept).contains(written), "{what}: {kept}");
        let expected =
            if *is_shown { text(&kept) } else { text(&kept).replacen(written, &out(1), 1) };
        assert_eq!(text(&shown), expected, "{what}");
        let markdown = scene.guest.fetch_markdown(Fetch::new(*block)).unwrap();
        assert_eq!(markdown.contains(&out(1)), !is_shown, "{what}: {markdown}");
        assert!(
            *is_shown || id.len() < 26 || !format!("{shown}{markdown}").contains(id.as_str()),
            "{what}: {markdown}"
        );
        // Each field that it shows, alone and with the others, changes nothing; `rows` is for
        // reading.
        let fields = ["markdown", "title", "url", "description", "altText", "fileName"];
        let given: Vec<_> =
            fields.iter().filter_map(|name| Some((*name, shown.get(*name)?))).collect();
        for (name, value) in &given {
            scene
                .update(*block, &json!({*name: value}))
                .unwrap_or_else(|error| panic!("{what}: {name}: {error}"));
        }
        let all: serde_json::Map<_, _> =
            given.iter().map(|(name, value)| ((*name).to_owned(), (*value).clone())).collect();
        let reply = scene.update(*block, &Value::Object(all)).unwrap();
        assert_eq!(reply[0].pointer(field), shown.pointer(field), "{what}");
    }
    assert_eq!(scene.all(), before, "what came back as it was shown changed something");
}

/// Texts of one block, and what is shown of it.
#[test]
fn placeholders_are_numbered_within_the_block() {
    let scene = scene();
    for (markdown, expected) in [
        (
            "[a](block://@hidden) [b](block://@seen) [c](block://@missing) [d](block://x)",
            "[a](#1) [b](block://@seen) [c](#2) [d](#3)",
        ),
        ("[a](block://@hidden) [b](block://@hidden)", "[a](#1) [b](#2)"),
        ("[a](<block://@hidden>) [b](<block://@hidden> 'c')", "[a](#1) [b](#2 'c')"),
        ("[a](#1) [b](block://@hidden)", "[a](#1) [b](#2)"),
        ("[a](block://@hidden) [b](block://@trashed) `#1` #3x", "[a](#2) [b](#4) `#1` #3x"),
        ("[a](block://@hidden) #01 #0 #", "[a](#1) #01 #0 #"),
        ("[block://@hidden](block://@hidden)", "[#1](#2)"),
        (
            "[a][b] and [c]\n[b]: block://@hidden\n[c]: <block://@missing>",
            "[a][b] and [c]\n[b]: #1\n[c]: #2",
        ),
        (
            "| [a](block://@hidden) | b |\n| --- | --- |\n| c | <block://@missing> |",
            "| [a](#1) | b |\n| --- | --- |\n| c | <#2> |",
        ),
    ] {
        let given = scene.named(&markdown.replace('#', "invalid:out_of_scope#"));
        let kind = if given.starts_with('|') { "table" } else { "text" };
        let block = scene.insert(json!({"type": kind, "markdown": given}));
        let expected = scene.named(&expected.replace('#', "invalid:out_of_scope#"));
        assert_eq!(scene.guest_sees(block)["markdown"], expected, "{markdown}");
    }
    let hidden = format!("block://{}", scene.target("hidden"));
    let rich = scene
        .insert(json!({"type": "richUrl", "url": hidden, "title": hidden, "description": format!("a [b]({hidden})")}));
    let shown = scene.guest_sees(rich);
    assert_eq!(
        [&shown["url"], &shown["title"], &shown["description"]],
        [&json!(out(1)), &json!(out(2)), &json!(format!("a [b]({})", out(3)))]
    );
    assert_eq!(shown["markdown"], format!("[{}]({} \"a [b]({})\")", out(2), out(1), out(3)));
    // What is hidden follows the scope.
    scene.scope.add(scene.notes.document_of(scene.target("hidden").parse::<BlockId>().unwrap()));
    assert_eq!(scene.guest_sees(rich), {
        let all = scene.notes.fetch(Fetch::new(rich).depth(0).with_metadata()).unwrap();
        serde_json::to_value(all).unwrap()
    });
}

/// A text leads to a block as a whole if it is one address, whatever follows the ID. Others stay.
#[test]
fn words_that_begin_as_an_address_does_stay() {
    let scene = scene();
    for (title, expected) in [
        ("Block:north", "Block:north"),
        ("Block: north", "Block: north"),
        ("Block: north/south", "Block: north/south"),
        ("north/south", "north/south"),
        ("block://north", "invalid:out_of_scope#1"),
        ("block%3Anorth", "invalid:out_of_scope#1"),
    ] {
        let block =
            scene.insert(json!({"type": "richUrl", "url": "https://a.example", "title": title}));
        assert_eq!(scene.guest_sees(block)["title"], expected, "{title}");
    }
}

/// What else a reply shows of texts.
#[test]
fn links_are_hidden_wherever_a_text_is_shown() {
    let scene = scene();
    let link = scene.named("[a](block://@hidden) <block://@missing>");
    let shown = format!("[a]({}) <{}>", out(1), out(2));
    let page = scene.insert(
        json!({"type": "page", "markdown": "p", "content": [{"type": "text", "markdown": link}]}),
    );
    // The words of a link stay, an address as words does not.
    assert_eq!(scene.guest_sees(page)["contentPreview"], format!("a {}", out(2)));
    for content in [&link, &link] {
        scene.notes.add_comments(AddComments::new([CommentDraft::new(page, content)])).unwrap();
    }
    let comments = scene.guest_sees(page)["metadata"]["comments"].clone();
    assert_eq!(
        [&comments[0]["content"], &comments[1]["content"]],
        [&shown; 2],
        "each comment counts by itself"
    );
    scene.notes.update_markdown(scene.document, &link).unwrap();
    assert_eq!(scene.guest.document(scene.document).unwrap().title, shown);
    assert_eq!(scene.guest.documents().unwrap()[0].title, shown);
    assert_eq!(scene.guest_sees(scene.document.root())["markdown"], shown);
    let inserted = scene.guest.insert_markdown(&link, scene.document).unwrap();
    assert_eq!(inserted[0].data.inline, shown, "the reply to a write shows what a fetch does");
    assert_eq!(scene.kept(inserted[0].id)["markdown"], link, "and what is given is kept");
    let updated =
        scene.update(inserted[0].id, &json!({"markdown": format!("{link}\n\n{link}")})).unwrap();
    assert_eq!([&updated[0]["markdown"], &updated[1]["markdown"]], [&shown; 2]);
    let markdown = scene.guest.fetch_markdown(Fetch {
        from: FetchFrom::Block(scene.document.root()),
        ..Fetch::new(scene.document)
    });
    let markdown = markdown.unwrap() + &scene.guest.content_markdown(scene.document).unwrap();
    for target in ["hidden", "missing"] {
        assert!(!markdown.contains(scene.target(target)), "{markdown}");
    }
}

#[test]
fn links_are_hidden_in_collections() {
    let scene = scene();
    let link = scene.named("[a](block://@hidden)");
    let properties = [("t", PropertyKind::Text), ("u", PropertyKind::Url)];
    let schema = SchemaDraft::new(
        link.clone(),
        properties.map(|(name, kind)| PropertyDraft::new(name, kind)),
    );
    let made = scene
        .notes
        .create_collection(CreateCollection::new(schema, Position::end_of(scene.document.root())))
        .unwrap();
    let address = scene.named("block://@missing");
    let item = ItemDraft::new(format!("{link} {link}")).with("t", link.clone()).with("u", address);
    let item = scene.notes.add_items(AddItems::new(made.id, [item])).unwrap()[0].id;
    let shown = scene.guest_sees(item);
    let expected = json!({"t": format!("[a]({})", out(3)), "u": out(4)});
    assert_eq!(shown["title"], format!("[a]({}) [a]({})", out(1), out(2)));
    assert_eq!(shown["properties"], expected);
    let items = serde_json::to_value(scene.guest.items(made.id).unwrap()).unwrap();
    assert_eq!(
        [&items["items"][0]["title"], &items["items"][0]["properties"]],
        [&shown["title"], &expected]
    );
    // Errors quote texts.
    let mut schema = scene.guest.schema(made.id).unwrap();
    assert_eq!(schema.name, format!("[a]({})", out(1)));
    schema.properties[0].kind = PropertyKind::Number;
    let error =
        scene.guest.replace_schema(ReplaceSchema::new(made.id, schema.clone())).unwrap_err();
    assert_eq!((error.code(), error.path()), ("SCHEMA_MISMATCH", "schema"));
    assert!(error.message().contains("[a](invalid:out_of_scope)"), "{error}");
    assert!(!format!("{error:?}").contains(scene.target("hidden")), "{error}");
    // What comes back as it was shown changes nothing.
    let before = scene.all();
    schema.properties[0].kind = PropertyKind::Text;
    scene.guest.replace_schema(ReplaceSchema::new(made.id, schema)).unwrap();
    let update = ItemUpdate::of(item).with_title(shown["title"].as_str().unwrap());
    let update = update
        .with("t", shown["properties"]["t"].clone())
        .with("u", shown["properties"]["u"].clone());
    scene.guest.update_items(UpdateItems::new(made.id, [update])).unwrap();
    assert_eq!(scene.all(), before);
    assert_eq!(scene.notes.schema(made.id).unwrap().name, link);
    assert_eq!(scene.kept(item)["properties"]["u"], scene.named("block://@missing"));
    let markdown = scene.guest.fetch_markdown(Fetch::new(scene.document)).unwrap();
    for target in ["hidden", "missing"] {
        assert!(!markdown.contains(scene.target(target)), "{markdown}");
    }
}

/// Keys are derived from names as they are stored, and shown as they are.
#[test]
fn keys_are_derived_without_the_ids_of_links() {
    let scene = scene();
    let name = scene.named("for [Ann](block://@hidden)");
    let schema = json!({"name": name, "contentPropDetails": {"name": name}, "properties": [
        {"name": name, "type": "text"}, {"name": name, "type": "number"},
    ]});
    let request =
        json!({"schema": schema, "position": {"position": "end", "pageId": scene.document}});
    let made = scene.notes.create_collection(read(&request)).unwrap().id;
    let shown = serde_json::to_value(scene.guest.schema(made).unwrap()).unwrap();
    let keys = ["/key", "/contentPropDetails/key", "/properties/0/key", "/properties/1/key"];
    let keys = keys.map(|key| shown.pointer(key).unwrap().as_str().unwrap());
    assert_eq!(keys, ["for_ann", "for_ann", "for_ann_2", "for_ann_3"]);
    assert!(!shown.to_string().to_uppercase().contains(scene.target("hidden")), "{shown}");
}
