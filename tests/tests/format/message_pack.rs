//! The values of MessagePack that a space has, each in its shortest encoding and in no other.

use crate::{Refusal, Refused, refuse};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Nil,
    Bool(bool),
    /// Of 64 bits, with or without a sign.
    Int(i128),
    Float(f64),
    Str(String),
    Bin(Vec<u8>),
    Array(Vec<Value>),
}

/// The value that is all of `bytes`.
pub(crate) fn decode(bytes: &[u8]) -> Refused<Value> {
    let mut rest = bytes;
    let value = next(&mut rest)?;
    if rest.is_empty() {
        Ok(value)
    } else {
        refuse(format!("{} bytes after {value:?}", rest.len()))
    }
}

/// Takes the first `count` bytes.
pub(crate) fn take<'b>(rest: &mut &'b [u8], count: usize) -> Refused<&'b [u8]> {
    let (taken, after) = rest
        .split_at_checked(count)
        .ok_or_else(|| Refusal(format!("{count} bytes in {rest:?}")))?;
    *rest = after;
    Ok(taken)
}

/// Takes a big-endian number of `width` bytes.
pub(crate) fn take_uint(rest: &mut &[u8], width: usize) -> Refused<u64> {
    Ok(take(rest, width)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// A number of `width` bytes, which a shorter encoding cannot hold: it is at least `least`.
fn at_least(least: u64, rest: &mut &[u8], width: usize) -> Refused<u64> {
    let number = take_uint(rest, width)?;
    if number < least { refuse(format!("{number} in {width} bytes")) } else { Ok(number) }
}

fn length(least: u64, rest: &mut &[u8], width: usize) -> Refused<usize> {
    at_least(least, rest, width).map(|number| usize::try_from(number).unwrap())
}

/// A negative number of `width` bytes, which is less than `bound`.
fn negative(bound: i64, rest: &mut &[u8], width: usize) -> Refused<Value> {
    let unused = 64 - 8 * u32::try_from(width).unwrap();
    let number = (take_uint(rest, width)? << unused).cast_signed() >> unused;
    if number < bound { Ok(Value::Int(number.into())) } else { refuse(format!("{number}")) }
}

fn next(rest: &mut &[u8]) -> Refused<Value> {
    let marker = take(rest, 1)?[0];
    Ok(match marker {
        0x00..=0x7f => Value::Int(marker.into()),
        0x90..=0x9f => array(rest, usize::from(marker & 15))?,
        0xa0..=0xbf => text(rest, usize::from(marker & 31))?,
        0xc0 => Value::Nil,
        0xc2 | 0xc3 => Value::Bool(marker == 0xc3),
        0xc4 => bytes(length(0, rest, 1)?, rest)?,
        0xc5 => bytes(length(1 << 8, rest, 2)?, rest)?,
        0xc6 => bytes(length(1 << 16, rest, 4)?, rest)?,
        0xcb => Value::Float(f64::from_bits(take_uint(rest, 8)?)),
        0xcc => Value::Int(at_least(1 << 7, rest, 1)?.into()),
        0xcd => Value::Int(at_least(1 << 8, rest, 2)?.into()),
        0xce => Value::Int(at_least(1 << 16, rest, 4)?.into()),
        0xcf => Value::Int(at_least(1 << 32, rest, 8)?.into()),
        0xd0 => negative(-32, rest, 1)?,
        0xd2 => negative(-(1 << 7), rest, 4)?,
        0xd3 => negative(-(1 << 31), rest, 8)?,
        0xd9 => {
            let length = length(1 << 5, rest, 1)?;
            text(rest, length)?
        }
        0xda => {
            let length = length(1 << 8, rest, 2)?;
            text(rest, length)?
        }
        0xdb => {
            let length = length(1 << 16, rest, 4)?;
            text(rest, length)?
        }
        0xdc => {
            let length = length(1 << 4, rest, 2)?;
            array(rest, length)?
        }
        0xdd => {
            let length = length(1 << 16, rest, 4)?;
            array(rest, length)?
        }
        0xe0..=0xff => Value::Int(i128::from(marker.cast_signed())),
        _ => return refuse(format!("marker {marker:02x}")),
    })
}

fn array(rest: &mut &[u8], length: usize) -> Refused<Value> {
    (0..length).map(|_| next(rest)).collect::<Refused<_>>().map(Value::Array)
}

fn text(rest: &mut &[u8], length: usize) -> Refused<Value> {
    let text = String::from_utf8(take(rest, length)?.to_vec());
    text.map(Value::Str).map_err(|error| Refusal(error.to_string()))
}

fn bytes(length: usize, rest: &mut &[u8]) -> Refused<Value> {
    take(rest, length).map(|bytes| Value::Bin(bytes.to_vec()))
}
