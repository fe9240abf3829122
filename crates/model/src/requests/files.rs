//! The upload of files. The bytes themselves are no JSON: they come from a reader beside the
//! request.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::given;
use crate::json::{FromJson, Object, deserialize_through_json};
use crate::{AssetUrl, BlockId, Position, Result};

/// Puts a file into a document. As JSON (the query of an upload): the fields of a [`Position`],
/// `contentType` and `fileName`.
///
/// ```
/// use leafbase_model::{BlockId, Position, UploadFile};
/// let page: BlockId = "01KASZ4ZJG0000000000000001".parse()?;
/// let query = r#"{"position": "start", "pageId": "01KASZ4ZJG0000000000000001", "fileName": "map.png"}"#;
/// let request: UploadFile = serde_json::from_str(query)?;
/// assert_eq!(request, UploadFile::new(Position::start_of(page)).named("map.png"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadFile {
    /// Where the block that shows it goes.
    pub position: Position,
    /// The media type that it is said to be of, as a `Content-Type` header says it.
    pub content_type: Option<String>,
    /// Its name; never used as a path.
    pub file_name: Option<String>,
}

impl UploadFile {
    /// A file of unknown type and name.
    pub fn new(position: impl Into<Position>) -> Self {
        Self { position: position.into(), content_type: None, file_name: None }
    }

    /// The same file, said to be of this media type.
    pub fn of_type(mut self, content_type: impl Into<String>) -> Self {
        self.content_type = Some(content_type.into());
        self
    }

    /// The same file with this name.
    pub fn named(mut self, file_name: impl Into<String>) -> Self {
        self.file_name = Some(file_name.into());
        self
    }
}

impl FromJson for UploadFile {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let (content_type, file_name) =
            (object.optional("contentType")?, object.optional("fileName")?);
        let position = Position::from_json(object.rest())?;
        Ok(Self { position, content_type, file_name })
    }
}

impl Serialize for UploadFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.position.write(&mut map)?;
        given(&mut map, "contentType", self.content_type.as_ref())?;
        given(&mut map, "fileName", self.file_name.as_ref())?;
        map.end()
    }
}

/// A file that was uploaded. As JSON: `{"blockId": "..", "assetUrl": "asset://.."}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UploadedFile {
    /// The block that shows it.
    pub block_id: BlockId,
    /// Where its bytes are read.
    pub asset_url: AssetUrl,
}

deserialize_through_json!(UploadFile);
