//! The scope guard: what a connection sees. Every operation reads through it, so what is hidden is not found.

use leafbase_model::DocumentRecord;

/// What a connection sees. Sealed: the kinds of connection are Leafbase's own.
pub trait Sight: sealed::Sealed + Clone + Send + Sync + 'static {
    /// Whether the connection may know of this document.
    #[doc(hidden)]
    fn admits(&self, document: &DocumentRecord) -> bool;

    /// Whether every document is admitted, so that none need be looked up to find out.
    #[doc(hidden)]
    fn admits_all(&self) -> bool;
}

/// The sight of a full-space connection: everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Full;

impl Sight for Full {
    fn admits(&self, _: &DocumentRecord) -> bool {
        true
    }

    fn admits_all(&self) -> bool {
        true
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Full {}
}
