//! Reads through a sieve: they give what reads without one give, but for what the sieve does not
//! ask for.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use leafbase_model::{
    BlockData, BlockId, BlockKind, BlockRecord, BlockType, DocumentId, DocumentRecord, Edit,
    InsertTarget, LineStyle, Location, Result, SubtreeNode, Subtrees, Timestamp,
};
use leafbase_store::kv::{OpenOptions, Store};
use leafbase_store::{
    BlockText, Sieve, SpaceReader, SpaceStore, StoredText, TextVisitor, Texts, directory,
};
use naive::{EXTRACTOR, meta, relaxed, stamp};
use proptest::prelude::*;

mod naive;

/// Seeks a word. It cannot tell of bytes in which `é` stands, nor of texts with `?`.
struct Word(&'static str);

impl Sieve for Word {
    fn tells(&self, bytes: &[u8]) -> bool {
        !bytes.windows(2).any(|here| here == "é".as_bytes())
    }

    fn next(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut places = bytes.get(from..)?.windows(self.0.len());
        places.position(|here| here == self.0.as_bytes()).map(|place| from + place)
    }

    fn leaves_out(&self, text: StoredText<'_>) -> bool {
        !text.markdown().unwrap().contains(&b'?')
    }
}

/// What was said in each document. Of texts the bytes are enough that have an even length.
#[derive(Default)]
struct Listener {
    said: Vec<(DocumentId, String)>,
    word: Option<Word>,
    untold: Option<Vec<u8>>,
}

impl TextVisitor for Listener {
    fn is_told_by(&mut self, document: DocumentId, markdown: &[u8], from: usize) -> bool {
        let text = std::str::from_utf8(markdown).unwrap();
        if let Some(word) = &self.word {
            assert!(word.next(markdown, 0).is_none_or(|first| first >= from), "{from} in {text}");
        }
        let is_enough = markdown.len().is_multiple_of(2);
        if is_enough {
            self.said.push((document, text.to_owned()));
        }
        self.untold = (!is_enough).then(|| markdown.to_vec());
        is_enough
    }

    fn visit(&mut self, document: DocumentId, text: BlockText<'_>) -> Result<()> {
        let untold = self.untold.take();
        if let BlockText::Markdown(_, text) = text {
            assert_eq!(untold.as_deref(), Some(text.as_bytes()), "its bytes were shown before");
        }
        self.said.push((document, shown(text)));
        Ok(())
    }
}

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

fn compare(reader: SpaceReader<'_>, documents: &[DocumentId], word: &'static str) {
    let visited = |sieve: Option<&dyn Sieve>| {
        let word = sieve.is_some().then_some(Word(word));
        let mut said = Listener { word, ..Listener::default() };
        reader.visit_texts(documents, sieve, &mut said).unwrap();
        said.said
    };
    let (all, sieve) = (visited(None), Word(word));
    let given = visited(Some(&sieve));
    let asked = |said: &&(DocumentId, String)| {
        said.1.contains(sieve.0) || said.1.contains('?') || said.1.starts_with("BlockData")
    };
    assert!(all.iter().filter(asked).eq(given.iter().filter(asked)));
    // Where the sieve cannot tell, more is given, in its place.
    let tells = !all.iter().any(|(_, text)| text.contains('é'));
    // The byte before a text is the last one of its length, and may be a letter: 3,941 bytes that
    // begin with "need" look like "eneed".
    let looks_asked = |said: &(DocumentId, String)| {
        let length = char::from(said.1.len().to_le_bytes()[0]);
        length.is_ascii() && format!("{length}{}", said.1).contains(sieve.0)
    };
    assert!(!tells || given.iter().all(|said| asked(&said) || looks_asked(said)));
    let mut rest = all.iter();
    assert!(given.iter().all(|said| rest.any(|other| other == said)));

    for document in documents {
        let (whole, sieved) = compare_below(reader, document.root(), Some(&sieve));
        let visited: BTreeMap<String, usize> = count(
            given.iter().filter(|(other, _)| other == document).map(|(_, text)| text.clone()),
        );
        assert_eq!(
            count(sieved.iter().map(|index| shown(whole.get(*index).unwrap().text))),
            visited
        );
        let (_, all) = compare_below(reader, document.root(), None);
        assert!(all.into_iter().eq(0..whole.len()));
        let pages = whole
            .iter()
            .filter(|block| block.depth == 1 && block.text.block_type() == BlockType::Page);
        pages.take(3).for_each(|page| drop(compare_below(reader, page.id, Some(&sieve))));
        let asked = reader.asked_texts(document.root(), &sieve).unwrap();
        let is_kept = |index: &usize| *index == 0 || sieved.contains(index);
        assert!(
            (0..whole.len()).filter(is_kept).filter_map(|index| whole.get(index)).eq(asked.iter())
        );
    }
}

/// What `block` and all below it say, and which of them may be asked for.
fn compare_below(
    reader: SpaceReader<'_>,
    block: BlockId,
    sieve: Option<&dyn Sieve>,
) -> (Texts, Vec<usize>) {
    let (whole, sieved) =
        (reader.texts(block).unwrap(), reader.sieved_texts(block, sieve).unwrap());
    assert!(whole.iter().map(|block| (block.depth, block.id)).eq(sieved.ids()));
    let asked: Vec<usize> =
        (0..sieved.count_asked()).map(|number| sieved.asked(number).unwrap()).collect();
    assert!(asked.is_sorted_by(|one, other| one < other));
    for (number, index) in asked.iter().enumerate() {
        assert_eq!(sieved.asked_text(number), sieved.text(*index).unwrap());
        assert_eq!(
            (sieved.asked_before(*index), sieved.asked_before(index + 1)),
            (number, number + 1)
        );
    }
    for (index, block) in whole.iter().enumerate() {
        let above = whole.iter().take(index).rposition(|above| above.depth < block.depth);
        assert_eq!((sieved.id(index), sieved.parent(index)), (Some(block.id), above));
        assert_eq!(sieved.text(index).unwrap().map(shown), Some(shown(block.text)));
    }
    for (start, end) in [(0, whole.len() + 1), (1, 2), (whole.len() / 2, whole.len() / 2 + 40)] {
        let said = sieved.blocks(start..end).map(Result::unwrap);
        let expected = whole.iter().skip(start).take(end - start);
        assert!(said.eq(expected.map(|block| (block.id, block.text))));
    }
    assert_eq!((sieved.text(whole.len()).unwrap(), sieved.id(whole.len())), (None, None));
    (whole, asked)
}

fn count(texts: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    texts.for_each(|text| *counts.entry(text).or_default() += 1);
    counts
}

/// A space with these documents, and their IDs.
fn space_of(place: &std::path::Path, forests: &[Subtrees]) -> (SpaceStore, Vec<DocumentId>) {
    let store: Arc<dyn Store> =
        Arc::new(directory::create(place.join("notes"), &OpenOptions::new()).unwrap());
    let space = SpaceStore::create(store, EXTRACTOR, &meta()).unwrap();
    let (at, location) = (Timestamp::from_millis(1), Location::Unsorted);
    let ids: Vec<DocumentId> =
        (0..forests.len()).map(|number| DocumentId::of_root(id(number, 0))).collect();
    for (id, subtrees) in ids.iter().zip(forests) {
        let record =
            DocumentRecord { id: *id, location, day: None, created_at: at, modified_at: at };
        write(&space, &[Edit::CreateDocument { record, subtrees: subtrees.clone() }]);
    }
    (space, ids)
}

#[test]
fn what_only_looks_asked_for_is_given_too() {
    let place = tempfile::tempdir().unwrap();
    let texts = [
        format!("need{}", "-".repeat(3_937)),
        format!("need{}", "-".repeat(97)),
        "else".to_owned(),
    ];
    let blocks = texts.map(|text| Made { is_below: false, data: BlockData::text(text) });
    let (space, ids) = space_of(place.path(), &[subtrees(0, &blocks)]);
    let snapshot = space.snapshot().unwrap();
    compare(snapshot.reader(), &ids, "eneed");
    let mut said = Listener { word: Some(Word("eneed")), ..Listener::default() };
    snapshot.reader().visit_texts(&ids, Some(&Word("eneed")), &mut said).unwrap();
    assert_eq!(said.said.len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_sieve_leaves_out_what_it_does_not_ask_for(
        documents in proptest::collection::vec(blocks(), 1..4),
        later in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), texts()), 0..12),
        inserted in texts(),
    ) {
        let place = tempfile::tempdir().unwrap();
        let mut forests: Vec<Subtrees> = documents.iter().enumerate().map(|(number, blocks)| subtrees(number, blocks)).collect();
        let (space, ids) = space_of(place.path(), &forests);
        let check = || for word in ["needle", "字", "eneed", "nowhere"] {
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
            after.data.markdown.clone_from(text);
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

/// Control: there is something to be left out.
#[test]
fn what_a_sieve_does_not_find_is_left_out() {
    let (_, space) = naive::memory_space();
    let (at, location) = (Timestamp::from_millis(1), Location::Unsorted);
    let record = DocumentRecord {
        id: DocumentId::of_root(id(0, 0)),
        location,
        day: None,
        created_at: at,
        modified_at: at,
    };
    let made =
        ["a needle", "hay", "é"].map(|text| Made { is_below: false, data: BlockData::text(text) });
    for (count, expected) in [
        (2, vec!["needle of a title", "a needle"]),
        (3, vec!["needle of a title", "a needle", "hay", "é"]),
    ] {
        let subtrees = subtrees(0, &made[..count]);
        write(
            &space,
            &[Edit::CreateDocument { record: record.clone(), subtrees: subtrees.clone() }],
        );
        let mut said = Listener::default();
        space
            .snapshot()
            .unwrap()
            .reader()
            .visit_texts(&[record.id], Some(&Word("needle")), &mut said)
            .unwrap();
        assert_eq!(said.said.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), expected);
        write(&space, &[Edit::EraseDocument { record: record.clone(), subtrees }]);
    }
}
