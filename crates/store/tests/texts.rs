//! Reads of texts: visited runs contain the texts of the documents, verbatim where they say so, and
//! predicates leave out nothing else than what they reject.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockRecord, DocumentId, DocumentRecord, Edit, InsertTarget,
    LineStyle, Location, SubtreeNode, Subtrees, Timestamp,
};
use leafbase_store::kv::{OpenOptions, Store};
use leafbase_store::{
    BlockText, RawText, SpaceReader, SpaceStore, SubtreeText, TextRun, directory,
};
use naive::{EXTRACTOR, meta, relaxed, stamp};
use proptest::prelude::*;

mod naive;

fn shown(text: BlockText<'_>) -> String {
    match text {
        BlockText::Markdown(_, text) => text.to_owned(),
        BlockText::Data(data) => format!("{data:?}"),
    }
}

fn id(document: usize, number: usize) -> BlockId {
    let mut bytes = [3; 16];
    bytes[..2].copy_from_slice(&u16::try_from(document).unwrap().to_be_bytes());
    bytes[2..4].copy_from_slice(&u16::try_from(number).unwrap().to_be_bytes());
    BlockId::from_bytes(bytes)
}

#[derive(Clone, Debug)]
struct Made {
    is_below: bool,
    data: BlockData,
}

fn texts() -> impl Strategy<Value = String> {
    let pieces = vec![
        "needle",
        "need",
        "le",
        "a text like others",
        "\u{1}",
        "字",
        " ",
        "needleneedle",
        "nee",
        "?",
    ];
    let pieces = proptest::collection::vec(proptest::sample::select(pieces), 0..8);
    let rare = prop_oneof![300 => Just(String::new()), 1 => Just("é".to_owned())];
    let far = prop_oneof![30 => Just(0_usize), 1 => 3_900..4_100_usize, 1 => Just(20_000), 1 => Just(70_000)];
    (pieces, rare, far).prop_map(|(pieces, rare, far)| {
        format!("{}{}{rare}{}", pieces.concat(), "-".repeat(far), pieces.concat())
    })
}

fn blocks() -> impl Strategy<Value = Vec<Made>> {
    let data = (texts(), 0..12).prop_map(|(text, kind)| match kind {
        0 => BlockData::page(text),
        1 => BlockData::new(BlockKind::Line { style: LineStyle::Light }),
        2 => BlockData::new(BlockKind::Drawing { url: text }),
        _ => BlockData::text(text),
    });
    let made = (any::<bool>(), data).prop_map(|(is_below, data)| Made { is_below, data });
    proptest::collection::vec(made, 0..160)
}

/// The document's root, and below it the blocks; those in a page that are to be below the one
/// before.
fn subtrees(document: usize, blocks: &[Made]) -> Subtrees {
    let node = |depth, number, data: &BlockData| {
        let block = BlockRecord {
            id: id(document, number),
            rev: 1,
            created: stamp(1),
            modified: stamp(1),
            data: data.clone(),
        };
        SubtreeNode { depth, block }
    };
    let mut nodes = vec![node(0, 0, &BlockData::page("needle of a title"))];
    let mut has_page = false;
    for (number, made) in blocks.iter().enumerate() {
        let is_page = matches!(made.data.kind, BlockKind::Page(_));
        let depth = if made.is_below && has_page && !is_page { 2 } else { 1 };
        has_page |= is_page;
        has_page &= depth == 2 || is_page;
        nodes.push(node(depth, number + 1, &made.data));
    }
    Subtrees(nodes)
}

fn write(space: &SpaceStore, edits: &[Edit]) {
    space.write(relaxed(), &stamp(2), |transaction| transaction.apply(edits.to_vec())).unwrap();
}

/// A text that a run contains, and whether it is its block's only one.
type Visited = (String, bool);

/// The texts of each document by the runs that are visited.
fn visited(
    reader: SpaceReader<'_>,
    documents: &[DocumentId],
) -> BTreeMap<DocumentId, Vec<Visited>> {
    let mut visited: BTreeMap<_, Vec<_>> = BTreeMap::new();
    let visit = &mut |run: TextRun<'_>| {
        let mut end = 0;
        for text in run.texts() {
            let text = text?;
            assert_eq!(text.range().start, end, "the ranges follow each other");
            end = text.range().end;
            let encoded = &run.bytes()[text.range()];
            let is_only = text.is_markdown_only();
            let shown = text.read(|text| {
                assert_eq!(matches!(text, BlockText::Markdown(..)), is_only);
                Ok(shown(text))
            })?;
            let mut verbatim = encoded.windows(shown.len().max(1));
            assert!(!is_only || shown.is_empty() || verbatim.any(|here| here == shown.as_bytes()));
            visited.entry(run.document()).or_default().push((shown, is_only));
        }
        assert_eq!(end, run.bytes().len());
        Ok(())
    };
    reader.visit_text_runs(documents, visit).unwrap();
    visited
}

fn compare(reader: SpaceReader<'_>, documents: &[DocumentId], word: &str) {
    let visited = visited(reader, documents);
    assert!(visited.keys().eq(documents));
    for document in documents {
        let texts = reader.subtree_texts(document.root()).unwrap();
        let expected = texts
            .iter()
            .map(|block| (shown(block.text), matches!(block.text, BlockText::Markdown(..))));
        assert_eq!(count(visited[document].iter().cloned()), count(expected));
        compare_with_rejected(reader, *document, word);
    }
}

/// Of the texts that a predicate rejects only the first is read.
fn compare_with_rejected(reader: SpaceReader<'_>, document: DocumentId, word: &str) {
    let whole = reader.subtree_texts(document.root()).unwrap();
    let contains = |text: &[u8]| text.windows(word.len()).any(|here| here == word.as_bytes());
    let (mut end, mut runs) = (0, 0);
    let some = reader.document_texts_where(document, &mut |RawText { run, range, markdown }| {
        // The blocks of a run follow each other, from its beginning to its end.
        runs += usize::from(range.start == 0);
        assert!(range.start == 0 || range.start == end);
        assert!(
            run[range.clone()].windows(markdown.len().max(1)).any(|here| here == markdown)
                || markdown.is_empty()
        );
        end = range.end;
        contains(markdown)
    });
    let some = some.unwrap();
    assert!(runs > 0);
    let is_kept = |(index, block): &(usize, SubtreeText<'_>)| match block.text {
        BlockText::Markdown(_, text) => *index == 0 || contains(text.as_bytes()),
        BlockText::Data(_) => true,
    };
    assert!(whole.iter().enumerate().filter(is_kept).map(|(_, block)| block).eq(some.iter()));
    assert_eq!((whole.get(whole.len()), whole.iter().len()), (None, whole.len()));
}

fn count(texts: impl Iterator<Item = Visited>) -> BTreeMap<Visited, usize> {
    let mut counts = BTreeMap::new();
    texts.for_each(|text| *counts.entry(text).or_default() += 1);
    counts
}

/// A space with these documents, and their IDs.
fn space_of(place: &std::path::Path, forests: &[Subtrees]) -> (SpaceStore, Vec<DocumentId>) {
    let store: Arc<dyn Store> =
        Arc::new(directory::create(place.join("notes"), &OpenOptions::new()).unwrap());
    let space = SpaceStore::create(store, EXTRACTOR, naive::ids(), &meta()).unwrap();
    let (at, location) = (Timestamp::from_millis(1), Location::Unsorted);
    let ids: Vec<DocumentId> =
        (0..forests.len()).map(|number| DocumentId::of_root(id(number, 0))).collect();
    for (id, subtrees) in ids.iter().zip(forests) {
        let record = DocumentRecord {
            id: *id,
            location,
            day: None,
            created_at: at,
            modified_at: at,
            rev: 1,
        };
        write(&space, &[Edit::CreateDocument { record, subtrees: subtrees.clone() }]);
    }
    (space, ids)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn texts_are_read_as_they_were_written(
        documents in proptest::collection::vec(blocks(), 1..4),
        later in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), texts()), 0..12),
        inserted in texts(),
    ) {
        let place = tempfile::tempdir().unwrap();
        let mut forests: Vec<Subtrees> = documents.iter().enumerate().map(|(number, blocks)| subtrees(number, blocks)).collect();
        let (space, ids) = space_of(place.path(), &forests);
        let check = || for word in ["needle", "字", "nowhere"] {
            compare(space.snapshot().unwrap().reader(), &ids, word);
            compare(space.snapshot().unwrap().reader(), &ids[..1], word);
        };
        check();
        space.flush().unwrap();
        check();
        // These lie over the commit.
        for (document, block, text) in &later {
            let number = document.index(forests.len());
            let node = block.index(forests[number].0.len());
            let before = &mut forests[number].0[node].block;
            if !matches!(before.data.kind, BlockKind::Text(_) | BlockKind::Page(_)) {
                continue;
            }
            let mut after = before.clone();
            after.rev += 1;
            after.data.inline.clone_from(text);
            let edit = Edit::Update { document: ids[number], before: Box::new(before.clone()), after: Box::new(after.clone()) };
            write(&space, &[edit]);
            *before = after;
        }
        let target = InsertTarget { document: ids[0], parent: ids[0].root(), after: None };
        let block = BlockRecord { id: id(0, 60_000), rev: 1, created: stamp(1), modified: stamp(1), data: BlockData::text(inserted) };
        write(&space, &[Edit::Insert { target, subtrees: Subtrees(vec![SubtreeNode { depth: 0, block }]) }]);
        check();
    }
}

/// The format allows blocks below a text, which the engine makes a page then: they are found, too.
#[test]
fn texts_below_an_omitted_text_are_found() {
    let place = tempfile::tempdir().unwrap();
    let texts = ["needle of a title", "hay", "a needle", "more hay", "the last needle"];
    let depths = [0, 1, 2, 2, 1];
    let nodes = (0..).zip(texts).zip(depths).map(|((number, text), depth)| {
        let data = if depth == 0 { BlockData::page(text) } else { BlockData::text(text) };
        let (created, modified) = (stamp(1), stamp(1));
        let block = BlockRecord { id: id(0, number), rev: 1, created, modified, data };
        SubtreeNode { depth, block }
    });
    let (space, ids) = space_of(place.path(), &[Subtrees(nodes.collect())]);
    let snapshot = space.snapshot().unwrap();
    let mut is_needle = |text: RawText<'_>| text.markdown.ends_with(b"needle");
    let found = snapshot.reader().document_texts_where(ids[0], &mut is_needle).unwrap();
    let shown: Vec<_> = found.iter().map(|block| (block.depth, shown(block.text))).collect();
    let expected = [(0, texts[0]), (2, texts[2]), (1, texts[4])];
    assert_eq!(shown, expected.map(|(depth, text)| (depth, text.to_owned())));
}

/// Control: there is something to be left out.
#[test]
fn rejected_texts_are_omitted() {
    let place = tempfile::tempdir().unwrap();
    let made =
        ["a needle", "hay"].map(|text| Made { is_below: false, data: BlockData::text(text) });
    let (space, ids) = space_of(place.path(), &[subtrees(0, &made)]);
    let snapshot = space.snapshot().unwrap();
    let texts = snapshot
        .reader()
        .document_texts_where(ids[0], &mut |text| text.markdown.ends_with(b"needle"))
        .unwrap();
    assert!(texts.iter().map(|block| shown(block.text)).eq(["needle of a title", "a needle"]));
}
