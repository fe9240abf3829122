//! Links of a document: out of its blocks, and back from other documents.

use leafbase::{Connection, Day, DeleteBlocks, DocumentId, Link, Position, Space};

/// Titles and texts of links: from which document, by what text, to which document, block and day.
fn shown(notes: &Connection, links: &[Link]) -> Vec<String> {
    let title = |document: DocumentId| notes.document(document).unwrap().title;
    let line = |link: &Link| {
        let target = link.target_document_id.map_or("nothing".to_owned(), title);
        let inner = link
            .target_block_id
            .filter(|block| link.target_document_id.is_some_and(|id| id.root() != *block));
        let inner = if inner.is_some() { " block" } else { "" };
        let day = link.target_date.map_or(String::new(), |day| format!(" {day}"));
        format!("{} > {target}{inner}{day}", title(link.document_id))
    };
    links.iter().map(line).collect()
}

#[test]
fn links_lead_out_in_reading_order_and_back_from_what_is_not_in_the_trash() {
    let notes = Space::in_memory().unwrap().connect();
    let [a, b, gone] = ["A", "B", "Gone"].map(|title| notes.create_document(title).unwrap().id());
    let day: Day = "2024-03-01".parse().unwrap();
    notes.insert_markdown("a note", Position::end_of_day(day)).unwrap();
    let inner = notes.insert_markdown("inner", b).unwrap()[0].id;
    let lost = notes.insert_markdown("lost", b).unwrap()[0].id;
    let text = format!(
        "[day](date://{day}) [b](block://{b}) [b](block://{b}) [none](date://2024-03-02)\n\n[in](block://{inner}) \
         [self](block://{a}) [web](https://example.org) [lost](block://{lost})"
    );
    notes.insert_markdown(&text, a).unwrap();
    notes.insert_markdown(&format!("[b](block://{b}) [a](block://{a})"), gone).unwrap();
    notes.delete_blocks(DeleteBlocks::new([lost])).unwrap();

    let links = notes.document_links(a).unwrap();
    let out = [
        "A > Friday, 1 March 2024 2024-03-01",
        "A > B",
        "A > nothing 2024-03-02",
        "A > B block",
        "A > A",
        "A > nothing",
    ];
    assert_eq!(shown(&notes, &links.links), out);
    assert_eq!(shown(&notes, &links.back_links), ["Gone > A"]);
    assert_eq!(shown(&notes, &notes.document_links(b).unwrap().back_links).len(), 3);

    notes.delete_documents(gone).unwrap();
    assert_eq!(shown(&notes, &notes.document_links(a).unwrap().back_links), [""; 0]);
    let mut back = shown(&notes, &notes.document_links(b).unwrap().back_links);
    back.sort();
    assert_eq!(back, ["A > B", "A > B block"]);
    let note = notes.fetch(leafbase::Fetch::day(day)).unwrap().id;
    let note = notes.document_links(DocumentId::of_root(note)).unwrap();
    assert_eq!(shown(&notes, &note.back_links), ["A > Friday, 1 March 2024 2024-03-01"]);
    let missing = notes.document_links(DocumentId::of_root(inner)).unwrap_err();
    assert_eq!(missing.code(), "NOT_FOUND");
}
