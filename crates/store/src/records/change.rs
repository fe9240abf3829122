//! Change records: author, time, the documents that a change touches, and its edits with what they
//! replaced.
//!
//! Each block is encoded once: its bytes in the change log are those in its run.

use leafbase_model::{
    AssetId, AssetRecord, Author, BlockId, BlockRecord, Change, ChangeToken, Comment, CommentId,
    DocumentId, DocumentRecord, Edit, FolderId, FolderRecord, InsertTarget, KeptScope, Schema,
    SpaceSettings, Stamp, SubtreeNode, Subtrees, Timestamp,
};

use super::block::{self, AuthorCache};
use super::layout::{Value, record};
use super::{asset, comment, document, folder};
use crate::msgpack::{
    ArrayEncoder, DecodeError, Decoded, Decoder, FieldDecoder, encode_array_header, encode_bin,
    encode_int, encode_str, encode_uint,
};

/// The records of blocks, one after the other: those of the blocks that an edit inserts, removes,
/// or updates (before and after).
#[derive(Debug, Default)]
pub(crate) struct EncodedBlocks {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl EncodedBlocks {
    /// Encodes `blocks` in order.
    pub(crate) fn of<'b>(blocks: impl Iterator<Item = &'b BlockRecord> + Clone) -> Self {
        let (count, texts) = blocks
            .clone()
            .fold((0, 0), |(count, texts), block| (count + 1, texts + block.data.inline.len()));
        // 64 bytes for all fields besides the text are mostly enough.
        let bytes = Vec::with_capacity(texts + 64 * count);
        let mut encoded = Self { bytes, ends: Vec::with_capacity(count) };
        for block in blocks {
            block::encode(&mut encoded.bytes, block);
            encoded.ends.push(encoded.bytes.len());
        }
        encoded
    }

    /// The record at `index`.
    pub(crate) fn block(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let record =
            start.zip(self.ends.get(index)).and_then(|(start, end)| self.bytes.get(start..*end));
        debug_assert!(record.is_some(), "record {index} of {} encoded blocks", self.ends.len());
        record.unwrap_or(&[])
    }
}

/// Encodes the edits of a change as they are applied.
#[derive(Debug, Default)]
pub(crate) struct ChangeEncoder {
    bytes: Vec<u8>,
    edits: usize,
}

impl ChangeEncoder {
    pub(crate) fn is_empty(&self) -> bool {
        self.edits == 0
    }

    /// Bytes of the edits so far.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Adds an edit, whose blocks are encoded in `blocks`.
    pub(crate) fn push(&mut self, edit: &Edit, blocks: &EncodedBlocks) {
        self.edits += 1;
        let before = self.bytes.len();
        encode_edit(&mut self.bytes, edit, blocks);
        debug_assert!(self.bytes.len() > before, "an edit encodes to at least its code");
    }

    /// The body of the record in two parts: the header, and the edits.
    pub(crate) fn body(&self, stamp: &Stamp, documents: &[TouchedDocument]) -> (Vec<u8>, &[u8]) {
        let mut header = Vec::with_capacity(64 + 27 * documents.len());
        encode_header(&mut header, stamp, documents);
        encode_array_header(&mut header, self.edits);
        (header, &self.bytes)
    }
}

/// Which change a row of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChangeIdentity {
    /// The first of the sequences that it covers: `sequence`, unless it was merged.
    pub(crate) first_sequence: u64,
    pub(crate) sequence: u64,
    pub(crate) token: ChangeToken,
}

impl ChangeIdentity {
    /// A change that covers its own sequence alone.
    pub(crate) const fn new(sequence: u64, token: ChangeToken) -> Self {
        Self { first_sequence: sequence, sequence, token }
    }
}

/// A document that a change touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TouchedDocument {
    pub(crate) id: DocumentId,
    /// The sequence of the change that touched it before; 0 if its history begins here.
    pub(crate) previous: u64,
}

/// The fields of a change before its edits.
struct ChangeHeader {
    stamp: Stamp,
    documents: Vec<TouchedDocument>,
}

fn encode_header(out: &mut Vec<u8>, stamp: &Stamp, documents: &[TouchedDocument]) {
    encode_array_header(out, 4);
    encode_int(out, stamp.at.as_millis());
    encode_str(out, stamp.by.as_str());
    encode_array_header(out, 2 * documents.len());
    for TouchedDocument { id, previous } in documents {
        id.encode(out);
        encode_uint(out, *previous);
    }
}

fn decode_header(fields: &mut FieldDecoder<'_, '_>) -> Decoded<ChangeHeader> {
    let at = fields.required(Timestamp::decode)?;
    let by = fields.required(Author::decode)?;
    let documents = fields.required(|decoder| {
        let values = decoder.array()?;
        if !values.is_multiple_of(2) {
            return Err(DecodeError::Corrupt);
        }
        decoder.list(values / 2, |decoder| {
            Ok(TouchedDocument { id: DocumentId::decode(decoder)?, previous: decoder.uint()? })
        })
    })?;
    Ok(ChangeHeader { stamp: Stamp { at, by }, documents })
}

/// Decodes time and author of a change.
pub(crate) fn decode_stamp(bytes: &[u8]) -> Decoded<Stamp> {
    Ok(decode_header(&mut Decoder::new(bytes).fields()?)?.stamp)
}

/// Decodes the documents that a change touches, and none of its edits.
pub(crate) fn decode_documents(bytes: &[u8]) -> Decoded<Vec<TouchedDocument>> {
    Ok(decode_header(&mut Decoder::new(bytes).fields()?)?.documents)
}

/// The body of a change that links its documents to other changes before it than in `bytes`.
pub(crate) fn relink(bytes: &[u8], previous: impl Fn(DocumentId) -> u64) -> Decoded<Vec<u8>> {
    let mut decoder = Decoder::new(bytes);
    let mut fields = decoder.fields()?;
    let ChangeHeader { stamp, mut documents } = decode_header(&mut fields)?;
    for document in &mut documents {
        document.previous = previous(document.id);
    }
    let edits = fields.required(|decoder| Ok(decoder.remaining()))?;
    let mut relinked = Vec::with_capacity(bytes.len());
    encode_header(&mut relinked, &stamp, &documents);
    relinked.extend(bytes.iter().skip(bytes.len().saturating_sub(edits)));
    Ok(relinked)
}

/// Decodes the body of the change `identity`, which is all of `bytes`.
pub(crate) fn decode(identity: ChangeIdentity, bytes: &[u8]) -> Decoded<Change> {
    let mut decoder = Decoder::new(bytes);
    let mut authors = AuthorCache::default();
    let mut fields = decoder.fields()?;
    let ChangeHeader { stamp, documents } = decode_header(&mut fields)?;
    let edits = fields.required(|decoder| {
        let count = decoder.array()?;
        decoder.list(count, |decoder| decode_edit(decoder, &mut authors))
    })?;
    fields.end()?;
    decoder.finish()?;
    let documents = documents.into_iter().map(|document| document.id).collect();
    let ChangeIdentity { first_sequence, sequence, token } = identity;
    Ok(Change { sequence, first_sequence, token, stamp, documents, edits })
}

/// One or more fields of an edit.
trait EditPart: Sized {
    fn encode_part(&self, array: &mut ArrayEncoder<'_>, blocks: &EncodedBlocks);
    fn decode_part(fields: &mut FieldDecoder<'_, '_>, authors: &mut AuthorCache) -> Decoded<Self>;
}

/// Declares each kind of edit once: its code, and its parts in their order on disk. The
/// part after `;` follows from the code. A code is never reused for another kind.
macro_rules! edits {
    ($(
        $code:literal = $kind:ident $(($only:ident))?
        $({ $($part:ident),* $(; $constant:ident: $value:literal)? })?
    ),* $(,)?) => {
        fn encode_edit(out: &mut Vec<u8>, edit: &Edit, blocks: &EncodedBlocks) {
            let mut array = ArrayEncoder::new(out);
            match edit {
                $(Edit::$kind $(($only))? $({ $($part,)* $($constant: $value)? })? => {
                    array.field(false, |out| encode_uint(out, $code));
                    $($only.encode_part(&mut array, blocks);)?
                    $($($part.encode_part(&mut array, blocks);)*)?
                })*
                Edit::Update { document, before, .. } => {
                    array.field(false, |out| encode_uint(out, UPDATE));
                    document.encode_part(&mut array, blocks);
                    // The ID is the same before and after: it is encoded once.
                    before.id.encode_part(&mut array, blocks);
                    array.field(false, |out| encode_bin(out, blocks.block(0)));
                    array.field(false, |out| encode_bin(out, blocks.block(1)));
                }
            }
            array.end();
        }

        fn decode_edit(decoder: &mut Decoder<'_>, authors: &mut AuthorCache) -> Decoded<Edit> {
            let mut fields = decoder.fields()?;
            let edit = match fields.required(Decoder::uint)? {
                $($code => {
                    $(let $only = EditPart::decode_part(&mut fields, authors)?;)?
                    $($(let $part = EditPart::decode_part(&mut fields, authors)?;)*)?
                    Edit::$kind $(($only))? $({ $($part,)* $($constant: $value)? })?
                })*
                UPDATE => {
                    let document = DocumentId::decode_part(&mut fields, authors)?;
                    let id = BlockId::decode_part(&mut fields, authors)?;
                    let mut block =
                        || fields.required(|decoder| decode_block(id, decoder, authors));
                    let (before, after) = (Box::new(block()?), Box::new(block()?));
                    Edit::Update { document, before, after }
                }
                _ => return Err(DecodeError::UnsupportedVersion),
            };
            fields.end()?;
            Ok(edit)
        }
    };
}

const UPDATE: u64 = 3;

edits! {
    1 = Insert { target, subtrees },
    2 = Remove { target, subtrees },
    4 = Move { block, from, to },
    5 = CreateDocument { record, subtrees },
    6 = EraseDocument { record, subtrees },
    7 = UpdateDocument { before, after },
    8 = CreateFolder(record),
    9 = RemoveFolder(record),
    10 = UpdateFolder { before, after },
    11 = AddComment { document, block, comment },
    12 = RemoveComment { document, block, comment },
    13 = CreateAsset(record),
    14 = EraseAsset(record),
    15 = SetSchema { document, collection, before, after; quiet: false },
    16 = SetSchema { document, collection, before, after; quiet: true },
    17 = PurgeDocument { document, files },
    18 = UpdateSpace { before, after },
    19 = UpdateComment { document, block, before, after },
    20 = SetScope { before, after },
}

/// Parts of one field.
macro_rules! value_parts {
    ($($read:ident: $($value:ty),+;)+) => {$($(
        impl EditPart for $value {
            fn encode_part(&self, array: &mut ArrayEncoder<'_>, _: &EncodedBlocks) {
                array.field(false, |out| self.encode(out));
            }

            fn decode_part(
                fields: &mut FieldDecoder<'_, '_>,
                _: &mut AuthorCache,
            ) -> Decoded<Self> {
                fields.$read(Value::decode)
            }
        }
    )+)+};
}

value_parts! {
    required: BlockId, DocumentId, InsertTarget, SpaceSettings, Vec<AssetId>;
    next: Option<Box<KeptScope>>, Option<Box<Schema>>;
}

/// Parts of two fields: the ID, and the record without it.
macro_rules! keyed_parts {
    ($($record:ident by $id:ident: $encode:path, $decode:path;)*) => {$(
        impl EditPart for $record {
            fn encode_part(&self, array: &mut ArrayEncoder<'_>, _: &EncodedBlocks) {
                array.field(false, |out| self.id.encode(out));
                array.field(false, |out| $encode(out, self));
            }

            fn decode_part(
                fields: &mut FieldDecoder<'_, '_>,
                _: &mut AuthorCache,
            ) -> Decoded<Self> {
                let id = fields.required($id::decode)?;
                fields.required(|decoder| $decode(id, decoder))
            }
        }
    )*};
}

keyed_parts! {
    DocumentRecord by DocumentId: document::encode_logged, document::decode_logged;
    FolderRecord by FolderId: folder::encode, folder::decode;
    Comment by CommentId: comment::encode, comment::decode;
    AssetRecord by AssetId: asset::encode, asset::decode;
}

/// Depth, ID and record of each block in turn.
impl EditPart for Subtrees {
    fn encode_part(&self, array: &mut ArrayEncoder<'_>, blocks: &EncodedBlocks) {
        array.field(false, |out| {
            out.reserve(blocks.bytes.len() + 24 * self.0.len());
            encode_array_header(out, 3 * self.0.len());
            for (index, node) in self.0.iter().enumerate() {
                encode_uint(out, u64::from(node.depth));
                node.block.id.encode(out);
                encode_bin(out, blocks.block(index));
            }
        });
    }

    fn decode_part(fields: &mut FieldDecoder<'_, '_>, authors: &mut AuthorCache) -> Decoded<Self> {
        fields.required(|decoder| {
            let values = decoder.array()?;
            if !values.is_multiple_of(3) {
                return Err(DecodeError::Corrupt);
            }
            let mut deepest = 0;
            let nodes = decoder.list(values / 3, |decoder| {
                let depth = u16::try_from(decoder.uint()?).map_err(|_| DecodeError::Corrupt)?;
                // A block is at most one level below the block before it.
                if depth > std::mem::replace(&mut deepest, depth.saturating_add(1)) {
                    return Err(DecodeError::Corrupt);
                }
                let id = BlockId::decode(decoder)?;
                Ok(SubtreeNode { depth, block: decode_block(id, decoder, authors)? })
            })?;
            Ok(Subtrees(nodes))
        })
    }
}

fn decode_block(
    id: BlockId,
    decoder: &mut Decoder<'_>,
    authors: &mut AuthorCache,
) -> Decoded<BlockRecord> {
    block::decode(id, decoder.bin()?, authors)
}

record! {
    InsertTarget = { InsertTarget { document, parent, after } };
    document(required), parent(required), after(explicit),
}
