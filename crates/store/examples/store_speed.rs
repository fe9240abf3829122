//! What the paths in use cost.
//!
//! `cargo run --release -p leafbase-store --example store_speed`
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a measurement: it fails, or it prints"
)]

use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use leafbase_model::{
    Author, BlockData, BlockId, BlockRecord, DocumentId, DocumentRecord, Edit, Forest, Location, Node, Slot, SpaceId,
    Stamp, Timestamp,
};
use leafbase_store::kv::{Durability, OpenOptions, WriteOptions};
use leafbase_store::{EdgeTarget, Extractor, SpaceMeta, SpaceStore, directory};

fn no_edges(_: &BlockData, _: &mut dyn FnMut(EdgeTarget)) {}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ (mixed >> 33)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    /// A millisecond, and 80 random bits.
    fn id(&mut self, millis: u64) -> [u8; 16] {
        let number = u128::from(millis) << 80 | u128::from(self.next() & 0xffff) << 64 | u128::from(self.next());
        number.to_be_bytes()
    }
}

fn block(random: &mut Random, millis: u64) -> BlockRecord {
    let text = format!("block {:016x} {:016x} with some words of text beside", random.next(), random.next());
    let stamp = Stamp { at: Timestamp::from_millis(1_700_000_000_000), by: Author::new("Ada Lovelace") };
    BlockRecord {
        id: BlockId::from_bytes(random.id(millis)),
        rev: 1,
        created: stamp.clone(),
        modified: stamp,
        data: BlockData::text(text),
    }
}

/// A document of so many blocks: its root, and pages of 20 texts beside texts.
fn document(random: &mut Random, millis: u64, blocks: usize) -> Edit {
    let mut root = block(random, millis);
    root.data = BlockData::page("A title");
    let id = DocumentId::of_root(root.id);
    let mut nodes = vec![Node { depth: 0, block: root }];
    for number in 1..blocks {
        let mut node = Node { depth: 1, block: block(random, millis) };
        match number % 50 {
            1 => node.block.data = BlockData::page("A page"),
            2..=20 => node.depth = 2,
            _ => {}
        }
        nodes.push(node);
    }
    let at = Timestamp::from_millis(1_700_000_000_000);
    let record = DocumentRecord { id, location: Location::Unsorted, day: None, created_at: at, modified_at: at };
    Edit::CreateDocument { record, forest: Forest(nodes) }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn tell(name: &str, times: Vec<Duration>) {
    let count = times.len();
    println!("{name:40} {:>10.2?} (median of {count})", median(times));
}

fn time<T>(count: usize, mut work: impl FnMut() -> T) -> Vec<Duration> {
    (0..count)
        .map(|_| {
            let started = Instant::now();
            black_box(work());
            started.elapsed()
        })
        .collect()
}

struct Bench {
    space: SpaceStore,
    random: Random,
    documents: Vec<DocumentId>,
    /// Blocks that have a parent.
    blocks: Vec<BlockId>,
}

fn stamp() -> Stamp {
    Stamp { at: Timestamp::from_millis(1_700_000_001_000), by: Author::new("Ada Lovelace") }
}

fn import(space: SpaceStore, sizes: &[usize], options: WriteOptions, name: &str) -> Bench {
    let mut random = Random(42);
    let millis = |number: usize| 1_700_000_000_000 + 10 * u64::try_from(number).unwrap();
    let edits: Vec<Edit> =
        sizes.iter().enumerate().map(|(number, size)| document(&mut random, millis(number), *size)).collect();
    let (mut documents, mut blocks) = (vec![], vec![]);
    for edit in &edits {
        let Edit::CreateDocument { record, forest } = edit else { unreachable!() };
        documents.push(record.id);
        blocks.extend(forest.0.iter().skip(1).map(|node| node.block.id));
    }
    let started = Instant::now();
    for edit in edits {
        let mut edit = Some(edit);
        space.write(options, &stamp(), |open| open.apply(edit.take().into_iter().collect())).unwrap();
    }
    space.flush().unwrap();
    let took = started.elapsed();
    println!("{name:40} {took:>10.2?} for {} blocks", blocks.len() + documents.len());
    Bench { space, random, documents, blocks }
}

impl Bench {
    fn reads(&mut self) {
        let Self { space, random, documents, blocks } = self;
        let small = *documents.last().unwrap();
        let fetch = |document: DocumentId| {
            move |space: &SpaceStore| space.snapshot().unwrap().reader().subtree(document.root(), None).unwrap()
        };
        tell("fetch 100 blocks", time(2_000, || fetch(small)(space)));
        tell("fetch 10,000 blocks", time(50, || fetch(documents[0])(space)));
        tell("fetch 100 blocks, random document", time(2_000, || fetch(documents[1 + random.below(900)])(space)));
        tell(
            "fetch 100 blocks level by level",
            time(2_000, || space.snapshot().unwrap().reader().subtree(small.root(), Some(9)).unwrap()),
        );
        let mut pick = || blocks[random.below(blocks.len())];
        tell("snapshot", time(5_000, || space.snapshot().unwrap()));
        tell("block by ID", time(20_000, || space.snapshot().unwrap().reader().block(pick()).unwrap().unwrap()));
        tell(
            "document of a block",
            time(20_000, || space.snapshot().unwrap().reader().locate(pick()).unwrap().unwrap()),
        );
    }

    fn writes(&mut self, durability: Durability, count: usize) {
        let options = WriteOptions::durability(durability);
        let Self { space, random, documents, blocks } = self;
        let update = || {
            let id = blocks[random.below(blocks.len())];
            let started = Instant::now();
            space
                .write(options, &stamp(), |open| {
                    let reader = open.reader()?;
                    let before = reader.block(id)?.unwrap();
                    let document = reader.locate(id)?.unwrap().document;
                    let mut after = before.clone();
                    after.rev += 1;
                    after.data.markdown.push('x');
                    open.apply(vec![Edit::Update { document, before: Box::new(before), after: Box::new(after) }])
                })
                .unwrap();
            started.elapsed()
        };
        tell(&format!("update one, {durability:?}"), std::iter::repeat_with(update).take(count).collect());
        let mut number = 0;
        let insert = || {
            let after = blocks[random.below(blocks.len())];
            number += 1;
            let block = block(random, 1_700_000_900_000 + number);
            let started = Instant::now();
            space
                .write(options, &stamp(), |open| {
                    let standing = open.reader()?.locate(after)?.unwrap();
                    let slot =
                        Slot { document: standing.document, parent: standing.parent.unwrap(), after: Some(after) };
                    open.apply(vec![Edit::Insert { slot, forest: Forest::one(block.clone()) }])
                })
                .unwrap();
            started.elapsed()
        };
        tell(&format!("insert one, {durability:?}"), std::iter::repeat_with(insert).take(count).collect());
        let document = documents[1];
        let append = || {
            number += 1;
            let block = block(random, 1_700_000_900_000 + number);
            let started = Instant::now();
            space
                .write(options, &stamp(), |open| {
                    let after = open.reader()?.last_child(document, document.root())?;
                    let slot = Slot { document, parent: document.root(), after };
                    open.apply(vec![Edit::Insert { slot, forest: Forest::one(block.clone()) }])
                })
                .unwrap();
            started.elapsed()
        };
        tell(&format!("append one, {durability:?}"), std::iter::repeat_with(append).take(count).collect());
    }
}

fn space(directory: &tempfile::TempDir, name: &str) -> SpaceStore {
    let store = directory::create(directory.path().join(name), &OpenOptions::default()).unwrap();
    let meta = SpaceMeta { id: SpaceId::from_bytes([1; 16]), name: String::new(), zone: "UTC".to_owned() };
    SpaceStore::create(Arc::new(store), Extractor::of_edges(no_edges), &meta).unwrap()
}

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let (durable, relaxed) = (WriteOptions::default(), WriteOptions::durability(Durability::Relaxed));
    import(space(&directory, "a"), &[2_000; 50], durable, "import, 50 documents, Durable");
    import(space(&directory, "b"), &[2_000; 50], relaxed, "import, 50 documents, Relaxed");
    let mut sizes = vec![100; 901];
    sizes[0] = 10_000;
    import(space(&directory, "c"), &sizes, durable, "import, 901 documents, Durable");
    let mut bench = import(space(&directory, "d"), &sizes, relaxed, "import, 901 documents, Relaxed");
    println!("{:?}", bench.space.stats());
    bench.reads();
    bench.writes(Durability::Relaxed, 5_000);
    bench.writes(Durability::Durable, 500);
    let started = Instant::now();
    let report = bench.space.check(&mut |_| ControlFlow::Continue(())).unwrap();
    assert!(report.is_clean(), "{report:?}");
    println!("check {:.2?}", started.elapsed());
}
