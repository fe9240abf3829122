//! Schemas, items and queries as JSON, from bytes: mostly of the right form, now and then of
//! another.

use leafbase_model::Schema;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use serde_json::{Map, Value, json};

const TYPES: [&str; 12] = [
    "text",
    "number",
    "boolean",
    "checkbox",
    "date",
    "url",
    "email",
    "phone",
    "singleSelect",
    "multiSelect",
    "relation",
    "none",
];
const NAMES: [&str; 12] =
    ["A", "a", "b", "Title", "title", "Due day", "É", "x", "", " ", "self", "id"];
const OPERATORS: [&str; 16] = [
    "equals",
    "notEquals",
    "contains",
    "startsWith",
    "anyOf",
    "allOf",
    "isEmpty",
    "isNotEmpty",
    "greaterThan",
    "greaterThanOrEqual",
    "lessThan",
    "lessThanOrEqual",
    "before",
    "after",
    "onOrBefore",
    "onOrAfter",
];

/// Requests from bytes, about the collections and items that there are.
pub struct Asking<'a, 'b> {
    pub bytes: &'a mut Unstructured<'b>,
    pub collections: &'a [String],
    pub items: &'a [String],
}

impl Asking<'_, '_> {
    fn name(&mut self) -> Result<String> {
        if self.bytes.ratio(3, 4)? {
            return Ok((*self.bytes.choose(&NAMES)?).to_owned());
        }
        let length = self.bytes.int_in_range(0..=12)?;
        let taken = self.bytes.bytes(length.min(self.bytes.len()))?;
        Ok(String::from_utf8_lossy(taken).into_owned())
    }

    fn several<T>(
        &mut self,
        most: usize,
        mut make: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let count = self.bytes.int_in_range(0..=most)?;
        (0..count).map(|_| make(self)).collect()
    }

    fn one_of(&mut self, ids: &[String]) -> Result<Value> {
        if ids.is_empty() || self.bytes.ratio(1, 16)? {
            return Ok(self.name()?.into());
        }
        Ok(self.bytes.choose(ids)?.as_str().into())
    }

    pub fn collection(&mut self) -> Result<Value> {
        self.one_of(self.collections)
    }

    pub fn item(&mut self) -> Result<Value> {
        self.one_of(self.items)
    }

    /// A new schema.
    pub fn schema(&mut self) -> Result<Value> {
        let mut schema =
            json!({"name": self.name()?, "properties": self.several(4, Self::property)?});
        if self.bytes.ratio(1, 4)? {
            schema["contentPropDetails"] = json!({"name": self.name()?});
            if self.bytes.arbitrary()? {
                schema["contentPropDetails"]["key"] = self.name()?.into();
            }
        }
        Ok(schema)
    }

    fn property(&mut self) -> Result<Value> {
        let kind = *self.bytes.choose(&TYPES)?;
        let mut property = json!({"name": self.name()?, "type": kind});
        if self.bytes.ratio(1, 4)? {
            property["key"] = self.name()?.into();
        }
        if kind.ends_with("Select") || self.bytes.ratio(1, 32)? {
            property["options"] = self.several(3, Self::option)?.into();
        }
        if kind == "relation" || self.bytes.ratio(1, 32)? {
            property["targetCollectionId"] =
                if self.bytes.arbitrary()? { "self".into() } else { self.collection()? };
            if self.bytes.arbitrary()? {
                property["inverseKey"] = self.name()?.into();
            }
            property["single"] = self.bytes.arbitrary::<bool>()?.into();
        }
        Ok(property)
    }

    fn option(&mut self) -> Result<Value> {
        let mut option = json!({"name": self.name()?});
        if self.bytes.ratio(1, 4)? {
            option["color"] = (*self.bytes.choose(&["#ffffff", "#0060C0", "red", ""])?).into();
        }
        Ok(option)
    }

    /// A schema that there is, changed.
    pub fn changed(&mut self, schema: &Schema) -> Result<Value> {
        let mut schema = serde_json::to_value(schema).unwrap_or_default();
        for _ in 0..=self.bytes.int_in_range(0..=2)? {
            let another = self.property()?;
            let Some(properties) = schema["properties"].as_array_mut() else { break };
            let at = self.bytes.int_in_range(0..=properties.len())?;
            match (self.bytes.int_in_range(0..=5)?, properties.get_mut(at)) {
                (0, Some(_)) => drop(properties.remove(at)),
                (1, Some(property)) => property["name"] = another["name"].clone(),
                (2, Some(property)) if property["key"].is_string() => {
                    let key = property["key"].take();
                    *property = another;
                    property["key"] = key;
                }
                (3, Some(_)) => properties.rotate_left(at),
                _ => properties.insert(at, another),
            }
        }
        Ok(schema)
    }

    /// What an item says: a title and values.
    pub fn fields(&mut self, schema: Option<&Schema>) -> Result<Map<String, Value>> {
        let mut fields = Map::new();
        let key = schema.map_or("title", |schema| &schema.content.key).to_owned();
        if self.bytes.ratio(7, 8)? {
            fields.insert(key, self.name()?.into());
        }
        let mut properties = Map::new();
        for property in schema.into_iter().flat_map(|schema| &schema.properties) {
            if self.bytes.ratio(2, 3)? {
                let kind = property.kind.property_type().to_string();
                properties.insert(property.key.clone(), self.value(&kind)?);
            }
        }
        if self.bytes.ratio(1, 32)? {
            properties.insert(self.name()?, self.value("text")?);
        }
        fields.insert("properties".to_owned(), properties.into());
        Ok(fields)
    }

    fn value(&mut self, kind: &str) -> Result<Value> {
        let kind = if self.bytes.ratio(1, 16)? { *self.bytes.choose(&TYPES)? } else { kind };
        Ok(match kind {
            _ if self.bytes.ratio(1, 12)? => Value::Null,
            "number" if self.bytes.arbitrary()? => self.bytes.arbitrary::<f64>()?.into(),
            "number" => self.bytes.arbitrary::<i64>()?.into(),
            "boolean" | "checkbox" => self.bytes.arbitrary::<bool>()?.into(),
            "date" => (*self.bytes.choose(&[
                "2026-01-02",
                "today",
                "yesterday",
                "2026-02-30",
                "9999-12-31",
            ])?)
            .into(),
            "url" => (*self.bytes.choose(&["https://a.example", "a.b", "x y", ""])?).into(),
            "email" => (*self.bytes.choose(&["a@b.example", "a@b", "a", ""])?).into(),
            "multiSelect" => self.several(3, Self::name)?.into(),
            "relation" if self.bytes.arbitrary()? => self.several(3, Self::item)?.into(),
            "relation" => {
                let related = self.several(2, |asking| Ok(json!({"blockId": asking.item()?})))?;
                json!({ "relations": related })
            }
            _ => self.name()?.into(),
        })
    }

    /// A filter of a query.
    pub fn filter(&mut self, schema: Option<&Schema>, depth: usize) -> Result<Value> {
        if depth < 2 && self.bytes.ratio(1, 4)? {
            let several = self.several(2, |asking| asking.filter(schema, depth + 1))?;
            return Ok(if self.bytes.arbitrary()? {
                json!({"and": several})
            } else {
                json!({"or": several})
            });
        }
        let (mut kind, mut key) = ("text".to_owned(), "title".to_owned());
        let properties = schema.map_or(&[][..], |schema| &schema.properties);
        if !properties.is_empty() {
            let property = self.bytes.choose(properties)?;
            (kind, key) = (property.kind.property_type().to_string(), property.key.clone());
        }
        let operator = *self.bytes.choose(&OPERATORS)?;
        let mut filter = json!({ "property": key });
        filter[operator] = self.value(&kind)?;
        Ok(filter)
    }
}
