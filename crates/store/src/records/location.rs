//! Places: which document a block belongs to, whose child it is, and a hint to its run.

use std::sync::Arc;

use leafbase_model::{BlockId, BlockLocation, DocumentId};

use crate::msgpack::{ArrayEncoder, DecodeError, Decoded, Decoder, put_bin};
use crate::order_key;

/// Where a block stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocationRecord {
    pub(crate) document: DocumentId,
    /// [`BlockId::NIL`] for a root.
    pub(crate) parent: BlockId,
    /// The order key of the block's run, or a lower one of the same parent.
    pub(crate) order: Arc<[u8]>,
}

impl LocationRecord {
    /// The key of the run that the hint names.
    pub(crate) fn run_key(&self) -> Vec<u8> {
        crate::keyspaces::run(self.document, self.parent, &self.order)
    }

    pub(crate) fn location(&self) -> BlockLocation {
        location(self.document, self.parent)
    }
}

/// `parent` is [`BlockId::NIL`] for a root.
pub(crate) fn location(document: DocumentId, parent: BlockId) -> BlockLocation {
    BlockLocation { document, parent: (!parent.is_nil()).then_some(parent) }
}

pub(crate) fn put(out: &mut Vec<u8>, location: &LocationRecord) {
    let LocationRecord { document, parent, order } = location;
    let mut pack = ArrayEncoder::new(out);
    pack.field(false, |out| put_bin(out, document.as_bytes()));
    // Most blocks are children of the root.
    pack.field(*parent == document.root(), |out| put_bin(out, parent.as_bytes()));
    pack.field(false, |out| put_bin(out, order)).end();
}

/// The order key met last: blocks that lie side by side are mostly in one run, and then share it.
#[derive(Debug, Default)]
pub(crate) struct OrderCache(Option<Arc<[u8]>>);

impl OrderCache {
    fn of(&mut self, order: &[u8]) -> Decoded<Arc<[u8]>> {
        if let Some(last) = self.0.as_ref().filter(|last| ***last == *order) {
            return Ok(Arc::clone(last));
        }
        if !order_key::is_valid(order) {
            return Err(DecodeError::Corrupt);
        }
        Ok(Arc::clone(self.0.insert(Arc::from(order))))
    }
}

pub(crate) fn read(decoder: &mut Decoder<'_>) -> Decoded<LocationRecord> {
    read_next(decoder, &mut OrderCache::default())
}

/// Reads one of many places.
pub(crate) fn read_next(
    decoder: &mut Decoder<'_>,
    order_cache: &mut OrderCache,
) -> Decoded<LocationRecord> {
    let mut fields = decoder.fields()?;
    let document = DocumentId::from_bytes(fields.required(Decoder::id)?);
    let parent = fields.next(Decoder::id)?.map_or(document.root(), BlockId::from_bytes);
    let order = fields.required(Decoder::bin)?;
    fields.end()?;
    Ok(LocationRecord { document, parent, order: order_cache.of(order)? })
}
