//! Change-log records: who, when, which documents, and the edits with what they replaced.
//!
//! Blocks stand in them as the same bytes as in their runs: each is encoded once.

use leafbase_model::{
    AssetId, AssetRecord, Author, BlockId, BlockRecord, Change, Comment, CommentId, DocumentId,
    DocumentRecord, Edit, FolderId, FolderRecord, InsertTarget, Schema, Stamp, SubtreeNode,
    Subtrees,
};

use super::block::{self, Authors};
use super::{asset, comment, document, folder, schema};
use crate::msgpack::{
    Fault, Unpack, Unpacked, put_array, put_bin, put_int, put_nil, put_str, put_uint, time,
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
pub(crate) struct Encoded {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Encoded {
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
pub(crate) struct Log {
    bytes: Vec<u8>,
    edits: usize,
}

impl Log {
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

    pub(crate) fn insert(&mut self, target: &InsertTarget, subtrees: &Subtrees, encoded: &Encoded) {
        let out = self.begin(INSERT, 2);
        put_slot(out, target);
        put_forest(out, subtrees, encoded);
    }

    pub(crate) fn remove(&mut self, target: &InsertTarget, subtrees: &Subtrees, encoded: &Encoded) {
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
        encoded: &Encoded,
    ) {
        let out = self.begin(CREATE_DOCUMENT, 3);
        put_document(out, record);
        put_forest(out, subtrees, encoded);
    }

    pub(crate) fn erase_document(
        &mut self,
        record: &DocumentRecord,
        subtrees: &Subtrees,
        encoded: &Encoded,
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

impl Log {
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

fn put_forest(out: &mut Vec<u8>, subtrees: &Subtrees, encoded: &Encoded) {
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
pub(crate) fn decode_documents(_: u64, bytes: &[u8]) -> Unpacked<Vec<DocumentId>> {
    let mut unpack = Unpack::new(bytes);
    let mut fields = unpack.fields()?;
    fields.required(time)?;
    fields.required(Unpack::str)?;
    fields.required(read_documents)
}

fn read_documents(unpack: &mut Unpack<'_>) -> Unpacked<Vec<DocumentId>> {
    (0..unpack.array()?).map(|_| unpack.id().map(DocumentId::from_bytes)).collect()
}

/// Reads the body of the change numbered `sequence`, which is all of `bytes`.
pub(crate) fn decode(sequence: u64, bytes: &[u8]) -> Unpacked<Change> {
    let mut unpack = Unpack::new(bytes);
    let mut authors = Authors::default();
    let mut fields = unpack.fields()?;
    let at = fields.required(time)?;
    let by = Author::new(fields.required(Unpack::str)?);
    let documents = fields.required(read_documents)?;
    let edits = fields.required(|unpack| {
        (0..unpack.array()?).map(|_| read_edit(unpack, &mut authors)).collect::<Unpacked<_>>()
    })?;
    fields.end()?;
    unpack.finish()?;
    Ok(Change { sequence, stamp: Stamp { at, by }, documents, edits })
}

fn read_edit(unpack: &mut Unpack<'_>, authors: &mut Authors) -> Unpacked<Edit> {
    let fields = unpack.array()?.checked_sub(1).ok_or(Fault::Damaged)?;
    let kind = unpack.uint()?;
    let expected = match kind {
        CREATE_FOLDER | REMOVE_FOLDER | INSERT | REMOVE | CREATE_ASSET | ERASE_ASSET => 2,
        MOVE | CREATE_DOCUMENT | ERASE_DOCUMENT => 3,
        UPDATE | UPDATE_DOCUMENT | UPDATE_FOLDER | ADD_COMMENT | REMOVE_COMMENT | SET_SCHEMA
        | SET_SCHEMA_QUIETLY => 4,
        _ => return Err(Fault::Newer),
    };
    if fields != expected {
        return Err(if fields > expected { Fault::Newer } else { Fault::Damaged });
    }
    Ok(match kind {
        INSERT => {
            Edit::Insert { target: read_slot(unpack)?, subtrees: read_forest(unpack, authors)? }
        }
        REMOVE => {
            Edit::Remove { target: read_slot(unpack)?, subtrees: read_forest(unpack, authors)? }
        }
        UPDATE => {
            let document = DocumentId::from_bytes(unpack.id()?);
            let block = BlockId::from_bytes(unpack.id()?);
            let before = Box::new(read_block(block, unpack, authors)?);
            Edit::Update { document, before, after: Box::new(read_block(block, unpack, authors)?) }
        }
        MOVE => Edit::Move {
            block: BlockId::from_bytes(unpack.id()?),
            from: read_slot(unpack)?,
            to: read_slot(unpack)?,
        },
        CREATE_DOCUMENT => Edit::CreateDocument {
            record: read_document(unpack)?,
            subtrees: read_forest(unpack, authors)?,
        },
        ERASE_DOCUMENT => Edit::EraseDocument {
            record: read_document(unpack)?,
            subtrees: read_forest(unpack, authors)?,
        },
        UPDATE_DOCUMENT => {
            Edit::UpdateDocument { before: read_document(unpack)?, after: read_document(unpack)? }
        }
        CREATE_FOLDER => Edit::CreateFolder(read_folder(unpack)?),
        REMOVE_FOLDER => Edit::RemoveFolder(read_folder(unpack)?),
        ADD_COMMENT | REMOVE_COMMENT => {
            let (document, block) =
                (DocumentId::from_bytes(unpack.id()?), BlockId::from_bytes(unpack.id()?));
            let id = CommentId::from_bytes(unpack.id()?);
            let comment = comment::read(id, unpack)?;
            match kind {
                ADD_COMMENT => Edit::AddComment { document, block, comment },
                _ => Edit::RemoveComment { document, block, comment },
            }
        }
        CREATE_ASSET => Edit::CreateAsset(read_asset(unpack)?),
        ERASE_ASSET => Edit::EraseAsset(read_asset(unpack)?),
        SET_SCHEMA | SET_SCHEMA_QUIETLY => Edit::SetSchema {
            document: DocumentId::from_bytes(unpack.id()?),
            collection: BlockId::from_bytes(unpack.id()?),
            before: read_schema(unpack)?,
            after: read_schema(unpack)?,
            quiet: kind == SET_SCHEMA_QUIETLY,
        },
        _ => Edit::UpdateFolder { before: read_folder(unpack)?, after: read_folder(unpack)? },
    })
}

fn read_slot(unpack: &mut Unpack<'_>) -> Unpacked<InsertTarget> {
    let mut fields = unpack.fields()?;
    let target = InsertTarget {
        document: DocumentId::from_bytes(fields.required(Unpack::id)?),
        parent: BlockId::from_bytes(fields.required(Unpack::id)?),
        after: fields.next(Unpack::id)?.map(BlockId::from_bytes),
    };
    fields.end()?;
    Ok(target)
}

fn read_forest(unpack: &mut Unpack<'_>, authors: &mut Authors) -> Unpacked<Subtrees> {
    let values = unpack.array()?;
    if !values.is_multiple_of(3) {
        return Err(Fault::Damaged);
    }
    let mut nodes: Vec<SubtreeNode> = Vec::new();
    for _ in 0..values / 3 {
        let depth = u16::try_from(unpack.uint()?).map_err(|_| Fault::Damaged)?;
        if nodes.last().map_or(0, |before| before.depth.saturating_add(1)) < depth {
            return Err(Fault::Damaged);
        }
        let id = BlockId::from_bytes(unpack.id()?);
        nodes.push(SubtreeNode { depth, block: read_block(id, unpack, authors)? });
    }
    Ok(Subtrees(nodes))
}

fn read_block(
    id: BlockId,
    unpack: &mut Unpack<'_>,
    authors: &mut Authors,
) -> Unpacked<BlockRecord> {
    block::decode(id, unpack.bin()?, authors)
}

fn read_document(unpack: &mut Unpack<'_>) -> Unpacked<DocumentRecord> {
    let id = DocumentId::from_bytes(unpack.id()?);
    document::read(id, unpack)
}

fn read_folder(unpack: &mut Unpack<'_>) -> Unpacked<FolderRecord> {
    let id = FolderId::from_bytes(unpack.id()?);
    folder::read(id, unpack)
}

fn read_asset(unpack: &mut Unpack<'_>) -> Unpacked<AssetRecord> {
    let id = AssetId::from_bytes(unpack.id()?);
    asset::read(id, unpack)
}

fn read_schema(unpack: &mut Unpack<'_>) -> Unpacked<Option<Box<Schema>>> {
    if unpack.nil() { Ok(None) } else { schema::read(unpack).map(|schema| Some(Box::new(schema))) }
}
