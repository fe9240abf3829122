//! Pages of redb's B-trees: leaves, branches, and the pointers between them.
//!
//! redb's file format 3. A leaf holds its type, the number of its entries, the ends of the keys
//! and of the values (unless they have a fixed width), the keys, the values. A branch holds the
//! checksums of its children, then their page numbers, then the keys between them.

use std::ops::Range;

use leafbase_model::{Result, invariant};
use xxhash_rust::xxh3::xxh3_128;

use crate::entry_format::EntryFormat;

pub(crate) const LEAF: u8 = 1;
pub(crate) const BRANCH: u8 = 2;
/// Exceeds the depth of any tree in a file.
pub(crate) const MAX_DEPTH: usize = 64;
/// Pages of the layout that all files of stores have: 4 KiB, in regions of 4 GiB without a header.
pub(crate) const PAGE_BYTES: u64 = 4_096;
pub(crate) const REGION_PAGES: u64 = 1 << 20;

/// Where a page is, and the checksum that its contents must have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PagePointer {
    /// Region, index and order of the page.
    pub(crate) number: u64,
    pub(crate) checksum: u128,
}

/// The page number of a null child: it lies past the end of every file.
pub(super) const NULL_PAGE: u64 = 0x000F_FFFF << 20 | 0x000F_FFFF;

impl PagePointer {
    /// Reads a page number followed by its checksum.
    pub(super) fn parse(from: &[u8], at: usize) -> Option<Self> {
        let number = u64::from_le_bytes(bytes_at(from, at)?);
        Some(Self { number, checksum: u128::from_le_bytes(bytes_at(from, at + 8)?) })
    }

    /// Reads a page number alone.
    pub(super) fn parse_number(from: &[u8], at: usize) -> Option<Self> {
        Some(Self { number: u64::from_le_bytes(bytes_at(from, at)?), checksum: 0 })
    }

    /// The page has 2^order times the bytes of the smallest one.
    pub(super) const fn order(self) -> u64 {
        self.number >> 59
    }

    pub(super) const fn index(self) -> u64 {
        self.number & (0x000F_FFFF >> self.order())
    }

    pub(super) const fn region(self) -> u64 {
        (self.number >> 20) & 0x000F_FFFF
    }

    /// Offset and length of the page in a file of the default layout. `None` if no file has it.
    pub(super) fn location(self) -> Option<(u64, usize)> {
        let bytes = PAGE_BYTES.checked_shl(u32::try_from(self.order()).ok()?)?;
        let region_start = self.region().checked_mul(REGION_PAGES.checked_mul(PAGE_BYTES)?)?;
        // The first page of the file is its header.
        let start =
            PAGE_BYTES.checked_add(region_start)?.checked_add(self.index().checked_mul(bytes)?)?;
        Some((start, usize::try_from(bytes).ok()?))
    }

    /// Whether the page ends within the first `length` bytes of a file of the default layout.
    pub(super) fn is_within(self, length: u64) -> bool {
        let end = self.location().and_then(|(start, bytes)| start.checked_add(bytes as u64));
        end.is_some_and(|end| end <= length)
    }
}

/// The widths of keys and values in a tree; `None` if each has its own length.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EntryWidths {
    pub(super) key: Option<usize>,
    pub(super) value: Option<usize>,
}

impl EntryWidths {
    /// Where the values of a leaf with `count` entries are.
    pub(crate) fn values(self, page: &[u8], count: usize) -> Option<Vec<Range<usize>>> {
        let key_ends = if self.key.is_none() { 4 * count } else { 0 };
        let value_ends = if self.value.is_none() { 4 * count } else { 0 };
        let keys = 4 + key_ends + value_ends;
        let last = count.checked_sub(1)?;
        let mut start = match self.key {
            Some(width) => width.checked_mul(count)?.checked_add(keys)?,
            None => u32_at(page, 4 + 4 * last)?,
        };
        let mut values = Vec::with_capacity(count);
        for index in 0..count {
            let end = match self.value {
                Some(width) => start.checked_add(width)?,
                None => u32_at(page, 4 + key_ends + 4 * index)?,
            };
            values.push(start..end);
            start = end;
        }
        Some(values)
    }

    /// Where the last key of a branch with `keys` keys ends.
    fn branch_end(self, page: &[u8], keys: usize) -> Option<usize> {
        let last = keys.checked_sub(1)?;
        let key_ends = child_keys_offset(keys);
        match self.key {
            Some(width) => width.checked_mul(keys)?.checked_add(key_ends),
            None => u32_at(page, key_ends + 4 * last),
        }
    }

    /// The bytes that the checksum of a page covers. `None` if the page is malformed.
    pub(super) fn checked_bytes(self, page: &[u8]) -> Option<&[u8]> {
        let count = entry_count(page)?;
        let end = match *page.first()? {
            LEAF => self.values(page, count)?.last()?.end,
            BRANCH => self.branch_end(page, count)?,
            _ => return None,
        };
        page.get(..end)
    }
}

/// The number of entries of a leaf, or of keys of a branch.
pub(crate) fn entry_count(page: &[u8]) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(bytes_at(page, 2)?)))
}

/// Whether a page of entries of any length has this checksum.
pub(crate) fn has_checksum(page: &[u8], checksum: u128) -> bool {
    let checked = || {
        let count = entry_count(page)?;
        match *page.first()? {
            // The last offset before the keys is the end of the last value. Reading it alone saves
            // a walk over all ends.
            LEAF if count > 0 => page.get(..u32_at(page, 8 * count)?),
            BRANCH => EntryWidths::default().checked_bytes(page),
            _ => None,
        }
    };
    checked().is_some_and(|content| xxh3_128(content) == checksum)
}

/// Where the page numbers of the children of a branch are, after their checksums.
pub(super) const fn child_number_offset(keys: usize, child: usize) -> usize {
    8 + 16 * (keys + 1) + 8 * child
}

const fn child_keys_offset(keys: usize) -> usize {
    8 + 24 * (keys + 1)
}

/// The pointers to the children of a branch with `keys` keys, as far as the page contains them.
pub(crate) fn child_pointers(page: &[u8], keys: usize) -> impl Iterator<Item = PagePointer> {
    (0..=keys).map_while(move |child| {
        let checksum = u128::from_le_bytes(bytes_at(page, 8 + 16 * child)?);
        let number = u64::from_le_bytes(bytes_at(page, child_number_offset(keys, child))?);
        Some(PagePointer { number, checksum })
    })
}

/// A child of a branch and the greatest key that it may hold; `None` for the last child.
pub(crate) type BranchChild = (PagePointer, Option<Vec<u8>>);

/// The children of a branch with `keys` keys of any length.
pub(crate) fn branch_children(page: &[u8], keys: usize) -> Vec<BranchChild> {
    let key_ends = child_keys_offset(keys);
    // Whether a number of keys is right shows only in the result, so it may exceed the page.
    let greatest_key = |child: usize| {
        if child >= keys {
            return None;
        }
        let start = match child.checked_sub(1) {
            None => key_ends + 4 * keys,
            Some(before) => u32_at(page, key_ends + 4 * before)?,
        };
        Some(page.get(start..u32_at(page, key_ends + 4 * child)?)?.to_vec())
    };
    let pointers = child_pointers(page, keys).enumerate();
    pointers.map(|(child, pointer)| (pointer, greatest_key(child))).collect()
}

/// Whether a branch with `keys` keys fits into a page.
pub(crate) fn fits_branch(page: &[u8], keys: usize) -> bool {
    child_keys_offset(keys) <= page.len()
}

/// Makes a child of a branch null.
pub(super) fn set_null_child(branch: &mut [u8], child: usize) -> Result<()> {
    let keys = entry_count(branch).unwrap_or(0);
    let at = child_number_offset(keys, child);
    let Some(number) = branch.get_mut(at..at + 8) else {
        invariant!("a child that was read from a branch lies inside it")
    };
    number.copy_from_slice(&NULL_PAGE.to_le_bytes());
    Ok(())
}

/// Where key and value of an entry are in a leaf.
pub(crate) type EntryRanges = (Range<usize>, Range<usize>);

/// Where the entries of a leaf with `count` entries are. Omits entries whose offsets are invalid.
pub(crate) fn entry_ranges(page: &[u8], count: usize) -> Vec<EntryRanges> {
    let end_at = |at: usize| u32_at(page, at).filter(|end| *end <= page.len());
    let key_ends = 4;
    let value_ends = key_ends + 4 * count;
    let first_key = value_ends + 4 * count;
    let first_value = value_ends.checked_sub(4).and_then(end_at);
    let mut found = Vec::new();
    for index in 0..count {
        let (key_start, value_start) = match index.checked_sub(1) {
            None => (Some(first_key), first_value),
            Some(before) => (end_at(key_ends + 4 * before), end_at(value_ends + 4 * before)),
        };
        let key = key_start.zip(end_at(key_ends + 4 * index));
        let value = value_start.zip(end_at(value_ends + 4 * index));
        if let (Some((key_start, key_end)), Some((value_start, value_end))) = (key, value)
            && key_start <= key_end
            && value_start <= value_end
        {
            found.push((key_start..key_end, value_start..value_end));
        }
    }
    found
}

/// Whether the checksum inside an entry is correct.
pub(crate) fn is_entry_intact(
    page: &[u8],
    (key, value): &EntryRanges,
    format: EntryFormat,
) -> bool {
    let key = page.get(key.clone());
    let value = page.get(value.clone());
    key.zip(value).is_some_and(|(key, value)| (format.is_intact)(key, value))
}

/// Whether a leaf has entries and all of them are intact.
pub(super) fn are_all_intact(page: &[u8], format: EntryFormat) -> bool {
    let count = entry_count(page).unwrap_or(0);
    let entries = entry_ranges(page, count);
    count > 0
        && entries.len() == count
        && entries.iter().all(|entry| is_entry_intact(page, entry, format))
}

pub(crate) fn bytes_at<const N: usize>(from: &[u8], at: usize) -> Option<[u8; N]> {
    from.get(at..at.checked_add(N)?)?.try_into().ok()
}

pub(crate) fn u32_at(from: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(bytes_at(from, at)?)).ok()
}
