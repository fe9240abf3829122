//! What happens outside the scope: everything that a space can hold, with a word in each text by
//! which it is known.

use std::cell::Cell;

use leafbase::{
    BlockId, BlockPatch, Connection, CreateFromTemplate, DayRef, DeleteBlocks, DeleteDocuments,
    DeleteFolders, Destination, DocumentId, EmbeddingDraft, FolderId, MoveBlocks, MoveDocuments,
    Position, PurgeDocuments, PutEmbeddings, RemoveEmbeddings, Schema, UploadFile,
};
use serde_json::{Map, Value, json};

use super::dice::Dice;
use super::world::read;

/// Every hidden text has this in it.
pub const CANARY: &str = "zqcanary";
pub const AUTHOR: &str = "zqcanary author";
/// Words that are in hidden texts and in those of the scope.
pub const WORDS: [&str; 7] = ["amber", "birch", "cedar", "delta", "water", "#amber", "#Birch/elm"];

/// The model that vectors of the scope and hidden ones have in common.
pub const SEEN_MODEL: &str = "m";
/// A model of hidden vectors alone, which have one component more.
pub const HIDDEN_MODEL: &str = "zqcanary model";
/// The vectors of [`SEEN_MODEL`].
pub const VECTORS: [[f32; 2]; 4] = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-1.0, 0.5]];

/// What the hidden edits of a world know of it.
#[derive(Clone)]
pub struct Hidden {
    dice: Dice,
    count: Cell<usize>,
    pub documents: Vec<DocumentId>,
    pub trashed: Vec<DocumentId>,
    pub blocks: Vec<BlockId>,
    pub collections: Vec<BlockId>,
    pub items: Vec<(BlockId, BlockId)>,
    pub files: Vec<String>,
    pub comments: Vec<String>,
    folders: Vec<FolderId>,
    /// Whether collections of the scope are related to hidden ones from the first.
    relates: bool,
    /// Whether there are more hidden documents than a search gives.
    is_crowded: bool,
}

impl Hidden {
    pub fn new(mut dice: Dice) -> Self {
        let (relates, is_crowded) = (dice.below(4) > 0, dice.once_in(8));
        Self {
            dice,
            count: Cell::new(0),
            documents: Vec::new(),
            trashed: Vec::new(),
            blocks: Vec::new(),
            collections: Vec::new(),
            items: Vec::new(),
            files: Vec::new(),
            comments: Vec::new(),
            folders: Vec::new(),
            relates,
            is_crowded,
        }
    }

    /// A word that is nowhere else.
    fn canary(&self) -> String {
        self.count.set(self.count.get() + 1);
        format!("{CANARY}{}", self.count.get())
    }

    fn text(&self, dice: &mut Dice) -> String {
        let words: Vec<_> = (0..dice.below(4)).map(|_| *dice.pick(&WORDS)).collect();
        // Names that may be those of what is seen.
        let name =
            if dice.once_in(4) { format!("[[{}]] ", dice.pick(&WORDS)) } else { String::new() };
        format!("{name}{} {}", self.canary(), words.join(" "))
    }

    /// What is there from the first.
    pub fn begin(&mut self, notes: &Connection) {
        let mut dice = self.dice.clone();
        for _ in 0..=dice.below(3) {
            self.make_document(notes, &mut dice);
        }
        if self.is_crowded {
            for _ in 0..22 {
                let made = notes
                    .create_document(&format!("{} {}", self.canary(), WORDS.join(" ")))
                    .unwrap();
                self.documents.push(made.id());
            }
        }
        for _ in 0..=dice.below(2) {
            self.make_collection(notes, &mut dice, &[]);
            self.add_items(notes, &mut dice, &[]);
        }
        self.make_trashed(notes, &mut dice);
        for _ in 0..dice.below(3) {
            self.embed(notes, &mut dice);
        }
        self.dice = dice;
    }

    /// Relations from hidden collections to those of the scope.
    pub fn relate(&mut self, notes: &Connection, collections: &[BlockId]) {
        let mut dice = self.dice.clone();
        for _ in 0..dice.below(3) {
            self.make_collection(notes, &mut dice, collections);
            self.add_items(notes, &mut dice, collections);
        }
        self.dice = dice;
    }

    /// Relations that a collection of the scope has to hidden ones when it is made.
    pub fn properties_to_be_hidden(&mut self) -> Vec<Value> {
        if !self.relates || self.collections.is_empty() {
            return Vec::new();
        }
        let target = *self.dice.pick(&self.collections);
        let name = format!("{} related", self.canary());
        // Keys that a caller may hit upon.
        let key = *self.dice.pick(&["title", "hidden", "genre", "zqcanary_key"]);
        vec![
            json!({"key": key, "name": name, "type": "relation", "targetCollectionId": target, "single": self.dice.once_in(3)}),
        ]
    }

    /// Values of these relations, for an item of that schema.
    pub fn values_to_be_hidden(&mut self, schema: &Schema, values: &mut Map<String, Value>) {
        for property in &schema.properties {
            let Some(relation) = property.kind.relation() else { continue };
            let of_target = |(collection, _): &&(BlockId, BlockId)| *collection == relation.target;
            let items: Vec<BlockId> =
                self.items.iter().filter(of_target).map(|(_, item)| *item).collect();
            if let Some(item) = self.dice.any(&items) {
                values.insert(property.key.clone(), json!([item]));
            }
        }
    }

    fn make_document(&mut self, notes: &Connection, dice: &mut Dice) -> String {
        let is_named_alike = dice.once_in(3);
        let title = if is_named_alike { (*dice.pick(&WORDS)).to_owned() } else { self.text(dice) };
        let made = notes.create_document(&title).unwrap().id();
        self.documents.push(made);
        self.insert(notes, dice, made.root(), &[]);
        format!("make the document {made}")
    }

    fn make_trashed(&mut self, notes: &Connection, dice: &mut Dice) {
        let made = notes.create_document(&self.text(dice)).unwrap().id();
        self.insert(notes, dice, made.root(), &[]);
        if notes.delete_documents(DeleteDocuments::from(made)).is_ok() {
            self.trashed.push(made);
        }
    }

    pub fn insert(
        &mut self,
        notes: &Connection,
        dice: &mut Dice,
        page: BlockId,
        seen: &[BlockId],
    ) -> String {
        let link = dice
            .any(seen)
            .map_or(String::new(), |seen| format!(" [{}](block://{seen})", self.canary()));
        let text = self.text(dice);
        let blocks = match dice.below(6) {
            0 => json!([{"type": "code", "rawCode": text}]),
            1 => {
                json!([{"type": "richUrl", "url": format!("https://{}.example", self.canary()), "title": text, "description": self.canary()}])
            }
            2 => {
                json!([{"type": "page", "markdown": text, "content": [{"type": "text", "markdown": format!("{}{link}", self.text(dice))}]}])
            }
            3 => {
                json!([{"type": "text", "markdown": text, "listStyle": "task", "taskInfo": {"scheduleDate": "2026-01-01"}}])
            }
            _ => json!([{"type": "text", "markdown": format!("{text}{link}")}]),
        };
        let request = json!({"blocks": blocks, "position": {"position": "end", "pageId": page}});
        match notes.insert_blocks(read(&request)) {
            Ok(made) => self
                .blocks
                .extend(made.iter().flat_map(leafbase::Block::walk).map(|(_, block)| block.id)),
            Err(error) => return format!("{request}: {error}"),
        }
        format!("insert {request}")
    }

    fn make_collection(&mut self, notes: &Connection, dice: &mut Dice, seen: &[BlockId]) -> String {
        let Some(home) = dice.any(&self.documents).copied() else { return String::new() };
        let mut properties = vec![
            json!({"name": self.text(dice), "type": "text"}),
            json!({"name": self.canary(), "type": "select", "options": [{"name": self.canary()}]}),
        ];
        if let Some(target) = dice.any(seen) {
            let mut relation =
                json!({"name": self.canary(), "type": "relation", "targetCollectionId": target});
            // Its other end has a key that a caller may hit upon, or is named for this collection.
            if dice.below(3) > 0 {
                relation["inverseKey"] =
                    Value::from(*dice.pick(&["title", "genre", "zqcanary_end", "label_2"]));
            }
            relation["single"] = Value::from(dice.once_in(3));
            properties.insert(dice.below(3), relation);
        }
        let schema = json!({"name": self.text(dice), "properties": properties});
        let request = json!({"schema": schema, "position": {"position": "end", "pageId": home}});
        match notes.create_collection(read(&request)) {
            Ok(made) => self.collections.push(made.id),
            Err(error) => return format!("{request}: {error}"),
        }
        format!("collection {request}")
    }

    /// Items of a hidden collection, related to some that are seen.
    fn add_items(&mut self, notes: &Connection, dice: &mut Dice, seen: &[BlockId]) -> String {
        let Some(collection) = dice.any(&self.collections).copied() else { return String::new() };
        let Ok(schema) = notes.schema(collection) else { return String::new() };
        let mut items = Vec::new();
        for _ in 0..=dice.below(2) {
            items.push(json!({"title": self.text(dice), "properties": self.values(notes, dice, &schema, seen)}));
        }
        let request =
            json!({"collectionId": collection, "items": items, "allowNewSelectOptions": true});
        match notes.add_items(read(&request)) {
            Ok(added) => self.items.extend(added.iter().map(|item| (collection, item.id))),
            Err(error) => return format!("{request}: {error}"),
        }
        format!("items {request}")
    }

    fn values(
        &self,
        notes: &Connection,
        dice: &mut Dice,
        schema: &Schema,
        seen: &[BlockId],
    ) -> Value {
        let mut values = Map::new();
        for property in &schema.properties {
            let value = match &property.kind {
                leafbase::PropertyKind::Relation(relation) if seen.contains(&relation.target) => {
                    let Ok(items) = notes.items(relation.target) else { continue };
                    let ids: Vec<_> = items
                        .items
                        .iter()
                        .map(|item| item.id)
                        .filter(|_| dice.once_in(2))
                        .collect();
                    json!(if relation.single { &ids[..ids.len().min(1)] } else { &ids[..] })
                }
                leafbase::PropertyKind::Text | leafbase::PropertyKind::SingleSelect(_) => {
                    Value::from(self.canary())
                }
                _ => continue,
            };
            values.insert(property.key.clone(), value);
        }
        Value::Object(values)
    }

    /// Some edit of the rest of the space. Gives it in words; what is refused leaves all as it was.
    pub fn edit(
        &mut self,
        notes: &Connection,
        dice: &mut Dice,
        documents: &[DocumentId],
        collections: &[BlockId],
    ) -> String {
        let of_schema = |collection: &BlockId| notes.document_of(*collection).is_ok();
        let seen: Vec<BlockId> = collections.iter().copied().filter(of_schema).collect();
        match dice.below(26) {
            0 => self.make_document(notes, dice),
            1..=3 => match dice.any(&self.documents).copied() {
                Some(home) => self.insert(notes, dice, home.root(), &seen),
                None => self.make_document(notes, dice),
            },
            4 => self.change_block(notes, dice, &seen),
            5 => self.make_collection(notes, dice, &seen),
            6 | 7 => self.add_items(notes, dice, &seen),
            8..=10 => self.update_item(notes, dice, &seen),
            11 => self.delete_item(notes, dice),
            12 => self.drop_column(notes, dice),
            13 => self.trash_or_restore(notes, dice),
            14 => self.folders(notes, dice, documents),
            15 | 16 => self.keep_elsewhere(notes, dice, documents),
            17 => self.tasks_and_days(notes, dice),
            18 => self.comment(notes, dice),
            19 => self.upload(notes, dice),
            20 => self.undo(notes),
            21 => self.templates(notes, dice),
            22 => self.delete_collection(notes, dice),
            23 | 24 => self.embed(notes, dice),
            _ => self.delete_document(notes, dice),
        }
    }

    /// Gives a hidden block or document a vector, or takes all vectors of the hidden model away.
    fn embed(&self, notes: &Connection, dice: &mut Dice) -> String {
        if dice.once_in(6) {
            return told(
                "remove the vectors of",
                HIDDEN_MODEL,
                notes.remove_embeddings(RemoveEmbeddings::all(HIDDEN_MODEL)),
            );
        }
        let documents = self.documents.iter().map(|document| document.root());
        let targets: Vec<BlockId> = self.blocks.iter().copied().chain(documents).collect();
        let Some(target) = dice.any(&targets).copied() else { return String::new() };
        let (model, vector) = match dice.below(3) {
            0 => (HIDDEN_MODEL, vec![0.5, 1.0, -0.5]),
            _ => (SEEN_MODEL, dice.pick(&VECTORS).to_vec()),
        };
        let drafts = [EmbeddingDraft::new(target, vector)];
        told("embed", target, notes.put_embeddings(PutEmbeddings::new(model, drafts)))
    }

    /// A document with something in it, for a page of the scope.
    pub fn make_holder(&mut self, notes: &Connection) -> DocumentId {
        let mut dice = self.dice.clone();
        let holder = notes.create_document(&self.text(&mut dice)).unwrap().id();
        for _ in 0..dice.below(3) {
            self.insert(notes, &mut dice, holder.root(), &[]);
        }
        self.dice = dice;
        holder
    }

    /// Changes the title of a document.
    pub fn rename(&self, notes: &Connection, dice: &mut Dice, document: DocumentId) -> String {
        told("rename", document, notes.update_markdown(document.root(), &self.text(dice)))
    }

    fn change_block(&mut self, notes: &Connection, dice: &mut Dice, seen: &[BlockId]) -> String {
        let Some(block) = dice.any(&self.blocks).copied() else { return String::new() };
        match dice.below(3) {
            0 => told("delete", block, notes.delete_blocks(DeleteBlocks::from(block))),
            1 => {
                let Some(home) = dice.any(&self.documents).copied() else { return String::new() };
                told(
                    "move",
                    block,
                    notes.move_blocks(MoveBlocks::new([block], Position::end_of(home))),
                )
            }
            _ => {
                let link =
                    dice.any(seen).map_or(String::new(), |seen| format!(" [x](block://{seen})"));
                let text = format!("{}{link}", self.text(dice));
                told("change", block, notes.update_blocks(BlockPatch::markdown(block, text).into()))
            }
        }
    }

    /// Relates an item to others than before, from the hidden side.
    fn update_item(&mut self, notes: &Connection, dice: &mut Dice, seen: &[BlockId]) -> String {
        let Some((collection, item)) = dice.any(&self.items).copied() else { return String::new() };
        let Ok(schema) = notes.schema(collection) else { return String::new() };
        let change = json!({"id": item, "title": self.text(dice), "properties": self.values(notes, dice, &schema, seen)});
        let request = json!({"collectionId": collection, "itemsToUpdate": [change], "allowNewSelectOptions": true});
        told("update item", &request, notes.update_items(read(&request)))
    }

    fn delete_item(&mut self, notes: &Connection, dice: &mut Dice) -> String {
        let Some((collection, item)) = dice.any(&self.items).copied() else { return String::new() };
        let request = json!({"collectionId": collection, "idsToDelete": [item]});
        told("delete item", item, notes.delete_items(read(&request)))
    }

    /// Takes a column out of a hidden collection, with its other end.
    fn drop_column(&mut self, notes: &Connection, dice: &mut Dice) -> String {
        let Some(collection) = dice.any(&self.collections).copied() else { return String::new() };
        let Ok(mut schema) = notes.schema(collection) else { return String::new() };
        if !schema.properties.is_empty() {
            schema.properties.remove(dice.below(schema.properties.len()));
        }
        let request = leafbase::ReplaceSchema::new(collection, schema).dropping_unconvertible();
        told("drop a column of", collection, notes.replace_schema(request))
    }

    fn trash_or_restore(&mut self, notes: &Connection, dice: &mut Dice) -> String {
        let Some(document) = dice.any(&self.documents).copied() else { return String::new() };
        match notes.delete_documents(DeleteDocuments::from(document)) {
            Ok(_) => format!("trash {document}"),
            Err(_) => {
                let request = MoveDocuments::new([document], Destination::Unsorted);
                told("restore", document, notes.move_documents(request))
            }
        }
    }

    fn folders(&mut self, notes: &Connection, dice: &mut Dice, documents: &[DocumentId]) -> String {
        match dice.any(&self.folders).copied() {
            Some(folder) if dice.once_in(3) => {
                told("delete", folder, notes.delete_folders(DeleteFolders::new([folder])))
            }
            Some(folder) => self.keep(notes, dice, documents, Destination::Folder(folder)),
            None => {
                let made = notes.create_folder(&self.text(dice), None);
                self.folders.extend(made.iter().map(|folder| folder.id));
                told("make a folder", self.folders.len(), made)
            }
        }
    }

    /// Where documents are kept is the rest of the space's: of those in the scope, too.
    fn keep_elsewhere(
        &mut self,
        notes: &Connection,
        dice: &mut Dice,
        documents: &[DocumentId],
    ) -> String {
        let destination = match dice.any(&self.folders).copied() {
            Some(folder) if dice.once_in(2) => Destination::Folder(folder),
            _ if dice.once_in(2) => Destination::Templates,
            _ => Destination::Unsorted,
        };
        self.keep(notes, dice, documents, destination)
    }

    fn keep(
        &self,
        notes: &Connection,
        dice: &mut Dice,
        documents: &[DocumentId],
        at: Destination,
    ) -> String {
        // What is in the trash would be restored.
        let kept = |document: &&DocumentId| {
            notes
                .document(**document)
                .is_ok_and(|found| found.record.location != leafbase::Location::Trash)
        };
        let all: Vec<DocumentId> =
            documents.iter().chain(&self.documents).filter(kept).copied().collect();
        let Some(document) = dice.any(&all).copied() else { return String::new() };
        told("keep elsewhere", document, notes.move_documents(MoveDocuments::new([document], at)))
    }

    fn tasks_and_days(&mut self, notes: &Connection, dice: &mut Dice) -> String {
        if dice.once_in(2) {
            let request = json!({"tasks": [{"markdown": self.text(dice)}]});
            return told("task", &request, notes.add_tasks(read(&request)));
        }
        let text = self.text(dice);
        let day = if dice.once_in(2) { DayRef::Today } else { DayRef::Tomorrow };
        told("daily note", &text, notes.insert_markdown(&text, Position::end_of_day(day)))
    }

    fn comment(&mut self, notes: &Connection, dice: &mut Dice) -> String {
        if let Some(comment) = dice.any(&self.comments).cloned().filter(|_| dice.once_in(2)) {
            if dice.once_in(4) {
                let request = json!({"commentIds": comment});
                return told("delete comment", &request, notes.delete_comments(read(&request)));
            }
            let patch = json!({"id": comment, "content": self.text(dice), "resolved": true});
            let request = json!({"comments": [patch]});
            return told("change comment", &request, notes.update_comments(read(&request)));
        }
        let Some(block) = dice.any(&self.blocks).copied() else { return String::new() };
        let request = json!({"comments": [{"blockId": block, "content": self.text(dice)}]});
        let added = notes.add_comments(read(&request));
        self.comments.extend(
            added.iter().flat_map(|added| added.iter().map(|added| added.comment_id.to_string())),
        );
        told("comment", &request, added)
    }

    fn upload(&mut self, notes: &Connection, dice: &mut Dice) -> String {
        let Some(home) = dice.any(&self.documents).copied() else { return String::new() };
        let request =
            UploadFile::new(home).named(format!("{}.txt", self.canary())).of_type("text/plain");
        let made = notes.upload_file(request, self.text(dice).as_bytes());
        self.files.extend(made.iter().map(|file| file.asset_url.id().to_string()));
        told("upload to", home, made)
    }

    /// Undoes the last hidden write, if it was the last at all: relations come back with it.
    fn undo(&self, notes: &Connection) -> String {
        let last = notes.last_sequence().unwrap();
        let Some(Ok(change)) = notes.changes_since(last.saturating_sub(1)).next() else {
            return String::new();
        };
        if change.stamp.by.as_str() != AUTHOR
            || change.edits.iter().any(|edit| matches!(edit, leafbase::Edit::UpdateDocument { .. }))
        {
            return String::new();
        }
        let undone = change.inverse().and_then(|edits| notes.space().apply(notes.author(), &edits));
        told("undo", change.sequence, undone)
    }

    fn templates(&mut self, notes: &Connection, dice: &mut Dice) -> String {
        let Some(document) = dice.any(&self.documents).copied() else { return String::new() };
        let _ = notes.move_documents(MoveDocuments::new([document], Destination::Templates));
        let made = notes.create_from_template(CreateFromTemplate::new(document));
        self.documents.extend(made.iter().map(leafbase::Document::id));
        told("copy", document, made)
    }

    fn delete_collection(&mut self, notes: &Connection, dice: &mut Dice) -> String {
        let Some(collection) = dice.any(&self.collections).copied() else { return String::new() };
        told(
            "delete the collection",
            collection,
            notes.delete_blocks(DeleteBlocks::from(collection)),
        )
    }

    /// For good.
    fn delete_document(&mut self, notes: &Connection, dice: &mut Dice) -> String {
        let all: Vec<DocumentId> = self.documents.iter().chain(&self.trashed).copied().collect();
        let Some(document) = dice.any(&all).copied() else { return String::new() };
        let _ = notes.delete_documents(DeleteDocuments::from(document));
        told("purge", document, notes.purge_documents(PurgeDocuments::new([document])))
    }
}

/// What was done, and what came of it.
fn told<T>(what: &str, to: impl std::fmt::Display, outcome: leafbase::Result<T>) -> String {
    match outcome {
        Ok(_) => format!("{what} {to}"),
        Err(error) => format!("{what} {to}: {error}"),
    }
}
