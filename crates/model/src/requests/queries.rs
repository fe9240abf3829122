//! Queries over the items of a collection: what is asked. What it means is decided where the values
//! are.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::blocks::max_depth;
use super::{Paging, given};
use crate::json::{FromJson, Object, deserialize_through_json, one_or_many, wire_enum};
use crate::nested::{Nested, without_recursion};
use crate::{BlockId, Error, Limits, Result};

wire_enum! {
    /// How a condition compares a property with its operand.
    Operator {
        /// Has this value; of a multiple select or a relation, just these.
        #[default]
        Equals = "equals",
        /// Has not this value; what is empty has not.
        NotEquals = "notEquals",
        /// Text that has this in it.
        Contains = "contains",
        /// Text that begins so.
        StartsWith = "startsWith",
        /// A day before this one.
        Before = "before",
        /// A day after this one.
        After = "after",
        /// This day or one before.
        OnOrBefore = "onOrBefore",
        /// This day or one after.
        OnOrAfter = "onOrAfter",
        /// A number above this one.
        GreaterThan = "greaterThan",
        /// This number or one above.
        GreaterThanOrEqual = "greaterThanOrEqual",
        /// A number below this one.
        LessThan = "lessThan",
        /// This number or one below.
        LessThanOrEqual = "lessThanOrEqual",
        /// No value; the operand is `true`, and `false` means [`Self::IsNotEmpty`].
        IsEmpty = "isEmpty",
        /// A value; the operand is `true`, and `false` means [`Self::IsEmpty`].
        IsNotEmpty = "isNotEmpty",
        /// One of these values; of several options or relations, at least one of these.
        AnyOf = "anyOf",
        /// Several options or relations with all of these among them.
        AllOf = "allOf",
    }
}

/// A comparison of one property. As JSON, the operator is the name of the operand: `{"property":
/// "due", "before": "today"}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The key of the property; the content key, or `title` where no property has it, for the
    /// title.
    pub property: String,
    /// How it is compared.
    pub operator: Operator,
    /// With what; of the form that values of the property have in requests.
    pub operand: Value,
}

/// Which items are meant.
///
/// As JSON: a [`Condition`], or `{"and": [..]}`, `{"or": [..]}`, `{"not": {..}}` of filters. An
/// empty `and` lets all through, an empty `or` none.
///
/// ```
/// use leafbase_model::{Condition, ItemFilter, Operator};
/// let filter: ItemFilter = serde_json::from_str(
///     r#"{"and": [{"property": "due", "before": "today"}, {"not": {"property": "state", "anyOf": ["done"]}}]}"#,
/// )?;
/// let late = ItemFilter::on("due", Operator::Before, "today");
/// assert_eq!(filter, late.and(ItemFilter::on("state", Operator::AnyOf, vec!["done"]).negated()));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// However deep it nests, it is cloned, compared and dropped without recursion. Only printing and
/// serializing recurse through it.
#[derive(Debug)]
pub enum ItemFilter {
    /// What meets this condition.
    Condition(Condition),
    /// What passes all of these.
    And(Vec<ItemFilter>),
    /// What passes any of these.
    Or(Vec<ItemFilter>),
    /// What does not pass this.
    Not(Box<ItemFilter>),
}

impl ItemFilter {
    /// What meets this condition.
    pub fn on(property: impl Into<String>, operator: Operator, operand: impl Into<Value>) -> Self {
        Self::Condition(Condition { property: property.into(), operator, operand: operand.into() })
    }

    /// What passes this and that.
    pub fn and(self, other: Self) -> Self {
        Self::And(vec![self, other])
    }

    /// What passes this or that.
    pub fn or(self, other: Self) -> Self {
        Self::Or(vec![self, other])
    }

    /// What does not pass this.
    pub fn negated(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// `depth` filters stand around this one.
    fn read(value: Value, depth: usize) -> Result<Self> {
        if depth > Limits::FILTER_DEPTH {
            return Err(Error::limit("nesting of a filter", Limits::FILTER_DEPTH, depth));
        }
        let mut object = Object::new(value)?;
        let read = match (object.take("and"), object.take("or"), object.take("not")) {
            (None, None, None) => return Condition::read(object).map(Self::Condition),
            (Some(all), None, None) => {
                Self::And(Self::read_all(all, depth).map_err(|error| error.at("and"))?)
            }
            (None, Some(any), None) => {
                Self::Or(Self::read_all(any, depth).map_err(|error| error.at("or"))?)
            }
            (None, None, Some(not)) => {
                Self::Not(Box::new(Self::read(not, depth + 1).map_err(|error| error.at("not"))?))
            }
            _ => return Err(Error::validation("name exactly one of and, or, not and a property")),
        };
        object.finish()?;
        Ok(read)
    }

    fn read_all(value: Value, depth: usize) -> Result<Vec<Self>> {
        let filters: Vec<Value> = Vec::from_json(value)?;
        let read = |(index, filter)| {
            Self::read(filter, depth + 1)
                .map_err(|error: Error| error.at(format_args!("[{index}]")))
        };
        filters.into_iter().enumerate().map(read).collect()
    }
}

impl Nested for ItemFilter {
    fn below(&self) -> &[Self] {
        match self {
            Self::Condition(_) => &[],
            Self::And(filters) | Self::Or(filters) => filters,
            Self::Not(filter) => std::slice::from_ref(filter),
        }
    }

    fn take_below(&mut self) -> Vec<Self> {
        match self {
            Self::Condition(_) => Vec::new(),
            Self::And(filters) | Self::Or(filters) => std::mem::take(filters),
            // What has nothing below it goes with its box.
            Self::Not(filter) if filter.below().is_empty() => Vec::new(),
            Self::Not(filter) => vec![std::mem::replace(&mut **filter, Self::And(Vec::new()))],
        }
    }

    fn with_below(&self, mut below: Vec<Self>) -> Self {
        match self {
            Self::Condition(condition) => Self::Condition(condition.clone()),
            Self::And(_) => Self::And(below),
            Self::Or(_) => Self::Or(below),
            Self::Not(_) => Self::Not(Box::new(below.pop().unwrap_or(Self::And(Vec::new())))),
        }
    }

    fn is_alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Condition(left), Self::Condition(right)) => left == right,
            (Self::And(_), Self::And(_))
            | (Self::Or(_), Self::Or(_))
            | (Self::Not(_), Self::Not(_)) => true,
            _ => false,
        }
    }
}

without_recursion!(ItemFilter);

impl Condition {
    fn read(mut object: Object) -> Result<Self> {
        let property = object.required("property")?;
        let mut given = Vec::new();
        for operator in Operator::ALL {
            given.extend(object.take(operator.as_str()).map(|operand| (*operator, operand)));
        }
        object.finish()?;
        if let Ok([(operator, operand)]) = <[_; 1]>::try_from(given) {
            return Ok(Self { property, operator, operand });
        }
        let known: Vec<_> = Operator::ALL.iter().map(|operator| operator.as_str()).collect();
        Err(Error::validation(format!("name exactly one of {}", known.join(", "))))
    }
}

impl FromJson for ItemFilter {
    fn from_json(value: Value) -> Result<Self> {
        Self::read(value, 0)
    }
}

impl FromJson for Value {
    fn from_json(value: Value) -> Result<Self> {
        Ok(value)
    }
}

impl Serialize for ItemFilter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Condition(Condition { property, operator, operand }) => {
                map.serialize_entry("property", property)?;
                map.serialize_entry(operator.as_str(), operand)?;
            }
            Self::And(filters) => map.serialize_entry("and", filters)?,
            Self::Or(filters) => map.serialize_entry("or", filters)?,
            Self::Not(filter) => map.serialize_entry("not", filter)?,
        }
        map.end()
    }
}

wire_enum! {
    /// Which way items are sorted.
    Direction {
        /// The least first.
        #[default]
        Ascending = "ascending",
        /// The greatest first.
        Descending = "descending",
    }
}

/// What items are sorted by. As JSON: `{"property": "due", "direction": "descending"}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sort {
    /// The key of the property; the content key, or `title` where no property has it, for the
    /// title.
    pub property: String,
    /// Which way. Items without a value are last either way.
    pub direction: Direction,
}

impl Sort {
    /// The least first.
    pub fn ascending(property: impl Into<String>) -> Self {
        Self { property: property.into(), direction: Direction::Ascending }
    }

    /// The greatest first.
    pub fn descending(property: impl Into<String>) -> Self {
        Self { property: property.into(), direction: Direction::Descending }
    }
}

impl FromJson for Sort {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            property: object.required("property")?,
            direction: object.optional("direction")?.unwrap_or_default(),
        };
        object.finish()?;
        Ok(read)
    }
}

impl Serialize for Sort {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("property", &self.property)?;
        given(
            &mut map,
            "direction",
            (self.direction != Direction::default()).then_some(&self.direction),
        )?;
        map.end()
    }
}

/// Finds items. As JSON: `{"collectionId": "..", "filter": {..}, "sort": [{"property": "due"}],
/// "maxDepth": 0, "limit": 20, "cursor": ".."}`.
///
/// ```
/// use leafbase_model::{BlockId, ItemFilter, Operator, QueryItems, Sort};
/// # let books = BlockId::NIL;
/// let short = ItemFilter::on("pages", Operator::LessThan, 350);
/// let request = QueryItems::of(books).filtered(short).sorted(Sort::descending("pages")).depth(0).limit(20);
/// let json = serde_json::json!({
///     "collectionId": books,
///     "filter": {"property": "pages", "lessThan": 350},
///     "sort": [{"property": "pages", "direction": "descending"}],
///     "maxDepth": 0,
///     "limit": 20,
/// });
/// assert_eq!(serde_json::to_value(request)?, json);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct QueryItems {
    /// The collection.
    pub collection_id: BlockId,
    /// Which; none for all.
    pub filter: Option<ItemFilter>,
    /// In which order: by the first of these, then by the next, in the end by ID.
    pub sort: Vec<Sort>,
    /// How many levels of their pages: none for all, 0 for the properties alone.
    pub max_depth: Option<usize>,
    /// How many, and from where on.
    pub paging: Paging,
}

impl QueryItems {
    /// All items of this collection, by ID, with all of their pages.
    pub fn of(collection: BlockId) -> Self {
        Self {
            collection_id: collection,
            filter: None,
            sort: Vec::new(),
            max_depth: None,
            paging: Paging::default(),
        }
    }

    /// Those that pass this.
    pub fn filtered(mut self, filter: ItemFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Sorted by this, too, where what came before is equal.
    pub fn sorted(mut self, sort: Sort) -> Self {
        self.sort.push(sort);
        self
    }

    /// At most so many levels of their pages.
    pub fn depth(mut self, levels: usize) -> Self {
        self.max_depth = Some(levels);
        self
    }

    /// At most so many.
    pub fn limit(mut self, items: usize) -> Self {
        self.paging.limit = Some(items);
        self
    }

    /// What follows the reply that gave this cursor.
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.paging.cursor = Some(cursor.into());
        self
    }
}

impl FromJson for QueryItems {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let (collection_id, filter) =
            (object.required("collectionId")?, object.optional("filter")?);
        let sort =
            object.take("sort").map(one_or_many).transpose().map_err(|error| error.at("sort"))?;
        let (max_depth, paging) = (max_depth(&mut object)?, Paging::take(&mut object)?);
        object.finish()?;
        Ok(Self { collection_id, filter, sort: sort.unwrap_or_default(), max_depth, paging })
    }
}

impl Serialize for QueryItems {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("collectionId", &self.collection_id)?;
        given(&mut map, "filter", self.filter.as_ref())?;
        given(&mut map, "sort", (!self.sort.is_empty()).then_some(&self.sort))?;
        given(&mut map, "maxDepth", self.max_depth.as_ref())?;
        self.paging.write(&mut map)?;
        map.end()
    }
}

/// Counts items. As JSON: `{"collectionId": "..", "filter": {..}, "groupBy": "state"}`.
///
/// ```
/// use leafbase_model::{BlockId, CountItems};
/// # let books = BlockId::NIL;
/// let json = r#"{"collectionId": "00000000000000000000000000", "groupBy": "shelf"}"#;
/// assert_eq!(CountItems::of(books).grouped_by("shelf"), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CountItems {
    /// The collection.
    pub collection_id: BlockId,
    /// Which; none for all.
    pub filter: Option<ItemFilter>,
    /// The key of a property whose values are counted one by one.
    pub group_by: Option<String>,
}

impl CountItems {
    /// All items of this collection.
    pub fn of(collection: BlockId) -> Self {
        Self { collection_id: collection, filter: None, group_by: None }
    }

    /// Those that pass this.
    pub fn filtered(mut self, filter: ItemFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// How many have each value of this property, too.
    pub fn grouped_by(mut self, property: impl Into<String>) -> Self {
        self.group_by = Some(property.into());
        self
    }
}

impl FromJson for CountItems {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            collection_id: object.required("collectionId")?,
            filter: object.optional("filter")?,
            group_by: object.optional("groupBy")?,
        };
        object.finish()?;
        Ok(read)
    }
}

impl Serialize for CountItems {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("collectionId", &self.collection_id)?;
        given(&mut map, "filter", self.filter.as_ref())?;
        given(&mut map, "groupBy", self.group_by.as_ref())?;
        map.end()
    }
}

deserialize_through_json!(ItemFilter, Sort, QueryItems, CountItems);
