//! Schema records: the properties of a collection; in the store with the numbers of their index
//! columns.

use leafbase_model::{
    Color, ContentProperty, Property, PropertyKind, PropertyType, Relation, Schema, SelectOption,
};

use super::layout::{Field, Value, record};
use crate::msgpack::{
    ArrayEncoder, DecodeError, Decoded, Decoder, FieldDecoder, encode_array_header, encode_bin,
    encode_nil, encode_str,
};

/// The number of the title column, which every collection has.
pub(crate) const TITLE: u32 = 0;

/// Whether index bitmaps cover the values of this type: those of low cardinality, whose own index
/// is not selective.
pub(crate) const fn is_in_bitmap(kind: &PropertyKind) -> bool {
    matches!(
        kind,
        PropertyKind::SingleSelect(_) | PropertyKind::MultiSelect(_) | PropertyKind::Boolean
    )
}

/// A schema with the numbers of its index columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexedSchema {
    pub(crate) schema: Schema,
    /// The column of each property, in order; `None` for relations, which back links index.
    pub(crate) columns: Vec<Option<u32>>,
    /// The number of the next new column. Numbers are never reused.
    pub(crate) next: u32,
}

impl IndexedSchema {
    /// The first schema of a collection.
    pub(crate) fn first(schema: &Schema) -> Option<Self> {
        let empty = Self { schema: schema.clone(), columns: Vec::new(), next: TITLE + 1 };
        empty.replaced_by(schema)
    }

    /// Each indexed property with its column.
    pub(crate) fn indexed_properties(&self) -> impl Iterator<Item = (&Property, u32)> {
        let columns = self.schema.properties.iter().zip(&self.columns);
        columns.filter_map(|(property, column)| column.map(|column| (property, column)))
    }

    /// The column of a property, if it is indexed.
    pub(crate) fn column(&self, key: &str) -> Option<u32> {
        self.indexed_properties()
            .find(|(property, _)| property.key == key)
            .map(|(_, column)| column)
    }

    /// The column of the property that has the same key and type.
    fn column_of_same(&self, property: &Property) -> Option<u32> {
        let is_same = |(known, _): &(&Property, u32)| {
            known.key == property.key && known.kind.property_type() == property.kind.property_type()
        };
        self.indexed_properties().find(is_same).map(|(_, column)| column)
    }

    /// The same collection with another schema: a column keeps its number while its property keeps
    /// key and type. `None` once the numbers are exhausted.
    pub(crate) fn replaced_by(&self, schema: &Schema) -> Option<Self> {
        let mut replaced = Self { schema: schema.clone(), columns: Vec::new(), next: self.next };
        for property in &schema.properties {
            let column = match (property.kind.relation(), self.column_of_same(property)) {
                (Some(_), _) => None,
                (None, Some(column)) => Some(column),
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

record! {
    encode_indexed / decode_unchecked [] ()
    IndexedSchema = { IndexedSchema { schema, columns, next } };
    schema(required), columns(required), next(required),
}

/// Decodes the record of the store: each property but relations has a column.
pub(crate) fn decode_indexed(decoder: &mut Decoder<'_>) -> Decoded<IndexedSchema> {
    let indexed = decode_unchecked(decoder)?;
    // The checksum holds, so this detects bugs of writers rather than damage.
    let IndexedSchema { schema, columns, next } = &indexed;
    let is_valid = |(property, column): (&Property, &Option<u32>)| match column {
        Some(column) => property.kind.relation().is_none() && (TITLE + 1..*next).contains(column),
        None => property.kind.relation().is_some(),
    };
    if columns.len() == schema.properties.len()
        && schema.properties.iter().zip(columns).all(is_valid)
    {
        Ok(indexed)
    } else {
        Err(DecodeError::Corrupt)
    }
}

// The number of items of a collection.
record!(encode_item_count / decode_item_count [] () u64 = { items }; items);

record! {
    Schema = {
        Schema {
            key,
            name,
            content: ContentProperty { key: content_key, name: content_name },
            properties,
        }
    };
    key, name, content_key, content_name, properties,
}

record! {
    Property = { Property { key, name, kind } };
    key, name, kind,
}

/// Three fields: the type, the options of a select, and the target of a relation.
impl Field for PropertyKind {
    fn encode_field(&self, array: &mut ArrayEncoder<'_>) {
        self.property_type().encode_field(array);
        let options = self.options();
        array.field(options.is_empty(), |out| encode_options(out, options));
        // The last field is omitted for all other types.
        if let Some(relation) = self.relation() {
            array.field(false, |out| relation.encode(out));
        }
    }

    fn decode_field(fields: &mut FieldDecoder<'_, '_>) -> Decoded<Self> {
        let property_type = PropertyType::decode_field(fields)?;
        let options = fields.next(decode_options)?;
        let relation = fields.next(Relation::decode)?;
        PropertyKind::from_parts(property_type, options, relation).ok_or(DecodeError::Corrupt)
    }
}

/// Names and colors in turn.
fn encode_options(out: &mut Vec<u8>, options: &[SelectOption]) {
    encode_array_header(out, 2 * options.len());
    for SelectOption { name, color } in options {
        encode_str(out, name);
        match color {
            Some(color) => encode_bin(out, &color.to_rgb()),
            None => encode_nil(out),
        }
    }
}

fn decode_options(decoder: &mut Decoder<'_>) -> Decoded<Vec<SelectOption>> {
    let count = decoder.array()?;
    if !count.is_multiple_of(2) {
        return Err(DecodeError::Corrupt);
    }
    decoder.list(count / 2, |decoder| {
        Ok(SelectOption { name: String::decode(decoder)?, color: decode_color(decoder)? })
    })
}

fn decode_color(decoder: &mut Decoder<'_>) -> Decoded<Option<Color>> {
    if decoder.nil() {
        return Ok(None);
    }
    let rgb = decoder.bin()?.try_into().map_err(|_| DecodeError::Corrupt)?;
    Ok(Some(Color::from_rgb(rgb)))
}

record! {
    Relation = { Relation { target, inverse_key, single, owner } };
    target(required),
    inverse_key,
    flags(
        |array| array.uint(u64::from(*single) | u64::from(*owner) << 1),
        |fields| match fields.uint()? {
            flags @ 0..4 => flags,
            _ => return Err(DecodeError::UnsupportedVersion),
        }
    ),
    // The two flags are not fields of their own.
    single(|_array| (), |_fields| flags & 1 != 0),
    owner(|_array| (), |_fields| flags & 2 != 0),
}
