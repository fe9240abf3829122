//! Values of items in the naive space: validation and conversion between types.

use leafbase_model::{
    BlockId, Day, DayRef, Error, ErrorKind, Limits, Property, PropertyKind, PropertyValue, Result,
    SelectOption,
};
use serde_json::Value;

/// Context of reading values.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) today: Day,
    pub(crate) limits: &'a Limits,
    pub(crate) new_options: bool,
}

pub(crate) fn mismatch(message: &str) -> Error {
    Error::new(ErrorKind::SchemaMismatch, message)
}

/// The value of a property; `None` clears it.
pub(crate) fn read(
    property: &Property,
    value: &Value,
    reading: Reading<'_>,
) -> Result<Option<PropertyValue>> {
    let text = |most: usize| {
        let text = value.as_str().ok_or_else(|| mismatch("no text"))?;
        at_most(most, text.len())?;
        Ok(text.to_owned())
    };
    let formed = |fits: fn(&str) -> bool| {
        let text: String = text(reading.limits.attribute)?;
        if fits(&text) { Ok(PropertyValue::Text(text)) } else { Err(mismatch("another form")) }
    };
    if value.is_null() {
        return Ok(None);
    }
    Ok(match &property.kind {
        PropertyKind::Text => Some(PropertyValue::Text(text(reading.limits.block_text)?)),
        PropertyKind::Url => Some(formed(is_url)?),
        PropertyKind::Email => Some(formed(is_email)?),
        PropertyKind::Phone => Some(formed(is_phone)?),
        PropertyKind::Number => Some(PropertyValue::Number(number(value)?)),
        PropertyKind::Boolean => {
            Some(PropertyValue::Boolean(value.as_bool().ok_or_else(|| mismatch("no boolean"))?))
        }
        PropertyKind::Date => Some(PropertyValue::Date(day(value, reading.today)?)),
        PropertyKind::SingleSelect(options) => {
            Some(PropertyValue::Text(option(options, value, reading)?))
        }
        PropertyKind::MultiSelect(options) => {
            let mut chosen = Vec::new();
            for (index, value) in
                value.as_array().ok_or_else(|| mismatch("no array"))?.iter().enumerate()
            {
                let name = option(options, value, reading)
                    .map_err(|error| error.at(format_args!("[{index}]")))?;
                if !chosen.contains(&name) {
                    chosen.push(name);
                }
            }
            Some(PropertyValue::Options(chosen))
                .filter(|value| *value != PropertyValue::Options(Vec::new()))
        }
        PropertyKind::Relation(relation) => {
            let ids = ids(value)?;
            if relation.single && ids.len() > 1 {
                return Err(mismatch("more than one"));
            }
            Some(PropertyValue::Relations(ids))
                .filter(|value| *value != PropertyValue::Relations(Vec::new()))
        }
    })
}

pub(crate) fn at_most(most: usize, found: usize) -> Result<()> {
    if found > most { Err(Error::limit("of it", most, found)) } else { Ok(()) }
}

fn is_url(text: &str) -> bool {
    !text.is_empty() && !text.contains(|letter: char| letter == ' ' || letter.is_ascii_control())
}

fn is_email(text: &str) -> bool {
    is_url(text) && text.split('@').count() == 2 && text.split('@').all(|part| !part.is_empty())
}

fn is_phone(text: &str) -> bool {
    !text.is_empty() && !text.contains(|letter: char| letter.is_ascii_control())
}

/// Integers are below 2^53 or far above.
fn number(value: &Value) -> Result<f64> {
    let number = value.as_f64().ok_or_else(|| mismatch("no number"))?;
    let is_lost = value.as_i64().is_some_and(|whole| whole.to_string() != format!("{number}"));
    if is_lost {
        return Err(Error::limit("of a number", 53, 54));
    }
    Ok(if number == 0.0 { 0.0 } else { number })
}

pub(crate) fn day(value: &Value, today: Day) -> Result<Day> {
    let text = value.as_str().ok_or_else(|| mismatch("no day"))?;
    let shifted = |days| Day::from_epoch_days(today.epoch_days() + days);
    match text.parse().map_err(|_| mismatch("no day"))? {
        DayRef::Yesterday => Ok(shifted(-1)),
        DayRef::Today => Ok(today),
        DayRef::Tomorrow => Ok(shifted(1)),
        DayRef::Date(day) => Ok(day),
    }
}

pub(crate) fn option(
    options: &[SelectOption],
    value: &Value,
    reading: Reading<'_>,
) -> Result<String> {
    let name = value.as_str().ok_or_else(|| mismatch("no name"))?;
    if options.iter().any(|option| option.name == name) {
        return Ok(name.to_owned());
    }
    if !reading.new_options || name.trim().is_empty() {
        return Err(mismatch("no option"));
    }
    at_most(reading.limits.title, name.chars().count())?;
    Ok(name.to_owned())
}

/// An ID, an array of IDs, or an object with related items. A malformed ID names no item.
pub(crate) fn ids(value: &Value) -> Result<Vec<BlockId>> {
    let id = |value: &Value| {
        let text = value.as_str().ok_or_else(|| mismatch("no ID"))?;
        Ok::<_, Error>(text.parse().unwrap_or(BlockId::NIL))
    };
    let each =
        |values: &[Value], read: &dyn Fn(&Value) -> Result<BlockId>| -> Result<Vec<BlockId>> {
            let read =
                |(index, value)| read(value).map_err(|error| error.at(format_args!("[{index}]")));
            values.iter().enumerate().map(read).collect()
        };
    match value {
        Value::String(_) => Ok(vec![id(value)?]),
        Value::Array(values) => each(values, &id),
        Value::Object(fields) => {
            if let Some(unknown) = fields.keys().find(|name| *name != "relations") {
                return Err(mismatch("unknown").at(unknown));
            }
            let related =
                fields.get("relations").ok_or_else(|| mismatch("missing").at("relations"))?;
            let related = related.as_array().ok_or_else(|| mismatch("no array").at("relations"))?;
            let within = |value: &Value| {
                if !value["title"].is_null() && !value["title"].is_string() {
                    return Err(mismatch("no title").at("title"));
                }
                id(&value["blockId"]).map_err(|error| error.at("blockId"))
            };
            each(related, &within).map_err(|error| error.at("relations"))
        }
        _ => Err(mismatch("no relations")),
    }
}

/// A value converted to this kind, and whether the conversion is lossless.
pub(crate) fn converted(
    value: &PropertyValue,
    kind: &PropertyKind,
    limits: &Limits,
) -> (Option<PropertyValue>, bool) {
    let has =
        |options: &[SelectOption], name: &str| options.iter().any(|option| option.name == name);
    if let (PropertyValue::Options(names), PropertyKind::MultiSelect(options)) = (value, kind) {
        let kept: Vec<_> = names.iter().filter(|name| has(options, name)).cloned().collect();
        let is_whole = kept.len() == names.len();
        return ((!kept.is_empty()).then_some(PropertyValue::Options(kept)), is_whole);
    }
    let text = match value {
        PropertyValue::Text(text) => text.clone(),
        PropertyValue::Number(_) | PropertyValue::Boolean(_) => {
            serde_json::to_string(value).unwrap()
        }
        PropertyValue::Date(day) => day.to_string(),
        PropertyValue::Options(names) if names.len() == 1 => names[0].clone(),
        PropertyValue::Options(_) | PropertyValue::Relations(_) => return (None, false),
    };
    let kept = |holds: bool| holds.then(|| PropertyValue::Text(text.clone()));
    let short = text.len() <= limits.attribute;
    let value = match kind {
        PropertyKind::Text => kept(text.len() <= limits.block_text),
        PropertyKind::Url => kept(short && is_url(&text)),
        PropertyKind::Email => kept(short && is_email(&text)),
        PropertyKind::Phone => kept(short && is_phone(&text)),
        PropertyKind::SingleSelect(options) => kept(has(options, &text)),
        PropertyKind::MultiSelect(options) => {
            has(options, &text).then(|| PropertyValue::Options(vec![text.clone()]))
        }
        PropertyKind::Number => {
            let number = text
                .parse()
                .ok()
                .filter(|number: &f64| number.is_finite())
                .map(PropertyValue::Number);
            number.filter(|number| serde_json::to_string(number).unwrap() == text)
        }
        PropertyKind::Boolean => text.parse().ok().map(PropertyValue::Boolean),
        PropertyKind::Date => text.parse().ok().map(PropertyValue::Date),
        PropertyKind::Relation(_) => None,
    };
    let is_whole = value.is_some();
    (value, is_whole)
}
