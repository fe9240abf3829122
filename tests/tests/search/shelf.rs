//! A space whose documents are known by their titles.

use std::fs;
use std::path::Path;

use leafbase::{
    Connection, Destination, DocumentId, Position, SearchDocuments, SearchMatch, Space,
};

use crate::wrong;

/// Copies a directory with all that is in it.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

pub struct Shelf {
    pub notes: Connection,
}

impl Default for Shelf {
    fn default() -> Self {
        Self::new()
    }
}

impl Shelf {
    pub fn new() -> Self {
        Self { notes: Space::in_memory().unwrap().connect() }
    }

    /// Documents of these titles and texts.
    pub fn of(documents: &[(&str, &str)]) -> Self {
        let shelf = Self::new();
        for (title, text) in documents {
            shelf.put(title, text);
        }
        shelf
    }

    pub fn put(&self, title: &str, markdown: &str) -> DocumentId {
        let document = self.notes.create_document(title).unwrap().id();
        self.notes.insert_markdown(markdown, Position::end_of(document)).unwrap();
        document
    }

    pub fn put_in(
        &self,
        title: &str,
        markdown: &str,
        destination: impl Into<Destination>,
    ) -> DocumentId {
        let document = self.put(title, markdown);
        self.notes.move_documents(leafbase::MoveDocuments::new([document], destination)).unwrap();
        document
    }

    pub fn id(&self, title: &str) -> DocumentId {
        let documents = self.notes.documents().unwrap();
        documents.iter().find(|document| document.title == title).unwrap().id()
    }

    pub fn search(&self, request: impl Into<SearchDocuments>) -> Vec<SearchMatch> {
        self.notes.search(request).unwrap().items
    }

    /// The titles of what is found, the best first; or the code and the path of the error.
    pub fn found(&self, request: impl Into<SearchDocuments>) -> String {
        match self.notes.search(request) {
            Ok(found) => found
                .iter()
                .map(|found| self.title(found.document_id))
                .collect::<Vec<_>>()
                .join(", "),
            Err(error) => wrong(&error),
        }
    }

    /// The same sorted by title.
    pub fn sorted(&self, request: impl Into<SearchDocuments>) -> String {
        let found = self.found(request);
        let mut titles: Vec<_> = found.split(", ").collect();
        titles.sort_unstable();
        titles.join(", ")
    }

    /// What a request of this JSON finds.
    pub fn json(&self, body: &str) -> String {
        match self.notes.space().read_json::<SearchDocuments>(body) {
            Ok(request) => self.sorted(request),
            Err(error) => wrong(&error),
        }
    }

    fn title(&self, document: DocumentId) -> String {
        self.notes.document(document).unwrap().title
    }

    /// Asserts what has all terms of each of these, sorted by title, before and after the index has
    /// caught up. By default it comes first, and what lacks terms follows.
    pub fn table(&self, rows: &[(&str, &str)]) {
        for what in ["changed", "indexed"] {
            for (query, expected) in rows {
                let request = SearchDocuments::words(*query);
                assert_eq!(self.sorted(request.all_words()), *expected, "{what}: {query}");
                let found = self.search(*query);
                let complete = found.iter().take_while(|found| found.missing_terms.is_empty());
                let mut titles: Vec<_> =
                    complete.map(|found| self.title(found.document_id)).collect();
                titles.sort_unstable();
                assert_eq!(titles.join(", "), *expected, "{what}: {query}");
            }
            self.notes.space().flush_search().unwrap();
        }
    }
}
