//! Checks of uploaded files.

use std::collections::BTreeMap;

use leafbase_model::{AssetId, FileHash};

use super::{Invariant, SpaceCheck};
use crate::edges::{EdgeEnd, EdgeKind};
use crate::file_hasher::FileHasher;
use crate::keyspaces::{self, ASSET_CHUNKS, ASSETS, PENDING_ASSETS, RowName};
use crate::kv::KeyRange;
use crate::records::upload::PendingUpload;
use crate::records::{self, asset};
use crate::uploads::{CHUNK_BYTES, chunks_of};

/// What the record of a file says of its bytes.
struct RecordedBytes {
    size: u64,
    sha256: Option<FileHash>,
}

/// The chunks of a file in total.
#[derive(Default)]
struct ChunkTotals {
    chunks: u32,
    bytes: u64,
    hasher: FileHasher,
}

impl SpaceCheck<'_> {
    pub(super) fn assets(&mut self) {
        let mut files: BTreeMap<AssetId, Option<RecordedBytes>> = BTreeMap::new();
        self.rows(ASSETS, &mut |check, key, value| {
            let id = keyspaces::parse_asset(key).ok_or_else(|| records::corrupt(key))?;
            check.report.assets += 1;
            // Known even if its record does not decode: its chunks are not orphaned.
            files.insert(id, None);
            let record = records::decode(key, value, |decoder| asset::decode(id, decoder))?;
            let recorded = RecordedBytes { size: record.size, sha256: record.sha256 };
            files.insert(id, Some(recorded));
            check.check_embedded(id)
        });
        self.rows(PENDING_ASSETS, &mut |check, key, value| {
            let id = keyspaces::parse_asset(key).ok_or_else(|| records::corrupt(key))?;
            if files.insert(id, None).is_some() {
                check.found(Invariant::Asset, RowName(key), "the upload is already a file");
            }
            PendingUpload::read(key, value).map(drop)
        });
        let mut stored: BTreeMap<AssetId, ChunkTotals> = BTreeMap::new();
        self.rows(ASSET_CHUNKS, &mut |check, key, value| {
            let (id, number) = keyspaces::parse_chunk(key).ok_or_else(|| records::corrupt(key))?;
            if !files.contains_key(&id) {
                check.found(Invariant::Asset, RowName(key), "the chunk belongs to no file");
            }
            let found = stored.entry(id).or_default();
            // Only the last chunk may be shorter.
            if number != found.chunks || found.bytes != u64::from(number) * CHUNK_BYTES as u64 {
                check.found(
                    Invariant::Asset,
                    RowName(key),
                    "a chunk before it is missing or too short",
                );
            }
            // Continues after a gap, so that it is reported once.
            found.chunks = number.saturating_add(1);
            let bytes = records::body(key, value)?;
            found.bytes += bytes.len() as u64;
            found.hasher.update(bytes);
            if bytes.is_empty() || bytes.len() > CHUNK_BYTES {
                check.found(Invariant::Asset, RowName(key), "the chunk has the wrong length");
            }
            Ok(())
        });
        for (id, recorded) in files {
            let Some(RecordedBytes { size, sha256 }) = recorded else { continue };
            let found = stored.remove(&id).unwrap_or_default();
            let name = format_args!("file {id}");
            if (found.chunks, found.bytes) != (chunks_of(size), size) {
                let message = format_args!("{} of its {size} bytes exist", found.bytes);
                self.found(Invariant::Asset, name, message);
            } else if sha256.is_none() {
                self.found(Invariant::Asset, name, "its record has no hash of its bytes");
            } else if sha256 != Some(found.hasher.finish()) {
                self.found(Invariant::Asset, name, "its bytes do not have the hash of its record");
            }
        }
    }

    /// A file that no block embeds would never be erased.
    fn check_embedded(&mut self, id: AssetId) -> leafbase_model::Result<()> {
        let prefix = keyspaces::edges_to(EdgeEnd::Asset(id));
        let mut is_embedded = false;
        self.source.scan(
            KeyRange::half_open(&prefix, &keyspaces::prefix_end_of(&prefix)),
            &mut |key, _| {
                is_embedded |=
                    keyspaces::parse_edge(key).is_some_and(|(kind, _)| kind == EdgeKind::Embed);
                Ok(std::ops::ControlFlow::Continue(()))
            },
        )?;
        if !is_embedded {
            self.found(Invariant::Asset, format_args!("file {id}"), "no block embeds it");
        }
        Ok(())
    }
}
