//! Segments compared with those that tantivy makes of the same documents.

use std::collections::BTreeMap;

use leafbase_model::{DocumentId, Location, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use tantivy::postings::Postings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{DocSet, SegmentReader, TERMINATED, TantivyDocument};

use crate::document::{Attributes, Lane, Lanes, SearchDocument};
use crate::index::{Index, layout};
use crate::maker::Maker;

/// Each word with its documents: in which, how often, and where.
type Terms = BTreeMap<Vec<u8>, Vec<(u32, u32, Vec<u32>)>>;

fn terms(segment: &SegmentReader, field: Field, option: IndexRecordOption) -> (u64, Terms) {
    let (index, mut found) = (segment.inverted_index(field).unwrap(), Terms::new());
    let mut stream = index.terms().stream().unwrap();
    while let Some((term, info)) = stream.next() {
        let mut postings = index.read_postings_from_terminfo(info, option).unwrap();
        let documents = found.entry(term.to_vec()).or_default();
        while postings.doc() != TERMINATED {
            let mut positions = Vec::new();
            if option.has_positions() {
                postings.positions(&mut positions);
            }
            documents.push((postings.doc(), postings.term_freq(), positions));
            postings.advance();
        }
        assert_eq!(info.doc_freq as usize, documents.len());
    }
    (index.total_num_tokens(), found)
}

/// The only segment of an index.
fn only(index: &tantivy::Index) -> SegmentReader {
    let reader = index.reader().unwrap();
    let searcher = reader.searcher();
    assert_eq!(searcher.segment_readers().len(), 1);
    searcher.segment_reader(0).clone()
}

fn made(
    maker: &mut Maker,
    number: usize,
    title: &str,
    texts: &[String],
    is_loose: bool,
) -> SearchDocument {
    // In another order than they come in, and each once, of the first so many.
    let id = DocumentId::from_bytes((number as u128 * 7 % 1_024).to_be_bytes());
    let (created_at, modified_at) = (Timestamp::from_millis(5), Timestamp::from_millis(-7));
    let attributes =
        Attributes { id, location: Location::Trash, day: None, created_at, modified_at };
    let mut filling = maker.begin(attributes, title);
    for text in texts {
        filling.add_words(text);
    }
    if is_loose { filling.finish_loosely() } else { filling.finish() }
}

/// The segment that tantivy makes of words in order.
fn by_tantivy(documents: &[SearchDocument]) -> SegmentReader {
    let (schema, fields) = layout::schema();
    let index = tantivy::Index::create_in_ram(schema.clone());
    let mut writer = index.writer_with_num_threads(1, 15_000_000).unwrap();
    for document in documents {
        let Lanes::Ordered(ordered) = &document.lanes else { panic!("not in order") };
        let mut given = TantivyDocument::default();
        given.add_bytes(fields.id, document.id().as_bytes());
        for lane in Lane::ALL {
            let token = |text: &str, position: u32| Token {
                text: text.to_owned(),
                position: position as usize,
                ..Token::default()
            };
            let tokens: Vec<Token> = match lane {
                Lane::Title | Lane::Body => {
                    let words = ordered.words(lane.is_title()).iter();
                    words
                        .flat_map(|(word, all)| all.iter().map(move |at| token(word, *at)))
                        .collect()
                }
                Lane::TitleStems | Lane::BodyStems => {
                    let stems = ordered.stems(lane.is_title()).iter();
                    stems
                        .flat_map(|(stem, times)| (0..times).map(move |_| token(stem, 0)))
                        .collect()
                }
            };
            given.add_pre_tokenized_text(
                fields.lane(lane),
                PreTokenizedString { text: String::new(), tokens },
            );
        }
        for (name, number) in layout::Numbers::of(document).named() {
            given.add_u64(schema.get_field(name).unwrap(), number);
        }
        writer.add_document(given).unwrap();
    }
    writer.commit().unwrap();
    only(&index)
}

/// Documents, each with its title and texts, and whether its words are left as they came.
fn check(all: &[(String, Vec<String>, bool)]) -> Result<(), TestCaseError> {
    let (mut maker, (schema, _)) = (Maker::default(), layout::schema());
    let documents = |in_order: bool, maker: &mut Maker| -> Vec<SearchDocument> {
        let all = all.iter().enumerate();
        all.map(|(number, (title, texts, is_loose))| {
            made(maker, number, title, texts, *is_loose && !in_order)
        })
        .collect()
    };
    let index = Index::in_memory("").unwrap();
    index.update(&mut documents(false, &mut maker).into_iter().map(Ok), &[], 1).unwrap();
    let (ours, expected) = (only(&index.inner), by_tantivy(&documents(true, &mut maker)));
    for (field, entry) in schema.fields().filter(|(_, entry)| entry.is_indexed()) {
        let option = entry.field_type().index_record_option().unwrap_or(IndexRecordOption::Basic);
        prop_assert_eq!(
            terms(&ours, field, option),
            terms(&expected, field, option),
            "{}",
            entry.name()
        );
    }
    let numbers =
        |segment| layout::Numbers::of_segment(segment).map_err(|failure| failure.0).unwrap();
    prop_assert_eq!(numbers(&ours).len(), all.len());
    let of = |segment| numbers(segment).iter().map(layout::Numbers::entry).collect::<Vec<_>>();
    prop_assert_eq!(of(&ours), of(&expected));
    prop_assert!(
        ours.get_store_reader(1)
            .unwrap()
            .get::<TantivyDocument>(0)
            .unwrap()
            .field_values()
            .next()
            .is_none()
    );
    Ok(())
}

proptest! {
    #[test]
    fn a_segment_is_as_tantivy_makes_it(
        all in prop::collection::vec(
            ("[ab]{0,2}", prop::collection::vec("((train|trained|trains|internationalized|internationalize|v1\\.2|snake_case|é|東京) ?){0,9}", 0..4), any::<bool>()),
            1..9,
        )
    ) {
        check(&all)?;
    }
}

/// Words of which some fill blocks of documents, and of positions, just so or not quite, each
/// behind one that fills more, or fewer.
#[test]
fn words_of_many_documents_are_as_tantivy_has_them() {
    for count in [127, 128, 129, 256, 300, 600] {
        let words = |number: usize| {
            let some =
                [(1, "all"), (2, "half"), (3, "third"), (5, "trains"), (number.max(1), "zero")];
            let some = some.into_iter().filter(|(each, _)| number.is_multiple_of(*each));
            let words: Vec<String> = some
                .map(|(each, word)| format!("{word} ").repeat(1 + number % (each + 1)))
                .collect();
            format!("{} w{number} x{}", words.concat(), number / 130)
        };
        let all: Vec<_> = (0..count)
            .map(|number| (words(number), vec![words(number + 1)], number % 2 == 0))
            .collect();
        check(&all).unwrap();
    }
}
