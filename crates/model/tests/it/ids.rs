//! IDs: text, bytes, order.

use leafbase_model::{AssetId, BlockId, CommentId, DocumentId, FolderId, SpaceId};
use proptest::prelude::*;

proptest! {
    #[test]
    fn text_round_trip_in_either_case(bytes: [u8; 16]) {
        let id = BlockId::from_bytes(bytes);
        let text = id.to_string();
        prop_assert_eq!(text.len(), 26);
        prop_assert_eq!(&text, &text.to_uppercase());
        prop_assert_eq!(text.parse::<BlockId>().unwrap(), id);
        prop_assert_eq!(text.to_lowercase().parse::<BlockId>().unwrap(), id);
        prop_assert_eq!(id.to_bytes(), bytes);
        prop_assert_eq!(id.as_bytes(), &bytes);
    }

    #[test]
    fn ids_sort_as_their_bytes_and_as_their_texts(one: [u8; 16], other: [u8; 16]) {
        let (a, b) = (FolderId::from_bytes(one), FolderId::from_bytes(other));
        prop_assert_eq!(a.cmp(&b), one.cmp(&other));
        prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
    }

    #[test]
    fn json_round_trip(bytes: [u8; 16]) {
        let id = CommentId::from_bytes(bytes);
        let text = serde_json::to_string(&id).unwrap();
        prop_assert_eq!(serde_json::from_str::<CommentId>(&text).unwrap(), id);
    }

    #[test]
    fn no_text_panics(text in ".{0,30}") {
        let _ = text.parse::<BlockId>();
        let _ = serde_json::from_value::<BlockId>(text.into()).unwrap();
    }
}

#[test]
fn known_texts() {
    for (text, bytes) in [
        ("00000000000000000000000000", [0; 16]),
        ("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", [0xff; 16]),
        (
            // From the specification of ULID.
            "01ARYZ6S41TSV4RRFFQ69G5FAV",
            [
                0x01, 0x56, 0x3d, 0xf3, 0x64, 0x81, 0xd6, 0x76, 0x4c, 0x61, 0xef, 0xb9, 0x93, 0x02,
                0xbd, 0x5b,
            ],
        ),
    ] {
        assert_eq!(text.parse::<SpaceId>().unwrap().to_bytes(), bytes);
        assert_eq!(SpaceId::from_bytes(bytes).to_string(), text);
    }
}

#[test]
fn malformed_texts_are_refused_and_read_as_nothing() {
    for wrong in [
        "",
        "x",
        // Too large for 128 bits.
        "80000000000000000000000000",
        "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "ZZZZZZZZZZZZZZZZZZZZZZZZZZ",
        // One character too few, too many.
        "0000000000000000000000000",
        "000000000000000000000000000",
        // Letters that Crockford's alphabet leaves out.
        "0000000000000000000000000I",
        "0000000000000000000000000L",
        "0000000000000000000000000O",
        "0000000000000000000000000U",
        "0000000000000000000000000-",
        " 0000000000000000000000000",
        // 26 bytes, but not 26 characters.
        "000000000000000000000000é",
    ] {
        let error = wrong.parse::<AssetId>().unwrap_err();
        assert_eq!(error.to_string(), "expected an ID of 26 characters (ULID)", "{wrong}");
        let read: AssetId = serde_json::from_value(wrong.into()).unwrap();
        assert!(read.is_nil(), "{wrong}");
    }
}

#[test]
fn a_document_has_the_id_of_its_root() {
    let root: BlockId = "01ARYZ6S41TSV4RRFFQ69G5FAV".parse().unwrap();
    let document = DocumentId::of_root(root);
    assert_eq!((document.root(), BlockId::from(document)), (root, root));
    assert_eq!(document.to_string(), root.to_string());
    assert_eq!((BlockId::default(), format!("{root:?}")), (BlockId::NIL, root.to_string()));
    assert_eq!(format!("{root:>28}|"), "  01ARYZ6S41TSV4RRFFQ69G5FAV|");
    for value in [serde_json::Value::from(root), document.into()] {
        assert_eq!(value, root.to_string());
    }
}
