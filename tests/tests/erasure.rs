//! What is purged is gone: a canary in many kinds of places is in no reply after the purge, and
//! after `compact` in no file of the space and no backup.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use leafbase::kv::{MemoryStore, Snapshot, Store, Transaction, WriteOptions};
use leafbase::{
    AddComments, AddItems, Author, Batch, BlockData, BlockDraft, BlockId, CommentDraft,
    CompactOptions, Connection, CreateCollection, CreateFolders, DayRef, DeleteBlocks,
    DeleteDocuments, Destination, DocumentId, Edit, EmbeddingDraft, ErrorKind, Fetch, FileHash,
    FolderDraft, InsertBlocks, ItemDraft, ItemUpdate, MoveBlocks, Position, PropertyDraft,
    PropertyKind, PurgeDocuments, PutEmbeddings, Relation, SchemaDraft, SearchDocuments,
    SelectOption, Space, UpdateItems, UploadFile,
};
use leafbase_test_outline::FixedClock;

/// Each place has a canary of its own: this and its name.
const CANARY: &str = "qxcanary";

/// Names of the canaries, in the order of the first appearance.
#[derive(Default)]
struct Canaries(Vec<String>);

impl Canaries {
    fn put(&mut self, name: &str) -> String {
        let canary = format!("{CANARY}{name}");
        self.0.push(canary.clone());
        canary
    }
}

/// A document with canaries, a daily note and a template, all to be purged, and a diary that stays.
struct Scene {
    space: Space,
    notes: Connection,
    canaries: Canaries,
    purged: Vec<DocumentId>,
    diary: DocumentId,
}

impl Scene {
    fn new(path: &Path) -> Self {
        let space = Space::create(path).unwrap();
        let notes = space.connect().acting_as("Ada");
        let diary = notes.create_document("diary").unwrap().id();
        notes.insert_markdown("sunny", diary).unwrap();
        notes.create_folders(CreateFolders::new([FolderDraft::new("keptfolder")])).unwrap();
        let mut canaries = Canaries::default();
        let document = notes.create_document(&canaries.put("oldtitle")).unwrap().id();
        let mut scene = Self { space, notes, canaries, purged: vec![document], diary };
        scene.texts(document);
        scene.kept_reply(document);
        scene.collection(document);
        scene.files(document);
        scene.moved(document);
        scene.vectors(document);
        scene.others();
        scene
    }

    fn texts(&mut self, document: DocumentId) {
        let Self { notes, canaries, .. } = self;
        let mut put = |name: &str| canaries.put(name);
        notes.update_markdown(document, &put("title")).unwrap();
        let markdown = format!(
            "{}\n\n- {}\n  - {}\n\n> {}\n\n- [ ] {}\n\n```\n{}\n```\n\n![{}](https://{}.org/a.png)\n\n\
             [{}](https://{}.org)\n\n# {}\n\n<caption>{}</caption>\n\n| {} |\n|---|\n| {} |",
            put("text"),
            put("item"),
            put("nested"),
            put("quote"),
            put("task"),
            put("code"),
            put("alttext"),
            put("imageurl"),
            put("linktext"),
            put("linkurl"),
            put("heading"),
            put("caption"),
            put("tablehead"),
            put("tablecell"),
        );
        notes.insert_markdown(&markdown, document).unwrap();
        let block = notes.insert_markdown(&put("oldversion"), document).unwrap()[0].id;
        notes.update_markdown(block, &put("newversion")).unwrap();
        let comment = |text: String| AddComments::new([CommentDraft::new(block, text)]);
        notes.add_comments(comment(put("comment"))).unwrap();
        let deleted = notes.insert_markdown(&put("deleted"), document).unwrap()[0].id;
        let draft = CommentDraft::new(deleted, put("deletedcomment"));
        notes.add_comments(AddComments::new([draft])).unwrap();
        notes.delete_blocks(DeleteBlocks::from(deleted)).unwrap();
    }

    fn kept_reply(&mut self, document: DocumentId) {
        let insertion = InsertBlocks::markdown(self.canaries.put("keptreply"), document);
        let batch = Batch::default().then("insert_blocks", &insertion).unwrap();
        self.notes.run_batch(batch.keyed("once")).unwrap();
    }

    fn collection(&mut self, document: DocumentId) {
        let Self { notes, canaries, .. } = self;
        let option = SelectOption::new(canaries.put("option"));
        let schema = SchemaDraft::new(
            canaries.put("collection"),
            [
                PropertyDraft::new(canaries.put("property"), PropertyKind::Text),
                PropertyDraft::new("status", PropertyKind::SingleSelect(vec![option])),
            ],
        );
        let collection =
            notes.create_collection(CreateCollection::new(schema, document)).unwrap().id;
        let key = notes.schema(collection).unwrap().properties[0].key.clone();
        let content = BlockDraft::new(BlockData::text(canaries.put("itemcontent")));
        let item = ItemDraft::new(canaries.put("itemtitle"))
            .with(&key, canaries.put("oldvalue"))
            .with("status", format!("{CANARY}option"))
            .with_content([content]);
        let item = notes.add_items(AddItems::new(collection, [item])).unwrap()[0].id;
        let update = ItemUpdate::of(item).with(&key, canaries.put("value"));
        notes.update_items(UpdateItems::new(collection, [update])).unwrap();
    }

    fn files(&mut self, document: DocumentId) {
        let Self { notes, canaries, .. } = self;
        let name = format!("{}.txt", canaries.put("filename"));
        let request = UploadFile::new(document).of_type("text/plain").named(name);
        notes.upload_file(request, canaries.put("filebytes").as_bytes()).unwrap();
        let name = format!("{}.txt", canaries.put("erasedname"));
        let request = UploadFile::new(document).of_type("text/plain").named(name);
        notes.upload_file(request, &b"erased"[..]).unwrap();
        let tree = notes.fetch(Fetch::new(document)).unwrap();
        let block = tree.children().last().unwrap().id;
        notes.delete_blocks(DeleteBlocks::from(block)).unwrap();
    }

    /// Vectors whose components are stored as the bytes of canaries: one of the document, one of a
    /// block, and one of a block that is deleted.
    fn vectors(&mut self, document: DocumentId) {
        let Self { notes, diary, .. } = self;
        let draft = |id: BlockId, name: &str| {
            let mut canary = format!("{CANARY}{name}").into_bytes();
            canary.resize(40, b'x');
            // The largest component is stored as it is, and so are the others.
            canary.push(127);
            let components: Vec<f32> = canary.into_iter().map(f32::from).collect();
            EmbeddingDraft::new(id, components)
        };
        let [kept, deleted] = ["kept text", "deleted text"]
            .map(|text| notes.insert_markdown(text, document).unwrap()[0].id);
        let drafts = [
            draft(document.root(), "documentvector"),
            draft(kept, "blockvector"),
            draft(deleted, "deletedvector"),
        ];
        notes.put_embeddings(PutEmbeddings::new("model", drafts)).unwrap();
        notes.delete_blocks(DeleteBlocks::from(deleted)).unwrap();
        let models = notes.embedding_models().unwrap();
        assert_eq!(models[0].embeddings, 2, "a vector goes with its block");
        // Among those of the other document, which stay.
        let other = EmbeddingDraft::new(diary.root(), [[1.0_f32; 40].as_slice(), &[2.0]].concat());
        notes.put_embeddings(PutEmbeddings::new("model", [other])).unwrap();
    }

    /// Blocks that come from the diary, and one that goes there.
    fn moved(&mut self, document: DocumentId) {
        let Self { notes, canaries, diary, .. } = self;
        let child = BlockDraft::new(BlockData::text(canaries.put("movedchild")));
        let page =
            BlockDraft::new(BlockData::page(canaries.put("moved"))).with_content(vec![child]);
        let blocks = InsertBlocks::blocks(vec![page], Position::end_of(*diary));
        let moved = notes.insert_blocks(blocks).unwrap()[0].id;
        notes.move_blocks(MoveBlocks::new(vec![moved], Position::end_of(document))).unwrap();
        let kept = notes.insert_markdown("livesonindiary", document).unwrap()[0].id;
        notes.move_blocks(MoveBlocks::new(vec![kept], Position::end_of(*diary))).unwrap();
    }

    fn others(&mut self) {
        let Self { notes, canaries, purged, .. } = self;
        let position = Position::end_of_day(DayRef::Today);
        let line = notes.insert_markdown(&canaries.put("dailynote"), position).unwrap()[0].id;
        purged.push(notes.document_of(line).unwrap());
        let page = BlockDraft::new(BlockData::page(canaries.put("template")));
        purged.push(notes.create_document_of(page, Destination::Templates).unwrap().id());
    }

    fn purge(&self) {
        self.notes.delete_documents(DeleteDocuments::new(self.purged.clone())).unwrap();
        self.notes.purge_documents(PurgeDocuments::Documents(self.purged.clone())).unwrap();
    }

    /// The change log as JSON.
    fn log(&self) -> String {
        log(&self.notes)
    }

    /// The documents that a search for each canary finds.
    fn found(&self) -> Vec<&String> {
        let is_found = |canary: &&String| {
            let words = SearchDocuments::words(canary.as_str());
            let pattern = SearchDocuments::pattern(canary.as_str());
            let found = |request| !self.notes.search(request).unwrap().is_empty();
            found(words) || found(pattern)
        };
        self.canaries.0.iter().filter(is_found).collect()
    }
}

fn log(notes: &Connection) -> String {
    let changes: Vec<_> =
        notes.changes_since(notes.log_begins_at().unwrap()).collect::<Result<_, _>>().unwrap();
    serde_json::to_string(&changes).unwrap()
}

/// The hashes of files in the change log.
fn hashes(notes: &Connection) -> Vec<FileHash> {
    let edits = notes.changes_since(0).flat_map(|change| change.unwrap().edits);
    edits
        .filter_map(|edit| match edit {
            Edit::CreateAsset(file) | Edit::EraseAsset(file) => file.sha256,
            _ => None,
        })
        .collect()
}

/// The files below `directory` that contain the canary.
fn files_with_canary(directory: &Path) -> BTreeSet<String> {
    files_with(directory, CANARY.as_bytes())
}

fn files_with(directory: &Path, content: &[u8]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, content));
        } else {
            let bytes = fs::read(&path).unwrap();
            if bytes.windows(content.len()).any(|window| window == content) {
                found.insert(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found
}

/// Whether a segment of the search index has deleted documents.
fn index_has_deleted(directory: &Path) -> bool {
    let generations: Vec<_> = fs::read_dir(directory.join("index")).unwrap().collect();
    assert_eq!(generations.len(), 1, "one generation of the index");
    let meta = generations[0].as_ref().unwrap().path().join("meta.json");
    fs::read_to_string(meta).unwrap().contains("num_deleted_docs")
}

#[test]
fn nothing_of_what_is_purged_is_left() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes");
    let scene = Scene::new(&path);
    let Scene { space, notes, canaries, .. } = &scene;
    assert!(canaries.0.len() >= 30, "{} canaries", canaries.0.len());
    space.flush_search().unwrap();

    // The controls: everything is found before, and the files still have it without `compact`.
    let before = scene.log();
    for canary in canaries.0.iter().filter(|canary| !canary.contains("filebytes")) {
        assert!(before.contains(canary.as_str()), "{canary} is in the log");
    }
    assert!(scene.found().len() > 15, "{:?}", scene.found());
    let hashes_before = hashes(notes);
    assert_eq!(hashes_before.len(), 3, "two files, one of which was erased");
    space.flush().unwrap();
    for hash in &hashes_before {
        assert!(files_with(&path, hash.as_bytes()).contains("space.redb"));
    }
    for name in ["documentvector", "blockvector"] {
        let canary = format!("{CANARY}{name}");
        assert!(files_with(&path, canary.as_bytes()).contains("space.redb"), "{name}");
    }
    // Compressed rows are redacted as well.
    space.compact().unwrap();
    assert_eq!(scene.log(), before);
    scene.purge();
    space.flush().unwrap();
    assert!(files_with_canary(&path).contains("space.redb"), "the pages are still in the file");

    assert!(!scene.log().contains(CANARY), "{}", scene.log());
    assert_eq!(scene.found(), Vec::<&String>::new());
    space.flush_search().unwrap();
    assert!(index_has_deleted(&path), "the index keeps terms of deleted documents");
    space.compact().unwrap();
    assert!(!index_has_deleted(&path));
    assert_eq!(files_with_canary(&path), BTreeSet::new());
    assert!(!scene.log().contains(CANARY));
    // The hash of a file tells whether it was a known one: it is content.
    assert_eq!(hashes(notes), []);
    for hash in &hashes_before {
        assert_eq!(files_with(&path, hash.as_bytes()), BTreeSet::new());
    }

    // The rest stays, with its history.
    let after = scene.log();
    assert!(after.contains("keptfolder") && after.contains("livesonindiary"));
    assert!(notes.content_markdown(scene.diary).unwrap().contains("livesonindiary"));
    let shown: String = notes
        .documents()
        .unwrap()
        .iter()
        .map(|document| {
            serde_json::to_string(&notes.fetch(Fetch::new(document.id())).unwrap()).unwrap()
        })
        .collect();
    assert!(!shown.contains(CANARY));
    let report = space.check().unwrap();
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.embeddings, 1, "that of the diary");

    let copy = directory.path().join("copy");
    space.backup_to(&copy).unwrap();
    assert_eq!(files_with_canary(&copy), BTreeSet::new());
    assert_eq!(log(&Space::open(&copy).unwrap().connect()), after);
    let Scene { space, notes, .. } = scene;
    drop(notes);
    space.close().unwrap();
    assert_eq!(files_with_canary(&path), BTreeSet::new());
}

#[test]
fn a_redacted_row_has_no_inverse() {
    let directory = tempfile::tempdir().unwrap();
    let scene = Scene::new(&directory.path().join("notes"));
    scene.purge();
    let changes: Vec<_> = scene.notes.changes_since(0).collect::<Result<_, _>>().unwrap();
    let redacted: Vec<_> = changes.iter().filter(|change| change.is_redacted()).collect();
    assert!(redacted.len() > 15, "{} rows are redacted", redacted.len());
    for change in redacted {
        let error = change.inverse().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::HistoryGone);
        assert!(error.message().contains(&format!("change {}", change.sequence)), "{error}");
        let applied = scene.space.apply(&Author::ANONYMOUS, &change.edits);
        assert_eq!(applied.unwrap_err().kind(), ErrorKind::HistoryGone);
    }
    let purge = changes.last().unwrap();
    assert_eq!(purge.inverse().unwrap_err().code(), "HISTORY_GONE");
    // A row of the diary alone is as it was.
    assert!(!changes[1].is_redacted() && changes[1].inverse().is_ok());
}

/// A space with the same history redacts its own log when it applies the purge.
/// The purge of one document ends relations of items of the other, which is purged next.
#[test]
fn documents_that_are_related_are_purged_at_once() {
    let notes = Space::in_memory().unwrap().connect();
    let [near, far] = ["near", "far"].map(|title| notes.create_document(title).unwrap().id());
    let make = |home: DocumentId, name: &str, properties: Vec<PropertyDraft>| {
        let schema = SchemaDraft::new(format!("{CANARY} {name}"), properties);
        notes.create_collection(CreateCollection::new(schema, Position::end_of(home))).unwrap().id
    };
    let people = make(near, "people", Vec::new());
    let author = PropertyDraft::new("Author", PropertyKind::Relation(Relation::to(people)));
    let books = make(far, "books", vec![author]);
    let item = ItemDraft::new(format!("{CANARY} ada"));
    let ada = notes.add_items(AddItems::new(people, [item])).unwrap()[0].id;
    let item = ItemDraft::new(format!("{CANARY} notes")).with("author", vec![ada.to_string()]);
    notes.add_items(AddItems::new(books, [item])).unwrap();
    for order in [[near, far], [far, near]] {
        let copy = tempfile::tempdir().unwrap();
        let path = copy.path().join("copy");
        notes.space().backup_to(&path).unwrap();
        let space = Space::open(&path).unwrap();
        let notes = space.connect();
        assert!(log(&notes).contains(CANARY));
        notes.delete_documents(DeleteDocuments::new(order)).unwrap();
        notes.purge_documents(PurgeDocuments::new(order)).unwrap();
        assert!(!log(&notes).contains(CANARY), "{}", log(&notes));
        assert!(space.check().unwrap().is_clean());
    }
}

#[test]
fn a_follower_redacts_its_log_as_well() {
    let directory = tempfile::tempdir().unwrap();
    let scene = Scene::new(&directory.path().join("notes"));
    scene.notes.delete_documents(DeleteDocuments::new(scene.purged.clone())).unwrap();
    let copy = directory.path().join("copy");
    scene.space.backup_to(&copy).unwrap();
    let follower = Space::open(&copy).unwrap();
    let last = scene.notes.last_sequence().unwrap();
    scene.notes.purge_documents(PurgeDocuments::OlderThanDays(0)).unwrap();
    let purge = scene.notes.changes_since(last).next().unwrap().unwrap();
    let is_purge = |edit: &Edit| matches!(edit, Edit::PurgeDocument { .. });
    assert_eq!(purge.edits.iter().filter(|edit| is_purge(edit)).count(), scene.purged.len());
    follower.apply(&purge.stamp.by, &purge.edits).unwrap();
    let edits = |notes: &Connection| -> Vec<Vec<Edit>> {
        notes.changes_since(0).map(|change| change.unwrap().edits).collect()
    };
    assert_eq!(edits(&follower.connect()), edits(&scene.notes));
    assert!(!log(&follower.connect()).contains(CANARY));
    assert!(follower.check().unwrap().is_clean());
}

/// What runs, and the number of writes before it.
type Interruption = (usize, Box<dyn FnOnce() + Send>);

/// A store that runs something before one of its writes.
struct Interrupted {
    store: Arc<dyn Store>,
    act: Mutex<Option<Interruption>>,
}

impl std::fmt::Debug for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Interrupted")
    }
}

impl Store for Interrupted {
    fn snapshot(&self) -> leafbase::Result<Box<dyn Snapshot>> {
        self.store.snapshot()
    }

    fn write(
        &self,
        options: WriteOptions,
        f: &mut dyn FnMut(&mut dyn Transaction) -> leafbase::Result<()>,
    ) -> leafbase::Result<()> {
        let mut act = self.act.lock().unwrap();
        match act.take() {
            Some((0, run)) => run(),
            Some((writes, run)) => *act = Some((writes - 1, run)),
            None => {}
        }
        drop(act);
        self.store.write(options, f)
    }

    fn flush(&self) -> leafbase::Result<()> {
        self.store.flush()
    }

    fn compact(&self) -> leafbase::Result<()> {
        self.store.compact()
    }

    fn verify(&self) -> leafbase::Result<bool> {
        self.store.verify()
    }

    fn bytes(&self) -> leafbase::Result<u64> {
        self.store.bytes()
    }
}

/// Compaction rewrites changes, and never one as it was before a purge.
#[test]
fn a_purge_within_a_compaction_stays() {
    for writes in 0..4 {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let interrupted =
            Arc::new(Interrupted { store: Arc::clone(&store), act: Mutex::default() });
        let space = Space::builder().over(Arc::clone(&interrupted) as _, true).unwrap();
        let notes = space.connect();
        let document = notes.create_document("purged").unwrap().id();
        notes.insert_markdown(&CANARY.repeat(100), document).unwrap();
        notes.delete_documents(document).unwrap();
        let act = move || {
            let space = Space::builder().over(store, false).unwrap();
            space.connect().purge_documents(PurgeDocuments::new([document])).unwrap();
        };
        *interrupted.act.lock().unwrap() = Some((writes, Box::new(act)));
        assert!(log(&notes).contains(CANARY));
        space.compact().unwrap();
        let is_purged = interrupted.act.lock().unwrap().is_none();
        // Control: later writes are not those of the compaction.
        assert_eq!(is_purged, writes < 3, "after {writes} writes");
        assert_eq!(log(&notes).contains(CANARY), !is_purged, "after {writes} writes");
    }
}

/// A document whose creation was undone and done again is one document to a purge.
#[test]
fn what_was_written_before_an_undo_is_purged() {
    // The clock stands still: times tell nothing apart.
    let clock = Arc::new(FixedClock::at(1_767_225_600_000));
    let space = Space::builder().clock(Arc::<FixedClock>::clone(&clock)).in_memory().unwrap();
    let notes = space.connect();
    notes.create_document("another").unwrap();
    let document = notes.create_document(&format!("{CANARY}title")).unwrap().id();
    notes.insert_markdown(&format!("{CANARY}text"), document).unwrap();
    let changes: Vec<_> = notes.changes_since(1).map(Result::unwrap).collect();
    for change in changes.iter().rev() {
        space.apply(&Author::ANONYMOUS, &change.inverse().unwrap()).unwrap();
    }
    assert_eq!(notes.documents().unwrap().len(), 1);
    space.apply(&Author::ANONYMOUS, &changes[0].edits).unwrap();
    notes.insert_markdown(&format!("{CANARY}later"), document).unwrap();
    notes.delete_documents(document).unwrap();
    assert_eq!(log(&notes).matches(&format!("{CANARY}text")).count(), 2);
    notes.purge_documents(PurgeDocuments::new([document])).unwrap();
    assert!(!log(&notes).contains(CANARY), "{}", log(&notes));
    assert!(space.check().unwrap().is_clean());
}

/// A merged change is redacted like any other.
#[test]
fn merged_changes_are_purged() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let document = notes.create_document("typed").unwrap().id();
    let line = notes.insert_markdown("x", document).unwrap()[0].id;
    for end in 0..20 {
        notes.update_markdown(line, format!("{CANARY}{end}").as_str()).unwrap();
    }
    let hour = std::time::Duration::from_secs(3_600);
    space.compact_with(CompactOptions::new().merge_edits_within(hour).keep_changes(21)).unwrap();
    assert!(log(&notes).contains(CANARY));
    notes.delete_documents(document).unwrap();
    notes.purge_documents(PurgeDocuments::new([document])).unwrap();
    assert!(!log(&notes).contains(CANARY));
    assert!(space.check().unwrap().is_clean());
}

/// A file that came from another document, and went with this one.
#[test]
fn files_are_purged_wherever_they_came_from() {
    let space = Space::in_memory().unwrap();
    let notes = space.connect();
    let [one, other, purged] =
        ["one", "other", "purged"].map(|title| notes.create_document(title).unwrap().id());
    let upload = |name: &str| {
        let request =
            UploadFile::new(one).named(format!("{CANARY}{name}.txt")).of_type("text/plain");
        let file = notes.upload_file(request, name.as_bytes()).unwrap();
        (file.block_id, file.asset_url.to_string())
    };
    // The first goes with the purge; the second was shown in it, and went with another document.
    let ((first, first_url), (second, second_url)) = (upload("first"), upload("second"));
    let show = |url: &str, document: DocumentId| {
        notes.insert_markdown(&format!("![]({url})"), document).unwrap()[0].id
    };
    show(&first_url, purged);
    let shown = show(&second_url, purged);
    let copy = show(&second_url, other);
    notes.delete_blocks(DeleteBlocks::new([first, second])).unwrap();
    notes.delete_blocks(DeleteBlocks::new([shown])).unwrap();
    notes.delete_blocks(DeleteBlocks::new([copy])).unwrap();
    assert!(log(&notes).matches(&format!("{CANARY}second")).count() > 1);
    notes.delete_documents(purged).unwrap();
    notes.purge_documents(PurgeDocuments::new([purged])).unwrap();
    // Blocks of the other documents keep the names: they are not purged.
    let edits: Vec<_> = notes.changes_since(0).flat_map(|change| change.unwrap().edits).collect();
    let files = edits.iter().filter_map(|edit| match edit {
        Edit::CreateAsset(asset) | Edit::EraseAsset(asset) => Some(asset),
        _ => None,
    });
    assert_eq!(files.clone().count(), 3);
    assert!(files.clone().all(leafbase::AssetRecord::is_redacted), "{}", log(&notes));
    assert!(space.check().unwrap().is_clean());
}
