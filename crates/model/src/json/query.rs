//! Query strings: names and texts, decoded into the JSON object that a request is read from.

use serde_json::{Map, Value};

use super::quoted;
use crate::{Error, Limits, Result};

/// Decodes a query and the parameters of the path into an object. Each value is a text; a repeated
/// name of the query has an array of texts.
pub(super) fn parse(query: &str, path: &[(&str, &str)], limits: &Limits) -> Result<Value> {
    let size = query.len() + path.iter().map(|(name, text)| name.len() + text.len()).sum::<usize>();
    // The cheapest check comes first: nothing of an oversized query is decoded.
    if size > limits.json {
        return Err(Error::limit("bytes of a query", limits.json, size));
    }
    let mut fields = Map::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
        let name = decoded(name)?;
        let text = decoded(text).map_err(|error| error.at(&name))?;
        // The path decides what a request is about: a query must not name something else.
        if path.iter().any(|(given, _)| *given == name) {
            let message = format!("{} is given by the path already", quoted(&name));
            return Err(Error::validation(message).at(&name));
        }
        match fields.get_mut(&name) {
            None => drop(fields.insert(name, text.into())),
            Some(Value::Array(texts)) => texts.push(text.into()),
            Some(first) => *first = Value::Array(vec![first.take(), text.into()]),
        }
    }
    fields.extend(path.iter().map(|(name, text)| ((*name).to_owned(), Value::from(*text))));
    Ok(Value::Object(fields))
}

/// Decodes percent-encoded UTF-8, with `+` for a blank.
fn decoded(text: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                // Both digits are consumed, so that an incomplete escape is an error, too.
                let digits = (hex_digit(rest.next()), hex_digit(rest.next()));
                let (Some(high), Some(low)) = digits else {
                    let message = format!("expected two hex digits after % in {}", quoted(text));
                    return Err(Error::validation(message));
                };
                high * 16 + low
            }
            other => other,
        });
    }
    String::from_utf8(bytes).map_err(|error| {
        let message = format!("{} is not percent-encoded UTF-8", quoted(text));
        Error::validation(message).with_source(error)
    })
}

fn hex_digit(byte: Option<u8>) -> Option<u8> {
    let digit = char::from(byte?).to_digit(16)?;
    u8::try_from(digit).ok()
}

/// The number that `text` is in JSON: no sign `+`, no leading zeros, no blanks.
pub(super) fn number(text: &str) -> Option<Value> {
    let begins = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    // The parser of JSON would skip white space at the end.
    let ends = text.ends_with(|last: char| last.is_ascii_digit());
    let number = if begins && ends { serde_json::from_str(text).ok() } else { None };
    number.map(Value::Number)
}
