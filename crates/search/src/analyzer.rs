//! The analyzer: cuts the texts of documents into tokens and trigrams.

use frostem::Algorithm;

use crate::document::{Attributes, DocumentPostings, SearchDocument, Section};
use crate::languages::{LanguageGuess, Languages};
use crate::sorted_field::FieldSorter;
use crate::token::TokenKind;
use crate::tokens::each_token_in;
use crate::trigrams::TrigramCollector;
use crate::unsorted_field::UnsortedField;
use crate::word_forms::WordFormCache;

/// Positions between two texts, so that no phrase matches across them.
const POSITION_GAP: u32 = 16;

/// Analyzes documents one after the other. It keeps its buffers and caches of stems, about 14 MB at
/// most, so one analyzer should analyze many documents.
#[derive(Default)]
pub struct Analyzer {
    sorter: FieldSorter,
    /// The sections of the document in progress, in the order of [`Section::ALL`].
    fields: [UnsortedField; Section::ALL.len()],
    trigrams: TrigramCollector,
    /// Buffer for the lowercased text.
    lower: String,
    forms: WordFormCache,
    languages: Languages,
}

impl std::fmt::Debug for Analyzer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Analyzer")
            .field("cached_stems", &(self.sorter.cache.len() + self.forms.len()))
            .finish_non_exhaustive()
    }
}

impl Analyzer {
    /// An analyzer of texts in these languages.
    pub fn new(languages: Languages) -> Self {
        Self { languages, ..Self::default() }
    }

    /// Starts a document with this title. The texts of its blocks are added one by one.
    pub fn begin(&mut self, attributes: Attributes, title: &str) -> DocumentBuilder<'_> {
        self.fields.iter_mut().for_each(UnsortedField::clear);
        self.trigrams.clear();
        DocumentBuilder {
            analyzer: self,
            attributes,
            title: title.to_owned(),
            guess: LanguageGuess::default(),
            position: 0,
            varies: false,
        }
    }

    /// Sorts the tokens of a document, as [`DocumentBuilder::finish`] does.
    pub fn sort(&mut self, document: SearchDocument) -> SearchDocument {
        let postings = match document.postings {
            DocumentPostings::Unsorted(fields) => {
                DocumentPostings::Sorted(fields.each_ref().map(|field| self.sorter.sort(field)))
            }
            sorted @ DocumentPostings::Sorted(_) => sorted,
        };
        SearchDocument { postings, ..document }
    }

    /// Adds the tokens of a text, the first one at this position. Its words in Latin script are of
    /// this language. Returns the position after the last.
    fn add_tokens(&mut self, section: Section, latin: Algorithm, text: &str, first: u32) -> u32 {
        let Self { fields: [title, body, headings], lower, forms, languages, .. } = self;
        let field = match section {
            Section::Title => title,
            Section::Body => body,
            Section::Headings => headings,
        };
        let is_english = latin == Algorithm::English;
        let mut end = first;
        each_token_in(lower, text, &mut |term: &str, range, position, kind| {
            let position = first.saturating_add(u32::try_from(position).unwrap_or(u32::MAX));
            end = position.saturating_add(1);
            let is_word = matches!(kind, TokenKind::Word | TokenKind::Part);
            field.push(term, position, is_word && is_english);
            let source = text.get(range).unwrap_or("");
            if is_word && !(is_english && source.is_ascii()) {
                let first = term.chars().next();
                let language = first.and_then(|first| languages.of_word(first, latin));
                // English stems are computed when the document is sorted or indexed.
                let language = language.filter(|language| *language != Algorithm::English);
                forms.push_forms(source, term, language, |forms| field.push_forms(forms));
            }
        });
        end
    }
}

/// A document that is being analyzed.
pub struct DocumentBuilder<'a> {
    analyzer: &'a mut Analyzer,
    attributes: Attributes,
    /// Analyzed last: the body says which language it is in.
    title: String,
    guess: LanguageGuess,
    /// The position of the next text's first token.
    position: u32,
    varies: bool,
}

impl std::fmt::Debug for DocumentBuilder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DocumentBuilder")
            .field("attributes", &self.attributes)
            .finish_non_exhaustive()
    }
}

impl DocumentBuilder<'_> {
    /// Adds a plain text whose words are searchable.
    pub fn add_words(&mut self, text: &str) {
        self.add_text(text, &[Section::Body]);
    }

    /// Adds the plain text of a heading, whose words are those of a field of their own, too.
    pub fn add_heading(&mut self, text: &str) {
        self.add_text(text, &[Section::Body, Section::Headings]);
    }

    fn add_text(&mut self, text: &str, sections: &[Section]) {
        let latin = self.guess.next(&self.analyzer.languages, text);
        let mut end = self.position;
        for section in sections {
            end = self.analyzer.add_tokens(*section, latin, text, self.position);
        }
        if end > self.position {
            self.position = end.saturating_add(POSITION_GAP);
        }
    }

    /// Adds a text that patterns search. A match lies in one text.
    pub fn add_pattern_text(&mut self, text: &str) {
        self.analyzer.trigrams.add(text);
    }

    /// Declares that scoped readers see other texts than the ones added for patterns.
    pub fn vary(&mut self) {
        self.varies = true;
    }

    /// The document with sorted tokens.
    pub fn finish(mut self) -> SearchDocument {
        self.add_title();
        let Analyzer { sorter, fields, .. } = &mut *self.analyzer;
        let sorted = fields.each_ref().map(|field| sorter.sort(field));
        self.build(DocumentPostings::Sorted(sorted))
    }

    /// The document with tokens in text order: faster to analyze, slower to search without an
    /// index. An index takes both.
    pub fn finish_unsorted(mut self) -> SearchDocument {
        self.add_title();
        let fields = self.analyzer.fields.clone();
        self.build(DocumentPostings::Unsorted(fields))
    }

    fn add_title(&mut self) {
        let title = std::mem::take(&mut self.title);
        let latin = self.guess.next(&self.analyzer.languages, &title);
        self.analyzer.add_tokens(Section::Title, latin, &title, 0);
    }

    fn build(self, postings: DocumentPostings) -> SearchDocument {
        let Self { analyzer, attributes, varies, .. } = self;
        let [title, body, headings] = &analyzer.fields;
        let lengths = [
            title.len(),
            body.len(),
            headings.len(),
            title.stemmed_count(),
            body.stemmed_count(),
            headings.stemmed_count(),
        ];
        let lengths = lengths.map(|length| u32::try_from(length).unwrap_or(u32::MAX));
        let trigrams = analyzer.trigrams.take();
        SearchDocument { attributes, postings, lengths, trigrams, varies }
    }
}
