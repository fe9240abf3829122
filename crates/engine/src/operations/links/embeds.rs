//! Embeds: blocks that show another block in their place, resolved to any depth.

use std::collections::{BTreeMap, BTreeSet};

use leafbase_markdown::{self as markdown, LinkTarget};
use leafbase_model::{
    Block, BlockId, BlockKind, DocumentId, EmbedGraph, Error, Fetch, Limits, Location,
    ResolveEmbeds, ResolvedEmbed, Result,
};
use leafbase_tree_ops::ReadTree;

use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::tree::Tree;
use crate::operations::blocks::fetched;
use crate::operations::lookups::DocumentNames;

impl<A: AccessScope> Connection<A> {
    /// The embeds of a block, a page or a document, with the blocks that they show, and the embeds
    /// in those. An embed is a text that is nothing but `![[Title]]` or `![label](block://ID)`, or
    /// an image, file or rich link whose URL is `block://ID`. A title is resolved as
    /// [`find_documents`](Connection::find_documents) does, outside of the trash; headings of a
    /// document are not looked for.
    ///
    /// The reply is a graph: each target is in it once, however often it is shown. An embed whose
    /// target cannot be shown in its place without end names the cycle; without these the graph has
    /// none. An embed whose target is not among [`EmbedGraph::targets`] is unresolved, deeper than
    /// the request asks for, or shows the requested block.
    ///
    /// Reads the block and each target once. On a scoped connection the first title costs a look at
    /// each document of the scope.
    ///
    /// ```
    /// use leafbase::ResolveEmbeds;
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = leafbase::Space::in_memory()?.connect();
    /// let [trip, lisbon] = [notes.create_document("Trip")?, notes.create_document("Lisbon")?];
    /// notes.insert_markdown("![[Lisbon]]", trip.id())?;
    /// notes.insert_markdown("Alfama\n\n![[Trip]]\n\n![[Porto]]", lisbon.id())?;
    ///
    /// let graph = notes.resolve_embeds(trip.id())?;
    /// assert_eq!(graph.targets[0].children()[0].data.inline, "Alfama");
    /// let [shown, cycle, missing] = graph.embeds.as_slice() else { panic!("{graph:?}") };
    /// assert_eq!(shown.target_id, Some(lisbon.id().root()));
    /// assert_eq!(cycle.cycle, [trip.id().root(), lisbon.id().root()]);
    /// assert_eq!((missing.name.as_str(), missing.target_id), ("Porto", None));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `id`; [`crate::ErrorKind::LimitExceeded`] at `id` for more
    /// blocks in the requested block and all targets than [`Limits::blocks_per_fetch`].
    pub fn resolve_embeds(&self, request: impl Into<ResolveEmbeds>) -> Result<EmbedGraph> {
        let request = request.into();
        self.operation("resolve_embeds").read(|tree| {
            if !tree.can_see(request.id)? {
                return Err(Error::no_block().at("id"));
            }
            let names = DocumentNames::new(tree);
            EmbedReader { tree, names, limits: self.limits() }.graph(&request)
        })
    }
}

/// What an embed shows.
enum EmbedName {
    Title(String),
    /// A block, unless it is hidden.
    Address(String, Option<BlockId>),
}

struct EmbedReader<'t, 'a> {
    tree: &'t Tree<'a>,
    names: DocumentNames<'t, 'a>,
    limits: &'t Limits,
}

impl EmbedReader<'_, '_> {
    /// Reads the targets level by level, so that each is read at its least depth.
    fn graph(mut self, request: &ResolveEmbeds) -> Result<EmbedGraph> {
        let mut graph = EmbedGraph::default();
        let mut known = BTreeSet::from([request.id]);
        let (mut level, mut depth, mut count) = (vec![request.id], 0, 0);
        while !level.is_empty() {
            let is_last = request.max_depth.is_some_and(|most| depth >= most);
            for root in std::mem::take(&mut level) {
                let block = fetched(self.tree, root, &Fetch::new(root), self.limits)?;
                count += block.walk().count();
                let most = self.limits.blocks_per_fetch;
                if count > most {
                    let limit = "blocks with their embeds (a maxDepth asks for fewer)";
                    return Err(Error::limit(limit, most, count).at("id"));
                }
                for (_, inner) in block.walk() {
                    let Some(name) = embed_name(inner) else { continue };
                    let embed = self.resolved(root, inner.id, name)?;
                    let target = embed.target_id.filter(|_| !is_last);
                    level.extend(target.filter(|target| known.insert(*target)));
                    graph.embeds.push(embed);
                }
                if root != request.id {
                    graph.targets.push(block);
                }
            }
            depth += 1;
        }
        mark_cycles(request.id, &mut graph.embeds);
        Ok(graph)
    }

    fn resolved(
        &mut self,
        root: BlockId,
        block: BlockId,
        name: EmbedName,
    ) -> Result<ResolvedEmbed> {
        match name {
            EmbedName::Title(title) => {
                let found = self.names.find(&title)?;
                let mut embed = ResolvedEmbed::new(root, block, title);
                match found.as_slice() {
                    [document] => embed.target_id = Some(document.root()),
                    _ => embed.candidates = found,
                }
                Ok(embed)
            }
            EmbedName::Address(address, target) => {
                let mut embed = ResolvedEmbed::new(root, block, address);
                if let Some(target) = target
                    && let Some(located) = self.tree.locate(target)?
                    && self.is_live(located.document)?
                {
                    embed.target_id = Some(target);
                }
                Ok(embed)
            }
        }
    }

    fn is_live(&self, document: DocumentId) -> Result<bool> {
        let record = self.tree.document(document)?;
        Ok(record.is_some_and(|record| record.location != Location::Trash))
    }
}

/// What `block` embeds; None if it is not an embed.
fn embed_name(block: &Block) -> Option<EmbedName> {
    if let Some((_, url)) = block.data.url() {
        return address(url);
    }
    let BlockKind::Text { .. } = block.data.kind else { return None };
    let text = block.data.inline.trim();
    let inner = text.strip_prefix('!')?;
    if let Some(title) = inner.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]")) {
        // The part after a bar is another text to show, or a size.
        let title = title.split('|').next()?.trim();
        let is_title = !title.is_empty() && !title.contains(['[', ']', '\n']);
        return is_title.then(|| EmbedName::Title(title.to_owned()));
    }
    let (label, url) = inner.strip_prefix('[')?.strip_suffix(')')?.split_once("](")?;
    let url = url.strip_prefix('<').and_then(|url| url.strip_suffix('>')).unwrap_or(url);
    // Brackets, parentheses and blanks are of a longer text, or of a link with a title.
    let is_whole = !label.contains(['[', ']'])
        && !url.contains(|letter: char| letter.is_whitespace() || "()<>".contains(letter));
    is_whole.then(|| address(url)).flatten()
}

/// A block by its address, or the placeholder of one that is hidden.
fn address(url: &str) -> Option<EmbedName> {
    if let LinkTarget::Block(block) = LinkTarget::of(url) {
        return Some(EmbedName::Address(url.to_owned(), Some(block)));
    }
    let mut is_hidden = false;
    markdown::placeholder_numbers(url, &mut |_| is_hidden = true);
    is_hidden.then(|| EmbedName::Address(url.to_owned(), None))
}

/// Names the cycle at each embed that leads back to a root on the way to it: a depth-first search
/// with an explicit stack, because chains of embeds are as long as a user makes them.
fn mark_cycles(start: BlockId, embeds: &mut [ResolvedEmbed]) {
    let mut edges: BTreeMap<BlockId, Vec<(usize, BlockId)>> = BTreeMap::new();
    for (index, embed) in embeds.iter().enumerate() {
        if let Some(target) = embed.target_id {
            edges.entry(embed.root_id).or_default().push((index, target));
        }
    }
    // The roots that were entered, each with its position on the way while it is on it.
    let mut entered = BTreeMap::from([(start, Some(0))]);
    // The roots on the way, each with the number of its next edge.
    let mut path = vec![(start, 0)];
    while let Some((root, next)) = path.last_mut() {
        let edge = edges.get(root).and_then(|edges| edges.get(*next)).copied();
        *next += 1;
        let Some((index, target)) = edge else {
            entered.insert(*root, None);
            path.pop();
            continue;
        };
        match entered.get(&target) {
            None => {
                entered.insert(target, Some(path.len()));
                path.push((target, 0));
            }
            Some(Some(at)) => {
                if let Some(embed) = embeds.get_mut(index) {
                    let roots = path.iter().skip(*at).take(Limits::CYCLE_ROOTS);
                    embed.cycle = roots.map(|(root, _)| *root).collect();
                }
            }
            Some(None) => {}
        }
    }
}
