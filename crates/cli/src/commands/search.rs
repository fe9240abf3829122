//! `leafbase search`: documents by words.

use clap::Args;
use leafbase::{BuiltInLocation, Connection, FolderRef, SearchDocuments, SearchMatch};

use crate::app::App;
use crate::catalog::Folders;
use crate::fault::Result;
use crate::names;
use crate::progress;
use crate::show::snippets::{self, Marks};
use crate::show::styles;

/// Find documents by words: the twenty most relevant ones
///
/// All words have to occur; upper and lower case and accents don't matter, English words are found
/// in their other forms, and the last word may be the beginning of one. Words in quotation marks
/// have to stand together.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// The words
    #[arg(required = true)]
    words: Vec<String>,
    /// One of the words is enough
    #[arg(long)]
    any: bool,
    /// Documents have to match this regular expression, too
    #[arg(short = 'e', long, value_name = "PATTERN")]
    pattern: Option<String>,
    /// Only in this folder, or in unsorted, daily_notes, templates or trash
    #[arg(long = "in", value_name = "FOLDER")]
    folder: Option<String>,
    /// At most so many documents
    #[arg(long, value_name = "DOCUMENTS", default_value_t = 20)]
    limit: usize,
}

impl Search {
    pub(crate) fn run(self, app: &mut App) -> Result<()> {
        let notes = app.searcher()?;
        let folders = Folders::read(&notes)?;
        let request = self.request(&folders)?;
        let mut found = progress::while_running("searching", || notes.search(request))?;
        found.0.truncate(self.limit);
        if app.common.json {
            return app.out.json(&found);
        }
        if found.is_empty() {
            return app.out.line("nothing found");
        }
        found.iter().try_for_each(|hit| show(app, &notes, &folders, hit))
    }

    fn request(&self, folders: &Folders) -> Result<SearchDocuments> {
        let mut request = SearchDocuments::words(self.words.join(" "));
        if self.any {
            request = request.any_word();
        }
        if let Some(pattern) = &self.pattern {
            request = request.matching(pattern);
        }
        Ok(match self.folder.as_deref().map(|name| names::folder(folders, name)).transpose()? {
            Some(place) => within(request, place),
            None => request,
        })
    }
}

pub(super) fn within(request: SearchDocuments, place: FolderRef) -> SearchDocuments {
    match place {
        FolderRef::Folder(folder) => request.within_folder(folder),
        FolderRef::BuiltIn(location) => request.at(location),
    }
}

/// The places that searches without a filter leave out.
pub(super) const TRASH: FolderRef = FolderRef::BuiltIn(BuiltInLocation::Trash);

fn show(app: &mut App, notes: &Connection, folders: &Folders, hit: &SearchMatch) -> Result<()> {
    let path = folders.path_of(&notes.document(hit.document_id)?);
    let (path, id) =
        (app.out.paint(styles::TITLE, path), app.out.paint(styles::QUIET, hit.document_id));
    app.out.line(format_args!("{path}  {id}"))?;
    for text in pieces(hit) {
        let shown = snippets::paint(&app.out, text.0, &text.1, Marks::Asterisks);
        app.out.line(format_args!("    {shown}"))?;
    }
    Ok(())
}

/// The lines of a snippet, each with the hits in it.
fn pieces(hit: &SearchMatch) -> Vec<(&str, Vec<std::ops::Range<usize>>)> {
    let mut begin = 0;
    let mut lines = Vec::new();
    for text in hit.markdown.split('\n') {
        let end = begin + text.len();
        let within = hit.highlights.iter().filter(|range| begin <= range.start && range.end <= end);
        let moved = within.map(|range| range.start - begin..range.end - begin).collect();
        if !text.trim().is_empty() {
            lines.push((text, moved));
        }
        begin = end + 1;
    }
    lines
}
