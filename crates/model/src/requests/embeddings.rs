//! Requests and replies of the embedding operations.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::documents::DocumentFilter;
use super::search::check_exclusive;
use super::{Paging, given};
use crate::embedding_vector::check_model;
use crate::json::{Object, deserialize_by, one_or_many, optional_one_or_many, wire_enum};
#[cfg(feature = "schemars")]
use crate::json_schemas::OneOrMany;
use crate::{
    BlockId, BuiltInLocation, DocumentId, EmbeddingVector, Error, FolderId, Limits, Result,
};

/// The vector of a block or a document. As JSON: `{"id": "..", "rev": 3, "vector": [..]}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct EmbeddingDraft {
    /// The block, or the document.
    pub id: BlockId,
    /// The revision of the block, or of the document, that the vector was computed from; the
    /// present one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev: Option<u64>,
    /// The vector.
    pub vector: EmbeddingVector,
}

impl EmbeddingDraft {
    /// The vector of a block, or of a document.
    pub fn new(id: impl Into<BlockId>, vector: impl Into<EmbeddingVector>) -> Self {
        Self { id: id.into(), rev: None, vector: vector.into() }
    }

    /// Says what revision the vector was computed from.
    pub const fn of_rev(mut self, rev: u64) -> Self {
        self.rev = Some(rev);
        self
    }
}

/// Stores vectors of blocks and documents. As JSON: `{"model": "..", "embeddings": [{"id": "..",
/// "rev": 3, "vector": [..]}]}`.
///
/// ```
/// use leafbase_model::{BlockId, EmbeddingDraft, PutEmbeddings};
/// # let block = BlockId::NIL;
/// let json = r#"{
///     "model": "minilm",
///     "embeddings": [{"id": "00000000000000000000000000", "rev": 3, "vector": [0.25, -1]}]
/// }"#;
/// let draft = EmbeddingDraft::new(block, [0.25, -1.0]).of_rev(3);
/// assert_eq!(PutEmbeddings::new("minilm", [draft]), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct PutEmbeddings {
    /// The name of the model that computed the vectors.
    pub model: String,
    /// The vectors, at most one for each block or document.
    pub embeddings: Vec<EmbeddingDraft>,
}

impl PutEmbeddings {
    /// Stores these vectors of `model`.
    pub fn new(
        model: impl Into<String>,
        embeddings: impl IntoIterator<Item = EmbeddingDraft>,
    ) -> Self {
        Self { model: model.into(), embeddings: embeddings.into_iter().collect() }
    }

    /// Validates a request that was built in code.
    ///
    /// # Errors
    /// At `model` for a name that none can have; the errors of [`EmbeddingVector::check`] at
    /// `embeddings[n].vector`.
    pub fn check(&self) -> Result<()> {
        check_model(&self.model).map_err(|error| error.at("model"))?;
        self.embeddings.iter().enumerate().try_for_each(|(index, draft)| {
            let path = format_args!("embeddings[{index}].vector").to_string();
            draft.vector.check().map_err(|error| error.at(path))
        })
    }
}

/// Reads vectors back. As JSON: `{"model": "..", "ids": [".."]}`.
///
/// ```
/// use leafbase_model::{BlockId, GetEmbeddings};
/// # let block = BlockId::NIL;
/// let json = r#"{"model": "minilm", "ids": "00000000000000000000000000"}"#;
/// assert_eq!(GetEmbeddings::new("minilm", [block]), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct GetEmbeddings {
    /// The name of the model.
    pub model: String,
    /// Blocks and documents.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(feature = "schemars", schemars(with = "OneOrMany<BlockId>"))]
    pub ids: Vec<BlockId>,
}

impl GetEmbeddings {
    /// Reads the vectors of `model` for these blocks and documents.
    pub fn new<I: Into<BlockId>>(
        model: impl Into<String>,
        ids: impl IntoIterator<Item = I>,
    ) -> Self {
        Self { model: model.into(), ids: ids.into_iter().map(Into::into).collect() }
    }
}

/// Removes vectors. As JSON: `{"model": "..", "ids": [".."]}`; without `ids` all of the model.
///
/// ```
/// use leafbase_model::RemoveEmbeddings;
/// let json = r#"{"model": "minilm"}"#;
/// assert_eq!(RemoveEmbeddings::all("minilm"), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[non_exhaustive]
pub struct RemoveEmbeddings {
    /// The name of the model.
    pub model: String,
    /// Blocks and documents; all if absent.
    #[serde(default, deserialize_with = "optional_one_or_many")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Option<OneOrMany<BlockId>>"))]
    pub ids: Option<Vec<BlockId>>,
}

impl RemoveEmbeddings {
    /// Removes the vectors of `model` for these blocks and documents.
    pub fn new<I: Into<BlockId>>(
        model: impl Into<String>,
        ids: impl IntoIterator<Item = I>,
    ) -> Self {
        let ids = ids.into_iter().map(Into::into).collect();
        Self { model: model.into(), ids: Some(ids) }
    }

    /// Removes all vectors of `model`.
    pub fn all(model: impl Into<String>) -> Self {
        Self { model: model.into(), ids: None }
    }
}

/// A model with the number of its vectors. As JSON: `{"model", "dimensions", "embeddings"}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EmbeddingModel {
    /// Its name.
    pub model: String,
    /// The number of components of each of its vectors; 0 without vectors.
    pub dimensions: usize,
    /// The number of its vectors, those in the trash included.
    pub embeddings: u64,
}

impl EmbeddingModel {
    /// A model with the number of its vectors.
    pub fn new(model: impl Into<String>, dimensions: usize, embeddings: u64) -> Self {
        Self { model: model.into(), dimensions, embeddings }
    }
}

/// The result of storing vectors. As JSON: the fields of an [`EmbeddingModel`], and `missingIds`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EmbeddingsReply {
    /// The model with all of its vectors.
    #[serde(flatten)]
    pub model: EmbeddingModel,
    /// The blocks and documents of the request that do not exist, whose vectors are left out.
    pub missing_ids: Vec<BlockId>,
}

impl EmbeddingsReply {
    /// The model after the request.
    pub const fn new(model: EmbeddingModel, missing_ids: Vec<BlockId>) -> Self {
        Self { model, missing_ids }
    }
}

/// A stored vector. As JSON: `{"id", "documentId", "rev", "isStale", "vector"}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Embedding {
    /// The block, or the document.
    pub id: BlockId,
    /// The document of the block, or the document.
    pub document_id: DocumentId,
    /// The revision that the vector was computed from.
    pub rev: u64,
    /// Whether the block, or the document, has another revision now.
    pub is_stale: bool,
    /// The vector as it is stored: each component is a multiple, between -127 and 127, of one
    /// scale.
    pub vector: EmbeddingVector,
}

impl Embedding {
    /// A vector of a block that it is up to date with.
    pub fn new(
        id: impl Into<BlockId>,
        document_id: DocumentId,
        rev: u64,
        vector: impl Into<EmbeddingVector>,
    ) -> Self {
        Self { id: id.into(), document_id, rev, is_stale: false, vector: vector.into() }
    }

    /// Says whether the block has another revision now.
    pub const fn stale(mut self, is_stale: bool) -> Self {
        self.is_stale = is_stale;
        self
    }
}

wire_enum! {
    /// What is embedded.
    EmbeddingTargets {
        /// The blocks of documents that have a text, except their roots.
        #[default]
        Blocks = "blocks",
        /// Whole documents.
        Documents = "documents",
    }
}

/// Lists the blocks or documents that have no vector of a model, or a stale one. As JSON: `model`,
/// `targets`, `documentIds` or else the fields of a [`DocumentFilter`] with `folderIds`, and the
/// fields of a [`Paging`].
///
/// ```
/// use leafbase_model::MissingEmbeddings;
/// let json = r#"{"model": "minilm", "targets": "documents", "tags": "travel", "limit": 50}"#;
/// let request = MissingEmbeddings::of_documents("minilm").tagged("travel").limit(50);
/// assert_eq!(request, serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingEmbeddings {
    /// The name of the model.
    pub model: String,
    /// Whether blocks or documents are listed.
    pub targets: EmbeddingTargets,
    /// Only these documents, or blocks of them; all if absent.
    pub document_ids: Option<Vec<DocumentId>>,
    /// Filters. Folders and locations are exclusive with `document_ids`.
    pub filter: DocumentFilter,
    /// The page of the list; at most [`Limits::MISSING_EMBEDDINGS`] without a limit.
    pub paging: Paging,
}

impl MissingEmbeddings {
    /// Lists blocks.
    pub fn of_blocks(model: impl Into<String>) -> Self {
        Self { model: model.into(), ..Self::default() }
    }

    /// Lists documents.
    pub fn of_documents(model: impl Into<String>) -> Self {
        Self { targets: EmbeddingTargets::Documents, ..Self::of_blocks(model) }
    }

    /// Restricts the list to these documents.
    pub fn within_documents(mut self, documents: impl IntoIterator<Item = DocumentId>) -> Self {
        self.document_ids = Some(documents.into_iter().collect());
        self
    }

    /// Restricts the list to a built-in location.
    pub fn at(mut self, location: BuiltInLocation) -> Self {
        self.filter.location = Some(location);
        self
    }

    /// Restricts the list to a folder and its subfolders.
    pub fn within_folder(mut self, folder: FolderId) -> Self {
        self.filter.folders.get_or_insert_default().push(folder.into());
        self
    }

    /// Restricts the list to documents with this tag, too.
    pub fn tagged(mut self, tag: impl Into<String>) -> Self {
        self.filter.tags.push(tag.into());
        self
    }

    /// Limits the number of entries in a reply.
    pub const fn limit(mut self, limit: usize) -> Self {
        self.paging.limit = Some(limit);
        self
    }

    /// Continues at the cursor of the previous reply.
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.paging.cursor = Some(cursor.into());
        self
    }

    /// Validates a request that was built in code.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] for exclusive filters, at `limit` for 0, and at `model` for
    /// a name that none can have; [`crate::ErrorKind::LimitExceeded`] at `limit` for more than
    /// [`Limits::MISSING_EMBEDDINGS`].
    pub fn check(&self) -> Result<()> {
        check_model(&self.model).map_err(|error| error.at("model"))?;
        self.paging.check()?;
        let most = Limits::MISSING_EMBEDDINGS;
        if let Some(limit) = self.paging.limit.filter(|limit| *limit > most) {
            return Err(Error::limit("entries of a reply", most, limit).at("limit"));
        }
        check_exclusive(self.document_ids.is_some(), &self.filter)
    }

    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let read = Self {
            model: object.required("model")?,
            targets: object.or_default("targets")?,
            document_ids: object.one_or_many("documentIds")?,
            filter: DocumentFilter::take(&mut object, "folderIds")?,
            paging: Paging::take(&mut object)?,
        };
        object.finish()?;
        read.check()?;
        Ok(read)
    }
}

impl Serialize for MissingEmbeddings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", &self.model)?;
        let targets =
            Some(&self.targets).filter(|targets| **targets != EmbeddingTargets::default());
        given(&mut map, "targets", targets)?;
        given(&mut map, "documentIds", self.document_ids.as_ref())?;
        self.filter.write(&mut map, "folderIds", false)?;
        self.paging.write(&mut map)?;
        map.end()
    }
}

deserialize_by!(MissingEmbeddings: Self::read);

/// A block or a document that has no vector of a model, or a stale one. As JSON: `{"id",
/// "documentId", "rev", "isStale"}`, and `markdown` for a block.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MissingEmbedding {
    /// The block, or the document.
    pub id: BlockId,
    /// The document of the block, or the document.
    pub document_id: DocumentId,
    /// Its present revision, for [`EmbeddingDraft::rev`].
    pub rev: u64,
    /// Whether it has a vector, of another revision.
    pub is_stale: bool,
    /// The text of a block, as replies show it; absent for a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
}

impl MissingEmbedding {
    /// A block or a document without a vector.
    pub fn new(id: impl Into<BlockId>, document_id: DocumentId, rev: u64) -> Self {
        Self { id: id.into(), document_id, rev, is_stale: false, markdown: None }
    }
}

const _: () = assert!(Limits::EMBEDDING_DIMENSIONS < 1 << 16, "a dimension is stored in 16 bits");
