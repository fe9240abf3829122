//! Any name, type and bytes are stored, or refused: under a name that is not a path, as a type that
//! the bytes do not belie.
#![no_main]

use std::io::Read;
use std::sync::{Arc, OnceLock};

use leafbase::{
    AssetUrl, BlockKind, Connection, DocumentId, ErrorKind, Fetch, SearchIndexing, Space,
    UploadFile, UploadedFile,
};
use leafbase_store::kv::MemoryStore;
use libfuzzer_sys::fuzz_target;

struct Base {
    store: MemoryStore,
    document: DocumentId,
}

fn base() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| {
        let store = Arc::new(MemoryStore::new());
        let space = Space::builder().over(store.clone(), true).expect("a space");
        let document = space.connect().create_document("Trip").expect("a document").id();
        Base { store: store.copy(), document }
    })
}

// A line is the name, the next one the type, what follows the file. An empty line says nothing.
fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(3, |byte| *byte == b'\n');
    let [name, content_type, bytes] = [(); 3].map(|()| parts.next().unwrap_or_default());
    let said = |part: &[u8]| (!part.is_empty()).then(|| String::from_utf8_lossy(part).into_owned());
    let mut request = UploadFile::new(base().document);
    (request.file_name, request.content_type) = (said(name), said(content_type));
    let builder = Space::builder().search_indexing(SearchIndexing::OnDemand);
    let space = builder.over(Arc::new(base().store.copy()), false).expect("a space");
    let (notes, declared) = (space.connect(), request.content_type.clone());
    match notes.upload_file(request, bytes) {
        Ok(uploaded) => check(&notes, &uploaded, declared.as_deref(), bytes),
        Err(error) => {
            assert_eq!(
                (error.kind(), error.path()),
                (ErrorKind::Validation, "contentType"),
                "{error:?}"
            );
            assert!(declared.is_some_and(|declared| !is_media_type(
                declared.split(';').next().unwrap_or_default()
            )));
            assert_eq!(notes.last_sequence(), Ok(1), "nothing is left of it");
        }
    }
});

fn is_media_type(text: &str) -> bool {
    let is_token = |part: &str| {
        !part.is_empty()
            && part.chars().all(|letter| letter.is_ascii_alphanumeric() || "_.+-".contains(letter))
    };
    let text = text.trim();
    text.len() <= 127
        && text.split_once('/').is_some_and(|(kind, format)| is_token(kind) && is_token(format))
}

fn check(notes: &Connection, uploaded: &UploadedFile, declared: Option<&str>, bytes: &[u8]) {
    let record = notes.file(uploaded.asset_url.id()).expect("it is there");
    check_name(&record.file_name);
    check_type(&record.media_type, declared, bytes);
    let url: AssetUrl = uploaded.asset_url.to_string().parse().expect("its URL is read");
    assert_eq!((&url, url.file_name()), (&uploaded.asset_url, &*record.file_name));
    let block = notes.fetch(Fetch::new(uploaded.block_id)).expect("its block is there");
    let shown = match &block.data.kind {
        BlockKind::Image { url, .. } => ("image", url),
        BlockKind::Video { url, .. } => ("video", url),
        BlockKind::File { url, .. } => ("file", url),
        other => panic!("{other:?} shows no file"),
    };
    let family =
        record.media_type.split('/').next().filter(|family| ["image", "video"].contains(family));
    assert_eq!(shown, (family.unwrap_or("file"), &url.to_string()));
    let mut read = Vec::new();
    let mut file = notes.open_file(url.id()).expect("it is opened");
    file.read_to_end(&mut read).expect("it is read");
    assert_eq!((read.as_slice(), record.size), (bytes, bytes.len() as u64));
    let markdown = notes.content_markdown(base().document).expect("its document is read");
    assert!(markdown.contains(&url.to_string()), "{markdown} links to it");
}

/// One name on every common system.
fn check_name(name: &str) {
    assert!(!name.is_empty() && name.len() <= 255, "{name:?}");
    assert!(!name.contains(['/', '\\', '<', '>', ':', '"', '|', '?', '*']), "{name:?}");
    assert!(!name.chars().any(char::is_control), "{name:?}");
    let turns = |letter| matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    assert!(!name.chars().any(turns), "{name:?}");
    let is_edge = |letter: char| letter == '.' || letter.is_whitespace();
    assert!(!name.starts_with(is_edge) && !name.ends_with(is_edge), "{name:?}");
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    assert!(!["CON", "PRN", "AUX", "NUL", "COM1", "LPT9"].contains(&&*stem), "{name:?}");
}

/// Nothing is shown as a picture, or a film, because somebody says so; what is text to its reader
/// is no such type.
fn check_type(media_type: &str, declared: Option<&str>, bytes: &[u8]) {
    assert!(
        is_media_type(media_type)
            && !media_type.contains(|letter: char| letter.is_ascii_uppercase()),
        "{media_type}"
    );
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    match media_type {
        "image/png" => assert!(begins(b"\x89PNG"), "{bytes:?} as {declared:?}"),
        "image/jpeg" => assert!(begins(b"\xff\xd8\xff"), "{bytes:?} as {declared:?}"),
        "image/gif" => assert!(begins(b"GIF87a") || begins(b"GIF89a"), "{bytes:?} as {declared:?}"),
        "image/svg+xml" => {
            assert!(String::from_utf8_lossy(bytes).contains("svg"), "{bytes:?} as {declared:?}")
        }
        other if other.starts_with("image/") || other.starts_with("video/") => {
            assert!(
                !bytes.is_empty() && !is_page(bytes),
                "{bytes:?} as {other}, declared as {declared:?}"
            );
        }
        _ => {}
    }
    if begins(b"\x89PNG\r\n\x1a\n") && bytes.len() > 16 {
        assert!(media_type.starts_with("image/"), "{bytes:?} as {media_type}");
    }
}

fn is_page(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start().to_ascii_lowercase();
    start.starts_with(b"<!doctype html")
        || start.starts_with(b"<html")
        || start.starts_with(b"<script")
}
