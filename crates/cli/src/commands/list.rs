//! `leafbase ls`: lists folders and documents.

use std::cmp::Reverse;

use clap::{Args, ValueEnum};
use leafbase::{Document, Folder, FolderRef, ListDocuments};

use crate::catalog::{Catalog, FolderCatalog};
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
    /// Sort order
    #[arg(long, value_name = "BY", default_value = "title")]
    sort: SortOrder,
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

#[derive(serde::Serialize)]
struct ListReply<'a> {
    folders: &'a [Folder],
    documents: &'a [Document],
}

impl ListCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.reader()?;
        let folders = FolderCatalog::read(&notes)?;
        let place = self.folder.as_deref().map(|name| names::folder(&folders, name)).transpose()?;
        let mut request = request(self.all, place);
        request.filter.tags.clone_from(&self.tags);
        let mut documents = notes.list_documents(request)?.items;
        self.sort(&folders, &mut documents);
        documents.truncate(self.limit.unwrap_or(usize::MAX));
        let shown = if self.all { &[] } else { folders.within(place) };
        if context.options.json {
            return context.out.json(&ListReply { folders: shown, documents: &documents });
        }
        let rows = shown.iter().map(|folder| self.folder_row(folder));
        let name = |document: &Document| {
            if self.all { folders.path_of(document) } else { document.title.clone() }
        };
        let rows = rows
            .chain(documents.iter().map(|document| self.document_row(document, &name(document))));
        table::write(&mut context.out, &rows.collect::<Vec<_>>())
    }

    fn sort(&self, folders: &FolderCatalog, documents: &mut [Document]) {
        match self.sort {
            SortOrder::Title => documents.sort_by_cached_key(|document| {
                let name =
                    if self.all { folders.path_of(document) } else { document.title.clone() };
                (name.to_lowercase(), document.id())
            }),
            SortOrder::Created => {
                documents.sort_by_key(|one| Reverse((one.created_at(), one.id())));
            }
            SortOrder::Modified => {
                documents.sort_by_key(|one| Reverse((one.modified_at(), one.id())));
            }
        }
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

fn request(all: bool, place: Option<FolderRef>) -> ListDocuments {
    let request = ListDocuments::new().with_metadata();
    match place {
        _ if all => request,
        Some(FolderRef::Folder(folder)) => request.within(folder),
        Some(FolderRef::BuiltIn(location)) => request.at(location),
        None => request.at(leafbase::BuiltInLocation::Unsorted),
    }
}

/// The JSON of `tree --json`: every folder and every document.
pub(crate) fn everything(context: &mut CommandContext, catalog: &Catalog) -> CliResult<()> {
    let documents: Vec<_> =
        catalog.documents.iter().map(|(_, document)| document.clone()).collect();
    context.out.json(&ListReply { folders: &catalog.folders.listed, documents: &documents })
}
