//! Bounds of page pointers: keeps redb from following a pointer to a page past the end of the file.
//!
//! redb allocates a page before it reads it, and the order in a corrupt pointer can mean 4 GiB.
//! Such pointers become null in the bytes that redb reads. Pages of the smallest order are left
//! alone: they cost 4 KiB, and redb reports the failed read.

use std::io;

use redb::StorageBackend;

use super::file_format::{CommitSlot, DEFINITION_ROOT, PageReader};
use super::page_format::{
    BRANCH, EntryWidths, LEAF, NULL_PAGE, PagePointer, child_number_offset, entry_count,
};

/// The kind of bytes that were read: the positions of pointers depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) enum PageKind {
    Header,
    /// A page of a tree of tables.
    Tables,
    /// Any other page.
    Entries,
}

/// Makes the pointers in `bytes` null that lead past `length`, and returns whether there were any.
///
/// These are the children of a branch, the roots of tables in a leaf of a tree of tables, and in
/// the header the roots of a slot with a wrong checksum; [`are_table_roots_within`] checks the
/// others.
pub(super) fn clear_pointers_past_end(
    kind: PageKind,
    bytes: &mut [u8],
    length: &dyn Fn() -> io::Result<u64>,
) -> io::Result<bool> {
    let large_page = |at: usize| {
        let pointer = PagePointer::parse_number(bytes, at)?;
        (pointer.order() > 0).then_some((at, pointer))
    };
    let large_pages: Vec<(usize, PagePointer)> = match (kind, bytes.first()) {
        (PageKind::Header, _) => {
            CommitSlot::corrupt_root_offsets(bytes).into_iter().filter_map(large_page).collect()
        }
        (_, Some(&BRANCH)) => {
            let keys = entry_count(bytes).unwrap_or(0);
            (0..=keys)
                .map(|child| child_number_offset(keys, child))
                .filter_map(large_page)
                .collect()
        }
        (PageKind::Tables, Some(&LEAF)) => {
            table_root_offsets(bytes).into_iter().filter_map(large_page).collect()
        }
        _ => return Ok(false),
    };
    // Intact pages rarely have large children: asking for the length is a system call.
    if large_pages.is_empty() {
        return Ok(false);
    }
    let length = length()?;
    let mut has_changed = false;
    for (at, pointer) in large_pages {
        if let Some(number) = bytes.get_mut(at..at + 8).filter(|_| !pointer.is_within(length)) {
            number.copy_from_slice(&NULL_PAGE.to_le_bytes());
            has_changed = true;
        }
    }
    Ok(has_changed)
}

/// Where the page numbers of the tables' roots are in a leaf of a tree of tables.
fn table_root_offsets(page: &[u8]) -> Vec<usize> {
    let count = entry_count(page).unwrap_or(0);
    // A malformed leaf has no pointers that redb could follow.
    let Some(definitions) = EntryWidths::default().values(page, count) else { return Vec::new() };
    let (flag, root) = DEFINITION_ROOT;
    let has_root = |start: &usize| {
        start.checked_add(flag).and_then(|at| page.get(at)).is_some_and(|flag| *flag != 0)
    };
    let starts = definitions.into_iter().map(|definition| definition.start);
    starts.filter(has_root).map(|start| start + root).collect()
}

/// The offsets of the roots of the trees of tables: of the primary commit, and of the secondary one
/// if redb could fall back to it.
pub(super) fn table_root_pages(storage: &dyn StorageBackend) -> Vec<u64> {
    let Some(file) = PageReader::open(storage) else { return Vec::new() };
    let Some([primary, secondary]) = CommitSlot::both(&file.header) else { return Vec::new() };
    let fallback = Some(secondary).filter(|slot| slot.is_intact());
    let roots = primary.roots().chain(fallback.into_iter().flat_map(CommitSlot::roots));
    roots.filter_map(|root| Some(root.location()?.0)).collect()
}

/// Whether the roots of the trees of tables, in slots with a correct checksum, lie within the file.
pub(super) fn are_table_roots_within(storage: &dyn StorageBackend) -> bool {
    // redb reports a file that cannot be read.
    let Some(file) = PageReader::open(storage) else { return true };
    let slots = CommitSlot::both(&file.header).into_iter().flatten();
    let mut roots = slots.filter(|slot| slot.is_intact()).flat_map(CommitSlot::roots);
    roots.all(|root| root.order() == 0 || root.is_within(file.length))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE_BYTES: u64 = 64 << 10;

    const fn number(order: u64, index: u64) -> u64 {
        order << 59 | index
    }

    /// Page numbers and whether a file of `FILE_BYTES` contains them: among them the last page of
    /// an order inside the file, and the first one past its end.
    const NUMBERS: [(u64, bool); 8] = [
        (1, true),
        (number(1, 6), true),
        (number(1, 7), false),
        (number(4, 0), false),
        (number(3, 0), true),
        (number(20, 0), false),
        (number(31, 0), false),
        (u64::MAX, false),
    ];

    fn branch(numbers: &[u64]) -> Vec<u8> {
        let mut page = vec![BRANCH, 0];
        page.extend(u16::try_from(numbers.len() - 1).unwrap().to_le_bytes());
        page.resize(8 + 16 * numbers.len(), 7);
        page.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        page.resize(4_096, 0xff);
        page
    }

    /// A leaf of tables, each with a name of one letter and a definition of 60 bytes. The last one
    /// has no root.
    fn tables(numbers: &[u64]) -> Vec<u8> {
        let count = numbers.len();
        let mut page = vec![LEAF, 0];
        page.extend(u16::try_from(count).unwrap().to_le_bytes());
        let keys = 4 + 8 * count;
        page.extend((1..=count).flat_map(|end| u32::try_from(keys + end).unwrap().to_le_bytes()));
        page.extend(
            (1..=count)
                .flat_map(|end| u32::try_from(keys + count + 60 * end).unwrap().to_le_bytes()),
        );
        page.resize(keys + count, b'a');
        for (table, number) in numbers.iter().enumerate() {
            let has_root = u8::from(table + 1 < count);
            page.extend([&[3; 9][..], &[has_root], &number.to_le_bytes(), &[3; 42]].concat());
        }
        page.resize(4_096, 0xff);
        page
    }

    fn kept(piece: PageKind, bytes: Vec<u8>) -> Vec<u8> {
        let mut bytes = bytes;
        clear_pointers_past_end(piece, &mut bytes, &|| Ok(FILE_BYTES)).unwrap();
        bytes
    }

    #[test]
    fn pointers_past_the_end_become_null() {
        let numbers = NUMBERS.map(|(number, _)| number);
        let expected = NUMBERS.map(|(number, kept)| if kept { number } else { NULL_PAGE });
        for piece in [PageKind::Entries, PageKind::Tables] {
            assert!(kept(piece, branch(&numbers)) == branch(&expected), "nothing else changes");
        }
        let [mut with_last, mut expected_with_last] = [numbers.to_vec(), expected.to_vec()];
        with_last.push(u64::MAX);
        expected_with_last.push(u64::MAX);
        assert!(
            kept(PageKind::Tables, tables(&with_last)) == tables(&expected_with_last),
            "an empty table has no pointer"
        );
        assert!(
            kept(PageKind::Entries, tables(&numbers)) == tables(&numbers),
            "entries are left alone"
        );
        assert_eq!(PagePointer { number: NULL_PAGE, checksum: 0 }.location().unwrap().1, 4_096);
    }

    #[test]
    fn roots_in_a_corrupt_slot_become_null() {
        let with = |root: u64| {
            let mut header = vec![0; 320];
            for at in [64, 192].into_iter().flat_map(|slot| [slot + 8, slot + 40]) {
                header[at..at + 8].copy_from_slice(&root.to_le_bytes());
            }
            header
        };
        let mut header = with(number(20, 0));
        // The second slot's checksum is correct.
        let checksum = xxhash_rust::xxh3::xxh3_128(&header[192..192 + 112]);
        header[304..].copy_from_slice(&checksum.to_le_bytes());
        let mut expected = header.clone();
        expected[64..192].copy_from_slice(&with(NULL_PAGE)[64..192]);
        assert!(kept(PageKind::Header, header) == expected);
        assert!(kept(PageKind::Header, with(1)) == with(1));
    }

    #[test]
    fn the_file_length_is_requested_only_for_large_pages() {
        let unasked = || -> io::Result<u64> { unreachable!() };
        for mut page in [branch(&[1, 2, 3]), tables(&[1, 2, 3]), vec![7; 4_096]] {
            clear_pointers_past_end(PageKind::Tables, &mut page, &unasked).unwrap();
        }
        let failing = || Err(io::ErrorKind::Other.into());
        let error =
            clear_pointers_past_end(PageKind::Entries, &mut branch(&[number(1, 1)]), &failing)
                .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Other);
    }

    #[test]
    fn truncated_pages_are_left_alone() {
        let numbers = NUMBERS.map(|(number, _)| number);
        for piece in [PageKind::Header, PageKind::Tables, PageKind::Entries] {
            for page in [branch(&numbers), tables(&numbers)] {
                for cut in 0..page.len().min(700) {
                    assert_eq!(kept(piece, page[..cut].to_vec()).len(), cut);
                }
            }
        }
    }
}
