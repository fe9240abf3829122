//! What is shown of a document is what a look at each of its texts by itself finds, though texts
//! are passed by whose bytes tell enough.

use leafbase::{
    AddComments, BlockData, BlockDraft, BlockId, CommentDraft, DocumentId, InsertBlocks, Position,
    SearchDocuments, SearchMatch,
};
use proptest::prelude::*;
use proptest::sample::select;

use super::Shelf;

/// Asked for.
const WORDS: [&str; 24] = [
    "train",
    "Trains",
    "training",
    "die",
    "dying",
    "hop",
    "élan",
    "elan",
    "straße",
    "STRASSE",
    "東京",
    "ひか",
    "snake_case",
    "v1.2",
    "don't",
    "x",
    "viii",
    "\"train hop\"",
    "\"hop élan\"",
    "tra",
    "block",
    "amp",
    "12",
    "don",
];

/// Texts are made of these: words whole and in pieces, with what may stand between and within them.
const PIECES: [&str; 72] = [
    "train",
    "trains",
    "TRAINING",
    "die",
    "Dying",
    "hop",
    "hoped",
    "élan",
    "e\u{301}lan",
    "Elan",
    "straße",
    "strasse",
    "ſtrasse",
    "東京都",
    "ひがか",
    "snake_case",
    "snake\\_case",
    "v1.2",
    "don't",
    "don’t",
    "don",
    "x",
    "K",
    "k",
    "Ⅷ",
    "viii",
    "ﬁn",
    "ＴＲＡＩＮ",
    "tr",
    "ain",
    "ho",
    "p",
    "el",
    "an",
    "di",
    "e",
    "1",
    "2",
    ".",
    " ",
    " ",
    " ",
    " ",
    "\n",
    "\t",
    "*",
    "**",
    "_",
    "__",
    "~~",
    "`",
    "``",
    "\\",
    "[",
    "](a.md)",
    "](block://01KASZ4ZJG0000000000000001)",
    "<b>",
    "</b>",
    "<br>",
    "&amp;",
    "&#97;",
    "&",
    "%61",
    "\u{ad}",
    "\u{200b}",
    "block://01KASZ4ZJG0000000000000001",
    "block:",
    "invalid:out_of_scope#12",
    "#",
    "nothing of it",
    " - ",
    "|",
];

fn texts() -> impl Strategy<Value = Vec<(bool, String)>> {
    let pieces =
        prop::collection::vec(select(PIECES.to_vec()), 0..8).prop_map(|pieces| pieces.concat());
    prop::collection::vec((prop::bool::weighted(0.1), pieces), 1..9)
}

/// A document with a block of each of these texts, one below the other; some of them are pages.
fn put(shelf: &Shelf, title: &str, texts: &[(bool, String)]) -> DocumentId {
    let document = shelf.notes.create_document(title).unwrap().id();
    let draft = |(is_page, text): &(bool, String)| {
        BlockDraft::new(if *is_page {
            BlockData::page(text.clone())
        } else {
            BlockData::text(text.clone())
        })
    };
    let drafts = texts.iter().map(draft).collect();
    shelf.notes.insert_blocks(InsertBlocks::blocks(drafts, Position::end_of(document))).unwrap();
    document
}

/// The document's blocks in reading order, each with its text.
fn blocks(shelf: &Shelf, document: DocumentId) -> Vec<(BlockId, bool, String)> {
    let fetched = shelf.notes.fetch(leafbase::Fetch::new(document)).unwrap();
    let block = |block: &leafbase::Block| {
        (
            block.id,
            matches!(block.data.kind, leafbase::BlockKind::Page(_)),
            block.data.inline.clone(),
        )
    };
    fetched.children().iter().map(block).collect()
}

fn shown(found: &[SearchMatch], document: DocumentId) -> Option<&SearchMatch> {
    found.iter().find(|found| found.document_id == document)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_blocks_that_match_are_those_that_match_by_themselves(texts in texts(), asked in prop::collection::vec(select(WORDS.to_vec()), 1..3)) {
        let shelf = Shelf::new();
        let whole = put(&shelf, "q", &texts);
        let blocks = blocks(&shelf, whole);
        let alone: Vec<_> = blocks.iter().map(|(_, is_page, text)| put(&shelf, "q", &[(*is_page, text.clone())])).collect();
        // What has comments is read as a whole.
        let remarked = put(&shelf, "q", &texts);
        let remark = CommentDraft::new(remarked.root(), "zz");
        shelf.notes.add_comments(AddComments::new([remark])).unwrap();
        let ids: Vec<_> = self::blocks(&shelf, remarked).into_iter().map(|(id, ..)| id).collect();
        let mut request = SearchDocuments::default();
        request.include = asked.iter().map(|&word| word.to_owned()).collect();
        for _ in 0..2 {
            let found = shelf.search(request.clone().any_word());
            let matching: Vec<_> = blocks.iter().zip(&alone).filter(|(_, alone)| shown(&found, **alone).is_some()).collect();
            let matching: Vec<_> = matching.into_iter().map(|((id, ..), _)| *id).collect();
            let whole = shown(&found, whole);
            prop_assert_eq!(whole.map(|found| found.block_ids.clone()).unwrap_or_default(), matching, "{:?} in {:?}", asked, blocks);
            let remarked = shown(&found, remarked);
            let text = |found: &SearchMatch| (found.markdown.clone(), found.highlights.clone());
            prop_assert_eq!(whole.map(text), remarked.map(text));
            let places = |found: &SearchMatch, ids: &[BlockId]| -> Vec<_> {
                found.block_ids.iter().map(|found| ids.iter().position(|id| id == found)).collect()
            };
            let whole_ids: Vec<_> = blocks.iter().map(|(id, ..)| *id).collect();
            prop_assert_eq!(whole.map(|found| places(found, &whole_ids)), remarked.map(|found| places(found, &ids)));
            shelf.notes.space().flush_search().unwrap();
        }
    }
}
