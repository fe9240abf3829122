//! Requests of file uploads. The bytes are not part of the JSON: a reader provides them.

use serde_json::Value;

use crate::json::{Object, deserialize_by, read};
use crate::{AssetUrl, BlockId, Error, Position, PositionTarget, Result};

/// Uploads a file into a document. As JSON (the query of an upload): the fields of a [`Position`],
/// with a target, `contentType` and `fileName`.
///
/// ```
/// use leafbase_model::{BlockId, Position, UploadFile};
/// let page: BlockId = "01KASZ4ZJG0000000000000001".parse()?;
/// let query = r#"{
///     "position": "start", "pageId": "01KASZ4ZJG0000000000000001", "fileName": "map.png"
/// }"#;
/// let request: UploadFile = serde_json::from_str(query)?;
/// assert_eq!(request, UploadFile::new(Position::start_of(page)).named("map.png"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct UploadFile {
    /// The position of the block that embeds the file.
    #[serde(flatten)]
    pub position: Position,
    /// The declared media type, as in a `Content-Type` header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The file name; never used as a path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_name: Option<String>,
}

impl UploadFile {
    /// An upload of unknown type and name.
    pub fn new(position: impl Into<Position>) -> Self {
        Self { position: position.into(), content_type: None, file_name: None }
    }

    /// Validates a request that was built in code.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidPosition`] for a position without target: a file has no default.
    pub fn check(&self) -> Result<()> {
        match self.position {
            Position::Within(_, PositionTarget::Unnamed) => {
                Err(Error::position("pageId, siblingId or date is required"))
            }
            _ => Ok(()),
        }
    }

    /// Sets the declared media type.
    pub fn of_type(mut self, content_type: impl Into<String>) -> Self {
        self.content_type = Some(content_type.into());
        self
    }

    /// Sets the file name.
    pub fn named(mut self, file_name: impl Into<String>) -> Self {
        self.file_name = Some(file_name.into());
        self
    }
}

/// The reply to an upload. As JSON: `{"blockId": "..", "assetUrl": "asset://.."}`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct UploadedFile {
    /// The block that embeds the file.
    pub block_id: BlockId,
    /// The URL of the file.
    pub asset_url: AssetUrl,
}

impl UploadFile {
    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let content_type = object.optional("contentType")?;
        let file_name = object.optional("fileName")?;
        // An error of the fields together has no path: they are fields of the request.
        let position = read(Value::Object(object.rest())).map_err(|error: Error| {
            if error.path().is_empty() { error.at("position") } else { error }
        })?;
        let request = Self { position, content_type, file_name };
        request.check()?;
        Ok(request)
    }
}

deserialize_by!(UploadFile: Self::read);
