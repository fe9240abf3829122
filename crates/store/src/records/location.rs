//! Location records: the document and the parent of a block, and a hint to its run.

use std::sync::Arc;

use leafbase_model::{BlockId, BlockLocation, DocumentId};

use super::layout::{Value, record};
use crate::msgpack::{DecodeError, Decoded, Decoder, encode_bin};
use crate::order_key;

/// The location of a block, with the order key that leads to its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocationRecord {
    pub(crate) document: DocumentId,
    /// [`BlockId::NIL`] for a root.
    pub(crate) parent: BlockId,
    /// A hint: the order key of the block's run, or a lower one of the same parent.
    pub(crate) order: Arc<[u8]>,
}

impl LocationRecord {
    /// The key of the run that the hint names.
    pub(crate) fn run_key(&self) -> Vec<u8> {
        crate::keyspaces::run(self.document, self.parent, &self.order)
    }

    pub(crate) fn location(&self) -> BlockLocation {
        let parent = (!self.parent.is_nil()).then_some(self.parent);
        BlockLocation { document: self.document, parent }
    }
}

/// The order key decoded last: adjacent blocks are mostly in one run, and then share it.
#[derive(Debug, Default)]
pub(crate) struct OrderCache(Option<Arc<[u8]>>);

impl OrderCache {
    fn order(&mut self, order: &[u8]) -> Decoded<Arc<[u8]>> {
        if let Some(last) = self.0.as_ref().filter(|last| ***last == *order) {
            return Ok(Arc::clone(last));
        }
        // Verified once for each run: equal keys are shared.
        if !order_key::is_valid(order) {
            return Err(DecodeError::Corrupt);
        }
        Ok(Arc::clone(self.0.insert(Arc::from(order))))
    }
}

record! {
    encode / decode_with [] (orders: &mut OrderCache)
    LocationRecord = { LocationRecord { document, parent, order } };
    document(
        |array| array.field(false, |out| document.encode(out)),
        |fields| fields.required(DocumentId::decode)?
    ),
    // The root is the default: most blocks are its children.
    parent(
        |array| array.field(*parent == document.root(), |out| parent.encode(out)),
        |fields| fields.next(BlockId::decode)?.unwrap_or_else(|| document.root())
    ),
    order(
        |array| array.field(false, |out| encode_bin(out, order)),
        |fields| orders.order(fields.required(Decoder::bin)?)?
    ),
}

pub(crate) fn decode(decoder: &mut Decoder<'_>) -> Decoded<LocationRecord> {
    decode_with(decoder, &mut OrderCache::default())
}
