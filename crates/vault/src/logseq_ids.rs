//! IDs of blocks in a graph of Logseq: a text has its own in the property `id::`.

use leafbase::{BlockData, BlockId, BlockKind, ListStyle, TextStyle};

/// The property by which Logseq knows a block.
pub(crate) const ID_PROPERTY: &str = "id:: ";

/// The length of an ID: 32 digits in five groups.
pub(crate) const ID_LENGTH: usize = 36;

/// Whether Logseq takes a text as the ID of a block.
pub(crate) fn is_id(text: &str) -> bool {
    let is_group = |(group, length): (&str, usize)| {
        group.len() == length && group.bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    text.len() == ID_LENGTH && text.split('-').zip([8, 4, 4, 4, 12]).all(is_group)
}

/// The ID that Logseq gives a block without one. `None` for a block without lines for properties.
pub(crate) fn new_id(block: BlockId, data: &BlockData) -> Option<String> {
    match &data.kind {
        BlockKind::Text(look) if look.style == TextStyle::Body => Some(uuid(block)),
        _ => None,
    }
}

/// The ID in the property of a text.
pub(crate) fn own_id(data: &BlockData) -> Option<&str> {
    if !data.inline.contains(ID_PROPERTY) {
        return None;
    }
    data.inline.lines().find_map(|line| line.trim_start().strip_prefix(ID_PROPERTY)).map(str::trim)
}

/// The IDs in the properties of blocks, which are in document order, with the block that each
/// names: a paragraph of properties alone, as a heading or code has them, names the block before.
pub(crate) fn named_blocks<'a, T: Copy>(
    blocks: impl IntoIterator<Item = (T, &'a BlockData)>,
) -> Vec<(&'a str, T)> {
    let (mut named, mut previous) = (Vec::new(), None);
    for (block, data) in blocks {
        if let Some(id) = own_id(data) {
            let before = previous.filter(|_| has_properties_alone(data));
            named.push((id, before.unwrap_or(block)));
        }
        previous = Some(block);
    }
    named
}

/// Whether each line of a paragraph is a property.
fn has_properties_alone(data: &BlockData) -> bool {
    let is_property = |line: &str| {
        line.split_once(":: ").is_some_and(|(name, _)| !name.trim().contains(char::is_whitespace))
    };
    data.list_style == ListStyle::None && data.inline.lines().all(is_property)
}

fn uuid(block: BlockId) -> String {
    let digits = format!("{:032x}", u128::from_be_bytes(*block.as_bytes()));
    let groups = [0..8, 8..12, 12..16, 16..20, 20..32];
    groups.map(|range| digits.get(range).unwrap_or_default()).join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "60a78e9e-59dc-40ab-9a01-5317dc09365f";

    #[test]
    fn ids_have_five_groups() {
        for (text, expected) in [
            (ID, true),
            ("60a78e9e-59dc-40ab-9a01-5317dc09365", false),
            ("60a78e9e59dc-40ab-9a01-5317dc09365f-", false),
            ("60a78e9g-59dc-40ab-9a01-5317dc09365f", false),
            ("", false),
        ] {
            assert_eq!(is_id(text), expected, "{text}");
        }
        assert!(is_id(&uuid(BlockId::NIL)));
    }

    #[test]
    fn properties_name_their_block_or_the_one_before() {
        let mut item = BlockData::text(format!("id:: {ID}"));
        item.list_style = ListStyle::Bullet;
        let page = BlockData::text(format!("alias:: a\nid:: {ID}"));
        let text = BlockData::text(format!("text\n  id:: {ID}\nmore"));
        for (blocks, expected) in [
            (vec![&page], 0),
            (vec![&item], 0),
            (vec![&item, &page], 0),
            (vec![&text], 0),
            (vec![&page, &item], 0),
            (vec![&BlockData::text("heading"), &page], 0),
            (vec![&BlockData::text("other"), &text], 1),
            (vec![&BlockData::text("other"), &item], 1),
        ] {
            assert_eq!(named_blocks((0..).zip(blocks)).first(), Some(&(ID, expected)));
        }
    }
}
