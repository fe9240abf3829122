//! Schemas as JSON.

use leafbase_model::{
    Color, ContentProperty, Limits, Property, PropertyDraft, PropertyKind, PropertyType,
    PropertyValue, Relation, Schema, SchemaDraft, SelectOption, json,
};

use crate::support::id;
use crate::wire::without_known_fields;

fn schema() -> Schema {
    let option = |name: &str, color: Option<[u8; 3]>| SelectOption {
        name: name.into(),
        color: color.map(Color::from_rgb),
    };
    let options = vec![option("open", Some([0, 0x60, 0xc0])), option("shut", None)];
    let kinds = [
        PropertyKind::Text,
        PropertyKind::Number,
        PropertyKind::Boolean,
        PropertyKind::Date,
        PropertyKind::Url,
        PropertyKind::Email,
        PropertyKind::Phone,
        PropertyKind::SingleSelect(options.clone()),
        PropertyKind::MultiSelect(options),
        Relation { owner: true, ..Relation::to(id(7)).with_inverse("books") }.into(),
        Relation::to(id(7)).single().into(),
        PropertyKind::MultiSelect(vec![]),
    ];
    let properties = kinds.into_iter().enumerate().map(|(number, kind)| Property {
        key: format!("key_{number}"),
        name: format!("Key {number}"),
        kind,
    });
    Schema {
        key: "books".into(),
        name: "Books".into(),
        content: ContentProperty { key: "title".into(), name: "Title".into() },
        properties: properties.collect(),
    }
}

#[test]
fn a_schema_is_read_as_it_was_written() {
    insta::assert_json_snapshot!(schema());
    let text = serde_json::to_string(&schema()).unwrap();
    assert_eq!(serde_json::from_str::<SchemaDraft>(&text).unwrap(), SchemaDraft::from(schema()));
    assert_eq!(
        schema().property("key_3").map(|property| property.kind.property_type()),
        Some(PropertyType::Date)
    );
    assert_eq!(schema().property("key"), None);
    let has = |of: PropertyType| {
        schema().properties.iter().any(|property| property.kind.property_type() == of)
    };
    assert!(PropertyType::ALL.iter().all(|of| has(*of)), "the schema has every type");
}

#[test]
fn a_relation_of_a_collection_with_itself() {
    let json = r#"{"name":"Tasks","properties":[{"name":"Parent","type":"relation","targetCollectionId":"self","single":true}]}"#;
    let draft: SchemaDraft = serde_json::from_str(json).unwrap();
    let parent = PropertyDraft::new("Parent", Relation::to_itself().single().into());
    assert_eq!(draft, SchemaDraft::new("Tasks", [parent]));
    assert_eq!(serde_json::to_string(&draft).unwrap(), json);
}

#[test]
fn options_are_read_from_names_and_colors_by_name() {
    let option = |json: &str| json::from_str::<SelectOption>(json, &Limits::default());
    assert_eq!(option(r#""open""#).unwrap(), SelectOption::new("open"));
    assert_eq!(option(r#"{"name":"open","color":null}"#).unwrap(), SelectOption::new("open"));
    let color = |name: &str| {
        option(&format!(r#"{{"name":"open","color":"{name}"}}"#)).map(|option| option.color)
    };
    assert_eq!(color("#007AFF").unwrap(), color("blue").unwrap());
    assert_eq!(color("gradient-blue").unwrap(), color("blue").unwrap());
    assert!(color("brown").is_err(), "no highlight is plain brown");
    for (json, path) in [
        (r#"{"name":"open","color":"bluish"}"#, "color"),
        (r#"{"color":"blue"}"#, "name"),
        (r#"{"name":"open","icon":"x"}"#, "icon"),
        ("7", ""),
    ] {
        assert_eq!(option(json).unwrap_err().path(), path, "{json}");
    }
}

#[test]
fn types_have_other_names_on_input() {
    for (text, property_type) in [
        ("checkbox", PropertyType::Boolean),
        ("select", PropertyType::SingleSelect),
        ("link", PropertyType::Url),
        ("multiSelect", PropertyType::MultiSelect),
    ] {
        assert_eq!(text.parse::<PropertyType>().unwrap(), property_type);
        assert_ne!(property_type.as_str(), "");
    }
    for property_type in PropertyType::ALL {
        assert_eq!(property_type.as_str().parse::<PropertyType>().unwrap(), *property_type);
    }
}

#[test]
fn what_does_not_fit_is_named() {
    for (text, message) in [
        ("{}", "name: the field `name` is missing"),
        (r#"{"name":"B"}"#, "properties: the field `properties` is missing"),
        (r#"{"name":"B","properties":[],"id":1}"#, "id: unknown field `id`"),
        (
            r#"{"name":"B","properties":[{"name":"a"}]}"#,
            "properties[0].type: the field `type` is missing",
        ),
        (
            r#"{"name":"B","properties":[{"type":"text"}]}"#,
            "properties[0].name: the field `name` is missing",
        ),
        (
            r#"{"name":"B","properties":[{"name":"a","type":"money"}]}"#,
            r#"properties[0].type: unknown property type "money", expected one of text, number, boolean, date, url, email, phone, singleSelect, multiSelect, relation"#,
        ),
        (
            r#"{"name":"B","properties":[{"name":"a","type":"select","options":[{"name":"x"},{"colour":"x"}]}]}"#,
            "properties[0].options[1].name: the field `name` is missing",
        ),
        (
            r#"{"name":"B","properties":[{"name":"a","type":"select","options":[7]}]}"#,
            "properties[0].options[0]: expected an object, got 7",
        ),
        (
            r#"{"name":"B","properties":[{"name":"a","type":"number","options":[]}]}"#,
            "properties[0].options: a property of type number has no field options",
        ),
        (
            r#"{"name":"B","properties":[{"name":"a","type":"text","inverseKey":"b"}]}"#,
            "properties[0].inverseKey: a property of type text has no field inverseKey",
        ),
        (
            r#"{"name":"B","properties":[{"name":"a","type":"date","single":true}]}"#,
            "properties[0].single: a property of type date has no field single",
        ),
        (
            r#"{"name":"B","properties":[{"name":"a","type":"relation"}]}"#,
            "properties[0].targetCollectionId: the field `targetCollectionId` is missing",
        ),
        (
            r#"{"name":"B","properties":[],"contentPropDetails":{"name":"T","type":"text"}}"#,
            "contentPropDetails.type: unknown field `type`",
        ),
    ] {
        let error = json::from_str::<SchemaDraft>(text, &Limits::default()).unwrap_err();
        assert_eq!(without_known_fields(&error.to_string()), message);
    }
}

#[test]
fn values_without_a_schema() {
    use leafbase_model::json::FromJson;
    for (value, read) in [
        (serde_json::json!("x"), PropertyValue::Text("x".into())),
        (serde_json::json!(1), PropertyValue::Number(1.0)),
        (serde_json::json!(-0.5), PropertyValue::Number(-0.5)),
        (serde_json::json!(1e300), PropertyValue::Number(1e300)),
        (serde_json::json!(-1e300), PropertyValue::Number(-1e300)),
        (
            serde_json::json!(-9_223_372_036_854_775_808.0),
            PropertyValue::Number(-9_223_372_036_854_775_808.0),
        ),
        (
            serde_json::json!(9_007_199_254_740_991_i64),
            PropertyValue::Number(9_007_199_254_740_991.0),
        ),
        (serde_json::json!(true), PropertyValue::Boolean(true)),
        (serde_json::json!(["a"]), PropertyValue::Options(vec!["a".into()])),
        (
            serde_json::json!({"relations": [{"blockId": id(1)}]}),
            PropertyValue::Relations(vec![id(1)]),
        ),
    ] {
        assert_eq!(PropertyValue::from_json(value.clone()).unwrap(), read);
        assert_eq!(serde_json::to_value(&read).unwrap(), value);
    }
    // There is one zero, and titles are for those who read replies.
    for (value, shown) in [
        (serde_json::json!(-0.0), serde_json::json!(0)),
        (
            serde_json::json!({"relations": [{"blockId": id(1), "title": "x"}]}),
            serde_json::json!({"relations": [{"blockId": id(1)}]}),
        ),
    ] {
        assert_eq!(serde_json::to_value(PropertyValue::from_json(value).unwrap()).unwrap(), shown);
    }
    for (value, message) in [
        (
            serde_json::json!({"relations": [{"blockId": id(1), "title": 1}]}),
            "relations[0].title: expected a string, got 1",
        ),
        (serde_json::json!(null), "expected a property value, got null"),
        (serde_json::json!([1]), "[0]: expected a string, got 1"),
        (serde_json::json!({"relation": []}), "relations: the field `relations` is missing"),
        (
            serde_json::json!({"relations": [{"id": 1}]}),
            "relations[0].blockId: the field `blockId` is missing",
        ),
    ] {
        assert_eq!(PropertyValue::from_json(value).unwrap_err().to_string(), message);
    }
}
