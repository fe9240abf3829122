//! Places: which document a block belongs to, whose child it is, and a hint to its run.

use std::sync::Arc;

use leafbase_model::{BlockId, BlockLocation, DocumentId};

use crate::msgpack::{Fault, Pack, Unpack, Unpacked, put_bin};
use crate::order_key;

/// Where a block stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) document: DocumentId,
    /// [`BlockId::NIL`] for a root.
    pub(crate) parent: BlockId,
    /// The order key of the block's run, or a lower one of the same parent.
    pub(crate) order: Arc<[u8]>,
}

impl Place {
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

pub(crate) fn put(out: &mut Vec<u8>, place: &Place) {
    let Place { document, parent, order } = place;
    let mut pack = Pack::new(out);
    pack.field(false, |out| put_bin(out, document.as_bytes()));
    // Most blocks are children of the root.
    pack.field(*parent == document.root(), |out| put_bin(out, parent.as_bytes()));
    pack.field(false, |out| put_bin(out, order)).end();
}

/// The order key met last: blocks that lie side by side are mostly in one run, and then share it.
#[derive(Debug, Default)]
pub(crate) struct Orders(Option<Arc<[u8]>>);

impl Orders {
    fn of(&mut self, order: &[u8]) -> Unpacked<Arc<[u8]>> {
        if let Some(last) = self.0.as_ref().filter(|last| ***last == *order) {
            return Ok(Arc::clone(last));
        }
        if !order_key::is_valid(order) {
            return Err(Fault::Damaged);
        }
        Ok(Arc::clone(self.0.insert(Arc::from(order))))
    }
}

pub(crate) fn read(unpack: &mut Unpack<'_>) -> Unpacked<Place> {
    read_next(unpack, &mut Orders::default())
}

/// Reads one of many places.
pub(crate) fn read_next(unpack: &mut Unpack<'_>, orders: &mut Orders) -> Unpacked<Place> {
    let mut fields = unpack.fields()?;
    let document = DocumentId::from_bytes(fields.required(Unpack::id)?);
    let parent = fields.next(Unpack::id)?.map_or(document.root(), BlockId::from_bytes);
    let order = fields.required(Unpack::bin)?;
    fields.end()?;
    Ok(Place { document, parent, order: orders.of(order)? })
}
