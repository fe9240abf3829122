//! redb's file format 3: the header with its two commit slots, and the trees of tables.
//!
//! redb verifies no checksum when it reads. Corruption of the trees of tables, or of the tables in
//! which redb records its free pages, shows at a commit: as a panic that may abort the process, or
//! as pages in use that are allocated again. These pages are few, so [`are_tables_intact`] verifies
//! them whenever a store is opened. Pages of entries are verified as they are read
//! (`page_verifier`).

use std::io;

use leafbase_model::{Error, ErrorKind, Result};
use redb::StorageBackend;
use xxhash_rust::xxh3::xxh3_128;

use super::page_format::{
    BRANCH, EntryWidths, LEAF, MAX_DEPTH, PAGE_BYTES, PagePointer, REGION_PAGES, bytes_at,
    child_pointers, entry_count, entry_ranges, u32_at,
};
use super::tables::ENTRIES_NAME;

/// The first bytes of a redb file.
const MAGIC: [u8; 9] = *b"redb\x1A\x0A\xA9\x0D\x0A";
/// The one version of the format that this crate reads and writes.
const FORMAT_VERSION: u8 = 3;
pub(crate) const HEADER_BYTES: usize = 320;
const FLAGS: usize = 9;
const SLOTS: [usize; 2] = [64, 192];
const SLOT_BYTES: usize = 128;
const SLOT_TRANSACTION: usize = 104;
const SLOT_CHECKSUM: usize = 112;
/// Where a commit slot has the root of a tree of tables, as the flag that there is one and the
/// pointer: first the user's tables, then redb's own.
const TABLE_ROOTS: [(usize, usize); 2] = [(1, 8), (2, 40)];
/// The same in the definition of a table.
pub(super) const DEFINITION_ROOT: (usize, usize) = (9, 10);
/// Flag in the header: the second slot is the primary one.
const SECOND_IS_PRIMARY: u8 = 1;
/// Flag in the header: the primary commit was synced before it became the primary, so redb does not
/// verify it.
const TWO_PHASE_COMMIT: u8 = 4;

/// Verifies that `header` is that of a file in format 3, so that redb may open it: redb would
/// create a database in an empty file, and repair a corrupt one. `store` names the file in errors.
///
/// # Errors
/// [`ErrorKind::NotASpace`], [`ErrorKind::NewerFormat`], [`ErrorKind::Corrupted`].
pub fn check_header(store: &str, header: &[u8]) -> Result<()> {
    let foreign =
        |why: &str| Error::new(ErrorKind::NotASpace, format!("{store} is not a space: {why}"));
    if !header.starts_with(&MAGIC) {
        return Err(foreign("its store is not a redb file"));
    }
    let corrupted = || Error::corrupted(format_args!("the store of {store}"));
    let [primary, secondary] = CommitSlot::both(header).ok_or_else(corrupted)?;
    let version = primary.version();
    if version == FORMAT_VERSION && secondary.version() == FORMAT_VERSION {
        return Ok(());
    }
    // Another version is real only if the slots agree on it, or the slot's checksum covers it:
    // otherwise it is a corrupt byte.
    if version != secondary.version() && (version == FORMAT_VERSION || !primary.is_intact()) {
        return Err(corrupted());
    }
    if version > FORMAT_VERSION {
        let message = format!("{store} was written by a later version of Leafbase");
        return Err(Error::new(ErrorKind::NewerFormat, message));
    }
    Err(foreign("its store has a format that no version of Leafbase wrote"))
}

/// Both commit slots of a header, without its flags.
pub(super) fn commit_slots(header: &[u8]) -> &[u8] {
    header.get(SLOTS[0]..).unwrap_or_default()
}

/// The number of the last commit in a header: the next one has a greater number.
pub(super) fn last_commit(header: &[u8]) -> Option<u64> {
    let [primary, _] = CommitSlot::both(header)?;
    bytes_at(primary.0, SLOT_TRANSACTION).map(u64::from_le_bytes)
}

/// One of the two commit slots in a header.
#[derive(Clone, Copy)]
pub(crate) struct CommitSlot<'a>(&'a [u8]);

impl<'a> CommitSlot<'a> {
    /// The primary slot and the secondary one.
    pub(crate) fn both(header: &'a [u8]) -> Option<[Self; 2]> {
        let slot = |at: usize| header.get(at..at + SLOT_BYTES).map(CommitSlot);
        let [first, second] = SLOTS;
        let (first, second) = (slot(first)?, slot(second)?);
        let is_second_primary = header.get(FLAGS)? & SECOND_IS_PRIMARY != 0;
        Some(if is_second_primary { [second, first] } else { [first, second] })
    }

    fn version(self) -> u8 {
        self.0.first().copied().unwrap_or(0)
    }

    /// Whether the checksum of the slot is correct.
    pub(crate) fn is_intact(self) -> bool {
        let checksum = bytes_at(self.0, SLOT_CHECKSUM).map(u128::from_le_bytes);
        checksum == self.0.get(..SLOT_CHECKSUM).map(xxh3_128)
    }

    /// The roots of both trees of tables.
    pub(super) fn roots(self) -> impl Iterator<Item = PagePointer> {
        [self.tables(), self.system_tables()].into_iter().flatten().filter_map(|tree| tree.root)
    }

    /// The offsets of all root page numbers in a header, of the slots with a wrong checksum.
    pub(super) fn corrupt_root_offsets(header: &[u8]) -> Vec<usize> {
        let is_corrupt = |at: &usize| {
            header.get(*at..*at + SLOT_BYTES).is_some_and(|slot| !CommitSlot(slot).is_intact())
        };
        let slots = SLOTS.into_iter().filter(is_corrupt);
        slots.flat_map(|at| TABLE_ROOTS.map(|(_, root)| at + root)).collect()
    }

    /// The tree of the user's tables.
    pub(crate) fn tables(self) -> Option<PageTree> {
        PageTree::parse(self.0, TABLE_ROOTS[0])
    }

    /// The tree of redb's own tables.
    fn system_tables(self) -> Option<PageTree> {
        PageTree::parse(self.0, TABLE_ROOTS[1])
    }
}

/// A tree of pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageTree {
    /// `None` if the tree is empty.
    pub(crate) root: Option<PagePointer>,
    pub(crate) widths: EntryWidths,
}

impl PageTree {
    fn parse(from: &[u8], (flag, at): (usize, usize)) -> Option<Self> {
        let has_root = *from.get(flag)? != 0;
        let root = if has_root { Some(PagePointer::parse(from, at)?) } else { None };
        Some(Self { root, widths: EntryWidths::default() })
    }

    /// The tree of the table with this definition.
    pub(crate) fn of_table(definition: &[u8]) -> Option<Self> {
        let mut tree = Self::parse(definition, DEFINITION_ROOT)?;
        if *definition.get(42)? != 0 {
            tree.widths.key = Some(u32_at(definition, 43)?);
        }
        if *definition.get(47)? != 0 {
            tree.widths.value = Some(u32_at(definition, 48)?);
        }
        Some(tree)
    }
}

/// Whether all checksums are correct that redb relies on when it opens the file. `true` also for a
/// file that redb verifies itself, `false` for one that cannot be read.
pub(super) fn are_tables_intact(storage: &dyn StorageBackend) -> bool {
    match PageReader::open(storage) {
        Some(file) if file.flags & TWO_PHASE_COMMIT != 0 && file.length > 0 => {
            file.verify_tables().is_some()
        }
        _ => true,
    }
}

/// Reads pages of a file without redb.
pub(crate) struct PageReader<'a> {
    storage: &'a dyn StorageBackend,
    pub(super) length: u64,
    pub(super) header: Vec<u8>,
    flags: u8,
    page_bytes: u64,
    region_header_pages: u64,
    region_pages: u64,
}

impl<'a> PageReader<'a> {
    /// Reads the header. `None` if that fails.
    pub(super) fn open(storage: &'a dyn StorageBackend) -> Option<Self> {
        let length = storage.len().ok()?;
        let mut header = vec![0; HEADER_BYTES];
        storage.read(0, &mut header).ok()?;
        let field = |at| u32_at(&header, at).map(|value| value as u64);
        let (page_bytes, region_header_pages, region_pages) = (field(12)?, field(16)?, field(20)?);
        let flags = *header.get(FLAGS)?;
        Some(Self { storage, length, header, flags, page_bytes, region_header_pages, region_pages })
    }

    /// A reader that does not trust the layout in the header.
    pub(crate) fn with_default_layout(storage: &'a dyn StorageBackend, length: u64) -> Self {
        Self {
            storage,
            length,
            header: Vec::new(),
            flags: 0,
            page_bytes: PAGE_BYTES,
            region_header_pages: 0,
            region_pages: REGION_PAGES,
        }
    }

    /// The root of the table of entries.
    pub(super) fn entries_root(&self) -> Option<PagePointer> {
        let [primary, _] = CommitSlot::both(&self.header)?;
        let tables = self.tables(primary.tables()?)?;
        let entries = tables.into_iter().find(|(name, _)| name == ENTRIES_NAME.as_bytes());
        entries.and_then(|(_, tree)| tree.root)
    }

    /// The names and trees in a tree of tables. `None` if a page of it is corrupt.
    fn tables(&self, tree: PageTree) -> Option<Vec<(Vec<u8>, PageTree)>> {
        let mut tables = Vec::new();
        self.walk(tree, &mut |leaf, count| {
            let definitions = entry_ranges(leaf, count);
            for (name, definition) in definitions {
                let table = PageTree::of_table(leaf.get(definition)?)?;
                tables.push((leaf.get(name)?.to_vec(), table));
            }
            Some(())
        })?;
        Some(tables)
    }

    /// Verifies both trees of tables, and the contents of redb's own tables.
    fn verify_tables(&self) -> Option<()> {
        let [primary, _] = CommitSlot::both(&self.header)?;
        if !primary.is_intact() {
            return None;
        }
        self.walk(primary.tables()?, &mut |_, _| Some(()))?;
        let system_tables = self.tables(primary.system_tables()?)?.into_iter();
        system_tables
            .map(|(_, tree)| tree)
            .try_for_each(|tree| self.walk(tree, &mut |_, _| Some(())))
    }

    /// Verifies all pages of a tree and passes each leaf with the number of its entries to `visit`.
    /// `None` if a page is corrupt.
    fn walk(
        &self,
        tree: PageTree,
        visit: &mut dyn FnMut(&[u8], usize) -> Option<()>,
    ) -> Option<()> {
        let mut pending: Vec<_> = tree.root.map(|root| (root, 0)).into_iter().collect();
        while let Some((pointer, depth)) = pending.pop() {
            let page = self.page(pointer.number).ok()?;
            let checked = tree.widths.checked_bytes(&page)?;
            // A corrupt pointer may lead to a page above, so the depth is bounded as well.
            if xxh3_128(checked) != pointer.checksum || depth > MAX_DEPTH {
                return None;
            }
            let count = entry_count(&page)?;
            match *page.first()? {
                LEAF => visit(&page, count)?,
                BRANCH => {
                    let before = pending.len();
                    pending.extend(child_pointers(&page, count).map(|child| (child, depth + 1)));
                    if pending.len() - before != count + 1 {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// Reads a page.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] for a page outside of the file; I/O errors.
    pub(crate) fn page(&self, number: u64) -> io::Result<Vec<u8>> {
        let outside = || io::Error::from(io::ErrorKind::InvalidData);
        let pointer = PagePointer { number, checksum: 0 };
        let range = || {
            let bytes = self.page_bytes.checked_shl(u32::try_from(pointer.order()).ok()?)?;
            let region_pages = self.region_header_pages + self.region_pages;
            let region_bytes = region_pages.checked_mul(self.page_bytes)?;
            let first_page = self.page_bytes.checked_mul(1 + self.region_header_pages)?;
            let start = first_page
                .checked_add(pointer.region().checked_mul(region_bytes)?)?
                .checked_add(pointer.index().checked_mul(bytes)?)?;
            // Checked before any allocation: a corrupt order may mean gigabytes.
            (start.checked_add(bytes)? <= self.length).then_some((start, bytes))
        };
        let (start, bytes) = range().ok_or_else(outside)?;
        let mut page = vec![0; usize::try_from(bytes).map_err(|_| outside())?];
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
    struct SharedMemory(Arc<InMemoryBackend>);

    impl StorageBackend for SharedMemory {
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
    fn files_written_by_redb_are_intact() {
        let storage = SharedMemory::default();
        let database = Builder::new().create_with_backend(storage.clone()).unwrap();
        assert!(are_tables_intact(&storage), "a new file");
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
            assert!(PageReader::open(&storage).unwrap().verify_tables().is_some(), "round {round}");
        }
        // A reader keeps many pages from being freed, so the tables of them get branches.
        let reading = redb::ReadableDatabase::begin_read(&database).unwrap();
        for round in 0..300_u64 {
            let mut transaction = database.begin_write().unwrap();
            transaction.set_quick_repair(true);
            transaction.open_table(TABLE).unwrap().insert(round, &*vec![8; 9_000]).unwrap();
            transaction.commit().unwrap();
        }
        assert!(PageReader::open(&storage).unwrap().verify_tables().is_some(), "with a reader");
        drop((reading, database));
        assert!(PageReader::open(&storage).unwrap().verify_tables().is_some(), "closed");
    }
}
