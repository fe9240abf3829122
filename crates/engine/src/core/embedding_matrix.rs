//! The vectors of a model in memory, bundle by bundle, and their comparison with that of a query.
//!
//! A scan of the store reads every byte twice, since it verifies checksums; so bundles are kept as
//! long as they fit. A bundle is known by its digest, which changes with its content: after a write
//! a search reads the changed bundles alone. What is kept never decides a result.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use leafbase_model::{BlockId, DocumentId, Result, invariant};
use leafbase_store::{
    BundleDigest, EmbeddingBundle, EmbeddingModelRecord, QuantizedVector, SpaceReader,
    StoredEmbedding,
};

use crate::support::shares::map_shares;

/// The fewest bytes of vectors that a thread is started for: comparing them takes some four times
/// as long as starting it.
const MIN_BYTES_PER_THREAD: u64 = 1 << 20;
/// Bytes of what a vector is of, besides its components.
const TARGET_BYTES: u64 = 40;

/// The vectors of the models that were last searched, up to a number of bytes.
#[derive(Debug)]
pub(crate) struct EmbeddingCache {
    max_bytes: u64,
    matrices: Mutex<BTreeMap<String, Arc<EmbeddingMatrix>>>,
}

/// The vectors of a model in one state of the space.
#[derive(Debug)]
pub(crate) struct EmbeddingMatrix {
    pub(crate) record: EmbeddingModelRecord,
    bundles: Vec<MatrixBundle>,
}

#[derive(Debug)]
struct MatrixBundle {
    stored: BundleDigest,
    /// `None` if the model is too large to be kept.
    vectors: Option<Arc<BundleVectors>>,
}

/// The vectors of a bundle.
#[derive(Debug)]
struct BundleVectors {
    /// Each document with the number of vectors up to its last one.
    documents: Vec<(DocumentId, usize)>,
    blocks: Vec<BlockId>,
    /// The lengths of the vectors, in units of their scales.
    norms: Vec<f64>,
    dimensions: usize,
    components: Vec<i8>,
}

/// The vector of a query.
#[derive(Debug)]
pub(crate) struct QueryVector {
    /// Wide enough for a product, so that the comparison extends one side alone.
    components: Vec<i16>,
    norm: f64,
}

/// The vector of a document that is nearest to that of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NearestEmbedding {
    pub(crate) document: DocumentId,
    /// The block; the root stands for the document.
    pub(crate) block: BlockId,
    /// The cosine of the angle between both.
    pub(crate) similarity: f32,
}

impl EmbeddingCache {
    pub(crate) const fn new(max_bytes: u64) -> Self {
        Self { max_bytes, matrices: Mutex::new(BTreeMap::new()) }
    }

    fn matrices(&self) -> MutexGuard<'_, BTreeMap<String, Arc<EmbeddingMatrix>>> {
        self.matrices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The vectors of a model; `None` if it has none.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) fn matrix(
        &self,
        reader: SpaceReader<'_>,
        model: &str,
    ) -> Result<Option<Arc<EmbeddingMatrix>>> {
        let Some(record) = reader.embedding_model(model)? else {
            self.matrices().remove(model);
            return Ok(None);
        };
        let kept = self.matrices().get(model).cloned();
        if let Some(kept) = kept.as_ref().filter(|kept| kept.record == record) {
            return Ok(Some(Arc::clone(kept)));
        }
        let is_kept = record.bytes() <= self.max_bytes;
        // Unlocked: searches of other models do not wait for the reads. Two of the same one read
        // twice, and both matrices are right for the state that they belong to.
        let matrix =
            Arc::new(EmbeddingMatrix::read(reader, model, record, kept.as_deref(), is_kept)?);
        if is_kept {
            let mut matrices = self.matrices();
            matrices.insert(model.to_owned(), Arc::clone(&matrix));
            let bytes: u64 = matrices.values().map(|kept| kept.record.bytes()).sum();
            if bytes > self.max_bytes {
                matrices.retain(|name, _| name == model);
            }
        }
        Ok(Some(matrix))
    }
}

/// The memory that a model takes.
trait MatrixBytes {
    fn bytes(&self) -> u64;
}

impl MatrixBytes for EmbeddingModelRecord {
    fn bytes(&self) -> u64 {
        self.embeddings.saturating_mul(self.dimensions.saturating_add(TARGET_BYTES))
    }
}

impl EmbeddingMatrix {
    /// Reads the vectors of a model, except bundles that `kept` has.
    fn read(
        reader: SpaceReader<'_>,
        model: &str,
        record: EmbeddingModelRecord,
        kept: Option<&Self>,
        is_kept: bool,
    ) -> Result<Self> {
        let key = |stored: &BundleDigest| (stored.document, stored.block, stored.digest);
        let kept: HashMap<_, _> =
            kept.iter().flat_map(|kept| &kept.bundles).map(|one| (key(&one.stored), one)).collect();
        let bundles = reader.embedding_digests(model)?.into_iter().map(|stored| {
            let known = kept.get(&key(&stored)).and_then(|known| known.vectors.clone());
            let vectors = match known {
                Some(known) => Some(known),
                None if is_kept => Some(Arc::new(BundleVectors::read(reader, model, &stored)?)),
                None => None,
            };
            Ok(MatrixBundle { stored, vectors })
        });
        let bundles = bundles.collect::<Result<_>>()?;
        Ok(Self { record, bundles })
    }

    /// The nearest vector of each of `documents`, which are sorted, that has any: by document. On
    /// up to `threads` threads if the vectors are in memory.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) fn nearest(
        &self,
        reader: SpaceReader<'_>,
        model: &str,
        query: &QueryVector,
        documents: &[DocumentId],
        threads: usize,
    ) -> Result<Vec<NearestEmbedding>> {
        debug_assert!(documents.is_sorted(), "documents and bundles are in the same order");
        let kept: Option<Vec<_>> =
            self.bundles.iter().map(|bundle| bundle.vectors.as_deref()).collect();
        if let Some(kept) = kept {
            return Ok(self.nearest_kept(&kept, query, documents, threads));
        }
        // Bundles are in the order of documents, so that `left` only shrinks: one pass over both.
        let (mut found, mut left) = (NearestList::default(), documents);
        for bundle in &self.bundles {
            if let Some(vectors) = &bundle.vectors {
                vectors.compare(query, &mut left, &mut found);
            } else {
                let vectors = BundleVectors::read(reader, model, &bundle.stored)?;
                vectors.compare(query, &mut left, &mut found);
            }
        }
        Ok(found.0)
    }

    /// [`Self::nearest`] among the vectors of these bundles, which are all.
    fn nearest_kept(
        &self,
        kept: &[&BundleVectors],
        query: &QueryVector,
        documents: &[DocumentId],
        threads: usize,
    ) -> Vec<NearestEmbedding> {
        let most = usize::try_from(self.record.bytes() / MIN_BYTES_PER_THREAD).unwrap_or(threads);
        let mut shares = map_shares(kept, threads.min(most), "leafbase-vectors", |share| {
            let (mut found, mut left) = (NearestList::default(), documents);
            for vectors in share {
                vectors.compare(query, &mut left, &mut found);
            }
            found
        })
        .into_iter();
        let mut found = shares.next().unwrap_or_default();
        // The vectors of one document may be in two shares.
        shares.flat_map(|share| share.0).for_each(|next| found.add(next));
        found.0
    }
}

impl BundleVectors {
    fn read(reader: SpaceReader<'_>, model: &str, stored: &BundleDigest) -> Result<Self> {
        let bundle = reader.embedding_bundle(model, stored.document, stored.block)?;
        let EmbeddingBundle { entries, dimensions, components } = bundle;
        invariant!(
            components.len() == entries.len() * dimensions,
            "a bundle has the components of its vectors"
        );
        let mut documents: Vec<(DocumentId, usize)> = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            match documents.last_mut() {
                Some((document, end)) if *document == entry.document => *end = index + 1,
                _ => documents.push((entry.document, index + 1)),
            }
        }
        let blocks = entries.iter().map(|entry| entry.block).collect();
        let norms = components.chunks_exact(dimensions.max(1)).map(norm).collect();
        let vectors = Self { documents, blocks, norms, dimensions, components };
        invariant!(
            vectors.norms.len() == vectors.blocks.len(),
            "each vector has its block and its length"
        );
        Ok(vectors)
    }

    /// Adds the vectors of `left` documents, which lose those that come before the last vector.
    fn compare(&self, query: &QueryVector, left: &mut &[DocumentId], found: &mut NearestList) {
        let mut vectors =
            self.components.chunks_exact(self.dimensions.max(1)).zip(&self.norms).zip(&self.blocks);
        let mut start = 0;
        for (document, end) in &self.documents {
            let count = end.saturating_sub(std::mem::replace(&mut start, *end));
            while let Some((first, rest)) = left.split_first()
                && first < document
            {
                *left = rest;
            }
            if left.first() != Some(document) {
                // Skipped without a comparison.
                if let Some(last) = count.checked_sub(1) {
                    vectors.nth(last);
                }
                continue;
            }
            for ((components, norm), block) in vectors.by_ref().take(count) {
                let similarity = query.similarity(components, *norm);
                found.add(NearestEmbedding { document: *document, block: *block, similarity });
            }
        }
    }
}

/// The nearest vector of each document, by document.
#[derive(Debug, Default)]
pub(crate) struct NearestList(pub(crate) Vec<NearestEmbedding>);

impl NearestList {
    /// Adds the next vector, in the order of documents and blocks. Of equal ones the first counts.
    fn add(&mut self, next: NearestEmbedding) {
        match self.0.last_mut() {
            Some(last) if last.document == next.document => {
                if next.similarity > last.similarity {
                    *last = next;
                }
            }
            _ => self.0.push(next),
        }
    }

    /// Adds a vector that `document` shows; the vectors of a document follow each other.
    pub(crate) fn add_stored(
        &mut self,
        document: DocumentId,
        query: &QueryVector,
        stored: &StoredEmbedding,
    ) {
        let components = &stored.vector.components;
        let similarity = query.similarity(components, norm(components));
        self.add(NearestEmbedding { document, block: stored.block, similarity });
    }
}

impl QueryVector {
    pub(crate) fn new(vector: &QuantizedVector) -> Self {
        let norm = norm(&vector.components);
        Self { components: vector.components.iter().copied().map(i16::from).collect(), norm }
    }

    /// The cosine of the angle between both: the products are integers, so that the result is the
    /// same on every machine.
    #[expect(clippy::cast_possible_truncation, reason = "a cosine is within the range of f32")]
    fn similarity(&self, components: &[i8], norm: f64) -> f32 {
        debug_assert_eq!(components.len(), self.components.len(), "vectors of one model");
        (f64::from(dot(components, &self.components)) / (norm * self.norm)) as f32
    }
}

/// Components that [`dot`] multiplies at a time: as many as the compiler turns into vector
/// instructions without a loop, and 0.65 of the time of one loop over all components.
const LANES: usize = 32;

/// The sum of the products of components. It does not overflow: 4,096 products of 127 times 127 are
/// less than 2^27.
fn dot(components: &[i8], query: &[i16]) -> i32 {
    let product = |(one, other): (&i8, &i16)| i32::from(i16::from(*one)) * i32::from(*other);
    let (chunks, rest) = components.as_chunks::<LANES>();
    let (query_chunks, query_rest) = query.as_chunks::<LANES>();
    let chunks = chunks.iter().zip(query_chunks);
    let sum: i32 =
        chunks.map(|(ones, others)| ones.iter().zip(others).map(product).sum::<i32>()).sum();
    sum + rest.iter().zip(query_rest).map(product).sum::<i32>()
}

fn norm(components: &[i8]) -> f64 {
    let square = |component: &i8| i32::from(*component) * i32::from(*component);
    f64::from(components.iter().map(square).sum::<i32>()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cosine_is_that_of_the_stored_vectors() {
        let query = QueryVector::new(&QuantizedVector::nearest_to(&[3.0, 4.0]));
        let of = |components: [f32; 2]| {
            let vector = QuantizedVector::nearest_to(&components);
            query.similarity(&vector.components, norm(&vector.components))
        };
        // Exact where the quotients are: 3/4 of 127 is 95.25, so 95/127.
        assert!((of([6.0, 8.0]) - 1.0).abs() < 1e-6);
        assert!((of([-3.0, -4.0]) + 1.0).abs() < 1e-6);
        assert!(of([4.0, -3.0]).abs() < 0.01);
    }
}
