//! Raw rows: for tests that break an invariant, and for fuzzing decoders.

use leafbase_model::{Error, Result};

use crate::change_parts::ChangeParts;
use crate::index_bitmap::IndexBitmap;
use crate::keyspaces::{
    self, ASSET_CHUNKS, ASSETS, BLOCK_LOCATIONS, BLOCKS, CHANGES, COLLECTIONS, COMMENT_BLOCKS,
    COMMENTS, DOCUMENTS, DOCUMENTS_BY_CREATED, DOCUMENTS_BY_DAY, DOCUMENTS_BY_LOCATION,
    DOCUMENTS_BY_LOCATION_CREATED, DOCUMENTS_BY_LOCATION_MODIFIED, DOCUMENTS_BY_MODIFIED,
    DOCUMENTS_BY_TAG, DOCUMENTS_BY_TITLE, EDGES, EMBEDDING_DIGESTS, EMBEDDING_MODELS, EMBEDDINGS,
    FOLDER_CHILDREN, FOLDERS, HOST_RECORDS, ITEM_KEYS, LOCATION_COUNTS, LOGBOOK, META,
    PENDING_ASSETS, REPLIES, REPLIES_BY_TIME, SCHEMAS, SCOPES, TAG_COUNTS, TAGGED_BLOCKS, TASKS,
    TASKS_BY_DAY,
};
use crate::reader::items::parse_entry as read_collection;
use crate::reader::tags;
use crate::reader::tasks::{parse_entry, parse_listed};
use crate::records::block::{self, AuthorCache};
use crate::records::embeddings::{EmbeddingModelRecord, read_bundle, read_digest};
use crate::records::layout::Value;
use crate::records::meta::{DroppedChange, SpaceMeta, SpaceTotals};
use crate::records::reply::KeptReply;
use crate::records::upload::PendingUpload;
use crate::records::{self, asset, comment, document, folder, location, meta, schema};
use crate::run::RunView;

/// Tag and name of each keyspace, in the order of their keys.
pub fn keyspaces() -> Vec<(u8, &'static str)> {
    keyspaces::IN_USE.iter().map(|keyspace| (keyspace.tag, keyspace.name)).collect()
}

/// The record under `key` with this body and a valid checksum.
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

/// Decodes a row as its keyspace does, to the last byte.
///
/// # Errors
/// [`leafbase_model::ErrorKind::Corrupted`] or [`leafbase_model::ErrorKind::NewerFormat`]; never
/// another error or a panic, whatever the bytes are.
pub fn read(key: &[u8], value: &[u8]) -> Result<()> {
    let damaged = || records::corrupt(key);
    match keyspaces::of(key) {
        META => read_meta(key, value),
        BLOCKS => read_run(key, value),
        BLOCK_LOCATIONS => {
            keyspaces::parse_block_location(key).ok_or_else(damaged)?;
            records::decode(key, value, location::decode).map(drop)
        }
        DOCUMENTS | DOCUMENTS_BY_MODIFIED | DOCUMENTS_BY_LOCATION_MODIFIED => {
            document::decode_row(key, value).map(drop)
        }
        DOCUMENTS_BY_LOCATION
        | DOCUMENTS_BY_CREATED
        | DOCUMENTS_BY_DAY
        | DOCUMENTS_BY_LOCATION_CREATED
        | DOCUMENTS_BY_TAG
        | DOCUMENTS_BY_TITLE => {
            keyspaces::parse_document(key).ok_or_else(damaged)?;
            records::decode_empty(key, value)
        }
        FOLDERS => {
            let id = keyspaces::parse_folder(key).ok_or_else(damaged)?;
            records::decode(key, value, |decoder| folder::decode(id, decoder)).map(drop)
        }
        FOLDER_CHILDREN => {
            keyspaces::parse_folder_child(key).ok_or_else(damaged)?;
            records::decode_empty(key, value)
        }
        LOCATION_COUNTS => records::decode(key, value, document::decode_count).map(drop),
        TAGGED_BLOCKS => tags::parse_entry(key, value).map(drop),
        TAG_COUNTS => {
            keyspaces::parse_tag_count(key).ok_or_else(damaged)?;
            records::decode(key, value, document::decode_count).map(drop)
        }
        TASKS => parse_entry(key, value).map(drop),
        TASKS_BY_DAY | LOGBOOK => parse_listed(key, value).map(drop),
        EDGES => {
            keyspaces::parse_edge(key).ok_or_else(damaged)?;
            records::decode_empty(key, value)
        }
        COMMENTS => {
            let (_, _, id) = keyspaces::parse_comment(key).ok_or_else(damaged)?;
            records::decode(key, value, |decoder| comment::decode(id, decoder)).map(drop)
        }
        COMMENT_BLOCKS => {
            keyspaces::parse_comment_block(key).ok_or_else(damaged)?;
            records::decode(key, value, comment::decode_block).map(drop)
        }
        ASSETS => {
            let id = keyspaces::parse_asset(key).ok_or_else(damaged)?;
            records::decode(key, value, |decoder| asset::decode(id, decoder)).map(drop)
        }
        ASSET_CHUNKS => {
            keyspaces::parse_chunk(key).ok_or_else(damaged)?;
            records::body(key, value).map(drop)
        }
        PENDING_ASSETS => {
            keyspaces::parse_asset(key).ok_or_else(damaged)?;
            PendingUpload::read(key, value).map(drop)
        }
        SCHEMAS => {
            keyspaces::parse_schema(key).ok_or_else(damaged)?;
            records::decode(key, value, schema::decode_indexed).map(drop)
        }
        COLLECTIONS => read_collection(key, value).map(drop),
        ITEM_KEYS => read_item_key(key, value),
        CHANGES => match ChangeParts::default().push(key, value)? {
            Some(body) => body.change().map(drop),
            None => Ok(()),
        },
        REPLIES => {
            keyspaces::parse_reply(key).ok_or_else(damaged)?;
            records::decode(key, value, KeptReply::decode).map(drop)
        }
        REPLIES_BY_TIME => {
            keyspaces::parse_reply_by_time(key).ok_or_else(damaged)?;
            records::decode_empty(key, value)
        }
        SCOPES => meta::read_scope(key, value).map(drop),
        HOST_RECORDS => read_host_record(key, value),
        EMBEDDING_MODELS => read_embedding_model(key, value),
        EMBEDDINGS => read_bundle(key, value).map(drop),
        EMBEDDING_DIGESTS => read_embedding_digest(key, value),
        _ => Err(Error::corrupted(keyspaces::RowName(key))),
    }
}

fn read_meta(key: &[u8], value: &[u8]) -> Result<()> {
    match key.get(1..) {
        Some(name) if name == meta::FORMAT.as_bytes() => {
            records::decode_prefix(key, value, meta::decode_minimum_reader).map(drop)
        }
        Some(name) if name == meta::TOTALS.as_bytes() => {
            records::decode(key, value, SpaceTotals::decode).map(drop)
        }
        Some(name) if name == meta::LOG_BEGINNING.as_bytes() => {
            records::decode(key, value, DroppedChange::decode).map(drop)
        }
        _ => records::decode(key, value, SpaceMeta::decode).map(drop),
    }
}

fn read_item_key(key: &[u8], value: &[u8]) -> Result<()> {
    keyspaces::parse_item_key(key).ok_or_else(|| records::corrupt(key))?;
    IndexBitmap::read(key, value).map(drop)
}

fn read_embedding_model(key: &[u8], value: &[u8]) -> Result<()> {
    keyspaces::parse_embedding_model(key).ok_or_else(|| records::corrupt(key))?;
    records::decode(key, value, EmbeddingModelRecord::decode).map(drop)
}

fn read_embedding_digest(key: &[u8], value: &[u8]) -> Result<()> {
    keyspaces::parse_embeddings(key).ok_or_else(|| records::corrupt(key))?;
    read_digest(key, value).map(drop)
}

fn read_host_record(key: &[u8], value: &[u8]) -> Result<()> {
    keyspaces::parse_host_record(key).ok_or_else(|| records::corrupt(key))?;
    records::body(key, value).map(drop)
}

fn read_run(key: &[u8], value: &[u8]) -> Result<()> {
    keyspaces::parse_run(key).ok_or_else(|| records::corrupt(key))?;
    let mut authors = AuthorCache::default();
    for (id, record) in RunView::read(key, value)?.entries() {
        block::decode(id, record, &mut authors)
            .map_err(|error| records::decode_error(key, error))?;
    }
    Ok(())
}
