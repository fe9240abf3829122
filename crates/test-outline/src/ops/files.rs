//! Random requests on files.

use leafbase_model::{AssetId, DayRef, Position, PositionTarget, UploadFile};

use super::{Setting, blocks};
use crate::Numbers;

/// A request on files.
#[derive(Clone, Debug, PartialEq)]
pub enum FileRequest {
    /// Takes one in.
    Upload {
        /// Where to, and what it is said to be.
        file: UploadFile,
        /// Its bytes: what it is said to be, with different bytes behind.
        bytes: Vec<u8>,
    },
    /// Reads one.
    Read(AssetId),
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0";
const MP4: &[u8] = b"\0\0\0\x18ftypisom\0\0\x02\0isomiso2";

impl FileRequest {
    pub(super) fn new(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> Self {
        let is_read = numbers.once_in(if setting.space.files.is_empty() { 24 } else { 3 });
        if is_read { Self::Read(file(numbers, setting)) } else { upload(numbers, setting) }
    }
}

/// A file; now and then one that is not there.
pub(super) fn file(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> AssetId {
    let ids: Vec<_> = setting.space.files.iter().map(|file| file.record.id).collect();
    if ids.is_empty() || numbers.once_in(8) {
        AssetId::from_bytes([0xAB; 16])
    } else {
        numbers.pick(&ids)
    }
}

fn upload(numbers: &mut Numbers<'_>, setting: Setting<'_>) -> FileRequest {
    let (media_type, name, head) = numbers.pick(&[
        ("image/png", "a.png", PNG),
        ("text/plain", "b c.txt", b"plain words".as_slice()),
        ("video/mp4", "d.mp4", MP4),
    ]);
    let position = match blocks::position(numbers, setting) {
        // An upload needs a target.
        Position::Within(edge, PositionTarget::Unnamed) => {
            Position::Within(edge, PositionTarget::Day(DayRef::Today))
        }
        position => position,
    };
    let file = UploadFile::new(position).of_type(media_type).named(name);
    let tail = numbers.pick(&[0, 1, 2, 9, 3, 5, 2, 65]);
    let bytes = head.iter().copied().chain(std::iter::repeat_n(b'x', tail)).collect();
    FileRequest::Upload { file, bytes }
}
