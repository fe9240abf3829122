//! Typed IDs: 16 bytes, written as 26 characters of Crockford base 32 (ULID).

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::{ChangeToken, Error, Result, Timestamp};

/// The source of new IDs and tokens. The default source of the engine returns ULIDs with fresh
/// randomness, so that IDs reveal no counter.
pub trait IdSource: Send + Sync {
    /// Returns 16 unique bytes, big-endian.
    fn new_id(&self, now: Timestamp) -> [u8; 16];

    /// Returns the token of a new change, which no other write may have had: random, and never
    /// derived from what is written. By default it is made of a new ID.
    fn new_token(&self, now: Timestamp) -> ChangeToken {
        ChangeToken::from_id(self.new_id(now))
    }
}

impl<T: IdSource + ?Sized> IdSource for Arc<T> {
    fn new_id(&self, now: Timestamp) -> [u8; 16] {
        (**self).new_id(now)
    }

    fn new_token(&self, now: Timestamp) -> ChangeToken {
        (**self).new_token(now)
    }
}

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

fn encode(bytes: [u8; 16]) -> [u8; 26] {
    let number = u128::from_be_bytes(bytes);
    let mut text = [b'0'; 26];
    // 26 digits of 5 bits encode 130 bits: the first digit has only the upper 3 bits of the number.
    for (index, character) in text.iter_mut().enumerate() {
        let digit = (number >> (5 * (25 - index))) & 31;
        let encoded = usize::try_from(digit).ok().and_then(|digit| ALPHABET.get(digit));
        debug_assert!(encoded.is_some(), "5 bits index an alphabet of 32 characters");
        *character = encoded.copied().unwrap_or(b'0');
    }
    text
}

fn as_str(text: &[u8; 26]) -> &str {
    debug_assert!(text.is_ascii(), "the alphabet of IDs is ASCII");
    std::str::from_utf8(text).unwrap_or("")
}

fn decode(text: &str) -> Option<[u8; 16]> {
    // The first character encodes 3 bits: a higher digit would overflow 128 bits.
    debug_assert!(ALPHABET.is_ascii(), "uppercasing maps ASCII to ASCII");
    if text.len() != 26 || text.as_bytes().first().is_none_or(|first| *first > b'7') {
        return None;
    }
    let mut number = 0_u128;
    for character in text.bytes() {
        let digit = ALPHABET.iter().position(|known| *known == character.to_ascii_uppercase())?;
        number = (number << 5) | u128::try_from(digit).ok()?;
    }
    let bytes = number.to_be_bytes();
    debug_assert!(as_str(&encode(bytes)).eq_ignore_ascii_case(text), "encoding is a round trip");
    Some(bytes)
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name([u8; 16]);

        /// Compares as numbers, which is equivalent to comparing the bytes, and faster.
        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                // One comparison of integers instead of a loop over bytes.
                u128::from_be_bytes(self.0).cmp(&u128::from_be_bytes(other.0))
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl $name {
            /// The ID of no object. Malformed IDs in requests parse as this one, so that they are
            /// not found like any unknown ID.
            pub const NIL: Self = Self([0; 16]);

            /// The ID with these 16 bytes, big-endian.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// The 16 bytes, big-endian; they sort like the text.
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0
            }

            /// A reference to the bytes.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }

            /// Whether this is [`Self::NIL`].
            pub fn is_nil(self) -> bool {
                self == Self::NIL
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(as_str(&encode(self.0)))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            /// Parses the 26 characters, case-insensitively.
            fn from_str(text: &str) -> Result<Self> {
                decode(text)
                    .map(Self)
                    .ok_or_else(|| Error::validation("expected an ID of 26 characters (ULID)"))
            }
        }

        impl From<$name> for serde_json::Value {
            /// The text, as the value of a property of an item, say.
            fn from(id: $name) -> Self {
                Self::String(as_str(&encode(id.0)).to_owned())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.serialize_str(as_str(&encode(self.0)))
                } else {
                    serializer.serialize_bytes(&self.0)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    deserializer.deserialize_str(IdVisitor).map(Self)
                } else {
                    // Binary formats store the 16 bytes.
                    deserializer.deserialize_bytes(IdVisitor).map(Self)
                }
            }
        }
    )*};
}

ids! {
    /// The ID of a block.
    BlockId
    /// The ID of a document, equal to the ID of its root block.
    DocumentId
    /// The ID of a folder.
    FolderId
    /// The ID of a comment.
    CommentId
    /// The ID of an uploaded file.
    AssetId
    /// The ID of a space.
    SpaceId
}

impl From<DocumentId> for BlockId {
    /// The root block of the document.
    fn from(document: DocumentId) -> Self {
        Self(document.0)
    }
}

impl DocumentId {
    /// The document with the root block `root`.
    pub const fn of_root(root: BlockId) -> Self {
        Self(root.0)
    }

    /// The root block of the document.
    pub const fn root(self) -> BlockId {
        BlockId(self.0)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = [u8; 16];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an ID")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        // A scoped caller must not distinguish malformed IDs from unknown ones: both parse as
        // [`BlockId::NIL`].
        Ok(decode(text).unwrap_or([0; 16]))
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        bytes.try_into().map_err(|_| E::invalid_length(bytes.len(), &"16 bytes"))
    }
}
