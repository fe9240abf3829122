//! redb's own account of its pages: the tree of its tables, and the tables of free pages and of
//! pages to be freed.
//!
//! redb verifies no checksum when it reads. Damage in these pages it meets when it commits, with a
//! panic that can end the process, and it may take pages in use for free ones. They are few, so
//! their checksums are verified when a store is opened; those of the data are not, for each record
//! has one of its own. The layout is the one of redb's format 3.

use std::io;

use redb::StorageBackend;
use xxhash_rust::xxh3::xxh3_128;

const HEADER_BYTES: usize = 320;
const FLAGS: usize = 9;
const SLOTS: [usize; 2] = [64, 192];
const SLOT_BYTES: usize = 128;
const SLOT_CHECKSUM: usize = 112;
/// In a slot: whether the trees of tables have a root, and where it is; first those of the tables
/// that redb is asked for, then of its own.
const ROOTS: [(usize, usize); 2] = [(1, 8), (2, 40)];
/// The same in the definition of a table.
pub(super) const ROOT_OF_TABLE: (usize, usize) = (9, 10);
/// In the flags: the slot of the last commit is the second one.
const SECOND_IS_PRIMARY: u8 = 1;
/// In the flags: the last commit was completed before it was told of, so redb trusts it unseen.
const TWO_PHASES: u8 = 4;

pub(super) const LEAF: u8 = 1;
pub(super) const BRANCH: u8 = 2;
/// Deeper than any tree of pages that a file can hold.
pub(super) const MAX_DEPTH: usize = 64;
/// What the default layout of a file is, and the one of every store: pages of 4 KiB, in regions of
/// 4 GiB without a header.
pub(super) const PAGE_BYTES: u64 = 4_096;
const REGION_PAGES: u64 = 1 << 20;

/// A commit slot of a file's header.
#[derive(Clone, Copy)]
pub(super) struct Slot<'a>(&'a [u8]);

impl<'a> Slot<'a> {
    /// The slot of the last commit, and the other one.
    pub(super) fn both(header: &'a [u8]) -> Option<[Self; 2]> {
        let slot = |at: usize| header.get(at..at + SLOT_BYTES).map(Slot);
        let [first, second] = SLOTS;
        let (first, second) = (slot(first)?, slot(second)?);
        let is_second = header.get(FLAGS)? & SECOND_IS_PRIMARY != 0;
        Some(if is_second { [second, first] } else { [first, second] })
    }

    /// The version of the format.
    pub(super) fn version(self) -> u8 {
        self.0.first().copied().unwrap_or_default()
    }

    /// Whether its checksum is right.
    pub(super) fn agrees(self) -> bool {
        let checksum = bytes::<16>(self.0, SLOT_CHECKSUM).map(u128::from_le_bytes);
        checksum == self.0.get(..SLOT_CHECKSUM).map(xxh3_128)
    }

    /// Where the trees of tables begin.
    pub(super) fn roots(self) -> impl Iterator<Item = Root> {
        [self.tables(), self.own_tables()].into_iter().flatten().filter_map(|tree| tree.root)
    }

    /// Where the numbers of the roots stand in a header, of the slots whose checksum is wrong.
    pub(super) fn places_of_roots(header: &[u8]) -> Vec<usize> {
        let is_wrong =
            |at: &usize| header.get(*at..*at + SLOT_BYTES).is_some_and(|slot| !Slot(slot).agrees());
        SLOTS.into_iter().filter(is_wrong).flat_map(|at| ROOTS.map(|(_, root)| at + root)).collect()
    }

    /// The tree of the tables that redb is asked for.
    pub(super) fn tables(self) -> Option<Tree> {
        Tree::with_root(self.0, ROOTS[0])
    }

    /// The tree of the tables that redb has for itself.
    fn own_tables(self) -> Option<Tree> {
        Tree::with_root(self.0, ROOTS[1])
    }
}

/// Whether all checksums that redb would trust are right. `false` also where the file cannot be
/// read so.
pub(super) fn agrees(storage: &dyn StorageBackend) -> bool {
    match File::open(storage) {
        // Anything else redb verifies itself.
        Some(file) if file.flags & TWO_PHASES != 0 && file.length > 0 => {
            file.tables_agree().is_some()
        }
        _ => true,
    }
}

pub(super) struct File<'a> {
    storage: &'a dyn StorageBackend,
    pub(super) length: u64,
    pub(super) header: Vec<u8>,
    flags: u8,
    page_bytes: u64,
    region_header_pages: u64,
    region_pages: u64,
}

/// Where a tree begins, and what its first page's checksum must be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    pub(super) page: u64,
    pub(super) checksum: u128,
}

/// A tree of pages: its root, unless it is empty, and how long keys and values are, unless each has
/// its own length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree {
    pub(super) root: Option<Root>,
    key: Option<usize>,
    value: Option<usize>,
}

impl Root {
    fn at(from: &[u8], at: usize) -> Option<Self> {
        let page = u64::from_le_bytes(bytes(from, at)?);
        Some(Self { page, checksum: u128::from_le_bytes(bytes(from, at + 8)?) })
    }

    /// A page of which only the number is known.
    pub(super) fn at_page(from: &[u8], at: usize) -> Option<Self> {
        Some(Self { page: u64::from_le_bytes(bytes(from, at)?), checksum: 0 })
    }

    /// How often the length of a page is doubled to be its own.
    pub(super) const fn doubled(self) -> u64 {
        self.page >> 59
    }

    /// Whether it ends within so many bytes of a file of the default layout.
    pub(super) fn is_within(self, length: u64) -> bool {
        let end = self.place().and_then(|(start, bytes)| start.checked_add(bytes as u64));
        end.is_some_and(|end| end <= length)
    }
}

impl Root {
    /// Where its page lies in a file of the default layout, and how long it is.
    pub(super) fn place(self) -> Option<(u64, usize)> {
        let order = self.doubled();
        let index = self.page & (0x000F_FFFF >> order);
        let region = (self.page >> 20) & 0x000F_FFFF;
        let size = PAGE_BYTES.checked_shl(u32::try_from(order).ok()?)?;
        let of_region = region.checked_mul(REGION_PAGES.checked_mul(PAGE_BYTES)?)?;
        let start = PAGE_BYTES.checked_add(of_region)?.checked_add(index.checked_mul(size)?)?;
        Some((start, usize::try_from(size).ok()?))
    }
}

impl Tree {
    /// A tree whose keys and values are of any length.
    pub(super) const fn of_bytes() -> Self {
        Self { root: None, key: None, value: None }
    }

    /// A tree whose root is at `at`, if the byte at `flag` says that there is one.
    fn with_root(from: &[u8], (flag, at): (usize, usize)) -> Option<Self> {
        let root = if *from.get(flag)? == 0 { None } else { Some(Root::at(from, at)?) };
        Some(Self { root, key: None, value: None })
    }

    /// The tree of the table that `definition` is of.
    pub(super) fn of_table(definition: &[u8]) -> Option<Self> {
        let mut tree = Self::with_root(definition, ROOT_OF_TABLE)?;
        if *definition.get(42)? != 0 {
            tree.key = Some(number(definition, 43)?);
        }
        if *definition.get(47)? != 0 {
            tree.value = Some(number(definition, 48)?);
        }
        Some(tree)
    }

    /// Where each value of a leaf begins and ends.
    pub(super) fn values(&self, page: &[u8], count: usize) -> Option<Vec<(usize, usize)>> {
        let key_table = if self.key.is_none() { 4 * count } else { 0 };
        let value_table = if self.value.is_none() { 4 * count } else { 0 };
        let keys = 4 + key_table + value_table;
        let last = count.checked_sub(1)?;
        let mut start = match self.key {
            Some(width) => width.checked_mul(count)?.checked_add(keys)?,
            None => number(page, 4 + 4 * last)?,
        };
        let mut values = Vec::with_capacity(count);
        for index in 0..count {
            let end = match self.value {
                Some(width) => start.checked_add(width)?,
                None => number(page, 4 + key_table + 4 * index)?,
            };
            values.push((start, end));
            start = end;
        }
        Some(values)
    }

    /// Where the last key of a branch ends.
    pub(super) fn branch_end(&self, page: &[u8], count: usize) -> Option<usize> {
        let last = count.checked_sub(1)?;
        let keys = 8 + 24 * (count + 1);
        match self.key {
            Some(width) => width.checked_mul(count)?.checked_add(keys),
            None => number(page, keys + 4 * last),
        }
    }
}

pub(super) fn bytes<const N: usize>(from: &[u8], at: usize) -> Option<[u8; N]> {
    from.get(at..at.checked_add(N)?)?.try_into().ok()
}

pub(super) fn number(from: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(bytes(from, at)?)).ok()
}

impl<'a> File<'a> {
    pub(super) fn open(storage: &'a dyn StorageBackend) -> Option<Self> {
        let length = storage.len().ok()?;
        let mut header = vec![0; HEADER_BYTES];
        storage.read(0, &mut header).ok()?;
        let wide = |at| number(&header, at).map(|number| number as u64);
        let (page_bytes, region_header_pages, region_pages) = (wide(12)?, wide(16)?, wide(20)?);
        let flags = *header.get(FLAGS)?;
        Some(Self { storage, length, header, flags, page_bytes, region_header_pages, region_pages })
    }

    /// A file whose header may be damaged in what it says of the layout.
    pub(super) fn of_default_layout(storage: &'a dyn StorageBackend, length: u64) -> Self {
        let (page_bytes, region_header_pages, region_pages) = (PAGE_BYTES, 0, REGION_PAGES);
        Self {
            storage,
            length,
            header: Vec::new(),
            flags: 0,
            page_bytes,
            region_header_pages,
            region_pages,
        }
    }

    /// The root of the table of the space: the one whose keys and values are of any length.
    pub(super) fn root_of_data(&self) -> Option<Root> {
        let [slot, _] = Slot::both(&self.header)?;
        let mut found = None;
        self.walk(slot.tables()?, &mut |definition| {
            let tree = Tree::of_table(definition)?;
            if tree.key.is_none() && tree.value.is_none() {
                found = tree.root;
            }
            Some(())
        })?;
        found
    }

    /// Verifies the trees of tables, and what the tables of redb itself hold.
    fn tables_agree(&self) -> Option<()> {
        let [slot, _] = Slot::both(&self.header)?;
        if !slot.agrees() {
            return None;
        }
        self.walk(slot.tables()?, &mut |_| Some(()))?;
        let mut trees = Vec::new();
        self.walk(slot.own_tables()?, &mut |definition| {
            trees.push(Tree::of_table(definition)?);
            Some(())
        })?;
        trees.into_iter().try_for_each(|tree| self.walk(tree, &mut |_| Some(())))
    }

    /// Verifies a tree, and hands each value in it to `visit`.
    fn walk(&self, tree: Tree, visit: &mut dyn FnMut(&[u8]) -> Option<()>) -> Option<()> {
        let mut waiting: Vec<_> = tree.root.map(|root| (root, 0)).into_iter().collect();
        while let Some((root, depth)) = waiting.pop() {
            let page = self.page(root.page).ok()?;
            let count = usize::from(u16::from_le_bytes(bytes(&page, 2)?));
            let is_leaf = match *page.first()? {
                LEAF => true,
                BRANCH => false,
                _ => return None,
            };
            let values = if is_leaf { tree.values(&page, count)? } else { Vec::new() };
            let end = if is_leaf { values.last()?.1 } else { tree.branch_end(&page, count)? };
            if xxh3_128(page.get(..end)?) != root.checksum || depth > MAX_DEPTH {
                return None;
            }
            for (start, end) in values {
                visit(page.get(start..end)?)?;
            }
            let children = if is_leaf { 0 } else { count + 1 };
            for child in 0..children {
                let checksum = u128::from_le_bytes(bytes(&page, 8 + 16 * child)?);
                let page = u64::from_le_bytes(bytes(&page, 8 + 16 * children + 8 * child)?);
                waiting.push((Root { page, checksum }, depth + 1));
            }
        }
        Some(())
    }

    pub(super) fn page(&self, number: u64) -> io::Result<Vec<u8>> {
        let outside = || io::Error::from(io::ErrorKind::InvalidData);
        let order = number >> 59;
        let index = number & (0x000F_FFFF >> order);
        let region = (number >> 20) & 0x000F_FFFF;
        let region_bytes =
            (self.region_header_pages + self.region_pages).checked_mul(self.page_bytes);
        let size = self
            .page_bytes
            .checked_shl(u32::try_from(order).unwrap_or(u32::MAX))
            .ok_or_else(outside)?;
        let start = || {
            let of_region = region.checked_mul(region_bytes?)?;
            let of_page = index.checked_mul(size)?;
            self.page_bytes
                .checked_mul(1 + self.region_header_pages)?
                .checked_add(of_region)?
                .checked_add(of_page)
        };
        let start = start().ok_or_else(outside)?;
        if start.checked_add(size).is_none_or(|end| end > self.length) {
            return Err(outside());
        }
        let mut page = vec![0; usize::try_from(size).map_err(|_| outside())?];
        self.storage.read(start, &mut page)?;
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use redb::backends::InMemoryBackend;
    use redb::{Builder, TableDefinition};

    use super::*;

    const TABLE: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("table");

    #[derive(Clone, Debug, Default)]
    struct Shared(Arc<InMemoryBackend>);

    impl StorageBackend for Shared {
        fn len(&self) -> io::Result<u64> {
            self.0.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.0.read(offset, out)
        }

        fn set_len(&self, length: u64) -> io::Result<()> {
            self.0.set_len(length)
        }

        fn sync_data(&self) -> io::Result<()> {
            Ok(())
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.0.write(offset, data)
        }
    }

    #[test]
    fn whatever_redb_writes_agrees() {
        let storage = Shared::default();
        let database = Builder::new().create_with_backend(storage.clone()).unwrap();
        assert!(agrees(&storage), "a new file");
        for round in 0..60_u64 {
            let mut transaction = database.begin_write().unwrap();
            transaction.set_quick_repair(true);
            {
                let mut table = transaction.open_table(TABLE).unwrap();
                for key in 0..200 {
                    table.insert(key * (round + 1), &*vec![7; 400]).unwrap();
                }
            }
            transaction.commit().unwrap();
            assert!(File::open(&storage).unwrap().tables_agree().is_some(), "round {round}");
        }
        // Many pages are yet to be freed: the tables of them have branches.
        let reading = redb::ReadableDatabase::begin_read(&database).unwrap();
        for round in 0..300_u64 {
            let mut transaction = database.begin_write().unwrap();
            transaction.set_quick_repair(true);
            transaction.open_table(TABLE).unwrap().insert(round, &*vec![8; 9_000]).unwrap();
            transaction.commit().unwrap();
        }
        assert!(File::open(&storage).unwrap().tables_agree().is_some(), "with a reader");
        drop((reading, database));
        assert!(File::open(&storage).unwrap().tables_agree().is_some(), "closed");
    }
}
