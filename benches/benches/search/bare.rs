//! Floors: tantivy by itself, one entry for each document, without snippets and without the texts;
//! and for patterns `regex` on texts that lie in memory.

use crate::peer::{Build, Peer};
use crate::plan::{Number, Plan, Question};
use benches::measure::timed;
use regex::{Regex, RegexBuilder};
use std::cmp::Reverse;
use std::path::Path;
use std::time::Duration;
use tantivy::collector::{DocSetCollector, TopDocs};
use tantivy::query::{BooleanQuery, FuzzyTermQuery, Query, TermQuery};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TEXT};
use tantivy::{DocAddress, Index, IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, Term};

pub struct Bare {
    reader: IndexReader,
    writer: IndexWriter,
    number: Field,
    text: Field,
    /// As they are now: the index has no texts.
    documents: Vec<Vec<String>>,
    /// The same, each in one.
    joined: Vec<String>,
}

pub fn build(directory: &Path, plan: &Plan) -> Build<Bare> {
    let mut schema = Schema::builder();
    let number = schema.add_u64_field("number", FAST | INDEXED);
    let text = schema.add_text_field("text", TEXT);
    let documents =
        plan.documents.iter().map(|document| document.texts().map(str::to_owned).collect());
    let documents: Vec<Vec<String>> = documents.collect();
    let (whole, (reader, writer)) = timed(|| {
        let index = Index::create_in_dir(directory, schema.build()).expect("an index");
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 32 << 20).expect("a writer");
        for (at, texts) in documents.iter().enumerate() {
            writer.add_document(entry(number, text, at, texts)).expect("a document");
        }
        writer.commit().expect("a commit");
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .expect("a reader");
        (reader, writer)
    });
    let joined = documents.iter().map(|texts| texts.join("\n")).collect();
    Build { whole, indexing: whole, peer: Bare { reader, writer, number, text, documents, joined } }
}

fn entry(number: Field, text: Field, at: Number, texts: &[String]) -> TantivyDocument {
    let mut document = TantivyDocument::default();
    document.add_u64(number, at as u64);
    document.add_text(text, texts.join("\n"));
    document
}

impl Bare {
    fn query(&self, question: &Question) -> Box<dyn Query> {
        let term = |word: &str| Term::from_field_text(self.text, word);
        let word = |word: &str| -> Box<dyn Query> {
            Box::new(TermQuery::new(term(word), IndexRecordOption::WithFreqs))
        };
        let mut each: Vec<_> = match question {
            Question::Words(words) => words.iter().map(|one| word(one)).collect(),
            Question::Sentence(words) | Question::Many(words) => {
                words.split(' ').map(word).collect()
            }
            Question::Prefix(words) => {
                let (before, start) = words.rsplit_once(' ').unwrap_or(("", words));
                let last = Box::new(FuzzyTermQuery::new_prefix(term(start), 0, false));
                before.split_terminator(' ').map(word).chain([last as Box<dyn Query>]).collect()
            }
            Question::Misspelt(one) => vec![Box::new(FuzzyTermQuery::new(term(one), 1, true))],
            Question::Pattern(_) => unreachable!("it has no texts to match"),
        };
        match question {
            _ if each.len() == 1 => each.remove(0),
            Question::Sentence(_) => Box::new(BooleanQuery::union(each)),
            _ => Box::new(BooleanQuery::intersection(each)),
        }
    }

    /// The documents with matches, those with most first.
    fn matched(&self, pattern: &str) -> Vec<Number> {
        let pattern = regex(pattern);
        let counts = self.joined.iter().map(|text| pattern.find_iter(text).count()).enumerate();
        let mut found: Vec<_> = counts
            .filter(|(_, count)| *count > 0)
            .map(|(at, count)| (Reverse(count), at))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, document)| document).collect()
    }

    fn numbers(&self, found: impl IntoIterator<Item = DocAddress>) -> Vec<Number> {
        let searcher = self.reader.searcher();
        let number = |address: DocAddress| {
            let column = searcher
                .segment_reader(address.segment_ord)
                .fast_fields()
                .u64("number")
                .expect("a column");
            column.first(address.doc_id).expect("a number") as Number
        };
        found.into_iter().map(number).collect()
    }

    fn best(&self, question: &Question) -> Vec<(f32, DocAddress)> {
        let query = self.query(question);
        let best = TopDocs::with_limit(question.limit()).order_by_score();
        self.reader.searcher().search(&query, &best).expect("a search")
    }
}

impl Peer for Bare {
    fn ask(&mut self, question: &Question) -> usize {
        match question {
            Question::Pattern(pattern) => self.matched(pattern).len().min(20),
            _ => self.best(question).len(),
        }
    }

    fn top(&mut self, question: &Question) -> Vec<Number> {
        if let Question::Pattern(pattern) = question {
            let mut best = self.matched(pattern);
            best.truncate(20);
            return best;
        }
        self.numbers(self.best(question).into_iter().map(|(_, address)| address))
    }

    fn all(&mut self, question: &Question) -> Vec<Number> {
        if let Question::Pattern(pattern) = question {
            let mut all = self.matched(pattern);
            all.sort_unstable();
            return all;
        }
        let query = self.query(question);
        let found = self.reader.searcher().search(&query, &DocSetCollector).expect("a search");
        let mut numbers = self.numbers(found);
        numbers.sort_unstable();
        numbers
    }

    fn within(&mut self, pattern: &str) -> Vec<String> {
        let pattern = regex(pattern);
        self.joined
            .first()
            .map(|text| pattern.find_iter(text).map(|found| found.as_str().to_owned()).collect())
            .unwrap_or_default()
    }

    fn edit(&mut self, document: Number, block: usize, text: &str) -> Duration {
        text.clone_into(&mut self.documents[document][block + 1]);
        self.joined[document] = self.documents[document].join("\n");
        timed(|| {
            self.writer.delete_term(Term::from_field_u64(self.number, document as u64));
            let entry = entry(self.number, self.text, document, &self.documents[document]);
            self.writer.add_document(entry).expect("a document");
            self.writer.commit().expect("a commit");
            self.reader.reload().expect("a reader");
        })
        .0
    }

    fn settle(&mut self) {}
}

fn regex(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).case_insensitive(true).build().expect("a pattern")
}
