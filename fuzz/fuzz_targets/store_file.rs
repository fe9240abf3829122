//! Any bytes laid over the file of a store, or in its place: it is refused, or what is read is
//! right, or called damaged.
#![no_main]

use std::sync::{Arc, OnceLock};

use leafbase::{
    AddItems, CreateCollection, Error, ErrorKind, ItemDraft, SchemaDraft, SearchIndexing, Space,
    UploadFile,
};
use leafbase_store::kv::OpenOptions;
use leafbase_store::testkit::open_image;
use libfuzzer_sys::fuzz_target;
use tests::reading::{Question, ask, questions};

/// Questions that are asked of a file.
const ASKED: usize = 6;

struct Base {
    image: Vec<u8>,
    truth: Vec<(Question, String)>,
}

fn base() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| {
        // redb panics about some damage, and the store catches that: only what is found out here is
        // told.
        std::panic::set_hook(Box::new(|panic| {
            if panic.location().is_some_and(|place| place.file().ends_with("store_file.rs")) {
                eprintln!("{panic}");
            }
        }));
        make().expect("a space")
    })
}

fn make() -> leafbase::Result<Base> {
    let place = std::env::temp_dir().join(format!("leafbase-fuzz-{}", std::process::id()));
    let (written, copied) = (place.join("written"), place.join("copied"));
    std::fs::create_dir_all(&place).expect("a directory");
    let space = Space::create(&written)?;
    let notes = space.connect();
    for title in ["Trip", "Home"] {
        let document = notes.create_document(title)?.id();
        notes.insert_markdown(
            "# Days\n\n- [ ] socks\n- **two**\n\n> three\n\n```rust\nfour\n```",
            document,
        )?;
        notes.upload_file(UploadFile::new(document).named("map.txt"), &b"a map"[..])?;
    }
    let home = notes.documents()?[0].id();
    let books =
        notes.create_collection(CreateCollection::new(SchemaDraft::new("Books", []), home))?.id;
    notes.add_items(AddItems::new(books, ["one", "two"].map(ItemDraft::new)))?;
    space.backup_to(&copied)?;
    space.close()?;
    let image = std::fs::read(copied.join("space.redb")).expect("a file");
    std::fs::remove_dir_all(&place).expect("it goes");
    let space = open(&image)?;
    let notes = space.connect();
    let answer = |question: Question| ask(&notes, &question).map(|answer| (question, answer));
    let truth = questions(&space)?.into_iter().map(answer).collect::<leafbase::Result<_>>()?;
    Ok(Base { image, truth })
}

fn open(image: &[u8]) -> leafbase::Result<Space> {
    let store = open_image(&Arc::from(image), &OpenOptions::new().cache_bytes(1 << 20))?;
    let builder = Space::builder().search_indexing(SearchIndexing::OnDemand).read_only(true);
    builder.over(Arc::new(store), false)
}

// The first byte says how it is meant, and what is asked.
fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let base = base();
    if *first == 0 {
        check(rest, 0);
        return;
    }
    let mut image = base.image.clone();
    let mut rest = rest;
    // A place, how many bytes, and these.
    while let Some(([a, b, c, count], bytes)) = rest.split_first_chunk() {
        let at = (usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c)) % image.len();
        let count = usize::from(count % 16 + 1).min(bytes.len()).min(image.len() - at);
        image[at..at + count].copy_from_slice(&bytes[..count]);
        rest = &bytes[count..];
    }
    check(&image, usize::from(*first));
});

fn check(image: &[u8], from: usize) {
    let space = match open(image) {
        Ok(space) => space,
        Err(error) => return refused(&error),
    };
    let notes = space.connect();
    let truth = &base().truth;
    for (question, answer) in truth.iter().cycle().skip(from % truth.len()).take(ASKED) {
        match ask(&notes, question) {
            Ok(found) if found == *answer => {}
            Ok(found) => panic!("{question:?} gives {found}, not {answer}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupted, "{question:?}: {error:?}"),
        }
    }
}

fn refused(error: &Error) {
    // A file that was not closed is mended before it is read, and this one must not be written.
    let expected =
        [ErrorKind::Corrupted, ErrorKind::NotASpace, ErrorKind::NewerFormat, ErrorKind::ReadOnly];
    assert!(expected.contains(&error.kind()), "{error:?}");
}
