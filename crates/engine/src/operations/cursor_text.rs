//! The texts of cursors: hexadecimal, with fingerprints of requests.

/// Encodes a cursor in hexadecimal, which needs no escaping in JSON or URLs.
pub(crate) fn write_cursor(cursor: &[u8]) -> String {
    let digits = cursor.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

/// Decodes a cursor; `None` if it is none.
pub(crate) fn read_cursor(text: &str) -> Option<Vec<u8>> {
    let digits = |pair: &[u8]| {
        let pair =
            std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2 && !pair.starts_with('+'));
        pair.and_then(|pair| u8::from_str_radix(pair, 16).ok())
    };
    text.as_bytes().chunks(2).map(digits).collect()
}

/// The fingerprint of a request: FNV-1a, which gives the same result on every machine and in every
/// version.
pub(crate) fn fingerprint_of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_of_a_request_stays_the_same() {
        assert_eq!(
            [fingerprint_of(b""), fingerprint_of(b"a")],
            [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c]
        );
    }

    #[test]
    fn cursors_read_back() {
        let bytes = [0, 1, 0x7f, 0xff];
        assert_eq!(read_cursor(&write_cursor(&bytes)), Some(bytes.to_vec()));
        for text in ["0", "0g", "+1", "ää"] {
            assert_eq!(read_cursor(text), None, "{text}");
        }
    }
}
