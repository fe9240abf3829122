//! Order keys of runs: byte strings with room for another one between any two.
//!
//! A key is an integer of 4 bytes and digits of 2 bytes, the last of which is not 0. A key after
//! the last one, or before the first one, is the next integer, so it never gets longer. A key
//! between two others takes a small step from the deeper of both, so that one level holds 512 keys
//! generated in the same direction. Keys generated in alternating directions halve that step, and
//! take a level for every 7.

/// The integer of a first key: the middle of the range.
const MIDDLE: u32 = 0x8000_0000;
const MIDDLE_DIGIT: u16 = 0x8000;
/// Step to a neighbour on a level. Small steps suit keys generated in a row, large ones random
/// positions.
const STEP: u32 = 64;
/// Maximum length of a key: with the IDs before it, the key of a run stays below 1 KiB.
pub(crate) const MAX_BYTES: usize = 900;

/// The key of the first run of a parent.
pub(crate) fn first() -> Vec<u8> {
    MIDDLE.to_be_bytes().to_vec()
}

/// Whether [`between`] can return `key`.
pub(crate) fn is_valid(key: &[u8]) -> bool {
    // A last digit of 0 would leave no room below the key.
    let ends_with_zero = if key.len() == 4 { key == [0; 4] } else { key.ends_with(&[0, 0]) };
    key.len() >= 4 && key.len().is_multiple_of(2) && key.len() <= MAX_BYTES && !ends_with_zero
}

/// A key between `lower` and `upper`, where `lower` is less; `None` is unbounded. Returns `None` if
/// the key would be too long.
pub(crate) fn between(lower: Option<&[u8]>, upper: Option<&[u8]>) -> Option<Vec<u8>> {
    debug_assert!(
        lower.zip(upper).is_none_or(|(lower, upper)| lower < upper),
        "the lower order key is less than the upper one"
    );
    let digits = match (lower, upper) {
        (None, None) => return Some(first()),
        (Some(lower), None) => after(&digits(lower)),
        (lower, Some(upper)) => amid(&digits(lower.unwrap_or(&[])), &digits(upper)),
    };
    let bytes = encode(&digits);
    debug_assert!(
        lower.is_none_or(|lower| *lower < *bytes) && upper.is_none_or(|upper| *bytes < *upper),
        "a new order key is between its neighbours"
    );
    (bytes.len() <= MAX_BYTES).then_some(bytes)
}

/// The integer as a digit, and the digits after it.
fn digits(key: &[u8]) -> Vec<u32> {
    let Some((integer, rest)) = key.split_first_chunk::<4>() else { return Vec::new() };
    let mut digits = vec![u32::from_be_bytes(*integer)];
    digits.extend(
        rest.chunks_exact(2)
            .map(|digit| digit.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte))),
    );
    digits
}

fn encode(digits: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(2 + 2 * digits.len());
    for (level, digit) in digits.iter().enumerate() {
        let digit = digit.to_be_bytes();
        bytes.extend(digit.iter().skip(if level == 0 { 0 } else { 2 }));
    }
    bytes
}

const fn highest(level: usize) -> u32 {
    if level == 0 { u32::MAX } else { u16::MAX as u32 }
}

const fn step(level: usize) -> u32 {
    if level == 0 { 1 } else { STEP }
}

const fn middle(level: usize) -> u32 {
    if level == 0 { MIDDLE } else { MIDDLE_DIGIT as u32 }
}

/// The shortest key above `lower`: the first digit that can grow does.
fn after(lower: &[u32]) -> Vec<u32> {
    above(lower, 0)
}

/// [`after`] that leaves the digits before `from` unchanged.
fn above(lower: &[u32], from: usize) -> Vec<u32> {
    let growing =
        lower.iter().enumerate().skip(from).find(|(level, digit)| **digit < highest(*level));
    match growing {
        Some((level, digit)) => stem(lower, level, digit + step(level).min(highest(level) - digit)),
        None => stem(lower, lower.len(), middle(lower.len())),
    }
}

/// The first `count` digits of `key`, then `last`.
fn stem(key: &[u32], count: usize, last: u32) -> Vec<u32> {
    let mut digits: Vec<u32> = key.iter().copied().take(count).collect();
    digits.push(last);
    digits
}

fn amid(lower: &[u32], upper: &[u32]) -> Vec<u32> {
    let shared = lower.iter().zip(upper).take_while(|(a, b)| a == b).count();
    let Some(&high) = upper.get(shared) else { return above(lower, shared) };
    let upper_goes_on = upper.len() > shared + 1;
    let Some(&low) = lower.get(shared) else { return below(upper, shared) };
    if upper_goes_on {
        // The prefix of the upper key is less than it, and greater than the lower key.
        return stem(upper, shared, high);
    }
    if high - low < 2 {
        return above(lower, shared + 1);
    }
    // A lower key with more digits was generated in this direction: a small step leaves room for
    // the next ones. Otherwise half of the gap serves both directions.
    let half = (high - low) / 2;
    let lower_goes_on = lower.len() > shared + 1;
    stem(lower, shared, low + if lower_goes_on { half.min(step(shared)) } else { half })
}

/// A key below `upper` and above its first `shared` digits.
fn below(upper: &[u32], shared: usize) -> Vec<u32> {
    for (level, &digit) in upper.iter().enumerate().skip(shared) {
        if digit == 0 {
            continue;
        }
        if upper.len() > level + 1 {
            return stem(upper, level, digit);
        }
        if digit > 1 {
            return stem(upper, level, digit - step(level).min(digit - 1));
        }
        let mut digits = stem(upper, level, 0);
        digits.push(middle(level + 1));
        return digits;
    }
    // Unreachable for valid keys, which do not end with 0.
    stem(upper, upper.len(), middle(upper.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amidst(lower: &[u8], upper: &[u8]) -> Vec<u8> {
        let key = between(Some(lower), Some(upper)).unwrap();
        assert!(is_valid(&key), "{key:02x?}");
        assert!(lower < &*key && &*key < upper, "{lower:02x?} < {key:02x?} < {upper:02x?}");
        key
    }

    #[test]
    fn appends_and_prepends_never_lengthen() {
        let (mut last, mut first_key) = (first(), first());
        for _ in 0..100_000 {
            let next = between(Some(&last), None).unwrap();
            assert!(next > last && next.len() == 4);
            last = next;
            let before = between(None, Some(&first_key)).unwrap();
            assert!(before < first_key && before.len() == 4);
            first_key = before;
        }
    }

    #[test]
    fn the_ends_of_the_integers_have_room_beyond() {
        let mut last = vec![0xff; 4];
        let mut lowest = vec![0, 0, 0, 1];
        for _ in 0..1_000 {
            let next = between(Some(&last), None).unwrap();
            assert!(is_valid(&next) && next > last);
            last = next;
            let before = between(None, Some(&lowest)).unwrap();
            assert!(is_valid(&before) && before < lowest);
            lowest = before;
        }
        assert!(last.len() <= 8 && lowest.len() <= 8, "{last:02x?} {lowest:02x?}");
    }

    #[test]
    fn ten_thousand_keys_at_one_spot_stay_within_48_bytes() {
        let (lower, upper) = (first(), between(Some(&first()), None).unwrap());
        let (mut down, mut up) = (upper.clone(), lower.clone());
        for _ in 0..10_000 {
            down = amidst(&lower, &down);
            up = amidst(&up, &upper);
            assert!(down.len() <= 48 && up.len() <= 48);
        }
    }

    #[test]
    fn keys_made_on_either_side_in_turn_grow_by_2_bytes_in_7() {
        let (mut lower, mut upper) = (first(), between(Some(&first()), None).unwrap());
        for step in 0..1_000 {
            let key = amidst(&lower, &upper);
            assert!(key.len() <= 8 + 2 * step / 7, "{} at {step}", key.len());
            if step % 2 == 0 { lower = key } else { upper = key }
        }
    }

    #[test]
    fn random_places_stay_short() {
        let mut keys = vec![first()];
        let mut seed = 7_u64;
        for _ in 0..20_000 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let location = usize::try_from(seed >> 33).unwrap() % (keys.len() + 1);
            let (lower, upper) = (
                location.checked_sub(1).map(|before| &*keys[before]),
                keys.get(location).map(|key| &**key),
            );
            let key = between(lower, upper).unwrap();
            assert!(
                is_valid(&key)
                    && lower.is_none_or(|lower| lower < &*key)
                    && upper.is_none_or(|upper| &*key < upper)
            );
            assert!(key.len() <= 16, "{}", key.len());
            keys.insert(location, key);
        }
    }
}
