//! Keys of tags: by document, and by tag. In both a zero byte ends the tag, which has none.

use leafbase_model::{BlockId, DocumentId};

use super::{DOCUMENTS_BY_TAG, TAG_COUNTS, TAGGED_BLOCKS, id_at, joined, of};

/// The tagged blocks of a document.
pub(crate) fn tagged_blocks(document: DocumentId) -> [u8; 17] {
    joined(TAGGED_BLOCKS, &[document.as_bytes()])
}

/// The blocks of a document with this tag, in lowercase.
pub(crate) fn blocks_tagged(document: DocumentId, tag: &str) -> Vec<u8> {
    [&tagged_blocks(document)[..], tag.as_bytes(), &[0]].concat()
}

pub(crate) fn tagged_block(document: DocumentId, tag: &str, block: BlockId) -> Vec<u8> {
    let mut key = blocks_tagged(document, tag);
    key.extend_from_slice(block.as_bytes());
    key
}

/// Document, tag and block.
pub(crate) fn parse_tagged_block(key: &[u8]) -> Option<(DocumentId, &str, BlockId)> {
    let document = DocumentId::from_bytes(id_at(key, 1)?);
    let (tag, block) = key.get(17..)?.split_last_chunk::<16>()?;
    let tag = str::from_utf8(tag.strip_suffix(&[0])?).ok().filter(|tag| !tag.is_empty())?;
    Some((document, tag, BlockId::from_bytes(*block)))
}

/// The documents with this tag, in lowercase.
pub(crate) fn documents_tagged(tag: &str) -> Vec<u8> {
    [&[DOCUMENTS_BY_TAG.tag], tag.as_bytes(), &[0]].concat()
}

pub(crate) fn document_by_tag(tag: &str, document: DocumentId) -> Vec<u8> {
    let mut key = documents_tagged(tag);
    key.extend_from_slice(document.as_bytes());
    key
}

/// The counts of the tags that begin with `prefix`, in lowercase.
pub(crate) fn tag_count(prefix: &str) -> Vec<u8> {
    [&[TAG_COUNTS.tag], prefix.as_bytes()].concat()
}

/// The tag in a key of the counts.
pub(crate) fn parse_tag_count(key: &[u8]) -> Option<&str> {
    let tag = str::from_utf8(key.get(1..)?).ok()?;
    (of(key) == TAG_COUNTS && !tag.is_empty()).then_some(tag)
}
