//! The visibility of one call. Every read of an operation goes through it, so that hidden data is
//! indistinguishable from data that does not exist.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use leafbase_markdown::{self as markdown, Mention, MentionTarget, Rewritten};
use leafbase_model::{DocumentId, DocumentRecord, Error, ErrorKind, Location};

/// The documents that one call may see, fixed when the call begins.
#[derive(Clone)]
pub enum Visibility {
    /// Every document.
    All,
    /// These documents, except those in the trash.
    Documents(Arc<BTreeSet<DocumentId>>),
}

impl std::fmt::Debug for Visibility {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The IDs of a scope stay out of logs.
        f.write_str(if self.is_unrestricted() { "All" } else { "Documents" })
    }
}

impl Visibility {
    pub(crate) const fn is_unrestricted(&self) -> bool {
        matches!(self, Self::All)
    }

    /// Whether both are the same documents.
    #[cfg(feature = "search")]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, Self::All) => true,
            (Self::Documents(one), Self::Documents(other)) => {
                Arc::ptr_eq(one, other) || one == other
            }
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
            Self::Documents(documents) => {
                !matches!(location, Location::Trash | Location::Inbox)
                    && documents.contains(&document)
            }
        }
    }

    /// The documents of the scope, in the trash or not. None if the call may see the whole space.
    pub(crate) fn documents(&self) -> Option<&BTreeSet<DocumentId>> {
        match self {
            Self::All => None,
            Self::Documents(documents) => Some(documents),
        }
    }

    /// Whether the scope contains this document, in the trash or not.
    pub(crate) fn contains(&self, document: DocumentId) -> bool {
        match self {
            Self::All => true,
            Self::Documents(documents) => documents.contains(&document),
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
