//! Sibling order as bytes: four bytes of whole number, then a fraction without trailing zeros. An
//! append or a prepend never lengthens a key.

use std::cmp::Ordering;

const START: u32 = 0x8000_0000;

/// The key of the `index`th of siblings written together.
pub fn nth(index: usize) -> Vec<u8> {
    (START + index as u32).to_be_bytes().to_vec()
}

/// A key above `low` and below `high`; `None` is the end of the siblings on that side.
pub fn between(low: Option<&[u8]>, high: Option<&[u8]>) -> Vec<u8> {
    match (low, high) {
        (None, None) => nth(0),
        (Some(low), None) => (whole(low) + 1).to_be_bytes().to_vec(),
        (None, Some(high)) => (whole(high) - 1).to_be_bytes().to_vec(),
        (Some(low), Some(high)) => {
            debug_assert_eq!(low.cmp(high), Ordering::Less);
            let (a, b) = (whole(low), whole(high));
            if b - a > 1 {
                return (a + (b - a) / 2).to_be_bytes().to_vec();
            }
            let mut key = a.to_be_bytes().to_vec();
            key.extend(fraction(&low[4..], (a == b).then(|| &high[4..])));
            key
        }
    }
}

/// So many keys in order between two.
pub fn several(count: usize, low: Option<&[u8]>, high: Option<&[u8]>) -> Vec<Vec<u8>> {
    let mut keys = Vec::with_capacity(count);
    match (low, high) {
        (low, None) => {
            let first = low.map_or(START, |low| whole(low) + 1);
            keys.extend((0..count as u32).map(|step| (first + step).to_be_bytes().to_vec()));
        }
        (None, Some(high)) => {
            let first = whole(high) - count as u32;
            keys.extend((0..count as u32).map(|step| (first + step).to_be_bytes().to_vec()));
        }
        (Some(low), Some(high)) => halve(count, low, high, &mut keys),
    }
    keys
}

fn halve(count: usize, low: &[u8], high: &[u8], keys: &mut Vec<Vec<u8>>) {
    if count == 0 {
        return;
    }
    let middle = between(Some(low), Some(high));
    halve((count - 1) / 2, low, &middle, keys);
    keys.push(middle.clone());
    halve(count - 1 - (count - 1) / 2, &middle, high, keys);
}

fn whole(key: &[u8]) -> u32 {
    u32::from_be_bytes([key[0], key[1], key[2], key[3]])
}

/// Bytes of a fraction above `low` and below `high` (or one).
fn fraction(low: &[u8], high: Option<&[u8]>) -> Vec<u8> {
    let mut made = Vec::new();
    let mut bounded = high;
    for at in 0.. {
        let a = u16::from(low.get(at).copied().unwrap_or(0));
        let b = bounded.map_or(256, |high| u16::from(high.get(at).copied().unwrap_or(0)));
        if b > a + 1 {
            made.push((a + (b - a) / 2) as u8);
            break;
        }
        made.push(a as u8);
        if b > a {
            bounded = None;
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::{nth, several};
    use crate::workload::Rng;

    #[test]
    fn keys_made_anywhere_stay_in_order() {
        let mut rng = Rng::new(1);
        let mut keys: Vec<Vec<u8>> = (0..10).map(nth).collect();
        for _ in 0..2000 {
            let at = rng.below(keys.len() + 1);
            let low = at.checked_sub(1).map(|at| keys[at].clone());
            let made = several(1 + rng.below(4), low.as_deref(), keys.get(at).map(Vec::as_slice));
            keys.splice(at..at, made);
        }
        assert!(keys.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn appends_do_not_lengthen() {
        let mut last = nth(0);
        for _ in 0..1000 {
            last = several(1, Some(&last), None).remove(0);
        }
        assert_eq!(last.len(), 4);
    }
}
