//! Block records: what a block is, without its ID, which stands in the head of its run.

use leafbase_model::{
    Author, BlockData, BlockId, BlockKind, BlockRecord, BlockType, Color, Day, Decorations,
    ListStyle, Properties, PropertyValue, Stamp, TaskInfo, TextFormat, Timestamp,
};

use crate::msgpack::{
    ArrayEncoder, DecodeError, Decoded, Decoder, FieldDecoder, put_array, put_bin, put_bool,
    put_f64, put_int, put_str, put_uint, time,
};

/// The author met last: neighbours mostly have the same, and then share its name.
#[derive(Debug, Default)]
pub(crate) struct AuthorCache(Author);

impl AuthorCache {
    pub(crate) fn named(&mut self, name: &str) -> Author {
        // Nobody's name has no bytes behind it: comparing them is slow where the processor must
        // find out that none may be read.
        if name.is_empty() {
            return Author::NOBODY;
        }
        if self.0.is_nobody() || self.0.as_str() != name {
            self.0 = Author::new(name);
        }
        self.0.clone()
    }
}

/// How many fields a record has at most.
const FIELDS: usize = 13;

/// Appends the record of `block`.
pub(crate) fn put(out: &mut Vec<u8>, block: &BlockRecord) {
    let BlockRecord { id: _, rev, created, modified, data } = block;
    let BlockData { kind, markdown, indentation, list_style, color, task, decorations } = data;
    let decorations = u64::from(decorations.callout) | u64::from(decorations.quote) << 1;
    let mut pack = ArrayEncoder::new(out);
    pack.code(kind.block_type())
        .uint(*rev)
        .int(created.at.as_millis())
        .str(created.by.as_str())
        .str(markdown);
    // Most blocks are not changed by another author, and many not at all.
    pack.int(modified.at.as_millis() - created.at.as_millis());
    pack.field(modified.by == created.by, |out| put_str(out, modified.by.as_str()));
    pack.uint(u64::from(*indentation)).code(*list_style);
    put_kind(&mut pack, kind);
    pack.field(color.is_none(), |out| put_uint(out, color.map_or(0, color_number)));
    pack.field(task.is_none(), |out| put_task(out, &task.unwrap_or_default()));
    pack.uint(decorations).end();
}

fn color_number(color: Color) -> u64 {
    color.to_rgb().iter().fold(0, |number, part| number << 8 | u64::from(*part))
}

fn put_task(out: &mut Vec<u8>, task: &TaskInfo) {
    let mut pack = ArrayEncoder::new(out);
    pack.code(task.state);
    put_day(&mut pack, task.schedule_date);
    put_day(&mut pack, task.deadline_date);
    pack.time(task.completed_at).time(task.canceled_at).end();
}

pub(super) fn put_day(pack: &mut ArrayEncoder<'_>, day: Option<Day>) {
    pack.field(day.is_none(), |out| put_int(out, day.map_or(0, Day::epoch_days)));
}

/// The fields of `kind`, as an array of their own unless all are at their defaults.
fn put_kind(pack: &mut ArrayEncoder<'_>, kind: &BlockKind) {
    let is_default = match kind {
        BlockKind::Text(look) | BlockKind::Page(look) => *look == TextFormat::default(),
        BlockKind::CollectionItem { properties } => properties.is_empty(),
        BlockKind::Table | BlockKind::Collection => true,
        _ => false,
    };
    pack.field(is_default, |out| put_kind_fields(&mut ArrayEncoder::new(out), kind));
}

fn put_kind_fields(pack: &mut ArrayEncoder<'_>, kind: &BlockKind) {
    match kind {
        BlockKind::Text(look) | BlockKind::Page(look) => {
            pack.code(look.style).code(look.alignment).code(look.font).code(look.card_layout)
        }
        BlockKind::CollectionItem { properties } => {
            pack.field(false, |out| put_properties(out, properties))
        }
        BlockKind::Image { url, alt_text, size, width }
        | BlockKind::Video { url, alt_text, size, width } => {
            pack.str(url).str(alt_text).code(*size).code(*width)
        }
        BlockKind::File { url, file_name, layout } => pack.str(url).str(file_name).code(*layout),
        BlockKind::Drawing { url } | BlockKind::Whiteboard { url } => pack.str(url),
        BlockKind::Table | BlockKind::Collection => pack,
        BlockKind::Code { raw_code, language, language_tag } => {
            pack.str(raw_code).code(*language).str(language_tag)
        }
        BlockKind::RichUrl { url, title, description, layout } => {
            pack.str(url).str(title).str(description).code(*layout)
        }
        BlockKind::Line { style } => pack.code(*style),
    }
    .end();
}

/// Keys and values in turn.
fn put_properties(out: &mut Vec<u8>, properties: &Properties) {
    put_array(out, 2 * properties.iter().count());
    for (key, value) in properties.iter() {
        put_str(out, key);
        put_property(out, value);
    }
}

/// A value that `MessagePack` does not tell by itself is an array that begins with one of these.
const DAY: u64 = 1;
const OPTIONS: u64 = 2;
const RELATIONS: u64 = 3;

fn put_property(out: &mut Vec<u8>, value: &PropertyValue) {
    match value {
        PropertyValue::Text(text) => put_str(out, text),
        PropertyValue::Number(number) => put_f64(out, *number),
        PropertyValue::Boolean(value) => put_bool(out, *value),
        PropertyValue::Date(day) => {
            put_array(out, 2);
            put_uint(out, DAY);
            put_int(out, day.epoch_days());
        }
        PropertyValue::Options(options) => {
            put_array(out, 1 + options.len());
            put_uint(out, OPTIONS);
            for option in options {
                put_str(out, option);
            }
        }
        PropertyValue::Relations(items) => {
            put_array(out, 1 + items.len());
            put_uint(out, RELATIONS);
            for item in items {
                put_bin(out, item.as_bytes());
            }
        }
    }
}

/// Reads the record of the block `id`, which is all of `bytes`.
pub(crate) fn decode(id: BlockId, bytes: &[u8], authors: &mut AuthorCache) -> Decoded<BlockRecord> {
    let mut decoder = Decoder::new(bytes);
    let block = read(id, &mut decoder, authors)?;
    decoder.finish()?;
    Ok(block)
}

/// The type of the block whose record this is.
#[inline]
pub(crate) fn type_of(bytes: &[u8]) -> Decoded<BlockType> {
    match bytes {
        // Most are of text, which is the default.
        [header @ 0x91..=0x9f, 0xc0, ..] if bytes.len() > usize::from(header & 0x0f) => {
            Ok(BlockType::Text)
        }
        _ => Decoder::new(bytes).fields()?.code(),
    }
}

/// The type of the block whose record this is, and the bytes of its markdown: as far as searches
/// read most blocks.
#[inline]
pub(crate) fn markdown(bytes: &[u8]) -> Decoded<(BlockType, &[u8])> {
    let mut decoder = Decoder::new(bytes);
    let mut fields = decoder.fields()?;
    fields.at_most(FIELDS)?;
    let block_type = fields.code()?;
    fields.skip(3)?;
    Ok((block_type, fields.next(Decoder::str_bytes)?.unwrap_or_default()))
}

fn read(id: BlockId, decoder: &mut Decoder<'_>, authors: &mut AuthorCache) -> Decoded<BlockRecord> {
    let mut fields = decoder.fields()?;
    let block_type = fields.code::<BlockType>()?;
    let rev = fields.uint()?;
    let created = instant(fields.int()?)?;
    let created_by = authors.named(fields.str()?);
    let markdown = fields.str()?.to_owned();
    let modified =
        instant(created.as_millis().checked_add(fields.int()?).ok_or(DecodeError::Corrupt)?)?;
    let modified_by = match fields.next(Decoder::str)? {
        Some(name) => Author::new(name),
        None => created_by.clone(),
    };
    let indentation = u8::try_from(fields.uint()?).map_err(|_| DecodeError::Corrupt)?;
    let list_style = fields.code::<ListStyle>()?;
    let kind = match fields.next(|decoder| read_kind(decoder, block_type))? {
        Some(kind) => kind,
        None => BlockKind::empty(block_type),
    };
    let color = fields.next(read_color)?;
    let task = fields.next(read_task)?;
    let decorations = read_decorations(fields.uint()?)?;
    fields.end()?;
    Ok(BlockRecord {
        id,
        rev,
        created: Stamp { at: created, by: created_by },
        modified: Stamp { at: modified, by: modified_by },
        data: BlockData { kind, markdown, indentation, list_style, color, task, decorations },
    })
}

fn instant(millis: i64) -> Decoded<Timestamp> {
    let time = Timestamp::from_millis(millis);
    if time.as_millis() == millis { Ok(time) } else { Err(DecodeError::Corrupt) }
}

fn read_color(decoder: &mut Decoder<'_>) -> Decoded<Color> {
    let number = u32::try_from(decoder.uint()?).map_err(|_| DecodeError::Corrupt)?;
    match number.to_be_bytes() {
        [0, red, green, blue] => Ok(Color::from_rgb([red, green, blue])),
        _ => Err(DecodeError::Corrupt),
    }
}

fn read_decorations(bits: u64) -> Decoded<Decorations> {
    match bits {
        0..4 => Ok(Decorations { callout: bits & 1 != 0, quote: bits & 2 != 0 }),
        _ => Err(DecodeError::UnsupportedVersion),
    }
}

fn read_task(decoder: &mut Decoder<'_>) -> Decoded<TaskInfo> {
    let mut fields = decoder.fields()?;
    let task = TaskInfo {
        state: fields.code()?,
        schedule_date: fields.next(read_day)?,
        deadline_date: fields.next(read_day)?,
        completed_at: fields.next(time)?,
        canceled_at: fields.next(time)?,
    };
    fields.end()?;
    Ok(task)
}

pub(super) fn read_day(decoder: &mut Decoder<'_>) -> Decoded<Day> {
    let days = decoder.int()?;
    let day = Day::from_epoch_days(days);
    if day.epoch_days() == days { Ok(day) } else { Err(DecodeError::Corrupt) }
}

fn read_kind(decoder: &mut Decoder<'_>, block_type: BlockType) -> Decoded<BlockKind> {
    let mut fields = decoder.fields()?;
    let kind = read_kind_fields(&mut fields, block_type)?;
    fields.end()?;
    Ok(kind)
}

fn read_kind_fields(
    fields: &mut FieldDecoder<'_, '_>,
    block_type: BlockType,
) -> Decoded<BlockKind> {
    let owned = |text: &str| text.to_owned();
    Ok(match block_type {
        BlockType::Text => BlockKind::Text(read_look(fields)?),
        BlockType::Page => BlockKind::Page(read_look(fields)?),
        BlockType::CollectionItem => BlockKind::CollectionItem {
            properties: fields.next(read_properties)?.unwrap_or_default(),
        },
        BlockType::Image | BlockType::Video => {
            let (url, alt_text) = (owned(fields.str()?), owned(fields.str()?));
            let (size, width) = (fields.code()?, fields.code()?);
            if block_type == BlockType::Image {
                BlockKind::Image { url, alt_text, size, width }
            } else {
                BlockKind::Video { url, alt_text, size, width }
            }
        }
        BlockType::File => BlockKind::File {
            url: owned(fields.str()?),
            file_name: owned(fields.str()?),
            layout: fields.code()?,
        },
        BlockType::Drawing => BlockKind::Drawing { url: owned(fields.str()?) },
        BlockType::Whiteboard => BlockKind::Whiteboard { url: owned(fields.str()?) },
        BlockType::Table => BlockKind::Table,
        BlockType::Collection => BlockKind::Collection,
        BlockType::Code => BlockKind::Code {
            raw_code: owned(fields.str()?),
            language: fields.code()?,
            language_tag: owned(fields.str()?),
        },
        BlockType::RichUrl => BlockKind::RichUrl {
            url: owned(fields.str()?),
            title: owned(fields.str()?),
            description: owned(fields.str()?),
            layout: fields.code()?,
        },
        BlockType::Line => BlockKind::Line { style: fields.code()? },
    })
}

fn read_look(fields: &mut FieldDecoder<'_, '_>) -> Decoded<TextFormat> {
    Ok(TextFormat {
        style: fields.code()?,
        alignment: fields.code()?,
        font: fields.code()?,
        card_layout: fields.code()?,
    })
}

fn read_properties(decoder: &mut Decoder<'_>) -> Decoded<Properties> {
    let count = pairs(decoder)?;
    let values = read_list(decoder, count, |decoder| {
        Ok((decoder.str()?.to_owned(), read_property(decoder)?))
    })?;
    Ok(values.into_iter().collect())
}

/// How many keys with a value an array holds.
fn pairs(decoder: &mut Decoder<'_>) -> Decoded<usize> {
    let count = decoder.array()?;
    if count.is_multiple_of(2) { Ok(count / 2) } else { Err(DecodeError::Corrupt) }
}

/// A value of an item as it lies in its record.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RawValue<'a> {
    Text(&'a str),
    Number(f64),
    Boolean(bool),
    Date(Day),
    /// So many options follow.
    Options(usize),
    /// So many IDs follow.
    Relations(usize),
}

/// Reads a value of an item; of a list how long it is.
#[inline]
pub(crate) fn read_raw<'a>(decoder: &mut Decoder<'a>) -> Decoded<RawValue<'a>> {
    match decoder.peek() {
        Some(0xa0..=0xbf | 0xd9..=0xdb) => decoder.str().map(RawValue::Text),
        Some(0xcb) => decoder.f64().map(RawValue::Number),
        Some(0xc2 | 0xc3) => decoder.bool().map(RawValue::Boolean),
        _ => read_marked(decoder),
    }
}

fn read_marked<'a>(decoder: &mut Decoder<'a>) -> Decoded<RawValue<'a>> {
    let count = decoder.array()?.checked_sub(1).ok_or(DecodeError::Corrupt)?;
    match decoder.uint()? {
        DAY if count == 1 => read_day(decoder).map(RawValue::Date),
        DAY => Err(DecodeError::Corrupt),
        OPTIONS => Ok(RawValue::Options(count)),
        RELATIONS => Ok(RawValue::Relations(count)),
        _ => Err(DecodeError::UnsupportedVersion),
    }
}

pub(crate) fn read_related(decoder: &mut Decoder<'_>) -> Decoded<BlockId> {
    decoder.id().map(BlockId::from_bytes)
}

/// Reads a value of an item.
pub(crate) fn read_property(decoder: &mut Decoder<'_>) -> Decoded<PropertyValue> {
    Ok(match read_raw(decoder)? {
        RawValue::Text(text) => PropertyValue::Text(text.to_owned()),
        RawValue::Number(number) => PropertyValue::Number(number),
        RawValue::Boolean(value) => PropertyValue::Boolean(value),
        RawValue::Date(day) => PropertyValue::Date(day),
        RawValue::Options(count) => PropertyValue::Options(read_list(decoder, count, |decoder| {
            decoder.str().map(str::to_owned)
        })?),
        RawValue::Relations(count) => {
            PropertyValue::Relations(read_list(decoder, count, read_related)?)
        }
    })
}

fn read_list<'a, T>(
    decoder: &mut Decoder<'a>,
    count: usize,
    mut read: impl FnMut(&mut Decoder<'a>) -> Decoded<T>,
) -> Decoded<Vec<T>> {
    let mut list = Vec::with_capacity(count);
    for _ in 0..count {
        list.push(read(decoder)?);
    }
    Ok(list)
}

/// What a reply shows of an item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemParts<'a> {
    pub(crate) title: &'a str,
    /// How many values it has.
    pub(crate) count: usize,
    /// Their keys and values in turn.
    pub(crate) values: Decoder<'a>,
}

/// Reads a record as far as replies show items: neither who changed it and when, nor what stands
/// behind its values.
pub(crate) fn item_parts(bytes: &[u8]) -> Decoded<ItemParts<'_>> {
    let mut decoder = Decoder::new(bytes);
    let mut fields = decoder.fields()?;
    fields.at_most(FIELDS)?;
    if fields.code::<BlockType>()? != BlockType::CollectionItem {
        return Err(DecodeError::Corrupt);
    }
    fields.skip(3)?;
    let title = fields.str()?;
    fields.skip(4)?;
    let values = fields.next(|decoder| {
        let mut fields = decoder.fields()?;
        fields.at_most(1)?;
        fields.next(|decoder| Ok((pairs(decoder)?, *decoder)))
    })?;
    let (count, values) = values.flatten().unwrap_or((0, Decoder::new(&[])));
    Ok(ItemParts { title, count, values })
}

#[cfg(test)]
mod tests;
