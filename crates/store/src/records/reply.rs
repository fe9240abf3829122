//! Records of kept replies.

use leafbase_model::{DocumentId, Timestamp};

use super::layout::record;

/// What is kept of a request with a key: until it expires, the same request is not done again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptReply {
    /// When the request was done.
    pub at: Timestamp,
    /// The hash of the request.
    pub body: [u8; 32],
    /// Its reply as JSON; none once a purge erased it.
    pub reply: Option<String>,
    /// The documents that the reply shows, of a request within a scope: without them in the scope
    /// it is not shown again.
    pub documents: Vec<DocumentId>,
}

record! {
    KeptReply = { KeptReply { at, body, reply, documents } };
    at(required), body(required), reply, documents,
}
