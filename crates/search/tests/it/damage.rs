//! Indexes on disk: round trips, crashes and damage. An index that opens gives correct results.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use leafbase_model::{Error, ErrorKind};
use leafbase_search::{Hit, Index};

use crate::fixture::{All, OWNER, document, id, numbers, search, update};

const QUERIES: [&str; 5] = ["word", "\"one two\"", "n", "connected", "three_4"];

fn answers(index: &Index) -> Vec<Vec<Hit>> {
    QUERIES.iter().map(|query| search(index, &[query], All).unwrap()).collect()
}

/// An index of several segments, of which some documents are deleted.
fn fill(path: &Path) -> Index {
    let index = Index::create(path, OWNER).unwrap();
    let texts = ["word one two", "one three_4 nine", "connects two", "connected words none"];
    for sequence in 1..4 {
        let documents = (0..20).map(|number| {
            document(number * 4 + sequence, "Title", &[texts[usize::from(number % 4)], "word"])
        });
        update(&index, documents.collect(), &[], sequence.into()).unwrap();
    }
    update(&index, vec![document(5, "New", &["one two word"])], &[1, 9, 14], 4).unwrap();
    index
}

fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(path).unwrap().map(Result::unwrap);
    entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect()
}

fn put(path: &Path, files: &BTreeMap<String, Vec<u8>>) {
    fs::remove_dir_all(path).unwrap();
    fs::create_dir(path).unwrap();
    for (name, content) in files {
        fs::write(path.join(name), content).unwrap();
    }
}

#[test]
fn an_index_reopens_unchanged_without_writing() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a/b");
    let before = answers(&fill(&path));
    let written = files(&path);
    let index = Index::open(&path, OWNER).unwrap();
    assert_eq!(
        (answers(&index), index.sequence().unwrap(), index.snapshot().unwrap().documents()),
        (before.clone(), Some(4), 57)
    );
    assert_eq!(files(&path), written);
    // A merge does not change results.
    let mut last = before;
    for sequence in 5..16 {
        update(&index, vec![document(5, "New", &["one two word"])], &[], sequence).unwrap();
        index.merge().unwrap();
        let now = answers(&index);
        assert_eq!(now, last, "after write {sequence}");
        last = now;
    }
    assert_eq!(index.sequence().unwrap(), Some(15));
    drop(index);
    assert_eq!(answers(&Index::open(&path, OWNER).unwrap()), last);
}

/// A failed update removes its segments at once: the store may need the disk space.
#[test]
fn segments_of_a_failed_update_are_removed() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("index");
    let index = fill(&path).with_segment_budget(1);
    let (before, written) = (answers(&index), files(&path));
    let full = || Error::new(ErrorKind::NoSpace, "enough");
    let mut wrote = 0;
    for count in [3, 60] {
        let documents = || (0..count).map(|number| Ok(document(number, "Title", &["word one"])));
        let failed = index.update_with(&mut documents(), &mut || {
            wrote += usize::from(files(&path).len() > written.len());
            Err(full())
        });
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::NoSpace);
        let failed = index.update(&mut documents().chain([Err(full())]), &[], 9);
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::NoSpace);
        assert_eq!(
            files(&path).into_keys().collect::<Vec<_>>(),
            written.keys().cloned().collect::<Vec<_>>()
        );
    }
    assert_eq!(
        (answers(&index), wrote),
        (before, 2),
        "nothing else is removed, and there was something to remove"
    );
}

#[test]
fn an_index_that_is_missing_or_foreign_is_not_opened() {
    let home = tempfile::tempdir().unwrap();
    let opened = |path: &Path, owner: &str| Index::open(path, owner).is_some();
    assert!(!opened(&home.path().join("nowhere"), OWNER));
    assert!(!opened(home.path(), OWNER));
    let path = home.path().join("index");
    drop(Index::create(&path, OWNER).unwrap());
    assert!(!opened(&path, OWNER), "never filled");
    assert_eq!(Index::create(&path, OWNER).unwrap_err().kind(), ErrorKind::Storage);
    let index = Index::open(&path, OWNER).unwrap_or_else(|| fill(&home.path().join("other")));
    drop(index);
    let path = home.path().join("other");
    assert!(opened(&path, OWNER));
    for owner in ["", "01", "01 b space", "a space", "01 a spac", "4 01 a space"] {
        assert!(!opened(&path, owner), "{owner}");
    }
    // A file instead of the directory, and a directory instead of a file.
    fs::write(home.path().join("file"), "x").unwrap();
    assert!(!opened(&home.path().join("file"), OWNER));
    fs::remove_file(path.join("meta.json")).unwrap();
    fs::create_dir(path.join("meta.json")).unwrap();
    assert!(!opened(&path, OWNER));
}

/// Corrupted versions of a file.
fn damaged(content: &[u8]) -> Vec<Vec<u8>> {
    let length = content.len();
    let mut found: Vec<Vec<u8>> =
        [0, 1, 4, length / 2, length.saturating_sub(9), length.saturating_sub(1)]
            .map(|length| content[..length.min(content.len())].to_vec())
            .into();
    let step = (length / 40).max(1);
    for place in (0..length).step_by(step).chain(length.saturating_sub(12)..length) {
        let mut flipped = content.to_vec();
        flipped[place] ^= 1 << (place % 8);
        found.push(flipped);
    }
    found.push(vec![0; length]);
    found.push([content, &b"more"[..]].concat());
    found.retain(|other| other != content);
    found
}

#[test]
fn a_corrupt_index_is_not_opened_or_gives_correct_results() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("index");
    let right = answers(&fill(&path));
    let whole = files(&path);
    let (mut refused, mut harmless) = (0, 0);
    for (name, content) in &whole {
        for damaged in damaged(content) {
            fs::write(path.join(name), &damaged).unwrap();
            match Index::open(&path, OWNER) {
                None => refused += 1,
                Some(index) => {
                    assert_eq!(answers(&index), right, "{name}");
                    harmless += 1;
                }
            }
        }
        fs::remove_file(path.join(name)).unwrap();
        if let Some(index) = Index::open(&path, OWNER) {
            assert_eq!(answers(&index), right, "without {name}");
        }
        fs::write(path.join(name), content).unwrap();
    }
    assert!(refused > 500 && refused > harmless * 20, "{refused} refused, {harmless} harmless");
    assert_eq!(answers(&Index::open(&path, OWNER).unwrap()), right);
}

#[test]
fn edited_metadata_is_not_opened() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("index");
    drop(fill(&path));
    let whole = files(&path);
    let meta = String::from_utf8(whole["meta.json"].clone()).unwrap();
    // The format, the fingerprint of the analysis, the sequence.
    let (_, payload) = meta.split_once("leafbase-search-11 ").unwrap();
    let (fingerprint, rest) = payload.split_once(' ').unwrap();
    assert!(fingerprint.len() == 16 && rest.starts_with("4 "), "{payload}");
    let sequence = [4, 3].map(|sequence| format!("{fingerprint} {sequence} "));
    for (from, to) in [
        ("\"record\"", "\"vecord\""),
        ("\"deletes\"", "\"deleted\""),
        (&sequence[0], &sequence[1]),
        (fingerprint, "0123456789abcdef"),
        ("leafbase-search-11 ", "leafbase-search-12 "),
        ("\"payload\"", "\"pay_oad\""),
        ("\"max_doc\":20", "\"max_doc\":10"),
        ("\"max_doc\": 20", "\"max_doc\": 10"),
    ] {
        let edited = meta.replace(from, to);
        if edited != meta {
            fs::write(path.join("meta.json"), edited).unwrap();
            assert!(Index::open(&path, OWNER).is_none(), "{to}");
        }
    }
    assert!(meta.contains("\"deletes\"") && meta.contains("\"record\""), "{meta}");
}

#[test]
fn leftovers_of_a_crash_do_not_block_updates() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("index");
    drop(fill(&path));
    let segments: Vec<String> = files(&path)
        .keys()
        .filter_map(|name| name.strip_suffix(".idx").map(str::to_owned))
        .collect();
    assert!(segments.len() > 1, "{segments:?}");
    for segment in &segments {
        for stamp in 0..120 {
            let orphan = path.join(format!("{segment}.{stamp}.del"));
            if !orphan.exists() {
                fs::write(orphan, "half written").unwrap();
            }
        }
    }
    let left = [
        "00112233445566778899aabbccddeeff.idx",
        "00112233445566778899aabbccddeeff.store",
        ".tmpA1b2C3",
    ];
    for name in left.iter().chain(&["notes.txt"]) {
        fs::write(path.join(name), "half written").unwrap();
    }
    let index = Index::open(&path, OWNER).unwrap();
    update(&index, vec![document(5, "Newer", &["fresh"])], &[6, 10, 15], 5).unwrap();
    assert_eq!(numbers(&search(&index, &["fresh"], All).unwrap()), [5]);
    assert_eq!((index.sequence().unwrap(), index.snapshot().unwrap().documents()), (Some(5), 54));
    let now = files(&path);
    let deletions =
        now.keys().filter(|name| Path::new(name).extension().is_some_and(|end| end == "del"));
    assert!(left.iter().all(|name| !now.contains_key(*name)), "{:?}", now.keys());
    assert!(deletions.count() <= segments.len(), "{:?}", now.keys());
    assert!(now.contains_key("notes.txt"), "what is somebody else's stays");
}

#[test]
fn files_of_two_commits_are_one_of_them_or_not_opened() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("index");
    let index = fill(&path);
    let (old, old_answers) = (files(&path), answers(&index));
    update(&index, vec![document(7, "New", &["one two word"])], &[2, 11], 5).unwrap();
    for number in 6..12 {
        update(&index, vec![document(100, "New", &["one two word"])], &[], number).unwrap();
        index.merge().unwrap();
    }
    let (new, new_answers) = (files(&path), answers(&index));
    drop(index);
    let mut opened = 0;
    // The files of both with the metadata of one; the files of one with the metadata of the other.
    for (first, second) in [(&old, &new), (&new, &old)] {
        let both: BTreeMap<_, _> = first
            .iter()
            .chain(second)
            .map(|(name, content)| (name.clone(), content.clone()))
            .collect();
        let mut crossed = first.clone();
        crossed.insert("meta.json".to_owned(), second["meta.json"].clone());
        for mixed in [both, crossed] {
            put(&path, &mixed);
            if let Some(index) = Index::open(&path, OWNER) {
                let expected =
                    if index.sequence().unwrap() == Some(4) { &old_answers } else { &new_answers };
                assert_eq!(&answers(&index), expected);
                opened += 1;
            }
        }
    }
    assert_eq!(opened, 2);
}

#[test]
fn concurrent_updates_take_turns() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("index");
    let one = fill(&path);
    let other = Index::open(&path, OWNER).unwrap();
    let write =
        |index: &Index, sequence| update(index, vec![document(1, "", &["again"])], &[], sequence);
    write(&one, 5).unwrap();
    assert_eq!(write(&other, 6).unwrap_err().kind(), ErrorKind::Storage);
    one.release_writer();
    let other = Index::open(&path, OWNER).unwrap();
    write(&other, 6).unwrap();
    assert_eq!(write(&one, 7).unwrap_err().kind(), ErrorKind::Storage);
    other.release_writer();
    assert_eq!(other.sequence().unwrap(), Some(6));
}

#[test]
fn an_update_that_fails_or_panics_has_no_effect() {
    let home = tempfile::tempdir().unwrap();
    let index = fill(&home.path().join("index"));
    let right = answers(&index);
    let failing = |how: fn() -> Error| {
        let mut made = (1..200).map(|number| {
            if number < 150 { Ok(document(number, "", &["word word"])) } else { Err(how()) }
        });
        catch_unwind(AssertUnwindSafe(|| index.update(&mut made, &[id(2), id(3)], 9)))
    };
    let error = failing(|| Error::new(ErrorKind::Canceled, "enough")).unwrap().unwrap_err();
    assert_eq!(
        (error.kind(), answers(&index), index.sequence().unwrap()),
        (ErrorKind::Canceled, right.clone(), Some(4))
    );
    assert!(failing(|| std::panic::resume_unwind(Box::new("a fault"))).is_err());
    assert_eq!((answers(&index), index.sequence().unwrap()), (right, Some(4)));
    update(&index, vec![document(1, "", &["quite new"])], &[], 5).unwrap();
    index.merge().unwrap();
    assert_eq!(numbers(&search(&index, &["quite"], All).unwrap()), [1]);
    assert_eq!((index.sequence().unwrap(), index.snapshot().unwrap().documents()), (Some(5), 58));
}

#[test]
fn an_update_with_the_same_document_twice_is_refused() {
    for gathered in [1, usize::MAX] {
        let home = tempfile::tempdir().unwrap();
        let index = fill(&home.path().join("index")).with_segment_budget(gathered);
        let right = answers(&index);
        let twice = vec![
            document(1, "", &["again"]),
            document(2, "", &["word"]),
            document(1, "", &["again"]),
        ];
        assert_eq!(update(&index, twice, &[], 9).unwrap_err().kind(), ErrorKind::Storage);
        assert_eq!((answers(&index), index.sequence().unwrap()), (right, Some(4)));
    }
}

#[test]
fn an_update_of_many_segments_leaves_no_files_if_it_fails() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("index");
    let index = fill(&path).with_segment_budget(1);
    let right = answers(&index);
    index.release_writer();
    let before = files(&path);
    let segment_is_there = || {
        while files(&path).len() == before.len() {
            std::thread::yield_now();
        }
        Err(Error::new(ErrorKind::Canceled, "enough"))
    };
    let documents = (1..=100).map(|number| Ok(document(number, "", &["word"])));
    let mut made = documents.chain(std::iter::once_with(segment_is_there));
    assert_eq!(index.update(&mut made, &[id(2)], 9).unwrap_err().kind(), ErrorKind::Canceled);
    assert_eq!((answers(&index), index.sequence().unwrap()), (right, Some(4)));
    // The next update removes orphaned files.
    update(&index, Vec::new(), &[], 4).unwrap();
    index.release_writer();
    assert!(files(&path).keys().eq(before.keys()));
    update(&index, (1..100).map(|number| document(number, "", &["word"])).collect(), &[], 5)
        .unwrap();
    assert_eq!(index.snapshot().unwrap().documents(), 99);
}
