//! A space of each format that was ever released opens, is whole, and says what it said: its file
//! and its text are kept.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use leafbase_store::directory::STORE_FILE;
use tests::{reading, rich};

/// The formats, each with a directory of its own.
const FORMATS: [&str; 1] = ["format-1"];

fn kept(format: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format)
}

/// Everything that a reader sees.
fn text(path: &Path) -> String {
    let space = rich::builder().open(path).unwrap();
    let report = space.check().unwrap();
    assert!(report.is_clean(), "{:#?}", report.problems);
    let (notes, mut text) = (space.connect(), String::new());
    for question in reading::questions(&space).unwrap() {
        writeln!(text, "{question:?}\n{}\n", reading::ask(&notes, &question).unwrap()).unwrap();
    }
    text
}

#[test]
fn spaces_of_every_format_say_what_they_said() {
    for format in FORMATS {
        let place = tempfile::tempdir().unwrap();
        let copy = place.path().join(format);
        fs::create_dir(&copy).unwrap();
        fs::copy(kept(format).join(STORE_FILE), copy.join(STORE_FILE)).unwrap();
        let expected = fs::read_to_string(kept(format).join("space.txt")).unwrap();
        let found = text(&copy);
        let unlike =
            found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
        assert!(found == expected, "{format}: {unlike:?}");
        // It can be written to as well.
        let space = rich::builder().open(&copy).unwrap();
        let document = space.connect().acting_as("Bob").documents().unwrap().0.remove(0);
        space
            .connect()
            .insert_markdown("- [ ] one more line", leafbase::Position::end_of(document.id()))
            .unwrap();
        assert!(space.check().unwrap().is_clean());
    }
}

/// Makes the golden space of the present format, once, when the format is new, and its text from
/// what is kept: a file is never made again.
///
/// `cargo test -p tests --test golden -- --ignored`
#[test]
#[ignore = "a golden space is made once, when a format is new"]
fn make() {
    let directory = kept(FORMATS[FORMATS.len() - 1]);
    let place = tempfile::tempdir().unwrap();
    let copy = place.path().join("copy");
    if !directory.exists() {
        let written = place.path().join("written");
        let space = rich::builder().create(&written).unwrap();
        rich::fill(&space).unwrap();
        space.backup_to(&copy).unwrap();
        space.close().unwrap();
        let space = rich::builder().open(&copy).unwrap();
        space.compact().unwrap();
        space.close().unwrap();
        fs::create_dir_all(&directory).unwrap();
        fs::copy(copy.join(STORE_FILE), directory.join(STORE_FILE)).unwrap();
        fs::remove_dir_all(&copy).unwrap();
    }
    fs::create_dir(&copy).unwrap();
    fs::copy(directory.join(STORE_FILE), copy.join(STORE_FILE)).unwrap();
    fs::write(directory.join("space.txt"), text(&copy)).unwrap();
}
