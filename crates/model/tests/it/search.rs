//! The searches as JSON: requests, and what they give.

use leafbase_model::{
    BlockMatch, BuiltInLocation, ContextBlock, CorrectedTerm, DayRange, DayRef, DocumentId,
    FolderId, PathStep, SearchBlocks, SearchDocuments, SearchMatch, SearchPage,
};
use serde_json::json;

use crate::support::{day, id, instant};
use crate::wire::{also_read, read, refused};

#[test]
fn across_documents() {
    let (words, documents) =
        (SearchDocuments::words, [1, 2].map(|number| DocumentId::from_bytes([number; 16])));
    let folder = FolderId::from_bytes([3; 16]);
    for request in [
        words("a"),
        words("a b").and("\"c d\"").any_word(),
        words("a b").all_words(),
        words("a").matching("b+").matching("c"),
        SearchDocuments::pattern("b+").with_metadata(),
        words("a").limit(1_000).after("c"),
        SearchDocuments::default().titled("a").titled("b"),
        words("a").without("b").without("c d"),
        words("a").within_documents(documents),
        words("a").without_documents(documents),
        words("a").at(BuiltInLocation::Trash).created(DayRange::since(DayRef::Yesterday)),
        words("a")
            .within_folder(folder)
            .modified(DayRange::on(day("2026-03-01")))
            .daily_notes(DayRange::ALL),
    ] {
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(read::<SearchDocuments>(&text).unwrap(), request, "{text}");
    }
    also_read(&[(r#"{"include":["a"],"regexps":[]}"#, words("a"))]);
    let nothing = "a search needs a text in include, a pattern in regexps or an embedding";
    refused::<SearchDocuments>(&[
        ("{}", "include", nothing),
        (r#"{"include":[]}"#, "include", nothing),
        (r#"{"include":7}"#, "include", "expected a string, got 7"),
        (r#"{"include":["a",7]}"#, "include[1]", "expected a string, got 7"),
        (
            r#"{"include":"a","documentIds":"ID1","location":"trash"}"#,
            "documentIds",
            "documentIds cannot be combined with location",
        ),
        (
            r#"{"include":"a","documentIds":["ID1"],"folderIds":"ID2"}"#,
            "documentIds",
            "documentIds cannot be combined with folderIds",
        ),
        (
            r#"{"include":"a","location":"trash","folderIds":"ID2"}"#,
            "folderIds",
            "folderIds cannot be combined with location",
        ),
        (r#"{"include":"a","terms":"b"}"#, "terms", "unknown field `terms`"),
        (r#"{"include":"a","limit":0}"#, "limit", "expected a number of items, 1 or more, got 0"),
    ]);
    let error = read::<SearchDocuments>(r#"{"include":"a","limit":1001}"#).unwrap_err();
    assert_eq!(error.to_string(), "limit: results of a reply: at most 1000, got 1001");
    let (named, trash) = (words("a").within_documents(documents), BuiltInLocation::Trash);
    assert!(
        named.clone().at(trash).check().is_err() && named.within_folder(folder).check().is_err()
    );
}

#[test]
fn in_one_document() {
    let near = SearchBlocks::new(id(1), "a");
    let mut named = near.clone();
    named.by_document = true;
    also_read(&[
        (r#"{"blockId":"ID1","pattern":"a"}"#, near.clone()),
        (r#"{"documentId":"ID1","pattern":["a"]}"#, named),
        (
            r#"{"blockId":"ID1","pattern":["a","b"],"caseSensitive":true}"#,
            near.clone().or("b").case_sensitive(),
        ),
        (
            r#"{"blockId":"ID1","pattern":"a","beforeBlockCount":0,"afterBlockCount":7}"#,
            near.clone().context(0, 7),
        ),
        (r#"{"blockId":"ID1","pattern":"a","limit":3}"#, near.clone().limit(3)),
        (r#"{"blockId":"ID1","pattern":"a","cursor":"c"}"#, near.clone().after("c")),
    ]);
    let (everywhere, trash) = (SearchBlocks::everywhere("a"), BuiltInLocation::Trash);
    let (document, folder) = (DocumentId::from_bytes([1; 16]), FolderId::from_bytes([3; 16]));
    for request in [
        near.clone(),
        near.clone().or("b").case_sensitive().context(0, 100).limit(3).after("c"),
        everywhere.clone(),
        everywhere.clone().within_documents([document]).limit(3),
        everywhere.clone().without_documents([document]),
        everywhere.clone().at(trash),
        everywhere.clone().within_folder(folder).tagged("b"),
    ] {
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(read::<SearchBlocks>(&text).unwrap(), request, "{text}");
    }
    refused::<SearchBlocks>(&[
        (r#"{"blockId":"ID1"}"#, "pattern", "the field `pattern` is missing"),
        (r#"{"blockId":"ID1","pattern":[]}"#, "pattern", "the field `pattern` is missing"),
        (
            r#"{"blockId":"ID1","documentId":"ID1","pattern":"a"}"#,
            "blockId",
            "name at most one of blockId and documentId",
        ),
        (
            r#"{"blockId":"ID1","pattern":"a","afterBlockCount":-1}"#,
            "afterBlockCount",
            "expected a whole number, 0 or more, got -1",
        ),
        (
            r#"{"blockId":"ID1","pattern":"a","limit":0}"#,
            "limit",
            "expected a number of items, 1 or more, got 0",
        ),
        (r#"{"blockId":"ID1","pattern":"a","after":"c"}"#, "after", "unknown field `after`"),
        (
            r#"{"blockId":"ID1","pattern":"a","tags":"b"}"#,
            "blockId",
            "blockId and documentId cannot be combined with filters",
        ),
        (
            r#"{"documentIds":"ID1","pattern":"a","location":"trash"}"#,
            "documentIds",
            "documentIds cannot be combined with location",
        ),
    ]);
    for name in ["beforeBlockCount", "afterBlockCount"] {
        let error =
            read::<SearchBlocks>(&format!(r#"{{"blockId":"ID1","pattern":"a","{name}":101}}"#))
                .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{name}: blocks around a match: at most 100, got 101")
        );
    }
    let mut none = near.clone();
    none.patterns.clear();
    for wrong in [none, near.clone().limit(0), near.clone().context(101, 0), near.context(0, 101)] {
        assert!(wrong.check().is_err(), "{wrong:?}");
    }
}

#[test]
fn what_they_give() {
    let found = SearchMatch {
        document_id: DocumentId::of_root(id(1)),
        block_id: None,
        markdown: "the **night** train".into(),
        highlights: Some(6..11).into_iter().collect(),
        block_ids: vec![id(2)],
        score: 1.5,
        missing_terms: Vec::new(),
        corrected: Vec::new(),
        nearest: None,
        times: None,
    };
    let dated = SearchMatch {
        times: Some((instant("2026-03-01T00:00:00.000Z"), instant("2026-03-02T00:00:00.000Z"))),
        missing_terms: vec!["Lisbon".into()],
        corrected: vec![CorrectedTerm { term: "trian".into(), read_as: "train".into() }],
        ..found.clone()
    };
    let page = SearchPage { items: vec![found.clone()], total: 3, ..SearchPage::default() };
    let last =
        SearchPage { next_cursor: Some("c".into()), total_is_lower_bound: true, ..page.clone() };
    assert_eq!(
        (page.len(), (&page).into_iter().next(), page[0].clone()),
        (1, Some(&found), found.clone())
    );
    let pages = serde_json::to_value([&page, &last]).unwrap();
    assert_eq!(pages[0], json!({"items": [found.clone()], "total": 3}));
    assert_eq!(
        (&pages[1]["nextCursor"], &pages[1]["totalIsLowerBound"]),
        (&json!("c"), &json!(true))
    );
    let near = |number| ContextBlock { block_id: id(number), markdown: "near".into() };
    let hit = BlockMatch {
        document_id: DocumentId::of_root(id(1)),
        block_id: id(2),
        rev: 3,
        markdown: "a night train".into(),
        ranges: Some(2..7).into_iter().collect(),
        path: vec![PathStep { id: id(1), content: "Trip".into() }],
        before: vec![near(3)],
        after: Vec::new(),
    };
    let json = serde_json::to_value((&found, &dated, &hit)).unwrap();
    let document = id(1).to_string();
    let shown = json!({"documentId": document, "exposedDocumentId": document,
        "markdown": "the **night** train", "highlights": [{"start": 6, "end": 11}],
        "blockIds": [id(2)], "score": 1.5});
    assert_eq!(json[0], shown);
    assert_eq!(json[1]["missingTerms"], json!(["Lisbon"]));
    assert_eq!(json[1]["corrected"], json!([{"term": "trian", "as": "train"}]));
    assert_eq!(
        (&json[1]["createdAt"], &json[1]["lastModifiedAt"]),
        (&json!("2026-03-01T00:00:00.000Z"), &json!("2026-03-02T00:00:00.000Z"))
    );
    let expected = json!({"documentId": document, "blockId": id(2), "rev": 3, "markdown": "a night train", "ranges": [{"start": 2, "end": 7}],
        "pageBlockPath": [{"id": document, "content": "Trip"}], "beforeBlocks": [{"blockId": id(3), "markdown": "near"}],
        "afterBlocks": []});
    assert_eq!(json[2], expected);
}
