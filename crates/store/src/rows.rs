//! Rows by hand: for tests that break a law, and for fuzzing what reads them.

use leafbase_model::{Error, Result};

use crate::index_bitmap::IndexBitmap;
use crate::keyspaces::{
    self, ASSET_CHUNKS, ASSETS, BLOCK_LOCATIONS, BLOCKS, CHANGES, COLLECTIONS, COMMENTS, DOCUMENTS,
    DOCUMENTS_BY_CREATED, DOCUMENTS_BY_DAY, DOCUMENTS_BY_LOCATION, DOCUMENTS_BY_LOCATION_CREATED,
    DOCUMENTS_BY_LOCATION_MODIFIED, DOCUMENTS_BY_MODIFIED, EDGES, FOLDER_CHILDREN, FOLDERS,
    ITEM_KEYS, LOCATION_COUNTS, LOGBOOK, META, PENDING_ASSETS, SCHEMAS, TASKS, TASKS_BY_DAY,
};
use crate::reader::items::read_entry as read_collection;
use crate::reader::log::ChangeAssembler;
use crate::reader::tasks::read_entry;
use crate::records::block::{self, AuthorCache};
use crate::records::{self, asset, comment, document, folder, location, meta, schema};
use crate::run::RunView;

/// The record under `key` with this body: its checksum holds, whatever the body is.
pub fn seal(key: &[u8], body: &[u8]) -> Vec<u8> {
    records::seal(key, |out| out.extend_from_slice(body))
}

/// The body of the record under `key`.
///
/// # Errors
/// [`leafbase_model::ErrorKind::Corrupted`] if its checksum does not hold.
pub fn body(key: &[u8], value: &[u8]) -> Result<Vec<u8>> {
    records::body(key, value).map(<[u8]>::to_vec)
}

/// Reads the row as what its keyspace holds, to the last byte.
///
/// # Errors
/// [`leafbase_model::ErrorKind::Corrupted`] or [`leafbase_model::ErrorKind::NewerFormat`]; nothing
/// else, and no panic, whatever the bytes are.
pub fn read(key: &[u8], value: &[u8]) -> Result<()> {
    let damaged = || records::damaged(key);
    match keyspaces::of(key) {
        META => match key.get(1..) {
            Some(name) if name == meta::FORMAT.as_bytes() => {
                records::read_prefix(key, value, meta::read_minimum_reader).map(drop)
            }
            Some(name) if name == meta::TOTALS.as_bytes() => {
                records::read(key, value, meta::read_totals).map(drop)
            }
            _ => records::read(key, value, meta::read_space).map(drop),
        },
        BLOCKS => read_run(key, value),
        BLOCK_LOCATIONS => {
            keyspaces::read_block_location(key).ok_or_else(damaged)?;
            records::read(key, value, location::read).map(drop)
        }
        DOCUMENTS => {
            let id = keyspaces::read_document(key).ok_or_else(damaged)?;
            records::read(key, value, |decoder| document::read_counted(id, decoder)).map(drop)
        }
        DOCUMENTS_BY_LOCATION
        | DOCUMENTS_BY_MODIFIED
        | DOCUMENTS_BY_CREATED
        | DOCUMENTS_BY_DAY
        | DOCUMENTS_BY_LOCATION_MODIFIED
        | DOCUMENTS_BY_LOCATION_CREATED => {
            keyspaces::read_document(key).ok_or_else(damaged)?;
            records::read_empty(key, value)
        }
        FOLDERS => {
            let id = keyspaces::read_folder(key).ok_or_else(damaged)?;
            records::read(key, value, |decoder| folder::read(id, decoder)).map(drop)
        }
        FOLDER_CHILDREN => {
            keyspaces::read_folder_child(key).ok_or_else(damaged)?;
            records::read_empty(key, value)
        }
        LOCATION_COUNTS => records::read(key, value, document::read_count).map(drop),
        TASKS => read_entry(key, value).map(drop),
        TASKS_BY_DAY | LOGBOOK => {
            keyspaces::read_listed_task(key).ok_or_else(damaged)?;
            records::read_empty(key, value)
        }
        EDGES => {
            keyspaces::read_edge(key).ok_or_else(damaged)?;
            records::read_empty(key, value)
        }
        COMMENTS => {
            let (_, _, id) = keyspaces::read_comment(key).ok_or_else(damaged)?;
            records::read(key, value, |decoder| comment::read(id, decoder)).map(drop)
        }
        ASSETS => {
            let id = keyspaces::read_asset(key).ok_or_else(damaged)?;
            records::read(key, value, |decoder| asset::read(id, decoder)).map(drop)
        }
        ASSET_CHUNKS => {
            keyspaces::read_chunk(key).ok_or_else(damaged)?;
            records::body(key, value).map(drop)
        }
        PENDING_ASSETS => {
            keyspaces::read_asset(key).ok_or_else(damaged)?;
            records::read_empty(key, value)
        }
        SCHEMAS => {
            keyspaces::read_schema(key).ok_or_else(damaged)?;
            records::read(key, value, schema::read_numbered).map(drop)
        }
        COLLECTIONS => read_collection(key, value).map(drop),
        ITEM_KEYS => {
            keyspaces::read_item_key(key).ok_or_else(damaged)?;
            IndexBitmap::read(key, value).map(drop)
        }
        CHANGES => ChangeAssembler::default().take(key, value).map(drop),
        _ => Err(Error::corrupted(keyspaces::RowName(key))),
    }
}

fn read_run(key: &[u8], value: &[u8]) -> Result<()> {
    keyspaces::read_run(key).ok_or_else(|| records::damaged(key))?;
    let mut authors = AuthorCache::default();
    for (id, record) in RunView::read(key, value)?.entries() {
        block::decode(id, record, &mut authors).map_err(|fault| records::fault(key, fault))?;
    }
    Ok(())
}
