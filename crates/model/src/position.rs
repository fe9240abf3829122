//! Positions for inserted and moved blocks. A position has exactly one target.

use crate::json::{Refused, quoted, wire_enum};
use crate::{BlockId, DayRef, DocumentId, Error, Result};

wire_enum! {
    /// An end of a list of children.
    Edge {
        /// Before the first child.
        Start = "start",
        /// After the last child.
        #[default]
        End = "end",
    }
}

wire_enum! {
    /// A side of a sibling.
    Side {
        /// Immediately before the sibling.
        Before = "before",
        /// Immediately after the sibling.
        #[default]
        After = "after",
    }
}

/// The parent that a position selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PositionTarget {
    /// A block: a page, a text (which becomes a page) or a collection item.
    Page(BlockId),
    /// The daily note of a day, created if necessary.
    Day(DayRef),
    /// Today's daily note, because the request has no target. Scoped connections refuse it.
    Unnamed,
}

/// A position in a block tree, as a request specifies it.
///
/// As JSON: `{"position": "end", "pageId": ".."}`, `{"position": "start", "date": "today"}` or
/// `{"position": "before", "siblingId": ".."}`, with exactly one target. On full-space connections
/// the target defaults to today's daily note; with a target, `position` defaults to `end`.
///
/// ```
/// use leafbase_model::{BlockId, Position, json::FromJson};
/// let page: BlockId = "01KASZ4ZJG0000000000000001".parse()?;
/// let json = r#"{"position":"start","pageId":"01KASZ4ZJG0000000000000001"}"#;
/// assert_eq!(serde_json::from_str::<Position>(json)?, Position::start_of(page));
/// assert_eq!(serde_json::to_string(&Position::start_of(page))?, json);
/// let error = Position::from_json(serde_json::json!({"position": "before"})).unwrap_err();
/// assert_eq!(error.to_string(), "before and after need a siblingId");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "PositionJson", into = "PositionJson")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Position {
    /// First or last among the children of a target.
    Within(Edge, PositionTarget),
    /// Next to a sibling.
    Beside(Side, BlockId),
}

impl Position {
    /// First among the children of `page`.
    pub fn start_of(page: impl Into<BlockId>) -> Self {
        Self::Within(Edge::Start, PositionTarget::Page(page.into()))
    }

    /// Last among the children of `page`.
    pub fn end_of(page: impl Into<BlockId>) -> Self {
        Self::Within(Edge::End, PositionTarget::Page(page.into()))
    }

    /// Right before `sibling`.
    pub fn before(sibling: BlockId) -> Self {
        Self::Beside(Side::Before, sibling)
    }

    /// Right after `sibling`.
    pub fn after(sibling: BlockId) -> Self {
        Self::Beside(Side::After, sibling)
    }

    /// First in the daily note of `day`.
    pub fn start_of_day(day: impl Into<DayRef>) -> Self {
        Self::Within(Edge::Start, PositionTarget::Day(day.into()))
    }

    /// Last in the daily note of `day`.
    pub fn end_of_day(day: impl Into<DayRef>) -> Self {
        Self::Within(Edge::End, PositionTarget::Day(day.into()))
    }
}

impl From<DocumentId> for Position {
    /// The end of the document.
    fn from(document: DocumentId) -> Self {
        Self::end_of(document)
    }
}

impl Default for Position {
    /// The end of today's daily note: the default of requests without a position.
    fn default() -> Self {
        Self::Within(Edge::End, PositionTarget::Unnamed)
    }
}

/// The JSON of a [`Position`]: at most one of `pageId`, `siblingId` and `date`.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = crate::json_schemas::allow_nulls))]
#[cfg_attr(feature = "schemars", schemars(rename = "Position"))]
struct PositionJson {
    /// `start` or `end` (the default) with `pageId` or `date`, `before` or `after` with
    /// `siblingId`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Option<PositionName>"))]
    position: Option<String>,
    /// The block that becomes the parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    page_id: Option<BlockId>,
    /// The daily note that becomes the parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    date: Option<DayRef>,
    /// The block to insert next to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sibling_id: Option<BlockId>,
}

/// Values of `position`, for the JSON Schema.
#[cfg(feature = "schemars")]
#[derive(schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[expect(dead_code, reason = "only its schema is used")]
enum PositionName {
    Start,
    End,
    Before,
    After,
}

impl From<Position> for PositionJson {
    fn from(position: Position) -> Self {
        let named = |name: &str, page_id, date, sibling_id| Self {
            position: Some(name.to_owned()),
            page_id,
            date,
            sibling_id,
        };
        match position {
            Position::Within(edge, PositionTarget::Page(page)) => {
                named(edge.as_str(), Some(page), None, None)
            }
            Position::Within(edge, PositionTarget::Day(day)) => {
                named(edge.as_str(), None, Some(day), None)
            }
            Position::Within(edge, PositionTarget::Unnamed) => {
                named(edge.as_str(), None, None, None)
            }
            Position::Beside(side, sibling) => named(side.as_str(), None, None, Some(sibling)),
        }
    }
}

impl TryFrom<PositionJson> for Position {
    type Error = Refused;

    fn try_from(json: PositionJson) -> Result<Self, Refused> {
        let name = json.position.as_deref().unwrap_or(Edge::End.as_str());
        let (edge, side) = (name.parse::<Edge>(), name.parse::<Side>());
        // An unknown name is reported at its own path, before the combination of fields is checked.
        if edge.is_err() && side.is_err() {
            let message = format!(
                "unknown position {}, expected one of start, end, before, after",
                quoted(name)
            );
            // The kind is `InvalidPosition`, so that clients can tell it from other faults.
            return Err(Error::position(message).at("position").into());
        }
        // `start` and `end` need a parent, `before` and `after` a sibling; no target means today.
        let message = match (edge, side, json.page_id, json.date, json.sibling_id) {
            (Ok(edge), _, page, day, None) => match (page, day) {
                (Some(page), None) => return Ok(Self::Within(edge, PositionTarget::Page(page))),
                (None, Some(day)) => return Ok(Self::Within(edge, PositionTarget::Day(day))),
                (None, None) => return Ok(Self::Within(edge, PositionTarget::Unnamed)),
                (Some(_), Some(_)) => "name exactly one of pageId, siblingId and date",
            },
            (_, Ok(side), None, None, Some(sibling)) => return Ok(Self::Beside(side, sibling)),
            (Ok(_), _, None, None, Some(_)) => "with siblingId the position is before or after",
            (_, Ok(_), None, None, None) => "before and after need a siblingId",
            (_, Ok(_), _, _, None) => "with pageId or date the position is start or end",
            _ => "name exactly one of pageId, siblingId and date",
        };
        Err(Error::position(message).into())
    }
}
