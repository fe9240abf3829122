//! Items borrowed from their records: values are decoded on demand.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use leafbase_model::{BlockId, Day, Properties, PropertyValue, Result};

use super::SpaceReader;
use crate::msgpack::{DecodeError, Decoded, Decoder};
use crate::records;
use crate::records::block::{self, ItemParts, RawValue};
use crate::records::layout::Value;

/// An item, borrowed from its record.
#[derive(Clone, Debug)]
pub struct ItemRow<'r> {
    /// Its block.
    pub id: BlockId,
    /// Its revision.
    pub rev: u64,
    /// Its title: inline markdown.
    pub title: &'r str,
    values: RowValues<'r>,
}

impl<'r> ItemRow<'r> {
    fn read(run: &'r [u8], id: BlockId, record: &'r [u8]) -> Result<Self> {
        let ItemParts { rev, title, count, values } =
            block::item_parts(record).map_err(|error| records::decode_error(run, error))?;
        let values = RowValues { run, left: count, rest: values, before: &[] };
        Ok(Self { id, rev, title, values })
    }

    /// Its values by the bytes of their keys, in the order of the keys, each decoded on demand.
    pub fn values(&self) -> RowValues<'r> {
        self.values.clone()
    }

    /// The value at an offset of this row.
    #[inline]
    pub fn value_at(&self, at: ValueAt) -> RowValue<'r> {
        RowValue { run: self.values.run, at: self.values.rest.with_remaining(at.0) }
    }

    /// All its values, or those under `keys`, which are sorted.
    ///
    /// # Errors
    /// As [`SpaceReader::locate`].
    pub fn properties(&self, keys: Option<&[String]>) -> Result<Properties> {
        debug_assert!(keys.is_none_or(<[String]>::is_sorted), "wanted keys are sorted");
        let mut keys = keys.map(|keys| keys.iter().peekable());
        let mut found =
            Vec::with_capacity(keys.as_ref().map_or(self.values.left, ExactSizeIterator::len));
        for held in self.values.clone() {
            let (key, value) = held?;
            if let Some(keys) = &mut keys {
                // Both are sorted: a merge.
                while keys.next_if(|wanted| wanted.as_bytes() < key).is_some() {}
                match keys.peek() {
                    None => break,
                    Some(wanted) if wanted.as_bytes() != key => continue,
                    Some(_) => {}
                }
            }
            let key = std::str::from_utf8(key)
                .map_err(|_| records::decode_error(self.values.run, DecodeError::Corrupt))?;
            found.push((key.to_owned(), value.read()?));
        }
        Ok(found.into_iter().collect())
    }

    /// The value under `key`; the values before it are skipped.
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

/// The values of an item by the bytes of their keys, in the order of the keys. A corrupt record
/// yields an error, which ends the iterator.
#[derive(Clone, Debug)]
pub struct RowValues<'r> {
    /// The key of the item's run.
    run: &'r [u8],
    left: usize,
    rest: Decoder<'r>,
    /// The key of the previous value.
    before: &'r [u8],
}

impl<'r> RowValues<'r> {
    fn step(&mut self) -> Decoded<(&'r [u8], RowValue<'r>)> {
        let key = self.rest.str_bytes()?;
        // Keys ascend strictly in a valid record, which also makes them unique.
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
        Some(self.step().map_err(|error| {
            self.left = 0;
            records::decode_error(self.run, error)
        }))
    }
}

/// Whether a key sorts before the next one. No key is empty, and most differ in their first byte.
fn is_before(one: &[u8], next: &[u8]) -> bool {
    one.first() < next.first() || one < next
}

/// The offset of a value in the row of its item.
#[derive(Clone, Copy, Debug)]
pub struct ValueAt(usize);

/// A value of an item, not decoded yet.
#[derive(Clone, Copy, Debug)]
pub struct RowValue<'r> {
    run: &'r [u8],
    at: Decoder<'r>,
}

impl<'r> RowValue<'r> {
    /// Its offset in the row.
    pub fn at(self) -> ValueAt {
        ValueAt(self.at.remaining())
    }

    /// The value.
    ///
    /// # Errors
    /// As [`SpaceReader::locate`].
    pub fn read(mut self) -> Result<PropertyValue> {
        PropertyValue::decode(&mut self.at).map_err(|error| records::decode_error(self.run, error))
    }

    /// The value, borrowed from the row.
    ///
    /// # Errors
    /// As [`SpaceReader::locate`].
    #[inline]
    pub fn view(mut self) -> Result<ValueView<'r>> {
        let held = block::decode_raw(&mut self.at)
            .map_err(|error| records::decode_error(self.run, error))?;
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

/// A [`PropertyValue`] borrowed from the row of its item.
#[derive(Clone, Debug)]
pub enum ValueView<'r> {
    /// Text, or the option of a single select.
    Text(&'r str),
    /// A number.
    Number(f64),
    /// A boolean.
    Boolean(bool),
    /// A day.
    Date(Day),
    /// The options of a multiple select.
    Options(RowOptions<'r>),
    /// The related items.
    Relations(RowRelations<'r>),
}

/// The rest of a list.
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
        Some(read(&mut self.rest).map_err(|error| {
            self.left = 0;
            records::decode_error(self.run, error)
        }))
    }
}

/// The options of a value. A corrupt record yields an error, which ends the iterator.
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

/// The related items of a value. A corrupt record yields an error, which ends the iterator.
#[derive(Clone, Debug)]
pub struct RowRelations<'r>(RowList<'r>);

impl Iterator for RowRelations<'_> {
    type Item = Result<BlockId>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.step(BlockId::decode)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.left, Some(self.0.left))
    }
}

impl SpaceReader<'_> {
    /// Passes an item to `look`, borrowed; `None` if the block does not exist.
    ///
    /// # Errors
    /// As [`Self::locate`], and errors of `look`; [`leafbase_model::ErrorKind::Corrupted`] also if
    /// the block is not an item.
    pub fn item_row<T>(
        &self,
        item: BlockId,
        look: impl FnOnce(ItemRow<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(location) = self.location(item)? else { return Ok(None) };
        let (mut look, mut looked, mut kept) = (Some(look), None, None);
        self.find_in_runs(&location, item, &mut |key, run, index| {
            // The transaction's cache is borrowed during the visit, and `look` may read again.
            if self.transaction_cache().is_some() {
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

    /// [`Self::items`] that borrows each item: its title and values, without stamps.
    ///
    /// # Errors
    /// As [`Self::items`]; parts that are not decoded are covered by the checksum of their run
    /// alone.
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
