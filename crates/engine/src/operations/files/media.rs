//! Which type a file is of, and which block shows it: what is declared, weighed against what the
//! bytes say.

use leafbase_model::{
    AssetUrl, BlockData, BlockKind, BlockLayout, Error, MediaSize, MediaWidth, Result,
};

use super::sniff::{Sniffed, sniff};

/// What is said of a file of which nothing is known.
const OCTETS: &str = "application/octet-stream";
/// Bytes of the longest media type.
const MOST_BYTES: usize = 127;

/// The media type that a `Content-Type` header declares, in lower case and without parameters. None
/// if it says that nothing is known.
///
/// # Errors
/// [`leafbase_model::ErrorKind::Validation`] if it is no media type.
pub(super) fn declared(content_type: &str) -> Result<Option<String>> {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.+-".contains(&byte))
    };
    let is_type =
        essence.split_once('/').is_some_and(|(kind, format)| is_token(kind) && is_token(format));
    if !is_type || essence.len() > MOST_BYTES {
        let shown: String = content_type.chars().take(MOST_BYTES).collect();
        return Err(Error::validation(format!(
            "expected a media type such as image/png, got {shown:?}"
        )));
    }
    Ok((essence != OCTETS).then_some(essence))
}

/// The media type of a file that is declared to be of one, and begins with `head`; `is_whole` if
/// that is all of it.
pub(crate) fn media_type(declared: Option<&str>, head: &[u8], is_whole: bool) -> String {
    let unproven = declared.filter(|declared| !is_shown(declared));
    let found = match sniff(head, is_whole) {
        Sniffed::Certain(found) => found,
        // What is declared may say more than the container does, but not less.
        Sniffed::OneOf(family, found) => declared
            .filter(|declared| family.has(declared) && *declared != "application/zip")
            .unwrap_or(found),
        Sniffed::Text(found) => unproven.unwrap_or(found),
        Sniffed::Hint(found) if declared.is_none_or(|declared| declared == found) => found,
        Sniffed::Hint(_) | Sniffed::Unknown => unproven.unwrap_or(OCTETS),
    };
    found.to_owned()
}

/// Whether files of this type have blocks of their own, which show only what the bytes prove to be
/// such a file.
fn is_shown(media_type: &str) -> bool {
    media_type.starts_with("image/") || media_type.starts_with("video/")
}

/// The block that shows a file of this type. Nobody said in words what a picture shows: its
/// alternative text is empty.
pub(crate) fn block(media_type: &str, url: &AssetUrl) -> BlockData {
    let (url, file_name) = (url.to_string(), url.file_name().to_owned());
    let (alt_text, size, width) = (String::new(), MediaSize::default(), MediaWidth::default());
    BlockData::new(match media_type.split_once('/') {
        Some(("image", _)) => BlockKind::Image { url, alt_text, size, width },
        Some(("video", _)) => BlockKind::Video { url, alt_text, size, width },
        _ => BlockKind::File { url, file_name, layout: BlockLayout::default() },
    })
}

/// The name of a file that came without one.
pub(super) fn name_for(media_type: &str) -> String {
    let kind = media_type
        .split('/')
        .next()
        .filter(|kind| matches!(*kind, "image" | "video"))
        .unwrap_or("file");
    extension(media_type).map_or_else(|| kind.to_owned(), |extension| format!("{kind}.{extension}"))
}

fn extension(media_type: &str) -> Option<&'static str> {
    EXTENSIONS.iter().find(|(name, _)| *name == media_type).map(|(_, extension)| *extension)
}

/// Those of the types that files mostly are of.
const EXTENSIONS: [(&str, &str); 54] = [
    ("application/epub+zip", "epub"),
    ("application/gzip", "gz"),
    ("application/json", "json"),
    ("application/msword", "doc"),
    ("application/pdf", "pdf"),
    ("application/postscript", "ps"),
    ("application/rtf", "rtf"),
    ("application/vnd.ms-excel", "xls"),
    ("application/vnd.ms-powerpoint", "ppt"),
    ("application/vnd.oasis.opendocument.presentation", "odp"),
    ("application/vnd.oasis.opendocument.spreadsheet", "ods"),
    ("application/vnd.oasis.opendocument.text", "odt"),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/vnd.rar", "rar"),
    ("application/vnd.sqlite3", "sqlite"),
    ("application/x-7z-compressed", "7z"),
    ("application/x-bzip2", "bz2"),
    ("application/x-tar", "tar"),
    ("application/x-xz", "xz"),
    ("application/xml", "xml"),
    ("application/zip", "zip"),
    ("application/zstd", "zst"),
    ("audio/aac", "aac"),
    ("audio/flac", "flac"),
    ("audio/midi", "mid"),
    ("audio/mp4", "m4a"),
    ("audio/mpeg", "mp3"),
    ("audio/ogg", "ogg"),
    ("audio/wav", "wav"),
    ("image/avif", "avif"),
    ("image/bmp", "bmp"),
    ("image/gif", "gif"),
    ("image/heic", "heic"),
    ("image/heif", "heif"),
    ("image/jpeg", "jpg"),
    ("image/jxl", "jxl"),
    ("image/png", "png"),
    ("image/svg+xml", "svg"),
    ("image/tiff", "tif"),
    ("image/vnd.microsoft.icon", "ico"),
    ("image/webp", "webp"),
    ("text/calendar", "ics"),
    ("text/css", "css"),
    ("text/csv", "csv"),
    ("text/html", "html"),
    ("text/markdown", "md"),
    ("text/plain", "txt"),
    ("video/mp4", "mp4"),
    ("video/ogg", "ogv"),
    ("video/quicktime", "mov"),
    ("video/webm", "webm"),
    ("video/x-matroska", "mkv"),
];
