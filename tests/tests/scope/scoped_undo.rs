//! Undo and redo on scoped connections: what a guest sees of a change is undone, and nothing else.

use std::time::Duration;

use leafbase::{
    AddComments, AddItems, ApplyMarkdown, Batch, BlockId, BlockPatch, CommentDraft, CompactOptions,
    Connection, CreateCollection, DeleteBlocks, DeleteComments, DeleteDocuments, DeleteItems,
    Destination, DocumentId, DuplicateBlocks, Error, ErrorKind, Fetch, GetItems, IndentBlocks,
    InsertBlocks, ItemDraft, ItemUpdate, ListComments, MergeBlock, MoveBlocks, MoveDocuments,
    Position, PropertyDraft, PropertyKind, Relation, ReplaceSchema, ReplaceText, SchemaDraft,
    Scope, Scoped, ScopedDocumentPatch, SortBlocks, Space, SplitBlock, UndoChanges, UpdateBlocks,
    UpdateItems, UpdateScopedDocuments, UploadFile,
};

/// A document with lines, a page, and two collections with a relation; the first has another one to
/// a collection that is hidden.
struct Desk {
    space: Space,
    notes: Connection,
    page: BlockId,
    lines: Vec<BlockId>,
    books: BlockId,
    people: BlockId,
    dune: BlockId,
    frank: BlockId,
    /// A document that is hidden, its collection, and the item that names `dune`.
    diary: DocumentId,
    shelves: BlockId,
    shelf: BlockId,
    guest: Connection<Scoped>,
}

fn collection(notes: &Connection, name: &str, at: Position, of: Option<BlockId>) -> BlockId {
    let properties = of.map(|target| PropertyDraft::new("Named", Relation::to(target).into()));
    let schema = SchemaDraft::new(name, Vec::from_iter(properties));
    notes.create_collection(CreateCollection::new(schema, at)).unwrap().id
}

fn item(notes: &Connection, collection: BlockId, draft: ItemDraft) -> BlockId {
    notes.add_items(AddItems::new(collection, [draft])).unwrap()[0].id
}

impl Desk {
    /// What `scope` makes of the document, and of its page, is what the guest has.
    fn new(scope: impl Fn(&Space, DocumentId, BlockId) -> Scope) -> Self {
        let space = Space::in_memory().unwrap();
        let notes = space.connect();
        let document = notes.create_document("Trip").unwrap().id();
        let page = notes.insert_markdown("Packing\n\nhidden or not", document).unwrap()[0].id;
        let at = Position::end_of(page);
        let lines = notes.insert_markdown("- one amber\n- two\n- three\n\n**last** amber", at);
        let lines = lines.unwrap().iter().map(|block| block.id).collect();
        let people = collection(&notes, "People", at, None);
        let books = collection(&notes, "Books", at, Some(people));
        let frank = item(&notes, people, ItemDraft::new("Frank"));
        let dune = ItemDraft::new("Dune").with("named", vec![frank.to_string()]);
        let dune = item(&notes, books, dune);
        let diary = notes.create_document("Diary").unwrap().id();
        let shelves = collection(&notes, "Shelves", Position::end_of(diary), Some(books));
        let shelf = ItemDraft::new("Top").with("named", vec![dune.to_string()]);
        let shelf = item(&notes, shelves, shelf);
        let guest = scope(&space, document, page).connect();
        Self { space, notes, page, lines, books, people, dune, frank, diary, shelves, shelf, guest }
    }

    fn of_document() -> Self {
        Self::new(|space, document, _| space.scope([document]))
    }

    /// All that the guest sees of the page, but for stamps and revisions.
    fn seen(&self) -> String {
        let page = self.guest.fetch(Fetch::new(self.page)).unwrap();
        let mut seen = vec![format!("{:?}", serde_json::to_value(page).unwrap())];
        seen.extend(self.guest.documents().unwrap().into_iter().map(|document| document.title));
        for collection in [self.books, self.people] {
            seen.push(match self.guest.items(GetItems::of(collection)) {
                Ok(items) => format!("{:?}", serde_json::to_value(items).unwrap()),
                Err(error) => error.to_string(),
            });
            seen.push(match self.guest.schema(collection) {
                Ok(schema) => format!("{:?}", schema.properties),
                Err(error) => error.to_string(),
            });
        }
        let comments = ListComments::of(self.guest.document_of(self.page).unwrap());
        let comments = self.guest.list_comments(comments).unwrap();
        seen.push(format!("{:?}", serde_json::to_value(comments).unwrap()));
        let revs = |text: &str| {
            let mut parts = text.split("\"rev\": Number(");
            let first = parts.next().unwrap_or_default().to_owned();
            parts.fold(first, |all, part| all + part.split_once(')').map_or("", |it| it.1))
        };
        seen.iter().map(|text| revs(text)).collect::<Vec<_>>().join("\n")
    }

    fn end(&self) -> Position {
        Position::end_of(self.page)
    }

    /// What the hidden item names.
    fn shelved(&self) -> usize {
        let items = self.notes.items(GetItems::of(self.shelves)).unwrap().items;
        items.iter().map(|item| item.related("named").len()).sum()
    }

    fn check(&self) {
        let report = self.space.check().unwrap();
        assert!(report.is_clean(), "{report:#?}");
    }

    fn undo_last(&self) -> Result<leafbase::ScopedChange, Error> {
        self.guest.undo(self.guest.last_sequence().unwrap())
    }
}

type Write = fn(&Desk, &Connection<Scoped>) -> Result<(), Error>;

/// Writes of a guest, each of which is undone and redone.
const WRITES: &[(&str, Write)] = &[
    ("insert", |desk, guest| guest.insert_markdown("new\n\nlines", desk.end()).map(drop)),
    ("insert into a text", |desk, guest| {
        guest.insert_markdown("child", Position::end_of(desk.lines[3])).map(drop)
    }),
    ("update", |desk, guest| guest.update_markdown(desk.lines[0], "ONE").map(drop)),
    ("update of several", |desk, guest| {
        let patches = desk.lines.iter().map(|line| BlockPatch::markdown(*line, "same"));
        guest.update_blocks(UpdateBlocks::new(patches)).map(drop)
    }),
    ("title", |desk, guest| {
        let document = guest.document_of(desk.page)?;
        let patch = ScopedDocumentPatch::of(document).titled("Journey");
        guest.update_documents(UpdateScopedDocuments::new([patch])).map(drop)
    }),
    ("delete", |desk, guest| {
        guest.delete_blocks(DeleteBlocks::new([desk.lines[1], desk.lines[3]])).map(drop)
    }),
    ("move", |desk, guest| {
        let to = Position::end_of(desk.lines[3]);
        guest.move_blocks(MoveBlocks::new([desk.lines[0], desk.lines[2]], to)).map(drop)
    }),
    ("split", |desk, guest| guest.split_block(SplitBlock::new(desk.lines[0], 2)).map(drop)),
    ("merge", |desk, guest| guest.merge_block(MergeBlock::from(desk.lines[1])).map(drop)),
    ("indent", |desk, guest| guest.indent_blocks(IndentBlocks::from(desk.lines[1])).map(drop)),
    ("duplicate", |desk, guest| {
        guest.duplicate_blocks(DuplicateBlocks::from(desk.lines[0])).map(drop)
    }),
    ("sort", |desk, guest| guest.sort_blocks(SortBlocks::of(desk.page)).map(drop)),
    ("apply", |desk, guest| {
        let text = guest.content_markdown(desk.page)?;
        let text = format!("new\n\n{}\n\nmore", text.replacen("amber", "birch", 1));
        guest.apply_markdown(ApplyMarkdown::new(desk.page, text)).map(drop)
    }),
    ("replace", |desk, guest| {
        guest.replace_text(ReplaceText::text("amber", "birch").within(desk.page)).map(drop)
    }),
    ("comment", |desk, guest| {
        guest.add_comments(AddComments::new([CommentDraft::new(desk.lines[0], "why")])).map(drop)
    }),
    ("add an item", |desk, guest| {
        let draft = ItemDraft::new("Emma").with("named", vec![desk.frank.to_string()]);
        guest.add_items(AddItems::new(desk.books, [draft])).map(drop)
    }),
    ("change an item", |desk, guest| {
        let update = ItemUpdate::of(desk.dune).with("named", Vec::<String>::new());
        guest.update_items(UpdateItems::new(desk.books, [update.with_title("Dune II")])).map(drop)
    }),
    ("delete an item", |desk, guest| {
        guest.delete_items(DeleteItems::new(desk.books, [desk.dune])).map(drop)
    }),
    ("delete the other end", |desk, guest| {
        guest.delete_items(DeleteItems::new(desk.people, [desk.frank])).map(drop)
    }),
    ("delete a collection", |desk, guest| {
        guest.delete_blocks(DeleteBlocks::from(desk.books)).map(drop)
    }),
    ("delete both collections", |desk, guest| {
        guest.delete_blocks(DeleteBlocks::new([desk.books, desk.people])).map(drop)
    }),
    ("make a collection", |desk, guest| {
        let relation = PropertyDraft::new("Of", Relation::to(desk.books).into());
        let schema = SchemaDraft::new("Lists", [relation]);
        guest.create_collection(CreateCollection::new(schema, desk.end())).map(drop)
    }),
    ("change a schema", |desk, guest| {
        let mut schema = SchemaDraft::from(guest.schema(desk.books)?);
        schema.name = "Volumes".to_owned();
        schema.properties.push(PropertyDraft::new("Pages", PropertyKind::Number));
        guest.replace_schema(ReplaceSchema::new(desk.books, schema)).map(drop)
    }),
    ("drop a property", |desk, guest| {
        let schema = SchemaDraft::new("Books", Vec::<PropertyDraft>::new());
        guest.replace_schema(ReplaceSchema::new(desk.books, schema)).map(drop)
    }),
    ("a batch", |desk, guest| {
        guest.batch(|batch| {
            let made = batch.insert_markdown("in a batch", desk.end())?[0].id;
            batch.move_blocks(MoveBlocks::new([desk.lines[2]], Position::after(made)))?;
            batch.update_markdown(made, "changed").map(drop)
        })
    }),
];

type MakeDesk = fn() -> Desk;

#[test]
fn what_a_guest_writes_is_undone_and_redone() {
    let kinds: [(&str, MakeDesk); 3] = [
        ("a document", Desk::of_document),
        ("a page", || Desk::new(|space, _, page| space.page_scope([page]))),
        ("a folder", || {
            Desk::new(|space, document, _| {
                let notes = space.connect();
                let folder = notes.create_folder("Shared", None).unwrap().id;
                notes.move_documents(MoveDocuments::new([document], folder)).unwrap();
                space.folder_scope([folder])
            })
        }),
    ];
    for (kind, desk) in kinds {
        for (name, write) in WRITES {
            let desk = desk();
            let what = format!("{name} in {kind}");
            let before = desk.seen();
            write(&desk, &desk.guest).unwrap_or_else(|error| panic!("{what}: {error:?}"));
            let after = desk.seen();
            assert_ne!(before, after, "{what}");
            let undone = desk.undo_last().unwrap_or_else(|error| panic!("{what}: {error:?}"));
            assert_eq!(desk.seen(), before, "{what}, undone");
            assert!(undone.sequence > 1 && undone.documents.len() == 1, "{what}: {undone:?}");
            desk.check();
            desk.guest.undo(undone.sequence).unwrap_or_else(|error| panic!("{what}: {error:?}"));
            assert_eq!(desk.seen(), after, "{what}, redone");
            desk.check();
            let mut undo = desk.guest.undo_manager();
            undo.notes().update_markdown(desk.page, "Bags").unwrap();
            assert!(undo.undo().unwrap().is_some() && undo.undo().unwrap().is_none());
            assert_eq!(desk.seen(), after, "{what}, and an undo stack");
        }
    }
}

/// A step of several edits, which compaction merges, or drops, before the feed reads them.
#[test]
fn an_undo_stack_outlives_a_compaction() {
    let scopes: [(&str, MakeDesk); 2] = [
        ("a document", Desk::of_document),
        ("a page", || Desk::new(|space, _, page| space.page_scope([page]))),
    ];
    let hour = Duration::from_secs(3_600);
    for (kind, desk) in scopes {
        let desk = desk();
        let mut undo = desk.guest.undo_manager().joining_within(hour);
        let before = desk.seen();
        for text in ["t", "tw", "twenty"] {
            undo.notes().update_markdown(desk.lines[1], text).unwrap();
        }
        let options = CompactOptions::new().merge_edits_within(hour);
        desk.space.compact_with(options).unwrap();
        undo.undo().unwrap_or_else(|error| panic!("{kind}: {error:?}"));
        assert_eq!(desk.seen(), before, "{kind}");
        desk.check();

        undo.notes().update_markdown(desk.lines[1], "two and a half").unwrap();
        desk.space.compact_with(CompactOptions::new().keep_changes(0)).unwrap();
        let gone = undo.undo().unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::HistoryGone, "{kind}");
        assert!(!gone.message().contains("change 0"), "{kind}: {gone}");
    }
}

/// The page of a scope was moved to where another level does not fit.
#[test]
fn what_would_be_too_deep_in_the_document_of_a_page_does_not_return() {
    let desk = Desk::new(|space, _, page| space.page_scope([page]));
    desk.guest.delete_blocks(DeleteBlocks::from(desk.lines[0])).unwrap();
    let deleted = desk.guest.last_sequence().unwrap();
    desk.notes.delete_blocks(DeleteBlocks::from(desk.books)).unwrap();
    desk.notes.delete_blocks(DeleteBlocks::from(desk.people)).unwrap();
    for line in &desk.lines[1..] {
        desk.notes.delete_blocks(DeleteBlocks::from(*line)).unwrap();
    }
    let mut deepest = desk.diary.root();
    for level in 1..desk.space.limits().deepest_page() {
        let inserted = desk.notes.insert_markdown(&level.to_string(), Position::end_of(deepest));
        deepest = inserted.unwrap()[0].id;
    }
    desk.notes.move_blocks(MoveBlocks::new([desk.page], Position::end_of(deepest))).unwrap();
    let refused = desk.guest.undo(deleted).unwrap_err();
    assert_eq!(refused.details()[0].path, format!("blocks.{}", desk.page));
    assert!(refused.details()[0].message.contains("too deep"), "{refused:?}");
    desk.check();
}

#[test]
fn hidden_relations_are_neither_in_the_way_nor_restored() {
    let desk = Desk::of_document();
    let Desk { guest, notes, books, dune, shelf, shelves, .. } = &desk;
    // What the owner writes to the hidden end after it is not noticed.
    let update = ItemUpdate::of(*dune).with_title("Dune I");
    guest.update_items(UpdateItems::new(*books, [update])).unwrap();
    let emptied = ItemUpdate::of(*shelf).with("named", Vec::<String>::new());
    notes.update_items(UpdateItems::new(*shelves, [emptied])).unwrap();
    desk.undo_last().unwrap();
    assert_eq!(desk.shelved(), 0);
    let named = ItemUpdate::of(*shelf).with("named", vec![dune.to_string()]);
    notes.update_items(UpdateItems::new(*shelves, [named])).unwrap();
    desk.undo_last().unwrap();
    assert_eq!(desk.shelved(), 1);
    // An item that is added and then named from outside goes, with the relation.
    guest.delete_items(DeleteItems::new(*books, [*dune])).unwrap();
    assert_eq!(desk.shelved(), 0);
    let undone = desk.undo_last().unwrap();
    assert_eq!(desk.shelved(), 0);
    let named = ItemUpdate::of(*shelf).with("named", vec![dune.to_string()]);
    notes.update_items(UpdateItems::new(*shelves, [named])).unwrap();
    guest.undo(undone.sequence).unwrap();
    assert_eq!(desk.shelved(), 0);
    desk.check();
}

/// The error, and the paths of what is in the way.
fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> (ErrorKind, Vec<String>) {
    let error = result.unwrap_err();
    let paths = error.details().into_iter().map(|detail| detail.path);
    (error.kind(), paths.filter(|path| !path.starts_with("sequences")).collect())
}

#[test]
fn what_crosses_the_edge_of_a_scope_is_in_the_way() {
    let desk = Desk::of_document();
    let Desk { notes, guest, diary, lines, page, .. } = &desk;
    let line = notes.insert_markdown("from the diary", *diary).unwrap()[0].id;
    for (block, to) in [(line, Position::end_of(*page)), (lines[0], Position::end_of(*diary))] {
        notes.move_blocks(MoveBlocks::new([block], to)).unwrap();
        let expected = (ErrorKind::Conflict, vec![format!("blocks.{block}")]);
        assert_eq!(refusal(desk.undo_last()), expected);
    }
    // A batch of the owner is undone as far as the guest sees it.
    let elsewhere = notes
        .batch(|batch| {
            batch.update_markdown(lines[1], "changed")?;
            batch.insert_markdown("elsewhere", *diary)
        })
        .unwrap()[0]
        .id;
    desk.undo_last().unwrap();
    assert_eq!(guest.fetch(Fetch::new(lines[1])).unwrap().data.inline, "two");
    assert!(notes.fetch(Fetch::new(elsewhere)).is_ok());
    // The trash, and what is not a write.
    let document = guest.document_of(*page).unwrap();
    notes.delete_documents(DeleteDocuments::from(document)).unwrap();
    let trashed = (ErrorKind::Conflict, vec![format!("documents.{document}")]);
    assert_eq!(refusal(desk.undo_last()), trashed);
    notes.move_documents(MoveDocuments::new([document], Destination::Unsorted)).unwrap();
    let scope = desk.space.scope([document]);
    scope.add([*diary]);
    assert_eq!(refusal(scope.connect().undo(1)), (ErrorKind::Conflict, vec![]));
    assert_eq!(refusal(scope.connect().undo(2)).0, ErrorKind::NotFound);
    assert_eq!(refusal(scope.connect().undo(0)).0, ErrorKind::NotFound);
    assert_eq!(refusal(scope.connect().undo(UndoChanges::new([]))).0, ErrorKind::Validation);
    // What was written while it was hidden cannot be named: it has no number.
    let read_only = scope.read_only().connect();
    assert_eq!(refusal(read_only.undo(99)).0, ErrorKind::ReadOnly);
}

/// What was hidden when it was written is not undone, though it is seen by now.
#[test]
fn what_entered_the_scope_after_a_change_is_left_as_it_is() {
    let makes: [fn(&Space, DocumentId, BlockId) -> Scope; 2] =
        [|space, document, _| space.scope([document]), |space, _, page| space.page_scope([page])];
    for make in makes {
        let scope = std::cell::OnceCell::new();
        let desk = Desk::new(|space, document, page| {
            let made = make(space, document, page);
            scope.get_or_init(|| made).clone()
        });
        let Desk { notes, diary, shelves, shelf, lines, .. } = &desk;
        let mut wider = SchemaDraft::from(notes.schema(*shelves).unwrap());
        wider.properties.push(PropertyDraft::new("Height", PropertyKind::Number));
        notes
            .batch(|batch| {
                batch.update_markdown(lines[0], "changed")?;
                batch.replace_schema(ReplaceSchema::new(*shelves, wider.clone()))?;
                let named = ItemUpdate::of(*shelf).with("named", Vec::<String>::new());
                batch.update_items(UpdateItems::new(*shelves, [named]))
            })
            .unwrap();
        scope.get().unwrap().add([*diary]);
        desk.guest.undo(1).unwrap();
        assert_eq!(notes.fetch(Fetch::new(lines[0])).unwrap().data.inline, "one amber");
        assert_eq!(notes.schema(*shelves).unwrap().properties.len(), wider.properties.len());
        assert_eq!(desk.shelved(), 0);
        desk.check();
    }
}

#[test]
fn a_file_returns_where_another_block_of_the_scope_shows_it() {
    let desk = Desk::of_document();
    let Desk { notes, guest, page, diary, .. } = &desk;
    let upload = |name: &str| {
        let request = UploadFile::new(Position::end_of(*page)).named(name);
        guest.upload_file(request, &b"x"[..]).unwrap()
    };
    for (is_shown, is_hidden) in [(false, false), (false, true), (true, false)] {
        let file = upload("x.txt");
        let link = format!("[x]({})", file.asset_url);
        if is_shown {
            guest.insert_markdown(&link, desk.end()).unwrap();
        }
        if is_hidden {
            notes.insert_markdown(&link, *diary).unwrap();
        }
        guest.delete_blocks(DeleteBlocks::from(file.block_id)).unwrap();
        let undone = desk.undo_last();
        if is_shown {
            undone.unwrap();
        } else {
            let path = format!("files.{}", file.asset_url.id());
            assert_eq!(refusal(undone), (ErrorKind::Conflict, vec![path]));
        }
    }
    desk.check();
}

#[test]
fn undo_is_a_part_of_batches() {
    let desk = Desk::of_document();
    let Desk { notes, guest, page, lines, .. } = &desk;
    let before = desk.seen();
    guest.delete_blocks(DeleteBlocks::from(lines[1])).unwrap();
    let (deleted, own) = (guest.last_sequence().unwrap(), notes.last_sequence().unwrap());
    // It returns to where the batch has left its place.
    let order = |notes: &Connection| {
        let page = notes.fetch(Fetch::new(*page)).unwrap();
        page.children().iter().map(|child| child.id).take(4).collect::<Vec<_>>()
    };
    let refused = guest.batch(|batch| {
        batch.undo(deleted)?;
        batch.update_markdown(BlockId::NIL, "x")
    });
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(guest.last_sequence().unwrap(), deleted);
    let first = DeleteBlocks::from(lines[0]);
    let undone = guest.batch(|batch| {
        batch.delete_blocks(first.clone())?;
        batch.undo(deleted)
    });
    undone.unwrap();
    assert_eq!(order(notes)[..3], [lines[1], lines[2], lines[3]]);
    desk.undo_last().unwrap();
    let request = UndoChanges::from(deleted);
    let batch = Batch::default().then("undo", &request).unwrap();
    let dry = guest.run_batch(batch.clone().dry()).unwrap();
    assert_eq!(dry.replies, [serde_json::Value::Null]);
    guest.run_batch(batch).unwrap();
    assert_eq!(desk.seen(), before);
    // The same on the full connection, whose numbers are others.
    assert_ne!(own, deleted);
    desk.undo_last().unwrap();
    let undone = notes.batch(|batch| {
        batch.delete_blocks(first.clone())?;
        batch.undo(own)
    });
    undone.unwrap();
    assert_eq!(order(notes)[..3], [lines[1], lines[2], lines[3]]);
    // A block that the batch has inserted before goes with nothing.
    let inserted = InsertBlocks::markdown("x", desk.end());
    let batch = Batch::default().then("insert_blocks", &inserted).unwrap();
    let batch = batch.then("undo", &UndoChanges::from(own + 1_000)).unwrap();
    let error = notes.run_batch(batch).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::NotFound, "operations[1].sequences[0]"));
    desk.check();
}

#[test]
fn comments_of_others_are_in_the_way() {
    let desk = Desk::of_document();
    let Desk { notes, guest, .. } = &desk;
    let line = guest.insert_markdown("mine", desk.end()).unwrap()[0].id;
    let number = guest.last_sequence().unwrap();
    let comment = AddComments::new([CommentDraft::new(line, "theirs")]);
    let comment = notes.add_comments(comment).unwrap()[0].comment_id;
    let refused = refusal(guest.undo(number));
    assert_eq!(refused, (ErrorKind::Conflict, vec![format!("blocks.{line}")]));
    notes.delete_comments(DeleteComments::new([comment])).unwrap();
    guest.undo(number).unwrap();
}
