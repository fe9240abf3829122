//! Keys of kept replies: by request, and by time.

use super::{REPLIES, REPLIES_BY_TIME, joined};

/// The hash of a connection's scope, its author and the request key.
pub(crate) type RequestHash = [u8; 32];

pub(crate) fn reply(request: &RequestHash) -> [u8; 33] {
    joined(REPLIES, &[request])
}

pub(crate) fn parse_reply(key: &[u8]) -> Option<RequestHash> {
    key.get(1..)?.try_into().ok()
}

pub(crate) fn reply_by_time(time: [u8; 8], request: &RequestHash) -> [u8; 41] {
    joined(REPLIES_BY_TIME, &[&time, request])
}

/// The first key of this time.
pub(crate) fn replies_from(time: [u8; 8]) -> [u8; 9] {
    joined(REPLIES_BY_TIME, &[&time])
}

/// The request that ends a key by time.
pub(crate) fn parse_reply_by_time(key: &[u8]) -> Option<RequestHash> {
    key.get(9..)?.try_into().ok()
}
