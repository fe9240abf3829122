//! Completion of schemas: a draft from a request becomes a schema that can be stored.

use std::collections::BTreeSet;

use leafbase_model::json::quoted;
use leafbase_model::{
    BlockPatch, ContentProperty, ContentPropertyDraft, Error, Limits, Property, PropertyDraft,
    Result, Schema, SchemaDraft, SelectOption,
};

use crate::keys::{Keys, is_key, key_of, short_key_of};

/// Whether the title cannot have this key: items are returned and sent back as blocks, which have a
/// field of this name.
fn is_field_of_blocks(key: &str) -> bool {
    // There `title` is another name for the title of an item.
    key != "title" && BlockPatch::has_field(key)
}

/// Checks a schema and gives every property a key. Keys of the request stay; missing ones are
/// derived from names, so that the same draft always gets the same keys. Columns are identified by
/// key alone: to rename one, a request sends its key with the new name.
///
/// # Errors
/// [`leafbase_model::ErrorKind::Validation`] for an invalid or duplicate key, a blank name and a
/// duplicate option; [`leafbase_model::ErrorKind::LimitExceeded`]; each with its path, such as
/// `properties[2].options[0].name`.
pub fn complete(draft: SchemaDraft, limits: &Limits) -> Result<Schema> {
    complete_keeping(draft, None, limits)
}

/// As [`complete`], for a collection whose title may keep the key `kept`.
pub(crate) fn complete_keeping(
    draft: SchemaDraft,
    kept: Option<&str>,
    limits: &Limits,
) -> Result<Schema> {
    let SchemaDraft { key, name, content, properties } = draft;
    check_name(&name, limits).map_err(|error| error.at("name"))?;
    at_most("properties in a schema", limits.schema_properties, properties.len())
        .map_err(|error| error.at("properties"))?;
    let key = match key {
        Some(key) => check_key(&key, limits).map(|()| key).map_err(|error| error.at("key"))?,
        None => short_key_of(&name, limits.title),
    };
    // Explicit keys are reserved first, so that a derived key never takes one of them.
    let mut keys = Keys::default();
    let content =
        content.unwrap_or_else(|| ContentPropertyDraft { key: None, name: "Title".into() });
    let under = |error: Error| error.at("contentPropDetails");
    check_name(&content.name, limits).map_err(|error| under(error.at("name")))?;
    if let Some(key) = &content.key {
        let free = if is_field_of_blocks(key) && kept != Some(key) {
            Err(Error::validation(format!("{} is a field of blocks", quoted(key))))
        } else {
            Ok(())
        };
        free.and_then(|()| reserve_key(&mut keys, key, limits))
            .map_err(|error| under(error.at("key")))?;
    }
    for (index, property) in properties.iter().enumerate() {
        check_property(property, &mut keys, limits)
            .map_err(|error| error.at(format_args!("properties[{index}]")))?;
    }
    // The title is named before the properties, which get a suffix in case of a collision.
    let content_key = content.key.unwrap_or_else(|| content_key(&content.name, &mut keys, limits));
    let content = ContentProperty { key: content_key, name: content.name };
    let properties = properties.into_iter().map(|PropertyDraft { key, name, kind }| {
        let key = key.unwrap_or_else(|| keys.allocate(&name, limits.title));
        Property { key, name, kind }
    });
    let schema = Schema { key, name, content, properties: properties.collect() };
    debug_assert!(
        schema.properties.iter().map(|property| &property.key).collect::<BTreeSet<_>>().len()
            == schema.properties.len(),
        "keys of a schema are unique"
    );
    Ok(schema)
}

fn content_key(name: &str, keys: &mut Keys, limits: &Limits) -> String {
    // A clone: properties may use the names of block fields.
    let mut reserved = keys.clone();
    let wanted = short_key_of(name, limits.title);
    if is_field_of_blocks(&wanted) {
        reserved.reserve(&wanted);
    }
    let key = reserved.allocate(name, limits.title);
    keys.reserve(&key);
    key
}

fn check_property(property: &PropertyDraft, keys: &mut Keys, limits: &Limits) -> Result<()> {
    if let Some(key) = &property.key {
        reserve_key(keys, key, limits).map_err(|error| error.at("key"))?;
    }
    check_name(&property.name, limits).map_err(|error| error.at("name"))?;
    check_options(property.kind.options(), limits).map_err(|error| error.at("options"))
}

fn check_options(options: &[SelectOption], limits: &Limits) -> Result<()> {
    at_most("options in a select", limits.select_options, options.len())?;
    let mut names = BTreeSet::new();
    for (index, SelectOption { name, .. }) in options.iter().enumerate() {
        let at = |error: Error| error.at(format_args!("[{index}].name"));
        check_name(name, limits).map_err(at)?;
        if !names.insert(name.as_str()) {
            return Err(at(Error::validation(format!("{} is an option already", quoted(name)))));
        }
    }
    Ok(())
}

fn reserve_key(keys: &mut Keys, key: &str, limits: &Limits) -> Result<()> {
    check_key(key, limits)?;
    if keys.reserve(key) {
        Ok(())
    } else {
        Err(Error::validation(format!("{} is a key already", quoted(key))))
    }
}

fn check_key(key: &str, limits: &Limits) -> Result<()> {
    at_most("characters of a property key", limits.title, key.chars().count())?;
    if is_key(key) {
        return Ok(());
    }
    let message = format!("expected a key like {}, got {}", quoted(&key_of(key)), quoted(key));
    Err(Error::validation(message))
}

fn check_name(name: &str, limits: &Limits) -> Result<()> {
    if name.trim().is_empty() {
        return Err(Error::validation("the name is blank"));
    }
    at_most("characters of a name", limits.title, name.chars().count())
}

fn at_most(limit: &str, maximum: usize, found: usize) -> Result<()> {
    if found > maximum { Err(Error::limit(limit, maximum, found)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The schema's keys: its own, the content's, the properties'.
    fn keys(json: &str) -> std::result::Result<String, String> {
        let draft: SchemaDraft = serde_json::from_str(json).unwrap();
        let schema = complete(draft, &Limits::default()).map_err(|error| error.to_string())?;
        let properties: Vec<_> =
            schema.properties.iter().map(|property| property.key.as_str()).collect();
        Ok(format!("{} {}: {}", schema.key, schema.content.key, properties.join(" ")))
    }

    #[test]
    fn keys_are_given_where_none_is() {
        for (json, expected) in [
            (r#"{"name":"My books","properties":[]}"#, "my_books title: "),
            (
                r#"{"name":"Books","properties":[{"name":"Status","type":"text"},{"name":"status","type":"text"}]}"#,
                "books title: status status_2",
            ),
            // A column that was renamed keeps its key, and a new one of the old name gets another.
            (
                r#"{"name":"Books","properties":[{"name":"Status","type":"text"},
                    {"key":"status","name":"Old status","type":"text"}]}"#,
                "books title: status_2 status",
            ),
            (
                r#"{"key":"b","name":"Books","contentPropDetails":{"key":"name","name":"Title"},
                    "properties":[{"name":"Name","type":"text"},{"name":"Title","type":"text"}]}"#,
                "b name: name_2 title",
            ),
            (
                r#"{"name":"Books","properties":[{"key":"title","name":"Title","type":"text"}]}"#,
                "books title_2: title",
            ),
            (
                r#"{"name":"Books","contentPropDetails":{"name":"Content"},"properties":[{"name":"ID","type":"text"}]}"#,
                "books content_2: id",
            ),
        ] {
            assert_eq!(keys(json).unwrap(), expected);
        }
    }

    #[test]
    fn a_title_has_no_key_of_a_block_field() {
        for (name, expected) in [
            ("URL", "url_2"),
            ("Size", "size_2"),
            ("Rows", "rows_2"),
            ("Text", "text_2"),
            ("Markdown", "markdown_2"),
            ("Uploaded", "uploaded_2"),
            ("Properties", "properties_2"),
            ("Rev", "rev_2"),
            ("File name", "file_name"),
            ("Title", "title"),
        ] {
            let json = format!(
                r#"{{"name":"B","contentPropDetails":{{"name":"{name}"}},"properties":[]}}"#
            );
            assert_eq!(keys(&json).unwrap(), format!("b {expected}: "), "{name}");
        }
    }

    #[test]
    fn a_schema_that_was_completed_stays_as_it_is() {
        let json = r#"{"name":"Books","properties":[{"name":"A","type":"text"},{"name":"a","type":"select","options":[{"name":"x"}]}]}"#;
        let schema = complete(serde_json::from_str(json).unwrap(), &Limits::default()).unwrap();
        assert_eq!(complete(schema.clone().into(), &Limits::default()).unwrap(), schema);
        assert_eq!(
            complete(serde_json::from_str(json).unwrap(), &Limits::default()).unwrap(),
            schema
        );
    }

    #[test]
    fn a_schema_with_keys_of_long_names_is_taken_back() {
        let (limits, long) = (Limits::default(), "İ".repeat(1_000));
        let property = format!(r#"{{"name":"{long}","type":"text"}}"#);
        let json = format!(
            r#"{{"name":"{long}","contentPropDetails":{{"name":"{long}"}},"properties":[{property},{property}]}}"#
        );
        let schema = complete(serde_json::from_str(&json).unwrap(), &limits).unwrap();
        assert_eq!(complete(schema.clone().into(), &limits).unwrap(), schema);
    }

    #[test]
    fn faults_are_named() {
        let long = "x".repeat(1_001);
        for (json, message) in [
            (r#"{"name":" ","properties":[]}"#.to_owned(), "name: the name is blank"),
            (format!(r#"{{"name":"{long}","properties":[]}}"#), "name: characters of a name: at most 1000, got 1001"),
            (
                r#"{"name":"B","key":"My Key","properties":[]}"#.into(),
                r#"key: expected a key like "my_key", got "My Key""#,
            ),
            (
                r#"{"name":"B","contentPropDetails":{"key":"id","name":"ID"},"properties":[]}"#.into(),
                "contentPropDetails.key: \"id\" is a field of blocks",
            ),
            (
                r#"{"name":"B","contentPropDetails":{"key":"url","name":"URL"},"properties":[]}"#.into(),
                "contentPropDetails.key: \"url\" is a field of blocks",
            ),
            (
                r#"{"name":"B","contentPropDetails":{"name":""},"properties":[]}"#.into(),
                "contentPropDetails.name: the name is blank",
            ),
            (
                r#"{"name":"B","properties":[{"key":"a","name":"A","type":"text"},{"key":"a","name":"B","type":"text"}]}"#
                    .into(),
                r#"properties[1].key: "a" is a key already"#,
            ),
            (
                r#"{"name":"B","contentPropDetails":{"key":"a","name":"A"},"properties":[{"key":"a","name":"A","type":"text"}]}"#
                    .into(),
                r#"properties[0].key: "a" is a key already"#,
            ),
            (
                r#"{"name":"B","properties":[{"key":"","name":"A","type":"text"}]}"#.into(),
                r#"properties[0].key: expected a key like "property", got """#,
            ),
            (
                format!(r#"{{"name":"B","properties":[{{"key":"{long}","name":"A","type":"text"}}]}}"#),
                "properties[0].key: characters of a property key: at most 1000, got 1001",
            ),
            (r#"{"name":"B","properties":[{"name":"","type":"text"}]}"#.into(), "properties[0].name: the name is blank"),
            (
                r#"{"name":"B","properties":[{"name":"A","type":"select","options":[{"name":"x"},{"name":"x"}]}]}"#.into(),
                r#"properties[0].options[1].name: "x" is an option already"#,
            ),
            (
                r#"{"name":"B","properties":[{"name":"A","type":"select","options":[{"name":""}]}]}"#.into(),
                "properties[0].options[0].name: the name is blank",
            ),
        ] {
            assert_eq!(keys(&json).unwrap_err(), message);
        }
    }

    #[test]
    fn there_are_not_too_many_of_anything() {
        let many = |count: usize, entry: &str| vec![entry; count].join(",");
        let properties = |count| {
            format!(
                r#"{{"name":"B","properties":[{}]}}"#,
                many(count, r#"{"name":"A","type":"text"}"#)
            )
        };
        keys(&properties(200)).unwrap();
        let message = "properties: properties in a schema: at most 200, got 201";
        assert_eq!(keys(&properties(201)).unwrap_err(), message);
        let options: String = many(1_001, r#"{"name":"x"}"#);
        let json = format!(
            r#"{{"name":"B","properties":[{{"name":"A","type":"select","options":[{options}]}}]}}"#
        );
        let message = "properties[0].options: options in a select: at most 1000, got 1001";
        assert_eq!(keys(&json).unwrap_err(), message);
    }
}
