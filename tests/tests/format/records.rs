//! Arrays of MessagePack as the layouts of the page, with the names of their fields.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::message_pack::{self, Value};
use crate::specification::{FieldType, Layout, Specification};
use crate::{Refused, refuse};

/// A decoded field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Datum {
    /// Its default.
    Absent,
    Int(i64),
    Uint(u64),
    Float(f64),
    Bool(bool),
    Text(String),
    Bytes(Vec<u8>),
    /// A code by its name.
    Code(String),
    List(Vec<Datum>),
    Record(Record),
}

/// The fields of a layout by name.
pub(crate) type Record = BTreeMap<String, Datum>;

impl Datum {
    pub(crate) fn uint(&self) -> u64 {
        match self {
            Self::Absent => 0,
            Self::Uint(number) => *number,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Absent => "",
            Self::Text(text) => text,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn list(&self) -> &[Self] {
        match self {
            Self::Absent => &[],
            Self::List(list) => list,
            other => panic!("{other:?}"),
        }
    }
}

/// Decodes by the layouts of a page, and notes which of their fields it has met.
#[derive(Debug)]
pub(crate) struct LayoutReader {
    pub(crate) page: Specification,
    /// `layout.field` of each field that was not at its default, edits and kinds by their names.
    pub(crate) met: RefCell<BTreeSet<String>>,
}

impl LayoutReader {
    pub(crate) fn read(&self, layout: &str, bytes: &[u8]) -> Refused<Record> {
        self.layout(layout, message_pack::decode(bytes)?)
    }

    fn layout(&self, name: &str, value: Value) -> Refused<Record> {
        let layout = self.page.layouts.get(name).unwrap_or_else(|| panic!("no layout {name}"));
        self.fields(name, layout, value, false)
    }

    fn fields(&self, name: &str, layout: &Layout, value: Value, all: bool) -> Refused<Record> {
        let Value::Array(values) = value else { return refuse(format!("{name}: {value:?}")) };
        if values.len() > layout.len() || all && values.len() < layout.len() {
            return refuse(format!("{name} with {} fields: {values:?}", values.len()));
        }
        if let (Some(Value::Nil), Some((field, kind))) =
            (values.last(), values.len().checked_sub(1).and_then(|last| layout.get(last)))
            && !(all || kind.is_always_written)
        {
            return refuse(format!("{name} ends with nil for {field}"));
        }
        let mut values = values.into_iter();
        let mut record = Record::new();
        for (field, kind) in layout {
            let datum = if kind.name == "kind" {
                let code = record.get("type").cloned().unwrap_or(Datum::Absent);
                self.kind(&code, values.next())
            } else {
                self.field(kind, values.next(), all)
            };
            let datum = datum.map_err(|error| error.within(&format!("{name}.{field}")))?;
            if datum != Datum::Absent {
                self.met.borrow_mut().insert(format!("{name}.{field}"));
            }
            record.insert(field.clone(), datum);
        }
        Ok(record)
    }

    /// A field of a layout; in an edit every field is written.
    fn field(&self, kind: &FieldType, value: Option<Value>, all: bool) -> Refused<Datum> {
        let is_always_written = kind.is_always_written || all;
        match value {
            None | Some(Value::Nil) if kind.is_optional => {
                if is_always_written && value.is_none() {
                    return refuse("missing");
                }
                Ok(Datum::Absent)
            }
            None | Some(Value::Nil) if is_always_written => refuse("missing"),
            None | Some(Value::Nil) => Ok(Datum::Absent),
            Some(value) => {
                let has_default = !kind.is_optional && !is_always_written;
                if has_default && is_default(&value) {
                    return refuse(format!("a written default {value:?}"));
                }
                self.datum(kind, value)
            }
        }
    }

    fn datum(&self, kind: &FieldType, value: Value) -> Refused<Datum> {
        let single = FieldType { is_list: false, is_always_written: true, ..kind.clone() };
        match value {
            Value::Array(values) if kind.is_list => {
                let kinds = if kind.names.is_empty() { vec![single] } else { kind.names.clone() };
                if !values.len().is_multiple_of(kinds.len()) {
                    return refuse(format!("{} values in turn", values.len()));
                }
                let each = values.into_iter().zip(kinds.iter().cycle());
                let each = each.map(|(value, kind)| match value {
                    Value::Nil if kind.is_optional => Ok(Datum::Absent),
                    value => self.datum(kind, value),
                });
                each.collect::<Refused<_>>().map(Datum::List)
            }
            value if kind.is_list => refuse(format!("no array: {value:?}")),
            value => self.scalar(&kind.name, value),
        }
    }

    fn scalar(&self, name: &str, value: Value) -> Refused<Datum> {
        let uint = |number: i128| u64::try_from(number).ok();
        let datum = match (name, value) {
            ("uint", Value::Int(number)) => uint(number).map(Datum::Uint),
            ("flag", Value::Int(1)) => Some(Datum::Uint(1)),
            ("int" | "time" | "day", Value::Int(number)) => {
                i64::try_from(number).ok().map(Datum::Int)
            }
            ("str", Value::Str(text)) => Some(Datum::Text(text)),
            ("bytes", Value::Bin(bytes)) => Some(Datum::Bytes(bytes)),
            ("ID", Value::Bin(bytes)) => (bytes.len() == 16).then_some(Datum::Bytes(bytes)),
            ("record", Value::Bin(bytes)) => Some(Datum::Record(self.read("block", &bytes)?)),
            ("value", value) => return property_value(value),
            ("edit", value) => return self.edit(value).map(Datum::Record),
            (name, Value::Int(number)) if name.starts_with("code of ") => {
                let codes = self.page.codes.get(name.trim_start_matches("code of "));
                let codes = codes.unwrap_or_else(|| panic!("no codes: {name}"));
                let code = usize::try_from(number).ok().and_then(|code| codes.get(code));
                code.cloned().map(Datum::Code)
            }
            (name, value @ Value::Array(_)) if self.page.layouts.contains_key(name) => {
                return self.layout(name, value).map(Datum::Record);
            }
            (name, value) => return refuse(format!("no {name}: {value:?}")),
        };
        datum.map_or_else(|| refuse(format!("no {name}")), Ok)
    }

    /// The fields of the block's type; an array without any is the default.
    fn kind(&self, code: &Datum, value: Option<Value>) -> Refused<Datum> {
        let name = match code {
            Datum::Code(name) => name,
            _ => &self.page.codes["block type"][0],
        };
        match value {
            None | Some(Value::Nil) => Ok(Datum::Absent),
            Some(Value::Array(values)) if values.is_empty() => refuse("a written default"),
            Some(value) => {
                let layout = &self.page.kinds[name];
                self.fields(name, layout, value, false).map(Datum::Record)
            }
        }
    }

    fn edit(&self, value: Value) -> Refused<Record> {
        let Value::Array(mut values) = value else { return refuse(format!("{value:?}")) };
        let code = values.first().cloned();
        let (Some(Value::Int(code)), true) = (code, !values.is_empty()) else {
            return refuse("an edit without a code");
        };
        values.remove(0);
        let edit = u64::try_from(code).ok().and_then(|code| self.page.edits.get(&code));
        let Some((name, layout)) = edit else { return refuse(format!("edit {code}")) };
        let mut record = self.fields(name, layout, Value::Array(values), true)?;
        record.insert("edit".to_owned(), Datum::Code(name.clone()));
        Ok(record)
    }
}

fn is_default(value: &Value) -> bool {
    match value {
        Value::Int(number) => *number == 0,
        Value::Str(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        _ => false,
    }
}

fn property_value(value: Value) -> Refused<Datum> {
    Ok(match value {
        Value::Str(text) => Datum::Text(text),
        Value::Float(number) => Datum::Float(number),
        Value::Bool(value) => Datum::Bool(value),
        Value::Array(values) => match values.as_slice() {
            [Value::Int(1), Value::Int(day)] => Datum::Int(i64::try_from(*day).unwrap()),
            [Value::Int(2), names @ ..] => Datum::List(
                names
                    .iter()
                    .map(|name| match name {
                        Value::Str(name) => Ok(Datum::Text(name.clone())),
                        other => refuse(format!("no option: {other:?}")),
                    })
                    .collect::<Refused<_>>()?,
            ),
            [Value::Int(3), items @ ..] => Datum::List(
                items
                    .iter()
                    .map(|item| match item {
                        Value::Bin(id) if id.len() == 16 => Ok(Datum::Bytes(id.clone())),
                        other => refuse(format!("no item: {other:?}")),
                    })
                    .collect::<Refused<_>>()?,
            ),
            other => return refuse(format!("no value of a property: {other:?}")),
        },
        other => return refuse(format!("no value of a property: {other:?}")),
    })
}
