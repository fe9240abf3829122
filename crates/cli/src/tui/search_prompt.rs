//! A search as it is typed.

use leafbase::{BlockId, Connection, DocumentId, SearchDocuments, SearchMatch};
use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::text_input::TextInput;
use crate::catalog::FolderCatalog;
use crate::days;
use crate::error::CliResult;
use crate::names;
use crate::show::snippets::{self, Marks};

/// Documents that a search lists.
const MAX_HITS: usize = 50;

/// A document that was found.
#[derive(Clone, Debug)]
pub(crate) struct SearchHit {
    pub(crate) document: DocumentId,
    pub(crate) path: String,
    /// The blocks that match, in reading order.
    pub(crate) blocks: Vec<BlockId>,
    /// The matching words of the excerpt, in lowercase.
    pub(crate) words: Vec<String>,
    /// A line of its text in parts, each with whether it matches.
    pub(crate) snippet: Vec<(String, bool)>,
}

#[derive(Default)]
pub(crate) struct SearchPrompt {
    pub(crate) input: TextInput,
    pub(crate) hits: Vec<SearchHit>,
    pub(crate) selected: usize,
    /// A note or an error in place of hits.
    pub(crate) message: String,
    is_stale: bool,
}

impl SearchPrompt {
    pub(crate) fn press(&mut self, key: KeyEvent, width: usize) {
        match key.code {
            KeyCode::Up => self.selected = self.selected.saturating_sub(1),
            KeyCode::Down => {
                self.selected = (self.selected + 1).min(self.hits.len().saturating_sub(1));
            }
            _ => self.is_stale |= self.input.press(key, width),
        }
    }

    pub(crate) fn insert(&mut self, text: &str) {
        self.input.insert(&text.replace(['\n', '\r'], " "));
        self.is_stale = true;
    }

    /// Searches if the text changed since; whether it did.
    pub(crate) fn run(&mut self, notes: &Connection) -> bool {
        if !std::mem::take(&mut self.is_stale) {
            return false;
        }
        self.selected = 0;
        (self.hits, self.message) = match self.search(notes) {
            Ok(hits) if hits.is_empty() && !self.input.text().trim().is_empty() => {
                (hits, "no matches".to_owned())
            }
            Ok(hits) => (hits, String::new()),
            Err(error) => (Vec::new(), error.message().to_owned()),
        };
        true
    }

    fn search(&self, notes: &Connection) -> CliResult<Vec<SearchHit>> {
        let text = days::in_query(notes, self.input.text())?;
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let folders = FolderCatalog::read(notes)?;
        let lookup = |name: &str| names::folder(&folders, name).ok();
        let request = SearchDocuments::from_query_text(&text, lookup).limit(MAX_HITS);
        let mut hits = Vec::new();
        for found in &notes.search(request)? {
            let path = folders.path_of(&notes.document(found.document_id)?);
            let lines = snippets::lines(&found.markdown, &found.highlights);
            let line = lines.iter().find(|(_, hits)| !hits.is_empty()).or_else(|| lines.first());
            let snippet = line.map(|(text, hits)| snippets::parts(text, hits, Marks::Asterisks));
            hits.push(SearchHit {
                document: found.document_id,
                path,
                blocks: found.block_ids.clone(),
                words: matched_words(found),
                snippet: snippet.unwrap_or_default(),
            });
        }
        Ok(hits)
    }
}

fn matched_words(found: &SearchMatch) -> Vec<String> {
    let ranges = found.highlights.iter();
    let mut words: Vec<_> = ranges
        .filter_map(|range| Some(found.markdown.get(range.clone())?.to_lowercase()))
        .collect();
    words.sort();
    words.dedup();
    words
}
