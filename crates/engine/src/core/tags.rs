//! Tags of a block, by which the store keeps their index.

use leafbase_markdown::{FRONT_MATTER_TAG, front_properties, hash_tags};
use leafbase_model::{BlockData, BlockKind};

/// Emits the tags in the text of a block, or of the front matter that it is, each with the tags
/// that it is nested in.
pub(crate) fn tags(data: &BlockData, visit: &mut dyn FnMut(&str)) {
    match &data.kind {
        BlockKind::Code { raw_code, language_tag, .. } if language_tag == FRONT_MATTER_TAG => {
            for tag in front_properties(raw_code).tags {
                visit_levels(&tag, visit);
            }
        }
        _ if data.block_type().has_own_markdown() => {
            hash_tags(&data.inline, &mut |tag| visit_levels(tag, visit));
        }
        _ => {}
    }
}

fn visit_levels(tag: &str, visit: &mut dyn FnMut(&str)) {
    let ends = tag.match_indices('/').map(|(end, _)| end).chain([tag.len()]);
    ends.filter_map(|end| tag.get(..end)).for_each(visit);
}
