//! Places: which document a block belongs to, whose child it is, and a hint to its run.

use std::sync::Arc;

use leafbase_model::{BlockId, DocumentId};

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
}

pub(crate) fn put(out: &mut Vec<u8>, place: &Place) {
    let Place { document, parent, order } = place;
    let mut pack = Pack::new(out);
    pack.field(false, |out| put_bin(out, document.as_bytes()));
    // Most blocks are children of the root.
    pack.field(*parent == document.root(), |out| put_bin(out, parent.as_bytes()));
    pack.field(false, |out| put_bin(out, order)).end();
}

pub(crate) fn read(unpack: &mut Unpack<'_>) -> Unpacked<Place> {
    let mut fields = unpack.fields()?;
    let document = DocumentId::from_bytes(fields.required(Unpack::id)?);
    let parent = fields.next(Unpack::id)?.map_or(document.root(), BlockId::from_bytes);
    let order = fields.required(Unpack::bin)?;
    fields.end()?;
    if order_key::is_valid(order) {
        Ok(Place { document, parent, order: Arc::from(order) })
    } else {
        Err(Fault::Damaged)
    }
}
