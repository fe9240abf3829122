//! Which type a file is of, which block shows it, and what it is called.

use leafbase::{Fetch, UploadFile};
use proptest::prelude::*;

use super::{CHUNK, noise, scene};

/// Begins like a file of the ISO base format of this brand.
fn iso(brand: &str) -> Vec<u8> {
    [b"\0\0\0\x18ftyp", brand.as_bytes(), b"\0\0\0\0", brand.as_bytes(), b"\0\0\0\0\0\0\0\x08free"]
        .concat()
}

/// Begins like an archive whose first entry has this name and these bytes.
fn zip(name: &str, bytes: &str) -> Vec<u8> {
    let mut zip = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    zip.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
    zip.extend([0, 0]);
    zip.extend(name.bytes().chain(bytes.bytes()));
    zip.resize(zip.len().max(100), 0);
    zip
}

fn matroska(kind: &str) -> Vec<u8> {
    let length = 0x80 | u8::try_from(kind.len()).unwrap();
    let mut bytes =
        [b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82", &[length][..], kind.as_bytes()].concat();
    bytes.resize(300, 0);
    bytes
}

fn at(place: usize, bytes: &[u8]) -> Vec<u8> {
    let mut all = vec![0xEE; place];
    all.extend_from_slice(bytes);
    all.resize(place + 300, 0xEE);
    all
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0";
const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const NONE: &str = "";

/// Bytes, what they are declared to be, and the type they are of.
fn cases() -> Vec<(Vec<u8>, &'static str, &'static str)> {
    let mut cases: Vec<(Vec<u8>, &str, &str)> = Vec::new();
    let mut case = |bytes: &[u8], declared, found| cases.push((bytes.to_vec(), declared, found));
    // What the bytes are certain of wins over everything.
    for declared in [
        NONE,
        "application/octet-stream",
        "image/png",
        "image/jpeg",
        "text/html",
        "video/mp4",
        "a/b",
    ] {
        case(PNG, declared, "image/png");
        case(b"%PDF-1.7\n%\xe2\xe3", declared, "application/pdf");
    }
    case(b"\xff\xd8\xff\xe0\0\x10JFIF", "image/png", "image/jpeg");
    case(b"GIF89a\x01\0\x01\0\x80", "text/plain", "image/gif");
    case(b"RIFF\x24\0\0\0WEBPVP8 ", NONE, "image/webp");
    case(b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0", NONE, "image/bmp");
    case(b"\0\0\x01\0\x01\0\x10\x10\0\0\x01\0", NONE, "image/vnd.microsoft.icon");
    case(b"II*\0\x08\0\0\0\x10\0\xfe", NONE, "image/tiff");
    case(b"\0\0\0\x0cjP  \r\n\x87\n\0\0\0\x14ftyp", NONE, "image/jp2");
    case(b"\x1f\x8b\x08\0\0", "application/json", "application/gzip");
    case(b"ID3\x03\0\0\0", "video/mp4", "audio/mpeg");
    case(b"RIFF\x24\0\0\0WAVEfmt ", "video/x-msvideo", "audio/wav");
    case(b"RIFF\x24\0\0\0AVI LIST\0", "audio/wav", "video/x-msvideo");
    case(b"fLaC\0\0\0\x22", "audio/x-flac", "audio/flac");
    case(b"RIFX\x24\0\0\0WEBPVP8 ", NONE, "application/octet-stream");
    case(b"FLV\x01\x05\0", NONE, "video/x-flv");
    case(b"wOF2\0\x01\0\0", NONE, "font/woff2");
    case(b"SQLite format 3\0", NONE, "application/vnd.sqlite3");
    case(
        &at(188, &[])
            .iter()
            .enumerate()
            .map(|(at, byte)| if at % 188 == 0 { b'G' } else { *byte })
            .collect::<Vec<_>>(),
        NONE,
        "video/mp2t",
    );
    case(
        &[b"BMW.txt".to_vec(), vec![0; 250], b"ustar\x0000".to_vec()].concat(),
        NONE,
        "application/x-tar",
    );
    case(&at(128, b"DICM"), "image/png", "application/dicom");
    // Of containers, what is declared may say more.
    case(&iso("isom"), NONE, "video/mp4");
    case(&iso("mp42"), "audio/mp4", "audio/mp4");
    case(&iso("mp42"), "image/png", "video/mp4");
    case(&iso("M4A "), NONE, "audio/mp4");
    case(&iso("M4A "), "audio/x-m4a", "audio/x-m4a");
    case(&iso("qt  "), NONE, "video/quicktime");
    case(&iso("qt  "), "video/mp4", "video/mp4");
    case(&iso("3gp5"), NONE, "video/3gpp");
    case(&iso("zzzz"), NONE, "application/mp4");
    case(&iso("zzzz"), "video/mp4", "video/mp4");
    case(&iso("zzzz"), "image/heic", "application/mp4");
    case(&iso("heic"), NONE, "image/heif");
    case(&iso("heic"), "image/heic", "image/heic");
    case(&iso("heic"), "video/mp4", "image/heif");
    case(&iso("avif"), NONE, "image/avif");
    case(b"\0\0\0\x08mdat\0\0\0\0\0\0\0\0", NONE, "video/quicktime");
    case(&matroska("webm"), NONE, "video/webm");
    case(&matroska("webm"), "audio/webm", "audio/webm");
    case(&matroska("matroska"), "video/mp4", "video/x-matroska");
    case(b"OggS\0\x02\0\0\0\0\0\0", NONE, "audio/ogg");
    case(b"OggS\0\x02\0\0\0\0\0\0", "video/ogg", "video/ogg");
    case(b"OggS\0\x02\0\0\0\0\0\0", "video/webm", "audio/ogg");
    case(&[&b"OggS\0\x02"[..], &[0; 22], b"\x80theora"].concat(), NONE, "video/ogg");
    case(b"\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\0\xaa", "audio/x-ms-wma", "audio/x-ms-wma");
    case(&zip("a.txt", "a"), NONE, "application/zip");
    case(&zip("a.txt", "a"), DOCX, DOCX);
    case(&zip("a.txt", "a"), "application/epub+zip", "application/epub+zip");
    case(&zip("a.txt", "a"), "image/png", "application/zip");
    case(&zip("a.txt", "a"), "text/plain", "application/zip");
    case(&zip("word/document.xml", ""), NONE, DOCX);
    case(&zip("word/document.xml", ""), "application/zip", DOCX);
    case(
        &zip("word/document.xml", ""),
        "application/vnd.ms-word.document.macroenabled.12",
        "application/vnd.ms-word.document.macroenabled.12",
    );
    case(&zip("mimetype", "application/epub+zip"), NONE, "application/epub+zip");
    case(
        &zip("mimetype", "application/vnd.oasis.opendocument.text"),
        NONE,
        "application/vnd.oasis.opendocument.text",
    );
    case(OLE, NONE, "application/x-ole-storage");
    case(OLE, "application/vnd.ms-excel", "application/vnd.ms-excel");
    case(OLE, "image/gif", "application/x-ole-storage");
    // Text is what it is declared to be, unless that has a block of its own.
    for text in [
        &b"plain words"[..],
        b"BMW makes cars",
        b"GIFts",
        b"SQLite is a library",
        b"ID3",
        b"MZ",
        b"fLaC",
    ] {
        case(text, NONE, "text/plain");
        case(text, "text/markdown", "text/markdown");
        case(text, "Application/JSON; charset=utf-8", "application/json");
        case(text, "image/png", "text/plain");
        case(text, "video/mp4", "text/plain");
    }
    case("\u{feff}Grüße\tund\r\n\u{1b}[1mmehr".as_bytes(), NONE, "text/plain");
    case(b"<!DOCTYPE html><p>x", NONE, "text/html");
    case(b"\n <html lang=en>", NONE, "text/html");
    case(b"<html>", "text/plain", "text/plain");
    case(b"<p>no whole page", NONE, "text/plain");
    case(b"<?xml version='1.0'?><a/>", NONE, "application/xml");
    case(b"<?xml version='1.0'?><a/>", "application/gpx+xml", "application/gpx+xml");
    case(b"{\\rtf1 x}", "text/plain", "application/rtf");
    case(b"%!PS-Adobe-3.0", NONE, "application/postscript");
    case(b"%PDF-1.4 all of it text", "text/plain", "application/pdf");
    case(b"a text about %PDF-1.4", NONE, "text/plain");
    // Pictures that are text.
    for svg in [
        "<svg xmlns='http://www.w3.org/2000/svg'/>",
        "\u{feff}  <svg>",
        "<?xml version='1.0'?>\n<!-- <p> -->\n<svg/>",
        "<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"x.dtd\">\n<svg\n/>",
        "<!DOCTYPE svg [ <!ENTITY a \"<p>\"> ]><!----><?x y?><s:svg>",
    ] {
        case(svg.as_bytes(), NONE, "image/svg+xml");
        case(svg.as_bytes(), "application/xml", "image/svg+xml");
    }
    for other in [
        "<svgs/>",
        "<svg",
        "<!-- <svg/>",
        "<p><svg/></p>",
        "x<svg/>",
        "<!DOCTYPE svg",
        "<",
        "<:svg",
    ] {
        case(other.as_bytes(), "image/svg+xml", "text/plain");
    }
    case(b"<?xml version='1.0'?><a><svg/></a>", "image/svg+xml", "application/xml");
    // What nothing is known of is what it is declared to be, unless that has a block of its own.
    for bytes in [
        &b""[..],
        b"\0\x01\x02 unknown",
        b"text with a \0",
        b"\xff\xfea\0b\0",
        b"GIF90a\0",
        b"0\x82\0",
        b"BC\0",
    ] {
        case(bytes, NONE, "application/octet-stream");
        case(bytes, "image/png", "application/octet-stream");
        case(bytes, "video/mp4", "application/octet-stream");
        case(bytes, "application/x-own+thing", "application/x-own+thing");
    }
    // Two bytes may be chance.
    case(b"MZ\x90\0\x03", NONE, "application/vnd.microsoft.portable-executable");
    case(b"MZ\x90\0\x03", "application/x-own", "application/x-own");
    case(b"MZ\x90\0\x03", "image/png", "application/octet-stream");
    case(b"\xff\x0a\x7f", NONE, "image/jxl");
    case(b"\xff\x0a\x7f", "image/jxl", "image/jxl");
    case(b"\xff\x0a\x7f", "image/png", "application/octet-stream");
    cases
}

#[test]
fn the_type_follows_from_bytes_and_declaration() {
    let scene = scene();
    for (bytes, declared, expected) in cases() {
        let mut request = UploadFile::new(scene.page);
        if declared != NONE {
            request = request.of_type(declared);
        }
        let uploaded = scene.notes.upload_file(request, &*bytes).unwrap();
        let file = scene.notes.file(uploaded.asset_url.id()).unwrap();
        let what = format!("{} declared {declared:?}", bytes[..bytes.len().min(40)].escape_ascii());
        assert_eq!(file.media_type, expected, "{what}");
        let block = serde_json::to_value(scene.notes.fetch(Fetch::new(uploaded.block_id)).unwrap())
            .unwrap();
        let kind = expected
            .split('/')
            .next()
            .filter(|kind| ["image", "video"].contains(kind))
            .unwrap_or("file");
        assert_eq!(
            (&block["type"], &block["altText"]),
            (&kind.into(), &serde_json::Value::Null),
            "{what}"
        );
        assert_eq!(block["url"], uploaded.asset_url.to_string());
    }
    scene.assert_clean();
}

#[test]
fn a_text_may_go_on_beyond_what_is_looked_at() {
    let scene = scene();
    for (length, last, expected) in [
        (CHUNK - 1, "ü", "text/plain"),
        (CHUNK - 2, "🍲", "text/plain"),
        (CHUNK, "\0", "text/plain"),
        (CHUNK - 1, "\0", "application/octet-stream"),
    ] {
        let bytes = ["a".repeat(length), last.to_owned()].concat();
        let uploaded = scene.upload(bytes.as_bytes());
        assert_eq!(
            scene.notes.file(uploaded.asset_url.id()).unwrap().media_type,
            expected,
            "{length} {last:?}"
        );
    }
    // A character that is cut off at the end of the file is none.
    let uploaded = scene.upload(&"aü".as_bytes()[..2]);
    assert_eq!(
        scene.notes.file(uploaded.asset_url.id()).unwrap().media_type,
        "application/octet-stream"
    );
}

#[test]
fn a_file_is_called_by_its_name_or_its_type() {
    let scene = scene();
    for (name, bytes, expected, url) in [
        (Some("map.png"), PNG, "map.png", "map.png"),
        (Some("no extension"), PNG, "no extension", "no%20extension"),
        (Some("../../etc/Plän?.txt"), b"x", "Plän_.txt", "Plän_.txt"),
        (Some("a#b%c.txt"), b"x", "a#b%c.txt", "a%23b%25c.txt"),
        (Some("nul.txt"), b"x", "_nul.txt", "_nul.txt"),
        (Some("evil\u{202e}gnp.exe"), b"x", "evilgnp.exe", "evilgnp.exe"),
        (Some("[a](b).txt"), b"x", "[a](b).txt", "%5Ba%5D%28b%29.txt"),
        (Some(""), PNG, "image.png", "image.png"),
        (Some("../.."), b"x", "file.txt", "file.txt"),
        (None, PNG, "image.png", "image.png"),
        (None, b"%PDF-1.7", "file.pdf", "file.pdf"),
        (None, &matroska("webm"), "video.webm", "video.webm"),
        (None, b"\0unknown", "file", "file"),
        (None, b"", "file", "file"),
    ] {
        let mut request = UploadFile::new(scene.page);
        request.file_name = name.map(str::to_owned);
        let uploaded = scene.notes.upload_file(request, bytes).unwrap();
        assert_eq!(uploaded.asset_url.file_name(), expected, "{name:?}");
        assert_eq!(
            scene.notes.file(uploaded.asset_url.id()).unwrap().file_name,
            expected,
            "{name:?}"
        );
        assert!(
            uploaded.asset_url.to_string().ends_with(&format!("/{url}")),
            "{}",
            uploaded.asset_url
        );
        let block = serde_json::to_value(scene.notes.fetch(Fetch::new(uploaded.block_id)).unwrap())
            .unwrap();
        assert!(block["type"] != "file" || block["fileName"] == expected, "{block}");
    }
}

#[test]
fn a_file_that_goes_out_as_markdown_comes_back_as_the_same_block() {
    let scene = scene();
    for name in [
        "plain.pdf",
        "[a](b) \\ <c>.pdf",
        "`*_#.pdf",
        "!.pdf",
        "&amp;.pdf",
        "豆腐汤.pdf",
        "a|b.pdf",
    ] {
        for bytes in [&b"%PDF-1.7"[..], PNG] {
            let uploaded =
                scene.notes.upload_file(UploadFile::new(scene.page).named(name), bytes).unwrap();
            let shown = scene.notes.fetch(Fetch::new(uploaded.block_id)).unwrap();
            let copy = scene.notes.insert_markdown(&shown.data.inline, scene.page).unwrap();
            assert_eq!(
                copy.iter().map(|block| &block.data).collect::<Vec<_>>(),
                [&shown.data],
                "{name}"
            );
        }
    }
    scene.assert_clean();
}

/// Whether every common system takes `name` for a plain name.
fn is_plain(name: &str) -> bool {
    let unseen = |letter: char| letter.is_control() || ('\u{202a}'..='\u{202e}').contains(&letter);
    let edge = |letter: char| letter == '.' || letter.is_whitespace();
    !name.is_empty()
        && name.len() <= 255
        && !name.contains(|letter: char| r#"/\<>:"|?*"#.contains(letter) || unseen(letter))
        && !name.starts_with(edge)
        && !name.ends_with(edge)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_given_names_are_plain(
        name in prop_oneof![any::<String>(), "[a-c./\\\\:\\x00 \u{202e}\u{3000}ü]{0,300}", "(?i)(con|nul|com1)[. ]{0,3}[a.]{0,300}"],
    ) {
        let scene = scene();
        let named = |name: &str| {
            let request = UploadFile::new(scene.page).named(name);
            scene.notes.upload_file(request, &b"x"[..]).unwrap().asset_url.file_name().to_owned()
        };
        let kept = named(&name);
        prop_assert!(is_plain(&kept), "{:?} became {:?}", name, kept);
        prop_assert_eq!(named(&kept), kept, "twice");
    }

    #[test]
    fn whatever_the_bytes_are_they_come_back(
        start in prop::sample::select(cases().into_iter().map(|(bytes, ..)| bytes).collect::<Vec<_>>()),
        cut in any::<prop::sample::Index>(),
        length in 0..600_usize,
        seed in any::<u64>(),
    ) {
        let scene = scene();
        let mut bytes = start;
        bytes.truncate(cut.index(bytes.len() + 1));
        bytes.extend(noise(length, seed));
        let uploaded = scene.upload(&bytes);
        prop_assert!(scene.bytes(uploaded.asset_url.id()) == bytes);
        let media_type = scene.notes.file(uploaded.asset_url.id()).unwrap().media_type;
        prop_assert!(media_type.split_once('/').is_some_and(|(kind, format)| !kind.is_empty() && !format.is_empty()));
    }
}

#[test]
fn the_check_of_names_tells_what_is_none() {
    for name in ["", ".", "a/b", "a\\b", "c:x", ".x", "x ", "a\0", "a\u{202e}b", &"x".repeat(256)] {
        assert!(!is_plain(name), "{name:?}");
    }
}
