//! Lookups: where blocks are, and documents by title or path.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use leafbase_model::{
    BlockId, Day, Document, DocumentId, Error, FindDocuments, FolderId, Items, ListScopedDocuments,
    Location, ResolveBlocks, ResolvedBlock, Result, ScopedDocument, invariant,
};
use leafbase_store::{BackLink, EdgeEnd, EdgeKind, SpaceReader, StoredDocument};
use leafbase_tree_ops::ReadTree;

use crate::core::access::{AccessScope, FullAccess, Scoped};
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::core::scope_roots::ScopeRoots;
use crate::core::tree::Tree;
use crate::operations::documents::properties::properties_of;
use crate::operations::documents::scoped::shown;
use crate::operations::documents::titles::titled;
use crate::operations::search::{VisibleTexts, path_to};

/// Aliases that are read at a time.
const ALIASES_PER_READ: usize = 64;
/// Where the edges of aliases to a name begin.
const FIRST_ALIAS: BackLink = BackLink { kind: EdgeKind::Alias, source: BlockId::NIL };

/// Documents of one title up to which each is checked for its path; of more, the folders of the
/// path are found first.
const FEW_TITLED: usize = 32;

/// Receives documents one by one, until it breaks.
type VisitRow<'f> = &'f mut dyn FnMut(StoredDocument) -> ControlFlow<()>;

impl<A: AccessScope> Connection<A> {
    /// Tells where blocks are: their document, its day if it is a daily note, and the pages that
    /// contain them. In the order of the request. The cost grows with the depth of the blocks.
    ///
    /// ```
    /// use leafbase::ResolveBlocks;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let trip = notes.create_document("Trip")?.id();
    /// let line = notes.insert_markdown("passport", trip)?[0].id;
    /// let found = notes.resolve(ResolveBlocks::from(line))?;
    /// assert_eq!((found[0].document_id, found[0].path[0].content.as_str()), (trip, "Trip"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `blockIds[n]`; [`crate::ErrorKind::LimitExceeded`] for
    /// more than [`crate::Limits::blocks_per_request`].
    pub fn resolve(&self, request: impl Into<ResolveBlocks>) -> Result<Items<ResolvedBlock>> {
        let ResolveBlocks { block_ids, .. } = request.into();
        self.check_ids("blockIds", Some(&block_ids))?;
        self.operation("resolve").read(|tree| {
            let texts = VisibleTexts::new(tree);
            if tree.is_unrestricted() {
                tree.full_reader()?.prefetch_with_roots(&block_ids);
            }
            let resolved = block_ids.iter().enumerate().map(|(index, block)| {
                resolved(tree, &texts, *block)
                    .map_err(|error| error.at(format_args!("blockIds[{index}]")))
            });
            resolved.collect::<Result<_>>().map(Items)
        })
    }
}

fn resolved(
    tree: &Tree<'_>,
    texts: &VisibleTexts<'_, '_>,
    block: BlockId,
) -> Result<ResolvedBlock> {
    let document_id = tree.locate(block)?.ok_or_else(Error::no_block)?.document;
    let document = tree.document(document_id)?.ok_or_else(Error::no_block)?;
    let path = path_to(texts, block)?;
    Ok(ResolvedBlock { block_id: block, document_id, day: document.day, path })
}

impl<A: FullAccess> Connection<A> {
    /// The documents with this title, and those with this path: the names of the folders from the
    /// top and the title, separated by `/`. Without any outside of the trash, the daily note of a
    /// day such as `2026-03-01`, or the documents with this alias in their front matter. Case does
    /// not matter. Ordered by ID, those in the trash last and marked; with their times and links.
    /// The cost grows with the documents of this name, not with the space. For a path whose title
    /// many documents have, the folders are read once, until one changes.
    ///
    /// ```
    /// use leafbase::{BlockData, BlockDraft, FindDocuments};
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let travel = notes.create_folder("Travel", None)?.id;
    /// notes.create_document_of(BlockDraft::new(BlockData::page("Lisbon")), travel)?;
    /// assert_eq!(notes.find_documents(FindDocuments::named("lisbon"))?.len(), 1);
    /// assert_eq!(notes.find_documents(FindDocuments::named("Travel/Lisbon"))?.len(), 1);
    /// assert!(notes.find_documents(FindDocuments::named("Home/Lisbon"))?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the store reports.
    pub fn find_documents(&self, request: FindDocuments) -> Result<Items<Document>> {
        let FindDocuments { name, .. } = request;
        self.operation("find_documents").read(|tree| {
            let reader = tree.full_reader()?;
            let mut found = Vec::new();
            visit_named(reader, &name, &mut |row| {
                found.push(row);
                ControlFlow::Continue(())
            })?;
            if found.iter().all(|row| row.record.location == Location::Trash) {
                for id in other_names(tree, &name, usize::MAX)? {
                    found.extend(reader.stored_document(id)?);
                }
            }
            found.sort_by_key(|row| (row.record.location == Location::Trash, row.record.id));
            Ok(Items(found.into_iter().map(|row| self.linked(titled(row, true))).collect()))
        })
    }
}

/// Passes the documents whose title or path is `name` to `visit`, until it breaks.
fn visit_named(reader: SpaceReader<'_>, name: &str, visit: VisitRow<'_>) -> Result<()> {
    let mut flow = ControlFlow::Continue(());
    reader.visit_titled(name, &mut |row| {
        flow = visit(row);
        Ok(flow)
    })?;
    if flow.is_break() {
        return Ok(());
    }
    // A title may contain a `/`, too: each one may be where the folders end.
    for (at, _) in name.match_indices('/') {
        let (folders, title) = (&name[..at], &name[at + 1..]);
        if visit_at_path(reader, folders, title, visit)?.is_break() {
            return Ok(());
        }
    }
    Ok(())
}

/// Passes the documents with this title in folders with this path to `visit`.
fn visit_at_path(
    reader: SpaceReader<'_>,
    path: &str,
    title: &str,
    visit: VisitRow<'_>,
) -> Result<ControlFlow<()>> {
    let mut titled = Vec::new();
    reader.visit_titled(title, &mut |row| {
        titled.push(row);
        let are_many = titled.len() > FEW_TITLED;
        Ok(if are_many { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    if titled.len() <= FEW_TITLED {
        for row in titled {
            if is_path(reader, row.record.location, path)? && visit(row).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        return Ok(ControlFlow::Continue(()));
    }
    let (mut flow, lower) = (ControlFlow::Continue(()), path.to_lowercase());
    for folder in reader.folders_by_name()?.iter() {
        let location = Location::Folder(folder.id);
        if flow.is_continue()
            && lower.ends_with(&folder.name.to_lowercase())
            && is_path(reader, location, path)?
        {
            reader.visit_titled_at(title, location, &mut |row| {
                flow = visit(row);
                Ok(flow)
            })?;
        }
    }
    Ok(flow)
}
/// Whether the names of the folders to `location`, from the top, are `path`.
fn is_path(reader: SpaceReader<'_>, location: Location, path: &str) -> Result<bool> {
    let (mut left, mut folder) = (
        path.to_lowercase(),
        match location {
            Location::Folder(folder) => Some(folder),
            _ => return Ok(false),
        },
    );
    while let Some(id) = folder {
        let record = reader.folder(id)?.ok_or_else(|| {
            Error::corrupted(format_args!("folder {id} is missing, but a document is in it"))
        })?;
        // From the innermost folder outwards: a name may contain a slash, so that the path cannot
        // be split at each.
        let Some(above) = left.strip_suffix(&record.name.to_lowercase()) else { return Ok(false) };
        folder = record.parent;
        left = match (folder, above.strip_suffix('/')) {
            (None, _) => above.to_owned(),
            (Some(_), Some(above)) => above.to_owned(),
            (Some(_), None) => return Ok(false),
        };
    }
    Ok(left.is_empty())
}

/// The documents of the whole space that have a name as their day or alias, outside of the trash;
/// at most `most`.
fn other_names(tree: &Tree<'_>, name: &str, most: usize) -> Result<Vec<DocumentId>> {
    let day = name.parse::<Day>().ok();
    if let Some(note) = day.map(|day| tree.daily_note(day)).transpose()?.flatten() {
        return Ok(vec![note.id]);
    }
    let (reader, lower) = (tree.full_reader()?, name.to_lowercase());
    let (mut found, mut after) = (BTreeSet::new(), FIRST_ALIAS);
    loop {
        let page = reader.edges_to(EdgeEnd::name(name), Some(after), ALIASES_PER_READ)?;
        for edge in &page {
            let Some(document) = tree.locate(edge.source)?.map(|at| at.document) else { continue };
            let is_live =
                tree.document(document)?.is_some_and(|record| record.location != Location::Trash);
            // Another name may have the same hash, and front matter is the first block alone.
            if is_live && has_alias(tree, document, &lower)? {
                found.insert(document);
            }
            if found.len() >= most {
                return Ok(found.into_iter().collect());
            }
        }
        match page.last().filter(|_| page.len() == ALIASES_PER_READ) {
            Some(last) => after = *last,
            None => return Ok(found.into_iter().collect()),
        }
    }
}

fn has_alias(tree: &Tree<'_>, document: DocumentId, lower: &str) -> Result<bool> {
    let aliases = properties_of(tree, document)?.aliases;
    Ok(aliases.iter().any(|alias| alias.to_lowercase() == lower))
}

/// The visible documents outside of the trash by name: title or path, otherwise day, otherwise
/// alias.
pub(crate) struct DocumentNames<'t, 'a> {
    tree: &'t Tree<'a>,
    /// The lowercase names of a scope, as replies show them. Read with the first name.
    of_scope: Option<ScopeNames>,
    /// The documents of lowercase names that one alone has, as far as they were looked up.
    sole: BTreeMap<String, Option<DocumentId>>,
}

/// The lowercase names of the documents of a scope.
#[derive(Default)]
struct ScopeNames {
    titles: Vec<(String, DocumentId)>,
    days: Vec<(String, DocumentId)>,
    aliases: Vec<(String, DocumentId)>,
}

impl ScopeNames {
    fn find(&self, lower: &str) -> Vec<DocumentId> {
        let named = |names: &Vec<(String, DocumentId)>| -> Vec<DocumentId> {
            names.iter().filter(|(name, _)| name == lower).map(|(_, id)| *id).collect()
        };
        let (titled, of_day) = (named(&self.titles), named(&self.days));
        match (titled.is_empty(), of_day.is_empty()) {
            (false, _) => titled,
            (true, false) => of_day,
            (true, true) => named(&self.aliases),
        }
    }
}

impl<'t, 'a> DocumentNames<'t, 'a> {
    pub(crate) const fn new(tree: &'t Tree<'a>) -> Self {
        Self { tree, of_scope: None, sole: BTreeMap::new() }
    }

    /// The documents with this title, and on a full connection those with this path; without any
    /// the note of this day, or the documents with this alias. By ID.
    pub(crate) fn find(&mut self, name: &str) -> Result<Vec<DocumentId>> {
        self.find_most(name, usize::MAX)
    }

    /// The document that has the name, unless others have it, too. Of these, one is read.
    pub(crate) fn sole(&mut self, name: &str) -> Result<Option<DocumentId>> {
        let lower = name.to_lowercase();
        if let Some(known) = self.sole.get(&lower) {
            return Ok(*known);
        }
        let sole = match self.find_most(name, 2)?.as_slice() {
            [only] => Some(*only),
            _ => None,
        };
        self.sole.insert(lower, sole);
        Ok(sole)
    }

    /// [`Self::find`], at most `most` of a full connection.
    fn find_most(&mut self, name: &str, most: usize) -> Result<Vec<DocumentId>> {
        if !self.tree.is_unrestricted() {
            let mut found = self.of_scope()?.find(&name.to_lowercase());
            found.sort_unstable();
            found.dedup();
            return Ok(found);
        }
        let mut found = BTreeSet::new();
        visit_named(self.tree.full_reader()?, name, &mut |row| {
            if row.record.location != Location::Trash {
                found.insert(row.record.id);
            }
            if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        if found.is_empty() {
            return other_names(self.tree, name, most);
        }
        Ok(found.into_iter().collect())
    }

    /// The names that lead to a document and to no other, in lowercase. None in the trash.
    pub(crate) fn leading_to(&mut self, document: DocumentId) -> Result<Vec<String>> {
        let Some(row) = self.tree.stored_document(document)? else { return Ok(Vec::new()) };
        let (day, location) = (row.record.day, row.record.location);
        let title = shown(&LinkRedactor::new(self.tree), row, false)?.title;
        let mut names = properties_of(self.tree, document)?.aliases;
        names.extend(day.map(|day| day.to_string()));
        if let (true, Location::Folder(folder)) = (self.tree.is_unrestricted(), location) {
            names.push(path_of(self.tree.full_reader()?, folder, &title)?);
        }
        names.push(title);
        let mut leading = BTreeSet::new();
        for name in names {
            if self.sole(&name)? == Some(document) {
                leading.insert(name.to_lowercase());
            }
        }
        Ok(leading.into_iter().collect())
    }

    fn of_scope(&mut self) -> Result<&ScopeNames> {
        if self.of_scope.is_none() {
            let (links, mut names) = (LinkRedactor::new(self.tree), ScopeNames::default());
            let roots = self.tree.visibility().roots();
            for id in roots.map(ScopeRoots::ids).into_iter().flatten() {
                let Some(row) = self.tree.stored_document(id)? else { continue };
                let aliases = properties_of(self.tree, id)?.aliases.into_iter();
                names.aliases.extend(aliases.map(|alias| (alias.to_lowercase(), id)));
                names.days.extend(row.record.day.map(|day| (day.to_string(), id)));
                names.titles.push((shown(&links, row, false)?.title.to_lowercase(), id));
            }
            self.of_scope = Some(names);
        }
        let Some(names) = &self.of_scope else { invariant!("the names of the scope were read") };
        Ok(names)
    }
}

/// The names of the folders from the top and a title.
fn path_of(reader: SpaceReader<'_>, folder: FolderId, title: &str) -> Result<String> {
    let (mut names, mut at) = (vec![title.to_owned()], Some(folder));
    while let Some(record) = at.map(|id| reader.folder(id)).transpose()?.flatten() {
        names.push(record.name);
        at = record.parent;
    }
    names.reverse();
    Ok(names.join("/"))
}

impl Connection<Scoped> {
    /// The documents of the scope with this title, as replies show it; without any the daily note
    /// of this day, or the documents with this alias. Without regard to case. Ordered by ID, with
    /// their times. The cost grows with the scope.
    ///
    /// ```
    /// use leafbase::FindDocuments;
    /// # fn main() -> leafbase::Result<()> {
    /// let space = leafbase::Space::in_memory()?;
    /// let trip = space.connect().create_document("Trip")?;
    /// let guest = space.scoped([trip.id()]);
    /// assert_eq!(guest.find_documents(FindDocuments::named("trip"))?[0].id, trip.id());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the store reports.
    pub fn find_documents(&self, request: FindDocuments) -> Result<Items<ScopedDocument>> {
        let Items(mut documents) =
            self.list_documents(ListScopedDocuments::new().with_metadata())?;
        let FindDocuments { name, .. } = request;
        let named =
            self.operation("find_documents").read(|tree| DocumentNames::new(tree).find(&name))?;
        documents.retain(|document| !document.is_deleted && named.contains(&document.id));
        Ok(Items(documents))
    }
}
