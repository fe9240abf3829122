//! Block records: a block without its ID, which is in the header of its run.

mod source_layout;

use leafbase_model::{
    Author, BlockData, BlockId, BlockKind, BlockRecord, BlockType, Color, Day, Decorations,
    Properties, PropertyValue, Stamp, TaskInfo, TextFormat,
};

use super::codes::codes;
use super::layout::{Field, Value, fields, record};
use crate::msgpack::{
    ArrayEncoder, DecodeError, Decoded, Decoder, FieldDecoder, encode_array_header, encode_bool,
    encode_f64, encode_str, encode_uint, timestamp,
};

/// The author decoded last: consecutive blocks mostly have the same one, and then share its name.
#[derive(Debug, Default)]
pub(crate) struct AuthorCache(Author);

impl AuthorCache {
    pub(crate) fn author(&mut self, name: &str) -> Author {
        // The empty name borrows no bytes: comparing those of a dangling pointer is slow.
        if name.is_empty() {
            return Author::ANONYMOUS;
        }
        if self.0.is_anonymous() || self.0.as_str() != name {
            self.0 = Author::new(name);
        }
        self.0.clone()
    }
}

/// Number of fields of a block record.
const FIELDS: usize = 14;
/// Number of fields between the type and the markdown, and between the markdown and the kind.
const FIELDS_BEFORE_MARKDOWN: usize = 3;
const FIELDS_BEFORE_KIND: usize = 4;
/// Number of fields before the list style.
const FIELDS_BEFORE_MARKERS: usize = 8;
/// Number of fields between the type and the task.
const FIELDS_BEFORE_TASK: usize = 10;

// `type_of`, `markdown`, `rev_of`, `task_of` and `item_parts` decode some of these fields by their
// position.
record! {
    encode / decode_fields [id: BlockId] (authors: &mut AuthorCache)
    BlockRecord = {
        BlockRecord {
            id,
            rev,
            created: Stamp { at: created_at, by: created_by },
            modified: Stamp { at: modified_at, by: modified_by },
            data: BlockData {
                kind,
                inline: markdown,
                indentation,
                list_style,
                color,
                task,
                decorations,
                layout,
            },
        }
    };
    block_type(
        |array| kind.block_type().encode_field(array),
        |fields| BlockType::decode_field(fields)?
    ),
    rev,
    created_at(
        |array| array.int(created_at.as_millis()),
        |fields| timestamp(fields.int()?)?
    ),
    created_by(
        |array| array.str(created_by.as_str()),
        |fields| authors.author(fields.str()?)
    ),
    markdown,
    // Most blocks never change, or are changed by their author: both are defaults.
    modified_at(
        |array| array.int(modified_at.as_millis() - created_at.as_millis()),
        |fields| {
            let millis = created_at.as_millis().checked_add(fields.int()?);
            timestamp(millis.ok_or(DecodeError::Corrupt)?)?
        }
    ),
    modified_by(
        |array| array.field(modified_by == created_by, |out| Value::encode(modified_by, out)),
        |fields| fields.next(Author::decode)?.unwrap_or_else(|| created_by.clone())
    ),
    indentation,
    list_style,
    kind(
        |array| array.nested(|array| encode_kind(array, kind)),
        |fields| match fields.next(|decoder| decode_nested_kind(decoder, block_type))? {
            Some(kind) => kind,
            None => BlockKind::empty(block_type),
        }
    ),
    color,
    task,
    decorations,
    layout,
}

record! {
    TaskInfo = {
        TaskInfo { state, schedule_date, deadline_date, completed_at, canceled_at }
    };
    state, schedule_date, deadline_date, completed_at, canceled_at,
}

/// The record of a block.
pub(crate) fn encoded(block: &BlockRecord) -> Vec<u8> {
    let mut record = Vec::new();
    encode(&mut record, block);
    record
}

fields!(TextFormat { style, alignment, font, card_layout });

/// Declares the code of each type and the fields of its kind once, in their order on disk. A code
/// is never reused for another type.
macro_rules! kinds {
    ($($code:literal: $kind:ident $(($only:ident))? $({ $($field:ident),* })?),* $(,)?) => {
        codes! {
            BlockType { $($kind = $code),* }
        }

        fn encode_kind(array: &mut ArrayEncoder<'_>, kind: &BlockKind) {
            match kind {
                $(BlockKind::$kind $(($only))? $({ $($field),* })? => {
                    $($only.encode_field(array);)?
                    $($($field.encode_field(array);)*)?
                })*
            }
        }

        fn decode_kind(
            fields: &mut FieldDecoder<'_, '_>,
            block_type: BlockType,
        ) -> Decoded<BlockKind> {
            Ok(match block_type {
                $(BlockType::$kind => {
                    $(let $only = Field::decode_field(fields)?;)?
                    $($(let $field = Field::decode_field(fields)?;)*)?
                    BlockKind::$kind $(($only))? $({ $($field),* })?
                })*
            })
        }
    };
}

kinds! {
    0: Text(format),
    1: Page(format),
    2: CollectionItem { properties },
    3: Image { url, alt_text, size, width },
    4: Video { url, alt_text, size, width },
    5: File { url, file_name, layout },
    6: Drawing { url },
    7: Whiteboard { url },
    8: Table,
    9: Collection,
    10: Code { raw_code, language, language_tag },
    11: RichUrl { url, title, description, layout },
    12: Line { style },
}

fn decode_nested_kind(decoder: &mut Decoder<'_>, block_type: BlockType) -> Decoded<BlockKind> {
    let mut fields = decoder.fields()?;
    let kind = decode_kind(&mut fields, block_type)?;
    fields.end()?;
    Ok(kind)
}

impl Value for Color {
    fn encode(&self, out: &mut Vec<u8>) {
        let [red, green, blue] = self.to_rgb();
        encode_uint(out, u64::from(u32::from_be_bytes([0, red, green, blue])));
    }

    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
        match u32::decode(decoder)?.to_be_bytes() {
            [0, red, green, blue] => Ok(Color::from_rgb([red, green, blue])),
            _ => Err(DecodeError::Corrupt),
        }
    }
}

impl Field for Decorations {
    fn encode_field(&self, array: &mut ArrayEncoder<'_>) {
        array.uint(u64::from(self.callout) | u64::from(self.quote) << 1);
    }

    #[inline]
    fn decode_field(fields: &mut FieldDecoder<'_, '_>) -> Decoded<Self> {
        match fields.uint()? {
            bits @ 0..4 => Ok(Decorations { callout: bits & 1 != 0, quote: bits & 2 != 0 }),
            _ => Err(DecodeError::UnsupportedVersion),
        }
    }
}

impl Field for Properties {
    fn encode_field(&self, array: &mut ArrayEncoder<'_>) {
        // An array of keys and values in turn.
        array.field(self.is_empty(), |out| {
            encode_array_header(out, 2 * self.iter().count());
            for (key, value) in self.iter() {
                encode_str(out, key);
                value.encode(out);
            }
        });
    }

    fn decode_field(fields: &mut FieldDecoder<'_, '_>) -> Decoded<Self> {
        let properties = fields.next(|decoder| {
            let count = pair_count(decoder)?;
            decoder.list(count, |decoder| {
                Ok((String::decode(decoder)?, PropertyValue::decode(decoder)?))
            })
        })?;
        Ok(properties.map(|properties| properties.into_iter().collect()).unwrap_or_default())
    }
}

/// Number of keys with a value in an array of both in turn.
fn pair_count(decoder: &mut Decoder<'_>) -> Decoded<usize> {
    let count = decoder.array()?;
    if count.is_multiple_of(2) { Ok(count / 2) } else { Err(DecodeError::Corrupt) }
}

/// `MessagePack` has texts, numbers and booleans; other values are arrays that begin with one of
/// these tags.
const DAY: u64 = 1;
const OPTIONS: u64 = 2;
const RELATIONS: u64 = 3;

impl Value for PropertyValue {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            PropertyValue::Text(text) => encode_str(out, text),
            PropertyValue::Number(number) => encode_f64(out, *number),
            PropertyValue::Boolean(value) => encode_bool(out, *value),
            PropertyValue::Date(day) => {
                encode_array_header(out, 2);
                encode_uint(out, DAY);
                day.encode(out);
            }
            PropertyValue::Options(options) => encode_tagged(out, OPTIONS, options),
            PropertyValue::Relations(items) => encode_tagged(out, RELATIONS, items),
        }
    }

    fn decode(decoder: &mut Decoder<'_>) -> Decoded<Self> {
        Ok(match decode_raw(decoder)? {
            RawValue::Text(text) => PropertyValue::Text(text.to_owned()),
            RawValue::Number(number) => PropertyValue::Number(number),
            RawValue::Boolean(value) => PropertyValue::Boolean(value),
            RawValue::Date(day) => PropertyValue::Date(day),
            RawValue::Options(count) => {
                PropertyValue::Options(decoder.list(count, String::decode)?)
            }
            RawValue::Relations(count) => {
                PropertyValue::Relations(decoder.list(count, BlockId::decode)?)
            }
        })
    }
}

fn encode_tagged(out: &mut Vec<u8>, tag: u64, values: &[impl Value]) {
    encode_array_header(out, 1 + values.len());
    encode_uint(out, tag);
    for value in values {
        value.encode(out);
    }
}

/// A property value borrowed from its record; a list is its length, and its elements come next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RawValue<'a> {
    Text(&'a str),
    Number(f64),
    Boolean(bool),
    Date(Day),
    Options(usize),
    Relations(usize),
}

/// Decodes a property value, of a list its length.
#[inline]
pub(crate) fn decode_raw<'a>(decoder: &mut Decoder<'a>) -> Decoded<RawValue<'a>> {
    match decoder.peek() {
        Some(0xa0..=0xbf | 0xd9..=0xdb) => decoder.str().map(RawValue::Text),
        Some(0xcb) => decoder.f64().map(RawValue::Number),
        Some(0xc2 | 0xc3) => decoder.bool().map(RawValue::Boolean),
        _ => decode_raw_tagged(decoder),
    }
}

fn decode_raw_tagged<'a>(decoder: &mut Decoder<'a>) -> Decoded<RawValue<'a>> {
    let count = decoder.array()?.checked_sub(1).ok_or(DecodeError::Corrupt)?;
    match decoder.uint()? {
        DAY if count == 1 => Day::decode(decoder).map(RawValue::Date),
        DAY => Err(DecodeError::Corrupt),
        OPTIONS => Ok(RawValue::Options(count)),
        RELATIONS => Ok(RawValue::Relations(count)),
        _ => Err(DecodeError::UnsupportedVersion),
    }
}

/// Decodes the record of the block `id`, which is all of `bytes`.
pub(crate) fn decode(id: BlockId, bytes: &[u8], authors: &mut AuthorCache) -> Decoded<BlockRecord> {
    let mut decoder = Decoder::new(bytes);
    let block = decode_fields(id, &mut decoder, authors)?;
    decoder.finish()?;
    Ok(block)
}

/// Decodes the type of a block.
#[inline]
pub(crate) fn type_of(bytes: &[u8]) -> Decoded<BlockType> {
    match bytes {
        // Fast path: most blocks are texts, which is the default.
        [header @ 0x91..=0x9f, 0xc0, ..] if bytes.len() > usize::from(header & 0x0f) => {
            Ok(BlockType::Text)
        }
        _ => BlockType::decode_field(&mut Decoder::new(bytes).fields()?),
    }
}

/// Whether a block may have a list style, a format, a color, a task or decorations. Those of a text
/// are shown as markers.
pub(crate) fn may_have_markers(bytes: &[u8]) -> Decoded<bool> {
    Ok(Decoder::new(bytes).array()? > FIELDS_BEFORE_MARKERS)
}

/// Decodes the type of a block and borrows the bytes of its markdown: all that searches need of
/// most blocks.
#[inline]
pub(crate) fn markdown(bytes: &[u8]) -> Decoded<(BlockType, &[u8])> {
    if let Some(markdown) = markdown_of_text(bytes) {
        return Ok((BlockType::Text, markdown));
    }
    let mut decoder = Decoder::new(bytes);
    let mut fields = decoder.fields()?;
    fields.at_most(FIELDS)?;
    let block_type = BlockType::decode_field(&mut fields)?;
    fields.skip(FIELDS_BEFORE_MARKDOWN)?;
    Ok((block_type, fields.next(Decoder::str_bytes)?.unwrap_or(&[])))
}

/// The fast path of [`markdown`], a fifth of its instructions: a text of few revisions and a short
/// author.
#[inline]
fn markdown_of_text(bytes: &[u8]) -> Option<&[u8]> {
    // The number of fields, no type, the revision, and the time in nine bytes.
    let ([0x95..=0x9e, 0xc0, 0..=0x7f, 0xcf, _, _, _, _, _, _, _, _, author], rest) =
        bytes.split_first_chunk::<13>()?
    else {
        return None;
    };
    let rest = match author {
        0xc0 => rest,
        0xa0..=0xbf => rest.get(usize::from(author & 0x1f)..)?,
        _ => return None,
    };
    match rest {
        [length @ 0xa0..=0xbf, markdown @ ..] => markdown.get(..usize::from(length & 0x1f)),
        [0xd9, length, markdown @ ..] => markdown.get(..usize::from(*length)),
        _ => None,
    }
}

/// Decodes the revision of a block alone.
pub(crate) fn rev_of(bytes: &[u8]) -> Decoded<u64> {
    let mut decoder = Decoder::new(bytes);
    let mut fields = decoder.fields()?;
    fields.at_most(FIELDS)?;
    BlockType::decode_field(&mut fields)?;
    fields.uint()
}

/// Decodes the task of a block alone.
pub(crate) fn task_of(bytes: &[u8]) -> Decoded<Option<TaskInfo>> {
    if !may_have_markers(bytes)? {
        return Ok(None);
    }
    let mut decoder = Decoder::new(bytes);
    let mut fields = decoder.fields()?;
    fields.at_most(FIELDS)?;
    BlockType::decode_field(&mut fields)?;
    fields.skip(FIELDS_BEFORE_TASK)?;
    Option::decode_field(&mut fields)
}

/// The parts of an item that replies show.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemParts<'a> {
    pub(crate) rev: u64,
    pub(crate) title: &'a str,
    /// Number of property values.
    pub(crate) count: usize,
    /// Keys and values in turn.
    pub(crate) values: Decoder<'a>,
}

/// Decodes the title of an item and finds its values; skips stamps and whatever follows the values.
pub(crate) fn item_parts(bytes: &[u8]) -> Decoded<ItemParts<'_>> {
    let mut decoder = Decoder::new(bytes);
    let mut fields = decoder.fields()?;
    fields.at_most(FIELDS)?;
    if BlockType::decode_field(&mut fields)? != BlockType::CollectionItem {
        return Err(DecodeError::Corrupt);
    }
    let rev = fields.uint()?;
    fields.skip(FIELDS_BEFORE_MARKDOWN - 1)?;
    let title = fields.str()?;
    fields.skip(FIELDS_BEFORE_KIND)?;
    let values = fields.next(|decoder| {
        let mut fields = decoder.fields()?;
        fields.at_most(1)?;
        fields.next(|decoder| Ok((pair_count(decoder)?, *decoder)))
    })?;
    let (count, values) = values.flatten().unwrap_or((0, Decoder::new(&[])));
    Ok(ItemParts { rev, title, count, values })
}

#[cfg(test)]
mod tests;
