//! Tags of texts and of front matter: counts, filters, and what a scope shows of them; properties
//! of documents.

use std::ops::ControlFlow;

use leafbase::{
    AccessScope, BlockData, BlockId, BlockKind, BlockPatch, CodeLanguage, Connection, DeleteBlocks,
    DeleteDocuments, Destination, DocumentId, ErrorKind, InsertBlocks, Limits, ListDocuments,
    ListScopedDocuments, ListTags, MoveBlocks, MoveDocuments, Position, PurgeDocuments,
    ReplaceText, Scoped, SearchDocuments, Space, UndoChanges, UnlinkedMentions, UpdateBlocks,
};
use leafbase_test_outline::SequentialIds;
use leafbase_vault::{ImportOptions, MemorySource, import_from};
use serde_json::json;

/// A space with two documents, of which the first has the lower ID.
fn shelf() -> (Space, Connection, [DocumentId; 2]) {
    let space = Space::builder().ids(SequentialIds::new(1)).in_memory().unwrap();
    let notes = space.connect();
    let documents = ["A", "B"].map(|title| notes.create_document(title).unwrap().id());
    (space, notes, documents)
}

/// The tags with their counts: `a 2, a/b 1`.
fn listed<A: AccessScope>(notes: &Connection<A>, request: ListTags) -> String {
    let tags = notes.list_tags(request).unwrap();
    let shown = tags.iter().map(|tag| format!("{} {}", tag.tag, tag.document_count));
    shown.collect::<Vec<_>>().join(", ")
}

fn all(notes: &Connection) -> String {
    assert!(notes.space().check().unwrap().is_clean());
    listed(notes, ListTags::new())
}

fn front(yaml: &str) -> BlockData {
    BlockData::new(BlockKind::Code {
        raw_code: yaml.to_owned(),
        language: CodeLanguage::Yaml,
        language_tag: "yaml frontmatter".to_owned(),
    })
}

/// Texts of both documents, and the tags that are listed.
const TEXTS: &[(&str, &str, &str)] = &[
    ("", "", ""),
    ("#a", "", "a 1"),
    ("#Trip", "#trip #TRIP", "Trip 2"),
    ("", "#TRIP\n\n#trip", "TRIP 1"),
    ("#a/b #a", "#A/c", "a 2, a/b 1, A/c 1"),
    ("# #a\n\n- [ ] #b\n\n> #c\n\n| #d |\n|---|\n| `#e` |", "", "a 1, b 1, c 1, d 1"),
    ("```\n#a\n```\n\n`#b` [#c](#d) [[A#e]]\n\n    #f", "", "c 1"),
    ("#[[to do]]", "#To #do", "do 1, To 1, to do 1"),
    ("#1 #é #É", "#2024/x", "2024 1, 2024/x 1, é 1"),
];

#[test]
fn tags_are_listed_with_the_number_of_their_documents() {
    for (first, second, expected) in TEXTS {
        let (space, notes, documents) = shelf();
        for (text, document) in [first, second].into_iter().zip(documents) {
            if !text.is_empty() {
                notes.insert_markdown(text, document).unwrap();
            }
        }
        assert_eq!(all(&notes), *expected, "{first} {second}");
        let guest = space.scoped(documents);
        assert_eq!(listed(&guest, ListTags::new()), *expected, "{first} {second}");
    }
}

#[test]
fn tags_follow_every_write() {
    let (_, notes, [a, b]) = shelf();
    let made = notes.insert_markdown("#x #y\n\n#y\n\n#z", a).unwrap();
    let ids: Vec<BlockId> = made.iter().map(|block| block.id).collect();
    notes.insert_markdown("#z", b).unwrap();
    assert_eq!(all(&notes), "x 1, y 1, z 2");
    notes.update_markdown(ids[0], "#x").unwrap();
    assert_eq!(all(&notes), "x 1, y 1, z 2");
    notes.move_blocks(MoveBlocks::new([ids[1], ids[2]], Position::end_of(b))).unwrap();
    assert_eq!(all(&notes), "x 1, y 1, z 1");
    notes.delete_blocks(DeleteBlocks::from(ids[1])).unwrap();
    assert_eq!(all(&notes), "x 1, z 1");
    notes.undo(UndoChanges::from(notes.last_sequence().unwrap())).unwrap();
    assert_eq!(all(&notes), "x 1, y 1, z 1");
    notes.delete_documents(DeleteDocuments::from(b)).unwrap();
    assert_eq!(all(&notes), "x 1");
    // A listing without a location has those in the trash.
    let tagged = notes.list_documents(ListDocuments::new().tagged("#Z/")).unwrap();
    assert_eq!(tagged.iter().map(|found| found.id()).collect::<Vec<_>>(), [b]);
    notes.move_documents(MoveDocuments::new([b], Destination::Templates)).unwrap();
    assert_eq!(all(&notes), "x 1, y 1, z 1");
    notes.delete_documents(DeleteDocuments::from(b)).unwrap();
    notes.purge_documents(PurgeDocuments::new([b])).unwrap();
    assert_eq!(all(&notes), "x 1");
    assert!(notes.list_documents(ListDocuments::new().tagged("z")).unwrap().is_empty());
    // In one batch: a document that comes, goes to the trash and back, and another that goes.
    notes
        .batch(|batch| {
            let c = batch.create_document("C #x")?.id();
            batch.insert_markdown("#w", c)?;
            batch.delete_documents(DeleteDocuments::from(c))?;
            batch.move_documents(MoveDocuments::new([c], Destination::Unsorted))?;
            batch.insert_markdown("#v", c)?;
            batch.delete_documents(DeleteDocuments::from(a)).map(drop)
        })
        .unwrap();
    assert_eq!(all(&notes), "v 1, w 1, x 1");
}

#[test]
fn tags_come_in_pages() {
    let (space, notes, [a, b]) = shelf();
    notes.insert_markdown("#a #ab #B #b/c #c", a).unwrap();
    notes.insert_markdown("#ab #Οδός #ΟΔΌΣΗΜΑ", b).unwrap();
    for (prefix, expected) in [
        ("", "a 1, ab 2, B 1, b/c 1, c 1, Οδός 1, ΟΔΌΣΗΜΑ 1"),
        ("ΟΔΌΣ", "Οδός 1, ΟΔΌΣΗΜΑ 1"),
        ("οδόση", "ΟΔΌΣΗΜΑ 1"),
        ("A", "a 1, ab 2"),
        (" #b", "B 1, b/c 1"),
        ("b/", "b/c 1"),
        ("x", ""),
    ] {
        for limit in 1..=6 {
            let of = |list: &dyn Fn(ListTags) -> leafbase::ItemsPage<leafbase::TagCount>| {
                let (mut shown, mut request) =
                    (Vec::new(), ListTags::new().starting(prefix).limit(limit));
                loop {
                    let page = list(request.clone());
                    assert!(page.len() <= limit);
                    shown.extend(
                        page.iter().map(|tag| format!("{} {}", tag.tag, tag.document_count)),
                    );
                    let Some(cursor) = page.next_cursor else { return shown.join(", ") };
                    request = request.after(cursor);
                }
            };
            assert_eq!(of(&|request| notes.list_tags(request).unwrap()), expected, "{prefix}");
            let guest = space.scoped([a, b]);
            assert_eq!(of(&|request| guest.list_tags(request).unwrap()), expected, "{prefix}");
        }
    }
    for (request, path) in [
        (ListTags::new().limit(0), "limit"),
        (ListTags::new().after("x"), "cursor"),
        (ListTags::new().after(""), "cursor"),
        (ListTags::new().starting("b").after("61"), "cursor"),
    ] {
        let error = notes.list_tags(request).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Validation, path));
    }
}

#[test]
fn listings_and_searches_are_filtered_by_all_tags() {
    let (space, notes, [a, b]) = shelf();
    notes.insert_markdown("word #x/y", a).unwrap();
    notes.insert_markdown("word #X\n\n#z", b).unwrap();
    for (tags, expected) in [
        (&["x"][..], &[a, b][..]),
        (&["#X/Y"], &[a]),
        (&["x", "z"], &[b]),
        (&["x/y", "z"], &[]),
        (&["none"], &[]),
        (&[""], &[]),
    ] {
        let tagged = || tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
        let mut list = ListDocuments::new();
        list.filter.tags = tagged();
        let mut scoped = ListScopedDocuments::new();
        scoped.tags = tagged();
        let mut search = SearchDocuments::words("word");
        search.filter.tags = tagged();
        let mut pattern = SearchDocuments::pattern("word");
        pattern.filter.tags = tagged();
        let guest = space.scoped([a, b]);
        let mut found: [Vec<DocumentId>; 6] = [
            notes.list_documents(list).unwrap().iter().map(|found| found.id()).collect(),
            guest.list_documents(scoped).unwrap().iter().map(|found| found.id).collect(),
            notes.search(search.clone()).unwrap().iter().map(|found| found.document_id).collect(),
            guest.search(search).unwrap().iter().map(|found| found.document_id).collect(),
            notes.search(pattern.clone()).unwrap().iter().map(|found| found.document_id).collect(),
            guest.search(pattern).unwrap().iter().map(|found| found.document_id).collect(),
        ];
        for found in &mut found {
            found.sort_unstable();
            assert_eq!(found, expected, "{tags:?}");
        }
    }
    let mut replace = ReplaceText::text("word", "text");
    replace.filter.tags = vec!["z".to_owned()];
    assert_eq!(notes.replace_text(replace).unwrap().replaced, 1);
    let mut many = ListDocuments::new();
    many.filter.tags = vec!["a".to_owned(); 33];
    let error = notes.list_documents(many).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::LimitExceeded, "tags"));
}

#[test]
fn a_scope_counts_what_it_shows() {
    let (space, notes, [a, b]) = shelf();
    let page = notes.insert_markdown("page", a).unwrap()[0].id;
    notes.insert_markdown("#In", Position::end_of(page)).unwrap();
    notes.insert_markdown("#in #out", a).unwrap();
    notes.insert_markdown("#IN #b", b).unwrap();
    assert_eq!(listed(&space.scoped([b]), ListTags::new()), "b 1, IN 1");
    assert_eq!(listed(&space.scoped([a]), ListTags::new()), "In 1, out 1");
    assert_eq!(listed(&space.scoped([]), ListTags::new()), "");
    let pages = space.page_scope([page]);
    let tagged = |guest: &Connection<Scoped>, tag: &str| {
        guest.list_documents(ListScopedDocuments::new().tagged(tag)).unwrap().len()
    };
    let guest = pages.connect();
    assert_eq!(listed(&guest, ListTags::new()), "In 1");
    assert_eq!([tagged(&guest, "in"), tagged(&guest, "out")], [1, 0]);
    let search = SearchDocuments::words("page").tagged("in");
    assert_eq!(guest.search(search).unwrap().len(), 1);
    // With its document it is shown as a part of that one.
    pages.add([a]);
    assert_eq!(listed(&guest, ListTags::new()), "In 1, out 1");
    notes.delete_documents(DeleteDocuments::from(a)).unwrap();
    assert_eq!(listed(&guest, ListTags::new()), "");
    assert_eq!(tagged(&guest, "in"), 0);
}

#[test]
fn properties_follow_the_front_matter() {
    let (space, notes, [a, b]) = shelf();
    let guest = space.scoped([a]);
    let properties = || {
        let found = notes.document_properties(a).unwrap();
        assert_eq!(guest.document_properties(a).unwrap(), found);
        json!(found)
    };
    assert_eq!(properties(), json!({}));
    let yaml = "title: Trip\naliases: [Lisboa]\ntags: [Travel/Lisbon]\ndate: 2026-03-01";
    let insert = InsertBlocks::blocks(vec![front(yaml).into()], Position::start_of(a));
    let block = notes.insert_blocks(insert).unwrap()[0].id;
    assert_eq!(
        properties(),
        json!({
            "title": "Trip", "aliases": ["Lisboa"], "tags": ["Travel/Lisbon"],
            "dates": {"date": "2026-03-01"},
            "values": {"title": "Trip", "aliases": ["Lisboa"], "tags": ["Travel/Lisbon"],
                "date": "2026-03-01"},
        })
    );
    assert_eq!(all(&notes), "Travel 1, Travel/Lisbon 1");
    // Its words are found.
    assert_eq!(notes.search("lisboa").unwrap()[0].document_id, a);
    // What does not parse says nothing, and stays.
    for (broken, tags) in [("tags: [a", ""), ("tags: b", "b 1"), ("- tags", ""), ("", "")] {
        let patch: BlockPatch =
            serde_json::from_value(json!({"id": block, "rawCode": broken})).unwrap();
        notes.update_blocks(UpdateBlocks::new([patch])).unwrap();
        assert_eq!(all(&notes), tags, "{broken}");
        let stored = &notes.fetch(leafbase::Fetch::new(block)).unwrap().data.kind;
        assert!(matches!(stored, BlockKind::Code { raw_code, .. } if raw_code == broken));
    }
    assert_eq!(properties(), json!({}));
    notes.undo(UndoChanges::from(notes.last_sequence().unwrap() - 2)).unwrap_err();
    notes.delete_blocks(DeleteBlocks::from(block)).unwrap();
    assert_eq!(properties(), json!({}));
    let error = guest.document_properties(b).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn imported_files_have_properties_and_names() {
    let notes = Space::in_memory().unwrap().connect();
    let files = [
        (
            "Lisbon.md",
            "---\naliases:\n  - Lisboa\n  - the white city\ntags: travel, city\n---\n\nword",
        ),
        ("Trip.md", "To lisboa, The White City and #travel"),
    ];
    let mut source = MemorySource::from_iter(files);
    let on = &mut |_| ControlFlow::Continue(());
    import_from(&notes, &mut source, &ImportOptions::new(), on).unwrap();
    assert_eq!(all(&notes), "city 1, travel 2");
    let documents = notes.documents().unwrap();
    let lisbon = documents.iter().find(|found| found.title == "Lisbon").unwrap().id();
    assert_eq!(notes.document_properties(lisbon).unwrap().tags, ["travel", "city"]);
    let mentions = notes.unlinked_mentions(UnlinkedMentions::of(lisbon)).unwrap();
    assert_eq!((mentions.len(), &mentions[0].ranges[..]), (1, &[3..9, 11..25][..]));
}

#[test]
fn tags_and_filters_of_tags_are_bounded() {
    let (space, notes, [a, _]) = shelf();
    let longest = "x".repeat(Limits::TAG_BYTES);
    notes.insert_markdown(&format!("#{longest} #{longest}y"), a).unwrap();
    assert_eq!(all(&notes), format!("{longest} 1"));
    for (tags, fits) in [(Limits::FILTER_TAGS, true), (Limits::FILTER_TAGS + 1, false)] {
        let filter = (0..tags).fold(ListDocuments::new(), |filter, _| filter.tagged(&*longest));
        let found = notes.list_documents(filter).map(|found| found.len());
        match found {
            Ok(found) => assert_eq!((found, fits), (1, true)),
            Err(error) => {
                assert_eq!((error.kind(), error.path()), (ErrorKind::LimitExceeded, "tags"));
                assert!(!fits);
            }
        }
    }
    drop(space);
}

#[test]
fn front_matter_beyond_its_bounds_says_nothing() {
    for (yaml, has_tags) in [
        (format!("tags: a\nx: {}", "y".repeat(Limits::FRONT_MATTER_BYTES / 2)), true),
        (format!("tags: a\nx: {}", "y".repeat(Limits::FRONT_MATTER_BYTES)), false),
        (format!("tags: a\nx: {}1{}", "[".repeat(9), "]".repeat(9)), true),
        {
            let depth = Limits::FRONT_MATTER_DEPTH + 1;
            (format!("tags: a\nx: {}1{}", "[".repeat(depth), "]".repeat(depth)), false)
        },
    ] {
        let (_, notes, [a, _]) = shelf();
        let front = leafbase::BlockDraft::new(front(&yaml));
        notes.insert_blocks(InsertBlocks::blocks(vec![front], Position::start_of(a))).unwrap();
        assert_eq!(notes.document_properties(a).unwrap().tags.len(), usize::from(has_tags));
    }
}
