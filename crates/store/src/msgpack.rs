//! `MessagePack`, as far as records use it: written to a buffer, read from borrowed bytes.
//!
//! Reading borrows, allocates nothing, follows no length that the bytes do not hold, and never
//! recurses. A field at its default is written as nil, and left out at the end of its array: so an
//! array that grew by a field still reads the shorter one of an earlier writer.

use leafbase_model::Timestamp;

/// Why bytes are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecodeError {
    /// They are not what any version writes.
    Corrupt,
    /// A later version may have written them.
    UnsupportedVersion,
}

pub(crate) type Decoded<T> = Result<T, DecodeError>;

pub(crate) fn put_nil(out: &mut Vec<u8>) {
    out.push(0xc0);
}

pub(crate) fn put_bool(out: &mut Vec<u8>, value: bool) {
    out.push(if value { 0xc3 } else { 0xc2 });
}

pub(crate) fn put_uint(out: &mut Vec<u8>, value: u64) {
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

pub(crate) fn put_int(out: &mut Vec<u8>, value: i64) {
    if let Ok(value) = u64::try_from(value) {
        return put_uint(out, value);
    }
    if let Ok(value) = i8::try_from(value) {
        if value < -32 {
            out.push(0xd0);
        }
        out.extend_from_slice(&value.to_be_bytes());
    } else if let Ok(value) = i32::try_from(value) {
        out.push(0xd2);
        out.extend_from_slice(&value.to_be_bytes());
    } else {
        out.push(0xd3);
        out.extend_from_slice(&value.to_be_bytes());
    }
}

pub(crate) fn put_f64(out: &mut Vec<u8>, value: f64) {
    out.push(0xcb);
    out.extend_from_slice(&value.to_be_bytes());
}

/// A length: lengths of records are far below 4 GiB, which the limits of values see to.
fn length(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

pub(crate) fn put_str(out: &mut Vec<u8>, text: &str) {
    match length(text.len()).to_be_bytes() {
        [0, 0, 0, short @ 0..32] => out.push(0xa0 | short),
        [0, 0, 0, short] => out.extend_from_slice(&[0xd9, short]),
        [0, 0, high, low] => out.extend_from_slice(&[0xda, high, low]),
        [a, b, c, d] => out.extend_from_slice(&[0xdb, a, b, c, d]),
    }
    out.extend_from_slice(text.as_bytes());
}

pub(crate) fn put_bin(out: &mut Vec<u8>, bytes: &[u8]) {
    match length(bytes.len()).to_be_bytes() {
        [0, 0, 0, short] => out.extend_from_slice(&[0xc4, short]),
        [0, 0, high, low] => out.extend_from_slice(&[0xc5, high, low]),
        [a, b, c, d] => out.extend_from_slice(&[0xc6, a, b, c, d]),
    }
    out.extend_from_slice(bytes);
}

pub(crate) fn put_array(out: &mut Vec<u8>, count: usize) {
    match length(count).to_be_bytes() {
        [0, 0, 0, short @ 0..16] => out.push(0x90 | short),
        [0, 0, high, low] => out.extend_from_slice(&[0xdc, high, low]),
        [a, b, c, d] => out.extend_from_slice(&[0xdd, a, b, c, d]),
    }
}

/// An array of at most 15 fields that ends with its last field that is not at its default.
pub(crate) struct ArrayEncoder<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    fields: u8,
    kept: u8,
    kept_end: usize,
}

impl<'a> ArrayEncoder<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        out.push(0x90);
        let kept_end = out.len();
        Self { out, start, fields: 0, kept: 0, kept_end }
    }

    /// The next field, written by `write` unless it is at its default.
    pub(crate) fn field(
        &mut self,
        is_default: bool,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> &mut Self {
        self.fields += 1;
        if is_default {
            put_nil(self.out);
        } else {
            write(self.out);
            self.kept = self.fields;
            self.kept_end = self.out.len();
        }
        self
    }

    pub(crate) fn uint(&mut self, value: u64) -> &mut Self {
        self.field(value == 0, |out| put_uint(out, value))
    }

    pub(crate) fn int(&mut self, value: i64) -> &mut Self {
        self.field(value == 0, |out| put_int(out, value))
    }

    pub(crate) fn str(&mut self, value: &str) -> &mut Self {
        self.field(value.is_empty(), |out| put_str(out, value))
    }

    pub(crate) fn time(&mut self, value: Option<Timestamp>) -> &mut Self {
        self.field(value.is_none(), |out| put_int(out, value.unwrap_or_default().as_millis()))
    }

    /// Ends the array, and says whether a field was kept.
    pub(crate) fn end(&mut self) -> bool {
        self.out.truncate(self.kept_end);
        if let Some(header) = self.out.get_mut(self.start) {
            *header = 0x90 | (self.kept & 0x0f);
        }
        self.kept > 0
    }
}

/// What is left to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Nothing may be left.
    pub(crate) fn finish(self) -> Decoded<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(DecodeError::Corrupt) }
    }

    /// How many bytes are left.
    pub(crate) fn left(self) -> usize {
        self.rest.len()
    }

    /// As it is when so many bytes are left.
    pub(crate) fn last(self, count: usize) -> Self {
        let passed = self.rest.len().saturating_sub(count);
        Self { rest: self.rest.get(passed..).unwrap_or_default() }
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

    /// Takes a nil, if one is next.
    #[inline]
    pub(crate) fn nil(&mut self) -> bool {
        let (Some(0xc0), Some(rest)) = (self.rest.first(), self.rest.get(1..)) else {
            return false;
        };
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

    pub(crate) fn int(&mut self) -> Decoded<i64> {
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

    /// The bytes of a text, which may be none.
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

    /// 16 bytes of an ID.
    pub(crate) fn id(&mut self) -> Decoded<[u8; 16]> {
        self.bin()?.try_into().map_err(|_| DecodeError::Corrupt)
    }

    fn length<const N: usize>(&mut self) -> Decoded<usize> {
        let bytes: [u8; N] = self.bytes()?;
        Ok(bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)))
    }

    /// How many values an array holds. What follows is at least that many bytes.
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

    /// Passes over a value of any of these kinds, with all that is in it.
    #[inline]
    pub(crate) fn skip(&mut self) -> Decoded<()> {
        // Most are short.
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
        let mut left = 1_usize;
        while let Some(others) = left.checked_sub(1) {
            left = others;
            match self.peek().ok_or(DecodeError::Corrupt)? {
                0x90..=0x9f | 0xdc | 0xdd => {
                    left = left.checked_add(self.array()?).ok_or(DecodeError::Corrupt)?
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

    /// The first byte of what is next, which tells its kind.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// An array of fields, to be read one by one.
    #[inline]
    pub(crate) fn fields(&mut self) -> Decoded<FieldDecoder<'_, 'a>> {
        let left = self.array()?;
        Ok(FieldDecoder { decoder: self, left })
    }
}

/// The fields of an array. Those it does not hold are at their default.
pub(crate) struct FieldDecoder<'r, 'a> {
    decoder: &'r mut Decoder<'a>,
    left: usize,
}

impl<'a> FieldDecoder<'_, 'a> {
    /// The next field; none if it is at its default.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a block has thirteen of them, and a fetch is mostly this"
    )]
    pub(crate) fn next<T>(
        &mut self,
        read: impl FnOnce(&mut Decoder<'a>) -> Decoded<T>,
    ) -> Decoded<Option<T>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        if self.decoder.nil() { Ok(None) } else { read(self.decoder).map(Some) }
    }

    /// The next field, which has no default.
    pub(crate) fn required<T>(
        &mut self,
        read: impl FnOnce(&mut Decoder<'a>) -> Decoded<T>,
    ) -> Decoded<T> {
        self.next(read)?.ok_or(DecodeError::Corrupt)
    }

    #[inline]
    pub(crate) fn uint(&mut self) -> Decoded<u64> {
        self.next(Decoder::uint).map(Option::unwrap_or_default)
    }

    pub(crate) fn int(&mut self) -> Decoded<i64> {
        self.next(Decoder::int).map(Option::unwrap_or_default)
    }

    #[inline]
    pub(crate) fn str(&mut self) -> Decoded<&'a str> {
        self.next(Decoder::str).map(Option::unwrap_or_default)
    }

    /// Passes over so many fields.
    #[inline]
    pub(crate) fn skip(&mut self, count: usize) -> Decoded<()> {
        for _ in 0..count.min(self.left) {
            self.left -= 1;
            self.decoder.skip()?;
        }
        Ok(())
    }

    /// At most so many fields may be left: a longer array comes from a later version.
    pub(crate) fn at_most(&self, count: usize) -> Decoded<()> {
        if self.left <= count { Ok(()) } else { Err(DecodeError::UnsupportedVersion) }
    }

    /// No field may be left: a longer array comes from a later version.
    pub(crate) fn end(self) -> Decoded<()> {
        self.at_most(0)
    }
}

/// An instant, which must be one that can be written.
pub(crate) fn time(decoder: &mut Decoder<'_>) -> Decoded<Timestamp> {
    let millis = decoder.int()?;
    let time = Timestamp::from_millis(millis);
    if time.as_millis() == millis { Ok(time) } else { Err(DecodeError::Corrupt) }
}
