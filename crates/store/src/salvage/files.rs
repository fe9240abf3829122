//! Files: complete ones are copied, and embedded in a new document if no block embeds them.

use std::collections::BTreeMap;

use leafbase_model::{
    AssetId, AssetRecord, AssetUrl, BlockData, BlockId, BlockKind, BlockLayout, BlockRecord,
    Result, SubtreeNode, Subtrees,
};

use super::inventory::Inventory;
use super::{CONTINUE, LossKind, OnStep, RECOVERED, Salvager, relaxed};
use crate::edges::{EdgeEnd, EdgeKind};
use crate::file_hasher::FileHasher;
use crate::keyspaces::{self, ASSET_CHUNKS, ASSETS, PENDING_ASSETS};
use crate::kv::{KeyRange, Read, Store};
use crate::records::{self, asset};
use crate::uploads::{CHUNK_BYTES, chunks_of};

/// The readable chunks of a file.
#[derive(Clone, Default)]
struct SalvagedChunks {
    chunks: u32,
    bytes: u64,
    hasher: FileHasher,
    is_broken: bool,
}

impl Salvager<'_> {
    pub(super) fn files(&mut self, target: &dyn Store, step: OnStep<'_>) -> Result<()> {
        let stored = self.stored()?;
        let mut files = self.records(&stored)?;
        files.retain(|id, record| {
            let found = stored.get(id).cloned().unwrap_or_default();
            let is_whole = !found.is_broken
                && (found.chunks, found.bytes) == (chunks_of(record.size), record.size);
            if !is_whole {
                let message = format_args!("{} of its {} bytes exist", found.bytes, record.size);
                self.report.lose(LossKind::File, format_args!("file {id}"), message);
                return false;
            }
            let sha256 = Some(found.hasher.finish());
            if record.sha256 != sha256 {
                let message = "its bytes are not those of its record, which gets their hash";
                self.report.lose(LossKind::File, format_args!("file {id}"), message);
                record.sha256 = sha256;
            }
            true
        });
        for record in files.values() {
            step()?;
            self.copy(target, record)?;
        }
        self.report.saved.files = files.len() as u64;
        self.embed_unreferenced(target, &files)
    }

    /// The bytes of each file from its start up to the first gap.
    fn stored(&mut self) -> Result<BTreeMap<AssetId, SalvagedChunks>> {
        let mut stored: BTreeMap<AssetId, SalvagedChunks> = BTreeMap::new();
        self.rows(ASSET_CHUNKS, &mut |_, key, value| {
            if let Some((id, number)) = keyspaces::parse_chunk(key)
                && let Ok(bytes) = records::body(key, value)
            {
                let found = stored.entry(id).or_default();
                // A gap: what follows it is not part of the file's start.
                found.is_broken |=
                    number != found.chunks || found.bytes != u64::from(number) * CHUNK_BYTES as u64;
                found.chunks += 1;
                found.bytes += bytes.len() as u64;
                found.hasher.update(bytes);
            }
            Ok(())
        })?;
        Ok(stored)
    }

    /// The record of each file; for a lost record, one with size and hash of its bytes.
    fn records(
        &mut self,
        stored: &BTreeMap<AssetId, SalvagedChunks>,
    ) -> Result<BTreeMap<AssetId, AssetRecord>> {
        let (mut files, mut uploads) = (BTreeMap::new(), Vec::new());
        self.rows(ASSETS, &mut |salvage, key, value| {
            let id = keyspaces::parse_asset(key);
            match id
                .map(|id| (id, records::decode(key, value, |decoder| asset::decode(id, decoder))))
            {
                Some((id, Ok(record))) => drop(files.insert(id, record)),
                _ => salvage.unread(key),
            }
            Ok(())
        })?;
        self.rows(PENDING_ASSETS, &mut |_, key, _| {
            uploads.extend(keyspaces::parse_asset(key));
            Ok(())
        })?;
        // Chunks without a record are a file that lost it, unless an upload was in progress.
        for (id, found) in stored.iter().filter(|(id, _)| !uploads.contains(id)) {
            files.entry(*id).or_insert_with(|| {
                self.report.lose(
                    LossKind::File,
                    format_args!("file {id}"),
                    "its name and its type are lost",
                );
                let (media_type, file_name) =
                    ("application/octet-stream".to_owned(), RECOVERED.to_owned());
                AssetRecord {
                    id: *id,
                    media_type,
                    file_name,
                    size: found.bytes,
                    sha256: Some(found.hasher.clone().finish()),
                    created: self.stamp.clone(),
                }
            });
        }
        Ok(files)
    }

    fn copy(&self, target: &dyn Store, record: &AssetRecord) -> Result<()> {
        for number in 0..chunks_of(record.size) {
            let key = keyspaces::chunk(record.id, number);
            // One transaction for each chunk: a file may be larger than memory.
            self.reader.get(&key, &mut |value| {
                target.write(relaxed(), &mut |rows| rows.put(&key, value))
            })?;
        }
        let key = keyspaces::asset(record.id);
        target.write(relaxed(), &mut |rows| {
            rows.put(&key, &records::seal(&key, |out| asset::encode(out, record)))
        })
    }

    /// Creates a document of the files that no block embeds, if there are any.
    fn embed_unreferenced(
        &mut self,
        target: &dyn Store,
        files: &BTreeMap<AssetId, AssetRecord>,
    ) -> Result<()> {
        let mut nodes = Vec::new();
        for record in files.values() {
            // The edges are those of the salvaged blocks, all of which are written by now.
            if !is_embedded(target, record.id)? {
                let url = AssetUrl::new(record.id, record.file_name.as_str()).to_string();
                let file_name = record.file_name.clone();
                let kind = BlockKind::File { url, file_name, layout: BlockLayout::default() };
                nodes.push((1, BlockId::from_bytes((self.new_id)()), BlockData::new(kind)));
            }
        }
        if nodes.is_empty() {
            return Ok(());
        }
        let record = self.new_record();
        nodes.insert(0, (0, record.id.root(), BlockData::page(RECOVERED)));
        let node = |(depth, id, data)| {
            let block = BlockRecord {
                id,
                rev: 1,
                created: self.stamp.clone(),
                modified: self.stamp.clone(),
                data,
            };
            SubtreeNode { depth, block }
        };
        let subtrees = Subtrees(nodes.into_iter().map(node).collect());
        self.write_document(target, &record, &subtrees, &Inventory::default())
    }
}

fn is_embedded(target: &dyn Store, file: AssetId) -> Result<bool> {
    let (prefix, mut is_embedded) = (keyspaces::edges_to(EdgeEnd::Asset(file)), false);
    target.snapshot()?.scan(
        KeyRange::half_open(&prefix, &keyspaces::prefix_end_of(&prefix)),
        &mut |key, _| {
            is_embedded |=
                keyspaces::parse_edge(key).is_some_and(|(kind, _)| kind == EdgeKind::Embed);
            Ok(CONTINUE)
        },
    )?;
    Ok(is_embedded)
}
