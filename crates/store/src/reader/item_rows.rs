//! Items of a collection as they lie in the store, borrowed: nothing of them is copied that is not asked for.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use leafbase_model::{BlockId, PropertyValue, Result};

use super::Reader;
use crate::msgpack::{Fault, Unpack, Unpacked};
use crate::records;
use crate::records::block::{self, ItemParts};

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

    /// Its values by the bytes of their keys, in the order of the keys, each read when it is asked for.
    pub fn values(&self) -> RowValues<'r> {
        self.values.clone()
    }

    /// The value under `key`. Those before it are passed over.
    ///
    /// # Errors
    /// As [`Reader::locate`].
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

/// The values of an item by the bytes of their keys, in the order of the keys. Each is an error, and the last one, where the record is damaged.
#[derive(Clone, Debug)]
pub struct RowValues<'r> {
    /// The key of the run that the item lies in.
    run: &'r [u8],
    left: usize,
    rest: Unpack<'r>,
    /// The key of the value before.
    before: &'r [u8],
}

impl<'r> RowValues<'r> {
    fn step(&mut self) -> Unpacked<(&'r [u8], RowValue<'r>)> {
        let key = self.rest.str_bytes()?;
        if !is_before(std::mem::replace(&mut self.before, key), key) {
            return Err(Fault::Damaged);
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

/// A value of an item, not read yet.
#[derive(Clone, Copy, Debug)]
pub struct RowValue<'r> {
    run: &'r [u8],
    at: Unpack<'r>,
}

impl RowValue<'_> {
    /// The value.
    ///
    /// # Errors
    /// As [`Reader::locate`].
    pub fn read(mut self) -> Result<PropertyValue> {
        block::read_property(&mut self.at).map_err(|fault| records::fault(self.run, fault))
    }
}

impl Reader<'_> {
    /// As [`Self::items`], but hands each item out as it lies: its title and values, without what says who changed it and when.
    ///
    /// # Errors
    /// As [`Self::items`]; what is not asked for is not looked at beyond the checksum of the run that it lies in.
    pub fn item_rows(
        &self,
        collection: BlockId,
        after: Option<BlockId>,
        visit: &mut dyn FnMut(ItemRow<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.item_records(collection, after, &mut |run, id, record| visit(ItemRow::read(run, id, record)?))
    }
}
