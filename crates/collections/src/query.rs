//! Queries: which items, and in which order.

use leafbase_model::json::quoted;
use leafbase_model::{
    BlockId, Direction, Error, ItemFilter, Limits, Properties, Property, PropertyKind,
    PropertyValue, Result, Schema, Sort,
};

use crate::conditions::{self, Test, present};
use crate::items::is_title;
use crate::sort_key::sort_key;
use crate::values::{Values, mismatch};

/// What a query looks at: the title of items, or one of their properties.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColumnRef {
    /// The title.
    Title,
    /// The property of this key.
    Property(String),
}

/// An item as a query looks at it.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The item.
    pub id: BlockId,
    /// Its title.
    pub title: &'a str,
    /// Its values, or those of [`Query::properties_needed`]; those of [`Query::relations_needed`]
    /// as replies show them.
    pub values: &'a Properties,
}

/// A column with the type that it has in the schema.
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
        let missing =
            || mismatch(format!("the collection has no property {}", quoted(key))).at("property");
        let property = schema.property(key).ok_or_else(missing)?;
        Ok(Self { column: ColumnRef::Property(key.to_owned()), kind: property.kind.clone() })
    }

    fn as_property(&self) -> Property {
        Property { key: String::new(), name: String::new(), kind: self.kind.clone() }
    }

    /// The key, if it is no title.
    pub(crate) fn property(&self) -> Option<&str> {
        match &self.column {
            ColumnRef::Property(key) => Some(key),
            ColumnRef::Title => None,
        }
    }

    /// The key, if it is a relation.
    pub(crate) fn relation(&self) -> Option<&str> {
        match &self.column {
            ColumnRef::Property(key) if self.kind.relation().is_some() => Some(key),
            _ => None,
        }
    }

    /// Calls `look` with what `row` has here.
    pub(crate) fn with<T>(
        &self,
        row: Row<'_>,
        look: impl FnOnce(Option<&PropertyValue>) -> T,
    ) -> T {
        match &self.column {
            ColumnRef::Title => look(Some(&PropertyValue::Text(row.title.to_owned()))),
            ColumnRef::Property(key) => look(row.values.get(key)),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conditioned {
    pub(crate) on: TypedColumn,
    /// Whether the test has to hold, or not to hold.
    pub(crate) wanted: bool,
    pub(crate) test: Test,
    /// Whether every item of the answer meets this.
    pub(crate) required: bool,
}

/// The filter in the order of its evaluation: operands before operators.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
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

/// A query that fits its schema.
///
/// | type | operators | compared |
/// |---|---|---|
/// | text, url, email, phone, the title | `equals`, `notEquals`, `contains`, `startsWith`, `anyOf` | folded ([`crate::fold`]): case does not count, nor how accents were typed |
/// | number | `equals`, `notEquals`, `greaterThan`, `greaterThanOrEqual`, `lessThan`, `lessThanOrEqual`, `anyOf` | by value |
/// | date | `equals`, `notEquals`, `before`, `after`, `onOrBefore`, `onOrAfter`, `anyOf` | by day; `today` and the like count from the present |
/// | boolean | `equals`, `notEquals` | what is not set is neither |
/// | single select | `equals`, `notEquals`, `anyOf` | exactly; only options of the schema can be asked for |
/// | multiple select, relation | `equals`, `notEquals` (just these, in any order), `contains` (one), `anyOf`, `allOf` | exactly |
/// | all | `isEmpty`, `isNotEmpty` | an empty text, no option and no relation are as no value |
///
/// `notEquals` is the opposite of `equals`: items without a value meet it. Every other condition
/// needs a value.
///
/// Items are sorted by the first property, where they are equal by the next, in the end by ID;
/// items without a value are last, whichever the direction. Texts are sorted as they are compared,
/// by their first [`crate::TEXT_BYTES`] bytes folded; options as they stand in the schema; false is
/// before true. IDs go in the direction of the first property, so that an index by it is read one
/// way or the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    program: Vec<Op>,
    pub(crate) conditions: Vec<Conditioned>,
    pub(crate) sort: Vec<SortBy>,
}

impl Query {
    /// Reads a filter and an order for items of this schema.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::SchemaMismatch`] for a property that is not there, an operator
    /// that its type does not have and an operand that does not fit, below `filter` or `sort[n]`;
    /// [`leafbase_model::ErrorKind::LimitExceeded`].
    pub fn new(
        schema: &Schema,
        filter: Option<&ItemFilter>,
        sort: &[Sort],
        values: Values<'_>,
    ) -> Result<Self> {
        // Only options of the schema can be asked for.
        let values = Values { new_options: false, ..values };
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

    fn compile(&mut self, schema: &Schema, filter: &ItemFilter, values: Values<'_>) -> Result<()> {
        let mut waiting =
            vec![Work::Visit(Visit { filter, depth: 0, required: true, path: "filter".into() })];
        while let Some(work) = waiting.pop() {
            let visit = match work {
                Work::Emit(op) => {
                    self.program.push(op);
                    continue;
                }
                Work::Visit(visit) => visit,
            };
            if visit.depth > Limits::FILTER_DEPTH {
                return Err(Error::limit("nesting of a filter", Limits::FILTER_DEPTH, visit.depth)
                    .at(visit.path));
            }
            match visit.filter {
                ItemFilter::Condition(condition) => {
                    let read = || {
                        let on = TypedColumn::find(schema, &condition.property)?;
                        let (wanted, test) =
                            conditions::read(condition, &on.as_property(), values)?;
                        Ok(Conditioned { on, wanted, test, required: visit.required })
                    };
                    let condition = read().map_err(|error: Error| error.at(&visit.path))?;
                    self.program.push(Op::Test(self.conditions.len()));
                    self.conditions.push(condition);
                    check_count(self.conditions.len()).map_err(|error| error.at("filter"))?;
                }
                ItemFilter::And(filters) => {
                    visit.into_each("and", filters, Op::And(filters.len()), true, &mut waiting)
                }
                ItemFilter::Or(filters) => {
                    visit.into_each("or", filters, Op::Or(filters.len()), false, &mut waiting)
                }
                ItemFilter::Not(filter) => visit.into_not(filter, &mut waiting),
            }
        }
        Ok(())
    }

    /// The properties that it looks at.
    pub fn properties_needed(&self) -> impl Iterator<Item = &str> {
        let columns = self
            .conditions
            .iter()
            .map(|condition| &condition.on)
            .chain(self.sort.iter().map(|sort| &sort.by));
        columns.filter_map(TypedColumn::property)
    }

    /// The relations that have to be given as replies show them, at whichever end.
    pub fn relations_needed(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().filter_map(|condition| condition.on.relation())
    }

    /// Whether the item is meant.
    pub fn matches(&self, row: Row<'_>) -> bool {
        let mut stack = Vec::new();
        for op in &self.program {
            let outcome = match op {
                Op::Test(index) => {
                    self.conditions.get(*index).is_some_and(|condition| condition.holds(row))
                }
                Op::And(count) => take(&mut stack, *count).all(|met| met),
                Op::Or(count) => take(&mut stack, *count).any(|met| met),
                Op::Not => !stack.pop().unwrap_or_default(),
            };
            stack.push(outcome);
        }
        stack.pop().unwrap_or(true)
    }

    /// Where the item stands in the order: places compare as the items are sorted.
    pub fn place(&self, row: Row<'_>) -> Place {
        let mut place = Vec::new();
        for sort in &self.sort {
            let key = sort
                .by
                .with(row, |value| present(value).and_then(|value| sort_key(&sort.by.kind, value)));
            put_part(&mut place, key.as_deref(), sort.descending);
        }
        let flip = if self.is_reversed() { 0xff } else { 0 };
        place.extend(row.id.to_bytes().map(|byte| byte ^ flip));
        Place(place)
    }

    /// Whether IDs go downwards.
    pub(crate) fn is_reversed(&self) -> bool {
        self.sort.first().is_some_and(|sort| sort.descending)
    }
}

/// None is greater than all; what goes downwards is turned byte by byte.
fn put_part(place: &mut Vec<u8>, key: Option<&[u8]>, descending: bool) {
    place.push(u8::from(key.is_none()));
    let flip = if descending { 0xff } else { 0 };
    place.extend(key.unwrap_or_default().iter().map(|byte| byte ^ flip));
}

impl Conditioned {
    fn holds(&self, row: Row<'_>) -> bool {
        self.on.with(row, |value| self.test.holds(value)) == self.wanted
    }
}

fn take(stack: &mut Vec<bool>, count: usize) -> impl Iterator<Item = bool> + '_ {
    let from = stack.len().saturating_sub(count);
    stack.drain(from..)
}

enum Work<'f> {
    Visit(Visit<'f>),
    Emit(Op),
}

struct Visit<'f> {
    filter: &'f ItemFilter,
    depth: usize,
    required: bool,
    path: String,
}

impl<'f> Visit<'f> {
    fn into_each(
        self,
        name: &str,
        filters: &'f [ItemFilter],
        op: Op,
        keeps: bool,
        waiting: &mut Vec<Work<'f>>,
    ) {
        waiting.push(Work::Emit(op));
        let required = self.required && (keeps || filters.len() == 1);
        let visits = filters.iter().enumerate().map(|(index, filter)| {
            let path = format!("{}.{name}[{index}]", self.path);
            Work::Visit(Self { filter, depth: self.depth + 1, required, path })
        });
        waiting.extend(visits.rev());
    }

    fn into_not(self, filter: &'f ItemFilter, waiting: &mut Vec<Work<'f>>) {
        waiting.push(Work::Emit(Op::Not));
        let path = format!("{}.not", self.path);
        waiting.push(Work::Visit(Self { filter, depth: self.depth + 1, required: false, path }));
    }
}

fn sorted_by(schema: &Schema, sort: &Sort) -> Result<SortBy> {
    let by = TypedColumn::find(schema, &sort.property)?;
    if matches!(by.kind, PropertyKind::MultiSelect(_) | PropertyKind::Relation(_)) {
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

/// Where an item stands in the order of a query. As text, the cursor of a page that ends with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(Vec<u8>);

impl Place {
    /// The part of the first property: none for items that are sorted by ID alone, `Some(None)` for
    /// those without a value.
    #[expect(clippy::option_option, reason = "no property, no value, a value")]
    pub(crate) fn first(&self, query: &Query) -> Option<Option<Vec<u8>>> {
        let sort = query.sort.first()?;
        let (marker, rest) = self.0.split_first()?;
        if *marker == 1 {
            return Some(None);
        }
        let flip = if sort.descending { 0xff } else { 0 };
        let length = match &sort.by.kind {
            PropertyKind::Number => 8,
            PropertyKind::Date => 4,
            PropertyKind::Boolean => 1,
            PropertyKind::SingleSelect(_) => 2,
            _ => {
                let end = |(place, byte): (usize, &u8)| {
                    place == crate::sort_key::TEXT_BYTES || byte ^ flip == 0
                };
                rest.iter().enumerate().position(|(place, byte)| end((place, byte)))? + 1
            }
        };
        Some(Some(rest.get(..length)?.iter().map(|byte| byte ^ flip).collect()))
    }
}

impl Place {
    /// The item that stands there.
    pub(crate) fn item(&self, query: &Query) -> Option<BlockId> {
        let flip = if query.is_reversed() { 0xff } else { 0 };
        self.0.last_chunk::<16>().map(|id| BlockId::from_bytes(id.map(|byte| byte ^ flip)))
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::str::FromStr for Place {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::validation("is no cursor that an answer gave").at("cursor");
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
