//! What a space costs on this machine: at rest, to open, in memory, by request.

use std::fs;
use std::path::{Path, PathBuf};

use benches::measure::{median, shown, timed};
use benches::workload::{Generator, Rng};
use leafbase::{Connection, DocumentId, Fetch, InsertBlocks, Position, SearchIndexing, Space};

/// Blocks of a document.
const BLOCKS: usize = 100;
/// Bytes of a page of memory, in which Linux counts.
const PAGE_BYTES: f64 = 4_096.0;

/// Times in microseconds, sizes in bytes.
#[derive(Clone, Debug)]
pub struct SpaceCosts {
    blocks: usize,
    pub bytes_at_rest: f64,
    /// Opening, and the first fetch of a document.
    pub open: f64,
    pub close: f64,
    pub memory: f64,
    pub fetch: f64,
    pub insert: f64,
    pub search: f64,
    /// Building the search index that a restored space lacks.
    pub rebuild: f64,
    /// Copying a closed space within this machine.
    pub copy: f64,
}

impl SpaceCosts {
    /// Makes a space with `documents`, copies it, and opens all `copies` at a time.
    pub fn measure(root: &Path, documents: usize, copies: usize) -> Self {
        let origin = root.join("origin.leafbase");
        let ids = make(&origin, documents);
        let bytes_at_rest = size_of(&origin) as f64;
        let paths: Vec<PathBuf> =
            (0..copies).map(|number| root.join(format!("{number}.leafbase"))).collect();
        let copied = paths.iter().map(|path| micros(|| copy(&origin, path)).0);
        let copy = median(copied.collect());

        let mut rng = Rng::new(3);
        let resident = resident_bytes();
        let mut opened = Vec::new();
        let open = paths.iter().map(|path| {
            let (took, notes) = micros(|| {
                let notes = open_space(path).connect();
                notes.fetch(Fetch::new(*rng.pick(&ids))).expect("a document");
                notes
            });
            opened.push(notes);
            took
        });
        let open = median(open.collect());
        // What a request of each kind needs is in memory once it was done.
        let warm = opened.iter().map(|notes| {
            [fetch(notes, *rng.pick(&ids)), insert(notes, *rng.pick(&ids)), search(notes)]
        });
        drop(warm.collect::<Vec<_>>());
        let memory = (resident_bytes() - resident) / copies as f64;
        let requests: Vec<[f64; 3]> = (0..copies * 10)
            .map(|number| {
                let notes = &opened[number % copies];
                [fetch(notes, *rng.pick(&ids)), insert(notes, *rng.pick(&ids)), search(notes)]
            })
            .collect();
        let of_kind = |kind: usize| median(requests.iter().map(|times| times[kind]).collect());
        let closed = opened.into_iter().map(|notes| {
            let space = notes.space().clone();
            drop(notes);
            micros(|| space.close().expect("closed")).0
        });
        let close = median(closed.collect());
        let rebuilt = paths.iter().take(10).map(|path| {
            fs::remove_dir_all(path.join("index")).expect("an index");
            let notes = open_space(path).connect();
            micros(|| {
                notes.search("word").expect("a search");
                notes.space().flush_search().expect("indexed");
            })
            .0
        });
        let rebuild = median(rebuilt.collect());
        Self {
            blocks: documents * BLOCKS,
            bytes_at_rest,
            open,
            close,
            memory,
            fetch: of_kind(0),
            insert: of_kind(1),
            search: of_kind(2),
            rebuild,
            copy,
        }
    }

    pub fn table(&self) -> String {
        let bytes = |bytes: f64| format!("{:.2} MiB", bytes / (1u64 << 20) as f64);
        let rows = [
            ("at rest", bytes(self.bytes_at_rest)),
            ("in memory while open", bytes(self.memory)),
            ("open and fetch a document of 100 blocks", shown(self.open)),
            ("close", shown(self.close)),
            ("fetch a document of 100 blocks", shown(self.fetch)),
            ("durable insert", shown(self.insert)),
            ("search for a word", shown(self.search)),
            ("rebuild the search index", shown(self.rebuild)),
            ("copy its directory", shown(self.copy)),
        ];
        let row = |(name, value): (&str, String)| format!("| {name} | {value} |\n");
        format!("| a space of {} blocks | |\n|---|---:|\n", self.blocks) + &rows.map(row).concat()
    }
}

fn open_space(path: &Path) -> Space {
    Space::builder().search_indexing(SearchIndexing::OnDemand).open(path).expect("a space")
}

fn make(path: &Path, documents: usize) -> Vec<DocumentId> {
    let mut make = Generator::new(7);
    let space = Space::create(path).expect("a space");
    let notes = space.connect();
    let ids = (0..documents).map(|_| {
        let lines = (0..BLOCKS).map(|_| make.words.text(&mut make.rng, 63));
        let text = lines.collect::<Vec<_>>().join("\n\n");
        let title = make.words.text(&mut make.rng, 24);
        let document = notes.create_document(&title).expect("created").id();
        notes.insert_markdown(&text, document).expect("inserted");
        document
    });
    let ids = ids.collect();
    space.flush_search().expect("indexed");
    space.close().expect("closed");
    ids
}

fn micros<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let (took, result) = timed(run);
    (took.as_secs_f64() * 1e6, result)
}

fn fetch(notes: &Connection, document: DocumentId) -> f64 {
    micros(|| notes.fetch(Fetch::new(document)).expect("a document")).0
}

fn insert(notes: &Connection, document: DocumentId) -> f64 {
    let request = InsertBlocks::markdown("a line that is new", Position::end_of(document));
    micros(|| notes.insert_blocks(request).expect("inserted")).0
}

fn search(notes: &Connection) -> f64 {
    micros(|| notes.search("new line").expect("found")).0
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("copied");
        }
    }
}

fn size_of(path: &Path) -> u64 {
    let entries = fs::read_dir(path).expect("a directory").map(|entry| entry.expect("an entry"));
    let size = |entry: fs::DirEntry| match entry.metadata().expect("metadata") {
        found if found.is_dir() => size_of(&entry.path()),
        found => found.len(),
    };
    entries.map(size).sum()
}

/// The memory of this process that is its own: without pages of files.
fn resident_bytes() -> f64 {
    let text = fs::read_to_string("/proc/self/statm").expect("Linux");
    let mut pages = text.split(' ').map(|pages| pages.parse::<f64>().expect("a number"));
    let (resident, shared) = (pages.nth(1).expect("resident"), pages.next().expect("shared"));
    (resident - shared) * PAGE_BYTES
}
