//! Properties of front matter: YAML as data.

use std::mem;

use leafbase_model::{Day, DocumentProperties, Limits};
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

use crate::hash_tags::is_tag;

/// The properties that the YAML of a front matter says. They are empty if it does not parse, is no
/// mapping, or exceeds [`Limits::FRONT_MATTER_BYTES`] or [`Limits::FRONT_MATTER_DEPTH`]. An alias
/// (`*name`) is null.
///
/// A `tags` that is one text is split at commas and blanks.
///
/// ```
/// use leafbase_markdown::front_properties;
///
/// let yaml = "tags: [travel, '#lisbon']\naliases: Lisboa\ndate: 2026-03-01 09:00";
/// let properties = front_properties(yaml);
/// assert_eq!(properties.tags, ["travel", "lisbon"]);
/// assert_eq!(properties.aliases, ["Lisboa"]);
/// assert_eq!(properties.dates["date"].to_string(), "2026-03-01");
/// assert_eq!(front_properties("a: b: c"), front_properties(""));
/// ```
pub fn front_properties(yaml: &str) -> DocumentProperties {
    if yaml.len() > Limits::FRONT_MATTER_BYTES {
        return DocumentProperties::default();
    }
    let mut builder = PropertiesBuilder::default();
    for event in Parser::new_from_str(yaml) {
        let is_built = match event {
            Ok((Event::DocumentEnd, _)) => break,
            Ok((event, _)) => builder.push(event),
            Err(_) => None,
        };
        if is_built.is_none() {
            return DocumentProperties::default();
        }
    }
    builder.finish()
}

/// A mapping or a list whose end was not read yet.
enum OpenValue {
    /// With the key whose value is read next.
    Mapping(Map<String, Value>, Option<String>),
    List(Vec<Value>),
}

/// The texts of a field: of its value, or of the entries of its list.
struct FieldTexts {
    key: String,
    is_list: bool,
    texts: Vec<String>,
}

/// Builds properties from YAML events, with the open values on a stack.
#[derive(Default)]
struct PropertiesBuilder {
    open: Vec<OpenValue>,
    fields: Vec<FieldTexts>,
    values: Map<String, Value>,
}

impl PropertiesBuilder {
    /// `None` if the text is not front matter.
    fn push(&mut self, event: Event<'_>) -> Option<()> {
        match event {
            Event::MappingStart(..) => self.open(OpenValue::Mapping(Map::new(), None)),
            Event::SequenceStart(..) => self.open(OpenValue::List(Vec::new())),
            Event::MappingEnd | Event::SequenceEnd => {
                let value = match self.open.pop()? {
                    OpenValue::Mapping(fields, _) if self.open.is_empty() => {
                        self.values = fields;
                        return Some(());
                    }
                    OpenValue::Mapping(fields, _) => Value::Object(fields),
                    OpenValue::List(values) => Value::Array(values),
                };
                self.add(value)
            }
            Event::Scalar(text, style, ..) => {
                let text = text.into_owned();
                let value = scalar(&text, style == ScalarStyle::Plain);
                if let Some(OpenValue::Mapping(_, key @ None)) = self.open.last_mut() {
                    *key = Some(text);
                    return Some(());
                }
                self.note_text(&value, text);
                self.add(value)
            }
            Event::Alias(_) => self.add(Value::Null),
            _ => Some(()),
        }
    }

    fn open(&mut self, value: OpenValue) -> Option<()> {
        // The root is a mapping.
        let is_root = self.open.is_empty() && matches!(value, OpenValue::Mapping(..));
        let is_deep = self.open.len() >= Limits::FRONT_MATTER_DEPTH;
        if is_deep || self.open.is_empty() && !is_root {
            return None;
        }
        self.open.push(value);
        Some(())
    }

    /// Adds a value to the innermost open one. A key that is a mapping or a list is written as
    /// JSON.
    fn add(&mut self, value: Value) -> Option<()> {
        match self.open.last_mut()? {
            OpenValue::List(values) => values.push(value),
            OpenValue::Mapping(fields, key) => match key.take() {
                Some(key) => drop(fields.insert(key, value)),
                None => *key = Some(value.to_string()),
            },
        }
        Some(())
    }

    /// Keeps the text of a field of the root, or of an entry of its list: a number has it no more.
    fn note_text(&mut self, value: &Value, text: String) {
        let (root, is_list) = match self.open.as_slice() {
            [root] => (root, false),
            [root, OpenValue::List(_)] => (root, true),
            _ => return,
        };
        let OpenValue::Mapping(_, Some(key)) = root else { return };
        if value.is_null() {
            return;
        }
        match self.fields.last_mut().filter(|field| is_list && field.is_list && field.key == *key) {
            Some(field) => field.texts.push(text),
            None => self.fields.push(FieldTexts { key: key.clone(), is_list, texts: vec![text] }),
        }
    }

    fn finish(mut self) -> DocumentProperties {
        let mut properties = DocumentProperties::default();
        for FieldTexts { key, is_list, texts } in mem::take(&mut self.fields) {
            let first = texts.first().map(|text| text.trim()).unwrap_or_default();
            if let Some(day) = leading_day(first).filter(|_| !is_list) {
                properties.dates.insert(key.clone(), day);
            }
            match key.to_lowercase().as_str() {
                "title" if !is_list => properties.title = Some(first.to_owned()),
                "alias" | "aliases" => {
                    let texts = texts.iter().map(|text| text.trim().to_owned());
                    properties.aliases.extend(texts.filter(|text| !text.is_empty()));
                }
                "tag" | "tags" if is_list => {
                    add_tags(&mut properties.tags, texts.iter().map(String::as_str));
                }
                "tag" | "tags" => {
                    add_tags(
                        &mut properties.tags,
                        first.split(|c: char| c == ',' || c.is_whitespace()),
                    );
                }
                _ => {}
            }
        }
        properties.values = self.values;
        properties
    }
}

/// Adds the texts that are tags, each once.
fn add_tags<'t>(tags: &mut Vec<String>, texts: impl Iterator<Item = &'t str>) {
    for text in texts {
        let text = text.trim().trim_start_matches('#');
        let name = text.strip_prefix("[[").and_then(|text| text.strip_suffix("]]"));
        let name = name.unwrap_or(text).trim().trim_end_matches('/');
        if is_tag(name) && !tags.iter().any(|tag| tag == name) {
            tags.push(name.to_owned());
        }
    }
}

/// The day at the start of a text, alone or before a time.
fn leading_day(text: &str) -> Option<Day> {
    let (day, rest) = text.split_at_checked(10)?;
    if rest.starts_with(|letter: char| letter.is_alphanumeric() && letter != 'T' || letter == '-') {
        return None;
    }
    day.parse().ok()
}

/// A scalar by YAML's core schema: quoted ones are texts.
fn scalar(text: &str, is_plain: bool) -> Value {
    let number = || {
        let is_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        let number = text.parse::<i64>().ok().map(Number::from);
        number.or_else(|| text.parse().ok().and_then(Number::from_f64)).filter(|_| is_number)
    };
    match text {
        _ if !is_plain => Value::from(text),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number().map_or_else(|| Value::from(text), Value::Number),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::front_properties;

    #[test]
    fn yaml_as_data() {
        for (yaml, expected) in [
            ("", json!({})),
            ("# a comment", json!({})),
            ("title: Trip", json!({"title": "Trip", "values": {"title": "Trip"}})),
            ("title: 2026", json!({"title": "2026", "values": {"title": 2026}})),
            ("title: [a]", json!({"values": {"title": ["a"]}})),
            ("Tags: a", json!({"tags": ["a"], "values": {"Tags": "a"}})),
            ("tags: a, b c", json!({"tags": ["a", "b", "c"], "values": {"tags": "a, b c"}})),
            (
                "tags:\n  - '#a'\n  - b/c\n  - two words\n  - 2024\n  - a\n  -\n  - \"[[x]]\"",
                json!({"tags": ["a", "b/c", "two words", "x"],
                    "values": {"tags": ["#a", "b/c", "two words", 2024, "a", null, "[[x]]"]}}),
            ),
            ("tags: #a", json!({"values": {"tags": null}})),
            (
                "tag: a\ntags: [b]",
                json!({"tags": ["a", "b"], "values": {"tag": "a", "tags": ["b"]}}),
            ),
            ("tags: {a: b}", json!({"values": {"tags": {"a": "b"}}})),
            (
                "aliases: [007, Lisboa]\nalias: ''",
                json!({"aliases": ["007", "Lisboa"],
                    "values": {"aliases": [7, "Lisboa"], "alias": ""}}),
            ),
            (
                "date: 2026-03-01\nat: 2026-03-01T10:00\nno: 2026-03-011\nlist: [2026-03-01]\nbad: 2026-13-01",
                json!({"dates": {"date": "2026-03-01", "at": "2026-03-01"},
                    "values": {"date": "2026-03-01", "at": "2026-03-01T10:00", "no": "2026-03-011",
                        "list": ["2026-03-01"], "bad": "2026-13-01"}}),
            ),
            (
                "a: 1\nb: 1.5\nc: true\nd: ~\ne: |\n  x\n  y\nf: inf\ng: '1'",
                json!({"values": {"a": 1, "b": 1.5, "c": true, "d": null, "e": "x\ny\n", "f": "inf",
                    "g": "1"}}),
            ),
            ("a: &x [1]\nb: *x", json!({"values": {"a": [1], "b": null}})),
            ("? [a]\n: b", json!({"values": {"[\"a\"]": "b"}})),
            ("a: b\n---\nc: d", json!({"values": {"a": "b"}})),
            ("a: b: c", json!({})),
            ("a: [b", json!({})),
            ("- a\n- b", json!({})),
            ("text", json!({})),
        ] {
            assert_eq!(json!(front_properties(yaml)), expected, "{yaml}");
        }
    }

    #[test]
    fn deep_and_long_yaml_says_nothing() {
        let nested = |depth: usize| format!("a: {}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(!front_properties(&nested(31)).values.is_empty());
        assert!(front_properties(&nested(32)).values.is_empty());
        assert!(front_properties(&nested(30_000)).values.is_empty());
        assert!(front_properties(&format!("a: {}", "b".repeat(70_000))).values.is_empty());
    }
}
