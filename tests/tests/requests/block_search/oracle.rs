//! Plain patterns on random documents, against the crate `regex` block by block.

use leafbase::{BlockData, BlockDraft, InsertBlocks, Position, SearchBlocks};
use proptest::prelude::*;
use regex::RegexBuilder;

use super::shelf::Shelf;

/// The blocks that are found, each with where.
type Found = Vec<(usize, Vec<(usize, usize)>)>;

/// What `search_blocks` must find. With `joined` texts are matched as if they stood in one, which
/// is wrong.
fn naive(texts: &[String], pattern: &str, case_sensitive: bool, joined: bool) -> Found {
    let pattern = RegexBuilder::new(pattern).case_insensitive(!case_sensitive).build().unwrap();
    let whole = texts.join("\n");
    let (mut found, mut start) = (Found::new(), 0);
    for (index, text) in texts.iter().enumerate() {
        let (from, to) = (start, start + text.len());
        start = to + 1;
        let ranges: Vec<_> = if joined {
            let within =
                pattern.find_iter(&whole).filter(|hit| from <= hit.start() && hit.end() <= to);
            within.map(|hit| (hit.start() - from, hit.end() - from)).collect()
        } else {
            pattern.find_iter(text).map(|hit| (hit.start(), hit.end())).collect()
        };
        if !ranges.is_empty() {
            let letters = ranges.into_iter().filter(|(start, end)| start < end).take(100);
            found.push((index, letters.collect()));
        }
    }
    found
}

fn searched(shelf: &Shelf, page: &leafbase::BlockId, pattern: &str, case_sensitive: bool) -> Found {
    let mut request = SearchBlocks::new(*page, pattern).context(0, 0);
    request.case_sensitive = case_sensitive;
    let blocks = shelf.notes.fetch(leafbase::Fetch::new(*page)).unwrap();
    let index = |id| blocks.children().iter().position(|block| block.id == id);
    let hits = shelf.notes.search_blocks(request).unwrap();
    let of_children = hits.iter().filter_map(|hit| Some((index(hit.block_id)?, hit)));
    of_children
        .map(|(index, hit)| {
            (index, hit.ranges.iter().map(|range| (range.start, range.end)).collect())
        })
        .collect()
}

/// A page of these texts.
fn page(shelf: &Shelf, texts: &[String]) -> leafbase::BlockId {
    let texts = texts.iter().map(|text| BlockDraft::new(BlockData::text(text))).collect();
    let page = BlockDraft::new(BlockData::page("title")).with_content(texts);
    let inserted = shelf
        .notes
        .insert_blocks(InsertBlocks::blocks(vec![page], Position::end_of(shelf.id("trip"))));
    inserted.unwrap()[0].id
}

fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        5 => proptest::sample::select(vec!["a", "b", "B", "é", "É", "字", "1", " ", "ab"]).prop_map(str::to_owned),
        2 => proptest::sample::select(vec![".", "[ab]", "[^a]", r"\w", r"\d", r"\s", r"\W", "[a-c1]"]).prop_map(str::to_owned),
        2 => proptest::sample::select(vec!["^", "$", r"\b", r"\B", r"\A", r"\z", "(?m:^)", "(?m:$)"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            3 => proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            2 => proptest::collection::vec(inner.clone(), 2..3).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            2 => (inner, proptest::sample::select(vec!["*", "+", "?", "+?", "{2}"])).prop_map(|(inner, times)| format!("(?:{inner}){times}")),
        ]
    })
}

/// Texts that are kept as they are. Some are long, so that pieces begin and end everywhere.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let letters = prop_oneof![Just("a"), Just("b"), Just("É"), Just("字"), Just("1"), Just("a b")];
    let text = proptest::collection::vec(letters, 0..8).prop_map(|letters| letters.concat());
    let long = (text.clone(), 1..900_usize).prop_map(|(text, times)| text.repeat(times));
    proptest::collection::vec(prop_oneof![9 => text, 1 => long], 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plain_patterns_find_what_the_crate_regex_finds_block_by_block(texts in texts(), patterns in proptest::collection::vec(pattern(), 4), case in any::<bool>()) {
        let shelf = Shelf::of("text \"first\"");
        let page = page(&shelf, &texts);
        for pattern in &patterns {
            prop_assert_eq!(searched(&shelf, &page, pattern, case), naive(&texts, pattern, case, false), "{}", pattern);
        }
    }
}

/// The comparison tells a search apart that takes texts that stand beside each other for one.
#[test]
fn what_matches_across_blocks_or_at_their_edges_alone_is_told_apart() {
    let texts = ["ab", "", "ba"].map(str::to_owned);
    let shelf = Shelf::of("text \"first\"");
    let page = page(&shelf, &texts);
    for pattern in [r"^b", r"b$", r"\z", "b[^a]*"] {
        let found = searched(&shelf, &page, pattern, true);
        assert_eq!(found, naive(&texts, pattern, true, false), "{pattern}");
        assert_ne!(found, naive(&texts, pattern, true, true), "{pattern}");
    }
}
