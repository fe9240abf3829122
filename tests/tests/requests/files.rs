//! Uploaded files: where they go, what is refused, and that what fails leaves nothing.

mod life;
mod reading;
mod types;

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;

use leafbase::{
    AssetId, BlockData, BlockDraft, Connection, DayRef, DeleteDocuments, DocumentId, Error,
    ErrorKind, Fetch, FetchFrom, InsertBlocks, Limits, Position, Result, Space, UploadFile,
    UploadedFile, json,
};
use leafbase_store::kv::{KeyRange, MemoryStore, Store};
use leafbase_test_outline::{FixedClock, SequentialIds};

use crate::host::wrong;

/// Bytes of a whole chunk, and of what one transaction stores: the sizes around which an upload may
/// go wrong.
const CHUNK: usize = leafbase_store::CHUNK_BYTES;
const PART: usize = 16 * CHUNK;

/// A space whose rows can be looked at, and a document in it.
struct Scene {
    store: Arc<MemoryStore>,
    notes: Connection,
    page: DocumentId,
}

fn scene() -> Scene {
    limited(|_| ())
}

fn limited(limit: impl FnOnce(&mut Limits)) -> Scene {
    let mut limits = Limits::default();
    limit(&mut limits);
    let store = Arc::new(MemoryStore::new());
    let builder =
        Space::builder().clock(FixedClock::default()).ids(SequentialIds::new(1)).limits(limits);
    let notes = builder.over(store.clone(), true).unwrap().connect();
    let page = notes.create_document("page").unwrap().id();
    Scene { store, notes, page }
}

impl Scene {
    fn upload(&self, bytes: &[u8]) -> UploadedFile {
        self.notes.upload_file(UploadFile::new(self.page), bytes).unwrap()
    }

    /// The rows of files, of their chunks and of uploads.
    fn rows(&self) -> [usize; 3] {
        [0x61, 0x62, 0x63].map(|tag| {
            let mut rows = 0;
            let mut count = |_: &[u8], _: &[u8]| {
                rows += 1;
                Ok(ControlFlow::Continue(()))
            };
            self.store
                .snapshot()
                .unwrap()
                .scan(KeyRange::half_open(&[tag], &[tag + 1]), &mut count)
                .unwrap();
            rows
        })
    }

    fn sequence(&self) -> u64 {
        self.notes.last_sequence().unwrap()
    }

    fn bytes(&self, file: AssetId) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.notes.open_file(file).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn assert_clean(&self) {
        let report = self.notes.space().check().unwrap();
        assert!(report.is_clean(), "{report:?}");
    }
}

/// Bytes that no two files of different seeds share.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32).to_le_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

/// A reader that must not be asked.
struct Untouched;

impl Read for Untouched {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        panic!("a byte was read");
    }
}

/// The texts of the children of what a fetch names; a file is shown by its name.
fn children(notes: &Connection, from: impl Into<FetchFrom>) -> Vec<String> {
    let fetched = notes
        .fetch(Fetch { from: from.into(), max_depth: None, metadata: false, text: false })
        .unwrap();
    let shown = |data: &BlockData| match &data.kind {
        leafbase::BlockKind::File { file_name, .. } => file_name.clone(),
        _ => data.inline.clone(),
    };
    fetched.children().iter().map(|child| shown(&child.data)).collect()
}

#[test]
fn files_go_where_the_position_says() {
    let page = |scene: &Scene| FetchFrom::Block(scene.page.root());
    let lone = |scene: &Scene| {
        FetchFrom::Block(scene.notes.fetch(Fetch::new(scene.page)).unwrap().children()[2].id)
    };
    let today = |_: &Scene| FetchFrom::Day(DayRef::Today);
    type From = fn(&Scene) -> FetchFrom;
    let cases: [(&str, From, &[&str]); 8] = [
        (r#"{"position":"start","pageId":"@page"}"#, page, &["f", "a", "b", "lone"]),
        (r#"{"position":"end","pageId":"@page"}"#, page, &["a", "b", "lone", "f"]),
        (r#"{"pageId":"@page"}"#, page, &["a", "b", "lone", "f"]),
        (r#"{"position":"before","siblingId":"@b"}"#, page, &["a", "f", "b", "lone"]),
        (r#"{"position":"after","siblingId":"@a"}"#, page, &["a", "f", "b", "lone"]),
        (r#"{"position":"start","pageId":"@lone"}"#, lone, &["f"]),
        (r#"{"position":"end","date":"today"}"#, today, &["f"]),
        (r#"{"date":"today"}"#, today, &["f"]),
    ];
    for (position, target, expected) in cases {
        let scene = scene();
        let made = scene.notes.insert_markdown("a\n\nb\n\nlone", scene.page).unwrap();
        let mut query = position.replace("@page", &scene.page.to_string());
        for (name, block) in ["@a", "@b", "@lone"].iter().zip(made.iter()) {
            query = query.replace(name, &block.id.to_string());
        }
        let query = query.replacen('{', r#"{"fileName":"f","#, 1).replace(",}", "}");
        let request: UploadFile = json::from_str(&query, &Limits::default()).unwrap();
        let before = scene.sequence();
        let uploaded = scene.notes.acting_as("Ada").upload_file(request, &b"text"[..]).unwrap();
        assert_eq!(children(&scene.notes, target(&scene)), expected, "{position}");
        assert_eq!(scene.sequence(), before + 1, "{position} is one change");
        let file = scene.notes.file(uploaded.asset_url.id()).unwrap();
        assert_eq!((file.created.by.as_str(), file.size, file.file_name.as_str()), ("Ada", 4, "f"));
        assert_eq!(scene.notes.document_of(uploaded.block_id).unwrap().root(), {
            let fetched = scene
                .notes
                .fetch(Fetch {
                    from: target(&scene),
                    max_depth: None,
                    metadata: false,
                    text: false,
                })
                .unwrap();
            scene.notes.document_of(fetched.id).unwrap().root()
        });
        scene.assert_clean();
    }
}

#[test]
fn a_file_needs_a_target_on_every_connection() {
    let scene = scene();
    let before = scene.sequence();
    let request = || UploadFile::new(Position::default());
    let guest = scene.notes.space().scoped([scene.page]);
    let mut bytes = std::io::Cursor::new(b"x");
    for error in [
        scene.notes.upload_file(request(), &mut bytes).unwrap_err(),
        guest.upload_file(request(), &mut bytes).unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "pageId, siblingId or date is required");
        assert_eq!(error.kind(), ErrorKind::InvalidPosition);
    }
    assert_eq!((scene.sequence(), bytes.position()), (before, 0));
}

#[test]
fn a_text_that_receives_a_file_becomes_the_page_that_it_would_with_a_text() {
    let scene = scene();
    for text in ["plain", "\\# no heading", "two  \nlines", "\\- no item"] {
        let made = scene.notes.insert_blocks(InsertBlocks::blocks(
            [text, text].map(|text| BlockDraft::new(BlockData::text(text))).into(),
            scene.page,
        ));
        let made = made.unwrap();
        scene.notes.insert_markdown("child", Position::end_of(made[0].id)).unwrap();
        scene.notes.upload_file(UploadFile::new(Position::end_of(made[1].id)), &b"x"[..]).unwrap();
        let [expected, found] =
            [0, 1].map(|at| scene.notes.fetch(Fetch::new(made[at].id)).unwrap().data);
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn the_reply_names_block_and_url() {
    let scene = scene();
    let request = UploadFile::new(scene.page).named("Day plan.pdf");
    let uploaded = scene.notes.upload_file(request, &b"%PDF-1.7"[..]).unwrap();
    let id = uploaded.asset_url.id();
    let expected = format!(
        r#"{{"blockId":"{}","assetUrl":"asset://{id}/Day%20plan.pdf"}}"#,
        uploaded.block_id
    );
    assert_eq!(serde_json::to_string(&uploaded).unwrap(), expected);
    let block =
        serde_json::to_value(scene.notes.fetch(Fetch::new(uploaded.block_id)).unwrap()).unwrap();
    assert_eq!(block["url"], uploaded.asset_url.to_string());
    assert_eq!((&block["type"], &block["fileName"]), (&"file".into(), &"Day plan.pdf".into()));
}

#[test]
fn what_cannot_succeed_fails_before_a_byte_is_read() {
    let scene = limited(|limits| (limits.page_nesting, limits.attribute) = (2, 300));
    let made = scene
        .notes
        .insert_markdown("text\n\n*****\n\n<page><pageTitle>deep</pageTitle></page>", scene.page);
    let made = made.unwrap();
    let deep = scene.notes.insert_markdown("deepest", Position::end_of(made[2].id)).unwrap()[0].id;
    let trashed = scene.notes.create_document("trashed").unwrap().id();
    scene.notes.delete_documents(DeleteDocuments::from(trashed)).unwrap();
    let (text, line, nowhere) = (made[0].id, made[1].id, "01ARZ3NDEKTSV4RRFFQ69G5FAV");
    let cases = [
        (format!(r#"{{"pageId":"{nowhere}"}}"#), "NOT_FOUND pageId"),
        (format!(r#"{{"position":"after","siblingId":"{nowhere}"}}"#), "NOT_FOUND siblingId"),
        (format!(r#"{{"pageId":"{nowhere}","contentType":"?"}}"#), "NOT_FOUND pageId"),
        (format!(r#"{{"pageId":"{line}"}}"#), "RULE_VIOLATION pageId"),
        (
            format!(r#"{{"position":"before","siblingId":"{}"}}"#, scene.page),
            "INVALID_POSITION siblingId",
        ),
        (format!(r#"{{"pageId":"{trashed}"}}"#), "RULE_VIOLATION pageId"),
        (format!(r#"{{"pageId":"{deep}"}}"#), "LIMIT_EXCEEDED pageId"),
        (format!(r#"{{"pageId":"{text}","contentType":"png"}}"#), "VALIDATION contentType"),
        (format!(r#"{{"pageId":"{text}","contentType":""}}"#), "VALIDATION contentType"),
        (format!(r#"{{"pageId":"{text}","contentType":"image/p ng"}}"#), "VALIDATION contentType"),
        (format!(r#"{{"pageId":"{text}","contentType":"image/"}}"#), "VALIDATION contentType"),
        (format!(r#"{{"pageId":"{text}","contentType":"a/b/c"}}"#), "VALIDATION contentType"),
        (
            format!(r#"{{"pageId":"{text}","contentType":"image/\u00fc"}}"#),
            "VALIDATION contentType",
        ),
        (
            format!(r#"{{"pageId":"{text}","contentType":"a/{}"}}"#, "b".repeat(126)),
            "VALIDATION contentType",
        ),
        (r#"{"date":"today","contentType":"x"}"#.to_owned(), "VALIDATION contentType"),
        (
            format!(r#"{{"pageId":"{text}","fileName":"{}"}}"#, "%".repeat(255)),
            "LIMIT_EXCEEDED fileName",
        ),
    ];
    let before = (scene.sequence(), scene.notes.space().stats().unwrap().bytes);
    for (query, expected) in cases {
        let request = json::from_str(&query, &Limits::default()).unwrap();
        let error = scene.notes.upload_file(request, Untouched).unwrap_err();
        assert_eq!(wrong(&error), expected, "{query}");
        assert_eq!(
            (scene.sequence(), scene.notes.space().stats().unwrap().bytes),
            before,
            "{query} left a trace"
        );
    }
    let long = format!("a/{}", "b".repeat(125));
    scene.notes.upload_file(UploadFile::new(scene.page).of_type(&*long), &b""[..]).unwrap();
}

#[test]
fn other_requests_that_are_refused() {
    for (query, expected) in [
        (r#"{"position":"middle"}"#, "INVALID_POSITION position"),
        (r#"{"position":"after"}"#, "INVALID_POSITION position"),
        (r#"{"date":"today","fileName":1}"#, "VALIDATION fileName"),
        (r#"{"date":"today","name":"x"}"#, "VALIDATION name"),
    ] {
        let error = json::from_str::<UploadFile>(query, &Limits::default()).unwrap_err();
        assert_eq!(wrong(&error), expected, "{query}");
    }
    let scene = scene();
    let error = scene
        .notes
        .acting_as(&"x".repeat(9_000))
        .upload_file(UploadFile::new(scene.page), Untouched);
    assert_eq!(wrong(&error.unwrap_err()), "LIMIT_EXCEEDED author");
    scene.notes.space().clone().close().unwrap();
    let error = scene.notes.upload_file(UploadFile::new(scene.page), Untouched).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
}

/// Gives bytes, and then does something else.
struct Then<F> {
    bytes: u64,
    given: u64,
    most: usize,
    then: F,
}

impl<F: FnMut(&mut [u8]) -> io::Result<usize>> Then<F> {
    fn new(bytes: usize, then: F) -> Self {
        Self { bytes: bytes as u64, given: 0, most: usize::MAX, then }
    }
}

impl<F: FnMut(&mut [u8]) -> io::Result<usize>> Read for Then<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.bytes - self.given).unwrap();
        if left == 0 {
            return (self.then)(out);
        }
        let count = left.min(out.len()).min(self.most);
        out[..count].fill(7);
        self.given += count as u64;
        Ok(count)
    }
}

#[test]
fn a_file_may_be_as_long_as_the_limit() {
    for most in
        [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, PART - 1, PART, PART + 1, 2 * PART, 2 * PART + CHUNK]
    {
        let scene = limited(|limits| limits.upload = most as u64);
        let request = || UploadFile::new(Position::end_of_day(DayRef::Today));
        let before = (scene.sequence(), scene.rows());
        // One byte too many is enough to know: nothing is read behind it.
        let endless = Then::new(most + 1, |_: &mut [u8]| panic!("it was read on"));
        let error = scene.notes.upload_file(request(), endless).unwrap_err();
        assert_eq!(wrong(&error), "LIMIT_EXCEEDED", "{most}");
        assert!(error.message().contains(&most.to_string()), "{error}");
        assert_eq!((scene.sequence(), scene.rows()), before, "{most}: something is left");
        assert!(scene.notes.fetch(Fetch::day(DayRef::Today)).is_err(), "{most}: no note is made");
        let uploaded =
            scene.notes.upload_file(request(), Then::new(most, |_: &mut [u8]| Ok(0))).unwrap();
        assert_eq!(scene.notes.file(uploaded.asset_url.id()).unwrap().size, most as u64);
        assert_eq!(scene.rows(), [1, most.div_ceil(CHUNK), 0]);
        scene.assert_clean();
    }
}

#[test]
fn a_reader_that_fails_leaves_nothing() {
    for at in [0, 1, CHUNK, CHUNK + 7, PART, 3 * PART + 5] {
        let scene = scene();
        let request = || UploadFile::new(Position::end_of_day(DayRef::Today));
        let before = (scene.sequence(), scene.rows());
        let fails = |_: &mut [u8]| Err(io::Error::new(io::ErrorKind::ConnectionReset, "gone"));
        let error = scene.notes.upload_file(request(), Then::new(at, fails)).unwrap_err();
        let source =
            std::error::Error::source(&error).unwrap().downcast_ref::<io::Error>().unwrap();
        assert_eq!(
            (error.kind(), source.kind()),
            (ErrorKind::Storage, io::ErrorKind::ConnectionReset)
        );
        assert_eq!((scene.sequence(), scene.rows()), before, "an error at {at}");

        let lies = |out: &mut [u8]| Ok(out.len() + 1);
        let error = scene.notes.upload_file(request(), Then::new(at, lies)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Storage);
        assert_eq!((scene.sequence(), scene.rows()), before, "a lie at {at}");

        let panics =
            Then::new(at, |_: &mut [u8]| std::panic::resume_unwind(Box::new("the reader panics")));
        let caught = catch_unwind(AssertUnwindSafe(|| scene.notes.upload_file(request(), panics)));
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"the reader panics"));
        assert_eq!((scene.sequence(), scene.rows()), before, "a panic at {at}");

        assert!(scene.notes.fetch(Fetch::day(DayRef::Today)).is_err(), "no note is made");
        scene.assert_clean();
    }
}

#[test]
fn the_scene_sees_what_an_upload_leaves() {
    // The control of those above: the rows of an upload under way are seen.
    let scene = scene();
    let mut seen = Vec::new();
    let bytes = Then::new(PART + 1, |_: &mut [u8]| {
        seen.push(scene.rows());
        Ok(0)
    });
    scene.notes.upload_file(UploadFile::new(scene.page), bytes).unwrap();
    assert_eq!((seen, scene.rows()), (vec![[0, 16, 1]], [1, 17, 0]));
}

#[test]
fn readers_may_give_little_and_be_interrupted() {
    for (length, most) in [(100, 1), (CHUNK + 1, 977), (PART + 3, CHUNK - 1)] {
        let scene = scene();
        let bytes = noise(length, 1);
        let mut at = 0;
        let mut calls = 0_u32;
        let reader = Then::new(0, |out: &mut [u8]| {
            calls += 1;
            if !calls.is_multiple_of(3) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let count = most.min(out.len()).min(bytes.len() - at);
            out[..count].copy_from_slice(&bytes[at..at + count]);
            at += count;
            Ok(count)
        });
        let uploaded = scene.notes.upload_file(UploadFile::new(scene.page), reader).unwrap();
        assert!(scene.bytes(uploaded.asset_url.id()) == bytes, "{length} bytes, {most} at a time");
    }
}

#[test]
fn a_place_that_goes_meanwhile_is_not_found() {
    let scene = scene();
    let text = scene.notes.insert_markdown("text", scene.page).unwrap()[0].id;
    let reader = Then::new(PART + 9, |_: &mut [u8]| {
        let _ = scene.notes.delete_blocks(text.into());
        Ok(0)
    });
    let error =
        scene.notes.upload_file(UploadFile::new(Position::after(text)), reader).unwrap_err();
    assert_eq!(wrong(&error), "NOT_FOUND siblingId");
    assert_eq!(scene.rows(), [0; 3]);
    scene.assert_clean();
}

#[test]
fn a_space_that_is_closed_meanwhile_ends_the_upload() {
    let scene = scene();
    let space = scene.notes.space().clone();
    let mut closing = Some(space);
    let reader = Then::new(PART, |out: &mut [u8]| {
        if let Some(space) = closing.take() {
            space.close().unwrap();
        }
        out.fill(1);
        Ok(out.len())
    });
    let error = scene.notes.upload_file(UploadFile::new(scene.page), reader).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert_eq!(scene.rows(), [0; 3]);
}

#[test]
fn today_is_the_day_on_which_the_upload_began() {
    let clock = Arc::new(FixedClock::at(1_767_225_540_000));
    let notes = Space::builder().clock(clock.clone()).in_memory().unwrap().connect();
    let reader = Then::new(1, |_: &mut [u8]| {
        clock.advance(120_000);
        Ok(0)
    });
    notes.upload_file(UploadFile::new(Position::end_of_day(DayRef::Today)), reader).unwrap();
    assert_eq!(children(&notes, FetchFrom::Day(DayRef::Yesterday)).len(), 1);
    assert_eq!(notes.fetch(Fetch::day(DayRef::Today)).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn others_write_and_read_while_an_upload_waits_for_its_reader() {
    let scene = scene();
    let (to_reader, reads) = mpsc::channel::<Vec<u8>>();
    let (asked, is_asked) = mpsc::channel();
    let (notes, page) = (scene.notes.clone(), scene.page);
    let uploading = thread::spawn(move || {
        let mut waiting: Vec<u8> = Vec::new();
        let reader = Then::new(0, move |out: &mut [u8]| {
            if waiting.is_empty() {
                asked.send(()).unwrap();
                // The end of the channel is the end of the file.
                waiting = reads.recv().unwrap_or_default();
            }
            let count = waiting.len().min(out.len());
            out[..count].copy_from_slice(&waiting[..count]);
            waiting.drain(..count);
            Ok(count)
        });
        notes.upload_file(UploadFile::new(page), reader)
    });
    for round in 0..5 {
        is_asked.recv().unwrap();
        scene.notes.insert_markdown("meanwhile", scene.page).unwrap();
        let fetched = scene.notes.fetch(Fetch::new(scene.page)).unwrap();
        assert_eq!(fetched.children().len(), round + 1, "the file is not seen before it is whole");
        to_reader.send(noise(PART / 2, 3)).unwrap();
    }
    is_asked.recv().unwrap();
    drop(to_reader);
    let uploaded = uploading.join().unwrap().unwrap();
    assert_eq!(scene.notes.fetch(Fetch::new(scene.page)).unwrap().children().len(), 6);
    assert!(scene.bytes(uploaded.asset_url.id()) == noise(PART / 2, 3).repeat(5));
    scene.assert_clean();
}

#[test]
fn many_upload_at_once() {
    let scene = scene();
    let uploads: Vec<Result<UploadedFile, Error>> = thread::scope(|scope| {
        let upload = |number: u64| {
            let length = usize::try_from(number).unwrap() * PART / 3;
            scene.notes.upload_file(UploadFile::new(scene.page), &*noise(length, number))
        };
        let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || upload(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (number, uploaded) in (0..8).zip(uploads) {
        let length = usize::try_from(number).unwrap() * PART / 3;
        assert!(
            scene.bytes(uploaded.unwrap().asset_url.id()) == noise(length, number),
            "file {number}"
        );
    }
    assert_eq!(scene.notes.fetch(Fetch::new(scene.page)).unwrap().children().len(), 8);
    scene.assert_clean();
}
