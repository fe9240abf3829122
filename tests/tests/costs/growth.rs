//! Operations whose reads grow with their request: with several times as much of something, they
//! read no more than a few times as much.

use std::sync::Arc;

use leafbase::{
    ApplyMarkdown, BackLinks, BlockData, BlockDraft, BlockId, Connection, CreateDocuments,
    DeleteBlocks, DeleteDocuments, Destination, DocumentId, Durability, EmbeddingDraft,
    InsertBlocks, Limits, MissingEmbeddings, MoveBlocks, MoveDocuments, Position, PutEmbeddings,
    SearchBlocks, SearchIndexing, Space,
};
use tempfile::TempDir;

use crate::counted_store::{CountedStore, Counter, StoreCounts};
use crate::operations::Call;

/// An empty space that is filled for one operation.
struct GrownSpace {
    notes: Connection,
    counter: Counter,
    _folder: TempDir,
}

/// An operation, with the numbers of something that are compared.
struct Growth {
    name: &'static str,
    counts: [usize; 2],
    /// How many times as much may be read with the larger number.
    times: u64,
    /// Fills a space with that number.
    prepare: fn(&GrownSpace, usize) -> Call,
}

const GROWTHS: &[Growth] = &[
    Growth {
        name: "`undo` of a deletion of every other block, with insertions since",
        counts: [400, 3_200],
        times: 12,
        prepare: |space, count| {
            let (_, blocks) = space.page(texts(count, "x"));
            let deleted = blocks.iter().copied().skip(1).step_by(2);
            space.notes.delete_blocks(DeleteBlocks::new(deleted)).unwrap();
            let sequence = space.notes.last_sequence().unwrap();
            for block in blocks.iter().step_by(2).take(20) {
                space.notes.insert_markdown("new", Position::after(*block)).unwrap();
            }
            Box::new(move |notes| drop(notes.undo(sequence).unwrap()))
        },
    },
    Growth {
        name: "`undo` of a move of tagged blocks to another document",
        counts: [100, 800],
        times: 12,
        prepare: |space, count| {
            let (_, blocks) = space.page(texts(count, "#garden"));
            let (other, _) = space.page(texts(1, "x"));
            let request = MoveBlocks::new(blocks, Position::end_of(other));
            space.notes.move_blocks(request).unwrap();
            let sequence = space.notes.last_sequence().unwrap();
            Box::new(move |notes| drop(notes.undo(sequence).unwrap()))
        },
    },
    Growth {
        name: "`move_blocks`: one, of a document with many tagged ones",
        counts: [100, 800],
        times: 2,
        prepare: |space, count| {
            let (_, blocks) = space.page(texts(count, "#garden"));
            let (other, _) = space.page(texts(1, "x"));
            let request = MoveBlocks::new([blocks[0]], Position::end_of(other));
            Box::new(move |notes| drop(notes.move_blocks(request).unwrap()))
        },
    },
    Growth {
        name: "`undo` of a page replaced by other markdown",
        counts: [1_000, 8_000],
        times: 12,
        prepare: |space, count| {
            let (id, _) = space.page(texts(count, "lorem ipsum dolor sit amet"));
            let lines: Vec<_> = (0..count).map(|at| format!("new {at}")).collect();
            space.notes.apply_markdown(ApplyMarkdown::new(id, lines.join("\n\n"))).unwrap();
            let sequence = space.notes.last_sequence().unwrap();
            Box::new(move |notes| drop(notes.undo(sequence).unwrap()))
        },
    },
    Growth {
        name: "`search_blocks`: the last page of all documents",
        counts: [50, 400],
        times: 2,
        prepare: |space, count| {
            space.documents(count, |at| vec![page(&format!("Note {at}"), texts(1, "zephyr"))]);
            space.notes.space().flush_search().unwrap();
            let request = || SearchBlocks::everywhere("zephyr").limit(10);
            let mut cursor = None;
            loop {
                let page = match cursor.clone() {
                    None => request(),
                    Some(cursor) => request().after(cursor),
                };
                match space.notes.search_blocks(page).unwrap().next_cursor {
                    Some(next) => cursor = Some(next),
                    None => break,
                }
            }
            let request = request().after(cursor.unwrap());
            Box::new(move |notes| assert_eq!(notes.search_blocks(request).unwrap().len(), 10))
        },
    },
    Growth {
        name: "`back_links`: of a document whose title many have",
        counts: [50, 400],
        times: 2,
        prepare: |space, count| {
            let ids = space.documents(count, |_| vec![page("Untitled", Vec::new())]);
            let request = BackLinks::to(ids[0]).limit(5);
            Box::new(move |notes| assert!(notes.back_links(request).unwrap().is_empty()))
        },
    },
    Growth {
        name: "`back_links`: of a document whose title many have in other folders",
        counts: [50, 400],
        times: 2,
        prepare: |space, count| {
            space.documents(count, |_| vec![page("Untitled", Vec::new())]);
            let folder = space.notes.create_folder("Travel", None).unwrap().id;
            let drafts = CreateDocuments::new([page("Untitled", Vec::new())], folder);
            let id = space.notes.create_documents(drafts).unwrap()[0].id();
            let request = BackLinks::to(id).limit(5);
            Box::new(move |notes| assert!(notes.back_links(request).unwrap().is_empty()))
        },
    },
    Growth {
        name: "`document_links`: to a title that many documents have",
        counts: [50, 400],
        times: 2,
        prepare: |space, count| {
            space.documents(count, |_| vec![page("Untitled", Vec::new())]);
            let (id, _) = space.page(texts(3, "[[Untitled]]"));
            Box::new(move |notes| assert!(notes.document_links(id).unwrap().links.is_empty()))
        },
    },
    Growth {
        name: "`back_links`: of a document of many blocks",
        counts: [200, 1_600],
        times: 5,
        prepare: |space, count| {
            let (id, blocks) = space.page(texts(count, "x"));
            let link = format!("[x](block://{})", blocks[count / 2]);
            let (other, _) = space.page(texts(1, &link));
            assert_ne!(other, id);
            let request = BackLinks::to(id);
            Box::new(move |notes| assert_eq!(notes.back_links(request).unwrap().len(), 1))
        },
    },
    Growth {
        name: "`move_documents`: back from the trash, with many tasks",
        counts: [200, 1_600],
        times: 9,
        prepare: |space, count| {
            let (id, _) = space.page(Vec::new());
            let lines: Vec<_> = (0..count).map(|at| format!("- [ ] task {at}")).collect();
            space.notes.insert_markdown(&lines.join("\n"), id).unwrap();
            space.notes.delete_documents(DeleteDocuments::new([id])).unwrap();
            let request = MoveDocuments::new([id], Destination::Unsorted);
            Box::new(move |notes| drop(notes.move_documents(request).unwrap()))
        },
    },
    Growth {
        name: "`search_blocks`: the blocks around one, among many siblings",
        counts: [200, 1_600],
        times: 2,
        prepare: |space, count| {
            let (_, blocks) = space.page(texts(count, "x"));
            let request = SearchBlocks::new(blocks[count - 2], "x").context(1, 1);
            Box::new(move |notes| {
                let found = notes.search_blocks(request).unwrap();
                assert_eq!((found[0].before.len(), found[0].after.len()), (1, 1));
            })
        },
    },
];

fn page(title: &str, content: Vec<BlockDraft>) -> BlockDraft {
    BlockDraft::new(BlockData::page(title)).with_content(content)
}

fn texts(count: usize, text: &str) -> Vec<BlockDraft> {
    (0..count).map(|at| BlockDraft::new(BlockData::text(format!("{text} {at}")))).collect()
}

impl GrownSpace {
    fn new() -> Self {
        let (folder, counter) = (tempfile::tempdir().unwrap(), Counter::default());
        let store = CountedStore::create(folder.path(), &counter).unwrap();
        let space = Space::builder().search_indexing(SearchIndexing::OnDemand).search_threads(1);
        let mut limits = Limits::default();
        limits.blocks_per_request = 10_000;
        let space = space.limits(limits).over(Arc::new(store), true).unwrap();
        let notes = space.connect().with_durability(Durability::Relaxed);
        Self { notes, counter, _folder: folder }
    }

    /// A document and its blocks.
    fn page(&self, blocks: Vec<BlockDraft>) -> (DocumentId, Vec<BlockId>) {
        let id = self.notes.create_document("Page").unwrap().id();
        let request = InsertBlocks::blocks(blocks, Position::end_of(id));
        let inserted = self.notes.insert_blocks(request).unwrap();
        (id, inserted.iter().map(|block| block.id).collect())
    }

    /// Documents outside of folders, by ID.
    fn documents(
        &self,
        count: usize,
        drafts: impl Fn(usize) -> Vec<BlockDraft>,
    ) -> Vec<DocumentId> {
        let drafts = (0..count).flat_map(drafts);
        let request = CreateDocuments::new(drafts, Destination::Unsorted);
        let created = self.notes.create_documents(request).unwrap();
        created.iter().map(|document| document.id()).collect()
    }

    /// Keys and entries that a call reads.
    fn reads(&self, call: Call) -> u64 {
        self.notes.space().flush().unwrap();
        self.notes.space().flush_search().unwrap();
        self.counter.take();
        call(&self.notes);
        let StoreCounts { lookups, ranges, entries, .. } = self.counter.take();
        lookups + ranges + entries
    }
}

impl Growth {
    fn reads(&self, count: usize) -> u64 {
        let space = GrownSpace::new();
        let call = (self.prepare)(&space, count);
        space.reads(call)
    }

    /// What is read too often.
    fn excess(&self) -> Option<String> {
        let ([less, more], [few, many]) = (self.counts, self.counts.map(|count| self.reads(count)));
        let excess = || format!("{}: {few} reads with {less}, {many} with {more}", self.name);
        (many > few * self.times).then(excess)
    }
}

#[test]
fn reads_grow_with_the_request() {
    let excess: Vec<_> = GROWTHS.iter().filter_map(Growth::excess).collect();
    assert!(excess.is_empty(), "{}", excess.join("\n"));
}

#[test]
fn a_bundle_of_vectors_is_read_once_for_all_its_documents() {
    let space = GrownSpace::new();
    let ids = space.documents(200, |at| vec![page(&format!("Note {at}"), Vec::new())]);
    let vectors = ids.iter().map(|id| EmbeddingDraft::new(id.root(), vec![1.0, 2.0]));
    space.notes.put_embeddings(PutEmbeddings::new("m", vectors)).unwrap();
    let missing = |model: &'static str| -> Call {
        Box::new(move |notes| {
            drop(notes.missing_embeddings(MissingEmbeddings::of_documents(model)).unwrap());
        })
    };
    let (some, none) = (space.reads(missing("m")), space.reads(missing("other")));
    assert!(some <= none, "{some} reads with vectors, {none} without");
}
