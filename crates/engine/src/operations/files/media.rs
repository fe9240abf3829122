//! Media types: derived from the declared type and the bytes; and the block type that shows each.

use leafbase_model::{
    AssetId, AssetUrl, BlockData, BlockKind, BlockLayout, Error, Limits, MediaSize, MediaWidth,
    Result,
};

use super::sniff::{Sniffed, sniff};

/// The media type of unknown bytes.
const OCTETS: &str = "application/octet-stream";
/// Length of the longest media type in bytes.
const MOST_BYTES: usize = 127;

/// Parses a `Content-Type` header: lowercased, without parameters. `None` if it declares nothing.
///
/// # Errors
/// [`leafbase_model::ErrorKind::Validation`] if it is not a media type.
pub(super) fn declared(content_type: &str) -> Result<Option<String>> {
    let essence = content_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
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

/// The media type of a file with this declared type and this `head`; `is_whole` if that is the
/// whole file.
pub(crate) fn media_type(declared: Option<&str>, head: &[u8], is_whole: bool) -> String {
    // A declared image or video that the bytes do not prove is ignored.
    let unproven = declared.filter(|declared| !is_shown(declared));
    let found = match sniff(head, is_whole) {
        Sniffed::Certain(found) => found,
        // A declared type may be more specific than the container, but not less.
        Sniffed::OneOf(family, found) => declared
            .filter(|declared| family.has(declared) && *declared != "application/zip")
            .unwrap_or(found),
        Sniffed::Text(found) => unproven.unwrap_or(found),
        Sniffed::Hint(found) if declared.is_none_or(|declared| declared == found) => found,
        Sniffed::Hint(_) | Sniffed::Unknown => unproven.unwrap_or(OCTETS),
    };
    found.to_owned()
}

/// Whether the type has a block of its own. Such a type is accepted only if the bytes prove it.
fn is_shown(media_type: &str) -> bool {
    media_type.starts_with("image/") || media_type.starts_with("video/")
}

/// The block that shows a file of this type. The alternative text of an image is empty.
pub(crate) fn block(media_type: &str, url: &AssetUrl) -> BlockData {
    let (url, file_name) = (url.to_string(), url.file_name().to_owned());
    let (alt_text, size, width) = (String::new(), MediaSize::default(), MediaWidth::default());
    BlockData::new(match media_type.split_once('/') {
        Some(("image", _)) => BlockKind::Image { url, alt_text, size, width },
        Some(("video", _)) => BlockKind::Video { url, alt_text, size, width },
        _ => BlockKind::File { url, file_name, layout: BlockLayout::default() },
    })
}

/// The uploaded file that a block shows as a picture or a video.
pub fn shown_as_picture(data: &BlockData) -> Option<AssetId> {
    AssetUrl::asset_of(&Picture::of(&data.kind)?.url)
}

/// Gives a block that shows a picture or a video the type for files of `media_type`; the text
/// stays. Returns whether the block changed.
pub fn fit_block_type(
    data: &mut BlockData,
    media_type: &str,
    file: &AssetUrl,
    limits: &Limits,
) -> bool {
    let fitting = block(media_type, file).kind;
    let Some(Picture { url, label, size, width }) = Picture::of(&data.kind) else { return false };
    let kind = match (fitting, &data.kind) {
        (BlockKind::Video { .. }, BlockKind::Video { .. }) => return false,
        (BlockKind::Video { .. }, _) => BlockKind::Video { url, alt_text: label, size, width },
        (BlockKind::Image { .. }, BlockKind::Video { .. }) => {
            BlockKind::Image { url, alt_text: label, size, width }
        }
        (BlockKind::File { file_name, layout, .. }, _) => {
            let file_name = if label.is_empty() { file_name } else { label };
            BlockKind::File { url, file_name, layout }
        }
        _ => return false,
    };
    let before = std::mem::replace(&mut data.kind, kind);
    // Alternative text can be longer than a file name may be. Then the picture stays.
    if data.check(limits).is_err() {
        data.kind = before;
        return false;
    }
    true
}

/// The fields of a block that markdown reads as an image.
struct Picture {
    url: String,
    label: String,
    size: MediaSize,
    width: MediaWidth,
}

impl Picture {
    fn of(kind: &BlockKind) -> Option<Self> {
        let drawn = |url: &String, label: &str| Self {
            url: url.clone(),
            label: label.to_owned(),
            size: MediaSize::default(),
            width: MediaWidth::default(),
        };
        match kind {
            BlockKind::Image { url, alt_text, size, width }
            | BlockKind::Video { url, alt_text, size, width } => {
                let (url, label) = (url.clone(), alt_text.clone());
                Some(Self { url, label, size: *size, width: *width })
            }
            // Markdown has no drawings: they are written as images with this text.
            BlockKind::Drawing { url } => Some(drawn(url, "Drawing")),
            BlockKind::Whiteboard { url } => Some(drawn(url, "Whiteboard")),
            _ => None,
        }
    }
}

/// The default name of a file.
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

/// Extensions of common media types.
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
