//! Queries over items: which, in which order, and how many.

mod cursor;
mod relations;
mod rows;
mod sieve;

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use leafbase_collections::{
    Groups, ItemQuery, OrderKey, PageBuilder, PushResult, QueryPlan, ValueReader, plan,
};
use leafbase_model::{
    BlockId, CountItems, Day, GroupValue, Item, ItemCounts, ItemFilter, ItemGroup, ItemsPage,
    QueryItems, Result, Sort,
};
use leafbase_store::ItemRow;
use leafbase_tree_ops::ReadTree;

use self::relations::Relations;
use self::rows::Rows;
use self::sieve::Sieve;
use super::items::reading;
use super::showing::PlainItem;
use crate::core::access::AccessScope;
use crate::core::connection::Connection;
use crate::core::redaction::LinkRedactor;
use crate::core::tree::Tree;
use crate::support::days;

/// Items that are kept beside those of the page, before what the page does not want is dropped.
const SPARE: usize = 64;

impl<A: AccessScope> Connection<A> {
    /// The items of a collection that a filter means, in the order of the request and at most as
    /// many as it asks for. Without a filter these are all; without an order they come by ID.
    ///
    /// ```
    /// use leafbase::{
    ///     AddItems, CreateCollection, ItemFilter, ItemDraft, Operator, Position, PropertyDraft, PropertyKind, QueryItems, SchemaDraft, Sort, Space,
    /// };
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let home = notes.create_document("Home")?;
    /// let columns = [PropertyDraft::new("Due", PropertyKind::Date), PropertyDraft::new("Done", PropertyKind::Boolean)];
    /// let chores = SchemaDraft::new("Chores", columns);
    /// let chores = notes.create_collection(CreateCollection::new(chores, Position::end_of(home.id())))?.id;
    /// notes.add_items(AddItems::new(chores, [
    ///     ItemDraft::new("Sweep").with("due", "2026-03-02"),
    ///     ItemDraft::new("Dust").with("due", "2026-03-01"),
    ///     ItemDraft::new("Mop").with("due", "2026-03-01").with("done", true),
    /// ]))?;
    ///
    /// let open = ItemFilter::on("done", Operator::NotEquals, true);
    /// let due = ItemFilter::on("due", Operator::OnOrBefore, "2026-03-31").and(open);
    /// let request = QueryItems::of(chores).filtered(due).sorted(Sort::ascending("due")).depth(0).limit(1);
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
    /// | text, url, email, phone, the title | `equals`, `notEquals`, `contains`, `startsWith`, `anyOf` | case does not count, nor how accents were typed; accents do |
    /// | number | `equals`, `notEquals`, `greaterThan`, `greaterThanOrEqual`, `lessThan`, `lessThanOrEqual`, `anyOf` | by value |
    /// | date | `equals`, `notEquals`, `before`, `after`, `onOrBefore`, `onOrAfter`, `anyOf` | by day; `today`, `tomorrow` and `yesterday` are those of the space's zone |
    /// | boolean | `equals`, `notEquals` | what is not set is neither |
    /// | single select | `equals`, `notEquals`, `anyOf` | exactly; options that the schema has |
    /// | multiple select, relation | `equals`, `notEquals` (just these, in any order), `contains` (one), `anyOf`, `allOf` | exactly; relations by the IDs of items, at whichever end, and an ID of no item is related to nothing |
    /// | all | `isEmpty`, `isNotEmpty` | an empty text, no option and no relation are as no value |
    ///
    /// `notEquals` is the opposite of `equals`: items without a value meet it. Every other
    /// condition needs a value, or asks for none: an empty text, no options.
    ///
    /// # Order
    ///
    /// By the first property, where items are equal in it by the next, in the end by ID, which goes
    /// in the direction of the first. Items without a value are last, whichever the direction.
    /// Texts go as they are compared, by their first 256 bytes; options as they stand in the
    /// schema; false is before true. A multiple select and a relation have no order.
    ///
    /// # Cost
    ///
    /// There is an index of the title and of every property but relations, which are found by their
    /// other end. An index serves
    ///
    /// - an order by the title or by any property that has one: a page looks at items until it is
    ///   full, and at no others of the collection, on the last page as on the first. With several
    ///   properties it looks at all that equal its last one in the first property;
    /// - conditions that every item found has to meet, those that stand alone or within `and` at
    ///   any depth: `equals`, `anyOf`, `startsWith` and comparisons of numbers and days; of a
    ///   multiple select `contains`, `equals`, `allOf` and `anyOf` of one; of a relation
    ///   `contains`, `equals`, `allOf` and `anyOf`. All that meet the condition are looked at, but
    ///   without an order those of one value (`equals`, or `contains` of a multiple select) only
    ///   until the page is full.
    ///
    /// Where several could serve, the one that is likely to look at the fewest items is taken. Each
    /// item of the collection is looked at for `contains` of texts, `notEquals`, `isEmpty`,
    /// `isNotEmpty` and what stands under `or` and `not`, if nothing else of the request is served;
    /// for a request that has neither an order nor a filter ([`Self::items`] reads a page of the
    /// collection as it stands); for items without a value once an order has come to them; and
    /// where a quarter of the collection or more would be looked up. Memory holds as many items as
    /// the page has, and once those at the other end of a relation that is asked for and held
    /// there.
    ///
    /// On a scoped connection texts are compared as they are shown, so that what a hidden link
    /// leads to can be asked for by nobody: for an order by texts each item of the collection is
    /// looked at.
    ///
    /// # Pages
    ///
    /// A cursor is the place of the last item given, not the item: the next page has what stands
    /// behind that place then, whether the item is still there or not. An item whose values change
    /// between two pages may come twice or not at all, if they move it over the place; every other
    /// item comes exactly once. `today` is that of each call. A cursor is of its collection, filter
    /// and order, and of the types of the properties that it goes by; where the options of one of
    /// them were put in another order, it goes on by the new one.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] at `collectionId`; [`crate::ErrorKind::SchemaMismatch`] below
    /// `filter` and `sort[n]` for a property that the schema has not, an operator that its type
    /// does not take, and an operand that does not fit; [`crate::ErrorKind::Validation`] at `limit`
    /// for 0, and at `cursor` for one of another query; [`crate::ErrorKind::LimitExceeded`] for
    /// more than [`crate::Limits::QUERY_CONDITIONS`] or a filter that nests deeper than
    /// [`crate::Limits::FILTER_DEPTH`], and if the reply would have more than
    /// [`crate::Limits::blocks_per_fetch`] items and blocks of their pages.
    pub fn query_items(&self, request: QueryItems) -> Result<ItemsPage<Item>> {
        let QueryItems { collection_id, filter, sort, max_depth, paging } = request;
        paging.check()?;
        self.operation("query_items").read(|tree| {
            let reader = tree.reader_at(collection_id).map_err(|error| error.at("collectionId"))?;
            let rows = Rows::of(tree, &reader, collection_id)?;
            let query = self.query(&rows, filter.as_ref(), &sort)?;
            let mark = cursor::mark(collection_id, filter.as_ref(), &sort, &rows.schema)?;
            let after =
                paging.cursor.as_deref().map(|text| cursor::read(&mark, text)).transpose()?;
            let (found, next) = find(&rows, &query, paging.limit, after)?;
            let items = reading::show(
                tree,
                (collection_id, &rows.schema),
                found,
                max_depth,
                self.limits(),
            )?;
            Ok(ItemsPage { items, next_cursor: next.map(|place| cursor::write(&mark, &place)) })
        })
    }

    /// How many items of a collection a filter means, and how many have each value of a property.
    /// What filters mean is told at [`Self::query_items`].
    ///
    /// An item with several options or related items counts for each of them; those without a value
    /// are a group of their own, the last. Groups come in the order of their values: options as in
    /// the schema, texts as they are sorted, related items by ID.
    ///
    /// ```
    /// use leafbase::{
    ///     AddItems, CountItems, CreateCollection, ItemDraft, Position, PropertyDraft, PropertyKind, SchemaDraft, Space,
    /// };
    /// # fn main() -> leafbase::Result<()> {
    /// let notes = Space::in_memory()?.connect();
    /// let home = notes.create_document("Home")?;
    /// let chores = SchemaDraft::new("Chores", [PropertyDraft::new("Done", PropertyKind::Boolean)]);
    /// let chores = notes.create_collection(CreateCollection::new(chores, Position::end_of(home.id())))?.id;
    /// let added = [ItemDraft::new("Dust").with("done", true), ItemDraft::new("Mop")];
    /// notes.add_items(AddItems::new(chores, added))?;
    ///
    /// let counts = notes.count_items(CountItems::of(chores).grouped_by("done"))?;
    /// let expected = r#"{"count":2,"groups":[{"value":true,"count":1},{"value":null,"count":1}]}"#;
    /// assert_eq!(serde_json::to_string(&counts).ok().as_deref(), Some(expected));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cost
    ///
    /// Without a filter it looks at no item: not at all if there are no groups, and in the index
    /// alone for groups by a single select or a boolean. With a filter it looks at the items that
    /// its best condition leaves, as a query without an order does; for other groups at all.
    ///
    /// # Errors
    /// As [`Self::query_items`], and [`crate::ErrorKind::SchemaMismatch`] at `groupBy` for a
    /// property that the schema has not; [`crate::ErrorKind::LimitExceeded`] there for more than
    /// [`crate::Limits::QUERY_GROUPS`] values.
    pub fn count_items(&self, request: CountItems) -> Result<ItemCounts> {
        let CountItems { collection_id, filter, group_by } = request;
        self.operation("count_items").read(|tree| {
            let reader = tree.reader_at(collection_id).map_err(|error| error.at("collectionId"))?;
            let rows = Rows::of(tree, &reader, collection_id)?;
            let query = self.query(&rows, filter.as_ref(), &[])?;
            let groups = group_by.map(|key| Groups::new(&rows.schema, &key)).transpose()?;
            if filter.is_none()
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
        rows: &Rows<'_>,
        filter: Option<&ItemFilter>,
        sort: &[Sort],
    ) -> Result<ItemQuery> {
        let today = match filter {
            Some(_) => days::today(&rows.tree.zone()?, self.space.now())?,
            // Nothing asks for it.
            None => Day::from_epoch_days(0),
        };
        ItemQuery::new(
            &rows.schema,
            filter,
            sort,
            ValueReader { today, limits: self.limits(), new_options: false },
        )
    }
}

/// The items of a page, and where the next one goes on.
fn find(
    rows: &Rows<'_>,
    query: &ItemQuery,
    limit: Option<usize>,
    after: Option<OrderKey>,
) -> Result<(Vec<PlainItem>, Option<OrderKey>)> {
    let plan = plan(query, rows, limit, after.as_ref())?;
    let mut search =
        Search::new(rows, query, PageBuilder::new(query, &plan, limit, after.clone()))?;
    let mut sieve = Sieve::new(&rows.index, query, &plan, limit);
    rows.each(&plan.access, &mut sieve, &mut |item| search.look(&item))?;
    if let Some(few) = sieve.into_few() {
        // All that can be in the answer, in any order.
        search.page =
            PageBuilder::new(query, &QueryPlan { is_sorted: false, ..plan }, limit, after);
        few.into_iter()
            .try_for_each(|id| rows.item(id, &mut |item| search.look(&item)).map(drop))?;
    }
    Ok(search.finish())
}

/// The page of an answer with its items.
struct Search<'a> {
    page: PageBuilder<'a>,
    relations: Relations<'a>,
    items: HashMap<BlockId, PlainItem>,
}

impl<'a> Search<'a> {
    fn new(rows: &'a Rows<'a>, query: &'a ItemQuery, page: PageBuilder<'a>) -> Result<Self> {
        let relations = Relations::new(rows, query.properties_needed(), query.relations_needed())?;
        Ok(Self { page, relations, items: HashMap::new() })
    }

    /// How many items are found by now; `Break` if no further one can come to the page.
    fn look(&mut self, item: &ItemRow<'_>) -> Result<ControlFlow<(), usize>> {
        let PushResult { is_kept, may_change } =
            self.relations.complete(item, |row| self.page.push(row))?;
        if is_kept {
            self.items.insert(item.id, PlainItem::read(item)?);
        }
        if self.items.len() > SPARE.saturating_add(self.page.kept().len().saturating_mul(2)) {
            let kept: HashSet<_> = self.page.kept().collect();
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
        (found.items.iter().filter_map(|id| self.items.remove(id)).collect(), found.next)
    }
}

/// All items, counted without a look at any: none if their groups cannot be.
fn counted(rows: &Rows<'_>, groups: Option<&Groups>) -> Result<Option<ItemCounts>> {
    let count = rows.count_all();
    let Some(groups) = groups else { return Ok(Some(ItemCounts { count, groups: None })) };
    Ok(groups.of_all(rows)?.map(|groups| ItemCounts { count, groups: Some(groups) }))
}

fn count(rows: &Rows<'_>, query: &ItemQuery, mut groups: Option<Groups>) -> Result<ItemCounts> {
    let plan = plan(query, rows, None, None)?;
    let mut sieve = Sieve::new(&rows.index, query, &plan, None);
    let grouped = groups.as_ref().and_then(Groups::relation_needed).map(str::to_owned);
    let by = groups.as_ref().and_then(Groups::property_needed).map(str::to_owned);
    let mut relations = Relations::new(
        rows,
        query.properties_needed().chain(by.as_deref()),
        query.relations_needed().chain(grouped.as_deref()),
    )?;
    let mut count = 0;
    rows.each(&plan.access, &mut sieve, &mut |item| {
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

/// The groups with the titles of related items. One of what is no item is left out: damage may
/// leave an ID behind.
fn entitled(tree: &Tree<'_>, groups: Vec<ItemGroup>) -> Result<Vec<ItemGroup>> {
    let (links, mut titled) = (LinkRedactor::new(tree), Vec::with_capacity(groups.len()));
    for mut group in groups {
        if let Some(GroupValue::Related(item)) = &mut group.value {
            let Some(mut block) = tree.block(item.block_id)? else { continue };
            links.redact(&mut block.data.markdown)?;
            item.title = block.data.markdown.into();
        }
        titled.push(group);
    }
    Ok(titled)
}
