//! Fourth law: no text makes structure. Whatever a block says, and wherever it stands, there is one
//! block more, of its type.

use leafbase_model::{
    BlockData, BlockDraft, BlockKind, Decorations, ListStyle, TaskInfo, TextFormat, TextStyle,
};
use proptest::prelude::*;

use crate::dialect::{Dialect, REAL};
use crate::generate;
use crate::round_trip::cases;

/// `text` as a text of this style, within a page, a callout and a quote, between two others.
pub(crate) fn holds(
    dialect: Dialect,
    text: &str,
    style: TextStyle,
    list_style: ListStyle,
) -> Result<(), String> {
    let mut data = BlockData {
        kind: BlockKind::Text(TextFormat { style, ..TextFormat::default() }),
        list_style,
        task: (list_style == ListStyle::Task).then(TaskInfo::default),
        decorations: Decorations { callout: true, quote: true },
        ..BlockData::text(text)
    };
    (dialect.canonical)(&mut data);
    let mut title = BlockData::page(text);
    (dialect.canonical)(&mut title);
    let neighbour = BlockDraft::new(BlockData {
        decorations: data.decorations,
        ..BlockData::text("neighbour")
    });
    let content = vec![neighbour.clone(), BlockDraft::new(data), neighbour];
    let page = vec![
        BlockDraft::new(title).with_content(content),
        BlockDraft::new(BlockData::text("after")),
    ];
    let read = (dialect.parse)(&(dialect.render)(&page));
    let shape = |blocks: &[BlockDraft]| -> Vec<_> {
        let shapes = blocks.iter().flat_map(BlockDraft::walk);
        shapes
            .map(|(depth, block)| (depth, block.data.block_type(), block.data.decorations))
            .collect()
    };
    if shape(&read) == shape(&page) {
        Ok(())
    } else {
        Err(format!("{:?}\n{:?}", shape(&page), shape(&read)))
    }
}

#[test]
fn tags_in_a_text_stay_text() {
    let tags = ["page", "card", "pageTitle", "content", "callout", "caption"];
    for tag in tags
        .iter()
        .flat_map(|name| [format!("<{name}>"), format!("</{name}>"), format!("</{name} >")])
    {
        for text in [
            tag.clone(),
            format!("a {tag} b"),
            format!("a\n{tag}\nb"),
            format!("\\{tag}"),
            format!("\\\\{tag}"),
            format!("` {tag}"),
            format!("`{tag}`"),
            format!("{tag}{tag}</content></page>{tag}"),
            format!("<div>\n{tag}\n</div>"),
            format!("a{tag}\\"),
        ] {
            for style in TextStyle::ALL {
                for list_style in ListStyle::ALL {
                    assert_eq!(holds(REAL, &text, *style, *list_style), Ok(()), "{text}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(2000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_stays_text(
        text in generate::text(),
        style in proptest::sample::select(TextStyle::ALL),
        list_style in generate::list_style(),
    ) {
        prop_assert_eq!(holds(REAL, &text, style, list_style), Ok(()));
    }
}
