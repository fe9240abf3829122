//! Reads and writes of whole documents, for programs that import, export or mirror them.

pub(crate) mod document_factory;
pub(crate) mod space_view;

use std::sync::Arc;

use leafbase_model::{
    AssetId, BlockData, BlockId, Change, DocumentId, Edit, Error, ErrorKind, Limits, Result,
};
use leafbase_store::EdgeEnd;

use crate::core::access::Full;
use crate::core::change_recorder::ChangeRecorder;
use crate::core::connection::Connection;
use crate::core::edges;
use space_view::SpaceView;

/// Runs `read` on one version of the space, which does not change meanwhile. Others may write; the
/// space's file grows by the data that they replace until `read` returns.
///
/// ```
/// use leafbase::{Space, bulk};
/// # fn main() -> leafbase::Result<()> {
/// let notes = Space::in_memory()?.connect();
/// let trip = notes.create_document("Trip")?.id();
/// notes.insert_markdown("- [ ] passport", trip)?;
/// let (title, blocks) = bulk::read(&notes, |view| {
///     let title = view.document(trip)?.map(|row| row.title);
///     Ok((title, view.subtree(trip.root())?.0.len()))
/// })?;
/// assert_eq!((title.as_deref(), blocks), (Some("Trip"), 2)); // the root and its child
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The errors of `read`, and of the store.
pub fn read<T>(
    notes: &Connection<Full>,
    read: impl FnOnce(&SpaceView<'_>) -> Result<T>,
) -> Result<T> {
    notes.operation("bulk_read").read(|tree| read(&SpaceView::new(tree)?))
}

/// Runs `plan` in a write transaction and applies the edits that it returns, with what follows from
/// them: one change, all or nothing. `plan` may run several times: when a write that it was based
/// on fails, it runs again on the version before.
///
/// The edits are checked against the state they replace, not against the rules of trees and
/// requests: take them from a [`DocumentFactory`](crate::bulk::DocumentFactory), or derive them
/// from records that a [`SpaceView`] returned.
///
/// ```
/// use leafbase::{BlockData, BlockDraft, DocumentId, Location, Space, bulk};
/// # fn main() -> leafbase::Result<()> {
/// let notes = Space::in_memory()?.connect();
/// let factory = bulk::DocumentFactory::new(&notes);
/// let content = vec![BlockDraft::new(BlockData::text("passport"))];
/// let page = BlockDraft::new(BlockData::page("Trip")).with_content(content);
/// let trip = DocumentId::from_bytes(factory.new_id());
/// let made = factory.document(trip, page, Location::Unsorted, None)?;
/// let ((), change) = bulk::write(&notes, |_| Ok((made.edits.clone(), ())))?;
/// assert_eq!(change.unwrap().documents, [trip]);
/// assert_eq!(notes.content_markdown(trip)?, "passport");
/// # Ok(())
/// # }
/// ```
///
/// Returns the value of `plan` and the change; `None` if there was no edit.
///
/// # Errors
/// The errors of `plan`, and of the store. Then nothing is written.
pub fn write<T>(
    notes: &Connection<Full>,
    mut plan: impl FnMut(&SpaceView<'_>) -> Result<(Vec<Edit>, T)>,
) -> Result<(T, Option<Change>)> {
    notes.operation("bulk_write").write(|transaction| {
        let (edits, value) = transaction.plan(|tree, _| plan(&SpaceView::new(tree)?))?;
        if !edits.is_empty() {
            transaction.apply(edits)?;
        }
        Ok(value)
    })
}

/// Runs `work` with a connection as `notes`, and returns the numbers of the changes that were made
/// by it, ascending, for [`Connection::undo`]. They are known after an error of `work`, too.
///
/// ```
/// use leafbase::{Space, bulk};
/// # fn main() -> leafbase::Result<()> {
/// let notes = Space::in_memory()?.connect();
/// notes.create_document("Trip")?;
/// let (made, numbers) = bulk::record(&notes, |notes| notes.create_document("Packing"));
/// assert_eq!((made?.title.as_str(), numbers), ("Packing", vec![2]));
/// # Ok(())
/// # }
/// ```
pub fn record<T>(
    notes: &Connection<Full>,
    work: impl FnOnce(&Connection<Full>) -> T,
) -> (T, Vec<u64>) {
    let recorder = Arc::new(ChangeRecorder::default());
    let done = work(&notes.recorded_by(Arc::clone(&recorder)));
    (done, recorder.take().into_iter().map(|change| change.sequence).collect())
}

/// Sets records of the host for documents: bytes under a name, one for each document, and one of
/// the space as a whole under the zero ID. `None` removes one. They are erased with their document,
/// so that a purge leaves nothing of them; they are not part of the change log, nor of its
/// followers.
///
/// ```
/// use std::ops::ControlFlow;
/// use leafbase::{Space, bulk};
/// # fn main() -> leafbase::Result<()> {
/// let notes = Space::in_memory()?.connect();
/// let trip = notes.create_document("Trip")?.id();
/// bulk::put_host_records(&notes, "reader", &[(trip, Some(b"page 3".to_vec()))])?;
/// let mut found = Vec::new();
/// bulk::read(&notes, |view| {
///     view.host_records("reader", &mut |document, value| {
///         found.push((document, value.to_vec()));
///         ControlFlow::Continue(())
///     })
/// })?;
/// assert_eq!(found, [(trip, b"page 3".to_vec())]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`ErrorKind::LimitExceeded`] for a name of more than [`Limits::HOST_RECORD_NAME_BYTES`] bytes
/// and a record of more than [`Limits::HOST_RECORD_BYTES`] bytes; errors of the store. Records of
/// documents that do not exist are left out.
pub fn put_host_records(
    notes: &Connection<Full>,
    name: &str,
    records: &[(DocumentId, Option<Vec<u8>>)],
) -> Result<()> {
    if name.len() > Limits::HOST_RECORD_NAME_BYTES {
        return Err(Error::limit("bytes of a name", Limits::HOST_RECORD_NAME_BYTES, name.len()));
    }
    for (_, value) in records {
        let found = value.as_ref().map_or(0, Vec::len);
        if found > Limits::HOST_RECORD_BYTES {
            return Err(Error::limit("bytes of a host record", Limits::HOST_RECORD_BYTES, found));
        }
    }
    let ((), _) = notes.operation("put_host_records").write(|transaction| {
        for (document, value) in records {
            match transaction.put_host_record(*document, name, value.as_deref()) {
                // Purged since the host read it.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                written => written?,
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// Updates the search index with what was written, as one step. Searches find it anyway; after a
/// bulk write the first one would otherwise wait for it. Does nothing without the feature `search`.
///
/// ```
/// use leafbase::{Space, bulk};
/// # fn main() -> leafbase::Result<()> {
/// let notes = Space::in_memory()?.connect();
/// notes.create_document("Trip")?;
/// bulk::index(&notes)?;
/// # Ok(())
/// # }
/// ```
///
/// # Cost
/// Grows with the documents written since the last update.
///
/// # Errors
/// Errors of the store.
pub fn index(notes: &Connection<Full>) -> Result<()> {
    notes.space.index_bulk()
}

/// Passes each block that `data` links to, in its text or as a link of its own, to `visit`.
///
/// ```
/// use leafbase::{BlockData, BlockId, bulk};
/// let mut linked = Vec::new();
/// let data = BlockData::text(format!("see [it](block://{})", BlockId::NIL));
/// bulk::linked_blocks(&data, &mut |block| linked.push(block));
/// assert_eq!(linked, []); // there is no such block
/// ```
pub fn linked_blocks(data: &BlockData, visit: &mut dyn FnMut(BlockId)) {
    edges::edges(data, &mut |edge| {
        if let EdgeEnd::Block(block) = edge.to {
            visit(block);
        }
    });
}

/// Passes each uploaded file that `data` shows to `visit`.
///
/// ```
/// use leafbase::{BlockData, bulk};
/// bulk::shown_files(&BlockData::text("passport"), &mut |_| unreachable!());
/// ```
pub fn shown_files(data: &BlockData, visit: &mut dyn FnMut(AssetId)) {
    edges::files(data, visit);
}
