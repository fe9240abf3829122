//! `leafbase ls`: lists folders and documents.

use clap::{Args, ValueEnum};
use leafbase::{Connection, Document, DocumentOrder, Folder, FolderRef, ListDocuments};

use crate::catalog::FolderCatalog;
use crate::context::CommandContext;
use crate::error::CliResult;
use crate::names;
use crate::show::styles;
use crate::show::table::{self, Cell};

/// List folders and documents
#[derive(Debug, Args)]
pub(crate) struct ListCommand {
    /// A folder, or unsorted, daily_notes, templates, trash; default: the top level with the
    /// unsorted documents
    folder: Option<String>,
    /// List every document of the space by its path
    #[arg(short, long, conflicts_with = "folder")]
    all: bool,
    /// List only documents with this tag, or a tag nested in it; several times for several tags
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Show IDs and days of the last change
    #[arg(short, long)]
    long: bool,
    /// Sort order [default: title; with --json the ID, as entries are written while they are read]
    #[arg(long, value_name = "BY")]
    sort: Option<SortOrder>,
    /// Maximum number of documents
    #[arg(long, value_name = "DOCUMENTS")]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SortOrder {
    /// By title or path
    Title,
    /// Newest first
    Created,
    /// Last modified first
    Modified,
}

impl ListCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.reader()?;
        let folders = FolderCatalog::read(&notes)?;
        let place = self.folder.as_deref().map(|name| names::folder(&folders, name)).transpose()?;
        let mut request = self.request(place);
        let shown = if self.all { &[] } else { folders.within(place) };
        if context.options.json && self.sort != Some(SortOrder::Title) {
            context.out.json_lines(shown)?;
            return documents_json(context, &notes, request);
        }
        // The titles of all documents are sorted here.
        request.paging.limit = None;
        let mut documents = notes.list_documents(request)?.items;
        if self.sort.is_none_or(|order| order == SortOrder::Title) {
            self.sort_by_title(&folders, &mut documents);
        }
        documents.truncate(self.limit.unwrap_or(usize::MAX));
        if context.options.json {
            context.out.json_lines(shown)?;
            return context.out.json_lines(documents);
        }
        let rows = shown.iter().map(|folder| self.folder_row(folder));
        let name = |document: &Document| {
            if self.all { folders.path_of(document) } else { document.title.clone() }
        };
        let rows = rows
            .chain(documents.iter().map(|document| self.document_row(document, &name(document))));
        table::write(&mut context.out, &rows.collect::<Vec<_>>())
    }

    fn request(&self, place: Option<FolderRef>) -> ListDocuments {
        let request = ListDocuments::new().with_metadata();
        let mut request = match place {
            _ if self.all => request,
            Some(FolderRef::Folder(folder)) => request.within(folder),
            Some(FolderRef::BuiltIn(location)) => request.at(location),
            None => request.at(leafbase::BuiltInLocation::Unsorted),
        };
        request.filter.tags.clone_from(&self.tags);
        request.paging.limit = self.limit;
        match self.sort {
            Some(SortOrder::Created) => request.order_by(DocumentOrder::Created).descending(),
            Some(SortOrder::Modified) => request.order_by(DocumentOrder::Modified).descending(),
            Some(SortOrder::Title) | None => request,
        }
    }

    fn sort_by_title(&self, folders: &FolderCatalog, documents: &mut [Document]) {
        documents.sort_by_cached_key(|document| {
            let name = if self.all { folders.path_of(document) } else { document.title.clone() };
            (name.to_lowercase(), document.id())
        });
    }

    fn folder_row(&self, folder: &Folder) -> Vec<Cell> {
        let name = Cell::styled(format!("{}/", folder.name), styles::FOLDER);
        let count = Cell::styled(folder.document_count.to_string(), styles::QUIET);
        if self.long {
            vec![Cell::styled(folder.id.to_string(), styles::QUIET), count, name]
        } else {
            vec![name]
        }
    }

    fn document_row(&self, document: &Document, name: &str) -> Vec<Cell> {
        let name = Cell::new(name);
        let id = || Cell::styled(document.id().to_string(), styles::QUIET);
        let day = || Cell::styled(document.modified_at().day_utc().to_string(), styles::QUIET);
        if self.long { vec![id(), day(), name] } else { vec![name] }
    }
}

/// Writes the documents as lines of JSON, as they are read.
pub(crate) fn documents_json(
    context: &mut CommandContext,
    notes: &Connection,
    mut request: ListDocuments,
) -> CliResult<()> {
    context.out.json_pages(request.paging.clone(), |paging| {
        request.paging = paging;
        notes.list_documents(request.clone())
    })
}
