//! A process ends without closing its space: nothing that was acknowledged is lost.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{env, io, thread};

use leafbase::{Durability, Position, SearchIndexing, Space, SpaceBuilder};

/// Names the space in the environment of a child process.
const SPACE: &str = "LEAFBASE_WRITTEN_BY_A_CHILD";
/// What the child says when all of its writes have returned.
const DONE: &str = "all writes have returned";
const WRITES: usize = 2_000;

fn builder() -> SpaceBuilder {
    Space::builder().durability(Durability::Relaxed).search_indexing(SearchIndexing::OnDemand)
}

/// The child: writes, and then does nothing until it is killed.
fn write_and_wait(path: &Path) -> ! {
    let space = builder().open(path).unwrap();
    let notes = space.connect();
    let document = notes.documents().unwrap()[0].id();
    for number in 0..WRITES {
        notes.insert_markdown(&format!("keystroke {number}"), Position::end_of(document)).unwrap();
    }
    println!("{DONE}");
    loop {
        thread::park();
    }
}

fn start(test: &str, path: &Path) -> io::Result<Child> {
    let mut child = Command::new(env::current_exe()?);
    child.args(["--exact", test, "--nocapture"]).env(SPACE, path);
    child.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
}

#[test]
fn relaxed_writes_survive_a_kill() {
    if let Some(path) = env::var_os(SPACE) {
        write_and_wait(Path::new(&path));
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes");
    let space = builder().create(&path).unwrap();
    let document = space.connect().create_document("Typed").unwrap().id();
    space.close().unwrap();
    let mut child = start("relaxed_writes_survive_a_kill", &path).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains(DONE)), "the child has written");
    // `SIGKILL` on Unix.
    child.kill().unwrap();
    child.wait().unwrap();
    let space = builder().open(&path).unwrap();
    let text = space.connect().content_markdown(document).unwrap();
    assert_eq!(text.matches("keystroke").count(), WRITES);
    assert!(space.check().unwrap().is_clean());
}
