//! The paths: what is made ready beforehand, and what is done and counted.

use crate::small::{BLOCKS, Small};
use leafbase::{
    BlockId, BlockPatch, Connection, DeleteBlocks, Fetch, InsertBlocks, ItemFilter, ItemUpdate,
    ListDocuments, ListTasks, MoveBlocks, Operator, Position, QueryItems, SearchBlocks,
    SearchDocuments, Sort, TaskScope, UpdateBlocks, UpdateItems,
};
use leafbase_markdown::{ParseOptions, parse, render};
use std::hint::black_box;

/// Does the path once, being told how often it did before.
pub type Run = Box<dyn FnMut(usize)>;

/// A path by the name that its count is stored under.
pub struct HotPath {
    pub name: &'static str,
    /// Enough that what comes by chance, such as where hash maps put things, evens out.
    pub runs: usize,
    /// Makes all ready for so many runs.
    pub ready: fn(usize) -> Run,
}

pub const PATHS: [HotPath; 26] = [
    HotPath { name: "fetch of 100 blocks", runs: 20, ready: fetch },
    HotPath { name: "fetch of 100 blocks, scoped, with links", runs: 20, ready: scoped_fetch },
    HotPath { name: "block by ID", runs: 200, ready: block },
    HotPath { name: "block to document", runs: 200, ready: document_of },
    HotPath { name: "latest 50 documents", runs: 20, ready: latest },
    HotPath { name: "insert in the middle", runs: 100, ready: insert },
    HotPath { name: "insert of 100", runs: 10, ready: insert_many },
    HotPath { name: "update", runs: 100, ready: update },
    HotPath { name: "update, durable", runs: 50, ready: durable_update },
    HotPath { name: "batch of 100 updates in 100 documents", runs: 5, ready: batch_of_updates },
    HotPath { name: "batch of 100 insertions in 100 documents", runs: 5, ready: batch_of_inserts },
    HotPath { name: "move of 50", runs: 10, ready: move_many },
    HotPath { name: "delete of 50", runs: 10, ready: delete_many },
    HotPath { name: "first 50 active tasks", runs: 20, ready: tasks },
    HotPath { name: "query of items", runs: 20, ready: query },
    HotPath { name: "update of an item", runs: 50, ready: update_item },
    HotPath { name: "markdown in", runs: 20, ready: markdown_in },
    HotPath { name: "markdown out", runs: 20, ready: markdown_out },
    HotPath { name: "insert of markdown", runs: 10, ready: insert_markdown },
    HotPath {
        name: "search: a common word",
        runs: 20,
        ready: |_| search(SearchDocuments::words("harvest")),
    },
    HotPath {
        name: "search: a rare word",
        runs: 20,
        ready: |_| search(SearchDocuments::words("zephyr")),
    },
    HotPath {
        name: "search: the beginning of words",
        runs: 20,
        ready: |_| search(SearchDocuments::words("harv")),
    },
    HotPath {
        name: "search: a pattern, selective",
        runs: 20,
        ready: |_| search(SearchDocuments::pattern("zeph[xy]r")),
    },
    HotPath {
        name: "search: a pattern, unselective",
        runs: 5,
        ready: |_| search(SearchDocuments::pattern(r"\w+ck\b")),
    },
    HotPath { name: "search: a pattern in one document", runs: 5, ready: search_within },
    HotPath { name: "update, then search for what it says", runs: 20, ready: update_and_search },
];

/// A note with a bit of everything.
const NOTE: &str = "\
# Trip to Lisbon

We leave on *Friday* and are back on **Tuesday**; see [the plan](https://example.com/plan) and `notes.txt`.

## Packing

- [ ] passport
- [x] charger, the ~~long~~ short one
  - with its plug
1. the tram at 9:40
2. the castle

> What is seen from above is seen best.

```rust
fn main() {}
```

| day | where |
|---|---|
| Friday | Alfama |
| Saturday | Belém |

---

A last line, in which nothing is marked, as most lines are.

";

/// Of so many texts.
const NOTES: usize = 10;

fn fetch(_: usize) -> Run {
    let small = Small::of(10);
    Box::new(move |at| {
        let request = Fetch::new(small.documents[at % 10]).with_metadata();
        black_box(small.connection.fetch(request).expect("a document"));
    })
}

fn scoped_fetch(_: usize) -> Run {
    let small = Small::linked();
    let scoped = small.connection.space().scoped([small.documents[0]]);
    Box::new(move |_| {
        black_box(scoped.fetch(Fetch::new(small.documents[0])).expect("a document"));
    })
}

/// One that was not met before.
fn fresh(small: &Small, at: usize) -> BlockId {
    small.blocks[at % 10][at / 10]
}

fn block(_: usize) -> Run {
    let small = Small::of(10);
    Box::new(move |at| {
        let request = Fetch::new(fresh(&small, at)).depth(0).with_metadata();
        black_box(small.connection.fetch(request).expect("a block"));
    })
}

fn document_of(_: usize) -> Run {
    let small = Small::of(10);
    Box::new(move |at| {
        black_box(small.connection.document_of(fresh(&small, at)).expect("a block"));
    })
}

fn latest(_: usize) -> Run {
    let small = Small::searched();
    Box::new(move |_| {
        let request = ListDocuments::new().descending().limit(50);
        black_box(small.connection.list_documents(request).expect("documents"));
    })
}

/// What is done with requests that were made before, the first of them first.
fn each<R: 'static>(
    mut small: Small,
    requests: Vec<R>,
    mut call: impl FnMut(&mut Small, R) + 'static,
) -> Run {
    let mut requests = requests.into_iter();
    Box::new(move |_| call(&mut small, requests.next().expect("a request for each run")))
}

fn insert(runs: usize) -> Run {
    let mut small = Small::of(5);
    let request = |at: usize| {
        let middle = Position::after(small.blocks[at % 5][BLOCKS / 2]);
        InsertBlocks::blocks(small.make.drafts(1), middle)
    };
    let requests = (0..runs).map(request).collect();
    each(small, requests, |small, request| {
        drop(black_box(small.connection.insert_blocks(request).expect("a block")))
    })
}

fn insert_many(runs: usize) -> Run {
    let mut small = Small::of(5);
    let request = |at: usize| {
        let end = Position::end_of(small.documents[at % 5]);
        InsertBlocks::blocks(small.make.drafts(100), end)
    };
    let requests = (0..runs).map(request).collect();
    each(small, requests, |small, request| {
        drop(black_box(small.connection.insert_blocks(request).expect("blocks")))
    })
}

fn update(runs: usize) -> Run {
    updates(Small::of(5), runs)
}

fn durable_update(runs: usize) -> Run {
    updates(Small::of(5).durable(), runs)
}

fn updates(mut small: Small, runs: usize) -> Run {
    let request = |at: usize| {
        let patch = BlockPatch::markdown(small.blocks[at % 5][at / 5], small.make.text());
        UpdateBlocks::new(vec![patch])
    };
    let requests = (0..runs).map(request).collect();
    each(small, requests, |small, request| {
        drop(black_box(small.connection.update_blocks(request).expect("an update")))
    })
}

/// One block of each of a hundred documents, another one in each run.
fn batch_of_updates(runs: usize) -> Run {
    let mut small = Small::of(100);
    let request = |at: usize| -> Vec<UpdateBlocks> {
        let Small { blocks, make, .. } = &mut small;
        let patch = |blocks: &Vec<BlockId>| BlockPatch::markdown(blocks[at * 7], make.text());
        blocks.iter().map(patch).map(|patch| UpdateBlocks::new(vec![patch])).collect()
    };
    let requests = (0..runs).map(request).collect();
    each(small, requests, |small, requests: Vec<UpdateBlocks>| {
        let updated = small.connection.batch(|batch| {
            requests.iter().try_for_each(|request| batch.update_blocks(request.clone()).map(drop))
        });
        updated.expect("updates");
    })
}

/// One block in the middle of each of a hundred documents.
fn batch_of_inserts(runs: usize) -> Run {
    let mut small = Small::of(100);
    let request = |at: usize| -> Vec<InsertBlocks> {
        let Small { blocks, make, .. } = &mut small;
        let middle = |blocks: &Vec<BlockId>| Position::after(blocks[at * 7]);
        let drafts = blocks.iter().map(|blocks| (make.drafts(1), middle(blocks)));
        drafts.map(|(drafts, middle)| InsertBlocks::blocks(drafts, middle)).collect()
    };
    let requests = (0..runs).map(request).collect();
    each(small, requests, |small, requests: Vec<InsertBlocks>| {
        let inserted = small.connection.batch(|batch| {
            requests.iter().try_for_each(|request| batch.insert_blocks(request.clone()).map(drop))
        });
        inserted.expect("insertions");
    })
}

/// From one document to another, and back with the next run.
fn move_many(runs: usize) -> Run {
    let small = Small::of(2);
    let request = |at: usize| {
        MoveBlocks::new(
            small.blocks[0][..50].to_vec(),
            Position::end_of(small.documents[(at + 1) % 2]),
        )
    };
    let requests = (0..runs).map(request).collect();
    each(small, requests, |small, request| {
        drop(black_box(small.connection.move_blocks(request).expect("a move")))
    })
}

fn delete_many(runs: usize) -> Run {
    let small = Small::of(runs.div_ceil(2));
    let halves = small.blocks.iter().flat_map(|blocks| blocks.chunks(50));
    let requests = halves.map(|half| DeleteBlocks::new(half.to_vec())).collect();
    each(small, requests, |small, request| {
        drop(black_box(small.connection.delete_blocks(request).expect("deletion")))
    })
}

fn tasks(_: usize) -> Run {
    let small = Small::with_tasks();
    Box::new(move |_| {
        let request = ListTasks::new(TaskScope::Active).limit(50);
        black_box(small.connection.tasks(request).expect("tasks"));
    })
}

fn query(_: usize) -> Run {
    let (small, collection) = Small::with_items();
    Box::new(move |_| {
        let query = QueryItems::of(collection).depth(0).limit(20);
        let query = query
            .filtered(ItemFilter::on("state", Operator::Equals, "open"))
            .sorted(Sort::ascending("effort"));
        black_box(small.connection.query_items(query).expect("items"));
    })
}

fn update_item(runs: usize) -> Run {
    let (small, collection) = Small::with_items();
    let items = small.blocks.last().expect("items");
    let request = |at: usize| {
        UpdateItems::new(collection, [ItemUpdate::of(items[at * 3]).with("effort", at)])
    };
    let requests = (0..runs).map(request).collect();
    each(small, requests, |small, request| {
        drop(black_box(small.connection.update_items(request).expect("an update")))
    })
}

fn markdown_in(_: usize) -> Run {
    let text = NOTE.repeat(NOTES);
    Box::new(move |_| drop(black_box(parse(&text, &ParseOptions::default()).expect("markdown"))))
}

/// A document of such texts.
fn notes() -> (Small, leafbase::Block) {
    let small = Small::of(1);
    let document = small.connection.create_document("notes").expect("a document").id();
    small.connection.insert_markdown(&NOTE.repeat(NOTES), document).expect("markdown");
    let page = small.connection.fetch(Fetch::new(document)).expect("a document");
    (small, page)
}

fn markdown_out(_: usize) -> Run {
    let (_, page) = notes();
    Box::new(move |_| drop(black_box(render(page.children()))))
}

fn insert_markdown(runs: usize) -> Run {
    let small = Small::of(1);
    let text = NOTE.repeat(NOTES);
    let make =
        |at| small.connection.create_document(&format!("note {at}")).expect("a document").id();
    let requests = (0..runs).map(make).collect();
    each(small, requests, move |small, document| {
        drop(black_box(small.connection.insert_markdown(&text, document).expect("markdown")));
    })
}

fn found(connection: &Connection, request: SearchDocuments) {
    assert!(
        !black_box(connection.search(request).expect("a search")).is_empty(),
        "nothing was found"
    );
}

fn search(request: SearchDocuments) -> Run {
    let small = Small::searched();
    found(&small.connection, request.clone());
    Box::new(move |_| found(&small.connection, request.clone()))
}

fn search_within(_: usize) -> Run {
    let small = Small::large();
    Box::new(move |_| {
        let request = SearchBlocks::new(small.documents[0], r"\b\w{12,}\b");
        assert!(
            !black_box(small.connection.search_blocks(request).expect("a search")).items.is_empty()
        );
    })
}

/// The index does not know of these writes: they are searched beside it.
fn update_and_search(runs: usize) -> Run {
    let small = Small::searched();
    found(&small.connection, SearchDocuments::words("zephyr"));
    let requests =
        (0..runs).map(|at| (small.blocks[at][at % 20], format!("wordnumber{at}"))).collect();
    each(small, requests, |small, (block, word)| {
        small.connection.update_markdown(block, &word).expect("an update");
        found(&small.connection, SearchDocuments::words(word));
    })
}
