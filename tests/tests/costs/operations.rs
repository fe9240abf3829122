//! The operations that are measured, in the order of the page.

use std::hint::black_box;
use std::io::Read as _;
use std::ops::ControlFlow;

use leafbase::{
    AddComments, AddItems, AddTasks, ApplyMarkdown, BackLinks, BlockPatch, CommentDraft,
    Connection, CountItems, CreateFromTemplate, DayRange, DeleteBlocks, DocumentOrder, Durability,
    Fetch, FindDocuments, GetItems, InsertBlocks, ItemDraft, ItemFilter, ItemUpdate, ListComments,
    ListDocuments, ListTags, ListTasks, MoveBlocks, MoveDocuments, Operator, Position,
    PurgeDocuments, QueryItems, ResolveBlocks, SearchBlocks, SearchDocuments, Sort, TaskDraft,
    TaskScope, TaskState, TaskUpdate, UnlinkedMentions, UpdateBlocks, UpdateItems, UpdateTasks,
    UploadFile,
};
use leafbase_vault::{ImportOptions, MemorySource, import_from};

use crate::sample_space::{LARGE_BLOCKS, SUBJECT_BLOCKS, SampleSpace};

/// What is measured of an operation, with its requests made.
pub(crate) type Call = Box<dyn FnOnce(&Connection)>;

/// An operation as a row of the page.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    /// Makes the requests, on documents that no operation has read if it reads any.
    pub(crate) prepare: fn(&mut SampleSpace) -> Call,
}

impl Operation {
    /// The operation by its name.
    pub(crate) fn named(name: &str) -> &'static Self {
        let mut operations = SECTIONS.iter().flat_map(|(_, operations)| *operations);
        operations.find(|operation| operation.name == name).expect("an operation")
    }
}

const fn operation(name: &'static str, prepare: fn(&mut SampleSpace) -> Call) -> Operation {
    Operation { name, prepare }
}

/// The headings of the page with their operations.
pub(crate) const SECTIONS: &[(&str, &[Operation])] = &[
    (
        "Blocks",
        &[
            operation("`fetch`: a block by ID", |space| {
                let block = space.subject().blocks[50];
                Box::new(move |notes| drop(notes.fetch(Fetch::new(block).depth(0)).unwrap()))
            }),
            operation("`fetch`: a document of 100 blocks", |space| {
                let id = space.subject().id;
                Box::new(move |notes| {
                    let page = notes.fetch(Fetch::new(id)).unwrap();
                    assert_eq!(page.children().len(), SUBJECT_BLOCKS);
                })
            }),
            operation("`fetch`: the same, with comments, authors and times", |space| {
                let id = space.subject().id;
                Box::new(move |notes| drop(notes.fetch(Fetch::new(id).with_metadata()).unwrap()))
            }),
            operation("`fetch`: a document of 10,000 blocks", |space| {
                let id = space.large().id;
                Box::new(move |notes| {
                    let page = notes.fetch(Fetch::new(id)).unwrap();
                    assert_eq!(page.children().len(), LARGE_BLOCKS);
                })
            }),
            operation("`content_markdown`: a document of 100 blocks", |space| {
                let id = space.subject().id;
                Box::new(move |notes| drop(notes.content_markdown(id).unwrap()))
            }),
            operation("`resolve`: the path of a block", |space| {
                let block = space.subject().blocks[50];
                Box::new(move |notes| drop(notes.resolve(ResolveBlocks::new([block])).unwrap()))
            }),
            operation("`insert_blocks`: one among 100", |space| {
                let middle = Position::after(space.subject().blocks[50]);
                insert(space, 1, middle)
            }),
            operation("`insert_blocks`: one among 10,000", |space| {
                let middle = Position::after(space.large().blocks[5_000]);
                insert(space, 1, middle)
            }),
            operation("`insert_blocks`: 100 at the end of 100", |space| {
                let end = Position::end_of(space.subject().id);
                insert(space, 100, end)
            }),
            operation("`insert_markdown`: 100 paragraphs, lists, tasks", |space| {
                let (id, text) = (space.subject().id, space.markdown(100));
                Box::new(move |notes| drop(notes.insert_markdown(&text, id).unwrap()))
            }),
            operation("`insert_markdown`: a line into a new daily note", |space| {
                let (day, text) = (Position::end_of_day(space.day()), space.text());
                Box::new(move |notes| drop(notes.insert_markdown(&text, day).unwrap()))
            }),
            operation("`insert_markdown`: a line into a daily note", |space| {
                let (day, text) = (Position::end_of_day(space.day()), space.text());
                space.notes.insert_markdown("first", day).unwrap();
                Box::new(move |notes| drop(notes.insert_markdown(&text, day).unwrap()))
            }),
            operation("`update_blocks`: one", |space| {
                let (block, text) = (space.subject().blocks[50], space.text());
                Box::new(move |notes| drop(notes.update_markdown(block, &text).unwrap()))
            }),
            operation("`update_blocks`: one, `Relaxed`", |space| {
                let (block, text) = (space.subject().blocks[50], space.text());
                Box::new(move |notes| {
                    let relaxed = notes.with_durability(Durability::Relaxed);
                    relaxed.update_markdown(block, &text).unwrap();
                })
            }),
            operation("`update_blocks`: 100 of a document", |space| {
                let blocks = space.subject().blocks;
                let patch = |block| BlockPatch::markdown(block, space.text());
                let request = UpdateBlocks::new(blocks.into_iter().map(patch));
                Box::new(move |notes| drop(notes.update_blocks(request).unwrap()))
            }),
            operation("`batch`: 100 updates in 10 documents", |space| {
                let blocks: Vec<_> =
                    (0..10).flat_map(|_| space.subject().blocks.into_iter().take(10)).collect();
                let updates: Vec<_> =
                    blocks.into_iter().map(|block| (block, space.text())).collect();
                Box::new(move |notes| {
                    let batched = notes.batch(|batch| {
                        let mut updates = updates.iter();
                        updates.try_for_each(|(block, text)| {
                            batch.update_markdown(*block, text).map(drop)
                        })
                    });
                    batched.unwrap();
                })
            }),
            operation("`apply_markdown`: one of 100 blocks differs", |space| {
                let subject = space.subject();
                let text = space.notes.content_markdown(subject.id).unwrap();
                let request = ApplyMarkdown::new(subject.id, text.replacen(' ', " edited ", 1));
                Box::new(move |notes| drop(notes.apply_markdown(request).unwrap()))
            }),
            operation("`move_blocks`: one within its document", |space| {
                let blocks = space.subject().blocks;
                let request = MoveBlocks::new([blocks[80]], Position::before(blocks[20]));
                Box::new(move |notes| drop(notes.move_blocks(request).unwrap()))
            }),
            operation("`move_blocks`: 50 to another document", |space| {
                let blocks = space.subject().blocks;
                let end = Position::end_of(space.subject().id);
                let request = MoveBlocks::new(blocks[..50].to_vec(), end);
                Box::new(move |notes| drop(notes.move_blocks(request).unwrap()))
            }),
            operation("`delete_blocks`: one of 100", |space| {
                let request = DeleteBlocks::new([space.subject().blocks[50]]);
                Box::new(move |notes| drop(notes.delete_blocks(request).unwrap()))
            }),
            operation("`delete_blocks`: 50 of 100", |space| {
                let request = DeleteBlocks::new(space.subject().blocks[..50].to_vec());
                Box::new(move |notes| drop(notes.delete_blocks(request).unwrap()))
            }),
        ],
    ),
    (
        "Documents and folders",
        &[
            operation("`list_documents`: the 50 modified last", |_| {
                let request = ListDocuments::new().order_by(DocumentOrder::Modified);
                list(request.descending().limit(50))
            }),
            operation("`list_documents`: the 50 created last", |_| {
                let request = ListDocuments::new().order_by(DocumentOrder::Created);
                list(request.descending().limit(50))
            }),
            operation("`list_documents`: 20 of a folder", |space| {
                list(ListDocuments::new().within(space.folders[3]).limit(20))
            }),
            operation("`list_documents`: 20 with a tag", |_| {
                list(ListDocuments::new().tagged("garden").limit(20))
            }),
            operation("`list_documents`: the daily notes of a month", |space| {
                let days: Vec<_> = (0..30).map(|_| space.day()).collect();
                let month = DayRange { from: Some(days[0].into()), to: Some(days[29].into()) };
                for day in days {
                    space.notes.insert_markdown("rain", Position::end_of_day(day)).unwrap();
                }
                let request = ListDocuments::new().daily_notes(month);
                list(request.order_by(DocumentOrder::DailyNote))
            }),
            operation("`find_documents`: by title", |_| {
                Box::new(|notes| {
                    let found = notes.find_documents(FindDocuments::named("Note 7")).unwrap();
                    assert_eq!(found.len(), 1);
                })
            }),
            operation("`folders`: 10, with numbers of documents", |_| {
                Box::new(|notes| assert!(notes.folders().unwrap().len() > 10))
            }),
            operation("`list_tags`: one, with its number of documents", |_| {
                Box::new(|notes| {
                    assert!(!notes.list_tags(ListTags::new()).unwrap().items.is_empty());
                })
            }),
            operation("`create_document`", |space| {
                let title = space.text();
                Box::new(move |notes| drop(notes.create_document(&title).unwrap()))
            }),
            operation("`create_from_template`: of 10 blocks", |space| {
                let request = CreateFromTemplate::new(space.template).titled(space.text());
                Box::new(move |notes| drop(notes.create_from_template(request).unwrap()))
            }),
            operation("`move_documents`: one to a folder", |space| {
                let request = MoveDocuments::new([space.subject().id], space.folders[4]);
                Box::new(move |notes| drop(notes.move_documents(request).unwrap()))
            }),
            operation("`delete_documents`: one of 100 blocks, to the trash", |space| {
                let id = space.subject().id;
                Box::new(move |notes| drop(notes.delete_documents(id).unwrap()))
            }),
            operation("`purge_documents`: one of 100 blocks", |space| {
                let id = space.subject().id;
                space.notes.delete_documents(id).unwrap();
                let request = PurgeDocuments::new([id]);
                Box::new(move |notes| drop(notes.purge_documents(request).unwrap()))
            }),
        ],
    ),
    (
        "Tasks",
        &[
            operation("`tasks`: the 50 due first", |_| {
                let request = ListTasks::new(TaskScope::Active).limit(50);
                Box::new(move |notes| assert_eq!(notes.tasks(request).unwrap().len(), 50))
            }),
            operation("`tasks`: an inbox of 10", |space| {
                if space.notes.tasks(TaskScope::Inbox).unwrap().is_empty() {
                    let drafts: Vec<_> = (0..10).map(|_| TaskDraft::new(space.text())).collect();
                    space.notes.add_tasks(AddTasks::new(drafts)).unwrap();
                }
                Box::new(|notes| assert_eq!(notes.tasks(TaskScope::Inbox).unwrap().len(), 10))
            }),
            operation("`tasks`: 10 of a document of 100 blocks", |space| {
                let id = space.subject().id;
                let drafts: Vec<_> = (0..10).map(|_| TaskDraft::new(space.text()).at(id)).collect();
                space.notes.add_tasks(AddTasks::new(drafts)).unwrap();
                let request = ListTasks::new(TaskScope::Document(id));
                Box::new(move |notes| assert_eq!(notes.tasks(request).unwrap().len(), 10))
            }),
            operation("`add_tasks`: one to a document", |space| {
                let task = TaskDraft::new(space.text()).at(space.subject().id);
                let request = AddTasks::new([task.scheduled(leafbase::DayRef::Today)]);
                Box::new(move |notes| drop(notes.add_tasks(request).unwrap()))
            }),
            operation("`update_tasks`: one is done", |space| {
                let task = TaskDraft::new(space.text()).at(space.subject().id);
                let id = space.notes.add_tasks(AddTasks::new([task])).unwrap()[0].id;
                let request = UpdateTasks::new([TaskUpdate::of(id).with_state(TaskState::Done)]);
                Box::new(move |notes| drop(notes.update_tasks(request).unwrap()))
            }),
        ],
    ),
    (
        "Links and searches",
        &[
            operation("`back_links`: 20 of a document", |space| {
                let request = BackLinks::to(space.hub).limit(20);
                Box::new(move |notes| assert_eq!(notes.back_links(request).unwrap().len(), 20))
            }),
            operation("`document_links`: of 100 blocks, from and to each", |space| {
                let id = space.subject().id;
                Box::new(move |notes| drop(notes.document_links(id).unwrap()))
            }),
            operation("`unlinked_mentions`: 4", |space| {
                let request = UnlinkedMentions::of(space.named).limit(20);
                Box::new(move |notes| {
                    assert_eq!(notes.unlinked_mentions(request).unwrap().len(), 4);
                })
            }),
            operation("`search`: a word of 4 documents", |_| {
                search(SearchDocuments::words("zephyr"))
            }),
            operation("`search`: 20 of the documents with a common word", |_| {
                search(SearchDocuments::words("harvest"))
            }),
            operation("`search`: 20 with a word that begins like that", |_| {
                search(SearchDocuments::words("harv"))
            }),
            operation("`search`: a pattern that matches in 4 documents", |_| {
                search(SearchDocuments::pattern("zeph[xy]r"))
            }),
            operation("`search`: a pattern without three characters in a row", |_| {
                search(SearchDocuments::pattern(r"z\w\wh\w\w,"))
            }),
            operation("`search`: a word of a block just edited", |space| {
                let block = space.subject().blocks[50];
                space.notes.update_markdown(block, "yesteryear").unwrap();
                search(SearchDocuments::words("yesteryear"))
            }),
            operation("`search_blocks`: a pattern in 100 blocks", |space| {
                let request = SearchBlocks::new(space.subject().id, "ba");
                Box::new(move |notes| {
                    assert!(!notes.search_blocks(request).unwrap().items.is_empty());
                })
            }),
        ],
    ),
    (
        "A scope of 10 documents",
        &[
            operation("`fetch`, scoped: a document of 100 blocks", |space| {
                let ids: Vec<_> = (0..10).map(|_| space.subject().id).collect();
                Box::new(move |notes| {
                    let scoped = notes.space().scoped(ids.clone());
                    drop(scoped.fetch(Fetch::new(ids[5])).unwrap());
                })
            }),
            operation("`search`, scoped: a word of a document", |space| {
                let mut ids: Vec<_> = (0..9).map(|_| space.subject().id).collect();
                ids.push(space.named);
                Box::new(move |notes| {
                    let found = notes.space().scoped(ids).search("lighthouse").unwrap();
                    assert_eq!(found.len(), 1);
                })
            }),
        ],
    ),
    (
        "Collections",
        &[
            operation("`items`: 20 of 400", |space| {
                let request = GetItems::of(space.collection).depth(0).limit(20);
                Box::new(move |notes| assert_eq!(notes.items(request).unwrap().len(), 20))
            }),
            operation("`query_items`: 20 of 400, filtered and sorted", |space| {
                let open = ItemFilter::on("state", Operator::Equals, "open");
                let query = QueryItems::of(space.collection).depth(0).limit(20);
                let query = query.filtered(open).sorted(Sort::ascending("effort"));
                Box::new(move |notes| assert_eq!(notes.query_items(query).unwrap().len(), 20))
            }),
            operation("`count_items`: 400, by state", |space| {
                let request = CountItems::of(space.collection).grouped_by("state");
                Box::new(move |notes| drop(notes.count_items(request).unwrap()))
            }),
            operation("`add_items`: one", |space| {
                let item = ItemDraft::new(space.text()).with("effort", 7).with("state", "open");
                let request = AddItems::new(space.collection, [item]);
                Box::new(move |notes| drop(notes.add_items(request).unwrap()))
            }),
            operation("`update_items`: one", |space| {
                let update = ItemUpdate::of(space.item()).with("effort", 99);
                let request = UpdateItems::new(space.collection, [update]);
                Box::new(move |notes| drop(notes.update_items(request).unwrap()))
            }),
        ],
    ),
    (
        "Comments and files",
        &[
            operation("`list_comments`: 2 of a document of 100 blocks", |space| {
                let request = ListComments::of(space.subject().id);
                Box::new(move |notes| assert_eq!(notes.list_comments(request).unwrap().len(), 2))
            }),
            operation("`add_comments`: one", |space| {
                let comment = CommentDraft::new(space.subject().blocks[50], space.text());
                let request = AddComments::new([comment]);
                Box::new(move |notes| drop(notes.add_comments(request).unwrap()))
            }),
            operation("`upload_file`: 1 MB", |space| {
                let request = UploadFile::new(space.subject().id).named("seat.bin");
                let bytes = vec![7; 1_000_000];
                Box::new(move |notes| drop(notes.upload_file(request, &*bytes).unwrap()))
            }),
            operation("`open_file`: 1 MB read", |space| {
                let request = UploadFile::new(space.subject().id).named("seat.bin");
                let bytes = vec![7; 1_000_000];
                let id = space.notes.upload_file(request, &*bytes).unwrap().asset_url.id();
                let mut out = vec![0; 1_000_000];
                Box::new(move |notes| {
                    notes.open_file(id).unwrap().read_exact(&mut out).unwrap();
                    black_box(out);
                })
            }),
        ],
    ),
    (
        "History",
        &[
            operation("`undo`: an update", |space| {
                let block = space.subject().blocks[50];
                space.notes.update_markdown(block, "changed").unwrap();
                let sequence = space.notes.last_sequence().unwrap();
                Box::new(move |notes| drop(notes.undo(sequence).unwrap()))
            }),
            operation("`history`: the last 10 of 20 versions", |space| {
                let id = twenty_versions(space);
                Box::new(move |notes| assert_eq!(notes.history(id, None, 10).unwrap().len(), 10))
            }),
            operation("`document_at`: 100 blocks, 10 changes ago", |space| {
                let id = twenty_versions(space);
                let sequence = space.notes.last_sequence().unwrap() - 10;
                Box::new(move |notes| drop(notes.document_at(id, sequence).unwrap()))
            }),
            operation("`changes_since`: the last 10", |space| {
                let sequence = space.notes.last_sequence().unwrap() - 10;
                Box::new(move |notes| assert_eq!(notes.changes_since(sequence).count(), 10))
            }),
        ],
    ),
    (
        "Folders of markdown",
        &[operation("`import_from`: 100 files of 10 blocks", |space| {
            let file = |at| (format!("Imported {at}.md"), space.markdown(10));
            let mut files: MemorySource = (0..100).map(file).collect();
            Box::new(move |notes| {
                let go_on = &mut |_| ControlFlow::Continue(());
                let imported = import_from(notes, &mut files, &ImportOptions::new(), go_on);
                assert_eq!(imported.unwrap().documents, 100);
            })
        })],
    ),
];

fn insert(space: &mut SampleSpace, blocks: usize, position: Position) -> Call {
    let request = InsertBlocks::blocks(space.drafts(blocks), position);
    Box::new(move |notes| drop(notes.insert_blocks(request).unwrap()))
}

fn list(request: ListDocuments) -> Call {
    let expected = request.paging.limit.unwrap_or(30);
    Box::new(move |notes| assert_eq!(notes.list_documents(request).unwrap().len(), expected))
}

fn search(request: SearchDocuments) -> Call {
    Box::new(move |notes| assert!(!notes.search(request).unwrap().is_empty()))
}

fn twenty_versions(space: &mut SampleSpace) -> leafbase::DocumentId {
    let subject = space.subject();
    for block in subject.blocks.iter().take(20) {
        space.notes.update_markdown(*block, "changed").unwrap();
    }
    subject.id
}
