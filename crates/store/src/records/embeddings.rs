//! Records of vectors: bundles, and the models that they are of.
//!
//! A search reads all vectors of a model, so consecutive ones lie in one value: first what each is
//! of, then all components without gaps.

use leafbase_model::{BlockId, DocumentId, Result, invariant};

use super::layout::record;
use super::{CHECKSUM_BYTES, FRAME_BYTES};
use crate::embeddings::{QuantizedVector, StoredEmbedding};
use crate::{keyspaces, records};

/// The largest bundle of several vectors. Changing one vector writes its bundle.
pub(crate) const MAX_BUNDLE_BYTES: usize = 16 << 10;
/// Bytes before the entries: the number of vectors, and of their components.
const HEAD_BYTES: usize = 4;
/// Bytes of an entry besides the components: document, block, revision and scale.
const ENTRY_BYTES: usize = 16 + 16 + 8 + 4;

/// A model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingModelRecord {
    /// Components of each of its vectors.
    pub dimensions: u64,
    /// The number of its vectors.
    pub embeddings: u64,
    /// The sum of the digests of its bundles: two states with the same one have the same vectors.
    pub digest: u64,
}

record! {
    EmbeddingModelRecord = { EmbeddingModelRecord { dimensions, embeddings, digest } };
    dimensions, embeddings, digest,
}

/// What a vector of an [`EmbeddingBundle`] is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmbeddingEntry {
    /// The document.
    pub document: DocumentId,
    /// The block; the root stands for the document.
    pub block: BlockId,
    /// The revision that the vector was computed from.
    pub rev: u64,
    /// What its components are multiples of.
    pub scale: f32,
}

/// Consecutive vectors of a model, in the order of their documents and blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddingBundle {
    /// What the vectors are of.
    pub entries: Vec<EmbeddingEntry>,
    /// Components of each vector.
    pub dimensions: usize,
    /// The components of all vectors, in the order of the entries.
    pub components: Vec<i8>,
}

impl EmbeddingBundle {
    /// The vectors.
    pub fn into_embeddings(self) -> Vec<StoredEmbedding> {
        let vectors = self.components.chunks_exact(self.dimensions.max(1));
        let embedding = |(entry, components): (EmbeddingEntry, &[i8])| {
            let EmbeddingEntry { document, block, rev, scale } = entry;
            let vector = QuantizedVector { scale, components: components.to_vec() };
            StoredEmbedding { document, block, rev, vector }
        };
        self.entries.into_iter().zip(vectors).map(embedding).collect()
    }
}

/// The most vectors of a bundle.
pub(crate) fn bundle_capacity(dimensions: usize) -> usize {
    let bytes = MAX_BUNDLE_BYTES.saturating_sub(HEAD_BYTES + FRAME_BYTES);
    (bytes / (ENTRY_BYTES + dimensions)).max(1)
}

/// The record of a bundle under `key`, and its digest.
pub(crate) fn seal_bundle(key: &[u8], embeddings: &[StoredEmbedding]) -> Result<(Vec<u8>, u64)> {
    let dimensions = embeddings.first().map_or(0, |first| first.vector.components.len());
    let (Ok(count), Ok(size)) = (u16::try_from(embeddings.len()), u16::try_from(dimensions)) else {
        invariant!("a bundle has few vectors of few components")
    };
    let value = records::seal(key, |out| {
        out.extend_from_slice(&count.to_be_bytes());
        out.extend_from_slice(&size.to_be_bytes());
        for embedding in embeddings {
            out.extend_from_slice(embedding.document.as_bytes());
            out.extend_from_slice(embedding.block.as_bytes());
            out.extend_from_slice(&embedding.rev.to_be_bytes());
            out.extend_from_slice(&embedding.vector.scale.to_be_bytes());
        }
        for embedding in embeddings {
            out.extend(
                embedding.vector.components.iter().map(|component| component.cast_unsigned()),
            );
        }
    });
    let Some(digest) = value.last_chunk::<CHECKSUM_BYTES>().copied() else {
        invariant!("a record ends with its checksum")
    };
    Ok((value, u64::from_be_bytes(digest)))
}

/// The digest of a bundle that was sealed.
pub(crate) fn digest_of(value: &[u8]) -> Option<u64> {
    value.last_chunk::<CHECKSUM_BYTES>().copied().map(u64::from_be_bytes)
}

/// Decodes the bundle under `key`, which begins with the vector that the key names.
pub(crate) fn read_bundle(key: &[u8], value: &[u8]) -> Result<EmbeddingBundle> {
    let body = records::body(key, value)?;
    let corrupt = || records::corrupt(key);
    let (_, document, block) = keyspaces::parse_embeddings(key).ok_or_else(corrupt)?;
    let bundle = decode(body).ok_or_else(corrupt)?;
    let is_sorted = bundle.entries.is_sorted_by(|one, other| target(one) < target(other));
    let begins = bundle.entries.first().map(target) == Some((document, block));
    if is_sorted && begins { Ok(bundle) } else { Err(corrupt()) }
}

const fn target(entry: &EmbeddingEntry) -> (DocumentId, BlockId) {
    (entry.document, entry.block)
}

fn decode(body: &[u8]) -> Option<EmbeddingBundle> {
    let (count, body) = body.split_first_chunk::<2>()?;
    let (dimensions, body) = body.split_first_chunk::<2>()?;
    let count = usize::from(u16::from_be_bytes(*count));
    let dimensions = usize::from(u16::from_be_bytes(*dimensions));
    let (entries, components) = body.split_at_checked(count * ENTRY_BYTES)?;
    let is_complete = components.len() == count * dimensions && count > 0 && dimensions > 0;
    let entries = entries.chunks_exact(ENTRY_BYTES).map(decode_entry);
    let entries = entries.collect::<Option<_>>().filter(|_| is_complete)?;
    // As one copy.
    let components = components.iter().map(|component| component.cast_signed()).collect();
    Some(EmbeddingBundle { entries, dimensions, components })
}

fn decode_entry(bytes: &[u8]) -> Option<EmbeddingEntry> {
    let (document, bytes) = bytes.split_first_chunk::<16>()?;
    let (block, bytes) = bytes.split_first_chunk::<16>()?;
    let (rev, scale) = bytes.split_first_chunk::<8>()?;
    Some(EmbeddingEntry {
        document: DocumentId::from_bytes(*document),
        block: BlockId::from_bytes(*block),
        rev: u64::from_be_bytes(*rev),
        scale: f32::from_be_bytes(*scale.first_chunk::<4>()?),
    })
}

/// The record of a digest.
pub(crate) fn seal_digest(key: &[u8], digest: u64) -> Vec<u8> {
    records::seal(key, |out| out.extend_from_slice(&digest.to_be_bytes()))
}

/// Decodes the record of a digest.
pub(crate) fn read_digest(key: &[u8], value: &[u8]) -> Result<u64> {
    let body = records::body(key, value)?;
    let digest = body.try_into().map_err(|_| records::corrupt(key))?;
    Ok(u64::from_be_bytes(digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundles_read_back_and_refuse_other_bytes() {
        let embedding = |number: u8, components: [i8; 3]| StoredEmbedding {
            document: DocumentId::from_bytes([1; 16]),
            block: BlockId::from_bytes([number; 16]),
            rev: 7,
            vector: QuantizedVector { scale: 0.5, components: components.to_vec() },
        };
        let embeddings = vec![embedding(2, [-127, 0, 127]), embedding(3, [1, 2, 3])];
        let of = |block: u8| {
            let (document, block) = ([1; 16], [block; 16]);
            keyspaces::embeddings("m", DocumentId::from_bytes(document), BlockId::from_bytes(block))
        };
        let key = of(2);
        let (value, digest) = seal_bundle(&key, &embeddings).unwrap();
        assert_eq!(digest_of(&value), Some(digest));
        assert_eq!(read_bundle(&key, &value).unwrap().into_embeddings(), embeddings);
        // Another key, another order, and bodies that are cut.
        let refuses = |key: &[u8], value: &[u8]| assert!(read_bundle(key, value).is_err());
        refuses(&of(3), &seal_bundle(&of(3), &embeddings).unwrap().0);
        let turned: Vec<_> = embeddings.iter().rev().cloned().collect();
        refuses(&of(3), &seal_bundle(&of(3), &turned).unwrap().0);
        let body = records::body(&key, &value).unwrap();
        for end in 0..body.len() {
            let cut = body.get(..end).unwrap();
            refuses(&key, &records::seal(&key, |out| out.extend_from_slice(cut)));
        }
    }

    #[test]
    fn a_bundle_of_its_capacity_is_within_its_bound() {
        for dimensions in [1, 384, 1_024, 4_096] {
            let capacity = bundle_capacity(dimensions);
            let bytes = HEAD_BYTES + FRAME_BYTES + capacity * (ENTRY_BYTES + dimensions);
            assert!(bytes <= MAX_BUNDLE_BYTES && capacity > 1, "{dimensions}");
        }
    }
}
