//! Uploaded files: their metadata, and the URLs by which blocks embed them.

use std::fmt;
use std::str::FromStr;

use serde::ser::{Serialize, Serializer};

use crate::{AssetId, Error, Result, Stamp};

/// The metadata record of an uploaded file; its bytes are stored separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssetRecord {
    /// The asset ID.
    pub id: AssetId,
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The file name; never used as a path.
    pub file_name: String,
    /// The size in bytes.
    pub size: u64,
    /// The hash of the bytes; `None` in a redacted record.
    pub sha256: Option<FileHash>,
    /// Time and author of the upload.
    pub created: Stamp,
}

impl AssetRecord {
    /// The record that a purge leaves of a file in the change log: its ID alone.
    pub fn redacted(id: AssetId) -> Self {
        let (media_type, file_name) = (String::new(), String::new());
        Self { id, media_type, file_name, size: 0, sha256: None, created: Stamp::default() }
    }

    /// Whether a purge redacted the record: every other file has a media type.
    pub const fn is_redacted(&self) -> bool {
        self.media_type.is_empty()
    }
}

/// The SHA-256 of a file's bytes, shown as 64 lowercase hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileHash([u8; 32]);

impl FileHash {
    /// The hash of these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for FileHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for FileHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileHash({self})")
    }
}

impl Serialize for FileHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The URL of an uploaded file, `asset://<ID>/<file name>`. The name is informative; the ID alone
/// identifies the file.
///
/// ```
/// use leafbase_model::AssetUrl;
/// let url: AssetUrl = "asset://01KASZ4ZJG0000000000000001/Day%20plan.pdf".parse()?;
/// assert_eq!(url.file_name(), "Day plan.pdf");
/// assert_eq!(url.to_string(), "asset://01KASZ4ZJG0000000000000001/Day%20plan.pdf");
/// # Ok::<(), leafbase_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssetUrl {
    id: AssetId,
    file_name: String,
}

const SCHEME: &str = "asset://";

impl AssetUrl {
    /// The URL of the file `id` with the given name.
    pub fn new(id: AssetId, file_name: impl Into<String>) -> Self {
        Self { id, file_name: file_name.into() }
    }

    /// The ID of the file.
    pub const fn id(&self) -> AssetId {
        self.id
    }

    /// The decoded file name.
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// The file that `url` refers to, or `None` for any other URL. Scheme and ID are
    /// case-insensitive.
    pub fn asset_of(url: &str) -> Option<AssetId> {
        Self::split(url).map(|(id, _)| id)
    }

    fn split(url: &str) -> Option<(AssetId, &str)> {
        // Checked split: the URL is user text and may have a character boundary elsewhere.
        let (scheme, rest) = url.split_at_checked(SCHEME.len())?;
        if !scheme.eq_ignore_ascii_case(SCHEME) {
            return None;
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (id, name) = rest.split_at_checked(end)?;
        let id: AssetId = id.parse().ok()?;
        let name = name.strip_prefix('/').unwrap_or("");
        // The nil ID is the value of malformed IDs: no file has it.
        (!id.is_nil()).then_some((id, name))
    }
}

impl FromStr for AssetUrl {
    type Err = Error;

    fn from_str(url: &str) -> Result<Self> {
        let (id, name) = Self::split(url)
            .ok_or_else(|| Error::validation("expected a URL asset://<ID>/<file name>"))?;
        Ok(Self { id, file_name: decoded(name) })
    }
}

/// Decodes percent escapes. Bytes that are not UTF-8 are replaced by U+FFFD.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        // Two hex digits after a percent sign encode one byte.
        let digit =
            |place: usize| bytes.get(at + place).and_then(|digit| char::from(*digit).to_digit(16));
        let digits = digit(1).zip(digit(2)).filter(|_| *byte == b'%');
        let escaped = digits.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        // An incomplete escape stands for itself: file names are shown, not resolved.
        out.push(escaped.unwrap_or(*byte));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    debug_assert!(at == bytes.len() && out.len() <= at, "escapes shrink, and end with the text");
    String::from_utf8_lossy(&out).into_owned()
}

impl fmt::Display for AssetUrl {
    /// Unreserved characters of RFC 3986 (2.3) are written as they are, as are non-ASCII letters
    /// (RFC 3987); the rest is percent-encoded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The ID needs no escapes: Crockford base 32 is unreserved.
        write!(f, "{SCHEME}{}/", self.id)?;
        self.file_name.chars().try_for_each(|character| {
            let plain = character.is_ascii_alphanumeric() || "-._~".contains(character);
            if plain || (!character.is_ascii() && character.is_alphanumeric()) {
                return write!(f, "{character}");
            }
            // Each byte of the UTF-8 encoding is an escape of its own.
            character.encode_utf8(&mut [0; 4]).bytes().try_for_each(|byte| write!(f, "%{byte:02X}"))
        })
    }
}

impl Serialize for AssetUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
