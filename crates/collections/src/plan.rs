//! How a query is answered: by which index, in which ranges. What is left of the filter is asked of
//! each row, and [`crate::Page`] puts the rows in order.

use std::collections::BTreeSet;

use leafbase_model::{BlockId, PropertyKind, PropertyValue, Result};

use crate::conditions::{Among, Compare, Test};
use crate::narrowing::Narrowing;
use crate::query::{ColumnRef, Conditioned, Place, Query, SortBy, TypedColumn};
use crate::sort_key::{after, index_keys, option_key, rank, text_prefix};

/// Keys of a column, each followed by the 16 bytes of the item's ID: from these bytes on, and
/// before those; none is no bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyRange {
    /// The first.
    pub from: Vec<u8>,
    /// The first that is too great.
    pub to: Option<Vec<u8>>,
}

impl KeyRange {
    pub(crate) fn beginning(prefix: Vec<u8>) -> Self {
        let to = after(&prefix);
        Self { from: prefix, to }
    }

    /// Whether `key`, with or without an ID, is one of them.
    pub fn contains(&self, key: &[u8]) -> bool {
        *self.from <= *key && self.to.as_deref().is_none_or(|to| key < to)
    }

    fn is_empty(&self) -> bool {
        self.to.as_ref().is_some_and(|to| *to <= self.from)
    }
}

/// Where the rows of a query come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Access {
    /// All items of the collection, in any order.
    All,
    /// The items whose keys ([`index_keys`]) in the index of this column are in one of the ranges:
    /// range after range, within a range by key and ID. No item comes twice.
    Index {
        /// The column.
        column: ColumnRef,
        /// The ranges, in the order in which they are read.
        ranges: Vec<KeyRange>,
        /// Whether each is read backwards.
        backwards: bool,
        /// Whether the items that have no key in the index follow: all others of the collection, in
        /// any order.
        then_empty: bool,
    },
    /// The items that the relation of this key relates to one of these: what [`crate::related`]
    /// gives for them from the other end, each once.
    Related {
        /// The key of the relation.
        key: String,
        /// The items at its other end.
        items: BTreeSet<BlockId>,
    },
}

/// How a query is answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Where the rows come from. Every item of the answer is among them; whether others are is for
    /// [`Query::matches`].
    pub access: Access,
    /// Whether they come in the order of the first sort, so that reading ends when the page is
    /// full.
    pub is_sorted: bool,
    /// Where they come in order and conditions are on other columns that have indexes: how the walk
    /// may be made shorter, if it turns out long.
    pub narrowing: Option<Narrowing>,
}

/// What a plan asks of the indexes.
pub trait IndexStatistics {
    /// Whether the column has an index.
    fn is_indexed(&self, column: &ColumnRef) -> bool;

    /// Whether the order of that index is the one in which rows are placed: not if they are shown
    /// otherwise than they are indexed.
    fn is_in_order(&self, column: &ColumnRef) -> bool {
        self.is_indexed(column)
    }

    /// How many keys of the column are in the range, counted up to `at_most`.
    ///
    /// # Errors
    /// What the store reports.
    fn count(&self, column: &ColumnRef, range: &KeyRange, at_most: usize) -> Result<usize>;

    /// How many items the collection has.
    ///
    /// # Errors
    /// What the store reports.
    fn items(&self) -> Result<u64>;
}

/// An item that an index names costs about as much as so many that are read one after the other.
const ITEMS_PER_LOOKUP: usize = 4;

/// So many items are looked up in no time, however few there are in all.
const FEW: usize = 64;

/// How to answer a query, of which a page of so many items is wanted (none: all), those that follow
/// `after`.
///
/// Served by an index are a sort by any property but a multiple select or a relation, and
/// conditions that every item of the answer meets (alone, or within `and`): `equals`, `anyOf`,
/// `startsWith` and comparisons of days and numbers on a single property, `contains` and `allOf` on
/// a multiple select, `contains`, `anyOf` and `allOf` on a relation. `contains` on a text,
/// `notEquals`, `isEmpty` and what stands under `or` and `not` are asked of each row. Where both a
/// sort and conditions could be served, the cheaper is taken: conditions, if few rows meet them;
/// else the sort, of which a page is read and no more. Not many rows are counted for that: what
/// more of them would tell, [`Narrowing`] learns on the way. Without a sort, items of one value are
/// in the index as they are wanted, by ID.
///
/// Where an index would lead to a good part of all items, they are read one after the other
/// instead.
///
/// # Errors
/// What `statistics` reports.
pub fn plan(
    query: &Query,
    statistics: &(impl IndexStatistics + ?Sized),
    limit: Option<usize>,
    after: Option<&Place>,
) -> Result<Plan> {
    let sorted = match query.sort.first() {
        Some(sort) => sorted_access(query, sort, statistics, after),
        None => alike_access(query, statistics, limit, after)?,
    };
    let sorted = sorted.map(|access| page_of(access, statistics, limit)).transpose()?.flatten();
    // What the sorted index is cut to already is not looked at again.
    let is_cut = |condition: &Conditioned| matches!(&sorted, Some(Access::Index { column, .. }) if *column == condition.on.column);
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
    if let Some(best) = best {
        return Ok(Plan {
            access: candidates.swap_remove(best),
            is_sorted: false,
            narrowing: None,
        });
    }
    let Some(access) = sorted else {
        return Ok(Plan { access: Access::All, is_sorted: false, narrowing: None });
    };
    let most = root(statistics, limit)?.saturating_mul(2);
    let narrowing =
        limit.filter(|_| !candidates.is_empty()).map(|_| Narrowing { accesses: candidates, most });
    Ok(Plan { access, is_sorted: true, narrowing })
}

fn item_count(statistics: &(impl IndexStatistics + ?Sized)) -> Result<usize> {
    Ok(usize::try_from(statistics.items()?).unwrap_or(usize::MAX))
}

/// How many items may be looked up before it is better to read all.
fn worthwhile(statistics: &(impl IndexStatistics + ?Sized)) -> Result<usize> {
    Ok((item_count(statistics)? / ITEMS_PER_LOOKUP).max(FEW))
}

/// The sorted access, if a page of it is not most of the collection.
fn page_of(
    access: Access,
    statistics: &(impl IndexStatistics + ?Sized),
    limit: Option<usize>,
) -> Result<Option<Access>> {
    let worthwhile = worthwhile(statistics)?;
    if limit.is_some_and(|limit| limit <= worthwhile) {
        return Ok(Some(access));
    }
    let is_whole = matches!(access, Access::Index { then_empty: true, .. });
    let looked_up =
        if is_whole { item_count(statistics)? } else { rows(&access, statistics, worthwhile + 1)? };
    Ok((looked_up <= worthwhile).then_some(access))
}

/// How many rows conditions may give before the sorted index is tried first. That looks at `limit *
/// items / matches` rows for a page, conditions at all that meet them: equal at the root. Of a
/// page, few are counted.
fn sorted_cost(
    sorted: Option<&Access>,
    statistics: &(impl IndexStatistics + ?Sized),
    limit: Option<usize>,
) -> Result<usize> {
    match sorted {
        None => worthwhile(statistics),
        Some(access) => {
            let few = limit.map_or(usize::MAX, |limit| limit.max(FEW));
            let most = root(statistics, limit)?.min(few);
            let is_cut = matches!(access, Access::Index { then_empty: false, .. });
            if is_cut { rows(access, statistics, most) } else { Ok(most) }
        }
    }
}

fn root(statistics: &(impl IndexStatistics + ?Sized), limit: Option<usize>) -> Result<usize> {
    let items = item_count(statistics)?;
    Ok(limit.unwrap_or(items).saturating_mul(items).isqrt())
}

fn rows(
    access: &Access,
    statistics: &(impl IndexStatistics + ?Sized),
    at_most: usize,
) -> Result<usize> {
    let Access::Index { column, ranges, .. } = access else { return Ok(0) };
    let mut rows = 0;
    for range in ranges {
        rows += statistics.count(column, range, at_most.saturating_sub(rows))?;
    }
    Ok(rows)
}

/// Items of one value, which are in its index by ID: those of the condition that fewest meet.
fn alike_access(
    query: &Query,
    statistics: &(impl IndexStatistics + ?Sized),
    limit: Option<usize>,
    after: Option<&Place>,
) -> Result<Option<Access>> {
    if limit.is_none() {
        return Ok(None);
    }
    let (mut most, mut best) = (root(statistics, limit)?, None);
    for condition in query
        .conditions
        .iter()
        .filter(|condition| condition.required && condition.test.is_one_value())
    {
        let Some(access) = filtered_access(condition, statistics) else { continue };
        let rows = rows(&access, statistics, most)?;
        if best.is_none() || rows < most {
            (most, best) = (rows, Some(access));
        }
    }
    if let (Some(Access::Index { ranges, .. }), Some(item)) =
        (&mut best, after.and_then(|place| place.item(query)))
    {
        for range in ranges {
            range.from.extend(item.to_bytes());
        }
    }
    Ok(best)
}

/// The index of the first sort, cut to the conditions on the same column and to what follows
/// `after`.
fn sorted_access(
    query: &Query,
    sort: &SortBy,
    statistics: &(impl IndexStatistics + ?Sized),
    after: Option<&Place>,
) -> Option<Access> {
    if !statistics.is_in_order(&sort.by.column) {
        return None;
    }
    let mut then_empty = true;
    let mut ranges = whole(&sort.by);
    let on_it =
        |condition: &&Conditioned| condition.required && condition.on.column == sort.by.column;
    for condition in query.conditions.iter().filter(on_it) {
        if let Some(narrowed) = ranges_of(condition) {
            ranges = ranges
                .iter()
                .flat_map(|range| narrowed.iter().map(|other| common(range, other)))
                .collect();
            then_empty = false;
        } else if condition.test == Test::Empty && !condition.wanted {
            then_empty = false;
        }
    }
    ranges.retain(|range| !range.is_empty());
    if sort.descending {
        ranges.reverse();
    }
    if let Some(place) = after {
        ranges = following(ranges, query, sort, place);
    }
    let column = sort.by.column.clone();
    Some(Access::Index { column, ranges, backwards: sort.descending, then_empty })
}

/// All keys of a column, in the order of its values: options go by their place in the schema.
fn whole(column: &TypedColumn) -> Vec<KeyRange> {
    match &column.kind {
        PropertyKind::SingleSelect(options) => {
            options.iter().map(|option| KeyRange::beginning(option_key(&option.name))).collect()
        }
        _ => vec![KeyRange::default()],
    }
}

fn common(one: &KeyRange, other: &KeyRange) -> KeyRange {
    let to = match (&one.to, &other.to) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.as_ref().or(other.as_ref()),
    };
    KeyRange { from: one.from.clone().max(other.from.clone()), to: to.cloned() }
}

/// What is left of the ranges from `place` on.
fn following(ranges: Vec<KeyRange>, query: &Query, sort: &SortBy, place: &Place) -> Vec<KeyRange> {
    let Some(first) = place.first(query) else { return ranges };
    // What follows an item without a value has none.
    let Some(mut bound) = first else { return Vec::new() };
    let mut ranges = ranges;
    if let PropertyKind::SingleSelect(options) = &sort.by.kind {
        let Some(option) = options.iter().find(|option| rank(options, &option.name)[..] == *bound)
        else {
            return ranges;
        };
        bound = option_key(&option.name);
        let done = ranges.iter().position(|range| range.contains(&bound)).unwrap_or_default();
        let Some(current) = ranges.get(done).cloned() else { return ranges };
        let rest = ranges.split_off(done + 1);
        return bounded(&[current], query, sort, place, bound).into_iter().chain(rest).collect();
    }
    bounded(&ranges, query, sort, place, bound)
}

/// Sorted by one property, what follows begins right at the item.
fn bounded(
    ranges: &[KeyRange],
    query: &Query,
    sort: &SortBy,
    place: &Place,
    mut bound: Vec<u8>,
) -> Vec<KeyRange> {
    let is_exact = query.sort.len() == 1;
    let rest = if is_exact {
        bound.extend(place.item(query).unwrap_or_default().to_bytes());
        if sort.descending {
            KeyRange { from: Vec::new(), to: Some(bound) }
        } else {
            KeyRange { from: bound, to: None }
        }
    } else if sort.descending {
        KeyRange { from: Vec::new(), to: after(&bound) }
    } else {
        KeyRange { from: bound, to: None }
    };
    ranges.iter().map(|range| common(range, &rest)).filter(|range| !range.is_empty()).collect()
}

/// An access for each column that conditions are on. What several ask of a property with one value
/// is asked of its index at once: from here to there is one range, and not all from here or all to
/// there.
fn filtered_accesses<'q>(
    conditions: impl Iterator<Item = &'q Conditioned>,
    statistics: &(impl IndexStatistics + ?Sized),
) -> Vec<Access> {
    let mut found: Vec<Access> = Vec::new();
    for condition in conditions {
        let Some(access) = filtered_access(condition, statistics) else { continue };
        let has_one_value = !matches!(condition.on.kind, PropertyKind::MultiSelect(_));
        if !(has_one_value && found.iter_mut().any(|known| narrow(known, &access))) {
            found.push(access);
        }
    }
    found
}

/// Leaves of `known` what `other` has, too, if they are of one index.
fn narrow(known: &mut Access, other: &Access) -> bool {
    match (known, other) {
        (
            Access::Index { column, ranges, .. },
            Access::Index { column: same, ranges: others, .. },
        ) if column == same => {
            *ranges = ranges
                .iter()
                .flat_map(|range| others.iter().map(|other| common(range, other)))
                .collect();
            ranges.retain(|range| !range.is_empty());
            true
        }
        _ => false,
    }
}

fn filtered_access(
    condition: &Conditioned,
    statistics: &(impl IndexStatistics + ?Sized),
) -> Option<Access> {
    if let (Test::Related(among, items), ColumnRef::Property(key), true) =
        (&condition.test, &condition.on.column, condition.wanted)
    {
        let items: BTreeSet<_> = match among {
            Among::Any => items.clone(),
            Among::All | Among::Just => items.iter().take(1).copied().collect(),
        };
        let is_served = *among == Among::Any || !items.is_empty();
        return is_served.then(|| Access::Related { key: key.clone(), items });
    }
    let column = condition.on.column.clone();
    let ranges = ranges_of(condition).filter(|_| statistics.is_indexed(&column))?;
    Some(Access::Index { column, ranges, backwards: false, then_empty: false })
}

/// The keys of all values that meet the condition, and maybe of others; none if an index is of no
/// use. They do not overlap.
fn ranges_of(condition: &Conditioned) -> Option<Vec<KeyRange>> {
    if !condition.wanted {
        return None;
    }
    let kind = &condition.on.kind;
    let exact =
        |value: PropertyValue| index_keys(kind, &value).into_iter().map(KeyRange::beginning);
    Some(match &condition.test {
        // An empty text is no key.
        Test::Text(texts) if texts.contains("") => return None,
        Test::Text(texts) => {
            // Long texts that differ may have one key.
            let keys: BTreeSet<_> = texts
                .iter()
                .flat_map(|text| index_keys(kind, &PropertyValue::Text(text.clone())))
                .collect();
            keys.into_iter().map(KeyRange::beginning).collect()
        }
        Test::StartsWith(start) => vec![KeyRange::beginning(text_prefix(start))],
        Test::Number(compare, number) => {
            compared(*compare, exact(PropertyValue::Number(*number)).next()?)
        }
        Test::Numbers(numbers) => {
            let keys: BTreeSet<_> = numbers
                .iter()
                .flat_map(|number| index_keys(kind, &PropertyValue::Number(*number)))
                .collect();
            keys.into_iter().map(KeyRange::beginning).collect()
        }
        Test::Day(compare, day) => compared(*compare, exact(PropertyValue::Date(*day)).next()?),
        Test::Days(days) => days.iter().flat_map(|day| exact(PropertyValue::Date(*day))).collect(),
        Test::Boolean(value) => exact(PropertyValue::Boolean(*value)).collect(),
        Test::Option(names) => {
            let keys: BTreeSet<_> = names.iter().map(|name| option_key(name)).collect();
            keys.into_iter().map(KeyRange::beginning).collect()
        }
        // Of several, an item could come more than once.
        Test::Options(Among::Any, names) if names.len() > 1 => return None,
        Test::Options(_, names) => vec![KeyRange::beginning(option_key(names.first()?))],
        Test::Empty | Test::Contains(_) | Test::Related(..) => return None,
    })
}

fn compared(compare: Compare, equal: KeyRange) -> Vec<KeyRange> {
    let KeyRange { from, to } = equal;
    let none = || KeyRange { from: Vec::new(), to: Some(Vec::new()) };
    let range = match compare {
        Compare::Equal => KeyRange { from, to },
        Compare::Less => KeyRange { from: Vec::new(), to: Some(from) },
        Compare::LessOrEqual => KeyRange { from: Vec::new(), to },
        Compare::Greater => to.map_or_else(none, |from| KeyRange { from, to: None }),
        Compare::GreaterOrEqual => KeyRange { from, to: None },
    };
    vec![range]
}
