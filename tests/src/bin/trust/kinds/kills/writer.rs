//! The process that is killed: it makes or opens a space, works on it, and says each thing when it
//! is done.

use std::hash::Hasher;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

use leafbase::{
    Connection, Durability, Fetch, GetItems, ListCollections, ListDocuments, Result,
    SearchIndexing, Space, SpaceBuilder, TaskScope, UploadFile,
};

use crate::random::Random;
use crate::world::work::{self, APART, shown};

/// What starts this program as a writer.
pub const ARGUMENT: &str = "--write-until-killed";
/// The author of what is compared.
pub const MAIN: &str = "main";

/// Bytes of the longest file that the other thread uploads.
const LONGEST: usize = 2 << 20;
/// A writer that nobody kills ends after so many calls.
const MOST_CALLS: usize = 2_000;
/// Threads that write small things beside it, at most.
const SCRIBBLERS: u64 = 3;

/// Says a line whole: a part of one would be taken for another.
pub fn say(line: &str) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock();
    let mut out = io::stdout().lock();
    let said = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
    // Nobody listens any more.
    if said.is_err() {
        std::process::exit(0);
    }
}

pub fn write(path: &Path, seed: u64, lies: bool) -> ExitCode {
    let written = if lies { write_too_late(path) } else { try_write(path, seed) };
    if let Err(error) = written {
        say(&format!("failed {error:?}"));
    }
    ExitCode::SUCCESS
}

fn make_or_open(path: &Path, builder: &SpaceBuilder) -> Result<Space> {
    if path.exists() {
        return builder.clone().open(path);
    }
    say("making");
    builder.clone().create(path)
}

/// A control: each call is said to be done before it is.
fn write_too_late(path: &Path) -> Result<()> {
    let notes = make_or_open(path, &Space::builder())?.connect().acting_as(MAIN);
    say(&format!("open {} {}", notes.last_sequence()?, state(&notes)?));
    for _ in 0..MOST_CALLS {
        say(&format!("done {}", notes.last_sequence()? + 1));
        notes.create_document("too late")?;
    }
    Ok(())
}

fn try_write(path: &Path, seed: u64) -> Result<()> {
    let mut random = Random::new(seed);
    let is_relaxed = random.one_in(2);
    let indexing =
        if random.one_in(2) { SearchIndexing::Background } else { SearchIndexing::OnDemand };
    let durability = if is_relaxed { Durability::Relaxed } else { Durability::Durable };
    let builder = Space::builder().durability(durability).search_indexing(indexing);
    let space = make_or_open(path, &builder)?;
    let notes = space.connect().acting_as(MAIN);
    let mut sequence = notes.last_sequence()?;
    say(&format!("open {sequence} {}", state(&notes)?));
    if random.one_in(2) {
        let (notes, seed) = (space.connect().acting_as("uploads"), random.next());
        thread::spawn(move || upload(&notes, seed));
    }
    for number in 0..random.below(SCRIBBLERS + 1) {
        let notes = space.connect().acting_as(&format!("scribbles {number}"));
        thread::spawn(move || scribble(&notes));
    }
    if random.one_in(2) {
        let space = space.clone();
        thread::spawn(move || while space.flush_search().is_ok() {});
    }
    for _ in 0..MOST_CALLS {
        let done = work::step(&notes, random.next());
        let changes: Result<Vec<_>> = notes.changes_since(sequence).collect();
        let own = changes?
            .iter()
            .filter(|change| &change.stamp.by == notes.author())
            .map(|change| change.sequence)
            .max();
        sequence = own.unwrap_or(sequence);
        say(&format!("state {sequence} {}", state(&notes)?));
        // Relaxed writes survive the process, too.
        if done.outcome.is_ok() {
            say(&format!("done {sequence}"));
        }
    }
    Ok(())
}

/// Uploads one file after the other into a document apart.
fn upload(notes: &Connection, seed: u64) {
    let (mut random, mut last) = (Random::new(seed), 0);
    let Ok(document) = notes.create_document(APART) else { return };
    loop {
        let bytes = vec![random.below(256).to_le_bytes()[0]; random.place(LONGEST)];
        let uploaded = notes.upload_file(UploadFile::new(document.id()).named("long.bin"), &*bytes);
        if uploaded.is_err() {
            return;
        }
        say_own(notes, &mut last);
    }
}

/// Writes one block after the other into a document apart.
fn scribble(notes: &Connection) {
    let mut last = 0;
    let Ok(document) = notes.create_document(APART) else { return };
    while notes.insert_markdown("scribbled", document.id()).is_ok() {
        say_own(notes, &mut last);
    }
}

/// Says that what this author wrote is done; `last` is what was said before.
fn say_own(notes: &Connection, last: &mut u64) {
    let changes: Result<Vec<_>> = notes.changes_since(*last).collect();
    let own = changes.into_iter().flatten().filter(|change| &change.stamp.by == notes.author());
    *last = own.map(|change| change.sequence).max().unwrap_or(*last);
    say(&format!("done {last}"));
}

/// All that there is but what the other thread does, as a number.
pub fn state(notes: &Connection) -> Result<String> {
    #[expect(deprecated, reason = "a hash that is the same in every process")]
    let mut hasher = std::hash::SipHasher::new();
    let mut add = |text: &str| hasher.write(text.as_bytes());
    let documents = notes.list_documents(ListDocuments::new().with_metadata())?;
    for document in documents.items.iter().filter(|document| document.title != APART) {
        add(&shown(document));
        add(&shown(notes.fetch(Fetch::new(document.id()).with_metadata())?));
    }
    for scope in [TaskScope::Inbox, TaskScope::Logbook] {
        add(&shown(notes.tasks(scope)?));
    }
    for collection in notes.list_collections(ListCollections::default())?.iter() {
        add(&shown(collection));
        add(&shown(notes.items(GetItems::of(collection.id))?));
    }
    Ok(format!("{:016x}", hasher.finish()))
}
