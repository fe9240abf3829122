//! Positions in the change log, and the tokens that tell one history of a space from another.

use std::fmt;
use std::str::FromStr;

use serde::ser::{Serialize, Serializer};

use crate::json::from_text;
use crate::{Error, Result};

/// The random token of a change, which is never derived from its content.
///
/// Sequence numbers are reused when a backup is restored: the next write gets a number that another
/// write had before. The token tells the two apart. Written as 16 lowercase hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChangeToken(u64);

/// Hexadecimal digits of a token.
const TOKEN_DIGITS: usize = 16;

impl ChangeToken {
    /// The token with this value.
    pub const fn from_u64(value: u64) -> Self {
        Self(value)
    }

    /// Its value.
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    /// A token made of a new ID, which no object may have: it is as random as the ID's more random
    /// half.
    pub const fn from_id(id: [u8; 16]) -> Self {
        let id = u128::from_be_bytes(id);
        #[expect(clippy::cast_possible_truncation, reason = "each half has 64 bits")]
        Self((id >> 64) as u64 ^ id as u64)
    }
}

impl fmt::Display for ChangeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0width$x}", self.0, width = TOKEN_DIGITS)
    }
}

impl fmt::Debug for ChangeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ChangeToken {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let token = (text.len() == TOKEN_DIGITS && text.bytes().all(is_hex))
            .then(|| u64::from_str_radix(text, 16).ok())
            .flatten();
        token.map(Self).ok_or_else(|| {
            Error::validation("expected the token of a change: 16 lowercase hexadecimal digits")
        })
    }
}

impl Serialize for ChangeToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A position in the change log of a space: right after a change, or at the beginning.
///
/// It has the token of the change, so that a follower of the log notices when the space has another
/// history than the one it followed, as after a backup was restored: the position is refused with
/// [`crate::ErrorKind::HistoryGone`]. A position made of a sequence number alone is not compared.
///
/// Written as the sequence number, with a colon and the token where it has one:
/// `42:9f86d081884c7d65`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChangePosition {
    sequence: u64,
    token: Option<ChangeToken>,
}

impl ChangePosition {
    /// The position before the first change.
    pub const BEGINNING: Self = Self { sequence: 0, token: None };

    /// The position after the change with this sequence number and token.
    pub const fn new(sequence: u64, token: ChangeToken) -> Self {
        Self { sequence, token: Some(token) }
    }

    /// The sequence number of the change before it; 0 at the beginning.
    pub const fn sequence(self) -> u64 {
        self.sequence
    }

    /// The token of the change before it, if it is to be compared.
    pub const fn token(self) -> Option<ChangeToken> {
        self.token
    }
}

impl From<u64> for ChangePosition {
    /// The position after the change `sequence`, whichever history it is of.
    fn from(sequence: u64) -> Self {
        Self { sequence, token: None }
    }
}

impl fmt::Display for ChangePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.token {
            Some(token) => write!(f, "{}:{token}", self.sequence),
            None => write!(f, "{}", self.sequence),
        }
    }
}

impl FromStr for ChangePosition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (sequence, token) = match text.split_once(':') {
            Some((sequence, token)) => (sequence, Some(token.parse()?)),
            None => (text, None),
        };
        let is_number = sequence.bytes().all(|byte| byte.is_ascii_digit());
        let sequence = sequence.parse().ok().filter(|_| is_number).ok_or_else(|| {
            Error::validation("expected a position in the change log, such as 42:9f86d081884c7d65")
        })?;
        Ok(Self { sequence, token })
    }
}

impl Serialize for ChangePosition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

from_text!(
    ChangeToken: "the token of a change",
    ChangePosition: "a position in the change log",
);
