//! `leafbase ls`: folders and documents.

use std::cmp::Reverse;

use clap::{Args, ValueEnum};
use leafbase::{Document, Folder, FolderRef, ListDocuments};

use crate::app::App;
use crate::catalog::{Catalog, Folders};
use crate::fault::Result;
use crate::names;
use crate::show::styles;
use crate::show::table::{self, Cell};

/// List folders and documents
#[derive(Debug, Args)]
pub(crate) struct List {
    /// A folder, or unsorted, daily_notes, templates, trash; without one the top, with the unsorted
    /// documents
    folder: Option<String>,
    /// Every document of the space, by its path
    #[arg(short, long, conflicts_with = "folder")]
    all: bool,
    /// With IDs and days of the last change
    #[arg(short, long)]
    long: bool,
    /// In which order
    #[arg(long, value_name = "BY", default_value = "title")]
    sort: Order,
    /// At most so many documents
    #[arg(long, value_name = "DOCUMENTS")]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    /// By title, or path
    Title,
    /// The newest first
    Created,
    /// The last changed first
    Modified,
}

#[derive(serde::Serialize)]
struct Listing<'a> {
    folders: &'a [Folder],
    documents: &'a [Document],
}

impl List {
    pub(crate) fn run(self, app: &mut App) -> Result<()> {
        let notes = app.reader()?;
        let folders = Folders::read(&notes)?;
        let place = self.folder.as_deref().map(|name| names::folder(&folders, name)).transpose()?;
        let mut documents = notes.list_documents(request(self.all, place))?.items;
        self.sort(&folders, &mut documents);
        documents.truncate(self.limit.unwrap_or(usize::MAX));
        let shown = if self.all { &[] } else { folders.within(place) };
        if app.common.json {
            return app.out.json(&Listing { folders: shown, documents: &documents });
        }
        let rows = shown.iter().map(|folder| self.folder_row(folder));
        let name = |document: &Document| {
            if self.all { folders.path_of(document) } else { document.title.clone() }
        };
        let rows = rows
            .chain(documents.iter().map(|document| self.document_row(document, &name(document))));
        table::write(&mut app.out, &rows.collect::<Vec<_>>())
    }

    fn sort(&self, folders: &Folders, documents: &mut [Document]) {
        match self.sort {
            Order::Title => documents.sort_by_cached_key(|document| {
                let name =
                    if self.all { folders.path_of(document) } else { document.title.clone() };
                (name.to_lowercase(), document.id())
            }),
            Order::Created => documents.sort_by_key(|one| Reverse((one.created_at(), one.id()))),
            Order::Modified => documents.sort_by_key(|one| Reverse((one.modified_at(), one.id()))),
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

/// What `tree --json` gives, too.
pub(crate) fn everything(app: &mut App, catalog: &Catalog) -> Result<()> {
    let documents: Vec<_> =
        catalog.documents.iter().map(|(_, document)| document.clone()).collect();
    app.out.json(&Listing { folders: &catalog.folders.listed, documents: &documents })
}
