//! Schema records: what the items of a collection look like; in the store with the numbers of the
//! columns that are indexed.

use leafbase_model::{
    BlockId, Color, ContentProperty, Property, PropertyKind, PropertyType, Relation, Schema,
    SelectOption,
};

use crate::msgpack::{
    ArrayEncoder, DecodeError, Decoded, Decoder, put_array, put_bin, put_nil, put_str, put_uint,
};

/// The number of the column of titles, which every collection has.
pub(crate) const TITLE: u32 = 0;

/// Whether the bitmaps of items tell of their values of this type: those of few values, which
/// alone lead an index nowhere.
pub(crate) const fn is_in_bitmap(kind: &PropertyKind) -> bool {
    matches!(
        kind,
        PropertyKind::SingleSelect(_) | PropertyKind::MultiSelect(_) | PropertyKind::Boolean
    )
}

/// A schema as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexedSchema {
    pub(crate) schema: Schema,
    /// For each property, in order, the number of its column; none for relations, which have back
    /// links.
    pub(crate) columns: Vec<Option<u32>>,
    /// The number that the next column gets.
    pub(crate) next: u32,
}

impl IndexedSchema {
    /// The first schema of a collection.
    pub(crate) fn first(schema: &Schema) -> Option<Self> {
        let nothing = Self { schema: schema.clone(), columns: Vec::new(), next: TITLE + 1 };
        nothing.replaced_by(schema)
    }

    /// Each indexed property with the number of its column.
    pub(crate) fn indexed_properties(&self) -> impl Iterator<Item = (&Property, u32)> {
        let numbered = self.schema.properties.iter().zip(&self.columns);
        numbered.filter_map(|(property, column)| column.map(|column| (property, column)))
    }

    /// The number of the column of this property, if it is indexed.
    pub(crate) fn column(&self, key: &str) -> Option<u32> {
        self.indexed_properties()
            .find(|(property, _)| property.key == key)
            .map(|(_, column)| column)
    }

    /// The number of the column that a property of this key and type has already.
    fn kept(&self, property: &Property) -> Option<u32> {
        let same = |(known, _): &(&Property, u32)| {
            known.key == property.key && known.kind.property_type() == property.kind.property_type()
        };
        self.indexed_properties().find(same).map(|(_, column)| column)
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
pub(crate) fn put_numbered(out: &mut Vec<u8>, numbered: &IndexedSchema) {
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
    ArrayEncoder::new(out).uint(items).end();
}

/// Reads the record of how many items a collection has.
pub(crate) fn read_items(decoder: &mut Decoder<'_>) -> Decoded<u64> {
    let mut fields = decoder.fields()?;
    let items = fields.uint()?;
    fields.end()?;
    Ok(items)
}

/// Appends the record of the change log.
pub(crate) fn put(out: &mut Vec<u8>, schema: &Schema) {
    let Schema { key, name, content, properties } = schema;
    let mut pack = ArrayEncoder::new(out);
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
    let mut pack = ArrayEncoder::new(out);
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
    let mut pack = ArrayEncoder::new(out);
    pack.field(false, |out| put_bin(out, target.as_bytes()));
    pack.field(inverse_key.is_none(), |out| {
        put_str(out, inverse_key.as_deref().unwrap_or_default())
    });
    pack.uint(u64::from(*single) | u64::from(*owner) << 1).end();
}

/// Reads the record of the store.
pub(crate) fn read_numbered(decoder: &mut Decoder<'_>) -> Decoded<IndexedSchema> {
    let mut fields = decoder.fields()?;
    let schema = fields.required(read)?;
    let columns = fields.required(|decoder| {
        (0..decoder.array()?).map(|_| read_column(decoder)).collect::<Decoded<Vec<_>>>()
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
        Ok(IndexedSchema { schema, columns, next })
    } else {
        Err(DecodeError::Corrupt)
    }
}

fn read_column(decoder: &mut Decoder<'_>) -> Decoded<Option<u32>> {
    if decoder.nil() { Ok(None) } else { read_number(decoder).map(Some) }
}

fn read_number(decoder: &mut Decoder<'_>) -> Decoded<u32> {
    u32::try_from(decoder.uint()?).map_err(|_| DecodeError::Corrupt)
}

/// Reads the record of the change log.
pub(crate) fn read(decoder: &mut Decoder<'_>) -> Decoded<Schema> {
    let mut fields = decoder.fields()?;
    let (key, name) = (fields.str()?.to_owned(), fields.str()?.to_owned());
    let content = ContentProperty { key: fields.str()?.to_owned(), name: fields.str()?.to_owned() };
    let properties = fields.next(|decoder| {
        (0..decoder.array()?).map(|_| read_property(decoder)).collect::<Decoded<_>>()
    })?;
    fields.end()?;
    Ok(Schema { key, name, content, properties: properties.unwrap_or_default() })
}

fn read_property(decoder: &mut Decoder<'_>) -> Decoded<Property> {
    let mut fields = decoder.fields()?;
    let (key, name) = (fields.str()?.to_owned(), fields.str()?.to_owned());
    let property_type = fields.code::<PropertyType>()?;
    let options = fields.next(read_options)?;
    let relation = fields.next(read_relation)?;
    fields.end()?;
    let kind =
        PropertyKind::from_parts(property_type, options, relation).ok_or(DecodeError::Corrupt)?;
    Ok(Property { key, name, kind })
}

fn read_options(decoder: &mut Decoder<'_>) -> Decoded<Vec<SelectOption>> {
    let count = decoder.array()?;
    if !count.is_multiple_of(2) {
        return Err(DecodeError::Corrupt);
    }
    (0..count / 2)
        .map(|_| Ok(SelectOption { name: decoder.str()?.to_owned(), color: read_color(decoder)? }))
        .collect()
}

fn read_color(decoder: &mut Decoder<'_>) -> Decoded<Option<Color>> {
    if decoder.nil() {
        return Ok(None);
    }
    let rgb = decoder.bin()?.try_into().map_err(|_| DecodeError::Corrupt)?;
    Ok(Some(Color::from_rgb(rgb)))
}

fn read_relation(decoder: &mut Decoder<'_>) -> Decoded<Relation> {
    let mut fields = decoder.fields()?;
    let target = BlockId::from_bytes(fields.required(Decoder::id)?);
    let inverse_key = fields.next(Decoder::str)?.map(str::to_owned);
    let flags = fields.uint()?;
    fields.end()?;
    match flags {
        0..4 => Ok(Relation { target, inverse_key, single: flags & 1 != 0, owner: flags & 2 != 0 }),
        _ => Err(DecodeError::UnsupportedVersion),
    }
}
