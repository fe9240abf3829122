//! Items of a collection as they lie in the store, borrowed: nothing of them is copied that is not
//! asked for.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use leafbase_model::{BlockId, Day, Properties, PropertyValue, Result};

use super::SpaceReader;
use crate::msgpack::{DecodeError, Decoded, Decoder};
use crate::records;
use crate::records::block::{self, ItemParts, RawValue};

/// An item as its collection keeps it, in the state that is read.
#[derive(Clone, Debug)]
pub struct ItemRow<'r> {
    /// Its block.
    pub id: BlockId,
    /// Its title: inline markdown.
    pub title: &'r str,
    values: RowValues<'r>,
}

impl<'r> ItemRow<'r> {
    fn read(run: &'r [u8], id: BlockId, record: &'r [u8]) -> Result<Self> {
        let ItemParts { title, count, values } =
            block::item_parts(record).map_err(|fault| records::fault(run, fault))?;
        Ok(Self { id, title, values: RowValues { run, left: count, rest: values, before: &[] } })
    }

    /// Its values by the bytes of their keys, in the order of the keys, each read when it is asked
    /// for.
    pub fn values(&self) -> RowValues<'r> {
        self.values.clone()
    }

    /// The value that stands at `at`, a place in this row.
    #[inline]
    pub fn value_at(&self, at: ValueAt) -> RowValue<'r> {
        RowValue { run: self.values.run, at: self.values.rest.last(at.0) }
    }

    /// All its values, or those under `keys`, which are sorted.
    ///
    /// # Errors
    /// As [`SpaceReader::locate`].
    pub fn properties(&self, keys: Option<&[String]>) -> Result<Properties> {
        let mut keys = keys.map(|keys| keys.iter().peekable());
        let mut found =
            Vec::with_capacity(keys.as_ref().map_or(self.values.left, ExactSizeIterator::len));
        for held in self.values.clone() {
            let (key, value) = held?;
            if let Some(keys) = &mut keys {
                while keys.next_if(|wanted| wanted.as_bytes() < key).is_some() {}
                match keys.peek() {
                    None => break,
                    Some(wanted) if wanted.as_bytes() != key => continue,
                    Some(_) => {}
                }
            }
            let key = std::str::from_utf8(key)
                .map_err(|_| records::fault(self.values.run, DecodeError::Corrupt))?;
            found.push((key.to_owned(), value.read()?));
        }
        Ok(found.into_iter().collect())
    }

    /// The value under `key`. Those before it are passed over.
    ///
    /// # Errors
    /// As [`SpaceReader::locate`].
    pub fn value(&self, key: &str) -> Result<Option<PropertyValue>> {
        for held in self.values.clone() {
            let (known, value) = held?;
            match known.cmp(key.as_bytes()) {
                Ordering::Less => {}
                Ordering::Equal => return value.read().map(Some),
                Ordering::Greater => break,
            }
        }
        Ok(None)
    }
}

/// The values of an item by the bytes of their keys, in the order of the keys. Each is an error,
/// and the last one, where the record is damaged.
#[derive(Clone, Debug)]
pub struct RowValues<'r> {
    /// The key of the run that the item lies in.
    run: &'r [u8],
    left: usize,
    rest: Decoder<'r>,
    /// The key of the value before.
    before: &'r [u8],
}

impl<'r> RowValues<'r> {
    fn step(&mut self) -> Decoded<(&'r [u8], RowValue<'r>)> {
        let key = self.rest.str_bytes()?;
        if !is_before(std::mem::replace(&mut self.before, key), key) {
            return Err(DecodeError::Corrupt);
        }
        let value = RowValue { run: self.run, at: self.rest };
        self.rest.skip()?;
        Ok((key, value))
    }
}

impl<'r> Iterator for RowValues<'r> {
    type Item = Result<(&'r [u8], RowValue<'r>)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.step().map_err(|fault| {
            self.left = 0;
            records::fault(self.run, fault)
        }))
    }
}

/// Whether a key comes before the next: most are told apart by how they begin. None is empty.
fn is_before(one: &[u8], next: &[u8]) -> bool {
    one.first() < next.first() || one < next
}

/// Where a value stands in the row of its item.
#[derive(Clone, Copy, Debug)]
pub struct ValueAt(usize);

/// A value of an item, not read yet.
#[derive(Clone, Copy, Debug)]
pub struct RowValue<'r> {
    run: &'r [u8],
    at: Decoder<'r>,
}

impl<'r> RowValue<'r> {
    /// Where it stands in its row.
    pub fn at(self) -> ValueAt {
        ValueAt(self.at.left())
    }

    /// The value.
    ///
    /// # Errors
    /// As [`SpaceReader::locate`].
    pub fn read(mut self) -> Result<PropertyValue> {
        block::read_property(&mut self.at).map_err(|fault| records::fault(self.run, fault))
    }

    /// The value as it lies in the row.
    ///
    /// # Errors
    /// As [`SpaceReader::locate`].
    #[inline]
    pub fn view(mut self) -> Result<ValueView<'r>> {
        let held =
            block::read_raw(&mut self.at).map_err(|fault| records::fault(self.run, fault))?;
        let entries = |left| RowList { run: self.run, left, rest: self.at };
        Ok(match held {
            RawValue::Text(text) => ValueView::Text(text),
            RawValue::Number(number) => ValueView::Number(number),
            RawValue::Boolean(value) => ValueView::Boolean(value),
            RawValue::Date(day) => ValueView::Date(day),
            RawValue::Options(count) => ValueView::Options(RowOptions(entries(count))),
            RawValue::Relations(count) => ValueView::Relations(RowRelations(entries(count))),
        })
    }
}

/// A value of an item as it lies in the row: a [`PropertyValue`], borrowed.
#[derive(Clone, Debug)]
pub enum ValueView<'r> {
    /// Text, or the option of a single select.
    Text(&'r str),
    /// A number.
    Number(f64),
    /// Yes or no.
    Boolean(bool),
    /// A day.
    Date(Day),
    /// The options of a multiple select.
    Options(RowOptions<'r>),
    /// Items.
    Relations(RowRelations<'r>),
}

/// What is left of a list.
#[derive(Clone, Debug)]
struct RowList<'r> {
    run: &'r [u8],
    left: usize,
    rest: Decoder<'r>,
}

impl<'r> RowList<'r> {
    #[inline]
    fn step<T>(&mut self, read: impl FnOnce(&mut Decoder<'r>) -> Decoded<T>) -> Option<Result<T>> {
        self.left = self.left.checked_sub(1)?;
        Some(read(&mut self.rest).map_err(|fault| {
            self.left = 0;
            records::fault(self.run, fault)
        }))
    }
}

/// The options of a value. Each is an error, and the last one, where the record is damaged.
#[derive(Clone, Debug)]
pub struct RowOptions<'r>(RowList<'r>);

impl<'r> Iterator for RowOptions<'r> {
    type Item = Result<&'r str>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.step(Decoder::str)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.left, Some(self.0.left))
    }
}

/// The items of a value. Each is an error, and the last one, where the record is damaged.
#[derive(Clone, Debug)]
pub struct RowRelations<'r>(RowList<'r>);

impl Iterator for RowRelations<'_> {
    type Item = Result<BlockId>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.step(block::read_related)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.left, Some(self.0.left))
    }
}

impl SpaceReader<'_> {
    /// Hands an item to `look` as it lies; none if there is no such block.
    ///
    /// # Errors
    /// As [`Self::locate`], and those of `look`; [`leafbase_model::ErrorKind::Corrupted`] also if
    /// the block is no item.
    pub fn item_row<T>(
        &self,
        item: BlockId,
        look: impl FnOnce(ItemRow<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(location) = self.location(item)? else { return Ok(None) };
        let (mut look, mut looked, mut kept) = (Some(look), None, None);
        self.find_in_runs(&location, item, &mut |key, run, index| {
            // What a write keeps in memory is not lent to what may read on.
            if self.cache().is_some() {
                kept = Some((key.to_owned(), run.block(index).to_owned()));
            } else if let Some(look) = look.take() {
                looked = Some(look(ItemRow::read(key, item, run.block(index))?)?);
            }
            Ok(())
        })?;
        if let (Some(look), Some((key, record))) = (look, kept) {
            looked = Some(look(ItemRow::read(&key, item, &record)?)?);
        }
        Ok(looked)
    }

    /// As [`Self::items`], but hands each item out as it lies: its title and values, without what
    /// says who changed it and when.
    ///
    /// # Errors
    /// As [`Self::items`]; what is not asked for is not looked at beyond the checksum of the run
    /// that it lies in.
    pub fn item_rows(
        &self,
        collection: BlockId,
        after: Option<BlockId>,
        visit: &mut dyn FnMut(ItemRow<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.item_records(collection, after, &mut |run, id, record| {
            visit(ItemRow::read(run, id, record)?)
        })
    }
}
