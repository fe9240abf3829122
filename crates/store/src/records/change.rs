//! Change-log records: who, when, which documents, and the edits with what they replaced.
//!
//! Blocks stand in them as the same bytes as in their runs: each is encoded once.

use leafbase_model::{
    AssetId, AssetRecord, Author, BlockId, BlockRecord, Change, Comment, CommentId, DocumentId,
    DocumentRecord, Edit, FolderId, FolderRecord, InsertTarget, Schema, Stamp, SubtreeNode,
    Subtrees,
};

use super::block::{self, AuthorCache};
use super::{asset, comment, document, folder, schema};
use crate::msgpack::{
    DecodeError, Decoded, Decoder, put_array, put_bin, put_int, put_nil, put_str, put_uint, time,
};

const INSERT: u64 = 1;
const REMOVE: u64 = 2;
const UPDATE: u64 = 3;
const MOVE: u64 = 4;
const CREATE_DOCUMENT: u64 = 5;
const ERASE_DOCUMENT: u64 = 6;
const UPDATE_DOCUMENT: u64 = 7;
const CREATE_FOLDER: u64 = 8;
const REMOVE_FOLDER: u64 = 9;
const UPDATE_FOLDER: u64 = 10;
const ADD_COMMENT: u64 = 11;
const REMOVE_COMMENT: u64 = 12;
const CREATE_ASSET: u64 = 13;
const ERASE_ASSET: u64 = 14;
const SET_SCHEMA: u64 = 15;
const SET_SCHEMA_QUIETLY: u64 = 16;

/// The blocks of inserted or removed subtrees as bytes, one after the other.
#[derive(Debug, Default)]
pub(crate) struct EncodedBlocks {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl EncodedBlocks {
    pub(crate) fn of(subtrees: &Subtrees) -> Self {
        let (blocks, texts) =
            (subtrees.0.len(), subtrees.0.iter().map(|node| node.block.data.markdown.len()));
        let bytes = Vec::with_capacity(texts.sum::<usize>() + 64 * blocks);
        let mut encoded = Self { bytes, ends: Vec::with_capacity(blocks) };
        for node in &subtrees.0 {
            block::put(&mut encoded.bytes, &node.block);
            encoded.ends.push(encoded.bytes.len());
        }
        encoded
    }

    /// The record of the block at `index`.
    pub(crate) fn block(&self, index: usize) -> &[u8] {
        let end = self.ends.get(index).copied().unwrap_or_default();
        let start = index
            .checked_sub(1)
            .and_then(|before| self.ends.get(before))
            .copied()
            .unwrap_or_default();
        self.bytes.get(start..end).unwrap_or_default()
    }
}

/// The edits of a write as its record will hold them.
#[derive(Debug, Default)]
pub(crate) struct ChangeEncoder {
    bytes: Vec<u8>,
    edits: usize,
}

impl ChangeEncoder {
    pub(crate) fn is_empty(&self) -> bool {
        self.edits == 0
    }

    /// The body of the record, in two parts.
    pub(crate) fn body(&self, stamp: &Stamp, documents: &[DocumentId]) -> (Vec<u8>, &[u8]) {
        let mut head = Vec::with_capacity(64 + 18 * documents.len());
        put_array(&mut head, 4);
        put_int(&mut head, stamp.at.as_millis());
        put_str(&mut head, stamp.by.as_str());
        put_array(&mut head, documents.len());
        for document in documents {
            put_bin(&mut head, document.as_bytes());
        }
        put_array(&mut head, self.edits);
        (head, &self.bytes)
    }

    fn begin(&mut self, edit: u64, fields: usize) -> &mut Vec<u8> {
        self.edits += 1;
        put_array(&mut self.bytes, 1 + fields);
        put_uint(&mut self.bytes, edit);
        &mut self.bytes
    }

    pub(crate) fn insert(
        &mut self,
        target: &InsertTarget,
        subtrees: &Subtrees,
        encoded: &EncodedBlocks,
    ) {
        let out = self.begin(INSERT, 2);
        put_slot(out, target);
        put_forest(out, subtrees, encoded);
    }

    pub(crate) fn remove(
        &mut self,
        target: &InsertTarget,
        subtrees: &Subtrees,
        encoded: &EncodedBlocks,
    ) {
        let out = self.begin(REMOVE, 2);
        put_slot(out, target);
        put_forest(out, subtrees, encoded);
    }

    pub(crate) fn update(
        &mut self,
        document: DocumentId,
        block: BlockId,
        before: &[u8],
        after: &[u8],
    ) {
        let out = self.begin(UPDATE, 4);
        put_bin(out, document.as_bytes());
        put_bin(out, block.as_bytes());
        put_bin(out, before);
        put_bin(out, after);
    }

    pub(crate) fn relocate(&mut self, block: BlockId, from: &InsertTarget, to: &InsertTarget) {
        let out = self.begin(MOVE, 3);
        put_bin(out, block.as_bytes());
        put_slot(out, from);
        put_slot(out, to);
    }

    pub(crate) fn create_document(
        &mut self,
        record: &DocumentRecord,
        subtrees: &Subtrees,
        encoded: &EncodedBlocks,
    ) {
        let out = self.begin(CREATE_DOCUMENT, 3);
        put_document(out, record);
        put_forest(out, subtrees, encoded);
    }

    pub(crate) fn erase_document(
        &mut self,
        record: &DocumentRecord,
        subtrees: &Subtrees,
        encoded: &EncodedBlocks,
    ) {
        let out = self.begin(ERASE_DOCUMENT, 3);
        put_document(out, record);
        put_forest(out, subtrees, encoded);
    }

    pub(crate) fn update_document(&mut self, before: &DocumentRecord, after: &DocumentRecord) {
        let out = self.begin(UPDATE_DOCUMENT, 4);
        put_document(out, before);
        put_document(out, after);
    }

    pub(crate) fn create_folder(&mut self, record: &FolderRecord) {
        put_folder(self.begin(CREATE_FOLDER, 2), record);
    }

    pub(crate) fn remove_folder(&mut self, record: &FolderRecord) {
        put_folder(self.begin(REMOVE_FOLDER, 2), record);
    }

    pub(crate) fn update_folder(&mut self, before: &FolderRecord, after: &FolderRecord) {
        let out = self.begin(UPDATE_FOLDER, 4);
        put_folder(out, before);
        put_folder(out, after);
    }
}

impl ChangeEncoder {
    pub(crate) fn add_comment(&mut self, document: DocumentId, block: BlockId, comment: &Comment) {
        put_comment(self.begin(ADD_COMMENT, 4), document, block, comment);
    }

    pub(crate) fn remove_comment(
        &mut self,
        document: DocumentId,
        block: BlockId,
        comment: &Comment,
    ) {
        put_comment(self.begin(REMOVE_COMMENT, 4), document, block, comment);
    }

    pub(crate) fn create_asset(&mut self, record: &AssetRecord) {
        put_asset(self.begin(CREATE_ASSET, 2), record);
    }

    pub(crate) fn erase_asset(&mut self, record: &AssetRecord) {
        put_asset(self.begin(ERASE_ASSET, 2), record);
    }

    pub(crate) fn set_schema(
        &mut self,
        (document, collection): (DocumentId, BlockId),
        before: Option<&Schema>,
        after: Option<&Schema>,
        quiet: bool,
    ) {
        let out = self.begin(if quiet { SET_SCHEMA_QUIETLY } else { SET_SCHEMA }, 4);
        put_bin(out, document.as_bytes());
        put_bin(out, collection.as_bytes());
        put_schema(out, before);
        put_schema(out, after);
    }
}

fn put_slot(out: &mut Vec<u8>, target: &InsertTarget) {
    put_array(out, 3);
    put_bin(out, target.document.as_bytes());
    put_bin(out, target.parent.as_bytes());
    match target.after {
        Some(after) => put_bin(out, after.as_bytes()),
        None => put_nil(out),
    }
}

fn put_forest(out: &mut Vec<u8>, subtrees: &Subtrees, encoded: &EncodedBlocks) {
    out.reserve(encoded.bytes.len() + 24 * subtrees.0.len());
    put_array(out, 3 * subtrees.0.len());
    for (index, node) in subtrees.0.iter().enumerate() {
        put_uint(out, u64::from(node.depth));
        put_bin(out, node.block.id.as_bytes());
        put_bin(out, encoded.block(index));
    }
}

fn put_document(out: &mut Vec<u8>, record: &DocumentRecord) {
    put_bin(out, record.id.as_bytes());
    document::put(out, record);
}

fn put_folder(out: &mut Vec<u8>, record: &FolderRecord) {
    put_bin(out, record.id.as_bytes());
    folder::put(out, record);
}

fn put_comment(out: &mut Vec<u8>, document: DocumentId, block: BlockId, comment: &Comment) {
    put_bin(out, document.as_bytes());
    put_bin(out, block.as_bytes());
    put_bin(out, comment.id.as_bytes());
    comment::put(out, comment);
}

fn put_asset(out: &mut Vec<u8>, record: &AssetRecord) {
    put_bin(out, record.id.as_bytes());
    asset::put(out, record);
}

fn put_schema(out: &mut Vec<u8>, schema: Option<&Schema>) {
    match schema {
        Some(schema) => schema::put(out, schema),
        None => put_nil(out),
    }
}

/// Reads which documents the body of a change names, and none of its edits.
pub(crate) fn decode_documents(_: u64, bytes: &[u8]) -> Decoded<Vec<DocumentId>> {
    let mut decoder = Decoder::new(bytes);
    let mut fields = decoder.fields()?;
    fields.required(time)?;
    fields.required(Decoder::str)?;
    fields.required(read_documents)
}

fn read_documents(decoder: &mut Decoder<'_>) -> Decoded<Vec<DocumentId>> {
    (0..decoder.array()?).map(|_| decoder.id().map(DocumentId::from_bytes)).collect()
}

/// Reads the body of the change numbered `sequence`, which is all of `bytes`.
pub(crate) fn decode(sequence: u64, bytes: &[u8]) -> Decoded<Change> {
    let mut decoder = Decoder::new(bytes);
    let mut authors = AuthorCache::default();
    let mut fields = decoder.fields()?;
    let at = fields.required(time)?;
    let by = Author::new(fields.required(Decoder::str)?);
    let documents = fields.required(read_documents)?;
    let edits = fields.required(|decoder| {
        (0..decoder.array()?).map(|_| read_edit(decoder, &mut authors)).collect::<Decoded<_>>()
    })?;
    fields.end()?;
    decoder.finish()?;
    Ok(Change { sequence, stamp: Stamp { at, by }, documents, edits })
}

fn read_edit(decoder: &mut Decoder<'_>, authors: &mut AuthorCache) -> Decoded<Edit> {
    let fields = decoder.array()?.checked_sub(1).ok_or(DecodeError::Corrupt)?;
    let kind = decoder.uint()?;
    let expected = match kind {
        CREATE_FOLDER | REMOVE_FOLDER | INSERT | REMOVE | CREATE_ASSET | ERASE_ASSET => 2,
        MOVE | CREATE_DOCUMENT | ERASE_DOCUMENT => 3,
        UPDATE | UPDATE_DOCUMENT | UPDATE_FOLDER | ADD_COMMENT | REMOVE_COMMENT | SET_SCHEMA
        | SET_SCHEMA_QUIETLY => 4,
        _ => return Err(DecodeError::UnsupportedVersion),
    };
    if fields != expected {
        return Err(if fields > expected {
            DecodeError::UnsupportedVersion
        } else {
            DecodeError::Corrupt
        });
    }
    Ok(match kind {
        INSERT => {
            Edit::Insert { target: read_slot(decoder)?, subtrees: read_forest(decoder, authors)? }
        }
        REMOVE => {
            Edit::Remove { target: read_slot(decoder)?, subtrees: read_forest(decoder, authors)? }
        }
        UPDATE => {
            let document = DocumentId::from_bytes(decoder.id()?);
            let block = BlockId::from_bytes(decoder.id()?);
            let before = Box::new(read_block(block, decoder, authors)?);
            Edit::Update { document, before, after: Box::new(read_block(block, decoder, authors)?) }
        }
        MOVE => Edit::Move {
            block: BlockId::from_bytes(decoder.id()?),
            from: read_slot(decoder)?,
            to: read_slot(decoder)?,
        },
        CREATE_DOCUMENT => Edit::CreateDocument {
            record: read_document(decoder)?,
            subtrees: read_forest(decoder, authors)?,
        },
        ERASE_DOCUMENT => Edit::EraseDocument {
            record: read_document(decoder)?,
            subtrees: read_forest(decoder, authors)?,
        },
        UPDATE_DOCUMENT => {
            Edit::UpdateDocument { before: read_document(decoder)?, after: read_document(decoder)? }
        }
        CREATE_FOLDER => Edit::CreateFolder(read_folder(decoder)?),
        REMOVE_FOLDER => Edit::RemoveFolder(read_folder(decoder)?),
        ADD_COMMENT | REMOVE_COMMENT => {
            let (document, block) =
                (DocumentId::from_bytes(decoder.id()?), BlockId::from_bytes(decoder.id()?));
            let id = CommentId::from_bytes(decoder.id()?);
            let comment = comment::read(id, decoder)?;
            match kind {
                ADD_COMMENT => Edit::AddComment { document, block, comment },
                _ => Edit::RemoveComment { document, block, comment },
            }
        }
        CREATE_ASSET => Edit::CreateAsset(read_asset(decoder)?),
        ERASE_ASSET => Edit::EraseAsset(read_asset(decoder)?),
        SET_SCHEMA | SET_SCHEMA_QUIETLY => Edit::SetSchema {
            document: DocumentId::from_bytes(decoder.id()?),
            collection: BlockId::from_bytes(decoder.id()?),
            before: read_schema(decoder)?,
            after: read_schema(decoder)?,
            quiet: kind == SET_SCHEMA_QUIETLY,
        },
        _ => Edit::UpdateFolder { before: read_folder(decoder)?, after: read_folder(decoder)? },
    })
}

fn read_slot(decoder: &mut Decoder<'_>) -> Decoded<InsertTarget> {
    let mut fields = decoder.fields()?;
    let target = InsertTarget {
        document: DocumentId::from_bytes(fields.required(Decoder::id)?),
        parent: BlockId::from_bytes(fields.required(Decoder::id)?),
        after: fields.next(Decoder::id)?.map(BlockId::from_bytes),
    };
    fields.end()?;
    Ok(target)
}

fn read_forest(decoder: &mut Decoder<'_>, authors: &mut AuthorCache) -> Decoded<Subtrees> {
    let values = decoder.array()?;
    if !values.is_multiple_of(3) {
        return Err(DecodeError::Corrupt);
    }
    let mut nodes: Vec<SubtreeNode> = Vec::new();
    for _ in 0..values / 3 {
        let depth = u16::try_from(decoder.uint()?).map_err(|_| DecodeError::Corrupt)?;
        if nodes.last().map_or(0, |before| before.depth.saturating_add(1)) < depth {
            return Err(DecodeError::Corrupt);
        }
        let id = BlockId::from_bytes(decoder.id()?);
        nodes.push(SubtreeNode { depth, block: read_block(id, decoder, authors)? });
    }
    Ok(Subtrees(nodes))
}

fn read_block(
    id: BlockId,
    decoder: &mut Decoder<'_>,
    authors: &mut AuthorCache,
) -> Decoded<BlockRecord> {
    block::decode(id, decoder.bin()?, authors)
}

fn read_document(decoder: &mut Decoder<'_>) -> Decoded<DocumentRecord> {
    let id = DocumentId::from_bytes(decoder.id()?);
    document::read(id, decoder)
}

fn read_folder(decoder: &mut Decoder<'_>) -> Decoded<FolderRecord> {
    let id = FolderId::from_bytes(decoder.id()?);
    folder::read(id, decoder)
}

fn read_asset(decoder: &mut Decoder<'_>) -> Decoded<AssetRecord> {
    let id = AssetId::from_bytes(decoder.id()?);
    asset::read(id, decoder)
}

fn read_schema(decoder: &mut Decoder<'_>) -> Decoded<Option<Box<Schema>>> {
    if decoder.nil() {
        Ok(None)
    } else {
        schema::read(decoder).map(|schema| Some(Box::new(schema)))
    }
}
