//! Queries over items of the naive space, by a scan of every item.

use std::cmp::Ordering;

use leafbase_model::{
    BlockId, BlockKind, Condition, CountItems, Direction, Error, GroupValue, Item, ItemCounts,
    ItemFilter, ItemGroup, Operator, Property, PropertyKind, PropertyType, PropertyValue,
    QueryItems, Result, Schema, Timestamp,
};
use serde_json::Value;

use crate::naive_items::{Plain, is_title};
use crate::naive_values::{Reading, day, ids, mismatch, read};
use crate::{Broken, NaiveSpace};

/// Whether a value matches a condition.
type Test = Box<dyn Fn(Option<&PropertyValue>) -> bool>;

/// Whether an item matches.
type Meant<'a> = Box<dyn Fn(&NaiveSpace, BlockId) -> bool + 'a>;

/// Case folding for comparison; test texts need nothing more.
fn folded(text: &str) -> String {
    text.to_lowercase().replace('é', "e\u{301}")
}

impl NaiveSpace {
    /// The items that match a query, on all pages.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn query_items(
        &self,
        request: &QueryItems,
        now: Timestamp,
        plain: Plain<'_>,
    ) -> Result<Vec<Item>> {
        let schema = self.known_schema(request.collection_id)?;
        let mut found = self.meant(&schema, request.collection_id, request.filter.as_ref(), now)?;
        let mut columns = Vec::new();
        for (index, sort) in request.sort.iter().enumerate() {
            let column = column(&schema, &sort.property).and_then(|column| match column.kind {
                PropertyKind::MultiSelect(_) | PropertyKind::Relation(_) => {
                    Err(mismatch("no order").at("property"))
                }
                _ => Ok(column),
            });
            let column = column.map_err(|error| error.at(format_args!("sort[{index}]")))?;
            columns.push((column, sort.direction == Direction::Descending));
        }
        found.sort_by(|one, other| {
            let mut order = Ordering::Equal;
            for (column, descending) in &columns {
                let value =
                    |item| present(self.value(&schema, request.collection_id, column, item));
                order = order
                    .then_with(|| self.ordered(column, value(*one), value(*other), *descending));
            }
            let by_id = one.cmp(other);
            let is_reversed = columns.first().is_some_and(|(_, descending)| *descending);
            order.then(if is_reversed { by_id.reverse() } else { by_id })
        });
        Ok(found.into_iter().map(|item| self.shown_item(item, request.max_depth, plain)).collect())
    }

    /// Empty values sort last in both directions.
    fn ordered(
        &self,
        column: &Property,
        one: Option<PropertyValue>,
        other: Option<PropertyValue>,
        descending: bool,
    ) -> Ordering {
        match (one, other) {
            (Some(one), Some(other)) => {
                let order = compare(&column.kind, &one, &other);
                if descending { order.reverse() } else { order }
            }
            (one, other) if self.breaks(Broken::EmptyComesFirst) => {
                one.is_some().cmp(&other.is_some())
            }
            (one, other) => one.is_none().cmp(&other.is_none()),
        }
    }

    /// Number of matching items per value.
    ///
    /// # Errors
    /// As the operation of this name.
    pub fn count_items(&self, request: &CountItems, now: Timestamp) -> Result<ItemCounts> {
        let schema = self.known_schema(request.collection_id)?;
        let found = self.meant(&schema, request.collection_id, request.filter.as_ref(), now)?;
        let count = found.len() as u64;
        let Some(key) = &request.group_by else { return Ok(ItemCounts { count, groups: None }) };
        let column = column(&schema, key)
            .map_err(|error| Error::new(error.kind(), error.message()).at("groupBy"))?;
        let mut groups: Vec<(Option<PropertyValue>, u64)> = Vec::new();
        for item in found {
            let value = present(self.value(&schema, request.collection_id, &column, item));
            let parts = match value {
                Some(PropertyValue::Options(names)) => {
                    names.into_iter().map(|name| Some(PropertyValue::Text(name))).collect()
                }
                Some(PropertyValue::Relations(items)) => items
                    .into_iter()
                    .map(|item| Some(PropertyValue::Relations(vec![item])))
                    .collect(),
                value => vec![value],
            };
            for part in parts {
                match groups.iter_mut().find(|(known, _)| *known == part) {
                    Some((_, count)) => *count += 1,
                    None => groups.push((part, 1)),
                }
            }
        }
        groups.sort_by(|(one, _), (other, _)| match (one, other) {
            (Some(one), Some(other)) => {
                compare(&column.kind, one, other).then_with(|| text_of(one).cmp(text_of(other)))
            }
            (one, other) => one.is_none().cmp(&other.is_none()),
        });
        let group = |(value, count): (Option<PropertyValue>, u64)| ItemGroup {
            value: value.map(|value| self.grouped(value)),
            count,
        };
        Ok(ItemCounts { count, groups: Some(groups.into_iter().map(group).collect()) })
    }

    fn grouped(&self, value: PropertyValue) -> GroupValue {
        match value {
            PropertyValue::Relations(items) => GroupValue::Related(self.titled(&items).remove(0)),
            value => GroupValue::Value(value),
        }
    }

    fn meant(
        &self,
        schema: &Schema,
        collection: BlockId,
        filter: Option<&ItemFilter>,
        now: Timestamp,
    ) -> Result<Vec<BlockId>> {
        let items = self.get(collection).children.iter().map(|item| item.record.id);
        let Some(filter) = filter else { return Ok(items.collect()) };
        let reading = Reading { today: self.today(now), limits: &self.limits, new_options: false };
        let meant =
            read_filter(schema, collection, filter, reading).map_err(|error| error.at("filter"))?;
        Ok(items.filter(|item| meant(self, *item)).collect())
    }

    /// Value of an item's property.
    fn value(
        &self,
        schema: &Schema,
        collection: BlockId,
        column: &Property,
        item: BlockId,
    ) -> Option<PropertyValue> {
        let block = self.get(item);
        if is_title(schema, &column.key) {
            return Some(PropertyValue::Text(block.record.data.inline.clone()));
        }
        if column.kind.relation().is_some() {
            let related = self.related(&(collection, column.key.clone()), item);
            return (!related.is_empty()).then_some(PropertyValue::Relations(related));
        }
        let BlockKind::CollectionItem { properties } = &block.record.data.kind else { return None };
        properties.get(&column.key).cloned()
    }
}

fn read_filter<'a>(
    schema: &'a Schema,
    collection: BlockId,
    filter: &ItemFilter,
    reading: Reading<'_>,
) -> Result<Meant<'a>> {
    let all = |filters: &[ItemFilter], name: &str| -> Result<Vec<Meant<'a>>> {
        let read = |(index, filter)| {
            let read = read_filter(schema, collection, filter, reading);
            read.map_err(|error| error.at(format_args!("{name}[{index}]")))
        };
        filters.iter().enumerate().map(read).collect()
    };
    Ok(match filter {
        ItemFilter::Condition(condition) => {
            let column = column(schema, &condition.property)?;
            let test =
                test(condition, &column, reading).map_err(|error| error.at(condition.operator))?;
            Box::new(move |space, item| {
                test(present(space.value(schema, collection, &column, item)).as_ref())
            })
        }
        ItemFilter::And(filters) => {
            let all = all(filters, "and")?;
            Box::new(move |space, item| all.iter().all(|meant| meant(space, item)))
        }
        ItemFilter::Or(filters) => {
            let any = all(filters, "or")?;
            Box::new(move |space, item| any.iter().any(|meant| meant(space, item)))
        }
        ItemFilter::Not(filter) => {
            let not = read_filter(schema, collection, filter, reading)
                .map_err(|error| error.at("not"))?;
            Box::new(move |space, item| !not(space, item))
        }
    })
}

/// A blank text counts as empty.
fn present(value: Option<PropertyValue>) -> Option<PropertyValue> {
    value.filter(|value| *value != PropertyValue::Text(String::new()))
}

fn column(schema: &Schema, key: &str) -> Result<Property> {
    if is_title(schema, key) {
        return Ok(Property { key: key.to_owned(), name: String::new(), kind: PropertyKind::Text });
    }
    schema.property(key).cloned().ok_or_else(|| mismatch("no such property").at("property"))
}

fn text_of(value: &PropertyValue) -> &str {
    if let PropertyValue::Text(text) = value { text } else { "" }
}

fn compare(kind: &PropertyKind, one: &PropertyValue, other: &PropertyValue) -> Ordering {
    use PropertyValue::{Boolean, Date, Number, Relations, Text};
    let rank = |name: &str| kind.options().iter().position(|option| option.name == name);
    match (one, other) {
        (Text(one), Text(other)) if kind.property_type().has_options() => {
            rank(one).cmp(&rank(other))
        }
        (Text(one), Text(other)) => folded(one).cmp(&folded(other)),
        (Number(one), Number(other)) => one.partial_cmp(other).unwrap(),
        (Boolean(one), Boolean(other)) => one.cmp(other),
        (Date(one), Date(other)) => one.cmp(other),
        (Relations(one), Relations(other)) => one.cmp(other),
        _ => Ordering::Equal,
    }
}

/// The operand, or those of `anyOf`.
fn operands<T>(condition: &Condition, read: impl Fn(&Value) -> Result<T>) -> Result<Vec<T>> {
    if condition.operator != Operator::AnyOf {
        return Ok(vec![read(&condition.operand)?]);
    }
    let values = condition.operand.as_array().ok_or_else(|| mismatch("no array"))?;
    let at = |(index, value): (usize, &Value)| {
        read(value).map_err(|error| error.at(format_args!("[{index}]")))
    };
    values.iter().enumerate().map(at).collect()
}

fn test(condition: &Condition, column: &Property, reading: Reading<'_>) -> Result<Test> {
    use Operator::{AllOf, AnyOf, Contains, Equals, IsEmpty, IsNotEmpty, NotEquals, StartsWith};
    let operator = condition.operator;
    if matches!(operator, IsEmpty | IsNotEmpty) {
        let flag = condition.operand.as_bool().ok_or_else(|| mismatch("no boolean"))?;
        let wants_empty = flag == (operator == IsEmpty);
        return Ok(Box::new(move |value| value.is_none() == wants_empty));
    }
    if operator == NotEquals {
        let equals = Condition { operator: Equals, ..condition.clone() };
        let equals = test(&equals, column, reading)?;
        return Ok(Box::new(move |value| !equals(value)));
    }
    let refused = || Err(mismatch("no such comparison"));
    match column.kind.property_type() {
        PropertyType::Text | PropertyType::Url | PropertyType::Email | PropertyType::Phone => {
            if !matches!(operator, Equals | Contains | StartsWith | AnyOf) {
                return refused();
            }
            let text =
                |value: &Value| value.as_str().map(folded).ok_or_else(|| mismatch("no text"));
            let wanted = operands(condition, text)?;
            Ok(Box::new(move |value| {
                let Some(PropertyValue::Text(text)) = value else {
                    return matches!(operator, Equals | AnyOf)
                        && wanted.iter().any(String::is_empty);
                };
                let text = folded(text);
                wanted.iter().any(|wanted| match operator {
                    Contains => text.contains(wanted),
                    StartsWith => text.starts_with(wanted),
                    _ => text == *wanted,
                })
            }))
        }
        PropertyType::Number => {
            let holds =
                ordering_of(operator, true).ok_or_else(|| mismatch("no such comparison"))?;
            let number = |value: &Value| match read(column, value, reading)? {
                Some(PropertyValue::Number(number)) => Ok(number),
                _ => Err(mismatch("no number")),
            };
            let wanted = operands(condition, number)?;
            Ok(Box::new(move |value| {
                let Some(PropertyValue::Number(number)) = value else { return false };
                wanted.iter().any(|wanted| holds(number.partial_cmp(wanted).unwrap()))
            }))
        }
        PropertyType::Date => {
            let holds =
                ordering_of(operator, false).ok_or_else(|| mismatch("no such comparison"))?;
            let wanted = operands(condition, |value| day(value, reading.today))?;
            Ok(Box::new(move |value| {
                let Some(PropertyValue::Date(day)) = value else { return false };
                wanted.iter().any(|wanted| holds(day.cmp(wanted)))
            }))
        }
        PropertyType::Boolean if operator == Equals => {
            let wanted = condition.operand.as_bool().ok_or_else(|| mismatch("no boolean"))?;
            Ok(Box::new(move |value| value == Some(&PropertyValue::Boolean(wanted))))
        }
        PropertyType::SingleSelect if matches!(operator, Equals | AnyOf) => {
            let name = |value: &Value| match read(column, value, reading)? {
                Some(PropertyValue::Text(name)) => Ok(name),
                _ => Err(mismatch("no name")),
            };
            let wanted = operands(condition, name)?;
            Ok(Box::new(move |value| {
                wanted.iter().any(|name| value == Some(&PropertyValue::Text(name.clone())))
            }))
        }
        PropertyType::MultiSelect if matches!(operator, Equals | Contains | AnyOf | AllOf) => {
            let alone = condition
                .operand
                .is_string()
                .then(|| Value::Array(vec![condition.operand.clone()]));
            let wanted = match read(column, alone.as_ref().unwrap_or(&condition.operand), reading)?
            {
                Some(PropertyValue::Options(names)) => names,
                _ if condition.operand.is_null() => return Err(mismatch("nothing")),
                _ => Vec::new(),
            };
            check_one(operator, wanted.len())?;
            Ok(Box::new(move |value| match value {
                Some(PropertyValue::Options(names)) => among(operator, names, &wanted),
                _ => among(operator, &[], &wanted),
            }))
        }
        PropertyType::Relation if matches!(operator, Equals | Contains | AnyOf | AllOf) => {
            let mut wanted = ids(&condition.operand)?;
            wanted.sort_unstable();
            wanted.dedup();
            check_one(operator, wanted.len())?;
            Ok(Box::new(move |value| match value {
                Some(PropertyValue::Relations(items)) => among(operator, items, &wanted),
                _ => among(operator, &[], &wanted),
            }))
        }
        _ => refused(),
    }
}

fn check_one(operator: Operator, found: usize) -> Result<()> {
    if operator == Operator::Contains && found != 1 { Err(mismatch("not one")) } else { Ok(()) }
}

/// Comparison of a set of values: equal, any of, or all of.
fn among<T: PartialEq>(operator: Operator, found: &[T], wanted: &[T]) -> bool {
    match operator {
        Operator::Equals => {
            found.len() == wanted.len() && wanted.iter().all(|one| found.contains(one))
        }
        Operator::AllOf => wanted.iter().all(|one| found.contains(one)),
        _ => wanted.iter().any(|one| found.contains(one)),
    }
}

fn ordering_of(operator: Operator, of_numbers: bool) -> Option<fn(Ordering) -> bool> {
    Some(match (operator, of_numbers) {
        (Operator::Equals | Operator::AnyOf, _) => Ordering::is_eq,
        (Operator::LessThan, true) | (Operator::Before, false) => Ordering::is_lt,
        (Operator::LessThanOrEqual, true) | (Operator::OnOrBefore, false) => Ordering::is_le,
        (Operator::GreaterThan, true) | (Operator::After, false) => Ordering::is_gt,
        (Operator::GreaterThanOrEqual, true) | (Operator::OnOrAfter, false) => Ordering::is_ge,
        _ => return None,
    })
}
