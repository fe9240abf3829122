//! Queries of the items of a collection. Their semantics are defined by the crate for collections.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::Paging;
use super::blocks::MaxDepth;
use crate::json::{Object, array, deserialize_by, is_default, or_default, wire_enum};
#[cfg(feature = "schemars")]
use crate::json_schemas::OneOrMany;
use crate::nested::{Nested, without_recursion};
use crate::{BlockId, Error, Limits, Result};

wire_enum! {
    /// The comparison operator of a condition.
    Operator {
        /// Equals the operand; of a multiple select or a relation, as a set.
        #[default]
        Equals = "equals",
        /// Does not equal the operand; true for empty values.
        NotEquals = "notEquals",
        /// Text that contains the operand.
        Contains = "contains",
        /// Text that starts with the operand.
        StartsWith = "startsWith",
        /// A day before the operand.
        Before = "before",
        /// A day after the operand.
        After = "after",
        /// A day before or equal to the operand.
        OnOrBefore = "onOrBefore",
        /// A day after or equal to the operand.
        OnOrAfter = "onOrAfter",
        /// A number greater than the operand.
        GreaterThan = "greaterThan",
        /// A number greater than or equal to the operand.
        GreaterThanOrEqual = "greaterThanOrEqual",
        /// A number less than the operand.
        LessThan = "lessThan",
        /// A number less than or equal to the operand.
        LessThanOrEqual = "lessThanOrEqual",
        /// No value. The operand is `true`; `false` means [`Self::IsNotEmpty`].
        IsEmpty = "isEmpty",
        /// A value. The operand is `true`; `false` means [`Self::IsEmpty`].
        IsNotEmpty = "isNotEmpty",
        /// One of the operands; of several options or relations, at least one of them.
        AnyOf = "anyOf",
        /// Options or relations that include all operands.
        AllOf = "allOf",
    }
}

/// A comparison of one property. As JSON, the operator is the name of the operand: `{"property":
/// "due", "before": "today"}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The key of the property. The title has the content key, or `title` if no property has that
    /// key.
    pub property: String,
    /// The operator.
    pub operator: Operator,
    /// The operand, in the form that values of the property have in requests.
    pub operand: Value,
}

/// A filter of items.
///
/// As JSON: a [`Condition`], or `{"and": [..]}`, `{"or": [..]}`, `{"not": {..}}` of filters. An
/// empty `and` matches all items, an empty `or` none.
///
/// ```
/// use leafbase_model::{Condition, ItemFilter, Operator};
/// let filter: ItemFilter = serde_json::from_str(
///     r#"{"and": [{"property": "due", "before": "today"},
///                 {"not": {"property": "state", "anyOf": ["done"]}}]}"#,
/// )?;
/// let late = ItemFilter::on("due", Operator::Before, "today");
/// assert_eq!(filter, late.and(ItemFilter::on("state", Operator::AnyOf, vec!["done"]).negated()));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Cloning, comparing and dropping a filter does not recurse, whatever its depth; formatting and
/// serializing do.
#[derive(Debug)]
pub enum ItemFilter {
    /// Items that satisfy a condition.
    Condition(Condition),
    /// Items that match all filters.
    And(Vec<ItemFilter>),
    /// Items that match any filter.
    Or(Vec<ItemFilter>),
    /// Items that do not match the filter.
    Not(Box<ItemFilter>),
}

impl ItemFilter {
    /// A condition on a property.
    pub fn on(property: impl Into<String>, operator: Operator, operand: impl Into<Value>) -> Self {
        Self::Condition(Condition { property: property.into(), operator, operand: operand.into() })
    }

    /// The conjunction of two filters.
    pub fn and(self, other: Self) -> Self {
        Self::And(vec![self, other])
    }

    /// The disjunction of two filters.
    pub fn or(self, other: Self) -> Self {
        Self::Or(vec![self, other])
    }

    /// The negation of the filter.
    pub fn negated(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// `depth` is the number of enclosing filters.
    fn read(value: Value, depth: usize) -> Result<Self> {
        // Checked on the way down: a filter is read recursively.
        if depth > Limits::FILTER_DEPTH {
            return Err(Error::limit("nesting of a filter", Limits::FILTER_DEPTH, depth));
        }
        let mut object = Object::new(value)?;
        // A combinator has its name as its only field; any other object is a condition.
        let filter = match (object.take_raw("and"), object.take_raw("or"), object.take_raw("not")) {
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
            // Several combinators in one object have no defined precedence.
            _ => return Err(Error::validation("name exactly one of and, or, not and a property")),
        };
        object.finish()?;
        Ok(filter)
    }

    fn read_all(value: Value, depth: usize) -> Result<Vec<Self>> {
        let filters = array(value)?;
        let read_one = |(index, filter)| {
            Self::read(filter, depth + 1)
                .map_err(|error: Error| error.at(format_args!("[{index}]")))
        };
        filters.into_iter().enumerate().map(read_one).collect()
    }
}

impl Nested for ItemFilter {
    fn children(&self) -> &[Self] {
        match self {
            Self::Condition(_) => &[],
            Self::And(filters) | Self::Or(filters) => filters,
            Self::Not(filter) => std::slice::from_ref(filter),
        }
    }

    fn take_children(&mut self) -> Vec<Self> {
        match self {
            Self::Condition(_) => Vec::new(),
            // An empty list remains, which is dropped without recursion.
            Self::And(filters) | Self::Or(filters) => std::mem::take(filters),
            // A leaf below `Not` is dropped with its box: no recursion is possible.
            Self::Not(filter) if filter.children().is_empty() => Vec::new(),
            Self::Not(filter) => vec![std::mem::replace(&mut **filter, Self::And(Vec::new()))],
        }
    }

    fn with_children(&self, mut children: Vec<Self>) -> Self {
        match self {
            Self::Condition(condition) => Self::Condition(condition.clone()),
            Self::And(_) => Self::And(children),
            Self::Or(_) => Self::Or(children),
            // `children` of a negation returns exactly one.
            Self::Not(_) => Self::Not(Box::new(children.pop().unwrap_or(Self::And(Vec::new())))),
        }
    }

    fn eq_without_children(&self, other: &Self) -> bool {
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
        // The operator is the name of a field: exactly one of the known names may occur.
        let mut given = Vec::new();
        for operator in Operator::ALL {
            given.extend(object.take_raw(operator.as_str()).map(|operand| (*operator, operand)));
        }
        object.finish()?;
        if let Ok([(operator, operand)]) = <[_; 1]>::try_from(given) {
            return Ok(Self { property, operator, operand });
        }
        let known: Vec<_> = Operator::ALL.iter().map(|operator| operator.as_str()).collect();
        Err(Error::validation(format!("name exactly one of {}", known.join(", "))))
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
    /// The direction of a sort.
    Direction {
        /// Least value first.
        #[default]
        Ascending = "ascending",
        /// Greatest value first.
        Descending = "descending",
    }
}

/// A sort key of items. As JSON: `{"property": "due", "direction": "descending"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
pub struct Sort {
    /// The key of the property. The title has the content key, or `title` if no property has that
    /// key.
    pub property: String,
    /// The direction. Items without a value come last in both.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "is_default")]
    pub direction: Direction,
}

impl Sort {
    /// Sorts the least value first.
    pub fn ascending(property: impl Into<String>) -> Self {
        Self { property: property.into(), direction: Direction::Ascending }
    }

    /// Sorts the greatest value first.
    pub fn descending(property: impl Into<String>) -> Self {
        Self { property: property.into(), direction: Direction::Descending }
    }
}

/// Queries items. As JSON: `{"collectionId": "..", "filter": {..}, "sort": [{"property": "due"}],
/// "maxDepth": 0, "limit": 20, "cursor": ".."}`.
///
/// ```
/// use leafbase_model::{BlockId, ItemFilter, Operator, QueryItems, Sort};
/// # let books = BlockId::NIL;
/// let short = ItemFilter::on("pages", Operator::LessThan, 350);
/// let request = QueryItems::of(books).filtered(short).sorted(Sort::descending("pages"));
/// let request = request.depth(0).limit(20);
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
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct QueryItems {
    /// The collection.
    pub collection_id: BlockId,
    /// The filter; all items if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<ItemFilter>,
    /// The sort keys, most significant first; ties are broken by ID.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schemars", schemars(with = "Option<OneOrMany<Sort>>"))]
    pub sort: Vec<Sort>,
    /// The number of levels of the items' pages: 0 for the properties alone; unlimited if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Option<MaxDepth>"))]
    pub max_depth: Option<usize>,
    /// The page of the list.
    #[serde(flatten)]
    pub paging: Paging,
}

impl QueryItems {
    /// All items of this collection, by ID, with their whole pages.
    pub fn of(collection: BlockId) -> Self {
        Self {
            collection_id: collection,
            filter: None,
            sort: Vec::new(),
            max_depth: None,
            paging: Paging::default(),
        }
    }

    /// Sets the filter.
    pub fn filtered(mut self, filter: impl Into<Option<ItemFilter>>) -> Self {
        self.filter = filter.into();
        self
    }

    /// Adds a less significant sort key.
    pub fn sorted(mut self, sort: Sort) -> Self {
        self.sort.push(sort);
        self
    }

    /// Limits the levels of the items' pages.
    pub fn depth(mut self, levels: usize) -> Self {
        self.max_depth = Some(levels);
        self
    }

    /// Limits the number of items.
    pub fn limit(mut self, items: usize) -> Self {
        self.paging.limit = Some(items);
        self
    }

    /// Continues at the cursor of the previous reply.
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.paging.cursor = Some(cursor.into());
        self
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
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct CountItems {
    /// The collection.
    pub collection_id: BlockId,
    /// The filter; all items if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<ItemFilter>,
    /// The key of the property to group by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_by: Option<String>,
}

impl CountItems {
    /// Counts all items of this collection.
    pub fn of(collection: BlockId) -> Self {
        Self { collection_id: collection, filter: None, group_by: None }
    }

    /// Sets the filter.
    pub fn filtered(mut self, filter: impl Into<Option<ItemFilter>>) -> Self {
        self.filter = filter.into();
        self
    }

    /// Counts the items of each value of this property, too.
    pub fn grouped_by(mut self, property: impl Into<String>) -> Self {
        self.group_by = Some(property.into());
        self
    }
}

impl QueryItems {
    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let collection_id = object.required("collectionId")?;
        let filter = object.optional("filter")?;
        let sort = object.any_number("sort")?;
        let MaxDepth(max_depth) = object.or_default("maxDepth")?;
        let paging = Paging::take(&mut object)?;
        object.finish()?;
        Ok(Self { collection_id, filter, sort, max_depth, paging })
    }
}

deserialize_by!(QueryItems: Self::read, ItemFilter: |value| Self::read(value, 0));
