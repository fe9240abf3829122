//! Typed IDs: 16 bytes, written as 26 characters of Crockford base 32 (ULID).

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::{Error, Result, Timestamp};

/// Where new IDs come from. The engine's own source gives ULIDs with fresh randomness for each ID:
/// no counter shows in them.
pub trait IdSource: Send + Sync {
    /// 16 bytes that no one has been given before, big-endian.
    fn new_id(&self, now: Timestamp) -> [u8; 16];
}

impl<T: IdSource + ?Sized> IdSource for Arc<T> {
    fn new_id(&self, now: Timestamp) -> [u8; 16] {
        (**self).new_id(now)
    }
}

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

fn write_text(bytes: [u8; 16]) -> [u8; 26] {
    let number = u128::from_be_bytes(bytes);
    let mut text = [b'0'; 26];
    for (place, letter) in text.iter_mut().enumerate() {
        let shift = 5 * (25 - place);
        let digit = usize::try_from((number >> shift) & 31).unwrap_or(0);
        *letter = ALPHABET.get(digit).copied().unwrap_or(b'0');
    }
    text
}

fn read_text(text: &str) -> Option<[u8; 16]> {
    // The first letter holds 3 bits: above 7 the number would not fit.
    if text.len() != 26 || text.as_bytes().first().is_none_or(|first| *first > b'7') {
        return None;
    }
    let mut number = 0_u128;
    for letter in text.bytes() {
        let digit = ALPHABET.iter().position(|known| *known == letter.to_ascii_uppercase())?;
        number = (number << 5) | u128::try_from(digit).ok()?;
    }
    Some(number.to_be_bytes())
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name([u8; 16]);

        /// As numbers, which compare like their bytes, but at once.
        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                u128::from_be_bytes(self.0).cmp(&u128::from_be_bytes(other.0))
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl $name {
            /// The ID that nothing bears. A malformed ID in a request reads as this one, so that it
            /// is not found, like any other unknown ID.
            pub const NIL: Self = Self([0; 16]);

            /// The ID of these 16 bytes, big-endian.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// The 16 bytes, big-endian: they sort as the text does.
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0
            }

            /// The bytes, borrowed.
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
                f.pad(std::str::from_utf8(&write_text(self.0)).unwrap_or_default())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            /// Reads the 26 characters, in either case.
            fn from_str(text: &str) -> Result<Self> {
                read_text(text).map(Self).ok_or_else(|| Error::validation("expected an ID of 26 characters (ULID)"))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.serialize_str(std::str::from_utf8(&write_text(self.0)).unwrap_or_default())
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
                    deserializer.deserialize_bytes(IdVisitor).map(Self)
                }
            }
        }
    )*};
}

ids! {
    /// A block.
    BlockId
    /// A document: the ID of its root block.
    DocumentId
    /// A folder.
    FolderId
    /// A comment.
    CommentId
    /// An uploaded file.
    AssetId
    /// A space.
    SpaceId
}

impl From<DocumentId> for BlockId {
    /// The document's root block.
    fn from(document: DocumentId) -> Self {
        Self(document.0)
    }
}

impl DocumentId {
    /// The document whose root block is `root`.
    pub const fn of_root(root: BlockId) -> Self {
        Self(root.0)
    }

    /// The document's root block.
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
        // Malformed and unknown must look alike to a caller who may not know: both read as an ID
        // that nothing bears.
        Ok(read_text(text).unwrap_or_default())
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        bytes.try_into().map_err(|_| E::invalid_length(bytes.len(), &"16 bytes"))
    }
}
