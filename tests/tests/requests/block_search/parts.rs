//! Matches in parts: a cursor leads on while blocks come and go.

use leafbase::{DeleteBlocks, InsertBlocks, MoveBlocks, Position, SearchBlocks};

use super::shelf::Shelf;

/// Ten texts from `a0` to `a9`, of which those of even numbers end with a `!`.
fn shelf() -> Shelf {
    let line = |number: usize| {
        format!(
            "text \"a{number}{}\" #a{number}\n",
            if number.is_multiple_of(2) { "!" } else { "" }
        )
    };
    Shelf::of(&(0..10).map(line).collect::<String>())
}

/// The numbers of the next matches, and the cursor behind them.
fn next(shelf: &Shelf, pattern: &str, limit: usize, cursor: &mut Option<String>) -> String {
    let mut request = SearchBlocks::new(shelf.id("trip"), pattern).context(0, 0).limit(limit);
    request.paging.cursor = cursor.take();
    let page = shelf.notes.search_blocks(request).unwrap();
    cursor.clone_from(&page.next_cursor);
    page.iter().filter_map(|hit| hit.markdown.get(1..2)).collect()
}

#[test]
fn parts_make_the_whole() {
    let shelf = shelf();
    for (pattern, expected) in [("a.", "0123456789"), ("!$", "02468"), ("9", "9"), ("x", "")] {
        for limit in 1..12 {
            let (mut cursor, mut parts) = (None, Vec::new());
            loop {
                parts.push(next(&shelf, pattern, limit, &mut cursor));
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(
                (parts.concat().as_str(), parts.len()),
                (expected, expected.len().div_ceil(limit).max(1))
            );
        }
    }
}

#[test]
fn a_cursor_leads_on_while_blocks_come_and_go() {
    for (gone, moved_last, expected) in [
        ("", "", "3456789"),
        ("1", "", "3456789"),
        ("34", "", "56789"),
        // The last match is gone: the search begins anew.
        ("2", "", "013456789"),
        ("012", "", "3456789"),
        ("0123456789", "", ""),
        // It goes on behind the last match, wherever that is.
        ("", "2", ""),
        ("", "0", "34567890"),
    ] {
        let (shelf, mut cursor) = (shelf(), None);
        assert_eq!(next(&shelf, "a.", 3, &mut cursor), "012");
        let ids = |numbers: &str| {
            numbers.chars().map(|number| shelf.id(&format!("a{number}"))).collect::<Vec<_>>()
        };
        shelf.notes.delete_blocks(DeleteBlocks::new(ids(gone))).unwrap();
        shelf
            .notes
            .move_blocks(MoveBlocks::new(ids(moved_last), Position::end_of(shelf.id("trip"))))
            .unwrap();
        assert_eq!(next(&shelf, "a.", 100, &mut cursor), expected, "{gone} {moved_last}");
    }
}

#[test]
fn a_cursor_of_another_search_is_refused() {
    let shelf = shelf();
    let mut cursor = None;
    next(&shelf, "a.", 3, &mut cursor);
    let cursor = cursor.unwrap();
    let other = |request: SearchBlocks| request.context(0, 0).after(&cursor);
    let here = SearchBlocks::new(shelf.id("trip"), "a.");
    let foreign = |text: &str| SearchBlocks::new(shelf.id("trip"), "a.").after(text);
    for request in [
        other(SearchBlocks::new(shelf.id("a5"), "a.")),
        other(SearchBlocks::new(shelf.id("trip"), "a.$")),
        other(here.clone().or("b")),
        other(here.case_sensitive()),
        foreign(""),
        foreign("b"),
        foreign("bäää"),
        foreign(&format!("b{}", shelf.id("trip"))),
    ] {
        let error = shelf.notes.search_blocks(request).unwrap_err();
        assert_eq!(error.to_string(), "cursor: the cursor is not of this search");
    }
}

#[test]
fn a_reply_has_at_most_a_thousand_matches() {
    let shelf = Shelf::of(&"text \"a\"\n".repeat(1_003));
    let search = |request: SearchBlocks| shelf.notes.search_blocks(request.context(0, 0)).unwrap();
    let request = SearchBlocks::new(shelf.id("trip"), "a");
    for request in [request.clone(), request.clone().limit(5_000)] {
        let first = search(request.clone());
        let second = search(request.after(first.next_cursor.clone().unwrap()));
        assert_eq!((first.len(), second.len(), second.next_cursor.clone()), (1_000, 3, None));
    }
}

/// A reply ends behind the match with which its texts pass 16 MiB, what stands around it included.
#[test]
fn a_reply_of_long_texts_has_fewer_matches() {
    let shelf = Shelf::of("text \"first\"");
    let long = leafbase::BlockDraft::new(leafbase::BlockData::text("a".repeat(250 << 10)));
    let drafts = vec![long; 9];
    shelf
        .notes
        .insert_blocks(InsertBlocks::blocks(drafts, Position::end_of(shelf.id("trip"))))
        .unwrap();
    let search = |context| SearchBlocks::new(shelf.id("trip"), "^a").context(context, context);
    assert_eq!(shelf.notes.search_blocks(search(0)).unwrap().len(), 9);
    let (mut request, mut counts) = (search(100), Vec::new());
    loop {
        let page = shelf.notes.search_blocks(request).unwrap();
        counts.push(page.len());
        let Some(cursor) = page.next_cursor else { break };
        request = search(100).after(cursor);
    }
    assert_eq!(counts, [8, 1]);
}
