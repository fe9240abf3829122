//! Block records: what a block is, without its ID, which stands in the head of its run.

use leafbase_model::{
    Author, BlockData, BlockId, BlockKind, BlockRecord, BlockType, Color, Day, Decorations,
    ListStyle, Properties, PropertyValue, Stamp, TaskInfo, TextFormat, Timestamp,
};

use crate::msgpack::{
    Fault, Fields, Pack, Unpack, Unpacked, put_array, put_bin, put_bool, put_f64, put_int, put_str,
    put_uint, time,
};

/// The author met last: neighbours mostly have the same, and then share its name.
#[derive(Debug, Default)]
pub(crate) struct Authors(Author);

impl Authors {
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
    let mut pack = Pack::new(out);
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
    let mut pack = Pack::new(out);
    pack.code(task.state);
    put_day(&mut pack, task.schedule_date);
    put_day(&mut pack, task.deadline_date);
    pack.time(task.completed_at).time(task.canceled_at).end();
}

pub(super) fn put_day(pack: &mut Pack<'_>, day: Option<Day>) {
    pack.field(day.is_none(), |out| put_int(out, day.map_or(0, Day::epoch_days)));
}

/// The fields of `kind`, as an array of their own unless all are at their defaults.
fn put_kind(pack: &mut Pack<'_>, kind: &BlockKind) {
    let is_default = match kind {
        BlockKind::Text(look) | BlockKind::Page(look) => *look == TextFormat::default(),
        BlockKind::CollectionItem { properties } => properties.is_empty(),
        BlockKind::Table | BlockKind::Collection => true,
        _ => false,
    };
    pack.field(is_default, |out| put_kind_fields(&mut Pack::new(out), kind));
}

fn put_kind_fields(pack: &mut Pack<'_>, kind: &BlockKind) {
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
pub(crate) fn decode(id: BlockId, bytes: &[u8], authors: &mut Authors) -> Unpacked<BlockRecord> {
    let mut unpack = Unpack::new(bytes);
    let block = read(id, &mut unpack, authors)?;
    unpack.finish()?;
    Ok(block)
}

/// The type of the block whose record this is.
#[inline]
pub(crate) fn type_of(bytes: &[u8]) -> Unpacked<BlockType> {
    match bytes {
        // Most are of text, which is the default.
        [header @ 0x91..=0x9f, 0xc0, ..] if bytes.len() > usize::from(header & 0x0f) => {
            Ok(BlockType::Text)
        }
        _ => Unpack::new(bytes).fields()?.code(),
    }
}

/// The type of the block whose record this is, and the bytes of its markdown: as far as searches
/// read most blocks.
#[inline]
pub(crate) fn markdown(bytes: &[u8]) -> Unpacked<(BlockType, &[u8])> {
    let mut unpack = Unpack::new(bytes);
    let mut fields = unpack.fields()?;
    fields.at_most(FIELDS)?;
    let block_type = fields.code()?;
    fields.skip(3)?;
    Ok((block_type, fields.next(Unpack::str_bytes)?.unwrap_or_default()))
}

fn read(id: BlockId, unpack: &mut Unpack<'_>, authors: &mut Authors) -> Unpacked<BlockRecord> {
    let mut fields = unpack.fields()?;
    let block_type = fields.code::<BlockType>()?;
    let rev = fields.uint()?;
    let created = instant(fields.int()?)?;
    let created_by = authors.named(fields.str()?);
    let markdown = fields.str()?.to_owned();
    let modified = instant(created.as_millis().checked_add(fields.int()?).ok_or(Fault::Damaged)?)?;
    let modified_by = match fields.next(Unpack::str)? {
        Some(name) => Author::new(name),
        None => created_by.clone(),
    };
    let indentation = u8::try_from(fields.uint()?).map_err(|_| Fault::Damaged)?;
    let list_style = fields.code::<ListStyle>()?;
    let kind = match fields.next(|unpack| read_kind(unpack, block_type))? {
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

fn instant(millis: i64) -> Unpacked<Timestamp> {
    let time = Timestamp::from_millis(millis);
    if time.as_millis() == millis { Ok(time) } else { Err(Fault::Damaged) }
}

fn read_color(unpack: &mut Unpack<'_>) -> Unpacked<Color> {
    let number = u32::try_from(unpack.uint()?).map_err(|_| Fault::Damaged)?;
    match number.to_be_bytes() {
        [0, red, green, blue] => Ok(Color::from_rgb([red, green, blue])),
        _ => Err(Fault::Damaged),
    }
}

fn read_decorations(bits: u64) -> Unpacked<Decorations> {
    match bits {
        0..4 => Ok(Decorations { callout: bits & 1 != 0, quote: bits & 2 != 0 }),
        _ => Err(Fault::Newer),
    }
}

fn read_task(unpack: &mut Unpack<'_>) -> Unpacked<TaskInfo> {
    let mut fields = unpack.fields()?;
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

pub(super) fn read_day(unpack: &mut Unpack<'_>) -> Unpacked<Day> {
    let days = unpack.int()?;
    let day = Day::from_epoch_days(days);
    if day.epoch_days() == days { Ok(day) } else { Err(Fault::Damaged) }
}

fn read_kind(unpack: &mut Unpack<'_>, block_type: BlockType) -> Unpacked<BlockKind> {
    let mut fields = unpack.fields()?;
    let kind = read_kind_fields(&mut fields, block_type)?;
    fields.end()?;
    Ok(kind)
}

fn read_kind_fields(fields: &mut Fields<'_, '_>, block_type: BlockType) -> Unpacked<BlockKind> {
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

fn read_look(fields: &mut Fields<'_, '_>) -> Unpacked<TextFormat> {
    Ok(TextFormat {
        style: fields.code()?,
        alignment: fields.code()?,
        font: fields.code()?,
        card_layout: fields.code()?,
    })
}

fn read_properties(unpack: &mut Unpack<'_>) -> Unpacked<Properties> {
    let count = pairs(unpack)?;
    let values =
        read_list(unpack, count, |unpack| Ok((unpack.str()?.to_owned(), read_property(unpack)?)))?;
    Ok(values.into_iter().collect())
}

/// How many keys with a value an array holds.
fn pairs(unpack: &mut Unpack<'_>) -> Unpacked<usize> {
    let count = unpack.array()?;
    if count.is_multiple_of(2) { Ok(count / 2) } else { Err(Fault::Damaged) }
}

/// A value of an item as it lies in its record.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HeldValue<'a> {
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
pub(crate) fn read_held<'a>(unpack: &mut Unpack<'a>) -> Unpacked<HeldValue<'a>> {
    match unpack.peek() {
        Some(0xa0..=0xbf | 0xd9..=0xdb) => unpack.str().map(HeldValue::Text),
        Some(0xcb) => unpack.f64().map(HeldValue::Number),
        Some(0xc2 | 0xc3) => unpack.bool().map(HeldValue::Boolean),
        _ => read_marked(unpack),
    }
}

fn read_marked<'a>(unpack: &mut Unpack<'a>) -> Unpacked<HeldValue<'a>> {
    let count = unpack.array()?.checked_sub(1).ok_or(Fault::Damaged)?;
    match unpack.uint()? {
        DAY if count == 1 => read_day(unpack).map(HeldValue::Date),
        DAY => Err(Fault::Damaged),
        OPTIONS => Ok(HeldValue::Options(count)),
        RELATIONS => Ok(HeldValue::Relations(count)),
        _ => Err(Fault::Newer),
    }
}

pub(crate) fn read_related(unpack: &mut Unpack<'_>) -> Unpacked<BlockId> {
    unpack.id().map(BlockId::from_bytes)
}

/// Reads a value of an item.
pub(crate) fn read_property(unpack: &mut Unpack<'_>) -> Unpacked<PropertyValue> {
    Ok(match read_held(unpack)? {
        HeldValue::Text(text) => PropertyValue::Text(text.to_owned()),
        HeldValue::Number(number) => PropertyValue::Number(number),
        HeldValue::Boolean(value) => PropertyValue::Boolean(value),
        HeldValue::Date(day) => PropertyValue::Date(day),
        HeldValue::Options(count) => PropertyValue::Options(read_list(unpack, count, |unpack| {
            unpack.str().map(str::to_owned)
        })?),
        HeldValue::Relations(count) => {
            PropertyValue::Relations(read_list(unpack, count, read_related)?)
        }
    })
}

fn read_list<'a, T>(
    unpack: &mut Unpack<'a>,
    count: usize,
    mut read: impl FnMut(&mut Unpack<'a>) -> Unpacked<T>,
) -> Unpacked<Vec<T>> {
    let mut list = Vec::with_capacity(count);
    for _ in 0..count {
        list.push(read(unpack)?);
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
    pub(crate) values: Unpack<'a>,
}

/// Reads a record as far as replies show items: neither who changed it and when, nor what stands
/// behind its values.
pub(crate) fn item_parts(bytes: &[u8]) -> Unpacked<ItemParts<'_>> {
    let mut unpack = Unpack::new(bytes);
    let mut fields = unpack.fields()?;
    fields.at_most(FIELDS)?;
    if fields.code::<BlockType>()? != BlockType::CollectionItem {
        return Err(Fault::Damaged);
    }
    fields.skip(3)?;
    let title = fields.str()?;
    fields.skip(4)?;
    let values = fields.next(|unpack| {
        let mut fields = unpack.fields()?;
        fields.at_most(1)?;
        fields.next(|unpack| Ok((pairs(unpack)?, *unpack)))
    })?;
    let (count, values) = values.flatten().unwrap_or((0, Unpack::new(&[])));
    Ok(ItemParts { title, count, values })
}

#[cfg(test)]
mod tests;
