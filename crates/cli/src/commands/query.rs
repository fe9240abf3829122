//! `leafbase query`: finds or counts items of a collection.

use clap::Args;
use leafbase::{
    BlockId, Connection, CountItems, GroupValue, ItemCounts, ItemFilter, Limits, Operator,
    PropertyType, QueryItems, Relation, Schema, Sort,
};
use serde_json::Value;

use crate::context::CommandContext;
use crate::days::SpokenDay;
use crate::error::{CliError, CliResult};
use crate::names;
use crate::show::table::{self, Cell};
use crate::show::{items, line, styles};

/// Find items of a collection, or count them
///
/// A condition is a key, an operator and a value: 'pages<350', 'state=Open', 'title~lisbon'. The
/// operators are = != < <= > >=, ~ for substrings and ^= for prefixes; key= matches items without a
/// value, key!= items with one. For a select, commas separate alternatives. Days are those of
/// leafbase --help: 'due<friday'. A related item is named by its title or its ID.
#[derive(Debug, Args)]
pub(crate) struct QueryCommand {
    /// The collection: its name or ID
    collection: String,
    /// A condition; several must all hold
    #[arg(short = 'w', long = "where", value_name = "CONDITION")]
    conditions: Vec<String>,
    /// Sort by this key, then by the next; a leading minus sorts in descending order
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    sort: Vec<String>,
    /// Count the items by value of this key instead
    #[arg(long, value_name = "KEY", conflicts_with_all = ["sort", "limit"])]
    group: Option<String>,
    /// Maximum number of items
    #[arg(long, value_name = "ITEMS")]
    limit: Option<usize>,
    /// The filter as JSON: {"or": [{"property": "pages", "lessThan": 350}, {"not": {..}}]}
    #[arg(long, value_name = "JSON", conflicts_with = "conditions")]
    json_filter: Option<String>,
    /// The whole request as JSON, without collectionId: {"filter": {..}, "sort": [..], "limit": 20}
    #[arg(long, value_name = "JSON", conflicts_with_all = ["conditions", "sort", "group", "limit", "json_filter"])]
    json_request: Option<String>,
}

impl QueryCommand {
    pub(crate) fn run(self, context: &mut CommandContext) -> CliResult<()> {
        let notes = context.reader()?;
        let collection = names::collection(&notes, &self.collection)?;
        let schema = notes.schema(collection.id)?;
        let request = match &self.json_request {
            Some(json) => whole(&notes, json, collection.id)?,
            None => QueryItems::of(collection.id).filtered(self.filter(&notes, &schema)?),
        };
        if let Some(key) = &self.group {
            let counting = CountItems::of(collection.id).filtered(request.filter);
            return groups(context, &notes.count_items(counting.grouped_by(key))?);
        }
        let mut request = self.arranged(request);
        if context.options.json {
            return context.out.json_pages(request.paging.clone(), |paging| {
                request.paging = paging;
                notes.query_items(request.clone())
            });
        }
        let found = notes.query_items(request)?;
        items::write(&mut context.out, &schema, &found)?;
        if found.next_cursor.is_some() {
            context.out.line(context.out.paint(styles::QUIET, "more items: --limit"))?;
        }
        Ok(())
    }

    fn arranged(&self, mut request: QueryItems) -> QueryItems {
        for key in &self.sort {
            request = request.sorted(match key.strip_prefix('-') {
                Some(key) => Sort::descending(key),
                None => Sort::ascending(key),
            });
        }
        // Pages of items are not shown, so their blocks are not read.
        request.max_depth = request.max_depth.or(Some(0));
        request.paging.limit = self.limit.or(request.paging.limit);
        request
    }

    fn filter(&self, notes: &Connection, schema: &Schema) -> CliResult<Option<ItemFilter>> {
        if let Some(json) = &self.json_filter {
            return Ok(Some(notes.space().read_json(json)?));
        }
        let conditions = self
            .conditions
            .iter()
            .map(|text| condition(notes, schema, text))
            .collect::<CliResult<Vec<_>>>()?;
        Ok((!conditions.is_empty()).then_some(ItemFilter::And(conditions)))
    }
}

/// Parses the whole request and adds the collection to it.
fn whole(notes: &Connection, json: &str, collection: leafbase::BlockId) -> CliResult<QueryItems> {
    let limits: &Limits = notes.space().limits();
    let mut request: Value = leafbase::json::from_str(json, limits)?;
    match request.as_object_mut() {
        Some(fields) => {
            fields.entry("collectionId").or_insert_with(|| Value::from(collection.to_string()))
        }
        None => {
            return Err(CliError::usage("--json-request expects a JSON object")
                .hint(r#"{"sort": [{"property": "due"}]}"#));
        }
    };
    Ok(notes.space().read_json(&request.to_string())?)
}

/// Operators of conditions, longer ones before their prefixes.
const OPERATORS: [&str; 8] = ["!=", "<=", ">=", "^=", "=", "<", ">", "~"];

/// Parses a condition such as `pages<350`.
fn condition(notes: &Connection, schema: &Schema, text: &str) -> CliResult<ItemFilter> {
    let at = |sign: &&'static str| text.find(*sign).map(|place| (place, *sign));
    // The leftmost operator counts; at one offset the longest.
    let found = OPERATORS
        .iter()
        .filter_map(at)
        .min_by_key(|(place, sign)| (*place, std::cmp::Reverse(sign.len())));
    let parts = found.and_then(|(place, sign)| {
        Some((text.get(..place)?, sign, text.get(place + sign.len()..)?))
    });
    let (key, sign, value) =
        parts.map(|(key, sign, value)| (key.trim(), sign, value.trim())).ok_or_else(|| {
            CliError::usage(format!("{text:?} is not a condition"))
                .hint("a key, an operator and a value: --where 'pages<350'")
        })?;
    let kind = kind_of(schema, key)?;
    if value.is_empty() && (sign == "=" || sign == "!=") {
        return Ok(ItemFilter::on(
            key,
            if sign == "=" { Operator::IsEmpty } else { Operator::IsNotEmpty },
            true,
        ));
    }
    // Options and relations are sets: equality means membership.
    let many = matches!(
        kind,
        PropertyType::SingleSelect | PropertyType::MultiSelect | PropertyType::Relation
    );
    if many && (sign == "=" || sign == "!=") {
        // A name with a comma is one value.
        let values: Vec<_> = if has_option(schema, key, value) {
            vec![value]
        } else {
            value.split(',').map(str::trim).collect()
        };
        let values = values.into_iter();
        let values = match relation_of(schema, key) {
            Some(relation) => values
                .map(|value| related(notes, relation.target, value))
                .collect::<CliResult<Vec<_>>>()?,
            None => values.map(str::to_owned).collect(),
        };
        let any = ItemFilter::on(key, Operator::AnyOf, values);
        return Ok(if sign == "=" { any } else { any.negated() });
    }
    let operator = operator(kind, sign).ok_or_else(|| {
        CliError::usage(format!("{key} has type {kind}, which does not support {sign}"))
    })?;
    // The engine refuses anything but a day, and its message names the property.
    let day = (kind == PropertyType::Date).then(|| value.parse::<SpokenDay>().ok()).flatten();
    let operand = match day {
        Some(day) => Value::from(day.at(notes)?.to_string()),
        None => operand(kind, value),
    };
    Ok(ItemFilter::on(key, operator, operand))
}

/// Whether a property has an option of this name.
fn has_option(schema: &Schema, key: &str, name: &str) -> bool {
    let mut properties = schema.properties.iter();
    let property = properties.find(|property| &*property.key == key);
    let mut options = property.iter().flat_map(|property| property.kind.options());
    options.any(|option| option.name == name)
}

fn relation_of<'s>(schema: &'s Schema, key: &str) -> Option<&'s Relation> {
    schema.properties.iter().find(|property| &*property.key == key)?.kind.relation()
}

/// The ID of an item of `collection`, which is named by its ID or its title.
fn related(notes: &Connection, collection: BlockId, name: &str) -> CliResult<String> {
    if name.parse::<BlockId>().is_ok() {
        return Ok(name.to_owned());
    }
    match names::items_titled(notes, collection, name)?.as_slice() {
        [] => Err(CliError::not_found(format!("no related item is named {name:?}"))),
        [item] => Ok(item.to_string()),
        several => {
            let candidates = several.iter().map(|item| (item.to_string(), name.to_owned()));
            Err(names::ambiguous("items", name, candidates))
        }
    }
}

/// The type of a property; the title is a text.
fn kind_of(schema: &Schema, key: &str) -> CliResult<PropertyType> {
    let found = schema.properties.iter().find(|property| &*property.key == key);
    if let Some(property) = found {
        return Ok(property.kind.property_type());
    }
    // The title is part of the schema, but not of its property list.
    if key == &*schema.content.key || key == "title" {
        return Ok(PropertyType::Text);
    }
    let keys = schema.properties.iter().map(|property| &*property.key);
    let keys = std::iter::once(&*schema.content.key).chain(keys).collect::<Vec<_>>();
    Err(CliError::not_found(format!("no property has the key {key:?}"))
        .hint(format!("keys: {}", keys.join(", "))))
}

fn operator(kind: PropertyType, sign: &str) -> Option<Operator> {
    // Exhaustive, so that a new property type chooses its comparisons here.
    let (is_text, is_number, is_date) = match kind {
        PropertyType::Text | PropertyType::Url | PropertyType::Email | PropertyType::Phone => {
            (true, false, false)
        }
        PropertyType::Number => (false, true, false),
        PropertyType::Date => (false, false, true),
        PropertyType::Boolean
        | PropertyType::SingleSelect
        | PropertyType::MultiSelect
        | PropertyType::Relation => (false, false, false),
    };
    Some(match sign {
        "=" => Operator::Equals,
        "!=" => Operator::NotEquals,
        "~" if is_text => Operator::Contains,
        "^=" if is_text => Operator::StartsWith,
        "<" if is_date => Operator::Before,
        "<=" if is_date => Operator::OnOrBefore,
        ">" if is_date => Operator::After,
        ">=" if is_date => Operator::OnOrAfter,
        "<" if is_number => Operator::LessThan,
        "<=" if is_number => Operator::LessThanOrEqual,
        ">" if is_number => Operator::GreaterThan,
        ">=" if is_number => Operator::GreaterThanOrEqual,
        _ => return None,
    })
}

/// The value as JSON. A value of the wrong type is rejected by the engine, whose message says so.
fn operand(kind: PropertyType, value: &str) -> Value {
    let parsed = match kind {
        PropertyType::Number => value.parse().ok().map(Value::Number),
        PropertyType::Boolean => match value {
            "true" | "yes" => Some(Value::Bool(true)),
            "false" | "no" => Some(Value::Bool(false)),
            _ => None,
        },
        PropertyType::Text
        | PropertyType::Url
        | PropertyType::Email
        | PropertyType::Phone
        | PropertyType::Date
        | PropertyType::SingleSelect
        | PropertyType::MultiSelect
        | PropertyType::Relation => None,
    };
    parsed.unwrap_or_else(|| Value::from(value))
}

fn groups(context: &mut CommandContext, counts: &ItemCounts) -> CliResult<()> {
    if context.options.json {
        return context.out.json_lines(counts.groups.iter().flatten());
    }
    let mut rows = Vec::new();
    for group in counts.groups.iter().flatten() {
        let value = match &group.value {
            None => Cell::styled("none", styles::QUIET),
            Some(GroupValue::Value(value)) => Cell::new(items::words(value)),
            Some(GroupValue::Related(item)) => Cell::new(&*item.title),
        };
        rows.push(vec![Cell::new(line::number(group.count)), value]);
    }
    rows.push(vec![
        Cell::styled(line::number(counts.count), styles::TITLE),
        Cell::styled("in all", styles::QUIET),
    ]);
    table::write(&mut context.out, &rows)
}
