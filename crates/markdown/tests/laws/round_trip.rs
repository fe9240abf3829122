//! First law: canonical blocks, written and read again, are the same blocks.

use leafbase_model::{
    BlockData, BlockDraft, BlockKind, ListStyle, TaskInfo, TextFormat, TextStyle,
};
use proptest::prelude::*;

use crate::dialect::{Dialect, REAL};
use crate::generate;

/// The blocks in canonical form.
pub(crate) fn canonical(dialect: Dialect, blocks: Vec<BlockDraft>) -> Vec<BlockDraft> {
    let one = |mut draft: BlockDraft| {
        (dialect.canonical)(&mut draft.data);
        draft.content = canonical(dialect, std::mem::take(&mut draft.content));
        draft
    };
    blocks.into_iter().map(one).collect()
}

/// Sets the indentation of what is in no list to what markdown can say: one level more than the
/// list item before, or than what follows that.
fn expressible(blocks: &mut [BlockDraft]) {
    let mut depth = 0;
    for block in blocks {
        let data = &mut block.data;
        if data.list_style == ListStyle::None {
            data.indentation = data.indentation.min(depth);
            depth = data.indentation;
        } else {
            depth = data.indentation + 1;
        }
        expressible(&mut block.content);
    }
}

pub(crate) fn holds(dialect: Dialect, blocks: Vec<BlockDraft>) -> Result<(), String> {
    let mut blocks = canonical(dialect, blocks);
    let again = canonical(dialect, blocks.clone());
    if again != blocks {
        return Err(format!("not idempotent: {}", difference(&blocks, &again)));
    }
    expressible(&mut blocks);
    let text = (dialect.render)(&blocks);
    let read = (dialect.parse)(&text);
    if read == blocks {
        Ok(())
    } else {
        Err(format!("{text}\n===== {}", difference(&blocks, &read)))
    }
}

/// Where two lists of blocks differ first.
pub(crate) fn difference(left: &[BlockDraft], right: &[BlockDraft]) -> String {
    let flat = |blocks: &[BlockDraft]| -> Vec<String> {
        let alone = |block: &BlockDraft| {
            serde_json::to_string(&BlockDraft::new(block.data.clone())).unwrap()
        };
        let blocks = blocks.iter().flat_map(BlockDraft::walk);
        blocks.map(|(depth, block)| format!("{depth} {}", alone(block))).collect()
    };
    let (left, right) = (flat(left), flat(right));
    let place = left.iter().zip(&right).take_while(|(left, right)| left == right).count();
    format!("block {place}\n  {:?}\n  {:?}", left.get(place), right.get(place))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(3000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks_come_back(blocks in generate::tree()) {
        prop_assert_eq!(holds(REAL, blocks), Ok(()));
    }

    #[test]
    fn one_block_comes_back(data in generate::block()) {
        let data = BlockData { indentation: if data.list_style == ListStyle::None { 0 } else { data.indentation }, ..data };
        prop_assert_eq!(holds(REAL, vec![BlockDraft::new(data)]), Ok(()));
    }
}

/// With `LEAFBASE_CASES=full` ten times as many, with a number that many times.
pub(crate) fn cases(usual: u32) -> u32 {
    let times = match std::env::var("LEAFBASE_CASES").as_deref() {
        Ok("full") => 10,
        Ok(times) => times.parse().unwrap(),
        Err(_) => 1,
    };
    usual * times
}

#[test]
fn texts_that_resemble_tables_come_back() {
    let styles = [(ListStyle::None, TextStyle::Body), (ListStyle::Task, TextStyle::Page)];
    let first_lines = ["x\n", "\n", " \n", "\t\n\n", "\u{a0}\n", "\u{2003}\n", "\x0c\n", "&#32;\n"];
    let starts = ["", " ", "  ", "\t", "\u{a0}", "&#32;", "&#x20;", "\\"];
    for before in first_lines.into_iter().chain(starts) {
        for head in ["| |", "||", "a |", "|a|b|", " | |", "&#32;| |", "\\| a |"] {
            for rule in ["|-|", "|-|-|", "-|-", ":-|-:|-|"] {
                for (list_style, style) in styles {
                    let format = TextFormat { style, ..TextFormat::default() };
                    let mut data = BlockData {
                        list_style,
                        task: (list_style == ListStyle::Task).then(TaskInfo::default),
                        ..BlockData::new(BlockKind::Text(format))
                    };
                    data.inline = format!("{before}{head}\n{rule}\n| 1 | 2");
                    assert_eq!(holds(REAL, vec![BlockDraft::new(data)]), Ok(()));
                }
            }
        }
    }
}
