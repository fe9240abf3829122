//! Requests that follow links.

use serde_json::Value;

use crate::json::{Object, deserialize_by};
use crate::{BlockId, DocumentId, Paging, Result};

/// Lists the links to a block and to the blocks below it. As JSON: `{"id": "..", "within": false,
/// "limit": 50, "cursor": ".."}`; `within` defaults to true.
///
/// ```
/// use leafbase_model::{BackLinks, BlockId};
/// let json = r#"{"id": "00000000000000000000000000", "within": false, "limit": 50}"#;
/// assert_eq!(BackLinks::to(BlockId::NIL).only_itself().limit(50), serde_json::from_str(json)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct BackLinks {
    /// The target: a block, a page or a document.
    pub id: BlockId,
    /// Whether links to the blocks below the target are listed, too; defaults to true.
    #[serde(skip_serializing_if = "is_true")]
    #[cfg_attr(feature = "schemars", schemars(default = "yes"))]
    pub within: bool,
    /// The page of the list.
    #[serde(flatten)]
    pub paging: Paging,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
const fn is_true(value: &bool) -> bool {
    *value
}

#[cfg(feature = "schemars")]
const fn yes() -> bool {
    true
}

impl BackLinks {
    /// Lists the links to this block, page or document, and to the blocks below it.
    pub fn to(target: impl Into<BlockId>) -> Self {
        Self { id: target.into(), within: true, paging: Paging::default() }
    }

    /// Excludes links to the blocks below the target.
    pub const fn only_itself(mut self) -> Self {
        self.within = false;
        self
    }

    /// Limits the number of links.
    pub const fn limit(mut self, links: usize) -> Self {
        self.paging.limit = Some(links);
        self
    }

    /// Continues at the cursor of the previous reply.
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.paging.cursor = Some(cursor.into());
        self
    }

    fn read(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let id = object.required("id")?;
        let within = object.optional("within")?.unwrap_or(true);
        let paging = Paging::take(&mut object)?;
        object.finish()?;
        Ok(Self { id, within, paging })
    }
}

deserialize_by!(BackLinks: Self::read);

impl From<BlockId> for BackLinks {
    fn from(target: BlockId) -> Self {
        Self::to(target)
    }
}

impl From<DocumentId> for BackLinks {
    fn from(target: DocumentId) -> Self {
        Self::to(target)
    }
}
