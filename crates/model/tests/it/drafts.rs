//! Blocks to be made: read and written.

use leafbase_model::{BlockDraft, BlockType, CodeLanguage, Limits, json};
use proptest::prelude::*;

use crate::support::{draft, full};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_draft_is_read_as_it_was_written(draft in draft()) {
        let text = serde_json::to_string(&draft).unwrap();
        prop_assert_eq!(&json::from_str::<BlockDraft>(&text, &Limits::default()).unwrap(), &draft);
        prop_assert_eq!(&serde_json::from_str::<BlockDraft>(&text).unwrap(), &draft);
    }
}

#[test]
fn drafts_as_they_are_written() {
    let drafts: Vec<_> =
        BlockType::ALL.iter().map(|block_type| BlockDraft::new(full(*block_type))).collect();
    insta::assert_json_snapshot!(drafts);
    for draft in drafts {
        let text = serde_json::to_string(&draft).unwrap();
        let read = json::from_str::<BlockDraft>(&text, &Limits::default());
        if draft.data.block_type() == BlockType::CollectionItem {
            // Items come in by the operations of their collection, which knows the schema.
            let message =
                "properties: properties are given with the operations on collection items";
            assert_eq!(read.unwrap_err().to_string(), message);
        } else {
            assert_eq!(read.unwrap(), draft);
        }
    }
}

#[test]
fn a_title_is_another_name_for_the_markdown_of_pages_and_items() {
    for block_type in ["page", "collectionItem"] {
        let read = |rest: &str| {
            json::from_str::<BlockDraft>(
                &format!(r#"{{"type":"{block_type}",{rest}}}"#),
                &Limits::default(),
            )
        };
        assert_eq!(read(r#""title":"Trip""#).unwrap().data.inline, "Trip");
        assert_eq!(read(r#""markdown":"Trip""#).unwrap().data.inline, "Trip");
        assert_eq!(read(r#""markdown":"Trip","title":"Trip""#).unwrap().data.inline, "Trip");
        let both = read(r#""markdown":"Trip","title":"Tour""#).unwrap_err().to_string();
        assert_eq!(both, "title: title is another name for markdown: give one of them");
    }
}

#[test]
fn a_language_and_its_tag_agree() {
    let read = |rest: &str| {
        let draft = json::from_str::<BlockDraft>(
            &format!(r#"{{"type":"code",{rest}}}"#),
            &Limits::default(),
        );
        draft.map(|draft| match draft.into_parts().0.kind {
            leafbase_model::BlockKind::Code { language, language_tag, .. } => {
                (language, language_tag)
            }
            _ => panic!("code is code"),
        })
    };
    for (rest, language, tag) in [
        (r#""language":"rust""#, CodeLanguage::Rust, ""),
        (r#""language":"rust","languageTag":"""#, CodeLanguage::Rust, ""),
        (r#""language":"rust","languageTag":"rust""#, CodeLanguage::Rust, ""),
        (r#""language":"rust","languageTag":"rs""#, CodeLanguage::Rust, "rs"),
        (r#""language":"rust","languageTag":"Rust,ignore""#, CodeLanguage::Rust, "Rust,ignore"),
        (r#""language":"other","languageTag":"brainfuck""#, CodeLanguage::Other, "brainfuck"),
        (r#""language":"other""#, CodeLanguage::Other, ""),
        (r#""languageTag":"txt""#, CodeLanguage::Plaintext, "txt"),
    ] {
        assert_eq!(read(rest).unwrap(), (language, tag.to_owned()), "{rest}");
    }
    for (rest, message) in [
        (
            r#""language":"rust","languageTag":"js""#,
            r#"languageTag: "js" means language javascript, but the block's language is rust"#,
        ),
        (
            r#""language":"rust","languageTag":"brainfuck""#,
            r#"languageTag: "brainfuck" means language other, but the block's language is rust"#,
        ),
        (
            r#""language":"other","languageTag":"rust""#,
            r#"languageTag: "rust" means language rust, but the block's language is other"#,
        ),
        (
            r#""languageTag":"js""#,
            r#"languageTag: "js" means language javascript, but the block's language is plaintext"#,
        ),
    ] {
        assert_eq!(read(rest).unwrap_err().to_string(), message);
    }
}
