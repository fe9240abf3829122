//! The subset of `MessagePack` that records use: encoded into a buffer, decoded from borrowed
//! bytes.
//!
//! A field with its default value is encoded as nil, and omitted at the end of its array, so an
//! array that gained fields still decodes what an earlier version wrote. serde can express neither
//! and would decode each text into a copy; searches skip fields and borrow texts instead.
//! Decoding never allocates by a length that the bytes do not back, and never recurses.

use leafbase_model::Timestamp;

/// Why bytes do not decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecodeError {
    /// No version encodes this.
    Corrupt,
    /// A later version may have encoded this.
    UnsupportedVersion,
}

pub(crate) type Decoded<T> = Result<T, DecodeError>;

pub(crate) fn encode_nil(out: &mut Vec<u8>) {
    out.push(0xc0);
}

pub(crate) fn encode_bool(out: &mut Vec<u8>, value: bool) {
    out.push(if value { 0xc3 } else { 0xc2 });
}

pub(crate) fn encode_uint(out: &mut Vec<u8>, value: u64) {
    if let Ok(value) = u8::try_from(value) {
        if value >= 0x80 {
            out.push(0xcc);
        }
        out.push(value);
    } else if let Ok(value) = u16::try_from(value) {
        out.push(0xcd);
        out.extend_from_slice(&value.to_be_bytes());
    } else if let Ok(value) = u32::try_from(value) {
        out.push(0xce);
        out.extend_from_slice(&value.to_be_bytes());
    } else {
        out.push(0xcf);
        out.extend_from_slice(&value.to_be_bytes());
    }
}

pub(crate) fn encode_int(out: &mut Vec<u8>, value: i64) {
    if let Ok(value) = u64::try_from(value) {
        return encode_uint(out, value);
    }
    if let Ok(value) = i8::try_from(value) {
        // -32 and above fit into the marker itself.
        if value < -32 {
            out.push(0xd0);
        }
        out.extend_from_slice(&value.to_be_bytes());
    } else if let Ok(value) = i32::try_from(value) {
        // 16 bits are skipped: the format of records has no such marker.
        out.push(0xd2);
        out.extend_from_slice(&value.to_be_bytes());
    } else {
        out.push(0xd3);
        out.extend_from_slice(&value.to_be_bytes());
    }
}

pub(crate) fn encode_f64(out: &mut Vec<u8>, value: f64) {
    out.push(0xcb);
    out.extend_from_slice(&value.to_be_bytes());
}

/// A length in the 4 bytes that the format has for it.
fn length(value: usize) -> u32 {
    debug_assert!(u32::try_from(value).is_ok(), "limits keep values below 4 GiB");
    u32::try_from(value).unwrap_or(u32::MAX)
}

pub(crate) fn encode_str(out: &mut Vec<u8>, text: &str) {
    match length(text.len()).to_be_bytes() {
        [0, 0, 0, short @ 0..32] => out.push(0xa0 | short),
        [0, 0, 0, short] => out.extend_from_slice(&[0xd9, short]),
        [0, 0, high, low] => out.extend_from_slice(&[0xda, high, low]),
        [a, b, c, d] => out.extend_from_slice(&[0xdb, a, b, c, d]),
    }
    out.extend_from_slice(text.as_bytes());
}

pub(crate) fn encode_bin(out: &mut Vec<u8>, bytes: &[u8]) {
    match length(bytes.len()).to_be_bytes() {
        [0, 0, 0, short] => out.extend_from_slice(&[0xc4, short]),
        [0, 0, high, low] => out.extend_from_slice(&[0xc5, high, low]),
        [a, b, c, d] => out.extend_from_slice(&[0xc6, a, b, c, d]),
    }
    out.extend_from_slice(bytes);
}

pub(crate) fn encode_array_header(out: &mut Vec<u8>, count: usize) {
    match length(count).to_be_bytes() {
        [0, 0, 0, short @ 0..16] => out.push(0x90 | short),
        [0, 0, high, low] => out.extend_from_slice(&[0xdc, high, low]),
        [a, b, c, d] => out.extend_from_slice(&[0xdd, a, b, c, d]),
    }
}

/// Encodes an array of at most 15 fields, which ends with its last field that is not the default.
pub(crate) struct ArrayEncoder<'a> {
    out: &'a mut Vec<u8>,
    header: usize,
    fields: u8,
    /// Number of fields up to the last one that is not the default, and where it ends.
    kept: u8,
    kept_end: usize,
}

impl<'a> ArrayEncoder<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        let header = out.len();
        out.push(0x90);
        let kept_end = out.len();
        Self { out, header, fields: 0, kept: 0, kept_end }
    }

    /// Encodes the next field with `encode`, or as the default.
    #[inline]
    pub(crate) fn field(&mut self, is_default: bool, encode: impl FnOnce(&mut Vec<u8>)) {
        self.fields += 1;
        if is_default {
            encode_nil(self.out);
        } else {
            encode(self.out);
            self.kept = self.fields;
            self.kept_end = self.out.len();
        }
    }

    pub(crate) fn uint(&mut self, value: u64) {
        self.field(value == 0, |out| encode_uint(out, value));
    }

    pub(crate) fn int(&mut self, value: i64) {
        self.field(value == 0, |out| encode_int(out, value));
    }

    pub(crate) fn str(&mut self, value: &str) {
        self.field(value.is_empty(), |out| encode_str(out, value));
    }

    /// Encodes the next field as an array of its own, which is the default without any field.
    pub(crate) fn nested(&mut self, encode: impl FnOnce(&mut ArrayEncoder<'_>)) {
        let start = self.out.len();
        let mut array = ArrayEncoder::new(self.out);
        encode(&mut array);
        // Known before `end` consumes the array.
        let is_default = array.kept == 0;
        array.end();
        if is_default {
            self.out.truncate(start);
        }
        self.field(is_default, |_| ());
    }

    /// Ends the array: drops trailing defaults and sets the number of fields.
    pub(crate) fn end(self) {
        debug_assert!(self.fields < 16, "the header has 4 bits for the number of fields");
        debug_assert!(self.kept <= self.fields, "kept fields are among those encoded");
        // Trailing defaults are omitted: the decoder supplies them.
        self.out.truncate(self.kept_end);
        if let Some(header) = self.out.get_mut(self.header) {
            *header = 0x90 | (self.kept & 0x0f);
        }
    }
}

/// Decodes one value after the other from bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Fails unless all bytes were decoded.
    pub(crate) fn finish(self) -> Decoded<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(DecodeError::Corrupt) }
    }

    /// Number of bytes that are not decoded yet.
    pub(crate) fn remaining(self) -> usize {
        self.rest.len()
    }

    /// A decoder of the last `count` of the remaining bytes.
    pub(crate) fn with_remaining(self, count: usize) -> Self {
        debug_assert!(count <= self.rest.len(), "an earlier state has more bytes left");
        let passed = self.rest.len().saturating_sub(count);
        Self { rest: self.rest.get(passed..).unwrap_or(&[]) }
    }

    #[inline]
    fn take(&mut self, count: usize) -> Decoded<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(DecodeError::Corrupt)?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    fn bytes<const N: usize>(&mut self) -> Decoded<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(DecodeError::Corrupt)?;
        self.rest = rest;
        Ok(*taken)
    }

    #[inline]
    fn marker(&mut self) -> Decoded<u8> {
        self.bytes::<1>().map(|[marker]| marker)
    }

    /// Takes a nil if one is next.
    #[inline]
    pub(crate) fn nil(&mut self) -> bool {
        let [0xc0, rest @ ..] = self.rest else { return false };
        self.rest = rest;
        true
    }

    pub(crate) fn bool(&mut self) -> Decoded<bool> {
        match self.marker()? {
            0xc2 => Ok(false),
            0xc3 => Ok(true),
            _ => Err(DecodeError::Corrupt),
        }
    }

    #[inline]
    pub(crate) fn uint(&mut self) -> Decoded<u64> {
        match self.marker()? {
            small @ 0..0x80 => Ok(u64::from(small)),
            0xcc => Ok(u64::from(u8::from_be_bytes(self.bytes()?))),
            0xcd => Ok(u64::from(u16::from_be_bytes(self.bytes()?))),
            0xce => Ok(u64::from(u32::from_be_bytes(self.bytes()?))),
            0xcf => Ok(u64::from_be_bytes(self.bytes()?)),
            _ => Err(DecodeError::Corrupt),
        }
    }

    #[inline]
    pub(crate) fn int(&mut self) -> Decoded<i64> {
        // The marker is taken with the bytes after it, in one bounds check.
        match self.rest.first() {
            Some(0xe0..) => self.bytes().map(|[byte]| i64::from(i8::from_be_bytes([byte]))),
            Some(0xd0) => self.bytes().map(|[_, byte]| i64::from(i8::from_be_bytes([byte]))),
            Some(0xd2) => {
                self.bytes().map(|[_, a, b, c, d]| i64::from(i32::from_be_bytes([a, b, c, d])))
            }
            Some(0xd3) => {
                self.marker()?;
                self.bytes().map(i64::from_be_bytes)
            }
            _ => {
                self.uint().and_then(|value| i64::try_from(value).map_err(|_| DecodeError::Corrupt))
            }
        }
    }

    pub(crate) fn f64(&mut self) -> Decoded<f64> {
        match self.marker()? {
            0xcb => self.bytes().map(f64::from_be_bytes),
            _ => Err(DecodeError::Corrupt),
        }
    }

    #[inline]
    pub(crate) fn str(&mut self) -> Decoded<&'a str> {
        std::str::from_utf8(self.str_bytes()?).map_err(|_| DecodeError::Corrupt)
    }

    /// The bytes of a text, which are not verified to be UTF-8.
    #[inline]
    pub(crate) fn str_bytes(&mut self) -> Decoded<&'a [u8]> {
        let count = match self.marker()? {
            short @ 0xa0..=0xbf => usize::from(short & 0x1f),
            0xd9 => self.length::<1>()?,
            0xda => self.length::<2>()?,
            0xdb => self.length::<4>()?,
            _ => return Err(DecodeError::Corrupt),
        };
        self.take(count)
    }

    pub(crate) fn bin(&mut self) -> Decoded<&'a [u8]> {
        let count = match self.marker()? {
            0xc4 => self.length::<1>()?,
            0xc5 => self.length::<2>()?,
            0xc6 => self.length::<4>()?,
            _ => return Err(DecodeError::Corrupt),
        };
        self.take(count)
    }

    /// The 16 bytes of an ID.
    pub(crate) fn id(&mut self) -> Decoded<[u8; 16]> {
        self.bin()?.try_into().map_err(|_| DecodeError::Corrupt)
    }

    fn length<const N: usize>(&mut self) -> Decoded<usize> {
        let bytes: [u8; N] = self.bytes()?;
        Ok(bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)))
    }

    /// Number of values of an array. Each takes at least a byte, which bounds what callers reserve.
    #[inline]
    pub(crate) fn array(&mut self) -> Decoded<usize> {
        let count = match self.marker()? {
            short @ 0x90..=0x9f => usize::from(short & 0x0f),
            0xdc => self.length::<2>()?,
            0xdd => self.length::<4>()?,
            _ => return Err(DecodeError::Corrupt),
        };
        if count <= self.rest.len() { Ok(count) } else { Err(DecodeError::Corrupt) }
    }

    /// Decodes `count` values with `decode`.
    pub(crate) fn list<T>(
        &mut self,
        count: usize,
        mut decode: impl FnMut(&mut Self) -> Decoded<T>,
    ) -> Decoded<Vec<T>> {
        // A count beyond the remaining bytes is corrupt, and must not reserve memory.
        let mut list = Vec::with_capacity(count.min(self.rest.len()));
        for _ in 0..count {
            list.push(decode(self)?);
        }
        Ok(list)
    }

    /// Skips a value of any kind, with all values in it.
    #[inline]
    pub(crate) fn skip(&mut self) -> Decoded<()> {
        // Fast path: short texts, numbers and nil are nearly all fields of a block.
        let passed = match self.rest {
            [short @ 0xa0..=0xbf, rest @ ..] => rest.get(usize::from(short & 0x1f)..),
            [0xcb | 0xcf, rest @ ..] => rest.get(8..),
            [0x00..=0x7f | 0xc0 | 0xc2 | 0xc3, rest @ ..] => Some(rest),
            _ => return self.skip_any(),
        };
        self.rest = passed.ok_or(DecodeError::Corrupt)?;
        Ok(())
    }

    fn skip_any(&mut self) -> Decoded<()> {
        // Counts values instead of recursing: nesting cannot exhaust the stack.
        let mut left = 1_usize;
        while let Some(others) = left.checked_sub(1) {
            left = others;
            match self.peek().ok_or(DecodeError::Corrupt)? {
                0x90..=0x9f | 0xdc | 0xdd => {
                    left = left.checked_add(self.array()?).ok_or(DecodeError::Corrupt)?;
                }
                0xa0..=0xbf | 0xd9..=0xdb => self.str_bytes().map(|_| ())?,
                0xc4..=0xc6 => self.bin().map(|_| ())?,
                0x00..=0x7f | 0xe0..=0xff | 0xc0 | 0xc2 | 0xc3 => self.take(1).map(|_| ())?,
                0xcc | 0xd0 => self.take(2).map(|_| ())?,
                0xcd => self.take(3).map(|_| ())?,
                0xce | 0xd2 => self.take(5).map(|_| ())?,
                0xcb | 0xcf | 0xd3 => self.take(9).map(|_| ())?,
                _ => return Err(DecodeError::Corrupt),
            }
        }
        Ok(())
    }

    /// The marker of the next value, which tells its type.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Begins an array of fields.
    #[inline]
    pub(crate) fn fields(&mut self) -> Decoded<FieldDecoder<'_, 'a>> {
        let left = self.array()?;
        Ok(FieldDecoder { decoder: self, left })
    }
}

/// Decodes the fields of an array. A field that the array lacks has its default value.
pub(crate) struct FieldDecoder<'r, 'a> {
    decoder: &'r mut Decoder<'a>,
    left: usize,
}

impl<'a> FieldDecoder<'_, 'a> {
    /// The next field; `None` if it has its default value.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a block has thirteen fields, and they are most of the work of a fetch"
    )]
    pub(crate) fn next<T>(
        &mut self,
        decode: impl FnOnce(&mut Decoder<'a>) -> Decoded<T>,
    ) -> Decoded<Option<T>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        if self.decoder.nil() { Ok(None) } else { decode(self.decoder).map(Some) }
    }

    /// The next field, which has no default.
    pub(crate) fn required<T>(
        &mut self,
        decode: impl FnOnce(&mut Decoder<'a>) -> Decoded<T>,
    ) -> Decoded<T> {
        self.next(decode)?.ok_or(DecodeError::Corrupt)
    }

    #[inline]
    pub(crate) fn uint(&mut self) -> Decoded<u64> {
        Ok(self.next(Decoder::uint)?.unwrap_or(0))
    }

    #[inline]
    pub(crate) fn int(&mut self) -> Decoded<i64> {
        Ok(self.next(Decoder::int)?.unwrap_or(0))
    }

    #[inline]
    pub(crate) fn str(&mut self) -> Decoded<&'a str> {
        Ok(self.next(Decoder::str)?.unwrap_or(""))
    }

    /// Skips `count` fields.
    #[inline]
    pub(crate) fn skip(&mut self, count: usize) -> Decoded<()> {
        // Fields that the array lacks have their defaults: there is nothing to skip.
        for _ in 0..count.min(self.left) {
            self.left -= 1;
            self.decoder.skip()?;
        }
        Ok(())
    }

    /// Fails if more than `count` fields are left: only a later version encodes more.
    pub(crate) fn at_most(&self, count: usize) -> Decoded<()> {
        if self.left <= count { Ok(()) } else { Err(DecodeError::UnsupportedVersion) }
    }

    /// Fails if a field is left: only a later version encodes more.
    pub(crate) fn end(self) -> Decoded<()> {
        self.at_most(0)
    }
}

/// An instant, which must be within the range of [`Timestamp`].
pub(crate) fn timestamp(millis: i64) -> Decoded<Timestamp> {
    let time = Timestamp::from_millis(millis);
    if time.as_millis() == millis { Ok(time) } else { Err(DecodeError::Corrupt) }
}
