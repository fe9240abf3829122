//! Keys of vectors of blocks and documents.

use leafbase_model::{BlockId, DocumentId};

use super::{EMBEDDING_DIGESTS, EMBEDDING_MODELS, EMBEDDINGS, Keyspace, id_at};

/// Bytes of a document and a block.
const TARGET_BYTES: usize = 32;

pub(crate) fn embedding_model(model: &str) -> Vec<u8> {
    [&[EMBEDDING_MODELS.tag], model.as_bytes()].concat()
}

/// The name of a model.
pub(crate) fn parse_embedding_model(key: &[u8]) -> Option<&str> {
    let name = std::str::from_utf8(key.get(1..)?).ok()?;
    (!name.is_empty()).then_some(name)
}

/// All bundles of a model. No name has a NUL.
pub(crate) fn embeddings_of(model: &str) -> Vec<u8> {
    [&[EMBEDDINGS.tag], model.as_bytes(), &[0]].concat()
}

/// The digests of all bundles of a model.
pub(crate) fn embedding_digests_of(model: &str) -> Vec<u8> {
    in_keyspace(EMBEDDING_DIGESTS, embeddings_of(model))
}

/// The bundle whose first vector is that of `block`.
pub(crate) fn embeddings(model: &str, document: DocumentId, block: BlockId) -> Vec<u8> {
    [&embeddings_of(model), &document.as_bytes()[..], block.as_bytes()].concat()
}

/// The digest of the bundle under `key`.
pub(crate) fn embedding_digest(key: &[u8]) -> Vec<u8> {
    in_keyspace(EMBEDDING_DIGESTS, key.to_vec())
}

fn in_keyspace(keyspace: Keyspace, mut key: Vec<u8>) -> Vec<u8> {
    if let Some(tag) = key.first_mut() {
        *tag = keyspace.tag;
    }
    key
}

/// Model, document and block of a bundle, or of its digest.
pub(crate) fn parse_embeddings(key: &[u8]) -> Option<(&str, DocumentId, BlockId)> {
    let start = key.len().checked_sub(TARGET_BYTES)?;
    let name = key.get(1..start.checked_sub(1)?)?;
    let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty())?;
    let is_separated = key.get(start.checked_sub(1)?) == Some(&0) && !name.contains('\0');
    let (document, block) = (id_at(key, start)?, id_at(key, start + 16)?);
    is_separated.then_some((name, DocumentId::from_bytes(document), BlockId::from_bytes(block)))
}
