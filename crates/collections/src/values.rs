//! Values of items, decoded from JSON by the type of their property.

use leafbase_model::json::expected_one_of;
use leafbase_model::{Property, PropertyChange, PropertyKind, PropertyValue, Result, Schema};
use serde_json::{Map, Value};

use crate::property_types::rules;
use crate::value_rules::{ValueReader, has_option, mismatch};

impl ValueReader<'_> {
    /// Decodes one value. `None` clears the property: `null`, and an empty set of options or
    /// related items. Duplicate IDs of related items are kept, so that an error found later can
    /// name the index of an ID.
    ///
    /// # Errors
    /// [`leafbase_model::ErrorKind::SchemaMismatch`] if the property does not accept the value;
    /// [`leafbase_model::ErrorKind::LimitExceeded`].
    pub fn read(&self, property: &Property, value: &Value) -> Result<Option<PropertyValue>> {
        if value.is_null() {
            return Ok(None);
        }
        // Dispatches to the type's rules.
        let read = rules(&property.kind).read(&property.kind, value, self)?;
        debug_assert!(property.kind.has_form(&read), "values have the form of their type");
        let is_empty_set = match &read {
            PropertyValue::Options(options) => options.is_empty(),
            PropertyValue::Relations(items) => items.is_empty(),
            _ => false,
        };
        Ok((!is_empty_set).then_some(read))
    }

    /// Decodes the `properties` of an item, in the order of the schema. Keys that are absent do not
    /// change.
    ///
    /// # Errors
    /// As [`Self::read`], with the key as path; [`leafbase_model::ErrorKind::SchemaMismatch`] for a
    /// key that the schema does not have.
    pub fn read_all(
        &self,
        schema: &Schema,
        fields: &Map<String, Value>,
    ) -> Result<Vec<PropertyChange>> {
        // Unknown keys are refused before any value is read, so that the error does not depend on
        // their order.
        if let Some(unknown) = fields.keys().find(|key| schema.property(key).is_none()) {
            let known = schema.properties.iter().map(|property| property.key.as_str());
            let expected = expected_one_of(unknown, known);
            let message = format!("the collection has no such property{expected}");
            return Err(mismatch(message).at(unknown));
        }
        let given = schema
            .properties
            .iter()
            .filter_map(|property| Some((property, fields.get(&property.key)?)));
        given
            .map(|(property, value)| {
                let read = self.read(property, value).map_err(|error| error.at(&property.key))?;
                Ok((property.key.clone(), read))
            })
            .collect()
    }
}

/// The names in `value` that are not options of `property` yet, in the order of the value.
pub fn new_options<'v>(property: &Property, value: &'v PropertyValue) -> Vec<&'v str> {
    let chosen: Vec<&str> = match (&property.kind, value) {
        (PropertyKind::SingleSelect(_), PropertyValue::Text(name)) => vec![name],
        (PropertyKind::MultiSelect(_), PropertyValue::Options(names)) => {
            names.iter().map(String::as_str).collect()
        }
        _ => Vec::new(),
    };
    let known = property.kind.options();
    chosen.into_iter().filter(|name| !has_option(known, name)).collect()
}

#[cfg(test)]
mod tests {
    use leafbase_model::{BlockId, ContentProperty, ErrorKind, Limits, Relation, SelectOption};
    use serde_json::json;

    use super::*;

    const SELECT: [&str; 2] = ["open", "shut"];

    fn options() -> Vec<SelectOption> {
        SELECT.map(SelectOption::new).into()
    }

    fn relation() -> PropertyKind {
        Relation::to(BlockId::NIL).into()
    }

    fn property(kind: PropertyKind) -> Property {
        Property { key: "key".into(), name: "Key".into(), kind }
    }

    fn id(number: u8) -> BlockId {
        let mut bytes = [0; 16];
        bytes[15] = number;
        BlockId::from_bytes(bytes)
    }

    fn read_with(
        kind: PropertyKind,
        value: &Value,
        new_options: bool,
    ) -> Result<Option<PropertyValue>> {
        let today = "2026-03-01".parse().unwrap();
        ValueReader { today, limits: &Limits::default(), new_options }.read(&property(kind), value)
    }

    #[test]
    fn values_that_fit() {
        use PropertyValue::{Boolean, Date, Number, Options, Relations, Text};
        let day = |text: &str| Date(text.parse().unwrap());
        let text = |text: &str| Text(text.into());
        let two = json!({"relations": [{"blockId": id(1)}, {"blockId": id(2)}]});
        for (kind, value, expected) in [
            (PropertyKind::Text, json!(""), text("")),
            (PropertyKind::Text, json!("two\nlines"), text("two\nlines")),
            (PropertyKind::Url, json!("https://example.org"), text("https://example.org")),
            (PropertyKind::Email, json!("anna@example.org"), text("anna@example.org")),
            (PropertyKind::Phone, json!("+351 21 000"), text("+351 21 000")),
            (PropertyKind::Number, json!(3), Number(3.0)),
            (PropertyKind::Number, json!(-0.25), Number(-0.25)),
            (PropertyKind::Number, json!(1_u64 << 60), Number(1.152_921_504_606_847e18)),
            // The JSON parser has already rounded these.
            (PropertyKind::Number, parsed("9007199254740993.0"), Number(9_007_199_254_740_992.0)),
            (
                PropertyKind::Number,
                parsed("18446744073709551617"),
                Number(18_446_744_073_709_551_616.0),
            ),
            (PropertyKind::Boolean, json!(false), Boolean(false)),
            (PropertyKind::Date, json!("2028-02-29"), day("2028-02-29")),
            (PropertyKind::Date, json!("today"), day("2026-03-01")),
            (PropertyKind::Date, json!("tomorrow"), day("2026-03-02")),
            (PropertyKind::Date, json!("yesterday"), day("2026-02-28")),
            (PropertyKind::SingleSelect(options()), json!("open"), text("open")),
            (
                PropertyKind::MultiSelect(options()),
                json!(["shut", "open", "shut"]),
                Options(vec!["shut".into(), "open".into()]),
            ),
            (relation(), two, Relations(vec![id(1), id(2)])),
            (relation(), json!([id(2), id(1), id(2)]), Relations(vec![id(2), id(1), id(2)])),
            (
                relation(),
                json!({"relations": [{"blockId": id(1), "title": "Dune"}]}),
                Relations(vec![id(1)]),
            ),
            (relation(), json!(id(1)), Relations(vec![id(1)])),
            (relation(), json!(["no ID"]), Relations(vec![BlockId::NIL])),
        ] {
            assert_eq!(
                read_with(kind.clone(), &value, false).unwrap(),
                Some(expected),
                "{kind:?} {value}"
            );
            assert_eq!(read_with(kind, &Value::Null, false).unwrap(), None);
        }
        for empty in [json!([]), json!({"relations": []})] {
            assert_eq!(read_with(relation(), &empty, false).unwrap(), None);
        }
        assert_eq!(
            read_with(PropertyKind::MultiSelect(options()), &json!([]), false).unwrap(),
            None
        );
    }

    fn parsed(json: &str) -> Value {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn there_is_one_zero() {
        for zero in ["0", "-0", "0.0", "-0.0", "-0e9"] {
            let read = read_with(PropertyKind::Number, &parsed(zero), false).unwrap().unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), "0", "{zero}");
        }
    }

    #[test]
    fn values_that_do_not_fit() {
        let select = || PropertyKind::SingleSelect(options());
        let many = (0..20).map(|number| SelectOption::new(format!("option {number}"))).collect();
        for (kind, value, message) in [
            (PropertyKind::Text, json!(1), "expected text, got 1"),
            (PropertyKind::Url, json!(true), "expected a URL, got true"),
            (PropertyKind::Email, json!([]), "expected an e-mail address, got an array"),
            (PropertyKind::Phone, json!(351), "expected a phone number, got 351"),
            (PropertyKind::Number, json!("3"), r#"expected a number, got "3""#),
            (PropertyKind::Url, json!(""), r#"expected a URL, got """#),
            (PropertyKind::Url, json!("see below"), r#"expected a URL, got "see below""#),
            (PropertyKind::Email, json!("anna"), r#"expected an e-mail address, got "anna""#),
            (PropertyKind::Phone, json!("1\n2"), r#"expected a phone number, got "1\n2""#),
            (PropertyKind::Boolean, json!("yes"), r#"expected true or false, got "yes""#),
            (PropertyKind::Boolean, json!(0), "expected true or false, got 0"),
            (PropertyKind::Date, json!("soon"), r#"expected a day YYYY-MM-DD, got "soon""#),
            (PropertyKind::Date, json!("2026-02-29"), "the calendar has no day 2026-02-29"),
            (PropertyKind::Date, json!(20_260_301), "expected a day YYYY-MM-DD, got 20260301"),
            (select(), json!("Open"), r#"expected one of "open", "shut", got "Open""#),
            (select(), json!(["open"]), "expected the name of an option, got an array"),
            (
                PropertyKind::SingleSelect(many),
                json!(""),
                r#"expected one of "option 0", "option 1", "option 2", "option 3", "option 4", "option 5", "option 6", "option 7", "option 8", "option 9", "option 10", "option 11", 8 more, got """#,
            ),
            (
                PropertyKind::SingleSelect(vec![]),
                json!("x"),
                r#"expected nothing, for there are no options, got "x""#,
            ),
            (
                PropertyKind::MultiSelect(options()),
                json!("open"),
                r#"expected an array of names of options, got "open""#,
            ),
            (
                PropertyKind::MultiSelect(options()),
                json!(["open", 1]),
                "[1]: expected the name of an option, got 1",
            ),
            (
                PropertyKind::MultiSelect(options()),
                json!(["gone"]),
                r#"[0]: expected one of "open", "shut", got "gone""#,
            ),
            (
                relation(),
                json!(7),
                r#"expected relations like {"relations": [{"blockId": ".."}]}, got 7"#,
            ),
            (relation(), json!({}), "relations: the field `relations` is missing"),
            (
                relation(),
                json!({"relations": id(1)}),
                r#"relations: expected an array, got "00000000000000000000000001""#,
            ),
            (
                relation(),
                json!({"relations": [], "more": 1}),
                "more: the field `more` is unknown, expected relations",
            ),
            (
                relation(),
                json!({"relations": [id(1)]}),
                r#"relations[0]: expected an object, got "00000000000000000000000001""#,
            ),
            (
                relation(),
                json!({"relations": [{}]}),
                "relations[0].blockId: the field `blockId` is missing",
            ),
            (
                relation(),
                json!({"relations": [{"blockId": 1}]}),
                "relations[0].blockId: expected an ID, got 1",
            ),
            (relation(), json!([{"blockId": id(1)}]), "[0]: expected an ID, got an object"),
        ] {
            let error = read_with(kind, &value, false).unwrap_err();
            assert_eq!(
                (error.kind(), error.to_string().as_str()),
                (ErrorKind::SchemaMismatch, message),
                "{value}"
            );
        }
    }

    #[test]
    fn a_single_relation_takes_one_item() {
        let single = || Relation::to(BlockId::NIL).single().into();
        assert_eq!(
            read_with(single(), &json!([id(1)]), false).unwrap(),
            Some(PropertyValue::Relations(vec![id(1)]))
        );
        let error = read_with(single(), &json!([id(1), id(2)]), false).unwrap_err();
        let message = "expected one item at most, got 00000000000000000000000001 and 00000000000000000000000002";
        assert_eq!((error.kind(), error.message()), (ErrorKind::SchemaMismatch, message));
    }

    #[test]
    fn whole_numbers_that_would_become_their_neighbours() {
        for number in [9_007_199_254_740_993, u64::MAX] {
            let error = read_with(PropertyKind::Number, &json!(number), false).unwrap_err();
            let message =
                format!("expected a number that fits 64 bits of floating point, got {number}");
            assert_eq!((error.kind(), error.to_string()), (ErrorKind::LimitExceeded, message));
        }
    }

    #[test]
    fn names_of_options_are_as_long_as_names_may_be() {
        let name = "ä".repeat(1_000);
        let kind = || PropertyKind::SingleSelect(vec![SelectOption::new(name.clone())]);
        assert!(read_with(kind(), &json!(name), false).is_ok());
        assert!(read_with(kind(), &json!("ö".repeat(1_000)), true).is_ok());
        let error = read_with(kind(), &json!("ö".repeat(1_001)), true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    }

    #[test]
    fn texts_are_not_too_long() {
        for (kind, longest) in [(PropertyKind::Text, 256 << 10), (PropertyKind::Url, 8 << 10)] {
            read_with(kind.clone(), &json!("x".repeat(longest)), false).unwrap();
            let error = read_with(kind, &json!("x".repeat(longest + 1)), false).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        }
    }

    #[test]
    fn new_options_are_taken_only_when_allowed_and_told() {
        let value = json!(["open", "ajar", "gone"]);
        let kind = || PropertyKind::MultiSelect(options());
        assert!(read_with(kind(), &value, false).is_err());
        let read = read_with(kind(), &value, true).unwrap().unwrap();
        assert_eq!(new_options(&property(kind()), &read), ["ajar", "gone"]);
        let read = read_with(PropertyKind::SingleSelect(options()), &json!("ajar"), true)
            .unwrap()
            .unwrap();
        assert_eq!(new_options(&property(PropertyKind::SingleSelect(options())), &read), ["ajar"]);
        assert!(read_with(PropertyKind::SingleSelect(options()), &json!(" "), true).is_err());
        assert_eq!(
            new_options(&property(PropertyKind::Text), &PropertyValue::Text("x".into())),
            [""; 0]
        );
    }

    #[test]
    fn the_properties_of_an_item() {
        let column = |key: &str, kind| Property { key: key.into(), name: key.into(), kind };
        let schema = Schema {
            key: "books".into(),
            name: "Books".into(),
            content: ContentProperty { key: "title".into(), name: "Title".into() },
            properties: vec![
                column("read", PropertyKind::Boolean),
                column("due", PropertyKind::Date),
                column("a", PropertyKind::Text),
            ],
        };
        let read = |value: Value| {
            let today = "2026-03-01".parse().unwrap();
            ValueReader { today, limits: &Limits::default(), new_options: false }
                .read_all(&schema, value.as_object().unwrap())
        };
        assert_eq!(
            read(json!({"a": null, "read": true})).unwrap(),
            [("read".to_owned(), Some(PropertyValue::Boolean(true))), ("a".to_owned(), None),]
        );
        for (value, message) in [
            (
                json!({"Read": true}),
                "Read: the collection has no such property, expected one of read, due, a",
            ),
            (json!({"read": "x", "due": "x"}), r#"read: expected true or false, got "x""#),
            (json!({"due": "soon"}), r#"due: expected a day YYYY-MM-DD, got "soon""#),
        ] {
            assert_eq!(read(value).unwrap_err().to_string(), message);
        }
    }
}
