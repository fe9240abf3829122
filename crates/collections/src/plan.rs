//! The query planner: chooses the index and the key ranges that serve a query. The rest of the
//! filter is evaluated per row, and [`crate::QueryPageBuilder`] sorts the rows.

use std::collections::BTreeSet;

use leafbase_model::{PropertyKind, PropertyValue, Result};

use crate::access::{AccessPath, IndexRange};
use crate::intersection::IndexIntersection;
use crate::predicates::{Comparison, Predicate, SetMatch};
use crate::query::{ColumnCondition, ColumnRef, ItemQuery, OrderKey, SortBy, TypedColumn};
use crate::sort_keys::{after, distinct_option_keys, index_keys, option_key, rank, text_prefix};

/// How a query is executed.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryPlan {
    /// The source of the rows: a superset of the results. [`ItemQuery::matches`] decides on each
    /// row.
    pub access: AccessPath,
    /// Whether rows come in the order of the first sort, so that the scan ends when the page is
    /// full.
    pub is_sorted: bool,
    /// For a sorted scan with indexed conditions on other columns: how to shorten it if it turns
    /// out long.
    pub intersection: Option<IndexIntersection>,
}

/// Index statistics that the planner reads.
pub trait IndexStatistics {
    /// Whether the column has an index.
    fn is_indexed(&self, column: &ColumnRef) -> bool;

    /// Whether the index has the order of the query. It has not where a scope redacts texts,
    /// because they are indexed as stored.
    fn is_in_order(&self, column: &ColumnRef) -> bool {
        self.is_indexed(column)
    }

    /// The number of keys in a range; counting is truncated at `at_most`.
    ///
    /// # Errors
    /// Errors of the store.
    fn count(&self, column: &ColumnRef, range: &IndexRange, at_most: usize) -> Result<usize>;

    /// The number of items of the collection.
    ///
    /// # Errors
    /// Errors of the store.
    fn items(&self) -> Result<u64>;
}

/// Cost of looking up one item through an index, in items of a sequential scan.
const ITEMS_PER_LOOKUP: usize = 4;

/// Number of lookups that is cheap in a collection of any size.
const CHEAP_LOOKUPS: usize = 64;

/// Plans a query for a page of `limit` items (`None`: all) that follow `after`.
///
/// An index serves a sort by any property except multiple selects, relations and selects with two
/// options of one index key, and conditions that every result satisfies (top-level, or nested in
/// `and` alone): `equals`, `anyOf`, `startsWith`, comparisons of days and numbers, `contains` and
/// `allOf` on a multiple select, `contains`, `anyOf` and `allOf` on a relation. `contains` on
/// texts, `notEquals`, `isEmpty` and conditions below `or` and `not` are evaluated per row. If an
/// index could serve the sort and another one a condition, the planner takes the condition if few
/// rows satisfy it, otherwise the sort, which ends with the page. Counting is bounded: what more of
/// it would reveal, [`IndexIntersection`] learns during the scan. Without a sort, the index entries
/// of one value are in result order, which is by ID.
///
/// If an index would lead to a large share of all items, the plan is a sequential scan.
///
/// # Errors
/// Errors of `statistics`.
pub fn plan(
    query: &ItemQuery,
    statistics: &(impl IndexStatistics + ?Sized),
    limit: Option<usize>,
    after: Option<&OrderKey>,
) -> Result<QueryPlan> {
    let sorted = match query.sort.first() {
        Some(sort) => sorted_access(query, sort, statistics, after),
        None => equality_access(query, statistics, limit, after)?,
    };
    let sorted = sorted.map(|access| page_of(access, statistics, limit)).transpose()?.flatten();
    // A condition on the sort column already restricts the sorted ranges.
    let sort_column = match &sorted {
        Some(AccessPath::Index { column, .. }) => Some(column),
        _ => None,
    };
    let is_cut = |condition: &ColumnCondition| sort_column == Some(&condition.on.column);
    // The remaining conditions are candidates for an index of their own, or for the intersection.
    let conditions =
        query.conditions.iter().filter(|condition| condition.required && !is_cut(condition));
    let mut candidates = filtered_accesses(conditions, statistics);
    let mut best = None;
    if !candidates.is_empty() {
        let mut most = sorted_cost(sorted.as_ref(), statistics, limit)?;
        for (place, access) in candidates.iter().enumerate() {
            let rows = rows(access, statistics, most.saturating_add(1))?;
            if rows <= most {
                (most, best) = (rows, Some(place));
            }
        }
    }
    // The matches of a condition come unsorted: the page sorts them in its heap.
    if let Some(best) = best {
        return Ok(QueryPlan {
            access: candidates.swap_remove(best),
            is_sorted: false,
            intersection: None,
        });
    }
    let Some(access) = sorted else {
        return Ok(QueryPlan { access: AccessPath::All, is_sorted: false, intersection: None });
    };
    debug_assert!(matches!(access, AccessPath::Index { .. }), "only index scans are sorted");
    let most = break_even_rows(statistics, limit)?.saturating_mul(2);
    let intersection = limit
        .filter(|_| !candidates.is_empty())
        .map(|_| IndexIntersection { accesses: candidates, max_rows: most });
    Ok(QueryPlan { access, is_sorted: true, intersection })
}

fn item_count(statistics: &(impl IndexStatistics + ?Sized)) -> Result<usize> {
    Ok(usize::try_from(statistics.items()?).unwrap_or(usize::MAX))
}

/// The number of lookups beyond which a sequential scan is cheaper.
fn max_lookups(statistics: &(impl IndexStatistics + ?Sized)) -> Result<usize> {
    Ok((item_count(statistics)? / ITEMS_PER_LOOKUP).max(CHEAP_LOOKUPS))
}

/// The sorted access, unless a page of it covers most of the collection.
fn page_of(
    access: AccessPath,
    statistics: &(impl IndexStatistics + ?Sized),
    limit: Option<usize>,
) -> Result<Option<AccessPath>> {
    let max_lookups = max_lookups(statistics)?;
    if limit.is_some_and(|limit| limit <= max_lookups) {
        return Ok(Some(access));
    }
    let is_whole = matches!(access, AccessPath::Index { then_empty: true, .. });
    // Without a condition on the column the scan may reach every item.
    let looked_up = if is_whole {
        item_count(statistics)?
    } else {
        rows(&access, statistics, max_lookups + 1)?
    };
    Ok((looked_up <= max_lookups).then_some(access))
}

/// The number of rows up to which a condition beats the sorted index. A sorted scan visits `limit *
/// items / matches` rows, a condition all its matches: they break even at the square root. For a
/// page, counting is bounded.
fn sorted_cost(
    sorted: Option<&AccessPath>,
    statistics: &(impl IndexStatistics + ?Sized),
    limit: Option<usize>,
) -> Result<usize> {
    match sorted {
        // The alternative is a sequential scan.
        None => max_lookups(statistics),
        Some(access) => {
            let few = limit.map_or(usize::MAX, |limit| limit.max(CHEAP_LOOKUPS));
            let most = break_even_rows(statistics, limit)?.min(few);
            let is_cut = matches!(access, AccessPath::Index { then_empty: false, .. });
            if is_cut { rows(access, statistics, most) } else { Ok(most) }
        }
    }
}

fn break_even_rows(
    statistics: &(impl IndexStatistics + ?Sized),
    limit: Option<usize>,
) -> Result<usize> {
    let items = item_count(statistics)?;
    Ok(limit.unwrap_or(items).saturating_mul(items).isqrt())
}

fn rows(
    access: &AccessPath,
    statistics: &(impl IndexStatistics + ?Sized),
    at_most: usize,
) -> Result<usize> {
    // Back links are read item by item: their number is unknown, but never larger than the result.
    let AccessPath::Index { column, ranges, .. } = access else { return Ok(0) };
    let mut rows = 0;
    for range in ranges {
        rows += statistics.count(column, range, at_most.saturating_sub(rows))?;
    }
    Ok(rows)
}

/// Without a sort: the index entries of one value, which are sorted by ID. Takes the condition
/// with the fewest matches.
fn equality_access(
    query: &ItemQuery,
    statistics: &(impl IndexStatistics + ?Sized),
    limit: Option<usize>,
    after: Option<&OrderKey>,
) -> Result<Option<AccessPath>> {
    if limit.is_none() {
        return Ok(None);
    }
    let (mut most, mut best) = (break_even_rows(statistics, limit)?, None);
    for condition in query
        .conditions
        .iter()
        .filter(|condition| condition.required && condition.predicate.is_one_value())
    {
        let Some(access) = filtered_access(condition, statistics) else { continue };
        let rows = rows(&access, statistics, most)?;
        // `most` shrinks with every candidate, which bounds the counting of the next.
        if best.is_none() || rows < most {
            (most, best) = (rows, Some(access));
        }
    }
    if let (Some(AccessPath::Index { ranges, .. }), Some(item)) =
        (&mut best, after.map(|cursor| cursor.item(query)))
    {
        for range in ranges {
            // Entries of one value are sorted by ID, so the page resumes right after the cursor's
            // item.
            range.from.extend(item.to_bytes());
        }
    }
    Ok(best)
}

/// The index of the first sort, restricted by conditions on the same column and by `after`.
fn sorted_access(
    query: &ItemQuery,
    sort: &SortBy,
    statistics: &(impl IndexStatistics + ?Sized),
    after: Option<&OrderKey>,
) -> Option<AccessPath> {
    if !statistics.is_in_order(&sort.by.column) {
        return None;
    }
    let mut then_empty = true;
    let mut ranges = full_range(&sort.by)?;
    let on_it =
        |condition: &&ColumnCondition| condition.required && condition.on.column == sort.by.column;
    for condition in query.conditions.iter().filter(on_it) {
        if let Some(narrowed) = condition_ranges(condition) {
            ranges = ranges
                .iter()
                .flat_map(|range| narrowed.iter().map(|other| overlap(range, other)))
                .collect();
            // Items without a value do not satisfy the condition.
            then_empty = false;
        } else if condition.predicate == Predicate::Empty && !condition.wanted {
            then_empty = false;
        }
    }
    ranges.retain(|range| !range.is_empty());
    // The ranges are disjoint and ascending; a descending scan starts with the last.
    if sort.descending {
        ranges.reverse();
    }
    if let Some(cursor) = after {
        ranges = following(ranges, query, sort, cursor);
    }
    let column = sort.by.column.clone();
    Some(AccessPath::Index { column, ranges, backwards: sort.descending, then_empty })
}

/// All keys of a column in the order of its values: for a select by the rank of the option, unless
/// two options have one key.
fn full_range(column: &TypedColumn) -> Option<Vec<IndexRange>> {
    match &column.kind {
        PropertyKind::SingleSelect(options) => {
            Some(distinct_option_keys(options)?.into_iter().map(IndexRange::beginning).collect())
        }
        _ => Some(vec![IndexRange::default()]),
    }
}

fn overlap(one: &IndexRange, other: &IndexRange) -> IndexRange {
    let to = match (&one.to, &other.to) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.as_ref().or(other.as_ref()),
    };
    IndexRange { from: one.from.clone().max(other.from.clone()), to: to.cloned() }
}

/// The part of the ranges that follows the cursor.
fn following(
    ranges: Vec<IndexRange>,
    query: &ItemQuery,
    sort: &SortBy,
    cursor: &OrderKey,
) -> Vec<IndexRange> {
    let Some(first) = cursor.first(query) else { return ranges };
    // After an item without a value, only items without a value follow.
    let Some(mut bound) = first else { return Vec::new() };
    let mut ranges = ranges;
    if let PropertyKind::SingleSelect(options) = &sort.by.kind {
        let Some(option) = options.iter().find(|option| rank(options, &option.name)[..] == *bound)
        else {
            return ranges;
        };
        bound = option_key(&option.name);
        let done = ranges.iter().position(|range| range.contains(&bound)).unwrap_or(0);
        let Some(current) = ranges.get(done).cloned() else { return ranges };
        let rest = ranges.split_off(done + 1);
        return bounded(&[current], query, sort, cursor, bound).into_iter().chain(rest).collect();
    }
    bounded(&ranges, query, sort, cursor, bound)
}

/// With a single sort the next row follows the cursor's key and ID exactly; otherwise ties in the
/// first property have to be scanned again.
fn bounded(
    ranges: &[IndexRange],
    query: &ItemQuery,
    sort: &SortBy,
    cursor: &OrderKey,
    mut bound: Vec<u8>,
) -> Vec<IndexRange> {
    let is_exact = query.sort.len() == 1;
    let rest = if is_exact {
        bound.extend(cursor.item(query).to_bytes());
        if sort.descending {
            IndexRange { from: Vec::new(), to: Some(bound) }
        } else {
            IndexRange { from: bound, to: None }
        }
    } else if sort.descending {
        IndexRange { from: Vec::new(), to: after(&bound) }
    } else {
        IndexRange { from: bound, to: None }
    };
    ranges.iter().map(|range| overlap(range, &rest)).filter(|range| !range.is_empty()).collect()
}

/// One access per column. Several conditions on a single-valued column combine into one range with
/// both bounds.
fn filtered_accesses<'q>(
    conditions: impl Iterator<Item = &'q ColumnCondition>,
    statistics: &(impl IndexStatistics + ?Sized),
) -> Vec<AccessPath> {
    let mut found: Vec<AccessPath> = Vec::new();
    for condition in conditions {
        let Some(access) = filtered_access(condition, statistics) else { continue };
        // With a multiple select, two conditions can be satisfied by different options of an item.
        let has_one_value = !matches!(condition.on.kind, PropertyKind::MultiSelect(_));
        if !(has_one_value && found.iter_mut().any(|known| intersect(known, &access))) {
            found.push(access);
        }
    }
    found
}

/// Intersects `known` with `other` if both scan the same index.
fn intersect(known: &mut AccessPath, other: &AccessPath) -> bool {
    match (known, other) {
        (
            AccessPath::Index { column, ranges, .. },
            AccessPath::Index { column: same, ranges: others, .. },
        ) if column == same => {
            *ranges = ranges
                .iter()
                .flat_map(|range| others.iter().map(|other| overlap(range, other)))
                .collect();
            ranges.retain(|range| !range.is_empty());
            true
        }
        _ => false,
    }
}

fn filtered_access(
    condition: &ColumnCondition,
    statistics: &(impl IndexStatistics + ?Sized),
) -> Option<AccessPath> {
    if let (Predicate::Related(among, items), ColumnRef::Property(key), true) =
        (&condition.predicate, &condition.on.column, condition.wanted)
    {
        let items: BTreeSet<_> = match among {
            SetMatch::Any => items.clone(),
            // Every result is related to each of them: any single one is a superset.
            SetMatch::All | SetMatch::Exactly => items.iter().take(1).copied().collect(),
        };
        let is_served = *among == SetMatch::Any || !items.is_empty();
        return is_served.then(|| AccessPath::Related { key: key.clone(), items });
    }
    let column = condition.on.column.clone();
    let ranges = condition_ranges(condition).filter(|_| statistics.is_indexed(&column))?;
    Some(AccessPath::Index { column, ranges, backwards: false, then_empty: false })
}

/// Disjoint ranges that contain the keys of all values which satisfy the condition, and maybe of
/// others. `None` if the index cannot serve it.
fn condition_ranges(condition: &ColumnCondition) -> Option<Vec<IndexRange>> {
    if !condition.wanted {
        return None;
    }
    let kind = &condition.on.kind;
    let exact =
        |value: PropertyValue| index_keys(kind, &value).into_iter().map(IndexRange::beginning);
    Some(match &condition.predicate {
        // Items with an empty text have no index key.
        Predicate::Text(texts) if texts.contains("") => return None,
        Predicate::Text(texts) => {
            // Long texts with a common prefix have one key.
            let keys: BTreeSet<_> = texts
                .iter()
                .flat_map(|text| index_keys(kind, &PropertyValue::Text(text.clone())))
                .collect();
            keys.into_iter().map(IndexRange::beginning).collect()
        }
        Predicate::StartsWith(start) => vec![IndexRange::beginning(text_prefix(start))],
        Predicate::Number(compare, number) => {
            comparison_ranges(*compare, exact(PropertyValue::Number(*number)).next()?)
        }
        Predicate::Numbers(numbers) => {
            let keys: BTreeSet<_> = numbers
                .iter()
                .flat_map(|number| index_keys(kind, &PropertyValue::Number(*number)))
                .collect();
            keys.into_iter().map(IndexRange::beginning).collect()
        }
        Predicate::Day(compare, day) => {
            comparison_ranges(*compare, exact(PropertyValue::Date(*day)).next()?)
        }
        Predicate::Days(days) => {
            days.iter().flat_map(|day| exact(PropertyValue::Date(*day))).collect()
        }
        Predicate::Boolean(value) => exact(PropertyValue::Boolean(*value)).collect(),
        Predicate::Option(names) => {
            let keys: BTreeSet<_> = names.iter().map(|name| option_key(name)).collect();
            keys.into_iter().map(IndexRange::beginning).collect()
        }
        // With several options an item could occur more than once.
        Predicate::Options(SetMatch::Any, names) if names.len() > 1 => return None,
        Predicate::Options(_, names) => vec![IndexRange::beginning(option_key(names.first()?))],
        Predicate::Empty | Predicate::Contains(_) | Predicate::Related(..) => return None,
    })
}

fn comparison_ranges(compare: Comparison, equal: IndexRange) -> Vec<IndexRange> {
    let IndexRange { from, to } = equal;
    let none = || IndexRange { from: Vec::new(), to: Some(Vec::new()) };
    let range = match compare {
        Comparison::Equal => IndexRange { from, to },
        Comparison::Less => IndexRange { from: Vec::new(), to: Some(from) },
        Comparison::LessOrEqual => IndexRange { from: Vec::new(), to },
        Comparison::Greater => to.map_or_else(none, |from| IndexRange { from, to: None }),
        Comparison::GreaterOrEqual => IndexRange { from, to: None },
    };
    vec![range]
}
