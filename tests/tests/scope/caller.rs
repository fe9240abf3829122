//! A caller on a scoped connection: what it has been told, and calls that it makes of that, of
//! guesses and of mistakes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::calls::{Call, Reply};
use super::dice::Dice;
use super::hidden::{HIDDEN_MODEL, SEEN_MODEL, VECTORS, WORDS};

/// IDs of what the caller must not notice, of both worlds.
#[derive(Clone, Debug, Default)]
pub struct Guesses {
    pub documents: Vec<String>,
    pub blocks: Vec<String>,
    pub collections: Vec<String>,
    pub items: Vec<String>,
    pub comments: Vec<String>,
    /// URLs.
    pub files: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Document,
    Parent,
    Block,
    Collection,
    Item,
}

#[derive(Clone, Debug, Default)]
struct Table {
    schema: Option<Value>,
    items: BTreeSet<String>,
}

/// What replies have told.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    documents: BTreeSet<String>,
    /// Documents as they were shown last.
    listed: BTreeMap<String, Value>,
    /// Types by ID.
    blocks: BTreeMap<String, String>,
    tables: BTreeMap<String, Table>,
    files: BTreeSet<String>,
    /// Texts as they were shown last, to be written back.
    texts: BTreeMap<String, Value>,
    /// Comments as they were shown last.
    comments: BTreeMap<String, Value>,
    /// The last number of the feed that was told.
    last: u64,
    /// Markdown of pages as it was shown last.
    pages_as_text: BTreeMap<String, String>,
    /// Calls that go on where a reply ended.
    pages: Vec<Call>,
}

/// Operations that a batch has, with the names of their methods.
const WRITES: [(&str, &str); 23] = [
    ("insert", "insert_blocks"),
    ("update", "update_blocks"),
    ("delete", "delete_blocks"),
    ("move", "move_blocks"),
    ("split", "split_block"),
    ("merge", "merge_block"),
    ("indent", "indent_blocks"),
    ("duplicate", "duplicate_blocks"),
    ("shift", "shift_blocks"),
    ("sort", "sort_blocks"),
    ("replace", "replace_text"),
    ("apply", "apply_markdown"),
    ("edit", "edit_markdown"),
    ("undo", "undo"),
    ("comment", "add_comments"),
    ("update_comments", "update_comments"),
    ("delete_comments", "delete_comments"),
    ("create_collection", "create_collection"),
    ("replace_schema", "replace_schema"),
    ("add_items", "add_items"),
    ("update_items", "update_items"),
    ("delete_items", "delete_items"),
    ("update_documents", "update_documents"),
];

const UNKNOWN: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const MALFORMED: [&str; 3] = ["x-1", "", "01ARZ3NDEKTSV4RRFFQ69G5FA"];

impl Caller {
    /// Takes in what a call was told.
    pub fn learn(&mut self, call: &Call, reply: &Reply) {
        if !reply.is_ok {
            return;
        }
        let value = reply.value();
        match call.operation {
            "content_markdown" => {
                let shown = value.as_str().unwrap_or_default().to_owned();
                self.pages_as_text.insert(text(&call.body["id"]), shown);
            }
            "last_sequence" => self.last = value.as_u64().unwrap_or_default(),
            "undo" => self.last = value["sequence"].as_u64().unwrap_or_default(),
            "changes" => {
                let told = value.as_array().into_iter().flatten();
                let last = told.filter_map(|change| change["sequence"].as_u64()).max();
                self.last = last.unwrap_or(self.last);
            }
            "documents" => {
                self.documents = ids(&value["items"]);
                for document in value["items"].as_array().into_iter().flatten() {
                    self.listed.insert(text(&document["id"]), document.clone());
                }
            }
            "collections" => {
                for id in ids(&value["items"]) {
                    self.tables.entry(id).or_default();
                }
            }
            "create_collection" => self.learn_schema(text(&value["id"]), &value["schema"]),
            "schema" if call.body["format"] == "schema" => {
                self.learn_schema(text(&call.body["collectionId"]), &value)
            }
            "replace_schema" => {
                self.learn_schema(text(&call.body["collectionId"]), &value["schema"])
            }
            "items" | "add_items" | "query" => {
                let items = ids(&value["items"]);
                self.blocks
                    .extend(items.iter().map(|id| (id.clone(), "collectionItem".to_owned())));
                self.tables
                    .entry(text(&call.body["collectionId"]))
                    .or_default()
                    .items
                    .extend(items);
            }
            "comment" => {
                let added = value["items"].as_array().into_iter().flatten();
                let given = call.body["comments"].as_array().into_iter().flatten();
                for (added, given) in added.zip(given) {
                    let id = text(&added["commentId"]);
                    let comment = json!({"id": id, "content": given["content"]});
                    self.comments.insert(id, comment);
                }
            }
            "delete_comments" => {
                let gone = ids_in(&value);
                self.comments.retain(|id, _| !gone.contains(id));
            }
            "delete" | "delete_items" => self.forget(&ids_in(&value)),
            _ => {}
        }
        self.learn_blocks(&value);
        if let Some(cursor) = value["nextCursor"].as_str() {
            let mut next = call.clone();
            next.body["cursor"] = cursor.into();
            self.pages.push(next);
        }
    }

    fn learn_schema(&mut self, collection: String, schema: &Value) {
        if schema["properties"].is_array() {
            self.tables.entry(collection).or_default().schema = Some(schema.clone());
        }
    }

    fn learn_blocks(&mut self, value: &Value) {
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            match value {
                Value::Object(fields) => {
                    if let (Some(id), Some(kind)) = (value["id"].as_str(), value["type"].as_str()) {
                        self.blocks.insert(id.to_owned(), kind.to_owned());
                        self.texts.insert(id.to_owned(), without_content(fields));
                    } else if let (Some(id), true) =
                        (value["id"].as_str(), value["content"].is_string())
                    {
                        self.comments.insert(id.to_owned(), value.clone());
                    }
                    waiting.extend(fields.values());
                }
                Value::Array(values) => waiting.extend(values),
                Value::String(text) => self.learn_files(text),
                _ => {}
            }
        }
    }

    fn learn_files(&mut self, text: &str) {
        for (at, _) in text.match_indices("asset://") {
            let end = text[at..].find([')', '"', ' ', '>']).map_or(text.len(), |end| at + end);
            self.files.insert(text[at..end].to_owned());
        }
    }

    fn forget(&mut self, ids: &BTreeSet<String>) {
        self.blocks.retain(|id, _| !ids.contains(id));
        self.texts.retain(|id, _| !ids.contains(id));
        self.tables.retain(|id, _| !ids.contains(id));
        for table in self.tables.values_mut() {
            table.items.retain(|id| !ids.contains(id));
        }
    }

    /// The calls by which a caller finds out what there is.
    pub fn look_round(&self) -> Vec<Call> {
        let mut calls = vec![
            Call::new("documents", json!({"fetchMetadata": true})),
            Call::new("collections", json!({})),
        ];
        calls.push(Call::new("changes", json!({"after": 0})));
        calls.extend(
            self.documents
                .iter()
                .map(|id| Call::new("fetch", json!({"id": id, "fetchMetadata": true}))),
        );
        calls
            .extend(self.documents.iter().map(|id| Call::new("fetch_markdown", json!({"id": id}))));
        calls.extend(
            self.documents.iter().map(|id| Call::new("list_comments", json!({"documentId": id}))),
        );
        calls.extend(self.documents.iter().map(|id| Call::new("back_links", json!({"id": id}))));
        let properties = |id| Call::new("document_properties", json!({"id": id}));
        calls.extend(self.documents.iter().map(properties));
        calls.push(Call::new("list_tags", json!({})));
        let mentions = |id| Call::new("unlinked_mentions", json!({"id": id}));
        calls.extend(self.documents.iter().map(mentions));
        calls
            .extend(self.documents.iter().map(|id| Call::new("resolve_embeds", json!({"id": id}))));
        for id in self.tables.keys() {
            calls.push(Call::new("schema", json!({"collectionId": id, "format": "schema"})));
            calls.push(Call::new(
                "schema",
                json!({"collectionId": id, "allowNewSelectOptions": true}),
            ));
            calls.push(Call::new("items", json!({"collectionId": id})));
        }
        calls
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn ids(items: &Value) -> BTreeSet<String> {
    items
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|item| Some(item["id"].as_str()?.to_owned()))
        .collect()
}

/// Texts that stand alone in a list.
fn ids_in(reply: &Value) -> BTreeSet<String> {
    reply["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|id| Some(id.as_str()?.to_owned()))
        .collect()
}

fn without_content(fields: &Map<String, Value>) -> Value {
    let kept = |name: &str| !["content", "contentPreview", "metadata", "rows"].contains(&name);
    Value::Object(
        fields
            .iter()
            .filter(|(name, _)| kept(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}

/// One call after the other.
pub struct Asking<'a> {
    pub caller: &'a Caller,
    pub guesses: &'a Guesses,
    pub dice: &'a mut Dice,
}

impl Asking<'_> {
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> Call {
        match self.dice.below(103) {
            0 => Call::new("documents", json!({"fetchMetadata": self.flag()})),
            1 => self.by_id("document", Kind::Document),
            2 => self.by_id("document_of", Kind::Block),
            3..=6 => self.fetch("fetch"),
            7 | 8 => self.fetch("fetch_markdown"),
            9 => self.by_id("content_markdown", Kind::Parent),
            10..=15 => self.insert(),
            16..=18 => self.write_back(),
            19..=21 => self.update(),
            22 => Call::new("delete", json!({"blockIds": self.ids(Kind::Block)})),
            23..=25 => Call::new(
                "move",
                json!({"blockIds": self.ids(Kind::Block), "position": self.position()}),
            ),
            26 => self.comment(),
            27 | 28 => self.upload(),
            29 => self.file("file"),
            30 => self.file("open_file"),
            31 => self.list_collections(),
            32 => self.create_collection(),
            33 | 34 => self.schema(),
            35..=37 => self.replace_schema(),
            38..=40 => self.items("items"),
            41..=43 => self.add_items(),
            44..=46 => self.update_items(),
            47 => self.delete_items(),
            48..=50 => self.query(),
            51 | 52 => self.count(),
            53..=55 => self.search(),
            56 | 57 => self.search_blocks(),
            58 => Call::new(["info", "author", "last_sequence"][self.dice.below(3)], json!({})),
            59 => Call::new("changes", json!({"after": self.dice.below(9)})),
            60 | 61 => self.list_comments(),
            62..=64 => self.update_comments(),
            65 => Call::new("delete_comments", json!({"commentIds": [self.comment_id()]})),
            66 | 67 => self.update_documents(),
            68 => Call::new("resolve", json!({"blockIds": self.ids(Kind::Block)})),
            69 => self.find_documents(),
            70..=73 => self.batch(),
            74 | 75 => Call::new(
                "split",
                json!({"blockId": self.id(Kind::Block), "offset": self.dice.below(9)}),
            ),
            76 => self.merge(),
            77 => self.indent(),
            78 | 79 => self.replace(),
            80 => self.range("duplicate"),
            81 => {
                let mut call = self.range("shift");
                if self.flag() {
                    call.body["direction"] = json!("down");
                }
                call
            }
            82 => {
                let by = *self.dice.pick(&["text", "createdAt", "taskState"]);
                Call::new("sort", json!({"parentId": self.id(Kind::Parent), "by": by}))
            }
            83 | 84 => self.back_links(),
            85..=88 => self.undo(),
            89 | 90 => self.unlinked_mentions(),
            91 => self.by_id("content_markdown", Kind::Parent),
            92..=95 => self.apply(),
            96 | 97 => self.edit(),
            98 => self.by_id("document_properties", Kind::Document),
            99 => self.list_tags(),
            100 => Call::new("documents", json!({"tags": self.tag()})),
            _ => self.next_page(),
        }
    }

    fn back_links(&mut self) -> Call {
        let kind = [Kind::Document, Kind::Parent, Kind::Block][self.dice.below(3)];
        let mut body = json!({"id": self.id(kind), "within": self.flag()});
        if self.flag() {
            body["limit"] = json!(self.dice.below(3) + 1);
        }
        Call::new("back_links", body)
    }

    fn tag(&mut self) -> &'static str {
        self.dice.pick::<&str>(&["amber", "#BIRCH", "birch/elm", "trip"])
    }

    fn list_tags(&mut self) -> Call {
        let mut body = json!({"prefix": *self.dice.pick(&["", "a", "birch"])});
        if self.flag() {
            body["limit"] = json!(self.dice.below(3) + 1);
        }
        Call::new("list_tags", body)
    }

    fn unlinked_mentions(&mut self) -> Call {
        let kind = [Kind::Document, Kind::Document, Kind::Parent][self.dice.below(3)];
        let mut body = json!({"id": self.id(kind)});
        if self.flag() {
            body["limit"] = json!(self.dice.below(3) + 1);
        }
        Call::new("unlinked_mentions", body)
    }

    /// A late write, or two, or one that may be anything.
    fn undo(&mut self) -> Call {
        let late = |dice: &mut Dice, last: u64| last.saturating_sub(dice.next() % 6) + 2;
        let mut sequences = vec![late(self.dice, self.caller.last)];
        if self.dice.once_in(4) {
            sequences.push(late(self.dice, self.caller.last));
        }
        if self.dice.once_in(8) {
            sequences.push(self.dice.next() % (self.caller.last + 2));
        }
        Call::new("undo", json!({"sequences": sequences}))
    }

    fn indent(&mut self) -> Call {
        let mut body = json!({"firstId": self.id(Kind::Block)});
        if self.flag() {
            body["lastId"] = self.id(Kind::Block).into();
        }
        if self.flag() {
            body["levels"] = json!(-1);
        }
        Call::new("indent", body)
    }

    /// Mostly of a text: other blocks are never merged.
    fn merge(&mut self) -> Call {
        let blocks = self.caller.blocks.iter();
        let texts = blocks.filter(|(_, block_type)| *block_type == "text");
        let texts: Vec<&String> = texts.map(|(id, _)| id).collect();
        let is_any = texts.is_empty() || self.dice.once_in(4);
        let id = if is_any { self.id(Kind::Block) } else { (*self.dice.pick(&texts)).clone() };
        Call::new("merge", json!({"blockId": id}))
    }

    fn range(&mut self, operation: &'static str) -> Call {
        let mut body = json!({"firstId": self.id(Kind::Block)});
        if self.flag() {
            body["lastId"] = self.id(Kind::Block).into();
        }
        Call::new(operation, body)
    }

    fn replace(&mut self) -> Call {
        let mut body = match self.dice.below(3) {
            0 => json!({"pattern": self.pattern(), "replacement": "$0"}),
            1 => json!({"pattern": format!("({})", self.pattern()), "replacement": "$1!"}),
            _ => json!({"find": &self.word()[..2], "replacement": self.word()}),
        };
        match self.dice.below(4) {
            0 => {}
            1 => body["documentIds"] = json!(self.ids(Kind::Document)),
            _ => body["blockIds"] = json!(self.ids(Kind::Block)),
        }
        for field in ["dryRun", "keepCase", "caseSensitive"] {
            if self.flag() {
                body[field] = json!(true);
            }
        }
        Call::new("replace", body)
    }

    /// A page whose markdown was shown, with the lines of it.
    fn shown_page(&mut self) -> (String, Vec<String>) {
        let pages: Vec<_> = self.caller.pages_as_text.iter().collect();
        match self.dice.any(&pages) {
            Some((id, text)) => ((*id).clone(), text.lines().map(str::to_owned).collect()),
            None => (self.id(Kind::Parent), Vec::new()),
        }
    }

    /// The markdown of a page with some lines changed.
    fn apply(&mut self) -> Call {
        if self.caller.pages_as_text.is_empty() {
            return self.by_id("content_markdown", Kind::Parent);
        }
        let (page, mut lines) = self.shown_page();
        let shown = lines.join("\n");
        let has_code = has_code(&lines);
        for _ in 0..=self.dice.below(3) {
            let at = self.dice.below(lines.len() + 1);
            match self.dice.below(5) {
                0 => {
                    let line = if has_code { self.words() } else { self.line() };
                    lines.splice(at..at, [String::new(), line, String::new()]).for_each(drop);
                }
                _ if at == lines.len() => {}
                1 => drop(lines.remove(at)),
                2 => {
                    let line = lines.remove(at);
                    lines.insert(self.dice.below(lines.len() + 1), line);
                }
                _ => lines[at] = format!("{} {}", lines[at], self.word()),
            }
        }
        let mut body = json!({"pageId": page, "markdown": lines.join("\n")});
        if self.flag() {
            body["expected"] = json!(shown);
        }
        if self.dice.once_in(4) {
            body["dryRun"] = json!(true);
        }
        Call::new("apply", body)
    }

    fn edit(&mut self) -> Call {
        let (page, lines) = self.shown_page();
        let written: Vec<_> = lines.iter().filter(|line| !line.is_empty()).collect();
        let line = self.dice.any(&written).map(|line| (*line).clone());
        let text = line.unwrap_or_else(|| self.word().to_owned());
        let kinds = ["replace", "insertBefore", "insertAfter", "insertUnder"];
        let markdown = if has_code(&lines) { self.words() } else { self.line() };
        let edit = json!({"edit": *self.dice.pick(&kinds), "text": text, "markdown": markdown});
        Call::new("edit", json!({"pageId": page, "edits": [edit]}))
    }

    fn find_documents(&mut self) -> Call {
        Call::new("find_documents", json!({"name": self.title()}))
    }

    /// Mostly the title of a document that was listed.
    fn title(&mut self) -> String {
        let listed: Vec<&Value> = self.caller.listed.values().collect();
        let title = self.dice.any(&listed).map(|document| text(&document["title"]));
        let title = title.filter(|_| !self.dice.once_in(4));
        title.unwrap_or_else(|| self.word().to_owned())
    }

    /// Some writes at once.
    fn batch(&mut self) -> Call {
        let mut operations = Vec::new();
        for _ in 0..self.dice.below(4) {
            let (name, call) = loop {
                let call = self.next();
                if let Some((_, name)) = WRITES.iter().find(|(own, _)| *own == call.operation) {
                    break (*name, call);
                }
            };
            let mut operation = call.body;
            operation["operation"] = json!(name);
            operations.push(operation);
        }
        let mut body = json!({"operations": operations});
        if self.dice.once_in(4) {
            body["dryRun"] = json!(true);
        }
        if self.dice.once_in(6) {
            body["expect"] = json!({"blocks": {self.id(Kind::Block): 1}});
        }
        Call::new("run_batch", body)
    }

    fn flag(&mut self) -> bool {
        self.dice.once_in(2)
    }

    /// An ID: mostly one that was seen, of that kind.
    fn id(&mut self, kind: Kind) -> String {
        let guesses = self.guesses;
        match self.dice.below(30) {
            0 => UNKNOWN.to_owned(),
            1 => (*self.dice.pick(&MALFORMED)).to_owned(),
            2..=4 => self.guess(kind),
            5 => self.guess(Kind::Block).to_lowercase(),
            6 => self.dice.any(&guesses.documents).cloned().unwrap_or_default(),
            7 => self.seen(Kind::Block),
            8 => self.seen(kind).to_lowercase(),
            _ => self.seen(kind),
        }
    }

    fn guess(&mut self, kind: Kind) -> String {
        let guesses = self.guesses;
        let from = match kind {
            Kind::Document => &guesses.documents,
            Kind::Parent | Kind::Block => &guesses.blocks,
            Kind::Collection => &guesses.collections,
            Kind::Item => &guesses.items,
        };
        self.dice.any(from).cloned().unwrap_or_else(|| UNKNOWN.to_owned())
    }

    fn seen(&mut self, kind: Kind) -> String {
        let is = |wanted: &[&str]| -> Vec<&String> {
            self.caller
                .blocks
                .iter()
                .filter(|(_, kind)| wanted.contains(&kind.as_str()))
                .map(|(id, _)| id)
                .collect()
        };
        let from: Vec<&String> = match kind {
            Kind::Document => self.caller.documents.iter().collect(),
            Kind::Parent => self
                .caller
                .documents
                .iter()
                .chain(is(&["text", "page", "collectionItem"]))
                .collect(),
            Kind::Block => self.caller.blocks.keys().collect(),
            Kind::Collection => self.caller.tables.keys().collect(),
            Kind::Item => is(&["collectionItem"]),
        };
        self.dice.any(&from).map_or_else(|| UNKNOWN.to_owned(), |id| (*id).clone())
    }

    fn ids(&mut self, kind: Kind) -> Vec<String> {
        let count = if self.dice.once_in(3) { 2 } else { 1 };
        (0..count).map(|_| self.id(kind)).collect()
    }

    fn by_id(&mut self, operation: &'static str, kind: Kind) -> Call {
        Call::new(operation, json!({"id": self.id(kind)}))
    }

    fn fetch(&mut self, operation: &'static str) -> Call {
        let kind = *self.dice.pick(&[
            Kind::Document,
            Kind::Parent,
            Kind::Block,
            Kind::Collection,
            Kind::Item,
        ]);
        let mut body = match self.dice.below(12) {
            0 => {
                json!({"date": *self.dice.pick(&["2026-03-02", "2026-01-01", "today", "tomorrow"])})
            }
            _ => json!({"id": self.id(kind)}),
        };
        if self.flag() {
            body["maxDepth"] = json!(self.dice.below(3));
        }
        body["fetchMetadata"] = json!(self.flag());
        Call::new(operation, body)
    }

    fn position(&mut self) -> Value {
        match self.dice.below(24) {
            0 => json!({"position": "start", "date": "today"}),
            1 => json!({}),
            2 => {
                json!({"position": "end", "pageId": self.id(Kind::Parent), "siblingId": self.id(Kind::Block)})
            }
            3..=5 => {
                json!({"position": *self.dice.pick(&["before", "after"]), "siblingId": self.id(Kind::Block)})
            }
            6 => json!({"position": "end", "pageId": self.id(Kind::Document)}),
            _ => {
                json!({"position": *self.dice.pick(&["start", "end"]), "pageId": self.id(Kind::Parent)})
            }
        }
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.dice.below(WORDS.len())]
    }

    fn words(&mut self) -> String {
        let words: Vec<_> = (0..=self.dice.below(4)).map(|_| self.word()).collect();
        words.join(" ")
    }

    fn file_url(&mut self) -> String {
        let seen: Vec<&String> = self.caller.files.iter().collect();
        match self.dice.below(6) {
            0 => format!("asset://{UNKNOWN}/x.txt"),
            1 => self.dice.any(&self.guesses.files).cloned().unwrap_or_default(),
            _ => self
                .dice
                .any(&seen)
                .map_or(format!("asset://{UNKNOWN}/x.txt"), |url| (*url).clone()),
        }
    }

    /// A link in one of the many ways of writing one.
    fn link(&mut self) -> String {
        let (word, kind) =
            (self.word(), *self.dice.pick(&[Kind::Block, Kind::Item, Kind::Document]));
        let id = self.id(kind);
        let encoded = || {
            id.chars().map(|letter| format!("%{:02X}", letter as u32 & 0x7f)).collect::<String>()
        };
        match self.dice.below(20) {
            16..=19 => format!("[[{}]]", self.title()),
            0 => format!("[{word}](BLOCK://{id})"),
            1 => format!("[{word}](block://{})", encoded()),
            2 => format!("[{word}](<block://{id}> \"a {word}\")"),
            3 => format!("<block://{id}>"),
            4 => format!("[{word}][r] and\n[r]: block://{id}"),
            5 => format!("<a href=\"block://{id}\">{word}</a>"),
            6 => format!("![{word}](block://{id})"),
            7 => format!("[{word}](invalid:out_of_scope#{})", self.dice.below(4)),
            8 => format!("`[{word}](block://{UNKNOWN})`"),
            9 => format!("[{word}]({})", self.file_url()),
            10 => format!("[{word}](date://2026-01-0{})", 1 + self.dice.below(3)),
            11 => {
                format!("**[*{word}*](block://{id})** &amp; [b](block://{})", self.id(Kind::Block))
            }
            _ => format!("[{word}](block://{id})"),
        }
    }

    /// Some text of a host.
    pub fn line(&mut self) -> String {
        self.text().replace('\n', " ")
    }

    /// A line of text, mostly with links.
    fn text(&mut self) -> String {
        let mut text = self.words();
        for _ in 0..self.dice.below(3) {
            text = format!("{text} {}", self.link());
        }
        if self.dice.once_in(40) { "zqcanary ".repeat(90) } else { text }
    }

    fn block(&mut self) -> Value {
        let text = self.text();
        match self.dice.below(12) {
            0 => json!({"type": "code", "rawCode": self.words(), "language": "rust"}),
            1 => {
                json!({"type": "richUrl", "url": self.url(), "title": text, "description": self.text()})
            }
            2 => {
                json!({"type": "table", "markdown": format!("| {} | b |\n| --- | --- |\n| c | {} |", self.link().replace('\n', " "), self.word())})
            }
            3 => {
                json!({"type": "page", "markdown": self.link(), "content": [{"type": "text", "markdown": text}]})
            }
            4 => json!({"type": "file", "url": self.file_url(), "fileName": "x.txt"}),
            5 => json!({"type": "image", "url": self.file_url(), "altText": self.link()}),
            6 => {
                json!({"type": "text", "markdown": text, "listStyle": "task", "taskInfo": {"scheduleDate": "tomorrow"}})
            }
            _ => json!({"type": "text", "markdown": text}),
        }
    }

    fn url(&mut self) -> String {
        match self.dice.below(4) {
            0 => format!("block://{}", self.id(Kind::Block)),
            1 => format!("BLOCK://{}?x=1", self.id(Kind::Block)),
            2 => format!("block://{}#{}", self.id(Kind::Block), self.word()),
            _ => format!("https://{}.example", self.word()),
        }
    }

    fn insert(&mut self) -> Call {
        let position = self.position();
        if self.flag() {
            let blocks: Vec<Value> = (0..=self.dice.below(3)).map(|_| self.block()).collect();
            return Call::new("insert", json!({"blocks": blocks, "position": position}));
        }
        let text = self.text();
        let markdown = match self.dice.below(6) {
            0 => format!(
                "<page>\n<pageTitle>{}</pageTitle>\n<content>\n\n{text}\n\n</content>\n</page>",
                self.words()
            ),
            1 => format!("- [ ] {text}\n- {}", self.words()),
            2 => format!("| {} |\n| --- |\n| {} |", self.words(), self.link().replace('\n', " ")),
            3 => format!("{text}\n\n> {}", self.text()),
            _ => text,
        };
        Call::new("insert", json!({"markdown": markdown, "position": position}))
    }

    /// Gives back what was shown, as it is or with a part of it changed.
    fn write_back(&mut self) -> Call {
        let shown: Vec<&Value> =
            self.caller.texts.values().filter(|block| block["type"] != "collectionItem").collect();
        let with_links: Vec<&Value> = shown
            .iter()
            .copied()
            .filter(|block| block.to_string().contains("out_of_scope"))
            .collect();
        let from = if with_links.is_empty() || self.dice.once_in(4) { shown } else { with_links };
        let Some(block) = self.dice.any(&from) else { return self.update() };
        let mut patch = json!({"id": block["id"]});
        for field in ["markdown", "title", "description", "url", "altText", "rawCode"] {
            let Some(text) = block[field].as_str().filter(|_| self.dice.below(5) > 0) else {
                continue;
            };
            let text = match self.dice.below(5) {
                0 => format!("{} {text}", self.word()),
                1 => text.replace("#2", "#1"),
                // Code and what follows the ID in an address are shown as they were written.
                2 if !["rawCode", "url"].contains(&field) => format!("{text} {}", self.link()),
                _ => text.to_owned(),
            };
            let own = field != "markdown"
                || ["text", "page", "table"].contains(&block["type"].as_str().unwrap_or_default());
            if own {
                patch[field] = text.into();
            }
        }
        if self.dice.once_in(3) {
            patch["rev"] = block["rev"].clone();
        }
        Call::new("update", json!({"blocks": [patch]}))
    }

    fn update(&mut self) -> Call {
        let mut patch = json!({"id": self.id(Kind::Block)});
        match self.dice.below(8) {
            0 => patch["listStyle"] = json!("task"),
            1 => patch["color"] = json!("#0060c0"),
            2 => patch["taskInfo"] = json!({"state": "done"}),
            3 => patch["rev"] = json!(77),
            4 => patch["url"] = json!(self.file_url()),
            5 => patch["type"] = json!("page"),
            _ => {}
        }
        if self.dice.below(4) > 0 {
            patch["markdown"] = self.text().into();
        }
        let mut patches = vec![patch];
        if self.dice.once_in(4) {
            patches.push(json!({"id": self.id(Kind::Block), "markdown": self.text()}));
        }
        Call::new("update", json!({"blocks": patches}))
    }

    fn comment(&mut self) -> Call {
        let comments: Vec<Value> = self
            .ids(Kind::Block)
            .into_iter()
            .map(|id| json!({"blockId": id, "content": self.remark()}))
            .collect();
        Call::new("comment", json!({"comments": comments}))
    }

    /// Gives documents new titles, or back as they were shown.
    fn update_documents(&mut self) -> Call {
        let id = self.id(Kind::Document);
        let mut patch = self
            .caller
            .listed
            .get(&id)
            .filter(|_| self.dice.once_in(2))
            .cloned()
            .unwrap_or_else(|| json!({"id": id}));
        match patch["title"].as_str() {
            Some(title) if self.dice.once_in(2) => {
                patch["title"] = format!("{} {title}", self.word()).into();
            }
            None => patch["title"] = self.remark().replace('\n', " ").into(),
            Some(_) => {}
        }
        Call::new("update_documents", json!({"documents": [patch]}))
    }

    /// The ID of a comment: mostly one that was seen.
    fn comment_id(&mut self) -> String {
        let (caller, guesses) = (self.caller, self.guesses);
        let seen: Vec<&String> = caller.comments.keys().collect();
        match self.dice.below(16) {
            0 => UNKNOWN.to_owned(),
            1 => (*self.dice.pick(&MALFORMED)).to_owned(),
            2 | 3 => self.dice.any(&guesses.comments).cloned().unwrap_or_default(),
            4 => self.id(Kind::Block),
            _ => self.dice.any(&seen).map_or_else(|| UNKNOWN.to_owned(), |id| (*id).clone()),
        }
    }

    fn list_comments(&mut self) -> Call {
        let mut body = if self.flag() {
            json!({"documentId": self.id(Kind::Document)})
        } else {
            json!({"blockIds": self.ids(Kind::Block)})
        };
        if self.dice.once_in(3) {
            body["resolved"] = json!(self.flag());
        }
        Call::new("list_comments", body)
    }

    /// Changes comments, or gives them back as they were shown.
    fn update_comments(&mut self) -> Call {
        let id = self.comment_id();
        let shown = self.caller.comments.get(&id).filter(|_| self.dice.once_in(2));
        let mut patch = shown.cloned().unwrap_or_else(|| json!({"id": id}));
        match (self.dice.below(4), patch["content"].as_str()) {
            (0, Some(content)) => patch["content"] = format!("{content} {}", self.word()).into(),
            (1, None) => patch["content"] = self.remark().into(),
            (2, _) => patch["resolved"] = json!(self.flag()),
            _ => {}
        }
        Call::new("update_comments", json!({"comments": [patch]}))
    }

    /// What a comment says of files is shown as it was written: it shows none.
    fn remark(&mut self) -> String {
        let guesses = Guesses { files: Vec::new(), ..self.guesses.clone() };
        Asking { caller: self.caller, guesses: &guesses, dice: self.dice }.text()
    }

    fn upload(&mut self) -> Call {
        let mut body = self.position();
        body["fileName"] = format!("{}.txt", self.word()).into();
        if self.dice.once_in(6) {
            body["contentType"] = "?".into();
        }
        Call::new("upload", body)
    }

    fn file(&mut self, operation: &'static str) -> Call {
        let url = self.file_url();
        let id = url
            .strip_prefix("asset://")
            .and_then(|rest| rest.split('/').next())
            .unwrap_or_default();
        Call::new(operation, json!({"id": id}))
    }

    fn list_collections(&mut self) -> Call {
        let mut body = json!({});
        if self.dice.below(4) > 0 {
            body["documentIds"] = json!(self.ids(Kind::Document));
            if self.flag() {
                body["documentFilterMode"] = json!(*self.dice.pick(&["include", "exclude"]));
            }
        }
        Call::new("collections", body)
    }

    fn property(&mut self) -> Value {
        // Names and keys that a hidden property may have already.
        let name = *self.dice.pick(&[
            "Due",
            "Genre",
            "Title",
            "Hidden",
            "Zqcanary key",
            "Zqcanary end",
            "amber",
        ]);
        let mut property = match self.dice.below(5) {
            0 => {
                json!({"name": name, "type": "select", "options": [{"name": "Open"}, {"name": self.word()}]})
            }
            1 => {
                let mut relation = json!({"name": name, "type": "relation", "targetCollectionId": self.id(Kind::Collection)});
                if self.flag() {
                    relation["inverseKey"] = json!(*self.dice.pick(&[
                        "genre",
                        "title",
                        "hidden",
                        "zqcanary_end",
                        "back"
                    ]));
                }
                if self.dice.once_in(4) {
                    relation["targetCollectionId"] = json!("self");
                }
                relation
            }
            2 => json!({"name": name, "type": "number"}),
            _ => {
                json!({"name": name, "type": *self.dice.pick(&["text", "url", "date", "multiSelect"])})
            }
        };
        if self.dice.once_in(3) {
            property["key"] = json!(*self.dice.pick(&[
                "title",
                "genre",
                "hidden",
                "due",
                "zqcanary_key",
                "zqcanary_end"
            ]));
        }
        property
    }

    fn create_collection(&mut self) -> Call {
        let properties: Vec<Value> = (0..self.dice.below(4)).map(|_| self.property()).collect();
        let schema = json!({"name": self.words(), "properties": properties});
        Call::new("create_collection", json!({"schema": schema, "position": self.position()}))
    }

    fn schema(&mut self) -> Call {
        let mut body = json!({"collectionId": self.id(Kind::Collection)});
        if self.dice.below(3) > 0 {
            body["format"] = json!("schema");
        }
        Call::new("schema", body)
    }

    fn replace_schema(&mut self) -> Call {
        let collection = self.id(Kind::Collection);
        let known = self.caller.tables.get(&collection).and_then(|table| table.schema.clone());
        let mut schema = known.unwrap_or_else(|| json!({"name": self.words(), "properties": []}));
        if let Some(properties) = schema["properties"].as_array_mut() {
            match self.dice.below(6) {
                0 if !properties.is_empty() => {
                    drop(properties.remove(self.dice.below(properties.len())))
                }
                1 if !properties.is_empty() => {
                    let at = self.dice.below(properties.len());
                    properties[at]["name"] =
                        json!(*self.dice.pick(&["Renamed", "Zqcanary key", "Hidden"]));
                }
                2 if !properties.is_empty() => {
                    let at = self.dice.below(properties.len());
                    properties[at]["type"] = json!(*self.dice.pick(&["text", "number"]));
                }
                3 => {}
                _ => {
                    let at = self.dice.below(properties.len() + 1);
                    let new: Vec<Value> =
                        (0..=self.dice.below(3)).map(|_| self.property()).collect();
                    properties.splice(at..at, new);
                }
            }
        }
        let mut body = json!({"collectionId": collection, "schema": schema});
        if self.flag() {
            body["dropUnconvertible"] = json!(true);
        }
        Call::new("replace_schema", body)
    }

    fn items(&mut self, operation: &'static str) -> Call {
        let mut body = json!({"collectionId": self.id(Kind::Collection)});
        self.page(&mut body);
        Call::new(operation, body)
    }

    fn page(&mut self, body: &mut Value) {
        if self.flag() {
            body["limit"] = json!(self.dice.below(4));
        }
        if self.flag() {
            body["maxDepth"] = json!(self.dice.below(2));
        }
        if self.dice.once_in(12) {
            body["cursor"] = json!(*self.dice.pick(&["x", "AAAA", ""]));
        }
    }

    /// The properties that the caller knows of a collection, with their types.
    fn properties(&self, collection: &str) -> Vec<(String, String, Value)> {
        let schema = self.caller.tables.get(collection).and_then(|table| table.schema.as_ref());
        let properties =
            schema.and_then(|schema| schema["properties"].as_array()).into_iter().flatten();
        properties
            .map(|property| (text(&property["key"]), text(&property["type"]), property.clone()))
            .collect()
    }

    fn value(&mut self, kind: &str, property: &Value) -> Value {
        if self.dice.once_in(20) {
            return self
                .dice
                .pick(&[json!(null), json!("x"), json!([1]), json!({"relations": 1})])
                .clone();
        }
        match kind {
            "number" => json!(self.dice.below(5)),
            "boolean" => json!(self.flag()),
            "date" => json!(format!("2026-01-0{}", 1 + self.dice.below(5))),
            "url" => json!(self.url()),
            "singleSelect" => json!(*self.dice.pick(&["Open", "Done", "amber", "zqcanary_end"])),
            "multiSelect" => json!(["Open", self.word()]),
            "relation" => {
                let target = text(&property["targetCollectionId"]);
                let known: Vec<&String> =
                    self.caller.tables.get(&target).iter().flat_map(|table| &table.items).collect();
                let mut related: Vec<String> =
                    self.dice.any(&known).map(|id| (*id).clone()).into_iter().collect();
                if self.dice.once_in(6) {
                    related.push(self.id(Kind::Item));
                }
                if self.flag() {
                    json!(related)
                } else {
                    json!({"relations": related.iter().map(|id| json!({"blockId": id})).collect::<Vec<_>>()})
                }
            }
            _ => json!(self.text()),
        }
    }

    fn values(&mut self, collection: &str) -> Value {
        let mut values = Map::new();
        for (key, kind, property) in self.properties(collection) {
            if self.dice.once_in(2) {
                values.insert(key, self.value(&kind, &property));
            }
        }
        if self.dice.once_in(12) {
            let key = *self.dice.pick(&[
                "title",
                "hidden",
                "genre",
                "zqcanary_key",
                "zqcanary_end",
                "nothing",
            ]);
            let value = json!([self.id(Kind::Item)]);
            values.insert(key.to_owned(), value);
        }
        Value::Object(values)
    }

    fn add_items(&mut self) -> Call {
        let collection = self.id(Kind::Collection);
        let items: Vec<Value> = (0..=self.dice.below(2))
            .map(|_| {
                let name = *self.dice.pick(&["title", "title", "title", "label"]);
                let mut item = json!({name: self.line(), "properties": self.values(&collection)});
                if self.dice.once_in(3) {
                    item["content"] = json!([self.block()]);
                }
                item
            })
            .collect();
        let mut body = json!({"collectionId": collection, "items": items});
        if self.dice.below(4) > 0 {
            body["allowNewSelectOptions"] = json!(true);
        }
        Call::new("add_items", body)
    }

    /// An item of the collection, mostly.
    fn item_of(&mut self, collection: &str) -> String {
        let known: Vec<&String> =
            self.caller.tables.get(collection).iter().flat_map(|table| &table.items).collect();
        match self.dice.any(&known) {
            Some(id) if self.dice.below(8) > 0 => (*id).clone(),
            _ => self.id(Kind::Item),
        }
    }

    fn update_items(&mut self) -> Call {
        let collection = self.id(Kind::Collection);
        let mut update =
            json!({"id": self.item_of(&collection), "properties": self.values(&collection)});
        if self.flag() {
            let name = *self.dice.pick(&["title", "label"]);
            update[name] = json!(self.words());
        }
        Call::new(
            "update_items",
            json!({"collectionId": collection, "itemsToUpdate": [update], "allowNewSelectOptions": self.flag()}),
        )
    }

    fn delete_items(&mut self) -> Call {
        let collection = self.id(Kind::Collection);
        Call::new(
            "delete_items",
            json!({"collectionId": collection, "idsToDelete": [self.item_of(&collection)]}),
        )
    }

    fn condition(&mut self, collection: &str) -> Value {
        let known = self.properties(collection);
        let property = self.dice.any(&known).cloned();
        let (key, kind, property) = match property {
            Some(property) if self.dice.below(6) > 0 => property,
            _ => {
                let key = *self.dice.pick(&[
                    "title",
                    "label",
                    "hidden",
                    "genre",
                    "zqcanary_key",
                    "zqcanary_end",
                ]);
                (key.to_owned(), "relation".to_owned(), json!({}))
            }
        };
        let mut condition = json!({"property": key});
        match (self.dice.below(3), kind.as_str()) {
            (0, _) => condition["isEmpty"] = json!(self.flag()),
            (_, "relation" | "multiSelect") => {
                let operator = *self.dice.pick(&["anyOf", "allOf", "equals", "notEquals"]);
                condition[operator] = self.value(&kind, &property);
            }
            (_, "number") => condition["greaterThan"] = self.value(&kind, &property),
            (_, "date") => condition["onOrBefore"] = self.value(&kind, &property),
            _ => condition["contains"] = json!(self.word()),
        }
        match self.dice.below(6) {
            0 => json!({"not": condition}),
            1 => json!({"or": [condition, self.condition(collection)]}),
            _ => condition,
        }
    }

    fn key(&mut self, collection: &str) -> String {
        let known = self.properties(collection);
        match self.dice.any(&known) {
            Some((key, ..)) if self.dice.below(5) > 0 => key.clone(),
            _ => (*self.dice.pick(&[
                "title",
                "label",
                "hidden",
                "genre",
                "zqcanary_key",
                "zqcanary_end",
            ]))
            .to_owned(),
        }
    }

    fn query(&mut self) -> Call {
        let collection = self.id(Kind::Collection);
        let mut body = json!({"collectionId": collection});
        self.page(&mut body);
        if self.flag() {
            body["filter"] = self.condition(&collection);
        }
        if self.flag() {
            body["sort"] = json!([{"property": self.key(&collection), "direction": *self.dice.pick(&["ascending", "descending"])}]);
        }
        Call::new("query", body)
    }

    fn count(&mut self) -> Call {
        let collection = self.id(Kind::Collection);
        let mut body = json!({"collectionId": collection});
        if self.flag() {
            body["filter"] = self.condition(&collection);
        }
        if self.flag() {
            body["groupBy"] = json!(self.key(&collection));
        }
        Call::new("count", body)
    }

    fn search(&mut self) -> Call {
        let mut body = json!({"fetchMetadata": self.flag()});
        if self.dice.below(4) > 0 {
            body["include"] = match self.dice.below(8) {
                0 => json!("zqcanary"),
                // A hidden word, misspelt, and a shown one.
                3 => json!("zqcanray"),
                4 => json!(misspelt(self.word())),
                1 => json!(["amb", "zqcanary1"]),
                2 => json!(format!("\"{} {}\"", self.word(), self.word())),
                _ => json!(self.words()),
            };
            body["termMode"] = json!(*self.dice.pick(&["all", "any", "most"]));
        } else {
            body["regexps"] = json!(self.pattern());
        }
        if self.flag() {
            body["limit"] = json!(1 + self.dice.below(3));
        }
        match self.dice.below(6) {
            0 => body["weights"] = json!({"links": 2, "headings": 1}),
            1 => body["weights"] = json!({"recency": 3, "halfLifeDays": 0.01, "title": 0}),
            2 => body["group"] = json!("block"),
            3 => {
                body["weights"] = json!({"recency": 1, "links": 1});
                body["group"] = json!("block");
            }
            _ => {}
        }
        if self.dice.once_in(3) {
            // A model that hidden vectors have alone, and numbers of components of both.
            let model = *self.dice.pick(&[SEEN_MODEL, SEEN_MODEL, SEEN_MODEL, HIDDEN_MODEL]);
            let vector = match self.dice.below(8) {
                0 => json!([0.5, 1, 0]),
                _ => json!(self.dice.pick(&VECTORS)),
            };
            body["embedding"] = json!({"model": model, "vector": vector});
            if self.flag() {
                // Nothing but the vector.
                let fields = body.as_object_mut().unwrap();
                for name in ["include", "regexps", "termMode"] {
                    fields.remove(name);
                }
            }
        }
        match self.dice.below(8) {
            0 | 1 => body["documentIds"] = json!(self.ids(Kind::Document)),
            2 => {
                body["documentIds"] = json!(self.ids(Kind::Document));
                body["documentFilterMode"] = json!("exclude");
            }
            3 => body["lastModifiedDateGte"] = json!("2026-01-02"),
            4 => {
                body["location"] =
                    json!(*self.dice.pick(&["unsorted", "trash", "templates", "daily_notes"]))
            }
            5 => body["folderIds"] = json!([self.id(Kind::Block)]),
            _ => {}
        }
        Call::new("search", body)
    }

    fn pattern(&mut self) -> String {
        let id = self.guess(Kind::Block);
        match self.dice.below(8) {
            0 => "zqcanary".to_owned(),
            1 => format!("block://{}", &id[..id.len().min(4)]),
            2 => "block://[0-9A-Z]{26}".to_owned(),
            3 => "out_of_scope#1".to_owned(),
            4 => "(a".to_owned(),
            5 => ".*".to_owned(),
            _ => format!(r"\b{}", &self.word()[..3]),
        }
    }

    fn search_blocks(&mut self) -> Call {
        let kind = *self.dice.pick(&[
            Kind::Document,
            Kind::Document,
            Kind::Parent,
            Kind::Collection,
            Kind::Block,
        ]);
        let mut body = json!({"blockId": self.id(kind), "pattern": self.pattern()});
        if self.flag() {
            body["beforeBlockCount"] = json!(self.dice.below(3));
            body["afterBlockCount"] = json!(self.dice.below(3));
        }
        if self.flag() {
            body["limit"] = json!(1 + self.dice.below(2));
        }
        Call::new("search_blocks", body)
    }

    /// Goes on where a reply of some time ago ended.
    fn next_page(&mut self) -> Call {
        match self.dice.any(&self.caller.pages) {
            Some(call) => call.clone(),
            None => self.items("items"),
        }
    }
}

/// A word with its last letters swapped.
fn misspelt(word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let last = letters.len() - 1;
    letters.swap(last - 1, last);
    letters.into_iter().collect()
}

/// Whether some of the lines are code. What is written to such a page may become code with the next
/// change, and code shows what its author wrote: an ID there that the guest knows is not a leak.
fn has_code(lines: &[String]) -> bool {
    lines.iter().any(|line| line.contains("```"))
}
