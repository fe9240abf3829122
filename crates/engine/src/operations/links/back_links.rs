//! The links to a block, a page or a document, in pages.

use std::collections::{BTreeMap, BTreeSet};

use leafbase_model::{
    BackLinks, BlockId, BlockLocation, Day, Error, ItemsPage, Location, Result, invariant,
};
use leafbase_store::{BackLink, EdgeEnd, EdgeKind, SpaceReader};
use leafbase_tree_ops::ReadTree;

use super::{Link, is_named_in};
use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::core::tree::Tree;
use crate::operations::lookups::DocumentNames;

/// How many edges are read at a time, at most.
const EDGES_PER_READ: usize = 256;
/// Targets whose first edges are read together.
const TARGETS_PER_READ: usize = 256;
/// Length of a block ID in a cursor.
const ID_LENGTH: usize = 26;

impl<A: AccessScope> Connection<A> {
    /// The links to a block, and to the blocks below it unless the request is for
    /// [`only_itself`](BackLinks::only_itself), from blocks outside of these targets. A link to the
    /// day of a daily note is one to the note, and so is a wiki link such as `[[Lisbon]]` to the
    /// document that has the name, if no other one that the connection sees has it.
    ///
    /// Links from documents in the trash are not listed, nor are web addresses, files and
    /// relations. A block that links to a target several times is listed once for it. A page of a
    /// scope is a document here as well. Sorted by target block and linking block, each by ID,
    /// which no edit changes: a page continues after the last link of the one before it, whether
    /// that link still exists or not.
    ///
    /// Reads the targets, on a scoped connection the names of the scope, and then the links of one
    /// page; targets without links are passed over. Links that are not listed between them, because
    /// they are in the trash or hidden, are looked up as well.
    ///
    /// ```
    /// use leafbase::BackLinks;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let lisbon = notes.create_document("Lisbon")?.id();
    /// let trip = notes.create_document("Trip")?.id();
    /// notes.insert_markdown(&format!("[a](block://{lisbon})\n\n[b](block://{lisbon})"), trip)?;
    /// let first = notes.back_links(BackLinks::to(lisbon).limit(1))?;
    /// assert_eq!((first.len(), first[0].document_id), (1, trip));
    /// let rest = notes.back_links(BackLinks::to(lisbon).after(first.next_cursor.unwrap()))?;
    /// assert_eq!((rest.len(), rest.next_cursor), (1, None));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `id`; [`crate::ErrorKind::Validation`] at `limit` for 0,
    /// and at `cursor` for a cursor of another target.
    pub fn back_links(&self, request: impl Into<BackLinks>) -> Result<ItemsPage<Link>> {
        let request = request.into();
        request.paging.check()?;
        self.operation("back_links").read(|tree| {
            let location = tree.locate(request.id)?.ok_or_else(|| Error::no_block().at("id"))?;
            let after = request.paging.cursor.as_deref();
            let after = after.map(|text| LinkPosition::read(request.id, text)).transpose()?;
            let targets = targets(tree, &request, location)?;
            let names = if location.document.root() == request.id {
                DocumentNames::new(tree).leading_to(location.document)?
            } else {
                Vec::new()
            };
            BackLinkReader { tree, request: &request, location, targets, names }.page(after)
        })
    }
}

/// The targets of a request: blocks, and the day of a daily note.
fn targets(
    tree: &Tree<'_>,
    request: &BackLinks,
    location: BlockLocation,
) -> Result<BTreeSet<EdgeEnd>> {
    let mut targets = BTreeSet::from([EdgeEnd::Block(request.id)]);
    if request.within {
        let texts = tree.reader_at(request.id)?.subtree_texts(request.id)?;
        targets.extend(texts.iter().map(|block| EdgeEnd::Block(block.id)));
    }
    if location.document.root() == request.id {
        let document = tree.document(location.document)?;
        targets.extend(document.and_then(|document| document.day).map(EdgeEnd::Day));
    }
    Ok(targets)
}

/// Where a page of back links ends: in the order of the list, whether the link exists or not.
#[derive(Clone, Copy)]
struct LinkPosition {
    target: EdgeEnd,
    source: BlockId,
}

impl LinkPosition {
    fn of(link: &Link) -> Result<Self> {
        let target = match (link.target_block_id, link.target_date) {
            (Some(block), _) => EdgeEnd::Block(block),
            (None, Some(day)) => EdgeEnd::Day(day),
            (None, None) => invariant!("a link has a target"),
        };
        Ok(Self { target, source: link.block_id })
    }

    fn write(self, id: BlockId) -> Result<String> {
        let Self { target, source } = self;
        match target {
            EdgeEnd::Block(block) => Ok(format!("l{id}{source}{block}")),
            EdgeEnd::Day(day) => Ok(format!("l{id}{source}{day}")),
            EdgeEnd::Asset(_) | EdgeEnd::Name(_) => invariant!("a target is a block or a day"),
        }
    }

    fn read(id: BlockId, text: &str) -> Result<Self> {
        let position = text.strip_prefix('l').and_then(|rest| rest.strip_prefix(&id.to_string()));
        let position = position.and_then(|rest| {
            let (source, target) = rest.split_at_checked(ID_LENGTH)?;
            let block = target.parse().ok().map(EdgeEnd::Block);
            let day = || target.parse::<Day>().ok().map(EdgeEnd::Day);
            Some(Self { target: block.or_else(day)?, source: source.parse().ok()? })
        });
        position.ok_or_else(|| Error::validation("the cursor is not of these links").at("cursor"))
    }
}

/// The targets that something refers to, asked for in ascending order.
struct LinkedTargets<'r> {
    reader: SpaceReader<'r>,
    /// The first block that something refers to from the one that was looked up last; `None` if
    /// there are no more.
    next: Option<BlockId>,
}

impl LinkedTargets<'_> {
    fn contains(&mut self, target: EdgeEnd) -> Result<bool> {
        let Some(block) = target.block() else { return Ok(true) };
        if self.next.is_some_and(|next| next < block) {
            self.next = self.reader.next_target(block)?;
        }
        Ok(self.next == Some(block))
    }
}

/// Reads one page of the back links of targets, which are all in one document.
struct BackLinkReader<'t, 'a> {
    tree: &'t Tree<'a>,
    request: &'t BackLinks,
    location: BlockLocation,
    targets: BTreeSet<EdgeEnd>,
    /// The names that lead to the document, if it is the target.
    names: Vec<String>,
}

/// A block that links to a target, perhaps by name alone.
#[derive(Clone, Copy)]
struct LinkSource {
    block: BlockId,
    is_by_name: bool,
}

impl BackLinkReader<'_, '_> {
    fn page(&self, after: Option<LinkPosition>) -> Result<ItemsPage<Link>> {
        let limit = self.request.paging.limit.unwrap_or(usize::MAX);
        let redactor = LinkRedactor::new(self.tree);
        let mut items = Vec::new();
        let first = after.map(|position| position.target);
        let ends = self.targets.iter().filter(|target| first.is_none_or(|at| **target >= at));
        let ends: Vec<_> = ends.copied().take(TARGETS_PER_READ).collect();
        if self.tree.is_unrestricted() {
            self.tree.full_reader()?.prefetch_edges(&ends);
        }
        let reader = self.tree.reader_at(self.request.id)?;
        let mut linked = LinkedTargets { reader, next: Some(BlockId::NIL) };
        for target in self.targets.iter().filter(|target| first.is_none_or(|at| **target >= at)) {
            if !self.is_named(*target) && !linked.contains(*target)? {
                continue;
            }
            let source = after.filter(|position| position.target == *target);
            let mut last =
                source.map(|position| BackLink { kind: EdgeKind::Link, source: position.source });
            loop {
                // One more than fits tells whether another page follows.
                let missing = (limit - items.len()).saturating_add(1).min(EDGES_PER_READ);
                let sources = self.sources(*target, last, missing)?;
                self.tree.prefetch(&sources.iter().map(|source| source.block).collect::<Vec<_>>());
                for source in &sources {
                    let Some(link) = self.link(&redactor, *source, *target)? else { continue };
                    if items.len() == limit {
                        let next_cursor = self.cursor_after(&items)?;
                        return Ok(ItemsPage { items, next_cursor });
                    }
                    items.push(link);
                }
                last = sources
                    .last()
                    .map(|source| BackLink { kind: EdgeKind::Link, source: source.block });
                if sources.len() < missing {
                    break;
                }
            }
        }
        Ok(ItemsPage { items, next_cursor: None })
    }

    /// Whether names lead to the target.
    fn is_named(&self, target: EdgeEnd) -> bool {
        target == EdgeEnd::Block(self.location.document.root())
    }

    /// At most `most` blocks after `last` that link to a target, by ID or by name, in order.
    fn sources(
        &self,
        target: EdgeEnd,
        last: Option<BackLink>,
        most: usize,
    ) -> Result<Vec<LinkSource>> {
        let named = self.names.iter().filter(|_| self.is_named(target));
        let named = named.map(|name| EdgeEnd::name(name));
        // Whether each is a source by name alone. The first `most` of all are among the first of
        // each end.
        let mut sources: BTreeMap<BlockId, bool> = BTreeMap::new();
        for end in [target].into_iter().chain(named) {
            let edges = self.tree.reader_at(self.request.id)?.edges_to(end, last, most)?;
            for edge in edges.iter().take_while(|edge| edge.kind == EdgeKind::Link) {
                sources.entry(edge.source).or_insert(end != target);
            }
        }
        let sources = sources.into_iter().take(most);
        Ok(sources.map(|(block, is_by_name)| LinkSource { block, is_by_name }).collect())
    }

    fn cursor_after(&self, items: &[Link]) -> Result<Option<String>> {
        let Some(last) = items.last() else { invariant!("a page that is full has links") };
        LinkPosition::of(last)?.write(self.request.id).map(Some)
    }

    /// The link from a block; None if it is not listed.
    fn link(
        &self,
        redactor: &LinkRedactor<'_, '_>,
        LinkSource { block: source, is_by_name }: LinkSource,
        target: EdgeEnd,
    ) -> Result<Option<Link>> {
        if self.targets.contains(&EdgeEnd::Block(source)) {
            return Ok(None);
        }
        // A hidden block is not found here.
        let Some(BlockLocation { document, .. }) = self.tree.locate(source)? else {
            return Ok(None);
        };
        if self.tree.document(document)?.is_none_or(|it| it.location == Location::Trash) {
            return Ok(None);
        }
        let Some(block) = self.tree.block(source)? else { return Ok(None) };
        // Another name may have the same hash.
        if is_by_name && !is_named_in(&block, &self.names) {
            return Ok(None);
        }
        let (target_block_id, target_date) = match target {
            EdgeEnd::Block(block) => (Some(block), None),
            EdgeEnd::Day(day) => (None, Some(day)),
            EdgeEnd::Asset(_) | EdgeEnd::Name(_) => invariant!("a target is a block or a day"),
        };
        Ok(Some(Link {
            document_id: document,
            block_id: source,
            markdown: redactor.redacted(&block.data)?.inline.clone(),
            target_document_id: Some(self.location.document),
            target_block_id,
            target_date,
        }))
    }
}
