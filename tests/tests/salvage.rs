//! Salvage: damage, what is saved of it, and what is listed.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use leafbase::{ErrorKind, LossKind, SalvageReport, Space, Timestamp};
use leafbase_store::kv::{OpenOptions, Store, WriteOptions};
use leafbase_store::{directory, rows};
use leafbase_test_outline::{FixedClock, SequentialIds};
use tests::reading::{self, Question};
use tests::rich;

/// 2033-05-18T03:33:20, when a space is salvaged.
const LATER: u64 = 2_000_000_000_000;

struct Bench {
    _place: tempfile::TempDir,
    from: PathBuf,
    to: PathBuf,
}

fn bench() -> Bench {
    let place = tempfile::tempdir().unwrap();
    let (from, to) = (place.path().join("damaged"), place.path().join("saved"));
    let space = rich::builder().create(&from).unwrap();
    rich::fill(&space).unwrap();
    space.close().unwrap();
    Bench { _place: place, from, to }
}

type Answers = Vec<(Question, Result<String, ErrorKind>)>;

fn answers(space: &Space, questions: &[Question]) -> Answers {
    let notes = space.connect();
    let ask = |question: &Question| {
        (question.clone(), reading::ask(&notes, question).map_err(|error| error.kind()))
    };
    questions.iter().map(ask).collect()
}

fn seen(path: &Path) -> Answers {
    let space = rich::builder().open(path).unwrap();
    let questions = reading::questions(&space).unwrap();
    answers(&space, &questions)
}

impl Bench {
    /// Salvages, and sees that nothing is wrong with the result and that the source is as it was.
    fn salvage(&self) -> SalvageReport {
        let file = self.from.join(directory::STORE_FILE);
        let before = fs::read(&file).unwrap();
        let report = Space::salvage(&self.from, &self.to).unwrap();
        assert!(fs::read(&file).unwrap() == before, "the source has changed");
        let space = rich::builder().open(&self.to).unwrap();
        let checked = space.check().unwrap();
        assert!(checked.is_clean(), "{:#?} after {report:#?}", checked.problems);
        report
    }

    /// Deletes or damages the rows whose key begins so and for which `is_meant` says so.
    fn harm(&self, begin: &[u8], harm: impl Fn(usize, &[u8]) -> Option<Vec<u8>>) {
        let store = directory::open(&self.from, &OpenOptions::new()).unwrap();
        let mut rows = Vec::new();
        let range = leafbase_store::kv::KeyRange {
            lower: std::ops::Bound::Included(begin),
            upper: std::ops::Bound::Unbounded,
            reverse: false,
        };
        store
            .snapshot()
            .unwrap()
            .scan(range, &mut |key, value| {
                if key.starts_with(begin) {
                    rows.push((key.to_vec(), value.to_vec()));
                }
                Ok(std::ops::ControlFlow::Continue(()))
            })
            .unwrap();
        assert!(!rows.is_empty());
        store
            .write(WriteOptions::default(), &mut |write| {
                rows.iter().enumerate().try_for_each(|(number, (key, value))| {
                    match harm(number, value) {
                        Some(other) => write.put(key, &other),
                        None => write.delete(key),
                    }
                })
            })
            .unwrap();
        store.close().unwrap();
    }

    /// Changes the body of a row of this keyspace, and gives it a valid checksum. False if there is
    /// no such row.
    fn harm_body(&self, tag: u8, number: usize, harm: impl FnOnce(&mut Vec<u8>)) -> bool {
        let store = directory::open(&self.from, &OpenOptions::new()).unwrap();
        let mut found = Vec::new();
        let (from, to) = ([tag], [tag + 1]);
        let visit = &mut |key: &[u8], value: &[u8]| {
            found.push((key.to_vec(), rows::body(key, value).unwrap()));
            Ok(ControlFlow::Continue(()))
        };
        let range = leafbase_store::kv::KeyRange::half_open(&from, &to);
        store.snapshot().unwrap().scan(range, visit).unwrap();
        if let Some((key, body)) = found.get_mut(number) {
            harm(body);
            let write = &mut |write: &mut dyn leafbase_store::kv::Transaction| {
                write.put(key, &rows::seal(key, body))
            };
            store.write(WriteOptions::default(), write).unwrap();
        }
        store.close().unwrap();
        number < found.len()
    }
}

#[test]
fn a_whole_space_is_saved_whole() {
    let bench = bench();
    let report = bench.salvage();
    assert!(report.is_whole(), "{:#?}", report.losses);
    assert_eq!(seen(&bench.to), seen(&bench.from));
    assert_eq!(Space::salvage(&bench.from, &bench.to).unwrap_err().kind(), ErrorKind::Validation);
}

/// Keyspace, which of its rows are damaged, and which kinds of losses are told.
#[test]
fn each_kind_of_record_is_lost_and_listed() {
    use LossKind::{Block, Change, Document, File, Folder, Record, Schema, Space as Named};
    let flipped = |value: &[u8]| {
        let mut value = value.to_vec();
        value[1] ^= 0x40;
        value
    };
    type Which = fn(usize) -> bool;
    let (first, all): (Which, Which) = (|number| number == 0, |_| true);
    let cases: &[(&str, &[u8], Which, &[LossKind])] = &[
        ("name", b"\x01space", first, &[Named, Record]),
        ("totals", b"\x01totals", first, &[Record]),
        ("format", b"\x01format", first, &[Record]),
        ("a run", &[0x10], first, &[Block, Record]),
        ("every third run", &[0x10], |number| number % 3 == 1, &[Block, Record]),
        ("all runs", &[0x10], all, &[Block, Record]),
        ("places", &[0x11], all, &[]),
        // A list of the latest has it; the inbox is in none.
        ("a document", &[0x20], first, &[Record]),
        ("documents", &[0x20], all, &[Document, Record]),
        ("indexes of documents", &[0x21], all, &[]),
        ("a folder", &[0x30], first, &[Folder, Record]),
        ("edges", &[0x40], all, &[]),
        ("tasks", &[0x50], all, &[]),
        ("a comment", &[0x60], first, &[Record]),
        ("a file", &[0x61], first, &[File, Record]),
        ("a chunk", &[0x62], first, &[File, Record]),
        ("a schema", &[0x70], first, &[Schema, Record]),
        ("schemas", &[0x70], all, &[Schema, Record]),
        ("numbers of items", &[0x71], all, &[]),
        ("indexes of items", &[0x72], all, &[]),
        ("a change", &[0x80], |number| number == 3, &[Change, Record]),
        ("changes", &[0x80], all, &[Change, Record]),
        ("a bundle of vectors", &[0xa2], first, &[Record]),
        ("vectors", &[0xa2], all, &[Record]),
        ("digests of vectors", &[0xa3], all, &[]),
        ("models of vectors", &[0xa1], all, &[]),
    ];
    for (name, begin, which, lost) in cases {
        let bench = bench();
        bench.harm(begin, |number, value| {
            Some(if which(number) { flipped(value) } else { value.to_vec() })
        });
        let report = bench.salvage();
        let mut told: Vec<LossKind> = report.lost.keys().copied().collect();
        let mut lost = lost.to_vec();
        // What goes with others is told, too.
        let follows = [LossKind::Schema, LossKind::Value, LossKind::File];
        told.retain(|kind| lost.contains(kind) || !follows.contains(kind));
        told.sort();
        lost.sort();
        assert_eq!(told, lost, "{name}: {:#?}", report.losses);
        assert_eq!(report.losses.len() as u64 + report.unlisted, report.lost.values().sum::<u64>());
        // The same of rows that are gone: what nothing else tells of is not noticed, but what is
        // made is whole.
        let bench = self::bench();
        bench.harm(begin, |number, value| (!which(number)).then(|| value.to_vec()));
        bench.salvage();
    }
}

#[test]
fn a_lost_name_is_the_last_one_in_the_change_log() {
    type Write = fn(&Space);
    let cases: [(&[Write], &str, &str); 3] = [
        (&[], "Recovered", "UTC"),
        (&[|space| space.rename("Renamed").unwrap()], "Renamed", "Europe/Lisbon"),
        (
            &[
                |space| space.rename("Renamed").unwrap(),
                |space| space.set_zone("Asia/Tokyo").unwrap(),
            ],
            "Renamed",
            "Asia/Tokyo",
        ),
    ];
    for (writes, name, zone) in cases {
        let bench = bench();
        let space = Space::open(&bench.from).unwrap();
        writes.iter().for_each(|write| write(&space));
        space.close().unwrap();
        bench.harm(b"\x01space", |_, _| None);
        let report = bench.salvage();
        assert!(report.lost.contains_key(&LossKind::Space), "{report:?}");
        let meta = Space::open(&bench.to).unwrap().meta().unwrap();
        assert_eq!((meta.name.as_str(), meta.zone.as_str()), (name, zone));
    }
}

/// A chunk with a valid checksum that the record of its file does not describe.
#[test]
fn a_file_of_other_bytes_gets_their_hash() {
    let bench = bench();
    bench.harm_body(0x62, 0, |bytes| bytes[0] ^= 1);
    let checked = Space::open(&bench.from).unwrap().check().unwrap();
    assert_eq!(checked.problems.len(), 1, "{checked:?}");
    let report = bench.salvage();
    assert_eq!(report.lost.keys().collect::<Vec<_>>(), [&LossKind::File], "{report:?}");
}

/// Runs with a valid checksum whose last block has its type and ends too early.
#[test]
fn a_block_whose_type_alone_is_readable_is_lost_and_its_children_are_not() {
    let mut remade = 0;
    for damaged in 0.. {
        let bench = bench();
        if !bench.harm_body(0x10, damaged, |body| body.truncate(body.len() - 1)) {
            break;
        }
        let report = bench.salvage();
        assert!(report.lost[&LossKind::Block] > 0, "{report:#?}");
        let losses = report.losses.iter();
        remade += losses.filter(|loss| loss.message.starts_with("its data is lost")).count();
    }
    assert!(remade > 0, "no root was damaged");
}

/// Bytes that were readable at first, as of a failing disk.
#[test]
fn what_becomes_unreadable_during_a_salvage_is_lost() {
    let bench = bench();
    let file = bench.from.join(directory::STORE_FILE);
    let image = fs::read(&file).unwrap();
    let mut steps = 0;
    let counted = &mut |_| {
        steps += 1;
        ControlFlow::Continue(())
    };
    Space::salvage_with(&bench.from, &bench.to, counted).unwrap();
    let mut with_losses = 0;
    for at in (0..steps).step_by(steps / 40) {
        let (to, mut done) = (bench.to.with_extension(at.to_string()), 0);
        let zeroed = &mut |_| {
            done += 1;
            if done == at {
                let mut bytes = image.clone();
                bytes[4096..].fill(0);
                fs::write(&file, bytes).unwrap();
            }
            ControlFlow::Continue(())
        };
        match Space::salvage_with(&bench.from, &to, zeroed) {
            Ok(report) => with_losses += usize::from(!report.is_whole()),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupted, "{at}: {error:?}"),
        }
        fs::write(&file, &image).unwrap();
    }
    assert!(with_losses > 0, "{steps} steps");
}

#[test]
fn two_kinds_of_record_are_gone_at_once() {
    let kinds: [&[u8]; 9] =
        [&[0x10], &[0x11], &[0x20], &[0x21], &[0x30], &[0x60], &[0x61], &[0x70], &[0x80]];
    for (at, one) in kinds.iter().enumerate() {
        for other in &kinds[at + 1..] {
            let bench = bench();
            bench.harm(one, |_, _| None);
            bench.harm(other, |_, _| None);
            bench.salvage();
        }
    }
}

#[test]
fn a_document_of_which_comments_alone_are_left_comes_back_with_them() {
    let whole = bench().salvage();
    assert!(whole.saved.comments > 0);
    let bench = bench();
    bench.harm(&[0x10], |_, _| None);
    bench.harm(&[0x20], |_, _| None);
    let saved = bench.salvage().saved;
    assert!(saved.documents > 0);
    assert_eq!(saved.comments, whole.saved.comments);
}

#[test]
fn what_is_made_anew_has_its_time_and_id_from_the_builder() {
    let bench = bench();
    bench.harm(&[0x10], |_, _| None);
    bench.harm(&[0x20], |_, _| None);
    let salvage = |to: &Path| {
        let builder = Space::builder().clock(FixedClock::at(LATER)).ids(SequentialIds::new(9));
        builder.salvage(&bench.from, to, &mut |_| ControlFlow::Continue(())).unwrap();
        seen(to)
    };
    let (first, second) = (salvage(&bench.to), salvage(&bench.to.with_extension("again")));
    assert_eq!(first, second);
    let made_at = format!("{:?}", Timestamp::from_millis(i64::try_from(LATER).unwrap()));
    assert!(format!("{first:?}").contains(&made_at), "{first:?}");
}

/// Rows of lists hold their tasks: what they tell of lost runs, locations and documents is saved.
#[test]
fn tasks_that_a_list_shows_are_saved() {
    let documents = [0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28];
    let kinds: [&[u8]; 3] = [&[0x10], &[0x11], &documents];
    for lost in 1..1 << kinds.len() {
        let bench = bench();
        let is_lost = |(at, _): &(usize, &&[u8])| lost & (1 << at) != 0;
        for tag in kinds.iter().enumerate().filter(is_lost).flat_map(|(_, tags)| *tags) {
            bench.harm(&[*tag], |_, value| Some([&[!value[0]], &value[1..]].concat()));
        }
        let lists = ["open", "active", "upcoming", "logbook"].map(Question::Tasks);
        let before = answers(&Space::open(&bench.from).unwrap(), &lists);
        assert!(before.iter().all(|(_, answer)| answer.is_ok()), "{lost:b}: {before:?}");
        bench.salvage();
        let after = answers(&rich::builder().open(&bench.to).unwrap(), &lists);
        for ((list, before), (_, after)) in before.iter().zip(&after) {
            let (before, after) = (before.as_deref().unwrap(), after.as_deref().unwrap());
            // A document of which only the tasks are listed may have been in the trash.
            let is_whole = before == after || lost & 0b100 != 0;
            let mut tasks =
                before.split("Task { ").skip(1).filter_map(|task| task.split_once(" rev"));
            assert!(
                is_whole && tasks.all(|(task, _)| after.contains(task)),
                "{lost:b}: {list:?}: {after}"
            );
        }
    }
}

/// Rows by modification time hold their documents: where a list shows one, it is saved with its
/// title, its times and its location.
#[test]
fn documents_that_a_list_shows_are_saved() {
    let (blocks, others) = ([0x10, 0x11], [0x20, 0x21, 0x23, 0x24, 0x25, 0x27, 0x28]);
    for (list, index) in [(Question::LatestUnsorted, 0x22), (Question::Latest, 0x26)] {
        for tags in [&blocks[..], &others, &[index], &[&blocks[..], &others, &[index]].concat()] {
            let bench = bench();
            for tag in tags {
                bench.harm(&[*tag], |_, value| Some([&[!value[0]], &value[1..]].concat()));
            }
            let list = std::slice::from_ref(&list);
            let before = answers(&Space::open(&bench.from).unwrap(), list);
            assert!(before.iter().all(|(_, answer)| answer.is_ok()), "{tags:02x?}: {before:?}");
            bench.salvage();
            let after = answers(&rich::builder().open(&bench.to).unwrap(), list);
            let (before, after) = (before[0].1.as_deref(), after[0].1.as_deref());
            // What no block shows any more is in a document of its own.
            let mut listed = before.unwrap().split("Document { ").skip(1);
            assert!(listed.clone().count() > 3);
            assert!(
                listed.all(|listed| after
                    .unwrap()
                    .contains(listed.trim_end_matches([',', '}', ']', ' ']))),
                "{tags:02x?}: {after:?}"
            );
        }
    }
}

#[test]
fn pages_that_are_gone_leave_the_others() {
    let bench = bench();
    let file = bench.from.join(directory::STORE_FILE);
    let (image, before) = (fs::read(&file).unwrap(), seen(&bench.from));
    let (mut salvaged, mut refused) = (0, 0);
    for page in (0..image.len() / 4_096).step_by(3) {
        let mut damaged = image.clone();
        damaged[page * 4_096..(page + 1) * 4_096].fill(0);
        fs::write(&file, damaged).unwrap();
        match Space::salvage(&bench.from, &bench.to) {
            Ok(_) => {
                let space = rich::builder().open(&bench.to).unwrap();
                assert!(space.check().unwrap().is_clean(), "page {page}");
                let questions: Vec<_> =
                    before.iter().map(|(question, _)| question.clone()).collect();
                let after = answers(&space, &questions);
                let same =
                    after.iter().zip(&before).filter(|(after, before)| after == before).count();
                assert!(same > 0, "page {page}");
                salvaged += 1;
                fs::remove_dir_all(&bench.to).unwrap();
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupted, "page {page}: {error}");
                assert!(!bench.to.exists());
                refused += 1;
            }
        }
    }
    // The header, and the pages that lead to all others.
    assert!(refused <= 3 && salvaged > 10, "{salvaged} salvaged, {refused} refused");
}

#[test]
fn what_is_no_space_is_not_salvaged() {
    let bench = bench();
    let file = bench.from.join(directory::STORE_FILE);
    let refused = |kind| {
        assert_eq!(Space::salvage(&bench.from, &bench.to).unwrap_err().kind(), kind);
        assert!(!bench.to.exists());
    };
    for options in
        [Space::builder(), Space::builder().shared(true), Space::builder().read_only(true)]
    {
        let space = options.open(&bench.from).unwrap();
        refused(ErrorKind::AlreadyOpen);
        space.close().unwrap();
    }
    let image = fs::read(&file).unwrap();
    fs::write(&file, &image[..200]).unwrap();
    refused(ErrorKind::Corrupted);
    let mut newer = image.clone();
    (newer[64], newer[192]) = (9, 9);
    fs::write(&file, newer).unwrap();
    refused(ErrorKind::NewerFormat);
    fs::remove_file(&file).unwrap();
    refused(ErrorKind::NotASpace);
    fs::remove_dir_all(&bench.from).unwrap();
    refused(ErrorKind::NotFound);
}

/// A space in whose journal some writes stand, as a process leaves it that is killed.
fn killed() -> Bench {
    let bench = bench();
    // With IDs of its own: the others would be made a second time.
    let space = Space::open(&bench.from).unwrap();
    let notes = space.connect();
    (0..6).for_each(|number| drop(notes.create_document(&format!("last {number}")).unwrap()));
    let killed = bench.from.with_file_name("killed");
    fs::create_dir(&killed).unwrap();
    for entry in fs::read_dir(&bench.from)
        .unwrap()
        .map(Result::unwrap)
        .filter(|entry| entry.path().is_file())
    {
        fs::copy(entry.path(), killed.join(entry.file_name())).unwrap();
    }
    space.close().unwrap();
    Bench { from: killed, ..bench }
}

fn last_documents(path: &Path) -> Vec<String> {
    let space = rich::builder().open(path).unwrap();
    let documents = space.connect().list_documents(leafbase::ListDocuments::new()).unwrap();
    let mut titles: Vec<_> = documents.into_iter().map(|document| document.title).collect();
    titles.retain(|title| title.starts_with("last"));
    titles.sort();
    titles
}

#[test]
fn what_stands_in_the_journal_is_saved() {
    let bench = killed();
    assert!(fs::metadata(bench.from.join(directory::WAL_FILE)).unwrap().len() > 0);
    let report = bench.salvage();
    assert!(report.is_whole(), "{report:#?}");
    assert_eq!(
        last_documents(&bench.to),
        ["last 0", "last 1", "last 2", "last 3", "last 4", "last 5"]
    );
    assert_eq!(last_documents(&bench.from).len(), 6, "and it opens as well");
    assert!(!bench.from.join(directory::WAL_FILE).exists(), "a space that was closed has none");
}

#[test]
fn a_damaged_journal_is_named_and_the_rest_of_it_saved() {
    let bench = killed();
    let journal = bench.from.join(directory::WAL_FILE);
    let mut bytes = fs::read(&journal).unwrap();
    bytes[40] ^= 1;
    fs::write(&journal, bytes).unwrap();
    let refused = Space::open(&bench.from).unwrap_err();
    assert_eq!(
        (refused.kind(), refused.message()),
        (ErrorKind::Corrupted, "damaged: record 1 of the write-ahead log")
    );
    let report = bench.salvage();
    assert_eq!(report.lost.get(&LossKind::Journal), Some(&1), "{report:#?}");
    assert_eq!(report.losses[0].record, "records 1 to 1 of the write-ahead log");
    assert!(last_documents(&bench.to).contains(&"last 5".to_owned()));

    fs::remove_file(&journal).unwrap();
    let refused = Space::open(&bench.from).unwrap_err();
    assert_eq!(
        (refused.kind(), refused.message()),
        (ErrorKind::Corrupted, "damaged: the store's write-ahead log is missing")
    );
}
