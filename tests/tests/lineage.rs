//! Spaces whose files are restored, swapped and mixed: an older store under a newer index, a backup
//! copied over a space, directories of two copies that have diverged. Every search finds what a
//! scan of all documents finds, and every position of the change log goes on rightly or is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use leafbase::{
    BlockPatch, ChangePosition, ChangeToken, Connection, Document, DocumentId, Durability,
    ErrorKind, IdSource, Invariant, Location, SearchIndexing, Space, Timestamp, UpdateBlocks,
};
use leafbase_store::directory::STORE_FILE;

const WORDS: [&str; 6] = ["amber", "birch", "cedar", "delta", "ember", "fjord"];
const INDEX: &str = "index";
/// Fewer than a search returns at most.
const MAX_DOCUMENTS: usize = 15;

/// SplitMix64: the same numbers for the same seed.
#[derive(Debug)]
struct Dice(AtomicU64);

impl Dice {
    fn next(&self) -> u64 {
        let state = self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }
}

/// IDs that go on over all histories. With `same_tokens` the tokens tell no history from another.
#[derive(Clone)]
struct Ids {
    dice: Arc<Dice>,
    same_tokens: bool,
}

impl IdSource for Ids {
    fn new_id(&self, _: Timestamp) -> [u8; 16] {
        let (high, low) = (self.dice.next() >> 4, self.dice.next());
        (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
    }

    fn new_token(&self, _: Timestamp) -> ChangeToken {
        ChangeToken::from_u64(if self.same_tokens { 7 } else { self.dice.next() })
    }
}

/// Two directories of one space, and copies of them that were kept.
struct World {
    place: tempfile::TempDir,
    dice: Arc<Dice>,
    ids: Ids,
    kept: Vec<PathBuf>,
    /// Positions that a follower has kept, of all histories.
    positions: BTreeMap<String, ChangePosition>,
}

/// What was found wrong.
type Wrong = String;

impl World {
    fn new(seed: u64, same_tokens: bool) -> Self {
        let dice = Arc::new(Dice(AtomicU64::new(seed)));
        let ids = Ids { dice: Arc::new(Dice(AtomicU64::new(!seed))), same_tokens };
        let place = tempfile::tempdir().unwrap();
        let world = Self { place, dice, ids, kept: Vec::new(), positions: BTreeMap::new() };
        let space = world.builder().create(world.path("a")).unwrap();
        space.connect().create_document("amber").unwrap();
        space.flush_search().unwrap();
        space.close().unwrap();
        copy(&world.path("a"), &world.path("b"));
        world
    }

    fn builder(&self) -> leafbase::SpaceBuilder {
        let builder = Space::builder().durability(Durability::Relaxed).ids(self.ids.clone());
        builder.search_indexing(SearchIndexing::OnDemand)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// One of the two directories.
    fn any(&self) -> PathBuf {
        self.path(["a", "b"][self.dice.below(2)])
    }

    fn text(&self) -> String {
        format!("{} {}", WORDS[self.dice.below(6)], WORDS[self.dice.below(6)])
    }

    fn write(&self, notes: &Connection) {
        let documents = live(notes);
        match self.dice.below(4) {
            0 if documents.len() > 3 => {
                let id = documents[self.dice.below(documents.len())].id();
                notes.delete_documents(leafbase::DeleteDocuments::from(id)).unwrap();
            }
            1 | 2 if !documents.is_empty() => {
                let id = documents[self.dice.below(documents.len())].id();
                let patch = BlockPatch::markdown(id.root(), self.text());
                notes.update_blocks(UpdateBlocks::new([patch])).unwrap();
            }
            _ if documents.len() < MAX_DOCUMENTS => {
                notes.create_document(&self.text()).unwrap();
            }
            _ => {}
        }
    }

    /// Opens a directory, checks it, writes, checks it again, and closes it.
    fn visit(&mut self, path: &Path) -> Result<(), Wrong> {
        let space = self.builder().open(path).unwrap();
        let notes = space.connect();
        self.follow(&notes)?;
        // A search in between, or writes that hide what was rolled back.
        if self.dice.below(2) == 0 {
            searches(&notes)?;
        }
        for _ in 0..self.dice.below(8) {
            self.write(&notes);
        }
        searches(&notes)?;
        if self.dice.below(2) == 0 {
            space.flush_search().unwrap();
            searches(&notes)?;
        }
        self.follow(&notes)?;
        for _ in 0..self.dice.below(3) {
            self.write(&notes);
        }
        let report = space.check().unwrap();
        if !report.is_clean() {
            return Err(format!("after searches: {:?}", report.problems));
        }
        if self.dice.below(4) == 0 {
            let backup = self.path(&format!("kept{}", self.kept.len()));
            space.backup_to(&backup).unwrap();
            self.kept.push(backup);
        }
        space.close().unwrap();
        Ok(())
    }

    /// Resumes at every position that was kept, and keeps that of the end.
    fn follow(&mut self, notes: &Connection) -> Result<(), Wrong> {
        let all: Vec<_> = notes.changes_since(0).collect::<Result<_, _>>().unwrap();
        for position in self.positions.values() {
            let at = usize::try_from(position.sequence()).unwrap();
            let is_ours = all.get(at - 1).is_some_and(|change| change.position() == *position);
            let told: Result<Vec<_>, _> = notes.changes_since(*position).collect();
            match told {
                Ok(told) if is_ours && told == all[at..] => {}
                Err(error) if !is_ours && error.kind() == ErrorKind::HistoryGone => {}
                told => return Err(format!("{position}, ours: {is_ours}: {told:?}")),
            }
        }
        let last = notes.last_position().unwrap();
        self.positions.insert(last.to_string(), last);
        while self.positions.len() > 20 {
            let nth = self.dice.below(self.positions.len());
            let gone = self.positions.keys().nth(nth).unwrap().clone();
            self.positions.remove(&gone);
        }
        Ok(())
    }

    /// One of the things that a careless administrator does to closed directories.
    fn mix(&mut self) -> &'static str {
        let (a, b) = (self.path("a"), self.path("b"));
        match self.dice.below(6) {
            0 => {
                let kept = self.path(&format!("kept{}", self.kept.len()));
                copy(&self.any(), &kept);
                self.kept.push(kept);
                "a copy is kept"
            }
            // `cp -r backup/. notes/`: the index of the space stays, unless the copy has one.
            1 | 2 if !self.kept.is_empty() => {
                let kept = self.kept[self.dice.below(self.kept.len())].clone();
                fs::copy(kept.join(STORE_FILE), self.any().join(STORE_FILE)).unwrap();
                "an older store under a newer index"
            }
            3 => {
                swap(&a.join(STORE_FILE), &b.join(STORE_FILE));
                "stores swapped"
            }
            4 => {
                swap(&a.join(INDEX), &b.join(INDEX));
                "indexes swapped"
            }
            _ => {
                swap(&a, &b);
                "directories swapped"
            }
        }
    }
}

/// The documents outside of the trash.
fn live(notes: &Connection) -> Vec<Document> {
    let all = notes.documents().unwrap().0.into_iter();
    all.filter(|document| document.record.location != Location::Trash).collect()
}

/// Every word finds what a scan of all documents finds.
fn searches(notes: &Connection) -> Result<(), Wrong> {
    let documents = live(notes);
    for word in WORDS {
        let has_word = |title: &str| title.split(' ').any(|other| other == word);
        let scanned = documents.iter().filter(|document| has_word(&document.title));
        let scanned: BTreeSet<DocumentId> = scanned.map(|document| document.id()).collect();
        let found = notes.search(word).map_err(|error| format!("{word}: {error:?}"))?;
        // `ember` is one edit away from `amber`.
        let found = found.iter().filter(|hit| hit.corrected.is_empty());
        let found: BTreeSet<DocumentId> = found.map(|hit| hit.document_id).collect();
        if found != scanned {
            return Err(format!("{word}: found {found:?}, there are {scanned:?}"));
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn swap(one: &Path, other: &Path) {
    let aside = one.with_file_name("aside");
    fs::rename(one, &aside).unwrap();
    fs::rename(other, one).unwrap();
    fs::rename(aside, other).unwrap();
}

/// Runs a world until something is wrong.
fn run(seed: u64, steps: usize, same_tokens: bool) -> Result<(), Wrong> {
    let mut world = World::new(seed, same_tokens);
    for step in 0..steps {
        let what = world.mix();
        for name in ["a", "b"] {
            let path = world.path(name);
            let visited = world.visit(&path);
            visited
                .map_err(|wrong| format!("seed {seed}, step {step}, {what}, {name}: {wrong}"))?;
        }
    }
    Ok(())
}

#[test]
fn searches_and_positions_survive_restores_and_swaps() {
    thread::scope(|scope| {
        let runs: Vec<_> = (0..10).map(|seed| scope.spawn(move || run(seed, 20, false))).collect();
        for run in runs {
            run.join().unwrap().unwrap_or_else(|wrong| panic!("{wrong}"));
        }
    });
}

/// The control: where tokens are all the same, a stale index is believed.
#[test]
fn without_tokens_searches_are_wrong() {
    let wrong: Vec<Wrong> = (0..10).filter_map(|seed| run(seed, 20, true).err()).collect();
    assert!(wrong.len() > 5, "{wrong:?}");
}

#[test]
fn a_check_reports_an_index_of_another_history() {
    let world = World::new(1, false);
    let (path, kept) = (world.path("a"), world.path("kept"));
    copy(&path, &kept);
    let write = |title: &str, is_indexed: bool| {
        let space = world.builder().open(&path).unwrap();
        space.connect().create_document(title).unwrap();
        if is_indexed {
            space.flush_search().unwrap();
        }
        space.close().unwrap();
    };
    write("birch", true);
    fs::copy(kept.join(STORE_FILE), path.join(STORE_FILE)).unwrap();
    write("cedar", false);
    let space = world.builder().open(&path).unwrap();
    let problems = space.check().unwrap().problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].invariant, Invariant::SearchIndex);
    assert_eq!(space.connect().search("cedar").unwrap().len(), 1);
    assert!(space.check().unwrap().is_clean(), "the search has rebuilt the index");
}

/// An index of the same history that lacks documents, has others, or has older versions: tokens
/// that are all the same let it pass for the right one.
#[test]
fn a_check_compares_the_documents_of_the_index() {
    let world = World::new(2, true);
    let (path, kept) = (world.path("a"), world.path("kept"));
    copy(&path, &kept);
    for title in ["birch", "cedar"] {
        let space = world.builder().open(&path).unwrap();
        space.connect().create_document(title).unwrap();
        space.flush_search().unwrap();
        assert!(space.check().unwrap().is_clean());
        space.close().unwrap();
        if title == "birch" {
            fs::copy(kept.join(STORE_FILE), path.join(STORE_FILE)).unwrap();
            let space = world.builder().open(&path).unwrap();
            space.connect().create_document("ember").unwrap();
            let problems = space.check().unwrap().problems;
            let messages: Vec<_> =
                problems.iter().map(|problem| problem.message.as_str()).collect();
            assert_eq!(messages, ["it lacks the document", "there is no such document"]);
            space.rebuild_search().unwrap();
            assert!(space.check().unwrap().is_clean());
            space.close().unwrap();
        }
    }
}

/// Two copies of one space have the same ID, so their indexes tell them apart by tokens alone.
#[cfg(unix)]
#[test]
fn the_index_of_an_open_space_follows_its_directory() {
    let world = World::new(3, false);
    let (path, moved, copy_path) = (world.path("a"), world.path("moved"), world.path("b"));
    let first = world.builder().open(&path).unwrap();
    first.connect().create_document("birch").unwrap();
    first.flush_search().unwrap();
    fs::rename(&path, &moved).unwrap();
    fs::rename(&copy_path, &path).unwrap();
    let second = world.builder().open(&path).unwrap();
    second.connect().create_document("cedar").unwrap();
    second.flush_search().unwrap();
    for (space, word) in [(&first, "delta"), (&second, "ember"), (&first, "fjord")] {
        space.connect().create_document(word).unwrap();
        space.flush_search().unwrap();
        for space in [&first, &second] {
            searches(&space.connect()).unwrap();
        }
    }
    assert!(second.check().unwrap().is_clean());
    first.close().unwrap();
    second.close().unwrap();
    for path in [path, moved] {
        let space = world.builder().open(path).unwrap();
        searches(&space.connect()).unwrap();
        assert!(space.check().unwrap().is_clean());
    }
}

/// The other tests of this file use absolute paths.
#[test]
fn the_index_of_a_relative_path_stays_where_the_space_was_opened() {
    let world = World::new(4, false);
    let parents = ["here", "there"].map(|name| world.path(name));
    for (parent, name) in parents.iter().zip(["a", "b"]) {
        fs::create_dir(parent).unwrap();
        fs::rename(world.path(name), parent.join("notes")).unwrap();
    }
    let spaces = parents.each_ref().map(|parent| {
        std::env::set_current_dir(parent).unwrap();
        world.builder().open("notes").unwrap()
    });
    // The current directory is that of the second space.
    for space in &spaces {
        searches(&space.connect()).unwrap();
    }
    for (space, word) in [(&spaces[0], "birch"), (&spaces[1], "cedar"), (&spaces[0], "delta")] {
        space.connect().create_document(word).unwrap();
        space.flush_search().unwrap();
        for space in &spaces {
            searches(&space.connect()).unwrap();
            assert!(space.check().unwrap().is_clean());
        }
    }
    for (space, parent) in spaces.into_iter().zip(parents) {
        space.close().unwrap();
        let space = world.builder().open(parent.join("notes")).unwrap();
        searches(&space.connect()).unwrap();
        assert!(space.check().unwrap().is_clean());
    }
    std::env::set_current_dir("/").unwrap();
}
