//! Compressed bodies of changes: LZ4, after the length of the body.

use crate::msgpack::{DecodeError, Decoded};

/// Largest body that is compressed: bounds the memory that decompression takes.
pub(crate) const MAX_BYTES: usize = 16 << 20;
/// The highest ratio that the LZ4 block format reaches.
const MAX_RATIO: usize = 255;
const LENGTH_BYTES: usize = 4;

/// Compresses `body`; `None` if it exceeds [`MAX_BYTES`] or does not get smaller.
pub(crate) fn compress(body: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(body.len()).ok().filter(|_| body.len() <= MAX_BYTES)?;
    let compressed = [&length.to_be_bytes(), &*lz4_flex::block::compress(body)].concat();
    debug_assert!(compressed.len() >= LENGTH_BYTES, "the length precedes the block");
    // Incompressible bodies stay as they are.
    (compressed.len() < body.len()).then_some(compressed)
}

/// Restores the body.
pub(crate) fn decompress(bytes: &[u8]) -> Decoded<Vec<u8>> {
    let (length, compressed) =
        bytes.split_first_chunk::<LENGTH_BYTES>().ok_or(DecodeError::Corrupt)?;
    let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|_| DecodeError::Corrupt)?;
    // Checked before allocating: a corrupt length must not reserve 4 GiB.
    if length > MAX_BYTES || length > compressed.len().saturating_mul(MAX_RATIO) {
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
    fn only_what_gets_shorter_is_compressed() {
        let noise: Vec<u8> = (0..500_u64)
            .flat_map(|number| xxhash_rust::xxh3::xxh3_64(&number.to_le_bytes()).to_le_bytes())
            .collect();
        let too_long = vec![7; MAX_BYTES + 1];
        for (body, is_compressed) in [
            (Vec::new(), false),
            (vec![1, 2, 3], false),
            (noise, false),
            (words(500), true),
            (vec![7; MAX_BYTES], true),
            (too_long, false),
        ] {
            let compressed = compress(&body);
            assert_eq!(compressed.is_some(), is_compressed, "{} bytes", body.len());
            if let Some(compressed) = compressed {
                assert!(compressed.len() < body.len());
                assert_eq!(decompress(&compressed), Ok(body));
            }
        }
    }

    #[test]
    fn a_wrong_length_is_corrupt() {
        let (body, length) = (words(500), words(500).len());
        let compressed = compress(&body).unwrap();
        for wrong in [0, 1, length - 1, length + 1, MAX_BYTES, MAX_BYTES + 1, u32::MAX as usize] {
            let mut compressed = compressed.clone();
            compressed[..4].copy_from_slice(&u32::try_from(wrong).unwrap().to_be_bytes());
            assert_eq!(decompress(&compressed), Err(DecodeError::Corrupt), "{wrong}");
        }
        for cut in 0..compressed.len() {
            assert_eq!(decompress(&compressed[..cut]), Err(DecodeError::Corrupt), "cut at {cut}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), length in 0_u32..3_000) {
            let _ = decompress(&bytes);
            let _ = decompress(&[&length.to_be_bytes()[..], &bytes].concat());
        }

        #[test]
        fn what_is_compressed_is_read_as_it_was(body in prop::collection::vec(0_u8..6, 0..3_000)) {
            if let Some(compressed) = compress(&body) {
                prop_assert_eq!(decompress(&compressed).unwrap(), body);
            }
        }
    }
}
