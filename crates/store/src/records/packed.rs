//! Bodies of changes in fewer bytes: LZ4, behind the length of what it stands for.

use crate::msgpack::{DecodeError, Decoded};

/// Longer bodies stay as they are: to read one takes so much memory at most.
pub(crate) const MAX_BYTES: usize = 16 << 20;
/// No byte of LZ4 stands for more.
const MOST_PER_BYTE: usize = 255;
const LENGTH_BYTES: usize = 4;

/// The packed form of `body`; none if it is too long for one, or its packed form isn't shorter.
pub(crate) fn pack(body: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(body.len()).ok().filter(|_| body.len() <= MAX_BYTES)?;
    let packed = [&length.to_be_bytes(), &*lz4_flex::block::compress(body)].concat();
    (packed.len() < body.len()).then_some(packed)
}

/// What `packed` stands for.
pub(crate) fn unpack(packed: &[u8]) -> Decoded<Vec<u8>> {
    let (length, compressed) =
        packed.split_first_chunk::<LENGTH_BYTES>().ok_or(DecodeError::Corrupt)?;
    let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|_| DecodeError::Corrupt)?;
    if length > MAX_BYTES || length > compressed.len().saturating_mul(MOST_PER_BYTE) {
        return Err(DecodeError::Corrupt);
    }
    let mut body = vec![0; length];
    match lz4_flex::block::decompress_into(compressed, &mut body) {
        Ok(written) if written == length => Ok(body),
        _ => Err(DecodeError::Corrupt),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(count: usize) -> Vec<u8> {
        (0..count).flat_map(|number| format!("word {} ", number % 97).into_bytes()).collect()
    }

    #[test]
    fn only_what_gets_shorter_is_packed() {
        let noise: Vec<u8> = (0..500_u64)
            .flat_map(|number| xxhash_rust::xxh3::xxh3_64(&number.to_le_bytes()).to_le_bytes())
            .collect();
        let too_long = vec![7; MAX_BYTES + 1];
        for (body, is_packed) in [
            (Vec::new(), false),
            (vec![1, 2, 3], false),
            (noise, false),
            (words(500), true),
            (vec![7; MAX_BYTES], true),
            (too_long, false),
        ] {
            let packed = pack(&body);
            assert_eq!(packed.is_some(), is_packed, "{} bytes", body.len());
            if let Some(packed) = packed {
                assert!(packed.len() < body.len());
                assert_eq!(unpack(&packed), Ok(body));
            }
        }
    }

    #[test]
    fn a_wrong_length_is_damage() {
        let (body, length) = (words(500), words(500).len());
        let packed = pack(&body).unwrap();
        for wrong in [0, 1, length - 1, length + 1, MAX_BYTES, MAX_BYTES + 1, u32::MAX as usize] {
            let mut packed = packed.clone();
            packed[..4].copy_from_slice(&u32::try_from(wrong).unwrap().to_be_bytes());
            assert_eq!(unpack(&packed), Err(DecodeError::Corrupt), "{wrong}");
        }
        for cut in 0..packed.len() {
            assert_eq!(unpack(&packed[..cut]), Err(DecodeError::Corrupt), "cut at {cut}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), length in 0_u32..3_000) {
            let _ = unpack(&bytes);
            let _ = unpack(&[&length.to_be_bytes()[..], &bytes].concat());
        }

        #[test]
        fn what_is_packed_is_read_as_it_was(body in prop::collection::vec(0_u8..6, 0..3_000)) {
            if let Some(packed) = pack(&body) {
                prop_assert_eq!(unpack(&packed).unwrap(), body);
            }
        }
    }
}
