//! The visibility of one call. Every read of an operation goes through it, so that hidden data is
//! indistinguishable from data that does not exist.

use std::borrow::Cow;
use std::sync::Arc;

use leafbase_markdown::{self as markdown, Mention, MentionTarget, Rewritten};
use leafbase_model::{BlockId, DocumentId, DocumentRecord, Error, ErrorKind, Location};

use crate::core::scope_roots::ScopeRoots;

/// What one call may see, fixed when the call begins.
#[derive(Clone)]
pub enum Visibility {
    /// Every document.
    All,
    /// These documents and pages, except those in the trash.
    Roots(Arc<ScopeRoots>),
}

impl std::fmt::Debug for Visibility {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The IDs of a scope stay out of logs.
        f.write_str(if self.is_unrestricted() { "All" } else { "Roots" })
    }
}

impl Visibility {
    pub(crate) const fn is_unrestricted(&self) -> bool {
        matches!(self, Self::All)
    }

    /// Whether both show the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, Self::All) => true,
            (Self::Roots(one), Self::Roots(other)) => Arc::ptr_eq(one, other) || one == other,
            _ => false,
        }
    }

    /// Whether the call may see this document.
    pub(crate) fn allows(&self, document: &DocumentRecord) -> bool {
        self.allows_at(document.id, document.location)
    }

    /// Whether the call may see a document with this ID at this location.
    pub(crate) fn allows_at(&self, document: DocumentId, location: Location) -> bool {
        match self {
            Self::All => true,
            Self::Roots(roots) => {
                !matches!(location, Location::Trash | Location::Inbox) && roots.contains(document)
            }
        }
    }

    /// The roots of the scope, trashed ones included; `None` if the call may see the whole space.
    pub(crate) fn roots(&self) -> Option<&ScopeRoots> {
        match self {
            Self::All => None,
            Self::Roots(roots) => Some(roots),
        }
    }

    /// Whether the scope names single pages.
    pub(crate) fn has_pages(&self) -> bool {
        self.roots().is_some_and(|roots| !roots.pages.is_empty())
    }

    /// Whether the scope names `block` as a page.
    pub(crate) fn names_page(&self, block: BlockId) -> bool {
        self.roots().is_some_and(|roots| roots.pages.contains(&block))
    }

    /// Whether the scope contains this document, in the trash or not.
    pub(crate) fn contains(&self, document: DocumentId) -> bool {
        match self {
            Self::All => true,
            Self::Roots(roots) => roots.contains(document),
        }
    }

    /// The error as a scoped call may report it. Errors of the store name records, which may be
    /// hidden, so their message is replaced; in other messages block links are redacted, whether
    /// their target is visible or not.
    pub(crate) fn redact_error(&self, error: Error) -> Error {
        if self.is_unrestricted() {
            return error;
        }
        let message = match error.kind() {
            ErrorKind::Corrupted => "the space is damaged: the host can check it",
            ErrorKind::Storage => "the space could not be read or written",
            _ => return without_block_links(error),
        };
        Error::new(error.kind(), message)
    }
}

fn without_block_links(error: Error) -> Error {
    let redact = |mention: &Mention<'_>| {
        matches!(mention.named, MentionTarget::Block(_))
            .then(|| Rewritten::Verbatim("invalid:out_of_scope".to_owned()))
    };
    match markdown::rewrite_mentions(error.message(), &mut |mention| redact(mention)) {
        Cow::Owned(message) => Error::new(error.kind(), message).at(error.path()),
        Cow::Borrowed(_) => error,
    }
}
