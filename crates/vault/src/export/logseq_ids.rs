//! IDs of blocks in a graph of Logseq.

use leafbase::{BlockData, BlockId, BlockKind, TextStyle};

/// The property by which Logseq knows a block.
pub(super) const ID_PROPERTY: &str = "id:: ";

/// The ID of a block for Logseq: the one that its text has, or else its own. `None` for a block
/// without lines for properties.
pub(super) fn id_of(block: BlockId, data: &BlockData) -> Option<String> {
    match &data.kind {
        BlockKind::Text(look) if look.style == TextStyle::Body => {
            Some(logseq_id(data).map_or_else(|| uuid(block), ToOwned::to_owned))
        }
        _ => None,
    }
}

/// The ID in the property of a text.
pub(super) fn logseq_id(data: &BlockData) -> Option<&str> {
    data.inline.lines().find_map(|line| line.trim_start().strip_prefix(ID_PROPERTY)).map(str::trim)
}

fn uuid(block: BlockId) -> String {
    let digits = format!("{:032x}", u128::from_be_bytes(*block.as_bytes()));
    let groups = [0..8, 8..12, 12..16, 16..20, 20..32];
    groups.map(|range| digits.get(range).unwrap_or_default()).join("-")
}
