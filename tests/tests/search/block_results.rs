//! Blocks as results: those that a search for documents names, document by document, each with a
//! snippet of its own.

use std::collections::BTreeMap;

use leafbase::{
    BlockId, CommentDraft, Connection, DocumentId, Limits, Position, SearchDocuments, SearchMatch,
    SearchPage, TermMode, Unbatched,
};

use crate::{Shelf, wrong};

fn titles() -> Shelf {
    Shelf::of(&[
        ("lamps", "a lamp by the river\n\nsnow\n\n- a lamp\n- river lamp river"),
        ("river", "lamp\n\n```\nlamp = 1\n```\n\nrivers"),
        ("kite", "snow"),
        ("snow", "a river of 22:15\n\nlamp at 22:15\n\n22:15"),
    ])
}

/// All pages of a search, each as full as the limit.
fn pages<A: Unbatched>(notes: &Connection<A>, request: &SearchDocuments) -> Vec<SearchPage> {
    let (mut request, mut pages) = (request.clone(), Vec::new());
    loop {
        let page = notes.search(request.clone()).unwrap();
        let next = page.next_cursor.clone();
        pages.push(page);
        match next {
            Some(cursor) => request = request.after(cursor),
            None => return pages,
        }
    }
}

fn blocks(pages: &[SearchPage]) -> Vec<SearchMatch> {
    pages.iter().flat_map(|page| page.items.clone()).collect()
}

/// Checks the blocks of a request against its documents.
fn check<A: Unbatched>(notes: &Connection<A>, request: &SearchDocuments, case: &str) {
    let documents = notes.search(request.clone().limit(1_000)).unwrap().items;
    let found = notes.search(request.clone().by_block().limit(1_000)).unwrap();
    assert_eq!((found.total, found.total_is_lower_bound), (found.len(), false), "{case}");
    assert_eq!(found.next_cursor, None, "{case}");
    // The documents in their order, and of each the blocks that it names.
    let mut order: Vec<DocumentId> = found.iter().map(|found| found.document_id).collect();
    order.dedup();
    let expected: Vec<_> = documents.iter().map(|found| found.document_id).collect();
    assert_eq!(order, expected, "{case}");
    let mut of_document: BTreeMap<DocumentId, Vec<BlockId>> = BTreeMap::new();
    for block in &found {
        let id = block.block_id.unwrap();
        assert_eq!(block.block_ids, [id], "{case}");
        of_document.entry(block.document_id).or_default().push(id);
    }
    for document in &documents {
        let of_document = of_document.get_mut(&document.document_id).unwrap();
        // The first one is the one that the document shows. Matches without text show the title.
        let first = found.iter().find(|found| found.document_id == document.document_id).unwrap();
        let of = |found: &SearchMatch| (found.score, found.missing_terms.clone());
        assert_eq!(of(first), of(document), "{case}");
        if !document.highlights.is_empty() {
            let shown = |found: &SearchMatch| (found.markdown.clone(), found.highlights.clone());
            assert_eq!(shown(first), shown(document), "{case}");
        }
        of_document.sort_unstable();
        let mut named = document.block_ids.clone();
        named.sort_unstable();
        assert_eq!(*of_document, named, "{case}");
    }
    for limit in [1, 2, 3, 5] {
        let pages = pages(notes, &request.clone().by_block().limit(limit));
        assert_eq!(blocks(&pages), found.items, "{case} {limit}");
        assert!(pages.iter().all(|page| page.total == found.total), "{case} {limit}");
        let (_, full) = pages.split_last().unwrap();
        assert!(full.iter().all(|page| page.len() == limit), "{case} {limit}");
    }
}

#[test]
fn blocks_are_those_of_the_documents_that_are_found() {
    let shelf = titles();
    let commented = shelf.notes.insert_markdown("wind", shelf.id("kite")).unwrap()[0].id;
    let comment = CommentDraft::new(commented, "a lamp");
    shelf.notes.add_comments(leafbase::AddComments::new([comment])).unwrap();
    let half = ["lamps", "kite", "snow"].map(|title| shelf.id(title));
    let guest = shelf.notes.space().scoped(half);
    let words =
        ["lamp", "lamp river", "\"a lamp\"", "riv", "rivr lamps", "lamp nothing", "nothing"];
    let requests = words.into_iter().flat_map(|words| {
        let modes = TermMode::ALL.iter().map(move |mode| {
            let mut request = SearchDocuments::words(words);
            request.term_mode = *mode;
            request
        });
        modes.chain([SearchDocuments::words(words).matching(r"\d\d:\d\d|lamp")])
    });
    let patterns = ["lamp", r"\d\d:\d\d", "^a lamp$", "x*", "nothing"];
    let requests: Vec<_> = requests.chain(patterns.map(SearchDocuments::pattern)).collect();
    for _ in 0..2 {
        for request in &requests {
            check(&shelf.notes, request, &format!("{request:?}"));
            check(&guest, request, &format!("scoped {request:?}"));
        }
        shelf.notes.space().flush_search().unwrap();
    }
}

#[test]
fn blocks_with_more_of_the_words_come_first_in_their_document() {
    let shelf =
        Shelf::of(&[("lamp river snow", "river\n\nlamp lamp\n\nlamp by the river\n\nlamp")]);
    let found = shelf.search(SearchDocuments::words("lamp river").by_block());
    let shown: Vec<_> = found.iter().map(|found| found.markdown.as_str()).collect();
    assert_eq!(
        shown,
        [
            "**lamp** by the **river**",
            "**river**",
            "**lamp** **lamp**",
            "**lamp**",
            "**lamp** **river** snow"
        ]
    );
}

#[test]
fn a_document_that_is_written_restarts_where_its_block_is_gone() {
    let shelf = titles();
    let request = SearchDocuments::words("lamp").by_block().limit(2);
    let first = shelf.notes.search(request.clone()).unwrap();
    let all = shelf.search(request.clone().limit(99));
    let last = first[1].block_id.unwrap();
    let rest = |cursor: &str| {
        let page = shelf.notes.search(request.clone().limit(99).after(cursor)).unwrap();
        page.items.iter().map(|found| found.block_id.unwrap()).collect::<Vec<_>>()
    };
    let cursor = first.next_cursor.unwrap();
    let ids: Vec<_> = all.iter().map(|found| found.block_id.unwrap()).collect();
    assert_eq!(rest(&cursor), ids[2..]);
    // Writes to others move nothing.
    shelf.put("other", "kite kite");
    shelf.notes.insert_markdown("lamp", Position::end_of(shelf.id("kite"))).unwrap();
    let others = rest(&cursor);
    assert!(ids[2..].iter().all(|id| others.contains(id)), "{others:?}");
    shelf.notes.delete_blocks(last.into()).unwrap();
    let others = rest(&cursor);
    let is_there = |id: &&BlockId| **id != last;
    assert!(ids[2..].iter().filter(is_there).all(|id| others.contains(id)), "{others:?}");

    for other in [SearchDocuments::words("lamp"), SearchDocuments::words("lamps").by_block()] {
        let error = shelf.notes.search(other.after(&cursor)).unwrap_err();
        assert_eq!(wrong(&error), "VALIDATION cursor");
    }
}

/// What is written to another document between two pages may put it before one that is half shown.
#[test]
fn a_document_between_two_pages_is_continued_whatever_is_written_to_others() {
    for request in [SearchDocuments::words("lamp"), SearchDocuments::pattern("lamp")] {
        let shelf =
            Shelf::of(&[("first", "lamp 0\n\nlamp 1\n\nlamp 2\n\nlamp 3"), ("other", "snow")]);
        let request = request.by_block().limit(2);
        let first = shelf.notes.search(request.clone()).unwrap();
        let best = ["lamp lamp lamp"; 5].join("\n\n");
        shelf.notes.insert_markdown(&best, Position::end_of(shelf.id("other"))).unwrap();
        let rest = pages(&shelf.notes, &request.after(first.next_cursor.clone().unwrap()));
        let found = blocks(&[vec![first], rest].concat());
        let of_first = found.iter().filter(|found| found.document_id == shelf.id("first"));
        let shown: Vec<_> = of_first.map(|found| found.markdown.as_str()).collect();
        assert_eq!(shown, [0, 1, 2, 3].map(|number| format!("**lamp** {number}")));
    }
}

#[test]
fn totals_count_ten_thousand_blocks() {
    let shelf = Shelf::new();
    let many = "lamp\n\n".repeat(5_000);
    shelf.put("one", &many);
    shelf.put("two", &many);
    let totals = || {
        let words = SearchDocuments::words("lamp");
        let requests = [words.clone(), words.matching("lam"), SearchDocuments::pattern("lam")];
        requests.map(|request| {
            let page = shelf.notes.search(request.by_block().limit(1)).unwrap();
            (page.total, page.total_is_lower_bound)
        })
    };
    assert_eq!(totals(), [(Limits::SEARCH_TOTAL, false); 3]);
    shelf.put("three", "lamp");
    assert_eq!(totals(), [(Limits::SEARCH_TOTAL, true); 3]);
    // A document has more blocks than a snippet names.
    let pages = pages(&shelf.notes, &SearchDocuments::words("lamp").by_block().limit(1_000));
    assert_eq!(blocks(&pages).len(), 10_001);
}

#[test]
fn a_total_of_blocks_is_a_lower_bound_where_a_pattern_costs_too_much() {
    let cheap = "word word word";
    let costly = format!("word\n\n{}c", "a".repeat(200_000));
    let shelf = Shelf::of(&[("one", cheap), ("two", cheap), ("three", &costly)]);
    let request = SearchDocuments::words("word").matching("word");
    let request = request.matching("(?=a)(a?){40}[ab]{60}c").by_block().limit(1);
    let first = shelf.notes.search(request.clone()).unwrap();
    assert_eq!((first.len(), first.total, first.total_is_lower_bound), (1, 2, true));
    let second = shelf.notes.search(request.clone().after(first.next_cursor.unwrap())).unwrap();
    assert_eq!((second.len(), second.total, second.total_is_lower_bound), (1, 2, true));
    let third = shelf.notes.search(request.after(second.next_cursor.unwrap()));
    assert_eq!(wrong(&third.unwrap_err()), "LIMIT_EXCEEDED regexps[1]");
}
