//! Every call that writes, and those that read most, each on a space that has what it asks for.

use leafbase::{
    AddComments, AddItems, AddTasks, BlockData, BlockDraft, BlockId, BlockPatch, CommentDraft,
    Connection, CreateCollection, CreateDocuments, CreateFolders, CreateFromTemplate, DayRef,
    DeleteBlocks, DeleteFolders, DeleteItems, Destination, DocumentId, Fetch, FolderDraft,
    FolderId, GetItems, InsertBlocks, ItemDraft, ItemUpdate, ListStyle, MoveBlocks, MoveDocuments,
    MoveFolders, Position, PropertyDraft, PropertyKind, PurgeDocuments, Relation, ReplaceSchema,
    RestoreDailyNotes, Result, SchemaDraft, SearchBlocks, SearchDocuments, TaskDraft, TaskScope,
    TaskState, TaskUpdate, UpdateBlocks, UpdateItems, UpdateTasks, UploadFile,
};
use leafbase_vault::{ImportOptions, MemorySource, import_from};

use super::work::shown;

/// What calls are about.
pub struct Things {
    /// A document with everything in it.
    pub document: DocumentId,
    pub other: DocumentId,
    template: DocumentId,
    trashed: DocumentId,
    trashed_day: DocumentId,
    folder: FolderId,
    inner: FolderId,
    /// Blocks of the document, the page among them first.
    blocks: Vec<BlockId>,
    task: BlockId,
    books: BlockId,
    people: BlockId,
    book: BlockId,
    person: BlockId,
}

impl Things {
    /// Puts all of them into an empty space.
    pub fn make(notes: &Connection) -> Result<Self> {
        let create = |title: &str| Ok::<_, leafbase::Error>(notes.create_document(title)?.id());
        let (document, other, template, trashed) =
            (create("gazelle")?, create("ibex")?, create("lemur")?, create("ocelot")?);
        let text = "<page><pageTitle>narwhal</pageTitle><content>\n\nechidna\n\n</content></page>\n\n\
                    # jackdaw\n\npelican\n\n- [ ] kestrel\n\n- marmoset\n\n[more](block://ID)\n\nflamingo";
        let text = text.replace("ID", &other.to_string());
        let blocks = notes
            .insert_markdown(&text, Position::end_of(document))?
            .iter()
            .map(|block| block.id)
            .collect();
        notes.insert_markdown("dormouse\n\n- [ ] aardvark", Position::end_of(template))?;
        notes.move_documents(MoveDocuments::new([template], Destination::Templates))?;
        notes.delete_documents(trashed)?;
        let day = notes.insert_markdown("bobolink", Position::end_of_day(DayRef::Tomorrow))?;
        let trashed_day =
            notes.document_of(day.iter().map(|block| block.id).next().unwrap_or(BlockId::NIL))?;
        notes.delete_documents(trashed_day)?;
        let folder = notes.create_folder("outer", None)?.id;
        let inner = notes.create_folder("inner", Some(folder))?.id;
        notes.move_documents(MoveDocuments::new([other], folder))?;
        let task =
            notes.add_tasks(AddTasks::new([TaskDraft::new("hedgehog"), TaskDraft::new("ibex")]))?;
        let task = task.iter().map(|task| task.id).next().unwrap_or(BlockId::NIL);
        let note = PropertyDraft::new("Note", PropertyKind::Text);
        let collection = |name: &str, properties| {
            CreateCollection::new(SchemaDraft::new(name, properties), document)
        };
        let people = notes.create_collection(collection("People", vec![note.clone()]))?.id;
        let by = PropertyDraft::new("By", Relation::to(people).into());
        let books = notes.create_collection(collection("Books", vec![note, by]))?.id;
        let add = |to, item: ItemDraft| {
            let added = notes.add_items(AddItems::new(to, [item]))?;
            Ok::<_, leafbase::Error>(
                added.iter().map(|item| item.id).next().unwrap_or(BlockId::NIL),
            )
        };
        let person = add(people, ItemDraft::new("Ada"))?;
        let book = add(
            books,
            ItemDraft::new("capybara").with("by", person.to_string()).with("note", "hedgehog"),
        )?;
        notes.upload_file(UploadFile::new(document).named("a.bin"), &[7; 90_000][..])?;
        notes.add_comments(AddComments::new([CommentDraft::new(document, "marmoset")]))?;
        Ok(Self {
            document,
            other,
            template,
            trashed,
            trashed_day,
            folder,
            inner,
            blocks,
            task,
            books,
            people,
            book,
            person,
        })
    }

    fn block(&self, number: usize) -> BlockId {
        self.blocks.get(number).copied().unwrap_or(BlockId::NIL)
    }
}

/// A call, and what it answers, as text.
pub type Call = fn(&Connection, &Things) -> Result<String>;

fn drafts() -> Vec<BlockDraft> {
    vec![
        BlockDraft::new(BlockData::text("pelican ibex")),
        BlockDraft::new(BlockData::page("lemur")),
    ]
}

pub const CALLS: &[(&str, Call)] = &[
    ("create_document", |notes, _| Ok(shown(notes.create_document("kestrel")?))),
    ("create_document_of", |notes, things| {
        let page = BlockDraft::new(BlockData::page("kestrel")).with_content(drafts());
        Ok(shown(notes.create_document_of(page, things.folder)?))
    }),
    ("create_documents", |notes, _| {
        Ok(shown(notes.create_documents(CreateDocuments::titled(["a", "b"]))?))
    }),
    ("create_from_template", |notes, things| {
        Ok(shown(notes.create_from_template(CreateFromTemplate::new(things.template))?))
    }),
    ("move_documents", |notes, things| {
        Ok(shown(notes.move_documents(MoveDocuments::new([things.document], things.inner))?))
    }),
    ("delete_documents", |notes, things| Ok(shown(notes.delete_documents(things.document)?))),
    ("restore_daily_notes", |notes, things| {
        Ok(shown(notes.restore_daily_notes(RestoreDailyNotes::new([things.trashed_day]))?))
    }),
    ("purge_documents", |notes, things| {
        Ok(shown(notes.purge_documents(PurgeDocuments::new([things.trashed, things.trashed_day]))?))
    }),
    ("insert_blocks", |notes, things| {
        Ok(shown(
            notes
                .insert_blocks(InsertBlocks::blocks(drafts(), Position::before(things.block(1))))?,
        ))
    }),
    ("insert_markdown", |notes, things| {
        Ok(shown(
            notes.insert_markdown(
                &"gazelle ocelot ".repeat(400),
                Position::end_of(things.block(0)),
            )?,
        ))
    }),
    ("insert_today", |notes, _| {
        Ok(shown(notes.insert_markdown("- [ ] pack", Position::end_of_day(DayRef::Today))?))
    }),
    ("update_blocks", |notes, things| {
        let patch = BlockPatch::of(things.block(2)).with_list_style(ListStyle::Bullet);
        Ok(shown(notes.update_blocks(UpdateBlocks::new([patch]))?))
    }),
    ("update_markdown", |notes, things| {
        Ok(shown(notes.update_markdown(things.block(2), "one\n\ntwo")?))
    }),
    ("move_blocks", |notes, things| {
        let some = [things.block(0), things.block(3)];
        Ok(shown(notes.move_blocks(MoveBlocks::new(some, Position::end_of(things.other)))?))
    }),
    ("delete_blocks", |notes, things| {
        Ok(shown(notes.delete_blocks(DeleteBlocks::new([things.block(0), things.people]))?))
    }),
    ("create_folders", |notes, things| {
        let folder =
            FolderDraft::new("new").within(things.folder).with_folders([FolderDraft::new("newer")]);
        Ok(shown(notes.create_folders(CreateFolders::new([folder]))?))
    }),
    ("move_folders", |notes, things| {
        Ok(shown(
            notes.move_folders(MoveFolders::new(
                [things.inner],
                leafbase::FolderDestination::Root,
            ))?,
        ))
    }),
    ("delete_folders", |notes, things| {
        Ok(shown(notes.delete_folders(DeleteFolders::new([things.folder]))?))
    }),
    ("add_tasks", |notes, _| Ok(shown(notes.add_tasks(AddTasks::new([TaskDraft::new("pack")]))?))),
    ("update_tasks", |notes, things| {
        let done = TaskUpdate::of(things.task).with_state(TaskState::Done);
        Ok(shown(notes.update_tasks(UpdateTasks::new([done]))?))
    }),
    ("delete_tasks", |notes, things| Ok(shown(notes.delete_tasks(things.task)?))),
    ("create_collection", |notes, things| {
        let related = PropertyDraft::new("Of", Relation::to(things.books).into());
        let schema = SchemaDraft::new("Shelves", vec![related]);
        Ok(shown(notes.create_collection(CreateCollection::new(schema, things.other))?))
    }),
    ("replace_schema", |notes, things| {
        let schema =
            SchemaDraft::new("Books", vec![PropertyDraft::new("Pages", PropertyKind::Number)]);
        Ok(shown(
            notes.replace_schema(
                ReplaceSchema::new(things.books, schema).dropping_unconvertible(),
            )?,
        ))
    }),
    ("add_items", |notes, things| {
        let item =
            ItemDraft::new("jackdaw").with("by", things.person.to_string()).with_content(drafts());
        Ok(shown(notes.add_items(AddItems::new(things.books, [item]))?))
    }),
    ("update_items", |notes, things| {
        let update = ItemUpdate::of(things.book).with_title("dormouse").with("note", "ibex");
        Ok(shown(notes.update_items(UpdateItems::new(things.books, [update]))?))
    }),
    ("delete_items", |notes, things| {
        Ok(shown(notes.delete_items(DeleteItems::new(things.people, [things.person]))?))
    }),
    ("add_comments", |notes, things| {
        let comment = CommentDraft::new(things.block(2), "lemur");
        Ok(shown(notes.add_comments(AddComments::new([comment]))?))
    }),
    ("upload_file", |notes, things| {
        Ok(shown(
            notes
                .upload_file(UploadFile::new(things.document).named("b.bin"), &[9; 150_000][..])?,
        ))
    }),
    ("import_from", |notes, _| {
        let mut source: MemorySource =
            [("a/one.md", "# one"), ("two.md", "two [one](a/one.md)")].into_iter().collect();
        let go_on = &mut |_| std::ops::ControlFlow::Continue(());
        import_from(notes, &mut source, &ImportOptions::default(), go_on)
            .map(|report| format!("{report:?}"))
    }),
    ("rename", |notes, _| notes.space().rename("ocelot").map(|()| String::new())),
    ("set_zone", |notes, _| notes.space().set_zone("Asia/Tokyo").map(|()| String::new())),
    ("flush", |notes, _| notes.space().flush().map(|()| String::new())),
    ("compact", |notes, _| notes.space().compact().map(|()| String::new())),
    ("flush_search", |notes, _| notes.space().flush_search().map(|()| String::new())),
    ("rebuild_search", |notes, _| notes.space().rebuild_search().map(|()| String::new())),
    ("search", |notes, _| Ok(shown(notes.search(SearchDocuments::words("marmoset"))?))),
    ("search_blocks", |notes, things| {
        Ok(format!("{:?}", notes.search_blocks(SearchBlocks::new(things.document, "pel[a-i]can"))?))
    }),
    ("fetch", |notes, things| Ok(shown(notes.fetch(Fetch::new(things.document).with_metadata())?))),
    ("documents", |notes, _| Ok(shown(notes.documents()?.0))),
    ("folders", |notes, _| Ok(shown(notes.folders()?.0))),
    ("tasks", |notes, _| Ok(shown(notes.tasks(TaskScope::Inbox)?))),
    ("items", |notes, things| Ok(shown(notes.items(GetItems::of(things.books))?))),
    ("changes", |notes, _| {
        let changes: Result<Vec<_>> = notes.changes_since(0).collect();
        Ok(format!("{:?}", changes?.last()))
    }),
    ("stats", |notes, _| Ok(shown(notes.space().stats()?))),
    ("check", |notes, _| Ok(shown(notes.space().check()?))),
];
