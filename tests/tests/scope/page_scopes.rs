//! Scopes of single pages: a page is shown as a document, and nothing around it is.

use leafbase::{
    AddComments, AddTasks, BlockId, CommentDraft, Connection, CreateCollection, DeleteBlocks,
    DeleteDocuments, Destination, DocumentId, Error, ErrorKind, Fetch, FindDocuments, InsertBlocks,
    ListCollections, ListComments, MoveBlocks, MoveDocuments, Position, ResolveBlocks, SchemaDraft,
    Scoped, ScopedDocumentPatch, SearchBlocks, SearchDocuments, Space, TaskDraft,
    UpdateScopedDocuments,
};

/// A document with a page between two texts, and a guest of the page.
struct Desk {
    space: Space,
    notes: Connection,
    document: DocumentId,
    before: BlockId,
    page: BlockId,
    line: BlockId,
    after: BlockId,
    guest: Connection<Scoped>,
}

impl Desk {
    fn new() -> Self {
        let space = Space::in_memory().unwrap();
        let notes = space.connect();
        let document = notes.create_document("Trip").unwrap().id();
        let made = notes.insert_markdown("hidden amber\n\nPacking\n\nhidden birch", document);
        let [before, page, after] =
            made.unwrap().iter().map(|block| block.id).collect::<Vec<_>>()[..]
        else {
            panic!("three blocks")
        };
        let line = notes.insert_markdown("amber towel", Position::end_of(page)).unwrap()[0].id;
        let guest = space.page_scope([page]).connect();
        Self { space, notes, document, before, page, line, after, guest }
    }

    /// The page as the guest sees it.
    fn shown(&self) -> String {
        self.guest.content_markdown(self.page).unwrap()
    }

    /// What the feed of the guest tells after `sequence`: documents and the number of blocks.
    fn told(&self, sequence: u64) -> Vec<(Vec<BlockId>, usize)> {
        let changes = self.guest.changes_since(sequence).map(Result::unwrap);
        let told = changes.map(|change| {
            let documents = change.documents.iter().map(|document| document.root()).collect();
            (documents, change.blocks.len())
        });
        told.collect()
    }
}

fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    result.unwrap_err().kind()
}

#[test]
fn a_page_is_shown_as_a_document() {
    let Desk { notes, document, page, line, guest, .. } = &Desk::new();
    let id = DocumentId::of_root(*page);
    let listed = guest.documents().unwrap();
    assert_eq!((listed.len(), listed[0].id, &*listed[0].title), (1, id, "Packing"));
    assert_eq!(guest.document_of(*line).unwrap(), id);
    assert_eq!(guest.document(id).unwrap().title, "Packing");
    assert_eq!(guest.find_documents(FindDocuments::named("packing")).unwrap().len(), 1);
    let resolved = guest.resolve(ResolveBlocks::from(*line)).unwrap();
    let path: Vec<_> = resolved[0].path.iter().map(|step| &*step.content).collect();
    assert_eq!((resolved[0].document_id, path), (id, vec!["Packing"]));
    // Times are those of the block: what is written around the page moves none of them.
    let times = || guest.document(id).unwrap().times;
    let before = times();
    notes.insert_markdown("around", *document).unwrap();
    notes.update_markdown(document.root(), "Journey").unwrap();
    assert_eq!(times(), before);
}

#[test]
fn nothing_around_a_page_is_found() {
    let Desk { notes, document, before, after, guest, page, .. } = &Desk::new();
    for hidden in [document.root(), *before, *after] {
        assert_eq!(kind(guest.fetch(Fetch::new(hidden))), ErrorKind::NotFound);
        assert_eq!(kind(guest.document_of(hidden)), ErrorKind::NotFound);
        assert_eq!(kind(guest.insert_markdown("x", Position::after(hidden))), ErrorKind::NotFound);
        let moved = MoveBlocks::new([*page], Position::after(hidden));
        assert_eq!(kind(guest.move_blocks(moved)), ErrorKind::NotFound);
    }
    // A link to the document leads nowhere, one to the page does.
    let links = format!("[a](block://{document}) [b](block://{page})");
    notes.insert_markdown(&links, Position::end_of(*page)).unwrap();
    let shown = guest.content_markdown(*page).unwrap();
    assert!(shown.contains("invalid:out_of_scope"), "{shown}");
    assert!(shown.contains(&format!("block://{page}")), "{shown}");
}

#[test]
fn searches_end_at_the_page() {
    let Desk { notes, document, page, line, guest, .. } = &Desk::new();
    let id = DocumentId::of_root(*page);
    let found = |query: SearchDocuments| {
        let found = guest.search(query).unwrap();
        found.iter().map(|found| found.document_id).collect::<Vec<_>>()
    };
    let named = |document| SearchDocuments::words("amber").within_documents([document]);
    assert_eq!(found(SearchDocuments::words("amber")), [id]);
    assert_eq!(found(SearchDocuments::words("hidden")), []);
    assert_eq!(found(SearchDocuments::words("packing")), [id]);
    assert_eq!(found(SearchDocuments::pattern("tow.l")), [id]);
    assert_eq!(found(SearchDocuments::pattern("h.dden")), []);
    assert_eq!(found(named(id)), [id]);
    assert_eq!(kind(guest.search(named(*document))), ErrorKind::NotFound);
    // A comment in the page is searched, one beside it is not.
    let comment = |block, text| AddComments::new([CommentDraft::new(block, text)]);
    notes.add_comments(comment(*line, "which cedar?")).unwrap();
    notes.add_comments(comment(document.root(), "which delta?")).unwrap();
    assert_eq!(found(SearchDocuments::words("cedar")), [id]);
    assert_eq!(found(SearchDocuments::words("delta")), []);
    assert_eq!(guest.list_comments(ListComments::of(id)).unwrap().len(), 1);

    let matched = guest.search_blocks(SearchBlocks::new(*page, "towel").context(9, 9)).unwrap();
    let context: Vec<_> = matched[0].before.iter().chain(&matched[0].after).collect();
    assert_eq!(context.iter().map(|block| &*block.markdown).collect::<Vec<_>>(), ["Packing"]);
    assert_eq!(matched[0].path.iter().map(|step| &*step.content).collect::<Vec<_>>(), ["Packing"]);
    let matched = guest.search_blocks(SearchBlocks::new(*line, "towel").context(9, 9)).unwrap();
    assert_eq!((matched[0].before.len(), matched[0].after.len()), (1, 0));
}

#[test]
fn a_guest_writes_in_the_page_and_does_not_move_it() {
    let desk = Desk::new();
    let Desk { space, notes, document, page, line, guest, .. } = &desk;
    guest.insert_markdown("first", Position::start_of(*page)).unwrap();
    guest.insert_markdown("- [ ] last", Position::end_of(*page)).unwrap();
    guest.update_markdown(*line, "towels").unwrap();
    assert_eq!(desk.shown(), "first\n\ntowels\n\n- [ ] last");
    guest.move_blocks(MoveBlocks::new([*line], Position::end_of(*page))).unwrap();
    guest.upload_file(leafbase::UploadFile::new(Position::after(*line)), &b"map"[..]).unwrap();
    let patch = ScopedDocumentPatch::of(DocumentId::of_root(*page)).titled("Bags");
    guest.update_documents(UpdateScopedDocuments::new([patch])).unwrap();
    guest.delete_blocks(DeleteBlocks::from(*line)).unwrap();
    let chores = CreateCollection::new(SchemaDraft::new("Chores", []), Position::end_of(*page));
    let chores = guest.create_collection(chores).unwrap().id;
    let listed = guest.list_collections(ListCollections::default()).unwrap();
    let of_page = DocumentId::of_root(*page);
    assert_eq!((listed.len(), listed[0].id, listed[0].document_id), (1, chores, of_page));

    let refused = [
        kind(guest.delete_blocks(DeleteBlocks::from(*page))),
        kind(guest.move_blocks(MoveBlocks::new([*page], Position::end_of(*page)))),
        kind(guest.insert_markdown("x", Position::before(*page))),
        kind(guest.insert_markdown("x", Position::after(*page))),
        kind(guest.insert_markdown("x", Position::end_of(*document))),
    ];
    let [rule, position] = [ErrorKind::RuleViolation, ErrorKind::InvalidPosition];
    assert_eq!(refused, [rule, rule, position, position, ErrorKind::NotFound]);
    assert_eq!(notes.document_of(chores).unwrap(), *document);
    let whole = notes.content_markdown(*document).unwrap();
    assert!(whole.starts_with("hidden amber\n\n<page>\n<pageTitle>Bags</pageTitle>"), "{whole}");
    assert!(whole.ends_with("hidden birch"), "{whole}");
    assert!(space.check().unwrap().is_clean());
}

#[test]
fn a_text_becomes_a_page_with_its_first_child() {
    let Desk { space, notes, before, .. } = &Desk::new();
    let guest = space.page_scope([*before]).connect();
    assert_eq!(guest.documents().unwrap()[0].title, "hidden amber");
    guest.insert_markdown("within", Position::end_of(*before)).unwrap();
    assert_eq!(notes.content_markdown(*before).unwrap(), "within");
    assert!(space.check().unwrap().is_clean());
}

#[test]
fn pages_count_the_levels_around_them() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let mut page = notes.create_document("0").unwrap().id().root();
    for level in 1..space.limits().deepest_page() {
        page = notes.insert_markdown(&level.to_string(), Position::end_of(page)).unwrap()[0].id;
    }
    let guest = space.page_scope([page]).connect();
    let child = guest.insert_markdown("deepest", Position::end_of(page)).unwrap()[0].id;
    assert_eq!(kind(guest.insert_markdown("x", Position::end_of(child))), ErrorKind::LimitExceeded);
    assert!(space.check().unwrap().is_clean());
}

#[test]
fn blocks_move_between_two_pages_of_a_scope() {
    let Desk { space, notes, document, page, line, after, .. } = &Desk::new();
    let other = notes.create_document("Other").unwrap().id();
    let far = notes.insert_markdown("far\n\nbeside", other).unwrap()[0].id;
    let guest = space.page_scope([*page, *after, far]).connect();
    for (target, home) in [(*after, *document), (far, other), (*page, *document)] {
        guest.move_blocks(MoveBlocks::new([*line], Position::end_of(target))).unwrap();
        assert_eq!(guest.document_of(*line).unwrap().root(), target);
        assert_eq!(notes.document_of(*line).unwrap(), home);
    }
    assert!(space.check().unwrap().is_clean());
}

#[test]
fn what_is_no_page_is_not_shown_and_what_is_within_another_is_a_part_of_it() {
    let Desk { space, notes, document, page, line, .. } = &Desk::new();
    let rule = notes.insert_markdown("*****", *document).unwrap()[0].id;
    let nowhere: BlockId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    let titles = |scope: leafbase::Scope| -> Vec<String> {
        let listed = scope.connect().documents().unwrap();
        listed.iter().map(|document| document.title.clone()).collect()
    };
    assert_eq!(titles(space.page_scope([rule])), [""]);
    assert_eq!(titles(space.page_scope([nowhere])), [""]);
    assert_eq!(titles(space.page_scope([*page, *line])), ["Packing"]);
    assert_eq!(titles(space.page_scope([document.root(), *page])), ["Trip"]);
    let guest = space.page_scope([*page, *line]).connect();
    assert_eq!(guest.document_of(*line).unwrap().root(), *page);
    // A page and the document around it.
    let scope = space.page_scope([*page]);
    scope.add([*document]);
    let guest = scope.connect();
    assert_eq!(guest.document_of(*line).unwrap(), *document);
    assert_eq!(guest.search("amber").unwrap().len(), 1);
    scope.remove([*document]);
    assert_eq!(guest.document_of(*line).unwrap().root(), *page);
    // In the trash the page is hidden with its document.
    notes.delete_documents(DeleteDocuments::from(*document)).unwrap();
    assert!(guest.documents().unwrap()[0].is_deleted);
    assert_eq!(kind(guest.fetch(Fetch::new(*page))), ErrorKind::NotFound);
    notes.move_documents(MoveDocuments::new([*document], Destination::Unsorted)).unwrap();
    assert_eq!(guest.document_of(*line).unwrap().root(), *page);
}

#[test]
fn the_feed_of_a_page_tells_what_was_written_while_it_was_there() {
    let desk = Desk::new();
    let Desk { notes, document, before, page, line, after, guest, .. } = &desk;
    notes.insert_markdown("hidden", *document).unwrap();
    assert_eq!(desk.told(0), []);
    let added = notes.insert_markdown("1\n\n2", Position::end_of(*page)).unwrap()[0].id;
    notes.update_markdown(*before, "hidden").unwrap();
    notes.update_markdown(*line, "one").unwrap();
    // In, changed, out, changed: only what was written within is told.
    notes.move_blocks(MoveBlocks::new([*after], Position::end_of(*page))).unwrap();
    notes.update_markdown(*after, "in").unwrap();
    notes.move_blocks(MoveBlocks::new([*after], Position::end_of(*document))).unwrap();
    notes.update_markdown(*after, "out").unwrap();
    notes.delete_blocks(DeleteBlocks::from(added)).unwrap();
    // The page within its document.
    notes.move_blocks(MoveBlocks::new([*page], Position::end_of(*document))).unwrap();
    let told = |blocks| (vec![*page], blocks);
    assert_eq!(desk.told(0), [2, 1, 1, 1, 1, 1].map(told));
    // The page goes with its document, and comes back.
    notes.delete_documents(DeleteDocuments::from(*document)).unwrap();
    notes.move_documents(MoveDocuments::new([*document], Destination::Unsorted)).unwrap();
    assert_eq!(desk.told(6), [0, 0].map(told));
    // It is deleted with what is in it.
    notes.delete_blocks(DeleteBlocks::from(*page)).unwrap();
    assert_eq!(desk.told(8), [3].map(told));
    assert_eq!(guest.last_sequence().unwrap(), 9);
}

/// The inbox is hidden, and so is what is written there.
#[test]
fn the_feed_of_a_page_in_the_inbox_tells_nothing() {
    let Desk { space, notes, document, page, .. } = &Desk::new();
    let task = notes.add_tasks(AddTasks::new([TaskDraft::new("towel")])).unwrap()[0].id;
    let inbox = notes.document_of(task).unwrap();
    let guest = space.page_scope([task, *page]).connect();
    let of_inbox = space.scope([inbox]).connect();
    let told = || {
        assert_eq!(of_inbox.last_sequence().unwrap(), 0);
        let told = guest.changes_since(0).map(Result::unwrap);
        let told = told.map(|told| (told.documents[0].root() == task, told.blocks.len()));
        told.collect::<Vec<_>>()
    };
    notes.update_markdown(task, "towels").unwrap();
    let below = notes.insert_markdown("blue", Position::end_of(task)).unwrap()[0].id;
    notes.update_markdown(below, "red").unwrap();
    assert_eq!(told(), []);
    assert!(guest.fetch(Fetch::new(task)).is_err());
    // It comes out, is written, and goes back.
    notes.move_blocks(MoveBlocks::new([task], Position::end_of(*document))).unwrap();
    assert!(guest.fetch(Fetch::new(task)).is_ok());
    notes.update_markdown(below, "green").unwrap();
    assert_eq!(told(), [(true, 0), (true, 1)]);
    notes.move_blocks(MoveBlocks::new([task], Position::end_of(inbox))).unwrap();
    assert!(guest.fetch(Fetch::new(task)).is_err());
    notes.update_markdown(below, "white").unwrap();
    assert_eq!(told(), [(true, 0), (true, 1), (true, 0)]);
}

#[test]
fn pages_are_added_removed_and_kept() {
    let Desk { space, notes, page, line, .. } = &Desk::new();
    let scope = space.scope([]);
    let guest = scope.connect();
    scope.add_pages([*page]);
    assert_eq!(scope.pages(), [*page]);
    notes.insert_markdown("more", Position::end_of(*page)).unwrap();
    let told: Vec<_> = guest.changes_since(0).map(Result::unwrap).collect();
    let told: Vec<_> = told.iter().map(|told| (told.documents.len(), told.blocks.len())).collect();
    assert_eq!(told, [(1, 0), (1, 1)]);
    space.keep_scope("pages", &scope).unwrap();
    scope.remove_pages([*page]);
    assert!(guest.fetch(Fetch::new(*line)).is_err());
    let kept = space.kept_scope("pages").unwrap();
    assert_eq!(kept.connect().document_of(*line).unwrap().root(), *page);
    let reader = kept.read_only().connect();
    let refused = reader.insert_blocks(InsertBlocks::markdown("x", Position::end_of(*page)));
    assert_eq!(kind(refused), ErrorKind::ReadOnly);
}

#[test]
fn batches_write_in_pages() {
    let desk = Desk::new();
    let Desk { page, line, guest, .. } = &desk;
    guest
        .batch(|batch| {
            batch.insert_markdown("a", Position::after(*line))?;
            batch.update_markdown(*line, "b")?;
            assert_eq!(batch.content_markdown(*page)?, "b\n\na");
            Ok(())
        })
        .unwrap();
    assert_eq!(desk.shown(), "b\n\na");
    assert_eq!(desk.told(0), [(vec![*page], 2)]);
}
