//! Schemas of the naive space: replacement, including both ends of relations.

use leafbase_model::{
    BlockId, ContentProperty, Error, Limits, Property, PropertyDraft, PropertyKind, Relation,
    Result, Schema, SchemaDraft, SelectOption,
};

use crate::naive_relations::NaiveRelation;
use crate::naive_values::at_most;
use crate::{Broken, NaiveSpace};

/// Keys that the JSON of blocks reserves: fields whose names are keys.
const FIELDS_OF_BLOCKS: [&str; 19] = [
    "color",
    "content",
    "decorations",
    "description",
    "font",
    "id",
    "language",
    "layout",
    "markdown",
    "metadata",
    "properties",
    "rev",
    "rows",
    "size",
    "text",
    "type",
    "uploaded",
    "url",
    "width",
];

/// Key derived from a name; test names need nothing more.
fn key_of(name: &str) -> String {
    let words = name.split_whitespace().map(|word| {
        let letters =
            word.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'));
        letters.collect::<String>().to_lowercase()
    });
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "property".to_owned() } else { words.join("_") }
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key_of(key) == key
}

/// The first free key of `name`, `name_2`, `name_3`, cut to the longest key there may be.
pub(crate) fn free_key(name: &str, taken: &[String], longest: usize) -> String {
    let key = |suffix: &str| {
        let room = longest.saturating_sub(suffix.len());
        key_of(name).chars().take(room).collect::<String>() + suffix
    };
    let numbered = (2..).map(|number| key(&format!("_{number}")));
    std::iter::once(key("")).chain(numbered).find(|key| !taken.contains(key)).unwrap()
}

fn check_name(name: &str, limits: &Limits) -> Result<()> {
    if name.trim().is_empty() {
        return Err(Error::validation("blank"));
    }
    at_most(limits.title, name.chars().count())
}

fn check_key(key: &str, taken: &mut Vec<String>, limits: &Limits) -> Result<()> {
    at_most(limits.title, key.chars().count())?;
    if !is_key(key) || taken.iter().any(|known| known == key) {
        return Err(Error::validation("no key"));
    }
    taken.push(key.to_owned());
    Ok(())
}

fn check_options(options: &[SelectOption], limits: &Limits) -> Result<()> {
    at_most(limits.select_options, options.len())?;
    for (index, option) in options.iter().enumerate() {
        let again = options[..index].iter().any(|other| other.name == option.name);
        let checked = check_name(&option.name, limits)
            .and_then(|()| if again { Err(Error::validation("there already")) } else { Ok(()) });
        checked.map_err(|error| error.at("name").at(format_args!("[{index}]")))?;
    }
    Ok(())
}

fn check_property(
    property: &PropertyDraft,
    taken: &mut Vec<String>,
    limits: &Limits,
) -> Result<()> {
    if let Some(key) = &property.key {
        check_key(key, taken, limits).map_err(|error| error.at("key"))?;
    }
    check_name(&property.name, limits).map_err(|error| error.at("name"))?;
    check_options(property.kind.options(), limits).map_err(|error| error.at("options"))
}

/// The schema with keys for all properties.
pub(crate) fn complete(draft: &SchemaDraft, limits: &Limits) -> Result<Schema> {
    check_name(&draft.name, limits).map_err(|error| error.at("name"))?;
    at_most(limits.schema_properties, draft.properties.len())
        .map_err(|error| error.at("properties"))?;
    let key = match &draft.key {
        Some(key) => check_key(key, &mut Vec::new(), limits)
            .map(|()| key.clone())
            .map_err(|error| error.at("key"))?,
        None => free_key(&draft.name, &[], limits.title),
    };
    let mut taken = Vec::new();
    let (content_name, content_key) = match &draft.content {
        Some(content) => (content.name.clone(), content.key.clone()),
        None => ("Title".to_owned(), None),
    };
    check_name(&content_name, limits).map_err(|error| error.at("name").at("contentPropDetails"))?;
    if let Some(key) = &content_key {
        let checked = if FIELDS_OF_BLOCKS.contains(&key.as_str()) {
            Err(Error::validation("a field of blocks"))
        } else {
            check_key(key, &mut taken, limits)
        };
        checked.map_err(|error| error.at("key").at("contentPropDetails"))?;
    }
    for (index, property) in draft.properties.iter().enumerate() {
        let checked = check_property(property, &mut taken, limits);
        checked.map_err(|error| error.at(format_args!("properties[{index}]")))?;
    }
    let content_key = content_key.unwrap_or_else(|| {
        let fields = FIELDS_OF_BLOCKS.iter().map(|field| (*field).to_owned());
        let reserved: Vec<_> = taken.iter().cloned().chain(fields).collect();
        let key = free_key(&content_name, &reserved, limits.title);
        taken.push(key.clone());
        key
    });
    let mut properties = Vec::new();
    for PropertyDraft { key, name, kind } in draft.properties.clone() {
        let key = key.unwrap_or_else(|| {
            let key = free_key(&name, &taken, limits.title);
            taken.push(key.clone());
            key
        });
        properties.push(Property { key, name, kind });
    }
    Ok(Schema {
        key,
        name: draft.name.clone(),
        content: ContentProperty { key: content_key, name: content_name },
        properties,
    })
}

pub(crate) fn relation_of<'s>(schema: &'s Schema, key: &str) -> Option<&'s Relation> {
    schema.property(key)?.kind.relation()
}

/// Whether a relation of the old schema is also one of the new schema.
fn stays(old: &Schema, new: &Schema, key: &str) -> bool {
    match (relation_of(old, key), relation_of(new, key)) {
        (Some(old), Some(new)) => old.target == new.target,
        _ => false,
    }
}

fn set_end(schema: &mut Schema, key: &str, inverse: &str, owner: bool) {
    let property = schema.properties.iter_mut().find(|property| property.key == key);
    if let Some(PropertyKind::Relation(relation)) = property.map(|property| &mut property.kind) {
        relation.inverse_key = Some(inverse.to_owned());
        relation.owner = owner;
    }
}

/// A new property: the inverse of the relation `key` of `target`.
fn add_end(
    schema: &mut Schema,
    wanted: Option<&str>,
    name: &str,
    (target, key): (BlockId, &str),
    limits: &Limits,
) -> Result<String> {
    let mut taken: Vec<_> = schema.properties.iter().map(|property| property.key.clone()).collect();
    taken.push(schema.content.key.clone());
    let made = match wanted {
        Some(wanted) if is_key(wanted) && !taken.iter().any(|key| key == wanted) => {
            wanted.to_owned()
        }
        Some(_) => return Err(Error::validation("no key").at("inverseKey")),
        None => free_key(name, &taken, limits.title),
    };
    let kind = Relation::to(target).with_inverse(key).into();
    schema.properties.push(Property { key: made.clone(), name: name.to_owned(), kind });
    at_most(limits.schema_properties, schema.properties.len())?;
    Ok(made)
}

impl NaiveSpace {
    /// Creates the inverses of a collection's new relations, and removes those of dropped ones.
    pub(crate) fn pair_up(&mut self, collection: BlockId, schema: &mut Schema) -> Result<()> {
        for property in &mut schema.properties {
            if let PropertyKind::Relation(relation) = &mut property.kind
                && relation.target == Relation::ITSELF
            {
                relation.target = collection;
            }
        }
        let old = self.schema(collection).cloned();
        let old = old.unwrap_or_else(|| Schema { properties: Vec::new(), ..schema.clone() });
        self.end_relations(collection, &old, schema);
        let given = schema.clone();
        if !self.breaks(Broken::HalvesAreRefused) {
            schema.properties.retain(|property| !is_half(collection, &old, &given, &property.key));
        }
        let mut paired = Vec::new();
        for index in 0..schema.properties.len() {
            let key = &schema.properties[index].key;
            let place = given.properties.iter().position(|property| property.key == *key).unwrap();
            let paired = self.pair_one(collection, &old, schema, index, &mut paired);
            paired.map_err(|error| error.at(format_args!("properties[{place}]")))?;
        }
        let inverse = |schema: &Schema, key: &str| {
            relation_of(schema, key).map(|relation| relation.inverse_key.clone())
        };
        let is_gone = |(of, key): &(BlockId, String)| {
            *of == collection
                && !(stays(&old, schema, key) && inverse(&old, key) == inverse(schema, key))
        };
        if !self.breaks(Broken::PairsOutliveTheirColumn) {
            self.relations
                .retain(|relation| !is_gone(&relation.first) && !is_gone(&relation.second));
        }
        Ok(())
    }

    /// Removes inverses in other collections.
    fn end_relations(&mut self, collection: BlockId, old: &Schema, new: &Schema) {
        for property in &old.properties {
            let Some(relation) = property.kind.relation() else { continue };
            if relation.target == collection || stays(old, new, &property.key) {
                continue;
            }
            let inverse = relation.inverse_key.clone().unwrap();
            if let Some(other) = self.schema_mut(relation.target) {
                other.properties.retain(|property| property.key != inverse);
            }
        }
    }

    fn pair_one(
        &mut self,
        collection: BlockId,
        old: &Schema,
        schema: &mut Schema,
        index: usize,
        paired: &mut Vec<String>,
    ) -> Result<()> {
        let Property { key, name, kind: PropertyKind::Relation(relation) } =
            schema.properties[index].clone()
        else {
            return Ok(());
        };
        if paired.contains(&key) {
            return Ok(());
        }
        if stays(old, schema, &key) {
            return keep_end(collection, old, schema, &key, relation.inverse_key.as_deref());
        }
        let inverse = if relation.target == collection {
            let inverse = pair_within(
                collection,
                old,
                schema,
                (&key, &name),
                &relation,
                paired,
                &self.limits,
            )?;
            paired.extend([key.clone(), inverse.clone()]);
            if inverse != key {
                set_end(schema, &inverse, &key, false);
            }
            inverse
        } else {
            let (limits, name) = (self.limits.clone(), schema.name.clone());
            let missing = || Error::no_collection().at("targetCollectionId");
            let other = self.schema_mut(relation.target).ok_or_else(missing)?;
            add_end(other, relation.inverse_key.as_deref(), &name, (collection, &key), &limits)?
        };
        set_end(schema, &key, &inverse, true);
        Ok(())
    }

    /// New relations have no pairs.
    pub(crate) fn begin_relations(&mut self, collection: BlockId) {
        let Some(schema) = self.schema(collection).cloned() else { return };
        for property in &schema.properties {
            let Some(relation) = property.kind.relation() else { continue };
            let end = (collection, property.key.clone());
            if self.relation(&end).is_none() && relation.owner {
                let second = (relation.target, relation.inverse_key.clone().unwrap());
                self.relations.push(NaiveRelation { first: end, second, pairs: Vec::new() });
            }
        }
    }
}

/// Whether a relation of a collection with itself remains without its inverse.
fn is_half(collection: BlockId, old: &Schema, new: &Schema, key: &str) -> bool {
    let (Some(former), Some(now)) = (relation_of(old, key), relation_of(new, key)) else {
        return false;
    };
    let names_another = now.inverse_key.is_some() && now.inverse_key != former.inverse_key;
    let is_left_out = new.property(former.inverse_key.as_deref().unwrap()).is_none();
    former.target == collection && now.target == collection && is_left_out && !names_another
}

/// A relation that remains keeps its inverse.
fn keep_end(
    collection: BlockId,
    old: &Schema,
    schema: &mut Schema,
    key: &str,
    wanted: Option<&str>,
) -> Result<()> {
    let former = relation_of(old, key).unwrap().clone();
    let inverse = former.inverse_key.clone().unwrap();
    if wanted.is_some_and(|wanted| wanted != inverse) {
        return Err(Error::validation("another end").at("inverseKey"));
    }
    if former.target == collection && inverse != key && !stays(old, schema, &inverse) {
        return Err(Error::validation("one end stays and the other does not"));
    }
    set_end(schema, key, &inverse, former.owner);
    Ok(())
}

/// Key of the inverse of a collection's new relation with itself.
fn pair_within(
    collection: BlockId,
    old: &Schema,
    schema: &mut Schema,
    (key, name): (&str, &str),
    relation: &Relation,
    paired: &[String],
    limits: &Limits,
) -> Result<String> {
    let is_new = |schema: &Schema, other: &str| {
        relation_of(schema, other).is_some_and(|relation| relation.target == collection)
            && !stays(old, schema, other)
    };
    let names = |schema: &Schema, other: &str| {
        relation_of(schema, other).and_then(|relation| relation.inverse_key.clone())
    };
    match relation.inverse_key.as_deref() {
        Some(wanted) if wanted == key => Ok(key.to_owned()),
        Some(wanted) if schema.property(wanted).is_some() => {
            let fits =
                is_new(schema, wanted) && names(schema, wanted).is_none_or(|named| named == key);
            if fits && !paired.iter().any(|known| known == wanted) {
                Ok(wanted.to_owned())
            } else {
                Err(Error::validation("no other end").at("inverseKey"))
            }
        }
        Some(wanted) => {
            add_end(schema, Some(wanted), &format!("{name} of"), (collection, key), limits)
        }
        None => {
            let others = schema.properties.iter().map(|property| property.key.clone());
            let mut partners = others.filter(|other| {
                other != key
                    && is_new(schema, other)
                    && names(schema, other).as_deref() == Some(key)
            });
            match partners.next() {
                Some(partner) => Ok(partner),
                None => add_end(schema, None, &format!("{name} of"), (collection, key), limits),
            }
        }
    }
}
