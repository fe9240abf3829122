//! Queries over items: filter, order, paging and counts.

mod cursor;
mod prefilter;
mod relations;
mod rows;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use leafbase_collections::{
    Groups, ItemQuery, OrderKey, PushResult, QueryPageBuilder, QueryPlan, ValueReader, plan,
};
use leafbase_model::{
    BlockId, CountItems, Day, Error, GroupValue, Item, ItemCounts, ItemFilter, ItemGroup,
    ItemsPage, QueryItems, Result, Schema, Sort,
};
use leafbase_store::ItemRow;
use leafbase_tree_ops::ReadTree;

use self::prefilter::IndexPrefilter;
use self::relations::RelationColumns;
use self::rows::CollectionRows;
use super::items::item_page;
use super::presenter::PlainItem;
use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::core::tree::Tree;
use crate::support::days;

/// Items cached beyond the page before displaced ones are evicted.
const SPARE: usize = 64;

impl<A: AccessScope> Connection<A> {
    /// Returns the items of a collection that satisfy a filter, in the requested order, up to the
    /// limit. Without a filter these are all items; without an order they come by ID.
    ///
    /// ```
    /// use leafbase::{
    ///     AddItems, CreateCollection, ItemFilter, ItemDraft, Operator, Position, PropertyDraft,
    ///     PropertyKind, QueryItems, SchemaDraft, Sort, Space,
    /// };
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let home = notes.create_document("Home")?;
    /// let columns = [
    ///     PropertyDraft::new("Due", PropertyKind::Date),
    ///     PropertyDraft::new("Done", PropertyKind::Boolean),
    /// ];
    /// let chores = SchemaDraft::new("Chores", columns);
    /// let chores = notes
    ///     .create_collection(CreateCollection::new(chores, Position::end_of(home.id())))?.id;
    /// notes.add_items(AddItems::new(chores, [
    ///     ItemDraft::new("Sweep").with("due", "2026-03-02"),
    ///     ItemDraft::new("Dust").with("due", "2026-03-01"),
    ///     ItemDraft::new("Mop").with("due", "2026-03-01").with("done", true),
    /// ]))?;
    ///
    /// let open = ItemFilter::on("done", Operator::NotEquals, true);
    /// let due = ItemFilter::on("due", Operator::OnOrBefore, "2026-03-31").and(open);
    /// let request = QueryItems::of(chores).filtered(due).sorted(Sort::ascending("due")).depth(0)
    ///     .limit(1);
    /// let page = notes.query_items(request.clone())?;
    /// assert_eq!(page[0].title, "Dust");
    /// let rest = notes.query_items(request.after(page.next_cursor.unwrap_or_default()))?;
    /// assert_eq!((rest[0].title.as_str(), rest.next_cursor.as_deref()), ("Sweep", None));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Conditions
    ///
    /// | type | operators | compared |
    /// |---|---|---|
    /// | `text`, `url`, `email`, `phone`, the title | `equals`, `notEquals`, `contains`, `startsWith`, `anyOf` | case does not count, nor how accents were typed; accents do |
    /// | `number` | `equals`, `notEquals`, `greaterThan`, `greaterThanOrEqual`, `lessThan`, `lessThanOrEqual`, `anyOf` | by value |
    /// | `date` | `equals`, `notEquals`, `before`, `after`, `onOrBefore`, `onOrAfter`, `anyOf` | by day; `today`, `tomorrow` and `yesterday` are those of the space's zone |
    /// | `boolean` | `equals`, `notEquals` | what is not set is neither |
    /// | `singleSelect` | `equals`, `notEquals`, `anyOf` | exactly; options that the schema has |
    /// | `multiSelect`, `relation` | `equals`, `notEquals` (just these, in any order), `contains` (one), `anyOf`, `allOf` | exactly; relations by the IDs of items, at whichever end, and an ID of no item is related to nothing |
    /// | all | `isEmpty`, `isNotEmpty` | an empty text, no option and no relation are as no value |
    ///
    /// `notEquals` is the negation of `equals`, so items without a value satisfy it. Every other
    /// condition requires a value, or asks for its absence: an empty text, an empty set.
    ///
    /// # Order
    ///
    /// By the first property, ties by the next, finally by ID in the direction of the first
    /// property. Items without a value come last in either direction. Texts are sorted by their
    /// first 256 bytes in the form in which they are compared, options by their rank in the schema,
    /// false before true. Multiple selects and relations have no order.
    ///
    /// # Cost
    ///
    /// The title and every property except relations have an index; relations are found through
    /// back links. An index serves
    ///
    /// - an order by the title or by a property with an index: a page reads items until it is full,
    ///   and no others, on the last page as on the first. With several properties it also reads the
    ///   ties of the last item in the first property;
    /// - conditions that every result satisfies, top-level or nested in `and` alone: `equals`,
    ///   `anyOf`, `startsWith` and comparisons of numbers and days; for a multiple select
    ///   `contains`, `equals`, `allOf` and `anyOf` of one option; for a relation `contains`,
    ///   `equals`, `allOf` and `anyOf`. All matches are read, but without an order those of one
    ///   value (`equals`, or `contains` of a multiple select) only until the page is full.
    ///
    /// If several indexes could serve, the planner takes the one that is estimated to read the
    /// fewest items. All items of the collection are read for `contains` of texts, `notEquals`,
    /// `isEmpty`, `isNotEmpty` and conditions below `or` and `not`, if no index serves another part
    /// of the request; for a request without order and filter ([`Self::items`] reads one page of
    /// the collection instead); for items without a value once a sorted scan reaches them; and
    /// where an index would lead to a quarter of the collection or more. Caches the items of
    /// the page, and the other end of a relation that is tested and stored there.
    ///
    /// On a scoped connection texts are compared as they are returned, so that no condition reveals
    /// the target of a redacted link, and no condition names an option that has one. An order by
    /// texts then reads every item of the collection.
    ///
    /// # Pages
    ///
    /// A cursor is a position in the order, not an item: the next page contains what follows that
    /// position in the snapshot of the call, even if the item is gone. An item whose values move it
    /// across the position between two pages may occur twice or not at all; every other item occurs
    /// exactly once. `today` is evaluated per call. A cursor is bound to its collection, filter and
    /// order, and to the types of the properties in the order. If options were reordered, it
    /// continues in the new order.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `collectionId`; [`crate::ErrorKind::SchemaMismatch`] below
    /// `filter` and `sort[n]` for an unknown property, an operator that its type does not support,
    /// and an invalid operand; [`crate::ErrorKind::Validation`] at `limit` for 0, and at `cursor`
    /// for a cursor of another query; [`crate::ErrorKind::LimitExceeded`] for more than
    /// [`crate::Limits::QUERY_CONDITIONS`], a filter nested deeper than
    /// [`crate::Limits::FILTER_DEPTH`], and a reply of more than
    /// [`crate::Limits::blocks_per_fetch`] items and descendants of their pages.
    pub fn query_items(&self, request: QueryItems) -> Result<ItemsPage<Item>> {
        let QueryItems { collection_id, filter, sort, max_depth, paging, .. } = request;
        paging.check()?;
        self.operation("query_items").read(|tree| {
            let reader = tree.reader_at(collection_id).map_err(|error| error.at("collectionId"))?;
            let rows = CollectionRows::of(tree, &reader, collection_id)?;
            let query = self.query(&rows, filter.as_ref(), &sort)?;
            // The cursor is checked before any row is read.
            let fingerprint =
                cursor::fingerprint(collection_id, filter.as_ref(), &sort, &rows.schema)?;
            let after = paging
                .cursor
                .as_deref()
                .map(|text| cursor::read(&fingerprint, text))
                .transpose()?;
            let (found, next) = find(&rows, &query, paging.limit, after)?;
            let items = item_page::show(
                tree,
                (collection_id, &rows.schema),
                found,
                max_depth,
                self.limits(),
            )?;
            Ok(ItemsPage {
                items,
                next_cursor: next.map(|place| cursor::write(&fingerprint, &place)),
            })
        })
    }

    /// Counts the items that satisfy a filter, and groups them by the values of a property. Filters
    /// are documented at [`Self::query_items`].
    ///
    /// An item with several options or related items counts in each of their groups. Items without
    /// a value form the last group. Groups are in order of their values: options by rank, texts in
    /// sort order, related items by ID.
    ///
    /// ```
    /// use leafbase::{
    ///     AddItems, CountItems, CreateCollection, ItemDraft, Position, PropertyDraft,
    ///     PropertyKind, SchemaDraft, Space,
    /// };
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let home = notes.create_document("Home")?;
    /// let chores =
    ///     SchemaDraft::new("Chores", [PropertyDraft::new("Done", PropertyKind::Boolean)]);
    /// let chores = notes
    ///     .create_collection(CreateCollection::new(chores, Position::end_of(home.id())))?.id;
    /// let added = [ItemDraft::new("Dust").with("done", true), ItemDraft::new("Mop")];
    /// notes.add_items(AddItems::new(chores, added))?;
    ///
    /// let counts = notes.count_items(CountItems::of(chores).grouped_by("done"))?;
    /// let expected =
    ///     r#"{"count":2,"groups":[{"value":true,"count":1},{"value":null,"count":1}]}"#;
    /// assert_eq!(serde_json::to_string(&counts).ok().as_deref(), Some(expected));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    ///
    /// Without a filter no item is read: a count is stored, and groups by a single select or a
    /// boolean are counted in the index. With a filter, the items that the best index leaves are
    /// read, as by a query without an order; for other groups all items.
    ///
    /// # Errors
    /// As [`Self::query_items`]; at `groupBy` [`crate::ErrorKind::SchemaMismatch`] for an unknown
    /// property and [`crate::ErrorKind::LimitExceeded`] for more than
    /// [`crate::Limits::QUERY_GROUPS`] values.
    pub fn count_items(&self, request: CountItems) -> Result<ItemCounts> {
        let CountItems { collection_id, filter, group_by, .. } = request;
        self.operation("count_items").read(|tree| {
            let reader = tree.reader_at(collection_id).map_err(|error| error.at("collectionId"))?;
            let rows = CollectionRows::of(tree, &reader, collection_id)?;
            let query = self.query(&rows, filter.as_ref(), &[])?;
            let groups = group_by.map(|key| Groups::new(&rows.schema, &key)).transpose()?;
            // Fast path: unfiltered counts come from statistics.
            if filter.is_none()
                && (groups.is_none() || has_stored_names(tree, &rows.schema)?)
                && let Some(counts) = counted(&rows, groups.as_ref())?
            {
                return Ok(counts);
            }
            let ItemCounts { count, groups } = count(&rows, &query, groups)?;
            let groups = groups.map(|groups| entitled(tree, groups)).transpose()?;
            Ok(ItemCounts { count, groups })
        })
    }

    fn query(
        &self,
        rows: &CollectionRows<'_>,
        filter: Option<&ItemFilter>,
        sort: &[Sort],
    ) -> Result<ItemQuery> {
        let today = match filter {
            Some(_) => days::today(&rows.tree.zone()?, self.space.now())?,
            // Only filters use the present day.
            None => Day::from_epoch_days(0),
        };
        let values = ValueReader { today, limits: self.limits(), new_options: false };
        let query = |schema| ItemQuery::new(schema, filter, sort, values);
        let Cow::Owned(shown) = LinkRedactor::new(rows.tree).redacted(&rows.schema)? else {
            return query(&rows.schema);
        };
        // Options have the names that replies show: a guess at a hidden link in one names none.
        query(&shown)?;
        query(&rows.schema).map_err(|error| {
            let message = "no condition names an option with a link out of scope";
            Error::new(error.kind(), message).at(error.path())
        })
    }
}

impl<A: AccessScope> Connection<A> {
    /// An item as a query without a limit shows it, and how many of `others`, which are the rest of
    /// its result, precede it; `None` if it does not match. Reads the item, and as many of the
    /// others as halve them.
    pub(crate) fn place_item(
        &self,
        tree: &Tree<'_>,
        request: &QueryItems,
        item: BlockId,
        others: &[BlockId],
    ) -> Result<Option<(Item, usize)>> {
        let QueryItems { collection_id, filter, sort, max_depth, .. } = request;
        if tree.locate(item)?.is_none_or(|location| location.parent != Some(*collection_id)) {
            return Ok(None);
        }
        let reader = tree.reader_at(*collection_id)?;
        let rows = CollectionRows::of(tree, &reader, *collection_id)?;
        let query = self.query(&rows, filter.as_ref(), sort)?;
        let mut order = ItemOrder::new(&rows, &query)?;
        let Some(own) = order.key(item)? else { return Ok(None) };
        let (mut low, mut high) = (0, others.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let other = others.get(middle).map(|other| order.key(*other)).transpose()?.flatten();
            if other.is_some_and(|other| other < own) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        debug_assert!(low <= others.len(), "a place is among the others, or after the last one");
        let schema = (*collection_id, &rows.schema);
        let shown = item_page::show(tree, schema, order.into_last(item), *max_depth, self.limits());
        Ok(shown?.pop().map(|item| (item, low)))
    }
}

/// Order keys of items, one by one.
struct ItemOrder<'a> {
    rows: &'a CollectionRows<'a>,
    query: &'a ItemQuery,
    relations: RelationColumns<'a>,
    read: HashMap<BlockId, PlainItem>,
}

impl<'a> ItemOrder<'a> {
    fn new(rows: &'a CollectionRows<'a>, query: &'a ItemQuery) -> Result<Self> {
        let relations =
            RelationColumns::new(rows, query.properties_needed(), query.relations_needed())?;
        Ok(Self { rows, query, relations, read: HashMap::new() })
    }

    /// The order key of an item; `None` if it does not match.
    fn key(&mut self, id: BlockId) -> Result<Option<OrderKey>> {
        let Self { rows, query, relations, read } = self;
        let mut key = None;
        let flow = rows.item(id, &mut |item| {
            key = relations
                .complete(&item, |row| query.matches(row).then(|| query.order_key(row)))?;
            read.insert(id, PlainItem::read(&item)?);
            Ok(ControlFlow::Continue(0))
        })?;
        debug_assert!(flow.is_continue(), "one item is read");
        Ok(key)
    }

    fn into_last(mut self, item: BlockId) -> Vec<PlainItem> {
        self.read.remove(&item).into_iter().collect()
    }
}

/// The items of a page, and the position of the next one.
fn find(
    rows: &CollectionRows<'_>,
    query: &ItemQuery,
    limit: Option<usize>,
    after: Option<OrderKey>,
) -> Result<(Vec<PlainItem>, Option<OrderKey>)> {
    let plan = plan(query, rows, limit, after.as_ref())?;
    // The page sees every candidate in access order and keeps the smallest order keys.
    let mut search =
        PageSearch::new(rows, query, QueryPageBuilder::new(query, &plan, limit, after.clone()))?;
    let mut prefilter = IndexPrefilter::new(&rows.index, query, &plan, limit);
    rows.each(&plan.access, &mut prefilter, &mut |item| search.look(&item))?;
    if let Some(few) = prefilter.into_candidates() {
        // The intersection has found all candidates, in no particular order.
        search.page =
            QueryPageBuilder::new(query, &QueryPlan { is_sorted: false, ..plan }, limit, after);
        few.into_iter()
            .try_for_each(|id| rows.item(id, &mut |item| search.look(&item)).map(drop))?;
    }
    Ok(search.finish())
}

/// Collects the items of a page.
struct PageSearch<'a> {
    page: QueryPageBuilder<'a>,
    relations: RelationColumns<'a>,
    items: HashMap<BlockId, PlainItem>,
}

impl<'a> PageSearch<'a> {
    fn new(
        rows: &'a CollectionRows<'a>,
        query: &'a ItemQuery,
        page: QueryPageBuilder<'a>,
    ) -> Result<Self> {
        let relations =
            RelationColumns::new(rows, query.properties_needed(), query.relations_needed())?;
        Ok(Self { page, relations, items: HashMap::new() })
    }

    /// The number of items found so far. `Break` once the page cannot change.
    fn look(&mut self, item: &ItemRow<'_>) -> Result<ControlFlow<(), usize>> {
        let PushResult { is_kept, may_change } =
            self.relations.complete(item, |row| self.page.push(row))?;
        if is_kept {
            self.items.insert(item.id, PlainItem::read(item)?);
        }
        if self.items.len() > SPARE.saturating_add(self.page.kept().len().saturating_mul(2)) {
            let kept: HashSet<_> = self.page.kept().collect();
            // Amortized: the cache doubles before displaced rows are evicted.
            self.items.retain(|id, _| kept.contains(id));
        }
        Ok(if may_change {
            ControlFlow::Continue(self.page.kept().len())
        } else {
            ControlFlow::Break(())
        })
    }

    fn finish(mut self) -> (Vec<PlainItem>, Option<OrderKey>) {
        let found = self.page.finish();
        let items: Vec<_> = found.items.iter().filter_map(|id| self.items.remove(id)).collect();
        debug_assert_eq!(items.len(), found.items.len(), "no item of the page was evicted");
        (items, found.next)
    }
}

/// Counts all items from statistics alone. `None` if the groups need the items.
fn counted(rows: &CollectionRows<'_>, groups: Option<&Groups>) -> Result<Option<ItemCounts>> {
    let count = rows.count_all();
    let Some(groups) = groups else { return Ok(Some(ItemCounts { count, groups: None })) };
    Ok(groups.of_all(rows)?.map(|groups| ItemCounts { count, groups: Some(groups) }))
}

fn count(
    rows: &CollectionRows<'_>,
    query: &ItemQuery,
    mut groups: Option<Groups>,
) -> Result<ItemCounts> {
    let plan = plan(query, rows, None, None)?;
    let mut prefilter = IndexPrefilter::new(&rows.index, query, &plan, None);
    let grouped = groups.as_ref().and_then(Groups::relation_needed).map(str::to_owned);
    let by = groups.as_ref().and_then(Groups::property_needed).map(str::to_owned);
    let mut relations = RelationColumns::new(
        rows,
        query.properties_needed().chain(by.as_deref()),
        query.relations_needed().chain(grouped.as_deref()),
    )?;
    let mut count = 0;
    rows.each(&plan.access, &mut prefilter, &mut |item| {
        relations.complete(&item, |row| {
            if query.matches(row) {
                count += 1;
                groups.as_mut().map_or(Ok(()), |groups| groups.add(row))?;
            }
            Ok(ControlFlow::Continue(0))
        })?
    })?;
    Ok(ItemCounts { count, groups: groups.map(Groups::finish) })
}

/// Whether the names of options are shown as the index has them: no link in the schema is redacted.
fn has_stored_names(tree: &Tree<'_>, schema: &Schema) -> Result<bool> {
    Ok(matches!(LinkRedactor::new(tree).redacted(schema)?, Cow::Borrowed(_)))
}

/// Adds the titles of related items to groups. IDs that are not items, left by damage, are dropped.
fn entitled(tree: &Tree<'_>, groups: Vec<ItemGroup>) -> Result<Vec<ItemGroup>> {
    let (links, mut titled) = (LinkRedactor::new(tree), Vec::with_capacity(groups.len()));
    for mut group in groups {
        if let Some(GroupValue::Related(item)) = &mut group.value {
            let Some(mut block) = tree.block(item.block_id)? else {
                // A dangling ID, left by damage.
                continue;
            };
            links.redact(&mut block.data.inline)?;
            item.title = block.data.inline.into();
        }
        titled.push(group);
    }
    Ok(titled)
}
