//! What is known of a key.

/// The value of a key, or that it does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KnownEntry<V> {
    Present(V),
    Absent,
}

impl<V> KnownEntry<V> {
    /// The value, if the key exists.
    pub(crate) fn value(self) -> Option<V> {
        match self {
            Self::Present(value) => Some(value),
            Self::Absent => None,
        }
    }
}

impl<V> From<Option<V>> for KnownEntry<V> {
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Absent, Self::Present)
    }
}
