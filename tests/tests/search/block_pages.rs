//! Searches for blocks in many documents: all matches, page by page, also while documents are
//! written.

use std::collections::BTreeSet;

use leafbase::{
    AccessScope, BlockMatch, Connection, Destination, DocumentId, Position, SearchBlocks,
};

use crate::{Shelf, wrong};

/// Documents with and without matches, sorted by ID.
fn shelf() -> (Shelf, Vec<DocumentId>) {
    let shelf = Shelf::new();
    let mut documents = Vec::new();
    for number in 0..12 {
        let texts: Vec<_> = (0..number % 5).map(|line| format!("lamp {number}.{line}")).collect();
        let title = if number % 3 == 0 { "a lamp" } else { "a river" };
        documents.push(shelf.put(title, &format!("snow\n\n{}", texts.join("\n\n"))));
    }
    documents.sort_unstable();
    (shelf, documents)
}

fn pages<A: AccessScope>(
    notes: &Connection<A>,
    request: &SearchBlocks,
    mut between: impl FnMut(),
) -> Vec<BlockMatch> {
    let (mut request, mut found) = (request.clone(), Vec::new());
    loop {
        let page = notes.search_blocks(request.clone()).unwrap();
        assert!(page.len() <= request.paging.limit.unwrap_or(1_000));
        found.extend(page.items);
        match page.next_cursor {
            Some(cursor) => request = request.after(cursor),
            None => return found,
        }
        between();
    }
}

/// The matches of each of these documents by itself.
fn one_by_one<A: AccessScope>(
    notes: &Connection<A>,
    documents: &[DocumentId],
    request: &SearchBlocks,
) -> Vec<BlockMatch> {
    let of = |document: &DocumentId| {
        let mut request = request.clone();
        request.within = Some(document.root());
        pages(notes, &request, || {})
    };
    documents.iter().flat_map(of).collect()
}

#[test]
fn all_matches_are_those_of_each_document() {
    let (shelf, documents) = shelf();
    let half: Vec<_> = documents.iter().copied().step_by(2).collect();
    let guest = shelf.notes.space().scoped(half.clone());
    for _ in 0..2 {
        for pattern in ["lamp", r"\d", "^a river$", "x*", "nothing"] {
            let request = SearchBlocks::everywhere(pattern).context(1, 1);
            let expected = one_by_one(&shelf.notes, &documents, &request);
            let scoped = one_by_one(&guest, &half, &request);
            assert_eq!(expected.is_empty(), pattern == "nothing");
            assert!(expected.iter().all(|found| documents.contains(&found.document_id)));
            for limit in [1, 2, 3, 7, 1_000] {
                let request = request.clone().limit(limit);
                assert_eq!(pages(&shelf.notes, &request, || {}), expected, "{pattern} {limit}");
                assert_eq!(pages(&guest, &request, || {}), scoped, "{pattern} {limit}");
            }
        }
        shelf.notes.space().flush_search().unwrap();
    }
    let sensitive = SearchBlocks::everywhere("LAMP").case_sensitive();
    assert!(shelf.notes.search_blocks(sensitive).unwrap().is_empty());
}

#[test]
fn filters_select_documents() {
    let (shelf, documents) = shelf();
    let folder = shelf.notes.create_folder("folder", None).unwrap().id;
    let moved = shelf.put_in("moved", "a lamp #bright", Destination::Folder(folder));
    let trashed = shelf.put("trashed", "a lamp");
    shelf.notes.delete_documents(leafbase::DeleteDocuments::new([trashed])).unwrap();
    let found = |request: SearchBlocks| -> BTreeSet<DocumentId> {
        let found = pages(&shelf.notes, &request.limit(2), || {});
        found.iter().map(|found| found.document_id).collect()
    };
    let everywhere = || SearchBlocks::everywhere("lamp");
    let all = found(everywhere());
    assert!(all.contains(&moved) && !all.contains(&trashed) && all.len() > 6);
    assert_eq!(found(everywhere().within_folder(folder)), [moved].into());
    assert_eq!(found(everywhere().tagged("bright")), [moved].into());
    assert_eq!(found(everywhere().at(leafbase::BuiltInLocation::Trash)), [trashed].into());
    assert!(found(everywhere().within_documents([moved, documents[0]])).contains(&moved));
    let others = found(everywhere().without_documents([moved]));
    assert_eq!(others, all.iter().copied().filter(|document| *document != moved).collect());

    let refused = |request: SearchBlocks| wrong(&shelf.notes.search_blocks(request).unwrap_err());
    let missing = DocumentId::from_bytes([1; 16]);
    assert_eq!(
        refused(everywhere().within_documents([moved, missing])),
        "NOT_FOUND documentIds[1]"
    );
    assert_eq!(refused(SearchBlocks::everywhere("(a")), "INVALID_PATTERN pattern");
    let first = shelf.notes.search_blocks(everywhere().limit(1)).unwrap();
    let cursor = first.next_cursor.unwrap();
    for (other, cursor) in [
        (SearchBlocks::everywhere("lam"), cursor.as_str()),
        (everywhere().tagged("bright"), &cursor),
        (SearchBlocks::new(moved, "lamp"), &cursor),
        (everywhere(), "d"),
        (everywhere(), &cursor[1..]),
    ] {
        assert_eq!(refused(other.after(cursor)), "VALIDATION cursor");
    }
    let guest = shelf.notes.space().scoped([moved]);
    let error = guest.search_blocks(everywhere().within_folder(folder)).unwrap_err();
    assert_eq!(wrong(&error), "VALIDATION folderIds");
    let batched = shelf.notes.batch(|notes| notes.search_blocks(everywhere()).map(drop));
    assert_eq!(wrong(&batched.unwrap_err()), "VALIDATION blockId");
}

#[test]
fn blocks_of_documents_that_are_not_written_are_on_one_page() {
    for limit in 1..5 {
        let (shelf, documents) = shelf();
        let request = SearchBlocks::everywhere("lamp").context(0, 0).limit(limit);
        let expected = pages(&shelf.notes, &request, || {});
        let (mut written, mut number) = (BTreeSet::new(), 0);
        let found = pages(&shelf.notes, &request, || {
            // New matches would come without end.
            if number == 9 {
                return;
            }
            // Each third document gains a match at its start, which moves the others.
            let document = documents[number * 3 % documents.len()];
            number += 1;
            written.insert(document);
            shelf.notes.insert_markdown("one more lamp", Position::start_of(document)).unwrap();
            written.insert(shelf.put("new", "lamp"));
        });
        let kept = |found: Vec<BlockMatch>| -> Vec<_> {
            found.into_iter().filter(|found| !written.contains(&found.document_id)).collect()
        };
        assert!(written.len() > 4);
        assert_eq!(kept(found), kept(expected));
    }
}

#[test]
fn a_page_ends_where_the_steps_of_a_call_end() {
    let shelf = Shelf::new();
    // Each takes about half of a call.
    let text = vec![format!("{}x", "a".repeat(20 << 10)); 12].join("\n\n");
    for number in 0..5 {
        shelf.put(&format!("{number} x"), &text);
    }
    let request = SearchBlocks::everywhere(r"(?=ba{200})x|^\d x").context(0, 0);
    let error = |count: usize| {
        let text = vec![format!("{}x", "a".repeat(20 << 10)); count].join("\n\n");
        let one = Shelf::of(&[("0 x", &text)]);
        one.notes.search_blocks(request.clone()).err().map(|error| wrong(&error))
    };
    assert_eq!((error(12), error(60)), (None, Some("LIMIT_EXCEEDED pattern".to_owned())));
    let mut turns = 0;
    let found = pages(&shelf.notes, &request, || turns += 1);
    let mut titles: Vec<_> = found.iter().map(|found| found.markdown.as_str()).collect();
    titles.sort_unstable();
    assert_eq!(titles, ["0 x", "1 x", "2 x", "3 x", "4 x"]);
    assert!(turns > 0, "one call does not have the steps for all");
}
