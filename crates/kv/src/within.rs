//! Pages that are longer than the file. redb takes memory for a whole page before it reads it, and
//! a damaged number may stand for one of 4 GiB: it is not to meet such numbers. Pages of the least
//! length take no more than is there to take.

use std::io;

use redb::StorageBackend;

use super::structure::{BRANCH, File, LEAF, ROOT_OF_TABLE, Root, Slot, Tree, bytes};

/// The number of a page of one length that is behind the end of every file.
const NOWHERE: u64 = 0x000F_FFFF << 20 | 0x000F_FFFF;

/// What was read of a file: where the numbers of pages stand depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    Header,
    /// A page of a tree of tables, as far as is known.
    Account,
    Page,
}

/// Lets pages that a piece leads to, and that do not end within `length` bytes, be nowhere.
///
/// Of a branch these are its children; of a leaf of a tree of tables the roots of the tables; of
/// the header the roots of commits whose checksum is wrong: where it is right, [`begins_within`]
/// has the answer. Other pages stay as they are. Gives whether anything was changed.
pub(super) fn keep_within(
    piece: Piece,
    bytes: &mut [u8],
    length: &dyn Fn() -> io::Result<u64>,
) -> io::Result<bool> {
    let long = |at: usize| {
        Root::at_page(bytes, at).filter(|root| root.doubled() > 0).map(|root| (at, root))
    };
    let long: Vec<(usize, Root)> = match (piece, bytes.first()) {
        (Piece::Header, _) => Slot::places_of_roots(bytes).into_iter().filter_map(long).collect(),
        (_, Some(&BRANCH)) => {
            let count = count(bytes);
            (0..=count).map(|child| 8 + 16 * (count + 1) + 8 * child).filter_map(long).collect()
        }
        (Piece::Account, Some(&LEAF)) => {
            roots_of_tables(bytes).into_iter().filter_map(long).collect()
        }
        _ => return Ok(false),
    };
    if long.is_empty() {
        return Ok(false);
    }
    let (length, mut changed) = (length()?, false);
    for (at, _) in long.into_iter().filter(|(_, root)| !root.is_within(length)) {
        if let Some(number) = bytes.get_mut(at..at + 8) {
            number.copy_from_slice(&NOWHERE.to_le_bytes());
            changed = true;
        }
    }
    Ok(changed)
}

/// Lets a child of a branch be nowhere.
pub(super) fn lead_nowhere(branch: &mut [u8], child: usize) {
    let at = 8 + 16 * (count(branch) + 1) + 8 * child;
    if let Some(number) = branch.get_mut(at..at + 8) {
        number.copy_from_slice(&NOWHERE.to_le_bytes());
    }
}

fn count(page: &[u8]) -> usize {
    bytes(page, 2).map_or(0, |count| usize::from(u16::from_le_bytes(count)))
}

/// Where the numbers of the tables' roots are in a leaf of a tree of tables.
fn roots_of_tables(page: &[u8]) -> Vec<usize> {
    let definitions = Tree::of_bytes().values(page, count(page)).unwrap_or_default();
    let (flag, at) = ROOT_OF_TABLE;
    let has_root = |start: &usize| {
        start.checked_add(flag).and_then(|flag| page.get(flag)).is_some_and(|flag| *flag != 0)
    };
    definitions
        .into_iter()
        .map(|(start, _)| start)
        .filter(has_root)
        .map(|start| start + at)
        .collect()
}

/// The places of the first pages of the trees of tables: of the last commit, and of the one before
/// it if redb would go back there. Where it would not, what stands there may be anything.
pub(super) fn accounts(storage: &dyn StorageBackend) -> Vec<u64> {
    let Some(file) = File::open(storage) else { return Vec::new() };
    let Some([last, other]) = Slot::both(&file.header) else { return Vec::new() };
    let roots = last
        .roots()
        .chain(Some(other).filter(|slot| slot.agrees()).into_iter().flat_map(Slot::roots));
    roots.filter_map(|root| Some(root.place()?.0)).collect()
}

/// Whether the trees of tables begin with pages that are not longer than the file.
pub(super) fn begins_within(storage: &dyn StorageBackend) -> bool {
    let Some(file) = File::open(storage) else { return true };
    // What is wrong with the others redb finds out, once it is kept from following them too far.
    let slots = Slot::both(&file.header).into_iter().flatten().filter(|slot| slot.agrees());
    slots.flat_map(Slot::roots).all(|root| root.doubled() == 0 || root.is_within(file.length))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENOUGH: u64 = 64 << 10;

    const fn doubled(times: u64, index: u64) -> u64 {
        times << 59 | index
    }

    /// Numbers of pages, and whether they are kept in a file of `ENOUGH`: among them the last of a
    /// length that ends within, and the first that does not.
    const NUMBERS: [(u64, bool); 8] = [
        (1, true),
        (doubled(1, 6), true),
        (doubled(1, 7), false),
        (doubled(4, 0), false),
        (doubled(3, 0), true),
        (doubled(20, 0), false),
        (doubled(31, 0), false),
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

    /// A leaf of tables, each with a name of one letter and a definition of 60 bytes. The last has
    /// no root.
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

    fn kept(piece: Piece, bytes: Vec<u8>) -> Vec<u8> {
        let mut bytes = bytes;
        keep_within(piece, &mut bytes, &|| Ok(ENOUGH)).unwrap();
        bytes
    }

    #[test]
    fn a_page_leads_to_none_that_is_longer_than_the_file() {
        let numbers = NUMBERS.map(|(number, _)| number);
        let expected = NUMBERS.map(|(number, kept)| if kept { number } else { NOWHERE });
        for piece in [Piece::Page, Piece::Account] {
            assert!(kept(piece, branch(&numbers)) == branch(&expected), "nothing else is touched");
        }
        let [mut with_last, mut expected_with_last] = [numbers.to_vec(), expected.to_vec()];
        with_last.push(u64::MAX);
        expected_with_last.push(u64::MAX);
        assert!(
            kept(Piece::Account, tables(&with_last)) == tables(&expected_with_last),
            "where there is no root nothing leads to it"
        );
        assert!(kept(Piece::Page, tables(&numbers)) == tables(&numbers), "notes are as they are");
        assert_eq!(Root { page: NOWHERE, checksum: 0 }.place().unwrap().1, 4_096);
    }

    #[test]
    fn a_commit_that_is_damaged_leads_to_none_either() {
        let with = |root: u64| {
            let mut header = vec![0; 320];
            for at in [64, 192].into_iter().flat_map(|slot| [slot + 8, slot + 40]) {
                header[at..at + 8].copy_from_slice(&root.to_le_bytes());
            }
            header
        };
        let mut header = with(doubled(20, 0));
        // The second slot's checksum is right.
        let checksum = xxhash_rust::xxh3::xxh3_128(&header[192..192 + 112]);
        header[304..].copy_from_slice(&checksum.to_le_bytes());
        let mut expected = header.clone();
        expected[64..192].copy_from_slice(&with(NOWHERE)[64..192]);
        assert!(kept(Piece::Header, header) == expected);
        assert!(kept(Piece::Header, with(1)) == with(1));
    }

    #[test]
    fn the_length_of_the_file_is_asked_for_where_it_matters() {
        let unasked = || -> io::Result<u64> { unreachable!() };
        for mut page in [branch(&[1, 2, 3]), tables(&[1, 2, 3]), vec![7; 4_096]] {
            keep_within(Piece::Account, &mut page, &unasked).unwrap();
        }
        let failing = || Err(io::ErrorKind::Other.into());
        let error = keep_within(Piece::Page, &mut branch(&[doubled(1, 1)]), &failing).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Other);
    }

    #[test]
    fn pages_that_end_too_soon_are_left_alone() {
        let numbers = NUMBERS.map(|(number, _)| number);
        for piece in [Piece::Header, Piece::Account, Piece::Page] {
            for page in [branch(&numbers), tables(&numbers)] {
                for cut in 0..page.len().min(700) {
                    assert_eq!(kept(piece, page[..cut].to_vec()).len(), cut);
                }
            }
        }
    }
}
