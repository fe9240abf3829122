//! Compiled queries: a filter and an order over the items of a collection.

use leafbase_model::json::{expected_one_of, quoted};
use leafbase_model::{
    BlockId, Direction, Error, ItemFilter, Limits, Properties, PropertyKind, PropertyValue, Result,
    Schema, Sort,
};

use crate::conditions;
use crate::items::is_title;
use crate::predicates::{Predicate, present};
use crate::property_types::rules;
use crate::sort_keys::{TEXT_BYTES, sort_key};
use crate::value_rules::{SortKeyEnd, ValueReader, mismatch};

/// A column: the title, or a property.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColumnRef {
    /// The title.
    Title,
    /// The property with this key.
    Property(String),
}

/// An item as a query evaluates it.
#[derive(Clone, Copy, Debug)]
pub struct QueryRow<'a> {
    /// The item's ID.
    pub id: BlockId,
    /// Its title.
    pub title: &'a str,
    /// Its decoded values, at least of [`ItemQuery::properties_needed`]. Relations in
    /// [`ItemQuery::relations_needed`] are as replies return them, other values as stored.
    pub values: &'a Properties,
}

/// A column with its type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TypedColumn {
    pub(crate) column: ColumnRef,
    pub(crate) kind: PropertyKind,
}

impl TypedColumn {
    pub(crate) fn find(schema: &Schema, key: &str) -> Result<Self> {
        if is_title(schema, key) {
            return Ok(Self { column: ColumnRef::Title, kind: PropertyKind::Text });
        }
        let missing = || {
            let known = schema.properties.iter().map(|property| property.key.as_str());
            let expected = expected_one_of(key, known.chain([schema.content.key.as_str()]));
            let message = format!("the collection has no property {}{expected}", quoted(key));
            mismatch(message).at("property")
        };
        let property = schema.property(key).ok_or_else(missing)?;
        Ok(Self { column: ColumnRef::Property(key.to_owned()), kind: property.kind.clone() })
    }

    /// The key of a property. `None` for the title.
    pub(crate) fn property(&self) -> Option<&str> {
        match &self.column {
            ColumnRef::Property(key) => Some(key),
            ColumnRef::Title => None,
        }
    }

    /// The key of a relation. `None` for any other column.
    pub(crate) fn relation(&self) -> Option<&str> {
        match &self.column {
            ColumnRef::Property(key) if self.kind.relation().is_some() => Some(key),
            _ => None,
        }
    }

    /// Passes the value of `row` in this column to `look`.
    pub(crate) fn with<T>(
        &self,
        row: QueryRow<'_>,
        look: impl FnOnce(Option<&PropertyValue>) -> T,
    ) -> T {
        match &self.column {
            ColumnRef::Title => look(Some(&PropertyValue::Text(row.title.to_owned()))),
            ColumnRef::Property(key) => look(row.values.get(key)),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ColumnCondition {
    pub(crate) on: TypedColumn,
    /// Whether the predicate has to hold or has to fail.
    pub(crate) wanted: bool,
    pub(crate) predicate: Predicate,
    /// Whether every result satisfies this condition, so that an index on the column can serve it.
    pub(crate) required: bool,
}

/// An instruction of the filter in postfix order: operands precede their operator.
#[derive(Clone, Copy, Debug, PartialEq)]
enum FilterOp {
    Test(usize),
    And(usize),
    Or(usize),
    Not,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SortBy {
    pub(crate) by: TypedColumn,
    pub(crate) descending: bool,
}

/// A query that has been checked against its schema.
///
/// | type | operators | comparison |
/// |---|---|---|
/// | text, url, email, phone, the title | `equals`, `notEquals`, `contains`, `startsWith`, `anyOf` | folded ([`crate::fold`]): neither case nor the way accents were typed matters |
/// | number | `equals`, `notEquals`, `greaterThan`, `greaterThanOrEqual`, `lessThan`, `lessThanOrEqual`, `anyOf` | by value |
/// | date | `equals`, `notEquals`, `before`, `after`, `onOrBefore`, `onOrAfter`, `anyOf` | by day; `today` and the like are relative to the present |
/// | boolean | `equals`, `notEquals` | a missing value is neither true nor false |
/// | single select | `equals`, `notEquals`, `anyOf` | exact; operands are options of the schema |
/// | multiple select, relation | `equals`, `notEquals` (as sets), `contains` (one member), `anyOf`, `allOf` | exact |
/// | all | `isEmpty`, `isNotEmpty` | an empty text and an empty set count as no value |
///
/// `notEquals` is the negation of `equals`, so items without a value satisfy it. Every other
/// condition requires a value.
///
/// Items are sorted by the first property, ties by the next, and finally by ID. Items without a
/// value come last in either direction. Texts are sorted by their first [`crate::TEXT_BYTES`] bytes
/// folded, options by their rank in the schema, false before true. IDs follow the direction of the
/// first property, so that its index can be scanned in either direction.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemQuery {
    program: Vec<FilterOp>,
    pub(crate) conditions: Vec<ColumnCondition>,
    pub(crate) sort: Vec<SortBy>,
}

impl ItemQuery {
    /// Compiles a filter and an order.
    ///
    /// # Errors
    /// Below `filter` or `sort[n]`: [`leafbase_model::ErrorKind::SchemaMismatch`] for an unknown
    /// property, an operator that its type does not support and an invalid operand;
    /// [`leafbase_model::ErrorKind::LimitExceeded`].
    pub fn new(
        schema: &Schema,
        filter: Option<&ItemFilter>,
        sort: &[Sort],
        values: ValueReader<'_>,
    ) -> Result<Self> {
        // A condition on an unknown option is a mistake, even where items may add options.
        let values = ValueReader { new_options: false, ..values };
        let mut query = Self { program: Vec::new(), conditions: Vec::new(), sort: Vec::new() };
        if let Some(filter) = filter {
            query.compile(schema, filter, values)?;
        }
        check_count(sort.len()).map_err(|error| error.at("sort"))?;
        for (index, sort) in sort.iter().enumerate() {
            let by =
                sorted_by(schema, sort).map_err(|error| error.at(format_args!("sort[{index}]")))?;
            query.sort.push(by);
        }
        Ok(query)
    }

    fn compile(
        &mut self,
        schema: &Schema,
        filter: &ItemFilter,
        values: ValueReader<'_>,
    ) -> Result<()> {
        // An explicit stack: filters come from requests, and recursion could overflow the thread's
        // stack.
        let mut stack = vec![CompileStep::Visit(FilterVisit {
            filter,
            depth: 0,
            required: true,
            path: "filter".into(),
        })];
        while let Some(step) = stack.pop() {
            let visit = match step {
                CompileStep::Emit(op) => {
                    self.program.push(op);
                    continue;
                }
                CompileStep::Visit(visit) => visit,
            };
            if visit.depth > Limits::FILTER_DEPTH {
                return Err(Error::limit("nesting of a filter", Limits::FILTER_DEPTH, visit.depth)
                    .at(visit.path));
            }
            match visit.filter {
                ItemFilter::Condition(condition) => {
                    let read = || {
                        let on = TypedColumn::find(schema, &condition.property)?;
                        let (wanted, predicate) = conditions::read(condition, &on.kind, &values)?;
                        Ok(ColumnCondition { on, wanted, predicate, required: visit.required })
                    };
                    let condition = read().map_err(|error: Error| error.at(&visit.path))?;
                    self.program.push(FilterOp::Test(self.conditions.len()));
                    self.conditions.push(condition);
                    check_count(self.conditions.len()).map_err(|error| error.at("filter"))?;
                }
                ItemFilter::And(filters) => {
                    visit.into_each("and", filters, FilterOp::And(filters.len()), true, &mut stack);
                }
                ItemFilter::Or(filters) => {
                    visit.into_each("or", filters, FilterOp::Or(filters.len()), false, &mut stack);
                }
                ItemFilter::Not(filter) => visit.into_not(filter, &mut stack),
            }
        }
        Ok(())
    }

    /// The properties that the query evaluates.
    pub fn properties_needed(&self) -> impl Iterator<Item = &str> {
        let columns = self
            .conditions
            .iter()
            .map(|condition| &condition.on)
            .chain(self.sort.iter().map(|sort| &sort.by));
        columns.filter_map(TypedColumn::property)
    }

    /// The relations that have to be passed as replies return them, from either end.
    pub fn relations_needed(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().filter_map(|condition| condition.on.relation())
    }

    /// Whether the filter accepts the item.
    pub fn matches(&self, row: QueryRow<'_>) -> bool {
        let mut stack = Vec::new();
        for op in &self.program {
            let outcome = match op {
                FilterOp::Test(index) => {
                    let condition = self.conditions.get(*index);
                    debug_assert!(condition.is_some(), "condition {index} was compiled");
                    condition.is_some_and(|condition| condition.holds(row))
                }
                FilterOp::And(count) => pop(&mut stack, *count).all(|met| met),
                FilterOp::Or(count) => pop(&mut stack, *count).any(|met| met),
                FilterOp::Not => !pop(&mut stack, 1).any(|met| met),
            };
            stack.push(outcome);
        }
        debug_assert!(stack.len() <= 1, "a filter evaluates to one value");
        // Without a filter every item matches.
        stack.pop().unwrap_or(true)
    }

    /// The order key of an item: keys compare as the items are sorted.
    pub fn order_key(&self, row: QueryRow<'_>) -> OrderKey {
        let mut bytes = Vec::new();
        for sort in &self.sort {
            let key = sort
                .by
                .with(row, |value| present(value).and_then(|value| sort_key(&sort.by.kind, value)));
            put_sort_key(&mut bytes, key.as_deref(), sort.descending);
        }
        // Complemented bytes reverse the order, and compare as unsigned bytes still.
        let flip = if self.is_reversed() { 0xff } else { 0 };
        bytes.extend(row.id.to_bytes().map(|byte| byte ^ flip));
        OrderKey(bytes)
    }

    /// Whether IDs are in descending order.
    pub(crate) fn is_reversed(&self) -> bool {
        self.sort.first().is_some_and(|sort| sort.descending)
    }
}

/// Appends one sort key. A missing value sorts last; a descending key is complemented byte by byte.
fn put_sort_key(out: &mut Vec<u8>, key: Option<&[u8]>, descending: bool) {
    out.push(u8::from(key.is_none()));
    let flip = if descending { 0xff } else { 0 };
    if let Some(key) = key {
        out.extend(key.iter().map(|byte| byte ^ flip));
    }
}

impl ColumnCondition {
    fn holds(&self, row: QueryRow<'_>) -> bool {
        self.on.with(row, |value| self.predicate.holds(value)) == self.wanted
    }
}

/// Pops the operands of an operator.
fn pop(stack: &mut Vec<bool>, count: usize) -> impl Iterator<Item = bool> + '_ {
    debug_assert!(stack.len() >= count, "operands precede their operator in postfix order");
    let from = stack.len().saturating_sub(count);
    stack.drain(from..)
}

enum CompileStep<'f> {
    Visit(FilterVisit<'f>),
    Emit(FilterOp),
}

struct FilterVisit<'f> {
    filter: &'f ItemFilter,
    depth: usize,
    required: bool,
    path: String,
}

impl<'f> FilterVisit<'f> {
    fn into_each(
        self,
        name: &str,
        filters: &'f [ItemFilter],
        op: FilterOp,
        keeps: bool,
        stack: &mut Vec<CompileStep<'f>>,
    ) {
        // Emitted after the operands, which are pushed above it.
        stack.push(CompileStep::Emit(op));
        // `or` with one operand is that operand.
        let required = self.required && (keeps || filters.len() == 1);
        let visits = filters.iter().enumerate().map(|(index, filter)| {
            let path = format!("{}.{name}[{index}]", self.path);
            CompileStep::Visit(Self { filter, depth: self.depth + 1, required, path })
        });
        // Reversed, so that the stack yields the operands in order.
        stack.extend(visits.rev());
    }

    fn into_not(self, filter: &'f ItemFilter, stack: &mut Vec<CompileStep<'f>>) {
        stack.push(CompileStep::Emit(FilterOp::Not));
        let path = format!("{}.not", self.path);
        stack.push(CompileStep::Visit(Self {
            filter,
            depth: self.depth + 1,
            required: false,
            path,
        }));
    }
}

fn sorted_by(schema: &Schema, sort: &Sort) -> Result<SortBy> {
    let by = TypedColumn::find(schema, &sort.property)?;
    if rules(&by.kind).sort_key_end() == SortKeyEnd::Unordered {
        let property_type = by.kind.property_type();
        return Err(mismatch(format!(
            "items cannot be sorted by a property of type {property_type}"
        ))
        .at("property"));
    }
    Ok(SortBy { by, descending: sort.direction == Direction::Descending })
}

fn check_count(found: usize) -> Result<()> {
    let most = Limits::QUERY_CONDITIONS;
    if found > most { Err(Error::limit("conditions of a query", most, found)) } else { Ok(()) }
}

/// The position of an item in the order of a query. Displayed as the cursor of a page that ends
/// with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderKey(Vec<u8>);

impl OrderKey {
    /// The sort key of the first property. `None` if the order is by ID alone, `Some(None)` for an
    /// item without a value.
    #[expect(clippy::option_option, reason = "no property, no value, a value")]
    pub(crate) fn first(&self, query: &ItemQuery) -> Option<Option<Vec<u8>>> {
        let sort = query.sort.first()?;
        let (marker, rest) = self.0.split_first()?;
        if *marker == 1 {
            return Some(None);
        }
        let flip = if sort.descending { 0xff } else { 0 };
        let length = match rules(&sort.by.kind).sort_key_end() {
            SortKeyEnd::Unordered => return None,
            SortKeyEnd::Fixed(length) => length,
            // A text key ends with 0, or with any byte after the longest prefix that counts.
            SortKeyEnd::TextTerminator => {
                let text = rest.iter().take(TEXT_BYTES);
                text.take_while(|byte| **byte ^ flip != 0).count() + 1
            }
        };
        Some(Some(rest.get(..length)?.iter().map(|byte| byte ^ flip).collect()))
    }
}

impl OrderKey {
    /// The ID at the end of the key.
    pub(crate) fn item(&self, query: &ItemQuery) -> BlockId {
        let flip = if query.is_reversed() { 0xff } else { 0 };
        let id = self.0.last_chunk::<16>();
        debug_assert!(id.is_some(), "an order key ends with an ID");
        id.map_or(BlockId::NIL, |id| BlockId::from_bytes(id.map(|byte| byte ^ flip)))
    }
}

impl std::fmt::Display for OrderKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::str::FromStr for OrderKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::validation("the cursor was not returned by this query").at("cursor");
        let digit =
            |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let pair = |pair: &[u8]| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        };
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(pair).collect();
        bytes.filter(|bytes| bytes.len() >= 16).map(Self).ok_or_else(wrong)
    }
}
