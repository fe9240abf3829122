//! Schema records: what the items of a collection look like; in the store with the numbers of the
//! columns that are indexed.

use leafbase_model::{
    BlockId, Color, ContentProperty, Property, PropertyKind, PropertyType, Relation, Schema,
    SelectOption,
};

use crate::msgpack::{
    Fault, Pack, Unpack, Unpacked, put_array, put_bin, put_nil, put_str, put_uint,
};

/// The number of the column of titles, which every collection has.
pub(crate) const TITLE: u32 = 0;

/// Whether the signatures of items tell of their values of this type: those of few values, which
/// alone lead an index nowhere.
pub(crate) const fn is_signed(kind: &PropertyKind) -> bool {
    matches!(
        kind,
        PropertyKind::SingleSelect(_) | PropertyKind::MultiSelect(_) | PropertyKind::Boolean
    )
}

/// A schema as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) schema: Schema,
    /// For each property, in order, the number of its column; none for relations, which have back
    /// links.
    pub(crate) columns: Vec<Option<u32>>,
    /// The number that the next column gets.
    pub(crate) next: u32,
}

impl Numbered {
    /// The first schema of a collection.
    pub(crate) fn first(schema: &Schema) -> Option<Self> {
        let nothing = Self { schema: schema.clone(), columns: Vec::new(), next: TITLE + 1 };
        nothing.replaced_by(schema)
    }

    /// Each indexed property with the number of its column.
    pub(crate) fn indexed(&self) -> impl Iterator<Item = (&Property, u32)> {
        let numbered = self.schema.properties.iter().zip(&self.columns);
        numbered.filter_map(|(property, column)| column.map(|column| (property, column)))
    }

    /// The number of the column of this property, if it is indexed.
    pub(crate) fn column(&self, key: &str) -> Option<u32> {
        self.indexed().find(|(property, _)| property.key == key).map(|(_, column)| column)
    }

    /// The number of the column that a property of this key and type has already.
    fn kept(&self, property: &Property) -> Option<u32> {
        let same = |(known, _): &(&Property, u32)| {
            known.key == property.key && known.kind.property_type() == property.kind.property_type()
        };
        self.indexed().find(same).map(|(_, column)| column)
    }

    /// The collection with another schema: columns keep their numbers while their properties keep
    /// key and type. None if the numbers are used up.
    pub(crate) fn replaced_by(&self, schema: &Schema) -> Option<Self> {
        let mut replaced = Self { schema: schema.clone(), columns: Vec::new(), next: self.next };
        for property in &schema.properties {
            let column = match (property.kind.relation(), self.kept(property)) {
                (Some(_), _) => None,
                (None, Some(kept)) => Some(kept),
                (None, None) => {
                    let next = replaced.next;
                    replaced.next = next.checked_add(1)?;
                    Some(next)
                }
            };
            replaced.columns.push(column);
        }
        Some(replaced)
    }
}

/// Appends the record of the store.
pub(crate) fn put_numbered(out: &mut Vec<u8>, numbered: &Numbered) {
    put_array(out, 3);
    put(out, &numbered.schema);
    put_array(out, numbered.columns.len());
    for column in &numbered.columns {
        match column {
            Some(column) => put_uint(out, u64::from(*column)),
            None => put_nil(out),
        }
    }
    put_uint(out, u64::from(numbered.next));
}

/// Appends the record of how many items a collection has.
pub(crate) fn put_items(out: &mut Vec<u8>, items: u64) {
    Pack::new(out).uint(items).end();
}

/// Reads the record of how many items a collection has.
pub(crate) fn read_items(unpack: &mut Unpack<'_>) -> Unpacked<u64> {
    let mut fields = unpack.fields()?;
    let items = fields.uint()?;
    fields.end()?;
    Ok(items)
}

/// Appends the record of the change log.
pub(crate) fn put(out: &mut Vec<u8>, schema: &Schema) {
    let Schema { key, name, content, properties } = schema;
    let mut pack = Pack::new(out);
    pack.str(key).str(name).str(&content.key).str(&content.name);
    pack.field(properties.is_empty(), |out| {
        put_array(out, properties.len());
        for property in properties {
            put_property(out, property);
        }
    });
    pack.end();
}

fn put_property(out: &mut Vec<u8>, property: &Property) {
    let Property { key, name, kind } = property;
    let mut pack = Pack::new(out);
    pack.str(key).str(name).code(kind.property_type());
    let options = kind.options();
    pack.field(options.is_empty(), |out| put_options(out, options));
    match kind.relation() {
        Some(relation) => pack.field(false, |out| put_relation(out, relation)),
        None => &mut pack,
    }
    .end();
}

/// Names and colours in turn.
fn put_options(out: &mut Vec<u8>, options: &[SelectOption]) {
    put_array(out, 2 * options.len());
    for SelectOption { name, color } in options {
        put_str(out, name);
        match color {
            Some(color) => put_bin(out, &color.to_rgb()),
            None => put_nil(out),
        }
    }
}

fn put_relation(out: &mut Vec<u8>, relation: &Relation) {
    let Relation { target, inverse_key, single, owner } = relation;
    let mut pack = Pack::new(out);
    pack.field(false, |out| put_bin(out, target.as_bytes()));
    pack.field(inverse_key.is_none(), |out| {
        put_str(out, inverse_key.as_deref().unwrap_or_default())
    });
    pack.uint(u64::from(*single) | u64::from(*owner) << 1).end();
}

/// Reads the record of the store.
pub(crate) fn read_numbered(unpack: &mut Unpack<'_>) -> Unpacked<Numbered> {
    let mut fields = unpack.fields()?;
    let schema = fields.required(read)?;
    let columns = fields.required(|unpack| {
        (0..unpack.array()?).map(|_| read_column(unpack)).collect::<Unpacked<Vec<_>>>()
    })?;
    let next = fields.required(read_number)?;
    fields.end()?;
    let is_right = |(property, column): (&Property, &Option<u32>)| match column {
        Some(column) => property.kind.relation().is_none() && (TITLE + 1..next).contains(column),
        None => property.kind.relation().is_some(),
    };
    if columns.len() == schema.properties.len()
        && schema.properties.iter().zip(&columns).all(is_right)
    {
        Ok(Numbered { schema, columns, next })
    } else {
        Err(Fault::Damaged)
    }
}

fn read_column(unpack: &mut Unpack<'_>) -> Unpacked<Option<u32>> {
    if unpack.nil() { Ok(None) } else { read_number(unpack).map(Some) }
}

fn read_number(unpack: &mut Unpack<'_>) -> Unpacked<u32> {
    u32::try_from(unpack.uint()?).map_err(|_| Fault::Damaged)
}

/// Reads the record of the change log.
pub(crate) fn read(unpack: &mut Unpack<'_>) -> Unpacked<Schema> {
    let mut fields = unpack.fields()?;
    let (key, name) = (fields.str()?.to_owned(), fields.str()?.to_owned());
    let content = ContentProperty { key: fields.str()?.to_owned(), name: fields.str()?.to_owned() };
    let properties = fields.next(|unpack| {
        (0..unpack.array()?).map(|_| read_property(unpack)).collect::<Unpacked<_>>()
    })?;
    fields.end()?;
    Ok(Schema { key, name, content, properties: properties.unwrap_or_default() })
}

fn read_property(unpack: &mut Unpack<'_>) -> Unpacked<Property> {
    let mut fields = unpack.fields()?;
    let (key, name) = (fields.str()?.to_owned(), fields.str()?.to_owned());
    let property_type = fields.code::<PropertyType>()?;
    let options = fields.next(read_options)?;
    let relation = fields.next(read_relation)?;
    fields.end()?;
    let kind = kind_of(property_type, options, relation).ok_or(Fault::Damaged)?;
    Ok(Property { key, name, kind })
}

/// Only selects have options, and relations, and no others, say where they lead.
fn kind_of(
    property_type: PropertyType,
    options: Option<Vec<SelectOption>>,
    relation: Option<Relation>,
) -> Option<PropertyKind> {
    Some(match (property_type, options, relation) {
        (PropertyType::SingleSelect, options, None) => {
            PropertyKind::SingleSelect(options.unwrap_or_default())
        }
        (PropertyType::MultiSelect, options, None) => {
            PropertyKind::MultiSelect(options.unwrap_or_default())
        }
        (PropertyType::Relation, None, Some(relation)) => PropertyKind::Relation(relation),
        (PropertyType::Text, None, None) => PropertyKind::Text,
        (PropertyType::Number, None, None) => PropertyKind::Number,
        (PropertyType::Boolean, None, None) => PropertyKind::Boolean,
        (PropertyType::Date, None, None) => PropertyKind::Date,
        (PropertyType::Url, None, None) => PropertyKind::Url,
        (PropertyType::Email, None, None) => PropertyKind::Email,
        (PropertyType::Phone, None, None) => PropertyKind::Phone,
        _ => return None,
    })
}

fn read_options(unpack: &mut Unpack<'_>) -> Unpacked<Vec<SelectOption>> {
    let count = unpack.array()?;
    if !count.is_multiple_of(2) {
        return Err(Fault::Damaged);
    }
    (0..count / 2)
        .map(|_| Ok(SelectOption { name: unpack.str()?.to_owned(), color: read_color(unpack)? }))
        .collect()
}

fn read_color(unpack: &mut Unpack<'_>) -> Unpacked<Option<Color>> {
    if unpack.nil() {
        return Ok(None);
    }
    let rgb = unpack.bin()?.try_into().map_err(|_| Fault::Damaged)?;
    Ok(Some(Color::from_rgb(rgb)))
}

fn read_relation(unpack: &mut Unpack<'_>) -> Unpacked<Relation> {
    let mut fields = unpack.fields()?;
    let target = BlockId::from_bytes(fields.required(Unpack::id)?);
    let inverse_key = fields.next(Unpack::str)?.map(str::to_owned);
    let flags = fields.uint()?;
    fields.end()?;
    match flags {
        0..4 => Ok(Relation { target, inverse_key, single: flags & 1 != 0, owner: flags & 2 != 0 }),
        _ => Err(Fault::Newer),
    }
}
