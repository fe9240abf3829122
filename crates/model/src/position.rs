//! Where blocks go. Each position names exactly one target, by its type.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::json::{FromJson, Object, deserialize_through_json, wire_enum};
use crate::{BlockId, DayRef, DocumentId, Error, Result};

wire_enum! {
    /// At which end of the children.
    Edge {
        /// Before the first.
        Start = "start",
        /// After the last.
        #[default]
        End = "end",
    }
}

wire_enum! {
    /// On which side of a sibling.
    Side {
        /// Right before it.
        Before = "before",
        /// Right after it.
        #[default]
        After = "after",
    }
}

/// Among whose children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PositionTarget {
    /// Of this block: a page, a text (which becomes a page) or a collection item.
    Page(BlockId),
    /// Of the daily note of this day, which is made if there is none.
    Day(DayRef),
    /// Of today's daily note, because the request named no target. A scoped connection refuses it.
    Unnamed,
}

/// A place among blocks.
///
/// As JSON: `{"position": "end", "pageId": ".."}`, `{"position": "start", "date": "today"}` or
/// `{"position": "before", "siblingId": ".."}`, with exactly one target. Without one, on a
/// full-space connection, today's daily note is meant. A `position` that is left out beside a
/// target is `end`.
///
/// ```
/// use leafbase_model::{BlockId, Position};
/// let page: BlockId = "01KASZ4ZJG0000000000000001".parse()?;
/// let json = r#"{"position":"start","pageId":"01KASZ4ZJG0000000000000001"}"#;
/// assert_eq!(serde_json::from_str::<Position>(json)?, Position::start_of(page));
/// assert_eq!(serde_json::to_string(&Position::start_of(page))?, json);
/// let error = serde_json::from_str::<Position>(r#"{"position":"before"}"#).unwrap_err();
/// assert_eq!(error.to_string(), "before and after need a siblingId");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// First or last among the children of a target.
    Within(Edge, PositionTarget),
    /// Next to a block.
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

fn wrong(message: &str) -> Error {
    Error::position(message)
}

impl FromJson for Position {
    fn from_json(value: Value) -> Result<Self> {
        let mut object = Object::new(value)?;
        let word: String = object.optional("position")?.unwrap_or_else(|| Edge::End.to_string());
        let page: Option<BlockId> = object.optional("pageId")?;
        let sibling: Option<BlockId> = object.optional("siblingId")?;
        let day: Option<DayRef> = object.optional("date")?;
        object.finish()?;
        let edge = word.parse::<Edge>();
        let side = word.parse::<Side>();
        match (edge, side, page, day, sibling) {
            (Ok(edge), _, Some(page), None, None) => {
                Ok(Self::Within(edge, PositionTarget::Page(page)))
            }
            (Ok(edge), _, None, Some(day), None) => {
                Ok(Self::Within(edge, PositionTarget::Day(day)))
            }
            (Ok(edge), _, None, None, None) => Ok(Self::Within(edge, PositionTarget::Unnamed)),
            (_, Ok(side), None, None, Some(sibling)) => Ok(Self::Beside(side, sibling)),
            (Ok(_), _, None, None, Some(_)) => {
                Err(wrong("with siblingId the position is before or after"))
            }
            (_, Ok(_), None, None, None) => Err(wrong("before and after need a siblingId")),
            (_, Ok(_), _, _, None) => {
                Err(wrong("with pageId or date the position is start or end"))
            }
            (Err(_), Err(_), ..) => {
                let message =
                    format!("unknown position {word:?}, expected one of start, end, before, after");
                Err(Error::position(message).at("position"))
            }
            _ => Err(wrong("name exactly one of pageId, siblingId and date")),
        }
    }
}

deserialize_through_json!(Position);

impl Position {
    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
        match self {
            Self::Within(edge, target) => {
                map.serialize_entry("position", edge)?;
                match target {
                    PositionTarget::Page(page) => map.serialize_entry("pageId", page),
                    PositionTarget::Day(day) => map.serialize_entry("date", &day.to_string()),
                    PositionTarget::Unnamed => Ok(()),
                }
            }
            Self::Beside(side, sibling) => {
                map.serialize_entry("position", side)?;
                map.serialize_entry("siblingId", sibling)
            }
        }
    }
}

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write(&mut map)?;
        map.end()
    }
}
