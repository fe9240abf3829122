//! Which block shows an uploaded file: the one that an upload of it would make.

use leafbase_model::{AssetId, AssetUrl, BlockData, BlockKind, Limits, MediaSize, MediaWidth};

use crate::operations::files;

/// What a picture or a video says beside what it shows.
struct Picture {
    url: String,
    label: String,
    size: MediaSize,
    width: MediaWidth,
}

/// The uploaded file that `data` shows as a picture or a video.
pub(super) fn pictured(data: &BlockData) -> Option<AssetId> {
    AssetUrl::asset_of(&picture(&data.kind)?.url)
}

/// Makes a picture or a video of `data`, whose file is of this type and name, a block that shows
/// such files: the words stay. Tells whether it was another one.
pub(super) fn show(
    data: &mut BlockData,
    media_type: &str,
    file: &AssetUrl,
    limits: &Limits,
) -> bool {
    let shown = files::block_of(media_type, file);
    let Some(Picture { url, label, size, width }) = picture(&data.kind) else { return false };
    let kind = match (shown.kind, &data.kind) {
        (BlockKind::Video { .. }, BlockKind::Video { .. }) => return false,
        (BlockKind::Video { .. }, _) => BlockKind::Video { url, alt_text: label, size, width },
        (BlockKind::Image { .. }, BlockKind::Video { .. }) => {
            BlockKind::Image { url, alt_text: label, size, width }
        }
        (BlockKind::File { file_name, layout, .. }, _) => BlockKind::File {
            url,
            file_name: if label.is_empty() { file_name } else { label },
            layout,
        },
        _ => return false,
    };
    let before = std::mem::replace(&mut data.kind, kind);
    // Words too long for a file's name stay those of a picture.
    if data.check(limits).is_err() {
        data.kind = before;
        return false;
    }
    true
}

/// The block as a picture, as which markdown reads drawings too.
fn picture(kind: &BlockKind) -> Option<Picture> {
    let drawn = |url: &String, label: &str| {
        let (url, label) = (url.clone(), label.to_owned());
        Picture { url, label, size: MediaSize::default(), width: MediaWidth::default() }
    };
    match kind {
        BlockKind::Image { url, alt_text, size, width }
        | BlockKind::Video { url, alt_text, size, width } => {
            let (url, label) = (url.clone(), alt_text.clone());
            Some(Picture { url, label, size: *size, width: *width })
        }
        BlockKind::Drawing { url } => Some(drawn(url, "Drawing")),
        BlockKind::Whiteboard { url } => Some(drawn(url, "Whiteboard")),
        _ => None,
    }
}
